"""The statistics against plain implementations, scipy and textbook values."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import paper_statistics as papers
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays

from ir_std import analysis
from ir_std._arrays import Floats
from ir_std.schemes import get_scheme

RNG = np.random.default_rng(20080720)
SCORES = RNG.beta(1, 3, (12, 5))
OTHER = RNG.beta(2, 3, (9, 5))
WITH_NAN = SCORES.copy()
WITH_NAN[3, 2] = np.nan

# There are few distinct values, so ties, constant systems and equal systems are common.
score_arrays = st.tuples(st.integers(2, 6), st.integers(2, 5)).flatmap(
    lambda shape: arrays(float, shape, elements=st.sampled_from([0, 0.25, 0.3, 0.5, 1]))
)


# Rank correlation


def test_equal_scores_of_all_systems_have_no_correlation() -> None:
    for x, y in (([1, 1], [1, 2]), ([1, 2], [1, 1])):
        assert np.isnan(analysis.kendall_tau_b(x, y))
    assert np.isnan(analysis.tau_ap_b([1, 2], [1, 1]))


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
        ([1, 2], [1, 2, 3], "two rankings of the same systems"),
        ([1], [1], "two rankings of the same systems"),
        (1, 1, "two rankings of the same systems"),
        ([1, np.nan], [1, 2], r"NaN or infinite \(1\)"),
    ],
)
def test_correlations_refuse_input_other_than_two_rankings(
    correlation: Callable[..., Any], x: npt.ArrayLike, y: npt.ArrayLike, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        correlation(x, y)


# Significance


@pytest.mark.parametrize(
    ("other", "t", "p"),
    [(SCORES[:, 0], 0, 1), ((SCORES[:, 0] + 0.2) - 0.2, 0, 1), (SCORES[:, 0] + 0.125, -np.inf, 0)],
    ids=["equal", "equal but for rounding", "always different"],
)
def test_equal_systems_do_not_differ_and_a_constant_difference_is_certain(
    other: Floats, t: float, p: float
) -> None:
    found = analysis.paired_t(np.column_stack([SCORES[:, 0], other]))
    assert [found.t.item(), found.p.item()] == [t, p]


def test_near_equal_pairs_are_tested_alike_alone_and_among_many_samples() -> None:
    samples = np.repeat(SCORES[None], 7, axis=0)
    samples[:, 4, 1:] = SCORES[4, 1:] + 1e-6 * RNG.random((7, 4))
    samples[:, :, 1] = samples[:, :, 0] + 1e-6 * RNG.random((7, 12))
    np.testing.assert_array_equal(
        analysis.paired_t(samples).t, [analysis.paired_t(sample).t for sample in samples]
    )


@given(score_arrays, st.permutations(range(5)))
def test_the_order_of_the_systems_does_not_matter(scores: Floats, order: list[int]) -> None:
    order = [i for i in order if i < scores.shape[1]]
    levels = [0.01, 0.05, 0.3]
    np.testing.assert_allclose(
        analysis.discriminative_power(scores, levels),
        analysis.discriminative_power(scores[:, order], levels),
    )


def test_significance_takes_many_samples_at_once() -> None:
    samples = SCORES[np.array([[0, 1, 2, 3], [4, 5, 6, 7]])]
    power = analysis.discriminative_power(samples, [0.05, 0.1])
    assert power.shape == (2, 2)
    np.testing.assert_array_equal(power[1], analysis.discriminative_power(samples[1], [0.05, 0.1]))
    assert analysis.discriminative_power(samples, 0.05).shape == (2,)


@pytest.mark.parametrize(
    "test",
    [
        analysis.paired_t,
        analysis.discriminative_power,
        papers.tukey_p_values,
        papers.within_system_variance,
        lambda x: papers.two_sample_p_values(x, SCORES),
        lambda x: papers.self_false_positives(SCORES, x),
        lambda x: papers.swap_rate(x, [0]),
    ],
)
@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (SCORES[:, 0], "must be .*topics x systems"),
        (SCORES[:1], "at least 2 topic"),
        (WITH_NAN, r"NaN or infinite \(1\)"),
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
        (
            lambda: analysis.standardize_matrix(SCORES, leave_out="ab"),
            "needs 5 groups, one per system, got 2",
        ),
        (lambda: analysis.standardize_matrix(SCORES, leave_out="aaaab"), "fewer than two systems"),
        (
            lambda: analysis.standardize_matrix(SCORES, OTHER, leave_out="abcde"),
            "by cannot be combined with leave_out",
        ),
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


@pytest.mark.parametrize("scheme", ["N", "U", "E"])
def test_leave_out_standardizes_each_group_by_the_others(scheme: str) -> None:
    computed = analysis.standardize_matrix(SCORES, scheme=scheme, leave_out="abacc")
    for own, others in (([0, 2], [1, 3, 4]), ([1], [0, 2, 3, 4]), ([3, 4], [0, 1, 2])):
        expected = analysis.standardize_matrix(SCORES[:, own], SCORES[:, others], scheme)
        np.testing.assert_array_equal(computed[:, own], expected)


def test_a_topic_on_which_all_score_the_same_standardizes_to_the_average() -> None:
    # In floating point, the mean of three times 0.1 is not 0.1; this must not matter.
    assert analysis.standardize_matrix([[0.1, 0.1, 0.1]]).tolist() == [[0.5, 0.5, 0.5]]


def test_schemes_parameters_are_passed_on() -> None:
    np.testing.assert_allclose(
        analysis.standardize_matrix(SCORES, scheme="U", A=0.1),
        np.clip(0.1 * analysis.standardize_matrix(SCORES, scheme="z") + 0.5, 0, 1),
    )
