"""The files of a factor set: read with clear errors, written at full precision."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ir_std.errors import InputError
from ir_std.factors.judgments import Judgments

Table = dict[str, npt.NDArray[np.float64]]

FILES = ("set.json", "topics.csv", "mean.csv", "sd.csv")
"""The files that every set has."""
OPTIONAL_FILES = ("scores.npz", "systems.npz", "means.npz")
"""The files of sets whose systems' scores are known."""

_TEXT_FIELDS = ("id", "title", "track", "source", "licence", "built")
_ALLOWED_FIELDS = {*_TEXT_FIELDS, "doc_id_pattern", "ir_datasets", "max_level", "depth",
                   "resolution", "default_measures", "measures"}


def read_info(file: Path) -> dict[str, Any]:
    """Read ``set.json``.

    Raises
    ------
    InputError
        If it is no JSON object, or a field is missing or unknown.
    """
    try:
        info = json.loads(file.read_text(encoding="utf-8"))
    except json.JSONDecodeError as broken:
        raise InputError.at(file, broken.lineno, f"no JSON ({broken.msg})",
                            "a set.json is one JSON object") from None
    except UnicodeDecodeError:
        raise InputError.at(file, None, "not UTF-8", "a set.json is UTF-8 text") from None
    measures = info.get("measures") if isinstance(info, dict) else None
    if not isinstance(measures, dict) or not isinstance(info.get("id"), str):
        raise InputError.at(file, None, "'id' or 'measures' is missing",
                            "both are required, measures as an object")
    unknown = sorted(info.keys() - _ALLOWED_FIELDS)
    if unknown:
        raise InputError.at(file, None, f"unknown field {unknown[0]!r}",
                            f"allowed are {', '.join(sorted(_ALLOWED_FIELDS))}")
    for name, about in measures.items():
        if not isinstance(about, dict) or not isinstance(about.get("systems"), int):
            raise InputError.at(file, None, f"measure {name} has no number of systems",
                                'give {"systems": n}')
    return dict(info)


def _read_rows(file: Path) -> list[list[str]]:
    try:
        with open(file, encoding="utf-8", newline="") as text:
            rows = list(csv.reader(text))
    except FileNotFoundError:
        raise InputError.at(file, None, "is missing",
                            f"a factor set holds {', '.join(FILES)}") from None
    except UnicodeDecodeError:
        raise InputError.at(file, None, "not UTF-8", "tables are UTF-8 text") from None
    if len(rows) < 2:
        raise InputError.at(file, len(rows) or None, "no topics",
                            "a header and a row for each topic are expected")
    for line, row in enumerate(rows, 1):
        if len(row) != len(rows[0]):
            raise InputError.at(file, line, f"{len(row)} columns",
                                f"the header has {len(rows[0])}")
    return rows


def read_topics(file: Path) -> dict[str, Judgments]:
    """Read ``topics.csv``: for each topic what is known of its judgments.

    Columns are ``topic``, ``n_rel`` and, in sets whose judgments are known, ``level_0``,
    ``level_1`` and so on, the number of documents at each level that occurs (at 0 and below),
    and ``fingerprint``: for each level from 1 at which the topic has documents, that of the
    documents at it or above, joined by ``-``.  Cells are empty where unknown.

    Raises
    ------
    InputError
        Naming the line, if a topic comes twice, a number is none, the levels do not add up, or a
        fingerprint is none.
    """
    rows = _read_rows(file)
    levels = _levels(file, rows[0])
    topics: dict[str, Judgments] = {}
    for line, row in enumerate(rows[1:], 2):
        if row[0] in topics:
            raise InputError.at(file, line, f"topic {row[0]} again", "one row a topic")
        topics[row[0]] = _judgments(file, line, row, levels)
    return topics


def _levels(file: Path, header: list[str]) -> list[int]:
    """The levels that the columns count; none in a file of topics and ``n_rel`` alone."""
    levels = [int(name[6:]) for name in header[2:-1] if re.fullmatch(r"level_\d{1,9}", name)]
    expected = ["topic", "n_rel"]
    if len(header) > 2:
        expected += [*(f"level_{n}" for n in levels), "fingerprint"]
    if header != expected or levels != sorted({*levels, *[0] * (len(header) > 2)}):
        raise InputError.at(file, 1, f"header {','.join(header)}",
                            "topic,n_rel is expected, or topic,n_rel,level_0,...,fingerprint with "
                            "levels ascending")
    return levels


def _judgments(file: Path, line: int, row: list[str], levels: list[int]) -> Judgments:
    n_rel, *counts = [_whole(file, line, name, cell) for name, cell in zip(
        ["n_rel", *(f"level_{n}" for n in levels)], row[1:], strict=False)]
    if not levels or (counts == [None] * len(levels) and not row[-1]):
        return Judgments(n_rel)
    known = [n for n in counts if n is not None]
    if len(known) < len(levels) or sum(known[1:]) != n_rel:
        raise InputError.at(file, line, f"levels {','.join(row[2:-1])} and n_rel {row[1]}",
                            "levels from 1 add up to n_rel, or all are empty where unknown")
    at = {level: n for level, n in zip(levels, known, strict=True) if n or not level}
    prints = row[-1].split("-") if row[-1] else []
    if len(prints) not in (0, len(at) - 1) or not all(
            re.fullmatch("[0-9a-f]{16}", one) for one in prints):
        raise InputError.at(file, line, f"fingerprint {shown(row[-1])}",
                            f"{len(at) - 1} times 16 hexadecimal digits, joined by -, are expected")
    if len(prints) < len(at) - 1:
        return Judgments(n_rel, at)
    return Judgments(n_rel, at, dict(zip(list(at)[1:], prints, strict=True)))


def shown(text: object) -> str:
    """What was found, as messages show it: quoted, and cut where it is long."""
    quoted = repr(text)
    return quoted if len(quoted) <= 80 else f"{quoted[:77]}..."


def _whole(file: Path, line: int, name: str, cell: str) -> int | None:
    if re.fullmatch(r"[0-9]{1,9}", cell):
        return int(cell)
    if cell:
        raise InputError.at(file, line, f"{name} is {shown(cell)}",
                            "a whole number is expected, or nothing where unknown")
    return None


def write_topics(file: Path, topics: Mapping[str, Judgments]) -> None:
    """Write ``topics.csv``."""
    levels = sorted({level for known in topics.values() for level in known.levels or ()})
    with open(file, "w", encoding="utf-8", newline="") as text:
        writer = csv.writer(text, lineterminator="\n")
        header = [*(f"level_{n}" for n in levels), "fingerprint"] if levels else []
        writer.writerow(["topic", "n_rel", *header])
        for topic, (n_rel, counts, prints) in topics.items():
            cells = [*("" if counts is None else counts.get(n, 0) for n in levels),
                     "-".join((prints or {}).values())] if levels else []
            writer.writerow([topic, "" if n_rel is None else n_rel, *cells])


def read_table(file: Path, topics: tuple[str, ...]) -> Table:
    """Read ``mean.csv`` or ``sd.csv``; empty cells are NaN.

    Raises
    ------
    InputError
        Naming the line, if a row is ragged, no number, or not of the expected topic.
    """
    rows = _read_rows(file)
    for line, row in enumerate(rows[1:], 2):
        if line - 2 >= len(topics) or row[0] != topics[line - 2]:
            expected = topics[line - 2] if line - 2 < len(topics) else "no further topic"
            raise InputError.at(file, line, f"topic {row[0]}", f"topics.csv has {expected} here")
    if len(rows) - 1 < len(topics):
        raise InputError.at(file, len(rows), f"ends after {len(rows) - 1} topics",
                            f"topics.csv has {len(topics)}")
    try:
        columns = [[float(cell) if cell else np.nan for cell in column]
                   for column in zip(*(row[1:] for row in rows[1:]), strict=True)]
    except ValueError:
        raise _not_a_number(file, rows) from None
    return {m: np.array(column) for m, column in zip(rows[0][1:], columns, strict=True)}


def _not_a_number(file: Path, rows: list[list[str]]) -> InputError:
    for line, row in enumerate(rows[1:], 2):
        for measure, cell in zip(rows[0][1:], row[1:], strict=True):
            try:
                float(cell or "nan")
            except ValueError:
                return InputError.at(file, line, f"{measure} of topic {row[0]} is {cell!r}",
                                     "a number is expected, or nothing where unknown")
    raise LookupError(f"every cell of {file} is a number")


def write_table(file: Path, topics: Iterable[str], table: Mapping[str, npt.ArrayLike]) -> None:
    """Write ``mean.csv`` or ``sd.csv`` at full precision; NaN as an empty cell."""
    with open(file, "w", encoding="utf-8", newline="") as text:
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["", *table])
        columns = [np.asarray(column, dtype=float).tolist() for column in table.values()]
        for topic, *values in zip(topics, *columns, strict=True):
            writer.writerow([topic, *("" if v != v else repr(v) for v in values)])


def write_arrays(file: Path, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    """Write an ``.npz``, without pickles and times: the same arrays give the same bytes."""
    from io import BytesIO
    from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

    with ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            content = BytesIO()
            np.lib.format.write_array(content, array, allow_pickle=False)
            member = ZipInfo(f"{name}.npy")
            member.compress_type, member.create_system = ZIP_DEFLATED, 3
            archive.writestr(member, content.getvalue())
