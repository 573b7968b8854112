"""Results as a table: a row for each run or, with values by topic, for each run and topic."""

from __future__ import annotations

from collections.abc import Iterator

from ir_measures.measures import Measure

from ir_std.analysis.paired import describe_test, p_columns
from ir_std.errors import abbreviate
from ir_std.evaluation.placement import Placement
from ir_std.measures import parse_measure, sign_of
from ir_std.reporting.evaluated_runs import EvaluatedRuns, group_measures
from ir_std.reporting.run_ranks import NO_RANK, RunRank, ranked_by
from ir_std.reporting.tables import BETTER, WORSE, Cell, Table, label_cell, number_cell
from ir_std.schemes import EXACT
from ir_std.scores.run_scores import SUMMARY

MOST_WITH_NEIGHBOURS = 3
"""With more runs than this a table does not name the systems that they rank between."""


def result_table(
    results: EvaluatedRuns,
    places: int = 4,
    *,
    sort: Measure | str | None = None,
    by_topic: bool = False,
    means: bool = True,
    place: bool = False,
) -> Table:
    """A row for each run; the best of each measure, and what differs from the baseline, marked.

    Parameters
    ----------
    results : EvaluatedRuns
    places : int
        Decimals; -1 for all.
    sort : Measure or str, optional
        Rank the runs by its means, in a column of their own, with these ranks' intervals behind it:
        see :attr:`EvaluatedRuns.ranks`.
    by_topic : bool
        A row for each topic, and below these the mean, if ``means``.
    means : bool
    place : bool
        Behind each measure where the run ranks among the standardizing systems.

    Raises
    ------
    UsageError
        If there is no such measure to sort by.
    """
    return _Layout(results, places, sort, by_topic, means, place).table()


class _Layout:
    """The cells of a table of results; the parameters are those of :func:`result_table`."""

    def __init__(
        self,
        results: EvaluatedRuns,
        places: int,
        sort: Measure | str | None,
        by_topic: bool,
        means: bool,
        place: bool,
    ) -> None:
        self.results, self.places = results, places
        self.by_topic, self.means, self.place = by_topic, means or not by_topic, place
        self.sort = None if sort is None else parse_measure(sort)
        self.ranks: dict[str, int | None] = (
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

    def table(self) -> Table:
        ranked, topic = self.sort is not None, ["topic"] * self.by_topic
        names = ["rank"] * ranked + ["run"] + ["ranks"] * ranked + topic
        columns = [
            name
            for m in self.results.measures
            for name in (str(m), *([f"{m} place"] if self.place else []))
        ]
        groups = tuple(
            len(group) * (1 + self.place) for group in group_measures(self.results.measures)
        )
        rows = [row for run in self.ranks for row in self._rows(run)]
        return Table((*names, *columns), tuple(rows), len(names), tuple(self._notes()), groups)

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
        for measure in self.results.measures:
            yield number_cell(float(self.results.values[run][measure][i]), self.places)
            if self.place:
                places = self.results.topic_placements.get(run, {}).get(measure)
                yield place_cell(places[i] if places else None)

    def _summary(self, run: str) -> Iterator[Cell]:
        for measure in self.results.measures:
            yield self._mean(run, measure)
            if self.place:
                yield place_cell(self.results.placements.get(run, {}).get(measure))

    def _mean(self, run: str, measure: Measure) -> Cell:
        results = self.results
        mean, tested = results.means[run][measure], results.tests.get(run, {}).get(measure)
        mark = ""
        if tested and tested.significant:
            mark = BETTER if sign_of(measure) * tested.difference > 0 else WORSE
        return number_cell(
            mean,
            self.places,
            mark=mark,
            best=len(results.runs) > 1 and sign_of(measure) * mean >= self.best[measure] - EXACT,
            extra=(p_columns(tested, results.test, results.correction) if tested else None),
        )

    def _notes(self) -> Iterator[str]:
        results = self.results
        if results.tests and self.means:
            test = describe_test(results.test, results.correction, len(results.tests))
            yield (
                f"{BETTER} {WORSE} significantly better, worse than {results.baseline}: {test}, "
                "each measure by itself."
            )
        yield from self._less_is_better()
        if broken := results.broken:
            yield f"Looks broken, see the warnings: {abbreviate(broken)}."
        if self.sort is not None:
            yield (
                f"Ranked by {self.sort}, the {self._best_mean} mean first; equal means share a "
                "rank and stay in the order given; ranks: those that paired comparisons with the "
                "other runs do not rule out."
            )
            yield from filter(None, [results.could_be_first(self.sort)])
        if self.place:
            yield from dict.fromkeys(self._notes_on_places())

    @property
    def _best_mean(self) -> str:
        sorted_by = next((m for m in self.results.measures if m == self.sort), None)
        return "lowest" if sorted_by is not None and sign_of(sorted_by) < 0 else "highest"

    def _less_is_better(self) -> Iterator[str]:
        lower = [m for m in self.results.measures if sign_of(m) < 0]
        if lower:
            yield (
                f"Less is better by {', '.join(map(str, lower))}; standardized, more is, as by all "
                "measures."
            )

    def _notes_on_places(self) -> Iterator[str]:
        placed = [p for places in self.results.placements.values() for p in places.values()]
        for p in placed:
            if not p.why_not:
                part = (
                    f", on {p.n_topics} of its {p.n_known} topics" if p.n_topics < p.n_known else ""
                )
                yield (
                    f"Place: among the standardizing systems of {p.factors}, and the run itself "
                    f"where it is none of them{part}."
                )
        if len(self.results.runs) <= MOST_WITH_NEIGHBOURS and self.means:
            for run, places in self.results.placements.items():
                for p in places.values():
                    if p.neighbours:
                        yield f"{run} by {p.measure}: {p.neighbours}."
        for p in placed:
            if p.why_not:
                yield f"No place by {p.measure}: {p.why_not}."
        if not placed:
            yield "No places: no factors are known."


def rank_cells(ranked: RunRank) -> tuple[Cell, Cell]:
    """The rank, and its interval; CSV holds the interval's ends, too."""
    if ranked.rank is None:
        return label_cell(NO_RANK), label_cell(NO_RANK)
    ends = {"best": ranked.best, "worst": ranked.worst}
    return label_cell(str(ranked.rank)), Cell(ranked.interval, ranked.interval, ends)


def place_cell(placement: Placement | None) -> Cell:
    """``13/129``; CSV holds the rank, of how many, and how many others tie."""
    if placement is None or placement.rank is None:
        return Cell("-", float("nan"))
    of = placement.n_systems + (not placement.among)
    return Cell(f"{placement.rank}/{of}", placement.rank, {"of": of, "tied": placement.tied})
