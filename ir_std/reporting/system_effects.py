"""A system against a baseline by one measure: by collection, and a summary over all.

For each collection the mean difference over the topics that both have, raw and standardized, and
the effect size; over the collections a random-effects summary, as in medicine (Soboroff, CIKM
2018; Sertkan, Althammer and Hofstätter, ACL 2023).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import compress
from math import inf, sqrt

import numpy.typing as npt
from ir_measures.measures import Measure

from ir_std.analysis.effects import Summary, paired_effect, random_effects
from ir_std.analysis.estimate import Estimate
from ir_std.reporting.headlines import MIN_SUMMARIZED, is_headline

SUMMARIES = ("pm", "reml")
"""How a summary may estimate the variance between collections, see
:func:`ir_std.analysis.effects.random_effects`; DerSimonian and Laird's always stands beside it."""
NORMAL = 1.959963984540054
"""The normal quantile of 95 percent intervals; effect sizes are normal to the first order."""


@dataclass(frozen=True)
class Effect:
    """How a system differs from the baseline on one collection, by one measure.

    Attributes
    ----------
    collection : str
    difference : Estimate
        The mean, over the topics on which both have a score, of the system's less the baseline's.
    p, p_adjusted : float
        From a two-sided test over topics, Student's paired t-test unless another was asked for; and
        adjusted for the number of systems that were tested on this collection.
    size, size_error : float
        The standardized mean difference, Hedges' g, and its standard error over topics.
    """

    collection: str
    difference: Estimate
    p: float
    p_adjusted: float
    size: float
    size_error: float

    @classmethod
    def of(
        cls,
        collection: str,
        differences: npt.ArrayLike,
        systems_error: float = 0.0,
        systems_df: float = inf,
    ) -> Effect:
        """From differences by topic, NaN where one has no score."""
        effect = paired_effect(differences)
        return cls(
            collection,
            Estimate.of(differences, systems_error, systems_df),
            effect.p,
            effect.p,
            effect.size,
            sqrt(effect.size_variance),
        )


@dataclass(frozen=True)
class SystemEffects:
    """A system against the baseline by one measure, over collections.

    Attributes
    ----------
    system, baseline : str
    measure : Measure
    effects : tuple of Effect
    overlap : str
        Which collections share topics; they would count twice, so there is no summary then.
    random_effects : str
        How summaries estimate the variance between collections: one of :data:`SUMMARIES`.
    label : str
        What the measure is called, of linked scores with the link; its name if not given.
    """

    system: str
    baseline: str
    measure: Measure
    effects: tuple[Effect, ...]
    overlap: str = ""
    random_effects: str = "pm"
    label: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "label", self.label or str(self.measure))

    def points(self, size: bool = False) -> list[tuple[float, float, float]]:
        """For each collection the effect, its standard error, and half of its 95% interval."""
        if size:
            return [(e.size, e.size_error, NORMAL * e.size_error) for e in self.effects]
        return [(e.difference.mean, e.difference.error, e.difference.half) for e in self.effects]

    @property
    def known(self) -> tuple[bool, ...]:
        """For each collection whether there is an effect: it may have no factors."""
        return tuple(e.difference.n > 0 for e in self.effects)

    def summarized(self, size: bool = False) -> tuple[bool, ...]:
        """For each collection whether it is in the summary: not without spread, or of one topic."""
        return tuple(
            known and error > 0
            for known, (_, error, _) in zip(self.known, self.points(size), strict=True)
        )

    def left_out(self) -> tuple[str, ...]:
        """The collections with an effect that are not in the summary."""
        used = self.summarized()
        return tuple(
            e.collection for e, k, u in zip(self.effects, self.known, used, strict=True) if k > u
        )

    def why_not(self, size: bool = False) -> str:
        """Why there is no summary; empty if there is one."""
        if sum(self.known) < 2:
            return "there is one collection only"
        if self.overlap:
            return self.overlap
        used = sum(self.summarized(size))
        if used >= MIN_SUMMARIZED:
            return ""
        if left_out := self.left_out():
            return f"differences have no spread on {', '.join(left_out)}"
        return f"a summary takes {MIN_SUMMARIZED} collections"

    def summary(self, size: bool = False, method: str | None = None) -> Summary | None:
        """The random-effects summary of the differences, or sizes; None if there is none.

        Hartung and Knapp's interval, but not narrower than the normal one.

        Parameters
        ----------
        size : bool
        method : {'pm', 'reml', 'dl'}, optional
            See :func:`ir_std.analysis.effects.random_effects`; :attr:`random_effects` if not given.
        """
        if self.why_not(size):
            return None
        points = list(compress(self.points(size), self.summarized(size)))
        return random_effects(
            [effect for effect, _, _ in points],
            [error**2 for _, error, _ in points],
            method or self.random_effects,
            widen=True,
        )

    def headline(self, size: bool = False) -> Summary | None:
        """The summary if it says enough for sentences and pictures; of few only tables have it."""
        s = self.summary(size)
        interval = (0.0, 0.0) if s is None or size else (s.low, s.high)  # sizes have no limits
        return s if s and is_headline(s.n, self.measure, *interval) else None
