"""What results say, in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isnan

import numpy as np
import numpy.typing as npt
from ir_measures.measures import Measure

from ir_std.analysis.paired import ALPHA, FAMILYWISE, describe_test, get_test, paired_tests
from ir_std.evaluation.plans import Plan
from ir_std.factors.factor_set import FactorSet
from ir_std.factors.fit import Fit
from ir_std.measures import Standardized, sign_of
from ir_std.reporting.evaluated_runs import EvaluatedRuns
from ir_std.reporting.figure_data import mean_estimate, runs_by_mean

NAMED = 3
"""Runs that a sentence names; more are counted."""
TENTH, THIRD = 1 / 10, 1 / 3
"""A sentence warns of a run that is at an end of its scale on this share of topics or more."""


def describe_results(results: EvaluatedRuns, measure: Measure) -> list[str]:
    """The best run, what differs from the baseline, how the factors fit, and saturation if any."""
    order = [
        run for run in runs_by_mean(results, measure) if not isnan(results.means[run][measure])
    ]
    if not order:
        return [f"No run has a {measure}.", _fit(results, measure)]
    parts = [
        _best(results, measure, order),
        _compared(results, measure, order),
        results.could_be_first(measure),
        _fit(results, measure),
        *_saturated(results, measure, order),
    ]
    return [text for text in parts if text]


def _best(results: EvaluatedRuns, measure: Measure, order: Sequence[str]) -> str:
    first = order[0]
    mean = results.means[first][measure]
    low, high = mean_estimate(results, first, measure).interval
    between = f" (95% interval {low:.3f} to {high:.3f})" if low == low else ""
    placed = results.placements.get(first, {}).get(measure)
    place = ""
    if placed and not placed.why_not:
        place = (
            f"{',' if placed.among else '; it'} {placed.summary} among the standardizing systems"
        )
    tied = sum(results.means[run][measure] == mean for run in order) - 1
    also = f" together with {_count(tied, 'other run')}" if tied else ""
    if len(results.runs) == 1:
        return f"{first} has a mean {measure} of {mean:.3f}{between}{place}."
    return (
        f"{first} is the best of the {len(results.runs)} runs by {measure}{also}: "
        f"{mean:.3f}{between}{place}."
    )


def _compared(results: EvaluatedRuns, measure: Measure, order: Sequence[str]) -> str:
    if results.baseline is not None:
        return _against_baseline(results, measure)
    if len(order) > 1:
        return _against_second(results, measure, *order[:2])
    return _against_systems(results, measure, order[0])


def _against_baseline(results: EvaluatedRuns, measure: Measure) -> str:
    by = _by_topic(results, measure)
    tested = [
        (run, results.tests[run][by])
        for run in runs_by_mean(results, measure)
        if run in results.tests
    ]
    if not tested:
        return ""
    sign = sign_of(measure)
    better = [run for run, t in tested if t.significant and sign * t.difference > 0]
    worse = [run for run, t in tested if t.significant and sign * t.difference < 0]
    rest = len(tested) - len(better) - len(worse)
    test = describe_test(results.test, results.correction, len(tested))
    how = f"{test}{_named_if_other(by, measure)}"
    if rest == len(tested):
        which = "No other run differs" if rest > 1 else f"{tested[0][0]} does not differ"
        return f"{which} significantly from the baseline {results.baseline}: {how}."
    verdicts = [
        f"{len(runs)} {'is' if len(runs) == 1 else 'are'} significantly {word} ({_listed(runs)})"
        for runs, word in ((better, "better"), (worse, "worse"))
        if runs
    ]
    if rest:
        verdicts.append(f"{rest} {'does' if rest == 1 else 'do'} not differ significantly from it")
    return (
        f"Of {_count(len(tested), 'run')} beside the baseline {results.baseline}, "
        f"{join_with_and(verdicts)}: {how}."
    )


def _against_second(results: EvaluatedRuns, measure: Measure, first: str, second: str) -> str:
    by = _by_topic(results, measure)
    # A test of all runs at once takes them all.
    others = (
        [run for run in results.runs if run != second] if results.test in FAMILYWISE else [first]
    )
    test = paired_tests(
        results.values[second][by],
        {run: results.values[run][by] for run in others},
        results.topics,
        results.test,
    )[first]
    if isnan(test.p):
        return ""
    verdict = "is significant" if test.p < ALPHA else "is not significant"
    return (
        f"Its lead over {second}, the second, {verdict}: {sign_of(measure) * test.difference:.3f} "
        f"({get_test(results.test)[1]}{_named_if_other(by, measure)}, {p_text(test.p)})."
    )


def _by_topic(results: EvaluatedRuns, measure: Measure) -> Measure:
    """The measure that tests are by: of a whole data set only raw scores have topics."""
    return (
        measure.base
        if (isinstance(measure, Standardized) and results.plans[measure].of_mean)
        else measure
    )


def _named_if_other(tested: Measure, measure: Measure) -> str:
    return "" if tested == measure else f", of {tested} topic by topic"


def _against_systems(results: EvaluatedRuns, measure: Measure, run: str) -> str:
    if not isinstance(measure, Standardized) or results.plans[measure].of_mean:
        return ""
    z = results.deviations(run, measure)
    return (
        f"It is above the mean of the standardizing systems on {int((z > 0).sum())} of "
        f"{_count(int((z == z).sum()), 'topic')}."
    )


def _fit(results: EvaluatedRuns, measure: Measure) -> str:
    match = results.match
    if isinstance(measure, Standardized):
        factors = results.plans[measure].factors
        if match is None or factors is not match.factors:
            return f"Its factors are those of {factors.title}, named in the measure."
    if match is None or match.fit is None:
        return "The scores are raw: they compare only with those of the same topics."
    fit = match.fit
    if fit.dataset is not None:
        return _fit_of_dataset(results, measure, fit.dataset)
    total = len(fit.matched) + len(fit.missing)
    systems = join_with_and(
        f"{part.systems_text()} systems of {part.title}" for part in sets_of(fit)
    )
    if fit.missing:
        return (
            f"The factors, from the {systems}, cover {len(fit.matched)} of {total} topics; the "
            f"others have no standardized score."
        )
    if fit.refuted:
        return (
            f"The factors, from the {systems}, are of these judgments on "
            f"{total - len(fit.refuted)} of {total} topics; the others were judged otherwise."
        )
    if fit.differ:
        return (
            f"The factors, from the {systems}, fit nearly: {_count(len(fit.differ), 'topic')} "
            f"of {total} {'was' if len(fit.differ) == 1 else 'were'} judged again since."
        )
    return f"The factors, from the {systems}, fit all {_count(total, 'topic')}."


def _fit_of_dataset(results: EvaluatedRuns, measure: Measure, dataset: str) -> str:
    plan = next((p for p in results.plans.values() if measure in (p.measure, p.measure.base)), None)
    if plan is None:
        return f"No factors are known for {measure} on {dataset}."
    return (
        f"The factors, from the {dataset_systems(plan)}, are of the whole data set: a mean can be "
        "standardized, no topic by itself."
    )


def dataset_systems(plan: Plan) -> str:
    """The systems behind the factors of a whole data set, in words."""
    return f"{int(n_systems(plan)[0])} systems of {plan.factors.title} with {plan.topics[0]}"


def sets_of(fit: Fit) -> list[FactorSet]:
    """The factor sets of a fit: several where the topics are of several tracks."""
    return [part.factors for part in fit.parts or (fit,)]


def n_systems(plan: Plan) -> npt.NDArray[np.float64]:
    """How many standardizing systems there are on each of a plan's topics."""
    scores = plan.factors.scores.get(plan.name)
    if scores is None:
        return np.full(len(plan.rows), float(plan.factors.n_systems[plan.name]))
    return np.where(plan.rows >= 0, (~np.isnan(scores)).sum(axis=1)[plan.rows], np.nan)


def _saturated(results: EvaluatedRuns, measure: Measure, order: Iterable[str]) -> list[str]:
    """Runs so far from the systems that the scale's end holds them on many topics."""
    if not isinstance(measure, Standardized) or results.plans[measure].of_mean:
        return []
    runs = [
        run
        for run in order
        if not results.evaluations[run].is_broken
        and is_saturated(measure, results.values[run][measure])
    ]
    if not runs:
        return []
    return [
        f"Saturation: on many topics {_listed(runs)} {'is' if len(runs) == 1 else 'are'} at "
        f"an end of the scale of {measure}, where runs can hardly be told apart; scheme z has "
        f"no ends."
    ]


def is_saturated(measure: Standardized, values: npt.NDArray[np.float64]) -> bool:
    """Whether scores by topic are so often at an end of their scale that runs hardly differ."""
    known = values[~np.isnan(values)]
    if not len(known) or measure["scheme"] == "z":
        return False
    if measure["scheme"] == "E":
        return bool(np.mean(known >= 1) >= THIRD)
    return bool(np.mean((known > 0.99) | (known < 0.01)) >= TENTH)


def join_with_and(parts: Iterable[str]) -> str:
    """``a, b and c``."""
    *most, last = parts
    return f"{', '.join(most)} and {last}" if most else last


def _listed(runs: Sequence[str]) -> str:
    if len(runs) <= NAMED + 1:  # "1 more" is no shorter than its name
        return join_with_and(runs)
    return join_with_and([*runs[:NAMED], f"{len(runs) - NAMED} more"])


def _count(n: int, what: str) -> str:
    return f"{n} {what}{'' if n == 1 else 's'}"


def p_text(p: float) -> str:
    """``p = 0.012``; below a thousandth that alone."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"
