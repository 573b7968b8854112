"""Messages about the factors on a collection's topics, whatever the runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from ir_measures.measures import Measure

from ir_std.errors import abbreviate, join_with_and, pluralize
from ir_std.evaluation.evaluation import Message, listed_counts
from ir_std.evaluation.plans import Plan
from ir_std.factors.catalog import sibling_sets
from ir_std.factors.fit_words import describe_difference, levels_text
from ir_std.factors.match import Fit, Match
from ir_std.measures import ExternalMeasure, gains_are_shares
from ir_std.scores.run_scores import QrelsFromCounts
from ir_std.trec.qrels import Qrels

MIN_SYSTEMS = 30
"""With fewer systems schemes z and E mislead, as measured by ``scripts/uncertainty_experiment.py``:
drawn by team, 8 of TREC-8's systems make of the best run's mean z of 2.1 one of 4.7, 30 of 2.7."""
SMALL_SET_ADVICE = {
    "z": "exaggerates distances from the mean; use N or U",
    "E": "says little about the best and weakest runs; use N or U",
}


def factor_messages(plans: Sequence[Plan], matches: Iterable[Match]) -> Iterator[Message]:
    """Report what a reader should know of the factors on these topics."""
    matches = list(matches)
    yield from _doubt_messages(plans, matches)
    yield from _proof_messages(plans, matches)
    yield from _gap_messages(plans, matches)
    yield from _population_messages(plans)
    yield from _flat_topic_messages(plans)
    yield from _unknown_depth_messages(plans)
    yield from _few_system_messages(plans)
    yield from _ambiguity_messages(plans, matches)


def _doubt_messages(plans: Sequence[Plan], matches: Iterable[Match]) -> Iterator[Message]:
    """Report judgments that differ, and the measures that have no value there."""
    for match in matches:
        if match.fit is None:
            continue
        own = [plan for plan in plans if plan.factors.id == match.fit.factors.id]
        levels = {level for plan in own for level in plan.levels if level < 1}
        doubts = [match.fit.caveat, describe_difference(match.fit, sorted(levels))]
        if text := "; ".join(filter(None, doubts)):
            if match.chosen_by == "name" and (counts := _values_by_other_judgments(own, match.fit)):
                text += (
                    f"; values there are used because you named the set ({listed_counts(counts)})"
                )
            left_out = {str(plan.measure): len(plan.differing) for plan in own if plan.differing}
            if left_out:
                verb = "leaves" if len(left_out) == 1 else "leave"
                topics = "it" if max(left_out.values()) == 1 else "them"
                text += (
                    f"; {join_with_and(left_out)} {verb} {topics} out unless you pass "
                    f"--factors {own[0].factors.id} (factors=)"
                )
            yield Message(text, warns=True)


def _values_by_other_judgments(plans: Iterable[Plan], fit: Fit) -> dict[str, int]:
    """Return by measure the number of topics on which it sees other judgments than its systems."""
    counts = {}
    there = fit.factors.info.get("max_level")
    for plan in plans:
        topics = fit.without_value(plan.levels)
        if gains_are_shares(plan.raw) and fit.levels and there not in (None, fit.levels[-1]):
            topics = list(fit.matched)
        if topics:
            counts[str(plan.measure)] = len(topics)
    return counts


def _proof_messages(plans: Sequence[Plan], matches: Iterable[Match]) -> Iterator[Message]:
    """Report judgments that could not be compared, so that counts decided."""
    for match in matches:
        fit = match.fit
        if fit is None or fit.match_type is None:
            continue
        by_count = [topic for topic in fit.count_only_topics if topic not in fit.unverified_topics]
        # Scores only come with counts, as the summary says.
        from_scores = fit.collection.qrels is None
        if by_count and match.chosen_by != "name" and not from_scores:
            in_part = len(by_count) < len(fit.matched)
            on = f" on {pluralize(len(by_count), 'topic')}" * in_part
            yield Message(
                f"{fit.factors.id} was recognized only by counts of relevant documents{on}",
                warns=not _all_counts_agree(fit),
            )
        if not from_scores:
            yield from _unknown_level_messages(fit, plans)


def _all_counts_agree(fit: Fit) -> bool:
    """Check whether all topics of which a set has only counts are there, with equal counts."""
    here = {*fit.matched, *(t for t, known in fit.factors.judgments.items() if known.fingerprints)}
    return not fit.count_mismatches and all(
        topic in here or not n for topic, n in fit.factors.n_rel.items()
    )


def _unknown_level_messages(fit: Fit, plans: Iterable[Plan]) -> Iterator[Message]:
    """Report measures that look at levels whose judgments a set does not record."""
    at = fit.agreement.at_level
    own = [plan for plan in plans if plan.factors.id == fit.factors.id]
    levels = [level for level in fit.levels if level > 1 and at(level).unknown.any()]
    graded = [str(plan.measure) for plan in own if set(levels) & {*plan.levels}]
    if graded:
        yield Message(
            f"{fit.factors.id} does not record its judgments at "
            f"{levels_text(levels)}, so they may differ from yours "
            f"({', '.join(graded)})",
            warns=True,
        )
    unknown = [
        str(plan.measure)
        for plan in own
        if any(
            (at(level).unknown | at(level).count_only).any() for level in plan.levels if level < 1
        )
    ]
    if unknown:
        yield Message(
            f"{fit.factors.id} does not record which documents were judged not relevant "
            f"({', '.join(unknown)})"
        )


def _gap_messages(plans: Iterable[Plan], matches: Iterable[Match]) -> Iterator[Message]:
    """Report topics that a set does not hold, or has no factors for."""
    elsewhere = {match.factors.id: match.elsewhere for match in matches if match.factors}
    topics_by_set: dict[tuple[str, str], dict[str, None]] = {}
    for plan in plans:
        differing = set(plan.differing)
        missing = [topic for topic in topics_without_factors(plan) if topic not in differing]
        named = plan.factors.id, plan.factors.unit
        topics_by_set.setdefault(named, {}).update(dict.fromkeys(missing))
    for (set_id, unit), topics in topics_by_set.items():
        if topics:
            text = (
                f"{set_id} has no factors for {pluralize(len(topics), unit)} "
                f"({abbreviate(topics)}); standardized means leave them out"
            )
            if others := elsewhere.get(set_id):
                held = ", ".join(f"{n} in {name}" for name, n in others.items())
                text += f" ({held}); evaluate each collection by itself with `ir_std compare`"
            yield Message(text, warns=True)


def topics_without_factors(plan: Plan) -> list[str]:
    """Return the topics on which a measure has no factors, or the judgments differ."""
    known = ~(np.isnan(plan.factors.mean[plan.name]) | np.isnan(plan.factors.sd[plan.name]))
    missing = (plan.rows < 0) | ~known[plan.rows]
    return [plan.topics[i] for i in np.flatnonzero(missing).tolist()]


def _population_messages(plans: Iterable[Plan]) -> Iterator[Message]:
    """Report which systems of several a run is compared with, and notes on the set's topics."""
    topics_by_set = {plan.factors: plan.topics for plan in plans}
    for factors, topics in topics_by_set.items():
        if population := factors.info.get("population"):
            yield Message(f"reference systems: {population}")
        known = factors.info.get("datasets", {})
        for topic in topics:
            if note := known.get(topic, {}).get("note"):
                yield Message(f"{topic}: {note}")


def _flat_topic_messages(plans: Iterable[Plan]) -> Iterator[Message]:
    """Report topics on which all systems have the same score."""
    counts_by_set: dict[tuple[str, str], dict[str, int]] = {}
    for plan in plans:
        if plan.measure["scheme"] == "E":
            continue
        n = int((plan.factors.sd[plan.name][plan.rows[plan.rows >= 0]] == 0).sum())
        if n:
            named = plan.factors.id, plan.factors.unit
            counts_by_set.setdefault(named, {})[str(plan.measure.base)] = n
    for (set_id, unit), counts in counts_by_set.items():
        yield Message(
            f"all systems of {set_id} have the same score on some {unit}s "
            f"({', '.join(f'{name}: {n}' for name, n in counts.items())}); there, N and U are 0 "
            "below it, 0.5 at it and 1 above it, and z is undefined"
        )


def _few_system_messages(plans: Iterable[Plan]) -> Iterator[Message]:
    """Report schemes that mislead because the set has few systems."""
    few = {
        (plan.factors.id, plan.measure["scheme"]): n
        for plan in plans
        if plan.measure["scheme"] in SMALL_SET_ADVICE
        and 1 < (n := plan.factors.n_systems[plan.name]) < MIN_SYSTEMS
    }
    for (set_id, scheme), n in few.items():
        yield Message(
            f"{set_id} has only {n} systems, so scheme {scheme} {SMALL_SET_ADVICE[scheme]}"
        )


def _unknown_depth_messages(plans: Iterable[Plan]) -> Iterator[Message]:
    """Report measures of whole rankings where the depth of the systems is unknown."""
    measures_by_set: dict[str, list[str]] = {}
    for plan in plans:
        known = plan.factors.about(plan.name, "depth")
        if isinstance(plan.raw, ExternalMeasure):
            continue  # nothing is known of lists
        if not known and "cutoff" not in plan.raw.params:
            measures_by_set.setdefault(plan.factors.id, []).append(str(plan.measure))
    for set_id, measures in measures_by_set.items():
        yield Message(
            f"{set_id} does not record its evaluation depth; {join_with_and(measures)} "
            f"{'is' if len(measures) == 1 else 'are'} too low if your run has fewer documents per "
            "topic than its systems"
        )


def _ambiguity_messages(plans: Sequence[Plan], matches: Iterable[Match]) -> Iterator[Message]:
    """Report other sets that the topics may belong to: larger ones, and the user's own."""
    for match in matches:
        fit = match.fit
        if not fit or match.chosen_by != "qrels":
            continue
        others = match.equivalent_sets
        if fit.is_subset and match.alternatives:
            # Other systems on the same collection leave no doubt of which it is.
            siblings = {sibling.id for sibling in sibling_sets(fit.factors)}
            others = tuple(set_id for set_id in match.alternatives if set_id not in siblings)
        if others:
            yield Message(
                f"these topics belong to {fit.factors.id} (used here) and to {', '.join(others)}; "
                "choose one with --factors (factors=) or in the measure, such as "
                f"{plans[0].measure(factors=fit.factors.id)}",
                warns=True,
            )


def factors_used(match: Match, plans: Iterable[Plan]) -> str:
    """Describe the set that is used, with quality labels of the plans' measures."""
    return match.describe(dict.fromkeys(p.name for p in plans if p.factors is match.factors))


# --- about levels of relevance --------------------------------------------------------------------


def level_messages(measures: Iterable[Measure], qrels: Qrels) -> Iterator[Message]:
    """Report measures that ask for a relevance level that no document has."""
    leveled = [m for m in measures if m.params.get("rel", 1) > 1]
    if not leveled or isinstance(qrels, QrelsFromCounts):
        return
    empty = [str(m) for m in leveled if m["rel"] > qrels.max_level]
    if empty:
        yield Message(
            f"nothing is relevant by {', '.join(empty)}: the highest level of these qrels "
            f"is {qrels.max_level}"
        )


def gain_messages(
    graded: Iterable[Measure], highest: int, set_id: str, qrels: Qrels
) -> Iterator[Message]:
    """Report graded measures whose gains are shares of a level that these qrels lack."""
    if highest > qrels.max_level:
        yield Message(
            f"{', '.join(map(str, graded))}: gains are shares of {highest}, the highest level of "
            f"{set_id}, of which these topics are a part (their own highest is {qrels.max_level})"
        )
