"""Where factors do not apply: judgments that differ, levels and depths that do not fit."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from ir_measures.measures import Measure

from ir_std._arrays import Ints
from ir_std.errors import counted
from ir_std.factors.factor_set import FactorSet
from ir_std.factors.fit import Fit
from ir_std.factors.judgments import ALL_JUDGED
from ir_std.factors.match import Match
from ir_std.measures import gains_are_shares, has_graded_gains, measure_record
from ir_std.scores.run_scores import CountedTopics
from ir_std.trec.qrels import Qrels


def rows_but(factors: FactorSet, topics: Iterable[str], differing: Iterable[str]) -> Ints:
    """The rows of topics in a set; -1 for those that it lacks, and those whose judgments differ."""
    differing = set(differing)
    topics = tuple(topics)
    rows = factors.rows(topics)
    return np.where([topic in differing for topic in topics], -1, rows) if differing else rows


def levels_of(raw: Measure, fit: Fit) -> list[int]:
    """The levels that a measure looks at: it depends on which documents are at each or above."""
    record = measure_record(raw)
    if record.judged and not record.relevance:
        return [ALL_JUDGED]
    graded = has_graded_gains(raw) or "rel" not in raw.SUPPORTED_PARAMS
    levels = set(fit.levels if graded else [raw.params.get("rel", 1)])
    if record.nonrelevant:
        levels.add(0)
    looks_at_all = {"judged_only", "gains"} & {k for k, v in raw.params.items() if v}
    if looks_at_all or record.judged:
        levels.add(ALL_JUDGED)
    return sorted(levels)


def topics_without_value(raw: Measure, match: Match) -> tuple[str, ...]:
    """The topics on which a set's factors are of other judgments than a measure would look at.

    None if the user named the set, and has been warned of what differs.
    """
    if match.fit is None or match.chosen_by == "name":
        return ()
    return tuple(match.fit.without_value(levels_of(raw, match.fit)))


def obstacle_to(raw: Measure, name: str, match: Match, qrels: Qrels) -> str:
    """Why a set's factors for a raw measure do not apply to qrels; empty if they do."""
    assert match.fit is not None
    fit = match.fit
    depth = fit.factors.about(name, "depth")
    if depth and raw.params.get("cutoff", 0) > depth:
        return f"its systems were evaluated to depth {depth}"
    obstacle = _level_obstacle(raw, fit, qrels)
    # A user who names a set has been warned of what differs.
    if obstacle or match.chosen_by == "name":
        return obstacle
    return _differing_obstacle(raw, match) or _gain_obstacle(raw, fit, qrels)


def _level_obstacle(raw: Measure, fit: Fit, qrels: Qrels) -> str:
    """Why a measure cannot be compared at the levels of these qrels."""
    graded = has_graded_gains(raw)
    here, there = _highest_level(fit, qrels), fit.factors.info.get("max_level")
    levels_known = any(fit.factors.judgments[topic].levels for topic in fit.matched)
    if graded and there is not None and not levels_known:
        if here > 1 >= there:
            return f"these qrels have levels to {here}, its systems were judged with one level"
        if there > 1 >= here and not fit.is_subset:
            return f"these qrels have one level, its systems were judged with levels to {there}"
    level = raw.params.get("rel", 1)
    if level > highest_level_of_collection(fit, qrels):
        return f"no document of these qrels is judged at level {level} or above"
    if measure_record(raw).nonrelevant and fit.collection.qrels is not None:
        has_some = (fit.agreement.counts(0)[1] > 0).any()
        return "" if has_some else "the documents judged not relevant are not in these qrels"
    return ""


def _differing_obstacle(raw: Measure, match: Match) -> str:
    """Whether judgments differ, on most topics, at the levels that a measure looks at."""
    fit = match.fit
    assert fit is not None
    differing = topics_without_value(raw, match)
    if not differing or 2 * len(differing) <= len(fit.matched):
        return ""
    levels = [level for level in levels_of(raw, fit) if fit.agreement.at_level(level).different]
    if levels and levels[-1] < 1:
        return f"other documents are judged not relevant on {counted(len(differing), 'topic')}"
    where = "" if has_graded_gains(raw) else f" at level {raw.params.get('rel', 1)} or above"
    n = f"{len(differing)} of {len(fit.matched)} topics"
    return f"the judgments{where} differ from those of its systems on {n}"


def _gain_obstacle(raw: Measure, fit: Fit, qrels: Qrels) -> str:
    """Whether gains are shares of another level than the one that they were for the systems."""
    if not gains_are_shares(raw):
        return ""
    here = highest_level_of_collection(fit, qrels)
    there = fit.factors.info.get("max_level")
    if there in (None, here):
        return ""
    return f"gains are shares of level {here} with these qrels, of level {there} for its systems"


def _highest_level(fit: Fit, qrels: Qrels) -> int:
    """The highest level of the judgments; the set's where only scores are known."""
    if isinstance(qrels, CountedTopics):
        return fit.factors.info.get("max_level") or 1
    return qrels.max_level


def highest_level_of_collection(fit: Fit, qrels: Qrels) -> int:
    """The highest level of the judgments, or of the collection that they are a part of.

    A part of graded qrels may happen to hold no level above 1: it stays graded.
    """
    there = fit.factors.info.get("max_level") or 0
    return max(_highest_level(fit, qrels), there if fit.is_subset else 0)
