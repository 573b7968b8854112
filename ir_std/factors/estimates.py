"""From the scores of standardizing systems to factors, and to the systems' means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ir_std.factors.factor_set import FactorSet
from ir_std.factors.judgments import Judgments
from ir_std.schemes import EXACT, SCHEMES, get_scheme

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def factors_from_scores(scores: Mapping[str, npt.ArrayLike],
                        n_rel: Mapping[str, int | Judgments | None],
                        info: Mapping[str, Any]) -> FactorSet:
    """A factor set from the scores of systems.

    Parameters
    ----------
    scores : mapping of str to array_like, shape (n_topics, n_systems)
        By measure, in any order of systems; NaN where a system has no score.
    n_rel : mapping of str to int, Judgments or None
        The topics, in the order of the arrays' rows, and their judgments, as for
        :class:`FactorSet`.
    info : mapping
        The fields of ``set.json``.  ``measures`` may hold fields of single measures; the numbers
        of systems are added.

    Returns
    -------
    FactorSet
        With distributions and the systems' means.  A topic on which a measure has fewer than two
        scores has no factors for it.
    """
    mean, sd, ordered, systems = {}, {}, {}, {}
    for measure, values in scores.items():
        array = np.asarray(values, dtype=float)
        array = np.where((~np.isnan(array)).sum(axis=1, keepdims=True) < 2, np.nan, array)
        ordered[measure], systems[measure] = distribution(array)
        mean[measure], sd[measure] = moments(ordered[measure])
    known = info.get("measures", {})
    about = {m: {"systems": ordered[m].shape[1], **known.get(m, {})} for m in scores}
    result = FactorSet({**info, "measures": about}, n_rel, mean, sd, ordered, systems)
    result.means = all_means(result)
    return result


def distribution(scores: Floats) -> tuple[Floats, npt.NDArray[Any]]:
    """Sort each topic's scores, and say whose they are.

    Systems are numbered by their scores alone (lowest sum first), so that the order in which
    they were given leaves no trace.

    Parameters
    ----------
    scores : ndarray, shape (n_topics, n_systems)

    Returns
    -------
    ordered : ndarray, shape (n_topics, n_systems)
        Ascending in each row, NaN last.
    systems : ndarray of unsigned int, shape (n_topics, n_systems)
        The number of the system with each score.
    """
    numbered = scores[:, np.lexsort((*scores[::-1], np.nansum(scores, axis=0)))]
    systems = np.argsort(numbered, axis=1, kind="stable")
    return (np.take_along_axis(numbered, systems, axis=1),
            systems.astype(np.min_scalar_type(scores.shape[1])))


def moments(ordered: Floats) -> tuple[Floats, Floats]:
    """Means and sample standard deviations (n-1) of the rows of :func:`distribution`.

    NaN for a row of fewer than two scores; the deviation of scores that do not differ is exactly 0.
    """
    n = (~np.isnan(ordered)).sum(axis=1)
    enough = n > 1
    lowest = ordered[:, 0]
    highest = np.take_along_axis(ordered, np.maximum(n - 1, 0)[:, None], axis=1)[:, 0]
    mean = np.nansum(ordered, axis=1) / np.maximum(n, 1)
    squares = np.nansum((ordered - mean[:, None]) ** 2, axis=1)
    sd = np.sqrt(squares / np.maximum(n - 1, 1))
    alike = highest - lowest <= EXACT
    return (np.where(enough, np.where(alike, lowest, mean), np.nan),
            np.where(enough, np.where(alike, 0.0, sd), np.nan))


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
        Sorted.  Topics without factors are left out, and systems without a score on some topic;
        for z those on which the systems do not differ, too.  Empty if no topic is left.
    """
    known = ~np.isnan(factors.mean[measure])
    if scheme == "z":
        known &= factors.sd[measure] > 0
    rows = np.flatnonzero(known) if rows is None else rows[known[rows]]
    values = scores = factors.scores[measure][rows]
    if scheme is not None:
        values = get_scheme(scheme).apply(
            scores, mean=factors.mean[measure][rows, None], sd=factors.sd[measure][rows, None],
            scores=scores[:, None, :], resolution=factors.about(measure, "resolution", 0.0),
            **params)
    by_system = np.empty_like(values)
    np.put_along_axis(by_system, factors.systems[measure][rows].astype(np.int64), values, axis=1)
    means = by_system.mean(axis=0) if len(rows) else np.zeros(0)
    return np.sort(means[~np.isnan(means)])


def all_means(factors: FactorSet) -> dict[str, Floats]:
    """What ``means.npz`` holds: raw and standardized means of measures whose systems are known."""
    return {f"{scheme or 'raw'}:{measure}": means_of_systems(factors, measure, scheme)
            for measure in factors.scores if measure in factors.systems
            for scheme in (None, *SCHEMES)}
