"""Normalize the scores of runs, and merge runs, by methods for scores or for ranks."""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cmp_to_key, partial
from operator import lt
from typing import Any, TypeAlias

import numpy as np
from ir_measures import ScoredDoc

from ir_std._arrays import Floats, Ints, divide
from ir_std.errors import InputError, UsageError, look_up
from ir_std.trec import Run, as_run, sort_run
from ir_std.trec.frames import RUN_COLUMNS, frame_like, is_frame, is_pandas, names_in, rows_of
from ir_std.trec.qrels import group_by_topic

RankedList: TypeAlias = tuple[list[str], Floats]
"""Documents and their scores."""
ByScore: TypeAlias = Callable[[Ints, Floats, int], Floats]
ByRank: TypeAlias = Callable[[Sequence[Ints], int], Floats]
Prepare: TypeAlias = Callable[[Run], Run]
Combine: TypeAlias = Callable[[list[RankedList]], RankedList]


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
    look_up(method, METHODS, "method")
    run = _reusable(run)
    normalized = normalize_run(as_run(run), method)
    if not is_frame(run):
        return _in_form_of(run, normalized)
    values = np.empty(len(normalized.scores))
    # A run has its lines in the order of the topics.
    values[group_by_topic(rows_of(run, RUN_COLUMNS, "run").topic)] = normalized.scores
    if is_pandas(run):
        return run.assign(score=values)
    return run.with_columns(frame_like(run, {"score": values.tolist()}).get_columns())


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
    by_topic: dict[str, list[RankedList]] = {}
    for run in map(as_run, runs):
        for topic, ranked_list in prepare(run).lists.items():
            by_topic.setdefault(topic, []).append(ranked_list)
    merged = Run.of_lists(
        ((topic, *combine_lists(lists)) for topic, lists in by_topic.items()), "the merged run"
    )
    return _in_form_of(runs[0], sort_run(merged, depth))


def _steps(method: str | None, combine: str) -> tuple[Prepare, Combine]:
    """Return the function to prepare each run, and the function to combine a topic's lists."""
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
    names = names_in(RUN_COLUMNS, lambda name: name in given.columns)
    return frame_like(given, {name: [row[i] for row in rows] for i, name in enumerate(names)})


def _as_dict(run: Run) -> dict[str, dict[str, float]]:
    return {
        topic: dict(zip(docs, scores.tolist(), strict=True))
        for topic, (docs, scores) in run.lists.items()
    }


def minmax(scores: Floats) -> Floats:
    """Compute ``(s - min) / (max - min)``, so the first document gets 1 and the last gets 0.

    Parameters
    ----------
    scores : ndarray, shape (n,)
        Scores of one list.  All methods require at least one score, and only finite scores.

    Returns
    -------
    ndarray, shape (n,)
        Normalized scores.  If all scores are equal, all methods except :func:`by_max` return 0.
    """
    above = _above_lowest(_scaled(scores)[0])
    return divide(above, above.max(), otherwise=0)


def by_sum(scores: Floats) -> Floats:
    """Compute ``(s - min) / sum(s - min)``, so the scores of a list add up to 1."""
    position = minmax(scores)
    return divide(position, position.sum(), otherwise=0)


def zscore(scores: Floats) -> Floats:
    """Compute ``(s - mean) / sd``, so the mean is 0 and the variance is 1."""
    position = minmax(scores)
    return divide(position - position.mean(), position.std(), otherwise=0)


def by_max(scores: Floats) -> Floats:
    """Compute ``s / max`` for a maximum above 0; if the minimum is 0, this is :func:`minmax`."""
    with np.errstate(over="ignore"):  # infinite scores are rejected later
        return divide(scores, scores.max(), otherwise=0)


def mmstdv(scores: Floats) -> Floats:
    """Compute ``sd * (s - min) / (max - min)``, which is :func:`minmax` times ``sd``."""
    scaled, exponent = _scaled(scores)
    unscaled: Floats = np.ldexp(minmax(scaled) * _above_lowest(scaled).std(), exponent)
    return unscaled


def uv(scores: Floats) -> Floats:
    """Compute ``s / sd``, which is :func:`zscore` without the shift to mean 0."""
    scaled, _ = _scaled(scores)
    return divide(scaled, _above_lowest(scaled).std(), otherwise=0)


def _scaled(scores: Floats) -> tuple[Floats, int]:
    """Divide scores by a power of 2 to avoid overflow; return the scores and the exponent."""
    exponent = int(np.frexp(np.abs(scores).max())[1])
    return np.ldexp(scores, -exponent), exponent


def _above_lowest(scores: Floats) -> Floats:
    """Return ``s - min``; if scores are close, this makes their standard deviation more exact."""
    above: Floats = scores - scores.min()
    return above


METHODS: dict[str, Callable[[Floats], Floats]] = {
    "minmax": minmax,
    "max": by_max,
    "mmstdv": mmstdv,
    "uv": uv,
    "zscore": zscore,
    "sum": by_sum,
}
"""Normalization formulas by name."""


def normalize_run(run: Run, method: str) -> Run:
    """Return a run with the scores of each topic normalized.

    Raises
    ------
    InputError
        If the method is ``max`` and the highest score of a topic is not above 0, or if a score is
        infinite before or after normalization.
    """
    lists = [run.scores[a:b] for a, b in run.check_finite().bounds.values() if a < b]
    if method == "max":
        _check_positive(run)
    formula = METHODS[method]
    normalized = np.concatenate([np.zeros(0), *map(formula, lists)])
    return run.with_scores(normalized).check_finite()


def _check_positive(run: Run) -> None:
    for topic, (start, end) in run.bounds.items():
        highest = run.scores[start:end].max(initial=-np.inf)
        if start < end and highest <= 0:
            raise InputError.at(
                run.name,
                f"the highest score of topic {topic} is {highest}",
                "max needs a score above 0, so use minmax or zscore",
            )


def combine_scores(lists: list[RankedList], combination: ByScore) -> RankedList:
    """Return the distinct documents of several lists, and their combined scores."""
    index: dict[str, int] = {}
    documents = [index.setdefault(doc, len(index)) for docs, _ in lists for doc in docs]
    scores = np.concatenate([scores for _, scores in lists])
    return list(index), combination(np.array(documents, np.int64), scores, len(index))


def combine_ranks(lists: list[RankedList], combination: ByRank) -> RankedList:
    """Return the distinct documents of several lists, and the points that their ranks give."""
    # Sort by ID, so that the order of the runs does not affect documents with equal points.
    documents = sorted({doc for docs, _ in lists for doc in docs}, reverse=True)
    index = {doc: i for i, doc in enumerate(documents)}
    rankings = [np.array([index[doc] for doc in docs], np.int64) for docs, _ in lists]
    return documents, combination(rankings, len(documents))


def _total(documents: Ints, scores: Floats, n: int) -> Floats:
    return np.bincount(documents, scores, n).astype(float)


def _highest(documents: Ints, scores: Floats, n: int) -> Floats:
    highest = np.full(n, -np.inf)
    np.maximum.at(highest, documents, scores)
    return highest


def _total_times_lists(documents: Ints, scores: Floats, n: int) -> Floats:
    return _total(documents, scores, n) * np.bincount(documents, minlength=n)


def _first(documents: Ints, scores: Floats, n: int) -> Floats:
    first = np.empty(n)
    first[documents[::-1]] = scores[::-1]
    return first


COMBINE: dict[str, ByScore] = {
    "sum": _total,
    "max": _highest,
    "mnz": _total_times_lists,
    "first": _first,
}
"""Functions that combine the scores of a document in several lists.

The arguments are the index of each score's document, the scores in the order of the lists, and the
number of documents."""


RRF_K = 60
"""Constant that reciprocal rank fusion adds to a rank, as in the original paper."""


def _reciprocal_ranks(rankings: Sequence[Ints], n: int) -> Floats:
    points = np.zeros(n)
    for ranking in rankings:
        points[ranking] += 1 / (RRF_K + 1 + np.arange(len(ranking)))
    return points


def _borda_points(rankings: Sequence[Ints], n: int) -> Floats:
    total = np.zeros(n)
    for ranking in rankings:
        # Each document that the list lacks gets the mean of the remaining points.
        points = np.full(n, (n - len(ranking) + 1) / 2)
        points[ranking] = n - np.arange(len(ranking))
        total += points
    return total


def _condorcet_points(rankings: Sequence[Ints], n: int) -> Floats:
    ranks = np.full((n, len(rankings)), n)
    for i, ranking in enumerate(rankings):
        ranks[ranking, i] = np.arange(len(ranking))
    ranks_of = ranks.tolist()
    # Borda points break ties, so one of two documents is always preferred.  Any sort then gives a
    # Condorcet path (Montague and Aslam), which keeps the documents of a cycle together.
    by_borda = np.argsort(-_borda_points(rankings, n), kind="stable").tolist()
    borda_rank = {document: i for i, document in enumerate(by_borda)}

    def preference(a: int, b: int) -> int:
        majority = sum(map(lt, ranks_of[b], ranks_of[a])) - sum(map(lt, ranks_of[a], ranks_of[b]))
        return majority or borda_rank[a] - borda_rank[b]

    points = np.empty(n)
    points[sorted(by_borda, key=cmp_to_key(preference))] = n - np.arange(n)
    return points


BY_RANK: dict[str, ByRank] = {
    "rrf": _reciprocal_ranks,
    "borda": _borda_points,
    "condorcet": _condorcet_points,
}
"""Functions that combine ranks.

The arguments are the ranked documents of each list, and the number of documents in all lists."""
