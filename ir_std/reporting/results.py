"""Results that people look at: one or many runs, by topic and in the mean, raw beside standardized.

:func:`evaluate` gives a :class:`Results`, which turns into tables, DataFrames and, with
:mod:`ir_std.reporting.html.report` and :mod:`ir_std.reporting.plots`, into pages and pictures.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from math import nan
from typing import IO, Any

import numpy as np
from ir_measures.measures import Measure
from ir_measures.measures.base import MeanAgg

from ir_std._arrays import Axes, DataFrame, Floats
from ir_std.analysis.estimate import Estimate
from ir_std.analysis.paired import Paired, correction_for, paired_tests
from ir_std.errors import (
    MissingLibraryError,
    UsageError,
    suggestion,
    warn_caller,
)
from ir_std.evaluation.api import evaluator_for
from ir_std.evaluation.by_measure import ByMeasure
from ir_std.evaluation.choice import SystemsSelection, select_factors
from ir_std.evaluation.evaluator import Evaluation, StdEvaluator
from ir_std.evaluation.messages import Message, message_texts
from ir_std.evaluation.parallel import Progress, evaluate_runs
from ir_std.evaluation.placement import Peers, Placement, Placer, peers_of
from ir_std.evaluation.plans import Plan
from ir_std.evaluation.uncertainty import SystemsCovariance, no_covariance, systems_covariance
from ir_std.factors.catalog import Factors
from ir_std.factors.quality import WORDS
from ir_std.factors.recognition import Match
from ir_std.measures import Measures, Standardized, parse_measure
from ir_std.reporting.result_tables import ResultTable
from ir_std.reporting.tables import Table
from ir_std.schemes import scheme_names
from ir_std.scores.inputs import qrels_or_counts, runs_by_name


def evaluate(
    runs: Any,
    qrels: Any = None,
    measures: Measures | None = None,
    schemes: str | Iterable[str] = "N",
    *,
    factors: Factors | None = None,
    systems: SystemsSelection = None,
    without: str | Iterable[str] = (),
    baseline: str | None = None,
    test: str = "t",
    correction: str | None = None,
    jobs: int | None = 1,
    executor: Executor | None = None,
    depth: int | None = None,
    progress: Progress = iter,
) -> Results:
    """Evaluate one or many runs, raw and standardized.

    Parameters
    ----------
    runs
        A run in any form that :func:`ir_std.trec.inputs.as_scored` takes; a list of runs; or a dict
        that names them, ``{"bm25": "bm25.run", "mono": {"401": {"d1": 2.5}}}``.  Instead of runs
        also scores that were computed elsewhere, see :func:`ir_std.read_scores`.
    qrels : optional
        Any form that :func:`ir_std.trec.inputs.as_qrels` takes; not needed for scores.
    measures : Measure, str or iterable of them, optional
        Those of the recognized factor set if not given.
    schemes, factors, systems, without
        As for :func:`ir_std.evaluator`; no scheme for raw scores alone.
    baseline : str, optional
        The name of the run that the others are tested against.
    test : {'t', 'randomization', 'tukey'}
        See :mod:`ir_std.analysis.paired`.
    correction : {'holm', 'bonferroni', 'none'}, optional
        For the number of runs, each measure by itself; Holm's if not given, none for ``tukey``,
        which needs none.  See :func:`ir_std.analysis.paired.paired_tests`.
    jobs : int, optional
        Number of processes; 1 is this one, None as many as pay.
    executor : concurrent.futures.Executor, optional
        Evaluate there instead, a task for each run; such as ``Client.get_executor()`` of Dask.
        Files given by their path must be readable by its workers.
    depth : int, optional
        Evaluate the first so many documents of each topic, in trec_eval's order; its ``-M``.
    progress : callable
        Wraps the iterable of evaluations, as ``tqdm.tqdm`` does.

    Raises
    ------
    InputError
        If a run or the qrels cannot be used, or they have no topic in common.
    UsageError
        If there is no run of the baseline's name, or no such test, correction or scheme.
    NoFactorsError
        If a standardized measure was asked for by name and has no factors.

    Examples
    --------
    >>> results = ir_std.evaluate({"bm25": "bm25.run", "mono": "mono.run"}, "qrels.txt", "AP",
    ...                           baseline="bm25")
    >>> print(results.to_text())
    run       AP      sAP
    ----------------------
    bm25  0.4527*  0.7650*
    mono  0.4376   0.7638
    ...
    """
    named = runs_by_name(runs)
    if baseline is not None and baseline not in named:
        raise UsageError(
            f"no run is called {baseline!r}, the baseline: there are "
            f"{', '.join(named)}{suggestion(baseline, named)}"
        )
    correction_for(test, correction)
    judgments = qrels_or_counts(named.values(), qrels)
    chosen = select_factors(judgments, factors, systems=systems, without=without)
    evaluator = evaluator_for(
        judgments, measures, schemes and scheme_names(schemes), chosen, named.values()
    )
    evaluated = progress(evaluate_runs(evaluator, named, jobs, executor, depth=depth))
    results = Results(
        evaluator, {found.run: found for found in evaluated}, baseline, test, correction
    )
    warn_caller(results.warnings)
    return results


@dataclass(frozen=True, eq=False)
class Results:
    """Scores of one or many runs on the topics of one collection.

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
        As for :func:`evaluate`.

    Examples
    --------
    >>> results = ir_std.evaluate("bm25.run", "qrels.txt", "AP")
    >>> results
    <Results of 1 run on 50 topics with trec8-adhoc: AP, sAP>
    >>> round(results.means["bm25.run"]["sAP"], 4)
    0.765
    >>> print(results.placements["bm25.run"]["sAP"])
    sAP 0.7650: would have been 7th of 130
    >>> results.report("report.html")
    """

    evaluator: StdEvaluator
    evaluations: Mapping[str, Evaluation]
    baseline: str | None = None
    test: str = "t"
    correction: str | None = None

    @property
    def runs(self) -> tuple[str, ...]:
        """The names of the runs."""
        return tuple(self.evaluations)

    @cached_property
    def values(self) -> dict[str, ByMeasure[Floats]]:
        """Scores by run and measure (or its name), shape (n_topics,); NaN where there is none.

        Besides :attr:`measures` these are the raw scores that standardized ones were made from.
        """
        return {run: ByMeasure(found.values) for run, found in self.evaluations.items()}

    @property
    def topics(self) -> tuple[str, ...]:
        """The topics, in the qrels' order."""
        return self.evaluator.qrels.topics

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
        """What was warned of: it misleads who does not know it."""
        return message_texts(self._messages, True)

    @property
    def _messages(self) -> Iterator[Message]:
        return chain(
            self.evaluator.messages, *(found.messages for found in self.evaluations.values())
        )

    @cached_property
    def plans(self) -> ByMeasure[Plan]:
        """By standardized measure the factors it was computed with."""
        return ByMeasure({plan.measure: plan for plan in self.evaluator.plans})

    @cached_property
    def means(self) -> dict[str, ByMeasure[float]]:
        """Means over topics by run and measure; of standardized ones over topics with factors."""
        return {run: ByMeasure(found.means) for run, found in self.evaluations.items()}

    @cached_property
    def systems_covariances(self) -> ByMeasure[SystemsCovariance]:
        """By measure how the runs' means vary with the standardizing systems, jointly."""
        raw = no_covariance(len(self.runs))
        found = ByMeasure(dict.fromkeys(self.measures, raw))
        for measure, plan in self.plans.items():
            scores = np.stack([self.values[run][plan.raw] for run in self.runs], axis=1)
            found[measure] = systems_covariance(plan, self.topics, scores)
        return found

    @cached_property
    def uncertainty(self) -> dict[str, ByMeasure[Estimate]]:
        """Means with their errors, over topics and over standardizing systems, by run and measure.

        ``str()`` of one says it: ``0.693 ±0.063 (topics) ±0.032 (systems)``.
        """
        return {
            run: ByMeasure({m: self._estimate(run, m, own) for m in self.measures})
            for run, own in zip(self.runs, np.eye(len(self.runs)), strict=True)
        }

    def _estimate(self, run: str, measure: Measure, own: Floats) -> Estimate:
        found = self.systems_covariances[measure].estimate(self.values[run][measure], own)
        if isinstance(measure.aggregator(), MeanAgg):
            return replace(found, mean=self.means[run][measure])
        return Estimate(self.means[run][measure], found.n, nan, nan)  # a sum, such as NumRet

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

        The score before its scheme bends it, shape (n_topics,); NaN on topics without factors.
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
        return {
            run: ByMeasure({p.measure: p for p in placer.place_values(values)})
            for run, values in self.values.items()
        }

    @cached_property
    def topic_placements(self) -> dict[str, ByMeasure[tuple[Placement | None, ...]]]:
        """Where each run ranks on each of :attr:`topics`, by run and measure.

        None where nothing is known of single systems; empty without factors.
        """
        if not self._factors_known:
            return {}
        placer = Placer(self.evaluator)
        return {run: ByMeasure(placer.place_topics(values)) for run, values in self.values.items()}

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
            return _Untested()
        others = [run for run in self.runs if run != self.baseline]
        found: dict[str, ByMeasure[Paired]] = {run: ByMeasure() for run in others}
        for measure in self.topic_measures:
            tested = paired_tests(
                self.values[self.baseline][measure],
                {run: self.values[run][measure] for run in others},
                self.topics,
                self.test,
                self.correction,
            )
            for run, result in tested.items():
                found[run][measure] = result
        return found

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
        if isinstance(measure, Standardized):
            plan = self.plans[measure]
            return None if plan.of_mean else peers_of(plan, self.topics).mapped(plan.apply)
        for plan in self.plans.values():
            # A partner (SP for AP) gives the same standardized scores, but not the same raw ones.
            if plan.measure.base == measure and plan.same_raw and not plan.of_mean:
                return peers_of(plan, self.topics)
        return None

    def table(
        self,
        places: int = 4,
        *,
        sort: Measure | str | None = None,
        by_topic: bool = False,
        means: bool = True,
        place: bool = False,
    ) -> Table:
        """A row a run; the best of each measure, and what differs from the baseline, marked.

        Parameters
        ----------
        places : int
            Decimals; -1 for all.
        sort : Measure or str, optional
            Rank the runs by its means, in a column of their own: see
            :func:`ir_std.reporting.result_tables.ranks`.
        by_topic : bool
            A row for each topic, and below these the mean, if ``means``.
        means : bool
        place : bool
            Behind each measure where the run ranks among the standardizing systems.

        Raises
        ------
        UsageError
            If there is no such measure to sort by.
        """
        return ResultTable(self, places, sort, by_topic, means, place).table()

    def to_text(self, places: int = 4) -> str:
        """:meth:`table` as aligned text of at most 100 columns."""
        return self.table(places).text()

    def to_markdown(self, places: int = 4) -> str:
        """:meth:`table` in Markdown."""
        return self.table(places).markdown()

    def to_latex(self, places: int = 4) -> str:
        """:meth:`table` in LaTeX, for ``booktabs`` and, with notes, ``threeparttable``."""
        return self.table(places).latex()

    def to_csv(self) -> str:
        """:meth:`table` as comma-separated values at full precision, with p-values."""
        return self.table().csv()

    def report(
        self,
        file: str | os.PathLike[str] | IO[Any],
        title: str | None = None,
        *,
        force: bool = False,
    ) -> None:
        """Write one HTML page; as :func:`ir_std.report.write_report`, which has the details."""
        from ir_std.reporting.html import write_report

        write_report(self, file, title, force=force)

    def plot(self, measure: Measure | str | None = None, ax: Axes | None = None) -> Axes:
        """Draw all runs among the standardizing systems; as :func:`ir_std.plots.ranking`.

        Parameters
        ----------
        measure : Measure or str, optional
            The first standardized one if not given; the first of all where there is none.
        ax : matplotlib.axes.Axes, optional
            The current axes if not given.
        """
        from ir_std.reporting.plots import ranking

        return ranking(self, measure or next(iter(self.plans), self.measures[0]), ax)

    def to_dataframe(self) -> DataFrame:
        """Tidy scores, a row a score.

        Returns
        -------
        DataFrame
            Columns run, query_id, measure (its name, as ``sAP``), base (the raw measure's
            name), scheme (``raw``, ``N``, ...) and value (NaN where there is none).

        Raises
        ------
        MissingLibraryError
            If pandas is not installed.
        """
        try:
            import pandas as pd
        except ImportError:
            raise MissingLibraryError.of("a DataFrame", "pandas") from None
        n = len(self.topics)
        parts = [
            pd.DataFrame(
                {
                    "run": [run] * n,
                    "query_id": self.topics,
                    "measure": str(m),
                    "base": str(base),
                    "scheme": scheme,
                    "value": self.values[run][m],
                }
            )
            for run in self.runs
            for m in self.measures
            for base, scheme in [_base_of(m)]
        ]
        return pd.concat(parts, ignore_index=True)

    @property
    def quality(self) -> str:
        """What the measures used of the matched set are worth: ``AP: old (systems of ...)``."""
        if self.match is None:
            return ""
        words, factors = self.match.qualities, self.match.factors
        used = dict.fromkeys(p.name for p in self.plans.values() if p.factors is factors)
        by_word: dict[str, list[str]] = {}
        for name in used:
            by_word.setdefault(words[name], []).append(name)
        return "; ".join(
            f"{', '.join(names)}: {word}" + f" ({WORDS[word]})" * (word != "good")
            for word, names in by_word.items()
        )

    def _repr_html_(self) -> str:
        from html import escape

        said = [
            f"<p>{escape(str(text))}</p>\n"
            for text in (
                self.match,
                self.quality and f"Quality of the factors: {self.quality}",
                *self.notes,
                *self.warnings,
            )
            if text
        ]
        return self.table().html() + "".join(said)

    def __repr__(self) -> str:
        used = self.match.factors.id if self.match and self.match.factors else "no factors"
        return (
            f"<Results of {len(self.runs)} run{'s' if len(self.runs) != 1 else ''} on "
            f"{len(self.topics)} topics with {used}: {', '.join(map(str, self.measures))}>"
        )


class _Untested(dict[str, ByMeasure[Paired]]):
    """Tests of results that have no baseline: none, and asking for one says why."""

    def __missing__(self, run: str) -> ByMeasure[Paired]:
        raise UsageError(
            f"{run} is tested against nothing: give baseline= to evaluate, the name "
            "of the run that the others are tested against"
        )


def z_measure(measure: Standardized) -> Standardized:
    """The z-score that a standardized measure bends."""
    kept = {k: v for k, v in measure.params.items() if k not in ("A", "B")}
    return type(measure)(**{**kept, "scheme": "z"})


def _base_of(measure: Measure) -> tuple[Measure, str]:
    if isinstance(measure, Standardized):
        return measure.base, str(measure["scheme"])
    return measure, "raw"
