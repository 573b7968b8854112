"""Scores that other programs write, in files and in memory: the content shows the format."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import IO, Any, TypeAlias

from ir_std.errors import InputError, UsageError, did_you_mean, pluralize
from ir_std.measures import suggest_measures
from ir_std.measures.names import find_measure
from ir_std.reading import Source, read_pieces, source_of, too_large
from ir_std.scores.collect import ScoreCells, collect_scores, is_not_topic_score
from ir_std.scores.mteb import is_mteb_result, read_mteb_result
from ir_std.scores.run_scores import SUMMARY, RunScores
from ir_std.scores.tables import (
    ScoreTable,
    is_header,
    names_rows,
    parse_table,
    read_table,
    split_header,
    table_of_frame,
    table_of_records,
)
from ir_std.trec.frames import column_names, is_frame
from ir_std.trec.inputs import is_file

File: TypeAlias = str | os.PathLike[str] | IO[Any] | Source
"""A path, an open file, or a source."""
MOST_PACKED = 1 << 23
"""Bytes that a small packed file may unpack to: 8 MiB.

Each score takes many times its text.
"""
MAX_PACKED_CELLS = 2_000_000
"""Number of cells that such a file may have."""
MAX_PACKED_RUNS = 20_000
"""Number of runs that such a file may have."""
_SEPARATORS = (b"\n", b"\t", b",", b";", b" ")
JSON_STARTS = ("{", "[")


def read_scores(scores: Any, measure: str | None = None) -> dict[str, RunScores]:
    """Read scores that another program computed.

    Parameters
    ----------
    scores : str, path, open file, Source, DataFrame, list or dict
        Output of ``trec_eval -q`` or of ``ir_measures -q``, as text or JSON lines; what ``ir_std``
        writes as lines, JSON lines or CSV; a result of MTEB (JSON); or a table, its cells
        separated by commas, tabs or semicolons: one row per score, with columns run, topic,
        measure and value; or one row per topic, or run and topic, and one column per measure; with
        ``measure`` also one row per topic and one column per run, and a leaderboard, one row per
        run and one column per dataset.  Packed files are unpacked.  The same as a DataFrame of
        pandas or polars, or a list of records or of ir_measures' metrics.  Or a dict, or its JSON:
        by measure and topic, or as pytrec_eval's by topic and measure; the same by run first; with
        ``measure`` by topic, or by run and topic.
    measure : str, optional
        Measure of scores that name none.

    Returns
    -------
    dict of str to RunScores
        Scores by run.  Names that ir_measures does not know become measures of those names, see
        :class:`ir_std.ExternalMeasure`.

    Raises
    ------
    InputError
        If something cannot be used, with its file and line: a value that is not a number or that
        its measure cannot have, a topic that occurs twice, a mean that is not that of the topics.
    UsageError
        If ``measure`` is not a measure, or is needed and missing.

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
        return _read_dict(scores, "scores", measure, of_numbers=True)
    return read_table(_table_of(scores), measure)


def check_name_of_measure(name: str) -> None:
    """Check that a name is a measure's: known, in quotes, or unlike all known ones."""
    if not isinstance(name, str):
        raise UsageError(f"expected the name of a measure, got {name!r}")
    if find_measure(name) is not None:
        return
    near = suggest_measures(name)
    if near or not name.strip():
        raise UsageError(
            f"unknown measure {name!r}; put the name of a custom measure in quotes of its own"
            f"{did_you_mean(near)}"
        )


def _table_of(scores: Any) -> ScoreTable:
    """Return a DataFrame, or a list of records or metrics, as a table."""
    if is_frame(scores):
        return table_of_frame(scores, "scores")
    if isinstance(scores, Iterable) and not isinstance(scores, (bytes, bytearray)):
        records = [row._asdict() if hasattr(row, "_asdict") else row for row in scores]
        if all(isinstance(record, Mapping) for record in records):
            return table_of_records([*enumerate(records, 1)], "scores", True)
    raise InputError.at(
        "scores",
        f"cannot use {type(scores).__name__}",
        "pass a file, a dict, a DataFrame (call collect() on a lazy one), or a list of records",
    )


def holds_scores(given: Any) -> bool:
    """Check whether a DataFrame, list or dict holds scores, and not a run's documents."""
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
    """Return the names of the columns of a file that is a table with a header, else none."""
    line = _first_line(source)
    return split_header(line) if is_header(line) else []


def is_score_file(source: Source) -> bool:
    """Check by its first line whether a file holds scores, and not a run or qrels."""
    line = _first_line(source)
    return line.startswith(JSON_STARTS) or is_header(line) or _is_score_line(line)


def _read_file(source: Source, measure: str | None) -> dict[str, RunScores]:
    file_name = source.path.name if source.path else source.name
    text = _read_text(source)
    parse = _parse_json if text.lstrip()[:1] in JSON_STARTS else _parse_text
    read = parse(text, source, measure)
    if len(read) > MAX_PACKED_RUNS and source.is_small_and_packed:
        raise InputError.at(
            source.name, f"has more than {MAX_PACKED_RUNS:,} runs", "unpack it to a file"
        )
    return {file_name if run == source.name else run: scores for run, scores in read.items()}


def _read_text(source: Source) -> str:
    """Return the content of a file.

    Raises
    ------
    InputError
        If it cannot be read, is not UTF-8, or is packed and unpacks to more than
        :data:`MOST_PACKED` bytes or :data:`MAX_PACKED_CELLS` cells though its file is small.
    """
    content = b"".join(read_pieces(source))
    if len(content) > MOST_PACKED and source.is_small_and_packed:
        raise too_large(source.name, MOST_PACKED, "unpack it to a file")
    if sum(map(content.count, _SEPARATORS)) > MAX_PACKED_CELLS and source.is_small_and_packed:
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


def _parse_text(text: str, source: Source, measure: str | None) -> dict[str, RunScores]:
    lines = _text_lines(text)
    head = next(lines, None)
    if head is None:
        raise InputError.at(source.name, "no lines", _FORMATS)
    if is_header(head[1].lstrip().rstrip("\r")):
        return read_table(parse_table(text, source.name), measure)
    return _read_lines(chain([head], lines), source.name)


# --- JSON and dicts -------------------------------------------------------------------------------


def _parse_json(text: str, source: Source, measure: str | None) -> dict[str, RunScores]:
    """Read MTEB's result of a task, records (a list, or lines of ``-o jsonl``), or a dict."""
    file = source.name
    try:
        content = _load(text)
    except json.JSONDecodeError as broken:
        lines = [(i, line) for i, line in enumerate(text.split("\n"), 1) if line.strip()]
        if len(lines) > 1 and isinstance(_load_or_none(lines[0][1]), dict):
            records = [(number, _load_or_none(line)) for number, line in lines]
            return read_table(table_of_records(records, file), measure)
        raise InputError.at(
            file,
            f"not JSON ({broken.msg})",
            "a result of MTEB is one JSON object",
            line=broken.lineno,
        ) from None
    except RecursionError:
        raise InputError.at(
            file, "nested too deeply", "a result of MTEB is one JSON object"
        ) from None
    if isinstance(content, list) and content:
        return read_table(table_of_records([(None, each) for each in content], file), measure)
    if is_mteb_result(content):
        return read_mteb_result(content, source)
    if isinstance(content, dict) and names_rows([*content]):
        return read_table(table_of_records([(1, content)], file), measure)
    if isinstance(content, dict) and any(isinstance(each, dict) for each in content.values()):
        return _read_dict(content, file, measure)
    raise InputError.at(
        file,
        "neither a result of MTEB (task_name with scores by split) nor a table",
        "pass records with the columns of a table, or scores by topic and measure",
    )


_load = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=str).decode


def _load_or_none(text: str) -> Any:
    """Return parsed JSON, None for what is not JSON."""
    try:
        return _load(text)
    except (json.JSONDecodeError, RecursionError):
        return None


def _read_dict(
    scores: Mapping[Any, Any], file: str, measure: str | None, of_numbers: bool = False
) -> dict[str, RunScores]:
    """Read scores by topic; by two of measure, run and topic; or by all three, the run first."""
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
    columns = runs, topics, measures, values
    return collect_scores(ScoreCells.of(file, columns, of_numbers=of_numbers))


def _leaves(
    scores: Mapping[Any, Any], keys: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the values of nested dicts as texts, with their one to three keys."""
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
"""Number of lines by which the columns are distinguished."""


def _text_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines that are neither blank nor comments, with their numbers."""
    for number, line in enumerate(text.split("\n"), 1):
        if line and not line.isspace() and not line.lstrip().startswith("#"):
            yield number, line


def _is_score_line(line: str) -> bool:
    """Check whether a line is one of scores, not of a run or qrels: a level has no point."""
    fields = _fields(line)
    if len(fields) == 4 and not _is_iteration(fields[1]) and re.fullmatch(_NUMBER, fields[3]):
        return True
    if len(fields) == 4 and re.fullmatch(_DECIMAL, fields[3]):
        return "\t" in line or find_measure(fields[2]) is not None
    return len(fields) in (2, 3) and not _is_ranked(fields)


def _is_iteration(text: str) -> bool:
    """Check whether a text may be in the second column of qrels, which no measure's name may."""
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
    """Return the columns of a line, which tabs separate if it has any."""
    if "\t" in line.strip():
        fields = [field.strip() for field in line.strip("\r\n").split("\t")]
        while len(fields) > 2 and re.match(_PLACE, fields[-1]):
            fields.pop()
        return fields
    return line.split()


def _read_lines(lines: Iterable[tuple[int, str]], file: str) -> dict[str, RunScores]:
    """Read ``measure topic value`` of trec_eval, ``[run] topic measure value`` of ir_measures.

    Two columns, a measure and its mean, are means only.

    Raises
    ------
    InputError
        If a line has other columns than the first, with its number.
    """
    numbers: list[int] = []
    cells: list[str] = []
    width = 0
    for number, line in lines:
        fields = _fields(line)
        width = width or len(fields)
        if width not in (2, 3, 4) or len(fields) != width:
            found = pluralize(len(fields), "column")
            expected = f"the first line has {width}" if numbers else _FORMATS
            raise InputError.at(file, found, expected, line=number)
        numbers.append(number)
        cells += fields
    columns = [cells[i::width] for i in range(width)]
    unnamed = [""] * len(numbers)
    if width == 2:
        runs, topics, measures = unnamed, [SUMMARY] * len(numbers), columns[0]
    else:
        runs = columns[0] if width == 4 else unnamed
        first, second = columns[-3:-1]
        topics_first = _are_topics_first(first[:_HEAD], second[:_HEAD], width, file)
        topics, measures = (first, second) if topics_first else (second, first)
    return collect_scores(ScoreCells.of(file, (runs, topics, measures, columns[-1]), numbers))


def _are_topics_first(first: Sequence[str], second: Sequence[str], width: int, file: str) -> bool:
    """Check whether topics precede measures in two columns of lines.

    In this order the evidence is known names of measures, the topic ``all``, and that there are
    fewer measures than topics.  Three columns are trec_eval's if there is none.  Four are
    ``run topic measure value``, or ``run measure topic value`` of TREC Auto-Judge.

    Raises
    ------
    InputError
        If four columns may be either.
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
            "separate the columns by tabs and name them in a first line",
        )
    return has_fewer


def _count_measures(names: Iterable[str]) -> int:
    """Return how many of some names are those of measures."""
    return sum(n for name, n in Counter(names).items() if _is_name_of_measure(name))
