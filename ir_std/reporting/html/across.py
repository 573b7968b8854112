"""Several collections on one page: a record of what is drawn, with the sentences above it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isnan
from typing import TypedDict

from ir_measures.measures import Measure

from ir_std.analysis.estimate import Estimate
from ir_std.errors import pluralize
from ir_std.measures import Standardized, sign_of
from ir_std.reporting.agreement import judgment_agreements
from ir_std.reporting.figure_data import ticks_of
from ir_std.reporting.html.standing import View, views_of
from ir_std.reporting.links import n_common_systems
from ir_std.reporting.model import Results, overlaps_of, shared_collections
from ir_std.reporting.result_tables import collection_tables
from ir_std.reporting.sentences.page import Words, average_of, number, on_so_many
from ir_std.reporting.sentences.tables import describe_missing, why_no_summary
from ir_std.reporting.summaries import (
    RunDifferences,
    is_headline,
    label_of,
    limits_of,
    run_differences,
)
from ir_std.reporting.tables import Table
from ir_std.scores.tables import ALL_COLLECTIONS


class Row(TypedDict):
    """A run on a collection, or in summary."""

    system: str
    name: str
    kind: str  # collection, or summary
    section: str | None  # the collection's place on the page
    n: int | None  # topics
    weight: float | None  # in the summary
    mean: float | None
    low: float | None
    high: float | None


class AcrossMeasure(TypedDict):
    """One measure on all collections."""

    name: str
    scored: str
    differences: bool  # whether rows are differences from the baseline
    headline: Words
    deck: Words
    ticks: list[float]
    average: float | None
    limits: list[float] | None
    rows: list[Row]


class AcrossRecord(TypedDict):
    """Several collections, as the class ``Across`` of ``templates/across.js`` reads them."""

    measures: list[AcrossMeasure]
    subject: str
    baseline: str | None


def across_of(results: Results) -> AcrossRecord:
    """Return what the page shows of several collections together."""
    each = [results.on(name) for name in results.collections]
    views: dict[str, View] = {}
    for view in (view for one in each for view in views_of(one)):
        if view.name not in views or isinstance(view.scored, Standardized):
            views[view.name] = view
    compared = run_differences(results) if results.baseline is not None else {}
    first = next(iter(views.values()))
    subject = next(iter(compared), None) or _best(results, first)
    facts = [_Facts(results, view, subject, compared) for view in views.values()]
    return {
        "measures": [one.record() for one in facts],
        "subject": subject,
        "baseline": results.baseline,
    }


def tables_of(results: Results) -> list[Table]:
    """Return the tables of means, of differences and of the agreement of judgments."""
    return [
        *collection_tables(results),
        *(
            one.table(name)
            for one in judgment_agreements(results)
            for name in ("labels", "confusion", *["order"] * (len(one.systems) > 1))
        ),
    ]


def _best(results: Results, view: View) -> str:
    """Return the run that is best on most collections, the first of several."""
    firsts = [leader for name in results.collections if (leader := _leader(results, view, name))]
    return max(results.runs, key=firsts.count)


def _leader(results: Results, view: View, name: str) -> str | None:
    """Return the best of several runs on a collection; None for one run, or a tie."""
    on = results.on(name)
    means = {r: sign_of(view.scored) * on.means[r].get(view.scored, float("nan")) for r in on.runs}
    known = {run: mean for run, mean in means.items() if not isnan(mean)}
    first = [run for run, mean in known.items() if mean == max(known.values())]
    return first[0] if len(first) == 1 < len(known) else None


@dataclass(frozen=True)
class _Facts:
    """One measure on all collections."""

    results: Results
    view: View
    subject: str
    compared: dict[str, dict[Measure, RunDifferences]]

    def record(self) -> AcrossMeasure:
        scored, rows = self.view.scored, self.rows
        is_standardized = isinstance(scored, Standardized)
        limits = limits_of(scored, of_differences=bool(self.compared))
        name = self.view.scored_name
        if scored in self.results.links:
            name = label_of(self.results, scored)
        ends = [v for row in rows for v in (row["mean"], row["low"], row["high"]) if v is not None]
        if limits:
            ends = [min(max(value, limits[0]), limits[1]) for value in ends]
        return {
            "name": self.view.name,
            "scored": f"difference in {name} from {self.results.baseline}"
            if self.compared
            else name,
            "differences": bool(self.compared),
            "headline": self.headline(),
            "deck": self.deck(),
            "ticks": ticks_of(ends),
            "average": 0.0 if self.compared else average_of(scored) if is_standardized else None,
            "limits": list(limits) if limits else None,
            "rows": rows,
        }

    @cached_property
    def _differences(self) -> RunDifferences:
        return self.compared[self.subject][self.view.scored]

    @cached_property
    def rows(self) -> list[Row]:
        """Runs in their order, the one that the page is about first."""
        runs = [self.subject, *(run for run in self.results.runs if run != self.subject)]
        if self.compared:
            return [row for r in runs if r in self.compared for row in self._differences_of(r)]
        return [row for run in runs for row in self._means_of(run)]

    def _means_of(self, run: str) -> list[Row]:
        results, scored = self.results, self.view.scored
        rows = [
            self._row(run, name, results.estimate(run, scored, name))
            for name, runs in results.evaluations.items()
            if run in runs
        ]
        pooled = self.pooled(run)
        return rows + ([self._row(run, ALL_COLLECTIONS, pooled, "summary")] if pooled else [])

    def _differences_of(self, run: str) -> list[Row]:
        found = self.compared[run][self.view.scored]
        summary = found.headline()
        weights = iter(summary.weights if summary else ())
        rows = [
            self._row(run, d.where, d.estimate, weight=next(weights, None) if used else None)
            for d, used in zip(found.differences, found.summarized(), strict=True)
        ]
        if summary:
            row = self._row(run, "summary", Estimate(summary.effect, 0, 0, 0), "summary")
            rows.append(row | {"low": summary.low, "high": summary.high, "n": None})
        return rows

    def _row(
        self,
        run: str,
        name: str,
        estimate: Estimate,
        kind: str = "collection",
        weight: float | None = None,
    ) -> Row:
        names = list(self.results.collections)
        low, high = estimate.interval
        return {
            "system": run,
            "name": name,
            "kind": kind,
            "section": f"collection-{names.index(name)}" if name in names else None,
            "n": None if kind == "summary" else estimate.n,
            "weight": weight,
            "mean": _known(estimate.mean),
            "low": _known(low),
            "high": _known(high),
        }

    def pooled(self, run: str) -> Estimate | None:
        """Return the mean over collections if there are enough of them, on one scale."""
        scored = self.view.scored
        if not isinstance(scored, Standardized):
            return None
        mean, n = self.results.estimate(run, scored), self.n_shared(run)
        return mean if n and is_headline(n, scored, *mean.interval) else None

    def n_shared(self, run: str) -> int:
        """Count the collections on which all runs have a mean; 0 if these share topics."""
        if overlaps_of(self.results).shared(list(self.results.collections)):
            return 0
        return len(shared_collections(self.results, run, self.view.scored))

    # Sentences.

    def headline(self) -> Words:
        return self._headline_of_differences() if self.compared else self._headline_of_means()

    def _headline_of_means(self) -> Words:
        results, scored = self.results, self.view.scored
        own = [
            name
            for name in results.collections
            if not isnan(results.estimate(self.subject, scored, name).mean)
        ]
        leads = [n for n in own if _leader(results, self.view, n) == self.subject]
        best = ""
        if len(leads) == len(own) > 1:
            best = "best on both" if len(own) == 2 else "best on all of them"
        elif leads:
            best = f"best on {leads[0] if len(leads) == 1 else f'{len(leads)} of them'}"
        n = pluralize(len(own), "collection")
        average = average_of(scored) if isinstance(scored, Standardized) else None
        if average is None:
            return [("run", self.subject), f" was run on {n}{f', and is {best}' if best else ''}."]
        ends = [results.estimate(self.subject, scored, name).interval for name in own]
        above, below = sum(e[0] > average for e in ends), sum(e[1] < average for e in ends)
        word = "above" if above >= below else "below"
        which = on_so_many(max(above, below), len(own), "collection")
        where = f"is {word} average {which if len(own) > 1 else f'on {own[0]}'}"
        if not above and not below:
            where = f"is about average on {n}"
        return [("run", self.subject), f" {where}{f', and {best}' if best else ''}."]

    def _headline_of_differences(self) -> Words:
        found = self._differences
        sign = sign_of(self.view.scored)
        known = [d for d in found.differences if not isnan(d.mean)]
        clear = [sign * d.mean for d in known if d.significant]
        better, worse = sum(d > 0 for d in clear), sum(d < 0 for d in clear)
        n = pluralize(len(known), "collection")
        run, baseline = ("run", self.subject), ("base", found.baseline)
        if not known:
            return [run, " cannot be compared with ", baseline, f" by {self.view.name}."]
        if not clear:
            return [f"{n.capitalize()} do not separate ", run, " from ", baseline, "."]
        first, word, second, other = better, "better", worse, "worse"
        if worse > better:
            first, word, second, other = worse, "worse", better, "better"
        also = f", and clearly {other} on {second}" if second else ""
        where = on_so_many(first, len(known), "collection")
        return [run, f" is clearly {word} than ", baseline, f" {where}{also}."]

    def deck(self) -> Words:
        texts = self._about_differences() if self.compared else self._about_means()
        return [
            " ".join(filter(None, [*texts, *(f"{t}." for t in describe_missing(self.results))]))
        ]

    def _about_differences(self) -> list[str]:
        found, scored = self._differences, self.view.scored
        unknown = [d.where for d in found.differences if isnan(d.mean)]
        missing = f"There is no {self.view.scored_name} on {', '.join(unknown)}."
        texts = [missing] if unknown else []
        summary = found.headline()
        if summary:
            low, high = number(summary.low, "+"), number(summary.high, "+")
            return [
                f"In summary the difference in {self.view.scored_name} is "
                f"{number(summary.effect, '+')} (95% interval {low} to {high}).",
                *texts,
            ]
        if found.summary():
            n = len(found.differences)
            return [f"{n} collections are few, so only the table has their summary.", *texts]
        if reason := why_no_summary(found):
            return [f"There is no summary over the collections: {reason}.", *texts]
        return [f"The summary in {scored} is too wide to say more.", *texts]

    def _about_means(self) -> list[str]:
        results, scored = self.results, self.view.scored
        pooled, n = self.pooled(self.subject), self.n_shared(self.subject)
        texts = []
        if pooled:
            low, high = (number(end) for end in pooled.interval)
            which = f"{n} collections" + " that all runs have" * (n < len(results.collections))
            texts.append(
                f"Its mean {self.view.scored_name} over the {which} is {number(pooled.mean)} "
                f"(95% interval {low} to {high})."
            )
        return [*texts, self._comparability(scored)]

    def _comparability(self, scored: Measure) -> str:
        results = self.results
        names: Sequence[str] = tuple(results.collections)
        if overlaps_of(results).of_labels(tuple(names)):
            return (
                f"These are {len(names)} judgments of the same topics: raw means say as much about "
                "the assessors as about the runs."
            )
        if scored in results.links:
            return (
                f"Scores are {label_of(results, scored).partition(' ')[2]}: they are on one scale."
            )
        if n_common_systems(results):
            return "The same systems standardize all collections: scores are on one scale."
        if isinstance(scored, Standardized):
            return (
                "Not on one scale: each score is relative to the systems of its own track. A run "
                "on all of them can link them (--anchor)."
            )
        return "Raw means of different collections cannot be compared."


def _known(value: float) -> float | None:
    return None if isnan(value) else float(value)
