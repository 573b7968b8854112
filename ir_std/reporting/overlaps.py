"""Which collections share topics or documents: their scores must not be counted twice."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import chain, combinations

from ir_std.trec.qrels import Qrels


@dataclass(frozen=True)
class Overlaps:
    """Which of some collections share documents.

    Attributes
    ----------
    topics : mapping of (str, str) to int
        For each two collections that share documents how many topics they share too.
    """

    topics: Mapping[tuple[str, str], int]

    def of(self, names: Collection[str]) -> str:
        """Which of these collections share topics; empty if none do."""
        return "; ".join(
            _why_not_pooled(*pair, n)
            for pair, n in self.topics.items()
            if n and set(pair) <= set(names)
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know of each two."""
        return tuple(
            _why_not_pooled(a, b, n)
            if n
            else f"{a} and {b} share documents, not topics: what "
            f"depends on the documents is seen twice"
            for (a, b), n in self.topics.items()
        )


def _why_not_pooled(a: str, b: str, n: int) -> str:
    return f"{a} and {b} share {n} topic{'s' * (n > 1)}: not pooled, they would count twice"


def find_overlaps(qrels: Mapping[str, Qrels], patterns: Mapping[str, str | None]) -> Overlaps:
    """Find collections that share documents, and how many topics.

    Topics are the same where their ids are and the collections share documents: the judgments of
    two rounds may be of other documents (TREC-COVID).

    Parameters
    ----------
    qrels : mapping of str to Qrels
        By the collection's name.
    patterns : mapping of str to str or None
        What document ids look like in a collection, where that is known.
    """
    shared_topics = {}
    for a, b in combinations(qrels, 2):
        topics = set(qrels[a].topics).intersection(qrels[b].topics)
        same_pattern = patterns[a] is not None and patterns[a] == patterns[b]
        if _share_documents(qrels[a], qrels[b], topics, same_pattern):
            shared_topics[a, b] = len(topics)
    return Overlaps(shared_topics)


def _share_documents(one: Qrels, other: Qrels, topics: set[str], same_pattern: bool) -> bool:
    """Whether the ids that two qrels have in common name the same documents."""
    documents = _documents(one), _documents(other)
    if all(documents):
        shared = documents[0] & documents[1]
        alike = sum(not one.judged[t].keys().isdisjoint(other.judged[t]) for t in topics)
        # Plain numbers may name other documents elsewhere, unless they do so topic by topic.
        same = any(not d.isdigit() for d in shared) or (bool(shared) and same_pattern)
    else:  # scores hold no documents, at best how many are relevant
        counts = [dict(zip(q.topics, q.count().tolist(), strict=True)) for q in (one, other)]
        alike = sum(counts[0][t] == counts[1][t] > 0 for t in topics)
        same = bool(topics) and same_pattern
    return same or alike > len(topics) / 2


def _documents(qrels: Qrels) -> frozenset[str]:
    return frozenset(chain.from_iterable(qrels.judged.values()))
