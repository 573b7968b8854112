"""Options that several commands have, and what holds for their values."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ir_std.errors import UsageError

TESTS, CORRECTIONS = ("t", "randomization", "tukey"), ("holm", "bonferroni", "none")
"""Those of :mod:`ir_std.analysis.paired`."""
SUMMARIES = ("pm", "reml")
"""Those of :mod:`ir_std.reporting.system_effects`."""
TABLES = ("table", "markdown", "latex", "csv")
"""The output formats that are tables: those of :data:`ir_std.reporting.tables.WRITERS`."""


class Option(NamedTuple):
    """What argparse is told of an option."""

    flags: tuple[str, ...]
    settings: Mapping[str, Any]


def _option(*flags: str, **settings: Any) -> Option:
    return Option(flags, settings)


_OPTIONS = (
    _option(
        "-s",
        "--scheme",
        "--schemes",
        default="N",
        metavar="N,U,E,z|all",
        help="standardization schemes (default N)",
    ),
    _option(
        "--factors",
        metavar="ID|PATH",
        help="the factor set to use (default: recognized from the qrels)",
    ),
    _option("-v", "--verbose", action="store_true", help="also which other factor sets would fit"),
    _option(
        "--systems",
        metavar="KIND|FILE",
        help="other systems on the same topics, as modern, where there are "
        "such; or a file of names, one a line: these of the set's alone",
    ),
    _option(
        "--without",
        metavar="TAG",
        action="append",
        default=[],
        help="leave a system out of the factors (once for each); self: those of the set that are "
        "evaluated; low: those whose means are far below the others'",
    ),
    _option(
        "--residual",
        action="store_true",
        help="of residual collections: without documents judged in earlier rounds",
    ),
    _option(
        "--measure", metavar="NAME", help="the measure of a table of scores whose columns are runs"
    ),
    _option(
        "--lower-is-better",
        metavar="NAME",
        action="append",
        default=[],
        help="less is better by this measure, which ir_measures does not know (once for each)",
    ),
    _option(
        "--duplicates",
        choices=("error", "first", "last"),
        default="error",
        help="what counts where a run has a document twice in a topic (default error)",
    ),
    _option(
        "--queries",
        metavar="ID|FILE",
        help="texts of the queries: an ir_datasets id, which may download them, or a file of "
        "lines, an id, a tab and a text, or of JSON records",
    ),
    _option(
        "--jobs",
        type=int,
        metavar="N",
        help="processes for several runs (default: chosen automatically)",
    ),
    _option(
        "--test",
        choices=TESTS,
        help="paired test against the baseline (default t; tukey: Tukey's HSD of "
        "all pairs, each by its own variance)",
    ),
    _option(
        "--correction",
        choices=CORRECTIONS,
        help="of the p-values, for the number of runs that are tested by one "
        "measure (default holm; tukey needs none and takes none)",
    ),
    _option(
        "--simultaneous",
        action="store_true",
        help="intervals of ranks that hold for all runs at once, not each by itself",
    ),
    _option(
        "--random-effects",
        choices=SUMMARIES,
        help="how the summary over collections estimates the variance between them: pm, Paule "
        "and Mandel (default), or reml, restricted maximum likelihood",
    ),
    _option(
        "--anchor",
        metavar="NAME",
        action="append",
        default=[],
        help="link the collections to one scale by this system, which ran on all of them "
        "(once for each; three or more are better)",
    ),
    _option(
        "--reference",
        metavar="COLLECTION",
        help="with --anchor: the collection on whose scale scores are put (default: the one with "
        "the strongest systems)",
    ),
)
OPTIONS = {flag: option for option in _OPTIONS for flag in option.flags}
"""The options that several commands have, by each of their flags."""
FACTORS = ("--scheme", "--factors", "--verbose", "--systems", "--without", "--residual")
"""Which factors are used: of which scheme, set and systems."""
EVALUATION = (*FACTORS, "--measure", "--lower-is-better", "--duplicates")
"""What holds for the evaluation of runs."""
LINK = ("--anchor", "--reference")
"""How several collections are put on one scale."""


def add_options(parser: ArgumentParser, *flags: str) -> None:
    """Declare some of :data:`OPTIONS`, in this order."""
    for flag in flags:
        option = OPTIONS[flag]
        parser.add_argument(*option.flags, **option.settings)


def add_table_options(
    parser: ArgumentParser, *others: str, names: Sequence[str] = ("-o",), places: int = 4
) -> None:
    """Declare ``-p`` and ``-o`` of a command that prints tables, or ``others`` in their place."""
    parser.add_argument(
        "-p",
        "--places",
        type=int,
        default=places,
        help=f"decimals (default {places}; -1 for all; csv has all)",
    )
    parser.add_argument(
        *names,
        dest="output_format",
        choices=(*TABLES, *others),
        default="table",
        help="form of the output (default table)",
    )


def check_baseline_given(args: Namespace, *options: str) -> None:
    """Check that there is a baseline, if one of these options is given."""
    for option in options:
        if getattr(args, option.replace("-", "_")) and args.baseline is None:
            raise UsageError(f"--{option} is of differences from a baseline: add --baseline NAME")


def check_alpha(alpha: float | None) -> None:
    """Check a level of significance, where one is given."""
    if alpha is not None and not 0 < alpha < 1:
        raise UsageError(f"--fail-if-worse is {alpha}: give a level between 0 and 1, such as 0.05")


def check_places(places: int) -> None:
    """Check a number of decimals."""
    if not -1 <= places <= 1000:
        raise UsageError(
            f"--places is {places}: give the number of decimals, at most 1000, or -1 for all"
        )
