"""The pictures as matplotlib drawings: each function draws into the ``ax`` it is given."""

from __future__ import annotations

from typing import Any

import numpy as np
from ir_measures.measures import Measure

from ir_std._typing import Axes, Figure
from ir_std.errors import IrStdError, NoFactorsError, UsageError
from ir_std.measures import Standardized, parse_measure
from ir_std.reporting.comparison import Comparison
from ir_std.reporting.panels import LABELS, panel, topic_order
from ir_std.reporting.results import Results

_BAND, _RANGE, _MEAN, _RUN = "#b8c4d2", "#a9b6c6", "#4b5866", "#0a5bb8"


def topics(results: Results, measure: Measure | str, run: str | None = None,
           ax: Axes | None = None) -> Axes:
    """One run on each topic, with the spread of the standardizing systems.

    After Figure 1 (a raw measure) and Figure 2 (a standardized one) of Webber, Moffat and Zobel
    (SIGIR 2008): topics in the order of the standardizing systems' mean, hardest first; bars
    are their mean and one standard deviation below and above it, thin lines their lowest to
    highest score where these are known.

    Parameters
    ----------
    results : Results
    measure : Measure or str
        One of the results' measures.
    run : str, optional
        The first run if not given.
    ax : matplotlib.axes.Axes, optional
        The current axes if not given.

    Raises
    ------
    UsageError
        If the results have no such measure or run.
    """
    measure = _known(parse_measure(measure), results.measures, "measure")
    run = _known(results.runs[0] if run is None else run, results.runs, "run")
    ax = _axes(ax)
    picture = panel(results, measure, topic_order(results, measure))
    order, peers = picture.order, picture.peers
    x = np.arange(len(order))
    if peers is not None:
        name = f"the {peers.n_systems} standardizing systems"
        if not np.isnan(peers.least).all():
            ax.vlines(x, peers.least[order], peers.most[order], color=_RANGE, linewidth=1,
                      label="their lowest to highest", zorder=1)
        ax.bar(x, (peers.high - peers.low)[order], bottom=peers.low[order], width=0.6,
               color=_BAND, label=f"mean ± sd of {name}", zorder=2)
        ax.hlines(peers.mean[order], x - 0.4, x + 0.4, color=_MEAN, linewidth=1.2, zorder=3)
    ax.plot(x, results.values[run][measure][order], "o", color=_RUN, markersize=4, label=run,
            zorder=4)
    ax.set_ylim(picture.low, picture.high)
    ax.margins(x=0.01)
    every = -(-len(order) // LABELS)
    ax.set_xticks(x[::every], [results.topics[i] for i in order[::every]], rotation=90,
                  fontsize="x-small")
    ax.set_xlabel("topic, hardest first")
    ax.set_ylabel(str(measure))
    ax.legend(fontsize="small", loc="lower left", bbox_to_anchor=(0, 1), ncols=3, frameon=False)
    return ax


def placement(results: Results, measure: Measure | str, run: str | None = None,
              ax: Axes | None = None) -> Axes:
    """Where a run's mean stands among those of the standardizing systems.

    Parameters and errors as for :func:`topics`; :class:`NoFactorsError` with the reason if the
    run cannot be placed.
    """
    measure = _known(parse_measure(measure), results.measures, "measure")
    run = _known(results.runs[0] if run is None else run, results.runs, "run")
    placed = results.placements.get(run, {}).get(measure)
    if placed is None or placed.why_not:
        raise NoFactorsError(str(placed or results.match))
    ax = _axes(ax)
    ax.vlines(placed.means, 0, 1, color=_MEAN, linewidth=0.8, alpha=0.6,
              label=f"the {placed.n_systems} standardizing systems")
    ax.vlines([placed.value], -0.2, 1.2, color=_RUN, linewidth=3, label=run)
    ax.set_yticks([])
    ax.set_xlabel(f"mean {measure}")
    ax.set_title(str(placed), fontsize="medium", loc="right")
    ax.legend(fontsize="small", loc="lower left", bbox_to_anchor=(0, 1), ncols=2, frameon=False)
    return ax


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
    measure = _known(parse_measure(measure), comparison.measures, "measure")
    ax = _axes(ax)
    place = {name: i for i, name in enumerate(comparison.collections)}
    shift = 0.6 / len(comparison.systems)
    for number, system in enumerate(comparison.systems):
        parts = [part for part in comparison.parts if part.system == system]
        found = [part.estimate(measure) for part in parts]
        x = [place[part.collection] + (number + 0.5) * shift - 0.3 for part in parts]
        y = [estimate.mean for estimate in found]
        if isinstance(measure, Standardized):
            error = [estimate.half for estimate in found]
            ax.errorbar(x, y, yerr=error, fmt="o", capsize=3, label=system)
        else:
            ax.plot(x, y, "o", label=system)
    ax.set_xticks(range(len(place)), list(place))
    ax.set_xlim(-0.5, len(place) - 0.5)
    ax.set_ylabel(f"mean {measure}")
    if isinstance(measure, Standardized):
        ax.set_title("standardized: comparable (95% intervals)", fontsize="medium")
        if measure["scheme"] in ("N", "U"):
            ax.axhline(0.5, color=_MEAN, linewidth=0.8, linestyle=":")
            ax.set_ylim(0, 1)
    else:
        ax.set_title("raw: not comparable across collections", fontsize="medium")
        if max(map(abs, ax.dataLim.intervaly)) <= 1:
            ax.set_ylim(0, 1)
    ax.legend(fontsize="small", loc="best")
    return ax


def comparison_figure(comparison: Comparison) -> Figure:
    """For each raw measure a row: its means, and beside them the standardized ones."""
    _require_matplotlib()
    from matplotlib.figure import Figure

    rows: list[list[Measure]] = []
    for measure in comparison.measures:
        if isinstance(measure, Standardized) and rows:
            rows[-1].append(measure)
        else:
            rows.append([measure])
    columns = max(map(len, rows))
    figure = Figure(figsize=(4.8 * columns, 3.4 * len(rows)), layout="constrained")
    grid = figure.subplots(len(rows), columns, squeeze=False)
    for axes, measures in zip(grid, rows, strict=True):
        for ax, measure in zip(axes, measures, strict=False):
            means(comparison, measure, ax)
            if ax is not grid[0][0]:
                ax.get_legend().remove()
        for ax in axes[len(measures):]:
            ax.remove()
    return figure


def _known(name: Any, known: tuple[Any, ...], kind: str) -> Any:
    if name not in known:
        raise UsageError(f"no {kind} {name} in these results: there are "
                         f"{', '.join(map(str, known))}")
    return name


def _axes(ax: Axes | None) -> Axes:
    _require_matplotlib()
    if ax is not None:
        return ax
    from matplotlib import pyplot

    current: Axes = pyplot.gca()
    return current


def _require_matplotlib() -> None:
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise IrStdError("plots need matplotlib: pip install 'ir-std[plot]'") from None
