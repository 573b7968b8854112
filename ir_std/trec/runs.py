"""Runs in memory: as dicts from Python objects, as arrays from files and frames.

Both forms answer the same question: which of a run's documents are relevant, or judged.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from itertools import accumulate, chain, compress, pairwise, repeat
from typing import Any, NamedTuple

import numpy as np

from ir_std._arrays import Floats, Ints, Mask
from ir_std.errors import InputError
from ir_std.reading import Collision, Ids, Keys, check_strings, first_repeated, keys, may_repeat
from ir_std.trec.qrels import Qrels, Targets, group_by_topic

DUPLICATES = ("error", "first", "last")
"""What may count where a run has a document twice in a topic."""
_RANK = rb"[ \t]+(\d{1,9})[ \t]"
"""Text after a document in a file that has ranks and scores."""


class InvalidRun(InputError):
    """Documents or scores that cannot be ranked."""


class Hits(NamedTuple):
    """The targets that a run holds, by topic.

    Attributes
    ----------
    topic : ndarray of int, shape (n_hits,)
        Index into the topics of the qrels.
    score : ndarray of float64, shape (n_hits,)
    level : ndarray of int, shape (n_hits,)
    ids : callable
        Gives the ids of some of them, of the same type as :meth:`Run.ids` gives.
    """

    topic: Ints
    score: Floats
    level: Ints
    ids: Callable[[Ints], list[Any]]


class Run(ABC):
    """A run: for each topic its documents and their scores, in no special order.

    Parameters
    ----------
    topics : sequence of str
    sizes : sequence of int
        Number of documents of each topic.
    scores : ndarray of float64, shape (n_lines,)
        The documents' scores, topic after topic.
    name : str
        What messages call it.

    Attributes
    ----------
    bounds : dict of str to (int, int)
        For each topic where its lines start and end.
    sizes, starts : ndarray of int, shape (n_topics,)
        Number of documents of each topic, and where its lines start.
    repeated : int
        How many lines were left out because their document is in another of the topic.
    given : object
        What the run was made from, if other providers of measures can read that; else None.
    has_ranks : bool
        True if the run is a file's, which states a rank next to each score.

    Raises
    ------
    InvalidRun
        If a score is NaN or +inf.
    """

    has_ranks = False

    def __init__(
        self, topics: Sequence[str], sizes: Sequence[int], scores: Floats, name: str
    ) -> None:
        self.name = name
        self.repeated = 0
        self.given: Any = None
        self.bounds = dict(zip(topics, pairwise(accumulate(sizes, initial=0)), strict=True))
        self.sizes = np.array(sizes, np.int64)
        self.starts = np.cumsum(self.sizes) - self.sizes
        self.scores = scores
        # Below all others is a place in a ranking; ir_measures' providers compute with it, too.
        self._refuse(~(scores < np.inf), "scores must be finite numbers, or -inf")

    def check_finite(self) -> Run:
        """Return the run itself; raise an error if a score is -inf."""
        self._refuse(np.isneginf(self.scores), "scores must be finite numbers")
        return self

    def _refuse(self, wrong: Mask, expected: str) -> None:
        """Raise an error at the first of the lines that are wrong."""
        for line in np.flatnonzero(wrong).tolist():
            topic, a = next((t, a) for t, (a, b) in self.bounds.items() if a <= line < b)
            raise InvalidRun.at(
                self.name,
                f"topic {topic}, document "
                f"{self.documents(topic)[line - a]!r} has score {self.scores[line]}",
                expected,
            )

    @abstractmethod
    def documents(self, topic: str) -> list[str]:
        """Return the documents of a topic."""

    @abstractmethod
    def ids(self, lines: Ints) -> list[Any]:
        """Return the document ids at some lines: str, or bytes in UTF-8, which sort the same."""

    def stated_ranks(self, lines: Ints) -> list[int | None]:
        """Return the ranks that a file states at some lines, None for none; nothing uses them."""
        return [None] * len(lines)

    @abstractmethod
    def find(self, targets: Targets) -> Hits:
        """Return the targets that the run holds."""

    @abstractmethod
    def hashes(self) -> Keys:
        """Return a 64-bit hash of the document id of each line."""

    @abstractmethod
    def lines(self, kept: Mask) -> Run:
        """Return a run with some of the lines, and all topics."""

    @abstractmethod
    def with_scores(self, scores: Floats) -> Run:
        """Return a run with the same lines and other scores."""

    @property
    def topics(self) -> tuple[str, ...]:
        """Topics of the run."""
        return tuple(self.bounds)

    @property
    def lists(self) -> dict[str, tuple[list[str], Floats]]:
        """For each topic its documents and their scores."""
        return {
            topic: (self.documents(topic), self.scores[a:b])
            for topic, (a, b) in self.bounds.items()
        }

    def numbers(self, qrels: Qrels) -> Ints:
        """For each topic of the qrels its index in the run; -1 where the run lacks it."""
        number = {topic: i for i, topic in enumerate(self.bounds)}
        return np.array([number.get(topic, -1) for topic in qrels.topics], np.int64)


class DictRun(Run):
    """A run from a dict.

    Parameters
    ----------
    scored : mapping of str to mapping of str to float
        Score by topic and document.
    name : str

    Raises
    ------
    InvalidRun
        If a score is NaN or +inf.
    InputError
        If a document id is not a string, when documents are looked at: to check all ids beforehand
        would take as long as the evaluation.
    """

    def __init__(self, scored: Mapping[str, Mapping[str, float]], name: str = "run") -> None:
        self._scored = scored
        self._documents: dict[str, list[str]] = {}
        sizes = list(map(len, scored.values()))
        values = chain.from_iterable(docs.values() for docs in scored.values())
        super().__init__(list(scored), sizes, as_scores(values, sum(sizes), name), name)

    @classmethod
    def from_lists(
        cls, lists: Iterable[tuple[str, list[str], Iterable[float]]], name: str = "run"
    ) -> DictRun:
        """Make a run from lists of documents and their scores, one for each topic.

        Raises
        ------
        InvalidRun
            If a document occurs twice in a topic, or a score is NaN or +inf.
        """
        scored: dict[str, dict[str, float]] = {}
        for topic, docs, scores in lists:
            scored[topic] = dict(zip(docs, scores, strict=True))
            if len(scored[topic]) < len(docs):
                twice = Counter(docs).most_common(1)[0][0]
                raise InvalidRun.at(
                    name, f"topic {topic} has document {twice!r} twice", "give each document once"
                )
        return cls(scored, name)

    def documents(self, topic: str) -> list[str]:
        """Return the documents of a topic."""
        if topic not in self._documents:
            listed = list(self._scored[topic])
            check_strings(listed, self.name, f"document id of topic {topic}")
            self._documents[topic] = listed
        return self._documents[topic]

    def ids(self, lines: Ints) -> list[str]:
        """Return the document ids at some lines."""
        bounds = list(self.bounds.items())
        at = np.searchsorted([end for _, (_, end) in bounds], lines, "right").tolist()
        docs = {t: (self.documents(bounds[t][0]), bounds[t][1][0]) for t in set(at)}
        return [docs[t][0][line - docs[t][1]] for t, line in zip(at, lines.tolist(), strict=True)]

    def find(self, targets: Targets) -> Hits:
        """Return the targets that the run holds."""
        values = chain.from_iterable(
            map(self._scores(topic).get, docs, repeat(math.nan))
            for topic, docs in zip(targets.qrels.topics, targets.documents, strict=True)
        )
        scores = np.fromiter(values, float, len(targets.level))
        for topic in self._scored:
            self.documents(topic)  # which checks those that the qrels lack, too
        rows = np.flatnonzero(~np.isnan(scores))
        return Hits(
            targets.topic[rows],
            scores[rows],
            targets.level[rows],
            lambda some: targets.ids[rows[some]].strings(),
        )

    def hashes(self) -> Keys:
        """Return a 64-bit hash of the document id of each line."""
        return Ids.of([*chain.from_iterable(map(self.documents, self.bounds))]).hashes()

    def lines(self, kept: Mask) -> DictRun:
        """Return a run with some of the lines, and all topics."""
        return DictRun(
            {
                topic: dict(compress(docs.items(), kept[slice(*self.bounds[topic])].tolist()))
                for topic, docs in self._scored.items()
            },
            self.name,
        )

    def with_scores(self, scores: Floats) -> DictRun:
        """Return a run with the same lines and other scores."""
        return DictRun(
            {
                t: dict(zip(self.documents(t), scores[a:b].tolist(), strict=True))
                for t, (a, b) in self.bounds.items()
            },
            self.name,
        )

    def _scores(self, topic: str) -> Mapping[str, float]:
        """Return the scores of a topic's documents, whose ids are checked."""
        if topic not in self._scored:
            return {}
        self.documents(topic)
        return self._scored[topic]


class ArrayRun(Run):
    """A run as it comes from a file.

    Parameters
    ----------
    topics : sequence of str
    topic : ndarray of int, shape (n_lines,)
        Index into the topics, of each line.
    ids : Ids, of length n_lines
        Documents.
    scores : ndarray of float64, shape (n_lines,)
    name : str

    Raises
    ------
    InvalidRun
        If a document occurs twice in a topic, or a score is NaN or +inf.
    """

    def __init__(
        self, topics: Sequence[str], topic: Ints, ids: Ids, scores: Floats, name: str = "run"
    ) -> None:
        order = group_by_topic(topic)
        self._ids = ids[order]
        sizes = np.bincount(topic, minlength=len(topics)).tolist()
        super().__init__(topics, sizes, scores[order], name)
        self._hashes = self._ids.hashes()
        if may_repeat(keys(self._hashes, topic[order])) and (
            places := first_repeated(self._ids, topic[order])
        ):
            row = places[0]
            (twice,) = self._ids[row : row + 1].strings()
            raise InvalidRun.at(
                name,
                f"topic {topics[topic[order][row]]} has document {twice!r} twice",
                "give each document once",
            )

    @classmethod
    def of_lines(cls, lines: tuple[Any, ...], name: str, duplicates: str) -> ArrayRun:
        """Make a run of topics, topic, ids and scores; ``duplicates`` says which lines count."""
        topics, topic, ids, scores = lines
        try:
            return cls(topics, topic, ids, scores, name)
        except InvalidRun:
            if duplicates == "error":
                raise
        kept = _kept_lines(topic, ids, duplicates)
        run = cls(topics, topic[kept], ids[kept], scores[kept], name)
        run.repeated = len(topic) - len(kept)
        return run

    def _as_dict(self) -> DictRun:
        """Return the same run in its other form, which compares ids as they are."""
        return DictRun.from_lists(((t, *pair) for t, pair in self.lists.items()), self.name)

    def documents(self, topic: str) -> list[str]:
        """Return the documents of a topic."""
        return self._ids[slice(*self.bounds[topic])].strings()

    def ids(self, lines: Ints) -> list[bytes]:
        """Return the document ids at some lines."""
        return self._ids[lines].bytes()

    def stated_ranks(self, lines: Ints) -> list[int | None]:
        """Return the ranks that a file states at some lines, None for none; nothing uses them."""
        if not self.has_ranks:
            return super().stated_ranks(lines)
        ids = self._ids[lines]
        rank_at = re.compile(_RANK).match
        ranks = [rank_at(ids.codes.data, end) for end in (ids.starts + ids.widths).tolist()]
        return [int(rank[1]) if rank else None for rank in ranks]

    def hashes(self) -> Keys:
        """Return a 64-bit hash of the document id of each line."""
        return self._hashes

    def lines(self, kept: Mask) -> ArrayRun:
        """Return a run with some of the lines, and all topics."""
        rows = np.flatnonzero(kept)
        topic = np.repeat(np.arange(len(self.sizes)), self.sizes)[rows]
        return ArrayRun(self.topics, topic, self._ids[rows], self.scores[rows], self.name)

    def with_scores(self, scores: Floats) -> ArrayRun:
        """Return a run with the same lines and other scores."""
        made = copy(self)
        made.scores = scores
        return made

    def find(self, targets: Targets) -> Hits:
        """Return the targets that the run holds."""
        place = targets.qrels.positions
        numbers = np.array([place.get(t, len(place)) for t in self.bounds], np.int64)
        topic = np.repeat(numbers, self.sizes)
        try:
            lines, rows = targets.index.find(keys(self._hashes, topic), self._ids)
        except Collision:
            hits = self._as_dict().find(targets)
            return hits._replace(ids=lambda some: Ids.of(hits.ids(some)).bytes())
        return Hits(
            topic[lines],
            self.scores[lines],
            targets.level[rows],
            lambda some: self.ids(lines[some]),
        )


def _kept_lines(topic: Ints, ids: Ids, duplicates: str) -> Ints:
    """Return the lines without those whose document the topic has in an earlier or later one."""
    kept: dict[tuple[int, bytes], int] = {}
    for line, document in enumerate(zip(topic.tolist(), ids.bytes(), strict=True)):
        if duplicates == "last" or document not in kept:
            kept[document] = line
    return np.array(sorted(kept.values()), np.int64)


def as_scores(values: Iterable[Any], count: int, name: str) -> Floats:
    """Return ``count`` scores, which must be numbers, as an array."""
    try:
        return np.fromiter(values, float, count)
    except (TypeError, ValueError, OverflowError) as wrong:
        raise InvalidRun.at(
            name, f"a score is not a number ({wrong})", "scores must be finite numbers"
        ) from None
