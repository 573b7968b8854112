"""The report, which users find as ``ir_std.report``: one page, complete in itself."""

from ir_std.reporting.html.report import write_report

__all__ = ["write_report"]
