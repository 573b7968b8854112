"""The pictures as matplotlib drawings."""

import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ir_measures import AP, P
from ir_measures.measures import Measure
from made_up import entries_on
from views import hits, simulated

import ir_std
from ir_std import plots
from ir_std.errors import IrStdError, UsageError
from ir_std.reporting.difference import Difference, RunDifferences
from ir_std.reporting.links import Overlaps

matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed")
matplotlib.use("Agg")
pyplot = pytest.importorskip("matplotlib.pyplot")
PathCollection = pytest.importorskip("matplotlib.collections").PathCollection

Axes = Any
"""Type of axes; matplotlib does not type the marks on axes."""


@pytest.fixture
def ax() -> Iterator[Axes]:
    figure, axes = pyplot.subplots()
    yield axes
    pyplot.close(figure)


@pytest.fixture(scope="module")
def results() -> Any:
    return simulated(2, AP, schemes="N,z")


@pytest.mark.parametrize("measure", [AP, "sAP", "sAP(scheme='z')"])
def test_points_are_the_runs_scores_hardest_topic_first(
    results: ir_std.Results, measure: str, ax: Axes
) -> None:
    assert plots.topics(results, measure, "run1", ax) is ax
    order = np.argsort(ir_std.load_factors("trec8-adhoc").mean["AP"], kind="stable")
    scores = results.values["run1"][ir_std.parse_measure(measure)][order]
    drawn = np.asarray(ax.lines[-1].get_ydata())
    assert drawn == pytest.approx(scores)
    assert [t.get_text() for t in ax.get_xticklabels()] == [results.topics[i] for i in order]
    low, high = ax.get_ylim()
    assert low <= drawn.min()
    assert drawn.max() <= high


def test_bars_are_mean_and_standard_deviation_or_one_band(
    results: ir_std.Results, ax: Axes
) -> None:
    plots.topics(results, AP, ax=ax)
    drawn = sorted(bar.get_height() for bar in ax.patches)
    assert drawn == pytest.approx(np.sort(2 * ir_std.load_factors("trec8-adhoc").sd["AP"]))
    ax.clear()
    plots.topics(results, "sAP", ax=ax)
    (band,) = ax.patches
    ends = band.get_y(), band.get_y() + band.get_height()
    assert ends == pytest.approx((0.158655, 0.841345), abs=1e-6)


def test_ranking_draws_means_and_intervals_best_first(ax: Axes) -> None:
    found = simulated(3, AP, baseline="run1")
    plots.ranking(found, "sAP", ax)
    order = sorted(found.runs, key=lambda run: -found.means[run][ir_std.sAP])
    assert [t.get_text() for t in ax.get_yticklabels()] == order
    assert ax.get_ylim()[0] > ax.get_ylim()[1]
    for run, line, dot in zip(order, ax.collections, ax.lines[1:], strict=True):
        expected = found.estimate(run, ir_std.sAP)
        (segment,) = line.get_segments()
        assert tuple(segment[:, 0]) == pytest.approx(expected.interval)
        assert dot.get_xdata()[0] == pytest.approx(expected.mean)
        assert (dot.get_markerfacecolor() == "#fff") == (run == "run1")
    (systems,) = ax.patches
    placed = found.placements["run0"][ir_std.sAP]
    assert (systems.get_x(), systems.get_x() + systems.get_width()) == pytest.approx(
        (placed.means[0], placed.means[-1])
    )
    assert ax.lines[0].get_xdata()[0] == pytest.approx(np.mean(placed.means))


def test_intervals_end_where_scores_do(ax: Axes) -> None:
    found = hits({"high": [1, 1, 1, 0], "low": [1, 0, 0, 0]})
    plots.ranking(found, P @ 1, ax)
    lines = [line[:, 0] for c in ax.collections for line in c.get_segments()]
    assert {(round(low, 3), round(high, 3)) for low, high in lines} == {(0, 1)}


def test_ranking_of_many_runs_draws_the_first_and_the_baseline(ax: Axes) -> None:
    qrels = {"1": {f"d{i}": int(i == 0) for i in range(60)}}
    runs = {
        f"run{n}": {"1": {f"d{i}": float(-i if i else -n - 0.5) for i in range(60)}}
        for n in range(40)
    }
    found = ir_std.evaluate(runs, qrels, AP, baseline="run33")
    plots.ranking(found, AP, ax)
    names = [t.get_text() for t in ax.get_yticklabels()]
    assert names == [*(f"run{n}" for n in range(30)), "run33"]
    assert ax.get_xlabel().endswith("first 31 of 40 runs")


def test_difference_draws_all_topics_largest_first(results: ir_std.Results, ax: Axes) -> None:
    plots.difference(results, AP, "run1", "run0", ax)
    d = results.values["run1"][AP] - results.values["run0"][AP]
    assert [bar.get_height() for bar in ax.patches] == sorted(d, reverse=True)
    assert [t.get_text() for t in ax.get_xticklabels()] == [
        results.topics[i] for i in np.argsort(-d, kind="stable")
    ]
    assert f"run1 better on {(d > 0).sum()}, run0 on {(d < 0).sum()} of 50" in ax.get_title()


def test_difference_is_from_the_baseline_if_there_is_one(ax: Axes) -> None:
    qrels = {"1": {"x": 1, "y": 0}}
    runs = {"good": {"1": {"x": 2.0, "y": 1.0}}, "base": {"1": {"x": 1.0, "y": 2.0}}}
    plots.difference(ir_std.evaluate(runs, qrels, AP, baseline="base"), AP, ax=ax)
    assert ax.get_title().startswith("good better on 1, base on 0")
    ax.clear()
    plots.difference(ir_std.evaluate(runs, qrels, AP), AP, ax=ax)
    assert ax.get_title().startswith("good better on 1, base on 0")
    with pytest.raises(UsageError, match="needs two runs, but these results have one"):
        plots.difference(ir_std.evaluate({"a": runs["good"]}, qrels, AP), AP, ax=ax)


def boxes(artists: Any, figure: Any) -> list[Any]:
    renderer = figure.canvas.get_renderer()
    return [a.get_window_extent(renderer) for a in artists if a.get_text()]


@pytest.mark.slow
@pytest.mark.parametrize("size", [(14, 4.5), (10, 4.5)])
def test_nothing_overlaps_at_fifty_topics_side_by_side(
    results: ir_std.Results, size: tuple[float, float]
) -> None:
    figure, axes = pyplot.subplots(1, 2, figsize=size)
    plots.topics(results, AP, ax=axes[0])
    plots.topics(results, "sAP", ax=axes[1])
    figure.canvas.draw()
    left, right = (ax.get_legend().get_window_extent() for ax in axes)
    assert not left.overlaps(right)
    assert left.y1 <= figure.bbox.y1
    for ax in axes:
        labels = boxes(ax.get_xticklabels(), figure)
        assert all(not a.overlaps(b) for a, b in pairwise(labels))
        assert all(not ax.xaxis.label.get_window_extent().overlaps(box) for box in labels)
    pyplot.close(figure)


def test_each_plot_has_a_figure_of_its_own_in_which_nothing_is_cut(results: ir_std.Results) -> None:
    long = "a-run-with-a-very-long-name-indeed-as-people-give-them"
    one, other = results.collection.inputs.values()
    qrels = results.collection.evaluator.qrels
    named = ir_std.evaluate({long: one, "b": other}, qrels, AP, factors="trec8-adhoc")
    several = ir_std.compare([("x", one, qrels)], AP)
    drawn = [
        named.plot(),
        plots.ranking(named, AP),
        plots.topics(named, "sAP", long),
        plots.difference(named, AP),
        plots.means(several, "sAP"),
    ]
    assert len({ax.figure for ax in drawn}) == len(drawn)
    for ax in drawn:
        ax.figure.canvas.draw()
        box: Any = ax.get_tightbbox()
        whole = ax.figure.bbox
        assert (box.x0, box.y0) >= (-1, -1)
        assert box.x1 <= whole.x1 + 1
        assert box.y1 <= whole.y1 + 1
        legend = ax.get_legend()
        if legend:
            assert not legend.get_window_extent().overlaps(ax.get_window_extent())
        pyplot.close(ax.figure)


def test_an_unknown_measure_or_run_names_the_known_ones(results: ir_std.Results, ax: Axes) -> None:
    with pytest.raises(UsageError, match=r"RR is not among the measures; available: AP, sAP"):
        plots.topics(results, "RR", ax=ax)
    with pytest.raises(UsageError, match=r"unknown run 'c'; available: run0, run1"):
        plots.topics(results, AP, "c", ax)


def test_standardized_means_have_error_bars_and_raw_ones_a_caution() -> None:
    compared = ir_std.compare(entries_on(["trec7-adhoc", "trec8-adhoc"], "x"), AP)
    figure = plots.comparison_figure(compared)
    raw, standardized = figure.axes
    assert "not comparable" in raw.get_title()
    assert raw.containers == []
    assert len(standardized.containers) == 1
    assert [t.get_text() for t in raw.get_xticklabels()] == ["trec7-adhoc", "trec8-adhoc"]
    assert {t.get_rotation() for t in raw.get_xticklabels()} == {0}


def test_names_of_many_collections_are_tilted_so_that_they_can_be_read() -> None:
    entries = entries_on([f"trec{n}-adhoc" for n in (5, 6, 7, 8)], "x", 10)
    axes = plots.comparison_figure(ir_std.compare(entries, AP)).axes
    assert {t.get_rotation() for ax in axes for t in ax.get_xticklabels()} == {45}


def test_the_command_draws_into_a_file_or_names_the_endings_that_it_knows(
    tmp_path: Path, ir_std_cli: Any
) -> None:
    (tmp_path / "run").write_text("1 Q0 d 1 0.5 tag\n")
    (tmp_path / "qrels").write_text("1 0 d 1\n")
    compare = ("compare", f"x={tmp_path / 'run'}:{tmp_path / 'qrels'}", "AP", "--plot")
    for end in ("png", "svg", "pdf"):
        assert ir_std_cli(*compare, tmp_path / f"picture.{end}").status == 0
        assert (tmp_path / f"picture.{end}").stat().st_size > 1000
    refused = ir_std_cli(*compare, tmp_path / "picture.gif")
    assert refused.status == 2
    assert "must end in .png, .svg, .pdf" in refused.err[-1]


def test_without_matplotlib_one_line_says_what_to_install(
    results: ir_std.Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(IrStdError, match=r"pip install 'ir-std\[plot\]'"):
        plots.topics(results, AP)


@pytest.mark.slow
def test_importing_plots_does_not_import_matplotlib() -> None:
    code = "import sys\nfrom ir_std import plots, report\nsys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# Forest plots.


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


def test_scores_on_many_topics_are_drawn_in_order(ax: Axes) -> None:
    scores = {str(i): (i * 7 % 300) / 300 for i in range(300)}
    results = ir_std.evaluate(ir_std.read_scores({"run": {"latency": scores}}), None, "latency")
    plots.topics(results, "latency", ax=ax)
    (line,) = ax.lines
    assert list(line.get_ydata()) == sorted(scores.values())
    assert ax.get_xlabel() == "percent of topics, lowest score first"
