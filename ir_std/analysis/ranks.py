"""Rank intervals: the ranks that paired comparisons with all other systems do not rule out."""

from typing import NamedTuple

import numpy as np

from ir_std._arrays import ArrayLike, Floats, Ints, Mask, divide
from ir_std.analysis import means
from ir_std.analysis.paired import CLOSE

FEWEST = 5
"""Smallest number of common topics on which two systems are compared; with fewer common topics,
either system could be better."""
ALL_FLIPS_UP_TO = 12
"""Largest number of topics for which all sign vectors are used, instead of random ones."""
PAIRS_AT_ONCE = 1024
"""Number of pairs of almost equal systems in a batch.  Almost equal systems are compared a second
time, and the batches save memory."""
FLIPS = 1000
"""Number of random sign vectors if there are too many topics for all sign vectors.  With this
number, the Monte Carlo error of the confidence is 0.007."""
FEW_TOPICS = 30
"""Smallest number of topics with which the intervals of equally good systems are reliable.  With
fewer topics, these intervals contain the true ranks too rarely."""


class RankIntervals(NamedTuple):
    """The best and the worst rank that each system may have, where rank 1 is the best.

    Attributes
    ----------
    best, worst : ndarray of int, shape (n_systems,)
        Ends of the intervals.  The intervals are simultaneous: the confidence level applies to all
        intervals at once.
    better : ndarray of bool, shape (n_systems, n_systems)
        ``better[j, k]`` is True if system j is significantly better than system k.
    could_be_first : ndarray of bool, shape (n_systems,)
        Confidence set for the best system (Hsu, 1981).  The confidence level of the set is the same
        as the confidence level of the intervals.
    """

    best: Ints
    worst: Ints
    better: Mask
    could_be_first: Mask

    @property
    def n_first(self) -> int:
        """Number of systems in the confidence set for the best system."""
        return int(np.count_nonzero(self.could_be_first))

    def groups(self) -> Ints:
        """Return each system's group number, from 0; the systems must be sorted best first.

        No two systems of a group differ significantly.  A group ends before the first system that
        differs significantly from a system in the group.  Systems in neighboring groups do not
        always differ significantly.
        """
        differ = self.better | self.better.T
        group = np.zeros(len(differ), dtype=np.int64)
        start = 0
        for k in range(1, len(differ)):
            if differ[start:k, k].any():
                start = k
            group[k] = group[k - 1] + (start == k)
        return group


def rank_intervals(scores: ArrayLike, level: float = 0.95) -> RankIntervals:
    """Compute the intervals of all systems' ranks: `1 + n_better` to `n_systems - n_worse`.

    For each system, ``n_better`` is the number of other systems that are significantly better over
    the common topics of both systems; ``n_worse`` is the number of other systems that are
    significantly worse.  The ranks refer to the means over all possible topics, not to the means
    over this sample of topics.

    The intervals are simultaneous: the confidence level applies to all intervals at once.  The
    statistic of each pair is compared with the distribution of the largest statistic of all pairs
    under random sign flips.  A flip inverts the signs of all differences on a topic at once.  (Such
    flips are a wild bootstrap of residuals.  Mogstad, Romano, Shaikh and Wilhelm, Inference for
    ranks, Review of Economic Studies 2024, build such sets from the largest t statistic of all
    pairs.)  Residuals of ``n`` topics are multiplied by ``sqrt(n / (n - 1))``.  Among thousands of
    pairs, some have a small variance by chance, so each variance is averaged with the mean variance
    of all pairs.

    The confidence set for the best system answers a narrower question.  For each system, one-sided
    statistics compare all other systems with the system.  The system is in the set if no statistic
    is above a limit.  To find the limit, the largest of these statistics is computed under each
    sign flip; the limit is a quantile of the results (multiple comparisons with the best; Hsu,
    Annals of Statistics 1981).  The page ``docs/evidence/ranks.md`` says how often the intervals
    contain the true ranks, and how often the set contains the best system.  With fewer than 30
    topics, the intervals and the set are correct less often.

    Parameters
    ----------
    scores : array_like, shape (n_topics, n_systems)
        Scores, where higher is better; NaN if a system has no score on a topic.
    level : float
        Confidence level, between 0 and 1.

    Returns
    -------
    RankIntervals
        Intervals and confidence set.  If a system shares fewer than five topics with every other
        system, its interval contains all ranks.

    Raises
    ------
    ValueError
        If there are not two dimensions, a score is infinite, or the level is not a probability.

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
    x, quantile = means.check_scores_with_gaps(scores), float(means.check_level(level, "level"))
    mean, variance, n = _compare_pairs(x)
    compared = n >= FEWEST
    variance = (variance + _average(variance, n - 1, compared)) / 2
    statistic = means.student_t(mean, divide(variance, n, otherwise=0.0))
    flips = _Flips(x, variance, n, compared)
    largest = np.max([flips.two_sided(k) for k in range(x.shape[1])], axis=0, initial=0.0)
    # Element [j, k] is true if j is better than k.
    better = compared & (statistic > _quantile(largest, quantile))
    best = 1 + better.sum(axis=0)
    could_be_first = best == 1
    for k in np.flatnonzero(could_be_first).tolist():
        limit = _quantile(flips.one_sided(k), quantile)
        could_be_first[k] = not (compared[:, k] & (statistic[:, k] > limit)).any()
    return RankIntervals(best, x.shape[1] - better.sum(axis=1), better, could_be_first)


def _compare_pairs(x: Floats) -> tuple[Floats, Floats, Ints]:
    """Return the mean, the variance and the number of topics of each difference ``j - k``."""
    present = (~np.isnan(x)).astype(float)
    # Differences are computed from centered scores, because sums of centered scores keep more
    # digits.
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
        d = means.topic_differences(x[:, j], x[:, k])
        mean[j, k] = np.nanmean(d, axis=0)
        mean[k, j] = -mean[j, k]
        flat = np.nanmax(d, axis=0) - np.nanmin(d, axis=0) <= means.ROUNDING * np.abs(mean[j, k])
        variance[j, k] = variance[k, j] = np.where(flat, 0.0, np.nanvar(d, axis=0, ddof=1))
    return mean, variance, common.astype(np.int64)


def _average(values: Floats, weights: Ints, where: Mask) -> float:
    """Return the weighted mean of the elements with ``j != k``; 0 if there are none."""
    weights = np.where(where & ~np.eye(len(values), dtype=bool), weights, 0)
    return float(divide((values * weights).sum(), weights.sum(), otherwise=0.0))


class _Flips:
    """Statistics of all pairs of systems after the signs of their differences are flipped."""

    def __init__(self, x: Floats, variance: Floats, n: Ints, compared: Mask) -> None:
        self.x, self.signs = x, _flips(len(x))
        self.used = compared & (variance > 0)
        scale = divide(1.0, np.sqrt(np.maximum((n - 1) * variance, 0.0)), 0.0)
        self.scale = np.where(self.used, scale, 0.0).astype(np.float32)
        complete = bool((n == len(x)).all()) and len(x) > 0
        self.complete = (self.signs @ (x - x.mean(axis=0))).astype(np.float32) if complete else None

    def _against(self, k: int, others: Mask) -> Floats:
        """Return the statistics of other systems against system k, shape (n_flips, n_others)."""
        j = np.flatnonzero(others & self.used[:, k])
        if self.complete is not None:
            flipped = self.complete[:, j] - self.complete[:, [k]]
        elif len(j):
            d = self.x[:, j] - self.x[:, [k]]
            flipped = self.signs @ np.nan_to_num(d - np.nanmean(d, axis=0))
        else:
            flipped = np.zeros((len(self.signs), 0))
        return np.asarray(flipped * self.scale[j, k])

    def two_sided(self, k: int) -> Floats:
        """Compare later systems with k; return each flip's largest absolute statistic."""
        flipped = self._against(k, np.arange(len(self.used)) > k)
        return np.asarray(np.abs(flipped, out=flipped).max(axis=1, initial=0.0))

    def one_sided(self, k: int) -> Floats:
        """Return the largest statistic against system k, for each flip and its opposite."""
        flipped = self._against(k, np.ones(len(self.used), dtype=bool))
        return np.append(flipped.max(axis=1, initial=0.0), -flipped.min(axis=1, initial=0.0))


def _quantile(values: Floats, level: float) -> float:
    return float(np.quantile(values, level, method="inverted_cdf"))


def _flips(n_topics: int) -> Floats:
    """Return an array of signs with one row per flip, shape (n_flips, n_topics).

    With up to 12 topics, the rows are all sign vectors; of two opposite vectors, only one is
    included.  With more topics, the rows are drawn at random.
    """
    if n_topics <= ALL_FLIPS_UP_TO:
        numbers = np.arange(2 ** max(n_topics - 1, 0))
        bits = numbers[:, None] >> np.arange(n_topics) & 1
        return np.where(bits, -1.0, 1.0)
    return np.random.default_rng(means.SEED).choice([-1.0, 1.0], (FLIPS, n_topics))
