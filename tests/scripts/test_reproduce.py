"""The papers' figures, as the scripts compute them from real scores."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import reproduce_sakai2016 as sakai
import reproduce_soboroff2018 as soboroff
import reproduce_urbano2019 as urbano
import reproduce_webber2008 as webber
from experiment import Compared, Scores, score_runs, table
from paper_statistics import SwapRates, swap_rate

from ir_std import parse_measure
from ir_std.analysis.means import standard_error
from ir_std.schemes import normal_cdf

GUIDE = (Path(__file__).parents[2] / "docs/evidence/papers.md").read_text(encoding="utf-8")

# The reproduction's own tools


@pytest.mark.parametrize(
    ("computed", "published", "places", "tolerance", "agrees"),
    [
        (0.6274957, 0.627, 3, 0, True),
        (0.6276, 0.627, 3, 0, False),
        (103, 103, 0, 0, True),
        (0.9300, 0.9301, 4, 0, False),
        (0.9300, 0.9301, 4, 0.0001, True),
        (0.9298, 0.9301, 4, 0.0001, False),
    ],
)
def test_figures_agree_at_every_printed_digit_or_within_the_tolerance(
    computed: float, published: float, places: int, tolerance: float, agrees: bool
) -> None:
    assert Compared("", computed, published, places, tolerance).agrees is agrees


# Webber, Moffat and Zobel 2008


@pytest.mark.parametrize(
    "compute",
    [
        pytest.param(webber.table1, marks=pytest.mark.slow),
        webber.table2,
        webber.table3,
        webber.table4,
        webber.table5,
        webber.table6,
        webber.section4,
    ],
)
def test_webbers_tables_agree_at_every_printed_digit(
    data: Path, compute: Callable[[Path], list[Compared]]
) -> None:
    assert [row for row in compute(data) if not row.agrees] == []


@pytest.fixture(scope="session")
def trec8(data: Path) -> dict[str, Scores]:
    """Compute AP and SP of TREC-8's 129 runs; SP is AP without the division."""
    return score_runs(data, "trec8-adhoc", ["AP", "SP"])


@pytest.mark.slow
def test_quartiles_of_trec8s_standardized_scores_agree(trec8: dict[str, Scores]) -> None:
    assert trec8["AP"].values.size == 6450
    assert [row for row in webber.quartiles(trec8["AP"]) if not row.agrees] == []


def test_five_standardizing_systems_beat_another_collection(data: Path) -> None:
    ((lowest, median, _),) = webber.stability_curve(data, [5], samples=500)
    assert 0.742 < lowest < median


def test_more_standardizing_systems_are_more_stable(data: Path) -> None:
    curve = webber.stability_curve(data, [3, 10, 40], samples=100)
    assert (np.diff(curve[:, :2], axis=0) > 0).all()


@pytest.mark.slow
def test_standardized_scores_drift_less_between_halves_of_trec8(
    data: Path, trec8: dict[str, Scores]
) -> None:
    found = {}
    for metric, scores in trec8.items():
        std = webber.standardize_trec8(data, metric, scores)
        found[metric] = webber.halves(scores.values, std, trials=100)
        raw_drift, std_drift = found[metric].drmse
        assert std_drift < raw_drift
    # On each topic, they differ by a factor, which standardization removes.
    assert found["AP"].drmse[1] == pytest.approx(found["SP"].drmse[1], abs=0.005)


# Urbano, Lima and Hanjalic 2019


@pytest.mark.slow
@pytest.mark.parametrize("key", list(urbano.PUBLISHED_TAU), ids=" ".join)
def test_urbanos_means_within_a_collection_agree_within_three_standard_errors(
    data: Path, key: tuple[str, str]
) -> None:
    found = urbano.run("within", urbano.load(data, *key), 250)
    assert [row for row in urbano.compared(key, found) if not row.agrees] == []


@pytest.fixture(scope="module")
def between(data: Path) -> urbano.Trials:
    return urbano.run("between", urbano.load(data, "robust04", "AP"), 60)


@pytest.mark.slow
@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.1])
def test_between_collections_a_system_differs_from_itself_as_often_as_alpha_allows(
    between: urbano.Trials, alpha: float
) -> None:
    assert between.type1 is not None
    level = urbano.ALPHAS.tolist().index(alpha)
    for errors in between.type1[:, :, level].T:
        assert abs(errors.mean() - alpha) < 3 * standard_error(errors) + alpha / 10


@pytest.mark.slow
def test_between_collections_standardizing_doubles_the_power(between: urbano.Trials) -> None:
    raw, *standardized = between.power.mean(axis=0)[:, 0]
    for power in standardized:
        assert 2 < power / raw < 2.6


@pytest.mark.slow
def test_urbanos_trials_do_not_depend_on_the_number_of_processes(data: Path) -> None:
    scores = urbano.load(data, "robust04", "AP")
    alone, together = (urbano.run("within", scores, 12, seed=7, jobs=jobs) for jobs in (1, 2))
    np.testing.assert_array_equal(alone.tau, together.tau)
    np.testing.assert_array_equal(alone.power, together.power)


@pytest.mark.slow
def test_urbanos_script_prints_its_tables(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    urbano.main(["--data", str(data), "--trials", "20", "--jobs", "1"])
    printed = capsys.readouterr().out
    assert "Within robust04, AP, 20 trials" in printed
    assert "computed  published  difference" in printed
    assert "Between collections: terabyte04-06, nDCG" in printed


# Sakai 2016


@pytest.fixture(scope="module")
def trec7(data: Path) -> sakai.Results:
    key = "trec7-adhoc", "AP"
    return sakai.experiment(100, 0, (key, table(data, *key)))


@pytest.mark.slow
def test_u_swaps_no_more_and_needs_fewer_topics_than_n_at_equal_differences(
    trec7: sakai.Results,
) -> None:
    held = [claim for claim in sakai.claims([trec7]) if claim.endswith(": 1 of 1")]
    assert "U swaps no more than N at equal score differences: 1 of 1" in held
    for design in sakai.DESIGNS:
        assert f"U needs fewer topics than N at equal score differences, {design}: 1 of 1" in held


def test_swap_rates_within_two_standard_errors_are_not_less(trec7: sakai.Results) -> None:
    more, error = sakai.beyond(trec7, "U", "N")
    u, n = (trec7.swaps[s].by_difference for s in "UN")
    assert more == pytest.approx(u.overall - n.overall)
    assert error < u.error / 2
    assert not sakai.less(trec7, "N", "N")


def test_where_every_bin_swaps_too_often_no_difference_is_trusted_and_nothing_resolved() -> None:
    pairs = np.full(len(sakai.FINE), 2000)
    never, last = (
        SwapRates(swaps / pairs, swaps, pairs, np.zeros(1))
        for swaps in (np.full_like(pairs, 800), np.where(sakai.FINE < 0.75, 800, 100))
    )
    difference, share = sakai.resolution(never)
    assert np.isnan(difference)
    assert share == 0
    assert sakai.resolution(last) == (0.75, 0.25)


def test_topics_difficulty_is_error_for_one_way_anova_only(trec7: sakai.Results) -> None:
    raw, n = trec7.sizes["raw"], trec7.sizes["N"]
    assert raw.residual < raw.variance / 2
    assert n.residual == pytest.approx(n.variance, rel=0.05)
    assert raw.same_effect["two-way ANOVA"] < raw.same_effect["one-way ANOVA"]


def test_standardizing_finds_more_pairs_different(trec7: sakai.Results) -> None:
    assert sakai.power(trec7, "t", "N") > sakai.power(trec7, "t", "raw")
    assert sakai.power(trec7, "tukey", "N") > sakai.power(trec7, "tukey", "raw")


def test_a_systems_own_share_in_the_factors_barely_matters(trec7: sakai.Results) -> None:
    for found in trec7.left_out:
        assert found.groups == 103
        assert found.tau > 0.99
        assert found.largest_change < 0.01


def test_teams_are_inferred_from_the_start_of_their_runs_tags() -> None:
    values = np.random.default_rng(0).random((6, 5))
    scores = Scores(tuple("123456"), ("INQ601", "INQ602", "Flab8as", "Flab8at", "inq604"), values)
    assert [found.groups for found in sakai.left_out(scores, named=True)] == [2, 2]


def test_sakais_table_of_topic_set_sizes_has_all_designs(
    trec7: sakai.Results, capsys: pytest.CaptureFixture[str]
) -> None:
    sakai.show([trec7])
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[-3:]]
    assert [row[2] for row in rows] == ["raw", "N", "U"]
    size = trec7.sizes["raw"]
    sizes = [n for d in sakai.DESIGNS for n in (*size.equal_difference[d], *size.same_effect[d])]
    assert rows[0][3:] == list(map(str, sizes))


@pytest.fixture(scope="module")
def of_all(data: Path) -> dict[tuple[str, str], Scores]:
    return sakai.load(data)


@pytest.mark.parametrize(
    ("key", "told"),
    [
        pytest.param(
            *(("robust04", "AP"), "swaps more than N on Robust 2004 ({more:+.4f})"),
            marks=pytest.mark.exhaustive,
        ),
        pytest.param(
            *(("dl20-passage", "nDCG@10"), "DL 2020 ({more:+.4f})"), marks=pytest.mark.slow
        ),
        pytest.param(
            ("trec8-adhoc", "AP"),
            "{raw:.4f} for raw scores, {N:.4f} for N and {U:.4f} for U. On Robust 2003",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            *(
                ("robust03", "AP"),
                "Robust 2003, the swap rates are {N:.4f} for N and {U:.4f} for U",
            ),
            marks=pytest.mark.slow,
        ),
    ],
)
def test_the_guide_has_the_swap_rates_that_sakais_script_computes(
    of_all: dict[tuple[str, str], Scores], key: tuple[str, str], told: str
) -> None:
    by_scheme = sakai.schemes(of_all[key].values)
    wanted = [scheme for scheme in sakai.SCHEMES if f"{{{scheme}:" in told or scheme != "raw"]
    found = {s: swap_rate(by_scheme[s], sakai.BINS, trials=5000, seed=0) for s in wanted}
    more = (found["U"].by_trial - found["N"].by_trial).mean()
    rates = {scheme: rates.overall for scheme, rates in found.items()}
    assert told.format(more=more, **rates) in " ".join(GUIDE.split())


@pytest.fixture(scope="module")
def results(of_all: dict[tuple[str, str], Scores]) -> list[sakai.Results]:
    """Compute the claims' figures with 500 trials, or with 5000 if few swaps decide."""
    found = []
    for key, scores in of_all.items():
        trials = 5000 if key == ("robust03", "AP") else 500
        by_scheme = sakai.schemes(scores.values)
        swaps = {}
        for scheme in "NU":
            rates, fine = (
                swap_rate(by_scheme[scheme], bins, trials=trials, seed=0)
                for bins in (sakai.BINS, sakai.FINE)
            )
            swaps[scheme] = sakai.Swaps(rates, *sakai.resolution(fine))
        sizes = {s: sakai.sizes(x, by_scheme["raw"]) for s, x in by_scheme.items()}
        found.append(sakai.Results(" ".join(key), scores, [], {}, swaps, sizes))
    return found


@pytest.mark.exhaustive
def test_the_guide_counts_the_claims_on_swaps_that_hold(results: list[sakai.Results]) -> None:
    claims = [claim.partition(" (")[0].rpartition(": ") for claim in sakai.claims(results)[:3]]
    rows = GUIDE.splitlines()
    for claim, _, count in claims:
        assert f"| {claim} | {count} |" in rows


@pytest.mark.exhaustive
def test_the_guide_has_the_topic_set_sizes_that_sakais_script_computes(
    results: list[sakai.Results],
) -> None:
    counts: dict[str, list[str]] = {}
    for claim in sakai.claims(results):
        if " needs fewer topics than " in claim:
            words, _, count = claim.partition(": ")
            a, b, how = words.replace(" needs fewer topics than", "").split(" ", 2)
            kind = how.rpartition(", ")[0]
            counts.setdefault(f"| with {a} than {b}, {kind}", []).append(count[:6])
    assert len(counts) == 6
    rows = {row.replace("than with N", "than N") for row in GUIDE.splitlines()}
    for row, of_designs in counts.items():
        assert f"{row} | {' | '.join(of_designs)} |" in rows


@pytest.mark.exhaustive
def test_the_guide_has_the_topics_that_a_difference_of_a_tenth_takes(
    results: list[sakai.Results],
) -> None:
    trec8 = next(one for one in results if one.title == "trec8-adhoc AP")
    one_way, two_way, paired = (
        [trec8.sizes[scheme].same_effect[design][1] for scheme in sakai.SCHEMES]
        for design in sakai.DESIGNS
    )
    assert (
        "one-way ANOVA needs {} topics with raw scores, {} with N and {} with U. Two-way ANOVA "
        "with topics as blocks needs {} topics with raw scores, {} with N and {} with U. If there "
        "are only two systems, the paired t-test needs {} topics with raw scores, {} with N and "
        "{} with U."
    ).format(*one_way, *two_way, *paired) in " ".join(GUIDE.split())


# Soboroff 2018


Loaded = dict[str, list[soboroff.Experiment]]


@pytest.fixture(scope="module")
def loaded(data: Path) -> Loaded:
    return {
        experiment: [soboroff.load(data, experiment, c) for c in soboroff.COLLECTIONS]
        for experiment in soboroff.EXPERIMENTS
    }


@pytest.mark.parametrize("experiment", soboroff.EXPERIMENTS)
@pytest.mark.parametrize(
    ("compute", "n_rows"),
    [(soboroff.raw, 30), (soboroff.slip, 27)],
    ids=["raw", "standardized by the formula as written"],
)
def test_means_and_p_values_agree_at_every_published_digit(
    loaded: Loaded, experiment: str, compute: Callable[..., list[Compared]], n_rows: int
) -> None:
    rows = compute(experiment, loaded[experiment])
    assert len(rows) == n_rows
    assert [row for row in rows if not row.agrees] == []


def test_the_published_blog_factors_need_the_runs_of_2006_twice(data: Path) -> None:
    e = soboroff.load(data, "stemming", "blogs06.2006")
    assert e.factors
    once = normal_cdf(e.x - e.factors.mean / e.factors.sd).mean(axis=0)
    assert not np.allclose(once, e.factors.as_published(e.x).mean(axis=0), atol=5e-5)


def test_the_right_formula_leads_to_other_conclusions_in_places(loaded: Loaded) -> None:
    assert soboroff.show_right("stemming", loaded["stemming"]) == ["blogs06.2006", "gov2.2006"]
    blog = loaded["stemming"][0]
    assert blog.factors
    standardized = blog.factors.standardized(blog.x)
    assert soboroff.figures(standardized)[2] < 0.05 < soboroff.figures(blog.x)[2]


def test_feedback_helps_over_collections_and_stemming_only_on_some(loaded: Loaded) -> None:
    for measure in ("AP", "sAP"):
        stemming, feedback = (
            soboroff.differences(e, loaded[e])[system][parse_measure(measure)].summary()
            for e, system in soboroff.EXPERIMENTS.items()
        )
        assert stemming
        assert feedback
        assert stemming.low < 0 < stemming.high
        assert stemming.i2 > 0.75
        assert feedback.low > 0


def test_the_guides_figures_of_variation_come_from_the_same_collections(loaded: Loaded) -> None:
    said = soboroff.agreement(soboroff.differences("feedback", loaded["feedback"])["prf"])
    assert "I2 65%; raw on the 9 with factors" in said
    assert "I2 60%; standardized +0.0283 [+0.0141, +0.0425] p 0.0018, I2 48%" in said


def test_stemming_is_worse_on_blog_2006_and_gains_raws_sign_on_terabyte_2006(
    loaded: Loaded,
) -> None:
    by_name = {e.collection: e for e in loaded["stemming"]}
    blog, terabyte = by_name["blogs06.2006"], by_name["gov2.2006"]
    assert blog.factors
    assert terabyte.factors
    with_, without, p = soboroff.figures(blog.factors.standardized(blog.x))
    assert (round(with_, 4), round(without, 4), round(p, 3)) == (0.4731, 0.5044, 0.018)
    published = soboroff.figures(terabyte.factors.as_published(terabyte.x))
    right = soboroff.figures(terabyte.factors.standardized(terabyte.x))
    raw = soboroff.figures(terabyte.x)
    assert published[0] < published[1]
    assert right[0] > right[1]
    assert raw[0] > raw[1]
