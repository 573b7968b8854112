"""Read scores that other programs computed; the content of a file shows its format."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import IO, Any, TypeAlias

from ir_std.errors import InputError, UsageError, did_you_mean, pluralize
from ir_std.measures.names import find_measure, suggest_measures
from ir_std.reading import Source, read_pieces, source_of, too_large
from ir_std.scores import tables
from ir_std.scores.collect import Names, ScoreCells, collect_scores, is_not_topic_score
from ir_std.scores.mteb import cells_of_mteb, is_mteb_result
from ir_std.scores.run_scores import SUMMARY, RunScores
from ir_std.trec import is_file
from ir_std.trec.frames import column_names, is_frame

File: TypeAlias = str | os.PathLike[str] | IO[Any] | Source
"""A path, an open file, or a source."""
MOST_PACKED = 1 << 23
"""Largest number of bytes of a small packed file after it is unpacked (8 MiB).

A score needs many times as much memory as its text.
"""
MAX_PACKED_CELLS = 2_000_000
"""Largest number of cells that a small packed file may have."""
MAX_PACKED_RUNS = 20_000
"""Largest number of runs that a small packed file may have."""
_SEPARATORS = (b"\n", b"\t", b",", b";", b" ")
JSON_STARTS = ("{", "[")


def read_scores(scores: Any, measure: str | None = None) -> dict[str, RunScores]:
    """Read scores that another program computed.

    Parameters
    ----------
    scores : str, path, open file, Source, DataFrame, list or dict
        A file, which may be packed, with the output of ``trec_eval -q`` or of ``ir_measures -q``
        (text or JSON lines), the output of ``ir_std`` (text, JSON lines or CSV), a result of MTEB
        (JSON), or a table.

        The cells of a table are separated by commas, tabs or semicolons.  A table either has one
        row per score, with columns run, topic, measure and value, or it has one column per measure,
        with one row per topic or one row per run and topic.  If you pass ``measure``, a table may
        also have one row per topic and one column per run, or be a leaderboard with one row per run
        and one column per dataset.  Instead of a file, you can pass such a table as a DataFrame of
        pandas or polars, as a list of records, or as a list of ir_measures' metrics.

        A dict, in Python or in a JSON file, holds scores by measure and topic, or by topic and
        measure as in pytrec_eval.  If a dict has one more level of keys, its outermost keys are the
        names of runs.  If you pass ``measure``, a dict holds scores by topic, or by run and topic.
    measure : str, optional
        Measure of the scores, if the file or object does not name the measure.

    Returns
    -------
    dict of str to RunScores
        Scores by run.  A name that ir_measures does not know becomes a custom measure of that name;
        see :class:`ir_std.ExternalMeasure`.

    Raises
    ------
    InputError
        If a value is not a number or impossible for its measure, a topic occurs twice, or a mean
        differs from the mean of the topics.  The error names the file and line.
    UsageError
        If ``measure`` is not the name of a measure, or if neither ``measure`` nor the scores name
        the measure.

    Examples
    --------
    >>> read = ir_std.read_scores("scores.txt")
    >>> read
    {'scores.txt': <RunScores of scores.txt: 50 topics, AP>}
    >>> scores = ir_std.standardize(read["scores.txt"], factors="trec8-adhoc")
    >>> round(scores.values[ir_std.sAP]["404"], 4)
    0.6627
    """
    if measure is not None:
        check_name_of_measure(measure)
    if is_file(scores):
        return _read_file(source_of(scores), measure)
    if isinstance(scores, Mapping):
        return collect_scores(_cells_of_dict(scores, "scores", measure, of_numbers=True))
    return collect_scores(tables.cells_of_table(_table_of(scores), measure))


def check_name_of_measure(name: str) -> None:
    """Check that a name is a known measure, is in quotes, or is unlike all known measures."""
    if not isinstance(name, str):
        raise UsageError(f"expected the name of a measure, got {name!r}")
    if find_measure(name) is not None:
        return
    near = suggest_measures(name)
    if near or not name.strip():
        raise UsageError(
            f"unknown measure {name!r}; put the name of a custom measure in extra quotes"
            f"{did_you_mean(near)}"
        )


def _table_of(scores: Any) -> tables.ScoreTable:
    """Return a DataFrame, or a list of records or metrics, as a table."""
    if is_frame(scores):
        return tables.table_of_frame(scores, "scores")
    if isinstance(scores, Iterable) and not isinstance(scores, (bytes, bytearray)):
        records = [row._asdict() if hasattr(row, "_asdict") else row for row in scores]
        if all(isinstance(record, Mapping) for record in records):
            return tables.table_of_records(records, "scores", range(1, len(records) + 1), True)
    raise InputError.at(
        "scores",
        f"cannot use {type(scores).__name__}",
        "pass a file, a dict, a DataFrame (call collect() on a lazy one), or a list of records",
    )


def holds_scores(given: Any) -> bool:
    """Check whether a DataFrame, list or dict holds scores instead of a run's documents."""
    if is_frame(given):
        names = {str(name).lower() for name in column_names(given)}
        return not names & {"doc_id", "docno", "docid"}
    if isinstance(given, Mapping):
        outer, inner = next(iter(given.items()), ("", None))
        first = next(iter(inner), "") if isinstance(inner, Mapping) else ""
        return any(find_measure(str(name)) for name in (outer, first))
    first = given[0] if isinstance(given, (list, tuple)) and given else None
    if isinstance(first, Mapping):
        return "measure" in first
    return hasattr(first, "measure") and hasattr(first, "value")


# --- files ----------------------------------------------------------------------------------------


def _first_line(source: Source) -> str:
    line = source.first_line[1].decode(errors="replace") if source.first_line else ""
    return line.strip("\ufeff\r\n ")


def header_of(source: Source) -> list[str]:
    """Return the column names of a file; empty if it is not a table with a header."""
    line = _first_line(source)
    return tables.split_header(line) if tables.is_header(line) else []


def is_score_file(source: Source) -> bool:
    """Check, from its first line, whether a file holds scores instead of a run or qrels."""
    line = _first_line(source)
    return line.startswith(JSON_STARTS) or tables.is_header(line) or _is_score_line(line)


def _read_file(source: Source, measure: str | None) -> dict[str, RunScores]:
    file_name = source.path.name if source.path else source.name
    text = _read_text(source)
    parse = _parse_json if text.lstrip()[:1] in JSON_STARTS else _parse_text
    cells = parse(text, source, measure)
    if source.is_small_and_packed and len(cells.runs.distinct) > MAX_PACKED_RUNS:
        raise InputError.at(
            source.name, f"has more than {MAX_PACKED_RUNS:,} runs", "unpack it to a file"
        )
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
    if len(content) > MOST_PACKED and source.is_small_and_packed:
        raise too_large(source.name, MOST_PACKED, "unpack it to a file")
    if source.is_small_and_packed and sum(map(content.count, _SEPARATORS)) > MAX_PACKED_CELLS:
        raise InputError.at(
            source.name,
            f"has more than {MAX_PACKED_CELLS:,} cells when unpacked",
            "unpack it to a file",
        )
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as wrong:
        line = wrong.object[: wrong.start].count(b"\n") + 1
        found = f"byte 0x{wrong.object[wrong.start]:02x} is not UTF-8"
        raise InputError.at(source.name, found, "save the file as UTF-8", line=line) from None


def _parse_text(text: str, source: Source, measure: str | None) -> ScoreCells:
    first = re.search(r"^[^\S\n]*[^\s#].*", text, re.MULTILINE)
    if first is None:
        raise InputError.at(source.name, "no lines", _FORMATS)
    if tables.is_header(first[0].strip("\r ")):
        return tables.cells_of_table(tables.parse_table(text, source.name), measure)
    rows = enumerate(text.split("\n"), 1)
    lines = ((i, line) for i, line in rows if line.strip() and not line.lstrip().startswith("#"))
    return _cells_of_lines(lines, source.name)


# --- JSON and dicts -------------------------------------------------------------------------------


def _parse_json(text: str, source: Source, measure: str | None) -> ScoreCells:
    """Read JSON: a result of MTEB, records (in a list or in lines), or a dict of scores."""
    file = source.name
    try:
        content = _load(text)
    except (json.JSONDecodeError, RecursionError) as broken:
        lines = [(i, line) for i, line in enumerate(text.split("\n"), 1) if line.strip()]
        if len(lines) > 1 and isinstance(_load_or_none(lines[0][1]), dict):
            records = [_load_or_none(line) for _, line in lines]
            return tables.cells_of_table(
                tables.table_of_records(records, file, [i for i, _ in lines]), measure
            )
        raise InputError.at(
            file,
            f"not JSON ({getattr(broken, 'msg', 'nested too deeply')})",
            "a result of MTEB is one JSON object",
            line=getattr(broken, "lineno", None),
        ) from None
    if is_mteb_result(content):
        return cells_of_mteb(content, source)
    records = content if isinstance(content, list) else [content] * tables.names_rows([*content])
    if records:
        return tables.cells_of_table(tables.table_of_records(records, file), measure)
    if isinstance(content, dict) and any(isinstance(each, dict) for each in content.values()):
        return _cells_of_dict(content, file, measure)
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


def _cells_of_dict(
    scores: Mapping[Any, Any], file: str, measure: str | None, of_numbers: bool = False
) -> ScoreCells:
    """Return the values of a dict in one of the forms that :func:`read_scores` describes."""
    leaves = [*_leaves(scores)]
    if measure is None and any(len(keys) == 1 for keys, _ in leaves):
        raise UsageError("scores per topic do not name their measure; add measure='AP'")
    if measure is not None and any(len(keys) == 3 for keys, _ in leaves):
        raise UsageError(f"{file} names its measures; drop measure=")
    last = [] if measure is None else [measure]
    rows = [(*("", *keys, *last)[-3:], value) for keys, value in leaves]
    runs, outer, inner, values = [*zip(*rows, strict=True)] or [()] * 4
    topics_first = measure is not None or _count_measures(inner) > _count_measures(outer)
    topics, measures = (outer, inner) if topics_first else (inner, outer)
    names = [Names.of(column) for column in (runs, topics, measures)]
    return ScoreCells(file, names[0], names[1], names[2], values, of_numbers=of_numbers)


def _leaves(
    scores: Mapping[Any, Any], keys: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield each value in nested dicts as text, with the one to three keys that lead to it."""
    for key, value in scores.items():
        path = (*keys, str(key))
        if isinstance(value, Mapping) and len(path) < 3:
            yield from _leaves(value, path)
        else:
            yield path, "" if value is None else str(value)


# --- lines ----------------------------------------------------------------------------------------

_FORMATS = (
    "expected the output of trec_eval -q (measure topic value) or of ir_measures -q (topic measure "
    "value), a table with a header such as run, topic, measure, value, or MTEB's JSON"
)
_DECIMAL = r"-?(?:\d*\.\d+|\d+(?=e))(?:[eE][-+]?\d+)?|nan"
_NUMBER = _DECIMAL + r"|-?\d+"
_PLACE = r"(?:would have been )?\d+(?:st|nd|rd|th)\b.* of \d+|not placed, |(?:between|below|above) "
"""Text that ``--place`` adds after a value."""
_HEAD = 10_000
"""Number of lines that are used to find out what the columns hold."""


def _is_score_line(line: str) -> bool:
    """Check whether a line holds a score; unlike scores, relevance levels have no decimals."""
    fields = _fields(line)
    if len(fields) == 4 and not _is_iteration(fields[1]) and re.fullmatch(_NUMBER, fields[3]):
        return True
    if len(fields) == 4 and re.fullmatch(_DECIMAL, fields[3]):
        return "\t" in line or find_measure(fields[2]) is not None
    return len(fields) in (2, 3) and not _is_ranked(fields)


def _is_iteration(text: str) -> bool:
    """Check whether a text looks like the iteration in qrels, and not like a measure's name."""
    named = text.lower() in ("q0", "iter", "iteration")
    return named or re.match("[A-Za-z]{2}", text) is None


def _is_ranked(fields: list[str]) -> bool:
    """Check whether three columns are topic, document and rank, as in runs of MS MARCO."""
    return (
        len(fields) == 3
        and re.fullmatch("[1-9][0-9]*", fields[2]) is not None
        and not any(map(_is_name_of_measure, fields[:2]))
        and "all" not in fields
    )


def _is_name_of_measure(name: str) -> bool:
    return find_measure(name) is not None or is_not_topic_score(name)


def _fields(line: str) -> list[str]:
    """Split a line into columns: at tabs if the line contains tabs, otherwise at blanks."""
    if "\t" in line.strip():
        fields = [field.strip() for field in line.strip("\r\n").split("\t")]
        while len(fields) > 2 and re.match(_PLACE, fields[-1]):
            fields.pop()
        return fields
    return line.split()


def _cells_of_lines(lines: Iterable[tuple[int, str]], file: str) -> ScoreCells:
    """Return the values in lines from trec_eval (``measure topic value``) or ir_measures.

    ir_measures writes ``[run] topic measure value``.  A line of two columns holds a measure and the
    mean, and not the score of a topic.

    Raises
    ------
    InputError
        If a line has more or fewer columns than the first line; the error names the line.
    """
    columns, numbers = tables.join_rows(((n, _fields(line)) for n, line in lines), file)
    width = len(columns)
    if width not in (2, 3, 4):
        raise InputError.at(file, pluralize(width, "column"), _FORMATS, line=numbers[0])
    unnamed = [""] * len(numbers)
    if width == 2:
        runs, topics, measures = unnamed, [SUMMARY] * len(numbers), columns[0]
    else:
        runs = columns[0] if width == 4 else unnamed
        first, second = columns[-3:-1]
        topics_first = _are_topics_first(first[:_HEAD], second[:_HEAD], width, file)
        topics, measures = (first, second) if topics_first else (second, first)
    names = [Names.of(column) for column in (runs, topics, measures)]
    return ScoreCells(file, names[0], names[1], names[2], columns[-1], numbers)


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
    known = _count_measures(first), _count_measures(second)
    if known[0] != known[1]:
        return known[1] > known[0]
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
    return sum(n for name, n in Counter(names).items() if _is_name_of_measure(name))
