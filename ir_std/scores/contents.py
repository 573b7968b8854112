"""Parse scores that other programs computed, in every format."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ir_std.errors import InputError, UsageError, pluralize
from ir_std.reading import UNPACK_FIRST, Source, read_pieces, source_of
from ir_std.scores import tables
from ir_std.scores.collect import collect_scores
from ir_std.scores.files import JSON_STARTS, first_line, is_header, is_name_of_measure, split_fields
from ir_std.scores.mteb import HEADER, is_mteb_result, model_name, rows_of_mteb
from ir_std.scores.run_scores import SUMMARY, RunScores
from ir_std.scores.tables import ScoreTable
from ir_std.trec import is_file
from ir_std.trec.frames import is_frame

MOST_PACKED = 1 << 23
"""Largest number of bytes of a small packed file after it is unpacked (8 MiB).

A score needs many times as much memory as its text.
"""
MAX_PACKED_CELLS = 2_000_000
"""Largest number of cells that a small packed file may have."""
MAX_PACKED_RUNS = 20_000
"""Largest number of runs that a small packed file may have."""
_SEPARATORS = (b"\n", b"\t", b",", b";", b" ")
_FORMATS = (
    "expected the output of trec_eval -q (measure topic value) or of ir_measures -q (topic measure "
    "value), a table with a header such as run, topic, measure, value, or MTEB's JSON"
)
_HEAD = 10_000
"""Number of lines that are used to find out what the columns hold."""


def parse_scores(scores: Any, measure: str | None) -> dict[str, RunScores]:
    """Parse scores in any form; see :func:`ir_std.read_scores`."""
    if is_file(scores):
        return _read_file(source_of(scores), measure)
    return collect_scores(tables.cells_of_table(_table_of(scores, measure)))


def _table_of(scores: Any, measure: str | None) -> ScoreTable:
    """Return a dict, a DataFrame, or a list of records or metrics, as a table."""
    if isinstance(scores, Mapping):
        return _table_of_dict(scores, "scores", measure, of_numbers=True)
    if is_frame(scores):
        return tables.table_of_frame(scores, "scores", measure)
    if isinstance(scores, Iterable) and not isinstance(scores, (bytes, bytearray)):
        records = [row._asdict() if hasattr(row, "_asdict") else row for row in scores]
        if all(isinstance(record, Mapping) for record in records):
            lines = range(1, len(records) + 1)
            return tables.table_of_records(records, "scores", measure, lines, of_numbers=True)
    raise InputError.at(
        "scores",
        f"cannot use {type(scores).__name__}",
        "pass a file, a dict, a DataFrame (call collect() on a lazy one), or a list of records",
    )


def header_of(source: Source) -> list[str]:
    """Return the column names of a file; empty if it is not a table with a header."""
    line = first_line(source)
    return tables.split_header(line) if is_header(line) else []


def _read_file(source: Source, measure: str | None) -> dict[str, RunScores]:
    file_name = source.path.name if source.path else source.name
    text = _read_text(source)
    parse = _parse_json if text.lstrip()[:1] in JSON_STARTS else _parse_text
    cells = tables.cells_of_table(parse(text, source, measure))
    _check_bound(source, len(cells.runs.distinct), MAX_PACKED_RUNS, "runs")
    read = collect_scores(cells)
    return {file_name if run == source.name else run: scores for run, scores in read.items()}


def _read_text(source: Source) -> str:
    """Return the content of a file.

    Raises
    ------
    InputError
        If the file cannot be read or is not UTF-8, or if a small packed file unpacks to more than
        :data:`MOST_PACKED` bytes or :data:`MAX_PACKED_CELLS` cells.
    """
    content = b"".join(read_pieces(source))
    _check_bound(source, len(content), MOST_PACKED, "bytes")
    n_cells = sum(map(content.count, _SEPARATORS)) if source.is_small_and_packed else 0
    _check_bound(source, n_cells, MAX_PACKED_CELLS, "cells")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as wrong:
        line = wrong.object[: wrong.start].count(b"\n") + 1
        found = f"byte 0x{wrong.object[wrong.start]:02x} is not UTF-8"
        raise InputError.at(source.name, found, "save the file as UTF-8", line=line) from None


def _check_bound(source: Source, count: int, most: int, what: str) -> None:
    """Check that a small packed file does not hold too much."""
    if count > most and source.is_small_and_packed:
        found = f"has more than {most:,} {what} when unpacked"
        raise InputError.at(source.name, found, UNPACK_FIRST)


def _parse_text(text: str, source: Source, measure: str | None) -> ScoreTable:
    first = re.search(r"^[^\S\n]*[^\s#].*", text, re.MULTILINE)
    if first is None:
        raise InputError.at(source.name, "no lines", _FORMATS)
    if is_header(first[0].strip("\r ")):
        return tables.parse_table(text, tables.delimiter_of(first[0]), source.name, measure)
    return _parse_lines(text, source.name)


# --- JSON and dicts -------------------------------------------------------------------------------


def _parse_json(text: str, source: Source, measure: str | None) -> ScoreTable:
    """Read JSON: a result of MTEB, records (in a list or in lines), or a dict of scores."""
    file = source.name
    try:
        content = _load(text)
    except (json.JSONDecodeError, RecursionError) as broken:
        lines = [(i, line) for i, line in enumerate(text.split("\n"), 1) if line.strip()]
        if len(lines) > 1 and isinstance(_load_or_none(lines[0][1]), dict):
            records = [_load_or_none(line) for _, line in lines]
            return tables.table_of_records(records, file, measure, [i for i, _ in lines])
        raise InputError.at(
            file,
            f"not JSON ({getattr(broken, 'msg', 'nested too deeply')})",
            "a result of MTEB is one JSON object",
            line=getattr(broken, "lineno", None),
        ) from None
    if is_mteb_result(content):
        return tables.table_of_rows(rows_of_mteb(content, file, model_name(source)), file, HEADER)
    records = (
        content if isinstance(content, list) else [content] * ScoreTable("", [*content]).names_rows
    )
    if records:
        return tables.table_of_records(records, file, measure)
    if isinstance(content, dict) and any(isinstance(each, dict) for each in content.values()):
        return _table_of_dict(content, file, measure)
    raise InputError.at(
        file,
        "neither a result of MTEB (task_name with scores by split) nor a table",
        "pass records such as rows of a score table, or scores by topic and measure",
    )


_load = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=str).decode


def _load_or_none(text: str) -> Any:
    """Return parsed JSON, or None if the text is not JSON."""
    try:
        return _load(text)
    except (json.JSONDecodeError, RecursionError):
        return None


def _table_of_dict(
    scores: Mapping[Any, Any], file: str, measure: str | None, of_numbers: bool = False
) -> ScoreTable:
    """Return a dict in one of the forms that :func:`read_scores` describes as a table."""
    leaves = [*_leaves(scores)]
    if measure is None and any(len(keys) == 1 for keys, _ in leaves):
        raise UsageError("scores per topic do not name their measure; add measure='AP'")
    if measure is not None and any(len(keys) == 3 for keys, _ in leaves):
        raise UsageError(f"{file} names its measures; drop measure=")
    last = [] if measure is None else [measure]
    rows = [(*("", *keys, *last)[-3:], value) for keys, value in leaves]
    outer, inner = ([row[i] for row in rows] for i in (1, 2))
    topics_first = measure is not None or _count_measures(inner) > _count_measures(outer)
    return tables.table_of_rows(rows, file, _header(4, topics_first), of_numbers=of_numbers)


def _leaves(
    scores: Mapping[Any, Any], keys: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield each value in nested dicts, with the one to three keys that lead to it."""
    for key, value in scores.items():
        path = (*keys, str(key))
        if isinstance(value, Mapping) and len(path) < 3:
            yield from _leaves(value, path)
        else:
            yield path, value


# --- lines ----------------------------------------------------------------------------------------


def _parse_lines(text: str, file: str) -> ScoreTable:
    """Parse lines from trec_eval (``measure topic value``) or ir_measures.

    ir_measures writes ``[run] topic measure value``.  A line of two columns holds a measure and the
    mean, and not the score of a topic.

    Raises
    ------
    InputError
        If a line has more or fewer columns than the first line; the error names the line.
    """
    line = text[: text.find("\n") + 1]
    has_tabs = '"' not in text and [*map(str.strip, line.split("\t"))] == split_fields(line)
    rows = tables.split_cells(text, "\t") if has_tabs and line.count("\t") > 1 else None
    rows = rows or tables.join_rows(_fields_of_lines(text), file)
    width = rows.width
    if width not in (2, 3, 4):
        raise InputError.at(file, pluralize(width, "column"), _FORMATS, line=rows.lines[0])
    topics_first = True
    if width > 2:
        head = [cell.strip() for cell in rows.cells[: _HEAD * width].strings()]
        first, second = head[width - 3 :: width], head[width - 2 :: width]
        topics_first = _are_topics_first(first, second, width, file)
    return ScoreTable(file, _header(width, topics_first), rows.cells, lines=rows.lines)


def _fields_of_lines(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the fields of each line that is neither blank nor a comment."""
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            yield number, split_fields(line)


def _header(width: int, topics_first: bool) -> list[str]:
    """Return the names of the columns of lines, the last of which is the value."""
    names = ["topic", "measure"] if topics_first else ["measure", "topic"]
    return ["run", *names, "value"][-width:]


def _are_topics_first(first: Sequence[str], second: Sequence[str], width: int, file: str) -> bool:
    """Check whether the first of two columns holds the topics, and the second the measures.

    The column with more known names of measures holds the measures.  If both have the same number,
    the column with the topic ``all`` holds the topics.  If both or neither have the topic ``all``,
    the first column holds the topics if it has more different values than the second column.
    Otherwise, lines of three columns are read like the output of trec_eval.  Lines of four columns
    are ``run topic measure value``, or ``run measure topic value`` in TREC Auto-Judge.

    Raises
    ------
    InputError
        If the lines have four columns, and nothing shows which column holds the topics.
    """
    n_measures = _count_measures(first), _count_measures(second)
    if n_measures[0] != n_measures[1]:
        return n_measures[1] > n_measures[0]
    is_topic = SUMMARY in first, SUMMARY in second
    if is_topic[0] != is_topic[1]:
        return is_topic[0]
    has_fewer = len({*second} - {SUMMARY}) < len({*first} - {SUMMARY})
    if width == 4 and not has_fewer:
        raise InputError.at(
            file,
            "columns may be run topic measure value or run measure topic value",
            "separate the columns by tabs and add a first line with their names",
        )
    return has_fewer


def _count_measures(names: Iterable[str]) -> int:
    """Count the names that are names of known measures."""
    return sum(n for name, n in Counter(names).items() if is_name_of_measure(name))
