"""Collections to recognize, and comparisons of their judgments with the judgments of sets."""

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from functools import cached_property, lru_cache
from itertools import compress
from typing import NamedTuple

import numpy as np

from ir_std._arrays import Ints, Keys, Mask
from ir_std.factors.factor_set import FactorSet
from ir_std.factors.judgments import fingerprints_by_topic
from ir_std.reading import Ids, KeyTable
from ir_std.trec import Qrels, Run


def look_alike(ids: Iterable[str], others: Iterable[str]) -> bool:
    """Check whether an ID in one list has the same form as an ID in the other list."""
    return not {*map(_form, ids)}.isdisjoint(map(_form, others))


def _form(doc_id: str) -> str:
    """Replace each sequence of letters by one ``a``, and each sequence of digits by ``9``."""
    return re.sub(r"[^\W\d_]+", "a", re.sub(r"\d+", "9", doc_id))


class Collection:
    """The topics and judgments of a collection that is to be recognized.

    Parameters
    ----------
    counts : iterable of (str, int or None)
        Each topic with its number of documents judged relevant (level 1 or above), if known.
    doc_ids : tuple of str
        The first judged document of each topic.
    dataset : str, optional
        The ir_datasets id from which the qrels came.
    qrels : Qrels, optional
        The judgments.  If only scores are given, the judgments are unknown, and recognition uses
        the counts of relevant documents.
    external : iterable of str
        Custom measures for which scores are given.  The names of these measures may identify one of
        the user's sets.

    Attributes
    ----------
    n_topics : int
        Number of topics in the qrels or, without qrels, in the scores.
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
        self.n_topics = len(qrels.topics if qrels else self.counts)
        self.cached: dict[object, object] = {}

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "cached": {}}

    def shared_topics(self, topics: Set[str]) -> tuple[str, ...]:
        """Return the topics that are also in ``topics``, in this collection's order.

        Scores may have hundreds of thousands of topics.  To save time, the method looks up the
        topics of the smaller set in the larger set.
        """
        return tuple(sorted(self.counts.keys() & topics, key=self._positions.__getitem__))

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {topic: position for position, topic in enumerate(self.counts)}

    @cached_property
    def n_judged(self) -> int:
        """Number of topics that have relevant documents or may have relevant documents."""
        return sum(n != 0 for n in self.counts.values())

    @cached_property
    def counts_known(self) -> bool:
        """True if the number of relevant documents is known for at least one topic."""
        return any(n is not None for n in self.counts.values())

    def rules_out(self, counts: Mapping[str, int | None]) -> bool:
        """Check whether counts of relevant documents show that a set does not match."""
        shared = self.counts.keys() & counts.keys()
        pairs = [(counts[topic], self.counts[topic]) for topic in shared]
        counted = [(a, b) for a, b in pairs if a is not None and b is not None and (a or b)]
        return 2 * sum(a != b for a, b in counted) > len(counted)

    def places(self, topics: Iterable[str]) -> Ints:
        """Return the positions of topics in this collection."""
        return np.array([self._positions[topic] for topic in topics], np.int64)

    def counts_at(self, level: int) -> Ints:
        """Count each topic's documents whose level is ``level`` or higher; -1 if unknown.

        For a level below 1, count the documents that are judged not relevant.
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
        """Return the fingerprint of each topic's documents at ``level`` or above.

        The fingerprint is 0 if a topic has no such documents.
        """
        qrels = self.qrels
        assert qrels is not None  # scores have no documents
        return qrels.cached(("prints", level), lambda: fingerprints_by_topic(qrels, level))


def as_one_topic(qrels: Qrels, name: str) -> Qrels:
    """Return qrels with one topic, which stands for a whole dataset.

    Its documents are the pairs of topic and document, with a tab between them.
    """
    topics = [topic.encode(errors="surrogatepass") for topic in qrels.topics]
    documents = qrels.ids(np.arange(len(qrels.topic))).bytes()
    pairs = zip(qrels.topic.tolist(), documents, strict=True)
    ids = Ids.of_bytes([topics[topic] + b"\t" + document for topic, document in pairs])
    return Qrels([name], np.zeros_like(qrels.topic), ids, qrels.flat_levels)


def collection_of_dataset(qrels: Qrels, name: str) -> Collection:
    """Make a collection whose only topic is a whole dataset, as in a factor set of datasets."""
    whole = qrels.cached(("whole", name), lambda: as_one_topic(qrels, name))
    collection = Collection([(name, int(qrels.count().sum()))], qrels=whole)
    collection.n_topics = len(qrels.topics)
    return collection


class LevelAgreement(NamedTuple):
    """Agreement on the documents whose relevance level is at least a given level.

    For each topic, exactly one of the four attributes is True.

    Attributes
    ----------
    identical, different : ndarray of bool, shape (n_topics,)
        ``identical`` is True if the documents are the same.  ``different`` is True if the documents
        or their numbers differ.
    count_only : ndarray of bool, shape (n_topics,)
        True if the numbers of documents agree, but the documents cannot be compared.
    unknown : ndarray of bool, shape (n_topics,)
        True if the judgments at the level are unknown in the set or in the collection.
    """

    identical: Mask
    different: Mask
    count_only: Mask
    unknown: Mask


class Agreement:
    """Comparison of a set's judgments with a collection's judgments, at any level.

    Parameters
    ----------
    factors : FactorSet
    collection : Collection
    topics : sequence of str
        Topics that are in both the set and the collection, in the collection's order.

    Attributes
    ----------
    is_graded : ndarray of bool, shape (n_topics,)
        True if the set knows the numbers of documents at all levels.
    compares_documents : ndarray of bool, shape (n_topics,)
        True if both the set and the collection know which documents are judged.
    """

    def __init__(self, factors: FactorSet, collection: Collection, topics: Sequence[str]) -> None:
        self._topics, self._collection = topics, collection
        rows, self._places = factors.rows(topics), collection.places(topics)
        self._levels, self._max_level = factors.levels, factors.info.get("max_level")
        counts, prints = factors.counts[rows], factors.prints[rows]
        self.is_graded: Mask = np.all(counts >= 0, axis=1) & (self._levels[0] <= 0)
        has_prints: Mask = np.all((prints != 0) | (counts <= 0), axis=1)
        self.compares_documents: Mask = self.is_graded & has_prints & (collection.qrels is not None)
        # The last column represents all levels above the set's highest level.
        self._counts = np.column_stack([counts, np.where(self.is_graded, 0, -1)])
        self._prints = np.column_stack([prints, np.zeros(len(rows), np.uint64)])
        self._by_level: dict[int, LevelAgreement] = {}

    @property
    def levels(self) -> list[int]:
        """Relevance levels of 1 or above that occur in the set or in the collection."""
        at_least = self._counts[self.is_graded]
        occurs: Mask = np.any(at_least[:, :-1] > at_least[:, 1:], axis=0)
        qrels = self._collection.qrels
        candidates = {1, *compress(self._levels, occurs.tolist()), *(qrels.levels if qrels else ())}
        return sorted(level for level in candidates if level > 0)

    def at_level(self, level: int) -> LevelAgreement:
        """Compare each topic's documents whose relevance level is ``level`` or higher."""
        if level not in self._by_level:
            in_set, in_collection = self.counts(level)
            is_known, is_equal = (in_set >= 0) & (in_collection >= 0), in_set == in_collection
            compares = self.compares_documents
            same_documents = compares
            if compares.any():
                prints = self._collection.prints_at(level)[self._places]
                same_documents = self._prints[:, self._column(level)] == prints
            self._by_level[level] = LevelAgreement(
                compares & same_documents,
                np.where(compares, ~same_documents, is_known & ~is_equal),
                ~compares & is_known & is_equal,
                ~compares & ~is_known,
            )
        return self._by_level[level]

    def topics_where(self, mask: Mask) -> tuple[str, ...]:
        """Return the topics that a mask selects."""
        return tuple(compress(self._topics, mask.tolist()))

    def differs(self, levels: Iterable[int]) -> Mask:
        """Find the topics whose judgments differ at one or more of the levels."""
        none = np.zeros(len(self._topics), bool)
        by_level = [self.at_level(level).different for level in levels]
        return np.asarray(np.any([none, *by_level], axis=0))

    def is_identical(self, levels: Iterable[int]) -> Mask:
        """Find topics with the same documents in set and collection at all given levels."""
        identical: Mask = np.all([self.at_level(level).identical for level in levels], axis=0)
        return identical

    def counts(self, level: int) -> tuple[Ints, Ints]:
        """Count the documents of each topic in the set and in the collection; -1 if unknown.

        The documents whose relevance level is ``level`` or higher are counted.  If ``level`` is
        below 1, the documents that are judged not relevant are counted instead.
        """
        in_collection = self._collection.counts_at(level)[self._places]
        in_set = self._counts[:, self._column(max(level, 1))]
        if level < 1:
            in_set = np.where(self.is_graded, self._counts[:, 0] - in_set, -1)
        elif level > 1:  # some sets know the numbers at level 1 only
            in_set = np.where(self.is_graded, in_set, -1)
        if self._max_level is not None and level > self._max_level:
            in_set = np.maximum(in_set, 0)
        return in_set, in_collection

    def _column(self, level: int) -> int:
        return int(np.searchsorted(self._levels, level))


BITS = 40
"""Number of bits of a document's hash that are kept."""


def pack_earlier(topics: Iterable[str], documents: Mapping[str, Iterable[str]]) -> Keys:
    """Pack documents that were judged in earlier rounds into keys for a set's file.

    Parameters
    ----------
    topics : iterable of str
        Topics of the set.
    documents : mapping of str to iterable of str
        Documents that were judged in earlier rounds, by topic.

    Returns
    -------
    ndarray of uint64
        Keys in ascending order.  A key consists of the first 40 bits of the document's hash, and
        then the topic's row.
    """
    keys = [
        _keyed(np.array([row]), Ids.of(sorted(documents.get(topic, ()))).hashes())
        for row, topic in enumerate(topics)
    ]
    return np.unique(np.concatenate(keys))


def find_earlier(run: Run, factors: FactorSet) -> Mask:
    """Find the lines of a run whose documents were judged in earlier rounds.

    Returns
    -------
    ndarray of bool, shape (n_lines,)
        All False if the set does not belong to a residual collection.
    """
    found: Mask = np.zeros(len(run.scores), bool)
    if factors.earlier is not None:
        rows = np.repeat(factors.rows(run.topics), run.sizes)
        where, _ = _earlier_keys(factors).find(_keyed(rows, run.hashes) * _SPREAD)
        found[where] = rows[where] >= 0
    return found


@lru_cache(maxsize=8)
def _earlier_keys(factors: FactorSet) -> KeyTable:
    """Return a table of the keys, each multiplied by :data:`_SPREAD`."""
    assert factors.earlier is not None
    return KeyTable.of(np.sort(factors.earlier * _SPREAD))


def _keyed(rows: Ints, hashes: Keys) -> Keys:
    row_bits = np.uint64(64 - BITS)
    keys: Keys = (hashes >> row_bits << row_bits) | (rows.astype(np.uint64) & _ROW)
    return keys


_ROW = np.uint64((1 << 64 - BITS) - 1)
_SPREAD = np.uint64(0x9E3779B97F4A7C15)
"""Odd factor that gives the keys of one document on several topics different first bits."""
