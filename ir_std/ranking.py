"""The ranks of a run's documents.

Only judged documents matter to a metric, so their ranks come from sorting scores, and
document ids are compared only among documents whose scores tie.
"""

from __future__ import annotations

from itertools import islice, pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ir_std.ids import Ints
from ir_std.runs import Floats, Found, Qrels, Ranking, Run

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


def rank(run: Run, qrels: Qrels, order: Order = TREC_EVAL, found: Found | None = None) -> Ranking:
    """Rank the judged documents of ``run``.

    Topics of the run that the qrels do not hold are ignored.  ``found`` is ``run.find(qrels)``,
    for those who rank in several orders.
    """
    found = run.find(qrels) if found is None else found
    ranks = _ranks(run, qrels, found, order)
    by_rank = np.lexsort((ranks, found.topic))
    sizes = {topic: b - a for topic, (a, b) in run.bounds.items()}
    n_ret = np.array([sizes.get(topic, 0) for topic in qrels.topics], np.int64)
    return Ranking(qrels, found.topic, ranks[by_rank], found.level[by_rank], n_ret)


def _keys(scores: npt.NDArray[np.float64], order: Order) -> Keys:
    """Scores in the order's precision, best lowest."""
    with np.errstate(over="ignore"):  # beyond 32 bits a score is infinite, as in trec_eval
        keys: Keys = -scores.astype(order.precision)
    return keys


def _ranks(run: Run, qrels: Qrels, found: Found, order: Order) -> Ints:
    """Ranks from 1 of the documents found."""
    keys, wanted = _keys(run.scores, order), _keys(found.score, order)
    start = np.zeros(len(wanted), np.int64)  # the first line of the topic
    first = np.zeros(len(wanted), np.int64)  # after sorting, the first line with this score
    last = np.zeros(len(wanted), np.int64)  # and the line after the last
    topics = np.searchsorted(found.topic, np.arange(len(qrels.topics) + 1)).tolist()
    for topic, (i, j) in zip(qrels.topics, pairwise(topics), strict=True):
        if i < j:
            a, b = run.bounds[topic]
            ascending = np.sort(keys[a:b])
            start[i:j] = a
            first[i:j] = ascending.searchsorted(wanted[i:j], "left") + a
            last[i:j] = ascending.searchsorted(wanted[i:j], "right") + a
    ranks = first - start + 1
    tied = np.flatnonzero(last - first > 1)
    tied = tied[np.argsort(first[tied], kind="stable")]
    if tied.size:
        by_key = np.zeros(len(keys), np.int64)
        for t in np.unique(found.topic[tied]).tolist():
            a, b = run.bounds[qrels.topics[t]]
            by_key[a:b] = np.argsort(keys[a:b]) + a
        ids = [found.ids[i] for i in tied.tolist()]
        ranks[tied] += _places(run, by_key, first[tied], last[tied], ids, order)
    return ranks


def _places(run: Run, by_key: Ints, first: Ints, last: Ints, ids: list[Any],
            order: Order) -> list[int]:
    """Places from 0, by document id, of documents among those they tie with.

    Document i ties with those at the lines ``by_key[first[i]:last[i]]``; ``first`` ascends.
    """
    begin, at, members = np.unique(first, return_index=True, return_counts=True)
    sizes = last[at] - begin
    before = np.cumsum(sizes) - sizes
    lines = by_key[np.repeat(begin - before, sizes) + np.arange(sizes.sum())]
    all_ids, wanted = iter(run.ids(lines)), iter(ids)
    places: list[int] = []
    for size, count in zip(sizes.tolist(), members.tolist(), strict=True):
        among = sorted(islice(all_ids, size), reverse=order.ids_descending)
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
    first = by_id[np.argsort(_keys(scores[by_id], order), kind="stable")][:depth]
    return [docs[i] for i in first.tolist()], scores[first]
