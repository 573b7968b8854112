"""Evaluate runs: compute raw and standardized scores in one pass over a run's documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ir_measures import providers
from ir_measures.measures import Measure
from ir_measures.util import Metric

from ir_std._arrays import Floats
from ir_std.errors import UsageError, did_you_mean, warn_caller
from ir_std.evaluation.evaluation import CalcResult, Evaluation, Message, Scores, message_texts
from ir_std.evaluation.factor_messages import factor_messages, gain_messages, level_messages
from ir_std.evaluation.inputs import (
    ScoresOfSystem,
    measure_at_level,
    resolve,
    restrict_scores,
    scores_at_level,
)
from ir_std.evaluation.plans import (
    Plan,
    add_standardized,
    highest_level_of_collection,
    make_plan,
    match_factors,
    similar_measures,
)
from ir_std.evaluation.raw_scores import (
    Formula,
    OtherProviders,
    RawScores,
    has_formula,
    skip_unjudged_topics,
)
from ir_std.evaluation.run_messages import (
    EarlierDocuments,
    order_messages,
    run_messages,
    saturation_messages,
    score_messages,
)
from ir_std.factors.catalog import Factors
from ir_std.factors.factor_set import FactorSet
from ir_std.factors.match import Match
from ir_std.factors.schema import parse_set_measure
from ir_std.measures import (
    ExternalMeasure,
    Measures,
    Standardized,
    as_measures,
    canonical,
    check_params,
    equivalents,
    gains_are_shares,
    looks_at_nonrelevant,
    lower_measures,
    measure_record,
    suggest_measures,
)
from ir_std.schemes import scheme_names
from ir_std.scores.inputs import check_common_topics
from ir_std.scores.run_scores import QrelsFromCounts, RunScores
from ir_std.trec.inputs import as_qrels
from ir_std.trec.ranking import Ranker, sort_run
from ir_std.trec.runs import Run

FALLBACK_MEASURES = ("AP", "nDCG", "P@10", "RR", "Rprec")
"""Reported if no measure is named and no factor set is recognized."""


class StdEvaluator(providers.Evaluator):
    """Evaluate runs against one set of qrels; build it once for many runs.

    Parameters
    ----------
    measures : Measure, str or iterable of them, optional
        Raw and standardized measures; by default, the default measures of the factor set.
    qrels
        Any form that :func:`ir_std.trec.inputs.as_qrels` accepts.
    schemes : str or iterable of str
        Schemes for which to add a standardized version of each raw measure that has factors.
    factors : FactorSet, str, path or Match, optional
        Factors for measures that do not name a factor set; by default, the set is recognized from
        the qrels.
    residual : bool
        If True, remove documents that were judged in earlier rounds of a residual collection.
    scores : iterable of RunScores
        Scores that will be evaluated.  The default measures are then the measures that all of them
        contain, and custom measures can be given by the names used there.
    lower_is_better : iterable of str
        Custom measures for which lower is better.  Not needed if the factor set records it.

    Attributes
    ----------
    match : Match or None
        The factors used and how well they match; None if no measure is standardized.
    plans : list of Plan
        Recipes for the standardized measures.
    columns : tuple of Column
        One column per measure, followed by raw measures that are needed only for standardization.
    messages : tuple of Message
        Messages about the factors on these qrels, which apply to any run.

    Raises
    ------
    NoFactorsError
        If a standardized measure is requested by name but has no factors.
    UsageError
        If ``residual`` is True but no factor set in use belongs to a residual collection; or if a
        name in ``lower_is_better`` is not among the measures, or the factor set treats higher
        values of it as better.
    """

    def __init__(
        self,
        measures: Measures | None,
        qrels: Any,
        schemes: str | Iterable[str] = (),
        factors: Factors | Match | None = None,
        residual: bool = False,
        *,
        scores: Iterable[RunScores] = (),
        lower_is_better: Iterable[str] = (),
    ) -> None:
        self.qrels = as_qrels(qrels)
        self.schemes = scheme_names(schemes) if schemes else ()
        self.residual = residual
        self.match: Match | None = None
        if measures is None or self.schemes or factors is not None or residual:
            self.match = match_factors(self.qrels, factors)
        self._matches: dict[str, Match] = {}
        self._skip_unjudged: set[Measure] = set()
        self._requested = _requested_measures(measures, self.match, [*scores], lower_is_better)
        wanted, made, messages = self._requested, list[Plan](), tuple[Message, ...]()
        if self.match and self.schemes:
            wanted, made, messages = add_standardized(
                self._requested, self.match, self.qrels, self.schemes
            )
        asked = {str(measure): measure for measure in wanted}
        super().__init__(list(asked.values()), self.qrels.topics)
        planned = {str(plan.measure): plan for plan in made}
        planned = {
            name: self._plan(measure, planned.get(name))
            for name, measure in asked.items()
            if isinstance(measure, Standardized)
        }
        self.plans = list(planned.values())
        raw = {name: measure for name, measure in asked.items() if name not in planned}
        formulas, about_gains = self._formulas(raw | {str(p.raw): p.raw for p in self.plans})
        self.columns = tuple(make_columns(asked, planned, formulas))
        self._raw_columns = [column for column in self.columns if not column.plan]
        self._others = self._other_providers()
        self.messages = (
            *messages,
            *about_gains,
            *level_messages(raw.values(), self.qrels),
            *factor_messages(self.plans, self._matches.values()),
        )
        self._warned: set[str] = set()
        self._earlier = EarlierDocuments(self.matches, residual)

    def __reduce__(self) -> tuple[Any, ...]:
        # Workers build their own evaluator from the same arguments, so derived data is not sent.
        return type(self), (self._requested, self.qrels, self.schemes, self.match, self.residual)

    def __repr__(self) -> str:
        used = self.match.factors.id if self.match and self.match.factors else "no factors"
        measures = ", ".join(map(str, self.measures))
        return f"<{type(self).__name__} on {len(self.qrels.topics)} topics with {used}: {measures}>"

    def _plan(self, measure: Standardized, made: Plan | None) -> Plan:
        measure.validate_params()
        if measure.decided:
            match, whole = measure.decided.match, measure.decided.plan
            made = whole.on(self.qrels.topics)._replace(measure=measure)
        elif "factors" in measure.params:
            match = match_factors(self.qrels, measure["factors"])
        else:
            match = self.match = self.match or match_factors(self.qrels)
        plan = made or make_plan(measure, match, self.qrels)
        self._matches[plan.factors.id] = match
        return plan

    def _formulas(self, raw: Mapping[str, Measure]) -> tuple[dict[str, Formula], list[Message]]:
        """Return the formulas of raw measures by name, and messages about gains."""
        if isinstance(self.qrels, QrelsFromCounts):
            return {}, []  # without judgments there is nothing to compute
        own = {name: measure for name, measure in raw.items() if has_formula(measure)}
        for measure in own.values():
            check_params(measure)
        graded = [m for m in own.values() if gains_are_shares(m)]
        decided = [m.decided.highest for m in self.measures if getattr(m, "decided", None)]
        fit = (self.match or match_factors(self.qrels)).fit if graded and not decided else None
        # A part of a collection uses the collection's highest level, so that parts and whole agree.
        known = [highest_level_of_collection(fit, self.qrels)] if fit else decided
        highest = max([1, *known])
        messages = gain_messages(graded, highest, fit.factors.id, self.qrels) if fit else ()
        skip = self._skip_unjudged = skip_unjudged_topics(raw.values(), self.qrels)
        return {name: Formula.of(m, highest, m in skip) for name, m in own.items()}, list(messages)

    def _other_providers(self) -> OtherProviders | None:
        """Return an evaluator of raw measures without a formula; None if there are none."""
        others = [
            column.measure
            for column in self._raw_columns
            if not column.formula and not isinstance(column.measure, ExternalMeasure)
        ]
        if not others or isinstance(self.qrels, QrelsFromCounts):
            return None
        return OtherProviders(
            others,
            self.qrels,
            alone=len(others) == len(self._raw_columns),
            skip_unjudged=bool(self._skip_unjudged),
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Texts of the notes that apply to any run, such as measures without factors."""
        return message_texts(self.messages, False)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Texts of the warnings that apply to any run, such as topics without factors."""
        return message_texts(self.messages, True)

    @property
    def matches(self) -> tuple[Match, ...]:
        """Matches of the sets in use; if there are none, the result of recognition."""
        return tuple(self._matches.values()) or ((self.match,) if self.match else ())

    def evaluate(self, run: Any, name: str | None = None, depth: int | None = None) -> Evaluation:
        """Evaluate a run, and return messages about it as data instead of warning.

        Parameters
        ----------
        run
            Any form that :func:`ir_std.evaluation.inputs.resolve` accepts.
        name : str, optional
            Name of the run in messages; by default, the name of the file.
        depth : int, optional
            Evaluate only the first ``depth`` documents of each topic.

        Raises
        ------
        UsageError
            If ``run`` holds scores and either ``residual`` is set or a depth is given.
        """
        read = resolve(run)
        if read.topics and self.qrels.topics:
            check_common_topics(read, self.qrels)
        name = name or read.name
        if isinstance(read, ScoresOfSystem):
            read = restrict_scores(read, self.qrels)
        if isinstance(read, RunScores):
            has_all = self.residual and not isinstance(read, ScoresOfSystem)
            if has_all or depth is not None:
                raise UsageError(f"{name} holds scores without documents; pass the run")
            if not isinstance(read, ScoresOfSystem):
                read = scores_at_level(read, self.qrels)
            raw, messages = self._look_up(read, name)
        else:
            raw, messages = self._compute(read, name, depth)
        scores = [column.scores(raw) for column in self.columns]
        values = [values for values, _ in scores]
        standardized = [v for v, column in zip(values, self.columns, strict=True) if column.plan]
        far = saturation_messages(name, self.plans, standardized, messages)
        return Evaluation(
            name,
            tuple([column.measure for column in self.columns]),
            tuple(values),
            tuple([mean for _, mean in scores[: len(self.measures)]]),
            (*messages, *far),
        )

    def _compute(
        self, given: Run, name: str, depth: int | None
    ) -> tuple[dict[str, RawScores], list[Message]]:
        """Compute raw scores of a run with formulas and other providers."""
        self._check_computable(name)
        run, about_earlier = self._earlier.check(given, name)
        cut = given if depth is None else sort_run(run, depth)
        run = run if depth is None else cut
        ranker = Ranker(run, self.qrels, any(column.needs_judged for column in self._raw_columns))
        orders = {column.formula.order for column in self._raw_columns if column.formula}
        rankings = {order: ranker.rank(order) for order in orders}
        scores = {
            column.raw: RawScores.of(
                column.measure, column.formula.values(rankings[column.formula.order])
            )
            for column in self._raw_columns
            if column.formula
        }
        # Every order contains the same relevant documents, so any of them gives the number.
        n_relevant = next((int((r.level > 0).sum()) for r in rankings.values()), 0)
        # The original run decides its depth: removing documents does not make it shallower.
        about_run = run_messages(name, self.plans, given, cut, self.qrels, n_relevant)
        if self._others:
            scores |= self._others.scores(run)
        about_order = order_messages(name, self.measures, ranker)
        return scores, [*about_earlier, *about_run, *about_order]

    def _check_computable(self, name: str) -> None:
        """Check that no measure is requested that only score files contain."""
        for column in self._raw_columns:
            measure = column.measure
            if isinstance(measure, ExternalMeasure):
                raise UsageError(
                    f"ir_std cannot compute {measure} for the run {name}; pass scores for it"
                    f"{did_you_mean(suggest_measures(measure.name))}"
                )

    def _look_up(self, scores: RunScores, name: str) -> tuple[dict[str, RawScores], list[Message]]:
        """Look up raw scores that were computed by another program."""
        raw: dict[str, RawScores] = {}
        for column in self._raw_columns:
            measure = next((m for m in column.same_raw if m in scores.values), None)
            at_level = measure_at_level(column.measure, scores.level)
            if measure is None and at_level in scores.values:
                raise UsageError(
                    f"{scores.name}: its num_rel counts documents at level {scores.level} or "
                    f"above; ask for {at_level}, or pass -l {scores.level}"
                )
            if measure is None:
                raise UsageError(
                    f"{scores.name} has no scores for {column.measure}; it has "
                    f"{similar_measures(map(str, scores.values), [str(column.measure)])}"
                )
            values = scores.column(measure, self.qrels.topics)
            raw[column.raw] = RawScores.of(column.measure, values, scores.step_of(measure))
        return raw, [*score_messages(name, self.plans, scores, self.qrels, raw)]

    def values(self, run: Any) -> dict[Measure, Floats]:
        """Compute the values of all measures on all topics of the qrels.

        Parameters
        ----------
        run
            Any form that :func:`ir_std.evaluation.inputs.resolve` accepts.

        Returns
        -------
        dict of Measure to ndarray, shape (n_topics,)
            Values in the order of :attr:`measures` and of the qrels' topics; NaN where there is no
            value, as for a standardized measure on a topic without factors.
        """
        evaluation = self._evaluate_and_warn(run)
        return {m: evaluation.values[m] for m in self.measures}

    def iter_calc(self, run: Any) -> Iterator[Metric]:
        """Yield the values of a run, topic by topic."""
        yield from self.by_topic(self._evaluate_and_warn(run))

    def calc_aggregate(self, run: Any) -> Scores:
        """Compute means over the topics of the qrels.

        Standardized measures are averaged over the topics that have factors.
        """
        return self._scores(self._evaluate_and_warn(run))

    def calc(self, run: Any) -> CalcResult:
        """Compute both the means and the values per topic."""
        evaluation = self._evaluate_and_warn(run)
        return CalcResult(self._scores(evaluation), list(self.by_topic(evaluation)))

    def by_topic(self, evaluation: Evaluation) -> Iterator[Metric]:
        """Yield the values of an evaluation, topic by topic, as ir_measures does.

        A raw measure may have no value on a topic.  Standardized measures are NaN on topics
        without factors.  If the factor set has per-dataset factors, the datasets come last.
        """
        columns: list[tuple[Measure, dict[str, float]]] = []
        topics = dict.fromkeys(self.qrels.topics)
        for column in self.columns[: len(self.measures)]:
            own = column.plan.topics if column.plan else self.qrels.topics
            topics |= dict.fromkeys(own)
            values = zip(own, evaluation.values[column.measure].tolist(), strict=True)
            known = {topic: v for topic, v in values if column.plan or v == v}
            columns.append((column.measure, known))
        for topic in topics:
            for measure, on_topic in columns:
                if topic in on_topic:
                    yield Metric(topic, measure, on_topic[topic])

    def _scores(self, evaluation: Evaluation) -> Scores:
        scores = Scores(evaluation.means)
        scores.match = self.match
        messages = self.messages + evaluation.messages
        scores.notes = message_texts(messages, False)
        scores.warnings = message_texts(messages, True)
        return scores

    def _evaluate_and_warn(self, run: Any) -> Evaluation:
        """Evaluate a run, and emit the warnings that this evaluator has not emitted before."""
        evaluation = self.evaluate(run)
        texts = message_texts(self.messages + evaluation.messages, True)
        warn_caller([text for text in texts if text not in self._warned])
        self._warned.update(texts)
        return evaluation


# --- the columns ----------------------------------------------------------------------------------


class Column(NamedTuple):
    """One measure of an evaluator, and how it is computed.

    Attributes
    ----------
    measure : Measure
    raw : str
        Name of the raw measure: the measure itself, or the one that is standardized.  Measures
        are looked up by name, because comparing two measures builds both names each time.
    formula : Formula or None
        Formula of a raw measure; None if another provider computes it, or a score file has it.
    plan : Plan or None
        Recipe for a standardized measure; None if the measure is raw.
    same_raw : tuple of Measure
        Raw measures with the same values as this measure; a score file may hold any of them.
    """

    measure: Measure
    raw: str
    formula: Formula | None = None
    plan: Plan | None = None
    same_raw: tuple[Measure, ...] = ()

    @property
    def needs_judged(self) -> bool:
        """True if the formula uses documents that are judged not relevant."""
        return bool(self.formula) and looks_at_nonrelevant(self.measure)

    def scores(self, raw: Mapping[str, RawScores]) -> tuple[Floats, float]:
        """Return a run's values per topic and their mean, from raw scores by measure name."""
        values, mean, step = raw[self.raw]
        return self.plan.standardized(values, step) if self.plan else (values, mean)


def make_columns(
    asked: Mapping[str, Measure], planned: Mapping[str, Plan], formulas: Mapping[str, Formula]
) -> Iterator[Column]:
    """Yield a column per measure, then one per raw measure needed only for standardization."""
    same = {str(plan.raw): (plan.raw, *plan.same_raw) for plan in planned.values()}
    for name, measure in asked.items():
        if name in planned:
            yield Column(measure, str(planned[name].raw), plan=planned[name])
        else:
            yield Column(measure, name, formulas.get(name), same_raw=same.get(name, (measure,)))
    for name, forms in same.items():
        if name not in asked:
            yield Column(forms[0], name, formulas.get(name), same_raw=forms)


# --- the measures ---------------------------------------------------------------------------------


def _requested_measures(
    measures: Measures | None,
    match: Match | None,
    scores: Sequence[RunScores],
    lower_is_better: Iterable[str],
) -> list[Measure]:
    """Return the requested or default measures, with their directions set."""
    factors = match.factors if match else None
    if measures is None:
        asked = default_measures(factors, scores)
    else:
        known = [measure for each in scores for measure in each.values]
        known += map(parse_set_measure, factors.measures if factors else ())
        asked = as_measures(measures, {m.name for m in known if isinstance(m, ExternalMeasure)})
    return set_directions(asked, factors, lower_is_better)


def set_directions(
    measures: Iterable[Measure], factors: FactorSet | None, lower_is_better: Iterable[str]
) -> list[Measure]:
    """Set the direction of external measures from the factor set or from the user's list."""
    measures = list(measures)
    lower = {str(measure) for measure in lower_measures(lower_is_better, measures)}
    directed: list[Measure] = []
    for measure in measures:
        if isinstance(measure, ExternalMeasure):
            name = str(measure)
            sign = factors.sign(name) if factors and name in factors.measures else 0
            if factors and sign > 0 and name in lower:
                raise UsageError(
                    f"{factors.id} treats higher {name} as better; rebuild it with "
                    f"--lower-is-better {name}"
                )
            is_lower = measure.lower_is_better or name in lower or sign < 0
            measure = ExternalMeasure(measure.name, is_lower)
        directed.append(measure)
    return directed


def default_measures(factors: FactorSet | None, scores: Sequence[RunScores]) -> list[Measure]:
    """Return the measures to report if the user names none.

    If scores are given, only measures that all of them contain are returned.
    """
    names = factors.default_measures if factors else FALLBACK_MEASURES
    defaults = [parse_set_measure(name) for name in names]
    if not scores:
        return defaults
    known = {canonical(m): m for m in scores[0].values if all(m in s.values for s in scores)}
    if factors is None:
        return list(known.values())
    # With binary judgments, a set's nDCG(rel=1) equals the nDCG of other programs.
    forms = [{canonical(form) for form in equivalents(m, binary=True)} for m in defaults]
    usual = {
        name: measure
        for equal in forms
        for name, measure in known.items()
        if name in equal and measure_record(measure).high == 1
    }
    external = {name: m for name, m in known.items() if isinstance(m, ExternalMeasure)}
    return list((usual | external if usual else known).values())
