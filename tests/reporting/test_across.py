"""The report on several collections lists few runs or collections, and summarizes many."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from ir_measures import AP, P
from made_up import entries_on
from views import MINUS, plain

import ir_std
from ir_std import sAP
from ir_std.reporting.compare import join_results
from ir_std.reporting.difference import run_differences
from ir_std.reporting.html.across import AcrossFacts, across_of

SETS = ("trec3-adhoc", "trec5-adhoc", "trec6-adhoc", "trec7-adhoc", "trec8-adhoc")


@pytest.fixture(scope="module")
def five() -> ir_std.Results:
    return ir_std.compare(entries_on(SETS, ("bm25", "mono")), [AP])


def only(comparison: ir_std.Results, *kept: tuple[str, tuple[str, ...]]) -> ir_std.Results:
    """Keep the results of some runs, each on some collections."""
    wanted = {(run, name) for run, names in kept for name in names}
    evaluations = {
        name: {run: one for run, one in scored.items() if (run, name) in wanted}
        for name, scored in comparison.evaluations.items()
        if any(name == each for _, each in wanted)
    }
    collections = {name: comparison.collections[name] for name in evaluations}
    return replace(comparison, collections=collections, evaluations=evaluations)


def against_bm25(comparison: ir_std.Results) -> ir_std.Results:
    return replace(comparison, baseline="bm25")


def of(results: ir_std.Results, name: str = "AP") -> Any:
    """Return the content of the page for one measure."""
    return next(m for m in across_of(results)["measures"] if m["name"] == name)


def has_summary(results: ir_std.Results) -> bool:
    return any(row["name"] is None for row in of(results)["rows"])


def said(results: ir_std.Results) -> str:
    found = of(results)
    return f"{plain(found['headline'])} {plain(found['deck'])}"


def test_two_collections_are_counted_singly_and_not_summarized(five: ir_std.Results) -> None:
    two = only(five, ("bm25", SETS[:2]), ("mono", SETS[:2]))
    best = [max(("bm25", "mono"), key=lambda run: two.on(n).means[run][sAP]) for n in SETS[:2]]
    subject = across_of(two)["subject"]
    ends = [two.estimate(subject, sAP, name).interval for name in SETS[:2]]
    above = sum(low > 0.5 for low, _ in ends)
    assert best.count(subject) >= 1
    assert ("above average on both collections" in said(two)) == (above == 2)
    assert ("best on both" in said(two)) == (best.count(subject) == 2)
    assert "The scores are not on one scale" in said(two)
    assert not has_summary(two)
    assert {row[1].text for row in two.table().rows} == {*SETS[:2]}
    assert (
        "There is no mean over collections, because such a mean needs 3 collections."
        in two.table().notes
    )


@pytest.mark.parametrize(
    ("system", "unit"),
    [("dl19-passage/p_bert", "topic"), ("mteb-retrieval/BAAI/bge-m3", "dataset")],
)
@pytest.mark.filterwarnings("ignore::ir_std.StandardizationWarning")
def test_topics_and_datasets_are_called_by_their_names(system: str, unit: str) -> None:
    assert across_of(ir_std.compare([("a", system, None)], "nDCG@10"))["unit"] == unit


@pytest.mark.parametrize("measure", [AP, sAP(scheme="E")])
def test_no_run_is_above_an_average_that_does_not_exist(measure: Any) -> None:
    """Scales without an average: raw scores and scheme E."""
    entries = entries_on(SETS[:2], ["bm25"])
    found = of(ir_std.compare(entries, [measure], schemes=()), str(measure))
    assert plain(found["headline"]) == "bm25 was run on 2 collections."


def test_differences_on_two_collections_are_not_summarized_anywhere(five: ir_std.Results) -> None:
    two = against_bm25(only(five, ("bm25", SETS[:2]), ("mono", SETS[:2])))
    assert "There is no summary over the collections: a summary needs 3 collections." in said(two)
    assert not has_summary(two)
    assert run_differences(two)["mono"][sAP].summary() is None
    assert {row[1].text for row in two.table().rows} == {*SETS[:2]}


def test_runs_that_lack_a_collection_are_named(five: ir_std.Results) -> None:
    unbalanced = only(five, ("bm25", SETS[:2]), ("mono", SETS[:1]))
    assert "mono has no run on trec5-adhoc." in said(unbalanced)
    assert "over the" not in said(unbalanced)
    notes = " ".join(unbalanced.table().notes)
    assert "because such a mean needs 3 collections that all runs have. mono has no run on" in notes
    assert all(row[1].text != "all of these" for row in unbalanced.table().rows)


def test_a_mean_over_the_three_shared_collections_names_them(five: ir_std.Results) -> None:
    unbalanced = only(five, ("bm25", SETS[:4]), ("mono", SETS[:3]))
    notes = " ".join(unbalanced.table().notes)
    over = ", ".join(SETS[:3])
    assert f"include only the collections that all runs have: {over}." in notes
    assert "mono has no run on trec7-adhoc" in notes
    summed = {row[0].text for row in unbalanced.table().rows if row[1].text == "all of these"}
    assert summed == {"bm25", "mono"}


def test_picture_sentence_and_table_of_five_collections_agree(five: ir_std.Results) -> None:
    run = across_of(five)["subject"]
    mean = five.estimate(run, sAP)
    low, high = mean.interval
    assert (
        f"Its mean standardized AP over the 5 collections is {mean.mean:.3f} (95% interval "
        f"{low:.3f} to {high:.3f})." in said(five)
    )
    summaries = [row for row in of(five)["rows"] if row["name"] is None]
    drawn = next(row for row in summaries if row["system"] == run)
    assert (drawn["mean"], drawn["low"], drawn["high"]) == (mean.mean, low, high)
    table = [r for r in five.table().rows if [r[0].text, r[1].text] == [run, "all of these"]]
    assert table[0][4].value == pytest.approx(mean.mean)


def test_a_collection_without_factors_does_not_count_and_is_named(five: ir_std.Results) -> None:
    qrels = {f"own{i}": {"d": 1} for i in range(10)}
    own = ir_std.compare([(s, {t: {"d": 1.0} for t in qrels}, qrels) for s in ("bm25", "mono")], AP)
    (name,) = own.collections
    more = join_results({n: five.on(n) for n in five.collections} | {name: own.on(name)}, {})
    assert "over the 5 collections that all runs have" in said(more)
    assert f"There is no standardized AP on {name}." in said(against_bm25(more))


def test_the_mean_of_five_unbalanced_collections_is_over_those_of_all(five: ir_std.Results) -> None:
    unbalanced = only(five, ("bm25", SETS), ("mono", SETS[:4]))
    pooled = unbalanced.estimate("bm25", sAP)
    means = [unbalanced.estimate("bm25", sAP, name).mean for name in SETS[:4]]
    assert pooled.mean == pytest.approx(np.mean(means))
    assert "mono has no run on trec8-adhoc." in said(unbalanced)
    assert not has_summary(unbalanced)


def test_differences_on_few_collections_are_drawn_one_by_one(five: ir_std.Results) -> None:
    few = against_bm25(only(five, ("bm25", SETS[:3]), ("mono", SETS[:3])))
    for d, row in zip(run_differences(few)["mono"][sAP].differences, of(few)["rows"], strict=True):
        assert [row["name"], row["mean"], row["low"], row["high"]] == [d.where, d.mean, *d.interval]
    assert "With only 3 collections, the summary is shown only in the table." in said(few)
    table = few.table()
    assert "summary" in {row[1].text for row in table.rows}
    assert any("3 collections are too few" in note for note in table.notes)


def test_a_summary_of_five_collections_that_is_too_wide_is_called_so() -> None:
    entries = []
    for i, is_better in enumerate([True, False, True, False, True]):
        qrels = {f"{i}-{topic}": {"good": 1, "bad": 0} for topic in range(4)}
        for run in ("bm25", "mono"):
            hit = [(run == "mono") == is_better] * 3 + [True]
            scores = {t: {"good": 2.0 * h, "bad": 1.0} for t, h in zip(qrels, hit, strict=True)}
            entries.append((run, scores, qrels))
    wide = ir_std.compare(entries, [P @ 1], baseline="bm25")
    summary = run_differences(wide)["mono"][P @ 1].summary()
    assert summary
    assert summary.high - summary.low > 1
    deck = plain(of(wide, "P@1")["deck"])
    assert deck == "The interval of the summary for P@1 is too wide for a conclusion."


def test_the_mean_over_collections_is_not_computed_with_a_baseline(
    five: ir_std.Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(AcrossFacts, "pooled", pytest.fail)
    across_of(against_bm25(five))


def test_differences_on_five_collections_have_a_summary(five: ir_std.Results) -> None:
    against = against_bm25(five)
    found = run_differences(against)["mono"][sAP]
    summary = found.summary()
    assert summary
    effect = f"{summary.effect:+.3f}".replace("-", MINUS)
    assert (
        f"Over the collections, the difference in standardized AP is {effect} (95% interval"
        in said(against)
    )
    clear = [d.mean > 0 for d in found.differences if d.significant]
    side = "better" if sum(clear) >= len(clear) / 2 else "worse"
    many = max(clear.count(True), clear.count(False))
    where = "on all 5 collections" if many == 5 else f"on {many} of 5 collections"
    expected = (
        f"mono is clearly {side} than bm25 {where}" if clear else "There is no clear difference"
    )
    assert said(against).startswith(expected)
    rows = of(against)["rows"]
    ends = [summary.effect, summary.low, summary.high]
    assert [rows[5][k] for k in ("mean", "low", "high")] == ends
    assert [r["weight"] for r in rows[:5]] == pytest.approx(summary.weights)


def test_what_is_drawn_is_cut_to_what_scores_can_be(five: ir_std.Results) -> None:
    assert of(five)["limits"] == [0.0, 1.0]
    assert of(against_bm25(five))["limits"] == [-1.0, 1.0]
    assert set(of(five)["ticks"]) == {0, 0.25, 0.5, 0.75, 1}
