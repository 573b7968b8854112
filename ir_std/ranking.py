"""One run against qrels, as arrays: the ranks and levels of the judged documents.

Only judged documents matter to a metric, so their ranks come from sorting scores, and
document ids are compared only among documents whose scores tie.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, repeat
from typing import Any

import numpy as np
import numpy.typing as npt

from ir_std.errors import InputError

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_UNJUDGED = np.iinfo(np.int64).min


@dataclass(frozen=True)
class Order:
    """How documents are ordered: by score in this precision, ties by document id."""

    precision: type[np.floating[Any]]
    ids_descending: bool


TREC_EVAL = Order(np.float32, True)
"""Scores as 32-bit floats, ties by document id descending: trec_eval and pytrec_eval."""
DOUBLE = Order(np.float64, True)
"""Scores as 64-bit floats, ties by document id descending: gdeval, and the published SP."""
MSMARCO = Order(np.float64, False)
"""Scores as 64-bit floats, ties by document id ascending: ir_measures' RR@k and Judged."""


class NotARun(InputError):
    """Documents or scores that cannot be ranked."""


class Run:
    """A run in memory: for each topic its documents and their scores, in no special order.

    Attributes
    ----------
    lists : dict of str to (list of str, ndarray of float64)
        Documents and scores by topic; a document occurs once in a topic.
    name : str
        What messages call it.
    given : object
        What the run was made from, if other providers of measures can read that; else None.
    """

    given: Any = None

    def __init__(self, lists: dict[str, tuple[list[str], Floats]], name: str = "run") -> None:
        self.lists = lists
        self.name = name

    @classmethod
    def from_segments(cls, segments: Iterable[tuple[str, list[str], Floats]],
                      name: str = "run") -> Run:
        """Join segments of consecutive lines on one topic; a topic may occur in several.

        Raises
        ------
        NotARun
            If a document occurs twice in a topic, or a score is NaN or infinite.
        """
        parts: dict[str, list[tuple[list[str], Floats]]] = {}
        for topic, docs, scores in segments:
            parts.setdefault(topic, []).append((docs, scores))
        run = cls({topic: part[0] if len(part) == 1 else _join(part)
                   for topic, part in parts.items()}, name)
        run._check()
        return run

    def ranked(self, depth: int | None = None) -> Run:
        """This run in trec_eval's order, the first ``depth`` documents of each topic."""
        made = Run({}, self.name)
        for topic, (docs, scores) in self.lists.items():
            order = _ranking(docs, scores, TREC_EVAL)[:depth]
            made.lists[topic] = [docs[i] for i in order], scores[order]
        return made

    def _check(self) -> None:
        for topic, (docs, scores) in self.lists.items():
            if len(set(docs)) != len(docs):
                raise NotARun.at(self.name, None, f"topic {topic} has document "
                                    f"{first_duplicate(docs)!r} twice", "give each document once")
            if not np.isfinite(scores).all():
                i = int(np.flatnonzero(~np.isfinite(scores))[0])
                raise NotARun.at(
                    self.name, None, f"topic {topic}, document {docs[i]!r} has score {scores[i]}",
                    "scores must be finite numbers")


def _join(parts: list[tuple[list[str], Floats]]) -> tuple[list[str], Floats]:
    return (list(chain.from_iterable(docs for docs, _ in parts)),
            np.concatenate([scores for _, scores in parts]))


def _ranking(docs: list[str], scores: Floats, order: Order) -> Ints:
    """Indices of all documents, the first of the ranking first."""
    by_id = np.array(sorted(range(len(docs)), key=docs.__getitem__,
                            reverse=order.ids_descending), np.int64)
    with np.errstate(over="ignore"):
        key = -scores[by_id].astype(order.precision)
    return by_id[np.argsort(key, kind="stable")]


def first_duplicate(docs: Iterable[str]) -> str:
    """The first document id that occurs a second time; there must be one."""
    seen: set[str] = set()
    for doc in docs:
        if doc in seen:
            return doc
        seen.add(doc)
    raise LookupError("no document occurs twice")


class Qrels:
    """Relevance judgments in memory, with the counts and ideal rankings that metrics need.

    Parameters
    ----------
    judged : mapping of str to mapping of str to int
        Level by topic and document.  Negative levels are kept: they are judged, not relevant.
    name : str
        What messages call it.
    dataset : str, optional
        The ir_datasets id the qrels came from.

    Attributes
    ----------
    topics : tuple of str
    given : object
        As for :class:`Run`.
    """

    given: Any = None

    def __init__(self, judged: Mapping[str, Mapping[str, int]], name: str = "qrels",
                 dataset: str | None = None) -> None:
        self.judged = judged
        self.topics = tuple(judged)
        self.name = name
        self.dataset = dataset
        self._counts: dict[int, Ints] = {}
        self._remembered: dict[Hashable, Floats] = {}

    @cached_property
    def levels(self) -> Ints:
        """Levels of all judged documents: by topic, highest first."""
        flat = np.fromiter(chain.from_iterable(d.values() for d in self.judged.values()),
                           np.int64, int(self._sizes.sum()))
        return flat[np.lexsort((-flat, self.level_topics))]

    @cached_property
    def _sizes(self) -> Ints:
        return np.fromiter(map(len, self.judged.values()), np.int64, len(self.judged))

    @cached_property
    def level_topics(self) -> Ints:
        """The index of the topic of each of :attr:`levels`."""
        return np.repeat(np.arange(len(self.topics)), self._sizes)

    @cached_property
    def max_level(self) -> int:
        """The highest level in the qrels, at least 0."""
        return max(0, int(self.levels.max(initial=0)))

    def count(self, level: int = 1) -> Ints:
        """Number of documents at ``level`` or above, by topic; shape (n_topics,)."""
        if level not in self._counts:
            self._counts[level] = np.bincount(
                self.level_topics[self.levels >= level], minlength=len(self.topics))
        return self._counts[level]

    @cached_property
    def ideal(self) -> Ranking:
        """The best ranking there can be: all judged documents, highest level first."""
        ranks = np.arange(len(self.levels)) - np.searchsorted(
            self.level_topics, self.level_topics) + 1
        return Ranking(self, self.level_topics, ranks, self.levels, self._sizes)

    def remembered(self, key: Hashable, compute: Callable[[], Floats]) -> Floats:
        """What ``compute`` gives for these qrels, computed once for each ``key``."""
        if key not in self._remembered:
            self._remembered[key] = compute()
        return self._remembered[key]


@dataclass(frozen=True)
class Ranking:
    """The judged documents of a run: by topic, then by rank.

    Attributes
    ----------
    qrels : Qrels
        Topics are those of the qrels, in their order; a topic without documents scores 0.
    topic, rank, level : ndarray of int, shape (n_judged_retrieved,)
        Index of the topic, rank from 1, judged level.
    n_ret : ndarray of int, shape (n_topics,)
        Number of documents that the run has on each topic.
    """

    qrels: Qrels
    topic: Ints
    rank: Ints
    level: Ints
    n_ret: Ints


def rank(run: Run, qrels: Qrels, order: Order = TREC_EVAL) -> Ranking:
    """Rank the judged documents of ``run``.

    Topics of the run that the qrels do not hold are ignored.
    """
    n_ret = np.zeros(len(qrels.topics), np.int64)
    ranks, levels = [], []
    found = np.zeros(len(qrels.topics), np.int64)
    for t, topic in enumerate(qrels.topics):
        if topic not in run.lists:
            continue
        docs, scores = run.lists[topic]
        n_ret[t] = len(docs)
        level = np.fromiter(map(qrels.judged[topic].get, docs, repeat(_UNJUDGED)), np.int64,
                            len(docs))
        judged = np.flatnonzero(level != _UNJUDGED)
        judged_ranks = _ranks(docs, scores, judged, order)
        by_rank = np.argsort(judged_ranks)
        ranks.append(judged_ranks[by_rank])
        levels.append(level[judged[by_rank]])
        found[t] = len(judged)
    empty = np.zeros(0, np.int64)
    return Ranking(qrels, np.repeat(np.arange(len(found)), found),
                   np.concatenate([empty, *ranks]), np.concatenate([empty, *levels]), n_ret)


def _ranks(docs: list[str], scores: Floats, wanted: Ints, order: Order) -> Ints:
    """Ranks from 1 of the documents at the indices ``wanted``."""
    with np.errstate(over="ignore"):  # beyond 32 bits a score is infinite, as in trec_eval
        key = -scores.astype(order.precision)
    ascending = np.sort(key)
    first = np.searchsorted(ascending, key[wanted], "left")
    last = np.searchsorted(ascending, key[wanted], "right")
    ranks = first + 1
    tied = np.flatnonzero(last - first > 1)
    if tied.size:
        by_score = np.argsort(key, kind="stable")
        for start in np.unique(first[tied]):
            group = tied[first[tied] == start]
            among = sorted((docs[i] for i in by_score[start:last[group[0]]]),
                           reverse=order.ids_descending)
            place = {doc: i for i, doc in enumerate(among)}
            ranks[group] += [place[docs[i]] for i in wanted[group]]
    return ranks
