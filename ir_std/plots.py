"""The pictures, under the name that users import."""

from ir_std.reporting.comparison_plots import comparison_figure, forest, forest_figure, means
from ir_std.reporting.plots import (
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
