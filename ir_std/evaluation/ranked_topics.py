"""Runs on single topics: their ranked documents, and each document's part of a measure's value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ir_measures.measures import Measure

from ir_std.errors import UsageError
from ir_std.evaluation.evaluation import ByMeasure
from ir_std.evaluation.evaluator import StdEvaluator
from ir_std.evaluation.inputs import resolve
from ir_std.evaluation.run_messages import EarlierDocuments
from ir_std.measures.records import TREC_EVAL, Order
from ir_std.scores.run_scores import RunScores
from ir_std.trec.ranking import Ranker, order_documents, sort_run
from ir_std.trec.runs import Run


@dataclass(frozen=True)
class RankedTopic:
    """One run on one topic.

    Attributes
    ----------
    documents : tuple of str
        Documents of the run, best first.
    levels : mapping of str to int
        Relevance levels of all judged documents of the topic, including documents that the run
        lacks.
    contributions : ByMeasure of mapping of str to float
        For each raw measure that is a sum over documents, the term of each document.  Documents
        that add nothing are left out.
    """

    documents: tuple[str, ...]
    levels: Mapping[str, int]
    contributions: ByMeasure[dict[str, float]]

    @cached_property
    def ranks(self) -> dict[str, int]:
        """Rank of each document."""
        return {document: rank for rank, document in enumerate(self.documents, 1)}


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
        Raw measures of the evaluator.  The first one determines the order of the documents.
    depth : int, optional
        See :meth:`StdEvaluator.evaluate`.

    Raises
    ------
    UsageError
        If only the run's scores are known, and not its documents.
    """
    read = resolve(run)
    if isinstance(read, RunScores):
        raise UsageError(
            f"{name} is known only by its scores, not by the documents it ranked; give the run"
        )
    qrels = evaluator.qrels
    taken, _ = EarlierDocuments(evaluator.matches, evaluator.residual).check(read)
    cut = taken if depth is None else sort_run(taken, depth)
    ranker = Ranker(cut, qrels, judged=True)
    formulas = {m: evaluator.formulas.get(str(m)) for m in measures}
    orders = dict.fromkeys(f.order if f else TREC_EVAL for f in formulas.values())
    by_order = {order: {t: _ordered(cut, t, order) for t in topics} for order in orders}
    ranked = {
        topic: RankedTopic(tuple(documents), qrels.judged[topic], ByMeasure())
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
