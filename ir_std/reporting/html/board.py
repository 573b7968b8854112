"""What the page of a leaderboard shows."""

from __future__ import annotations

from math import isnan
from typing import Any

from ir_std._system.text import latex_escape
from ir_std._version import __version__
from ir_std.factors.benchmarks import SET
from ir_std.factors.catalog import load_factors
from ir_std.reporting.html.method import REFERENCES, Licence
from ir_std.reporting.html.packing import PLACES
from ir_std.reporting.leaderboard import COLUMNS, Leaderboard
from ir_std.reporting.tables import Cell

_MODEL = COLUMNS.index("model")
_HIGHEST_FIRST = ("mean N", "tasks", "raw")
_CITED = ("webber2008", "mogstad2024", "muennighoff2023")


class BoardPage:
    """A page of models' places on a benchmark.

    Parameters
    ----------
    board : Leaderboard
    """

    across = None

    def __init__(self, board: Leaderboard) -> None:
        self.board = board
        self.parts: list[Any] = []
        self.table = board.table()
        self.words = board.notes
        self.title = f"Models on {board.benchmark}"
        self.lead = (
            "Retrieval and reranking: places by the linked mean of N over tasks, with intervals."
        )
        self.known_weaknesses: dict[str, list[str]] = {}

    @property
    def columns(self) -> list[tuple[str, str, int]]:
        """Of each column beside the model its name, how it is sorted first, and its width."""
        return [
            (name, "descending" if name in _HIGHEST_FIRST else "ascending", 1)
            for name in COLUMNS
            if name != "model"
        ]

    @property
    def rows(self) -> list[tuple[str, list[tuple[str, float | str]]]]:
        """Each model, and of its cells the text and what they are sorted by."""
        return [
            (row[_MODEL].text, [(c.text, _key(c)) for i, c in enumerate(row) if i != _MODEL])
            for row in self.table.rows
        ]

    @property
    def data(self) -> dict[str, Any]:
        """What the page's script draws."""
        standings = self.board.standings
        models = [each.model for each in standings]
        intervals = [each.mean.interval for each in standings]
        return {
            "name": self.board.benchmark,
            "runs": models,
            "own": [models.index(name) for name in self.board.others if name in models],
            "means": [_rounded(each.mean.mean) for each in standings],
            "low": [_rounded(low) for low, _ in intervals],
            "high": [_rounded(high) for _, high in intervals],
            "places": [f"{s.place}, {s.best} to {s.worst}" for s in standings],
            "csv": f"{self.table.csv()}\n",
        }

    @property
    def method(self) -> str:
        """How the places were found, as a paper would say it."""
        return (
            f"Models were placed on the retrieval and reranking tasks of "
            f"{latex_escape(self.board.benchmark)} \\cite{{muennighoff2023}} with ir_std "
            f"{__version__}: main scores are standardized by task \\cite{{webber2008}}, put on a "
            "scale that does not depend on which models ran the task, by a two-way additive fit, "
            "and averaged as N. Intervals of places are 95\\% intervals by paired comparisons over "
            "common tasks \\cite{mogstad2024}."
        )

    @property
    def references(self) -> str:
        """BibTeX of the papers that the method cites."""
        return "\n".join(REFERENCES[key] for key in _CITED)

    @property
    def licences(self) -> list[Licence]:
        """Where the results come from."""
        (source,) = load_factors(SET).info["sources"]
        stated = source["source"], source["url"], source["licence"], source["licence_uri"]
        return [Licence(SET, *stated, ["main_score"])]


def _key(cell: Cell) -> float | str:
    """What a cell is sorted by: its number, of an interval of places the best; empty if none."""
    value = cell.extra.get("best", cell.value)
    return "" if isinstance(value, float) and isnan(value) else value


def _rounded(value: float) -> float | None:
    return None if isnan(value) else round(value, PLACES)
