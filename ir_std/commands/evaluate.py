"""Evaluate runs: raw and standardized scores in one pass.

Runs and qrels may come in any order; they are told apart by their columns (6 and 4).  QRELS may
be an ir_datasets id.  Without measures, those of the recognized factor set are reported.
Other commands, each with --help: ir_std build, compare, demo, factors, merge, report.
"""

from __future__ import annotations

import json
import math
import os
import pickle
import re
import warnings
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from ir_measures import measures as irm
from ir_measures.measures import Measure

from ir_std.cli import note
from ir_std.dropin import check_common_topics, evaluator_for
from ir_std.errors import InputError, UsageError, suggestion
from ir_std.files import QRELS, RUN, columns_of, read_run
from ir_std.inputs import as_qrels, is_dataset
from ir_std.measures import parse_measure
from ir_std.naming import name_runs
from ir_std.provider import StdEvaluator
from ir_std.schemes import scheme_names

# Tables, tests, places and processes are imported where they are asked for: a plain evaluation
# should start at once.
if TYPE_CHECKING:
    from ir_std.placement import Placer
    from ir_std.results import Results

SUMMARY = "all"
"""The topic that stands for the mean, as in ir_measures and trec_eval."""


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.usage = "%(prog)s RUN [RUN ...] QRELS [MEASURE ...] [options]"
    parser.add_argument("inputs", nargs="+", metavar="RUN|QRELS|MEASURE",
                        help="run files, one qrels file or ir_datasets id, measures")
    parser.add_argument("-s", "--scheme", default="N", metavar="N,U,E,z|all",
                        help="standardization schemes (default N)")
    parser.add_argument("--factors", metavar="ID|PATH",
                        help="the factor set to use (default: recognized from the qrels)")
    parser.add_argument("-q", "--by_query", action="store_true", help="values by topic too")
    parser.add_argument("-n", "--no_summary", action="store_true",
                        help="with -q: without the means")
    parser.add_argument("-p", "--places", type=int, default=4,
                        help="decimals (default 4; -1 for all)")
    parser.add_argument("-o", "--output_format", choices=[*FORMATS, *TABLES], default="tsv",
                        help="form of the output (default tsv)")
    parser.add_argument("--jobs", type=int, metavar="N",
                        help="processes for several runs (default: as many as pay)")
    parser.add_argument("--raw", action="store_true", help="raw scores only")
    parser.add_argument("--baseline", metavar="RUN",
                        help="in tables: mark what differs significantly from this run")
    parser.add_argument("--test", choices=["randomization", "t"], default="t",
                        help="paired test against the baseline (default t)")
    parser.add_argument("--place", action="store_true",
                        help="beside each mean, where the run ranks among the standardizing "
                             "systems")


def run(args: Namespace) -> None:
    """Evaluate and print."""
    if args.no_summary and not args.by_query:
        raise UsageError("-n leaves out the means, and without -q there is nothing else: add -q")
    if args.places < -1:
        raise UsageError(f"--places is {args.places}: give the number of decimals, or -1 for all")
    if args.output_format in TABLES:
        print(table(args))
    else:
        # All runs are evaluated before the first line is printed: a broken one leaves nothing.
        print("\n".join(list(lines(args))))


def table(args: Namespace) -> str:
    """The runs as a table.

    Raises
    ------
    UsageError
        If an option does not go with a table.
    """
    from ir_std.layout import WRITERS

    if args.by_query:
        raise UsageError("-q lists values by topic, a table holds means: use -o tsv or jsonl")
    if args.place:
        raise UsageError("--place goes with -o tsv or jsonl, and ir_std report shows places")
    results = tabulate(*tell_apart(args.inputs), _schemes(args), args)
    return WRITERS[args.output_format](results.table(args.places))


def lines(args: Namespace) -> Iterator[str]:
    """A line for each value of each run, in the order of the runs.

    Raises
    ------
    UsageError
        If an option does not go with lines.
    """
    if args.baseline:
        raise UsageError(f"--baseline marks differences in tables: add -o {'|'.join(TABLES)}")
    files, qrels, measures = tell_apart(args.inputs)
    schemes = _schemes(args)
    evaluator = evaluator_for(as_qrels(qrels), measures or None, schemes, args.factors)
    _tell(evaluator, schemes)
    for name, found in _evaluated(evaluator, name_runs(files), args):
        for message, category in found.warnings:
            warnings.warn(message, category, stacklevel=2)
        for line in found.lines:
            yield FORMATS[args.output_format](name, line, args, len(files) > 1)


def _evaluated(evaluator: StdEvaluator, files: dict[str, str],
               args: Namespace) -> Iterator[tuple[str, Evaluated]]:
    from ir_std.parallel import in_order, usual_jobs

    jobs = usual_jobs(len(files)) if args.jobs is None else args.jobs
    if jobs == 1:
        placer = _placer(evaluator, args)
        for name, file in files.items():
            yield name, evaluate(evaluator, placer, file, args)
    else:
        task = pickle.dumps((evaluator.measures, evaluator.qrels, evaluator.match, args))
        yield from zip(files, in_order(evaluate_elsewhere, task, files.values(), jobs),
                       strict=True)


def _schemes(args: Namespace) -> tuple[str, ...]:
    return () if args.raw else scheme_names(args.scheme)


def tell_apart(inputs: Iterable[str]) -> tuple[list[str], str, list[Measure]]:
    """Sort arguments into run files, the qrels (a file or an ir_datasets id) and measures.

    Raises
    ------
    InputError
        If a file is neither a run nor qrels.
    UsageError
        If an argument is none of these, or there is not at least one run and just one qrels.
    """
    runs: list[str] = []
    qrels: list[str] = []
    measures: list[Measure] = []
    for given in inputs:
        if os.path.exists(given):
            width = columns_of(given)
            if width not in (RUN.width, QRELS.width):
                raise InputError.at(given, None, f"{width} columns in its first line",
                                    f"{RUN.layout}; {QRELS.layout}")
            (runs if width == RUN.width else qrels).append(given)
        elif (name := re.match(r"\w+(?=[(@ ]|$)", given)) and name[0] in irm.registry:
            measures += _parse_all(given)
        elif is_dataset(given):
            qrels.append(given)
        else:
            raise UsageError(f"{given!r} is neither a file nor a measure nor an ir_datasets id"
                             f"{suggestion(given, irm.registry)}")
    if len(qrels) != 1:
        found = f"{len(qrels)} qrels ({', '.join(qrels)})" if qrels else "no qrels"
        raise UsageError(f"found {found} and {len(runs)} run{'s' if len(runs) != 1 else ''}: give "
                         f"one qrels file (4 columns) or ir_datasets id")
    if not runs:
        raise UsageError(f"found qrels ({qrels[0]}) but no run: give a file of 6 columns")
    return list(dict.fromkeys(runs)), qrels[0], measures


def _parse_all(text: str) -> list[Measure]:
    """One measure, or as in ir_measures several in one argument."""
    try:
        return [parse_measure(text)]
    except UsageError:
        if " " not in text:
            raise
        return [parse_measure(part) for part in text.split()]


def tabulate(files: list[str], qrels: str, measures: list[Measure], schemes: tuple[str, ...],
             args: Namespace) -> Results:
    """The results of all runs, after telling which factors they use.

    Raises
    ------
    UsageError
        If the baseline is not one of the runs.
    """
    from ir_std.results import evaluate as evaluate_runs

    runs = name_runs(files)
    by_path = {os.path.realpath(file): name for name, file in runs.items()}
    baseline = args.baseline and by_path.get(os.path.realpath(args.baseline), args.baseline)
    results = evaluate_runs(runs, qrels, measures or None, schemes, factors=args.factors,
                            baseline=baseline, test=args.test)
    _tell(results.evaluator, schemes)
    return results


def _tell(evaluator: StdEvaluator, schemes: Iterable[str]) -> None:
    """Say which factors are used, unless nothing is to be standardized."""
    if schemes or evaluator.plans:
        note(str(evaluator.match))
    for text in evaluator.notes:
        note(text)


class Line(NamedTuple):
    """One value: of which topic and measure; of a mean also where it ranks, if asked."""

    topic: str
    measure: str
    value: float
    place: str | None = None


class Evaluated(NamedTuple):
    """What one run gave, as it travels between processes."""

    lines: list[Line]
    warnings: list[tuple[str, type[Warning]]]


def evaluate(evaluator: StdEvaluator, placer: Placer | None, file: str,
             args: Namespace) -> Evaluated:
    """The values of one run that were asked for.

    Raises
    ------
    InputError
        If the run is broken, or it and the qrels have no topic in common.
    """
    run = read_run(file)
    check_common_topics(run, evaluator.qrels)
    with warnings.catch_warnings(record=True) as noticed:
        warnings.simplefilter("always")
        result = evaluator.calc(run)
    found = []
    if args.by_query:
        found += [Line(m.query_id, str(m.measure), m.value) for m in result.per_query]
    if not args.no_summary:
        placed = {p.measure: p.summary for p in placer.place(run)} if placer else {}
        found += [Line(SUMMARY, str(measure), value, placed.get(measure))
                  for measure, value in result.aggregated.items()]
    return Evaluated(found, [(str(w.message), w.category) for w in noticed])


def evaluate_elsewhere(task: bytes, file: str) -> Evaluated:
    """:func:`evaluate`, in another process."""
    return evaluate(*_unpacked(task)[:2], file, _unpacked(task)[2])


@lru_cache(maxsize=1)
def _unpacked(task: bytes) -> tuple[StdEvaluator, Placer | None, Namespace]:
    measures, qrels, match, args = pickle.loads(task)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the parent process has said it
        evaluator = StdEvaluator(measures, qrels, match)
    return evaluator, _placer(evaluator, args), args


def _placer(evaluator: StdEvaluator, args: Namespace) -> Placer | None:
    if not args.place:
        return None
    from ir_std.placement import Placer

    return Placer(evaluator)


def _tsv(run: str, line: Line, args: Namespace, several: bool) -> str:
    value = f"{line.value}" if args.places == -1 else f"{line.value:.{args.places}f}"
    fields = [run] * several + [line.topic] * args.by_query + [line.measure, value]
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
TABLES = ("table", "markdown", "latex", "csv")
"""The output formats that are tables: those of :data:`ir_std.layout.WRITERS`."""
