"""The experiment on linking: what its guide says, with fewer trials."""

from __future__ import annotations

from pathlib import Path

import linking_experiment as experiment
import numpy as np
import pytest

import ir_std
from ir_std.factors.estimates import scores_by_system


@pytest.fixture(
    scope="module",
    params=[
        pytest.param((2, 15), id="half of the systems"),
        pytest.param((1, 40), id="all systems", marks=pytest.mark.slow),
    ],
)
def tallies(request: pytest.FixtureRequest) -> dict[str, experiment.Tally]:
    step, trials = request.param
    scores = scores_by_system(ir_std.load_factors("robust04"), "AP")[1][:, ::step]
    case = experiment.Case("robust04", "AP", 25, "strong and weak", "random")
    return experiment.run_case(case, scores, trials, 0)


def test_linked_means_drift_little_more_than_those_by_the_same_systems(
    tallies: dict[str, experiment.Tally],
) -> None:
    floor = tallies["same systems"].mean("drift")
    drift = {case: np.sqrt(tally.mean("drift") / floor) for case, tally in tallies.items()}
    assert drift["not linked"] > 2.5
    assert drift["3 anchors"] < 1.30
    assert drift["5 anchors"] < 1.20
    assert drift["10 anchors"] < 1.15


@pytest.mark.parametrize("k", [1, 3, 5, 10])
def test_intervals_of_linked_differences_hold_their_level(
    tallies: dict[str, experiment.Tally], k: int
) -> None:
    tally = tallies[f"{k} anchors"]
    error = 3 * tally.error("coverage")
    assert 0.93 - error <= tally.mean("coverage")
    assert tally.mean("type I") <= 0.07 + 3 * tally.error("type I")


def test_without_a_link_a_system_differs_from_itself(tallies: dict[str, experiment.Tally]) -> None:
    assert tallies["not linked"].mean("type I") > 0.5
    assert tallies["same systems"].mean("type I") < 0.1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "plain", "linked"),
    [
        ("feedback", 0.125, 0.023),
        ("stemming", 0.129, 0.048),
    ],
)
def test_one_engine_on_nine_collections(data: Path, name: str, plain: float, linked: float) -> None:
    engine = experiment.engine(data, name)
    assert engine.plain.std(ddof=1) == pytest.approx(plain, abs=5e-4)
    assert engine.linked.std(ddof=1) == pytest.approx(linked, abs=5e-4)
