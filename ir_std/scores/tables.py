"""Tables with a header: from text (commas, tabs, Markdown, LaTeX, aligned), in memory, Excel."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from io import BytesIO, TextIOWrapper
from itertools import islice, pairwise, takewhile
from typing import Any, NamedTuple, TypeAlias

from ir_std._system.text import LATEX
from ir_std.errors import InputError, MissingLibraryError, abbreviate, counted
from ir_std.trec.frames import as_frame, column_values, is_pandas

EXCEL = (".xlsx", ".xlsm")
"""How the names of Excel's files end."""
_LABELS = ("rank", "run", "topic", "system", "collection", "topics")
"""The columns of ir_std's aligned text in which no mark follows."""
_ALIGNED = re.compile(rf"\s*(?:{'|'.join(_LABELS)})  +\S[^\t]*")
"""How aligned text begins."""


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
    """The cells of a table's first line, in whatever form of text."""
    if line.lstrip().startswith("|"):
        return _markdown_cells(line)
    if _ALIGNED.fullmatch(line):
        return re.split("  +", line.strip())
    try:
        cells = next(csv.reader([line], delimiter=delimiter_of(line)))
    except csv.Error:
        return []
    return [cell.strip() for cell in cells]


def parse_rows(text: str, file: str) -> TableRows:
    """Parse a table whose cells are separated by commas, tabs or semicolons.

    Or one of Markdown or LaTeX, or ir_std's aligned text.  Blank lines and those that start with
    ``#`` are skipped, and so is what stands around a table of the other forms.

    Raises
    ------
    InputError
        Naming file and line: no header; and while the rows are gone through, quotes that do not
        match, a row with more or fewer cells than the header.
    """
    start = text.lstrip()[:1]
    parse = {"|": _markdown_rows, "%": _latex_rows, "\\": _latex_rows}.get(start, _delimited_rows)
    if _ALIGNED.match(text.lstrip().split("\n", 1)[0]):
        parse = _aligned_rows
    header_line, header = next(parse(text, file), (None, [""]))
    if header_line is None:
        raise InputError.at(file, "no lines", "a table with a header is expected")

    def rows() -> Iterator[Row]:
        for line, row in islice(parse(text, file), 1, None):
            if len(row) != len(header):
                first = text.lstrip().split("\n", 1)[0]
                commas = parse is _delimited_rows and delimiter_of(first) == ","
                more = commas and len(row) > len(header)
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
                yield reader.line_num, [*map(_without_guard, cells)] if may_be_guarded else cells
    except csv.Error as broken:
        raise InputError.at(
            file,
            f"no table ({broken})",
            "quote cells that hold the delimiter",
            line=reader.line_num,
        ) from None


def _without_guard(cell: str) -> str:
    """A cell without the quote that keeps spreadsheets from taking it for a formula."""
    guarded = cell[:1] == "'" and re.match("'+[=+@\uff1d\uff0b\uff0d\uff20-].", cell)
    return cell[1:] if guarded else cell


def _markdown_rows(text: str, _: str) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(text.split("\n"), 1):
        cells = _markdown_cells(line) if line.lstrip().startswith("|") else []
        if cells and not all(re.fullmatch(":?-+:?", cell) for cell in cells):
            yield number, cells


def _markdown_cells(line: str) -> list[str]:
    inside = re.sub(r"^\s*\||(?<!\\)\|\s*$", "", line)
    return [_markdown_text(cell.strip()) for cell in re.split(r"(?<!\\)\|", inside)]


def _markdown_text(cell: str) -> str:
    marked = re.fullmatch(r"\*\*(.*)\*\*(?: [+-])?|(.+) [+-]", cell)
    text = cell if marked is None else marked[1] if marked[1] is not None else marked[2]
    return _value(re.sub(r"\\([\\|*_`<\[&~$])", r"\1", text))


def _latex_rows(text: str, _: str) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(text.split("\n"), 1):
        if re.search(r"(?<!\\)(?:\\\\)+\s*$", line) and "&" in line:
            row = re.sub(r"\\\\\s*$", "", line)
            yield number, [_latex_text(cell.strip()) for cell in re.split(r"(?<!\\)&", row)]


def _latex_text(cell: str) -> str:
    cell = re.sub(r"\$\^\{[+-]\}\$$", "", cell)
    bold = re.fullmatch(r"\\textbf\{(.*)\}", cell)
    text = bold[1] if bold else cell
    for meant, written in LATEX.items():
        text = text.replace(written, "\0" if meant == "\\" else meant)
    return _value(text.replace("\0", "\\"))


def _aligned_rows(text: str, file: str) -> Iterator[tuple[int, list[str]]]:
    """Aligned columns below a rule; where they are folded, further blocks repeat the labels."""
    numbers: list[int] = []
    columns: list[list[str]] = []
    for block in _aligned_blocks(text.replace("\r", "").split("\n")):
        if numbers and len(block) != len(numbers):
            raise InputError.at(
                file,
                counted(len(block), "row"),
                f"the block above has {len(numbers)}",
                line=min(block),
            )
        numbers = numbers or [*block]
        columns += [c for c in _aligned_columns([*block.values()]) if c not in columns]
    yield from ((number, [*row]) for number, *row in zip(numbers, *columns, strict=True))


def _aligned_blocks(lines: list[str]) -> Iterator[dict[int, str]]:
    """The lines of each block by their numbers: a header above a rule, and rows up to a blank."""
    for header, (above, rule) in enumerate(pairwise(lines), 1):
        if re.fullmatch("-{3,} *", rule):
            below = ((number, lines[number - 1]) for number in range(header + 2, len(lines) + 1))
            yield {header: above, **dict(takewhile(lambda row: row[1].strip(), below))}


def _aligned_columns(lines: list[str]) -> Iterator[list[str]]:
    """The cells of each column: two blanks or more in all lines are between columns."""
    width = max(map(len, lines))
    padded = [line.ljust(width) for line in lines]
    # A letter for each place: x where any line has something.
    places = "".join(" " if set(there) == {" "} else "x" for there in zip(*padded, strict=True))
    for column in re.finditer("x+(?: x+)*", places):
        header, *cells = (line[slice(*column.span())].strip() for line in padded)
        yield [header, *(_value(c if header in _LABELS else _unmarked(c)) for c in cells)]


def _unmarked(cell: str) -> str:
    """A number without the marks behind it."""
    return re.sub(r"^([\d.e-]+)[+-]?\*?$", r"\1", cell)


def _value(cell: str) -> str:
    """A cell of a table for people, where a dash is no value."""
    return "" if cell == "-" else cell


def rows_of_frame(given: Any, file: str) -> TableRows:
    """The rows of a DataFrame of any library; an index with a name, or of ids, is a column."""
    frame = as_frame(given)
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
    header: list[str] = []
    rows: list[tuple[int | None, list[str]]] = []
    for line, record in records:
        header = header or ([*map(str, record)] if isinstance(record, Mapping) else [])
        if not isinstance(record, Mapping) or any(key not in record for key in header[:1]):
            raise InputError.at(
                file,
                "no score",
                'a line is {"query_id": ..., "measure": ..., "value": ...}',
                line=line,
            )
        header += [str(key) for key in record if str(key) not in header]
        rows.append((line, [_cell(record.get(key, "")) for key in header]))
    width = len(header)
    return TableRows(
        file, None, header, [(n, row + [""] * (width - len(row))) for n, row in rows], of_numbers
    )


def read_excel(content: bytes, file: str) -> TableRows:
    """The rows of the first sheet of an Excel file.

    Raises
    ------
    InputError
        If it is none, or the sheet is empty.
    MissingLibraryError
        If openpyxl is not installed.
    """
    try:
        from openpyxl import load_workbook
    except ImportError:
        raise MissingLibraryError.of("an Excel file", "openpyxl") from None
    import zipfile

    try:
        book = load_workbook(BytesIO(content), read_only=True, data_only=True)
        cells = [[*map(_cell, row)] for row in book.worksheets[0].iter_rows(values_only=True)]
    except (zipfile.BadZipFile, KeyError, ValueError, IndexError, OSError, SyntaxError) as broken:
        raise InputError.at(
            file, f"no Excel file ({broken})", "save it as .xlsx, or as CSV"
        ) from None
    rows = [(number, row) for number, row in enumerate(cells, 1) if any(row)]
    if not rows:
        raise InputError.at(file, "no rows", "a table with a header is expected")
    width = max(place for place, name in enumerate(rows[0][1], 1) if name)
    (line, header), *others = [(n, (row + [""] * width)[:width]) for n, row in rows]
    return TableRows(file, line, header, [*others], True)


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
