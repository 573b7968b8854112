"""Recognition of the factor set that belongs to given judgments."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from ir_std.errors import NoFactorsError, abbreviate
from ir_std.factors import catalog
from ir_std.factors.collection import Collection, collection_of_dataset
from ir_std.factors.factor_set import FactorSet
from ir_std.factors.match import BY_MEASURES, Fit, Match

Sets = tuple[catalog.SetVersion, ...]


def recognize_collection(collection: Collection) -> Match:
    """Find the factor set that belongs to a collection.

    Exactly one set is used for a file of qrels.  A set is eligible if the set has more than half of
    the file's topics, and the set's judgments are verified on at least half of the topics that the
    set and the file share.  The judgments of a topic are verified if the fingerprints of the
    relevant documents are equal.  If the set has no fingerprints, equal numbers of relevant
    documents verify the judgments (see :class:`~ir_std.factors.match.Fit`).  Topics whose judgments
    differ get no standardized values.

    If several sets are eligible, the set that shares the most topics is used.  Among sets with the
    same number of shared topics, shipped sets are preferred, then sets with the track's own
    systems, and then the set with the fewest topics.  If a set lists the ir_datasets ID of the
    qrels, that set is used without these checks.
    """
    sets = catalog.known_sets()
    if sets not in collection.cached:
        collection.cached.clear()
        collection.cached[sets] = (
            _match_by_dataset_id(collection, sets)
            or _match_by_judgments(collection, sets)
            or _match_whole_dataset(collection, sets)
            or _match_by_measures(collection, sets)
            or _no_match(collection, sets)
        )
    match = collection.cached[sets]
    assert isinstance(match, Match)
    return match


def _match_by_dataset_id(collection: Collection, sets: Sets) -> Match | None:
    """Return the most specific set that names the collection's ir_datasets ID."""
    fits = _usable_fits(collection, sets, lambda one: collection.dataset in one["ir_datasets"])
    return Match(_loaded(fits[0]), chosen_by="ir_datasets id") if fits else None


def _match_by_judgments(collection: Collection, sets: Sets) -> Match | None:
    """Return a match with the best set among the sets whose judgments agree on enough topics."""
    proven = _proven_fits(collection, sets)
    eligible = sorted(filter(_holds_most_topics, proven), key=_preference)
    if not eligible:
        return None
    best, *others = eligible
    return Match(
        _loaded(best),
        tuple(fit.factors.id for fit in others),
        equivalent_sets=tuple(fit.factors.id for fit in others if _is_equivalent(fit, best)),
        elsewhere=_topics_elsewhere(best.missing, proven),
    )


def _match_whole_dataset(collection: Collection, sets: Sets) -> Match | None:
    """Return a match with the first set in which a whole dataset matches the qrels."""
    for factors in catalog.described_sets(sets, _is_of_datasets):
        for fit in dataset_fits(factors, collection):
            if fit.match_type:
                return Match(_loaded(fit))
    return None


def _match_by_measures(collection: Collection, sets: Sets) -> Match | None:
    """Return a match with the best of the user's sets that have a custom measure.

    A set must have one of the custom measures for which scores are given, and more than half of the
    topics.  The best set lacks the fewest topics.
    """

    def is_candidate(fit: Fit) -> bool:
        return (
            not catalog.is_shipped(fit.factors)
            and not {*fit.factors.measures}.isdisjoint(collection.external)
            and not (fit.count_mismatches or fit.differing_topics)
            and _holds_most_topics(fit)
        )

    fits = _usable_fits(collection, sets, _shares_topics(collection), is_candidate)
    if not fits:
        return None
    best, *others = sorted(fits, key=lambda fit: fit.n_missing)
    names = tuple(fit.factors.id for fit in others)
    return Match(replace(_loaded(best), known_type=BY_MEASURES), names, equivalent_sets=names)


def _no_match(collection: Collection, sets: Sets) -> Match:
    judged = (topic for topic, n in collection.counts.items() if n != 0)
    elsewhere = _topics_elsewhere(judged, _proven_fits(collection, sets))
    return Match(None, nearest=_nearest_fits(collection, sets), elsewhere=elsewhere)


def _shares_topics(collection: Collection) -> Callable[[catalog.Entry], bool]:
    return lambda one: not one["topics"].keys().isdisjoint(collection.counts.keys())


def _is_of_datasets(entry: catalog.Entry) -> bool:
    return bool(entry["unit"] == "collection")


def _usable_fits(
    collection: Collection,
    sets: Sets,
    wanted: Callable[[catalog.Entry], bool],
    is_candidate: Callable[[Fit], bool] = lambda _: True,
) -> list[Fit]:
    """Return fits of the requested sets, most specific set first; skip broken sets."""
    fits = (Fit(factors, collection) for factors in catalog.described_sets(sets, wanted))
    usable = [
        fit
        for fit in fits
        if is_candidate(fit) and (catalog.is_shipped(fit.factors) or catalog.is_usable(fit.factors))
    ]
    return sorted(usable, key=lambda fit: _specificity(fit.factors))


def _proven_fits(collection: Collection, sets: Sets) -> list[Fit]:
    """Return fits of the sets whose judgments agree on the shared topics."""
    shares_topics = _shares_topics(collection)

    def is_likely(entry: catalog.Entry) -> bool:
        return shares_topics(entry) and not collection.rules_out(entry["topics"])

    return _usable_fits(collection, sets, is_likely, lambda fit: fit.match_type is not None)


def _topics_elsewhere(topics: Iterable[str], fits: Iterable[Fit]) -> dict[str, int]:
    """Count the topics that belong to each set, in descending order of the counts."""
    left, found = set(topics), {}
    verified = {f.factors.id: left & {*f.agreement.topics_where(f.is_verified)} for f in fits}
    for name, belonging in sorted(verified.items(), key=lambda item: -len(item[1])):
        if n := len(left & belonging):
            found[name] = n
            left -= belonging
    return found


def dataset_fits(factors: FactorSet, collection: Collection) -> Iterator[Fit]:
    """Yield fits of the rows (datasets) that have the same ID or judgments as the qrels."""
    qrels = collection.qrels
    if qrels is None:
        return
    n_rel = int(qrels.count().sum())
    named = factors.info.get("aliases", {}).get(collection.dataset, collection.dataset)
    for name, judgments in factors.judgments.items():
        if name == named or judgments.n_rel == n_rel:
            fit = Fit(factors, collection_of_dataset(qrels, name))
            if fit.identical_topics or (name == named and not judgments.fingerprints):
                yield fit


def _nearest_fits(collection: Collection, sets: Sets) -> tuple[Fit, ...]:
    """Return the fits of the three nearest sets."""
    for factors in catalog.described_sets(sets, _is_of_datasets):
        for fit in dataset_fits(factors, collection):
            return (fit,)
    fits = [
        Fit(factors, collection)
        for factors in catalog.described_sets(sets, _shares_topics(collection))
    ]
    fits.sort(
        key=lambda f: (f.n_missing, len(f.count_mismatches), len(f.factors.topics), f.factors.id)
    )
    return tuple(fits[:3])


def _loaded(fit: Fit) -> Fit:
    """Return the fit; for a set of datasets, keep only the rows that are used."""
    if not fit.factors.of_datasets:
        return fit
    from ir_std.factors.derived import select_rows  # rarely needed

    return Fit(select_rows(fit.factors, fit.matched), fit.collection)


def _holds_most_topics(fit: Fit) -> bool:
    return len(fit.matched) > fit.n_missing


def _preference(fit: Fit) -> tuple[object, ...]:
    """Return a sort key that puts the best fit first."""
    return -len(fit.matched), not catalog.is_shipped(fit.factors), *_specificity(fit.factors)


def _specificity(factors: FactorSet) -> tuple[object, ...]:
    """Return a sort key: sets of the track's own systems first, and then sets with few topics."""
    return "main_set" in factors.info, len(factors.topics), factors.id


def _is_equivalent(fit: Fit, best: Fit) -> bool:
    """Check whether a user's set is as good a choice as the best set."""
    if catalog.is_shipped(fit.factors) or len(fit.matched) < len(best.matched):
        return False
    own, used = _specificity(fit.factors)[:2], _specificity(best.factors)[:2]
    return own == used or (catalog.is_shipped(best.factors) and own[0] == used[0])


def match_by_name(factors: FactorSet, collection: Collection) -> Match:
    """Return the match with a set that the user chose.

    Raises
    ------
    NoFactorsError
        If the set holds none of the topics.
    """
    as_datasets = dataset_fits(factors, collection) if factors.of_datasets else ()
    fit = next((fit for fit in as_datasets if fit.match_type), Fit(factors, collection))
    if not fit.matched:
        raise NoFactorsError(
            f"{factors.id} holds none of the {factors.unit}s "
            f"({abbreviate(collection.counts)}), but has {abbreviate(factors.topics)}; name "
            "another set, or build one with `ir_std build`"
        )
    return Match(_loaded(fit), chosen_by="name")


def match_by_systems(factors: FactorSet, collection: Collection) -> Match:
    """Return the match for scores that belong to the set's own systems."""
    return Match(Fit(factors, collection, "systems"), chosen_by="systems")
