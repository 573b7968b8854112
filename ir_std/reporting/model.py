"""Hold results: raw and standardized scores by collection, run, topic and measure.

Tables, plots, sentences and pages show :class:`Results`, and compute no scores themselves.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from math import isnan, nan
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from ir_measures.measures.base import MeanAgg

from ir_std._arrays import Axes, DataFrame, Floats
from ir_std.analysis.means import NO_ESTIMATE, Estimate, combine_errors, mean_of_estimates
from ir_std.analysis.paired import Procedure
from ir_std.errors import UsageError, look_up, pluralize
from ir_std.evaluation.evaluation import ByMeasure, ByRun, Evaluation, Message, message_texts
from ir_std.evaluation.factor_messages import factors_used
from ir_std.evaluation.plans import scores_per_set_topic
from ir_std.factors.match import Match
from ir_std.measures import Measure, Standardized, named_measure, sign_of
from ir_std.reporting.evaluated_collection import EvaluatedCollection

if TYPE_CHECKING:
    from ir_std.evaluation.placement import Placement, Placer
    from ir_std.evaluation.uncertainty import SystemsCovariance
    from ir_std.reporting.difference import Difference
    from ir_std.reporting.links import CollectionLinks, Overlaps
    from ir_std.reporting.run_ranks import RunRank
    from ir_std.reporting.tables import Table
else:
    # Methods import these names only if needed, which saves a quarter of the start-up time.
    # The assignment lets typing.get_type_hints work without these imports.
    Placement = Placer = SystemsCovariance = Any
    Difference = CollectionLinks = Overlaps = RunRank = Table = Any

MIN_SUMMARIZED = 3
"""Smallest number of collections for which means and differences are summarized."""
RunOn = str | tuple[str, str]
"""A run, or a run and its collection."""


@dataclass(frozen=True, eq=False, repr=False)
class Results:
    """Scores of runs on one or several collections, with their means, ranks and tests.

    Most attributes need a single collection; to choose one of several, use :meth:`on`.  A run has
    the same name on all collections.  In a mapping by run and measure, you can also look up a
    measure by its name.

    Attributes
    ----------
    collections : mapping of str to EvaluatedCollection
        Collections by name.
    evaluations : mapping of str to mapping of str to Evaluation
        Evaluations by collection and run.
    baseline : str or None
        Run that the others are tested against.
    procedure : Procedure
        Test, correction and equivalence bound, as in :func:`ir_std.evaluate`.
    links : mapping of Measure to CollectionLinks
        Links of the measures whose scores are on one scale; see :func:`ir_std.compare`.

    Examples
    --------
    >>> results = ir_std.evaluate("bm25.run", "qrels.txt", "AP")
    >>> results
    <Results of 1 run on 50 topics of trec8-adhoc: AP, sAP>
    >>> round(results.means["bm25"]["sAP"], 4)
    0.765
    >>> print(results.placements["bm25"]["sAP"])
    sAP 0.7650: would have been 7th of 130
    >>> print(results.ranks["bm25"]["sAP"])
    1 (1 to 1)
    >>> results.report("report.html")
    """

    collections: Mapping[str, EvaluatedCollection]
    evaluations: Mapping[str, Mapping[str, Evaluation]]
    baseline: str | None = None
    procedure: Procedure = field(default_factory=Procedure)
    links: Mapping[Measure, CollectionLinks] = field(default_factory=dict)

    # Coordinates

    @cached_property
    def runs(self) -> tuple[str, ...]:
        """Names of the runs."""
        return tuple(dict.fromkeys(chain.from_iterable(self.evaluations.values())))

    @cached_property
    def measures(self) -> tuple[Measure, ...]:
        """Each raw measure, followed by the standardized versions that any collection has."""
        asked = dict.fromkeys(m for each in self.collections.values() for m in each.measures)
        if len(self.collections) == 1:
            return tuple(asked)
        base = {m: m.base if isinstance(m, Standardized) else m for m in asked}
        raw = list(dict.fromkeys(base.values()))
        return tuple(sorted(asked, key=lambda m: (raw.index(base[m]), m != base[m])))

    @property
    def topics(self) -> tuple[str, ...]:
        """Topics of the collection, in the qrels' order."""
        return self.collection.topics

    @property
    def match(self) -> Match | None:
        """Factor set of the collection, and how well the set matches the qrels."""
        return self.collection.match

    @property
    def collection(self) -> EvaluatedCollection:
        """The only collection of these results; raises a UsageError if there are several."""
        first, *more = self.collections.values()
        if more:
            raise UsageError(
                f"these are results of {len(self.collections)} collections "
                f"({', '.join(self.collections)}); choose one, such as .on({first.name!r})"
            )
        return first

    def on(self, collection: str) -> Results:
        """Select the results on one collection, on the scale of its own factors.

        Raises
        ------
        UsageError
            If there is no such collection.
        """
        return look_up(collection, self._each, "collection")

    @cached_property
    def _each(self) -> dict[str, Results]:
        if len(self.collections) == 1:
            return dict.fromkeys(self.collections, self)
        return {
            name: replace(
                self,
                collections={name: collection},
                evaluations={name: self.evaluations[name]},
                baseline=self.baseline if self.baseline in self.evaluations[name] else None,
                links={},
            )
            for name, collection in self.collections.items()
        }

    # Messages

    @property
    def notes(self) -> tuple[str, ...]:
        """Facts about the results, such as measures without factors."""
        texts = message_texts(self._messages, False)
        if len(self.collections) > 1:
            from ir_std.reporting.sentences import overlap_notes

            texts += tuple(overlap_notes(self.overlaps))
        return tuple(dict.fromkeys(texts))

    @property
    def warnings(self) -> tuple[str, ...]:
        """Problems that make scores misleading until the user acts."""
        texts = message_texts(self._messages, True)
        if self.links:
            from ir_std.reporting.sentences import link_warnings

            texts += tuple(link_warnings(self))
        return tuple(dict.fromkeys(texts))

    @property
    def _messages(self) -> Iterator[Message]:
        for name, collection in self.collections.items():
            yield from collection.evaluator.messages
            yield from chain.from_iterable(e.messages for e in self.evaluations[name].values())

    @cached_property
    def overlaps(self) -> Overlaps:
        """Topics and documents that collections share."""
        from ir_std.reporting.links import find_overlaps

        each = self.collections
        return find_overlaps(
            {name: c.evaluator.qrels for name, c in each.items()},
            {name: c.factors for name, c in each.items() if c.factors},
        )

    # Scores

    @cached_property
    def values(self) -> Mapping[str, ByMeasure[Floats]]:
        """Scores by run and measure, shape (n_topics,); NaN for missing scores.

        The raw scores of each standardized measure are included, even if :attr:`measures` does not
        have the raw measure.
        """
        return ByRun({run: ByMeasure(each.values) for run, each in evaluations_of(self).items()})

    @cached_property
    def means(self) -> Mapping[str, ByMeasure[float]]:
        """Means by run and measure; standardized means are over the topics with factors."""
        return ByRun({run: ByMeasure(each.means) for run, each in evaluations_of(self).items()})

    def estimate(self, run: str, measure: Measure | str, collection: str | None = None) -> Estimate:
        """Estimate a mean, with the error over topics and the error over reference systems.

        ``str()`` of an estimate is, for example, ``0.693 ±0.063 (topics) ±0.032 (systems)``.

        Parameters
        ----------
        run : str
        measure : Measure or str
        collection : str, optional
            Collection of the mean.  By default, the mean is over the collections that all runs
            have, with equal weights.  This mean is NaN if there are fewer than three such
            collections, or if collections share topics.
        """
        measure = named_measure(measure, self.measures)
        if collection is None and len(self.collections) > 1:
            return self._mean_over_collections(run, measure)
        collection = collection or self.collection.name
        if run not in self.evaluations[collection]:
            return NO_ESTIMATE
        if measure in self.links:
            values = topic_scores(self, run, measure, collection)
            return Estimate.of(values, *self._linked_error(run, measure, [collection]))
        return self.on(collection)._mean(run, measure)

    def _mean(self, run: str, measure: Measure) -> Estimate:
        if measure not in self._covariances:
            return NO_ESTIMATE
        covariance, weights = over_systems(self, measure, {run: 1.0})
        estimate = covariance.estimate(self.values[run][measure], weights)
        if isinstance(measure.aggregator(), MeanAgg):
            return estimate._replace(mean=self.means[run][measure])
        return Estimate(self.means[run][measure], estimate.n, nan, nan)  # The measure is a sum.

    def _mean_over_collections(self, run: str, measure: Measure) -> Estimate:
        from ir_std.evaluation.uncertainty import joint_errors

        own = [name for name in self.collections if run in self.evaluations[name]]
        names = shared_collections(self, run, measure)
        if len(names) < MIN_SUMMARIZED or self.overlaps.shared(own):
            return NO_ESTIMATE
        estimates = [self.estimate(run, measure, name) for name in names]
        if measure in self.links:
            error, df = self._linked_error(run, measure, names)
            return mean_of_estimates(estimates)._replace(systems_error=error, systems_df=df)
        varying = [over_systems(self.on(name), measure, {run: 1.0}) for name in names]
        return mean_of_estimates(estimates, joint_errors(varying))

    def _linked_error(
        self, run: str, measure: Measure, collections: Sequence[str]
    ) -> tuple[float, float]:
        """Compute a linked mean's error from links and systems, and the error's df."""
        links = self.links[measure]
        z = {name: deviations(self.on(name), run, measure) for name in collections}
        covariance, weights = over_systems(
            self.on(links.reference), measure, links.weights_on_reference(run, z)
        )
        of_reference = covariance.estimate([0.0], weights)
        parts = [links.error_of_mean(z), (of_reference.systems_error, of_reference.systems_df)]
        return combine_errors(parts, 1)

    @cached_property
    def _covariances(self) -> ByMeasure[SystemsCovariance]:
        """Covariances of the runs' means over the reference systems; see `over_systems`."""
        from ir_std.evaluation.uncertainty import no_covariance, systems_covariance

        of_raw = no_covariance(len(self.runs))
        covariances = ByMeasure(dict.fromkeys(self.measures, of_raw))
        for measure, plan in self.collection.plans.items():
            raw = [
                scores_per_set_topic(plan.topics, self.values[run][plan.raw]) for run in self.runs
            ]
            covariances[measure] = systems_covariance(plan, np.stack(raw, axis=1))
        return covariances

    # Differences

    @cached_property
    def differences(self) -> Mapping[str, ByMeasure[Difference]]:
        """Differences of the other runs from the baseline, by run and measure.

        The mapping is empty without a baseline.  Each measure's p-values are adjusted for the
        number of runs.
        """
        if self.baseline is None:
            return _NoBaseline()
        from ir_std.reporting.difference import differences_on

        measures, name = self.collection.topic_measures, self.collection.name
        found = {measure: differences_on(self, name, measure) for measure in measures}
        others = [run for run in self.runs if run != self.baseline]
        return ByRun({run: ByMeasure({m: found[m][run] for m in found}) for run in others})

    def difference(self, a: RunOn, b: RunOn, measure: Measure | str) -> Difference:
        """Compare two runs on one collection, or on two collections that share a scale.

        Parameters
        ----------
        a, b : str or (str, str)
            A run, or a run and its collection.  Two collections must be linked, or have the same
            topics under different judgments.
        measure : Measure or str

        Raises
        ------
        UsageError
            If means on the two collections are not comparable.
        """
        from ir_std.reporting.difference import compare_judgments, compare_linked, compare_runs

        measure = named_measure(measure, self.measures)
        (run, where), (other, second) = self._at(a), self._at(b)
        if where == second:
            return compare_runs(self, [run], other, measure, where)[run]
        if self.overlaps.is_relabelled(where, second):
            return compare_judgments(self, (run, where), (other, second), measure)
        if measure not in self.links:
            raise UsageError(
                f"{measure} has different scales on {where} and {second}; link the collections "
                "(anchors= of compare)"
            )
        return compare_linked(self, (run, where), (other, second), measure)

    def _at(self, given: RunOn) -> tuple[str, str]:
        run, where = (given, self.collection.name) if isinstance(given, str) else given
        self.on(where).values[run]  # This raises a UsageError if there is no such run.
        return run, where

    # Ranks

    @cached_property
    def ranks(self) -> Mapping[str, ByMeasure[RunRank]]:
        """Ranks of the runs by their means, with intervals, by run and measure.

        ``str()`` of a rank is, for example, ``2 (1 to 8)``.
        """
        found = {measure: rank_by(self, measure) for measure in self.measures}
        return ByRun({run: ByMeasure({m: found[m][run] for m in found}) for run in self.runs})

    @cached_property
    def placements(self) -> Mapping[str, ByMeasure[Placement]]:
        """Rank of each run among the reference systems; empty without factors."""
        if benchmark := self.collection.benchmark:
            placed = {
                run: [benchmark.place(run, m, means[m]) for m in self.measures]
                for run, means in self.means.items()
            }
        elif placer := placer_of(self):
            placed = {run: placer.place_values(values) for run, values in self.values.items()}
        else:
            return {}
        return ByRun({run: ByMeasure({p.measure: p for p in of}) for run, of in placed.items()})

    # Views

    def table(
        self,
        places: int = 4,
        *,
        sort: Measure | str | None = None,
        by_topic: bool = False,
        means: bool = True,
        place: bool = False,
    ) -> Table:
        """Return the means as a table.

        The table has the methods ``text()``, ``markdown()``, ``latex()``, ``csv()`` and ``html()``.
        For one collection, the table has a row for each run.  For several collections, the table
        has a row for each run and collection.  With a baseline, the table of several collections
        shows the differences from the baseline.

        Parameters
        ----------
        places : int
            Number of decimals; -1 for all.
        sort : Measure or str, optional
            Measure by whose mean runs are sorted.  The table then also has the runs' ranks and the
            intervals of ranks (one collection only).
        by_topic, means : bool
            ``by_topic`` adds a row per topic, and ``means`` adds the means (one collection only).
        place : bool
            True to add the rank among the reference systems (one collection only).

        Raises
        ------
        UsageError
            If `sort` is not one of the measures.
        """
        from ir_std.reporting import result_tables

        if len(self.collections) == 1:
            return result_tables.runs_table(
                self, places, sort=sort, by_topic=by_topic, means=means, place=place
            )
        if self.baseline is None:
            return result_tables.means_table(self, places)
        return result_tables.differences_table(self, places)

    def to_dataframe(
        self, *, wide: bool = False, means: bool = False, library: str | None = None
    ) -> DataFrame:
        """Convert the scores to a DataFrame.

        Parameters
        ----------
        wide : bool
            If True, each measure has a column.  Otherwise, each row has one score, in the columns
            measure, base (the raw measure), scheme (``raw``, ``N``, ...) and value.
        means : bool
            If True, return means over topics; otherwise, scores by topic and a column query_id.
        library : {'pandas', 'polars'}, optional
            Library of the DataFrame.  By default, pandas if it is installed, and otherwise polars.

        Raises
        ------
        MissingLibraryError
            If the library is not installed.
        """
        from ir_std.reporting.result_tables import data_frame

        return data_frame(self, wide, means, library)

    def report(
        self,
        file: str | os.PathLike[str] | IO[Any],
        title: str | None = None,
        *,
        force: bool = False,
        queries: Any = None,
    ) -> None:
        """Write one HTML page; see :func:`ir_std.report.write_report`."""
        from ir_std.reporting.html.report import write_report

        write_report(self, file, title, force=force, queries=queries)

    def plot(self, measure: Measure | str | None = None, ax: Axes | None = None) -> Axes:
        """Draw all runs among the reference systems; see :func:`ir_std.plots.ranking`.

        Parameters
        ----------
        measure : Measure or str, optional
            Measure to plot.  By default, the first standardized measure, or else the first measure.
        ax : matplotlib.axes.Axes, optional
            Axes to draw on.  By default, the axes of a new figure.
        """
        from ir_std.reporting.plots import ranking

        return ranking(self, measure or next(iter(self.collection.plans), self.measures[0]), ax)

    def __str__(self) -> str:
        return self.table().text()

    def _repr_html_(self) -> str:
        from ir_std.reporting.tables import html_with_texts

        used = (
            factors_used(match, each.evaluator.plans)
            for each in self.collections.values()
            for match in each.evaluator.matches
        )
        texts = dict.fromkeys([*used, *self.notes, *self.warnings])
        return html_with_texts(self.table(), texts)

    def __repr__(self) -> str:
        n_topics = sum(len(each.topics) for each in self.collections.values())
        topics = pluralize(n_topics, unit_of(self))
        return (
            f"<Results of {pluralize(len(self.runs), 'run')} on {topics} of "
            f"{', '.join(self.collections)}: {', '.join(map(str, self.measures))}>"
        )


class _NoBaseline(dict[str, ByMeasure[Difference]]):
    """Empty mapping for results without a baseline; every look-up raises an error."""

    def __missing__(self, run: str) -> ByMeasure[Difference]:
        raise UsageError(
            f"there is no baseline to test {run} against; pass the name of a run to evaluate "
            "(baseline=)"
        )


def rank_by(results: Results, measure: Measure) -> dict[str, RunRank]:
    """Rank the runs of one collection by a measure, with the intervals of their ranks."""
    from ir_std.reporting.run_ranks import rank_runs

    tested = results.collection.tested_measure(measure)
    means = {run: of_run[measure] for run, of_run in results.means.items()}
    scores = {run: of_run[tested] for run, of_run in results.values.items()}
    return rank_runs(means, scores, sign_of(measure))


def shared_collections(results: Results, run: str, measure: Measure) -> list[str]:
    """Find the collections that all runs have, and on which this run has a mean."""
    return [
        name
        for name, scored in results.evaluations.items()
        if len(scored) == len(results.runs)
        and not isnan(results.on(name).means[run].get(measure, nan))
    ]


def topic_scores(results: Results, run: str, measure: Measure, collection: str) -> Floats:
    """Return scores by topic, on the linked scale if the measure is linked.

    The scores are NaN if the measure has no values on the collection's topics.
    """
    on = results.on(collection)
    if measure in results.links:
        return results.links[measure].scores(collection, deviations(on, run, measure))
    is_known = measure in on.collection.topic_measures
    return on.values[run][measure] if is_known else np.full(len(on.topics), nan)


def over_systems(
    results: Results, measure: Measure, weights: Mapping[str, float]
) -> tuple[SystemsCovariance, list[float]]:
    """Return how the runs' means vary with the reference systems, and the weight of each mean.

    The results are for one collection.  Runs that are not in ``weights`` have the weight 0.
    """
    return results._covariances[measure], [weights.get(run, 0.0) for run in results.runs]


def deviations(results: Results, run: str, measure: Measure | str) -> Floats:
    """Compute how many standard deviations a run is above the reference systems' mean.

    The result has one z-score per topic, which is NaN on topics without factors.
    """
    plan = results.collection.plans[measure]
    raw = scores_per_set_topic(plan.topics, results.values[run][plan.raw])
    return plan.factors.standardize(plan.name, plan.topics, raw, "z")


def unit_of(results: Results) -> str:
    """Return the word for a topic: ``dataset`` if all collections consist of datasets."""
    units = {each.unit for each in results.collections.values()}
    return units.pop() if len(units) == 1 else "topic"


def evaluations_of(results: Results) -> Mapping[str, Evaluation]:
    """Return the evaluations on the only collection; raise UsageError if there are several."""
    return results.evaluations[results.collection.name]


def placer_of(results: Results) -> Placer | None:
    """Create the :class:`Placer` for the only collection; return None without factors."""
    from ir_std.evaluation.placement import Placer

    collection = results.collection
    # Without standardized scores, there are no plans, but the matched set can place raw scores.
    return Placer(collection.evaluator) if collection.plans or collection.factors else None


def place_topics(results: Results) -> Mapping[str, ByMeasure[dict[str, Placement]]]:
    """Rank each run among the reference systems on each topic, if the systems' scores are known."""
    placer = placer_of(results)
    if placer is None:
        return {}
    return ByRun(
        {run: ByMeasure(placer.place_topics(values)) for run, values in results.values.items()}
    )
