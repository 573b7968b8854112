"""Normalization of a list's scores, and combination of a topic's lists by scores or ranks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cmp_to_key
from operator import lt
from typing import TypeAlias

import numpy as np

from ir_std._arrays import Floats, Ints, divide
from ir_std.errors import InputError
from ir_std.trec import Run

RankedList: TypeAlias = tuple[list[str], Floats]
"""Documents and their scores."""
ByScore: TypeAlias = Callable[[Ints, Floats, int], Floats]
ByRank: TypeAlias = Callable[[Sequence[Ints], int], Floats]


def minmax(scores: Floats) -> Floats:
    """Compute ``(s - min) / (max - min)``, so the first document gets 1 and the last gets 0.

    Parameters
    ----------
    scores : ndarray, shape (n,)
        Scores of one list.  All methods require at least one score, and only finite scores.

    Returns
    -------
    ndarray, shape (n,)
        Normalized scores.  If all scores are equal, all methods except :func:`by_max` return 0.
    """
    above = _above_lowest(_scaled(scores)[0])
    return divide(above, above.max(), otherwise=0)


def by_sum(scores: Floats) -> Floats:
    """Compute ``(s - min) / sum(s - min)``, so the scores of a list add up to 1."""
    position = minmax(scores)
    return divide(position, position.sum(), otherwise=0)


def zscore(scores: Floats) -> Floats:
    """Compute ``(s - mean) / sd``, so the mean is 0 and the variance is 1."""
    position = minmax(scores)
    return divide(position - position.mean(), position.std(), otherwise=0)


def by_max(scores: Floats) -> Floats:
    """Compute ``s / max`` for a maximum above 0; if the minimum is 0, this is :func:`minmax`."""
    with np.errstate(over="ignore"):  # infinite scores are rejected later
        return divide(scores, scores.max(), otherwise=0)


def mmstdv(scores: Floats) -> Floats:
    """Compute ``sd * (s - min) / (max - min)``, which is :func:`minmax` times ``sd``."""
    scaled, exponent = _scaled(scores)
    unscaled: Floats = np.ldexp(minmax(scaled) * _above_lowest(scaled).std(), exponent)
    return unscaled


def uv(scores: Floats) -> Floats:
    """Compute ``s / sd``, which is :func:`zscore` without the shift to mean 0."""
    scaled, _ = _scaled(scores)
    return divide(scaled, _above_lowest(scaled).std(), otherwise=0)


def _scaled(scores: Floats) -> tuple[Floats, int]:
    """Divide scores by a power of 2 to avoid overflow; return the scores and the exponent."""
    exponent = int(np.frexp(np.abs(scores).max())[1])
    return np.ldexp(scores, -exponent), exponent


def _above_lowest(scores: Floats) -> Floats:
    """Return ``s - min``; if scores are close, this makes their standard deviation more exact."""
    above: Floats = scores - scores.min()
    return above


METHODS: dict[str, Callable[[Floats], Floats]] = {
    "minmax": minmax,
    "max": by_max,
    "mmstdv": mmstdv,
    "uv": uv,
    "zscore": zscore,
    "sum": by_sum,
}
"""Normalization formulas by name."""


def normalize_run(run: Run, method: str) -> Run:
    """Return a run with the scores of each topic normalized.

    Raises
    ------
    InputError
        If the method is ``max`` and the highest score of a topic is not above 0, or if a score is
        infinite before or after normalization.
    """
    lists = [run.scores[a:b] for a, b in run.check_finite().bounds.values() if a < b]
    if method == "max":
        _check_positive(run)
    formula = METHODS[method]
    normalized = np.concatenate([np.zeros(0), *map(formula, lists)])
    return run.with_scores(normalized).check_finite()


def _check_positive(run: Run) -> None:
    for topic, (start, end) in run.bounds.items():
        highest = run.scores[start:end].max(initial=-np.inf)
        if start < end and highest <= 0:
            raise InputError.at(
                run.name,
                f"the highest score of topic {topic} is {highest}",
                "max needs a score above 0, so use minmax or zscore",
            )


def combine_scores(lists: list[RankedList], combination: ByScore) -> RankedList:
    """Return the distinct documents of several lists, and their combined scores."""
    index: dict[str, int] = {}
    documents = [index.setdefault(doc, len(index)) for docs, _ in lists for doc in docs]
    scores = np.concatenate([scores for _, scores in lists])
    return list(index), combination(np.array(documents, np.int64), scores, len(index))


def combine_ranks(lists: list[RankedList], combination: ByRank) -> RankedList:
    """Return the distinct documents of several lists, and the points that their ranks give."""
    # Sort by ID, so that the order of the runs does not affect documents with equal points.
    documents = sorted({doc for docs, _ in lists for doc in docs}, reverse=True)
    index = {doc: i for i, doc in enumerate(documents)}
    rankings = [np.array([index[doc] for doc in docs], np.int64) for docs, _ in lists]
    return documents, combination(rankings, len(documents))


def _total(documents: Ints, scores: Floats, n: int) -> Floats:
    return np.bincount(documents, scores, n).astype(float)


def _highest(documents: Ints, scores: Floats, n: int) -> Floats:
    highest = np.full(n, -np.inf)
    np.maximum.at(highest, documents, scores)
    return highest


def _total_times_lists(documents: Ints, scores: Floats, n: int) -> Floats:
    return _total(documents, scores, n) * np.bincount(documents, minlength=n)


def _first(documents: Ints, scores: Floats, n: int) -> Floats:
    first = np.empty(n)
    first[documents[::-1]] = scores[::-1]
    return first


COMBINE: dict[str, ByScore] = {
    "sum": _total,
    "max": _highest,
    "mnz": _total_times_lists,
    "first": _first,
}
"""Functions that combine the scores of a document in several lists.

The arguments are the index of each score's document, the scores in the order of the lists, and the
number of documents."""


RRF_K = 60
"""Constant that reciprocal rank fusion adds to a rank, as in the original paper."""


def _reciprocal_ranks(rankings: Sequence[Ints], n: int) -> Floats:
    points = np.zeros(n)
    for ranking in rankings:
        points[ranking] += 1 / (RRF_K + 1 + np.arange(len(ranking)))
    return points


def _borda_points(rankings: Sequence[Ints], n: int) -> Floats:
    total = np.zeros(n)
    for ranking in rankings:
        # Each document that the list lacks gets the mean of the remaining points.
        points = np.full(n, (n - len(ranking) + 1) / 2)
        points[ranking] = n - np.arange(len(ranking))
        total += points
    return total


def _condorcet_points(rankings: Sequence[Ints], n: int) -> Floats:
    ranks = np.full((n, len(rankings)), n)
    for i, ranking in enumerate(rankings):
        ranks[ranking, i] = np.arange(len(ranking))
    ranks_of = ranks.tolist()
    # Borda points break ties, so one of two documents is always preferred.  Any sort then gives a
    # Condorcet path (Montague and Aslam), which keeps the documents of a cycle together.
    by_borda = np.argsort(-_borda_points(rankings, n), kind="stable").tolist()
    borda_rank = {document: i for i, document in enumerate(by_borda)}

    def preference(a: int, b: int) -> int:
        majority = sum(map(lt, ranks_of[b], ranks_of[a])) - sum(map(lt, ranks_of[a], ranks_of[b]))
        return majority or borda_rank[a] - borda_rank[b]

    points = np.empty(n)
    points[sorted(by_borda, key=cmp_to_key(preference))] = n - np.arange(n)
    return points


BY_RANK: dict[str, ByRank] = {
    "rrf": _reciprocal_ranks,
    "borda": _borda_points,
    "condorcet": _condorcet_points,
}
"""Functions that combine ranks.

The arguments are the ranked documents of each list, and the number of documents in all lists."""
