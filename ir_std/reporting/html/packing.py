"""Matrices of numbers as text, which the page's script reads back."""

from __future__ import annotations

import zlib
from base64 import b64encode
from typing import TypedDict

import numpy as np
import numpy.typing as npt

PLACES = 4
"""Decimals of scores by topic."""
_NEAR_HALF = 1e-4
"""Far above the rounding error of products below a billion."""


class Matrix(TypedDict):
    """How a matrix's numbers are packed.

    A number ``k`` means ``(least + k - 1) / unit``, 0 no value.  Each takes ``bytes`` bytes; the
    lowest bytes of all numbers come first, then the next ones, as this compresses best.
    """

    unit: int
    least: int
    bytes: int


class Packer:
    """Collects matrices of one shape as text: whole numbers, deflated, in base64.

    The page's script reads them back with the browser's own ``DecompressionStream``.
    """

    def __init__(self) -> None:
        self.matrices: list[Matrix] = []
        self._planes: list[bytes] = []

    def add(self, values: npt.NDArray[np.float64], places: int) -> int:
        """Add a matrix, rounded to ``places`` decimals (NaN is none); gives its number."""
        unit = 10**places
        known = ~np.isnan(values)
        whole = _rounded(np.where(known, values, 0), places)
        least = int(whole[known].min(initial=0))
        codes = np.where(known, whole - least + 1, 0)
        size = 1 + next(n for n in range(8) if int(codes.max(initial=0)) < 256 ** (n + 1))
        self._planes += [(codes >> 8 * n & 255).astype(np.uint8).tobytes() for n in range(size)]
        self.matrices.append(Matrix(unit=unit, least=least, bytes=size))
        return len(self.matrices) - 1

    @property
    def text(self) -> str:
        """All of them, in the order they were added."""
        return b64encode(zlib.compress(b"".join(self._planes))).decode("ascii")


def _rounded(values: npt.NDArray[np.float64], places: int) -> npt.NDArray[np.int64]:
    """Values times ``10**places``, rounded as text rounds them: as every other table has them."""
    scaled = values * 10**places
    whole: npt.NDArray[np.int64] = np.rint(scaled).astype(np.int64)
    # Between two whole numbers the product's own rounding may decide: there text is asked.
    for i in zip(*np.nonzero(abs(abs(scaled - whole) - 0.5) < _NEAR_HALF), strict=True):
        whole[i] = int(f"{values[i]:.{places}f}".replace(".", ""))
    return whole
