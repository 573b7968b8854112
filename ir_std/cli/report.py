"""Write one self-contained HTML page about runs: tables, pictures by topic, how to read them.

Runs, qrels and measures as for ir_std itself.  The page needs no network.
"""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace

from ir_std._files import check_target
from ir_std.analysis.paired import TESTS
from ir_std.cli.evaluate import add_score_options, tabulate, tell_apart
from ir_std.cli.streams import note
from ir_std.reporting.html.report import OUR_MARK, write_report
from ir_std.schemes import scheme_names


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.usage = "%(prog)s RUN [RUN ...] QRELS [MEASURE ...] [-o FILE] [options]"
    parser.add_argument("inputs", nargs="+", metavar="RUN|QRELS|MEASURE",
                        help="run files, one qrels file or ir_datasets id, measures")
    parser.add_argument("-o", "--output", default="report.html", metavar="FILE",
                        help="the page (default report.html)")
    parser.add_argument("-s", "--scheme", default="N", metavar="N,U,E,z|all",
                        help="standardization schemes (default N)")
    parser.add_argument("--factors", metavar="ID|PATH",
                        help="the factor set to use (default: recognized from the qrels)")
    add_score_options(parser)
    parser.add_argument("--baseline", metavar="RUN",
                        help="the run that the others are tested against")
    parser.add_argument("--test", choices=sorted(TESTS), default="t",
                        help="paired test against the baseline (default t)")
    parser.add_argument("--force", action="store_true",
                        help="replace FILE even if it is no page of ir_std's")
    parser.add_argument("--title", help="the page's heading")


def run(args: Namespace) -> None:
    """Evaluate and write the page."""
    files, qrels, measures = tell_apart(args.inputs)
    inputs = [*files, *filter(None, [qrels])]
    check_target(args.output, inputs, b"" if args.force else OUR_MARK)  # before the work
    results = tabulate(files, qrels, measures, scheme_names(args.scheme), args)
    write_report(results, args.output, args.title, inputs, force=args.force)
    note(f"wrote {args.output}, {os.path.getsize(args.output) / 1e6:.2f} MB")
