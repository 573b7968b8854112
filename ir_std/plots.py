"""Draw runs among the reference systems, topics, differences and collections."""

from ir_std.reporting.plots import (
    comparison_figure,
    difference,
    forest,
    forest_figure,
    means,
    ranking,
    topics,
)

__all__ = [
    "comparison_figure",
    "difference",
    "forest",
    "forest_figure",
    "means",
    "ranking",
    "topics",
]
