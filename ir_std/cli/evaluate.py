"""Evaluate runs: raw and standardized scores in one pass.

Runs and qrels may come in any order; they are told apart by their columns (6 and 4).  QRELS may
be an ir_datasets id, - is standard input, a folder stands for all files below it but hidden ones.
Without measures, those of the recognized factor set are reported.
Other commands, each with --help: ir_std build, compare, demo, factors, merge, report.
"""

from __future__ import annotations

import json
import math
import os
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ir_measures.measures import Measure

from ir_std._system.text import escape_line
from ir_std.cli.batch import LineOptions, OutputLine, line_formatter
from ir_std.cli.inputs import Inputs, classify_arguments, input_name
from ir_std.cli.streams import note, progress, warn
from ir_std.cli.trec_eval import add_trec_eval_options, read_measures, requested_measures
from ir_std.errors import UsageError
from ir_std.evaluation.api import evaluator_for, select_factors
from ir_std.evaluation.evaluation import Evaluation
from ir_std.evaluation.evaluator import StdEvaluator
from ir_std.evaluation.messages import Message, message_texts
from ir_std.evaluation.parallel import evaluate_runs
from ir_std.factors.recognition import Match
from ir_std.reading import STANDARD_INPUT, STANDARD_INPUT_NAME
from ir_std.schemes import scheme_names
from ir_std.scores.inputs import qrels_or_counts, runs_by_name
from ir_std.scores.run_scores import RunScores

# Tables and tests are imported where they are asked for: a plain evaluation should start at once.
if TYPE_CHECKING:
    from ir_std.reporting.results import Results
    from ir_std.reporting.tables import Table


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.usage = "%(prog)s RUN [RUN ...] QRELS [MEASURE ...] [options]"
    parser.add_argument(
        "inputs",
        nargs="+",
        metavar="RUN|QRELS|MEASURE",
        help="run files, one qrels file or ir_datasets id, measures",
    )
    add_factor_options(parser)
    add_measure_option(parser)
    add_trec_eval_options(parser)
    parser.add_argument(
        "-q", "--by-query", "--by_query", action="store_true", help="values by topic too"
    )
    parser.add_argument(
        "-n", "--no-summary", "--no_summary", action="store_true", help="with -q: without the means"
    )
    parser.add_argument(
        "-p",
        "--places",
        type=int,
        default=4,
        help="decimals (default 4; -1 for all; csv and jsonl have all)",
    )
    parser.add_argument(
        "-o",
        "--output",
        "--output-format",
        "--output_format",
        dest="output_format",
        choices=[*FORMATS, *TABLES],
        default="tsv",
        help="form of the output (default tsv)",
    )
    add_jobs_option(parser)
    parser.add_argument("--raw", action="store_true", help="raw scores only")
    parser.add_argument(
        "--sort",
        metavar="MEASURE",
        help="the run with the highest mean first, in tables with ranks; equal "
        "means share a rank and stay in the order given",
    )
    parser.add_argument(
        "--baseline", metavar="RUN", help="in tables: mark what differs significantly from this run"
    )
    add_test_options(parser)
    parser.add_argument(
        "--place",
        action="store_true",
        help="beside each mean, and with -q each value, where the run ranks among "
        "the standardizing systems",
    )


def add_test_options(parser: ArgumentParser) -> None:
    """Declare how runs are tested against the baseline."""
    parser.add_argument(
        "--test",
        choices=TESTS,
        help="paired test against the baseline (default t; tukey: Tukey's HSD of "
        "all pairs, topics as blocks)",
    )
    parser.add_argument(
        "--correction",
        choices=CORRECTIONS,
        help="of the p-values, for the number of runs that are tested by one "
        "measure (default holm; tukey needs none and takes none)",
    )


def add_verbose_option(parser: ArgumentParser) -> None:
    """Declare ``-v``."""
    parser.add_argument(
        "-v", "--verbose", action="store_true", help="also which other factor sets would fit"
    )


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


def add_factor_options(parser: ArgumentParser) -> None:
    """Declare which factors are used: of which scheme, set and systems."""
    add_scheme_option(parser)
    parser.add_argument(
        "--factors",
        metavar="ID|PATH",
        help="the factor set to use (default: recognized from the qrels)",
    )
    add_verbose_option(parser)
    parser.add_argument(
        "--systems",
        metavar="KIND|FILE",
        help="other systems on the same topics, as modern, where there are "
        "such; or a file of names, one a line: these of the set's alone",
    )
    parser.add_argument(
        "--without",
        metavar="TAG",
        action="append",
        default=[],
        help="leave a system out of the factors (once for each)",
    )


def add_measure_option(parser: ArgumentParser) -> None:
    """Declare ``--measure``."""
    parser.add_argument(
        "--measure", metavar="NAME", help="the measure of a table of scores whose columns are runs"
    )


def add_jobs_option(parser: ArgumentParser) -> None:
    """Declare ``--jobs``."""
    parser.add_argument(
        "--jobs", type=int, metavar="N", help="processes for several runs (default: as many as pay)"
    )


def run(args: Namespace) -> None:
    """Evaluate and print."""
    if args.no_summary and not args.by_query:
        raise UsageError("-n leaves out the means, and without -q there is nothing else: add -q")
    check_places(args.places)
    if args.output_format in TABLES:
        print_table(results_table(args), args.output_format)
    else:
        for block in output_blocks(args):
            print(block)


def check_baseline_given(args: Namespace, *options: str) -> None:
    """Check that there is a baseline, if one of these options is given.

    Raises
    ------
    UsageError
        If there is none.
    """
    for option in options:
        if getattr(args, option) and args.baseline is None:
            raise UsageError(f"--{option} is of differences from a baseline: add --baseline NAME")


def check_places(places: int) -> None:
    """Check a number of decimals.

    Raises
    ------
    UsageError
        If there can be no such number.
    """
    if not -1 <= places <= 1000:
        raise UsageError(
            f"--places is {places}: give the number of decimals, at most 1000, or -1 for all"
        )


def print_table(shown: Table, form: str) -> None:
    """Print a table; what stands below one, and CSV has no place for, beside it."""
    from ir_std.reporting.tables import WRITERS

    print(WRITERS[form](shown))
    if form == "csv":
        for text in shown.notes:
            note(text)


def results_table(args: Namespace) -> Table:
    """The runs as a table.

    Raises
    ------
    UsageError
        If an option does not go with a table.
    """
    check_baseline_given(args, "test", "correction")
    if args.baseline and args.no_summary:
        raise UsageError("--baseline marks means, and -n leaves them out: leave out one of them")
    sort = sort_measure(args)
    results = evaluate_inputs(*parse_inputs(args), _schemes(args), args)
    return results.table(
        args.places, sort=sort, by_topic=args.by_query, means=not args.no_summary, place=args.place
    )


def output_blocks(args: Namespace) -> Iterator[str]:
    """The lines of each run, in the order of the runs.

    Raises
    ------
    UsageError
        If an option does not go with lines.
    """
    check_baseline_given(args, "test", "correction")
    if args.baseline:
        raise UsageError(f"--baseline marks differences in tables: add -o {'|'.join(TABLES)}")
    sort, (inputs, measures) = sort_measure(args), parse_inputs(args)
    schemes, runs = _schemes(args), read_runs(inputs, args.measure)
    judgments = qrels_or_counts(runs.values(), inputs.qrels)
    chosen = select_factors(judgments, args.factors, systems=args.systems, without=args.without)
    evaluator = evaluator_for(judgments, measures or None, schemes, chosen, runs.values())
    _tell(evaluator, bool(schemes or args.place), args.verbose)
    # All runs are evaluated before the first line is printed: a broken one leaves nothing.
    with progress(len(runs)) as counted:
        evaluated = list(counted(evaluate_runs(evaluator, runs, args.jobs, depth=args.depth)))
    lines = line_formatter(evaluator, LineOptions(args.by_query, not args.no_summary, args.place))
    written = FORMATS[args.output_format]
    for found in evaluated if sort is None else sort_by_mean(evaluated, sort):
        yield "\n".join(written(found.run, line, args, len(runs) > 1) for line in lines(found))
    _say(message for found in evaluated for message in found.messages)


def sort_measure(args: Namespace) -> Measure | None:
    """The measure of ``--sort``.

    Raises
    ------
    UsageError
        If it is not one measure.
    """
    if args.sort is None:
        return None
    found = read_measures(args.sort, args.level)
    if len(found) != 1:
        raise UsageError(f"--sort {args.sort}: give one measure")
    return found[0]


def sort_by_mean(evaluated: Iterable[Evaluation], measure: Measure) -> list[Evaluation]:
    """Runs by their mean, as tables rank them.

    Raises
    ------
    UsageError
        If they were not evaluated by this measure.
    """
    from ir_std.reporting.result_tables import ranked_by

    by_run = {found.run: found for found in evaluated}
    return [by_run[run] for run in ranked_by({r: f.means for r, f in by_run.items()}, measure)]


def _schemes(args: Namespace) -> tuple[str, ...]:
    return () if args.raw else scheme_names(args.scheme)


def parse_inputs(args: Namespace) -> tuple[Inputs, list[Measure]]:
    """What the arguments name, and the measures, at the level of ``-l``."""
    inputs = classify_arguments(args.inputs)
    return inputs, requested_measures(args, inputs.measures)


def read_runs(inputs: Inputs, measure: str | None) -> dict[str, Any]:
    """Runs and scores by name.

    Raises
    ------
    UsageError
        If ``--measure`` is given, and nothing is there that it could be of.
    """
    runs = runs_by_name(inputs.named, measure)
    if measure is not None and not any(isinstance(run, RunScores) for run in runs.values()):
        raise UsageError(
            f"--measure is of tables of scores, and these are runs: to evaluate by "
            f"{measure} add -m {measure}"
        )
    return runs


def evaluate_inputs(
    inputs: Inputs, measures: list[Measure], schemes: tuple[str, ...], args: Namespace
) -> Results:
    """The results of all runs, after telling which factors they use.

    Raises
    ------
    UsageError
        If the baseline is not one of the runs.
    """
    from ir_std.reporting.results import evaluate as evaluate_all

    by_path = {os.path.realpath(input_name(file)): name for name, file in inputs.named.items()}
    runs = read_runs(inputs, args.measure)
    given = STANDARD_INPUT_NAME if args.baseline == STANDARD_INPUT else args.baseline
    baseline = given and by_path.get(os.path.realpath(given), given)
    with progress(len(runs)) as counted:
        results = evaluate_all(
            runs,
            inputs.qrels,
            measures or None,
            schemes,
            factors=args.factors,
            systems=args.systems,
            without=args.without,
            baseline=baseline,
            test=args.test or TESTS[0],
            correction=args.correction,
            depth=args.depth,
            jobs=args.jobs,
            progress=counted,
        )
    _tell(results.evaluator, bool(schemes or getattr(args, "place", False)), args.verbose)
    return results


def _tell(evaluator: StdEvaluator, standardizes: bool, verbose: bool) -> None:
    """Say which factors are used, unless nothing is to be standardized or placed."""
    if standardizes or evaluator.plans:
        for match in evaluator.matches:
            note(match.summary)
            if verbose:
                note_other_sets(match)
    _say(evaluator.messages)


def note_other_sets(match: Match) -> None:
    """Say which other sets would fit."""
    if match.others:
        note(f"{', '.join(match.others)} would fit too: --factors takes one")


def _say(messages: Iterable[Message]) -> None:
    messages = list(messages)
    for text in message_texts(messages, False):
        note(text)
    for text in message_texts(messages, True):
        warn(text)


def _tsv(run: str, line: OutputLine, args: Namespace, several: bool) -> str:
    value = f"{line.value}" if args.places == -1 else f"{line.value:.{args.places}f}"
    fields = [
        escape_line(f)
        for f in [run] * several + [line.topic] * args.by_query + [line.measure, value]
    ]
    return "\t".join([*fields, line.place] if line.place else fields)


def _jsonl(run: str, line: OutputLine, args: Namespace, several: bool) -> str:
    fields = {
        "run": run,
        "query_id": line.topic,
        "measure": line.measure,
        "value": None if math.isnan(line.value) else line.value,
    }
    if not several:
        del fields["run"]
    if not args.by_query:
        del fields["query_id"]
    if line.place:
        fields["place"] = line.place
    return json.dumps(fields, ensure_ascii=False)


FORMATS: dict[str, Callable[[str, OutputLine, Namespace, bool], str]] = {
    "tsv": _tsv,
    "jsonl": _jsonl,
}
"""How a line is printed, by the name of the output format."""
TESTS, CORRECTIONS = ("t", "randomization", "tukey"), ("holm", "bonferroni", "none")
"""Those of :mod:`ir_std.analysis.paired` and :mod:`ir_std.analysis.corrections`."""
TABLES = ("table", "markdown", "latex", "csv")
"""The output formats that are tables: those of :data:`ir_std.reporting.tables.WRITERS`."""
