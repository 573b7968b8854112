"""Results of MTEB, task by task."""

from __future__ import annotations

import os
from argparse import Namespace

from ir_std.cli.inputs import read_inputs
from ir_std.cli.output import print_tables
from ir_std.errors import UsageError
from ir_std.measures import main_score
from ir_std.scores.mteb import MODEL_META
from ir_std.scores.run_scores import RunScores

ELSEWHERE = ("benchmark", "output", "factors", "by_query", "place", "sort", "baseline", "without")
"""Options of which the values by measure are for."""


def is_asked_by_task(args: Namespace) -> bool:
    """Whether nothing but folders or files of MTEB is given, to be shown task by task."""
    if any(getattr(args, name) for name in ELSEWHERE):
        return False
    return bool(args.inputs) and all(map(_is_of_mteb, args.inputs))


def _is_of_mteb(path: str) -> bool:
    """Whether a folder holds MTEB's results of a model, or a file is beside such."""
    if path.endswith(".json"):
        return os.path.isfile(os.path.join(os.path.dirname(path), MODEL_META))
    return os.path.isdir(path) and any(MODEL_META in names for _, _, names in os.walk(path))


def print_task_tables(args: Namespace) -> None:
    """Print the tasks, with each model's place on each."""
    from ir_std.factors.benchmarks import KINDS
    from ir_std.reporting.task_table import task_table

    scores = _read_results(args)
    systems = args.systems or KINDS[0]
    if systems not in KINDS:
        raise UsageError(f"--systems {systems}: of results of MTEB take {' or '.join(KINDS)}")
    table = task_table(scores, 4 if args.places is None else args.places, systems)
    print_tables([table], args.output)


def _read_results(args: Namespace) -> dict[str, RunScores]:
    """Return the scores of each model, which must be MTEB's."""
    inputs = read_inputs(args)
    scores = {name: run for name, run in inputs.runs.items() if isinstance(run, RunScores)}
    if inputs.qrels or inputs.measures or len(scores) < len(inputs.runs):
        raise UsageError("these are MTEB results; drop other inputs and measures")
    if any(main_score not in run.values for run in scores.values()):
        raise UsageError("these MTEB results have no main scores")
    return scores
