"""Sentences about the topics that collections share, and about the links between them."""

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
    """Describe the topics or documents that two collections share, and the consequence."""
    n = overlaps.topics[a, b]
    if not n:
        return (
            f"{a} and {b} share documents but not topics, so effects of the documents count twice"
        )
    topics = pluralize(n, "topic")
    if overlaps.is_relabelled(a, b):
        return (
            f"{a} and {b} are one collection judged twice (the same {topics} under different "
            "labels), so they are not pooled"
        )
    return f"{a} and {b} share {topics} and would count twice, so they are not pooled"


def overlap_notes(overlaps: Overlaps) -> list[str]:
    """Describe each pair of collections that share documents."""
    return [describe_overlap(overlaps, *pair) for pair in overlaps.topics]


def why_not_linked(overlaps: Overlaps) -> str:
    """Return why some collections need no link; empty if no two of them share topics."""
    for a, b in overlaps.shared([name for pair in overlaps.topics for name in pair]):
        if overlaps.is_relabelled(a, b):
            return (
                f"{a} and {b} need no link, because they have the same topics under different "
                "labels, and the factors of both come from the same systems; use ir_std agree"
            )
        return (
            f"{a} and {b} need no link, because they share "
            f"{pluralize(overlaps.topics[a, b], 'topic')}; to put both on one scale, use the "
            "factors of one set (ir_std RUN QRELS --factors SET)"
        )
    return ""


def describe_links(links: CollectionLinks) -> str:
    """Describe the reference collection, the anchors, and the shift of each collection."""
    shifts = ", ".join(
        f"{one.shift:+.2f}{'' if isnan(one.error) else f' (standard error {one.error:.2f})'} "
        f"on {collection}"
        for collection, one in links.links.items()
    )
    same = "" if len(links.anchors) == 1 else "; a name may stand for two different programs"
    return (
        f"{links.measure} is linked by {', '.join(links.anchors)} to {links.reference}: every z "
        f"is shifted by {shifts}{same}"
    )


def link_warnings(links: CollectionLinks, z: Mapping[tuple[str, str], Floats]) -> Iterator[str]:
    """Yield why links are doubtful, and the runs that the anchors do not resemble.

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
                "the anchors, which do not resemble them; add anchors with similar scores"
            )
        if len(anchors) >= MIN_TESTED and (
            min(anchors) > max(above.values()) or max(anchors) < min(above.values())
        ):
            side = "better" if min(anchors) > max(above.values()) else "worse"
            yield (
                f"{links.measure} on {collection}: all anchors are {side} than the systems "
                "compared; use anchors on both sides of them"
            )
