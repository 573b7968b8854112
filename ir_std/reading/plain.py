"""Read runs and qrels line by line, which is slow but makes it possible to name a wrong line."""

import re
from collections.abc import Iterator

import numpy as np

from ir_std.errors import InputError, pluralize
from ir_std.reading import lines as engine
from ir_std.reading.ids import WORD, Ids, first_repeated
from ir_std.reading.sources import Source, content_lines
from ir_std.reading.unpacking import number_lines


def read_lines_plainly(source: Source, line_format: engine.LineFormat) -> engine.Lines:
    """Read lines one by one, with the same result as :func:`ir_std.reading.lines.read_lines`.

    Raises
    ------
    InputError
        If a line is wrong; the error names the file and the line.
    """
    numbers: dict[str, int] = {}
    topic, documents, values = [], [], []
    for name, document, value in parse_lines(source, line_format):
        topic.append(numbers.setdefault(name, len(numbers)))
        documents.append(document)
        values.append(value)
    if not documents:
        raise no_lines(source)
    return engine.Lines(list(numbers), np.array(topic), Ids.of(documents), np.array(values))


def find_fault(source: Source, line_format: engine.LineFormat) -> InputError:
    """Return an error for the first line that is wrong or that repeats a document of a topic."""
    content = engine.read_content(source)
    wrong, start = _first_wrong(source, content, line_format)
    content[start:-WORD] = b" " * (len(content) - WORD - start)
    return _first_repeated(source, content, line_format) or wrong or no_lines(source)


def _first_wrong(
    source: Source, content: bytearray, line_format: engine.LineFormat
) -> tuple[InputError | None, int]:
    """Return an error for the first wrong line, and the position where the line starts.

    Only the block that failed a check of the fast reader is read line by line.
    """
    try:
        engine.lines_of(source, content, line_format)
    except engine.CheckFailed as failed:
        start, end = failed.args or (0, 0)
    else:
        start = end = len(content) - WORD
    block = bytes(content[start:end])
    first = number = content.count(b"\n", 0, start) + 1
    try:
        for number, line in number_lines(block, first):
            _parse_line(source, number, line, line_format)
    except InputError as wrong:
        return wrong, end - len(block.split(b"\n", number - first)[-1])
    return None, end


def _first_repeated(
    source: Source, content: bytearray, line_format: engine.LineFormat
) -> InputError | None:
    """Return an error for the first line that repeats a document, if all lines are valid."""
    try:
        lines = engine.lines_of(source, content, line_format)
    except engine.CheckFailed:  # there are no lines
        return None
    if (places := first_repeated(lines.ids, lines.ids.hashes(), lines.topic)) is None:
        return None
    row = places[0]
    again, first = (content.count(b"\n", 0, int(lines.ids.starts[place])) + 1 for place in places)
    (document,) = lines.ids[row : row + 1].strings()
    return InputError.at(
        source.name,
        f"topic {_shortened(lines.topics[lines.topic[row]])} repeats document "
        f"{_shortened(document)!r} of line {first}",
        "give each document once",
        line=again,
    )


def parse_lines(
    source: Source, line_format: engine.LineFormat
) -> Iterator[tuple[str, str, engine.Number]]:
    """Yield topic, document and value of each line."""
    for number, line in content_lines(source):
        yield _parse_line(source, number, line, line_format)


def _parse_line(
    source: Source, number: int, line: bytes, line_format: engine.LineFormat
) -> tuple[str, str, engine.Number]:
    fields = split_line(source, number, line)
    if len(fields) != line_format.width:
        raise InputError.at(
            source.name, _column_count(fields, line_format), line_format.layout, line=number
        )
    text = fields[line_format.value]
    value = line_format.number(text.encode())
    if value is None:
        column = line_format.columns[line_format.value]
        raise InputError.at(
            source.name, f"{column} is {_shortened(text)!r}", line_format.rule, line=number
        )
    return fields[0], fields[line_format.document], value


def split_line(source: Source, number: int, line: bytes) -> list[str]:
    """Return the columns of a line, which must be UTF-8 without control characters."""
    try:
        text = line.decode()
    except UnicodeDecodeError as wrong:
        raise InputError.at(
            source.name,
            f"byte 0x{line[wrong.start]:02x} is not UTF-8",
            "save the file as UTF-8",
            line=number,
        ) from None
    if control := re.search(r"[\x00-\x08\n-\x0c\x0e-\x1f]", text):
        raise InputError.at(
            source.name,
            f"control character {control[0]!r}",
            "columns are separated by blanks or tabs",
            line=number,
        )
    return list(filter(None, text.replace("\t", " ").replace("\r", " ").split(" ")))


def _column_count(fields: list[str], line_format: engine.LineFormat) -> str:
    count = pluralize(len(fields), "column")
    for other in (engine.RUN, engine.QRELS):
        if other is not line_format and len(fields) == other.width:
            return f"{count}, like a {other.kind}"
    return count


def _shortened(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:60]}...{text[-10:]}"


def no_lines(source: Source) -> InputError:
    """Return an error for a file without lines."""
    return InputError.at(source.name, "no lines", "the file is empty or holds only comments")
