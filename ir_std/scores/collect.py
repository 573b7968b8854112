"""The scores that a file holds, collected by run and checked."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from ir_measures.measures import Measure

from ir_std.errors import InputError, abbreviate, counted
from ir_std.measures import Standardized, measure_record
from ir_std.measures.names import measure_of_scores, only_in_trec_eval
from ir_std.schemes import EXACT
from ir_std.scores.run_scores import SUMMARY, RunScores, is_whole

_NO_VALUE = ("", "nan", "NaN", "null", "None")
_LARGEST = 1e100
"""Sums of squares of larger scores could overflow."""


class ScoreEntry(NamedTuple):
    """One value as a file has it.

    Attributes
    ----------
    line : int or None
    run : str
        Empty where the file does not name it.
    topic, measure, value : str
        As written.
    column : int
        Of a table the place of the column that the value is in.
    """

    line: int | None
    run: str
    topic: str
    measure: str
    value: str
    column: int = -1


def collect_scores(
    entries: Iterable[ScoreEntry], file: str, unit: str = "topic", skipped: Iterable[str] = ()
) -> dict[str, RunScores]:
    """Scores by run.

    Parameters
    ----------
    entries : iterable of ScoreEntry
        Those of topic ``all`` are means: they are compared with the means of the others.
    file : str
        What messages call it.
    unit : {'topic', 'collection'}
    skipped : iterable of str
        Names of what else there is, which are no measures.

    Raises
    ------
    InputError
        Naming the line of a value that is no number or cannot be one of its measure, or that
        comes twice; or if there is neither a value nor a mean, or a mean is not that of the values.
    """
    collector = _Collector(file)
    for entry in entries:
        collector.add(entry)
    collector.skipped.update(dict.fromkeys(skipped))
    if not collector.has_scores:
        what = abbreviate(collector.skipped)
        raise InputError.at(
            file,
            "no scores of a measure" + f" (there are {what})" * bool(what),
            "trec_eval and ir_measures list them by topic with -q",
        )
    return collector.scores(unit)


class _Column:
    """One run's values of one measure by topic, and the line of each in the same order."""

    __slots__ = ("decimals", "is_count", "lines", "measure", "stated", "values")

    def __init__(self, measure: Measure) -> None:
        self.measure, self.is_count = measure, measure_record(measure).kind == "count"
        self.values: dict[str, float] = {}
        self.lines: list[int | None] = []
        self.decimals = 0
        self.stated: tuple[int | None, float, float] | None = None

    def first_line(self, topic: str) -> int | None:
        """Return the line of a topic's value."""
        if topic == SUMMARY:
            return self.stated[0] if self.stated else None
        return self.lines[list(self.values).index(topic)]


class _Collector:
    """Collect the values of all runs in a file."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.skipped: dict[str, None] = {}
        self._by_name: dict[str, Measure | None] = {}
        self._decimals: dict[tuple[tuple[int, int], ...], dict[Measure, int]] = {}
        self._equal: dict[Measure, Measure] = {}
        # By run and the ID of the measure, which takes long to hash.
        self._runs: dict[str, dict[int, _Column]] = {}

    @property
    def has_scores(self) -> bool:
        """True if there is a value or a mean of a measure that is not a count."""
        columns = (column for run in self._runs.values() for column in run.values())
        return any((c.values or c.stated) and not c.is_count for c in columns)

    def add(self, entry: ScoreEntry) -> None:
        """Keep an entry's value, or the name of what is not a measure."""
        if entry.measure not in self._by_name:
            self._by_name[entry.measure] = self._find_measure(entry.measure)
        if (measure := self._by_name[entry.measure]) is None:
            return
        if (columns := self._runs.get(entry.run)) is None:
            columns = self._runs[entry.run] = {}
        if (column := columns.get(id(measure))) is None:
            column = columns[id(measure)] = _Column(measure)
        value, decimals = _number(entry.value)
        if entry.topic in column.values or (entry.topic == SUMMARY and column.stated):
            raise _again(self.file, entry, column.first_line(entry.topic))
        if value == math.inf:
            raise _no_number(self.file, entry)
        if column.is_count:
            _check_whole(self.file, entry, value)
        elif not 0 <= value <= 1:
            _check_range(self.file, entry, column.measure, value)
        if entry.topic == SUMMARY:
            column.stated = entry.line, value, 10.0**-decimals
        else:
            column.values[entry.topic] = value
            column.lines.append(entry.line)
            column.decimals = max(column.decimals, decimals)

    def _find_measure(self, name: str) -> Measure | None:
        """Return the measure that a name stands for, one object for equal ones; None if none."""
        found = None if is_no_score(name) else measure_of_scores(name)
        if found is None or isinstance(found, Standardized):
            self.skipped[name] = None
            return None
        return self._equal.setdefault(found, found)

    def scores(self, unit: str) -> dict[str, RunScores]:
        """Return the scores of each run, of which only these remain."""
        n_runs, found = len(self._runs), dict[str, RunScores]()
        for run in [*self._runs]:
            name = f"{self.file}, {run}" if n_runs > 1 else self.file
            found[run] = self._scores_of_run(name, [*self._runs.pop(run).values()], unit)
        return found

    def _scores_of_run(self, name: str, columns: list[_Column], unit: str) -> RunScores:
        counts = {column.measure.__name__: column for column in columns if column.is_count}
        columns = [column for column in columns if not column.is_count]
        values = {column.measure: column.values for column in columns if column.values}
        # Of hundreds of thousands of runs most have the same few of these.
        key = tuple((id(column.measure), column.decimals) for column in columns if column.values)
        if (decimals := self._decimals.get(key)) is None:
            decimals = {column.measure: column.decimals for column in columns if column.values}
            self._decimals[key] = decimals
        step = 10.0 ** -max(decimals.values(), default=0)
        unlisted = self._n_unlisted(values, counts.get("NumQ"))
        for column in columns:
            self._check_mean(column, step, unlisted)
        n_rel, n_ret = (
            {topic: int(n) for topic, n in counts[count].values.items()} if count in counts else {}
            for count in ("NumRel", "NumRet")
        )
        return RunScores(
            name,
            values,
            n_rel,
            n_ret,
            step if step > EXACT else 0.0,
            unlisted,
            tuple(self.skipped),
            unit,
            {column.measure: column.stated[1] for column in columns if column.stated},
            decimals,
        )

    def _n_unlisted(self, values: Mapping[Measure, Iterable[str]], n_topics: _Column | None) -> int:
        """Return how many topics more the means are over, as with ``trec_eval -c``."""
        n_listed = len({topic for column in values.values() for topic in column})
        if n_topics is None or n_topics.stated is None:
            return 0
        stated = int(n_topics.stated[1])
        if stated < n_listed:
            raise InputError.at(
                self.file,
                f"{counted(n_listed, 'topic')}, and num_q of all is {stated}",
                "it seems that several files were joined",
            )
        return stated - n_listed

    def _check_mean(self, column: _Column, step: float, unlisted: int) -> None:
        line, stated, its_step = column.stated or (None, math.nan, 0.0)
        known = [value for value in column.values.values() if not math.isnan(value)]
        if not known or math.isnan(stated):
            return
        mean = sum(known) / (len(known) + unlisted)
        if abs(mean - stated) > (step + its_step) / 2 + EXACT:
            raise InputError.at(
                self.file,
                f"{column.measure} of all is {stated:.6g}, the mean of the "
                f"{counted(len(known), 'topic')} is {mean:.6g}",
                "lines are missing, or several files were joined: make it again",
                line=line,
            )


def is_no_score(name: str) -> bool:
    """Whether trec_eval prints under a name what is no score, or none by topic."""
    return not name.strip() or name in ("runid", "relstring") or only_in_trec_eval(name)


@lru_cache(maxsize=1 << 14)  # scores of four decimals are ten thousand
def _number(text: str) -> tuple[float, int]:
    """A value, and with how many decimals it is written; infinite if it is none or too large."""
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


def _again(file: str, entry: ScoreEntry, first: int | None) -> InputError:
    return InputError.at(
        file,
        f"{entry.measure} of topic {entry.topic} again"
        + f", first on line {first}" * (first is not None),
        "one value each; give each run and each collection a file",
        line=entry.line,
    )


def _no_number(file: str, entry: ScoreEntry) -> InputError:
    text = entry.value.strip()
    expected = "a finite number is expected"
    if re.fullmatch(r"-?\d*,\d+", text):
        expected = "write decimals with a point: 0.1234"
    elif re.fullmatch(r"-?[\d.,]+\s?%", text):
        expected = "write fractions, not percent: 0.679"
    elif re.fullmatch(r"[-+]?[\d.]+([eE][-+]?\d+)?", text):
        expected = f"a number up to {_LARGEST:g} is expected"
    return InputError.at(
        file, f"{entry.measure} of topic {entry.topic} is {text!r}", expected, line=entry.line
    )


def _check_whole(file: str, entry: ScoreEntry, value: float) -> None:
    if not is_whole(value):
        raise InputError.at(
            file,
            f"{entry.measure} is {entry.value!r}",
            "a whole number is expected",
            line=entry.line,
        )


def _check_range(file: str, entry: ScoreEntry, measure: Measure, value: float) -> None:
    record = measure_record(measure)
    if value < 0 <= record.low:
        expected = "no measure is negative here"
    elif value < record.low - EXACT:
        expected = f"{measure} lies between -1 and 1"
    elif value > record.high + EXACT:
        expected = f"{measure} lies between 0 and 1" + (
            "; if these are percent, divide them by 100" if value <= 100 else ""
        )
    else:
        return
    raise InputError.at(
        file, f"{entry.measure} of topic {entry.topic} is {entry.value}", expected, line=entry.line
    )


def count_decimals(text: str) -> int:
    """The number of decimals that a number is written with; 0 if there is no value."""
    if text.strip() in _NO_VALUE:
        return 0
    mantissa, _, exponent = text.strip().lower().partition("e")
    if len(exponent) > 6:  # beyond all numbers that there are
        exponent = "-400" if exponent.startswith("-") else "400"
    return min(max(0, len(mantissa.partition(".")[2]) - int(exponent or 0)), 400)
