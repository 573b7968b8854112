"""Scores that were computed elsewhere: read from files and tables, one run at a time."""
