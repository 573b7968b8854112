"""What several collections are called and have in common: measures, topics, documents."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations

from ir_measures.measures import Measure

from ir_std.errors import UsageError
from ir_std.evaluation.api import companions
from ir_std.evaluation.plans import match_factors
from ir_std.measures import parse_measure
from ir_std.trec.qrels import Qrels


def collection_names(read: Mapping[object, Qrels]) -> dict[object, str]:
    """What each of the qrels is called: its factor set, and where that is shared its own name.

    Of whole data sets it is the data set's.  Where these are the same too they are numbered.
    """
    fits = {key: match_factors(qrels).fit for key, qrels in read.items()}
    called = {key: (fit.dataset or fit.factors.id) if fit else None for key, fit in fits.items()}
    count = Counter(called.values())
    own = {key: os.path.basename(qrels.name) for key, qrels in read.items()}
    names: dict[object, str] = {}
    for key, known in called.items():
        name = (
            own[key] if known is None else (known if count[known] == 1 else f"{known} ({own[key]})")
        )
        taken = sum(other.startswith(name) for other in names.values())
        names[key] = f"{name} {taken + 1}" if name in names.values() else name
    return names


def common_measures(collections: Iterable[Qrels], schemes: Sequence[str]) -> list[Measure]:
    """The default measures of the collections' factor sets that all of them can standardize.

    Raises
    ------
    UsageError
        If there is none.
    """
    matches = [(match_factors(qrels), qrels) for qrels in collections]
    candidates = dict.fromkeys(
        parse_measure(name)
        for match, _ in matches
        if match.factors
        for name in match.factors.default_measures
    )
    common = [
        m
        for m in candidates
        if all(
            len(companions([m], match, qrels, schemes)[0]) == 1 + len(schemes)
            for match, qrels in matches
            if match.factors
        )
    ]
    if not common:
        raise UsageError("no measure has factors in every one of these collections: name measures")
    return common


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
            _twice(*pair, n) for pair, n in self.topics.items() if n and set(pair) <= set(names)
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know of each two."""
        return tuple(
            _twice(a, b, n)
            if n
            else f"{a} and {b} share documents, not topics: what "
            f"depends on the documents is seen twice"
            for (a, b), n in self.topics.items()
        )


def _twice(a: str, b: str, n: int) -> str:
    return f"{a} and {b} share {n} topic{'s' * (n > 1)}: not pooled, they would count twice"


def find_overlaps(qrels: Mapping[str, Qrels], forms: Mapping[str, str | None]) -> Overlaps:
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
    documents = {
        name: frozenset(chain.from_iterable(q.judged.values())) for name, q in qrels.items()
    }
    found = {}
    for a, b in combinations(qrels, 2):
        topics = set(qrels[a].topics).intersection(qrels[b].topics)
        shared = documents[a] & documents[b]
        formed_alike = forms[a] is not None and forms[a] == forms[b]
        if documents[a] and documents[b]:
            alike = sum(
                not qrels[a].judged[t].keys().isdisjoint(qrels[b].judged[t]) for t in topics
            )
            # Plain numbers may name other documents elsewhere, unless they do so topic by topic.
            same = any(not d.isdigit() for d in shared) or (bool(shared) and formed_alike)
        else:  # scores tell no documents, at best how many are relevant
            first, second = (
                dict(zip(q.topics, q.count().tolist(), strict=True)) for q in (qrels[a], qrels[b])
            )
            alike = sum(first[t] == second[t] > 0 for t in topics)
            same = bool(topics) and formed_alike
        if same or alike > len(topics) / 2:
            found[a, b] = len(topics)
    return Overlaps(found)
