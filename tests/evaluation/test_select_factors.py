"""Other systems than the track's own, sets without some, cutoffs where systems end, saturation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ir_measures import AP

import ir_std
from ir_std import InputError, NoFactorsError, UsageError, load_factors, nDCG
from ir_std.factors.derived import leave_out_systems
from ir_std.factors.quality import saturates
from ir_std.testing import simulated_qrels, simulated_run


@pytest.fixture(scope="module")
def qrels() -> Any:
    judged = load_factors("dl19-passage").judgments
    return simulated_qrels({topic: known.levels for topic, known in judged.items()})


@pytest.mark.filterwarnings("ignore")
def test_modern_systems_and_sets_without_some_are_chosen(qrels: Any) -> None:
    own = ir_std.evaluator([nDCG @ 10], qrels)
    assert own.match
    assert own.match.factors
    assert own.match.factors.id == "dl19-passage"
    assert "dl19-passage-modern" in own.match.alternatives
    modern = ir_std.evaluator([nDCG @ 10], qrels, systems="modern")
    assert [p.factors.id for p in modern.plans] == ["dl19-passage-modern"]
    some = ir_std.evaluator([nDCG @ 10], qrels, without="UNH_exDL_bm25")
    expected = leave_out_systems(load_factors("dl19-passage"), ["UNH_exDL_bm25"])
    assert [p.factors.n_systems["nDCG@10"] for p in some.plans] == [36]
    assert np.array_equal(some.plans[0].factors.sd["nDCG@10"], expected.sd["nDCG@10"])


@pytest.mark.parametrize(
    ("content", "message"),
    [(None, "name a readable file of systems"), (b"a\xff\n", "expected UTF-8 text")],
)
def test_a_list_of_systems_that_cannot_be_read_is_refused(
    content: bytes | None, message: str, tmp_path: Path, qrels: Any
) -> None:
    if content is not None:
        (tmp_path / "systems").write_bytes(content)
    with pytest.raises(InputError, match=message):
        ir_std.evaluator(AP, qrels, systems=tmp_path / "systems")


def test_systems_that_are_not_there_are_refused(qrels: Any) -> None:
    with pytest.raises(
        NoFactorsError, match="dl19-passage has no 'old' system set; available: modern"
    ):
        ir_std.evaluator([AP], qrels, systems="old")
    with pytest.raises(
        UsageError, match=r"has no system 'UNH_bm'; available: .*; did you mean 'UNH_bm25'"
    ):
        ir_std.evaluator([AP], qrels, without="UNH_bm")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["AP", "nDCG", "SP", "DCG"])
def test_a_measure_cut_where_the_systems_end_is_served_by_the_whole_one(
    name: str, qrels: Any
) -> None:
    measure = ir_std.parse_measure(f"s{name}@1000")
    run = simulated_run(qrels, 1, 50)
    whole = ir_std.parse_measure(f"s{name}")
    scores = ir_std.calc_aggregate([measure, whole], qrels, run)
    assert scores[measure] == pytest.approx(scores[whole])
    with pytest.raises(NoFactorsError, match=f"s{name}@500"):
        ir_std.evaluator([ir_std.parse_measure(f"s{name}@500")], qrels)


@pytest.mark.parametrize(
    ("values", "scheme", "expected"),
    [
        ([0.995] * 5 + [0.5] * 45, "N", True),
        ([0.995] * 4 + [0.5] * 46, "N", False),
        ([0.005] * 5 + [0.5] * 45, "N", True),
        ([0.99] * 50, "N", False),
        ([1.0] * 17 + [0.5] * 33, "E", True),
        ([1.0] * 16 + [0.5] * 34, "E", False),
        ([5.0] * 50, "z", False),
        ([1.0] * 50, "U", False),
        ([np.nan] * 50, "N", False),
        ([np.nan] * 40 + [0.995] + [0.5] * 9, "N", True),
        ([], "N", False),
    ],
)
def test_a_run_saturates_a_set_at_stated_shares(values: Any, scheme: str, expected: bool) -> None:
    assert saturates(values, scheme) is expected


@pytest.mark.filterwarnings("ignore")
def test_a_run_that_saturates_a_set_gets_a_note_that_names_alternatives(qrels: Any) -> None:
    perfect = {
        topic: {doc: float(level) for doc, level in docs.items()}
        | {f"x{i}": -1.0 - i for i in range(100)}
        for topic, docs in qrels.items()
    }
    results = ir_std.evaluate({"best": perfect}, qrels, ["nDCG@100"])
    assert [text for text in results.notes if "near 0 or 1" in text] == [
        "best: scores near 0 or 1 on many topics (snDCG@100), where runs that are very good or "
        "very weak look alike; use scheme z or --factors dl19-passage-modern"
    ]
