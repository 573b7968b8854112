"""The data of the page's script: names and numbers of one collection, as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from ir_measures.measures import Measure

from ir_std._arrays import Floats
from ir_std.evaluation.peers import Peers, peers_of
from ir_std.evaluation.plans import Plan
from ir_std.factors.estimates import as_recorded
from ir_std.measures import Standardized, sign_of
from ir_std.reporting.evaluated_runs import EvaluatedRuns
from ir_std.reporting.figure_data import MANY_TOPICS, Panel, mean_estimate, panels_of, systems_means
from ir_std.reporting.headlines import limits_of
from ir_std.reporting.html.packing import PLACES, Packer
from ir_std.reporting.html.rankings import rankings_of
from ir_std.reporting.html.sentences import describe_results, n_systems, trust
from ir_std.reporting.html.systems import SystemsOfTrack
from ir_std.schemes import EXACT, SCHEMES

Json = dict[str, Any]


def data_of(
    results: EvaluatedRuns, runs: Sequence[str], queries: Mapping[str, str] | None = None
) -> Json:
    """Everything that the page shows of one collection, with the runs in the order given.

    Scores by topic are packed matrices of runs x topics (:class:`Packer`); the rest is plain.
    """
    packer, panels = Packer(), panels_of(results)
    own = [i for i, run in enumerate(runs) if _is_own(results, run)]
    systems = SystemsOfTrack.of(results, runs, [r for i, r in enumerate(runs) if i not in own])
    plans: dict[Measure, Plan] = {}
    for plan in results.plans.values():
        plans.setdefault(plan.measure.base, plan)
    return {
        "runs": list(runs),
        "topics": list(results.topics),
        "unit": results.unit,
        "queries": [queries.get(t) for t in results.topics] if queries else [],
        "rankings": rankings_of(results, runs),
        "manyTopics": len(results.topics) > MANY_TOPICS,
        "baseline": None if results.baseline is None else list(runs).index(results.baseline),
        "own": own,
        "measures": [
            _measure(results, runs, panels[m], packer) | {"ofSystems": systems.add(m)}
            for m in results.measures
        ],
        "behind": [_behind(results, runs, plan, packer) for plan in plans.values()],
        "matrices": packer.matrices,
        "packed": packer.text,
        "systems": {
            "names": list(systems.names),
            "matrices": systems.packer.matrices,
            "packed": systems.packer.text,
        },
    }


def _is_own(results: EvaluatedRuns, run: str) -> bool:
    """Whether a run is not one of the standardizing systems, as far as that can be known."""
    placed = [p for p in results.placements.get(run, {}).values() if not p.why_not]
    return bool(placed) and not all(p.among for p in placed)


def _measure(results: EvaluatedRuns, runs: Sequence[str], panel: Panel, packer: Packer) -> Json:
    measure = panel.measure
    systems = systems_means(results, runs, measure)
    return {
        "name": str(measure),
        "sign": sign_of(measure),
        "base": str(measure.base) if isinstance(measure, Standardized) else None,
        "byTopic": measure in results.topic_measures,
        "values": packer.add(_matrix(results, runs, measure), PLACES),
        "systems": _numbers(systems),
        "systemsMean": _number(_mean_of_systems(panel, systems)),
        "means": [_exact(results.means[run][measure]) for run in runs],
        **_intervals(results, runs, measure),
        **_ranks(results, runs, measure),
        **_placements(results, runs, measure),
        **_tests(results, runs, measure),
        "words": describe_results(results, measure),
        "trust": trust(results, measure),
        "limits": limits_of(measure),
        "axis": {"low": panel.low, "high": panel.high, "ticks": _numbers(panel.ticks)},
        "order": panel.order.tolist(),
        "peers": _peers(panel.peers),
    }


def _mean_of_systems(panel: Panel, means: Sequence[float]) -> float:
    if means:
        return float(np.mean(means))
    # The mean of standardized scores is not the standardized mean.
    if panel.peers is None or isinstance(panel.measure, Standardized):
        return float("nan")
    return _mean(panel.peers.mean)


def _intervals(results: EvaluatedRuns, runs: Sequence[str], measure: Measure) -> Json:
    estimates = [mean_estimate(results, run, measure) for run in runs]
    over_systems = [_number(e.systems) for e in estimates]
    return {
        "low": [_long(e.interval[0]) for e in estimates],
        "high": [_long(e.interval[1]) for e in estimates],
        "overTopics": [_number(e.topics) for e in estimates],
        "overSystems": over_systems if any(e.systems > 0 for e in estimates) else [],
    }


def _ranks(results: EvaluatedRuns, runs: Sequence[str], measure: Measure) -> Json:
    ranked = [results.ranks[run][measure] for run in runs]
    return {
        "ranks": [r.rank for r in ranked],
        "best": [r.best if r.rank else None for r in ranked],
        "worst": [r.worst if r.rank else None for r in ranked],
        "groups": [r.group for r in ranked],
    }


def _placements(results: EvaluatedRuns, runs: Sequence[str], measure: Measure) -> Json:
    placements = [results.placements.get(run, {}).get(measure) for run in runs]
    return {
        "places": [
            ", ".join(filter(None, (p.summary, p.neighbours))) if p else None for p in placements
        ],
        "placeRanks": [p.rank if p else None for p in placements],
    }


def _tests(results: EvaluatedRuns, runs: Sequence[str], measure: Measure) -> Json:
    tests = [results.tests.get(run, {}).get(measure) for run in runs]
    return {
        "differences": [_long(t.difference) if t else None for t in tests],
        "p": [_long(t.p_adjusted) if t else None for t in tests],
    }


def _matrix(results: EvaluatedRuns, runs: Sequence[str], measure: Measure) -> Floats:
    return np.stack([results.values[run][measure] for run in runs])


def _peers(peers: Peers | None) -> Json | None:
    """The standardizing systems by topic; where all topics agree, one number for all of them."""
    if peers is None:
        return None
    return {
        name: _numbers(_one_if_equal(getattr(peers, name)))
        for name in ("mean", "low", "high", "least", "most")
    }


def _one_if_equal(values: Floats) -> Floats:
    known = values[~np.isnan(values)]
    return known[:1] if not len(known) or np.ptp(known) < EXACT else values


def _behind(results: EvaluatedRuns, runs: Sequence[str], plan: Plan, packer: Packer) -> Json:
    """What is known of the raw scores that a measure is standardized from.

    By topic the systems' number, mean and deviation, the runs' z and ranks; of the runs' means
    all schemes, and on how many topics they are above and below the systems, also by more than
    one standard deviation.  With factors of a whole data set there is one of each.
    """
    raw = np.stack([plan.units(row) for row in _matrix(results, runs, plan.raw)])
    peers = peers_of(plan, plan.topics)
    by_scheme = {
        s: _standardized(plan, raw, s)
        for s in SCHEMES
        if not SCHEMES[s].needs_scores or plan.name in plan.factors.scores
    }
    z = by_scheme["z"]
    means = [
        [s, [_long(_mean(row)) for row in matrix]]
        for s, matrix in {"raw": raw, **by_scheme}.items()
    ]
    return {
        "measure": str(plan.raw),
        "set": plan.factors.id,
        "dataset": plan.topics[0] if plan.of_mean else None,
        "counts": _numbers(_one_if_equal(n_systems(plan))),
        "mean": _numbers(peers.mean),
        "sd": _numbers(peers.high - peers.mean),
        "of": str(plan.measure.base),
        "z": None if plan.of_mean else packer.add(z, 2),
        "above": [int(n) for n in (z > 0).sum(axis=1)],
        "farAbove": [int(n) for n in (z > 1).sum(axis=1)],
        "below": [int(n) for n in (z < 0).sum(axis=1)],
        "farBelow": [int(n) for n in (z < -1).sum(axis=1)],
        "ranks": (
            packer.add(_ranks_by_topic(plan, raw), 0)
            if plan.name in plan.factors.scores and not plan.of_mean
            else None
        ),
        "schemes": means,
    }


def _standardized(plan: Plan, raw: Floats, scheme: str) -> Floats:
    """Raw scores, shape (n_runs, n_topics), by a scheme; the plan's own with its parameters."""
    params = plan.measure.scheme_params if scheme == plan.measure["scheme"] else {}
    apply = plan.factors.at(plan.rows, plan.name, scheme, **params)
    if SCHEMES[scheme].needs_scores:  # of all runs at once these are too many comparisons
        return np.stack([apply(row) for row in raw])
    return apply(raw)


def _ranks_by_topic(plan: Plan, raw: Floats) -> Floats:
    """Among the standardizing systems, by topic: 1 and how many of them are better."""
    rows = plan.rows
    sign = plan.factors.sign(plan.name)
    compared = sign * as_recorded(plan.factors, plan.name, raw) + EXACT
    ranks = np.full(raw.shape, np.nan)
    for topic in np.flatnonzero(rows >= 0):
        scores = plan.factors.scores[plan.name][rows[topic]]
        scores = np.sort(sign * scores[~np.isnan(scores)])
        if len(scores):
            ranks[:, topic] = (
                1 + len(scores) - np.searchsorted(scores, compared[:, topic], side="right")
            )
    return ranks


def _mean(values: Floats) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else float("nan")


def _exact(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _long(value: float) -> float | None:
    """To nine digits: enough to print four decimals as the whole number has them."""
    return None if np.isnan(value) else float(f"{value:.9g}")


def _number(value: float) -> float | None:
    """To six digits: enough to draw, and to print four decimals of scores."""
    return None if np.isnan(value) else float(f"{value:.6g}")


def _numbers(values: Sequence[float] | Floats) -> list[float | None]:
    return [_number(float(v)) for v in values]
