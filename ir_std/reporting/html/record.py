"""The record that the page's script reads: a few dozen named numbers and names of one collection.

Its fields are those of the classes ``Collection`` and ``Measure`` of ``templates/collection.js``;
a test compares both sides.
"""

from __future__ import annotations

import json
import zlib
from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

import numpy as np
from ir_measures.measures import Measure

from ir_std._arrays import Floats
from ir_std.evaluation.plans import Plan
from ir_std.factors.estimates import round_to_resolution
from ir_std.measures import Standardized, sign_of
from ir_std.reporting.figure_data import axis_ticks
from ir_std.reporting.html.standing import (
    RunStanding,
    View,
    named_systems,
    rankings_of,
    shares_judged,
    systems_by_topic,
    views_of,
)
from ir_std.reporting.model import Results, evaluations_of
from ir_std.reporting.sentences.page import (
    Words,
    average_of,
    deck,
    headline,
    n_systems,
    place_heading,
    rankings_needed,
    systems_word,
    topics_heading,
    trust,
    warnings,
)
from ir_std.reporting.summaries import limits_of
from ir_std.schemes import EXACT

UNIT = 10_000
"""Scores by topic are whole numbers of ten-thousandths."""

Numbers = list[float | None]
Matrix = list[list[int | None]]


class MeasureRecord(TypedDict):
    """One measure.  Lists are by run, matrices by run and topic, in the collection's orders."""

    name: str  # what it is chosen by
    raw: str  # the raw measure
    scored: str  # what axes call the scores of the pictures
    standardized: bool  # whether these are standardized
    sign: int  # -1 where less is better
    headline: Words
    deck: Words
    warnings: list[str]
    trust: list[str]
    placeHeading: str
    topicsHeading: str
    ticks: list[float]  # on the axis of scores, with its ends
    average: float | None  # the score of an average system
    limits: list[float] | None  # what scores can be
    means: Numbers  # mean raw scores
    scores: Numbers  # mean scores of the pictures
    low: Numbers  # their 95% intervals
    high: Numbers
    rank: list[int | None]  # among the runs
    couldBeFirst: list[bool]  # the 95% confidence set for the best
    best: list[int | None]  # 95% intervals of all ranks at once
    worst: list[int | None]
    place: list[int | None]  # among the reference systems
    placeOf: list[int | None]  # of how many, the run itself among them
    among: list[bool]  # whether the run is one of them
    placeBest: list[int | None]  # the places of the ends of the interval
    placeWorst: list[int | None]
    difference: Numbers  # from the rival
    p: Numbers  # of that difference, after correction
    detectable: Numbers  # the smallest difference that the test finds four times in five
    verdict: list[int]  # 1 if clearly better than the rival, -1 if clearly worse, else 0
    systems: list[list[Any]]  # the reference systems, best first: name, mean score, mean raw score
    byTopic: Matrix  # raw scores of runs and of named systems, in ten-thousandths
    scoresByTopic: Matrix | None  # standardized ones; None where they are raw or only means known
    places: Matrix | None  # places of the runs by topic
    systemsOn: list[int | None] | None  # by topic: the number of reference systems
    systemsByTopic: Numbers | None  # the mean raw score of the reference systems by topic


class CollectionRecord(TypedDict):
    """One collection."""

    name: str
    unit: str  # what scores are by: topic, or dataset
    systemsWord: str  # what reference systems are called
    runsWord: str  # runs, or models
    runs: list[str]
    systems: list[str]  # named reference systems that are none of the runs
    topics: list[str]
    queries: list[str | None]  # empty where texts are unknown
    subject: int  # the run that the page is about
    rival: int | None  # the run that it is set against
    baseline: bool  # whether that is a baseline
    broken: list[int]
    measures: list[MeasureRecord]
    rankings: dict[str, Any]


def packed(value: object) -> str:
    """Pack data for the script: JSON, deflated, in base64."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return b64encode(zlib.compress(text.encode(errors="backslashreplace"), 9)).decode()


def collection_record(
    results: Results, name: str, subject: str, queries: Mapping[str, str]
) -> CollectionRecord:
    """Collect everything that the page shows of one collection."""
    views = views_of(results)
    facts = [RunStanding(results, view, subject) for view in views]
    rival = facts[0].rival
    systems = named_systems(results)
    cutoffs = dict.fromkeys(each.cutoff for each in facts)
    judged = {r: shares_judged(results, r, cutoffs) for r in (subject, rival) if r}
    runs = list(results.runs)
    needed = rankings_needed(results, subject, rival)
    return {
        "name": name,
        "unit": results.collection.unit,
        "systemsWord": systems_word(results),
        "runsWord": "models" if results.collection.is_of_datasets else "runs",
        "runs": runs,
        "systems": list(systems),
        "topics": list(results.topics),
        "queries": [queries.get(t) for t in results.topics] if queries else [],
        "subject": runs.index(subject),
        "rival": None if rival is None else runs.index(rival),
        "baseline": results.baseline is not None,
        "broken": [
            runs.index(run) for run, one in evaluations_of(results).items() if one.is_broken
        ],
        "measures": [_measure(each, systems, judged) for each in facts],
        "rankings": {"why": needed} if needed else rankings_of(results, facts[0]),
    }


def _measure(
    facts: RunStanding, systems: Mapping[str, str], judged: Mapping[str, Mapping[int, float]]
) -> MeasureRecord:
    results, view = facts.results, facts.view
    runs = results.runs
    plan = results.collection.plan_behind(view.scored)
    intervals = [facts.interval(run) for run in runs]
    ranks = [facts.rank(run) for run in runs]
    placed = [facts.placement(run) for run in runs]
    places = [facts.places(run) for run in runs]
    differences = [facts.difference(run) for run in runs]
    raw = np.array([_by_topic(results, run, view.raw) for run in runs])
    of_systems = systems_by_topic(results, plan, systems)
    by_topic = np.vstack([raw, of_systems]) if of_systems is not None else raw
    is_by_topic = view.scored != view.raw and view.scored in results.collection.topic_measures
    peers = results.collection.peers(view.raw)
    return {
        "name": view.name,
        "raw": str(view.raw),
        "scored": view.scored_name,
        "standardized": isinstance(view.scored, Standardized),
        "sign": int(sign_of(view.scored)),
        "headline": headline(facts),
        "deck": deck(facts),
        "warnings": warnings(facts),
        "trust": trust(facts, judged),
        "placeHeading": place_heading(facts),
        "topicsHeading": topics_heading(facts),
        "ticks": axis_ticks(results, view.scored),
        "average": average_of(view.scored) if isinstance(view.scored, Standardized) else None,
        "limits": (limits := limits_of(view.scored)) and list(limits),
        "means": _numbers([facts.mean(run) for run in runs]),
        "scores": _numbers([facts.score(run) for run in runs]),
        "low": _numbers([low for low, _ in intervals]),
        "high": _numbers([high for _, high in intervals]),
        "rank": [r.rank for r in ranks],
        "couldBeFirst": [bool(r.rank and r.could_be_first) for r in ranks],
        "best": [r.best if r.rank else None for r in ranks],
        "worst": [r.worst if r.rank else None for r in ranks],
        "place": [p.n_better + 1 if p else None for p in placed],
        "placeOf": [p.n_ranked if p else None for p in placed],
        "among": [bool(p and p.is_own_system) for p in placed],
        "placeBest": [p[0] if p else None for p in places],
        "placeWorst": [p[1] if p else None for p in places],
        "difference": _numbers([d.mean if d else np.nan for d in differences]),
        "p": _numbers([d.p_adjusted if d else np.nan for d in differences]),
        "detectable": _numbers([d.detectable if d else np.nan for d in differences]),
        "verdict": [facts.verdict(run) for run in runs],
        "systems": _systems(facts),
        "byTopic": _matrix(by_topic),
        "scoresByTopic": _scores_by_topic(facts, plan, of_systems) if is_by_topic else None,
        "places": _places(plan, raw) if plan and is_by_topic else None,
        "systemsOn": _matrix(n_systems(plan)[None], 1)[0] if plan and is_by_topic else None,
        "systemsByTopic": None if peers is None else _numbers(peers.mean),
    }


def _by_topic(results: Results, run: str, measure: Measure) -> Floats:
    known = results.values[run].get(measure)
    return np.full(len(results.topics), np.nan) if known is None else known


def _scores_by_topic(facts: RunStanding, plan: Plan | None, of_systems: Floats | None) -> Matrix:
    results = facts.results
    rows = [results.values[run][facts.view.scored] for run in results.runs]
    if plan is not None and of_systems is not None:
        rows += [plan.apply(scores) for scores in of_systems]
    return _matrix(np.array(rows))


def _systems(facts: RunStanding) -> list[list[Any]]:
    """List the name, mean score and mean raw score of each reference system, best first."""
    raw = dict(
        RunStanding(facts.results, View(facts.view.raw, facts.view.raw), facts.run).systems()
    )
    return [[name, _number(score), _number(raw.get(name, np.nan) if name else np.nan)]
            for name, score in facts.systems()]  # fmt: skip


def _places(plan: Plan, raw: Floats) -> Matrix | None:
    """Return the place of each run among the reference systems, by topic."""
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
    """Round to whole numbers of `unit`, as text rounds; None for NaN."""
    whole = np.rint(values * unit)
    return [[None if v != v else int(v) for v in row] for row in whole.tolist()]


def _number(value: float) -> float | None:
    """Round to nine digits, enough to print four decimals; None for NaN."""
    return None if np.isnan(value) else float(f"{value:.9g}")


def _numbers(values: Sequence[float] | Floats) -> Numbers:
    return [_number(float(v)) for v in values]
