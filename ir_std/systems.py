"""The standardizing systems' mean scores, from their scores on each topic."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ir_std.factors import FactorSet
from ir_std.schemes import SCHEMES, get_scheme

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def means_of_systems(factors: FactorSet, measure: str, scheme: str | None = None,
                     rows: Ints | None = None, **params: float) -> Floats:
    """The standardizing systems' mean scores, computed from their scores on each topic.

    Parameters
    ----------
    factors : FactorSet
        With ``scores`` and ``systems`` of the measure.
    measure : str
        One of the set's measures.
    scheme : {'N', 'U', 'E', 'z'}, optional
        Raw means without it.
    rows : ndarray of int, optional
        The rows of the set to average over; all if not given.
    **params
        ``A`` and ``B`` of U.

    Returns
    -------
    ndarray, shape (n,)
        Sorted.  Topics without factors are left out, and systems without a score on some topic.
    """
    known = ~np.isnan(factors.mean[measure])
    rows = np.flatnonzero(known) if rows is None else rows[known[rows]]
    values = scores = factors.scores[measure][rows]
    if scheme is not None:
        values = get_scheme(scheme).apply(
            scores, mean=factors.mean[measure][rows, None], sd=factors.sd[measure][rows, None],
            scores=scores[:, None, :], resolution=factors.about(measure, "resolution", 0.0),
            **params)
    by_system = np.empty_like(values)
    np.put_along_axis(by_system, factors.systems[measure][rows].astype(np.int64), values, axis=1)
    means = by_system.mean(axis=0)
    return np.sort(means[~np.isnan(means)])


def all_means(factors: FactorSet) -> dict[str, Floats]:
    """What ``means.npz`` holds: raw and standardized means of measures whose systems are known."""
    return {f"{scheme or 'raw'}:{measure}": means_of_systems(factors, measure, scheme)
            for measure in factors.scores if measure in factors.systems
            for scheme in (None, *SCHEMES)}
