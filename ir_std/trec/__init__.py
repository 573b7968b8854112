"""Runs and qrels: reading them from files and objects, and ranking their documents."""
