"""matplotlib, which only the pictures need."""

from __future__ import annotations

from ir_std._arrays import Axes
from ir_std.errors import MissingLibraryError


def axes_or_current(ax: Axes | None) -> Axes:
    """The axes that were given, or the current ones."""
    require_matplotlib()
    if ax is not None:
        return ax
    from matplotlib import pyplot

    current: Axes = pyplot.gca()
    return current


def require_matplotlib() -> None:
    """Say in one line what to install where matplotlib is missing."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise MissingLibraryError.of("a picture", "matplotlib", "plot") from None
