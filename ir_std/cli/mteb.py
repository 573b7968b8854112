"""Results of MTEB, task by task, and over the tasks of a benchmark."""

from __future__ import annotations

import os
from argparse import Namespace

from ir_std.cli.inputs import classify_arguments
from ir_std.cli.output import print_tables
from ir_std.errors import UsageError
from ir_std.evaluation.inputs import inputs_by_name
from ir_std.measures import main_score
from ir_std.scores.mteb import MODEL_META
from ir_std.scores.run_scores import RunScores

ELSEWHERE = ("factors", "measure", "by_query", "place", "raw", "sort", "baseline", "without")
"""Options of which the values by measure are for."""


def is_asked_by_task(args: Namespace) -> bool:
    """Whether results of MTEB are to be shown task by task.

    With ``--benchmark`` they are; else where nothing but folders or files of MTEB is given.
    """
    if args.benchmark:
        return True
    if args.output_format != "tsv" or any(getattr(args, name) for name in ELSEWHERE):
        return False
    return bool(args.inputs) and all(map(_is_of_mteb, args.inputs))


def _is_of_mteb(path: str) -> bool:
    """Whether a folder holds MTEB's results of a model, or a file is beside such."""
    if path.endswith(".json"):
        return os.path.isfile(os.path.join(os.path.dirname(path), MODEL_META))
    return os.path.isdir(path) and any(MODEL_META in names for _, _, names in os.walk(path))


def print_task_tables(args: Namespace) -> None:
    """Print the tasks, and with ``--benchmark`` the place over them."""
    from ir_std.factors.benchmarks import KINDS, tasks_of
    from ir_std.reporting.leaderboard import leaderboard
    from ir_std.reporting.task_table import task_table

    rows = None
    if args.benchmark:
        rows = [row for of_task in tasks_of(args.benchmark).values() for row in of_task]
    scores = _read_results(args.inputs)
    systems = args.systems or KINDS[0]
    if systems not in KINDS:
        raise UsageError(f"--systems {systems}: of results of MTEB take {' or '.join(KINDS)}")
    tables = [task_table(scores, args.places, systems, rows)]
    if args.benchmark:
        others = {name: dict(run.values[main_score]) for name, run in scores.items()}
        board = leaderboard(args.benchmark, systems=systems, others=others)
        tables.append(board.top(3).table(3))
    print_tables(tables, "table" if args.output_format == "tsv" else args.output_format)


def _read_results(arguments: list[str]) -> dict[str, RunScores]:
    """The scores of each model, which must be MTEB's."""
    inputs = classify_arguments(arguments)
    runs = inputs_by_name(inputs.named, None)
    scores = {name: run for name, run in runs.items() if isinstance(run, RunScores)}
    if inputs.qrels or inputs.measures or len(scores) < len(runs):
        raise UsageError("--benchmark is of results of MTEB alone: give their folder, no measures")
    if any(main_score not in run.values for run in scores.values()):
        raise UsageError("--benchmark is of results of MTEB, which have main scores")
    return scores
