"""MTEB's results: ranks on benchmarks, with intervals, and results task by task."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import ir_std
from ir_std import InputError, NoFactorsError, UsageError, nDCG
from ir_std.analysis import linked_scores, rank_intervals
from ir_std.evaluation.inputs import resolve_runs
from ir_std.factors.benchmarks import benchmark_scores, borda_ranks, tasks_of
from ir_std.factors.catalog import load_factors
from ir_std.factors.derived import select_rows
from ir_std.factors.schema import NOT_TRAINED
from ir_std.measures import main_score
from ir_std.reporting.benchmark import task_table
from ir_std.reporting.html.standing import standings_of
from ir_std.scores.run_scores import RunScores

ENGLISH = "MTEB(eng, v2)"
LINKED = "smain_score"


@pytest.fixture(scope="module")
def board() -> ir_std.Results:
    return ir_std.evaluate("mteb-retrieval/*", benchmark=ENGLISH)


def linked_of(board: ir_std.Results) -> Any:
    read = benchmark_scores(ENGLISH)
    tasks = [read.tasks.index(task) for task in board.topics]
    models = [read.models.index(run) for run in board.runs]
    return linked_scores(read.scores[np.ix_(tasks, models)])


def test_models_with_half_of_the_tasks_are_ranked(board: ir_std.Results) -> None:
    read = benchmark_scores(ENGLISH)
    n_tasks = np.count_nonzero(~np.isnan(read.scores), axis=0)
    half = {m for m, n in zip(read.models, n_tasks.tolist(), strict=True) if n >= 6}
    assert {*board.runs} == half
    assert min(board.collection.benchmark.tasks[run] for run in board.runs) == 6  # type: ignore[union-attr]
    assert sorted(board.topics) == sorted(read.tasks)
    ranks = [int(row[0].text) for row in board.table().rows]
    assert ranks == sorted(ranks)
    assert f"{len(half)} of {read.n_models} models have at least half of the 12 tasks" in str(board)


def test_means_and_ranks_are_those_of_the_linked_scores(board: ir_std.Results) -> None:
    linked = linked_of(board)
    found = np.stack([board.values[run][LINKED] for run in board.runs], axis=1)
    assert found == pytest.approx(linked.values, abs=1e-12, nan_ok=True)
    means = [board.means[run][LINKED] for run in board.runs]
    assert means == pytest.approx(linked.means.tolist(), abs=1e-12)
    ranks = [board.ranks[run][LINKED] for run in board.runs]
    assert all(each.best <= each.rank <= each.worst for each in ranks if each.rank)
    assert sum(each.could_be_first for each in ranks) == rank_intervals(linked.values).n_first
    assert all(
        board.placements[run][LINKED].rank == rank.rank
        for run, rank in zip(board.runs, ranks, strict=True)
    )


def test_a_raw_mean_covers_all_tasks(board: ir_std.Results) -> None:
    read, (on_page,) = benchmark_scores(ENGLISH), standings_of(board, board.runs[0])
    for row in board.table().rows:
        scores = read.scores[:, read.models.index(str(row[1].value))]
        raw = float(row[5].value)
        assert np.isnan(raw) == (int(row[4].text) < 12) == np.isnan(scores).any()
        assert np.isnan(raw) == np.isnan(on_page.mean(str(row[1].value)))
        if not np.isnan(raw):
            assert raw == pytest.approx(scores.mean(), abs=1e-12)


def test_mtebs_borda_rank_is_by_hand() -> None:
    scores = np.array([[0.5, 0.5, 0.1, np.nan], [0.2, 0.9, 0.3, 0.1]])
    # Points: 4 - 1.5, 4 - 1.5, 4 - 3, 0; then 4 - 3, 4 - 1, 4 - 2, 4 - 4.
    assert borda_ranks(scores).tolist() == [2, 1, 3, 4]


def test_zero_shot_takes_results_out_and_not_models(board: ir_std.Results) -> None:
    read = benchmark_scores(ENGLISH, "zero-shot")
    known = ~np.isnan(read.scores)
    assert (read.trained[known] == NOT_TRAINED).all()
    fewer = ir_std.evaluate("mteb-retrieval/*", benchmark=ENGLISH, systems="zero-shot")
    assert "zero-shot results only" in fewer.table().notes[0]
    assert {*fewer.runs} < {*board.runs}


def mine(folder: Path, value: float, tasks: int = 12) -> Path:
    for task, rows in list(tasks_of(ENGLISH).items())[:tasks]:
        _, split = rows[0].split("/")
        scores = {"main_score": value, "ndcg_at_10": value, "hf_subset": "default"}
        content = {"task_name": task, "scores": {split: [scores]}}
        (folder / f"{task}.json").write_text(json.dumps(content), encoding="utf-8")
    (folder / "model_meta.json").write_text('{"name": "me/mine"}', encoding="utf-8")
    return folder


def test_a_model_of_ones_own_is_ranked_marked_and_moves_no_other(
    tmp_path: Path, ir_std_cli: Any, board: ir_std.Results
) -> None:
    best = ("mteb-retrieval/*", mine(tmp_path, 0.99), "--benchmark", ENGLISH, "-o", "csv")
    done = ir_std_cli(*best)
    assert done.status == 0
    rank, model, *_ = done.out[1].split(",")
    assert (rank, model) == ("1", "> me/mine")
    first = board.table().rows[0]
    second = done.out[2].split(",")
    assert first[1].text in second
    assert str(first[3].value) in second


def test_one_model_by_itself_has_its_place_among_all(
    tmp_path: Path, ir_std_cli: Any, board: ir_std.Results
) -> None:
    name = board.runs[7]
    one = ir_std.evaluate(f"mteb-retrieval/{name}", benchmark=ENGLISH)
    assert one.runs == (name,)
    found, expected = (each.placements[name][LINKED] for each in (one, board))
    assert (found.rank, found.n_systems) == (expected.rank, expected.n_systems)
    assert one.table().rows[0][0].text == str(expected.rank)
    own = ir_std.evaluate(mine(tmp_path, 0.4), benchmark=ENGLISH)
    mean = own.means["me/mine"][LINKED]
    better = sum(means[LINKED] > mean for means in board.means.values())
    done = ir_std_cli(tmp_path, "--benchmark", ENGLISH, "-o", "table")
    assert done.out[2].split()[:3] == [str(better + 1), ">", "me/mine"]


def test_a_model_with_few_tasks_has_no_rank(tmp_path: Path, ir_std_cli: Any) -> None:
    few = mine(tmp_path, 0.5, tasks=5)
    name = "mteb-retrieval/Qwen/Qwen3-Embedding-8B"
    done = ir_std_cli(name, few, "--benchmark", ENGLISH, "-o", "csv")
    said = "me/mine has results for fewer than half of the tasks, so it is not ranked"
    assert said in "\n".join(done.err)
    assert not any("me/mine" in line for line in done.out)


def test_every_form_has_the_same_models(board: ir_std.Results) -> None:
    table = board.table()
    for text in (table.text(), table.markdown(), table.latex(), table.csv()):
        plain = text.replace("\\_", "_").replace("\\allowbreak{}", "")
        assert all(run in plain for run in board.runs[:20])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--benchmark", "MTEB(eng, v3)"], "did you mean 'MTEB(eng, v2)'"),
        (
            ["--benchmark", "BEIR-NL"],
            "none of the 15 retrieval and reranking tasks of BEIR-NL has results",
        ),
        (["--benchmark", ENGLISH, "--systems", "zeroshot"], "choose from all, zero-shot"),
    ],
)
def test_unavailable_benchmarks_and_systems_are_refused(
    options: list[str], message: str, ir_std_cli: Any
) -> None:
    done = ir_std_cli("mteb-retrieval/*", *options)
    assert done.status == 2
    assert message in "\n".join(done.err)


def test_a_run_that_is_not_a_result_of_mteb_is_refused() -> None:
    few = RunScores("x", {main_score: {"NanoNQ/test": 0.5}}, unit="dataset")
    with pytest.raises(
        NoFactorsError, match=r"x has scores on .* no complete task of MTEB\(eng, v2\)"
    ):
        ir_std.evaluate({"x": few}, benchmark=ENGLISH)
    with pytest.raises(UsageError, match="x has no main scores"):
        ir_std.evaluate({"x": {"1": {"d": 1.0}}}, benchmark=ENGLISH)


# Task by task.


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
        (("--benchmark", "BEIR"), "no run has at least half of the 15 tasks of BEIR"),
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
    scores = RunScores("x", {main_score: {row: 0.5, "New/test": 0.4}}, unit="dataset")
    table = task_table({"x": scores}, systems="zero-shot")
    assert [[cell.text for cell in line[1:]] for line in table.rows] == [
        ["0.5000", "-", "-", "-"],
        ["0.4000", "-", "-", "-"],
    ]
    assert "A rank on one dataset has no interval" in table.notes[0]
    assert "no place on 2 datasets, because fewer than 20 models" in table.notes[1]


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
