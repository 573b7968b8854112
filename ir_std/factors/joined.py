"""One factor set of the rows of several, for qrels that hold the topics of several tracks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ir_std._arrays import Floats
from ir_std.factors.factor_set import FactorSet
from ir_std.factors.quality import set_notes


def join_sets(sets: tuple[FactorSet, ...]) -> FactorSet:
    """The factors of several sets as one set: each topic has those of the first that holds it.

    It has the measures that all of them have.  Of each the depth is the least and the resolution
    the coarsest; distributions are there where all sets have one of the same resolution, topics
    with fewer systems filled with NaN.  Which system has which score is not known across sets.
    """
    owner: dict[str, FactorSet] = {}
    for each in sets:
        for topic in each.topics:
            owner.setdefault(topic, each)
    rows = [(s, s.rows(t for t, first in owner.items() if first is s)) for s in sets]
    order = np.argsort(np.concatenate([_places(owner, s) for s in sets]), kind="stable")
    measures = shared_measures(sets)
    alike = [
        m
        for m in measures
        if all(m in s.scores for s in sets)
        and len({s.about(m, "resolution", 0) for s in sets}) == 1
    ]
    levels: list[Any] = [s.info.get("max_level") for s in sets]
    info = {
        "id": "+".join(s.id for s in sets),
        "title": "; ".join(s.title for s in sets),
        "source": "; ".join(dict.fromkeys(s.source for s in sets)),
        "max_level": None if None in levels else max(levels),
        "default_measures": [m for m in sets[0].default_measures if m in measures] or measures,
        "year": min((year for s in sets if (year := s.info.get("year"))), default=None),
        "notes": [f"{s.id}: {note}" for s in sets for note in set_notes(s)],
        "measures": {m: _about(m, sets) for m in measures},
    }
    return FactorSet(
        info,
        {topic: first.judgments[topic] for topic, first in owner.items()},
        {m: np.concatenate([s.mean[m][at] for s, at in rows])[order] for m in measures},
        {m: np.concatenate([s.sd[m][at] for s, at in rows])[order] for m in measures},
        {m: _stacked([s.scores[m][at] for s, at in rows])[order] for m in alike},
    )


def shared_measures(sets: tuple[FactorSet, ...]) -> list[str]:
    """The measures that all sets have."""
    return [m for m in sets[0].measures if all(m in s.measures for s in sets)]


def _places(owner: dict[str, FactorSet], part: FactorSet) -> list[int]:
    return [i for i, first in enumerate(owner.values()) if first is part]


def _stacked(scores: list[Floats]) -> Floats:
    """Scores below each other, those of fewer systems filled with NaN."""
    widest = max(s.shape[1] for s in scores)
    return np.concatenate(
        [np.pad(s, ((0, 0), (0, widest - s.shape[1])), constant_values=np.nan) for s in scores]
    )


def _about(measure: str, sets: Iterable[FactorSet]) -> dict[str, Any]:
    return {
        "systems": max(s.n_systems[measure] for s in sets),
        "depth": min((d for s in sets if (d := s.about(measure, "depth"))), default=None),
        "resolution": max(s.about(measure, "resolution", 0) for s in sets),
    }
