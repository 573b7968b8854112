"""Define types of arrays and of lazily imported libraries; compute on arrays."""

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

__all__ = [
    "Axes",
    "DataFrame",
    "Figure",
    "Floats",
    "Ints",
    "Mask",
    "divide",
    "pick_rows",
]


def divide(a: npt.ArrayLike, b: npt.ArrayLike, otherwise: float) -> Floats:
    """Divide ``a`` by ``b``, with ``otherwise`` where ``b`` is not above 0."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    ratio: Floats = np.full(np.broadcast(a, b).shape, otherwise, float)
    np.divide(a, b, out=ratio, where=b > 0)
    return ratio


def pick_rows(values: Floats, rows: Ints) -> Floats:
    """Pick rows of ``values``; NaN where the row is -1."""
    picked = values[rows]
    picked[rows < 0] = np.nan
    return picked
