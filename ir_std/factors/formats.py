"""Factors in other formats: for R and spreadsheets, ``trec_eval -Z``, the published CSV files."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ir_std._system.files import read_bounded, write_all_atomically, write_atomically
from ir_std.errors import InputError, IrStdError, counted
from ir_std.factors.estimates import scores_by_system
from ir_std.factors.factor_set import FactorSet
from ir_std.factors.files import LARGEST, set_files
from ir_std.factors.judgments import Judgments
from ir_std.factors.storage import Table, check_widths, parse_csv, parse_number, quoted
from ir_std.measures import parse_measure
from ir_std.measures.names import from_trec_eval, to_trec_eval

PUBLISHED_NAMES = {
    "SP": "SP",
    "AP": "AP",
    "DCG": "DCG(dcg='jk',rel=1)",
    "nDCG": "nDCG(dcg='jk',rel=1)",
    "VDCG": "DCG(rel=1)",
    "nVDCG": "nDCG(rel=1)",
    "P@10": "P@10",
    "RR": "RR",
    "RBP.8": "RBP(p=0.8,rel=1)",
    "RBP.95": "RBP(p=0.95,rel=1)",
    "RP": "Rprec",
}
"""Column names of Webber, Moffat and Zobel, and the measures they are."""

# Their names of other measures are taken: these are ours, with the default spelt out.
_COLUMNS = {**PUBLISHED_NAMES, "nDCG(dcg='log2')": "nDCG", "DCG(dcg='log2')": "DCG"}


class ImportedTables(NamedTuple):
    """The content of a file in one of the formats: means and deviations by measure."""

    topics: tuple[str, ...]
    mean: Table
    sd: Table


def write_trec_eval(factors: FactorSet, file: str | os.PathLike[str]) -> None:
    """Write what ``trec_eval -Z`` reads: lines of topic, measure, mean and deviation.

    Measures that trec_eval does not know are written under their own names, which it
    ignores; topics without factors are left out.  trec_eval applies ``-l`` to all measures alike,
    so its names stand for level 1.

    Raises
    ------
    InputError
        If a topic has white space in it, so that it would not read back.
    """
    lines = []
    for i, topic in enumerate(factors.topics):
        if topic.split() != [topic]:
            raise InputError.at(
                file,
                f"topic {topic!r} cannot be written",
                "columns are separated by white space: use the webber format",
            )
        for measure in factors.measures:
            mean, sd = factors.mean[measure][i].item(), factors.sd[measure][i].item()
            if mean == mean:
                lines.append(f"{topic}\t{to_trec_eval(measure) or measure}\t{mean!r}\t{sd!r}\n")
    write_atomically(file, "".join(lines).encode(), set_files(factors.path))


def read_trec_eval(file: str | os.PathLike[str]) -> ImportedTables:
    """Read the file of ``trec_eval -Z``.

    Raises
    ------
    InputError
        Naming file and line.
    """
    cells: dict[str, dict[str, tuple[float, float]]] = {}
    topics: dict[str, None] = {}
    for at, line in enumerate(_text(file).split("\n"), 1):
        fields = line.split()
        if not fields:
            continue
        if len(fields) != 4:
            raise InputError.at(
                file,
                counted(len(fields), "column"),
                "topic, measure, mean and deviation are expected",
                line=at,
            )
        topic, name, mean, sd = fields
        measure = _measure(file, at, from_trec_eval(name))
        column = cells.setdefault(measure, {})
        if topic in column:
            raise InputError.at(file, f"{name} of topic {topic} again", "one line each", line=at)
        topics[topic] = None
        column[topic] = _number(file, at, mean), _number(file, at, sd)
    if not cells:
        raise InputError.at(file, "no lines", "topic, measure, mean and deviation")
    return _by_topic(topics, cells)


def webber_files(stem: str | os.PathLike[str]) -> tuple[Path, Path]:
    """``STEM.mn.csv`` and ``STEM.sd.csv``."""
    return Path(f"{os.fspath(stem)}.mn.csv"), Path(f"{os.fspath(stem)}.sd.csv")


def write_webber(factors: FactorSet, stem: str | os.PathLike[str]) -> None:
    """Write ``STEM.mn.csv`` and ``STEM.sd.csv``, as Webber, Moffat and Zobel published theirs."""
    columns = {measure: name for name, measure in _COLUMNS.items()}
    header = ["", *(columns.get(m, m) for m in factors.measures)]
    contents: dict[str | os.PathLike[str], bytes] = {}
    for file, table in zip(webber_files(stem), (factors.mean, factors.sd), strict=True):
        text = StringIO(newline="")
        writer = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
        writer.writerow(header)
        for i, topic in enumerate(factors.topics):
            cells = (table[m][i].item() for m in factors.measures)
            writer.writerow([topic, *(None if c != c else c for c in cells)])
        contents[file] = text.getvalue().encode()
    write_all_atomically(contents, set_files(factors.path))


def read_webber(stem: str | os.PathLike[str]) -> ImportedTables:
    """Read ``STEM.mn.csv`` and ``STEM.sd.csv``; empty cells are NaN.

    Raises
    ------
    InputError
        Naming file and line; also if the two do not have the same topics and measures.
    """
    means, deviations = webber_files(stem)
    topics, mean = _webber_table(means)
    others, sd = _webber_table(deviations)
    if others != topics or sd.keys() != mean.keys():
        raise InputError.at(
            deviations,
            f"other topics or measures than {means.name}",
            "the two files belong together",
        )
    return ImportedTables(topics, mean, sd)


def _webber_table(file: Path) -> tuple[tuple[str, ...], Table]:
    rows = parse_csv(_text(file), file)
    if len(rows) < 2:
        raise InputError.at(file, "no topics", "a header and a row a topic are expected")
    check_widths(rows, file)
    measures = [_measure(file, 1, _COLUMNS.get(name, name)) for name in rows[0][1:]]
    values = [
        [_number(file, line, cell) if cell else np.nan for cell in row[1:]]
        for line, row in enumerate(rows[1:], 2)
    ]
    topics = tuple(row[0] for row in rows[1:])
    if len(set(topics)) < len(topics) or len(set(measures)) < len(measures):
        raise InputError.at(file, "a topic or measure comes twice", "one row or column each")
    return topics, dict(zip(measures, np.array(values).T, strict=True))


def write_csv(factors: FactorSet, file: str | os.PathLike[str]) -> None:
    """Write all of a set as one table: a row a topic and measure, a column a system.

    Columns are ``topic``, ``measure``, ``n_rel``, ``mean``, ``sd`` and the systems, by their tags
    (``system 0`` and so on where they have none); cells are empty where nothing is known.  Names
    that a spreadsheet would take for a formula begin with an apostrophe.
    """
    tags = factors.info.get("tags") or [
        f"system {i}"
        for i in range(
            1 + max((int(numbers.max()) for numbers in factors.systems.values()), default=-1)
        )
    ]
    text = StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*_CSV, *map(_harmless, tags)])
    for measure in factors.measures:
        cells = np.full((len(factors.topics), len(tags)), np.nan)
        if measure in factors.systems:
            numbers, scores = scores_by_system(factors, measure)
            cells[:, numbers] = scores
        for topic, n_rel, mean, sd, row in zip(
            factors.topics,
            factors.n_rel.values(),
            factors.mean[measure].tolist(),
            factors.sd[measure].tolist(),
            cells.tolist(),
            strict=True,
        ):
            writer.writerow(
                [
                    _harmless(topic),
                    _harmless(measure),
                    "" if n_rel is None else n_rel,
                    *("" if v != v else repr(v) for v in (mean, sd, *row)),
                ]
            )
    write_atomically(file, text.getvalue().encode(), set_files(factors.path))


def read_csv(file: str | os.PathLike[str]) -> ImportedTables:
    """Read the means and deviations of :func:`write_csv`.

    Raises
    ------
    InputError
        Naming file and line.
    """
    rows = parse_csv(_text(file), file)
    if not rows or tuple(rows[0][: len(_CSV)]) != _CSV:
        raise InputError.at(file, "another header", f"{','.join(_CSV)},... is expected", line=1)
    check_widths(rows, file)
    cells: dict[str, dict[str, tuple[float, float]]] = {}
    topics: dict[str, None] = {}
    for line, row in enumerate(rows[1:], 2):
        topic, name, _, *values = (cell.removeprefix("'") for cell in row[: len(_CSV)])
        column = cells.setdefault(_measure(file, line, name), {})
        if topic in column:
            raise InputError.at(file, f"{name} of topic {topic} again", "one row each", line=line)
        topics[topic] = None
        mean, sd = (_number(file, line, cell) if cell else np.nan for cell in values)
        column[topic] = mean, sd
    if not cells:
        raise InputError.at(file, "no rows", "a row a topic and measure is expected")
    return _by_topic(topics, cells)


_CSV = ("topic", "measure", "n_rel", "mean", "sd")


def _harmless(name: str) -> str:
    """A name that no spreadsheet takes for a formula."""
    return f"'{name}" if name.startswith(("=", "+", "-", "@", "'", "\t")) else name


def _by_topic(
    topics: Iterable[str], cells: Mapping[str, Mapping[str, tuple[float, float]]]
) -> ImportedTables:
    nothing = np.nan, np.nan
    pairs = {m: np.array([column.get(t, nothing) for t in topics]) for m, column in cells.items()}
    return ImportedTables(
        tuple(topics),
        {m: p[:, 0] for m, p in pairs.items()},
        {m: p[:, 1] for m, p in pairs.items()},
    )


def set_from_tables(
    tables: ImportedTables,
    info: Mapping[str, Any],
    systems: int = 0,
    n_rel: Mapping[str, int | Judgments | None] | None = None,
) -> FactorSet:
    """A factor set from the tables that were read from a file.

    Parameters
    ----------
    tables : ImportedTables
    info : mapping
        Fields of ``set.json``: ``id``, ``title`` and so on; ``measures`` may hold fields of
        single measures.
    systems : int
        The number of standardizing systems; 0 where unknown.
    n_rel : mapping of str to int, Judgments or None, optional
        Judgments by topic, as for :class:`FactorSet`; unknown where not given.
    """
    known = info.get("measures", {})
    about = {m: {"systems": systems, **known.get(m, {})} for m in tables.mean}
    counts = {t: (n_rel or {}).get(t) for t in tables.topics}
    return FactorSet(
        {"depth": None, "resolution": 0, **info, "measures": about}, counts, tables.mean, tables.sd
    )


class Format(NamedTuple):
    """How factors are written to and read from a path."""

    write: Callable[[FactorSet, str], None]
    read: Callable[[str], ImportedTables]


FORMATS = {
    "csv": Format(write_csv, read_csv),
    "trec_eval": Format(write_trec_eval, read_trec_eval),
    "webber": Format(write_webber, read_webber),
}
"""The formats by name."""


def _text(file: str | os.PathLike[str]) -> str:
    try:
        return read_bounded(file, LARGEST).decode("utf-8")
    except UnicodeDecodeError:
        raise InputError.at(file, "not UTF-8", "UTF-8 text is expected") from None


def _measure(file: object, line: int, name: str) -> str:
    try:
        parse_measure(name)
    except IrStdError as wrong:
        raise InputError.at(file, f"measure {name!r}", str(wrong), line=line) from None
    return name


def _number(file: object, line: int, cell: str) -> float:
    with suppress(ValueError):
        if np.isfinite(value := parse_number(cell)):
            return value
    raise InputError.at(file, quoted(cell), "a finite number is expected", line=line)
