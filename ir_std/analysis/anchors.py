"""Anchors: the scores of systems that ran on two collections, which :mod:`linking` rests on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np
from scipy.optimize import brentq
from scipy.special import stdtr

from ir_std._arrays import Floats, Mask
from ir_std.errors import UsageError
from ir_std.schemes import clipped_linear, normal_cdf


class Curve:
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
        self, c: float, y_reference: Floats, y_linked: Floats, slope: float
    ) -> tuple[float, float]:
        """The variance of a difference of means that comes from topics, with Welch's df."""
        ratio = slope / float(self.slopes(c).mean())
        return variance_of_sum(
            [
                y - ratio * anchors.mean(axis=1)
                for y, anchors in zip((y_reference, y_linked), self.scores(c), strict=True)
            ]
        )

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


def variance_of_sum(samples: Sequence[Floats]) -> tuple[float, float]:
    """The variance of a sum of independent means, with Welch's degrees of freedom."""
    parts = [(float(values.var(ddof=1)) / len(values), len(values) - 1) for values in samples]
    total = sum(variance for variance, _ in parts)
    spent = sum(variance**2 / df for variance, df in parts)
    return total, total**2 / spent if spent else float(min(df for _, df in parts))
