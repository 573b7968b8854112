"""Compute raw and standardized scores in one pass, also as a provider of ir_measures."""
