"""The bootstrap over reference systems, which the errors of ``analysis.influence`` must equal."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from ir_std._arrays import Floats, divide
from ir_std.analysis.means import draw_samples
from ir_std.schemes import get_scheme


def draw_systems(groups: Sequence[Hashable], samples: int = 2000, seed: int = 1) -> Floats:
    """Draw whole groups of systems; how often each system is in each sample.

    Samples of a single system, which would have no spread, are left out.
    """
    number = {group: i for i, group in enumerate(dict.fromkeys(groups))}
    drawn = draw_samples(len(number), samples, seed)[:, [number[group] for group in groups]]
    kept: Floats = drawn[(drawn > 0).sum(axis=1) > 1]
    return kept


def resampled_means(x: Floats, scores: Floats, drawn: Floats, scheme: str = "N") -> Floats:
    """Standardize by each sample's factors; runs' means, shape (samples, n_runs)."""
    method, known = get_scheme(scheme), ~np.isnan(scores)
    n = drawn @ known.T
    if method.needs_scores:
        # Each system by itself is a distribution of one; a sample's is the mean of its systems'.
        single = [method.apply(run[:, None], scores=scores[:, :, None]) for run in x.T]
        shares = [drawn @ np.where(known, one, 0).T / n for one in single]
        return np.stack([share.mean(axis=1) for share in shares], axis=1)
    middle = np.nanmean(scores, axis=1)  # taken off first, so that squares lose no digits
    centred = np.where(known, scores - middle[:, None], 0)
    mean = drawn @ centred.T / n
    squares = drawn @ (centred**2).T - n * mean**2
    sd = np.sqrt(np.maximum(divide(squares, n - 1, otherwise=np.nan), 0))[:, :, None]
    return np.asarray(np.nanmean(method.apply(x, mean=(middle + mean)[:, :, None], sd=sd), axis=1))


def bootstrap_covariance(
    x: Floats,
    scores: Floats,
    groups: Sequence[Hashable] | None = None,
    scheme: str = "N",
    samples: int = 2000,
) -> Floats:
    """Return the covariance of means over samples of systems, times ``g / (g - 1)``.

    A bootstrap's variance is that of a population which is the sample (Efron, 1979).
    """
    groups = range(scores.shape[1]) if groups is None else groups
    g, n_runs = len(set(groups)), x.shape[1]
    means = resampled_means(x, scores, draw_systems(groups, samples), scheme)
    return np.cov(means, rowvar=False).reshape(n_runs, n_runs) * (g / (g - 1))
