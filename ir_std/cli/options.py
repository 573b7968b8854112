"""Options that several commands have, and what holds for their values."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence

from ir_std.cli.trec_eval import add_trec_eval_options
from ir_std.errors import UsageError

TESTS, CORRECTIONS = ("t", "randomization", "tukey"), ("holm", "bonferroni", "none")
"""Those of :mod:`ir_std.analysis.paired`."""
SUMMARIES = ("pm", "reml")
"""Those of :mod:`ir_std.reporting.system_effects`."""
TABLES = ("table", "markdown", "latex", "csv")
"""The output formats that are tables: those of :data:`ir_std.reporting.tables.WRITERS`."""


def add_scheme_option(parser: ArgumentParser) -> None:
    """Declare ``-s``."""
    parser.add_argument(
        "-s",
        "--scheme",
        "--schemes",
        default="N",
        metavar="N,U,E,z|all",
        help="standardization schemes (default N)",
    )


def add_verbose_option(parser: ArgumentParser) -> None:
    """Declare ``-v``."""
    parser.add_argument(
        "-v", "--verbose", action="store_true", help="also which other factor sets would fit"
    )


def add_factor_options(parser: ArgumentParser) -> None:
    """Declare which factors are used: of which scheme, set and systems."""
    add_scheme_option(parser)
    parser.add_argument(
        "--factors",
        metavar="ID|PATH",
        help="the factor set to use (default: recognized from the qrels)",
    )
    add_verbose_option(parser)
    add_systems_option(parser)
    parser.add_argument(
        "--without",
        metavar="TAG",
        action="append",
        default=[],
        help="leave a system out of the factors (once for each); self: those of the set that are "
        "evaluated; low: those whose means are far below the others'",
    )
    add_residual_option(parser)


def add_systems_option(parser: ArgumentParser) -> None:
    """Declare ``--systems``."""
    parser.add_argument(
        "--systems",
        metavar="KIND|FILE",
        help="other systems on the same topics, as modern, where there are "
        "such; or a file of names, one a line: these of the set's alone",
    )


def add_residual_option(parser: ArgumentParser) -> None:
    """Declare ``--residual``."""
    parser.add_argument(
        "--residual",
        action="store_true",
        help="of residual collections: without documents judged in earlier rounds",
    )


def add_evaluation_options(parser: ArgumentParser) -> None:
    """Declare what holds for the evaluation of runs: factors, measures, and what counts."""
    add_factor_options(parser)
    parser.add_argument(
        "--measure", metavar="NAME", help="the measure of a table of scores whose columns are runs"
    )
    add_lower_option(parser)
    add_duplicates_option(parser)
    add_trec_eval_options(parser)


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


def add_duplicates_option(parser: ArgumentParser) -> None:
    """Declare ``--duplicates``."""
    parser.add_argument(
        "--duplicates",
        choices=("error", "first", "last"),
        default="error",
        help="what counts where a run has a document twice in a topic (default error)",
    )


def add_queries_option(parser: ArgumentParser) -> None:
    """Declare ``--queries``."""
    parser.add_argument(
        "--queries",
        metavar="ID|FILE",
        help="texts of the queries: an ir_datasets id, which may download them, or a file of "
        "lines, an id, a tab and a text, or of JSON records",
    )


def add_lower_option(parser: ArgumentParser) -> None:
    """Declare ``--lower-is-better``."""
    parser.add_argument(
        "--lower-is-better",
        metavar="NAME",
        action="append",
        default=[],
        help="less is better by this measure, which ir_measures does not know (once for each)",
    )


def add_jobs_option(parser: ArgumentParser) -> None:
    """Declare ``--jobs``."""
    parser.add_argument(
        "--jobs",
        type=int,
        metavar="N",
        help="processes for several runs (default: chosen automatically)",
    )


def add_test_options(parser: ArgumentParser) -> None:
    """Declare how runs are tested against the baseline."""
    parser.add_argument(
        "--test",
        choices=TESTS,
        help="paired test against the baseline (default t; tukey: Tukey's HSD of "
        "all pairs, each by its own variance)",
    )
    parser.add_argument(
        "--correction",
        choices=CORRECTIONS,
        help="of the p-values, for the number of runs that are tested by one "
        "measure (default holm; tukey needs none and takes none)",
    )


def add_simultaneous_option(parser: ArgumentParser) -> None:
    """Declare ``--simultaneous``."""
    parser.add_argument(
        "--simultaneous",
        action="store_true",
        help="intervals of ranks that hold for all runs at once, not each by itself",
    )


def add_random_effects_option(parser: ArgumentParser) -> None:
    """Declare how differences on several collections are summarized."""
    parser.add_argument(
        "--random-effects",
        choices=SUMMARIES,
        help="how the summary over collections estimates the variance between them: pm, Paule "
        "and Mandel (default), or reml, restricted maximum likelihood",
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
