"""Results, comparisons, tables, pictures and pages."""
