"""Whether a set's judgments agree with a collection's: topic by topic and level by level."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ir_std.factors.collection import Collection, differ_widely
from ir_std.factors.judgments import ALL_JUDGED, Judgments


class LevelAgreement(NamedTuple):
    """How topics agree on the documents at a level or above; each is in one of the fields.

    Attributes
    ----------
    same, differ : tuple of str
        The documents are the same; they differ, or their numbers do by more than judging again
        explains.
    counted : tuple of str
        The numbers agree, at least nearly; which documents these are is not known.
    unknown : tuple of str
        The set, or the collection, does not know its judgments at the level.
    """

    same: tuple[str, ...]
    differ: tuple[str, ...]
    counted: tuple[str, ...]
    unknown: tuple[str, ...]


class Agreement:
    """A set's judgments compared with a collection's, at any level.

    Parameters
    ----------
    judgments : mapping of str to Judgments
    topics : sequence of str
        Those that both have, in the collection's order.
    collection : Collection
    max_level : int, optional
        The highest level of the set's judgments, where that is known.
    renamed : bool
        Whether the documents have other names, so that only their numbers can be compared.
    """

    def __init__(
        self,
        judgments: Mapping[str, Judgments],
        topics: Sequence[str],
        collection: Collection,
        max_level: int | None = None,
        renamed: bool = False,
    ) -> None:
        self._judgments, self._collection = judgments, collection
        self._max_level, self._renamed = max_level, renamed
        self._topics = topics
        self._at: dict[int, LevelAgreement] = {}

    def at(self, level: int) -> LevelAgreement:
        """How the topics that both have agree on the documents at a level or above."""
        if level not in self._at:
            topics: dict[str, list[str]] = {field: [] for field in LevelAgreement._fields}
            for topic in self._topics:
                topics[self._compare(topic, level)].append(topic)
            self._at[level] = LevelAgreement(*map(tuple, topics.values()))
        return self._at[level]

    def differing(self, levels: Iterable[int]) -> list[str]:
        """The topics that differ at one of the levels, in the collection's order."""
        differing = {topic for level in levels for topic in self.at(level).differ}
        return [topic for topic in self._topics if topic in differing]

    def same(self, levels: Iterable[int]) -> list[str]:
        """The topics on which the documents are the same at every level."""
        same = set(self._topics).intersection(*(self.at(level).same for level in levels))
        return [topic for topic in self._topics if topic in same]

    def compares_documents(self, topic: str, level: int) -> bool:
        """Whether it is known on both sides which documents are at a level or above."""
        return (
            not self._renamed
            and self._collection.qrels is not None
            and self._judgments[topic].knows_documents(level)
        )

    def numbers(self, topic: str, level: int) -> tuple[int | None, int | None]:
        """The numbers of documents in the set and in the collection, where they are known.

        Those at ``level`` or above; of a level below 1 those that are judged not relevant.
        """
        there, here = self._judgments[topic], self._collection
        if level < 1:
            judged, relevant = there.at_least(ALL_JUDGED), there.at_least(1)
            known = None if judged is None else judged - (relevant or 0)
            return known, here.not_relevant(topic)
        known = there.at_least(level)
        if known is None and self._max_level is not None and level > self._max_level:
            known = 0
        return known, here.at_least(topic, level)

    def _compare(self, topic: str, level: int) -> str:
        """The field of :class:`LevelAgreement` that a topic belongs in."""
        if self.compares_documents(topic, level):
            there = self._judgments[topic].fingerprint(level)
            return "same" if there == self._collection.fingerprint(topic, level) else "differ"
        known, here = self.numbers(topic, level)
        if known is None or here is None:
            return "unknown"
        return "differ" if differ_widely(known, here) else "counted"
