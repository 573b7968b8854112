"""Show results as tables of runs, means, and differences over collections."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from itertools import chain, combinations
from math import isnan, nan, sqrt
from typing import Any

from ir_std._arrays import DataFrame
from ir_std.analysis.means import NO_ESTIMATE, Estimate
from ir_std.analysis.paired import Procedure, get_correction
from ir_std.errors import MissingLibraryError, look_up
from ir_std.measures import Measure, Standardized, named_measure, sign_of
from ir_std.reporting import sentences, tables
from ir_std.reporting.benchmark import Benchmark, place_cell
from ir_std.reporting.difference import Difference, RunDifferences, label_of, run_differences
from ir_std.reporting.evaluated_collection import group_measures
from ir_std.reporting.model import Results, place_topics, topic_scores, unit_of
from ir_std.reporting.run_ranks import NO_RANK, RunRank, ranks_by_mean, runs_by_mean
from ir_std.scores.run_scores import ALL_COLLECTIONS, SUMMARY

MOST_PAIRS = 20
"""Largest number of pairs of means to compare.

If there are more pairs, only means of the same run on different collections are compared.
"""


# Runs on one collection


def runs_table(
    results: Results,
    places: int = 4,
    *,
    sort: Measure | str | None = None,
    by_topic: bool = False,
    means: bool = True,
    place: bool = False,
) -> tables.Table:
    """Show a row for each run, with marks for the best means and for differences.

    Parameters and errors are the same as for :meth:`ir_std.Results.table`.
    """
    if results.collection.benchmark and not by_topic:
        return benchmark_table(results, results.collection.benchmark, places)
    sorted_by = None if sort is None else named_measure(sort, results.measures)
    groups = group_measures(results.measures)
    groups.sort(key=lambda group: sorted_by not in group)  # Show the sorting measure first.
    measures = [m for group in groups for m in sorted(group, key=lambda m: m != sorted_by)]
    ranks = {m: ranks_by_mean(results, m) for m in measures}
    topic_places = place_topics(results) if place and by_topic else {}
    means = means or not by_topic

    def scores(run: str, m: Measure) -> Iterator[tables.Value]:
        if by_topic:
            yield from topic_scores(results, run, m, results.collection.name).tolist()
        if means:
            is_best = len(results.runs) > 1 and ranks[m][run] == 1
            yield _mean_cell(results, run, m, is_best, places)

    def run_places(run: str, m: Measure) -> Iterator[tables.Value]:
        if by_topic:
            placed = topic_places.get(run, {}).get(m, {})
            yield from (place_cell(placed.get(topic)) for topic in results.topics)
        if means:
            yield place_cell(results.placements.get(run, {}).get(m))

    rows: list[list[tables.Value]] = []
    for run in results.runs if sorted_by is None else runs_by_mean(results, sorted_by):
        labels: list[tables.Value] = [run]
        if sorted_by is not None:
            rank, interval = rank_cells(results.ranks[run][sorted_by])
            labels = [rank, run, interval]
        units = [[*results.topics, *[SUMMARY] * means]] * by_topic
        of_measures = [c(run, m) for m in measures for c in [scores, *[run_places] * place]]
        rows += [[*labels, *row] for row in zip(*units, *of_measures, strict=True)]
    names = ["run"] if sorted_by is None else ["rank", "run", "ranks"]
    names += [results.collection.unit] * by_topic
    columns = [name for m in measures for name in (str(m), *[f"{m} place"] * place)]
    notes = sentences.runs_notes(results, sorted_by, means, place)
    widths = [len(group) * (1 + place) for group in groups]
    return tables.make_table([*names, *columns], rows, len(names), notes, widths, places)


def _mean_cell(
    results: Results, run: str, measure: Measure, is_best: bool, places: int
) -> tables.Cell:
    """Make the cell of a mean, with the result of the test against the baseline (if any)."""
    mean, tested = results.means[run][measure], results.differences.get(run, {}).get(measure)
    if tested is None:
        return tables.number_cell(mean, places, best=is_best)
    columns, mark = p_columns(tested, results.procedure), difference_mark(tested)
    return tables.number_cell(mean, places, best=is_best, mark=mark, extra=columns)


def difference_mark(tested: Difference) -> str:
    """Return the mark for better, worse or equivalent; empty if the test shows none of these."""
    if tested.significant:
        return tables.BETTER if sign_of(tested.measure) * tested.mean > 0 else tables.WORSE
    return tables.EQUIVALENT if tested.equivalent else ""


def p_columns(tested: Difference, procedure: Procedure) -> dict[str, float]:
    """Return a test's results, by name of the CSV column."""
    columns = {"p": tested.p}
    if procedure.correction != "none":
        columns[f"p_{procedure.correction}"] = tested.p_adjusted
    return columns | power_columns(tested, procedure)


def power_columns(tested: Difference, procedure: Procedure) -> dict[str, float]:
    """Return what a test says about small differences, by name of the CSV column."""
    equivalent = {"p_equivalent": tested.equivalence_p}
    return {"detectable": tested.detectable} | (equivalent if procedure.equivalent else {})


def rank_cells(ranked: RunRank) -> tuple[tables.Cell, tables.Cell]:
    """Make cells of the rank and its interval; CSV also holds the interval's ends."""
    if ranked.rank is None:
        return tables.label_cell(NO_RANK), tables.label_cell(NO_RANK)
    ends = {"best": ranked.best, "worst": ranked.worst}
    return tables.label_cell(str(ranked.rank)), tables.Cell(ranked.interval, ranked.interval, ends)


def benchmark_table(results: Results, benchmark: Benchmark, places: int = 4) -> tables.Table:
    """Show models sorted by linked mean, and mark the user's own models with ``>``."""
    raw, linked = results.measures
    ranked = runs_by_mean(results, linked)
    several = len(ranked) > 1
    rows = []
    for run in ranked:
        over_tasks = results.estimate(run, linked)._replace(systems_error=0.0)
        rows.append(
            (
                results.placements[run][linked].rank,
                f"> {run}" if run in benchmark.own else run,
                *[rank_cells(results.ranks[run][linked])[1]] * several,
                tables.estimate_cell(over_tasks, places),
                benchmark.tasks[run],
                results.means[run][raw] if benchmark.has_all_tasks(run) else None,
                benchmark.borda[run],
            )
        )
    header = ("rank", "run", *["ranks"] * several, "mean", "tasks", "raw", "Borda")
    notes = sentences.benchmark_notes(results, benchmark)
    return tables.make_table(header, rows, 2, notes, [len(header) - 2], places)


# Means over collections


def collection_tables(results: Results, places: int = 4) -> list[tables.Table]:
    """Return the tables for several collections: the means, and the differences that are known."""
    shown = [means_table(results, places)]
    if results.links:
        shown.append(pairs_table(linked_pairs(results), places))
    if relabelled := judgment_differences(results):
        shown.append(judgments_table(relabelled, places))
    if results.baseline is not None:
        shown.append(differences_table(results, places))
    return shown


def means_table(results: Results, places: int = 4) -> tables.Table:
    """Show a row for each run and collection; standardized means have 95% intervals.

    A run on three or more collections has one more row, with the average of its standardized means.
    """
    measures = results.measures
    datasets = all(each.is_of_datasets for each in results.collections.values())
    averaged = [datasets or isinstance(m, Standardized) for m in measures]
    rows: list[list[tables.Value]] = []
    for run in results.runs:
        names = [name for name, scored in results.evaluations.items() if run in scored]
        for name in [*names, *[None] * (len(results.collections) > 1)]:
            estimates = [
                results.estimate(run, m, name) if name or is_averaged else NO_ESTIMATE
                for m, is_averaged in zip(measures, averaged, strict=True)
            ]
            cells = [
                tables.estimate_cell(e, places, systems=True, extra=halves_of(e) | {"n": e.n})
                if isinstance(m, Standardized)
                else tables.number_cell(e.mean, places)
                for m, e in zip(measures, estimates, strict=True)
            ]
            if name or any(estimate.n for estimate in estimates):
                n = count_range(estimate.n for estimate in estimates)
                rows.append([run, name or ALL_COLLECTIONS, n, *cells])
    unit = unit_of(results)
    header = ("system", "collection", f"{unit}s", *(label_of(results, m) for m in measures))
    return tables.make_table(
        header, rows, 3, sentences.means_notes(results), map(len, group_measures(measures))
    )


def count_range(counts: Iterable[int]) -> str:
    """Format the range of the counts, leaving out zeros."""
    distinct = sorted({n for n in counts if n})
    return f"{distinct[0]} to {distinct[-1]}" if len(distinct) > 1 else "".join(map(str, distinct))


# Differences of means on two collections


def linked_pairs(results: Results) -> list[Difference]:
    """Compare linked means across collections.

    Anchors are left out.  If there are more than :data:`MOST_PAIRS` pairs, only means of the same
    run on different collections are compared.
    """
    found = []
    for measure, links in results.links.items():
        means = [
            (run, name)
            for run in results.runs
            for name, scored in results.evaluations.items()
            if run in scored and run not in links.anchors
        ]
        pairs = [(a, b) for a, b in combinations(means, 2) if a[1] != b[1]]
        if len(pairs) > MOST_PAIRS:
            pairs = [(a, b) for a, b in pairs if a[0] == b[0]]
        found += [results.difference(a, b, measure) for a, b in pairs]
    return found


def pairs_table(pairs: Sequence[Difference], places: int = 4) -> tables.Table:
    """Show differences of linked means across collections, with 95% intervals and p."""
    header = ("mean of", "on", "minus that of", "on", "measure", "difference", "p")
    rows = []
    for d in pairs:
        cells = tables.interval_cell(d.mean, d.interval, places), tables.p_value_cell(d.p)
        rows.append((d.a, d.where, d.b, d.b_where, str(d.measure), *cells))
    note = (
        "The differences are between linked means. The 95% intervals are for variation over the "
        "topics of both collections and for the disagreement of the anchors. p is two-sided and "
        "not corrected for the number of differences."
    )
    if all(isnan(d.interval[0]) for d in pairs):
        note = (
            "The differences are between linked means. They have neither an interval nor p, "
            "because the error of a link with one anchor is unknown."
        )
    return tables.make_table(header, rows, 5, [note, *sentences.power_notes(pairs)])


def means_with_pairs(results: Results, places: int = 4) -> tables.Table:
    """Show the means, and below them the linked differences, in one table for CSV.

    Two more columns name the mean that a difference subtracts: its system and its collection.
    """
    means = means_table(results, places)
    found: dict[tuple[str, ...], dict[Measure, Difference]] = {}
    for d in linked_pairs(results):
        found.setdefault((d.a, d.where, d.b, d.b_where), {})[d.measure] = d
    if not found:
        return means
    rows: list[Iterable[tables.Value]] = [(*row[:2], "", "", *row[2:]) for row in means.rows]
    for names, by_measure in found.items():
        cells = {
            m: tables.interval_cell(d.mean, d.interval, places, extra={"p": d.p})
            for m, d in by_measure.items()
        }
        rows.append((*names, "", *map(cells.get, results.measures)))
    header = (*means.header[:2], "minus system", "minus collection", *means.header[2:])
    return tables.make_table(header, rows, means.labels + 2, means.notes, means.groups)


def judgment_differences(results: Results) -> list[Difference]:
    """Compare each run's means under two judgments of the same topics."""
    overlaps = results.overlaps
    differences = (
        results.difference((run, b), (run, a), measure)
        for a, b in sorted(overlaps.relabelled, key=list(overlaps.topics).index)
        for run in results.runs
        if run in results.evaluations[a] and run in results.evaluations[b]
        for measure in results.measures
    )
    return [d for d in differences if not isnan(d.mean)]


def judgments_table(differences: Sequence[Difference], places: int = 4) -> tables.Table:
    """Show a row for each run, pair of judgments and measure."""
    rows = []
    for d in differences:
        cell = tables.interval_cell(d.mean, d.interval, places, extra=halves_of(d.estimate))
        rows.append((d.a, d.where, d.b_where, str(d.measure), cell))
    note = (
        "The judgments differ, but the topics are the same. Differences are mean differences, "
        "paired by topic, with 95% intervals over topics and, for standardized means, also over "
        "the reference systems. If the same reference systems standardize both means, the "
        "intervals take this into account."
    )
    header = ("system", "judgments", "minus those of", "measure", "difference")
    return tables.make_table(header, rows, 4, [note])


def halves_of(estimate: Estimate) -> dict[str, float]:
    """Return the half-widths of an estimate's intervals, by name of the CSV column."""
    return {"topics": estimate.topics, "systems": estimate.systems}


# Differences from a baseline


def differences_table(results: Results, places: int = 4) -> tables.Table:
    """Show each run's difference from the baseline on each collection, and a summary.

    Each measure has columns for the difference with its 95% interval, p, and Hedges' g.
    """
    compared = run_differences(results)
    notes = tuple(sentences.differences_notes(results, compared))
    return compared_table(compared, notes, results.procedure, places, unit_of(results))


def compared_table(
    compared: Mapping[str, Mapping[Measure, RunDifferences]],
    notes: tuple[str, ...] = (),
    procedure: Procedure | None = None,
    places: int = 4,
    unit: str = "topic",
) -> tables.Table:
    """Show runs' differences from a baseline, by run and measure, as a table."""
    procedure = procedure or Procedure()
    correct, _ = get_correction(procedure.correction)
    header = ["system", "collection", f"{unit}s"]
    adjusted: dict[Measure, dict[str, float]] = {}
    for measure, one in next(iter(compared.values())).items():
        header += [f"{measure} {one.origin}".rstrip(), f"{measure} p", f"{measure} g"]
        summaries = [by_measure[measure].summary() for by_measure in compared.values()]
        p_values = correct([s.p if s else nan for s in summaries]).tolist()
        adjusted[measure] = dict(zip(compared, p_values, strict=True))
    rows: list[Iterable[tables.Value]] = []
    for run, by_measure in compared.items():
        each = list(by_measure.values())
        for on in zip(*(d.differences for d in each), strict=True):
            cells = (cell for d in on for cell in _difference_cells(d, procedure, places))
            rows.append((run, on[0].where, count_range(d.n for d in on), *cells))
        if any(d.has_summary() for d in each):
            summary = (_summary_cells(d, adjusted[d.measure][run], procedure, places) for d in each)
            rows += [
                (run, "summary", "", *chain.from_iterable(summary)),
                (run, "variation", "", *chain.from_iterable(map(_variation_cells, each))),
            ]
    return tables.make_table(header, rows, 3, notes, [3] * (len(header) // 3 - 1))


def _difference_cells(d: Difference, procedure: Procedure, places: int) -> tuple[tables.Cell, ...]:
    """Make cells of the difference with its interval, p, and g."""
    size, error = d.size
    p_value = tables.p_value_cell(d.p, d.p_adjusted, procedure.correction)
    extra = {**p_value.extra, **power_columns(d, procedure)}
    mark = tables.EQUIVALENT if difference_mark(d) == tables.EQUIVALENT else ""
    return (
        tables.interval_cell(d.mean, d.interval, places, extra=halves_of(d.estimate)),
        replace(p_value, extra=extra, mark=mark),
        tables.number_cell(size, 2, "+", extra={"error": error}),
    )


def _summary_cells(
    differences: RunDifferences, p: float, procedure: Procedure, places: int
) -> tuple[tables.Value, ...]:
    """Make cells of the mean difference, its (adjusted) p-value, and the mean effect size."""
    s, g = differences.summary(), differences.summary(size=True)
    return (
        tables.interval_cell(s.effect, (s.low, s.high), places) if s else None,
        tables.p_value_cell(s.p, p, procedure.correction) if s else None,
        tables.number_cell(g.effect, 2, "+", extra={"error": g.error}) if g else None,
    )


def _variation_cells(differences: RunDifferences) -> tuple[tables.Value, ...]:
    """Make cells of the variation between collections (Q, I2, tau) and of the p-value of Q."""
    s = differences.summary()
    if s is None:
        return None, None, ""
    text = f"{s.n}: Q {s.q:.1f}, I2 {100 * s.i2:.0f}%, tau {sqrt(s.tau2):.3f}"
    return (
        tables.Cell(text, text, {"q": s.q, "i2": s.i2, "tau2": s.tau2}),
        tables.p_value_cell(s.q_p),
        "",
    )


# Data frames


LIBRARIES = {"pandas": "pandas", "polars": "polars"}
"""Libraries that create a DataFrame."""


def data_frame(results: Results, wide: bool, means: bool, library: str | None) -> DataFrame:
    """Convert scores to a DataFrame, like :meth:`ir_std.Results.to_dataframe`."""
    columns: dict[str, list[Any]] = {}
    for name, scored in results.evaluations.items():
        topics = results.collections[name].topics
        n = 1 if means else len(topics)
        for run in scored:
            for measures in [results.measures] if wide else [[m] for m in results.measures]:
                block: dict[str, Sequence[Any]] = {"collection": [name] * n, "run": [run] * n}
                if not means:
                    block["query_id"] = topics
                if not wide:
                    block |= {key: [text] * n for key, text in _description(measures[0]).items()}
                for m in measures:
                    block[str(m) if wide else "value"] = (
                        [results.on(name).means[run].get(m, nan)]
                        if means
                        else topic_scores(results, run, m, name).tolist()
                    )
                for key, values in block.items():
                    columns.setdefault(key, []).extend(values)
    return _frame_library(library).DataFrame(columns)


def _description(measure: Measure) -> dict[str, str]:
    """Return the columns of a long table that describe a measure."""
    base, scheme = (
        (measure.base, measure["scheme"]) if isinstance(measure, Standardized) else (measure, "raw")
    )
    return {"measure": str(measure), "base": str(base), "scheme": scheme}


def _frame_library(name: str | None) -> Any:
    for each in LIBRARIES if name is None else [look_up(name, LIBRARIES, "library")]:
        with suppress(ImportError):
            return import_module(each)
    raise MissingLibraryError.of("a DataFrame", name or "pandas")
