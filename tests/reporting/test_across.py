"""What the report says and draws of several collections: by each of few, in summary of many."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from ir_measures import AP

import ir_std
from ir_std import sAP
from ir_std.reporting.html.across import AcrossCollections
from ir_std.testing import simulated_qrels, simulated_run

SETS = ("trec3-adhoc", "trec5-adhoc", "trec6-adhoc", "trec7-adhoc", "trec8-adhoc")


@pytest.fixture(scope="module")
def five() -> ir_std.Comparison:
    entries = []
    for number, name in enumerate(SETS):
        qrels = simulated_qrels(ir_std.load_factors(name).n_rel)
        entries += [
            (system, simulated_run(qrels, 10 * number + i, 60), qrels)
            for i, system in enumerate(("bm25", "mono"))
        ]
    return ir_std.compare(entries, [AP])


def only(comparison: ir_std.Comparison, *kept: tuple[str, tuple[str, ...]]) -> ir_std.Comparison:
    """A comparison of some systems on some collections each."""
    wanted = {(system, name) for system, names in kept for name in names}
    pairs = {(p.system, p.collection): p for p in comparison.parts}
    runs_on = {c: {s for s, name in wanted if name == c} for _, c in wanted}
    parts = []
    for (system, name), part in pairs.items():
        if (system, name) in wanted:
            results = part.results
            left = {r: e for r, e in results.evaluations.items() if r in runs_on[name]}
            parts.append(replace(part, results=replace(results, evaluations=left)))
    return replace(comparison, parts=tuple(parts))


def kinds(across: AcrossCollections) -> set[str]:
    rows = next(m for m in across.data["measures"] if m["name"] == "sAP")["rows"]
    return {row["kind"] for row in rows}


def test_of_two_collections_each_has_a_sentence_and_nothing_is_summarized(
    five: ir_std.Comparison,
) -> None:
    two = only(five, ("bm25", SETS[:2]), ("mono", SETS[:2]))
    across = AcrossCollections(two)
    said = across.words(sAP)
    for name in SETS[:2]:
        means = {s: two.part(s, name).estimate(sAP).mean for s in ("bm25", "mono")}
        best, other = sorted(means, key=means.__getitem__, reverse=True)
        lead = means[best] - means[other]
        (text,) = [text for text in said if text.startswith(f"On {name} ")]
        assert text.startswith(
            f"On {name} {best} has the highest sAP: {means[best]:.3f}. It leads {other}, the next "
            f"run, by {lead:.3f} (paired t-test, p "
        )
    assert kinds(across) == {"collection"}
    assert {row[1].text for row in two.table().rows} == {*SETS[:2]}
    assert "There is no mean over collections: that takes 3." in two.table().notes


def test_of_two_collections_differences_are_not_summarized_anywhere(
    five: ir_std.Comparison,
) -> None:
    two = only(five, ("bm25", SETS[:2]), ("mono", SETS[:2])).tested("bm25")
    across = AcrossCollections(two)
    assert across.words(sAP)[-1] == (
        "There is no summary over the collections: a summary takes 3 collections."
    )
    assert kinds(across) == {"collection"}
    effects = two.effects("bm25")
    assert effects.of(sAP).summary() is None
    assert {row[1].text for row in effects.table().rows} == {*SETS[:2]}


def test_who_lacks_a_collection_is_named_and_compared_on_the_others(
    five: ir_std.Comparison,
) -> None:
    unbalanced = only(five, ("bm25", SETS[:2]), ("mono", SETS[:1]))
    said = AcrossCollections(unbalanced).words(sAP)
    assert "mono has no run on trec5-adhoc: left out there." in said
    assert [text.split()[1] for text in said if text.startswith("On ")] == [SETS[0]]
    assert not any("over the" in text for text in said)
    notes = " ".join(unbalanced.table().notes)
    assert "mean over collections: that takes 3 which all systems have. mono has no run on" in notes
    assert all(row[1].text != "all of these" for row in unbalanced.table().rows)


def test_a_mean_over_the_three_collections_that_all_have_is_said_to_be_of_these(
    five: ir_std.Comparison,
) -> None:
    unbalanced = only(five, ("bm25", SETS[:4]), ("mono", SETS[:3]))
    notes = " ".join(unbalanced.table().notes)
    over = ", ".join(SETS[:3])
    assert f"Means over collections are over those that all systems have: {over}." in notes
    assert "mono has no run on trec7-adhoc" in notes
    summed = {row[0].text for row in unbalanced.table().rows if row[1].text == "all of these"}
    assert summed == {"bm25", "mono"}


def test_of_five_collections_picture_sentence_and_table_agree(five: ir_std.Comparison) -> None:
    across = AcrossCollections(five)
    pooled = {s: five.pooled(s, sAP) for s in ("bm25", "mono")}
    best = max(pooled, key=lambda s: pooled[s].mean)  # type: ignore[union-attr]
    mean = pooled[best]
    assert mean
    low, high = mean.interval
    assert across.words(sAP)[1] == (
        f"{best} has the highest mean sAP over the 5 collections: {mean.mean:.3f} (95% interval "
        f"{low:.3f} to {high:.3f})."
    )
    (drawn,) = [
        row
        for row in across.data["measures"][0]["rows"]
        if row["kind"] == "summary" and row["system"] == best
    ]
    assert (drawn["mean"], drawn["low"], drawn["high"]) == (mean.mean, low, high)
    table = [r for r in five.table().rows if [r[0].text, r[1].text] == [best, "all of these"]]
    assert table[0][4].value == pytest.approx(mean.mean)


def test_a_collection_without_factors_does_not_count(five: ir_std.Comparison) -> None:
    qrels = {f"own{i}": {"d": 1} for i in range(10)}
    more = ir_std.compare(
        [(s, {t: {"d": 1.0} for t in qrels}, qrels) for s in ("bm25", "mono")], AP
    )
    six = replace(five, parts=(*five.parts, *more.parts))
    (headline,) = [t for t in AcrossCollections(six).words(sAP) if "highest mean" in t]
    assert "over the 5 collections where all systems have one: " in headline


def test_a_collection_where_no_difference_is_known_is_named(five: ir_std.Comparison) -> None:
    qrels = {f"own{i}": {"d": 1} for i in range(10)}
    more = ir_std.compare(
        [(s, {t: {"d": 1.0} for t in qrels}, qrels) for s in ("bm25", "mono")], AP
    )
    six = replace(five, parts=(*five.parts, *more.parts)).tested("bm25")
    (name,) = more.collections
    across = AcrossCollections(six)
    assert across.words(sAP)[-1] == f"There is no sAP on {name}: left out."
    assert f"There is no AP on {name}: left out." not in across.words(AP)


def test_of_five_unbalanced_collections_the_mean_is_over_those_of_all(
    five: ir_std.Comparison,
) -> None:
    unbalanced = only(five, ("bm25", SETS), ("mono", SETS[:4]))
    pooled = unbalanced.pooled("bm25", sAP)
    assert pooled
    means = [unbalanced.part("bm25", name).estimate(sAP).mean for name in SETS[:4]]
    assert pooled.mean == pytest.approx(np.mean(means))
    across = AcrossCollections(unbalanced)
    said = across.words(sAP)
    assert sum(text.startswith("On ") for text in said) == 4
    assert "mono has no run on trec8-adhoc: left out there." in said
    assert kinds(across) == {"collection"}


def test_of_few_collections_differences_are_told_one_by_one(five: ir_std.Comparison) -> None:
    few = only(five, ("bm25", SETS[:3]), ("mono", SETS[:3])).tested("bm25")
    across = AcrossCollections(few)
    said = across.words(sAP)
    for effect, text in zip(few.effects("bm25").of(sAP).effects, said, strict=False):
        low, high = effect.difference.interval
        assert text.startswith(
            f"On {effect.collection} by sAP, against bm25: mono {effect.difference.mean:+.3f} (95% "
            f"interval {low:+.3f} to {high:+.3f}, p "
        )
    assert said[-1] == "3 collections are few: their summary stands in the table alone."
    assert kinds(across) == {"collection"}
    table = few.effects("bm25").table()
    assert "summary" in {row[1].text for row in table.rows}
    assert any("3 collections are few" in note for note in table.notes)


def test_of_five_collections_differences_have_a_summary(five: ir_std.Comparison) -> None:
    across = AcrossCollections(replace(five, random_effects="reml").tested("bm25"))
    assert across.effects
    summary = across.effects.of(sAP).summary()
    assert summary
    (text,) = across.words(sAP)
    assert f"In summary the difference is {summary.effect:+.3f} (95% interval" in text
    rows = next(m for m in across.data["measures"] if m["name"] == "sAP")["rows"]
    assert [rows[5][key] for key in ("mean", "low", "high")] == [
        summary.effect,
        summary.low,
        summary.high,
    ]
    assert [r["weight"] for r in rows[:5]] == pytest.approx(summary.weights)
    assert [rows[6]["low"], rows[6]["high"]] == list(summary.predicted)


def test_what_is_drawn_is_cut_to_what_scores_can_be(five: ir_std.Comparison) -> None:
    def limits(across: AcrossCollections) -> dict[str, object]:
        return {m["name"]: m["limits"] for m in across.data["measures"]}

    assert limits(AcrossCollections(five)) == {"sAP": (0.0, 1.0)}
    assert limits(AcrossCollections(five.tested("bm25"))) == {"AP": (-1.0, 1.0), "sAP": (-1.0, 1.0)}
