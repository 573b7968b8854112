"""Which measures are evaluated: those asked for, or a set's, and their standardized companions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ir_measures.measures import Measure

from ir_std.errors import NoFactorsError, UsageError
from ir_std.evaluation.messages import Message
from ir_std.evaluation.plans import Plan, has_values, make_plan, other_sets_with, similar_measures
from ir_std.factors.factor_set import FactorSet
from ir_std.factors.match import Match
from ir_std.factors.schema import parse_set_measure
from ir_std.measures import (
    ExternalMeasure,
    Standardized,
    canonical,
    equivalents,
    has_standardized,
    lower_measures,
    measure_record,
    standardized,
)
from ir_std.scores.run_scores import RunScores
from ir_std.trec.qrels import Qrels

FALLBACK_MEASURES = ("AP", "nDCG", "P@10", "RR", "Rprec")
"""Reported when no measure is named and no factor set is recognized."""


def with_direction(
    measures: Iterable[Measure], factors: FactorSet | None, lower_is_better: Iterable[str]
) -> list[Measure]:
    """The measures, external ones knowing whether less is better: by a set, or as the user says."""
    measures = list(measures)
    lower = {str(measure) for measure in lower_measures(lower_is_better, measures)}
    directed: list[Measure] = []
    for measure in measures:
        if isinstance(measure, ExternalMeasure):
            name = str(measure)
            sign = factors.sign(name) if factors and name in factors.measures else 0
            if factors and sign > 0 and name in lower:
                raise UsageError(f"by {factors.id} more is better of {name}: build the set anew")
            is_lower = measure.lower_is_better or name in lower or sign < 0
            measure = ExternalMeasure(measure.name, is_lower)
        directed.append(measure)
    return directed


def default_measures(match: Match, scores: list[RunScores]) -> list[Measure]:
    """The measures to report when none is named; of score files those that all of them have."""
    names = match.factors.default_measures if match.factors else FALLBACK_MEASURES
    defaults = [parse_set_measure(name) for name in names]
    if not scores:
        return defaults
    known = {canonical(m): m for m in scores[0].values if all(m in s.values for s in scores)}
    if match.factors is None:
        return list(known.values())
    # With binary judgments a set's nDCG(rel=1) is what others call nDCG.
    forms = [{canonical(form) for form in equivalents(m, binary=True)} for m in defaults]
    usual = {
        name: measure
        for equal in forms
        for name, measure in known.items()
        if name in equal and measure_record(measure).high == 1
    }
    external = {name: m for name, m in known.items() if isinstance(m, ExternalMeasure)}
    return list((usual | external if usual else known).values())


def companions(
    measures: Iterable[Measure], match: Match, qrels: Qrels, schemes: Iterable[str]
) -> tuple[list[Measure], tuple[Message, ...], list[Plan]]:
    """Each measure and behind it the standardized ones that the factors allow.

    Returns
    -------
    measures : list of Measure
    messages : tuple of Message
        Which measures have no factors, and which the set has.
    plans : list of Plan
        Of the standardized measures that were added.
    """
    schemes = list(schemes)
    wanted: list[Measure] = []
    plans: list[Plan] = []
    without: dict[str, list[str]] = {}
    obstructed: dict[str, dict[str, None]] = {}
    for measure in measures:
        wanted.append(measure)
        if isinstance(measure, Standardized) or not has_standardized(measure):
            continue
        for scheme in schemes:
            companion = standardized(measure, **({} if scheme == "N" else {"scheme": scheme}))
            try:
                plan = make_plan(companion, match, qrels)
            except NoFactorsError as missing:
                if missing.obstacle:
                    obstructed.setdefault(missing.obstacle, {})[str(measure)] = None
                else:
                    without.setdefault(scheme, []).append(str(measure))
            else:
                if has_values(plan.factors.mean[plan.name], plan.rows):
                    wanted.append(companion)
                    plans.append(plan)
    return wanted, tuple(map(Message, _without_companion(without, obstructed, match))), plans


def _without_companion(
    without: dict[str, list[str]], obstructed: dict[str, dict[str, None]], match: Match
) -> Iterator[str]:
    """Which raw measures have no companion: by scheme if the set lacks them, else by obstacle."""
    if match.factors is None:
        if without:
            yield str(match)
        return
    factors = match.factors
    for obstacle, names in obstructed.items():
        yield f"{factors.id}'s factors for {', '.join(names)} do not apply: {obstacle}"
    for scheme, listed in without.items():
        what, has = (
            ("distributions", factors.scores) if scheme == "E" else ("factors", factors.measures)
        )
        yield (
            f"{factors.id} has no {what} for {', '.join(listed)} (scheme {scheme}); it has "
            f"{similar_measures(has, listed)}{other_sets_with(listed, match)}"
        )
