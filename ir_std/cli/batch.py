"""Runs in files to lines of values, in one process or several."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from ir_std.evaluation.api import check_common_topics
from ir_std.evaluation.evaluator import StdEvaluator
from ir_std.evaluation.notices import Notice
from ir_std.trec.files import read_run
from ir_std.trec.scores import RunScores

if TYPE_CHECKING:
    from ir_std.evaluation.placement import Placer

SUMMARY = "all"
"""The topic that stands for the mean, as in ir_measures and trec_eval."""


class Line(NamedTuple):
    """One value: of which topic and measure; of a mean also where it ranks, if asked."""

    topic: str
    measure: str
    value: float
    place: str | None = None


class Wanted(NamedTuple):
    """Which lines are wanted of each run.

    Attributes
    ----------
    by_topic, means : bool
        The values by topic; their means.
    place : bool
        Beside each mean, where the run ranks among the standardizing systems.
    """

    by_topic: bool
    means: bool
    place: bool


class Evaluated(NamedTuple):
    """What one run gave, as it travels between processes."""

    lines: list[Line]
    notices: tuple[Notice, ...]


def evaluate_files(evaluator: StdEvaluator, files: Iterable[str | RunScores], wanted: Wanted,
                   jobs: int | None = None) -> Iterator[Evaluated]:
    """Evaluate run files, in their order.

    Parameters
    ----------
    evaluator : StdEvaluator
    files : iterable of str or RunScores
    wanted : Wanted
    jobs : int, optional
        Number of processes; as many as pay if not given.

    Raises
    ------
    InputError
        If a run is broken, or it and the qrels have no topic in common.
    """
    from ir_std._parallel import in_order, usual_jobs

    files = list(files)
    jobs = usual_jobs(len(files)) if jobs is None else jobs
    if jobs == 1:
        placer = _placer(evaluator, wanted)
        yield from (_evaluate(evaluator, placer, file, wanted) for file in files)
    else:
        task = pickle.dumps((evaluator.measures, evaluator.qrels, evaluator.match, wanted))
        yield from in_order(_evaluate_elsewhere, task, files, jobs)


def _evaluate(evaluator: StdEvaluator, placer: Placer | None, file: str | RunScores,
              wanted: Wanted) -> Evaluated:
    run = file if isinstance(file, RunScores) else read_run(file)
    check_common_topics(run, evaluator.qrels)
    found = evaluator.evaluate(run)
    lines = []
    if wanted.by_topic:
        lines += [Line(m.query_id, str(m.measure), m.value) for m in evaluator.by_topic(found)]
    if wanted.means:
        placed = ({p.measure: p.summary for p in placer.place_values(found.values)} if placer
                  else {})
        lines += [Line(SUMMARY, str(measure), value, placed.get(measure))
                  for measure, value in found.means.items()]
    return Evaluated(lines, found.notices)


def _evaluate_elsewhere(task: bytes, file: str | RunScores) -> Evaluated:
    evaluator, placer, wanted = _unpacked(task)
    return _evaluate(evaluator, placer, file, wanted)


@lru_cache(maxsize=1)
def _unpacked(task: bytes) -> tuple[StdEvaluator, Placer | None, Wanted]:
    measures, qrels, match, wanted = pickle.loads(task)
    evaluator = StdEvaluator(measures, qrels, match)
    return evaluator, _placer(evaluator, wanted), wanted


def _placer(evaluator: StdEvaluator, wanted: Wanted) -> Placer | None:
    if not wanted.place:
        return None
    from ir_std.evaluation.placement import Placer

    return Placer(evaluator)
