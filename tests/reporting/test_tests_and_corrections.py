"""P-values in tables are those that scipy and statsmodels give, and the table says which."""

from __future__ import annotations

import csv
import io
from typing import Any

import numpy as np
import pytest
from ir_measures import AP, P
from scipy import stats
from statsmodels.stats.multitest import multipletests

import ir_std
from ir_std import sAP
from ir_std.errors import UsageError
from ir_std.factors.catalog import load_factors
from ir_std.reporting.html.sentences import describe_results
from ir_std.testing import simulated_qrels, simulated_run

RUNS = "abcde"
OTHERS = "abde"


@pytest.fixture(scope="module")
def collections() -> dict[str, Any]:
    """Qrels with the counts of three collections, and simulated runs on each."""
    made = {}
    for name, names in (
        ("trec7-adhoc", RUNS),
        ("trec8-adhoc", RUNS[:4]),
        ("trec6-adhoc", RUNS[:4]),
    ):
        qrels = simulated_qrels(load_factors(name).n_rel)
        made[name] = qrels, {run: simulated_run(qrels, seed) for seed, run in enumerate(names)}
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
    written = found.to_csv()
    assert column(written, f"{measure} p") == pytest.approx(dict(zip(OTHERS, p, strict=True)))
    assert column(written, f"{measure} p_{correction}") == pytest.approx(
        dict(zip(OTHERS, multipletests(p, method=correction)[1], strict=True))
    )


def test_without_correction_there_is_no_adjusted_column(collections: dict[str, Any]) -> None:
    found = results(collections, correction="none")
    header = found.to_csv().splitlines()[0]
    assert header.split(",")[:3] == ["run", "AP", "AP p"]
    assert "p_" not in header
    assert "not corrected for the 4 runs" in " ".join(found.to_text().split())


def test_tukeys_p_value_has_a_name_of_its_own(collections: dict[str, Any]) -> None:
    found = results(collections, test="tukey")
    y = np.stack([found.values[run][sAP] for run in RUNS], axis=1)
    n, m = y.shape
    t = stats.ttest_rel(y, y[:, [2]]).statistic
    p = stats.studentized_range.sf(np.sqrt(2) * np.abs(t), m, n - 1)
    assert column(found.to_csv(), "sAP p_tukey") == pytest.approx(
        {run: p[RUNS.index(run)] for run in OTHERS}
    )
    assert "sAP p," not in found.to_csv()
    assert "for all 10 pairs of the 5 runs, each measure by itself" in " ".join(
        found.to_text().split()
    )


def test_the_report_tests_the_best_beside_all_runs_where_the_test_takes_all(
    collections: dict[str, Any],
) -> None:
    qrels, runs = collections["trec7-adhoc"]
    found = ir_std.evaluate(runs, qrels, AP, test="tukey")
    first, second = sorted(runs, key=lambda run: -found.means[run][AP])[:2]
    tested = ir_std.evaluate(runs, qrels, AP, baseline=second, test="tukey").tests[first][AP]
    shown = f"p = {tested.p:.3f}" if tested.p >= 0.001 else "p < 0.001"
    assert f"(Tukey HSD test, {shown})" in " ".join(describe_results(found, AP))


def test_a_test_that_corrects_by_itself_takes_no_correction(collections: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="give no correction with it"):
        results(collections, test="tukey", correction="holm")
    with pytest.raises(UsageError, match="allowed are holm, bonferroni, none"):
        results(collections, correction="hlm")


@pytest.fixture(scope="module")
def comparison(collections: dict[str, Any]) -> ir_std.Comparison:
    """The five systems on one collection, four of them on the other."""
    return ir_std.compare(
        [
            (run, found, qrels)
            for qrels, runs in collections.values()
            for run, found in runs.items()
        ],
        AP,
    )


@pytest.mark.slow
@pytest.mark.parametrize("collection", ["trec7-adhoc", "trec8-adhoc"])
def test_effects_are_corrected_for_the_systems_of_each_collection(
    comparison: ir_std.Comparison, collection: str
) -> None:
    rows = [
        row
        for row in csv.DictReader(io.StringIO(comparison.effects("c").table().csv()))
        if row["collection"] == collection
    ]
    parts = {p.system: p for p in comparison.parts if p.collection == collection}
    differences = [parts["c"].results.difference(row["system"], "c", sAP) for row in rows]
    p = [difference.p for difference in differences]
    assert [float(row["sAP p"]) for row in rows] == pytest.approx(p)
    assert [float(row["sAP p holm"]) for row in rows] == pytest.approx(
        multipletests(p, method="holm")[1]
    )
    # The interval excludes 0 where its p is below .05, and only there.
    low_high = [(float(row["sAP low"]), float(row["sAP high"])) for row in rows]
    assert [value < 0.05 for value in p] == [low > 0 or high < 0 for low, high in low_high]
    held = [
        stats.ttest_rel(parts[row["system"]].values(sAP), parts["c"].values(sAP)).pvalue
        for row in rows
    ]
    assert [float(row["sAP p factors held"]) for row in rows] == pytest.approx(held)
    assert [float(row["sAP p factors held adjusted"]) for row in rows] == pytest.approx(
        multipletests(held, method="holm")[1]
    )


def test_what_is_shown_of_effects_is_the_adjusted_p_value(comparison: ir_std.Comparison) -> None:
    effects = comparison.effects("c", correction="bonferroni")
    for row in effects.table().rows:
        cell = row[4]
        if cell.extra:
            shown = cell.extra["bonferroni"]
            assert cell.text == (f"{shown:.4f}" if shown >= 0.0001 else "<.0001")
    text = " ".join(effects.table().text().split())
    assert (
        "p: that of the interval after Bonferroni's correction for 4 runs or after Bonferroni's "
        "correction for 3 runs, each collection and measure by itself; in brackets two-sided "
        "paired t-test over topics after Bonferroni's correction for 4 runs or after "
        "Bonferroni's correction for 3 runs, factors held"
    ) in text


def test_summaries_are_corrected_for_the_number_of_systems(comparison: ir_std.Comparison) -> None:
    effects = comparison.effects("c", correction="holm")
    summaries = {
        a.system: s.p
        for a in effects.by_system
        if a.measure == sAP and (s := a.summary()) is not None
    }
    assert len(summaries) == 3
    written = [
        row
        for row in csv.DictReader(io.StringIO(effects.table().csv()))
        if row["collection"] == "summary" and row["sAP p"]
    ]
    assert [float(row["sAP p"]) for row in written] == pytest.approx(list(summaries.values()))
    assert [float(row["sAP p holm"]) for row in written] == pytest.approx(
        multipletests(list(summaries.values()), method="holm")[1]
    )
    assert "Laird's, p after Holm's correction for 3 runs." in " ".join(
        effects.table().text().split()
    )


def test_one_system_needs_no_correction(comparison: ir_std.Comparison) -> None:
    pair = ir_std.Comparison(
        tuple(p for p in comparison.parts if p.system in "ac"), comparison.measures
    )
    text = " ".join(pair.effects("c").table().text().split())
    assert (
        "p: that of the interval; in brackets two-sided paired t-test over topics, factors held."
        in (text)
    )


def test_all_decimals_can_be_had(comparison: ir_std.Comparison) -> None:
    found = comparison.effects("c").by_system[0].effects[0].difference.mean
    assert f"{found:+} [" in comparison.effects("c").table(-1).text()
    assert f"{comparison.parts[0].estimate(sAP).mean} ±" in comparison.table(-1).text()
