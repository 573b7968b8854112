"""Types of libraries that are imported only where they are used, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame
else:
    # So that typing.get_type_hints finds something without importing them.
    Axes = Figure = DataFrame = Any

__all__ = ["Axes", "DataFrame", "Figure"]
