"""The numbers that the plots and the report draw.

Plots of topics follow Figures 1 and 2 of Webber, Moffat and Zobel (SIGIR 2008).  They sort topics
by the reference systems' mean, and show the spread of these systems and the run's own score.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from math import ceil, floor, isnan, log10
from typing import Any

import numpy as np
import numpy.typing as npt
from ir_measures.measures import Measure

from ir_std.evaluation.placement import peers_of
from ir_std.measures import Standardized
from ir_std.reporting.model import Results


@cache
def read_look() -> dict[str, Any]:
    """Read the colors, sizes and limits that the report and the plots share."""
    look = files("ir_std.reporting") / "html" / "templates" / "look.json"
    found: dict[str, Any] = json.loads(look.read_text())
    return found


def topic_order(results: Results, measure: Measure) -> npt.NDArray[np.int64]:
    """Sort topics by the raw mean of the reference systems or runs, lowest first.

    Topics without factors come last.
    """
    base = measure.base if isinstance(measure, Standardized) else measure
    peers = results.collection.peers(base)
    if peers is None and isinstance(measure, Standardized):
        plan = results.collection.plans[measure]
        peers = peers_of(plan, results.topics)
    if peers is not None:
        return np.argsort(peers.mean, kind="stable")
    columns = [values[measure] for values in results.values.values()]
    return np.argsort(np.mean(columns, axis=0), kind="stable")


def axis_ticks(results: Results, measure: Measure) -> list[float]:
    """Choose ticks, including the ends, of an axis for all runs and reference systems."""
    peers = results.collection.peers(measure)
    columns = [values[measure] for values in results.values.values()]
    if peers is not None:
        columns += [peers.least, peers.most]
        if isinstance(measure, Standardized):
            columns += [peers.low, peers.high]
    return ticks_of(np.concatenate(columns))


def ticks_of(values: Iterable[float]) -> list[float]:
    """Choose round ticks that cover 0 and all values; values in 0 to 1 get that range."""
    known = [value for value in values if not isnan(value)]
    low, high = min(known, default=0.0), max(known, default=0.0)
    low, high = (0.0, 1.0) if low >= 0 and high <= 1 else (min(low, 0.0), max(high, 0.0))
    step = _round_step((high - low) / read_look()["ticks"])
    return [i * step for i in range(floor(low / step + 1e-9), ceil(high / step - 1e-9) + 1)]


def _round_step(about: float) -> float:
    """Round a step up to 1, 2, 2.5 or 5 times a power of ten."""
    power = 10.0 ** floor(log10(about))
    return next(float(m * power) for m in (1, 2, 2.5, 5, 10) if m * power >= about * (1 - 1e-9))


def systems_means(results: Results, runs: Sequence[str], measure: Measure) -> Sequence[float]:
    """Return the means of the reference systems, lowest first; empty if unknown."""
    placements = (results.placements.get(run, {}).get(measure) for run in runs)
    return next((p.means for p in placements if p and p.means), ())
