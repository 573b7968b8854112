"""The tables of an agreement: of labels, and of the systems' order and means."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ir_std.analysis.agreement import WEIGHTS, Interval, cohen_kappa
from ir_std.reporting.tables import (
    Cell,
    Table,
    format_number,
    interval_cell,
    label_cell,
    number_cell,
)

if TYPE_CHECKING:
    from ir_std.reporting.agreement import JudgeAgreement


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
