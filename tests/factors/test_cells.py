"""Sets of many data sets: stored row behind row, of which those are read that are asked for."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ir_std
from ir_std import FactorSet, InputError, NoFactorsError, UsageError
from ir_std.factors.cells import FEWEST, MAIN, MISSING, NOT_TRAINED, TRAINED, UNKNOWN, Cells
from ir_std.factors.derived import select_kind, select_rows
from ir_std.factors.distributions import means_and_deviations
from ir_std.factors.quality import Quality
from ir_std.scores.run_scores import RunScores

MODELS = 2 * FEWEST
ROWS = {"A/test": range(MODELS), "B/test": range(0, MODELS, 2), "C/test/sw": range(3)}


def arrays() -> dict[str, np.ndarray]:
    """Row A has all models, those with odd numbers trained on it; B every second; C three.

    The last of A does not count; model 0 has no nDCG@10 there.
    """
    systems = [model for models in ROWS.values() for model in models]
    counted = np.ones(len(systems), np.uint8)
    counted[MODELS - 1] = 0
    main = np.array([10_000 * model for model in systems], np.int32)
    ndcg = main[counted > 0] + 1
    ndcg[0] = MISSING
    trained = [TRAINED if model % 2 else NOT_TRAINED for model in systems]
    trained[2] = UNKNOWN
    return {
        "start": np.cumsum([0, *map(len, ROWS.values())]).astype(np.uint32),
        "system": np.array(systems, np.uint16),
        "counted": counted,
        "trained": np.array(trained, np.uint8),
        MAIN: main,
        "nDCG@10": ndcg,
    }


def made(cells: dict[str, np.ndarray]) -> FactorSet:
    _, scores = Cells(cells).table(np.arange(3))
    moments = {m: means_and_deviations(np.sort(table, axis=1)) for m, table in scores.items()}
    info = {
        "id": "rows",
        "unit": "collection",
        "resolution": 1e-6,
        "aliases": {"beir/a": "A/test"},
        "datasets": {"A/test": {"note": "it is A"}},
        "tags": [f"m{i}" for i in range(MODELS)],
        "measures": {m: {"systems": int((~np.isnan(t)).any(0).sum())} for m, t in scores.items()},
    }
    means, sds = ({m: v[i] for m, v in moments.items()} for i in (0, 1))
    return FactorSet(info, dict.fromkeys(ROWS), means, sds, cells=cells)


@pytest.fixture
def rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FactorSet:
    made(arrays()).save(tmp_path / "sets" / "rows")
    monkeypatch.setenv("IR_STD_FACTORS", str(tmp_path / "sets"))
    return ir_std.load_factors("rows")


def test_a_set_is_read_as_it_was_written(rows: FactorSet) -> None:
    for name, array in arrays().items():
        assert np.array_equal(rows.cells[name], array)
    assert sorted(file.name for file in (rows.path or Path()).iterdir()) == [
        "cells.npz",
        "mean.csv",
        "sd.csv",
        "set.json",
        "topics.csv",
    ]
    rows.verify()


def test_only_rows_that_are_asked_for_are_made(rows: FactorSet) -> None:
    part = select_rows(rows, ["B/test"])
    assert part.topics == ("B/test",)
    assert part.n_systems == {MAIN: FEWEST, "nDCG@10": FEWEST}
    assert part.scores[MAIN][0].tolist() == [model / 100 for model in ROWS["B/test"]]
    assert part.info["tags"] == tuple(sorted(f"m{i}" for i in ROWS["B/test"]))


def test_models_are_counted_by_row_and_measure(rows: FactorSet) -> None:
    part = select_rows(rows, ["A/test"])
    assert part.n_systems == {MAIN: MODELS - 1, "nDCG@10": MODELS - 2}


def test_the_whole_set_has_the_same_numbers(rows: FactorSet) -> None:
    part = select_rows(rows, ["A/test"])
    for measure in (MAIN, "nDCG@10"):
        assert rows.mean[measure][0] == pytest.approx(part.mean[measure][0], abs=1e-15)
        whole = rows.scores[measure][0]
        assert whole[~np.isnan(whole)].tolist() == part.scores[measure][0].tolist()
    assert np.isnan(rows.mean[MAIN][2])  # three models are too few


def test_zero_shot_models_are_those_known_not_to_be_trained_on_it(rows: FactorSet) -> None:
    part = select_kind(select_rows(rows, ["B/test"]), "zero-shot")
    assert part is not None
    assert part.n_systems[MAIN] == FEWEST
    assert part.info["population"].startswith("zero-shot models, ")
    everything = select_rows(rows, ["A/test"]).info["population"]
    assert everything.endswith("; 1 models state no training data")
    with pytest.raises(
        NoFactorsError, match="fewer than 20 models of the kind zero-shot on A/test"
    ):
        select_kind(select_rows(rows, ["A/test"]), "zero-shot")
    with pytest.raises(UsageError, match="no kind of models 'zeroshot': take all or zero-shot"):
        select_kind(rows, "zeroshot")


def test_another_name_of_a_data_set_finds_its_row(rows: FactorSet) -> None:
    scores = RunScores("x", {ir_std.nDCG @ 10: {"beir/a": 0.5}}, unit="collection")
    placed, _ = ir_std.place(scores, measures="nDCG@10", factors="rows")
    assert (placed.n_systems, placed.factors) == (MODELS - 2, "rows")
    assert "beir/a" in rows.judgments
    assert [*rows.judgments] == [*ROWS]
    assert "beir/a" in pickle.loads(pickle.dumps(rows.judgments))


def test_quality_is_of_the_rows_models(rows: FactorSet) -> None:
    assert Quality(select_rows(rows, ["A/test"]), MAIN).word != "thin"
    assert Quality(select_rows(rows, ["B/test"]), MAIN).word == "thin"


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"start": np.array([0, 5, 3, 63], np.uint32)}, "start does not begin at 0 and ascend"),
        ({"system": np.zeros(63, np.uint16)}, "system does not ascend in each row"),
        ({"system": np.arange(63, dtype=np.uint16)}, "a number that tags do not name"),
        ({"trained": np.full(63, 3, np.uint8)}, "another value than 0, 1 and 2"),
        ({"counted": np.full(63, 2, np.uint8)}, "another value than 0 and 1"),
        ({MAIN: np.zeros(62, np.int32)}, r"main_score has shape \(62,\), \(63,\) is expected"),
        ({MAIN: np.full(63, 2_000_000, np.int32)}, "main_score has a score that is none"),
        ({"nDCG@10": np.full(62, -5, np.int32)}, "nDCG@10 has a score that is none"),
        ({"more": np.zeros(3, np.int32)}, "holds start, system"),
    ],
)
def test_cells_that_contradict_each_other_are_refused(change: dict[str, Any], problem: str) -> None:
    whole = made(arrays())
    with pytest.raises(InputError, match=problem):
        FactorSet(whole.info, dict.fromkeys(ROWS), whole.mean, whole.sd, cells=arrays() | change)
