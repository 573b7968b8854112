"""Report notes and warnings about the factors of a collection, not about single runs."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, compress

from ir_std._arrays import pick_rows
from ir_std.errors import abbreviate, join_with_and, pluralize
from ir_std.evaluation.evaluation import Message, listed_counts
from ir_std.evaluation.plans import Plan
from ir_std.factors.catalog import sibling_sets
from ir_std.factors.fit_words import describe_difference, levels_text
from ir_std.factors.match import Fit, Match
from ir_std.measures import Measure, gains_are_shares
from ir_std.scores.run_scores import QrelsFromCounts
from ir_std.trec import Qrels


def factor_messages(plans: Iterable[Plan], matches: Iterable[Match]) -> Iterator[Message]:
    """Report notes and warnings about the use of the factors on these topics, set by set."""
    plans = list(plans)
    for match in matches:
        if (fit := match.fit) is None:
            continue
        own = [plan for plan in plans if plan.factors.id == fit.factors.id]
        yield from _difference_messages(own, match, fit)
        if fit.match_type and fit.collection.qrels:  # scores have only counts
            yield from _count_messages(match, fit)
            yield from _unknown_level_messages(own, fit)
        yield from _gap_messages(own, match, fit)
        if own:
            yield from _set_messages(own, fit)
        yield from _ambiguity_messages(own, match, fit)


def _difference_messages(plans: Sequence[Plan], match: Match, fit: Fit) -> Iterator[Message]:
    """Report topics whose judgments differ, and measures that have no value on these topics."""
    levels = {level for plan in plans for level in plan.levels if level < 1}
    doubts = [fit.caveat, describe_difference(fit, sorted(levels))]
    if not (text := "; ".join(filter(None, doubts))):
        return
    if match.chosen_by == "name" and (counts := _values_by_other_judgments(plans, fit)):
        text += (
            f"; values on these {fit.factors.unit}s are used because you named the set "
            f"({listed_counts(counts)})"
        )
    left_out = {str(plan.measure): len(plan.differing) for plan in plans if plan.differing}
    if left_out:
        verb = "leaves" if len(left_out) == 1 else "leave"
        unit = fit.factors.unit
        topics = f"this {unit}" if max(left_out.values()) == 1 else f"these {unit}s"
        text += (
            f"; {join_with_and(left_out)} {verb} out {topics} unless you pass "
            f"--factors {fit.factors.id} (factors=)"
        )
    yield Message(text, is_warning=True)


def _values_by_other_judgments(plans: Iterable[Plan], fit: Fit) -> dict[str, int]:
    """Count, per measure, the topics whose judgments differ from the set's judgments."""
    counts = {}
    highest = fit.factors.info.get("max_level")
    for plan in plans:
        n = len(fit.without_value(plan.levels))
        if gains_are_shares(plan.raw) and fit.levels and highest not in (None, fit.levels[-1]):
            n = len(fit.matched)
        if n:
            counts[str(plan.measure)] = n
    return counts


def _count_messages(match: Match, fit: Fit) -> Iterator[Message]:
    """Report topics that were recognized only by counts of relevant documents."""
    by_count = [topic for topic in fit.count_only_topics if topic not in fit.unverified_topics]
    if not by_count or match.chosen_by == "name":
        return
    on = f" on {pluralize(len(by_count), fit.factors.unit)}" * (len(by_count) < len(fit.matched))
    # If the set has only counts for the other topics and all counts agree, a note is enough.
    verified = {*fit.matched, *(t for t, j in fit.factors.judgments.items() if j.fingerprints)}
    is_complete = all(topic in verified or not n for topic, n in fit.factors.n_rel.items())
    yield Message(
        f"{fit.factors.id} was recognized only by counts of relevant documents{on}",
        is_warning=bool(fit.count_mismatches) or not is_complete,
    )


def _unknown_level_messages(plans: Iterable[Plan], fit: Fit) -> Iterator[Message]:
    """Report measures that use a relevance level for which the set does not record judgments."""
    at_level = fit.agreement.at_level
    levels = {level for level in fit.levels if level > 1 and at_level(level).unknown.any()}
    below = {level for p in plans for level in p.levels if level < 1}
    unknown = {n for n in below if (at_level(n).unknown | at_level(n).count_only).any()}
    if graded := [str(plan.measure) for plan in plans if levels & {*plan.levels}]:
        yield Message(
            f"{fit.factors.id} does not record its judgments at {levels_text(sorted(levels))}, so "
            f"your judgments may differ ({', '.join(graded)})",
            is_warning=True,
        )
    if others := [str(plan.measure) for plan in plans if unknown & {*plan.levels}]:
        yield Message(
            f"{fit.factors.id} does not record which documents were judged not relevant "
            f"({', '.join(others)})"
        )


def _gap_messages(plans: Iterable[Plan], match: Match, fit: Fit) -> Iterator[Message]:
    """Report topics that a set does not contain, or for which it has no factors."""
    topics = dict.fromkeys(chain.from_iterable(map(_topics_without_factors, plans)))
    if topics:
        text = (
            f"{fit.factors.id} has no factors for {pluralize(len(topics), fit.factors.unit)} "
            f"({abbreviate(topics)}); standardized means leave them out"
        )
        if match.elsewhere:
            held = ", ".join(f"{n} in {name}" for name, n in match.elsewhere.items())
            text += f" ({held}); evaluate each collection by itself with `ir_std compare`"
        yield Message(text, is_warning=True)


def _topics_without_factors(plan: Plan) -> list[str]:
    """Return the topics without factors, except for topics whose judgments differ."""
    differing = {*plan.differing}
    topics = compress(plan.topics, ~plan.has_factors)
    return [topic for topic in topics if topic not in differing]


def _set_messages(plans: Sequence[Plan], fit: Fit) -> Iterator[Message]:
    """Describe the set's systems and topics, and report topics on which all systems are equal."""
    factors = fit.factors
    if population := factors.info.get("population"):
        yield Message(f"reference systems: {population}")
    for topic in plans[0].topics:
        if note := factors.info.get("datasets", {}).get(topic, {}).get("note"):
            yield Message(f"{topic}: {note}")
    flat: dict[str, int] = {}
    for plan in plans:
        n = int((pick_rows(factors.sd[plan.name], plan.rows) == 0).sum())
        if n and plan.measure["scheme"] != "E":
            flat[str(plan.measure.base)] = n
    if flat:
        yield Message(
            f"all systems of {factors.id} have the same score on some {factors.unit}s "
            f"({', '.join(f'{name}: {n}' for name, n in flat.items())}); there, N and U are "
            "0 for lower scores, 0.5 for this score and 1 for higher scores, and z is undefined"
        )


def _ambiguity_messages(plans: Sequence[Plan], match: Match, fit: Fit) -> Iterator[Message]:
    """Report other sets that the topics may belong to, including the user's own sets."""
    if match.chosen_by != "qrels":
        return
    others = match.equivalent_sets
    if fit.is_subset and match.alternatives:
        # A set of other systems on the same collection does not make the collection ambiguous.
        siblings = {sibling.id for sibling in sibling_sets(fit.factors)}
        others = tuple(set_id for set_id in match.alternatives if set_id not in siblings)
    if others:
        yield Message(
            f"these {fit.factors.unit}s belong to {fit.factors.id} (used here) and to "
            f"{', '.join(others)}; choose one with --factors (factors=) or in the measure, such as "
            f"{plans[0].measure(factors=fit.factors.id)}",
            is_warning=True,
        )


def factors_used(match: Match, plans: Iterable[Plan]) -> str:
    """Describe the factor set in use, with quality labels for the plans' measures."""
    return match.describe(dict.fromkeys(p.name for p in plans if p.factors is match.factors))


# --- relevance levels -----------------------------------------------------------------------------


def level_messages(measures: Iterable[Measure], qrels: Qrels) -> Iterator[Message]:
    """Report measures whose ``rel`` is above the highest relevance level of the qrels."""
    if isinstance(qrels, QrelsFromCounts):
        return
    leveled = [m for m in measures if m.params.get("rel", 1) > 1]
    empty = [str(m) for m in leveled if m["rel"] > qrels.max_level]
    if empty:
        yield Message(
            f"no document is relevant for {', '.join(empty)}, because the highest level in these "
            f"qrels is {qrels.max_level}"
        )


def gain_messages(
    graded: Iterable[Measure], highest: int, set_id: str, qrels: Qrels
) -> Iterator[Message]:
    """Report graded measures whose gains are relative to a level above all levels of the qrels."""
    if highest > qrels.max_level:
        yield Message(
            f"{', '.join(map(str, graded))}: gains are relative to {highest}, the highest level in "
            f"{set_id}; these qrels are a part of {set_id} with levels up to {qrels.max_level}"
        )
