"""Runs and qrels line by line: slow, plain, and able to say which line is wrong."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ir_std.errors import InputError
from ir_std.reading.ids import Ids
from ir_std.reading.lines import QRELS, RUN, LineFormat, Lines, Number
from ir_std.reading.sources import Source, content_lines


def read_lines_plainly(source: Source, line_format: LineFormat) -> Lines:
    """As :func:`ir_std.reading.lines.read_lines`, one line after the other.

    Raises
    ------
    InputError
        Naming file and line.
    """
    numbers: dict[str, int] = {}
    topic, documents, values = [], [], []
    for _, name, document, value in parse_lines(source, line_format):
        topic.append(numbers.setdefault(name, len(numbers)))
        documents.append(document)
        values.append(value)
    if not documents:
        raise no_lines(source)
    return Lines(list(numbers), np.array(topic), Ids.of(documents), np.array(values))


def find_fault(source: Source, line_format: LineFormat) -> InputError:
    """The error at the first line that is wrong, or repeats a document of its topic."""
    first: dict[tuple[str, str], int] = {}
    try:
        for number, topic, document, _ in parse_lines(source, line_format):
            if first.setdefault((topic, document), number) != number:
                return InputError.at(
                    source.name,
                    number,
                    f"topic {_shortened(topic)} has document {_shortened(document)!r} again, "
                    f"first on line {first[topic, document]}",
                    "give each document once",
                )
    except InputError as fault:
        return fault
    return no_lines(source)


def parse_lines(source: Source, line_format: LineFormat) -> Iterator[tuple[int, str, str, Number]]:
    """Number, topic, document and value of each line.

    Raises
    ------
    InputError
        If a line is not as ``line_format`` wants it, or as for :func:`split_line`.
    """
    for number, line in content_lines(source):
        fields = split_line(source, number, line)
        if len(fields) != line_format.width:
            raise InputError.at(
                source.name, number, _column_count(fields, line_format), line_format.layout
            )
        text = fields[line_format.value]
        value = line_format.number(text.encode())
        if value is None:
            column = line_format.columns[line_format.value]
            raise InputError.at(
                source.name, number, f"{column} is {_shortened(text)!r}", line_format.rule
            )
        yield number, fields[0], fields[line_format.document], value


def split_line(source: Source, number: int, line: bytes) -> list[str]:
    """The columns of a line.

    Raises
    ------
    InputError
        If it is not UTF-8 or holds control characters.
    """
    try:
        text = line.decode()
    except UnicodeDecodeError as wrong:
        raise InputError.at(
            source.name,
            number,
            f"byte 0x{line[wrong.start]:02x} is not UTF-8",
            "save the file as UTF-8",
        ) from None
    control = next((c for c in text if c < " " and c not in "\t\r"), None)
    if control is not None:
        raise InputError.at(
            source.name,
            number,
            f"control character {control!r}",
            "columns are separated by blanks or tabs",
        )
    return list(filter(None, text.replace("\t", " ").replace("\r", " ").split(" ")))


def _column_count(fields: list[str], line_format: LineFormat) -> str:
    count = f"{len(fields)} column{'s' if len(fields) != 1 else ''}"
    for other in (RUN, QRELS):
        if other is not line_format and len(fields) == other.width:
            return f"{count}, as a {other.kind} has"
    return count


def _shortened(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:60]}...{text[-10:]}"


def no_lines(source: Source) -> InputError:
    """The error that a file has no lines."""
    return InputError.at(source.name, None, "no lines", "the file is empty or holds only comments")
