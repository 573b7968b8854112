"""The model under all views: runs evaluated on the topics of one collection.

Tables, pictures, pages and comparisons take an :class:`EvaluatedRuns` and import nothing above it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from math import nan
from typing import Any

import numpy as np
from ir_measures.measures import Measure
from ir_measures.measures.base import MeanAgg

from ir_std._arrays import Floats
from ir_std._version import __version__
from ir_std.analysis.estimate import Estimate
from ir_std.analysis.paired import Paired, paired_tests
from ir_std.errors import UsageError
from ir_std.evaluation.evaluation import ByMeasure, ByRun, Evaluation
from ir_std.evaluation.evaluator import StdEvaluator
from ir_std.evaluation.messages import Message, message_texts
from ir_std.evaluation.peers import Peers, peers_of
from ir_std.evaluation.placement import Placement
from ir_std.evaluation.placer import Placer
from ir_std.evaluation.plans import Plan
from ir_std.evaluation.uncertainty import SystemsCovariance, no_covariance, systems_covariance
from ir_std.factors.catalog import data_version
from ir_std.factors.match import Match
from ir_std.factors.quality import meaning
from ir_std.measures import Standardized, parse_measure, sign_of
from ir_std.reporting.run_ranks import RunRank, could_be_first, rank_runs


@dataclass(frozen=True, eq=False)
class EvaluatedRuns:
    """Scores of one or many runs on the topics of one collection, and what follows from them.

    Attributes
    ----------
    evaluator : StdEvaluator
        Of these topics and measures.
    evaluations : dict of str to Evaluation
        By run.
    baseline : str or None
        The run that the others are tested against, by :attr:`test`.
    test : str
    correction : str or None
    simultaneous : bool
        As for :func:`ir_std.evaluate`.
    inputs : mapping of str to run
        What was evaluated, by run, where it can be read again.
    depth : int or None
        So many documents of each topic were evaluated.
    """

    evaluator: StdEvaluator
    evaluations: Mapping[str, Evaluation]
    baseline: str | None = None
    test: str = "t"
    correction: str | None = None
    simultaneous: bool = False
    inputs: Mapping[str, Any] = field(default_factory=dict)
    depth: int | None = None

    @property
    def versions(self) -> dict[str, str]:
        """The versions of the program and of the factor sets that come with it."""
        return {"ir_std": __version__, "factor sets": data_version()}

    @property
    def runs(self) -> tuple[str, ...]:
        """The names of the runs."""
        return tuple(self.evaluations)

    @cached_property
    def values(self) -> dict[str, ByMeasure[Floats]]:
        """Scores by run and measure (or its name), shape (n_topics,); NaN where there is none.

        Besides :attr:`measures` these are the raw scores that standardized ones were made from.
        """
        return ByRun({run: ByMeasure(scored.values) for run, scored in self.evaluations.items()})

    @cached_property
    def broken(self) -> tuple[str, ...]:
        """Runs that look broken or cut short, as a message of each says; they keep their ranks."""
        return tuple(run for run, scored in self.evaluations.items() if scored.is_broken)

    @property
    def topics(self) -> tuple[str, ...]:
        """The topics, in the qrels' order."""
        return self.evaluator.qrels.topics

    @property
    def unit(self) -> str:
        """What scores are by: each data set counts as a topic where only means are known."""
        fit = self.match and self.match.fit
        return fit.factors.unit if fit and fit.dataset is None else "topic"

    @property
    def measures(self) -> tuple[Measure, ...]:
        """Each raw measure, and behind it its standardized companions."""
        return tuple(self.evaluator.measures)

    @property
    def match(self) -> Match | None:
        """The factor set used, and how well it fits."""
        return self.evaluator.match

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know: measures without factors, topics that runs lack."""
        return message_texts(self._messages, False)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was warned of, because it makes scores mislead."""
        return message_texts(self._messages, True)

    @property
    def _messages(self) -> Iterator[Message]:
        return chain(
            self.evaluator.messages, *(scored.messages for scored in self.evaluations.values())
        )

    @cached_property
    def plans(self) -> ByMeasure[Plan]:
        """By standardized measure the factors it was computed with."""
        return ByMeasure({plan.measure: plan for plan in self.evaluator.plans})

    @cached_property
    def means(self) -> dict[str, ByMeasure[float]]:
        """Means over topics by run and measure; of standardized ones over topics with factors."""
        return ByRun({run: ByMeasure(scored.means) for run, scored in self.evaluations.items()})

    @cached_property
    def systems_covariances(self) -> ByMeasure[SystemsCovariance]:
        """By measure how the runs' means vary with the standardizing systems, jointly."""
        of_raw = no_covariance(len(self.runs))
        covariances = ByMeasure(dict.fromkeys(self.measures, of_raw))
        for measure, plan in self.plans.items():
            scores = np.stack([self.values[run][plan.raw] for run in self.runs], axis=1)
            covariances[measure] = systems_covariance(plan, self.topics, scores)
        return covariances

    @cached_property
    def uncertainty(self) -> dict[str, ByMeasure[Estimate]]:
        """Means with their errors, over topics and over standardizing systems, by run and measure.

        ``str()`` of one is ``0.693 ±0.063 (topics) ±0.032 (systems)``.
        """
        return ByRun(
            {
                run: ByMeasure({m: self._estimate(run, m, contrast) for m in self.measures})
                for run, contrast in zip(self.runs, np.eye(len(self.runs)), strict=True)
            }
        )

    def _estimate(self, run: str, measure: Measure, contrast: Floats) -> Estimate:
        estimate = self.systems_covariances[measure].estimate(self.values[run][measure], contrast)
        if isinstance(measure.aggregator(), MeanAgg):
            return replace(estimate, mean=self.means[run][measure])
        return Estimate(self.means[run][measure], estimate.n, nan, nan)  # a sum, such as NumRet

    def difference(self, run: str, baseline: str, measure: Measure | str) -> Estimate:
        """The mean difference of two runs, which share the factors, with its errors."""
        contrast = [float(name == run) - float(name == baseline) for name in self.runs]
        return self.systems_covariances[measure].estimate(
            self.values[run][measure] - self.values[baseline][measure], contrast
        )

    def by_topic(self, run: str, measure: Measure | str) -> dict[str, float]:
        """Scores by topic id; topics without a score are left out."""
        column = self.values[run][measure].tolist()
        return {t: v for t, v in zip(self.topics, column, strict=True) if v == v}

    def deviations(self, run: str, measure: Standardized | str) -> Floats:
        """How many standard deviations the run is above the standardizing systems' mean.

        The z-scores behind the standardized ones, shape (n_topics,); NaN on topics without factors.
        """
        plan = self.plans[measure]
        return plan.factors.standardize(plan.name, self.topics, self.values[run][plan.raw], "z")

    @cached_property
    def placements(self) -> dict[str, ByMeasure[Placement]]:
        """Where each run ranks among the standardizing systems, by run and measure.

        Empty without factors.
        """
        if not self._factors_known:
            return {}
        placer = Placer(self.evaluator)
        return ByRun(
            {
                run: ByMeasure({p.measure: p for p in placer.place_values(values)})
                for run, values in self.values.items()
            }
        )

    @cached_property
    def topic_placements(self) -> dict[str, ByMeasure[tuple[Placement | None, ...]]]:
        """Where each run ranks on each of :attr:`topics`, by run and measure.

        None where nothing is known of single systems; empty without factors.
        """
        if not self._factors_known:
            return {}
        placer = Placer(self.evaluator)
        return ByRun(
            {run: ByMeasure(placer.place_topics(values)) for run, values in self.values.items()}
        )

    @property
    def _factors_known(self) -> bool:
        # Raw scores alone have no plans, and are placed by the set that was matched.
        return bool(self.plans or (self.match and self.match.factors))

    @cached_property
    def tests(self) -> dict[str, ByMeasure[Paired]]:
        """Each other run against the baseline, by run and measure; empty without a baseline.

        P-values are adjusted for the number of runs, for each measure by itself.  Without a
        baseline ``results.tests["bm25"]`` is a UsageError that says so.
        """
        if self.baseline is None:
            return _NoTests()
        others = [run for run in self.runs if run != self.baseline]
        tests: dict[str, ByMeasure[Paired]] = ByRun({run: ByMeasure() for run in others})
        for measure in self.topic_measures:
            by_run = paired_tests(
                self.values[self.baseline][measure],
                {run: self.values[run][measure] for run in others},
                self.topics,
                self.test,
                self.correction,
            )
            for run, test in by_run.items():
                tests[run][measure] = test
        return tests

    @cached_property
    def ranks(self) -> dict[str, ByMeasure[RunRank]]:
        """Each run's rank by its mean, and the interval of this rank, by run and measure.

        ``str()`` of one is ``2 (1 to 8)``.  Runs are compared topic by topic; by a measure that is
        standardized for a whole data set as by the raw one.
        """
        by_topic = self.topic_measures
        found = {
            m: rank_runs(
                {run: self.means[run][m] for run in self.runs},
                {run: self.values[run][m if m in by_topic else m.base] for run in self.runs},
                sign_of(m),
                self.simultaneous,
            )
            for m in self.measures
        }
        return ByRun(
            {run: ByMeasure({m: found[m][run] for m in self.measures}) for run in self.runs}
        )

    def could_be_first(self, measure: Measure | str) -> str:
        """A sentence: ``8 of the 129 runs could be first``, and how that is known."""
        by_run = {run: self.ranks[run][measure] for run in self.runs}
        return could_be_first(by_run, self.simultaneous, len(self.topics), self.unit)

    @property
    def topic_measures(self) -> list[Measure]:
        """The measures that have values by topic: of whole data sets only raw ones."""
        return [
            m for m in self.measures if not (isinstance(m, Standardized) and self.plans[m].of_mean)
        ]

    def peers(self, measure: Measure | str) -> Peers | None:
        """How the standardizing systems did, in the unit of a raw or standardized measure.

        None where no factors are known.
        """
        measure = parse_measure(measure)
        plan = self.plan_behind(measure)
        if plan is None or plan.of_mean:
            return None
        peers = peers_of(plan, self.topics)
        return peers.mapped(plan.apply) if isinstance(measure, Standardized) else peers

    def plan_behind(self, measure: Measure) -> Plan | None:
        """The plan whose factors a raw or standardized measure has; None if there are none.

        A partner (SP for AP) gives the same standardized scores, but not the same raw ones.
        """
        if isinstance(measure, Standardized):
            return self.plans[measure]
        return next(
            (p for p in self.plans.values() if p.measure.base == measure and p.same_raw), None
        )

    @property
    def quality(self) -> str:
        """The quality of the matched set's factors that were used: ``AP: old (systems of ...)``."""
        if self.match is None or self.match.factors is None:
            return ""
        words, factors = self.match.qualities, self.match.factors
        used = dict.fromkeys(p.name for p in self.plans.values() if p.factors is factors)
        by_word: dict[str, list[str]] = {}
        for name in used:
            by_word.setdefault(words[name], []).append(name)
        return "; ".join(
            f"{', '.join(names)}: {word}" + f" ({meaning(word, factors)})" * (word != "good")
            for word, names in by_word.items()
        )


class _NoTests(dict[str, ByMeasure[Paired]]):
    """The tests of results without a baseline: none, and asking for one is an error."""

    def __missing__(self, run: str) -> ByMeasure[Paired]:
        raise UsageError(
            f"{run} is tested against nothing: give baseline= to evaluate, the name "
            "of the run that the others are tested against"
        )


def group_measures(measures: Iterable[Measure]) -> list[list[Measure]]:
    """Each raw measure together with its standardized companions, which stand behind it."""
    groups: list[list[Measure]] = []
    for measure in measures:
        if isinstance(measure, Standardized) and groups:
            groups[-1].append(measure)
        else:
            groups.append([measure])
    return groups
