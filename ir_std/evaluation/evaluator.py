"""Evaluates runs: raw and standardized scores of one look-up."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from ir_measures import providers
from ir_measures.measures import Measure, SumAgg
from ir_measures.util import CalcResults, Metric

from ir_std._arrays import Floats
from ir_std._memory import keep_freed_memory
from ir_std.errors import UsageError, warn_caller
from ir_std.evaluation import metrics
from ir_std.evaluation.by_measure import ByMeasure
from ir_std.evaluation.messages import (
    Alternatives,
    Message,
    factor_messages,
    level_messages,
    message_texts,
    run_messages,
    saturation_messages,
    score_messages,
)
from ir_std.evaluation.other_providers import OtherProviders, aggregate_results, has_formula
from ir_std.evaluation.plans import Plan, make_plan, match_factors, mean_of_values
from ir_std.factors.recognition import Match
from ir_std.measures import Measures, Standardized, as_measures, check_params
from ir_std.scores.inputs import as_run_or_scores
from ir_std.scores.run_scores import CountedTopics, RunScores
from ir_std.trec.inputs import as_qrels
from ir_std.trec.qrels import Ranking
from ir_std.trec.ranking import Order, Ranker
from ir_std.trec.runs import Run


class Scores(ByMeasure[float]):
    """Aggregated scores by measure, or its name, and where their factors came from.

    Attributes
    ----------
    match : Match or None
        The factor set used and how well it fits; None if nothing was to be standardized.
    notes, warnings : tuple of str
        What a reader should know: plain measures that the set has no factors for, topics that
        the run lacks; and what misleads who does not know it.

    Examples
    --------
    >>> scores = ir_std.calc_aggregate("AP", "qrels.txt", "bm25.run")
    >>> scores["sAP"] == scores[ir_std.sAP]
    True
    >>> scores.match.factors.id, scores.warnings
    ('trec8-adhoc', ())
    """

    match: Match | None = None
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


if TYPE_CHECKING:

    class Calculated(NamedTuple):
        """Means, and values by topic."""

        aggregated: Scores
        per_query: list[Metric]
else:

    class Calculated(CalcResults):
        """Means, and values by topic."""

        __slots__ = ()


class _Formula(NamedTuple):
    """How a raw measure is computed from a ranking in its order."""

    measure: Measure
    order: Order
    compute: Callable[[Ranking], Floats]

    @classmethod
    def of(cls, measure: Measure, highest: int) -> _Formula:
        name = measure.__name__
        params = {k: v for k, v in measure.params.items() if k != "judged_only"}
        if name == "RBP":
            params["highest"] = highest
        return cls(
            measure, metrics.order_of(name, params), partial(metrics.FORMULAS[name], **params)
        )


@dataclass(eq=False, repr=False)
class Evaluation:
    """One run's scores on all topics of the qrels.

    Attributes
    ----------
    run : str
    measures : tuple of Measure
        The evaluator's measures in their order, then the raw ones that its standardized ones
        are made from.
    columns : tuple of ndarray, shape (n_topics,)
        Their values.  NaN where there is no value: a topic without factors.
    averages : tuple of float
        Means of the evaluator's measures; of standardized ones over topics with factors.
    messages : tuple of Notice
        What is to be known of this run.
    provider_results : tuple of Metric or None
        What other providers gave, as they gave it; None of scores that nobody here computed.
    """

    run: str
    measures: tuple[Measure, ...]
    columns: tuple[Floats, ...]
    averages: tuple[float, ...]
    messages: tuple[Message, ...]
    provider_results: tuple[Metric, ...] | None

    @cached_property
    def values(self) -> Mapping[Measure, Floats]:
        """The columns by measure."""
        return dict(zip(self.measures, self.columns, strict=True))

    @cached_property
    def means(self) -> Mapping[Measure, float]:
        """The averages by measure."""
        return dict(zip(self.measures, self.averages, strict=False))


class _Raw(NamedTuple):
    """A run's raw scores by topic, in the order of the evaluator's raw measures.

    ``steps`` are those in which the values were written, 0 where they were computed here.
    """

    columns: list[Floats]
    means: list[float]
    steps: list[float]
    messages: Iterable[Message]
    provider_results: tuple[Metric, ...] | None


class StdEvaluator(providers.Evaluator):
    """Evaluates runs against one set of qrels; built once, it serves many runs.

    Parameters
    ----------
    measures : Measure, str or iterable of them
        Raw and standardized ones.
    qrels
        Any form that :func:`ir_std.trec.inputs.as_qrels` takes.
    match : Match, optional
        The factors where a measure names none; recognized from the qrels if not given.
    messages : iterable of Notice
        Passed on to the results.
    plans : iterable of Plan
        Those of some of the measures, with ``match``, where they were made before.

    Attributes
    ----------
    match : Match or None
        The factors used and how well they fit; None if nothing is to be standardized.
    plans : list of Plan
        How each standardized measure is computed.
    messages : tuple of Notice
        What is to be known of the factors on these qrels, whatever the run.

    Raises
    ------
    NoFactorsError
        If a standardized measure has no factors.
    """

    def __init__(
        self,
        measures: Measures,
        qrels: Any,
        match: Match | None = None,
        messages: Iterable[Message] = (),
        plans: Iterable[Plan] = (),
    ) -> None:
        keep_freed_memory()
        self.qrels = as_qrels(qrels)
        # Measures are equal if their texts are, which are made anew each time: here they are made
        # once, and what a run needs is found by place.
        named: dict[str, Measure] = {}
        for measure in as_measures(measures):
            named.setdefault(str(measure), measure)
        super().__init__(list(named.values()), self.qrels.topics)
        self.match = match
        self._matches: dict[str, Match] = {}
        made = {str(p.measure): p for p in plans}
        planned = {
            text: self._plan(m, made.get(text))
            for text, m in named.items()
            if isinstance(m, Standardized)
        }
        self.plans = list(planned.values())
        asked = {text: m for text, m in named.items() if text not in planned}
        behind = [str(p.raw) for p in self.plans]
        forms = {text: (m,) for text, m in asked.items()} | {
            text: (p.raw, *p.same_raw) for text, p in zip(behind, self.plans, strict=True)
        }
        given = isinstance(self.qrels, CountedTopics)  # then nothing can be computed
        here = {} if given else {text: m for text, (m, *_) in forms.items() if has_formula(m)}
        for measure in here.values():
            check_params(measure)
        highest, told = self._highest_level(here.values())
        self._formulas = [_Formula.of(m, highest) for m in here.values()]
        self._judged = any(metrics.needs_judged(m.__name__, m.params) for m in here.values())
        others = {text: m for text, (m, *_) in forms.items() if text not in here}
        self._others = (
            OtherProviders([*others.values()], self.qrels, not here)
            if others and not given
            else None
        )
        raw = here | others
        self._forms = [forms[text] for text in raw]
        place = {text: i for i, text in enumerate([*raw, *planned])}
        self._from = [place[text] for text in behind]
        names = named | {text: m for text, m in raw.items() if text not in named}
        self._names = tuple(names.values())
        self._order = [place[text] for text in names]
        self.messages = (
            *messages,
            *told,
            *level_messages(asked.values(), self.qrels),
            *factor_messages(self.plans, self._matches.values()),
        )
        self._instead = Alternatives()
        self._told: set[str] = set()

    def _plan(self, measure: Standardized, made: Plan | None) -> Plan:
        measure.validate_params()
        if "factors" in measure.params:
            match = match_factors(self.qrels, measure["factors"])
        else:
            match = self.match = self.match or match_factors(self.qrels)
        planned = made or make_plan(measure, match, self.qrels)
        self._matches[planned.factors.id] = match
        return planned

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know, whatever the run: measures without factors."""
        return message_texts(self.messages, False)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What misleads who does not know it, whatever the run: topics without factors."""
        return message_texts(self.messages, True)

    @property
    def matches(self) -> tuple[Match, ...]:
        """The match of every set that is used; that of recognition if none is."""
        return tuple(self._matches.values()) or ((self.match,) if self.match else ())

    def _highest_level(self, here: Iterable[Measure]) -> tuple[int, tuple[Message, ...]]:
        """The level whose gain is 1 in graded RBP, and what is to be said of it.

        Of a part of a collection it is the collection's, so that parts add up to the whole.
        """
        graded = [m for m in here if m.__name__ == "RBP" and "rel" not in m.params]
        if not graded:
            return 1, ()
        fit = (self.match or match_factors(self.qrels)).fit
        known = (fit.factors.info.get("max_level") if fit and fit.partial else None) or 1
        if fit is None or known <= self.qrels.max_level:
            return 1, ()
        return known, (
            Message(
                f"{', '.join(map(str, graded))}: gains are level / {known}, the "
                f"highest level of {fit.factors.id}, of which these topics are a "
                f"part (their own highest is {self.qrels.max_level})"
            ),
        )

    def evaluate(self, run: Any, name: str | None = None) -> Evaluation:
        """Evaluate a run; what is to be known of it comes as data, and nothing is warned of.

        Parameters
        ----------
        run
            Any form that :func:`ir_std.trec.inputs.as_scored` takes.
        name : str, optional
            What messages call it; the file's name if not given.
        """
        read = as_run_or_scores(run)
        name = name or read.name
        raw = self._given(read, name) if isinstance(read, RunScores) else self._computed(read, name)
        found = [
            p.standardized(raw.columns[i], raw.steps[i])
            for p, i in zip(self.plans, self._from, strict=True)
        ]
        columns = [*raw.columns, *(values for values, _ in found)]
        averages = [*raw.means, *(mean for _, mean in found)]
        return Evaluation(
            name,
            self._names,
            tuple([columns[i] for i in self._order]),
            tuple([averages[i] for i in self._order[: len(self.measures)]]),
            (
                *raw.messages,
                *saturation_messages(
                    name, self.plans, [values for values, _ in found], self._instead
                ),
            ),
            raw.provider_results,
        )

    def _computed(self, run: Run, name: str) -> _Raw:
        """What a run scores."""
        ranker = Ranker(run, self.qrels, self._judged)
        rankings = {order: ranker.rank(order) for order in {f.order for f in self._formulas}}
        columns = [f.compute(rankings[f.order]) for f in self._formulas]
        averages = [_summary(f.measure, c) for f, c in zip(self._formulas, columns, strict=True)]
        about = run_messages(name, self.plans, run, self.qrels, _relevant(rankings.values()))
        provider_results: list[Metric] = []
        if self._others:
            provider_results = self._others.results(run)
            columns += self._as_columns(self._others.measures, provider_results).values()
            averages += aggregate_results(self._others.measures, provider_results).values()
        return _Raw(columns, averages, [0.0] * len(columns), about, tuple(provider_results))

    def _given(self, scores: RunScores, name: str) -> _Raw:
        """What was computed provider_results."""
        columns, steps = {}, {}
        for forms in self._forms:
            known = next((m for m in forms if m in scores.values), None)
            if known is None:
                raise UsageError(
                    f"{scores.name} has no {forms[0]}: it has {', '.join(map(str, scores.values))}"
                )
            columns[forms[0]] = scores.column(known, self.qrels.topics)
            steps[forms[0]] = scores.step_of(known)
        return _Raw(
            list(columns.values()),
            [_summary(m, v) for m, v in columns.items()],
            list(steps.values()),
            score_messages(name, self.plans, scores, self.qrels, columns, steps),
            None,
        )

    def _as_columns(
        self, measures: Iterable[Measure], results: Iterable[Metric]
    ) -> dict[Measure, Floats]:
        row = self.qrels.positions
        columns = {m: np.full(len(row), np.nan) for m in measures}
        for result in results:
            if result.query_id in row:
                columns[result.measure][row[result.query_id]] = result.value
        return columns

    def values(self, run: Any) -> dict[Measure, Floats]:
        """Floats of all measures on all topics of the qrels.

        Parameters
        ----------
        run
            Any form that :func:`ir_std.trec.inputs.as_scored` takes.

        Returns
        -------
        dict of Measure to ndarray, shape (n_topics,)
            In the order of :attr:`measures` and of the qrels' topics.  NaN where there is no
            value: a standardized measure on a topic without factors.
        """
        found = self._warned(run)
        return {m: found.values[m] for m in self.measures}

    def iter_calc(self, run: Any) -> Iterator[Metric]:
        """Yield the values of this run, topic by topic."""
        yield from self.by_topic(self._warned(run))

    def calc_aggregate(self, run: Any) -> Scores:
        """Means over the topics of the qrels; standardized ones over topics with factors."""
        return self._scores(self._warned(run))

    def calc(self, run: Any) -> Calculated:
        """Both the means and the values by topic."""
        found = self._warned(run)
        return Calculated(self._scores(found), list(self.by_topic(found)))

    def by_topic(self, found: Evaluation) -> Iterator[Metric]:
        """The values of an evaluation as ir_measures gives them, topic by topic."""
        theirs = {(r.measure, r.query_id): r.value for r in found.provider_results or ()}
        not_ours = (
            set(self._others.measures)
            if self._others and found.provider_results is not None
            else set()
        )
        of_mean = {p.measure for p in self.plans if p.of_mean}
        columns = [
            (m, m in not_ours, found.values[m].tolist()) for m in self.measures if m not in of_mean
        ]
        for i, topic in enumerate(self.qrels.topics):
            for measure, is_theirs, column in columns:
                if not is_theirs:
                    yield Metric(topic, measure, column[i])
                elif (measure, topic) in theirs:
                    yield Metric(topic, measure, theirs[measure, topic])

    def _scores(self, found: Evaluation) -> Scores:
        scores = Scores(found.means)
        messages = self.messages + found.messages
        scores.match = self.match
        scores.notes, scores.warnings = (
            message_texts(messages, False),
            message_texts(messages, True),
        )
        return scores

    def _warned(self, run: Any) -> Evaluation:
        """Evaluate, and warn the caller of what was not said before."""
        found = self.evaluate(run)
        new = [
            text
            for text in message_texts(self.messages + found.messages, True)
            if text not in self._told
        ]
        self._told.update(new)
        warn_caller(new)
        return found


def _summary(measure: Measure, values: Floats) -> float:
    """The mean of the values that are known; of counts the sum, as ir_measures has it."""
    if isinstance(measure.aggregator(), SumAgg):
        return float(np.nansum(values))
    return mean_of_values(values)


def _relevant(rankings: Iterable[Ranking]) -> int:
    """The number of relevant documents that were found; all orders find the same."""
    return next((int((r.level > 0).sum()) for r in rankings), 0)
