"""One run under several judgments of the same topics: differences paired by topic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import hypot, isnan

import numpy as np
from ir_measures.measures import Measure

from ir_std.analysis.estimate import Estimate
from ir_std.evaluation.uncertainty import joint_errors
from ir_std.measures import Standardized
from ir_std.reporting.comparison import Comparison
from ir_std.reporting.judge_agreement import JudgeAgreement, compare_labels
from ir_std.reporting.part import Part
from ir_std.reporting.tables import Table, interval_cell, label_cell


@dataclass(frozen=True)
class LabelDifference:
    """How a system's mean under one judgment differs from that under another.

    Attributes
    ----------
    system, first, second : str
        The system, and what the two judgments are called.
    measure : Measure
    estimate : Estimate
        The second mean less the first, paired by topic.
    """

    system: str
    first: str
    second: str
    measure: Measure
    estimate: Estimate


def label_differences(comparison: Comparison) -> list[LabelDifference]:
    """The differences of each system's means under different labels of the same topics."""
    return [
        LabelDifference(system, a, b, measure, estimate)
        for a, b in comparison.overlaps.topics
        if (a, b) in comparison.overlaps.relabelled
        for system in comparison.systems
        for parts in [{p.collection: p for p in comparison.parts_of(system)}]
        if a in parts and b in parts
        for measure in comparison.measures
        if not isnan((estimate := paired_difference(parts[a], parts[b], measure)).mean)
    ]


def paired_difference(first: Part, second: Part, measure: Measure) -> Estimate:
    """A system's mean under the second labels less that under the first, paired by topic.

    Its error over systems is that of standardizing systems that are drawn once for both: they are
    the same, or else the two errors add up as squares.
    """
    rows = second.results.evaluator.qrels.positions
    topics = [(i, rows[topic]) for i, topic in enumerate(first.results.topics) if topic in rows]
    one, other = (
        part.values(measure)[[pair[k] for pair in topics]] for k, part in enumerate((first, second))
    )
    estimate = Estimate.of(np.asarray(other) - np.asarray(one))
    if not isinstance(measure, Standardized) or isnan(estimate.mean):
        return estimate
    (cov_one, own_one), (cov_other, own_other) = first.variation(measure), second.variation(measure)
    errors = joint_errors([(cov_one, [-x for x in own_one]), (cov_other, own_other)])
    return replace(
        estimate,
        systems_error=hypot(*(error for error, _ in errors)),
        systems_df=min(df for _, df in errors),
    )


def label_agreements(comparison: Comparison) -> list[JudgeAgreement]:
    """Of each two judgments of the same topics, and the systems that were evaluated by both."""
    return [
        one
        for pair in comparison.overlaps.topics
        if pair in comparison.overlaps.relabelled
        for one in [_agreement(comparison, pair)]
        if one.confusion.any()  # not where only scores are known
    ]


def _agreement(comparison: Comparison, names: tuple[str, str]) -> JudgeAgreement:
    parts = [{p.system: p for p in comparison.parts if p.collection == name} for name in names]
    first, second = (next(iter(by_system.values())).results.evaluator.qrels for by_system in parts)
    topics = tuple(t for t in first.topics if t in second.positions)
    rows = [[q.positions[t] for t in topics] for q in (first, second)]
    systems = tuple(s for s in parts[0] if s in parts[1])
    one, other = (
        {
            m: np.stack([by_system[s].values(m)[chosen] for s in systems], axis=1)
            for m in comparison.measures
            if systems
        }
        for by_system, chosen in zip(parts, rows, strict=True)
    )
    confusion, judged_once = compare_labels((first, second), topics)
    scores = {m: (one[m], other[m]) for m in one}
    return JudgeAgreement(names, topics, confusion, judged_once, systems, scores, ())


def label_differences_table(differences: Sequence[LabelDifference], places: int = 4) -> Table:
    """A row for each system, pair of judgments and measure."""
    return Table(
        ("system", "labels", "less those of", "measure", "difference"),
        tuple(
            (
                label_cell(one.system),
                label_cell(one.second),
                label_cell(one.first),
                label_cell(str(one.measure)),
                interval_cell(
                    one.estimate.mean,
                    *one.estimate.interval,
                    places,
                    {"topics": one.estimate.topics, "systems": one.estimate.systems},
                ),
            )
            for one in differences
        ),
        4,
        (
            "The same topics under different labels: differences paired by topic, with 95 percent "
            "intervals over topics and, of standardized means, over the systems that the factors "
            "come from, which are drawn once for both judgments where they are the same.",
        ),
    )
