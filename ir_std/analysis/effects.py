"""Effect sizes: the difference between two systems on one or several collections.

On one collection, the effect size is the mean of the differences per topic, divided by their
standard deviation.  On several collections, a random-effects model summarizes the effects.  The
model treats the collections as a sample of possible collections, and estimates how much the true
difference varies between collections (Soboroff, CIKM 2018).
"""

from dataclasses import dataclass
from math import exp, lgamma, log, sqrt

import numpy as np

from ir_std._arrays import ArrayLike, Floats
from ir_std.analysis.means import check_finite

LEAST_VARIANCE = 1e-40
"""Lower bound for variances, as a share of the largest variance or of the squared range of the
effects, whichever is larger.  Variances below the bound are rounding errors."""


@dataclass(frozen=True)
class PairedEffect:
    """The difference between two systems on one collection.

    Attributes
    ----------
    n : int
        Number of topics on which both systems have a score.
    difference : float
        Mean difference over topics, in the unit of the scores.
    error : float
        Standard error of the mean difference over topics.
    p : float
        Two-sided p-value of Student's paired t-test.
    size : float
        Standardized mean difference, Hedges' g.
    size_variance : float
        Variance of the standardized mean difference.
    """

    n: int
    difference: float
    error: float
    p: float
    size: float
    size_variance: float


def paired_effect(differences: ArrayLike) -> PairedEffect:
    """Compute the mean and the effect size of paired differences.

    The effect size is ``g = J(n - 1) * mean / sd``.  ``sd`` is the standard deviation of the
    differences, with n-1 in the denominator; ``J`` is Hedges' exact correction for small samples.
    The variance of the effect size is ``1 / n + g**2 / (2 * n)`` (Gibbons, Hedeker and Davis, 1993;
    R's metafor calls this effect size ``SMCC``).

    Parameters
    ----------
    differences : array_like, shape (n_topics,)
        Differences per topic.  Topics with a NaN are left out, because they have no pair of scores.

    Returns
    -------
    PairedEffect
        With fewer than two pairs, all values except the difference are NaN.  ``size`` and its
        variance are also NaN if all differences are the same but not 0, because the standard
        deviation is then 0.
    """
    from ir_std.analysis.paired import t_test

    d = np.asarray(differences, float)
    d = d[~np.isnan(d)]
    n = len(d)
    mean = float(d.mean()) if n else float("nan")
    if n < 2:
        return PairedEffect(n, mean, *[float("nan")] * 4)
    sd = 0.0 if np.ptp(d) == 0 else float(d.std(ddof=1))
    size = hedges_correction(n - 1) * mean / sd if sd else 0.0 if mean == 0 else float("nan")
    return PairedEffect(n, mean, sd / sqrt(n), float(t_test(d)), size, (1 + size**2 / 2) / n)


def hedges_correction(df: int) -> float:
    """Return the factor that makes a standardized mean difference unbiased.

    The factor is ``gamma(df / 2) / (sqrt(df / 2) * gamma((df - 1) / 2))`` (Hedges, 1981).  With
    fewer than 2 degrees of freedom, the factor does not exist, and the result is NaN.
    """
    if df < 2:
        return float("nan")
    return exp(lgamma(df / 2) - log(sqrt(df / 2)) - lgamma((df - 1) / 2))


@dataclass(frozen=True)
class Summary:
    """Summary of the effects on several collections by a random-effects model.

    Attributes
    ----------
    n : int
        The number of effects.
    effect, error : float
        The mean effect over collections and its standard error.
    low, high : float
        Ends of the confidence interval of the mean effect.
    p : float
        Two-sided p-value for a mean of 0.
    tau2 : float
        The variance of the true effects between collections.
    q, q_p : float
        Cochran's Q, and its p-value under the hypothesis that all true effects are equal.
    i2 : float
        The share of the variance that is between collections, according to Higgins and Thompson
        (2002): ``(Q - (n - 1)) / Q``, or 0 if that is negative.  (metafor computes this share from
        ``tau2``, which gives a different number.)
    weights : tuple of float
        Weights of the effects, in the order of the effects; the sum of the weights is 1.
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
    weights: tuple[float, ...]


def random_effects(effects: ArrayLike, variances: ArrayLike, level: float = 0.95) -> Summary:
    """Summarize one effect per collection by a random-effects model.

    The weights are ``1 / (variance + tau2)``, where Paule and Mandel's method (1982) estimates
    ``tau2``.  The interval is Hartung and Knapp's (2001), which uses Student's t with n-1 degrees
    of freedom.  If the effects differ less than expected by chance, the standard error of this
    interval can be smaller than the standard error of the normal interval.  Hartung and Knapp's
    interval then contains the true mean far less often than its confidence level says.  So this
    function uses the larger of the two standard errors, as Knapp and Hartung (2003) themselves
    recommend (``test="adhoc"`` in R's metafor).

    Parameters
    ----------
    effects, variances : array_like, shape (n,)
        Effect on each collection, and its variance.
    level : float
        Confidence level of the interval.

    Raises
    ------
    ValueError
        If there are fewer than two effects, a variance is not above 0, or a value is NaN.
    """
    y, v = check_finite(effects, "effects"), check_finite(variances, "variances")
    if y.ndim != 1 or y.shape != v.shape or len(y) < 2:
        raise ValueError(
            f"a summary needs at least two effects and one variance per effect, got the "
            f"shapes {y.shape} and {v.shape}"
        )
    if not (v > 0).all():
        raise ValueError(f"variances must be above 0, got {v.min()}")
    # The effects are divided by one unit, and very small variances are raised to a lower bound, so
    # that products neither vanish nor overflow.
    unit = max(sqrt(float(v.max())), float(np.ptp(y)))
    scaled = np.maximum(v / unit / unit, LEAST_VARIANCE)
    return _summarize(y / unit, scaled, unit, level)


def _summarize(y: Floats, v: Floats, unit: float, level: float) -> Summary:
    """Summarize effects given in multiples of `unit`; return the summary in the original unit."""
    from scipy.special import chdtrc, stdtr, stdtrit  # slow to import

    df = len(y) - 1
    q = _q(y, v, 0.0)
    tau2 = _paule_mandel(y, v)
    w = 1 / (v + tau2)
    effect = float(w @ y / w.sum())
    error = sqrt(max(1.0, _q(y, v, tau2) / df) / w.sum())
    half = float(stdtrit(df, (1 + level) / 2)) * error
    return Summary(
        len(y),
        effect * unit,
        error * unit,
        (effect - half) * unit,
        (effect + half) * unit,
        float(2 * stdtr(df, -abs(effect) / error)),
        tau2 * unit**2,
        q,
        float(chdtrc(df, q)),
        max(0.0, (q - df) / q) if q > 0 else 0.0,
        tuple((w / w.sum()).tolist()),
    )


def _q(y: Floats, v: Floats, tau2: float) -> float:
    """Return Cochran's Q for a given variance between collections."""
    w = 1 / (v + tau2)
    return float(w @ (y - w @ y / w.sum()) ** 2)


def _paule_mandel(y: Floats, v: Floats) -> float:
    """Find the variance between collections at which Q has its expected value, ``n - 1``.

    Return 0 if a variance of 0 already gives a Q of at most ``n - 1``.
    """
    from scipy.optimize import brentq  # slower to import than the rest of this module

    def excess(tau2: float) -> float:
        return _q(y, v, tau2) - (len(y) - 1)

    # Q is at most sum (y - mean)^2 / tau2, so it is at most n - 1 at the sample variance.
    high = float(y.var(ddof=1))
    if excess(0.0) <= 0:
        return 0.0
    # Because of rounding errors, Q may seem to be above n - 1 even at the sample variance.
    return float(brentq(excess, 0.0, high, xtol=1e-16, maxiter=1000)) if excess(high) < 0 else high
