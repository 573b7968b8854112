"""A mean and its errors over topics and over reference systems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import exp, hypot, inf, isnan, nan, sqrt

import numpy as np
import numpy.typing as npt

from ir_std.analysis.means import standard_error

LEVEL = 0.95
"""The confidence of the intervals."""
SMALLEST_LOG_P = -70.0
"""Smaller p-values, below 1e-30, are not told apart."""


@dataclass(frozen=True)
class Estimate:
    """A mean over topics, or a difference of two, and how sure it is.

    ``str(estimate)`` says it: ``0.693 ±0.063 (topics) ±0.032 (systems)``.

    Attributes
    ----------
    mean : float
    n : int
        The number of topics.
    topics_error, topics_df : float
        Its standard error over topics, and the degrees of freedom; NaN with fewer than two.
    systems_error, systems_df : float
        The same for the systems that its factors come from; 0 for raw scores, which have no
        factors, and NaN where nothing is known of the systems but their mean and deviation.
    """

    mean: float
    n: int
    topics_error: float
    topics_df: float
    systems_error: float = 0.0
    systems_df: float = inf

    @classmethod
    def of(
        cls, values: npt.ArrayLike, systems_error: float = 0.0, systems_df: float = inf
    ) -> Estimate:
        """Estimate the mean of scores per topic; NaN is none."""
        x = np.asarray(values, float)
        x = x[~np.isnan(x)]
        n = len(x)
        mean = float(x.mean()) if n else nan
        return cls(mean, n, standard_error(x), n - 1, systems_error, systems_df)

    @property
    def topics(self) -> float:
        """Half of the 95 percent interval over topics."""
        return self.topics_error * _quantile(self.topics_df)

    @property
    def systems(self) -> float:
        """Half of the 95 percent interval over systems."""
        return self.systems_error * _quantile(self.systems_df)

    @property
    def error(self) -> float:
        """The standard error by topics and, where known, by systems."""
        return hypot(self.topics_error, _known(self.systems_error))

    @property
    def half(self) -> float:
        """Half of the 95 percent interval by topics and, where known, by systems."""
        return hypot(self.topics, _known(self.systems))

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 percent interval by topics and, where known, by systems."""
        half = self.half
        return self.mean - half, self.mean + half

    @property
    def p(self) -> float:
        """The two-sided p-value of a mean of 0 that belongs to the interval.

        The level at which the interval would just reach 0; without a systems' error that of
        Student's t-test.  NaN where there is no interval.
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
    """Student's t that is exceeded, in size, with this logarithm of a probability."""
    from scipy.special import stdtrit

    return -float(stdtrit(df, exp(log_p) / 2))


def _known(value: float) -> float:
    return 0.0 if isnan(value) else value


NO_ESTIMATE = Estimate(nan, 0, nan, nan)
"""The mean of a measure without scores."""


def mean_of_estimates(
    estimates: Sequence[Estimate], systems: Sequence[tuple[float, float]] | None = None
) -> Estimate:
    """Average several collections' means, each with the same weight.

    Its errors are those of independent means, ``sqrt(sum(error**2)) / k``, with the degrees of
    freedom of Satterthwaite (1946).  It holds for these collections; a random-effects
    summary says what another one might give.

    Parameters
    ----------
    estimates : sequence of Estimate
    systems : sequence of (error, df), optional
        Independent parts of the systems' error of the sum of the means, if collections share
        systems; by default, the estimates' own errors.
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
    """Compute the error of a mean of ``k`` from independent parts of the sum, and its df."""
    variance = sum(error**2 for error, _ in errors)
    spent = sum(error**4 / df for error, df in errors if df > 0)
    return sqrt(variance) / k, variance**2 / spent if spent else inf
