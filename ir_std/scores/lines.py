"""Scores in lines: the output of ``trec_eval -q``, and of ``ir_measures -q`` as text or JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator

from ir_std.errors import InputError
from ir_std.measures.names import find_measure
from ir_std.scores.collect import ScoreEntry
from ir_std.scores.run_scores import SUMMARY

KINDS = (
    "trec_eval -q (measure topic value), ir_measures -q (topic measure value), a table with "
    "a header (topic,run,run,... or run,topic,measure,value) or MTEB's JSON"
)
"""What a message says of the files that hold scores."""


def is_content(line: str) -> bool:
    """Whether a line is neither blank nor a comment."""
    return bool(line.strip()) and not line.lstrip().startswith("#")


def is_score_line(line: str) -> bool:
    """Whether a line is one of scores, and not of a run or qrels: a level has no point."""
    fields = line.split()
    return len(fields) in (2, 3) or (
        len(fields) == 4
        and re.fullmatch(r"\d*\.\d+(?:[eE]-?\d+)?|nan", fields[3]) is not None
        and find_measure(fields[2]) is not None
    )


def line_entries(lines: Iterable[tuple[int, str]], file: str) -> Iterator[ScoreEntry]:
    """``measure topic value`` of trec_eval, ``[run] topic measure value`` of ir_measures.

    Parameters
    ----------
    lines : iterable of (int, str)
        Numbers and texts of the lines.
    file : str
        What messages call it.

    Raises
    ------
    InputError
        Naming file and line, if it has other columns than the first.
    """
    split = [(number, line.split()) for number, line in lines]
    first, width = split[0][0], len(split[0][1])
    if width == 2 and find_measure(split[0][1][0]):
        raise InputError.at(file, first, "means alone", "list the topics with -q")
    if width not in (3, 4):
        raise InputError.at(file, first, f"{width} columns", f"expected is {KINDS}")
    measure_first = width == 3 and _measures_in(split, 0) >= _measures_in(split, 1)
    for number, fields in split:
        if len(fields) != width:
            raise InputError.at(
                file, number, f"{len(fields)} columns", f"the first line has {width}"
            )
        run, (a, b, value) = ("" if width == 3 else fields[0]), fields[-3:]
        topic, measure = (b, a) if measure_first else (a, b)
        yield ScoreEntry(number, run, topic, measure, value)


def _measures_in(split: Iterable[tuple[int, list[str]]], column: int) -> int:
    return sum(len(fields) == 3 and find_measure(fields[column]) is not None for _, fields in split)


def json_entries(text: str, file: str) -> Iterator[ScoreEntry]:
    """Lines of ``ir_measures -o jsonl``.

    Raises
    ------
    InputError
        Naming file and line, if it holds no score.
    """
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line, parse_float=str, parse_int=str)
            run, topic, measure = (row.get("run", ""), row.get("query_id", SUMMARY), row["measure"])
            value = row["value"]
        except (json.JSONDecodeError, RecursionError, AttributeError, KeyError):
            raise InputError.at(
                file,
                number,
                "no score",
                'a line is {"query_id": ..., "measure": ..., "value": ...}',
            ) from None
        yield ScoreEntry(number, str(run), str(topic), str(measure), str(value))
