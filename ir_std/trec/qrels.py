"""Hold judgments in memory: one array of document IDs, and one of levels, for all topics."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import Any, TypeVar

import numpy as np

from ir_std._arrays import Ints, Keys, Mask
from ir_std.errors import InputError
from ir_std.reading import Ids, Index, first_repeated

Computed = TypeVar("Computed")


class Cached:
    """Base class of objects that compute each result only once and then store the result."""

    def __init__(self) -> None:
        self._cache: dict[Hashable, Any] = {}

    def cached(self, key: Hashable, compute: Callable[[], Computed]) -> Computed:
        """Return the result of ``compute``, which is called only once for each ``key``."""
        if key not in self._cache:
            self._cache[key] = compute()
        value: Computed = self._cache[key]
        return value


class Qrels(Cached):
    """Relevance judgments, with the counts and ideal rankings that metrics need.

    Parameters
    ----------
    topics : sequence of str
        IDs of the topics.
    topic : ndarray of int, shape (n_judged,)
        Index into the topics for each judged document.
    ids : Ids, of length n_judged
        IDs of the judged documents.
    levels : ndarray of int, shape (n_judged,)
        Relevance levels.  A negative level means judged, but not relevant.
    name : str
        Name in messages.

    Attributes
    ----------
    topics : tuple of str
    sizes : ndarray of int, shape (n_topics,)
        Number of judged documents of each topic.
    topic, flat_levels, hashes : ndarray, shape (n_judged,)
        Index of the topic (ascending), level, and 64-bit hash of the ID for each judged document.
    dataset : str or None
        ID of the ir_datasets dataset that the qrels came from.
    given : object
        Original input, if other providers of measures can read it; otherwise None.

    Raises
    ------
    RepeatedDocument
        If a document occurs twice in a topic.
    """

    def __init__(
        self, topics: Sequence[str], topic: Ints, ids: Ids, levels: Ints, name: str = "qrels"
    ) -> None:
        super().__init__()
        self.name = name
        self.dataset: str | None = None
        self.given: Any = None
        order = group_by_topic(topic)
        self.topics = tuple(topics)
        self.topic = topic[order].astype(np.int64)
        self.sizes = np.bincount(self.topic, minlength=len(self.topics))
        self.flat_levels = levels[order]
        self._ids = ids[order]
        self.hashes: Keys = self._ids.hashes()
        if first_repeated(self._ids, self.hashes, self.topic):
            raise RepeatedDocument.at(
                name, "a document occurs twice in a topic", "judge each document once"
            )

    @cached_property
    def judged(self) -> Mapping[str, Mapping[str, int]]:
        """Relevance level by topic and document."""
        lines = zip(self._ids.strings(), self.flat_levels.tolist(), strict=True)
        return {
            topic: dict(islice(lines, size))
            for topic, size in zip(self.topics, self.sizes.tolist(), strict=True)
        }

    def ids(self, rows: Ints) -> Ids:
        """Return the IDs of the judged documents at the given positions."""
        return self._ids[rows]

    def targets(self, judged: bool) -> Targets:
        """Return the documents to find in runs: all judged documents, or the relevant ones."""
        return self.cached(("targets", judged), lambda: Targets(self, judged))

    @property
    def first_documents(self) -> tuple[str, ...]:
        """First judged document of each topic with judgments."""
        return tuple(self._ids[np.flatnonzero(np.diff(self.topic, prepend=-1))].strings())

    @cached_property
    def max_level(self) -> int:
        """Highest level in the qrels, at least 0."""
        return max(0, int(self.flat_levels.max(initial=0)))

    @cached_property
    def levels(self) -> tuple[int, ...]:
        """Relevance levels of at least 1 in the qrels, in ascending order."""
        return tuple(level for level in self.all_levels if level > 0)

    @cached_property
    def all_levels(self) -> tuple[int, ...]:
        """Relevance levels in the qrels, in ascending order."""
        # Without return_counts, np.unique takes longer and imports numpy.ma.
        levels, _ = np.unique(self.flat_levels, return_counts=True)
        return tuple(levels.tolist())

    @cached_property
    def positions(self) -> dict[str, int]:
        """Index of each topic in :attr:`topics`."""
        return {topic: i for i, topic in enumerate(self.topics)}

    @cached_property
    def ideal(self) -> Ranking:
        """Ideal ranking of the relevant documents, highest level first."""
        rows = np.flatnonzero(self.flat_levels > 0)
        topic, levels, sizes = self.topic[rows], self.flat_levels[rows], self.count(1)
        order = np.lexsort((-levels, topic))
        ranks = np.arange(1, len(order) + 1) - (np.cumsum(sizes) - sizes)[topic]
        return Ranking(self, topic, ranks, levels[order], sizes)

    def count(self, level: int = 1) -> Ints:
        """Count the documents at ``level`` or above per topic, shape (n_topics,)."""
        return self.cached(
            ("count", level),
            lambda: np.bincount(self.topic[self.flat_levels >= level], minlength=len(self.topics)),
        )


class RepeatedDocument(InputError):
    """Error for a document that is judged twice in a topic."""


def group_by_topic(topic: Ints) -> Ints | slice:
    """Return indices that sort the lines by topic."""
    if (topic[1:] >= topic[:-1]).all():
        return slice(None)
    return np.argsort(topic, kind="stable")


class Targets:
    """Documents to find in runs: all judged documents, or only the relevant ones.

    Attributes
    ----------
    qrels : Qrels
    level : ndarray of int, shape (n_documents,)
        Relevance level of each document.
    topic : ndarray of int, shape (n_documents,)
        Index of each document's topic, ascending.
    index : Index
        Index that finds the documents in runs.
    """

    def __init__(self, qrels: Qrels, judged: bool) -> None:
        rows = np.flatnonzero(qrels.flat_levels >= (-np.inf if judged else 1))
        self.qrels = qrels
        self.topic = qrels.topic[rows]
        self.level = qrels.flat_levels[rows]
        self.index = Index.of(qrels.hashes[rows], self.topic, qrels.ids(rows))

    @cached_property
    def documents(self) -> list[list[str]]:
        """IDs of the documents of each topic."""
        names = iter(self.index.ids.strings())
        sizes = np.bincount(self.topic, minlength=len(self.qrels.topics))
        return [list(islice(names, size)) for size in sizes.tolist()]


class Ranking(Cached):
    """Judged documents of a run, sorted by topic and rank.

    Attributes
    ----------
    qrels : Qrels
        Qrels that define the topics and their order; a topic without documents scores 0.
    topic : ndarray of int, shape (n_hits,)
        Index into the topics of the qrels for each document.
    rank : ndarray of int, shape (n_hits,)
        Rank of each document, from 1.
    level : ndarray of int, shape (n_hits,)
        Relevance level of each document.
    n_ret : ndarray of int, shape (n_topics,)
        Number of documents that the run has on each topic.
    """

    def __init__(self, qrels: Qrels, topic: Ints, rank: Ints, level: Ints, n_ret: Ints) -> None:
        super().__init__()
        self.qrels = qrels
        self.topic, self.rank, self.level, self.n_ret = topic, rank, level, n_ret

    def __getitem__(self, kept: Mask) -> Ranking:
        """Return a ranking of some of the documents, or the ranking itself if all are kept."""
        if kept.all():
            return self
        return Ranking(self.qrels, self.topic[kept], self.rank[kept], self.level[kept], self.n_ret)

    def relevant(self, level: int, cutoff: int | None = None) -> Ranking:
        """Rank the documents at ``level`` or above among the first ``cutoff`` documents."""
        kept = self.level >= level
        # Do not cache a ranking in itself, because then it would not be freed with its run.
        relevant = self if kept.all() else self.cached(level, lambda: self[kept])
        return relevant if cutoff is None else relevant[relevant.rank <= cutoff]
