"""Whether results on one set of topics, or of standardizing systems, hold on another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ir_std._arrays import Floats, divide
from ir_std.analysis.correlation import kendall_tau_b
from ir_std.analysis.means import (
    check_same_systems,
    check_scores,
    rounded_difference,
    standard_error,
)
from ir_std.analysis.standardization import compute_factors
from ir_std.schemes import get_scheme

CHUNK = 50
"""Samples computed at a time, which fit into the processor's cache."""


def drmse(a: npt.ArrayLike, b: npt.ArrayLike) -> Floats:
    """How far systems' mean scores drift from one collection to another.

    The root mean square of the differences between the systems' two means, over the average of
    the means' two standard deviations (n-1) (Webber, Moffat and Zobel 2008, eq. 4).

    Parameters
    ----------
    a : array_like, shape (..., n_topics_a, n_systems)
    b : array_like, shape (..., n_topics_b, n_systems)
        The same systems in the same order.

    Returns
    -------
    ndarray, shape (...)
        0 where the means agree; not bounded above.

    Raises
    ------
    ValueError
        If the systems differ in number or are fewer than two, a value is NaN or infinite, or
        all systems score the same on both.
    """
    first, second = (x.mean(axis=-2) for x in check_same_systems(a, b, systems=2))
    spread = (first.std(axis=-1, ddof=1) + second.std(axis=-1, ddof=1)) / 2
    if (rounded_difference(spread, 0) == 0).any():
        raise ValueError(
            "all systems have the same mean on both collections: there is no "
            "spread to measure their drift against"
        )
    drift: Floats = np.sqrt(np.mean((first - second) ** 2, axis=-1)) / spread
    return drift


@dataclass(frozen=True)
class SwapRates:
    """The result of :func:`swap_rate`, with one entry for each bin."""

    rate: Floats
    """``swaps / pairs``, NaN for an empty bin."""
    swaps: npt.NDArray[np.int_]
    pairs: npt.NDArray[np.int_]
    by_trial: Floats
    """The share of swaps in each trial, over all bins."""

    @property
    def overall(self) -> float:
        """The share of swaps in all comparisons, which does not depend on the bins or the scale."""
        return float(self.swaps.sum() / self.pairs.sum())

    @property
    def error(self) -> float:
        """The standard error of :attr:`overall` over trials, as these topics are sampled.

        Two arrays of scores with one seed go through the same trials: the error of their
        difference is that of the differences of :attr:`by_trial`, and far smaller.
        """
        return standard_error(self.by_trial)


def swap_rate(
    scores: npt.ArrayLike,
    bins: npt.ArrayLike,
    *,
    size: int | None = None,
    trials: int = 1000,
    seed: int = 0,
) -> SwapRates:
    """How often two disjoint sets of topics rank a pair of systems in opposite order.

    Each trial draws two disjoint sets of ``size`` topics.  A pair falls into the bin of its
    absolute difference in mean score on the first, and is swapped if the difference on the
    second has the opposite sign (Voorhees and Buckley, SIGIR 2002; Sakai, ICTIR 2016).  Differences
    are rounded to 12 decimals, so that equal means neither swap nor change their bin.

    Parameters
    ----------
    scores : array_like, shape (n_topics, n_systems)
    bins : array_like, shape (n_bins,)
        Ascending lower bounds, the first 0; the last bin is open.
    size : int, optional
        Half of the topics unless given.

    Returns
    -------
    SwapRates
        ``rate``, ``swaps`` and ``pairs``, each of shape (n_bins,), and ``by_trial``, (trials,).

    Raises
    ------
    ValueError
        On fewer than two topics or systems, NaN or infinite values, bins that do not ascend
        from 0, a size that does not fit twice, or no trials.
    """
    x = check_scores(scores, topics=2, systems=2, single=True)
    lower = rounded_difference(bins, 0)
    if lower.ndim != 1 or not lower.size or lower[0] != 0 or (np.diff(lower) <= 0).any():
        raise ValueError(f"bins must be lower bounds that ascend from 0, got {lower.tolist()}")
    n, m = x.shape
    size = n // 2 if size is None else size
    if not 1 <= size <= n // 2:
        raise ValueError(f"size must lie between 1 and half of the {n} topics, got {size}")
    if trials < 1:
        raise ValueError(f"trials must be at least 1, got {trials}")
    rng = np.random.default_rng(seed)
    i, j = np.triu_indices(m, 1)
    swaps = np.zeros(lower.size, dtype=int)
    pairs = np.zeros(lower.size, dtype=int)
    by_trial = np.empty(trials)
    for trial in range(trials):
        topics = rng.permutation(n)
        first, second = (x[part].mean(axis=0) for part in (topics[:size], topics[size : 2 * size]))
        difference = rounded_difference(first[i], first[j])
        swapped = np.sign(difference) * np.sign(rounded_difference(second[i], second[j])) < 0
        by_trial[trial] = swapped.mean()
        bin_of = np.searchsorted(lower, np.abs(difference), side="right") - 1
        pairs += np.bincount(bin_of, minlength=lower.size)
        swaps += np.bincount(bin_of[swapped], minlength=lower.size)
    return SwapRates(divide(swaps, pairs, otherwise=np.nan), swaps, pairs, by_trial)


def factor_stability(
    scores: npt.ArrayLike,
    standardizing: npt.ArrayLike,
    size: int,
    *,
    samples: int = 2000,
    seed: int = 0,
    scheme: str = "N",
    **params: Any,
) -> Floats:
    """Kendall's tau between the rankings with sampled and with all standardizing systems.

    Webber, Moffat and Zobel (2008), Figure 4: how many standardizing systems are enough.

    Parameters
    ----------
    scores : array_like, shape (n_topics, n_systems)
        The systems that are ranked, by mean standardized score.
    standardizing : array_like, shape (n_topics, n_standardizing)
        The systems that the factors come from, on the same topics.
    size : int
        How many of them a sample holds, drawn without replacement.
    samples, seed : int
        Number of samples, and seed of the generator.
    scheme : str
        A scheme of :data:`ir_std.schemes.SCHEMES`, with its ``params``.

    Returns
    -------
    ndarray, shape (samples,)

    Raises
    ------
    ValueError
        On arrays without common topics, fewer than two systems, NaN or infinite values, a
        size below 2 or above the number of standardizing systems, no samples, or an unknown
        scheme.

    Notes
    -----
    On a topic where all systems of a sample score the same, N and U take their limits; z has no
    value there, and the topic is left out of that sample's means.
    """
    x = check_scores(scores, systems=2, single=True)
    by = check_scores(standardizing, "the standardizing systems", systems=2, single=True)
    if x.shape[0] != by.shape[0]:
        raise ValueError(
            "ranked and standardizing systems must have the same topics, "
            f"got {x.shape[0]} and {by.shape[0]}"
        )
    if not 2 <= size <= by.shape[1]:
        raise ValueError(
            f"size must lie between 2 and the {by.shape[1]} standardizing systems, got {size}"
        )
    if samples < 1:
        raise ValueError(f"samples must be at least 1, got {samples}")
    rng = np.random.default_rng(seed)
    by_all = _means(x, by[None], scheme, params)
    taus = []
    for start in range(0, samples, CHUNK):
        count = min(CHUNK, samples - start)
        drawn = rng.permuted(np.tile(np.arange(by.shape[1]), (count, 1)), axis=1)[:, :size]
        sampled = np.moveaxis(by[:, drawn], 1, 0)
        taus.append(kendall_tau_b(by_all, _means(x, sampled, scheme, params)))
    return np.concatenate(taus)


def _means(x: Floats, by: Floats, scheme: str, params: dict[str, Any]) -> Floats:
    """Mean standardized scores, shape (samples, n_systems), by factors from each sample."""
    y = get_scheme(scheme).apply(x, **compute_factors(by), **params)
    known = ~np.isnan(y).any(axis=-1, keepdims=True)
    count = known.sum(axis=-2)
    if (count == 0).any():
        raise ValueError(
            "a sample of standardizing systems has no spread on any topic: take a larger size"
        )
    means: Floats = np.where(known, y, 0.0).sum(axis=-2) / count
    return means
