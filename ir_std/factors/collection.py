"""A collection as recognition sees it, and how the judgments that a set knows compare with it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ir_std.factors.judgments import Judgments, documents_in, fingerprint
from ir_std.trec.qrels import Qrels

NEAR = 0.1
"""Numbers of documents that differ by at most this share nearly agree: TREC judges again."""
AGREEING = 0.9
"""The share of the topics on which a set must agree at least nearly."""


def differ_widely(there: int, here: int) -> bool:
    """Whether two numbers of documents differ by more than judging again explains."""
    return abs(there - here) > NEAR * max(there, here)


def most_agree(topics: int, differing: int) -> bool:
    """Whether enough of the topics agree if some of them differ."""
    return topics - differing >= AGREEING * topics


class Collection:
    """The topics and judgments of a collection, as recognition looks at them.

    Parameters
    ----------
    counts : iterable of (str, int or None)
        Topics and their numbers of documents judged relevant (level 1 or above), where known.
    doc_ids : tuple of str
        The first judged document of each topic.
    dataset : str, optional
        The ir_datasets id the qrels came from.
    qrels : Qrels, optional
        The judgments themselves; without them, as where only scores are known, counts decide.
    """

    def __init__(
        self,
        counts: Iterable[tuple[str, int | None]],
        doc_ids: Iterable[str] = (),
        dataset: str | None = None,
        qrels: Qrels | None = None,
    ) -> None:
        self.counts = dict(counts)
        self.doc_ids = tuple(doc_ids)
        self.dataset = dataset
        self.qrels = qrels
        self.cached: dict[object, object] = {}
        self._relevant: dict[int, list[bytes]] = {}
        self._fingerprints: dict[tuple[str, int], str | None] = {}

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "cached": {}, "_relevant": {}}

    def shares_topics(self, there: Mapping[str, int | None]) -> bool:
        """Whether one of a set's topics is among these."""
        return not there.keys().isdisjoint(self.counts)

    def rules_out(self, there: Mapping[str, int | None]) -> bool:
        """Whether a set's numbers of relevant documents, where known, show that it does not fit."""
        pairs = [
            (known, here)
            for topic, here in self.counts.items()
            if here is not None and (known := there.get(topic)) is not None and (known or here)
        ]
        return not most_agree(len(pairs), sum(differ_widely(*pair) for pair in pairs))

    def at_least(self, topic: str, level: int) -> int | None:
        """A topic's number of documents at ``level`` or above; None where it is not known."""
        if level == 1:
            return self.counts[topic]
        if self.qrels is None:
            return None
        return int(self.qrels.count(level)[self.qrels.positions[topic]])

    def fingerprint(self, topic: str, level: int) -> str | None:
        """The fingerprint of a topic's documents at ``level`` or above, if any; computed once."""
        if self.qrels is None:
            return None
        if (topic, level) not in self._fingerprints:
            if level not in self._relevant:
                self._relevant[level] = self.qrels.relevant(level)
            lines = self._relevant[level][self.qrels.positions[topic]]
            self._fingerprints[topic, level] = fingerprint(documents_in(lines)) if lines else None
        return self._fingerprints[topic, level]

    def not_relevant(self, topic: str) -> int | None:
        """A topic's number of documents that are judged not relevant."""
        if self.qrels is None:
            return None
        return int(self.qrels.sizes[self.qrels.positions[topic]]) - (self.counts[topic] or 0)

    @cached_property
    def levels(self) -> set[int]:
        """The levels from 1 that occur, where they are known."""
        return set(self.qrels.levels) if self.qrels else set()


def judgments_of_dataset(qrels: Qrels) -> Judgments:
    """The judgments of a data set as a whole.

    The fingerprints are those of its pairs of topic and document, with a tab between them.
    """
    levels, numbers = np.unique(np.maximum(qrels.flat_levels, 0), return_counts=True)
    counts = dict(zip(levels.tolist(), numbers.tolist(), strict=True))
    relevant = {level: n for level, n in counts.items() if level}
    return Judgments(
        sum(relevant.values()),
        {0: counts.get(0, 0), **relevant},
        {level: _pairs_fingerprint(qrels, level) for level in relevant},
    )


def _pairs_fingerprint(qrels: Qrels, level: int) -> str:
    return fingerprint(
        topic.encode(errors="surrogatepass") + b"\t" + document
        for topic, lines in zip(qrels.topics, qrels.relevant(level), strict=True)
        for document in documents_in(lines)
    )


class DatasetCollection(Collection):
    """A whole data set as one "topic": the row of a factor set of data sets.

    Parameters
    ----------
    name : str
        What the factor sets call it.
    qrels : Qrels
    """

    def __init__(self, name: str, qrels: Qrels) -> None:
        super().__init__([(name, int(qrels.count().sum()))], qrels=qrels)
        self._judged = qrels

    def at_least(self, topic: str, level: int) -> int:
        """The number of pairs of topic and document at ``level`` or above."""
        return int(self._judged.count(level).sum())

    def fingerprint(self, topic: str, level: int) -> str:
        """The fingerprint of the pairs at ``level`` or above, computed once."""
        return self._judged.cached(
            ("whole", level), lambda: _pairs_fingerprint(self._judged, level)
        )

    def not_relevant(self, topic: str) -> int:
        """The number of pairs that are judged not relevant."""
        return int(self._judged.sizes.sum()) - self.at_least(topic, 1)


class JudgmentComparison(NamedTuple):
    """A set's judgments compared with a collection's; each topic is in one of the fields.

    Attributes
    ----------
    missing : tuple of str
        Topics with relevant documents that the set does not hold.
    same, others : tuple of str
        Topics on which the relevant documents are the same, and on which there are as many, but
        other ones.
    counted : tuple of str
        Topics with as many relevant documents, of which fingerprints are not known.
    differ : dict of str to (int, int)
        Topics whose numbers of relevant documents differ: (in the set, in the collection).
    unknown : tuple of str
        Topics that cannot be compared: a number is not known, or both are 0.
    """

    missing: tuple[str, ...]
    same: tuple[str, ...]
    others: tuple[str, ...]
    counted: tuple[str, ...]
    differ: Mapping[str, tuple[int, int]]
    unknown: tuple[str, ...]

    @classmethod
    def of(cls, judgments: Mapping[str, Judgments], collection: Collection) -> JudgmentComparison:
        """Compare topic by topic."""
        missing: list[str] = []
        same: list[str] = []
        others: list[str] = []
        counted: list[str] = []
        unknown: list[str] = []
        differ: dict[str, tuple[int, int]] = {}
        for topic, here in collection.counts.items():
            if topic not in judgments:
                if here != 0:
                    missing.append(topic)
                continue
            there, _, fingerprints = judgments[topic]
            if there is None or here is None or not (there or here):
                unknown.append(topic)
            elif there != here:
                differ[topic] = (there, here)
            elif fingerprints is None or (actual := collection.fingerprint(topic, 1)) is None:
                counted.append(topic)
            elif actual == next(iter(fingerprints.values())):
                same.append(topic)
            else:
                others.append(topic)
        return cls(
            tuple(missing), tuple(same), tuple(others), tuple(counted), differ, tuple(unknown)
        )

    @property
    def comparable(self) -> tuple[str, ...]:
        """The topics on which the two can be compared."""
        return (*self.same, *self.others, *self.counted, *self.differ)
