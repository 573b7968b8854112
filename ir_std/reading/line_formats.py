"""The columns of run and qrels files, and which of them is a number."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy.typing as npt

from ir_std._arrays import Ints
from ir_std.reading import numbers
from ir_std.reading.ids import Bytes


class LineFormat(NamedTuple):
    """A kind of file.

    Attributes
    ----------
    kind : str
    columns : tuple of str
    value : int
        The place of the column that is a number.
    numbers : callable
        Reads these numbers; see :func:`ir_std.reading.numbers.floats`.
    is_number : callable
        Whether a text is one.
    rule : str
        What a message says of them.
    """

    kind: str
    columns: tuple[str, ...]
    value: int
    numbers: Callable[[Bytes, Ints, Ints], npt.NDArray[Any]]
    is_number: Callable[[bytes], bool]
    rule: str

    @property
    def width(self) -> int:
        """The number of columns."""
        return len(self.columns)

    @property
    def layout(self) -> str:
        """What a message says of the columns."""
        return f"a {self.kind} has {self.width} columns: {' '.join(self.columns)}"


def _is_score(text: bytes) -> bool:
    return bool(re.fullmatch(numbers.DECIMAL, text)) and math.isfinite(float(text))


RUN = LineFormat(
    "run",
    ("topic", "Q0", "document", "rank", "score", "tag"),
    4,
    numbers.floats,
    _is_score,
    "a finite number is expected",
)
QRELS = LineFormat(
    "qrels file",
    ("topic", "iteration", "document", "relevance"),
    3,
    numbers.integers,
    lambda text: numbers.integer(text) is not None,
    "a whole number is expected, of at most 64 bits",
)
