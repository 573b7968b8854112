"""Recognition: which factor set belongs to given judgments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from ir_std.errors import NoFactorsError, abbreviate, counted
from ir_std.factors.catalog import (
    SetVersion,
    described_sets,
    is_shipped,
    is_usable,
    known_sets,
    load_version,
)
from ir_std.factors.collection import Collection, DatasetCollection
from ir_std.factors.factor_set import FactorSet
from ir_std.factors.fit import BY_MEASURES, Fit
from ir_std.factors.fitting import fit_set
from ir_std.factors.match import Match

HELD = 0.5
"""More than this share of the topics must be in the set; the others get no factors."""


def recognize_collection(collection: Collection) -> Match:
    """Find the factor set, or the sets, that fit.

    A set fits if the judgments are the same, topic by topic: if the fingerprints of the relevant
    documents are equal on half of the topics at least.  Those that differ have no standardized
    values.  Where no fingerprints are known, the numbers of relevant documents decide, on ten
    topics or more: they must agree on nine in ten within a tenth, since collections are judged
    again.  Where all document ids are of another form, and as many documents are at every level,
    they were renamed.  See :class:`~ir_std.factors.fit.Fit`.

    More than half of the topics must be in the set; where no set holds them all, several may
    serve together, each topic by the first that holds it.  Of the sets that fit, the one is used
    that lacks the fewest topics; then the one that differs on the fewest; then one with the
    systems of the track itself; then the one with the fewest topics; then the user's own.
    An ir_datasets id that a set names decides by itself.
    """
    sets = known_sets()
    if sets not in collection.cached:
        collection.cached.clear()
        collection.cached[sets] = _recognize(collection, sets)
    match = collection.cached[sets]
    assert isinstance(match, Match)
    return match


def _recognize(collection: Collection, sets: tuple[SetVersion, ...]) -> Match:
    return (
        _match_by_dataset_id(collection, sets)
        or _match_by_judgments(collection, sets)
        or _match_whole_dataset(collection, sets)
        or _match_by_measures(collection, sets)
        or Match(None, nearest=_nearest_fits(collection, sets))
    )


def _match_by_dataset_id(collection: Collection, sets: tuple[SetVersion, ...]) -> Match | None:
    """The most specific set that names the collection's ir_datasets id."""
    if not collection.dataset:
        return None
    fits = _usable_fits(
        fit_set(s, collection)
        for s in described_sets(sets)
        if collection.dataset in s.info.get("ir_datasets", ())
    )
    return Match(_loaded(fits[0]), chosen_by="ir_datasets id") if fits else None


def _match_by_judgments(collection: Collection, sets: tuple[SetVersion, ...]) -> Match | None:
    """The best of the sets, or of the sets together, whose judgments agree."""
    likely = described_sets(
        sets, lambda there: collection.shares_topics(there) and not collection.rules_out(there)
    )
    compared = [fit_set(factors, collection) for factors in likely]
    fits = _usable_fits(fit for each in compared if not (fit := _contested(each, compared)).why_not)
    candidates = sorted(_candidates(fits), key=_preference)
    if not candidates:
        return None
    best = candidates[0] if candidates[0].parts else _loaded(candidates[0])
    used = {fit.factors.id for fit in best.parts or (best,)}
    others = [fit for fit in candidates if not fit.parts and fit.factors.id not in used]
    return Match(
        best,
        tuple(fit.factors.id for fit in others),
        rivals=tuple(fit.factors.id for fit in others if _is_rival(fit, best)),
    )


def _match_whole_dataset(collection: Collection, sets: tuple[SetVersion, ...]) -> Match | None:
    """The first set of data sets that has the qrels, as a whole, as a row."""
    for factors in described_sets(sets):
        if factors.of_datasets:
            for fit in dataset_fits(factors, collection):
                return Match(_loaded(fit))
    return None


def _match_by_measures(collection: Collection, sets: tuple[SetVersion, ...]) -> Match | None:
    """The user's own set that has most of the topics, and one of the external measures."""
    fits = [
        fit_set(factors, collection)
        for factors in described_sets(sets, collection.shares_topics)
        if not is_shipped(factors) and {*factors.measures} & {*collection.external}
    ]
    fits = [
        replace(fit, basis=BY_MEASURES, why_not=None)
        for fit in _usable_fits(fits)
        if not (fit.differ or fit.refuted) and _holds_most_topics(fit)
    ]
    fits.sort(key=lambda fit: fit.n_missing)
    others = tuple(fit.factors.id for fit in fits[1:])
    return Match(_loaded_by_measures(fits[0]), others, rivals=others) if fits else None


def _loaded_by_measures(fit: Fit) -> Fit:
    return replace(_loaded(fit), basis=BY_MEASURES, why_not=None)


def dataset_fits(factors: FactorSet, collection: Collection) -> Iterator[Fit]:
    """The rows of a set of data sets that are the qrels: by ir_datasets id, or by judgments."""
    return (fit for fit in _dataset_candidates(factors, collection) if not fit.why_not)


def _dataset_candidates(factors: FactorSet, collection: Collection) -> Iterator[Fit]:
    """The rows that the qrels may be; those that they are not say why."""
    qrels = collection.qrels
    if qrels is None:
        return
    n_rel = int(qrels.count().sum())
    named = factors.info.get("aliases", {}).get(collection.dataset, collection.dataset)
    for name, known in factors.judgments.items():
        if name != named and known.n_rel != n_rel:
            continue
        fit = fit_set(factors, DatasetCollection(name, qrels))
        queries = factors.info.get("datasets", {}).get(name, {}).get("queries")
        if fit.basis != "judgments" and (name != named or known.fingerprints):
            continue
        if queries is not None and queries != len(qrels.topics):
            why_not = f"{name} has {queries} topics, these qrels have {len(qrels.topics)}"
            fit = replace(fit, why_not=why_not)
        yield fit


def _nearest_fits(collection: Collection, sets: tuple[SetVersion, ...]) -> tuple[Fit, ...]:
    """The three sets that come nearest, each with the reason why it does not fit."""
    for factors in described_sets(sets):
        if factors.of_datasets:
            for fit in _dataset_candidates(factors, collection):
                return (fit,)
    fits = [fit_set(s, collection) for s in described_sets(sets, collection.shares_topics)]
    fits.sort(key=lambda f: (f.n_missing, len(f.differ), len(f.factors.topics), f.factors.id))
    return tuple(
        fit if fit.why_not else replace(fit, why_not=_too_few_topics(fit)) for fit in fits[:3]
    )


def _too_few_topics(fit: Fit) -> str:
    total = len(fit.matched) + fit.n_missing
    return f"holds {len(fit.matched)} of the {counted(total, fit.factors.unit)}"


def _contested(fit: Fit, fits: Iterable[Fit]) -> Fit:
    """A fit by numbers, without the topics that a set of the same documents speaks against.

    It has as many relevant documents there, and knows that these are others.
    """
    pattern, n_rel = fit.factors.info.get("doc_id_pattern"), fit.factors.n_rel
    by_count = set(fit.counted)
    topics = {
        topic
        for other in fits
        if by_count and pattern and other.factors.info.get("doc_id_pattern") == pattern
        for topic in other.refuted
        if topic in by_count and n_rel[topic] == other.factors.n_rel[topic]
    }
    if fit.why_not or fit.basis == "names" or not topics:
        return fit
    if 2 * len(topics) > len(fit.comparable):
        what = f"on {len(topics)} of {len(fit.comparable)} topics other documents are relevant"
        return replace(fit, why_not=f"{what} than in another set of them")
    return replace(fit, contested=frozenset(topics))


def _usable_fits(fits: Iterable[Fit]) -> list[Fit]:
    """The fits, most specific first, without those of the user's broken sets."""
    return sorted(
        (f for f in fits if is_shipped(f.factors) or is_usable(f.factors)),
        key=lambda f: _specificity(f.factors),
    )


def _loaded(fit: Fit) -> Fit:
    """The same fit with all files of its set as they are now."""
    loaded = fit_set(_rows_of(load_version(fit.factors), fit.matched), fit.collection)
    return replace(loaded, contested=fit.contested)


def _rows_of(factors: FactorSet, topics: Iterable[str]) -> FactorSet:
    """A set without the rows that are not used, where each has systems of its own."""
    if not factors.of_datasets:
        return factors
    from ir_std.factors.derived import select_rows  # seldom needed

    return select_rows(factors, topics)


def _candidates(fits: list[Fit]) -> Iterator[Fit]:
    """The sets that hold enough of the topics, alone or together."""
    yield from filter(_holds_most_topics, fits)
    for several in (_complementary([f for f in fits if f.exact]), _complementary(fits)):
        if len(several) > 1 and (fit := _joint_fit(several)) and _holds_most_topics(fit):
            yield fit


def _complementary(fits: list[Fit]) -> list[Fit]:
    """Sets that together hold as many topics as possible and do not contradict each other.

    Greedy: each time the set that adds the most topics, exact fits first.
    """
    chosen: list[Fit] = []
    covered: set[str] = set()

    def gain(fit: Fit) -> int:
        return sum(fit.collection.counts[t] != 0 for t in fit.matched if t not in covered)

    while best := max(
        (f for f in fits if gain(f) and not (covered & {*f.differ, *f.refuted})),
        default=None,
        key=lambda f: (f.exact, gain(f)),
    ):
        chosen.append(best)
        covered.update(best.matched)
    return chosen


def _joint_fit(fits: list[Fit]) -> Fit | None:
    """Several sets as one, if they have a measure in common."""
    from ir_std.factors.derived import join_sets, shared_measures  # seldom needed

    sets = [fit.factors for fit in fits]
    if not shared_measures(sets):
        return None
    weakest_first = ("nearly", "names", "counts", "judgments")
    weakest = min(fits, key=lambda fit: weakest_first.index(fit.basis or "nearly"))
    joint = fit_set(join_sets(sets), fits[0].collection)
    proven = {*joint.same}
    contested = frozenset(t for fit in fits for t in fit.contested if t not in proven)
    return replace(joint, basis=weakest.basis, why_not=None, parts=tuple(fits), contested=contested)


def _holds_most_topics(fit: Fit) -> bool:
    return len(fit.matched) > HELD * (len(fit.matched) + fit.n_missing)


def _preference(fit: Fit) -> tuple[object, ...]:
    """Sort key: the best fit first."""
    differing = 0 if fit.exact else len({*fit.differ, *fit.refuted})
    by_numbers = fit.basis in ("counts", "nearly")
    return fit.n_missing, by_numbers, differing + len(fit.contested), *_specificity(fit.factors)


def _specificity(factors: FactorSet) -> tuple[object, ...]:
    """Sort key: the track's own systems, few topics and the user's own sets first."""
    return ("beside" in factors.info, len(factors.topics), is_shipped(factors), factors.id)


def _is_rival(fit: Fit, best: Fit) -> bool:
    """Whether a set fits as well as the best, its origin and name aside, but has other factors."""
    if best.parts or _preference(fit)[:5] != _preference(best)[:5]:
        return False
    rival, used = _loaded(fit).factors, best.factors
    rival_rows, used_rows = rival.rows(best.matched), used.rows(best.matched)
    return any(
        not np.allclose(rival_table[m][rival_rows], used_table[m][used_rows], equal_nan=True)
        for rival_table, used_table in ((rival.mean, used.mean), (rival.sd, used.sd))
        for m in rival.measures
        if m in used.measures
    )


def match_by_name(factors: FactorSet, collection: Collection) -> Match:
    """The match with a set that the user chose.

    Raises
    ------
    NoFactorsError
        If the set holds none of the topics.
    """
    dataset_fit = next(dataset_fits(factors, collection), None) if factors.of_datasets else None
    fit = dataset_fit or fit_set(factors, collection)
    if factors.of_datasets and fit.matched:
        fit = fit_set(_rows_of(factors, fit.matched), fit.collection)
    if not fit.matched:
        raise NoFactorsError(
            f"{factors.id} holds none of the {factors.unit}s "
            f"({abbreviate(collection.counts)}): it has {abbreviate(factors.topics)}; name another "
            "set, or build one (ir_std build)"
        )
    return Match(fit, chosen_by="name")


def match_by_systems(factors: FactorSet, collection: Collection) -> Match:
    """The match with the set whose own systems' scores are evaluated."""
    fit = replace(fit_set(factors, collection), basis="systems", why_not=None)
    return Match(fit, chosen_by="systems")
