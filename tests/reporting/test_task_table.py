"""MTEB's results task by task, from folders, old files and mteb's own objects."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import ir_std
from ir_std import InputError, nDCG
from ir_std.evaluation.inputs import resolve_runs
from ir_std.factors.catalog import load_factors
from ir_std.factors.derived import select_rows
from ir_std.measures import main_score
from ir_std.reporting.benchmark import task_table
from ir_std.scores.run_scores import RunScores

SCORES = {"ndcg_at_10": 0.7, "main_score": 0.7, "hf_subset": "default"}


def result(task: str = "SciFact", **scores: float) -> Any:
    return SimpleNamespace(
        task_name=task, dataset_revision="1", scores={"test": [{**(scores or SCORES)}]}
    )


def model(name: str = "me/mine", *tasks: Any) -> Any:
    return SimpleNamespace(model_name=name, task_results=list(tasks or [result()]))


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """Write results like mteb's cache, with one folder per model and revision."""
    folder = tmp_path / "results" / "me__mine" / ("0" * 40)
    folder.mkdir(parents=True)
    (folder / "model_meta.json").write_text('{"name": "me/mine"}', encoding="utf-8")
    for task in ("SciFact", "NFCorpus", "FiQA2018"):
        content = {"task_name": task, "scores": {"test": [SCORES]}}
        (folder / f"{task}.json").write_text(json.dumps(content), encoding="utf-8")
    sts = {"task_name": "STS12", "scores": {"test": [{"cosine_spearman": 0.5, "main_score": 0.5}]}}
    (folder / "STS12.json").write_text(json.dumps(sts), encoding="utf-8")
    return tmp_path / "results"


def test_a_folder_of_results_is_shown_task_by_task(cache: Path, ir_std_cli: Any) -> None:
    done = ir_std_cli(cache)
    assert done.status == 0
    row = select_rows(load_factors("mteb-retrieval"), ["SciFact/test"])
    n = row.standardize("main_score", ["SciFact/test"], [0.7])[0]
    line = next(line for line in done.out if line.startswith("SciFact/test"))
    known = row.scores["main_score"][0]
    place, of = 1 + (known > 0.7).sum(), 1 + (known == known).sum()
    assert line.split()[1:] == ["0.7000", f"{n:.4f}", f"{place}/{of}"]
    assert any(
        "1 result left out because of tasks other than retrieval: STS12.json" in e for e in done.err
    )


def test_a_benchmark_needs_mtebs_results_for_half_of_its_tasks(
    cache: Path, ir_std_cli: Any
) -> None:
    for options, message in (
        (("--benchmark", "MTEB(Code, v1)"), "no complete task of MTEB(Code, v1)"),
        (("--benchmark", "BEIR"), "no run has scores on half of the 15 tasks of BEIR"),
        (("nDCG@10", "--benchmark", "BEIR"), "leave out qrels and measures"),
        (("--benchmark", "BEIR", "--systems", cache), "choose from all, zero-shot"),
        (("--benchmark", "BEIRS"), "did you mean 'BEIR'"),
    ):
        done = ir_std_cli(cache, *options)
        assert (done.status, done.out) == (2, [])
        assert message in "".join(done.err)


def test_with_measures_or_options_the_output_is_the_usual_one(cache: Path, ir_std_cli: Any) -> None:
    assert ir_std_cli(cache, "nDCG@10").out[0] == "nDCG@10\t0.7000"
    assert ir_std_cli(cache, "-q").out[0].split("\t")[1] == "nDCG@10"


def test_zero_shot_models_alone_may_be_too_few() -> None:
    row = "MIRACLRetrievalHardNegatives/dev/te"
    scores = RunScores("x", {main_score: {row: 0.5, "New/test": 0.4}}, unit="collection")
    table = task_table({"x": scores}, systems="zero-shot")
    assert [[cell.text for cell in line[1:]] for line in table.rows] == [
        ["0.5000", "-", "-", "-"],
        ["0.4000", "-", "-", "-"],
    ]
    assert "A rank on one dataset has no interval" in table.notes[0]
    assert "no place on 2 datasets, because fewer than 20 such models" in table.notes[1]


def test_mtebs_objects_are_runs() -> None:
    several = SimpleNamespace(model_results=[model(), model("me/other")])
    assert list(resolve_runs(several)) == ["me/mine", "me/other"]
    results = ir_std.evaluate(model("me/mine", result(), result("STS12", cosine_spearman=0.5)))
    assert results.means["me/mine"][nDCG @ 10] == pytest.approx(0.7)
    with pytest.raises(InputError, match="task STS12"):
        ir_std.evaluate(model("me/mine", result("STS12", cosine_spearman=0.5)))
    with pytest.raises(InputError, match="no results; evaluate it on a task first"):
        ir_std.evaluate(SimpleNamespace(model_name="me", task_results=[]))


def test_a_main_score_may_be_negative_as_p_mrr_is() -> None:
    mine = model("me/mine", result("Core17InstructionRetrieval", main_score=-0.03, map=0.2))
    (scores,) = resolve_runs(mine).values()
    assert scores.values[main_score] == {"Core17InstructionRetrieval/test": -0.03}
    for main, ndcg in ((-1.5, 0.2), (0.2, -0.1)):
        with pytest.raises(InputError, match="is '-"):
            resolve_runs(model("me/mine", result("SciFact", main_score=main, ndcg_at_10=ndcg)))


def test_old_results_without_a_main_score_have_the_tasks_own() -> None:
    (scores,) = resolve_runs(model("a", result(ndcg_at_10=0.4, map_at_100=0.3))).values()
    assert scores.values[main_score] == {"SciFact/test": 0.4}
    (scores,) = resolve_runs(model("a", result("AskUbuntuDupQuestions", map=0.6, mrr=0.7))).values()
    assert scores.values[main_score] == {"AskUbuntuDupQuestions/test": 0.6}
