"""How well a factor set fits judgments, topic by topic, and in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ir_std.errors import abbreviate, counted
from ir_std.factors.agreement import Agreement
from ir_std.factors.collection import Collection, differ_widely, most_agree
from ir_std.factors.factor_set import FactorSet
from ir_std.factors.judgments import ALL_JUDGED

BY_MEASURES = "names of measures"
"""The basis of a fit where ids of topics and a user's own name of a measure are all that agrees."""
ENOUGH = 10
"""The fewest topics to compare where the judgments themselves cannot be compared."""


@dataclass(frozen=True, eq=False, repr=False)
class Fit:
    """How well one factor set fits judgments; ``str(fit)`` says so in words.

    Attributes
    ----------
    factors : FactorSet
        Where several sets serve together: the rows of all, see
        ``ir_std.factors.derived.join_sets``.
    collection : Collection
        What it was compared with.
    basis : {'judgments', 'counts', 'names', 'nearly', 'names of data sets', 'systems'} or None
        Why it fits.  ``judgments``: the relevant documents are the same, but on ``refuted``
        topics.  ``counts``: there are as many on every topic, but which they are is not known.
        ``names``: there are as many at every level, under other document ids.  ``nearly``: there
        are nearly as many on most topics, as after judging again.  ``names of data sets``: only
        the data sets' names were compared.  ``systems``: the scores are of its own systems.  None
        if it does not fit.
    strange_id : str or None
        A document id that does not match the set's ``doc_id_pattern``; None if there is none, or
        ids were not looked at.
    why_not : str or None
        Why the set does not fit; None if it does.
    parts : tuple of Fit
        The sets that serve together; empty if it is one.
    contested : frozenset of str
        Topics on which another set of the same documents knows that other ones are relevant.
    """

    factors: FactorSet
    collection: Collection
    basis: str | None = None
    strange_id: str | None = None
    why_not: str | None = None
    parts: tuple[Fit, ...] = ()
    contested: frozenset[str] = frozenset()

    @cached_property
    def agreement(self) -> Agreement:
        """How the judgments agree, topic by topic and level by level."""
        return Agreement(
            self.factors.judgments,
            self.matched,
            self.collection,
            self.factors.info.get("max_level"),
            renamed=self.basis == "names",
        )

    # -- topics ------------------------------------------------------------------------------------

    @cached_property
    def matched(self) -> tuple[str, ...]:
        """Topics of the qrels that the set holds."""
        return self.collection.shared_topics(self.factors.judgments.names())

    @cached_property
    def missing(self) -> tuple[str, ...]:
        """Topics of the qrels that have relevant documents and that the set does not hold."""
        counts = self.collection.counts
        return tuple(t for t, n in counts.items() if n != 0 and t not in self.factors.judgments)

    @property
    def n_missing(self) -> int:
        """The number of :attr:`missing`, which may be long."""
        counts = self.collection.counts
        return self.collection.n_judged - sum(counts[t] != 0 for t in self.matched)

    @cached_property
    def comparable(self) -> tuple[str, ...]:
        """Topics whose numbers of relevant documents are known on both sides, and not both 0."""
        return tuple(
            topic
            for topic in self.matched
            if None not in (pair := self.agreement.numbers(topic, 1)) and any(pair)
        )

    @cached_property
    def differ(self) -> Mapping[str, tuple[int, int]]:
        """Topics whose numbers of relevant documents differ: (in the set, in the qrels)."""
        n_rel, counts = self.factors.n_rel, self.collection.counts
        return {
            topic: (there, here)
            for topic in self.comparable
            if (there := n_rel[topic]) is not None
            and (here := counts[topic]) is not None
            and there != here
        }

    @cached_property
    def same(self) -> tuple[str, ...]:
        """Topics on which the relevant documents are known to be the same."""
        return self._at_level_1(self.agreement.at(1).same)

    @cached_property
    def refuted(self) -> tuple[str, ...]:
        """Topics on which the relevant documents are known to be others."""
        compares = self.agreement.compares_documents
        return tuple(t for t in self._at_level_1(self.agreement.at(1).differ) if compares(t, 1))

    @cached_property
    def counted(self) -> tuple[str, ...]:
        """Topics of which only the numbers of relevant documents can be compared."""
        known = {*self.same, *self.refuted}
        return tuple(topic for topic in self.comparable if topic not in known)

    def _at_level_1(self, topics: Iterable[str]) -> tuple[str, ...]:
        comparable = set(self.comparable)
        return tuple(topic for topic in topics if topic in comparable)

    @cached_property
    def unproven(self) -> tuple[str, ...]:
        """Topics that nothing speaks for: too few to go by their numbers of relevant documents."""
        topics = {*self.contested}
        if self.basis == "judgments" and self.why_not_by_numbers:
            topics.update(self.agreement.at(1).counted, self.agreement.at(1).unknown)
        return tuple(topic for topic in self.matched if topic in topics)

    def without_value(self, levels: Iterable[int]) -> list[str]:
        """Topics that a measure which looks at these levels has no standardized value on."""
        topics = {*self.agreement.differing(levels), *self.unproven}
        return [topic for topic in self.matched if topic in topics]

    @property
    def partial(self) -> bool:
        """Whether the qrels hold only a part of the set's topics."""
        return len(self.matched) < len(self.factors.topics)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of the matched topics, where the set has topics of others, too."""
        known = self.factors.info.get("topic_kinds", {})
        kinds = tuple(dict.fromkeys(known[t] for t in self.matched if t in known))
        return kinds if len(kinds) < len(set(known.values())) else ()

    @property
    def exact(self) -> bool:
        """Whether nothing is known to differ on level 1."""
        return not (self.differ or self.refuted) or self.basis == "names"

    @property
    def dataset(self) -> str | None:
        """The data set that the qrels are, where factors are of whole data sets."""
        whole = self.factors.of_datasets and self.collection.qrels is not None
        return next(iter(self.collection.counts)) if whole else None

    # -- levels ------------------------------------------------------------------------------------

    @cached_property
    def levels(self) -> list[int]:
        """The levels from 1 that occur, in the set or in the qrels."""
        known = {1, *(at for t in self.matched for at in self.factors.judgments[t].levels or ())}
        return sorted(at for at in known | self.collection.levels if at > 0)

    def agrees(self, level: int | None = None) -> bool | None:
        """Whether the judgments agree on what is relevant at a level, on every topic.

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
        at = [self.agreement.at(each) for each in ([level] if level else self.levels)]
        if any(each.differ for each in at):
            return False
        return None if any(not (each.same or each.counted) for each in at) else True

    def numbers_suffice(self, topics: Iterable[str]) -> bool:
        """Whether enough topics can be compared for numbers of documents to prove something."""
        topics = list(topics)
        return len(topics) >= ENOUGH and any(self.collection.counts[t] != 1 for t in topics)

    # -- words -------------------------------------------------------------------------------------

    def difference(self, levels: Iterable[int]) -> str | None:
        """On how many topics, and at which of the levels, judgments differ; None if on none."""
        levels = [level for level in levels if self.agreement.at(level).differ]
        if not levels:
            return None
        topics = self.agreement.differing(levels)
        relevant = [level for level in levels if level > 0]
        where = [f"at level {abbreviate(map(str, relevant))}"] if relevant else []
        if len(relevant) < len(levels):
            where.append("in what is judged not relevant")
        return (
            f"the judgments of {len(topics)} of {counted(len(self.matched), 'topic')} differ "
            f"{' and '.join(where)} ({self.example(levels[-1])})"
        )

    def example(self, level: int) -> str:
        """A topic whose judgments differ at a level, in words."""
        topic = self.agreement.at(level).differ[0]
        there, here = self.agreement.numbers(topic, level)
        if there == here:
            return f"such as topic {topic}: {there} in both, but not the same documents"
        return f"such as topic {topic}: {there} in the set, {here} here"

    @property
    def why_not_by_numbers(self) -> str | None:
        """Why topics of which only numbers are known cannot go by these; None if they can."""
        differ = {t: pair for t, pair in self.differ.items() if t in set(self.counted)}
        n = len(self.counted)
        if not most_agree(n, sum(differ_widely(*pair) for pair in differ.values())):
            topic, (there, here) = next(iter(differ.items()))
            return (
                f"the number of relevant documents differs on {len(differ)} of "
                f"{counted(n, 'topic')} (such as topic {topic}: {there} in the set, {here} here)"
            )
        if differ and self.strange_id:
            return f"document ids such as {self.strange_id!r} do not look like the collection's"
        if not self.numbers_suffice(self.counted):
            return (
                f"only {counted(n, 'topic')} can be compared, and by numbers of relevant documents "
                f"alone: it takes {ENOUGH}, not all of which have one"
            )
        return None

    @property
    def doubt(self) -> str | None:
        """What a reader should know of a fit that is not perfect; None if it is."""
        return "; ".join(self._doubts()) or None

    def _doubts(self) -> Iterator[str]:
        if self.basis == "names":
            yield (
                "the documents have other names, and are taken for the same since there "
                "are as many at every level"
            )
        elif difference := self.difference(self.levels):
            yield difference
        near = {t: pair for t, pair in self.differ.items() if t in self.agreement.at(1).counted}
        if near:
            topic, (there, here) = next(iter(near.items()))
            yield (
                f"on {len(near)} of them the number of relevant documents differs "
                f"(such as topic {topic}: {there} in the set, {here} here)"
            )
        if self.unproven:
            yield (
                f"the numbers of relevant documents alone do not prove {len(self.unproven)} "
                f"topics ({abbreviate(self.unproven)})"
            )
        if self.basis != "names" and self.strange_id:
            yield f"document ids such as {self.strange_id!r} are not the collection's"
        if self._nothing_compared and self.collection.qrels:
            yield "nothing was compared, since the set does not know its judgments"

    @property
    def _nothing_compared(self) -> bool:
        unknown = set(self.agreement.at(1).unknown)
        return bool(self.matched) and unknown.issuperset(self.matched)

    @property
    def summary(self) -> str:
        """Which set, how many systems are behind it, and how many topics matched."""
        return self.described({})

    def described(self, worth: Mapping[str, str]) -> str:
        """:attr:`summary`, and behind the number of a set's systems what they are worth."""
        if self.dataset is not None:
            return self._dataset_summary(self.dataset)
        sets = " and ".join(
            f"{s.id} ({s.title}; {s.systems_text()} systems{_behind(worth.get(s.id))})"
            for s in (f.factors for f in self.parts or (self,))
        )
        of = counted(len(self.matched) + self.n_missing, self.factors.unit)
        kinds = f"; all are of kind {' or '.join(self.kinds)}" if self.kinds else ""
        return f"{sets}: {len(self.matched)} of {of} matched{self._evidence()}{kinds}"

    def _evidence(self) -> str:
        """By what the topics matched."""
        if self.basis == "systems":
            return ", the same judgments"
        by_numbers = "by numbers of relevant documents alone"
        if self.same and self.basis:
            by_count = [t for t in self.counted if t not in self.unproven]
            same, topics = self._what_is_the_same()
            on = f" on {len(topics)} of them" if len(topics) < len(self.matched) else ""
            return f", {same}{on}" + (f", {len(by_count)} {by_numbers}" if by_count else "")
        if self.basis == "counts":
            return f" {by_numbers}"
        if self.basis == "nearly":
            return f", nearly, {by_numbers}"
        if self.basis == BY_MEASURES:
            shared = [m for m in self.collection.external if m in self.factors.measures]
            return f" by their ids and the name of {abbreviate(shared)} alone"
        if self.basis is None and not (self.collection.qrels or self.factors.of_datasets):
            return "; whether the judgments are the same is not known"
        return ""

    def _what_is_the_same(self) -> tuple[str, list[str]]:
        """The most that can be said of the topics whose relevant documents are the same."""
        relevant = self.agreement.same([1])
        levels = self.agreement.same(self.levels)
        judged = [t for t in levels if t in {*self.agreement.same([0, ALL_JUDGED])}]
        if len(judged) == len(relevant):
            return "the same judgments", judged
        if len(levels) == len(relevant) and len(self.levels) > 1:
            return "the same relevant documents at every level", levels
        return "the same relevant documents", relevant

    def __str__(self) -> str:
        return f"{self.summary}; {self.doubt}" if self.doubt else self.summary

    def __repr__(self) -> str:
        return f"<Fit: {self}>"

    def _dataset_summary(self, name: str) -> str:
        same = f", {self._what_is_the_same()[0]}" if self.basis == "judgments" else ""
        row = self.factors.rows([name])[0]
        systems = max(int(np.isfinite(s[row]).sum()) for s in self.factors.scores.values())
        return (
            f"{self.factors.id} ({self.factors.title}): the whole data set {name}{same}; "
            f"{systems} systems; only means can be standardized"
        )


def _behind(text: str | None) -> str:
    return f", {text}" if text else ""
