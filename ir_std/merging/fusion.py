"""The two calls, ``normalize`` and ``merge``, and the forms that runs come and go in."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, TypeAlias

from ir_measures import ScoredDoc

from ir_std.errors import UsageError, look_up
from ir_std.merging.methods import (
    BY_RANK,
    COMBINE,
    METHODS,
    RankedList,
    combine_ranks,
    combine_scores,
    normalize_run,
)
from ir_std.trec.frames import column_values, frame_like, is_frame, with_values
from ir_std.trec.inputs import as_run
from ir_std.trec.ranking import sort_run
from ir_std.trec.runs import Run

Prepare: TypeAlias = Callable[[Run], Run]
Combine: TypeAlias = Callable[[list[RankedList]], RankedList]


def normalize(run: Any, method: str) -> Any:
    """Normalize the scores of a run, topic by topic.

    >>> normalize({"q1": {"d1": 12.0, "d2": 9.0, "d3": 8.0}}, "minmax")
    {'q1': {'d1': 1.0, 'd2': 0.25, 'd3': 0.0}}

    Parameters
    ----------
    run : dict, DataFrame, iterable, str, path or Run
        Any form that :func:`ir_std.trec.inputs.as_run` takes.  It is not modified.
    method : {'minmax', 'max', 'mmstdv', 'uv', 'zscore', 'sum'}
        See :mod:`ir_std.merging` for which to choose, and for all edge cases.

    Returns
    -------
    dict, DataFrame, list of ScoredDoc, or Run
        What ``run`` is: a DataFrame (of pandas or polars) keeps its other columns and the order of
        its rows; an iterable gives a list; a file gives a dict.

    Raises
    ------
    InputError
        If the run cannot be used, or ``max`` meets a list without a score above 0.
    UsageError
        If there is no such method.
    """
    look_up(method, METHODS, "method")
    run = _reusable(run)
    normalized = normalize_run(as_run(run), method)
    if not is_frame(run):
        return _in_form_of(run, normalized)
    scores = _as_dict(normalized)
    rows = zip(column_values(run, "query_id"), column_values(run, "doc_id"), strict=True)
    return with_values(run, {"score": [scores[topic][doc] for topic, doc in rows]})


def merge(
    runs: Iterable[Any], method: str | None = None, combine: str = "sum", depth: int | None = None
) -> Any:
    """Merge the lists of several runs into one for each topic, by scores or by ranks.

    >>> merge([{"q1": {"a1": 12.0, "a2": 9.0, "a3": 8.0}}, {"q1": {"b1": 0.9, "b2": 0.1}}],
    ...       "minmax", depth=3)
    {'q1': {'b1': 1.0, 'a1': 1.0, 'a2': 0.25}}
    >>> merge([{"q1": {"a": 3.0, "b": 2.0}}, {"q1": {"b": 0.9, "c": 0.1}}], combine="borda")
    {'q1': {'b': 5.0, 'a': 4.0, 'c': 3.0}}

    Parameters
    ----------
    runs : iterable of runs
        Each in any form that :func:`ir_std.trec.inputs.as_run` takes.
    method : {'minmax', 'max', 'mmstdv', 'uv', 'zscore', 'sum'}, optional
        Normalization of the scores; none if ranks are combined.  See :mod:`ir_std.merging` for
        which to choose, and for all edge cases.
    combine : {'sum', 'max', 'mnz', 'first', 'rrf', 'borda', 'condorcet'}
        The score of a document in several lists: the sum of its normalized scores (CombSUM), the
        highest, the sum times their number (CombMNZ), or the score of the first run that has it.
        A run that does not have it adds nothing.  Where scores can be negative, as those of
        ``zscore`` are, nothing is more than a low score, and CombMNZ multiplies negative sums too
        (see :mod:`ir_std.merging`).  The last three only look at ranks.
    depth : int, optional
        Keep this many documents per topic.

    Returns
    -------
    dict, DataFrame, list of ScoredDoc, or Run
        What the first of ``runs`` is: a DataFrame with the columns query_id, doc_id and score;
        an iterable gives a list; a file gives a dict.  Topics are in the order in which they
        first appear, documents in trec_eval's: by score as 32-bit float, ties by id descending.

    Raises
    ------
    InputError
        If a run cannot be used, or ``max`` meets a list without a score above 0.
    UsageError
        If there is no such method or combination, no run, or ``depth`` is below 1; or a method
        is missing, or given where ranks are combined.
    """
    prepare, combine_lists = _steps(method, combine)
    if depth is not None and (not isinstance(depth, int) or depth < 1):
        raise UsageError(f"expected a whole number of at least 1 as depth, got {depth!r}")
    if not isinstance(runs, Iterable):
        raise UsageError(f"expected a list of runs, got {runs!r}")
    if isinstance(runs, (str, os.PathLike, Mapping, Run)) or is_frame(runs):
        raise UsageError("expected a list of runs, got one; write [run, run]")
    runs = [_reusable(run) for run in runs]
    if not runs:
        raise UsageError("no runs to merge; name at least one")
    by_topic: dict[str, list[RankedList]] = {}
    for run in map(as_run, runs):
        for topic, ranked_list in prepare(run).lists.items():
            by_topic.setdefault(topic, []).append(ranked_list)
    merged = Run.of_lists(
        ((topic, *combine_lists(lists)) for topic, lists in by_topic.items()), "the merged run"
    )
    return _in_form_of(runs[0], sort_run(merged, depth))


def _steps(method: str | None, combine: str) -> tuple[Prepare, Combine]:
    """Return what is done with each run, and then with the lists of a topic."""
    look_up(combine, {**COMBINE, **BY_RANK}, "combination")
    if combine in BY_RANK:
        if method is not None:
            raise UsageError(f"{combine} combines ranks; leave out {method!r} (--normalize)")
        return sort_run, partial(combine_ranks, combination=BY_RANK[combine])
    if method is None:
        raise UsageError(
            f"{combine} needs normalized scores; add a method (--normalize) of "
            f"{', '.join(METHODS)}, or combine ranks ({', '.join(BY_RANK)})"
        )
    look_up(method, METHODS, "method")
    return (
        partial(normalize_run, method=method),
        partial(combine_scores, combination=COMBINE[combine]),
    )


def runs_without_common_topics(runs: Iterable[Run]) -> list[str]:
    """Return the names of the runs, of two or more, that share no topic with another."""
    runs = list(runs)
    n_runs = Counter(topic for run in runs for topic in run.topics)
    alone = [run.name for run in runs if all(n_runs[topic] == 1 for topic in run.topics)]
    return alone if len(runs) > 1 else []


def _reusable(run: Any) -> Any:
    """Return a run that can be read twice: an iterator becomes a list."""
    if isinstance(run, Iterator) and not hasattr(run, "read"):
        return list(run)
    return run


def _in_form_of(given: Any, run: Run) -> Any:
    """Return a run in the form of another: a frame, a dict, a list of rows, or a Run."""
    if isinstance(given, Run):
        return run
    if isinstance(given, (Mapping, str, os.PathLike)) or hasattr(given, "read"):
        return _as_dict(run)
    rows = [
        ScoredDoc(topic, doc, score)
        for topic, docs in _as_dict(run).items()
        for doc, score in docs.items()
    ]
    if not is_frame(given):
        return rows
    names = ("query_id", "doc_id", "score")
    return frame_like(given, {name: [getattr(row, name) for row in rows] for name in names})


def _as_dict(run: Run) -> dict[str, dict[str, float]]:
    return {
        topic: dict(zip(docs, scores.tolist(), strict=True))
        for topic, (docs, scores) in run.lists.items()
    }
