"""Tests of sets of many datasets, each of which has its own models."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ir_std
from ir_std import FactorSet, InputError, NoFactorsError, UsageError
from ir_std.factors.derived import select_kind, select_rows
from ir_std.factors.quality import Quality
from ir_std.factors.schema import FEWEST, MAIN, MISSING, NOT_TRAINED, TRAINED, UNKNOWN, Cells
from ir_std.scores.run_scores import RunScores

MODELS = 2 * FEWEST
ROWS = {"A/test": range(MODELS), "B/test": range(0, MODELS, 2), "C/test/sw": range(3)}


def arrays() -> dict[str, np.ndarray]:
    """Make cells: row A has all models, odd ones trained on it; B every second; C three.

    The last of A does not count; model 0 has no nDCG@10 there.
    """
    there = np.array([np.isin(np.arange(MODELS), models) for models in ROWS.values()])
    counted = there.astype(np.uint8)
    counted[0, MODELS - 1] = 0
    main = np.where(there, 10_000 * np.arange(MODELS), MISSING).astype(np.int32)
    ndcg = np.where(counted > 0, main + 1, MISSING).astype(np.int32)
    ndcg[0, 0] = MISSING
    trained = np.where(np.arange(MODELS) % 2, TRAINED, NOT_TRAINED) * np.ones((3, 1), int)
    trained[~there] = UNKNOWN
    trained[0, 2] = UNKNOWN
    return {
        "counted": counted,
        "trained": trained.astype(np.uint8),
        MAIN: main,
        "nDCG@10": ndcg,
    }


def made(cells: dict[str, np.ndarray]) -> FactorSet:
    n_systems = {
        m: int((~np.isnan(Cells(arrays()).scores(m))).any(0).sum()) for m in (MAIN, "nDCG@10")
    }
    info = {
        "id": "rows",
        "unit": "collection",
        "resolution": 1e-6,
        "aliases": {"beir/a": "A/test"},
        "datasets": {"A/test": {"note": "it is A"}},
        "measures": {m: {"systems": n} for m, n in n_systems.items()},
    }
    systems = [f"m{i:02}" for i in range(MODELS)]
    return FactorSet(info, dict.fromkeys(ROWS), systems=systems, cells=cells)


@pytest.fixture
def rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FactorSet:
    made(arrays()).save(tmp_path / "sets" / "rows.npz")
    monkeypatch.setenv("IR_STD_FACTORS", str(tmp_path / "sets"))
    return ir_std.load_factors("rows")


def test_a_set_is_read_as_it_was_written(rows: FactorSet) -> None:
    assert rows.cells
    for name, array in arrays().items():
        assert np.array_equal(rows.cells.arrays[name], array)
    rows.verify()


def test_only_rows_that_are_asked_for_are_made(rows: FactorSet) -> None:
    part = select_rows(rows, ["B/test"])
    assert part.topics == ("B/test",)
    assert part.n_systems == {MAIN: FEWEST, "nDCG@10": FEWEST}
    assert part.scores[MAIN][0].tolist() == [model / 100 for model in ROWS["B/test"]]
    assert part.systems == tuple(f"m{i:02}" for i in ROWS["B/test"])


def test_models_are_counted_by_row_and_measure(rows: FactorSet) -> None:
    part = select_rows(rows, ["A/test"])
    assert part.n_systems == {MAIN: MODELS - 1, "nDCG@10": MODELS - 2}


def test_the_whole_set_has_the_same_numbers(rows: FactorSet) -> None:
    part = select_rows(rows, ["A/test"])
    for measure in (MAIN, "nDCG@10"):
        assert rows.mean[measure][0] == pytest.approx(part.mean[measure][0], abs=1e-15)
        whole, known = rows.scores[measure][0], part.scores[measure][0]
        assert whole[~np.isnan(whole)].tolist() == known[~np.isnan(known)].tolist()
    assert np.isnan(rows.mean[MAIN][2])  # three models are too few


def test_zero_shot_models_are_those_known_not_to_be_trained_on_it(rows: FactorSet) -> None:
    part = select_kind(select_rows(rows, ["B/test"]), "zero-shot")
    assert part is not None
    assert part.n_systems[MAIN] == FEWEST
    assert part.info["population"].startswith("zero-shot models, ")
    everything = select_rows(rows, ["A/test"]).info["population"]
    assert everything.endswith("; 1 models state no training data")
    with pytest.raises(NoFactorsError, match="fewer than 20 models of kind zero-shot on A/test"):
        select_kind(select_rows(rows, ["A/test"]), "zero-shot")
    with pytest.raises(
        UsageError, match="unknown kind of models 'zeroshot'; choose from all, zero-shot"
    ):
        select_kind(rows, "zeroshot")


def test_another_name_of_a_dataset_finds_its_row(rows: FactorSet) -> None:
    scores = RunScores("x", {ir_std.nDCG @ 10: {"beir/a": 0.5}}, unit="collection")
    placed, _ = ir_std.place(scores, measures="nDCG@10", factors="rows")
    assert (placed.n_systems, placed.factors) == (MODELS - 2, "rows")
    assert rows.rows(["beir/a"]) == rows.rows(["A/test"])
    assert [*rows.judgments] == [*ROWS]
    assert pickle.loads(pickle.dumps(rows)).rows(["beir/a"]) == [0]


def test_quality_depends_on_the_models_of_the_rows(rows: FactorSet) -> None:
    assert Quality(select_rows(rows, ["A/test"]), MAIN).label != "few-systems"
    assert Quality(select_rows(rows, ["B/test"]), MAIN).label == "few-systems"


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"trained": np.full((3, MODELS), 3, np.uint8)}, "trained has a value outside 0 to 2"),
        ({"counted": np.full((3, MODELS), 2, np.uint8)}, "counted has a value outside 0 to 1"),
        (
            {MAIN: np.zeros((2, MODELS), np.int32)},
            r"main_score has shape \(2, 40\), expected \(3, 40\)",
        ),
        ({MAIN: np.full((3, MODELS), 2_000_000, np.int32)}, "main_score has a value that is no"),
        (
            {"nDCG@10": np.full((3, MODELS), -5, np.int32)},
            "nDCG@10 has a value that is not a score",
        ),
        ({"more": np.zeros((3, MODELS), np.int32)}, "got counted, trained"),
    ],
)
def test_cells_that_contradict_each_other_are_refused(change: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        made(arrays() | change)
