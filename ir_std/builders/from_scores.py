"""Factor sets from tables of scores: a row a topic, a column a run, a table a measure."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from ir_measures.measures import Measure

from ir_std._arrays import Floats
from ir_std.errors import InputError, IrStdError, UsageError
from ir_std.factors.estimates import factors_from_scores
from ir_std.factors.factor_set import FactorSet
from ir_std.factors.judgments import Judgments, judgments_of
from ir_std.factors.schema import FIELDS
from ir_std.measures import Measures, canonical, has_standardized, parse_measure
from ir_std.reading import source_of
from ir_std.schemes import EXACT
from ir_std.scores.collect import count_decimals
from ir_std.scores.files import read_text
from ir_std.scores.tables import TableRows, parse_rows
from ir_std.trec.inputs import as_qrels


def build_from_scores(
    tables: Mapping[str, str | os.PathLike[str]] | Iterable[str | os.PathLike[str]],
    qrels: Any = None,
    *,
    id: str,
    title: str = "",
    source: str = "",
    licence: str = "",
    depth: int | None = None,
    judge: str | Mapping[str, str] = "",
) -> FactorSet:
    """Build a factor set from tables of scores, a table a measure.

    Parameters
    ----------
    tables : mapping of str to path, or iterable of paths
        CSVs as :func:`read_score_table` reads them, by measure; without measures the file names
        are the measures: ``P@10.csv``, ``nDCG(dcg='exp-log2')@20.csv``.
    qrels : optional
        The judgments behind the scores, in any form; or a dict from topic to the number of
        relevant documents, or to :class:`Judgments`.  Without them no collection is recognized
        by the set: it is used by name.
    id, title, source, licence : str
        What ``set.json`` says of the set.
    depth : int, optional
        The depth of the runs behind the scores, if known.
    judge : str or mapping, optional
        As for :func:`ir_std.build_factors`.

    Raises
    ------
    InputError
        Naming file and line of a broken table, or if a table has a topic that the qrels lack, a
        file name is no measure, or no topic has two scores.
    UsageError
        If a measure cannot be standardized or comes twice.

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
    files = dict(tables) if isinstance(tables, Mapping) else _by_measure(tables)
    names = check_measure_names(files)
    read = [read_score_table(file) for file in files.values()]
    judgments, max_level = _judgments(qrels)
    if not judgments:
        judgments = {topic: None for table in read for topic in table.lines}
    info = {
        "id": id,
        "title": title or id,
        "depth": depth,
        "resolution": 0,
        "source": source,
        "licence": licence,
        "measures": {
            name: {"resolution": table.resolution} for name, table in zip(names, read, strict=True)
        },
        "max_level": max_level,
        "built": "by ir_std from tables of scores",
    } | judge_fields(judge)
    return factors_from_scores(
        {name: table.scores_on(judgments) for name, table in zip(names, read, strict=True)},
        judgments,
        info,
        {name: table.runs for name, table in zip(names, read, strict=True)},
    )


def _by_measure(tables: Iterable[str | os.PathLike[str]]) -> dict[str, str | os.PathLike[str]]:
    """Files by the measure that their name is."""
    files: dict[str, str | os.PathLike[str]] = {}
    for table in tables:
        name = Path(table).name.removesuffix(".csv")
        if not Path(table).is_file():
            raise InputError.at(table, None, "no such file", "name tables of scores")
        if name in files:
            raise InputError.at(
                table, None, f"{name} again, first in {files[name]}", "give one table a measure"
            )
        try:
            parse_measure(name)
        except IrStdError as wrong:
            raise InputError.at(
                table, None, str(wrong), "a table's file name is its measure, as P@10.csv"
            ) from None
        files[name] = table
    return files


def _judgments(qrels: Any) -> tuple[dict[str, int | Judgments | None], int | None]:
    """What is known of each topic's judgments, and the highest level of all."""
    if qrels is None or (
        isinstance(qrels, Mapping)
        and all(n is None or isinstance(n, (int, Judgments)) for n in qrels.values())
    ):
        return dict(qrels or {}), None
    read = as_qrels(qrels)
    return dict(judgments_of(read)), read.max_level


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """The scores of systems by one measure.

    Attributes
    ----------
    file : str
    runs : list of str
        What the systems are called.
    lines : dict of str to int
        The topics, in the file's order, with their lines in the file.
    scores : ndarray, shape (n_topics, n_columns)
        NaN for empty cells.
    resolution : float
        The step of the most decimals that occur, such as 0.0001; 0 for exact scores.
    """

    file: str
    runs: list[str]
    lines: dict[str, int]
    scores: Floats
    resolution: float

    def scores_on(self, topics: Iterable[str]) -> Floats:
        """The scores on these topics, NaN where the table lacks one.

        Raises
        ------
        InputError
            If the table has other topics too, or no topic has two scores.
        """
        row_of = {topic: row for row, topic in enumerate(self.lines)}
        rows = np.array([row_of.pop(topic, -1) for topic in topics], int)
        if row_of:
            topic = next(iter(row_of))
            raise InputError.at(
                self.file, self.lines[topic], f"topic {topic}", "the qrels do not have it"
            )
        scores = np.where(rows[:, None] >= 0, self.scores[rows], np.nan)
        if (np.sum(~np.isnan(scores), axis=1) < 2).all():
            raise InputError.at(
                self.file,
                None,
                "no topic has two scores",
                "factors are means and deviations over at least two systems",
            )
        return scores


def read_score_table(file: str | os.PathLike[str]) -> ScoreTable:
    """Read a table of scores: a row a topic, a column a run.

    Parameters
    ----------
    file : str or path
        A CSV whose header is ``topic`` and the names of the runs.

    Raises
    ------
    InputError
        Naming file and line of a row with more or fewer cells than the header, a cell that is no
        finite number, a topic or run that comes twice.
    """
    name, text = str(file), read_text(source_of(file))
    table = parse_rows(text, name) if text.strip() else TableRows(name, 1, [], [])
    if not table.rows or table.header[0] != "topic" or len(table.header) < 3:
        raise InputError.at(
            name,
            table.header_line,
            f"header {','.join(table.header[:3])!r}",
            "topic,RUN,RUN,... is expected, and a row for each topic",
        )
    runs = table.header[1:]
    if repeated := [run for run in runs if runs.count(run) > 1]:
        raise InputError.at(name, table.header_line, f"run {repeated[0]} again", "one column a run")
    lines: dict[str, int] = {}
    scores = []
    for line, (topic, *cells) in table.rows:
        if topic in lines:
            raise InputError.at(name, line, f"topic {topic} again", "one row a topic")
        lines[topic] = line
        scores.append([_score(name, line, cell) for cell in cells])
    finest = max(count_decimals(cell) for _, (_, *cells) in table.rows for cell in cells)
    step = 10.0**-finest if finest else 0.0  # whole numbers may well be exact
    return ScoreTable(name, runs, lines, np.array(scores), step if step > EXACT else 0.0)


def _score(file: str, line: int, cell: str) -> float:
    try:
        value = float(cell or "nan")
    except ValueError:
        value = math.inf
    if math.isinf(value) or (cell and math.isnan(value)):
        raise InputError.at(
            file, line, f"score {cell!r}", "a finite number is expected, or nothing where unknown"
        )
    return value


def judge_fields(judge: str | Mapping[str, str]) -> dict[str, Any]:
    """What ``set.json`` says of a set whose labels are a language model's; nothing without one.

    Raises
    ------
    UsageError
        If the judge has no name, or a field that is not known.
    """
    if not judge:
        return {}
    fields = {"name": judge} if isinstance(judge, str) else dict(judge)
    if wrong := FIELDS["judge"](fields):
        raise UsageError(f"judge is {judge!r}: {wrong}")
    return {"kind": "judge", "judge": fields}


def check_measure_names(measures: Measures) -> tuple[str, ...]:
    """The names of raw measures, checked; strings stay as they were written.

    Raises
    ------
    UsageError
        If a measure cannot be standardized, is given twice, or none is given.
    """
    names: dict[str, str] = {}
    for given in [measures] if isinstance(measures, (str, Measure)) else measures:
        measure = parse_measure(given)
        if not has_standardized(measure):
            raise UsageError(f"{measure} cannot be standardized: name raw measures")
        name = canonical(measure)
        if name in names:
            raise UsageError(f"{given} is given twice")
        names[name] = given if isinstance(given, str) else name
    if not names:
        raise UsageError("no measure is given")
    return tuple(names.values())
