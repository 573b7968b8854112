"""Many runs by one evaluator: in this process, in several, or where an executor works."""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ir_measures.measures import Measure

from ir_std._parallel import in_order, usual_jobs
from ir_std.evaluation.api import check_common_topics
from ir_std.evaluation.evaluator import Evaluation, StdEvaluator
from ir_std.trec.runs import Run
from ir_std.trec.scored import as_scored
from ir_std.trec.scores import RunScores

if TYPE_CHECKING:
    from concurrent.futures import Executor


def evaluate_all(evaluator: StdEvaluator, runs: Mapping[str, Any], jobs: int | None = 1,
                 executor: Executor | None = None) -> Iterator[Evaluation]:
    """Evaluate runs, in their order.

    Parameters
    ----------
    evaluator : StdEvaluator
    runs : mapping of str to run
        By name, in any form that :func:`ir_std.trec.scored.as_scored` takes.
    jobs : int, optional
        Number of processes; 1 is this one, None as many as pay.
    executor : concurrent.futures.Executor, optional
        Evaluate there instead, a task for each run.  Its workers must be able to read the files
        that are given by their path.

    Raises
    ------
    InputError
        If a run is broken, or it and the qrels have no topic in common.
    UsageError
        If ``jobs`` is less than 1, or a process died.
    """
    if jobs is None:
        jobs = usual_jobs(len(runs))
    if executor is None and jobs == 1:
        for name, run in runs.items():
            yield _evaluated(evaluator, name, run)
        return
    task = pickle.dumps((evaluator.measures, evaluator.qrels, evaluator.match))
    items = ((name, _portable(run)) for name, run in runs.items())
    own: dict[Measure, Measure] = {}
    for found in in_order(_evaluated_elsewhere, task, items, jobs, executor):
        # A thousand runs share their measures, which are most of what a small one holds.
        yield replace(found, values={own.setdefault(m, m): v for m, v in found.values.items()},
                      means={own.setdefault(m, m): v for m, v in found.means.items()})


def _evaluated(evaluator: StdEvaluator, name: str, run: Any) -> Evaluation:
    read = as_scored(run)
    check_common_topics(read, evaluator.qrels)
    return evaluator.evaluate(read, name)


def _portable(run: Any) -> Any:
    """A run as it travels: open files and what can be read but once are read before."""
    if isinstance(run, (str, os.PathLike, Mapping, Run, RunScores)) or hasattr(run, "itertuples"):
        return run
    return as_scored(run)


def _evaluated_elsewhere(task: bytes, item: tuple[str, Any]) -> Evaluation:
    return _evaluated(_unpacked(task), *item)


@lru_cache(maxsize=1)
def _unpacked(task: bytes) -> StdEvaluator:
    return StdEvaluator(*pickle.loads(task))
