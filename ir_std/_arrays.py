"""Array types, and types of libraries that are imported only where they are used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame
else:
    # So that typing.get_type_hints finds something without importing them.
    Axes = Figure = DataFrame = Any

__all__ = ["Axes", "DataFrame", "Figure", "Floats", "Ints", "Mask"]
