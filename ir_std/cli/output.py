"""What commands print: lines of scores, tables, and which factors the scores rest on."""

from __future__ import annotations

import json
import math
import sys
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from ir_measures.measures import Measure

from ir_std._system.text import escape_line, escape_unencodable, latex_command
from ir_std.cli.streams import note, warn
from ir_std.evaluation.evaluation import Evaluation
from ir_std.evaluation.evaluator import StdEvaluator
from ir_std.evaluation.factor_messages import factors_used
from ir_std.evaluation.messages import Message, message_texts
from ir_std.factors.match import Match
from ir_std.scores.run_scores import SUMMARY

# Tables and placement are imported where they are asked for: a plain evaluation starts at once.
if TYPE_CHECKING:
    from ir_std.evaluation.placer import Placer
    from ir_std.reporting.run_ranks import RunRank
    from ir_std.reporting.tables import Table


class ScoreLine(NamedTuple):
    """A value of a run: of a topic, or ``all`` for the mean.

    Attributes
    ----------
    place : str, optional
        Where the run ranks among the standardizing systems, if asked for and known.
    neighbours : str, optional
        Between which of them it ranks, where they have names.
    rank : RunRank, optional
        Where the run ranks among those evaluated, if they are sorted.
    """

    topic: str
    measure: str
    value: float
    place: str | None = None
    neighbours: str = ""
    rank: RunRank | None = None


class LineWriter:
    """Writes the lines of evaluated runs, as the options ask for; made once for all runs.

    Parameters
    ----------
    evaluator : StdEvaluator
        By which the runs were evaluated.
    args : argparse.Namespace
        The options of ``ir_std``.
    several : bool
        Whether there are several runs, so that each line names its own.
    """

    def __init__(self, evaluator: StdEvaluator, args: Namespace, several: bool) -> None:
        self.evaluator, self.args, self.several = evaluator, args, several
        self.names = [str(measure) for measure in evaluator.measures]
        self.ranks: Mapping[str, Mapping[Measure, RunRank]] = {}
        self.placer: Placer | None = None
        if args.place:
            from ir_std.evaluation.placer import Placer

            self.placer = Placer(evaluator)

    def text(self, evaluation: Evaluation) -> str:
        """The lines of a run."""
        write = LINE_FORMATS[self.args.output_format]
        return "\n".join(
            write(evaluation.run, line, self.args, self.several) for line in self._lines(evaluation)
        )

    def _lines(self, evaluation: Evaluation) -> Iterator[ScoreLine]:
        if self.args.by_query:
            yield from self._topics(evaluation)
        if not self.args.no_summary:
            yield from self._means(evaluation)

    def _topics(self, evaluation: Evaluation) -> Iterator[ScoreLine]:
        measures = self.evaluator.measures
        # By identity: to compare measures makes their texts anew.
        names = {id(measure): name for measure, name in zip(measures, self.names, strict=True)}
        places = self.placer.place_topics(evaluation.values) if self.placer else {}
        rows = self.evaluator.qrels.positions
        for metric in self.evaluator.by_topic(evaluation):
            place = places[metric.measure][rows[metric.query_id]] if places else None
            yield ScoreLine(
                metric.query_id,
                names[id(metric.measure)],
                metric.value,
                place.summary if place else None,
            )

    def _means(self, evaluation: Evaluation) -> Iterator[ScoreLine]:
        placements = self.placer.place_values(evaluation.values) if self.placer else []
        places = {p.measure: (p.summary, p.neighbours) for p in placements}
        for name, measure, value in zip(
            self.names, self.evaluator.measures, evaluation.averages, strict=True
        ):
            rank = self.ranks[evaluation.run][measure] if self.ranks else None
            place, neighbours = places.get(measure, (None, ""))
            yield ScoreLine(SUMMARY, name, value, place, neighbours, rank)


def _tsv(run: str, line: ScoreLine, args: Namespace, several: bool) -> str:
    value = f"{line.value}" if args.places == -1 else f"{line.value:.{args.places}f}"
    # Of several runs the means name their topic, too: else it is the run that would look like one.
    topic = [line.topic] * (args.by_query or several)
    fields = [escape_line(f) for f in [run] * several + topic + [line.measure, value]]
    return "\t".join([*fields, *filter(None, (line.place, escape_line(line.neighbours)))])


def _jsonl(run: str, line: ScoreLine, args: Namespace, several: bool) -> str:
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
    if line.neighbours:
        fields["neighbours"] = line.neighbours
    if line.rank:
        fields |= {"rank": line.rank.rank, "best": line.rank.best, "worst": line.rank.worst}
    return json.dumps(fields, ensure_ascii=False)


LINE_FORMATS: dict[str, Callable[[str, ScoreLine, Namespace, bool], str]] = {
    "tsv": _tsv,
    "jsonl": _jsonl,
}
"""How a line is printed, by the name of the output format."""


def print_table(table: Table, form: str) -> None:
    """Print a table; what stands below one, and CSV has no place for, beside it."""
    from ir_std.reporting.tables import WRITERS

    text = WRITERS[form](table)
    if form == "latex":
        text = escape_unencodable(text, sys.stdout.encoding or "utf-8", latex_command)
    print(text)
    if form == "csv":
        for text in table.notes:
            note(text)


def print_tables(tables: Iterable[Table], form: str) -> None:
    """Print tables, a blank line between two."""
    for i, table in enumerate(tables):
        if i:
            print()
        print_table(table, form)


def print_factors_used(evaluator: StdEvaluator, standardizes: bool, verbose: bool) -> None:
    """Say which factors are used, unless nothing is to be standardized or placed."""
    if standardizes or evaluator.plans:
        for match in evaluator.matches:
            note(factors_used(match, evaluator.plans))
            if verbose:
                note_other_sets(match)
    shown = {str(match) for match in evaluator.matches}
    print_messages(message for message in evaluator.messages if message.text not in shown)


def note_other_sets(match: Match) -> None:
    """Say which other sets would fit."""
    if match.others:
        note(f"{', '.join(match.others)} would fit too: --factors takes one")


def print_messages(messages: Iterable[Message]) -> None:
    """Print notes, then warnings, each text once."""
    messages = list(messages)
    for text in message_texts(messages, False):
        note(text)
    for text in message_texts(messages, True):
        warn(text)
