"""Is one run better than another?  Paired tests over topics, and intervals of means.

Pairs are formed by topic id: only topics on which both have a score count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from math import sqrt

import numpy as np
import numpy.typing as npt

from ir_std.errors import UsageError, suggestion

Floats = npt.NDArray[np.float64]
ByTopic = Mapping[str, float]

ALPHA = 0.05
"""Adjusted p-values below it are called significant."""
RESAMPLES = 10_000
"""Sign vectors that the randomization test draws where it cannot take all of them."""
ALL_SIGNS_UP_TO = 13
"""With this many topics or fewer all sign vectors are taken: the test is exact."""
SEED = 20080720
"""So that the same scores always give the same p-value."""


@dataclass(frozen=True)
class Paired:
    """What a paired test found.

    Attributes
    ----------
    difference : float
        The mean over the pairs of the score minus the baseline's; NaN without pairs.
    p : float
        Two-sided p-value; NaN with fewer than two pairs.
    p_holm : float
        The p-value adjusted for the number of runs tested with it.
    topics : tuple of str
        The topics the pairs were formed by.
    """

    difference: float
    p: float
    p_holm: float
    topics: tuple[str, ...]

    @property
    def significant(self) -> bool:
        """Whether the adjusted p-value is below :data:`ALPHA`."""
        return self.p_holm < ALPHA


def differences(scores: ByTopic, baseline: ByTopic) -> tuple[tuple[str, ...], Floats]:
    """The topics on which both have a score (NaN is none), and the differences there."""
    both = {t: scores[t] - baseline[t] for t in scores if t in baseline}
    known = {t: d for t, d in both.items() if d == d}
    return tuple(known), np.array(list(known.values()), float)


def t_test(d: npt.ArrayLike) -> float:
    """Student's paired t-test: the two-sided p-value of a mean difference of 0.

    Parameters
    ----------
    d : array_like, shape (n,)
        Differences of the pairs.

    Returns
    -------
    float
        NaN for fewer than two pairs.  Where all differences are the same nothing varies by
        chance: 1 if they are 0, else 0.
    """
    from scipy.special import stdtr

    d = np.asarray(d, float)
    n = len(d)
    if n < 2:
        return float("nan")
    if np.ptp(d) == 0:
        return float(d[0] == 0)
    t = d.mean() / (d.std(ddof=1) / sqrt(n))
    return float(2 * stdtr(n - 1, -abs(t)))


def randomization_test(d: npt.ArrayLike) -> float:
    """Fisher's randomization test: the two-sided p-value of a mean difference of 0.

    Under the hypothesis that the two systems do not differ each difference could as well have
    the other sign (Smucker, Allan and Carterette, CIKM 2007).  Up to
    :data:`ALL_SIGNS_UP_TO` pairs all sign vectors are taken; with more,
    :data:`RESAMPLES` drawn with a fixed seed, and the observed one is counted among them, so
    that p is never 0.

    Parameters
    ----------
    d : array_like, shape (n,)
        Differences of the pairs.

    Returns
    -------
    float
        NaN for fewer than two pairs.
    """
    d = np.asarray(d, float)
    n = len(d)
    if n < 2:
        return float("nan")
    # Sums that differ only by the order of additions are equal.
    observed = abs(d.sum()) - 1e-12 * np.abs(d).sum()
    if n <= ALL_SIGNS_UP_TO:
        signs = np.array(list(product((-1.0, 1.0), repeat=n)))
        return float(np.mean(np.abs(signs @ d) >= observed))
    signs = np.random.default_rng(SEED).choice([-1.0, 1.0], (RESAMPLES, n))
    return float((1 + np.sum(np.abs(signs @ d) >= observed)) / (1 + RESAMPLES))


TESTS: dict[str, tuple[Callable[[npt.ArrayLike], float], str]] = {
    "t": (t_test, "paired t-test"),
    "randomization": (randomization_test, "randomization test"),
}
"""The tests by name, each with what a reader knows it as."""


def get_test(name: str) -> tuple[Callable[[npt.ArrayLike], float], str]:
    """The test of that name and its title.

    Raises
    ------
    UsageError
        If there is none; the message lists the allowed names.
    """
    if name not in TESTS:
        raise UsageError(f"unknown test {name!r}: allowed are {', '.join(TESTS)}"
                         f"{suggestion(name, TESTS)}")
    return TESTS[name]


def against(baseline: ByTopic, runs: Mapping[str, ByTopic], test: str = "t") -> dict[str, Paired]:
    """Test each run's scores against a baseline's; p-values are adjusted for their number.

    Parameters
    ----------
    baseline : mapping of str to float
        Scores by topic id, in any order.
    runs : mapping of str to mapping of str to float
        By run.
    test : {'t', 'randomization'}

    Raises
    ------
    UsageError
        If there is no such test.
    """
    p_value, _ = get_test(test)
    pairs = {name: differences(scores, baseline) for name, scores in runs.items()}
    p = {name: p_value(d) for name, (_, d) in pairs.items()}
    adjusted = dict(zip(p, holm(p.values()), strict=True))
    return {name: Paired(float(d.mean()) if len(d) else float("nan"), p[name], adjusted[name],
                         topics)
            for name, (topics, d) in pairs.items()}


def holm(p_values: Iterable[float]) -> list[float]:
    """P-values adjusted for their number by Holm's step-down method (1979).

    A NaN is no test: it stays NaN and does not count.
    """
    p = np.array(list(p_values), float)
    adjusted = np.full(len(p), np.nan)
    order = [i for i in np.argsort(p, kind="stable").tolist() if p[i] == p[i]]
    largest = 0.0
    for step, i in enumerate(order):
        largest = max(largest, min(1.0, float(p[i]) * (len(order) - step)))
        adjusted[i] = largest
    return [float(a) for a in adjusted]


def mean_interval(values: npt.ArrayLike, level: float = 0.95) -> tuple[float, float]:
    """Student's t interval of a mean over topics; NaN values are left out.

    Parameters
    ----------
    values : array_like, shape (n_topics,)
    level : float
        The confidence.

    Returns
    -------
    low, high : float
        NaN with fewer than two values.
    """
    from scipy.special import stdtrit

    known = np.asarray(values, float)
    known = known[~np.isnan(known)]
    n = len(known)
    if n < 2:
        return float("nan"), float("nan")
    half = float(stdtrit(n - 1, (1 + level) / 2)) * float(known.std(ddof=1)) / sqrt(n)
    return float(known.mean()) - half, float(known.mean()) + half
