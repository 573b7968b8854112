"""Which collections share topics or documents: their scores must not be counted twice."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import chain, combinations

from ir_std.errors import counted
from ir_std.trec.qrels import Qrels


@dataclass(frozen=True)
class Overlaps:
    """Which of some collections share documents.

    Attributes
    ----------
    topics : mapping of (str, str) to int
        For each two collections that share documents how many topics they share too.
    relabelled : frozenset of (str, str)
        Those of them that are the same topics and documents under different labels, such as
        people's and a language model's.
    """

    topics: Mapping[tuple[str, str], int]
    relabelled: frozenset[tuple[str, str]] = frozenset()

    def of(self, names: Collection[str]) -> str:
        """Which of these collections share topics; empty if none do."""
        return "; ".join(
            self._why_not_pooled(*pair)
            for pair, n in self.topics.items()
            if n and set(pair) <= set(names)
        )

    def of_labels(self, names: Collection[str]) -> bool:
        """Whether all these collections are the same topics under different labels."""
        pairs = list(combinations(names, 2))
        return bool(pairs) and all(self.is_relabelled(a, b) for a, b in pairs)

    def is_relabelled(self, a: str, b: str) -> bool:
        """Whether two collections are the same topics under different labels."""
        return bool({(a, b), (b, a)} & self.relabelled)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know of each two."""
        return tuple(
            self._why_not_pooled(a, b)
            if n
            else f"{a} and {b} share documents, not topics: what "
            f"depends on the documents is seen twice"
            for (a, b), n in self.topics.items()
        )

    @property
    def why_not_linked(self) -> str:
        """Why some of the collections need no link; empty if none share topics."""
        for (a, b), shared in self.topics.items():
            if (a, b) in self.relabelled:
                return (
                    f"{a} and {b} are the same topics under different labels, which need no link: "
                    "scores by the factors of each are relative to the same systems (ir_std agree)"
                )
            if shared:
                return (
                    f"{a} and {b} share {counted(shared, 'topic')}, which need no link: the "
                    "factors of one set give its scale to both (ir_std RUN QRELS --factors SET)"
                )
        return ""

    def _why_not_pooled(self, a: str, b: str) -> str:
        n = self.topics[a, b]
        topics = counted(n, "topic")
        if (a, b) in self.relabelled:
            return (
                f"{a} and {b} are the same {topics} under different labels: one "
                "collection judged twice, not pooled"
            )
        return f"{a} and {b} share {topics}: not pooled, they would count twice"


def find_overlaps(
    qrels: Mapping[str, Qrels],
    corpora: Mapping[str, str | None],
    origins: Mapping[str, tuple[str, str]] | None = None,
) -> Overlaps:
    """Find collections that share documents, and how many topics.

    Topics are the same where their ids are and the collections share documents: the judgments of
    two rounds may be of other documents (TREC-COVID).

    Parameters
    ----------
    qrels : mapping of str to Qrels
        By the collection's name.
    corpora : mapping of str to str or None
        What a collection's documents are called, where that is known.
    origins : mapping of str to (str, str), optional
        A collection's factor set, and the one whose topics these are under the labels of people;
        it says where labels differ if only scores are known.
    """
    shared_topics = {}
    relabelled = set()
    known = origins or {}
    for a, b in combinations(qrels, 2):
        topics = set(qrels[a].topics).intersection(qrels[b].topics)
        same_corpus = corpora[a] is not None and corpora[a] == corpora[b]
        if _share_documents(qrels[a], qrels[b], topics, same_corpus):
            shared_topics[a, b] = len(topics)
            if _labels_differ(qrels[a], qrels[b], topics) or (
                topics and a in known and b in known and _same_origin(known[a], known[b])
            ):
                relabelled.add((a, b))
    return Overlaps(shared_topics, frozenset(relabelled))


def _labels_differ(one: Qrels, other: Qrels, topics: set[str]) -> bool:
    """Whether most of the documents that either judged are judged by both, some otherwise."""
    pairs = [(one.judged[t], other.judged[t]) for t in topics]
    both = sum(len(a.keys() & b.keys()) for a, b in pairs)
    either = sum(len(a) + len(b) for a, b in pairs) - both
    return 2 * both > either and any(
        b.get(document, level) != level for a, b in pairs for document, level in a.items()
    )


def _same_origin(one: tuple[str, str], other: tuple[str, str]) -> bool:
    """Whether two different sets are of one collection's topics."""
    return one[0] != other[0] and one[1] == other[1]


def _share_documents(one: Qrels, other: Qrels, topics: set[str], same_corpus: bool) -> bool:
    """Whether the ids that two qrels have in common name the same documents."""
    documents = _documents(one), _documents(other)
    if all(documents):
        shared = documents[0] & documents[1]
        alike = sum(not one.judged[t].keys().isdisjoint(other.judged[t]) for t in topics)
        # Plain numbers may name other documents elsewhere, unless they do so topic by topic.
        same = any(not d.isdigit() for d in shared) or (bool(shared) and same_corpus)
    else:  # scores hold no documents, at best how many are relevant
        counts = [dict(zip(q.topics, q.count().tolist(), strict=True)) for q in (one, other)]
        alike = sum(counts[0][t] == counts[1][t] > 0 for t in topics)
        same = bool(topics) and same_corpus
    return same or alike > len(topics) / 2


def _documents(qrels: Qrels) -> frozenset[str]:
    return frozenset(chain.from_iterable(qrels.judged.values()))
