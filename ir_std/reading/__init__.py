"""Runs and qrels in files, from their bytes to arrays: quickly, and exactly as line by line."""
