"""The checks of intervals: what their script computes, from the systems of shipped factor sets."""

from __future__ import annotations

import numpy as np
import pytest
import uncertainty_experiment as experiment
from reproduction import Scores
from scipy.stats import percentileofscore

import ir_std
from ir_std.factors.estimates import scores_by_system


@pytest.fixture(scope="module")
def trec8() -> Scores:
    """AP of TREC-8's systems, each a team of its own."""
    factors = ir_std.load_factors("trec8-adhoc")
    values = scores_by_system(factors, "AP")[1]
    return Scores(factors.topics, tuple(f"{i:03}" for i in range(values.shape[1])), values)


@pytest.mark.slow
def test_intervals_hold_their_level_between_halves_of_topics_and_systems(trec8: Scores) -> None:
    found = experiment.covered(trec8, 300, 1, "N")
    assert set(found) == {"topics", "systems", "both", "difference"}
    assert all(0.93 <= level <= 0.97 for level in found.values()), found


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
