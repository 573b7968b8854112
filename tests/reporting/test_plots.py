"""The pictures as matplotlib drawings."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from ir_measures import AP

import ir_std
from ir_std import plots
from ir_std.cli import main
from ir_std.errors import IrStdError, UsageError
from ir_std.testing import simulated_qrels, simulated_run

matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed")
matplotlib.use("Agg")
pyplot = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture
def ax() -> Iterator[object]:
    figure, axes = pyplot.subplots()
    yield axes
    pyplot.close(figure)


@pytest.fixture(scope="module")
def results() -> ir_std.Results:
    qrels = simulated_qrels(ir_std.load_factors("trec8-adhoc").n_rel)
    return ir_std.evaluate({n: simulated_run(qrels, i, 100) for i, n in enumerate("ab")}, qrels,
                           AP, "N,z")


@pytest.mark.parametrize("measure", [AP, "sAP", "sAP(scheme='z')"])
def test_points_are_the_runs_scores_hardest_topic_first(
        results: ir_std.Results, measure: str, ax: matplotlib.axes.Axes) -> None:
    assert plots.topics(results, measure, "b", ax) is ax
    order = np.argsort(ir_std.load_factors("trec8-adhoc").mean["AP"], kind="stable")
    scores = results.values["b"][ir_std.parse_measure(measure)][order]
    drawn = ax.lines[-1].get_ydata()
    assert drawn == pytest.approx(scores)
    assert [t.get_text() for t in ax.get_xticklabels()] == [results.topics[i] for i in order]
    low, high = ax.get_ylim()
    assert low <= min(drawn)
    assert max(drawn) <= high


def test_bars_are_mean_and_standard_deviation(results: ir_std.Results,
                                              ax: matplotlib.axes.Axes) -> None:
    plots.topics(results, AP, ax=ax)
    factors = ir_std.load_factors("trec8-adhoc")
    drawn = sorted(bar.get_height() for bar in ax.patches)
    assert drawn == pytest.approx(np.sort(2 * factors.sd["AP"]))


def test_without_an_ax_the_current_one_is_used(results: ir_std.Results,
                                               ax: matplotlib.axes.Axes) -> None:
    pyplot.sca(ax)
    assert plots.topics(results, AP) is ax


def test_the_runs_place_is_drawn_among_the_systems(results: ir_std.Results,
                                                   ax: matplotlib.axes.Axes) -> None:
    plots.placement(results, "sAP", "b", ax)
    placed = results.placements["b"][ir_std.sAP]
    systems, own = (c.get_segments() for c in ax.collections)
    assert [s[0][0] for s in systems] == pytest.approx(list(placed.means))
    assert own[0][0][0] == pytest.approx(results.means["b"][ir_std.sAP])
    assert ax.get_title("right") == str(placed)


def test_an_unknown_measure_or_run_names_the_known_ones(results: ir_std.Results,
                                                        ax: matplotlib.axes.Axes) -> None:
    with pytest.raises(UsageError, match=r"no measure RR.*AP, sAP"):
        plots.topics(results, "RR", ax=ax)
    with pytest.raises(UsageError, match=r"no run c .*a, b"):
        plots.topics(results, AP, "c", ax)


def test_standardized_means_have_error_bars_and_raw_ones_a_caution() -> None:
    t7, t8 = (simulated_qrels(ir_std.load_factors(f"trec{n}-adhoc").n_rel) for n in (7, 8))
    compared = ir_std.compare([("x", simulated_run(t7, 1, 100), t7),
                               ("x", simulated_run(t8, 2, 100), t8)], AP)
    figure = plots.comparison_figure(compared)
    raw, standardized = figure.axes
    assert "not comparable" in raw.get_title()
    assert raw.containers == []
    assert len(standardized.containers) == 1
    assert [t.get_text() for t in raw.get_xticklabels()] == ["trec7-adhoc", "trec8-adhoc"]


@pytest.mark.parametrize("end", ["png", "svg", "pdf"])
def test_the_command_draws_into_a_file(end: str, tmp_path: Path) -> None:
    (tmp_path / "run").write_text("1 Q0 d 1 0.5 tag\n")
    (tmp_path / "qrels").write_text("1 0 d 1\n")
    picture = tmp_path / f"picture.{end}"
    assert main(["compare", f"x={tmp_path / 'run'}:{tmp_path / 'qrels'}", "AP", "--plot",
                 str(picture)]) == 0
    assert picture.stat().st_size > 1000


def test_another_ending_is_one_line_of_error(tmp_path: Path,
                                             capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "run").write_text("1 Q0 d 1 0.5 tag\n")
    (tmp_path / "qrels").write_text("1 0 d 1\n")
    assert main(["compare", f"x={tmp_path / 'run'}:{tmp_path / 'qrels'}", "AP", "--plot",
                 str(tmp_path / "picture.gif")]) == 2
    assert "must end in .png, .svg, .pdf" in capsys.readouterr().err.splitlines()[-1]


def test_without_matplotlib_one_line_says_what_to_install(
        results: ir_std.Results, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(IrStdError, match=r"pip install 'ir-std\[plot\]'"):
        plots.topics(results, AP)


def test_importing_plots_does_not_import_matplotlib() -> None:
    code = "import ir_std.plots, ir_std.report, sys; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
