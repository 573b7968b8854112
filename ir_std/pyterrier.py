"""Extend PyTerrier by ``pt.std``.

PyTerrier finds this module by the entry point of the installed distribution, so a program that
imports PyTerrier need not import ir_std.  ``pt.std`` has all names of ir_std, measures such as
``pt.std.snDCG`` among them, and what stands here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import ir_measures
import pandas as pd
import pyterrier as pt
from ir_measures.measures import Measure

import ir_std
from ir_std.errors import UsageError, warn_caller
from ir_std.evaluation.companions import companions
from ir_std.evaluation.messages import message_texts
from ir_std.evaluation.plans import make_plan, match_factors
from ir_std.factors.catalog import Factors
from ir_std.factors.match import Match
from ir_std.measures import Standardized, parse_measure
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
    """``pt.Experiment`` with a standardized score behind each raw one that has factors.

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
    What ``pt.Experiment`` returns; the columns of means stand as they were asked for.

    Raises
    ------
    UsageError
        If ``factors`` is a set that is not on disk.
    """
    judgments = as_qrels(qrels)
    match = match_factors(judgments, factors)
    if match.factors and match.factors.path is None:
        raise UsageError(f"{match.factors.id} is not on disk: save it first, and name its file")
    metrics = [eval_metrics] if isinstance(eval_metrics, (str, Measure)) else eval_metrics
    columns, messages = dict[str, Measure | str](), dict[str, None]()
    for metric in metrics:
        for part in _with_companions(metric, judgments, match, schemes):
            if isinstance(part, tuple):
                messages.update(dict.fromkeys(part))
            else:
                columns[str(part)] = part  # once, though its raw measure may bring it too
    warn_caller(messages)
    outcome = pt.Experiment(retr_systems, topics, qrels, [*columns.values()], names, **options)
    return _in_order(outcome, [*columns])


def _in_order(outcome: Any, asked: list[str]) -> Any:
    """What PyTerrier gives, with the columns as they were asked for: it takes them from a set."""
    if isinstance(outcome, tuple) and hasattr(outcome, "averages"):  # perquery="both"
        return outcome._replace(averages=_in_order(outcome.averages, asked))  # type: ignore[attr-defined]
    if not isinstance(outcome, pd.DataFrame):
        return outcome
    first = ["name", *(name for name in asked if name in outcome.columns)]
    return outcome[[*first, *(name for name in outcome.columns if name not in first)]]


def _with_companions(
    metric: Measure | str, qrels: Qrels, match: Match, schemes: str | Iterable[str]
) -> Iterator[Measure | str | tuple[str, ...]]:
    """A metric, its standardized companions, and what is to be said of those it has not."""
    metric, measures = _read_metric(metric)
    if not isinstance(metric, Standardized):
        yield metric
    wanted, messages, plans = companions(measures, match, qrels, scheme_names(schemes))
    yield message_texts(messages, False)
    of_means = [plan for plan in plans if plan.of_mean]
    if of_means:
        yield (
            f"{of_means[0].factors.id} has factors of whole data sets, not of topics, of which "
            "pt.Experiment makes its means: use ir_std.evaluate",
        )
    for measure in wanted:
        if isinstance(measure, Standardized) and all(p.measure != measure for p in of_means):
            yield _of_set(measure, match, qrels)


def _read_metric(metric: Measure | str) -> tuple[Measure | str, list[Measure]]:
    """A metric for PyTerrier, and the measures that it stands for."""
    if metric == "mrt":
        return metric, []
    if isinstance(metric, str):
        try:
            return metric, ir_measures.parse_trec_measure(metric)
        except ValueError:  # not PyTerrier's
            metric = parse_measure(metric)
    return metric, [metric]


def _of_set(measure: Standardized, match: Match, qrels: Qrels) -> Standardized:
    """The measure with the factors of the match; its column is called as the measure was."""
    if match.factors is None or "factors" in measure.params:
        return measure
    name, kind = str(measure), type(measure)
    # PyTerrier calls columns by str(); measures are told apart by repr().
    decided = match, make_plan(measure, match, qrels)
    named = type(kind.__name__, (kind,), {"__str__": lambda _: name, "decided": decided})
    result: Standardized = named(**measure.params, factors=match.factors.path)
    return result


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(ir_std, name)


def __dir__() -> list[str]:
    return sorted({*dir(ir_std), "Experiment"})
