"""A model's results on MTEB, task by task: raw, standardized, and its place among the models."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import numpy as np

from ir_std.errors import NoFactorsError
from ir_std.evaluation.placement import Placement, place
from ir_std.factors.benchmarks import KINDS, SET
from ir_std.factors.catalog import load_factors
from ir_std.factors.derived import select_kind
from ir_std.factors.factor_set import FactorSet
from ir_std.measures import main_score
from ir_std.reporting.result_tables import place_cell
from ir_std.reporting.tables import Cell, Table, label_cell, number_cell
from ir_std.scores.run_scores import RunScores


def task_table(
    runs: Mapping[str, RunScores],
    places: int = 4,
    systems: str = KINDS[0],
) -> Table:
    """Show each model's main score, N, place and neighbors on each dataset.

    Parameters
    ----------
    runs : mapping of str to RunScores
        By model, of datasets of MTEB.
    places : int
        Decimals; -1 for all.
    systems : {'all', 'zero-shot'}
        The models that it is placed among.
    """
    chosen = cache(lambda row: _models_on(row, systems))  # of several models the same
    lines = []
    without = 0
    for model, scores in runs.items():
        known = scores.values.get(main_score, {})
        for row in known:
            placed = _placed(row, known[row], chosen(row))
            without += placed is None
            lines.append(
                (
                    *([label_cell(model)] if len(runs) > 1 else []),
                    label_cell(row),
                    number_cell(known[row], places),
                    *_placed_cells(placed, places),
                )
            )
    notes = [
        f"place of {' and '.join(runs)}: among {systems} models of {SET} on the dataset, and "
        "itself; neighbors: the next ones"
    ]
    if without:
        notes.append(f"{without} datasets have fewer than 20 such models: no place there")
    names = ("model",) if len(runs) > 1 else ()
    header = (*names, "dataset", "main score", "N", "place", "neighbors")
    return Table(header, tuple(lines), len(names) + 1, tuple(notes))


def _models_on(row: str, systems: str) -> FactorSet | None:
    """Select the models of a kind on a dataset; None if there are too few."""
    factors = load_factors(SET)
    try:
        return select_kind(factors, systems, [row]) if row in factors.row_of else None
    except NoFactorsError:
        return None


def _placed(row: str, score: float, models: FactorSet | None) -> tuple[float, Placement] | None:
    """N and the place of a score on a dataset; None where there are too few models."""
    if models is None:
        return None
    try:
        one = RunScores("score", {main_score: {row: score}}, unit="collection")
        raw, standardized = place(one, measures=main_score, factors=models)
    except NoFactorsError:
        return None
    return standardized.value, raw


def _placed_cells(placed: tuple[float, Placement] | None, places: int) -> tuple[Cell, ...]:
    if placed is None:
        return number_cell(np.nan, places), place_cell(None), label_cell("-")
    value, placement = placed
    return number_cell(value, places), place_cell(placement), label_cell(placement.neighbours)
