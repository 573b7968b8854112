"""Write results as a single HTML page that needs no other files."""

from ir_std.reporting.html.report import write_report

__all__ = ["write_report"]
