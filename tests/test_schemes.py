"""The formulas of the schemes, against scipy and plain counting."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from ir_std.errors import NoFactorsError, UsageError
from ir_std.schemes import SCHEMES, get_scheme, normal_cdf, scheme_names

unit = st.floats(0, 1)


def test_z_is_the_deviation_in_standard_deviations() -> None:
    assert get_scheme("z").apply([0.5, 0.1], mean=0.3, sd=0.1) == pytest.approx([2.0, -2.0])


def test_n_is_one_half_at_the_mean_and_0_84_one_deviation_above() -> None:
    assert get_scheme("N").apply([0.3, 0.4], mean=0.3, sd=0.1) == pytest.approx([0.5, 0.8413447])


@pytest.mark.parametrize("count", [50_000, 50_001])
def test_n_is_the_normal_distribution_function_whatever_the_number_of_values(count: int) -> None:
    z = np.linspace(-9, 9, count)
    values = normal_cdf(np.append(z[:-1], np.nan))
    assert np.isnan(values[-1])
    expected = [(1 + math.erf(x / math.sqrt(2))) / 2 for x in z[:-1].tolist()]
    np.testing.assert_allclose(values[:-1], expected, rtol=0, atol=1e-15)
    np.testing.assert_allclose(values[:-1], stats.norm.cdf(z[:-1]), rtol=1e-12)


def test_u_is_linear_and_cut_to_the_unit_interval() -> None:
    values = get_scheme("U").apply([0.3, 0.4, 9.0, -9.0], mean=0.3, sd=0.1)
    assert values == pytest.approx([0.5, 0.65, 1.0, 0.0])


def test_u_takes_other_coefficients() -> None:
    assert get_scheme("U").apply([0.4], mean=0.3, sd=0.1, A=0.1, B=0.4) == pytest.approx([0.5])


def test_e_is_the_share_of_systems_that_score_at_most_x() -> None:
    scores = [[0.1, 0.2, 0.2, 0.4]] * 4
    assert get_scheme("E").apply([0.05, 0.2, 0.3, 0.4], scores=scores).tolist() == [
        0,
        0.75,
        0.75,
        1,
    ]


def test_e_rounds_x_to_the_resolution_of_the_scores() -> None:
    scores = [[0.1233, 0.1234, 0.5]]
    assert get_scheme("E").apply([0.12336], scores=scores, resolution=1e-4) == pytest.approx(2 / 3)
    assert get_scheme("E").apply([0.12336], scores=scores) == pytest.approx(1 / 3)


def test_e_counts_only_systems_with_a_score() -> None:
    scores = [[0.1, 0.3, np.nan], [np.nan] * 3]
    values = get_scheme("E").apply([0.2, 0.2], scores=scores)
    assert values[0] == 0.5
    assert np.isnan(values[1])


def test_e_of_an_unknown_score_is_unknown() -> None:
    values = get_scheme("E").apply([np.nan, 0.2], scores=[[0.1, 0.3]] * 2)
    assert np.isnan(values[0])
    assert values[1] == 0.5


def test_e_without_scores_says_what_to_use_instead() -> None:
    with pytest.raises(NoFactorsError, match="use N, U or z"):
        get_scheme("E").apply([0.1], mean=0.1, sd=0.1)


@pytest.mark.parametrize("scheme", ["N", "U"])
def test_without_spread_a_score_is_0_below_the_common_score_half_at_it_and_1_above(
    scheme: str,
) -> None:
    values = get_scheme(scheme).apply([0.24, 0.25, 0.26], mean=0.25, sd=0.0)
    assert values.tolist() == [0, 0.5, 1]


@given(st.sampled_from(["N", "U"]), unit, unit)
def test_without_spread_a_value_is_the_limit_of_ever_smaller_deviations(
    scheme: str, x: float, mean: float
) -> None:
    assume(x == mean or abs(x - mean) > 1e-6)
    rule = get_scheme(scheme)
    assert rule.apply(x, mean=mean, sd=0.0) == pytest.approx(
        rule.apply(x, mean=mean, sd=1e-9), abs=1e-12
    )


def test_without_spread_z_is_unknown_for_every_score() -> None:
    assert np.isnan(get_scheme("z").apply([0.24, 0.25, 0.26], mean=0.25, sd=0.0)).all()


def test_without_spread_u_is_its_intercept_at_the_common_score() -> None:
    values = get_scheme("U").apply([0.2, 0.25, 0.3], mean=0.25, sd=0.0, A=0.1, B=0.4)
    assert values.tolist() == [0, 0.4, 1]


def test_without_spread_equality_is_to_the_resolution_of_the_scores() -> None:
    values = get_scheme("N").apply([0.24994, 0.25004, 0.25006], mean=0.25, sd=0.0, resolution=1e-4)
    assert values.tolist() == [0, 0.5, 1]


@pytest.mark.parametrize("scheme", ["N", "U"])
def test_some_topics_without_spread_leave_the_others_as_they_are(scheme: str) -> None:
    values = get_scheme(scheme).apply([0.3, 0.3, 0.3], mean=[0.2, 0.2, np.nan], sd=[0.1, 0.0, 0.0])
    assert values[0] == get_scheme(scheme).apply(0.3, mean=0.2, sd=0.1)
    assert values[1] == 1
    assert np.isnan(values[2])


def test_without_spread_e_is_1_at_or_above_the_common_score_and_0_below() -> None:
    values = get_scheme("E").apply([0.1, 0.2, 0.3], scores=[[0.2, 0.2]] * 3)
    assert values.tolist() == [0, 1, 1]


@pytest.mark.parametrize("scheme", ["z", "N", "U"])
def test_a_topic_without_factors_gives_nan(scheme: str) -> None:
    assert np.isnan(get_scheme(scheme).apply([0.3], mean=np.nan, sd=np.nan)).all()


@given(st.lists(st.floats(-40, 40), min_size=1))
def test_the_normal_cdf_is_scipys(z: list[float]) -> None:
    assert normal_cdf(z) == pytest.approx(stats.norm.cdf(z), rel=1e-12, abs=1e-300)


@given(st.lists(unit, min_size=1, max_size=30), unit)
def test_e_is_what_counting_gives(scores: list[float], x: float) -> None:
    expected = sum(s <= x + 1e-9 for s in scores) / len(scores)
    assert get_scheme("E").apply([x], scores=[sorted(scores)]).tolist() == [expected]


@given(unit, unit, st.floats(1e-3, 1), st.sampled_from(sorted(SCHEMES)))
def test_a_higher_score_is_never_standardized_lower(
    x: float, y: float, sd: float, scheme: str
) -> None:
    known: dict[str, Any] = {"mean": 0.5, "sd": sd, "scores": [[0.2, 0.5, 0.9]] * 2}
    low, high = get_scheme(scheme).apply([min(x, y), max(x, y)], **known)
    assert low <= high


@pytest.mark.parametrize(
    ("given_names", "names"),
    [("N", ("N",)), ("U,z", ("U", "z")), (["E", "E"], ("E",)), ("all", ("N", "U", "E", "z"))],
)
def test_schemes_are_named_in_several_ways(given_names: Any, names: tuple[str, ...]) -> None:
    assert scheme_names(given_names) == names


@pytest.mark.parametrize("wrong", ["n,Q", [], "Z"])
def test_an_unknown_scheme_is_refused_with_the_allowed_ones(wrong: Any) -> None:
    with pytest.raises(UsageError, match="N, U, E, z"):
        scheme_names(wrong)
