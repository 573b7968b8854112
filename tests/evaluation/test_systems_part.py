"""Tests of how means vary with the reference systems of a factor set."""

import math

import numpy as np
import pytest
from ir_measures import AP, NumRet

import ir_std
from ir_std.analysis.influence import (
    DESIGN_EFFECT,
    covariance_by_design,
    covariance_by_team,
    design_effect,
    inflation,
    influence,
    normal_covariance,
)
from ir_std.evaluation.uncertainty import (
    BY_DESIGN,
    BY_GUESSED_TEAM,
    BY_TEAM,
    BY_THEORY,
    Influences,
    SystemsCovariance,
    guess_teams,
    joint_errors,
)
from ir_std.factors.estimates import ranked_systems, scores_by_system
from ir_std.factors.factor_set import FactorSet
from ir_std.reporting.model import over_systems
from ir_std.scores.run_scores import RunScores
from ir_std.testing import simulated_qrels, simulated_run


def results(name: str, schemes: str = "N") -> ir_std.Results:
    judged = ir_std.load_factors(name).judgments
    qrels = simulated_qrels({topic: known.levels for topic, known in judged.items()})
    runs = {n: simulated_run(qrels, i, 100) for i, n in enumerate("ab")}
    return ir_std.evaluate(runs, qrels, AP, schemes)


def test_each_system_gets_its_own_column_again() -> None:
    factors = ir_std.load_factors("trec8-adhoc")
    assert np.sort(scores_by_system(factors, "AP")[1].mean(axis=0)) == pytest.approx(
        ranked_systems(factors, "AP")[0]
    )


@pytest.mark.parametrize("scheme", ["N", "U", "z", "E"])
def test_a_design_effect_replaces_teams_if_only_scores_are_known(scheme: str) -> None:
    evaluated = results("trec7-adhoc", scheme)  # its systems are numbered, not named
    measure = evaluated.measures[1]
    raw = np.stack([evaluated.values[run][AP] for run in evaluated.runs], axis=1)
    scores = scores_by_system(ir_std.load_factors("trec7-adhoc"), "AP")[1]
    expected, df = covariance_by_design(
        influence(raw, scores, scheme, resolution=0.0001), design_effect(scores)
    )
    part, _ = over_systems(evaluated, measure, {})
    assert part.covariance == pytest.approx(expected)
    assert part.df == df == pytest.approx(103 / DESIGN_EFFECT - 1)
    assert part.source == BY_DESIGN


@pytest.mark.filterwarnings("ignore:factor set trec8-adhoc has fields")
def test_where_tags_are_known_the_systems_of_a_team_are_drawn_together() -> None:
    known = ir_std.load_factors("trec8-adhoc")
    tags = [f"{'abcdefghijklm'[i // 10]}bc{i}" for i in range(129)]
    factors = FactorSet(
        {**known.info, "measures": {"AP": {}}},
        known.n_rel,
        scores={"AP": known.scores["AP"]},
        systems=tags,
    )
    qrels = simulated_qrels(known.n_rel)
    evaluated = ir_std.evaluate({"a": simulated_run(qrels, 1, 50)}, qrels, AP, factors=factors)
    part, _ = over_systems(evaluated, ir_std.sAP, {})
    numbers, scores = scores_by_system(factors, "AP")
    expected, df = covariance_by_team(
        influence(evaluated.values["a"][AP][:, None], scores), [i // 10 for i in numbers]
    )
    assert part.covariance == pytest.approx(expected)
    assert part.df == df == pytest.approx(129**2 / (12 * 10**2 + 9**2) - 1)
    assert part.source == BY_GUESSED_TEAM


@pytest.mark.parametrize(
    ("names", "teams"),
    [
        ("bm25 dpr splade colbert tas-b ance", ""),
        ("document_0 document_1 document_2 document_3 document_4 document_5", ""),
        ("sys0 sys1 sys2 sys3 sys4 sys5", ""),
        ("bm25 bm25rm3 dpr", "bm2 bm2 dpr"),
    ],
    ids=["all begin differently", "all begin alike", "anonymous", "some begin alike"],
)
def test_only_names_of_which_some_begin_alike_tell_teams(names: str, teams: str) -> None:
    assert guess_teams(names.split()) == dict(zip(names.split(), teams.split(), strict=False))


def test_where_only_means_and_deviations_are_known_theory_says() -> None:
    evaluated = results("trec9-web")
    factors = ir_std.load_factors("trec9-web")
    raw = np.stack([evaluated.values[run][AP] for run in evaluated.runs], axis=1)
    rows = factors.rows(evaluated.topics)
    expected = normal_covariance(raw, factors.mean["AP"][rows], factors.sd["AP"][rows], 105)
    part, _ = over_systems(evaluated, ir_std.sAP, {})
    factor, df = inflation(105, DESIGN_EFFECT)
    assert part.covariance == pytest.approx(expected * factor)
    assert (part.df, part.source) == (df, BY_THEORY)


@pytest.mark.filterwarnings("ignore::ir_std.StandardizationWarning")
def test_alternative_systems_of_a_track_have_no_teams() -> None:
    factors = ir_std.load_factors("dl19-passage-modern")
    qrels = simulated_qrels({topic: known.levels for topic, known in factors.judgments.items()})
    run = simulated_run(qrels, 1, 100)
    evaluated = ir_std.evaluate(run, qrels, "nDCG@10", factors=factors.id)
    (measure,) = evaluated.collection.plans
    part, _ = over_systems(evaluated, measure, {})
    assert part.source == BY_DESIGN


@pytest.mark.parametrize(
    ("teams", "expected"),
    [
        ({}, [0, 1, 2, 3, 4, 5]),
        ({"anaA": "x", "bobB": "x", "anaC": "y"}, [0, 0, 1, 2, 3, 4]),
        (None, [0, 1, 0, 1, 0, 1]),
    ],
    ids=["each its own", "as given", "as names begin"],
)
def test_a_set_says_whose_its_systems_are(
    teams: dict[str, str] | None, expected: list[int]
) -> None:
    names = ["anaA", "bobB", "anaC", "bobD", "anaE", "bobF"]
    scores = np.random.default_rng(0).uniform(size=(12, 6))
    by_topic = (dict(zip("abcdefghijkl", x, strict=True)) for x in scores.T)
    table = dict(zip(names, by_topic, strict=True))
    factors = ir_std.build_from_scores({"AP": table}, id="mine", teams=teams)
    run = RunScores("run", {AP: table["anaA"]}, {})
    evaluated = ir_std.evaluate(run, measures=[AP], factors=factors)
    part, _ = over_systems(evaluated, ir_std.sAP, {})
    covariance, df = covariance_by_team(influence(scores[:, :1], scores), expected)
    assert part.covariance == pytest.approx(covariance)
    assert part.df == pytest.approx(df)
    assert part.source == (BY_GUESSED_TEAM if teams is None else BY_TEAM)


def test_the_error_with_few_teams_is_not_below_that_by_system() -> None:
    values = np.array([[1.0], [-1.0], [0.5], [-0.5]])  # both teams' sums are 0
    influences = Influences(values, tuple("abcd"), tuple("xxyy"), 1.0)
    error, df = influences.error([1.0])
    assert error == pytest.approx(np.sqrt(covariance_by_design(values, 1.0)[0][0, 0]))
    assert df == 1


def influences_of(values: np.ndarray, names: str, teams: str = "") -> Influences:
    return Influences(values, tuple(names), tuple(teams), 1.5)


def joint(*several: Influences) -> list[tuple[float, float]]:
    parts = [SystemsCovariance(*one.covariance(), "", one) for one in several]
    contrast = [1.0] + [0.0] * (several[0].values.shape[1] - 1)
    return joint_errors([(part, contrast) for part in parts])


def test_sets_of_the_same_systems_are_drawn_together() -> None:
    a, b, c = np.random.default_rng(1).normal(size=(3, 6, 1))
    other = influences_of(c, "uvwxyz")
    apart, together = joint(influences_of(a, "abcdef"), other, influences_of(b[::-1], "fedcba"))
    assert together == pytest.approx(influences_of(a + b, "abcdef").error([1.0]))
    assert apart == pytest.approx(other.error([1.0]))


def test_sets_of_several_runs_are_drawn_together_by_their_systems() -> None:
    """Group sets by their systems, not by comparing their arrays."""
    a, b, c = np.random.default_rng(1).normal(size=(3, 6, 2))
    several = [(a, "abcdef"), (c, "uvwxyz"), (b, "abcdef")]
    of_both, of_the_first = (
        joint(*(influences_of(values[:, :runs], names) for values, names in several))
        for runs in (2, 1)
    )
    assert np.allclose(of_both, of_the_first)


def test_sets_that_share_few_names_or_none_are_independent() -> None:
    a, b = np.random.default_rng(1).normal(size=(2, 6, 1))
    parts = influences_of(a, "abcdef"), influences_of(b, "efghij")
    assert joint(*parts) == [part.error([1.0]) for part in parts]
    unknown = SystemsCovariance(np.array([[0.04]]), 9, "")
    assert joint_errors([(unknown, [1.0])] * 2) == [pytest.approx((0.2, 9))] * 2


def test_a_team_of_several_collections_is_one() -> None:
    a, b = np.random.default_rng(1).normal(size=(2, 6, 1))
    ((error, df),) = joint(*(influences_of(one, "abcdef", "xxyyzz") for one in (a, b)))
    expected, expected_df = covariance_by_team(a + b, "xxyyzz")
    by_system = covariance_by_design(a + b, 1.0)[0]
    assert error == pytest.approx(np.sqrt(max(expected[0, 0], by_system[0, 0])))
    assert df == expected_df


def test_where_the_number_of_systems_is_unknown_its_share_is_unknown() -> None:
    known = ir_std.load_factors("trec9-web")
    about = {**known.info, "measures": {"AP": {"systems": 0}}}
    moments = {"AP": known.mean["AP"]}, {"AP": known.sd["AP"]}
    factors, qrels = FactorSet(about, known.n_rel, *moments), simulated_qrels(known.n_rel)
    evaluated = ir_std.evaluate({"a": simulated_run(qrels, 1, 50)}, qrels, AP, factors=factors)
    estimate = evaluated.estimate("a", ir_std.sAP)
    assert np.isnan(estimate.systems)
    assert estimate.half == estimate.topics


def test_uncertainty_has_the_means_of_the_results() -> None:
    evaluated = results("trec8-adhoc", "N,E")
    for run in evaluated.runs:
        for measure in evaluated.measures:
            assert evaluated.estimate(run, measure).mean == pytest.approx(
                evaluated.means[run][measure]
            )
    assert evaluated.estimate("a", AP).systems == 0
    assert "(topics) ±" in str(evaluated.estimate("a", ir_std.sAP))


def test_counts_that_are_summed_have_no_error() -> None:
    qrels = simulated_qrels(ir_std.load_factors("trec8-adhoc").n_rel)
    evaluated = ir_std.evaluate({"a": simulated_run(qrels, 1, 20)}, qrels, "NumRet")
    estimate = evaluated.estimate("a", NumRet)
    assert estimate.mean == evaluated.means["a"][NumRet] > 500
    assert np.isnan(estimate.topics)


def test_a_difference_is_surer_than_the_means_as_both_share_the_factors() -> None:
    evaluated = results("trec8-adhoc")
    difference = evaluated.difference("a", "b", ir_std.sAP)
    assert difference.mean == pytest.approx(
        evaluated.means["a"][ir_std.sAP] - evaluated.means["b"][ir_std.sAP]
    )
    apart = math.hypot(*(evaluated.estimate(run, ir_std.sAP).systems for run in "ab"))
    assert 0 < difference.estimate.systems < apart / 2
    assert evaluated.difference("a", "a", ir_std.sAP).estimate.half < 1e-9
