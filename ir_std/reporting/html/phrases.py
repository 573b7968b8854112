"""Words that sentences about results share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ir_std.reporting.evaluated_runs import EvaluatedRuns
from ir_std.scores.run_scores import CountedTopics

NAMED = 3
"""Runs that a sentence names; more are counted."""
SMALLEST = 5e-4
"""Smaller differences would be rounded to 0."""


def join_with_and(parts: Iterable[str]) -> str:
    """``a, b and c``."""
    *most, last = parts
    return f"{', '.join(most)} and {last}" if most else last


def listed(runs: Sequence[str]) -> str:
    """The names of runs; of many the first, and how many more."""
    if len(runs) <= NAMED + 1:  # "1 more" is no shorter than its name
        return join_with_and(runs)
    return join_with_and([*runs[:NAMED], f"{len(runs) - NAMED} more"])


def p_text(p: float) -> str:
    """``p = 0.012``; below a thousandth that alone."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def size_text(difference: float, sign: str = "") -> str:
    """To three decimals, or as many as show that it is not 0."""
    places = ".3f" if abs(difference) >= SMALLEST or not difference else ".1g"
    return f"{difference:{sign}{places}}"


def is_of_models(results: EvaluatedRuns) -> bool:
    """Whether the systems are models on whole data sets."""
    fit = results.match and results.match.fit
    return bool(fit and fit.factors.of_datasets)


def recognized_by(results: EvaluatedRuns) -> str:
    """How the factors were found."""
    assert results.match is not None
    by = {
        "name": "chosen by name",
        "ir_datasets id": "named by the ir_datasets id",
        "systems": "whose own systems these are",
    }
    if results.match.chosen_by in by:
        return by[results.match.chosen_by]
    if not isinstance(results.evaluator.qrels, CountedTopics):
        return "recognized from the qrels"
    if is_of_models(results):
        return "recognized by the names of the data sets"
    return "recognized from the topics of the scores"
