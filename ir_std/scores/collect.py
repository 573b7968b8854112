"""Collect the scores of each run in a file, and check the scores."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from ir_std._arrays import EXACT
from ir_std.errors import InputError, abbreviate, pluralize
from ir_std.measures import ExternalMeasure, Measure, Standardized, measure_record
from ir_std.measures.names import find_measure, only_in_trec_eval
from ir_std.scores.run_scores import COARSE, SUMMARY, RunScores, is_whole

_NO_VALUE = ("", "nan", "NaN", "null", "None")
_LARGEST = 1e100
"""Largest score; sums of squares of larger scores could overflow."""


@dataclass(frozen=True)
class ScoreCells:
    """Unchecked values of a file; each column holds one string per value.

    Attributes
    ----------
    file : str
        Name for messages.
    runs : sequence of str
        Run of each value; empty if the file does not name the run.
    topics : sequence of str
        Topic of each value.  Values of the topic ``all`` are means, which are compared with the
        means of the other values.
    measures, values : sequence of str
        Measure of each value, and the values as text.
    lines : sequence of int or None
        Line number of each value; empty if there are no lines, such as in a DataFrame.
    unit : {'topic', 'collection'}
        Unit of a score.
    skipped : tuple of str
        Names of the columns that are not measures.
    of_numbers : bool
        True if the values were numbers instead of text, so that their decimals do not show how
        they were rounded.
    """

    file: str
    runs: Sequence[str]
    topics: Sequence[str]
    measures: Sequence[str]
    values: Sequence[str]
    lines: Sequence[int | None] = ()
    unit: str = "topic"
    skipped: tuple[str, ...] = ()
    of_numbers: bool = False

    def __iter__(self) -> Iterator[tuple[str, str, str, str]]:
        """Iterate over the values, each with its run, topic and measure."""
        return zip(self.runs, self.topics, self.measures, self.values, strict=True)

    def line(self, row: int) -> int | None:
        """Return the line number of a value, if it has one."""
        return self.lines[row] if self.lines else None

    def row_of(self, run: str, topic: str, measure: Measure) -> int:
        """Return the row that holds a run's value of a measure on a topic."""
        names = {name for name in {*self.measures} if _measure_of(name) == measure}
        return next(
            row
            for row, (r, t, name, _) in enumerate(self)
            if (r, t) == (run, topic) and name in names
        )


class _Column(NamedTuple):
    """One run's values for one measure by topic, and the mean that the file states."""

    run: str
    measure: Measure
    values: dict[str, float]
    decimals: int
    mean: float | None
    step_of_mean: float


def collect_scores(cells: ScoreCells) -> dict[str, RunScores]:
    """Return scores by run; a run without a name gets the file's name.

    Raises
    ------
    InputError
        If a value is not a number, is impossible for its measure or occurs twice (the error names
        its line); if there is neither a value nor a mean; or if a mean differs from the mean of
        the values.
    """
    measures = {name: _measure_of(name) for name in dict.fromkeys(cells.measures)}
    unknown = [name for name, measure in measures.items() if measure is None]
    cells = replace(cells, skipped=tuple(dict.fromkeys([*unknown, *cells.skipped])))
    known = {name: measure for name, measure in measures.items() if measure is not None}
    if all(map(_is_count, known.values())):
        raise InputError.at(
            cells.file,
            "no scores of any measure"
            + f" (found {abbreviate(cells.skipped)})" * bool(cells.skipped),
            "list scores per topic with -q of trec_eval or ir_measures",
        )
    numbers = {text: _parse_number(text) for text in dict.fromkeys(cells.values)}
    decimals = {t: count_decimals(t) if math.isfinite(x) else 0 for t, x in numbers.items()}

    def column(run: str, measure: Measure, texts: dict[str, str]) -> _Column:
        values = dict(zip(texts, map(numbers.__getitem__, texts.values()), strict=True))
        _check_values(cells, run, measure, values)
        stated, mean = texts.pop(SUMMARY, None), values.pop(SUMMARY, None)
        step = 10.0 ** -decimals[stated] if stated is not None else 0.0
        n_decimals = max(map(decimals.__getitem__, texts.values()), default=0)
        return _Column(run, measure, values, n_decimals, mean, step)

    texts = _texts(cells, known)
    several = len(texts) > 1
    return {
        run or cells.file: _scores_of_run(
            cells,
            f"{cells.file}, {run}" if several else cells.file,
            [column(run, known[name], by_topic) for name, by_topic in by_name.items()],
        )
        for run, by_name in texts.items()
    }


def _measure_of(name: str) -> Measure | None:
    """Find a raw measure by its name; None if the name is not that of a raw measure."""
    found = None if is_not_topic_score(name) else find_measure(name) or ExternalMeasure(name)
    return None if isinstance(found, Standardized) else found


def _texts(cells: ScoreCells, known: Mapping[str, Measure]) -> dict[str, dict[str, dict[str, str]]]:
    """Return the values as text, in dicts by run, measure and topic.

    If a measure has several names in the file, the first name stands for all of them.
    """
    first_names: dict[Measure, str] = {}
    name_of = {name: first_names.setdefault(measure, name) for name, measure in known.items()}
    texts: dict[str, dict[str, dict[str, str]]] = defaultdict(lambda: defaultdict(dict))
    n_values = 0
    for run, topic, name, text in cells:
        if name in name_of:
            texts[run][name_of[name]][topic] = text
            n_values += 1
    if n_values > sum(len(by_topic) for by_name in texts.values() for by_topic in by_name.values()):
        raise _repeated(cells, known)
    return texts


def _repeated(cells: ScoreCells, known: Mapping[str, Measure]) -> InputError:
    """Return an error for the first value that has the run, measure and topic of another."""
    rows: dict[tuple[str, str, Measure | None], int] = {}
    for row, (run, topic, name, _) in enumerate(cells):
        first = rows.setdefault((run, topic, known.get(name)), row)
        if first != row and name in known:
            break
    return InputError.at(
        cells.file,
        f"duplicate {known[name]} for topic {topic}"
        + f", first on line {cells.line(first)}" * bool(cells.lines),
        "use a separate file for each run and each collection",
        line=cells.line(row),
    )


def _check_values(
    cells: ScoreCells, run: str, measure: Measure, values: Mapping[str, float]
) -> None:
    """Check that a run's values are possible for their measure."""
    record = measure_record(measure)
    low = max(record.low if record.low >= 0 else record.low - EXACT, -_LARGEST)
    high = min(record.high + EXACT, _LARGEST)  # texts that are not numbers count as infinite
    wrong = [t for t, value in values.items() if not (low <= value <= high or value != value)]
    if _is_count(measure):
        wrong += [topic for topic, value in values.items() if not is_whole(value)]
    if wrong:
        row = cells.row_of(run, wrong[0], measure)
        text = cells.values[row]
        raise InputError.at(
            cells.file,
            f"{cells.measures[row]} is {text!r} for topic {wrong[0]}",
            _expected(text, values[wrong[0]], measure),
            line=cells.line(row),
        )


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
            line=cells.line(cells.row_of(column.run, SUMMARY, column.measure)),
        )


def is_not_topic_score(name: str) -> bool:
    """Check whether a name is blank, or is one that only trec_eval uses, such as ``runid``."""
    return not name.strip() or name in ("runid", "relstring") or only_in_trec_eval(name)


def _is_count(measure: Measure) -> bool:
    return measure_record(measure).kind == "count"


def _expected(text: str, value: float, measure: Measure) -> str:
    """Describe the expected value, for a message about a value that a measure cannot have."""
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


def _parse_number(text: str) -> float:
    """Parse a number; return NaN if there is no value.

    The result is infinity if the text is not a number, or if the number is too large.
    """
    text = text.strip()
    if text in _NO_VALUE:
        return math.nan
    try:
        value = float(text)
    except ValueError:
        return math.inf
    return value if abs(value) <= _LARGEST and "_" not in text else math.inf


def count_decimals(text: str) -> int:
    """Return how many decimals a number is written with; 0 if there is no value."""
    mantissa, _, exponent = text.strip().lower().partition("e")
    n_decimals = len(mantissa.partition(".")[2])
    if not exponent:
        return min(n_decimals, 400)
    if len(exponent) > 6:  # This is longer than the exponent of any float.
        exponent = "-400" if exponent.startswith("-") else "400"
    return min(max(0, n_decimals - int(exponent)), 400)
