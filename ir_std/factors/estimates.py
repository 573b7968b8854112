"""Compute factors and system means from the scores of reference systems."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ir_std._arrays import ArrayLike, Floats, Ints
from ir_std.factors.factor_set import FactorSet
from ir_std.factors.judgments import Judgments

_LARGEST_BLOCK = 10_000_000
"""Number of score comparisons that are made at once for scheme E."""


def factors_from_scores(
    scores: Mapping[str, ArrayLike],
    n_rel: Mapping[str, int | Judgments | None],
    info: Mapping[str, Any],
    tags: Mapping[str, Sequence[str]] | None = None,
) -> FactorSet:
    """Make a factor set from the scores of systems.

    A system has the same number in all measures.  Systems are numbered in the order of their tags
    or, without tags, by their scores (lowest sum first).  So the result does not depend on the
    order in which the systems were given.

    Parameters
    ----------
    scores : mapping of str to array_like, shape (n_topics, n_systems)
        Scores by measure, one column per system; NaN where a system has no score.  Without tags,
        column i belongs to the same system in all measures.
    n_rel : mapping of str to int, Judgments or None
        Judgments of each topic, as for :class:`FactorSet`; topics are in the order of the rows.
    info : mapping
        Fields of ``set.json``.  ``measures`` can contain fields of individual measures.  For each
        measure, the number of systems is added to these fields.
    tags : mapping of str to sequence of str, optional
        For each measure, the names of the systems, one for each column.

    Returns
    -------
    FactorSet
        A set with scores.  A topic with fewer than two scores for a measure has no factors for that
        measure.
    """
    arrays = {m: np.asarray(values, dtype=float) for m, values in scores.items()}
    names = sorted({tag for each in (tags or {}).values() for tag in each})
    if tags:
        number = {tag: i for i, tag in enumerate(names)}
        numbers = {m: np.array([number[tag] for tag in tags[m]], np.int64) for m in arrays}
    else:
        numbers = _number_by_scores(arrays)
    n_columns = len(names) or max((array.shape[1] for array in arrays.values()), default=0)
    tables = {m: np.full((len(array), n_columns), np.nan) for m, array in arrays.items()}
    for measure, array in arrays.items():
        tables[measure][:, numbers[measure]] = array
    fields = info.get("measures", {})
    info = {**info, "measures": {m: fields.get(m, {}) for m in scores}}
    return FactorSet(info, n_rel, scores=tables, systems=names)


def _number_by_scores(arrays: Mapping[str, Floats]) -> dict[str, Ints]:
    """Assign numbers to the columns in the order of their scores.

    Measures with the same number of columns get the same numbers for their columns.
    """
    numbers: dict[int, Ints] = {}
    for n in {array.shape[1] for array in arrays.values()}:
        rows = np.concatenate([array for array in arrays.values() if array.shape[1] == n])
        numbers[n] = np.argsort(np.lexsort((*rows[::-1], np.nansum(rows, axis=0))))
    return {m: numbers[array.shape[1]] for m, array in arrays.items()}


def scores_by_system(factors: FactorSet, measure: str) -> tuple[Ints, Floats]:
    """Return the systems that have scores for a measure, and the scores of these systems.

    Returns
    -------
    numbers : ndarray of int, shape (n_systems,)
        Numbers of these systems in the set, ascending.
    scores : ndarray, shape (n_topics, n_systems)
        Scores of these systems, one column per system.
    """
    scores = factors.scores[measure]
    numbers = np.flatnonzero(~np.isnan(scores).all(axis=0))
    return numbers, scores if len(numbers) == scores.shape[1] else scores[:, numbers]


def ranked_systems(
    factors: FactorSet,
    measure: str,
    scheme: str | None = None,
    rows: Ints | None = None,
    **params: float,
) -> tuple[Floats, Ints]:
    """Compute the mean scores of the reference systems, and rank the systems by mean.

    Parameters
    ----------
    factors : FactorSet
        A set with scores of the measure.
    measure : str
        One of the set's measures.
    scheme : {'N', 'U', 'E', 'z'}, optional
        Scheme of the scores; raw scores if not given.
    rows : ndarray of int, optional
        Rows (topics) of the set to average over; by default all rows.
    **params
        Parameters ``A`` and ``B`` of scheme U.

    Returns
    -------
    means : ndarray, shape (n,)
        Means in ascending order.  Topics without factors are left out.  For z, topics on which all
        systems have the same score are also left out.  Systems that lack a score on any of the
        remaining topics are left out.  If no topic remains, the array is empty.
    numbers : ndarray of int, shape (n,)
        Numbers of these systems in the set.
    """
    usable = ~np.isnan(factors.mean[measure])
    if scheme == "z":
        usable &= factors.sd[measure] > 0
    rows = np.flatnonzero(usable) if rows is None else rows[usable[rows]]
    values = scores_of_systems(factors, measure, scheme, rows, **params)
    if not len(rows):
        return np.zeros(0), np.zeros(0, np.int64)
    numbers, _ = scores_by_system(factors, measure)
    means = values[:, numbers].mean(axis=0)
    ascending = np.argsort(means, kind="stable")
    ascending = ascending[~np.isnan(means[ascending])]
    return means[ascending], numbers[ascending]


def scores_of_systems(
    factors: FactorSet, measure: str, scheme: str | None, rows: Ints, **params: float
) -> Floats:
    """Return the raw or standardized scores of the reference systems for given topics.

    ``rows`` gives the row numbers of the topics in the set.

    The parameters are the same as for :func:`ranked_systems`.

    Returns
    -------
    ndarray, shape (n_rows, n_systems)
        One column for each of the set's systems; NaN for a system without a score.
    """
    scores: Floats = factors.scores[measure][rows]
    if scheme is None:
        return scores
    standardize = factors.standardizer(rows, measure, scheme, **params)
    # Scheme E compares each score with all scores of its topic, so blocks of systems save memory.
    n_blocks = scores.size * scores.shape[1] // _LARGEST_BLOCK + 1
    blocks = np.array_split(scores.T, n_blocks)
    return np.ascontiguousarray(np.concatenate([*map(standardize, blocks)]).T)


def round_to_resolution(factors: FactorSet, measure: str, scores: Floats) -> Floats:
    """Round scores to the resolution at which the set records its systems' scores."""
    step = factors.about(measure, "resolution", 0.0)
    return np.rint(scores / step) * step if step else scores
