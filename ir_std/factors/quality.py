"""How good a set's factors are: how many systems, how alike, how well they separate scores.

Nothing here is stored: all of it is computed from the tables, for any set.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ir_std._arrays import Floats, Mask
from ir_std.errors import counted
from ir_std.factors.factor_set import FactorSet
from ir_std.factors.schema import parse_set_measure
from ir_std.factors.system_checks import duplicate_systems, find_low_systems
from ir_std.measures import ExternalMeasure
from ir_std.measures.names import UNBOUNDED
from ir_std.schemes import EXACT

FEW_SYSTEMS = 40
"""With fewer systems a measure is thin: an sd of 40 scores is itself uncertain by 11%
(1 / sqrt(2 (n - 1)) of a normal distribution)."""
FEW_MODELS = 30
"""The same of a whole data set, whose models are not of a few teams."""
COARSE_STEPS = 5
"""A spread of fewer steps than these is as much rounding as difference."""
COARSE_TOPICS = 0.1
"""A measure is coarse if more than this share of its topics spread by no more than that."""
LOW_CEILING = 1.0
CAPPED_TOPICS = 0.5
"""It is coarse, too, if on more than this share of the topics a perfect score is less than
:data:`LOW_CEILING` deviations above the mean: N stays below 0.84 there for every run."""
OLD = 2019
"""Systems of before this year are old: neural rankers came with the Deep Learning track."""
LOW_SYSTEMS = 0.05
"""A measure is low if more than this share of its systems is."""
NEAR_THE_END = 0.01
"""N this close to 0 or 1 says no more than that a run is far from all systems."""
SATURATED = {"N": 0.1, "E": 1 / 3}
"""The share of the topics on which a run is at the end of a scheme when it saturates a set."""
WHOLE_RUNS = ("AP", "SP", "nDCG", "DCG", "Rprec", "Bpref", "Q")
"""Measures that cannot be perfect where more documents are relevant than a run holds."""

WORDS = {
    "thin": f"fewer than {FEW_SYSTEMS} systems",
    "coarse": "hardly tells scores apart",
    "old": f"systems of before {OLD}",
    "low": f"more than {LOW_SYSTEMS:.0%} of the systems far below the others",
    "good": "nothing known against it",
}
"""The words for a measure; where several apply, the first of these."""

BESIDE = WORDS | {"thin": "too few for a sure deviation"}
"""What the words say beside the number of systems."""


class Quality:
    """How good the factors of one measure of a set are; each part is computed when it is used.

    Parameters
    ----------
    factors : FactorSet
    measure : str
    topics : iterable of str, optional
        The topics of the set to look at; all if not given.
    """

    def __init__(
        self, factors: FactorSet, measure: str, topics: Iterable[str] | None = None
    ) -> None:
        self.factors, self.measure = factors, measure
        asked = np.ones(len(factors.topics), bool)
        if topics is not None:
            asked[:] = False
            asked[(rows := factors.rows(topics))[rows >= 0]] = True
        self._sd: Floats = np.where(asked, factors.sd[measure], np.nan)
        self._known: Mask = ~np.isnan(self._sd)

    @property
    def word(self) -> str:
        """One of :data:`WORDS`."""
        if 0 < self.systems < fewest_systems(self.factors) or 2 * len(self.few) > self.n_topics:
            return "thin"
        if (
            len(self.flat) + len(self.coarse) > COARSE_TOPICS * self.n_topics
            or len(self.capped) > CAPPED_TOPICS * self.n_topics
        ):
            return "coarse"
        if (self.factors.info.get("year") or OLD) < OLD:
            return "old"
        return "low" if len(self.low) > LOW_SYSTEMS * self.systems else "good"

    @property
    def n_topics(self) -> int:
        """How many of the topics have factors."""
        return int(self._known.sum())

    @cached_property
    def systems(self) -> int:
        """As many as score on any topic."""
        return typical_systems(self.factors, self.measure)

    @cached_property
    def few(self) -> tuple[str, ...]:
        """Topics with fewer than :data:`FEW_SYSTEMS` systems, where others have more."""
        fewest = fewest_systems(self.factors)
        if self.systems < fewest or self.measure not in self.factors.scores:
            return ()
        numbers = np.isfinite(self.factors.scores[self.measure]).sum(axis=1)
        return self._topics_where(self._known & (numbers < fewest))

    @cached_property
    def low(self) -> tuple[int, ...]:
        """The numbers of the systems that are far below the others: :func:`find_low_systems`."""
        # Models of all sorts are on a data set: many of them are far below the median, and sound.
        if self.factors.of_datasets:
            return ()
        found = find_low_systems(self.factors, self.measure, self._known)
        return found.numbers if found else ()

    @cached_property
    def flat(self) -> tuple[str, ...]:
        """Topics on which all systems scored the same."""
        return self._topics_where(self._sd <= EXACT)

    @cached_property
    def coarse(self) -> tuple[str, ...]:
        """Topics with a deviation below :data:`COARSE_STEPS` steps of the scores' resolution."""
        resolution = self.factors.about(self.measure, "resolution", 0)
        return self._topics_where(has_coarse_deviation(self._sd, self.measure, resolution))

    @cached_property
    def deep(self) -> tuple[str, ...]:
        """Topics with more relevant documents than the systems were evaluated to.

        Only of measures that look at whole runs.
        """
        return self._topics_where(self._known & _beyond_depth(self.factors, self.measure))

    @property
    def ceiling(self) -> float:
        """The median over topics of the best attainable z; NaN without a highest score."""
        return float(np.nanmedian(self._best)) if (~np.isnan(self._best)).any() else np.nan

    @cached_property
    def capped(self) -> tuple[str, ...]:
        """Topics where the best attainable z is below :data:`LOW_CEILING`."""
        return self._topics_where(self._best < LOW_CEILING)

    @cached_property
    def _best(self) -> Floats:
        return np.where(self._known, best_z(self.factors, self.measure), np.nan)

    def _topics_where(self, rows: Mask) -> tuple[str, ...]:
        return tuple(self.factors.topics[i] for i in np.flatnonzero(rows))


def fewest_systems(factors: FactorSet) -> int:
    """With fewer systems than these a measure of the set is thin."""
    return FEW_MODELS if factors.of_datasets else FEW_SYSTEMS


def meaning(word: str, factors: FactorSet) -> str:
    """What a word of :data:`WORDS` says of a measure of the set."""
    return f"fewer than {fewest_systems(factors)} systems" if word == "thin" else WORDS[word]


def typical_systems(factors: FactorSet, measure: str) -> int:
    """How many systems there are; of data sets, which have their own each, the median."""
    if not factors.of_datasets or measure not in factors.scores:
        return factors.n_systems[measure]
    counts = np.count_nonzero(~np.isnan(factors.scores[measure]), axis=1)
    return int(np.median(counts[counts > 0])) if counts.any() else 0


def has_coarse_deviation(sd: Floats, measure: str, resolution: float) -> Mask:
    """Where deviations are above 0 and below :data:`COARSE_STEPS` steps of rounded scores.

    Parameters
    ----------
    sd : ndarray, shape (n_topics,)
    measure : str
    resolution : float
        The step in which the scores were recorded.  That of a precision, as 0.1 of P@10, rounds
        nothing.

    Returns
    -------
    ndarray of bool, shape (n_topics,)
    """
    parsed = parse_set_measure(measure)
    if parsed.__name__ == "P" and resolution:
        steps = 1 / parsed["cutoff"] / resolution
        resolution = 0 if abs(steps - round(steps)) < 1e-6 else resolution
    return np.asarray((sd > EXACT) & (sd < COARSE_STEPS * resolution))


def best_z(factors: FactorSet, measure: str) -> Floats:
    """How many deviations above the mean a score of 1 is.

    Returns
    -------
    ndarray, shape (n_topics,)
        NaN where the deviation is 0 or not known, and for measures that may exceed 1.
    """
    mean, sd = factors.mean[measure], factors.sd[measure]
    parsed = parse_set_measure(measure)
    if parsed.__name__ in UNBOUNDED or isinstance(parsed, ExternalMeasure):
        return np.full(len(sd), np.nan)
    best: Floats = np.divide(1 - mean, sd, out=np.full(len(sd), np.nan), where=sd > EXACT)
    return best


def _beyond_depth(factors: FactorSet, measure: str) -> Mask:
    parsed, depth = parse_set_measure(measure), factors.about(measure, "depth")
    relevant = [
        known.at_least(parsed.params.get("rel", 1)) or 0 for known in factors.judgments.values()
    ]
    if not depth or "cutoff" in parsed.params or parsed.__name__ not in WHOLE_RUNS:
        return np.zeros(len(relevant), bool)
    return np.asarray(np.array(relevant) > depth)


def saturates(values: npt.ArrayLike, scheme: str) -> bool:
    """Whether a run is so far from the systems of a set that its standardized scores say little.

    Parameters
    ----------
    values : array_like, shape (n_topics,)
        Its standardized scores; NaN where there are none.
    scheme : {'N', 'U', 'E', 'z'}

    Returns
    -------
    bool
        True if N is above 0.99 or below 0.01 on a tenth of the topics, or E is 1 on a third.
        z is unbounded, and never saturates.
    """
    scores = np.asarray(values, dtype=float)
    if scheme == "N":
        full, share = (scores > 1 - NEAR_THE_END) | (scores < NEAR_THE_END), SATURATED["N"]
    elif scheme == "E":
        full, share = scores >= 1 - EXACT, SATURATED["E"]
    else:
        return False
    n = int(np.count_nonzero(full))
    return n > 0 and n / int(np.count_nonzero(~np.isnan(scores))) >= share


def set_notes(factors: FactorSet) -> list[str]:
    """The notes that a set carries."""
    stated = factors.info.get("notes", ())
    return [stated] if isinstance(stated, str) else list(stated)


def findings(factors: FactorSet, measures: Iterable[str] | None = None) -> Iterator[str]:
    """What is known against a set, in sentences: its own notes, then what its tables show.

    Parameters
    ----------
    factors : FactorSet
    measures : iterable of str, optional
        The measures to look at, as the set names them; all if not given.
    """
    yield from set_notes(factors)
    groups = duplicate_systems(factors)
    if groups:
        yield (
            f"The same scores in every measure: "
            f"{'; '.join(_system_names(factors, group) for group in groups)}."
        )
    if short := factors.info.get("short_systems"):
        listed = ", ".join(f"{tag} ({n})" for tag, n in short.items())
        yield f"Short runs, with so many documents on the median topic: {listed}."
    measures_of: dict[str, list[str]] = {}
    for measure in factors.measures if measures is None else measures:
        for sentence in _measure_findings(factors, measure):
            measures_of.setdefault(sentence, []).append(measure)
    for sentence, alike in measures_of.items():
        named = ", ".join(alike) if len(alike) < len(factors.measures) else "All measures"
        yield f"{named}: {sentence}."


def _measure_findings(factors: FactorSet, measure: str) -> Iterator[str]:
    quality = Quality(factors, measure)
    total = counted(quality.n_topics, factors.unit)

    def some(topics: tuple[str, ...]) -> str:
        examples = ", ".join(topics[:3]) + ", ..." * (len(topics) > 3)
        return f"{len(topics)} of {total} ({examples})"

    if quality.word == "thin":
        yield f"{counted(quality.systems, 'system')}, too few for a sure deviation"
    if quality.flat:
        yield f"all systems score the same on {some(quality.flat)}"
    if quality.coarse:
        yield (
            f"the deviation is below {COARSE_STEPS} steps of the scores on {some(quality.coarse)}"
        )
    if quality.deep:
        yield (
            f"more documents are relevant than the {factors.about(measure, 'depth')} that were "
            f"looked at on {some(quality.deep)}"
        )
    if len(quality.capped) > CAPPED_TOPICS * quality.n_topics:
        yield (
            f"a perfect score is less than {LOW_CEILING:g} deviation above the mean on "
            f"{len(quality.capped)} of {total} (best attainable z, median: "
            f"{quality.ceiling:.2f})"
        )
    if quality.few:
        yield (
            f"fewer than {fewest_systems(factors)} systems, too few for a sure deviation, on "
            f"{some(quality.few)}"
        )
    low = find_low_systems(factors, measure) if measure in factors.default_measures else None
    if low:
        yield (
            f"{len(low.numbers)} of {quality.systems} systems are low, their means below "
            f"{low.limit:.2f} of the median's ({_system_names(factors, low.numbers)}); without "
            f"them (--without low) the median system would have a mean of "
            f"{low.median_without:.3f} by N instead of {low.median:.3f}, and the deviation would "
            f"be {low.sd:.2f} of what it is (median over topics)"
        )


def _system_names(factors: FactorSet, numbers: tuple[int, ...]) -> str:
    tags = factors.info.get("tags", ())
    return ", ".join(tags[n] if n < len(tags) else f"no. {n}" for n in numbers)


def quality_summary(factors: FactorSet) -> str:
    """The words of a set's measures, with how many each holds for: ``30 good, 10 coarse``."""
    words = [Quality(factors, measure).word for measure in factors.measures]
    return ", ".join(f"{words.count(word)} {word}" for word in reversed(WORDS) if word in words)
