"""A run as arrays: as it comes from a file or a frame."""

from __future__ import annotations

import re
from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np

from ir_std._arrays import Floats, Ints, Mask
from ir_std.reading import Collision, Ids, Keys, first_repeated, keys, may_repeat
from ir_std.trec.qrels import Targets, group_by_topic
from ir_std.trec.runs import DictRun, Hits, InvalidRun, Run

DUPLICATES = ("error", "first", "last")
"""What may count where a run has a document twice in a topic."""
_RANK = re.compile(rb"[ \t]+(\d{1,9})[ \t]")
"""What stands behind a document in a file that has ranks and scores."""


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
        """A run of topics, topic, ids and scores; ``duplicates`` says what counts of a document."""
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
        """The same run in its other form, which compares ids as they are."""
        return DictRun.from_lists(((t, *pair) for t, pair in self.lists.items()), self.name)

    def documents(self, topic: str) -> list[str]:
        """The documents of a topic."""
        return self._ids[slice(*self.bounds[topic])].strings()

    def ids(self, lines: Ints) -> list[bytes]:
        """The document ids at some lines."""
        return self._ids[lines].bytes()

    def stated_ranks(self, lines: Ints) -> list[int | None]:
        """The ranks that a file states at some lines, which count for nothing; None for none."""
        if not self.has_ranks:
            return super().stated_ranks(lines)
        ids = self._ids[lines]
        behind = (_RANK.match(ids.codes.data, end) for end in (ids.starts + ids.widths).tolist())
        return [int(rank[1]) if rank else None for rank in behind]

    def hashes(self) -> Keys:
        """A 64-bit hash of the document id of each line."""
        return self._hashes

    def lines(self, kept: Mask) -> ArrayRun:
        """A run with some of the lines, and all topics."""
        rows = np.flatnonzero(kept)
        topic = np.repeat(np.arange(len(self.sizes)), self.sizes)[rows]
        return ArrayRun(self.topics, topic, self._ids[rows], self.scores[rows], self.name)

    def with_scores(self, scores: Floats) -> ArrayRun:
        """A run with the same lines and other scores."""
        made = copy(self)
        made.scores = scores
        return made

    def find(self, targets: Targets) -> Hits:
        """The targets that the run holds."""
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
    """The lines without those whose document is in an earlier one of the topic, or in a later."""
    kept: dict[tuple[int, bytes], int] = {}
    for line, document in enumerate(zip(topic.tolist(), ids.bytes(), strict=True)):
        if duplicates == "last" or document not in kept:
            kept[document] = line
    return np.array(sorted(kept.values()), np.int64)
