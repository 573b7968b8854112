"""Forest plots: a system's differences from a baseline on each collection, and their summary."""

from __future__ import annotations

from ir_measures.measures import Measure

from ir_std._arrays import Axes, Figure
from ir_std.analysis.effects import Summary
from ir_std.measures import Standardized
from ir_std.reporting._matplotlib import axes_or_current, require_matplotlib
from ir_std.reporting.effects import Effects, SystemEffects

_BETTER, _LINE, _SUMMARY = "#0a5bb8", "#4b5866", "#c2410c"
_LARGEST = 140.0
"""The area of the largest square, in square points."""


def forest(across: SystemEffects, ax: Axes | None = None, *, size: bool = False) -> Axes:
    """One system against the baseline by one measure, read as in medicine.

    A square a collection, its area the weight in the summary, with the 95 percent interval; below
    them the random-effects summary, a diamond as wide as its interval, and as a line the
    prediction interval, where the difference on one more collection may lie.  Without a summary
    squares are of one size.

    Parameters
    ----------
    across : Across
        From :meth:`Comparison.effects`.
    ax : matplotlib.axes.Axes, optional
        The current axes if not given.
    size : bool
        Effect sizes (Hedges' g) instead of differences.
    """
    ax = axes_or_current(ax)
    points, summary = across.points(size), across.summary(size)
    n = len(points)
    weights = iter(summary.weights if summary else (1.0,) * n)
    areas = [next(weights) if known else 0.0 for known in across.known]
    means, _, halves = zip(*points, strict=True)
    ax.axvline(0, color=_LINE, linewidth=0.8, zorder=0)
    ax.hlines(
        range(n),
        [m - h for m, h in zip(means, halves, strict=True)],
        [m + h for m, h in zip(means, halves, strict=True)],
        color=_LINE,
        linewidth=1.2,
    )
    ax.scatter(
        means,
        range(n),
        [_LARGEST * area / max(areas) for area in areas],
        marker="s",
        color=_BETTER,
        zorder=2,
    )
    names = [e.collection for e in across.effects]
    if summary:
        _draw_summary(ax, summary, n)
        names.append("summary")
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.3, -0.7)
    ax.tick_params(axis="y", length=0)
    ax.locator_params(axis="x", nbins=5)
    kind = (
        "effect size (g)"
        if size
        else (
            "standardized difference"
            if isinstance(across.measure, Standardized)
            else "raw difference"
        )
    )
    ax.set_title(
        f"{kind}, {across.measure}" + (f"\n{_words(summary)}" if summary else ""), fontsize="medium"
    )
    ax.set_xlabel(f"← {across.baseline} better    {across.system} better →", fontsize="small")
    return ax


def _draw_summary(ax: Axes, s: Summary, y: int) -> None:
    ax.axhline(y - 0.5, color=_LINE, linewidth=0.5, linestyle=":")
    ax.hlines([y], *([x] for x in s.predicted), color=_SUMMARY, linewidth=1.2)
    ax.fill(
        [s.low, s.effect, s.high, s.effect], [y, y - 0.28, y, y + 0.28], color=_SUMMARY, zorder=2
    )


def _words(s: Summary) -> str:
    return f"{s.effect:+.3f} [{s.low:+.3f}, {s.high:+.3f}], I² {100 * s.i2:.0f}%"


def forest_figure(effects: Effects) -> Figure:
    """For each system and raw measure a row: its differences, the standardized ones, the sizes."""
    require_matplotlib()
    from matplotlib.figure import Figure

    rows = [
        [(effects.of(measure, system), False) for measure in group]
        + [(effects.of(group[0], system), True)]
        for system in effects.systems
        for group in _groups(effects)
    ]
    columns = max(map(len, rows))
    tallest = max(len(a.effects) for row in rows for a, _ in row)
    figure = Figure(
        figsize=(4.0 * columns + 0.8, (1.6 + 0.26 * tallest) * len(rows)), layout="constrained"
    )
    grid = figure.subplots(len(rows), columns, squeeze=False)
    for axes, row in zip(grid, rows, strict=True):
        for i, (ax, (across, size)) in enumerate(zip(axes, row, strict=False)):
            forest(across, ax, size=size)
            if i:
                ax.set_yticklabels([])
        for ax in axes[len(row) :]:
            ax.remove()
    return figure


def _groups(effects: Effects) -> list[list[Measure]]:
    """Each raw measure with its standardized companions."""
    groups: list[list[Measure]] = []
    for measure in effects.measures:
        if isinstance(measure, Standardized) and groups:
            groups[-1].append(measure)
        else:
            groups.append([measure])
    return groups
