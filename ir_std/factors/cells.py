"""Scores of models on many data sets, one file of which a few rows are read: ``cells.npz``.

Each data set has other models.  A table of all rows and models would be mostly empty, and take
seconds to make and to check; so scores lie row behind row, and a set of the rows that are asked
for is made of their part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ir_std._arrays import Floats, Ints, Mask
from ir_std.factors.distributions import distribution

MAIN = "main_score"
"""The measure that all cells have; the others are of models that count as standardizing systems."""
FEWEST = 20
"""Of fewer models on a row there are no factors."""
STEPS = 1_000_000
"""Scores are whole numbers of millionths."""
MISSING = np.iinfo(np.int32).min
"""Stands for a score that is not known."""

NOT_TRAINED, TRAINED, UNKNOWN = 0, 1, 2
"""Whether a model was trained on the data set or one that resembles it."""
KINDS: dict[str, tuple[Callable[[Ints], Mask], str]] = {
    "all": (
        lambda trained: np.ones(len(trained), dtype=bool),
        "all models that state a language of the data set (or none, and it is English); some were "
        "trained on it (--systems zero-shot leaves these out)",
    ),
    "zero-shot": (
        lambda trained: trained == NOT_TRAINED,
        "zero-shot models, which state what they were trained on, neither the data set nor one "
        "that resembles it",
    ),
}
"""Which models of a row its factors are made from; the default first."""


@dataclass(frozen=True, eq=False)
class Cells:
    """The scores of models on data sets.

    Parameters
    ----------
    arrays : mapping of str to ndarray
        ``start``, shape (n_rows + 1,): where each row's cells begin; of shape (n_cells,)
        ``system``, the model's number, ascending in each row, ``counted``, whether it is one of
        the standardizing systems of the row, ``trained``, one of :data:`NOT_TRAINED`,
        :data:`TRAINED`, :data:`UNKNOWN`, and the measure :data:`MAIN`; other measures, shape
        (n_counted,), of the counted cells.  Scores are in steps of a millionth.
    """

    arrays: Mapping[str, npt.NDArray[Any]]

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures' names."""
        return tuple(name for name in self.arrays if name not in _INDEX)

    @cached_property
    def _places(self) -> Ints:
        """Of each counted cell the place in the arrays of measures that only these have."""
        return np.cumsum(self.arrays["counted"], dtype=np.int64) - 1

    def _cells(self, rows: Ints) -> tuple[Ints, Ints]:
        """The cells of rows, and for each the number of its row among these."""
        start = self.arrays["start"].astype(np.int64)
        lengths = (start[1:] - start[:-1])[rows]
        before = np.cumsum(lengths) - lengths
        row = np.repeat(np.arange(len(rows)), lengths)
        return start[rows][row] + np.arange(len(row)) - before[row], row

    def table(self, rows: Ints, kind: str = "all") -> tuple[Ints, dict[str, Floats]]:
        """The scores of the models that count on some rows.

        Parameters
        ----------
        rows : ndarray of int, shape (n,)
        kind : str
            One of :data:`KINDS`.

        Returns
        -------
        numbers : ndarray of int, shape (n_models,)
            The models, ascending.
        scores : dict of str to ndarray, shape (n, n_models)
            By measure that has a score there; NaN where a model has none, and on rows with fewer
            than :data:`FEWEST` models.
        """
        cells, row = self._cells(rows)
        used = (self.arrays["counted"][cells] > 0) & KINDS[kind][0](self.arrays["trained"][cells])
        cells, row = cells[used], row[used]
        numbers, column = np.unique(self.arrays["system"][cells], return_inverse=True)
        scores = {}
        for name in self.measures:
            steps = self.arrays[name][cells if name == MAIN else self._places[cells]]
            table = np.full((len(rows), len(numbers)), np.nan)
            table[row, column] = _scores(steps)
            table[np.count_nonzero(~np.isnan(table), axis=1) < FEWEST] = np.nan
            if not np.isnan(table).all():
                scores[name] = table
        return numbers.astype(np.int64), scores

    def n_unknown(self, rows: Ints) -> int:
        """How many models that count on rows do not state what they were trained on."""
        cells, _ = self._cells(rows)
        counts = self.arrays["counted"][cells] > 0
        unknown = counts & (self.arrays["trained"][cells] == UNKNOWN)
        return len(np.unique(self.arrays["system"][cells[unknown]]))

    def main_scores(self, rows: Ints) -> tuple[Ints, Ints, Floats, Ints]:
        """The main scores of all models on rows, whether they count there or not.

        Returns
        -------
        row, system, score, trained : ndarray, shape (n,)
        """
        cells, row = self._cells(rows)
        return (
            row,
            self.arrays["system"][cells].astype(np.int64),
            _scores(self.arrays[MAIN][cells]),
            self.arrays["trained"][cells].astype(np.int64),
        )


_OF_CELLS = ("system", "counted", "trained", MAIN)
_INDEX = ("start", *_OF_CELLS[:3])


def _scores(steps: Ints) -> Floats:
    return np.where(steps == MISSING, np.nan, steps / STEPS)


def cell_problems(
    arrays: Mapping[str, npt.NDArray[Any]], n_rows: int, n_systems: int, measures: tuple[str, ...]
) -> Iterator[str]:
    """What is wrong with the arrays of a file of cells."""
    expected = {*_INDEX, *measures, MAIN}
    if {*arrays} != expected:
        yield f"holds {', '.join(arrays)}; {', '.join(sorted(expected))} are expected"
        return
    start = arrays["start"].astype(np.int64)
    if start.shape != (n_rows + 1,) or start[0] != 0 or (np.diff(start) < 0).any():
        yield f"start does not begin at 0 and ascend to the end of {n_rows} rows"
        return
    for name in _OF_CELLS:
        if arrays[name].shape != (start[-1],):
            yield f"{name} has shape {arrays[name].shape}, {(int(start[-1]),)} is expected"
            return
    if (arrays["counted"] > 1).any():
        yield "counted has another value than 0 and 1"
        return
    n_counted = int(arrays["counted"].sum())
    for name in measures:
        if name != MAIN and arrays[name].shape != (n_counted,):
            yield f"{name} has shape {arrays[name].shape}, {(n_counted,)} is expected"
    if (arrays["trained"] > UNKNOWN).any():
        yield "trained has another value than 0, 1 and 2"
    if len(arrays["system"]) and int(arrays["system"].max()) >= n_systems:
        yield "system has a number that tags do not name"
    ascends = arrays["system"][1:] > arrays["system"][:-1]
    ascends[start[(start > 0) & (start < start[-1])] - 1] = True
    if not ascends.all():
        yield "system does not ascend in each row"
    for name in (*measures, MAIN):
        steps = arrays[name][arrays[name] != MISSING]
        if len(steps) and (steps.max() > STEPS or steps.min() < (-STEPS if name == MAIN else 0)):
            yield f"{name} has a score that is none"


def spread_cells(
    arrays: Mapping[str, npt.NDArray[Any]], n_rows: int
) -> dict[str, dict[str, npt.NDArray[Any]]]:
    """All rows as tables, as a set's ``scores.npz`` and ``systems.npz`` have them."""
    numbers, scores = Cells(arrays).table(np.arange(n_rows))
    tables: dict[str, dict[str, npt.NDArray[Any]]] = {"scores.npz": {}, "systems.npz": {}}
    for name, table in scores.items():
        known = ~np.isnan(table).all(axis=0)
        ordered, systems = distribution(table[:, known], numbers[known])
        tables["scores.npz"][name], tables["systems.npz"][name] = ordered, systems
    return tables
