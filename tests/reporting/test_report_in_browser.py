"""The report in a browser, in short; test_report_page.py, which is slow, tries all of it."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any

import pytest
from ir_measures import AP, P
from views import EN_DASH, HOSTILE, View, saved

import ir_std
from ir_std import sAP
from ir_std.reporting.figure_data import mean_estimate, runs_by_mean
from ir_std.reporting.html.report import write_report
from ir_std.reporting.html.sentences import describe_results
from ir_std.reporting.run_diff import RunDiff


def test_its_sentences_are_those_of_the_measure_chosen(view: View, results: ir_std.Results) -> None:
    assert view.page.locator(".words li").all_text_contents() == describe_results(results, sAP)
    view.page.select_option("select[data-choice=measure]", "P@10")
    assert view.page.locator(".words li").all_text_contents() == describe_results(results, P @ 10)


def test_ranks_are_those_of_the_sorted_column_with_what_they_are_worth(
    view: View, results: ir_std.Results
) -> None:
    def check(measure: Any) -> None:
        names = view.column(".runs", "run")
        ranked = [results.ranks[run][measure] for run in names]
        assert [r.rank for r in ranked] == sorted(r.rank or 0 for r in ranked)
        shown = [f"{r.rank} ({r.best}{EN_DASH}{r.worst})" for r in ranked]
        assert view.column(".runs", "rank") == shown
        assert view.column(".runs", "among") == [
            str(results.placements[run][measure].rank) for run in names
        ]
        assert view.text(".runs [data-column=rank] button") == f"rank by {measure}"

    for measure in (sAP, P @ 10):
        view.page.select_option("select[data-choice=measure]", str(measure))
        check(measure)
    view.page.locator(".runs thead button", has_text=re.compile("^AP$")).click()
    check(AP)
    view.page.locator(".runs thead button", has_text=re.compile("^rank")).click()
    check(P @ 10)  # the measure that is chosen
    assert len({results.ranks[run][sAP].worst for run in results.runs}) > 1


@pytest.mark.parametrize("measure", ["sAP", "sP@10"])
def test_on_a_phone_the_table_shows_the_score(view: View, measure: str) -> None:
    view.page.set_viewport_size({"width": 390, "height": 800})
    view.page.select_option("select[data-choice=measure]", measure)
    name = view.page.locator(".runs tbody th").first.bounding_box()
    score = view.page.locator(f".runs tbody tr >> nth=0 >> td[data-m='{measure}']").bounding_box()
    assert name["x"] + name["width"] <= score["x"]
    assert score["x"] + score["width"] <= 390
    view.page.set_viewport_size({"width": 1280, "height": 720})


def test_a_view_can_be_sent(view: View, file: Path) -> None:
    view.open(file, "#run=run4&measure=P%4010&against=run9&as=scatter&topic=403")
    assert view.text(".one-run .run-name") == "run4"
    assert view.text(".one-run .measure-name") == "P@10"
    assert view.text(".against .against-name") == "run9"
    assert view.page.is_checked(".as-scatter")
    assert view.text(".topic-name") == "403"
    assert view.text(".topic-line").startswith("run4: P@10 ")
    assert view.page.evaluate("scrollY") > 0


def test_an_interval_is_drawn_as_far_as_a_score_can_be_and_told_whole(
    browser: Any, tmp_path: Path
) -> None:
    qrels = {f"t{i}": {"a": 1} for i in range(6)}
    runs = {
        "perfect": {t: {"a": 1.0} for t in qrels},
        "nearly": {t: {"a": 1.0, "b": 2.0 * (t == "t0")} for t in qrels},
    }
    results = ir_std.evaluate(runs, qrels, AP)
    high = mean_estimate(results, "nearly", AP).interval[1]
    assert high > 1
    write_report(results, tmp_path / "report.html")
    view = View(browser)
    view.open(tmp_path / "report.html", "#run=nearly")
    ends = view.page.eval_on_selector_all(
        ".overview .interval", "ps => ps.map(p => p.getBBox()).map(b => b.x + b.width)"
    )
    dots = view.page.eval_on_selector_all(".overview .dot", "ds => ds.map(d => d.cx.baseVal.value)")
    assert max(ends) == pytest.approx(max(dots))
    assert f"{high:.4f}" in view.text(".one-run .numbers")
    view.context.close()


def test_a_hostile_name_does_nothing(browser: Any, tmp_path: Path) -> None:
    qrels = {HOSTILE: {"a": 1, "b": 0}, "t": {"a": 1, "b": 0}}
    runs = {
        HOSTILE: {t: {"a": 2.0, "b": 1.0} for t in qrels},
        "other": {t: {"a": 1.0, "b": 2.0} for t in qrels},
    }
    write_report(
        ir_std.evaluate(runs, qrels, AP, baseline=HOSTILE), tmp_path / "report.html", HOSTILE
    )
    view = View(browser)
    view.open(tmp_path / "report.html")
    view.open_topics()
    for name in ("other", HOSTILE):
        view.page.select_option("select[data-choice=run]", name)
        view.page.wait_for_function(
            "name => document.querySelector('.run-name').textContent === name", arg=name
        )
        view.page.focus(".topics-0 svg")
        view.page.keyboard.press("Home")
        view.page.keyboard.press("Enter")
        view.page.check(".as-scatter")
        view.page.uncheck(".as-scatter")
    assert HOSTILE in view.rows(".all-topics table")
    name, content = saved(view, ".runs-table .csv")
    assert next(csv.reader(content.decode().splitlines()[1:]))[0] == f"'{HOSTILE}"
    assert view.page.locator("img").count() == 0
    assert view.said == []
    view.context.close()


@pytest.mark.slow
def test_both_rankings_are_drawn_on_the_topics_that_tell_a_pair_apart(
    view: View, results: ir_std.Results, file: Path
) -> None:
    first = runs_by_mean(results, sAP)[0]
    links = view.page.locator(".strips-of-pair a")
    topics = links.all_text_contents()
    pair = RunDiff(results, first, "run0", AP)
    assert pair.topics[0].topic in topics
    assert len(topics) == 4
    view.open(file, f"#run={first}&topic={topics[0]}")
    on = pair.on(topics[0])
    assert view.page.locator(".strips .canvas .document").count() == 20
    common = {*on.rankings[0].documents[:10]} & {*on.rankings[1].documents[:10]}
    assert view.page.locator(".strips svg > path[class^='link ']").count() == len(common)
    relevant = sum((d.level or 0) > 0 for d in map(on.document, on.rankings[0].documents[:10]))
    label = view.page.get_attribute(".strips svg", "aria-label")
    assert f"{first} has {relevant} relevant document" in label
    view.page.focus(".strips svg")
    view.page.keyboard.press("Home")
    assert view.tip(".strips").startswith(f"{on.rankings[0].documents[0]}; ")
