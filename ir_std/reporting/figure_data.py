"""The numbers that the plots and the report draw.

After Figures 1 and 2 of Webber, Moffat and Zobel (SIGIR 2008): topics in the order of the
standardizing systems' mean, for each the spread of these systems and the run's own score.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, isnan, log10

import numpy as np
import numpy.typing as npt
from ir_measures.measures import Measure
from ir_measures.measures.base import MeanAgg

from ir_std.analysis.estimate import Estimate
from ir_std.evaluation.peers import Peers, peers_of
from ir_std.measures import Standardized, sign_of
from ir_std.reporting.evaluated_runs import EvaluatedRuns

_TICKS = 5

SCORES_UP_TO = 100_000
"""With more standardized scores than this intervals are over topics only: for those over the
standardizing systems each score is standardized about 1,000 times, which takes 30 microseconds."""
MANY_RUNS = 30
"""With more runs than this a picture shows the shape of their means, and names some."""
MANY_TOPICS = 250
"""With more topics than this a picture shows the shape of their scores, not each score."""


@dataclass(frozen=True)
class Panel:
    """One measure on all topics.

    Attributes
    ----------
    measure : Measure
    order : ndarray of int, shape (n_topics,)
        Indices of the topics from left to right: hardest first.
    peers : Peers or None
        The standardizing systems, where known; in the results' order of topics.
    low, high : float
        What the axis spans.
    """

    measure: Measure
    order: npt.NDArray[np.int64]
    peers: Peers | None
    low: float
    high: float

    @property
    def ticks(self) -> list[float]:
        """Round values on the axis."""
        step = _round_step((self.high - self.low) / _TICKS)
        first = ceil(self.low / step - 1e-9)
        return [i * step for i in range(first, floor(self.high / step + 1e-9) + 1)]


def panels_of(results: EvaluatedRuns) -> dict[Measure, Panel]:
    """A panel for each measure, a raw one with topics in the order of its companions' panels."""
    orders = {measure: topic_order(results, measure) for measure in results.measures}
    for measure in results.plans:
        if isinstance(measure, Standardized) and measure.base in orders:
            orders[measure.base] = orders[measure]
    return {measure: panel(results, measure, order) for measure, order in orders.items()}


def topic_order(results: EvaluatedRuns, measure: Measure) -> npt.NDArray[np.int64]:
    """Topics by the standardizing systems' raw mean, lowest first; without factors by the runs'.

    Topics without factors come last.
    """
    base = measure.base if isinstance(measure, Standardized) else measure
    peers = results.peers(base)
    if peers is None and isinstance(measure, Standardized):
        plan = results.plans[measure]
        peers = peers_of(plan, results.topics)
    if peers is not None:
        return np.argsort(peers.mean, kind="stable")
    columns = [values[measure] for values in results.values.values()]
    return np.argsort(np.mean(columns, axis=0), kind="stable")


def panel(results: EvaluatedRuns, measure: Measure, order: npt.NDArray[np.int64]) -> Panel:
    """One measure on all topics, with an axis that holds every run."""
    peers = results.peers(measure)
    columns = [values[measure] for values in results.values.values()]
    if peers is not None:
        columns += [peers.least, peers.most]
        if isinstance(measure, Standardized):
            columns += [peers.low, peers.high]
    known = np.concatenate(columns)
    known = known[~np.isnan(known)]
    low, high = float(known.min(initial=0.0)), float(known.max(initial=0.0))
    if low >= 0 and high <= 1:
        return Panel(measure, order, peers, 0.0, 1.0)
    step = _round_step((high - low) / _TICKS)
    return Panel(measure, order, peers, floor(low / step) * step, ceil(high / step) * step)


def _round_step(about: float) -> float:
    """1, 2 or 5 times a power of ten, not below ``about``."""
    power = 10.0 ** floor(log10(about))
    return next(float(m * power) for m in (1, 2, 5, 10) if m * power >= about * (1 - 1e-9))


def over_systems(results: EvaluatedRuns) -> bool:
    """Whether intervals are over the standardizing systems, too."""
    return len(results.runs) * len(results.topics) * len(results.plans) <= SCORES_UP_TO


def mean_estimate(results: EvaluatedRuns, run: str, measure: Measure) -> Estimate:
    """A run's mean with its errors over topics and, unless there are many scores, over systems."""
    if over_systems(results):
        return results.uncertainty[run][measure]
    over_topics = Estimate.of(results.values[run][measure], float("nan"))
    if isinstance(measure.aggregator(), MeanAgg):
        return over_topics
    return Estimate(results.means[run][measure], over_topics.n, float("nan"), float("nan"))


def systems_means(results: EvaluatedRuns, runs: Sequence[str], measure: Measure) -> Sequence[float]:
    """The standardizing systems' means, lowest first; empty where they are not known."""
    placements = (results.placements.get(run, {}).get(measure) for run in runs)
    return next((p.means for p in placements if p and p.means), ())


def runs_by_mean(results: EvaluatedRuns, measure: Measure) -> list[str]:
    """Runs from the best mean on; those without one last."""

    def height(run: str) -> float:
        mean = sign_of(measure) * results.means[run][measure]
        return float("-inf") if isnan(mean) else mean

    return sorted(results.runs, key=height, reverse=True)
