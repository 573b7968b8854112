"""MTEB's benchmarks: which data sets of ``mteb-retrieval`` their tasks are, and scores there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ir_std._arrays import Floats, Ints, divide
from ir_std.errors import NoFactorsError, UsageError, abbreviate, suggestion
from ir_std.factors.catalog import load_factors, shipped_folder
from ir_std.factors.cells import KINDS as KINDS_OF_MODELS
from ir_std.factors.cells import NOT_TRAINED, UNKNOWN, Cells
from ir_std.factors.storage import parse_json

FILE = "mteb-benchmarks.json"
"""Beside the shipped sets: of each benchmark its tasks and their rows."""
SET = "mteb-retrieval"
DECIMALS = 10
"""Of tasks' scores: means of the same values in another order would differ, and not tie."""
KINDS = tuple(KINDS_OF_MODELS)
"""Which results count: all, or those of models that were not trained on the task."""


@dataclass(frozen=True, eq=False)
class BenchmarkScores:
    """The main scores of models on the tasks of a benchmark.

    Attributes
    ----------
    name : str
    tasks : tuple of str
        Those that the set has data sets of.
    missing : tuple of str
        The benchmark's other retrieval and reranking tasks, of which too few results are known.
    models : tuple of str
        Those with a score on a part of one of the tasks.
    scores : ndarray, shape (n_tasks, n_models)
        The mean over a task's splits and subsets; NaN where a model lacks one of them.
    of_parts : ndarray, shape (n_tasks, n_models)
        The same over the splits and subsets that the model has, as MTEB's Borda count takes it.
    trained : ndarray of int, shape (n_tasks, n_models)
        Whether the model was trained on the task: 0, 1 or, where that is not known, 2.
    """

    name: str
    tasks: tuple[str, ...]
    missing: tuple[str, ...]
    models: tuple[str, ...]
    scores: Floats
    of_parts: Floats
    trained: Ints

    @property
    def n_models(self) -> int:
        """How many models have a whole task."""
        return int(np.count_nonzero(~np.isnan(self.scores).all(axis=0)))


@lru_cache(maxsize=1)
def benchmark_rows() -> Mapping[str, Mapping[str, list[str]]]:
    """By benchmark and task the data sets; none of tasks that the set does not have."""
    file = shipped_folder() / FILE
    listed: Mapping[str, Mapping[str, list[str]]] = parse_json(file.read_bytes(), file)
    return listed


def tasks_of(benchmark: str) -> Mapping[str, list[str]]:
    """The tasks of a benchmark and their data sets.

    Raises
    ------
    UsageError
        If there is no such benchmark, or none of its tasks is there.
    """
    listed = benchmark_rows()
    if benchmark not in listed:
        raise UsageError(
            f"no benchmark {benchmark!r}{suggestion(benchmark, listed)}; there are "
            f"{abbreviate(listed)}: ir_std leaderboard alone lists them"
        )
    if not any(listed[benchmark].values()):
        raise UsageError(
            f"{benchmark}: of none of its {len(listed[benchmark])} retrieval and reranking tasks "
            "are the results of 20 models known"
        )
    return listed[benchmark]


def benchmark_scores(
    benchmark: str,
    kind: str = KINDS[0],
    others: Mapping[str, Mapping[str, float]] | None = None,
) -> BenchmarkScores:
    """The scores of all models on a benchmark.

    Parameters
    ----------
    benchmark : str
        MTEB's name, as ``"MTEB(eng, v2)"``.
    kind : str
        One of :data:`KINDS`; others than zero-shot results are taken out.
    others : mapping of str to mapping of str to float, optional
        By name of further models their main scores by data set; they hide a model of that name.

    Raises
    ------
    UsageError
        If there is no such benchmark or kind.
    NoFactorsError
        If a further model has no whole task.
    """
    if kind not in KINDS:
        raise UsageError(f"no kind of results {kind!r}: take {' or '.join(KINDS)}")
    tasks = {task: rows for task, rows in tasks_of(benchmark).items() if rows}
    factors = load_factors(SET)
    cells = Cells(factors.cells)
    further = others or {}
    models = [*(tag for tag in factors.info["tags"] if tag not in further), *further]
    number = {model: i for i, model in enumerate(models)}
    place = np.array([number[tag] for tag in factors.info["tags"]])
    scores, of_parts = np.full((2, len(tasks), len(models)), np.nan)
    trained = np.full(scores.shape, UNKNOWN)
    for i, rows in enumerate(tasks.values()):
        row, system, score, stated = cells.main_scores(factors.rows(rows))
        table = np.full((len(rows), len(models)), np.nan)
        table[row, place[system]] = score
        trained[i, place[system]] = stated
        if kind != KINDS[0]:
            table[:, trained[i] != NOT_TRAINED] = np.nan
        for name, by_row in further.items():
            table[:, number[name]] = [by_row.get(row, np.nan) for row in rows]
            trained[i, number[name]] = UNKNOWN
        scores[i] = table.mean(axis=0)
        of_parts[i] = _mean_of_known(table)
    for name, by_row in further.items():
        if np.isnan(scores[:, number[name]]).all():
            raise NoFactorsError(
                f"{name} has no whole task of {benchmark} (tasks such as {abbreviate(tasks)}; "
                f"scores of {abbreviate(by_row)})"
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
    """Means of columns over what is known; NaN where nothing is."""
    return divide(np.nansum(table, axis=0), np.count_nonzero(~np.isnan(table), axis=0), np.nan)
