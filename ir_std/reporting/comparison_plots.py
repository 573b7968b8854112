"""Pictures of several collections: means by collection, and forest plots of differences."""

from __future__ import annotations

from ir_measures.measures import Measure

from ir_std._arrays import Axes, Figure
from ir_std.analysis.effects import Summary
from ir_std.measures import Standardized, parse_measure, sign_of
from ir_std.reporting.comparison import Comparison
from ir_std.reporting.drawing import (
    MEAN,
    RUN,
    SUMMARY,
    axes_or_current,
    check_known,
    require_matplotlib,
)
from ir_std.reporting.effects import Effects
from ir_std.reporting.evaluated_runs import group_measures
from ir_std.reporting.system_effects import SystemEffects

_LARGEST_SQUARE = 140.0
"""The area of the largest square, in square points."""
ROOM = 40
"""Characters of collections' names that stand side by side below a picture of means."""


def means(comparison: Comparison, measure: Measure | str, ax: Axes | None = None) -> Axes:
    """The mean of one measure for each system and collection.

    Standardized means have 95 percent intervals over topics and standardizing systems; raw means
    have none, and are titled as not comparable across collections.

    Parameters
    ----------
    comparison : Comparison
    measure : Measure or str
        One of the comparison's measures.
    ax : matplotlib.axes.Axes, optional
        The current axes if not given.

    Raises
    ------
    UsageError
        If the comparison has no such measure.
    """
    measure = check_known(parse_measure(measure), comparison.measures, "measure")
    ax = axes_or_current(ax)
    place = {name: i for i, name in enumerate(comparison.collections)}
    shift = 0.6 / len(comparison.systems)
    for number, system in enumerate(comparison.systems):
        parts = comparison.parts_of(system)
        estimates = [part.estimate(measure) for part in parts]
        x = [place[part.collection] + (number + 0.5) * shift - 0.3 for part in parts]
        y = [estimate.mean for estimate in estimates]
        if isinstance(measure, Standardized):
            error = [estimate.half for estimate in estimates]
            ax.errorbar(x, y, yerr=error, fmt="o", capsize=3, label=system)
        else:
            ax.plot(x, y, "o", label=system)
    ax.set_xticks(range(len(place)), list(place))
    if sum(map(len, place)) > ROOM:
        for name in ax.get_xticklabels():
            name.set(rotation=45, ha="right", rotation_mode="anchor")
    ax.set_xlim(-0.5, len(place) - 0.5)
    ax.set_ylabel(f"mean {measure}")
    if isinstance(measure, Standardized):
        ax.set_title(_in_two_lines(_title(comparison, measure)), fontsize="medium")
        if measure["scheme"] in ("N", "U"):
            ax.axhline(0.5, color=MEAN, linewidth=0.8, linestyle=":")
            ax.set_ylim(0, 1)
    else:
        ax.set_title("raw: not comparable across collections", fontsize="medium")
        if max(map(abs, ax.dataLim.intervaly)) <= 1:
            ax.set_ylim(0, 1)
    ax.legend(fontsize="small", loc="best")
    return ax


def _title(comparison: Comparison, measure: Standardized) -> str:
    """Whether the means compare across collections."""
    if measure in comparison.links:
        return f"{comparison.label(measure)} (95% intervals)"
    if comparison.systems_alike:
        return "standardized by the same systems: comparable (95% intervals)"
    return "standardized, each by its own systems (95% intervals)"


def _in_two_lines(title: str) -> str:
    """What links a measure goes into a line of its own."""
    return title.replace(" linked by ", "\nlinked by ")


def comparison_figure(comparison: Comparison) -> Figure:
    """For each raw measure a row: its means, and beside them the standardized ones."""
    require_matplotlib()
    from matplotlib.figure import Figure

    rows = group_measures(comparison.measures)
    columns = max(map(len, rows))
    figure = Figure(figsize=(4.8 * columns, 3.4 * len(rows)), layout="constrained")
    grid = figure.subplots(len(rows), columns, squeeze=False)
    for axes, measures in zip(grid, rows, strict=True):
        for ax, measure in zip(axes, measures, strict=False):
            means(comparison, measure, ax)
            if ax is not grid[0][0]:
                ax.get_legend().remove()
        for ax in axes[len(measures) :]:
            ax.remove()
    return figure


def forest(effects: SystemEffects, ax: Axes | None = None, *, size: bool = False) -> Axes:
    """One system against the baseline by one measure, read as in medicine.

    Each collection is a square, as large as its weight in the summary, with the 95 percent
    interval; below them the random-effects summary, a diamond as wide as its interval, and as a
    line the prediction interval, where the difference on one more collection may lie.  Fewer than
    five collections have no summary here, and squares of one size.

    Parameters
    ----------
    effects : SystemEffects
        From :meth:`Comparison.effects`.
    ax : matplotlib.axes.Axes, optional
        The current axes if not given.
    size : bool
        Effect sizes (Hedges' g) instead of differences.
    """
    ax = axes_or_current(ax)
    points, summary = effects.points(size), effects.headline(size)
    n = len(points)
    used = effects.summarized(size) if summary else effects.known
    weights = iter(summary.weights if summary else (1.0,) * n)
    areas = [next(weights) if known else 0.0 for known in used]
    means, _, halves = zip(*points, strict=True)
    ax.axvline(0, color=MEAN, linewidth=0.8, zorder=0)
    ax.hlines(
        range(n),
        [m - h for m, h in zip(means, halves, strict=True)],
        [m + h for m, h in zip(means, halves, strict=True)],
        color=MEAN,
        linewidth=1.2,
    )
    ax.scatter(
        means,
        range(n),
        [_LARGEST_SQUARE * area / max(areas) for area in areas],
        marker="s",
        color=RUN,
        zorder=2,
    )
    names = [e.collection for e in effects.effects]
    if summary:
        _draw_summary(ax, summary, n)
        names.append("summary")
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.3, -0.7)
    ax.tick_params(axis="y", length=0)
    ax.locator_params(axis="x", nbins=5)
    if size:
        kind = "effect size (g)"
    else:
        standardized = isinstance(effects.measure, Standardized)
        kind = "standardized difference" if standardized else "raw difference"
    ax.set_title(
        f"{kind}, {_in_two_lines(effects.label)}"
        + (f"\n{_summary_text(summary)}" if summary else ""),
        fontsize="medium",
    )
    sides = (effects.baseline, effects.system)
    left, right = sides if sign_of(effects.measure) > 0 else sides[::-1]
    ax.set_xlabel(f"← {left} better    {right} better →", fontsize="small")
    return ax


def _draw_summary(ax: Axes, s: Summary, y: int) -> None:
    ax.axhline(y - 0.5, color=MEAN, linewidth=0.5, linestyle=":")
    ax.hlines([y], *([x] for x in s.predicted), color=SUMMARY, linewidth=1.2)
    ax.fill(
        [s.low, s.effect, s.high, s.effect], [y, y - 0.28, y, y + 0.28], color=SUMMARY, zorder=2
    )


def _summary_text(s: Summary) -> str:
    return f"{s.effect:+.3f} [{s.low:+.3f}, {s.high:+.3f}], I² {100 * s.i2:.0f}%"


def forest_figure(effects: Effects) -> Figure:
    """For each system and raw measure a row: its differences, the standardized ones, the sizes."""
    require_matplotlib()
    from matplotlib.figure import Figure

    rows = [
        [(effects.of(measure, system), False) for measure in group]
        + [(effects.of(group[0], system), True)]
        for system in effects.systems
        for group in group_measures(effects.measures)
    ]
    columns = max(map(len, rows))
    tallest = max(len(s.effects) for row in rows for s, _ in row)
    figure = Figure(
        figsize=(4.0 * columns + 0.8, (1.6 + 0.26 * tallest) * len(rows)), layout="constrained"
    )
    grid = figure.subplots(len(rows), columns, squeeze=False)
    for axes, row in zip(grid, rows, strict=True):
        for i, (ax, (of_system, size)) in enumerate(zip(axes, row, strict=False)):
            forest(of_system, ax, size=size)
            if i:
                ax.set_yticklabels([])
        for ax in axes[len(row) :]:
            ax.remove()
    return figure
