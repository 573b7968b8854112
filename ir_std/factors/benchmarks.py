"""MTEB's benchmarks: which data sets of ``mteb-retrieval`` their tasks are, and scores there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ir_std._arrays import Floats, Ints
from ir_std.errors import NoFactorsError, UsageError, abbreviate, suggestion
from ir_std.factors.catalog import load_factors, shipped_folder
from ir_std.factors.cells import NOT_TRAINED, UNKNOWN, Cells
from ir_std.factors.storage import parse_json

FILE = "mteb-benchmarks.json"
"""Beside the shipped sets: of each benchmark its tasks and their rows."""
SET = "mteb-retrieval"
DECIMALS = 10
"""Of tasks' scores: means of the same values in another order would differ, and not tie."""
KINDS = ("all", "zero-shot")
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
        Those with a score on one of the tasks.
    scores : ndarray, shape (n_tasks, n_models)
        The mean over a task's splits and subsets; NaN where a model lacks one of them.
    trained : ndarray of int, shape (n_tasks, n_models)
        Whether the model was trained on the task: 0, 1 or, where that is not known, 2.
    """

    name: str
    tasks: tuple[str, ...]
    missing: tuple[str, ...]
    models: tuple[str, ...]
    scores: Floats
    trained: Ints


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
    tags: tuple[str, ...] = factors.info["tags"]
    scores = np.full((len(tasks), len(tags)), np.nan)
    trained = np.full(scores.shape, UNKNOWN)
    for i, rows in enumerate(tasks.values()):
        row, system, score, stated = cells.main_scores(factors.rows(rows))
        table = np.full((len(rows), len(tags)), np.nan)
        table[row, system] = score
        scores[i] = table.mean(axis=0)
        trained[i, system] = stated
    if kind != KINDS[0]:
        scores[trained != NOT_TRAINED] = np.nan
    known = ~np.isnan(scores).all(axis=0) & [tag not in (others or {}) for tag in tags]
    names = [tag for tag, there in zip(tags, known.tolist(), strict=True) if there]
    columns, stated_of = [scores[:, known]], [trained[:, known]]
    for name, by_row in (others or {}).items():
        column = np.array([[_mean(by_row, rows)] for rows in tasks.values()])
        if np.isnan(column).all():
            raise NoFactorsError(
                f"{name} has no whole task of {benchmark} (tasks such as {abbreviate(tasks)}; "
                f"scores of {abbreviate(by_row)})"
            )
        names.append(name)
        columns.append(column)
        stated_of.append(np.full(column.shape, UNKNOWN))
    return BenchmarkScores(
        benchmark,
        tuple(tasks),
        tuple(task for task, rows in tasks_of(benchmark).items() if not rows),
        tuple(names),
        np.round(np.hstack(columns), DECIMALS),
        np.hstack(stated_of),
    )


def _mean(by_row: Mapping[str, float], rows: list[str]) -> float:
    return float(np.mean([by_row.get(row, np.nan) for row in rows]))
