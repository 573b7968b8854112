"""Runs and qrels: read from files and objects, and brought into the order of ranks."""
