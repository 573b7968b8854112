"""The ir_measures provider: raw and standardized scores in one pass."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

import ir_measures
import numpy as np
from ir_measures import providers
from ir_measures.measures import Measure
from ir_measures.util import CalcResults, Metric

from ir_std.errors import StandardizationWarning
from ir_std.evaluation import metrics
from ir_std.evaluation.plans import Plan, Values, find_factors, plan
from ir_std.factors.recognition import Match
from ir_std.measures import Standardized, check_params
from ir_std.trec.inputs import as_qrels, as_run
from ir_std.trec.qrels import Qrels, Ranking
from ir_std.trec.ranking import Order, Ranker
from ir_std.trec.runs import Run


class Scores(dict[Measure, float]):
    """Aggregated scores by measure: a dict that also says where its factors came from.

    Attributes
    ----------
    match : Match or None
        The factor set used and how well it fits; None if nothing was to be standardized.
    notes : tuple of str
        What a reader should know: plain measures that the set has no factors for.
    """

    match: Match | None = None
    notes: tuple[str, ...] = ()


def computed_here(measure: Measure) -> bool:
    """Whether :mod:`ir_std.evaluation.metrics` computes a raw measure; others go to ir_measures."""
    return (measure.__name__ in metrics.FORMULAS and not hasattr(measure, "runtime_impl")
            and "gains" not in measure.params and not measure.params.get("judged_only"))


class _Formula(NamedTuple):
    """How a raw measure is computed from a ranking in its order."""

    measure: Measure
    order: Order
    compute: Callable[[Ranking], Values]

    @classmethod
    def of(cls, measure: Measure, highest: int) -> _Formula:
        name = measure.__name__
        params = {k: v for k, v in measure.params.items() if k != "judged_only"}
        if name == "RBP":
            params["highest"] = highest
        return cls(measure, metrics.order_of(name, params),
                   partial(metrics.FORMULAS[name], **params))


class StdEvaluator(providers.Evaluator):
    """Evaluates runs against one set of qrels; built once, it serves many runs.

    Parameters
    ----------
    measures : iterable of Measure
        Raw and standardized ones.
    qrels
        Any form that :func:`ir_std.trec.inputs.as_qrels` takes.
    match : Match, optional
        The factors where a measure names none; recognized from the qrels if not given.
    notes : tuple of str
        Passed on to the results.

    Attributes
    ----------
    match : Match or None
        The factors used and how well they fit; None if nothing is to be standardized.
    notes : tuple of str

    Raises
    ------
    NoFactorsError
        If a standardized measure has no factors.
    """

    def __init__(self, measures: Iterable[Measure], qrels: Any,
                 match: Match | None = None, notes: tuple[str, ...] = ()) -> None:
        self.qrels = as_qrels(qrels)
        super().__init__(list(dict.fromkeys(measures)), self.qrels.topics)
        self.notes = notes
        self.match = match
        self._matches: dict[str, Match] = {}
        self.plans = [self._plan(m) for m in self.measures if isinstance(m, Standardized)]
        raw = dict.fromkeys([m for m in self.measures if not isinstance(m, Standardized)]
                            + [p.raw for p in self.plans])
        here = [m for m in raw if computed_here(m)]
        for measure in here:
            check_params(measure)
        highest = self._highest_level() if any(m.__name__ == "RBP" for m in here) else 1
        self._formulas = [_Formula.of(m, highest) for m in here]
        self._orders = {f.order for f in self._formulas}
        self._judged = any(metrics.needs_judged(m.__name__, m.params) for m in here)
        self._elsewhere = [m for m in raw if not computed_here(m)]
        self._others = (_others().evaluator(self._elsewhere, _for_others(self.qrels))
                        if self._elsewhere else None)
        column = {m: i for i, m in enumerate([
            *(f.measure for f in self._formulas), *self._elsewhere,
            *(p.measure for p in self.plans)])}
        self._sources = [column[p.raw] for p in self.plans]
        self._wanted = [column[m] for m in self.measures]
        self._warn_of_gaps()
        self._warn_of_choice()

    def _plan(self, measure: Standardized) -> Plan:
        measure.validate_params()
        if "factors" in measure.params:
            match = find_factors(self.qrels, measure["factors"])
        else:
            match = self.match = self.match or find_factors(self.qrels)
        planned = plan(measure, match, self.qrels)
        self._matches[planned.factors.id] = match
        return planned

    @property
    def matches(self) -> tuple[Match, ...]:
        """The match of every set that is used; that of recognition if none is."""
        return tuple(self._matches.values()) or ((self.match,) if self.match else ())

    def _highest_level(self) -> int:
        """A level that the collection is known to have, where these qrels are a part of it."""
        fit = (self.match or find_factors(self.qrels)).fit
        return (fit.factors.info.get("max_level") if fit and fit.partial else None) or 1

    def _warn_of_gaps(self) -> None:
        without: dict[str, dict[str, None]] = {}
        for p in self.plans:
            known = ~(np.isnan(p.factors.mean[p.name]) | np.isnan(p.factors.sd[p.name]))
            rows = p.factors.rows(self.qrels.topics)
            for topic, row in zip(self.qrels.topics, rows.tolist(), strict=True):
                if row < 0 or not known[row]:
                    without.setdefault(p.factors.id, {})[topic] = None
        for name, topics in without.items():
            plural = "s" if len(topics) > 1 else ""
            _warn(f"{len(topics)} topic{plural} without factors in {name}, left out of "
                  f"standardized means: {', '.join(topics)}")

    def _warn_of_choice(self) -> None:
        match = self.match
        if match and match.fit and match.others and match.chosen_by == "qrels" and (
                match.fit.partial):
            _warn(f"these topics are a part of {match.fit.factors.id}, which is used, but also "
                  f"of {', '.join(match.others)}; name the set with factors= or --factors")

    def _warn_of_depth(self, deepest: int) -> None:
        depths: dict[str, int] = {}
        for p in self.plans:
            depth = p.factors.about(p.name, "depth")
            if depth and depth < deepest and "cutoff" not in p.raw.params:
                depths[p.factors.id] = min(depth, depths.get(p.factors.id, depth))
        for name, depth in depths.items():
            _warn(f"a run is {deepest} documents deep, the systems behind {name} were "
                  f"evaluated to depth {depth}; cut it to compare like with like")

    def values(self, run: Any) -> dict[Measure, Values]:
        """Values of all measures on all topics of the qrels.

        Parameters
        ----------
        run
            Any form that :func:`ir_std.trec.inputs.as_run` takes.

        Returns
        -------
        dict of Measure to ndarray, shape (n_topics,)
            In the order of :attr:`measures` and of the qrels' topics.  NaN where there is no
            value: a standardized measure on a topic without factors.
        """
        columns, _ = self._columns(run)
        return dict(zip(self.measures, columns, strict=True))

    def _columns(self, run: Any) -> tuple[list[Values], list[Metric]]:
        """The values of each of the measures, and what other providers gave as they gave it."""
        run = as_run(run)
        ranker = Ranker(run, self.qrels, self._judged)
        rankings = {order: ranker.rank(order) for order in self._orders}
        columns = [f.compute(rankings[f.order]) for f in self._formulas]
        self._warn_of_depth(max((b - a for t, (a, b) in run.bounds.items()
                                 if t in self.qrels.positions), default=0))
        others = list(self._others.iter_calc(_for_others(run))) if self._others else []
        columns += self._as_columns(others)
        raw = [columns[i] for i in self._sources]
        found = [p.apply(x) for p, x in zip(self.plans, raw, strict=True)]
        columns += found
        return [columns[i] for i in self._wanted], others

    def _as_columns(self, results: list[Metric]) -> list[Values]:
        row = {t: i for i, t in enumerate(self.qrels.topics)}
        columns = {m: np.full(len(row), np.nan) for m in self._elsewhere}
        for result in results:
            if result.query_id in row:
                columns[result.measure][row[result.query_id]] = result.value
        return list(columns.values())

    def iter_calc(self, run: Any) -> Iterator[Metric]:
        """Yield the values of this run, topic by topic."""
        columns, others = self._columns(run)
        theirs = set(self._elsewhere)
        kept = {(r.measure, r.query_id): r for r in others}
        named = [(m, m in theirs, c.tolist()) for m, c in zip(self.measures, columns, strict=True)]
        for i, topic in enumerate(self.qrels.topics):
            for measure, is_theirs, column in named:
                if not is_theirs:
                    yield Metric(topic, measure, column[i])
                elif (measure, topic) in kept:
                    yield kept[measure, topic]

    def calc_aggregate(self, run: Any) -> Scores:
        """Means over the topics of the qrels; standardized ones over topics with factors."""
        columns, others = self._columns(run)
        theirs = {m: m.aggregator() for m in self._elsewhere}
        for result in others:
            theirs[result.measure].add(result.value)
        means = {m: a.result() for m, a in theirs.items()}
        return self._scores({m: means[m] if m in means else _mean(c)
                             for m, c in zip(self.measures, columns, strict=True)})

    def _scores(self, means: dict[Measure, float]) -> Scores:
        scores = Scores(means)
        scores.match, scores.notes = self.match, self.notes
        return scores

    def calc(self, run: Any) -> CalcResults:
        """Both the means and the values by topic."""
        results = list(self.iter_calc(run))
        aggregators = {m: m.aggregator() for m in self.measures}
        for result in results:
            aggregators[result.measure].add(result.value)
        return CalcResults(self._scores({m: a.result() for m, a in aggregators.items()}), results)


class StdProvider(providers.Provider):
    """Provides the measures that ir_std computes and the whole standardized family."""

    NAME = "ir_std"

    def supports(self, measure: Measure) -> bool:
        """Whether this provider computes a measure, itself or by standardizing another's."""
        if isinstance(measure, Standardized):
            measure.validate_params()
            base = measure.base
            return computed_here(base) or bool(_others().supports(base))
        return computed_here(measure)

    def _evaluator(self, measures: Iterable[Measure], qrels: Any) -> StdEvaluator:
        # FallbackProvider passes a set, whose order would change from run to run.
        return StdEvaluator(sorted(measures, key=str), qrels)


def install() -> None:
    """Put the provider into ``ir_measures.DefaultPipeline``, before all that are not the user's.

    It must come first: other providers overlook parameters that they do not know, and would
    answer ``nDCG(rel=1)`` with graded gains.
    """
    pipeline = ir_measures.DefaultPipeline.providers
    if not any(isinstance(p, StdProvider) for p in pipeline):
        provider = providers.register(StdProvider())
        pipeline.insert(pipeline.index(ir_measures.runtime) + 1, provider)


def _others() -> providers.FallbackProvider:
    return providers.FallbackProvider(
        [p for p in ir_measures.DefaultPipeline.providers if not isinstance(p, StdProvider)])


def _for_others(read: Run | Qrels) -> Any:
    """What ir_measures' providers take: the user's own object, which may hold more columns."""
    if read.given is not None:
        return read.given
    if isinstance(read, Qrels):
        return read.judged
    return {topic: dict(zip(docs, scores.tolist(), strict=True))
            for topic, (docs, scores) in read.lists.items()}


def _mean(column: Values) -> float:
    """The mean of what is not NaN; NaN where nothing is."""
    known = column[~np.isnan(column)]
    return float(known.mean()) if len(known) else float("nan")


def _warn(message: str) -> None:
    warnings.warn(message, StandardizationWarning, stacklevel=3)
