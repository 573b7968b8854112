"""A mean and its errors from topics and systems, against loops, scipy and simulation."""

from collections.abc import Hashable, Sequence
from math import inf

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

import ir_std
from ir_std._arrays import Floats
from ir_std.analysis import standardize_matrix
from ir_std.analysis.influence import (
    DESIGN_EFFECT,
    contrast_error,
    covariance_by_design,
    covariance_by_team,
    design_effect,
    inflation,
    influence,
    normal_covariance,
)
from ir_std.analysis.means import Estimate, draw_samples, mean_of_estimates
from ir_std.schemes import get_scheme


def bootstrap_covariance(
    x: Floats, scores: Floats, groups: Sequence[Hashable] | None = None, scheme: str = "N"
) -> Floats:
    """Return the covariance of means over samples of whole groups of systems.

    It is multiplied by ``g / (g - 1)``, because a bootstrap's variance is that of a population
    which is the sample (Efron, 1979). Samples of a single system, without spread, are left out.
    """
    groups = range(scores.shape[1]) if groups is None else groups
    number = {group: i for i, group in enumerate(dict.fromkeys(groups))}
    drawn = draw_samples(len(number), 2000, 1)[:, [number[group] for group in groups]].astype(int)
    means = [
        standardize_matrix(x, np.repeat(scores, counts, axis=1), scheme).mean(axis=0)
        for counts in drawn
        if (counts > 0).sum() > 1
    ]
    return np.cov(means, rowvar=False) * len(number) / (len(number) - 1)


def scores(topics: int = 12, systems: int = 9, seed: int = 1) -> np.ndarray:
    """Simulate scores of systems that are equally good on all topics."""
    random = np.random.default_rng(seed)
    return 1 / (
        1
        + np.exp(
            -random.normal(size=(topics, 1))
            - random.normal(size=systems)
            - random.normal(size=(topics, systems))
        )
    )


def trec8(measure: str = "AP") -> np.ndarray:
    """Return the scores of TREC-8's systems, one column per system."""
    return ir_std.load_factors("trec8-adhoc").scores[measure]


def errors(covariance: np.ndarray) -> np.ndarray:
    return np.sqrt(np.diag(covariance))


# If only means and deviations are known


@pytest.mark.parametrize(("scheme", "params"), [("N", {}), ("z", {}), ("U", {"A": 0.1})])
@pytest.mark.parametrize("correlation", [0.0, 0.5])
def test_the_delta_method_tells_how_means_vary_with_normal_scores(
    scheme: str, params: dict[str, float], correlation: float
) -> None:
    random = np.random.default_rng(6)
    topics, systems, trials = 8, 400, 2000
    x = random.normal(size=(topics, 2)) * 0.7
    between, within = np.sqrt(correlation), np.sqrt(1 - correlation)
    drawn = between * random.normal(size=(trials, 1, systems)) + within * random.normal(
        size=(trials, topics, systems)
    )
    z = (x - drawn.mean(axis=2)[..., None]) / drawn.std(axis=2, ddof=1)[..., None]
    values = {"N": stats.norm.cdf, "z": np.asarray, "U": lambda z: np.clip(0.1 * z + 0.5, 0, 1)}[
        scheme
    ](z)
    seen = np.cov(values.mean(axis=1), rowvar=False)
    found = normal_covariance(
        x, np.zeros(topics), np.ones(topics), systems, scheme, correlation=correlation, **params
    )
    assert errors(found) == pytest.approx(errors(seen), rel=0.05)
    assert contrast_error(found, [1, -1]) == pytest.approx(contrast_error(seen, [1, -1]), rel=0.05)


def test_for_ap_the_delta_method_comes_near_the_bootstrap() -> None:
    by = trec8()
    assert errors(
        normal_covariance(by, by.mean(axis=1), by.std(axis=1, ddof=1), 129)
    ) == pytest.approx(errors(bootstrap_covariance(by, by)), rel=0.25, abs=0.001)


@given(st.integers(2, 12), st.integers(1, 8), st.sampled_from("NUz"))
def test_no_contrast_has_a_negative_variance(systems: int, topics: int, scheme: str) -> None:
    by, x = scores(topics, systems, 7), scores(topics, 2, 8)
    theory = normal_covariance(x, by.mean(axis=1), by.std(axis=1, ddof=1), systems, scheme)
    assert (np.linalg.eigvalsh(theory) > -1e-12).all()


def test_topics_without_spread_add_nothing() -> None:
    x = np.array([[0.2], [0.7]])
    with_flat = normal_covariance(x, [0.3, 0.5], [0.1, 0.0], 20)
    assert with_flat == pytest.approx(normal_covariance(x[:1], [0.3], [0.1], 20) / 4)


def test_theory_needs_two_systems_and_for_shares_their_scores() -> None:
    assert np.isnan(normal_covariance([[0.1]], [0.2], [0.1], 1)).all()
    with pytest.raises(ValueError, match="'E' needs the systems' scores"):
        normal_covariance([[0.1]], [0.2], [0.1], 20, "E")


def test_only_the_runs_of_a_contrast_are_looked_at() -> None:
    covariance = np.full((3, 3), np.nan)
    covariance[:2, :2] = [[4.0, 1.0], [1.0, 9.0]]
    assert contrast_error(covariance, [1, 0, 0]) == 2.0
    assert contrast_error(covariance, [1, -1, 0]) == np.sqrt(4 + 9 - 2)
    assert contrast_error(np.ones((2, 2)), [1, -1]) == 0


def test_the_interval_over_topics_is_students_and_one_topic_has_none() -> None:
    values = np.random.default_rng(1).random(20)
    found, single = Estimate.of([*values, np.nan]), Estimate.of([0.4])
    expected = stats.t.interval(0.95, 19, values.mean(), stats.sem(values))
    assert found.interval == pytest.approx(expected)
    assert (found.n, found.systems, single.mean) == (20, 0, 0.4)
    assert np.isnan([single.topics, *single.interval, single.p]).all()


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


def test_a_mean_without_errors_has_p_0_or_1() -> None:
    assert [Estimate(mean, 30, 0.0, 29).p for mean in (0.0, 0.1)] == [1, 0]


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
        # The weights are shares, so the sample deviation keeps its factor n / (n - 1).
        sd = np.sqrt(((scores - mean[:, None]) ** 2) @ weights * 9 / 8)
        heavier = get_scheme(scheme).apply(x, mean=mean[:, None], sd=sd[:, None])
        moved = heavier - standardize_matrix(x, scores, scheme)
        assert found[system] == pytest.approx(moved.mean(axis=0) / step / 9, rel=1e-3, abs=1e-6)


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
def test_errors_are_near_the_bootstraps(teams: list[str], scheme: str, within: float) -> None:
    by = trec8()
    x = by[:, ::12]
    values = influence(x, by, scheme)
    by_system, _ = covariance_by_design(values, 1.0)
    by_team, _ = covariance_by_team(values, teams)
    for covariance, groups in ((by_system, None), (by_team, teams)):
        expected = np.diag(bootstrap_covariance(x, by, groups, scheme))
        ratio = np.sqrt(np.diag(covariance) / expected)
        assert np.median(ratio) == pytest.approx(1, abs=within)


def test_systems_without_a_score_and_topics_without_spread_add_nothing() -> None:
    scores, x = some(2, 6, 1), some(2, 1, 2)
    scores[1, 5] = np.nan
    found = influence(x, scores)
    apart = influence(x[:1], scores[:1]), influence(x[1:], scores[1:, :5])
    assert found[:5] == pytest.approx((apart[0][:5] + apart[1]) / 2)
    assert found[5] == pytest.approx(apart[0][5] / 2)
    scores[1] = 0.3
    assert influence(x, scores) == pytest.approx(apart[0] / 2)


def test_two_teams_have_an_error() -> None:
    """Check the error for INQ601-604 and apl8*, where a bootstrap of teams fails."""
    tags = list(ir_std.load_factors("trec8-adhoc").systems)
    names = ["INQ601", "INQ602", "INQ603", "INQ604", "apl8n", "apl8p", "apl8ctd", "apl8c621"]
    columns = [tags.index(name) for name in names]
    x = trec8()[:, [tags.index("ok8alx")]]
    covariance, df = covariance_by_team(influence(x, trec8()[:, columns]), [n[:3] for n in names])
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
