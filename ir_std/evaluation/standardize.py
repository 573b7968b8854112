"""Standardized values of scores that are known already, in the shape they come in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeVar, cast

from ir_measures.measures import Measure

from ir_std.errors import InputError, UsageError, warn_caller
from ir_std.evaluation.api import evaluator_for
from ir_std.evaluation.evaluator import StdEvaluator
from ir_std.evaluation.messages import message_texts
from ir_std.factors.catalog import Factors
from ir_std.measures import parse_measure, standardized
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
    >>> found = ir_std.standardize({"401": 0.05, "402": 0.2}, "AP", factors="trec8-adhoc")
    >>> {topic: round(value, 4) for topic, value in found.items()}
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
    found = _evaluator([read], [wanted], factors).evaluate(read, "scores").values[wanted]
    return dict(zip(scores, found.tolist(), strict=True))


def _of_run(read: RunScores, factors: Factors | None, scheme: str) -> RunScores:
    evaluator = _evaluator([read], list(read.values), factors, scheme)
    found = evaluator.evaluate(read)
    warn_caller(message_texts(evaluator.messages + found.messages, True))
    values = {
        p.measure: dict(zip(evaluator.qrels.topics, found.values[p.measure].tolist(), strict=True))
        for p in evaluator.plans
    }
    return RunScores(read.name, values, read.n_rel, read.n_ret, unit=read.unit)


def _numbers(cells: Iterable[ScoreEntry]) -> dict[str, RunScores]:
    """Cells of numbers, which do not tell how they were written if they have few decimals."""
    return {
        name: run if run.step < COARSE else replace(run, step=0.0)
        for name, run in collect_scores(cells, "scores").items()
    }


def _evaluator(
    read: list[RunScores], measures: list[Measure], factors: Factors | None, *schemes: str
) -> StdEvaluator:
    return evaluator_for(counted_topics(read), measures, schemes, factors)


def _of_table(table: Any, factors: Factors | None, scheme: str) -> Any:
    columns = _columns(table)
    read = _numbers(_cells(table, columns))
    evaluator = _evaluator(
        list(read.values()),
        list(dict.fromkeys(m for run in read.values() for m in run.values)),
        factors,
        scheme,
    )
    plans = {p.measure.base: p for p in evaluator.plans}
    rows, values, names = [], [], []
    found = {name: evaluator.evaluate(run, name) for name, run in read.items()}
    for i, cell in enumerate(_cells(table, columns)):
        p = plans.get(cast(Measure, find_measure(cell.measure)))
        if p and cell.topic != SUMMARY:
            rows.append(i)
            names.append(str(p.measure))
            values.append(found[cell.run].values[p.measure][evaluator.qrels.positions[cell.topic]])
    messages = [*evaluator.messages, *(n for one in found.values() for n in one.messages)]
    left_out = dict.fromkeys(str(m) for run in read.values() for m in run.values if m not in plans)
    warn_caller(
        [
            *message_texts(messages, True),
            *([f"no factors for {', '.join(left_out)}: left out"] if left_out else []),
        ]
    )
    return with_values(table, {columns["measure"]: names, columns["value"]: values}, rows)


def _columns(table: Any) -> dict[str, Any]:
    """The columns of a long table, by what they hold."""
    known = {str(column).lower(): column for column in table.columns}
    found = {}
    usual_names = {
        "run": RUN_COLUMNS,
        "topic": TOPIC_COLUMNS,
        "measure": MEASURE_COLUMNS,
        "value": VALUE_COLUMNS,
    }
    for what, usual in usual_names.items():
        column = next((known[name] for name in usual if name in known), None)
        if column is not None:
            found[what] = column
        elif what != "run":
            raise InputError.at(
                "scores",
                None,
                f"DataFrame with columns {', '.join(known)}",
                f"one called {' or '.join(usual[:3])} is expected",
            )
    return found


def _cells(table: Any, columns: Mapping[str, Any]) -> Iterator[ScoreEntry]:
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
