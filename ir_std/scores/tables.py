"""Tables of scores with a header: long ones, and wide ones with a column a run or a measure."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator
from io import StringIO
from typing import NamedTuple

from ir_std.errors import InputError, UsageError, abbreviate
from ir_std.measures.names import find_measure
from ir_std.scores.collect import ScoreEntry

TOPIC_COLUMNS = (
    "topic",
    "topic_id",
    "query_id",
    "qid",
    "query",
    "q_id",
    "dataset",
    "data set",
    "task",
    "task_name",
)
RUN_COLUMNS = (
    "run",
    "run_id",
    "runid",
    "run_name",
    "system",
    "model",
    "model_name",
    "name",
    "tag",
)
MEASURE_COLUMNS = ("measure", "metric", "measure_name")
VALUE_COLUMNS = ("value", "score")
"""What the columns of long tables are usually called."""


class TableRows(NamedTuple):
    """A table with a header; all rows have as many cells.

    Attributes
    ----------
    file : str
        What messages call it.
    header_line : int
    header : list of str
    rows : list of (int, list of str)
        Line numbers and cells.
    """

    file: str
    header_line: int
    header: list[str]
    rows: list[tuple[int, list[str]]]

    def column(self, names: tuple[str, ...]) -> int:
        """The place of the column that has the first of these names.

        Raises
        ------
        InputError
            If there is none.
        """
        headings = [heading.lower() for heading in self.header]
        place = next((headings.index(name) for name in names if name in headings), None)
        if place is None:
            raise InputError.at(
                self.file,
                self.header_line,
                f"columns {', '.join(headings)}",
                f"one called {' or '.join(names[:3])} is expected",
            )
        return place


def is_header(line: str) -> bool:
    """Whether a line is the header of a table of scores."""
    names = [cell.strip().strip('"').lower() for cell in line.split(_delimiter(line))]
    return len(names) > 1 and (
        names[0] in TOPIC_COLUMNS
        or (
            any(n in TOPIC_COLUMNS for n in names)
            and any(n in (*MEASURE_COLUMNS, *VALUE_COLUMNS) for n in names)
        )
    )


def _delimiter(line: str) -> str:
    return max("\t;,", key=line.count)


def parse_rows(text: str, file: str) -> TableRows:
    """Parse a table whose cells are separated by commas, tabs or semicolons.

    Blank lines and those that start with ``#`` are skipped.

    Raises
    ------
    InputError
        Naming file and line: no header, quotes that do not match, a row with more or fewer cells
        than the header.
    """
    delimiter = _delimiter(text.lstrip().split("\n", 1)[0])
    reader = csv.reader(StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows: list[tuple[int, list[str]]] = []
    try:
        rows.extend(
            (reader.line_num, [cell.strip() for cell in row])
            for row in reader
            if any(cell.strip() for cell in row) and not row[0].lstrip().startswith("#")
        )
    except csv.Error as broken:
        raise InputError.at(
            file, reader.line_num, f"no table ({broken})", "quote cells that hold the delimiter"
        ) from None
    if not rows:
        raise InputError.at(file, None, "no lines", "a table with a header is expected")
    header_line, header = rows[0]
    for line, row in rows[1:]:
        if len(row) != len(header):
            comma = delimiter == "," and len(row) > len(header)
            raise InputError.at(
                file,
                line,
                f"{len(row)} columns",
                f"the header has {len(header)}" + "; write decimals with a point: 0.1234" * comma,
            )
    return TableRows(file, header_line, header, rows[1:])


def table_entries(table: TableRows, measure: str | None) -> Iterator[ScoreEntry]:
    """The scores of a table, ``measure`` being that of one with a column a run.

    Raises
    ------
    InputError
        If columns are missing or repeated, or the table holds several collections.
    UsageError
        If ``measure`` is given, and the table names measures itself; or the other way round.
    """
    if any(name.lower() in MEASURE_COLUMNS for name in table.header):
        return _long(table)
    return _wide(table, measure)


def _long(table: TableRows) -> Iterator[ScoreEntry]:
    topic, measure, value = map(table.column, (TOPIC_COLUMNS, MEASURE_COLUMNS, VALUE_COLUMNS))
    run = next((i for i, name in enumerate(table.header) if name.lower() in RUN_COLUMNS), None)
    _check_one_collection(table, topic)
    for line, row in table.rows:
        name = "" if run is None else row[run]
        yield ScoreEntry(line, name, row[topic], row[measure], row[value])


def _check_one_collection(table: TableRows, topic: int) -> None:
    """A table of several collections would mix topics that have the same numbers."""
    for i, name in enumerate(table.header):
        if name.lower() in ("collection", "dataset", "data set") and i != topic:
            collections = dict.fromkeys(row[i] for _, row in table.rows)
            if len(collections) > 1:
                raise InputError.at(
                    table.file,
                    None,
                    f"{len(collections)} collections ({abbreviate(collections)})",
                    "give each collection a file of its own",
                )


def _wide(table: TableRows, measure: str | None) -> Iterator[ScoreEntry]:
    topic, header, file = table.column(TOPIC_COLUMNS), table.header, table.file
    others = [i for i in range(len(header)) if i != topic]
    repeated = [name for name, count in Counter(header).items() if count > 1]
    if repeated:
        raise InputError.at(
            file, table.header_line, f"column {repeated[0]!r} again", "one column each"
        )
    are_measures = all(find_measure(header[i]) for i in others)
    if are_measures == (measure is not None):
        raise UsageError(
            f"{file}: its columns are measures: leave out --measure"
            if are_measures
            else f"{file}: its columns are runs ({abbreviate(header[i] for i in others)}): "
            "name the measure with --measure"
        )
    for line, row in table.rows:
        for i in others:
            run, what = ("", header[i]) if are_measures else (header[i], str(measure))
            yield ScoreEntry(line, run, row[topic], what, row[i])
