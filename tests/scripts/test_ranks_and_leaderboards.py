"""The pages' figures on ranks and leaderboards are those that the scripts compute."""

from pathlib import Path

import numpy as np
import pytest
import ranks_experiment as experiment
from mteb_experiment import (
    METHODS,
    MOVES,
    PARTS,
    complete,
    coverage,
    masking,
    order,
    places,
    zero_shot,
)
from scipy import stats

from ir_std.factors.benchmarks import benchmark_scores

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


DOCS = Path(__file__).parents[2] / "docs"
PAGES = ("evidence/leaderboards.md", "how-to/mteb-and-beir.md")
SECTION = " ".join(" ".join((DOCS / page).read_text(encoding="utf-8").split()) for page in PAGES)


@pytest.mark.slow
def test_the_orders_correlations_are_those_of_the_guide() -> None:
    lines = list(order(0))
    for line in lines:
        if line.startswith("|") or "could be first" in line:
            assert line in SECTION, line
    assert sum(" on " in line for line in lines if line.startswith("|")) == MOVES == 10
    (width,) = (line.partition(": ")[2] for line in lines if line.startswith("median width"))
    assert f"The median rank interval spans {width.replace(' of ', ' of the ')}." in SECTION
    assert any(line.startswith("first by the mean of z: IEITYuan") for line in lines)


@pytest.mark.slow
def test_what_masking_does_is_what_the_guide_says() -> None:
    for line in masking(0):
        if line.startswith("|"):
            assert line in SECTION


@pytest.mark.exhaustive
def test_how_often_intervals_hold_is_what_the_guide_says() -> None:
    assert all(line in SECTION for line in coverage(200) if line.startswith("|"))


def test_what_zero_shot_changes_is_what_the_guide_says() -> None:
    first, tau, *moves = zero_shot(0)
    assert first in SECTION
    assert all(line in SECTION for line in moves[:6])  # the head, and five moves
    assert tau.rpartition(" ")[2] in SECTION


def test_places_are_ranks_of_complete_models() -> None:
    names, scores = complete(benchmark_scores("MTEB(eng, v2)"))
    assert scores.shape == (12, len(names))
    for method in METHODS.values():
        assert sorted(places(method(scores)))[0] >= 1
    means = scores.mean(axis=0)
    assert np.array_equal(places(means), stats.rankdata(-np.round(means, 12)))
    assert [*PARTS] == ["order", "zero-shot", "masking", "coverage", "mteb"]
