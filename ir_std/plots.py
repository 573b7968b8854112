"""The pictures, under the name that users import: see :mod:`ir_std.reporting.plots`."""

from ir_std.reporting.forest import forest, forest_figure
from ir_std.reporting.plots import comparison_figure, means, placement, topics

__all__ = ["comparison_figure", "forest", "forest_figure", "means", "placement", "topics"]
