"""Standardized values of scores that are known already, in the shape they come in."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar, cast

from ir_measures.measures import Measure

from ir_std.errors import InputError, UsageError, warn_caller
from ir_std.evaluation.evaluation import Evaluation, message_texts
from ir_std.evaluation.evaluator import StdEvaluator
from ir_std.factors.catalog import Factors
from ir_std.measures import Standardized, standardized
from ir_std.measures.names import measure_of_scores
from ir_std.schemes import get_scheme
from ir_std.scores.collect import ScoreEntry
from ir_std.scores.files import read_scores, read_table, table_of
from ir_std.scores.forms import table_scores
from ir_std.scores.layout import Layout
from ir_std.scores.run_scores import SUMMARY, RunScores, counted_topics
from ir_std.scores.tables import TableRows
from ir_std.trec.frames import frame_like, is_frame, with_values

Shape = TypeVar("Shape")


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
    if isinstance(scores, RunScores):
        if measure is not None:
            raise UsageError("measure= is of a dict or table that names none; this names its own")
        return cast(Shape, _of_run(scores, factors, scheme))
    if isinstance(scores, Mapping):
        return cast(Shape, _of_dict(scores, measure, factors, scheme))
    if is_frame(scores):
        name = None if measure is None else str(measure)
        return cast(Shape, _of_table(scores, name, factors, scheme))
    raise InputError.at(
        "scores",
        f"cannot use {type(scores).__name__}",
        "give a dict of scores by topic, a DataFrame, or what read_scores gives",
    )


def _of_dict(
    scores: Mapping[str, float], measure: str | Measure | None, factors: Factors | None, scheme: str
) -> dict[str, float]:
    if measure is None:
        raise UsageError("scores by topic, but of which measure? add measure='AP'")
    name = str(measure)
    (read,) = read_scores(scores, name).values()
    (raw,) = read.values
    wanted = standardized(raw, scheme=scheme) if scheme != "N" else standardized(raw)
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


def _evaluator(
    read: list[RunScores], measures: list[Measure], factors: Factors | None, *schemes: str
) -> StdEvaluator:
    return StdEvaluator(measures, counted_topics(read), schemes, factors)


def _of_table(frame: Any, measure: str | None, factors: Factors | None, scheme: str) -> Any:
    table = table_of(frame)
    numbered = table._replace(rows=[(i, row) for i, (_, row) in enumerate(table.rows)])
    runs = read_table(numbered, measure)
    measures = list(dict.fromkeys(m for run in runs.values() for m in run.values))
    evaluator = _evaluator(list(runs.values()), measures, factors, scheme)
    evaluations = {name: evaluator.evaluate(run, name) for name, run in runs.items()}
    plans = {plan.measure.base: plan.measure for plan in evaluator.plans}
    cells: list[tuple[ScoreEntry, Standardized, float]] = []
    for entry in table_scores(numbered, measure).entries:
        wanted = plans.get(measure_of_scores(entry.measure))
        if wanted is not None and entry.topic != SUMMARY:
            column = evaluations[entry.run or table.file].values[wanted]
            value = float(column[evaluator.qrels.positions[entry.topic]])
            cells.append((entry, wanted, value))
    _warn_of_table(evaluator, evaluations.values(), [str(m) for m in measures if m not in plans])
    return _filled(frame, table, cells, measure)


def _filled(
    frame: Any,
    table: TableRows,
    cells: Sequence[tuple[ScoreEntry, Standardized, float]],
    measure: str | None,
) -> Any:
    """The table with standardized values in the place of raw ones, without what has none."""
    roles = Layout(table, measure).roles
    if "value" in roles:
        names = list(frame.columns)
        columns: dict[Any, Sequence[Any]] = {}
        if "measure" in roles:
            columns[names[roles["measure"]]] = [str(wanted) for _, wanted, _ in cells]
        columns[names[roles["value"]]] = [value for *_, value in cells]
        return with_values(frame, columns, [entry.line or 0 for entry, *_ in cells])
    rows = list(table.rows)
    filled: dict[int, list[Any]] = {
        i: [row[i] for _, row in rows]
        for i in (roles[role] for role in ("run", "topic", "dataset") if role in roles)
    }
    names_of = dict(enumerate(table.header))
    for entry, wanted, value in cells:
        column = filled.setdefault(entry.column, [math.nan] * len(rows))
        column[entry.line or 0] = value
        if measure is None:
            names_of[entry.column] = str(wanted)
    return frame_like(frame, {names_of[i]: filled[i] for i in sorted(filled)})


def _warn_of_table(
    evaluator: StdEvaluator, evaluations: Iterable[Evaluation], left_out: list[str]
) -> None:
    messages = [*evaluator.messages, *(m for e in evaluations for m in e.messages)]
    texts = list(message_texts(messages, True))
    if left_out:
        texts.append(f"no factors for {', '.join(left_out)}: left out")
    warn_caller(texts)
