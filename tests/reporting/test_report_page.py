"""The report in a browser: every interaction, by mouse and by keyboard, without a network."""

from __future__ import annotations

import csv
import re
from itertools import pairwise
from math import comb
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest
from ir_measures import AP, P
from scipy import stats
from views import (
    HOSTILE,
    MINUS,
    N_RUNS,
    SYSTEMS,
    View,
    saved,
    score,
)

import ir_std
from ir_std import sAP
from ir_std.reporting.comparison import Comparison
from ir_std.reporting.figure_data import runs_by_mean
from ir_std.reporting.html import rankings
from ir_std.reporting.html.report import write_report
from ir_std.reporting.html.sentences import describe_results
from ir_std.testing import simulated_qrels, simulated_run

pytestmark = pytest.mark.slow

REGION_NAMES = (
    "rs => rs.map(r => r.ariaLabel ?? r.getAttribute('aria-labelledby').split(' ')"
    ".map(id => document.getElementById(id).textContent).join(' '))"
)
"""What tells regions apart that are read aloud."""


# The first screen.


def test_the_overview_ranks_all_runs_by_mean(view: View, results: ir_std.Results) -> None:
    dots = view.page.eval_on_selector_all(
        ".overview .dot", "ds => ds.map(d => [d.cy.baseVal.value, d.cx.baseVal.value])"
    )
    across = [x for _, x in sorted(dots)]
    means = [results.means[run][sAP] for run in runs_by_mean(results, sAP)]
    assert np.corrcoef(across, means)[0, 1] == pytest.approx(1, abs=1e-9)
    assert across == sorted(across, reverse=True)
    assert view.page.locator(".overview .dot.baseline").count() == 1
    # Thin by topics and systems, over it thick by topics alone.
    assert view.page.locator(".overview .interval:not(.over-topics)").count() == N_RUNS
    assert view.page.locator(".overview .over-topics").count() == N_RUNS


def test_a_dot_tells_its_run_and_a_press_shows_its_topics(
    view: View, results: ir_std.Results
) -> None:
    second = runs_by_mean(results, sAP)[1]
    # The run that is chosen is drawn last, over the others.
    box = view.page.locator(".overview .dot").nth(0).bounding_box()
    view.page.mouse.move(box["x"] + 4, box["y"] + 4)
    assert view.tip(".overview").startswith(f"2. {second}; sAP {score(results.means[second][sAP])}")
    view.page.mouse.click(box["x"] + 4, box["y"] + 4)
    view.page.wait_for_function("() => location.hash !== ''")
    assert view.address() == f"#run={second}"
    assert view.text(".one-run .run-name") == second


def test_the_overview_answers_to_the_keyboard(view: View, results: ir_std.Results) -> None:
    third = runs_by_mean(results, sAP)[2]
    view.page.focus(".overview svg")
    for key in ("ArrowDown", "ArrowDown", "ArrowDown"):
        view.page.keyboard.press(key)
    assert view.tip(".overview").startswith(f"3. {third};")
    view.page.keyboard.press("Escape")
    assert view.tip(".overview") == ""
    view.page.keyboard.press("End")
    assert view.tip(".overview").startswith(f"{N_RUNS}. {runs_by_mean(results, sAP)[-1]}")
    view.page.keyboard.press("Home")
    view.page.keyboard.press("Enter")
    view.page.wait_for_function("() => location.hash !== ''")
    assert view.address() == f"#run={runs_by_mean(results, sAP)[0]}"


def test_the_overview_shows_the_systems(view: View, results: ir_std.Results) -> None:
    placed = results.placements["run0"][sAP]
    ticks = view.page.get_attribute(".overview path.systems", "d")
    assert ticks.count("M") == placed.n_systems == 129
    assert "129 systems" in view.text(".overview svg")


@pytest.mark.parametrize("width", [375, 1280])
def test_names_numbers_and_titles_fit_their_width(browser: Any, tmp_path: Path, width: int) -> None:
    qrels = simulated_qrels({str(i): 5 for i in range(10)})
    runs = {name: simulated_run(qrels, i, 20) for i, name in enumerate(("MW@WM_WMW", "i", HOSTILE))}
    write_report(ir_std.evaluate(runs, qrels, AP), tmp_path / "report.html")
    view = View(browser, viewport={"width": width, "height": 800})
    view.open(tmp_path / "report.html")
    boxes = view.page.eval_on_selector_all(
        ".overview text", "ts => ts.map(t => t.getBBox()).map(b => [b.x, b.x + b.width])"
    )
    right = view.page.eval_on_selector(".overview svg", "s => s.viewBox.baseVal.width")
    assert all(0 <= low < high <= right for low, high in boxes)
    assert view.page.locator(".overview text.small").count() >= 3
    titles = view.page.eval_on_selector_all(
        ".against-0 .axis-title",
        "ts => ts.map(t => [t.getBBox(), t.ownerSVGElement.viewBox.baseVal])"
        ".map(([t, within]) => [t.x + t.width, within.width])",
    )
    assert len(titles) == 2
    assert all(end <= within for end, within in titles)
    assert view.said == []
    view.context.close()


def test_the_first_screen_does_not_wait_for_the_scores_by_topic(browser: Any, file: Path) -> None:
    view = View(browser)
    view.page.add_init_script(
        "window.DecompressionStream = class { constructor() { return "
        "new TransformStream({ transform: () => new Promise(() => {}) }); } }"
    )
    view.page.goto(file.as_uri())
    view.page.wait_for_selector("html[data-ready]")
    assert view.page.locator(".overview .dot").count() == N_RUNS
    view.page.select_option("select[data-choice=measure]", "P@10")
    view.page.wait_for_function("() => location.hash !== ''")
    assert view.text(".overview .measure-name") == "P@10"
    assert 20 <= len([r for r in view.rows() if r.startswith("run")]) <= 21
    assert not view.page.is_visible(".one-run")
    assert view.said == []
    view.context.close()


# The table of means.


def test_a_press_on_a_heading_sorts_and_another_turns_around(view: View) -> None:
    head = view.page.locator(".runs thead button", has_text=re.compile("^AP$"))
    head.click()
    down = [float(v.rstrip(f"+{MINUS}")) for v in view.column(".runs", "AP")]
    assert down == sorted(down, reverse=True)
    assert view.page.get_attribute(".runs [aria-sort]", "aria-sort") == "descending"
    head.focus()
    view.page.keyboard.press("Enter")
    assert [float(v.rstrip(f"+{MINUS}")) for v in view.column(".runs", "AP")] == down[::-1]
    assert view.page.locator(".runs [aria-sort]").count() == 1
    view.page.click(".runs thead button >> nth=0")
    assert view.column(".runs", "run") == [f"run{i}" for i in range(N_RUNS)]


def test_the_sort_is_kept_when_another_measure_or_run_is_chosen(view: View) -> None:
    view.page.locator(".runs thead button", has_text=re.compile("^P@10$")).click()
    before = view.column(".runs", "run")
    view.page.select_option("select[data-choice=measure]", "AP")
    view.page.select_option("select[data-choice=run]", "run7")
    assert view.column(".runs", "run") == before
    assert "sort=P%4010%3Adescending" in view.address()


def test_the_heads_of_a_long_table_stay_in_view(view: View) -> None:
    view.page.click(".runs-table .more")
    view.page.locator(".runs tbody tr >> nth=-1").scroll_into_view_if_needed()
    head = view.page.locator(".runs thead th").first.bounding_box()
    controls = view.page.locator(".controls").bounding_box()
    assert head["y"] == pytest.approx(controls["y"] + controls["height"], abs=1)
    assert controls["y"] == pytest.approx(0, abs=1)
    view.page.set_viewport_size({"width": 400, "height": 500})
    view.page.wait_for_selector(".runs-table > .goes-on")
    box = view.page.locator(".runs-table > .scroll")
    box.evaluate("e => { e.scrollTop = 10000; }")
    assert view.page.locator(".runs thead th").first.bounding_box()["y"] == pytest.approx(
        box.bounding_box()["y"], abs=1
    )
    view.page.set_viewport_size({"width": 1280, "height": 720})


def test_it_folds_after_twenty_rows_and_unfolds(view: View) -> None:
    rows = [r for r in view.rows() if r.startswith("run")]
    assert 20 <= len(rows) <= 21
    assert "run0" in rows  # the baseline is shown wherever it ranks
    view.page.click(".runs-table .more")
    assert len([r for r in view.rows() if r.startswith("run")]) == N_RUNS
    view.page.focus(".runs-table .more")
    view.page.keyboard.press("Enter")
    assert len([r for r in view.rows() if r.startswith("run")]) == len(rows)


def test_the_filter_finds_runs_by_a_part_of_their_name(view: View) -> None:
    view.page.focus(".runs-table .filter")
    view.page.keyboard.type("RUN2")
    assert sorted(view.rows()) == [
        "mean of the systems",
        "run2",
        "run20",
        "run21",
        "run22",
        "run23",
    ]
    view.page.fill(".runs-table .filter", "zz")
    assert view.rows() == ["mean of the systems"]
    assert view.text(".runs-table .count") == "No run has “zz” in its name."
    view.page.fill(".runs-table .filter", "")
    assert len(view.rows()) > 20
    assert view.text(".runs-table .count").endswith("of 24 are shown.")


def test_the_systems_mean_is_a_row(view: View, results: ir_std.Results) -> None:
    cells = view.page.locator(".systems-row td:not(.js-only)").all_text_contents()
    assert cells == [
        score(float(np.mean(results.placements["run0"][m].means))) for m in results.measures
    ]


def test_intervals_are_shown_on_hover_and_focus(view: View, results: ir_std.Results) -> None:
    run = runs_by_mean(results, sAP)[3]
    cell = f".runs tr:has(a:text-is('{run}')) td[data-m='sAP'] button"
    sure = results.uncertainty[run][sAP]
    low, high = sure.interval
    said = (
        f"95% interval {score(low)} to {score(high)} (±{score(sure.topics)} by topics, "
        f"±{score(sure.systems)} by systems)"
    )
    view.page.hover(cell)
    assert said in view.text(".runs-table > .tip")
    view.page.mouse.move(2, 2)
    assert not view.page.is_visible(".runs-table > .tip")
    view.page.focus(cell)
    assert said in view.text(".runs-table > .tip")
    assert results.placements[run][sAP].summary in view.text(".runs-table > .tip")


def test_the_arrow_keys_go_from_number_to_number(view: View) -> None:
    assert view.page.locator(".runs tbody button[tabindex='0']").count() == 1
    view.page.focus(".runs tbody button[tabindex='0']")
    at = "document.activeElement.closest('td').dataset.m"
    assert view.page.evaluate(at) == "AP"
    view.page.keyboard.press("ArrowRight")
    view.page.keyboard.press("ArrowDown")
    assert view.page.evaluate(at) == "sAP"
    assert (
        view.page.evaluate("document.activeElement.closest('tr').cells[0].textContent")
        == view.rows()[1]
    )


def test_a_press_on_a_number_shows_it_by_every_scheme(view: View, results: ir_std.Results) -> None:
    run = runs_by_mean(results, sAP)[3]
    view.page.click(f".runs tr:has(a:text-is('{run}')) td[data-m='AP'] button")
    view.page.wait_for_function("() => location.hash !== ''")
    shown = dict(
        zip(
            view.page.locator(".numbers dt").all_text_contents(),
            view.page.locator(".numbers dd:not(.note)").all_text_contents(),
            strict=True,
        )
    )
    plan = results.plans[sAP]
    expected = {
        scheme: score(
            float(
                np.mean(
                    plan.factors.standardize("AP", results.topics, results.values[run][AP], scheme)
                )
            )
        )
        for scheme in "zNUE"
    }
    assert {scheme: shown[scheme] for scheme in "zNUE"} == expected
    assert shown["raw AP"] == score(results.means[run][AP])
    test = results.tests[run][AP]
    assert shown["less run0"].replace(MINUS, "-") == f"{test.difference:+.4f}"


def test_a_wide_table_hints_that_it_goes_on_and_keeps_its_first_column(view: View) -> None:
    view.page.set_viewport_size({"width": 400, "height": 800})
    scroll = view.page.locator(".runs-table > .scroll")
    assert "goes-on" in scroll.get_attribute("class")
    left = view.page.locator(".runs tbody th").first.bounding_box()["x"]
    scroll.evaluate("e => { e.scrollLeft = 10000; }")
    view.page.wait_for_function("() => !document.querySelector('.runs-table > .goes-on')")
    assert view.page.locator(".runs tbody th").first.bounding_box()["x"] == left
    view.page.set_viewport_size({"width": 1280, "height": 720})


# One run.


def test_a_press_on_a_run_shows_its_topics(view: View, results: ir_std.Results) -> None:
    view.open_topics()
    for run in runs_by_mean(results, sAP)[:2]:
        view.page.click(f".runs a:text-is('{run}')")
        view.page.wait_for_function(
            "run => document.querySelector('.one-run .run-name').textContent === run", arg=run
        )
        shown = dict(
            zip(
                view.column(".all-topics table", "topic"),
                view.column(".all-topics table", "sAP"),
                strict=True,
            )
        )
        assert shown == {t: score(v) for t, v in results.by_topic(run, sAP).items()}


@pytest.mark.parametrize("place", [0, 1])
def test_the_points_stand_where_the_scores_are(
    view: View, results: ir_std.Results, place: int
) -> None:
    view.page.select_option("select[data-choice=run]", "run2")
    heights = view.page.eval_on_selector_all(
        f".topics-{place} .dot", "ds => ds.map(d => d.cy.baseVal.value)"
    )
    order = np.argsort(ir_std.load_factors("trec8-adhoc").mean["AP"], kind="stable")
    scores = np.round(results.values["run2"][(AP, sAP)[place]][order], 4)
    assert heights == pytest.approx(268 - scores * (250 - 8), abs=0.02)


def test_a_standardized_picture_has_one_band(view: View) -> None:
    assert view.page.locator(".topics-1 rect.band").count() == 1
    assert view.page.locator(".topics-1 path.band").count() == 0
    assert view.page.get_attribute(".topics-0 path.band", "d").count("M") == 50


def test_a_topic_tells_all_that_is_known_of_it(view: View, results: ir_std.Results) -> None:
    factors = ir_std.load_factors("trec8-adhoc")
    view.page.select_option("select[data-choice=run]", "run2")
    hardest = int(np.argsort(factors.mean["AP"], kind="stable")[0])
    raw = results.values["run2"][AP][hardest]
    mean, sd = factors.mean["AP"][hardest], factors.sd["AP"][hardest]
    rank = 1 + int((factors.scores["AP"][hardest] > raw).sum())
    expected = (
        f"topic {results.topics[hardest]}: AP {score(raw)}, sAP "
        f"{score(results.values['run2'][sAP][hardest])}; {SYSTEMS} AP {score(mean)}, sd "
        f"{score(sd)}; z {(raw - mean) / sd:+.2f}, rank {rank} among 129 systems"
    )
    dot = view.page.locator(".topics-0 .dot").first
    dot.scroll_into_view_if_needed()
    box = dot.bounding_box()
    view.page.mouse.move(box["x"] + 3, box["y"] - 60)
    assert view.tip(".topics-0").replace(MINUS, "-") == expected
    view.page.mouse.move(0, 0)
    view.page.focus(".topics-1 svg")
    view.page.keyboard.press("ArrowRight")
    assert view.tip(".topics-1").replace(MINUS, "-") == expected


def test_a_topic_tells_it_to_a_finger(browser: Any, file: Path) -> None:
    phone = View(browser, has_touch=True, viewport={"width": 375, "height": 700})
    phone.open(file)
    dot = phone.page.locator(".topics-0 .dot").first
    dot.scroll_into_view_if_needed()
    box = dot.bounding_box()
    phone.page.touchscreen.tap(box["x"] + 3, box["y"] + 3)
    phone.page.wait_for_selector(".topic-line")
    assert phone.text(".one-topic h3").startswith("Topic ")
    assert phone.said == []
    phone.context.close()


def test_a_topic_has_an_address(view: View, results: ir_std.Results) -> None:
    view.page.focus(".topics-0 svg")
    view.page.keyboard.press("Home")
    view.page.keyboard.press("Enter")
    view.page.wait_for_selector(".topic-line")
    topic = view.address().removeprefix("#topic=")
    assert topic in results.topics
    assert view.text(".topic-name") == topic
    run = runs_by_mean(results, sAP)[0]
    assert view.text(".topic-line").startswith(
        f"{run}: AP {score(results.by_topic(run, AP)[topic])}, "
    )
    assert view.page.locator(".topics-1 circle.topic").count() == 1
    assert view.page.evaluate("document.activeElement.matches('.topics-0 svg')")


def test_all_runs_are_shown_on_the_topic_that_is_chosen(
    view: View, file: Path, results: ir_std.Results
) -> None:
    view.open(file, "#topic=403&run=run4")
    scores = {run: results.by_topic(run, sAP)["403"] for run in results.runs}
    dots = view.page.eval_on_selector_all(
        ".on-topic .dot", "ds => ds.map(d => [d.cy.baseVal.value, d.cx.baseVal.value])"
    )
    across = [x for _, x in sorted(dots)]
    assert np.corrcoef(across, sorted(scores.values(), reverse=True))[0, 1] == pytest.approx(1)
    first = max(scores, key=lambda run: scores[run])
    view.page.focus(".on-topic svg")
    view.page.keyboard.press("Home")
    assert view.tip(".on-topic").startswith(f"1. {first}; AP ")
    assert f"sAP {score(scores[first])}" in view.tip(".on-topic")
    # The standardizing systems are where the axis has them; scores on the page have four decimals.
    peers = results.peers(sAP)
    assert peers is not None
    at = results.topics.index("403")
    band = view.page.eval_on_selector(
        ".on-topic rect.band", "r => [r.x.baseVal.value, r.width.baseVal.value]"
    )
    slope = (across[0] - across[-1]) / (max(scores.values()) - min(scores.values()))
    assert band[1] == pytest.approx(slope * (peers.high[at] - peers.low[at]), abs=0.1)
    assert band[0] - across[-1] == pytest.approx(
        slope * (peers.low[at] - min(scores.values())), abs=0.1
    )
    view.page.keyboard.press("Enter")
    view.page.wait_for_function("run => location.hash.includes(`run=${run}`)", arg=first)
    assert "topic=403" in view.address()
    view.page.click(".one-topic .close")
    view.page.wait_for_function("() => !location.hash.includes('topic')")
    assert not view.page.is_visible(".one-topic")


def test_the_systems_are_named_on_the_topic_and_one_can_be_set_against_the_run(
    view: View, file: Path, results: ir_std.Results
) -> None:
    plan = results.plans["sAP"]
    topic = results.topics[7]
    view.open(file, f"#topic={topic}")
    names = view.page.eval_on_selector_all(
        "select[data-choice=against] optgroup option", "all => all.map(o => o.textContent)"
    )
    assert set(names) == set(plan.factors.info["tags"])
    means = {name: ir_std.system(f"trec8-adhoc/{name}").values[AP] for name in names}
    assert names[0] == max(names, key=lambda name: sum(means[name].values()))
    assert view.page.get_attribute(".on-topic .systems", "d").count("M") == len(names)
    view.page.locator(".on-topic svg").focus()
    view.page.keyboard.press("End")
    name, told = view.tip(".on-topic").split("; ")
    z = (means[name][topic] - plan.factors.mean["AP"][7]) / plan.factors.sd["AP"][7]
    assert told == f"sAP {score(stats.norm.cdf(z))}"
    view.page.keyboard.press("Enter")
    view.page.wait_for_function(
        "name => document.querySelector('.against-name')?.textContent === name", arg=name
    )
    chosen = view.text(".run-name")
    better = [t for t in results.topics if results.by_topic(chosen, "AP")[t] > means[name][t]]
    assert f"AP: {chosen} is better on {len(better)}, worse" in view.text(".against-caption")


def test_a_topic_of_the_table_leads_to_its_picture(view: View) -> None:
    view.open_topics()
    view.page.locator(".all-topics tbody a", has_text="449").click()
    view.page.wait_for_function("""() => {
        const top = document.querySelector('.one-topic').getBoundingClientRect().top;
        return location.hash.includes('topic=449') && top > -2 && top < innerHeight / 2; }""")
    assert view.text(".topic-name") == "449"


def test_the_farthest_topics_are_named(view: View, results: ir_std.Results) -> None:
    view.page.select_option("select[data-choice=run]", "run1")
    view.page.select_option("select[data-choice=measure]", "sP@10")
    z = results.deviations("run1", ir_std.sP @ 10)
    for table, wanted in ((".above", np.sort(z[z > 0])[::-1]), (".below", np.sort(z[z < 0]))):
        shown = [float(v.replace(MINUS, "-")) for v in view.column(table, "z")]
        assert shown == pytest.approx(wanted[:5].round(2))


def test_the_table_of_topics_sorts_and_filters(view: View) -> None:
    view.open_topics()
    view.page.locator(".all-topics thead button", has_text=re.compile("^z$")).click()
    z = [float(v.replace(MINUS, "-")) for v in view.column(".all-topics table", "z")]
    assert z == sorted(z, reverse=True)
    view.page.select_option("select[data-choice=run]", "run1")
    z = [float(v.replace(MINUS, "-")) for v in view.column(".all-topics table", "z")]
    assert z == sorted(z, reverse=True)
    view.page.fill(".all-topics .filter", "449")
    assert view.rows(".all-topics table") == ["449"]


# A run against another.


def test_differences_are_sorted_and_those_of_the_scores_shown(
    view: View, results: ir_std.Results
) -> None:
    view.page.select_option("select[data-choice=run]", "run5")
    a, b = (results.values[run][AP].round(4) for run in ("run5", "run0"))
    differences = np.sort((a - b).round(4))[::-1]
    view.page.focus(".against-0 svg")
    for wanted in differences[:3]:
        view.page.keyboard.press("ArrowRight")
        assert f": {wanted:+.4f}" in view.tip(".against-0").replace(MINUS, "-")
    better, worse = int((differences > 0).sum()), int((differences < 0).sum())
    assert f"AP: run5 is better on {better}, worse on {worse} of 50 topics." in view.text(
        ".against-caption"
    )
    decides = results.topics[int(np.argmax(a - b))]
    assert f"Most for it: {decides} " in view.text(".against-caption")


def test_any_two_runs_can_be_a_scatter(view: View, results: ir_std.Results) -> None:
    view.page.select_option("select[data-choice=run]", "run5")
    view.page.select_option("select[data-choice=against]", "run6")
    view.page.check(".as-scatter")
    view.page.wait_for_function("() => location.hash.includes('as=scatter')")
    for place, measure in enumerate((AP, sAP)):
        points = view.page.eval_on_selector_all(
            f".against-{place} .dot", "ds => ds.map(d => [d.cx.baseVal.value, d.cy.baseVal.value])"
        )
        x, y = np.transpose(points)
        assert np.corrcoef(x, results.values["run6"][measure])[0, 1] == pytest.approx(1, abs=1e-5)
        assert np.corrcoef(y, results.values["run5"][measure])[0, 1] == pytest.approx(-1, abs=1e-5)
    view.page.focus(".as-scatter")
    view.page.keyboard.press("Space")
    view.page.wait_for_function("() => !location.hash.includes('as=')")
    view.page.wait_for_function(
        "() => document.querySelectorAll('.against-0 path.bar').length === 2"
    )


# Addresses.


def test_the_back_button_goes_to_the_view_before(view: View) -> None:
    for run in ("run4", "run5"):
        view.page.select_option("select[data-choice=run]", run)
        view.page.wait_for_function("run => location.hash === '#run=' + run", arg=run)
    view.page.go_back()
    view.page.wait_for_function("() => document.querySelector('.run-name').textContent === 'run4'")
    assert view.page.input_value("select[data-choice=run]") == "run4"
    view.page.go_forward()
    view.page.wait_for_function("() => document.querySelector('.run-name').textContent === 'run5'")


@pytest.mark.parametrize(
    ("address", "unknown"),
    [
        ("#run=nobody&measure=X&topic=0", "run “nobody”, measure “X”, topic “0”."),
        ("#%", "“%”"),
        ("#sort=AP:up", "sort “AP:up”"),
        (f"#run={quote(HOSTILE)}", f"run “{HOSTILE}”"),
        ("#means", "“means”"),
        ("#method", None),
        ("", None),
    ],
)
def test_an_address_that_names_what_is_not_here_says_so_and_shows_the_start(
    view: View, file: Path, results: ir_std.Results, address: str, unknown: str | None
) -> None:
    view.open(file, address)
    assert view.page.is_visible(".address-problem") == (unknown is not None)
    if unknown:
        assert unknown in view.text(".address-problem")
        box = view.page.locator(".address-problem").bounding_box()
        assert 0 <= box["y"] <= box["y"] + box["height"] <= 720
    assert view.text(".one-run .run-name") == runs_by_mean(results, sAP)[0]
    assert view.text(".one-run .measure-name") == "sAP"


# Several collections.


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> tuple[Comparison, Path]:
    entries = []
    for name in ("trec7-adhoc", "trec8-adhoc"):
        qrels = simulated_qrels(ir_std.load_factors(name).n_rel)
        entries += [
            (system, simulated_run(qrels, i, 60), qrels)
            for i, system in enumerate(("bm25", "mono"))
        ]
    comparison = ir_std.compare(entries, [AP, P @ 10]).tested("bm25")
    place = tmp_path_factory.mktemp("several") / "report.html"
    write_report(comparison, place)
    return comparison, place


def test_the_forest_shows_each_collection_and_of_two_no_summary(
    shared: View, several: tuple[Comparison, Path]
) -> None:
    comparison, place = several
    shared.open(place)
    effects = comparison.effects("bm25").of("sAP").effects
    shared.page.focus(".forest svg")
    for effect in effects:
        shared.page.keyboard.press("ArrowDown")
        assert shared.tip(".forest").startswith(
            f"mono, {effect.collection}: 50 topics; sAP {score(effect.difference.mean)} ["
        )
    squares = shared.page.eval_on_selector_all(
        ".forest rect.dot", "rs => rs.map(r => r.x.baseVal.value + r.width.baseVal.value / 2)"
    )
    assert (squares[0] < squares[1]) == (effects[0].difference.mean < effects[1].difference.mean)
    assert shared.page.locator(".forest path.dot.baseline").count() == 0
    shared.page.select_option("#across select", "AP")
    shared.page.wait_for_function("() => location.hash === '#in=all&measure=AP'")
    names = [*comparison.collections, "How to read it", "Method, sources and citation"]
    regions = shared.page.eval_on_selector_all("[role=region]", REGION_NAMES)
    assert len({*regions}) == len(regions) > 10
    contents = shared.page.locator("nav a")
    assert contents.all_text_contents() == ["Over the collections", *names]
    for link in contents.all():
        assert shared.page.locator(str(link.get_attribute("href"))).count() == 1
    shared.page.focus(".forest svg")
    shared.page.keyboard.press("Home")
    assert "; AP " in shared.tip(".forest")
    assert shared.said == []


def test_each_collection_has_views_and_addresses_of_its_own(
    shared: View, several: tuple[Comparison, Path]
) -> None:
    _, place = several
    shared.open(place, "#in=trec8-adhoc&run=bm25&measure=AP")
    assert shared.text("#part-1 .one-run .run-name") == "bm25"
    assert shared.text("#part-1 .one-run .measure-name") == "AP"
    assert shared.text("#part-0 .one-run .measure-name") == "sAP"
    shared.page.select_option("#part-0 select[data-choice=measure]", "AP")
    shared.page.wait_for_function("() => location.hash === '#in=trec7-adhoc&measure=AP'")
    assert shared.text("#part-0 .one-run .measure-name") == "AP"
    assert shared.said == []


def test_a_row_of_the_forest_leads_to_its_collection(
    shared: View, several: tuple[Comparison, Path]
) -> None:
    _, place = several
    shared.open(place)
    shared.page.focus(".forest svg")
    shared.page.keyboard.press("ArrowDown")
    shared.page.keyboard.press("Enter")
    shared.page.wait_for_function("() => location.hash === '#in=trec7-adhoc&run=mono'")
    shared.page.click("a[data-part=trec8-adhoc]")
    shared.page.wait_for_function("() => location.hash.startsWith('#in=trec8-adhoc')")
    shared.page.wait_for_function(
        "() => document.querySelector('#part-1 h2').getBoundingClientRect().top < 200"
    )
    assert shared.said == []


def test_no_column_of_a_forest_is_lost_on_paper(
    shared: View, several: tuple[Comparison, Path]
) -> None:
    comparison, place = several
    shared.open(place)
    shared.page.set_viewport_size({"width": 680, "height": 960})
    shared.page.emulate_media(media="print")
    shared.page.wait_for_selector("#across .paper")
    tables = shared.page.locator("#across table:visible")
    heads = [
        t
        for i in range(tables.count())
        for t in tables.nth(i).locator("thead th").all_text_contents()
    ]
    for table in (comparison.table(), comparison.effects("bm25").table()):
        assert set(table.header) <= set(heads)
    for i in range(tables.count()):
        box = tables.nth(i).bounding_box()
        assert box["x"] + box["width"] <= 680
    shared.page.emulate_media(media="screen")
    shared.page.set_viewport_size({"width": 1280, "height": 720})


# Downloads.


def test_the_table_is_saved_as_csv(view: View, results: ir_std.Results) -> None:
    name, content = saved(view, ".runs-table .csv")
    assert name == "trec8-adhoc-means.csv"
    rows = list(csv.DictReader(content.decode().splitlines()))
    assert [row["run"] for row in rows] == runs_by_mean(results, sAP)
    for row in rows:
        for measure in results.measures:
            assert float(row[str(measure)]) == results.means[row["run"]][measure]
            ranked = results.ranks[row["run"]][measure]
            columns = (f"{measure} rank", f"{measure} ranks best", f"{measure} ranks worst")
            assert [int(row[name]) for name in columns] == [ranked.rank, ranked.best, ranked.worst]
        if row["run"] != "run0":
            assert float(row["sAP p"]) == pytest.approx(
                results.tests[row["run"]][sAP].p_adjusted, rel=1e-8
            )


def test_the_topics_are_saved_as_csv(view: View, results: ir_std.Results) -> None:
    view.page.select_option("select[data-choice=run]", "run3")
    view.open_topics()
    name, content = saved(view, ".all-topics .csv")
    assert name == "trec8-adhoc-run3-topics.csv"
    rows = list(csv.DictReader(content.decode().splitlines()))
    assert {row["topic"]: float(row["AP"]) for row in rows} == pytest.approx(
        results.by_topic("run3", AP), abs=5.1e-5
    )


def test_every_picture_is_saved_as_svg_that_stands_alone(view: View) -> None:
    from xml.etree import ElementTree

    for figure in (".overview", ".topics-0", ".topics-1", ".against-0", ".against-1"):
        name, content = saved(view, f"{figure} .save >> nth=0")
        assert name.endswith(".svg")
        root = ElementTree.fromstring(content)
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        assert b"var(" not in content
        assert b".dot" in content


def test_every_picture_is_saved_as_png(view: View) -> None:
    for figure in (".overview", ".topics-1", ".against-0"):
        name, content = saved(view, f"{figure} .save >> nth=1")
        assert name.endswith(".png")
        assert content.startswith(b"\x89PNG")
        width = int.from_bytes(content[16:20], "big")
        assert width == 2 * int(float(view.page.get_attribute(f"{figure} .canvas svg", "width")))


def test_the_method_is_copied(browser: Any, file: Path) -> None:
    view = View(browser, permissions=["clipboard-read", "clipboard-write"])
    view.open(file)
    view.page.click(".copy >> nth=0")
    view.page.wait_for_function("() => document.querySelector('.copy').textContent === 'Copied'")
    assert view.page.evaluate("navigator.clipboard.readText()") == view.text(".paste pre")
    assert view.said == []
    view.context.close()


# For everybody, everywhere.


def test_without_scripts_the_numbers_and_the_method_are_there(
    browser: Any, file: Path, results: ir_std.Results
) -> None:
    plain = View(browser, java_script_enabled=False)
    plain.page.goto(file.as_uri())
    assert plain.page.locator(".words li").all_text_contents() == describe_results(results, sAP)
    assert plain.page.locator(".runs tbody tr:visible").count() == N_RUNS + 1
    assert plain.page.locator(".controls:visible, .chart:visible, .tools:visible").count() == 0
    assert "need JavaScript" in plain.text("noscript")
    plain.context.close()


def test_every_picture_has_a_text_alternative_and_a_stop_for_the_tab_key(view: View) -> None:
    pictures = view.page.locator("svg:not([aria-hidden])")
    assert pictures.count() == 5
    for i in range(5):
        assert pictures.nth(i).get_attribute("role") == "img"
        assert pictures.nth(i).get_attribute("tabindex") == "0"
        assert len(pictures.nth(i).get_attribute("aria-label")) > 40
    assert view.page.locator(".tip[role=status]").count() == 8


def luminance(color: str) -> float:
    """Relative luminance of ``rgb(r, g, b)``, as WCAG 2 has it."""
    parts = [int(part) / 255 for part in re.findall(r"\d+", color)[:3]]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def style(view: View, selector: str, name: str) -> str:
    found: str = view.page.eval_on_selector(
        selector, f"e => getComputedStyle(e).getPropertyValue('{name}')"
    )
    return found


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_and_marks_stand_out_in_light_and_dark(view: View, scheme: str) -> None:
    view.page.emulate_media(color_scheme=scheme)
    page = luminance(style(view, "html", "background-color"))
    assert (page < 0.1) == (scheme == "dark")

    def contrast(color: str) -> float:
        ink = luminance(color)
        return (max(page, ink) + 0.05) / (min(page, ink) + 0.05)

    for selector in (
        "body",
        ".lead",
        "a[data-run]",
        "thead th",
        "figcaption",
        "summary",
        ".systems-row th",
    ):
        assert contrast(style(view, selector, "color")) >= 4.5, selector
    assert contrast(style(view, ".overview svg text", "fill")) >= 4.5
    for selector in (".dot.run", ".dot.baseline", ".bar.up", ".bar.down"):
        assert contrast(style(view, selector, "fill")) >= 3, selector
    view.page.emulate_media(color_scheme="light")


@pytest.mark.parametrize("width", [320, 375, 768, 1280, 1920])
def test_the_page_never_scrolls_sideways(view: View, width: int) -> None:
    view.page.set_viewport_size({"width": width, "height": 800})
    view.open_topics()
    assert view.page.evaluate("document.documentElement.scrollWidth") <= width
    for figure in (".overview", ".topics-0", ".against-1"):
        box = view.page.locator(f"{figure} .canvas svg").bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
    view.page.set_viewport_size({"width": 1280, "height": 720})


def test_headings_are_in_order_and_pictures_name_their_axes(view: View) -> None:
    levels = view.page.eval_on_selector_all(
        "h1, h2, h3, h4", "hs => hs.filter(h => h.offsetParent).map(h => Number(h.tagName[1]))"
    )
    assert levels[0] == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))
    titles = {
        ".overview": ["mean sAP"],
        ".topics-1": ["sAP", "topics, hardest first"],
        ".against-0": ["AP of", "topics, largest difference first"],
    }
    for figure, expected in titles.items():
        found = view.page.locator(f"{figure} .axis-title").all_text_contents()
        assert [b.startswith(a) for a, b in zip(expected, found, strict=True)] == [True] * len(
            expected
        )


def test_nothing_moves_by_itself_for_who_wants_it_so(view: View) -> None:
    assert style(view, "html", "scroll-behavior") == "auto"
    view.page.emulate_media(reduced_motion="no-preference")
    assert style(view, "html", "scroll-behavior") == "smooth"
    view.page.emulate_media(reduced_motion="reduce")


def test_on_paper_pictures_fit_controls_are_gone_and_rows_unfold(view: View) -> None:
    view.page.set_viewport_size({"width": 680, "height": 960})
    view.page.emulate_media(media="print", color_scheme="dark")
    assert view.page.locator(".controls:visible, .tools:visible, .tip:visible").count() == 0
    assert luminance(style(view, "html", "background-color")) == 1
    box = view.page.locator(".topics-1 svg").bounding_box()
    assert box["x"] + box["width"] <= 680
    assert len(view.rows()) == N_RUNS + 1
    # Chromium repeats no head that holds a button.
    assert view.page.locator("thead button:visible").count() == 0
    heads = "h => getComputedStyle(h, '::before').content"
    shown = view.page.eval_on_selector_all(".runs thead th", f"hs => hs.map({heads})")
    assert shown[:2] == ['"run"', '"rank by sAP"']
    box = view.page.locator(".runs").bounding_box()
    assert box["x"] + box["width"] <= 680
    assert view.page.pdf(format="A4").startswith(b"%PDF")
    view.page.emulate_media(media="screen", color_scheme="light")
    view.page.set_viewport_size({"width": 1280, "height": 720})


def test_no_column_is_lost_on_paper(browser: Any, tmp_path: Path) -> None:
    qrels = simulated_qrels(ir_std.load_factors("trec8-adhoc").n_rel)
    found = ir_std.evaluate({"run": simulated_run(qrels, 1, 60)}, qrels, schemes="all")
    write_report(found, tmp_path / "report.html")
    view = View(browser, viewport={"width": 680, "height": 960})
    view.open(tmp_path / "report.html")
    assert view.page.locator(".paper:visible").count() == 0
    view.page.emulate_media(media="print")
    view.page.wait_for_selector(".paper")
    heads = view.page.locator(".paper:visible thead th")
    labels = ("run", "rank", "among 129 systems")
    assert [t for t in heads.all_text_contents() if t not in labels] == list(
        map(str, found.measures)
    )
    for i in range(heads.count()):
        box = heads.nth(i).bounding_box()
        assert box["x"] + box["width"] <= 680
    assert view.page.locator(".runs:visible").count() == 0
    assert view.said == []
    view.context.close()


# Sizes.


def many(n_runs: int, n_topics: int) -> ir_std.Results:
    """Results with made-up scores: success at rank 1, given by a generator."""
    random = np.random.default_rng(1)
    qrels = {str(i): {f"d{j}": int(j < 4) for j in range(8)} for i in range(n_topics)}
    runs = {
        f"run{r}": {
            t: {f"d{j}": float(s) for j, s in enumerate(random.normal(size=8).round(6))}
            for t in qrels
        }
        for r in range(n_runs)
    }
    return ir_std.evaluate(runs, qrels, AP)


def test_with_many_runs_the_overview_fits_the_screen_and_names_some(
    browser: Any, tmp_path: Path
) -> None:
    found = many(80, 3)
    write_report(found, tmp_path / "report.html")
    view = View(browser, viewport={"width": 1280, "height": 800})
    view.open(tmp_path / "report.html")
    box = view.page.locator(".overview svg").bounding_box()
    assert box["y"] + box["height"] <= 800
    labels = view.page.locator(".overview text.name")
    order = runs_by_mean(found, AP)
    assert [t.removesuffix(order[i]) for i, t in enumerate(labels.all_text_contents())] == (
        order[:10]
    )
    boxes = sorted(labels.nth(i).bounding_box()["y"] for i in range(labels.count()))
    assert min(b - a for a, b in pairwise(boxes)) >= 13
    # Names and the lines that lead to them stand right of all intervals, and lines in their rows.
    end = max(ends(view, ".overview .interval"))
    assert min(labels.nth(i).bounding_box()["x"] for i in range(labels.count())) > end
    leads = view.page.eval_on_selector_all(
        ".overview .leader", "ls => ls.map(l => l.getAttribute('d').match(/[\\d.]+/g).map(Number))"
    )
    left = view.page.locator(".overview svg").bounding_box()["x"]
    assert all(left + bend >= end for _, _, bend, *_ in leads)
    assert view.page.locator(".overview .interval").count() == 80
    view.context.close()


def ends(view: View, marks: str) -> list[float]:
    """Where marks end on the right, in pixels."""
    found: list[float] = view.page.eval_on_selector_all(
        marks, "ms => ms.map(m => m.getBoundingClientRect().right)"
    )
    return found


def test_of_very_many_runs_intervals_are_drawn_on_demand(browser: Any, tmp_path: Path) -> None:
    found = many(151, 5)
    write_report(found, tmp_path / "report.html")
    view = View(browser)
    view.open(tmp_path / "report.html")
    assert view.page.locator(".overview .interval").count() == 1
    assert view.page.is_visible(".overview .dense")
    view.page.focus(".overview svg")
    view.page.keyboard.press("End")
    assert view.page.locator(".overview .cursor .interval").count() == 1
    groups = {found.ranks[run][AP].group for run in found.runs}
    assert view.page.locator(".overview .group").count() == max(groups) // 2
    assert view.said == []
    view.context.close()


def test_thousands_of_topics_are_a_curve_and_a_density(browser: Any, tmp_path: Path) -> None:
    found = many(2, 3000)
    write_report(found, tmp_path / "report.html")
    view = View(browser)
    view.open(tmp_path / "report.html")
    assert view.page.locator(".topics-0 .dot").count() == 0
    assert view.page.locator(".topics-0 path.curve").count() == 1
    assert "hardest first" not in view.text(".one-run")
    assert "in their order, lowest first" in view.text(".legend")
    widths = view.page.eval_on_selector_all(
        ".topics-0 rect.density", "rs => rs.map(r => r.width.baseVal.value)"
    )
    counts, _ = np.histogram(found.values[runs_by_mean(found, AP)[0]][AP].round(4), 25, (0, 1))
    assert np.array(widths) / max(widths) == pytest.approx(counts / counts.max(), abs=1e-3)
    view.page.focus(".topics-0 svg")
    view.page.keyboard.press("End")
    assert "AP 1.0000" in view.tip(".topics-0")
    view.open_topics()
    assert len(view.rows(".all-topics table")) == 100
    view.page.click(".all-topics .more")
    assert len(view.rows(".all-topics table")) == 3000
    assert view.said == []
    view.context.close()


# What two runs ranked.


def test_the_rows_of_documents_sum_to_the_difference(
    view: View, results: ir_std.Results, file: Path
) -> None:
    first = runs_by_mean(results, sAP)[0]
    topic = view.page.locator(".strips-of-pair a").first.text_content()
    view.open(file, f"#run={first}&topic={topic}")
    rows = view.page.eval_on_selector_all(
        "table.documents tbody tr", "rows => rows.map(r => [...r.cells].map(c => c.textContent))"
    )
    scores = [results.by_topic(run, AP)[topic] for run in (first, "run0")]
    for column, expected in zip((4, 5, 6), (*scores, scores[0] - scores[1]), strict=True):
        total = sum(float(row[column].replace(MINUS, "-")) for row in rows)
        assert total == pytest.approx(expected, abs=len(rows) * 1e-4)


def test_where_rankings_are_not_drawn_the_page_says_what_draws_them(
    view: View, results: ir_std.Results, file: Path
) -> None:
    first, second = [r for r in runs_by_mean(results, sAP) if r != "run0"][:2]
    view.open(file, f"#run={first}&against={second}&topic={results.topics[0]}")
    assert not view.page.locator(".strips").is_visible()
    text = view.text(".drawn-elsewhere")
    assert f"ir_std diff {first} {second} QRELS 'AP' --topic {results.topics[0]}" in text
    view.open(file, f"#run={first}&against=READWARE2&topic={results.topics[0]}")
    assert view.text(".drawn-elsewhere").startswith("Of READWARE2 only scores are known")


def test_topics_have_the_texts_of_their_queries(
    browser: Any, results: ir_std.Results, tmp_path: Path
) -> None:
    topic = results.topics[3]
    write_report(results, tmp_path / "page.html", queries={topic: "<b>what</b> is asked"})
    view = View(browser)
    view.open(tmp_path / "page.html", f"#topic={topic}")
    assert view.text(".topic-query") == "<b>what</b> is asked"
    view.open_topics()
    view.page.fill(".all-topics .filter", "is asked")
    assert view.rows(".all-topics table") == [f"{topic}<b>what</b> is asked"]
    assert view.said == []
    view.context.close()


def test_the_guide_tells_how_many_rankings_are_drawn() -> None:
    page = Path(__file__).parents[2] / "docs" / "how-to" / "why.md"
    told = " ".join(page.read_text("utf-8").split())
    assert comb(6, 2) == rankings.MOST_PAIRS < comb(7, 2)
    assert "Of up to six runs all pairs are drawn" in told
    words = {10: "ten", 4: "four"}
    for every, sentence in (
        (True, "with {} ranks on the {} topics"),
        (False, "{} ranks on {} topics"),
    ):
        assert sentence.format(rankings.RANKS[every], words[rankings.TOPICS[every]]) in told
    assert f"of more than {rankings.MOST_RUNS} runs the first {rankings.FIRST_RUNS}" in told
