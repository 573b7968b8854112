"""How the standardizing systems did: what a run's scores are shown beside, and compared with."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from ir_measures.measures import Measure

from ir_std._arrays import Floats
from ir_std.evaluation.obstacles import rows_but
from ir_std.evaluation.plans import Plan
from ir_std.evaluation.uncertainty import team_tags
from ir_std.factors.estimates import ranked_systems
from ir_std.factors.factor_set import FactorSet
from ir_std.measures import Standardized


@dataclass(frozen=True, eq=False)
class Peers:
    """How the standardizing systems did on each topic, in the unit of one measure.

    Attributes
    ----------
    mean, low, high : ndarray, shape (n_topics,)
        Their mean, and one standard deviation below and above it; for a standardized measure
        these points standardized.  NaN on topics without factors.
    least, most : ndarray, shape (n_topics,)
        The lowest and highest score of one of them; NaN where only means are known.
    n_systems : int
    """

    mean: Floats
    low: Floats
    high: Floats
    least: Floats
    most: Floats
    n_systems: int

    def mapped(self, standardize: Callable[[Floats], Floats]) -> Peers:
        """The same points on another scale."""
        low, high = standardize(self.low), standardize(self.high)
        least, most = standardize(self.least), standardize(self.most)
        return Peers(
            standardize(self.mean),
            np.fmin(low, high),  # where less is better the other is the low one
            np.fmax(low, high),
            np.fmin(least, most),
            np.fmax(least, most),
            self.n_systems,
        )


def peers_of(plan: Plan, topics: Iterable[str]) -> Peers:
    """How the standardizing systems did, in the unit of the raw measure of ``plan``."""
    name, factors = plan.name, plan.factors
    rows = rows_but(factors, topics, plan.differing)
    known = np.where(rows >= 0, 1.0, np.nan)
    mean, sd = factors.mean[name][rows] * known, factors.sd[name][rows] * known
    scores = factors.scores.get(name)
    least = most = np.full(len(rows), np.nan)
    if scores is not None:
        least = np.fmin.reduce(scores[rows], axis=1) * known
        most = np.fmax.reduce(scores[rows], axis=1) * known
    return Peers(mean, mean - sd, mean + sd, least, most, factors.n_systems[name])


def peer_means(
    factors: FactorSet, measure: Measure, name: str, rows: tuple[int, ...]
) -> tuple[Floats, tuple[str, ...]] | None:
    """The systems' means on the set's rows, ascending, and their names; None if unknown.

    There are no names where the set's systems are anonymous.
    """
    scheme, params = scheme_of(measure)
    if name in factors.scores:
        means, numbers = ranked_systems(factors, name, scheme, np.array(rows), **params)
        tags = team_tags(factors.systems)
        return means, tuple(tags[number] for number in numbers.tolist()) if tags else ()
    return None


def scheme_of(measure: Measure) -> tuple[str | None, dict[str, float]]:
    """A measure's scheme, None if it is raw, and the scheme's parameters."""
    if isinstance(measure, Standardized):
        return measure["scheme"], measure.scheme_params
    return None, {}
