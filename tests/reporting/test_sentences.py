"""What the report says first: who is best and by how much, what that rests on, and what to mind."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from ir_measures import P
from scipy import stats

import ir_std
from ir_std.reporting.html.report import render
from ir_std.reporting.html.sentences import describe_results, trust
from ir_std.testing import simulated_qrels, simulated_run

N = 20
BASE = [0.0, 1.0] * 10
GOOD = [1.0] * 18 + [0.0, 1.0]
BEST = [1.0] * 20


def results_of(hits: dict[str, list[float]], **options: Any) -> ir_std.Results:
    """Results with success at rank 1 as given, topic by topic."""
    qrels = {str(i): {"good": 1, "bad": 0} for i in range(len(next(iter(hits.values()))))}
    runs = {
        name: {str(i): {"good": 2.0 * hit, "bad": 1.0} for i, hit in enumerate(of_run)}
        for name, of_run in hits.items()
    }
    return ir_std.evaluate(runs, qrels, [P @ 1], **options)


def p_of(one: list[float], other: list[float]) -> float:
    return float(stats.ttest_rel(one, other).pvalue)


# Leads and ties.


def test_with_a_baseline_both_leads_are_told_each_with_its_p() -> None:
    found = results_of({"base": BASE, "good": GOOD, "best": BEST}, baseline="base")
    said = describe_results(found, P @ 1)
    assert 2 * p_of(BEST, BASE) < 0.001  # Holm's, of the smaller of two
    assert said[0].startswith("best is the best of the 3 runs by P@1: 1.000")
    assert said[1] == (
        f"It leads the baseline base by 0.500 (paired t-test, p < 0.001) and good, the "
        f"next run, by 0.050 (p = {p_of(BEST, GOOD):.3f}); only the first is significant."
    )


def test_a_baseline_that_is_next_is_told_once() -> None:
    said = describe_results(results_of({"base": GOOD, "best": BEST}, baseline="base"), P @ 1)
    assert said[1].startswith("It leads the baseline base by 0.050 (paired t-test, p = ")
    assert "the next run" not in said[1]


def test_a_baseline_that_is_best_leads_the_next_run() -> None:
    said = describe_results(results_of({"base": BEST, "good": GOOD}, baseline="base"), P @ 1)
    assert said[1].startswith("It leads good, the next run, by 0.050 ")


def test_a_tie_is_a_tie_and_the_lead_is_over_the_run_behind_it() -> None:
    same = {"a": BEST, "copy": BEST, "behind": BASE}
    said = describe_results(results_of(same), P @ 1)
    assert said[0].startswith(
        "a and copy tie as the best of the 3 runs by P@1, with the same score on every topic: 1.000"
    )
    assert said[1].startswith("They lead behind, the next run, by 0.500 (")
    assert not any("0.000" in text for text in said)


def test_where_all_tie_there_is_no_lead() -> None:
    said = describe_results(results_of({"a": BASE, "b": BASE[::-1]}), P @ 1)
    assert said[0].startswith("Both runs tie by P@1: 0.500")
    assert not any("lead" in text for text in said)


def test_a_lead_that_three_decimals_do_not_show_has_more() -> None:
    n = 2500
    hits = {
        "a": [1.0] * (n // 2) + [0.0] * (n // 2),
        "b": [1.0] * (n // 2 - 1) + [0.0] * (n // 2 + 1),
    }
    assert "b, the next run, by 0.0004 (" in describe_results(results_of(hits), P @ 1)[1]


def test_an_interval_wider_than_the_scale_is_no_headline() -> None:
    said = describe_results(results_of({"a": [1.0, 0.0]}), P @ 1)
    assert said[0] == "a has a mean P@1 of 0.500 (2 topics: too few for an interval)."


# What the scores rest on.


def test_few_systems_are_told_beside_the_sets_name() -> None:
    found = ir_std.evaluate(ir_std.system("ntcir13-www-english/RMIT-E-NU-Own-1"), None, "nDCG@10")
    said = " ".join(describe_results(found, found.measures[1]))
    assert (
        "13 systems of NTCIR-13 We Want Web, English (thin: too few for a sure deviation)" in said
    )


@pytest.mark.parametrize(
    ("system", "measure", "beside"),
    [
        ("ntcir13-www-english/RMIT-E-NU-Own-1", "nDCG@10", "13 systems, thin: too few for a sure"),
        ("web14/sys18", "AP", "30 systems, thin: too few for a sure deviation): 50 of 50"),
        ("trec8-adhoc/ok8alx", "AP", "129 systems, old: systems of before 2019): 50 of 50"),
        ("dl21-passage/p_bm25", "nDCG@10", "63 systems): 53 of 53"),
    ],
)
def test_the_command_line_tells_it_too(
    ir_std_cli: Any, system: str, measure: str, beside: str
) -> None:
    assert beside in ir_std_cli(system, measure).err[0]


def test_measures_of_different_worth_are_told_apart() -> None:
    match = ir_std.recognize(simulated_qrels(ir_std.load_factors("blog08").n_rel))
    assert match.worth(["AP", "P@10", "RR"]) == {
        "blog08": "AP, P@10 old: systems of before 2019; RR coarse: hardly tells scores apart"
    }
    assert match.worth(["AP", "P@10"]) == {"blog08": "old: systems of before 2019"}


# Data sets.


@pytest.fixture(scope="module")
def of_datasets(tmp_path_factory: pytest.TempPathFactory) -> ir_std.Results:
    file = tmp_path_factory.mktemp("mteb") / "model.csv"
    file.write_text("run,collection,nDCG@10\nmodel,SciFact,0.64\nmodel,NFCorpus,0.31\n")
    return ir_std.evaluate(file, None, "nDCG@10")


def test_data_sets_are_called_data_sets_and_models_models(of_datasets: ir_std.Results) -> None:
    said = describe_results(of_datasets, of_datasets.measures[1])
    assert "among the models that have all data sets, between " in said[0]
    assert said[1] == "It is above the mean of the models on 0 of 2 data sets."
    plan = of_datasets.plans[of_datasets.measures[1]]
    counts = np.count_nonzero(~np.isnan(plan.factors.scores[plan.name][plan.rows]), axis=1)
    assert said[-1] == (
        f"The factors are from the {min(counts)} to {max(counts)} models on each data set (MTEB "
        "retrieval and reranking, models of 2026): 2 of 2 data sets matched."
    )


def test_nothing_of_their_page_is_recognized_from_qrels(of_datasets: ir_std.Results) -> None:
    page = render(of_datasets)
    assert "recognized by the names of the data sets" in page
    assert "nDCG@10 on 2 data sets, raw" in page
    assert ">Means over data sets</h3>" in page
    assert "recognized from the qrels" not in page


# Warnings under the sentences.


@pytest.fixture
def shallow() -> ir_std.Results:
    qrels = simulated_qrels(ir_std.load_factors("trec8-adhoc").n_rel)
    cut = {t: dict(list(docs.items())[:60]) for t, docs in simulated_run(qrels, 3, 60).items()}
    with pytest.warns(ir_std.StandardizationWarning):
        return ir_std.evaluate({"cut": cut, "other": simulated_run(qrels, 1, 1000)}, qrels, "AP")


def test_what_changes_how_to_read_the_winner_stands_under_the_sentences(
    shallow: ir_std.Results,
) -> None:
    told = trust(shallow, ir_std.sAP)
    assert any(
        text.startswith("Warning: cut: only 60 documents deep, the systems") for text in told
    )
    page = render(shallow)
    assert page.index('class="trust warning"') < page.index("only 60 documents deep")
    assert page.index("only 60 documents deep") < page.index('class="controls')


def test_a_measure_that_looks_at_few_documents_is_not_misled_by_a_cut() -> None:
    qrels = simulated_qrels(ir_std.load_factors("trec8-adhoc").n_rel)
    with pytest.warns(ir_std.StandardizationWarning, match="only 60 documents deep"):
        found = ir_std.evaluate(
            {f"run{i}": simulated_run(qrels, i, 60) for i in range(4)}, qrels, ["AP", "P@10"]
        )
    assert any("documents deep" in text for text in trust(found, ir_std.sAP))
    assert not any("documents deep" in text for text in trust(found, ir_std.sP @ 10))


def test_notes_stay_below() -> None:
    found = results_of({"a": BEST, "b": BASE})
    assert trust(found, P @ 1) == []
    assert '<ul class="trust warning" hidden>' in render(found)


def test_a_broken_run_is_told_wherever_it_stands() -> None:
    qrels = simulated_qrels(ir_std.load_factors("trec8-adhoc").n_rel)
    runs: dict[str, Any] = {f"run{i}": simulated_run(qrels, i, 1000) for i in range(3, 6)}
    runs["constant"] = {t: dict.fromkeys(docs, 1.0) for t, docs in runs["run3"].items()}
    with pytest.warns(ir_std.StandardizationWarning, match="the same score"):
        found = ir_std.evaluate(runs, qrels, "AP")
    told = trust(found, ir_std.sAP)
    assert told[0].startswith("Warning: constant: all documents of a topic have the same score")
    assert len(told) > 1
    assert not any("--factors" in text for text in told if "constant" in text)
    assert "Looks broken, see the warnings: constant." in found.table(sort="sAP").notes
    assert found.ranks["constant"]["sAP"].rank
