"""The scores of one system's run: what a worker computes when a set is built."""

from __future__ import annotations

import pickle
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePath
from typing import Any

import numpy as np

from ir_std._arrays import Floats
from ir_std._system.text import path_text
from ir_std.errors import InputError
from ir_std.evaluation.evaluator import StdEvaluator
from ir_std.reading import Source
from ir_std.trec.inputs import as_run
from ir_std.trec.qrels import Qrels
from ir_std.trec.ranking import sort_run


@dataclass(frozen=True)
class BuildTask:
    """How every run is evaluated."""

    qrels: Qrels
    measures: tuple[str, ...]
    depth: int | None
    duplicates: str = "error"


@dataclass(frozen=True)
class SystemScores:
    """The scores of one system's run.

    Attributes
    ----------
    name : str
        The run's file, or what messages call it.
    tag : str
        What the set calls the system.
    values : ndarray, shape (n_measures, n_topics)
    depth : int
        The most documents it has on a topic, before it is cut.
    length : int
        How many it has on the median topic.
    repeated : int
        How many lines were left out because their document is in others.
    """

    name: str
    tag: str
    values: Floats
    depth: int
    length: int
    repeated: int = 0


def score_system(task: bytes, item: tuple[str, Any]) -> SystemScores | InputError:
    """Evaluate one run; what a worker does.

    Parameters
    ----------
    task : bytes
        A pickled :class:`BuildTask`: bytes are cheap to send, and the worker unpickles them once.
    item : tuple of str and a source, path, Run, dict, DataFrame or iterable
        The system's tag, or nothing if the run's name gives it; and the run.

    Returns
    -------
    SystemScores or InputError
        The error, not raised, if the run is broken.
    """
    tag, source = item
    evaluator, depth, duplicates = _unpickle_evaluator(task)
    try:
        if isinstance(source, Source):
            source.duplicates = duplicates
        run = as_run(source, duplicates)
        sizes = [b - a for t in evaluator.qrels.topics for a, b in [run.bounds.get(t, (0, 0))]]
        if not any(sizes):
            raise InputError.at(
                run.name,
                "has no topic of the qrels",
                f"topics such as {evaluator.qrels.topics[0]} are expected",
            )
    except InputError as broken:
        return broken
    repeated = run.repeated
    if depth is not None and max(sizes) > depth:
        run = sort_run(run, depth)
    values = np.stack(list(evaluator.values(run).values()))
    length = int(np.median(sizes))
    return SystemScores(run.name, tag or run_tag(run.name), values, max(sizes), length, repeated)


@lru_cache(maxsize=1)
def _unpickle_evaluator(pickled: bytes) -> tuple[StdEvaluator, int | None, str]:
    task: BuildTask = pickle.loads(pickled)
    return StdEvaluator(task.measures, task.qrels), task.depth, task.duplicates


def run_tag(name: str) -> str:
    """What a system is called: its run's file name, without folders, archive and ``.gz``.

    >>> run_tag("runs/trec8.tar.xz!trec8/Flab8atdn.gz")
    'Flab8atdn'
    """
    return re.sub(r"\.(gz|bz2|xz)$", "", path_text(PurePath(name.rpartition("!")[2]).name))
