"""A run under several judgments of the same topics: no collections of their own, but pairs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import hypot
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import ttest_rel

import ir_std
from ir_std import nDCG, snDCG
from ir_std.errors import UsageError
from ir_std.reporting.agreement import judgment_agreements
from ir_std.reporting.result_tables import judgment_differences
from ir_std.scores.tables import ALL_COLLECTIONS

PEOPLE, MODEL = "dl19-passage.txt", "judges/dl19-passage.umbrela-gpt4.txt"


@pytest.fixture(scope="module")
def runs(runs_of: Callable[[str], Path]) -> dict[str, Path]:
    return {name: runs_of("dl19-passage") / name for name in ("bm25base_p", "p_bert")}


@pytest.fixture(scope="module")
def comparison(data: Path, runs: dict[str, Path]) -> ir_std.Results:
    return ir_std.compare(
        [(n, r, data / "qrels" / file) for file in (PEOPLE, MODEL) for n, r in runs.items()],
        "nDCG@10",
    )


def test_labels_of_the_same_topics_are_not_pooled_as_collections(
    comparison: ir_std.Results,
) -> None:
    assert any("one collection judged twice" in text for text in comparison.notes)
    assert comparison.estimate("p_bert", snDCG @ 10).n == 0
    table = comparison.table()
    assert ALL_COLLECTIONS not in {row[1].text for row in table.rows}
    assert "the same topics under different judgments" in table.notes[0]
    assert not any("different collections" in text for text in table.notes)


def test_the_difference_is_paired_by_topic(comparison: ir_std.Results) -> None:
    found = {(one.a, one.measure): one for one in judgment_differences(comparison)}
    assert len(found) == 4
    raw = found["bm25base_p", nDCG @ 10]
    x, y = (
        dict(zip(one.topics, one.values["bm25base_p"]["nDCG@10"], strict=True))
        for one in map(comparison.on, ("dl19-passage", "dl19-passage-umbrela"))
    )
    test = ttest_rel([y[t] for t in x], list(x.values()))
    assert raw.estimate.mean == pytest.approx(np.mean([y[t] - x[t] for t in x]))
    assert raw.estimate.interval == pytest.approx(test.confidence_interval(0.95))
    assert raw.estimate.interval[0] > 0


def test_the_same_systems_standardize_both_and_are_drawn_once(
    comparison: ir_std.Results,
) -> None:
    found = {(one.a, one.measure): one for one in judgment_differences(comparison)}
    for system in comparison.runs:
        difference = found[system, snDCG @ 10].estimate
        alone = [
            comparison.estimate(system, snDCG @ 10, c).systems_error for c in comparison.collections
        ]
        assert 0 < difference.systems_error < hypot(*alone)
        low, high = difference.interval
        assert low < 0 < high


def test_differences_from_a_baseline_are_not_summarized_over_labels(
    comparison: ir_std.Results,
) -> None:
    table = replace(comparison, baseline="bm25base_p").table()
    assert [text for text in table.notes if "judged twice" in text]
    assert not any("collections are too few" in text for text in table.notes)
    assert len(table.rows) == 2


def test_labels_need_no_link(data: Path, runs: dict[str, Path]) -> None:
    entries = [(n, r, data / "qrels" / file) for file in (PEOPLE, MODEL) for n, r in runs.items()]
    with pytest.raises(UsageError, match="need no link, because they have the same topics"):
        ir_std.compare(entries, "nDCG@10", anchors=["p_bert"])


def test_compare_and_report_show_the_pairs(
    data: Path, runs: dict[str, Path], ir_std_cli: Any, tmp_path: Path
) -> None:
    entries = [f"bm25={runs['bm25base_p']}:{data / 'qrels' / file}" for file in (PEOPLE, MODEL)]
    done = ir_std_cli("compare", *entries, "nDCG@10", "--verbose")
    assert any("minus those of" in line for line in done.out)
    assert any("are one collection judged twice" in line for line in done.err)
    one_table = ir_std_cli("compare", *entries, "nDCG@10", "-o", "csv").out
    assert len({line.count(",") for line in one_table}) == 1
    assert not any("minus those of" in line for line in one_table)
    bert = [f"bert={runs['p_bert']}:{data / 'qrels' / file}" for file in (PEOPLE, MODEL)]
    against = ir_std_cli("compare", *entries, *bert, "nDCG@10", "--baseline", "bm25")
    assert against.status == 0
    assert not any("minus those of" in line for line in against.out)
    page = tmp_path / "page.html"
    assert ir_std_cli("report", *entries, "nDCG@10", "-o", page).status == 0
    text = page.read_text(encoding="utf-8")
    assert "minus those of" in text
    assert "2 judgments of the same topics" in text
    assert "kappa, quadratic weights" in text


def test_the_agreement_of_the_judgments_is_that_of_the_call(
    comparison: ir_std.Results, data: Path, runs: dict[str, Path]
) -> None:
    (found,) = judgment_agreements(comparison)
    called = ir_std.agreement(data / "qrels" / PEOPLE, data / "qrels" / MODEL, runs, "nDCG@10")
    assert found.kappa() == called.kappa()
    assert found.systems == called.systems
    assert found.order == called.order
