"""The model of several collections: each system's raw and standardized means, with intervals.

This is what standardization is for (Webber, Moffat and Zobel, SIGIR 2008): raw means of
different collections cannot be compared, standardized ones can.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import isnan

from ir_measures.measures import Measure

from ir_std.analysis.estimate import Estimate, mean_of_estimates
from ir_std.analysis.paired import correction_for
from ir_std.errors import UsageError, suggestion
from ir_std.evaluation.uncertainty import joint_errors
from ir_std.measures import Standardized
from ir_std.reporting.effects import MIN_COLLECTIONS, Effects, SystemEffects
from ir_std.reporting.effects_table import count_range
from ir_std.reporting.evaluated_runs import group_measures
from ir_std.reporting.overlaps import Overlaps, find_overlaps
from ir_std.reporting.part import NO_ESTIMATE, CollectionLinks, Part
from ir_std.reporting.tables import Cell, Table, estimate_cell, label_cell

POOLED = "all of these"
"""What a table has for a collection in the row with the mean of a system's means."""
MIN_SYSTEMS = 40
"""With fewer standardizing systems than this a note says in what steps scheme E moves."""


@dataclass(frozen=True)
class Comparison:
    """Systems over collections.

    Attributes
    ----------
    parts : tuple of Part
        In the order they were given.
    measures : tuple of Measure
        Each raw one, and behind it its standardized companions.
    links : mapping of Measure to CollectionLinks
        Of the measures whose scores are on one scale: see :mod:`ir_std.reporting.compare`.
    random_effects : str
        How summaries of differences estimate the variance between collections.
    """

    parts: tuple[Part, ...]
    measures: tuple[Measure, ...]
    links: Mapping[Measure, CollectionLinks] = field(default_factory=dict)
    random_effects: str = "pm"

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
        of_parts = [
            text for part in self.parts for text in (str(part.results.match), *part.results.notes)
        ]
        of_links = [links.summary for links in self.links.values()]
        return tuple(dict.fromkeys([*of_parts, *self.overlaps.notes, *of_links]))

    @property
    def warnings(self) -> tuple[str, ...]:
        """The warnings of all parts: topics left out, and the like."""
        of_parts = (text for part in self.parts for text in part.results.warnings)
        of_links = (text for links in self.links.values() for text in links.warnings)
        return tuple(dict.fromkeys([*of_parts, *of_links]))

    def part(self, system: str, collection: str) -> Part:
        """One system on one collection."""
        return next(p for p in self.parts_of(system) if p.collection == collection)

    def pooled(self, system: str, measure: Measure) -> Estimate | None:
        """The mean of a system's means on its collections, each of which counts the same.

        None where two of them share topics, which would count twice, or only one has a value.
        """
        parts = self.parts_of(system)
        known = [part for part in parts if not isnan(part.estimate(measure).mean)]
        if len(known) < 2 or self.overlaps.of([part.collection for part in parts]):
            return None
        estimates = [part.estimate(measure) for part in known]
        if measure in self.links:
            error = self.links[measure].error_of_mean({p.collection: p.z(measure) for p in parts})
            return replace(
                mean_of_estimates(estimates),
                systems_error=error,
                systems_df=min(e.n for e in estimates) - 1,
            )
        return mean_of_estimates(estimates, joint_errors([p.variation(measure) for p in known]))

    def parts_of(self, system: str) -> list[Part]:
        """One system on each of its collections."""
        return [part for part in self.parts if part.system == system]

    @cached_property
    def overlaps(self) -> Overlaps:
        """Which of the collections share topics or documents."""
        return find_overlaps(
            {p.collection: p.results.evaluator.qrels for p in self.parts},
            {p.collection: p.doc_id_pattern for p in self.parts},
            {p.collection: p.origin for p in self.parts if p.origin},
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
        collections = [part.collection for part in self.parts_of(baseline)]
        common = {
            system: [p for p in tested.parts_of(system) if p.collection in collections]
            for system in self.systems
            if system != baseline
        }
        by_system = tuple(
            SystemEffects(
                system,
                baseline,
                m,
                tuple(p.against(baseline, m) for p in parts),
                self.overlaps.of([p.collection for p in parts]),
                self.random_effects,
            )
            for system, parts in common.items()
            if parts
            for m in self.measures
        )
        if not by_system:
            raise UsageError(f"no system has a collection in common with {baseline}, the baseline")
        missing = [
            f"{system} has no run on {c}"
            for system, parts in common.items()
            if parts
            for c in self.collections
            if c in collections and c not in {p.collection for p in parts}
        ]
        most = max(len(parts) for parts in common.values())
        notes = (*missing, *self._notes_on_effects(most))
        return Effects(baseline, self.measures, by_system, notes, test, correction)

    def _notes_on_effects(self, n_collections: int) -> Iterator[str]:
        if self.overlaps.of_labels(self.collections):
            yield from self.overlaps.notes
            return
        if 1 < n_collections < MIN_COLLECTIONS:
            yield (
                f"{n_collections} collections are few: how much a difference varies between "
                f"collections is hardly known from fewer than {MIN_COLLECTIONS}."
            )
        yield from self.overlaps.notes
        if n_collections > 1:
            yield (
                "If a system was tuned on one of these collections, leave that "
                "collection out: its difference there is not one on new topics."
            )

    def tested(self, baseline: str, test: str = "t", correction: str | None = None) -> Comparison:
        """A comparison with the systems of each collection tested against a baseline there.

        Raises
        ------
        UsageError
            If there is no such test or correction.
        """
        correction_for(test, correction)
        wanted = baseline, test, correction
        results = {p.collection: p.results for p in self.parts}
        for collection, untested in results.items():
            present = untested.baseline, untested.test, untested.correction
            if baseline in untested.runs and present != wanted:
                results[collection] = replace(
                    untested, baseline=baseline, test=test, correction=correction
                )
        return replace(
            self, parts=tuple(replace(p, results=results[p.collection]) for p in self.parts)
        )

    def table(self, places: int = 4) -> Table:
        """A row for each system and collection; standardized means have 95 percent intervals.

        A system on several collections has one more row, the mean of its standardized means.
        """
        rows = []
        for system in self.systems:
            parts = self.parts_of(system)
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
            (
                "system",
                "collection",
                "topics",
                *(self.links[m].label if m in self.links else str(m) for m in self.measures),
            ),
            tuple(rows),
            3,
            self._table_notes(),
            tuple(map(len, group_measures(self.measures))),
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
                estimate_cell(means.get(m, NO_ESTIMATE), isinstance(m, Standardized), places)
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
            self._comparability(", ".join(raw)),
            "± halves of 95 percent intervals of the mean: over topics (Student's t), and over "
            + (
                "anchors, of the link to the reference."
                if self.links
                else f"the systems that the factors come from{self._systems_method()}."
            ),
            *self._notes_on_steps(),
        )

    def _comparability(self, raw: str) -> str:
        """Which means compare across collections."""
        if self.overlaps.of_labels(self.collections):
            return (
                f"These are the same topics under different labels: raw means ({raw}) say as much "
                "about the judges as about the systems; standardized ones compare where the "
                "standardizing systems are the same."
            )
        about_raw = (
            f"Raw means ({raw}) of different collections cannot be compared: they say as much "
            "about the topics as about the systems."
        )
        if not self.links:
            return (
                f"{about_raw} Standardized means compare where the standardizing systems are the "
                "same, or linked (--anchor): each is relative to the systems of its own track."
            )
        return f"{about_raw} Linked means can: they are on the scale of the reference collection."

    def _systems_method(self) -> str:
        """How the systems' part of the intervals was computed."""
        methods = dict.fromkeys(
            source
            for part in self.parts
            for m in part.results.plans
            if (source := part.results.systems_covariances[m].source)
        )
        return ", " * bool(methods) + "; ".join(methods)

    def _notes_on_steps(self) -> tuple[str, ...]:
        """Where scheme E, a share of systems, moves in steps that one can see."""
        sizes = dict.fromkeys(
            (plan.factors.id, plan.factors.n_systems[plan.name])
            for part in self.parts
            for m, plan in part.results.plans.items()
            if m["scheme"] == "E"
        )
        return tuple(
            f"E on {name} moves in steps of 1/{n}, the share of a system."
            for name, n in sizes
            if n < MIN_SYSTEMS
        )
