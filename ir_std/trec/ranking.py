"""The ranks of a run's documents.

Only judged documents matter to a metric, so their ranks come from the order of the scores, and
document ids are compared only among documents whose scores tie.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from functools import cached_property, partial
from itertools import accumulate, chain, islice
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ir_std._arrays import Floats, Ints
from ir_std.measures.records import TREC_EVAL, Order, Precision
from ir_std.trec.qrels import Qrels, Ranking
from ir_std.trec.runs import Run

_AT_ONCE = 1 << 18
"""Number of ids of tied documents that are in memory at once."""


class Ranker:
    """Ranks a run's documents in several orders; they are looked up once.

    Topics of the run that the qrels do not hold are ignored.

    Parameters
    ----------
    run : Run
    qrels : Qrels
    judged : bool
        Rank all judged documents, not the relevant ones alone (level 1 or above).
    """

    def __init__(self, run: Run, qrels: Qrels, judged: bool = False) -> None:
        self._run = run
        self._qrels = qrels
        self._numbers = run.numbers(qrels)
        self._hits = run.find(qrels.targets(judged))
        self._spans: dict[Precision, _Spans] = {}

    def rank(self, order: Order) -> Ranking:
        """Return the ranks in one order."""
        spans = self._spans_of(order)
        topic = self._hits.topic[spans.rows]
        sizes = np.append(self._run.sizes, 0)[self._numbers]
        starts = np.append(self._run.starts, 0)[self._numbers]
        sharing = spans.last - spans.first - 1
        ranks = spans.first - starts[topic] + 1
        ranks += spans.place if order.ids_descending else sharing - spans.place
        # A stable sort, which merges what is sorted, is fastest as almost all are in order.
        by_rank = np.argsort(topic * (len(self._run.scores) + 1) + ranks, kind="stable")
        return Ranking(
            self._qrels,
            topic[by_rank],
            ranks[by_rank],
            self._hits.level[spans.rows[by_rank]],
            sizes,
        )

    def _spans_of(self, order: Order) -> _Spans:
        """Find where the hits are in an order, once."""
        precision = order.precision
        if precision is np.float64 and self._ties_are_equal:
            precision = np.float32
        if precision not in self._spans:
            self._spans[precision] = self._find_spans(precision)
        return self._spans[precision]

    @cached_property
    def _ties_are_equal(self) -> bool:
        """True if scores that tie in 32 bits are equal: then 64 bits order them no otherwise."""
        keys, scores = self._keys(np.float32), self._run.scores
        if (rows := self._out_of_order(keys)).size:
            lines = _lines_by_key(keys, rows)
            keys, scores = keys[lines], scores[lines]
        tied = keys[1:] == keys[:-1]
        return bool((scores[1:][tied] == scores[:-1][tied]).all())

    def tied_topics(self, order: Order) -> int:
        """Count the topics on which a document to be ranked has the score of another."""
        spans = self._spans_of(order)
        tied = spans.rows[spans.last - spans.first > 1]
        return int(np.count_nonzero(np.bincount(self._hits.topic[tied])))

    def unsorted_topics(self, order: Order) -> int:
        """Count the topics of the run whose lines are not by descending score."""
        return self._spans_of(order).unsorted

    @cached_property
    def _topic(self) -> Ints:
        """Topic of each line of the run."""
        sizes = self._run.sizes
        return np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)

    def _keys(self, precision: Precision) -> npt.NDArray[Any]:
        return _keys(self._topic, self._run.scores, precision)

    def _out_of_order(self, keys: npt.NDArray[Any]) -> Ints:
        """Return the lines of topics that are not in the order of their keys."""
        falls = keys[1:] < keys[:-1]
        if not falls.any():
            return np.zeros(0, np.int64)
        wrong = np.zeros(len(self._run.bounds), bool)
        wrong[self._topic[1:][falls]] = True
        return np.flatnonzero(wrong[self._topic])

    def _find_spans(self, precision: Precision) -> _Spans:
        keys = self._keys(precision)
        rows = self._out_of_order(keys)
        wanted = _keys(self._numbers[self._hits.topic], self._hits.score, precision)
        by_key = np.argsort(wanted, kind="stable")
        wanted = wanted[by_key]  # which are found faster in order
        ordered = keys
        if rows.size:
            ordered = keys.copy()
            part = keys[rows]
            part.sort()  # in place, as a large run leaves little memory
            ordered[rows] = part
        first = ordered.searchsorted(wanted)
        last, place = first + 1, np.zeros(len(first), np.int64)
        # Few scores are shared: only for those the end is searched.
        tied = np.flatnonzero(ordered.take(last, mode="clip") == wanted)
        if tied.size:
            last[tied] = ordered.searchsorted(wanted[tied], "right")
            place[tied] = _places(
                self._run,
                _lines_by_key(keys, rows),
                first[tied],
                last[tied],
                self._hits.ids(by_key[tied]),
            )
        unsorted = int(np.count_nonzero(np.bincount(self._topic[rows])))
        return _Spans(by_key, first, last, place, unsorted)


def _lines_by_key(keys: npt.NDArray[Any], rows: Ints) -> Ints:
    """Return all lines in the order of their keys, when those at ``rows`` are not."""
    lines = np.arange(len(keys))
    lines[rows] = rows[np.argsort(keys[rows])]
    return lines


class _Spans(NamedTuple):
    """Places of each hit when the run's lines are sorted by topic and score.

    ``rows`` are the hits in this order.  From line ``first`` to before ``last`` all have
    the score of one; ``place`` counts those of them with a higher document id.  The
    run's lines are in another order on ``unsorted`` topics.
    """

    rows: Ints
    first: Ints
    last: Ints
    place: Ints
    unsorted: int


def _keys(topic: Ints, scores: Floats, precision: Precision) -> npt.NDArray[Any]:
    """Return a key for each line, to sort by topic, then by score in a precision, best first."""
    with np.errstate(over="ignore"):  # beyond 32 bits a score is infinite, as in trec_eval
        descending = 0 - scores.astype(precision)  # never -0
    if precision is np.float32:
        bits = descending.view(np.int32)
        bits ^= (bits >> 31) & 0x7FFFFFFF  # negative floats order backwards by their bits
        keys = topic.astype(np.int64)
        keys <<= 32
        keys += bits
        return keys
    pairs = np.empty(len(topic), complex)  # which sort by the real part first
    pairs.real, pairs.imag = topic, descending
    return pairs


def _places(run: Run, by_key: Ints, first: Ints, last: Ints, ids: list[Any]) -> list[int]:
    """Count the documents that each ties with and that have a higher id.

    Document i ties with those at the lines ``by_key[first[i]:last[i]]``; ``first`` ascends.
    """
    begin, at, members = np.unique(first, return_index=True, return_counts=True)
    sizes = last[at] - begin
    before = np.cumsum(sizes) - sizes
    shift = np.repeat(begin - before, sizes)
    all_ids = chain.from_iterable(
        run.ids(by_key[shift[a : a + _AT_ONCE] + np.arange(a, min(a + _AT_ONCE, len(shift)))])
        for a in range(0, len(shift), _AT_ONCE)
    )
    wanted, places = iter(ids), list[int]()
    for size, count in zip(sizes.tolist(), members.tolist(), strict=True):
        here = list(islice(wanted, count))
        # Count how many of these have a lower id than each that ties.
        lower = Counter(map(partial(bisect_left, sorted(here)), islice(all_ids, size)))
        higher = accumulate(lower[n] for n in range(count, 0, -1))
        place = dict(zip(sorted(here, reverse=True), higher, strict=True))
        places += map(place.__getitem__, here)
    return places


def with_whole_scores(run: Run) -> Run:
    """Return a run whose scores are whole numbers in the order of its own.

    Ties stay ties, and 32-bit floats tell apart what 64-bit ones did.
    """
    places = [np.unique(run.scores[a:b], return_inverse=True)[1] for a, b in run.bounds.values()]
    return run.with_scores(np.concatenate([*places, np.zeros(0)]))


def sort_run(run: Run, depth: int | None = None, order: Order = TREC_EVAL) -> Run:
    """Return a run whose documents are in order, the first ``depth`` of each topic."""
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
