"""Estimate and test differences of two means, and summarize them over collections.

The summary uses a random-effects model, as in medicine (Soboroff, CIKM 2018; Sertkan, Althammer
and Hofstätter, ACL 2023).  Such a model treats the collections as a sample of all collections.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import compress, repeat
from math import hypot, inf, isnan, nan, sqrt

import numpy as np

from ir_std._arrays import ArrayLike, Floats
from ir_std.analysis.effects import Summary, paired_effect, random_effects
from ir_std.analysis.means import NO_ESTIMATE, Estimate
from ir_std.analysis.paired import ALPHA, detectable_difference, paired_tests
from ir_std.errors import UsageError
from ir_std.evaluation.uncertainty import joint_errors
from ir_std.measures import Measure, Standardized, measure_record
from ir_std.reporting.links import Overlaps
from ir_std.reporting.model import MIN_SUMMARIZED, Results, deviations, over_systems, topic_scores


@dataclass(frozen=True, eq=False)
class Difference:
    """Mean of one run minus the mean of another run.

    Attributes
    ----------
    a, b : str
        The two runs.
    where : str
        The collection of `a`.
    measure : Measure
    p, p_adjusted : float
        Two-sided p-value, and the same p-value adjusted for the number of runs that were tested
        together.  Both p-values come from the paired test over topics, or from the interval if the
        two means are over different topics.
    b_where : str
        The collection of `b`, if it differs from the collection of `a`.
    level : float
        Significance level with which :attr:`detectable` is computed: 0.05 divided by the number of
        comparisons that the correction counts.
    equivalence_p : float
        Adjusted p-value of two one-sided tests; NaN without an equivalence bound.  A small p-value
        shows that the difference is smaller than the bound.
    by_topic : ndarray, shape (n_topics,)
        Differences by topic; NaN if a run has no score.  The array is empty if the two means are
        over different topics.
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
    _estimate: Callable[[], Estimate] = field(default=lambda: NO_ESTIMATE, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "b_where", self.b_where or self.where)

    @classmethod
    def of(
        cls,
        a: str,
        b: str,
        where: str,
        measure: Measure,
        by_topic: ArrayLike,
        systems_error: float = 0.0,
        systems_df: float = inf,
        b_where: str = "",
    ) -> Difference:
        """Test the differences on single topics with Student's t-test; NaN is left out."""
        d = np.asarray(by_topic, float)
        p = paired_effect(d).p
        estimate = Estimate.of(d, systems_error, systems_df)
        return cls(a, b, where, measure, p, p, d, b_where, _estimate=lambda: estimate)

    @cached_property
    def estimate(self) -> Estimate:
        """Mean difference, with the error over topics and the error over reference systems."""
        return self._estimate()

    @cached_property
    def _over_topics(self) -> Estimate:
        """Mean difference with the error over topics, which is known without factors."""
        return Estimate.of(self.by_topic) if len(self.by_topic) else self.estimate

    @property
    def mean(self) -> float:
        """Mean difference; NaN if no topic has scores of both runs."""
        return self._over_topics.mean

    @property
    def n(self) -> int:
        """Number of topics."""
        return self._over_topics.n

    @property
    def interval(self) -> tuple[float, float]:
        """95% interval of the difference, over topics and over reference systems."""
        return self.estimate.interval

    @property
    def significant(self) -> bool:
        """True if the adjusted p-value is below 0.05."""
        return self.p_adjusted < ALPHA

    @property
    def equivalent(self) -> bool:
        """True if the difference is significantly smaller than the equivalence bound."""
        return self.equivalence_p < ALPHA

    @cached_property
    def detectable(self) -> float:
        """Smallest difference that the test would have found in four of five experiments.

        NaN if the difference is significant, or there are too few topics.  The smallest difference
        is computed from the power of the t-test, even if the runs are compared by a randomization
        test.
        """
        if self.significant or isnan(self.p):
            return nan
        error, df = self._over_topics.topics_error, self._over_topics.topics_df
        return detectable_difference(error, df, self.level)

    @cached_property
    def size(self) -> tuple[float, float]:
        """Hedges' g, and the error of g.

        Hedges' g expresses the difference in units of the standard deviation over topics.
        """
        effect = paired_effect(self.by_topic)
        return effect.size, sqrt(effect.size_variance)


# Functions that compute differences


def differences_on(results: Results, collection: str, measure: Measure) -> dict[str, Difference]:
    """Test a collection's other runs against the baseline; linked scores are used if known."""
    assert results.baseline is not None
    runs = [run for run in results.evaluations[collection] if run != results.baseline]
    return compare_runs(results, runs, results.baseline, measure, collection)


def compare_runs(
    results: Results, runs: Iterable[str], baseline: str, measure: Measure, where: str
) -> dict[str, Difference]:
    """Test runs against a baseline on a collection; standard errors are computed when needed."""
    how, topics = results.procedure, results.collections[where].topics
    scores = {run: topic_scores(results, run, measure, where) for run in runs}
    base = topic_scores(results, baseline, measure, where)
    tested = paired_tests(base, scores, topics, how.test, how.correction)
    by_topic = {run: scores[run] - base for run in tested}
    level = how.level(one.p_adjusted for one in tested.values())
    equivalence = how.equivalence(list(by_topic.values()))
    return {
        run: Difference(
            run,
            baseline,
            where,
            measure,
            one.p,
            one.p_adjusted,
            by_topic[run],
            level=level,
            equivalence_p=p,
            _estimate=partial(
                _estimate_difference, results, run, baseline, measure, where, by_topic[run]
            ),
        )
        for (run, one), p in zip(tested.items(), equivalence, strict=True)
    }


def _estimate_difference(
    results: Results, a: str, b: str, measure: Measure, where: str, by_topic: Floats
) -> Estimate:
    """Estimate the difference of two runs on a collection, paired by topic."""
    on = results.on(where)
    if measure not in on.measures:
        return NO_ESTIMATE
    weights = {a: 1.0, b: -1.0} if a != b else {}
    covariance, contrast = over_systems(on, measure, weights)
    found = covariance.estimate(by_topic, contrast)
    if measure not in results.links:
        return found
    z = [deviations(on, run, measure) for run in (a, b)]
    of_link = results.links[measure].error_between(where, *z)
    return found._replace(systems_error=hypot(found.systems_error, of_link))


def compare_judgments(
    results: Results, a: tuple[str, str], b: tuple[str, str], measure: Measure
) -> Difference:
    """Compare two means under different judgments of the same topics.

    If the same reference systems standardize both means, these systems count as one sample.
    """
    (run, where), (other, b_where) = a, b
    rows = [results.collections[name].evaluator.qrels.positions for name in (where, b_where)]
    topics = [topic for topic in rows[0] if topic in rows[1]]
    scores, others = (
        topic_scores(results, r, measure, name)[[row[topic] for topic in topics]]
        for (r, name), row in zip((a, b), rows, strict=True)
    )
    d = scores - others
    errors = [(0.0, inf)]
    if not np.isnan(d).all():
        first = over_systems(results.on(where), measure, {run: 1.0})
        second = over_systems(results.on(b_where), measure, {other: -1.0})
        errors = joint_errors([first, second])
    error, df = hypot(*(error for error, _ in errors)), min(df for _, df in errors)
    return Difference.of(run, other, where, measure, d, error, df, b_where)


def compare_linked(
    results: Results, a: tuple[str, str], b: tuple[str, str], measure: Measure
) -> Difference:
    """Compare a mean on one collection with a mean on another, linked collection."""
    (run, where), (other, b_where) = a, b
    z = [(name, deviations(results.on(name), r, measure)) for r, name in (a, b)]
    found = results.links[measure].difference(z[0], z[1])
    n = sum(int((~np.isnan(values)).sum()) for _, values in z)
    estimate = Estimate(found.difference, n, found.error, found.df)
    p = float(found.p)
    return Difference(run, other, where, measure, p, p, b_where=b_where, _estimate=lambda: estimate)


# Differences from a baseline over collections


MIN_COLLECTIONS = 5
"""Smallest number of collections for which sentences and plots show a summary.

If a table has a summary of fewer collections, a note says that these are too few.
"""
SCALE = 1.0
"""Distance from the lowest to the highest score of a bounded measure.  A wider interval is not
informative."""
NORMAL = 1.959963984540054
"""Normal quantile for 95% intervals of effect sizes, which are roughly normal."""


@dataclass(frozen=True, eq=False)
class RunDifferences:
    """A run's differences from the baseline for one measure, over collections.

    Attributes
    ----------
    run, baseline : str
    measure : Measure
    differences : tuple of Difference
        Difference on each collection.
    overlaps : Overlaps
        Collections that share topics; differences on such collections are not summarized.
    origin : str
        Description of the link (:attr:`CollectionLinks.origin`); empty if scores are not linked.
    """

    run: str
    baseline: str
    measure: Measure
    differences: tuple[Difference, ...]
    overlaps: Overlaps = field(default_factory=lambda: Overlaps({}))
    origin: str = ""

    def points(self, size: bool = False) -> list[tuple[float, float, float]]:
        """Return each collection's difference, standard error and 95% half-width."""
        if size:
            return [(g, error, NORMAL * error) for g, error in (d.size for d in self.differences)]
        return [(d.mean, d.estimate.error, d.estimate.half) for d in self.differences]

    @property
    def is_known(self) -> tuple[bool, ...]:
        """For each collection, True if the difference is known.

        Without factors, a standardized difference is unknown.
        """
        return tuple(d.n > 0 for d in self.differences)

    def summarized(self, size: bool = False) -> tuple[bool, ...]:
        """Return, for each collection, whether the summary includes the collection.

        The summary includes collections on which the differences vary over topics.
        """
        each = zip(self.is_known, self.points(size), strict=True)
        return tuple(is_known and error > 0 for is_known, (_, error, _) in each)

    def excluded_collections(self) -> tuple[str, ...]:
        """Return the collections that have a known difference but are not in the summary."""
        used = self.summarized()
        each = zip(self.differences, used, strict=True)
        return tuple(d.where for d, is_used in each if d.n and not is_used)

    @property
    def shared(self) -> tuple[tuple[str, str], ...]:
        """Pairs of collections with shared topics, which a summary would count twice."""
        return self.overlaps.shared([d.where for d in self.differences])

    def has_summary(self, size: bool = False) -> bool:
        """Check whether enough collections have differences and no two share topics."""
        return not self.shared and sum(self.summarized(size)) >= MIN_SUMMARIZED

    def summary(self, size: bool = False) -> Summary | None:
        """Summarize the differences (or effect sizes) over collections; None if not possible.

        The summary uses Paule and Mandel's variance between collections and Hartung and Knapp's
        interval.  If the normal interval is wider than Hartung and Knapp's, the normal one is used.
        """
        if not self.has_summary(size):
            return None
        points = list(compress(self.points(size), self.summarized(size)))
        return random_effects([mean for mean, _, _ in points], [error**2 for _, error, _ in points])

    def headline(self, size: bool = False) -> Summary | None:
        """Return the summary if it is precise enough for sentences and plots."""
        s = self.summary(size)
        if s is None:
            return None
        low, high = (0.0, 0.0) if size else (s.low, s.high)  # Effect sizes have no limits.
        return s if is_headline(s.n, self.measure, low, high) else None

    def weights(self, size: bool = False) -> list[float]:
        """Return each collection's weight in the summary that sentences and plots show.

        The weight is 0 for collections that are left out.  If sentences and plots show no summary,
        all collections with a known difference have weight 1.
        """
        summary = self.headline(size)
        used = self.summarized(size) if summary else self.is_known
        weights = iter(summary.weights if summary else repeat(1.0))
        return [next(weights) if is_used else 0.0 for is_used in used]


def run_differences(results: Results) -> dict[str, dict[Measure, RunDifferences]]:
    """Compare every other run with the baseline, on all collections that have both runs.

    Raises
    ------
    UsageError
        If no run has a collection in common with the baseline.
    """
    baseline = results.baseline
    assert baseline is not None
    own = [name for name, scored in results.evaluations.items() if baseline in scored]
    compared: dict[str, dict[Measure, RunDifferences]] = {}
    for measure in results.measures:
        origin = results.links[measure].origin if measure in results.links else ""
        found = [differences_on(results, name, measure) for name in own]
        for run in results.runs:
            each = tuple(by_run[run] for by_run in found if run in by_run)
            if each:
                compared.setdefault(run, {})[measure] = RunDifferences(
                    run, baseline, measure, each, results.overlaps, origin
                )
    if not compared:
        raise UsageError(f"no other run shares a collection with the baseline {baseline}")
    return compared


def label_of(results: Results, measure: Measure) -> str:
    """Return the name of a measure in tables; for linked scores, the name includes the link."""
    links = results.links.get(measure)
    return f"{measure} {links.origin}" if links else str(measure)


def is_headline(n_collections: int, measure: Measure, low: float, high: float) -> bool:
    """Check whether a summary is precise enough for headlines and plots."""
    return n_collections >= MIN_COLLECTIONS and not is_wide(measure, low, high)


def is_wide(measure: Measure, low: float, high: float) -> bool:
    """Check whether an interval is wider than the scale."""
    return limits_of(measure) is not None and high - low > SCALE


def limits_of(measure: Measure, *, of_differences: bool = False) -> tuple[float, float] | None:
    """Return the range of possible scores or differences; plots show only this range.

    Return None if scores can be below 0 or above 1.
    """
    if isinstance(measure, Standardized):
        is_bounded = measure["scheme"] != "z"
    else:
        record = measure_record(measure)
        is_bounded = (record.low, record.high) == (0, 1)
    return (-SCALE if of_differences else 0.0, SCALE) if is_bounded else None
