"""Links that put the scores of several collections on one scale, and differences across them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan

import numpy as np

from ir_std._arrays import Floats
from ir_std.analysis.linking import (
    MIN_TESTED,
    Link,
    LinkedDifference,
    error_of_linked_mean,
    link,
    linked_difference,
)
from ir_std.errors import UsageError, abbreviate, suggestion
from ir_std.measures import Standardized
from ir_std.schemes import get_scheme

RESEMBLING = 1.0
"""Systems whose linked mean is further from the anchors' are warned of, in units of z."""


@dataclass(frozen=True, eq=False)
class CollectionLinks:
    """The links of several collections to a reference, by one measure.

    Attributes
    ----------
    measure : Standardized
    reference : str
        The collection on whose scale the scores are.
    links : mapping of str to Link
        By collection, without the reference.
    anchors : tuple of str
        The systems that ran on all collections and link them.
    """

    measure: Standardized
    reference: str
    links: Mapping[str, Link]
    anchors: tuple[str, ...]

    @property
    def label(self) -> str:
        """What the scores are called in tables: ``sAP linked by bm25 to trec8-adhoc``."""
        n = len(self.anchors)
        return (
            f"{self.measure} linked by {self.anchors[0] if n == 1 else f'{n} anchors'} to "
            f"{self.reference}"
        )

    @property
    def summary(self) -> str:
        """What was linked to what, and by which constants."""
        shifts = ", ".join(
            f"{one.shift:+.2f}{'' if isnan(one.error) else f' (standard error {one.error:.2f})'} "
            f"on {collection}"
            for collection, one in self.links.items()
        )
        same = "" if len(self.anchors) == 1 else "; one name may be two programs"
        return (
            f"{self.measure} is linked by {', '.join(self.anchors)} to {self.reference}: every z "
            f"is shifted by {shifts}{same}"
        )

    @property
    def warnings(self) -> Iterator[str]:
        """Why links are doubtful, each reason once."""
        collections: dict[str, list[str]] = {}
        for collection, one in self.links.items():
            for doubt in one.doubts:
                collections.setdefault(doubt, []).append(collection)
        for doubt, names in collections.items():
            yield f"{self.measure} of {abbreviate(names)}, linked to {self.reference}: {doubt}"

    def unlike_anchors(self, z: Mapping[tuple[str, str], Floats]) -> Iterator[str]:
        """Which systems the anchors do not resemble.

        Parameters
        ----------
        z : mapping of (str, str) to ndarray, shape (n_topics,)
            By system and collection.
        """
        for collection, one in self.links.items():
            above = {s: one.distance(own) for (s, there), own in z.items() if there == collection}
            anchors = [above.pop(anchor) for anchor in self.anchors]
            far = [system for system, distance in above.items() if abs(distance) > RESEMBLING]
            if far:
                yield (
                    f"{self.measure} of {abbreviate(far)} on {collection}: up to "
                    f"{max(abs(above[system]) for system in far):.1f} standard deviations from "
                    "the anchors, which hardly resemble them: use anchors of their level too"
                )
            if len(anchors) >= MIN_TESTED and (
                min(anchors) > max(above.values()) or max(anchors) < min(above.values())
            ):
                side = "better" if min(anchors) > max(above.values()) else "worse"
                yield (
                    f"{self.measure} on {collection}: all anchors are {side} than the systems "
                    "compared: use anchors on both sides of them"
                )

    def scores(self, collection: str, z: Floats) -> Floats:
        """A system's scores on the reference's scale, of its z; NaN where it has none."""
        if collection in self.links:
            return self.links[collection].apply(z)
        return score_of(self.measure, z)

    def error_of_mean(self, z: Mapping[str, Floats]) -> tuple[float, float]:
        """Compute the error that links add to a mean over collections, and its df.

        Parameters
        ----------
        z : mapping of str to ndarray, shape (n_topics,)
            A run's z, by collection.
        """
        linked = [collection for collection in z if collection in self.links]
        links = [self.links[c] for c in linked]
        return error_of_linked_mean(links, [z[c] for c in linked], len(z))

    def weights_on_reference(self, run: str, z: Mapping[str, Floats]) -> dict[str, float]:
        """How a mean over collections moves with the means of runs on the reference.

        Parameters
        ----------
        run : str
        z : mapping of str to ndarray, shape (n_topics,)
            The run's z, by collection.
        """
        ratios = [self.links[c].slope_ratio(own) for c, own in z.items() if c in self.links]
        weights = dict.fromkeys(self.anchors, sum(ratios) / len(self.anchors) / len(z))
        if self.reference in z:
            weights[run] = weights.get(run, 0.0) + 1 / len(z)
        return weights

    def error_between(self, collection: str, z: Floats, other: Floats) -> float:
        """The standard error that the link adds to the difference of two means there."""
        return self.links[collection].error_between(z, other) if collection in self.links else 0.0

    def difference(self, first: tuple[str, Floats], second: tuple[str, Floats]) -> LinkedDifference:
        """How far a mean on one collection is above a mean on another.

        Parameters
        ----------
        first, second : (str, ndarray of shape (n_topics,))
            A collection, and a system's z on its topics.
        """
        if first[0] == self.reference:
            return self.links[second[0]].difference(first[1], second[1])
        if second[0] == self.reference:
            below = self.links[first[0]].difference(second[1], first[1])
            return replace(below, difference=-below.difference)
        return linked_difference(self.links[first[0]], first[1], self.links[second[0]], second[1])


def score_of(measure: Standardized, z: Floats) -> Floats:
    """What a standardized measure makes of z."""
    from_z = get_scheme(measure["scheme"]).from_z
    if from_z is None:
        raise UsageError(f"{measure} is a share of systems, which cannot be linked: use N, U or z")
    return from_z(z, **measure.scheme_params)


def link_collections(
    measure: Standardized,
    z: Mapping[str, Floats],
    anchors: Sequence[str],
    reference: str | None = None,
    same_systems: bool = False,
) -> CollectionLinks:
    """Link collections by the anchors' z on them.

    Parameters
    ----------
    measure : Standardized
        By scheme N, U or z.
    z : mapping of str to ndarray, shape (n_topics, n_anchors)
        By collection.
    anchors : sequence of str
        Their names.  Of anchors that score the same everywhere one counts.
    reference : str, optional
        The collection on whose scale the scores are put; if not given, that on which the anchors'
        mean is lowest: it has the strongest standardizing systems.
    same_systems : bool
        True if each name is known to be the identical program on all collections.

    Raises
    ------
    UsageError
        If there are too few topics, or the anchors cannot link two collections.
    """
    kept = _different(list(z.values()))
    names = tuple(anchors[i] for i in kept)
    own = {collection: values[:, kept] for collection, values in z.items()}
    means = {name: float(np.nanmean(score_of(measure, values))) for name, values in own.items()}
    chosen = min(means, key=means.__getitem__) if reference is None else reference
    links = {}
    for collection, values in own.items():
        if collection != chosen:
            try:
                links[collection] = link(
                    values,
                    own[chosen],
                    measure["scheme"],
                    names=names,
                    same_systems=same_systems,
                    **measure.scheme_params,
                )
            except UsageError as wrong:
                raise UsageError(
                    f"{collection} cannot be linked to {chosen} by {measure}: {wrong}"
                ) from None
    return CollectionLinks(measure, chosen, links, names)


def check_linkable(
    collections_of: Mapping[str, Sequence[str]], anchors: Sequence[str], reference: str | None
) -> None:
    """Check that anchors ran wherever any system did, and that something is left to compare.

    Parameters
    ----------
    collections_of : mapping of str to sequence of str
        For each system the collections that it ran on.
    anchors : sequence of str
    reference : str, optional

    Raises
    ------
    UsageError
        If they did not, or there is no such system or collection, or one collection only.
    """
    collections = dict.fromkeys(c for names in collections_of.values() for c in names)
    if not anchors:
        raise UsageError(f"reference {reference} without an anchor: name a system to link by")
    if len(collections) < 2:
        raise UsageError(
            f"there is nothing to link: {', '.join(collections)} is the only collection"
        )
    for name, what, known in (
        *((anchor, ("system", "anchor"), collections_of) for anchor in anchors),
        *([(reference, ("collection", "reference"), collections)] if reference else []),
    ):
        if name not in known:
            raise UsageError(
                f"no {what[0]} is called {name!r}, the {what[1]}: there are {', '.join(known)}"
                f"{suggestion(name, known)}"
            )
    for anchor in anchors:
        missing = [c for c in collections if c not in collections_of[anchor]]
        if missing:
            raise UsageError(
                f"the anchor {anchor} has no run on {', '.join(missing)}: an anchor links the "
                "collections that it ran on, give its runs on all of them"
            )
    if set(collections_of) <= set(anchors):
        raise UsageError(
            f"{', '.join(collections_of)}: all systems are anchors, and nothing is left to "
            "compare: anchors have the same mean everywhere by definition"
        )


def _different(z: Sequence[Floats]) -> list[int]:
    """The anchors, by their columns, without those that score as an earlier one everywhere."""
    kept: list[int] = []
    for i in range(z[0].shape[1]):
        if not any(
            all(np.allclose(one[:, i], one[:, j], equal_nan=True) for one in z) for j in kept
        ):
            kept.append(i)
    return kept
