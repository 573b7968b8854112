"""Anchors: the scores of systems that ran on two collections, which :mod:`linking` rests on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any

import numpy as np
from scipy.special import ndtr, stdtr

from ir_std._arrays import Floats, Mask, divide
from ir_std.errors import UsageError
from ir_std.schemes import clipped_linear

USUAL, LEAST = 0.15, 0.05
"""How much single anchors' constants vary beyond what topics explain, as engines suit topics: as a
rule, and at least.  ``scripts/linking_constants.py`` finds 0 to .16 between real sets of topics."""
BY_CONSTANT = 0.10
"""What each unit of the constant adds to that (squared to the square), as one constant does not fit
all systems: by random halves of the topics of Robust 2004, Terabyte and Blog."""
BY_DISTANCE = 0.15
"""The error of a mean by each unit of the constant and of its distance from the anchors' mean: by
the same, with anchors of one level."""
TOLERATED = 0.10
"""How much the constant of an anchor that is tested against the others may vary beyond what topics
explain, in place of what is usual: see "Where the constants come from" in
``docs/evidence/linking.md``."""
FURTHEST, ACCURACY, MOST_STEPS = 64.0, 1e-12, 200
"""Within which constants are sought, to what accuracy, and in how many steps at most."""


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
        return float(self._constants(np.full((1, self.n_anchors), 1 / self.n_anchors))[0])

    def _constants(self, weights: Floats) -> Floats:
        """The constant of each row of the anchors' weights: Newton's method within a bracket."""
        target = weights @ self.curve.score(self.reference).mean(axis=0)
        low, high = np.full((2, len(weights)), [[-FURTHEST], [FURTHEST]])
        c = np.zeros(len(weights))
        for _ in range(MOST_STEPS):
            z = self.linked + c[:, None, None]
            excess = (weights * self.curve.score(z).mean(axis=1)).sum(axis=1) - target
            slope = (weights * self.curve.slope(z).mean(axis=1)).sum(axis=1)
            low, high = np.where(excess < 0, c, low), np.where(excess > 0, c, high)
            step = divide(excess, slope, np.inf)
            inside = (c - step > low) & (c - step < high)
            better = np.where(excess == 0, c, np.where(inside, c - step, (low + high) / 2))
            if np.abs(better - c).max() < ACCURACY:
                break
            c = better
        if np.abs(better).max() > FURTHEST - 1:
            raise UsageError("no constant links the anchors: their scores are all at one end")
        return better

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
        ratio = divide(slope, self.slopes(c).mean(), 0.0)
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

    def p_of_anchors(self) -> Floats:
        """Whether each anchor, linked by the others, differs from itself: two-sided p.

        By ``t = d / sqrt(V + (TOLERATED f)^2 (1 + 1 / (k - 1)))``, where d is the difference of the
        anchor's means, V its variance that comes from topics, and f the slope of the linked mean.
        """
        k = self.n_anchors
        constants = self._constants((1 - np.eye(k)) / (k - 1))
        return np.array([self._p_of_anchor(i, c) for i, c in enumerate(constants.tolist())])

    def _p_of_anchor(self, i: int, c: float) -> float:
        """The p of an anchor that the others link by the constant ``c``."""
        others = self.only([n for n in range(self.n_anchors) if n != i])
        on_reference, linked = (scores[:, i] for scores in self.scores(c))
        slope = self.slopes(c)[i]
        variance, df = others.topic_variance(c, on_reference, linked, slope)
        variance += (TOLERATED * slope) ** 2 * (1 + 1 / others.n_anchors)
        difference = abs(on_reference.mean() - linked.mean())
        return float(2 * stdtr(df, -divide(difference, np.sqrt(variance), 0.0)))


def variance_of_sum(samples: Sequence[Floats]) -> tuple[Any, Any]:
    """The variance of a sum of independent means, with Welch's degrees of freedom.

    Each sample has shape (n,), or (n, n_systems): then both are arrays, shape (n_systems,).
    """
    parts = [(values.var(axis=0, ddof=1) / len(values), len(values) - 1) for values in samples]
    total = sum(variance for variance, _ in parts)
    spent = sum(variance**2 / df for variance, df in parts)
    fewest = min(n for _, n in parts)
    df = np.where(spent > 0, divide(total**2, spent, 1.0), fewest)
    return total, df[()]
