"""Make the record of several collections, which the page's script reads."""

from dataclasses import dataclass
from functools import cached_property
from math import isnan
from typing import TypedDict

from ir_std.analysis.means import Estimate
from ir_std.measures import sign_of
from ir_std.reporting import difference
from ir_std.reporting.html.standing import View, views_of
from ir_std.reporting.html.words import say
from ir_std.reporting.links import n_common_systems
from ir_std.reporting.model import Results, shared_collections
from ir_std.reporting.plots import ticks_of


class Row(TypedDict):
    """A run on one collection, or the summary of a run over collections."""

    system: str
    name: str | None  # the collection's name; None in a summary
    n: int | None  # number of topics
    weight: float | None  # weight in the summary
    mean: float | None
    low: float | None
    high: float | None


class AcrossMeasure(TypedDict):
    """One measure on all collections."""

    name: str
    scored: str
    headline: str  # HTML; the deck is also HTML
    deck: str
    ticks: list[float]
    average: float | None
    limits: list[float] | None
    rows: list[Row]


class AcrossRecord(TypedDict):
    """Several collections, as read by the class ``Across`` of ``templates/across.js``."""

    measures: list[AcrossMeasure]
    subject: str
    baseline: str | None
    unit: str  # the word for a topic of all collections: topic, or dataset


def across_of(results: Results) -> AcrossRecord:
    """Make the record for the page's section on all collections together.

    The record has the numbers that the page draws, and the sentences that the page shows.
    """
    views: dict[str, View] = {}
    for view in (view for name in results.collections for view in views_of(results.on(name))):
        if view.name not in views or view.is_standardized:
            views[view.name] = view
    compared = difference.run_differences(results) if results.baseline is not None else {}
    first, units = next(iter(views.values())), {one.unit for one in results.collections.values()}
    subject = next(iter(compared), None) or _best(results, first)
    return {
        "measures": [
            _measure(AcrossFacts(results, view, subject, found))
            for view in views.values()
            for found in [{run: of_run[view.scored] for run, of_run in compared.items()}]
        ],
        "subject": subject,
        "baseline": results.baseline,
        "unit": units.pop() if len(units) == 1 else "topic",
    }


def _best(results: Results, view: View) -> str:
    """Return the run that is best on the most collections; of several such runs, the first."""
    firsts = [_leader(results, view, name) for name in results.collections]
    return max(results.runs, key=firsts.count)


def _leader(results: Results, view: View, name: str) -> str | None:
    """Return the best run on a collection; None if there is only one run, or a tie."""
    means = {
        run: sign_of(view.scored) * mean
        for run in results.evaluations[name]
        if not isnan(mean := results.on(name).means[run].get(view.scored, float("nan")))
    }
    first = [run for run, mean in means.items() if mean == max(means.values())]
    return first[0] if len(first) == 1 < len(means) else None


@dataclass(frozen=True)
class AcrossFacts:
    """Facts for one measure on all collections.

    Attributes
    ----------
    results : Results
    view : View
    subject : str
        The run that the page is about.
    compared : mapping of str to RunDifferences
        Differences from the baseline, by run; empty without a baseline.
    """

    results: Results
    view: View
    subject: str
    compared: dict[str, difference.RunDifferences]

    @property
    def found(self) -> difference.RunDifferences | None:
        """The subject's differences from the baseline, if there is a baseline."""
        return self.compared.get(self.subject)

    # Means

    @property
    def names(self) -> list[str]:
        """The collections on which the subject has a mean."""
        return [name for name, each in self._estimates.items() if not isnan(each.mean)]

    @cached_property
    def _estimates(self) -> dict[str, Estimate]:
        """The subject's means by collection."""
        return {
            name: self.results.estimate(self.subject, self.view.scored, name)
            for name in self.results.collections
        }

    @property
    def leads(self) -> list[str]:
        """The collections on which the subject is the best run."""
        return [n for n in self.names if _leader(self.results, self.view, n) == self.subject]

    @property
    def sides(self) -> list[int]:
        """For each collection, 1 if the subject is above average, -1 if below, else 0."""
        average = self.view.average or 0.0
        ends = [self._estimates[name].interval for name in self.names]
        return [(low > average) - (high < average) for low, high in ends]

    def pooled(self, run: str) -> Estimate | None:
        """Return the mean over collections if this mean is standardized and precise enough."""
        if not self.view.is_standardized:
            return None
        mean = self.results.estimate(run, self.view.scored)
        shown = difference.is_headline(self._count_shared(run), self.view.scored, *mean.interval)
        return mean if shown else None

    @property
    def n_shared(self) -> int:
        """Number of collections over which the subject's mean is taken."""
        return self._count_shared(self.subject)

    def _count_shared(self, run: str) -> int:
        """Count collections on which all runs have a mean; 0 if collections share topics."""
        if self.results.overlaps.shared(list(self.results.collections)):
            return 0
        return len(shared_collections(self.results, run, self.view.scored))

    @property
    def scale(self) -> str:
        """Relation between the collections: ``labels``, ``same systems``, or an empty text.

        ``labels`` stands for the same topics with different labels, and ``same systems`` stands for
        the same reference systems.
        """
        if self.results.overlaps.of_labels(tuple(self.results.collections)):
            return "labels"
        return "same systems" if n_common_systems(self.results) else ""

    # Differences

    @property
    def clear(self) -> list[float]:
        """The subject's significant differences from the baseline; above 0 means better."""
        each = self.found.differences if self.found else ()
        return [sign_of(self.view.scored) * d.mean for d in each if d.significant]

    @property
    def unknown(self) -> list[str]:
        """The collections on which the subject's difference is unknown."""
        return [d.where for d in self.found.differences if isnan(d.mean)] if self.found else []


def _measure(facts: AcrossFacts) -> AcrossMeasure:
    scored, view = facts.view.scored, facts.view
    compared = bool(facts.compared)
    limits = difference.limits_of(scored, of_differences=compared)
    name = (
        difference.label_of(facts.results, scored)
        if scored in facts.results.links
        else view.scored_name
    )
    runs = [facts.subject, *(run for run in facts.results.runs if run != facts.subject)]
    if compared:
        name = f"difference in {name} from {facts.results.baseline}"
        rows = [row for r in runs if r in facts.compared for row in _differences(facts.compared[r])]
    else:
        rows = [row for run in runs for row in _means(facts, run)]
    low, high = limits or (float("-inf"), float("inf"))
    ends = [v for row in rows for v in (row["mean"], row["low"], row["high"]) if v is not None]
    return {
        "name": view.name,
        "scored": name,
        "headline": say("across_headline", facts),
        "deck": say("across_deck", facts),
        "ticks": ticks_of(min(max(value, low), high) for value in ends),
        "average": 0.0 if compared else view.average,
        "limits": list(limits) if limits else None,
        "rows": rows,
    }


def _means(facts: AcrossFacts, run: str) -> list[Row]:
    """List a run's means on its collections and, if shown, the mean over the collections."""
    results, pooled = facts.results, facts.pooled(run)
    rows = [
        _row(run, name, results.estimate(run, facts.view.scored, name))
        for name, runs in results.evaluations.items()
        if run in runs
    ]
    return rows + ([_row(run, None, pooled)] if pooled else [])


def _differences(found: difference.RunDifferences) -> list[Row]:
    """List a run's differences from the baseline and, if shown, the summary of the differences."""
    summary = found.headline()
    rows = [
        _row(found.run, d.where, d.estimate, weight)
        for d, weight in zip(found.differences, found.weights(), strict=True)
    ]
    if summary:
        effect = Estimate(summary.effect, 0, 0, 0)
        rows.append(_row(found.run, None, effect) | {"low": summary.low, "high": summary.high})
    return rows


def _row(run: str, name: str | None, estimate: Estimate, weight: float | None = None) -> Row:
    low, high = estimate.interval
    return {
        "system": run,
        "name": name,
        "n": estimate.n if name else None,
        "weight": weight,
        "mean": _known(estimate.mean),
        "low": _known(low),
        "high": _known(high),
    }


def _known(value: float) -> float | None:
    return None if isnan(value) else float(value)
