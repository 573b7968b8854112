"""Rank the documents of a run.

Metrics need only the ranks of judged documents.  These ranks come from the order of the scores, and
document IDs are compared only if scores tie.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from functools import cached_property, partial
from itertools import accumulate, chain, islice
from typing import Any, NamedTuple

import numpy as np

from ir_std._arrays import Array, Floats, Ints
from ir_std.measures.records import TREC_EVAL, Order, Precision
from ir_std.trec.qrels import Qrels, Ranking
from ir_std.trec.runs import Run

_AT_ONCE = 1 << 18
"""Number of tied documents whose IDs are in memory at once."""


class Ranker:
    """Rank a run's documents in several orders, but look the documents up only once.

    Topics of the run that are not in the qrels are ignored.

    Parameters
    ----------
    run : Run
    qrels : Qrels
    judged : bool
        True to rank all judged documents instead of only the relevant ones (level 1 or above).
    """

    def __init__(self, run: Run, qrels: Qrels, judged: bool = False) -> None:
        self._run = run
        self._qrels = qrels
        self._numbers = run.numbers(qrels)
        self._hits = run.find(qrels.targets(judged))
        self._topic: Array = np.repeat(np.arange(len(run.sizes), dtype=np.int32), run.sizes)
        self._spans: dict[Precision, _Spans] = {}

    def rank(self, order: Order) -> Ranking:
        """Return the ranks that the documents have in the given order."""
        spans = self._spans_of(order)
        topic = self._hits.topic[spans.rows]
        sizes = np.append(self._run.sizes, 0)[self._numbers]
        starts = np.append(self._run.starts, 0)[self._numbers]
        sharing = spans.last - spans.first - 1
        ranks = spans.first - starts[topic] + 1
        ranks += spans.place if order.ids_descending else sharing - spans.place
        # A stable sort merges sorted parts, so it is fastest if almost all ranks are in order.
        by_rank = np.argsort(topic * (len(self._run.scores) + 1) + ranks, kind="stable")
        return Ranking(
            self._qrels,
            topic[by_rank],
            ranks[by_rank],
            self._hits.level[spans.rows[by_rank]],
            sizes,
        )

    def _spans_of(self, order: Order) -> _Spans:
        """Return the positions that the hits have in the given order; compute them only once."""
        precision = order.precision
        if precision is np.float64 and self._ties_are_equal:
            precision = np.float32
        if precision not in self._spans:
            self._spans[precision] = self._find_spans(precision)
        return self._spans[precision]

    @cached_property
    def _ties_are_equal(self) -> bool:
        """True if scores that tie as 32-bit floats also tie as 64-bit floats."""
        keys = _keys(self._topic, self._run.scores, np.float32)
        # A stable sort is fastest, because almost all lines are in order.
        lines = np.argsort(keys, kind="stable")
        keys, scores = keys[lines], self._run.scores[lines]
        tied = keys[1:] == keys[:-1]
        return bool((scores[1:][tied] == scores[:-1][tied]).all())

    def tied_topics(self, order: Order) -> int:
        """Count the topics on which a ranked document ties with another document."""
        spans = self._spans_of(order)
        tied = spans.rows[spans.last - spans.first > 1]
        return int(np.count_nonzero(np.bincount(self._hits.topic[tied])))

    def unsorted_topics(self, order: Order) -> int:
        """Count the run's topics for which the lines are not sorted by descending score."""
        return self._spans_of(order).unsorted

    def _find_spans(self, precision: Precision) -> _Spans:
        keys = _keys(self._topic, self._run.scores, precision)
        falls = np.flatnonzero(keys[1:] < keys[:-1])
        ordered = np.sort(keys, kind="stable") if falls.size else keys
        wanted = _keys(self._numbers[self._hits.topic], self._hits.score, precision)
        by_key = np.argsort(wanted, kind="stable")
        wanted = wanted[by_key]  # sorted keys are found faster
        first = ordered.searchsorted(wanted)
        last, place = first + 1, np.zeros(len(first), np.int64)
        # Few documents share a score, so find the end of the tied lines only for these documents.
        tied = np.flatnonzero(ordered.take(last, mode="clip") == wanted)
        if tied.size:
            last[tied] = ordered.searchsorted(wanted[tied], "right")
            lines = np.argsort(keys, kind="stable")
            ids = self._hits.ids[by_key[tied]].bytes()
            place[tied] = _places(self._run, lines, first[tied], last[tied], ids)
        unsorted = int(np.count_nonzero(np.bincount(self._topic[falls])))
        return _Spans(by_key, first, last, place, unsorted)


class _Spans(NamedTuple):
    """Positions of the hits among the run's lines, sorted by topic and score.

    Attributes
    ----------
    rows : ndarray of int
        Indices of the hits in sorted order; the next three arrays are in this order.
    first, last : ndarray of int
        Lines ``first`` to ``last - 1`` have the hit's score.
    place : ndarray of int
        Number of these lines with a higher document ID.
    unsorted : int
        Number of topics for which the run's lines are not sorted by score.
    """

    rows: Ints
    first: Ints
    last: Ints
    place: Ints
    unsorted: int


def _keys(topic: Array, scores: Floats, precision: Precision) -> Array:
    """Return a key for each line; sorting by key puts topics in order, and best scores first."""
    with np.errstate(over="ignore"):  # scores beyond 32 bits are infinite, as in trec_eval
        descending = 0 - scores.astype(precision)  # the result is never -0
    if precision is np.float32:
        bits = descending.view(np.int32)
        bits ^= (bits >> 31) & 0x7FFFFFFF  # the bits of negative floats sort backwards
        keys = topic.astype(np.int64)
        keys <<= 32
        keys += bits
        return keys
    pairs = np.empty(len(topic), complex)  # complex numbers sort by the real part first
    pairs.real, pairs.imag = topic, descending
    return pairs


def _places(run: Run, by_key: Ints, first: Ints, last: Ints, ids: list[Any]) -> list[int]:
    """Count, for each document, the tied documents with a higher ID.

    Document i ties with the documents at the lines ``by_key[first[i]:last[i]]``; ``first`` is
    ascending.
    """
    begin, where, members = np.unique(first, return_index=True, return_counts=True)
    sizes = last[where] - begin
    before = np.cumsum(sizes) - sizes
    shift = np.repeat(begin - before, sizes)
    all_ids = chain.from_iterable(
        run.ids(by_key[shift[a : a + _AT_ONCE] + np.arange(a, min(a + _AT_ONCE, len(shift)))])
        for a in range(0, len(shift), _AT_ONCE)
    )
    wanted, places = iter(ids), list[int]()
    for size, count in zip(sizes.tolist(), members.tolist(), strict=True):
        group = list(islice(wanted, count))
        # For each tied document, count the IDs in ``group`` that are lower.
        lower = Counter(map(partial(bisect_left, sorted(group)), islice(all_ids, size)))
        higher = accumulate(lower[n] for n in range(count, 0, -1))
        place = dict(zip(sorted(group, reverse=True), higher, strict=True))
        places += map(place.__getitem__, group)
    return places


def with_whole_scores(run: Run) -> Run:
    """Return a run with whole-number scores that order documents in the same way.

    Ties stay ties, and scores that differ as 64-bit floats now also differ as 32-bit floats.
    """
    places = [np.unique(run.scores[a:b], return_inverse=True)[1] for a, b in run.bounds.values()]
    return run.with_scores(np.concatenate([*places, np.zeros(0)]))


def sort_run(run: Run, depth: int | None = None, order: Order = TREC_EVAL) -> Run:
    """Return a run with the first ``depth`` documents of each topic, sorted."""
    return Run.of_lists(
        (
            (topic, *order_documents(docs, scores, depth, order))
            for topic, (docs, scores) in run.lists.items()
        ),
        run.name,
    )


def order_documents(
    docs: list[str], scores: Floats, depth: int | None = None, order: Order = TREC_EVAL
) -> tuple[list[str], Floats]:
    """Return the first ``depth`` documents of a topic, best first, and their scores."""
    by_id = np.array(
        sorted(range(len(docs)), key=docs.__getitem__, reverse=order.ids_descending), np.int64
    )
    keys = _keys(np.zeros(len(docs), np.int64), scores[by_id], order.precision)
    first = by_id[np.argsort(keys, kind="stable")][:depth]
    return [docs[i] for i in first.tolist()], scores[first]
