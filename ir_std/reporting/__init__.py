"""Compute results and comparisons, and show them as tables, plots and pages."""
