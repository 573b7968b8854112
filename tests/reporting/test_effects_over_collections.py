"""Differences from a baseline over collections: effects, headlines and shared topics."""

import csv
import io
import sys
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from ir_measures import AP, P
from ir_measures.measures import Measure
from made_up import entries_on
from scipy import stats

import ir_std
from ir_std.analysis.effects import random_effects
from ir_std.errors import UsageError
from ir_std.measures import main_score
from ir_std.reporting.difference import (
    Difference,
    RunDifferences,
    is_headline,
    is_wide,
    limits_of,
    run_differences,
)
from ir_std.reporting.links import Overlaps, find_overlaps
from ir_std.reporting.sentences import overlap_notes, why_no_summary
from ir_std.scores.run_scores import QrelsFromCounts, RunScores
from ir_std.trec.inputs import as_qrels

SETS = ("trec6-adhoc", "trec7-adhoc", "trec8-adhoc")

BASE = 10.0
"""Score of the baseline; differences of any size from it keep their sign."""


def differing(
    by_run: Mapping[str, Mapping[str, Any]], *measures: ir_std.Measure, baseline: str = "a"
) -> ir_std.Results:
    """Compare runs with a baseline, from which each differs by these amounts on each collection."""
    collections = dict.fromkeys(name for amounts in by_run.values() for name in amounts)

    def scores(run: str, name: str, amounts: Any) -> tuple[str, RunScores, None, str]:
        by_topic = {f"{name}{i}": BASE + float(d) for i, d in enumerate(amounts)}
        of = dict.fromkeys(measures or (AP,), by_topic)
        return run, RunScores(run, of, dict.fromkeys(by_topic, 1)), None, name

    sizes = {
        name: max(len(amounts[name]) for amounts in by_run.values() if name in amounts)
        for name in collections
    }
    entries = [scores(baseline, name, [0] * n) for name, n in sizes.items()]
    entries += [scores(r, name, d) for r, of in by_run.items() for name, d in of.items()]
    return ir_std.compare(entries, measures or (AP,), (), baseline=baseline)


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
    assert "at least as wide as a normal interval" in text


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
    assert across.summary() == run_differences(differing({"b": others}))["b"][AP].summary()
    assert across.excluded_collections() == ("flat",)
    said = "The summary of b for AP leaves out flat, where the differences do not vary."
    assert said in found.table().notes


@pytest.mark.parametrize(
    ("systems", "baseline", "message"),
    [
        ("abc", "A", r"unknown baseline 'A'; choose from a, b, c, best; did you mean 'a'"),
        ("x", "x", "no other run shares a collection with the baseline x"),
    ],
)
def test_a_baseline_that_is_unknown_or_alone_is_an_error(
    systems: str, baseline: str, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        ir_std.compare(entries_on(["trec8-adhoc"], systems, 10), AP, baseline=baseline)


@pytest.mark.slow
def test_the_command_prints_effects_and_draws_them(
    data: Path, runs_of: Any, tmp_path: Path, ir_std_cli: Any
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


# The first sentences of a report.

LATENCY = ir_std.ExternalMeasure("latency")


@pytest.mark.parametrize("measure", [AP, P @ 10, ir_std.sAP, ir_std.sAP(scheme="U")])
def test_an_interval_that_is_wider_than_scores_can_be_is_not_a_headline(measure: Measure) -> None:
    assert limits_of(measure) == (0, 1)
    assert limits_of(measure, of_differences=True) == (-1, 1)
    assert not is_wide(measure, -0.2, 0.8)
    assert is_wide(measure, -0.2, 0.9)
    assert [is_headline(n, measure, -0.2, 0.8) for n in (4, 5)] == [False, True]
    assert not is_headline(5, measure, -0.2, 0.9)


@pytest.mark.parametrize("measure", [ir_std.DCG @ 10, ir_std.sAP(scheme="z"), main_score, LATENCY])
def test_where_scores_have_no_limits_no_interval_is_too_wide(measure: Measure) -> None:
    assert limits_of(measure) is None
    assert limits_of(measure, of_differences=True) is None
    assert is_headline(5, measure, -20, 90)


def test_effect_sizes_have_no_limits_though_scores_have() -> None:
    random = np.random.default_rng(2)
    far_apart = tuple(
        Difference.of("b", "a", f"set{i}", AP, random.normal(i - 2, 1, 20) / 10) for i in range(5)
    )
    found = RunDifferences("b", "a", AP, far_apart)
    sizes = found.headline(size=True)
    assert sizes
    assert sizes.high - sizes.low > 1
    assert found.headline()


# Topics that several collections share.

Judged = dict[str, dict[str, int]]

NEWS = "[A-Z]{2}\\d+"
ONE_SHARED = "a and b share 1 topic, which would count twice, so they are not pooled"


def judged(topics: str, *documents: str) -> Judged:
    return {t: dict.fromkeys(documents, 1) for t in topics}


def factors_of(id: str, **info: str | None) -> Any:
    return SimpleNamespace(id=id, info=info)


def notes_on(
    a: Judged, b: Judged, forms: tuple[str | None, str | None] = (None, None)
) -> tuple[str, ...]:
    qrels = {"a": as_qrels(a), "b": as_qrels(b)}
    sets = {name: factors_of(name, corpus=form) for name, form in zip(qrels, forms, strict=True)}
    return tuple(overlap_notes(find_overlaps(qrels, sets)))


@pytest.mark.parametrize(
    ("a", "b", "forms"),
    [
        (judged("12", "FT1"), judged("23", "FT1"), (None, None)),
        # Rounds of one track: other documents on the same topic.
        ({"1": {"FT1": 1}, "2": {"FT2": 1}}, {"2": {"FT1": 1}}, (None, None)),
        (judged("12", "1"), judged("23", "1"), (None, None)),
        ({"1": {"7": 1}, "2": {"8": 1}}, {"2": {"7": 1}}, ("\\d+", "\\d+")),
    ],
)
def test_topics_are_shared_where_ids_and_documents_are(
    a: Judged, b: Judged, forms: tuple[str | None, str | None]
) -> None:
    assert notes_on(a, b, forms) == (ONE_SHARED,)


def test_documents_may_be_shared_without_topics() -> None:
    assert notes_on(judged("1", "FT1", "FT2"), judged("2", "FT2")) == (
        "a and b share documents but not topics, so effects of the documents count twice",
    )


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (judged("1", "FT1"), judged("1", "LA1")),
        # Two datasets that number their documents, and queries, from 1.
        (
            {"1": {"7": 1}, "2": {"8": 1}, "3": {"9": 1}},
            {"1": {"8": 1}, "2": {"7": 1}, "3": {"4": 1}},
        ),
    ],
)
def test_the_same_ids_of_other_documents_are_other_topics(a: Judged, b: Judged) -> None:
    assert notes_on(a, b) == ()


PEOPLE = {"1": {"FT1": 1, "FT2": 0}, "2": {"FT3": 2, "FT4": 0}}


def test_the_same_documents_with_other_levels_are_the_same_topics_judged_again() -> None:
    model = {"1": {"FT1": 1, "FT2": 1}, "2": {"FT3": 2, "FT4": 0}}
    assert notes_on(PEOPLE, model) == (
        "a and b are one collection judged twice (the same 2 topics under different labels), so "
        "they are not pooled",
    )


@pytest.mark.parametrize(
    "other",
    [
        {"1": PEOPLE["1"]},  # a part of the topics, with the same labels
        {"1": {"FT1": 0, "FT7": 1, "FT8": 1, "FT9": 1}},  # mostly other documents
    ],
)
def test_topics_are_judged_again_only_if_most_documents_are(other: Judged) -> None:
    assert notes_on(PEOPLE, other) == (ONE_SHARED,)


def test_where_only_scores_are_known_the_factor_sets_say_whose_labels_these_are() -> None:
    counted = {"a": QrelsFromCounts({"1": 3, "2": 4}), "b": QrelsFromCounts({"1": 5, "2": 4})}
    first, other = (factors_of(name, corpus=NEWS) for name in ("track", "other"))
    again = factors_of("track-model", corpus=NEWS, same_topics_as="track")
    assert find_overlaps(counted, {"a": first, "b": again}).relabelled == {("a", "b")}
    assert find_overlaps(counted, {"a": first, "b": other}).topics == {("a", "b"): 2}
    assert not find_overlaps(counted, {"a": first, "b": other}).relabelled


def test_all_collections_must_be_judgments_of_the_same_topics() -> None:
    overlaps = Overlaps({("a", "b"): 2, ("b", "c"): 2}, frozenset({("a", "b")}))
    assert overlaps.of_labels(("b", "a"))
    assert not overlaps.of_labels(("a", "b", "c"))
    assert not overlaps.of_labels(("a",))
