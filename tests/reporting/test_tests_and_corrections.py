"""P-values in tables equal those of scipy and statsmodels, and the table names the test."""

import csv
import io
import json
import math
from dataclasses import replace
from typing import Any

import pytest
from ir_measures import AP, P
from made_up import qrels_like
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestPower
from statsmodels.stats.weightstats import ttost_paired

import ir_std
from ir_std import sAP
from ir_std.analysis.paired import Procedure
from ir_std.errors import UsageError
from ir_std.reporting.difference import Difference, run_differences
from ir_std.reporting.result_tables import means_table
from ir_std.reporting.tables import format_p
from ir_std.testing import simulated_run

RUNS = "abcde"
OTHERS = "abde"


@pytest.fixture(scope="module")
def collections() -> dict[str, Any]:
    """Simulate qrels with the counts of three collections, and runs on each."""
    made = {}
    for name, n in (("trec7-adhoc", 5), ("trec8-adhoc", 4), ("trec6-adhoc", 4)):
        qrels = qrels_like(name)
        made[name] = qrels, {run: simulated_run(qrels, i) for i, run in enumerate(RUNS[:n])}
    return made


def results(collections: dict[str, Any], **how: Any) -> ir_std.Results:
    qrels, runs = collections["trec7-adhoc"]
    return ir_std.evaluate(runs, qrels, [AP, P @ 10], baseline="c", **how)


def column(table: str, name: str, where: str = "run") -> dict[str, float]:
    return {row[where]: float(row[name]) for row in csv.DictReader(io.StringIO(table)) if row[name]}


@pytest.mark.parametrize("correction", ["holm", "bonferroni"])
@pytest.mark.parametrize("measure", [AP, sAP, P @ 10])
def test_p_values_are_scipys_and_their_corrections_statsmodels(
    collections: dict[str, Any], measure: Any, correction: str
) -> None:
    found = results(collections, correction=correction)
    p = [
        stats.ttest_rel(found.values[run][measure], found.values["c"][measure]).pvalue
        for run in OTHERS
    ]
    written = found.table().csv()
    assert column(written, f"{measure} p") == pytest.approx(dict(zip(OTHERS, p, strict=True)))
    assert column(written, f"{measure} p_{correction}") == pytest.approx(
        dict(zip(OTHERS, multipletests(p, method=correction)[1], strict=True))
    )


def test_without_correction_there_is_no_adjusted_column(collections: dict[str, Any]) -> None:
    found = results(collections, correction="none")
    header = found.table().csv().splitlines()[0]
    assert header.split(",")[:3] == ["run", "AP", "AP p"]
    assert "p_" not in header
    assert "not corrected for the 4 runs" in " ".join(found.table().text().split())


@pytest.mark.parametrize("correction", ["holm", "bonferroni", "none"])
@pytest.mark.parametrize("measure", [AP, sAP, P @ 10])
def test_what_a_test_would_have_found_is_statsmodels(
    collections: dict[str, Any], measure: Any, correction: str
) -> None:
    found = results(collections, correction=correction)
    by_run = {run: found.differences[run][measure] for run in OTHERS}
    n_unfound = sum(not d.significant for d in by_run.values())
    assert n_unfound
    for run, d in by_run.items():
        if d.significant:
            assert math.isnan(d.detectable)
            continue
        d_by_topic = found.values[run][measure] - found.values["c"][measure]
        divisor = {"holm": n_unfound, "bonferroni": len(by_run), "none": 1}[correction]
        size = TTestPower().solve_power(nobs=len(d_by_topic), alpha=0.05 / divisor, power=0.8)
        assert d.detectable == pytest.approx(size * d_by_topic.std(ddof=1), rel=1e-5)


def test_a_table_shows_which_differences_would_be_missed(collections: dict[str, Any]) -> None:
    found = results(collections)
    detectable = [d[AP].detectable for d in found.differences.values() if d[AP].detectable > 0]
    text = " ".join(found.table().text().split())
    assert (
        "Not significant does not mean equal. Differences below these sizes would be missed" in text
    )
    assert f"AP {min(detectable):.3f} to {max(detectable):.3f}; sAP" in text
    assert sorted(column(found.table().csv(), "AP detectable").values()) == sorted(detectable)


@pytest.mark.parametrize("measure", [AP, sAP])
def test_equivalence_is_statsmodels_two_one_sided_tests(
    collections: dict[str, Any], measure: Any
) -> None:
    bound = 0.04
    found = results(collections, equivalent=bound)
    scores = found.values
    p = [ttost_paired(scores[r][measure], scores["c"][measure], -bound, bound)[0] for r in OTHERS]
    adjusted = dict(zip(OTHERS, multipletests(p, method="holm")[1], strict=True))
    written = found.table().csv()
    assert column(written, f"{measure} p_equivalent") == pytest.approx(adjusted)
    for run in OTHERS:
        assert found.differences[run][measure].equivalent == (adjusted[run] < 0.05)


def test_runs_that_differ_by_less_than_the_bound_are_marked(collections: dict[str, Any]) -> None:
    found = results(collections, equivalent=0.2)
    cells = {row[0].text: row[1] for row in found.table().rows}
    alike = [run for run in OTHERS if not found.differences[run][AP].significant]
    assert alike
    assert all(cells[run].mark == "=" for run in alike)
    text = " ".join(found.table().text().split())
    assert (
        "= marks runs that differ from c by less than 0.2 (two one-sided t-tests over topics"
        in text
    )


def test_the_command_marks_equivalent_runs_and_json_has_their_p(ir_std_cli: Any) -> None:
    inputs = ("dl19-passage/idst_bert_p1", "dl19-passage/idst_bert_p2", "nDCG@10")
    more = ("--baseline", inputs[1], "--equivalent", "0.05")
    (line, *_) = ir_std_cli(*inputs, *more, "-o", "jsonl").out
    found = json.loads(line)
    assert found["p_equivalent"] < 0.05 < found["p"]
    assert found["detectable"] < 0.05
    assert "0.7645=*" in ir_std_cli(*inputs, *more, "-o", "table").out[2]


@pytest.mark.parametrize(
    ("how", "message"),
    [
        *(({"equivalent": x}, "expected a number above 0") for x in (0, -0.1, math.nan, math.inf)),
        ({"correction": "hlm"}, "choose from holm, bonferroni, none"),
    ],
)
def test_an_invalid_bound_or_correction_is_refused(
    collections: dict[str, Any], how: Any, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        results(collections, **how)


def test_runs_with_the_same_scores_have_no_detectable_difference() -> None:
    same = Difference.of("a", "b", "collection", AP, [0.0] * 10)
    assert math.isnan(same.detectable)
    assert math.isnan(Difference.of("a", "b", "collection", AP, [0.1, 0.0, 0.2]).detectable)


@pytest.fixture(scope="module")
def comparison(collections: dict[str, Any]) -> ir_std.Results:
    """Compare five systems on one collection, and four of these systems on the other."""
    judged = collections.values()
    entries = [(run, found, qrels) for qrels, runs in judged for run, found in runs.items()]
    return ir_std.compare(entries, AP, baseline="c")


def rows_of(results: ir_std.Results) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(results.table().csv())))


@pytest.mark.parametrize("collection", ["trec7-adhoc", "trec8-adhoc"])
@pytest.mark.parametrize("measure", ["AP", "sAP"])
def test_differences_are_corrected_for_the_runs_of_each_collection(
    comparison: ir_std.Results, collection: str, measure: str
) -> None:
    rows = [row for row in rows_of(comparison) if row["collection"] == collection]
    values = comparison.on(collection).values
    p = [
        stats.ttest_rel(values[row["system"]][measure], values["c"][measure]).pvalue for row in rows
    ]
    assert [float(row[f"{measure} p"]) for row in rows] == pytest.approx(p)
    assert [float(row[f"{measure} p holm"]) for row in rows] == pytest.approx(
        multipletests(p, method="holm")[1]
    )
    low_high = [(float(row[f"{measure} low"]), float(row[f"{measure} high"])) for row in rows]
    excluded = [low > 0 or high < 0 for low, high in low_high]
    if measure == "AP":  # The interval for AP is only over topics, like p.
        assert [value < 0.05 for value in p] == excluded
    for row, is_excluded in zip(rows, excluded, strict=True):
        pair = comparison.difference((row["system"], collection), ("c", collection), measure)
        assert (pair.estimate.p < 0.05) == is_excluded


def test_what_is_shown_of_differences_is_the_adjusted_p_value(comparison: ir_std.Results) -> None:
    found = replace(comparison, procedure=Procedure(correction="bonferroni"))
    for row in found.table().rows:
        cell = row[4]
        if cell.extra:
            assert cell.text == format_p(cell.extra["bonferroni"])
    text = " ".join(found.table().text().split())
    assert (
        "p is from a two-sided paired t-test over topics after Bonferroni's correction for 4 runs "
        "or after Bonferroni's correction for 3 runs, each collection and measure separately. The "
        "test treats the factors as fixed"
    ) in text


def test_summaries_are_corrected_for_the_number_of_runs(comparison: ir_std.Results) -> None:
    summaries = [by[sAP].summary() for by in run_differences(comparison).values()]
    p = [s.p for s in summaries if s]
    assert len(p) == 3
    rows = [r for r in rows_of(comparison) if r["collection"] == "summary" and r["sAP p"]]
    assert [float(row["sAP p"]) for row in rows] == pytest.approx(p)
    assert [float(row["sAP p holm"]) for row in rows] == pytest.approx(
        multipletests(p, method="holm")[1]
    )
    assert (
        "a normal interval; the p-value is given after Holm's correction for 3 runs."
        in " ".join(comparison.table().text().split())
    )


def test_one_run_needs_no_correction(comparison: ir_std.Results) -> None:
    of_two = {
        name: {run: one for run, one in scored.items() if run in "ac"}
        for name, scored in comparison.evaluations.items()
    }
    text = " ".join(replace(comparison, evaluations=of_two).table().text().split())
    assert "p is from a two-sided paired t-test over topics. The test treats the factors" in text


def test_all_decimals_can_be_had(comparison: ir_std.Results) -> None:
    (first, *_) = run_differences(comparison).values()
    assert f"{first[AP].differences[0].mean:+} [" in comparison.table(-1).text()
    mean = comparison.estimate("a", sAP, next(iter(comparison.collections))).mean
    assert f"{mean} ±" in means_table(comparison, -1).text()
