"""What the pictures share: matplotlib, which only they need, axes, colours, labels and legends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ir_std._arrays import Axes, Figure, Floats
from ir_std.errors import MissingLibraryError, UsageError

BAND, RANGE, MEAN, SHADE = "#b8c4d2", "#a9b6c6", "#4b5866", "#eef1f5"
"""The standardizing systems' deviation, their range, their mean; a shaded background."""
RUN, BASELINE, SUMMARY = "#0a5bb8", "#b04a00", "#c2410c"
_LABEL_HEIGHT = 7.0
"""Width of a topic's label, in points."""


def axes_or_current(ax: Axes | None) -> Axes:
    """The axes that were given, or the current ones."""
    require_matplotlib()
    if ax is not None:
        return ax
    from matplotlib import pyplot

    current: Axes = pyplot.gca()
    return current


def require_matplotlib() -> None:
    """Raise MissingLibraryError, which names what to install, where matplotlib is missing."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise MissingLibraryError.of("a picture", "matplotlib", "plot") from None


def label_topics(ax: Axes, names: Sequence[str]) -> None:
    """Label the ticks with topics, leaving out those that there is no room for."""
    every = max(1, int(np.ceil(len(names) * _LABEL_HEIGHT / (size_in_inches(ax)[0] * 72))))
    ax.set_xticks(range(0, len(names), every), names[::every], rotation=90, fontsize="x-small")


def whole_figure(ax: Axes) -> Figure:
    """The figure that an axes belongs to, also where it stands in a subfigure."""
    return ax.figure.figure


def size_in_inches(ax: Axes) -> tuple[float, float]:
    """Width and height of an axes."""
    box = ax.get_position()
    width, height = whole_figure(ax).get_size_inches()
    return float(box.width * width), float(box.height * height)


def add_legend(ax: Axes, columns: int) -> None:
    """Put the legend above the axes, in so many columns that it is no wider."""
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


def name_rows(ax: Axes, names: Sequence[str], rows: Sequence[int], high: Floats) -> None:
    """Write names right of all that is drawn, each with a line from the end of its row."""
    first, edge = ax.get_xlim()
    ticks = [tick for tick in ax.get_xticks() if first <= tick <= edge]
    step = (edge - first) / 100
    gap = 9 * len(names) / (size_in_inches(ax)[1] * 72)
    at = -np.inf
    for row in rows:
        at = max(float(row), at + gap)
        ax.plot(
            [high[row], edge, edge + 3 * step], [row, row, at], color=RANGE, linewidth=0.5, zorder=1
        )
        ax.text(
            edge + 4 * step, at, shorten(names[row]), fontsize="x-small", va="center", clip_on=True
        )
    ax.set_xlim(first, edge + 38 * step)
    ax.set_xticks(ticks)


def shorten(name: str, letters: int = 28) -> str:
    """Cut in the middle: names that begin alike often differ in how they end."""
    half = (letters - 1) // 2
    return name if len(name) <= letters else f"{name[:half]}\N{HORIZONTAL ELLIPSIS}{name[-half:]}"


def check_known(name: Any, known: tuple[Any, ...], kind: str) -> Any:
    """The measure or run of this name; UsageError if the results have none."""
    if name not in known:
        raise UsageError(
            f"no {kind} {name} in these results: there are {', '.join(map(str, known))}"
        )
    return known[known.index(name)]  # of equal measures the one that knows what is better
