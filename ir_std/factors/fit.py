"""How well a factor set fits judgments: by counts, by fingerprints, and by document ids."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ir_std.errors import abbreviate
from ir_std.factors.doc_ids import looks_like
from ir_std.factors.factor_set import FactorSet
from ir_std.factors.judgments import Judgments, documents_in, fingerprint
from ir_std.trec.qrels import Qrels

NEAR = 0.1
"""Numbers of documents that differ by at most this share agree nearly: TREC re-judges."""
AGREEING = 0.9
"""The share of the topics on which a set must agree at least nearly."""
ENOUGH = 10
"""So many topics it takes where the judgments themselves cannot be compared."""


class Collection:
    """What recognition looks at.

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
        both = [
            (known, here)
            for topic, here in self.counts.items()
            if here is not None and (known := there.get(topic)) is not None and (known or here)
        ]
        return not _enough_agree(len(both), sum(_far(*numbers) for numbers in both))

    def at_least(self, topic: str, level: int) -> int | None:
        """A topic's number of documents at ``level`` or above; None where it is not known."""
        if level == 1:
            return self.counts[topic]
        if self.qrels is None:
            return None
        return int(self.qrels.count(level)[self.qrels.positions[topic]])

    def fingerprint(self, topic: str, level: int) -> str | None:
        """That of a topic's documents at ``level`` or above, where there are; computed once."""
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


class JudgmentComparison(NamedTuple):
    """A set's judgments beside a collection's, topic by topic; each topic is in one place.

    Attributes
    ----------
    missing : tuple of str
        Topics with relevant documents that the set does not hold.
    same, others : tuple of str
        Topics on which the relevant documents are the same, and on which there are as many, but
        others.
    counted : tuple of str
        Topics with the same number of relevant documents, whatever these are.
    differ : dict of str to (int, int)
        Topics whose numbers of relevant documents differ: (in the set, in the collection).
    silent : tuple of str
        Topics that tell nothing: the set's number is not known, or there is no relevant document.
    """

    missing: tuple[str, ...]
    same: tuple[str, ...]
    others: tuple[str, ...]
    counted: tuple[str, ...]
    differ: Mapping[str, tuple[int, int]]
    silent: tuple[str, ...]

    @classmethod
    def of(cls, judgments: Mapping[str, Judgments], collection: Collection) -> JudgmentComparison:
        """Compare topic by topic."""
        missing: list[str] = []
        same: list[str] = []
        others: list[str] = []
        counted: list[str] = []
        silent: list[str] = []
        differ: dict[str, tuple[int, int]] = {}
        for topic, here in collection.counts.items():
            if topic not in judgments:
                if here != 0:
                    missing.append(topic)
                continue
            there, _, prints = judgments[topic]
            if there is None or here is None or not (there or here):
                silent.append(topic)
            elif there != here:
                differ[topic] = (there, here)
            elif prints is None or (found := collection.fingerprint(topic, 1)) is None:
                counted.append(topic)
            else:
                (same if found == next(iter(prints.values())) else others).append(topic)
        return cls(
            tuple(missing), tuple(same), tuple(others), tuple(counted), differ, tuple(silent)
        )

    @property
    def telling(self) -> int:
        """The number of topics on which the two can be compared."""
        return len(self.same) + len(self.others) + len(self.counted) + len(self.differ)


@dataclass(frozen=True, eq=False, repr=False)
class Fit:
    """How well one factor set fits judgments; ``str(fit)`` says it.

    Attributes
    ----------
    factors : FactorSet
        Where several sets serve together: the rows of all, see
        :func:`ir_std.factors.joined.join_sets`.
    collection : Collection
        What it was compared with.
    basis : {'judgments', 'counts', 'names', 'nearly', 'names of data sets'} or None
        Why it fits: the relevant documents are the same; there are as many, and which is not
        known; there are as many at every level, under other names; it is so on most topics, as
        after judging again.  None if it does not fit.
    compared : Comparison
        The judgments topic by topic.
    strange_id : str or None
        A document id that does not look like the collection's, where ids were looked at.
    why_not : str or None
        Why the set does not fit; None if it does.
    parts : tuple of Fit
        The sets that serve together; empty if it is one.
    """

    factors: FactorSet
    collection: Collection
    basis: str | None
    compared: JudgmentComparison
    strange_id: str | None = None
    why_not: str | None = None
    parts: tuple[Fit, ...] = ()

    @cached_property
    def matched(self) -> tuple[str, ...]:
        """Topics of the qrels that the set holds."""
        return tuple(t for t in self.collection.counts if t in self.factors.judgments)

    @property
    def missing(self) -> tuple[str, ...]:
        """Topics of the qrels that have relevant documents and that the set does not hold."""
        return self.compared.missing

    @property
    def differ(self) -> Mapping[str, tuple[int, int]]:
        """Topics whose numbers of relevant documents differ: (in the set, in the qrels)."""
        return self.compared.differ

    @property
    def partial(self) -> bool:
        """Whether the qrels hold only a part of the set's topics."""
        return len(self.matched) < len(self.factors.topics)

    @property
    def exact(self) -> bool:
        """Whether nothing is known to differ on level 1."""
        return not (self.compared.differ or self.compared.others) or self.basis == "names"

    @property
    def dataset(self) -> str | None:
        """The data set that the qrels are, where factors are of whole data sets."""
        whole = self.factors.of_datasets and self.collection.qrels is not None
        return next(iter(self.collection.counts)) if whole else None

    def agrees(self, level: int | None = None) -> bool | None:
        """Whether the judgments agree, at least nearly, on what is relevant at a level.

        Parameters
        ----------
        level : int, optional
            The lowest that counts as relevant, as ``rel`` of a measure; all levels if not given,
            as for graded gains.

        Returns
        -------
        bool or None
            None where the set does not know its judgments at that level.
        """
        if level is None:
            found = [self.agrees(at) for at in self._levels]
            return None if None in found else all(found)
        if level not in self._agreement:
            self._agreement[level] = self._agrees_at(level)
        return self._agreement[level]

    @cached_property
    def _agreement(self) -> dict[int, bool | None]:
        """What :meth:`agrees` found, by level: each measure asks again."""
        return {}

    def _agrees_at(self, level: int) -> bool | None:
        topics = [t for t in self.matched if self.factors.judgments[t].knows(level)]
        if not topics or self.collection.at_least(topics[0], level) is None:
            return None
        return _enough_agree(len(topics), sum(self._is_far(t, level) for t in topics))

    @cached_property
    def _levels(self) -> list[int]:
        known = {1, *(at for t in self.matched for at in self.factors.judgments[t].levels or ())}
        return sorted(at for at in known | self.collection.levels if at > 0)

    def _is_far(self, topic: str, level: int) -> bool:
        known = self.factors.judgments[topic]
        same = topic in self._same
        if same and known.fingerprint(level) == self.collection.fingerprint(topic, level):
            return False
        there, here = known.at_least(level), self.collection.at_least(topic, level)
        assert there is not None
        assert here is not None
        if there != here:
            return _far(there, here)
        # Where the relevant documents are the same, those at a higher level should be too.
        return same and there > 0

    @cached_property
    def _same(self) -> frozenset[str]:
        return frozenset(self.compared.same)

    def has_not_relevant(self) -> bool | None:
        """Whether the documents judged not relevant are there, nearly as many as in the set.

        Where the set does not know how many there were: whether there are any.  None where only
        scores are known.
        """
        if self.collection.qrels is None:
            return None
        here = {t: self.collection.not_relevant(t) or 0 for t in self.matched}
        there = {t: known[0] for t in here if (known := self.factors.judgments[t].levels)}
        if not there:
            return any(here.values())
        return _enough_agree(len(there), sum(_far(n, here[t]) for t, n in there.items()))

    @property
    def doubt(self) -> str | None:
        """What a reader should know of a fit that is not perfect; None if it is."""
        compared = self.compared
        found = []
        if compared.differ:
            found.append(
                f"on {len(compared.differ)} of them the number of relevant documents "
                f"differs ({_examples(compared.differ)})"
            )
        if compared.others and self.basis != "names":
            found.append(
                f"on {len(compared.others)} topics as many documents are relevant, but "
                f"not the same ones ({abbreviate(compared.others)})"
            )
        if self.basis == "names":
            found.append(
                "the documents have other names, and are taken for the same since there "
                "are as many at every level"
            )
        elif self.strange_id:
            found.append(f"document ids such as {self.strange_id!r} are not the collection's")
        unlike = [at for at in self._levels if at > 1 and self.agrees(at) is False]
        if unlike:
            found.append(f"the judgments differ at level {abbreviate(map(str, unlike))}")
        return "; ".join(found) or None

    @property
    def summary(self) -> str:
        """Which set, how many systems are behind it, and how many topics matched."""
        sets = " and ".join(
            f"{s.id} ({s.title}; {s.systems_text()} systems)"
            for s in (f.factors for f in self.parts or (self,))
        )
        total = len(self.matched) + len(self.missing)
        if self.dataset is not None:
            return self._of_dataset(self.dataset)
        unit = "data sets" if self.factors.of_datasets else "topics"
        text = f"{sets}: {len(self.matched)} of {total} {unit} matched"
        if self.basis == "judgments":
            text += ", the same judgments" if self.agrees() else ", the same relevant documents"
            if self.compared.counted:
                text += (
                    f" on {len(self.compared.same)} of them, as many relevant documents on "
                    f"the others"
                )
        elif self.basis == "counts" and self.exact:
            text += " by their numbers of relevant documents"
        elif self.basis is None and not (self.collection.qrels or self.factors.of_datasets):
            text += "; whether the judgments are the same is not known"
        return text

    def __str__(self) -> str:
        return f"{self.summary}; {self.doubt}" if self.doubt else self.summary

    def __repr__(self) -> str:
        return f"<Fit: {self}>"

    def _of_dataset(self, name: str) -> str:
        same = {"judgments": ", the same relevant documents"}.get(self.basis or "", "")
        n = max(
            int(np.isfinite(s[self.factors.rows([name])[0]]).sum())
            for s in self.factors.scores.values()
        )
        return (
            f"{self.factors.id} ({self.factors.title}): the whole data set {name}{same}; {n} "
            f"systems; only means can be standardized"
        )


def _far(there: int, here: int) -> bool:
    return abs(there - here) > NEAR * max(there, here)


def _enough_agree(topics: int, far: int) -> bool:
    return topics - far >= AGREEING * topics


def _examples(differ: Mapping[str, tuple[int, int]]) -> str:
    topic, (there, here) = next(iter(differ.items()))
    return f"such as topic {topic}: {there} in the set, {here} here"


def fit_set(factors: FactorSet, collection: Collection) -> Fit:
    """Compare one set with a collection."""
    compared = JudgmentComparison.of(factors.judgments, collection)
    found = Fit(factors, collection, None, compared)
    if compared.same and found.exact:
        return replace(found, basis="judgments")
    if factors.of_datasets and found.matched:
        return replace(found, basis="names of data sets")
    pattern = factors.info.get("doc_id_pattern")
    strange = [d for d in collection.doc_ids if not looks_like(pattern, d)] if pattern else []
    found = replace(found, strange_id=strange[0] if strange else None)
    if compared.others and len(strange) == len(collection.doc_ids) and _renamed(found):
        return replace(found, basis="names")
    why_not = _why_not(found)
    if why_not:
        return replace(found, why_not=why_not)
    return replace(found, basis="counts" if found.exact else "nearly")


def _renamed(found: Fit) -> bool:
    """Whether these may be the same judgments under other names of documents."""
    compared = found.compared
    return (
        not compared.same
        and not compared.differ
        and _enough_counts(found)
        and all(
            found.collection.at_least(t, at) == found.factors.judgments[t].at_least(at)
            for t in compared.others
            for at in found._levels
        )
    )


def _enough_counts(found: Fit) -> bool:
    """Whether so many topics can be compared that counts prove something."""
    compared = found.compared
    known = [*compared.same, *compared.others, *compared.counted, *compared.differ]
    return len(known) >= ENOUGH and any(found.collection.counts[t] != 1 for t in known)


def _why_not(found: Fit) -> str | None:
    compared = found.compared
    if not compared.telling:
        here = any(n is not None for n in found.collection.counts.values())
        where = "there" if here else "here (no num_rel)"
        return (
            f"how many documents are relevant is not known {where}: it is used by name only"
            if found.matched
            else "holds none of the topics"
        )
    n = compared.telling
    far = [t for t, (there, here) in compared.differ.items() if _far(there, here)]
    if not _enough_agree(n, len(far) + len(compared.others)):
        if not compared.differ:
            return (
                f"on {len(compared.others)} of {n} topics as many documents are relevant, but "
                f"not the same ones ({abbreviate(compared.others)})"
            )
        return (
            f"the number of relevant documents differs on {len(compared.differ)} of {n} topics "
            f"({_examples(compared.differ)})"
        )
    known = any(
        found.factors.judgments[t].fingerprints for t in (*compared.differ, *compared.others)
    )
    if known and not compared.same and found.collection.qrels:
        return f"on none of {n} topics are the same documents relevant"
    if not compared.same and found.strange_id and not found.exact:
        return f"document ids such as {found.strange_id!r} do not look like the collection's"
    if not _enough_counts(found):
        return (
            f"only {n} topics can be compared, and by numbers of relevant documents alone: it "
            f"takes {ENOUGH}, not all of which have one"
        )
    return None
