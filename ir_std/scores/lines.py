"""Scores in lines: the output of ``trec_eval -q``, and of ``ir_measures -q`` as text or JSON."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain, count, islice

from ir_std.errors import InputError, counted
from ir_std.measures.names import find_measure
from ir_std.scores.collect import ScoreEntry, is_no_score
from ir_std.scores.run_scores import SUMMARY

KINDS = (
    "trec_eval -q (measure topic value), ir_measures -q (topic measure value), a table with "
    "a header (columns run, topic, measure and value; or run, topic and a column a measure; or "
    "topic and a column a run) or MTEB's JSON"
)
"""What a message says of the files that hold scores."""
_DECIMAL = r"-?(?:\d*\.\d+|\d+(?=e))(?:[eE][-+]?\d+)?|nan"
_NUMBER = _DECIMAL + r"|-?\d+"
_PLACE = re.compile(
    r"(?:would have been )?\d+(?:st|nd|rd|th)\b.* of \d+|not placed, |(?:between|below|above) "
)
"""What ``--place`` adds behind a value."""
_HEAD = 10_000
"""Lines by which the columns are told apart."""


def text_lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines that are neither blank nor comments, and their numbers.

    One at a time: as a list, short ones take ten times their text.
    """
    start = 0
    for number in count(1):
        end = text.find("\n", start)
        line = text[start:] if end < 0 else text[start:end]
        if not line.isspace() and line and not line.lstrip().startswith("#"):
            yield number, line
        if end < 0:
            return
        start = end + 1


def is_score_line(line: str) -> bool:
    """Whether a line is one of scores, and not of a run or qrels: a level has no point."""
    fields = _fields(line)
    if len(fields) == 4 and not _is_iteration(fields[1]) and re.fullmatch(_NUMBER, fields[3]):
        return True
    if len(fields) == 4 and re.fullmatch(_DECIMAL, fields[3]):
        return "\t" in line or find_measure(fields[2]) is not None
    return len(fields) in (2, 3) and not is_ranked(fields)


def _is_iteration(text: str) -> bool:
    """Check whether a text may be in the second column of qrels, which no measure's name may."""
    named = text.lower() in ("q0", "iter", "iteration")
    return named or re.match("[A-Za-z]{2}", text) is None


def is_ranked(fields: list[str]) -> bool:
    """Whether three columns are topic, document and rank, as in runs of MS MARCO."""
    return (
        len(fields) == 3
        and re.fullmatch("[1-9][0-9]*", fields[2]) is not None
        and not any(map(_is_measure, fields[:2]))
        and "all" not in fields
    )


def _is_measure(name: str) -> bool:
    return find_measure(name) is not None or is_no_score(name)


def _fields(line: str) -> list[str]:
    """The columns of a line, which tabs separate if there are any."""
    if "\t" in line.strip():
        fields = [field.strip() for field in line.strip("\r\n").split("\t")]
        while len(fields) > 2 and _PLACE.match(fields[-1]):
            fields.pop()
        return fields
    return line.split()


def line_entries(lines: Iterable[tuple[int, str]], file: str) -> Iterator[ScoreEntry]:
    """``measure topic value`` of trec_eval, ``[run] topic measure value`` of ir_measures.

    Two columns, a measure and its mean, are means alone.

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
    split = ((number, _fields(line)) for number, line in lines)
    head = list(islice(split, _HEAD))
    first, width = head[0][0], len(head[0][1])
    if width not in (2, 3, 4):
        raise InputError.at(file, counted(width, "column"), f"expected is {KINDS}", line=first)
    topics_first = width != 2 and _are_topics_first(head, width, file)
    for number, fields in chain(head, split):
        if len(fields) != width:
            raise InputError.at(
                file,
                counted(len(fields), "column"),
                f"the first line has {width}",
                line=number,
            )
        if width == 2:
            yield ScoreEntry(number, "", SUMMARY, fields[0], fields[1])
            continue
        run, (a, b, value) = ("" if width == 3 else fields[0]), fields[-3:]
        topic, measure = (a, b) if topics_first else (b, a)
        yield ScoreEntry(number, run, topic, measure, value)


def _are_topics_first(head: list[tuple[int, list[str]]], width: int, file: str) -> bool:
    """Check whether topics stand before measures in the last three columns of lines.

    In this order the evidence is known names of measures, the topic ``all``, and that there are
    fewer measures than topics.  Three columns are trec_eval's if there is none.  Four are
    ``run topic measure value``, or ``run measure topic value`` of TREC Auto-Judge.

    Raises
    ------
    InputError
        If four columns may be either.
    """
    names = [
        [fields[i] for _, fields in head if len(fields) == width] for i in (width - 3, width - 2)
    ]
    known = [sum(map(_is_measure, column)) for column in names]
    if known[0] != known[1]:
        return known[1] > known[0]
    is_topic = [SUMMARY in column for column in names]
    if is_topic[0] != is_topic[1]:
        return is_topic[0]
    has_fewer = len({*names[1]} - {SUMMARY}) < len({*names[0]} - {SUMMARY})
    if width == 4 and not has_fewer:
        raise InputError.at(
            file,
            "cannot tell whether the columns are run topic measure value or run measure topic "
            "value",
            "separate the columns by tabs and name them in a first line",
        )
    return has_fewer
