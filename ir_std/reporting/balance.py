"""Which collections all systems have, over which alone their means compare, and who lacks which."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isnan

from ir_measures.measures import Measure

from ir_std.reporting.part import Part


def shared_collections(parts: Sequence[Part]) -> tuple[str, ...]:
    """The collections that all systems have, in the order they were given."""
    lacking = {
        collection for lacked in missing_collections(parts).values() for collection in lacked
    }
    return tuple(c for c in dict.fromkeys(p.collection for p in parts) if c not in lacking)


def missing_collections(parts: Iterable[Part]) -> Mapping[str, tuple[str, ...]]:
    """By system the collections that others have and it has not; systems that have all left out."""
    pairs = [(part.system, part.collection) for part in parts]
    has = set(pairs)
    collections = dict.fromkeys(collection for _, collection in pairs)
    lacked = {
        system: tuple(c for c in collections if (system, c) not in has)
        for system in dict.fromkeys(system for system, _ in pairs)
    }
    return {system: names for system, names in lacked.items() if names}


def shared_parts(parts: Sequence[Part], system: str, measure: Measure) -> list[Part]:
    """A system's parts with a mean, on the collections that all systems have."""
    shared = shared_collections(parts)
    return [
        part
        for part in parts
        if part.system == system
        and part.collection in shared
        and not isnan(part.estimate(measure).mean)
    ]


def missing_texts(parts: Iterable[Part]) -> list[str]:
    """``a and b have no run on trec8-adhoc``."""
    systems: dict[tuple[str, ...], list[str]] = {}
    for system, lacked in missing_collections(parts).items():
        systems.setdefault(lacked, []).append(system)
    return [
        f"{', '.join(names)} {'has' if len(names) == 1 else 'have'} no run on {', '.join(lacked)}"
        for lacked, names in systems.items()
    ]
