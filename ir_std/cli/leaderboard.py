"""Models on a benchmark of MTEB: places with intervals, although not every model ran every task.

Without a name the benchmarks are listed.  Nothing is downloaded.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from ir_std.cli.options import add_table_options, check_places
from ir_std.cli.output import print_table
from ir_std.errors import UsageError


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.usage = "%(prog)s [BENCHMARK] [options]"
    parser.add_argument(
        "benchmark", nargs="?", metavar="BENCHMARK", help="MTEB's name, as 'MTEB(eng, v2)'"
    )
    parser.add_argument(
        "--systems",
        default="all",
        metavar="KIND",
        help="all (default), or zero-shot: results of models that were not trained on the task",
    )
    parser.add_argument(
        "--with",
        dest="others",
        action="append",
        default=[],
        metavar="RESULTS",
        help="results of further models: MTEB's JSON files, or their folder (once for each)",
    )
    parser.add_argument(
        "--simultaneous", action="store_true", help="intervals that hold for all models at once"
    )
    parser.add_argument(
        "--top", type=int, metavar="N", help="the first N models, and those of --with"
    )
    add_table_options(parser, "html", places=3)


def run(args: Namespace) -> None:
    """Compute and print."""
    from ir_std.factors.benchmarks import benchmark_rows
    from ir_std.reporting.leaderboard import leaderboard

    check_places(args.places)
    if args.top is not None and args.top < 1:
        raise UsageError(f"--top is {args.top}: give a number of models")
    if args.benchmark is None:
        for name, tasks in benchmark_rows().items():
            print(f"{name}\t{sum(map(bool, tasks.values()))} of {len(tasks)} tasks")
        return
    others = read_others(args.others)
    board = leaderboard(
        args.benchmark, systems=args.systems, others=others, simultaneous=args.simultaneous
    )
    board = board if args.top is None else board.top(args.top)
    if args.output_format == "html":
        from ir_std.reporting.html.report import render

        print(render(board))
    else:
        print_table(board.table(args.places), args.output_format)


def read_others(files: list[str]) -> dict[str, dict[str, float]]:
    """The main scores of further models, by model and data set."""
    from ir_std.cli.inputs import classify_arguments
    from ir_std.measures import main_score
    from ir_std.scores.inputs import runs_by_name
    from ir_std.scores.run_scores import RunScores

    if not files:
        return {}
    runs = runs_by_name(classify_arguments(files).named)
    for name, run in runs.items():
        if not isinstance(run, RunScores) or main_score not in run.values:
            raise UsageError(f"--with {name}: no result of MTEB with main scores")
    return {name: dict(run.values[main_score]) for name, run in runs.items()}
