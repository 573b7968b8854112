"""From the scores of standardizing systems to factors, and to the systems' means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ir_std.factors.factor_set import FactorSet
from ir_std.factors.judgments import Judgments
from ir_std.factors.soundness import moments
from ir_std.schemes import get_scheme

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def factors_from_scores(scores: Mapping[str, npt.ArrayLike],
                        n_rel: Mapping[str, int | Judgments | None],
                        info: Mapping[str, Any], names: Sequence[str] = ()) -> FactorSet:
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
    names : sequence of str, optional
        What the systems are called, in the order of the arrays' columns, if that may be known.

    Returns
    -------
    FactorSet
        With distributions.  A topic on which a measure has fewer than two
        scores has no factors for it.
    """
    mean, sd, ordered, systems = {}, {}, {}, {}
    for measure, values in scores.items():
        array = np.asarray(values, dtype=float)
        array = np.where((~np.isnan(array)).sum(axis=1, keepdims=True) < 2, np.nan, array)
        ordered[measure], systems[measure] = distribution(array, bool(names))
        mean[measure], sd[measure] = moments(ordered[measure])
    known = info.get("measures", {})
    about = {m: {"systems": ordered[m].shape[1], **known.get(m, {})} for m in scores}
    named = {"system_names": list(names)} if names else {}
    return FactorSet({**info, **named, "measures": about}, n_rel, mean, sd, ordered, systems)


def distribution(scores: Floats, numbered: bool = False) -> tuple[Floats, npt.NDArray[Any]]:
    """Sort each topic's scores, and say whose they are.

    Parameters
    ----------
    scores : ndarray, shape (n_topics, n_systems)
    numbered : bool
        Whether systems have the numbers of their columns; else they are numbered by their scores
        alone (lowest sum first), so that the order in which they were given leaves no trace.

    Returns
    -------
    ordered : ndarray, shape (n_topics, n_systems)
        Ascending in each row, NaN last.
    systems : ndarray of unsigned int, shape (n_topics, n_systems)
        The number of the system with each score.
    """
    if not numbered:
        scores = scores[:, np.lexsort((*scores[::-1], np.nansum(scores, axis=0)))]
    systems = np.argsort(scores, axis=1, kind="stable")
    return (np.take_along_axis(scores, systems, axis=1),
            systems.astype(np.min_scalar_type(scores.shape[1])))


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
