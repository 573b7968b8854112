"""Scores computed by other programs, read from lines, tables and MTEB's results."""
