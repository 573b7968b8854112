"""Evaluated runs to lines of values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from ir_std.evaluation.evaluation import Evaluation
from ir_std.evaluation.evaluator import StdEvaluator
from ir_std.scores.run_scores import SUMMARY


class OutputLine(NamedTuple):
    """One value: of which topic and measure, and where it ranks, if asked and known."""

    topic: str
    measure: str
    value: float
    place: str | None = None


class LineOptions(NamedTuple):
    """Which lines are wanted of each run.

    Attributes
    ----------
    by_topic, means : bool
        The values by topic; their means.
    place : bool
        Beside each value, where the run ranks among the standardizing systems.
    """

    by_topic: bool
    means: bool
    place: bool


def line_formatter(
    evaluator: StdEvaluator, wanted: LineOptions
) -> Callable[[Evaluation], Iterator[OutputLine]]:
    """What makes the lines of a run that was evaluated; made once, it serves many."""
    texts = [str(measure) for measure in evaluator.measures]
    # By what they are: to find a measure by itself makes its text anew.
    names = {id(measure): text for measure, text in zip(evaluator.measures, texts, strict=True)}
    placer = None
    if wanted.place:
        from ir_std.evaluation.placement import Placer

        placer = Placer(evaluator)

    def lines(found: Evaluation) -> Iterator[OutputLine]:
        if wanted.by_topic:
            places = placer.place_topics(found.values) if placer else {}
            row = evaluator.qrels.positions
            for value in evaluator.by_topic(found):
                place = places[value.measure][row[value.query_id]] if placer else None
                yield OutputLine(
                    value.query_id,
                    names[id(value.measure)],
                    value.value,
                    place.summary if place else None,
                )
        if wanted.means:
            placed = (
                {p.measure: p.summary for p in placer.place_values(found.values)} if placer else {}
            )
            for name, measure, value in zip(texts, evaluator.measures, found.averages, strict=True):
                yield OutputLine(SUMMARY, name, value, placed.get(measure) if placed else None)

    return lines
