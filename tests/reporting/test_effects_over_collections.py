"""Systems against a baseline, over collections."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from ir_measures import AP
from ir_measures.measures import Measure
from scipy import stats

import ir_std
from ir_std.analysis.effects import random_effects
from ir_std.cli.main import main
from ir_std.errors import UsageError
from ir_std.reporting.effects import Effects
from ir_std.reporting.system_effects import Effect, SystemEffects
from ir_std.testing import simulated_qrels, simulated_run

SETS = ("trec6-adhoc", "trec7-adhoc", "trec8-adhoc")


def qrels_of(name: str) -> dict[str, dict[str, int]]:
    return simulated_qrels(ir_std.load_factors(name).n_rel)


@pytest.fixture(scope="module")
def compared() -> ir_std.Comparison:
    """Two simulated systems on three collections, a third on one of them."""
    qrels = {name: qrels_of(name) for name in SETS}
    return ir_std.compare(
        [
            *(("a", simulated_run(q, i, 200), q) for i, q in enumerate(qrels.values())),
            *(("b", simulated_run(q, i + 3, 200), q) for i, q in enumerate(qrels.values())),
            ("c", simulated_run(qrels[SETS[2]], 9, 200), qrels[SETS[2]]),
        ],
        AP,
    )


@pytest.fixture(scope="module")
def effects(compared: ir_std.Comparison) -> Effects:
    return compared.effects("a")


@pytest.mark.parametrize("measure", [AP, ir_std.sAP])
def test_differences_are_those_of_paired_topics(
    compared: ir_std.Comparison, effects: Effects, measure: Measure
) -> None:
    found = effects.of(measure, "b").effects[1]
    a, b = (
        next(p for p in compared.parts if (p.system, p.collection) == (name, SETS[1])).values(
            measure
        )
        for name in "ab"
    )
    expected = stats.ttest_rel(b, a)
    assert found.p == pytest.approx(expected.pvalue)
    assert found.difference.mean == pytest.approx((b - a).mean())
    assert found.difference.topics == pytest.approx(
        (expected.confidence_interval().high - expected.confidence_interval().low) / 2
    )


def test_only_standardized_differences_vary_with_the_systems_and_little(
    compared: ir_std.Comparison, effects: Effects
) -> None:
    assert {e.difference.systems for e in effects.of(AP, "b").effects} == {0}
    for effect, part in zip(effects.of("sAP", "b").effects, compared.parts, strict=False):
        assert 0 < effect.difference.systems < part.estimate(ir_std.sAP).systems


def test_the_summary_weighs_by_topics_and_systems(effects: Effects) -> None:
    across = effects.of("sAP", "b")
    errors = [
        np.hypot(e.difference.topics_error, e.difference.systems_error) for e in across.effects
    ]
    assert across.summary() == random_effects(
        [e.difference.mean for e in across.effects], np.square(errors), widen=True
    )
    assert across.summary(size=True) == random_effects(
        [e.size for e in across.effects], [e.size_error**2 for e in across.effects], widen=True
    )


@pytest.fixture(scope="module")
def by_reml(compared: ir_std.Comparison) -> ir_std.Comparison:
    """The same by restricted maximum likelihood."""
    return replace(compared, random_effects="reml")


def test_summaries_are_by_restricted_maximum_likelihood_where_that_is_asked_for(
    by_reml: ir_std.Comparison, effects: Effects
) -> None:
    found, usual = by_reml.effects("a"), effects
    summary = found.of(AP, "b").summary()
    points = found.of(AP, "b").points()
    expected = random_effects(
        [p[0] for p in points], [p[1] ** 2 for p in points], "reml", widen=True
    )
    assert summary == expected != usual.of(AP, "b").summary()
    rows = list(csv.DictReader(io.StringIO(found.table().csv())))
    assert float(rows[3]["AP low"]) == pytest.approx(expected.low)
    assert float(rows[3]["AP p"]) == pytest.approx(expected.p)
    assert float(rows[6]["AP tau2"]) == pytest.approx(expected.tau2)
    dersimonian = [rows_of(e)[5]["AP low"] for e in (found, usual)]
    assert dersimonian[0] == dersimonian[1]
    notes = [" ".join(e.table().notes) for e in (found, usual)]
    assert "random effects, REML's variance between collections" in notes[0]
    assert "random effects, Paule and Mandel's variance between collections" in notes[1]


def rows_of(effects: Effects) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(effects.table().csv())))


def test_an_unknown_summary_is_named_with_those_that_there_are() -> None:
    with pytest.raises(UsageError, match="unknown random effects 'dl': allowed are pm, reml"):
        ir_std.compare([("a", {"q": {"d": 1}}, {"q": {"d": 1}})], AP, random_effects="dl")


@pytest.mark.parametrize("command", ["compare", "report"])
def test_random_effects_are_of_differences_from_a_baseline(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "r").write_text("q Q0 d 1 1 x\n")
    (tmp_path / "q").write_text("q 0 d 1\n")
    entry = f"a={tmp_path / 'r'}:{tmp_path / 'q'}"
    assert main([command, entry, "AP", "--random-effects", "reml"]) == 2
    assert "--random-effects is of differences from a baseline" in capsys.readouterr().err


def test_random_effects_are_not_of_one_collection(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "r").write_text("q Q0 d 1 1 x\n")
    (tmp_path / "q").write_text("q 0 d 1\n")
    files = [str(tmp_path / name) for name in "rq"]
    asked = ["--baseline", "r", "--random-effects", "reml", "-o", str(tmp_path / "page.html")]
    assert main(["report", *files, "AP", *asked]) == 2
    assert "summary over several collections, this is one" in capsys.readouterr().err
    assert not (tmp_path / "page.html").exists()


def test_each_system_has_its_collections_and_then_its_summary(effects: Effects) -> None:
    rows = [(row[0].text, row[1].text) for row in effects.table().rows]
    assert rows == [
        *(("b", name) for name in SETS),
        ("b", "summary"),
        ("b", "one more collection"),
        ("b", "DerSimonian-Laird"),
        ("b", "variation"),
        ("c", SETS[2]),
    ]


def test_the_table_in_full_precision_holds_the_summary(effects: Effects) -> None:
    rows = list(csv.DictReader(io.StringIO(effects.table().csv())))
    summary = effects.of(AP, "b").summary()
    assert summary is not None
    assert float(rows[3]["AP"]) == pytest.approx(summary.effect)
    assert float(rows[3]["AP low"]) == pytest.approx(summary.low)
    assert float(rows[4]["AP high"]) == pytest.approx(summary.predicted[1])
    assert float(rows[6]["AP tau2"]) == pytest.approx(summary.tau2)


def test_few_collections_and_tuning_are_told(effects: Effects) -> None:
    text = " ".join(effects.table().text().split())
    assert "3 collections are few" in text
    assert "tuned on one of these collections" in text
    assert "c has no run on trec6-adhoc" in text


def test_collections_that_share_topics_have_no_summary_and_the_reason_is_given() -> None:
    qrels = [qrels_of(name) for name in ("trec8-adhoc", "robust04")]
    entries = [(name, simulated_run(q, i, 50), q) for i, name in enumerate("ab") for q in qrels]
    found = ir_std.compare(entries, AP).effects("a")
    assert found.of(AP).summary() is None
    assert "trec8-adhoc and robust04 share 50 topics" in found.of(AP).why_not()
    assert "share 50 topics" in " ".join(found.table().text().split())
    assert [row[1].text for row in found.table().rows] == ["trec8-adhoc", "robust04"]


def test_collections_that_share_documents_are_named() -> None:
    first, second = (
        {t: {f"FT{d}": 1 for d in range(5)} for t in topics} for topics in (("1", "2"), ("3", "4"))
    )
    run = {t: {"FT1": 1.0, f"FT{t}": 0.5} for t in "1234"}
    notes = ir_std.compare([("x", run, first), ("x", run, second)], AP).notes
    assert any("share documents, not topics" in text for text in notes)


def test_documents_with_plain_numbers_are_not_taken_for_the_same() -> None:
    first, second = (
        {t: {str(int(t) + d + shift): 1 for d in range(5)} for t in "12"} for shift in (0, 3)
    )
    run = {t: {str(d): 1.0 / d for d in range(1, 9)} for t in "12"}
    second["1"], second["2"] = {"90": 1}, {"1": 1}
    notes = ir_std.compare([("x", run, first), ("x", run, second)], AP).notes
    assert not any("share" in text for text in notes)


def test_a_collection_without_factors_counts_in_the_raw_summary_alone() -> None:
    random = np.random.default_rng(1)
    raw = [Effect.of(name, random.normal(0.1, 1, 20)) for name in "wxyz"]
    standardized = [*raw[:3], Effect.of("z", [])]
    across = SystemEffects("b", "a", ir_std.sAP, tuple(standardized))
    both = Effects("a", (AP, ir_std.sAP), (SystemEffects("b", "a", AP, tuple(raw)), across))
    assert across.summary() == SystemEffects("b", "a", ir_std.sAP, tuple(raw[:3])).summary()
    assert [row[6].text for row in both.table().rows][3] == "-"
    assert "3: Q" in both.table().text()


def test_intervals_are_not_narrower_than_normal_ones() -> None:
    d = np.random.default_rng(2).normal(0.1, 0.1, 20)
    across = SystemEffects(
        "b",
        "a",
        AP,
        tuple(Effect.of(c, f * d) for c, f in zip("xyz", (1, 1.01, 0.99), strict=True)),
    )
    summary, normal = across.summary(), across.summary(method="dl")
    assert summary
    assert normal
    assert summary.widened
    assert summary.high - summary.low > normal.high - normal.low
    text = " ".join(Effects("a", (AP,), (across,)).table().text().split())
    assert "but not narrower than the normal one" in text


def test_two_collections_have_no_summary() -> None:
    d = np.random.default_rng(2).normal(0.1, 0.1, 20)
    across = SystemEffects("b", "a", AP, (Effect.of("x", d), Effect.of("y", d + 0.1)))
    assert across.summary() is None
    assert "b has no summary by AP: a summary takes 3 collections." in (
        Effects("a", (AP,), (across,)).table().text()
    )


def test_systems_without_a_summary_for_the_same_reason_are_named_together() -> None:
    d = np.random.default_rng(2).normal(0.1, 0.1, 20)
    two = (Effect.of("x", d), Effect.of("y", d + 0.1))
    flat = (Effect.of("x", [0.1] * 5), Effect.of("y", d))
    measures = (AP, ir_std.sAP)
    systems = {"b": two, "c": two, "d": flat}
    by_system = [SystemEffects(s, "a", m, e) for s, e in systems.items() for m in measures]
    notes = Effects("a", measures, tuple(by_system)).table().notes
    assert [note for note in notes if "no summary" in note] == [
        "b, c have no summary by AP, sAP: a summary takes 3 collections.",
        "d has no summary by AP, sAP: differences have no spread on x.",
    ]


def test_differences_without_spread_have_no_summary_and_that_is_said() -> None:
    across = SystemEffects("b", "a", AP, (Effect.of("x", [0.1] * 5), Effect.of("y", [0.1, 0.2])))
    assert across.summary() is None
    table = Effects("a", (AP,), (across,)).table()
    assert len(table.rows) == 2
    assert "b has no summary by AP: differences have no spread on x." in table.text()


@pytest.mark.parametrize("flat", [[0.1] * 5, [0.3]])
def test_a_collection_without_spread_is_left_out_and_that_is_said(flat: list[float]) -> None:
    random = np.random.default_rng(1)
    others = [Effect.of(name, random.normal(0.1, 1, 20)) for name in "wxy"]
    across = SystemEffects("b", "a", AP, (others[0], Effect.of("flat", flat), *others[1:]))
    assert across.summary() == SystemEffects("b", "a", AP, tuple(others)).summary()
    assert across.left_out() == ("flat",)
    text = " ".join(Effects("a", (AP,), (across,)).table().text().split())
    assert "By AP the summary of b is without flat: the differences there have no spread." in text


def test_an_unknown_baseline_names_the_systems(compared: ir_std.Comparison) -> None:
    with pytest.raises(UsageError, match=r"'A', the baseline: there are a, b, c; did you mean 'a'"):
        compared.effects("A")


def test_a_baseline_alone_is_an_error() -> None:
    q = qrels_of("trec8-adhoc")
    with pytest.raises(UsageError, match="no system has a collection in common with x"):
        ir_std.compare([("x", simulated_run(q, 1, 10), q)], AP).effects("x")


def test_an_unknown_measure_or_system_names_the_known_ones(effects: Effects) -> None:
    with pytest.raises(UsageError, match="no effects of d by AP: there are b, c by AP, sAP"):
        effects.of("AP", "d")


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
    done = ir_std_cli(
        "compare",
        *entries,
        "AP",
        "--baseline",
        "bm25",
        "-o",
        "csv",
        "--plot",
        tmp_path / "forest.png",
    )
    assert done.status == 0
    rows = list(csv.DictReader(done.out))
    assert [row["collection"] for row in rows] == ["dl19-passage", "dl20-passage"]
    assert (tmp_path / "forest.png").stat().st_size > 1000
    assert any("share documents" in line for line in done.err)


def test_statistics_over_collections_need_no_further_library(
    effects: Effects, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("pandas", "statsmodels"):
        monkeypatch.setitem(sys.modules, name, None)
    assert effects.table().text()
