"""A collection as recognition sees it, and how the judgments of a set agree with its own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from functools import cached_property, lru_cache
from itertools import compress
from typing import NamedTuple

import numpy as np

from ir_std._arrays import Ints, Mask
from ir_std.factors.factor_set import FactorSet
from ir_std.factors.judgments import Judgments, fingerprint, fingerprints_by_topic
from ir_std.reading import Ids, Keys, KeyTable
from ir_std.trec.qrels import Qrels
from ir_std.trec.runs import Run


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

    def shared_topics(self, there: Set[str]) -> tuple[str, ...]:
        """Return the topics that are also in another set, in the order of these.

        It takes as long as the smaller of the two: scores may have hundreds of thousands of topics.
        """
        return tuple(sorted(self.counts.keys() & there, key=self._positions.__getitem__))

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {topic: position for position, topic in enumerate(self.counts)}

    @cached_property
    def n_judged(self) -> int:
        """Number of topics that have relevant documents, as far as is known."""
        return sum(n != 0 for n in self.counts.values())

    @cached_property
    def counts_known(self) -> bool:
        """True if the number of relevant documents is known for any topic."""
        return any(n is not None for n in self.counts.values())

    def rules_out(self, there: Mapping[str, int | None]) -> bool:
        """Check whether a set's numbers of relevant documents show that it does not match."""
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
        """Count each topic's documents at ``level`` or above, or not relevant ones below level 1.

        -1 where the number is unknown.
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
        """Fingerprint each topic's documents at ``level`` or above; 0 if it has none."""
        qrels = self.qrels
        assert qrels is not None  # scores have no documents
        return qrels.cached(("prints", level), lambda: fingerprints_by_topic(qrels, level))

    @cached_property
    def levels(self) -> set[int]:
        """The levels from 1 that occur, where they are known."""
        return set(self.qrels.levels) if self.qrels else set()


def judgments_of_dataset(qrels: Qrels) -> Judgments:
    """Describe the judgments of a dataset as a whole.

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
    """A whole dataset as one "topic": the row of a factor set of datasets.

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
        Topics that both have, in the collection's order.

    Attributes
    ----------
    compares_documents : ndarray of bool, shape (n_topics,)
        True if it is known on both sides which documents are judged.
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


BITS = 40
"""Bits of a document's hash."""


def pack_earlier(topics: Iterable[str], documents: Mapping[str, Iterable[str]]) -> Keys:
    """Return the keys of documents that were judged in earlier rounds, as a set keeps them.

    Parameters
    ----------
    topics : iterable of str
        Those of the set.
    documents : mapping of str to iterable of str
        By topic the documents that were judged in earlier rounds.

    Returns
    -------
    ndarray of uint64
        Ascending; in each the first 40 bits of the document's hash, then the topic's row.
    """
    keys = [
        _keyed(np.array([row]), Ids.of(sorted(documents.get(topic, ()))).hashes())
        for row, topic in enumerate(topics)
    ]
    return np.unique(np.concatenate(keys))


def find_earlier(run: Run, factors: FactorSet) -> Mask:
    """Find a run's lines that hold documents which were judged in earlier rounds.

    Returns
    -------
    ndarray of bool, shape (n_lines,)
        All False where the set is not residual.
    """
    found: Mask = np.zeros(len(run.scores), bool)
    if factors.earlier is not None:
        rows = np.repeat(factors.rows(run.topics), run.sizes)
        where, _ = _earlier_keys(factors).find(_keyed(rows, run.hashes()))
        found[where] = rows[where] >= 0
    return found


@lru_cache(maxsize=8)
def _earlier_keys(factors: FactorSet) -> KeyTable:
    assert factors.earlier is not None
    return KeyTable.of(factors.earlier)


def _keyed(rows: Ints, hashes: Keys) -> Keys:
    row_bits = np.uint64(64 - BITS)
    keys: Keys = (hashes >> row_bits << row_bits) | (rows.astype(np.uint64) & _ROW)
    return keys


_ROW = np.uint64((1 << 64 - BITS) - 1)
