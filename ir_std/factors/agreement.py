"""Whether a set's judgments agree with a collection's: all topics at once, level by level."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import compress
from typing import NamedTuple

import numpy as np

from ir_std._arrays import Ints, Mask
from ir_std.factors.collection import Collection
from ir_std.factors.factor_set import FactorSet
from ir_std.reading import Keys


class LevelAgreement(NamedTuple):
    """How topics agree on the documents at a level or above; each is in one of the fields.

    Attributes
    ----------
    identical, different : tuple of str
        The documents are the same; they differ, or their numbers do.
    count_only : tuple of str
        The numbers agree; which documents these are is not known.
    unknown : tuple of str
        The set, or the collection, does not know its judgments at the level.
    """

    identical: tuple[str, ...]
    different: tuple[str, ...]
    count_only: tuple[str, ...]
    unknown: tuple[str, ...]


class Agreement:
    """A set's judgments compared with a collection's, at any level.

    Parameters
    ----------
    factors : FactorSet
    collection : Collection
    topics : sequence of str
        Those that both have, in the collection's order.

    Attributes
    ----------
    compares_documents : ndarray of bool, shape (n_topics,)
        Whether it is known on both sides which documents are judged.
    """

    def __init__(self, factors: FactorSet, collection: Collection, topics: Sequence[str]) -> None:
        self._topics, self._collection = topics, collection
        self._rows, self._places = factors.rows(topics), collection.places(topics)
        self._levels, self._max_level = factors.levels, factors.info.get("max_level")
        self._counts, self._prints = factors.counts[self._rows], factors.prints[self._rows]
        none = np.zeros(len(topics), bool)
        is_complete: Mask = np.all(self._counts >= 0, axis=1)
        self._complete: Mask = is_complete if min(self._levels) <= 0 else none
        has_prints: Mask = np.all((self._prints != 0) | (self._counts <= 0), axis=1)
        self.compares_documents = self._complete & has_prints if collection.qrels else none
        self._by_level: dict[int, LevelAgreement] = {}

    def at_level(self, level: int) -> LevelAgreement:
        """Sort the topics by how they agree on the documents at a level or above."""
        if level not in self._by_level:
            there, here = self.counts(level)
            known = (there >= 0) & (here >= 0)
            same_documents = self._set_prints(level) == self._prints_here(level)
            compares = self.compares_documents
            fields = (
                compares & same_documents,
                np.where(compares, ~same_documents, known & (there != here)),
                ~compares & known & (there == here),
                ~compares & ~known,
            )
            self._by_level[level] = LevelAgreement(*map(self.topics_where, fields))
        return self._by_level[level]

    def topics_where(self, mask: Mask) -> tuple[str, ...]:
        """Return the topics that a mask selects."""
        return tuple(compress(self._topics, mask.tolist()))

    def differing(self, levels: Iterable[int]) -> list[str]:
        """Return the topics that differ at one of the levels, in the collection's order."""
        differing = {topic for level in levels for topic in self.at_level(level).different}
        return [topic for topic in self._topics if topic in differing]

    def identical(self, levels: Iterable[int]) -> list[str]:
        """Return the topics on which the documents are the same at every level."""
        same = set(self._topics).intersection(*(self.at_level(at).identical for at in levels))
        return [topic for topic in self._topics if topic in same]

    def counts(self, level: int) -> tuple[Ints, Ints]:
        """Return the numbers of documents in the set and in the collection; -1 where not known.

        Those at ``level`` or above; of a level below 1 those that are judged not relevant.
        """
        here = self._collection.counts_at(level)[self._places]
        if level < 1:
            relevant = self._set_counts(1)
            return np.where(self._complete, self._counts[:, 0] - relevant, -1), here
        there = self._set_counts(level)
        if self._max_level is not None and level > self._max_level:
            there = np.maximum(there, 0)
        return there, here

    def _set_counts(self, level: int) -> Ints:
        column = int(np.searchsorted(self._levels, level))
        if column == len(self._levels):
            return np.where(self._complete, 0, -1)
        is_stated = level == self._levels[column] == 1  # all that some sets know
        return np.where(self._complete | is_stated, self._counts[:, column], -1)

    def _set_prints(self, level: int) -> Keys:
        column = int(np.searchsorted(self._levels, level))
        none = np.zeros(len(self._topics), np.uint64)
        return none if column == len(self._levels) else self._prints[:, column]

    def _prints_here(self, level: int) -> Keys:
        if self._collection.qrels is None:
            return np.zeros(len(self._topics), np.uint64)
        return self._collection.prints_at(level)[self._places]
