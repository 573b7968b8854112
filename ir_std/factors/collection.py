"""A collection as recognition sees it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from functools import cached_property

import numpy as np

from ir_std.factors.judgments import Judgments, documents_in, fingerprint
from ir_std.trec.qrels import Qrels

NEAR = 0.1
"""Numbers of documents that differ by at most this share nearly agree: TREC judges again."""
AGREEING = 0.9
"""The share of the topics on which numbers must agree at least nearly, where they alone count."""


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
    external : iterable of str
        Measures of other programs that there are scores of: their names may show a user's set.
    """

    def __init__(
        self,
        counts: Iterable[tuple[str, int | None]],
        doc_ids: Iterable[str] = (),
        dataset: str | None = None,
        qrels: Qrels | None = None,
        external: Iterable[str] = (),
    ) -> None:
        self.external = tuple(external)
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
        return not there.keys().isdisjoint(self.counts.keys())

    def shared_topics(self, there: Set[str]) -> tuple[str, ...]:
        """The topics that are there, too, in the order of these.

        It takes as long as the smaller of the two: scores may be of hundreds of thousands.
        """
        return tuple(sorted(self.counts.keys() & there, key=self._positions.__getitem__))

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {topic: position for position, topic in enumerate(self.counts)}

    @cached_property
    def n_judged(self) -> int:
        """The number of topics that have relevant documents, as far as is known."""
        return sum(n != 0 for n in self.counts.values())

    @cached_property
    def counts_known(self) -> bool:
        """Whether the number of relevant documents is known of any topic."""
        return any(n is not None for n in self.counts.values())

    def rules_out(self, there: Mapping[str, int | None]) -> bool:
        """Whether a set's numbers of relevant documents, where known, show that it does not fit."""
        pairs = [
            (known, here)
            for topic in self.counts.keys() & there.keys()
            if (here := self.counts[topic]) is not None
            and (known := there[topic]) is not None
            and (known or here)
        ]
        return 2 * sum(differ_widely(*pair) for pair in pairs) > len(pairs)

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
        level = next((at for at in self.qrels.all_levels if at >= level), level)
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
    levels, numbers = np.unique(qrels.flat_levels, return_counts=True)
    counts = dict(zip(levels.tolist(), numbers.tolist(), strict=True))
    return Judgments(
        sum(n for level, n in counts.items() if level > 0),
        dict(sorted(({0: 0} | counts).items())),
        {level: _pairs_fingerprint(qrels, level) for level in counts},
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

    def fingerprint(self, topic: str, level: int) -> str | None:
        """The fingerprint of the pairs at ``level`` or above, if any; computed once."""
        level = next((at for at in self._judged.all_levels if at >= level), level)
        if not self.at_least(topic, level):
            return None
        return self._judged.cached(
            ("whole", level), lambda: _pairs_fingerprint(self._judged, level)
        )

    def not_relevant(self, topic: str) -> int:
        """The number of pairs that are judged not relevant."""
        return int(self._judged.sizes.sum()) - self.at_least(topic, 1)
