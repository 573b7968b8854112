"""Build a factor set from the runs of a collection's systems, or from tables of their scores.

  ir_std build QRELS RUNS... -o DIR               from run files, folders and archives
  ir_std build [QRELS] --from-scores TABLE... -o DIR

Archives (.tar, .tar.gz, .tar.xz, .zip) are read in memory.  A table has columns run, topic, measure
and value; or run, topic and a column a measure; or topic and a column a run, with the measure as
its file name, as in P@10.csv; measures that ir_measures does not know are taken as they stand.
The folder DIR appears whole or not at all; use the set by --factors DIR, or put its parent folder
into IR_STD_FACTORS.
"""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

from ir_std.builders.from_runs import build_factors
from ir_std.builders.from_scores import build_from_scores
from ir_std.cli.options import add_options
from ir_std.cli.streams import note, progress
from ir_std.cli.trec_eval import read_measures
from ir_std.errors import UsageError
from ir_std.evaluation.systems import refuse_systems
from ir_std.factors.factor_set import FactorSet
from ir_std.factors.files import check_set_target


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.usage = (
        "%(prog)s QRELS RUNS... -o DIR [options]\n"
        "       %(prog)s [QRELS] --from-scores TABLE... -o DIR [options]"
    )
    parser.add_argument("qrels", nargs="?", metavar="QRELS", help="qrels file or ir_datasets id")
    parser.add_argument("runs", nargs="*", metavar="RUNS", help="run files, folders, archives")
    parser.add_argument(
        "-o", "--output", required=True, type=Path, metavar="DIR", help="the folder of the new set"
    )
    parser.add_argument(
        "--from-scores", nargs="+", metavar="TABLE", help="tables of scores instead of runs"
    )
    add_options(parser, "--lower-is-better", "--duplicates")
    parser.add_argument(
        "--measures",
        nargs="+",
        metavar="MEASURE",
        help="raw measures, under ir_measures' names or trec_eval's (default: "
        "about thirty common ones)",
    )
    parser.add_argument("--id", help="the set's id (default: the folder's name)")
    parser.add_argument("--title", default="", help="what the collection is called")
    parser.add_argument(
        "--judge", default="", metavar="NAME", help="the language model whose labels the qrels are"
    )
    parser.add_argument(
        "--teams",
        metavar="FILE",
        help="whose the systems are: lines of SYSTEM and TEAM; one that is not named is a team "
        "of its own (default: names that begin with the same three characters are of one team)",
    )
    parser.add_argument("--source", default="", help="where the runs or scores come from")
    parser.add_argument("--licence", default="", help="under which licence the set is")
    parser.add_argument(
        "--depth",
        type=int,
        metavar="K",
        help="cut runs to K documents a topic; with tables: the runs' depth",
    )
    parser.add_argument(
        "--max-member",
        type=int,
        metavar="BYTES",
        help="what a packed run or a member of an archive may unpack to (default: 80 MiB if "
        "it has less than 10 MB, else 16 times its size, and 2 GiB at most)",
    )
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes (default 1)")
    parser.add_argument(
        "--force", action="store_true", help="replace the set that is already in DIR"
    )
    parser.add_argument(
        "--skip-bad",
        action="store_true",
        help="leave broken runs and unreadable folders out and list them, instead of stopping",
    )


def run(args: Namespace) -> None:
    """Build the set and write it."""
    refuse_systems(args.runs, "a factor set")
    given = [args.qrels, *args.runs, *(args.from_scores or ()), args.teams]
    check_set_target(args.output, filter(None, given), args.force)
    about = {
        "id": args.id or Path(os.path.realpath(args.output)).name,
        "title": args.title,
        "source": args.source,
        "licence": args.licence,
        "depth": args.depth,
        "judge": args.judge,
        "teams": args.teams,
    }
    factors = _from_scores(args, about) if args.from_scores else _from_runs(args, about)
    factors.save(args.output)
    print(
        f"{args.output}\t{len(factors.topics)} topics\t{factors.systems_text()} systems\t"
        f"{len(factors.measures)} measures"
    )
    note(f"use it by --factors {args.output}, or by IR_STD_FACTORS={args.output.parent}")


def _from_runs(args: Namespace, about: dict[str, Any]) -> FactorSet:
    if args.lower_is_better:
        raise UsageError("--lower-is-better is of measures of scores: add --from-scores")
    if not args.qrels or not args.runs:
        raise UsageError("give QRELS and at least two RUNS, or --from-scores TABLE...")
    measures = args.measures and read_measures(*args.measures)
    with progress() as counted:
        return build_factors(
            args.qrels,
            args.runs,
            measures,
            skip_bad=args.skip_bad,
            max_member=args.max_member,
            duplicates=args.duplicates,
            jobs=args.jobs,
            progress=counted,
            **about,
        )


def _from_scores(args: Namespace, about: dict[str, Any]) -> FactorSet:
    for name in ("runs", "measures", "skip_bad"):
        if getattr(args, name):
            raise UsageError(
                f"{name.replace('_', '-')} and --from-scores exclude each other: "
                f"tables hold the scores, and their names the measures"
            )
    built = build_from_scores(
        args.from_scores, args.qrels, lower_is_better=args.lower_is_better, **about
    )
    for name in built.measures:
        if "better" in built.info["measures"][name]:
            less = "less" if built.sign(name) < 0 else "more"
            note(f"{name}: no measure of ir_measures, taken as it stands; {less} is better")
    return built
