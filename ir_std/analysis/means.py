"""Check score arrays, compute means, variances and Student's t, and draw samples with a seed."""

from __future__ import annotations

from math import sqrt

import numpy as np

from ir_std._arrays import ArrayLike, Floats


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
        If the array has fewer than two dimensions, or more than two with ``single``.  If the array
        has too few topics or systems, or a value that is NaN or infinite.
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
"""Smallest difference that is not a rounding error, as a share of the numbers that are subtracted.
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
