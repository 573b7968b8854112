"""Standard error (to first order) of a standardized mean over the choice of systems.

The influence of a system says how much the mean would change if the system counted a little more
(Jaeckel's infinitesimal jackknife, 1972).  If systems were drawn independently, the sum of their
squared influences would be the variance of the mean.  But systems are not independent, because a
team submits several similar ones.  If teams are known, the influences of each team's systems are
summed before the sums are squared (Liang and Zeger, 1986).  If teams are unknown, the variance is
multiplied by a design effect (Kish, 1965): ``n`` systems count as ``n / design effect`` independent
systems.

The squared errors over topics and over systems are added.  (The sum counts the interaction of
topics and systems twice; for AP on TREC-8, the interaction is below 1 percent of the sum.)  Two
runs on one collection are standardized by the same factors.  The error of the difference between
two such runs is therefore computed from the covariance of their means, and is much smaller than the
error of either mean.
"""

from collections.abc import Hashable, Mapping, Sequence
from math import inf, sqrt
from typing import Any

import numpy as np

from ir_std._arrays import Array, ArrayLike, Floats, Mask
from ir_std.analysis.means import check_finite
from ir_std.schemes import get_scheme

DESIGN_EFFECT = 2.75
"""Factor by which teams increase the variance of a mean.

The factor is the variance that is computed by team, divided by the variance that is computed by
system.  Both variances are computed for a set's first measure, under scheme N.  The value was
chosen on five sets: TREC-8 (2.79), Robust 2005 (2.18), TREC-COVID round 1 (2.35), TREC-COVID round
5 (3.79) and DL 2021 (3.24).  The value was checked on nine other sets, for which the ratio is
between 1.91 and 4.71, with a median of 2.76.  The nine sets are TREC-COVID rounds 2 to 4, DL 2019,
2020, 2022 and 2023, and Blog 2006 and 2008.  An estimate from the scores would be worse than this
value, because scores do not show whether a hundred systems are independent or were submitted by a
few teams.
"""
ALIKE = 0.6
"""Two of ``n`` systems are alike if the correlation of their scores is above ``ALIKE - 2 / n``."""
EACH_ALIKE = 2.0
"""Increase of the design effect per other system that a system resembles on average.

The value was chosen on the same sets as :data:`DESIGN_EFFECT`.  With this value, the design effect
is almost 2.75 for a handful of systems by a few teams, and much smaller for a handful of unrelated
systems.  Among 15 or more systems, some systems are always alike.
"""
MIN_EFFECTIVE = 1.25
"""Lower bound for the effective number of independent reference systems."""
TOPIC_CORRELATION = 0.45
"""Correlation between the scores on two topics, assumed if systems' scores are unknown.

On each shipped set with distributions, the correlation over systems was averaged over all pairs of
topics.  For AP, the average is between 0.19 and 0.72, and the median over sets is 0.38.  For P@10,
the average is about 0.3, and for RR about 0.2.  Errors that assume a correlation of 0.45 are 0.9 to
2.8 times the errors that are computed by system.  The median ratio is 1.3, and the ratio is largest
for RR.  A correlation of 0.45 does not account for teams: errors that are computed by team are 1.4
to 2.1 times the errors that are computed by system.
"""
FLAT = 1e-7
"""Standard deviation below which the systems' scores differ only by rounding errors."""


def influence(
    x: ArrayLike,
    scores: ArrayLike,
    scheme: str = "N",
    *,
    resolution: float = 0.0,
    **params: Any,
) -> Floats:
    """Compute the influence of each reference system on runs' standardized means.

    Parameters
    ----------
    x : array_like, shape (n_topics, n_runs)
        Raw scores.
    scores : array_like, shape (n_topics, n_systems)
        Scores of the reference systems, one column each; NaN if a system has no score.
    scheme : {'N', 'U', 'E', 'z'}
        Standardization scheme.
    resolution : float
        See :func:`ir_std.schemes.limit_of_z`.
    **params
        Coefficients ``A`` and ``B`` of scheme U.

    Returns
    -------
    ndarray, shape (n_systems, n_runs)
        Influences in the unit of the standardized scores.  On each topic, the influences of all
        systems add up to 0.  A topic on which the systems do not differ contributes only under
        scheme E.

    Raises
    ------
    ValueError
        If shapes do not match, or ``x`` has a NaN.
    """
    x, scores = check_finite(x, "x"), np.asarray(scores, float)
    if x.ndim != 2 or scores.ndim != 2 or len(x) != len(scores):
        raise ValueError(
            "x must be topics x runs, and scores must be topics x systems with the same topics, "
            f"got the shapes {x.shape} and {scores.shape}"
        )
    has_score = ~np.isnan(scores)
    n = np.maximum(has_score.sum(axis=1, keepdims=True), 1)
    if get_scheme(scheme).needs_scores:
        return _share_influence(x, scores, has_score, n, resolution) / len(x)
    return _moment_influence(x, scores, has_score, n, scheme, params) / len(x)


def _moment_influence(
    x: Floats,
    scores: Floats,
    has_score: Mask,
    n: Array,
    scheme: str,
    params: Mapping[str, Any],
) -> Floats:
    """Sum the influence of systems over topics, under scheme N, U or z.

    A system influences scores under these schemes because the system changes the mean and the
    standard deviation.
    """
    mean, sd, spread = _moments(scores, has_score, n)
    deviation = np.where(has_score & spread, (scores - mean) / sd, 0)
    z = (x - mean) / sd
    by_z = np.where(spread, slope(scheme, z, **params), 0)
    squares = np.where(has_score & spread, deviation**2 - (n - 1) / n, 0)
    total: Floats = (deviation / n).T @ by_z + (squares / np.maximum(n - 1, 1)).T @ (by_z * z) / 2
    return -total


def _share_influence(
    x: Floats, scores: Floats, has_score: Mask, n: Array, resolution: float
) -> Floats:
    """Sum the influence of systems over topics, under scheme E.

    A system influences scores under this scheme because the system changes the share of systems
    with lower scores.
    """
    method = get_scheme("E")
    single = scores[:, :, None]
    by_run = []
    for column in x.T:
        below = method.apply(column[:, None], scores=single, resolution=resolution)
        below = np.where(has_score, below, 0)
        share = below.sum(axis=1, keepdims=True) / n
        by_run.append((np.where(has_score, below - share, 0) / n).sum(axis=0))
    return np.stack(by_run, axis=1)


def _moments(scores: Floats, has_score: Mask, n: Array) -> tuple[Floats, Floats, Mask]:
    """Return each topic's mean and standard deviation, and whether its scores vary.

    If the scores of a topic do not vary, the returned standard deviation is 1.
    """
    mean = np.where(has_score, scores, 0).sum(axis=1, keepdims=True) / n
    squares = np.where(has_score, scores - mean, 0) ** 2
    sd = np.sqrt(squares.sum(axis=1, keepdims=True) / np.maximum(n - 1, 1))
    spread = sd > FLAT
    return mean, np.where(spread, sd, 1.0), spread


def slope(scheme: str, z: Floats, **params: Any) -> Floats:
    """Compute the derivative of a scheme's score with respect to z, to within 1e-9."""
    step = 1e-5
    from_z = get_scheme(scheme).from_z
    assert from_z is not None
    return (from_z(z + step, **params) - from_z(z - step, **params)) / (2 * step)


def covariance_by_team(influences: Floats, teams: Sequence[Hashable]) -> tuple[Floats, float]:
    """Compute the covariance of runs' means over the teams of the reference systems.

    Teams of sizes ``m`` count as ``g = n**2 / sum(m**2)`` teams of equal size (Kish, 1965).  The
    variance is multiplied by ``g / (g - 1)``, and has ``max(g - 1, 1)`` degrees of freedom.

    Parameters
    ----------
    influences : ndarray, shape (n_systems, n_runs)
        See :func:`influence`.
    teams : sequence, length n_systems
        The team of each system.  A system that is the only one of its team counts as independent.

    Returns
    -------
    covariance : ndarray, shape (n_runs, n_runs)
        NaN with fewer than two teams.
    df : float
    """
    number = {team: i for i, team in enumerate(dict.fromkeys(teams))}
    rows = [number[team] for team in teams]
    n_runs = influences.shape[1]
    if len(number) < 2:
        return np.full((n_runs, n_runs), np.nan), inf
    sums = np.zeros((len(number), n_runs))
    np.add.at(sums, rows, influences)
    sizes = np.bincount(rows)
    effective = len(rows) ** 2 / float(sizes @ sizes)
    covariance: Floats = sums.T @ sums * (effective / (effective - 1))
    return covariance, max(effective - 1, 1.0)


def covariance_by_design(influences: Floats, design_effect: float) -> tuple[Floats, float]:
    """Compute the covariance of runs' means if the reference systems' teams are unknown.

    The ``n`` systems count as ``n / design_effect`` independent systems.

    Parameters
    ----------
    influences : ndarray, shape (n_systems, n_runs)
        See :func:`influence`.
    design_effect : float
        See :func:`design_effect`.

    Returns
    -------
    covariance : ndarray, shape (n_runs, n_runs)
        NaN with fewer than two systems.
    df : float
    """
    n, n_runs = influences.shape
    if n < 2:
        return np.full((n_runs, n_runs), np.nan), inf
    factor, df = inflation(n, design_effect)
    return influences.T @ influences * (n / (n - 1)) * factor, df


def inflation(n: int, design_effect: float) -> tuple[float, float]:
    """Return the factor that inflates the variance of ``n`` systems, and the variance's df.

    The ``n`` systems count as ``g = max(n / design_effect, 1.25)`` independent systems.  Both
    variances are estimated from the same sum of squares, so the variance for ``g`` systems is ``(n
    - 1) / (g - 1)`` times the variance for ``n`` systems.  The variance for ``g`` systems has
    ``max(g - 1, 1)`` degrees of freedom.
    """
    effective = max(n / design_effect, MIN_EFFECTIVE)
    return (n - 1) / (effective - 1), max(effective - 1, 1.0)


def design_effect(scores: ArrayLike) -> float:
    """Estimate the design effect (see :data:`DESIGN_EFFECT`) from the systems' scores.

    The estimate is ``min(2.75, 1 + 2 * a)``, where ``a`` is the average number of other systems
    that a system resembles.  Two of ``n`` systems resemble each other if the correlation of their
    scores is above ``0.6 - 2 / n``.  Before the correlations are computed, the scores are
    standardized on each topic, and each system's mean is subtracted.

    Parameters
    ----------
    scores : array_like, shape (n_topics, n_systems)
        Scores of the reference systems; NaN if a system has no score.

    Returns
    -------
    float
        Between 1 and 2.75.  The result is 2.75 if systems differ on fewer than three topics,
        because so few topics do not allow an estimate.
    """
    scores = np.asarray(scores, float)
    has_score = ~np.isnan(scores)
    n = np.maximum(has_score.sum(axis=1, keepdims=True), 1)
    mean, sd, spread = _moments(scores, has_score, n)
    used = spread[:, 0]
    if used.sum() < 3:
        return DESIGN_EFFECT
    residual = np.where(has_score, (scores - mean) / sd, 0)[used]
    residual -= residual.mean(axis=0)
    length = np.sqrt((residual**2).sum(axis=0))
    correlation = residual.T @ residual / np.maximum(np.outer(length, length), FLAT)
    n_systems = scores.shape[1]
    like = (correlation > ALIKE - 2 / n_systems).sum() - (length > FLAT).sum()
    return float(min(DESIGN_EFFECT, 1 + EACH_ALIKE * like / n_systems))


def normal_covariance(
    x: ArrayLike,
    mean: ArrayLike,
    sd: ArrayLike,
    n_systems: int,
    scheme: str = "N",
    *,
    correlation: float = TOPIC_CORRELATION,
    **params: Any,
) -> Floats:
    """Return the covariance of runs' means if only means and standard deviations are known.

    The delta method converts errors of a topic's mean and standard deviation to errors of the
    standardized score.  For normal scores of ``n`` systems, these errors have the variances ``sd**2
    / n`` and ``sd**2 / (2 * (n - 1))``, and no covariance.  If the scores on two topics have the
    correlation ``r`` over systems, the errors of the means have the correlation ``r``, and the
    errors of the standard deviations have the correlation ``r**2`` (bivariate normal).  With a
    correlation of 0, the error would average out over topics, but real errors do not average out.

    Parameters
    ----------
    x : array_like, shape (n_topics, n_runs)
        Raw scores.
    mean, sd : array_like, shape (n_topics,)
        Mean and standard deviation of the reference systems on each topic.
    n_systems : int
        Number of reference systems.
    scheme : {'N', 'U', 'z'}
        Standardization scheme.
    correlation : float
        Correlation ``r``, the same for all pairs of topics.
    **params
        Coefficients ``A`` and ``B`` of scheme U.

    Returns
    -------
    ndarray, shape (n_runs, n_runs)
        NaN with fewer than two systems.  A topic with a standard deviation of 0 contributes
        nothing.

    Raises
    ------
    ValueError
        If the scheme needs scores, or a value is NaN.
    """
    x = check_finite(x, "x")
    mean, sd = check_finite(mean, "mean")[:, None], check_finite(sd, "sd")[:, None]
    if get_scheme(scheme).needs_scores:
        raise ValueError(f"scheme {scheme!r} needs the systems' scores")
    if n_systems < 2:
        return np.full((x.shape[1], x.shape[1]), np.nan)
    spread = sd > 0
    z = np.where(spread, (x - mean) / np.where(spread, sd, 1), 0)
    by_z = np.where(spread, slope(scheme, z, **params), 0)
    by_mean = _quadratic(by_z, correlation) / n_systems
    by_sd = _quadratic(by_z * z, correlation**2) / (2 * (n_systems - 1))
    return (by_mean + by_sd) / len(x) ** 2


def _quadratic(gradients: Floats, correlation: float) -> Floats:
    """Return the covariance of weighted sums of the errors on single topics.

    The weights are ``gradients``.  The errors have the variance 1, and the same correlation for all
    pairs of topics.
    """
    within_topics = gradients.T @ gradients
    total = gradients.sum(axis=0)
    return np.asarray((1 - correlation) * within_topics + correlation * np.outer(total, total))


def contrast_error(covariance: ArrayLike, contrast: ArrayLike) -> float:
    """Return the standard error of a weighted sum of runs' means.

    Parameters
    ----------
    covariance : array_like, shape (n_runs, n_runs)
        Covariance of the means.
    contrast : array_like, shape (n_runs,)
        Weights of the means; 1 and -1 for a difference.
    """
    c = np.asarray(contrast, float)
    used = np.flatnonzero(c)  # usually only one or two of many runs
    of_used = np.asarray(covariance, float)[np.ix_(used, used)]
    return sqrt(max(float(c[used] @ of_used @ c[used]), 0.0))
