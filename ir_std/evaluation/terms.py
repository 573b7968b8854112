"""What single documents add to a value: the terms of the measures that are sums over documents.

Each function takes a ranking and the measure's parameters, and returns documents and their terms,
shape (n_documents,).  By topic the terms sum to a measure up to a factor of the topic alone, such
as 1/R or that of the ideal ranking: :mod:`ir_std.evaluation.metrics` has that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ir_std._arrays import Floats, Ints, divide
from ir_std.trec.qrels import Ranking

Terms = tuple[Ranking, Floats]
"""Documents, and what each adds."""


def sum_by_topic(r: Ranking, terms: npt.ArrayLike | None = None) -> Floats:
    """The sum of the terms of each topic, shape (n_topics,); without terms the documents."""
    return np.bincount(r.topic, terms, len(r.qrels.topics)).astype(float)


def positions(topic: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """1, 2, 3, ... within each topic; topics ascend."""
    sizes = np.bincount(topic)
    starts = np.cumsum(sizes) - sizes
    return np.arange(1, len(topic) + 1) - starts[topic]


def relevant_found(r: Ranking, rel: int = 1, cutoff: int | None = None) -> Terms:
    """1 for each relevant document: of precision and recall."""
    relevant = r.relevant(rel, cutoff)
    return relevant, np.ones(len(relevant.rank))


def relevant_above_r(r: Ranking, rel: int = 1) -> Terms:
    """1 for each relevant document in the first R: of R-precision."""
    relevant = r.relevant(rel)
    within = relevant[relevant.rank <= r.qrels.count(rel)[relevant.topic]]
    return within, np.ones(len(within.rank))


def precisions_at_relevant(r: Ranking, rel: int = 1, cutoff: int | None = None) -> Terms:
    """The precision at the rank of each relevant document: of average precision."""
    relevant = r.relevant(rel, cutoff)
    return relevant, positions(relevant.topic) / relevant.rank


def first_relevant(r: Ranking, rel: int = 1, cutoff: int | None = None) -> Terms:
    """1 / rank of the first relevant document alone: of the reciprocal rank."""
    relevant = r.relevant(rel, cutoff)
    first = relevant[np.diff(relevant.topic, prepend=-1) > 0]
    return first, 1 / first.rank


def judged_found(r: Ranking, cutoff: int | None = None) -> Terms:
    """1 for each judged document: of the share that is judged."""
    judged = r if cutoff is None else r[r.rank <= cutoff]
    return judged, np.ones(len(judged.rank))


def preferences(r: Ranking, rel: int = 1) -> Terms:
    """For each relevant document, how few judged ones that are not stand above it: of Bpref."""
    is_relevant = r.level >= rel
    nonrelevant = (r.level >= 0) & ~is_relevant
    above = np.cumsum(nonrelevant)
    starts = np.searchsorted(r.topic, r.topic)
    above = above - above[starts] + nonrelevant[starts]
    relevant, count = r[is_relevant], r.qrels.count(rel)
    least = np.minimum(count, r.qrels.count(0) - count)[relevant.topic]
    wrong = np.minimum(above[is_relevant], count[relevant.topic])
    return relevant, 1 - divide(wrong, least, otherwise=0)


def persisting_gains(
    r: Ranking, p: float = 0.8, rel: int | None = None, cutoff: int | None = None, highest: int = 1
) -> Terms:
    """``(1-p) * g_i * p**(i-1)`` of each relevant document: of rank-biased precision."""
    relevant = r.relevant(1 if rel is None else rel, cutoff)
    gain = relevant.level / max(r.qrels.max_level, highest) if rel is None else 1.0
    return relevant, (1 - p) * gain * persistence(p, relevant.rank)


def persistence(p: float, rank: Ints) -> Floats:
    """``p**(rank-1)``, multiplied up: np.power's last digit depends on the processor."""
    factors = np.full(int(rank.max(initial=1)), float(p))
    factors[0] = 1.0
    weights: Floats = np.multiply.accumulate(factors)[rank - 1]
    return weights


_DISCOUNTS: dict[str, Callable[[Any], Floats]] = {
    "log2": lambda rank: 1 / np.log2(rank + 1),
    "exp-log2": lambda rank: 1 / np.log2(rank + 1),
    "jk": lambda rank: 1 / np.log2(np.maximum(rank, 2)),
}


def _gains(dcg: str, rel: int | None) -> Callable[[Any], Floats]:
    if rel is not None:
        return lambda level: (level >= rel).astype(float)
    if dcg == "exp-log2":
        return lambda level: np.exp2(level) - 1
    return lambda level: level.astype(float)


def discounted_gains(
    r: Ranking, dcg: str = "log2", rel: int | None = None, cutoff: int | None = None
) -> Terms:
    """Gain times discount of each relevant document: of DCG, as it says."""
    relevant = r.relevant(1 if rel is None else rel, cutoff)
    return relevant, _gains(dcg, rel)(relevant.level) * _DISCOUNTS[dcg](relevant.rank)


def gdeval_reciprocals(r: Ranking, cutoff: int | None = None) -> Terms:
    """Of expected reciprocal rank, with probabilities ``(2**level - 1) / 16``, as gdeval's."""
    relevant = r.relevant(1, cutoff)
    return relevant, _expected_reciprocals(relevant, (np.exp2(relevant.level) - 1) / 16)


def ntcir_reciprocals(r: Ranking, cutoff: int | None = None, highest: int = 1) -> Terms:
    """Of expected reciprocal rank, with probabilities level / (highest level + 1)."""
    relevant = r.relevant(1, cutoff)
    return relevant, _expected_reciprocals(
        relevant, relevant.level / (max(r.qrels.max_level, highest) + 1)
    )


def _expected_reciprocals(relevant: Ranking, stops: Floats) -> Floats:
    """1 / rank times the probability that a user stops there, given each document's own."""
    undecided = [1.0] * len(relevant.qrels.topics)
    terms = []
    for t, rank, stop in zip(
        relevant.topic.tolist(), relevant.rank.tolist(), stops.tolist(), strict=True
    ):
        terms.append(undecided[t] * stop / rank)
        undecided[t] *= 1 - stop
    return np.array(terms, float)


def blended_ratios(r: Ranking, beta: float = 1.0, cutoff: int | None = None) -> Terms:
    """(count + beta * gain) / (rank + beta * ideal gain) at each relevant document: of Q."""
    relevant, ideal, count = r.relevant(1, cutoff), r.qrels.ideal, r.qrels.count(1)
    at = (np.cumsum(count) - count)[relevant.topic] - 1
    ideal_gain = _running_sum(ideal)[at + np.minimum(relevant.rank, count[relevant.topic])]
    return relevant, (positions(relevant.topic) + beta * _running_sum(relevant)) / (
        relevant.rank + beta * ideal_gain
    )


def _running_sum(r: Ranking) -> npt.NDArray[np.int64]:
    """The sum of the levels up to each document, within its topic; topics ascend."""
    total = np.append(0, np.cumsum(r.level))
    within: npt.NDArray[np.int64] = total[1:] - total[np.searchsorted(r.topic, r.topic)]
    return within
