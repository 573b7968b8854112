"""Evaluation of many runs, in this process, in several processes, or by an executor."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

from ir_measures.measures import Measure

from ir_std._system.processes import default_jobs, map_in_order
from ir_std.errors import UsageError
from ir_std.evaluation.evaluation import Evaluation
from ir_std.evaluation.evaluator import StdEvaluator
from ir_std.evaluation.inputs import ScoresOfSystem, resolve, restrict_scores
from ir_std.reading import FileSource
from ir_std.scores.inputs import check_common_topics
from ir_std.scores.run_scores import RunScores
from ir_std.trec.qrels import Qrels
from ir_std.trec.runs import Run

if TYPE_CHECKING:
    from concurrent.futures import Executor

Progress: TypeAlias = Callable[[Iterable[Evaluation]], Iterable[Evaluation]]
"""Wrapper of the iterable of evaluations, like ``tqdm.tqdm``."""


def evaluate_runs(
    evaluator: StdEvaluator,
    runs: Mapping[str, Any],
    jobs: int | None = 1,
    executor: Executor | None = None,
    *,
    depth: int | None = None,
) -> Iterator[Evaluation]:
    """Evaluate runs, and yield the evaluations in the order of the runs.

    Parameters
    ----------
    evaluator : StdEvaluator
    runs : mapping of str to run
        Runs by name, of any type that :func:`ir_std.evaluation.inputs.resolve` accepts.
    jobs : int, optional
        Number of processes.  1 means this process; None chooses the number automatically.
    executor : concurrent.futures.Executor, optional
        Executor to use instead, with one task per run.  Its workers must be able to read files
        that are given by their path.
    depth : int, optional
        Number of documents per topic to evaluate, like trec_eval's ``-M``.

    Raises
    ------
    InputError
        If a run is broken, or has no topic in common with the qrels.
    UsageError
        If ``jobs`` or ``depth`` is less than 1, if a depth is given for scores, or if a process
        died.
    """
    if depth is not None and depth < 1:
        raise UsageError(f"depth must be at least 1, got {depth}")
    if jobs is None:
        # Scores are only looked up, which is less work than sending them to another process.
        jobs = default_jobs(sum(not isinstance(run, RunScores) for run in runs.values()))
    if executor is None and jobs == 1:
        for name, run in runs.items():
            yield _evaluate(evaluator, name, run, depth)
        return
    task = pickle.dumps(evaluator)
    items = ((name, _portable(run, evaluator.qrels), depth) for name, run in runs.items())
    own: dict[Measure, Measure] = {}
    for evaluation in map_in_order(_evaluate_in_worker, task, items, jobs, executor):
        # Each worker sends copies of the measures, which make up most of a small evaluation, so
        # all runs share one copy.
        shared = tuple([own.setdefault(m, m) for m in evaluation.measures])
        yield replace(evaluation, measures=shared)


def _evaluate(evaluator: StdEvaluator, name: str, run: Any, depth: int | None) -> Evaluation:
    read = resolve(run)
    if depth is not None and isinstance(read, RunScores):
        raise UsageError(
            f"{name} holds scores, which cannot be cut to {depth} documents per topic; give the run"
        )
    check_common_topics(read, evaluator.qrels)
    return evaluator.evaluate(read, name, depth)


def _portable(run: Any, qrels: Qrels) -> Any:
    """Return a run that can be sent to a worker, after reading any one-time input."""
    if isinstance(run, ScoresOfSystem):
        return restrict_scores(run, qrels)  # a worker needs only its scores
    if isinstance(run, (str, os.PathLike, FileSource, Mapping, Run, RunScores)) or hasattr(
        run, "itertuples"
    ):
        return run
    return resolve(run)


def _evaluate_in_worker(task: bytes, item: tuple[str, Any, int | None]) -> Evaluation:
    return _evaluate(_unpickle_evaluator(task), *item)


@lru_cache(maxsize=1)
def _unpickle_evaluator(task: bytes) -> StdEvaluator:
    evaluator: StdEvaluator = pickle.loads(task)
    return evaluator
