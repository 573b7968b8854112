"""How well a factor set matches judgments, and which set recognition chose."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ir_std._arrays import Mask
from ir_std.factors import fit_words
from ir_std.factors.collection import Agreement, Collection, look_alike
from ir_std.factors.factor_set import FactorSet
from ir_std.factors.fit_words import describe_fit
from ir_std.factors.quality import Quality, quality_warning

BY_MEASURES = "names of measures"
"""The type of a match where only topic IDs and a user's own name of a measure agree."""
MIN_COUNTED_TOPICS = 10
"""The fewest topics to compare where the judgments themselves cannot be compared."""
MIN_COUNT_AGREEMENT = 0.9
"""The share of the topics on which counts must agree, where only they are compared."""


@dataclass(frozen=True, eq=False, repr=False)
class Fit:
    """How well one factor set fits judgments; ``str(fit)`` says so in words.

    Attributes
    ----------
    factors : FactorSet
    collection : Collection
        What it was compared with.
    match_type : {'judgments', 'counts', 'dataset names', 'names of measures', 'systems'} or None
        Why it fits.  ``judgments``: the relevant documents are the same, except on
        ``differing_topics``.  ``counts``: there are as many, except on ``count_mismatches``, and
        which they are is not known.  ``dataset names``: only these were compared.  ``systems``: the
        scores are those of its own systems.  None if it does not fit.
    mismatch_reason : str or None
        Why the set does not fit; None if it does.
    """

    factors: FactorSet
    collection: Collection
    match_type: str | None = None
    mismatch_reason: str | None = None

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
    def agreement(self) -> Agreement:
        """How the judgments of the matched topics agree at any level."""
        return Agreement(self.factors, self.collection, self.matched)

    @cached_property
    def _is_comparable(self) -> Mask:
        """Where the numbers of relevant documents are known on both sides, and not both 0."""
        there, here = self.agreement.counts(1)
        return np.asarray((there >= 0) & (here >= 0) & (there + here > 0))

    @cached_property
    def comparable_topics(self) -> tuple[str, ...]:
        """Topics whose numbers of relevant documents are known on both sides, and not both 0."""
        return self.agreement.topics_where(self._is_comparable)

    @cached_property
    def count_mismatches(self) -> Mapping[str, tuple[int, int]]:
        """Topics whose numbers of relevant documents differ: (in the set, in the qrels)."""
        there, here = self.agreement.counts(1)
        rows = np.flatnonzero(self._is_comparable & (there != here)).tolist()
        return {self.matched[i]: (int(there[i]), int(here[i])) for i in rows}

    @cached_property
    def identical_topics(self) -> tuple[str, ...]:
        """Topics on which the relevant documents are known to be the same."""
        comparable = set(self.comparable_topics)
        return tuple(t for t in self.agreement.at_level(1).identical if t in comparable)

    @cached_property
    def _documents_compared(self) -> Mask:
        return self._is_comparable & self.agreement.compares_documents

    @cached_property
    def differing_topics(self) -> tuple[str, ...]:
        """Topics on which the relevant documents are known to be others."""
        same = set(self.identical_topics)
        compared = self.agreement.topics_where(self._documents_compared)
        return tuple(topic for topic in compared if topic not in same)

    @cached_property
    def count_only_topics(self) -> tuple[str, ...]:
        """Topics of which only the numbers of relevant documents can be compared."""
        return self.agreement.topics_where(self._is_comparable & ~self._documents_compared)

    @cached_property
    def verified_topics(self) -> tuple[str, ...]:
        """Topics whose judgments are these: by fingerprints or, where these are unknown, counts."""
        topics = {*self.identical_topics}
        if self.counts_suffice:
            topics.update(t for t in self.count_only_topics if t not in self.count_mismatches)
        return tuple(topic for topic in self.matched if topic in topics)

    @cached_property
    def unverified_topics(self) -> tuple[str, ...]:
        """Topics that nothing speaks for: too few to go by their numbers of relevant documents."""
        if self.match_type != "judgments" or self.counts_suffice:
            return ()
        at = self.agreement.at_level(1)
        topics = {*at.count_only, *at.unknown}
        return tuple(topic for topic in self.matched if topic in topics)

    def without_value(self, levels: Iterable[int]) -> list[str]:
        """Return topics without a standardized value of a measure that looks at these levels."""
        topics = {*self.agreement.differing(levels), *self.unverified_topics}
        return [topic for topic in self.matched if topic in topics]

    @cached_property
    def counts_suffice(self) -> bool:
        """True if topics of which only counts can be compared may go by these."""
        return not (
            self.counts_disagree
            or (self.unfamiliar_id and self.count_only_topics)
            or not self.has_enough_counts
        )

    @property
    def counts_disagree(self) -> bool:
        """True if counts differ on too many of the topics of which only these are known."""
        n = len(self.count_only_topics)
        differ = sum(topic in self.count_mismatches for topic in self.count_only_topics)
        return n - differ < MIN_COUNT_AGREEMENT * n

    @property
    def has_enough_counts(self) -> bool:
        """True if enough topics can be compared for counts of documents to prove something."""
        counts, topics = self.collection.counts, self.count_only_topics
        return len(topics) >= MIN_COUNTED_TOPICS and any(counts[t] != 1 for t in topics)

    # -- the whole ---------------------------------------------------------------------------------

    @cached_property
    def unfamiliar_id(self) -> str | None:
        """A document ID, where none looks like the set's ``doc_id_example``."""
        example, ids = self.factors.info.get("doc_id_example"), self.collection.doc_ids
        return ids[0] if example and ids and not look_alike([example], ids) else None

    @property
    def is_subset(self) -> bool:
        """True if the qrels hold only a part of the set's topics."""
        return len(self.matched) < len(self.factors.topics)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of the matched topics, where the set has topics of others, too."""
        known = self.factors.info.get("topic_kinds", {})
        kinds = tuple(dict.fromkeys(known[t] for t in self.matched if t in known))
        return kinds if len(kinds) < len(set(known.values())) else ()

    @property
    def dataset(self) -> str | None:
        """The dataset that the qrels are, where factors are of whole datasets."""
        whole = self.factors.of_datasets and self.collection.qrels is not None
        return next(iter(self.collection.counts)) if whole else None

    @cached_property
    def levels(self) -> list[int]:
        """The levels from 1 that occur, in the set or in the qrels."""
        known = {1, *(at for t in self.matched for at in self.factors.judgments[t].levels or ())}
        return sorted(at for at in known | self.collection.levels if at > 0)

    def agrees(self, level: int | None = None) -> bool | None:
        """Check whether the judgments agree on what is relevant at a level, on every topic.

        Parameters
        ----------
        level : int, optional
            Lowest level that counts as relevant, such as a measure's ``rel``; by default all
            levels, which graded gains look at.

        Returns
        -------
        bool or None
            None if the set does not know its judgments at that level.
        """
        at = [self.agreement.at_level(each) for each in ([level] if level else self.levels)]
        if any(each.different for each in at):
            return False
        return None if any(not (each.identical or each.count_only) for each in at) else True

    # -- words -------------------------------------------------------------------------------------

    @property
    def caveat(self) -> str | None:
        """What a reader should know of a fit that is not perfect; None if it is."""
        return fit_words.caveat(self)

    @property
    def summary(self) -> str:
        """Which set, how many systems it has, and what matched on how many topics."""
        return fit_words.describe_fit(self)

    def __str__(self) -> str:
        return f"{self.summary}; {self.caveat}" if self.caveat else self.summary

    def __repr__(self) -> str:
        return f"<Fit: {self}>"


def fit_set(factors: FactorSet, collection: Collection) -> Fit:
    """Compare one set with a collection."""
    fit = Fit(factors, collection)
    proof = "judgments" if fit.identical_topics else "counts"
    if factors.of_datasets and fit.matched:
        return Fit(factors, collection, proof if proof == "judgments" else "dataset names")
    n = len(fit.comparable_topics)
    if n and 2 * len(fit.verified_topics) >= n:
        return Fit(factors, collection, proof)
    return Fit(factors, collection, mismatch_reason=fit_words.mismatch_reason(fit))


@dataclass(frozen=True, eq=False, repr=False)
class Match:
    """The outcome of recognition; ``str(match)`` says it in a sentence.

    Attributes
    ----------
    fit : Fit or None
        The set that is used and how well it fits; None if no set fits.
    alternatives : tuple of str
        Ids of other sets that would fit.
    nearest : tuple of Fit
        If no set fits: those that come nearest, with the reason why they do not.
    chosen_by : str
        ``"qrels"``, ``"name"`` (given by the user), ``"ir_datasets id"``, or ``"systems"``: the
        scores are those of its own systems.
    equivalent_sets : tuple of str
        Those of the others that are the user's own and hold as many of the topics.
    elsewhere : mapping of str to int
        Other sets whose judgments agree on topics that the set that is used does not hold, with
        their numbers of such topics; of all topics if none is used.

    Examples
    --------
    >>> match = ir_std.recognize("qrels.txt")
    >>> match.factors.id, match.alternatives, match.chosen_by
    ('trec8-adhoc', ('robust04',), 'qrels')
    >>> print(ir_std.recognize({"401": {"FBIS3-1": 1}}))
    no factor set has the judgments of these qrels; ...
    """

    fit: Fit | None
    alternatives: tuple[str, ...] = ()
    nearest: tuple[Fit, ...] = ()
    chosen_by: str = "qrels"
    equivalent_sets: tuple[str, ...] = ()
    elsewhere: Mapping[str, int] = field(default_factory=dict)

    @property
    def factors(self) -> FactorSet | None:
        """The factor set that is used, or None."""
        return self.fit.factors if self.fit else None

    @property
    def qualities(self) -> dict[str, str]:
        """Quality label of each measure of the set; empty if no set matches.

        One of ``ok``, ``few-systems``, ``coarse``, ``pre-2019`` or ``weak-systems``; computed from
        the set's scores on the topics that matched.
        """
        if self.fit is None:
            return {}
        factors, topics = self.fit.factors, self.fit.matched
        return {m: Quality(factors, m, topics).label for m in factors.measures}

    def quality_warnings(self, measures: Iterable[str]) -> list[str]:
        """Return the known limitations of the set's factors for these measures."""
        if self.fit is None:
            return []
        factors, by_label = self.fit.factors, dict[str, list[str]]()
        for name in measures:
            if name in factors.n_systems:
                label = Quality(factors, name, self.fit.matched).label
                by_label.setdefault(label, []).append(name)
        return [
            quality_warning(label, factors, names, is_general=len(by_label) == 1)
            for label, names in by_label.items()
            if label != "ok"
        ]

    @property
    def summary(self) -> str:
        """Which set is used and what matched, without caveats."""
        return self.describe(())

    def describe(self, measures: Iterable[str]) -> str:
        """Say :attr:`summary`, and the known limitations of the factors for these measures."""
        if self.fit is None:
            return str(self)
        return f"using {describe_fit(self.fit, '; '.join(self.quality_warnings(measures)))}"

    def __repr__(self) -> str:
        return f"<Match: {self}>"

    def __str__(self) -> str:
        if self.fit:
            return f"using {self.fit}"
        if len(self.elsewhere) > 1:
            sets = " and ".join(f"{name} ({n})" for name, n in self.elsewhere.items())
            return (
                f"no factor set holds more than half of these topics, which belong to {sets}; "
                "evaluate each collection by itself with `ir_std compare`"
            )
        if not self.nearest:
            return "no factor set has these topics; build one with `ir_std build`"
        closest = self.nearest[0]
        collection, factors = closest.collection, closest.factors
        what = "datasets" if factors.of_datasets else "qrels" if collection.qrels else "scores"
        if not (collection.counts_known or collection.qrels or factors.of_datasets):
            return f"no factor set matches these scores, which have no num_rel; {self._way_out}"
        if closest.unfamiliar_id or (closest.n_missing > 0 and not closest.identical_topics):
            return (
                f"no factor set has the judgments of these {what}; {factors.id} has topics with "
                f"these IDs, but {closest.mismatch_reason}; build a set with `ir_std build`"
            )
        return (
            f"no factor set matches these {what}; closest is {factors.id}, but "
            f"{closest.mismatch_reason}; pass --factors {factors.id} (factors=) to use it anyway, "
            "or build a set with `ir_std build`"
        )

    @property
    def _way_out(self) -> str:
        """What to do about scores without counts: name the set whose topics they are, or build."""
        sets = [fit.factors.id for fit in self.nearest if not fit.n_missing and not fit.is_subset]
        if sets:
            return f"their topics are those of {sets[0]}: pass --factors {sets[0]} (factors=)"
        return "name one with --factors (factors=), or build one with `ir_std build --from-scores`"
