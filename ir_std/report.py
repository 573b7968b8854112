"""Write results as one HTML page that is complete in itself."""

from ir_std.reporting.html.report import write_report

__all__ = ["write_report"]
