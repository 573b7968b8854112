"""Tables of scores with a header, in text and in memory: what columns hold, and their forms."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from io import BytesIO, TextIOWrapper
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from ir_std._system.text import unguard_cell
from ir_std.errors import InputError, UsageError, abbreviate, pluralize
from ir_std.measures.names import find_measure
from ir_std.scores.collect import BLOCK_SIZE, Block
from ir_std.scores.mteb import find_dataset
from ir_std.scores.run_scores import SUMMARY
from ir_std.trec.frames import column_values, is_pandas

Chunk: TypeAlias = tuple[Sequence[int | None], Sequence[Sequence[str]]]
"""Line numbers of some rows, and their cells by column."""

ALL_COLLECTIONS = "all of these"
"""What a table of comparisons calls the mean over its collections."""
QUESTIONS = ("question", "user_input")
"""What RAGAS and similar tools call the column of questions."""
ROLES = {
    "topic": ("topic", "topic_id", "query_id", "qid", "query", "q_id", "question_id", *QUESTIONS),
    "dataset": ("dataset", "data set", "task", "task_name", "collection", "benchmark"),
    "run": ("run", "run_id", "runid", "run_name", "system", "model", "model_name", "name", "tag"),
    "measure": ("measure", "metric", "measure_name", "metric_name"),
    "value": ("value", "score"),
}
"""What columns are called, in any case, by what they hold."""
_DOCUMENTS = {"docno", "doc_id", "docid", "document"}
_WITHOUT_SCORES = {"rank", "topics", "z", "sd", "base", "scheme"}
"""Columns of ir_std's own tables that hold no scores."""
_OF_MEASURE = {"place", "rank", "low", "high", "topics", "systems", "n", "p", "g"}
"""Words after a measure's name in the heading of a column about it, such as ``AP place``."""


class ScoreTable(NamedTuple):
    """A table with a header.

    Attributes
    ----------
    file : str
        Name for messages.
    header_line : int or None
        None where there are no lines, as in a DataFrame.
    header : list of str
    chunks : callable
        Returns the rows from the first on, some at a time: in memory those of short lines take
        thirty times their text.
    of_numbers : bool
        True if cells were numbers, whose decimals do not show how they were rounded.
    """

    file: str
    header_line: int | None
    header: list[str]
    chunks: Callable[[], Iterable[Chunk]]
    of_numbers: bool = False

    def wrong(self, found: str, expected: str) -> InputError:
        """Return an error at the header."""
        return InputError.at(self.file, found, expected, line=self.header_line)


def delimiter_of(line: str) -> str:
    """Return what separates the cells of a line: a tab, a semicolon or a comma."""
    return max("\t;,", key=line.count)


def split_header(line: str) -> list[str]:
    """Return the cells of a table's first line."""
    try:
        cells = next(csv.reader([line], delimiter=delimiter_of(line)))
    except csv.Error:
        return []
    return [cell.strip() for cell in cells]


def parse_table(text: str, file: str) -> ScoreTable:
    """Parse a table whose cells are separated by commas, tabs or semicolons.

    Blank lines and those that start with ``#`` are skipped.

    Raises
    ------
    InputError
        If there is no header; and, while rows are read, if quotes do not match or a row has
        another number of cells than the header, with its line.
    """
    delimiter = delimiter_of(text.lstrip().split("\n", 1)[0])
    clean = _unguarded if "'" in text else str.strip
    header_line, cells = next(_delimited_rows(text, delimiter, file), (None, [""]))
    if header_line is None:
        raise InputError.at(file, "no lines", "expected a table with a header")
    header = [*map(clean, cells)]

    def chunks() -> Iterator[Chunk]:
        width, size, lines, cells = len(header), 1, list[int](), list[str]()
        for line, row in islice(_delimited_rows(text, delimiter, file), 1, None):
            if len(row) != width:
                raise _wrong_width(file, line, len(row), width, delimiter)
            lines.append(line)
            cells += row
            if len(lines) == size:
                yield lines, _columns(map(clean, cells), width)
                lines, cells = [], []
                # The first row shows many tables' form.
                size = max(1, BLOCK_SIZE // width)
        yield lines, _columns(map(clean, cells), width)

    return ScoreTable(file, header_line, header, chunks)


def _delimited_rows(text: str, delimiter: str, file: str) -> Iterator[tuple[int, list[str]]]:
    # A StringIO takes four bytes a character.
    content = BytesIO(text.encode(errors="surrogatepass"))
    lines = TextIOWrapper(content, "utf-8", "surrogatepass", newline="")
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    try:
        for row in reader:
            if row and (row[0][:1].isalnum() or _has_cells(row)):
                yield reader.line_num, row
    except csv.Error as broken:
        raise InputError.at(
            file, f"not a table ({broken})", "quote cells with delimiters", line=reader.line_num
        ) from None


def _columns(cells: Iterable[str], width: int) -> list[list[str]]:
    flat = [*cells]
    return [flat[i::width] for i in range(width)]


def _has_cells(row: list[str]) -> bool:
    """Check that a row is neither blank nor a comment."""
    return any(map(str.strip, row)) and not row[0].lstrip().startswith("#")


def _unguarded(cell: str) -> str:
    return unguard_cell(cell.strip())


def _wrong_width(file: str, line: int, n_cells: int, width: int, delimiter: str) -> InputError:
    is_decimal = delimiter == "," and n_cells > width
    advice = "; write decimals with a point, such as 0.1234" * is_decimal
    found = pluralize(n_cells, "column")
    return InputError.at(file, found, f"the header has {width}{advice}", line=line)


def table_of_frame(frame: Any, file: str) -> ScoreTable:
    """Return a DataFrame as a table; an index with a name, or of ids, is a column."""
    if is_pandas(frame) and (
        any(level is not None for level in frame.index.names) or frame.index.dtype.kind not in "iu"
    ):
        frame = frame.reset_index()
    header = [_cell(column) for column in frame.columns]
    columns = [_cells(column_values(frame, column)) for column in frame.columns]
    return ScoreTable(file, None, header, lambda: [([None] * len(frame), columns)], True)


def table_of_records(
    records: Sequence[tuple[int | None, Any]], file: str, of_numbers: bool = False
) -> ScoreTable:
    """Return records, each a mapping with the same keys, with their line numbers as a table.

    Raises
    ------
    InputError
        If one is not a mapping or lacks the first key, with its line.
    """
    keys: dict[Any, None] = {}
    for line, record in records:
        if not isinstance(record, Mapping) or any(key not in record for key in islice(keys, 1)):
            raise InputError.at(
                file,
                "not a score",
                'expected a line such as {"query_id": ..., "measure": ..., "value": ...}',
                line=line,
            )
        keys.update(dict.fromkeys(record))
    columns = [_cells([record.get(key, "") for _, record in records]) for key in keys]
    lines = [line for line, _ in records]
    return ScoreTable(file, None, [*map(str, keys)], lambda: [(lines, columns)], of_numbers)


def _cells(values: list[Any]) -> list[str]:
    return [*map(str.strip if {*map(type, values)} == {str} else _cell, values)]


def _cell(value: Any) -> str:
    """Return a value as text: empty where there is none, whole where a float is a whole number."""
    if value is None or value != value:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip()


# --- what columns hold ----------------------------------------------------------------------------


class Layout:
    """A table, and which of its columns holds what.

    Parameters
    ----------
    table : ScoreTable
    measure : str, optional
        Measure of a table that names none.
    """

    def __init__(self, table: ScoreTable, measure: str | None) -> None:
        self.table, self.measure = table, measure
        self.names = [name.lower() for name in table.header]

    @cached_property
    def roles(self) -> dict[str, int]:
        """Place of the first column for each role."""
        places: dict[str, int] = {}
        for role, usual in ROLES.items():
            place = next((self.names.index(name) for name in usual if name in self.names), None)
            if place is not None and place not in places.values():
                places[role] = place
        if "" in self.names and not {"topic", "dataset", "run"} & places.keys():
            places["topic"] = self.names.index("")  # an index, as R and pandas write it
        return places

    def has(self, *roles: str) -> bool:
        """Check whether there are columns for these roles."""
        return all(role in self.roles for role in roles)

    @cached_property
    def unit(self) -> str | None:
        """Role of the column that says what is scored, a topic or a dataset, if any."""
        return next((role for role in ("topic", "dataset") if role in self.roles), None)

    @property
    def has_rows_of(self) -> bool:
        """True if there is a column of runs, topics or datasets."""
        return bool(self.unit) or self.has("run")

    @cached_property
    def others(self) -> list[int]:
        """Columns that may hold scores: those without a role."""
        named = {self.roles[role] for role in ("topic", "dataset", "run") if role in self.roles}
        names = {*self.table.header}
        return [
            i
            for i, name in enumerate(self.table.header)
            if i not in named and name and not _is_without_scores(name, names)
        ]

    @cached_property
    def known(self) -> list[int]:
        """Columns with the name of a known measure."""
        return [i for i in self.others if find_measure(self.table.header[i])]

    @cached_property
    def datasets(self) -> list[int]:
        """Columns with the name of a known dataset."""
        return [i for i in self.others if find_dataset(self.table.header[i])]

    @cached_property
    def texts(self) -> list[int]:
        """Columns without the name of a measure and without a number."""
        is_number = re.compile(r"-?[\d.,]+%?(e[+-]?\d+)?").fullmatch
        known = {*self.known}
        left = [i for i in self.others if i not in known]
        for _, columns in self.table.chunks() if left else ():
            left = [i for i in left if not any(map(is_number, columns[i]))]
            if not left:
                break
        return left

    def names_in(self, role: str) -> Iterator[str]:
        """Return the cells of the column for a role."""
        return chain.from_iterable(columns[self.roles[role]] for _, columns in self.table.chunks())

    @property
    def scored(self) -> str:
        """``'collection'`` if rows are datasets, ``'topic'`` if they are topics."""
        if self.unit == "dataset":
            return "collection"
        return _unit_of(self.names_in("topic")) if self.unit else "topic"

    @property
    def described(self) -> str:
        """Columns, for a message."""
        return f"columns {abbreviate(self.table.header, 8) or 'without names'}"


def _is_without_scores(name: str, names: set[str]) -> bool:
    """Check for a column of ir_std's tables about others, as ``AP place`` is about ``AP``."""
    words = name.split(" ")
    return (
        name.lower() in _WITHOUT_SCORES
        or name.startswith("systems\u2019 mean")
        or any(w in _OF_MEASURE and " ".join(words[:i]) in names for i, w in enumerate(words) if i)
    )


def _unit_of(names: Iterable[str]) -> str:
    """Return ``'collection'`` if all names are those of known datasets, else ``'topic'``."""
    first = next(names := iter(names), None)
    return (
        "topic"
        if first is None or not all(map(find_dataset, chain([first], names)))
        else "collection"
    )


# --- forms ----------------------------------------------------------------------------------------


class Form(NamedTuple):
    """A form of tables.

    Attributes
    ----------
    layout : str
        Description for messages.
    across : {'value', 'measure', 'unit', 'run'}
        What the names of the columns with scores are; ``'value'`` if there is one such column.
    fits : callable
        Returns True for the layout of a table that has the form.
    """

    layout: str
    across: str
    fits: Callable[[Layout], bool]


def _names_measures(at: Layout) -> bool:
    """Check whether columns are measures: one is known as such, or rows are questions or runs."""
    values = [i for i in at.others if i != at.roles.get("value")]
    has_questions = at.unit == "topic" and at.names[at.roles["topic"]] in QUESTIONS
    return (
        bool(at.known) or has_questions or (at.has("run") and at.measure is None and bool(values))
    )


FORMS = (
    Form(
        "run, topic, measure, value",
        "value",
        lambda at: at.has("value") and (at.has("measure") or at.measure is not None),
    ),
    Form(
        "run, topic, and one column per measure",
        "measure",
        lambda at: (
            at.has_rows_of
            and not at.has("measure")
            and _names_measures(at)
            and not (at.unit is None and at.measure)
            and not at.datasets
        ),
    ),
    Form(
        "topic and one column per run, in a file such as P@10.csv",
        "run",
        lambda at: bool(at.unit) and not at.has("run") and at.measure is not None,
    ),
    Form(
        "run and one column per dataset or topic, in a file such as P@10.csv",
        "unit",
        lambda at: at.has("run") and at.unit is None and at.measure is not None,
    ),
)
"""Forms; a table has the first that fits, and without a column of runs it holds one run."""


def is_header(line: str) -> bool:
    """Check whether a line is the header of a table of scores."""
    cells = split_header(line)
    numbers = any(re.fullmatch(r"-?[\d.]+(?:e-?\d+)?|nan|all|Q0", cell) for cell in cells[1:])
    if len(cells) < 2 or (numbers and "\t" in line and len(cells) <= 6):
        return False  # lines of scores, of a run or of qrels, separated by tabs
    return names_rows(cells)


def names_rows(header: list[str]) -> bool:
    """Check whether columns are those of a table of scores: they say what its rows are."""
    at = _layout_of(header)
    return at.has_rows_of or at.has("measure", "value")


def needs_measure(header: list[str]) -> bool:
    """Check whether columns are runs, datasets or topics, and no measure is named."""
    at = _layout_of(header)
    return at.has_rows_of and not at.has("measure") and not any(form.fits(at) for form in FORMS)


def _layout_of(header: list[str]) -> Layout:
    return Layout(ScoreTable("", 1, header, tuple), None)


class TableScores(NamedTuple):
    """Scores in a table.

    Attributes
    ----------
    blocks : iterator of Block
    unit : {'topic', 'collection'}
        What is scored.
    texts : tuple of str
        Names of the columns without a number.
    """

    blocks: Iterator[Block]
    unit: str
    texts: tuple[str, ...] = ()


def table_scores(table: ScoreTable, measure: str | None) -> TableScores:
    """Return the scores of a table, and whether they are of topics or whole collections.

    Parameters
    ----------
    table : ScoreTable
    measure : str, optional
        Measure of a table that names none; by default, the measure in the file's name, such as
        ``P@10.csv``.

    Raises
    ------
    InputError
        If the table has none of the forms, a column twice, or several collections.
    UsageError
        If ``measure`` is given and the table names measures itself, or if neither is the case.
    """
    at = Layout(table, measure)
    _check(at)
    form = next((form for form in FORMS if form.fits(at)), None)
    if form is None:
        of_file = Path(table.file).stem
        if measure is None and find_measure(of_file) is not None:
            return table_scores(table, of_file)
        raise _unknown(at)
    if measure is not None and (at.has("measure") or form.across == "measure"):
        raise UsageError(f"{table.file}: its columns are measures; drop measure=")
    texts = at.texts if form.across == "measure" else []
    places = {
        "value": [at.roles.get("value", -1)],
        "measure": [i for i in at.others if i not in {*texts}],
        "unit": (at.datasets if form.across == "unit" else []) or at.others,  # without averages
        "run": at.others,
    }[form.across]
    names = [table.header[i] for i in places]
    unit = _unit_of(names) if form.across == "unit" else at.scored
    blocks = _blocks(at, form.across, places, names, unit)
    return TableScores(blocks, unit, tuple(table.header[i] for i in texts))


def _blocks(
    at: Layout, across: str, places: list[int], names: list[str], unit: str
) -> Iterator[Block]:
    """Return the values row by row, with what columns' names or other columns say of each."""
    called: dict[str, str] = {}
    for lines, columns in at.table.chunks():
        n_rows = len(lines)
        said: dict[str, Sequence[str]] = {
            "run": [""] * n_rows,
            "unit": [SUMMARY] * n_rows,
            "measure": [str(at.measure)] * n_rows,
        }
        said |= {role: columns[i] for role, i in at.roles.items()}
        said["unit"] = said.get(at.unit or "unit", ())
        numbers: Sequence[int | None] = lines
        if len(places) != 1:
            said = {role: [cell for cell in cells for _ in places] for role, cells in said.items()}
            numbers = [line for line in lines for _ in places]
        rows = zip(*(columns[i] for i in places), strict=True)
        said |= {across: names * n_rows, "value": [*chain.from_iterable(rows)]}
        if unit == "collection":
            called |= {name: _dataset_name(name) for name in {*said["unit"]} - called.keys()}
            said["unit"] = [called[name] for name in said["unit"]]
        yield Block(
            numbers, said["run"], said["unit"], said["measure"], said["value"], places * n_rows
        )


def _dataset_name(name: str) -> str:
    return SUMMARY if name == ALL_COLLECTIONS else find_dataset(name) or name


def _check(at: Layout) -> None:
    table, names = at.table, Counter(at.table.header)
    repeated = next((name for name, n in names.items() if n > 1 and name), None)
    if repeated:
        raise table.wrong(f"duplicate column {repeated!r}", "give each column a name of its own")
    if any(f"{table.header[i]} g" in names for i in at.known):
        raise table.wrong("differences from a baseline, not scores", "write it without --baseline")
    if at.has("topic", "dataset") and len(sets := dict.fromkeys(at.names_in("dataset"))) > 1:
        # Topics of several collections may have the same numbers.
        raise InputError.at(
            table.file,
            f"{pluralize(len(sets), 'collection')} ({abbreviate(sets)})",
            "use a file for each",
        )


def _unknown(at: Layout) -> InputError | UsageError:
    """Return an error for a table of no form, which says what was expected."""
    table = at.table
    if _DOCUMENTS & {*at.names}:
        return table.wrong(
            f"{at.described}: documents, as in a run",
            "pass a run as six columns without a header, or as a DataFrame",
        )
    for role, other in (("measure", "value"), ("value", "measure")):
        if at.has(other) and at.unit and not at.known:
            missing = " or ".join(ROLES[role][:2])
            return table.wrong(at.described, f"add a column called {missing}")
    if at.others and at.has_rows_of:
        others = abbreviate(table.header[i] for i in at.others)
        what, advice = (
            ("datasets or topics", "")
            if at.unit is None
            else ("runs", "; if they are measures, add a column run")
        )
        return UsageError(
            f"{table.file}: its columns are {what} ({others}); name the file after its measure, "
            f"such as P@10.csv (measure=), or add columns run, topic and the measure{advice}"
        )
    layouts = "; ".join(form.layout for form in FORMS)
    return table.wrong(
        at.described, f"a table of scores has {layouts}; one of a run has query_id, doc_id, score"
    )
