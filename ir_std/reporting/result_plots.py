"""Pictures of one collection: each function draws into the matplotlib ``ax`` it is given."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from ir_measures.measures import Measure

from ir_std._arrays import Axes, Floats
from ir_std.errors import NoFactorsError, UsageError, counted
from ir_std.measures import parse_measure, sign_of
from ir_std.reporting.drawing import (
    BAND,
    BASELINE,
    MEAN,
    RANGE,
    RUN,
    SHADE,
    add_legend,
    axes_or_current,
    check_known,
    label_topics,
    name_rows,
)
from ir_std.reporting.evaluated_runs import EvaluatedRuns
from ir_std.reporting.figure_data import (
    MANY_RUNS,
    MANY_TOPICS,
    Panel,
    mean_estimate,
    panel,
    runs_by_mean,
    systems_means,
    topic_order,
)
from ir_std.reporting.headlines import limits_of
from ir_std.schemes import EXACT

DENSE_RUNS = 150
"""With more runs than this intervals would merge."""
_MAX_NAMED = 10
"""Runs that are named where all of them cannot be."""


def topics(
    results: EvaluatedRuns, measure: Measure | str, run: str | None = None, ax: Axes | None = None
) -> Axes:
    """One run on each topic, with the spread of the standardizing systems.

    After Figure 1 (a raw measure) and Figure 2 (a standardized one) of Webber, Moffat and Zobel
    (SIGIR 2008): topics in the order of the standardizing systems' mean, hardest first; bars
    are their mean and one standard deviation below and above it, thin lines their lowest to
    highest score where these are known.

    Parameters
    ----------
    results : EvaluatedRuns
        From :func:`ir_std.evaluate`.
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
    measure = check_known(parse_measure(measure), results.measures, "measure")
    run = check_known(results.runs[0] if run is None else run, results.runs, "run")
    ax = axes_or_current(ax)
    picture = panel(results, measure, topic_order(results, measure))
    if len(picture.order) > MANY_TOPICS:
        _sorted_scores(results, picture, run, ax)
    else:
        _scores_by_topic(results, picture, run, ax)
    ax.set_ylim(picture.low, picture.high)
    ax.set_ylabel(str(measure))
    add_legend(ax, 2)
    return ax


def _scores_by_topic(results: EvaluatedRuns, picture: Panel, run: str, ax: Axes) -> None:
    order, peers = picture.order, picture.peers
    x = np.arange(len(order))
    if peers is not None:
        ranges = not np.isnan(peers.least).all()
        if ranges:
            ax.vlines(
                x,
                peers.least[order],
                peers.most[order],
                color=RANGE,
                linewidth=1,
                label=f"lowest to highest of {peers.n_systems} systems",
                zorder=1,
            )
        label = "their mean ± sd" if ranges else f"mean ± sd of {peers.n_systems} systems"
        if _constant(peers.low) and _constant(peers.high):
            ax.axhspan(
                np.nanmin(peers.low),
                np.nanmax(peers.high),
                color=BAND,
                alpha=0.6,
                label=label,
                zorder=0,
            )
            ax.axhline(float(np.nanmean(peers.mean)), color=MEAN, linewidth=1.2, zorder=3)
        else:
            ax.bar(
                x,
                (peers.high - peers.low)[order],
                bottom=peers.low[order],
                width=0.6,
                color=BAND,
                label=label,
                zorder=2,
            )
            ax.hlines(peers.mean[order], x - 0.4, x + 0.4, color=MEAN, linewidth=1.2, zorder=3)
    ax.plot(
        x,
        results.values[run][picture.measure][order],
        "o",
        color=RUN,
        markersize=4,
        label=run,
        zorder=4,
    )
    ax.margins(x=0.01)
    label_topics(ax, [results.topics[i] for i in order])
    ax.set_xlabel("topic, hardest first")


def _sorted_scores(results: EvaluatedRuns, picture: Panel, run: str, ax: Axes) -> None:
    """Thousands of topics: each curve is sorted by itself."""
    peers = picture.peers
    if peers is not None:
        label = f"mean of {peers.n_systems} systems"
        if _constant(peers.low) and _constant(peers.high):
            ax.axhspan(np.nanmin(peers.low), np.nanmax(peers.high), color=BAND, alpha=0.6, zorder=0)
            label = f"mean ± sd of {peers.n_systems} systems"
        _draw_sorted(ax, peers.mean, MEAN, label)
    _draw_sorted(ax, results.values[run][picture.measure], RUN, run)
    ax.margins(x=0)
    ax.set_xlabel("percent of topics, lowest score first")


def _draw_sorted(ax: Axes, values: Floats, color: str, label: str) -> None:
    known = np.sort(values[~np.isnan(values)])
    ax.plot(np.linspace(0, 100, len(known)), known, color=color, label=label)


def placement(
    results: EvaluatedRuns, measure: Measure | str, run: str | None = None, ax: Axes | None = None
) -> Axes:
    """Where a run's mean stands among those of the standardizing systems.

    Parameters and errors as for :func:`topics`; :class:`NoFactorsError` with the reason if the
    run cannot be placed.
    """
    measure = check_known(parse_measure(measure), results.measures, "measure")
    run = check_known(results.runs[0] if run is None else run, results.runs, "run")
    placed = results.placements.get(run, {}).get(measure)
    if placed is None or placed.why_not:
        raise NoFactorsError(str(placed or results.match))
    ax = axes_or_current(ax)
    ax.vlines(
        placed.means,
        0,
        1,
        color=MEAN,
        linewidth=0.8,
        alpha=0.6,
        label=f"the {placed.n_systems} standardizing systems",
    )
    ax.vlines([placed.value], -0.2, 1.2, color=RUN, linewidth=3, label=f"{run}: {placed.summary}")
    ax.set_yticks([])
    ax.set_xlabel(f"mean {measure}")
    add_legend(ax, 1)
    return ax


def ranking(results: EvaluatedRuns, measure: Measure | str, ax: Axes | None = None) -> Axes:
    """All runs by mean, best first, with 95 percent intervals, among the standardizing systems.

    Thick lines are over topics, thin ones over topics and standardizing systems.  Shaded from
    the lowest to the highest mean of these systems, where these are known, with a line at their
    mean.  Bands are of runs that cannot be told apart, see :attr:`Results.ranks`.  Of more than 30
    runs the first ten and the baseline are named; of more than 150 these alone have intervals.

    Parameters
    ----------
    results : EvaluatedRuns
        From :func:`ir_std.evaluate`.
    measure : Measure or str
        One of the results' measures.
    ax : matplotlib.axes.Axes, optional
        The current axes if not given.

    Raises
    ------
    UsageError
        If the results have no such measure.
    """
    measure = check_known(parse_measure(measure), results.measures, "measure")
    ax = axes_or_current(ax)
    order = [
        run for run in runs_by_mean(results, measure) if not np.isnan(results.means[run][measure])
    ]
    many = len(order) > MANY_RUNS
    systems = systems_means(results, results.runs, measure)
    if systems:
        _shade_systems(ax, systems)
    named = [i for i, run in enumerate(order) if i < _MAX_NAMED or run == results.baseline]
    _draw_bands(results, measure, order, ax)
    drawn = named if len(order) > DENSE_RUNS else range(len(order))
    high = _draw_means(results, measure, order, drawn, ax)
    ax.set_ylim(len(order) - 0.4, -0.6 - 0.03 * len(order) * many)
    ax.set_xlabel(f"mean {measure}, with 95% intervals")
    if many:
        ax.set_yticks([])
        ax.set_ylabel(f"{len(order)} runs, best first")
        name_rows(ax, order, named, high)
    else:
        ax.set_yticks(range(len(order)), order)
        ax.tick_params(axis="y", length=0)
    if ax.get_legend_handles_labels()[0]:
        add_legend(ax, 2)
    return ax


def _shade_systems(ax: Axes, means: Sequence[float]) -> None:
    label = f"range of the {len(means)} standardizing systems"
    ax.axvspan(means[0], means[-1], color=SHADE, zorder=0, label=label)
    ax.axvline(float(np.mean(means)), color=MEAN, linewidth=1, label="their mean", zorder=1)


def _draw_bands(results: EvaluatedRuns, measure: Measure, order: Sequence[str], ax: Axes) -> None:
    """Every second group of runs that cannot be told apart."""
    groups = [results.ranks[run][measure].group for run in order]
    label = "band: cannot be told apart"
    for group in range(2, max(groups, default=0) + 1, 2):
        first = groups.index(group)
        last = first + groups.count(group)
        ax.axhspan(
            first - 0.5, last - 0.5, color=BAND, alpha=0.3, linewidth=0, zorder=0, label=label
        )
        label = "_"


def _draw_means(
    results: EvaluatedRuns, measure: Measure, order: Sequence[str], drawn: Sequence[int], ax: Axes
) -> Floats:
    """Dots from top to bottom, ``drawn`` ones with intervals; gives the upper ends of these."""
    many, (low, high) = len(order) > MANY_RUNS, limits_of(measure) or (-np.inf, np.inf)
    is_baseline = [run == results.baseline for run in order]
    means = np.array([results.means[run][measure] for run in order])
    estimates = [mean_estimate(results, run, measure) for run in order]
    # Of one topic there is no interval.
    both, topics = np.nan_to_num([[e.half for e in estimates], [e.topics for e in estimates]])
    y = np.arange(len(order))
    colors = [BASELINE if is_base else RUN for is_base in is_baseline]
    for half, width, label in (
        (both, 0.8, "thin: by topics and systems"),
        (topics, 0.8 if many else 2.6, "thick: 95% interval by topics"),
    ):
        ax.hlines(
            y[drawn],
            np.clip(means - half, low, high)[drawn],
            np.clip(means + half, low, high)[drawn],
            color=[colors[i] for i in drawn],
            linewidth=width,
            alpha=0.4 if many else 1,
            zorder=2,
            label=label if (both > topics).any() and not many else "_",
        )
    sizes = [22 if is_base or not many else 6 for is_base in is_baseline]
    ax.scatter(means, y, s=sizes, color=colors, zorder=3)
    ends: Floats = np.clip(means + np.isin(y, drawn) * both, low, high)
    return ends


def difference(
    results: EvaluatedRuns,
    measure: Measure | str,
    run: str | None = None,
    baseline: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """A run's scores minus another's, topic by topic, largest first.

    Parameters
    ----------
    results : EvaluatedRuns
        From :func:`ir_std.evaluate`.
    measure : Measure or str
        One of the results' measures.
    run : str, optional
        The first run that is not the baseline if not given.
    baseline : str, optional
        The results' baseline if not given, or else the second run.
    ax : matplotlib.axes.Axes, optional
        The current axes if not given.

    Raises
    ------
    UsageError
        If the results have no such measure or run, or only one run.
    """
    measure = check_known(parse_measure(measure), results.measures, "measure")
    if len(results.runs) < 2:
        raise UsageError("a difference takes two runs: these results have one")
    if baseline is None:
        baseline = results.baseline or next(r for r in results.runs[1::-1] if r != run)
    baseline = check_known(baseline, results.runs, "run")
    run = check_known(
        next(r for r in results.runs if r != baseline) if run is None else run, results.runs, "run"
    )
    ax = axes_or_current(ax)
    differences = results.values[run][measure] - results.values[baseline][measure]
    known = np.flatnonzero(~np.isnan(differences))
    order = known[np.argsort(-differences[known], kind="stable")]
    d = differences[order]
    ax.bar(
        np.arange(len(d)),
        d,
        width=0.8 if len(d) <= MANY_TOPICS else 1.0,
        color=[RUN if value > 0 else BASELINE for value in d],
    )
    ax.axhline(0, color=MEAN, linewidth=0.8)
    label_topics(ax, [results.topics[i] for i in order])
    ax.margins(x=0.01)
    ax.set_ylabel(f"difference in {measure}")
    ax.set_xlabel("topic")
    mean = f"; mean {float(d.mean()):+.4f}" if len(d) else ""
    above = sign_of(measure) * d
    ax.set_title(
        f"{run} better on {int((above > 0).sum())}, {baseline} on {int((above < 0).sum())} of "
        f"{counted(len(d), 'topic')}{mean}",
        fontsize="medium",
    )
    return ax


def _constant(values: Floats) -> bool:
    known = values[~np.isnan(values)]
    return bool(len(known)) and float(np.ptp(known)) < EXACT
