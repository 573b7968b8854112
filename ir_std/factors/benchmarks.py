"""MTEB's benchmarks: the datasets in each task, and the scores of models."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import compress
from typing import Any

import numpy as np

from ir_std._arrays import Floats, Ints, divide
from ir_std.analysis.standardization import linked_scores
from ir_std.errors import NoFactorsError, UsageError, abbreviate, look_up, pluralize, suggestion
from ir_std.factors.catalog import load_factors, shipped_folder
from ir_std.factors.factor_set import FactorSet
from ir_std.factors.schema import KINDS, NOT_TRAINED, UNKNOWN
from ir_std.factors.store import parse_json

FILE = "mteb-benchmarks.json"
"""A file next to the shipped sets that lists each benchmark's tasks and the rows of each task."""
SET = "mteb-retrieval"
COPIED = ("track", "unit", "max_level", "resolution", "year", "source", "licence", "sources")
"""Fields of the set that are copied to a benchmark's factors."""
DECIMALS = 10
"""Number of decimals of task scores.  Scores are rounded, because unrounded means depend on the
order in which the values are added."""


@dataclass(frozen=True, eq=False)
class BenchmarkScores:
    """The main scores of models on the tasks of a benchmark.

    Attributes
    ----------
    name : str
    tasks : tuple of str
        Tasks with at least one dataset in the set.
    missing : tuple of str
        The benchmark's retrieval and reranking tasks that the set lacks, because too few models
        have results for them.
    models : tuple of str
        Models with a score on at least one part of a task.
    scores : ndarray, shape (n_tasks, n_models)
        Mean score over a task's splits and subsets; NaN if the model lacks a score on a split or
        subset.
    of_parts : ndarray, shape (n_tasks, n_models)
        Mean score over the splits and subsets on which the model has a score.  MTEB's Borda count
        uses this mean.
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
        """For each model, the number of tasks for which the model has scores on all parts."""
        counts: Ints = (~np.isnan(self.scores)).sum(axis=0)
        return counts

    @property
    def n_models(self) -> int:
        """Number of models that have scores on all parts of at least one task."""
        return int(np.count_nonzero(~np.isnan(self.scores).all(axis=0)))


@lru_cache(maxsize=1)
def _listed() -> Mapping[str, Mapping[str, Any]]:
    """Return the rows and the number of parts of each task, by benchmark."""
    file = shipped_folder() / FILE
    listed: Mapping[str, Mapping[str, Any]] = parse_json(file.read_bytes(), file)
    return listed


def tasks_of(benchmark: str) -> Mapping[str, list[str]]:
    """Return the datasets of each task of a benchmark.

    If the set lacks a task, the list of the task's datasets is empty.

    Raises
    ------
    UsageError
        If there is no such benchmark, or the set has no task of the benchmark.
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
            "at least 20 models"
        )
    return tasks


def partial_tasks(benchmark: str) -> dict[str, tuple[int, int]]:
    """Return the tasks that are only partly in the set.

    Each task is mapped to two numbers: how many parts the set has, and how many parts the task has.
    A part is one combination of split and subset (such as a language) that the benchmark uses.
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
        Name of the benchmark in MTEB, such as ``"MTEB(eng, v2)"``.
    kind : str
        One of :data:`~ir_std.factors.schema.KINDS`.  With ``zero-shot``, only zero-shot results are
        read.
    others : mapping of str to mapping of str to float, optional
        Main scores of additional models, by model and dataset.  If the set has a model with the
        same name, these scores replace the model's scores in the set.

    Raises
    ------
    UsageError
        If there is no such benchmark or kind.
    NoFactorsError
        If one of the additional models does not have scores on all parts of any task.
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
        task_rows = factors.rows(rows)
        table = np.full((len(rows), len(models)), np.nan)
        table[:, place] = main_scores[task_rows]
        trained[i, place] = cells.arrays["trained"][task_rows].min(axis=0)
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
                f"{name} has scores on {abbreviate(by_row)}, but has no complete task of "
                f"{benchmark}; add all parts of a task such as {next(iter(tasks))}"
            )
    has_score = ~np.isnan(of_parts).all(axis=0)
    return BenchmarkScores(
        benchmark,
        tuple(tasks),
        tuple(task for task, rows in tasks_of(benchmark).items() if not rows),
        tuple(compress(models, has_score)),
        np.round(scores[:, has_score], DECIMALS),
        np.round(of_parts[:, has_score], DECIMALS),
        trained[:, has_score],
    )


def _mean_of_known(table: Floats) -> Floats:
    """Compute the mean of the known values in each column; NaN if there are none."""
    return divide(np.nansum(table, axis=0), np.count_nonzero(~np.isnan(table), axis=0), np.nan)


def benchmark_factors(read: BenchmarkScores, models: Sequence[int]) -> FactorSet:
    """Make factors for the tasks of a benchmark.

    Some models may lack scores on some tasks.  The factors are corrected for these differences
    between the tasks (see ``ir_std.analysis.standardization.linked_scores``).

    Parameters
    ----------
    read : BenchmarkScores
    models : sequence of int
        Numbers of the models from which the factors are made.
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
        "population": f"{pluralize(len(models), 'model')} with at least half of the tasks",
        "default_measures": ["main_score"],
        "measures": {"main_score": {"systems": len(models)}},
    }
    tasks = dict.fromkeys(read.tasks)
    return FactorSet(info, tasks, {"main_score": mean}, {"main_score": sd})


def borda_ranks(scores: Floats, n_models: int | None = None) -> Ints:
    """Rank models as MTEB does, by the number of models that they beat, summed over tasks.

    On each task, a model gets ``n_models`` minus its rank as points; tied models share the mean of
    their ranks.  A model without a score on a task gets no points for this task.  Models with the
    same number of points share the best of their ranks.

    Parameters
    ----------
    scores : ndarray, shape (n_tasks, n_models)
    n_models : int, optional
        Number of models in MTEB's formula: the models with scores on all parts of at least one
        task.

    Returns
    -------
    ndarray of int, shape (n_models,)
    """
    from scipy.stats import rankdata

    n = scores.shape[1] if n_models is None else n_models
    of_tasks = rankdata(-scores, "average", axis=1, nan_policy="omit")
    points = np.where(np.isnan(scores), 0.0, n - of_tasks)
    ranks: Ints = rankdata(-np.sum(points, axis=0), "min").astype(np.int64)
    return ranks
