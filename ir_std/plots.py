"""The pictures, under the name that users import: see :mod:`ir_std.reporting.plots`."""

from ir_std.reporting.forest import forest, forest_figure
from ir_std.reporting.plots import (
    comparison_figure,
    difference,
    means,
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
