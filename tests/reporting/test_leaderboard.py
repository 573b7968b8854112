"""MTEB's benchmarks: places with intervals, although not every model ran every task."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import ir_std
from ir_std import NoFactorsError, UsageError
from ir_std.analysis import rank_intervals
from ir_std.factors.benchmarks import benchmark_rows, benchmark_scores
from ir_std.factors.cells import NOT_TRAINED
from ir_std.reporting.html import write_report
from ir_std.reporting.leaderboard import Leaderboard, borda_ranks

ENGLISH = "MTEB(eng, v2)"


@pytest.fixture(scope="module")
def board() -> Leaderboard:
    return ir_std.leaderboard(ENGLISH)


def test_models_with_half_of_the_tasks_are_placed(board: Leaderboard) -> None:
    read = benchmark_scores(ENGLISH)
    n_tasks = np.count_nonzero(~np.isnan(read.scores), axis=0)
    half = {m for m, n in zip(read.models, n_tasks.tolist(), strict=True) if n >= 6}
    assert {each.model for each in board.standings} == half
    assert min(each.tasks for each in board.standings) == 6
    assert [s.place for s in board.standings] == sorted(s.place for s in board.standings)


def test_the_intervals_are_those_of_the_linked_scores(board: Leaderboard) -> None:
    assert all(each.best <= each.place <= each.worst for each in board.standings)
    assert board.n_first == sum(each.best == 1 for each in board.standings)
    together = ir_std.leaderboard(ENGLISH, simultaneous=True)
    assert together.n_first > board.n_first
    widths = [[s.worst - s.best for s in each.standings] for each in (board, together)]
    assert sum(widths[1]) > sum(widths[0])


def test_a_raw_mean_is_of_all_tasks(board: Leaderboard) -> None:
    read = benchmark_scores(ENGLISH)
    for each in board.standings[:20]:
        scores = read.scores[:, read.models.index(each.model)]
        assert np.isnan(each.raw) == (each.tasks < 12)
        if each.tasks == 12:
            assert each.raw == pytest.approx(scores.mean(), abs=1e-12)


def test_mtebs_borda_rank_is_by_hand() -> None:
    scores = np.array([[0.5, 0.5, 0.1, np.nan], [0.2, 0.9, 0.3, 0.1]])
    # Points: 4 - 1.5, 4 - 1.5, 4 - 3, 0; then 4 - 3, 4 - 1, 4 - 2, 4 - 4.
    assert borda_ranks(scores).tolist() == [2, 1, 3, 4]


def test_zero_shot_takes_results_out_and_not_models() -> None:
    read = benchmark_scores(ENGLISH, "zero-shot")
    known = ~np.isnan(read.scores)
    assert (read.trained[known] == NOT_TRAINED).all()
    board = ir_std.leaderboard(ENGLISH, systems="zero-shot")
    assert all(each.trained == each.unknown == 0 for each in board.standings)
    assert "zero-shot results only" in board.notes[0]
    everything = {each.model for each in ir_std.leaderboard(ENGLISH).standings}
    assert {each.model for each in board.standings} < everything


def test_the_p_of_the_next_is_scipys(board: Leaderboard) -> None:
    from ir_std.analysis import linked_scores

    read = benchmark_scores(ENGLISH)
    names = [each.model for each in board.standings]
    values = linked_scores(read.scores[:, [read.models.index(m) for m in names]]).values
    for k in (0, 2, 11, 100):
        both = ~np.isnan(values[:, k] - values[:, k + 1])
        expected = stats.ttest_rel(values[both, k], values[both, k + 1]).pvalue
        assert board.standings[k].p_next == pytest.approx(expected, abs=1e-9)
    assert rank_intervals(values).n_first == board.n_first


def mine(folder: Path, value: float, tasks: int = 12) -> None:
    for task, rows in list(benchmark_rows()[ENGLISH].items())[:tasks]:
        _, split = rows[0].split("/")
        scores = {"main_score": value, "ndcg_at_10": value, "hf_subset": "default"}
        content = {"task_name": task, "scores": {split: [scores]}}
        (folder / f"{task}.json").write_text(json.dumps(content), encoding="utf-8")
    (folder / "model_meta.json").write_text('{"name": "me/mine"}', encoding="utf-8")


def test_a_further_model_takes_its_place(tmp_path: Path, ir_std_cli: Any) -> None:
    mine(tmp_path, 0.99)
    done = ir_std_cli("leaderboard", ENGLISH, "--with", tmp_path, "--top", "2", "-o", "csv")
    assert done.status == 0
    place, model, *_ = done.out[1].split(",")
    assert (place, model) == ("1", "me/mine")
    assert len(done.out) == 3


def test_a_further_model_below_the_top_is_shown(tmp_path: Path, ir_std_cli: Any) -> None:
    mine(tmp_path, 0.01)
    done = ir_std_cli("leaderboard", ENGLISH, "--with", tmp_path, "--top", "2", "-o", "csv")
    assert [line.split(",")[1] for line in done.out[3:]] == ["me/mine"]


def test_a_further_model_with_few_tasks_has_no_place(tmp_path: Path, ir_std_cli: Any) -> None:
    mine(tmp_path, 0.5, tasks=5)
    done = ir_std_cli("leaderboard", ENGLISH, "--with", tmp_path, "--top", "2")
    assert "me/mine has fewer than half of the tasks, and no place." in "\n".join(done.out)


@pytest.mark.parametrize("form", ["table", "markdown", "latex", "csv", "html"])
def test_every_form_has_the_same_models(form: str, ir_std_cli: Any, board: Leaderboard) -> None:
    done = ir_std_cli("leaderboard", ENGLISH, "--top", "3", "-o", form)
    assert done.status == 0
    text = "\n".join(done.out)
    assert all(
        each.model.replace("_", "") in text.replace("\\_", "") for each in board.standings[:3]
    )
    assert board.standings[3].model not in text


@pytest.mark.parametrize(("options", "places"), [((), 3), (("-p", "2"), 2)])
def test_means_have_three_decimals_unless_others_are_asked_for(
    options: tuple[str, ...], places: int, ir_std_cli: Any
) -> None:
    shown = "\n".join(ir_std_cli("leaderboard", ENGLISH, "--top", "1", *options).out)
    mean = re.search(r" 0\.(\d+) ±0\.(\d+) ", shown)
    assert mean
    assert [*map(len, mean.groups())] == [places, places]


def test_without_a_name_the_benchmarks_are_listed(ir_std_cli: Any) -> None:
    lines = ir_std_cli("leaderboard").out
    assert f"{ENGLISH}\t12 of 12 tasks" in lines
    assert len(lines) == len(benchmark_rows())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["MTEB(eng, v3)"], "did you mean 'MTEB(eng, v2)'"),
        (["BEIR-NL"], "of none of its 15 retrieval and reranking tasks"),
        ([ENGLISH, "--systems", "zeroshot"], "take all or zero-shot"),
        ([ENGLISH, "--top", "0"], "--top is 0"),
    ],
)
def test_what_is_not_there_is_said(arguments: list[str], message: str, ir_std_cli: Any) -> None:
    done = ir_std_cli("leaderboard", *arguments)
    assert done.status == 2
    assert message in "\n".join(done.err)


def test_a_model_without_a_whole_task_is_refused() -> None:
    with pytest.raises(NoFactorsError, match=r"x has no whole task of MTEB\(eng, v2\)"):
        ir_std.leaderboard(ENGLISH, others={"x": {"NanoNQ/test": 0.5}})
    with pytest.raises(UsageError):
        ir_std.leaderboard("nothing")


def test_the_page_is_the_reports(board: Leaderboard, tmp_path: Path) -> None:
    pytest.importorskip("jinja2")
    write_report(board.top(3), tmp_path / "board.html")
    page = (tmp_path / "board.html").read_text(encoding="utf-8")
    assert '<meta name="generator" content="ir_std' in page
    assert all(text in page for text in ("mogstad2024", "CC0-1.0", 'class="sortable runs"'))
    first = board.standings[0]
    assert f'<td data-v="{first.best}">{first.best} to {first.worst}</td>' in page
    (tmp_path / "other.html").write_text("mine")
    with pytest.raises(ir_std.InputError):
        write_report(board, tmp_path / "other.html")
    with pytest.raises(UsageError, match="a leaderboard has tasks"):
        write_report(board, tmp_path / "board.html", queries={"SciFact": "claims"})


@pytest.mark.slow
def test_the_pages_models_are_found_sorted_and_saved(
    browser: Any, board: Leaderboard, tmp_path: Path
) -> None:
    write_report(board.top(60), tmp_path / "board.html")
    page = browser.new_page()
    said: list[str] = []
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto((tmp_path / "board.html").as_uri())
    models = "rows => rows.filter(r => r.offsetParent).map(r => r.cells[0].textContent)"
    shown = [each.model for each in board.standings[:50]]
    assert page.eval_on_selector_all("#board tbody tr", models) == shown
    assert page.locator(".overview .dot").count() == 60
    page.click("#board th:has-text('raw') button")
    raw = max((s for s in board.standings[:60] if s.raw == s.raw), key=lambda s: s.raw)
    assert page.eval_on_selector_all("#board tbody tr", models)[0] == raw.model
    page.fill("#board .filter", board.standings[55].model)
    assert page.eval_on_selector_all("#board tbody tr", models) == [board.standings[55].model]
    with page.expect_download() as saved:
        page.click("#board .csv")
    text = Path(saved.value.path()).read_text(encoding="utf-8")
    assert text == f"{board.top(60).table().csv()}\n"
    assert said == []
    page.close()
