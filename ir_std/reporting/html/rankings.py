"""What the first runs ranked, topic by topic, for the page's script."""

from __future__ import annotations

from typing import Any

import numpy as np
from ir_measures.measures import Measure

from ir_std._system.text import escape_controls
from ir_std.errors import InputError
from ir_std.evaluation.ranked_topics import RankedTopic, rank_topics
from ir_std.reporting.html.standing import RunStanding, is_scores_alone
from ir_std.reporting.model import Results
from ir_std.schemes import EXACT

MOST_RUNS = 6
"""The page holds the documents of its subject, of the rival, and of the best others."""
MOST_TOPICS = 60
"""Of more topics it holds those where the scores of the first two differ most."""
RANKS = 10
"""The documents of a run that are shown."""


def rankings_of(results: Results, facts: RunStanding) -> dict[str, Any]:
    """The first documents of the first runs, by topic; or why there are none.

    Returns
    -------
    dict
        ``runs``, ``depth``, the ``highest`` level, and ``topics`` by their number: ``documents``,
        their ``levels`` (None if not judged), and by run their ``ranks``, 0 for none.  ``why``
        alone where documents are not known.
    """
    first = dict.fromkeys([facts.run, *filter(None, [facts.rival]), *facts.ranked])
    runs = [run for run in first if not is_scores_alone(results, run)][:MOST_RUNS]
    if len(runs) < 2 or not results.topics:
        return {"why": ""}
    measure = facts.view.raw
    topics = _telling_topics(results, runs[:2], measure)
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


def _telling_topics(results: Results, pair: list[str], measure: Measure) -> list[str]:
    """The topics that are shown: all, or those that tell a pair apart most."""
    if len(results.topics) <= MOST_TOPICS:
        return list(results.topics)
    a, b = (results.values[run][measure] for run in pair)
    order = np.argsort(-np.nan_to_num(np.abs(a - b)), kind="stable")
    return [results.topics[i] for i in order[:MOST_TOPICS]]


def _read(
    results: Results, run: str, topics: list[str], measure: Measure
) -> dict[str, RankedTopic]:
    """A run's documents by topic.

    Raises
    ------
    InputError
        If its file is gone, or is not what was evaluated.
    """
    evaluator = results.collection.evaluator
    ranked = rank_topics(
        evaluator, results.collection.inputs[run], run, topics, [measure], results.collection.depth
    )
    for topic, one in ranked.items():
        for adds in one.contributions.values():
            value = results.values[run][measure][evaluator.qrels.positions[topic]]
            if abs(sum(adds.values()) - value) > EXACT:
                raise InputError.at(run, "is not what was evaluated", "evaluate it again")
    return ranked


def _topic(results: Results, topic: str, ranked: list[RankedTopic]) -> dict[str, Any]:
    documents = list(dict.fromkeys(d for one in ranked for d in one.documents[:RANKS]))
    levels = results.collection.evaluator.qrels.judged[topic]
    return {
        "documents": [escape_controls(d) for d in documents],
        "levels": [levels.get(d) for d in documents],
        "ranks": [[one.ranks.get(d, 0) for d in documents] for one in ranked],
    }
