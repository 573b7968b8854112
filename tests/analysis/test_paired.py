"""Paired tests, Holm's correction and intervals, against scipy and by hand."""

import tracemalloc
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from scipy import stats

from ir_std.analysis import paired
from ir_std.analysis.paired import (
    bonferroni,
    describe_test,
    holm,
    paired_tests,
    randomization_test,
    t_test,
)
from ir_std.errors import UsageError


def test_equal_runs_do_not_differ_and_one_pair_is_too_few_for_a_test() -> None:
    for test in (t_test, randomization_test):
        assert test([0.0, 0.0, 0.0]) == 1
        assert np.isnan(test([0.5]))
    assert t_test([0.25, 0.25, 0.25]) == 0


def test_the_randomization_test_is_exact_up_to_its_number_of_topics() -> None:
    most = paired.ALL_SIGNS_UP_TO
    # Only equal signs reach the sum; with drawn signs, p is a multiple of 1 / 10,001.
    assert randomization_test(np.ones(most)) == 2 / 2**most
    drawn = float(randomization_test(np.ones(most + 1))) * (paired.RESAMPLES + 1)
    assert drawn == pytest.approx(round(drawn))


def test_the_randomization_test_of_many_pairs_is_near_the_t_test_and_repeatable() -> None:
    d = np.random.default_rng(1).normal(0.03, 0.1, 50)
    p = randomization_test(d)
    # The standard error of a share of 10,000 draws is at most 0.005.
    assert abs(p - t_test(d)) < 0.02
    assert randomization_test(d) == p


def test_the_randomization_test_is_never_quite_certain() -> None:
    assert randomization_test(np.linspace(1, 2, 50)) == 1 / 10_001


def test_more_topics_than_a_batch_has_room_for_are_the_same_draws(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    d = np.random.default_rng(2).normal(0.02, 0.1, (150, 3))
    at_once = randomization_test(d)
    monkeypatch.setattr(paired, "BATCH", 1000)
    assert (randomization_test(d) == at_once).all()
    assert [float(randomization_test(column)) for column in d.T] == at_once.tolist()


@pytest.mark.slow
def test_the_randomization_test_of_ms_marcos_topics_takes_less_than_50_mb() -> None:
    d = np.random.default_rng(3).normal(0.001, 0.1, 6980)
    tracemalloc.start()
    randomization_test(d)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 50e6


def test_pairs_are_the_topics_where_both_have_a_score() -> None:
    nan = float("nan")
    runs = {
        "run": [0.5, 0.75, 0.5, nan, 0.0],
        "all": [0.5, 0.75, 0.5, 0.9, 0.0],
        "none": [nan, nan, nan, nan, 0.2],
    }
    results = paired_tests([0.1, 0.5, 0.25, 1.0, nan], runs, "cabde")
    for name, topics in (("run", "cab"), ("all", "cabd")):
        n = len(topics)
        expected = stats.ttest_rel(runs[name][:n], [0.1, 0.5, 0.25, 1.0][:n]).pvalue
        assert results[name].topics == tuple(topics)
        assert results[name].p == pytest.approx(expected)
    assert results["run"].difference == pytest.approx((0.25 + 0.25 + 0.4) / 3)
    assert np.isnan(results["none"].difference)
    assert results["none"].topics == ()
    assert np.isnan(results["none"].p_adjusted)


def test_scores_that_differ_by_rounding_only_do_not_differ() -> None:
    baseline = np.random.default_rng(4).random(50)
    other = (baseline + 0.2) - 0.2
    result = paired_tests(baseline, {"run": other}, list(map(str, range(50))))["run"]
    assert (other != baseline).any()
    assert (result.difference, result.p) == (0, 1)


# Corrections


def test_corrections_do_not_count_what_was_not_tested() -> None:
    for correction in (holm, bonferroni):
        adjusted = correction([0.01, float("nan"), 0.7])
        assert adjusted[[0, 2]] == pytest.approx([0.02, 0.7 if correction is holm else 1.0])
        assert np.isnan(adjusted[1])


@pytest.mark.parametrize(
    ("correction", "adjusted"), [("holm", holm), ("bonferroni", bonferroni), ("none", list)]
)
def test_p_values_are_adjusted_by_the_correction_asked_for(
    correction: str, adjusted: Callable[[list[float]], Sequence[float]]
) -> None:
    baseline, *others = np.random.default_rng(5).random((4, 5))
    runs = {str(i): scores for i, scores in enumerate(others)}
    results = paired_tests(baseline, runs, "12345", correction=correction).values()
    assert [f.p_adjusted for f in results] == pytest.approx(list(adjusted([f.p for f in results])))


@pytest.mark.parametrize(
    ("test", "correction", "runs", "words"),
    [
        ("t", "holm", 1, "paired t-test over topics, p < 0.05"),
        ("t", "holm", 3, "paired t-test over topics, p < 0.05 after Holm's correction for 3 runs"),
        (
            "randomization",
            "bonferroni",
            2,
            "randomization test over topics, p < 0.05 after Bonferroni's correction for 2 runs",
        ),
        ("t", "none", 3, "paired t-test over topics, p < 0.05, not corrected for the 3 runs"),
    ],
)
def test_a_note_says_what_was_tested_and_how_it_was_corrected(
    test: str, correction: str, runs: int, words: str
) -> None:
    assert describe_test(test, correction, runs) == f"two-sided {words}"


def test_an_unknown_test_or_correction_names_the_known_ones() -> None:
    with pytest.raises(UsageError, match="choose from t, randomization"):
        paired_tests([], {}, [], "wilcoxon", "holm")
    with pytest.raises(UsageError, match="choose from holm, bonferroni, none"):
        paired_tests([], {}, [], "t", "fdr")
