"""Build factor sets from tables of scores in any form."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from ir_measures import P

from ir_std._arrays import EXACT, Floats
from ir_std.builders.from_runs import Teams, check_measure_names, judge_fields, team_fields
from ir_std.errors import InputError, UsageError, abbreviate, warn_caller
from ir_std.factors.estimates import factors_from_scores
from ir_std.factors.factor_set import FactorSet
from ir_std.factors.judgments import Judgments, judgments_of
from ir_std.measures import ExternalMeasure, Measure, has_standardized, lower_measures
from ir_std.reading import STANDARD_INPUT, source_of
from ir_std.scores.contents import header_of
from ir_std.scores.files import check_name_of_measure, read_scores
from ir_std.scores.run_scores import RunScores
from ir_std.scores.tables import needs_measure
from ir_std.trec import as_qrels, is_file
from ir_std.trec.frames import is_frame

TOLERANCE = 1e-4
"""Related measures may contradict each other by this much, because scores are rounded."""


def build_from_scores(
    tables: Any,
    qrels: Any = None,
    *,
    id: str,
    title: str = "",
    source: str = "",
    licence: str = "",
    depth: int | None = None,
    judge: str | Mapping[str, str] = "",
    teams: Teams = None,
    lower_is_better: Iterable[str] = (),
) -> FactorSet:
    """Build a factor set from tables of scores.

    Parameters
    ----------
    tables : path, DataFrame, iterable of these, or mapping of str to these
        Scores of several systems, in any form that :func:`ir_std.read_scores` accepts.  If a table
        has one column per system, its measure is the table's key in the mapping or its file name,
        such as ``P@10.csv`` or ``nDCG(dcg='exp-log2')@20.csv``.  A name that ir_measures does not
        know becomes a custom measure, see :class:`ir_std.ExternalMeasure`.
    qrels : optional
        The judgments from which the scores were computed, in any form.  You can also pass a dict
        that maps each topic to its number of relevant documents or to :class:`Judgments`.  Without
        judgments, ir_std cannot recognize the set's collection, so you must name the set to use it.
    id, title, source, licence : str
        Fields of ``set.json``.
    depth : int, optional
        Number of documents per topic in the runs behind the scores, if known.
    judge : str or mapping, optional
        Language model that made the judgments, see :func:`ir_std.build_factors`.
    teams : mapping of str to str, or path, optional
        Team of each system, see :func:`ir_std.build_factors`.
    lower_is_better : iterable of str
        Custom measures for which lower values are better.  The standardized scores of these
        measures are inverted, so that higher scores are better.

    Raises
    ------
    InputError
        If a table is broken (the message names file and line) or has a topic that the qrels lack,
        if a file name is not a measure, or if no topic has scores of two systems.
    UsageError
        If a measure cannot be standardized or is given twice.

    Examples
    --------
    >>> print(Path("AP.csv").read_text())
    topic,a,b,c
    401,0.1,0.2,0.6
    402,0.3,0.2,0.1
    <BLANKLINE>
    >>> factors = ir_std.build_from_scores(["AP.csv"], {"401": 300, "402": 69}, id="mine")
    >>> factors.mean["AP"].round(4), factors.sd["AP"].round(4)
    (array([0.3, 0.2]), array([0.2646, 0.1   ]))
    """
    scores = _scores_by_measure(tables)
    judgments, max_level = _judgments(qrels)
    if not judgments:
        every = [run for runs in scores.values() for run in runs.values()]
        judgments = {topic: None for run in every for topic in run.topics}
    worse = set(lower_measures(lower_is_better, scores))
    units = {run.unit for runs in scores.values() for run in runs.values()}
    if len(units) > 1:
        raise UsageError("got scores per topic and per dataset; build a separate set for each")
    info = {
        "id": id,
        "title": title or id,
        "unit": "collection" if units == {"dataset"} else "topic",
        "depth": depth,
        "resolution": 0,
        "source": source,
        "licence": licence,
        "measures": {
            str(measure): _about(measure, runs.values(), measure in worse)
            for measure, runs in scores.items()
        },
        "max_level": max_level,
        "built": "by ir_std from tables of scores",
    } | judge_fields(judge)
    info |= team_fields(teams, {run for runs in scores.values() for run in runs})
    _warn_of_impossible(scores)
    return factors_from_scores(
        {str(measure): _matrix(measure, runs, judgments) for measure, runs in scores.items()},
        judgments,
        info,
        {str(measure): [*runs] for measure, runs in scores.items()},
    )


def _warn_of_impossible(scores: Mapping[Measure, Mapping[str, RunScores]]) -> None:
    """Warn about runs whose RR@k exceeds k times P@k, which is impossible."""
    for measure, runs in scores.items():
        k = measure.params.get("cutoff")
        if measure.NAME != "RR" or k is None:
            continue
        precision = P(**measure.params)
        others = scores.get(precision, {})
        wrong = {
            name
            for name in runs.keys() & others.keys()
            for topic, value in runs[name].values[measure].items()
            if value > k * others[name].values[precision].get(topic, np.inf) + TOLERANCE
        }
        if wrong:
            text = f"{measure} exceeds {k} times {precision}, which is impossible"
            warn_caller([f"{abbreviate(sorted(wrong))}: {text}"])


def _scores_by_measure(tables: Any) -> dict[Measure, dict[str, RunScores]]:
    """Read the scores of all tables, by measure and by the name of the run."""
    scores: dict[Measure, dict[str, RunScores]] = {}
    for table, runs in _read_tables(tables):
        for name, run in runs.items():
            run.check_listed()
            for measure in run.values:
                of_measure = scores.setdefault(measure, {})
                if name in of_measure:
                    raise InputError.at(
                        table, f"repeats {measure} of {name}", "give one table per measure"
                    )
                of_measure[name] = run
    usable = {m: runs for m, runs in scores.items() if has_standardized(m)}
    if not usable:
        names = abbreviate(map(str, scores))
        raise UsageError(f"{names} cannot be standardized" if scores else "no measure is given")
    return usable


def _read_tables(tables: Any) -> list[tuple[Any, dict[str, RunScores]]]:
    """Read the scores of each table by run, with the table's name for messages."""
    if isinstance(tables, Mapping):
        check_measure_names(tables)
        return [
            (table if is_file(table) else measure, read_scores(table, measure))
            for measure, table in tables.items()
        ]
    listed = [tables] if is_file(tables) or is_frame(tables) else tables
    return [(table if is_file(table) else "scores", _read(table)) for table in listed]


_NO_MEASURES = ("data", "eval", "metrics", "results", "runs", "scores", "systems", "table")
"""If a file has one of these names, the name does not state a measure."""


def _read(table: Any) -> dict[str, RunScores]:
    """Read a table; if its columns are runs, the measure is taken from the file name."""
    if not is_file(table) or hasattr(table, "read") or table == STANDARD_INPUT:
        return read_scores(table)
    if not Path(table).is_file():
        raise InputError.at(table, "no such file", "name tables of scores")
    source = source_of(table)
    if not needs_measure(header_of(source)):
        return read_scores(source)
    name = re.sub(r"\.(csv|tsv|txt)(\.gz)?$", "", Path(table).name)
    advice = "if its columns are runs, name the file after its measure, such as P@10.csv"
    if name.lower() in _NO_MEASURES:
        header = abbreviate(header_of(source), 8)
        raise InputError.at(table, f"has columns {header} and no measure", advice)
    try:
        check_name_of_measure(name)
    except UsageError as wrong:
        raise InputError.at(table, str(wrong), advice) from None
    return read_scores(source, name)


def _about(measure: Measure, runs: Iterable[RunScores], worse: bool) -> dict[str, Any]:
    """Return the fields of a measure, such as its resolution and its direction."""
    finest = max((run.decimals.get(measure, 0) for run in runs if run.step), default=0)
    step = 10.0**-finest if finest else 0.0  # whole numbers are probably exact
    better = {"better": "lower" if worse else "higher"}
    is_external = isinstance(measure, ExternalMeasure)
    return {"resolution": step if step > EXACT else 0.0} | (better if is_external else {})


def _matrix(measure: Measure, runs: Mapping[str, RunScores], topics: Iterable[str]) -> Floats:
    """Return scores on these topics, one column per run; NaN if a run has no score."""
    topics = dict.fromkeys(topics)
    for run in runs.values():
        if others := [topic for topic in run.values[measure] if topic not in topics]:
            raise InputError.at(
                run.name, f"unknown topic {others[0]}", "the qrels do not have this topic"
            )
    columns = [run.values[measure] for run in runs.values()]
    matrix = np.array([[column.get(topic, np.nan) for column in columns] for topic in topics])
    if (np.sum(~np.isnan(matrix), axis=1) < 2).all():
        expected = "expected scores of at least two systems"
        raise InputError.at(str(measure), "no topic has scores of two systems", expected)
    return matrix


def _judgments(qrels: Any) -> tuple[dict[str, int | Judgments | None], int | None]:
    """Return the known judgments of each topic, and the highest relevance level."""
    if qrels is None or (
        isinstance(qrels, Mapping)
        and all(n is None or isinstance(n, (int, Judgments)) for n in qrels.values())
    ):
        return dict(qrels or {}), None
    read = as_qrels(qrels)
    return dict(judgments_of(read)), read.max_level
