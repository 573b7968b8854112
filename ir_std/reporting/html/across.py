"""Make the record of several collections, which the page's script reads."""

from dataclasses import dataclass
from functools import cached_property
from math import isnan
from typing import Any

import numpy as np

from ir_std.analysis.means import Estimate
from ir_std.measures import sign_of
from ir_std.reporting import difference
from ir_std.reporting.html.standing import View, views_of
from ir_std.reporting.html.words import say
from ir_std.reporting.links import n_common_systems
from ir_std.reporting.model import Results, shared_collections, unit_of
from ir_std.reporting.plots import ticks_of


def across_of(results: Results) -> dict[str, Any]:
    """Make the record for the page's section on all collections together.

    The class ``Across`` of ``templates/across.js`` reads the record, which has the numbers that the
    page draws and the sentences that the page shows.
    """
    views: dict[str, View] = {}
    for view in (view for name in results.collections for view in views_of(results.on(name))):
        if view.name not in views or view.is_standardized:
            views[view.name] = view
    compared = difference.run_differences(results) if results.baseline is not None else {}
    subject = next(iter(compared), None) or _best(results, next(iter(views.values())))
    return {
        "measures": [
            _measure(AcrossFacts(results, view, subject, found))
            for view in views.values()
            for found in [{run: of_run[view.scored] for run, of_run in compared.items()}]
        ],
        "subject": subject,
        "baseline": results.baseline,
        "unit": unit_of(results),
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
        return [name for name, each in self._own.items() if not isnan(each.mean)]

    @cached_property
    def _own(self) -> dict[str, Estimate]:
        return self.means(self.subject)

    def means(self, run: str) -> dict[str, Estimate]:
        """Estimate a run's means, by collection."""
        return {
            name: self.results.estimate(run, self.view.scored, name)
            for name, runs in self.results.evaluations.items()
            if run in runs
        }

    @property
    def leads(self) -> list[str]:
        """The collections on which the subject is the best run."""
        return [n for n in self.names if _leader(self.results, self.view, n) == self.subject]

    @property
    def sides(self) -> list[int]:
        """For each collection, 1 if the subject is above average, -1 if below, else 0."""
        average = self.view.average or 0.0
        ends = [self._own[name].interval for name in self.names]
        return [(low > average) - (high < average) for low, high in ends]

    def pooled(self, run: str) -> Estimate | None:
        """Return the mean over collections if this mean is standardized and precise enough."""
        if not self.view.is_standardized:
            return None
        mean = self.results.estimate(run, self.view.scored)
        n = len(shared_collections(self.results, run, self.view.scored))
        shown = mean.n and difference.is_headline(n, self.view.scored, *mean.interval)
        return mean if shown else None

    @property
    def n_shared(self) -> int:
        """Number of collections over which the subject's mean is taken."""
        return len(shared_collections(self.results, self.subject, self.view.scored))

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


def _measure(facts: AcrossFacts) -> dict[str, Any]:
    results, view = facts.results, facts.view
    limits = difference.limits_of(view.scored, of_differences=bool(facts.compared))
    is_linked = view.scored in results.links
    name = difference.label_of(results, view.scored) if is_linked else view.scored_name
    if facts.compared:
        name = f"difference in {name} from {results.baseline}"
        rows = [row for found in facts.compared.values() for row in _differences(found)]
    else:
        runs = sorted(results.runs, key=lambda run: run != facts.subject)
        rows = [row for run in runs for row in _means(facts, run)]
    ends = [v for row in rows for v in (row["mean"], row["low"], row["high"]) if v is not None]
    return {
        "name": view.name,
        "scored": name,
        "headline": say("across_headline", facts),  # HTML, as the deck is
        "deck": say("across_deck", facts),
        "ticks": ticks_of(np.clip(ends, *(limits or (-np.inf, np.inf)))),
        "average": 0.0 if facts.compared else view.average,
        "limits": limits and list(limits),
        "rows": rows,
    }


def _means(facts: AcrossFacts, run: str) -> list[dict[str, Any]]:
    """List a run's means on its collections and, if shown, the mean over the collections."""
    pooled = facts.pooled(run)
    each = facts.means(run).items()
    rows = [_row(run, name, one.mean, one.interval, one.n) for name, one in each]
    return rows + ([_row(run, None, pooled.mean, pooled.interval)] if pooled else [])


def _differences(found: difference.RunDifferences) -> list[dict[str, Any]]:
    """List a run's differences from the baseline and, if shown, the summary of the differences."""
    summary = found.headline()
    rows = [
        _row(found.run, d.where, d.estimate.mean, d.interval, d.n, weight)
        for d, weight in zip(found.differences, found.weights(), strict=True)
    ]
    if summary:
        rows.append(_row(found.run, None, summary.effect, (summary.low, summary.high)))
    return rows


def _row(
    run: str,
    name: str | None,
    mean: float,
    interval: tuple[float, float],
    n: int | None = None,
    weight: float | None = None,
) -> dict[str, Any]:
    low, high = (None if isnan(end) else float(end) for end in interval)
    return {
        "system": run,
        "name": name,  # the collection's name; None for the summary of a run over collections
        "n": n,  # number of topics
        "weight": weight,  # weight in the summary
        "mean": None if isnan(mean) else float(mean),
        "low": low,
        "high": high,
    }
