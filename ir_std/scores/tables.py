"""Read tables of scores with a header, from text and from memory."""

import csv
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ir_std._system.text import unguard_cell
from ir_std.errors import InputError, UsageError, abbreviate, pluralize
from ir_std.measures.names import find_measure
from ir_std.reading import Ids
from ir_std.scores.collect import Names, ScoreCells
from ir_std.scores.mteb import find_dataset
from ir_std.scores.run_scores import ALL_COLLECTIONS, SUMMARY
from ir_std.trec.frames import column_values, is_pandas

QUESTIONS = ("question", "user_input")
"""Names that RAGAS and similar tools give to the column of questions."""
ROLES = {
    "topic": ("topic", "topic_id", "query_id", "qid", "query", "q_id", "question_id", *QUESTIONS),
    "dataset": ("dataset", "data set", "task", "task_name", "collection", "benchmark"),
    "run": ("run", "run_id", "runid", "run_name", "system", "model", "model_name", "name", "tag"),
    "measure": ("measure", "metric", "measure_name", "metric_name"),
    "value": ("value", "score"),
}
"""Names of columns by role; upper and lower case do not matter."""
_DOCUMENTS = {"docno", "doc_id", "docid", "document"}
_WITHOUT_SCORES = {"rank", "topics", "z", "sd", "base", "scheme"}
"""Columns of ir_std's own tables that hold no scores."""
_OF_MEASURE = {"place", "rank", "low", "high", "topics", "systems", "n", "p", "g"}
"""Words that follow a measure's name in columns about the measure, such as ``AP place``."""
_BLOCK = 1 << 18
"""Number of characters that are split at once, so that the cells stay in the cache."""


@dataclass(frozen=True)
class ScoreTable:
    """Table with a header, and the roles of its columns.

    Attributes
    ----------
    file : str
        Name for messages.
    header : list of str
    cells : Ids
        The cells of all rows, row by row, perhaps with blanks around them.
    measure : str, optional
        Measure of the scores if the table does not name it.
    lines : sequence of int
        Line number of each row; empty if there are no lines, such as in a DataFrame.
    header_line : int, optional
        Line number of the header.
    of_numbers : bool
        True if the cells were numbers instead of text, so that their decimals do not show how they
        were rounded.
    """

    file: str
    header: list[str]
    cells: Ids = Ids.of([])  # noqa: RUF009
    measure: str | None = None
    lines: Sequence[int] = ()
    header_line: int | None = None
    of_numbers: bool = False

    def column(self, place: int) -> Ids:
        """Return the cells of a column."""
        return self.cells[place :: len(self.header)]

    def wrong(self, found: str, expected: str) -> InputError:
        """Return an error that names the line of the header."""
        return InputError.at(self.file, found, expected, line=self.header_line)

    @property
    def names(self) -> list[str]:
        """Names of the columns in lower case."""
        return [name.lower() for name in self.header]

    @cached_property
    def roles(self) -> dict[str, int]:
        """Position of the first column for each role."""
        places: dict[str, int] = {}
        names = self.names
        for role, usual in ROLES.items():
            if present := [name for name in usual if name in names]:
                places[role] = names.index(present[0])
        if "" in names and not {"topic", "dataset", "run"} & places.keys():
            places["topic"] = names.index("")  # R and pandas write an index without a name.
        return places

    def has(self, *roles: str) -> bool:
        """Check whether there are columns for these roles."""
        return all(role in self.roles for role in roles)

    @property
    def unit(self) -> str | None:
        """Role of the column that names the scored unit (topic or dataset), if any."""
        return next((role for role in ("topic", "dataset") if role in self.roles), None)

    @property
    def names_rows(self) -> bool:
        """True if there is a column of runs, topics or datasets, or one score per row."""
        return self.unit is not None or self.has("run") or self.has("measure", "value")

    @cached_property
    def others(self) -> list[int]:
        """Columns without a role, which may hold scores."""
        named = {self.roles.get(role) for role in ("topic", "dataset", "run")}
        names = {*self.header}
        return [
            i
            for i, name in enumerate(self.header)
            if i not in named and name and not _is_without_scores(name, names)
        ]

    @cached_property
    def datasets(self) -> list[int]:
        """Columns with the name of a known dataset."""
        return [i for i in self.others if find_dataset(self.header[i])]

    @property
    def knows_measures(self) -> bool:
        """True if a column has the name of a known measure."""
        return any(find_measure(self.header[i]) for i in self.others)

    @property
    def has_measures(self) -> bool:
        """True if the names of the score columns are names of measures.

        The columns are measures if one of their names is a known measure, or if the rows are
        questions or runs.  A number is the name of a topic.
        """
        of_runs = self.has("run") and self.measure is None
        if self.has("measure") or self.datasets or not (self.unit or of_runs):
            return False
        is_question = self.unit == "topic" and self.names[self.roles["topic"]] in QUESTIONS
        names = {self.header[i] for i in self.others if i != self.roles.get("value")}
        has_others = not all(map(str.isdecimal, names))
        return self.knows_measures or is_question or (of_runs and has_others)

    @cached_property
    def across(self) -> str | None:
        """Role of the names of the score columns, such as ``'run'`` if the names are runs.

        The role is ``'value'`` if a single column holds all scores.
        """
        if self.has("value") and (self.has("measure") or self.measure is not None):
            return "value"
        if self.has_measures:
            return "measure"
        if self.measure is None or self.has("run") == bool(self.unit):
            return None
        return "run" if self.unit else "unit"

    @property
    def texts(self) -> list[int]:
        """Columns that neither have a measure's name nor hold a number."""
        is_number = re.compile(rb"\s*-?[\d.,]+%?(e[+-]?\d+)?\s*").fullmatch
        return [
            i
            for i in self.others
            if not any(map(is_number, self.column(i))) and not find_measure(self.header[i])
        ]

    @property
    def described(self) -> str:
        """Description of the columns, for messages."""
        return f"columns {abbreviate(self.header, 8) or 'without names'}"


def delimiter_of(line: str) -> str:
    """Return the character that separates cells: a tab, a semicolon or a comma."""
    return max("\t;,", key=line.count)


def split_header(line: str) -> list[str]:
    """Return the cells of a table's first line."""
    try:
        cells = next(csv.reader([line], delimiter=delimiter_of(line)))
    except csv.Error:
        return []
    return [cell.strip() for cell in cells]


def parse_table(text: str, delimiter: str, file: str, measure: str | None) -> ScoreTable:
    """Parse a table whose cells are separated by commas, tabs or semicolons.

    Blank lines and lines that start with ``#`` are skipped.

    Raises
    ------
    InputError
        If there is no header, if quotes do not match, or if a row has more or fewer cells than the
        header; the error names the line.
    """
    rows = split_cells(text, delimiter) or _read_csv(text, delimiter, file)
    header = [cell.strip() for cell in rows.cells[: rows.width].strings()]
    cells = rows.cells[rows.width :]
    return ScoreTable(file, header, cells, measure, rows.lines[1:], rows.lines[0])


class Rows(NamedTuple):
    """Rows of cells.

    Attributes
    ----------
    width : int
        Number of cells of each row.
    cells : Ids
        The cells of all rows, row by row.
    lines : sequence of int
        Line number of each row.
    """

    width: int
    cells: Ids
    lines: Sequence[int]


def split_cells(text: str, delimiter: str) -> Rows | None:
    """Split all lines at once; cells in quotes lose their quotes.

    Return None if the text needs a reader that goes line by line: if rows have different lengths,
    are blank or are comments, or if a quoted cell contains a quote or a delimiter.
    """
    text = text.replace("\r\n", "\n") + "\n" * (not text.endswith("\n"))
    whole = Ids.of([text])
    codes = whole.codes
    ends = np.flatnonzero((codes == ord(delimiter)) | (codes == ord("\n")))
    starts = np.append(whole.starts, ends[:-1] + 1)
    n_lines = text.count("\n")
    width = text.count(delimiter, 0, text.index("\n")) + 1
    is_break = codes[ends[width - 1 :: width]] == ord("\n")
    if "\r" in text or "\0" in text or len(ends) != n_lines * width or not is_break.all():
        return None
    if '"' in text:
        is_quoted, is_closed = codes[starts] == ord('"'), codes[ends - 1] == ord('"')
        starts, ends = starts + is_quoted, ends - is_quoted
        are_all_outside = text.count('"') == 2 * np.count_nonzero(is_quoted)
        if not are_all_outside or (is_quoted != is_closed).any() or (starts > ends).any():
            return None
    cells = Ids.between(codes, starts, ends)
    leads = cells[width::width]
    first = codes[leads.starts]
    is_doubtful = (leads.widths == 0) | (first <= ord("#")) | (first > 127)
    doubtful = [[cell] for cell in {*leads[is_doubtful].strings()}]
    if any(map(_is_blank_or_comment, [cells[:width].strings(), *doubtful])):
        return None
    if "'" in text and (codes[starts] == ord("'")).any():
        return None
    return Rows(width, cells, range(1, n_lines + 1))


def _read_csv(text: str, delimiter: str, file: str) -> Rows:
    # A StringIO would need four bytes per character.
    content = TextIOWrapper(BytesIO(text.encode()), "utf-8", newline="")
    reader = csv.reader(content, delimiter=delimiter, strict=True)
    rows = ([unguard_cell(cell.strip()) for cell in row] for row in reader)
    try:
        return join_rows(((reader.line_num, row) for row in rows if row), file)
    except csv.Error as broken:
        found, line = f"not a table ({broken})", reader.line_num
        raise InputError.at(file, found, "quote cells with delimiters", line=line) from None


def join_rows(rows: Iterable[tuple[int, list[str]]], file: str) -> Rows:
    """Join numbered rows, without blank rows and rows that start with ``#``.

    Raises
    ------
    InputError
        If there is no row, or a row has more or fewer cells than the first row; the error names the
        line.
    """
    lines: list[int] = []
    cells: list[str] = []
    width = 0
    for line, row in rows:
        if not row[0][:1].isalnum() and _is_blank_or_comment(row):
            continue
        width = width or len(row)
        if len(row) != width:
            advice = " (write decimals with a point, such as 0.1234)" * (len(row) > width)
            found = pluralize(len(row), "column")
            raise InputError.at(file, found, f"the first line has {width}{advice}", line=line)
        lines.append(line)
        cells += row
    if not lines:
        raise InputError.at(file, "no lines", "expected a table with a header")
    return Rows(width, Ids.of(cells), lines)


def _is_blank_or_comment(row: list[str]) -> bool:
    return not any(map(str.strip, row)) or row[0].lstrip().startswith("#")


def table_of_rows(
    rows: Iterable[Iterable[Any]],
    file: str,
    header: Iterable[Any],
    measure: str | None = None,
    lines: Sequence[int] = (),
    of_numbers: bool = False,
) -> ScoreTable:
    """Return rows of text, numbers or missing values as a table."""
    cells = Ids.of([_cell(value) for row in rows for value in row])
    return ScoreTable(file, [*map(_cell, header)], cells, measure, lines, of_numbers=of_numbers)


def table_of_frame(frame: Any, file: str, measure: str | None) -> ScoreTable:
    """Return a DataFrame as a table; an index that has a name or holds IDs becomes a column."""
    if is_pandas(frame) and (
        any(level is not None for level in frame.index.names) or frame.index.dtype.kind not in "iu"
    ):
        frame = frame.reset_index()
    rows = zip(*(column_values(frame, column) for column in frame.columns), strict=True)
    return table_of_rows(rows, file, frame.columns, measure, of_numbers=True)


def table_of_records(
    records: Sequence[Any],
    file: str,
    measure: str | None,
    lines: Sequence[int] = (),
    of_numbers: bool = False,
) -> ScoreTable:
    """Return a table from records, which are mappings with the same keys.

    Raises
    ------
    InputError
        If a record is not a mapping, or lacks the first key of the first record; the error names
        the line of the record.
    """
    first = next(iter(records[0]), None) if records and isinstance(records[0], Mapping) else None
    for i, record in enumerate(records):
        if not isinstance(record, Mapping) or (records[0] and first not in record):
            raise InputError.at(
                file,
                "not a score",
                'expected a line such as {"query_id": ..., "measure": ..., "value": ...}',
                line=lines[i] if lines else None,
            )
    keys = dict.fromkeys(key for record in records for key in record)
    rows = ([record.get(key) for key in keys] for record in records)
    return table_of_rows(rows, file, keys, measure, lines, of_numbers)


def _cell(value: Any) -> str:
    """Return a value as text; missing values are empty, and whole floats have no decimals."""
    if isinstance(value, str):
        return value.strip()
    if value is None or value != value:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip()


def _is_without_scores(name: str, names: set[str]) -> bool:
    """Check whether a column that ir_std writes, such as ``AP place``, holds no scores."""
    words = name.split(" ")
    return (
        name.lower() in _WITHOUT_SCORES
        or name.startswith("systems\u2019 mean")
        or any(w in _OF_MEASURE and " ".join(words[:i]) in names for i, w in enumerate(words) if i)
    )


# --- forms ----------------------------------------------------------------------------------------

LAYOUTS = (
    "(run, topic, measure, value) or (run, topic, and one column per measure) or (topic and one "
    "column per run, in a file such as P@10.csv) or (run and one column per dataset or topic, in a "
    "file such as P@10.csv)"
)
"""Columns of the supported tables; a table without a column of runs holds one run."""


def needs_measure(header: list[str]) -> bool:
    """Check whether a table has runs, datasets or topics, but does not name its measure."""
    table = ScoreTable("", header)
    return table.names_rows and not table.has("measure") and table.across is None


def cells_of_table(table: ScoreTable) -> ScoreCells:
    """Return the values of a table.

    If neither the table nor the user names the measure, the name of the file may be the measure,
    as in ``P@10.csv``.

    Raises
    ------
    InputError
        If the form of the table is unknown, or if the table has two columns of the same name or
        topics of several collections.
    UsageError
        If both the table and the user name the measure, or if neither does.
    """
    _check(table)
    of_file = Path(table.file).stem
    # In P@10.csv, columns next to a column of runs are topics, unless they are known measures.
    is_open = table.across == "measure" and not table.unit and not table.knows_measures
    if (table.across is None or is_open) and table.measure is None and find_measure(of_file):
        table = replace(table, measure=of_file)
    if table.across is None:
        raise _unknown(table)
    if table.measure is not None and (table.has("measure") or table.across == "measure"):
        raise UsageError(f"{table.file} names its measures; drop measure=")
    texts = table.texts if table.across == "measure" else []
    places = {
        "value": [table.roles.get("value", -1)],
        "measure": [i for i in table.others if i not in {*texts}],
        "unit": table.datasets or table.others,  # This leaves out columns of averages.
        "run": table.others,
    }[table.across]
    row_starts = np.arange(0, len(table.cells), len(table.header))

    def names_of(role: str, column: int | None, default: str) -> Names:
        if role == table.across:
            header = [table.header[i] for i in places]
            return Names(header, np.tile(np.arange(len(header)), len(row_starts)))
        if column is None:
            return Names([default], np.zeros(len(row_starts) * len(places), np.int64))
        names = Names.of(table.column(column))
        return Names(names.distinct, np.repeat(names.codes, len(places)))

    units = names_of("unit", table.roles.get(table.unit or ""), SUMMARY)
    datasets = {name: find_dataset(name) for name in units.distinct}
    is_dataset = table.unit == "dataset" or all(datasets.values())
    if is_dataset:
        datasets[ALL_COLLECTIONS] = SUMMARY
        units = units.map(lambda name: datasets[name] or name)
    return ScoreCells(
        table.file,
        names_of("run", table.roles.get("run"), ""),
        units,
        names_of("measure", table.roles.get("measure"), str(table.measure)),
        table.cells[np.add.outer(row_starts, np.array(places, np.int64)).ravel()],
        table.lines,
        "dataset" if is_dataset else "topic",
        tuple(table.header[i] for i in texts),
        table.of_numbers,
    )


def _check(table: ScoreTable) -> None:
    names = Counter(table.header)
    repeated = next((name for name, n in names.items() if n > 1 and name), None)
    if repeated:
        raise table.wrong(f"duplicate column {repeated!r}", "give each column a different name")
    before = [name.removesuffix(" g") for name in names if name.endswith(" g")]
    if any(name in names and find_measure(name) for name in before):
        raise table.wrong("differences from a baseline, not scores", "write it without --baseline")
    if not table.has("topic", "dataset"):
        return
    sets = Names.of(table.column(table.roles["dataset"])).distinct
    if len(sets) > 1:
        # Topics of different collections may have the same numbers.
        raise InputError.at(
            table.file,
            f"{pluralize(len(sets), 'collection')} ({abbreviate(sorted(sets))})",
            "use a separate file for each collection",
        )


def _unknown(table: ScoreTable) -> InputError | UsageError:
    """Return an error that says which columns were expected, for a table of an unknown form."""
    if _DOCUMENTS & {*table.names}:
        return table.wrong(
            f"{table.described} belong to a run, not to scores",
            "pass a run as six columns without a header, or as a DataFrame",
        )
    for role, other in (("measure", "value"), ("value", "measure")):
        if table.has(other) and table.unit and not table.knows_measures:
            missing = " or ".join(ROLES[role][:2])
            return table.wrong(table.described, f"add a column called {missing}")
    if table.others and table.names_rows:
        others = abbreviate(table.header[i] for i in table.others)
        what = "runs" if table.unit else "datasets or topics"
        advice = " (if the columns are measures, add only run)" if table.unit else ""
        return UsageError(
            f"the columns of {table.file} are {what} ({others}); name the file after its measure, "
            f"such as P@10.csv (measure=), or add columns run, topic and measure{advice}"
        )
    return table.wrong(table.described, f"expected the columns of scores, such as {LAYOUTS}")
