"""The calls of ir_measures, giving every raw score its standardized companion."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ir_measures.measures import Measure
from ir_measures.util import CalcResults, Metric

from ir_std.errors import InputError, NoFactorsError
from ir_std.evaluation.plans import any_known, find_factors, plan
from ir_std.evaluation.provider import Scores, StdEvaluator
from ir_std.factors.factor_set import FactorSet
from ir_std.factors.recognition import Match
from ir_std.measures import Standardized, has_standardized, parse_measure, standardized
from ir_std.schemes import scheme_names
from ir_std.trec.inputs import as_qrels
from ir_std.trec.qrels import Qrels
from ir_std.trec.runs import Run

FALLBACK_MEASURES = ("AP", "nDCG", "P@10", "RR", "Rprec")
"""Reported when no measure is named and no factor set is recognized."""


def recognize(qrels: Any) -> Match:
    """Recognize the collection of qrels.

    Parameters
    ----------
    qrels
        A file, a dict of dicts, a DataFrame, named tuples or an ir_datasets id.

    Returns
    -------
    Match
        The set that fits, the topics matched, those whose counts differ, other sets that would
        fit, or the nearest ones and why they do not.
    """
    return find_factors(as_qrels(qrels))


def evaluator(measures: Iterable[Measure], qrels: Any, *, schemes: str | Iterable[str] = "N",
              factors: FactorSet | str | None = None) -> StdEvaluator:
    """An evaluator for these measures and qrels, which serves many runs.

    Parameters
    ----------
    measures : iterable of Measure
        For every raw one that has factors the standardized companions are added behind it.
    qrels
        A dict of dicts, a DataFrame, named tuples, a file or an ir_datasets id.
    schemes : str or iterable of str
        ``"N"``, ``"N,U"``, ``"all"`` or several names.
    factors : FactorSet, str or path, optional
        The factors to use; recognized from the qrels if not given.

    Raises
    ------
    NoFactorsError
        If a standardized measure was asked for by name and has no factors.
    """
    return evaluator_for(as_qrels(qrels), list(measures), scheme_names(schemes), factors)


def evaluator_for(qrels: Qrels, measures: Iterable[Measure | str] | Measure | str | None,
                  schemes: Iterable[str], factors: FactorSet | str | None) -> StdEvaluator:
    """The evaluator of these measures, or of the factor set's own, with their companions."""
    match = find_factors(qrels, factors)
    if isinstance(measures, (str, Measure)):
        measures = [measures]
    if measures is None:
        measures = match.factors.default_measures if match.factors else FALLBACK_MEASURES
    wanted, notes = companions(map(parse_measure, measures), match, qrels, schemes)
    return StdEvaluator(wanted, qrels, match, notes)


def check_common_topics(run: Run, qrels: Qrels) -> None:
    """Check that a run and qrels belong together.

    Raises
    ------
    InputError
        If they have no topic in common.
    """
    if not run.bounds.keys() & set(qrels.topics):
        raise InputError.at(
            run.name, None, f"no topic in common with {qrels.name} (topics here such as "
            f"{next(iter(run.topics), 'none')}, there such as {next(iter(qrels.topics), 'none')})",
            "give the qrels of the run's own topics")


def companions(measures: Iterable[Measure], match: Match, qrels: Qrels,
               schemes: Iterable[str]) -> tuple[list[Measure], tuple[str, ...]]:
    """Each measure and behind it the standardized ones that the factors allow.

    Returns
    -------
    measures : list of Measure
    notes : tuple of str
        Which measures have no factors, and which the set has.
    """
    schemes = list(schemes)
    wanted: list[Measure] = []
    without: dict[str, list[str]] = {}
    for measure in measures:
        wanted.append(measure)
        if isinstance(measure, Standardized) or not has_standardized(measure):
            continue
        for scheme in schemes:
            companion = standardized(measure, **({} if scheme == "N" else {"scheme": scheme}))
            if _applies(companion, match, qrels):
                wanted.append(companion)
            else:
                without.setdefault(scheme, []).append(str(measure))
    return wanted, _notes(without, match)


def _applies(companion: Standardized, match: Match, qrels: Qrels) -> bool:
    """Whether a measure has factors on one of the topics."""
    try:
        planned = plan(companion, match, qrels)
    except NoFactorsError:
        return False
    factors = planned.factors
    return any_known(factors.mean[planned.name], factors.rows(qrels.topics))


def _notes(without: dict[str, list[str]], match: Match) -> tuple[str, ...]:
    if match.factors is None or not without:
        return ()
    factors = match.factors
    return tuple(
        f"{factors.id} has no {'distributions' if scheme == 'E' else 'factors'} for "
        f"{', '.join(names)} (scheme {scheme}); it has "
        f"{', '.join(factors.scores if scheme == 'E' else factors.measures) or 'none'}"
        for scheme, names in without.items())


def calc_aggregate(measures: Iterable[Measure], qrels: Any, run: Any, *,
                   schemes: str | Iterable[str] = "N",
                   factors: FactorSet | str | None = None) -> Scores:
    """Means over topics, raw and standardized; parameters as for :func:`evaluator`.

    >>> calc_aggregate([AP, P@10], "qrels.txt", "run.txt")      # doctest: +SKIP
    {AP: 0.324, sAP: 0.693, P@10: 0.568, sP@10: 0.667}
    """
    return evaluator(measures, qrels, schemes=schemes, factors=factors).calc_aggregate(run)


def iter_calc(measures: Iterable[Measure], qrels: Any, run: Any, *,
              schemes: str | Iterable[str] = "N",
              factors: FactorSet | str | None = None) -> Iterator[Metric]:
    """Values by topic, raw and standardized; parameters as for :func:`evaluator`."""
    return evaluator(measures, qrels, schemes=schemes, factors=factors).iter_calc(run)


def calc(measures: Iterable[Measure], qrels: Any, run: Any, *,
         schemes: str | Iterable[str] = "N",
         factors: FactorSet | str | None = None) -> CalcResults:
    """Means and values by topic, raw and standardized; parameters as for :func:`evaluator`."""
    return evaluator(measures, qrels, schemes=schemes, factors=factors).calc(run)
