"""What a reader of a comparison must know: which means compare, and how intervals are made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ir_measures.measures import Measure

from ir_std.errors import UsageError, suggestion
from ir_std.evaluation.uncertainty import team_tags
from ir_std.measures import Standardized
from ir_std.reporting.balance import missing_texts, shared_collections
from ir_std.reporting.headlines import MIN_COLLECTIONS, MIN_SUMMARIZED
from ir_std.reporting.links import CollectionLinks
from ir_std.reporting.overlaps import Overlaps
from ir_std.reporting.part import Part

MIN_SYSTEMS = 40
"""With fewer standardizing systems than this a note says in what steps scheme E moves."""


def table_notes(
    parts: Sequence[Part],
    measures: Iterable[Measure],
    links: Mapping[Measure, CollectionLinks],
    overlaps: Overlaps,
) -> tuple[str, ...]:
    """The notes below the table of means."""
    raw = ", ".join(str(m) for m in measures if not isinstance(m, Standardized))
    kinds = {part.of_dataset for part in parts}
    if kinds == {True}:
        return (
            f"Raw means over data sets ({raw}) are the usual average, which the "
            "data sets with the widest spread decide; standardized ones are relative to "
            "the models on each data set, and count alike.",
        )
    mixed = (
        "Some of these collections have factors of topics, some of whole data sets: means "
        "over both mix what is relative topic by topic with what is relative in the "
        "mean.",
    ) * (len(kinds) > 1)
    return (
        *mixed,
        _comparability(raw, parts, links, overlaps),
        *_means_without(parts),
        *(f"{one.summary}." for one in links.values()),
        "± halves of 95 percent intervals of the mean: over topics (Student's t), and over "
        + (
            "anchors, of the link to the reference."
            if links
            else f"the systems that the factors come from{_systems_method(parts)}."
        ),
        *_notes_on_steps(parts),
    )


def _means_without(parts: Sequence[Part]) -> Iterator[str]:
    """Who lacks which collection, over which no mean is then taken, or that they are too few."""
    shared, lacking = shared_collections(parts), missing_texts(parts)
    if lacking and len(shared) >= MIN_SUMMARIZED:
        over = ", ".join(shared)
        yield f"Means over collections are over those that all systems have: {over}."
    elif lacking:
        yield (
            f"There is no mean over collections: that takes {MIN_SUMMARIZED} which all systems "
            "have."
        )
    elif len(shared) == MIN_SUMMARIZED - 1:
        yield f"There is no mean over collections: that takes {MIN_SUMMARIZED}."
    yield from (f"{text}." for text in lacking)


def effects_notes(
    n_collections: int,
    collections: Sequence[str],
    links: Mapping[Measure, CollectionLinks],
    overlaps: Overlaps,
) -> Iterator[str]:
    """The notes below differences from a baseline, on at most ``n_collections``."""
    yield from (f"{one.summary}." for one in links.values())
    if overlaps.of_labels(collections):
        yield from overlaps.notes
        return
    if MIN_SUMMARIZED <= n_collections < MIN_COLLECTIONS:
        yield (
            f"{n_collections} collections are few: how much a difference varies between "
            f"collections is hardly known from fewer than {MIN_COLLECTIONS}."
        )
    yield from overlaps.notes
    if n_collections > 1:
        yield (
            "If a system was tuned on one of these collections, leave that "
            "collection out: its difference there is not one on new topics."
        )


def same_systems(parts: Iterable[Part]) -> int:
    """How many standardizing systems all collections have; 0 where not all have the same.

    Systems without names, of which any set may have as many, are not known to be the same.
    """
    populations = {
        frozenset(team_tags(plan.factors.info.get("tags", ())))
        for part in parts
        for plan in part.results.plans.values()
    }
    return len(populations.pop()) if len(populations) == 1 else 0


def _comparability(
    raw: str,
    parts: Sequence[Part],
    links: Mapping[Measure, CollectionLinks],
    overlaps: Overlaps,
) -> str:
    """Which means compare across collections."""
    collections = tuple(dict.fromkeys(part.collection for part in parts))
    named = f" ({raw})" * bool(raw)
    if overlaps.of_labels(collections):
        return (
            f"These are the same topics under different labels: raw means{named} say as much "
            "about the judges as about the systems; standardized ones compare where the "
            "standardizing systems are the same."
        )
    about_raw = (
        f"Raw means{named} of different collections cannot be compared: they say as much "
        "about the topics as about the systems."
    )
    if links:
        return f"{about_raw} Linked means can: they are on the scale of the reference collection."
    if len(collections) > 1 and (n := same_systems(parts)):
        return (
            f"{about_raw} Standardized means can: the same {n} systems standardize these "
            "collections, which need no link."
        )
    return (
        f"{about_raw} Standardized means compare where the standardizing systems are the "
        "same, or linked (--anchor): each is relative to the systems of its own track."
    )


def _systems_method(parts: Iterable[Part]) -> str:
    """How the systems' part of the intervals was computed."""
    methods = dict.fromkeys(
        source
        for part in parts
        for m in part.results.plans
        if (source := part.results.systems_covariances[m].source)
    )
    return ", " * bool(methods) + "; ".join(methods)


def _notes_on_steps(parts: Iterable[Part]) -> Iterator[str]:
    """Where scheme E, a share of systems, moves in steps that one can see."""
    sizes = dict.fromkeys(
        (plan.factors.id, plan.factors.n_systems[plan.name])
        for part in parts
        for m, plan in part.results.plans.items()
        if m["scheme"] == "E"
    )
    for name, n in sizes:
        if n < MIN_SYSTEMS:
            yield f"E on {name} moves in steps of 1/{n}, the share of a system."


def notes_on_best(best: Mapping[str, str]) -> Iterator[str]:
    """Which of its set's systems is the baseline ``best`` on each collection."""
    if best:
        names = ", ".join(f"{system} on {collection}" for collection, system in best.items())
        yield f"best: of each set's systems the one with the highest mean, {names}."


def check_baseline(baseline: str | None, systems: Iterable[str]) -> None:
    """Check that a system has the baseline's name.

    Raises
    ------
    UsageError
        If none has.
    """
    known = tuple(dict.fromkeys(systems))
    if baseline is not None and baseline not in known:
        raise UsageError(
            f"no system is called {baseline!r}, the baseline: there are "
            f"{', '.join(known)}{suggestion(baseline, known)}"
        )
