"""Tables with a header, from delimited text and in memory."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from io import BytesIO, TextIOWrapper
from itertools import islice
from typing import Any, NamedTuple, TypeAlias

from ir_std._system.text import unguard_cell
from ir_std.errors import InputError, abbreviate, counted
from ir_std.trec.frames import column_values, is_pandas

Row: TypeAlias = tuple[int | None, list[str]]
"""The number of a line, and its cells."""


class ParsedRows:
    """Rows that are parsed each time that they are gone through.

    In memory those of short lines take thirty times their text.
    """

    def __init__(self, parse: Callable[[], Iterator[Row]]) -> None:
        self._parse = parse

    def __iter__(self) -> Iterator[Row]:
        return self._parse()


class TableRows(NamedTuple):
    """A table with a header; all rows have as many cells.

    Attributes
    ----------
    file : str
        What messages call it.
    header_line : int or None
        None where there are no lines, as in a DataFrame.
    header : list of str
    rows : iterable of (int or None, list of str)
        Line numbers and cells, from the first each time.
    of_numbers : bool
        Whether cells were numbers, whose decimals do not show how they were rounded.
    """

    file: str
    header_line: int | None
    header: list[str]
    rows: Iterable[Row]
    of_numbers: bool = False


def delimiter_of(line: str) -> str:
    """What separates the cells of a line: a tab, a semicolon or a comma."""
    return max("\t;,", key=line.count)


def split_header(line: str) -> list[str]:
    """Return the cells of a table's first line."""
    try:
        cells = next(csv.reader([line], delimiter=delimiter_of(line)))
    except csv.Error:
        return []
    return [cell.strip() for cell in cells]


def parse_rows(text: str, file: str) -> TableRows:
    """Parse a table whose cells are separated by commas, tabs or semicolons.

    Blank lines and those that start with ``#`` are skipped.

    Raises
    ------
    InputError
        Naming file and line: no header; and while the rows are gone through, quotes that do not
        match, a row with more or fewer cells than the header.
    """
    header_line, header = next(_delimited_rows(text, file), (None, [""]))
    if header_line is None:
        raise InputError.at(file, "no lines", "a table with a header is expected")

    def rows() -> Iterator[Row]:
        for line, row in islice(_delimited_rows(text, file), 1, None):
            if len(row) != len(header):
                first = text.lstrip().split("\n", 1)[0]
                more = delimiter_of(first) == "," and len(row) > len(header)
                advice = "; write decimals with a point: 0.1234" * more
                raise InputError.at(
                    file,
                    counted(len(row), "column"),
                    f"the header has {len(header)}{advice}",
                    line=line,
                )
            yield line, row

    return TableRows(file, header_line, header, ParsedRows(rows))


def _delimited_rows(text: str, file: str) -> Iterator[tuple[int, list[str]]]:
    delimiter = delimiter_of(text.lstrip().split("\n", 1)[0])
    # A StringIO takes four bytes a character.
    content = BytesIO(text.encode(errors="surrogatepass"))
    lines = TextIOWrapper(content, "utf-8", "surrogatepass", newline="")
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    may_be_guarded = "'" in text
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if any(cells) and not cells[0].startswith("#"):
                yield reader.line_num, [*map(unguard_cell, cells)] if may_be_guarded else cells
    except csv.Error as broken:
        raise InputError.at(
            file,
            f"no table ({broken})",
            "quote cells that hold the delimiter",
            line=reader.line_num,
        ) from None


def rows_of_frame(frame: Any, file: str) -> TableRows:
    """Return the rows of a DataFrame; an index with a name, or of ids, is a column."""
    if is_pandas(frame) and (
        any(level is not None for level in frame.index.names) or frame.index.dtype.kind not in "iu"
    ):
        frame = frame.reset_index()
    columns = [column_values(frame, column) for column in frame.columns]
    header = [_cell(column) for column in frame.columns]
    rows: list[tuple[int | None, list[str]]] = [
        (None, [*map(_cell, row)]) for row in zip(*columns, strict=True)
    ]
    return TableRows(file, None, header, rows, True)


def rows_of_records(
    records: Sequence[tuple[int | None, Any]], file: str, of_numbers: bool = False
) -> TableRows:
    """The rows of records, each a mapping with the same keys, with their line numbers.

    Raises
    ------
    InputError
        Naming the line of one that is none, or lacks a key of the first.
    """
    header: dict[str, None] = {}
    rows: list[tuple[int | None, list[str]]] = []
    for line, record in records:
        if not isinstance(record, Mapping) or any(key not in record for key in islice(header, 1)):
            raise InputError.at(
                file,
                "no score",
                'a line is {"query_id": ..., "measure": ..., "value": ...}',
                line=line,
            )
        header.update(dict.fromkeys(map(str, record)))
        rows.append((line, [_cell(record.get(key, "")) for key in header]))
    width = len(header)
    return TableRows(
        file,
        None,
        [*header],
        [(n, row + [""] * (width - len(row))) for n, row in rows],
        of_numbers,
    )


def _cell(value: Any) -> str:
    """A value as text; empty where there is none; a whole number in a column of floats whole."""
    if value is None or value != value:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip()


def columns_text(table: TableRows) -> str:
    """What a message says of a table's columns."""
    return f"columns {abbreviate(table.header, 8) or 'without names'}"
