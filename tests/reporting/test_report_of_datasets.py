"""The report where factors are of a whole data set, or of the topics of several tracks."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ir_measures import AP, P, nDCG

import ir_std
import ir_std.trec.inputs
from ir_std import FactorSet, sAP, snDCG
from ir_std.factors.estimates import factors_from_scores
from ir_std.reporting.html.method import method
from ir_std.reporting.html.report import render, write_report
from ir_std.reporting.html.sentences import describe_results
from ir_std.testing import simulated_qrels, simulated_run

SCORES = np.array([[0.2, 0.4, 0.6, np.nan], [0.1, 0.1, 0.3, 0.5]])


@pytest.fixture(scope="module")
def toy() -> FactorSet:
    """A set of two data sets and four models, of which three have scores with the first."""
    return factors_from_scores(
        {"nDCG@10": SCORES},
        {"beir/toy": None, "beir/nq": None},
        {
            "id": "toys",
            "title": "Toys",
            "unit": "collection",
            "population": "four toys",
            "datasets": {"beir/toy": {"split": "test"}},
            "measures": {},
        },
        {"nDCG@10": ("a", "b", "c", "d")},
    )


@pytest.fixture(scope="module")
def results(toy: FactorSet) -> ir_std.Results:
    qrels = simulated_qrels({str(i): 5 for i in range(20)})
    runs = {f"run{i}": simulated_run(qrels, i, 20) for i in range(3)}
    read = ir_std.trec.inputs.as_qrels(qrels)
    read.dataset = "beir/toy"
    return ir_std.evaluate(runs, read, nDCG @ 10, factors=toy, baseline="run0")


def behind(results: ir_std.Results) -> Any:
    found = re.search(r'<script type="application/json">(.*?)</script>', render(results), re.S)
    assert found
    return json.loads(found[1])["behind"][0]


def test_a_data_set_is_compared_as_a_whole(results: ir_std.Results) -> None:
    found = behind(results)
    assert (found["dataset"], found["counts"], found["mean"]) == ("beir/toy", [3], [0.4])
    raw = [results.means[run][nDCG @ 10] for run in results.runs]
    z = dict(found["schemes"])["z"]
    assert sorted(z) == pytest.approx(sorted((np.array(raw) - 0.4) / 0.2))
    assert found["z"] is None


def test_runs_on_a_whole_data_set_are_tested_by_their_raw_scores(results: ir_std.Results) -> None:
    said = describe_results(results, snDCG @ 10)
    assert any(text.endswith("of nDCG@10 topic by topic.") for text in said)
    assert any("from the 3 systems of Toys with beir/toy" in text for text in said)


@pytest.mark.slow
def test_its_page_shows_topics_by_raw_scores_alone(
    results: ir_std.Results, browser: Any, tmp_path: Path
) -> None:
    write_report(results, tmp_path / "page.html")
    page, said = browser.new_page(), []
    page.on("console", lambda message: said.append(message.text))
    page.goto((tmp_path / "page.html").as_uri() + "#topic=3")
    page.wait_for_selector("html[data-complete]")
    assert page.locator(".topics-0 .dot.run").count() == 20
    for nothing in (".topics-1", ".against-1", ".farthest"):
        assert not page.is_visible(nothing)
    assert page.text_content(".title-0") == "nDCG@10, raw"
    assert page.locator(".on-topic .dot").count() == 3
    assert "the 3 systems has the mean 0.4000 and the deviation 0.2000" in page.text_content(
        ".topics-caption"
    )
    assert page.text_content(".legend").startswith("Topics stand in the order of the")
    assert not page.is_visible(".legend .of-systems >> nth=0")
    page.close()
    assert said == []


def test_the_method_says_that_means_are_standardized(results: ir_std.Results) -> None:
    said = method([results])
    assert "Means over data sets are standardized by" in said
    assert "with factors from the 3 systems of Toys with beir/toy" in said
    assert "by topic by" not in said
    assert "beir/toy" in render(results).split("</h1>")[0]


def test_each_of_several_tracks_is_said_with_its_own_number_of_systems() -> None:
    sets = [ir_std.load_factors(name) for name in ("dl19-passage", "dl20-passage")]
    qrels = simulated_qrels(
        {topic: dict(known.levels or {}) for s in sets for topic, known in s.judgments.items()}
    )
    results = ir_std.evaluate({"a": simulated_run(qrels, 1, 50)}, qrels, [AP, P @ 10])
    counts = [s.systems_text() for s in sets]
    for set, count in zip(sets, counts, strict=True):
        named = f"{count} systems of {set.title}"
        assert any(named in text for text in describe_results(results, sAP))
        assert named in method([results])
        assert f"{set.title}, {count} standardizing systems" in render(results)
    of = behind(results)["counts"]
    assert sorted(map(str, map(int, {*of}))) == sorted(counts)
    for set, count in zip(sets, counts, strict=True):
        assert {of[results.topics.index(t)] for t in set.topics} == {float(count)}
