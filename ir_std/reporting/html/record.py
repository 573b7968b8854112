"""Make the record of one collection, which the page's script reads.

The record has the same fields as the classes ``Collection`` and ``Measure`` in
``templates/collection.js``; a test compares the fields.  In lists, each run has a value, in the
collection's order of runs.  Matrices have a row per run and a column per topic.
"""

import json
import zlib
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isnan
from typing import Any

import numpy as np

from ir_std._arrays import EXACT, Floats, pick_rows
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

Matrix = list[list[int | None]]


def packed(value: object) -> str:
    """Pack data for the script as deflated JSON in base64."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return b64encode(zlib.compress(text.encode(errors="backslashreplace"), 9)).decode()


def collection_record(
    name: str, standings: Sequence[standing.RunStanding], queries: Mapping[str, str]
) -> dict[str, Any]:
    """Collect all data of one collection that the page shows.

    Parameters
    ----------
    name : str
        Name of the collection.
    standings : sequence of RunStanding
        Facts for each measure.
    queries : mapping of str to str
        Query texts of topics.
    """
    facts = standings[0]
    results, runs, rival = facts.results, list(facts.results.runs), facts.rival
    systems = standing.named_systems(results)
    return {
        "name": name,
        "unit": results.collection.unit,  # the word for a topic: topic, or dataset
        "systemsWord": f"{facts.system_word}s",  # the word for reference systems
        "runsWord": f"{facts.run_word}s",
        "runs": runs,
        "systems": list(systems),  # named reference systems that are not among the runs
        "topics": list(results.topics),
        # Query texts of the topics; empty if no texts were given.
        "queries": [queries.get(t) for t in results.topics] if queries else [],
        "subject": runs.index(facts.run),  # the run that the page is about
        # The run that the subject is compared with.
        "rival": None if rival is None else runs.index(rival),
        "baseline": results.baseline is not None,
        # Runs that look broken.
        "broken": [i for i, one in enumerate(evaluations_of(results).values()) if one.is_broken],
        "measures": [_measure(one, systems) for one in standings],
        "rankings": standing.rankings_of(facts),
    }


def _measure(facts: standing.RunStanding, systems: Mapping[str, str]) -> dict[str, Any]:
    results, view, plan = facts.results, facts.view, facts.plan
    raw = np.array([_by_topic(results, run, view.raw) for run in results.runs])
    of_systems = standing.systems_by_topic(results, plan, systems)
    is_by_topic = view.is_standardized and view.scored in results.collection.topic_measures
    peers = results.collection.peers(view.raw)
    limits = limits_of(view.scored)
    by_run = [_run(facts, run) for run in results.runs]
    return {
        "name": view.name,  # name in the menu of measures
        "raw": str(view.raw),
        "scored": view.scored_name,  # name of the scores that the pictures show
        "standardized": view.is_standardized,  # true if the pictures' scores are standardized
        "sign": int(sign_of(view.scored)),  # -1 if lower is better, else 1
        "rawSign": int(sign_of(view.raw)),  # the same, for raw scores
        # All sentences except warnings are HTML.
        "headline": say("headline", facts),
        "deck": say("deck", facts),
        "warnings": facts.warnings,
        "trust": [say(part, facts) for part in ("holds", "matched", "judged")],
        "placeHeading": say("place_heading", facts),
        "topicsHeading": say("topics_heading", facts),
        # Ticks of the axis of scores, including the ends of the axis.
        "ticks": axis_ticks(results, view.scored),
        "average": view.average,  # the score of an average system
        "limits": limits and list(limits),  # lowest and highest possible score
        **{field: [one[field] for one in by_run] for field in by_run[0]},
        # The reference systems, best first: name, mean score, mean raw score.
        "systems": _systems(facts),
        # Raw scores of runs and of named systems, in ten-thousandths.
        "byTopic": _matrix(raw if of_systems is None else np.vstack([raw, of_systems])),
        # Standardized scores; None for raw scores, or if only means exist.
        "scoresByTopic": _scores_by_topic(facts, of_systems) if is_by_topic else None,
        "places": _places(plan, raw) if plan and is_by_topic else None,
        # Number of reference systems on each topic.
        "systemsOn": _matrix(standing.n_systems(plan)[None], 1)[0]
        if plan and is_by_topic
        else None,
        # Mean raw score of the reference systems on each topic.
        "systemsByTopic": None if peers is None else [_number(mean) for mean in peers.mean],
    }


def _run(facts: standing.RunStanding, run: str) -> dict[str, float | None]:
    """Return one run's value for each list."""
    (low, high), rank, placed = facts.intervals[run], facts.ranks[run], facts.placement(run)
    best, worst = facts.places(run) or (None, None)
    tested = facts.differences.get(run)
    return {
        "means": _number(facts.mean(run)),  # mean raw score
        "scores": _number(facts.score(run)),  # mean score that the pictures show
        "low": _number(low),  # ends of the 95% interval of this score
        "high": _number(high),
        "rank": rank.rank,  # rank among the runs
        # True if the run is in the 95% confidence set for the best.
        "couldBeFirst": bool(rank.rank and rank.could_be_first),
        # Ends of the 95% intervals of ranks, which hold for all runs at once.
        "best": rank.best if rank.rank else None,
        "worst": rank.worst if rank.rank else None,
        "place": placed.rank if placed else None,  # place among the reference systems
        "placeOf": placed.n_ranked if placed else None,  # number of places, counting the run
        "among": bool(placed and placed.is_own_system),  # true if it is a reference system
        "placeBest": best,  # places that the ends of the interval would take
        "placeWorst": worst,
        "difference": _number(tested.mean) if tested else None,  # difference from the rival
        "p": _number(tested.p_adjusted) if tested else None,
        # The smallest difference that the test finds four times in five.
        "detectable": _number(tested.detectable) if tested else None,
        "verdict": facts.verdict(run),  # 1 if clearly better than the rival, -1 if worse, else 0
    }


def _by_topic(results: Results, run: str, measure: Measure) -> Floats:
    values = results.values[run].get(measure)
    return np.full(len(results.topics), np.nan) if values is None else values


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
    scores = sign * pick_rows(plan.factors.scores[plan.name], plan.rows)
    better = np.array([(scores > of_run[:, None]).sum(axis=1) for of_run in compared])
    is_unknown = np.isnan(compared) | np.isnan(scores).all(axis=1)
    return _matrix(np.where(is_unknown, np.nan, 1 + better), 1)


def _matrix(values: Floats, unit: int = UNIT) -> Matrix:
    """Multiply by `unit` and round to whole numbers; None for NaN."""
    whole = np.rint(values * unit)
    return [[None if v != v else int(v) for v in row] for row in whole.tolist()]


def _number(value: float) -> float | None:
    """Round to nine digits, enough to print four decimals; None for NaN."""
    return None if isnan(value) else float(f"{value:.9g}")
