"""Which factor set belongs to these judgments: recognition of collections."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from operator import attrgetter

import numpy as np

from ir_std.errors import NoFactorsError, abbreviate
from ir_std.factors.catalog import (
    SetVersion,
    described_sets,
    is_shipped,
    is_usable,
    known_sets,
    load_version,
)
from ir_std.factors.datasets import match_datasets
from ir_std.factors.factor_set import FactorSet
from ir_std.factors.fit import Collection, Fit, fit_set
from ir_std.factors.quality import assess_measure

HELD = 0.5
"""More than this share of the topics must be in the set; the others get no factors."""


@dataclass(frozen=True, eq=False, repr=False)
class Match:
    """What recognition found; ``str(match)`` says it in a sentence.

    Attributes
    ----------
    fit : Fit or None
        The set that is used and how well it fits; None if no set fits.
    others : tuple of str
        Ids of other sets that would fit.
    nearest : tuple of Fit
        If no set fits: those that come nearest, with the reason why they do not.
    chosen_by : str
        ``"qrels"``, ``"name"`` (given by the user) or ``"ir_datasets id"``.
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

        One of :data:`ir_std.factors.quality.WORDS`: ``good``, ``thin``, ``coarse`` or ``old``;
        judged when it is asked for, from the set's tables.
        """
        return (
            {m: assess_measure(self.factors, m).word for m in self.factors.measures}
            if self.factors
            else {}
        )

    @property
    def summary(self) -> str:
        """As ``str(match)``, without the doubts about a fit that is not perfect."""
        return self._said(self.fit.summary) if self.fit else str(self)

    def _said(self, fit: str) -> str:
        rivals = f"; {', '.join(self.rivals)} would fit as well" if self.rivals else ""
        return f"factors of {fit}{rivals}"

    def __repr__(self) -> str:
        return f"<Match: {self}>"

    def __str__(self) -> str:
        if self.fit:
            return self._said(str(self.fit))
        if not self.nearest:
            return (
                "no factor set fits these qrels: none holds one of their topics; "
                "name a set with factors= or --factors"
            )
        return (
            "no factor set fits these qrels; nearest: "
            + "; ".join(f"{n.factors.id}: {n.why_not}" for n in self.nearest)
            + "; name a set with factors= or --factors"
        )


def recognize_collection(collection: Collection) -> Match:
    """Find the factor set, or the sets, that fit.

    A set fits if the judgments are the same: if the fingerprints of the relevant documents are
    equal on every topic that has one, or, where none is known, their numbers on ten topics or
    more.  Collections are judged again: numbers may differ on some of ten topics or more, as long
    as they agree on nine in ten within a tenth, and documents are the same on others.  Where all
    document ids are of another form, and as many documents are at every level on ten topics or
    more, they were renamed.  See :class:`~ir_std.factors.fit.Fit`.

    More than half of the topics must be in the set; where no set holds them all, several may
    serve together, each topic by the first that holds it.  Of what fits, that wins which lacks
    the fewest topics, then differs on the fewest, then has the systems of the track itself, then
    the fewest topics beyond these, then is the user's own.
    An ir_datasets id that a set names decides by itself.
    """
    sets = known_sets()
    if sets not in collection.cached:
        collection.cached.clear()
        collection.cached[sets] = _recognize(collection, sets)
    found = collection.cached[sets]
    assert isinstance(found, Match)
    return found


def _recognize(collection: Collection, sets: tuple[SetVersion, ...]) -> Match:
    if collection.dataset:
        own = _usable(
            fit_set(s, collection)
            for s in described_sets(sets)
            if collection.dataset in s.info.get("ir_datasets", ())
        )
        if own:
            return Match(
                _loaded(min(own, key=lambda f: _specificity(f.factors))), chosen_by="ir_datasets id"
            )
    likely = described_sets(
        sets, lambda there: collection.shares_topics(there) and not collection.rules_out(there)
    )
    fits = _usable(f for s in likely if not (f := fit_set(s, collection)).why_not)
    choices = sorted(_choices(fits), key=_preference)
    if choices:
        best = choices[0]
        used = {f.factors.id for f in best.parts or (best,)}
        others = [f for f in choices if not f.parts and f.factors.id not in used]
        best = best if best.parts else _loaded(best)
        return Match(
            best,
            tuple(f.factors.id for f in others),
            rivals=tuple(f.factors.id for f in others if _rivals(f, best)),
        )
    for found in _datasets_like(collection, sets):
        return Match(_loaded(found))
    near = [fit_set(s, collection) for s in described_sets(sets, collection.shares_topics)]
    near.sort(key=lambda f: (len(f.missing), len(f.differ), len(f.factors.topics), f.factors.id))
    return Match(
        None, nearest=tuple(f if f.why_not else replace(f, why_not=_too_few(f)) for f in near[:3])
    )


def _datasets_like(collection: Collection, sets: tuple[SetVersion, ...]) -> Iterator[Fit]:
    """Where the qrels as a whole are a row of a set of data sets."""
    for factors in described_sets(sets):
        if factors.of_datasets:
            yield from match_datasets(factors, collection)


def _usable(fits: Iterable[Fit]) -> list[Fit]:
    """The fits in the order of :func:`_specificity`, without those of the user's broken sets."""
    return sorted(
        (f for f in fits if is_shipped(f.factors) or is_usable(f.factors)),
        key=lambda f: _specificity(f.factors),
    )


def _loaded(found: Fit) -> Fit:
    """The same fit with all files of its set as they are now."""
    return fit_set(load_version(found.factors), found.collection)


def _choices(fits: list[Fit]) -> Iterator[Fit]:
    """The sets that hold enough of the topics, alone or together."""
    yield from (f for f in fits if _holds_enough(f))
    for several in (_together([f for f in fits if f.exact]), _together(fits)):
        if len(several) > 1 and (found := _joint(several)) and _holds_enough(found):
            yield found


def _together(fits: list[Fit]) -> list[Fit]:
    """Sets that hold as many topics as can be, and do not contradict each other."""
    chosen: list[Fit] = []
    covered: set[str] = set()

    def gain(f: Fit) -> int:
        return sum(f.collection.counts[t] != 0 for t in f.matched if t not in covered)

    while best := max(
        (f for f in fits if gain(f) and not (covered & {*f.differ, *f.compared.others})),
        default=None,
        key=lambda f: (f.exact, gain(f)),
    ):
        chosen.append(best)
        covered.update(best.matched)
    return chosen


def _joint(several: list[Fit]) -> Fit | None:
    """Several sets as one, if they have a measure in common."""
    from ir_std.factors.joined import join_sets, shared_measures  # seldom needed

    sets = tuple(f.factors for f in several)
    if not shared_measures(sets):
        return None
    found = fit_set(join_sets(sets), several[0].collection)
    worst = min(
        several, key=lambda f: ("nearly", "names", "counts", "judgments").index(f.basis or "nearly")
    )
    return replace(found, basis=worst.basis, why_not=None, parts=tuple(several))


def _holds_enough(f: Fit) -> bool:
    return len(f.matched) > HELD * (len(f.matched) + len(f.missing))


def _too_few(f: Fit) -> str:
    return f"holds {len(f.matched)} of the {len(f.matched) + len(f.missing)} topics"


def _preference(f: Fit) -> tuple[object, ...]:
    unlike = 0 if f.exact else len(f.differ) + len(f.compared.others)
    return len(f.missing), unlike, *_specificity(f.factors)


def _rivals(f: Fit, best: Fit) -> bool:
    """Whether nothing but whose set it is, and its name, speaks for ``best``; nor equal numbers."""
    if best.parts or _preference(f)[:4] != _preference(best)[:4]:
        return False
    one, other, topics = _loaded(f).factors, best.factors, best.matched
    return any(
        not np.allclose(
            table(one)[m][one.rows(topics)], table(other)[m][other.rows(topics)], equal_nan=True
        )
        for table in (attrgetter("mean"), attrgetter("sd"))
        for m in one.measures
        if m in other.measures
    )


def _specificity(factors: FactorSet) -> tuple[object, ...]:
    return ("beside" in factors.info, len(factors.topics), is_shipped(factors), factors.id)


def match_by_name(factors: FactorSet, collection: Collection) -> Match:
    """The match with a set that the user chose.

    Raises
    ------
    NoFactorsError
        If the set holds none of the topics.
    """
    whole = next(match_datasets(factors, collection), None) if factors.of_datasets else None
    chosen = whole or fit_set(factors, collection)
    if not chosen.matched:
        raise NoFactorsError(
            f"{factors.id} holds none of the topics ({abbreviate(collection.counts)}): "
            f"it has {abbreviate(factors.topics)}; leave the set to be recognized, or name another"
        )
    return Match(chosen, chosen_by="name")
