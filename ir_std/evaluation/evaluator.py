"""Evaluate runs: compute raw and standardized scores in one pass over a run's documents."""

import os
import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, TypeAlias

from ir_measures import providers
from ir_measures.measures import Measure
from ir_measures.util import Metric

from ir_std._arrays import Executor, Floats
from ir_std._system.processes import default_jobs, map_in_order
from ir_std.errors import UsageError, did_you_mean, pluralize, warn_caller
from ir_std.evaluation import inputs, plans, raw_scores, run_messages
from ir_std.evaluation.evaluation import CalcResult, Evaluation, Message, Scores, message_texts
from ir_std.evaluation.factor_messages import factor_messages, gain_messages, level_messages
from ir_std.factors.catalog import Factors
from ir_std.factors.factor_set import FactorSet
from ir_std.factors.match import Match
from ir_std.factors.schema import parse_set_measure
from ir_std.measures import ExternalMeasure, Measures, Standardized, as_measures, check_params
from ir_std.measures.external import lower_measures
from ir_std.measures.names import suggest_measures
from ir_std.measures.objects import canonical
from ir_std.measures.records import equivalents, gains_are_shares, measure_record
from ir_std.reading import FileSource
from ir_std.schemes import scheme_names
from ir_std.scores.inputs import check_common_topics
from ir_std.scores.run_scores import QrelsFromCounts, RunScores
from ir_std.trec import Qrels, Ranker, Run, as_qrels, sort_run

Progress: TypeAlias = Callable[[Iterable[Evaluation]], Iterable[Evaluation]]
"""Function that wraps the iterable of evaluations to show progress, such as ``tqdm.tqdm``."""
FALLBACK_MEASURES = ("AP", "nDCG", "P@10", "RR", "Rprec")
"""Measures to report if the user names none and no factor set is recognized."""


class StdEvaluator(providers.Evaluator):
    """Evaluate any number of runs against one set of qrels.

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
        Scores that will be evaluated.  If you pass scores, the default measures include only
        measures that all of the scores contain.  You can then also request custom measures by the
        names that the scores use.
    lower_is_better : iterable of str
        Custom measures for which lower is better.  You can omit measures whose direction the factor
        set records.

    Attributes
    ----------
    match : Match or None
        The factors used and how well they match; None if no measure is standardized.
    plans : list of Plan
        Recipes for the standardized measures.
    formulas : dict of str to raw_scores.Formula
        Formulas of raw measures, by name.
    earlier : run_messages.EarlierDocuments
        Documents that were judged in earlier rounds of a residual collection.
    messages : tuple of Message
        Messages about the factors on these qrels.  These messages apply to every run.

    Raises
    ------
    NoFactorsError
        If a standardized measure is requested by name but has no factors.
    UsageError
        If ``residual`` is True but no factor set in use belongs to a residual collection, or if
        ``lower_is_better`` names a measure that was not requested, or a measure for which the
        factor set treats higher values as better.
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
            self.match = plans.match_factors(self.qrels, factors)
        self._matches: dict[str, Match] = {}
        self._requested = _requested_measures(measures, self.match, [*scores], lower_is_better)
        wanted, made, messages = self._requested, list[plans.Plan](), tuple[Message, ...]()
        if self.match and self.schemes:
            wanted, made, messages = plans.add_standardized(
                self._requested, self.match, self.qrels, self.schemes
            )
        asked = {str(measure): measure for measure in wanted}
        super().__init__(list(asked.values()), self.qrels.topics)
        plan_of = {str(plan.measure): plan for plan in made}
        planned = {
            name: self._plan(measure, plan_of.get(name))
            for name, measure in asked.items()
            if isinstance(measure, Standardized)
        }
        self.plans = list(planned.values())
        raw = {name: measure for name, measure in asked.items() if name not in planned}
        # Measures are looked up by name, because comparing two measures builds both names.
        self._raw = raw | {n: p.raw for p in self.plans if (n := str(p.raw)) not in raw}
        self._columns = [
            (measure, str(planned[name].raw) if name in planned else name, planned.get(name))
            for name, measure in (asked | self._raw).items()
        ]
        skip = set[Measure]()
        self.formulas: dict[str, raw_scores.Formula] = {}
        self._others: raw_scores.OtherProviders | None = None
        if not isinstance(self.qrels, QrelsFromCounts):  # nothing is computed without judgments
            skip = raw_scores.skip_unjudged_topics(self._raw.values(), self.qrels)
            highest, about_gains = self._highest_level()
            self.formulas = {
                name: raw_scores.Formula.of(measure, highest, measure in skip)
                for name, measure in self._raw.items()
                if raw_scores.has_formula(measure)
            }
            messages += about_gains
            self._others = self._other_providers(skip)
        self.messages = (
            *messages,
            *level_messages(raw.values(), self.qrels),
            *factor_messages(self.plans, self._matches.values()),
        )
        self._warned: set[str] = set()
        self.earlier = run_messages.EarlierDocuments(self.matches, residual)

    def __reduce__(self) -> tuple[Any, ...]:
        # Workers build their own evaluator from the same arguments, so derived data is not sent.
        return type(self), (self._requested, self.qrels, self.schemes, self.match, self.residual)

    def __repr__(self) -> str:
        used = self.match.factors.id if self.match and self.match.factors else "no factors"
        measures = ", ".join(map(str, self.measures))
        on = pluralize(len(self.qrels.topics), self.unit)
        return f"<{type(self).__name__} on {on} with {used}: {measures}>"

    def _plan(self, measure: Standardized, made: plans.Plan | None) -> plans.Plan:
        measure.validate_params()
        if measure.decided:
            match, whole = measure.decided.match, measure.decided.plan
            made = whole.on(self.qrels.topics)._replace(measure=measure)
        elif "factors" in measure.params:
            match = plans.match_factors(self.qrels, measure["factors"])
        else:
            match = self.match = self.match or plans.match_factors(self.qrels)
        plan = made or plans.make_plan(measure, match, self.qrels)
        self._matches[plan.factors.id] = match
        return plan

    def _highest_level(self) -> tuple[int, tuple[Message, ...]]:
        """Return the level to which gains are relative, and messages about this level."""
        graded = []
        for measure in filter(raw_scores.has_formula, self._raw.values()):
            check_params(measure)
            graded += [measure] * gains_are_shares(measure)
        decided = [m.decided.highest for m in self.measures if getattr(m, "decided", None)]
        if decided or not graded:
            return max([1, *decided]), ()
        fit = (self.match or plans.match_factors(self.qrels)).fit
        if fit is None:
            return 1, ()
        # Use the highest level of the whole collection, so that a topic has the same score when
        # only a part of the collection is evaluated.
        highest = max(1, plans.highest_level_of_collection(fit, self.qrels))
        return highest, tuple(gain_messages(graded, highest, fit.factors.id, self.qrels))

    def _other_providers(self, skip: set[Measure]) -> raw_scores.OtherProviders | None:
        """Return an evaluator for raw measures without a formula; None if all have a formula."""
        others = [
            measure
            for name, measure in self._raw.items()
            if name not in self.formulas and not isinstance(measure, ExternalMeasure)
        ]
        alone = len(others) == len(self._raw)
        return raw_scores.OtherProviders(others, self.qrels, alone, bool(skip)) if others else None

    @property
    def notes(self) -> tuple[str, ...]:
        """Texts of the notes that apply to any run, such as notes on measures without factors."""
        return message_texts(self.messages, False)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Texts of the warnings that apply to any run, such as a warning about missing factors."""
        return message_texts(self.messages, True)

    @property
    def matches(self) -> tuple[Match, ...]:
        """Matches of the factor sets that are used; if there are none, the recognition result."""
        return tuple(self._matches.values()) or ((self.match,) if self.match else ())

    @property
    def unit(self) -> str:
        """Unit of the qrels or the scores: ``topic`` or ``dataset``."""
        fit = self.match.fit if self.match else None
        return fit.factors.unit if fit and fit.dataset is None else "topic"

    def evaluate(self, run: Any, name: str | None = None, depth: int | None = None) -> Evaluation:
        """Evaluate a run; return messages about the run as data instead of emitting them.

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
        read = inputs.resolve(run)
        if read.topics and self.qrels.topics:
            check_common_topics(read, self.qrels)
        name = name or read.name
        if isinstance(read, inputs.ScoresOfSystem):
            read = inputs.restrict_scores(read, self.qrels)
        if isinstance(read, RunScores):
            is_of_system = isinstance(read, inputs.ScoresOfSystem)
            if depth is not None or (self.residual and not is_of_system):
                raise UsageError(f"{name} holds scores without documents; pass the run")
            if not is_of_system:
                read = inputs.scores_at_level(read, self.qrels)
            raw, messages = self._look_up(read)
        else:
            raw, messages = self._compute(read, name, depth)
        columns: list[Floats] = []
        means: list[float] = []
        standardized: list[tuple[plans.Plan, Floats]] = []
        for _, raw_name, plan in self._columns:
            values, mean, step = raw[raw_name]
            if plan:
                values, mean = plan.standardized(values, step)
                standardized.append((plan, values))
            columns.append(values)
            means.append(mean)
        messages = [*messages, *run_messages.saturation_messages(standardized, messages)]
        return Evaluation(
            name,
            tuple([measure for measure, _, _ in self._columns]),
            tuple(columns),
            tuple(means[: len(self.measures)]),
            tuple([message._replace(run=name) for message in messages]),
        )

    def _compute(
        self, given: Run, name: str, depth: int | None
    ) -> tuple[dict[str, raw_scores.RawScores], list[Message]]:
        """Compute raw scores of a run with formulas and other providers."""
        for measure in self._raw.values():
            if isinstance(measure, ExternalMeasure):
                raise UsageError(
                    f"ir_std cannot compute {measure} for the run {name}; pass scores for it"
                    f"{did_you_mean(suggest_measures(measure.name))}"
                )
        run, about_earlier = self.earlier.check(given)
        # Check the depth of the original run, because removing documents does not reduce it.
        cut = given
        if depth is not None:
            run = cut = sort_run(run, depth)
        ranker = Ranker(run, self.qrels, any(f.needs_judged for f in self.formulas.values()))
        orders = {formula.order for formula in self.formulas.values()}
        rankings = {order: ranker.rank(order) for order in orders}
        scores = {
            name: raw_scores.RawScores.of(self._raw[name], formula.values(rankings[formula.order]))
            for name, formula in self.formulas.items()
        }
        # All orders contain the same relevant documents, so count them in any one order.
        n_relevant = next((int((r.level > 0).sum()) for r in rankings.values()), 0)
        about_run = run_messages.document_messages(self.plans, given, cut, self.qrels, n_relevant)
        if self._others:
            scores |= self._others.scores(run)
        about_order = run_messages.order_messages(self.measures, ranker)
        return scores, [*about_earlier, *about_run, *about_order]

    def _look_up(self, scores: RunScores) -> tuple[dict[str, raw_scores.RawScores], list[Message]]:
        """Look up raw scores that were computed by another program."""
        raw: dict[str, raw_scores.RawScores] = {}
        same = {str(plan.raw): plan.same_raw for plan in self.plans}
        for raw_name, measure in self._raw.items():
            forms = (measure, *same.get(raw_name, ()))
            form = next((m for m in forms if m in scores.values), None)
            if form is None:
                raise self._missing_scores(scores, measure)
            values = scores.column(form, self.qrels.topics)
            raw[raw_name] = raw_scores.RawScores.of(measure, values, scores.step_of(form))
        return raw, [*run_messages.score_messages(self.plans, scores, self.qrels, raw)]

    def _missing_scores(self, scores: RunScores, measure: Measure) -> UsageError:
        """Return the error for a measure that a score file does not contain."""
        at_level = inputs.measure_at_level(measure, scores.level)
        if at_level in scores.values:
            return UsageError(
                f"{scores.name}: num_rel counts documents at level {scores.level} or "
                f"above; ask for {at_level}, or pass -l {scores.level}"
            )
        return UsageError(
            f"{scores.name} has no scores for {measure}; it has "
            f"{plans.similar_measures(map(str, scores.values), [str(measure)])}"
        )

    def values(self, run: Any) -> dict[Measure, Floats]:
        """Compute the values of all measures on all topics of the qrels.

        Parameters
        ----------
        run
            Any form that :func:`ir_std.evaluation.inputs.resolve` accepts.

        Returns
        -------
        dict of Measure to ndarray, shape (n_topics,)
            Values in the order of :attr:`measures` and of the qrels' topics.  A value is NaN if the
            measure has no value on a topic.  For example, a standardized measure has no value on a
            topic without factors.
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
        for measure, _, plan in self._columns[: len(self.measures)]:
            own = plan.topics if plan else self.qrels.topics
            topics |= dict.fromkeys(own)
            values = zip(own, evaluation.values[measure].tolist(), strict=True)
            columns.append((measure, {topic: v for topic, v in values if plan or v == v}))
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


# --- many runs ------------------------------------------------------------------------------------


def evaluate_runs(
    evaluator: StdEvaluator,
    runs: Mapping[str, Any],
    jobs: int | None = 1,
    executor: Executor | None = None,
    *,
    depth: int | None = None,
) -> Iterator[Evaluation]:
    """Evaluate runs, and yield the evaluations in the order of the runs.

    Parameters
    ----------
    evaluator : StdEvaluator
    runs : mapping of str to run
        Runs by name, of any type that :func:`ir_std.evaluation.inputs.resolve` accepts.
    jobs : int, optional
        Number of processes.  1 means this process; None chooses the number automatically.
    executor : concurrent.futures.Executor, optional
        Executor to use instead of new processes; it receives one task per run.  If runs are given
        as paths, the workers of the executor must be able to read these files.
    depth : int, optional
        Number of documents per topic to evaluate, as with trec_eval's ``-M``.

    Raises
    ------
    InputError
        If a run is broken, or has no topic in common with the qrels.
    UsageError
        If ``jobs`` or ``depth`` is less than 1, if a depth is given for scores, or if a process
        died.
    """
    if depth is not None and depth < 1:
        raise UsageError(f"depth is {depth}; expected at least 1 document (-M)")
    if jobs is None:
        # Looking up scores is less work than sending them to another process.
        jobs = default_jobs(sum(not isinstance(run, RunScores) for run in runs.values()))
    if executor is None and jobs == 1:
        for name, run in runs.items():
            yield _evaluate(evaluator, name, run, depth)
        return
    task = pickle.dumps(evaluator)
    items = ((name, _portable(run, evaluator.qrels), depth) for name, run in runs.items())
    own: dict[Measure, Measure] = {}
    for evaluation in map_in_order(_evaluate_in_worker, task, items, jobs, executor):
        # Each worker sends its own copies of the measures, which take up most of the memory of a
        # small evaluation.  Keep only one copy for all runs.
        shared = tuple([own.setdefault(m, m) for m in evaluation.measures])
        yield replace(evaluation, measures=shared)


def _evaluate(evaluator: StdEvaluator, name: str, run: Any, depth: int | None) -> Evaluation:
    read = inputs.resolve(run)
    check_common_topics(read, evaluator.qrels)
    return evaluator.evaluate(read, name, depth)


def _portable(run: Any, qrels: Qrels) -> Any:
    """Return a run in a form that can be sent to another process.

    If a file can be read only once, this function reads the file.
    """
    if isinstance(run, inputs.ScoresOfSystem):
        return inputs.restrict_scores(run, qrels)  # workers need no factor set
    readable = (str, os.PathLike, FileSource, Mapping, Run, RunScores)
    return run if isinstance(run, readable) or hasattr(run, "itertuples") else inputs.resolve(run)


def _evaluate_in_worker(task: bytes, item: tuple[str, Any, int | None]) -> Evaluation:
    return _evaluate(_unpickle_evaluator(task), *item)


@lru_cache(maxsize=1)
def _unpickle_evaluator(task: bytes) -> StdEvaluator:
    evaluator: StdEvaluator = pickle.loads(task)
    return evaluator


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
        asked = _default_measures(factors, scores)
    else:
        available = [measure for each in scores for measure in each.values]
        available += map(parse_set_measure, factors.measures if factors else ())
        asked = as_measures(measures, {m.name for m in available if isinstance(m, ExternalMeasure)})
    lower = {str(measure) for measure in lower_measures(lower_is_better, asked)}
    return [
        _directed(m, factors, str(m) in lower) if isinstance(m, ExternalMeasure) else m
        for m in asked
    ]


def _directed(
    measure: ExternalMeasure, factors: FactorSet | None, is_lower: bool
) -> ExternalMeasure:
    """Set the direction of an external measure from the factor set or from the user's list."""
    name = str(measure)
    sign = factors.sign(name) if factors and name in factors.measures else 0
    if factors and sign > 0 and is_lower:
        raise UsageError(
            f"{factors.id} treats higher {name} as better; rebuild it with --lower-is-better {name}"
        )
    return ExternalMeasure(measure.name, measure.lower_is_better or is_lower or sign < 0)


def _default_measures(factors: FactorSet | None, scores: Sequence[RunScores]) -> list[Measure]:
    """Return the measures to report if the user names none.

    If scores are given, only measures that all of them contain are returned.
    """
    names = factors.default_measures if factors else FALLBACK_MEASURES
    defaults = [parse_set_measure(name) for name in names]
    if not scores:
        return defaults
    common = {canonical(m): m for m in scores[0].values if all(m in s.values for s in scores)}
    if factors is None:
        return list(common.values())
    # With binary judgments, a set's nDCG(rel=1) equals the nDCG of other programs.
    forms = [{canonical(form) for form in equivalents(m, binary=True)} for m in defaults]
    usual = {
        name: measure
        for equal in forms
        for name, measure in common.items()
        if name in equal and measure_record(measure).high == 1
    }
    external = {name: m for name, m in common.items() if isinstance(m, ExternalMeasure)}
    return list((usual | external if usual else common).values())
