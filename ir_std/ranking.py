"""The ranks of a run's judged documents.

Only judged documents matter to a metric, so their ranks come from sorting scores, and
document ids are compared only among documents whose scores tie.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ir_std.ids import Ints
from ir_std.runs import Qrels, Ranking, Run

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
    found = run.find(qrels)
    with np.errstate(over="ignore"):  # beyond 32 bits a score is infinite, as in trec_eval
        keys = -run.scores.astype(order.precision)
    ranks = _ranks(run, keys, found.line, order)
    by_rank = np.lexsort((ranks, found.topic))
    sizes = {topic: b - a for topic, (a, b) in run.bounds.items()}
    n_ret = np.array([sizes.get(topic, 0) for topic in qrels.topics], np.int64)
    return Ranking(qrels, found.topic, ranks[by_rank], found.level[by_rank], n_ret)


def _ranks(run: Run, keys: Keys, wanted: Ints, order: Order) -> Ints:
    """Ranks from 1 of the lines ``wanted``, each within its topic; the lowest key is best."""
    by_key = np.empty(len(keys), np.int64)
    start = np.empty(len(keys), np.int64)
    new = np.ones(len(keys), bool)
    for a, b in run.bounds.values():
        by_key[a:b] = np.argsort(keys[a:b]) + a
        start[a:b] = a
    in_order = keys[by_key]
    new[1:] = (in_order[1:] != in_order[:-1]) | (start[1:] != start[:-1])
    place = np.empty(len(keys), np.int64)
    place[by_key] = np.arange(len(keys))
    ranks = place[wanted] - start[wanted] + 1
    groups = np.flatnonzero(new)
    group = np.searchsorted(groups, place[wanted], "right") - 1
    ends = np.append(groups[1:], len(keys))
    tied = np.flatnonzero(ends[group] - groups[group] > 1)
    tied = tied[np.argsort(group[tied], kind="stable")]
    for members in np.split(tied, np.flatnonzero(np.diff(group[tied])) + 1):
        if members.size:
            g = group[members[0]]
            among = sorted(run.ids(by_key[groups[g]:ends[g]]), reverse=order.ids_descending)
            behind = {name: i for i, name in enumerate(among)}
            first = groups[g] - start[wanted[members[0]]] + 1
            ranks[members] = [first + behind[name] for name in run.ids(wanted[members])]
    return ranks
