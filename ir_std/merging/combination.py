"""Combining the lists of a topic into one: by their scores, or by their ranks alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cmp_to_key
from itertools import chain
from operator import lt
from typing import TypeAlias

import numpy as np

from ir_std._arrays import Floats, Ints

RankedList: TypeAlias = tuple[list[str], Floats]
"""Documents and their scores."""
ByScore: TypeAlias = Callable[[Ints, Floats, int], Floats]
ByRank: TypeAlias = Callable[[Sequence[Ints], int], Floats]


def combine_scores(lists: list[RankedList], combination: ByScore) -> RankedList:
    """Return the documents of several lists, each once, and their combined scores."""
    index: dict[str, int] = {}
    documents = np.array(
        [
            index.setdefault(doc, len(index))
            for doc in chain.from_iterable(docs for docs, _ in lists)
        ],
        np.int64,
    )
    scores = np.concatenate([scores for _, scores in lists])
    return list(index), combination(documents, scores, len(index))


def combine_ranks(lists: list[RankedList], combination: ByRank) -> RankedList:
    """Return the documents of several lists, each once, and the points for their ranks."""
    # By id, so that documents with equal points do not depend on the order of the runs.
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
"""How the scores of a document in several lists become one: from the index of each score's
document, the scores in the order of the lists, and the number of documents."""


RRF_K = 60
"""What reciprocal rank fusion adds to a rank, as in its paper."""


def _reciprocal_ranks(rankings: Sequence[Ints], n: int) -> Floats:
    points = np.zeros(n)
    for ranking in rankings:
        points[ranking] += 1 / (RRF_K + 1 + np.arange(len(ranking)))
    return points


def _borda_points(rankings: Sequence[Ints], n: int) -> Floats:
    total = np.zeros(n)
    for ranking in rankings:
        # The documents that the list lacks get the mean of the points that are left.
        points = np.full(n, (n - len(ranking) + 1) / 2)
        points[ranking] = n - np.arange(len(ranking))
        total += points
    return total


def _condorcet_points(rankings: Sequence[Ints], n: int) -> Floats:
    ranks = np.full((n, len(rankings)), n)
    for i, ranking in enumerate(rankings):
        ranks[ranking, i] = np.arange(len(ranking))
    ranks_of = ranks.tolist()
    # Borda points break ties, so that of two documents one is always preferred: any sort then
    # gives a Condorcet path (Montague and Aslam), which keeps the documents of a cycle together.
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
"""The combinations of ranks: from each list's documents in their order, and the number of all."""
