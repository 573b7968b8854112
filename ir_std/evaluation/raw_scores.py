"""Raw scores of one run, from ir_std's own formulas and from ir_measures' providers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

import ir_measures
import numpy as np
from ir_measures import measures as irm
from ir_measures import providers
from ir_measures.measures import Measure, SumAgg
from ir_measures.providers.fallback_provider import FallbackEvaluator

from ir_std._arrays import Floats, divide
from ir_std.errors import InputError, UsageError
from ir_std.evaluation.plans import mean_of_values
from ir_std.measures import gains_are_shares, measure_record
from ir_std.measures.formulas import Terms, sum_by_topic
from ir_std.measures.objects import GeometricMean
from ir_std.measures.records import Order
from ir_std.trec.qrels import Qrels, Ranking
from ir_std.trec.runs import Run


def has_formula(measure: Measure) -> bool:
    """Check whether ir_std computes a raw measure with its own formula."""
    if type(measure) is type(irm.NumRel):  # ir_measures' providers support only level 1
        return bool(measure["rel"] != 1)
    return (
        measure_record(measure).formula is not None
        and "gains" not in measure.params
        and not measure.params.get("judged_only")
    )


def ir_measures_providers() -> list[providers.Provider]:
    """Return the providers of ``ir_measures.DefaultPipeline`` without ir_std's."""
    return [p for p in ir_measures.DefaultPipeline.providers if p.NAME != "ir_std"]


_READ_ROWS = ("cwl_eval", "pyndeval", "msmarco", "gdeval", "accuracy")
"""Providers that read judgments as rows, and so cannot see a topic without judgments."""


def skip_unjudged_topics(measures: Iterable[Measure], qrels: Qrels) -> set[Measure]:
    """Return the measures for which ir_measures gives no value on topics without judgments.

    A dict may contain such topics.  ir_measures gives 0 there if the first provider that takes part
    in a call can see them.
    """
    if qrels.sizes.all():
        return set()
    pipeline = [p for p in ir_measures_providers() if p.is_available()]
    served = {}
    for measure in measures:
        supporting = (i for i, p in enumerate(pipeline) if p.supports(measure))
        if (first := next(supporting, None)) is not None:
            served[measure] = first
    if not served or pipeline[min(served.values())].NAME not in _READ_ROWS:
        return set()
    return {measure for measure, i in served.items() if pipeline[i].NAME in _READ_ROWS}


class OtherProviders:
    """Evaluate measures with ir_measures' own providers.

    Parameters
    ----------
    measures : sequence of Measure
    qrels : Qrels
    alone : bool
        True if no other measures are evaluated together with these.  Only then does ir_measures
        leave out topics without a value when it averages a measure such as Accuracy.
    skip_unjudged : bool
        If True, topics without judgments keep no value when a provider gives none.

    Raises
    ------
    UsageError
        If no installed provider computes one of the measures.
    """

    def __init__(
        self,
        measures: Sequence[Measure],
        qrels: Qrels,
        alone: bool,
        skip_unjudged: bool = False,
    ) -> None:
        self.measures = list(measures)
        self._positions = qrels.positions
        _check_levels(self.measures, qrels)
        pipeline = providers.FallbackProvider(ir_measures_providers())
        # Use one evaluator per treatment of the judgments.  In a shared one, pytrec_eval applies
        # the first ``gains`` and ``judged_only`` also to measures that do not have them.
        apart: dict[str, list[Measure]] = {}
        for measure in self.measures:
            apart.setdefault(
                repr([measure.params.get(name) for name in ("gains", "judged_only")]), []
            ).append(measure)
        try:
            evaluators = [pipeline.evaluator(group, _as_given(qrels)) for group in apart.values()]
        except ValueError as unsupported:
            if not str(unsupported).startswith("Unsupported measures"):
                raise
            raise UsageError(
                f"no provider of ir_measures computes some measures; {unsupported}"
            ) from None
        self._evaluator = evaluators[0]
        if not alone or len(evaluators) > 1:
            self._evaluator = FallbackEvaluator(self.measures, evaluators)
            sizes = zip(qrels.topics, qrels.sizes.tolist(), strict=True)
            self._evaluator.qrel_qids = [t for t, size in sizes if size or not skip_unjudged]

    def scores(self, run: Run) -> dict[str, RawScores]:
        """Return raw scores by measure name, averaged by each measure's own aggregator."""
        columns = {m: np.full(len(self._positions), np.nan) for m in self.measures}
        aggregators = {measure: measure.aggregator() for measure in columns}
        for result in self._evaluator.iter_calc(_as_given(run)):
            aggregators[result.measure].add(result.value)
            if result.query_id in self._positions:
                columns[result.measure][self._positions[result.query_id]] = result.value
        return {str(m): RawScores(v, aggregators[m].result()) for m, v in columns.items()}


def _check_levels(measures: Iterable[Measure], qrels: Qrels) -> None:
    """Reject qrels that make pytrec_eval crash: a topic with no level above -2."""
    low = next((t for t, docs in qrels.judged.items() if docs and max(docs.values()) < -1), None)
    served = [m for m in measures if low is not None and _provider_of(m) == "pytrec_eval"]
    if served:
        raise InputError.at(
            qrels.name,
            f"topic {low} has only negative judgments, which pytrec_eval cannot evaluate with "
            f"{', '.join(map(str, served))}",
            "remove the topic, or write its judgments as 0",
        )


def _provider_of(measure: Measure) -> str:
    """Return the name of the provider that ir_measures uses for a measure; empty if none."""
    pipeline = (p for p in ir_measures_providers() if p.is_available() and p.supports(measure))
    return next((p.NAME for p in pipeline), "")


def _as_given(read: Run | Qrels) -> Any:
    """Return the object that the user passed, because it may have more columns."""
    if read.given is not None:
        return read.given
    if isinstance(read, Qrels):
        return read.judged
    return {
        topic: dict(zip(docs, scores.tolist(), strict=True))
        for topic, (docs, scores) in read.lists.items()
    }


class Formula(NamedTuple):
    """Formula of a raw measure with its document order, and its terms if it is a sum.

    If ``skips_unjudged`` is True, topics without judgments have no value.
    """

    order: Order
    compute: partial[Floats]
    terms: partial[Terms] | None = None
    skips_unjudged: bool = False

    @classmethod
    def of(cls, measure: Measure, highest: int, skips_unjudged: bool = False) -> Formula:
        """Return the formula of a measure; gains are divided by the level ``highest``."""
        params = {k: v for k, v in measure.params.items() if k != "judged_only"}
        if gains_are_shares(measure):
            params["highest"] = highest
        record = measure_record(measure)
        assert record.formula is not None
        terms = record.terms and partial(record.terms, **params)
        return cls(record.order(params), partial(record.formula, **params), terms, skips_unjudged)

    def values(self, ranking: Ranking) -> Floats:
        """Compute the value of each topic; NaN if a topic has no value."""
        values = self.compute(ranking)
        return np.where(ranking.qrels.sizes, values, np.nan) if self.skips_unjudged else values

    def contributions(self, ranking: Ranking) -> Terms:
        """Return documents and their shares of the topic's value, for measures that are sums."""
        assert self.terms is not None
        documents, terms = self.terms(ranking)
        factor = divide(self.compute(ranking), sum_by_topic(documents, terms), otherwise=0)
        return documents, terms * factor[documents.topic]


class RawScores(NamedTuple):
    """A run's values for one raw measure, shape (n_topics,), and their mean.

    ``step`` is the step to which a score file rounds its values; it is 0 for computed values.
    """

    values: Floats
    mean: float
    step: float = 0.0

    @classmethod
    def of(cls, measure: Measure, values: Floats, step: float = 0.0) -> RawScores:
        """Average the known values; counts are summed instead, as in ir_measures."""
        aggregator = measure.aggregator()
        if isinstance(aggregator, SumAgg):
            return cls(values, float(np.nansum(values)), step)
        if isinstance(aggregator, GeometricMean):
            for value in values.tolist():
                aggregator.add(value)
            return cls(values, aggregator.result(), step)
        return cls(values, mean_of_values(values), step)
