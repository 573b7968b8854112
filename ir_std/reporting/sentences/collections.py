"""Sentences about several collections: what they share, and how they are linked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import isnan

from ir_std._arrays import Floats
from ir_std.analysis.linking import MIN_TESTED
from ir_std.errors import abbreviate, pluralize
from ir_std.reporting.links import CollectionLinks, Overlaps

RESEMBLING = 1.0
"""Distance from the anchors' linked mean, in units of z, above which there is a warning."""


def describe_overlap(overlaps: Overlaps, a: str, b: str) -> str:
    """Describe what two collections share, and what follows."""
    n = overlaps.topics[a, b]
    if not n:
        return (
            f"{a} and {b} share documents, not topics: what depends on the documents is seen twice"
        )
    topics = pluralize(n, "topic")
    if overlaps.is_relabelled(a, b):
        return (
            f"{a} and {b} are the same {topics} under different labels: one collection judged "
            "twice, not pooled"
        )
    return f"{a} and {b} share {topics}: not pooled, they would count twice"


def overlap_notes(overlaps: Overlaps) -> list[str]:
    """Return what a reader must know of each two collections that share documents."""
    return [describe_overlap(overlaps, *pair) for pair in overlaps.topics]


def why_not_linked(overlaps: Overlaps) -> str:
    """Return why some of the collections need no link; empty if none share topics."""
    for a, b in overlaps.shared([name for pair in overlaps.topics for name in pair]):
        if overlaps.is_relabelled(a, b):
            return (
                f"{a} and {b} are the same topics under different labels, which need no link: "
                "scores by the factors of each are relative to the same systems (ir_std agree)"
            )
        return (
            f"{a} and {b} share {pluralize(overlaps.topics[a, b], 'topic')}, which need no link: "
            "the factors of one set give its scale to both (ir_std RUN QRELS --factors SET)"
        )
    return ""


def describe_links(links: CollectionLinks) -> str:
    """Describe what was linked to what, and by which constants."""
    shifts = ", ".join(
        f"{one.shift:+.2f}{'' if isnan(one.error) else f' (standard error {one.error:.2f})'} "
        f"on {collection}"
        for collection, one in links.links.items()
    )
    same = "" if len(links.anchors) == 1 else "; one name may be two programs"
    return (
        f"{links.measure} is linked by {', '.join(links.anchors)} to {links.reference}: every z "
        f"is shifted by {shifts}{same}"
    )


def link_warnings(links: CollectionLinks, z: Mapping[tuple[str, str], Floats]) -> Iterator[str]:
    """Yield why links are doubtful, and which runs the anchors do not resemble.

    Parameters
    ----------
    links : CollectionLinks
    z : mapping of (str, str) to ndarray, shape (n_topics,)
        Values by system and collection.
    """
    for doubt, names in links.doubts.items():
        yield f"{links.measure} of {abbreviate(names)}, linked to {links.reference}: {doubt}"
    for collection, above in links.distances(z).items():
        anchors = [above.pop(anchor) for anchor in links.anchors]
        far = [system for system, distance in above.items() if abs(distance) > RESEMBLING]
        if far:
            yield (
                f"{links.measure} of {abbreviate(far)} on {collection}: up to "
                f"{max(abs(above[system]) for system in far):.1f} standard deviations from "
                "the anchors, which do not resemble them; add anchors of their level"
            )
        if len(anchors) >= MIN_TESTED and (
            min(anchors) > max(above.values()) or max(anchors) < min(above.values())
        ):
            side = "better" if min(anchors) > max(above.values()) else "worse"
            yield (
                f"{links.measure} on {collection}: all anchors are {side} than the systems "
                "compared; use anchors on both sides of them"
            )
