"""What several collections say, in sentences."""

from __future__ import annotations

from collections.abc import Iterable
from math import isnan

from ir_measures.measures import Measure

from ir_std.analysis.estimate import Estimate
from ir_std.measures import sign_of
from ir_std.reporting.balance import missing_texts, shared_parts
from ir_std.reporting.comparison import Comparison
from ir_std.reporting.effects import Effects
from ir_std.reporting.headlines import MIN_COLLECTIONS, is_headline, is_wide
from ir_std.reporting.html.leads import lead_sentence, tied_for_first
from ir_std.reporting.html.phrases import (
    NAMED,
    join_with_and,
    listed,
    p_text,
    size_text,
)
from ir_std.reporting.part import Part
from ir_std.reporting.system_effects import SystemEffects

# Means.


def means_words(comparison: Comparison, measure: Measure) -> list[str]:
    """Who is best over the collections that all systems have, or of few on each of them."""
    names = comparison.collections
    judged_again = comparison.overlaps.of_labels(names)
    where = (
        f"under {len(names)} judgments of the same topics"
        if judged_again
        else f"on {len(names)} collections"
    )
    lacking = [f"{text}: left out there." for text in missing_texts(comparison.parts)]
    return [
        f"{len(comparison.systems)} systems {where}: {', '.join(names)}.",
        *(_headline(comparison, measure) or _each_collection(comparison, measure)),
        *lacking,
        "Raw means say as much about the judges as about the systems; differences of each "
        "system, paired by topic, are in a table of their own."
        if judged_again
        else f"{_comparable_means(comparison)}; a baseline would show differences, collection by "
        "collection.",
    ]


def headline_mean(comparison: Comparison, system: str, measure: Measure) -> Estimate | None:
    """A mean over collections that says something: of enough of them, its interval on the scale."""
    mean = comparison.pooled(system, measure)
    n = len(shared_parts(comparison.parts, system, measure))
    return mean if mean and is_headline(n, measure, *mean.interval) else None


def _headline(comparison: Comparison, measure: Measure) -> list[str]:
    known = {s: e for s in comparison.systems if (e := headline_mean(comparison, s, measure))}
    if len(known) < len(comparison.systems):
        return []
    sign = sign_of(measure)
    best = max(known, key=lambda s: sign * known[s].mean)
    low, high = known[best].interval
    n = len(shared_parts(comparison.parts, best, measure))
    which = f"{n} collections"
    if n < len(comparison.collections):
        which += " where all systems have one"
    return [
        f"{best} has the {'highest' if sign > 0 else 'lowest'} mean {comparison.label(measure)} "
        f"over the {which}: {known[best].mean:.3f} (95% interval {low:.3f} to {high:.3f})."
    ]


def _each_collection(comparison: Comparison, measure: Measure) -> list[str]:
    """The best on each collection that several systems have."""
    texts = []
    for collection in comparison.collections:
        parts = [
            p
            for p in comparison.parts
            if p.collection == collection and not isnan(p.estimate(measure).mean)
        ]
        if len(parts) > 1:
            texts.append(_best_on(comparison, collection, parts, measure))
    return texts


def _best_on(comparison: Comparison, collection: str, parts: list[Part], measure: Measure) -> str:
    sign = sign_of(measure)
    order = [p.system for p in sorted(parts, key=lambda p: -sign * p.estimate(measure).mean)]
    results = parts[0].results
    mean = comparison.part(order[0], collection).estimate(measure).mean
    word = "highest" if sign > 0 else "lowest"
    text = f"On {collection} {{}} the {word} {comparison.label(measure)}: {mean:.3f}"
    if measure in comparison.links:
        return f"{text.format(f'{order[0]} has')}."
    best = tied_for_first(results, measure, order)
    verb = f"{listed(best)} {'has' if len(best) == 1 else 'have'}"
    return f"{text.format(verb)}. {lead_sentence(results, measure, order)}".rstrip()


def _comparable_means(comparison: Comparison) -> str:
    if comparison.links:
        return "Only linked means can be compared across collections"
    if comparison.systems_alike:
        return "Standardized means can be compared across collections: by the same systems"
    return (
        "Raw means cannot be compared across collections; standardized ones can where the "
        "standardizing systems are alike, or linked (--anchor)"
    )


# Differences from a baseline.


def effects_words(comparison: Comparison, effects: Effects, measure: Measure) -> list[str]:
    """By how much systems differ from a baseline: of few collections on each of them."""
    of_systems = [effects.of(measure, system) for system in effects.systems]
    collections = list(dict.fromkeys(e.collection for s in of_systems for e in s.effects))
    lacking = [
        *(f"There is no {of_systems[0].label} on {c}: left out." for c in _unknown(of_systems)),
        *(f"{text}: left out there." for text in missing_texts(comparison.parts)),
    ]
    if len(collections) >= MIN_COLLECTIONS:
        return [*(_over_collections(s) for s in of_systems), *lacking]
    texts = [_on_collection(effects, of_systems, c) for c in collections]
    if len(collections) > 1:
        reasons = [s.why_not() for s in of_systems]
        texts.append(
            f"There is no summary over the collections: {reasons[0]}."
            if all(reasons)
            else f"{len(collections)} collections are few: their summary stands in the table alone."
        )
    return [*filter(None, texts), *lacking]


def _unknown(of_systems: Iterable[SystemEffects]) -> list[str]:
    """The collections where no system has a difference, such as those without factors."""
    known: dict[str, bool] = {}
    for s in of_systems:
        for e in s.effects:
            known[e.collection] = known.get(e.collection, False) or e.difference.n > 0
    return [collection for collection, is_known in known.items() if not is_known]


def _on_collection(effects: Effects, of_systems: list[SystemEffects], collection: str) -> str:
    found = [
        (s, e)
        for s in of_systems
        for e in s.effects
        if e.collection == collection and not isnan(e.difference.mean)
    ]
    if not found:
        return ""
    sign = sign_of(found[0][0].measure)
    found.sort(key=lambda pair: -sign * pair[1].difference.mean)
    parts = []
    for s, e in found[: NAMED + 1]:
        low, high = e.difference.interval
        p = effects.interval_p(e, s.measure)
        between = (
            ""
            if isnan(low) or is_wide(s.measure, low, high)
            else f" (95% interval {low:+.3f} to {high:+.3f}, {p_text(p)})"
        )
        parts.append(f"{s.system} {size_text(e.difference.mean, '+')}{between}")
    more = f"; {len(found) - NAMED - 1} more in the table" if len(found) > NAMED + 1 else ""
    label, baseline = found[0][0].label, effects.baseline
    return f"On {collection} by {label}, against {baseline}: {'; '.join(parts)}{more}."


def _over_collections(effects: SystemEffects) -> str:
    known = [e for e in effects.effects if not isnan(e.difference.mean)]
    above = [e.collection for e in known if e.difference.interval[0] > 0]
    below = [e.collection for e in known if e.difference.interval[1] < 0]
    where = [
        f"{word} {effects.baseline} on {join_with_and(names)}"
        for word, names in (("above", above), ("below", below))
        if names
    ]
    by = f"By {effects.label} {effects.system} is"
    text = f"{by} {' and '.join(where) or 'neither above nor below'}"
    if not where:
        text += f" {effects.baseline} on any of the {len(known)} collections"
    elif len(above) + len(below) < len(known):
        rest = len(known) - len(above) - len(below)
        text += f", with no clear difference on the other {'one' if rest == 1 else rest}"
    s = effects.summary()
    if s is None:
        return f"{text}. There is no summary: {effects.why_not()}."
    if not effects.headline():
        return f"{text}. Their summary says little, and stands in the table alone."
    left_out = f", without {join_with_and(names)}" if (names := effects.left_out()) else ""
    said = (
        f"{text}. In summary the difference is {s.effect:+.3f} (95% interval {s.low:+.3f} to "
        f"{s.high:+.3f}{left_out})"
    )
    if is_wide(effects.measure, *s.predicted):
        return f"{said}."
    return (
        f"{said}; on one more such collection it may lie from {s.predicted[0]:+.3f} to "
        f"{s.predicted[1]:+.3f}."
    )
