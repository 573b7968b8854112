"""P-values adjusted for the number of tests they come from."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from ir_std._arrays import Floats
from ir_std.errors import look_up


def holm(p_values: npt.ArrayLike) -> Floats:
    """Holm's step-down method (Scandinavian Journal of Statistics, 1979).

    The k-th smallest of ``n`` is multiplied by ``n - k + 1``, and raised to its predecessor's
    result where that is larger.  It controls the family-wise error rate as Bonferroni's method
    does, and no result is above Bonferroni's.

    Parameters
    ----------
    p_values : array_like, shape (n,)
        A NaN is no test: it stays NaN and does not count.

    Returns
    -------
    ndarray, shape (n,)
        At most 1.
    """
    p = np.asarray(p_values, float)
    order = np.argsort(p, kind="stable")[: np.count_nonzero(~np.isnan(p))]
    steps = np.arange(len(order), 0, -1)
    adjusted = np.full(len(p), np.nan)
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * steps), 1)
    return adjusted


def bonferroni(p_values: npt.ArrayLike) -> Floats:
    """Each p-value times their number, at most 1; a NaN as for :func:`holm`."""
    p = np.asarray(p_values, float)
    adjusted: Floats = np.minimum(p * np.count_nonzero(~np.isnan(p)), 1)
    return adjusted


def uncorrected(p_values: npt.ArrayLike) -> Floats:
    """The p-values as they are: each test by itself."""
    return np.array(p_values, float)


CORRECTIONS: dict[str, tuple[Callable[[npt.ArrayLike], Floats], str]] = {
    "holm": (holm, "Holm's correction"),
    "bonferroni": (bonferroni, "Bonferroni's correction"),
    "none": (uncorrected, "no correction"),
}
"""The corrections by name, each with its title; the default first."""


def get_correction(name: str) -> tuple[Callable[[npt.ArrayLike], Floats], str]:
    """The correction of that name and its title.

    Raises
    ------
    UsageError
        If there is none; the message lists the allowed names.
    """
    return look_up(name, CORRECTIONS, "correction")
