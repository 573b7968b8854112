"""How well a factor set fits judgments: by counts, by fingerprints, and by document ids."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ir_std.errors import abbreviate
from ir_std.factors.collection import Collection, JudgmentComparison, differ_widely, most_agree
from ir_std.factors.doc_ids import looks_like
from ir_std.factors.factor_set import FactorSet

ENOUGH = 10
"""The fewest topics to compare where the judgments themselves cannot be compared."""


@dataclass(frozen=True, eq=False, repr=False)
class Fit:
    """How well one factor set fits judgments; ``str(fit)`` says so in words.

    Attributes
    ----------
    factors : FactorSet
        Where several sets serve together: the rows of all, see
        :func:`ir_std.factors.derived.join_sets`.
    collection : Collection
        What it was compared with.
    basis : {'judgments', 'counts', 'names', 'nearly', 'names of data sets'} or None
        Why it fits.  ``judgments``: the relevant documents are the same.  ``counts``: there are
        as many on every topic, but which they are is not known.  ``names``: there are as many at
        every level, under other document ids.  ``nearly``: most topics agree, as after judging
        again.  ``names of data sets``: only the data sets' names were compared.  None if it does
        not fit.
    compared : JudgmentComparison
        The judgments topic by topic.
    strange_id : str or None
        A document id that does not match the set's ``doc_id_pattern``; None if there is none, or
        ids were not looked at.
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
            agreements = [self.agrees(at) for at in self._levels]
            return None if None in agreements else all(agreements)
        if level not in self._agreement:
            self._agreement[level] = self._agrees_at(level)
        return self._agreement[level]

    @cached_property
    def _agreement(self) -> dict[int, bool | None]:
        """The answers of :meth:`agrees` by level, which each measure asks for."""
        return {}

    def _agrees_at(self, level: int) -> bool | None:
        topics = [
            t
            for t in self.matched
            if self.factors.judgments[t].knows(level)
            and self.collection.at_least(t, level) is not None  # scores may lack num_rel
        ]
        if not topics:
            return None
        return most_agree(len(topics), sum(self._differs(t, level) for t in topics))

    @cached_property
    def _levels(self) -> list[int]:
        known = {1, *(at for t in self.matched for at in self.factors.judgments[t].levels or ())}
        return sorted(at for at in known | self.collection.levels if at > 0)

    def _differs(self, topic: str, level: int) -> bool:
        known = self.factors.judgments[topic]
        same = topic in self._same_topics
        if same and known.fingerprint(level) == self.collection.fingerprint(topic, level):
            return False
        there, here = known.at_least(level), self.collection.at_least(topic, level)
        if there is None or here is None:
            return False
        if there != here:
            return differ_widely(there, here)
        # Where the relevant documents are the same, those at a higher level should be too.
        return same and there > 0

    @cached_property
    def _same_topics(self) -> frozenset[str]:
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
        return most_agree(len(there), sum(differ_widely(n, here[t]) for t, n in there.items()))

    @property
    def doubt(self) -> str | None:
        """What a reader should know of a fit that is not perfect; None if it is."""
        return "; ".join(self._doubts()) or None

    def _doubts(self) -> Iterator[str]:
        differ, others = self.compared.differ, self.compared.others
        if differ:
            yield (
                f"on {len(differ)} of them the number of relevant documents "
                f"differs ({_example(differ)})"
            )
        if self.basis == "names":
            yield (
                "the documents have other names, and are taken for the same since there "
                "are as many at every level"
            )
        elif others:
            yield _other_documents(others, "topics")
        if self.basis != "names" and self.strange_id:
            yield f"document ids such as {self.strange_id!r} are not the collection's"
        unlike = [at for at in self._levels if at > 1 and self.agrees(at) is False]
        if unlike:
            yield f"the judgments differ at level {abbreviate(map(str, unlike))}"

    @property
    def summary(self) -> str:
        """Which set, how many systems are behind it, and how many topics matched."""
        if self.dataset is not None:
            return self._dataset_summary(self.dataset)
        sets = " and ".join(
            f"{s.id} ({s.title}; {s.systems_text()} systems)"
            for s in (f.factors for f in self.parts or (self,))
        )
        total = len(self.matched) + len(self.missing)
        unit = "data sets" if self.factors.of_datasets else "topics"
        return f"{sets}: {len(self.matched)} of {total} {unit} matched{self._evidence()}"

    def _evidence(self) -> str:
        """By what the topics matched."""
        if self.basis == "judgments":
            text = ", the same judgments" if self.agrees() else ", the same relevant documents"
            if self.compared.counted:
                text += (
                    f" on {len(self.compared.same)} of them, as many relevant documents on "
                    f"the others"
                )
            return text
        if self.basis == "counts" and self.exact:
            return " by their numbers of relevant documents"
        if self.basis is None and not (self.collection.qrels or self.factors.of_datasets):
            return "; whether the judgments are the same is not known"
        return ""

    def __str__(self) -> str:
        return f"{self.summary}; {self.doubt}" if self.doubt else self.summary

    def __repr__(self) -> str:
        return f"<Fit: {self}>"

    def _dataset_summary(self, name: str) -> str:
        same = ", the same relevant documents" if self.basis == "judgments" else ""
        row = self.factors.rows([name])[0]
        systems = max(int(np.isfinite(s[row]).sum()) for s in self.factors.scores.values())
        return (
            f"{self.factors.id} ({self.factors.title}): the whole data set {name}{same}; "
            f"{systems} systems; only means can be standardized"
        )


def fit_set(factors: FactorSet, collection: Collection) -> Fit:
    """Compare one set with a collection."""
    compared = JudgmentComparison.of(factors.judgments, collection)
    fit = Fit(factors, collection, None, compared)
    if compared.same and fit.exact:
        return replace(fit, basis="judgments")
    if factors.of_datasets and fit.matched:
        return replace(fit, basis="names of data sets")
    strange_ids = _strange_ids(factors, collection)
    fit = replace(fit, strange_id=next(iter(strange_ids), None))
    all_strange = len(strange_ids) == len(collection.doc_ids)
    if compared.others and all_strange and _documents_renamed(fit):
        return replace(fit, basis="names")
    why_not = _why_not(fit)
    if why_not:
        return replace(fit, why_not=why_not)
    return replace(fit, basis="counts" if fit.exact else "nearly")


def _strange_ids(factors: FactorSet, collection: Collection) -> list[str]:
    """The document ids that do not look like those of the set's collection."""
    pattern = factors.info.get("doc_id_pattern")
    return [d for d in collection.doc_ids if not looks_like(pattern, d)] if pattern else []


def _documents_renamed(fit: Fit) -> bool:
    """Whether these may be the same judgments under other document ids."""
    compared = fit.compared
    return (
        not compared.same
        and not compared.differ
        and _counts_suffice(fit)
        and all(
            fit.collection.at_least(t, at) == fit.factors.judgments[t].at_least(at)
            for t in compared.others
            for at in fit._levels
        )
    )


def _counts_suffice(fit: Fit) -> bool:
    """Whether enough topics can be compared for counts to prove something."""
    topics = fit.compared.comparable
    return len(topics) >= ENOUGH and any(fit.collection.counts[t] != 1 for t in topics)


def _why_not(fit: Fit) -> str | None:
    """Why a set does not fit; None if it does."""
    if not fit.compared.comparable:
        return _why_not_comparable(fit)
    return _why_counts_differ(fit) or _why_not_enough(fit)


def _why_not_comparable(fit: Fit) -> str:
    if not fit.matched:
        return "holds none of the topics"
    here = any(n is not None for n in fit.collection.counts.values())
    where = "there" if here else "here (no num_rel)"
    return f"how many documents are relevant is not known {where}: it is used by name only"


def _why_counts_differ(fit: Fit) -> str | None:
    differ, others = fit.compared.differ, fit.compared.others
    n = len(fit.compared.comparable)
    if most_agree(n, len(others) + sum(differ_widely(*pair) for pair in differ.values())):
        return None
    if differ:
        return (
            f"the number of relevant documents differs on {len(differ)} of {n} topics "
            f"({_example(differ)})"
        )
    return _other_documents(others, f"of {n} topics")


def _why_not_enough(fit: Fit) -> str | None:
    """Why counts that agree prove too little."""
    compared = fit.compared
    n = len(compared.comparable)
    judgments = fit.factors.judgments
    if not compared.same:
        proof_exists = any(judgments[t].fingerprints for t in (*compared.differ, *compared.others))
        if proof_exists and fit.collection.qrels:
            return f"on none of {n} topics are the same documents relevant"
        if fit.strange_id and not fit.exact:
            return f"document ids such as {fit.strange_id!r} do not look like the collection's"
    if not _counts_suffice(fit):
        return (
            f"only {n} topics can be compared, and by numbers of relevant documents alone: it "
            f"takes {ENOUGH}, not all of which have one"
        )
    return None


def _example(differ: Mapping[str, tuple[int, int]]) -> str:
    topic, (there, here) = next(iter(differ.items()))
    return f"such as topic {topic}: {there} in the set, {here} here"


def _other_documents(topics: tuple[str, ...], of: str) -> str:
    return (
        f"on {len(topics)} {of} as many documents are relevant, but "
        f"not the same ones ({abbreviate(topics)})"
    )
