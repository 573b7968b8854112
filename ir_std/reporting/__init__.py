"""What people look at: results, comparisons, tables, pictures and pages."""
