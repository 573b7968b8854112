"""Who is best, and by how much: the first sentences of a collection."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan

import numpy as np
from ir_measures.measures import Measure

from ir_std.analysis.paired import ALPHA, FAMILYWISE, Paired, get_test, paired_tests
from ir_std.errors import counted
from ir_std.measures import Standardized, sign_of
from ir_std.reporting.evaluated_runs import EvaluatedRuns
from ir_std.reporting.figure_data import mean_estimate
from ir_std.reporting.headlines import is_wide
from ir_std.reporting.html.phrases import (
    is_of_models,
    join_with_and,
    listed,
    p_text,
    size_text,
)
from ir_std.schemes import EXACT


def best_sentence(results: EvaluatedRuns, measure: Measure, order: Sequence[str]) -> str:
    """The best run, or those that tie, with the mean and its place among the systems."""
    best = tied_for_first(results, measure, order)
    first = best[0]
    mean = f"{results.means[first][measure]:.3f}{_interval(results, first, measure)}"
    said = f"{mean}{_place(results, first, measure)}."
    if len(results.runs) == 1:
        return f"{first} has a mean {measure} of {said}"
    if len(best) == 1:
        return f"{first} is the best of the {len(results.runs)} runs by {measure}: {said}"
    alike = f", with the same score on every {results.unit}" * _are_alike(results, measure, best)
    which = (
        f"{listed(best)} tie as the best of the {len(results.runs)} runs"
        if len(best) < len(results.runs)
        else f"{'Both' if len(best) == 2 else 'All'} runs tie"
    )
    return f"{which} by {measure}{alike}: {said}"


def lead_sentence(results: EvaluatedRuns, measure: Measure, order: Sequence[str]) -> str:
    """How far the best run is ahead of the baseline, if there is one, and of the next run."""
    best = tied_for_first(results, measure, order)
    behind = [run for run in order if run not in best]
    if not behind:
        return ""
    leads: list[tuple[str, float, float]] = []
    if results.baseline in behind:
        test = results.tests[best[0]][tested_measure(results, measure)]
        leads.append((f"the baseline {results.baseline}", test.difference, test.p_adjusted))
    if behind[0] != results.baseline:
        test = _test_of(results, measure, best[0], behind[0])
        leads.append((f"{behind[0]}, the next run,", test.difference, test.p))
    leads = [lead for lead in leads if not isnan(lead[2])]
    if not leads:
        return ""
    how = f"{get_test(results.test)[1]}{named_if_other(results, measure)}, "
    told = [
        f"{name} by {size_text(sign_of(measure) * difference)} ({'' if i else how}{p_text(p)})"
        for i, (name, difference, p) in enumerate(leads)
    ]
    verb = "It leads" if len(best) == 1 else "They lead"
    return f"{verb} {join_with_and(told)}; {_significance([p for *_, p in leads])}."


def tied_for_first(
    results: EvaluatedRuns, measure: Measure, order: Sequence[str]
) -> tuple[str, ...]:
    """The runs that have the best mean."""
    mean = results.means[order[0]][measure]
    return tuple(run for run in order if abs(results.means[run][measure] - mean) <= EXACT)


def tested_measure(results: EvaluatedRuns, measure: Measure) -> Measure:
    """The measure that tests are by: of a whole data set only raw scores have topics."""
    of_mean = isinstance(measure, Standardized) and results.plans[measure].of_mean
    return measure.base if of_mean else measure


def named_if_other(results: EvaluatedRuns, measure: Measure) -> str:
    """The measure that tests are by, where it is another."""
    tested = tested_measure(results, measure)
    return "" if tested == measure else f", of {tested} topic by topic"


def _are_alike(results: EvaluatedRuns, measure: Measure, runs: Sequence[str]) -> bool:
    by = tested_measure(results, measure)
    columns = [results.values[run][by] for run in runs]
    return all(np.allclose(columns[0], c, rtol=0, atol=EXACT, equal_nan=True) for c in columns)


def _test_of(results: EvaluatedRuns, measure: Measure, run: str, other: str) -> Paired:
    """One run against another, by itself; a test of all runs at once takes them all."""
    by = tested_measure(results, measure)
    runs = [r for r in results.runs if r != other] if results.test in FAMILYWISE else [run]
    return paired_tests(
        results.values[other][by],
        {r: results.values[r][by] for r in runs},
        results.topics,
        results.test,
    )[run]


def _significance(ps: Sequence[float]) -> str:
    significant = [p < ALPHA for p in ps]
    if len(ps) == 1:
        return f"that is {'' if significant[0] else 'not '}significant"
    if all(significant):
        return "both are significant"
    if not any(significant):
        return "neither is significant"
    return f"only the {'first' if significant[0] else 'second'} is significant"


def _interval(results: EvaluatedRuns, run: str, measure: Measure) -> str:
    """The interval of a mean; none where it is wider than what scores can be."""
    low, high = mean_estimate(results, run, measure).interval
    if isnan(low):
        return ""
    if is_wide(measure, low, high):
        return f" ({counted(len(results.topics), results.unit)}: too few for an interval)"
    return f" (95% interval {low:.3f} to {high:.3f})"


def _place(results: EvaluatedRuns, run: str, measure: Measure) -> str:
    placed = results.placements.get(run, {}).get(measure)
    if not placed or placed.why_not:
        return ""
    place = f"{',' if placed.among else '; it'} {placed.summary} among the"
    if not is_of_models(results):
        return f"{place} standardizing systems"
    which = "models" if len(results.topics) == 1 else "models that have all data sets"
    which = which if results.unit == "data set" else "models"
    return f"{place} {which}" + f", {placed.neighbours}" * bool(placed.neighbours)
