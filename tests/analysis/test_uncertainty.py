"""Tests of how standardized means vary with the systems, against loops, scipy and simulation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from systems_bootstrap import bootstrap_covariance, draw_systems, resampled_means

import ir_std
from ir_std.analysis import standardize_matrix
from ir_std.analysis.influence import contrast_error, normal_covariance


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


@pytest.mark.parametrize("scheme", ["N", "U", "E", "z"])
def test_each_sample_is_standardized_as_if_its_systems_were_all_there_are(scheme: str) -> None:
    by, x = scores(), scores(systems=3, seed=2)
    drawn = draw_systems("aabbcdefg", 50, 3)
    expected = [
        standardize_matrix(x, np.repeat(by, counts.astype(int), axis=1), scheme).mean(axis=0)
        for counts in drawn
    ]
    assert resampled_means(x, by, drawn, scheme) == pytest.approx(np.array(expected), abs=1e-9)


@pytest.mark.parametrize("scheme", ["N", "E"])
def test_a_system_without_a_score_on_a_topic_is_left_out_there(scheme: str) -> None:
    by, x = scores(), scores(systems=2, seed=2)
    by[3, 4] = np.nan
    drawn = draw_systems(range(9), 20, 3)
    found = resampled_means(x, by, drawn, scheme)
    for counts, means in zip(drawn, found, strict=True):
        sample = np.repeat(by, counts.astype(int), axis=1)
        values = [
            standardize_matrix(x[[t]], row[None, ~np.isnan(row)], scheme)[0]
            for t, row in enumerate(sample)
        ]
        assert means == pytest.approx(np.mean(values, axis=0), abs=1e-9)


def test_a_teams_systems_are_drawn_together_and_never_one_team_alone() -> None:
    drawn = draw_systems(["x", "y", "x", "z"], 500, 1)
    assert (drawn[:, 0] == drawn[:, 2]).all()
    assert set(drawn[:, [0, 1, 3]].sum(axis=1)) == {3}
    assert ((drawn > 0).sum(axis=1) > 1).all()
    assert drawn[:, 1].mean() == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize("scheme", ["N", "U"])
def test_errors_are_those_of_scipys_bootstrap(scheme: str) -> None:
    by = trec8()
    x = by[:, [10, 100]]

    def mean(*systems: np.ndarray, axis: int) -> np.ndarray:
        sample = np.stack(systems)  # topics x ... x systems
        m, sd = sample.mean(axis=axis), sample.std(axis=axis, ddof=1)
        z = (x[:, 0].reshape(-1, *[1] * (m.ndim - 1)) - m) / sd
        y: np.ndarray = stats.norm.cdf(z) if scheme == "N" else np.clip(0.15 * z + 0.5, 0, 1)
        return np.asarray(y.mean(axis=0))

    expected = stats.bootstrap(
        tuple(by),
        mean,
        n_resamples=1000,
        paired=True,
        axis=-1,
        method="basic",
        rng=np.random.default_rng(1),
    ).standard_error
    # Both are simulations: of 1000 and 2000 samples, whose errors are 2.2 and 1.6 percent.
    found = errors(bootstrap_covariance(x, by, scheme=scheme))
    assert found[0] == pytest.approx(expected * np.sqrt(129 / 128), rel=3 * 0.027)


@pytest.mark.parametrize("systems", [5, pytest.param(10, marks=pytest.mark.slow), 40])
def test_errors_tell_how_much_means_vary_from_one_choice_of_systems_to_another(
    systems: int,
) -> None:
    everyone, random = trec8(), np.random.default_rng(4)
    x, rest = everyone[:, ::11], np.delete(everyone, np.s_[::11], axis=1)
    means, told = [], []
    for _ in range(300):
        by = rest[:, random.choice(rest.shape[1], systems, replace=False)]
        means.append(standardize_matrix(x, by).mean(axis=0))
        told.append(np.diag(bootstrap_covariance(x, by, samples=100)))
    left = 1 - systems / rest.shape[1]  # of a finite number of systems some are drawn
    seen = np.sqrt(np.var(means, axis=0, ddof=1).mean() / left)
    assert np.sqrt(np.mean(told)) == pytest.approx(seen, rel=0.12)


@pytest.mark.slow
def test_intervals_hold_their_level_between_halves_of_the_systems() -> None:
    everyone, random = trec8(), np.random.default_rng(5)
    hits, trials = 0, 1000
    for _ in range(trials):
        run, *rest = random.permutation(129).tolist()
        halves = [everyone[:, half] for half in (rest[:64], rest[64:])]
        means = [standardize_matrix(everyone[:, [run]], by).mean() for by in halves]
        variance = sum(
            bootstrap_covariance(everyone[:, [run]], by, samples=100)[0, 0] for by in halves
        )
        hits += abs(means[0] - means[1]) <= stats.t.ppf(0.975, 63) * np.sqrt(variance)
    assert 0.93 <= hits / trials <= 0.97


def test_a_difference_of_runs_that_share_factors_is_surer_than_either_mean() -> None:
    by = trec8()
    covariance = bootstrap_covariance(by[:, [60, 70]], by)
    of_difference = contrast_error(covariance, [1, -1])
    assert of_difference < 0.5 * errors(covariance).min()
    means = resampled_means(by[:, [60, 70]], by, draw_systems(range(129)))
    assert of_difference == pytest.approx(
        np.std(means[:, 0] - means[:, 1], ddof=1) * np.sqrt(129 / 128)
    )


def test_a_run_does_not_differ_from_itself() -> None:
    by = trec8()
    assert contrast_error(bootstrap_covariance(by[:, [3, 3]], by), [1, -1]) < 1e-9


@given(st.integers(2, 12), st.integers(1, 8), st.floats(0.01, 100), st.sampled_from("NUz"))
def test_errors_do_not_depend_on_the_unit_of_the_scores(
    systems: int, topics: int, unit: float, scheme: str
) -> None:
    by, x = scores(topics, systems, 7), scores(topics, 2, 8)
    plain = bootstrap_covariance(x, by, scheme=scheme, samples=20)
    assert bootstrap_covariance(x * unit, by * unit, scheme=scheme, samples=20) == pytest.approx(
        plain, rel=1e-6, abs=1e-12
    )
    theory = normal_covariance(x, by.mean(axis=1), by.std(axis=1, ddof=1), systems, scheme)
    assert (np.linalg.eigvalsh(theory) > -1e-12).all()


# Where only means and deviations are known


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


def test_topics_without_spread_add_nothing() -> None:
    x = np.array([[0.2], [0.7]])
    with_flat = normal_covariance(x, [0.3, 0.5], [0.1, 0.0], 20)
    assert with_flat == pytest.approx(normal_covariance(x[:1], [0.3], [0.1], 20) / 4)


def test_a_distribution_is_needed_for_the_share_of_systems() -> None:
    with pytest.raises(ValueError, match="'E' needs the systems' scores"):
        normal_covariance([[0.1]], [0.2], [0.1], 20, "E")


def test_fewer_than_two_systems_have_no_error() -> None:
    assert np.isnan(normal_covariance([[0.1]], [0.2], [0.1], 1)).all()


def test_only_the_runs_of_a_contrast_are_looked_at() -> None:
    covariance = np.full((3, 3), np.nan)
    covariance[:2, :2] = [[4.0, 1.0], [1.0, 9.0]]
    assert contrast_error(covariance, [1, 0, 0]) == 2.0
    assert contrast_error(covariance, [1, -1, 0]) == np.sqrt(4 + 9 - 2)
