"""Evaluate systems on several collections, and link the collections by anchors."""

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from ir_std.analysis.paired import Procedure
from ir_std.errors import UsageError, look_up, warn_caller
from ir_std.evaluation.api import SystemsSelection, select_factors
from ir_std.evaluation.evaluation import ByMeasure
from ir_std.evaluation.evaluator import Progress
from ir_std.evaluation.inputs import BEST, ScoresOfSystem, best_system, resolve, resolve_qrels
from ir_std.evaluation.plans import add_standardized, match_factors
from ir_std.evaluation.run_messages import EarlierDocuments
from ir_std.factors.schema import parse_set_measure
from ir_std.measures import Measure, Measures, Standardized, as_measures
from ir_std.reporting.difference import run_differences
from ir_std.reporting.evaluated_collection import collection_names
from ir_std.reporting.links import check_linkable, link_collections
from ir_std.reporting.model import Results
from ir_std.reporting.results import evaluate
from ir_std.reporting.sentences import why_not_linked
from ir_std.schemes import scheme_names
from ir_std.scores.run_scores import RunScores
from ir_std.trec import Qrels, as_qrels


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
        A system's name and its run on one collection.  Entries with the same name and different
        qrels are one system on several collections.  Runs and qrels can have any form that
        :func:`evaluate` accepts.  Pass None as the qrels of a system of a factor set, and of scores
        that another program computed.  A fourth item is the collection's label in tables and plots.
    measures : Measure, str or iterable of them, optional
        Measures to compute.  By default, each default measure that has factors on all
        collections.
    schemes, systems
        As for :func:`evaluate`, on every collection.  With ``systems="modern"``, the same systems
        standardize DL 2019 and DL 2020, so their scores are comparable without a link.
    anchors : str or sequence of str
        Systems that ran on all collections.  These link standardized scores to one scale; see
        :mod:`ir_std.analysis.linking`.
    reference : str, optional
        All scores are converted to the scale of this collection.  By default, each measure uses the
        collection with the strongest reference systems.
    same_systems : bool
        True if you know that each name stands for the same program on all collections.  Linked
        intervals are then narrower; see :func:`ir_std.analysis.link`.
    depth, lower_is_better
        As for :func:`evaluate`.
    residual : bool
        See :func:`evaluate`.  The option affects only residual collections.
    jobs : int, optional
        Number of processes for the runs of a collection; if None, ir_std chooses the number.
    progress : callable
        Function that wraps the iterable of evaluations of each collection, as ``tqdm.tqdm`` does.
    baseline : str, optional
        System with which the others are compared.  ``"best"`` adds a run on each collection: the
        reference system with the highest mean for the first measure.
    test, correction, equivalent
        As for :func:`evaluate`, on each collection separately.

    Returns
    -------
    Results

    Raises
    ------
    UsageError
        If there is no entry, an entry has no qrels, a system has two runs on a collection, no
        measure has factors on all collections, the anchors cannot link the collections, or no
        system has the baseline's name.
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
    given = _read_entries(entries)
    collections = {id(entry.qrels): entry.qrels for entry in given}
    wanted = as_measures(measures or ()) or _default_measures(
        given, collections.values(), scheme_names(schemes), systems
    )
    matches = {key: match_factors(qrels) for key, qrels in collections.items()}
    names = collection_names(collections, matches) | _labels(given)
    named = dict.fromkeys(entry.system for entry in given)
    best: dict[str, str] = {}
    if baseline is not None:
        look_up(baseline, {**named, BEST: None}, "baseline")
    if baseline == BEST and BEST not in named:
        for key, qrels in collections.items():
            chosen = best_system(qrels, select_factors(qrels, systems=systems), wanted)
            given.append(_Entry(BEST, chosen, qrels))
            best[names[key]] = chosen.tag
    runs: dict[int, dict[str, Any]] = {}
    for system, run, qrels, _ in given:
        if runs.setdefault(id(qrels), {}).setdefault(system, run) is not run:
            raise UsageError(
                f"two runs on {names[id(qrels)]} are named {system}; give each its own name"
            )
    of_rounds = {key for key, m in matches.items() if m.factors and m.factors.earlier is not None}
    if residual and not of_rounds:
        EarlierDocuments(matches.values(), take_out=True)  # This raises an error that says why.
    results = {
        names[key]: evaluate(
            by_name,
            collections[key],
            wanted,
            schemes,
            systems=systems,
            depth=depth,
            residual=residual and key in of_rounds,
            jobs=jobs,
            progress=progress,
            lower_is_better=lower_is_better,
        )
        for key, by_name in runs.items()
    }
    joined = join_results(results, best, baseline=baseline, procedure=procedure)
    if baseline is not None:
        run_differences(joined)  # Fail now if there is nothing to compare.
    if same_systems and not anchors:
        raise UsageError("same_systems needs linked collections; name the anchors (anchors=)")
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
    """Put results on one scale by linking each collection to the reference collection.

    Parameters
    ----------
    results : Results
    anchors : str or sequence of str
        Names of systems that have a run on every collection.
    reference : str, optional
        All scores are converted to the scale of this collection.  By default, each measure uses the
        collection with the strongest reference systems.
    same_systems : bool
        True if each name is known to stand for the same program on all collections.

    Raises
    ------
    UsageError
        If an anchor or the reference is unknown, an anchor has no run on a collection, collections
        have the same topics, or the anchors cannot link the collections.
    """
    names = (anchors,) if isinstance(anchors, str) else tuple(dict.fromkeys(anchors))
    check_linkable(results, names, reference)
    if reason := why_not_linked(results.overlaps):
        raise UsageError(reason)
    links = {
        m: link_collections(results, m, names, reference, same_systems)
        for m in results.measures
        if isinstance(m, Standardized)
        and all(m in each.plans for each in results.collections.values())
    }
    if not links:
        raise UsageError("nothing to link; no standardized measure has factors on all collections")
    return replace(results, links=ByMeasure(links))


class _Entry(NamedTuple):
    """Run of a system on one collection, with an optional label of the collection."""

    system: str
    run: Any
    qrels: Qrels
    label: str | None = None


def _read_entries(entries: Iterable[tuple[Any, ...]]) -> list[_Entry]:
    """Read qrels and scores, and find qrels for the entries that have none.

    For a system of a factor set, the given qrels that match the set are used.  Otherwise, the
    topics and counts in the scores are used instead of qrels.
    """
    given = list(entries) if isinstance(entries, Iterable) else [()]
    if not given:
        raise UsageError("nothing to compare; pass at least one NAME=RUN:QRELS")
    if not all(isinstance(entry, (tuple, list)) and len(entry) in (3, 4) for entry in given):
        raise UsageError(
            "expected a list of (name, run, qrels), such as [('bm25', 'bm25.run', 'qrels.txt')]"
        )
    named = {_key(qrels): qrels for _, _, qrels, *_ in given if qrels is not None}
    judgments = {key: as_qrels(qrels) for key, qrels in named.items()}
    runs = [run if qrels is not None else resolve(run) for _, run, qrels, *_ in given]
    judged = [
        judgments.get(_key(qrels)) or _qrels_of_set(run, judgments.values())
        for run, (_, _, qrels, *_) in zip(runs, given, strict=True)
    ]
    groups: list[list[RunScores]] = []
    for run in (run for run, qrels in zip(runs, judged, strict=True) if qrels is None):
        if not isinstance(run, RunScores):
            raise UsageError(f"missing qrels for {run.name}; pass NAME=RUN:QRELS")
        group = next((g for g in groups if _same_collection(g[0], run)), None)
        if group is None:
            groups.append(group := [])
        group.append(run)
    counted: dict[int, Qrels] = {}
    for group in groups:
        counted |= dict.fromkeys(map(id, group), resolve_qrels(group, None))
    return [
        _Entry(name, run, qrels or counted[id(run)], *label)
        for (name, _, _, *label), run, qrels in zip(given, runs, judged, strict=True)
    ]


def _key(qrels: Any) -> object:
    return os.fspath(qrels) if isinstance(qrels, (str, os.PathLike)) else id(qrels)


def _qrels_of_set(run: Any, judgments: Iterable[Qrels]) -> Qrels | None:
    """Find the qrels that match the factor set of a system; None for other runs."""
    if isinstance(run, ScoresOfSystem) and run.factors:
        for qrels in judgments:
            factors = match_factors(qrels).factors
            if factors and factors.judgments == run.factors.judgments:
                return qrels
    return None


def _same_collection(one: RunScores, other: RunScores) -> bool:
    """Check whether two runs have common topics whose counts do not contradict.

    A count is the number of a topic's relevant documents.
    """
    shared = set(one.topics) & set(other.topics)
    counts = [(one.n_rel.get(topic), other.n_rel.get(topic)) for topic in shared]
    return (
        bool(shared)
        and one.unit == other.unit
        and all(None in pair or pair[0] == pair[1] for pair in counts)
    )


def _labels(entries: Iterable[_Entry]) -> dict[int, str]:
    """Collect the labels that the entries give to collections.

    Raises
    ------
    UsageError
        If a collection has two labels, or two collections have the same label.
    """
    named: dict[int, str] = {}
    for _, _, qrels, label in entries:
        if label is not None and named.setdefault(id(qrels), label) != label:
            raise UsageError(f"one collection has two labels, {named[id(qrels)]} and {label}")
    twice = [label for label, n in Counter(named.values()).items() if n > 1]
    if twice:
        raise UsageError(f"two collections have the label {twice[0]}; give each its own")
    return named


def _default_measures(
    entries: Iterable[_Entry],
    collections: Iterable[Qrels],
    schemes: Sequence[str],
    systems: SystemsSelection,
) -> list[Measure]:
    """Return the default measures that all sets can standardize and all given scores have.

    Raises
    ------
    UsageError
        If no measure has factors on all collections.
    """
    matches = [(select_factors(qrels, systems=systems), qrels) for qrels in collections]
    candidates: dict[Measure, None] = {}
    for match, _ in matches:
        names = match.factors.default_measures if match.factors else ()
        candidates |= dict.fromkeys(map(parse_set_measure, names))

    def has_factors(m: Measure) -> bool:
        plans = (
            add_standardized([m], each, q, schemes).plans for each, q in matches if each.factors
        )
        return all(len(made) == len(schemes) for made in plans)

    common = list(filter(has_factors, candidates))
    if not common:
        raise UsageError("no measure has factors on all of these collections; name measures")
    scores = [entry.run for entry in entries if isinstance(entry.run, RunScores)]
    return [m for m in common if all(m in one.values for one in scores)] or [
        m for m in scores[0].values if all(m in one.values for one in scores)
    ]


def join_results(each: Mapping[str, Results], best: Mapping[str, str], **options: Any) -> Results:
    """Join the results of single collections; the keys are the names of the collections.

    For each collection, the mapping ``best`` has the name of the reference system that was
    evaluated as the run ``best``.
    """
    return Results(
        {n: replace(r.collection, name=n, best=best.get(n, "")) for n, r in each.items()},
        {n: scored for n, r in each.items() for scored in r.evaluations.values()},
        **options,
    )
