"""Compute statistics that only the papers' experiments need.

Arrays have topics in rows and systems in columns. Pairs of systems are ordered as in
``numpy.triu_indices(n_systems, 1)``. If an array has more axes, the leading axes are independent
experiments, such as resamplings of topics.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import stdtr

from ir_std._arrays import Floats, divide
from ir_std.analysis.correlation import kendall_tau_b
from ir_std.analysis.means import (
    check_level,
    check_scores,
    mean_and_variance,
    rounded_difference,
    standard_error,
    student_t,
)
from ir_std.analysis.paired import check_design, fewest_topics
from ir_std.analysis.standardization import compute_factors
from ir_std.schemes import get_scheme


def _same_systems(
    a: npt.ArrayLike, b: npt.ArrayLike, *, topics: int = 1, systems: int = 1
) -> tuple[Floats, Floats]:
    """Check the scores of the same systems on two collections (:func:`check_scores`)."""
    first = check_scores(a, "the first collection", topics=topics, systems=systems)
    second = check_scores(b, "the second collection", topics=topics, systems=systems)
    if first.shape[-1] != second.shape[-1]:
        raise ValueError(
            "both collections must hold the same systems, "
            f"got {first.shape[-1]} and {second.shape[-1]}"
        )
    return first, second


def tukey_p_values(scores: npt.ArrayLike, trials: int = 1000, seed: int = 0) -> Floats:
    """Compute p values of the randomised Tukey HSD test for every pair of systems.

    If all systems were equally good, a topic's scores could be dealt to them in any order. The p
    value of a pair is the share of such deals in which the best and the worst system differ by at
    least as much as the pair does (Carterette, TOIS 2012; Sakai, ICTIR 2016). The observed scores
    count as one more deal, so p is ``(b + 1) / (trials + 1)`` and never 0. Here, b is the number of
    random deals with such a difference. The test controls the family-wise error rate.

    Parameters
    ----------
    scores : array_like, shape (n_topics, n_systems)
    trials : int
        Number of deals.
    seed : int
        Seed of the generator.

    Returns
    -------
    ndarray, shape (n_pairs,)

    Raises
    ------
    ValueError
        If :func:`ir_std.analysis.paired_t` would raise it, if there are more than two dimensions,
        or if there are no trials.
    """
    x = check_scores(scores, topics=2, systems=2, single=True)
    if trials < 1:
        raise ValueError(f"trials must be at least 1, got {trials}")
    rng = np.random.default_rng(seed)
    i, j = np.triu_indices(x.shape[1], 1)
    mean = x.mean(axis=0)
    ranges = np.sort([np.ptp(rng.permuted(x, axis=1).mean(axis=0)) for _ in range(trials)])
    reached = np.searchsorted(
        rounded_difference(ranges, 0), np.abs(rounded_difference(mean[i], mean[j]))
    )
    p: Floats = (trials - reached + 1) / (trials + 1)
    return p


def two_sample_p_values(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    *,
    equal_var: bool = False,
    alternative: Literal["two-sided", "greater", "less"] = "two-sided",
) -> Floats:
    """Compare each system on one collection with each system on another by a t-test.

    The test is Welch's or, with ``equal_var``, Student's test with the pooled variance.

    Parameters
    ----------
    a : array_like, shape (..., n_topics_a, n_systems_a)
    b : array_like, shape (..., n_topics_b, n_systems_b)
    alternative : str
        Alternative hypothesis; ``'greater'`` means that the system on ``a`` is better.

    Returns
    -------
    ndarray, shape (..., n_systems_a, n_systems_b)
        P values. If the scores of neither system vary, p is 1 for equal means; for other means, p
        is the value for an infinite t.

    Raises
    ------
    ValueError
        If there are fewer than two topics, a value is NaN or infinite, or the alternative is
        unknown.
    """
    mean_a, var_a, n_a = mean_and_variance(check_scores(a, "the first collection", topics=2))
    mean_b, var_b, n_b = mean_and_variance(check_scores(b, "the second collection", topics=2))
    return _two_sample(
        (mean_a[..., :, None], var_a[..., :, None], n_a),
        (mean_b[..., None, :], var_b[..., None, :], n_b),
        equal_var,
        alternative,
    )


def self_false_positives(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    alpha: float = 0.025,
    *,
    equal_var: bool = False,
    alternative: Literal["two-sided", "greater", "less"] = "greater",
) -> npt.NDArray[np.bool_]:
    """Find the systems that seem better on collection ``a`` than on ``b``.

    A system has one quality, so a difference that the two-sample t-test finds comes from the
    collections and is a false positive. Webber, Moffat and Zobel (2008, Table 4) test one-tailed at
    0.025; the Type I errors of Urbano, Lima and Hanjalic (2019) are two-sided.

    Parameters
    ----------
    a : array_like, shape (..., n_topics_a, n_systems)
    b : array_like, shape (..., n_topics_b, n_systems)
        The same systems in the same order.
    alpha, equal_var, alternative
        Level and kind of test, as for :func:`two_sample_p_values`.

    Returns
    -------
    ndarray of bool, shape (..., n_systems)
        True for false positives. The sum is their number, and the mean is the rate of Type I
        errors.

    Raises
    ------
    ValueError
        If :func:`two_sample_p_values` would raise it, the numbers of systems differ, or the level
        is outside (0, 1).
    """
    first, second = _same_systems(a, b, topics=2)
    p = _two_sample(mean_and_variance(first), mean_and_variance(second), equal_var, alternative)
    better: npt.NDArray[np.bool_] = p < check_level(alpha)
    return better


Moments: TypeAlias = tuple[Floats, Floats, int]
"""Means and sample variances over topics, and the number of topics."""


def _two_sample(a: Moments, b: Moments, equal_var: bool, alternative: str) -> Floats:
    """Compute p values from moments that broadcast."""
    (mean_a, var_a, n_a), (mean_b, var_b, n_b) = a, b
    if equal_var:
        df: Floats = np.asarray(n_a + n_b - 2.0)
        pooled = ((n_a - 1) * var_a + (n_b - 1) * var_b) / (n_a + n_b - 2)
        square = pooled * (1 / n_a + 1 / n_b)
    else:
        part_a, part_b = var_a / n_a, var_b / n_b
        square = part_a + part_b
        # Welch and Satterthwaite; if nothing varies, all degrees of freedom give the same p.
        df = square**2 / np.where(square > 0, part_a**2 / (n_a - 1) + part_b**2 / (n_b - 1), 1)
        df = np.where(square > 0, df, 1)
    t = student_t(mean_a - mean_b, square)
    tails = {"two-sided": (2, -np.abs(t)), "greater": (1, -t), "less": (1, t)}
    if alternative not in tails:
        raise ValueError(
            f"unknown alternative {alternative!r}; choose from two-sided, greater, less"
        )
    count, tail = tails[alternative]
    return np.asarray(count * stdtr(df, tail), dtype=float)


CHUNK = 50
"""Number of samples to compute at a time, so that they fit into the processor's cache."""


def drmse(a: npt.ArrayLike, b: npt.ArrayLike) -> Floats:
    """Compute how far the mean scores of systems drift between two collections.

    The drift is the root mean square of the differences between the systems' two means, divided by
    the average of the means' two standard deviations (n-1) (Webber, Moffat and Zobel 2008, eq. 4).

    Parameters
    ----------
    a : array_like, shape (..., n_topics_a, n_systems)
    b : array_like, shape (..., n_topics_b, n_systems)
        The same systems in the same order.

    Returns
    -------
    ndarray, shape (...)
        The drift, which is 0 if the means agree and has no upper bound.

    Raises
    ------
    ValueError
        If the numbers of systems differ, there are fewer than two systems, a value is NaN or
        infinite, or all systems have the same score on both collections.
    """
    first, second = (x.mean(axis=-2) for x in _same_systems(a, b, systems=2))
    spread = (first.std(axis=-1, ddof=1) + second.std(axis=-1, ddof=1)) / 2
    if (rounded_difference(spread, 0) == 0).any():
        raise ValueError(
            "all systems have the same mean on both collections: there is no "
            "spread to measure their drift against"
        )
    drift: Floats = np.sqrt(np.mean((first - second) ** 2, axis=-1)) / spread
    return drift


@dataclass(frozen=True)
class SwapRates:
    """Result of :func:`swap_rate`, with one entry for each bin."""

    rate: Floats
    """``swaps / pairs``, NaN for an empty bin."""
    swaps: npt.NDArray[np.int_]
    pairs: npt.NDArray[np.int_]
    by_trial: Floats
    """Share of swaps in each trial, over all bins."""

    @property
    def overall(self) -> float:
        """Share of swaps in all comparisons, which does not depend on the bins or the scale."""
        return float(self.swaps.sum() / self.pairs.sum())

    @property
    def error(self) -> float:
        """Standard error of :attr:`overall` over the trials, for this set of topics.

        If two arrays of scores have the same seed, their trials use the same samples of topics. So
        the error of the difference between their rates comes from the differences between their
        :attr:`by_trial`, and is far smaller.
        """
        return standard_error(self.by_trial)


def swap_rate(
    scores: npt.ArrayLike,
    bins: npt.ArrayLike,
    *,
    size: int | None = None,
    trials: int = 1000,
    seed: int = 0,
) -> SwapRates:
    """Estimate how often two disjoint sets of topics order two systems differently.

    Each trial draws two disjoint sets of ``size`` topics. The absolute difference between the mean
    scores of a pair of systems on the first set decides the pair's bin. The pair is swapped if the
    difference on the second set has the opposite sign (Voorhees and Buckley, SIGIR 2002; Sakai,
    ICTIR 2016). Differences are rounded to 12 decimals, so that equal means neither swap nor change
    their bin.

    Parameters
    ----------
    scores : array_like, shape (n_topics, n_systems)
    bins : array_like, shape (n_bins,)
        Lower bounds in ascending order; the first is 0. The last bin has no upper bound.
    size : int, optional
        Number of topics in each set; half of the topics by default.

    Returns
    -------
    SwapRates
        ``rate``, ``swaps`` and ``pairs``, each of shape (n_bins,), and ``by_trial``, (trials,).

    Raises
    ------
    ValueError
        If there are fewer than two topics or systems, a value is NaN or infinite, the bins do not
        ascend from 0, the topics are too few for two sets of ``size``, or there are no trials.
    """
    x = check_scores(scores, topics=2, systems=2, single=True)
    lower = rounded_difference(bins, 0)
    if lower.ndim != 1 or not lower.size or lower[0] != 0 or (np.diff(lower) <= 0).any():
        raise ValueError(f"bins must be lower bounds that ascend from 0, got {lower.tolist()}")
    n, m = x.shape
    size = n // 2 if size is None else size
    if not 1 <= size <= n // 2:
        raise ValueError(f"size must lie between 1 and half of the {n} topics, got {size}")
    if trials < 1:
        raise ValueError(f"trials must be at least 1, got {trials}")
    rng = np.random.default_rng(seed)
    i, j = np.triu_indices(m, 1)
    swaps = np.zeros(lower.size, dtype=int)
    pairs = np.zeros(lower.size, dtype=int)
    by_trial = np.empty(trials)
    for trial in range(trials):
        topics = rng.permutation(n)
        first, second = (x[part].mean(axis=0) for part in (topics[:size], topics[size : 2 * size]))
        difference = rounded_difference(first[i], first[j])
        swapped = np.sign(difference) * np.sign(rounded_difference(second[i], second[j])) < 0
        by_trial[trial] = swapped.mean()
        bin_of = np.searchsorted(lower, np.abs(difference), side="right") - 1
        pairs += np.bincount(bin_of, minlength=lower.size)
        swaps += np.bincount(bin_of[swapped], minlength=lower.size)
    return SwapRates(divide(swaps, pairs, otherwise=np.nan), swaps, pairs, by_trial)


def factor_stability(
    scores: npt.ArrayLike,
    reference: npt.ArrayLike,
    size: int,
    *,
    samples: int = 2000,
    seed: int = 0,
    scheme: str = "N",
    **params: Any,
) -> Floats:
    """Compute tau between two rankings: with sampled and with all reference systems.

    Figure 4 of Webber, Moffat and Zobel (2008) uses it to show how many reference systems are
    enough.

    Parameters
    ----------
    scores : array_like, shape (n_topics, n_systems)
        Scores of the systems to rank; the rankings are by mean standardized score.
    reference : array_like, shape (n_topics, n_reference)
        Scores of the reference systems on the same topics.
    size : int
        Number of reference systems in a sample, drawn without replacement.
    samples, seed : int
        Number of samples, and seed of the generator.
    scheme : str
        A scheme of :data:`ir_std.schemes.SCHEMES`, with its ``params``.

    Returns
    -------
    ndarray, shape (samples,)

    Raises
    ------
    ValueError
        If the arrays have different topics, there are fewer than two systems, a value is NaN or
        infinite, the size is below 2 or above the number of reference systems, there are no
        samples, or the scheme is unknown.

    Notes ----- On a topic on which all systems of a sample score the same, N and U take their
    limits. z has no value there, so the topic is left out of that sample's means.
    """
    x = check_scores(scores, systems=2, single=True)
    by = check_scores(reference, "the reference systems", systems=2, single=True)
    if x.shape[0] != by.shape[0]:
        raise ValueError(
            "ranked and reference systems must have the same topics, "
            f"got {x.shape[0]} and {by.shape[0]}"
        )
    if not 2 <= size <= by.shape[1]:
        raise ValueError(
            f"size must lie between 2 and the {by.shape[1]} reference systems, got {size}"
        )
    if samples < 1:
        raise ValueError(f"samples must be at least 1, got {samples}")
    rng = np.random.default_rng(seed)
    by_all = _means(x, by[None], scheme, params)
    taus = []
    for start in range(0, samples, CHUNK):
        count = min(CHUNK, samples - start)
        drawn = rng.permuted(np.tile(np.arange(by.shape[1]), (count, 1)), axis=1)[:, :size]
        sampled = np.moveaxis(by[:, drawn], 1, 0)
        taus.append(kendall_tau_b(by_all, _means(x, sampled, scheme, params)))
    return np.concatenate(taus)


def _means(x: Floats, by: Floats, scheme: str, params: dict[str, Any]) -> Floats:
    """Average the scores that each sample standardizes, shape (samples, n_systems)."""
    y = get_scheme(scheme).apply(x, **compute_factors(by), **params)
    known = ~np.isnan(y).any(axis=-1, keepdims=True)
    count = known.sum(axis=-2)
    if (count == 0).any():
        raise ValueError(
            "a sample of reference systems has no spread on any topic; choose a larger size"
        )
    means: Floats = np.where(known, y, 0.0).sum(axis=-2) / count
    return means


def within_system_variance(scores: npt.ArrayLike) -> float:
    """Return the variance of a system over topics, one-way ANOVA's residual variance.

    This is ``sum_ij (x_ij - mean_j)**2 / (m * (n - 1))`` over ``n`` topics and ``m`` systems, which
    is the mean of the systems' sample variances (Sakai, Topic set size design, IRJ 2016).

    Parameters
    ----------
    scores : array_like, shape (n_topics, n_systems)

    Raises
    ------
    ValueError
        If there are fewer than two topics, or a value is NaN or infinite.
    """
    return float(check_scores(scores, topics=2, single=True).var(axis=0, ddof=1).mean())


def residual_variance(scores: npt.ArrayLike) -> float:
    """Return the variance of scores after removing the means of topics and systems.

    This is the residual mean square of two-way analysis of variance without replication, with
    ``(n_topics - 1) * (n_systems - 1)`` degrees of freedom. It is the error variance in a
    comparison of systems that ran on the same topics. It does not include the topics' difficulty.
    The average variance of two systems' differences is twice this value.

    Parameters
    ----------
    scores : array_like, shape (n_topics, n_systems)

    Raises
    ------
    ValueError
        If there are fewer than two topics or systems, or a value is NaN or infinite.
    """
    x = check_scores(scores, topics=2, systems=2, single=True)
    residual = x - x.mean(axis=0) - x.mean(axis=1, keepdims=True) + x.mean()
    return float((residual**2).sum() / ((x.shape[0] - 1) * (x.shape[1] - 1)))


def topic_set_size(
    variance: float,
    min_difference: float,
    systems: int = 10,
    *,
    two_way: bool = False,
    alpha: float = 0.05,
    beta: float = 0.20,
) -> int:
    """Return the fewest topics with which ANOVA finds a difference of interest.

    This is the smallest ``n`` for which the F test of ``m`` systems at level ``alpha`` has a power
    of at least ``1 - beta`` whenever the best and the worst system differ by ``min_difference``.
    The power comes from the noncentral F distribution with ``m - 1`` and ``m * (n - 1)`` degrees of
    freedom and ``lambda = n * min_difference**2 / (2 * variance)``, which is the smallest lambda
    for that difference (Sakai, Topic set size design, IRJ 2016). In two-way ANOVA, all systems run
    on the same topics, so the topics' difficulty is not an error. The degrees of freedom are then
    ``m - 1`` and ``(m - 1) * (n - 1)``.

    Parameters
    ----------
    variance : float
        Variance of a system over topics (:func:`within_system_variance`); for two-way ANOVA, the
        residual variance (:func:`residual_variance`).
    min_difference : float
        Smallest difference of interest, in the unit of the scores.
    systems : int
        Number of systems ``m``, at least 2.
    two_way : bool
        If true, topics are blocks of a two-way ANOVA.
    alpha, beta : float
        Rates of Type I and Type II errors.

    Returns
    -------
    int
        At least 2.

    Raises
    ------
    ValueError
        If a variance or difference is not above 0 and finite, ``systems`` is below 2, or a level is
        outside (0, 1).
    """
    check_design(variance, min_difference, alpha, beta)
    if systems < 2:
        raise ValueError(f"systems must be at least 2, got {systems}")
    within = systems - 1 if two_way else systems
    return fewest_topics(systems - 1, within, min_difference**2 / (2 * variance), alpha, beta)
