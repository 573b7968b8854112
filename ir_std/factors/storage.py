"""The texts among a factor set's files: parsed with clear errors, written at full precision."""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ir_std.errors import InputError, counted
from ir_std.factors.description import Frozen
from ir_std.factors.judgments import Judgments
from ir_std.factors.schema import info_problems

LARGEST_JSON = 1 << 22
"""Bytes of a JSON file: in memory it takes up to thirty times as many."""
MOST_CELLS = 1 << 22
"""Cells of a table, for 100,000 topics and 40 measures."""

Table = dict[str, npt.NDArray[np.float64]]


def parse_info(content: bytes, file: object) -> dict[str, Any]:
    """Parse ``set.json``.

    Raises
    ------
    InputError
        If it is no JSON object, or a field is missing or is not as :mod:`ir_std.factors.schema`
        has it.
    """
    info = parse_json(content, file)
    for wrong in info_problems(info):
        raise InputError.at(file, wrong, "see the fields of FactorSet")
    return dict(info)


def parse_json(content: bytes, file: object) -> Any:
    """What a JSON file holds.

    Raises
    ------
    InputError
        If it is not JSON in UTF-8, or larger than :data:`LARGEST_JSON`.
    """
    if len(content) > LARGEST_JSON:
        raise InputError.at(
            file, f"has more than {LARGEST_JSON:,} bytes", "a description is expected"
        )
    try:
        return json.loads(content.decode())
    except json.JSONDecodeError as broken:
        raise InputError.at(
            file, f"no JSON ({broken.msg})", "one JSON object is expected", line=broken.lineno
        ) from None
    except UnicodeDecodeError:
        raise InputError.at(file, "not UTF-8", "JSON is UTF-8 text") from None
    except RecursionError:
        raise InputError.at(file, "nested too deeply", "one JSON object is expected") from None
    except ValueError as broken:  # a number of thousands of digits
        raise InputError.at(file, f"no JSON ({broken})", "one JSON object is expected") from None


def _rows(content: bytes, file: object) -> list[list[str]]:
    if content.count(b",") + content.count(b"\n") + content.count(b"\r") > MOST_CELLS:
        raise InputError.at(
            file, f"has more than {MOST_CELLS:,} cells", "a row for each topic is expected"
        )
    try:
        rows = parse_csv(content.decode(), file)
    except UnicodeDecodeError:
        raise InputError.at(file, "not UTF-8", "tables are UTF-8 text") from None
    if len(rows) < 2:
        raise InputError.at(
            file,
            "no topics",
            "a header and a row for each topic are expected",
            line=len(rows) or None,
        )
    check_widths(rows, file)
    return rows


def parse_csv(text: str, file: object) -> list[list[str]]:
    """The cells of each row.

    Raises
    ------
    InputError
        If it is no CSV.
    """
    try:
        return list(csv.reader(StringIO(text, newline=""), strict=True))
    except csv.Error as broken:
        raise InputError.at(
            file, f"no CSV ({broken})", "cells separated by commas are expected"
        ) from None


def check_widths(rows: Sequence[Sequence[str]], file: object) -> None:
    """Check that all rows have as many cells as the first, the header.

    Raises
    ------
    InputError
        Naming the line of one that has not.
    """
    for line, row in enumerate(rows, 1):
        if len(row) != len(rows[0]):
            raise InputError.at(
                file, counted(len(row), "column"), f"the header has {len(rows[0])}", line=line
            )


def topic_ids(content: bytes, file: object) -> list[str]:
    """The topics of ``topics.csv`` alone: most sets need no more to be ruled out.

    Raises
    ------
    InputError
        If it is no table.
    """
    return [row[0] for row in _rows(content, file)[1:]]


def parse_topics(content: bytes, file: object) -> dict[str, Judgments]:
    """Parse ``topics.csv``: for each topic what is known of its judgments.

    Columns are ``topic``, ``n_rel`` and, in sets whose judgments are known, ``level_0``,
    ``level_1`` and so on, the number of documents at each level that occurs, and
    ``fingerprint``: for each level at which the topic has documents, that of the documents at it
    or above, joined by ``-``.  Cells are empty where unknown.  Format 1 counts negative levels
    as 0 and has fingerprints of the levels from 1 alone.

    Raises
    ------
    InputError
        Naming the line, if a topic comes twice, a number or fingerprint is malformed, or the
        levels do not add up.
    """
    rows = _rows(content, file)
    levels, names = _levels(file, rows[0]), rows[0][1:]
    topics: dict[str, Judgments] = {}
    for line, row in enumerate(rows[1:], 2):
        if row[0] in topics:
            raise InputError.at(
                file, f"topic {quoted(row[0])[1:-1]} again", "one row a topic", line=line
            )
        topics[row[0]] = _judgments(file, line, row, levels, names)
    return topics


def _levels(file: object, header: list[str]) -> list[int]:
    """The levels that the columns count; none in a file of topics and ``n_rel`` alone."""
    levels = [int(name[6:]) for name in header[2:-1] if re.fullmatch(r"level_-?\d{1,9}", name)]
    expected = ["topic", "n_rel"]
    if len(header) > 2:
        expected += [*(f"level_{n}" for n in levels), "fingerprint"]
    if header != expected or levels != sorted({*levels, *[0] * (len(header) > 2)}):
        raise InputError.at(
            file,
            f"header {quoted(','.join(header))[1:-1]}",
            "topic,n_rel is expected, or topic,n_rel,level_0,...,fingerprint with levels ascending",
            line=1,
        )
    return levels


_UNKNOWN = Judgments(None)


def _judgments(
    file: object, line: int, row: list[str], levels: list[int], names: list[str]
) -> Judgments:
    if not any(row[1:]):
        return _UNKNOWN
    n_rel, *counts = [
        _whole(file, line, name, cell)
        for name, cell in zip(names, row[1 : len(levels) + 2], strict=False)
    ]
    if not levels or (counts == [None] * len(levels) and not row[-1]):
        return Judgments(n_rel)
    known = {at: n for at, n in zip(levels, counts, strict=True) if n is not None}
    if len(known) < len(levels) or sum(n for at, n in known.items() if at > 0) != n_rel:
        cells = quoted(",".join(row[2:-1]))[1:-1]
        raise InputError.at(
            file,
            f"levels {cells} and n_rel {row[1]}",
            "levels from 1 add up to n_rel, or all are empty where unknown",
            line=line,
        )
    return Judgments(
        n_rel,
        Frozen({level: n for level, n in known.items() if n or not level}),
        _fingerprints(file, line, row[-1], [level for level, n in known.items() if n]),
    )


def _fingerprints(
    file: object, line: int, cell: str, levels: list[int]
) -> Mapping[int, str] | None:
    """The fingerprints in a cell: at all of a topic's levels, or at those from 1 alone."""
    prints = cell.split("-") if cell else []
    relevant = [level for level in levels if level > 0]
    if not prints and relevant:
        return None
    if len(prints) not in (len(relevant), len(levels)) or not _FINGERPRINTS.fullmatch(cell):
        raise InputError.at(
            file,
            f"fingerprint {quoted(cell)}",
            f"{len(levels)} times 16 hexadecimal digits, joined by -, are expected",
            line=line,
        )
    return Frozen(zip(levels[-len(prints) :] if prints else (), prints, strict=True))


_FINGERPRINTS = re.compile("(?:[0-9a-f]{16}(?:-[0-9a-f]{16})*)?")


def quoted(text: object) -> str:
    """A value as messages show it: quoted, and cut where it is long."""
    written = repr(text)
    return written if len(written) <= 80 else f"{written[:77]}..."


def _whole(file: object, line: int, name: str, cell: str) -> int | None:
    if cell.isascii() and cell.isdigit() and len(cell) < 10:
        return int(cell)
    if cell:
        raise InputError.at(
            file,
            f"{name} is {quoted(cell)}",
            "a whole number is expected, or nothing where unknown",
            line=line,
        )
    return None


def _write_csv(file: Path, rows: Iterable[list[object]]) -> None:
    with file.open("w", encoding="utf-8", newline="") as text:
        default = csv.writer(text, lineterminator="\n")
        quoted = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL)
        for row in rows:
            # The default writer does not quote a carriage return, which would end the row.
            (quoted if "\r" in str(row[0]) else default).writerow(row)


def write_topics(file: Path, topics: Mapping[str, Judgments]) -> None:
    """Write ``topics.csv``."""
    levels = sorted({level for known in topics.values() for level in known.levels or ()})
    rows: list[list[object]] = [["topic", "n_rel"]]
    if levels:
        rows[0] += [*(f"level_{n}" for n in levels), "fingerprint"]
    for topic, (n_rel, counts, prints) in topics.items():
        rows.append([topic, "" if n_rel is None else n_rel])
        if levels:
            rows[-1] += ["" if counts is None else counts.get(n, 0) for n in levels]
            rows[-1].append("-".join((prints or {}).values()))
    _write_csv(file, rows)


def parse_table(content: bytes, file: object, topics: tuple[str, ...]) -> Table:
    """Parse ``mean.csv`` or ``sd.csv``; empty cells are NaN.

    Raises
    ------
    InputError
        Naming the line, if a row is ragged, no number, or not of the expected topic.
    """
    rows = _rows(content, file)
    for line, row in enumerate(rows[1:], 2):
        if line - 2 >= len(topics) or row[0] != topics[line - 2]:
            expected = quoted(topics[line - 2]) if line - 2 < len(topics) else "no further topic"
            raise InputError.at(
                file, f"topic {quoted(row[0])}", f"topics.csv has {expected} here", line=line
            )
    if len(rows) - 1 < len(topics):
        raise InputError.at(
            file,
            f"ends after {counted(len(rows) - 1, 'topic')}",
            f"topics.csv has {len(topics)}",
            line=len(rows),
        )
    names = rows[0][1:]
    if len(set(names)) < len(names):
        raise InputError.at(file, "a measure comes twice", "one column a measure", line=1)
    try:
        columns = [_numbers(column) for column in zip(*(row[1:] for row in rows[1:]), strict=True)]
    except ValueError:
        raise _not_a_number(file, rows) from None
    return {m: np.array(column) for m, column in zip(names, columns, strict=True)}


def parse_number(cell: str) -> float:
    """A cell as a number: NaN if it is empty, and never otherwise."""
    if not cell:
        return math.nan
    if not re.fullmatch(_NUMBER, cell):
        raise ValueError
    return float(cell)


def _numbers(cells: Sequence[str]) -> list[float]:
    """:func:`parse_number` of each cell, checked all at once."""
    if not _COLUMN.fullmatch(",".join(cells)):
        raise ValueError
    return [*map(float, cells)] if all(cells) else [float(c) if c else math.nan for c in cells]


_NUMBER = r"[-+]?(?:inf|[0-9.]{1,400}(?:[eE][-+]?[0-9]{1,4})?)"
_COLUMN = re.compile(rf"(?:{_NUMBER})?(?:,(?:{_NUMBER})?)*")


def _not_a_number(file: object, rows: list[list[str]]) -> InputError:
    for line, row in enumerate(rows[1:], 2):
        for measure, cell in zip(rows[0][1:], row[1:], strict=True):
            try:
                parse_number(cell)
            except ValueError:
                return InputError.at(
                    file,
                    f"{measure} of topic {row[0]} is {quoted(cell)}",
                    "a number is expected, or nothing where unknown",
                    line=line,
                )
    raise LookupError(f"every cell of {file} is a number")


def write_table(file: Path, topics: Iterable[str], table: Mapping[str, npt.ArrayLike]) -> None:
    """Write ``mean.csv`` or ``sd.csv`` at full precision; NaN as an empty cell."""
    columns = [np.asarray(column, dtype=float).tolist() for column in table.values()]
    _write_csv(
        file,
        [
            ["", *table],
            *(
                [topic, *("" if v != v else repr(v) for v in values)]
                for topic, *values in zip(topics, *columns, strict=True)
            ),
        ],
    )
