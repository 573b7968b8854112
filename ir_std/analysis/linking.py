"""One scale for two collections, by systems that ran on both: linking.

A standardized score is relative to the systems of its own collection.  Test theory puts two forms
of a test on one scale by what both have in common (Kolen and Brennan, Test Equating, Scaling, and
Linking, 3rd edition, 2014: common items and nonequivalent groups).  Here the *anchors* are systems
that ran on both collections: one constant is added to every z on a collection, so that the
anchors' mean score is what it is on the reference collection.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import hypot, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from ir_std._arrays import Floats, Mask
from ir_std.analysis.anchors import AnchorPair, Curve, variance_of_sum
from ir_std.analysis.linked_means import LinkedDifference, LinkedMean, difference_of_means, z_on
from ir_std.errors import UsageError, counted
from ir_std.schemes import normal_cdf

MIN_TOPICS = 10
"""So many topics with factors it takes on each of the two collections."""
FEW_ANCHORS = 3
"""With fewer anchors hardly anything tells how well they agree."""
DROPS_FROM = 5
"""With so many anchors one that disagrees with the others is left out."""
DISAGREES = 0.05
"""The level of the test whether an anchor disagrees, before correction for the anchors' number."""
DOUBTFUL_SHIFT, LARGEST_SHIFT = 1.0, 2.0
"""Constants beyond which a link is doubtful, and beyond which it is refused, in units of z."""
USUAL_MEAN, POSSIBLE_MEAN = (0.10, 0.85), (0.02, 0.95)
"""Where the anchors' mean N must lie for a good link, and for any."""
LEAST_SLOPE = 1e-3
"""An anchor whose mean grows more slowly with the constant, compared with that at z = 0, has hardly
a topic off the ends of the scale."""
SATURATED, MOST_SATURATED = (0.01, 0.99), 0.3
"""N outside of this tells little; more than this share of the anchors' values make doubtful."""


@dataclass(frozen=True, eq=False)
class Link:
    """The link of one collection to the reference.

    Attributes
    ----------
    constant : float
        What is added to every z of the collection.
    error : float
        Its standard error, over topics and anchors.
    disagreement : float
        How much single anchors' constants vary beyond what topics explain: a standard deviation,
        shrunk towards the usual one (see :func:`link`).
    anchors : tuple of str
        The names of the anchors that were used.
    dropped : tuple of str
        Anchors that disagreed with the others and were left out.
    doubts : tuple of str
        Why the link is doubtful; empty if nothing speaks against it.
    """

    constant: float
    error: float
    disagreement: float
    anchors: tuple[str, ...]
    dropped: tuple[str, ...]
    doubts: tuple[str, ...]
    _pair: AnchorPair = field(repr=False)

    def apply(self, z: npt.ArrayLike) -> Floats:
        """Scores on the reference's scale, of z on the linked collection."""
        return self._pair.curve.score(np.asarray(z, float) + self.constant)

    def difference(self, z_reference: npt.ArrayLike, z: npt.ArrayLike) -> LinkedDifference:
        """How far a mean on the reference is above a linked mean.

        Parameters
        ----------
        z_reference : array_like, shape (n_topics,) or (n_topics, n_systems)
            A system's z on the topics of the reference, as given to :func:`link`; of several
            systems in columns.
        z : array_like, shape (n_topics,) or (n_topics, n_systems)
            Those of the same systems, or of others, on the topics of the linked collection.

        Notes
        -----
        The variance over topics is ``var(y_A - r a) / n_A + var(y_B - r b) / n_B``: ``y`` are the
        system's scores, ``a`` and ``b`` the anchors' means by topic, ``r`` is the system's slope
        ``f`` over the anchors' (the delta method).  ``tau**2 f**2 (1 + 1/k)`` is added, as the
        system itself, like each of the k anchors, may suit one of the collections better; and
        ``(.15 c d)**2``, as one constant does not fit all: ``d`` is how far the system's linked
        mean is from the anchors'.
        """
        reference = z_on(z_reference, self._pair.used[0], "the reference")
        return difference_of_means(self._pair.curve.score(reference), self._mean_of(z))

    def error_of(self, z: npt.ArrayLike) -> float:
        """The standard error that the link adds to a system's linked mean.

        Parameters
        ----------
        z : array_like, shape (n_topics,)
            The system's z on the topics of the linked collection.
        """
        mean = self._mean_of(z)
        return hypot(self.error * mean.slope, mean.distance_error)

    def error_between(self, z: npt.ArrayLike, other: npt.ArrayLike) -> float:
        """The standard error that the link adds to the difference of two linked means.

        Parameters
        ----------
        z, other : array_like, shape (n_topics,)
            Two systems' z on the topics of the linked collection.
        """
        a, b = self._mean_of(z), self._mean_of(other)
        return hypot(self.error * (a.slope - b.slope), a.distance_error - b.distance_error)

    def distance(self, z: npt.ArrayLike) -> Any:
        """How far a system's linked mean is above the anchors', in units of z.

        Parameters
        ----------
        z : array_like, shape (n_topics,) or (n_topics, n_systems)
            The system's z on the topics of the linked collection; of several in columns.

        Returns
        -------
        float, or ndarray of shape (n_systems,)
        """
        return self._mean_of(z).distance

    def _mean_of(self, z: npt.ArrayLike) -> LinkedMean:
        return LinkedMean(self._pair, self.constant, self.disagreement, z)


def linked_difference(
    first: Link, z_first: npt.ArrayLike, second: Link, z_second: npt.ArrayLike
) -> LinkedDifference:
    """How far a mean on one collection is above a mean on another, both linked to a reference.

    As :meth:`Link.difference`; the anchors' scores on the reference, which both links rest on,
    count by the difference of the systems' slopes over the anchors'.  The disagreement of both
    links counts in full, that on the reference twice: the interval is on the wide side.

    Parameters
    ----------
    first, second : Link
        To the same reference.
    z_first, z_second : array_like, shape (n_topics,)
        A system's z on the topics of each collection.
    """
    return difference_of_means(first._mean_of(z_first), second._mean_of(z_second))


def error_of_linked_mean(links: Sequence[Link], z: Sequence[npt.ArrayLike], n: int) -> float:
    """The standard error that links add to the mean of a system's means on several collections.

    The anchors' scores on the reference count once, for all links rest on them.

    Parameters
    ----------
    links : sequence of Link
        Of the collections that are linked, to the same reference.
    z : sequence of array_like, shape (n_topics,)
        The system's z on each.
    n : int
        The number of collections, the reference too if it is among them.
    """
    means = [link._mean_of(values) for link, values in zip(links, z, strict=True)]
    if not means:
        return 0.0
    on_reference = np.sum([mean.on_reference for mean in means], axis=0) / n
    variance, _ = variance_of_sum([on_reference[~np.isnan(on_reference)]])
    for mean in means:
        anchors, _ = variance_of_sum([mean.of_anchors])
        shift = mean.shift_error**2 / mean.n_anchors
        variance += (anchors + shift + mean.distance_error**2) / n**2
    return sqrt(variance)


def link(
    z: npt.ArrayLike,
    z_reference: npt.ArrayLike,
    scheme: str = "N",
    *,
    names: Sequence[str] = (),
    A: float = 0.15,
    B: float = 0.5,
) -> Link:
    """Link a collection to a reference by the anchors' z on both.

    The constant ``c`` solves ``mean f(z + c) = mean f(z_reference)``, means over topics and
    anchors, where ``f`` is the scheme: equal means on the scale that is reported.  Of ten ways of
    linking that were tried this one leaves the smallest differences.

    Parameters
    ----------
    z : array_like, shape (n_topics, n_anchors)
        The anchors' z on the collection that is linked; NaN where there is none.  Topics on which
        one is NaN have no part in the link.
    z_reference : array_like, shape (n_reference_topics, n_anchors)
        The same anchors' z on the reference, in the same order.  It should be the collection with
        the strongest standardizing systems, where the anchors' mean is lowest, so that ``c`` is
        at most 0.
    scheme : {'N', 'U', 'z'}
    names : sequence of str, optional
        The anchors' names; ``anchor 1`` and so on where none are given.
    A, B : float
        Of U.

    Returns
    -------
    Link
        Its ``disagreement`` is ``tau``.  With ``e_i`` the difference of anchor i's two means, over
        its slope, ``v_i`` the variance of that which topics explain,
        ``T**2 = sum e_i**2 / (k-1) - k / (k-1) mean v_i`` and ``t0**2 = .15**2 + (.10 c)**2``:
        ``tau**2 = max((4 t0**2 + (k-1) T**2) / (k+3), .05**2 + (.10 c)**2)``, with one anchor
        ``t0**2``.  The constants were found on Robust 2004, Terabyte and Blog;
        ``scripts/linking_experiment.py`` tries them on other collections.

    Raises
    ------
    UsageError
        (a ValueError) if there are fewer than ten topics with factors, the scheme is E, the
        constant is beyond 2, the anchors' mean score is too close to an end of the scale, or two
        anchors disagree.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> strong, weak = rng.normal(0, 1, (50, 3)), rng.normal(0.5, 1, (50, 3))
    >>> linked = link(weak, strong)
    >>> round(linked.constant, 2), round(linked.error, 2)
    (-0.25, 0.18)
    """
    curve = Curve(scheme, A, B)
    linked, reference = np.asarray(z, float), np.asarray(z_reference, float)
    if not linked.ndim == reference.ndim == 2 or linked.shape[1] != reference.shape[1]:
        raise UsageError(
            "z of the same anchors on both collections are needed, topics x anchors: got the "
            f"shapes {linked.shape} and {reference.shape}"
        )
    n_anchors = linked.shape[1]
    names = tuple(names) or tuple(f"anchor {i + 1}" for i in range(n_anchors))
    if not names or len(names) != n_anchors:
        raise UsageError(
            f"{counted(len(names), 'name')} of {counted(n_anchors, 'anchor')}: give one of each"
        )
    used = (_usable(reference, "the reference"), _usable(linked, "the linked collection"))
    pair = AnchorPair(reference[used[0]], linked[used[1]], curve, used)
    kept, doubts = _agreeing_anchors(pair, names)
    pair = pair.only(kept)
    c = pair.constant()
    _check_possible(pair, c)
    _check_slopes(pair, c, [names[i] for i in kept])
    return Link(
        c,
        pair.error(c),
        pair.disagreement(c),
        tuple(names[i] for i in kept),
        tuple(name for i, name in enumerate(names) if i not in kept),
        (*doubts, *_doubts(pair, c)),
        pair,
    )


def _usable(z: Floats, where: str) -> Mask:
    """The topics on which no anchor's z is missing, of which there must be some."""
    usable = np.logical_not(np.isnan(z).any(axis=1))
    if usable.sum() < MIN_TOPICS:
        raise UsageError(
            f"{usable.sum()} topics of {where} have factors: a link needs {MIN_TOPICS}"
        )
    return usable


def _agreeing_anchors(pair: AnchorPair, names: Sequence[str]) -> tuple[list[int], list[str]]:
    """The anchors to use, by their columns, and what is wrong with the others."""
    kept, doubts = list(range(pair.n_anchors)), []
    while len(kept) > 1:
        used = pair.only(kept)
        by_anchor = used.p_of_anchors()
        worst = int(by_anchor.argmin())
        p = float(by_anchor[worst])
        if p >= DISAGREES / len(kept):
            break
        name = names[kept[worst]]
        if len(kept) == 2:
            raise UsageError(
                f"the anchors {names[kept[0]]} and {names[kept[1]]} disagree on how far the "
                f"collections are apart (p = {p:.2g}): use others, or more"
            )
        doubts.append(f"{name} disagrees with the other anchors (p = {p:.2g})")
        if len(kept) < DROPS_FROM:
            median = float(np.median([used.only([i]).constant() for i in range(len(kept))]))
            doubts[-1] += f": the median of the links by one anchor is {median:.2f}"
            break
        doubts[-1] += ": left out"
        del kept[worst]
    return kept, doubts


def _check_slopes(pair: AnchorPair, c: float, names: Sequence[str]) -> None:
    slopes = pair.slopes(c)
    for name, slope in zip(names, slopes, strict=True):
        if slope < LEAST_SLOPE * pair.curve.slope(np.zeros(1))[0]:
            raise UsageError(
                f"the anchor {name} is at an end of the scale on all topics: it tells nothing of "
                "how far the collections are apart, use another"
            )


def _normal_scores(pair: AnchorPair, c: float) -> Floats:
    """The anchors' N, whatever the scheme, on both collections."""
    return np.concatenate([normal_cdf(z).ravel() for z in (pair.reference, pair.linked + c)])


def _check_possible(pair: AnchorPair, c: float) -> None:
    if abs(c) > LARGEST_SHIFT:
        raise UsageError(
            f"the standardizing systems of the two collections are {abs(c):.2f} standard "
            f"deviations apart: beyond {LARGEST_SHIFT:g} a link says nothing"
        )
    mean = float(_normal_scores(pair, c).mean())
    if not POSSIBLE_MEAN[0] <= mean <= POSSIBLE_MEAN[1]:
        raise UsageError(
            f"the anchors' mean N is {mean:.3f}, too near to an end of the scale to link by: use "
            "anchors that are closer to the systems of the collections"
        )


def _doubts(pair: AnchorPair, c: float) -> Iterator[str]:
    if pair.n_anchors < FEW_ANCHORS:
        yield f"{counted(pair.n_anchors, 'anchor')}: hardly known how well it links"
    if abs(c) > DOUBTFUL_SHIFT:
        yield f"the standardizing systems are {abs(c):.2f} standard deviations apart"
    scores = _normal_scores(pair, c)
    share = float(((scores < SATURATED[0]) | (scores > SATURATED[1])).mean())
    if share > MOST_SATURATED:
        yield f"{share:.0%} of the anchors' scores are at an end of the scale"
    mean = float(scores.mean())
    if not USUAL_MEAN[0] <= mean <= USUAL_MEAN[1]:
        yield f"the anchors' mean N is {mean:.3f}, near an end of the scale"
