"""The outcome of recognition: the set that is used, and what else might have been."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ir_std.errors import abbreviate
from ir_std.factors.factor_set import FactorSet
from ir_std.factors.fit import Fit
from ir_std.factors.quality import BESIDE, Quality


@dataclass(frozen=True, eq=False, repr=False)
class Match:
    """The outcome of recognition; ``str(match)`` says it in a sentence.

    Attributes
    ----------
    fit : Fit or None
        The set that is used and how well it fits; None if no set fits.
    others : tuple of str
        Ids of other sets that would fit.
    nearest : tuple of Fit
        If no set fits: those that come nearest, with the reason why they do not.
    chosen_by : str
        ``"qrels"``, ``"name"`` (given by the user), ``"ir_datasets id"``, or ``"systems"``: the
        scores are those of its own systems.
    rivals : tuple of str
        Those of the others that fit as well as the set that is used, and give other numbers.

    Examples
    --------
    >>> match = ir_std.recognize("qrels.txt")
    >>> match.factors.id, match.others, match.chosen_by
    ('trec8-adhoc', ('robust04',), 'qrels')
    >>> print(ir_std.recognize({"401": {"FBIS3-1": 1}}))
    no factor set fits these qrels; nearest: ...
    """

    fit: Fit | None
    others: tuple[str, ...] = ()
    nearest: tuple[Fit, ...] = ()
    chosen_by: str = "qrels"
    rivals: tuple[str, ...] = ()

    @property
    def factors(self) -> FactorSet | None:
        """The factor set that is used, or None."""
        return self.fit.factors if self.fit else None

    @property
    def qualities(self) -> dict[str, str]:
        """What each measure of the set is worth, in one word; empty if no set fits.

        One of ``good``, ``thin``, ``coarse``, ``old`` or ``low``; judged when it is asked for, from
        the set's tables, on the topics that matched.
        """
        if self.fit is None:
            return {}
        factors, topics = self.fit.factors, self.fit.matched
        return {m: Quality(factors, m, topics).word for m in factors.measures}

    def worth(self, measures: Iterable[str]) -> dict[str, str]:
        """By set what is known against these measures' factors: ``old: systems of before 2019``.

        Sets whose measures are all good are left out.
        """
        measures = tuple(measures)
        found: dict[str, str] = {}
        for part in (self.fit.parts or (self.fit,)) if self.fit else ():
            by_word: dict[str, list[str]] = {}
            for name in measures:
                if name in part.factors.n_systems:
                    word = Quality(part.factors, name, part.matched).word
                    by_word.setdefault(word, []).append(name)
            all_alike = len(by_word) == 1
            texts = [
                f"{'' if all_alike else ', '.join(names) + ' '}{word}: {BESIDE[word]}"
                for word, names in by_word.items()
                if word != "good"
            ]
            if texts:
                found[part.factors.id] = "; ".join(texts)
        return found

    @property
    def summary(self) -> str:
        """As ``str(match)``, without the doubts about a fit that is not perfect."""
        return self.described(())

    def described(self, measures: Iterable[str]) -> str:
        """:attr:`summary`, and beside a set's name what is known against these measures."""
        return self._sentence(self.fit.described(self.worth(measures))) if self.fit else str(self)

    def _sentence(self, fit: str) -> str:
        rivals = f"; {', '.join(self.rivals)} would fit as well" if self.rivals else ""
        return f"factors of {fit}{rivals}"

    def __repr__(self) -> str:
        return f"<Match: {self}>"

    def __str__(self) -> str:
        if self.fit:
            return self._sentence(str(self.fit))
        if not self.nearest:
            return (
                "no factor set fits these qrels or scores: none holds one of these topics, or data "
                "sets; ir_std build makes one of your own"
            )
        collection = self.nearest[0].collection
        if collection.external and not any(collection.counts.values()):
            names = abbreviate(collection.external)
            return (
                "no factor set fits these scores: they have no numbers of relevant documents "
                f"(num_rel), and no set of yours has their topics and {names}; name a set "
                "with factors= or --factors, or build one (ir_std build --from-scores)"
            )
        of_datasets = all(n.factors.of_datasets for n in self.nearest)
        return (
            f"no factor set fits these {'data sets' if of_datasets else 'qrels'}; nearest: "
            + "; ".join(f"{n.factors.id}: {n.why_not}" for n in self.nearest)
            + self._judged_otherwise
            + "; name a set with factors= or --factors"
        )

    @property
    def _judged_otherwise(self) -> str:
        """What to know of other judgments of a set's topics."""
        if any(n.n_missing or n.strange_id or not n.collection.qrels for n in self.nearest):
            return ""
        return (
            "; other judgments of the same topics, by a language model or by people and one, are "
            "a collection of their own: build its factors (ir_std build --judge)"
        )
