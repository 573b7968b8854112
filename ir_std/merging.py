"""Merging ranked lists of different engines or shards, by scores on a common scale or by ranks.

The six linear methods of Markov, Arampatzis and Crestani, "Unsupervised linear score
normalization revisited" (SIGIR 2012).  None needs training, and each looks at one list at a
time, the scores ``s`` of one run on one topic:

======  =====================  ===========================================================
name    a score becomes        recommended by the paper for
======  =====================  ===========================================================
minmax  (s-min)/(max-min)      most settings
max     s/max                  the same, and often better; scores that start at 0
mmstdv  sd*(s-min)/(max-min)   long lists of many sources, if one kind of engine scored them
uv      s/sd                   short lists; scores that start at 0
zscore  (s-mean)/sd            short lists
sum     (s-min)/sum(s-min)     seldom
======  =====================  ===========================================================

``sd`` is the standard deviation of the list itself, so divided by n, not n-1.  ``mmstdv`` puts
lists that spread before others; since ``sd`` is in the units of the scores, of two engines that
one wins whose scores are larger numbers.  By ``uv`` a list wins whose scores are nearly equal.

Three combinations look at ranks, not at scores, and take no method:

=========  =====================================================================================
name       a document gets
=========  =====================================================================================
rrf        the sum of 1/(60+rank) over the lists that have it: reciprocal rank fusion (Cormack,
           Clarke and Büttcher, SIGIR 2009)
borda      of each list n points for the first of the n documents of all lists, n-1 for the
           second, ...; those that a list lacks share what it has left (Aslam and Montague, SIGIR
           2001)
condorcet  a place before those that more lists rank behind it than before it (Montague and
           Aslam, CIKM 2002); a list ranks what it has before what it lacks
=========  =====================================================================================

Decided for the edges:

- A list whose scores are all equal, such as a list of one document, says nothing of its
  documents: they get 0 (the middle of a list by ``zscore``, its end by the others), but 1 by
  ``max``, which asks for no spread.
- Negative scores, such as log-probabilities, are like any others to ``minmax``, ``zscore``,
  ``sum`` and ``mmstdv``, which look at differences only.  ``max`` and ``uv`` take 0 to be the
  lowest score that an engine can give.  Where the highest score of a list is 0 or below,
  ``max`` refuses, naming the topic; else negative scores stay negative.  ``uv`` divides them
  as it does others, but the 0 of a list of equal scores then stands above all: prefer
  ``zscore``.
- ``zscore`` gives negative scores to about half of every list; ``max`` and ``uv`` keep negative
  ones negative.  There CombMNZ pulls down what it should raise: of documents that are alike below
  the mean of their lists, the one that most lists have comes last.  Use CombMNZ with ``minmax``,
  ``mmstdv`` or ``sum``, whose scores start at 0.
- Scores that are NaN or infinite, and a document twice in a list, are refused.
- A topic that only some runs have is merged from those.
- Ranks are those of trec_eval: by score as 32-bit float, ties by id descending.
- Where as many lists rank the one document first as the other, Borda points decide for
  ``condorcet``, then ids.  Such preferences may go round in a circle: then the documents of the
  circle stand together, and each is preferred to the next.
- No document of a list passes another, and none of the results is NaN, whatever the scores;
  those that differ in their last places may become equal.  A result that no 64-bit float can
  hold, such as -1e308 / 1e-300 by ``max``, is refused.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cmp_to_key, partial
from itertools import chain
from operator import lt
from typing import Any, TypeAlias

import numpy as np
from ir_measures import ScoredDoc

from ir_std._arrays import Floats, Ints
from ir_std.errors import InputError, UsageError, look_up
from ir_std.trec.frames import as_frame, column_values, frame_like, is_frame, with_values
from ir_std.trec.inputs import as_run
from ir_std.trec.ranking import sort_run
from ir_std.trec.runs import DictRun, Run

List: TypeAlias = tuple[list[str], Floats]
"""Documents and their scores."""
Join: TypeAlias = Callable[[list[List]], List]


def minmax(scores: Floats) -> Floats:
    """``(s - min) / (max - min)``: from 0 for the last document to 1 for the first.

    Parameters
    ----------
    scores : ndarray, shape (n,)
        The finite scores of one list, n at least 1; so for all methods.

    Returns
    -------
    ndarray, shape (n,)
    """
    above = _above_lowest(_scaled(scores)[0])
    return _ratio(above, above.max())


def by_sum(scores: Floats) -> Floats:
    """``(s - min) / sum(s - min)``: the scores of a list add up to 1."""
    position = minmax(scores)
    return _ratio(position, position.sum())


def zscore(scores: Floats) -> Floats:
    """``(s - mean) / sd``: mean 0 and variance 1."""
    position = minmax(scores)
    return _ratio(position - position.mean(), position.std())


def by_max(scores: Floats) -> Floats:
    """``s / max``, for a maximum above 0: :func:`minmax` with 0 as the lowest score."""
    with np.errstate(over="ignore"):  # an infinite score is refused later, like any other
        return _ratio(scores, scores.max())


def mmstdv(scores: Floats) -> Floats:
    """``sd * (s - min) / (max - min)``: :func:`minmax`, more for a list that spreads."""
    scaled, exponent = _scaled(scores)
    unscaled: Floats = np.ldexp(minmax(scaled) * _above_lowest(scaled).std(), exponent)
    return unscaled


def uv(scores: Floats) -> Floats:
    """``s / sd``: unit variance; :func:`zscore` without the shift to mean 0."""
    scaled, _ = _scaled(scores)
    return _ratio(scaled, _above_lowest(scaled).std())


def _ratio(values: Floats, size: float) -> Floats:
    """``values / size``, and 0 where that is 0: in a list without spread."""
    return values / float(size) if size else np.zeros_like(values)


def _scaled(scores: Floats) -> tuple[Floats, int]:
    """Scores of at most 1 and the power of 2 that was divided by: no difference overflows."""
    exponent = int(np.frexp(np.abs(scores).max())[1])
    return np.ldexp(scores, -exponent), exponent


def _above_lowest(scores: Floats) -> Floats:
    """``s - min``: the deviation of close scores is more exact without what they share."""
    above: Floats = scores - scores.min()
    return above


@dataclass(frozen=True)
class Method:
    """A way to normalize: its name, its formula, and whether the maximum must be above 0."""

    name: str
    formula: Callable[[Floats], Floats]
    needs_positive: bool = False


METHODS: dict[str, Method] = {
    m.name: m
    for m in (
        Method("minmax", minmax),
        Method("max", by_max, needs_positive=True),
        Method("mmstdv", mmstdv),
        Method("uv", uv),
        Method("zscore", zscore),
        Method("sum", by_sum),
    )
}
"""The methods by name."""


def _total(place: Ints, scores: Floats, n: int) -> Floats:
    return np.bincount(place, scores, n).astype(float)


def _first(place: Ints, scores: Floats, n: int) -> Floats:
    first = np.empty(n)
    first[place[::-1]] = scores[::-1]
    return first


def _highest(place: Ints, scores: Floats, n: int) -> Floats:
    highest = np.full(n, -np.inf)
    np.maximum.at(highest, place, scores)
    return highest


COMBINE: dict[str, Callable[[Ints, Floats, int], Floats]] = {
    "sum": _total,
    "max": _highest,
    "mnz": lambda place, scores, n: _total(place, scores, n) * np.bincount(place, minlength=n),
    "first": _first,
}
"""How the scores of a document in several lists become one: from the index of each score's
document, the scores in the order of the lists, and the number of documents."""


RRF_K = 60
"""What reciprocal rank fusion adds to a rank, as in its paper."""


def _reciprocal_ranks(lists: Sequence[Ints], n: int) -> Floats:
    points = np.zeros(n)
    for places in lists:
        points[places] += 1 / (RRF_K + 1 + np.arange(len(places)))
    return points


def _borda_points(lists: Sequence[Ints], n: int) -> Floats:
    points = np.zeros(n)
    for places in lists:
        given = np.full(n, (n - len(places) + 1) / 2)
        given[places] = n - np.arange(len(places))
        points += given
    return points


def _condorcet_places(lists: Sequence[Ints], n: int) -> Floats:
    ranks = np.full((n, len(lists)), n)
    for i, places in enumerate(lists):
        ranks[places, i] = np.arange(len(places))
    of = ranks.tolist()
    # Ties are decided by these, so that of two documents one is always preferred: any sort then
    # gives a Condorcet path (Montague and Aslam), which tears no circle apart.
    first = np.argsort(-_borda_points(lists, n), kind="stable").tolist()
    place = {document: i for i, document in enumerate(first)}

    def compared(a: int, b: int) -> int:
        majority = sum(map(lt, of[b], of[a])) - sum(map(lt, of[a], of[b]))
        return majority or place[a] - place[b]

    points = np.empty(n)
    points[sorted(first, key=cmp_to_key(compared))] = n - np.arange(n)
    return points


BY_RANK: dict[str, Callable[[Sequence[Ints], int], Floats]] = {
    "rrf": _reciprocal_ranks,
    "borda": _borda_points,
    "condorcet": _condorcet_places,
}
"""The combinations of ranks: from each list's documents in their order, and the number of all."""


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
    formula = look_up(method, METHODS, "method")
    run = _kept(run)
    normalized = _normalized(as_run(run), formula)
    if is_frame(run):
        scores = _as_dict(normalized)
        return with_values(
            run,
            {
                "score": [
                    scores[topic][doc]
                    for topic, doc in zip(
                        column_values(run, "query_id"), column_values(run, "doc_id"), strict=True
                    )
                ]
            },
        )
    return _in_form_of(run, normalized)


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
        How scores are normalized; none where ranks are combined.  See :mod:`ir_std.merging` for
        which to choose, and for all edge cases.
    combine : {'sum', 'max', 'mnz', 'first', 'rrf', 'borda', 'condorcet'}
        What a document in several lists gets of its normalized scores: their sum (CombSUM),
        the highest, the sum times their number (CombMNZ), or that of the first run that has
        it.  A run that does not have it adds nothing: to a sum of scores that can be negative,
        as those of ``zscore`` are, that is more than a low score, and CombMNZ multiplies what is
        negative too (see :mod:`ir_std.merging`).  The last three look at ranks alone.
    depth : int, optional
        Keep this many documents a topic.

    Returns
    -------
    dict, DataFrame, list of ScoredDoc, or Run
        What the first of ``runs`` is: a DataFrame with the columns query_id, doc_id and score;
        an iterable gives a list; a file gives a dict.  Topics are in the order in which they
        come up, documents in trec_eval's: by score as 32-bit float, ties by id descending.

    Raises
    ------
    InputError
        If a run cannot be used, or ``max`` meets a list without a score above 0.
    UsageError
        If there is no such method or combination, no run, or ``depth`` is below 1; or a method
        is missing, or given where ranks are combined.
    """
    prepared, together = _steps(method, combine)
    if depth is not None and depth < 1:
        raise UsageError(f"depth is {depth}, and must be at least 1")
    if isinstance(runs, (str, os.PathLike, Mapping, Run)) or is_frame(runs):
        raise UsageError("merging takes a list of runs, and this is one: write [run, run]")
    runs = [_kept(run) for run in runs]
    if not runs:
        raise UsageError("no runs to merge: name at least one")
    lists: dict[str, list[List]] = {}
    for run in map(as_run, runs):
        for topic, one in prepared(run).lists.items():
            lists.setdefault(topic, []).append(one)
    merged = DictRun.from_lists(
        ((topic, *together(parts)) for topic, parts in lists.items()), "the merged run"
    )
    return _in_form_of(runs[0], sort_run(merged, depth))


def _steps(method: str | None, combine: str) -> tuple[Callable[[Run], Run], Join]:
    """What is done with each run, and then with the lists of a topic."""
    known: dict[str, object] = {**COMBINE, **BY_RANK}
    look_up(combine, known, "combination")
    if combine in BY_RANK:
        if method is not None:
            raise UsageError(
                f"{combine} looks at ranks, not at scores: leave out {method!r} (--normalize)"
            )
        return sort_run, partial(_merged_ranks, combined=BY_RANK[combine])
    if method is None:
        raise UsageError(
            f"{combine} combines scores, which must be on one scale: give a method "
            f"(--normalize) of {', '.join(METHODS)}; or combine ranks: "
            f"{', '.join(BY_RANK)}"
        )
    return (
        partial(_normalized, method=look_up(method, METHODS, "method")),
        partial(_merged, combined=COMBINE[combine]),
    )


def runs_without_common_topics(runs: Iterable[Run]) -> list[str]:
    """The names of those of several runs that have no topic in common with another."""
    runs = list(runs)
    count = Counter(topic for run in runs for topic in run.topics)
    return [
        run.name for run in runs if len(runs) > 1 and all(count[topic] == 1 for topic in run.topics)
    ]


def _normalized(run: Run, method: Method) -> Run:
    return DictRun.from_lists(
        (
            (topic, docs, _apply(method, scores, topic, run.name))
            for topic, (docs, scores) in run.lists.items()
        ),
        run.name,
    )


def _apply(method: Method, scores: Floats, topic: str, name: str) -> Floats:
    if not len(scores):
        return scores
    if method.needs_positive and not scores.max() > 0:
        raise InputError.at(
            name,
            None,
            f"the highest score of topic {topic} is {scores.max()}",
            f"{method.name} divides by it and needs it to be above 0: use minmax or zscore",
        )
    return method.formula(scores)


def _merged(parts: list[List], combined: Callable[[Ints, Floats, int], Floats]) -> List:
    """The documents of several lists, each once, and their combined scores."""
    index: dict[str, int] = {}
    place = np.array(
        [
            index.setdefault(doc, len(index))
            for doc in chain.from_iterable(docs for docs, _ in parts)
        ],
        np.int64,
    )
    scores = np.concatenate([scores for _, scores in parts])
    return list(index), combined(place, scores, len(index))


def _merged_ranks(parts: list[List], combined: Callable[[Sequence[Ints], int], Floats]) -> List:
    """The documents of several lists in their order, each once, and what they get."""
    # By id, so that documents with equal points are in no order of the runs.
    everything = sorted({doc for docs, _ in parts for doc in docs}, reverse=True)
    index = {doc: i for i, doc in enumerate(everything)}
    lists = [np.array([index[doc] for doc in docs], np.int64) for docs, _ in parts]
    return everything, combined(lists, len(everything))


def _kept(run: Any) -> Any:
    """A run that can be read again: rows as a list, a table that is computed anew as it is now."""
    if isinstance(run, Iterator) and not hasattr(run, "read"):
        return list(run)
    return as_frame(run) if is_frame(run) else run


def _in_form_of(given: Any, run: Run) -> Any:
    if isinstance(given, Run):
        return run
    if isinstance(given, (Mapping, str, os.PathLike)) or hasattr(given, "read"):
        return _as_dict(run)
    rows = [
        ScoredDoc(topic, doc, score)
        for topic, docs in _as_dict(run).items()
        for doc, score in docs.items()
    ]
    if is_frame(given):
        names = ("query_id", "doc_id", "score")
        return frame_like(given, {name: [getattr(row, name) for row in rows] for name in names})
    return rows


def _as_dict(run: Run) -> dict[str, dict[str, float]]:
    return {
        topic: dict(zip(docs, scores.tolist(), strict=True))
        for topic, (docs, scores) in run.lists.items()
    }
