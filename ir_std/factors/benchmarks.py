"""MTEB's benchmarks: which datasets of ``mteb-retrieval`` their tasks are, and scores there."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ir_std._arrays import Floats, Ints, divide
from ir_std.analysis.incomplete import linked_scores
from ir_std.errors import NoFactorsError, UsageError, abbreviate, look_up, pluralize, suggestion
from ir_std.factors.catalog import load_factors, shipped_folder
from ir_std.factors.factor_set import FactorSet
from ir_std.factors.schema import KINDS, NOT_TRAINED, UNKNOWN
from ir_std.factors.store import parse_json

FILE = "mteb-benchmarks.json"
"""A file next to the shipped sets that lists the tasks of each benchmark and their rows."""
SET = "mteb-retrieval"
COPIED = ("track", "unit", "max_level", "resolution", "year", "source", "licence", "sources")
"""Fields of the set that a benchmark's factors have too."""
DECIMALS = 10
"""Decimals of tasks' scores, so that means of the same values in another order are equal."""


@dataclass(frozen=True, eq=False)
class BenchmarkScores:
    """The main scores of models on the tasks of a benchmark.

    Attributes
    ----------
    name : str
    tasks : tuple of str
        Tasks that the set has datasets of.
    missing : tuple of str
        The benchmark's other retrieval and reranking tasks, of which too few results are known.
    models : tuple of str
        Models with a score on a part of one of the tasks.
    scores : ndarray, shape (n_tasks, n_models)
        The mean over a task's splits and subsets; NaN where a model lacks one of them.
    of_parts : ndarray, shape (n_tasks, n_models)
        The same over the splits and subsets that the model has, as MTEB's Borda count takes it.
    trained : ndarray of int, shape (n_tasks, n_models)
        1 if the model was trained on the task, 0 if not, 2 if unknown.
    """

    name: str
    tasks: tuple[str, ...]
    missing: tuple[str, ...]
    models: tuple[str, ...]
    scores: Floats
    of_parts: Floats
    trained: Ints

    @property
    def n_tasks(self) -> Ints:
        """Number of complete tasks of each model."""
        counts: Ints = (~np.isnan(self.scores)).sum(axis=0)
        return counts

    @property
    def n_models(self) -> int:
        """Number of models with a complete task."""
        return int(np.count_nonzero(~np.isnan(self.scores).all(axis=0)))


@lru_cache(maxsize=1)
def _listed() -> Mapping[str, Mapping[str, Any]]:
    """Return the rows and the number of parts of each task, by benchmark."""
    file = shipped_folder() / FILE
    listed: Mapping[str, Mapping[str, Any]] = parse_json(file.read_bytes(), file)
    return listed


def tasks_of(benchmark: str) -> Mapping[str, list[str]]:
    """Return the tasks of a benchmark and their datasets; none of tasks that the set lacks.

    Raises
    ------
    UsageError
        If there is no such benchmark, or the set has none of its tasks.
    """
    if benchmark not in _listed():
        raise UsageError(
            f"unknown benchmark {benchmark!r}; choose from {abbreviate(_listed())}"
            f"{suggestion(benchmark, _listed())}"
        )
    tasks = {task: each["rows"] for task, each in _listed()[benchmark].items()}
    if not any(tasks.values()):
        raise UsageError(
            f"none of the {len(tasks)} retrieval and reranking tasks of {benchmark} has results of "
            "20 models or more"
        )
    return tasks


def partial_tasks(benchmark: str) -> dict[str, tuple[int, int]]:
    """Return the tasks that the set has only in part: the number of its parts, and of all parts.

    A part is a split and subset, such as a language, that the benchmark uses.
    """
    tasks_of(benchmark)
    counts = {t: (len(each["rows"]), each["parts"]) for t, each in _listed()[benchmark].items()}
    return {task: (n, total) for task, (n, total) in counts.items() if 0 < n < total}


def benchmark_scores(
    benchmark: str,
    kind: str = "all",
    others: Mapping[str, Mapping[str, float]] | None = None,
) -> BenchmarkScores:
    """Read the scores of all models on a benchmark.

    Parameters
    ----------
    benchmark : str
        MTEB's name, as ``"MTEB(eng, v2)"``.
    kind : str
        One of :data:`~ir_std.factors.schema.KINDS`; others than zero-shot results are taken out.
    others : mapping of str to mapping of str to float, optional
        Main scores of further models by dataset; they hide a model of the same name.

    Raises
    ------
    UsageError
        If there is no such benchmark or kind.
    NoFactorsError
        If an added model has no complete task.
    """
    look_up(kind, KINDS, "kind of results")
    tasks = {task: rows for task, rows in tasks_of(benchmark).items() if rows}
    factors = load_factors(SET)
    cells = factors.cells
    assert cells is not None
    main_scores = cells.main_scores()
    further = others or {}
    models = [*(tag for tag in factors.systems if tag not in further), *further]
    number = {model: i for i, model in enumerate(models)}
    place = np.array([number[tag] for tag in factors.systems])
    scores, of_parts = np.full((2, len(tasks), len(models)), np.nan)
    trained = np.full(scores.shape, UNKNOWN)
    for i, rows in enumerate(tasks.values()):
        at = factors.rows(rows)
        table = np.full((len(rows), len(models)), np.nan)
        table[:, place] = main_scores[at]
        trained[i, place] = cells.arrays["trained"][at].min(axis=0)
        if kind != "all":
            table[:, trained[i] != NOT_TRAINED] = np.nan
        for name, by_row in further.items():
            table[:, number[name]] = [by_row.get(row, np.nan) for row in rows]
            trained[i, number[name]] = UNKNOWN
        scores[i] = table.mean(axis=0)
        of_parts[i] = _mean_of_known(table)
    for name, by_row in further.items():
        if np.isnan(scores[:, number[name]]).all():
            raise NoFactorsError(
                f"{name} has scores on {abbreviate(by_row)}, but on no complete task of "
                f"{benchmark}; expected all parts of a task such as {next(iter(tasks))}"
            )
    known = ~np.isnan(of_parts).all(axis=0)
    return BenchmarkScores(
        benchmark,
        tuple(tasks),
        tuple(task for task, rows in tasks_of(benchmark).items() if not rows),
        tuple(model for model, there in zip(models, known.tolist(), strict=True) if there),
        np.round(scores[:, known], DECIMALS),
        np.round(of_parts[:, known], DECIMALS),
        trained[:, known],
    )


def _mean_of_known(table: Floats) -> Floats:
    """Compute means of columns over known values; NaN if there are none."""
    return divide(np.nansum(table, axis=0), np.count_nonzero(~np.isnan(table), axis=0), np.nan)


def benchmark_factors(read: BenchmarkScores, models: Sequence[int]) -> FactorSet:
    """Make factors of a benchmark's tasks that do not depend on which models ran a task.

    Parameters
    ----------
    read : BenchmarkScores
    models : sequence of int
        The models that they are made from, by number.
    """
    scores = read.scores[:, models]
    used = np.count_nonzero(~np.isnan(scores), axis=1) > 1
    linked = linked_scores(scores[used])
    mean, sd = np.full((2, len(scores)), np.nan)
    mean[used], sd[used] = linked.mean, linked.sd
    whole = load_factors(SET).info
    info = {
        **{field: whole[field] for field in COPIED if field in whole},
        "id": re.sub("[^a-z0-9]+", "-", read.name.lower()).strip("-"),
        "title": read.name,
        "population": f"{pluralize(len(models), 'model')} with half of the tasks or more",
        "default_measures": ["main_score"],
        "measures": {"main_score": {"systems": len(models)}},
    }
    tasks = dict.fromkeys(read.tasks)
    return FactorSet(info, tasks, {"main_score": mean}, {"main_score": sd})


def borda_ranks(scores: Floats, n_models: int | None = None) -> Ints:
    """MTEB's rank: by the number of models that a model beats, summed over tasks.

    On each task a model earns ``n_models`` less its rank there (ties share the mean rank), and
    nothing where it has no score.  The same sum is the same rank, the best of those it spans.

    Parameters
    ----------
    scores : ndarray, shape (n_tasks, n_models)
    n_models : int, optional
        Number of models with a complete task, as MTEB counts them.

    Returns
    -------
    ndarray of int, shape (n_models,)
    """
    from scipy.stats import rankdata

    n = scores.shape[1] if n_models is None else n_models
    points = [
        np.where(np.isnan(task), 0.0, n - rankdata(-task, "average", nan_policy="omit"))
        for task in scores
    ]
    ranks: Ints = rankdata(-np.sum(points, axis=0), "min").astype(np.int64)
    return ranks
