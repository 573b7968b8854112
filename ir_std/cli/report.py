"""Write one self-contained HTML page about runs: tables, pictures by topic, how to read them.

Runs, qrels and measures as for ir_std itself; for several collections NAME=RUN:QRELS as for
ir_std compare.  The page needs no network.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from pathlib import Path

from ir_measures.measures import Measure

from ir_std._system.files import check_output
from ir_std.cli.compare import compare_entries
from ir_std.cli.entries import Entry, is_entry, measures_of_entries, open_entries, sort_entries
from ir_std.cli.evaluate import compute_results, parse_arguments
from ir_std.cli.inputs import OpenedOnce, note_datasets
from ir_std.cli.options import EVALUATION, LINK, TESTS, add_options, check_baseline_given
from ir_std.cli.streams import note
from ir_std.cli.trec_eval import add_trec_eval_options
from ir_std.errors import UsageError
from ir_std.reporting.comparison import Comparison
from ir_std.reporting.html.report import OUR_MARK, write_report
from ir_std.reporting.results import Results
from ir_std.schemes import scheme_names


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.usage = (
        "%(prog)s RUN [RUN ...] QRELS [MEASURE ...] [-o FILE] [options]\n"
        "       %(prog)s NAME=RUN:QRELS [NAME=RUN:QRELS ...] [MEASURE ...] [-o FILE]"
    )
    parser.add_argument(
        "inputs",
        nargs="+",
        metavar="RUN|QRELS|MEASURE|NAME=RUN:QRELS",
        help="run files, one qrels file or ir_datasets id, measures; or systems on "
        "several collections",
    )
    parser.add_argument(
        "-o",
        "--output",
        default="report.html",
        metavar="FILE",
        help="the page (default report.html)",
    )
    add_options(parser, *EVALUATION)
    add_trec_eval_options(parser)
    parser.add_argument(
        "--baseline",
        metavar="RUN|SET/SYSTEM|best",
        help="the run, or system of a set, that the others are tested against; best: the set's "
        "best by the first measure",
    )
    add_options(
        parser, "--test", "--correction", "--simultaneous", "--random-effects", *LINK, "--jobs"
    )
    parser.add_argument(
        "--force", action="store_true", help="replace FILE even if it is no page of ir_std's"
    )
    parser.add_argument("--title", help="the page's heading")
    add_options(parser, "--queries")


def run(args: Namespace) -> None:
    """Evaluate and write the page."""
    note_datasets(args.queries)
    check_baseline_given(args, "correction", "random-effects")
    sources = OpenedOnce()
    if any(map(is_entry, args.inputs)):
        entries, texts = sort_entries(args.inputs, sources)
        opened = open_entries(entries, sources)
        measures = measures_of_entries(args, texts, opened)
        write_page(
            args,
            [*sources, *(file for entry in entries for file in entry.files)],
            lambda: _compare(opened, measures, args),
        )
    else:
        if args.anchor or args.reference:
            raise UsageError("--anchor and --reference link several collections: NAME=RUN:QRELS")
        if args.random_effects:
            raise UsageError(
                "--random-effects is about the summary over several collections, this is one: "
                "give NAME=RUN:QRELS of each"
            )
        inputs, measures = parse_arguments(args)
        write_page(
            args,
            inputs.files,
            lambda: compute_results(inputs, measures, scheme_names(args.scheme), args),
        )


def write_page(
    args: Namespace, inputs: list[str], evaluate: Callable[[], Results | Comparison]
) -> None:
    """Write the page of what is evaluated, if it may be written."""
    check_output(args.output, inputs, b"" if args.force else OUR_MARK)  # before the work
    write_report(
        evaluate(), args.output, args.title, inputs, force=args.force, queries=args.queries
    )
    note(f"wrote {args.output}, {Path(args.output).stat().st_size / 1e6:.2f} MB")


def _compare(entries: list[Entry], measures: list[Measure], args: Namespace) -> Comparison:
    """Systems on several collections."""
    if args.factors or args.without:
        raise UsageError(
            "--factors and --without are about one collection's factors, "
            "these are several: name sets in the measures, as "
            "sAP(factors='trec8-adhoc')"
        )
    check_baseline_given(args, "test")
    comparison = compare_entries(
        entries, measures, args, simultaneous=args.simultaneous, jobs=args.jobs
    )
    if args.baseline is None:
        return comparison
    asked = args.baseline, args.test or TESTS[0], args.correction
    comparison = comparison.tested(*asked)
    comparison.effects(*asked)  # that there is such a system, before anything is drawn
    return comparison
