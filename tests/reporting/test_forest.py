"""Forest plots."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from ir_measures import AP
from ir_measures.measures import Measure
from made_up import entries_on

import ir_std
from ir_std import plots
from ir_std.reporting.difference import Difference
from ir_std.reporting.links import Overlaps
from ir_std.reporting.summaries import RunDifferences

matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed")
matplotlib.use("Agg")
pyplot = pytest.importorskip("matplotlib.pyplot")
PathCollection = pytest.importorskip("matplotlib.collections").PathCollection

Axes = Any
"""matplotlib's own says of what is drawn that it is a Patch, a Collection: not of which kind."""


def across(n: int = 5, measure: Measure = AP, n_shared: int = 0) -> RunDifferences:
    random = np.random.default_rng(1)
    return RunDifferences(
        "b",
        "a",
        measure,
        tuple(
            Difference.of("b", "a", f"set{i}", measure, random.normal(0.1, 1, 20 + 20 * i))
            for i in range(n)
        ),
        Overlaps({("set0", "set1"): n_shared}),
    )


@pytest.fixture
def ax() -> Iterator[Axes]:
    figure, axes = pyplot.subplots()
    yield axes
    pyplot.close(figure)


@pytest.mark.parametrize("size", [False, True])
def test_squares_are_the_effects_and_their_areas_the_weights(ax: Axes, size: bool) -> None:
    found = across()
    assert plots.forest(found, ax, size=size) is ax
    squares = next(c for c in ax.collections if isinstance(c, PathCollection))
    summary = found.summary(size)
    assert summary
    assert np.array(squares.get_offsets())[:, 0] == pytest.approx(
        [p[0] for p in found.points(size)]
    )
    assert squares.get_sizes() / squares.get_sizes().sum() == pytest.approx(summary.weights)
    labels = [t.get_text() for t in ax.get_yticklabels()]
    assert labels == [*(f"set{i}" for i in range(5)), "summary"]


def test_lines_are_intervals_and_the_diamond_is_the_summary(ax: Axes) -> None:
    found = across()
    plots.forest(found, ax)
    drawn = (c for c in ax.collections if hasattr(c, "get_segments"))
    lines = [segment for c in drawn for segment in c.get_segments()]
    for line, (effect, _, half) in zip(lines, found.points(), strict=False):
        assert line[:, 0] == pytest.approx([effect - half, effect + half])
    s = found.summary()
    assert s
    assert sorted({*ax.patches[0].get_xy()[:, 0].tolist()}) == pytest.approx(
        [s.low, s.effect, s.high]
    )
    assert f"{s.effect:+.3f} [{s.low:+.3f}, {s.high:+.3f}]" in ax.get_title()


@pytest.mark.parametrize(
    "found",
    [across(n_shared=20), across(4), across(3), across(2)],
    ids=["overlapping", "four", "three", "two"],
)
@pytest.mark.parametrize("size", [False, True])
def test_without_a_headline_there_is_no_diamond_and_squares_are_alike(
    ax: Axes, found: RunDifferences, size: bool
) -> None:
    plots.forest(found, ax, size=size)
    assert not ax.patches
    assert "summary" not in [t.get_text() for t in ax.get_yticklabels()]
    assert "\n" not in ax.get_title()
    squares = next(c for c in ax.collections if isinstance(c, PathCollection))
    assert len(set(squares.get_sizes().tolist())) == 1


def test_a_row_shows_raw_and_standardized_differences_and_sizes() -> None:
    entries = entries_on(["trec7-adhoc", "trec8-adhoc"])
    figure = plots.forest_figure(ir_std.compare(entries, AP, baseline="a"))
    assert [a.get_title().splitlines()[0] for a in figure.axes] == [
        "raw difference, AP",
        "standardized difference, sAP",
        "effect size (g), AP",
    ]
    assert "a better" in figure.axes[0].get_xlabel()
    figure.canvas.draw()
