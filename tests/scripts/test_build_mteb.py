"""The population of ``mteb-retrieval``: one result a model and data set, none that is broken."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from build_mteb import (
    FLOOR,
    MEASURES,
    RANDOM,
    Result,
    cleaned,
    inputs_of,
    judgments,
    mteb,
    one_each,
    read_results,
)

import ir_std
from ir_std.scores.run_scores import RunScores


def result(
    model: str = "m",
    revision: str = "1",
    dataset: str = "beir/nq",
    version: tuple[int, ...] = (1, 2),
    scores: Mapping[str, float] = {},
) -> Result:
    return Result(
        model, revision, version, dataset, dict.fromkeys(MEASURES.values(), 0.5) | dict(scores)
    )


def test_of_several_revisions_that_with_most_data_sets_counts_and_others_complete_it() -> None:
    wide = [result(revision="wide", dataset=d) for d in ("beir/nq", "beir/scidocs")]
    narrow = [result(revision="narrow", dataset=d) for d in ("beir/nq",)]
    other = [result(revision="other", dataset="beir/arguana", version=(9,))]
    kept = {one.dataset: one.revision for one in one_each([*narrow, *other, *wide])}
    assert kept == {"beir/nq": "wide", "beir/scidocs": "wide", "beir/arguana": "other"}


def test_of_equally_many_the_last_evaluated_counts() -> None:
    old, new = result(revision="b", version=(1, 9)), result(revision="a", version=(1, 18))
    assert one_each([old, new]) == one_each([new, old]) == [new]


def test_broken_results_are_left_out_and_listed() -> None:
    kept, left_out = cleaned(
        [
            result("zero", scores={"nDCG@10": 0.0}),
            result("low", scores={"nDCG@10": FLOOR / 2}),
            result("missing", scores={"nDCG@10": math.nan}),
            result(RANDOM),
            result("half", scores={"RR@10": 0.0}),
            result("poor", scores={"nDCG@10": FLOOR}),
        ]
    )
    assert [one.model for one in kept] == ["half", "poor"]
    assert math.isnan(kept[0].scores["RR@10"])
    assert {one.model for one in left_out} == {"zero", "low", "missing", RANDOM, "half"}


def test_the_shipped_set_is_what_the_script_builds(data: Path) -> None:
    results, left_out = cleaned(read_results(data / "mteb" / "model_by_dataset.csv"))
    built = mteb(results, left_out, judgments(data / "qrels" / "beir"), inputs_of(data))
    shipped = ir_std.load_factors("mteb-retrieval")
    assert built.info == shipped.info
    assert built.judgments == shipped.judgments
    for measure in MEASURES.values():
        assert np.array_equal(built.scores[measure], shipped.scores[measure], equal_nan=True)


@pytest.mark.parametrize(
    ("dataset", "bm25", "place", "of"),
    [
        ("beir/webis-touche2020", 0.442, 1, 212),
        ("beir/fiqa/test", 0.236, 209, 260),
        ("beir/scifact/test", 0.679, 137, 232),
        ("beir/nfcorpus/test", 0.322, 142, 234),
        ("beir/trec-covid", 0.595, 189, 283),
        ("beir/hotpotqa/test", 0.633, 129, 216),
        ("beir/arguana", 0.397, 245, 281),
        ("beir/quora/test", 0.789, 186, 218),
        ("beir/nq", 0.305, 171, 215),
        ("beir/dbpedia-entity/test", 0.318, 156, 218),
    ],
)
def test_a_published_keyword_baseline_has_its_place(
    dataset: str, bm25: float, place: int, of: int
) -> None:
    found = ir_std.place(
        RunScores("BM25 (flat)", {ir_std.nDCG @ 10: {dataset: bm25}}, unit="collection"),
        measures="nDCG@10",
    )
    assert found[0].summary.endswith(f" of {of}")
    assert found[0].rank == place


@pytest.mark.parametrize("name", ["scifact", "nfcorpus", "cqadupstack-unix", "webis-touche2020"])
def test_beirs_judgments_are_recognized(data: Path, name: str) -> None:
    match = ir_std.recognize(data / "qrels" / "beir" / f"{name}.txt")
    assert match.fit
    assert match.fit.dataset
    assert match.fit.dataset.startswith(f"beir/{name.replace('cqadupstack-', 'cqadupstack/')}")
    assert match.fit.basis == "judgments"


def test_topics_of_trec_are_no_data_set(data: Path) -> None:
    match = ir_std.recognize(data / "qrels" / "dl20-passage.txt")
    assert match.factors
    assert match.factors.id == "dl20-passage"
