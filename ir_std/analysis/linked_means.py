"""Means on a linked collection, and their differences from means on others, with intervals.

A system is an array of z by topic; several are the columns of one, and what is computed of them
has an element for each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import stdtr, stdtrit

from ir_std._arrays import Floats, Mask
from ir_std.analysis.anchors import BY_DISTANCE, AnchorPair, variance_of_sum
from ir_std.analysis.estimate import LEVEL
from ir_std.errors import UsageError, counted


@dataclass(frozen=True)
class LinkedDifference:
    """A mean on one collection less a mean on another, on one scale.

    Attributes
    ----------
    difference : float
    error : float
        The standard error, over the topics of both collections and over anchors.
    df : float
        Degrees of freedom: Welch's, of the part over topics.

    Notes
    -----
    Of several systems each is an array, shape (n_systems,), and so are interval and p.
    """

    difference: Any
    error: Any
    df: Any

    @property
    def interval(self) -> tuple[Any, Any]:
        """The 95 percent interval, by Student's t."""
        half = stdtrit(self.df, (1 + LEVEL) / 2) * self.error
        return self.difference - half, self.difference + half

    @property
    def p(self) -> Any:
        """Two-sided, of no difference."""
        return 2 * stdtr(self.df, -abs(self.difference) / self.error)


class LinkedMean:
    """A system's scores on a linked collection, and what of their error the anchors take away.

    Parameters
    ----------
    pair : AnchorPair
    constant, disagreement : float
        Of the link.
    z : array_like, shape (n_topics,) or (n_topics, n_systems)

    Attributes
    ----------
    y : ndarray
        The linked scores, on the topics that count.
    slope : float or ndarray, shape (n_systems,)
        How fast the mean grows with the constant.
    of_anchors, on_reference : ndarray
        What the anchors' mean by topic takes from the scores, here and on the reference.
    distance : float or ndarray, shape (n_systems,)
        How far the mean is above the anchors', in units of z.
    shift_error, distance_error : float or ndarray, shape (n_systems,)
        The errors of the mean by the anchors' disagreement, and by its distance from theirs; the
        latter has a sign, the same for systems on one side of the anchors.
    """

    def __init__(
        self, pair: AnchorPair, constant: float, disagreement: float, z: npt.ArrayLike
    ) -> None:
        values = z_on(z, pair.used[1], "the linked collection")[pair.used[1]]
        known = _without_gaps(values)
        shifted = values[known] + constant
        on_reference, linked = (scores.mean(axis=1) for scores in pair.scores(constant))
        self.y = pair.curve.score(shifted)
        self.slope = pair.curve.slope(shifted).mean(axis=0)
        ratio = self.slope / pair.slopes(constant).mean()
        distance = self.y.mean(axis=0) - linked.mean()
        self.distance = distance / pair.slopes(constant).mean()
        self.shift_error = disagreement * self.slope
        self.distance_error = BY_DISTANCE * constant * distance
        self.n_anchors = pair.n_anchors
        self.of_anchors = np.multiply.outer(linked[known], ratio)
        self.on_reference = np.full((len(pair.used[0]), *ratio.shape), np.nan)
        self.on_reference[pair.used[0]] = np.multiply.outer(on_reference, ratio)


def difference_of_means(above: LinkedMean | Floats, below: LinkedMean) -> LinkedDifference:
    """A mean on the reference, or a linked one, less a linked mean on another collection.

    Parameters
    ----------
    above : LinkedMean or ndarray, shape (n_reference_topics,) or (n_reference_topics, n_systems)
        An array has scores on the reference.
    below : LinkedMean
    """
    linked = [below, above] if isinstance(above, LinkedMean) else [below]
    on_reference = above.on_reference if isinstance(above, LinkedMean) else above
    on_reference = on_reference - below.on_reference
    known = _without_gaps(on_reference)
    y = above.y if isinstance(above, LinkedMean) else above[known]
    variance, df = variance_of_sum(
        [on_reference[known], *(mean.y - mean.of_anchors for mean in linked)]
    )
    for mean in linked:
        variance += mean.shift_error**2 * (1 + 1 / mean.n_anchors) + mean.distance_error**2
    return LinkedDifference(y.mean(axis=0) - below.y.mean(axis=0), np.sqrt(variance), df)


def z_on(z: npt.ArrayLike, used: Mask, where: str) -> Floats:
    """Z as an array.

    Raises
    ------
    UsageError
        If it is not of the topics that a link was given, or known on fewer than two that it used.
    """
    values = np.asarray(z, float)
    if len(values) != len(used):
        raise UsageError(f"z on {counted(len(values), 'topic')}, where {where} has {len(used)}")
    if (known := int(_without_gaps(values[used]).sum())) < 2:
        raise UsageError(f"z is known on {counted(known, 'topic')} of {where}: a mean needs 2")
    return values


def _without_gaps(values: Floats) -> Mask:
    """The topics on which no system lacks a value."""
    gaps: Mask = np.isnan(values)
    return np.asarray(~gaps.reshape(len(gaps), -1).any(axis=1))
