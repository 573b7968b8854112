"""How many topics an experiment needs."""

from __future__ import annotations

from math import inf

from scipy.special import fdtri, ncfdtr

from ir_std.analysis.means import check_level


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
        Variance over topics of the difference of two systems.  If only the variance of single
        systems is known, twice that is the usual cautious choice.
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
    check_design(variance, min_difference, alpha, beta)
    return fewest_topics(1, 1, min_difference**2 / variance, alpha, beta)


def fewest_topics(between: int, within: int, effect: float, alpha: float, beta: float) -> int:
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


def check_design(variance: float, min_difference: float, alpha: float, beta: float) -> None:
    """Raise a ValueError unless the design of an experiment is possible."""
    if not (0 < variance < inf and 0 < min_difference < inf):
        raise ValueError(
            "variance and min_difference must be above 0 and finite, "
            f"got {variance} and {min_difference}"
        )
    check_level(alpha), check_level(beta, "beta")
