"""Collect the scores of each run in a file, and check the scores."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ir_std._arrays import EXACT, Floats, Ints
from ir_std.errors import InputError, abbreviate, pluralize
from ir_std.measures import ExternalMeasure, Measure, Standardized, measure_record
from ir_std.measures.names import find_measure
from ir_std.reading import Ids, decimal_numbers
from ir_std.scores.files import is_not_topic_score
from ir_std.scores.run_scores import COARSE, SUMMARY, RunScores, is_whole

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
        Line number of each row; empty if there are no lines, such as in a DataFrame.  The values
        are in the order of the rows, column by column.
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

    def line(self, row: int) -> int | None:
        """Return the line number of a value, if it has one."""
        return self.lines[row % len(self.lines)] if self.lines else None


class _Column(NamedTuple):
    """One run's values of one measure, by topic, and the mean that the file states."""

    measure: Measure
    values: dict[str, float]
    decimals: int
    mean: float | None
    step_of_mean: float
    line_of_mean: int | None


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
    cells = replace(cells, skipped=tuple(dict.fromkeys([*unknown, *cells.skipped])))
    if not len(cells.values) or all(m is None or _is_count(m) for m in measure_of.values()):
        raise InputError.at(
            cells.file,
            "no scores of any measure"
            + f" (found {abbreviate(cells.skipped)})" * bool(cells.skipped),
            "list scores per topic with -q of trec_eval or ir_measures",
        )
    columns = _columns(cells, cells.measures.map(measure_of.__getitem__))
    several = len(columns) > 1
    return {
        run or cells.file: _scores_of_run(
            cells, f"{cells.file}, {run}" if several else cells.file, by_measure
        )
        for run, by_measure in columns.items()
    }


def _columns(cells: ScoreCells, measures: Names) -> dict[str, list[_Column]]:
    """Return each run's columns, in the order of their first values."""
    numbers, decimals = _parse_numbers(cells.values)
    is_known = np.array([measure is not None for measure in measures.distinct])
    column = cells.runs.codes * len(is_known) + measures.codes
    rows = np.flatnonzero(is_known[measures.codes])
    rows = rows[np.argsort(column[rows], kind="stable")]
    cuts = np.flatnonzero(np.diff(column[rows], prepend=-1, append=-1))
    topics = np.array(cells.topics.distinct, object)[cells.topics.codes[rows]]
    values = numbers[rows]
    by_topic = [
        dict(zip(topics[a:b].tolist(), values[a:b].tolist(), strict=True))
        for a, b in pairwise(cuts.tolist())
    ]
    if sum(map(len, by_topic)) < len(rows):
        raise _repeated(cells, measures)
    _check_numbers(cells, measures, numbers, rows)
    is_mean = np.array([topic == SUMMARY for topic in cells.topics.distinct])[cells.topics.codes]
    means = np.flatnonzero(is_mean)
    row_of_mean = dict(zip(column[means].tolist(), means.tolist(), strict=True))
    most_decimals = np.maximum.reduceat(np.where(is_mean, 0, decimals)[rows], cuts[:-1]).tolist()
    columns: dict[str, list[_Column]] = defaultdict(list)
    for i in np.argsort(rows[cuts[:-1]]).tolist():
        row = int(rows[cuts[i]])
        mean = row_of_mean.get(int(column[row]))
        columns[cells.runs[row]].append(
            _Column(
                measures[row],
                by_topic[i],
                most_decimals[i],
                by_topic[i].pop(SUMMARY, None),
                0.0 if mean is None else 10.0 ** -int(decimals[mean]),
                None if mean is None else cells.line(mean),
            )
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
    return InputError.at(
        cells.file,
        f"duplicate {measures[row]} for topic {cells.topics[row]}"
        + f", first on line {cells.line(first)}" * bool(cells.lines),
        "use a separate file for each run and each collection",
        line=cells.line(row),
    )


def _check_numbers(cells: ScoreCells, measures: Names, numbers: Floats, rows: Ints) -> None:
    """Check that the numbers in some rows are possible for their measures."""
    low, high = np.array([_bounds(measure) for measure in measures.distinct]).T.copy()
    codes, found = measures.codes[rows], numbers[rows]
    wrong = (found < low[codes]) | (found > high[codes])
    is_count = np.array([m is not None and _is_count(m) for m in measures.distinct])
    counts = np.flatnonzero(is_count[codes])
    wrong[counts] |= np.array([not is_whole(number) for number in found[counts].tolist()], bool)
    if wrong.any():
        row = int(rows[wrong].min())
        text = cells.values[row : row + 1].strings()[0].strip()
        raise InputError.at(
            cells.file,
            f"{cells.measures[row]} is {text!r} for topic {cells.topics[row]}",
            _expected(text, numbers[row], measures[row]),
            line=cells.line(row),
        )


def _bounds(measure: Measure | None) -> tuple[float, float]:
    """Return the lowest and highest value that a measure can have, with room for rounding."""
    if measure is None:
        return -math.inf, math.inf
    record = measure_record(measure)
    low = record.low if record.low >= 0 else record.low - EXACT
    return max(low, -_LARGEST), min(record.high + EXACT, _LARGEST)


def _scores_of_run(cells: ScoreCells, name: str, columns: list[_Column]) -> RunScores:
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
    return RunScores(
        name,
        {column.measure: column.values for column in filled},
        n_rel,
        n_ret,
        step,
        unlisted,
        cells.skipped,
        cells.unit,
        {column.measure: column.mean for column in columns if column.mean is not None},
        decimals,
    )


def _count_unlisted(file: str, columns: Iterable[_Column], n_topics: _Column | None) -> int:
    """Count topics that no line lists, but that the means include (as with ``trec_eval -c``)."""
    if n_topics is None or n_topics.mean is None:
        return 0
    n_listed = len({topic for column in columns for topic in column.values})
    stated = int(n_topics.mean)
    if stated < n_listed:
        raise InputError.at(
            file,
            f"lists {pluralize(n_listed, 'topic')}, but num_q is {stated}",
            "check whether several files were joined",
        )
    return stated - n_listed


def _check_mean(cells: ScoreCells, column: _Column, step: float, unlisted: int) -> None:
    stated = column.mean
    if stated is None or math.isnan(stated):
        return
    known = [value for value in column.values.values() if value == value]
    if not known:
        return
    mean = sum(known) / (len(known) + unlisted)
    if abs(mean - stated) > (step + column.step_of_mean) / 2 + EXACT:
        raise InputError.at(
            cells.file,
            f"mean {column.measure} is stated as {stated:.6g}, but the mean of the "
            f"{pluralize(len(known), 'topic')} is {mean:.6g}",
            "check whether lines are missing or several files were joined",
            line=column.line_of_mean,
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


def _parse_numbers(texts: Ids) -> tuple[Floats, Ints]:
    """Return the numbers in texts, and with how many decimals they are written."""
    parts = [texts[a : a + _AT_ONCE] for a in range(0, len(texts), _AT_ONCE)]
    read = [decimal_numbers(part.codes, part.starts, part.starts + part.widths) for part in parts]
    numbers, decimals, certain = map(np.concatenate, zip(*read, strict=True))
    rows = np.flatnonzero(~certain)
    others = texts[rows].strings()
    parsed = {text: _parse_number(text) for text in dict.fromkeys(others)}
    for column, values in enumerate((numbers, decimals)):
        values[rows] = [parsed[text][column] for text in others]
    return numbers, decimals


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
