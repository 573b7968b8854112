"""Compute a run's raw scores, and how much each document contributes to them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import ir_measures
import numpy as np
from ir_measures import measures as irm, providers
from ir_measures.measures import MeanAgg
from ir_measures.providers.fallback_provider import FallbackEvaluator

from ir_std._arrays import Floats, divide
from ir_std.errors import InputError, UsageError
from ir_std.evaluation.evaluation import ByMeasure
from ir_std.evaluation.inputs import resolve
from ir_std.evaluation.plans import mean_of_values
from ir_std.measures import Measure, gains_are_shares, looks_at_nonrelevant, measure_record
from ir_std.measures.formulas import Terms, sum_by_topic
from ir_std.measures.records import TREC_EVAL, Order
from ir_std.scores.run_scores import RunScores
from ir_std.trec import Qrels, Ranker, Ranking, Run, order_documents, sort_run

if TYPE_CHECKING:
    from ir_std.evaluation.evaluator import StdEvaluator


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
    """Return the providers of ``ir_measures.DefaultPipeline``, except ir_std's own provider."""
    return [p for p in ir_measures.DefaultPipeline.providers if p.NAME != "ir_std"]


_READ_ROWS = ("cwl_eval", "pyndeval", "msmarco", "gdeval", "accuracy")
"""Providers that read judgments as rows, and so cannot see a topic without judgments."""


def skip_unjudged_topics(measures: Iterable[Measure], qrels: Qrels) -> set[Measure]:
    """Return the measures for which ir_measures gives no value on topics without judgments.

    Qrels in a dict may contain topics without judgments.  ir_measures gives these topics a score of
    0 if the first provider that computes one of the measures can see topics without judgments.
    """
    if qrels.sizes.all():
        return set()
    served = {measure: name for measure in measures if (name := _provider_of(measure))}
    order = [p.NAME for p in ir_measures_providers()]
    if min(served.values(), key=order.index, default=None) not in _READ_ROWS:
        return set()
    return {measure for measure, name in served.items() if name in _READ_ROWS}


class OtherProviders:
    """Evaluate measures with ir_measures' own providers.

    Parameters
    ----------
    measures : sequence of Measure
    qrels : Qrels
    alone : bool
        True if no other measures are evaluated together with these measures.  If False, ir_measures
        averages a measure such as Accuracy over all topics, including those without a value.
    skip_unjudged : bool
        If True, a topic without judgments has no value, unless the provider of the measure returns
        a value for the topic.

    Raises
    ------
    UsageError
        If no installed provider computes one of the measures.
    """

    def __init__(
        self, measures: Sequence[Measure], qrels: Qrels, alone: bool, skip_unjudged: bool = False
    ) -> None:
        self.measures = list(measures)
        self._positions = qrels.positions
        _check_levels(self.measures, qrels)
        pipeline = providers.FallbackProvider(ir_measures_providers())
        # Use one evaluator for each pair of ``gains`` and ``judged_only``.  In a shared evaluator,
        # pytrec_eval would apply the first pair to all measures.
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
            why = " ".join(str(unsupported).split())
            raise UsageError(f"no provider of ir_measures computes some measures; {why}") from None
        self._evaluator = evaluators[0]
        if not alone or len(evaluators) > 1:
            self._evaluator = FallbackEvaluator(self.measures, evaluators)
            sizes = zip(qrels.topics, qrels.sizes.tolist(), strict=True)
            self._evaluator.qrel_qids = [t for t, size in sizes if size or not skip_unjudged]

    def scores(self, run: Run) -> dict[str, RawScores]:
        """Return raw scores by measure name; each measure's own aggregator computes the mean."""
        columns = {m: np.full(len(self._positions), np.nan) for m in self.measures}
        aggregators = {measure: measure.aggregator() for measure in columns}
        for result in self._evaluator.iter_calc(_as_given(run)):
            aggregators[result.measure].add(result.value)
            if result.query_id in self._positions:
                columns[result.measure][self._positions[result.query_id]] = result.value
        return {str(m): RawScores(v, aggregators[m].result()) for m, v in columns.items()}


def _check_levels(measures: Iterable[Measure], qrels: Qrels) -> None:
    """Reject topics that have only levels below -1, because pytrec_eval crashes on them."""
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
    """Return the object that the user passed, which may have columns that ir_std does not use."""
    if read.given is not None:
        return read.given
    if isinstance(read, Qrels):
        return read.judged
    return {
        topic: dict(zip(docs, scores.tolist(), strict=True))
        for topic, (docs, scores) in read.lists.items()
    }


class Formula(NamedTuple):
    """Formula of a raw measure, and the order in which the formula needs the documents.

    ``terms`` is set if the measure is a sum over documents.  If ``needs_judged`` is True, the
    formula uses documents that are judged not relevant.  If ``skips_unjudged`` is True, topics
    without judgments have no value.
    """

    order: Order
    compute: partial[Floats]
    needs_judged: bool
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
        compute, judged = partial(record.formula, **params), looks_at_nonrelevant(measure)
        return cls(record.order(params), compute, judged, terms, skips_unjudged)

    def values(self, ranking: Ranking) -> Floats:
        """Compute the value of each topic; NaN if a topic has no value."""
        values = self.compute(ranking)
        return np.where(ranking.qrels.sizes, values, np.nan) if self.skips_unjudged else values

    def contributions(self, ranking: Ranking) -> Terms:
        """Return documents and their contributions to the values of the topics.

        This works only for measures that are sums over documents.
        """
        assert self.terms is not None
        documents, terms = self.terms(ranking)
        factor = divide(self.compute(ranking), sum_by_topic(documents, terms), otherwise=0)
        return documents, terms * factor[documents.topic]


class RawScores(NamedTuple):
    """A run's values for one raw measure, and the mean of these values.

    ``values`` has the shape (n_topics,).  ``step`` is the step to which a score file rounds
    its values; ``step`` is 0 for computed values.
    """

    values: Floats
    mean: float
    step: float = 0.0

    @classmethod
    def of(cls, measure: Measure, values: Floats, step: float = 0.0) -> RawScores:
        """Aggregate the known values as ir_measures does: to a mean or, for a count, to a sum."""
        aggregator = measure.aggregator()
        if isinstance(aggregator, MeanAgg):
            return cls(values, mean_of_values(values), step)
        for value in values[~np.isnan(values)].tolist():
            aggregator.add(value)
        return cls(values, float(aggregator.result()), step)


# --- ranked documents -----------------------------------------------------------------------------


class RankedTopic(NamedTuple):
    """Ranking of one run on one topic.

    Attributes
    ----------
    documents : tuple of str
        Documents of the run, best first.
    ranks : dict of str to int
        Rank of each document.
    levels : mapping of str to int
        Relevance levels of all judged documents of the topic, including documents that the run
        lacks.
    contributions : ByMeasure of mapping of str to float
        For each raw measure that is a sum over documents, the amount that each document adds.
        Documents that add nothing to the value are left out.
    """

    documents: tuple[str, ...]
    ranks: dict[str, int]
    levels: Mapping[str, int]
    contributions: ByMeasure[dict[str, float]]


def rank_topics(
    evaluator: StdEvaluator,
    run: Any,
    name: str,
    topics: Sequence[str],
    measures: Iterable[Measure],
    depth: int | None = None,
) -> dict[str, RankedTopic]:
    """Rank a run's documents on some topics of an evaluator.

    Parameters
    ----------
    evaluator : StdEvaluator
    run
        Any form that :func:`ir_std.evaluation.inputs.resolve` accepts.
    name : str
        Name of the run in messages.
    topics : sequence of str
    measures : iterable of Measure
        Raw measures of the evaluator.  The documents are returned in the order that the first
        measure uses.
    depth : int, optional
        See :meth:`StdEvaluator.evaluate`.

    Raises
    ------
    UsageError
        If the scores of the run are known, but the documents of the run are not.
    """
    read = resolve(run)
    if isinstance(read, RunScores):
        raise UsageError(
            f"{name} is known only by its scores, not by the documents it ranked; give the run"
        )
    qrels = evaluator.qrels
    taken, _ = evaluator.earlier.check(read)
    cut = taken if depth is None else sort_run(taken, depth)
    ranker = Ranker(cut, qrels, judged=True)
    formulas = {m: evaluator.formulas.get(str(m)) for m in measures}
    orders = dict.fromkeys(f.order if f else TREC_EVAL for f in formulas.values())
    by_order = {order: {t: _ordered(cut, t, order) for t in topics} for order in orders}
    ranked = {
        topic: RankedTopic(
            tuple(documents),
            {document: rank for rank, document in enumerate(documents, 1)},
            qrels.judged[topic],
            ByMeasure(),
        )
        for topic, documents in by_order[next(iter(orders))].items()
    }
    for measure, formula in formulas.items():
        if formula and formula.terms:
            adding, values = formula.contributions(ranker.rank(formula.order))
            adds: dict[str, dict[str, float]] = {topic: {} for topic in topics}
            for place, rank, value in zip(adding.topic, adding.rank, values.tolist(), strict=True):
                if (topic := qrels.topics[place]) in adds:
                    adds[topic][by_order[formula.order][topic][rank - 1]] = value
            for topic, by_document in adds.items():
                ranked[topic].contributions[measure] = by_document
    return ranked


def _ordered(run: Run, topic: str, order: Order) -> list[str]:
    """Return the documents of a topic in order; the list is empty if the run lacks the topic."""
    if topic not in run.bounds:
        return []
    scores = run.scores[slice(*run.bounds[topic])]
    documents, _ = order_documents(run.documents(topic), scores, order=order)
    return documents
