"""What pairs of runs ranked on the topics that tell them apart most, for the page's script."""

from __future__ import annotations

import json
import zlib
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

from ir_measures.measures import Measure

from ir_std._system.text import escape_controls
from ir_std.errors import InputError
from ir_std.evaluation.ranked_topics import RankedTopic, rank_topics
from ir_std.measures import Standardized
from ir_std.reporting.evaluated_runs import EvaluatedRuns
from ir_std.reporting.html.packing import PLACES
from ir_std.reporting.run_diff import RunDiff
from ir_std.schemes import EXACT
from ir_std.scores.run_scores import RunScores

MOST_PAIRS = 15
"""Up to so many pairs all of them are drawn; with more runs each with one other."""
MOST_RUNS = 150
FIRST_RUNS = 50
"""Of more runs only the first ones are read again, which takes most of a page's time."""
RANKS = {True: 20, False: 10}
"""The first ranks that are drawn, by whether all pairs are."""
TOPICS = {True: 10, False: 4}
"""The topics of a pair that are drawn, half of them of either sign if there are."""

UNIT: int = 10**PLACES
"""Of what a document adds."""

Json = dict[str, Any]
Pair = tuple[int, int]


def rankings_of(results: EvaluatedRuns, runs: Sequence[str]) -> Json:
    """The rankings of pairs of runs, packed; or why there are none.

    As JSON, deflated, in base64: the runs whose documents are known, how many ranks are drawn, the
    measures that are sums over documents, by topic its documents and levels, and of each pair by
    topic a row a document: its number, its rank in both runs (0 for none), and what it adds to
    each measure in both, in units of the last decimal; the last row holds what all others add.
    """
    known = [
        i
        for i, run in enumerate(runs)
        if run in results.inputs and not isinstance(results.inputs[run], RunScores)
    ]
    if len(known) < 2 or not results.topics:
        return {"why": "The documents of these runs are not at hand, only their scores."}
    pairs, is_small = _pairs(known, runs, results.baseline)
    telling = {pair: _telling_topics(results, runs, pair, TOPICS[is_small]) for pair in pairs}
    try:
        ranked = _read(results, runs, telling)
    except InputError as failed:
        return {"why": f"The rankings could not be read again: {failed}"}
    content = {"known": known} | _content(results, telling, ranked, RANKS[is_small])
    text = json.dumps(content, separators=(",", ":"))
    return {"packed": b64encode(zlib.compress(text.encode(errors="backslashreplace"))).decode()}


def _pairs(
    known: Sequence[int], runs: Sequence[str], baseline: str | None
) -> tuple[list[Pair], bool]:
    """All pairs of few runs; of many each with the one that it is first set against."""
    if len(known) * (len(known) - 1) <= 2 * MOST_PAIRS:
        return list(combinations(known, 2)), True
    other = runs.index(baseline) if baseline is not None else 1
    if other not in known:
        other = known[0]
    drawn = known if len(known) <= MOST_RUNS else known[:FIRST_RUNS]
    return [(min(i, other), max(i, other)) for i in drawn if i != other], False


def _telling_topics(
    results: EvaluatedRuns, runs: Sequence[str], pair: Pair, most: int
) -> tuple[str, ...]:
    """The topics with the largest differences by the first measure that has any."""
    measure = next(
        (m.base for m in results.topic_measures if isinstance(m, Standardized)),
        results.topic_measures[0],
    )
    topics = RunDiff(results, runs[pair[0]], runs[pair[1]], measure).topics
    differ = [t for t in topics if abs(t.raw[0] - t.raw[1]) > EXACT]
    sides = [[t for t in differ if (t.raw[0] > t.raw[1]) == first] for first in (True, False)]
    chosen = [t for side in sides for t in side[: most // 2]]
    chosen += [t for t in differ if t not in chosen][: most - len(chosen)]
    return tuple(t.topic for t in chosen)


def _measures(results: EvaluatedRuns) -> list[Measure]:
    """The raw measures behind all of them."""
    raw = {str(m): m for m in (_base(m) for m in results.measures)}
    return list(raw.values())


def _base(measure: Measure) -> Measure:
    return measure.base if isinstance(measure, Standardized) else measure


def _read(
    results: EvaluatedRuns, runs: Sequence[str], telling: Mapping[Pair, Iterable[str]]
) -> dict[int, dict[str, RankedTopic]]:
    """What is drawn of each run, by topic.

    Raises
    ------
    InputError
        If a file is gone, or is not what was evaluated.
    """
    wanted: dict[int, dict[str, None]] = {}
    for pair, topics in telling.items():
        for run in pair:
            wanted.setdefault(run, {}).update(dict.fromkeys(topics))
    measures, evaluator = _measures(results), results.evaluator
    ranked = {
        i: rank_topics(
            evaluator, results.inputs[runs[i]], runs[i], list(topics), measures, results.depth
        )
        for i, topics in wanted.items()
    }
    for i, by_topic in ranked.items():
        for topic, one in by_topic.items():
            for measure, adds in one.contributions.items():
                value = results.values[runs[i]][measure][evaluator.qrels.positions[topic]]
                if abs(sum(adds.values()) - value) > EXACT:
                    raise InputError.at(runs[i], "is not what was evaluated", "evaluate it again")
    return ranked


def _content(
    results: EvaluatedRuns,
    telling: Mapping[Pair, Iterable[str]],
    ranked: Mapping[int, Mapping[str, RankedTopic]],
    ranks: int,
) -> Json:
    measures = [
        m
        for m in _measures(results)
        if any(m in one.contributions for by in ranked.values() for one in by.values())
    ]
    positions = results.evaluator.qrels.positions
    documents: dict[str, dict[str, int]] = {}
    pairs: list[Json] = []
    for (i, j), topics in telling.items():
        by_topic = {}
        for topic in topics:
            both = ranked[i][topic], ranked[j][topic]
            numbers = documents.setdefault(topic, {})
            shown = dict.fromkeys(d for one in both for d in one.documents[:ranks])
            adds = [one.contributions[m] for m in measures for one in both]
            rows = [
                [
                    numbers.setdefault(d, len(numbers)),
                    *(one.ranks.get(d, 0) for one in both),
                    *(_units(by_document.get(d, 0)) for by_document in adds),
                ]
                for d in shown
            ]
            rest = [_units(sum(v for d, v in by.items() if d not in shown)) for by in adds]
            by_topic[positions[topic]] = [*rows, rest]
        pairs.append({"runs": [i, j], "topics": by_topic})
    levels = results.evaluator.qrels.judged
    return {
        "ranks": ranks,
        "measures": list(map(str, measures)),
        "highest": results.evaluator.qrels.max_level,
        "topics": {
            positions[topic]: {
                "documents": list(map(escape_controls, numbers)),
                "levels": [levels[topic].get(d) for d in numbers],
            }
            for topic, numbers in documents.items()
        },
        "pairs": pairs,
    }


def _units(value: float) -> int:
    return round(value * UNIT)
