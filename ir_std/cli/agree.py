"""Compare two sets of judgments of the same topics, such as human and LLM judgments."""

import os
from argparse import Namespace
from typing import Any

from ir_std._system.files import path_may_exist
from ir_std.cli.inputs import read_inputs
from ir_std.cli.options import call
from ir_std.cli.output import print_tables
from ir_std.cli.streams import note
from ir_std.errors import UsageError
from ir_std.reading import is_archive
from ir_std.reporting.agreement import TABLES, agreement
from ir_std.scores.files import holds_scores

RECOGNIZED = "-"
"""Placeholder for a factor set that ir_std should recognize."""
DEFAULT_TABLES = ("labels", "confusion", "order")
"""Tables that are printed unless the user chooses one."""
HELP = """
usage: ir_std agree QRELS QRELS [RUN ...] [MEASURE ...] [options]

Compare two sets of judgments of the same topics, such as human and LLM judgments.

  ir_std agree people.qrels model.qrels                  compare labels and orders of known systems
  ir_std agree people.qrels model.qrels runs/* nDCG@10   compare labels and orders of these runs
  ir_std agree people.csv model.csv                      compare per-topic scores of the same runs

ir_std compares the labels by Cohen's kappa (plain and weighted).  It compares the two orders of the
systems by tau and tau_AP.  It also compares each system's raw and standardized means, paired by
topic.  Under each set of judgments, scores are standardized with the factors for these judgments.

options:
  --scheme
  --factors FIRST SECOND
                        factor sets for the first and second judgments (- to recognize a set)
  --table {labels,confusion,order,pairs,means,topics}
                        print this table only (default labels, confusion and order)
  --output
"""


def run(args: Namespace) -> None:
    """Compare the judgments and print the tables."""
    if args.output == "csv" and not args.table:
        raise UsageError(f"-o csv prints one table; add --table {'|'.join(TABLES)}")
    files = [f for f in args.inputs if not (os.path.isdir(f) or is_archive(f))]
    judgments: list[Any] = [f for f in files if path_may_exist(f) and holds_scores(f)]
    args.inputs = [each for each in args.inputs if each not in judgments]
    given = read_inputs(args)
    judgments = judgments or given.qrels
    if len(judgments) != 2:
        raise UsageError(f"expected two qrels or two score files, got {len(judgments)}")
    runs, measures = given.runs or None, given.measures or None
    given_sets = args.factors or (RECOGNIZED, RECOGNIZED)
    factors = [None if name == RECOGNIZED else name for name in given_sets]
    compared = call(agreement, args, *judgments, runs, measures, factors=factors, jobs=None)
    for text in compared.notes:
        note(text)
    names = [args.table] if args.table else [n for n in DEFAULT_TABLES if not compared.lacks(n)]
    print_tables((compared.table(name) for name in names), args.output)
