"""Compare systems over collections: raw means beside standardized ones, with intervals.

With --baseline A: how the other systems differ from A, on each collection and in summary.

  ir_std compare bm25=t7.run:t7.qrels bm25=t8.run:t8.qrels mono=t8b.run:t8.qrels AP

Each NAME=RUN:QRELS is one system on one collection; the same NAME with other qrels is the same
system on another collection.  QRELS may be an ir_datasets id; scores that were computed elsewhere
need none: NAME=SCORES.  Without measures, the default ones that all collections have factors for.
"""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from io import BytesIO
from pathlib import Path
from typing import TypeAlias

from ir_std._system.files import check_output, write_atomically
from ir_std.cli.inputs import OpenedOnce, check_read_once
from ir_std.cli.options import (
    SUMMARIES,
    TABLES,
    TESTS,
    add_random_effects_option,
    add_residual_option,
    add_scheme_option,
    add_systems_option,
    add_test_options,
    add_verbose_option,
    check_baseline_given,
    check_places,
)
from ir_std.cli.output import note_other_sets, print_table
from ir_std.cli.streams import note, progress
from ir_std.cli.trec_eval import add_trec_eval_options, requested_measures
from ir_std.errors import UsageError
from ir_std.reading import STANDARD_INPUT, Source, is_pipe
from ir_std.reporting.compare import compare
from ir_std.reporting.comparison import Comparison
from ir_std.reporting.effects import Effects
from ir_std.reporting.links import pairs_table
from ir_std.reporting.relabelled import label_differences, label_differences_table
from ir_std.scores.files import is_score_file

Entry: TypeAlias = tuple[str, str, str | None]
"""The name of a system, its run and the qrels, as they were given."""
OpenedEntry: TypeAlias = tuple[str, Source | str, Source | str | None]
"""An entry whose files are opened."""
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
    add_scheme_option(parser)
    add_systems_option(parser)
    add_residual_option(parser)
    add_verbose_option(parser)
    add_trec_eval_options(parser)
    parser.add_argument(
        "-p", "--places", type=int, default=4, help="decimals (default 4; -1 for all; csv has all)"
    )
    parser.add_argument(
        "-o",
        "--output_format",
        choices=TABLES,
        default="table",
        help="form of the output (default table)",
    )
    parser.add_argument(
        "--baseline", metavar="NAME", help="the system that the others are compared with"
    )
    add_test_options(parser)
    add_random_effects_option(parser)
    add_link_options(parser)
    parser.add_argument(
        "--plot",
        metavar="FILE",
        help="draw the means, or with --baseline the differences as forest plots, "
        "too: .png, .svg or .pdf",
    )
    parser.add_argument("--force", action="store_true", help="replace the picture if it is there")


def add_link_options(parser: ArgumentParser) -> None:
    """Declare how the collections are put on one scale."""
    parser.add_argument(
        "--anchor",
        metavar="NAME",
        action="append",
        default=[],
        help="link the collections to one scale by this system, which ran on all of them "
        "(once for each; three or more are better)",
    )
    parser.add_argument(
        "--reference",
        metavar="COLLECTION",
        help="with --anchor: the collection on whose scale scores are put (default: the one with "
        "the strongest systems)",
    )


def run(args: Namespace) -> None:
    """Evaluate, print and draw."""
    check_places(args.places)
    check_baseline_given(args, "test", "correction", "random-effects")
    sources = OpenedOnce()
    entries = [split_entry(text, sources) for text in args.inputs if is_entry(text)]
    entries += [(name, run_file, qrels) for name, run_file, qrels in args.system]
    if args.plot:  # before the work
        check_picture(
            args.plot, [name for _, *files in entries for name in files if name], args.force
        )
    measures = requested_measures(args, [text for text in args.inputs if not is_entry(text)])
    with progress(len(entries)) as counted:
        comparison = compare(
            open_entries(entries, sources),
            measures,
            args.scheme,
            systems=args.systems,
            anchors=args.anchor,
            reference=args.reference,
            random_effects=args.random_effects or SUMMARIES[0],
            depth=args.depth,
            residual=args.residual,
            progress=counted,
        )
    print_notes(comparison, args.verbose)
    shown = (
        comparison
        if args.baseline is None
        else comparison.effects(args.baseline, args.test or TESTS[0], args.correction)
    )
    table = shown.table(args.places)
    if args.plot:
        draw_picture(shown, args.plot)
    print_table(table, args.output_format)
    pairs = comparison.linked_pairs
    if pairs and args.baseline is None and args.output_format != "csv":
        print()
        print_table(pairs_table(pairs, args.places), args.output_format)
    relabelled = label_differences(comparison)
    if relabelled and args.baseline is None and args.output_format != "csv":
        print()
        print_table(label_differences_table(relabelled, args.places), args.output_format)


def print_notes(comparison: Comparison, verbose: bool) -> None:
    """Say which factors are used, and what else is to be known."""
    for text in comparison.notes:
        note(text)
    if verbose:
        for match in {p.collection: p.results.match for p in comparison.parts}.values():
            if match:
                note_other_sets(match)


def is_entry(text: str) -> bool:
    """Whether an argument is NAME=RUN:QRELS; a measure has ``=`` only inside parentheses."""
    return "=" in text.partition("(")[0]


def split_entry(text: str, sources: OpenedOnce) -> Entry:
    """The name, the run and the qrels of NAME=RUN:QRELS, whose files may have colons too.

    NAME=SCORES has no qrels; the file is opened to see that, and kept in ``sources``.

    Raises
    ------
    UsageError
        If a part is missing.
    """
    name, _, files = text.partition("=")
    if name and (
        files == STANDARD_INPUT
        or is_pipe(files)
        or (os.path.isfile(files) and is_score_file(sources[files]))
    ):
        return name, files, None
    cuts = [i for i, c in enumerate(files) if c == ":" and 0 < i < len(files) - 1]
    if not name or not cuts:
        raise UsageError(f"cannot read {text!r}: write NAME=RUN:QRELS, or NAME=SCORES")
    cut = next((i for i in cuts if os.path.exists(files[:i])), cuts[0])
    return name, files[:cut], files[cut + 1 :]


def open_entries(entries: list[Entry], sources: OpenedOnce) -> list[OpenedEntry]:
    """The entries with their files opened; ir_datasets ids, and what is not there, as they are.

    Raises
    ------
    InputError
        If one cannot be read.
    UsageError
        If standard input is more than one run, or a run and qrels.
    """
    check_read_once([*(run for _, run, _ in entries), *{qrels for *_, qrels in entries}])

    def opened(name: str) -> Source | str:
        return sources[name] if name == STANDARD_INPUT or os.path.lexists(name) else name

    return [
        (name, opened(run), None if qrels is None else opened(qrels))
        for name, run, qrels in entries
    ]


def check_picture(file: str, inputs: list[str], force: bool) -> None:
    """Check that a picture can be drawn into a file.

    Raises
    ------
    InputError
        If it is there already, or one of the inputs.
    UsageError
        If its name does not end in a known format.
    """
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
