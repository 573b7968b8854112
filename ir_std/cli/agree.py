"""Compare two judgments of the same topics, such as those of people and of a language model.

  ir_std agree people.qrels model.qrels                    agreement of labels, and of the systems
  ir_std agree people.qrels model.qrels runs/* nDCG@10     that are known, or of these runs

Of labels Cohen's kappa, plain and weighted; of the systems' order tau and tau_AP; of means the
difference paired by topic, raw and standardized, each by the factors of its own judgments.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from ir_std.cli.inputs import sort_arguments
from ir_std.cli.options import add_options, add_table_options, check_places
from ir_std.cli.output import print_tables
from ir_std.cli.streams import note
from ir_std.cli.trec_eval import read_measures
from ir_std.errors import UsageError
from ir_std.reporting.agreement import agreement
from ir_std.reporting.judge_agreement import TABLES as OF_AGREEMENT
from ir_std.scores.inputs import name_runs

RECOGNIZED = "-"
"""What stands for a set that is to be recognized."""
USUAL = ("labels", "confusion", "order")
"""The tables that are printed unless one is asked for."""


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.usage = "%(prog)s QRELS QRELS [RUN ...] [MEASURE ...] [options]"
    parser.add_argument(
        "inputs",
        nargs="+",
        metavar="QRELS|RUN|MEASURE",
        help="two qrels (files or ir_datasets ids), runs, measures",
    )
    add_options(parser, "--scheme")
    parser.add_argument(
        "--factors",
        nargs=2,
        metavar=("FIRST", "SECOND"),
        default=(RECOGNIZED, RECOGNIZED),
        help=f"the factor sets of the two judgments; {RECOGNIZED} for the one that is recognized",
    )
    parser.add_argument(
        "--table",
        choices=tuple(OF_AGREEMENT),
        help=f"one table alone (default: {', '.join(USUAL)}; means and topics on request)",
    )
    add_table_options(parser)
    add_options(parser, "--jobs")


def run(args: Namespace) -> None:
    """Compare and print."""
    check_places(args.places)
    if args.output_format == "csv" and not args.table:
        raise UsageError(f"CSV is one table: add --table {'|'.join(OF_AGREEMENT)}")
    given = sort_arguments(args.inputs)
    if (n := len(given.all_qrels)) != 2:
        raise UsageError(f"found {n} qrels: give the two that are to be compared")
    first, second = given.all_qrels
    compared = agreement(
        first,
        second,
        name_runs(given.runs) if given.runs else None,
        read_measures(*given.measures) or None,
        args.scheme,
        factors=[None if name == RECOGNIZED else name for name in args.factors],
        jobs=args.jobs,
    )
    for text in compared.notes:
        note(text)
    names = [args.table] if args.table else [name for name in USUAL if name in compared.tables]
    print_tables((compared.table(name, args.places) for name in names), args.output_format)
