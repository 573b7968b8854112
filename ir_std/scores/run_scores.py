"""Scores that were computed elsewhere: one run's values by measure and topic."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from ir_measures.measures import Measure

from ir_std.errors import InputError, abbreviate
from ir_std.measures import Standardized
from ir_std.measures.names import UNBOUNDED, find_measure
from ir_std.schemes import EXACT
from ir_std.trec.qrels import DictQrels

SUMMARY = "all"
"""The topic that stands for the mean, as in trec_eval and ir_measures."""
_COUNTS = ("NumQ", "NumRel", "NumRet")
_NO_VALUE = ("", "nan", "NaN", "null", "None")


class ScoreEntry(NamedTuple):
    """One value as a file has it.

    Attributes
    ----------
    line : int or None
    run : str
        Empty where the file does not name it.
    topic, measure, value : str
        As written.
    """

    line: int | None
    run: str
    topic: str
    measure: str
    value: str


@dataclass(eq=False, repr=False)
class RunScores:
    """One run's scores, computed elsewhere.

    Attributes
    ----------
    name : str
        What messages call it.
    values : mapping of Measure to mapping of str to float
        By measure and topic; NaN where the file says that there is no value.
    n_rel : mapping of str to int
        Numbers of relevant documents (``num_rel``) by topic; empty where the file has none.
    n_ret : mapping of str to int
        Numbers of retrieved documents (``num_ret``); empty where the file has none.
    step : float
        The step in which the values were written, 0.0001 for four decimals; 0 for exact ones.
    unlisted : int
        The number of topics that went into the file's means and are not listed in it.
    passed_over : tuple of str
        Names in the file that are no raw measures here.
    unit : {'topic', 'collection'}
        What the scores are of: topics, or whole data sets.
    """

    name: str
    values: Mapping[Measure, Mapping[str, float]]
    n_rel: Mapping[str, int] = field(default_factory=dict)
    n_ret: Mapping[str, int] = field(default_factory=dict)
    step: float = 0.0
    unlisted: int = 0
    passed_over: tuple[str, ...] = ()
    unit: str = "topic"

    def __repr__(self) -> str:
        return (
            f"<RunScores of {self.name}: {len(self.topics)} {self.unit}s, "
            f"{', '.join(map(str, self.values))}>"
        )

    @property
    def topics(self) -> tuple[str, ...]:
        """All topics that have a value, in the file's order."""
        return tuple(
            dict.fromkeys(
                [*self.n_rel, *(topic for column in self.values.values() for topic in column)]
            )
        )

    def step_of(self, measure: Measure) -> float:
        """The step in which a measure's values were written; 0 if no decimals were lost."""
        if measure.__name__ == "Success":
            return 0.0
        if measure.__name__ == "P" and _is_whole(1 / (measure["cutoff"] * (self.step or 1))):
            return 0.0
        return self.step

    def column(self, measure: Measure, topics: Iterable[str]) -> npt.NDArray[np.float64]:
        """A measure's values on these topics: 0 on those that the run lacks altogether.

        NaN on a topic that the run has, but not with this measure; and on data sets without a
        result, which says nothing of the model.
        """
        known, mine = self.values[measure], set(self.topics)
        lacking = 0.0 if self.unit == "topic" else math.nan
        return np.array([known.get(t, math.nan if t in mine else lacking) for t in topics])

    def joined(self, other: RunScores) -> RunScores:
        """The scores of both, of the same run on other topics.

        Raises
        ------
        InputError
            If both have a value of the same measure and topic.
        """
        values: dict[Measure, dict[str, float]] = {m: dict(v) for m, v in self.values.items()}
        for measure, column in other.values.items():
            mine = values.setdefault(measure, {})
            if twice := mine.keys() & column.keys():
                raise InputError.at(
                    other.name, None, f"{measure} of {min(twice)} again", "give each result once"
                )
            mine.update(column)
        steps = (self.step, other.step)
        return RunScores(
            self.name,
            values,
            {**self.n_rel, **other.n_rel},
            {**self.n_ret, **other.n_ret},
            0.0 if 0 in steps else min(steps),
            self.unlisted + other.unlisted,
            tuple(dict.fromkeys(self.passed_over + other.passed_over)),
            self.unit,
        )


class CountedTopics(DictQrels):
    """In place of qrels: topics, and how many documents are relevant where that is known.

    Parameters
    ----------
    n_rel : mapping of str to int or None
    name : str
    """

    def __init__(self, n_rel: Mapping[str, int | None], name: str = "scores") -> None:
        super().__init__({topic: {} for topic in n_rel}, name)
        self.n_rel = dict(n_rel)

    def count(self, level: int = 1) -> npt.NDArray[np.int64]:
        """Number of relevant documents by topic; 0 where it is not known."""
        return np.array([n or 0 for n in self.n_rel.values()], np.int64)


def counted_topics(runs: Iterable[RunScores]) -> CountedTopics:
    """What scores tell of the judgments behind them: the topics of all, and their counts.

    Raises
    ------
    InputError
        If two disagree on the number of relevant documents, are of other units, or one has no
        topic in common with those before it.
    """
    runs = list(runs)
    units = {run.unit: run for run in runs}
    if len(units) > 1:
        raise InputError.at(
            units["collection"].name,
            None,
            f"scores of whole data sets beside those of topics in {units['topic'].name}",
            "give them separately",
        )
    n_rel: dict[str, int | None] = {}
    owner: dict[str, str] = {}
    for run in runs:
        if n_rel and n_rel.keys().isdisjoint(run.topics):
            raise InputError.at(
                run.name,
                None,
                f"no topic in common with {runs[0].name} (topics here such as "
                f"{run.topics[0]}, there such as {next(iter(n_rel))})",
                "evaluate each collection by itself, or use ir_std compare",
            )
        for topic in run.topics:
            here, there = run.n_rel.get(topic), n_rel.get(topic)
            if here is not None and there is not None and here != there:
                raise InputError.at(
                    run.name,
                    None,
                    f"topic {topic} has {here} relevant documents, in {owner[topic]} {there}",
                    "compare runs by the same judgments",
                )
            n_rel[topic] = there if here is None else here
            if here is not None:
                owner[topic] = run.name
    return CountedTopics(n_rel, runs[0].name if len(runs) == 1 else "scores")


def collect_scores(
    cells: Iterable[ScoreEntry], file: str, unit: str = "topic"
) -> dict[str, RunScores]:
    """Cells as scores by run.

    Parameters
    ----------
    cells : iterable of Cell
        Those of topic ``all`` are means: they are compared with the means of the others.
    file : str
        What messages call it.
    unit : {'topic', 'collection'}

    Raises
    ------
    InputError
        Naming the line of a value that is no number or cannot be one of its measure, or that
        comes twice; or if there is none, or a mean is not that of the values.
    """
    runs: dict[str, _Collector] = {}
    for cell in cells:
        runs.setdefault(cell.run, _Collector(file)).add(cell)
    if not any(run.values for run in runs.values()):
        what = abbreviate(dict.fromkeys(name for run in runs.values() for name in run.passed_over))
        raise InputError.at(
            file,
            None,
            "no scores of a measure by topic" + f" (there are {what})" * bool(what),
            "trec_eval and ir_measures list them with -q",
        )
    return {
        name: run.scores(f"{file}, {name}" if len(runs) > 1 else file, unit)
        for name, run in runs.items()
    }


class _Collector:
    """Gathers one run's cells."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.values: dict[Measure, dict[str, float]] = {}
        self.counts: dict[str, dict[str, int]] = {}
        self.stated: dict[Measure, tuple[int | None, float, float]] = {}
        self.passed_over: dict[str, None] = {}
        self.lines: dict[tuple[Measure, str], int | None] = {}
        self.decimals = 0

    def add(self, cell: ScoreEntry) -> None:
        measure = find_measure(cell.measure)
        if measure is None or isinstance(measure, Standardized):
            self.passed_over[cell.measure] = None
            return
        first = self.lines.setdefault((measure, cell.topic), cell.line)
        if first != cell.line or (cell.line is None and cell.topic in self.values.get(measure, ())):
            raise InputError.at(
                self.file,
                cell.line,
                f"{cell.measure} of topic {cell.topic} again"
                + f", first on line {first}" * (first is not None),
                "one value each; give each run and each collection a file",
            )
        value = _number(self.file, cell)
        if measure.__name__ in _COUNTS:
            self._count(cell, measure, value)
        elif cell.topic == SUMMARY:
            _check_range(self.file, cell, measure, value)
            self.stated[measure] = cell.line, value, 10.0 ** -count_decimals(cell.value)
        else:
            _check_range(self.file, cell, measure, value)
            self.values.setdefault(measure, {})[cell.topic] = value
            self.decimals = max(self.decimals, count_decimals(cell.value))

    def _count(self, cell: ScoreEntry, measure: Measure, value: float) -> None:
        if not _is_whole(value):
            raise InputError.at(
                self.file,
                cell.line,
                f"{cell.measure} is {cell.value!r}",
                "a whole number is expected",
            )
        self.counts.setdefault(str(measure), {})[cell.topic] = int(value)

    def scores(self, name: str, unit: str) -> RunScores:
        step = 10.0**-self.decimals
        unlisted = self._unlisted()
        self._check_means(step, unlisted)
        return RunScores(
            name,
            self.values,
            self._by_topic("NumRel"),
            self._by_topic("NumRet"),
            step if step > EXACT else 0.0,
            unlisted,
            tuple(self.passed_over),
            unit,
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
                None,
                f"{len(listed)} topics, and num_q of all is {stated}",
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
                    line,
                    f"{measure} of all is {stated:.6g}, the mean of the "
                    f"{len(known)} topics is {mean:.6g}",
                    "lines are missing, or several files were joined: make it again",
                )


def _number(file: str, cell: ScoreEntry) -> float:
    text = cell.value.strip()
    if text in _NO_VALUE:
        return math.nan
    try:
        value = float(text)
    except ValueError:
        value = math.inf
    if math.isfinite(value) and "_" not in text:
        return value
    expected = "a finite number is expected"
    if re.fullmatch(r"-?\d*,\d+", text):
        expected = "write decimals with a point: 0.1234"
    elif re.fullmatch(r"-?[\d.,]+\s?%", text):
        expected = "write fractions, not percent: 0.679"
    raise InputError.at(
        file, cell.line, f"{cell.measure} of topic {cell.topic} is {text!r}", expected
    )


def _check_range(file: str, cell: ScoreEntry, measure: Measure, value: float) -> None:
    if value < 0:
        expected = "no measure is negative here"
    elif value > 1 + EXACT and measure.__name__ not in UNBOUNDED:
        expected = f"{measure} lies between 0 and 1" + (
            "; if these are percent, divide them by 100" if value <= 100 else ""
        )
    else:
        return
    raise InputError.at(
        file, cell.line, f"{cell.measure} of topic {cell.topic} is {cell.value}", expected
    )


def count_decimals(text: str) -> int:
    """The number of decimals that a number is written with; 0 if there is no value."""
    if text.strip() in _NO_VALUE:
        return 0
    exponent = Decimal(text.strip()).as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def _is_whole(value: float) -> bool:
    return abs(value - round(value)) <= EXACT if math.isfinite(value) else False
