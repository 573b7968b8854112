"""Extend PyTerrier by ``pt.std``.

PyTerrier finds this module through the entry point of the installed distribution, so you only need
to import PyTerrier.  ``pt.std`` contains all names of ir_std, including measures such as
``pt.std.snDCG``, and the contents of this module.
"""

from collections.abc import Iterable
from typing import Any

import ir_measures
import pandas as pd
import pyterrier as pt

import ir_std
from ir_std.errors import UsageError, warn_caller
from ir_std.evaluation import plans
from ir_std.evaluation.evaluation import message_texts
from ir_std.factors.catalog import Factors
from ir_std.factors.match import Match
from ir_std.measures import Measure, Standardized, gains_are_shares, parse_measure
from ir_std.measures.objects import TypedMeasure
from ir_std.schemes import scheme_names
from ir_std.trec import Qrels, as_qrels


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
    """Run ``pt.Experiment``, and add standardized scores for raw measures that have factors.

    The factor set is recognized once from all of ``qrels``, so a batch cannot be mistaken for
    another collection.

    Parameters
    ----------
    retr_systems, topics, qrels, names
        As for ``pt.Experiment``.
    eval_metrics : iterable of Measure or str
        Measures as objects or names, such as ``"snDCG@10"`` or ``"AP"``.  PyTerrier's own names,
        such as ``"map"``, ``"official"`` and ``"mrt"``, keep their meaning.
    schemes : str or iterable of str
        Standardization schemes, such as ``"N"``, ``"N,U"``, ``"all"`` or a list of names.
    factors : FactorSet, str or path, optional
        Factor set to use, which must be on disk.  Pass the set, its ID or its file.
    **options
        Other options of ``pt.Experiment``, such as ``perquery``, ``baseline`` and ``batch_size``.

    Returns
    -------
    The result of ``pt.Experiment``.  The columns of means are in the requested order.

    Raises
    ------
    UsageError
        If ``factors`` is a set that is not on disk.
    """
    judgments = as_qrels(qrels)
    match = plans.match_factors(judgments, factors)
    if match.factors and match.factors.path is None:
        raise UsageError(f"{match.factors.id} is not on disk; save it and pass its file")
    metrics = [eval_metrics] if isinstance(eval_metrics, (str, Measure)) else eval_metrics
    columns, messages = dict[str, Measure | str](), dict[str, None]()
    for metric in map(_parsed, metrics):
        added = plans.add_standardized(
            _measures_of(metric), match, judgments, scheme_names(schemes)
        )
        messages |= dict.fromkeys(message_texts(added.messages, False))
        refused = {
            plan.measure: plan.factors.id for plan in added.plans if plan.factors.of_datasets
        }
        messages |= dict.fromkeys(
            f"{set_id} has per-dataset factors, but pt.Experiment averages over topics; "
            "use ir_std.evaluate"
            for set_id in refused.values()
        )
        wanted = [m for m in added.measures if isinstance(m, Standardized) and m not in refused]
        for part in [*([] if isinstance(metric, Standardized) else [metric]), *wanted]:
            # The keys are names, because a standardized measure may be requested and also be added
            # for its raw measure.
            columns[str(part)] = _decided(part, match, judgments)
    warn_caller(messages)
    outcome = pt.Experiment(retr_systems, topics, qrels, [*columns.values()], names, **options)
    return _in_order(outcome, [*columns])


def _in_order(outcome: Any, asked: list[str]) -> Any:
    """Return PyTerrier's result with the columns in the requested order."""
    if isinstance(outcome, tuple) and hasattr(outcome, "averages"):  # perquery="both"
        return outcome._replace(averages=_in_order(outcome.averages, asked))  # type: ignore[attr-defined]
    if not isinstance(outcome, pd.DataFrame):
        return outcome
    first = ["name", *(name for name in asked if name in outcome.columns)]
    return outcome[[*first, *(name for name in outcome.columns if name not in first)]]


def _parsed(metric: Measure | str) -> Measure | str:
    """Parse a metric; return PyTerrier's own names unchanged, so that they keep their meaning."""
    if metric == "mrt":
        return metric
    try:
        if isinstance(metric, str):
            ir_measures.parse_trec_measure(metric)
        return metric
    except ValueError:  # not a PyTerrier name
        return parse_measure(metric)


def _measures_of(metric: Measure | str) -> list[Measure]:
    """Return the measures that a PyTerrier metric stands for."""
    if not isinstance(metric, str):
        return [metric]
    measures: list[Measure] = [] if metric == "mrt" else ir_measures.parse_trec_measure(metric)
    return measures


def _decided(metric: Measure | str, match: Match, qrels: Qrels) -> Measure | str:
    """Make the decisions that need the qrels of all batches, and attach them to a measure."""
    plan, given = None, metric
    if isinstance(metric, Standardized):
        if match.factors is None or "factors" in metric.params:
            return metric
        plan = plans.make_plan(metric, match, qrels)
        metric = metric(factors=match.factors.path)
    elif isinstance(metric, TypedMeasure) and gains_are_shares(metric):
        metric = metric()
    else:
        return metric
    # PyTerrier names columns with str(), but measures are distinguished with repr().
    highest = plans.highest_level_of_collection(match.fit, qrels) if match.fit else qrels.max_level
    metric.decided = plans.Decision(str(given), match, plan, highest)
    return metric


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(ir_std, name)


def __dir__() -> list[str]:
    return sorted({*dir(ir_std), "Experiment"})
