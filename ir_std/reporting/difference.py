"""How much higher one mean is than another, and how sure that is: one record for all uses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from math import inf, nan, sqrt

import numpy as np
import numpy.typing as npt
from ir_measures.measures import Measure

from ir_std._arrays import Floats
from ir_std.analysis.effects import paired_effect
from ir_std.analysis.estimate import Estimate
from ir_std.analysis.paired import ALPHA


@dataclass(frozen=True, eq=False)
class Difference:
    """The mean of one run minus the mean of another.

    Attributes
    ----------
    a, b : str
        The two runs.
    where : str
        The collection of `a`.
    measure : Measure
    p, p_adjusted : float
        Two-sided p-value of the paired test over topics, or of the interval where the topics are
        not the same; and adjusted for the number of runs that were tested together.
    b_where : str
        The collection of `b`, if it is another one.
    by_topic : ndarray, shape (n_topics,)
        Differences by topic; NaN where a run has no score.  Empty if the topics are not the same.
    """

    a: str
    b: str
    where: str
    measure: Measure
    p: float
    p_adjusted: float
    by_topic: Floats = field(default_factory=lambda: np.empty(0), repr=False)
    b_where: str = ""
    _estimate: Callable[[], Estimate] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "b_where", self.b_where or self.where)

    @classmethod
    def of(
        cls,
        a: str,
        b: str,
        where: str,
        measure: Measure,
        by_topic: npt.ArrayLike,
        systems_error: float = 0.0,
        systems_df: float = inf,
    ) -> Difference:
        """From differences by topic, NaN where a run has no score; p by Student's t-test."""
        d = np.asarray(by_topic, float)
        p = paired_effect(d).p
        estimate = Estimate.of(d, systems_error, systems_df)
        return cls(a, b, where, measure, p, p, d, _estimate=lambda: estimate)

    @cached_property
    def estimate(self) -> Estimate:
        """The mean difference with its errors, over topics and over reference systems."""
        return Estimate.of(self.by_topic) if self._estimate is None else self._estimate()

    @cached_property
    def mean(self) -> float:
        """The mean difference; NaN if no topic has scores of both."""
        if not len(self.by_topic):
            return self.estimate.mean
        known = self.by_topic[~np.isnan(self.by_topic)]
        return float(known.mean()) if len(known) else nan

    @property
    def n(self) -> int:
        """The number of topics."""
        return self.estimate.n

    @property
    def interval(self) -> tuple[float, float]:
        """The 95% interval, over topics and over reference systems."""
        return self.estimate.interval

    @property
    def significant(self) -> bool:
        """True if the adjusted p-value is below 0.05."""
        return self.p_adjusted < ALPHA

    @cached_property
    def size(self) -> tuple[float, float]:
        """Hedges' g, the difference in standard deviations over topics, and its standard error."""
        effect = paired_effect(self.by_topic)
        return effect.size, sqrt(effect.size_variance)
