"""Runs on single topics: their documents in order, and what each adds to a measure's value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from ir_measures.measures import Measure

from ir_std._arrays import Floats
from ir_std.errors import UsageError
from ir_std.evaluation.evaluation import ByMeasure
from ir_std.evaluation.evaluator import StdEvaluator
from ir_std.evaluation.inputs import resolve
from ir_std.evaluation.raw_scores import Formula
from ir_std.evaluation.run_messages import EarlierDocuments
from ir_std.measures.records import TREC_EVAL, Order
from ir_std.scores.run_scores import RunScores
from ir_std.trec.qrels import Qrels, Ranking
from ir_std.trec.ranking import order_documents
from ir_std.trec.runs import Run


@dataclass(frozen=True)
class RankedTopic:
    """One run on one topic.

    Attributes
    ----------
    documents : tuple of str
        Best first.
    levels : mapping of str to int
        Of the topic's judged documents, whether the run has them or not.
    contributions : ByMeasure of mapping of str to float
        By raw measure what each document adds to its value; of measures that are sums over
        documents.  What is left out adds nothing.
    """

    documents: tuple[str, ...]
    levels: Mapping[str, int]
    contributions: ByMeasure[dict[str, float]]

    @cached_property
    def ranks(self) -> dict[str, int]:
        """The rank of each document."""
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
        Any form that :func:`ir_std.evaluation.inputs.resolve` takes.
    name : str
        What messages call it.
    topics : sequence of str
    measures : iterable of Measure
        Raw ones of the evaluator; documents are in the order of the first.
    depth : int, optional
        As for :meth:`StdEvaluator.evaluate`.

    Raises
    ------
    UsageError
        If only scores of the run are known.
    """
    read = resolve(run)
    if isinstance(read, RunScores):
        raise UsageError(
            f"{name} is known only by its scores, not by the documents it ranked; give the run"
        )
    taken, _ = EarlierDocuments(evaluator.matches, evaluator.residual).check(read, name)
    formulas = {m: formula_of(evaluator, m) for m in measures}
    orders = dict.fromkeys(f.order if f else TREC_EVAL for f in formulas.values())
    by_order = {order: _ordered(taken, topics, depth, order) for order in orders}
    qrels = evaluator.qrels
    ranked = {
        topic: RankedTopic(tuple(documents), qrels.judged[topic], ByMeasure())
        for topic, documents in by_order[next(iter(orders))].items()
    }
    rankings = {order: _judged_of(qrels, ordered) for order, ordered in by_order.items()}
    for measure, formula in formulas.items():
        if formula and formula.terms:
            adding, values = formula.contributions(rankings[formula.order])
            ordered = by_order[formula.order]
            for topic, adds in _by_document(adding, values, ordered).items():
                ranked[topic].contributions[measure] = adds
    return ranked


def formula_of(evaluator: StdEvaluator, measure: Measure) -> Formula | None:
    """Return how an evaluator computes a raw measure; None if another provider does."""
    name = str(measure)
    return next((c.formula for c in evaluator.columns if c.raw == name and not c.plan), None)


def _ordered(
    run: Run, topics: Sequence[str], depth: int | None, order: Order
) -> dict[str, list[str]]:
    """Return the documents of each topic in order; none where the run lacks it."""
    ordered: dict[str, list[str]] = {}
    for topic in topics:
        a, b = run.bounds.get(topic, (0, 0))
        documents = run.documents(topic) if b > a else []
        scores = run.scores[a:b]
        if depth is not None:  # runs are cut as trec_eval orders them
            documents, scores = order_documents(documents, scores, depth)
        ordered[topic], _ = order_documents(documents, scores, order=order)
    return ordered


def _judged_of(qrels: Qrels, ordered: Mapping[str, Sequence[str]]) -> Ranking:
    """Return the judged documents of some topics, whose documents are in order."""
    n_ret = np.zeros(len(qrels.topics), np.int64)
    hits: list[tuple[int, int, int]] = []
    for topic in sorted(ordered, key=qrels.positions.__getitem__):
        place, levels = qrels.positions[topic], qrels.judged[topic]
        n_ret[place] = len(ordered[topic])
        hits += [
            (place, rank, levels[d]) for rank, d in enumerate(ordered[topic], 1) if d in levels
        ]
    topics, ranks, judged = np.array(hits, np.int64).reshape(-1, 3).T
    return Ranking(qrels, topics, ranks, judged, n_ret)


def _by_document(
    adding: Ranking, values: Floats, ordered: Mapping[str, Sequence[str]]
) -> dict[str, dict[str, float]]:
    """Return by topic and document what each adds."""
    adds: dict[str, dict[str, float]] = {topic: {} for topic in ordered}
    for place, rank, value in zip(
        adding.topic.tolist(), adding.rank.tolist(), values.tolist(), strict=True
    ):
        topic = adding.qrels.topics[place]
        adds[topic][ordered[topic][rank - 1]] = value
    return adds
