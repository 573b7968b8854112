"""Make the record of one collection, which the page's script reads.

The record has the same fields as the classes ``Collection`` and ``Measure`` in
``templates/collection.js``; a test compares the fields.
"""

import json
import zlib
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import replace
from html import unescape
from math import isnan
from typing import Any, TypedDict

import numpy as np

from ir_std._arrays import EXACT, Floats
from ir_std.evaluation.plans import Plan
from ir_std.factors.estimates import round_to_resolution
from ir_std.measures import Measure, sign_of
from ir_std.reporting.difference import limits_of
from ir_std.reporting.html import standing
from ir_std.reporting.html.words import say
from ir_std.reporting.model import Results, evaluations_of
from ir_std.reporting.plots import axis_ticks

UNIT = 10_000
"""Whole number that stands for a score of 1; the page holds topic scores as whole numbers."""

Numbers = list[float | None]
Matrix = list[list[int | None]]


class RunLists(TypedDict):
    """Lists with one value per run, in the collection's order of runs."""

    means: Numbers  # mean raw scores
    scores: Numbers  # mean scores that the pictures show
    low: Numbers  # lower ends of the 95% intervals of scores
    high: Numbers  # upper ends of these intervals
    rank: list[int | None]  # rank among the runs
    couldBeFirst: list[bool]  # true if the run is in the 95% confidence set for the best
    best: list[int | None]  # best rank in 95% intervals that hold for all runs at once
    worst: list[int | None]  # worst rank in these intervals
    place: list[int | None]  # place among the reference systems
    placeOf: list[int | None]  # number of places, counting the run itself
    among: list[bool]  # true if the run is one of the reference systems
    placeBest: list[int | None]  # place that the better end of the interval would take
    placeWorst: list[int | None]  # place that the worse end would take
    difference: Numbers  # difference from the rival
    p: Numbers  # p-value of that difference, after correction
    detectable: Numbers  # the smallest difference that the test finds four times in five
    verdict: list[int]  # 1 if clearly better than the rival, -1 if clearly worse, else 0


class MeasureRecord(RunLists):
    """One measure; matrices have a row per run and a column per topic."""

    name: str  # name in the menu of measures
    raw: str  # name of the raw measure
    scored: str  # name of the scores that the pictures show, on axes and in texts
    standardized: bool  # true if the pictures' scores are standardized
    sign: int  # -1 if lower is better, else 1
    headline: str  # HTML; all sentences except warnings are HTML
    deck: str
    warnings: list[str]
    trust: list[str]
    placeHeading: str
    topicsHeading: str
    ticks: list[float]  # ticks of the axis of scores, including the ends of the axis
    average: float | None  # the score of an average system
    limits: list[float] | None  # lowest and highest possible score
    systems: list[list[Any]]  # the reference systems, best first: name, mean score, mean raw score
    byTopic: Matrix  # raw scores of runs and of named systems, in ten-thousandths
    scoresByTopic: Matrix | None  # standardized scores; None for raw scores, or if only means exist
    places: Matrix | None  # places of the runs on each topic
    systemsOn: list[int | None] | None  # number of reference systems on each topic
    systemsByTopic: Numbers | None  # mean raw score of the reference systems on each topic


class CollectionRecord(TypedDict):
    """One collection."""

    name: str
    unit: str  # the word for a topic: topic, or dataset
    systemsWord: str  # the word for reference systems: systems, or models
    runsWord: str  # the word for runs: runs, or models
    runs: list[str]
    systems: list[str]  # named reference systems that are not among the runs
    topics: list[str]
    queries: list[str | None]  # query texts of the topics; empty if no texts were given
    subject: int  # the run that the page is about
    rival: int | None  # the run that the subject is compared with
    baseline: bool  # true if there is a baseline
    broken: list[int]  # runs that look broken
    measures: list[MeasureRecord]
    rankings: dict[str, Any]


def packed(value: object) -> str:
    """Pack data for the script as deflated JSON in base64."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return b64encode(zlib.compress(text.encode(errors="backslashreplace"), 9)).decode()


def collection_record(
    results: Results, name: str, subject: str, queries: Mapping[str, str]
) -> CollectionRecord:
    """Collect all data of one collection that the page shows."""
    views = standing.views_of(results)
    facts = standing.RunStanding(results, views[0], subject)
    runs, rival = list(results.runs), facts.rival
    two = [run for run in (subject, rival) if run]
    cutoffs = dict.fromkeys(replace(facts, view=view).cutoff for view in views)
    judged = {run: standing.shares_judged(results, run, cutoffs) for run in two}
    systems = standing.named_systems(results)
    lacking = [run for run in two if standing.has_only_scores(results, run)] if rival else []
    return {
        "name": name,
        "unit": results.collection.unit,
        "systemsWord": f"{facts.system_word}s",
        "runsWord": f"{facts.run_word}s",
        "runs": runs,
        "systems": list(systems),
        "topics": list(results.topics),
        "queries": [queries.get(t) for t in results.topics] if queries else [],
        "subject": runs.index(subject),
        "rival": None if rival is None else runs.index(rival),
        "baseline": results.baseline is not None,
        "broken": [i for i, one in enumerate(evaluations_of(results).values()) if one.is_broken],
        "measures": [
            _measure(standing.RunStanding(results, view, subject, judged), systems)
            for view in views
        ],
        "rankings": {"why": unescape(say("rankings_needed", lacking))}
        if lacking
        else standing.rankings_of(results, facts),
    }


def _measure(facts: standing.RunStanding, systems: Mapping[str, str]) -> MeasureRecord:
    results, view, plan = facts.results, facts.view, facts.plan
    raw = np.array([_by_topic(results, run, view.raw) for run in results.runs])
    of_systems = standing.systems_by_topic(results, plan, systems)
    is_by_topic = view.is_standardized and view.scored in results.collection.topic_measures
    peers = results.collection.peers(view.raw)
    limits = limits_of(view.scored)
    by_run = [_run(facts, run) for run in results.runs]
    lists: Any = {field: [one[field] for one in by_run] for field in by_run[0]}
    columns: RunLists = lists
    return {
        "name": view.name,
        "raw": str(view.raw),
        "scored": view.scored_name,
        "standardized": view.is_standardized,
        "sign": int(sign_of(view.scored)),
        "headline": say("headline", facts),
        "deck": say("deck", facts),
        "warnings": standing.warnings_of(facts),
        "trust": [say(part, facts) for part in ("holds", "matched", "judged")],
        "placeHeading": say("place_heading", facts),
        "topicsHeading": say("topics_heading", facts),
        "ticks": axis_ticks(results, view.scored),
        "average": view.average,
        "limits": limits and list(limits),
        **columns,
        "systems": _systems(facts),
        "byTopic": _matrix(raw if of_systems is None else np.vstack([raw, of_systems])),
        "scoresByTopic": _scores_by_topic(facts, of_systems) if is_by_topic else None,
        "places": _places(plan, raw) if plan and is_by_topic else None,
        "systemsOn": _matrix(standing.n_systems(plan)[None], 1)[0]
        if plan and is_by_topic
        else None,
        "systemsByTopic": None if peers is None else [_number(mean) for mean in peers.mean],
    }


def _run(facts: standing.RunStanding, run: str) -> dict[str, float | None]:
    """Return one run's value for each field of :class:`RunLists`."""
    (low, high), rank, placed = facts.intervals[run], facts.ranks[run], facts.placement(run)
    best, worst = facts.places(run) or (None, None)
    tested = facts.difference(run)
    return {
        "means": _number(facts.mean(run)),
        "scores": _number(facts.score(run)),
        "low": _number(low),
        "high": _number(high),
        "rank": rank.rank,
        "couldBeFirst": bool(rank.rank and rank.could_be_first),
        "best": rank.best if rank.rank else None,
        "worst": rank.worst if rank.rank else None,
        "place": placed.n_better + 1 if placed else None,
        "placeOf": placed.n_ranked if placed else None,
        "among": bool(placed and placed.is_own_system),
        "placeBest": best,
        "placeWorst": worst,
        "difference": _number(tested.mean) if tested else None,
        "p": _number(tested.p_adjusted) if tested else None,
        "detectable": _number(tested.detectable) if tested else None,
        "verdict": facts.verdict(run),
    }


def _by_topic(results: Results, run: str, measure: Measure) -> Floats:
    known = results.values[run].get(measure)
    return np.full(len(results.topics), np.nan) if known is None else known


def _scores_by_topic(facts: standing.RunStanding, of_systems: Floats | None) -> Matrix:
    rows = [facts.results.values[run][facts.view.scored] for run in facts.results.runs]
    if facts.plan is not None and of_systems is not None:
        rows += [facts.plan.apply(scores) for scores in of_systems]
    return _matrix(np.array(rows))


def _systems(facts: standing.RunStanding) -> list[list[Any]]:
    """List the name, mean score and mean raw score of each reference system, best first."""
    of_raw = replace(facts, view=standing.View(facts.view.raw, facts.view.raw))
    raw = dict(of_raw.systems())
    return [
        [name, _number(score), _number(raw.get(name, np.nan) if name else np.nan)]
        for name, score in facts.systems()
    ]


def _places(plan: Plan, raw: Floats) -> Matrix | None:
    """Return the place of each run among the reference systems on each topic."""
    if plan.name not in plan.factors.scores:
        return None
    sign = plan.factors.sign(plan.name)
    compared = sign * round_to_resolution(plan.factors, plan.name, raw) + EXACT
    places = np.full(raw.shape, np.nan)
    for topic in np.flatnonzero(plan.rows >= 0):
        scores = plan.factors.scores[plan.name][plan.rows[topic]]
        scores = np.sort(sign * scores[~np.isnan(scores)])
        if len(scores):
            better = len(scores) - np.searchsorted(scores, compared[:, topic], side="right")
            places[:, topic] = 1 + better
    return _matrix(places, 1)


def _matrix(values: Floats, unit: int = UNIT) -> Matrix:
    """Multiply by `unit` and round to whole numbers; None for NaN."""
    whole = np.rint(values * unit)
    return [[None if v != v else int(v) for v in row] for row in whole.tolist()]


def _number(value: float) -> float | None:
    """Round to nine digits, enough to print four decimals; None for NaN."""
    return None if isnan(value) else float(f"{value:.9g}")
