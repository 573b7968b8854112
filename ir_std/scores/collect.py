"""The scores that a file holds, collected by run and checked."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from ir_measures.measures import Measure

from ir_std.errors import InputError, abbreviate, counted
from ir_std.measures import ExternalMeasure, Standardized
from ir_std.measures.names import SIGNED, UNBOUNDED, measure_of_scores, only_in_trec_eval
from ir_std.schemes import EXACT
from ir_std.scores.run_scores import SUMMARY, RunScores, is_whole

_COUNTS = ("NumQ", "NumRel", "NumRet")
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
    runs: dict[str, _Collector] = {}
    for entry in entries:
        if entry.run not in runs:
            runs[entry.run] = _Collector(file)
        runs[entry.run].add(entry)
    for run in runs.values():
        run.skipped.update(dict.fromkeys(skipped))
    if not any(run.values or run.stated for run in runs.values()):
        what = abbreviate(dict.fromkeys(name for run in runs.values() for name in run.skipped))
        raise InputError.at(
            file,
            "no scores of a measure" + f" (there are {what})" * bool(what),
            "trec_eval and ir_measures list them by topic with -q",
        )
    return {
        name: run.scores(f"{file}, {name}" if len(runs) > 1 else file, unit)
        for name, run in runs.items()
    }


@dataclass
class _Column:
    """One measure's values by topic, and where each was first seen."""

    measure: Measure
    values: dict[str, float] = field(default_factory=dict)
    lines: dict[str, int | None] = field(default_factory=dict)
    decimals: int = 0


class _Collector:
    """Collects one run's entries."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.values: dict[Measure, dict[str, float]] = {}
        self.counts: dict[str, dict[str, int]] = {}
        self.stated: dict[Measure, tuple[int | None, float, float]] = {}
        self.skipped: dict[str, None] = {}
        self._columns: dict[Measure, _Column] = {}
        # Measures take long to hash: each is looked up once for each of its names.
        self._by_name: dict[str, _Column | None] = {}

    def add(self, entry: ScoreEntry) -> None:
        """Keep what an entry is: a count, a stated mean or a value; or its name, if it is none."""
        if entry.measure not in self._by_name:
            self._by_name[entry.measure] = self._look_up(entry.measure)
        column = self._by_name[entry.measure]
        if column is None:
            self.skipped[entry.measure] = None
            return
        first = column.lines.setdefault(entry.topic, entry.line)
        if first != entry.line or (first is None and entry.topic in column.values):
            raise _again(self.file, entry, first)
        value, decimals = _number(entry.value)
        if value == math.inf:
            raise _no_number(self.file, entry)
        if column.measure.__name__ in _COUNTS:
            self._count(entry, column.measure, value)
            return
        if not 0 <= value <= 1:
            _check_range(self.file, entry, column.measure, value)
        if entry.topic == SUMMARY:
            self.stated[column.measure] = entry.line, value, 10.0**-decimals
        else:
            self._keep(column, entry.topic, value, decimals)

    def _look_up(self, name: str) -> _Column | None:
        """The column of the measure that a name stands for; None if it is none."""
        measure = None if is_no_score(name) else measure_of_scores(name)
        if measure is None or isinstance(measure, Standardized):
            return None
        return self._columns.setdefault(measure, _Column(measure))

    def _keep(self, column: _Column, topic: str, value: float, decimals: int) -> None:
        if not column.values:
            self.values[column.measure] = column.values
        column.values[topic] = value
        column.decimals = max(column.decimals, decimals)

    def _count(self, entry: ScoreEntry, measure: Measure, value: float) -> None:
        if not is_whole(value):
            raise InputError.at(
                self.file,
                f"{entry.measure} is {entry.value!r}",
                "a whole number is expected",
                line=entry.line,
            )
        self.counts.setdefault(str(measure), {})[entry.topic] = int(value)

    def scores(self, name: str, unit: str) -> RunScores:
        decimals = {measure: self._columns[measure].decimals for measure in self.values}
        step = 10.0 ** -max(decimals.values(), default=0)
        unlisted = self._unlisted()
        self._check_means(step, unlisted)
        return RunScores(
            name,
            self.values,
            self._by_topic("NumRel"),
            self._by_topic("NumRet"),
            step if step > EXACT else 0.0,
            unlisted,
            tuple(self.skipped),
            unit,
            {measure: value for measure, (_, value, _) in self.stated.items()},
            decimals,
        )

    def _by_topic(self, count: str) -> dict[str, int]:
        return {t: n for t, n in self.counts.get(count, {}).items() if t != SUMMARY}

    def _unlisted(self) -> int:
        """How many topics more the means are of, as ``trec_eval -c`` has it."""
        stated = self.counts.get("NumQ", {}).get(SUMMARY)
        listed = {t for column in self.values.values() for t in column}
        if stated is not None and stated < len(listed):
            raise InputError.at(
                self.file,
                f"{counted(len(listed), 'topic')}, and num_q of all is {stated}",
                "it seems that several files were joined",
            )
        return (stated or len(listed)) - len(listed)

    def _check_means(self, step: float, unlisted: int) -> None:
        for measure, (line, stated, its_step) in self.stated.items():
            known = [v for v in self.values.get(measure, {}).values() if not math.isnan(v)]
            if not known or math.isnan(stated):
                continue
            mean = sum(known) / (len(known) + unlisted)
            if abs(mean - stated) > (step + its_step) / 2 + EXACT:
                raise InputError.at(
                    self.file,
                    f"{measure} of all is {stated:.6g}, the mean of the "
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


def _check_range(file: str, entry: ScoreEntry, measure: Measure, value: float) -> None:
    if isinstance(measure, ExternalMeasure):
        return
    if value < 0 and measure.__name__ not in SIGNED:
        expected = "no measure is negative here"
    elif value < -1 - EXACT:
        expected = f"{measure} lies between -1 and 1"
    elif value > 1 + EXACT and measure.__name__ not in UNBOUNDED:
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
