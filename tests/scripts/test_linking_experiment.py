"""The experiment on linking: what its guide says, with fewer trials."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Mapping
from pathlib import Path

import linking_experiment as experiment
import numpy as np
import pytest
from scipy.stats import ttest_ind


@pytest.fixture(scope="module")
def rows() -> Mapping[str, experiment.Row]:
    case = experiment.Case("robust04", "AP", 25, experiment.STRONG_WEAK, "random")
    return experiment.summarized(experiment.run_case(40, 0, case))


def test_linked_means_drift_little_more_than_those_by_the_same_systems(
    rows: Mapping[str, experiment.Row],
) -> None:
    drift = {what: row["RMS / floor"].value for what, row in rows.items()}
    assert drift["not linked"] > 2.5
    assert drift["3 anchors"] < 1.30
    assert drift["5 anchors"] < 1.20
    assert drift["10 anchors"] < 1.15


@pytest.mark.parametrize("k", [1, 3, 5, 10])
def test_intervals_of_linked_differences_hold_their_level(
    rows: Mapping[str, experiment.Row], k: int
) -> None:
    row = rows[experiment.anchors_label(k)]
    assert row["coverage"].value + 3 * row["coverage"].error >= 0.93
    assert row["type I at 0.05"].value - 3 * row["type I at 0.05"].error <= 0.07


def test_without_a_link_a_system_differs_from_itself(rows: Mapping[str, experiment.Row]) -> None:
    assert rows["not linked"]["type I at 0.05"].value > 0.5
    assert rows["raw"]["type I at 0.05"].value < 0.1
    assert rows[experiment.SAME]["type I at 0.05"].value < 0.1


def test_a_link_finds_less_than_the_same_systems_and_hardly_anything_the_wrong_way(
    rows: Mapping[str, experiment.Row],
) -> None:
    found = {what: row["found at 0.05"].value for what, row in rows.items()}
    assert found["1 anchor"] < found["10 anchors"] < found[experiment.SAME]
    assert rows["not linked"]["wrong way"].value > 0.2
    assert rows["10 anchors"]["wrong way"].value < 0.02


def test_results_depend_on_the_seed_alone() -> None:
    case = experiment.Case(*experiment.REAL, None, experiment.RANDOM, "random")
    one, again, other = (experiment.run_case(2, seed, case) for seed in (1, 1, 2))
    assert np.array_equal(one["3 anchors"]["drift"], again["3 anchors"]["drift"])
    assert not np.array_equal(one["3 anchors"]["drift"], other["3 anchors"]["drift"])


def test_the_error_of_a_ratio_is_that_of_resampled_trials() -> None:
    random = np.random.default_rng(0)
    floor = random.exponential(1, 400)
    drift = floor * random.uniform(1, 2, 400) + random.exponential(0.5, 400)
    samples = random.integers(0, 400, (2000, 400))
    ratios = np.sqrt(drift[samples].mean(axis=1) / floor[samples].mean(axis=1))
    found = experiment.Mean.over_floor(drift, floor)
    assert found.error == pytest.approx(ratios.std(ddof=1), rel=0.1)


def test_what_nothing_links_is_tested_by_welchs_test() -> None:
    random = np.random.default_rng(0)
    a, b = random.normal(0, 1, (20, 3)), random.normal(0.5, 2, (30, 3))
    assert experiment.welch(a, b).p == pytest.approx(ttest_ind(a, b, equal_var=False).pvalue)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "feedback on 9 collections",
            "mean sAP by each track's own systems 0.384 to 0.761, standard deviation 0.125; linked "
            "by the engine without it 0.023, topics alone would give 0.014 (Cochran's Q, p = "
            "0.017)",
        ),
        (
            "stemming on 9 collections",
            "mean sAP by each track's own systems 0.352 to 0.739, standard deviation 0.129; linked "
            "by the engine without it 0.048, topics alone would give 0.026 (Cochran's Q, p = "
            "5.9e-07)",
        ),
    ],
)
def test_one_engine_on_nine_collections_is_what_the_guide_says(
    engines: list[str], name: str, said: str
) -> None:
    assert f"{name}: {said}" in engines


@pytest.fixture(scope="module")
def engines(data: Path) -> list[str]:
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        experiment.describe_engines(data)
    return printed.getvalue().splitlines()
