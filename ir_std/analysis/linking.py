"""Links, which put two collections on one scale through systems that ran on both.

A standardized score is relative to the reference systems of one collection.  Test theory uses
common items to put two forms of a test on one scale (Kolen and Brennan, Test Equating, Scaling, and
Linking, 3rd edition, 2014: common items and nonequivalent groups).  Here, the common items are the
*anchors*, systems that ran on both collections.  A link adds one shift to every z on a collection,
so that the anchors' mean score becomes the same as on the reference collection.

The anchors also show how well one shift fits all systems.  Each anchor alone would need a slightly
different shift, and the link computes an upper confidence limit for the variation of these shifts.
No anchor is left out, because anchors that disagree show how wrong the link may be for the next
system.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import hypot, inf, isnan, nan, sqrt
from typing import Any

import numpy as np

from ir_std._arrays import ArrayLike, Floats, Mask, divide
from ir_std.analysis.means import LEVEL, combine_errors, student_t
from ir_std.errors import UsageError, pluralize
from ir_std.schemes import clipped_linear

MIN_TOPICS = 10
"""Smallest number of topics with factors that a link needs on each collection."""
MIN_TESTED = 3
"""Smallest number of anchors with which a difference has a p-value.  Fewer anchors do not show well
enough how much their shifts vary."""
SCATTER_QUANTILE = 0.3
"""Probability level of a quantile of chi squared.  The anchors' scatter, divided by this quantile,
is an upper confidence limit for tau squared."""
BY_DISTANCE = 0.15
"""Error of a linked mean, divided by the shift and by the mean's distance from the anchors' mean.
The value was measured on random halves of the topics of Robust 2004, Terabyte and Blog, with
anchors that are equally good."""
DISAGREEING = 0.3
"""A link warns that the anchors disagree if the plain estimate of tau is above this value."""
LARGEST_ERROR = 0.5
"""Largest accepted half-width of a linked mean's interval under scheme N.  The half-width includes
only the error due to the anchors' scatter.  If the half-width is larger, the anchors do not link
the collections."""
LARGEST_SHIFT = 2.0
"""Largest shift, in units of z, for which a link is meaningful."""
POSSIBLE_MEAN = (0.02, 0.95)
"""Smallest and largest mean N of the anchors for which a link is possible."""
LEAST_SLOPE = 1e-3
"""Smallest accepted slope of an anchor's mean as a function of the shift.  The slope is divided by
the slope at z = 0.  With a smaller slope, the anchor is at an end of the scale on almost all
topics."""
KNOWN_TAU, LEAST_KNOWN_TAU, KNOWN_TAU_BY_SHIFT = 0.15, 0.05, 0.10
"""Tau of systems that are known to be the same: usual value, smallest value, and increase per unit
of the shift.  The values were measured on Robust 2004, Terabyte and Blog.  Only `same_systems` uses
these values.
"""
KNOWN_WEIGHT = 4
"""Weight of :data:`KNOWN_TAU` when it is averaged with the anchors' own tau.  A weight of 4 means
that :data:`KNOWN_TAU` counts as much as four anchors."""
FURTHEST = 64.0
"""Largest shift that the search tries."""


class Curve:
    """A scheme's score as a function of z, and the slope of this function."""

    def __init__(self, scheme: str, A: float = 0.15, B: float = 0.5) -> None:
        from scipy.special import ndtr  # slow to import

        curves: dict[str, tuple[Callable[[Floats], Floats], Callable[[Floats], Floats]]] = {
            "N": (ndtr, lambda z: np.exp(-(z**2) / 2) / sqrt(2 * np.pi)),
            "U": (
                lambda z: clipped_linear(z, A, B),
                lambda z: A * ((A * z + B > 0) & (A * z + B < 1)).astype(float),
            ),
            "z": (lambda z: z, np.ones_like),
        }
        if scheme not in curves:
            raise UsageError(
                f"scheme {scheme} cannot be linked"
                + (", because no shift applies to shares of systems" if scheme == "E" else "")
                + f"; use {', '.join(curves)}"
            )
        self.score, self.slope = curves[scheme]


@dataclass(frozen=True, eq=False)
class AnchorPair:
    """The anchors' z on the reference and on the collection, for topics with all anchors.

    ``used`` marks the topics with all anchors, on the reference and on the collection.
    """

    reference: Floats
    linked: Floats
    curve: Curve
    used: tuple[Mask, Mask]

    @property
    def n_anchors(self) -> int:
        """The number of anchors."""
        return int(self.reference.shape[1])

    @cached_property
    def shift(self) -> float:
        """The shift of z that makes the anchors' mean score the same as on the reference."""
        from scipy.optimize import brentq  # slower to import than the rest of this module

        target = self.curve.score(self.reference).mean()

        def excess(c: float) -> float:
            return float(self.curve.score(self.linked + c).mean() - target)

        c = float(brentq(excess, -FURTHEST, FURTHEST, xtol=1e-14))
        if abs(c) > FURTHEST - 1:
            raise UsageError(
                "no shift makes the anchors' means equal; their scores are at one end of the scale"
            )
        return c

    @cached_property
    def slopes(self) -> Floats:
        """Slope of each anchor's linked mean as a function of the shift."""
        return np.asarray(self.curve.slope(self.linked + self.shift).mean(axis=0))

    @cached_property
    def scores(self) -> tuple[Floats, Floats]:
        """The anchors' scores on the reference, and their linked scores."""
        return self.curve.score(self.reference), self.curve.score(self.linked + self.shift)

    @cached_property
    def residual_shifts(self) -> tuple[Floats, float]:
        """The extra shift that each anchor needs, and the variance due to topics.

        The extra shift ``e_i`` is the difference between anchor i's two means, divided by the slope
        of anchor i.  The variance is ``k / (k - 1) mean v_i``, where ``v_i`` is the part of the
        variance of ``e_i`` that is due to topics.
        """
        k, sides, slopes = self.n_anchors, self.scores, self.slopes
        shifts = (sides[0].mean(axis=0) - sides[1].mean(axis=0)) / slopes
        ratio = slopes / slopes.mean()
        residuals = (y - np.multiply.outer(y.mean(axis=1), ratio) for y in sides)
        by_topics = sum(variance_of_mean(y)[0] for y in residuals) / slopes**2
        return shifts, k / (k - 1) * float(np.mean(by_topics))


def variance_of_mean(values: Floats) -> tuple[Any, int]:
    """Compute the variance of a mean over topics, and the variance's degrees of freedom.

    Topics are the first axis of ``values``.

    Examples
    --------
    >>> variance, df = variance_of_mean(np.array([1.0, 5.0]))
    >>> float(variance), df
    (4.0, 1)
    """
    n = len(values)
    return values.var(axis=0, ddof=1) / n, n - 1


@dataclass(frozen=True)
class LinkedDifference:
    """Difference between a mean on one collection and a mean on another, on one scale.

    Attributes
    ----------
    difference : float
        The difference between the means.
    error : float
        Standard error over the topics of both collections and over anchors; NaN with a single
        anchor.
    df : float
        Degrees of freedom of the standard error (Satterthwaite, 1946).
    p : float
        Two-sided p-value of the hypothesis that the true difference is 0; NaN with fewer than three
        anchors.

    Notes
    -----
    For several systems, each attribute and each end of the interval is an array of shape
    (n_systems,).
    """

    difference: Any
    error: Any
    df: Any
    p: Any

    @classmethod
    def of(
        cls, difference: Any, parts: Sequence[tuple[Any, float]], extra: Any, tested: bool
    ) -> LinkedDifference:
        """Test a difference.

        ``extra`` is a part of the variance that has no degrees of freedom.
        """
        total = sum(variance for variance, _ in parts) + extra
        spent = sum(variance**2 / df for variance, df in parts)
        # Without any variance, the degrees of freedom do not matter.
        df = divide(total**2, spent, min(df for _, df in parts))[()]
        from scipy.special import stdtr  # slow to import

        p = 2 * stdtr(df, -abs(student_t(difference, total))) if tested else difference * nan
        return cls(difference, np.sqrt(total), df, p)

    @property
    def interval(self) -> tuple[Any, Any]:
        """The 95 percent interval of the difference, computed with Student's t."""
        from scipy.special import stdtrit  # slow to import

        half = stdtrit(self.df, (1 + LEVEL) / 2) * self.error
        return self.difference - half, self.difference + half


@dataclass(frozen=True, eq=False)
class Link:
    """The link of one collection to the reference.

    Attributes
    ----------
    shift : float
        Constant that is added to every z of the collection.
    tau : float
        Standard deviation, in units of z, of the shifts that would fit single systems, without the
        part that is due to topics.  Tau is an upper confidence limit of this standard deviation.
        With a single anchor, tau is NaN.  Systems that are known to be the same have another tau
        (see :func:`link`).
    tau_df : float
        Degrees of freedom of tau.
    anchors : tuple of str
        The names of the anchors.
    doubts : tuple of str
        Reasons to doubt the link; empty if there are none.
    """

    shift: float
    tau: float
    tau_df: float
    anchors: tuple[str, ...]
    doubts: tuple[str, ...]
    _pair: AnchorPair = field(repr=False)

    @property
    def error(self) -> float:
        """The standard error of the shift, over topics and anchors."""
        over_topics = sum(variance_of_mean(scores.mean(axis=1))[0] for scores in self._pair.scores)
        slope = self._pair.slopes.mean()
        return sqrt(over_topics / slope**2 + self.tau**2 / len(self.anchors))

    def apply(self, z: ArrayLike) -> Floats:
        """Convert z on the linked collection to scores on the reference's scale."""
        return self._pair.curve.score(np.asarray(z, float) + self.shift)

    def difference(self, z_reference: ArrayLike, z: ArrayLike) -> LinkedDifference:
        """Compute a mean on the reference minus a linked mean.

        Parameters
        ----------
        z_reference : array_like, shape (n_topics,) or (n_topics, n_systems)
            A system's z on the topics of the reference, as given to :func:`link`.  For several
            systems, use one column per system.
        z : array_like, shape (n_topics,) or (n_topics, n_systems)
            The z of the same or other systems on the topics of the linked collection.

        Notes
        -----
        The variance has four parts.  The first two parts are due to topics: the variances of the
        means of ``y_A - r a`` and ``y_B - r b``.  Here, ``y_A`` and ``y_B`` are the systems' scores
        on the reference and on the linked collection; ``a`` and ``b`` are the anchors' means per
        topic on these collections.  The ratio ``r`` is the system's slope ``f`` divided by the
        anchors' slope (the delta method).  The third part is ``W = tau**2 f**2 (1 + 1/k)``, because
        the system and each of the k anchors may suit one of the collections better than the other.
        The fourth part is ``(.15 c d)**2``, because one shift does not fit all systems; ``d`` is
        the distance of the system's linked mean from the anchors' mean.  The degrees of freedom are
        combined from the first three parts: ``n - 1`` for each of the two parts due to topics, and
        ``k - 1`` for W.
        """
        reference = _z_on(z_reference, self._pair.used[0], "the reference")
        return _difference_of_means(self._pair.curve.score(reference), self.mean(z))

    def error_between(self, z: ArrayLike, other: ArrayLike) -> float:
        """Compute the standard error that the link adds to a difference between linked means.

        Parameters
        ----------
        z, other : array_like, shape (n_topics,)
            Two systems' z on the topics of the linked collection.
        """
        a, b = self.mean(z), self.mean(other)
        of_shift = 0.0 if a.slope == b.slope else self.error * (a.slope - b.slope)
        return hypot(of_shift, a.distance_error - b.distance_error)

    def mean(self, z: ArrayLike) -> LinkedMean:
        """Compute a system's mean on the linked collection, and the parts of its error.

        Parameters
        ----------
        z : array_like, shape (n_topics,) or (n_topics, n_systems)
            The system's z on the topics of the linked collection.  For several systems, use one
            column per system.
        """
        return LinkedMean(self, self._pair, z)


class LinkedMean:
    """A system's scores on a linked collection, and the parts of their error.

    Attributes
    ----------
    y : ndarray
        The linked scores, on topics without missing values.
    slope, slope_ratio : float or ndarray, shape (n_systems,)
        Slope of the mean as a function of the shift, and this slope divided by the slope of the
        anchors' mean.
    of_anchors, on_reference : ndarray
        The anchors' mean on each topic of the linked collection and of the reference, multiplied by
        ``slope_ratio``.  These means are subtracted from the scores before the error of the scores
        is computed.
    distance : float or ndarray, shape (n_systems,)
        The mean minus the anchors' mean, in units of z.
    distance_error : float or ndarray, shape (n_systems,)
        Error of the mean that is due to the distance from the anchors' mean.  This error has one
        sign for all systems that are better than the anchors, and the other sign for all systems
        that are worse.
    """

    def __init__(self, link: Link, pair: AnchorPair, z: ArrayLike) -> None:
        values = _z_on(z, pair.used[1], "the linked collection")[pair.used[1]]
        has_value = _without_gaps(values)
        shifted = values[has_value] + link.shift
        on_reference, linked = (scores.mean(axis=1) for scores in pair.scores)
        slope = pair.slopes.mean()
        self.link = link
        self.y = pair.curve.score(shifted)
        self.slope = pair.curve.slope(shifted).mean(axis=0)
        self.slope_ratio = self.slope / slope
        distance = self.y.mean(axis=0) - linked.mean()
        self.distance = distance / slope
        self.distance_error = BY_DISTANCE * link.shift * distance
        self.of_anchors = np.multiply.outer(linked[has_value], self.slope_ratio)
        self.on_reference = np.full((len(pair.used[0]), *np.shape(self.slope)), np.nan)
        self.on_reference[pair.used[0]] = np.multiply.outer(on_reference, self.slope_ratio)

    def scatter(self, n_like: float) -> tuple[Any, float]:
        """Multiply the variance due to tau by ``n_like``; also return tau's degrees of freedom."""
        return (self.link.tau * self.slope) ** 2 * n_like, self.link.tau_df


def _difference_of_means(above: LinkedMean | Floats, below: LinkedMean) -> LinkedDifference:
    """Subtract a linked mean from a mean on the reference, or from another linked mean.

    Parameters
    ----------
    above : LinkedMean or ndarray, shape (n_reference_topics,) or (n_reference_topics, n_systems)
        A linked mean, or scores on the reference.
    below : LinkedMean
        The linked mean to subtract.
    """
    linked = [below, above] if isinstance(above, LinkedMean) else [below]
    on_reference = above.on_reference if isinstance(above, LinkedMean) else above
    on_reference = on_reference - below.on_reference
    has_value = _without_gaps(on_reference)
    y = above.y if isinstance(above, LinkedMean) else above[has_value]
    parts: list[tuple[Any, float]] = [variance_of_mean(on_reference[has_value])]
    parts += [variance_of_mean(mean.y - mean.of_anchors) for mean in linked]
    parts += [mean.scatter(1 + 1 / len(mean.link.anchors)) for mean in linked]
    return LinkedDifference.of(
        y.mean(axis=0) - below.y.mean(axis=0),
        parts,
        sum(mean.distance_error**2 for mean in linked),
        all(mean.link.tau_df >= MIN_TESTED - 1 for mean in linked),
    )


def linked_difference(
    first: Link, z_first: ArrayLike, second: Link, z_second: ArrayLike
) -> LinkedDifference:
    """Compute the first linked mean minus the second, from two collections.

    The method is the same as in :meth:`Link.difference`.  Both links depend on the anchors' scores
    on the reference.  The weight of these reference scores is the difference between the two slope
    ratios (see :class:`LinkedMean`).  The variation of the shifts (tau) is counted in full for both
    links.  The tau of each link includes the variation on the reference.  The variation on the
    reference is thus counted twice, and the interval is somewhat too wide.

    Parameters
    ----------
    first, second : Link
        Links of the two collections to the same reference.
    z_first, z_second : array_like, shape (n_topics,)
        A system's z on the topics of each collection.
    """
    return _difference_of_means(first.mean(z_first), second.mean(z_second))


def error_of_linked_mean(
    links: Sequence[Link], z: Sequence[ArrayLike], n: int
) -> tuple[float, float]:
    """Compute the error that links add to a mean over collections, and the error's df.

    The anchors' scores on the reference count only once, because all links depend on these scores.

    Parameters
    ----------
    links : sequence of Link
        Links of the collections to the same reference.
    z : sequence of array_like, shape (n_topics,)
        The system's z on each linked collection.
    n : int
        Number of collections in the mean, including the reference if the mean includes it.
    """
    means = [link.mean(values) for link, values in zip(links, z, strict=True)]
    if not means:
        return 0.0, inf
    on_reference = np.sum([mean.on_reference for mean in means], axis=0)
    used = on_reference[~np.isnan(on_reference)]
    parts: list[tuple[Any, float]] = [variance_of_mean(used)]
    for mean in means:
        parts += [
            variance_of_mean(mean.of_anchors),
            mean.scatter(1 / len(mean.link.anchors)),
            (mean.distance_error**2, inf),
        ]
    return combine_errors([(sqrt(variance), df) for variance, df in parts], n)


def link(
    z: ArrayLike,
    z_reference: ArrayLike,
    scheme: str = "N",
    *,
    names: Sequence[str] = (),
    same_systems: bool = False,
    A: float = 0.15,
    B: float = 0.5,
) -> Link:
    """Link a collection to a reference by the anchors' z on both collections.

    The shift ``c`` solves ``mean f(z + c) = mean f(z_reference)``, where ``f`` is the scheme and
    the means are over topics and anchors.  With this shift, the anchors' means on the two
    collections are equal on the reported scale.  We tested ten methods of linking, and this method
    left the smallest differences between collections.

    Parameters
    ----------
    z : array_like, shape (n_topics, n_anchors)
        The anchors' z on the linked collection; NaN if an anchor has none.  The link ignores topics
        with a NaN.
    z_reference : array_like, shape (n_reference_topics, n_anchors)
        The same anchors' z on the reference, in the same order.  As the reference, use the
        collection with the strongest reference systems.  The anchors' mean is lowest on this
        collection, so ``c`` is at most 0.
    scheme : {'N', 'U', 'z'}
    names : sequence of str, optional
        The anchors' names; ``anchor 1`` and so on if none are given.
    same_systems : bool
        True if you know that each anchor, and each system that you compare, is the identical
        program on both collections.  Two different programs may have the same name, and the scores
        cannot show whether they do.
    A, B : float
        Coefficients of scheme U.

    Returns
    -------
    Link
        The link, with ``tau**2 = max(0, S / q - V)``.  Here, ``S = sum (e_i - mean e)**2``, where
        ``e_i`` is the difference between anchor i's two means, divided by the slope of anchor i.
        ``V = k / (k-1) mean v_i``, where ``v_i`` is the part of the variance of ``e_i`` that is due
        to topics.  ``q`` is the .3 quantile of chi squared with k-1 degrees of freedom.  A single
        anchor does not determine tau; two anchors are too few for a p-value.

        With `same_systems`, ``tau**2 = max((4 t0**2 + (k-1) T**2) / (k+3), .05**2 + (.10 c)**2)``,
        where ``T**2 = sum e_i**2 / (k-1) - V`` and ``t0**2 = .15**2 + (.10 c)**2``.  With one
        anchor, ``tau**2`` is ``t0**2``.  In both cases, the degrees of freedom are infinite.

    Raises
    ------
    UsageError
        If fewer than ten topics have factors, the scheme is E, the shift is larger than 2, or the
        anchors' mean score is too close to an end of the scale.  A UsageError is a ValueError.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> strong, weak = rng.normal(0, 1, (50, 3)), rng.normal(0.5, 1, (50, 3))
    >>> linked = link(weak, strong)
    >>> round(linked.shift, 2), round(linked.error, 2)
    (-0.25, 0.36)
    """
    curve = Curve(scheme, A, B)
    linked, reference = np.asarray(z, float), np.asarray(z_reference, float)
    if not linked.ndim == reference.ndim == 2 or linked.shape[1] != reference.shape[1]:
        raise UsageError(
            "expected z of the same anchors on both collections (topics x anchors), got the "
            f"shapes {linked.shape} and {reference.shape}"
        )
    n_anchors = linked.shape[1]
    names = tuple(names) or tuple(f"anchor {i + 1}" for i in range(n_anchors))
    if not names or len(names) != n_anchors:
        found = f"{pluralize(len(names), 'name')} for {pluralize(n_anchors, 'anchor')}"
        raise UsageError(f"got {found}; give one name per anchor")
    used = (_usable(reference, "the reference"), _usable(linked, "the linked collection"))
    pair = AnchorPair(reference[used[0]], linked[used[1]], curve, used)
    _check_possible(pair)
    _check_slopes(pair, names)
    tau, df = _tau_of_same_systems(pair) if same_systems else _tau(pair)
    return Link(pair.shift, tau, df, names, tuple(_doubts(pair, tau, df)), pair)


def _tau(pair: AnchorPair) -> tuple[float, float]:
    """Return tau and its degrees of freedom.

    Tau is an upper limit for how much the shifts of single systems vary.
    """
    df = pair.n_anchors - 1
    if df == 0:
        return nan, nan
    shifts, by_topics = pair.residual_shifts
    from scipy.special import chdtri  # slow to import

    quantile = float(chdtri(df, 1 - SCATTER_QUANTILE))
    return sqrt(max(0.0, df * float(shifts.var(ddof=1)) / quantile - by_topics)), df


def _tau_of_same_systems(pair: AnchorPair) -> tuple[float, float]:
    """Return tau and its df for systems that are known to be identical on both collections."""
    df, more = pair.n_anchors - 1, (KNOWN_TAU_BY_SHIFT * pair.shift) ** 2
    usual = KNOWN_TAU**2 + more
    if df == 0:
        return sqrt(usual), inf
    shifts, by_topics = pair.residual_shifts
    seen = float(shifts @ shifts) / df - by_topics
    shrunk = (KNOWN_WEIGHT * usual + df * seen) / (KNOWN_WEIGHT + df)
    return sqrt(max(shrunk, LEAST_KNOWN_TAU**2 + more)), inf


def _usable(z: Floats, where: str) -> Mask:
    """Find the topics on which all anchors have a z; raise UsageError if there are too few."""
    usable = np.logical_not(np.isnan(z).any(axis=1))
    if usable.sum() < MIN_TOPICS:
        raise UsageError(
            f"a link needs {MIN_TOPICS} topics with factors, but {where} has {usable.sum()}"
        )
    return usable


def _check_slopes(pair: AnchorPair, names: Sequence[str]) -> None:
    for name, slope in zip(names, pair.slopes, strict=True):
        if slope < LEAST_SLOPE * pair.curve.slope(np.zeros(1))[0]:
            raise UsageError(
                f"the anchor {name} is at an end of the scale on all topics, so it does not "
                "show how far the collections are apart; use another anchor"
            )


def _check_possible(pair: AnchorPair) -> None:
    if abs(pair.shift) > LARGEST_SHIFT:
        raise UsageError(
            f"the reference systems of the two collections are {abs(pair.shift):.2f} standard "
            f"deviations apart; a link is meaningful only up to {LARGEST_SHIFT:g}"
        )
    from scipy.special import ndtr  # slow to import

    mean = float(np.append(ndtr(pair.reference), ndtr(pair.linked + pair.shift)).mean())
    if not POSSIBLE_MEAN[0] <= mean <= POSSIBLE_MEAN[1]:
        raise UsageError(
            f"the anchors' mean N is {mean:.3f}, too near to an end of the scale for a link; use "
            "anchors that are closer to the systems of the collections"
        )


def _doubts(pair: AnchorPair, tau: float, df: float) -> Iterator[str]:
    """Yield the reasons to doubt a link."""
    k = pair.n_anchors
    if isnan(tau):
        yield (
            "a single anchor does not show how exact the link is; intervals cover only variation "
            "over topics"
        )
    elif df < MIN_TESTED - 1:
        yield "two anchors barely show how exact the link is; differences have no p-value"
    if k > 1:
        shifts, by_topics = pair.residual_shifts
        plain = sqrt(max(0.0, float(shifts.var(ddof=1)) - by_topics))
        if plain > DISAGREEING:
            yield (
                f"the anchors disagree; the shifts that fit single anchors vary by {plain:.2f} "
                "standard deviations"
            )
    slope = float(Curve("N").slope(pair.linked + pair.shift).mean())
    from scipy.special import stdtrit  # slow to import

    half = float(stdtrit(df, (1 + LEVEL) / 2)) * tau * slope * sqrt(1 + 1 / k)
    if k >= MIN_TESTED and half > LARGEST_ERROR:
        yield (
            f"the link is too imprecise (linked means are known to within ±{half:.2f}); use other "
            "anchors or more anchors"
        )


def _z_on(z: ArrayLike, used: Mask, where: str) -> Floats:
    """Return z as an array.

    Raises
    ------
    UsageError
        If the number of topics differs from the link's number of topics, or z is known on fewer
        than two of the topics that the link used.
    """
    values = np.asarray(z, float)
    if len(values) != len(used):
        raise UsageError(f"z has {pluralize(len(values), 'topic')}, but {where} has {len(used)}")
    if (n_values := int(_without_gaps(values[used]).sum())) < 2:
        raise UsageError(f"a mean needs 2 topics with a value of z, but {where} has {n_values}")
    return values


def _without_gaps(values: Floats) -> Mask:
    """Return a mask of the topics on which all systems have a value."""
    gaps: Mask = np.isnan(values)
    return np.asarray(~gaps.reshape(len(gaps), -1).any(axis=1))
