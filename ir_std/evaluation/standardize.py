"""Standardized values of scores that are known already, in the shape they come in."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar, cast

from ir_measures.measures import Measure

from ir_std.errors import InputError, UsageError, warn_caller
from ir_std.evaluation.evaluation import Evaluation, message_texts
from ir_std.evaluation.evaluator import StdEvaluator
from ir_std.factors.catalog import Factors
from ir_std.measures import Standardized, standardized
from ir_std.measures.names import measure_of_scores
from ir_std.schemes import get_scheme
from ir_std.scores.files import read_scores, read_table, table_of
from ir_std.scores.run_scores import SUMMARY, RunScores, counted_topics
from ir_std.scores.tables import Layout, ScoreTable, table_scores
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
        table, one row per score, with columns query_id (or topic, qid), measure, value and, for
        several runs, run.
    measure : str or Measure, optional
        Of a dict: ``"AP"``, or as trec_eval calls it.
    factors : FactorSet, str or path, optional
        Recognized from the numbers of relevant documents (``num_rel``) if not given; a dict has
        none.
    scheme : {'N', 'U', 'E', 'z'}

    Returns
    -------
    dict, RunScores or DataFrame
        As ``scores``, with standardized values and measures; NaN on topics without factors.  A
        table loses counts, and rows whose measure has no factors, with a warning.

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
            raise UsageError(
                "measure= requires a dict or table without names; these scores name their own"
            )
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
    ((_, columns),) = table.chunks()
    rows = range(len(frame))
    numbered = table._replace(chunks=lambda: [(rows, columns)])
    runs = read_table(numbered, measure)
    measures = list(dict.fromkeys(m for run in runs.values() for m in run.values))
    evaluator = _evaluator(list(runs.values()), measures, factors, scheme)
    evaluations = {name: evaluator.evaluate(run, name) for name, run in runs.items()}
    plans = {plan.measure.base: plan.measure for plan in evaluator.plans}
    cells: list[_Cell] = []
    for block in table_scores(numbered, measure).blocks:
        named = {name: plans.get(measure_of_scores(name)) for name in {*block.measures}}
        for row, run, topic, name, _, place in zip(*block, strict=True):
            wanted = named[name]
            if wanted is not None and topic != SUMMARY:
                value = evaluations[run or table.file].values[wanted]
                position = evaluator.qrels.positions[topic]
                cells.append(_Cell(row, place, wanted, float(value[position])))
    _warn_of_table(evaluator, evaluations.values(), [str(m) for m in measures if m not in plans])
    return _filled(frame, table, cells, measure)


class _Cell(NamedTuple):
    """A standardized value, and where its raw one is in a table."""

    row: int
    column: int
    measure: Standardized
    value: float


def _filled(frame: Any, table: ScoreTable, cells: Sequence[_Cell], measure: str | None) -> Any:
    """Return the table with standardized values in place of raw ones, without what has none."""
    roles = Layout(table, measure).roles
    if "value" in roles:
        names = list(frame.columns)
        columns: dict[Any, Sequence[Any]] = {}
        if "measure" in roles:
            columns[names[roles["measure"]]] = [str(cell.measure) for cell in cells]
        columns[names[roles["value"]]] = [cell.value for cell in cells]
        return with_values(frame, columns, [cell.row for cell in cells])
    ((_, texts),) = table.chunks()
    filled: dict[int, list[Any]] = {
        i: [*texts[i]]
        for i in (roles[role] for role in ("run", "topic", "dataset") if role in roles)
    }
    names_of = dict(enumerate(table.header))
    for cell in cells:
        filled.setdefault(cell.column, [math.nan] * len(frame))[cell.row] = cell.value
        if measure is None:
            names_of[cell.column] = str(cell.measure)
    return frame_like(frame, {names_of[i]: filled[i] for i in sorted(filled)})


def _warn_of_table(
    evaluator: StdEvaluator, evaluations: Iterable[Evaluation], left_out: list[str]
) -> None:
    messages = [*evaluator.messages, *(m for e in evaluations for m in e.messages)]
    texts = list(message_texts(messages, True))
    if left_out:
        texts.append(f"no factors for {', '.join(left_out)}: left out")
    warn_caller(texts)
