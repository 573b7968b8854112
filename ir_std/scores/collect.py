"""Collect the scores in a file by run, and check them."""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, compress, islice
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from ir_measures.measures import Measure

from ir_std._arrays import Floats, Ints
from ir_std.errors import InputError, abbreviate, pluralize
from ir_std.measures import Standardized, measure_record
from ir_std.measures.names import measure_of_scores, only_in_trec_eval
from ir_std.schemes import EXACT
from ir_std.scores.run_scores import SUMMARY, RunScores

BLOCK_SIZE = 1 << 16
"""Number of values that are collected at once."""
_NO_VALUE = ("", "nan", "NaN", "null", "None")
_LARGEST = 1e100
"""Largest score; sums of squares of larger ones could overflow."""

Entry: TypeAlias = tuple[int | None, str, str, str, str]
"""Line, run, topic, measure and value."""


class Block(NamedTuple):
    """Values as a file has them, one item of each attribute for each value.

    Attributes
    ----------
    lines : sequence of int or None
    runs : sequence of str
        Empty texts where the file does not name the run.
    topics, measures, values : sequence of str
        As written.
    columns : sequence of int
        Places of the columns that the values are in, for tables.
    """

    lines: Sequence[int | None]
    runs: Sequence[str]
    topics: Sequence[str]
    measures: Sequence[str]
    values: Sequence[str]
    columns: Sequence[int] = ()


def blocks_of(entries: Iterable[Entry]) -> Iterator[Block]:
    """Return single values in blocks."""
    entries = iter(entries)
    while cells := [*chain.from_iterable(islice(entries, BLOCK_SIZE))]:
        columns: list[Any] = [cells[i::5] for i in range(5)]
        yield Block(*columns)


def collect_scores(
    blocks: Iterable[Block], file: str, unit: str = "topic", skipped: Iterable[str] = ()
) -> dict[str, RunScores]:
    """Return scores by run.

    Parameters
    ----------
    blocks : iterable of Block
        Values of the topic ``all`` are means, which are compared with the means of the others.
    file : str
        Name for messages.
    unit : {'topic', 'collection'}
    skipped : iterable of str
        Names of other columns, which are not measures.

    Raises
    ------
    InputError
        If a value is not a number, is impossible for its measure or occurs twice, with its line;
        if there is neither a value nor a mean; or if a mean is not that of the values.
    """
    collector = _Collector(file)
    for block in blocks:
        collector.add(block)
    collector.skipped.update(dict.fromkeys(skipped))
    if not collector.has_scores:
        names = abbreviate(collector.skipped)
        raise InputError.at(
            file,
            "no scores of a measure" + f" (found {names})" * bool(names),
            "list scores per topic with -q of trec_eval or ir_measures",
        )
    return collector.scores(unit)


class _Column(NamedTuple):
    """One run's values of one measure by topic, and the mean that the file states."""

    measure: Measure
    is_count: bool
    values: dict[str, float]
    decimals: int
    mean: tuple[int | None, float, float] | None  # line, value, step


class _Collector:
    """Collect the values of all runs in a file."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.skipped: dict[str, None] = {}
        self._measures: dict[Measure, int] = {}
        self._number_of: dict[str, int] = {}
        self._groups: dict[tuple[str, int], int] = {}  # by run and measure
        self._lines: list[int | None] = []
        self._topics: list[str] = []
        self._values, self._decimals, self._group = array("d"), array("h"), array("q")
        self._same_decimals: dict[tuple[tuple[int, int], ...], dict[Measure, int]] = {}

    @property
    def has_scores(self) -> bool:
        """True if there is a value or a mean of a measure that is not a count."""
        is_count = [_is_count(measure) for measure in self._measures]
        return not all(is_count[number] for _, number in self._groups)

    def add(self, block: Block) -> None:
        """Keep the values of measures, and the names of what is not a measure."""
        for name in dict.fromkeys(block.measures):
            if name not in self._number_of:
                self._number_of[name] = self._find_number(name)
        numbers = [self._number_of[name] for name in block.measures]
        if -1 in numbers:
            kept = [number >= 0 for number in numbers]
            cells: list[Any] = [[*compress(column, kept)] for column in block]
            block = Block(*cells)
            numbers = [*compress(numbers, kept)]
        if not numbers:
            return
        parsed = [*map(_parse_number, block.values)]
        values = [value for value, _ in parsed]
        self._check(block, np.array(values), np.array(numbers))
        groups = self._groups
        self._group.extend(
            [groups.setdefault(key, len(groups)) for key in zip(block.runs, numbers, strict=True)]
        )
        self._values.extend(values)
        self._decimals.extend([decimals for _, decimals in parsed])
        self._lines.extend(block.lines)
        self._topics.extend(block.topics)

    def _find_number(self, name: str) -> int:
        """Return the number of the measure that a name means, one for equal ones; -1 if none."""
        found = None if is_not_topic_score(name) else measure_of_scores(name)
        if found is None or isinstance(found, Standardized):
            self.skipped[name] = None
            return -1
        return self._measures.setdefault(found, len(self._measures))

    def _check(self, block: Block, values: Floats, numbers: Ints) -> None:
        """Raise an error for the first value that its measure cannot have."""
        measures = [*self._measures]
        low, high, is_count = np.array([_range(measure) for measure in measures]).T[:, numbers]
        wrong = np.isinf(values) | (values < low) | (values > high)
        with np.errstate(invalid="ignore"):
            wrong |= (is_count > 0) & ~(np.abs(values - np.rint(values)) <= EXACT)
        if wrong.any():
            at = int(wrong.argmax())
            name, topic, text = block.measures[at], block.topics[at], block.values[at].strip()
            raise InputError.at(
                self.file,
                f"{name} is {text!r} for topic {topic}",
                _expected(text, values[at], measures[numbers[at]]),
                line=block.lines[at],
            )

    def scores(self, unit: str) -> dict[str, RunScores]:
        """Return the scores of each run."""
        runs: dict[str, list[_Column]] = {}
        for run, column in self._columns():
            runs.setdefault(run, []).append(column)
        n_runs, found = len(runs), dict[str, RunScores]()
        for run in [*runs]:
            name = f"{self.file}, {run}" if n_runs > 1 else self.file
            found[run] = self._scores_of_run(name, runs.pop(run), unit)
        return found

    def _columns(self) -> Iterator[tuple[str, _Column]]:
        measures, group = [*self._measures], np.array(self._group)
        order = np.argsort(group, kind="stable")
        topics = [self._topics[i] for i in order.tolist()]
        values, decimals = (np.array(a)[order].tolist() for a in (self._values, self._decimals))
        start = 0
        for (run, number), end in zip(self._groups, np.cumsum(np.bincount(group)), strict=True):
            measure, mean = measures[number], None
            by_topic = dict(zip(topics[start:end], values[start:end], strict=True))
            if len(by_topic) < end - start:
                raise self._repeated(measure, topics[start:end], order[start:end])
            if SUMMARY in by_topic:
                at = topics.index(SUMMARY, start, end)
                step, decimals[at] = 10.0 ** -decimals[at], 0
                mean = self._lines[order[at]], by_topic.pop(SUMMARY), step
            most = max(decimals[start:end])
            yield run, _Column(measure, _is_count(measure), by_topic, most, mean)
            start = end

    def _repeated(self, measure: Measure, topics: list[str], rows: Ints) -> InputError:
        lines: dict[str, int | None] = {}
        for topic, row in zip(topics, rows.tolist(), strict=True):
            if topic in lines:
                break
            lines[topic] = self._lines[row]
        first = lines[topic]
        return InputError.at(
            self.file,
            f"duplicate {measure} for topic {topic}" + f", first on line {first}" * bool(first),
            "use a separate file for each run and each collection",
            line=self._lines[row],
        )

    def _scores_of_run(self, name: str, all_columns: list[_Column], unit: str) -> RunScores:
        columns = [column for column in all_columns if not column.is_count]
        filled = [column for column in columns if column.values]
        counts = {column.measure.__name__: column for column in all_columns if column.is_count}
        # Hundreds of thousands of runs share a few of these.
        key = tuple((id(column.measure), column.decimals) for column in filled)
        if (decimals := self._same_decimals.get(key)) is None:
            decimals = {column.measure: column.decimals for column in filled}
            self._same_decimals[key] = decimals
        step = 10.0 ** -max(decimals.values(), default=0)
        unlisted = self._n_unlisted(filled, counts.get("NumQ"))
        for column in columns:
            self._check_mean(column, step, unlisted)
        n_rel, n_ret = (
            {topic: int(n) for topic, n in counts[count].values.items()} if count in counts else {}
            for count in ("NumRel", "NumRet")
        )
        values = {column.measure: column.values for column in filled}
        means = {column.measure: column.mean[1] for column in columns if column.mean}
        step = step if step > EXACT else 0.0
        skipped = tuple(self.skipped)
        return RunScores(name, values, n_rel, n_ret, step, unlisted, skipped, unit, means, decimals)

    def _n_unlisted(self, columns: Iterable[_Column], n_topics: _Column | None) -> int:
        """Return how many more topics the means are over, as with ``trec_eval -c``."""
        n_listed = len({topic for column in columns for topic in column.values})
        if n_topics is None or n_topics.mean is None:
            return 0
        stated = int(n_topics.mean[1])
        if stated < n_listed:
            raise InputError.at(
                self.file,
                f"lists {pluralize(n_listed, 'topic')}, but num_q of all is {stated}",
                "check whether several files were joined",
            )
        return stated - n_listed

    def _check_mean(self, column: _Column, step: float, unlisted: int) -> None:
        line, stated, its_step = column.mean or (None, math.nan, 0.0)
        known = [value for value in column.values.values() if not math.isnan(value)]
        if not known or math.isnan(stated):
            return
        mean = sum(known) / (len(known) + unlisted)
        if abs(mean - stated) > (step + its_step) / 2 + EXACT:
            raise InputError.at(
                self.file,
                f"{column.measure} of all is {stated:.6g}, but the mean of the "
                f"{pluralize(len(known), 'topic')} is {mean:.6g}",
                "check whether lines are missing or several files were joined",
                line=line,
            )


def is_not_topic_score(name: str) -> bool:
    """Check whether trec_eval prints a text, or no score per topic, under a name."""
    return not name.strip() or name in ("runid", "relstring") or only_in_trec_eval(name)


def _is_count(measure: Measure) -> bool:
    return measure_record(measure).kind == "count"


def _range(measure: Measure) -> tuple[float, float, bool]:
    """Return the lowest and highest value that a measure may have, and if these are whole."""
    record = measure_record(measure)
    if record.kind == "count":
        return -math.inf, math.inf, True
    return record.low if record.low >= 0 else record.low - EXACT, record.high + EXACT, False


def _expected(text: str, value: float, measure: Measure) -> str:
    """Return what a message expects instead of a value that a measure cannot have."""
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


@lru_cache(maxsize=1 << 14)  # there are ten thousand scores of four decimals
def _parse_number(text: str) -> tuple[float, int]:
    """Return a value and its number of decimals; infinity if it is not a number or too large."""
    text = text.strip()
    if text in _NO_VALUE:
        return math.nan, 0
    try:
        value = float(text)
    except ValueError:
        value = math.inf
    if not abs(value) <= _LARGEST or "_" in text:
        return math.inf, 0
    return value, count_decimals(text)


def count_decimals(text: str) -> int:
    """Return the number of decimals that a number is written with; 0 if there is no value."""
    mantissa, _, exponent = text.strip().lower().partition("e")
    n_decimals = len(mantissa.partition(".")[2])
    if not exponent:
        return min(n_decimals, 400)
    if len(exponent) > 6:  # beyond all numbers that there are
        exponent = "-400" if exponent.startswith("-") else "400"
    return min(max(0, n_decimals - int(exponent)), 400)
