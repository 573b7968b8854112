"""Systems over several collections: raw means beside standardized ones, with intervals.

This is what standardization is for (Webber, Moffat and Zobel, SIGIR 2008): raw means of
different collections cannot be compared, standardized ones can.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isnan, nan
from typing import Any

import numpy as np
from ir_measures.measures import Measure

from ir_std._arrays import Floats
from ir_std.analysis.estimate import Estimate, mean_of_estimates
from ir_std.analysis.paired import correction_for
from ir_std.errors import UsageError, suggestion
from ir_std.evaluation.parallel import Progress
from ir_std.measures import Measures, Standardized, as_measures
from ir_std.reporting.collection_names import (
    Overlaps,
    collection_names,
    common_measures,
    find_overlaps,
)
from ir_std.reporting.effects import FEW, Effect, Effects, SystemEffects, count_range
from ir_std.reporting.result_tables import groups_of
from ir_std.reporting.results import Results, evaluate
from ir_std.reporting.tables import Cell, Table, format_number, label_cell, number_cell
from ir_std.schemes import scheme_names
from ir_std.scores.inputs import as_run_or_scores
from ir_std.scores.run_scores import RunScores, counted_topics
from ir_std.trec.inputs import as_qrels
from ir_std.trec.qrels import Qrels

POOLED = "all of these"
"""The collection of a row with the mean of a system's means."""
FEW_SYSTEMS = 40
"""With fewer standardizing systems than this the steps of scheme E are named."""
NOTHING = Estimate(nan, 0, nan, nan)
"""Of a measure without scores."""


@dataclass(frozen=True)
class Part:
    """One system on one collection.

    Attributes
    ----------
    system, collection : str
    results : Results
        Of all systems on this collection.
    """

    system: str
    collection: str
    results: Results

    def values(self, measure: Measure) -> Floats:
        """Scores by topic; NaN where the collection has no such score."""
        by_measure = self.results.values[self.system]
        return by_measure.get(measure, np.full(len(self.results.topics), np.nan))

    @property
    def of_dataset(self) -> bool:
        """Whether the factors are of a whole data set."""
        fit = self.results.match and self.results.match.fit
        return bool(fit and fit.factors.of_datasets)

    @property
    def document_form(self) -> str | None:
        """What the documents' ids look like in the factor set; None without one."""
        factors = self.results.match and self.results.match.factors
        return factors.info.get("doc_id_pattern") if factors else None

    def estimate(self, measure: Measure) -> Estimate:
        """The mean and how sure it is."""
        return self.results.uncertainty[self.system].get(measure, NOTHING)

    def against(self, baseline: str, measure: Measure) -> Effect:
        """The difference from the system that the results of the collection are tested against."""
        if measure not in self.results.measures:
            return Effect(self.collection, NOTHING, nan, nan, nan, nan)
        found = self.results.difference(self.system, baseline, measure)
        other = self.results.values[baseline][measure]
        effect = Effect.of(
            self.collection, self.values(measure) - other, found.systems_error, found.systems_df
        )
        tested = self.results.tests[self.system].get(measure)
        return replace(effect, p=tested.p, p_adjusted=tested.p_adjusted) if tested else effect


@dataclass(frozen=True)
class Comparison:
    """Systems over collections.

    Attributes
    ----------
    parts : tuple of Part
        In the order they were given.
    measures : tuple of Measure
        Each raw one, and behind it its standardized companions.
    """

    parts: tuple[Part, ...]
    measures: tuple[Measure, ...]

    def __repr__(self) -> str:
        return (
            f"<Comparison of {', '.join(self.systems)} on {', '.join(self.collections)}: "
            f"{', '.join(map(str, self.measures))}>"
        )

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems' names, in the order they were given."""
        return tuple(dict.fromkeys(part.system for part in self.parts))

    @property
    def collections(self) -> tuple[str, ...]:
        """The collections' names, in the order they were given."""
        return tuple(dict.fromkeys(part.collection for part in self.parts))

    @property
    def notes(self) -> tuple[str, ...]:
        """Which factors were used, measures without factors, collections that overlap."""
        said = [
            text for part in self.parts for text in (str(part.results.match), *part.results.notes)
        ]
        return tuple(dict.fromkeys([*said, *self.overlaps.notes]))

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was warned of: topics left out, and the like."""
        return tuple(dict.fromkeys(text for part in self.parts for text in part.results.warnings))

    def pooled(self, system: str, measure: Measure) -> Estimate | None:
        """The mean of a system's means on its collections, each of which counts the same.

        None where two of them share topics, which would count twice, or only one has a value.
        """
        found = [e for p in self._of(system) if not isnan((e := p.estimate(measure)).mean)]
        if len(found) < 2 or self.overlaps.of([p.collection for p in self._of(system)]):
            return None
        return mean_of_estimates(found)

    def _of(self, system: str) -> list[Part]:
        return [part for part in self.parts if part.system == system]

    @cached_property
    def overlaps(self) -> Overlaps:
        """Which of the collections share topics or documents."""
        return find_overlaps(
            {p.collection: p.results.evaluator.qrels for p in self.parts},
            {p.collection: p.document_form for p in self.parts},
        )

    def effects(self, baseline: str, test: str = "t", correction: str | None = None) -> Effects:
        """Every other system against a baseline: by collection, and in summary.

        Parameters
        ----------
        baseline : str
            The name of a system.
        test, correction : str, optional
            As for :func:`ir_std.analysis.paired.paired_tests`, on each collection by
            itself.

        Raises
        ------
        UsageError
            If there is no such system, test or correction, or none that has a collection in common
            with it.
        """
        if baseline not in self.systems:
            raise UsageError(
                f"no system is called {baseline!r}, the baseline: there are "
                f"{', '.join(self.systems)}{suggestion(baseline, self.systems)}"
            )
        tested = self.tested(baseline, test, correction)
        own = {p.collection for p in self._of(baseline)}
        across, notes = [], []
        for system in self.systems:
            parts = [p for p in tested._of(system) if p.collection in own]
            if system == baseline or not parts:
                continue
            across += [
                SystemEffects(
                    system,
                    baseline,
                    m,
                    tuple(p.against(baseline, m) for p in parts),
                    self.overlaps.of([p.collection for p in parts]),
                )
                for m in self.measures
            ]
            notes += [
                f"{system} has no run on {c}"
                for c in self.collections
                if c in own and c not in {p.collection for p in parts}
            ]
        if not across:
            raise UsageError(f"no system has a collection in common with {baseline}, the baseline")
        most = max(len(a.effects) for a in across)
        if 1 < most < FEW:
            notes.append(
                f"{most} collections are few: how much a difference varies between "
                f"collections is hardly known from fewer than {FEW}."
            )
        notes += self.overlaps.notes
        if most > 1:
            notes.append(
                "If a system was tuned on one of these collections, leave that "
                "collection out: its difference there is not one on new topics."
            )
        return Effects(baseline, self.measures, tuple(across), tuple(notes), test, correction)

    def tested(self, baseline: str, test: str = "t", correction: str | None = None) -> Comparison:
        """The same, with the systems of each collection tested against a baseline there.

        Raises
        ------
        UsageError
            If there is no such test or correction.
        """
        correction_for(test, correction)
        results = {p.collection: p.results for p in self.parts}
        for name, found in results.items():
            if baseline in found.runs and (found.baseline, found.test, found.correction) != (
                baseline,
                test,
                correction,
            ):
                results[name] = replace(found, baseline=baseline, test=test, correction=correction)
        return replace(
            self, parts=tuple(replace(p, results=results[p.collection]) for p in self.parts)
        )

    def table(self, places: int = 4) -> Table:
        """A row a system and collection; standardized means carry halves of 95 percent intervals.

        A system on several collections has a further row, the mean of its standardized means.
        """
        rows = []
        for system in self.systems:
            parts = self._of(system)
            rows += [
                self._row(
                    system, part.collection, {m: part.estimate(m) for m in self.measures}, places
                )
                for part in parts
            ]
            datasets = all(part.of_dataset for part in parts)
            pooled = {
                m: e
                for m in self.measures
                if (datasets or isinstance(m, Standardized)) and (e := self.pooled(system, m))
            }
            if pooled:
                rows.append(self._row(system, POOLED, pooled, places))
        return Table(
            ("system", "collection", "topics", *map(str, self.measures)),
            tuple(rows),
            3,
            self._table_notes(),
            groups_of(self.measures),
        )

    def _row(
        self, system: str, collection: str, means: Mapping[Measure, Estimate], places: int
    ) -> tuple[Cell, ...]:
        topics = count_range(e.n for e in means.values())
        return (
            label_cell(system),
            label_cell(collection),
            label_cell(topics),
            *(
                estimate_cell(means.get(m, NOTHING), isinstance(m, Standardized), places)
                for m in self.measures
            ),
        )

    def _table_notes(self) -> tuple[str, ...]:
        raw = [str(m) for m in self.measures if not isinstance(m, Standardized)]
        kinds = {part.of_dataset for part in self.parts}
        if kinds == {True}:
            return (
                f"Raw means over data sets ({', '.join(raw)}) are the usual average, which the "
                "data sets with the widest spread decide; standardized ones are relative to "
                "the models on each data set, and count alike.",
            )
        mixed = (
            "Some of these collections have factors of topics, some of whole data sets: means "
            "over both mix what is relative topic by topic with what is relative in the "
            "mean.",
        ) * (len(kinds) > 1)
        return (
            *mixed,
            f"Raw means ({', '.join(raw)}) of different collections cannot be "
            "compared: they tell as much of the topics as of the systems. Standardized means "
            "can, each being relative to the systems that took part in its track.",
            "± halves of 95 percent intervals of the mean: over topics (Student's t), and over "
            f"the systems that the factors come from{self._how_systems()}.",
            *self._steps(),
        )

    def _how_systems(self) -> str:
        """How the systems' part of the intervals was found."""
        found = dict.fromkeys(
            how
            for part in self.parts
            for m in part.results.plans
            if (how := part.results.systems_covariances[m].source)
        )
        return ", " * bool(found) + "; ".join(found)

    def _steps(self) -> tuple[str, ...]:
        """Where a share of systems moves in steps that one can see."""
        few = dict.fromkeys(
            (plan.factors.id, plan.factors.n_systems[plan.name])
            for part in self.parts
            for m, plan in part.results.plans.items()
            if m["scheme"] == "E"
        )
        return tuple(
            f"E on {name} moves in steps of 1/{n}, the share of a system."
            for name, n in few
            if n < FEW_SYSTEMS
        )


def estimate_cell(found: Estimate, standardized: bool, places: int = 4) -> Cell:
    """The mean, and of standardized ones the halves of its intervals."""
    plain = number_cell(found.mean, places)
    if not standardized:
        return plain
    low, high = found.interval
    halves = [
        f" ±{format_number(half, places)}"
        for half in (found.topics, found.systems)
        if not isnan(half + found.mean)
    ]
    return Cell(
        plain.text + "".join(halves),
        found.mean,
        {"low": low, "high": high, "topics": found.topics, "systems": found.systems, "n": found.n},
    )


def compare(
    entries: Iterable[tuple[str, Any, Any]],
    measures: Measures | None = None,
    schemes: str | Iterable[str] = "N",
    *,
    depth: int | None = None,
    jobs: int | None = 1,
    progress: Progress = iter,
) -> Comparison:
    """Evaluate one or several systems over several collections.

    Parameters
    ----------
    entries : iterable of (str, run, qrels)
        A system's name and its run on one collection.  The same name with several qrels is one
        system over several collections.  Runs and qrels in any form that :func:`evaluate` takes;
        None stands for the qrels behind scores that were computed elsewhere.
    measures : Measure, str or iterable of them, optional
        If not given, the factor sets' default measures that all collections have factors for.
    schemes : str or iterable of str
    depth : int, optional
        As for :func:`evaluate`.
    jobs : int, optional
        Number of processes for the runs of a collection; None is as many as pay.
    progress : callable
        Wraps the iterable of evaluations of each collection, as ``tqdm.tqdm`` does.

    Raises
    ------
    UsageError
        If there is no entry, something is none, a system has two runs on a collection, or no
        measure is known for all collections.
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
    entries = list(entries)
    if not entries:
        raise UsageError("nothing to compare: give at least one NAME=RUN:QRELS")
    if not all(isinstance(entry, (tuple, list)) and len(entry) == 3 for entry in entries):
        raise UsageError(
            "entries to compare are a list of (name, run, qrels): "
            "[('bm25', 'bm25.run', 'qrels.txt'), ...]"
        )
    entries = _with_counted_topics(entries)
    read: dict[object, Qrels] = {}
    for _, _, qrels in entries:
        if _key(qrels) not in read:
            read[_key(qrels)] = as_qrels(qrels)
    wanted = as_measures(measures or ()) or _common_measures(
        entries, read.values(), scheme_names(schemes)
    )
    names = collection_names(read)
    runs: dict[object, dict[str, Any]] = {}
    for system, run, qrels in entries:
        if runs.setdefault(_key(qrels), {}).setdefault(system, run) is not run:
            raise UsageError(
                f"two runs of {system} on {names[_key(qrels)]}: give each system a name of its own"
            )
    results = {
        key: evaluate(named, read[key], wanted, schemes, depth=depth, jobs=jobs, progress=progress)
        for key, named in runs.items()
    }
    parts = [
        Part(system, names[key], results[key])
        for system, key in dict.fromkeys((s, _key(qrels)) for s, _, qrels in entries)
    ]
    return Comparison(tuple(parts), _in_order(wanted, parts))


def _with_counted_topics(entries: list[tuple[str, Any, Any]]) -> list[tuple[str, Any, Any]]:
    """The entries, with what scores tell in place of qrels where these are None.

    Scores that have topics in common, with the same counts, are of the same collection.
    """
    read = [
        (name, as_run_or_scores(run) if qrels is None else run, qrels)
        for name, run, qrels in entries
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
    behind = {
        id(run): topics for group in groups for topics in [counted_topics(group)] for run in group
    }
    return [(name, run, behind[id(run)] if qrels is None else qrels) for name, run, qrels in read]


def _same_collection(one: RunScores, other: RunScores) -> bool:
    shared = set(one.topics) & set(other.topics)
    return (
        bool(shared)
        and one.unit == other.unit
        and all(one.n_rel.get(t) == other.n_rel.get(t) for t in shared)
    )


def _common_measures(
    entries: Iterable[tuple[str, Any, Any]], collections: Iterable[Qrels], schemes: Sequence[str]
) -> list[Measure]:
    scores = [run for _, run, _ in entries if isinstance(run, RunScores)]
    common = common_measures(collections, schemes)
    if not scores:
        return common
    return [m for m in common if all(m in one.values for one in scores)] or [
        m for m in scores[0].values if all(m in one.values for one in scores)
    ]


def _in_order(wanted: Iterable[Measure], parts: Iterable[Part]) -> tuple[Measure, ...]:
    """Each wanted measure, and behind it all companions that some collection has."""
    parts = list(parts)
    found: dict[Measure, None] = {}
    for measure in wanted:
        found[measure] = None
        for part in parts:
            found.update(
                dict.fromkeys(
                    m
                    for m in part.results.measures
                    if isinstance(m, Standardized) and m.base == measure
                )
            )
    return tuple(found)


def _key(qrels: Any) -> object:
    return os.fspath(qrels) if isinstance(qrels, (str, os.PathLike)) else id(qrels)
