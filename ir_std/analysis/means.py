"""Means with their errors, checks of score arrays, Student's t, and samples drawn with a seed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import exp, hypot, inf, isnan, nan, sqrt
from typing import NamedTuple

import numpy as np

from ir_std._arrays import ArrayLike, Floats

LEVEL = 0.95
"""Confidence level of the intervals."""
SMALLEST_LOG_P = -70.0
"""Logarithm of the smallest p-value that is returned, which is about 1e-30."""


class Estimate(NamedTuple):
    """A mean over topics, or a difference between two means, with its standard errors.

    ``str(estimate)`` shows both errors: ``0.693 ±0.063 (topics) ±0.032 (systems)``.

    Attributes
    ----------
    mean : float
        The mean or the difference.
    n : int
        Number of topics.
    topics_error, topics_df : float
        Standard error of the mean due to topics, and the degrees of freedom of this error.  The
        error is NaN with fewer than two topics.
    systems_error, systems_df : float
        Standard error of the mean due to the reference systems, and the degrees of freedom of this
        error.  The error is 0 for raw scores, which need no factors.  The error is NaN if only the
        mean and the standard deviation of the reference systems are known.
    """

    mean: float
    n: int
    topics_error: float
    topics_df: float
    systems_error: float = 0.0
    systems_df: float = inf

    @classmethod
    def of(cls, values: ArrayLike, systems_error: float = 0.0, systems_df: float = inf) -> Estimate:
        """Estimate the mean of scores per topic; NaN means that a topic has no score."""
        x = np.asarray(values, float)
        x = x[~np.isnan(x)]
        n = len(x)
        mean = float(x.mean()) if n else nan
        return cls(mean, n, standard_error(x), n - 1, systems_error, systems_df)

    @property
    def topics(self) -> float:
        """Half-width of the 95 percent interval over topics."""
        return self.topics_error * _quantile(self.topics_df)

    @property
    def systems(self) -> float:
        """Half-width of the 95 percent interval over systems."""
        return self.systems_error * _quantile(self.systems_df)

    @property
    def error(self) -> float:
        """Standard error over topics and systems.

        If the error over systems is unknown, the error covers only topics.
        """
        return hypot(self.topics_error, _known(self.systems_error))

    @property
    def half(self) -> float:
        """Half-width of :attr:`interval`."""
        return hypot(self.topics, _known(self.systems))

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 percent interval over topics and systems.

        If the error over systems is unknown, the interval covers only topics.
        """
        half = self.half
        return self.mean - half, self.mean + half

    @property
    def p(self) -> float:
        """Two-sided p-value of the hypothesis that the mean is 0, consistent with the interval.

        The p-value is the significance level at which the interval would end exactly at 0.  Without
        an error over systems, the p-value equals the p-value of Student's t-test.  The p-value is
        NaN if there is no interval.
        """
        mean, topics, systems = abs(self.mean), self.topics_error, _known(self.systems_error)
        if isnan(self.half) or mean == 0 or hypot(topics, systems) == 0:
            return nan if isnan(self.half) else float(mean == 0)
        low, high = SMALLEST_LOG_P, 0.0
        while high - low > 1e-13:
            middle = (low + high) / 2
            half = hypot(
                topics * _upper_quantile(self.topics_df, middle),
                systems * _upper_quantile(self.systems_df, middle) if systems else 0.0,
            )
            low, high = (middle, high) if half > mean else (low, middle)
        return exp(high)

    def __str__(self) -> str:
        systems = "" if self.systems_error == 0 else f" ±{self.systems:.3f} (systems)"
        return f"{self.mean:.3f} ±{self.topics:.3f} (topics){systems}"


@lru_cache(maxsize=256)
def _quantile(df: float) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(df, (1 + LEVEL) / 2)) if df >= 1 else nan


def _upper_quantile(df: float, log_p: float) -> float:
    """Return the absolute value of t that is exceeded with the probability ``exp(log_p)``."""
    from scipy.special import stdtrit

    return -float(stdtrit(df, exp(log_p) / 2))


def _known(value: float) -> float:
    return 0.0 if isnan(value) else value


NO_ESTIMATE = Estimate(nan, 0, nan, nan)
"""The estimate that is returned for a measure without scores."""


def mean_of_estimates(
    estimates: Sequence[Estimate], systems: Sequence[tuple[float, float]] | None = None
) -> Estimate:
    """Average several collections' means, each with the same weight.

    The means are treated as independent, so an error of the average is ``sqrt(sum(error**2)) / k``,
    with Satterthwaite's degrees of freedom (1946).  The errors are valid for these collections
    only; to predict the result on another collection, use a random-effects summary.

    Parameters
    ----------
    estimates : sequence of Estimate
        Estimate on each collection.
    systems : sequence of (error, df), optional
        Independent parts of the error over systems, for the sum of the means.  Pass these parts if
        collections share reference systems, because the errors of the means are then not
        independent.  By default, each estimate's own error over systems is used.
    """
    k = len(estimates)
    if systems is None:
        systems = [(e.systems_error, e.systems_df) for e in estimates]
    return Estimate(
        sum(e.mean for e in estimates) / k,
        sum(e.n for e in estimates),
        *combine_errors([(e.topics_error, e.topics_df) for e in estimates], k),
        *combine_errors(systems, k),
    )


def combine_errors(errors: Sequence[tuple[float, float]], k: int) -> tuple[float, float]:
    """Combine independent errors of a sum of ``k`` values into the error and df of their mean."""
    variance = sum(error**2 for error, _ in errors)
    spent = sum(error**4 / df for error, df in errors if df > 0)
    return sqrt(variance) / k, variance**2 / spent if spent else inf


def check_scores(
    scores: ArrayLike,
    name: str = "scores",
    *,
    topics: int = 1,
    systems: int = 1,
    single: bool = False,
) -> Floats:
    """Return ``scores`` as a float array of shape (..., n_topics, n_systems).

    Raises
    ------
    ValueError
        If the array has fewer than two dimensions, or if ``single`` is true and the array has more
        than two.  A ValueError is also raised if the array has too few topics or systems, or a
        value that is NaN or infinite.
    """
    array = np.asarray(scores, dtype=float)
    if array.ndim < 2 or (single and array.ndim > 2):
        expected = "one array of topics x systems" if single else "topics x systems"
        raise ValueError(f"{name} must be {expected}, got the shape {array.shape}")
    if array.shape[-2] < topics or array.shape[-1] < systems:
        raise ValueError(
            f"{name} must hold at least {topics} topic(s) x {systems} system(s), "
            f"got {array.shape[-2]} x {array.shape[-1]}"
        )
    return check_finite(array, name)


def check_scores_with_gaps(scores: ArrayLike) -> Floats:
    """Return ``scores`` as an array of topics x systems; NaN is allowed, infinity is not."""
    x = np.asarray(scores, float)
    if x.ndim != 2:
        raise ValueError(f"scores must be one array of topics x systems, got the shape {x.shape}")
    if np.isinf(x).any():
        raise ValueError(f"scores have infinite values ({np.isinf(x).sum()}); leave them out first")
    return x


def check_finite(values: ArrayLike, name: str) -> Floats:
    """Return ``values`` as an array; raise ValueError if some are NaN or infinite."""
    array = np.asarray(values, float)
    if not np.isfinite(array).all():
        bad = int(array.size - np.isfinite(array).sum())
        raise ValueError(
            f"{name} has values that are NaN or infinite ({bad}); leave out their topics or "
            "systems first"
        )
    return array


def check_level(value: ArrayLike, name: str = "alpha") -> Floats:
    """Return ``value`` as an array of probabilities strictly between 0 and 1."""
    array = np.asarray(value, dtype=float)
    if not ((array > 0) & (array < 1)).all():
        raise ValueError(f"{name} must lie between 0 and 1, got {array.tolist()}")
    return array


SEED = 20080720
"""Seed of all draws, so that the same scores always give the same result."""
DECIMALS = 12
"""Number of decimals to which means are rounded before they are compared.  If the same scores are
summed in another order, their mean changes by about 1e-17.  Such a change must not count as a
difference.
"""
ROUNDING = 16 * float(np.finfo(float).eps)
"""Smallest difference of two numbers that is not a rounding error, as a share of these numbers.
Smaller differences are set to 0."""


def rounded_difference(a: ArrayLike, b: ArrayLike) -> Floats:
    """Return ``a - b``, rounded to :data:`DECIMALS`, so that it is 0 if two means are equal.

    Parameters
    ----------
    a, b : array_like
        Means, which are broadcast against each other.
    """
    return np.asarray(np.round(np.asarray(a, float) - np.asarray(b, float), DECIMALS))


def topic_differences(scores: ArrayLike, baseline: ArrayLike) -> Floats:
    """Return ``scores - baseline`` per topic, with 0 for a difference that is a rounding error.

    Parameters
    ----------
    scores, baseline : array_like
        Scores, which are broadcast against each other.  A NaN in either array gives NaN in the
        result.
    """
    a, b = np.asarray(scores, float), np.asarray(baseline, float)
    d = a - b
    return np.where(np.abs(d) <= ROUNDING * np.maximum(np.abs(a), np.abs(b)), 0.0, d)


def mean_and_variance(x: Floats, axis: int = -2) -> tuple[Floats, Floats, int]:
    """Return means and sample variances (n-1) over an axis, and the length of the axis.

    If values are equal up to rounding error, the mean is the first value and the variance is 0.
    """
    first = np.take(x, 0, axis=axis)
    flat = np.ptp(x, axis=axis) <= ROUNDING * np.abs(first)
    return (
        np.where(flat, first, x.mean(axis=axis)),
        np.where(flat, 0.0, x.var(axis=axis, ddof=1)),
        x.shape[axis],
    )


def standard_error(values: ArrayLike) -> float:
    """Return the standard error of the mean of independent values; NaN for fewer than two."""
    x = np.asarray(values, float)
    return float(x.std(ddof=1) / sqrt(len(x))) if len(x) > 1 else float("nan")


def student_t(difference: Floats, square: Floats) -> Floats:
    """Return ``difference / sqrt(square)``, which is 0 or infinite if nothing varies."""
    with np.errstate(divide="ignore", invalid="ignore"):
        t = difference / np.sqrt(square)
    return np.where(np.isnan(t), 0.0, t)


def draw_samples(n: int, samples: int, seed: int = SEED) -> Floats:
    """Draw bootstrap samples of ``n`` items; return counts, shape (samples, n)."""
    return np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), samples).astype(float)
