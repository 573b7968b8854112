"""One record for the difference of two means: its size, its test, and what the test can find."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import inf, isnan, nan, sqrt

import numpy as np
import numpy.typing as npt
from ir_measures.measures import Measure

from ir_std._arrays import Floats
from ir_std.analysis.effects import paired_effect
from ir_std.analysis.estimate import Estimate
from ir_std.analysis.paired import (
    ALPHA,
    detectable_difference,
    equivalence_test,
    get_correction,
    get_test,
)
from ir_std.errors import UsageError


@dataclass(frozen=True)
class Procedure:
    """How runs are tested against a baseline, for each measure and collection separately.

    Attributes
    ----------
    test, correction : str
        Name of the test, and of the correction for the number of runs.
    equivalent : float or None
        Bound below which a difference does not matter.

    Raises
    ------
    UsageError
        If there is no such test or correction, or the bound is not above 0.
    """

    test: str = "t"
    correction: str = "holm"
    equivalent: float | None = None

    def __post_init__(self) -> None:
        get_test(self.test), get_correction(self.correction)
        if self.equivalent is not None and not 0 < self.equivalent < inf:
            raise UsageError(
                f"the bound of equivalence is {self.equivalent}; expected a number above 0 "
                "(--equivalent, equivalent=)"
            )

    def level(self, p_adjusted: Iterable[float]) -> float:
        """Return the level that was not reached by the runs that do not differ significantly.

        Holm's method tests them at :data:`ALPHA` divided by their number.
        """
        known = [p for p in p_adjusted if not isnan(p)]
        n_open = sum(p >= ALPHA for p in known)
        return ALPHA / max(1, {"holm": n_open, "bonferroni": len(known)}.get(self.correction, 1))

    def equivalence(self, differences: Sequence[Floats]) -> list[float]:
        """Test whether differences are below the bound: p-values, corrected for their number."""
        if self.equivalent is None:
            return [nan] * len(differences)
        p = [float(equivalence_test(d[~np.isnan(d)], self.equivalent)) for d in differences]
        return [float(each) for each in get_correction(self.correction)[0](p)]


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
    level : float
        Level of the test, if it found no difference; 0.05 divided by the correction.
    equivalence_p : float
        P-value of two one-sided tests, adjusted: if small, the difference is below the bound of
        equivalence.  NaN without a bound.
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
    level: float = ALPHA
    equivalence_p: float = nan
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
        """Test differences by topic with Student's t-test; NaN is no difference."""
        d = np.asarray(by_topic, float)
        p = paired_effect(d).p
        estimate = Estimate.of(d, systems_error, systems_df)
        return cls(a, b, where, measure, p, p, d, _estimate=lambda: estimate)

    @cached_property
    def estimate(self) -> Estimate:
        """Mean difference with its errors, over topics and over reference systems."""
        return Estimate.of(self.by_topic) if self._estimate is None else self._estimate()

    @cached_property
    def mean(self) -> float:
        """Mean difference; NaN if no topic has scores of both."""
        if not len(self.by_topic):
            return self.estimate.mean
        known = self.by_topic[~np.isnan(self.by_topic)]
        return float(known.mean()) if len(known) else nan

    @property
    def n(self) -> int:
        """Number of topics."""
        return self.estimate.n

    @property
    def interval(self) -> tuple[float, float]:
        """95% interval, over topics and over reference systems."""
        return self.estimate.interval

    @property
    def significant(self) -> bool:
        """True if the adjusted p-value is below 0.05."""
        return self.p_adjusted < ALPHA

    @property
    def equivalent(self) -> bool:
        """True if the difference is significantly below the bound of equivalence."""
        return self.equivalence_p < ALPHA

    @cached_property
    def detectable(self) -> float:
        """Smallest difference that the test would have found in four of five experiments.

        NaN if the difference is significant, or there are too few topics.  By the power of the
        t-test, also where a randomization test was made.
        """
        if self.significant or isnan(self.p):
            return nan
        over_topics = Estimate.of(self.by_topic) if len(self.by_topic) else self.estimate
        return detectable_difference(over_topics.topics_error, over_topics.topics_df, self.level)

    @cached_property
    def size(self) -> tuple[float, float]:
        """Hedges' g, the difference in standard deviations over topics, and its standard error."""
        effect = paired_effect(self.by_topic)
        return effect.size, sqrt(effect.size_variance)
