"""Runs and qrels in memory: from Python objects as dicts, from files as arrays.

Both forms answer the same question: which of a run's documents are judged, and how.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import cached_property
from itertools import accumulate, chain, groupby, islice, pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from ir_std.errors import InputError
from ir_std.trec._ids import Collision, Ids, Index, Ints, hashes, keys, may_repeat

Floats = npt.NDArray[np.float64]
Computed = TypeVar("Computed")


class NotARun(InputError):
    """Documents or scores that cannot be ranked."""


class Found(NamedTuple):
    """The judged documents of a run, by topic.

    Attributes
    ----------
    topic : ndarray of int, shape (n_found,)
        Index into the topics of the qrels, ascending.
    score : ndarray of float64, shape (n_found,)
    level : ndarray of int, shape (n_found,)
    ids : list, length n_found
        Document ids, of the same type as :meth:`Run.ids` gives.
    """

    topic: Ints
    score: Floats
    level: Ints
    ids: list[Any]


class Run:
    """A run: for each topic its documents and their scores, in no special order.

    Parameters
    ----------
    scored : mapping of str to mapping of str to float
        Score by topic and document.
    name : str
        What messages call it.

    Attributes
    ----------
    bounds : dict of str to (int, int)
        For each topic where its lines start and end.
    given : object
        What the run was made from, if other providers of measures can read that; else None.

    Raises
    ------
    NotARun
        If a score is not a finite number.
    """

    given: Any = None

    def __init__(self, scored: Mapping[str, Mapping[str, float]], name: str = "run") -> None:
        self._scored = scored
        sizes = list(map(len, scored.values()))
        values = chain.from_iterable(docs.values() for docs in scored.values())
        self._lay_out(list(scored), sizes, as_scores(values, sum(sizes), name), name)

    def _lay_out(self, topics: list[str], sizes: list[int], scores: Floats, name: str) -> None:
        self.name = name
        self.bounds = dict(zip(topics, pairwise(accumulate(sizes, initial=0)), strict=True))
        self.scores = scores
        if not np.isfinite(scores).all():
            line = int(np.flatnonzero(~np.isfinite(scores))[0])
            topic, a = next((t, a) for t, (a, b) in self.bounds.items() if a <= line < b)
            raise NotARun.at(name, None, f"topic {topic}, document "
                             f"{self._documents(topic)[line - a]!r} has score {scores[line]}",
                             "scores must be finite numbers")

    @classmethod
    def from_segments(cls, segments: Iterable[tuple[str, list[str], Iterable[float]]],
                      name: str = "run") -> Run:
        """Join segments of consecutive lines on one topic; a topic may occur in several.

        Raises
        ------
        NotARun
            If a document occurs twice in a topic, or a score is not a finite number.
        """
        scored: dict[str, dict[str, float]] = {}
        for topic, docs, scores in segments:
            known = scored.setdefault(topic, {})
            before = list(known)
            known.update(zip(docs, scores, strict=True))
            if len(known) < len(before) + len(docs):
                twice = Counter([*before, *docs]).most_common(1)[0][0]
                raise NotARun.at(name, None, f"topic {topic} has document {twice!r} twice",
                                 "give each document once")
        return cls(scored, name)

    @property
    def topics(self) -> tuple[str, ...]:
        """The topics of the run."""
        return tuple(self.bounds)

    @property
    def lists(self) -> dict[str, tuple[list[str], Floats]]:
        """For each topic its documents and their scores."""
        return {topic: (self._documents(topic), self.scores[a:b])
                for topic, (a, b) in self.bounds.items()}

    def _documents(self, topic: str) -> list[str]:
        return list(self._scored[topic])

    @cached_property
    def _flat(self) -> list[str]:
        return list(chain.from_iterable(self._scored.values()))

    def ids(self, lines: Ints) -> list[Any]:
        """The document ids at some lines: str, or bytes in UTF-8, which order the same."""
        return [self._flat[i] for i in lines.tolist()]

    def find(self, qrels: Qrels) -> Found:
        """The documents that are judged."""
        ids: list[str] = []
        scores: list[float] = []
        levels: list[int] = []
        sizes = np.zeros(len(qrels.topics), np.int64)
        for t, topic in enumerate(qrels.topics):
            if topic in self.bounds:
                docs, judged = self._scored[topic], qrels.judged[topic]
                both = docs.keys() & judged.keys()
                ids += both
                scores += map(docs.__getitem__, both)
                levels += map(judged.__getitem__, both)
                sizes[t] = len(both)
        return Found(np.repeat(np.arange(len(sizes)), sizes), np.array(scores, float),
                     np.array(levels, np.int64), ids)


def as_scores(values: Iterable[Any], count: int, name: str) -> Floats:
    """``count`` scores as an array.

    Raises
    ------
    NotARun
        If one of them is no number.
    """
    try:
        return np.fromiter(values, float, count)
    except (TypeError, ValueError) as wrong:
        raise NotARun.at(name, None, f"a score is no number ({wrong})",
                         "scores must be finite numbers") from None


class ArrayRun(Run):
    """A run as it comes from a file: the lines of each topic one after the other.

    Parameters
    ----------
    segments : list of (str, int)
        Consecutive lines on one topic: topic and number of lines.
    ids : ndarray of bytes, shape (n_lines,)
        Document ids in UTF-8.
    scores : ndarray of float64, shape (n_lines,)
    name : str

    Raises
    ------
    NotARun
        If a document occurs twice in a topic, or a score is not a finite number.
    """

    def __init__(self, segments: list[tuple[str, int]], ids: Ids, scores: Floats,
                 name: str = "run") -> None:
        topics, sizes, order = grouped(segments)
        self._ids = ids if order is None else ids[order]
        self._lay_out(topics, sizes, scores if order is None else scores[order], name)
        self._hashes = hashes(self._ids)
        if may_repeat(keys(self._hashes, np.repeat(np.arange(len(sizes)), sizes))):
            self._as_lists()

    def _as_lists(self) -> Run:
        """The same run in its other form, which compares ids as they are."""
        return Run.from_segments(((t, *pair) for t, pair in self.lists.items()), self.name)

    def _documents(self, topic: str) -> list[str]:
        a, b = self.bounds[topic]
        return [name.decode() for name in self._ids[a:b].tolist()]

    def ids(self, lines: Ints) -> list[Any]:
        """The document ids at some lines, as bytes."""
        return list(self._ids[lines].tolist())

    def find(self, qrels: Qrels) -> Found:
        """The documents that are judged."""
        row = qrels.positions
        numbers = np.array([row.get(t, len(row)) for t in self.bounds], np.int64)
        topic = np.repeat(numbers, [b - a for a, b in self.bounds.values()])
        try:
            where, place = qrels.index.find(keys(self._hashes, topic), self._ids)
        except Collision:
            return self._as_lists().find(qrels)
        by_topic = np.argsort(topic[where], kind="stable")
        where, place = where[by_topic], place[by_topic]
        return Found(topic[where], self.scores[where], qrels.flat_levels[place],
                     self.ids(where))


def grouped(segments: list[tuple[str, int]]) -> tuple[list[str], list[int], Ints | None]:
    """Bring the lines of each topic together.

    Returns
    -------
    topics : list of str
    sizes : list of int
        Lines of each topic.
    order : ndarray of int or None
        The lines in their new order; None if they are together already.
    """
    sizes: dict[str, int] = {}
    for topic, size in segments:
        sizes[topic] = sizes.get(topic, 0) + size
    topics = list(sizes)
    if [t for t, _ in groupby(t for t, _ in segments)] == topics:
        return topics, list(sizes.values()), None
    number = {topic: i for i, topic in enumerate(topics)}
    lines = np.repeat([number[t] for t, _ in segments], [size for _, size in segments])
    return topics, list(sizes.values()), np.argsort(lines, kind="stable")


class Qrels:
    """Relevance judgments, with the counts and ideal rankings that metrics need.

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
        self.name = name
        self.dataset = dataset
        self._describe(tuple(judged), list(map(len, judged.values())))

    def _describe(self, topics: tuple[str, ...], sizes: list[int]) -> None:
        self.topics = topics
        self.sizes = np.array(sizes, np.int64)
        self._flat_topics = np.repeat(np.arange(len(topics)), self.sizes)
        self._counts: dict[int, Ints] = {}
        self._remembered: dict[Hashable, Any] = {}

    @cached_property
    def judged(self) -> Mapping[str, Mapping[str, int]]:
        """Level by topic and document."""
        raise AttributeError("set by the constructors")

    @cached_property
    def flat_levels(self) -> Ints:
        """Levels of all judged documents, topic after topic."""
        return np.fromiter(chain.from_iterable(d.values() for d in self.judged.values()),
                           np.int64, int(self.sizes.sum()))

    @cached_property
    def index(self) -> Index:
        """Finds judged documents among ids that are arrays of bytes."""
        names = [doc.encode() for docs in self.judged.values() for doc in docs]
        return Index.of(np.array(names, dtype=np.bytes_), self._flat_topics)

    @property
    def first_documents(self) -> tuple[str, ...]:
        """The first judged document of each topic that has one."""
        return tuple(next(iter(docs)) for docs in self.judged.values() if docs)

    @cached_property
    def ideal(self) -> Ranking:
        """The best ranking there can be: all judged documents, highest level first."""
        order = np.lexsort((-self.flat_levels, self._flat_topics))
        first = np.searchsorted(self._flat_topics, self._flat_topics)
        ranks = np.arange(len(first)) - first + 1
        return Ranking(self, self._flat_topics, ranks, self.flat_levels[order], self.sizes)

    @cached_property
    def max_level(self) -> int:
        """The highest level in the qrels, at least 0."""
        return max(0, int(self.flat_levels.max(initial=0)))

    @cached_property
    def positions(self) -> dict[str, int]:
        """The index of each topic in :attr:`topics`."""
        return {topic: i for i, topic in enumerate(self.topics)}

    def count(self, level: int = 1) -> Ints:
        """Number of documents at ``level`` or above, by topic; shape (n_topics,)."""
        if level not in self._counts:
            self._counts[level] = np.bincount(self._flat_topics[self.flat_levels >= level],
                                              minlength=len(self.topics))
        return self._counts[level]

    def relevant(self, topic: str, level: int = 1) -> list[bytes]:
        """The documents of a topic at ``level`` or above, their ids in UTF-8."""
        return [doc.encode(errors="surrogatepass") for doc, at in self.judged[topic].items()
                if at >= level]

    def remembered(self, key: Hashable, compute: Callable[[], Computed]) -> Computed:
        """What ``compute`` gives for these qrels, computed once for each ``key``."""
        if key not in self._remembered:
            self._remembered[key] = compute()
        found: Computed = self._remembered[key]
        return found


class ArrayQrels(Qrels):
    """Qrels as they come from a file.

    Parameters
    ----------
    segments : list of (str, int)
        Consecutive lines on one topic: topic and number of lines.
    ids : ndarray of bytes, shape (n_lines,)
        Document ids in UTF-8.
    levels : ndarray of int, shape (n_lines,)
    name : str

    Raises
    ------
    NotARun
        If a document occurs twice in a topic.
    """

    def __init__(self, segments: list[tuple[str, int]], ids: Ids, levels: Ints,
                 name: str = "qrels") -> None:
        self.name = name
        self.dataset = None
        topics, sizes, order = grouped(segments)
        self._ids = ids if order is None else ids[order]
        self.flat_levels = levels if order is None else levels[order]
        self._describe(tuple(topics), sizes)
        if self.index.repeats and sum(map(len, self.judged.values())) < len(ids):
            raise NotARun.at(name, None, "a document occurs twice in a topic",
                             "judge each document once")

    @cached_property
    def index(self) -> Index:
        """Finds judged documents among ids that are arrays of bytes."""
        return Index.of(self._ids, self._flat_topics)

    @cached_property
    def judged(self) -> Mapping[str, Mapping[str, int]]:
        """Level by topic and document."""
        lines = zip((name.decode() for name in self._ids.tolist()), self.flat_levels.tolist(),
                    strict=True)
        return {topic: dict(islice(lines, size))
                for topic, size in zip(self.topics, self.sizes.tolist(), strict=True)}

    def relevant(self, topic: str, level: int = 1) -> list[bytes]:
        """The documents of a topic at ``level`` or above, their ids in UTF-8."""
        place = self.positions[topic]
        start = int(self.sizes[:place].sum())
        judged = slice(start, start + int(self.sizes[place]))
        return list(self._ids[judged][self.flat_levels[judged] >= level].tolist())

    @property
    def first_documents(self) -> tuple[str, ...]:
        """The first judged document of each topic."""
        starts = np.cumsum(self.sizes) - self.sizes
        return tuple(name.decode() for name in self._ids[starts].tolist())


class Ranking(NamedTuple):
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
