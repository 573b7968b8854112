"""Turn facts into sentences; nothing else does, and nothing reads a sentence to get a fact."""
