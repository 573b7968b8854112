"""The statistics of the papers' experiments against plain implementations and textbook values."""

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from paper_statistics import (
    drmse,
    factor_stability,
    self_false_positives,
    swap_rate,
    topic_set_size,
    tukey_p_values,
    two_sample_p_values,
)
from scipy import stats

from ir_std._arrays import Floats
from ir_std.analysis import standardize_matrix

RNG = np.random.default_rng(20080720)
SCORES = RNG.beta(1, 3, (12, 5))
OTHER = RNG.beta(2, 3, (9, 5))


def test_tukeys_test_never_finds_equal_systems_different_and_is_never_quite_certain() -> None:
    assert (tukey_p_values(np.repeat(SCORES[:, :1], 4, axis=1), trials=50) == 1).all()
    scores = SCORES / 10
    scores[:, 0] += 100
    assert tukey_p_values(scores, trials=50)[:4].tolist() == [1 / 51] * 4


def test_two_samples_that_do_not_vary_differ_only_if_their_means_do() -> None:
    flat = np.full((3, 2), 0.1)
    np.testing.assert_array_equal(
        two_sample_p_values(flat, flat + np.array([0, 0.2])), [[1, 0]] * 2
    )
    # The means of a flat score over three and over ten topics differ in floating point.
    three, ten = np.full((3, 1), 0.1), np.full((10, 1), 0.1)
    assert three.mean() != ten.mean()
    assert two_sample_p_values(three, ten) == 1


def wrong(value: str) -> Any:
    """Return a value that a type checker would not accept."""
    return value


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tukey_p_values(SCORES, 0), "trials must be at least 1"),
        (lambda: tukey_p_values(SCORES[None]), "one array of topics x systems"),
        (lambda: two_sample_p_values(SCORES, OTHER, alternative=wrong("up")), "choose from"),
        (lambda: self_false_positives(SCORES, OTHER[:, :2]), "same systems, got 5 and 2"),
        (lambda: drmse(SCORES, OTHER[:, :2]), "same systems, got 5 and 2"),
        (lambda: drmse(SCORES * 0, OTHER * 0), "no spread"),
        (lambda: swap_rate(SCORES, [0.1]), "ascend from 0"),
        (lambda: swap_rate(SCORES, [0, 0.2, 0.1]), "ascend from 0"),
        (lambda: swap_rate(SCORES, [0], size=7), "half of the 12 topics"),
        (lambda: factor_stability(SCORES, OTHER, 2), "same topics, got 12 and 9"),
        (lambda: factor_stability(SCORES, SCORES, 6), "between 2 and the 5"),
        (lambda: factor_stability(SCORES, SCORES * 0, 2, scheme="z"), "no spread on any"),
        (lambda: topic_set_size(0, 0.1), "above 0"),
        (lambda: topic_set_size(0.1, 0.1, 1), "systems must be at least 2"),
    ],
)
def test_wrong_use_is_refused_with_a_reason(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


# Stability


def test_drmse_takes_many_samples_at_once() -> None:
    samples = SCORES[np.array([[0, 1, 2], [3, 4, 5]])]
    np.testing.assert_allclose(drmse(samples, OTHER), [drmse(x, OTHER) for x in samples])


def test_systems_whose_means_differ_by_rounding_only_have_no_spread() -> None:
    tenths = np.array([[1, 2, 3], [2, 3, 1], [3, 1, 2]]) / 10
    assert drmse(SCORES, SCORES) == 0
    assert np.ptp(tenths.mean(axis=0)) > 0
    with pytest.raises(ValueError, match="no spread"):
        drmse(tenths, tenths)


@pytest.mark.parametrize("scale", [1 / 8, 10, 1000])
def test_swap_rates_do_not_change_with_the_unit_of_the_scores(scale: float) -> None:
    tenths, bins = RNG.integers(0, 11, (12, 6)) / 10, np.arange(8) / 20
    computed = swap_rate(tenths, bins, trials=50)
    scaled = swap_rate(tenths * scale, bins * scale, trials=50)
    np.testing.assert_array_equal(computed.pairs, scaled.pairs)
    np.testing.assert_array_equal(computed.swaps, scaled.swaps)
    assert computed.error == pytest.approx(stats.sem(computed.by_trial))
    assert computed.overall == pytest.approx(computed.by_trial.mean())


def test_systems_that_keep_their_order_never_swap_and_topics_that_disagree_always_do() -> None:
    scores = SCORES[:, :1] + np.arange(4) / 10
    assert swap_rate(scores, [0], trials=20).overall == 0
    computed = swap_rate([[0.2, 0.4], [0.4, 0.2]], [0, 0.1, 0.5], trials=20)
    assert computed.overall == 1
    np.testing.assert_array_equal(computed.rate, [np.nan, 1, np.nan])


@pytest.mark.parametrize("scheme", ["N", "U", "z", "E"])
def test_all_standardizing_systems_agree_with_themselves(scheme: str) -> None:
    taus = factor_stability(SCORES, SCORES, 5, samples=3, scheme=scheme)
    np.testing.assert_allclose(taus, 1)


@pytest.mark.parametrize("scheme", ["N", "U", "E"])
def test_factor_stability_is_the_tau_of_some_sample(scheme: str) -> None:
    by = RNG.random((12, 3))

    def means(systems: list[int]) -> Floats:
        y = standardize_matrix(SCORES, by[:, systems], scheme)
        return np.asarray(y.mean(axis=0))

    possible = {
        round(stats.kendalltau(means([0, 1, 2]), means(list(pair))).statistic, 9)
        for pair in combinations(range(3), 2)
    }
    computed = factor_stability(SCORES, by, 2, samples=60, scheme=scheme)
    assert set(computed.round(9).tolist()) == possible


def test_a_topic_without_spread_in_a_sample_is_left_out_of_it_by_z() -> None:
    by = RNG.random((12, 4))
    by[0] = 0.5
    without = factor_stability(SCORES[1:], by[1:], 2, samples=20, scheme="z")
    np.testing.assert_array_equal(factor_stability(SCORES, by, 2, samples=20, scheme="z"), without)


def test_a_topic_without_spread_in_a_sample_parts_the_systems_above_from_those_below() -> None:
    by = RNG.random((12, 4))
    by[0] = 0.5

    def means(chosen: list[int]) -> Floats:
        limits = SCORES[0] > 0.5
        y = np.vstack([limits, standardize_matrix(SCORES[1:], by[1:, chosen])])
        return np.asarray(y.mean(axis=0))

    possible = {
        round(stats.kendalltau(means([0, 1, 2, 3]), means(chosen)).statistic, 9)
        for chosen in map(list, combinations(range(4), 3))
    }
    computed = factor_stability(SCORES, by, 3, samples=60)
    assert set(computed.round(9).tolist()) == possible


def test_results_repeat_with_their_seed() -> None:
    first, again, other = (tukey_p_values(SCORES, 200, seed) for seed in (5, 5, 6))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()
    one, two = (factor_stability(SCORES, SCORES, 3, samples=70, seed=4) for _ in range(2))
    np.testing.assert_array_equal(one, two)


@given(
    st.floats(0.005, 0.2),
    st.floats(0.05, 0.3),
    st.integers(2, 60),
    st.sampled_from([0.01, 0.05, 0.1]),
    st.sampled_from([0.1, 0.2]),
)
def test_topic_set_size_is_the_smallest_with_the_power(
    variance: float, difference: float, m: int, alpha: float, beta: float
) -> None:
    n = topic_set_size(variance, difference, m, alpha=alpha, beta=beta)

    def power(n: int) -> float:
        df = m - 1, m * (n - 1)
        effect = n * difference**2 / (2 * variance)
        return float(stats.ncf.sf(stats.f.isf(alpha, *df), *df, effect))

    assert power(n) >= 1 - beta - 1e-9
    assert n == 2 or power(n - 1) < 1 - beta + 1e-9
