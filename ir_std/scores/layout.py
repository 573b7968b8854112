"""Which column of a table of scores holds what, by the columns' names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property

from ir_std.measures.names import find_measure
from ir_std.scores.mteb import find_dataset
from ir_std.scores.tables import TableRows

QUESTIONS = ("question", "user_input")
"""What RAGAS and similar tools call the column of questions, beside columns of measures."""
ROLES = {
    "topic": ("topic", "topic_id", "query_id", "qid", "query", "q_id", "question_id", *QUESTIONS),
    "dataset": ("dataset", "data set", "task", "task_name", "collection", "benchmark"),
    "run": ("run", "run_id", "runid", "run_name", "system", "model", "model_name", "name", "tag"),
    "measure": ("measure", "metric", "measure_name", "metric_name"),
    "value": ("value", "score"),
}
"""What columns are called, in any case, by what they hold."""
_BESIDE = {"rank", "topics", "z", "sd", "base", "scheme"}
"""Columns of ir_std's own tables that hold no scores."""
_OF_MEASURE = {"place", "rank", "low", "high", "topics", "systems", "n", "p", "g"}
"""What follows a measure's name in the heading of a column about it, as in ``AP place``."""


class Layout:
    """A table, and which of its columns holds what.

    Parameters
    ----------
    table : TableRows
    measure : str, optional
        The measure of a table that names none.
    """

    def __init__(self, table: TableRows, measure: str | None) -> None:
        self.table, self.measure = table, measure
        self.names = [name.lower() for name in table.header]

    @cached_property
    def roles(self) -> dict[str, int]:
        """The place of the first column for each role."""
        places: dict[str, int] = {}
        for role, usual in ROLES.items():
            place = next((self.names.index(name) for name in usual if name in self.names), None)
            if place is not None and place not in places.values():
                places[role] = place
        if "" in self.names and not {"topic", "dataset", "run"} & places.keys():
            places["topic"] = self.names.index("")  # an index, as R and pandas write it
        return places

    def has(self, *roles: str) -> bool:
        """Whether there are columns for these."""
        return all(role in self.roles for role in roles)

    @cached_property
    def unit(self) -> str | None:
        """The role of the column that says what is scored, a topic or a data set, if any."""
        return next((role for role in ("topic", "dataset") if role in self.roles), None)

    @cached_property
    def others(self) -> list[int]:
        """The columns that have none of the roles, and may hold scores."""
        header = self.table.header
        named = {self.roles[role] for role in ("topic", "dataset", "run") if role in self.roles}
        names = {*header}
        return [
            i
            for i, name in enumerate(header)
            if i not in named
            and name
            and name.lower() not in _BESIDE
            and not name.startswith("systems\u2019 mean")
            and not _is_about_another(name, names)
        ]

    @cached_property
    def known(self) -> set[int]:
        """Those that are called as a measure is."""
        return {i for i in self.others if find_measure(self.table.header[i])}

    @cached_property
    def texts(self) -> list[int]:
        """Those that are called as no measure is, and have no number in them."""
        number = re.compile(r"-?[\d.,]+%?(e[+-]?\d+)?")
        left = [i for i in self.others if i not in self.known]
        for _, row in self.table.rows:
            left = [i for i in left if not number.fullmatch(row[i])]
            if not left:
                break
        return left

    def unit_of(self, names: Iterable[str]) -> str:
        """``'collection'`` if all of these are data sets that are known, else ``'topic'``."""
        return "collection" if all(map(find_dataset, names)) else "topic"

    def column(self, role: str) -> Iterator[str]:
        """The cells of the column for a role."""
        return (row[self.roles[role]] for _, row in self.table.rows)

    @property
    def scored(self) -> str:
        """What the rows are of: topics, or data sets."""
        if self.unit == "dataset":
            return "collection"
        has_rows = self.unit and next(iter(self.table.rows), None)
        return self.unit_of(self.column("topic")) if has_rows else "topic"


def _is_about_another(name: str, names: set[str]) -> bool:
    """Whether a column is about that of another name, as ``AP place`` is about ``AP``."""
    words = name.split(" ")
    return any(
        words[i] in _OF_MEASURE and " ".join(words[:i]) in names for i in range(1, len(words))
    )
