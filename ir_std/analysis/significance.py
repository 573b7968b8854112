"""Significance tests over all pairs of systems at once.

Pairs are ordered as in ``numpy.triu_indices(n_systems, 1)``: (0, 1), (0, 2), ..., (1, 2), ...
Leading axes of the arrays are independent experiments (resamplings of topics, say).
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import stdtr, stdtrit

from ir_std._arrays import Floats
from ir_std.analysis.means import (
    check_level,
    check_same_systems,
    check_scores,
    mean_and_variance,
    rounded_difference,
    student_t,
    topic_differences,
)

CLOSE = 1e-4
"""Below this share of the systems' own variances, the variance of their difference is computed from
the differences: from the covariance matrix it would keep too few digits."""
BLOCK = 10_000
"""How many such pairs are computed at a time."""


def paired_t(scores: npt.ArrayLike) -> Floats:
    """Student's t of the paired difference, for every pair of systems.

    ``mean(d) / sqrt(var(d) / n)`` with ``d = scores[:, i] - scores[:, j]``, n - 1 degrees of
    freedom.  The variances come from one covariance matrix, ``c_ii + c_jj - 2 c_ij``, so that
    all pairs cost one matrix product.

    Parameters
    ----------
    scores : array_like, shape (..., n_topics, n_systems)

    Returns
    -------
    ndarray, shape (..., n_pairs)
        0 for a pair of equal systems, infinite where the difference is the same on all topics.

    Raises
    ------
    ValueError
        On fewer than two topics or two systems, or a value that is NaN or infinite.
    """
    x = check_scores(scores, topics=2, systems=2)
    *samples, n, m = x.shape
    x = x.reshape(-1, n, m)
    i, j = np.triu_indices(m, 1)
    mean, _, _ = mean_and_variance(x)
    centred = x - mean[:, None, :]
    # Not with @: BLAS starts threads even for products this small, and waiting for them costs more
    # than they save, ten times more on a busy machine.
    cov = np.einsum("sti,stj->sij", centred, centred) / (n - 1)
    variances = np.diagonal(cov, axis1=1, axis2=2)
    total = variances[:, i] + variances[:, j]
    var = total - 2 * np.take(cov.reshape(-1, m * m), i * m + j, axis=1)
    difference = mean[:, i] - mean[:, j]
    close = np.nonzero(var < CLOSE * total)
    for start in range(0, len(close[0]), BLOCK):
        sample, pair = (index[start : start + BLOCK] for index in close)
        d = topic_differences(x[sample, :, i[pair]], x[sample, :, j[pair]])
        difference[sample, pair], var[sample, pair], _ = mean_and_variance(d, axis=1)
    return student_t(difference, var / n).reshape(*samples, len(i))


def paired_p_values(scores: npt.ArrayLike) -> Floats:
    """Two-sided p values of :func:`paired_t`, for every pair of systems.

    Parameters, shapes and errors are those of :func:`paired_t`.
    """
    n = np.shape(scores)[-2] if np.ndim(scores) >= 2 else 0
    p: Floats = 2 * stdtr(n - 1, -np.abs(paired_t(scores)))
    return p


def tukey_p_values(scores: npt.ArrayLike, trials: int = 1000, seed: int = 0) -> Floats:
    """P values of the randomised Tukey HSD test, for every pair of systems.

    If all systems were alike, a topic's scores could be dealt to them in any order.  The p value
    of a pair is the share of such deals in which the best and the worst system differ by at
    least as much as the pair does (Carterette, TOIS 2012; Sakai, ICTIR 2016), the
    observed deal included, ``(b + 1) / (trials + 1)``, so that p is never 0.  It controls
    the family-wise error rate.

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
        As for :func:`paired_t`, and on more than two dimensions or no trials.
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


def discriminative_power(
    scores: npt.ArrayLike,
    alpha: npt.ArrayLike = 0.05,
    *,
    test: Literal["t", "tukey"] = "t",
    trials: int = 1000,
    seed: int = 0,
) -> Floats:
    """The share of system pairs that a test finds significantly different.

    Sakai (SIGIR 2006); the power of Urbano, Lima and Hanjalic (SIGIR 2019).

    Parameters
    ----------
    scores : array_like, shape (..., n_topics, n_systems)
        With ``test='tukey'`` two-dimensional.
    alpha : float or array_like, shape (n_alphas,)
        Significance level or levels; a pair counts where p < alpha.
    test : {'t', 'tukey'}
        Two-sided paired t-test, or :func:`tukey_p_values` with ``trials`` and ``seed``.

    Returns
    -------
    ndarray, shape (...) or (..., n_alphas)

    Raises
    ------
    ValueError
        As for :func:`paired_t`; on a level outside (0, 1); on an unknown test.
    """
    levels = check_level(alpha)
    if test == "t":
        # A comparison with critical values needs no p value for each pair.
        t = np.abs(paired_t(scores))
        critical = stdtrit(np.shape(scores)[-2] - 1, 1 - levels / 2)
        return _share(t, critical, np.greater)
    if test == "tukey":
        return _share(tukey_p_values(scores, trials, seed), levels, np.less)
    raise ValueError(f"unknown test {test!r}: allowed are 't' and 'tukey'")


def two_sample_p_values(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    *,
    equal_var: bool = False,
    alternative: Literal["two-sided", "greater", "less"] = "two-sided",
) -> Floats:
    """P values of the t-test of every system on one collection against every one on another.

    Welch's test, or with ``equal_var`` Student's with the pooled variance.

    Parameters
    ----------
    a : array_like, shape (..., n_topics_a, n_systems_a)
    b : array_like, shape (..., n_topics_b, n_systems_b)
    alternative : str
        ``'greater'``: the system on ``a`` is better.

    Returns
    -------
    ndarray, shape (..., n_systems_a, n_systems_b)
        Where neither system varies, 1 for equal means, else as for t = +-infinity.

    Raises
    ------
    ValueError
        On fewer than two topics, NaN or infinite values, or an unknown alternative.
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
    """Which systems seem better on collection ``a`` than they themselves are on ``b``.

    A system has one quality, so a difference that the two-sample t-test finds is the collections':
    a false positive (Webber, Moffat and Zobel 2008, Table 4: one-tailed at 0.025; the Type I
    errors of Urbano, Lima and Hanjalic 2019: two-sided).

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
        Its sum is the number of false positives, its mean the rate of Type I errors.

    Raises
    ------
    ValueError
        As for :func:`two_sample_p_values`; if the numbers of systems differ; on a level
        outside (0, 1).
    """
    first, second = check_same_systems(a, b, topics=2)
    p = _two_sample(mean_and_variance(first), mean_and_variance(second), equal_var, alternative)
    better: npt.NDArray[np.bool_] = p < check_level(alpha)
    return better


Moments: TypeAlias = tuple[Floats, Floats, int]
"""Means, sample variances, and the number of topics that they are over."""


def _two_sample(a: Moments, b: Moments, equal_var: bool, alternative: str) -> Floats:
    """P values from moments that broadcast."""
    (mean_a, var_a, n_a), (mean_b, var_b, n_b) = a, b
    if equal_var:
        df: Floats = np.asarray(n_a + n_b - 2.0)
        pooled = ((n_a - 1) * var_a + (n_b - 1) * var_b) / (n_a + n_b - 2)
        square = pooled * (1 / n_a + 1 / n_b)
    else:
        part_a, part_b = var_a / n_a, var_b / n_b
        square = part_a + part_b
        # Welch and Satterthwaite; where nothing varies any number of degrees gives the same p.
        df = square**2 / np.where(square > 0, part_a**2 / (n_a - 1) + part_b**2 / (n_b - 1), 1)
        df = np.where(square > 0, df, 1)
    t = student_t(mean_a - mean_b, square)
    tails = {"two-sided": (2, -np.abs(t)), "greater": (1, -t), "less": (1, t)}
    if alternative not in tails:
        raise ValueError(
            f"unknown alternative {alternative!r}: allowed are 'two-sided', 'greater' and 'less'"
        )
    count, tail = tails[alternative]
    return np.asarray(count * stdtr(df, tail), dtype=float)


def _share(values: Floats, limits: Floats, holds: np.ufunc) -> Floats:
    """The share of the last axis for which ``holds(value, limit)``; one more axis for limits."""
    counts = [np.count_nonzero(holds(values, limit), axis=-1) for limit in limits.flat]
    shares: Floats = np.stack(counts, axis=-1) / values.shape[-1]
    return shares if limits.ndim else shares[..., 0]
