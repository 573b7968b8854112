"""Systems over several collections."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pytest
from ir_measures import AP
from scipy import stats

import ir_std
import ir_std.trec.inputs
from ir_std.analysis.estimate import NO_ESTIMATE
from ir_std.analysis.influence import covariance_by_design, design_effect, influence
from ir_std.cli import main
from ir_std.cli.inputs import Entry, SourceCache, is_entry, named_entries
from ir_std.errors import UsageError
from ir_std.factors.estimates import scores_by_system
from ir_std.reporting.compare import join_results
from ir_std.reporting.result_tables import means_table
from ir_std.reporting.tables import estimate_cell
from ir_std.testing import simulated_qrels, simulated_run
from ir_std.trec.inputs import as_qrels


@pytest.fixture(scope="module")
def compared() -> ir_std.Results:
    """Compare a simulated system across three collections."""
    judged = {n: simulated_qrels(ir_std.load_factors(f"trec{n}-adhoc").n_rel) for n in (7, 8, 6)}
    return ir_std.compare(
        [("x", simulated_run(qrels, n), qrels) for n, qrels in judged.items()], AP
    )


def test_each_system_and_collection_has_a_row_and_a_system_over_several_one_more(
    compared: ir_std.Results,
) -> None:
    rows = [[cell.text for cell in row[:3]] for row in compared.table().rows]
    assert rows == [
        *(["x", f"trec{n}-adhoc", "50"] for n in (7, 8, 6)),
        ["x", "all of these", "150"],
    ]


def test_means_are_over_the_collections_that_all_systems_have(
    compared: ir_std.Results,
) -> None:
    t8 = simulated_qrels(ir_std.load_factors("trec8-adhoc").n_rel)
    more = ir_std.compare([("y", simulated_run(t8, 3), t8)], AP)
    both = {name: compared.on(name) for name in compared.collections}
    scored = {**compared.evaluations["trec8-adhoc"], **more.evaluations["trec8-adhoc"]}
    both["trec8-adhoc"] = replace(both["trec8-adhoc"], evaluations={"trec8-adhoc": scored})
    table = join_results(both, {}).table()
    assert [[cell.text for cell in row[:3]] for row in table.rows] == [
        *(["x", f"trec{n}-adhoc", "50"] for n in (7, 8, 6)),
        ["y", "trec8-adhoc", "50"],
    ]
    lacking = (
        "There is no mean over collections, because it needs 3 collections that all runs have."
    )
    assert lacking in table.notes
    assert "y has no run on trec7-adhoc, trec6-adhoc." in table.notes


def test_means_are_those_of_each_collection_by_itself(compared: ir_std.Results) -> None:
    t7 = simulated_qrels(ir_std.load_factors("trec7-adhoc").n_rel)
    expected = ir_std.calc_aggregate([AP], t7, simulated_run(t7, 7))
    rows = list(csv.DictReader(io.StringIO(compared.table().csv())))
    assert float(rows[0]["AP"]) == pytest.approx(expected[AP])
    assert float(rows[0]["sAP"]) == pytest.approx(expected[ir_std.sAP])


def test_counts_are_summed_as_ir_measures_sums_them() -> None:
    qrels = simulated_qrels(ir_std.load_factors("trec8-adhoc").n_rel)
    run = simulated_run(qrels, 1, 30)
    row = means_table(ir_std.compare([("x", run, qrels)], "NumRet")).rows[0]
    assert (
        row[3].value
        == ir_measures.calc_aggregate([ir_measures.NumRet], qrels, run)[ir_measures.NumRet]
    )


def test_standardized_means_have_intervals_over_topics_and_over_systems(
    compared: ir_std.Results,
) -> None:
    values = compared.on("trec7-adhoc").values["x"]["sAP"]
    low, high = stats.t.interval(0.95, 49, values.mean(), stats.sem(values))
    cell = compared.table().rows[0][4]
    assert cell.extra["topics"] == pytest.approx((high - low) / 2)
    scores = scores_by_system(ir_std.load_factors("trec7-adhoc"), "AP")[1]
    systems, df = covariance_by_design(
        influence(compared.on("trec7-adhoc").values["x"]["AP"][:, None], scores, resolution=0.0001),
        design_effect(scores),
    )
    assert cell.extra["systems"] == pytest.approx(stats.t.ppf(0.975, df) * np.sqrt(systems[0, 0]))
    assert cell.extra["high"] - values.mean() == pytest.approx(
        np.hypot(cell.extra["topics"], cell.extra["systems"])
    )
    assert cell.text.endswith(f"±{cell.extra['topics']:.4f} ±{cell.extra['systems']:.4f}")


def test_raw_means_are_not_pooled_and_reported_as_incomparable(compared: ir_std.Results) -> None:
    pooled = compared.table().rows[3]
    assert np.isnan(float(pooled[3].value))
    assert "Raw means (AP) of different collections cannot be compared" in compared.table().text()


def test_where_only_standardized_means_are_shown_no_raw_measure_is_named() -> None:
    qrels = simulated_qrels(ir_std.load_factors("trec8-adhoc").n_rel)
    text = means_table(
        ir_std.compare([("x", simulated_run(qrels, 1, 10), qrels)], ir_std.sAP)
    ).text()
    assert "Raw means of different collections" in text


def test_pooled_means_count_each_collection_the_same() -> None:
    judged = {n: simulated_qrels(ir_std.load_factors(f"trec{n}-adhoc").n_rel) for n in (7, 8, 6)}
    judged[7] = dict(list(judged[7].items())[:30])
    with pytest.warns(ir_std.StandardizationWarning, match="belong to"):
        found = ir_std.compare(
            [("x", simulated_run(qrels, n), as_qrels(qrels)) for n, qrels in judged.items()], AP
        )
    parts = [found.on(name).values["x"]["sAP"] for name in found.collections]
    pooled = found.estimate("x", "sAP")
    assert pooled.mean == pytest.approx(np.mean([values.mean() for values in parts]))
    assert pooled.topics_error == pytest.approx(
        np.sqrt(sum(stats.sem(values) ** 2 for values in parts)) / 3
    )
    assert pooled.n == 130


def test_topics_are_those_of_the_means_not_of_the_qrels() -> None:
    qrels = simulated_qrels(ir_std.load_factors("trec8-adhoc").n_rel)
    qrels["999"] = {"d1": 1}
    with pytest.warns(ir_std.StandardizationWarning, match="999"):
        found = ir_std.compare([("x", simulated_run(qrels, 1), as_qrels(qrels))], AP)
    row = means_table(found).rows[0]
    assert row[2].text == "50 to 51"
    assert row[4].extra["n"] == 50
    assert any("999" in text for text in found.warnings)


def test_collections_that_share_topics_are_not_pooled_and_reported() -> None:
    t8 = simulated_qrels(ir_std.load_factors("trec8-adhoc").n_rel)
    robust = simulated_qrels(ir_std.load_factors("robust04").n_rel)
    found = ir_std.compare(
        [("x", simulated_run(t8, 1), t8), ("x", simulated_run(robust, 2), robust)], AP
    )
    assert [row[1].text for row in found.table().rows] == ["trec8-adhoc", "robust04"]
    assert (
        "trec8-adhoc and robust04 share 50 topics and would count twice, so they are not pooled"
        in found.notes
    )


def qrels_like(name: str) -> dict[str, dict[str, int]]:
    """Make qrels with a set's number of documents at each level."""
    judged = ir_std.load_factors(name).judgments
    return simulated_qrels({topic: known.levels for topic, known in judged.items()})


def test_the_way_the_systems_part_was_found_is_named(compared: ir_std.Results) -> None:
    text = " ".join(compared.table().text().split())
    assert "reference systems, by system, times a design effect" in text
    web = qrels_like("trec9-web")
    other = means_table(ir_std.compare([("x", simulated_run(web, 1, 20), web)], AP)).text()
    assert "reference systems, by normal theory" in " ".join(other.split())


def test_without_measures_those_that_all_collections_have_are_reported() -> None:
    t7, t8 = (simulated_qrels(ir_std.load_factors(f"trec{n}-adhoc").n_rel) for n in (7, 8))
    found = ir_std.compare(
        [("x", simulated_run(t7, 1, 10), t7), ("x", simulated_run(t8, 2, 10), t8)]
    )
    assert ir_std.sAP in found.measures
    for name in found.collections:
        for measure in found.measures:
            assert not np.isnan(found.on(name).values["x"][measure]).all()


def test_two_parts_of_one_collection_are_distinguished() -> None:
    known = ir_std.load_factors("dl20-passage").judgments
    qrels = simulated_qrels({topic: judged.levels for topic, judged in known.items()})
    parts = ({t: qrels[t] for t in list(qrels)[i::3]} for i in range(3))
    run = {t: {d: float(-i) for i, d in enumerate(list(docs)[:9])} for t, docs in qrels.items()}
    found = ir_std.compare([("x", run, ir_std.trec.inputs.as_qrels(part)) for part in parts], "AP")
    assert list(found.collections) == [
        "dl20-passage (qrels)",
        "dl20-passage (qrels) 2",
        "dl20-passage (qrels) 3",
    ]
    assert found.table().rows[3][2].text == "54"


def test_nothing_to_compare_is_an_error() -> None:
    with pytest.raises(UsageError, match="NAME=RUN:QRELS"):
        ir_std.compare([])


@pytest.mark.parametrize("entries", [{"x": ("run", "qrels")}, [("x", "run")], ["abc"]])
def test_an_invalid_entry_is_refused_with_the_syntax_of_entries(entries: Any) -> None:
    with pytest.raises(UsageError, match=r"a list of \(name, run, qrels\)"):
        ir_std.compare(entries)


def test_two_runs_of_a_system_on_a_collection_are_an_error() -> None:
    t8 = simulated_qrels(ir_std.load_factors("trec8-adhoc").n_rel)
    entries = [("x", simulated_run(t8, seed, 10), t8) for seed in (1, 2)]
    with pytest.raises(UsageError, match="two runs on trec8-adhoc are named x"):
        ir_std.compare(entries, AP)


def test_where_there_is_no_mean_there_are_no_halves_of_intervals() -> None:
    assert estimate_cell(NO_ESTIMATE, standardized=True).text == "-"


def test_collections_without_a_common_measure_are_an_error() -> None:
    with pytest.raises(UsageError, match="name measures"):
        ir_std.compare([("x", {"1": {"d": 1.0}}, {"1": {"d": 1}})])


def test_entries_are_distinguished_from_measures() -> None:
    assert is_entry("bm25=a.run:b.qrels")
    assert not is_entry("P(rel=2)@10")


def test_files_may_have_colons(tmp_path: Path) -> None:
    run = tmp_path / "a:b.run"
    run.write_text("")
    assert named_entries(f"x={run}:q.txt", SourceCache()) == [Entry("x", str(run), "q.txt")]
    assert named_entries("x=none:a:b", SourceCache()) == [Entry("x", "none", "a:b")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x=", "cannot read 'x='"),
        ("=run:qrels", "cannot read '=run:qrels'"),
        ("x=run:", "run:: no such file"),
        ("x=:qrels", ":qrels: no such file"),
    ],
)
def test_an_entry_that_lacks_a_part_is_one_line_of_error(
    text: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", text]) == 2
    assert capsys.readouterr().err == (
        f"ir_std: error: {message}; write NAME=RUN:QRELS, or NAME=SCORES\n"
    )


def test_an_existing_entry_that_cannot_be_read_is_reported_with_the_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    assert main(["compare", f"x={tmp_path / 'link'}", "AP"]) == 2
    assert "link: No such file or directory; name a readable file" in capsys.readouterr().err


def test_real_systems_over_real_collections(
    data: Path, runs_of: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    qrels = data / "qrels"
    assert (
        main(
            [
                "compare",
                f"bm25={runs_of('dl19-passage') / 'bm25base_p'}:{qrels / 'dl19-passage.txt'}",
                f"flab={runs_of('trec8-adhoc') / 'Flab8atdn'}:{qrels / 'trec8-adhoc.txt'}",
                "AP",
                "-o",
                "csv",
            ]
        )
        == 0
    )
    rows = {row["system"]: row for row in csv.DictReader(io.StringIO(capsys.readouterr().out))}
    # By raw AP, the older system is behind; relative to its own peers, it is well ahead.
    assert float(rows["bm25"]["AP"]) > float(rows["flab"]["AP"])
    assert float(rows["bm25"]["sAP high"]) < float(rows["flab"]["sAP low"])
