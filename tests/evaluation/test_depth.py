"""Tests of the depth of runs, relative to that of measures and factors."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pytest

import ir_std
from ir_std.evaluation.evaluation import Message
from ir_std.factors.factor_set import FactorSet
from ir_std.trec.files import read_run
from ir_std.trec.inputs import as_qrels

TOPICS = [f"t{i}" for i in range(12)]
QRELS = {t: {f"d{j}": 1 for j in range(5)} for t in TOPICS}
RBPS = ("RBP(p=0.0,rel=1)", "RBP(p=0.5,rel=1)", "RBP(p=0.5,rel=1)@10")
MEASURES = ("AP", "P@5", "P@10", "Rprec", "Rprec(rel=2)", *RBPS)


def factors(**info: Any) -> FactorSet:
    """Make factors of a few measures on twelve topics."""
    measures = {name: {"systems": 40} for name in MEASURES}
    column = np.full(len(TOPICS), 0.5)
    return FactorSet(
        {"id": "tiny", "measures": measures, **info},
        dict.fromkeys(TOPICS, 5),
        dict.fromkeys(measures, column),
        dict.fromkeys(measures, column / 5),
    )


def messages(
    sizes: list[int], asked: Any = "AP", qrels: dict[str, dict[str, int]] = QRELS, **info: Any
) -> list[Message]:
    run = {
        t: {f"d{j}": 1.0 / (j + 1) for j in range(size)}
        for t, size in zip(TOPICS, sizes, strict=True)
    }
    evaluator = ir_std.evaluator(asked, qrels, factors=factors(**info))
    evaluation = evaluator.evaluate(run, "run")
    return [m for m in evaluation.messages if "document" in m.text]


def test_lists_that_were_cut_on_most_topics_are_warned_about() -> None:
    (message,) = messages([100, *[10] * 11], depth=100)
    assert message.warns
    assert message.text == (
        "only 10 documents on 11 of 12 topics (up to 100 on others), but 100 are needed; scores "
        "are too low unless nothing else matched (sAP)"
    )


def test_lists_that_were_cut_on_some_topics_are_warned_about() -> None:
    (message,) = messages([100] * 8 + [20] * 4, depth=100)
    assert message.warns
    assert "only 20 documents on 4 of 12 topics" in message.text


def test_lists_that_end_at_different_places_are_noted() -> None:
    (message,) = messages([100] * 9 + [20, 30, 75], depth=100)
    assert not message.warns
    assert "only 20 to 75 documents on 3 of 12 topics" in message.text


def test_most_lists_far_too_short_are_warned_about_wherever_they_end() -> None:
    (message,) = messages([100, *range(5, 16)], depth=100)
    assert message.warns


@pytest.mark.parametrize(
    "sizes", [[100] * 12, [100] * 11 + [91], [100] * 11 + [20], [100] * 6 + [0] * 6]
)
def test_lists_as_deep_as_the_systems_and_topics_that_are_missing_are_not(sizes: list[int]) -> None:
    assert messages(sizes, depth=100) == []


@pytest.mark.parametrize("depth", [100, None])
def test_one_document_short_of_a_cutoff_is_warned_about_whatever_the_depth(
    depth: int | None,
) -> None:
    assert messages([100, *[10] * 11], "P@10", depth=depth) == []
    (message,) = messages([100] * 11 + [9], "P@10", depth=depth)
    assert message.warns
    assert message.text == (
        "only 9 documents on 1 of 12 topics, fewer than the cutoff of sP@10; scores are too low "
        "unless nothing else matched"
    )


def test_several_cutoffs_are_warned_about_in_one_line() -> None:
    (message,) = messages([9, *[100] * 10, 3], ["P@10", "RBP(p=0.5,rel=1)@10", "P@5"], depth=100)
    assert message.text.startswith(
        "only 3 to 9 documents on 2 of 12 topics, fewer than the cutoff of sP@10, "
        "sRBP(p=0.5,rel=1)@10, sP@5; "
    )


def test_a_message_names_the_measures_that_are_misled_and_concerns_no_others() -> None:
    (message,) = messages([100, *[10] * 11], ["AP", "P@10"], depth=100)
    assert message.concerns(ir_std.sAP)
    assert message.concerns(ir_measures.AP)
    assert not message.concerns(ir_measures.P @ 10)
    assert not message.concerns(ir_std.sP @ 10)


@pytest.mark.parametrize("deep", [4, 5])
def test_rprec_looks_at_as_many_documents_as_are_relevant(deep: int) -> None:
    about_ap, *about_rprec = messages([deep] * 12, ["AP", "Rprec"], depth=100)
    assert about_ap.text == (
        f"at most {deep} documents per topic, but tiny was computed at depth 100; scores are too "
        "low (sAP)"
    )
    assert [m.text.partition(" (")[0] for m in about_rprec] == [
        "only 4 documents on 12 of 12 topics"
    ] * (deep == 4)


def test_rprec_looks_at_as_many_as_are_relevant_at_its_level_on_each_topic() -> None:
    some_at_2 = {t: {d: 1 + (d < "d3") for d in docs} for t, docs in QRELS.items()}
    assert messages([3] * 12, "Rprec(rel=2)", qrels=some_at_2, depth=100) == []
    (message,) = messages([2] * 12, "Rprec(rel=2)", qrels=some_at_2, depth=100)
    assert message.text.endswith("(sRprec(rel=2))")
    fewer_on_most = {t: {"d0": 2} if i else some_at_2[t] for i, t in enumerate(TOPICS)}
    assert messages([3, *[1] * 11], "Rprec(rel=2)", qrels=fewer_on_most, depth=100) == []
    none_on_most = {t: some_at_2[t] if i < 2 else QRELS[t] for i, t in enumerate(TOPICS)}
    assert not any(m.warns for m in messages([2] * 12, "Rprec(rel=2)", qrels=none_on_most))


@pytest.mark.parametrize(
    ("measure", "looked_at"), [("RBP(p=0.0,rel=1)", 1), ("RBP(p=0.5,rel=1)", 15)]
)
def test_rbp_looks_no_deeper_than_where_documents_weigh(measure: str, looked_at: int) -> None:
    assert messages([looked_at] * 12, measure, depth=100) == []
    assert messages([100, *[looked_at] * 11], measure, depth=100) == []
    shorter = max(looked_at - 2, 0)
    told = messages([100, *[shorter] * 11], measure, depth=100)
    assert [f"but {looked_at} are needed" in m.text for m in told] == [True] * (shorter > 0)


def test_a_shallow_run_is_warned_about_where_the_depth_of_the_systems_is_unknown() -> None:
    (message,) = messages([10] * 12, ["AP", "P@10"])
    assert message.warns
    assert message.text == (
        "at most 10 documents per topic, and tiny does not record its evaluation depth; scores are "
        "too low if its systems returned more (sAP)"
    )
    assert messages([1000, *[10] * 11], ["AP", "P@10"]) == []


def test_ten_documents_of_a_deep_run_are_warned_about_on_web10(data: Path) -> None:
    qrels = data / "qrels" / "web10.txt"
    judged = as_qrels(qrels).judged
    first = {
        t: {d: float(-i) for i, d in enumerate(sorted(docs, key=lambda d: -docs[d])[:10])}
        for t, docs in judged.items()
    }
    with pytest.warns(ir_std.StandardizationWarning) as caught:
        ir_std.calc_aggregate(["P@20", "AP", "P@10"], qrels, first)
    about = [str(w.message) for w in caught if "documents" in str(w.message)]
    assert [text.rpartition(";")[0].rpartition(",")[2].strip() for text in about] == [
        "fewer than the cutoff of sP@20",
        "and web10 does not record its evaluation depth",
    ]


def test_trec8_cut_on_all_topics_but_one_is_warned_about(
    data: Path, runs_of: Callable[[str], Path]
) -> None:
    lists = read_run(runs_of("trec8-adhoc") / "mds08a1").lists
    run = {
        topic: dict(list(zip(docs, scores.tolist(), strict=True))[: None if i == 7 else 10])
        for i, (topic, (docs, scores)) in enumerate(lists.items())
    }
    with pytest.warns(
        ir_std.StandardizationWarning, match="run: only 10 documents on 49 of 50 topics"
    ):
        ir_std.calc_aggregate("AP", data / "qrels" / "trec8-adhoc.txt", run)


@pytest.mark.parametrize(
    "name",
    [
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("trec8-adhoc", "dl20-passage")),
        pytest.param("covid-round5", marks=pytest.mark.exhaustive),
    ],
)
def test_few_of_a_tracks_own_runs_are_warned_about(
    name: str, data: Path, runs_of: Callable[[str], Path]
) -> None:
    evaluator = ir_std.evaluator("AP", data / "qrels" / f"{name}.txt")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warned = [
            run.name
            for run in sorted(runs_of(name).iterdir())
            for message in evaluator.evaluate(run).messages
            if message.warns and "are needed" in message.text
        ]
    assert len(warned) <= 3
