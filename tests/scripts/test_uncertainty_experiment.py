"""The checks of intervals: what their script computes, from the systems of shipped factor sets."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import uncertainty_experiment as experiment
from reproduction import Scores
from scipy.stats import percentileofscore

import ir_std
from ir_std.analysis.influence import DESIGN_EFFECT
from ir_std.factors.estimates import scores_by_system


@pytest.fixture(scope="module")
def trec8() -> Scores:
    """AP of TREC-8's systems, each a team of its own."""
    factors = ir_std.load_factors("trec8-adhoc")
    values = scores_by_system(factors, "AP")[1]
    return Scores(factors.topics, tuple(f"{i:03}" for i in range(values.shape[1])), values)


CELLS = [
    (experiment.Case("trec8-adhoc", by, n, 50), known)
    for by in experiment.DRAWS
    for n in (8, 30)
    for known in ("teams", "scores")
] + [
    (experiment.Case("dl19-passage", "by team", 15, 43), known)
    for known in ("teams", "scores", "moments")
]


@pytest.mark.slow
@pytest.mark.parametrize(("case", "known"), CELLS)
def test_intervals_hold_their_level_when_topics_and_systems_are_drawn(
    case: experiment.Case, known: str
) -> None:
    levels = coverage_of(case)
    for scheme in ("N", "z", "U"):
        level, error = levels[scheme, known]
        assert level + 2 * error >= 0.93
        if case.by == "by team" and known != "moments" and scheme == "N":
            assert level - 2 * error <= 0.97


@cache
def coverage_of(case: experiment.Case) -> dict[tuple[str, str], tuple[float, float]]:
    return experiment.coverage(case, 100, 1)


def test_the_design_effect_that_is_assumed_is_the_median_of_those_that_are_seen() -> None:
    chosen, checked = (
        [effect for *_, effect in experiment.team_effects(sets)]
        for sets in (experiment.CALIBRATION, experiment.OTHERS)
    )
    assert f"{min(chosen):.2f} {max(chosen):.2f}" == "2.18 3.79"
    assert f"{min(checked):.2f} {max(checked):.2f} {np.median(checked):.2f}" == "1.91 4.71 2.76"
    assert pytest.approx(np.median(chosen), abs=0.05) == DESIGN_EFFECT


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "split", "expected"),
    [
        ("robust04", "same", 0.054),
        ("robust04", "systems", 0.141),
        ("robust04", "30 each", 0.192),
        ("robust04", "strong and weak", 1.0),
        ("trec8-adhoc", "same", 0.051),
        ("trec8-adhoc", "systems", 0.091),
        ("trec8-adhoc", "teams", 0.160),
        ("trec8-adhoc", "30 each", 0.131),
        ("trec8-adhoc", "strong and weak", 0.974),
    ],
)
def test_a_system_differs_from_itself_by_other_systems_as_the_guide_says(
    name: str, split: str, expected: float
) -> None:
    rate = experiment.against_itself(experiment.world(name), split, 150, 1)
    assert rate == pytest.approx(expected, abs=0.04)


def test_an_average_systems_n_is_near_one_half() -> None:
    means = [
        mean
        for name in ir_std.available_factors()
        if (mean := experiment.mean_of_systems(name)) is not None
    ]
    assert f"{min(means):.3f} {max(means):.3f}" == "0.468 0.542"


@pytest.mark.slow
def test_few_systems_exaggerate_the_best_runs_z() -> None:
    by_size = {n: z for n, z, *_ in experiment.extremes("trec8-adhoc", 150, 1)}
    expected = {8: 4.65, 15: 3.46, 30: 2.65, 100: 2.20}
    for n, z in expected.items():
        assert by_size[n] == pytest.approx(z, rel=0.2)


def test_the_error_of_a_mean_over_collections_with_the_same_systems_is_that_seen() -> None:
    pair = ("dl19-passage-modern", "dl20-passage-modern")
    seen, independent, together = experiment.shared_systems(pair, 150, 1)
    assert together > 1.2 * independent
    assert abs(together - seen) < 0.2 * seen


def test_the_errors_told_with_few_systems_are_those_seen(trec8: Scores) -> None:
    rows = experiment.few_systems(trec8, 60, 1, "N")
    assert [k for k, _, _ in rows] == [5, 10, 20, 40]
    for _, seen, told in rows:
        assert told == pytest.approx(seen, rel=0.3)
    assert np.mean([told / seen for _, seen, told in rows]) == pytest.approx(1, abs=0.1)


def test_smoothing_the_share_of_systems_gains_only_with_few_of_them(trec8: Scores) -> None:
    error = {(k, name): by_topic for k, name, by_topic, _ in experiment.smoothing(trec8, 40, 1)}
    assert error[5, "kernel"] < 0.9 * error[5, "share"]
    assert error[40, "kernel"] > 0.97 * error[40, "share"]


def test_forms_of_the_share_agree_with_scipys_percentiles() -> None:
    by = np.array([[0.1, 0.2, 0.2, 0.4]])
    x = np.array([[0.05, 0.2, 0.3]])
    assert experiment.share(x, by)[0] * 100 == pytest.approx(percentileofscore(by[0], x[0], "weak"))
    assert experiment.middle(x, by)[0] * 100 == pytest.approx(
        percentileofscore(by[0], x[0], "mean")
    )
