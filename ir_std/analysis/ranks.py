"""What a system's rank is worth: the ranks that paired comparisons with all others allow."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

from ir_std._arrays import Floats, Ints, Mask, divide
from ir_std.analysis.means import (
    ROUNDING,
    SEED,
    check_level,
    check_scores_with_gaps,
    student_t,
    topic_differences,
)
from ir_std.analysis.significance import CLOSE

FEWEST = 5
"""Two systems with fewer common topics are not compared: either could be the better one."""
ALL_FLIPS_UP_TO = 12
"""With this many topics or fewer all flips of signs are taken."""
PAIRS_AT_ONCE = 1024
"""So many pairs that hardly differ are compared again at once, which takes little room."""
FLIPS = 2000
"""Flips drawn of more topics; the Monte Carlo error of the confidence is then 0.005."""


class RankIntervals(NamedTuple):
    """The best and the worst rank that each system may have, 1 the best.

    ``better[j, k]`` is whether system j is significantly better than system k.
    """

    best: Ints
    worst: Ints
    better: Mask

    @property
    def n_first(self) -> int:
        """How many systems could be first."""
        return int(np.count_nonzero(self.best == 1))

    def groups(self) -> Ints:
        """The number, from 0, of each system's group, where systems stand best mean first.

        No two systems of a group differ significantly: it ends before the first that differs from
        one of it.  Systems of neighbouring groups need not differ.
        """
        differ = self.better | self.better.T
        group = np.zeros(len(differ), dtype=np.int64)
        start = 0
        for k in range(1, len(differ)):
            if differ[start:k, k].any():
                start = k
            group[k] = group[k - 1] + (start == k)
        return group


def rank_intervals(
    scores: npt.ArrayLike, level: float = 0.95, *, simultaneous: bool = False
) -> RankIntervals:
    """The interval of ranks of every system: `1 + n_better` to `n_systems - n_worse`.

    ``n_better`` systems are significantly better than the system over the topics that both have,
    ``n_worse`` significantly worse.  Ranks are of systems' means over all topics there could be,
    of which these are a sample, and not of the means over these topics.

    Each pair is tested by itself, by the paired t-test, two-sided: an interval for a reader who
    asks for one system.  There is no correction for the number of pairs.  In simulations
    (``scripts/ranks_experiment.py``) .99 of true ranks lie inside where systems differ, however
    little; of systems that are exactly tied in groups of five .89 to .97 do with all the ranks that
    they share, and where all 60 are tied .39 to .41: use ``simultaneous`` there.

    ``simultaneous`` is for a reader who takes all systems' intervals as one statement: all pairs
    are referred to the largest of their statistics under flips of signs, all signs of a topic
    flipped together (a wild bootstrap of residuals; Mogstad, Romano, Shaikh and Wilhelm, Inference
    for ranks, Review of Economic Studies 2024, build such sets from the largest of all t).
    Residuals of ``n`` topics are multiplied by ``sqrt(n / (n - 1))``.  Of thousands of pairs some
    have a variance that is small by chance: each is averaged with the mean over all pairs, which
    is twice :func:`residual_variance`.  Where systems differ all intervals hold in .985 of trials;
    where all are tied in .59 of them with 12 topics, .90 with 50, .94 with 200.

    Parameters
    ----------
    scores : array_like, shape (n_topics, n_systems)
        Higher is better; NaN where a system has no score on a topic.
    level : float
        The confidence, between 0 and 1: of each pair's test, or of all together.
    simultaneous : bool

    Returns
    -------
    RankIntervals
        ``best`` and ``worst``, each an array of int of shape (n_systems,), and ``better``, whether
        one system is significantly better than another, shape (n_systems, n_systems).  A system
        that shares fewer than five topics with each other system may have every rank.

    Raises
    ------
    ValueError
        On anything but two dimensions, an infinite score, or a level that is no probability.

    Examples
    --------
    >>> from ir_std.analysis import rank_intervals
    >>> topics = [[.50, .52, .1], [.31, .30, .2], [.82, .80, .5], [.44, .43, .0], [.62, .65, .3]]
    >>> ranks = rank_intervals(topics)
    >>> ranks.best.tolist(), ranks.worst.tolist()
    ([1, 1, 3], [2, 2, 3])
    >>> ranks.n_first, ranks.groups().tolist()
    (2, [0, 0, 1])
    """
    x = check_scores_with_gaps(scores)
    quantile = (1 + float(check_level(level, "level"))) / 2
    mean, variance, n = _compare_pairs(x)
    compared = n >= FEWEST
    if simultaneous:
        variance = (variance + _average(variance, n - 1, compared)) / 2
        limit: Floats | float = _largest_of_flips(x, variance, n, compared, float(level))
    else:
        limit = stdtrit(np.maximum(np.arange(len(x) + 1) - 1, 1), quantile)[n]
    # [j, k]: whether j is better than k.
    better = compared & (student_t(mean, divide(variance, n, otherwise=0.0)) > limit)
    return RankIntervals(1 + better.sum(axis=0), x.shape[1] - better.sum(axis=1), better)


def _compare_pairs(x: Floats) -> tuple[Floats, Floats, Ints]:
    """Mean and variance of the differences ``j - k``, and on how many topics: all ``[j, k]``."""
    present = (~np.isnan(x)).astype(float)
    # Differences are those of the centred scores, whose sums keep more digits.
    centred = np.where(
        present, x - divide(np.nansum(x, axis=1), present.sum(axis=1), 0.0)[:, None], 0.0
    )
    common = present.T @ present
    sums, squares = centred.T @ present, (centred**2).T @ present
    mean = divide(sums - sums.T, common, otherwise=0.0)
    total = squares + squares.T
    variance = divide(total - 2 * centred.T @ centred - common * mean**2, common - 1, otherwise=0.0)
    np.fill_diagonal(variance, 0.0)
    close = (variance * (common - 1) < CLOSE * total) & (common > 1)
    pairs = np.argwhere(np.triu(close | close.T, 1))
    for start in range(0, len(pairs), PAIRS_AT_ONCE):
        j, k = pairs[start : start + PAIRS_AT_ONCE].T
        d = topic_differences(x[:, j], x[:, k])
        mean[j, k] = np.nanmean(d, axis=0)
        mean[k, j] = -mean[j, k]
        flat = np.nanmax(d, axis=0) - np.nanmin(d, axis=0) <= ROUNDING * np.abs(mean[j, k])
        variance[j, k] = variance[k, j] = np.where(flat, 0.0, np.nanvar(d, axis=0, ddof=1))
    return mean, variance, common.astype(np.int64)


def _average(values: Floats, weights: Ints, where: Mask) -> float:
    """The weighted mean of ``[j, k]`` over ``j`` unlike ``k``; 0 of none."""
    weights = np.where(where & ~np.eye(len(values), dtype=bool), weights, 0)
    return float(divide((values * weights).sum(), weights.sum(), otherwise=0.0))


def _largest_of_flips(x: Floats, variance: Floats, n: Ints, compared: Mask, level: float) -> float:
    """The quantile of the largest statistic of all pairs, over flips of topics' signs."""
    if not compared.any():
        return 0.0
    signs = _flips(len(x))
    complete = signs @ (x - x.mean(axis=0)) if (n == len(x)).all() else None
    largest = np.zeros(len(signs))
    for k in range(x.shape[1] - 1):
        j = k + 1 + np.flatnonzero((compared & (variance > 0))[k + 1 :, k])
        if complete is not None:
            flipped = complete[:, j] - complete[:, [k]]
        elif len(j):
            d = x[:, j] - x[:, [k]]
            flipped = signs @ np.nan_to_num(d - np.nanmean(d, axis=0))
        else:
            continue
        flipped /= np.sqrt((n[j, k] - 1) * variance[j, k])
        np.maximum(largest, np.abs(flipped, out=flipped).max(axis=1, initial=0.0), out=largest)
    return float(np.quantile(largest, level, method="inverted_cdf"))


def _flips(n_topics: int) -> Floats:
    """Rows of signs: all that are no other's mirror image, or draws; shape (n_flips, n_topics)."""
    if n_topics <= ALL_FLIPS_UP_TO:
        numbers = np.arange(2 ** max(n_topics - 1, 0))
        bits = numbers[:, None] >> np.arange(n_topics) & 1
        return np.where(bits, -1.0, 1.0)
    return np.random.default_rng(SEED).choice([-1.0, 1.0], (FLIPS, n_topics))
