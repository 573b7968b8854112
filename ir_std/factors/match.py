"""The fit of a factor set to judgments, and the match that recognition chooses."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ir_std._arrays import Mask
from ir_std.factors import fit_words
from ir_std.factors.collection import Agreement, Collection, look_alike
from ir_std.factors.factor_set import FactorSet
from ir_std.factors.quality import quality_labels, quality_warnings

BY_MEASURES = "names of measures"
"""Value of :attr:`Fit.match_type` if only topic IDs and the name of a custom measure agree."""
MIN_COUNTED_TOPICS = 10
"""Minimum number of topics to compare by counts if judgments cannot be compared."""
MIN_COUNT_AGREEMENT = 0.9
"""Share of the topics on which counts must agree if only counts can be compared."""


@dataclass(frozen=True, eq=False, repr=False)
class Fit:
    """Fit of one factor set to judgments; ``str(fit)`` describes it.

    Attributes
    ----------
    factors : FactorSet
    collection : Collection
        Collection that is compared with the set.
    known_type : str or None
        The :attr:`match_type`, if the set was not matched by its judgments; None if the judgments
        determine the type.
    """

    factors: FactorSet
    collection: Collection
    known_type: str | None = None

    @cached_property
    def match_type(self) -> str | None:
        """Reason why the set matches; None if it does not match.

        - ``judgments``: the relevant documents are the same, except on ``differing_topics``.
        - ``counts``: the numbers of relevant documents are the same, except on
          ``count_mismatches``; the documents cannot be compared.
        - ``dataset names``: only the names of datasets could be compared.
        - ``names of measures``: only topic IDs and names of custom measures agree.
        - ``systems``: the scores belong to the set's own systems.
        """
        if self.known_type:
            return self.known_type
        if self.factors.of_datasets and self.matched:
            if self.n_queries not in (None, self.collection.n_topics):
                return None
            return "judgments" if self.identical_topics else "dataset names"
        n = np.count_nonzero(self.is_comparable)
        if not n or 2 * np.count_nonzero(self.is_verified) < n:
            return None
        return "judgments" if self.identical_topics else "counts"

    # -- topics ------------------------------------------------------------------------------------

    @cached_property
    def matched(self) -> tuple[str, ...]:
        """Topics of the qrels that are also in the set."""
        return self.collection.shared_topics(self.factors.row_of.keys())

    @cached_property
    def missing(self) -> tuple[str, ...]:
        """Topics of the qrels that have relevant documents and are not in the set."""
        counts = self.collection.counts
        return tuple(t for t, n in counts.items() if n != 0 and t not in self.factors.row_of)

    @property
    def n_missing(self) -> int:
        """Number of :attr:`missing` topics, computed without listing the topics."""
        counts = self.collection.counts
        return self.collection.n_judged - sum(counts[t] != 0 for t in self.matched)

    @cached_property
    def agreement(self) -> Agreement:
        """Comparison of the judgments on the matched topics, at any relevance level."""
        return Agreement(self.factors, self.collection, self.matched)

    @cached_property
    def is_comparable(self) -> Mask:
        """For each topic, True if the numbers of relevant documents can be compared.

        Both numbers must be known, and at least one of them must not be 0.
        """
        in_set, in_qrels = self.agreement.counts(1)
        return np.asarray((in_set >= 0) & (in_qrels >= 0) & (in_set + in_qrels > 0))

    @cached_property
    def _is_count_only(self) -> Mask:
        return self.is_comparable & ~self.agreement.compares_documents

    @cached_property
    def is_verified(self) -> Mask:
        """For each topic, True if the judgments are verified.

        The fingerprints must agree.  If there are no fingerprints, the counts must agree, and
        :attr:`counts_suffice` must be True.
        """
        relevant = self.agreement.at_level(1)
        is_equal = relevant.identical | (relevant.count_only & self.counts_suffice)
        return self.is_comparable & is_equal

    @cached_property
    def count_mismatches(self) -> Mapping[str, tuple[int, int]]:
        """Topics with different numbers of relevant documents in the set and in the qrels.

        Each value is a pair of numbers of relevant documents: in the set and in the qrels.
        """
        in_set, in_qrels = self.agreement.counts(1)
        rows = np.flatnonzero(self.is_comparable & (in_set != in_qrels)).tolist()
        return {self.matched[i]: (int(in_set[i]), int(in_qrels[i])) for i in rows}

    @cached_property
    def identical_topics(self) -> tuple[str, ...]:
        """Topics known to have the same relevant documents in the set and in the qrels."""
        return self.agreement.topics_where(
            self.is_comparable & self.agreement.at_level(1).identical
        )

    @cached_property
    def differing_topics(self) -> tuple[str, ...]:
        """Topics known to have different relevant documents in the set and in the qrels."""
        compared = self.is_comparable & self.agreement.compares_documents
        return self.agreement.topics_where(compared & self.agreement.at_level(1).different)

    @cached_property
    def count_only_topics(self) -> tuple[str, ...]:
        """Topics for which only the numbers of relevant documents can be compared."""
        return self.agreement.topics_where(self._is_count_only)

    @cached_property
    def _is_unverified(self) -> Mask:
        relevant = self.agreement.at_level(1)
        matters = self.match_type == "judgments" and not self.counts_suffice
        return (relevant.count_only | relevant.unknown) & matters

    @cached_property
    def unverified_topics(self) -> tuple[str, ...]:
        """Topics whose judgments cannot be verified.

        The documents of these topics cannot be compared, and counts are not enough to verify the
        topics (:attr:`counts_suffice`).
        """
        return self.agreement.topics_where(self._is_unverified)

    def without_value(self, levels: Iterable[int]) -> tuple[str, ...]:
        """Return the topics that get no value if a measure uses these levels."""
        return self.agreement.topics_where(self.agreement.differs(levels) | self._is_unverified)

    @cached_property
    def counts_suffice(self) -> bool:
        """True if counts are enough to verify topics without fingerprints."""
        _, in_qrels = self.agreement.counts(1)
        is_counted = self._is_count_only
        looks_strange = self.unfamiliar_id is not None and is_counted.any()
        return bool(
            not (self.counts_disagree or looks_strange)
            and np.count_nonzero(is_counted) >= MIN_COUNTED_TOPICS
            and (in_qrels[is_counted] != 1).any()
        )

    @property
    def counts_disagree(self) -> bool:
        """True if the counts differ on too many of the :attr:`count_only_topics`."""
        equal = self._is_count_only & self.agreement.at_level(1).count_only
        share = MIN_COUNT_AGREEMENT * np.count_nonzero(self._is_count_only)
        return bool(np.count_nonzero(equal) < share)

    # -- the whole ---------------------------------------------------------------------------------

    @cached_property
    def unfamiliar_id(self) -> str | None:
        """A document ID of the qrels that does not look like the set's ``doc_id_example``.

        None if any ID looks like the example, or if the example or the IDs are unknown.
        """
        example, ids = self.factors.info.get("doc_id_example"), self.collection.doc_ids
        return ids[0] if example and ids and not look_alike([example], ids) else None

    @property
    def is_subset(self) -> bool:
        """True if the qrels contain only some of the set's topics."""
        return len(self.matched) < len(self.factors.topics)

    @property
    def dataset(self) -> str | None:
        """Name of the dataset to which the qrels belong, if the rows are datasets."""
        whole = self.factors.of_datasets and self.collection.qrels is not None
        return next(iter(self.collection.counts)) if whole else None

    @property
    def n_queries(self) -> int | None:
        """Number of topics of the :attr:`dataset`, if the set states it."""
        about = self.factors.info.get("datasets", {}).get(self.dataset, {})
        n: int | None = about.get("queries")
        return n

    @cached_property
    def levels(self) -> list[int]:
        """Relevance levels of 1 or above that occur in the set or in the qrels."""
        return self.agreement.levels

    # -- words -------------------------------------------------------------------------------------

    @property
    def caveat(self) -> str | None:
        """Reasons to doubt that the set matches; None if there are no such reasons."""
        return fit_words.caveat(self)

    @property
    def mismatch_reason(self) -> str:
        """Reason why the set does not match, or why it is not used."""
        return fit_words.mismatch_reason(self)

    def __str__(self) -> str:
        return "; ".join(filter(None, (fit_words.describe_fit(self), self.caveat)))

    def __repr__(self) -> str:
        return f"<Fit: {self}>"


@dataclass(frozen=True, eq=False, repr=False)
class Match:
    """The result of recognition; ``str(match)`` describes it in a sentence.

    Attributes
    ----------
    fit : Fit or None
        The set that is used and how well it matches; None if no set matches.
    alternatives : tuple of str
        Ids of other sets that also match.
    nearest : tuple of Fit
        Fits of the nearest sets, with the reasons why these sets do not match; empty if a set
        matches.
    chosen_by : str
        ``"qrels"``, ``"name"`` (the user named the set), ``"ir_datasets id"``, or ``"systems"``
        (the scores belong to the set's own systems).
    equivalent_sets : tuple of str
        The user's own sets that would be as good a choice as the set that is used.
    elsewhere : mapping of str to int
        Other sets whose judgments agree with the qrels on topics that the used set lacks, with the
        number of these topics.  If no set is used, all topics of the qrels are considered.

    Examples
    --------
    >>> match = ir_std.recognize("qrels.txt")
    >>> match.factors.id, match.alternatives, match.chosen_by
    ('trec8-adhoc', ('robust04',), 'qrels')
    >>> print(ir_std.recognize({"401": {"FBIS3-1": 1}}))
    no factor set matches these qrels; ...
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

        A label is ``ok``, ``few-systems``, ``coarse``, ``pre-2019`` or ``weak-systems``.  The label
        is computed from the set's scores on the topics that matched.
        """
        if self.fit is None:
            return {}
        return quality_labels(self.fit.factors, self.fit.factors.measures, self.fit.matched)

    def describe(self, measures: Iterable[str] = ()) -> str:
        """Describe the set, the match, and the limits of the factors for these measures."""
        if self.fit is None:
            return str(self)
        factors, topics = self.fit.factors, self.fit.matched
        warnings = quality_warnings(factors, quality_labels(factors, measures, topics))
        return f"using {fit_words.describe_fit(self.fit, '; '.join(warnings))}"

    def __repr__(self) -> str:
        return f"<Match: {self}>"

    def __str__(self) -> str:
        return f"using {self.fit}" if self.fit else fit_words.describe_no_match(self)
