"""Quality of a set's factors: number of systems, weak systems, and coarse scores.

The quality of a set is not stored in the set.  ir_std computes the quality from the set's tables
when the quality is needed.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import compress
from statistics import median
from typing import NamedTuple

import numpy as np

from ir_std._arrays import EXACT, ArrayLike, Floats, Ints, Mask, divide
from ir_std.errors import abbreviate, join_with_and, pluralize
from ir_std.factors.estimates import scores_by_system
from ir_std.factors.factor_set import FactorSet
from ir_std.factors.schema import parse_set_measure
from ir_std.measures.records import measure_record, survives_rounding
from ir_std.schemes import get_scheme

FEW_SYSTEMS = 40
"""Number of systems below which standard deviations are imprecise.

With 40 normally distributed scores, the relative error of the standard deviation is 11%.
The error is ``1 / sqrt(2 (n - 1))`` for n scores.
"""
FEW_MODELS = 30
"""Number of models below which standard deviations on a whole dataset are imprecise.  This number
is lower than :data:`FEW_SYSTEMS`, because the models of a dataset come from many teams."""
COARSE_STEPS = 5
"""If the standard deviation of scores is less than this number of rounding steps, differences may
be due to rounding."""
COARSE_TOPICS = 0.1
"""A measure is coarse if its scores spread over fewer than :data:`COARSE_STEPS` steps on more than
this share of its topics."""
LOW_CEILING = 1.0
CAPPED_TOPICS = 0.5
"""A measure is also coarse if, on more than this share of the topics, a perfect score is less than
:data:`LOW_CEILING` standard deviations above the mean.  On such a topic, N is below 0.84 for every
run."""
OLD = 2019
"""Systems from before this year predate the neural rankers of the Deep Learning track."""
LOW_SYSTEMS = 0.05
"""A measure gets the label ``weak-systems`` if more than this share of its systems is weak."""
NEAR_THE_END = 0.01
"""If N is closer to 0 or 1 than this number, N only shows that a run is far from all systems."""
SATURATED = {"N": 0.1, "E": 1 / 3}
"""A run saturates a set if at least this share of the run's scores is extreme.  The required
share depends on the scheme."""
QUALITY_LABELS = {
    "few-systems": f"fewer than {FEW_SYSTEMS} systems",
    "coarse": "scores barely separate the systems",
    "pre-2019": f"systems from before {OLD}",
    "weak-systems": f"over {LOW_SYSTEMS:.0%} of the systems are far below the others",
    "ok": "no known issue",
}
"""Quality labels, with their meanings.  If several labels apply to a measure, the measure gets the
first of these labels."""


class Quality:
    """Quality of a set's factors for one measure; each part is computed on first use.

    Parameters
    ----------
    factors : FactorSet
    measure : str
    topics : iterable of str, optional
        Topics of the set to consider; by default all topics.
    """

    def __init__(
        self, factors: FactorSet, measure: str, topics: Iterable[str] | None = None
    ) -> None:
        self.factors, self.measure = factors, measure
        self._parsed = parse_set_measure(measure)
        rows = factors.rows(factors.topics if topics is None else topics)
        self._sd: Floats = np.full(len(factors.topics), np.nan)
        self._sd[rows[rows >= 0]] = factors.sd[measure][rows[rows >= 0]]
        self._known: Mask = ~np.isnan(self._sd)

    @property
    def label(self) -> str:
        """One of :data:`QUALITY_LABELS`."""
        is_small = 0 < self.systems < fewest_systems(self.factors)
        if is_small or 2 * len(self.sparse_topics) > self.n_topics:
            return "few-systems"
        n_coarse = len(self.constant_topics) + len(self.low_resolution_topics)
        if n_coarse > COARSE_TOPICS * self.n_topics or self.is_capped:
            return "coarse"
        if (self.factors.info.get("year") or OLD) < OLD:
            return "pre-2019"
        return "weak-systems" if len(self.weak_systems) > LOW_SYSTEMS * self.systems else "ok"

    @property
    def n_topics(self) -> int:
        """Number of topics that have factors."""
        return int(self._known.sum())

    @cached_property
    def systems(self) -> int:
        """Number of systems; for a set of datasets, the median over the datasets."""
        if not self.factors.of_datasets or self.measure not in self.factors.scores:
            return self.factors.n_systems[self.measure]
        counts = self._n_scores[self._n_scores > 0]
        return int(np.median(counts)) if len(counts) else 0

    @property
    def _n_scores(self) -> Ints:
        has_score = ~np.isnan(self.factors.scores[self.measure])
        return np.asarray(has_score.sum(axis=1))

    @cached_property
    def sparse_topics(self) -> tuple[str, ...]:
        """Topics with too few systems; empty if the set itself has too few systems."""
        fewest = fewest_systems(self.factors)
        if self.systems < fewest or self.measure not in self.factors.scores:
            return ()
        return self._topics_where(self._known & (self._n_scores < fewest))

    @cached_property
    def weak_systems(self) -> tuple[int, ...]:
        """Numbers of the weak systems, see :func:`find_weak_systems`."""
        # The models of a dataset vary so much that many valid models are far below the median.
        if self.factors.of_datasets:
            return ()
        found = find_weak_systems(self.factors, self.measure, self._known)
        return found.numbers if found else ()

    @cached_property
    def constant_topics(self) -> tuple[str, ...]:
        """Topics on which all systems have the same score."""
        return self._topics_where(self._sd <= EXACT)

    @cached_property
    def low_resolution_topics(self) -> tuple[str, ...]:
        """Topics whose standard deviation is below :data:`COARSE_STEPS` rounding steps."""
        resolution = self.factors.about(self.measure, "resolution", 0)
        return self._topics_where(has_coarse_deviation(self._sd, self.measure, resolution))

    @cached_property
    def truncated_topics(self) -> tuple[str, ...]:
        """Topics with more relevant documents than the evaluation depth of the systems.

        The tuple is empty if the measure does not use all documents of a run.
        """
        depth = self.factors.about(self.measure, "depth")
        is_cut = "cutoff" in self._parsed.params or not measure_record(self._parsed).recall
        column = np.searchsorted(self.factors.levels, self._parsed.params.get("rel", 1))
        if is_cut or not depth or column == len(self.factors.levels):
            return ()
        return self._topics_where(self._known & (self.factors.counts[:, column] > depth))

    @property
    def ceiling(self) -> float:
        """Median over topics of the z of a perfect score; NaN if scores have no maximum."""
        values = self._best_z[~np.isnan(self._best_z)]
        return float(np.median(values)) if len(values) else np.nan

    @cached_property
    def capped_topics(self) -> tuple[str, ...]:
        """Topics on which the z of a perfect score is below :data:`LOW_CEILING`."""
        return self._topics_where(self._best_z < LOW_CEILING)

    @property
    def is_capped(self) -> bool:
        """True if the share of capped topics is above :data:`CAPPED_TOPICS`."""
        return len(self.capped_topics) > CAPPED_TOPICS * self.n_topics

    @cached_property
    def _best_z(self) -> Floats:
        """For each topic, the z of a score of 1; NaN if z is undefined or scores can exceed 1."""
        gap = 1 - self.factors.mean[self.measure]
        has_limit = measure_record(self._parsed).high <= 1
        return divide(gap, np.where(self._sd > EXACT, self._sd, 0) * has_limit, np.nan)

    def _topics_where(self, rows: Mask) -> tuple[str, ...]:
        return tuple(compress(self.factors.topics, rows.tolist()))


def fewest_systems(factors: FactorSet) -> int:
    """Return the minimum number of systems for precise standard deviations."""
    return FEW_MODELS if factors.of_datasets else FEW_SYSTEMS


def quality_labels(
    factors: FactorSet, measures: Iterable[str], topics: Iterable[str]
) -> dict[str, str]:
    """Return the quality label of each given measure that is in the set.

    The labels are computed on the given topics.
    """
    names = [measure for measure in measures if measure in factors.measures]
    return {measure: Quality(factors, measure, topics).label for measure in names}


def quality_warnings(factors: FactorSet, labels: Mapping[str, str]) -> Iterator[str]:
    """Yield one clause per quality label, about the label's effect on scores.

    If the measures have different labels, each clause names the measures that have the label.
    """
    clauses = {
        "few-systems": f"with fewer than {fewest_systems(factors)} systems, standard deviations "
        "are imprecise",
        "pre-2019": f"its systems predate {OLD}",
        "weak-systems": f"over {LOW_SYSTEMS:.0%} of the systems score far below the others",
    }
    for label in dict.fromkeys(labels.values()):
        names = [measure for measure, its_label in labels.items() if its_label == label]
        if label == "coarse":
            are = "is" if len(names) == 1 else "are"
            yield f"{join_with_and(names)} {are} too coarse here to separate systems"
        elif label in clauses:
            yield clauses[label] + f" ({', '.join(names)})" * (len(names) < len(labels))


def has_coarse_deviation(sd: Floats, measure: str, resolution: float) -> Mask:
    """Find standard deviations above 0 that are smaller than :data:`COARSE_STEPS` steps.

    Parameters
    ----------
    sd : ndarray, shape (n_topics,)
    measure : str
    resolution : float
        Step to which the scores were rounded.  The step is ignored if rounding to the step changes
        no value.  For example, all values of P@10 are multiples of 0.1, so rounding to steps of 0.1
        changes no value.

    Returns
    -------
    ndarray of bool, shape (n_topics,)
    """
    if survives_rounding(parse_set_measure(measure), resolution):
        resolution = 0
    return np.asarray((sd > EXACT) & (sd < COARSE_STEPS * resolution))


def saturates(values: ArrayLike, scheme: str) -> bool:
    """Check whether a run's standardized scores are too extreme to be informative.

    Parameters
    ----------
    values : array_like, shape (n_topics,)
        Standardized scores of the run; NaN for topics without a score.
    scheme : {'N', 'U', 'E', 'z'}

    Returns
    -------
    bool
        True if N is above 0.99 or below 0.01 on at least a tenth of the topics, or if E is 1 on at
        least a third of the topics.  For U and z, the result is always False.
    """
    scores = np.asarray(values, dtype=float)
    if scheme not in SATURATED:
        return False
    full = scores >= 1 - EXACT
    if scheme == "N":
        full = (scores > 1 - NEAR_THE_END) | (scores < NEAR_THE_END)
    n = int(np.count_nonzero(full))
    return n > 0 and n / int(np.count_nonzero(~np.isnan(scores))) >= SATURATED[scheme]


WEAK_DEVIATIONS = 3.5
"""A system is weak if its mean score is more than this number of robust standard deviations below
the median of all systems' mean scores.  Mean scores are compared by their logarithms.

Iglewicz and Hoaglin, How to detect and handle outliers (1993), use this number for outliers both
above and below the median.
"""
LOWEST_LIMIT, HIGHEST_LIMIT = 1 / 4, 2 / 3
"""Lowest and highest limit below which a system is weak, as shares of the median system's mean.  A
system below the lowest limit is always weak, and a system above the highest limit is never weak."""


class WeakSystems(NamedTuple):
    """Systems far below the others, and the effect of leaving them out.

    Attributes
    ----------
    numbers : tuple of int
        Numbers of the systems in the set.
    limit : float
        Share of the median system's mean below which a system is weak.
    sd : float
        Standard deviation without these systems, divided by the standard deviation with them
        (median over topics).
    median, median_without : float
        Mean N of the median system, with and without these systems.
    """

    numbers: tuple[int, ...]
    limit: float
    sd: float
    median: float
    median_without: float


def find_weak_systems(
    factors: FactorSet, measure: str, topics: Mask | None = None
) -> WeakSystems | None:
    """Find systems whose mean is far below the median, such as broken runs.

    A system whose mean is below a quarter of the median is always weak, and a system whose mean is
    above two thirds of the median is never weak.  Between these limits, a system is weak if its
    mean is more than :data:`WEAK_DEVIATIONS` robust standard deviations below the median.  The
    means are compared by their logarithms.  One robust standard deviation is 1.4826 times the
    median absolute deviation of the logarithms.  Unlike a limit based on quartiles, this rule also
    works if there are many weak systems.

    Parameters
    ----------
    factors : FactorSet
    measure : str
    topics : ndarray of bool, shape (n_topics,), optional
        Mask of the topics to consider; by default all topics.

    Returns
    -------
    WeakSystems or None
        None if no system is weak or the systems' scores are unknown.
    """
    if measure not in factors.scores:
        return None
    numbers, scores = scores_by_system(factors, measure)
    is_complete = ~np.isnan(scores).any(axis=1) & (True if topics is None else topics)
    if not is_complete.any():  # each topic lacks a system, so means cannot be compared
        return None
    scores = scores[is_complete]
    means = scores.mean(axis=0)
    middle = median(means.tolist())
    if middle <= 0:
        return None
    distances = np.abs(np.log(np.maximum(means, np.finfo(float).tiny) / middle))
    limit = np.exp(-WEAK_DEVIATIONS * 1.4826 * median(distances.tolist()))
    limit = float(np.clip(limit, LOWEST_LIMIT, HIGHEST_LIMIT))
    weak = means < limit * middle
    if not weak.any():
        return None
    median_system = scores[:, np.argsort(means, kind="stable")[len(means) // 2]]
    others, spread = scores[:, ~weak], factors.sd[measure][is_complete] > EXACT
    share = np.std(others, axis=1, ddof=1)[spread] / factors.sd[measure][is_complete][spread]
    return WeakSystems(
        tuple(numbers[weak].tolist()),
        limit,
        median(share.tolist()),
        _mean_n(median_system, scores),
        _mean_n(median_system, others),
    )


def _mean_n(values: Floats, scores: Floats) -> float:
    """Compute the mean of N over topics from scores of shape (n_topics, n_systems)."""
    mean, sd = scores.mean(axis=1), scores.std(axis=1, ddof=1)
    sd[np.ptp(scores, axis=1) <= EXACT] = 0
    return float(get_scheme("N").apply(values, mean=mean, sd=sd).mean())


def duplicate_systems(factors: FactorSet) -> list[tuple[int, ...]]:
    """Group systems that have the same scores for every measure on every topic."""
    columns: dict[int, bytes] = {}
    for measure in factors.scores:
        numbers, scores = scores_by_system(factors, measure)
        for number, column in zip(numbers.tolist(), np.round(scores.T, 9), strict=True):
            columns[number] = columns.get(number, b"") + f"{measure}\n".encode() + column.tobytes()
    alike: dict[bytes, list[int]] = {}
    for number in sorted(columns):
        alike.setdefault(columns[number], []).append(number)
    return [tuple(group) for group in alike.values() if len(group) > 1]


def findings(
    factors: FactorSet, measures: Iterable[str] | None = None, *, weak_systems: bool = True
) -> Iterator[str]:
    """Yield sentences about the limits of a set, from its notes and from its tables.

    Parameters
    ----------
    factors : FactorSet
    measures : iterable of str, optional
        Measures to consider, named as in the set; by default all measures.
    weak_systems : bool
        If True, name the weak systems of each default measure.
    """
    yield from factors.info.get("notes", ())
    if groups := duplicate_systems(factors):
        alike = "; ".join(_system_names(factors, group) for group in groups)
        yield f"Systems with the same scores for every measure: {alike}."
    if short := factors.info.get("short_systems"):
        listed = ", ".join(f"{tag} ({n})" for tag, n in short.items())
        yield f"Short runs (median number of documents per topic in parentheses): {listed}."
    measures_of: dict[str, list[str]] = {}
    for measure in factors.measures if measures is None else measures:
        quality = Quality(factors, measure)
        sentences = [*_topic_findings(quality)]
        if weak_systems and measure in factors.default_measures:
            sentences += _weak_findings(quality)
        for sentence in sentences:
            measures_of.setdefault(sentence, []).append(measure)
    for sentence, names in measures_of.items():
        named = ", ".join(names) if len(names) < len(factors.measures) else "All measures"
        yield f"{named}: {sentence}."


def _topic_findings(quality: Quality) -> Iterator[str]:
    factors = quality.factors
    total = pluralize(quality.n_topics, factors.unit)
    if quality.label == "few-systems":
        systems = pluralize(quality.systems, "system")
        yield f"with only {systems}, standard deviations are imprecise"
    depth = factors.about(quality.measure, "depth")
    fewest = fewest_systems(factors)
    for text, topics in {
        "all systems score the same on": quality.constant_topics,
        f"the standard deviation is below {COARSE_STEPS} rounding steps of the scores on": (
            quality.low_resolution_topics
        ),
        f"the number of relevant documents exceeds the depth ({depth}) on": (
            quality.truncated_topics
        ),
        f"with fewer than {fewest} systems, standard deviations are imprecise on": (
            quality.sparse_topics
        ),
    }.items():
        if topics:
            examples = ", ".join(topics[:3]) + ", ..." * (len(topics) > 3)
            yield f"{text} {len(topics)} of {total} ({examples})"
    if quality.is_capped:
        yield (
            f"a perfect score is less than {LOW_CEILING:g} standard deviation above the mean on "
            f"{len(quality.capped_topics)} of {total} (the median of the best "
            f"attainable z is {quality.ceiling:.2f})"
        )


def _weak_findings(quality: Quality) -> Iterator[str]:
    if weak := find_weak_systems(quality.factors, quality.measure):
        have, them = ("has a mean", "it") if len(weak.numbers) == 1 else ("have means", "them")
        yield (
            f"{len(weak.numbers)} of {quality.systems} systems "
            f"({_system_names(quality.factors, weak.numbers)}) {have} below {weak.limit:.2f} times "
            f"the median; without {them} (--without weak), the mean N of the median system would "
            f"be {weak.median_without:.3f} instead of {weak.median:.3f}, and the standard "
            f"deviation would be {weak.sd:.2f} times as large (median over topics)"
        )


def measures_of_weak_systems(factors: FactorSet) -> dict[str, list[str]]:
    """Map each weak system's name to the default measures for which it is weak."""
    found: dict[str, list[str]] = {}
    for measure in factors.default_measures:
        weak = find_weak_systems(factors, measure)
        for number in weak.numbers if weak else ():
            found.setdefault(_system_names(factors, [number]), []).append(measure)
    return dict(sorted(found.items()))


def _system_names(factors: FactorSet, numbers: Iterable[int]) -> str:
    tags = factors.systems
    return ", ".join(tags[n] if n < len(tags) else f"no. {n}" for n in numbers)


def summarize_quality(factors: FactorSet) -> str:
    """Summarize in a phrase what a set can be used for, and its limits."""
    labels = quality_labels(factors, factors.measures, factors.topics)
    usual = [labels[m] for m in factors.default_measures if labels.get(m, "coarse") != "coarse"]
    parts = ["fine for ranking" if factors.scores else "no scores of systems, so ranks are unknown"]
    if "few-systems" in usual:
        parts.append("few systems, so standard deviations are imprecise")
    if (factors.info.get("year") or OLD) < OLD:
        parts.append(f"systems predate {OLD}, so modern runs look excellent")
    if 2 * usual.count("weak-systems") > len(usual):
        parts.append("weak systems raise the scores of all others")
    if coarse := [measure for measure, label in labels.items() if label == "coarse"]:
        parts.append(f"too coarse for {abbreviate(coarse)}")
    return "; ".join(parts)
