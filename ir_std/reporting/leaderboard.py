"""A leaderboard of models on a benchmark of which not every model ran every task."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from scipy.stats import rankdata

from ir_std._arrays import Floats, Ints
from ir_std.analysis.estimate import Estimate
from ir_std.analysis.incomplete import linked_scores
from ir_std.analysis.means import topic_differences
from ir_std.analysis.paired import ALPHA, t_test
from ir_std.analysis.ranks import FEWEST, RankIntervals, rank_intervals
from ir_std.errors import NoFactorsError, abbreviate
from ir_std.factors.benchmarks import KINDS, BenchmarkScores, benchmark_scores
from ir_std.factors.cells import TRAINED, UNKNOWN
from ir_std.reporting.tables import (
    Cell,
    Table,
    format_number,
    label_cell,
    number_cell,
    p_value_cell,
)

COLUMNS = ("place", "model", "places", "mean N", "tasks", "raw", "Borda", "p next")
LEAST_SHARE = 0.5
"""Models with this share of the tasks or more are placed."""


@dataclass(frozen=True)
class Standing:
    """A model on the leaderboard.

    Attributes
    ----------
    place : int
        By ``mean``; models with the same share one.
    best, worst : int
        The places that paired comparisons allow, :func:`ir_std.analysis.rank_intervals`.
    model : str
    mean : Estimate
        The linked N over the model's tasks, :func:`ir_std.analysis.linked_scores`.
    tasks, trained, unknown : int
        The number of tasks that the model has, of these that it was trained on, and of which that
        is not known.
    raw : float
        The mean main score; NaN unless the model has all tasks.
    borda : int
        The rank by MTEB's Borda count, among all models, placed or not.
    p_next : float
        That it is no better than the next: paired t-test over their common tasks; NaN if there
        are fewer than five.
    """

    place: int
    best: int
    worst: int
    model: str
    mean: Estimate
    tasks: int
    trained: int
    unknown: int
    raw: float
    borda: int
    p_next: float


@dataclass(frozen=True)
class Leaderboard:
    """Models in order; printed, a table.

    Attributes
    ----------
    benchmark : str
    standings : tuple of Standing
    n_first : int
        How many models could be first.
    notes : tuple of str
    legend : str
        What the columns of its table are.
    others : tuple of str
        The further models that were asked for, whether they have a place or not.

    Examples
    --------
    >>> board = ir_std.leaderboard("MTEB(eng, v2)")
    >>> first = board.standings[0]
    >>> first.place, first.best, first.tasks
    (1, 1, 12)
    """

    benchmark: str
    standings: tuple[Standing, ...]
    n_first: int
    notes: tuple[str, ...]
    legend: str
    others: tuple[str, ...] = ()

    @property
    def n_separated(self) -> int:
        """How many models differ significantly from the next."""
        return _count_separated(self.standings)

    def top(self, n: int) -> Leaderboard:
        """The first ``n`` models, and the further ones."""
        kept = enumerate(self.standings)
        return replace(self, standings=tuple(s for i, s in kept if i < n or s.model in self.others))

    def table(self, places: int = 3) -> Table:
        """As a table, with ``places`` decimals; -1 for all."""
        rows = tuple(_cells(each, places) for each in self.standings)
        return Table(COLUMNS, rows, 2, (*self.notes, self.legend))

    def _repr_html_(self) -> str:
        return self.table().html()

    def __str__(self) -> str:
        return self.table().text()


def leaderboard(
    benchmark: str,
    *,
    systems: str = KINDS[0],
    others: Mapping[str, Mapping[str, float]] | None = None,
    simultaneous: bool = False,
) -> Leaderboard:
    """The models of MTEB on one of its benchmarks, by retrieval and reranking tasks.

    Models are compared with half of the tasks or more: each task's main score is standardized, and
    put on a scale that does not depend on who ran the task.

    Parameters
    ----------
    benchmark : str
        MTEB's name, as ``"MTEB(eng, v2)"``.
    systems : {'all', 'zero-shot'}
        Which results count: all, or those of models that state what they were trained on, and that
        it is neither the task nor one that resembles it.
    others : mapping of str to mapping of str to float, optional
        By name of further models their main scores by data set (``"SciFact/test"``).
    simultaneous : bool
        Intervals of places that hold for all models at once.

    Raises
    ------
    UsageError
        If there is no such benchmark.
    NoFactorsError
        If fewer than two models have half of the tasks, or a further model has none.

    Examples
    --------
    >>> ir_std.leaderboard("MTEB(eng, v2)").n_first
    8
    """
    read = benchmark_scores(benchmark, systems, others)
    n_tasks = np.count_nonzero(~np.isnan(read.scores), axis=0)
    placed = np.flatnonzero(n_tasks >= LEAST_SHARE * len(read.tasks))
    scores = read.scores[:, placed]
    used = np.flatnonzero(np.count_nonzero(~np.isnan(scores), axis=1) > 1)
    if len(placed) < 2 or not len(used):
        raise NoFactorsError(f"{benchmark}: {len(placed)} models have half of its tasks")
    linked = linked_scores(scores[used])
    order = np.argsort(-linked.means, kind="stable")
    intervals = rank_intervals(linked.values, simultaneous=simultaneous)
    standings = _standings(read, placed, linked.values, order, intervals)
    return Leaderboard(
        benchmark,
        standings,
        intervals.n_first,
        tuple(_notes(read, standings, intervals.n_first, systems, others or {})),
        _legend(simultaneous),
        tuple(others or ()),
    )


def _standings(
    read: BenchmarkScores, placed: Ints, values: Floats, order: Ints, intervals: RankIntervals
) -> tuple[Standing, ...]:
    borda = borda_ranks(read.of_parts, read.n_models)[placed]
    known = ~np.isnan(read.scores[:, placed])
    trained = read.trained[:, placed]
    means = [Estimate.of(values[:, k]) for k in range(len(placed))]
    place = rankdata(-np.round([mean.mean for mean in means], 12), "min")
    p_next = [_p_value(values, j, k) for j, k in pairwise(order.tolist())] + [math.nan]
    return tuple(
        Standing(
            int(place[k]),
            min(int(intervals.best[k]), int(place[k])),
            max(int(intervals.worst[k]), int(place[k])),
            read.models[placed[k]],
            means[k],
            int(known[:, k].sum()),
            int((known[:, k] & (trained[:, k] == TRAINED)).sum()),
            int((known[:, k] & (trained[:, k] == UNKNOWN)).sum()),
            float(read.scores[:, placed[k]].mean()),
            int(borda[k]),
            p,
        )
        for k, p in zip(order.tolist(), p_next, strict=True)
    )


def _p_value(values: Floats, j: int, k: int) -> float:
    d = topic_differences(values[:, j], values[:, k])
    d = d[~np.isnan(d)]
    return float(t_test(d)) if len(d) >= FEWEST else math.nan


def borda_ranks(scores: Floats, n_models: int | None = None) -> Ints:
    """MTEB's rank: by the number of models that a model beats, summed over tasks.

    On each task a model earns ``n_models`` less its rank there (ties share the mean rank), and
    nothing where it has no score.  The same sum is the same rank, the best of those it spans.

    Parameters
    ----------
    scores : ndarray, shape (n_tasks, n_models)
    n_models : int, optional
        As MTEB counts them: those with a whole task, where others have scores of parts.

    Returns
    -------
    ndarray of int, shape (n_models,)
    """
    n = scores.shape[1] if n_models is None else n_models
    points = [
        np.where(np.isnan(task), 0.0, n - rankdata(-task, "average", nan_policy="omit"))
        for task in scores
    ]
    ranks: Ints = rankdata(-np.sum(points, axis=0), "min").astype(np.int64)
    return ranks


def _count_separated(standings: Iterable[Standing]) -> int:
    return sum(each.p_next < ALPHA for each in standings)


def _cells(each: Standing, places: int) -> tuple[Cell, ...]:
    low, high = each.mean.interval
    half = each.mean.topics
    trained = "?" if each.unknown == each.tasks else f"{each.trained}"
    return (
        Cell(f"{each.place}", each.place),
        label_cell(each.model),
        Cell(
            f"{each.best} to {each.worst}",
            f"{each.best} to {each.worst}",
            {"best": each.best, "worst": each.worst},
        ),
        Cell(
            f"{format_number(each.mean.mean, places)} ±{format_number(half, places)}",
            each.mean.mean,
            {"low": low, "high": high},
        ),
        Cell(
            f"{each.tasks} ({trained})",
            each.tasks,
            {"trained": each.trained, "unknown": each.unknown},
        ),
        number_cell(each.raw, places),
        Cell(f"{each.borda}", each.borda),
        p_value_cell(each.p_next) if not math.isnan(each.p_next) else Cell("-", math.nan),
    )


def _notes(
    read: BenchmarkScores,
    standings: tuple[Standing, ...],
    n_first: int,
    systems: str,
    others: Mapping[str, object],
) -> list[str]:
    kind = "all results" if systems == KINDS[0] else "zero-shot results only"
    separated = _count_separated(standings)
    first = "1 model could be first" if n_first == 1 else f"{n_first} models could be first"
    notes = [
        f"{read.name}, retrieval and reranking: {len(standings)} of {read.n_models} models have "
        f"half of the {len(read.tasks)} tasks or more ({kind}).",
        f"{first}; {separated} of {len(standings) - 1} adjacent places are separated "
        f"(paired t-test over common tasks, p < {ALPHA}).",
    ]
    if read.missing:
        notes.append(
            f"{len(read.missing)} tasks, with fewer than 20 models, are not here: "
            f"{abbreviate(read.missing)}."
        )
    placed = {each.model for each in standings}
    notes += [
        f"{name} has fewer than half of the tasks, and no place."
        for name in others
        if name not in placed
    ]
    return notes


def _legend(simultaneous: bool) -> str:
    together = "all intervals together" if simultaneous else "each pair by itself"
    return (
        "place: by the linked mean of N, which makes up for tasks that a model did not run; "
        f"places: its 95% interval by paired comparisons, {together}; ±: approximate 95%; tasks: "
        "run (trained on; ? where nothing is stated); raw: the mean main score of models with all "
        "tasks; Borda: MTEB's rank; p next: of no difference from the next."
    )
