"""The model of several collections: each system's raw and standardized means, with intervals.

This is what standardization is for (Webber, Moffat and Zobel, SIGIR 2008): raw means of
different collections cannot be compared, standardized ones can.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, combinations

import numpy as np
from ir_measures.measures import Measure

from ir_std.analysis.estimate import Estimate, mean_of_estimates
from ir_std.analysis.paired import correction_for
from ir_std.errors import UsageError
from ir_std.evaluation.evaluation import ByMeasure
from ir_std.evaluation.uncertainty import joint_errors
from ir_std.measures import Standardized
from ir_std.reporting.balance import shared_parts
from ir_std.reporting.comparison_notes import (
    check_baseline,
    effects_notes,
    notes_on_best,
    same_systems,
    table_notes,
)
from ir_std.reporting.effects import Effects, count_range
from ir_std.reporting.evaluated_runs import group_measures
from ir_std.reporting.headlines import MIN_SUMMARIZED
from ir_std.reporting.links import CollectionLinks, LinkedPair, check_linkable, link_collections
from ir_std.reporting.overlaps import Overlaps, find_overlaps
from ir_std.reporting.part import NO_ESTIMATE, Part
from ir_std.reporting.system_effects import SystemEffects
from ir_std.reporting.tables import Cell, Table, estimate_cell, html_with_texts, label_cell
from ir_std.scores.forms import ALL_COLLECTIONS

POOLED = ALL_COLLECTIONS
"""What a table has for a collection in the row with the mean of a system's means."""
MOST_PAIRS = 20
"""With more pairs of means than this only those of one system with itself are compared."""


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
        Of the measures whose scores are on one scale: see :func:`ir_std.compare`.
    random_effects : str
        How summaries of differences estimate the variance between collections.
    best : mapping of str to str
        By collection which of its set's systems is the baseline ``best``, if that was asked for.
    """

    parts: tuple[Part, ...]
    measures: tuple[Measure, ...]
    links: Mapping[Measure, CollectionLinks] = field(default_factory=dict)
    random_effects: str = "pm"
    best: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        return (
            f"<Comparison of {', '.join(self.systems)} on {', '.join(self.collections)}: "
            f"{', '.join(map(str, self.measures))}>"
        )

    def _repr_html_(self) -> str:
        return html_with_texts(self.table(), (*self.notes, *self.warnings))

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
        each = {part.results: part for part in self.parts}.values()  # systems may share results
        of_parts = [text for p in each for text in (*p.factors_used, *p.results.notes)]
        return tuple(dict.fromkeys([*of_parts, *self.overlaps.notes]))

    @property
    def warnings(self) -> tuple[str, ...]:
        """The warnings of all parts: topics left out, and the like."""
        results = dict.fromkeys(part.results for part in self.parts)
        of_parts = (text for each in results for text in each.warnings)
        return tuple(dict.fromkeys([*of_parts, *self.link_warnings]))

    @property
    def link_warnings(self) -> tuple[str, ...]:
        """Why links are doubtful or needless, and systems that the anchors do not resemble."""
        needless = (
            "the same systems standardize these collections, whose scores compare as they are: a "
            "link only adds its own error",
        ) * (bool(self.links) and self.systems_alike)
        texts = (
            (
                *links.warnings,
                *links.unlike_anchors({(p.system, p.collection): p.z(m) for p in self.parts}),
            )
            for m, links in self.links.items()
        )
        return (*needless, *chain.from_iterable(texts))

    @property
    def systems_alike(self) -> bool:
        """Whether the same systems standardize all collections: means compare without a link."""
        return len(self.collections) > 1 and same_systems(self.parts) > 0

    def label(self, measure: Measure) -> str:
        """What a measure is called in tables: of linked scores by which anchors, and to what."""
        return self.links[measure].label if measure in self.links else str(measure)

    def part(self, system: str, collection: str) -> Part:
        """One system on one collection; UsageError if there is none."""
        found = {part.collection: part for part in self.parts_of(system)}
        if collection not in found:
            raise UsageError(f"no {system} on {collection}: it is on {', '.join(found) or 'none'}")
        return found[collection]

    def pooled(self, system: str, measure: Measure) -> Estimate | None:
        """The mean of a system's means on the collections that all systems have, counting alike.

        None where two of them share topics, which would count twice, or fewer than three have one.
        """
        parts = self.parts_of(system)
        known = shared_parts(self.parts, system, measure)
        if len(known) < MIN_SUMMARIZED or self.overlaps.of([part.collection for part in parts]):
            return None
        estimates = [part.estimate(measure) for part in known]
        if measure in self.links:
            error = self.links[measure].error_of_mean({p.collection: p.z(measure) for p in known})
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
        check_baseline(baseline, self.systems)
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
                self.label(m),
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
        about = effects_notes(most, self.collections, self.links, self.overlaps)
        notes = (*notes_on_best(self.best), *missing, *about)
        return Effects(baseline, self.measures, by_system, notes, test, correction)

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

    def linked(self, anchors: str | Sequence[str], reference: str | None = None) -> Comparison:
        """The comparison on one scale: each collection is linked to the reference by anchors.

        Parameters
        ----------
        anchors : str or sequence of str
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
        names = (anchors,) if isinstance(anchors, str) else tuple(dict.fromkeys(anchors))
        check_linkable(
            {s: tuple(p.collection for p in self.parts_of(s)) for s in self.systems},
            names,
            reference,
        )
        if why_not := self.overlaps.why_not_linked:
            raise UsageError(why_not)
        links = {
            m: link_collections(
                m,
                {
                    c: np.stack([self.part(anchor, c).z(m) for anchor in names], axis=1)
                    for c in self.collections
                },
                names,
                reference,
            )
            for m in self.measures
            if isinstance(m, Standardized) and all(m in part.results.plans for part in self.parts)
        }
        if not links:
            raise UsageError("nothing to link: no standardized measure is known on all collections")
        parts = tuple(replace(part, links=links) for part in self.parts)
        return replace(self, parts=parts, links=ByMeasure(links))

    @property
    def linked_pairs(self) -> tuple[LinkedPair, ...]:
        """The differences of linked means across collections, with intervals and p.

        Of all systems that are no anchors; of many only each system from itself.
        """
        found: list[LinkedPair] = []
        for measure, links in self.links.items():
            parts = [p for p in self.parts if p.system not in links.anchors]
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
        return tuple(found)

    def table(self, places: int = 4) -> Table:
        """A row for each system and collection; standardized means have 95 percent intervals.

        A system on three collections or more has one more row, the mean of its standardized means.
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
            ("system", "collection", "topics", *map(self.label, self.measures)),
            tuple(rows),
            3,
            table_notes(self.parts, self.measures, self.links, self.overlaps),
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
