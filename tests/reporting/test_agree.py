"""Two judgments of the same topics: their agreement, and runs under both."""

import csv
from dataclasses import replace
from math import hypot
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import kendalltau, ttest_rel

import ir_std
from ir_std import nDCG, snDCG
from ir_std.errors import UsageError
from ir_std.reporting.agreement import judgment_agreements
from ir_std.reporting.result_tables import judgment_differences
from ir_std.scores.run_scores import ALL_COLLECTIONS

PEOPLE, MODEL = "dl19-passage.txt", "judges/dl19-passage.umbrela-gpt4.txt"
BY_SCIKIT_LEARN = {
    "none": 0.33848504825049996,
    "linear": 0.4716850017914913,
    "quadratic": 0.5807492345406264,
}
"""cohen_kappa_score of scikit-learn 1.9.1 on all 9,260 pairs of levels."""
AT_LEVEL = (0.5099315243389799, 0.512295348234677, 0.2414411795453325)

ONE = {"1": {"a": 2, "b": 0, "c": 1}, "2": {"d": 1, "e": -1}, "3": {"f": 1}}
OTHER = {"1": {"a": 2, "b": 1, "c": 1}, "2": {"d": 1, "e": 0, "x": 2}}


@pytest.fixture(scope="module")
def judged(data: Path) -> tuple[Path, Path]:
    """Return the files of the people's and of the model's judgments."""
    return data / "qrels" / PEOPLE, data / "qrels" / MODEL


@pytest.fixture(scope="module")
def runs(runs_of: Any) -> dict[str, Path]:
    return {name: runs_of("dl19-passage") / name for name in ("bm25base_p", "p_bert")}


@pytest.fixture(scope="module")
def entries(judged: tuple[Path, Path], runs: dict[str, Path]) -> list[tuple[str, Path, Path]]:
    return [(name, run, qrels) for qrels in judged for name, run in runs.items()]


@pytest.fixture(scope="module")
def of_judges(judged: tuple[Path, Path]) -> ir_std.JudgeAgreement:
    return ir_std.agreement(*judged)


def test_kappa_on_dl19_is_scikit_learns(of_judges: ir_std.JudgeAgreement) -> None:
    for weights, kappa in BY_SCIKIT_LEARN.items():
        assert of_judges.kappa(weights).value == pytest.approx(kappa, abs=1e-12)
    for level, kappa in enumerate(AT_LEVEL, 1):
        assert of_judges.kappa_at(level) == pytest.approx(kappa, abs=1e-12)
    by_topic = [row[4].value for row in of_judges.table("topics").rows]
    assert by_topic == sorted(by_topic)  # the topics with the lowest agreement come first
    assert len(by_topic) == 43


@pytest.mark.slow
def test_without_runs_the_systems_behind_both_sets_are_compared(
    of_judges: ir_std.JudgeAgreement,
) -> None:
    assert len(of_judges.systems) == 37
    tau = of_judges.order[nDCG @ 10].tau
    means = [x.mean(axis=0) for x in of_judges.scores[nDCG @ 10]]
    assert tau.value == pytest.approx(kendalltau(*means)[0])
    assert of_judges.order[snDCG @ 10].gap.value < of_judges.order[nDCG @ 10].gap.value / 2


def test_the_runs_scores_are_those_of_evaluate(
    of_judges: ir_std.JudgeAgreement, judged: tuple[Path, Path], runs: dict[str, Path]
) -> None:
    compared = ir_std.agreement(*judged, runs, "nDCG@10")
    assert compared.systems == ("bm25base_p", "p_bert")
    column = of_judges.systems.index("bm25base_p")
    for i, qrels in enumerate(judged):
        results = ir_std.evaluate(runs, qrels, "nDCG@10")
        for measure in (nDCG @ 10, snDCG @ 10):
            scores = compared.scores[measure][i][:, 0]
            assert scores.mean() == pytest.approx(results.means["bm25base_p"][measure])
            assert scores == pytest.approx(of_judges.scores[measure][i][:, column])
    difference = compared.difference("p_bert", "nDCG@10")
    assert difference.n == 43
    assert difference.mean == pytest.approx(
        np.subtract(*[x[:, 1].mean() for x in reversed(compared.scores[nDCG @ 10])])
    )


def test_only_what_both_judged_is_compared() -> None:
    compared = ir_std.agreement(ONE, OTHER)
    assert compared.topics == ("1", "2")
    assert compared.judged_once == (0, 1)
    assert compared.confusion.sum(axis=0).tolist() == [[1, 1, 0], [0, 2, 0], [0, 0, 1]]
    assert compared.systems == ()
    assert any("left out 1 topic that only first has" in text for text in compared.notes)
    assert set(compared.tables) == {"labels", "confusion", "topics"}


def test_a_level_that_one_never_gives_has_no_kappa() -> None:
    compared = ir_std.agreement({"1": {"a": 1, "b": 0}}, {"1": {"a": 3, "b": 0}})
    assert compared.kappa_at(1) == 1
    assert np.isnan(compared.kappa_at(2))
    assert any("the scales differ" in text for text in compared.notes)


def test_what_cannot_be_compared_or_shown_is_refused() -> None:
    for other in ({"9": {"a": 1}}, {"1": {"z": 1}}):
        with pytest.raises(UsageError, match=r"no topic has a document that both .* and .* judged"):
            ir_std.agreement(ONE, other)
    for table, message in (("means", "pass runs"), ("label", "did you mean 'labels'")):
        with pytest.raises(UsageError, match=message):
            ir_std.agreement(ONE, OTHER).table(table)


def test_the_command_line_prints_the_tables(judged: tuple[Path, Path], ir_std_cli: Any) -> None:
    done = ir_std_cli("agree", *judged, "nDCG@10")
    assert done.status == 0
    heads = [i for i, line in enumerate(done.out) if line.startswith("---")]
    assert len(heads) > 1
    assert all(done.out[i - 2] == "" for i in heads[1:])  # a blank line is between two tables
    assert any(
        line.startswith("kappa, quadratic weights") and "0.5807" in line for line in done.out
    )
    assert any(line.startswith("snDCG@10") for line in done.out)
    assert any("labels of GPT-4 (UMBRELA)" in line for line in done.err)
    order = ir_std_cli("agree", *judged, "nDCG@10", "-o", "csv", "--table", "order")
    rows = list(csv.DictReader(order.out))
    assert [row["measure"] for row in rows] == ["nDCG@10", "snDCG@10"]
    assert float(rows[0]["tau low"]) < float(rows[0]["tau"]) < float(rows[0]["tau high"])


def test_wrong_use_is_one_line(judged: tuple[Path, Path], ir_std_cli: Any) -> None:
    one = ir_std_cli("agree", judged[0])
    said = "ir_std: error: expected two qrels or two score files, got 1"
    assert (one.status, one.err) == (2, [said])
    several = ir_std_cli("agree", *judged, "-o", "csv")
    assert several.status == 2
    assert "add --table labels|confusion|topics|order|pairs|means" in several.err[0]


# One run under several judgments of the same topics.


@pytest.fixture(scope="module")
def comparison(entries: list[tuple[str, Path, Path]]) -> ir_std.Results:
    return ir_std.compare(entries, "nDCG@10")


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


def test_the_same_systems_standardize_both_and_are_drawn_once(comparison: ir_std.Results) -> None:
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


def test_labels_need_no_link(entries: list[tuple[str, Path, Path]]) -> None:
    with pytest.raises(UsageError, match="need no link, because they have the same topics"):
        ir_std.compare(entries, "nDCG@10", anchors=["p_bert"])


def test_compare_and_report_show_the_pairs(
    entries: list[tuple[str, Path, Path]], ir_std_cli: Any, tmp_path: Path
) -> None:
    bm25, bert = (
        [f"{name}={run}:{qrels}" for name, run, qrels in entries if name == asked]
        for asked in ("bm25base_p", "p_bert")
    )
    done = ir_std_cli("compare", *bm25, "nDCG@10", "--verbose")
    assert any("minus those of" in line for line in done.out)
    assert any("are one collection judged twice" in line for line in done.err)
    one_table = ir_std_cli("compare", *bm25, "nDCG@10", "-o", "csv").out
    assert len({line.count(",") for line in one_table}) == 1
    assert not any("minus those of" in line for line in one_table)
    against = ir_std_cli("compare", *bm25, *bert, "nDCG@10", "--baseline", "bm25base_p")
    assert against.status == 0
    assert not any("minus those of" in line for line in against.out)
    page = tmp_path / "page.html"
    assert ir_std_cli("report", *bm25, "nDCG@10", "-o", page).status == 0
    text = page.read_text(encoding="utf-8")
    assert "minus those of" in text
    assert "2 sets of judgments of the same topics" in text
    assert "kappa, quadratic weights" in text


def test_the_agreement_of_the_judgments_is_that_of_the_call(
    comparison: ir_std.Results, judged: tuple[Path, Path], runs: dict[str, Path]
) -> None:
    (found,) = judgment_agreements(comparison)
    called = ir_std.agreement(*judged, runs, "nDCG@10")
    assert found.kappa() == called.kappa()
    assert found.systems == called.systems
    assert found.order == called.order
