"""Write the self-contained HTML report."""
