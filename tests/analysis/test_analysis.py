"""The statistics against plain implementations, scipy and textbook values."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from itertools import combinations
from typing import Any

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
    """Compute tau_AP pivot by pivot, as Urbano and Marrero (2017) define it."""
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
def test_correlations_refuse_input_other_than_two_rankings(
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
    np.testing.assert_allclose(analysis.paired_t(scores).p, expected, rtol=1e-9)


def test_equal_systems_do_not_differ() -> None:
    twins = np.repeat(SCORES[:, :1], 2, axis=1)
    assert analysis.paired_t(twins).t == 0
    assert analysis.paired_t(twins).p == 1


def test_systems_that_are_equal_but_for_rounding_do_not_differ() -> None:
    scores = np.column_stack([SCORES[:, 0], (SCORES[:, 0] + 0.2) - 0.2])
    assert (scores[:, 0] != scores[:, 1]).any()
    assert analysis.paired_t(scores).p == 1


def test_a_tiny_difference_on_one_topic_is_chance() -> None:
    x = np.random.default_rng(0).random(50)
    y = x.copy()
    y[3] += 1e-7
    assert analysis.paired_t(np.column_stack([x, y])).p == pytest.approx(
        stats.ttest_rel(x, y).pvalue, abs=1e-9
    )


def test_near_equal_pairs_are_tested_alike_alone_and_among_many_samples() -> None:
    samples = np.repeat(SCORES[None], 7, axis=0)
    samples[:, 4, 1:] = SCORES[4, 1:] + 1e-6 * RNG.random((7, 4))
    samples[:, :, 1] = samples[:, :, 0] + 1e-6 * RNG.random((7, 12))
    np.testing.assert_array_equal(
        analysis.paired_t(samples).t, [analysis.paired_t(sample).t for sample in samples]
    )


def test_systems_that_always_differ_alike_differ_for_certain() -> None:
    scores = np.column_stack([SCORES[:, 0], SCORES[:, 0] + 0.125])
    assert analysis.paired_t(scores).t == -np.inf
    assert analysis.paired_t(scores).p == 0


@given(score_arrays)
def test_paired_p_values_of_any_scores_are_those_of_the_differences(scores: Floats) -> None:
    for p, (i, j) in zip(
        analysis.paired_t(scores).p, combinations(range(scores.shape[1]), 2), strict=True
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


@pytest.mark.parametrize(
    "test",
    [
        analysis.paired_t,
        analysis.discriminative_power,
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


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: analysis.discriminative_power(SCORES, 0), "alpha must lie between 0 and 1"),
        (lambda: analysis.standardize_matrix(SCORES, OTHER), "same topics"),
        (lambda: analysis.standardize_matrix(SCORES, scheme="X"), "choose from"),
        (lambda: analysis.standardize_matrix(SCORES, leave_out="ab"), "as many groups, got 2"),
        (lambda: analysis.standardize_matrix(SCORES, leave_out="aaaab"), "fewer than two systems"),
        (lambda: analysis.standardize_matrix(SCORES, OTHER, leave_out="abcde"), "leave by out"),
        (lambda: analysis.topic_set_size_paired_t(0, 0.1), "above 0"),
        (
            lambda: analysis.topic_set_size_paired_t(0.1, 0.1, beta=1),
            "beta must lie between 0 and 1",
        ),
    ],
)
def test_wrong_use_is_refused_with_a_reason(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


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
    computed = analysis.standardize_matrix(SCORES, scheme=scheme, leave_out="abacc")
    for own, others in (([0, 2], [1, 3, 4]), ([1], [0, 2, 3, 4]), ([3, 4], [0, 1, 2])):
        expected = analysis.standardize_matrix(SCORES[:, own], SCORES[:, others], scheme)
        np.testing.assert_array_equal(computed[:, own], expected)


# Topic set size


@pytest.mark.parametrize(("difference", "expected"), [(0.2, 199), (0.5, 34), (0.8, 15)])
def test_topic_set_size_of_the_paired_t_test_is_the_textbooks(
    difference: float, expected: int
) -> None:
    assert analysis.topic_set_size_paired_t(1, difference) == expected


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
