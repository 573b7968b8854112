"""The columns of run and qrels files, and which of them is a number."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy.typing as npt

from ir_std._arrays import Ints
from ir_std.reading import numbers
from ir_std.reading.ids import Bytes

Number: TypeAlias = float | int


class LineFormat(NamedTuple):
    """A kind of file.

    Attributes
    ----------
    kind : str
    columns : tuple of str
    value : int
        The place of the column that is a number.
    numbers : callable
        Reads these numbers, many at once; see :func:`ir_std.reading.numbers.floats`.
    number : callable
        Reads one; None if it is none that the column may hold.
    rule : str
        What a message says of them.
    """

    kind: str
    columns: tuple[str, ...]
    value: int
    numbers: Callable[[Bytes, Ints, Ints], npt.NDArray[Any]]
    number: Callable[[bytes], Number | None]
    rule: str

    @property
    def width(self) -> int:
        """The number of columns."""
        return len(self.columns)

    @property
    def layout(self) -> str:
        """What a message says of the columns."""
        return f"a {self.kind} has {self.width} columns: {' '.join(self.columns)}"


def _finite(text: bytes) -> float | None:
    value = float(text) if re.fullmatch(numbers.DECIMAL, text) else math.inf
    return value if math.isfinite(value) else None


RUN = LineFormat(
    "run",
    ("topic", "Q0", "document", "rank", "score", "tag"),
    4,
    numbers.floats,
    _finite,
    "a finite number is expected",
)
QRELS = LineFormat(
    "qrels file",
    ("topic", "iteration", "document", "relevance"),
    3,
    numbers.integers,
    numbers.integer,
    "a whole number is expected, of at most 64 bits",
)
