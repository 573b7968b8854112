"""Normalization of one list's scores, and combination of a topic's lists by scores or ranks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cmp_to_key
from operator import lt
from typing import TypeAlias

import numpy as np

from ir_std._arrays import Floats, Ints, divide
from ir_std.errors import InputError
from ir_std.trec.runs import Run

RankedList: TypeAlias = tuple[list[str], Floats]
"""Documents and their scores."""
ByScore: TypeAlias = Callable[[Ints, Floats, int], Floats]
ByRank: TypeAlias = Callable[[Sequence[Ints], int], Floats]


def minmax(scores: Floats) -> Floats:
    """``(s - min) / (max - min)``: from 0 for the last document to 1 for the first.

    Parameters
    ----------
    scores : ndarray, shape (n,)
        The finite scores of one list, n at least 1; so for all methods.

    Returns
    -------
    ndarray, shape (n,)
        0 throughout a list without spread; so for all methods but :func:`by_max`.
    """
    above = _above_lowest(_scaled(scores)[0])
    return divide(above, above.max(), otherwise=0)


def by_sum(scores: Floats) -> Floats:
    """``(s - min) / sum(s - min)``: the scores of a list add up to 1."""
    position = minmax(scores)
    return divide(position, position.sum(), otherwise=0)


def zscore(scores: Floats) -> Floats:
    """``(s - mean) / sd``: mean 0 and variance 1."""
    position = minmax(scores)
    return divide(position - position.mean(), position.std(), otherwise=0)


def by_max(scores: Floats) -> Floats:
    """``s / max``, for a maximum above 0: :func:`minmax` with 0 as the lowest score."""
    with np.errstate(over="ignore"):  # an infinite score is refused later, like any other
        return divide(scores, scores.max(), otherwise=0)


def mmstdv(scores: Floats) -> Floats:
    """``sd * (s - min) / (max - min)``: :func:`minmax`, more for a list that spreads."""
    scaled, exponent = _scaled(scores)
    unscaled: Floats = np.ldexp(minmax(scaled) * _above_lowest(scaled).std(), exponent)
    return unscaled


def uv(scores: Floats) -> Floats:
    """``s / sd``: unit variance; :func:`zscore` without the shift to mean 0."""
    scaled, _ = _scaled(scores)
    return divide(scaled, _above_lowest(scaled).std(), otherwise=0)


def _scaled(scores: Floats) -> tuple[Floats, int]:
    """Return scores divided by a power of 2, lest differences overflow, and its exponent."""
    exponent = int(np.frexp(np.abs(scores).max())[1])
    return np.ldexp(scores, -exponent), exponent


def _above_lowest(scores: Floats) -> Floats:
    """Return ``s - min``, as deviations of close scores are more exact without their minimum."""
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
"""The formulas by name."""


def normalize_run(run: Run, method: str) -> Run:
    """Return a run with the scores of each topic normalized.

    Raises
    ------
    InputError
        If ``max`` meets a topic whose highest score is not above 0, or a score is or becomes
        infinite.
    """
    lists = run.check_finite().lists
    if method == "max":
        _check_positive(lists, run.name)
    formula = METHODS[method]
    return Run.of_lists(
        (
            (topic, docs, formula(scores) if len(scores) else scores)
            for topic, (docs, scores) in lists.items()
        ),
        run.name,
    ).check_finite()


def _check_positive(lists: Mapping[str, RankedList], run: str) -> None:
    for topic, (_, scores) in lists.items():
        if len(scores) and not scores.max() > 0:
            raise InputError.at(
                run,
                f"the highest score of topic {topic} is {scores.max()}",
                "max needs a score above 0, so use minmax or zscore",
            )


def combine_scores(lists: list[RankedList], combination: ByScore) -> RankedList:
    """Return the documents of several lists, each once, and their combined scores."""
    index: dict[str, int] = {}
    documents = [index.setdefault(doc, len(index)) for docs, _ in lists for doc in docs]
    scores = np.concatenate([scores for _, scores in lists])
    return list(index), combination(np.array(documents, np.int64), scores, len(index))


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
"""Functions that combine the scores of a document in several lists.

Each takes the document's index of each score, the scores in the order of the lists, and the number
of documents."""


RRF_K = 60
"""Constant that reciprocal rank fusion adds to a rank, as in its paper."""


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
