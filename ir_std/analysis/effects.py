"""Effect sizes: the difference of two systems on one collection, and over several.

On one: the mean difference over topics, and the same in units of how much it varies over
topics, the effect size.  Over several: a random-effects summary, which takes collections for a
sample of those one could have had, and says how much the difference itself varies between them
(Soboroff, CIKM 2018).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, lgamma, log, sqrt

import numpy as np
import numpy.typing as npt

from ir_std._arrays import Floats
from ir_std.analysis.means import check_finite

LEAST_VARIANCE = 1e-40
"""Share of the largest effect's square; smaller variances are rounding, and count as this."""


@dataclass(frozen=True)
class PairedEffect:
    """The difference of two systems on one collection.

    Attributes
    ----------
    n : int
        Topics on which both have a score.
    difference : float
        The mean difference, in the unit of the scores.
    error : float
        Its standard error over topics.
    p : float
        Student's paired t-test, two-sided.
    size : float
        The standardized mean difference, Hedges' g.
    size_variance : float
    """

    n: int
    difference: float
    error: float
    p: float
    size: float
    size_variance: float


def paired_effect(differences: npt.ArrayLike) -> PairedEffect:
    """Compute the mean of paired differences and its effect size.

    ``g = J(n - 1) * mean / sd``, the deviation that of the differences (n-1), ``J`` Hedges' exact
    correction for small samples, and the variance ``1 / n + g**2 / (2 * n)`` (Gibbons, Hedeker
    and Davis, 1993; ``SMCC`` of R's metafor).

    Parameters
    ----------
    differences : array_like, shape (n_topics,)
        NaN, no pair, is left out.

    Returns
    -------
    PairedEffect
        With fewer than two pairs only the difference is a number.  ``size`` and its variance are
        also NaN where all differences are the same but not 0, as nothing says how large that is.
    """
    from ir_std.analysis.paired import t_test

    d = np.asarray(differences, float)
    d = d[~np.isnan(d)]
    n = len(d)
    if n < 2:
        mean = float(d.mean()) if n else float("nan")
        return PairedEffect(n, mean, *[float("nan")] * 4)
    sd = 0.0 if np.ptp(d) == 0 else float(d.std(ddof=1))
    mean = float(d.mean())
    size = hedges_correction(n - 1) * mean / sd if sd else 0.0 if mean == 0 else float("nan")
    return PairedEffect(n, mean, sd / sqrt(n), float(t_test(d)), size, (1 + size**2 / 2) / n)


def hedges_correction(df: int) -> float:
    """Return the factor that makes a standardized mean difference unbiased.

    ``gamma(df / 2) / (sqrt(df / 2) * gamma((df - 1) / 2))`` (Hedges, 1981); NaN below 2 degrees
    of freedom, where there is none.
    """
    if df < 2:
        return float("nan")
    return exp(lgamma(df / 2) - log(sqrt(df / 2)) - lgamma((df - 1) / 2))


@dataclass(frozen=True)
class Summary:
    """Effects of several collections in one, by a random-effects model.

    Attributes
    ----------
    n : int
        The number of effects.
    effect, error : float
        The mean over collections and its standard error.
    low, high : float
        Its confidence interval.
    p : float
        Two-sided p-value for a mean of 0.
    tau2 : float
        The variance of the true effects between collections.
    q, q_p : float
        Cochran's Q, and its p-value if all true effects were equal.
    i2 : float
        The share of the variance that is between collections, by Higgins and Thompson (2002):
        ``(Q - (n - 1)) / Q``, 0 at least.  (metafor takes it from ``tau2`` instead; by other
        methods than DerSimonian and Laird's that is another number.)
    predicted : tuple of float
        The prediction interval: where the true effect on one more such collection may lie; by
        Student's t with n-1 degrees of freedom, by ``dl`` normal.
    weights : tuple of float
        Weights of the effects, in the same order; their sum is 1.
    method : str
        ``pm`` or ``dl``.
    widened : bool
        True if the interval is wider than Hartung and Knapp's, which was too narrow.
    """

    n: int
    effect: float
    error: float
    low: float
    high: float
    p: float
    tau2: float
    q: float
    q_p: float
    i2: float
    predicted: tuple[float, float]
    weights: tuple[float, ...]
    method: str
    widened: bool = False


def random_effects(
    effects: npt.ArrayLike,
    variances: npt.ArrayLike,
    method: str = "pm",
    level: float = 0.95,
    *,
    widen: bool = False,
) -> Summary:
    """Summarize one effect per collection by a random-effects model.

    The weights are ``1 / (variance + tau2)``.  With ``pm`` the variance between collections is
    Paule and Mandel's (1982), and the interval is Hartung and Knapp's (2001), by Student's t with
    n-1 degrees of freedom.  With ``dl``, for comparison with papers, they are DerSimonian and
    Laird's (1986) and the normal interval, which is too narrow with few collections.

    Where effects differ less than by chance, Hartung and Knapp's interval may be narrower than the
    normal one, and cover far less than it says.  ``widen`` takes the larger of the two standard
    errors (Knapp and Hartung's own advice, 2003; ``test="adhoc"`` of R's metafor).

    Parameters
    ----------
    effects, variances : array_like, shape (n,)
    method : {'pm', 'dl'}
    level : float
        The confidence.
    widen : bool
        Of ``pm``.

    Raises
    ------
    ValueError
        If there are fewer than two effects, a variance is not above 0, a value is NaN, or the
        method is unknown.
    """
    y, v = check_finite(effects, "effects"), check_finite(variances, "variances")
    if y.ndim != 1 or y.shape != v.shape or len(y) < 2:
        raise ValueError(
            f"a summary takes two effects or more and as many variances, got the "
            f"shapes {y.shape} and {v.shape}"
        )
    if not (v > 0).all():
        raise ValueError(f"variances must be above 0, got {v.min()}")
    if method not in METHODS:
        raise ValueError(f"unknown method {method!r}; choose from {', '.join(METHODS)}")
    # In a unit of their own, with variances above rounding: products neither vanish nor overflow.
    unit = max(sqrt(float(v.max())), float(np.ptp(y)))
    scaled = np.maximum(v / unit / unit, LEAST_VARIANCE)
    return _summarize(y / unit, scaled, unit, method, level, widen)


def _summarize(
    y: Floats, v: Floats, unit: float, method: str, level: float, widen: bool
) -> Summary:
    """Summarize effects that are given in `unit`, in their own unit."""
    from scipy.special import chdtrc, ndtr, ndtri, stdtr, stdtrit  # slow to import

    df = len(y) - 1
    q = _q(y, v, 0.0)
    tau2 = METHODS[method](y, v)
    w = 1 / (v + tau2)
    effect = float(w @ y / w.sum())
    normal = sqrt(1 / w.sum())
    widened = False
    if method == "dl":
        error = normal
        critical = float(ndtri((1 + level) / 2))
        p = float(2 * ndtr(-abs(effect) / error))
    else:
        error = sqrt(_q(y, v, tau2) / df / w.sum())
        widened = widen and error < normal * (1 - 1e-9)
        error = normal if widened else error
        critical = float(stdtrit(df, (1 + level) / 2))
        p = float(2 * stdtr(df, -abs(effect) / error)) if error else float(effect == 0)
    beyond = critical * sqrt(error**2 + tau2)
    return Summary(
        len(y),
        effect * unit,
        error * unit,
        (effect - critical * error) * unit,
        (effect + critical * error) * unit,
        p,
        tau2 * unit**2,
        q,
        float(chdtrc(df, q)),
        max(0.0, (q - df) / q) if q > 0 else 0.0,
        ((effect - beyond) * unit, (effect + beyond) * unit),
        tuple((w / w.sum()).tolist()),
        method,
        widened,
    )


def _q(y: Floats, v: Floats, tau2: float) -> float:
    """Return Cochran's Q with a variance between collections."""
    w = 1 / (v + tau2)
    return float(w @ (y - w @ y / w.sum()) ** 2)


def _paule_mandel(y: Floats, v: Floats) -> float:
    """Find the variance at which Q is ``n - 1``, its expected value; 0 if Q is always smaller."""
    from scipy.optimize import brentq  # costs more than the rest of this module

    def excess(tau2: float) -> float:
        return _q(y, v, tau2) - (len(y) - 1)

    # Q is at most sum (y - mean)^2 / tau2, hence n - 1 at the latest at the sample variance.
    high = float(y.var(ddof=1))
    if excess(0.0) <= 0:
        return 0.0
    # Rounding may hide that Q falls to n - 1 before the end.
    return float(brentq(excess, 0.0, high, xtol=1e-16, maxiter=1000)) if excess(high) < 0 else high


def _dersimonian_laird(y: Floats, v: Floats) -> float:
    """Estimate the variance from Q without it, by its expectation; 0 at least."""
    w = 1 / v
    # The sum less that of squares over the sum, without a difference of nearly equal numbers.
    others = np.array([np.delete(w, i).sum() for i in range(len(w))])
    return max(0.0, (_q(y, v, 0) - (len(y) - 1)) / float(w / w.sum() @ others))


METHODS = {"pm": _paule_mandel, "dl": _dersimonian_laird}
"""Estimates of the variance between collections, by name."""
