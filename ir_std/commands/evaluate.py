"""Evaluate runs: raw and standardized scores in one pass.

  ir_std RUN [RUN ...] QRELS [MEASURE ...]

Runs and qrels may come in any order; they are told apart by their columns (6 and 4).  QRELS may
be an ir_datasets id.  Without measures, those of the recognized factor set are reported.
Other commands: ir_std factors, ir_std demo (each has --help).
"""

from __future__ import annotations

import json
import math
import os
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ir_measures.measures import Measure

from ir_std.cli import note
from ir_std.dropin import companions, find_factors
from ir_std.errors import InputError, UsageError
from ir_std.files import QRELS, RUN, columns_of
from ir_std.inputs import as_qrels, as_run
from ir_std.measures import parse_measure
from ir_std.provider import StdEvaluator
from ir_std.ranking import Qrels
from ir_std.schemes import scheme_names

SUMMARY = "all"
"""The topic that stands for the mean, as in ir_measures and trec_eval."""

FALLBACK_MEASURES = ("AP", "nDCG", "P@10", "RR", "Rprec")
"""Reported when no measure is named and no factor set is recognized."""


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.usage = "%(prog)s RUN [RUN ...] QRELS [MEASURE ...] [options]"
    parser.add_argument("inputs", nargs="+", metavar="RUN|QRELS|MEASURE",
                        help="run files, one qrels file or ir_datasets id, measures")
    parser.add_argument("-s", "--scheme", default="N", metavar="N,U,E,z|all",
                        help="standardization schemes (default N)")
    parser.add_argument("--factors", metavar="ID|PATH",
                        help="the factor set to use (default: recognized from the qrels)")
    parser.add_argument("-q", "--by_query", action="store_true", help="values by topic too")
    parser.add_argument("-n", "--no_summary", action="store_true",
                        help="with -q: without the means")
    parser.add_argument("-p", "--places", type=int, default=4,
                        help="decimals (default 4; -1 for all)")
    parser.add_argument("-o", "--output_format", choices=["tsv", "jsonl", "table"],
                        default="tsv", help="form of the output (default tsv)")
    parser.add_argument("--raw", action="store_true", help="raw scores only")


@dataclass(frozen=True)
class Line:
    """One value: of which run, topic and measure."""

    run: str
    topic: str
    measure: Measure
    value: float


def run(args: Namespace) -> None:
    """Evaluate and print."""
    if args.no_summary and not args.by_query:
        raise UsageError("-n leaves out the means, which are all there is without -q: add -q")
    if args.places < -1:
        raise UsageError(f"--places is {args.places}: give the number of decimals, or -1 for all")
    runs, qrels_name, measures = tell_apart(args.inputs)
    evaluator = prepare(as_qrels(qrels_name), measures, args)
    names = run_names(runs)
    lines = (line for file in runs for line in evaluate(evaluator, file, names[file], args))
    for text in FORMATS[args.output_format](lines, args, len(runs) > 1):
        print(text)
