"""Differences between a run and the baseline on several collections, and their summary.

The summary uses a random-effects model, as in medicine (Soboroff, CIKM 2018; Sertkan, Althammer
and Hofstätter, ACL 2023).  Such a model treats the collections as a sample of all collections.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import compress, repeat
from math import nan

from ir_measures.measures import Measure

from ir_std.analysis.effects import Summary, random_effects
from ir_std.analysis.paired import get_correction
from ir_std.errors import UsageError
from ir_std.measures import Standardized, measure_record
from ir_std.reporting.difference import Difference, differences_on
from ir_std.reporting.links import Overlaps
from ir_std.reporting.model import (
    MIN_SUMMARIZED,
    Results,
    overlaps_of,
)

MIN_COLLECTIONS = 5
"""Smallest number of collections for a summary outside tables; tables add a note."""
SCALE = 1.0
"""Width of the range of bounded scores; a wider interval is not informative."""
NORMAL = 1.959963984540054
"""Normal quantile of 95% intervals; effect sizes are normal to first order."""


@dataclass(frozen=True, eq=False)
class RunDifferences:
    """A run's differences from the baseline for one measure, over collections.

    Attributes
    ----------
    run, baseline : str
    measure : Measure
    differences : tuple of Difference
        Difference on each collection.
    overlaps : Overlaps
        Collections that share topics, for which there is no summary.
    origin : str
        Link of the scores, see :attr:`CollectionLinks.origin`; empty if they are not linked.
    """

    run: str
    baseline: str
    measure: Measure
    differences: tuple[Difference, ...]
    overlaps: Overlaps = field(default_factory=lambda: Overlaps({}))
    origin: str = ""

    @property
    def label(self) -> str:
        """Name of the measure in tables, see :func:`label_of`."""
        return f"{self.measure} {self.origin}".rstrip()

    def points(self, size: bool = False) -> list[tuple[float, float, float]]:
        """Difference, standard error, and half of the 95% interval, for each collection."""
        if size:
            return [(g, error, NORMAL * error) for g, error in (d.size for d in self.differences)]
        return [(d.mean, d.estimate.error, d.estimate.half) for d in self.differences]

    @property
    def known(self) -> tuple[bool, ...]:
        """True for each collection with a known difference; others may lack factors."""
        return tuple(d.n > 0 for d in self.differences)

    def summarized(self, size: bool = False) -> tuple[bool, ...]:
        """Mark the collections in the summary, on which the differences vary."""
        return tuple(
            known and error > 0
            for known, (_, error, _) in zip(self.known, self.points(size), strict=True)
        )

    def left_out(self) -> tuple[str, ...]:
        """Return the collections with a difference that are not in the summary."""
        used = self.summarized()
        return tuple(
            d.where for d, k, u in zip(self.differences, self.known, used, strict=True) if k > u
        )

    @property
    def shared(self) -> tuple[tuple[str, str], ...]:
        """Pairs of collections with shared topics, which a summary would count twice."""
        return self.overlaps.shared([d.where for d in self.differences])

    def has_summary(self, size: bool = False) -> bool:
        """Check whether there are enough differences, and no topic would count twice."""
        return not self.shared and sum(self.summarized(size)) >= MIN_SUMMARIZED

    def summary(self, size: bool = False) -> Summary | None:
        """Summarize the differences, or effect sizes; None if they have no summary.

        The summary uses Paule and Mandel's variance between collections and Hartung and Knapp's
        interval, widened to the normal interval if it is narrower.
        """
        if not self.has_summary(size):
            return None
        points = list(compress(self.points(size), self.summarized(size)))
        return random_effects([mean for mean, _, _ in points], [error**2 for _, error, _ in points])

    def headline(self, size: bool = False) -> Summary | None:
        """Return the summary if it is precise enough for sentences and plots."""
        s = self.summary(size)
        interval = (
            (0.0, 0.0) if s is None or size else (s.low, s.high)
        )  # Effect sizes have no limits.
        return s if s and is_headline(s.n, self.measure, *interval) else None

    def weights(self, size: bool = False) -> list[float]:
        """Return the weight of each collection in the summary for sentences and plots.

        The weight is 0 for collections that are left out.  Without such a summary, all other
        collections have weight 1.
        """
        summary = self.headline(size)
        used = self.summarized(size) if summary else self.known
        weights = iter(summary.weights if summary else repeat(1.0))
        return [next(weights) if is_used else 0.0 for is_used in used]


def run_differences(results: Results) -> dict[str, dict[Measure, RunDifferences]]:
    """Compare every other run with the baseline, on all collections that both have.

    Raises
    ------
    UsageError
        If no run has a collection in common with the baseline.
    """
    baseline = results.baseline
    assert baseline is not None
    own = [name for name, scored in results.evaluations.items() if baseline in scored]
    common = {
        run: [name for name in own if run in results.evaluations[name]]
        for run in results.runs
        if run != baseline
    }
    if not any(common.values()):
        raise UsageError(f"no run has a collection in common with {baseline}, the baseline")
    found = {
        (name, measure): differences_on(results, name, measure)
        for name in own
        for measure in results.measures
    }
    return {
        run: {
            measure: RunDifferences(
                run,
                baseline,
                measure,
                tuple(found[name, measure][run] for name in names),
                overlaps_of(results),
                results.links[measure].origin if measure in results.links else "",
            )
            for measure in results.measures
        }
        for run, names in common.items()
        if names
    }


def adjusted_p(summaries: Sequence[Summary | None], correction: str) -> list[float]:
    """Adjust the p-values of several runs' summaries for the number of runs."""
    correct, _ = get_correction(correction)
    return [float(p) for p in correct([s.p if s else nan for s in summaries])]


def label_of(results: Results, measure: Measure) -> str:
    """Return the name of a measure in tables, with the link of linked scores."""
    return results.links[measure].label if measure in results.links else str(measure)


def is_headline(n_collections: int, measure: Measure, low: float, high: float) -> bool:
    """Check whether a summary is precise enough for headlines and plots."""
    return n_collections >= MIN_COLLECTIONS and not is_wide(measure, low, high)


def is_wide(measure: Measure, low: float, high: float) -> bool:
    """Check whether an interval is wider than the scale."""
    return is_bounded(measure) and high - low > SCALE


def limits_of(measure: Measure, *, of_differences: bool = False) -> tuple[float, float] | None:
    """Return the range of possible scores or differences, to which plots cut intervals."""
    return (-SCALE if of_differences else 0.0, SCALE) if is_bounded(measure) else None


def is_bounded(measure: Measure) -> bool:
    """Check whether the scores of a measure are limited to the range from 0 to 1."""
    if isinstance(measure, Standardized):
        return bool(measure["scheme"] != "z")
    record = measure_record(measure)
    return (record.low, record.high) == (0, 1)
