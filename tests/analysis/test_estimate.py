"""A mean and its errors."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from ir_std.analysis.estimate import Estimate, mean_of_estimates


def test_the_interval_over_topics_is_students() -> None:
    values = np.random.default_rng(1).random(20)
    low, high = stats.t.interval(0.95, 19, values.mean(), stats.sem(values))
    found = Estimate.of([*values, np.nan])
    assert found.n == 20
    assert found.interval == pytest.approx((low, high))
    assert found.systems == 0


def test_the_errors_of_topics_and_systems_add_up_as_squares() -> None:
    found = Estimate(0.5, 50, 0.03, 49, 0.04, 128)
    assert found.error == pytest.approx(0.05)
    assert found.half == pytest.approx(
        np.hypot(0.03 * stats.t.ppf(0.975, 49), 0.04 * stats.t.ppf(0.975, 128))
    )


def test_it_says_what_each_part_is_of() -> None:
    assert str(Estimate(0.6930, 50, 0.0313, 49, 0.0061, inf)) == (
        "0.693 ±0.063 (topics) ±0.012 (systems)"
    )
    assert str(Estimate(0.3240, 50, 0.0313, 49)) == "0.324 ±0.063 (topics)"


def test_one_topic_has_a_mean_and_no_error() -> None:
    found = Estimate.of([0.4])
    assert found.mean == 0.4
    assert np.isnan([found.topics, *found.interval]).all()


def test_a_mean_of_two_means_has_welchs_error_and_degrees_of_freedom() -> None:
    random = np.random.default_rng(2)
    a, b = random.normal(0, 1, 12), random.normal(0, 3, 30)
    expected = stats.ttest_ind(a, -b, equal_var=False)
    found = mean_of_estimates([Estimate.of(a), Estimate.of(b)])
    assert found.mean / found.error == pytest.approx(expected.statistic)
    assert found.topics_df == pytest.approx(expected.df)
    assert found.n == 42


def test_p_is_the_level_at_which_the_interval_would_reach_0() -> None:
    values = np.random.default_rng(1).normal(0.2, 1, 20)
    assert Estimate.of(values).p == pytest.approx(stats.ttest_1samp(values, 0).pvalue)
    estimate = Estimate(0.12, 50, 0.03, 49, 0.04, 5)
    half = np.hypot(0.03 * stats.t.isf(estimate.p / 2, 49), 0.04 * stats.t.isf(estimate.p / 2, 5))
    assert half == pytest.approx(0.12)


@given(st.floats(-1, 1), st.floats(1e-3, 1), st.floats(0, 1), st.integers(1, 60))
def test_p_is_below_5_percent_where_the_interval_is_off_0(
    mean: float, topics: float, systems: float, df: int
) -> None:
    estimate = Estimate(mean, 30, topics, 29, systems, df)
    low, high = estimate.interval
    assert (estimate.p < 0.05) == (not low <= 0 <= high)


def test_a_mean_without_errors_has_p_0_or_1_and_of_one_topic_none() -> None:
    assert Estimate(0.0, 30, 0.0, 29).p == 1
    assert Estimate(0.1, 30, 0.0, 29).p == 0
    assert np.isnan(Estimate.of([0.4]).p)
