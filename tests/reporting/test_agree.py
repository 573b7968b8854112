"""Two judgments side by side: tables, in Python and on the command line."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import kendalltau

import ir_std
from ir_std import nDCG, snDCG
from ir_std.errors import UsageError

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
def of_judges(data: Path) -> ir_std.JudgeAgreement:
    return ir_std.agreement(data / "qrels" / PEOPLE, data / "qrels" / MODEL)


def test_kappa_on_dl19_is_scikit_learns(of_judges: ir_std.JudgeAgreement) -> None:
    for weights, kappa in BY_SCIKIT_LEARN.items():
        assert of_judges.kappa(weights).value == pytest.approx(kappa, abs=1e-12)
    for level, kappa in enumerate(AT_LEVEL, 1):
        assert of_judges.kappa_at(level) == pytest.approx(kappa, abs=1e-12)
    by_topic = [row[4].value for row in of_judges.table("topics").rows]
    assert by_topic == sorted(by_topic)  # the topics of least agreement come first
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
    of_judges: ir_std.JudgeAgreement, data: Path, runs_of: Callable[[str], Path]
) -> None:
    names = ("p_bert", "bm25base_p")
    runs = {name: runs_of("dl19-passage") / name for name in names}
    qrels = [data / "qrels" / file for file in (PEOPLE, MODEL)]
    compared = ir_std.agreement(qrels[0], qrels[1], runs, "nDCG@10")
    assert compared.systems == names
    for i, q in enumerate(qrels):
        results = ir_std.evaluate(runs, q, "nDCG@10")
        for measure in (nDCG @ 10, snDCG @ 10):
            mean = compared.scores[measure][i][:, 1].mean()
            assert mean == pytest.approx(results.means["bm25base_p"][measure])
            column = of_judges.systems.index("bm25base_p")
            assert compared.scores[measure][i][:, 1] == pytest.approx(
                of_judges.scores[measure][i][:, column]
            )
    difference = compared.difference("p_bert", "nDCG@10")
    assert difference.n == 43
    assert difference.mean == pytest.approx(
        np.subtract(*[x[:, 0].mean() for x in reversed(compared.scores[nDCG @ 10])])
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
    compared = ir_std.agreement(ONE, OTHER)
    for call, message in (
        (lambda: ir_std.agreement(ONE, {"9": {"a": 1}}), "no judged document of a topic in common"),
        (lambda: ir_std.agreement(ONE, {"1": {"z": 1}}), "no judged document of a topic in common"),
        (lambda: compared.table("means"), "pass runs"),
        (lambda: compared.table("label"), "did you mean 'labels'"),
    ):
        with pytest.raises(UsageError, match=message):
            call()


def test_the_command_line_prints_the_tables(data: Path, ir_std_cli: Any) -> None:
    files = [data / "qrels" / file for file in (PEOPLE, MODEL)]
    done = ir_std_cli("agree", *files, "nDCG@10")
    assert done.status == 0
    heads = [i for i, line in enumerate(done.out) if line.startswith("---")]
    assert len(heads) > 1
    assert all(done.out[i - 2] == "" for i in heads[1:])  # a blank line is between two tables
    assert any(
        line.startswith("kappa, quadratic weights") and "0.5807" in line for line in done.out
    )
    assert any(line.startswith("snDCG@10") for line in done.out)
    assert any("labels of GPT-4 (UMBRELA)" in line for line in done.err)
    order = ir_std_cli("agree", *files, "nDCG@10", "-o", "csv", "--table", "order")
    rows = list(csv.DictReader(order.out))
    assert [row["measure"] for row in rows] == ["nDCG@10", "snDCG@10"]
    assert float(rows[0]["tau low"]) < float(rows[0]["tau"]) < float(rows[0]["tau high"])


def test_wrong_use_is_one_line(data: Path, ir_std_cli: Any) -> None:
    file = data / "qrels" / PEOPLE
    one = ir_std_cli("agree", file)
    said = "ir_std: error: expected two qrels or two score files, got 1"
    assert (one.status, one.err) == (2, [said])
    several = ir_std_cli("agree", file, data / "qrels" / MODEL, "-o", "csv")
    assert several.status == 2
    assert "add --table labels|confusion|topics|order|pairs|means" in several.err[0]
