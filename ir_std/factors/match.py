"""Fit of a factor set to judgments, and the choice of recognition."""

from __future__ import annotations

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
"""The type of a match where only topic IDs and a user's own name of a measure agree."""
MIN_COUNTED_TOPICS = 10
"""The fewest topics to compare where the judgments themselves cannot be compared."""
MIN_COUNT_AGREEMENT = 0.9
"""The share of the topics on which counts must agree, where only they are compared."""


@dataclass(frozen=True, eq=False, repr=False)
class Fit:
    """Fit of one factor set to judgments; ``str(fit)`` describes it.

    Attributes
    ----------
    factors : FactorSet
    collection : Collection
        Collection that was compared with the set.
    known_type : str or None
        The :attr:`match_type`, if it does not follow from the judgments.
    """

    factors: FactorSet
    collection: Collection
    known_type: str | None = None

    @cached_property
    def match_type(self) -> str | None:
        """Why the set fits; None if it does not.

        ``judgments``: the relevant documents are the same, except on ``differing_topics``.
        ``counts``: their numbers are the same, except on ``count_mismatches``; which documents they
        are is not known.  ``dataset names``: only these were compared.  ``names of measures``: only
        these and topic IDs agree.  ``systems``: the scores are those of the set's own systems.
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
        """Topics of the qrels that the set holds."""
        return self.collection.shared_topics(self.factors.row_of.keys())

    @cached_property
    def missing(self) -> tuple[str, ...]:
        """Topics of the qrels that have relevant documents and that the set does not hold."""
        counts = self.collection.counts
        return tuple(t for t, n in counts.items() if n != 0 and t not in self.factors.row_of)

    @property
    def n_missing(self) -> int:
        """The number of :attr:`missing`, which may be long."""
        counts = self.collection.counts
        return self.collection.n_judged - sum(counts[t] != 0 for t in self.matched)

    @cached_property
    def agreement(self) -> Agreement:
        """Agreement of the judgments of the matched topics at any level."""
        return Agreement(self.factors, self.collection, self.matched)

    @cached_property
    def is_comparable(self) -> Mask:
        """True if both sides know the numbers of relevant documents, and not both are 0."""
        there, here = self.agreement.counts(1)
        return np.asarray((there >= 0) & (here >= 0) & (there + here > 0))

    @cached_property
    def _is_count_only(self) -> Mask:
        return self.is_comparable & ~self.agreement.compares_documents

    @cached_property
    def is_verified(self) -> Mask:
        """True if judgments agree by fingerprints or, if these are unknown, by counts."""
        at = self.agreement.at_level(1)
        return self.is_comparable & (at.identical | (at.count_only & self.counts_suffice))

    @cached_property
    def count_mismatches(self) -> Mapping[str, tuple[int, int]]:
        """Topics whose numbers of relevant documents differ: (in the set, in the qrels)."""
        there, here = self.agreement.counts(1)
        rows = np.flatnonzero(self.is_comparable & (there != here)).tolist()
        return {self.matched[i]: (int(there[i]), int(here[i])) for i in rows}

    @cached_property
    def identical_topics(self) -> tuple[str, ...]:
        """Topics on which the relevant documents are known to be the same."""
        return self.agreement.topics_where(
            self.is_comparable & self.agreement.at_level(1).identical
        )

    @cached_property
    def differing_topics(self) -> tuple[str, ...]:
        """Topics on which the relevant documents are known to be others."""
        compared = self.is_comparable & self.agreement.compares_documents
        return self.agreement.topics_where(compared & self.agreement.at_level(1).different)

    @cached_property
    def count_only_topics(self) -> tuple[str, ...]:
        """Topics for which only the numbers of relevant documents can be compared."""
        return self.agreement.topics_where(self._is_count_only)

    @cached_property
    def unverified_topics(self) -> tuple[str, ...]:
        """Topics that nothing speaks for: too few to go by their numbers of relevant documents."""
        if self.match_type != "judgments" or self.counts_suffice:
            return ()
        at = self.agreement.at_level(1)
        return self.agreement.topics_where(at.count_only | at.unknown)

    def without_value(self, levels: Iterable[int]) -> list[str]:
        """Return topics without a standardized value of a measure that looks at these levels."""
        topics = {
            *self.agreement.topics_where(self.agreement.differs(levels)),
            *self.unverified_topics,
        }
        return [topic for topic in self.matched if topic in topics]

    @cached_property
    def counts_suffice(self) -> bool:
        """True if counts alone may decide on topics without fingerprints."""
        _, here = self.agreement.counts(1)
        is_counted = self._is_count_only
        looks_strange = self.unfamiliar_id is not None and is_counted.any()
        return bool(
            not (self.counts_disagree or looks_strange)
            and np.count_nonzero(is_counted) >= MIN_COUNTED_TOPICS
            and (here[is_counted] != 1).any()
        )

    @property
    def counts_disagree(self) -> bool:
        """True if counts differ on too many of the topics for which only these are known."""
        equal = self._is_count_only & self.agreement.at_level(1).count_only
        share = MIN_COUNT_AGREEMENT * np.count_nonzero(self._is_count_only)
        return bool(np.count_nonzero(equal) < share)

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
    def dataset(self) -> str | None:
        """The dataset that the qrels are, where factors are of whole datasets."""
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
        """The levels from 1 that occur, in the set or in the qrels."""
        return self.agreement.levels

    # -- words -------------------------------------------------------------------------------------

    @property
    def caveat(self) -> str | None:
        """Caveat for a fit that is not perfect; None if it is perfect."""
        return fit_words.caveat(self)

    @property
    def mismatch_reason(self) -> str:
        """Why the set does not fit, or is not used."""
        return fit_words.mismatch_reason(self)

    def __str__(self) -> str:
        return "; ".join(filter(None, (fit_words.describe_fit(self), self.caveat)))

    def __repr__(self) -> str:
        return f"<Fit: {self}>"


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
        If no set fits: the nearest sets, with the reason why they do not.
    chosen_by : str
        ``"qrels"``, ``"name"`` (given by the user), ``"ir_datasets id"``, or ``"systems"``: the
        scores are those of its own systems.
    equivalent_sets : tuple of str
        The user's own sets with as many of the topics.
    elsewhere : mapping of str to int
        Other sets whose judgments agree on topics that the set that is used does not hold, with
        their numbers of such topics; of all topics if none is used.

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

        One of ``ok``, ``few-systems``, ``coarse``, ``pre-2019`` or ``weak-systems``; computed from
        the set's scores on the topics that matched.
        """
        if self.fit is None:
            return {}
        return quality_labels(self.fit.factors, self.fit.factors.measures, self.fit.matched)

    def describe(self, measures: Iterable[str] = ()) -> str:
        """Say which set is used and what matched, and what limits the factors of these measures."""
        if self.fit is None:
            return str(self)
        factors, topics = self.fit.factors, self.fit.matched
        warnings = quality_warnings(factors, quality_labels(factors, measures, topics))
        return f"using {fit_words.describe_fit(self.fit, '; '.join(warnings))}"

    def __repr__(self) -> str:
        return f"<Match: {self}>"

    def __str__(self) -> str:
        return f"using {self.fit}" if self.fit else fit_words.describe_no_match(self)
