"""The calls of ir_measures, giving every raw score its standardized companion."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, TypeAlias

from ir_measures.util import Metric

from ir_std.errors import NoFactorsError
from ir_std.evaluation.companions import companions, default_measures, with_direction
from ir_std.evaluation.evaluation import Calculated, Scores
from ir_std.evaluation.evaluator import StdEvaluator
from ir_std.evaluation.plans import match_factors
from ir_std.factors.catalog import Factors, sibling_sets
from ir_std.factors.factor_set import FactorSet
from ir_std.factors.match import Match
from ir_std.factors.schema import parse_set_measure
from ir_std.measures import ExternalMeasure, Measures, as_measures
from ir_std.schemes import scheme_names
from ir_std.scores.run_scores import RunScores
from ir_std.trec.inputs import as_qrels
from ir_std.trec.qrels import Qrels
from ir_std.trec.runs import Run

SystemsSelection: TypeAlias = str | os.PathLike[str] | Iterable[str] | None
"""A kind of systems, as ``"modern"``; or the names of some of a set's, also in a file."""


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

    Examples
    --------
    >>> match = ir_std.recognize("qrels.txt")
    >>> match.factors
    <FactorSet trec8-adhoc: 50 topics, 31 measures>
    >>> print(match)
    using trec8-adhoc (TREC-8 ad hoc, 129 systems): judgments match on 50 of 50 topics
    """
    return match_factors(as_qrels(qrels))


def evaluator(
    measures: Measures,
    qrels: Any,
    *,
    schemes: str | Iterable[str] = "N",
    factors: Factors | None = None,
    systems: SystemsSelection = None,
    without: str | Iterable[str] = (),
    residual: bool = False,
) -> StdEvaluator:
    """An evaluator for these measures and qrels, which serves many runs.

    Parameters
    ----------
    measures : Measure, str or iterable of them, optional
        For every raw one that has factors the standardized companions are added behind it.
    qrels
        A dict of dicts, a DataFrame, named tuples, a file or an ir_datasets id.
    schemes : str or iterable of str
        ``"N"``, ``"N,U"``, ``"all"`` or several names.
    factors : FactorSet, str or path, optional
        The factors to use: a set, its id, or its file; recognized from the qrels if not given.
    systems : str, optional
        Other systems on the same topics, as ``"modern"``: see
        :func:`select_factors`.
    without : str or iterable of str
        Systems of the set to leave out.  Without this a system of the set is standardized by all of
        them, itself included, as Webber, Moffat and Zobel (2008) do.
    residual : bool
        Of a residual collection, such as TREC-COVID's rounds from 2 on: take the documents that
        were judged in earlier rounds out of runs, as they are not in those of the systems.

    Raises
    ------
    NoFactorsError
        If a standardized measure was asked for by name and has no factors.
    UsageError
        If ``residual``, and the set is of no residual collection.

    Examples
    --------
    >>> evaluator = ir_std.evaluator(["AP", "P@10"], "qrels.txt")
    >>> for run in ("bm25.run", "mono.run"):
    ...     scores = evaluator.calc_aggregate(run)
    ...     print(f"{run}: AP {scores['AP']:.4f}, standardized {scores['sAP']:.4f}")
    bm25.run: AP 0.4527, standardized 0.7650
    mono.run: AP 0.4376, standardized 0.7638
    """
    judgments = as_qrels(qrels)
    chosen = select_factors(judgments, factors, systems=systems, without=without)
    return evaluator_for(judgments, measures, scheme_names(schemes), chosen, residual=residual)


def select_factors(
    qrels: Qrels,
    factors: Factors | None = None,
    *,
    systems: SystemsSelection = None,
    without: str | Iterable[str] = (),
) -> Factors | Match | None:
    """Match qrels with the systems that a user asks for; return `factors` if for none.

    Who chose the set stays as it was: only a user who names it overrules judgments that differ.

    Parameters
    ----------
    qrels : Qrels
    factors : FactorSet, str or path, optional
        A set, its id or its file; recognized from the qrels if not given.
    systems : str, path or iterable of str, optional
        Other systems on the same topics, as ``"modern"``: the set that stands beside the one
        that is recognized, or named; of sets of many data sets ``"zero-shot"``, the models that
        were not trained on the data set, or ``"all"``.  Or a file of names, one a line, or the
        names: the factors are computed anew from these of the set's systems.
    without : str or iterable of str
        Systems to leave out: the factors are computed anew from the others.

    Raises
    ------
    NoFactorsError
        If no set fits, or none of such systems stands beside it.
    UsageError
        If a system to leave out is not in the set.
    """
    tags = (without,) if isinstance(without, str) else tuple(without)
    if systems is None and not tags:
        return factors
    from ir_std.factors.derived import (  # seldom needed
        leave_out_systems,
        select_kind,
        select_systems,
    )

    match = match_factors(qrels, factors)
    if match.factors is None:
        raise NoFactorsError(str(match))
    chosen = match.factors
    if isinstance(systems, str) and not os.path.isfile(systems):
        chosen = select_kind(match.factors, systems) or _sibling_set(match.factors, systems)
    elif systems is not None:
        chosen = select_systems(match.factors, systems)
    chosen = leave_out_systems(chosen, tags) if tags else chosen
    return replace(
        match_factors(qrels, chosen), chosen_by=match.chosen_by, elsewhere=match.elsewhere
    )


def _sibling_set(factors: FactorSet, population: str) -> FactorSet:
    """The set of other systems on the topics of a set."""
    if factors.info.get("population") == population:
        return factors
    others = {other.info.get("population", ""): other for other in sibling_sets(factors)}
    if population not in others:
        there = f"there are {', '.join(sorted(others))}" if others else "there are none"
        raise NoFactorsError(f"no {population!r} systems stand beside {factors.id}: {there}")
    return others[population]


def evaluator_for(
    qrels: Qrels,
    measures: Measures | None,
    schemes: Iterable[str],
    factors: Factors | Match | None,
    runs: Iterable[Run | RunScores | str] = (),
    residual: bool = False,
    lower_is_better: Iterable[str] = (),
) -> StdEvaluator:
    """The evaluator of these measures, or of the factor set's own, with their companions.

    Of the set's own only those that all score files in ``runs`` have.

    Raises
    ------
    UsageError
        If of one of the measures in ``lower_is_better`` more is better, or it is not among them.
    """
    match = match_factors(qrels, factors)
    asked = (
        default_measures(match, [run for run in runs if isinstance(run, RunScores)])
        if measures is None
        else as_measures(measures, external_names(runs, match))
    )
    asked = with_direction(asked, match.factors, lower_is_better)
    wanted, messages, plans = companions(asked, match, qrels, schemes)
    return StdEvaluator(wanted, qrels, match, messages, plans, residual)


def external_names(runs: Iterable[Any], match: Match) -> set[str]:
    """Return the names of measures of other programs that scores or a factor set have."""
    known = [m for run in runs if isinstance(run, RunScores) for m in run.values]
    known += map(parse_set_measure, match.factors.measures if match.factors else ())
    return {measure.name for measure in known if isinstance(measure, ExternalMeasure)}


def calc_aggregate(
    measures: Measures,
    qrels: Any,
    run: Any,
    *,
    schemes: str | Iterable[str] = "N",
    factors: Factors | None = None,
    residual: bool = False,
) -> Scores:
    """Means over topics, raw and standardized; parameters as for :func:`evaluator`.

    Examples
    --------
    >>> scores = ir_std.calc_aggregate(["AP", "P@10"], "qrels.txt", "bm25.run")
    >>> {str(measure): round(mean, 4) for measure, mean in scores.items()}
    {'AP': 0.4527, 'sAP': 0.765, 'P@10': 0.642, 'sP@10': 0.7037}
    """
    return evaluator(
        measures, qrels, schemes=schemes, factors=factors, residual=residual
    ).calc_aggregate(run)


def iter_calc(
    measures: Measures,
    qrels: Any,
    run: Any,
    *,
    schemes: str | Iterable[str] = "N",
    factors: Factors | None = None,
    residual: bool = False,
) -> Iterator[Metric]:
    """Values by topic, raw and standardized; parameters as for :func:`evaluator`.

    Examples
    --------
    >>> for value in ir_std.iter_calc("AP", "qrels.txt", "bm25.run"):
    ...     if value.query_id == "401":
    ...         print(value.measure, round(value.value, 4))
    AP 0.7607
    sAP 1.0
    """
    return evaluator(
        measures, qrels, schemes=schemes, factors=factors, residual=residual
    ).iter_calc(run)


def calc(
    measures: Measures,
    qrels: Any,
    run: Any,
    *,
    schemes: str | Iterable[str] = "N",
    factors: Factors | None = None,
    residual: bool = False,
) -> Calculated:
    """Means and values by topic, raw and standardized; parameters as for :func:`evaluator`.

    Examples
    --------
    >>> means, values = ir_std.calc("AP", "qrels.txt", "bm25.run")
    >>> round(means["sAP"], 4), len(values)
    (0.765, 100)
    """
    return evaluator(measures, qrels, schemes=schemes, factors=factors, residual=residual).calc(run)
