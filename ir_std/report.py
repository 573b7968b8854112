"""The report, under the name that users import."""

from ir_std.reporting.html import write_report

__all__ = ["write_report"]
