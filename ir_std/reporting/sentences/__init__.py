"""Turn facts into sentences; no other module does, and none parses a sentence."""
