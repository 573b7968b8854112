"""One scale for two collections, by systems that ran on both: linking.

A standardized score is relative to the systems of its own collection.  Test theory puts two forms
of a test on one scale by what both have in common (Kolen and Brennan, Test Equating, Scaling, and
Linking, 3rd edition, 2014: common items and nonequivalent groups).  Here the *anchors* are systems
that ran on both collections: one constant is added to every z on a collection, so that the
anchors' mean score is what it is on the reference collection.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import stdtr, stdtrit

from ir_std._arrays import Floats, Mask
from ir_std.analysis.estimate import LEVEL
from ir_std.errors import UsageError
from ir_std.schemes import clipped_linear, normal_cdf

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
SATURATED, MOST_SATURATED = (0.01, 0.99), 0.3
"""N outside of this tells little; more than this share of the anchors' values make doubtful."""


class _Curve:
    """How a scheme turns z into a score, and how fast that grows with z."""

    def __init__(self, scheme: str, A: float, B: float) -> None:
        curves: dict[str, tuple[Callable[[Floats], Floats], Callable[[Floats], Floats]]] = {
            "N": (normal_cdf, lambda z: np.exp(-(z**2) / 2) / sqrt(2 * np.pi)),
            "U": (
                lambda z: clipped_linear(z, A, B),
                lambda z: A * ((A * z + B > 0) & (A * z + B < 1)).astype(float),
            ),
            "z": (lambda z: z, np.ones_like),
        }
        if scheme not in curves:
            raise UsageError(
                f"scheme {scheme} cannot be linked"
                + (": shares of systems have no common shift" if scheme == "E" else "")
                + f"; use {', '.join(curves)}"
            )
        self.score, self.slope = curves[scheme]


@dataclass(frozen=True)
class LinkedDifference:
    """A mean on the reference less a linked mean on another collection.

    Attributes
    ----------
    difference : float
    error : float
        The standard error, over the topics of both collections and over anchors.
    df : float
        Degrees of freedom: Welch's, of the part over topics.
    """

    difference: float
    error: float
    df: float

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 percent interval, by Student's t."""
        half = float(stdtrit(self.df, (1 + LEVEL) / 2)) * self.error
        return self.difference - half, self.difference + half

    @property
    def p(self) -> float:
        """Two-sided, of no difference."""
        return float(2 * stdtr(self.df, -abs(self.difference) / self.error))


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
    _pair: _Pair

    def apply(self, z: npt.ArrayLike) -> Floats:
        """Scores on the reference's scale, of z on the linked collection."""
        return self._pair.curve.score(np.asarray(z, float) + self.constant)

    def difference(self, z_reference: npt.ArrayLike, z: npt.ArrayLike) -> LinkedDifference:
        """How far a mean on the reference is above a linked mean.

        Parameters
        ----------
        z_reference : array_like, shape (n_topics,)
            A system's z on the topics of the reference, as given to :func:`link`.
        z : array_like, shape (n_topics,)
            That of the same system, or of another one, on the topics of the linked collection.

        Notes
        -----
        The variance over topics is ``var(y_A - r a) / n_A + var(y_B - r b) / n_B``: ``y`` are the
        system's scores, ``a`` and ``b`` the anchors' means by topic, ``r`` is the system's slope
        ``f`` over the anchors' (the delta method).  ``tau**2 f**2 (1 + 1/k)`` is added, as the
        system itself, like each of the k anchors, may suit one of the collections better.
        """
        reference, linked = (
            np.asarray(values, float)[used]
            for values, used in zip((z_reference, z), self._pair.used, strict=True)
        )
        slope = float(self._pair.curve.slope(linked + self.constant).mean())
        y = self._pair.curve.score(reference), self.apply(linked)
        variance, df = self._pair.topic_variance(self.constant, *y, slope)
        variance += (self.disagreement * slope) ** 2 * (1 + 1 / len(self.anchors))
        return LinkedDifference(float(y[0].mean() - y[1].mean()), sqrt(variance), df)


@dataclass(frozen=True, eq=False)
class _Pair:
    """The anchors' z on the reference and on the collection, without topics that lack one.

    ``used`` says which of the topics given these are.
    """

    reference: Floats
    linked: Floats
    curve: _Curve
    used: tuple[Mask, Mask]

    @property
    def n_anchors(self) -> int:
        return int(self.reference.shape[1])

    def only(self, columns: Sequence[int]) -> _Pair:
        """The same with some of the anchors."""
        return replace(self, reference=self.reference[:, columns], linked=self.linked[:, columns])

    def constant(self) -> float:
        """What must be added to z so that the anchors' mean score is that on the reference."""
        target = float(self.curve.score(self.reference).mean())

        def excess(c: float) -> float:
            return float(self.curve.score(self.linked + c).mean()) - target

        bound = 1.0
        while excess(-bound) > 0 or excess(bound) < 0:
            bound *= 2
            if bound > 64:
                raise UsageError("no constant links the anchors: their scores are all at one end")
        return float(brentq(excess, -bound, bound, xtol=1e-12))

    def slopes(self, c: float) -> Floats:
        """How fast each anchor's linked mean grows with the constant, shape (n_anchors,)."""
        slopes: Floats = self.curve.slope(self.linked + c).mean(axis=0)
        return slopes

    def scores(self, c: float) -> tuple[Floats, Floats]:
        """The anchors' scores on the reference and, linked, on the collection."""
        return self.curve.score(self.reference), self.curve.score(self.linked + c)

    def topic_variance(
        self, c: float, y_reference: Floats, y_linked: Floats, slope: float
    ) -> tuple[float, float]:
        """The variance of a difference of means that comes from topics, with Welch's df."""
        ratio = slope / float(self.slopes(c).mean())
        parts = [
            (float((y - ratio * anchors.mean(axis=1)).var(ddof=1)) / len(y), len(y) - 1)
            for y, anchors in zip((y_reference, y_linked), self.scores(c), strict=True)
        ]
        total = sum(variance for variance, _ in parts)
        spent = sum(variance**2 / df for variance, df in parts)
        return total, total**2 / spent if spent else float(min(df for _, df in parts))

    def disagreement(self, c: float) -> float:
        """``tau``: how single anchors' constants vary beyond what topics explain."""
        k, usual = self.n_anchors, 0.15 + 0.10 * abs(c)
        if k == 1:
            return usual
        a, b = self.scores(c)
        slopes = self.slopes(c)
        shifts = (a.mean(axis=0) - b.mean(axis=0)) / slopes
        by_topics = [
            self.topic_variance(c, a[:, i], b[:, i], slopes[i])[0] / slopes[i] ** 2
            for i in range(k)
        ]
        seen = float((shifts**2).sum()) / (k - 1) - k / (k - 1) * float(np.mean(by_topics))
        shrunk = (4 * usual**2 + (k - 1) * seen) / (k + 3)
        return sqrt(max(shrunk, (0.05 + 0.10 * abs(c)) ** 2))

    def error(self, c: float) -> float:
        """The standard error of the constant, over topics and anchors."""
        over_topics = sum(
            float(scores.mean(axis=1).var(ddof=1)) / len(scores) for scores in self.scores(c)
        )
        slope = float(self.slopes(c).mean())
        return sqrt(over_topics / slope**2 + self.disagreement(c) ** 2 / self.n_anchors)

    def p_of_anchor(self, i: int) -> float:
        """Whether an anchor, linked by the others, differs from itself: two-sided p."""
        others = self.only([j for j in range(self.n_anchors) if j != i])
        c = others.constant()
        y = self.curve.score(self.reference[:, i]), self.curve.score(self.linked[:, i] + c)
        slope = float(self.curve.slope(self.linked[:, i] + c).mean())
        variance, df = others.topic_variance(c, *y, slope)
        variance += (0.1 * slope) ** 2 * (1 + 1 / others.n_anchors)
        return float(2 * stdtr(df, -abs(float(y[0].mean() - y[1].mean())) / sqrt(variance)))


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
        ``T**2 = sum e_i**2 / (k-1) - k / (k-1) mean v_i`` and ``t0 = .15 + .10 |c|``:
        ``tau**2 = max((4 t0**2 + (k-1) T**2) / (k+3), (.05 + .10 |c|)**2)``, with one anchor
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
    curve = _Curve(scheme, A, B)
    given = [np.asarray(values, float) for values in (z_reference, z)]
    if any(values.ndim != 2 for values in given) or given[0].shape[1] != given[1].shape[1]:
        raise UsageError(
            "z of the same anchors on both collections are needed, topics x anchors: got the "
            f"shapes {given[1].shape} and {given[0].shape}"
        )
    used = [~np.isnan(values).any(axis=1) for values in given]
    for where, mask in zip(("the reference", "the linked collection"), used, strict=True):
        if mask.sum() < MIN_TOPICS:
            raise UsageError(
                f"{mask.sum()} topics of {where} have factors: a link needs {MIN_TOPICS}"
            )
    pair = _Pair(given[0][used[0]], given[1][used[1]], curve, (used[0], used[1]))
    names = tuple(names) or tuple(f"anchor {i + 1}" for i in range(given[0].shape[1]))
    kept, doubts = _agreeing_anchors(pair, names)
    pair = pair.only(kept)
    c = pair.constant()
    _check_possible(pair, c)
    return Link(
        c,
        pair.error(c),
        pair.disagreement(c),
        tuple(names[i] for i in kept),
        tuple(name for i, name in enumerate(names) if i not in kept),
        (*doubts, *_doubts(pair, c)),
        pair,
    )


def _agreeing_anchors(pair: _Pair, names: Sequence[str]) -> tuple[list[int], list[str]]:
    """The anchors to use, by their columns, and what is wrong with the others."""
    kept, doubts = list(range(pair.n_anchors)), []
    while len(kept) > 1:
        used = pair.only(kept)
        p, worst = min((used.p_of_anchor(i), i) for i in range(len(kept)))
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


def _normal_scores(pair: _Pair, c: float) -> Floats:
    """The anchors' N, whatever the scheme, on both collections."""
    return np.concatenate([normal_cdf(z).ravel() for z in (pair.reference, pair.linked + c)])


def _check_possible(pair: _Pair, c: float) -> None:
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


def _doubts(pair: _Pair, c: float) -> Iterator[str]:
    if pair.n_anchors < FEW_ANCHORS:
        yield f"{pair.n_anchors} anchor{'s' * (pair.n_anchors > 1)}: hardly known how well it links"
    if abs(c) > DOUBTFUL_SHIFT:
        yield f"the standardizing systems are {abs(c):.2f} standard deviations apart"
    scores = _normal_scores(pair, c)
    share = float(((scores < SATURATED[0]) | (scores > SATURATED[1])).mean())
    if share > MOST_SATURATED:
        yield f"{share:.0%} of the anchors' scores are at an end of the scale"
    mean = float(scores.mean())
    if not USUAL_MEAN[0] <= mean <= USUAL_MEAN[1]:
        yield f"the anchors' mean N is {mean:.3f}, near an end of the scale"
