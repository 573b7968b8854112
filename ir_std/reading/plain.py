"""What is wrong with a file, and on which line: read slowly, when reading fast did not pass."""

from __future__ import annotations

from collections.abc import Iterator

from ir_std.errors import InputError
from ir_std.reading.line_formats import QRELS, RUN, LineFormat
from ir_std.reading.sources import Source, lines_of

_BLANKS = b" \t\r"


def split_lines(source: Source) -> Iterator[tuple[int, list[str]]]:
    """Line numbers and fields of lines that are neither blank nor comments, one by one.

    Raises
    ------
    InputError
        If a line is not UTF-8 or holds control characters.
    """
    for number, line in enumerate(lines_of(source), 1):
        content = line.strip(_BLANKS)
        if not content or content.startswith(b"#"):
            continue
        try:
            text = content.decode()
        except UnicodeDecodeError as wrong:
            raise InputError.at(
                source.name,
                number,
                f"byte 0x{wrong.object[wrong.start]:02x} is not UTF-8",
                "save the file as UTF-8",
            ) from None
        control = next((c for c in text if c < " " and c not in "\t\r"), None)
        if control is not None:
            raise InputError.at(
                source.name,
                number,
                f"control character {control!r}",
                "columns are parted by blanks or tabs",
            )
        fields = text.replace("\t", " ").replace("\r", " ").split(" ")
        yield number, [field for field in fields if field]


def first_fault(source: Source, form: LineFormat) -> InputError:
    """The error at the first line of ``source`` that is not as ``form`` wants it."""
    seen: dict[tuple[str, str], int] = {}
    try:
        for number, fields in split_lines(source):
            if len(fields) != form.width:
                return InputError.at(source.name, number, _found_columns(fields, form), form.layout)
            value = fields[form.value]
            if not form.is_number(value.encode()):
                return InputError.at(
                    source.name,
                    number,
                    f"{form.columns[form.value]} is {_shortened(value)!r}",
                    form.rule,
                )
            key = fields[0], fields[2]
            if key in seen:
                return InputError.at(
                    source.name,
                    number,
                    f"topic {_shortened(key[0])} has "
                    f"document {_shortened(key[1])!r} again, first on line "
                    f"{seen[key]}",
                    "give each document once",
                )
            seen[key] = number
    except InputError as found:
        return found
    return no_lines(source)


def _found_columns(fields: list[str], form: LineFormat) -> str:
    found = f"{len(fields)} column{'s' if len(fields) != 1 else ''}"
    for other in (RUN, QRELS):
        if other is not form and len(fields) == other.width:
            return f"{found}, as a {other.kind} has"
    return found


def _shortened(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:60]}...{text[-10:]}"


def no_lines(source: Source) -> InputError:
    """The error that a file has no lines."""
    return InputError.at(source.name, None, "no lines", "the file is empty or holds only comments")
