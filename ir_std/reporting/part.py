"""The parts of a comparison: one system on one collection."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import hypot, nan

import numpy as np
from ir_measures.measures import Measure

from ir_std._arrays import Floats
from ir_std.analysis.estimate import Estimate
from ir_std.analysis.paired import Paired, paired_tests
from ir_std.evaluation.factor_messages import factors_used
from ir_std.evaluation.plans import match_factors
from ir_std.evaluation.uncertainty import SystemsCovariance
from ir_std.reporting.evaluated_runs import EvaluatedRuns
from ir_std.reporting.links import CollectionLinks
from ir_std.reporting.system_effects import Effect
from ir_std.scores.run_scores import CountedTopics
from ir_std.trec.qrels import Qrels

NO_ESTIMATE = Estimate(nan, 0, nan, nan)
"""The mean of a measure without scores."""


@dataclass(frozen=True)
class Part:
    """One system on one collection.

    Attributes
    ----------
    system, collection : str
    results : EvaluatedRuns
        Of all systems on this collection.
    links : mapping of Measure to CollectionLinks
        Of the measures whose scores are on the scale of a reference collection.
    """

    system: str
    collection: str
    results: EvaluatedRuns
    links: Mapping[Measure, CollectionLinks] = field(default_factory=dict)

    def values(self, measure: Measure) -> Floats:
        """Scores by topic, linked if they are; NaN where the collection has no such score."""
        return self._values_of(self.system, measure)

    def _values_of(self, system: str, measure: Measure) -> Floats:
        if measure in self.links:
            z = self.results.deviations(system, str(measure))
            return self.links[measure].scores(self.collection, z)
        by_measure = self.results.values[system]
        return by_measure.get(measure, np.full(len(self.results.topics), np.nan))

    def z(self, measure: Measure) -> Floats:
        """The z-scores behind a standardized measure, by topic."""
        return self.results.deviations(self.system, str(measure))

    @property
    def factors_used(self) -> tuple[str, ...]:
        """Which factors were used, and what is known against them; empty for none."""
        evaluator = self.results.evaluator
        return tuple(factors_used(match, evaluator.plans) for match in evaluator.matches)

    @property
    def of_dataset(self) -> bool:
        """Whether the factors are of a whole data set."""
        fit = self.results.match and self.results.match.fit
        return bool(fit and fit.factors.of_datasets)

    @property
    def doc_id_pattern(self) -> str | None:
        """What the documents' ids look like in the factor set; None without one."""
        factors = self.results.match and self.results.match.factors
        return factors.info.get("doc_id_pattern") if factors else None

    @property
    def origin(self) -> tuple[str, str] | None:
        """The factor set, and the one whose topics it has under people's labels; None without."""
        factors = self.results.match and self.results.match.factors
        if not factors:
            return None
        return factors.id, factors.info.get("same_topics_as", factors.id)

    def estimate(self, measure: Measure) -> Estimate:
        """The mean with its standard errors; of a linked one over topics, and of the link."""
        if measure in self.links:
            error = self.links[measure].error(self.collection, self.z(measure))
            values = self.values(measure)
            return Estimate.of(values, error, int((~np.isnan(values)).sum()) - 1)
        return self.results.uncertainty[self.system].get(measure, NO_ESTIMATE)

    def variation(self, measure: Measure) -> tuple[SystemsCovariance, list[float]]:
        """How the collection's means vary with its systems, and which of them is this system's."""
        own = [float(run == self.system) for run in self.results.runs]
        return self.results.systems_covariances[measure], own

    def against(self, baseline: str, measure: Measure) -> Effect:
        """The difference from the system that the results of the collection are tested against."""
        if measure not in self.results.measures:
            return Effect(self.collection, NO_ESTIMATE, nan, nan, nan, nan)
        difference = self.results.difference(self.system, baseline, measure)
        error = difference.systems_error
        if measure in self.links:
            error = hypot(
                error,
                self.links[measure].error_between(
                    self.collection,
                    self.z(measure),
                    self.results.deviations(baseline, str(measure)),
                ),
            )
        effect = Effect.of(
            self.collection,
            self.values(measure) - self._values_of(baseline, measure),
            error,
            difference.systems_df,
        )
        tested = self._tests(baseline, measure).get(self.system)
        return replace(effect, p=tested.p, p_adjusted=tested.p_adjusted) if tested else effect

    def _tests(self, baseline: str, measure: Measure) -> Mapping[str, Paired]:
        """The tests of all other systems on this collection against the baseline."""
        if measure not in self.links:
            tests = self.results.tests
            return {run: tests[run][measure] for run in tests if measure in tests[run]}
        values = {run: self._values_of(run, measure) for run in self.results.runs}
        return paired_tests(
            values.pop(baseline),
            values,
            self.results.topics,
            self.results.test,
            self.results.correction,
        )


def _file_or_topics(qrels: Qrels) -> str:
    """What tells a collection from others of its set: its file, or of scores its topics."""
    if not isinstance(qrels, CountedTopics):
        return os.path.basename(qrels.name)
    topics = qrels.topics
    if all(topic.isdecimal() for topic in topics):
        topics = tuple(sorted(topics, key=int))
    return f"topics {topics[0]} to {topics[-1]}" if len(topics) > 1 else f"topic {topics[0]}"


def collection_names(collections: Mapping[object, Qrels]) -> dict[object, str]:
    """The name of each collection: its factor set's or data set's, else its file's or its topics.

    Where several have the same set these are added; equal names are numbered.
    """
    fits = {key: match_factors(qrels).fit for key, qrels in collections.items()}
    known = {key: (fit.dataset or fit.factors.id) if fit else None for key, fit in fits.items()}
    count = Counter(known.values())
    names: dict[object, str] = {}
    for key, qrels in collections.items():
        name, file = known[key], _file_or_topics(qrels)
        if name is None:
            name = file
        elif count[name] > 1:
            name = f"{name} ({file})"
        taken = sum(other.startswith(name) for other in names.values())
        names[key] = f"{name} {taken + 1}" if name in names.values() else name
    return names
