"""What the pictures share: matplotlib, which only they need, axes, colours, labels and legends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ir_std._arrays import Axes, Figure
from ir_std.errors import MissingLibraryError, UsageError

BAND, RANGE, MEAN, SHADE = "#b8c4d2", "#a9b6c6", "#4b5866", "#eef1f5"
"""Of the standardizing systems: mean and deviation, lowest to highest, mean, background."""
RUN, BASELINE, SUMMARY = "#0a5bb8", "#b04a00", "#c2410c"
_LABEL_HEIGHT = 7.0
"""Points that a topic's label takes."""


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
    """Names of as many topics as have room beside each other."""
    every = max(1, int(np.ceil(len(names) * _LABEL_HEIGHT / (size_in_inches(ax)[0] * 72))))
    ax.set_xticks(range(0, len(names), every), names[::every], rotation=90, fontsize="x-small")


def whole_figure(ax: Axes) -> Figure:
    """The whole of which it is a part: a figure's own ``figure`` is itself."""
    return ax.figure.figure


def size_in_inches(ax: Axes) -> tuple[float, float]:
    """Width and height of what is drawn into."""
    box = ax.get_position()
    width, height = whole_figure(ax).get_size_inches()
    return float(box.width * width), float(box.height * height)


def add_legend(ax: Axes, columns: int) -> None:
    """Above the axes and no wider: what does not fit beside each other stands in rows."""
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


def check_known(name: Any, known: tuple[Any, ...], kind: str) -> Any:
    """The measure or run of this name; UsageError if the results have none."""
    if name not in known:
        raise UsageError(
            f"no {kind} {name} in these results: there are {', '.join(map(str, known))}"
        )
    return name
