"""Draw the pictures for the pages of the sets: topics, systems and measures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from scipy.stats import kendalltau

from ir_std._arrays import EXACT, Floats, Ints
from ir_std.factors.estimates import scores_by_system
from ir_std.factors.factor_set import FactorSet
from ir_std.factors.quality import find_weak_systems
from ir_std.reporting.plots import COLORS, label_topics
from ir_std.schemes import get_scheme

MOST_MEASURES = 14
"""Largest number of measures in the picture of correlations. If a set has more measures, the
picture has the default measures and the first of the other measures. It never has SP and DCG, which
are AP and nDCG in other units.
"""
LONGEST_LABEL = 24
"""Largest number of characters in a label of a picture."""

mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "ir_std", "font.size": 9})


class SystemMeans(NamedTuple):
    """Systems of a set for one measure, best system first.

    ``raw`` and ``standardized`` are means over the topics on which all systems have a score.
    For each of these topics, ``agreement`` is the correlation of its scores with the mean over the
    other topics.
    """

    numbers: Ints
    raw: Floats
    standardized: Floats
    topics: tuple[str, ...]
    agreement: Floats


def shown_measure(factors: FactorSet) -> str:
    """Return the first default measure whose scores are known, which the pictures show."""
    known = [m for m in factors.default_measures if m in factors.scores]
    return (known or [*factors.scores] or [*factors.default_measures])[0]


@lru_cache(maxsize=64)
def system_means(factors: FactorSet, measure: str) -> SystemMeans | None:
    """Return the systems for one measure, or None if they share no topics with scores."""
    if measure not in factors.scores:
        return None
    numbers, scores = scores_by_system(factors, measure)
    rows = np.flatnonzero(~np.isnan(scores).any(axis=1))
    if not len(rows):
        return None
    scores = scores[rows]
    standardized = get_scheme("N").apply(
        scores, mean=factors.mean[measure][rows, None], sd=factors.sd[measure][rows, None]
    )
    order = np.argsort(-scores.mean(axis=0), kind="stable")
    return SystemMeans(
        numbers[order],
        scores.mean(axis=0)[order],
        standardized.mean(axis=0)[order],
        tuple(factors.topics[i] for i in rows),
        _agreement(scores),
    )


def _agreement(scores: Floats) -> Floats:
    """Correlate each topic with the mean of the other topics; NaN for equal scores."""
    rest = (scores.sum(axis=0) - scores) / max(len(scores) - 1, 1)
    a, b = (x - x.mean(axis=1, keepdims=True) for x in (scores, rest))
    norm = np.sqrt((a**2).sum(axis=1) * (b**2).sum(axis=1))
    known = np.ptp(scores, axis=1) > EXACT
    correlation: Floats = np.divide(
        (a * b).sum(axis=1), norm, out=np.full(len(a), np.nan), where=known & (norm > 0)
    )
    return correlation


def correlated_measures(factors: FactorSet) -> list[str]:
    """Return the measures in the picture of correlations."""
    known = [m for m in factors.measures if system_means(factors, m)]
    first = [m for m in factors.default_measures if m in known]
    others = [m for m in known if m not in first and not m.startswith(("SP", "DCG"))]
    return [*first, *others][:MOST_MEASURES]


def pictures(factors: FactorSet) -> Iterable[tuple[str, Figure]]:
    """Yield the pictures of a set by name."""
    measure = shown_measure(factors)
    yield "topics", draw_topics(factors, measure)
    if means := system_means(factors, measure):
        yield "systems", draw_systems(factors, measure, means)
    measures = correlated_measures(factors)
    if len(measures) > 1:
        yield "measures", draw_measures(factors, measures)


def draw_topics(factors: FactorSet, measure: str) -> Figure:
    """Draw the mean, the standard deviation and the range per topic, hardest topic first."""
    mean, sd = factors.mean[measure], factors.sd[measure]
    known = np.flatnonzero(~np.isnan(mean))
    order = known[np.argsort(mean[known], kind="stable")]
    figure = Figure(figsize=(9, 3.2), layout="constrained")
    ax, x = figure.subplots(), np.arange(len(order))
    if measure in factors.scores:
        scores = np.sort(factors.scores[measure], axis=1)[order]
        ax.fill_between(
            x, np.nanmin(scores, 1), np.nanmax(scores, 1), color=COLORS["other"], alpha=0.35, lw=0,
            label="all systems",
        )  # fmt: skip
    ax.fill_between(
        x,
        (mean - sd)[order],
        (mean + sd)[order],
        color=COLORS["line"],
        lw=0,
        label="mean ± deviation",
    )
    ax.plot(x, mean[order], color=COLORS["ink"], lw=1.2, label="mean")
    ax.set_ylabel(measure)
    ax.set_xlabel("dataset" if factors.of_datasets else "topic")
    ax.set_xlim(-0.5, len(order) - 0.5)
    label_topics(ax, [_shortened(factors.topics[i]) for i in order])
    ax.legend(frameon=False, fontsize="small", loc="upper left")
    return figure


def _shortened(name: str) -> str:
    """Return the end of a long name, such as the name of a dataset."""
    return name if len(name) <= LONGEST_LABEL else f"…{name[-LONGEST_LABEL:]}"


def draw_systems(factors: FactorSet, measure: str, means: SystemMeans) -> Figure:
    """Draw systems by their mean N, best first; weak systems have another color."""
    found = find_weak_systems(factors, measure)
    low = np.isin(means.numbers, found.numbers if found else [])
    figure = Figure(figsize=(9, 3.2), layout="constrained")
    ax, x = figure.subplots(), np.arange(len(means.numbers))
    ax.plot(x[~low], means.standardized[~low], "o", ms=3, color=COLORS["run"], label="system")
    if low.any():
        ax.plot(x[low], means.standardized[low], "o", ms=3, color=COLORS["base"], label="weak")
        ax.legend(frameon=False, fontsize="small", loc="lower left")
    ax.axhline(0.5, color=COLORS["ink"], lw=0.8)
    ax.set_ylabel(f"mean of N, {measure}")
    ax.set_xlim(-0.5, len(x) - 0.5)
    names = factors.systems
    label_topics(ax, [_shortened(names[n]) if names else str(n) for n in means.numbers.tolist()])
    return figure


def taus(factors: FactorSet, measures: Sequence[str]) -> Floats:
    """Compute Kendall's tau-b between the orders of systems by each pair of measures."""
    by_measure = {}
    for measure in measures:
        means = system_means(factors, measure)
        assert means
        by_measure[measure] = dict(zip(means.numbers.tolist(), means.raw.tolist(), strict=True))
    values = np.eye(len(measures))
    for i, one in enumerate(measures):
        for j, other in enumerate(measures[:i]):
            common = by_measure[one].keys() & by_measure[other].keys()
            pairs = [(by_measure[one][n], by_measure[other][n]) for n in sorted(common)]
            a, b = np.array(pairs).T
            values[i, j] = values[j, i] = kendalltau(a, b).statistic
    return values


def draw_measures(factors: FactorSet, measures: Sequence[str]) -> Figure:
    """Draw the correlations between the orders of systems by different measures."""
    values = taus(factors, measures)
    size = 2.2 + 0.42 * len(measures)
    figure = Figure(figsize=(size + 1, size), layout="constrained")
    ax = figure.subplots()
    ax.imshow(values, cmap="Blues", vmin=0, vmax=1)
    for (i, j), value in np.ndenumerate(values):
        color = "white" if value > 0.6 else "black"
        ax.text(j, i, f"{value:.2f}", ha="center", va="center", fontsize=7, color=color)
    ax.set_xticks(range(len(measures)), measures, rotation=90, fontsize="small")
    ax.set_yticks(range(len(measures)), measures, fontsize="small")
    return figure
