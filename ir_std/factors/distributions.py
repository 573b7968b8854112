"""The scores of standardizing systems, sorted within each topic, and their moments."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ir_std._arrays import Floats, Ints
from ir_std.schemes import EXACT


def distribution(scores: Floats, numbers: Ints) -> tuple[Floats, npt.NDArray[Any]]:
    """Sort each topic's scores, and keep which system has which.

    Parameters
    ----------
    scores : ndarray, shape (n_topics, n_systems)
    numbers : ndarray of int, shape (n_systems,)
        The system of each column.

    Returns
    -------
    ordered : ndarray, shape (n_topics, n_systems)
        Ascending in each row, NaN last; systems that tie by number.
    systems : ndarray of unsigned int, shape (n_topics, n_systems)
        The number of the system with each score.
    """
    by_number = np.argsort(numbers)
    scores, numbers = scores[:, by_number], numbers[by_number]
    order = np.argsort(scores, axis=1, kind="stable")
    return (
        np.take_along_axis(scores, order, axis=1),
        numbers[order].astype(np.min_scalar_type(int(numbers.max(initial=0)))),
    )


def means_and_deviations(ordered: Floats) -> tuple[Floats, Floats]:
    """Means and sample standard deviations (n-1) of rows that are sorted, NaN last.

    NaN for a row of fewer than two scores; the deviation of scores that do not differ is exactly 0.
    """
    if not ordered.shape[1]:
        return np.full(len(ordered), np.nan), np.full(len(ordered), np.nan)
    n = (~np.isnan(ordered)).sum(axis=1)
    enough = n > 1
    lowest = ordered[:, 0]
    highest = np.take_along_axis(ordered, np.maximum(n - 1, 0)[:, None], axis=1)[:, 0]
    mean = np.nansum(ordered, axis=1) / np.maximum(n, 1)
    squares = np.nansum((ordered - mean[:, None]) ** 2, axis=1)
    sd = np.sqrt(squares / np.maximum(n - 1, 1))
    alike = highest - lowest <= EXACT
    return (
        np.where(enough, np.where(alike, lowest, mean), np.nan),
        np.where(enough, np.where(alike, 0.0, sd), np.nan),
    )
