"""How many topics an experiment needs."""

from __future__ import annotations

from math import inf

import numpy.typing as npt
from scipy.special import fdtri, ncfdtr

from ir_std.analysis.means import check_level, check_scores


def within_system_variance(scores: npt.ArrayLike) -> float:
    """The residual variance of one-way ANOVA: how much a system varies over topics.

    ``sum_ij (x_ij - mean_j)**2 / (m * (n - 1))`` over ``n`` topics and ``m`` systems (Sakai,
    Topic set size design, IRJ 2016): the mean of the systems' sample variances.

    Parameters
    ----------
    scores : array_like, shape (n_topics, n_systems)

    Raises
    ------
    ValueError
        On fewer than two topics, or a value that is NaN or infinite.
    """
    return float(check_scores(scores, topics=2, single=True).var(axis=0, ddof=1).mean())


def topic_set_size(
    variance: float,
    min_difference: float,
    systems: int = 10,
    *,
    alpha: float = 0.05,
    beta: float = 0.20,
) -> int:
    """The fewest topics with which one-way ANOVA finds a difference of interest.

    The smallest ``n`` for which the F test of ``m`` systems at level ``alpha`` has a power of at
    least ``1 - beta`` whenever the best and the worst system differ by ``min_difference``: the
    noncentral F distribution with ``m - 1`` and ``m * (n - 1)`` degrees of freedom and
    ``lambda = n * min_difference**2 / (2 * variance)``, its least value for that difference
    (Sakai, Topic set size design, IRJ 2016).

    Parameters
    ----------
    variance : float
        Of a system over topics, see :func:`within_system_variance`.
    min_difference : float
        In the unit of the scores.
    systems : int
        ``m``, at least 2.
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
    _check_design(variance, min_difference, systems, alpha, beta)
    return _fewest(systems - 1, systems, min_difference**2 / (2 * variance), alpha, beta)


def topic_set_size_two_way(
    variance: float,
    min_difference: float,
    systems: int = 10,
    *,
    alpha: float = 0.05,
    beta: float = 0.20,
) -> int:
    """The fewest topics with which two-way ANOVA finds a difference of interest.

    As :func:`topic_set_size`, for systems that all run on the same topics: a topic is a block, its
    difficulty no error.  The degrees of freedom are ``m - 1`` and ``(m - 1) * (n - 1)``, and
    ``lambda`` is that with the residual variance.

    Parameters
    ----------
    variance : float
        The residual one, see :func:`ir_std.analysis.residual_variance`.
    min_difference, systems, alpha, beta
        As for :func:`topic_set_size`.

    Returns
    -------
    int
        At least 2.

    Raises
    ------
    ValueError
        As for :func:`topic_set_size`.
    """
    _check_design(variance, min_difference, systems, alpha, beta)
    return _fewest(systems - 1, systems - 1, min_difference**2 / (2 * variance), alpha, beta)


def topic_set_size_paired_t(
    variance: float, min_difference: float, *, alpha: float = 0.05, beta: float = 0.20
) -> int:
    """The fewest topics with which a two-sided paired t-test finds a difference of interest.

    Noncentral t with ``n - 1`` degrees of freedom and noncentrality
    ``sqrt(n) * min_difference / sqrt(variance)`` (Sakai, Topic set size design, IRJ 2016); its
    square is noncentral F with 1 and ``n - 1`` degrees, and a significant result with the wrong
    sign counts as well.

    Parameters
    ----------
    variance : float
        Of the per-topic differences of two systems: on average over pairs twice the
        :func:`ir_std.analysis.residual_variance`.  Where only
        :func:`within_system_variance` is known, twice that is the usual cautious choice.
    min_difference : float
        In the unit of the scores.
    alpha, beta : float
        Rates of Type I and Type II errors.

    Returns
    -------
    int
        At least 2.

    Raises
    ------
    ValueError
        If a variance or difference is not above 0 and finite, or a level is outside (0, 1).
    """
    _check_design(variance, min_difference, 2, alpha, beta)
    return _fewest(1, 1, min_difference**2 / variance, alpha, beta)


def _fewest(between: int, within: int, effect: float, alpha: float, beta: float) -> int:
    """The fewest topics, 2 at least, with which an F test has a power of ``1 - beta``.

    Each topic but the first adds ``within`` degrees of freedom, each adds ``effect`` to lambda.
    """

    def is_enough(n: int) -> bool:
        critical = fdtri(between, within * (n - 1), 1 - alpha)
        return bool(1 - ncfdtr(between, within * (n - 1), n * effect, critical) >= 1 - beta)

    high = 2
    while not is_enough(high):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def _check_design(
    variance: float, min_difference: float, systems: int, alpha: float, beta: float
) -> None:
    if not (0 < variance < inf and 0 < min_difference < inf):
        raise ValueError(
            "variance and min_difference must be above 0 and finite, "
            f"got {variance} and {min_difference}"
        )
    if systems < 2:
        raise ValueError(f"systems must be at least 2, got {systems}")
    check_level(alpha), check_level(beta, "beta")
