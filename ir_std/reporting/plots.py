"""The pictures, which users find as ``ir_std.plots``."""

from ir_std.reporting.comparison_plots import comparison_figure, forest, forest_figure, means
from ir_std.reporting.result_plots import (
    difference,
    placement,
    ranking,
    topics,
)

__all__ = [
    "comparison_figure",
    "difference",
    "forest",
    "forest_figure",
    "means",
    "placement",
    "ranking",
    "topics",
]
