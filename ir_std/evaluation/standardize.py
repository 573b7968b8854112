"""Standardized values of scores that are known already, in the shape they come in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeVar, cast

from ir_measures.measures import Measure

from ir_std.errors import InputError, UsageError, warn_caller
from ir_std.evaluation.api import evaluator_for
from ir_std.evaluation.evaluation import Evaluation
from ir_std.evaluation.evaluator import StdEvaluator
from ir_std.evaluation.messages import message_texts
from ir_std.factors.catalog import Factors
from ir_std.measures import Standardized, parse_measure, standardized
from ir_std.measures.names import find_measure
from ir_std.schemes import get_scheme
from ir_std.scores.collect import ScoreEntry, collect_scores
from ir_std.scores.run_scores import SUMMARY, RunScores, counted_topics
from ir_std.scores.tables import MEASURE_COLUMNS, RUN_COLUMNS, TOPIC_COLUMNS, VALUE_COLUMNS
from ir_std.trec.frames import as_frame, column_values, is_frame, with_values

Shape = TypeVar("Shape")
COARSE = 0.005
"""Numbers in such steps or coarser are taken as exact: 0.2 may be 0.2000."""


def standardize(
    scores: Shape,
    measure: str | Measure | None = None,
    *,
    factors: Factors | None = None,
    scheme: str = "N",
) -> Shape:
    """Standardize scores that were computed elsewhere.

    Parameters
    ----------
    scores : dict of str to float, RunScores or DataFrame
        By topic, of one measure; or what :func:`ir_std.read_scores` gives of a run; or a long
        table, a row a score, with columns query_id (or topic, qid), measure, value and, of several
        runs, run.
    measure : str or Measure, optional
        Of a dict: ``"AP"``, or as trec_eval calls it.
    factors : FactorSet, str or path, optional
        Recognized from the numbers of relevant documents (``num_rel``) if not given; a dict has
        none.
    scheme : {'N', 'U', 'E', 'z'}

    Returns
    -------
    dict, RunScores or DataFrame
        As ``scores``, with standardized values and measures; NaN on topics without factors.  Of a
        table counts are left out, and rows whose measure has no factors, which is warned of.

    Raises
    ------
    NoFactorsError
        If no set is recognized, or it has no factors for a measure of a dict.
    InputError
        If scores cannot be used, as for :func:`ir_std.read_scores`.
    UsageError
        If ``measure`` is missing or does not belong here.

    Examples
    --------
    >>> values = ir_std.standardize({"401": 0.05, "402": 0.2}, "AP", factors="trec8-adhoc")
    >>> {topic: round(value, 4) for topic, value in values.items()}
    {'401': 0.5094, '402': 0.4844}
    """
    get_scheme(scheme)
    if measure is not None and not isinstance(scores, Mapping):
        raise UsageError("measure= is of a dict of scores by topic; others name theirs")
    if isinstance(scores, RunScores):
        return cast(Shape, _of_run(scores, factors, scheme))
    if isinstance(scores, Mapping):
        return cast(Shape, _of_dict(scores, measure, factors, scheme))
    if is_frame(scores):
        return cast(Shape, _of_table(as_frame(scores), factors, scheme))
    raise InputError.at(
        "scores",
        None,
        f"cannot use {type(scores).__name__}",
        "give a dict of scores by topic, a DataFrame, or what read_scores gives",
    )


def _of_dict(
    scores: Mapping[str, float], measure: str | Measure | None, factors: Factors | None, scheme: str
) -> dict[str, float]:
    if measure is None:
        raise UsageError("scores by topic, but of which measure? add measure='AP'")
    name = str(measure)
    raw = find_measure(name) or parse_measure(name)
    wanted = standardized(raw, scheme=scheme) if scheme != "N" else standardized(raw)
    read = _numbers(
        ScoreEntry(None, "", topic, name, repr(float(value))) for topic, value in scores.items()
    )[""]
    evaluation = _evaluator([read], [wanted], factors).evaluate(read, "scores")
    return dict(zip(scores, evaluation.values[wanted].tolist(), strict=True))


def _of_run(read: RunScores, factors: Factors | None, scheme: str) -> RunScores:
    evaluator = _evaluator([read], list(read.values), factors, scheme)
    evaluation = evaluator.evaluate(read)
    warn_caller(message_texts(evaluator.messages + evaluation.messages, True))
    values = {
        m: dict(zip(evaluator.qrels.topics, evaluation.values[m].tolist(), strict=True))
        for m in evaluator.measures
        if isinstance(m, Standardized)
    }
    return RunScores(read.name, values, read.n_rel, read.n_ret, unit=read.unit)


def _numbers(entries: Iterable[ScoreEntry]) -> dict[str, RunScores]:
    """Scores of numbers, whose decimals do not show how they were rounded if they are few."""
    return {
        name: run if run.step < COARSE else replace(run, step=0.0)
        for name, run in collect_scores(entries, "scores").items()
    }


def _evaluator(
    read: list[RunScores], measures: list[Measure], factors: Factors | None, *schemes: str
) -> StdEvaluator:
    return evaluator_for(counted_topics(read), measures, schemes, factors)


def _of_table(table: Any, factors: Factors | None, scheme: str) -> Any:
    columns = _columns_of(table)
    runs = _numbers(_entries(table, columns))
    measures = list(dict.fromkeys(m for run in runs.values() for m in run.values))
    evaluator = _evaluator(list(runs.values()), measures, factors, scheme)
    plans = {plan.measure.base: plan for plan in evaluator.plans}
    evaluations = {name: evaluator.evaluate(run, name) for name, run in runs.items()}
    rows, values, names = [], [], []
    for i, entry in enumerate(_entries(table, columns)):
        plan = plans.get(cast(Measure, find_measure(entry.measure)))
        if plan and entry.topic != SUMMARY:
            position = evaluator.qrels.positions[entry.topic]
            rows.append(i)
            names.append(str(plan.measure))
            values.append(evaluations[entry.run].values[plan.measure][position])
    _warn_of_table(evaluator, evaluations.values(), [str(m) for m in measures if m not in plans])
    return with_values(table, {columns["measure"]: names, columns["value"]: values}, rows)


def _warn_of_table(
    evaluator: StdEvaluator, evaluations: Iterable[Evaluation], left_out: list[str]
) -> None:
    messages = [*evaluator.messages, *(m for e in evaluations for m in e.messages)]
    texts = list(message_texts(messages, True))
    if left_out:
        texts.append(f"no factors for {', '.join(left_out)}: left out")
    warn_caller(texts)


def _columns_of(table: Any) -> dict[str, Any]:
    """The columns of a long table, by what they hold."""
    known = {str(column).lower(): column for column in table.columns}
    columns = {}
    usual_names = {
        "run": RUN_COLUMNS,
        "topic": TOPIC_COLUMNS,
        "measure": MEASURE_COLUMNS,
        "value": VALUE_COLUMNS,
    }
    for what, usual in usual_names.items():
        column = next((known[name] for name in usual if name in known), None)
        if column is not None:
            columns[what] = column
        elif what != "run":
            raise InputError.at(
                "scores",
                None,
                f"DataFrame with columns {', '.join(known)}",
                f"one called {' or '.join(usual[:3])} is expected",
            )
    return columns


def _entries(table: Any, columns: Mapping[str, Any]) -> Iterator[ScoreEntry]:
    n = len(table)
    run = column_values(table, columns["run"]) if "run" in columns else [""] * n
    rest = (column_values(table, columns[what]) for what in ("topic", "measure", "value"))
    for name, topic, measure, value in zip(run, *rest, strict=True):
        yield ScoreEntry(
            None,
            str(name),
            str(topic),
            str(measure),
            "" if value is None or value != value else str(value),
        )
