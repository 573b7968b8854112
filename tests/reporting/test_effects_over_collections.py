"""Systems against a baseline, over collections."""

import csv
import io
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from differing import differing
from ir_measures import AP, P
from ir_measures.measures import Measure
from made_up import entries_on
from scipy import stats

import ir_std
from ir_std.analysis.effects import Summary, random_effects
from ir_std.errors import UsageError
from ir_std.reporting.difference import RunDifferences, run_differences
from ir_std.reporting.sentences import why_no_summary

SETS = ("trec6-adhoc", "trec7-adhoc", "trec8-adhoc")


@pytest.fixture(scope="module")
def compared() -> ir_std.Results:
    """Compare two simulated systems on three collections, and a third on one of them."""
    entries = entries_on(SETS, "ab", 200)
    *_, last = entries_on(SETS[2:], "abc", 200)
    return ir_std.compare([*entries, (*last[:2], entries[-1][2])], AP, baseline="a")


@pytest.fixture(scope="module")
def of_b(compared: ir_std.Results) -> dict[Measure, RunDifferences]:
    return run_differences(compared)["b"]


@pytest.mark.parametrize("measure", [AP, ir_std.sAP])
def test_differences_are_those_of_paired_topics(
    compared: ir_std.Results, of_b: dict[Measure, RunDifferences], measure: Measure
) -> None:
    found = of_b[measure].differences[1]
    a, b = (compared.on(SETS[1]).values[name][measure] for name in "ab")
    expected = stats.ttest_rel(b, a)
    assert found.p == pytest.approx(expected.pvalue)
    assert found.mean == found.estimate.mean == pytest.approx((b - a).mean())
    assert found.estimate.topics == pytest.approx(
        (expected.confidence_interval().high - expected.confidence_interval().low) / 2
    )


def test_only_standardized_differences_vary_with_the_systems_and_little(
    compared: ir_std.Results, of_b: dict[Measure, RunDifferences]
) -> None:
    assert {d.estimate.systems for d in of_b[AP].differences} == {0}
    for d in of_b[ir_std.sAP].differences:
        assert 0 < d.estimate.systems < compared.estimate("b", "sAP", d.where).systems


def test_the_summary_weighs_by_topics_and_systems(of_b: dict[Measure, RunDifferences]) -> None:
    differences = of_b[ir_std.sAP].differences
    errors = [np.hypot(d.estimate.topics_error, d.estimate.systems_error) for d in differences]
    assert of_b[ir_std.sAP].summary() == random_effects(
        [d.mean for d in differences], np.square(errors)
    )
    assert of_b[ir_std.sAP].summary(size=True) == random_effects(
        [d.size[0] for d in differences], [d.size[1] ** 2 for d in differences]
    )


def test_each_system_has_its_collections_and_then_its_summary(compared: ir_std.Results) -> None:
    rows = [(row[0].text, row[1].text) for row in compared.table().rows]
    assert rows == [
        *(("b", name) for name in SETS),
        ("b", "summary"),
        ("b", "variation"),
        ("c", SETS[2]),
    ]


def test_the_table_in_full_precision_holds_the_summary(compared: ir_std.Results) -> None:
    rows = list(csv.DictReader(io.StringIO(compared.table().csv())))
    summary = run_differences(compared)["b"][AP].summary()
    assert summary is not None
    assert float(rows[3]["AP"]) == pytest.approx(summary.effect)
    assert float(rows[3]["AP low"]) == pytest.approx(summary.low)
    assert float(rows[4]["AP tau2"]) == pytest.approx(summary.tau2)


def test_few_collections_and_tuning_are_reported(compared: ir_std.Results) -> None:
    text = " ".join(compared.table().text().split())
    assert "3 collections are too few" in text
    assert "tuned on one of these collections" in text
    assert "c has no run on trec6-adhoc" in text


def test_collections_that_share_topics_have_no_summary_and_the_reason_is_given() -> None:
    found = ir_std.compare(entries_on(["trec8-adhoc", "robust04"]), AP, baseline="a")
    of_b = run_differences(found)["b"][AP]
    assert of_b.summary() is None
    assert "trec8-adhoc and robust04 share 50 topics" in why_no_summary(of_b)
    assert "share 50 topics" in " ".join(found.table().text().split())
    assert [row[1].text for row in found.table().rows] == ["trec8-adhoc", "robust04"]


def test_collections_that_share_documents_are_named() -> None:
    first, second = (
        {t: {f"FT{d}": 1 for d in range(5)} for t in topics} for topics in (("1", "2"), ("3", "4"))
    )
    run = {t: {"FT1": 1.0, f"FT{t}": 0.5} for t in "1234"}
    notes = ir_std.compare([("x", run, first), ("x", run, second)], AP).notes
    assert any("share documents but not topics" in text for text in notes)


def test_documents_with_plain_numbers_are_not_taken_for_the_same() -> None:
    first, second = (
        {t: {str(int(t) + d + shift): 1 for d in range(5)} for t in "12"} for shift in (0, 3)
    )
    run = {t: {str(d): 1.0 / d for d in range(1, 9)} for t in "12"}
    second["1"], second["2"] = {"90": 1}, {"1": 1}
    notes = ir_std.compare([("x", run, first), ("x", run, second)], AP).notes
    assert not any("share" in text for text in notes)


def test_a_collection_without_factors_counts_in_the_raw_summary_alone(
    of_b: dict[Measure, RunDifferences],
) -> None:
    judged = {f"own{t}": {"d": 1, "e": 0} for t in range(10)}
    runs = {b: {t: {"d": 1.0, "e": float(b and t != "own1")} for t in judged} for b in (0, 1)}
    own = [(name, runs[b], judged) for b, name in enumerate("ab")]
    found = ir_std.compare([*entries_on(SETS, "ab", 200), *own], AP, baseline="a")
    across = run_differences(found)["b"]
    assert across[ir_std.sAP].summary() == of_b[ir_std.sAP].summary()
    assert across[AP].summary() != of_b[AP].summary()
    assert found.table().rows[3][6].text == "-"
    assert "3: Q" in found.table().text()


def test_intervals_are_not_narrower_than_normal_ones() -> None:
    d = np.random.default_rng(2).normal(0.1, 0.1, 20)
    found = differing({"b": {c: f * d for c, f in zip("xyz", (1, 1.01, 0.99), strict=True)}})
    (across,) = run_differences(found)["b"].values()
    variances = [p[1] ** 2 for p in across.points()]
    summary = across.summary()
    assert summary
    assert summary.error == pytest.approx(sum(1 / v for v in variances) ** -0.5)
    assert summary.high - summary.low > 2 * 1.96 * summary.error
    text = " ".join(found.table().text().split())
    assert "at least as wide as the normal one" in text


def test_runs_without_a_summary_for_the_same_reason_are_named_together() -> None:
    d = np.random.default_rng(2).normal(0.1, 0.1, 20)
    two = {"x": d, "y": d + 0.1}
    found = differing({"b": two, "c": two, "d": {"x": [0.1] * 20, "y": d}}, AP, P @ 10)
    assert [note for note in found.table().notes if "no summary" in note] == [
        "b, c have no summary for AP, P@10: a summary needs 3 collections.",
        "d has no summary for AP, P@10: differences do not vary on x.",
    ]


def test_differences_without_spread_have_no_summary_and_are_reported() -> None:
    table = differing({"b": {"x": [0.5] * 5, "y": [0.1, 0.2]}}).table()
    assert len(table.rows) == 2
    assert "b has no summary for AP: differences do not vary on x." in table.notes


@pytest.mark.parametrize("flat", [[0.5] * 5, [0.3]])
def test_a_collection_without_spread_is_left_out_and_reported(flat: list[float]) -> None:
    random = np.random.default_rng(1)
    others = {name: random.normal(0.1, 1, 20) for name in "wxy"}
    found = differing({"b": {"w": others["w"], "flat": flat, **others}})
    (across,) = run_differences(found)["b"].values()
    assert across.summary() == summary_of(others)
    assert across.left_out() == ("flat",)
    said = "The summary of b for AP leaves out flat, where the differences do not vary."
    assert said in found.table().notes


def summary_of(amounts: dict[str, Any]) -> Summary | None:
    return run_differences(differing({"b": amounts}))["b"][AP].summary()


@pytest.mark.parametrize(
    ("systems", "baseline", "message"),
    [
        ("abc", "A", r"unknown baseline 'A'; choose from a, b, c, best; did you mean 'a'"),
        ("x", "x", "no run has a collection in common with x"),
    ],
)
def test_a_baseline_that_is_unknown_or_alone_is_an_error(
    systems: str, baseline: str, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        ir_std.compare(entries_on(["trec8-adhoc"], systems, 10), AP, baseline=baseline)


@pytest.mark.slow
def test_the_command_prints_effects_and_draws_them(
    data: Path,
    runs_of: Callable[[str], Path],
    tmp_path: Path,
    ir_std_cli: Callable[..., SimpleNamespace],
) -> None:
    pytest.importorskip("matplotlib")
    entries = [
        f"{name}={runs_of(folder) / run}:{data / 'qrels' / folder}.txt"
        for folder, pairs in {
            "dl19-passage": ("bm25base_p", "bm25base_rm3_p"),
            "dl20-passage": ("p_bm25", "p_bm25rm3"),
        }.items()
        for name, run in zip(("bm25", "rm3"), pairs, strict=True)
    ]
    options = ("--baseline", "bm25", "-o", "csv", "--plot", tmp_path / "forest.png")
    done = ir_std_cli("compare", *entries, "AP", *options)
    assert done.status == 0
    rows = list(csv.DictReader(done.out))
    assert [row["collection"] for row in rows] == ["dl19-passage", "dl20-passage"]
    assert (tmp_path / "forest.png").stat().st_size > 1000
    assert any("share documents" in line for line in done.err)


def test_statistics_over_collections_need_no_further_library(
    compared: ir_std.Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("pandas", "statsmodels"):
        monkeypatch.setitem(sys.modules, name, None)
    assert compared.table().text()
