"""Scores that other programs computed, read from lines, tables and MTEB's results."""
