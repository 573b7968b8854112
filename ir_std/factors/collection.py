"""A collection as recognition sees it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Set
from functools import cached_property

import numpy as np

from ir_std._arrays import Ints
from ir_std.factors.judgments import Judgments, fingerprint, fingerprints_by_topic
from ir_std.reading import Keys
from ir_std.trec.qrels import Qrels


def look_alike(ids: Iterable[str], others: Iterable[str]) -> bool:
    """Check whether one of the ids has the form of one of the others, such as letters-digits."""
    return not {*map(_form, ids)}.isdisjoint(map(_form, others))


def _form(doc_id: str) -> str:
    """Write a run of letters as one ``a``, and one of digits as one ``9``."""
    return re.sub(r"[^\W\d_]+", "a", re.sub(r"\d+", "9", doc_id))


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

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "cached": {}}

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
        return 2 * sum(known != here for known, here in pairs) > len(pairs)

    def places(self, topics: Iterable[str]) -> Ints:
        """Return the positions of topics among these."""
        return np.array([self._positions[topic] for topic in topics], np.int64)

    def counts_at(self, level: int) -> Ints:
        """Number of documents at ``level`` or above by topic; below 1 of those not relevant.

        -1 where it is not known.
        """
        if level == 1:
            return self._n_rel
        if self.qrels is None:
            return np.full(len(self.counts), -1)
        return self.qrels.count(level) if level > 1 else self.qrels.sizes - self._n_rel

    @cached_property
    def _n_rel(self) -> Ints:
        return np.array([-1 if n is None else n for n in self.counts.values()], np.int64)

    def prints_at(self, level: int) -> Keys:
        """Fingerprint of each topic's documents at ``level`` or above; 0 where there are none."""
        qrels = self.qrels
        assert qrels is not None  # scores have no documents
        return qrels.cached(("prints", level), lambda: fingerprints_by_topic(qrels, level))

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


def _pairs_fingerprint(qrels: Qrels, level: int) -> int:
    rows = np.flatnonzero(qrels.flat_levels >= level)
    topics = [topic.encode(errors="surrogatepass") for topic in qrels.topics]
    return fingerprint(
        topics[topic] + b"\t" + document
        for topic, document in zip(qrels.topic[rows].tolist(), qrels.ids(rows).bytes(), strict=True)
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

    def counts_at(self, level: int) -> Ints:
        """Return the number of pairs of topic and document, as for one topic."""
        relevant = self._judged.count(max(level, 1)).sum()
        n = relevant if level >= 1 else self._judged.sizes.sum() - relevant
        return np.array([n], np.int64)

    def prints_at(self, level: int) -> Keys:
        """Return the fingerprint of the pairs at ``level`` or above; computed once."""
        level = next((at for at in self._judged.all_levels if at >= level), level)
        if not (self._judged.flat_levels >= level).any():
            return np.zeros(1, np.uint64)
        found = self._judged.cached(
            ("whole", level), lambda: _pairs_fingerprint(self._judged, level)
        )
        return np.array([found], np.uint64)
