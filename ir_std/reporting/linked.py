"""Comparisons on one scale: their collections linked by anchors, and means compared across them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from ir_std.errors import UsageError, suggestion
from ir_std.measures import Standardized
from ir_std.reporting.comparison import Comparison
from ir_std.reporting.links import LinkedPair, link_collections

MOST_PAIRS = 20
"""With more pairs of means than this only those of one system with itself are compared."""


def link_comparison(
    comparison: Comparison, anchors: Sequence[str], reference: str | None = None
) -> Comparison:
    """The comparison on one scale: each collection is linked to the reference by anchors.

    Parameters
    ----------
    anchors : sequence of str
        Systems that ran on every collection.
    reference : str, optional
        The collection on whose scale scores are put; for each measure the one with the
        strongest standardizing systems if not given.

    Raises
    ------
    UsageError
        If an anchor or the reference is not there, an anchor lacks a collection, collections
        are of the same topics, or the anchors cannot link them.
    """
    _check_linkable(comparison, anchors, reference)
    links = {}
    for measure in comparison.measures:
        if isinstance(measure, Standardized) and all(
            measure in part.results.plans for part in comparison.parts
        ):
            z = {
                collection: np.stack(
                    [comparison.part(a, collection).z(measure) for a in anchors], 1
                )
                for collection in comparison.collections
            }
            links[measure] = link_collections(measure, z, anchors, reference)
    if not links:
        raise UsageError("nothing to link: no standardized measure is known on all collections")
    parts = tuple(replace(part, links=links) for part in comparison.parts)
    return replace(comparison, parts=parts, links=links)


def _check_linkable(comparison: Comparison, anchors: Sequence[str], reference: str | None) -> None:
    if len(comparison.collections) < 2:
        raise UsageError(
            f"there is nothing to link: {comparison.collections[0]} is the only collection"
        )
    for name, what, known in (
        *((a, "system, to link by,", comparison.systems) for a in anchors),
        *([(reference, "collection", comparison.collections)] if reference else []),
    ):
        if name not in known:
            raise UsageError(
                f"no {what} is called {name!r}: there are {', '.join(known)}"
                f"{suggestion(name, known)}"
            )
    for anchor in anchors:
        missing = set(comparison.collections) - {p.collection for p in comparison.parts_of(anchor)}
        if missing:
            raise UsageError(
                f"the anchor {anchor} has no run on {', '.join(sorted(missing))}: an anchor "
                "links the collections that it ran on, give its runs on all of them"
            )
    if set(comparison.systems) <= set(anchors):
        raise UsageError(
            f"{', '.join(comparison.systems)}: all systems are anchors, and nothing is left to "
            "compare: anchors have the same mean everywhere by definition"
        )
    for (a, b), shared in comparison.overlaps.topics.items():
        if shared:
            raise UsageError(
                f"{a} and {b} share {shared} topics, which need no link: standardize both by "
                "the same set (--factors)"
            )


def linked_pairs(comparison: Comparison) -> list[LinkedPair]:
    """The differences of linked means across collections, with intervals.

    Of all systems that are no anchors; of many only each system from itcomparison.
    """
    found = []
    for measure, links in comparison.links.items():
        parts = [p for p in comparison.parts if p.system not in links.anchors]
        pairs = [(a, b) for a, b in combinations(parts, 2) if a.collection != b.collection]
        if len(pairs) > MOST_PAIRS:
            pairs = [(a, b) for a, b in pairs if a.system == b.system]
        found += [
            LinkedPair(
                (a.system, a.collection),
                (b.system, b.collection),
                links.measure,
                links.difference((a.collection, a.z(measure)), (b.collection, b.z(measure))),
            )
            for a, b in pairs
        ]
    return found
