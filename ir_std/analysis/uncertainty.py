"""What a standardized mean is worth: which topics it is over, which systems its factors are from.

Both are samples.  Topics: Student's t on the scores by topic.  Systems: had others taken part in
the track the factors would be others, and with them all of a run's scores: the mean moves as a
whole, however many topics there are.  The two errors add up as squares.  (What topics and systems
do only together is then counted twice; for AP on TREC-8 that is below 1 percent of the sum.)

Two runs on one collection share its factors: the error of their difference is taken from the
joint covariance, and is much smaller than that of either mean.

The errors that are reported are :mod:`ir_std.analysis.influence`'s.  Here are what it is checked
against, the bootstrap, and what takes its place where only means and deviations are known.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import lru_cache
from math import sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from ir_std._arrays import Floats, divide
from ir_std.analysis.influence import FLAT, slope
from ir_std.analysis.means import SEED, check_finite, check_runs_and_systems, draw_samples
from ir_std.schemes import get_scheme

SAMPLES = 2000
"""Samples of systems; the relative error of a standard error is then 1.6 percent."""
TOPIC_CORRELATION = 0.45
"""How alike systems' scores are on two topics, where only means and deviations are known.

On the shipped sets with distributions the mean correlation of topics over systems is 0.38 for AP
(median; 0.19 to 0.72), about 0.3 for P@10 and 0.2 for RR.  With this value errors are 1.3 times
those of the bootstrap by system (median; 0.9 to 2.8, most for RR).  That is no margin for teams:
by team errors are 1.4 to 2.1 times those by system.
"""
_AT_ONCE = 1 << 17
"""Values that are standardized at once: so many stay in the processor's cache."""
_remembered_samples = lru_cache(maxsize=4)(draw_samples)
"""Drawing takes as long as all that is done with what is drawn."""


def draw_systems(groups: Sequence[Hashable], samples: int = SAMPLES, seed: int = SEED) -> Floats:
    """Bootstrap samples of systems, whole groups at a time.

    The runs of one team resemble each other, so they are drawn together; where teams are not
    known each system is a group of its own.

    Parameters
    ----------
    groups : sequence, length n_systems
        The group of each system.
    samples : int
    seed : int

    Returns
    -------
    ndarray, shape (samples, n_systems)
        How often each system is in each sample.  Samples of one system alone, which would have no
        spread, are left out.
    """
    number = {group: i for i, group in enumerate(dict.fromkeys(groups))}
    drawn = _remembered_samples(len(number), samples, seed)[:, [number[group] for group in groups]]
    kept: Floats = drawn[(drawn > 0).sum(axis=1) > 1]
    return kept


def resampled_means(
    x: npt.ArrayLike,
    scores: npt.ArrayLike,
    drawn: npt.ArrayLike,
    scheme: str = "N",
    *,
    resolution: float = 0.0,
    **params: Any,
) -> Floats:
    """Runs' standardized means by the factors of each sample of systems.

    Parameters
    ----------
    x : array_like, shape (n_topics, n_runs)
        Raw scores.
    scores : array_like, shape (n_topics, n_systems)
        Those of the standardizing systems, each in its own column; NaN where one has none.
    drawn : array_like, shape (samples, n_systems)
        See :func:`draw_systems`.
    scheme : {'N', 'U', 'E', 'z'}
    resolution : float
        See :func:`ir_std.schemes.limit_of_z`.
    **params
        ``A`` and ``B`` of U.

    Returns
    -------
    ndarray, shape (samples, n_runs)
        A topic on which a sample gives no value is left out of its mean.

    Raises
    ------
    ValueError
        On shapes that do not fit each other, or a NaN in ``x`` or ``drawn``.
    """
    x, scores = check_runs_and_systems(x, scores)
    drawn = check_finite(drawn, "drawn")
    if drawn.ndim != 2 or drawn.shape[1] != scores.shape[1]:
        raise ValueError(
            f"drawn must be samples x {scores.shape[1]} systems, got the shape {drawn.shape}"
        )
    method = get_scheme(scheme)
    if method.needs_scores:
        # Each system by itself is a distribution of one; a sample's is the mean of its systems'.
        single = scores[:, :, None]
        by_run = (
            divide(
                *_weighted(
                    drawn, method.apply(column[:, None], scores=single, resolution=resolution)
                ),
                otherwise=np.nan,
            )
            for column in x.T
        )
        return np.stack([_mean(values) for values in by_run], axis=1)
    mean, sd = (moment[:, :, None] for moment in _moments(drawn, scores))
    n = max(1, _AT_ONCE // x.size)
    return np.concatenate(
        [
            _mean(
                method.apply(
                    x, mean=mean[i : i + n], sd=sd[i : i + n], resolution=resolution, **params
                )
            )
            for i in range(0, len(drawn), n)
        ]
    )


def _weighted(drawn: Floats, values: Floats) -> tuple[Floats, Floats]:
    """Sums over systems of values (n_topics, n_systems), and how many systems had one.

    Shape (samples, n_topics) each; a NaN is no value.
    """
    known = ~np.isnan(values)
    if known.all():
        return drawn @ values.T, drawn.sum(axis=1, keepdims=True)
    return drawn @ np.where(known, values, 0).T, drawn @ known.T


def _moments(drawn: Floats, scores: Floats) -> tuple[Floats, Floats]:
    """Means and sample standard deviations (n-1) of each sample, shape (samples, n_topics)."""
    middle = np.nanmean(scores, axis=1)  # taken off first, so that squares lose no digits
    centred = scores - middle[:, None]
    total, n = _weighted(drawn, centred)
    squares, _ = _weighted(drawn, centred**2)
    mean = divide(total, n, otherwise=np.nan)
    sd = np.sqrt(np.maximum(divide(squares - total * mean, n - 1, otherwise=np.nan), 0))
    return middle + mean, np.where(sd < FLAT, 0.0, sd)


def _mean(values: Floats) -> Floats:
    """Means over topics, the second axis, of those that have a value."""
    total: Floats = values.sum(axis=1)
    if not np.isnan(total).any():
        return divide(total, values.shape[1], otherwise=np.nan)
    known = ~np.isnan(values)
    return divide(np.where(known, values, 0).sum(axis=1), known.sum(axis=1), otherwise=np.nan)


def bootstrap_covariance(
    x: npt.ArrayLike,
    scores: npt.ArrayLike,
    groups: Sequence[Hashable] | None = None,
    scheme: str = "N",
    *,
    samples: int = SAMPLES,
    seed: int = SEED,
    resolution: float = 0.0,
    **params: Any,
) -> Floats:
    """How runs' standardized means vary with the systems that the factors come from.

    The covariance of :func:`resampled_means`, times ``g / (g - 1)`` for ``g`` groups: a
    bootstrap's variance is that of a population which is the sample (Efron, 1979).

    Parameters
    ----------
    x, scores, scheme, resolution, **params
        As for :func:`resampled_means`.
    groups : sequence, length n_systems, optional
        The team of each system; each its own if not given.

    Returns
    -------
    ndarray, shape (n_runs, n_runs)
        In the unit of the scores, squared; NaN with fewer than two groups.
    """
    scores = np.asarray(scores, float)
    groups = range(scores.shape[-1]) if groups is None else groups
    g = len(set(groups))
    n_runs = np.shape(x)[-1]
    if g < 2:
        return np.full((n_runs, n_runs), np.nan)
    means = resampled_means(
        x, scores, draw_systems(groups, samples, seed), scheme, resolution=resolution, **params
    )
    return np.cov(means, rowvar=False).reshape(n_runs, n_runs) * (g / (g - 1))


def normal_covariance(
    x: npt.ArrayLike,
    mean: npt.ArrayLike,
    sd: npt.ArrayLike,
    n_systems: int,
    scheme: str = "N",
    *,
    correlation: float = TOPIC_CORRELATION,
    **params: Any,
) -> Floats:
    """As :func:`bootstrap_covariance`, where only means and deviations are known.

    The delta method through the scheme, with what normal theory says of ``n`` systems' mean and
    deviation: variances ``sd**2 / n`` and ``sd**2 / (2 * (n - 1))``, no covariance.  Between two
    topics whose scores correlate by ``r`` over systems, the means' errors correlate by ``r`` and
    the deviations' by ``r**2`` (bivariate normal).  A correlation of 0 would be an error that
    averages out over topics, which it does not.

    Parameters
    ----------
    x : array_like, shape (n_topics, n_runs)
        Raw scores.
    mean, sd : array_like, shape (n_topics,)
    n_systems : int
    scheme : {'N', 'U', 'z'}
    correlation : float
        ``r``, the same for every two topics.
    **params
        ``A`` and ``B`` of U.

    Returns
    -------
    ndarray, shape (n_runs, n_runs)
        NaN with fewer than two systems.  A topic with a deviation of 0 adds nothing.

    Raises
    ------
    ValueError
        If the scheme needs scores, or a value is NaN.
    """
    x = check_finite(x, "x")
    mean, sd = check_finite(mean, "mean")[:, None], check_finite(sd, "sd")[:, None]
    if get_scheme(scheme).needs_scores:
        raise ValueError(f"scheme {scheme!r} needs the systems' scores: use bootstrap_covariance")
    if n_systems < 2:
        return np.full((x.shape[1], x.shape[1]), np.nan)
    spread = sd > 0
    z = np.where(spread, (x - mean) / np.where(spread, sd, 1), 0)
    by_z = np.where(spread, slope(scheme, z, **params), 0)
    by_mean = _quadratic(by_z, correlation) / n_systems
    by_sd = _quadratic(by_z * z, correlation**2) / (2 * (n_systems - 1))
    return (by_mean + by_sd) / len(x) ** 2


def _quadratic(gradients: Floats, correlation: float) -> Floats:
    """The covariance of sums over topics of terms with unit variance that correlate alike."""
    within_topics = gradients.T @ gradients
    total = gradients.sum(axis=0)
    covariance: Floats = (1 - correlation) * within_topics + correlation * np.outer(total, total)
    return covariance


def contrast_error(covariance: npt.ArrayLike, contrast: npt.ArrayLike) -> float:
    """The standard error of a combination of runs' means.

    Parameters
    ----------
    covariance : array_like, shape (n_runs, n_runs)
    contrast : array_like, shape (n_runs,)
        What each mean is multiplied by: 1 and -1 for a difference.
    """
    c = np.asarray(contrast, float)
    used = np.flatnonzero(c)  # of a thousand runs one or two
    of_used = np.asarray(covariance, float)[np.ix_(used, used)]
    return sqrt(max(float(c[used] @ of_used @ c[used]), 0.0))
