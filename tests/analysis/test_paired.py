"""Paired tests, Holm's correction and intervals, against scipy and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from ir_std.analysis.paired import (
    against,
    holm,
    mean_interval,
    randomization_test,
    t_test,
)
from ir_std.errors import UsageError

SCORES = st.lists(st.integers(-100, 100), min_size=2, max_size=40)


@given(SCORES)
def test_the_t_test_is_scipys(d: list[int]) -> None:
    if np.ptp(d) > 0:
        expected = stats.ttest_rel(d, np.zeros(len(d))).pvalue
        assert t_test(d) == pytest.approx(expected, abs=1e-12)


def test_equal_runs_do_not_differ() -> None:
    assert t_test([0.0, 0.0, 0.0]) == 1
    assert randomization_test([0.0, 0.0, 0.0]) == 1


def test_a_constant_difference_is_no_chance() -> None:
    assert t_test([0.25, 0.25, 0.25]) == 0


def test_one_pair_is_no_test() -> None:
    assert np.isnan(t_test([0.5]))
    assert np.isnan(randomization_test([0.5]))
    assert np.isnan(mean_interval([0.5])).all()


@given(st.lists(st.integers(-50, 50), min_size=2, max_size=9))
def test_the_randomization_test_of_few_pairs_is_scipys_exact_one(d: list[int]) -> None:
    differences = np.array(d, float)
    exact = stats.permutation_test((differences, np.zeros(len(d))), lambda a, b: np.mean(a - b),
                                   permutation_type="samples", n_resamples=np.inf,
                                   vectorized=False)
    assert randomization_test(differences) == pytest.approx(exact.pvalue, abs=1e-12)


def test_the_randomization_test_of_many_pairs_is_near_the_t_test_and_repeatable() -> None:
    d = np.random.default_rng(1).normal(0.03, 0.1, 50)
    p = randomization_test(d)
    # The standard error of a share of 10,000 draws is at most 0.005.
    assert abs(p - t_test(d)) < 0.02
    assert randomization_test(d) == p


def test_the_randomization_test_is_never_quite_certain() -> None:
    assert randomization_test(np.linspace(1, 2, 50)) == 1 / 10_001


def test_pairs_are_formed_by_topic_id() -> None:
    baseline = {"c": 0.1, "a": 0.5, "b": 0.25, "only here": 1.0}
    run = {"a": 0.75, "b": 0.5, "c": 0.5, "nowhere else": 0.0}
    found = against(baseline, {"run": run})["run"]
    assert set(found.topics) == {"a", "b", "c"}
    assert found.difference == pytest.approx((0.25 + 0.25 + 0.4) / 3)
    assert found.p == pytest.approx(stats.ttest_rel([0.75, 0.5, 0.5], [0.5, 0.25, 0.1]).pvalue)


def test_topics_without_a_score_form_no_pair() -> None:
    found = against({"a": 0.1, "b": float("nan"), "c": 0.2},
                    {"run": {"a": 0.2, "b": 0.9, "c": 0.5}})["run"]
    assert found.topics == ("a", "c")


def test_runs_without_a_common_topic_have_no_difference() -> None:
    found = against({"a": 0.1}, {"run": {"b": 0.2}})["run"]
    assert np.isnan(found.difference)
    assert not found.significant


def test_holm_as_worked_by_hand() -> None:
    # Sorted 0.01, 0.02, 0.03, 0.04 times 4, 3, 2, 1, never falling.
    assert holm([0.03, 0.01, 0.04, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert holm([0.6, 0.9]) == [1.0, 1.0]


def test_holm_does_not_count_what_was_not_tested() -> None:
    adjusted = holm([0.01, float("nan"), 0.02])
    assert adjusted[0] == pytest.approx(0.02)
    assert np.isnan(adjusted[1])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_holm_never_lowers_a_p_value_and_keeps_their_order(p: list[float]) -> None:
    adjusted = np.array(holm(p))
    assert (adjusted >= np.array(p) - 1e-15).all()
    assert (np.diff(adjusted[np.argsort(p, kind="stable")]) >= 0).all()


@given(SCORES)
def test_the_interval_is_scipys(values: list[int]) -> None:
    if np.ptp(values) > 0:
        expected = stats.t.interval(0.95, len(values) - 1, np.mean(values), stats.sem(values))
        assert mean_interval([*values, float("nan")]) == pytest.approx(expected)


def test_an_unknown_test_names_the_known_ones() -> None:
    with pytest.raises(UsageError, match="allowed are t, randomization"):
        against({}, {}, "wilcoxon")
