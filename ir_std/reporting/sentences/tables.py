"""Sentences about results: the notes below tables, and what pages say next to them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from math import isnan
from typing import TYPE_CHECKING

from ir_measures.measures import Measure

from ir_std.analysis.paired import ALPHA, describe_correction, describe_test, get_test
from ir_std.analysis.ranks import FEW_TOPICS, FEWEST
from ir_std.errors import abbreviate, join_with_and, pluralize
from ir_std.evaluation.factor_messages import factors_used
from ir_std.factors.benchmarks import partial_tasks
from ir_std.measures import Standardized, sign_of
from ir_std.reporting.benchmark import Benchmark
from ir_std.reporting.difference import Difference
from ir_std.reporting.links import n_common_systems
from ir_std.reporting.model import (
    MIN_SUMMARIZED,
    Results,
    covariances_of,
    overlaps_of,
)
from ir_std.reporting.run_ranks import RunRank
from ir_std.reporting.sentences.collections import (
    describe_links,
    describe_overlap,
    overlap_notes,
)
from ir_std.reporting.summaries import MIN_COLLECTIONS, RunDifferences
from ir_std.reporting.tables import EQUIVALENT, p_text
from ir_std.schemes import EXACT

if TYPE_CHECKING:
    from ir_std.reporting.diff import RunDiff, TopicScores

MIN_SYSTEMS = 40
"""With fewer reference systems than this a note says in what steps scheme E moves."""
MAX_NEIGHBOR_RUNS = 3
"""With more runs than this a table does not name the systems that they rank between."""


def describe_factors(results: Results) -> list[str]:
    """Describe the factors that were used, and their limitations."""
    return [
        factors_used(match, each.evaluator.plans)
        for each in results.collections.values()
        for match in each.evaluator.matches
    ]


def describe_firsts(results: Results, measure: Measure | str) -> str:
    """Describe which runs could be first, and how that is known."""
    by_run = {run: results.ranks[run][measure] for run in results.runs}
    (collection,) = results.collections.values()
    return could_be_first(by_run, len(results.topics), collection.unit)


def could_be_first(by_run: Mapping[str, RunRank], n_topics: int, unit: str) -> str:
    """Describe which runs could be first, and how that is known; empty for a single run."""
    ranked = {run: each for run, each in by_run.items() if each.rank is not None}
    if len(ranked) < 2:
        return ""
    first = [run for run, each in ranked.items() if each.could_be_first]
    which = (
        f"Only {first[0]} could be first"
        if len(first) == 1
        else "Either run could be first"
        if len(ranked) == 2
        else f"All {len(ranked)} runs could be first"
        if len(first) == len(ranked)
        else f"{len(first)} of the {len(ranked)} runs could be first"
    )
    if n_topics < FEWEST:
        return f"{which}: fewer than {FEWEST} {unit}s tell no runs apart."
    few = f" With fewer than {FEW_TOPICS} {unit}s both hold less often." * (n_topics < FEW_TOPICS)
    return (
        f"{which} (95% confidence set for the best). Intervals of ranks hold for all runs at once, "
        f"by paired comparisons (95%).{few}"
    )


# One collection


def runs_notes(results: Results, sort: Measure | None, means: bool, place: bool) -> Iterator[str]:
    """Yield the notes below a table of runs."""
    if results.differences and means:
        test = describe_test(
            results.procedure.test, results.procedure.correction, len(results.differences)
        )
        yield (
            f"+ - significantly better or worse than {results.baseline}: {test}, each measure "
            "tested separately."
        )
        each = [d for by_measure in results.differences.values() for d in by_measure.values()]
        yield from equivalence_notes(results)
        yield from power_notes(each)
    lower = [m for m in results.measures if sign_of(m) < 0]
    if lower:
        yield (
            f"Lower is better for {', '.join(map(str, lower))}; for every standardized score, "
            "higher is better."
        )
    scored = next(iter(results.evaluations.values()))
    if broken := [run for run, one in scored.items() if one.is_broken]:
        yield f"Looks broken or cut short: {abbreviate(broken)}."
    if sort is not None:
        sorted_by = next((m for m in results.measures if m == sort), sort)
        yield (
            f"Ranked by {sort}, the {'lowest' if sign_of(sorted_by) < 0 else 'highest'} mean "
            "first; equal means share a rank and stay in the order given."
        )
        yield from filter(None, [describe_firsts(results, sort)])
    if place:
        yield from dict.fromkeys(_notes_on_places(results, means))


def equivalence_notes(results: Results) -> Iterator[str]:
    """Yield what the mark of an equivalent run means, if there is a bound."""
    if (bound := results.procedure.equivalent) is not None:
        yield (
            f"{EQUIVALENT} differs from {results.baseline} by less than {bound:g}: two one-sided "
            f"t-tests over topics, p < {ALPHA}, corrected like the test of a difference."
        )


def power_notes(differences: Iterable[Difference]) -> Iterator[str]:
    """Yield how large differences must be so that the tests find them."""
    missed: dict[str, list[float]] = {}
    for d in differences:
        if not isnan(d.detectable):
            missed.setdefault(str(d.measure), []).append(d.detectable)
    if missed:
        yield (
            "Not significant does not mean equal. Differences below these would be missed more "
            f"than one time in five: {'; '.join(map(describe_detectable, missed.items()))}."
        )


def describe_detectable(found: tuple[str, Sequence[float]]) -> str:
    """Describe the smallest differences that a test finds: ``AP 0.041``, ``AP 0.04 to 0.05``."""
    measure, differences = found
    ends = dict.fromkeys(size_text(d) for d in (min(differences), max(differences)))
    return f"{measure} {' to '.join(ends)}"


def _notes_on_places(results: Results, means: bool) -> Iterator[str]:
    placed = [p for places in results.placements.values() for p in places.values()]
    for p in placed:
        if not p.unavailable_reason:
            part = (
                f", on {p.n_topics} of its {p.n_set_topics} topics"
                if p.n_topics < p.n_set_topics
                else ""
            )
            yield (
                f"Place: among the reference systems of {p.factors}, and the run itself if it is "
                f"none of them{part}."
            )
    if len(results.runs) <= MAX_NEIGHBOR_RUNS and means:
        for run, places in results.placements.items():
            for p in places.values():
                if p.neighbours:
                    yield f"{run} for {p.measure}: {p.neighbours}."
    for p in placed:
        if p.unavailable_reason:
            yield f"No place for {p.measure}: {p.unavailable_reason}."
    if not placed:
        yield "No places: no factors are known."


def benchmark_notes(results: Results, benchmark: Benchmark) -> Iterator[str]:
    """Yield the notes below a table of a benchmark."""
    read, n_ranked = benchmark.scores, len(benchmark.means)
    kind = "all results" if benchmark.kind == "all" else f"{benchmark.kind} results only"
    yield (
        f"{benchmark.name}, retrieval and reranking: {n_ranked} of {read.n_models} models have "
        f"half of the {len(read.tasks)} tasks or more ({kind})."
    )
    if read.missing:
        yield (
            f"{len(read.missing)} tasks, with fewer than 20 models, are not included: "
            f"{abbreviate(read.missing)}."
        )
    if partial := partial_tasks(benchmark.name):
        parts = [f"{task} by {n} of {total}" for task, (n, total) in partial.items()]
        yield f"Tasks that are known by some of their subsets only: {abbreviate(parts)}."
    yield (
        "rank: by the mean, among these models; mean: standardized (N) on a scale that does not "
        "depend on which models ran a task, with the half of its 95% interval over tasks; "
        "raw: the mean main score of models with all tasks; Borda: MTEB's rank, among all models."
    )
    if len(results.runs) > 1:
        yield (
            "ranks: those that paired tests with the other runs do not rule out. "
            f"{describe_firsts(results, results.measures[1])}"
        )
    if any(run in results.runs for run in benchmark.own):
        yield "> marks your own models."


# Several collections: means


def means_notes(results: Results) -> Iterator[str]:
    """Yield the notes below a table of means over collections."""
    raw = ", ".join(str(m) for m in results.measures if not isinstance(m, Standardized))
    kinds = {each.is_of_datasets for each in results.collections.values()}
    if kinds == {True}:
        yield (
            f"Raw means over datasets ({raw}) are the usual average, which the datasets with the "
            "widest spread decide; standardized ones are relative to the models on each dataset, "
            "and each dataset counts the same."
        )
        return
    if len(kinds) > 1:
        yield (
            "Some of these collections have factors per topic, some per dataset: means over both "
            "mix what is relative topic by topic with what is relative in the mean."
        )
    yield _comparability(results, raw)
    yield from _means_without(results)
    yield from (f"{describe_links(one)}." for one in results.links.values())
    over = (
        "anchors, for the link to the reference"
        if results.links
        else f"the reference systems{_systems_method(results)}"
    )
    yield f"± halves of 95% intervals of the mean: over topics (Student's t), and over {over}."
    yield from _notes_on_steps(results)


def _comparability(results: Results, raw: str) -> str:
    """Describe which means compare across collections."""
    named = f" ({raw})" * bool(raw)
    if overlaps_of(results).of_labels(tuple(results.collections)):
        return (
            f"These are the same topics under different judgments: raw means{named} say as much "
            "about the assessors as about the runs. Standardized ones compare if the reference "
            "systems are the same."
        )
    about_raw = (
        f"Raw means{named} of different collections cannot be compared: they say as much "
        "about the topics as about the runs."
    )
    if results.links:
        return (
            f"{about_raw} Linked means are on the scale of the reference collection, as far as "
            "the anchors agree."
        )
    if n := n_common_systems(results):
        return (
            f"{about_raw} Standardized means can: the same {n} systems standardize these "
            "collections, which need no link."
        )
    return (
        f"{about_raw} Standardized means compare if the reference systems are the same, or "
        "linked (--anchor): each is relative to the systems of its own track."
    )


def missing_collections(results: Results) -> dict[str, tuple[str, ...]]:
    """Find, for each incomplete run, the collections that it lacks and other runs have."""
    lacked = {
        run: tuple(c for c, scored in results.evaluations.items() if run not in scored)
        for run in results.runs
    }
    return {run: names for run, names in lacked.items() if names}


def describe_missing(results: Results) -> list[str]:
    """Describe missing runs: ``a and b have no run on trec8-adhoc``."""
    by_lack: dict[tuple[str, ...], list[str]] = {}
    for run, lacked in missing_collections(results).items():
        by_lack.setdefault(lacked, []).append(run)
    return [
        f"{', '.join(names)} {'has' if len(names) == 1 else 'have'} no run on {', '.join(lacked)}"
        for lacked, names in by_lack.items()
    ]


def _means_without(results: Results) -> Iterator[str]:
    """Yield which runs lack a collection, and which means are missing."""
    lacking = describe_missing(results)
    shared = [n for n, runs in results.evaluations.items() if len(runs) == len(results.runs)]
    if lacking and len(shared) >= MIN_SUMMARIZED:
        over = ", ".join(shared)
        yield f"Means over collections include only those that all runs have: {over}."
    elif lacking:
        yield f"There is no mean over collections: that takes {MIN_SUMMARIZED} which all runs have."
    elif len(shared) == MIN_SUMMARIZED - 1:
        yield f"There is no mean over collections: that takes {MIN_SUMMARIZED}."
    yield from (f"{text}." for text in lacking)


def error_sources(results: Results) -> list[str]:
    """Describe how the errors over reference systems were computed."""
    sources = (
        covariances_of(results.on(name))[measure].source
        for name, collection in results.collections.items()
        for measure in collection.plans
    )
    return list(dict.fromkeys(filter(None, sources)))


def _systems_method(results: Results) -> str:
    """Describe how the systems' part of the intervals was computed."""
    methods = error_sources(results)
    return ", " * bool(methods) + "; ".join(methods)


def _notes_on_steps(results: Results) -> Iterator[str]:
    """Yield the collections on which scheme E moves in visible steps."""
    sizes = dict.fromkeys(
        (plan.factors.id, plan.factors.n_systems[plan.name])
        for each in results.collections.values()
        for m, plan in each.plans.items()
        if m["scheme"] == "E"
    )
    for name, n in sizes:
        if n < MIN_SYSTEMS:
            yield f"E on {name} moves in steps of 1/{n}, the share of a system."


# Several collections: differences from a baseline


def differences_notes(
    results: Results, compared: Mapping[str, Mapping[Measure, RunDifferences]]
) -> Iterator[str]:
    """Yield the notes below a table of differences from the baseline."""
    each = [d for by_measure in compared.values() for d in by_measure.values()]
    n_runs = Counter(d.where for m in compared.values() for d in next(iter(m.values())).differences)
    corrections = dict.fromkeys(
        describe_correction(results.procedure.correction, n) for n in n_runs.values()
    )
    correction = " or".join(corrections)
    yield (
        f"Differences from {results.baseline}: the mean over the topics that both have, with "
        "95% intervals over topics and, for standardized scores, over the reference systems, "
        f"which both share{', and over anchors, for the link' * bool(results.links)}. p: "
        f"two-sided {get_test(results.procedure.test)[1]} over topics{correction}"
        f"{', each collection and measure separately' * bool(correction)}; it takes the factors as "
        "fixed, so the interval of a standardized difference may include 0 although p is below "
        "0.05. g: the difference in standard deviations over topics (Hedges)."
    )
    yield from equivalence_notes(results)
    yield from power_notes(chain.from_iterable(d.differences for d in each))
    if any(d.has_summary() for d in each):
        n = len({d.run for d in each if d.has_summary()})
        adjusted = describe_correction(results.procedure.correction, n)
        yield (
            "Summary: random effects, Paule and Mandel's variance between collections with "
            "Hartung and Knapp's interval, but not narrower than the normal one"
            f"{f', p{adjusted}' * bool(adjusted)}. Variation: the number of collections, "
            "Cochran's Q and its p, the share I2 of the variance that is between collections, and "
            "tau, its standard deviation."
        )
    for d in each:
        if d.has_summary() and (left_out := d.left_out()):
            yield (
                f"For {d.measure} the summary of {d.run} leaves out {', '.join(left_out)}: the "
                "differences there have no spread."
            )
    yield from _without_summary(each)
    best = [f"{c.best} on {name}" for name, c in results.collections.items() if c.best]
    if best:
        yield (
            f"best: for each set, the system with the highest mean, {', '.join(best)}; it was "
            "chosen by its scores on these topics."
        )
    own = [name for name, runs in results.evaluations.items() if results.baseline in runs]
    for run in compared:
        yield from (
            f"{run} has no run on {name}." for name in own if run not in results.evaluations[name]
        )
    yield from (f"{describe_links(one)}." for one in results.links.values())
    if overlaps_of(results).of_labels(tuple(results.collections)):
        yield from overlap_notes(overlaps_of(results))
        return
    most = max(len(next(iter(m.values())).differences) for m in compared.values())
    if MIN_SUMMARIZED <= most < MIN_COLLECTIONS:
        yield (
            f"{most} collections are few; it takes {MIN_COLLECTIONS} to estimate how much a "
            "difference varies between collections."
        )
    yield from overlap_notes(overlaps_of(results))
    if most > 1:
        yield (
            "If a run was tuned on one of these collections, leave that collection out: its "
            "difference there is not one on new topics."
        )


def why_no_summary(differences: RunDifferences) -> str:
    """Return why a run's differences have no summary; empty if they have one."""
    if differences.has_summary():
        return ""
    if sum(differences.known) < 2:
        return "there is one collection only"
    if pairs := differences.shared:
        return "; ".join(describe_overlap(differences.overlaps, *pair) for pair in pairs)
    if left_out := differences.left_out():
        return f"differences have no spread on {', '.join(left_out)}"
    return f"a summary takes {MIN_SUMMARIZED} collections"


def _without_summary(each: Sequence[RunDifferences]) -> Iterator[str]:
    """Yield which runs have no summary, each reason once."""
    measures: dict[tuple[str, str], list[str]] = {}
    for d in each:
        if not d.has_summary() and not d.shared and sum(d.known) > 1:
            measures.setdefault((d.run, why_no_summary(d)), []).append(str(d.measure))
    runs: dict[tuple[str, str], list[str]] = {}
    for (run, reason), names in measures.items():
        runs.setdefault((", ".join(names), reason), []).append(run)
    for (by, reason), names in runs.items():
        verb = "has" if len(names) == 1 else "have"
        yield f"{abbreviate(names)} {verb} no summary for {by}: {reason}."


# Two runs, topic by topic


def diff_notes(pair: RunDiff, shown: Sequence[TopicScores]) -> Iterator[str]:
    """Yield the notes below a table of two runs' topics."""
    yield f"A is {pair.a}, B is {pair.b}."
    if not pair.standardized:
        yield f"No factors for {pair.measure}: topics by the size of the raw difference."
    else:
        first = f"The {len(shown)} largest" if len(shown) > 1 else "The largest"
        yield (
            f"{first} of {pluralize(len(pair.topics), 'topic')} by {pair.standardized}; raw "
            f"place: by the size of the difference in {pair.measure}."
        )
        rest = [t for t in pair.topics[len(shown) :] if t.raw_place <= len(shown)]
        if rest:
            topics = ", ".join(f"{t.topic} ({t.raw_place})" for t in rest)
            yield f"Raw differences as large, but not standardized (raw place): {topics}."
    yield from _mean_difference_notes(pair)
    for text in pair.disagreements:
        yield f"{text[0].upper()}{text[1:]}."


def disagreements(pair: RunDiff) -> Iterator[str]:
    """Yield contradictions between raw and standardized scores of two runs."""
    (raw_a, raw_b), (std_a, std_b) = pair.means
    if (raw_a - raw_b) * (std_a - std_b) < 0:
        yield (
            f"the means disagree in sign: {pair.measure} {raw_a - raw_b:+.4f}, "
            f"{pair.standardized} {std_a - std_b:+.4f}"
        )
    equal = [
        t.topic
        for t in pair.topics
        if abs(t.raw[0] - t.raw[1]) > EXACT and abs(t.standardized[0] - t.standardized[1]) < EXACT
    ]
    if equal:
        yield (
            f"only the raw scores differ on {pluralize(len(equal), 'topic')} "
            f"({', '.join(equal)}); the standardized ones are equal"
        )


def _mean_difference_notes(pair: RunDiff) -> Iterator[str]:
    """Yield the tests of the two means, and what they could have missed."""
    tested = [d for d in pair.differences if not isnan(d.p)]
    parts = [f"{d.measure} {size_text(d.mean, '+')} ({p_text(d.p)})" for d in tested]
    if parts:
        test = get_test(pair.results.procedure.test)[1]
        yield f"Mean differences ({test}): {', '.join(parts)}."
    yield from power_notes(tested)


# Numbers in sentences


SMALLEST = 5e-4
"""Smaller differences would be rounded to 0."""
NAMED = 3
"""Runs that a sentence names; more are counted."""


def size_text(difference: float, sign: str = "") -> str:
    """Format a difference: three decimals, or enough to show that it is not 0."""
    places = ".3f" if abs(difference) >= SMALLEST or not difference else ".1g"
    return f"{difference:{sign}{places}}"


def listed(runs: Sequence[str]) -> str:
    """Join the names of runs; if there are many, the first and a count."""
    if len(runs) <= NAMED + 1:  # "1 more" is no shorter than its name
        return join_with_and(runs)
    return join_with_and([*runs[:NAMED], f"{len(runs) - NAMED} more"])
