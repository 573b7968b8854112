"""Systems over several collections."""

import csv
import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pytest
from ir_measures import AP
from made_up import entries_on, qrels_like
from scipy import stats

import ir_std
import ir_std.trec.inputs
from ir_std.analysis.influence import covariance_by_design, design_effect, influence
from ir_std.cli.inputs import Entry, SourceCache, is_entry, named_entries
from ir_std.errors import UsageError
from ir_std.factors.estimates import scores_by_system
from ir_std.reporting.compare import join_results
from ir_std.reporting.result_tables import means_table
from ir_std.testing import simulated_qrels, simulated_run
from ir_std.trec.inputs import as_qrels

SETS = ("trec7-adhoc", "trec8-adhoc", "trec6-adhoc")


@pytest.fixture(scope="module")
def compared() -> ir_std.Results:
    """Compare a simulated system across three collections."""
    return ir_std.compare(entries_on(SETS, "x", 1000), AP)


def test_each_system_and_collection_has_a_row_and_a_system_over_several_one_more(
    compared: ir_std.Results,
) -> None:
    rows = [[cell.text for cell in row[:3]] for row in compared.table().rows]
    assert rows == [
        *(["x", f"trec{n}-adhoc", "50"] for n in (7, 8, 6)),
        ["x", "all of these", "150"],
    ]


def test_means_are_over_the_collections_that_all_systems_have(compared: ir_std.Results) -> None:
    more = ir_std.compare(entries_on(["trec8-adhoc"], "y"), AP)
    both = {name: compared.on(name) for name in compared.collections}
    scored = {**compared.evaluations["trec8-adhoc"], **more.evaluations["trec8-adhoc"]}
    both["trec8-adhoc"] = replace(both["trec8-adhoc"], evaluations={"trec8-adhoc": scored})
    table = join_results(both, {}).table()
    assert [[cell.text for cell in row[:3]] for row in table.rows] == [
        *(["x", f"trec{n}-adhoc", "50"] for n in (7, 8, 6)),
        ["y", "trec8-adhoc", "50"],
    ]
    lacking = (
        "There is no mean over collections, because such a mean needs 3 collections that all runs "
        "have."
    )
    assert lacking in table.notes
    assert "y has no run on trec7-adhoc, trec6-adhoc." in table.notes


def test_means_are_those_of_each_collection_by_itself(compared: ir_std.Results) -> None:
    t7 = qrels_like("trec7-adhoc")
    expected = ir_std.calc_aggregate([AP], t7, simulated_run(t7, 0))
    rows = list(csv.DictReader(io.StringIO(compared.table().csv())))
    assert float(rows[0]["AP"]) == pytest.approx(expected[AP])
    assert float(rows[0]["sAP"]) == pytest.approx(expected[ir_std.sAP])


def test_counts_are_summed_as_ir_measures_sums_them() -> None:
    qrels = qrels_like("trec8-adhoc")
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
    assert pooled[3].text == "-"
    assert "Raw means (AP) of different collections cannot be compared" in compared.table().text()


def test_where_only_standardized_means_are_shown_no_raw_measure_is_named() -> None:
    found = ir_std.compare(entries_on(["trec8-adhoc"], "x"), ir_std.sAP)
    assert "Raw means of different collections" in means_table(found).text()


def test_pooled_means_count_each_collection_the_same() -> None:
    (_, run, t7), *others = entries_on(SETS, "x")
    with pytest.warns(ir_std.StandardizationWarning, match="belong to"):
        found = ir_std.compare([("x", run, dict(list(t7.items())[:30])), *others], AP)
    parts = [found.on(name).values["x"]["sAP"] for name in found.collections]
    pooled = found.estimate("x", "sAP")
    assert pooled.mean == pytest.approx(np.mean([values.mean() for values in parts]))
    assert pooled.topics_error == pytest.approx(
        np.sqrt(sum(stats.sem(values) ** 2 for values in parts)) / 3
    )
    assert pooled.n == 130


def test_topics_are_those_of_the_means_not_of_the_qrels() -> None:
    qrels = qrels_like("trec8-adhoc")
    qrels["999"] = {"d1": 1}
    with pytest.warns(ir_std.StandardizationWarning, match="999"):
        found = ir_std.compare([("x", simulated_run(qrels, 1), as_qrels(qrels))], AP)
    row = means_table(found).rows[0]
    assert row[2].text == "50 to 51"
    assert row[4].extra["n"] == 50
    assert any("999" in text for text in found.warnings)


def test_collections_that_share_topics_are_not_pooled_and_reported() -> None:
    found = ir_std.compare(entries_on(["trec8-adhoc", "robust04"], "x"), AP)
    assert [row[1].text for row in found.table().rows] == ["trec8-adhoc", "robust04"]
    said = "trec8-adhoc and robust04 share 50 topics, which would count twice, so they are not"
    assert f"{said} pooled" in found.notes


def graded(name: str) -> dict[str, dict[str, int]]:
    """Simulate qrels with a set's number of documents at each level."""
    judged = ir_std.load_factors(name).judgments
    return simulated_qrels({topic: known.levels for topic, known in judged.items()})


def test_the_way_the_systems_part_was_found_is_named(compared: ir_std.Results) -> None:
    text = " ".join(compared.table().text().split())
    assert "reference systems (by system, with the variance multiplied by a design effect" in text
    web = graded("trec9-web")
    other = means_table(ir_std.compare([("x", simulated_run(web, 1, 20), web)], AP)).text()
    assert "reference systems (by normal theory" in " ".join(other.split())


def test_without_measures_those_that_all_collections_have_are_reported() -> None:
    found = ir_std.compare(entries_on(SETS[:2], "x", 10))
    assert ir_std.sAP in found.measures
    for name in found.collections:
        for measure in found.measures:
            assert not np.isnan(found.on(name).values["x"][measure]).all()


def test_two_parts_of_one_collection_are_distinguished() -> None:
    qrels = graded("dl20-passage")
    parts = ({t: qrels[t] for t in list(qrels)[i::3]} for i in range(3))
    run = {t: {d: float(-i) for i, d in enumerate(list(docs)[:9])} for t, docs in qrels.items()}
    found = ir_std.compare([("x", run, ir_std.trec.inputs.as_qrels(part)) for part in parts], "AP")
    assert list(found.collections) == [
        "dl20-passage (qrels)",
        "dl20-passage (qrels) 2",
        "dl20-passage (qrels) 3",
    ]
    assert found.table().rows[3][2].text == "54"


ENTRY = ("x", {"1": {"d": 1.0}}, {"1": {"d": 1}})


@pytest.mark.parametrize(
    ("entries", "measures", "message"),
    [
        ([], None, "NAME=RUN:QRELS"),
        ([ENTRY], None, "name measures"),
        (entries_on(["trec8-adhoc"], "xx", 10), AP, "two runs on trec8-adhoc are named x"),
        *(
            (entries, None, r"a list of \(name, run, qrels\)")
            for entries in ({"x": ("run", "qrels")}, [("x", "run")], ["abc"])
        ),
    ],
)
def test_entries_that_cannot_be_compared_are_refused(
    entries: Any, measures: Any, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        ir_std.compare(entries, measures)


def test_entries_have_a_name_and_files_may_have_colons(tmp_path: Path) -> None:
    run = tmp_path / "a:b.run"
    run.write_text("")
    assert named_entries(f"x={run}:q.txt", SourceCache()) == [Entry("x", str(run), "q.txt")]
    assert named_entries("x=none:a:b", SourceCache()) == [Entry("x", "none", "a:b")]
    assert is_entry("bm25=a.run:b.qrels")
    assert not is_entry("P(rel=2)@10")


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
    text: str, message: str, ir_std_cli: Any
) -> None:
    done = ir_std_cli("compare", text)
    said = f"ir_std: error: {message}; write NAME=RUN:QRELS, or NAME=SCORES"
    assert (done.status, done.err) == (2, [said])


def test_an_existing_entry_that_cannot_be_read_is_reported_with_the_reason(
    tmp_path: Path, ir_std_cli: Any
) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    done = ir_std_cli("compare", f"x={tmp_path / 'link'}", "AP")
    assert done.status == 2
    assert "link: No such file or directory; name a readable file" in done.err[-1]


def test_real_systems_over_real_collections(data: Path, runs_of: Any, ir_std_cli: Any) -> None:
    entries = [
        f"{name}={runs_of(of) / run}:{data / 'qrels' / of}.txt"
        for name, of, run in (
            ("bm25", "dl19-passage", "bm25base_p"),
            ("flab", "trec8-adhoc", "Flab8atdn"),
        )
    ]
    done = ir_std_cli("compare", *entries, "AP", "-o", "csv")
    assert done.status == 0
    rows = {row["system"]: row for row in csv.DictReader(done.out)}
    # By raw AP, the older system is worse; relative to its own peers, it is much better.
    assert float(rows["bm25"]["AP"]) > float(rows["flab"]["AP"])
    assert float(rows["bm25"]["sAP high"]) < float(rows["flab"]["sAP low"])
