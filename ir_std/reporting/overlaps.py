"""Collections that overlap: topics that would count twice, documents that are seen twice."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import chain, combinations

from ir_std.trec.runs import Qrels


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
        return "; ".join(_twice(*pair, n) for pair, n in self.topics.items()
                         if n and set(pair) <= set(names))

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know of each two."""
        return tuple(_twice(a, b, n) if n else f"{a} and {b} share documents, not topics: what "
                     f"depends on the documents is seen twice"
                     for (a, b), n in self.topics.items())


def _twice(a: str, b: str, n: int) -> str:
    return f"{a} and {b} share {n} topics: not pooled, they would count twice"


def overlaps(qrels: Mapping[str, Qrels], forms: Mapping[str, str | None]) -> Overlaps:
    """Find collections that share documents, and how many topics.

    Topics are the same where their ids are and the collections share documents: the judgments of
    two rounds may be of other documents (TREC-COVID).

    Parameters
    ----------
    qrels : mapping of str to Qrels
        By the collection's name.
    forms : mapping of str to str or None
        What document ids look like in a collection, where that is known.
    """
    documents = {name: frozenset(chain.from_iterable(q.judged.values()))
                 for name, q in qrels.items()}
    found = {}
    for a, b in combinations(qrels, 2):
        shared = documents[a] & documents[b]
        topics = set(qrels[a].topics).intersection(qrels[b].topics)
        alike = sum(not qrels[a].judged[t].keys().isdisjoint(qrels[b].judged[t]) for t in topics)
        # Plain numbers may name other documents elsewhere, unless they do so topic by topic.
        if shared and (alike > len(topics) / 2 or any(not d.isdigit() for d in shared)
                       or (forms[a] is not None and forms[a] == forms[b])):
            found[a, b] = len(topics)
    return Overlaps(found)
