"""Find facts about a report's subject: its place, its rival, and the difference between both."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import unescape
from math import isnan, nan
from typing import Any

import numpy as np
from ir_measures import Judged

from ir_std._arrays import EXACT, Floats, pick_rows
from ir_std.analysis.ranks import rank_intervals
from ir_std.errors import InputError, abbreviate, join_with_and
from ir_std.evaluation.evaluation import message_texts
from ir_std.evaluation.evaluator import StdEvaluator
from ir_std.evaluation.inputs import systems_of
from ir_std.evaluation.placement import Placement
from ir_std.evaluation.plans import Plan, mean_of_values
from ir_std.evaluation.raw_scores import RankedTopic, rank_topics
from ir_std.factors.estimates import scores_by_system
from ir_std.factors.quality import saturates
from ir_std.measures import Measure, Standardized, sign_of, standardized
from ir_std.reporting.difference import Difference, is_wide
from ir_std.reporting.evaluated_collection import EvaluatedCollection, group_measures
from ir_std.reporting.html.words import say
from ir_std.reporting.model import Results, evaluations_of, rank_by
from ir_std.reporting.plots import systems_means
from ir_std.reporting.run_ranks import RunRank, runs_by_mean
from ir_std.scores.run_scores import RunScores

MOST_SCORES_OF_SYSTEMS = 200_000
"""Largest number of reference systems' topic scores on a page.  If there are more of these scores,
the page has none of them."""
MOST_RUNS = 6
"""Largest number of runs whose documents are on the page.

These are the subject, the rival, and the best other runs.
"""
MOST_TOPICS = 60
"""Largest number of topics whose documents are on the page.

These are the topics on which the first two runs differ most.
"""
RANKS = 10
"""Number of documents of each run that the page shows."""
TOP = 10
"""Depth at which the share of judged documents is counted if the measure has no cutoff."""


@dataclass(frozen=True)
class View:
    """A measure as the page shows it, with raw and, if possible, standardized scores.

    Attributes
    ----------
    raw : Measure
    scored : Measure
        The standardized measure, or ``raw`` if there is none.
    """

    raw: Measure
    scored: Measure

    @property
    def is_standardized(self) -> bool:
        """True if there are standardized scores."""
        return isinstance(self.scored, Standardized)

    @property
    def name(self) -> str:
        """Name of the raw measure; with a scheme other than N, name of the standardized measure."""
        if self.is_standardized and str(self.scored) != str(standardized(self.raw)):
            return str(self.scored)
        return str(self.raw)

    @property
    def scored_name(self) -> str:
        """Name of the scores that pictures show, for axes and texts."""
        return f"standardized {self.raw}" if self.is_standardized else str(self.raw)

    @property
    def average(self) -> float | None:
        """Standardized score of an average system; None for raw scores and scheme E."""
        if not isinstance(self.scored, Standardized):
            return None
        averages = {"N": 0.5, "U": self.scored.scheme_params.get("B", 0.5), "z": 0.0}
        return averages.get(self.scored["scheme"])


def views_of(results: Results) -> list[View]:
    """Pair each raw measure with each of its standardized versions."""
    views = []
    directed = {m: m for of_run in results.values.values() for m in of_run}
    for group in group_measures(results.measures):
        schemes = [m for m in group if isinstance(m, Standardized)]
        views += [View(directed.get(m.base, m.base), m) for m in schemes]
        views += [] if schemes else [View(group[0], group[0])]
    return views


def subject_of(results: Results) -> str:
    """Choose the run that the page is about.

    With a baseline, the page is about the first of the other runs; otherwise, about the best run.
    A user's own runs take precedence over systems of a set.
    """
    runs = [run for run in results.runs if run != results.baseline]
    own = [run for run in runs if not has_only_scores(results, run)] or runs
    if results.baseline is not None:
        return own[0]
    order = runs_by_mean(results, views_of(results)[0].scored)
    return next(run for run in order if run in own)


def has_only_scores(results: Results, run: str) -> bool:
    """Check whether a run has only scores and no documents."""
    return isinstance(results.collection.inputs.get(run), RunScores | None)


@dataclass(frozen=True, eq=False)
class RunStanding:
    """Facts for one measure; unknown facts are None, and unknown numbers are NaN.

    Attributes
    ----------
    results : Results
    view : View
    run : str
        The run that the page is about.
    judged : mapping of str to mapping of int to float
        Share of a run's top documents that are judged, by run and by number of top documents.
    """

    results: Results
    view: View
    run: str
    judged: Mapping[str, Mapping[int, float]] = field(default_factory=dict)

    @property
    def collection(self) -> EvaluatedCollection:
        """The evaluated collection."""
        return self.results.collection

    @property
    def run_word(self) -> str:
        """Word for a run: ``run`` or ``model``."""
        return "model" if self.collection.is_of_datasets else "run"

    @property
    def system_word(self) -> str:
        """Word for a reference system: ``system`` or ``model``."""
        return "model" if self.collection.is_of_datasets else "system"

    @property
    def rival(self) -> str | None:
        """Run to compare the subject with: the baseline, or else the other one of two runs."""
        others = [run for run in self.results.runs if run != self.run]
        return self.results.baseline or (others[0] if len(others) == 1 else None)

    @property
    def main_runs(self) -> list[str]:
        """The subject, and the rival if there is one."""
        return [run for run in (self.run, self.rival) if run]

    def mean(self, run: str) -> float:
        """Return the mean raw score of a run; NaN if the run lacks tasks of a benchmark."""
        if self.collection.benchmark and not self.collection.benchmark.has_all_tasks(run):
            return nan
        value = self.results.means[run].get(self.view.raw)
        if value is None:  # The user did not ask for raw scores.
            value = mean_of_values(self.results.values[run].get(self.view.raw, np.array([nan])))
        return value

    def score(self, run: str) -> float:
        """Return the mean of a run's scores, as the pictures show them."""
        return self.results.means[run][self.view.scored]

    @cached_property
    def intervals(self) -> dict[str, tuple[float, float]]:
        """The 95% intervals of :meth:`score`, by run."""
        runs, scored = self.results.runs, self.view.scored
        return {run: self.results.estimate(run, scored).interval for run in runs}

    @property
    def has_useful_interval(self) -> bool:
        """True if the run's interval is known and narrower than the scale."""
        low, high = self.intervals[self.run]
        return not isnan(low) and not is_wide(self.view.scored, low, high)

    # Among the runs

    @cached_property
    def ranked(self) -> list[str]:
        """The runs, best first."""
        return runs_by_mean(self.results, self.view.scored)

    @cached_property
    def ranks(self) -> dict[str, RunRank]:
        """Each run's rank among the runs."""
        return rank_by(self.results, self.view.scored)

    @cached_property
    def could_be_best(self) -> list[str]:
        """The runs that could be the best, best first."""
        return [
            run for run in self.ranked if self.ranks[run].rank and self.ranks[run].could_be_first
        ]

    @property
    def behind(self) -> list[str]:
        """The runs that are clearly worse than another run, best first."""
        return [run for run in self.ranked if self.ranks[run].rank and self.ranks[run].best > 1]

    # Among the reference systems

    def placement(self, run: str) -> Placement | None:
        """Return a run's place, or None with fewer than two reference systems besides the run."""
        placed = self.results.placements.get(run, {}).get(self.view.scored)
        if not placed or placed.unavailable_reason or placed.n_systems - placed.is_own_system < 2:
            return None
        return placed

    @property
    def are_all_systems(self) -> bool:
        """True if the runs are exactly the reference systems."""
        placed = [self.placement(run) for run in self.results.runs]
        return all(p and p.is_own_system and p.n_systems == len(placed) for p in placed)

    @property
    def is_rival_best(self) -> bool:
        """True if the rival is the best of the reference systems."""
        placed = self.placement(self.rival) if self.rival else None
        return bool(placed and placed.is_own_system and placed.n_better == 0)

    def systems(self) -> tuple[tuple[str, float], ...]:
        """List the reference systems, best first: their names, if known, and mean scores."""
        placed = self.placement(self.run)
        if placed is None or not placed.means:
            return ()
        names = placed.names or ("",) * len(placed.means)
        sign = sign_of(self.view.scored)
        return tuple(sorted(zip(names, placed.means, strict=True), key=lambda s: -sign * s[1]))

    def places(self, run: str) -> tuple[int, int] | None:
        """Return the best and the worst place that a run has within its interval."""
        placed, ends = self.placement(run), self.intervals[run]
        if placed is None or not placed.means or isnan(ends[0]):
            return None
        sign = sign_of(self.view.scored)
        others = sign * np.array(placed.means)
        if placed.is_own_system:
            others = np.delete(others, np.abs(others - sign * placed.value).argmin())
        best, worst = sorted(1 + int((others > sign * end + EXACT).sum()) for end in ends)
        return min(best, placed.n_better + 1), max(worst, placed.n_better + 1)

    @property
    def others_could_be_first(self) -> int | None:
        """Number of other systems that could be first, in addition to the run; None if unknown."""
        scores = systems_by_topic(self.results, self.plan, named_systems(self.results))
        if self.plan is None or scores is None or np.isnan(scores).all():
            return None
        if self.view.is_standardized:
            scores = np.array([self.plan.apply(row) for row in scores])
        columns = np.vstack([self.results.values[self.run][self.view.scored], scores]).T
        return rank_intervals(sign_of(self.view.scored) * columns).n_first - 1

    @property
    def average(self) -> float:
        """The mean raw score of the reference systems; NaN if unknown on some of the topics."""
        peers, own = self.collection.peers(self.view.raw), self.results.values[self.run]
        if peers is None or (np.isnan(peers.mean) & ~np.isnan(own[self.view.raw])).any():
            return nan
        means = systems_means(self.results, self.view.raw)
        return float(np.mean(means)) if means else mean_of_values(peers.mean)

    @property
    def side(self) -> int | None:
        """1 if the run's interval is above the systems' average, -1 if below, else 0.

        None if the interval or the average is unknown.
        """
        average = self.view.average if self.view.is_standardized else self.average
        ends = sign_of(self.view.scored) * np.subtract(
            self.intervals[self.run], nan if average is None else average
        )
        if np.isnan(ends).any():
            return None
        return int((ends > 0).all()) - int((ends < 0).all())

    # Compared with the rival

    @property
    def tested(self) -> Measure:
        """The measure whose topic scores the test compares."""
        return self.collection.tested_measure(self.view.scored)

    @cached_property
    def differences(self) -> Mapping[str, Difference]:
        """The differences from the rival, by run."""
        if self.results.baseline is not None:
            each = self.results.differences
            return {run: each[run][self.tested] for run in each if self.tested in each[run]}
        if self.rival is None:
            return {}
        return {self.run: self.results.difference(self.run, self.rival, self.tested)}

    def verdict(self, run: str) -> int:
        """Return 1 if a run is clearly better than the rival, -1 if clearly worse, else 0."""
        found = self.differences.get(run)
        if found is None or not found.significant:
            return 0
        return int(np.sign(sign_of(self.tested) * found.mean))

    @property
    def other_verdicts(self) -> dict[str, int]:
        """The verdict on each run other than the subject and the rival."""
        return {r: self.verdict(r) for r in self.ranked if r not in (self.run, self.rival)}

    @property
    def wins(self) -> tuple[int, int, int] | None:
        """Numbers of topics that the run wins, of topics that it loses, and of compared topics.

        The run is compared with the rival; without a rival, it is compared with the average system.
        None if neither is known.
        """
        view, values = self.view, self.results.values
        if self.rival is not None:
            d = values[self.run][view.raw] - values[self.rival][view.raw]
        elif view.average is None or view.scored not in self.collection.topic_measures:
            return None
        else:
            d = values[self.run][view.scored] - view.average
        d *= sign_of(view.raw if self.rival else view.scored)
        return int((d > EXACT).sum()), int((d < -EXACT).sum()), int((~np.isnan(d)).sum())

    # The reliability of the findings

    @cached_property
    def warnings(self) -> list[str]:
        """Warnings about the factors, and about the runs that the page names.

        The list begins with the warnings about faults, which are listed for all runs.  Warnings
        that do not concern this measure are left out.
        """
        scored, evaluations, named = self.view.scored, evaluations_of(self.results), self.main_runs
        of_run = {
            run: [m for m in evaluations[run].messages if m.applies_to(scored)]
            for run in self.ranked
        }
        faults = [
            m._replace(is_warning=True) for each in of_run.values() for m in each if m.is_fault
        ]
        others = [m for run in of_run if run in named for m in of_run[run] if not m.is_fault]
        texts = [
            text
            for some in (faults, self.collection.evaluator.messages, others)
            for text in message_texts(some, True)
        ]
        also = [
            run
            for run, each in of_run.items()
            if run not in named
            and any(m.is_warning for m in each)
            and not evaluations[run].is_broken
        ]
        if also:
            texts.append(f"other runs with warnings: {abbreviate(also)}; see All warnings below")
        if saturated := [run for run in named if _is_saturated(self, run)]:
            texts.append(
                f"{join_with_and(saturated)} {'is' if len(saturated) == 1 else 'are'} at an end of "
                "the scale on many topics, where runs look alike; use scheme z, which has no limits"
            )
        return [f"Warning: {text}." for text in texts]

    @property
    def plan(self) -> Plan | None:
        """The factors that standardize the scores."""
        return self.collection.plan_behind(self.view.scored)

    @property
    def n_known_datasets(self) -> int:
        """Number of datasets with scores of reference systems."""
        return int((n_systems(self.plan) > 0).sum()) if self.plan else 0

    @property
    def cutoff(self) -> int:
        """Number of top documents per topic whose judged share is reported."""
        return int(self.view.raw.params.get("cutoff", TOP))

    @property
    def shares_judged(self) -> dict[str, float]:
        """Share of the top documents that are judged, for the run and the rival (if known)."""
        with_shares = [run for run in self.main_runs if self.judged.get(run)]
        return {run: self.judged[run][self.cutoff] for run in with_shares}


def standings_of(results: Results, subject: str) -> list[RunStanding]:
    """Collect the facts for each measure on a page about the run ``subject``."""
    each = [RunStanding(results, view, subject) for view in views_of(results)]
    cutoffs = {facts.cutoff for facts in each}
    judged = {run: shares_judged(results, run, cutoffs) for run in each[0].main_runs}
    return [replace(facts, judged=judged) for facts in each]


def _is_saturated(facts: RunStanding, run: str) -> bool:
    """Check whether a run is at an end of the scale too often to compare its scores."""
    scored = facts.view.scored
    return (
        isinstance(scored, Standardized)
        and scored in facts.collection.topic_measures
        and not evaluations_of(facts.results)[run].is_broken
        and saturates(facts.results.values[run][scored], scored["scheme"])
    )


def n_systems(plan: Plan) -> Floats:
    """Count the reference systems on each of a plan's topics; NaN on topics without factors."""
    scores = plan.factors.scores.get(plan.name)
    if scores is None:
        return np.full(len(plan.rows), float(plan.factors.n_systems[plan.name]))
    return pick_rows((~np.isnan(scores)).sum(axis=1).astype(float), plan.rows)


def shares_judged(results: Results, run: str, depths: Iterable[int]) -> dict[int, float]:
    """Return the share of a run's top documents that are judged, by number of top documents.

    The result is empty if the run has only scores.
    """
    if has_only_scores(results, run):
        return {}
    collection = results.collection
    measures = {depth: Judged @ depth for depth in depths}
    evaluator = StdEvaluator(
        list(measures.values()),
        collection.evaluator.qrels,
        factors=collection.match,
        residual=collection.evaluator.residual,
    )
    means = evaluator.evaluate(collection.inputs[run], run, collection.depth).means
    return {depth: means[measure] for depth, measure in measures.items()}


def named_systems(results: Results) -> dict[str, str]:
    """Map the names of other reference systems on the page to the names in the factor set."""
    factors = results.collection.factors
    if factors is None or results.collection.is_of_datasets:
        return {}
    tags = systems_of(factors)
    n_scores = len(tags) * len(results.topics) * len(results.measures)
    if n_scores > MOST_SCORES_OF_SYSTEMS:
        return {}
    first = views_of(results)[0].scored
    placed = {run: p for run in results.runs if (p := results.placements[run].get(first))}
    shown = {run for run, p in placed.items() if p.is_own_system}
    names = {f"{factors.id}/{t}" if t in results.runs else t: t for t in tags if t not in shown}
    named = (dict(zip(p.names, p.means, strict=True)) for p in placed.values() if p.names)
    means = next(named, {})
    return dict(sorted(names.items(), key=lambda each: -sign_of(first) * means.get(each[1], 0.0)))


def systems_by_topic(
    results: Results, plan: Plan | None, systems: Mapping[str, str]
) -> Floats | None:
    """Return the raw scores of the named systems, (n_systems, n_topics); None if unknown."""
    if not systems or plan is None:
        return None
    if plan.factors is not results.collection.factors or plan.name not in plan.factors.scores:
        return np.full((len(systems), len(results.topics)), np.nan)
    numbers, scores = scores_by_system(plan.factors, plan.name)
    tags = plan.factors.systems
    column = {tags[number]: i for i, number in enumerate(numbers.tolist())}
    raw = pick_rows(scores, plan.rows)
    none = np.full(len(raw), np.nan)
    return np.array([raw[:, column[t]] if t in column else none for t in systems.values()])


# The rankings of runs, topic by topic


def rankings_of(facts: RunStanding) -> dict[str, Any]:
    """Return the top documents of the main runs on each topic, or the reason for having none.

    Returns
    -------
    dict
        ``runs``, ``depth``, the ``highest`` relevance level, and ``topics`` by number.  Each topic
        has ``documents``, their ``levels`` (None if not judged), and their ``ranks`` for each run
        (0 if the run lacks the document).  If documents are not known, the dict has only the key
        ``why``.
    """
    results = facts.results
    lacking = [run for run in facts.main_runs if has_only_scores(results, run)]
    if facts.rival and lacking:
        return {"why": unescape(say("rankings_needed", lacking))}
    first = dict.fromkeys([*facts.main_runs, *facts.ranked])
    runs = [run for run in first if not has_only_scores(results, run)][:MOST_RUNS]
    if len(runs) < 2 or not results.topics:
        return {"why": ""}
    measure = facts.view.raw
    a, b = (results.values[run][measure] for run in runs[:2])
    order = np.argsort(-np.nan_to_num(np.abs(a - b)), kind="stable")
    topics = [results.topics[i] for i in order[:MOST_TOPICS]]
    try:
        ranked = [_read(results, run, topics, measure) for run in runs]
    except InputError as failed:
        return {"why": f"The rankings could not be read again: {failed}"}
    places = results.collection.evaluator.qrels.positions
    return {
        "runs": [results.runs.index(run) for run in runs],
        "depth": RANKS,
        "highest": results.collection.evaluator.qrels.max_level,
        "topics": {places[t]: _topic(results, t, [by[t] for by in ranked]) for t in topics},
    }


def _read(
    results: Results, run: str, topics: list[str], measure: Measure
) -> dict[str, RankedTopic]:
    """Read a run's documents by topic.

    Raises
    ------
    InputError
        If the run's file is missing, or has changed since the evaluation.
    """
    evaluator = results.collection.evaluator
    ranked = rank_topics(
        evaluator, results.collection.inputs[run], run, topics, [measure], results.collection.depth
    )
    for topic, one in ranked.items():
        for adds in one.contributions.values():
            value = results.values[run][measure][evaluator.qrels.positions[topic]]
            if abs(sum(adds.values()) - value) > EXACT:
                raise InputError.at(run, "has changed since the evaluation", "evaluate it again")
    return ranked


def _topic(results: Results, topic: str, ranked: list[RankedTopic]) -> dict[str, Any]:
    documents = list(dict.fromkeys(d for one in ranked for d in one.documents[:RANKS]))
    levels = results.collection.evaluator.qrels.judged[topic]
    return {
        "documents": documents,
        "levels": [levels.get(d) for d in documents],
        "ranks": [[one.ranks.get(d, 0) for d in documents] for one in ranked],
    }
