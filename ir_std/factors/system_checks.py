"""The systems behind a set: which are far below the others, and which score the same."""

from __future__ import annotations

from statistics import median
from typing import NamedTuple

import numpy as np

from ir_std._arrays import Floats, Mask
from ir_std.factors.estimates import scores_by_system
from ir_std.factors.factor_set import FactorSet
from ir_std.schemes import EXACT, get_scheme

LOW_DEVIATIONS = 3.5
"""A system is low if the logarithm of its mean is so many robust deviations below the median: B.
Iglewicz and D. C. Hoaglin, How to detect and handle outliers (1993), there for both sides."""
LOWEST_LIMIT, HIGHEST_LIMIT = 1 / 4, 2 / 3
"""Below this share of the median system's mean every system is low, and above the other none."""


class LowSystems(NamedTuple):
    """Systems far below the others, and what their absence would change.

    Attributes
    ----------
    numbers : tuple of int
        As the set numbers its systems.
    limit : float
        The share of the median system's mean that theirs are below.
    sd : float
        The median over topics of the deviation without them, as a share of that with them.
    median, median_without : float
        The median system's mean of N, with and without them.
    """

    numbers: tuple[int, ...]
    limit: float
    sd: float
    median: float
    median_without: float


def find_low_systems(
    factors: FactorSet, measure: str, topics: Mask | None = None
) -> LowSystems | None:
    """Systems whose mean is far below the median on a logarithmic scale, as those of broken runs.

    Below a quarter of the median every system is low, above two thirds none; in between those
    that are :data:`LOW_DEVIATIONS` times 1.4826 median absolute deviations of the logarithms
    below the median.  Unlike a fence by quartiles this finds many such systems, too.

    Parameters
    ----------
    factors : FactorSet
    measure : str
    topics : ndarray of bool, shape (n_topics,), optional
        The topics to look at; all if not given.

    Returns
    -------
    LowSystems or None
        None if there are none or none are known.
    """
    if measure not in factors.systems:
        return None
    numbers, scores = scores_by_system(factors, measure)
    known = ~np.isnan(scores).any(axis=1) & (True if topics is None else topics)
    if not known.any():  # on every topic some system has no score: means are not of the same topics
        return None
    scores = scores[known]
    means = scores.mean(axis=0)
    middle = median(means.tolist())
    if middle <= 0:
        return None
    distances = np.abs(np.log(np.maximum(means, np.finfo(float).tiny) / middle))
    limit = np.exp(-LOW_DEVIATIONS * 1.4826 * median(distances.tolist()))
    limit = float(np.clip(limit, LOWEST_LIMIT, HIGHEST_LIMIT))
    low = means < limit * middle
    if not low.any():
        return None
    median_system = scores[:, np.argsort(means, kind="stable")[len(means) // 2]]
    others, spread = scores[:, ~low], factors.sd[measure][known] > EXACT
    share = np.std(others, axis=1, ddof=1)[spread] / factors.sd[measure][known][spread]
    return LowSystems(
        tuple(numbers[low].tolist()),
        limit,
        median(share.tolist()),
        _mean_n(median_system, scores),
        _mean_n(median_system, others),
    )


def _mean_n(values: Floats, scores: Floats) -> float:
    """The mean of N over topics, by the scores of systems, shape (n_topics, n_systems)."""
    mean, sd = scores.mean(axis=1), scores.std(axis=1, ddof=1)
    sd[np.ptp(scores, axis=1) <= EXACT] = 0
    return float(get_scheme("N").apply(values, mean=mean, sd=sd).mean())


def duplicate_systems(factors: FactorSet) -> list[tuple[int, ...]]:
    """Groups of systems that score the same in every measure on every topic, by their numbers."""
    columns: dict[int, list[bytes]] = {}
    for measure in factors.systems:
        numbers, scores = scores_by_system(factors, measure)
        for number, column in zip(numbers.tolist(), np.round(scores.T, 9), strict=True):
            columns.setdefault(number, []).append(column.tobytes())
    alike: dict[tuple[bytes, ...], list[int]] = {}
    for number in sorted(columns):
        alike.setdefault(tuple(columns[number]), []).append(number)
    return [tuple(group) for group in alike.values() if len(group) > 1]
