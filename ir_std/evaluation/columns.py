"""The measures of an evaluator: a record of each, with how it is computed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from ir_measures.measures import Measure, SumAgg
from ir_measures.util import Metric

from ir_std._arrays import Floats, divide
from ir_std.evaluation.messages import Message
from ir_std.evaluation.plans import Plan, mean_of_values
from ir_std.measures import gains_are_shares, looks_at_nonrelevant, measure_record
from ir_std.measures.formulas import Terms, sum_by_topic
from ir_std.measures.objects import GeometricMean
from ir_std.measures.records import Order
from ir_std.trec.qrels import Ranking


class Formula(NamedTuple):
    """How ir_std computes a raw measure from a ranking in this order; the terms if it is a sum.

    ``skips_unjudged``: a topic of which nothing is judged has no value.
    """

    order: Order
    compute: partial[Floats]
    terms: partial[Terms] | None = None
    skips_unjudged: bool = False

    @classmethod
    def of(cls, measure: Measure, highest: int, skips_unjudged: bool = False) -> Formula:
        """The formula of a measure; ``highest`` is the level that gains are shares of."""
        params = {k: v for k, v in measure.params.items() if k != "judged_only"}
        if gains_are_shares(measure):
            params["highest"] = highest
        record = measure_record(measure)
        assert record.formula is not None
        terms = record.terms and partial(record.terms, **params)
        return cls(record.order(params), partial(record.formula, **params), terms, skips_unjudged)

    def values(self, ranking: Ranking) -> Floats:
        """The values by topic; NaN where there is none."""
        values = self.compute(ranking)
        return np.where(ranking.qrels.sizes, values, np.nan) if self.skips_unjudged else values

    def contributions(self, ranking: Ranking) -> Terms:
        """Return documents, and how much of their topic's value is each one's; for a sum."""
        assert self.terms is not None
        documents, terms = self.terms(ranking)
        factor = divide(self.compute(ranking), sum_by_topic(documents, terms), otherwise=0)
        return documents, terms * factor[documents.topic]


@dataclass(frozen=True)
class Column:
    """One measure of an evaluator, and how it is computed.

    Attributes
    ----------
    measure : Measure
    raw : str
        The name of the raw measure behind it: its own if it is raw.  Measures are looked up by
        name because they are equal if their names are, which they make anew each time.
    formula : Formula or None
        How ir_std computes a raw measure; None if another provider does, or a score file has it.
    plan : Plan or None
        How the raw scores are standardized; None if the measure is raw.
    same_raw : tuple of Measure
        Raw measures with the values of this one, any of which a score file may hold.
    """

    measure: Measure
    raw: str
    formula: Formula | None = None
    plan: Plan | None = None
    same_raw: tuple[Measure, ...] = ()

    @property
    def needs_judged(self) -> bool:
        """Whether the formula looks at documents that are judged not relevant."""
        return bool(self.formula) and looks_at_nonrelevant(self.measure)

    def scores(self, raw: Mapping[str, RawScores]) -> tuple[Floats, float]:
        """A run's values by topic and their mean, from its raw scores by the measure's name."""
        values, mean, step = raw[self.raw]
        return self.plan.standardized(values, step) if self.plan else (values, mean)

    def by_topic(
        self,
        values: Floats,
        topics: Sequence[str],
        theirs: Mapping[tuple[Measure, str], float] | None,
    ) -> list[float | None]:
        """Values as ir_measures gives them: None where there is none.

        ``theirs`` are those of other providers, by measure and topic; None with a score file.
        """
        if theirs is not None and not self.formula and not self.plan:
            return [theirs.get((self.measure, topic)) for topic in topics]
        listed: list[float | None] = values.tolist()
        if self.formula and self.formula.skips_unjudged:
            return [None if value != value else value for value in listed]
        return listed


class RawScores(NamedTuple):
    """A run's values by one raw measure, shape (n_topics,), and their mean.

    ``step`` is the step in which a score file has the values; 0 if they were computed.
    """

    values: Floats
    mean: float
    step: float = 0.0

    @classmethod
    def of(cls, measure: Measure, values: Floats, step: float = 0.0) -> RawScores:
        """The mean is over the values that are known; of counts it is the sum, as ir_measures'."""
        aggregator = measure.aggregator()
        if isinstance(aggregator, SumAgg):
            return cls(values, float(np.nansum(values)), step)
        if isinstance(aggregator, GeometricMean):
            for value in values.tolist():
                aggregator.add(value)
            return cls(values, aggregator.result(), step)
        return cls(values, mean_of_values(values), step)


class RawEvaluation(NamedTuple):
    """A run's raw scores by the measure's name; messages and results as in an Evaluation."""

    scores: dict[str, RawScores]
    messages: Iterable[Message]
    provider_results: tuple[Metric, ...] | None


def make_columns(
    asked: Mapping[str, Measure], planned: Mapping[str, Plan], formulas: Mapping[str, Formula]
) -> Iterator[Column]:
    """The columns of measures by name, then those of raw ones that are only standardized."""
    same = {str(plan.raw): (plan.raw, *plan.same_raw) for plan in planned.values()}
    for name, measure in asked.items():
        if name in planned:
            yield Column(measure, str(planned[name].raw), plan=planned[name])
        else:
            yield Column(measure, name, formulas.get(name), same_raw=same.get(name, (measure,)))
    for name, forms in same.items():
        if name not in asked:
            yield Column(forms[0], name, formulas.get(name), same_raw=forms)
