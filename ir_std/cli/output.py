"""Print the output of the commands: lines of scores, tables, and notes about factors."""

from __future__ import annotations

import json
import math
import re
import sys
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any

import numpy as np

from ir_std._arrays import Floats
from ir_std._system.text import escape_line, escape_unencodable, latex_command
from ir_std.cli.inputs import Inputs, read_measures
from ir_std.cli.streams import detail, note
from ir_std.errors import UsageError, join_with_and
from ir_std.evaluation.evaluation import Evaluation
from ir_std.evaluation.inputs import resolve
from ir_std.measures import Measure, Standardized, canonical, measure_record
from ir_std.measures.external import TREC_EVAL_NAMES
from ir_std.measures.names import to_trec_eval
from ir_std.measures.objects import RIPrec
from ir_std.reading import Source, split_line
from ir_std.reporting.model import Results, evaluations_of, place_topics
from ir_std.scores.run_scores import SUMMARY
from ir_std.trec import Qrels, Run, with_whole_scores

if TYPE_CHECKING:
    from ir_std.reporting.tables import Table

TREC_EVAL_FORMAT = "trec_eval"
"""Name of the output format that imitates trec_eval."""
OF_QRELS = ("NumQ", "NumRel")
"""Measures that depend only on the qrels."""
MEANS_ONLY = ("NumQ", "GMAP", "GMBpref")
"""Measures that trec_eval does not print per topic."""


def print_lines(results: Results, sort: Measure | None, form: str, args: Namespace) -> None:
    """Print a line for each value of each run; if ``sort`` is given, sort the runs by it."""
    runs = list(results.runs)
    if sort is not None:
        from ir_std.reporting.run_ranks import runs_by_mean

        runs = runs_by_mean(results, sort)
    write = LINE_FORMATS[form]
    placed = place_topics(results) if args.place and args.by_query else {}
    for run in runs:
        for line in _lines(results, run, placed.get(run, {}), args):
            print(write(line, len(runs) > 1, args.by_query, args.places))


def _lines(
    results: Results, run: str, placed: Mapping[Measure, Mapping[str, Any]], args: Namespace
) -> Iterator[dict[str, Any]]:
    """Yield one dict per value of a run; the keys of the dict are the names of the JSON fields."""
    names = {id(measure): str(measure) for measure in results.measures}  # Formatting is slow.
    if args.by_query:
        for metric in results.collection.evaluator.by_topic(evaluations_of(results)[run]):
            place = placed.get(metric.measure, {}).get(metric.query_id)
            more = {"place": place.summary} if place else {}
            yield _line(run, metric.query_id, names[id(metric.measure)], metric.value) | more
    if not args.no_summary:
        for measure in results.measures:
            more = dict(_facts_of_mean(results, run, measure, args))
            mean = results.means[run][measure]
            yield _line(run, SUMMARY, names[id(measure)], mean) | more


def _line(run: str, topic: str, measure: str, value: float) -> dict[str, Any]:
    return {"run": run, "query_id": topic, "measure": measure, "value": value}


def _facts_of_mean(
    results: Results, run: str, measure: Measure, args: Namespace
) -> Iterator[tuple[str, Any]]:
    """Yield facts about a mean, each with the name of its field in JSON."""
    if results.baseline is not None:
        test = results.differences.get(run, {}).get(measure)
        yield "difference", test.mean if test else math.nan
        yield "p", test.p_adjusted if test else math.nan
        yield "detectable", test.detectable if test else math.nan
        if results.procedure.equivalent is not None:
            yield "p_equivalent", test.equivalence_p if test else math.nan
    if args.place and (placement := results.placements.get(run, {}).get(measure)):
        yield "place", placement.summary
        if placement.neighbours:
            yield "neighbors", placement.neighbours
    if args.sort is not None:
        rank = results.ranks[run][measure]
        yield from (("rank", rank.rank), ("best", rank.best), ("worst", rank.worst))


def _tsv(line: Mapping[str, Any], several: bool, by_topic: bool, places: int) -> str:
    # With several runs, print the topic of means, too.  Otherwise, runs would look like topics.
    names = [line["run"]] * several + [line["query_id"]] * (by_topic or several)
    value = f"{line['value']}" if places == -1 else f"{line['value']:.{places}f}"
    fields = [*names, line["measure"], value]
    if "p" in line:
        difference, p = line["difference"], line["p"]
        fields += ["", ""] if math.isnan(p) else [f"{difference:+.{max(places, 4)}f}", f"{p:.4g}"]
    fields += [line[name] for name in ("place", "neighbors") if name in line]
    return "\t".join(map(escape_line, fields))


def _jsonl(line: Mapping[str, Any], several: bool, by_topic: bool, _: int) -> str:
    left_out = ["run"] * (not several) + ["query_id"] * (not by_topic)
    fields = {
        name: None if isinstance(value, float) and math.isnan(value) else value
        for name, value in line.items()
        if name not in left_out
    }
    return json.dumps(fields, ensure_ascii=False)


LINE_FORMATS = {"tsv": _tsv, "jsonl": _jsonl}
"""Functions that print a line, by output format."""


ESCAPES: dict[str, Callable[[str], str]] = {
    "latex": latex_command,
    "html": lambda character: f"&#{ord(character)};",
}
"""For each format, the function that replaces characters that standard output cannot encode."""


def print_tables(tables: Iterable[Table], form: str | None) -> None:
    """Print tables as wide as the terminal; for CSV, print notes to standard error."""
    from ir_std.reporting.tables import WRITERS  # Not needed for lines.

    form = form or "table"
    for i, table in enumerate(tables):
        if form == "table" and sys.stdout.isatty():
            text = table.text(max(40, get_terminal_size((100, 24)).columns))
        else:
            text = WRITERS[form](table)
        if escape := ESCAPES.get(form):
            text = escape_unencodable(text, sys.stdout.encoding or "utf-8", escape)
        print("\n" * (i > 0) + text)
        if form == "csv":
            for each in table.notes:
                note(each)


def show_notes(results: Results) -> None:
    """Print other matching factor sets and further notes if ``--verbose`` is given."""
    matches = [m for each in results.collections.values() for m in each.evaluator.matches]
    for match in matches:
        if match.alternatives:
            named, several = join_with_and(match.alternatives), len(match.alternatives) > 1
            verb, which = ("match", "one") if several else ("matches", "it")
            detail(f"{named} also {verb}; to use {which}, pass --factors")
    used = {str(match) for match in matches}
    for text in results.notes:
        if text not in used:
            detail(text)


# --- lines as trec_eval 10.0 prints them, for programs that read its output -----------------------


def prepare(inputs: Inputs, args: Namespace) -> Inputs:
    """Return inputs for which ir_std computes the same values as trec_eval 10.

    Documents are ordered by their scores as 64-bit floats.  If no measures are named, trec_eval's
    default measures are used.  Interpolated precision is rounded as in trec_eval.
    """
    if len(inputs.runs) > 1:
        raise UsageError(f"-o {TREC_EVAL_FORMAT} prints one run, got {len(inputs.runs)}")
    read = {name: resolve(run) for name, run in inputs.runs.items()}
    runs = {n: with_whole_scores(run) if isinstance(run, Run) else run for n, run in read.items()}
    measures = inputs.measures or read_measures(["official"], args.l)
    measures = [RIPrec(**m.params) if m.__name__ == "IPrec" else m for m in measures]
    return inputs._replace(runs=runs, measures=measures)


def tag_of(inputs: Inputs) -> str:
    """Return the run tag in a file; trec_eval prints the tag with its default measures."""
    (run,) = inputs.runs.values()
    if inputs.measures or not isinstance(run, Source) or not run.first_line:
        return ""
    return escape_line(split_line(run, *run.first_line)[-1])


def trec_eval_lines(results: Results, tag: str, args: Namespace) -> Iterator[str]:
    """Yield the lines of a run: first all topics, sorted by ID, and then the means."""
    evaluator, (evaluation,) = results.collection.evaluator, evaluations_of(results).values()
    names = {m: trec_eval_name(m, args.l) for m in evaluator.measures}
    order = sorted(evaluator.measures, key=lambda m: _position(names[m]))
    collection = results.collection
    values = {
        m: dict(zip(collection.topics_of(m), _values(m, evaluator.qrels, evaluation), strict=True))
        for m in order
    }

    def line(measure: Measure, topic: str, value: float) -> str:
        whole = measure_record(measure).kind == "count" and value == value
        form = ".0f" if whole else "" if args.places < 0 else f"6.{args.places}f"
        return f"{escape_line(names[measure]):22}\t{escape_line(topic)}\t{value:{form}}"

    if args.by_query:
        for topic in sorted({*chain.from_iterable(values.values())}, key=str.encode):
            for measure in order:
                if measure.__name__ not in MEANS_ONLY and topic in values[measure]:
                    yield line(measure, topic, float(values[measure][topic]))
    if not args.no_summary:
        if tag:
            yield f"{'runid':22}\t{SUMMARY}\t{tag}"
        for measure in order:
            is_sum = measure.__name__ in OF_QRELS
            mean = float(sum(values[measure].values())) if is_sum else evaluation.means[measure]
            yield line(measure, SUMMARY, mean)


def _values(measure: Measure, qrels: Qrels, evaluation: Evaluation) -> Floats:
    """Return values per topic; NumQ and NumRel also count topics that the run lacks."""
    if measure.__name__ == "NumQ":
        return np.ones(len(qrels.topics))
    if measure.__name__ == "NumRel":
        return qrels.count(measure["rel"]).astype(float)
    return evaluation.values[measure]


def trec_eval_name(measure: Measure, level: int | None = None) -> str:
    """Return trec_eval's name of a measure, with the prefix ``s`` if the measure is standardized.

    The name does not contain the relevance level ``level``, because ``-l`` sets this level.  If
    trec_eval has no name for a measure, return the measure's name in ir_measures.

    >>> from ir_std import parse_measure
    >>> trec_eval_name(parse_measure("nDCG@10")), trec_eval_name(parse_measure("sAP"))
    ('ndcg_cut_10', 'smap')
    """
    if isinstance(measure, Standardized):
        if measure["scheme"] != "N" or "factors" in measure.params:
            return str(measure)
        return f"s{trec_eval_name(measure.base, level)}"
    name = canonical(measure(rel=1) if level and measure.params.get("rel") == level else measure)
    name = re.sub(r"^RIPrec", "IPrec", name)
    return to_trec_eval(name) or str(measure)


def _position(name: str) -> tuple[int, float, str]:
    """Return a sort key, so that measures have the same order as in the output of trec_eval.

    Standardized measures follow raw ones, and measures that trec_eval lacks come last.
    """
    for standardized in ("", "s"):
        for i, theirs in enumerate(TREC_EVAL_NAMES):
            pattern = theirs.replace("{}", r"(\d+(?:\.\d+)?)")
            if found := re.fullmatch(pattern, name.removeprefix(standardized)):
                return i, float("".join(found.groups()) or 0), standardized
    return len(TREC_EVAL_NAMES), 0.0, ""
