"""Standardized scores for information retrieval evaluation."""
