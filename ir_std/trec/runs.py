"""Hold runs in memory: one array of document IDs, and one array of scores, for all topics."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from copy import copy
from functools import cached_property
from itertools import accumulate, chain, pairwise, repeat
from typing import Any, NamedTuple

import numpy as np

from ir_std._arrays import Floats, Ints, Keys, Mask
from ir_std.errors import InputError
from ir_std.reading import Ids, check_strings, first_repeated
from ir_std.trec.qrels import Qrels, Targets, group_by_topic

DUPLICATES = ("error", "first", "last")
"""Choices for a document that a run has twice for a topic: an error, or which line counts."""
_RANK = rb"[ \t]+(\d{1,9})[ \t]"
"""Pattern of a rank in a file with ranks and scores; the rank follows the document."""


class InvalidRun(InputError):
    """Error for documents or scores that cannot be ranked."""


class Hits(NamedTuple):
    """Target documents that a run contains.

    Attributes
    ----------
    topic : ndarray of int, shape (n_hits,)
        Index into the topics of the qrels.
    score : ndarray of float64, shape (n_hits,)
        Scores in the run.
    level : ndarray of int, shape (n_hits,)
        Relevance levels.
    ids : Ids, of length n_hits
    """

    topic: Ints
    score: Floats
    level: Ints
    ids: Ids


class Run:
    """A run: the documents of each topic and their scores, in no special order.

    :meth:`of_lines`, :meth:`of_lists` and :meth:`of_dict` make runs.

    Parameters
    ----------
    topics : sequence of str
        IDs of the topics.
    sizes : ndarray of int, shape (n_topics,)
        Number of documents of each topic.
    scores : ndarray of float64, shape (n_lines,)
        Scores of the documents, topic after topic.
    name : str
        Name in messages.
    ids : Ids, of length n_lines, optional
        IDs of the documents; required unless there is ``by_topic``.
    by_topic : mapping of str to mapping of str to float, optional
        Mapping with the same scores by topic and document.  Relevant documents are looked up in
        this mapping, because that is faster than hashing all documents.  With a mapping, document
        IDs are put into an array only if they are needed.
    joined : iterable of str, optional
        IDs of the documents in ``by_topic``, joined by null characters, for each topic that has
        documents.

    Attributes
    ----------
    bounds : dict of str to (int, int)
        Start and end of each topic's lines.
    starts : ndarray of int, shape (n_topics,)
        Start of each topic's lines.
    repeated : int
        Number of lines left out because the topic has the same document on another line.
    given : object
        Original input, if other providers of measures can read it; otherwise None.
    has_ranks : bool
        True if the run is from a file that states a rank next to each score.

    Raises
    ------
    InvalidRun
        If a score is NaN or +inf.
    """

    def __init__(
        self,
        topics: Iterable[str],
        sizes: Ints,
        scores: Floats,
        name: str,
        ids: Ids | None = None,
        by_topic: Mapping[str, Mapping[str, float]] | None = None,
        joined: Iterable[str] = (),
    ) -> None:
        self.name, self.sizes, self.scores = name, sizes, scores
        self.repeated, self.has_ranks = 0, False
        self.given: Any = None
        self._by_topic, self._joined = by_topic, joined
        if ids is not None:
            self._ids = ids
        self.starts = np.cumsum(sizes) - sizes
        ends = accumulate(sizes.tolist(), initial=0)
        self.bounds = dict(zip(topics, pairwise(ends), strict=True))
        # A score of -inf ranks a document last, and ir_measures' providers accept it too.
        self._refuse(~(scores < np.inf), "scores must be finite numbers or -inf")

    @cached_property
    def _ids(self) -> Ids:
        """Document IDs of all lines."""
        names = chain.from_iterable((self._by_topic or {}).values())
        return Ids.of_joined(self._joined, names, len(self.scores))

    @cached_property
    def hashes(self) -> Keys:
        """A 64-bit hash of the document ID of each line."""
        return self._ids.hashes()

    @classmethod
    def of_lines(cls, lines: tuple[Any, ...], name: str, duplicates: str = "error") -> Run:
        """Make a run from lines in any order.

        Parameters
        ----------
        lines : tuple
            The list of topics, and three arrays with one value per line: the index into the topics,
            the document ID and the score.
        name : str
            Name in messages.
        duplicates : {'error', 'first', 'last'}
            Line that counts if a topic has a document twice.

        Raises
        ------
        InvalidRun
            If a topic has a document twice and ``duplicates`` is ``'error'``, or if a score is NaN
            or +inf.
        """
        topics, topic, ids, scores = lines
        order = group_by_topic(topic)
        topic, ids, scores = topic[order], ids[order], scores[order]
        hashes, n_lines = ids.hashes(), len(topic)
        places = first_repeated(ids, hashes, topic)
        if places and duplicates == "error":
            row = places[0]
            (twice,) = ids[row : row + 1].strings()
            found = f"topic {topics[topic[row]]} has document {twice!r} twice"
            raise InvalidRun.at(name, found, "give each document once")
        if places:
            kept = kept_lines(topic, ids, duplicates)
            topic, ids, scores, hashes = topic[kept], ids[kept], scores[kept], hashes[kept]
        run = cls(topics, np.bincount(topic, minlength=len(topics)), scores, name, ids)
        run.hashes, run.repeated = hashes, n_lines - len(topic)
        return run

    @classmethod
    def of_dict(cls, scored: Mapping[str, Mapping[str, float]], name: str = "run") -> Run:
        """Make a run from scores by topic and document.

        Raises
        ------
        InputError
            If a document ID is not a string.
        InvalidRun
            If a score is NaN or +inf.
        """
        joined = [
            check_strings(docs, name, f"document id of topic {topic}")
            for topic, docs in scored.items()
            if docs
        ]
        sizes = np.fromiter(map(len, scored.values()), np.int64, len(scored))
        values = chain.from_iterable(docs.values() for docs in scored.values())
        scores = as_scores(values, int(sizes.sum()), name)
        return cls(scored, sizes, scores, name, by_topic=scored, joined=joined)

    @classmethod
    def of_lists(
        cls, lists: Iterable[tuple[str, list[str], Iterable[float]]], name: str = "run"
    ) -> Run:
        """Make a run from topics, each with a list of documents and a list of their scores."""
        topics, sizes, documents, scores = list[str](), list[int](), list[str](), list[float]()
        for topic, docs, values in lists:
            topics.append(topic)
            sizes.append(len(docs))
            documents.extend(docs)
            scores.extend(values)
        numbers = np.repeat(np.arange(len(topics)), np.array(sizes, np.int64))
        lines = topics, numbers, Ids.of(documents), np.array(scores, float)
        return cls.of_lines(lines, name)

    def check_finite(self) -> Run:
        """Return the run itself; raise an error if a score is not finite."""
        self._refuse(~np.isfinite(self.scores), "scores must be finite numbers")
        return self

    def _refuse(self, wrong: Mask, expected: str) -> None:
        """Raise an error for the first wrong line, if there is one."""
        for line in np.flatnonzero(wrong).tolist():
            topic = next(t for t, (a, b) in self.bounds.items() if a <= line < b)
            (document,) = self._ids[line : line + 1].strings()
            found = f"topic {topic}, document {document!r} has score {self.scores[line]}"
            raise InvalidRun.at(self.name, found, expected)

    def documents(self, topic: str) -> list[str]:
        """Return the documents of a topic."""
        return self._ids[slice(*self.bounds[topic])].strings()

    def ids(self, lines: Ints) -> list[bytes]:
        """Return the document IDs of the given lines; as UTF-8, IDs sort like strings."""
        return self._ids[lines].bytes()

    def stated_ranks(self, lines: Ints) -> list[int | None]:
        """Return the ranks that the run's file states on the given lines; None for no rank."""
        if not self.has_ranks:
            return [None] * len(lines)
        ids = self._ids[lines]
        rank_at = re.compile(_RANK).match
        ranks = [rank_at(ids.codes.data, end) for end in (ids.starts + ids.widths).tolist()]
        return [int(rank[1]) if rank else None for rank in ranks]

    def find(self, targets: Targets) -> Hits:
        """Return the target documents that the run contains."""
        if self._by_topic is not None and "hashes" not in vars(self):
            rows, scores = self._look_up(targets, self._by_topic)
        else:
            place = targets.qrels.positions
            numbers = np.array([place.get(t, len(place)) for t in self.bounds], np.int64)
            topic = np.repeat(numbers, self.sizes)
            lines, rows = targets.index.find(self.hashes, topic, self._ids)
            scores = self.scores[lines]
        return Hits(targets.topic[rows], scores, targets.level[rows], targets.index.ids[rows])

    def _look_up(
        self, targets: Targets, by_topic: Mapping[str, Mapping[str, float]]
    ) -> tuple[Ints, Floats]:
        """Look up the targets in ``by_topic``; return positions among the targets, and scores."""
        topics = (by_topic.get(topic, {}) for topic in targets.qrels.topics)
        values = chain.from_iterable(
            map(scores.get, documents, repeat(math.nan))
            for scores, documents in zip(topics, targets.documents, strict=True)
        )
        scores = np.fromiter(values, float, len(targets.level))
        rows = np.flatnonzero(~np.isnan(scores))
        return rows, scores[rows]

    def lines(self, kept: Mask) -> Run:
        """Return a run with all topics, but only with the lines that ``kept`` marks."""
        topic = np.repeat(np.arange(len(self.sizes)), self.sizes)[kept]
        sizes = np.bincount(topic, minlength=len(self.sizes))
        return Run(self.topics, sizes, self.scores[kept], self.name, self._ids[kept])

    def with_scores(self, scores: Floats) -> Run:
        """Return a run with the same lines and other scores."""
        made = copy(self)
        made.scores, made.given = scores, None
        made._ids, made._by_topic = self._ids, None
        return made

    @property
    def topics(self) -> tuple[str, ...]:
        """Topics of the run."""
        return tuple(self.bounds)

    @property
    def lists(self) -> dict[str, tuple[list[str], Floats]]:
        """Documents and scores of each topic."""
        return {
            topic: (self.documents(topic), self.scores[a:b])
            for topic, (a, b) in self.bounds.items()
        }

    def numbers(self, qrels: Qrels) -> Ints:
        """Return the index in the run of each topic in the qrels; -1 if the run lacks the topic."""
        number = {topic: i for i, topic in enumerate(self.bounds)}
        return np.array([number.get(topic, -1) for topic in qrels.topics], np.int64)

    def sizes_on(self, qrels: Qrels) -> Ints:
        """Return the number of documents on each topic of the qrels; 0 for topics without any."""
        return np.append(self.sizes, 0)[self.numbers(qrels)]


def kept_lines(topic: Ints, ids: Ids, duplicates: str) -> Mask:
    """Return a mask of the lines to keep, one for each pair of a topic and a document."""
    lines: dict[tuple[int, bytes], int] = {}
    for line, document in enumerate(zip(topic.tolist(), ids.bytes(), strict=True)):
        if duplicates == "last" or document not in lines:
            lines[document] = line
    kept = np.zeros(len(topic), bool)
    kept[[*lines.values()]] = True
    return kept


def as_scores(values: Iterable[Any], count: int, name: str) -> Floats:
    """Return ``count`` scores, which must be numbers, as an array."""
    try:
        if isinstance(values, np.ndarray) and values.dtype.kind in "fiu":
            return values.astype(float)
        return np.fromiter(values, float, count)
    except (TypeError, ValueError, OverflowError) as wrong:
        raise InvalidRun.at(
            name, f"a score is not a number ({wrong})", "scores must be finite numbers"
        ) from None
