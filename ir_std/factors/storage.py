"""The files of a factor set: read with clear errors, written at full precision."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ir_std.errors import InputError

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


def read_topics(file: Path) -> dict[str, int | None]:
    """Read ``topics.csv``: for each topic its number of relevant documents, where known.

    Raises
    ------
    InputError
        Naming the line, if a topic comes twice or a number is none.
    """
    rows = _read_rows(file)
    if rows[0] != ["topic", "n_rel"]:
        raise InputError.at(file, 1, f"header {','.join(rows[0])}", "topic,n_rel is expected")
    counts: dict[str, int | None] = {}
    for line, (topic, count) in enumerate(rows[1:], 2):
        if topic in counts:
            raise InputError.at(file, line, f"topic {topic} again", "one row a topic")
        if not (count.isdigit() or count == ""):
            raise InputError.at(file, line, f"n_rel is {count!r}",
                                "a whole number is expected, or nothing where unknown")
        counts[topic] = int(count) if count else None
    return counts


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
