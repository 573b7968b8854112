"""Rank models by MTEB's results, both over a benchmark and on single datasets.

In a benchmark, the tasks are the topics.  Some models lack results on some tasks.  Therefore,
:func:`ir_std.analysis.linked_scores` standardizes each task's scores on a scale that does not
depend on which models ran the task.  All further steps are the same as for other results.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property
from math import nan
from typing import Any

import numpy as np

from ir_std._arrays import EXACT
from ir_std.errors import NoFactorsError, UsageError, pluralize, warn_caller
from ir_std.evaluation.placement import Placement, place
from ir_std.factors import benchmarks
from ir_std.factors.catalog import load_factors
from ir_std.factors.derived import select_kind
from ir_std.factors.factor_set import FactorSet
from ir_std.measures import Measure, main_score
from ir_std.reporting.tables import Cell, Table, Value, make_table
from ir_std.scores.run_scores import RunScores

MIN_SHARE = 0.5
"""Smallest share of the tasks on which a model needs results in order to be ranked."""


@dataclass(frozen=True, eq=False)
class Benchmark:
    """Known scores of all models on a benchmark.

    Attributes
    ----------
    name, kind : str
        MTEB's name of the benchmark, and the kind of results that count.
    scores : BenchmarkScores
        Scores of the set's models and of the user's own models.
    own : tuple of str
        The user's own models.
    factors : FactorSet
        Factors for each task's main score, computed from the set's models.
    """

    name: str
    kind: str
    scores: benchmarks.BenchmarkScores
    own: tuple[str, ...]
    factors: FactorSet

    @classmethod
    def of(cls, runs: Mapping[str, Any], name: str, kind: Any) -> Benchmark:
        """Read a benchmark's scores.

        Parameters
        ----------
        runs : mapping of str to RunScores
            Models of the set, and other models with main scores by dataset.
        name : str
        kind : str, optional
            One of :data:`~ir_std.factors.schema.KINDS`.

        Raises
        ------
        UsageError
            If there is no such benchmark or kind, or a run has no main scores.
        NoFactorsError
            If fewer than two models have results on half of the tasks, or a run has results on none
            of the tasks.
        """
        for run, scores in runs.items():
            if not isinstance(scores, RunScores) or main_score not in scores.values:
                raise UsageError(f"{run} has no main scores; a benchmark needs MTEB results")
        own = {
            run: dict(scores.values[main_score])
            for run, scores in runs.items()
            if getattr(scores, "factors", None) is None or scores.factors.id != benchmarks.SET
        }
        kind = str(kind or "all")
        read = benchmarks.benchmark_scores(name, kind, own)
        ranked = [column for model, column in _with_enough(read).items() if model not in own]
        if len(ranked) < 2:
            raise NoFactorsError(
                f"need 2 models with at least half of the tasks of {name}, got {len(ranked)}"
            )
        return cls(name, kind, read, tuple(own), benchmarks.benchmark_factors(read, ranked))

    def runs(self, names: Mapping[str, Any]) -> dict[str, RunScores]:
        """Return the scores of the models with results on at least half of the tasks.

        Warn about the user's own models with results on fewer tasks.
        """
        enough = _with_enough(self.scores)
        found = {name: self._scores(enough[name]) for name in names if name in enough}
        few = [name for name in self.own if name not in found]
        if few:
            text = "has results for fewer than half of the tasks, so it is not ranked"
            warn_caller([f"{name} {text}" for name in few])
        if not found:
            raise NoFactorsError(
                f"no run has at least half of the {len(self.scores.tasks)} tasks of {self.name}; "
                "for single datasets, leave out --benchmark (benchmark=)"
            )
        return found

    def _scores(self, model: int) -> RunScores:
        column = zip(self.scores.tasks, self.scores.scores[:, model].tolist(), strict=True)
        by_task = {task: score for task, score in column if score == score}
        return RunScores(self.scores.models[model], {main_score: by_task}, unit="dataset")

    @cached_property
    def borda(self) -> dict[str, int]:
        """MTEB's rank of each model, by the model's Borda count over the tasks."""
        ranks = benchmarks.borda_ranks(self.scores.of_parts, self.scores.n_models)
        return dict(zip(self.scores.models, ranks.tolist(), strict=True))

    @cached_property
    def tasks(self) -> dict[str, int]:
        """Number of tasks on which each model has results."""
        return dict(zip(self.scores.models, self.scores.n_tasks.tolist(), strict=True))

    def has_all_tasks(self, run: str) -> bool:
        """Check whether a model has results on all tasks, so that its raw mean can be compared."""
        return self.tasks[run] == len(self.scores.tasks)

    def place(self, run: str, measure: Measure, mean: float) -> Placement:
        """Rank a mean among the means of the set's models.

        Only models with results on at least half of the tasks are ranked.

        A raw mean is ranked only if it covers all tasks.
        """
        if str(measure) == str(main_score) and not self.has_all_tasks(run):
            return Placement(measure, mean, self.name, unavailable_reason="the model lacks tasks")
        mean_of = self._means[str(measure)]
        others = np.array([other for model, other in mean_of.items() if model != run])
        ranked = sorted((other, model) for model, other in mean_of.items())
        return Placement(
            measure,
            mean,
            self.name,
            self.tasks[run],
            self.tasks[run],
            int((others > mean + EXACT).sum()),
            len(mean_of),
            run in mean_of,
            int((abs(others - mean) <= EXACT).sum()),
            means=tuple(other for other, _ in ranked),
            names=tuple(model for _, model in ranked),
        )

    @property
    def means(self) -> dict[str, float]:
        """Linked means of the set's models with results on at least half of the tasks."""
        return self._means[f"s{main_score}"]

    @cached_property
    def _means(self) -> dict[str, dict[str, float]]:
        """Means of the set's models with results on at least half of the tasks, by measure."""
        ranked = {m: k for m, k in _with_enough(self.scores).items() if m not in self.own}
        raw = self.scores.scores.T[list(ranked.values())]
        standardized = self.factors.standardize(str(main_score), self.scores.tasks, raw)
        by_measure = {main_score: raw.mean(axis=1), f"s{main_score}": np.nanmean(standardized, 1)}
        return {
            str(measure): {m: x for m, x in zip(ranked, means.tolist(), strict=True) if x == x}
            for measure, means in by_measure.items()
        }


def _with_enough(read: benchmarks.BenchmarkScores) -> dict[str, int]:
    """Map each model with results on at least half of the tasks to its column."""
    enough = np.flatnonzero(read.n_tasks >= MIN_SHARE * len(read.tasks)).tolist()
    return {read.models[column]: column for column in enough}


def task_table(runs: Mapping[str, RunScores], places: int = 4, systems: str = "all") -> Table:
    """Show each model's main score, N, place and neighbors on each dataset.

    Parameters
    ----------
    runs : mapping of str to RunScores
        Scores on MTEB's datasets, by model.
    places : int
        Number of decimals; -1 for all.
    systems : {'all', 'zero-shot'}
        Kind of models among which each model is ranked.
    """
    several = len(runs) > 1
    models = cache(lambda dataset: _models_on(dataset, systems))  # Several runs share the models.
    rows: list[list[Value]] = []
    for model, scores in runs.items():
        for dataset, score in scores.values.get(main_score, {}).items():
            value, placed = _place_on(dataset, score, models(dataset))
            neighbors = placed.neighbours if placed else None
            names = [model, dataset] if several else [dataset]
            rows.append([*names, score, value, place_cell(placed), neighbors])
    notes = [
        f"The place is the rank of {' and '.join(runs)} on this dataset, among the model itself "
        f"and the models of {benchmarks.SET} ({systems}). The neighbors are the models "
        "with the next better and the next worse rank. A rank on one dataset has no interval, "
        "because a single mean does not show how much such a mean can vary."
    ]
    if without := sum(row[-1] is None for row in rows):
        where = pluralize(without, "dataset")
        notes.append(
            f"no place on {where}, because fewer than 20 models ({systems}) have results there"
        )
    header = (*["model"] * several, "dataset", "main score", "N", "place", "neighbors")
    return make_table(header, rows, 1 + several, notes, places=places)


def _models_on(dataset: str, systems: str) -> FactorSet | None:
    """Select the models of one kind with results on a dataset; None if these are too few."""
    factors = load_factors(benchmarks.SET)
    with suppress(NoFactorsError):
        if dataset in factors.row_of:
            return select_kind(factors, systems, [dataset])
    return None


def _place_on(
    dataset: str, score: float, models: FactorSet | None
) -> tuple[float | None, Placement | None]:
    """Return N and the place of a score on a dataset; None if there are too few models."""
    with suppress(NoFactorsError):
        if models is not None:
            one = RunScores("score", {main_score: {dataset: score}}, unit="dataset")
            raw, standardized = place(one, measures=main_score, factors=models)
            return standardized.value, raw
    return None, None


def place_cell(placement: Placement | None) -> Cell:
    """Make a cell such as ``13/129``; CSV also holds the number of ties."""
    if placement is None or placement.rank is None:
        return Cell("-", nan)
    of = placement.n_ranked
    return Cell(f"{placement.rank}/{of}", placement.rank, {"of": of, "tied": placement.n_tied})
