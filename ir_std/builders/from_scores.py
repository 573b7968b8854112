"""Factor sets from tables of scores: a row a topic, a column a run, a table a measure."""

from __future__ import annotations

import csv
import math
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from decimal import Decimal
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import numpy as np

from ir_std._arrays import Floats
from ir_std.builders.from_runs import check_measure_names
from ir_std.errors import InputError, IrStdError
from ir_std.factors.estimates import factors_from_scores
from ir_std.factors.factor_set import FactorSet
from ir_std.factors.judgments import Judgments, judgments_of
from ir_std.measures import parse_measure
from ir_std.schemes import EXACT
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
) -> FactorSet:
    """Build a factor set from tables of scores, a table a measure.

    Parameters
    ----------
    tables : mapping of str to path, or iterable of paths
        CSVs as :func:`read_score_table` reads them, by measure; of mere paths the file name is the
        measure: ``P@10.csv``, ``nDCG(dcg='exp-log2')@20.csv``.
    qrels : optional
        The judgments behind the scores, in any form; or a dict from topic to the number of
        relevant documents, or to :class:`Judgments`.  Without
        them no collection is recognized by the set: it is used by name.
    id, title, source, licence : str
        What ``set.json`` says of the set.
    depth : int, optional
        The depth of the runs behind the scores, if known.

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
    n_rel = _counts(qrels) or {topic: None for table in read for topic in table.topics}
    scores, about = {}, {}
    for name, file, (topics, values, resolution, _) in zip(
        names, files.values(), read, strict=True
    ):
        unknown = [topic for topic in topics if topic not in n_rel]
        if unknown:
            raise InputError.at(
                file,
                topics.index(unknown[0]) + 2,
                f"topic {unknown[0]}",
                "the qrels do not have it",
            )
        row = {topic: values[i] for i, topic in enumerate(topics)}
        nothing = np.full(values.shape[1], np.nan)
        scores[name] = np.array([row.get(topic, nothing) for topic in n_rel])
        if (np.sum(~np.isnan(scores[name]), axis=1) < 2).all():
            raise InputError.at(
                file,
                None,
                "no topic has two scores",
                "factors are means and deviations over at least two systems",
            )
        about[name] = {"resolution": resolution}
    info = {
        "id": id,
        "title": title or id,
        "depth": depth,
        "resolution": 0,
        "source": source,
        "licence": licence,
        "measures": about,
        "max_level": _max_level(qrels),
        "built": "by ir_std from tables of scores",
    }
    return factors_from_scores(
        scores, n_rel, info, {name: table.runs for name, table in zip(names, read, strict=True)}
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


def _max_level(qrels: Any) -> int | None:
    return None if _are_counts(qrels) else as_qrels(qrels).max_level


def _are_counts(qrels: Any) -> bool:
    return qrels is None or (
        isinstance(qrels, Mapping)
        and all(n is None or isinstance(n, (int, Judgments)) for n in qrels.values())
    )


def _counts(qrels: Any) -> dict[str, int | Judgments | None]:
    return dict(qrels or {}) if _are_counts(qrels) else dict(judgments_of(as_qrels(qrels)))


class ScoreTable(NamedTuple):
    """The scores of systems by one measure.

    Attributes
    ----------
    topics : list of str
    scores : ndarray
        Shape (n_topics, n_systems); NaN for empty cells.
    resolution : float
        The step of the most decimals that occur, such as 0.0001.
    runs : list of str
        What the systems are called.
    """

    topics: list[str]
    scores: Floats
    resolution: float
    runs: list[str]


def read_score_table(file: str | os.PathLike[str]) -> ScoreTable:
    """Read a table of scores: a row a topic, a column a run.

    Parameters
    ----------
    file : str or path
        A CSV whose header is ``topic`` and the names of the runs.

    Raises
    ------
    InputError
        Naming file and line of a ragged row, a cell that is no finite number, a topic or run
        that comes twice.
    """
    with _text(file) as lines:
        rows = list(csv.reader(lines))
    if len(rows) < 2 or rows[0][:1] != ["topic"] or len(rows[0]) < 3:
        raise InputError.at(
            file,
            1,
            f"header {','.join(rows[0][:3]) if rows else ''!r}",
            "topic,RUN,RUN,... is expected, and a row for each topic",
        )
    _once(file, 1, rows[0][1:], "run")
    finest = 0
    table: dict[str, list[float]] = {}
    for line, row in enumerate(rows[1:], 2):
        if len(row) != len(rows[0]):
            raise InputError.at(file, line, f"{len(row)} columns", f"the header has {len(rows[0])}")
        _once(file, line, [*table, row[0]], "topic")
        table[row[0]] = [_score(file, line, cell) for cell in row[1:]]
        finest = max(finest, *map(_decimals, row[1:]))
    step = 10.0**-finest if finest else 0.0  # whole numbers may well be exact
    return ScoreTable(
        list(table), np.array(list(table.values())), step if step > EXACT else 0.0, rows[0][1:]
    )


def _text(file: str | os.PathLike[str]) -> TextIO:
    try:
        return StringIO(Path(file).read_text(encoding="utf-8"), newline="")
    except OSError as failed:
        raise InputError.at(
            file, None, failed.strerror or str(failed), "name a readable file"
        ) from None
    except UnicodeDecodeError:
        raise InputError.at(file, None, "not UTF-8", "tables are UTF-8 text") from None


def _once(file: object, line: int, names: list[str], what: str) -> None:
    if len(set(names)) != len(names):
        again = Counter(names).most_common(1)[0][0]
        raise InputError.at(
            file,
            line,
            f"{what} {again} again",
            f"one {'column' if what == 'run' else 'row'} a {what}",
        )


def _score(file: object, line: int, cell: str) -> float:
    try:
        value = float(cell or "nan")
    except ValueError:
        value = math.inf
    if math.isinf(value) or (cell and math.isnan(value)):
        raise InputError.at(
            file, line, f"score {cell!r}", "a finite number is expected, or nothing where unknown"
        )
    return value


def _decimals(cell: str) -> int:
    exponent = Decimal(cell or "0").as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0
