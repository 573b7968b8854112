"""The forms of tables that hold scores: what shows each, and how its rows become scores."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from ir_std.errors import InputError, UsageError, abbreviate
from ir_std.measures.names import find_measure
from ir_std.scores.collect import ScoreEntry
from ir_std.scores.layout import QUESTIONS, ROLES, Layout
from ir_std.scores.mteb import find_dataset
from ir_std.scores.run_scores import SUMMARY
from ir_std.scores.tables import TableRows, columns_text, split_header

ALL_COLLECTIONS = "all of these"
"""What a table of comparisons calls the mean over its collections."""
_DOCUMENTS = {"docno", "doc_id", "docid", "document"}


class Form(NamedTuple):
    """A form of tables.

    Attributes
    ----------
    layout : str
        What a message says of it.
    fits : callable
        Whether a table has it.
    entries : callable
        The scores of the table.
    unit : callable
        What they are of: ``'topic'`` or ``'collection'``.
    """

    layout: str
    fits: Callable[[Layout], bool]
    entries: Callable[[Layout], Iterator[ScoreEntry]]
    unit: Callable[[Layout], str] = lambda at: at.scored


def _long(at: Layout) -> Iterator[ScoreEntry]:
    unit_at, run_at = at.roles.get(at.unit or ""), at.roles.get("run")
    measure_at, place, measure = at.roles.get("measure"), at.roles["value"], str(at.measure)
    for line, row in at.table.rows:
        yield ScoreEntry(
            line,
            "" if run_at is None else row[run_at],
            SUMMARY if unit_at is None else row[unit_at],
            measure if measure_at is None else row[measure_at],
            row[place],
            place,
        )


def _by_measure(at: Layout) -> Iterator[ScoreEntry]:
    texts = set(at.texts)
    columns = [(i, at.table.header[i]) for i in at.others if i not in texts]
    unit_at, run_at = at.roles.get(at.unit or ""), at.roles.get("run")
    for line, row in at.table.rows:
        unit = SUMMARY if unit_at is None else row[unit_at]
        run = "" if run_at is None else row[run_at]
        for i, name in columns:
            yield ScoreEntry(line, run, unit, name, row[i], i)


def _by_run(at: Layout) -> Iterator[ScoreEntry]:
    runs = [(i, at.table.header[i]) for i in at.others]
    unit_at, measure = at.roles[at.unit or "topic"], str(at.measure)
    for line, row in at.table.rows:
        for i, run in runs:
            yield ScoreEntry(line, run, row[unit_at], measure, row[i], i)


def _leaderboard(at: Layout) -> Iterator[ScoreEntry]:
    units = [(i, at.table.header[i]) for i in _units_across(at)]
    run_at, measure = at.roles["run"], str(at.measure)
    for line, row in at.table.rows:
        for i, unit in units:
            yield ScoreEntry(line, row[run_at], unit, measure, row[i], i)


def _units_across(at: Layout) -> list[int]:
    """The columns of a leaderboard that are data sets, without averages; else topics."""
    return [i for i in at.others if find_dataset(at.table.header[i])] or at.others


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
        lambda at: at.has("value") and (at.has("measure") or at.measure is not None),
        _long,
    ),
    Form(
        "run, topic, and a column a measure",
        lambda at: (
            bool(at.unit or at.has("run"))
            and not at.has("measure")
            and _names_measures(at)
            and not (at.unit is None and at.measure)
            and not any(find_dataset(at.table.header[i]) for i in at.others)
        ),
        _by_measure,
    ),
    Form(
        "topic and a column a run, in a file such as P@10.csv",
        lambda at: bool(at.unit) and not at.has("run") and at.measure is not None,
        _by_run,
    ),
    Form(
        "run and a column a data set or topic, in a file such as P@10.csv",
        lambda at: at.has("run") and at.unit is None and at.measure is not None,
        _leaderboard,
        lambda at: at.unit_of(at.table.header[i] for i in _units_across(at)),
    ),
)
"""The forms, the first that fits being used; without a run a table is of one."""
LAYOUTS = "; ".join(form.layout for form in FORMS)


def is_header(line: str) -> bool:
    """Whether a line is the header of a table of scores."""
    cells = split_header(line)
    numbers = any(re.fullmatch(r"-?[\d.]+(?:e-?\d+)?|nan|all|Q0", cell) for cell in cells[1:])
    if len(cells) < 2 or (numbers and "\t" in line and len(cells) <= 6):
        return False  # lines of scores, of a run or of qrels, separated by tabs
    return names_rows(cells)


def names_rows(header: list[str]) -> bool:
    """Whether columns are those of a table of scores: what its rows are of is among them."""
    at = Layout(TableRows("", 1, header, []), None)
    return bool({"topic", "dataset", "run"} & at.roles.keys() or at.has("measure", "value"))


def needs_measure(header: list[str]) -> bool:
    """Whether the columns of a table are runs, data sets or topics, and no measure is named."""
    at = Layout(TableRows("", 1, header, []), None)
    return (
        bool(at.unit or at.has("run"))
        and not at.has("measure")
        and not any(form.fits(at) for form in FORMS)
    )


class TableScores(NamedTuple):
    """What a table holds.

    Attributes
    ----------
    entries : iterator of ScoreEntry
    unit : {'topic', 'collection'}
        What the scores are of.
    texts : tuple of str
        Columns that were taken for texts, as none of their cells is a number.
    """

    entries: Iterator[ScoreEntry]
    unit: str
    texts: tuple[str, ...] = ()


def table_scores(table: TableRows, measure: str | None) -> TableScores:
    """The scores of a table, and what they are of: topics or whole collections.

    Parameters
    ----------
    table : TableRows
    measure : str, optional
        That of a table that names none; by default, the measure that the file is called after,
        as ``P@10.csv`` is.

    Raises
    ------
    InputError
        If it has none of the forms, a column twice, or several collections.
    UsageError
        If ``measure`` is given, and the table names measures itself; or the other way round.
    """
    at = Layout(table, measure)
    _check(at)
    form = next((form for form in FORMS if form.fits(at)), None)
    if form is None:
        of_file = Path(table.file).stem
        if measure is None and find_measure(of_file) is not None:
            return table_scores(table, of_file)
        raise _unknown(at)
    if measure is not None and (at.has("measure") or form is FORMS[1]):
        raise UsageError(f"{table.file}: its columns are measures; drop measure=")
    unit, entries = form.unit(at), form.entries(at)
    if unit == "collection":
        entries = (entry._replace(topic=_dataset_name(entry.topic)) for entry in entries)
    texts = at.texts if form is FORMS[1] else []
    return TableScores(entries, unit, tuple(table.header[i] for i in texts))


def _dataset_name(name: str) -> str:
    return SUMMARY if name == ALL_COLLECTIONS else find_dataset(name) or name


def _check(at: Layout) -> None:
    table = at.table
    repeated = [name for name, count in Counter(table.header).items() if count > 1 and name]
    if repeated:
        raise InputError.at(
            table.file, f"column {repeated[0]!r} again", "one column each", line=table.header_line
        )
    names = {*table.header}
    if any(f"{table.header[i]} g" in names for i in at.known):
        raise InputError.at(
            table.file,
            "differences from a baseline, not scores",
            "write scores, without --baseline",
            line=table.header_line,
        )
    if at.has("topic", "dataset") and len(collections := dict.fromkeys(at.column("dataset"))) > 1:
        # Topics of several collections may have the same numbers.
        raise InputError.at(
            table.file,
            f"{len(collections)} collections ({abbreviate(collections)})",
            "give each collection a file of its own",
        )


def _unknown(at: Layout) -> InputError | UsageError:
    """What is wrong with a table of no form: what was looked for, and what the columns are."""
    table = at.table
    if _DOCUMENTS & {*at.names}:
        return InputError.at(
            table.file,
            f"{columns_text(table)}: documents, as in a run",
            "give a run as six columns without a header, or as a DataFrame",
            line=table.header_line,
        )
    for role in ("measure", "value"):
        if at.has({"measure": "value", "value": "measure"}[role]) and at.unit and not at.known:
            return InputError.at(
                table.file,
                columns_text(table),
                f"one called {' or '.join(ROLES[role][:2])} is expected beside them",
                line=table.header_line,
            )
    if at.others and (at.unit or at.has("run")):
        others = abbreviate(at.table.header[i] for i in at.others)
        what = "data sets or topics" if at.unit is None else "runs"
        advice = "" if at.unit is None else "; if they are measures, add a column run"
        return UsageError(
            f"{table.file}: its columns are {what} ({others}); name the file after its measure, "
            f"such as P@10.csv (measure=), or give columns run, topic and the measure{advice}"
        )
    return InputError.at(
        table.file,
        columns_text(table),
        f"a table of scores has {LAYOUTS}; one of a run has query_id, doc_id, score",
        line=table.header_line,
    )
