"""Extend PyTerrier by ``pt.std``.

PyTerrier finds this module by the entry point of the installed distribution, so a program that
imports PyTerrier need not import ir_std.  ``pt.std`` has all names of ir_std, measures such as
``pt.std.snDCG`` among them, and the contents of this module.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import ir_measures
import pandas as pd
import pyterrier as pt
from ir_measures.measures import Measure

import ir_std
from ir_std.errors import UsageError, warn_caller
from ir_std.evaluation.evaluation import message_texts
from ir_std.evaluation.plans import (
    Decision,
    add_standardized,
    highest_level_of_collection,
    make_plan,
    match_factors,
)
from ir_std.factors.catalog import Factors
from ir_std.factors.match import Match
from ir_std.measures import Standardized, gains_are_shares, parse_measure
from ir_std.measures.objects import TypedMeasure
from ir_std.schemes import scheme_names
from ir_std.trec.inputs import as_qrels
from ir_std.trec.qrels import Qrels


def Experiment(  # noqa: N802 - PyTerrier's name
    retr_systems: Any,
    topics: Any,
    qrels: Any,
    eval_metrics: Iterable[Measure | str],
    names: Any = None,
    *,
    schemes: str | Iterable[str] = "N",
    factors: Factors | None = None,
    **options: Any,
) -> Any:
    """Run ``pt.Experiment`` with a standardized score behind each raw one that has factors.

    The factor set is recognized once, from all of ``qrels``, so batches cannot be taken for
    another collection.

    Parameters
    ----------
    retr_systems, topics, qrels, names
        As for ``pt.Experiment``.
    eval_metrics : iterable of Measure or str
        Measures, by name too: ``"snDCG@10"``, ``"AP"``, and what PyTerrier knows (``"map"``,
        ``"official"``, ``"mrt"``), which keeps its name and meaning there.
    schemes : str or iterable of str
        ``"N"``, ``"N,U"``, ``"all"`` or several names.
    factors : FactorSet, str or path, optional
        The factors to use: a set on disk, a set's id, or its file.
    **options
        As for ``pt.Experiment``: ``perquery``, ``baseline``, ``batch_size``, ...

    Returns
    -------
    What ``pt.Experiment`` returns; the columns of means are in the order of the request.

    Raises
    ------
    UsageError
        If ``factors`` is a set that is not on disk.
    """
    judgments = as_qrels(qrels)
    match = match_factors(judgments, factors)
    if match.factors and match.factors.path is None:
        raise UsageError(f"{match.factors.id} is not on disk; save it and pass its file")
    metrics = [eval_metrics] if isinstance(eval_metrics, (str, Measure)) else eval_metrics
    columns, messages = dict[str, Measure | str](), dict[str, None]()
    for metric in map(_parsed, metrics):
        added = add_standardized(_measures_of(metric), match, judgments, scheme_names(schemes))
        messages |= dict.fromkeys(message_texts(added.messages, False))
        refused = {
            plan.measure: plan.factors.id for plan in added.plans if plan.factors.of_datasets
        }
        for set_id in refused.values():
            messages[
                f"{set_id} has per-dataset factors, but pt.Experiment averages over topics; "
                "use ir_std.evaluate"
            ] = None
        wanted = [m for m in added.measures if isinstance(m, Standardized) and m not in refused]
        for part in [*([] if isinstance(metric, Standardized) else [metric]), *wanted]:
            # Once, though its raw measure may bring it too.
            columns[str(part)] = _decided(part, match, judgments)
    warn_caller(messages)
    outcome = pt.Experiment(retr_systems, topics, qrels, [*columns.values()], names, **options)
    return _in_order(outcome, [*columns])


def _in_order(outcome: Any, asked: list[str]) -> Any:
    """Return PyTerrier's result with columns in the order that was asked for."""
    if isinstance(outcome, tuple) and hasattr(outcome, "averages"):  # perquery="both"
        return outcome._replace(averages=_in_order(outcome.averages, asked))  # type: ignore[attr-defined]
    if not isinstance(outcome, pd.DataFrame):
        return outcome
    first = ["name", *(name for name in asked if name in outcome.columns)]
    return outcome[[*first, *(name for name in outcome.columns if name not in first)]]


def _parsed(metric: Measure | str) -> Measure | str:
    """Return a measure; names that PyTerrier knows stay names, so that they keep their meaning."""
    if metric == "mrt":
        return metric
    try:
        if isinstance(metric, str):
            ir_measures.parse_trec_measure(metric)
        return metric
    except ValueError:  # not PyTerrier's
        return parse_measure(metric)


def _measures_of(metric: Measure | str) -> list[Measure]:
    """Return the measures that a metric of PyTerrier stands for."""
    if not isinstance(metric, str):
        return [metric]
    measures: list[Measure] = [] if metric == "mrt" else ir_measures.parse_trec_measure(metric)
    return measures


def _decided(metric: Measure | str, match: Match, qrels: Qrels) -> Measure | str:
    """Return a measure with what all qrels decide, so that batches of topics do not."""
    plan, given = None, metric
    if isinstance(metric, Standardized):
        if match.factors is None or "factors" in metric.params:
            return metric
        plan = make_plan(metric, match, qrels)
        metric = metric(factors=match.factors.path)
    elif isinstance(metric, TypedMeasure) and gains_are_shares(metric):
        metric = metric()
    else:
        return metric
    # PyTerrier calls columns by str(); measures are told apart by repr().
    highest = highest_level_of_collection(match.fit, qrels) if match.fit else qrels.max_level
    metric.decided = Decision(str(given), match, plan, highest)
    return metric


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(ir_std, name)


def __dir__() -> list[str]:
    return sorted({*dir(ir_std), "Experiment"})
