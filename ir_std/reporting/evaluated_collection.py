"""Describe evaluated collections: their topics, measures and factors."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from ir_std.evaluation.evaluation import ByMeasure
from ir_std.evaluation.evaluator import StdEvaluator
from ir_std.evaluation.plans import Plan
from ir_std.factors.factor_set import FactorSet
from ir_std.factors.match import Match
from ir_std.measures import Measure, Standardized, named_measure
from ir_std.scores.run_scores import QrelsFromCounts
from ir_std.trec import Qrels

if TYPE_CHECKING:
    from ir_std.evaluation.placement import Peers
    from ir_std.reporting.benchmark import Benchmark

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class EvaluatedCollection:
    """Collection with its topics, and the factors that standardize its scores.

    Attributes
    ----------
    name : str
    evaluator : StdEvaluator
        Evaluator with the qrels, measures, plans and matches of the collection.
    inputs : mapping of str to run
        Inputs that can be read again, by run.
    depth : int or None
        The number of documents per topic that were evaluated.
    best : str
        Name of the reference system that was evaluated as the run ``best``; empty without such a
        run.
    benchmark : Benchmark or None
        Benchmark whose tasks are the topics.
    """

    name: str
    evaluator: StdEvaluator
    inputs: Mapping[str, Any] = field(default_factory=dict)
    depth: int | None = None
    best: str = ""
    benchmark: Benchmark | None = None

    @property
    def topics(self) -> tuple[str, ...]:
        """Topics, in the qrels' order."""
        return self.evaluator.qrels.topics

    @property
    def measures(self) -> tuple[Measure, ...]:
        """Each raw measure, followed by its standardized versions."""
        return tuple(self.evaluator.measures)

    @property
    def match(self) -> Match | None:
        """Factor set of the collection, and how well the set matches the qrels."""
        return self.evaluator.match

    @property
    def factors(self) -> FactorSet | None:
        """Factor set that matches the collection; None without a match."""
        return self.match.factors if self.match else None

    @property
    def unit(self) -> str:
        """Unit of a score: a topic or a dataset."""
        return self.evaluator.unit

    @property
    def is_of_datasets(self) -> bool:
        """True if the factors are per-dataset factors."""
        return bool(self.factors and self.factors.of_datasets)

    @cached_property
    def plans(self) -> ByMeasure[Plan]:
        """Plan for each standardized measure, with its factors."""
        return ByMeasure({plan.measure: plan for plan in self.evaluator.plans})

    def topics_of(self, measure: Measure) -> tuple[str, ...]:
        """Return the topics on which a measure has values; for per-dataset factors, the dataset."""
        return self.plans[measure].topics if isinstance(measure, Standardized) else self.topics

    @cached_property
    def topic_measures(self) -> list[Measure]:
        """Measures with values on the qrels' topics."""
        return [m for m in self.measures if self.topics_of(m) == self.topics]

    def tested_measure(self, measure: Measure) -> Measure:
        """Return the measure to test over topics; for per-dataset factors, the raw measure."""
        is_elsewhere = isinstance(measure, Standardized) and measure not in self.topic_measures
        return measure.base if is_elsewhere else measure

    def plan_behind(self, measure: Measure) -> Plan | None:
        """Find the plan with the factors of a raw or standardized measure, if any.

        For a raw measure, a plan with the factors of a partner measure (such as SP for AP) is
        skipped: the standardized scores would be the same, but the raw scores would be different.
        """
        if isinstance(measure, Standardized):
            return self.plans[measure]
        return next(
            (p for p in self.plans.values() if p.measure.base == measure and p.same_raw), None
        )

    def peers(self, measure: Measure | str) -> Peers | None:
        """Return the reference systems' scores for a measure, if they are known."""
        raw = [plan.raw for plan in self.plans.values()]
        measure = named_measure(measure, [*raw, *self.measures])
        plan = self.plan_behind(measure)
        if plan is None or plan.topics != self.topics:
            return None
        from ir_std.evaluation.placement import peers_of

        peers = peers_of(plan, self.topics)
        return peers.mapped(plan.apply) if isinstance(measure, Standardized) else peers


def collection_names(qrels: Mapping[T, Qrels], matches: Mapping[T, Match | None]) -> dict[T, str]:
    """Name each collection by its factor set or dataset, else by its file or its topics.

    If several collections have the same name, add the file or the topics to the name.  If names are
    still equal, add a number.
    """
    fits = {key: match.fit for key, match in matches.items() if match and match.fit}
    id_of = {key: fit.dataset or fit.factors.id for key, fit in fits.items()}
    count = Counter(id_of.values())
    names: dict[T, str] = {}
    for key, judgments in qrels.items():
        file = _file_or_topics(judgments)
        name = id_of.get(key, file)
        if count[name] > 1:
            name = f"{name} ({file})"
        taken = sum(other.startswith(name) for other in names.values())
        names[key] = f"{name} {taken + 1}" if name in names.values() else name
    return names


def _file_or_topics(qrels: Qrels) -> str:
    """Return the file's name or the topics, which distinguish collections of one factor set."""
    if not isinstance(qrels, QrelsFromCounts):
        return os.path.basename(qrels.name)
    topics = qrels.topics
    if all(topic.isdecimal() for topic in topics):
        topics = tuple(sorted(topics, key=int))
    return f"topics {topics[0]} to {topics[-1]}" if len(topics) > 1 else f"topic {topics[0]}"


def group_measures(measures: Iterable[Measure]) -> list[list[Measure]]:
    """Put each raw measure together with the standardized versions that follow it."""
    groups: list[list[Measure]] = []
    for measure in measures:
        if isinstance(measure, Standardized) and groups:
            groups[-1].append(measure)
        else:
            groups.append([measure])
    return groups
