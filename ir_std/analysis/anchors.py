"""Anchors: the scores of systems that ran on two collections, which :mod:`linking` rests on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr, stdtr

from ir_std._arrays import Floats, Mask
from ir_std.errors import UsageError
from ir_std.schemes import clipped_linear

USUAL, LEAST = 0.15, 0.05
"""How much single anchors' constants vary beyond what topics explain, as engines suit topics: as a
rule, .157 between the topics of Robust 2004 up to 1999 and its later ones; and at least."""
BY_CONSTANT = 0.07
"""What each unit of the constant adds to that, as one constant does not fit all systems: found on
random halves of the topics of Robust 2004, Terabyte and Blog."""
BY_DISTANCE = 0.15
"""The error of a mean by each unit of the constant and of its distance from the anchors' mean: the
largest that was found there, on Blog."""


class Curve:
    """How a scheme turns z into a score, and how fast that grows with z."""

    def __init__(self, scheme: str, A: float, B: float) -> None:
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
                + (": shares of systems have no common shift" if scheme == "E" else "")
                + f"; use {', '.join(curves)}"
            )
        self.score, self.slope = curves[scheme]


@dataclass(frozen=True, eq=False)
class AnchorPair:
    """The anchors' z on the reference and on the collection, without topics that lack one.

    ``used`` says which of the topics given these are.
    """

    reference: Floats
    linked: Floats
    curve: Curve
    used: tuple[Mask, Mask]

    @property
    def n_anchors(self) -> int:
        """The number of anchors."""
        return int(self.reference.shape[1])

    def only(self, columns: Sequence[int]) -> AnchorPair:
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
        self, c: float, y_reference: Floats, y_linked: Floats, slope: Any
    ) -> tuple[Any, Any]:
        """The variance of a difference of means that comes from topics, with Welch's df."""
        ratio = slope / self.slopes(c).mean()
        return variance_of_sum(
            [
                y - np.multiply.outer(anchors.mean(axis=1), ratio)
                for y, anchors in zip((y_reference, y_linked), self.scores(c), strict=True)
            ]
        )

    def disagreement(self, c: float) -> float:
        """``tau``: how single anchors' constants vary beyond what topics explain."""
        k = self.n_anchors
        usual, least = (tau**2 + (BY_CONSTANT * c) ** 2 for tau in (USUAL, LEAST))
        if k == 1:
            return sqrt(usual)
        a, b = self.scores(c)
        slopes = self.slopes(c)
        shifts = (a.mean(axis=0) - b.mean(axis=0)) / slopes
        by_topics = self.topic_variance(c, a, b, slopes)[0] / slopes**2
        seen = float((shifts**2).sum()) / (k - 1) - k / (k - 1) * float(by_topics.mean())
        return sqrt(max((4 * usual + (k - 1) * seen) / (k + 3), least))

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


def variance_of_sum(samples: Sequence[Floats]) -> tuple[Any, Any]:
    """The variance of a sum of independent means, with Welch's degrees of freedom.

    Each sample has shape (n,), or (n, n_systems): then both are arrays, shape (n_systems,).
    """
    parts = [(values.var(axis=0, ddof=1) / len(values), len(values) - 1) for values in samples]
    total = sum(variance for variance, _ in parts)
    spent = sum(variance**2 / df for variance, df in parts)
    return total, np.where(
        spent > 0, total**2 / np.where(spent > 0, spent, 1), min(n for _, n in parts)
    )
