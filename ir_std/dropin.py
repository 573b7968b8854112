"""The calls of ir_measures, giving every raw score its standardized companion."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ir_measures.measures import Measure
from ir_measures.util import CalcResults, Metric

from ir_std.catalog import Match
from ir_std.errors import NoFactorsError
from ir_std.factors import FactorSet
from ir_std.inputs import as_qrels
from ir_std.measures import Standardized, has_standardized, standardized
from ir_std.provider import Scores, StdEvaluator, find_factors, plan
from ir_std.runs import Qrels
from ir_std.schemes import scheme_names


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
    judgments = as_qrels(qrels)
    match = find_factors(judgments, factors)
    wanted, notes = companions(measures, match, judgments, scheme_names(schemes))
    return StdEvaluator(wanted, judgments, match, notes)


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
            try:
                plan(companion, match, qrels)
            except NoFactorsError:
                without.setdefault(scheme, []).append(str(measure))
            else:
                wanted.append(companion)
    return wanted, _notes(without, match)


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
