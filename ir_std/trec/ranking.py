"""The ranks of a run's documents.

Only judged documents matter to a metric, so their ranks come from sorting scores, and
document ids are compared only among documents whose scores tie.
"""

from __future__ import annotations

from itertools import islice, pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ir_std.trec._ids import Ints
from ir_std.trec.runs import Floats, Found, Qrels, Ranking, Run

Keys = npt.NDArray[np.floating[Any]]


class Order(NamedTuple):
    """How documents are ordered: by score in this precision, ties by document id."""

    precision: type[np.floating[Any]]
    ids_descending: bool


TREC_EVAL = Order(np.float32, True)
"""Scores as 32-bit floats, ties by document id descending: trec_eval and pytrec_eval."""
DOUBLE = Order(np.float64, True)
"""Scores as 64-bit floats, ties by document id descending: gdeval, and the published SP."""
MSMARCO = Order(np.float64, False)
"""Scores as 64-bit floats, ties by document id ascending: ir_measures' RR@k and Judged."""


def rank(run: Run, qrels: Qrels, order: Order = TREC_EVAL) -> Ranking:
    """Rank the judged documents of ``run``.

    Topics of the run that the qrels do not hold are ignored.
    """
    return Ranker(run, qrels).rank(order)


class Ranker:
    """Ranks the judged documents of a run in several orders; they are looked up once."""

    def __init__(self, run: Run, qrels: Qrels) -> None:
        self._run = run
        self._qrels = qrels
        self._found = run.find(qrels)
        self._spans: dict[type[np.floating[Any]], _Spans] = {}

    def rank(self, order: Order) -> Ranking:
        """The ranks in one order."""
        if order.precision not in self._spans:
            self._spans[order.precision] = _spans(self._run, self._qrels, self._found,
                                                  order.precision)
        spans, topic = self._spans[order.precision], self._found.topic
        ranks = spans.first - spans.start + 1
        sharing = spans.last - spans.first - 1
        ranks += spans.place if order.ids_descending else sharing - spans.place
        by_rank = np.argsort(topic * (len(self._run.scores) + 1) + ranks)
        sizes = {name: b - a for name, (a, b) in self._run.bounds.items()}
        n_ret = np.array([sizes.get(name, 0) for name in self._qrels.topics], np.int64)
        return Ranking(self._qrels, topic, ranks[by_rank], self._found.level[by_rank], n_ret)


def _keys(scores: Floats, precision: type[np.floating[Any]]) -> Keys:
    """Scores in a precision, best lowest."""
    with np.errstate(over="ignore"):  # beyond 32 bits a score is infinite, as in trec_eval
        keys: Keys = -scores.astype(precision)
    return keys


class _Spans(NamedTuple):
    """Where each document found stands when its topic's lines are sorted by score.

    From line ``first`` to before ``last`` of the sorted run all have its score; its topic starts
    at line ``start``.  ``place`` counts those of them with a higher document id.
    """

    start: Ints
    first: Ints
    last: Ints
    place: Ints


def _spans(run: Run, qrels: Qrels, found: Found, precision: type[np.floating[Any]]) -> _Spans:
    keys, wanted = _keys(run.scores, precision), _keys(found.score, precision)
    start, first, last, place = np.zeros((4, len(wanted)), np.int64)
    topics = np.searchsorted(found.topic, np.arange(len(qrels.topics) + 1)).tolist()
    for topic, (i, j) in zip(qrels.topics, pairwise(topics), strict=True):
        if i < j:
            a, b = run.bounds[topic]
            ascending = np.sort(keys[a:b])
            at = ascending.searchsorted(wanted[i:j])
            start[i:j], first[i:j], last[i:j] = a, at + a, at + a + 1
            # Few scores are shared: only for those the end is searched.
            shared = np.flatnonzero(ascending.take(at + 1, mode="clip") == wanted[i:j])
            last[i + shared] = ascending.searchsorted(wanted[i + shared], "right") + a
    tied = np.flatnonzero(last - first > 1)
    if tied.size:
        by_key = np.zeros(len(keys), np.int64)
        for t in dict.fromkeys(found.topic[tied].tolist()):
            a, b = run.bounds[qrels.topics[t]]
            by_key[a:b] = np.argsort(keys[a:b]) + a
        tied = tied[np.argsort(first[tied], kind="stable")]
        place[tied] = _places(run, by_key, first[tied], last[tied],
                              [found.ids[i] for i in tied.tolist()])
    return _Spans(start, first, last, place)


def _places(run: Run, by_key: Ints, first: Ints, last: Ints, ids: list[Any]) -> list[int]:
    """How many of the documents that each ties with have a higher id.

    Document i ties with those at the lines ``by_key[first[i]:last[i]]``; ``first`` ascends.
    """
    # Not np.unique, which imports numpy.ma: a tenth of the command line's time.
    at = np.concatenate([[0], np.flatnonzero(np.diff(first)) + 1])
    members = np.diff(at, append=len(first))
    begin, sizes = first[at], last[at] - first[at]
    before = np.cumsum(sizes) - sizes
    lines = by_key[np.repeat(begin - before, sizes) + np.arange(sizes.sum())]
    all_ids, wanted = iter(run.ids(lines)), iter(ids)
    places: list[int] = []
    for size, count in zip(sizes.tolist(), members.tolist(), strict=True):
        among = sorted(islice(all_ids, size), reverse=True)
        place = dict(zip(among, range(size), strict=True))
        places += map(place.__getitem__, islice(wanted, count))
    return places


def ranked(run: Run, depth: int | None = None, order: Order = TREC_EVAL) -> Run:
    """A run whose documents are in order, of each topic the first ``depth``."""
    return Run.from_segments(((topic, *_ranked(docs, scores, depth, order))
                              for topic, (docs, scores) in run.lists.items()), run.name)


def _ranked(docs: list[str], scores: Floats, depth: int | None,
            order: Order) -> tuple[list[str], Floats]:
    by_id = np.array(sorted(range(len(docs)), key=docs.__getitem__,
                            reverse=order.ids_descending), np.int64)
    first = by_id[np.argsort(_keys(scores[by_id], order.precision), kind="stable")][:depth]
    return [docs[i] for i in first.tolist()], scores[first]
