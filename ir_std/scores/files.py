"""Scores of any kind that other programs write, in files and in memory: the content shows which."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import chain
from typing import IO, Any, TypeAlias

from ir_std.errors import InputError, UsageError, did_you_mean
from ir_std.measures import suggest_measures
from ir_std.measures.names import find_measure
from ir_std.reading import Source, read_pieces, source_of, too_large
from ir_std.scores.collect import collect_scores
from ir_std.scores.dicts import dict_entries, is_by_measure
from ir_std.scores.forms import is_header, names_rows, table_scores
from ir_std.scores.lines import KINDS, is_score_line, line_entries, text_lines
from ir_std.scores.mteb import is_mteb_result, read_mteb_result
from ir_std.scores.run_scores import COARSE, RunScores
from ir_std.scores.tables import (
    TableRows,
    parse_rows,
    rows_of_frame,
    rows_of_records,
    split_header,
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
        The measure of what names none.

    Returns
    -------
    dict of str to RunScores
        By run.  Names that ir_measures does not know are measures as they stand, see
        :class:`ir_std.ExternalMeasure`.

    Raises
    ------
    InputError
        Naming file and line of what cannot be used: a value that is no number or beyond what its
        measure can be, a topic that comes twice, a mean that is not that of the topics.
    UsageError
        If ``measure`` is none, or is needed and not given.

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
        read = collect_scores(dict_entries(scores, measure), "scores")
        return _of_numbers({run or "scores": of_run for run, of_run in read.items()})
    return read_table(table_of(scores), measure)


def check_name_of_measure(name: str) -> None:
    """Check that a name is a measure's: known, in quotes, or like none that is known."""
    if not isinstance(name, str):
        raise UsageError(f"expected the name of a measure, got {name!r}")
    if find_measure(name) is not None:
        return
    near = suggest_measures(name)
    if near or not name.strip():
        raise UsageError(
            f"{name!r} is no measure, and only in quotes of its own a name is taken as it stands"
            f"{did_you_mean(near)}"
        )


def table_of(scores: Any) -> TableRows:
    """A DataFrame, or a list of records or metrics, as a table."""
    if is_frame(scores):
        return rows_of_frame(scores, "scores")
    if isinstance(scores, Iterable) and not isinstance(scores, (bytes, bytearray)):
        records = [row._asdict() if hasattr(row, "_asdict") else row for row in scores]
        if all(isinstance(record, Mapping) for record in records):
            return rows_of_records([*enumerate(records, 1)], "scores", True)
    raise InputError.at(
        "scores",
        f"cannot use {type(scores).__name__}",
        "give a file, a dict, a DataFrame (call collect() on a lazy one), or a list of records",
    )


def holds_scores(given: Any) -> bool:
    """Whether a DataFrame, list or dict holds scores, and not a run's documents."""
    if is_frame(given):
        names = {str(name).lower() for name in column_names(given)}
        return not names & {"doc_id", "docno", "docid"}
    if isinstance(given, Mapping):
        return is_by_measure(given)
    first = given[0] if isinstance(given, (list, tuple)) and given else None
    if isinstance(first, Mapping):
        return "measure" in first
    return hasattr(first, "measure") and hasattr(first, "value")


def read_table(table: TableRows, measure: str | None = None) -> dict[str, RunScores]:
    """The scores of a table; parameters and errors as for :func:`read_scores`."""
    held = table_scores(table, measure)
    read = collect_scores(held.entries, table.file, held.unit, held.texts)
    named = {run or table.file: scores for run, scores in read.items()}
    return _of_numbers(named) if table.of_numbers else named


def _of_numbers(read: dict[str, RunScores]) -> dict[str, RunScores]:
    """Scores of numbers, whose decimals do not show how they were rounded if they are few."""
    return {
        name: scores if scores.step < COARSE else replace(scores, step=0.0)
        for name, scores in read.items()
    }


def _read_file(source: Source, measure: str | None) -> dict[str, RunScores]:
    file_name = source.path.name if source.path else source.name
    text = read_text(source)
    parse = _parse_json if text.lstrip()[:1] in JSON_STARTS else _parse_text
    read = parse(text, source, measure)
    if len(read) > MAX_PACKED_RUNS and source.is_small_and_packed:
        raise InputError.at(
            source.name, f"has more than {MAX_PACKED_RUNS:,} runs", "unpack it to a file"
        )
    return {file_name if run in ("", source.name) else run: scores for run, scores in read.items()}


def header_of(source: Source) -> list[str]:
    """The names of the columns of a file that is a table with a header; none of others."""
    line = source.first_line[1].decode(errors="replace") if source.first_line else ""
    line = line.strip("\ufeff\r\n ")
    return split_header(line) if is_header(line) else []


def is_score_file(source: Source) -> bool:
    """Whether a file holds scores, by its first line, and not a run or qrels."""
    if source.first_line is None:
        return False
    line = source.first_line[1].decode(errors="replace").strip("\ufeff\r\n ")
    return line.startswith(JSON_STARTS) or is_header(line) or is_score_line(line)


def read_text(source: Source) -> str:
    """The content of a file.

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
        raise InputError.at(
            source.name,
            f"byte 0x{wrong.object[wrong.start]:02x} is not UTF-8",
            "save the file as UTF-8",
            line=line,
        ) from None


def _parse_text(text: str, source: Source, measure: str | None) -> dict[str, RunScores]:
    lines = text_lines(text)
    head = next(lines, None)
    if head is None:
        raise InputError.at(source.name, "no lines", f"expected is {KINDS}")
    first = head[1].lstrip()
    if is_header(first.rstrip("\r")):
        return read_table(parse_rows(text, source.name), measure)
    return collect_scores(line_entries(chain([head], lines), source.name), source.name)


def _parse_json(text: str, source: Source, measure: str | None) -> dict[str, RunScores]:
    """MTEB's result of one task, records (a list, or lines of ``-o jsonl``), or a dict."""
    file = source.name
    try:
        content = json.loads(text, parse_float=str, parse_int=str, parse_constant=str)
    except json.JSONDecodeError as broken:
        if text.count("\n") and _first_is_object(text):
            return _of_records(_json_lines(text), file, measure)
        raise InputError.at(
            file,
            f"no JSON ({broken.msg})",
            "a result of MTEB is one JSON object",
            line=broken.lineno,
        ) from None
    except RecursionError:
        raise InputError.at(
            file, "nested too deeply", "a result of MTEB is one JSON object"
        ) from None
    if isinstance(content, list) and content:
        return _of_records([(None, record) for record in content], file, measure)
    if is_mteb_result(content):
        return read_mteb_result(content, source)
    if isinstance(content, dict) and names_rows([*content]):
        return _of_records([(1, content)], file, measure)
    if isinstance(content, dict) and any(isinstance(each, dict) for each in content.values()):
        return collect_scores(dict_entries(content, measure), file)
    raise InputError.at(
        file,
        "neither a result of MTEB (task_name with scores by split) nor a table",
        "give records with the columns of a table of scores, or scores by topic and measure",
    )


def _of_records(
    records: list[tuple[int | None, Any]], file: str, measure: str | None
) -> dict[str, RunScores]:
    return read_table(rows_of_records(records, file), measure)


def _json_lines(text: str) -> list[tuple[int | None, Any]]:
    """The objects of JSON lines, with the lines' numbers; None for what is no JSON."""
    records: list[tuple[int | None, Any]] = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                record = json.loads(line, parse_float=str, parse_int=str, parse_constant=str)
            except (json.JSONDecodeError, RecursionError):
                record = None
            records.append((number, record))
    return records


def _first_is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text.lstrip().split("\n", 1)[0]), dict)
    except json.JSONDecodeError:
        return False
