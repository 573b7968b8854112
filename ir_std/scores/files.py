"""Scores in files, of any kind that other programs write: the content shows which."""

from __future__ import annotations

import json
import os
from typing import IO, Any, TypeAlias

from ir_std.errors import InputError, UsageError
from ir_std.measures.names import find_measure
from ir_std.reading import FileSource, Source, read_pieces, source_of
from ir_std.scores.collect import collect_scores
from ir_std.scores.lines import KINDS, is_content, is_score_line, json_entries, line_entries
from ir_std.scores.mteb import is_mteb_result, read_mteb_result
from ir_std.scores.run_scores import RunScores
from ir_std.scores.tables import is_header, parse_rows, table_entries

File: TypeAlias = str | os.PathLike[str] | IO[Any] | Source
"""A path, an open file, or a source."""
JSON_STARTS = ("{", "[")


def read_scores(file: File, measure: str | None = None) -> dict[str, RunScores]:
    """Read scores that another program computed.

    Parameters
    ----------
    file : str, path, open file or Source
        Output of ``trec_eval -q`` or of ``ir_measures -q`` (or ``ir_std -q``), as text or JSON
        lines; a table, its cells separated by commas, tabs or semicolons, with columns run,
        topic, measure and value, or with a row for each topic and a column for each run or
        measure; or a result of MTEB (JSON).  ``.gz`` is unpacked.
    measure : str, optional
        The measure of a table with a column a run.

    Returns
    -------
    dict of str to RunScores
        By run.

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
    source = source_of(file)
    if measure is not None and find_measure(measure) is None:
        raise UsageError(f"--measure {measure!r} is no measure: write it as AP, map or nDCG@10")
    text = read_text(source)
    read = _parse_json if text.lstrip()[:1] in JSON_STARTS else _parse_text
    file_name = source.path.name if isinstance(source, FileSource) else source.name
    return {run or file_name: scores for run, scores in read(text, source, measure).items()}


def is_score_file(source: Source) -> bool:
    """Whether a file holds scores, by its first line, and not a run or qrels.

    Raises
    ------
    InputError
        If it cannot be read.
    """
    if source.first_line is None:
        return False
    line = source.first_line[1].decode(errors="replace").strip()
    return line[:1] in JSON_STARTS or is_header(line) or is_score_line(line)


def read_text(source: Source) -> str:
    """The content of a file.

    Raises
    ------
    InputError
        If it cannot be read, or is not UTF-8.
    """
    try:
        return b"".join(read_pieces(source)).decode("utf-8-sig")
    except UnicodeDecodeError as wrong:
        line = wrong.object[: wrong.start].count(b"\n") + 1
        raise InputError.at(
            source.name,
            line,
            f"byte 0x{wrong.object[wrong.start]:02x} is not UTF-8",
            "save the file as UTF-8",
        ) from None


def _parse_text(text: str, source: Source, measure: str | None) -> dict[str, RunScores]:
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if is_content(line)]
    if not lines:
        raise InputError.at(source.name, None, "no lines", f"expected is {KINDS}")
    if is_header(lines[0][1]):
        entries = table_entries(parse_rows(text, source.name), measure)
    else:
        entries = line_entries(lines, source.name)
    return collect_scores(entries, source.name)


def _parse_json(text: str, source: Source, _: str | None) -> dict[str, RunScores]:
    """MTEB's result of one task, or lines of ``ir_measures -o jsonl``."""
    file = source.name
    try:
        content = json.loads(text, parse_float=str, parse_int=str)
    except json.JSONDecodeError as broken:
        if text.count("\n") and _first_is_object(text):
            return collect_scores(json_entries(text, file), file)
        raise InputError.at(
            file, broken.lineno, f"no JSON ({broken.msg})", "a result of MTEB is one JSON object"
        ) from None
    except RecursionError:
        raise InputError.at(
            file, None, "nested too deeply", "a result of MTEB is one JSON object"
        ) from None
    if isinstance(content, dict) and "measure" in content:
        return collect_scores(json_entries(text, file), file)
    if not is_mteb_result(content):
        raise InputError.at(
            file, None, "no task_name with scores", "a result of MTEB has both, by split"
        )
    return read_mteb_result(content, source)


def _first_is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text.lstrip().split("\n", 1)[0]), dict)
    except json.JSONDecodeError:
        return False
