"""Collect the scores in a file by run, and check them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from ir_measures.measures import Measure

from ir_std._arrays import Floats, Ints
from ir_std.errors import InputError, abbreviate, pluralize
from ir_std.measures import Standardized, measure_record
from ir_std.measures.names import measure_of_scores, only_in_trec_eval
from ir_std.schemes import EXACT
from ir_std.scores.run_scores import COARSE, SUMMARY, RunScores

_NO_VALUE = ("", "nan", "NaN", "null", "None")
_LARGEST = 1e100
"""Largest score; sums of squares of larger ones could overflow."""


class Texts(NamedTuple):
    """Texts with many repetitions, of which each different one is stored once.

    Attributes
    ----------
    names : list of str
        The different texts, in the order in which they first occur.
    numbers : ndarray of int
        Index into the names for each text.
    """

    names: list[str]
    numbers: Ints

    @classmethod
    def of(cls, texts: Sequence[str], clean: Callable[[str], str] = str.strip) -> Texts:
        """Return cleaned texts; each different text is cleaned only once."""
        number_of: dict[str, int] = {}
        cleaned = {
            text: number_of.setdefault(clean(text), len(number_of)) for text in dict.fromkeys(texts)
        }
        return cls([*number_of], np.fromiter(map(cleaned.__getitem__, texts), np.intp, len(texts)))

    def where(self, kept: npt.NDArray[np.bool_]) -> Texts:
        """Return some of the texts."""
        return Texts(self.names, self.numbers[kept])


class ScoreCells(NamedTuple):
    """Values of a file before they are checked; each array and text has one item per value.

    Attributes
    ----------
    file : str
        Name for messages.
    lines : ndarray of int or None
        Line number of each value.
    runs : Texts
        Run of each value; empty if the file does not name the run.
    topics : Texts
        Topic of each value.  Values of the topic ``all`` are means, which are compared with the
        means of the other values.
    measures, values : Texts
        Measure of each value, and the values as text.
    unit : {'topic', 'collection'}
        Unit of a score.
    skipped : tuple of str
        Names of the columns that are not measures.
    of_numbers : bool
        True if the values were numbers instead of text, so that their decimals do not show how
        they were rounded.
    """

    file: str
    lines: npt.NDArray[np.object_]
    runs: Texts
    topics: Texts
    measures: Texts
    values: Texts
    unit: str = "topic"
    skipped: tuple[str, ...] = ()
    of_numbers: bool = False

    @classmethod
    def of(
        cls,
        file: str,
        columns: Sequence[Sequence[str]],
        lines: Sequence[int | None] | None = None,
        **more: Any,
    ) -> ScoreCells:
        """Return cells of four columns: runs, topics, measures and values."""
        shown = np.array(lines or [None] * len(columns[0]), object)
        runs, topics, measures, values = (Texts.of(column, str) for column in columns)
        return cls(file, shown, runs, topics, measures, values, **more)


def collect_scores(cells: ScoreCells) -> dict[str, RunScores]:
    """Return scores by run; a run without a name gets the file's name.

    Raises
    ------
    InputError
        If a value is not a number, is impossible for its measure or occurs twice (the error names
        its line); if there is neither a value nor a mean; or if a mean differs from the mean of
        the values.
    """
    found = {name: _measure_of(name) for name in cells.measures.names}
    measures = [*dict.fromkeys(measure for measure in found.values() if measure is not None)]
    number_of: dict[Measure | None, int] = {measure: i for i, measure in enumerate(measures)}
    numbers = np.array([number_of.get(m, -1) for m in found.values()], np.intp)
    numbers = numbers[cells.measures.numbers]
    unknown = [name for name, measure in found.items() if measure is None]
    skipped = tuple(dict.fromkeys([*unknown, *cells.skipped]))
    kept = numbers >= 0
    numbers = numbers[kept]
    if all(_is_count(measures[i]) for i in np.unique(numbers)):
        raise InputError.at(
            cells.file,
            "no scores of a measure" + f" (found {abbreviate(skipped)})" * bool(skipped),
            "list scores per topic with -q of trec_eval or ir_measures",
        )
    cells = cells._replace(
        lines=cells.lines[kept],
        runs=cells.runs.where(kept),
        topics=cells.topics.where(kept),
        measures=cells.measures.where(kept),
        values=cells.values.where(kept),
        skipped=skipped,
    )
    return _Collector(cells, measures, numbers).scores()


def _measure_of(name: str) -> Measure | None:
    """Return the raw measure with a name, if any."""
    found = None if is_not_topic_score(name) else measure_of_scores(name)
    return None if isinstance(found, Standardized) else found


_Mean: TypeAlias = tuple[int | None, float, float]
"""Line, value, and rounding step of a mean."""


class _Column(NamedTuple):
    """One run's values for one measure by topic, and the mean that the file states."""

    run: str
    measure: Measure
    values: dict[str, float]
    decimals: int
    mean: _Mean | None


class _Collector:
    """Collect the values of all runs in a file; ``numbers`` gives the measure of each value."""

    def __init__(self, cells: ScoreCells, measures: list[Measure], numbers: Ints) -> None:
        self.cells, self.file, self.measures, self.numbers = cells, cells.file, measures, numbers
        self._decimals: dict[tuple[tuple[int, int], ...], dict[Measure, int]] = {}

    def scores(self) -> dict[str, RunScores]:
        """Return the scores of each run."""
        several = len(np.unique(self.cells.runs.numbers)) > 1
        return {
            run or self.file: self._scores_of_run(
                f"{self.file}, {run}" if several else self.file, [*columns]
            )
            for run, columns in groupby(self._columns(), attrgetter("run"))
        }

    def _columns(self) -> Iterator[_Column]:
        """Yield the columns of each run, run by run."""
        cells, (names, topic) = self.cells, self.cells.topics
        parsed = np.array([*map(_parse_number, cells.values.names)])
        values, decimals = parsed.T[:, cells.values.numbers]
        self._check(values)
        groups = cells.runs.numbers * len(self.measures) + self.numbers
        order = np.lexsort((topic, groups))
        self._check_unique(groups[order], order)
        is_mean = topic == (names.index(SUMMARY) if SUMMARY in names else -1)
        means = dict(zip(groups[is_mean].tolist(), np.flatnonzero(is_mean).tolist(), strict=True))
        starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
        most = np.maximum.reduceat(np.where(is_mean, 0, decimals)[order], starts).astype(int)
        topics, ordered = [names[i] for i in topic[order].tolist()], values[order].tolist()
        for group, start, end, n_decimals in zip(
            groups[order[starts]].tolist(),
            starts.tolist(),
            [*starts[1:].tolist(), len(order)],
            most.tolist(),
            strict=True,
        ):
            run, number = divmod(group, len(self.measures))
            by_topic = dict(zip(topics[start:end], ordered[start:end], strict=True))
            mean: _Mean | None = None
            if (at := means.get(group)) is not None:
                line: int | None = cells.lines.item(at)
                mean = line, by_topic.pop(SUMMARY), 10.0 ** -int(decimals[at])
            yield _Column(cells.runs.names[run], self.measures[number], by_topic, n_decimals, mean)

    def _topic(self, at: int) -> str:
        number: int = self.cells.topics.numbers[at]
        return self.cells.topics.names[number]

    def _check(self, values: Floats) -> None:
        """Raise an error for the first value that its measure cannot have."""
        low, high, is_count = np.array([*map(_range, self.measures)]).T[:, self.numbers]
        wrong = np.isinf(values) | (values < low) | (values > high)
        with np.errstate(invalid="ignore"):
            wrong |= (is_count > 0) & ~(np.abs(values - np.rint(values)) <= EXACT)
        if wrong.any():
            at = int(wrong.argmax())
            cells = self.cells
            name, text = (t.names[t.numbers[at]] for t in (cells.measures, cells.values))
            raise InputError.at(
                self.file,
                f"{name} is {text!r} for topic {self._topic(at)}",
                _expected(text, values[at], self.measures[self.numbers[at]]),
                line=cells.lines[at],
            )

    def _check_unique(self, groups: Ints, order: Ints) -> None:
        """Raise an error for the first value whose run, measure and topic occurred before."""
        topics = self.cells.topics.numbers[order]
        repeated = np.flatnonzero((np.diff(groups) == 0) & (np.diff(topics) == 0))
        if len(repeated):
            place = repeated[np.argmin(order[repeated + 1])]
            first, again = order[place], order[place + 1]
            line = self.cells.lines[first]
            raise InputError.at(
                self.file,
                f"duplicate {self.measures[self.numbers[again]]} for topic {self._topic(again)}"
                + f", first on line {line}" * bool(line),
                "use a separate file for each run and each collection",
                line=self.cells.lines[again],
            )

    def _scores_of_run(self, name: str, columns: list[_Column]) -> RunScores:
        cells = self.cells
        counts = {c.measure.__name__: c for c in columns if _is_count(c.measure)}
        columns = [column for column in columns if column.measure.__name__ not in counts]
        filled = [column for column in columns if column.values]
        # The cache saves memory, because many thousand runs share a few of these dicts.
        key = tuple((id(column.measure), column.decimals) for column in filled)
        if key not in self._decimals:
            self._decimals[key] = {column.measure: column.decimals for column in filled}
        decimals = self._decimals[key]
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
        if step <= EXACT or (cells.of_numbers and step >= COARSE):
            step = 0.0
        return RunScores(
            name,
            values,
            n_rel,
            n_ret,
            step,
            unlisted,
            cells.skipped,
            cells.unit,
            means,
            decimals,
        )

    def _n_unlisted(self, columns: Iterable[_Column], n_topics: _Column | None) -> int:
        """Return the number of unlisted topics in the means, as with ``trec_eval -c``."""
        if n_topics is None or n_topics.mean is None:
            return 0
        n_listed = len({topic for column in columns for topic in column.values})
        stated = int(n_topics.mean[1])
        if stated < n_listed:
            raise InputError.at(
                self.file,
                f"lists {pluralize(n_listed, 'topic')}, but num_q is {stated}",
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
                f"mean {column.measure} is stated as {stated:.6g}, but the mean of the "
                f"{pluralize(len(known), 'topic')} is {mean:.6g}",
                "check whether lines are missing or several files were joined",
                line=line,
            )


def is_not_topic_score(name: str) -> bool:
    """Check whether a name in trec_eval's output is not that of a score per topic."""
    return not name.strip() or name in ("runid", "relstring") or only_in_trec_eval(name)


def _is_count(measure: Measure) -> bool:
    return measure_record(measure).kind == "count"


def _range(measure: Measure) -> tuple[float, float, bool]:
    """Return a measure's lowest and highest value, and whether its values are whole numbers."""
    record = measure_record(measure)
    if record.kind == "count":
        return -math.inf, math.inf, True
    return record.low if record.low >= 0 else record.low - EXACT, record.high + EXACT, False


def _expected(text: str, value: float, measure: Measure) -> str:
    """Return the expectation for a message about a value that a measure cannot have."""
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
    """Return the number of decimals of a number as it is written; 0 if there is no value."""
    mantissa, _, exponent = text.strip().lower().partition("e")
    n_decimals = len(mantissa.partition(".")[2])
    if not exponent:
        return min(n_decimals, 400)
    if len(exponent) > 6:  # This is longer than the exponent of any float.
        exponent = "-400" if exponent.startswith("-") else "400"
    return min(max(0, n_decimals - int(exponent)), 400)
