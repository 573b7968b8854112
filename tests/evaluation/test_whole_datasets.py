"""Sets of whole datasets: each dataset is a topic, whose score is a run's mean."""

import json
import pickle
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pytest
from ir_measures import P, nDCG

import ir_std
from ir_std import FactorSet, InputError, NoFactorsError, UsageError, snDCG
from ir_std.factors.collection import as_one_topic
from ir_std.factors.derived import select_kind, select_rows
from ir_std.factors.estimates import factors_from_scores
from ir_std.factors.judgments import judgments_of
from ir_std.factors.quality import Quality
from ir_std.factors.schema import FEWEST, MAIN, MISSING, NOT_TRAINED, TRAINED, UNKNOWN, Cells
from ir_std.scores.run_scores import RunScores
from ir_std.trec.inputs import as_qrels

MODELS = ("a", "b", "c", "d")
SCORES = np.array([[0.2, 0.4, 0.6, np.nan], [0.1, 0.1, 0.3, 0.5]])
QRELS = {"7": {"x": 1, "y": 0}, "8": {"z": 2}}
RUN = {"7": {"x": 2.0, "y": 1.0}, "8": {"w": 2.0, "z": 1.0}}
RAW = (1 + 1 / np.log2(3)) / 2
ROW = SCORES[0, :3]


def of_datasets(means: dict[str, float]) -> RunScores:
    """Return a run's scores on whole datasets."""
    return RunScores("x", {nDCG @ 10: means}, unit="dataset")


@pytest.fixture(autouse=True)
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FactorSet:
    """Save a set of two datasets and four models."""
    made = factors_from_scores(
        {"nDCG@10": SCORES},
        judgments_of(as_one_topic(as_qrels(QRELS), "beir/toy")) | {"NQ/test": None},
        {
            "id": "toys",
            "title": "Toys",
            "unit": "collection",
            "population": "four toys",
            "datasets": {"beir/toy": {"split": "test", "note": "it is a toy"}},
            "measures": {},
        },
        {"nDCG@10": MODELS},
    )
    made.save(tmp_path / "sets" / "toys.npz")
    monkeypatch.setenv("IR_STD_FACTORS", str(tmp_path / "sets"))
    return made


def test_the_mean_is_standardized_and_placed() -> None:
    results = ir_std.evaluate({"x": RUN}, QRELS)
    assert results.means["x"][nDCG @ 10] == pytest.approx(RAW)
    z = (RAW - ROW.mean()) / ROW.std(ddof=1)
    assert ir_std.evaluate({"x": RUN}, QRELS, nDCG @ 10, "z").means["x"][
        snDCG(scheme="z") @ 10
    ] == pytest.approx(z)
    assert results.placements["x"][snDCG @ 10].summary == (
        "would have been 1st of 4 on 1 of the 2 datasets"
    )
    assert "(Toys, 3 systems): judgments match on the dataset beir/toy" in str(results.match)
    assert {"reference systems: four toys", "beir/toy: it is a toy"} <= set(results.notes)


def test_a_run_with_qrels_and_its_mean_as_a_score_have_the_same_results() -> None:
    run = ir_std.evaluate({"x": RUN}, QRELS, nDCG @ 10, "all")
    mean = of_datasets({"beir/toy": RAW})
    score = ir_std.evaluate({"x": mean}, None, nDCG @ 10, "all", factors="toys")
    for measure in score.measures:
        assert run.means["x"][measure] == pytest.approx(score.means["x"][measure])
        assert str(run.placements["x"][measure]) == str(score.placements["x"][measure])
    for measure in score.collection.plans:
        assert run.values["x"][measure] == pytest.approx(score.values["x"][measure])
        ours, theirs = (each.estimate("x", measure) for each in (run, score))
        assert ours.systems_error == pytest.approx(theirs.systems_error, nan_ok=True)


def test_scores_are_by_topic_where_runs_are_given_and_by_dataset_where_means_are() -> None:
    assert ir_std.evaluate({"x": RUN}, QRELS).collection.unit == "topic"
    means = of_datasets({"beir/toy": 0.5, "NQ/test": 0.2})
    assert repr(means) == "<RunScores of x: 2 datasets, nDCG@10>"
    assert ir_std.evaluate(means, None, nDCG @ 10).collection.unit == "dataset"


def test_raw_values_are_by_topic_and_standardized_ones_on_the_dataset() -> None:
    evaluator = ir_std.evaluator(nDCG @ 10, QRELS)
    means, values = evaluator.calc(RUN)
    assert [(m.query_id, m.measure) for m in values] == [
        ("7", nDCG @ 10),
        ("8", nDCG @ 10),
        ("beir/toy", snDCG @ 10),
    ]
    assert values[2].value == means[snDCG @ 10]
    assert set(evaluator.calc_aggregate(RUN)) == {nDCG @ 10, snDCG @ 10}
    with pytest.raises(NoFactorsError, match="has per-dataset factors, but ir_measures asks"):
        ir_measures.calc_aggregate([snDCG @ 10], QRELS, RUN)


def test_other_judgments_are_another_dataset() -> None:
    other = {**QRELS, "8": {"other": 2}}  # the same number of pairs, with other documents
    assert ir_std.recognize(other).factors is None
    assert ir_std.recognize({"9": QRELS["7"], "8": QRELS["8"]}).factors is None


def test_tables_and_tests_of_two_runs_do_without_topics() -> None:
    worse = {"7": {"y": 2.0}, "8": {"z": 1.0}}
    results = ir_std.evaluate({"x": RUN, "y": worse}, QRELS, baseline="x")
    assert results.means["y"][snDCG @ 10] < results.means["x"][snDCG @ 10]
    assert snDCG @ 10 not in results.differences["y"]
    assert "snDCG@10" in results.table().text()


def test_means_over_three_datasets_have_both_averages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("IR_STD_FACTORS")  # the shipped set has more models
    means = {"SciFact/test": 0.7, "NFCorpus/test": 0.3, "ArguAna/test": 0.5}
    scores = [of_datasets({name: value}) for name, value in means.items()]
    compared = ir_std.compare([("x", one, None) for one in scores], nDCG @ 10)
    raw, standardized = (compared.estimate("x", m) for m in compared.measures)
    assert raw.mean == pytest.approx(0.5)
    singly = [ir_std.evaluate(one, None, nDCG @ 10).means["run"][snDCG @ 10] for one in scores]
    assert standardized.mean == pytest.approx(np.mean(singly))
    assert "depend most on the datasets with the widest spread" in compared.table().text()


@pytest.mark.filterwarnings("ignore:these topics belong to toys")
def test_a_dataset_without_a_result_is_left_out_and_warned_about() -> None:
    full, part = map(of_datasets, ({"beir/toy": 0.5, "NQ/test": 0.2}, {"beir/toy": 0.5}))
    text = r"part: no value on some datasets \(nDCG@10 on 1\), so means leave out these datasets"
    with pytest.warns(ir_std.StandardizationWarning, match=text):
        results = ir_std.evaluate({"full": full, "part": part})
    assert results.means["part"][nDCG @ 10] == pytest.approx(0.5)
    assert results.means["full"][nDCG @ 10] == pytest.approx(0.35)


def test_mtebs_results_are_rows_of_their_own(ir_std_cli: Any, tmp_path: Path) -> None:
    scores = {"test": [{"ndcg_at_10": 0.3, "hf_subset": "default"}]}
    files = {"NQ": {"task_name": "NQ", "scores": scores}, "model_meta": {"name": "me/mine"}}
    for name, content in files.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    given = [tmp_path / f"{name}.json" for name in files]
    placed = ir_std_cli(*given, "--place", "-q", "--factors", "toys")
    assert placed.status == 0
    assert placed.out[0] == "NQ/test\tnDCG@10\t0.3000\t2nd of 4"
    assert placed.out[-1].endswith(
        "2nd of 4 on 1 of the 2 datasets\tbetween d, 1st, and b, 3rd (tied with 1)"
    )


@pytest.mark.filterwarnings("ignore:toys/d")
def test_a_system_without_scores_on_some_datasets_is_placed_as_itself() -> None:
    for placed in ir_std.place("toys/d", None, nDCG @ 10):
        assert placed.is_own_system
        assert placed.summary == "1st of 4 on 1 of the 2 datasets"


def test_two_models_are_compared_by_name_and_dataset() -> None:
    pair = ir_std.diff("toys/a", ir_std.system("toys/c"), None)
    assert repr(pair).endswith(": 2 datasets>")
    table = pair.table().text()
    assert table.startswith("dataset")
    assert "A is a, B is c." in table
    assert "topic" not in table.lower().replace("over topics", "")


def test_a_system_that_alone_has_scores_on_all_datasets_is_not_placed(tmp_path: Path) -> None:
    scores = np.array([[0.2, np.nan, 0.6], [np.nan, 0.1, 0.3]])
    info = {"id": "few", "title": "Few", "unit": "collection", "measures": {}}
    made = factors_from_scores(
        {"nDCG@10": scores}, {"A": None, "B": None}, info, {"nDCG@10": MODELS[:3]}
    )
    made.save(tmp_path / "sets" / "few.npz")
    for placed in ir_std.place("few/c", None, nDCG @ 10):
        assert placed.rank is None
        assert placed.summary == "not placed, no other system has scores on all 2 datasets"


def test_other_systems_can_be_chosen(tmp_path: Path) -> None:
    (tmp_path / "systems").write_text("b\nc\n", encoding="utf-8")
    chosen = ir_std.load_factors("toys", systems=tmp_path / "systems")
    assert chosen.mean["nDCG@10"].tolist() == pytest.approx([0.5, 0.2])
    assert chosen.sd["nDCG@10"][0] == pytest.approx(np.std([0.4, 0.6], ddof=1))
    with pytest.raises(UsageError, match=r"no system 'bb'; available: a, b, .*; did you mean 'b'"):
        ir_std.load_factors("toys", systems=["bb", "c"])
    with pytest.raises(UsageError, match="need at least 2 systems, got 1"):
        ir_std.load_factors("toys", systems=["b"])
    with pytest.raises(UsageError, match="does not name its systems"):
        ir_std.load_factors("trec2001-web", systems=["b"])


def test_a_measure_without_factors_has_a_note() -> None:
    results = ir_std.evaluate({"x": RUN}, QRELS, P @ 10)
    assert results.measures == (P @ 10,)
    assert any("toys has no factors for P@10" in note for note in results.notes)


N_MODELS = 2 * FEWEST
ROWS = {"A/test": range(N_MODELS), "B/test": range(0, N_MODELS, 2), "C/test/sw": range(3)}


def arrays() -> dict[str, np.ndarray]:
    """Make cells: A has all models (odd ones trained on it), B every second one, C three.

    The last of A does not count; model 0 has no nDCG@10 there.
    """
    there = np.array([np.isin(np.arange(N_MODELS), models) for models in ROWS.values()])
    counted = there.astype(np.uint8)
    counted[0, N_MODELS - 1] = 0
    main = np.where(there, 10_000 * np.arange(N_MODELS), MISSING).astype(np.int32)
    ndcg = np.where(counted > 0, main + 1, MISSING).astype(np.int32)
    ndcg[0, 0] = MISSING
    trained = np.where(np.arange(N_MODELS) % 2, TRAINED, NOT_TRAINED) * np.ones((3, 1), int)
    trained[~there] = UNKNOWN
    trained[0, 2] = UNKNOWN
    return {"counted": counted, "trained": trained.astype(np.uint8), MAIN: main, "nDCG@10": ndcg}


def made(cells: dict[str, np.ndarray]) -> FactorSet:
    scored = {m: ~np.isnan(Cells(arrays()).scores(m)) for m in (MAIN, "nDCG@10")}
    info = {
        "id": "rows",
        "unit": "collection",
        "resolution": 1e-6,
        "aliases": {"beir/a": "A/test"},
        "datasets": {"A/test": {"note": "it is A"}},
        "measures": {m: {"systems": int(known.any(0).sum())} for m, known in scored.items()},
    }
    systems = [f"m{i:02}" for i in range(N_MODELS)]
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


def test_only_rows_that_are_asked_for_are_made_and_models_counted_there(rows: FactorSet) -> None:
    part = select_rows(rows, ["B/test"])
    assert part.topics == ("B/test",)
    assert part.n_systems == {MAIN: FEWEST, "nDCG@10": FEWEST}
    assert part.scores[MAIN][0].tolist() == [model / 100 for model in ROWS["B/test"]]
    assert part.systems == tuple(f"m{i:02}" for i in ROWS["B/test"])
    assert select_rows(rows, ["A/test"]).n_systems == {MAIN: N_MODELS - 1, "nDCG@10": N_MODELS - 2}


def test_the_whole_set_has_the_same_numbers(rows: FactorSet) -> None:
    part = select_rows(rows, ["A/test"])
    for measure in (MAIN, "nDCG@10"):
        assert rows.mean[measure][0] == pytest.approx(part.mean[measure][0], abs=1e-15)
        whole, known = rows.scores[measure][0], part.scores[measure][0]
        assert whole[~np.isnan(whole)].tolist() == known[~np.isnan(known)].tolist()
    assert np.isnan(rows.mean[MAIN][2])  # three models are too few


def test_zero_shot_models_are_those_known_not_to_be_trained_on_it(rows: FactorSet) -> None:
    part = select_kind(select_rows(rows, ["B/test"]), "zero-shot")
    whole = select_rows(rows, ["A/test"])
    assert part is not None
    assert part.n_systems[MAIN] == FEWEST
    assert part.info["population"].startswith("zero-shot models, ")
    assert whole.info["population"].endswith("; 1 models state no training data")
    with pytest.raises(NoFactorsError, match="fewer than 20 models of kind zero-shot on A/test"):
        select_kind(whole, "zero-shot")
    says = "unknown kind of models 'zeroshot'; choose from all, zero-shot"
    with pytest.raises(UsageError, match=says):
        select_kind(rows, "zeroshot")


def test_another_name_of_a_dataset_finds_its_row(rows: FactorSet) -> None:
    placed, _ = ir_std.place(of_datasets({"beir/a": 0.5}), measures="nDCG@10", factors="rows")
    assert (placed.n_systems, placed.factors) == (N_MODELS - 2, "rows")
    assert rows.rows(["beir/a"]) == rows.rows(["A/test"])
    assert [*rows.judgments] == [*ROWS]
    assert pickle.loads(pickle.dumps(rows)).rows(["beir/a"]) == [0]


def test_quality_depends_on_the_models_of_the_rows(rows: FactorSet) -> None:
    assert Quality(select_rows(rows, ["A/test"]), MAIN).label != "few-systems"
    assert Quality(select_rows(rows, ["B/test"]), MAIN).label == "few-systems"


@pytest.mark.parametrize(
    ("name", "array", "problem"),
    [
        ("trained", np.full((3, N_MODELS), 3, np.uint8), "has a value outside 0 to 2"),
        ("counted", np.full((3, N_MODELS), 2, np.uint8), "has a value outside 0 to 1"),
        (MAIN, np.zeros((2, N_MODELS), np.int32), r"has shape \(2, 40\), expected \(3, 40\)"),
        (MAIN, np.full((3, N_MODELS), 2_000_000, np.int32), "has a value that is no"),
        ("nDCG@10", np.full((3, N_MODELS), -5, np.int32), "has a value that is not a score"),
    ],
)
def test_cells_that_contradict_each_other_are_refused(
    name: str, array: np.ndarray, problem: str
) -> None:
    with pytest.raises(InputError, match=f"{name} {problem}"):
        made(arrays() | {name: array})
    with pytest.raises(InputError, match="got counted, trained"):
        made(arrays() | {"more": array})
