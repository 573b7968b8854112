"""Evaluate runs: raw and standardized scores in one pass.

Runs and qrels may come in any order; they are told apart by their columns (6 and 4).  QRELS may
be an ir_datasets id.  Without measures, those of the recognized factor set are reported.
Other commands, each with --help: ir_std build, compare, demo, factors, merge, report.
"""

from __future__ import annotations

import json
import math
import os
import re
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ir_measures import measures as irm
from ir_measures.measures import Measure

from ir_std._text import one_line
from ir_std.cli.batch import Line, Wanted, liner
from ir_std.cli.main import COMMANDS
from ir_std.cli.streams import PROGRAM, note, warn
from ir_std.errors import InputError, UsageError, did_you_mean, nearest, suggestion
from ir_std.evaluation.api import evaluator_for
from ir_std.evaluation.choice import choose_factors
from ir_std.evaluation.evaluator import StdEvaluator
from ir_std.evaluation.many import evaluate_all
from ir_std.evaluation.notices import Notice, said
from ir_std.measures import near_measures, parse_measure
from ir_std.schemes import scheme_names
from ir_std.trec.columns import QRELS, RUN
from ir_std.trec.files import columns_of
from ir_std.trec.inputs import is_dataset
from ir_std.trec.names import spelled
from ir_std.trec.naming import name_runs
from ir_std.trec.score_files import holds_scores
from ir_std.trec.scored import judgments_behind, runs_by_name

# Tables and tests are imported where they are asked for: a plain evaluation should start at once.
if TYPE_CHECKING:
    from ir_std.reporting.results import Results
    from ir_std.reporting.tables import Table

def configure(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.usage = "%(prog)s RUN [RUN ...] QRELS [MEASURE ...] [options]"
    parser.add_argument("inputs", nargs="+", metavar="RUN|QRELS|MEASURE",
                        help="run files, one qrels file or ir_datasets id, measures")
    choose_options(parser)
    add_measure_option(parser)
    parser.add_argument("-m", dest="measures", action="append", default=[], metavar="MEASURE",
                        help="a measure (once for each); trec_eval's names serve in any case: map "
                             "is AP, P.5,10 is P@5 and P@10, ndcg_cut_10 nDCG@10, recip_rank RR, "
                             "recall_100 R@100, smap sAP")
    parser.add_argument("-l", dest="level", type=int, metavar="N",
                        help="binary measures take documents of level N and above as relevant: "
                             "AP is AP(rel=N)")
    parser.add_argument("-c", action="store_true",
                        help="as in trec_eval, and always so: a topic of the qrels that a run "
                             "lacks counts 0")
    parser.add_argument("-q", "--by-query", "--by_query", action="store_true",
                        help="values by topic too")
    parser.add_argument("-n", "--no-summary", "--no_summary", action="store_true",
                        help="with -q: without the means")
    parser.add_argument("-p", "--places", type=int, default=4,
                        help="decimals (default 4; -1 for all; csv and jsonl have all)")
    parser.add_argument("-o", "--output", "--output-format", "--output_format",
                        dest="output_format", choices=[*FORMATS, *TABLES], default="tsv",
                        help="form of the output (default tsv)")
    add_jobs_option(parser)
    parser.add_argument("--raw", action="store_true", help="raw scores only")
    parser.add_argument("--baseline", metavar="RUN",
                        help="in tables: mark what differs significantly from this run")
    test_options(parser)
    parser.add_argument("--place", action="store_true",
                        help="beside each mean, where the run ranks among the standardizing "
                             "systems")


def test_options(parser: ArgumentParser) -> None:
    """Declare how runs are tested against the baseline."""
    parser.add_argument("--test", choices=TESTS,
                        help="paired test against the baseline (default t; tukey: Tukey's HSD of "
                             "all pairs, topics as blocks)")
    parser.add_argument("--correction", choices=CORRECTIONS,
                        help="of the p-values, for the number of runs that are tested by one "
                             "measure (default holm; tukey needs none and takes none)")


def choose_options(parser: ArgumentParser) -> None:
    """Declare which factors are used: of which scheme, set and systems."""
    parser.add_argument("-s", "--scheme", "--schemes", default="N", metavar="N,U,E,z|all",
                        help="standardization schemes (default N)")
    parser.add_argument("--factors", metavar="ID|PATH",
                        help="the factor set to use (default: recognized from the qrels)")
    parser.add_argument("--systems", metavar="KIND|FILE",
                        help="other systems on the same topics, as modern, where there are "
                             "such; or a file of names, one a line: these of the set's alone")
    parser.add_argument("--without", metavar="TAG", action="append", default=[],
                        help="leave a system out of the factors (once for each)")


def add_measure_option(parser: ArgumentParser) -> None:
    """Declare ``--measure``."""
    parser.add_argument("--measure", metavar="NAME",
                        help="the measure of a table of scores whose columns are runs")


def add_jobs_option(parser: ArgumentParser) -> None:
    """Declare ``--jobs``."""
    parser.add_argument("--jobs", type=int, metavar="N",
                        help="processes for several runs (default: as many as pay)")


def run(args: Namespace) -> None:
    """Evaluate and print."""
    if args.no_summary and not args.by_query:
        raise UsageError("-n leaves out the means, and without -q there is nothing else: add -q")
    check_places(args.places)
    if args.output_format in TABLES:
        show(table(args), args.output_format)
    else:
        for block in blocks(args):
            print(block)


def check_tested(args: Namespace, *options: str) -> None:
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
        raise UsageError(f"--places is {places}: give the number of decimals, at most 1000, or -1 "
                         f"for all")


def show(shown: Table, form: str) -> None:
    """Print a table; what stands below one, and CSV has no place for, beside it."""
    from ir_std.reporting.tables import WRITERS

    print(WRITERS[form](shown))
    if form == "csv":
        for text in shown.notes:
            note(text)


def table(args: Namespace) -> Table:
    """The runs as a table.

    Raises
    ------
    UsageError
        If an option does not go with a table.
    """
    check_tested(args, "test", "correction")
    if args.by_query:
        raise UsageError("-q lists values by topic, a table holds means: use -o tsv or jsonl")
    if args.place:
        raise UsageError("--place goes with -o tsv or jsonl, and ir_std report shows places")
    return tabulate(*_asked(args), _schemes(args), args).table(args.places)


def blocks(args: Namespace) -> Iterator[str]:
    """The lines of each run, in the order of the runs.

    Raises
    ------
    UsageError
        If an option does not go with lines.
    """
    check_tested(args, "test", "correction")
    if args.baseline:
        raise UsageError(f"--baseline marks differences in tables: add -o {'|'.join(TABLES)}")
    files, qrels, measures = _asked(args)
    schemes, runs = _schemes(args), runs_by_name(files, args.measure)
    judgments = judgments_behind(runs.values(), qrels)
    chosen = choose_factors(judgments, args.factors, systems=args.systems, without=args.without)
    evaluator = evaluator_for(judgments, measures or None, schemes, chosen, runs.values())
    _tell(evaluator, schemes)
    # All runs are evaluated before the first line is printed: a broken one leaves nothing.
    evaluated = list(evaluate_all(evaluator, runs, args.jobs))
    lines = liner(evaluator, Wanted(args.by_query, not args.no_summary, args.place))
    written = FORMATS[args.output_format]
    for found in evaluated:
        yield "\n".join(written(found.run, line, args, len(runs) > 1) for line in lines(found))
    _say(notice for found in evaluated for notice in found.notices)


def _schemes(args: Namespace) -> tuple[str, ...]:
    return () if args.raw else scheme_names(args.scheme)


def tell_apart(inputs: Iterable[str]) -> tuple[list[str], str | None, list[Measure]]:
    """Sort arguments into files of runs or scores, the qrels and measures.

    The qrels are a file or an ir_datasets id.  Scores alone need none.

    Raises
    ------
    InputError
        If a file is neither a run nor qrels.
    UsageError
        If an argument is none of these, or there is not at least one run and just one qrels.
    """
    runs: list[str] = []
    scores: list[str] = []
    qrels: list[str] = []
    measures: list[Measure] = []
    for given in inputs:
        if os.path.exists(given):
            if holds_scores(given):
                scores.append(given)
                continue
            width = columns_of(given)
            if width not in (RUN.width, QRELS.width):
                raise InputError.at(given, None, f"{width} columns in its first line",
                                    f"{RUN.layout}; {QRELS.layout}")
            (runs if width == RUN.width else qrels).append(given)
            if given in irm.registry:
                note(f"{given} is the name of a file here and of a measure: taken for the file")
        elif _is_measure(given):
            measures += read_measures(given)
        elif is_dataset(given):
            qrels.append(given)
        else:
            raise UsageError(_unknown(given))
    if scores and not runs and not qrels:
        return list(dict.fromkeys(scores)), None, measures
    if len(qrels) != 1:
        found = f"{len(qrels)} qrels ({', '.join(qrels)})" if qrels else "no qrels"
        raise UsageError(f"found {found} and {len(runs)} run{'s' if len(runs) != 1 else ''}: give "
                         f"one qrels file (4 columns) or ir_datasets id")
    if not (runs or scores):
        raise UsageError(f"found qrels ({qrels[0]}) but no run: give a file of 6 columns")
    return list(dict.fromkeys(runs + scores)), qrels[0], measures


def _unknown(given: str) -> str:
    """What is wrong with an argument that is nothing known."""
    if os.path.dirname(given) or re.search(r"\.[A-Za-z]\w*$", given):
        what = " and no ir_datasets id of that name" if "/" in given else ""
        here = os.path.dirname(given) or "."
        files = [file.name for file in Path(here).iterdir()] if os.path.isdir(here) else []
        return f"{given}: no such file{what}{suggestion(os.path.basename(given), files)}"
    commands = [f"{PROGRAM} {name}" for name in nearest(given, COMMANDS)]
    return (f"{given!r} is neither a file nor a measure nor an ir_datasets id"
            f"{did_you_mean(commands or near_measures(given))}")


def _is_measure(text: str) -> bool:
    name = re.match(r"\w+(?=[(@ ]|$)", spelled(next(iter(text.split()), ""))[0])
    return name is not None and name[0] in irm.registry


def read_measures(text: str) -> list[Measure]:
    """The measures of one argument, under the names of ir_measures or trec_eval in any case.

    Raises
    ------
    UnknownMeasureError, UsageError
        If it cannot be read.
    """
    parts = [text] if "(" in text else text.split()
    return [measure for part in parts for name in spelled(part) for measure in _parse_all(name)]


def at_level(measure: Measure, level: int) -> Measure:
    """A binary measure with documents relevant from ``level`` on; others as they are."""
    rel = measure.SUPPORTED_PARAMS.get("rel")
    if rel is None or rel.default != 1 or "rel" in measure.params:
        return measure
    leveled: Measure = measure(rel=level)
    return leveled


def _asked(args: Namespace) -> tuple[list[str], str | None, list[Measure]]:
    """As :func:`tell_apart`, with the measures of ``-m`` and at the level of ``-l``."""
    files, qrels, measures = tell_apart(args.inputs)
    measures += [m for text in args.measures for m in read_measures(text)]
    if args.level is None:
        return files, qrels, measures
    if args.level < 1:
        raise UsageError(f"-l is {args.level}: give a level of at least 1")
    if not measures:
        raise UsageError("-l is the level of measures that are named, and none is: add -m AP")
    return files, qrels, [at_level(m, args.level) for m in measures]


def _parse_all(text: str) -> list[Measure]:
    """One measure, or as in ir_measures several in one argument."""
    try:
        return [parse_measure(text)]
    except UsageError:
        if " " not in text:
            raise
        return [parse_measure(part) for part in text.split()]


def tabulate(files: list[str], qrels: str | None, measures: list[Measure], schemes: tuple[str, ...],
             args: Namespace) -> Results:
    """The results of all runs, after telling which factors they use.

    Raises
    ------
    UsageError
        If the baseline is not one of the runs.
    """
    from ir_std.reporting.results import evaluate as evaluate_runs

    by_path = {os.path.realpath(file): name for name, file in name_runs(files).items()}
    runs = runs_by_name(files, args.measure)
    baseline = args.baseline and by_path.get(os.path.realpath(args.baseline), args.baseline)
    results = evaluate_runs(runs, qrels, measures or None, schemes, factors=args.factors,
                            systems=args.systems, without=args.without,
                            baseline=baseline, test=args.test or TESTS[0],
                            correction=args.correction, jobs=args.jobs)
    _tell(results.evaluator, schemes)
    return results


def _tell(evaluator: StdEvaluator, schemes: Iterable[str]) -> None:
    """Say which factors are used, unless nothing is to be standardized."""
    if schemes or evaluator.plans:
        for match in evaluator.matches:
            note(match.summary)
    _say(evaluator.notices)


def _say(notices: Iterable[Notice]) -> None:
    notices = list(notices)
    for text in said(notices, False):
        note(text)
    for text in said(notices, True):
        warn(text)


def _tsv(run: str, line: Line, args: Namespace, several: bool) -> str:
    value = f"{line.value}" if args.places == -1 else f"{line.value:.{args.places}f}"
    fields = [one_line(f) for f in
              [run] * several + [line.topic] * args.by_query + [line.measure, value]]
    return "\t".join([*fields, line.place] if line.place else fields)


def _jsonl(run: str, line: Line, args: Namespace, several: bool) -> str:
    fields = {"run": run, "query_id": line.topic, "measure": line.measure,
              "value": None if math.isnan(line.value) else line.value}
    if not several:
        del fields["run"]
    if not args.by_query:
        del fields["query_id"]
    if line.place:
        fields["place"] = line.place
    return json.dumps(fields, ensure_ascii=False)


FORMATS: dict[str, Callable[[str, Line, Namespace, bool], str]] = {"tsv": _tsv, "jsonl": _jsonl}
"""How a line is printed, by the name of the output format."""
TESTS, CORRECTIONS = ("t", "randomization", "tukey"), ("holm", "bonferroni", "none")
"""Those of :mod:`ir_std.analysis.paired` and :mod:`ir_std.analysis.corrections`."""
TABLES = ("table", "markdown", "latex", "csv")
"""The output formats that are tables: those of :data:`ir_std.reporting.tables.WRITERS`."""
