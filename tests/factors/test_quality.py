"""Tests of the quality of a set's factors, against values worked out by hand and by scipy."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats
from sets import each_set

from ir_std import available_factors, load_factors
from ir_std.factors.derived import leave_out_systems
from ir_std.factors.estimates import factors_from_scores, scores_by_system
from ir_std.factors.factor_set import FactorSet
from ir_std.factors.formats import read_webber
from ir_std.factors.judgments import Judgments
from ir_std.factors.quality import (
    QUALITY_LABELS,
    Quality,
    duplicate_systems,
    find_weak_systems,
    findings,
    has_coarse_deviation,
)


def made(scores: dict[str, Any], **info: Any) -> Any:
    n = len(next(iter(scores.values())))
    tags = {m: [f"s{i:02}" for i in range(np.shape(x)[1])] for m, x in scores.items()}
    return factors_from_scores(
        scores, dict.fromkeys(map(str, range(1, n + 1)), 300), {"id": "x", **info}, tags
    )


RANDOM = np.random.default_rng(8)
FORTY = RANDOM.beta(2, 5, (10, 40))


@pytest.mark.parametrize(
    ("scores", "info", "word"),
    [
        (FORTY, {"year": 2019}, "ok"),
        (FORTY, {}, "ok"),
        (FORTY, {"year": 2018}, "pre-2019"),
        (FORTY[:, :39], {"year": 2018}, "few-systems"),
        (1 - 0.01 * FORTY**5, {"year": 1999}, "coarse"),  # near 1, so that nobody can be better
        (FORTY * np.where(np.arange(40) < 3, 0.01, 1), {}, "weak-systems"),
        (FORTY * np.where(np.arange(40) < 2, 0.01, 1), {}, "ok"),  # 2 of 40 are not too many.
    ],
)
def test_each_quality_label_has_its_cause(scores: Any, info: Any, word: str) -> None:
    assert Quality(made({"AP": scores}, **info), "AP").label == word
    assert word in QUALITY_LABELS


def test_more_than_a_tenth_of_topics_without_spread_make_a_measure_coarse() -> None:
    flat = FORTY.copy()
    flat[0] = 0.3
    assert Quality(made({"AP": flat}), "AP").label == "ok"
    flat[1] = 0.4
    found = Quality(made({"AP": flat}), "AP")
    assert (found.label, found.constant_topics) == ("coarse", ("1", "2"))


def test_a_spread_of_few_steps_is_coarse_unless_the_steps_are_the_measures_own() -> None:
    sd = np.array([0.0, 0.0004, 0.0006, 0.2])
    assert has_coarse_deviation(sd, "AP", 0.0001).tolist() == [False, True, False, False]
    assert not has_coarse_deviation(sd, "AP", 0).any()
    assert not has_coarse_deviation(np.array([0.2]), "P@10", 0.1).any()
    assert not has_coarse_deviation(np.array([0.02]), "P@20", 0.01).any()
    assert has_coarse_deviation(np.array([0.02]), "P@30", 0.01).all()


def test_topics_with_more_relevant_documents_than_the_depth_are_named() -> None:
    x = made({"AP": FORTY, "P@10": FORTY, "R@100": FORTY}, depth=100)
    assert len(Quality(x, "AP").truncated_topics) == 10
    assert Quality(x, "P@10").truncated_topics == Quality(x, "R@100").truncated_topics == ()
    assert Quality(made({"AP": FORTY}, depth=300), "AP").truncated_topics == ()


def test_the_ceiling_is_the_best_attainable_z() -> None:
    found = Quality(made({"AP": FORTY}), "AP")
    assert found.ceiling == pytest.approx(
        np.median((1 - FORTY.mean(axis=1)) / FORTY.std(axis=1, ddof=1))
    )
    assert np.isnan(Quality(made({"SP": FORTY * 20}), "SP").ceiling)


@pytest.mark.parametrize(
    ("spread", "limit"), [(0.01, 2 / 3), (0.2, None), (2.0, 1 / 4)], ids=["alike", "some", "wide"]
)
def test_low_systems_are_far_below_the_median_on_a_logarithmic_scale(
    spread: float, limit: float | None
) -> None:
    x = 0.1 * np.exp(spread * np.linspace(-1, 1, 41)) * np.linspace(0.5, 1, 10)[:, None]
    x[:, :9] = 0.0003  # so many that they determine the quartiles
    x[:, 9] = 0
    found = find_weak_systems(made({"AP": x}), "AP")
    means = x.mean(axis=0)
    with np.errstate(divide="ignore"):
        deviation = stats.median_abs_deviation(np.log(means), scale="normal")
    expected = limit or np.exp(-3.5 * deviation)
    assert found
    assert found.limit == pytest.approx(expected, rel=1e-4)
    assert found.numbers == tuple(np.flatnonzero(means < expected * np.median(means)))
    assert set(range(10)) <= set(found.numbers)
    others = np.delete(x, found.numbers, axis=1)
    share = others.std(axis=1, ddof=1) / x.std(axis=1, ddof=1)
    assert found.sd == pytest.approx(np.median(share))
    run = x[:, np.argsort(means)[20]]
    for scores, mean in ((x, found.median), (others, found.median_without)):
        z = (run - scores.mean(axis=1)) / scores.std(axis=1, ddof=1)
        assert mean == pytest.approx(stats.norm.cdf(z).mean())


def test_where_most_systems_score_0_and_where_none_is_far_none_is_low() -> None:
    assert find_weak_systems(made({"AP": FORTY * (np.arange(40) < 15)}), "AP") is None
    assert find_weak_systems(made({"AP": FORTY}), "AP") is None


@pytest.mark.parametrize(
    ("name", "measure", "low", "systems", "median", "without"),
    [
        ("blog06", "AP", 5, 57, 0.587, 0.551),
        ("covid-round1", "nDCG@10", 20, 143, 0.523, 0.470),
        ("trec6-adhoc", "AP", 8, 74, 0.448, 0.405),
    ],
)
def test_low_systems_raise_the_others(
    name: str, measure: str, low: int, systems: int, median: float, without: float
) -> None:
    """Check the figures of an audit that did not use this code."""
    factors = load_factors(name)
    found = find_weak_systems(factors, measure)
    assert found
    assert (len(found.numbers), factors.n_systems[measure]) == (low, systems)
    assert (found.median, found.median_without) == pytest.approx((median, without), abs=5e-4)
    assert f"{low} of {systems} systems (" in " ".join(findings(factors, [measure]))


def test_sets_without_their_low_systems_are_made_measure_by_measure() -> None:
    factors = load_factors("covid-round1")
    others = leave_out_systems(factors, ["weak"])
    assert others.title.endswith(", without weak systems")
    for measure in ("nDCG@10", "AP"):
        found = find_weak_systems(factors, measure)
        assert found
        numbers, scores = scores_by_system(factors, measure)
        kept = scores[:, ~np.isin(numbers, found.numbers)]
        assert others.n_systems[measure] == kept.shape[1]
        assert others.mean[measure] == pytest.approx(kept.mean(axis=1))
        assert others.sd[measure] == pytest.approx(kept.std(axis=1, ddof=1))
    both = leave_out_systems(factors, ["weak", "sab20.1.blind"])
    assert both.n_systems["AP"] == others.n_systems["AP"] - 1


def test_a_part_of_the_topics_is_judged_by_itself() -> None:
    flat = FORTY.copy()
    flat[:3] = 0.3
    factors = made({"AP": flat})
    assert Quality(factors, "AP").label == "coarse"
    part = Quality(factors, "AP", ["3", "4", "5", "6", "7", "8", "9", "10", "11"])
    assert (part.label, part.constant_topics) == ("coarse", ("3",))
    assert Quality(factors, "AP", map(str, range(4, 11))).label == "ok"


def test_topics_with_fewer_systems_than_others_are_named() -> None:
    def found(n_topics: int) -> tuple[Quality, str]:
        some = np.hstack([FORTY, FORTY[:, :5] ** 1.1])
        some[:n_topics, :8] = np.nan
        factors = made({"AP": some})
        return Quality(factors, "AP"), " ".join(findings(factors))

    one, note = found(1)
    assert (one.label, one.sparse_topics) == ("ok", ("1",))
    assert (
        "with fewer than 40 systems, standard deviations are imprecise on 1 of 10 topics (1)"
        in note
    )
    half, _ = found(5)
    assert (half.label, half.sparse_topics) == ("ok", ("1", "2", "3", "4", "5"))
    assert found(6)[0].label == "few-systems"
    thin = made({"AP": FORTY[:, :20]})
    assert Quality(thin, "AP").sparse_topics == ()
    assert [text for text in findings(thin) if "imprecise" in text] == [
        "All measures: with only 20 systems, standard deviations are imprecise."
    ]


def test_quality_ignores_what_a_set_does_not_know() -> None:
    assert Quality(made({"AP": FORTY}), "AP", ["elsewhere", "3"]).n_topics == 1
    gap = FORTY.copy()
    gap[9] = np.nan
    deep = Quality(made({"AP": gap}, depth=100), "AP").truncated_topics
    assert deep == tuple(map(str, range(1, 10)))
    about = {"id": "x", "measures": {"AP": {"systems": 0}}}  # an unknown number
    mean, sd = {"AP": FORTY.mean(axis=1)}, {"AP": FORTY.std(axis=1)}
    unknown = FactorSet(about, dict.fromkeys("0123456789", 9), mean, sd)
    assert Quality(unknown, "AP").label == "ok"


def test_depth_is_compared_with_the_documents_relevant_at_the_measures_level() -> None:
    judged = {str(t): Judgments(300, {0: 9, 1: 250, 2: 50}) for t in range(10)}
    columns = {"AP": FORTY, "AP(rel=2)": FORTY}
    tags = {measure: [f"s{i}" for i in range(40)] for measure in columns}
    deep = factors_from_scores(columns, judged, {"id": "x", "depth": 100}, tags)
    assert [len(Quality(deep, measure).truncated_topics) for measure in columns] == [10, 0]


def test_models_are_judged_by_other_rules_than_systems() -> None:
    low = FORTY * np.where(np.arange(40) < 10, 0.001, 1)  # fine, because the models differ
    assert len(Quality(made({"AP": low}), "AP").weak_systems) == 10
    assert Quality(made({"AP": low}, unit="collection"), "AP").weak_systems == ()
    some = FORTY.copy()
    some[:6] = np.nan  # datasets without results do not reduce the number of models
    some[6, :10] = np.nan
    assert Quality(made({"AP": some}, unit="collection"), "AP").systems == 40


def test_weak_systems_are_reported_for_default_measures_only() -> None:
    factors = load_factors("trec8-adhoc")
    assert find_weak_systems(factors, "RR")
    for measure, told in (("AP", True), ("RR", False)):
        assert ("times the median" in " ".join(findings(factors, [measure]))) is told


def test_whole_datasets_are_counted_as_such_with_a_limit_of_their_own() -> None:
    factors = load_factors("mteb-retrieval")
    numbers = np.isfinite(factors.scores["nDCG@10"]).sum(axis=1)
    few, known = int((numbers[numbers > 0] < 30).sum()), int((numbers > 0).sum())
    told = " ".join(findings(factors, ["nDCG@10"]))
    text = "with fewer than 30 systems, standard deviations are imprecise"
    assert f"{text} on {few} of {known:,} data" in told
    assert "topics" not in told


def test_systems_are_the_same_only_if_they_are_in_every_measure() -> None:
    x, y = FORTY.copy(), RANDOM.beta(2, 5, (10, 40))
    x[:, 3] = x[:, 30]
    assert duplicate_systems(made({"AP": x, "P@10": y})) == []
    y[:, 3] = y[:, 30]
    assert duplicate_systems(made({"AP": x, "P@10": y})) == [(3, 30)]


@pytest.mark.parametrize(
    ("name", "groups"),
    [
        ("trec8-adhoc", ["Mer8Adtd1 Mer8Adtd2", "isa25t isa50t"]),
        ("web14", ["sys25 sys26", "sys28 sys29"]),
        (
            "covid-round1",
            [
                "CincyMedIR-run2 CincyMedIR-run3",
                "uogTrDPH_QE uogTrDPH_QE_QQ",
                "wistud_bing wistud_indri wistud_noSearch",
            ],
        ),
        ("dl19-passage", []),
    ],
)
def test_known_duplicates_are_found(name: str, groups: list[str]) -> None:
    factors = load_factors(name)
    found = [" ".join(factors.systems[n] for n in g) for g in duplicate_systems(factors)]
    assert found == groups


@pytest.mark.parametrize(
    ("name", "measure", "expected"),
    [
        ("dl19-passage", "nDCG@10", "UNH_exDL_bm25"),
        ("dl20-passage", "nDCG@100", "DoRA_Large DoRA_Med DoRA_Small"),
        ("robust03", "AP", ""),
    ],
)
def test_known_broken_runs_are_weak(name: str, measure: str, expected: str) -> None:
    factors = load_factors(name)
    found = find_weak_systems(factors, measure)
    assert found is not None
    if expected:
        assert " ".join(factors.systems[n] for n in found.numbers) == expected
    _, scores = scores_by_system(factors, measure)
    worst = np.argsort(scores.mean(axis=0))[: len(expected.split()) or 7]
    assert set(worst) <= set(found.numbers)


OF_TOPICS = [
    name for name in available_factors() if load_factors(name).info.get("unit", "topic") == "topic"
]


@pytest.mark.parametrize("name", each_set(OF_TOPICS))
def test_rr_is_not_a_default_as_a_quarter_of_the_systems_tie_at_the_top(name: str) -> None:
    factors = load_factors(name)
    assert not any(measure.startswith("RR") for measure in factors.default_measures)
    for measure in factors.scores:
        if measure.startswith("RR"):
            scores = factors.scores[measure]
            assert (scores >= scores[:, -1:] - 1e-9).mean() > 0.25


@pytest.mark.parametrize(
    "name", [n for n in available_factors() if n.startswith("dl2") and n[2:4] in ("21", "22", "23")]
)
def test_ap_is_not_a_default_if_more_is_relevant_than_the_systems_returned(name: str) -> None:
    factors = load_factors(name)
    assert Quality(factors, "AP").truncated_topics
    assert not any(m.startswith("AP") for m in factors.default_measures)


@pytest.mark.parametrize("name", each_set())
def test_no_cutoff_is_beyond_the_depth_and_no_cell_without_spread_is_shipped(name: str) -> None:
    factors = load_factors(name)
    for measure in factors.measures:
        depth, cutoff = factors.about(measure, "depth"), measure.rpartition("@")[2]
        assert not measure.startswith("Success")
        assert not (depth and "@" in measure and int(cutoff) > depth)
        assert Quality(factors, measure).low_resolution_topics == ()


# -- the figures in the notes, from the data behind them --------------------------------------


@pytest.mark.parametrize(
    ("name", "pairs", "change"), [("web10", 10, 0.18), ("web11", 4, 0.06), ("web12", 2, 0.26)]
)
def test_the_web_tracks_notes_count_their_identical_runs(
    name: str, pairs: int, change: float
) -> None:
    factors = load_factors(name)
    groups = duplicate_systems(factors)
    assert [len(g) for g in groups] == [2] * pairs
    _, scores = scores_by_system(factors, "AP")
    one_each = np.delete(scores, [g[1] for g in groups], axis=1)
    changes = np.abs(one_each.std(axis=1, ddof=1) / scores.std(axis=1, ddof=1) - 1)
    assert round(changes.max(), 2) == change
    note = next(findings(factors))
    assert f"{pairs} pairs" in note
    assert f"{change:.0%}" in note


def test_published_rbp_is_off_by_what_its_note_says(data: Path) -> None:
    published, rbp = read_webber(data / "published" / "trec8.adhoc"), "RBP(p=0.8,rel=1)"
    _, x = scores_by_system(load_factors("trec8-adhoc"), rbp)
    rebuilt = stats.zscore(x, axis=1, ddof=1)
    theirs = (x - published.mean[rbp][:, None]) / published.sd[rbp][:, None]
    of_runs = np.abs(theirs.mean(axis=0) - rebuilt.mean(axis=0)).max()
    of_topics = np.abs(theirs - rebuilt).max()
    note = next(s for s in findings(load_factors("trec4-adhoc")) if "RBP" in s)
    assert f"by up to {of_runs:.2f}" in note
    assert f"by up to {of_topics:.2f}" in note


@pytest.mark.parametrize("year", ["19", "20"])
def test_the_modern_sets_notes_have_their_figures(year: str) -> None:
    own, modern = (load_factors(f"dl{year}-passage{end}") for end in ("", "-modern"))
    note = next(findings(modern))
    for factors in (own, modern):
        assert f"{factors.mean['nDCG@10'].mean():.3f}" in note
        assert f"{np.median(factors.sd['nDCG@10']):.2f}" in note
    assert modern.info["main_set"] == own.id
    assert (own.n_rel, own.judgments) == (modern.n_rel, modern.judgments)


def test_the_two_topics_of_near_duplicates_have_no_factors_in_dl22() -> None:
    factors = load_factors("dl22-passage")
    rows = factors.rows(["2013306", "2031726"])
    without = [m for m in factors.measures if np.isnan(factors.mean[m][rows]).all()]
    assert sorted(without) == ["AP", "Bpref", "Rprec"]
    assert all((factors.n_rel[t] or 0) > 42000 for t in ("2013306", "2031726"))
