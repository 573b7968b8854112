"""Functions ``normalize`` and ``merge``, which accept and return runs in any form."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, TypeAlias

from ir_measures import ScoredDoc

from ir_std.errors import UsageError, look_up
from ir_std.merging import methods
from ir_std.trec import Run, as_run, sort_run
from ir_std.trec.frames import column_values, frame_like, is_frame, with_values

Prepare: TypeAlias = Callable[[Run], Run]
Combine: TypeAlias = Callable[[list[methods.RankedList]], methods.RankedList]


def normalize(run: Any, method: str) -> Any:
    """Normalize the scores of a run, topic by topic.

    >>> normalize({"q1": {"d1": 12.0, "d2": 9.0, "d3": 8.0}}, "minmax")
    {'q1': {'d1': 1.0, 'd2': 0.25, 'd3': 0.0}}

    Parameters
    ----------
    run : dict, DataFrame, iterable, str, path or Run
        The run, in any form that :func:`ir_std.trec.inputs.as_run` accepts.  ``run`` is not
        modified.
    method : {'minmax', 'max', 'mmstdv', 'uv', 'zscore', 'sum'}
        Normalization method; :mod:`ir_std.merging` recommends methods and describes edge cases.

    Returns
    -------
    dict, DataFrame, list of ScoredDoc, or Run
        Normalized run in the form of ``run``.  A pandas or polars DataFrame keeps its other columns
        and the order of its rows.  For an iterable, the result is a list; for a file, it is a dict.

    Raises
    ------
    InputError
        If the run cannot be used, or if the method is ``max`` and a list has no score above 0.
    UsageError
        If the method is unknown.
    """
    look_up(method, methods.METHODS, "method")
    run = _reusable(run)
    normalized = methods.normalize_run(as_run(run), method)
    if not is_frame(run):
        return _in_form_of(run, normalized)
    scores = _as_dict(normalized)
    rows = zip(column_values(run, "query_id"), column_values(run, "doc_id"), strict=True)
    return with_values(run, {"score": [scores[topic][doc] for topic, doc in rows]})


def merge(
    runs: Iterable[Any], method: str | None = None, combine: str = "sum", depth: int | None = None
) -> Any:
    """Merge the lists of several runs into one list per topic, by scores or by ranks.

    >>> merge([{"q1": {"a1": 12.0, "a2": 9.0, "a3": 8.0}}, {"q1": {"b1": 0.9, "b2": 0.1}}],
    ...       "minmax", depth=3)
    {'q1': {'b1': 1.0, 'a1': 1.0, 'a2': 0.25}}
    >>> merge([{"q1": {"a": 3.0, "b": 2.0}}, {"q1": {"b": 0.9, "c": 0.1}}], combine="borda")
    {'q1': {'b': 5.0, 'a': 4.0, 'c': 3.0}}

    Parameters
    ----------
    runs : iterable of runs
        Runs, each in any form that :func:`ir_std.trec.inputs.as_run` accepts.
    method : {'minmax', 'max', 'mmstdv', 'uv', 'zscore', 'sum'}, optional
        Normalization method; leave it out if ``combine`` uses ranks.  :mod:`ir_std.merging`
        recommends methods and describes edge cases.
    combine : {'sum', 'max', 'mnz', 'first', 'rrf', 'borda', 'condorcet'}
        How to score a document that is in several lists.  ``sum`` (CombSUM) adds the document's
        normalized scores.  ``max`` uses the highest normalized score.  ``mnz`` (CombMNZ) multiplies
        the sum of the normalized scores by the number of lists that have the document.  ``first``
        uses the score in the first run that has the document.  A run that lacks the document adds
        nothing to the document's score.  So a document can gain if a run lacks it and scores are
        negative, as with ``zscore``; CombMNZ also multiplies negative sums (see
        :mod:`ir_std.merging`).  ``rrf``, ``borda`` and ``condorcet`` use only ranks.
    depth : int, optional
        Number of documents per topic to keep; all by default.

    Returns
    -------
    dict, DataFrame, list of ScoredDoc, or Run
        Merged run in the form of the first run.  A DataFrame has the columns query_id, doc_id and
        score.  For an iterable, the result is a list; for a file, it is a dict.  Topics are in the
        order in which they first appear.  Documents are in trec_eval's order: by score as 32-bit
        float, with ties by descending ID.

    Raises
    ------
    InputError
        If a run cannot be used, or if the method is ``max`` and a list has no score above 0.
    UsageError
        If the method or the combination is unknown, if there are no runs, or if ``depth`` is below
        1.  A combination of scores without a method is also an error, and so is a combination of
        ranks with a method.
    """
    prepare, combine_lists = _steps(method, combine)
    if depth is not None and (not isinstance(depth, int) or depth < 1):
        raise UsageError(f"depth must be an integer of at least 1, got {depth!r}")
    if not isinstance(runs, Iterable):
        raise UsageError(f"expected a list of runs, got {runs!r}")
    if isinstance(runs, (str, os.PathLike, Mapping, Run)) or is_frame(runs):
        raise UsageError("expected a list of runs, got one; write [run, run]")
    runs = [_reusable(run) for run in runs]
    if not runs:
        raise UsageError("no runs to merge; name at least one")
    by_topic: dict[str, list[methods.RankedList]] = {}
    for run in map(as_run, runs):
        for topic, ranked_list in prepare(run).lists.items():
            by_topic.setdefault(topic, []).append(ranked_list)
    merged = Run.of_lists(
        ((topic, *combine_lists(lists)) for topic, lists in by_topic.items()), "the merged run"
    )
    return _in_form_of(runs[0], sort_run(merged, depth))


def _steps(method: str | None, combine: str) -> tuple[Prepare, Combine]:
    """Return the function to prepare each run, and the function to combine a topic's lists."""
    look_up(combine, {**methods.COMBINE, **methods.BY_RANK}, "combination")
    if combine in methods.BY_RANK:
        if method is not None:
            raise UsageError(f"{combine} combines ranks; leave out {method!r} (--normalize)")
        return sort_run, partial(methods.combine_ranks, combination=methods.BY_RANK[combine])
    if method is None:
        raise UsageError(
            f"{combine} needs normalized scores; add a method (--normalize) of "
            f"{', '.join(methods.METHODS)}, or combine ranks ({', '.join(methods.BY_RANK)})"
        )
    look_up(method, methods.METHODS, "method")
    return (
        partial(methods.normalize_run, method=method),
        partial(methods.combine_scores, combination=methods.COMBINE[combine]),
    )


def runs_without_common_topics(runs: Iterable[Run]) -> list[str]:
    """Return the names of runs that share no topic with any other run.

    For a single run, the list is empty.
    """
    runs = list(runs)
    n_runs = Counter(topic for run in runs for topic in run.topics)
    alone = [run.name for run in runs if all(n_runs[topic] == 1 for topic in run.topics)]
    return alone if len(runs) > 1 else []


def _reusable(run: Any) -> Any:
    """Convert an iterator to a list, so that the run can be read twice."""
    if isinstance(run, Iterator) and not hasattr(run, "read"):
        return list(run)
    return run


def _in_form_of(given: Any, run: Run) -> Any:
    """Return a run in the form of ``given``: a DataFrame, a dict, a list of rows or a Run."""
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
