"""The user's call for several collections, :func:`compare`, which links them if asked to."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
from ir_measures.measures import Measure

from ir_std.errors import UsageError, suggestion, warn_caller
from ir_std.evaluation.api import companions
from ir_std.evaluation.inputs import judgments_for, read_input
from ir_std.evaluation.parallel import Progress
from ir_std.evaluation.plans import match_factors
from ir_std.evaluation.residual import EarlierDocuments
from ir_std.measures import Measures, Standardized, as_measures, parse_measure
from ir_std.reporting.comparison import Comparison
from ir_std.reporting.effects import SUMMARIES
from ir_std.reporting.part import LinkedPair, Part, link_collections
from ir_std.reporting.results import evaluate
from ir_std.schemes import scheme_names
from ir_std.scores.run_scores import RunScores
from ir_std.trec.inputs import as_qrels
from ir_std.trec.qrels import Qrels


def compare(
    entries: Iterable[tuple[str, Any, Any]],
    measures: Measures | None = None,
    schemes: str | Iterable[str] = "N",
    *,
    anchors: Sequence[str] = (),
    reference: str | None = None,
    random_effects: str = "pm",
    depth: int | None = None,
    residual: bool = False,
    jobs: int | None = 1,
    progress: Progress = iter,
) -> Comparison:
    """Evaluate one or several systems over several collections.

    Parameters
    ----------
    entries : iterable of (str, run, qrels)
        A system's name and its run on one collection.  The same name with several qrels is one
        system on several collections.  Runs and qrels in any form that :func:`evaluate` takes;
        the qrels are None for scores that another program computed.
    measures : Measure, str or iterable of them, optional
        If not given, the factor sets' default measures that all collections have factors for.
    schemes : str or iterable of str
    anchors : sequence of str
        Systems among these that ran on all collections: standardized scores are linked by them to
        one scale, see :mod:`ir_std.analysis.linking`.
    reference : str, optional
        The collection on whose scale they are put, if there are anchors; for each measure the one
        with the strongest standardizing systems if not given.
    random_effects : {'pm', 'reml'}
        How a summary of differences from a baseline estimates their variance between collections:
        by Paule and Mandel or by restricted maximum likelihood, see
        :func:`ir_std.analysis.effects.random_effects`.
    depth : int, optional
        As for :func:`evaluate`.
    residual : bool
        As for :func:`evaluate`, on the residual ones of the collections.
    jobs : int, optional
        Number of processes for the runs of a collection; with None it is chosen automatically.
    progress : callable
        Wraps the iterable of evaluations of each collection, as ``tqdm.tqdm`` does.

    Raises
    ------
    UsageError
        If there is no entry, an entry has no qrels, a system has two runs on a collection, no
        measure has factors on all collections, or the anchors cannot link these.
    InputError
        If a run or qrels cannot be used.

    Examples
    --------
    >>> comparison = ir_std.compare([("bm25", "bm25.run", "qrels.txt"),
    ...                              ("bm25", "dl20.run", "dl20.txt")], "nDCG@10")
    >>> print(comparison.table().text())
    system  collection    topics  nDCG@10                snDCG@10
    -------------------------------------------------------------
    bm25    trec8-adhoc   50       0.6618  0.6964 ...
    bm25    dl20-passage  54       0.8155  0.7229 ...
    bm25    all of these  104           -  0.7096 ...
    """
    if random_effects not in SUMMARIES:
        raise UsageError(
            f"unknown random effects {random_effects!r}: allowed are {', '.join(SUMMARIES)}"
        )
    entries = list(entries)
    if not entries:
        raise UsageError("nothing to compare: give at least one NAME=RUN:QRELS")
    if not all(isinstance(entry, (tuple, list)) and len(entry) == 3 for entry in entries):
        raise UsageError(
            "entries to compare are a list of (name, run, qrels): "
            "[('bm25', 'bm25.run', 'qrels.txt'), ...]"
        )
    entries = _with_counted_topics(entries)
    collections: dict[object, Qrels] = {}
    for _, _, qrels in entries:
        if _key(qrels) not in collections:
            collections[_key(qrels)] = as_qrels(qrels)
    wanted = as_measures(measures or ()) or _default_measures(
        entries, collections.values(), scheme_names(schemes)
    )
    names = _collection_names(collections)
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
            depth=depth,
            residual=key in residual_keys,
            jobs=jobs,
            progress=progress,
        )
        for key, by_name in runs.items()
    }
    parts = [
        Part(system, names[key], results[key])
        for system, key in dict.fromkeys((s, _key(qrels)) for s, _, qrels in entries)
    ]
    comparison = Comparison(
        tuple(parts), _with_companions(wanted, parts), random_effects=random_effects
    )
    if not anchors and reference is None:
        return comparison
    if not anchors:
        raise UsageError(f"reference {reference} without an anchor: name a system to link by")
    by = [anchors] if isinstance(anchors, str) else list(dict.fromkeys(anchors))
    linked = link_comparison(comparison, by, reference)
    warn_caller(text for links in linked.links.values() for text in links.warnings)
    return linked


def _residual(collections: Mapping[object, Qrels]) -> set[object]:
    """The residual ones of the collections.

    Raises
    ------
    UsageError
        If there is none.
    """
    matches = {key: match_factors(qrels) for key, qrels in collections.items()}
    residual = {key for key, m in matches.items() if m.factors and m.factors.earlier}
    if not residual:
        EarlierDocuments(matches.values(), take_out=True)
    return residual


def _with_counted_topics(entries: list[tuple[str, Any, Any]]) -> list[tuple[str, Any, Any]]:
    """The entries, with the topics and counts that scores hold where qrels are None.

    Scores that have topics in common, with the same counts, are of the same collection.
    """
    read = [
        (name, read_input(run) if qrels is None else run, qrels) for name, run, qrels in entries
    ]
    groups: list[list[RunScores]] = []
    for _, run, qrels in read:
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
        for topics in [judgments_for(group, None)]
        for run in group
    }
    return [(name, run, counted[id(run)] if qrels is None else qrels) for name, run, qrels in read]


def _same_collection(one: RunScores, other: RunScores) -> bool:
    shared = set(one.topics) & set(other.topics)
    return (
        bool(shared)
        and one.unit == other.unit
        and all(one.n_rel.get(t) == other.n_rel.get(t) for t in shared)
    )


def _default_measures(
    entries: Iterable[tuple[str, Any, Any]], collections: Iterable[Qrels], schemes: Sequence[str]
) -> list[Measure]:
    """The measures that all collections have factors for and all given scores hold."""
    scores = [run for _, run, _ in entries if isinstance(run, RunScores)]
    common = _common_measures(collections, schemes)
    if not scores:
        return common
    return [m for m in common if all(m in one.values for one in scores)] or [
        m for m in scores[0].values if all(m in one.values for one in scores)
    ]


def _with_companions(wanted: Iterable[Measure], parts: Sequence[Part]) -> tuple[Measure, ...]:
    """Each wanted measure, and behind it all companions that some collection has."""
    known = dict.fromkeys(m for part in parts for m in part.results.measures)
    return tuple(
        dict.fromkeys(
            m
            for measure in wanted
            for m in (
                measure,
                *(s for s in known if isinstance(s, Standardized) and s.base == measure),
            )
        )
    )


def _key(qrels: Any) -> object:
    return os.fspath(qrels) if isinstance(qrels, (str, os.PathLike)) else id(qrels)


def _collection_names(collections: Mapping[object, Qrels]) -> dict[object, str]:
    """The name of each collection: its factor set's or data set's, else its file's.

    Where several have the same set the file's name is added; equal names are numbered.
    """
    fits = {key: match_factors(qrels).fit for key, qrels in collections.items()}
    known = {key: (fit.dataset or fit.factors.id) if fit else None for key, fit in fits.items()}
    count = Counter(known.values())
    names: dict[object, str] = {}
    for key, qrels in collections.items():
        name, file = known[key], os.path.basename(qrels.name)
        if name is None:
            name = file
        elif count[name] > 1:
            name = f"{name} ({file})"
        taken = sum(other.startswith(name) for other in names.values())
        names[key] = f"{name} {taken + 1}" if name in names.values() else name
    return names


def _common_measures(collections: Iterable[Qrels], schemes: Sequence[str]) -> list[Measure]:
    """The default measures of the collections' factor sets that all of them can standardize.

    Raises
    ------
    UsageError
        If there is none.
    """
    matches = [(match_factors(qrels), qrels) for qrels in collections]
    candidates = dict.fromkeys(
        parse_measure(name)
        for match, _ in matches
        if match.factors
        for name in match.factors.default_measures
    )
    common = [
        m
        for m in candidates
        if all(
            len(companions([m], match, qrels, schemes)[0]) == 1 + len(schemes)
            for match, qrels in matches
            if match.factors
        )
    ]
    if not common:
        raise UsageError("no measure has factors in every one of these collections: name measures")
    return common


MOST_PAIRS = 20
"""With more pairs of means than this only those of one system with itself are compared."""


def link_comparison(
    comparison: Comparison, anchors: Sequence[str], reference: str | None = None
) -> Comparison:
    """The comparison on one scale: each collection is linked to the reference by anchors.

    Parameters
    ----------
    anchors : sequence of str
        Systems that ran on every collection.
    reference : str, optional
        The collection on whose scale scores are put; for each measure the one with the
        strongest standardizing systems if not given.

    Raises
    ------
    UsageError
        If an anchor or the reference is not there, an anchor lacks a collection, collections
        are of the same topics, or the anchors cannot link them.
    """
    _check_linkable(comparison, anchors, reference)
    links = {}
    for measure in comparison.measures:
        if isinstance(measure, Standardized) and all(
            measure in part.results.plans for part in comparison.parts
        ):
            z = {
                collection: np.stack(
                    [comparison.part(a, collection).z(measure) for a in anchors], 1
                )
                for collection in comparison.collections
            }
            links[measure] = link_collections(measure, z, anchors, reference)
    if not links:
        raise UsageError("nothing to link: no standardized measure is known on all collections")
    parts = tuple(replace(part, links=links) for part in comparison.parts)
    return replace(comparison, parts=parts, links=links)


def _check_linkable(comparison: Comparison, anchors: Sequence[str], reference: str | None) -> None:
    if len(comparison.collections) < 2:
        raise UsageError(
            f"there is nothing to link: {comparison.collections[0]} is the only collection"
        )
    for name, what, known in (
        *((a, "system, to link by,", comparison.systems) for a in anchors),
        *([(reference, "collection", comparison.collections)] if reference else []),
    ):
        if name not in known:
            raise UsageError(
                f"no {what} is called {name!r}: there are {', '.join(known)}"
                f"{suggestion(name, known)}"
            )
    for anchor in anchors:
        missing = set(comparison.collections) - {p.collection for p in comparison.parts_of(anchor)}
        if missing:
            raise UsageError(
                f"the anchor {anchor} has no run on {', '.join(sorted(missing))}: an anchor "
                "links the collections that it ran on, give its runs on all of them"
            )
    if set(comparison.systems) <= set(anchors):
        raise UsageError(
            f"{', '.join(comparison.systems)}: all systems are anchors, and nothing is left to "
            "compare: anchors have the same mean everywhere by definition"
        )
    for (a, b), shared in comparison.overlaps.topics.items():
        if (a, b) in comparison.overlaps.relabelled:
            raise UsageError(
                f"{a} and {b} are the same topics under different labels, which need no link: "
                "scores by the factors of each are relative to the same systems (ir_std agree)"
            )
        if shared:
            raise UsageError(
                f"{a} and {b} share {shared} topics, which need no link: standardize both by "
                "the same set (--factors)"
            )


def linked_pairs(comparison: Comparison) -> list[LinkedPair]:
    """The differences of linked means across collections, with intervals.

    Of all systems that are no anchors; of many only each system from itcomparison.
    """
    found = []
    for measure, links in comparison.links.items():
        parts = [p for p in comparison.parts if p.system not in links.anchors]
        pairs = [(a, b) for a, b in combinations(parts, 2) if a.collection != b.collection]
        if len(pairs) > MOST_PAIRS:
            pairs = [(a, b) for a, b in pairs if a.system == b.system]
        found += [
            LinkedPair(
                (a.system, a.collection),
                (b.system, b.collection),
                links.measure,
                links.difference((a.collection, a.z(measure)), (b.collection, b.z(measure))),
            )
            for a, b in pairs
        ]
    return found
