"""Compare systems over collections: raw means beside standardized ones, with intervals.

With --baseline A: how the other systems differ from A, on each collection and in summary.

  ir_std compare bm25=t7.run:t7.qrels bm25=t8.run:t8.qrels mono=t8b.run:t8.qrels AP

Each NAME=RUN:QRELS is one system on one collection; the same NAME with other qrels is the same
system on another collection.  QRELS may be an ir_datasets id; scores that were computed elsewhere
need none, nor a name: NAME=SCORES, or files and folders of scores, or SET/SYSTEM.  NAME@LABEL says
what the collection is called in tables and pictures.  Without measures, the default ones that all
collections have factors for.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable
from io import BytesIO
from pathlib import Path
from typing import Any

from ir_measures.measures import Measure

from ir_std._system.files import check_output, write_atomically
from ir_std.cli.entries import Entry, measures_of_entries, open_entries, sort_entries, system_entry
from ir_std.cli.inputs import OpenedOnce
from ir_std.cli.options import (
    LINK,
    SUMMARIES,
    TESTS,
    add_options,
    add_table_options,
    check_baseline_given,
    check_places,
)
from ir_std.cli.output import note_other_sets, print_tables
from ir_std.cli.streams import note, progress
from ir_std.cli.trec_eval import add_trec_eval_options
from ir_std.errors import UsageError
from ir_std.evaluation.systems import names_system
from ir_std.reporting.compare import compare
from ir_std.reporting.comparison import Comparison
from ir_std.reporting.effects import Effects
from ir_std.reporting.links import pairs_table, with_differences
from ir_std.reporting.relabelled import label_differences, label_differences_table

PICTURES = (".png", ".svg", ".pdf")
"""The formats of ``--plot``, by the end of the file's name."""


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.usage = "%(prog)s NAME=RUN:QRELS [NAME=RUN:QRELS ...] [MEASURE ...] [options]"
    parser.add_argument(
        "inputs",
        nargs="*",
        metavar="NAME=RUN:QRELS|MEASURE",
        help="systems on collections, measures",
    )
    parser.add_argument(
        "--system",
        nargs=3,
        action="append",
        default=[],
        metavar=("NAME", "RUN", "QRELS"),
        help="as NAME=RUN:QRELS, for any file names (once for each)",
    )
    add_options(parser, "--scheme", "--systems", "--residual", "--lower-is-better", "--verbose")
    add_trec_eval_options(parser)
    add_table_options(parser, names=("-o", "--output_format"))
    parser.add_argument(
        "--baseline",
        metavar="NAME|SET/SYSTEM|best",
        help="the system that the others are compared with; best: on each collection the best of "
        "its set by the first measure",
    )
    add_options(parser, "--test", "--correction", "--random-effects", *LINK)
    parser.add_argument(
        "--plot",
        metavar="FILE",
        help="draw the means, or with --baseline the differences as forest plots, "
        "too: .png, .svg or .pdf",
    )
    parser.add_argument("--force", action="store_true", help="replace the picture if it is there")


def run(args: Namespace) -> None:
    """Evaluate, print and draw."""
    check_places(args.places)
    check_baseline_given(args, "test", "correction", "random-effects")
    sources = OpenedOnce()
    given = sort_entries(args.inputs, sources)
    entries = [*given.entries, *(Entry(*system) for system in args.system)]
    entries += baseline_entry(args, entries)
    if args.plot:  # before the work
        check_picture(args.plot, [*sources, *(f for e in entries for f in e.files)], args.force)
    opened = open_entries(entries, sources)
    measures = measures_of_entries(args, given.measures, opened)
    comparison = compare_entries(opened, measures, args)
    shown = (
        comparison
        if args.baseline is None
        else comparison.effects(args.baseline, args.test or TESTS[0], args.correction)
    )
    tables = [shown.table(args.places)]
    pairs = comparison.linked_pairs if args.baseline is None else ()
    if pairs and args.output_format == "csv":
        tables = [with_differences(tables[0], comparison.measures, pairs)]
    elif pairs:
        tables.append(pairs_table(pairs, args.places))
    if args.baseline is None and args.output_format != "csv":
        relabelled = label_differences(comparison)
        tables += [label_differences_table(relabelled, args.places)] if relabelled else []
    if args.plot:
        draw_picture(shown, args.plot)
    print_tables(tables, args.output_format)


def baseline_entry(args: Namespace, entries: Iterable[Entry]) -> list[Entry]:
    """The baseline as an entry, if it is a system of a set that is none yet."""
    named = {entry.run: entry.system for entry in entries if isinstance(entry.run, str)}
    if args.baseline is None or not names_system(args.baseline):
        return []
    added = [] if args.baseline in named else [system_entry(args.baseline)]
    args.baseline = named.get(args.baseline) or added[0].system
    return added


def compare_entries(
    entries: list[Entry], measures: list[Measure], args: Namespace, **more: Any
) -> Comparison:
    """Compare as the options ask for; say which factors are used, and what else is to be known."""
    with progress(len(entries)) as counted:
        comparison = compare(
            entries,
            measures,
            args.scheme,
            systems=args.systems,
            anchors=args.anchor,
            reference=args.reference,
            random_effects=args.random_effects or SUMMARIES[0],
            depth=args.depth,
            residual=args.residual,
            progress=counted,
            lower_is_better=args.lower_is_better,
            baseline=args.baseline,
            **more,
        )
    for text in comparison.notes:
        note(text)
    if args.verbose:
        for match in {p.collection: p.results.match for p in comparison.parts}.values():
            if match:
                note_other_sets(match)
    return comparison


def check_picture(file: str, inputs: list[str], force: bool) -> None:
    """Check that a picture can be drawn into a file."""
    if Path(file).suffix.lower() not in PICTURES:
        raise UsageError(f"--plot {file}: the name must end in {', '.join(PICTURES)}")
    check_output(file, inputs, new=not force)


def draw_picture(shown: Comparison | Effects, file: str) -> None:
    """Draw the comparison, or the effects, into a file."""
    from ir_std.reporting.comparison_plots import comparison_figure, forest_figure

    figure = forest_figure(shown) if isinstance(shown, Effects) else comparison_figure(shown)
    picture = BytesIO()
    figure.savefig(picture, format=Path(file).suffix[1:].lower(), dpi=150)
    write_atomically(file, picture.getvalue())
    note(f"wrote {file}")
