"""What results say, in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isnan

import numpy as np
import numpy.typing as npt
from ir_measures.measures import Measure

from ir_std.analysis.paired import describe_test
from ir_std.errors import abbreviate, counted
from ir_std.evaluation.messages import message_texts
from ir_std.evaluation.plans import Plan
from ir_std.factors.factor_set import FactorSet
from ir_std.factors.fit import Fit
from ir_std.measures import Standardized, sign_of
from ir_std.reporting.evaluated_runs import EvaluatedRuns
from ir_std.reporting.figure_data import runs_by_mean
from ir_std.reporting.html.leads import (
    best_sentence,
    lead_sentence,
    named_if_other,
    tested_measure,
    tied_for_first,
)
from ir_std.reporting.html.phrases import is_of_models, join_with_and, listed

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
        best_sentence(results, measure, order),
        *_compared(results, measure, order),
        results.could_be_first(measure),
        _fit(results, measure),
        *_saturated(results, measure, order),
    ]
    return [text for text in parts if text]


def trust(results: EvaluatedRuns, measure: Measure) -> list[str]:
    """What changes how to read the sentences: warnings of the factors and of the runs they name.

    Faults come first, those of other runs, too; what does not mislead by this measure is left out,
    and that there are more warnings is counted.
    """
    order = runs_by_mean(results, measure)
    best = tied_for_first(results, measure, order)
    after = [run for run in order if run not in best][:1]
    named = {*best, *after, results.baseline}
    messages = [
        message
        for run in order
        for message in results.evaluations[run].messages
        if message.concerns(measure) and (message.is_fault or (message.warns and run in named))
    ]
    texts = message_texts((m._replace(warns=True) for m in messages if m.is_fault), True)
    texts += message_texts([m for m in results.evaluator.messages if m.warns], True)
    texts += message_texts([m for m in messages if not m.is_fault], True)
    others = [
        run
        for run in order
        if run not in named
        and any(m.warns and m.concerns(measure) for m in results.evaluations[run].messages)
        and not results.evaluations[run].is_broken
    ]
    if others:
        texts += (f"there are warnings of {abbreviate(others)}, below",)
    return [f"Warning: {text}." for text in texts]


def _compared(results: EvaluatedRuns, measure: Measure, order: Sequence[str]) -> list[str]:
    if len(order) == 1 and results.baseline is None:
        return [_against_systems(results, measure, order[0])]
    lead = lead_sentence(results, measure, order)
    if lead and len(results.runs) == 2:  # which says it all
        return [lead]
    return [lead, _against_baseline(results, measure, order)]


def _against_baseline(results: EvaluatedRuns, measure: Measure, order: Sequence[str]) -> str:
    """Which runs differ from the baseline."""
    if results.baseline is None:
        return ""
    by = tested_measure(results, measure)
    tested = [(run, results.tests[run][by]) for run in order if run in results.tests]
    if not tested:
        return ""
    sign = sign_of(measure)
    better = [run for run, t in tested if t.significant and sign * t.difference > 0]
    worse = [run for run, t in tested if t.significant and sign * t.difference < 0]
    rest = len(tested) - len(better) - len(worse)
    test = describe_test(results.test, results.correction, len(tested))
    how = f"{test}{named_if_other(results, measure)}"
    if results.unit == "data set":
        how = how.replace("over topics", "over data sets")
    if rest == len(tested):
        which = "No other run differs" if rest > 1 else f"{tested[0][0]} does not differ"
        return f"{which} significantly from the baseline {results.baseline}: {how}."
    verdicts = [
        f"{len(runs)} {'is' if len(runs) == 1 else 'are'} significantly {word} ({listed(runs)})"
        for runs, word in ((better, "better"), (worse, "worse"))
        if runs
    ]
    if rest:
        verdicts.append(f"{rest} {'does' if rest == 1 else 'do'} not differ significantly from it")
    return (
        f"Of {counted(len(tested), 'run')} beside the baseline {results.baseline}, "
        f"{join_with_and(verdicts)}: {how}."
    )


def _against_systems(results: EvaluatedRuns, measure: Measure, run: str) -> str:
    if not isinstance(measure, Standardized) or results.plans[measure].of_mean:
        return ""
    z = results.deviations(run, measure)
    systems = "models" if is_of_models(results) else "standardizing systems"
    return (
        f"It is above the mean of the {systems} "
        f"on {int((z > 0).sum())} of {counted(int((z == z).sum()), results.unit)}."
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
    if fit.factors.of_datasets:
        return _fit_of_datasets(results, measure, fit)
    total = len(fit.matched) + len(fit.missing)
    systems = join_with_and(
        f"{part.systems_text()} systems of {part.title}{_worth(results, measure, part)}"
        for part in sets_of(fit)
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
            f"The factors, from the {systems}, fit nearly: {counted(len(fit.differ), 'topic')} "
            f"of {total} {'was' if len(fit.differ) == 1 else 'were'} judged again since."
        )
    return f"The factors, from the {systems}, fit all {counted(total, 'topic')}."


def _worth(results: EvaluatedRuns, measure: Measure, factors: FactorSet) -> str:
    """What is known against a measure's factors, in brackets; nothing if nothing is."""
    plan = results.plan_behind(measure)
    worth = plan and results.match and results.match.worth([plan.name]).get(factors.id)
    return f" ({worth})" if worth else ""


def _fit_of_dataset(results: EvaluatedRuns, measure: Measure, dataset: str) -> str:
    plan = next((p for p in results.plans.values() if measure in (p.measure, p.measure.base)), None)
    if plan is None:
        return f"No factors are known for {measure} on {dataset}."
    return (
        f"The factors, from the {dataset_systems(plan)}, are of the whole data set: a mean can be "
        "standardized, no topic by itself."
    )


def _fit_of_datasets(results: EvaluatedRuns, measure: Measure, fit: Fit) -> str:
    """How many models there are on these data sets."""
    plan = next((p for p in results.plans.values() if measure in (p.measure, p.measure.base)), None)
    if plan is None:
        return f"No factors are known for {measure} on these data sets."
    counts = n_systems(plan)
    known = sorted({int(n) for n in counts[counts > 0]})
    models = " to ".join(str(n) for n in dict.fromkeys((known[0], known[-1]))) if known else "no"
    on = plan.topics[0] if len(plan.topics) == 1 else "each data set"
    return (
        f"The factors are from the {models} models on {on} ({fit.factors.title}"
        f"{_worth(results, measure, fit.factors).replace(' (', '; ').rstrip(')')}): "
        f"{int((counts > 0).sum())} of {counted(len(plan.topics), 'data set')} matched."
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
        f"Saturation: on many topics {listed(runs)} {'is' if len(runs) == 1 else 'are'} at "
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
