"""Evaluate runs: raw and standardized scores in one pass.

Runs and qrels may come in any order; they are told apart by their columns (6 and 4).  QRELS may
be an ir_datasets id, - is standard input, a folder stands for all files below it but hidden ones.
Scores by topic that another program computed serve in place of a run, and need no qrels; so does
SET/SYSTEM, one of a factor set's systems (ir_std factors systems SET), which needs no file.
Without measures, those of the recognized factor set are reported.
Other commands, each with --help: ir_std agree, build, compare, demo, diff, factors, leaderboard,
merge, report.
"""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ir_measures.measures import Measure

from ir_std.cli.inputs import Inputs, as_parsed, classify_arguments, input_name
from ir_std.cli.mteb import is_asked_by_task, print_task_tables
from ir_std.cli.options import (
    EVALUATION,
    TABLES,
    TESTS,
    add_options,
    check_alpha,
    check_baseline_given,
    check_places,
)
from ir_std.cli.output import (
    LINE_FORMATS,
    LineWriter,
    print_factors_used,
    print_messages,
    print_table,
)
from ir_std.cli.streams import progress, warn
from ir_std.cli.trec_eval import add_trec_eval_options, read_measures, requested_measures
from ir_std.cli.trec_eval_lines import (
    FORM,
    OF_RUN,
    TrecEvalLines,
    add_form_options,
    as_in_version,
    check_form,
    judgments_of_run,
    run_in_version,
)
from ir_std.errors import UsageError
from ir_std.evaluation.api import evaluator_for, select_factors
from ir_std.evaluation.inputs import inputs_by_name, judgments_for, left_out
from ir_std.evaluation.parallel import evaluate_runs
from ir_std.measures import sign_of
from ir_std.reading import STANDARD_INPUT, STANDARD_INPUT_NAME, Source
from ir_std.schemes import scheme_names
from ir_std.scores.inputs import keep_duplicates
from ir_std.scores.run_scores import RunScores

# Tables and tests are imported where they are asked for: a plain evaluation should start at once.
if TYPE_CHECKING:
    from ir_std.evaluation.evaluator import StdEvaluator
    from ir_std.reporting.results import Results
    from ir_std.reporting.tables import Table


WITH_RANKS = (*TABLES, "jsonl")
"""The forms of output that hold ranks."""


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.usage = "%(prog)s RUN [RUN ...] QRELS [MEASURE ...] [options]"
    parser.add_argument(
        "inputs",
        nargs="+",
        metavar="RUN|QRELS|MEASURE",
        help="run files, one qrels file or ir_datasets id, measures",
    )
    add_options(parser, *EVALUATION)
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
        choices=[*LINE_FORMATS, FORM, *TABLES],
        default="tsv",
        help="form of the output (default tsv); trec_eval prints one run as trec_eval 10 does",
    )
    add_form_options(parser)
    add_options(parser, "--jobs")
    parser.add_argument("--raw", action="store_true", help="raw scores only")
    parser.add_argument(
        "--sort",
        metavar="MEASURE",
        help="the run with the highest mean first, in tables and jsonl with its rank and the "
        "ranks that paired comparisons do not rule out; equal means share a rank",
    )
    add_options(parser, "--simultaneous")
    parser.add_argument(
        "--baseline",
        metavar="RUN|SET/SYSTEM|best",
        help="in tables: mark what differs significantly from this run, or system of a set; best: "
        "from the set's best by the first measure",
    )
    add_options(parser, "--test", "--correction")
    parser.add_argument(
        "--fail-if-worse",
        type=float,
        metavar="ALPHA",
        help="with --baseline: exit with status 1 if a run is worse by a measure, p < ALPHA, as a "
        "check of a new version wants it",
    )
    parser.add_argument(
        "--benchmark",
        metavar="NAME",
        help="of results of MTEB: the tasks of this benchmark, as 'MTEB(eng, v2)', and the "
        "model's place over them",
    )
    parser.add_argument(
        "--place",
        action="store_true",
        help="beside each mean, and with -q each value, where the run ranks among "
        "the standardizing systems",
    )


def run(args: Namespace) -> int:
    """Evaluate and print; 1 if a run is worse than ``--fail-if-worse`` allows."""
    if args.no_summary and not args.by_query:
        raise UsageError("-n leaves out the means, and without -q there is nothing else: add -q")
    check_places(args.places)
    check_form(args)
    if args.simultaneous and (args.sort is None or args.output_format not in WITH_RANKS):
        raise UsageError(
            "--simultaneous is of the intervals of ranks: add --sort MEASURE and "
            f"-o {'|'.join(WITH_RANKS)}"
        )
    if is_asked_by_task(args):
        print_task_tables(args)
        return 0
    if args.output_format not in TABLES:
        for lines in lines_by_run(args):
            print(lines)
        return 0
    results, table = results_and_table(args)
    print_table(table, args.output_format)
    worse = list(worse_runs(results, args.fail_if_worse)) if args.fail_if_worse else []
    for text in worse:
        warn(text)
    return int(bool(worse))


def worse_runs(results: Results, alpha: float) -> Iterator[str]:
    """Which runs are significantly worse than the baseline, by which measures."""
    for run_name, tests in results.tests.items():
        worse = [
            f"{measure} {test.difference:+.4f} (p {test.p_adjusted:.2g})"
            for measure, test in tests.items()
            if sign_of(measure) * test.difference < 0 and test.p_adjusted < alpha
        ]
        if worse:
            yield f"{run_name} is significantly worse than {results.baseline}: {', '.join(worse)}"


def results_and_table(args: Namespace) -> tuple[Results, Table]:
    """The runs evaluated, and as a table."""
    check_baseline_given(args, "test", "correction", "fail-if-worse")
    check_alpha(args.fail_if_worse)
    if args.baseline and args.no_summary:
        raise UsageError("--baseline marks means, and -n leaves them out: leave out one of them")
    inputs, measures = parse_arguments(args)
    sort = parse_sort_measure(args, inputs)
    results = compute_results(inputs, measures, _schemes(args), args)
    return results, results.table(
        args.places, sort=sort, by_topic=args.by_query, means=not args.no_summary, place=args.place
    )


def lines_by_run(args: Namespace) -> Iterator[str]:
    """The lines of each run, in the order of the runs."""
    check_baseline_given(args, "test", "correction", "fail-if-worse")
    if args.baseline:
        raise UsageError(f"--baseline marks differences in tables: add -o {'|'.join(TABLES)}")
    inputs, measures = parse_arguments(args)
    sort = parse_sort_measure(args, inputs)
    given = read_runs(inputs, args.measure, args.duplicates)
    runs = run_in_version(given, args.trec_eval) if args.output_format == FORM else given
    evaluator = make_evaluator(runs, inputs.qrels, measures, args)
    # All runs are evaluated before the first line is printed: a broken one leaves nothing.
    with progress(len(runs)) as counted:
        evaluations = list(counted(evaluate_runs(evaluator, runs, args.jobs, depth=args.depth)))
    by_run = {evaluation.run: evaluation for evaluation in evaluations}
    writer: LineWriter | TrecEvalLines = (
        TrecEvalLines(evaluator, given, args)
        if args.output_format == FORM
        else LineWriter(evaluator, args, len(given) > 1)
    )
    if sort is not None:
        from ir_std.reporting.evaluated_runs import EvaluatedRuns
        from ir_std.reporting.run_ranks import ranked_by

        results = EvaluatedRuns(evaluator, by_run, simultaneous=args.simultaneous)
        by_run = {run: by_run[run] for run in ranked_by(results.means, sort)}
        if isinstance(writer, LineWriter):
            writer.ranks = results.ranks
    for evaluation in by_run.values():
        yield writer.text(evaluation)
    print_messages(message for evaluation in evaluations for message in evaluation.messages)


def make_evaluator(
    runs: Mapping[str, Any], qrels: Source | str | None, measures: list[Measure], args: Namespace
) -> StdEvaluator:
    """The evaluator that the options ask for; says which factors it uses."""
    schemes = _schemes(args)
    judgments = judgments_for(runs.values(), qrels)
    if args.topics == OF_RUN:
        judgments = judgments_of_run(judgments, runs)
    without = left_out(args.without, runs.values())
    evaluator = evaluator_for(
        judgments,
        measures or None,
        schemes,
        select_factors(judgments, args.factors, systems=args.systems, without=without),
        runs.values(),
        args.residual,
        args.lower_is_better,
    )
    print_factors_used(evaluator, bool(schemes or args.place), args.verbose)
    return evaluator


def parse_sort_measure(args: Namespace, inputs: Inputs) -> Measure | None:
    """The measure of ``--sort``."""
    if args.sort is None:
        return None
    (text,) = as_parsed([args.sort], inputs.runs, args.measure)
    measures = read_measures(text, level=args.level)
    if len(measures) != 1:
        raise UsageError(f"--sort {args.sort}: give one measure")
    return measures[0]


def _schemes(args: Namespace) -> tuple[str, ...]:
    return () if args.raw else scheme_names(args.scheme)


def parse_arguments(args: Namespace) -> tuple[Inputs, list[Measure]]:
    """What the arguments name, and the measures, at the level of ``-l``."""
    inputs = classify_arguments(args.inputs, args.measure)
    args.measures = as_parsed(args.measures, inputs.runs, args.measure)
    if getattr(args, "output_format", "") != FORM:
        return inputs, requested_measures(args, inputs.measures)
    args.official = not (inputs.measures or args.measures)
    measures = requested_measures(args, ["official"] if args.official else inputs.measures)
    return inputs, as_in_version(measures, args.trec_eval)


def read_runs(inputs: Inputs, measure: str | None, duplicates: str) -> dict[str, Any]:
    """Runs and scores by name."""
    runs = keep_duplicates(inputs_by_name(inputs.named, measure), duplicates)
    if measure is not None and not any(isinstance(run, RunScores) for run in runs.values()):
        raise UsageError(
            f"--measure is of tables of scores, and these are runs: to evaluate by "
            f"{measure} add -m {measure}"
        )
    return runs


def compute_results(
    inputs: Inputs, measures: list[Measure], schemes: tuple[str, ...], args: Namespace
) -> Results:
    """Evaluate all runs, and say which factors they use."""
    from ir_std.reporting.results import evaluate

    by_path = {os.path.realpath(input_name(file)): name for name, file in inputs.named.items()}
    runs = read_runs(inputs, args.measure, args.duplicates)
    given = STANDARD_INPUT_NAME if args.baseline == STANDARD_INPUT else args.baseline
    baseline = given and by_path.get(os.path.realpath(given), given)
    with progress(len(runs)) as counted:
        results = evaluate(
            runs,
            inputs.qrels,
            measures or None,
            schemes,
            factors=args.factors,
            systems=args.systems,
            without=args.without,
            residual=args.residual,
            baseline=baseline,
            test=args.test or TESTS[0],
            correction=args.correction,
            simultaneous=args.simultaneous,
            depth=args.depth,
            jobs=args.jobs,
            progress=counted,
            lower_is_better=args.lower_is_better,
            duplicates=args.duplicates,
        )
    standardizes = bool(schemes or getattr(args, "place", False))
    print_factors_used(results.evaluator, standardizes, args.verbose)
    return results
