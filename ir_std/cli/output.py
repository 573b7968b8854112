"""What commands print: lines of scores, tables, and notes about the factors."""

from __future__ import annotations

import json
import math
import sys
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from ir_measures.measures import Measure

from ir_std._system.text import escape_line, escape_unencodable, latex_command
from ir_std.cli.streams import detail, note
from ir_std.evaluation.factor_messages import factors_used
from ir_std.reporting.model import Results, evaluations_of, place_topics
from ir_std.reporting.run_ranks import ranked_by
from ir_std.reporting.tables import WRITERS, Table
from ir_std.scores.run_scores import SUMMARY


class ScoreLine(NamedTuple):
    """A value of a run.

    Attributes
    ----------
    run : str
    topic : str
        ``all`` for the mean.
    measure : str
    value : float
    more : mapping of str to value
        Further columns, by the names that JSON has: difference and p, place and neighbors, ranks.
    """

    run: str
    topic: str
    measure: str
    value: float
    more: Mapping[str, Any]


def print_lines(results: Results, sort: Measure | None, form: str, args: Namespace) -> None:
    """Print a line for each value of each run, in the order of the runs or the best first."""
    runs = list(results.runs) if sort is None else list(ranked_by(results.means, sort))
    write = LINE_FORMATS[form]
    several, places = len(runs) > 1, 4 if args.places is None else args.places
    for run in runs:
        for line in _lines(results, run, sort is not None, args):
            print(write(line, several, args.by_query, places))


def _lines(results: Results, run: str, ranked: bool, args: Namespace) -> Iterator[ScoreLine]:
    names = {id(measure): str(measure) for measure in results.measures}  # texts are made anew
    if args.by_query:
        placements = place_topics(results).get(run) if args.place else None
        rows = {topic: row for row, topic in enumerate(results.topics)}
        for metric in results.collection.evaluator.by_topic(evaluations_of(results)[run]):
            places = placements.get(metric.measure) if placements else None
            place = places[rows[metric.query_id]] if places else None
            more = {"place": place.summary} if place else {}
            yield ScoreLine(run, metric.query_id, names[id(metric.measure)], metric.value, more)
    if not args.no_summary:
        for measure in results.measures:
            more = dict(_facts_of_mean(results, run, measure, ranked, args.place))
            mean = results.means[run][measure]
            yield ScoreLine(run, SUMMARY, names[id(measure)], mean, more)


def _facts_of_mean(
    results: Results, run: str, measure: Measure, ranked: bool, placed: bool
) -> Iterator[tuple[str, Any]]:
    """Yield what stands behind a mean, by the names that JSON has."""
    if results.baseline is not None:
        test = results.differences.get(run, {}).get(measure)
        yield "difference", test.mean if test else math.nan
        yield "p", test.p_adjusted if test else math.nan
    if placed and (placement := results.placements.get(run, {}).get(measure)):
        yield "place", placement.summary
        if placement.neighbours:
            yield "neighbors", placement.neighbours
    if ranked:
        rank = results.ranks[run][measure]
        yield from (("rank", rank.rank), ("best", rank.best), ("worst", rank.worst))


def _tsv(line: ScoreLine, several: bool, by_topic: bool, places: int) -> str:
    # Of several runs the means name their topic, too: else it is the run that would look like one.
    names = [line.run] * several + [line.topic] * (by_topic or several) + [line.measure]
    fields = [*names, f"{line.value}" if places == -1 else f"{line.value:.{places}f}"]
    if "p" in line.more:
        difference, p = line.more["difference"], line.more["p"]
        fields += ["", ""] if math.isnan(p) else [f"{difference:+.{max(places, 4)}f}", f"{p:.4g}"]
    fields += [line.more[name] for name in ("place", "neighbors") if name in line.more]
    return "\t".join(map(escape_line, fields))


def _jsonl(line: ScoreLine, several: bool, by_topic: bool, _: int) -> str:
    fields: dict[str, Any] = {"run": line.run} if several else {}
    fields |= {"query_id": line.topic} if by_topic else {}
    fields |= {"measure": line.measure, "value": line.value, **line.more}
    known = {
        name: None if isinstance(value, float) and math.isnan(value) else value
        for name, value in fields.items()
    }
    return json.dumps(known, ensure_ascii=False)


LINE_FORMATS: dict[str, Callable[[ScoreLine, bool, bool, int], str]] = {
    "tsv": _tsv,
    "jsonl": _jsonl,
}
"""How a line is printed, by the name of the output format."""


ESCAPES: dict[str, Callable[[str], str]] = {
    "latex": latex_command,
    "html": lambda character: f"&#{ord(character)};",
}
"""How a format writes a character that standard output cannot encode."""


def print_table(table: Table, form: str | None) -> None:
    """Print a table, as wide as the terminal; notes that CSV has no place for next to it."""
    if form in (None, "table"):
        text = table.text(_terminal_width()) if sys.stdout.isatty() else table.text()
    else:
        text = WRITERS[form](table)
    if escape := ESCAPES.get(form or "table"):
        text = escape_unencodable(text, sys.stdout.encoding or "utf-8", escape)
    print(text)
    if form == "csv":
        for each in table.notes:
            note(each)


def _terminal_width() -> int:
    from shutil import get_terminal_size

    return max(40, get_terminal_size((100, 24)).columns)


def print_tables(tables: Iterable[Table], form: str | None) -> None:
    """Print tables, a blank line between two."""
    for i, table in enumerate(tables):
        if i:
            print()
        print_table(table, form)


def show_notes(results: Results) -> None:
    """Print what else is to be known, with ``--verbose``."""
    matches = [m for each in results.collections.values() for m in each.evaluator.matches]
    for match in matches:
        if match.alternatives:
            detail(f"{', '.join(match.alternatives)} also match; select one with --factors")
    used = {str(match) for match in matches}
    for text in results.notes:
        if text not in used:
            detail(text)


def note_factors(results: Results) -> None:
    """Print which factors are used where runs are only placed by them."""
    evaluator = results.collection.evaluator
    for match in evaluator.matches:
        note(factors_used(match, evaluator.plans))
