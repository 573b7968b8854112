"""Factors in other formats: tidy tables, ``trec_eval -Z``, published CSV files."""

import csv
import os
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ir_std._arrays import Floats
from ir_std._system.files import write_all_atomically, write_atomically
from ir_std._system.text import guard_cell
from ir_std.errors import InputError, IrStdError, UsageError, pluralize
from ir_std.factors.factor_set import FactorSet
from ir_std.factors.judgments import Judgments
from ir_std.factors.store import quoted, read_text
from ir_std.measures import parse_measure
from ir_std.measures.external import TREC_EVAL_NAMES, translated
from ir_std.measures.names import to_trec_eval

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
"""Measures by their column names in the files of Webber, Moffat and Zobel."""

# Webber et al. use the names nDCG and DCG for other measures. So the names of the columns for
# ir_std's nDCG and DCG contain the default value of ``dcg``.
_COLUMNS = {**PUBLISHED_NAMES, "nDCG(dcg='log2')": "nDCG", "DCG(dcg='log2')": "DCG"}


class ImportedTables(NamedTuple):
    """Means and standard deviations of each measure, as read from a file."""

    topics: tuple[str, ...]
    mean: Mapping[str, Floats]
    sd: Mapping[str, Floats]


def write_trec_eval(factors: FactorSet, file: str | os.PathLike[str]) -> None:
    """Write the means and standard deviations to a file for ``trec_eval -Z``.

    Each line has a topic, a measure, a mean and a standard deviation.  Measures that trec_eval does
    not know are written under their ir_std names, which trec_eval ignores.  Topics without factors
    are left out.  In this file, trec_eval's names of measures always mean relevance level 1,
    because trec_eval's option ``-l`` sets one level for all measures.

    Raises
    ------
    InputError
        If a topic contains white space, because such a file could not be read again.
    """
    lines = []
    for i, topic in enumerate(factors.topics):
        if topic.split() != [topic]:
            raise InputError.at(
                file,
                f"topic {topic!r} cannot be written",
                "white space separates columns, so use the webber format",
            )
        for measure in factors.measures:
            mean, sd = factors.mean[measure][i].item(), factors.sd[measure][i].item()
            if mean == mean:
                lines.append(f"{topic}\t{to_trec_eval(measure) or measure}\t{mean!r}\t{sd!r}\n")
    write_atomically(file, "".join(lines).encode(), _files_of(factors))


def read_trec_eval(file: str | os.PathLike[str]) -> ImportedTables:
    """Read means and standard deviations from a file for ``trec_eval -Z``.

    Raises
    ------
    InputError
        If the file is broken; the message names file and line.
    """
    cells: dict[tuple[str, str], tuple[float, float]] = {}
    for row, line in enumerate(read_text(file).split("\n"), 1):
        fields = line.split()
        if not fields:
            continue
        if len(fields) != 4:
            raise InputError.at(
                file,
                pluralize(len(fields), "column"),
                "expected topic, measure, mean and standard deviation",
                line=row,
            )
        topic, name, mean, sd = fields
        cell = topic, _measure(file, row, translated(name, TREC_EVAL_NAMES) or name)
        if cell in cells:
            raise InputError.at(file, f"repeats {name} of topic {topic}", "keep one line", line=row)
        cells[cell] = _number(file, row, mean), _number(file, row, sd)
    if not cells:
        raise InputError.at(file, "no lines", "expected topic, measure, mean, standard deviation")
    topics, measures = (dict.fromkeys(names) for names in zip(*cells, strict=True))
    mean_and_sd = [
        {m: np.array([cells.get((t, m), (np.nan, np.nan))[i] for t in topics]) for m in measures}
        for i in (0, 1)
    ]
    return ImportedTables(tuple(topics), *mean_and_sd)


def webber_files(stem: str | os.PathLike[str]) -> tuple[Path, Path]:
    """Return the paths ``STEM.mn.csv`` and ``STEM.sd.csv``."""
    return Path(f"{os.fspath(stem)}.mn.csv"), Path(f"{os.fspath(stem)}.sd.csv")


def write_webber(factors: FactorSet, stem: str | os.PathLike[str]) -> None:
    """Write ``STEM.mn.csv`` and ``STEM.sd.csv`` in the format of Webber et al."""
    columns = {measure: name for name, measure in _COLUMNS.items()}
    header = ["", *(columns.get(m, m) for m in factors.measures)]
    contents: dict[str | os.PathLike[str], bytes] = {}
    for file, table in zip(webber_files(stem), (factors.mean, factors.sd), strict=True):
        columns_of = [table[m].tolist() for m in factors.measures]
        cells = ([None if c != c else c for c in row] for row in zip(*columns_of, strict=True))
        rows = ([topic, *row] for topic, row in zip(factors.topics, cells, strict=True))
        contents[file] = _csv([header, *rows], quoting=csv.QUOTE_NONNUMERIC)
    write_all_atomically(contents, _files_of(factors))


def read_webber(stem: str | os.PathLike[str]) -> ImportedTables:
    """Read ``STEM.mn.csv`` and ``STEM.sd.csv``; empty cells are NaN.

    Raises
    ------
    InputError
        If a file is broken (the message names file and line), or if the two files have different
        topics or measures.
    """
    means, deviations = webber_files(stem)
    topics, mean = _webber_table(means)
    others, sd = _webber_table(deviations)
    if others != topics or sd.keys() != mean.keys():
        raise InputError.at(
            deviations,
            f"does not have the topics and measures of {means.name}",
            "expected two files of the same set",
        )
    return ImportedTables(topics, mean, sd)


def _webber_table(file: Path) -> tuple[tuple[str, ...], Mapping[str, Floats]]:
    try:
        rows = [*csv.reader(StringIO(read_text(file), newline=""), strict=True)]
    except csv.Error as broken:
        raise InputError.at(
            file, f"cannot be read as CSV ({broken})", "expected cells separated by commas"
        ) from None
    for line, row in enumerate(rows, 1):
        if len(row) != len(rows[0]):
            found = pluralize(len(row), "column")
            raise InputError.at(file, found, f"the header has {len(rows[0])}", line=line)
    if len(rows) < 2:
        raise InputError.at(file, "no topics", "expected a header and one row per topic")
    measures = [_measure(file, 1, _COLUMNS.get(name, name)) for name in rows[0][1:]]
    values = [
        [_number(file, line, cell) if cell else np.nan for cell in row[1:]]
        for line, row in enumerate(rows[1:], 2)
    ]
    topics = tuple(row[0] for row in rows[1:])
    if len(set(topics)) < len(topics) or len(set(measures)) < len(measures):
        raise InputError.at(
            file, "lists a topic or a measure twice", "keep one of the rows or columns"
        )
    return topics, dict(zip(measures, np.array(values).T, strict=True))


def write_csv(factors: FactorSet, file: str | os.PathLike[str]) -> None:
    """Write the scores of a set as one tidy table, with one score per row.

    The columns are ``topic``, ``measure``, ``system`` and ``score``.  ``build`` can make the set
    again from this table.  Systems without names are numbered from 1.  Names that a spreadsheet
    would take for a formula get an apostrophe in front.

    Raises
    ------
    UsageError
        If the set does not contain the scores of its systems.
    """
    if not factors.scores:
        raise UsageError(
            f"{factors.id} has no scores of systems; export means and standard deviations with "
            "--format webber or trec_eval"
        )
    rows = [["topic", "measure", "system", "score"]]
    topics = [*map(guard_cell, factors.topics)]
    for measure, scores in factors.scores.items():
        names = factors.systems or [f"system {i + 1}" for i in range(scores.shape[1])]
        systems, measure = [*map(guard_cell, names)], guard_cell(measure)
        rows += [
            [topic, measure, system, repr(score)]
            for topic, row in zip(topics, scores.tolist(), strict=True)
            for system, score in zip(systems, row, strict=True)
            if score == score
        ]
    write_atomically(file, _csv(rows), _files_of(factors))


def _csv(rows: Iterable[Iterable[object]], **style: Any) -> bytes:
    text = StringIO(newline="")
    csv.writer(text, lineterminator="\n", **style).writerows(rows)
    return text.getvalue().encode()


def _files_of(factors: FactorSet) -> list[Path]:
    """Return a list with the set's own file, which an export must not replace."""
    return [factors.path] if factors.path else []


def set_from_tables(
    tables: ImportedTables,
    info: Mapping[str, Any],
    systems: int = 0,
    n_rel: Mapping[str, int | Judgments | None] | None = None,
) -> FactorSet:
    """Make a factor set from the tables that were read from a file.

    Parameters
    ----------
    tables : ImportedTables
    info : mapping
        Fields of ``set.json``, such as ``id`` and ``title``.  ``measures`` can contain fields of
        individual measures.
    systems : int
        Number of reference systems; 0 if unknown.
    n_rel : mapping of str to int, Judgments or None, optional
        Judgments by topic, as for :class:`FactorSet`; the judgments of topics that are not listed
        are unknown.
    """
    facts = info.get("measures", {})
    about = {m: {"systems": systems, **facts.get(m, {})} for m in tables.mean}
    counts = {t: (n_rel or {}).get(t) for t in tables.topics}
    return FactorSet(
        {"depth": None, "resolution": 0, **info, "measures": about}, counts, tables.mean, tables.sd
    )


class Format(NamedTuple):
    """Functions that write factors to a path, and read factors from a path."""

    write: Callable[[FactorSet, str], None]
    read: Callable[[str], ImportedTables] | None


FORMATS = {
    "csv": Format(write_csv, None),
    "trec_eval": Format(write_trec_eval, read_trec_eval),
    "webber": Format(write_webber, read_webber),
}
"""Formats by name.  ``csv`` has no function for reading, because ``build`` can read such tables of
scores."""


def _measure(file: object, line: int, name: str) -> str:
    try:
        parse_measure(name)
    except IrStdError as wrong:
        raise InputError.at(file, f"measure {name!r}", str(wrong), line=line) from None
    return name


def _number(file: object, line: int, cell: str) -> float:
    if re.fullmatch(r"[-+]?[0-9.]{1,400}(?:[eE][-+]?[0-9]{1,4})?", cell):
        with suppress(ValueError):
            if np.isfinite(value := float(cell)):
                return value
    raise InputError.at(file, quoted(cell), "expected a finite number", line=line)
