"""Runs, or scores that were computed elsewhere, in whatever form a user has them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from ir_std.errors import InputError, UsageError, abbreviate
from ir_std.reading.sources import BytesSource, source_of
from ir_std.scores.files import is_model_meta, is_score_file, read_scores
from ir_std.scores.run_scores import RunScores, counted_topics
from ir_std.trec.inputs import as_qrels, as_run
from ir_std.trec.naming import name_runs
from ir_std.trec.qrels import Qrels
from ir_std.trec.runs import Run


def as_run_or_scores(run: Any) -> Run | RunScores:
    """A run in any form that :func:`as_run` takes, or scores of one that are known already.

    Raises
    ------
    InputError
        As :func:`as_run` and :func:`read_scores`; or if a file holds the scores of several runs.
    """
    if isinstance(run, RunScores):
        return run
    if hasattr(run, "read"):
        run = source_of(run)
    if not isinstance(run, (str, os.PathLike, BytesSource)) or not is_score_file(run):
        return as_run(run)
    read = read_scores(run)
    if len(read) > 1:
        file = run.name if isinstance(run, BytesSource) else run
        raise InputError.at(
            file,
            None,
            f"scores of {len(read)} runs ({abbreviate(read)})",
            "read them with read_scores, and give one",
        )
    return next(iter(read.values()))


def runs_by_name(runs: Any, measure: str | None = None) -> dict[str, Any]:
    """:func:`name_runs`, with files of scores read: one may hold several runs, or a part of one.

    Parameters
    ----------
    runs
        As for :func:`name_runs`.
    measure : str, optional
        Of tables with a column a run, as for :func:`read_scores`.

    Raises
    ------
    InputError
        If a file of scores cannot be used.
    UsageError
        If two runs have the same name.
    """
    named: dict[str, Any] = {}
    for name, given in name_runs(runs).items():
        run = source_of(given) if hasattr(given, "read") else given
        if not isinstance(run, (str, os.PathLike, BytesSource)):
            named[name] = run
        elif not is_score_file(run):
            named[name] = source_of(run)  # nobody looks at it again
        elif not is_model_meta(run):
            _add_scores(named, name, read_scores(run, measure))
    if not named:
        raise UsageError("no scores: a model_meta.json says only whose results are beside it")
    return named


def _add_scores(named: dict[str, Any], file: str, read: dict[str, RunScores]) -> None:
    for name, scores in read.items():
        known = named.get(name)
        if scores.unit == "collection" and isinstance(known, RunScores):
            named[name] = known.joined(scores)  # MTEB writes a file a data set
        elif known is not None:
            raise UsageError(f"two runs are called {name}: the second is in {file}")
        else:
            named[name if len(read) > 1 or scores.unit == "collection" else file] = scores


def qrels_or_counts(runs: Iterable[Any], qrels: Any) -> Qrels:
    """The qrels; where none are given, what scores tell of them.

    Raises
    ------
    UsageError
        If there are none and not all runs are scores.
    """
    if qrels is not None:
        return as_qrels(qrels)
    scores = [run for run in runs if isinstance(run, RunScores)]
    others = sum(1 for run in runs) - len(scores)
    if others or not scores:
        raise UsageError(
            "no qrels: without them only scores that were computed elsewhere can be used, no runs"
        )
    return counted_topics(scores)
