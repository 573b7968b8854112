"""Turn facts about results into sentences, for the notes below tables and for pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from math import isnan
from typing import TYPE_CHECKING

from ir_std._arrays import EXACT
from ir_std.analysis.linking import MIN_TESTED
from ir_std.analysis.paired import ALPHA, describe_correction, describe_test, get_test
from ir_std.analysis.ranks import FEW_TOPICS, FEWEST
from ir_std.errors import abbreviate, pluralize
from ir_std.factors.benchmarks import partial_tasks
from ir_std.measures import Measure, Standardized, sign_of
from ir_std.reporting.benchmark import Benchmark
from ir_std.reporting.difference import MIN_COLLECTIONS, Difference, RunDifferences
from ir_std.reporting.links import CollectionLinks, Overlaps, n_common_systems
from ir_std.reporting.model import MIN_SUMMARIZED, Results, over_systems, unit_of
from ir_std.reporting.run_ranks import RunRank
from ir_std.reporting.tables import EQUIVALENT, p_text

if TYPE_CHECKING:
    from ir_std.reporting.diff import RunDiff, TopicScores

RESEMBLING = 1.0
"""Largest distance from the anchors' linked mean without a warning, in units of z."""
MAX_NEIGHBOR_RUNS = 3
"""Largest number of runs for which a table names the neighboring systems."""


def describe_firsts(results: Results, measure: Measure | str) -> str:
    """Describe which runs could be first, and why."""
    by_run = {run: results.ranks[run][measure] for run in results.runs}
    return could_be_first(by_run, len(results.topics), results.collection.unit)


def could_be_first(by_run: Mapping[str, RunRank], n_topics: int, unit: str) -> str:
    """Describe which runs could be first, and why; empty for a single run."""
    ranked = {run: each for run, each in by_run.items() if each.rank is not None}
    first = [run for run, each in ranked.items() if each.could_be_first]
    if len(ranked) < 2:
        return ""
    if len(first) == 1:
        which = f"Only {first[0]}"
    elif len(first) < len(ranked):
        which = f"{len(first)} of the {len(ranked)} runs"
    else:
        which = "Either run" if len(ranked) == 2 else f"All {len(ranked)} runs"
    if n_topics < FEWEST:
        return (
            f"{which} could be first, because ir_std needs at least {FEWEST} {unit}s to rule out a "
            "run."
        )
    few = (
        f" With fewer than {FEW_TOPICS} {unit}s, this set and these intervals are right in fewer "
        "than 95% of cases."
    ) * (n_topics < FEW_TOPICS)
    return (
        f"{which} could be first (95% confidence set for the best run). The intervals of ranks "
        "hold for all runs together (95% confidence), so an interval can begin at 1 even if its "
        "run could not be first."
        f"{few}"
    )


# One collection


def runs_notes(results: Results, sort: Measure | None, means: bool, place: bool) -> Iterator[str]:
    """Yield the notes below a table of runs."""
    if (test := baseline_test(results)) and means:
        yield (
            f"+ and - mark runs significantly better or worse than {results.baseline} ({test}, "
            "each measure tested separately)."
        )
        yield from equivalence_notes(results)
        yield from power_notes(d for each in results.differences.values() for d in each.values())
    lower = [m for m in results.measures if sign_of(m) < 0]
    if lower:
        yield (
            f"Lower is better for {', '.join(map(str, lower))}; for every standardized score, "
            "higher is better."
        )
    scored = next(iter(results.evaluations.values()))
    if broken := [run for run, one in scored.items() if one.is_broken]:
        yield f"These runs look broken or cut short: {abbreviate(broken)}."
    if sort is not None:
        which = "lowest" if sort in lower else "highest"
        yield (
            f"Runs are ranked by {sort}, {which} mean first; runs with equal means share a rank "
            "and stay in the given order."
        )
        yield from filter(None, [describe_firsts(results, sort)])
    if place:
        yield from dict.fromkeys(_notes_on_places(results, means))


def baseline_test(results: Results) -> str:
    """Describe the test of the runs against the baseline; empty if no run was tested."""
    how, n_runs = results.procedure, len(results.differences)
    return describe_test(how.test, how.correction, n_runs, unit_of(results)) if n_runs else ""


def equivalence_notes(results: Results) -> Iterator[str]:
    """Yield a note that explains the mark of equivalent runs, if there is an equivalence bound."""
    if (bound := results.procedure.equivalent) is not None:
        yield (
            f"{EQUIVALENT} marks runs that differ from {results.baseline} by less than {bound:g} "
            f"(two one-sided t-tests over {unit_of(results)}s, p < {ALPHA}, corrected like the "
            "test of a difference)."
        )


def power_notes(differences: Iterable[Difference]) -> Iterator[str]:
    """Yield the smallest differences that the tests would find four times in five."""
    missed: dict[str, list[float]] = {}
    for d in differences:
        if not isnan(d.detectable):
            missed.setdefault(str(d.measure), []).append(d.detectable)
    parts = []
    for measure, sizes in missed.items():
        ends = dict.fromkeys(size_text(size) for size in (min(sizes), max(sizes)))
        parts.append(f"{measure} {' to '.join(ends)}")
    if parts:
        yield (
            "Not significant does not mean equal. Differences below these sizes would be missed "
            f"more than one time in five: {'; '.join(parts)}."
        )


def _notes_on_places(results: Results, means: bool) -> Iterator[str]:
    """Yield notes on places: factor set, neighboring systems, and reasons for missing places."""
    placed = [p for places in results.placements.values() for p in places.values()]
    for p in placed:
        if not p.unavailable_reason:
            some = f" on {p.n_topics} of its {p.n_set_topics} {p.unit}s"
            yield (
                f"A place is the rank of a run among the reference systems of {p.factors}"
                f"{some * (p.n_topics < p.n_set_topics)} and the run itself."
            )
        if p.n_topics < p.n_evaluated:
            yield (
                f"Places by {p.measure} compare means over only {p.n_topics} of the "
                f"{p.n_evaluated} {p.unit}s."
            )
    if len(results.runs) <= MAX_NEIGHBOR_RUNS and means:
        for run, places in results.placements.items():
            yield from (
                f"{run} for {p.measure}: {p.neighbours}." for p in places.values() if p.neighbours
            )
    yield from (
        f"No place for {p.measure}: {p.unavailable_reason}." for p in placed if p.unavailable_reason
    )
    if not placed:
        yield "There are no places, because no factors are known."


def benchmark_notes(results: Results, benchmark: Benchmark) -> Iterator[str]:
    """Yield the notes below a table of a benchmark."""
    read, n_ranked = benchmark.scores, len(benchmark.means)
    kind = f" ({benchmark.kind} results only)"
    if benchmark.kind == "all":
        kind = ", including tasks that they were trained on"
    yield (
        f"{benchmark.name}, retrieval and reranking: {n_ranked} of {read.n_models} models have "
        f"at least half of the {len(read.tasks)} tasks{kind}."
    )
    if read.missing:
        yield (
            f"The means leave out {pluralize(len(read.missing), 'task')} with fewer than 20 "
            f"models: {abbreviate(read.missing)}."
        )
    if partial := partial_tasks(benchmark.name):
        parts = [f"{task} ({n} of {total})" for task, (n, total) in partial.items()]
        yield f"Tasks with results on only some of their subsets: {abbreviate(parts)}."
    yield (
        "These models are ranked by their means. A mean is standardized (N), on a scale that does "
        "not depend on which models ran a task; ± marks the half-width of the 95% interval of the "
        "mean over tasks. The raw column has the mean main score, but only for models with all "
        "tasks. Borda is MTEB's rank among all models."
    )
    if len(results.runs) > 1:
        yield (
            "The ranks column shows all ranks that are possible according to paired tests. "
            f"{describe_firsts(results, results.measures[1])}"
        )
    if any(run in results.runs for run in benchmark.own):
        yield "> marks your own models."


# Topics that collections share, and links


def describe_overlap(overlaps: Overlaps, a: str, b: str) -> str:
    """Describe the topics or documents that two collections share, and the consequence."""
    n = overlaps.topics[a, b]
    if not n:
        return (
            f"{a} and {b} share documents but not topics, so effects of the documents count twice"
        )
    topics = pluralize(n, "topic")
    if overlaps.is_relabelled(a, b):
        return (
            f"{a} and {b} are one collection judged twice (the same {topics} under different "
            "labels), so they are not pooled"
        )
    return f"{a} and {b} share {topics}, which would count twice, so they are not pooled"


def overlap_notes(overlaps: Overlaps) -> list[str]:
    """Describe each pair of collections that share documents."""
    return [describe_overlap(overlaps, *pair) for pair in overlaps.topics]


def why_not_linked(overlaps: Overlaps) -> str:
    """Return why two collections need no link; empty if no two collections share topics."""
    for a, b in overlaps.shared([name for pair in overlaps.topics for name in pair]):
        if overlaps.is_relabelled(a, b):
            return (
                f"{a} and {b} need no link, because they have the same topics under different "
                "labels, and the factors of both come from the same systems; use ir_std agree"
            )
        return (
            f"{a} and {b} need no link, because they share "
            f"{pluralize(overlaps.topics[a, b], 'topic')}; to put both on one scale, use the "
            "factors of one set (ir_std RUN QRELS --factors SET)"
        )
    return ""


def describe_links(links: CollectionLinks) -> str:
    """Describe the reference collection, the anchors, and the shift of each collection."""
    shifts = ", ".join(
        f"{one.shift:+.2f}{'' if isnan(one.error) else f' (standard error {one.error:.2f})'} "
        f"on {collection}"
        for collection, one in links.links.items()
    )
    same = "" if len(links.anchors) == 1 else "; a name may stand for two different programs"
    return (
        f"{links.measure} is linked by {', '.join(links.anchors)} to {links.reference}: every z "
        f"is shifted by {shifts}{same}"
    )


def link_warnings(results: Results) -> Iterator[str]:
    """Yield reasons to doubt or omit links, and runs that differ widely from the anchors."""
    if n_common_systems(results):
        yield (
            "these collections are standardized with the same systems, so scores are comparable "
            "without a link; a link only adds an error"
        )
    for links in results.links.values():
        yield from _warnings_of(links, results)


def _warnings_of(links: CollectionLinks, results: Results) -> Iterator[str]:
    """Yield the warnings about the links of one measure."""
    for doubt, names in links.doubts.items():
        yield f"{links.measure} of {abbreviate(names)}, linked to {links.reference}: {doubt}"
    for collection in links.links:
        above = links.distances(results.on(collection))
        anchors = [above.pop(anchor) for anchor in links.anchors]
        far = [system for system, distance in above.items() if abs(distance) > RESEMBLING]
        if far:
            yield (
                f"{links.measure} of {abbreviate(far)} on {collection} is up to "
                f"{max(abs(above[system]) for system in far):.1f} standard deviations from "
                "the anchors; add anchors with similar scores"
            )
        if not above or len(anchors) < MIN_TESTED:
            continue
        is_better = min(anchors) > max(above.values())
        if is_better or max(anchors) < min(above.values()):
            side = "better" if is_better else "worse"
            yield (
                f"{links.measure} on {collection}: all anchors are {side} than the systems "
                "compared; use some better and some worse anchors"
            )


# Several collections: means


def means_notes(results: Results) -> Iterator[str]:
    """Yield the notes below a table of means over collections."""
    raw = ", ".join(str(m) for m in results.measures if not isinstance(m, Standardized))
    kinds = {each.is_of_datasets for each in results.collections.values()}
    if kinds == {True}:
        yield (
            f"Raw means over datasets ({raw}) depend most on the datasets with the widest spread; "
            "standardized means are relative to the models on each dataset and weight all datasets "
            "equally."
        )
        return
    if len(kinds) > 1:
        yield (
            "Some of these collections have factors per topic, and others have factors per "
            "dataset. So a mean over both kinds mixes scores that are standardized topic by topic "
            "with means that are standardized as a whole."
        )
    yield _comparability(results, raw)
    yield from _means_without(results)
    yield from (f"{describe_links(one)}." for one in results.links.values())
    yield (
        "± marks the half-width of the 95% interval of a mean, for variation over "
        f"{unit_of(results)}s (Student's t) and over "
        f"{describe_error_sources(results) or 'the reference systems'}."
    )


def describe_error_sources(results: Results) -> str:
    """Describe what intervals cover besides topics; empty if they cover nothing else."""
    if links := next(iter(results.links.values()), None):
        over = f"the reference systems of {links.reference} and, elsewhere, the anchors of the link"
        return over + one_anchor_note(results)
    sources = dict.fromkeys(
        over_systems(results.on(name), measure, {})[0].source
        for name, collection in results.collections.items()
        for measure in collection.plans
    )
    named = "; ".join(filter(None, sources))
    return f"the reference systems ({named})" if named else ""


def one_anchor_note(results: Results) -> str:
    """Return what a link with one anchor means for intervals; empty if there is no such link."""
    links = next(iter(results.links.values()), None)
    if links is None or len(links.anchors) > 1:
        return ""
    return f" (with one anchor, only intervals on {links.reference} cover more than topics)"


def _comparability(results: Results, raw: str) -> str:
    """Describe which means can be compared across collections."""
    named = f" ({raw})" * bool(raw)
    if results.overlaps.of_labels(tuple(results.collections)):
        return (
            f"These are the same topics under different judgments, so raw means{named} say as much "
            "about the assessors as about the runs. Standardized means can be compared if the "
            "reference systems are the same."
        )
    if results.links:
        others = (
            "Linked means are on the scale of the reference collection, to the extent that the "
            "anchors agree."
        )
    elif n := n_common_systems(results):
        others = (
            "Standardized means can be compared without a link, because scores on all these "
            f"collections are standardized with the same {n} systems."
        )
    else:
        others = (
            "Standardized means can be compared only if the reference systems are the same or "
            "linked (--anchor), because each mean is relative to the systems of its own track."
        )
    return (
        f"Raw means{named} of different collections cannot be compared: they say as much "
        f"about the topics as about the runs. {others}"
    )


def describe_missing(results: Results) -> list[str]:
    """Describe missing runs, such as ``a, b have no run on trec8-adhoc``."""
    by_lack: dict[tuple[str, ...], list[str]] = {}
    for run in results.runs:
        lacked = tuple(c for c, scored in results.evaluations.items() if run not in scored)
        by_lack.setdefault(lacked, []).append(run)
    return [
        f"{', '.join(names)} {'has' if len(names) == 1 else 'have'} no run on {', '.join(lacked)}"
        for lacked, names in by_lack.items()
        if lacked
    ]


def _means_without(results: Results) -> Iterator[str]:
    """Describe which runs lack a collection, and which means are missing."""
    lacking = describe_missing(results)
    shared = [n for n, runs in results.evaluations.items() if len(runs) == len(results.runs)]
    if lacking and len(shared) >= MIN_SUMMARIZED:
        over = ", ".join(shared)
        yield f"Means over collections include only the collections that all runs have: {over}."
    elif lacking or len(shared) == MIN_SUMMARIZED - 1:
        yield (
            f"There is no mean over collections, because such a mean needs {MIN_SUMMARIZED} "
            f"collections{' that all runs have' * bool(lacking)}."
        )
    yield from (f"{text}." for text in lacking)


# Several collections: differences from a baseline


def differences_notes(
    results: Results, compared: Mapping[str, Mapping[Measure, RunDifferences]]
) -> Iterator[str]:
    """Yield the notes below a table of differences from the baseline."""
    each = [d for by_measure in compared.values() for d in by_measure.values()]
    n_runs = Counter(d.where for m in compared.values() for d in next(iter(m.values())).differences)
    how, units = results.procedure, f"{unit_of(results)}s"
    correction = " or".join(
        dict.fromkeys(describe_correction(how.correction, n) for n in n_runs.values())
    )
    yield (
        f"A difference from {results.baseline} is a mean difference over the {units} that both "
        f"runs have. The 95% interval is for variation over {units} and, for standardized scores, "
        "over the reference systems that both runs share"
        f"{', and over the anchors of the link' * bool(results.links)}{one_anchor_note(results)}. "
        f"p is from a two-sided {get_test(how.test)[1]} over {units}{correction}"
        f"{', each collection and measure separately' * bool(correction)}. The test treats the "
        "factors as fixed, so the interval of a standardized difference can include 0 even if p "
        "is below 0.05. g is Hedges' g, the mean difference divided by the standard deviation of "
        f"the differences over {units}."
    )
    yield from equivalence_notes(results)
    yield from power_notes(chain.from_iterable(d.differences for d in each))
    if summarized := [d for d in each if d.has_summary()]:
        adjusted = describe_correction(how.correction, len({d.run for d in summarized}))
        yield (
            "The summary is a random-effects estimate, with Paule and Mandel's variance between "
            "collections. Hartung and Knapp's method gives the interval, which is at least as wide "
            f"as a normal interval{f'; the p-value is given{adjusted}' * bool(adjusted)}. The "
            "variation row has the number of collections, Cochran's Q, the p-value of Q, I2 (the "
            "share of the variance that lies between collections) and tau (the standard deviation "
            "between collections)."
        )
    for d in summarized:
        if excluded := d.excluded_collections():
            yield (
                f"The summary of {d.run} for {d.measure} leaves out {', '.join(excluded)}, where "
                "the differences do not vary."
            )
    yield from _without_summary(each)
    best = [f"{c.best} on {name}" for name, c in results.collections.items() if c.best]
    if best:
        yield (
            "On each collection, the baseline called best is the reference system with the highest "
            f"mean ({', '.join(best)}). This system was chosen by its scores on these {units}."
        )
    own = [name for name, runs in results.evaluations.items() if results.baseline in runs]
    for run in compared:
        yield from (
            f"{run} has no run on {name}." for name in own if run not in results.evaluations[name]
        )
    yield from (f"{describe_links(one)}." for one in results.links.values())
    most = max(len(next(iter(m.values())).differences) for m in compared.values())
    of_labels = results.overlaps.of_labels(tuple(results.collections))
    if MIN_SUMMARIZED <= most < MIN_COLLECTIONS and not of_labels:
        yield (
            f"{most} collections are too few to estimate how much a difference varies between "
            f"collections; this needs {MIN_COLLECTIONS}."
        )
    yield from (f"{text}." for text in overlap_notes(results.overlaps))
    if most > 1 and not of_labels:
        yield (
            "If a run was tuned on one of these collections, leave that collection out, because "
            f"its {units} are not new to the run."
        )


def why_no_summary(differences: RunDifferences) -> str:
    """Return why a run's differences have no summary; empty if they have one."""
    if differences.has_summary():
        return ""
    if sum(differences.is_known) < 2:
        return "there is only one collection"
    if pairs := differences.shared:
        return "; ".join(describe_overlap(differences.overlaps, *pair) for pair in pairs)
    if excluded := differences.excluded_collections():
        return f"differences do not vary on {', '.join(excluded)}"
    return f"a summary needs {MIN_SUMMARIZED} collections"


def _without_summary(each: Sequence[RunDifferences]) -> Iterator[str]:
    """Yield the runs without a summary, with one note per reason."""
    measures: dict[tuple[str, str], list[str]] = {}
    for d in each:
        if not d.has_summary() and not d.shared and sum(d.is_known) > 1:
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
    unit = pair.results.collection.unit
    yield f"A is {pair.a}, B is {pair.b}."
    if not pair.standardized:
        yield (
            f"{unit.capitalize()}s are sorted by the raw difference, because {pair.measure} has no "
            "factors."
        )
    else:
        first = f"the {len(shown)} {unit}s" if len(shown) > 1 else f"the {unit}"
        yield (
            f"The table shows {first} with the largest difference in {pair.standardized} (of "
            f"{pluralize(len(pair.topics), unit)}). The raw place of a {unit} is its rank by the "
            f"difference in {pair.measure}."
        )
        rest = [t for t in pair.topics[len(shown) :] if t.raw_place <= len(shown)]
        if rest:
            yield (
                f"{unit.capitalize()}s with a large raw difference that are not in the table (raw "
                f"place in parentheses): {', '.join(f'{t.topic} ({t.raw_place})' for t in rest)}."
            )
    tested = [d for d in pair.differences if not isnan(d.p)]
    if tested:
        test = get_test(pair.results.procedure.test)[1]
        parts = [f"{d.measure} {size_text(d.mean, '+')} ({p_text(d.p)})" for d in tested]
        yield f"Mean differences ({test}): {', '.join(parts)}."
    yield from power_notes(tested)
    for text in pair.disagreements:
        yield f"{text[0].upper()}{text[1:]}."


def disagreements(pair: RunDiff) -> Iterator[str]:
    """Yield contradictions between raw and standardized scores of two runs."""
    (raw_a, raw_b), (std_a, std_b) = pair.means
    if (raw_a - raw_b) * (std_a - std_b) < 0:
        yield (
            f"the mean differences have opposite signs: {pair.measure} {raw_a - raw_b:+.4f}, "
            f"{pair.standardized} {std_a - std_b:+.4f}"
        )
    equal = [
        t.topic
        for t in pair.topics
        if abs(t.raw[0] - t.raw[1]) > EXACT and abs(t.standardized[0] - t.standardized[1]) < EXACT
    ]
    if equal:
        unit = pair.results.collection.unit
        yield (
            f"only the raw scores differ on {pluralize(len(equal), unit)} "
            f"({', '.join(equal)}); the standardized scores are equal"
        )


# Numbers in sentences


SMALLEST = 5e-4
"""Smallest difference that is not rounded to 0 with three decimals."""


def size_text(difference: float, sign: str = "") -> str:
    """Format a difference with three decimals, or with one significant digit below 0.0005."""
    places = ".3f" if abs(difference) >= SMALLEST or not difference else ".1g"
    return f"{difference:{sign}{places}}"
