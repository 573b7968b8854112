"""The formulas of the schemes, against scipy and plain counting."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st
from scipy import stats

from ir_std.errors import NoFactorsError, UsageError
from ir_std.schemes import SCHEMES, get_scheme, normal_cdf, scheme_names

unit = st.floats(0, 1)


NAN = np.nan
FACTORS = {"mean": 0.3, "sd": 0.1}
SAME = {"mean": 0.25, "sd": 0.0}
"""Factors of a topic on which all systems have the same score."""
TO_FOUR_PLACES = {**SAME, "resolution": 1e-4}
SOME_SAME = {"mean": [0.2, 0.2, NAN], "sd": [0.1, 0.0, 0.0]}
THREE = {"scores": [[0.1233, 0.1234, 0.5]]}
EXAMPLES: dict[str, tuple[str, list[float], dict[str, Any], list[float]]] = {
    "z is the deviation in sds": ("z", [0.5, 0.1], FACTORS, [2, -2]),
    "N is 0.5 at the mean": ("N", [0.3, 0.4], FACTORS, [0.5, 0.8413447460685429]),
    "U is clipped": ("U", [0.3, 0.4, 9, -9], FACTORS, [0.5, 0.65, 1, 0]),
    "U with coefficients": ("U", [0.4], FACTORS | {"A": 0.1, "B": 0.4}, [0.5]),
    "E is a share of systems": (
        "E",
        [0.05, 0.2, 0.3, 0.4],
        {"scores": [[0.1, 0.2, 0.2, 0.4]] * 4},
        [0, 0.75, 0.75, 1],
    ),
    "E at a resolution": ("E", [0.12336], THREE | {"resolution": 1e-4}, [2 / 3]),
    "E without a resolution": ("E", [0.12336], THREE, [1 / 3]),
    "E counts systems with scores": (
        "E",
        [0.2, 0.2],
        {"scores": [[0.1, 0.3, NAN], [NAN] * 3]},
        [0.5, NAN],
    ),
    "E of an unknown score": ("E", [NAN, 0.2], {"scores": [[0.1, 0.3]] * 2}, [NAN, 0.5]),
    "N without spread": ("N", [0.24, 0.25, 0.26], SAME, [0, 0.5, 1]),
    "U without spread": ("U", [0.24, 0.25, 0.26], SAME, [0, 0.5, 1]),
    "z without spread": ("z", [0.24, 0.25, 0.26], SAME, [NAN] * 3),
    "E without spread": ("E", [0.1, 0.2, 0.3], {"scores": [[0.2, 0.2]] * 3}, [0, 1, 1]),
    "U without spread is B": ("U", [0.2, 0.25, 0.3], SAME | {"A": 0.1, "B": 0.4}, [0, 0.4, 1]),
    "equal to the resolution": ("N", [0.24994, 0.25004, 0.25006], TO_FOUR_PLACES, [0, 0.5, 1]),
    "N with spread on some topics": ("N", [0.3] * 3, SOME_SAME, [0.8413447460685429, 1, NAN]),
    "U with spread on some topics": ("U", [0.3] * 3, SOME_SAME, [0.65, 1, NAN]),
    "z without factors": ("z", [0.3], {"mean": NAN, "sd": NAN}, [NAN]),
    "N without factors": ("N", [0.3], {"mean": NAN, "sd": NAN}, [NAN]),
    "U without factors": ("U", [0.3], {"mean": NAN, "sd": NAN}, [NAN]),
}
"""Scheme, raw scores, known data on the systems, and standardized scores."""


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_scheme_standardizes_as_by_hand(name: str) -> None:
    scheme, scores, known, expected = EXAMPLES[name]
    found = get_scheme(scheme).apply(scores, **known)
    np.testing.assert_allclose(found, expected, rtol=1e-14, atol=0)


@pytest.mark.parametrize("count", [50_000, 50_001])
def test_n_is_the_normal_distribution_function_whatever_the_number_of_values(count: int) -> None:
    z = np.append(np.linspace(-9, 9, count - 3), [-37, 40, 0])
    values = normal_cdf(np.append(z[:-1], np.nan))
    assert np.isnan(values[-1])
    expected = [(1 + math.erf(x / math.sqrt(2))) / 2 for x in z[:-1].tolist()]
    assert values.shape == z.shape
    np.testing.assert_allclose(values[:-1], expected, rtol=0, atol=1e-15)
    np.testing.assert_allclose(values[:-1], stats.norm.cdf(z[:-1]), rtol=1e-12)


def test_e_without_scores_says_what_to_use_instead() -> None:
    with pytest.raises(NoFactorsError, match="use N, U or z"):
        get_scheme("E").apply([0.1], mean=0.1, sd=0.1)


@given(st.sampled_from(["N", "U"]), unit, unit)
def test_without_spread_a_value_is_the_limit_of_ever_smaller_deviations(
    scheme: str, x: float, mean: float
) -> None:
    assume(x == mean or abs(x - mean) > 1e-6)
    rule = get_scheme(scheme)
    assert rule.apply(x, mean=mean, sd=0.0) == pytest.approx(
        rule.apply(x, mean=mean, sd=1e-9), abs=1e-12
    )


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
def test_schemes_are_named_in_several_ways_and_unknown_ones_refused(
    given_names: Any, names: tuple[str, ...]
) -> None:
    assert scheme_names(given_names) == names
    unknown: tuple[Any, ...] = ("n,Q", [], "Z")
    for wrong in unknown:
        with pytest.raises(UsageError, match="N, U, E, z"):
            scheme_names(wrong)
