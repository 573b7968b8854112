"""The outcome of recognition: the set that is used, and what else might have been."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ir_std.factors.factor_set import FactorSet
from ir_std.factors.fit import Fit
from ir_std.factors.fit_words import describe_fit
from ir_std.factors.quality import Quality, quality_warning


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
        """What each measure of the set is worth, as one label; empty if no set fits.

        One of ``ok``, ``few-systems``, ``coarse``, ``pre-2019`` or ``weak-systems``; computed from
        the set's scores on the topics that matched.
        """
        if self.fit is None:
            return {}
        factors, topics = self.fit.factors, self.fit.matched
        return {m: Quality(factors, m, topics).label for m in factors.measures}

    def quality_warnings(self, measures: Iterable[str]) -> list[str]:
        """Return what is known against the set's factors of these measures."""
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
        """As ``str(match)``, without the doubts about a fit that is not perfect."""
        return self.describe(())

    def describe(self, measures: Iterable[str]) -> str:
        """:attr:`summary`, and what is known against the factors of these measures."""
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
