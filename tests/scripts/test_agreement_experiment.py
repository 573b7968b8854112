"""Coverage of the intervals that ``ir_std agree`` prints: on made-up topics, and the page's."""

from __future__ import annotations

from pathlib import Path

import agreement_experiment as experiment
import numpy as np
import pytest

from ir_std.analysis.agreement import Interval

PAGE = Path(__file__).parents[2] / "docs" / "evidence" / "judges.md"


def test_an_interval_holds_what_is_inside_it_up_to_rounding() -> None:
    assert experiment.holds(Interval(0.5, 0.4, 0.6), 0.6 + 1e-12)
    assert not experiment.holds(Interval(0.5, 0.4, 0.6), 0.61)


def test_few_topics_are_drawn_with_replacement_and_many_without() -> None:
    random = np.random.default_rng(0)
    assert len(set(experiment.draw_topics(random, 100, 50).tolist())) == 50
    assert len(set(experiment.draw_topics(random, 43, 50).tolist())) < 43


@pytest.mark.slow
def test_intervals_hold_for_systems_that_a_judge_scores_with_noise() -> None:
    random = np.random.default_rng(3)
    first = random.normal(0, 1, (200, 30)) + np.linspace(0, 3, 30)
    second = first + random.normal(0, 1, first.shape)
    case = experiment.Case("made-up", "score", first, second)
    printed, coverage = experiment.order_coverage(200, 0, case).transpose(1, 0, 2)
    assert (printed == 1).all()
    assert (coverage >= 0.85).all()


@pytest.mark.slow
def test_intervals_of_tau_hold_on_dl_2020(data: Path) -> None:
    (case,) = [
        case
        for case in experiment.cases(data)
        if (case.collection, case.measure) == ("dl20-passage", "nDCG@10")
    ]
    printed, coverage = experiment.order_coverage(60, 0, case).transpose(1, 0, 2)[..., 0]
    assert (printed > 0.9).all()
    assert coverage.min() >= 0.85


def test_rr_under_a_lenient_judge_has_no_interval() -> None:
    random = np.random.default_rng(4)
    first = 1 / (1 + random.poisson(0.7, (60, 8)))
    second = np.where(random.random((60, 8)) < 0.1, first, 1.0)
    printed, coverage = experiment.order_coverage(3, 0, experiment.Case("", "RR", first, second))[0]
    assert (printed == 0).all()
    assert np.isnan(coverage).all()
    assert experiment.describe(coverage) == "-"


@pytest.mark.exhaustive
def test_the_page_has_the_coverage_that_the_script_prints(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    experiment.main(["--data", str(data), "--jobs", "2"])
    page = " ".join(PAGE.read_text("utf-8").split())
    for line in capsys.readouterr().out.splitlines():
        assert (line if line.startswith("|") else line.partition(": ")[2]) in page


def test_the_pages_intervals_hold_in_90_to_98_percent_on_average() -> None:
    section = PAGE.read_text("utf-8").partition("## Intervals of")[2].partition("## A few")[0]
    rows = [line.split(" | ") for line in section.splitlines() if line.count(" (") == 3]
    means = [float(cell[:5]) for row in rows for cell in row[3:]]
    assert len(means) == 8 * len(experiment.FIGURES)
    assert 0.90 <= min(means) <= max(means) < 0.985
    lowest = min(float(cell.partition("(")[2][:5]) for row in rows for cell in row[3:])
    assert lowest >= 0.85
