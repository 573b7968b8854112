"""The statistics against plain implementations, scipy and textbook values."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from itertools import combinations, product
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from ir_std import analysis
from ir_std._arrays import Floats
from ir_std.schemes import get_scheme

RNG = np.random.default_rng(20080720)
SCORES = RNG.beta(1, 3, (12, 5))
OTHER = RNG.beta(2, 3, (9, 5))
WITH_NAN = SCORES.copy()
WITH_NAN[3, 2] = np.nan

rankings = st.integers(2, 9).flatmap(
    lambda n: st.tuples(*(arrays(float, n, elements=st.integers(0, 4)) for _ in "xy"))
)
# Few distinct values, so that ties, constant and equal systems are common.
score_arrays = st.tuples(st.integers(2, 6), st.integers(2, 5)).flatmap(
    lambda shape: arrays(float, shape, elements=st.sampled_from([0, 0.25, 0.3, 0.5, 1]))
)


# Rank correlation


def plain_tau_ap(reference: Floats, estimate: Floats) -> float:
    """Pivot by pivot, as Urbano and Marrero (2017) define it."""
    total, pivots = 0.0, 0
    for i in range(len(estimate)):
        above = [j for j in range(len(estimate)) if estimate[j] > estimate[i]]
        if above:
            pivots += 1
            total += sum(reference[j] > reference[i] for j in above) / len(above)
    return 2 * total / pivots - 1 if pivots else np.nan


@given(rankings)
def test_kendall_tau_b_is_scipys(pair: tuple[Floats, Floats]) -> None:
    x, y = pair
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        assert np.isnan(analysis.kendall_tau_b(x, y))
    else:
        assert analysis.kendall_tau_b(x, y) == pytest.approx(stats.kendalltau(x, y).statistic)


@given(rankings)
def test_tau_ap_b_is_the_plain_walk_over_the_pivots(pair: tuple[Floats, Floats]) -> None:
    x, y = pair
    assert analysis.tau_ap_b(x, y) == pytest.approx(plain_tau_ap(x, y), nan_ok=True)


@given(rankings)
def test_two_sided_tau_ap_b_is_the_mean_of_both_directions(pair: tuple[Floats, Floats]) -> None:
    x, y = pair
    expected = (plain_tau_ap(x, y) + plain_tau_ap(y, x)) / 2
    assert analysis.tau_ap_b(x, y, two_sided=True) == pytest.approx(expected, nan_ok=True)
    assert analysis.tau_ap_b(y, x, two_sided=True) == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize(
    ("estimate", "expected"),
    [([4, 3, 2, 1], 1), ([1, 2, 3, 4], -1), ([3, 4, 2, 1], 1 / 3), ([4, 3, 1, 2], 7 / 9)],
)
def test_tau_ap_punishes_a_swap_at_the_top_more_than_one_at_the_bottom(
    estimate: list[int], expected: float
) -> None:
    assert analysis.tau_ap_b([4, 3, 2, 1], estimate) == pytest.approx(expected)


def test_correlations_take_many_rankings_at_once() -> None:
    x, y = RNG.random((3, 1, 6)), RNG.random((2, 6))
    for correlation in (analysis.kendall_tau_b, analysis.tau_ap_b):
        together = correlation(x, y)
        assert together.shape == (3, 2)
        assert together[1, 0] == correlation(x[1, 0], y[0])


@pytest.mark.parametrize("correlation", [analysis.kendall_tau_b, analysis.tau_ap_b])
@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ([1, 2], [1, 2, 3], "same two or more systems"),
        ([1], [1], "same two or more systems"),
        (1, 1, "same two or more systems"),
        ([1, np.nan], [1, 2], "1 value.* NaN or infinite"),
    ],
)
def test_correlations_refuse_what_is_no_pair_of_rankings(
    correlation: Callable[..., Any], x: npt.ArrayLike, y: npt.ArrayLike, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        correlation(x, y)


# Significance


@pytest.fixture(params=[2, 3, 12], ids="{} topics".format)
def scores(request: pytest.FixtureRequest) -> Floats:
    return SCORES[: request.param]


def test_paired_p_values_are_scipys(scores: Floats) -> None:
    expected = [
        stats.ttest_rel(scores[:, i], scores[:, j]).pvalue for i, j in combinations(range(5), 2)
    ]
    np.testing.assert_allclose(analysis.paired_p_values(scores), expected, rtol=1e-9)


def test_equal_systems_do_not_differ() -> None:
    twins = np.repeat(SCORES[:, :1], 2, axis=1)
    assert analysis.paired_t(twins) == 0
    assert analysis.paired_p_values(twins) == 1


def test_systems_that_are_equal_but_for_rounding_do_not_differ() -> None:
    scores = np.column_stack([SCORES[:, 0], (SCORES[:, 0] + 0.2) - 0.2])
    assert (scores[:, 0] != scores[:, 1]).any()
    assert analysis.paired_p_values(scores) == 1


def test_a_tiny_difference_on_one_topic_is_chance() -> None:
    x = np.random.default_rng(0).random(50)
    y = x.copy()
    y[3] += 1e-7
    assert analysis.paired_p_values(np.column_stack([x, y])) == pytest.approx(
        stats.ttest_rel(x, y).pvalue, abs=1e-9
    )


def test_pairs_that_hardly_differ_are_tested_alike_alone_and_among_many_samples() -> None:
    samples = np.repeat(SCORES[None], 7, axis=0)
    samples[:, 4, 1:] = SCORES[4, 1:] + 1e-6 * RNG.random((7, 4))
    samples[:, :, 1] = samples[:, :, 0] + 1e-6 * RNG.random((7, 12))
    np.testing.assert_array_equal(
        analysis.paired_t(samples), [analysis.paired_t(sample) for sample in samples]
    )


def test_systems_that_always_differ_alike_differ_for_certain() -> None:
    scores = np.column_stack([SCORES[:, 0], SCORES[:, 0] + 0.125])
    assert analysis.paired_t(scores) == -np.inf
    assert analysis.paired_p_values(scores) == 0


@given(score_arrays)
def test_paired_p_values_of_any_scores_are_those_of_the_differences(scores: Floats) -> None:
    for p, (i, j) in zip(
        analysis.paired_p_values(scores), combinations(range(scores.shape[1]), 2), strict=True
    ):
        d = scores[:, i] - scores[:, j]
        if np.ptp(d) < 1e-12:
            assert p == (1 if abs(d[0]) < 1e-12 else 0)
        else:
            assert p == pytest.approx(stats.ttest_1samp(d, 0).pvalue, abs=1e-7)


@given(score_arrays, st.permutations(range(5)))
def test_the_order_of_the_systems_does_not_matter(scores: Floats, order: list[int]) -> None:
    order = [i for i in order if i < scores.shape[1]]
    levels = [0.01, 0.05, 0.3]
    np.testing.assert_allclose(
        analysis.discriminative_power(scores, levels),
        analysis.discriminative_power(scores[:, order], levels),
    )


def test_discriminative_power_counts_the_p_values(scores: Floats) -> None:
    p = [stats.ttest_rel(scores[:, i], scores[:, j]).pvalue for i, j in combinations(range(5), 2)]
    levels = [0.01, 0.05, 0.2]
    np.testing.assert_allclose(
        analysis.discriminative_power(scores, levels),
        [np.mean(np.array(p) <= alpha) for alpha in levels],
    )


def test_significance_takes_many_samples_at_once() -> None:
    samples = SCORES[np.array([[0, 1, 2, 3], [4, 5, 6, 7]])]
    power = analysis.discriminative_power(samples, [0.05, 0.1])
    assert power.shape == (2, 2)
    np.testing.assert_array_equal(power[1], analysis.discriminative_power(samples[1], [0.05, 0.1]))
    assert analysis.discriminative_power(samples, 0.05).shape == (2,)


def test_a_hundredth_of_the_papers_tests_takes_a_hundredth_of_its_five_minutes() -> None:
    samples = RNG.random((500, 50, 110))
    start = time.process_time()
    for part in np.split(samples, 25):
        analysis.discriminative_power(part, [0.001, 0.01, 0.05])
    assert time.process_time() - start < 6  # two cores, 10,000 samples, five schemes: 600 seconds


def test_tukeys_test_of_two_systems_is_the_permutation_test() -> None:
    scores = SCORES[:8, :2]
    d = scores[:, 0] - scores[:, 1]
    flips = np.array([abs(np.dot(signs, d)) for signs in product([1, -1], repeat=8)])
    exact = np.mean(flips >= abs(d.sum()) - 1e-12)
    computed = analysis.tukey_p_values(scores, trials=20_000, seed=1)
    assert computed == pytest.approx(exact, abs=3 * np.sqrt(exact * (1 - exact) / 20_000))


def test_tukeys_test_never_finds_equal_systems_different() -> None:
    assert (analysis.tukey_p_values(np.repeat(SCORES[:, :1], 4, axis=1), trials=50) == 1).all()


def test_tukeys_test_is_never_quite_certain() -> None:
    scores = SCORES / 10
    scores[:, 0] += 100
    assert analysis.tukey_p_values(scores, trials=50)[:4].tolist() == [1 / 51] * 4


def test_tukeys_test_repeats_with_its_seed() -> None:
    first, again, other = (analysis.tukey_p_values(SCORES, 200, seed) for seed in (5, 5, 6))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_discriminative_power_by_tukeys_test_counts_its_p_values() -> None:
    p = analysis.tukey_p_values(SCORES, 300, 2)
    assert analysis.discriminative_power(SCORES, 0.4, test="tukey", trials=300, seed=2) == np.mean(
        p <= 0.4
    )


@pytest.mark.parametrize("equal_var", [True, False])
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_two_sample_p_values_are_scipys(
    equal_var: bool, alternative: Literal["two-sided", "greater", "less"]
) -> None:
    computed = analysis.two_sample_p_values(
        SCORES, OTHER, equal_var=equal_var, alternative=alternative
    )
    expected = [
        [
            stats.ttest_ind(
                SCORES[:, i], OTHER[:, j], equal_var=equal_var, alternative=alternative
            ).pvalue
            for j in range(5)
        ]
        for i in range(5)
    ]
    np.testing.assert_allclose(computed, expected, rtol=1e-9)


def test_two_samples_that_do_not_vary_differ_only_if_their_means_do() -> None:
    flat = np.array([[0.1, 0.1], [0.1, 0.1], [0.1, 0.1]])
    higher = flat + np.array([0, 0.2])
    np.testing.assert_array_equal(analysis.two_sample_p_values(flat, higher), [[1, 0], [1, 0]])


def test_a_flat_score_is_the_same_over_any_number_of_topics() -> None:
    # Their means are not, in floating point.
    three, ten = np.full((3, 1), 0.1), np.full((10, 1), 0.1)
    assert three.mean() != ten.mean()
    assert analysis.two_sample_p_values(three, ten) == 1


def test_self_false_positives_are_the_tests_of_a_system_against_itself() -> None:
    p = analysis.two_sample_p_values(OTHER, SCORES, alternative="greater")
    computed = analysis.self_false_positives(OTHER, SCORES, 0.1)
    np.testing.assert_array_equal(computed, np.diagonal(p) <= 0.1)


@pytest.mark.parametrize(
    "test",
    [
        analysis.paired_t,
        analysis.paired_p_values,
        analysis.discriminative_power,
        analysis.tukey_p_values,
        analysis.within_system_variance,
        lambda x: analysis.two_sample_p_values(x, SCORES),
        lambda x: analysis.self_false_positives(SCORES, x),
        lambda x: analysis.swap_rate(x, [0]),
    ],
)
@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (SCORES[:, 0], "must be .*topics x systems"),
        (SCORES[:1], "at least 2 topic"),
        (WITH_NAN, "1 value.* NaN or infinite"),
    ],
)
def test_bad_scores_are_refused_with_a_reason(
    test: Callable[[Floats], Any], scores: Floats, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        test(scores)


def wrong(value: str) -> Any:
    """What a type checker would not let pass."""
    return value


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: analysis.discriminative_power(SCORES, 0), "alpha must lie between 0 and 1"),
        (
            lambda: analysis.discriminative_power(SCORES, test=wrong("f")),
            "allowed are 't' and 'tukey'",
        ),
        (lambda: analysis.tukey_p_values(SCORES, 0), "trials must be at least 1"),
        (lambda: analysis.tukey_p_values(SCORES[None]), "one array of topics x systems"),
        (
            lambda: analysis.two_sample_p_values(SCORES, OTHER, alternative=wrong("up")),
            "allowed are",
        ),
        (lambda: analysis.self_false_positives(SCORES, OTHER[:, :2]), "same systems, got 5 and 2"),
        (lambda: analysis.drmse(SCORES, OTHER[:, :2]), "same systems, got 5 and 2"),
        (lambda: analysis.drmse(SCORES * 0, OTHER * 0), "no spread"),
        (lambda: analysis.swap_rate(SCORES, [0.1]), "ascend from 0"),
        (lambda: analysis.swap_rate(SCORES, [0, 0.2, 0.1]), "ascend from 0"),
        (lambda: analysis.swap_rate(SCORES, [0], size=7), "half of the 12 topics"),
        (lambda: analysis.standardize_matrix(SCORES, OTHER), "same topics"),
        (lambda: analysis.standardize_matrix(SCORES, scheme="X"), "allowed are"),
        (lambda: analysis.leave_out(SCORES, "ab"), "as many groups, got 2"),
        (lambda: analysis.leave_out(SCORES, "aaaab"), "fewer than two systems remain"),
        (lambda: analysis.factor_stability(SCORES, OTHER, 2), "same topics, got 12 and 9"),
        (lambda: analysis.factor_stability(SCORES, SCORES, 6), "between 2 and the 5"),
        (lambda: analysis.factor_stability(SCORES, SCORES * 0, 2, scheme="z"), "no spread on any"),
        (lambda: analysis.topic_set_size(0, 0.1), "above 0"),
        (lambda: analysis.topic_set_size(0.1, 0.1, 1), "systems must be at least 2"),
        (
            lambda: analysis.topic_set_size_paired_t(0.1, 0.1, beta=1),
            "beta must lie between 0 and 1",
        ),
    ],
)
def test_wrong_use_is_refused_with_a_reason(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


# Stability


def test_drmse_is_the_drift_over_the_average_spread() -> None:
    a, b = SCORES.mean(axis=0), OTHER.mean(axis=0)
    rms = (sum((x - y) ** 2 for x, y in zip(a, b, strict=True)) / 5) ** 0.5
    spread = (np.std(a, ddof=1) + np.std(b, ddof=1)) / 2
    assert analysis.drmse(SCORES, OTHER) == pytest.approx(rms / spread)


def test_drmse_takes_many_samples_at_once() -> None:
    samples = SCORES[np.array([[0, 1, 2], [3, 4, 5]])]
    np.testing.assert_allclose(
        analysis.drmse(samples, OTHER), [analysis.drmse(x, OTHER) for x in samples]
    )


def test_drmse_of_systems_that_differ_by_rounding_only_is_refused() -> None:
    assert analysis.drmse(SCORES, SCORES) == 0


def test_means_that_differ_by_rounding_only_have_no_spread() -> None:
    tenths = np.array([[1, 2, 3], [2, 3, 1], [3, 1, 2]]) / 10
    assert np.ptp(tenths.mean(axis=0)) > 0
    with pytest.raises(ValueError, match="no spread"):
        analysis.drmse(tenths, tenths)


@pytest.mark.parametrize("scale", [1 / 8, 10, 1000])
def test_swap_rates_do_not_change_with_the_unit_of_the_scores(scale: float) -> None:
    tenths, bins = RNG.integers(0, 11, (12, 6)) / 10, np.arange(8) / 20
    computed = analysis.swap_rate(tenths, bins, trials=50)
    scaled = analysis.swap_rate(tenths * scale, bins * scale, trials=50)
    np.testing.assert_array_equal(computed.pairs, scaled.pairs)
    np.testing.assert_array_equal(computed.swaps, scaled.swaps)
    assert computed.error == pytest.approx(stats.sem(computed.by_trial))
    assert computed.overall == pytest.approx(computed.by_trial.mean())


def test_swap_rate_is_the_plain_count() -> None:
    bins, trials, size = [0, 0.02, 0.1], 40, 4
    rng = np.random.default_rng(3)
    pairs, swaps = [0, 0, 0], [0, 0, 0]
    for _ in range(trials):
        topics = rng.permutation(12)
        a, b = SCORES[topics[:size]].mean(axis=0), SCORES[topics[size : 2 * size]].mean(axis=0)
        for i, j in combinations(range(5), 2):
            k = sum(abs(a[i] - a[j]) >= low for low in bins) - 1
            pairs[k] += 1
            swaps[k] += (a[i] - a[j]) * (b[i] - b[j]) < 0
    computed = analysis.swap_rate(SCORES, bins, size=size, trials=trials, seed=3)
    assert (computed.pairs.tolist(), computed.swaps.tolist()) == (pairs, swaps)
    np.testing.assert_allclose(computed.rate, np.array(swaps) / pairs)
    assert computed.overall == sum(swaps) / sum(pairs)


def test_systems_that_keep_their_order_never_swap() -> None:
    scores = SCORES[:, :1] + np.arange(4) / 10
    assert analysis.swap_rate(scores, [0], trials=20).overall == 0


def test_topics_that_disagree_always_swap() -> None:
    computed = analysis.swap_rate([[0.2, 0.4], [0.4, 0.2]], [0, 0.1, 0.5], trials=20)
    assert computed.overall == 1
    np.testing.assert_array_equal(computed.rate, [np.nan, 1, np.nan])


@pytest.mark.parametrize("scheme", ["N", "U", "z", "E"])
def test_all_standardizing_systems_agree_with_themselves(scheme: str) -> None:
    taus = analysis.factor_stability(SCORES, SCORES, 5, samples=3, scheme=scheme)
    np.testing.assert_allclose(taus, 1)


@pytest.mark.parametrize("scheme", ["N", "U", "E"])
def test_factor_stability_is_the_tau_of_some_sample(scheme: str) -> None:
    by = RNG.random((12, 3))

    def means(systems: list[int]) -> Floats:
        y = analysis.standardize_matrix(SCORES, by[:, systems], scheme)
        return np.asarray(y.mean(axis=0))

    possible = {
        round(stats.kendalltau(means([0, 1, 2]), means(list(pair))).statistic, 9)
        for pair in combinations(range(3), 2)
    }
    computed = analysis.factor_stability(SCORES, by, 2, samples=60, scheme=scheme)
    assert set(computed.round(9).tolist()) == possible


def test_a_topic_without_spread_in_a_sample_is_left_out_of_it_by_z() -> None:
    by = RNG.random((12, 4))
    by[0] = 0.5
    without = analysis.factor_stability(SCORES[1:], by[1:], 2, samples=20, scheme="z")
    np.testing.assert_array_equal(
        analysis.factor_stability(SCORES, by, 2, samples=20, scheme="z"), without
    )


def test_a_topic_without_spread_in_a_sample_parts_the_systems_above_from_those_below() -> None:
    by = RNG.random((12, 4))
    by[0] = 0.5

    def means(chosen: list[int]) -> Floats:
        limits = SCORES[0] > 0.5
        y = np.vstack([limits, analysis.standardize_matrix(SCORES[1:], by[1:, chosen])])
        return np.asarray(y.mean(axis=0))

    possible = {
        round(stats.kendalltau(means([0, 1, 2, 3]), means(chosen)).statistic, 9)
        for chosen in map(list, combinations(range(4), 3))
    }
    computed = analysis.factor_stability(SCORES, by, 3, samples=60)
    assert set(computed.round(9).tolist()) == possible


def test_factor_stability_repeats_with_its_seed() -> None:
    first, again = (
        analysis.factor_stability(SCORES, SCORES, 3, samples=70, seed=4) for _ in range(2)
    )
    np.testing.assert_array_equal(first, again)


# Standardization


@pytest.mark.parametrize("scheme", ["N", "U", "z", "E"])
def test_standardize_is_the_scheme_with_the_systems_own_factors(scheme: str) -> None:
    by = RNG.random((12, 7))
    computed = analysis.standardize_matrix(SCORES, by, scheme)
    for t, row in enumerate(by):
        expected = get_scheme(scheme).apply(
            SCORES[t], mean=row.mean(), sd=row.std(ddof=1), scores=np.tile(row, (5, 1))
        )
        np.testing.assert_allclose(computed[t], expected)


def test_a_topic_on_which_all_score_the_same_standardizes_to_the_average() -> None:
    # The mean of three times 0.1 is not 0.1 in floating point, and must not matter.
    assert analysis.standardize_matrix([[0.1, 0.1, 0.1]]).tolist() == [[0.5, 0.5, 0.5]]


def test_schemes_parameters_are_passed_on() -> None:
    np.testing.assert_allclose(
        analysis.standardize_matrix(SCORES, scheme="U", A=0.1),
        np.clip(0.1 * analysis.standardize_matrix(SCORES, scheme="z") + 0.5, 0, 1),
    )


@pytest.mark.parametrize("scheme", ["N", "U", "E"])
def test_leave_out_standardizes_each_group_by_the_others(scheme: str) -> None:
    computed = analysis.leave_out(SCORES, ["a", "b", "a", "c", "c"], scheme)
    for own, others in (([0, 2], [1, 3, 4]), ([1], [0, 2, 3, 4]), ([3, 4], [0, 1, 2])):
        expected = analysis.standardize_matrix(SCORES[:, own], SCORES[:, others], scheme)
        np.testing.assert_array_equal(computed[:, own], expected)


# Topic set size


def test_within_system_variance_is_the_residual_of_one_way_anova() -> None:
    residuals = SCORES - SCORES.mean(axis=0)
    expected = (residuals**2).sum() / (5 * (12 - 1))
    assert analysis.within_system_variance(SCORES) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("systems", "difference", "expected"),
    [
        (2, 0.5, 64),  # two groups, Cohen's d 0.5
        (2, 0.8, 26),
        (3, 0.375**0.5, 53),  # three groups, Cohen's f 0.25: lambda / (m n) = f**2
    ],
)
def test_topic_set_size_is_the_textbooks(systems: int, difference: float, expected: int) -> None:
    assert analysis.topic_set_size(1, difference, systems) == expected


@pytest.mark.parametrize(("difference", "expected"), [(0.2, 199), (0.5, 34), (0.8, 15)])
def test_topic_set_size_of_the_paired_t_test_is_the_textbooks(
    difference: float, expected: int
) -> None:
    assert analysis.topic_set_size_paired_t(1, difference) == expected


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
    n = analysis.topic_set_size(variance, difference, m, alpha=alpha, beta=beta)

    def power(n: int) -> float:
        df = m - 1, m * (n - 1)
        effect = n * difference**2 / (2 * variance)
        return float(stats.ncf.sf(stats.f.isf(alpha, *df), *df, effect))

    assert power(n) >= 1 - beta - 1e-9
    assert n == 2 or power(n - 1) < 1 - beta + 1e-9


@given(st.floats(0.005, 0.2), st.floats(0.05, 0.3), st.sampled_from([0.01, 0.05]))
def test_topic_set_size_of_the_paired_t_test_is_the_smallest(
    variance: float, difference: float, alpha: float
) -> None:
    n = analysis.topic_set_size_paired_t(variance, difference, alpha=alpha)

    def power(n: int) -> float:
        # The wrong sign, less likely than one in a million here, is left out.
        nc, critical = np.sqrt(n / variance) * difference, stats.t.isf(alpha / 2, n - 1)
        return float(stats.nct.sf(critical, n - 1, nc))

    assert power(n) >= 0.8 - 1e-6
    assert n == 2 or power(n - 1) < 0.8 + 1e-6


def test_importing_ir_std_does_not_import_the_analysis() -> None:
    code = "import ir_std, sys; sys.exit('ir_std.analysis' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
