"""Errors by the choice of systems, to the first order: against the bootstrap, and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from systems_bootstrap import bootstrap_covariance

import ir_std
from ir_std.analysis import standardize_matrix
from ir_std.analysis.influence import (
    DESIGN_EFFECT,
    covariance_by_design,
    covariance_by_team,
    design_effect,
    inflation,
    influence,
)
from ir_std.factors.estimates import scores_by_system


@pytest.fixture(scope="module")
def trec8() -> np.ndarray:
    """Return AP of TREC-8's systems, one column per system."""
    return scores_by_system(ir_std.load_factors("trec8-adhoc"), "AP")[1]


@pytest.fixture(scope="module")
def teams() -> list[str]:
    return [tag[:3].lower() for tag in ir_std.load_factors("trec8-adhoc").systems]


def some(topics: int, systems: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).random((topics, systems))


@pytest.mark.parametrize("scheme", ["N", "U", "z"])
def test_an_influence_is_what_a_little_more_weight_changes(scheme: str) -> None:
    scores, x = some(6, 9, 1), some(6, 2, 2)
    found = influence(x, scores, scheme)
    step = 1e-6
    for system in range(9):
        weights = np.full(9, (1 - step) / 9)
        weights[system] += step
        mean = scores @ weights
        # The sample deviation keeps its factor n / (n - 1): the weights are of shares.
        sd = np.sqrt(((scores - mean[:, None]) ** 2) @ weights * 9 / 8)
        moved = standardize_by(x, mean, sd, scheme) - standardize_matrix(x, scores, scheme)
        assert found[system] == pytest.approx(moved.mean(axis=0) / step / 9, rel=1e-3, abs=1e-6)


def standardize_by(x: np.ndarray, mean: np.ndarray, sd: np.ndarray, scheme: str) -> np.ndarray:
    from ir_std.schemes import get_scheme

    return get_scheme(scheme).apply(x, mean=mean[:, None], sd=sd[:, None])


def test_an_influence_on_the_share_is_exact() -> None:
    scores, x = some(6, 9, 1), some(6, 1, 2)
    below = (scores <= x).astype(float)
    expected = (below - below.mean(axis=1, keepdims=True)).mean(axis=0) / 9
    assert influence(x, scores, "E")[:, 0] == pytest.approx(expected)


@pytest.mark.parametrize("scheme", ["N", "U", "E", "z"])
def test_influences_add_up_to_nothing(scheme: str) -> None:
    assert influence(some(5, 3, 1), some(5, 8, 2), scheme).sum(axis=0) == pytest.approx(
        0, abs=1e-12
    )


@pytest.mark.parametrize(("scheme", "within"), [("N", 0.1), ("U", 0.1), ("E", 0.1), ("z", 0.2)])
def test_errors_are_near_the_bootstraps(
    trec8: np.ndarray, teams: list[str], scheme: str, within: float
) -> None:
    x = trec8[:, ::12]
    values = influence(x, trec8, scheme)
    by_system, _ = covariance_by_design(values, 1.0)
    by_team, _ = covariance_by_team(values, teams)
    for covariance, groups in ((by_system, None), (by_team, teams)):
        expected = np.diag(bootstrap_covariance(x, trec8, groups, scheme))
        ratio = np.sqrt(np.diag(covariance) / expected)
        assert np.median(ratio) == pytest.approx(1, abs=within)


def test_a_system_without_a_score_on_a_topic_does_not_count_there() -> None:
    scores, x = some(2, 6, 1), some(2, 1, 2)
    scores[1, 5] = np.nan
    found = influence(x, scores)
    apart = influence(x[:1], scores[:1]), influence(x[1:], scores[1:, :5])
    assert found[:5] == pytest.approx((apart[0][:5] + apart[1]) / 2)
    assert found[5] == pytest.approx(apart[0][5] / 2)


def test_a_topic_on_which_systems_do_not_differ_adds_nothing() -> None:
    scores, x = some(2, 6, 1), some(2, 1, 2)
    scores[1] = 0.3
    assert influence(x, scores) == pytest.approx(influence(x[:1], scores[:1]) / 2)


def test_two_teams_have_an_error(trec8: np.ndarray) -> None:
    """Check the error for INQ601-604 and apl8*, where a bootstrap of teams fails."""
    tags = list(ir_std.load_factors("trec8-adhoc").systems)
    names = ["INQ601", "INQ602", "INQ603", "INQ604", "apl8n", "apl8p", "apl8ctd", "apl8c621"]
    columns = [tags.index(name) for name in names]
    x = trec8[:, [tags.index("ok8alx")]]
    covariance, df = covariance_by_team(influence(x, trec8[:, columns]), [n[:3] for n in names])
    assert df == 1
    assert 0.005 < np.sqrt(covariance[0, 0]) < 0.1


def test_the_variance_by_team_uses_sums_within_teams() -> None:
    values = np.array([[1.0], [2.0], [-4.0], [1.0]])
    covariance, df = covariance_by_team(values, "aabc")
    effective = 16 / 6
    assert covariance[0, 0] == pytest.approx((9 + 16 + 1) * effective / (effective - 1))
    assert df == pytest.approx(effective - 1)
    own, all_df = covariance_by_team(values, "abcd")
    assert (own, all_df) == covariance_by_design(values, 1.0)
    assert np.isnan(covariance_by_team(values, "aaaa")[0]).all()


def test_systems_that_are_alike_are_worth_fewer() -> None:
    assert inflation(100, 1.0) == (1, 99)
    factor, df = inflation(100, 2.75)
    assert df == pytest.approx(100 / 2.75 - 1)
    assert factor == pytest.approx(99 / df)
    assert inflation(2, 2.75) == (4, 1)
    assert np.isnan(covariance_by_design(np.ones((1, 1)), 1.0)[0]).all()


def test_the_design_effect_counts_systems_that_are_alike() -> None:
    random = np.random.default_rng(1)
    alone = random.normal(size=(40, 8))
    assert design_effect(alone) == pytest.approx(1, abs=0.3)
    twice = np.repeat(random.normal(size=(40, 8)), 2, axis=1)
    noise = 0.3 * random.normal(size=twice.shape)
    assert design_effect(twice + noise) == DESIGN_EFFECT
    assert design_effect(np.ones((40, 8))) == DESIGN_EFFECT


@given(st.integers(2, 12), st.integers(1, 8), st.sampled_from("NUzE"))
def test_variances_are_never_negative_nor_nan(systems: int, topics: int, scheme: str) -> None:
    values = influence(some(topics, 2, 1), some(topics, systems, 2), scheme)
    covariance, df = covariance_by_design(values, design_effect(some(topics, systems, 2)))
    assert df >= 1
    assert (np.linalg.eigvalsh(covariance) > -1e-12).all()


def test_arrays_that_do_not_fit_are_an_error() -> None:
    with pytest.raises(ValueError, match=r"\(2, 1\) and \(3, 4\)"):
        influence(np.ones((2, 1)), np.ones((3, 4)))
