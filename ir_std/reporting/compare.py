"""The user's call for several collections, :func:`compare`, which links them if asked to."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from ir_measures.measures import Measure

from ir_std.analysis.paired import Procedure
from ir_std.errors import UsageError, suggestion, warn_caller
from ir_std.evaluation.api import SystemsSelection, select_factors
from ir_std.evaluation.evaluation import ByMeasure
from ir_std.evaluation.inputs import BEST, ScoresOfSystem, best_system, resolve, resolve_qrels
from ir_std.evaluation.parallel import Progress
from ir_std.evaluation.plans import add_standardized, match_factors
from ir_std.evaluation.run_messages import EarlierDocuments
from ir_std.factors.schema import parse_set_measure
from ir_std.measures import Measures, Standardized, as_measures
from ir_std.reporting.evaluated_collection import collection_names
from ir_std.reporting.links import check_linkable, link_collections
from ir_std.reporting.model import Results, deviations, overlaps_of
from ir_std.reporting.results import evaluate
from ir_std.reporting.sentences.collections import why_not_linked
from ir_std.reporting.summaries import run_differences
from ir_std.schemes import scheme_names
from ir_std.scores.run_scores import RunScores
from ir_std.trec.inputs import as_qrels
from ir_std.trec.qrels import Qrels


def compare(
    entries: Iterable[tuple[Any, ...]],
    measures: Measures | None = None,
    schemes: str | Iterable[str] = "N",
    *,
    systems: SystemsSelection = None,
    anchors: str | Sequence[str] = (),
    reference: str | None = None,
    same_systems: bool = False,
    depth: int | None = None,
    residual: bool = False,
    jobs: int | None = 1,
    progress: Progress = iter,
    lower_is_better: Iterable[str] = (),
    baseline: str | None = None,
    test: str = "t",
    correction: str = "holm",
    equivalent: float | None = None,
) -> Results:
    """Evaluate one or several systems over several collections.

    Parameters
    ----------
    entries : iterable of (str, run, qrels) or (str, run, qrels, str)
        A system's name and its run on one collection.  The same name with several qrels is one
        system on several collections.  Runs and qrels in any form that :func:`evaluate` takes;
        the qrels are None for scores that another program computed, and systems of a set.  A
        fourth is what the collection is to be called in tables and pictures.
    measures : Measure, str or iterable of them, optional
        If not given, the factor sets' default measures that all collections have factors for.
    schemes, systems
        As for :func:`evaluate`, on every collection: with ``"modern"`` DL 2019 and 2020 are
        standardized by the same systems, and compare without a link.
    anchors : str or sequence of str
        Systems among these that ran on all collections: standardized scores are linked by them to
        one scale, see :mod:`ir_std.analysis.linking`.
    reference : str, optional
        The collection on whose scale they are put; for each measure the one with the strongest
        standardizing systems if not given.
    same_systems : bool
        True if you know that each name is the identical program on all collections, which makes
        linked intervals narrower; see :func:`ir_std.analysis.link`.
    depth, lower_is_better
        As for :func:`evaluate`.
    residual : bool
        As for :func:`evaluate`, on residual collections.
    jobs : int, optional
        Number of processes for the runs of a collection; with None it is chosen automatically.
    progress : callable
        Wraps the iterable of evaluations of each collection, like ``tqdm.tqdm``.
    baseline : str, optional
        The system that the others are compared with.  ``"best"`` is added to the systems: on each
        collection the one of its set's systems with the highest mean by the first measure.
    test, correction, equivalent
        As for :func:`evaluate`, on each collection separately.

    Returns
    -------
    Results

    Raises
    ------
    UsageError
        If there is no entry, an entry has no qrels, a system has two runs on a collection, no
        measure has factors on all collections, the anchors cannot link these, or no system has the
        baseline's name.
    InputError
        If a run or qrels cannot be used.

    Examples
    --------
    >>> comparison = ir_std.compare([("bm25", "bm25.run", "qrels.txt"),
    ...                              ("bm25", "dl20.run", "dl20.txt")], "nDCG@10")
    >>> print(comparison)
    system  collection    topics  nDCG@10                snDCG@10
    -------------------------------------------------------------
    bm25    trec8-adhoc   50       0.6618  0.6964 ...
    bm25    dl20-passage  54       0.8155  0.7229 ...
    """
    procedure = Procedure(test, correction, equivalent)
    if not isinstance(entries, Iterable):
        raise UsageError(f"expected a list of (NAME, RUN, QRELS), got {entries!r}")
    labelled = [tuple(e) if isinstance(e, (tuple, list)) else () for e in entries]
    if not labelled:
        raise UsageError("nothing to compare: give at least one NAME=RUN:QRELS")
    if not all(len(entry) in (3, 4) for entry in labelled):
        raise UsageError(
            "entries to compare are a list of (name, run, qrels): "
            "[('bm25', 'bm25.run', 'qrels.txt'), ...]"
        )
    given = {_key(qrels): qrels for _, _, qrels, *_ in labelled if qrels is not None}
    collections = {key: as_qrels(qrels) for key, qrels in given.items()}
    entries = _with_counted_topics(
        [
            (name, *_with_qrels_of_set(run, qrels, given, collections))
            for name, run, qrels, *_ in labelled
        ]
    )
    labels = _labels(entries, [label for entry in labelled for label in (*entry, None)[3:4]])
    for _, _, qrels in entries:
        if _key(qrels) not in collections:
            collections[_key(qrels)] = as_qrels(qrels)
    wanted = as_measures(measures or ()) or _default_measures(
        entries, collections.values(), scheme_names(schemes), systems
    )
    matches = {key: match_factors(qrels) for key, qrels in collections.items()}
    names = collection_names(collections, matches) | labels
    _check_baseline(baseline, [*(name for name, *_ in entries), BEST])
    best: dict[str, str] = {}
    if baseline == BEST and BEST not in (name for name, *_ in entries):
        for key, qrels in {_key(qrels): qrels for *_, qrels in entries}.items():
            selected = select_factors(collections[key], systems=systems)
            entries.append((BEST, best_system(collections[key], selected, wanted), qrels))
            best[names[key]] = entries[-1][1].tag
    runs: dict[object, dict[str, Any]] = {}
    for system, run, qrels in entries:
        if runs.setdefault(_key(qrels), {}).setdefault(system, run) is not run:
            raise UsageError(
                f"two runs of {system} on {names[_key(qrels)]}: give each system a name of its own"
            )
    residual_keys = _residual(collections) if residual else set()
    results = {
        key: evaluate(
            by_name,
            collections[key],
            wanted,
            schemes,
            systems=systems,
            depth=depth,
            residual=key in residual_keys,
            jobs=jobs,
            progress=progress,
            lower_is_better=lower_is_better,
        )
        for key, by_name in runs.items()
    }
    joined = join_results(
        {names[key]: one for key, one in results.items()},
        best,
        baseline=baseline,
        procedure=procedure,
    )
    if baseline is not None:
        run_differences(joined)  # that there is something to compare, before anything is shown
    if same_systems and not anchors:
        raise UsageError("same_systems is about linked collections; name the anchors (anchors=)")
    if not anchors and reference is None:
        return joined
    linked = link_results(joined, anchors, reference, same_systems)
    warn_caller([text for text in linked.warnings if text not in joined.warnings])
    return linked


def link_results(
    results: Results,
    anchors: str | Sequence[str],
    reference: str | None = None,
    same_systems: bool = False,
) -> Results:
    """Put results on one scale: each collection is linked to the reference by anchors.

    Parameters
    ----------
    results : Results
    anchors : str or sequence of str
        Runs that every collection has.
    reference : str, optional
        The collection on whose scale scores are put; if not given, for each measure the one with
        the strongest reference systems.
    same_systems : bool
        True if each name is known to be the identical program on all collections.

    Raises
    ------
    UsageError
        If an anchor or the reference is not there, an anchor lacks a collection, collections
        have the same topics, or the anchors cannot link them.
    """
    names = (anchors,) if isinstance(anchors, str) else tuple(dict.fromkeys(anchors))
    check_linkable(
        {
            run: [name for name, scored in results.evaluations.items() if run in scored]
            for run in results.runs
        },
        names,
        reference,
    )
    if why_not := why_not_linked(overlaps_of(results)):
        raise UsageError(why_not)
    links = {
        m: link_collections(
            m,
            {
                name: np.stack(
                    [deviations(results.on(name), anchor, m) for anchor in names], axis=1
                )
                for name in results.collections
            },
            names,
            reference,
            same_systems,
        )
        for m in results.measures
        if isinstance(m, Standardized)
        and all(m in each.plans for each in results.collections.values())
    }
    if not links:
        raise UsageError("nothing to link: no standardized measure is known on all collections")
    return replace(results, links=ByMeasure(links))


def _residual(collections: Mapping[object, Qrels]) -> set[object]:
    """Find the residual collections.

    Raises
    ------
    UsageError
        If there is none.
    """
    matches = {key: match_factors(qrels) for key, qrels in collections.items()}
    residual = {key for key, m in matches.items() if m.factors and m.factors.earlier is not None}
    if not residual:
        EarlierDocuments(matches.values(), take_out=True)
    return residual


def _with_qrels_of_set(
    run: Any, qrels: Any, given: Mapping[object, Any], collections: Mapping[object, Qrels]
) -> tuple[Any, Any]:
    """Pair a run with its qrels, a set's system with those of its collection."""
    if qrels is not None:
        return run, qrels
    read = resolve(run)
    if isinstance(read, ScoresOfSystem) and read.factors:
        for key, judgments in collections.items():
            factors = match_factors(judgments).factors
            if factors and factors.judgments == read.factors.judgments:
                return read, given[key]
    return read, None


def _with_counted_topics(entries: list[tuple[str, Any, Any]]) -> list[tuple[str, Any, Any]]:
    """Replace missing qrels by the topics and counts that scores hold.

    Scores that have topics in common, with the same counts, belong to the same collection.
    """
    groups: list[list[RunScores]] = []
    for _, run, qrels in entries:
        if qrels is None:
            if not isinstance(run, RunScores):
                raise UsageError(f"no qrels for {run.name}: write NAME=RUN:QRELS")
            group = next((g for g in groups if _same_collection(g[0], run)), None)
            if group is None:
                groups.append(group := [])
            group.append(run)
    counted = {
        id(run): topics
        for group in groups
        for topics in [resolve_qrels(group, None)]
        for run in group
    }
    return [
        (name, run, counted[id(run)] if qrels is None else qrels) for name, run, qrels in entries
    ]


def _same_collection(one: RunScores, other: RunScores) -> bool:
    shared = set(one.topics) & set(other.topics)
    return (
        bool(shared)
        and one.unit == other.unit
        and all(
            None in (pair := (one.n_rel.get(t), other.n_rel.get(t))) or pair[0] == pair[1]
            for t in shared
        )
    )


def _default_measures(
    entries: Iterable[tuple[str, Any, Any]],
    collections: Iterable[Qrels],
    schemes: Sequence[str],
    systems: SystemsSelection,
) -> list[Measure]:
    """Return the measures with factors on all collections that all scores hold."""
    scores = [run for _, run, _ in entries if isinstance(run, RunScores)]
    common = _common_measures(collections, schemes, systems)
    if not scores:
        return common
    return [m for m in common if all(m in one.values for one in scores)] or [
        m for m in scores[0].values if all(m in one.values for one in scores)
    ]


def _check_baseline(baseline: str | None, systems: Iterable[str]) -> None:
    """Check that a system has the baseline's name; UsageError if none has."""
    known = tuple(dict.fromkeys(systems))
    if baseline is not None and baseline not in known:
        raise UsageError(
            f"no system is called {baseline!r}, the baseline; available: "
            f"{', '.join(known)}{suggestion(baseline, known)}"
        )


def _key(qrels: Any) -> object:
    return os.fspath(qrels) if isinstance(qrels, (str, os.PathLike)) else id(qrels)


def _labels(
    entries: Iterable[tuple[str, Any, Any]], labels: Iterable[str | None]
) -> dict[object, str]:
    """Collect the labels of collections.

    Raises
    ------
    UsageError
        If a collection has two labels, or two collections have one.
    """
    named: dict[object, str] = {}
    for (_, _, qrels), label in zip(entries, labels, strict=True):
        if label is not None and named.setdefault(_key(qrels), label) != label:
            raise UsageError(f"one collection is called {named[_key(qrels)]} and {label}")
    twice = [label for label, n in Counter(named.values()).items() if n > 1]
    if twice:
        raise UsageError(f"two collections are called {twice[0]}: give each a label of its own")
    return named


def _common_measures(
    collections: Iterable[Qrels], schemes: Sequence[str], systems: SystemsSelection
) -> list[Measure]:
    """Return the sets' default measures that all of them can standardize.

    Raises
    ------
    UsageError
        If there is none.
    """
    matches = [(select_factors(qrels, systems=systems), qrels) for qrels in collections]
    candidates = dict.fromkeys(
        parse_set_measure(name)
        for match, _ in matches
        if match.factors
        for name in match.factors.default_measures
    )
    common = [
        m
        for m in candidates
        if all(
            len(add_standardized([m], match, qrels, schemes).plans) == len(schemes)
            for match, qrels in matches
            if match.factors
        )
    ]
    if not common:
        raise UsageError("no measure has factors in every one of these collections: name measures")
    return common


def join_results(each: Mapping[str, Results], best: Mapping[str, str], **options: Any) -> Results:
    """Join results of one collection each, by the names of the collections.

    ``best`` is by collection which of its set's systems the run ``best`` is.
    """
    return Results(
        {n: replace(r.collection, name=n, best=best.get(n, "")) for n, r in each.items()},
        {n: scored for n, r in each.items() for scored in r.evaluations.values()},
        **options,
    )
