"""The page's figures on ranks are those that the script computes from shipped sets."""

from pathlib import Path

import pytest
import ranks_experiment as experiment

LINES = (Path(__file__).parents[2] / "docs/evidence/ranks.md").read_text().splitlines()


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", experiment.CASES)
def test_the_stated_share_of_true_ranks_is_inside(case: experiment.Case) -> None:
    assert f"| {case.label} | {experiment.held(case.trials(experiment.TRIALS))} |" in LINES


@pytest.mark.parametrize(
    "size",
    [
        pytest.param(size, marks=pytest.mark.exhaustive if i else pytest.mark.slow)
        for i, size in enumerate(experiment.MADE_UP)
    ],
)
def test_the_stated_share_is_inside_on_made_up_topics(size: tuple[int, int]) -> None:
    assert experiment.made_up(*size, 2 * experiment.TRIALS) in LINES


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", experiment.BENCHMARKS)
def test_the_stated_share_is_inside_on_halves_of_tasks(name: str) -> None:
    assert experiment.of_benchmark(name, experiment.TRIALS) in LINES


def test_all_intervals_of_a_trial_hold_about_as_often_as_they_say() -> None:
    at_once, each, _, best, _ = experiment.held(experiment.CASES[0].trials(8)).split(" | ")
    assert min(float(at_once), float(best)) >= 0.85
    assert float(each) >= float(at_once)
