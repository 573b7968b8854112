"""Two judgments of the same topics, compared: :func:`agreement`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from ir_measures.measures import Measure

from ir_std._arrays import Floats, Ints
from ir_std.errors import UsageError, counted
from ir_std.evaluation.companions import companions
from ir_std.evaluation.evaluation import ByMeasure
from ir_std.evaluation.plans import match_factors
from ir_std.factors.catalog import Factors
from ir_std.factors.estimates import scores_by_system
from ir_std.factors.match import Match
from ir_std.measures import Measures, as_measures, parse_measure
from ir_std.reporting.judge_agreement import JudgeAgreement, compare_labels
from ir_std.reporting.results import Results, evaluate
from ir_std.schemes import scheme_names
from ir_std.trec.inputs import as_qrels
from ir_std.trec.qrels import Qrels

MEASURES = ("nDCG@10", "AP", "P@10")
"""The measures by which runs are compared where no factors suggest others."""


def agreement(
    first: Any,
    second: Any,
    runs: Any = None,
    measures: Measures | None = None,
    schemes: str | Iterable[str] = "N",
    *,
    factors: Sequence[Factors | None] = (None, None),
    jobs: int | None = 1,
) -> JudgeAgreement:
    """Compare two judgments of the same topics: their labels, and what they say of systems.

    Parameters
    ----------
    first, second
        Qrels in any form that :func:`ir_std.evaluate` takes.  Levels below 0 count as 0.
    runs : optional
        In any form that :func:`ir_std.evaluate` takes; if not given, and both judgments have
        factors from systems of the same names, these systems' scores.
    measures : Measure, str or iterable of them, optional
        If not given, the default measures that the factor sets of both have.
    schemes : str or iterable of str
        Of the standardized scores, each by the factors of its own judgments.
    factors : (set, set)
        Of each judgments; recognized where None.
    jobs : int, optional
        As for :func:`ir_std.evaluate`.

    Raises
    ------
    UsageError
        If the two have no topic in common, or no document of a topic.
    InputError
        If a run or qrels cannot be used.

    Examples
    --------
    >>> agreement = ir_std.agreement({"1": {"a": 2, "b": 0, "c": 1}},
    ...                              {"1": {"a": 3, "b": 0, "c": 1}})
    >>> round(agreement.kappa("quadratic").value, 4)
    0.8571
    """
    pair = as_qrels(first), as_qrels(second)
    names = _names(pair)
    topics = tuple(t for t in pair[0].topics if t in pair[1].positions)
    confusion, judged_once = compare_labels(pair, topics)
    if not confusion.any():
        raise UsageError(
            f"{names[0]} and {names[1]} have no judged document of a topic in common: give two "
            "judgments of the same topics"
        )
    matches = tuple(match_factors(q, f) for q, f in zip(pair, factors, strict=True))
    highest = min(q.max_level for q in pair)
    asked = as_measures(measures or ()) or _default_measures(matches)
    wanted = [m for m in asked if (m.params.get("rel") or 0) <= highest]
    listed = scheme_names(schemes)
    scored = (
        [_scores_of_systems(q, m, wanted, listed) for q, m in zip(pair, matches, strict=True)]
        if runs is None
        else [
            _scores_of_runs(evaluate(runs, q, wanted, listed, factors=f, jobs=jobs))
            for q, f in zip(pair, factors, strict=True)
        ]
    )
    systems, scores = _in_common(scored, pair, topics)
    return JudgeAgreement(
        names,
        topics,
        confusion,
        judged_once,
        systems,
        scores,
        (
            *dict.fromkeys(map(str, matches)),
            *(
                f"{m} left out: no document of one of the two is at that level"
                for m in asked
                if m not in wanted
            ),
            *_notes(names, pair, topics, confusion, judged_once),
        ),
    )


BySystem = dict[str, ByMeasure[Floats]]
"""Scores by system and measure, on the topics of the qrels."""


def _names(pair: tuple[Qrels, Qrels]) -> tuple[str, str]:
    """The names of the files, or first and second where there are none or they are the same."""
    one, other = (os.path.basename(q.name).removesuffix(".txt") for q in pair)
    return (one, other) if one != other and one and other else ("first", "second")


def _default_measures(matches: Sequence[Match]) -> list[Measure]:
    """The default measures that both sets have; usual ones where there are none."""
    sets = [match.factors for match in matches if match.factors]
    known = [set(factors.default_measures) for factors in sets]
    names = [m for m in (sets[0].default_measures if sets else ()) if all(m in k for k in known)]
    return [parse_measure(name) for name in names or MEASURES]


def _scores_of_runs(results: Results) -> BySystem:
    return {
        run: ByMeasure({m: results.values[run][m] for m in results.topic_measures})
        for run in results.runs
    }


def _scores_of_systems(
    qrels: Qrels, match: Match, measures: Iterable[Measure], schemes: Sequence[str]
) -> BySystem:
    """The scores of the standardizing systems, raw and standardized, where they have names."""
    factors = match.factors
    if factors is None or factors.of_datasets or not factors.info.get("tags"):
        return {}
    scored: BySystem = {}
    for plan in companions(measures, match, qrels, schemes)[2]:
        if plan.name in factors.systems and plan.factors is factors:
            numbers, scores = scores_by_system(factors, plan.name)
            raw = np.where(plan.rows[:, None] < 0, np.nan, scores[plan.rows])
            for number, column in zip(numbers.tolist(), raw.T, strict=True):
                system = scored.setdefault(factors.info["tags"][number], ByMeasure())
                if plan.same_raw:
                    system[plan.measure.base] = column
                system[plan.measure] = plan.apply(column)
    return scored


def _in_common(
    scored: Sequence[BySystem], pair: tuple[Qrels, Qrels], topics: Sequence[str]
) -> tuple[tuple[str, ...], dict[Measure, tuple[Floats, Floats]]]:
    """The systems that both judges' scores have, and their scores on the common topics."""
    one, other = scored
    systems = tuple(name for name in one if name in other)
    if not systems:
        return (), {}
    measures = [
        m for m in one[systems[0]] if all(m in by[name] for by in scored for name in systems)
    ]
    rows = [np.array([q.positions[t] for t in topics]) for q in pair]
    return systems, {
        m: (
            np.stack([one[name][m][rows[0]] for name in systems], axis=1),
            np.stack([other[name][m][rows[1]] for name in systems], axis=1),
        )
        for m in measures
    }


def _notes(
    names: tuple[str, str],
    pair: tuple[Qrels, Qrels],
    topics: Sequence[str],
    confusion: Ints,
    judged_once: tuple[int, int],
) -> Iterator[str]:
    for name, q in zip(names, pair, strict=True):
        if alone := len(q.topics) - len(topics):
            yield f"{counted(alone, 'topic')} of {name} alone, left out"
    if sum(judged_once) > confusion.sum():
        yield "more documents were judged once than twice: agreement is of the smaller part"
    highest = [q.max_level for q in pair]
    if highest[0] != highest[1]:
        yield (
            f"the scales differ, levels to {highest[0]} and to {highest[1]}: kappa takes equal "
            "numbers for equal judgments; look at single levels"
        )
