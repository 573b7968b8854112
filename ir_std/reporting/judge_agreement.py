"""Two judgments of the same topics side by side: how they agree, and the tables of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from ir_measures.measures import Measure

from ir_std._arrays import Floats, Ints
from ir_std.analysis.agreement import (
    WEIGHTS,
    Interval,
    OrderAgreement,
    cohen_kappa,
    confusion_matrix,
    kappa_interval,
    order_agreement,
)
from ir_std.analysis.estimate import Estimate
from ir_std.errors import UsageError, counted, look_up
from ir_std.measures import parse_measure
from ir_std.reporting.tables import (
    Cell,
    Table,
    format_number,
    interval_cell,
    label_cell,
    number_cell,
)
from ir_std.trec.qrels import Qrels

MOST_LEVELS = 100
"""The most levels that are told apart."""


@dataclass(frozen=True, eq=False)
class JudgeAgreement:
    """How two judges agree on documents, and on systems.

    Attributes
    ----------
    names : (str, str)
        What the two judgments are called.
    topics : tuple of str
        The topics that both have, in the first one's order.
    confusion : ndarray of int, shape (n_topics, n_levels, n_levels)
        Documents that both judged, by topic and level; rows are the first one's.
    judged_once : (int, int)
        Documents of these topics that only the first, and only the second judged.
    systems : tuple of str
        Those whose scores are compared; empty without runs.
    scores : mapping of Measure to (ndarray, ndarray)
        By each, shape (n_topics, n_systems); NaN where there is none.
    notes : tuple of str
        What a reader should know.
    """

    names: tuple[str, str]
    topics: tuple[str, ...]
    confusion: Ints
    judged_once: tuple[int, int]
    systems: tuple[str, ...]
    scores: Mapping[Measure, tuple[Floats, Floats]]
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        sizes = (
            counted(len(self.topics), "topic"),
            counted(int(self.confusion.sum()), "document"),
            counted(len(self.systems), "system"),
        )
        return f"<JudgeAgreement of {' and '.join(self.names)}: {', '.join(sizes)}>"

    def kappa(self, weights: str = "none") -> Interval:
        """Cohen's kappa over the documents of all topics.

        Parameters
        ----------
        weights : {'none', 'linear', 'quadratic'}
        """
        return kappa_interval(self.confusion, weights)

    def kappa_at(self, level: int) -> float:
        """Cohen's kappa of relevant or not, where documents from a level on are relevant.

        NaN where one of the two has no document at it or above.
        """
        whole = self.confusion.sum(axis=0)
        if not whole[level:].any() or not whole[:, level:].any():
            return float("nan")
        halves = [slice(0, level), slice(level, None)]
        return float(cohen_kappa([[whole[a, b].sum() for b in halves] for a in halves]))

    @cached_property
    def order(self) -> dict[Measure, OrderAgreement]:
        """By measure how alike the systems' orders and scores are."""
        return {
            m: order_agreement(*scores)
            for m, scores in self.scores.items()
            if not np.isnan(scores[0] + scores[1]).any(axis=1).all()
        }

    def difference(self, system: str, measure: Measure | str) -> Estimate:
        """A system's mean by the second less that by the first, paired by topic."""
        column = self.systems.index(system)
        first, second = self.scores[parse_measure(measure)]
        return Estimate.of(second[:, column] - first[:, column])

    @property
    def tables(self) -> dict[str, Table]:
        """All tables by name: ``labels``, ``confusion``, ``topics``, ``order``, ``means``."""
        return {name: self.table(name) for name in TABLES if self.systems or name not in OF_SYSTEMS}

    def table(self, name: str = "labels", places: int = 4) -> Table:
        """One of the tables.

        Parameters
        ----------
        name : {'labels', 'confusion', 'topics', 'order', 'means'}
        places : int
            Decimals; -1 for all.

        Raises
        ------
        UsageError
            If there is no such table, or no runs for it.
        """
        make = look_up(name, TABLES, "table")
        if name in OF_SYSTEMS and not self.systems:
            raise UsageError(f"the table {name} is of systems: give runs")
        return make(self, places)


def compare_labels(
    pair: tuple[Qrels, Qrels], topics: Sequence[str]
) -> tuple[Ints, tuple[int, int]]:
    """Confusion matrices by topic, and how many documents only one of the two judged."""
    n_levels = max(2, 1 + max(q.max_level for q in pair))
    if n_levels > MOST_LEVELS:
        raise UsageError(
            f"levels up to {n_levels - 1}: agreement is of at most {MOST_LEVELS} levels"
        )
    matrices = np.zeros((len(topics), n_levels, n_levels), np.int64)
    alone = [0, 0]
    for i, topic in enumerate(topics):
        one, other = (q.judged[topic] for q in pair)
        both = [d for d in one if d in other]
        matrices[i] = confusion_matrix(
            [max(0, one[d]) for d in both], [max(0, other[d]) for d in both], n_levels
        )
        alone[0] += len(one) - len(both)
        alone[1] += len(other) - len(both)
    return matrices, (alone[0], alone[1])


def _labels(agreement: JudgeAgreement, places: int) -> Table:
    whole = agreement.confusion.sum(axis=0)
    n = int(whole.sum())
    rows = [
        (label_cell("documents judged by both"), Cell(f"{n:,}", n)),
        *(
            (label_cell(f"judged by {name} alone"), Cell(f"{alone:,}", alone))
            for name, alone in zip(agreement.names, agreement.judged_once, strict=True)
        ),
        (label_cell("same level"), number_cell(np.trace(whole) / n if n else np.nan, places)),
    ]
    for weights in WEIGHTS:
        name = "kappa" if weights == "none" else f"kappa, {weights} weights"
        rows.append((label_cell(name), _interval_cell(agreement.kappa(weights), places)))
    rows += [
        (label_cell(f"kappa at level {at}"), number_cell(agreement.kappa_at(at), places))
        for at in range(1, len(whole))
    ]
    return Table(
        ("labels", f"{agreement.names[0]} and {agreement.names[1]}"),
        tuple(rows),
        1,
        (
            "Cohen's kappa, with 95 percent intervals by a bootstrap over topics; weights are of "
            "the distance of two levels, or its square. At a level: relevant from it on, or not.",
        ),
    )


def _confusion(agreement: JudgeAgreement, _: int) -> Table:
    whole = agreement.confusion.sum(axis=0)
    first, second = agreement.names
    return Table(
        (first, *(f"{second}: {level}" for level in range(len(whole)))),
        tuple(
            (label_cell(f"{level}"), *(Cell(f"{n:,}", n) for n in row.tolist()))
            for level, row in enumerate(whole)
        ),
    )


def _topics(agreement: JudgeAgreement, places: int) -> Table:
    counts = agreement.confusion
    levels = np.arange(counts.shape[1])
    documents = counts.sum(axis=(1, 2))
    same = np.trace(counts, axis1=1, axis2=2) / np.maximum(documents, 1)
    kappas = [cohen_kappa(counts, weights) for weights in ("none", "quadratic")]
    means = [counts.sum(axis=axis) @ levels / np.maximum(documents, 1) for axis in (2, 1)]
    order = np.argsort(np.nan_to_num(kappas[1], nan=2.0), kind="stable")
    return Table(
        (
            "topic",
            "documents",
            "same level",
            "kappa",
            "quadratic",
            *(f"mean level {name}" for name in agreement.names),
        ),
        tuple(
            (
                label_cell(agreement.topics[i]),
                Cell(f"{documents[i]}", int(documents[i])),
                *(number_cell(float(column[i]), places) for column in (same, *kappas, *means)),
            )
            for i in order.tolist()
        ),
        1,
        ("Topics on which the judges agree least, by kappa with quadratic weights, come first.",),
    )


def _order(agreement: JudgeAgreement, places: int) -> Table:
    rows = []
    for measure, order in agreement.order.items():
        means = [float(np.nanmean(x)) for x in agreement.scores[measure]]
        rows.append(
            (
                label_cell(str(measure)),
                *(number_cell(mean, places) for mean in means),
                *(_interval_cell(one, places) for one in (order.gap, order.tau, order.tau_ap)),
                number_cell(
                    order.r.value, places, extra={"low": order.r.low, "high": order.r.high}
                ),
            )
        )
    return Table(
        (
            "measure",
            *(f"mean {name}" for name in agreement.names),
            "gap",
            "tau",
            "tau_AP",
            "r",
        ),
        tuple(rows),
        1,
        (
            f"{len(agreement.systems)} systems. gap: mean over systems of the absolute difference "
            "of their two means; tau: Kendall's tau-b of the two orders; tau_AP: AP correlation "
            "with the first order as the reference; r: Pearson's correlation over topics and "
            "systems. In brackets 95 percent intervals by a bootstrap over topics.",
        ),
    )


def _means(agreement: JudgeAgreement, places: int) -> Table:
    rows = []
    for column, system in enumerate(agreement.systems):
        for measure, (first, second) in agreement.scores.items():
            known = ~np.isnan(first[:, column] + second[:, column])
            if not known.any():
                continue
            difference = agreement.difference(system, measure)
            rows.append(
                (
                    label_cell(system),
                    label_cell(str(measure)),
                    number_cell(float(first[known, column].mean()), places),
                    number_cell(float(second[known, column].mean()), places),
                    interval_cell(difference.mean, *difference.interval, places),
                )
            )
    return Table(
        ("system", "measure", *agreement.names, "difference"),
        tuple(rows),
        2,
        (
            "The second mean less the first, paired by topic, with its 95 percent interval over "
            "topics (Student's t).",
        ),
    )


TABLES: dict[str, Callable[[JudgeAgreement, int], Table]] = {
    "labels": _labels,
    "confusion": _confusion,
    "topics": _topics,
    "order": _order,
    "means": _means,
}
"""What makes each table, by its name."""
OF_SYSTEMS = ("order", "means")
"""The tables that need scores of systems."""


def _interval_cell(figure: Interval, places: int) -> Cell:
    value, low, high = (format_number(x, places) for x in figure)
    return Cell(
        value if np.isnan(figure.low) else f"{value} [{low}, {high}]",
        figure.value,
        {"low": figure.low, "high": figure.high},
    )
