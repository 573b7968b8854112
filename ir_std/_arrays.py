"""Types of arrays and of lazily imported libraries, and functions on arrays."""

from typing import TYPE_CHECKING, Any

import numpy as np

Array = np.ndarray[tuple[Any, ...], np.dtype[Any]]
Bytes = np.ndarray[tuple[Any, ...], np.dtype[np.uint8]]
Floats = np.ndarray[tuple[Any, ...], np.dtype[np.float64]]
Ints = np.ndarray[tuple[Any, ...], np.dtype[np.int64]]
Keys = np.ndarray[tuple[Any, ...], np.dtype[np.uint64]]
Mask = np.ndarray[tuple[Any, ...], np.dtype[np.bool_]]

EXACT = 1e-9
"""Accuracy to which raw scores are reproduced; values that differ by less count as equal."""

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike
    from pandas import DataFrame
else:
    # With these names, typing.get_type_hints works without importing the libraries.
    ArrayLike = Axes = DataFrame = Executor = Figure = Any

# fmt: off
__all__ = [
    "EXACT", "Array", "ArrayLike", "Axes", "Bytes", "DataFrame", "Executor", "Figure", "Floats",
    "Ints", "Keys", "Mask", "divide", "pick_rows",
]
# fmt: on


def divide(a: ArrayLike, b: ArrayLike, otherwise: float) -> Floats:
    """Divide ``a`` by ``b``; return ``otherwise`` where ``b`` is not above 0."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    ratio: Floats = np.full(np.broadcast(a, b).shape, otherwise, float)
    np.divide(a, b, out=ratio, where=b > 0)
    return ratio


def pick_rows(values: Floats, rows: Ints) -> Floats:
    """Return the rows of ``values`` with the given row numbers; row number -1 gives NaN."""
    picked = values[rows]
    picked[rows < 0] = np.nan
    return picked
