"""Collect the scores of each run in a file, and check the scores."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ir_std._arrays import EXACT, Floats, Ints
from ir_std.errors import InputError, abbreviate, pluralize
from ir_std.measures import ExternalMeasure, Measure, Standardized, measure_record
from ir_std.measures.names import find_measure
from ir_std.reading import Ids, decimal_numbers
from ir_std.scores.files import is_not_topic_score
from ir_std.scores.run_scores import COARSE, SUMMARY, RunScores

_NO_VALUE = ("", "nan", "NaN", "null", "None")
_LARGEST = 1e100
"""Largest score that is allowed; if scores were larger, the sum of their squares could overflow."""
_AT_ONCE = 1 << 14
"""Number of values that are parsed at once, so that intermediate results stay in the cache."""
_MOST_DECIMALS = 400
"""Number of decimals from which more decimals do not matter."""


@dataclass(frozen=True)
class Names:
    """Names of the runs, topics or measures of many values; each name is stored once.

    Attributes
    ----------
    distinct : list
        Different names, in the order of the first values.
    codes : ndarray of int
        Position of each value's name in ``distinct``.
    """

    distinct: list[Any]
    codes: Ints

    @classmethod
    def of(cls, cells: Ids) -> Names:
        """Return the names in cells, without blanks around them."""
        numbers: dict[bytes, int] = {}
        codes = cells.number(numbers)
        distinct = [name.decode(errors="surrogatepass") for name in numbers]
        return cls(distinct, codes).map(str.strip)

    def map(self, function: Callable[[Any], Any]) -> Names:
        """Replace each name by the result of a function; equal results become one name."""
        numbers: dict[Any, int] = {}
        codes = [numbers.setdefault(function(name), len(numbers)) for name in self.distinct]
        return Names([*numbers], np.array(codes, np.int64)[self.codes])

    def __getitem__(self, row: int) -> Any:
        return self.distinct[self.codes[row]]


@dataclass(frozen=True)
class ScoreCells:
    """Unchecked values of a file.

    Attributes
    ----------
    file : str
        Name for messages.
    runs : Names
        Run of each value; empty if the file does not name the run.
    topics : Names
        Topic of each value.  Values of the topic ``all`` are means, which are compared with the
        means of the other values.
    measures : Names
        Measure of each value.
    values : Ids
        The values as text.
    lines : sequence of int
        Line number of each row; empty if there are no lines, such as in a DataFrame.  All rows
        have the same number of values, and the values are in the order of the rows.
    unit : {'topic', 'dataset'}
        Unit of a score.
    skipped : tuple of str
        Names of the columns that are not measures.
    of_numbers : bool
        True if the values were numbers instead of text, so that their decimals do not show how
        they were rounded.
    """

    file: str
    runs: Names
    topics: Names
    measures: Names
    values: Ids
    lines: Sequence[int] = ()
    unit: str = "topic"
    skipped: tuple[str, ...] = ()
    of_numbers: bool = False

    @cached_property
    def numbers(self) -> tuple[Floats, Ints]:
        """Numbers that the values are, and with how many decimals they are written."""
        places = range(0, len(self.values), _AT_ONCE)
        parts = [self.values[start : start + _AT_ONCE] for start in places]
        read = [
            decimal_numbers(each.codes, each.starts, each.starts + each.widths) for each in parts
        ]
        numbers, decimals, certain = map(np.concatenate, zip(*read, strict=True))
        rows = np.flatnonzero(~certain)
        others = self.values[rows].strings()
        parsed = {text: _parse_number(text) for text in dict.fromkeys(others)}
        numbers[rows] = [parsed[text][0] for text in others]
        decimals[rows] = [parsed[text][1] for text in others]
        return numbers, decimals

    def line(self, row: int) -> int | None:
        """Return the line number of a value, if it has one."""
        n_rows = len(self.lines)
        return self.lines[row * n_rows // len(self.values)] if n_rows else None

    def wrong(self, row: int, found: str, expected: str) -> InputError:
        """Return an error that names the line of a value."""
        return InputError.at(self.file, found, expected, line=self.line(row))


class _Column(NamedTuple):
    """One run's values of one measure, by topic, and the mean that the file states in a row."""

    measure: Measure
    values: dict[str, float]
    decimals: int
    mean: float
    row_of_mean: int


def collect_scores(cells: ScoreCells) -> dict[str, RunScores]:
    """Return scores by run; a run without a name gets the file's name.

    Raises
    ------
    InputError
        If a value is not a number, is impossible for its measure or occurs twice (the error names
        its line); if there is neither a value nor a mean; or if a mean differs from the mean of
        the values.
    """
    measure_of = {name: _measure_of(name) for name in cells.measures.distinct}
    unknown = [name for name, measure in measure_of.items() if measure is None]
    skipped = tuple(dict.fromkeys([*unknown, *cells.skipped]))
    if not len(cells.values) or all(m is None or _is_count(m) for m in measure_of.values()):
        found = f" (found {abbreviate(skipped)})" * bool(skipped)
        advice = "list scores per topic with -q of trec_eval or ir_measures"
        raise InputError.at(cells.file, f"no scores of any measure{found}", advice)
    columns = _columns(cells, cells.measures.map(measure_of.__getitem__))
    scores = {}
    for run, of_run in columns.items():
        name = f"{cells.file}, {run}" if len(columns) > 1 else cells.file
        scores[run or cells.file] = _scores_of_run(cells, name, of_run, skipped)
    return scores


def _columns(cells: ScoreCells, measures: Names) -> dict[str, list[_Column]]:
    """Return each run's columns, in the order of their first values."""
    numbers, decimals = cells.numbers
    is_known = np.array([measure is not None for measure in measures.distinct])
    column = cells.runs.codes * len(is_known) + measures.codes
    rows = np.flatnonzero(is_known[measures.codes])
    # Sorting takes linear time if the numbers have 16 bits.
    short = column.astype(np.min_scalar_type(column.max()))
    rows = rows[np.argsort(short[rows], kind="stable")]
    cuts = np.flatnonzero(np.diff(column[rows], prepend=-1, append=-1))
    topics = np.array(cells.topics.distinct, object)[cells.topics.codes[rows]]
    values = numbers[rows]
    by_topic = [
        dict(zip(topics[a:b].tolist(), values[a:b].tolist(), strict=True))
        for a, b in pairwise(cuts.tolist())
    ]
    if sum(map(len, by_topic)) < len(rows):
        raise _repeated(cells, measures)
    _check_numbers(cells, measures, rows)
    is_mean = np.array([topic == SUMMARY for topic in cells.topics.distinct])[cells.topics.codes]
    most_decimals = np.maximum.reduceat(np.where(is_mean, 0, decimals)[rows], cuts[:-1])
    columns: dict[str, list[_Column]] = defaultdict(list)
    for i in np.argsort(rows[cuts[:-1]]).tolist():
        row, scores = int(rows[cuts[i]]), by_topic[i]
        row_of_mean = int(rows[cuts[i] + [*scores].index(SUMMARY)]) if SUMMARY in scores else -1
        mean = scores.pop(SUMMARY, math.nan)
        columns[cells.runs[row]].append(
            _Column(measures[row], scores, int(most_decimals[i]), mean, row_of_mean)
        )
    return columns


def _measure_of(name: str) -> Measure | None:
    """Find a raw measure by its name; None if the name is not that of a raw measure."""
    found = None if is_not_topic_score(name) else find_measure(name) or ExternalMeasure(name)
    return None if isinstance(found, Standardized) else found


def _repeated(cells: ScoreCells, measures: Names) -> InputError:
    """Return an error for the first value that has the run, measure and topic of another."""
    first_rows: dict[tuple[int, ...], int] = {}
    codes = (names.codes.tolist() for names in (cells.runs, cells.topics, measures))
    for row, key in enumerate(zip(*codes, strict=True)):
        first = first_rows.setdefault(key, row)
        if first != row and measures[row] is not None:
            break
    return cells.wrong(
        row,
        f"duplicate {measures[row]} for topic {cells.topics[row]}"
        + f", first on line {cells.line(first)}" * bool(cells.lines),
        "use a separate file for each run and each collection",
    )


def _check_numbers(cells: ScoreCells, measures: Names, rows: Ints) -> None:
    """Check that the numbers in some rows are possible for their measures."""
    records = [measure_record(measure) for measure in measures.distinct]
    low = np.array([record.low - EXACT * (record.low < 0) for record in records])
    high = np.array([min(record.high + EXACT, _LARGEST) for record in records])
    is_count = np.array([record.kind == "count" for record in records])
    codes, found = measures.codes[rows], cells.numbers[0][rows]
    wrong = (found < low[codes]) | (found > high[codes])
    counts = np.flatnonzero(is_count[codes] & ~wrong)
    wrong[counts] = ~(np.abs(found[counts] - np.rint(found[counts])) <= EXACT)
    if wrong.any():
        row = int(rows[wrong].min())
        text = cells.values[row : row + 1].strings()[0].strip()
        raise cells.wrong(
            row,
            f"{cells.measures[row]} is {text!r} for topic {cells.topics[row]}",
            _expected(text, cells.numbers[0][row], measures[row]),
        )


def _scores_of_run(
    cells: ScoreCells, name: str, columns: list[_Column], skipped: tuple[str, ...]
) -> RunScores:
    counts = {c.measure.__name__: c for c in columns if _is_count(c.measure)}
    columns = [column for column in columns if column.measure.__name__ not in counts]
    filled = [column for column in columns if column.values]
    decimals = {column.measure: column.decimals for column in filled}
    step = 10.0 ** -max(decimals.values(), default=0)
    unlisted = _count_unlisted(cells.file, filled, counts.get("NumQ"))
    for column in columns:
        _check_mean(cells, column, step, unlisted)
    n_rel, n_ret = (
        {topic: int(n) for topic, n in counts[count].values.items()} if count in counts else {}
        for count in ("NumRel", "NumRet")
    )
    if step <= EXACT or (cells.of_numbers and step >= COARSE):
        step = 0.0
    values = {column.measure: column.values for column in filled}
    means = {column.measure: column.mean for column in columns if column.row_of_mean >= 0}
    return RunScores(
        name, values, n_rel, n_ret, step, unlisted, skipped, cells.unit, means, decimals
    )


def _count_unlisted(file: str, columns: Iterable[_Column], n_topics: _Column | None) -> int:
    """Count topics that no line lists, but that the means include (as with ``trec_eval -c``)."""
    if n_topics is None or n_topics.row_of_mean < 0:
        return 0
    n_listed = len({topic for column in columns for topic in column.values})
    n_stated = int(n_topics.mean)
    if n_stated < n_listed:
        found = f"lists {pluralize(n_listed, 'topic')}, but num_q is {n_stated}"
        raise InputError.at(file, found, "check whether several files were joined")
    return n_stated - n_listed


def _check_mean(cells: ScoreCells, column: _Column, step: float, unlisted: int) -> None:
    """Check that a stated mean is the mean of the values, except for rounding."""
    if math.isnan(column.mean):
        return
    present = [value for value in column.values.values() if value == value]
    if not present:
        return
    mean = sum(present) / (len(present) + unlisted)
    step_of_mean = 10.0 ** -int(cells.numbers[1][column.row_of_mean])
    if abs(mean - column.mean) > (step + step_of_mean) / 2 + EXACT:
        raise cells.wrong(
            column.row_of_mean,
            f"mean {column.measure} is stated as {column.mean:.6g}, but the mean of the "
            f"{pluralize(len(present), 'topic')} is {mean:.6g}",
            "check whether lines are missing or several files were joined",
        )


def _is_count(measure: Measure) -> bool:
    return measure_record(measure).kind == "count"


def _expected(text: str, value: float, measure: Measure) -> str:
    """Say which values a measure can have, for a message about an impossible value."""
    record = measure_record(measure)
    if math.isinf(value):
        if re.fullmatch(r"-?\d*,\d+", text):
            return "write decimals with a point, such as 0.1234"
        if re.fullmatch(r"-?[\d.,]+\s?%", text):
            return "write fractions instead of percentages, such as 0.679"
        is_number = re.fullmatch(r"[-+]?[\d.]+([eE][-+]?\d+)?", text)
        return f"expected a number up to {_LARGEST:g}" if is_number else "expected a finite number"
    if record.kind == "count":
        return "expected a whole number"
    if value < 0 <= record.low:
        return f"{measure} is never negative"
    percent = " (divide percentages by 100)" if record.high < value <= 100 else ""
    return f"{measure} is between {record.low:g} and {record.high:g}{percent}"


def _parse_number(text: str) -> tuple[float, int]:
    """Return a number and its decimals; the number is NaN if there is no value.

    The number is infinity if the text is not a number, or if the number is too large.
    """
    text = text.strip()
    if text in _NO_VALUE:
        return math.nan, 0
    try:
        value = float(text)
    except ValueError:
        return math.inf, 0
    is_valid = abs(value) <= _LARGEST and "_" not in text
    return (value, count_decimals(text)) if is_valid else (math.inf, 0)


def count_decimals(text: str) -> int:
    """Return how many decimals a number is written with; 0 if there is no value."""
    mantissa, _, exponent = text.strip().lower().partition("e")
    n_decimals = len(mantissa.partition(".")[2])
    if not exponent:
        return min(n_decimals, _MOST_DECIMALS)
    if len(exponent) > 6:  # This is longer than the exponent of any float.
        exponent = "-400" if exponent.startswith("-") else "400"
    return min(max(0, n_decimals - int(exponent)), _MOST_DECIMALS)
