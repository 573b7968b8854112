"""Evaluate runs by raw and standardized scores in one pass."""

import os
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator
from typing import Any

from ir_std.cli import output
from ir_std.cli.inputs import Inputs, read_inputs
from ir_std.cli.options import call
from ir_std.cli.streams import note, progress, warn
from ir_std.errors import UsageError, abbreviate, join_with_and, look_up
from ir_std.evaluation.factor_messages import factors_used
from ir_std.measures import main_score, sign_of
from ir_std.reading import STANDARD_INPUT, STANDARD_INPUT_NAME
from ir_std.reporting.model import Results
from ir_std.reporting.results import evaluate
from ir_std.scores.mteb import MODEL_META
from ir_std.scores.run_scores import RunScores

PER_MEASURE_OPTIONS = (
    "benchmark", "output", "factors", "by_query", "place", "sort", "baseline", "without"
)  # fmt: skip
"""If one of these options is given, ir_std prints values per measure, and no table of MTEB's
tasks."""
HELP = """
usage: ir_std RUN [RUN ...] QRELS [MEASURE ...] [options]

  ir_std bm25.run dl19.qrels nDCG@10 AP                    one run
  ir_std runs/ dl19.qrels --sort nDCG@10 --baseline bm25   all runs in a folder, ranked and tested
  ir_std dl19-passage/bm25base_p nDCG@10 --place           a system of a factor set, without files

Arguments can be in any order.  RUN is a file (6 columns), a folder, - (standard input), per-topic
scores from another program (no qrels needed), or SET/SYSTEM ('SET/*' for all systems of a set).
QRELS is a file (4 columns) or an ir_datasets ID.  If you name no measures, ir_std reports the
default measures of the factor set.  The other commands are agree, build, compare, correct, diff,
factors, merge and report.

input:
  --duplicates -M --jobs

measures:
  -m -l -c --lower-is-better

standardization:
  --scheme --factors --systems --without --residual --benchmark

output:
  -o, --output {tsv,jsonl,trec_eval,table,markdown,latex,csv,html}
                        output format (default table for several runs on a terminal, else tsv)
  -q, --by-query        also print per-topic values
  -n, --no-summary      do not print means (requires -q)
  --places
  --place               also print where the run ranks among the reference systems
  --sort MEASURE        sort runs by mean, best first, and show their ranks in tables and jsonl
  --verbose
  --quiet               do not print notes, only warnings

comparison:
  --baseline RUN|SET/SYSTEM|best
                        test differences from this run (best is the best system of the factor set)
  --test --correction --equivalent
  --fail-if-worse ALPHA  exit with status 1 if a run is significantly worse (p < ALPHA)
"""


def run(args: Namespace) -> int:
    """Evaluate and print runs; return 1 if ``--fail-if-worse`` finds a significantly worse run."""
    _check_options(args)
    if wants_task_table(args):
        _print_task_table(args)
        return 0
    inputs = read_inputs(args)
    several = len(inputs.runs) > 1 or args.baseline is not None
    form = args.output or ("table" if several and sys.stdout.isatty() else "tsv")
    given = output.prepare(inputs, args) if form == output.TREC_EVAL_FORMAT else inputs
    results = evaluate_inputs(given, args)
    if args.place and not results.collection.plans:
        # These factors are used only to place runs.
        for match in results.collection.evaluator.matches:
            note(factors_used(match, ()))
    if form == output.TREC_EVAL_FORMAT:
        print("\n".join(output.trec_eval_lines(results, output.tag_of(inputs), args)))
    elif form in output.LINE_FORMATS:
        output.print_lines(results, inputs.sort, form, args)
    else:
        means = not args.no_summary
        table = call(results.table, args, sort=inputs.sort, by_topic=args.by_query, means=means)
        output.print_tables([table], form)
    if args.fail_if_worse is None:
        return 0
    worse = list(worse_runs(results, args.fail_if_worse))
    for text in worse:
        warn(text)
    return int(bool(worse))


def _check_options(args: Namespace) -> None:
    if args.no_summary and not args.by_query:
        raise UsageError("-n without -q leaves nothing to print; add -q")
    alpha = args.fail_if_worse
    if alpha is not None and not 0 < alpha < 1:
        raise UsageError(f"--fail-if-worse is {alpha}; expected a number between 0 and 1")
    if args.baseline and args.no_summary:
        raise UsageError("--baseline compares means, which -n leaves out; drop -n or --baseline")


def evaluate_inputs(inputs: Inputs, args: Namespace) -> Results:
    """Evaluate inputs on one collection, and print notes about the results."""
    if args.baseline == STANDARD_INPUT:
        args.baseline = STANDARD_INPUT_NAME
    return results_of(evaluate, args, inputs.runs, inputs.only_qrels, inputs.measures or None)


def results_of(function: Callable[..., Results], args: Namespace, *given: Any) -> Results:
    """Call ``evaluate`` or ``compare``, show the progress, and print notes about the results."""
    with progress(len(given[0])) as count:
        jobs = getattr(args, "jobs", None)
        results = call(function, args, *given, jobs=jobs, progress=count)
    output.show_notes(results)
    return results


def worse_runs(results: Results, alpha: float) -> Iterator[str]:
    """Yield a sentence about each run that is significantly worse than the baseline."""
    from ir_std.reporting.tables import p_text

    for run_name, tests in results.differences.items():
        worse = [
            f"{measure} ({test.mean:+.4f}, {p_text(test.p_adjusted)})"
            for measure, test in tests.items()
            if sign_of(measure) * test.mean < 0 and test.p_adjusted < alpha
        ]
        if worse:
            by = join_with_and(worse)
            yield f"{run_name} is significantly worse than {results.baseline} on {by}"


# --- MTEB's results, task by task -----------------------------------------------------------------


def wants_task_table(args: Namespace) -> bool:
    """Check whether to print a table of MTEB's tasks.

    The table is printed if all inputs are MTEB results and no option asks for values per measure.
    """
    if any(getattr(args, name) for name in PER_MEASURE_OPTIONS):
        return False
    return bool(args.inputs) and all(map(_holds_mteb_results, args.inputs))


def _holds_mteb_results(path: str) -> bool:
    """Check whether a path is a file of MTEB results, or a folder with such files."""
    if path.endswith(".json"):
        return os.path.isfile(os.path.join(os.path.dirname(path), MODEL_META))
    return os.path.isdir(path) and any(MODEL_META in names for _, _, names in os.walk(path))


def _print_task_table(args: Namespace) -> None:
    """Print a table of the tasks, with each model's rank on each task."""
    from ir_std.factors.schema import KINDS
    from ir_std.reporting.benchmark import task_table

    inputs = read_inputs(args)
    scores = {name: run for name, run in inputs.runs.items() if isinstance(run, RunScores)}
    if inputs.qrels or inputs.measures or len(scores) < len(inputs.runs):
        raise UsageError("unexpected inputs or measures next to MTEB results; leave them out")
    if missing := [name for name, run in scores.items() if main_score not in run.values]:
        raise UsageError(f"no main scores in the MTEB results of {abbreviate(missing)}")
    look_up(args.systems or "all", KINDS, "kind of models")
    output.print_tables([call(task_table, args, scores)], args.output)
