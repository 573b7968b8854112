"""Rank runs by their means, with intervals of the ranks that each run could have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ir_std._arrays import EXACT, Floats
from ir_std.analysis.ranks import rank_intervals
from ir_std.errors import UsageError
from ir_std.measures import Measure, named_measure, sign_of

if TYPE_CHECKING:
    from ir_std.reporting.model import Results

NO_RANK = "-"
"""Text for the rank of a run without a mean."""
MOST_RUNS = 5000
"""Largest number of runs whose pairs fit into the memory of a usual computer."""


@dataclass(frozen=True)
class RunRank:
    """Rank of a run for one measure; ``str()`` of the rank is, for example, ``2 (1 to 8)``.

    Attributes
    ----------
    rank : int or None
        Rank by mean, 1 for the best; runs with equal means share a rank.  None if the run has no
        mean.
    best, worst : int
        Ends of the rank's interval (see :func:`ir_std.analysis.rank_intervals`).  The interval
        contains all ranks if the run has no mean.
    group : int
        Number of the run's group, from 1.  Runs of the same group cannot be distinguished; see
        :meth:`ir_std.analysis.RankIntervals.groups`.
    could_be_first : bool
        True if the run is in the confidence set for the best run.
    """

    rank: int | None
    best: int
    worst: int
    group: int
    could_be_first: bool = True

    @property
    def interval(self) -> str:
        """Interval of the rank as text, such as ``1 to 8``."""
        return NO_RANK if self.rank is None else f"{self.best} to {self.worst}"

    def __str__(self) -> str:
        return NO_RANK if self.rank is None else f"{self.rank} ({self.interval})"


def rank_runs(
    means: Mapping[str, float],
    scores: Mapping[str, Floats],
    sign: float = 1.0,
) -> dict[str, RunRank]:
    """Rank runs, best first, with simultaneous 95% intervals of all ranks.

    Parameters
    ----------
    means : mapping of str to float
        Means by run; NaN for a run without a mean.
    scores : mapping of str to ndarray, shape (n_topics,)
        Scores by run, which are compared topic by topic.
    sign : float
        -1 if lower is better.

    Raises
    ------
    UsageError
        If there are more than :data:`MOST_RUNS` runs.
    """
    by_run = ranks(means, sign)
    ranked = [run for run, rank in by_run.items() if rank is not None]
    if len(ranked) > MOST_RUNS:
        raise UsageError(
            f"{len(ranked)} runs are too many for rank intervals, which compare at most "
            f"{MOST_RUNS}; pass fewer runs, or do not sort them"
        )
    found = {run: RunRank(None, 1, len(ranked), 0) for run in by_run}
    if not ranked:
        return found
    columns = np.stack([sign * scores[run] for run in ranked], axis=1)
    intervals = rank_intervals(columns)
    each = zip(
        ranked,
        intervals.best.tolist(),
        intervals.worst.tolist(),
        intervals.groups().tolist(),
        intervals.could_be_first.tolist(),
        strict=True,
    )
    for run, best, worst, group, first in each:
        # If runs lack topics, the rank by mean can be outside the interval of the comparisons.
        rank = by_run[run] or 1
        found[run] = RunRank(rank, min(best, rank), max(worst, rank), group + 1, first)
    return found


def ranks(means: Mapping[str, float], sign: float = 1.0) -> dict[str, int | None]:
    """Rank runs by their means, best first.

    Runs with equal means share a rank: 1 plus the number of runs with a better mean.  Such runs
    stay in the given order.  Runs without a mean come last and have no rank.  ``sign`` is -1 if
    lower is better.
    """
    values = sign * np.array(list(means.values()))
    present = np.sort(values[~np.isnan(values)])
    higher = len(present) - np.searchsorted(present, values + EXACT, side="right")
    by_run = {
        run: None if mean != mean else int(n) + 1
        for (run, mean), n in zip(means.items(), higher, strict=True)
    }
    return dict(sorted(by_run.items(), key=lambda item: item[1] or len(by_run) + 1))


def ranks_by_mean(results: Results, measure: Measure) -> dict[str, int | None]:
    """Rank the runs of one collection by their means, like :func:`ranks`.

    Raises
    ------
    UsageError
        If the measure is not one of the results' measures.
    """
    # The results' measure knows whether lower is better, but the given name may not.
    named = named_measure(measure, results.measures)
    return ranks({run: means[named] for run, means in results.means.items()}, sign_of(named))


def runs_by_mean(results: Results, measure: Measure) -> list[str]:
    """Sort runs by mean, best first; see :func:`ranks_by_mean`."""
    return list(ranks_by_mean(results, measure))
