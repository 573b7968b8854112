"""The report, under the name that users import: see :mod:`ir_std.reporting.html`."""

from ir_std.reporting.html import write_report

__all__ = ["write_report"]
