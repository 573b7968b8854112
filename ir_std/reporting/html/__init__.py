"""Write the self-contained HTML report; users import this as ``ir_std.report``."""

from ir_std.reporting.html.report import write_report

__all__ = ["write_report"]
