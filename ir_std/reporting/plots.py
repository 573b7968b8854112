"""Draw results; users import this module as ``ir_std.plots``.

Each function with a parameter ``ax`` draws into the given matplotlib axes, or into axes of a new
figure, and returns the axes.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from math import ceil, floor, isnan, log10
from typing import Any

import numpy as np

from ir_std._arrays import EXACT, Axes, Figure, Floats, Ints
from ir_std.errors import MissingLibraryError, UsageError, pluralize
from ir_std.evaluation.placement import peers_of
from ir_std.measures import Measure, Standardized, named_measure, sign_of
from ir_std.reporting.difference import RunDifferences, limits_of, run_differences
from ir_std.reporting.evaluated_collection import group_measures
from ir_std.reporting.links import n_common_systems
from ir_std.reporting.model import Results, topic_scores
from ir_std.reporting.run_ranks import runs_by_mean

__all__ = [
    "comparison_figure",
    "difference",
    "forest",
    "forest_figure",
    "means",
    "ranking",
    "topics",
]


@cache
def read_look() -> dict[str, Any]:
    """Read the colors, sizes and limits that the report and the plots share."""
    look = files("ir_std.reporting") / "html" / "templates" / "look.json"
    found: dict[str, Any] = json.loads(look.read_text())
    return found


COLORS: Mapping[str, str] = read_look()["light"]
"""Colors of the report: ``run``, ``base``, ``other``, ``line``, ``ink``, ``soft``, ``sunk``."""
MANY_TOPICS = 250
"""Number of topics above which a plot shows sorted scores instead of single topics."""
_LABEL_HEIGHT = 7.0
"""Width of a topic's label, in points."""
_LARGEST_SQUARE = 140.0
"""The area of the largest square, in square points."""
_ROOM = 40
"""Largest total length of the collections' names, in characters, for which plots do not rotate the
names."""


# One collection


def ranking(results: Results, measure: Measure | str, ax: Axes | None = None) -> Axes:
    """Draw all runs by mean, best first, among the reference systems.

    Horizontal lines are 95% intervals.  The shaded area spans the means of the reference systems,
    and the vertical line is the average of these means.  With more than 30 runs, only the first 30
    runs and the baseline are drawn.

    Parameters
    ----------
    results : Results
        Results on one collection.
    measure : Measure or str
        One of the results' measures.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into; by default, the axes of a new figure.

    Raises
    ------
    UsageError
        If the results have no such measure.
    """
    measure = named_measure(measure, results.measures)
    order = [r for r in runs_by_mean(results, measure) if not np.isnan(results.means[r][measure])]
    most = read_look()["rows"]
    shown = [r for i, r in enumerate(order) if i < most or r == results.baseline]
    ax = _axes(ax, 5.4 + 0.09 * max(map(len, shown), default=0), 1.6 + 0.26 * len(shown))
    systems = systems_means(results, measure)
    if systems:
        label = f"mean of {len(systems)} reference systems"
        ax.axvspan(systems[0], systems[-1], color=COLORS["sunk"], zorder=0)
        ax.axvline(float(np.mean(systems)), color=COLORS["ink"], linewidth=1, label=label, zorder=1)
        _legend(ax, 1)
    low, high = limits_of(measure) or (-np.inf, np.inf)
    for row, run in enumerate(shown):
        estimate = results.estimate(run, measure)
        is_baseline = run == results.baseline
        color = COLORS["base" if is_baseline else "run"]
        ends = np.clip(np.nan_to_num(estimate.interval, nan=estimate.mean), low, high)
        ax.hlines([row], *ends[:, None], color=color, linewidth=2.4, alpha=0.6, zorder=2)
        face = COLORS["paper"] if is_baseline else color
        ax.plot([estimate.mean], [row], "o", color=color, markerfacecolor=face, zorder=3)
    ax.set_yticks(range(len(shown)), shown)
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(len(shown) - 0.4, -0.6)
    of = f", first {len(shown)} of {len(order)} runs" if len(shown) < len(order) else ""
    ax.set_xlabel(f"mean {measure} with 95% interval{of}")
    return ax


def topics(
    results: Results, measure: Measure | str, run: str | None = None, ax: Axes | None = None
) -> Axes:
    """Draw one run on each topic, with the spread of the reference systems.

    The plot follows Figure 1 (raw measures) and Figure 2 (standardized measures) of Webber, Moffat
    and Zobel (SIGIR 2008).  Topics are sorted from hardest to easiest by the mean of the reference
    systems.  Bars span one standard deviation below and above the mean.  Thin lines reach from the
    lowest to the highest score, if these scores are known.

    Parameters
    ----------
    results : Results
        Results on one collection.
    measure : Measure or str
        One of the results' measures.
    run : str, optional
        Run to draw; by default, the first run.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into; by default, the axes of a new figure.

    Raises
    ------
    UsageError
        If the results have no such measure or run.
    """
    measure = named_measure(measure, results.measures)
    run = run or results.runs[0]
    order, peers = topic_order(results, measure), results.collection.peers(measure)
    many, unit = len(order) > MANY_TOPICS, results.collection.unit
    ax = _axes(ax, 6.4 if many else max(6.4, 0.17 * len(order)), 4.0)
    scores = topic_scores(results, run, measure, results.collection.name)
    if many:
        if peers is not None:
            _draw_sorted(ax, peers.mean, COLORS["ink"], f"mean of {peers.n_systems} systems")
        _draw_sorted(ax, scores, COLORS["run"], run)
        ax.set_xlabel(f"percent of {unit}s, lowest score first")
    else:
        if peers is not None:
            _draw_spread(ax, peers, order)
        ax.plot(scores[order], "o", color=COLORS["run"], markersize=4, label=run, zorder=4)
        label_topics(ax, [results.topics[i] for i in order])
        ax.set_xlabel(f"{unit}s, hardest first")
    ticks = axis_ticks(results, measure)
    ax.set_ylim(ticks[0], ticks[-1])
    ax.margins(x=0.01)
    ax.set_ylabel(str(measure))
    _legend(ax, 2)
    return ax


def _draw_spread(ax: Axes, peers: Any, order: Any) -> None:
    """Draw the reference systems: range, mean, and one standard deviation."""
    x, soft = np.arange(len(order)), COLORS["line"]
    ranges = not np.isnan(peers.least).all()
    if ranges:
        label = f"lowest to highest of {peers.n_systems} systems"
        ends = peers.least[order], peers.most[order]
        ax.vlines(x, *ends, color=COLORS["other"], linewidth=1, label=label, zorder=1)
    label = "their mean ± sd" if ranges else f"mean ± sd of {peers.n_systems} systems"
    if _constant(peers.low) and _constant(peers.high):
        ends = np.nanmin(peers.low), np.nanmax(peers.high)
        ax.axhspan(*ends, color=soft, alpha=0.6, label=label, zorder=0)
        ax.axhline(float(np.nanmean(peers.mean)), color=COLORS["ink"], linewidth=1.2, zorder=3)
        return
    low, height = peers.low[order], (peers.high - peers.low)[order]
    ax.bar(x, height, bottom=low, width=0.6, color=soft, label=label, zorder=2)
    ax.hlines(peers.mean[order], x - 0.4, x + 0.4, color=COLORS["ink"], linewidth=1.2, zorder=3)


def _draw_sorted(ax: Axes, values: Floats, color: str, label: str) -> None:
    present = np.sort(values[~np.isnan(values)])
    ax.plot(np.linspace(0, 100, len(present)), present, color=color, label=label)


def difference(
    results: Results,
    measure: Measure | str,
    run: str | None = None,
    baseline: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the difference between two runs' scores on each topic, largest difference first.

    Parameters
    ----------
    results : Results
        Results on one collection.
    measure : Measure or str
        One of the results' measures.
    run : str, optional
        Run to draw; by default, the first run that is not the baseline.
    baseline : str, optional
        Run to subtract; by default, the results' baseline, or else the second run.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into; by default, the axes of a new figure.

    Raises
    ------
    UsageError
        If the results have no such measure or run, or only one run.
    """
    measure = named_measure(measure, results.measures)
    if len(results.runs) < 2:
        raise UsageError("a difference needs two runs, but these results have one")
    if baseline is None:
        baseline = results.baseline or next(r for r in results.runs[1::-1] if r != run)
    run = run or next(r for r in results.runs if r != baseline)
    ours, theirs = (
        topic_scores(results, r, measure, results.collection.name) for r in (run, baseline)
    )
    differences = ours - theirs
    rows = np.flatnonzero(~np.isnan(differences))
    order = rows[np.argsort(-differences[rows], kind="stable")]
    d = differences[order]
    ax = _axes(ax, max(6.4, 0.17 * min(len(d), MANY_TOPICS)), 4.0)
    colors = [COLORS["run"] if value > 0 else COLORS["base"] for value in d]
    ax.bar(np.arange(len(d)), d, width=0.8 if len(d) <= MANY_TOPICS else 1.0, color=colors)
    ax.axhline(0, color=COLORS["ink"], linewidth=0.8)
    label_topics(ax, [results.topics[i] for i in order])
    ax.margins(x=0.01)
    ax.set_ylabel(f"difference in {measure}")
    unit = results.collection.unit
    ax.set_xlabel(f"{unit}s")
    above = sign_of(measure) * d
    better, worse = int((above > 0).sum()), int((above < 0).sum())
    mean = f"; mean {float(d.mean()):+.4f}" if len(d) else ""
    title = f"{run} better on {better}, {baseline} on {worse} of {pluralize(len(d), unit)}{mean}"
    ax.set_title(title, fontsize="medium", wrap=True)
    return ax


# Several collections


def means(results: Results, measure: Measure | str, ax: Axes | None = None) -> Axes:
    """Draw the mean of one measure for each run and collection.

    Standardized means have 95% intervals over topics and reference systems.  Raw means have no
    intervals, and the title says that they cannot be compared across collections.

    Parameters
    ----------
    results : Results
        Results on several collections.
    measure : Measure or str
        One of the results' measures.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into; by default, the axes of a new figure.

    Raises
    ------
    UsageError
        If the results have no such measure.
    """
    measure = named_measure(measure, results.measures)
    place = {name: i for i, name in enumerate(results.collections)}
    ax = _axes(ax, max(6.4, 1.2 * len(place)), 4.0)
    is_standardized = isinstance(measure, Standardized)
    shift = 0.6 / len(results.runs)
    for number, run in enumerate(results.runs):
        own = [name for name, scored in results.evaluations.items() if run in scored]
        estimates = [results.estimate(run, measure, name) for name in own]
        x = [place[name] + (number + 0.5) * shift - 0.3 for name in own]
        y = [estimate.mean for estimate in estimates]
        if is_standardized:
            error = [estimate.half for estimate in estimates]
            ax.errorbar(x, y, yerr=error, fmt="o", capsize=3, label=run)
        else:
            ax.plot(x, y, "o", label=run)
    ax.set_xticks(range(len(place)), list(place))
    if sum(map(len, place)) > _ROOM:
        for name in ax.get_xticklabels():
            name.set(rotation=45, ha="right", rotation_mode="anchor")
    ax.set_xlim(-0.5, len(place) - 0.5)
    ax.set_ylabel(f"mean {measure}")
    title = "raw: not comparable across collections"
    if isinstance(measure, Standardized):
        title = _title(results, measure)
        if measure["scheme"] in ("N", "U"):
            ax.axhline(0.5, color=COLORS["ink"], linewidth=0.8)
            ax.set_ylim(0, 1)
    elif max(map(abs, ax.dataLim.intervaly)) <= 1:
        ax.set_ylim(0, 1)
    ax.set_title(title, fontsize="medium", pad=6 + 14 * ceil(len(results.runs) / 3))
    _legend(ax, 3)
    return ax


def _title(results: Results, measure: Standardized) -> str:
    """Return a title that says whether means can be compared across collections."""
    if measure in results.links:
        return f"{measure}\n{results.links[measure].origin} (95% intervals)"
    if n_common_systems(results):
        return "standardized by the same systems: comparable (95% intervals)"
    return "standardized, each by its own systems (95% intervals)"


def comparison_figure(results: Results) -> Figure:
    """Draw one row per raw measure: its means, and the standardized means next to them."""
    rows = group_measures(results.measures)
    figure, grid = _grid(rows, 4.8, 3.6)
    for axes, measures in zip(grid, rows, strict=True):
        for ax, measure in zip(axes, measures, strict=False):
            means(results, measure, ax)
            if ax is not grid[0][0]:
                ax.get_legend().remove()
    return figure


def forest(differences: RunDifferences, ax: Axes | None = None, *, size: bool = False) -> Axes:
    """Draw a run's differences from the baseline for one measure, as a forest plot.

    Each collection is a square with its 95% interval; the area of the square shows the
    collection's weight in the summary.  Below the squares, a diamond shows the random-effects
    summary; the diamond is as wide as the summary's interval.  With fewer than five collections,
    there is no summary, and all squares have the same size.

    Parameters
    ----------
    differences : RunDifferences
        One of the results of :func:`ir_std.reporting.difference.run_differences`.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into; by default, the axes of a new figure.
    size : bool
        If True, draw effect sizes (Hedges' g) instead of differences.
    """
    points, summary = differences.points(size), differences.headline(size)
    n = len(points)
    ax = _axes(ax, 6.4, 1.8 + 0.26 * n)
    areas = np.array(differences.weights(size))
    effects, _, halves = np.array(points).T
    ax.axvline(0, color=COLORS["ink"], linewidth=0.8, zorder=0)
    ends = effects - halves, effects + halves
    ax.hlines(range(n), *ends, color=COLORS["other"], linewidth=1.6)
    squares = _LARGEST_SQUARE * areas / areas.max()
    ax.scatter(effects, range(n), squares, marker="s", color=COLORS["run"], zorder=2)
    names, text = [d.where for d in differences.differences], ""
    if summary:
        names.append("summary")
        effect, low, high = summary.effect, summary.low, summary.high
        text = f"\n{effect:+.3f} [{low:+.3f}, {high:+.3f}], I² {100 * summary.i2:.0f}%"
        corners = [low, effect, high, effect], [n, n - 0.28, n, n + 0.28]
        ax.axhline(n - 0.5, color=COLORS["line"], linewidth=0.8)
        ax.fill(*corners, color=COLORS["base"], zorder=2)
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.3, -0.7)
    ax.tick_params(axis="y", length=0)
    ax.locator_params(axis="x", nbins=5)
    is_standardized = isinstance(differences.measure, Standardized)
    kind = "standardized difference" if is_standardized else "raw difference"
    kind = "effect size (g)" if size else kind
    measured = "\n".join(filter(None, [str(differences.measure), differences.origin]))
    ax.set_title(f"{kind}, {measured}{text}", fontsize="medium")
    sides = (differences.baseline, differences.run)
    left, right = sides if sign_of(differences.measure) > 0 else sides[::-1]
    ax.set_xlabel(f"← {left} better    {right} better →", fontsize="small")
    return ax


def forest_figure(results: Results) -> Figure:
    """Draw differences, standardized differences and effect sizes, by run and measure."""
    return draw_forests(run_differences(results))


def draw_forests(compared: Mapping[str, Mapping[Measure, RunDifferences]]) -> Figure:
    """Draw differences from a baseline as :func:`forest_figure` does."""
    rows = [
        [(by_measure[measure], False) for measure in group] + [(by_measure[group[0]], True)]
        for by_measure in compared.values()
        for group in group_measures(by_measure)
    ]
    tallest = max(len(d.differences) for row in rows for d, _ in row)
    figure, grid = _grid(rows, 4.2, 1.6 + 0.26 * tallest)
    for axes, row in zip(grid, rows, strict=True):
        for i, (ax, (differences, size)) in enumerate(zip(axes, row, strict=False)):
            forest(differences, ax, size=size)
            if i:
                ax.set_yticklabels([])
    return figure


# Figures, axes, legends


def _grid(rows: Sequence[Sequence[object]], width: float, height: float) -> tuple[Figure, Any]:
    """Create a figure with axes for each item of each row, each of this width and height."""
    _require_matplotlib()
    from matplotlib.figure import Figure

    columns = max(map(len, rows))
    figure = Figure(figsize=(width * columns, height * len(rows)), layout="constrained")
    grid = figure.subplots(len(rows), columns, squeeze=False)
    for axes, row in zip(grid, rows, strict=True):
        for ax in axes[len(row) :]:
            ax.remove()
    return figure, grid


def _axes(ax: Axes | None, width: float, height: float) -> Axes:
    """Return the given axes, or the axes of a new figure of this size (in inches)."""
    _require_matplotlib()
    if ax is not None:
        return ax
    from matplotlib import pyplot

    new: Axes = pyplot.figure(figsize=(width, height), layout="constrained").subplots()
    return new


def _require_matplotlib() -> None:
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise MissingLibraryError.of("a picture", "matplotlib", "plot") from None


def _legend(ax: Axes, columns: int) -> None:
    """Put the legend above the axes, where it covers nothing."""
    ax.legend(
        fontsize="small",
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=columns,
        frameon=False,
        borderaxespad=0.2,
        columnspacing=1.2,
        handlelength=1.4,
    )


def label_topics(ax: Axes, names: Sequence[str]) -> None:
    """Label the ticks with topics, leaving out labels that do not fit."""
    width = ax.get_position().width * ax.figure.figure.get_size_inches()[0]
    every = max(1, ceil(len(names) * _LABEL_HEIGHT / (width * 72)))
    ax.set_xticks(range(0, len(names), every), names[::every], rotation=90, fontsize="x-small")


def _constant(values: Floats) -> bool:
    present = values[~np.isnan(values)]
    return bool(len(present)) and float(np.ptp(present)) < EXACT


# The numbers that plots and the report draw


def topic_order(results: Results, measure: Measure) -> Ints:
    """Sort topics by the reference systems' (or else the runs') mean raw score, lowest first.

    Topics without factors come last.
    """
    if isinstance(measure, Standardized):
        means = peers_of(results.collection.plans[measure], results.topics).mean
    elif peers := results.collection.peers(measure):
        means = peers.mean
    else:
        means = np.mean([values[measure] for values in results.values.values()], axis=0)
    return np.argsort(means, kind="stable")


def axis_ticks(results: Results, measure: Measure) -> list[float]:
    """Choose the ticks of an axis that covers all runs and reference systems."""
    peers = results.collection.peers(measure)
    columns = [values[measure] for values in results.values.values()]
    if peers is not None:
        columns += [peers.least, peers.most]
        if isinstance(measure, Standardized):
            columns += [peers.low, peers.high]
    return ticks_of(np.concatenate(columns))


def ticks_of(values: Iterable[float]) -> list[float]:
    """Choose round ticks that cover 0 and all values.

    If no value is outside 0 to 1, the ticks cover 0 to 1.
    """
    present = [value for value in values if not isnan(value)]
    low, high = min(present, default=0.0), max(present, default=0.0)
    low, high = (0.0, 1.0) if low >= 0 and high <= 1 else (min(low, 0.0), max(high, 0.0))
    step = _round_step((high - low) / read_look()["ticks"])
    return [i * step for i in range(floor(low / step + 1e-9), ceil(high / step - 1e-9) + 1)]


def _round_step(about: float) -> float:
    """Round the distance between ticks up to 1, 2, 2.5 or 5 times a power of ten."""
    power = 10.0 ** floor(log10(about))
    return next(float(m * power) for m in (1, 2, 2.5, 5, 10) if m * power >= about * (1 - 1e-9))


def systems_means(results: Results, measure: Measure) -> Sequence[float]:
    """Return the means of the reference systems, lowest first; empty if unknown."""
    placements = (each.get(measure) for each in results.placements.values())
    return next((p.means for p in placements if p and p.means), ())
