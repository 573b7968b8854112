"""The standardizing systems on the page: their names, and their scores by topic."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence

import numpy as np
from ir_measures.measures import Measure

from ir_std._arrays import Floats
from ir_std.evaluation.systems import systems_of
from ir_std.factors.estimates import scores_by_system
from ir_std.measures import Standardized
from ir_std.reporting.evaluated_runs import EvaluatedRuns
from ir_std.reporting.html.packing import PLACES, Packer

MOST_SCORES_OF_SYSTEMS = 200_000
"""With more scores than this a page is without those of single systems, which take 2 bytes each."""


class SystemsOfTrack:
    """The scores by topic of the standardizing systems that are none of the runs.

    Parameters
    ----------
    results : EvaluatedRuns
    tags : dict of str to str
        What the set calls each system, by its name on the page.

    Attributes
    ----------
    names : tuple of str
        The best of them first.
    """

    def __init__(self, results: EvaluatedRuns, tags: Mapping[str, str]) -> None:
        self.results, self.packer = results, Packer()
        self.factors = results.match.factors if results.match else None
        self.tags = dict(tags)
        known = (c for m in results.measures if (c := self._columns(m)) is not None)
        means = np.nan_to_num(next(known, np.empty((0, 1)))).mean(axis=1).tolist()
        ranked = sorted(zip(means, self.tags, strict=False), key=lambda each: -each[0])
        self.tags = {name: tags[name] for _, name in ranked}

    @classmethod
    def of(
        cls, results: EvaluatedRuns, runs: Sequence[str], shown: Container[str]
    ) -> SystemsOfTrack:
        """Of these results, but those shown as runs; none where it would be too many scores."""
        factors = results.match.factors if results.match else None
        tags = systems_of(factors) if factors else ()
        if len(tags) * len(results.topics) * len(results.measures) > MOST_SCORES_OF_SYSTEMS:
            tags = ()
        set_id = factors.id if factors else ""
        names = {f"{set_id}/{t}" if t in runs else t: t for t in tags if t not in shown}
        return cls(results, names)

    @property
    def names(self) -> tuple[str, ...]:
        """What they are called on the page."""
        return tuple(self.tags)

    def add(self, measure: Measure) -> int | None:
        """Pack the scores by a measure; the number of the matrix, None where they are unknown."""
        columns = self._columns(measure)
        return None if columns is None or not self.tags else self.packer.add(columns, PLACES)

    def _columns(self, measure: Measure) -> Floats | None:
        """The scores by a measure, shape (n_systems, n_topics)."""
        plan = self.results.plan_behind(measure)
        if plan is None or plan.of_mean or plan.factors is not self.factors:
            return None
        if plan.name not in plan.factors.systems:
            return None
        numbers, scores = scores_by_system(plan.factors, plan.name)
        all_tags = plan.factors.info["tags"]
        column = {all_tags[number]: i for i, number in enumerate(numbers.tolist())}
        if not column.keys() >= {*self.tags.values()}:
            return None
        raw = np.where(plan.rows[:, None] >= 0, scores[plan.rows], np.nan)
        of_systems = [raw[:, column[tag]] for tag in self.tags.values()]
        if isinstance(measure, Standardized):
            of_systems = [plan.apply(values) for values in of_systems]
        return np.array(of_systems).reshape(-1, len(self.results.topics))
