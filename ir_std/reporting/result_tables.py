"""Results as tables: of runs, of means and differences over collections."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from itertools import combinations
from math import isnan, nan, sqrt
from typing import Any

from ir_measures.measures import Measure

from ir_std._arrays import DataFrame
from ir_std.analysis.estimate import NO_ESTIMATE
from ir_std.analysis.paired import Procedure
from ir_std.errors import MissingLibraryError, look_up
from ir_std.evaluation.placement import Placement
from ir_std.measures import Standardized, named_measure, sign_of
from ir_std.reporting.benchmark import Benchmark
from ir_std.reporting.difference import Difference
from ir_std.reporting.evaluated_collection import group_measures
from ir_std.reporting.model import (
    Results,
    overlaps_of,
    place_topics,
    scores_by_topic,
)
from ir_std.reporting.run_ranks import NO_RANK, RunRank, ranked_by
from ir_std.reporting.sentences.tables import (
    benchmark_notes,
    differences_notes,
    means_notes,
    power_notes,
    runs_notes,
)
from ir_std.reporting.summaries import (
    RunDifferences,
    adjusted_p,
    label_of,
    run_differences,
)
from ir_std.reporting.tables import (
    BETTER,
    EQUIVALENT,
    WORSE,
    Cell,
    Table,
    estimate_cell,
    format_number,
    interval_cell,
    label_cell,
    number_cell,
    p_value_cell,
    signed_cell,
)
from ir_std.schemes import EXACT
from ir_std.scores.run_scores import SUMMARY
from ir_std.scores.tables import ALL_COLLECTIONS

MOST_PAIRS = 20
"""Number of pairs of means above which each run is compared only with itself."""
EMPTY = label_cell("")


# Runs on one collection


def runs_table(
    results: Results,
    places: int = 4,
    *,
    sort: Measure | str | None = None,
    by_topic: bool = False,
    means: bool = True,
    place: bool = False,
) -> Table:
    """Show a row for each run, the best and what differs from the baseline marked.

    Parameters and errors as for :meth:`ir_std.Results.table`.
    """
    if results.collection.benchmark and not by_topic:
        return benchmark_table(results, results.collection.benchmark, places)
    return _RunsTable(results, places, sort, by_topic, means, place).table()


class _RunsTable:
    """The cells of a table of runs; the parameters are those of :func:`runs_table`."""

    def __init__(
        self,
        results: Results,
        places: int,
        sort: Measure | str | None,
        by_topic: bool,
        means: bool,
        place: bool,
    ) -> None:
        self.results, self.places = results, places
        self.by_topic, self.means, self.place = by_topic, means or not by_topic, place
        self.sort = None if sort is None else named_measure(sort, results.measures)
        groups = group_measures(results.measures)
        groups.sort(key=lambda group: self.sort not in group)  # what one sorts by, one reads first
        self.groups = [sorted(group, key=lambda m: m != self.sort) for group in groups]
        self.measures = [measure for group in self.groups for measure in group]
        self.ranks: Mapping[str, int | None] = (
            dict.fromkeys(results.runs)
            if self.sort is None
            else ranked_by(results.means, self.sort)
        )
        self.best = {
            m: max(
                (sign_of(m) * means[m] for means in results.means.values() if means[m] == means[m]),
                default=float("nan"),
            )
            for m in results.measures
        }
        self.topic_places = place_topics(results) if place and by_topic else {}

    def table(self) -> Table:
        ranked, topic = self.sort is not None, ["topic"] * self.by_topic
        names = ["rank"] * ranked + ["run"] + ["ranks"] * ranked + topic
        columns = [
            name
            for m in self.measures
            for name in (str(m), *([f"{m} place"] if self.place else []))
        ]
        groups = tuple(len(group) * (1 + self.place) for group in self.groups)
        rows = [row for run in self.ranks for row in self._rows(run)]
        notes = runs_notes(self.results, self.sort, self.means, self.place)
        return Table((*names, *columns), tuple(rows), len(names), tuple(notes), groups)

    def _rows(self, run: str) -> Iterator[tuple[Cell, ...]]:
        names = [label_cell(run)]
        if self.sort is not None:
            rank, interval = rank_cells(self.results.ranks[run][self.sort])
            names = [rank, *names, interval]
        if self.by_topic:
            for i, topic in enumerate(self.results.topics):
                yield (*names, label_cell(topic), *self._topic(run, i))
        if self.means:
            yield (*names, *[label_cell(SUMMARY)] * self.by_topic, *self._summary(run))

    def _topic(self, run: str, i: int) -> Iterator[Cell]:
        for measure in self.measures:
            values = scores_by_topic(self.results, run, measure, self.results.collection.name)
            yield number_cell(float(values[i]), self.places)
            if self.place:
                places = self.topic_places.get(run, {}).get(measure, {})
                yield place_cell(places.get(self.results.topics[i]))

    def _summary(self, run: str) -> Iterator[Cell]:
        for measure in self.measures:
            yield self._mean(run, measure)
            if self.place:
                yield place_cell(self.results.placements.get(run, {}).get(measure))

    def _mean(self, run: str, measure: Measure) -> Cell:
        results = self.results
        mean, tested = results.means[run][measure], results.differences.get(run, {}).get(measure)
        return number_cell(
            mean,
            self.places,
            mark=difference_mark(tested) if tested else "",
            best=len(results.runs) > 1 and sign_of(measure) * mean >= self.best[measure] - EXACT,
            extra=p_columns(tested, results.procedure) if tested else None,
        )


def difference_mark(tested: Difference) -> str:
    """Return the mark of a run that was tested against the baseline."""
    if tested.significant:
        return BETTER if sign_of(tested.measure) * tested.mean > 0 else WORSE
    return EQUIVALENT if tested.equivalent else ""


def p_columns(tested: Difference, procedure: Procedure) -> dict[str, float]:
    """Return what CSV and JSON hold of a test, by the columns' names."""
    columns = {"p": tested.p}
    if procedure.correction != "none":
        columns[f"p_{procedure.correction}"] = tested.p_adjusted
    columns["detectable"] = tested.detectable
    if procedure.equivalent is not None:
        columns["p_equivalent"] = tested.equivalence_p
    return columns


def rank_cells(ranked: RunRank) -> tuple[Cell, Cell]:
    """Make cells of the rank and its interval; CSV holds the interval's ends, too."""
    if ranked.rank is None:
        return label_cell(NO_RANK), label_cell(NO_RANK)
    ends = {"best": ranked.best, "worst": ranked.worst}
    return label_cell(str(ranked.rank)), Cell(ranked.interval, ranked.interval, ends)


def place_cell(placement: Placement | None) -> Cell:
    """Make a cell like ``13/129``; CSV holds the number of ties, too."""
    if placement is None or placement.rank is None:
        return Cell("-", float("nan"))
    of = placement.n_ranked
    return Cell(f"{placement.rank}/{of}", placement.rank, {"of": of, "tied": placement.n_tied})


def benchmark_table(results: Results, benchmark: Benchmark, places: int = 4) -> Table:
    """Show models in the order of their linked means, the user's own marked with ``>``."""
    raw, linked = results.measures
    total = len(benchmark.scores.tasks)
    ranked = ranked_by(results.means, linked)
    rows = []
    for run in ranked:
        estimate, place = results.estimate(run, linked), results.placements[run][linked]
        n_tasks = benchmark.tasks[run]
        mean = results.means[run][raw] if n_tasks == total else nan
        half = format_number(estimate.topics, places)
        low, high = estimate.mean - estimate.topics, estimate.mean + estimate.topics
        interval = rank_cells(results.ranks[run][linked])[1]
        rows.append(
            (
                Cell(f"{place.rank}", place.rank or nan),
                label_cell(f"> {run}" if run in benchmark.own else run),
                *[interval] * (len(ranked) > 1),
                Cell(
                    f"{format_number(estimate.mean, places)} ±{half}",
                    estimate.mean,
                    {"low": low, "high": high},
                ),
                Cell(f"{n_tasks}", n_tasks),
                number_cell(mean, places),
                Cell(f"{benchmark.borda[run]}", benchmark.borda[run]),
            )
        )
    header = ("rank", "run", *["ranks"] * (len(ranked) > 1), "mean", "tasks", "raw", "Borda")
    notes = tuple(benchmark_notes(results, benchmark))
    return Table(header, tuple(rows), 2, notes, (len(header) - 2,))


# Means over collections


def collection_tables(results: Results, places: int = 4) -> list[Table]:
    """Return the tables of several collections: means, and known differences."""
    tables = [means_table(results, places)]
    if results.links:
        tables.append(pairs_table(linked_pairs(results), places))
    if relabelled := judgment_differences(results):
        tables.append(judgments_table(relabelled, places))
    if results.baseline is not None:
        tables.append(differences_table(results, places))
    return tables


def means_table(results: Results, places: int = 4) -> Table:
    """Show a row for each run and collection; standardized means have 95% intervals.

    A run on three collections or more has one more row, the mean of its standardized means.
    """
    measures = results.measures
    datasets = all(each.is_of_datasets for each in results.collections.values())
    rows = []
    for run in results.runs:
        rows += [
            ((run, name), [results.estimate(run, m, name) for m in measures])
            for name, scored in results.evaluations.items()
            if run in scored
        ]
        pooled = [
            results.estimate(run, m)
            if len(results.collections) > 1 and (datasets or isinstance(m, Standardized))
            else NO_ESTIMATE
            for m in measures
        ]
        if any(estimate.n for estimate in pooled):
            rows.append(((run, ALL_COLLECTIONS), pooled))
    cells = [
        (
            *map(label_cell, (*labels, count_range(e.n for e in estimates))),
            *(
                estimate_cell(e, isinstance(m, Standardized), places)
                for m, e in zip(measures, estimates, strict=True)
            ),
        )
        for labels, estimates in rows
    ]
    return Table(
        ("system", "collection", "topics", *(label_of(results, m) for m in measures)),
        tuple(cells),
        3,
        tuple(means_notes(results)),
        tuple(map(len, group_measures(measures))),
    )


def count_range(counts: Iterable[int]) -> str:
    """Format the smallest and the largest count that is not 0."""
    known = sorted({n for n in counts if n})
    return f"{known[0]} to {known[-1]}" if len(known) > 1 else "".join(map(str, known))


# Differences of means on two collections


def linked_pairs(results: Results) -> list[Difference]:
    """Compare linked means across collections.

    For all runs except anchors; if there are many, each run only with itself.
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


def pairs_table(pairs: Sequence[Difference], places: int = 4) -> Table:
    """Show differences of linked means across collections, with 95% intervals and p."""
    return Table(
        ("mean of", "on", "less that of", "on", "measure", "difference", "p"),
        tuple(
            (
                *map(label_cell, (d.a, d.where, d.b, d.b_where, str(d.measure))),
                interval_cell(d.mean, *d.interval, places),
                p_value_cell(d.p),
            )
            for d in pairs
        ),
        5,
        (
            "Differences of linked means, with 95% intervals: over the topics of both "
            "collections, and over the anchors' disagreement. p is two-sided, and for each "
            "difference separately.",
            *power_notes(pairs),
        ),
    )


def means_with_pairs(results: Results, places: int = 4) -> Table:
    """Show the means, and below them the linked differences, in one table for CSV.

    Two more columns name the mean that is subtracted.
    """
    means = means_table(results, places)
    found: dict[tuple[str, ...], dict[Measure, Difference]] = {}
    for d in linked_pairs(results):
        found.setdefault((d.a, d.where, d.b, d.b_where), {})[d.measure] = d
    if not found:
        return means
    rows = [(*row[:2], EMPTY, EMPTY, *row[2:]) for row in means.rows]
    for labels, by_measure in found.items():
        each = [by_measure.get(m) for m in results.measures]
        cells = [
            interval_cell(d.mean, *d.interval, places, {"p": d.p}) if d else number_cell(nan)
            for d in each
        ]
        rows.append((*map(label_cell, labels), EMPTY, *cells))
    header = (*means.header[:2], "less system", "less collection", *means.header[2:])
    return replace(means, header=header, rows=tuple(rows), labels=means.labels + 2)


def judgment_differences(results: Results) -> list[Difference]:
    """Compare each run's means under two judgments of the same topics."""
    return [
        found
        for a, b in sorted(
            overlaps_of(results).relabelled, key=list(overlaps_of(results).topics).index
        )
        for run in results.runs
        if run in results.evaluations[a] and run in results.evaluations[b]
        for measure in results.measures
        for found in [results.difference((run, b), (run, a), measure)]
        if not isnan(found.mean)
    ]


def judgments_table(differences: Sequence[Difference], places: int = 4) -> Table:
    """Show a row for each run, pair of judgments and measure."""
    return Table(
        ("system", "judgments", "less those of", "measure", "difference"),
        tuple(
            (
                *map(label_cell, (d.a, d.where, d.b_where, str(d.measure))),
                interval_cell(
                    d.mean,
                    *d.interval,
                    places,
                    {"topics": d.estimate.topics, "systems": d.estimate.systems},
                ),
            )
            for d in differences
        ),
        4,
        (
            "The same topics under different judgments: differences paired by topic, with 95% "
            "intervals over topics and, for standardized means, over the reference systems, which "
            "are drawn once for both judgments if they are the same.",
        ),
    )


# Differences from a baseline


def differences_table(results: Results, places: int = 4) -> Table:
    """Show each run's difference from the baseline on each collection, and a summary.

    For each measure the difference with its 95% interval, p, and Hedges' g.
    """
    compared = run_differences(results)
    notes = tuple(differences_notes(results, compared))
    return compared_table(compared, notes, results.procedure, places)


def compared_table(
    compared: Mapping[str, Mapping[Measure, RunDifferences]],
    notes: tuple[str, ...] = (),
    procedure: Procedure | None = None,
    places: int = 4,
) -> Table:
    """Show runs' differences from a baseline, by run and measure, as a table."""
    procedure = procedure or Procedure()
    header = ["system", "collection", "topics"]
    for measure, one in next(iter(compared.values())).items():
        header += [one.label, f"{measure} p", f"{measure} g"]
    summaries = _summary_cells(compared, procedure.correction, places)
    rows = []
    for run, by_measure in compared.items():
        each = list(by_measure.values())
        rows += [
            (
                *map(label_cell, (run, on[0].where, count_range(d.n for d in on))),
                *(cell for d in on for cell in _difference_cells(d, procedure, places)),
            )
            for on in zip(*(d.differences for d in each), strict=True)
        ]
        if any(d.has_summary() for d in each):
            cells = [cell for m in by_measure for cell in summaries[run, m]]
            rows.append((label_cell(run), label_cell("summary"), EMPTY, *cells))
            cells = [cell for d in each for cell in _variation_cells(d)]
            rows.append((label_cell(run), label_cell("variation"), EMPTY, *cells))
    return Table(tuple(header), tuple(rows), 3, notes, (3,) * (len(header) // 3 - 1))


def _difference_cells(d: Difference, procedure: Procedure, places: int) -> tuple[Cell, ...]:
    """Make cells of the difference with its interval, p, and g."""
    halves = {"topics": d.estimate.topics, "systems": d.estimate.systems}
    size, error = d.size
    p_value = p_value_cell(d.p, d.p_adjusted, procedure.correction)
    of_test = p_columns(d, procedure)
    more = {name: p for name, p in of_test.items() if name in ("detectable", "p_equivalent")}
    mark = EQUIVALENT if difference_mark(d) == EQUIVALENT else ""
    return (
        interval_cell(d.mean, *d.interval, places, halves),
        replace(p_value, extra={**p_value.extra, **more}, mark=mark),
        signed_cell(size, 2, {"error": error}),
    )


def _summary_cells(
    compared: Mapping[str, Mapping[Measure, RunDifferences]], correction: str, places: int
) -> dict[tuple[str, Measure], tuple[Cell, ...]]:
    """Make cells of the summary with its interval, p, and that of the sizes."""
    cells: dict[tuple[str, Measure], tuple[Cell, ...]] = {}
    for measure in next(iter(compared.values())):
        summaries = [by_measure[measure].summary() for by_measure in compared.values()]
        adjusted = adjusted_p(summaries, correction)
        for run, s, p in zip(compared, summaries, adjusted, strict=True):
            g = compared[run][measure].summary(size=True)
            cells[run, measure] = (
                interval_cell(s.effect, s.low, s.high, places) if s else label_cell("-"),
                p_value_cell(s.p if s else float("nan"), p, correction),
                signed_cell(g.effect if g else float("nan"), 2, {"error": g.error} if g else {}),
            )
    return cells


def _variation_cells(differences: RunDifferences) -> tuple[Cell, ...]:
    """Make cells of how differences vary between collections: Q, I2, tau; p of Q."""
    s = differences.summary()
    if s is None:
        return label_cell("-"), label_cell("-"), EMPTY
    text = f"{s.n}: Q {s.q:.1f}, I2 {100 * s.i2:.0f}%, tau {sqrt(s.tau2):.3f}"
    values = {"q": s.q, "i2": s.i2, "tau2": s.tau2}
    return Cell(text, text, values), p_value_cell(s.q_p), EMPTY


# Data frames


LIBRARIES = {"pandas": "pandas", "polars": "polars"}
"""What frames are made with."""


def data_frame(results: Results, wide: bool, means: bool, library: str | None) -> DataFrame:
    """Convert scores to a DataFrame; as :meth:`ir_std.Results.to_dataframe`."""
    fields: dict[str, list[Any]] = {"collection": [], "run": []} | (
        {} if means else {"query_id": []}
    )
    names = map(str, results.measures) if wide else ("measure", "base", "scheme", "value")
    fields |= {name: [] for name in names}
    for name, scored in results.evaluations.items():
        topics = results.collections[name].topics
        for run in scored:
            for measures in [results.measures] if wide else [[m] for m in results.measures]:
                columns = [
                    [results.on(name).means[run].get(m, nan)]
                    if means
                    else scores_by_topic(results, run, m, name).tolist()
                    for m in measures
                ]
                n = len(columns[0])
                fields["collection"] += [name] * n
                fields["run"] += [run] * n
                if not means:
                    fields["query_id"] += topics
                for m, column in zip(measures, columns, strict=True):
                    fields[str(m) if wide else "value"] += column
                    if not wide:
                        fields["measure"] += [str(m)] * n
                        is_raw = not isinstance(m, Standardized)
                        fields["base"] += [str(m if is_raw else m.base)] * n
                        fields["scheme"] += ["raw" if is_raw else m["scheme"]] * n
    return _frame_library(library).DataFrame(fields)


def _frame_library(name: str | None) -> Any:
    for each in ("pandas", "polars") if name is None else (look_up(name, LIBRARIES, "library"),):
        with suppress(ImportError):
            return import_module(each)
    raise MissingLibraryError.of("a DataFrame", name or "pandas")
