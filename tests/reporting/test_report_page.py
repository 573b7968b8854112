"""The report in a browser: every interaction, by mouse and by keyboard, without a network."""

import csv
import io
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ir_measures import AP, P
from made_up import entries_on
from screens import resize, wait_until_drawn, width_of
from views import EN_DASH, MINUS, N_RUNS, View, plain, saved, simulated

import ir_std
from ir_std import sAP
from ir_std.reporting.html import standing
from ir_std.reporting.html.record import collection_record
from ir_std.reporting.html.report import write_report
from ir_std.reporting.html.standing import standings_of

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::ir_std.StandardizationWarning")]

TABLE = "Runs by every measure"


def opened(browser: Any, results: Any, place: Path, **options: Any) -> View:
    """Write a report and open it."""
    write_report(results, place / "report.html", queries=options.pop("queries", None))
    view = View(browser, **options)
    view.open(place / "report.html")
    return view


# The pictures.


def test_marks_of_the_places_are_where_the_scores_are(view: View, results: Any) -> None:
    picture = view.page.get_by_role("group", name="among 129 systems")
    dots = picture.locator("[aria-label]").evaluate_all(
        "ms => ms.filter(m => !m.ariaLabel.startsWith('run')).map(m => m.lastElementChild)"
        ".map(c => [c.cx.baseVal.value, -c.cy.baseVal.value])"
    )
    assert len(dots) == 129
    scores = sorted(results.placements["run1"][sAP].means, reverse=True)
    assert np.corrcoef([y for _, y in dots], scores)[0, 1] == pytest.approx(1)
    assert [x for x, _ in dots] == sorted((x for x, _ in dots), reverse=True)
    for run in ("run0", "run1"):
        placed = results.placements[run][sAP]
        told = next(m for m in view.marks("among 129 systems") if m.startswith(f"{run}: "))
        assert re.search(rf"\b{placed.n_better + 1}\w\w of 130; standardized AP", told)


def test_topics_go_from_the_worst_to_the_best_with_both_scores(view: View, results: Any) -> None:
    shown = [re.match(r"topic (\d+);", m) for m in view.marks("from the worst of run1")]
    topics = [m[1] for m in shown if m]
    scores = results.values["run1"][sAP]
    own = [round(scores[results.topics.index(t)], 4) for t in topics]
    assert len(own) == 50
    assert own == sorted(own)
    told = view.marks("from the worst of run1")[0]
    for run in ("run1", "run0"):
        assert f"{run}: AP {results.values[run][AP][results.topics.index(topics[0])]:.3f}" in told
    better = (results.values["run1"][AP] > results.values["run0"][AP]).sum()
    picture = view.page.get_by_role("group", name="from the worst of run1")
    widths = picture.locator("[aria-label] line").evaluate_all(
        "ls => ls.map(l => parseFloat(getComputedStyle(l).strokeWidth))"
    )
    assert sum(width > 2 for width in widths) == better


def test_a_mark_tells_what_it_is_to_mouse_finger_and_keys(view: View) -> None:
    topics = view.page.get_by_role("group", name="from the worst of run1")
    first = topics.get_by_role("button").first
    first.hover()
    view.wait_for_tip("topic ")
    view.page.mouse.move(0, 0)
    view.page.locator("#tip").wait_for(state="hidden")
    topics.focus()
    view.page.keyboard.press("End")
    last = topics.get_by_role("button").last
    view.wait_for_tip(last.get_attribute("aria-label").split(";")[0])
    view.page.keyboard.press("Home")
    view.page.keyboard.press("ArrowRight")
    view.page.keyboard.press("Enter")
    second = topics.get_by_role("button").nth(1).get_attribute("aria-label").split(";")[0]
    assert view.page.get_by_role("heading", name=second.capitalize()).first.is_visible()


def test_the_tab_key_stops_once_at_each_picture(view: View) -> None:
    pictures = view.page.get_by_role("group").filter(has=view.page.locator("[data-tip]"))
    for i in range(pictures.count()):
        assert pictures.nth(i).get_attribute("tabindex") == "0"
    assert view.page.locator("svg [data-tip]:not([tabindex='-1'])").count() == 0


def test_rows_show_ranks_intervals_and_topics_of_all_runs(view: View, results: Any) -> None:
    names = view.column("Runs by standardized AP", "Run")[:-1]
    ranked = [results.ranks[run][sAP] for run in names]
    assert len(names) == N_RUNS
    assert [r.rank for r in ranked] == sorted(r.rank for r in ranked)
    shown = view.column("Runs by standardized AP", "Possible ranks")[:-1]
    assert shown == [
        f"{r.best}" if r.best == r.worst else f"{r.best}{EN_DASH}{r.worst}" for r in ranked
    ]
    interval = results.estimate(names[3], sAP).interval
    assert view.marks(f"standardized AP of {names[3]}$")[0].endswith(
        f"(95% interval {interval[0]:.3f} to {interval[1]:.3f})"
    )
    hardest = np.argsort(results.collection.peers(AP).mean, kind="stable")
    cells = view.marks(f"{names[3]} on each topic")
    assert [c.split(";")[0] for c in cells] == [f"topic {results.topics[i]}" for i in hardest]


def test_a_press_on_a_run_compares_it_with_the_baseline(browser: Any, tmp_path: Path) -> None:
    view = opened(browser, simulated(4, [AP]), tmp_path)
    rows = view.page.get_by_role("region", name="Runs by standardized AP")
    rows.get_by_title("Compare run2 with another run").click()
    assert (
        view.page.get_by_label("Run", exact=True).locator("option:checked").inner_text() == "run2"
    )
    view.page.get_by_role("group", name="from the worst of run2").wait_for()
    assert "run=run2" in view.address()
    view.page.get_by_label("Against", exact=True).select_option(label="run3")
    assert view.page.get_by_role("group", name="with run3").is_visible()
    assert view.said == []
    view.context.close()


def test_systems_of_the_track_can_be_set_against_a_run(browser: Any, tmp_path: Path) -> None:
    runs = [f"dl19-passage/{name}" for name in ("p_bert", "bm25base_p", "test1")]
    results = ir_std.evaluate(runs, None, "nDCG@10")
    view = opened(browser, results, tmp_path)
    view.open_details("Two runs")
    view.page.get_by_label("Against", exact=True).select_option(label="UNH_bm25")
    assert view.page.get_by_role("group", name="with UNH_bm25").is_visible()
    assert (
        view.page.get_by_role("status")
        .filter(has_text="only the scores of these runs")
        .is_visible()
    )
    view.context.close()


# The table.


def test_headings_sort_and_turn_around(view: View) -> None:
    table = view.page.get_by_role("region", name=TABLE)
    head = table.get_by_role("button", name=re.compile("^AP"))
    head.click()
    view.page.get_by_role("button", name="Show all").click()
    down = [float(re.sub(f"[+{MINUS}]$", "", v)) for v in view.column(TABLE, "AP")]
    assert down == sorted(down, reverse=True)
    head.focus()
    view.page.keyboard.press("Enter")
    up = [float(re.sub(f"[+{MINUS}]$", "", v)) for v in view.column(TABLE, "AP")]
    assert up == sorted(up)
    assert table.locator("[aria-sort]").count() == 1
    table.get_by_role("button", name="Run").click()
    assert view.column(TABLE, "Run") == [f"run{i}" for i in range(N_RUNS)]


def test_it_folds_after_twenty_rows_and_finds_runs_by_name(view: View) -> None:
    names = view.column(TABLE, "Run")
    assert 20 <= len(names) <= 22
    assert {"run0", "run1"} <= set(names)
    view.page.get_by_label("Find a run").fill("RUN2")
    assert sorted(view.column(TABLE, "Run")) == ["run2", "run20", "run21", "run22", "run23"]


def test_numbers_are_raw_or_standardized_best_bold_and_marked(view: View, results: Any) -> None:
    view.page.get_by_role("button", name="Standardized", exact=True).click()
    names, shown = view.column(TABLE, "Run"), view.column(TABLE, "AP")
    for run, text in zip(names, shown, strict=True):
        tested = results.differences.get(run, {}).get(sAP) if run != "run0" else None
        mark = "" if not (tested and tested.significant) else "+" if tested.mean > 0 else MINUS
        assert text == f"{results.means[run][sAP]:.3f}{mark}"
    best, *_ = (
        view.page.get_by_role("region", name=TABLE)
        .get_by_role("cell")
        .evaluate_all(
            "cs => cs.filter(c => getComputedStyle(c).fontWeight >= 600).map(c => c.innerText)"
        )
    )
    assert float(best.rstrip("+")) == round(max(results.means[run][sAP] for run in results.runs), 3)


# Addresses.


def test_a_view_can_be_sent_and_the_back_button_goes_to_the_view_before(
    view: View, file: Path
) -> None:
    view.open(file, "#measure=P%4010&topic=403")
    assert view.page.get_by_label("Measure", exact=True).input_value() == "P@10"
    assert view.page.get_by_role("heading", name="Topic 403").is_visible()
    assert view.page.evaluate("scrollY") > 0
    view.choose("AP")
    assert view.address() == "#measure=AP&topic=403"
    view.page.go_back()
    view.page.wait_for_function("document.getElementById('measure').value === 'P@10'")
    assert "P%4010" in view.address()


@pytest.mark.parametrize("what", ["measure=x", "run=x", "topic=x"])
def test_an_address_that_names_what_is_not_here_says_so(view: View, file: Path, what: str) -> None:
    view.open(file, f"#{what}")
    name = what.split("=", maxsplit=1)[0]
    assert view.page.get_by_role("status").first.inner_text() == (
        f"This page has no {name} “x”; check its address."
    )
    view.choose("P@10")


# Files.


def test_tables_are_saved_as_csv(view: View, results: Any) -> None:
    view.open_details("Download")
    name, content = saved(view, "Means, CSV")
    rows = list(csv.DictReader(io.StringIO(content.decode())))
    assert name == "trec8-adhoc-means.csv"
    for row in rows:
        run = row["run"]
        assert float(row["AP"]) == pytest.approx(results.means[run][AP])
        assert float(row["standardized AP"]) == pytest.approx(results.means[run][sAP])
        assert int(row["AP rank best"]) == results.ranks[run][sAP].best
    assert rows[0]["AP p"] == ""
    _, content = saved(view, "Topics, CSV")
    rows = list(csv.DictReader(io.StringIO(content.decode())))
    assert len(rows) == 50 * N_RUNS
    one = rows[7]
    value = results.values[one["run"]][AP][results.topics.index(one["topic"])]
    assert float(one["AP"]) == pytest.approx(value, abs=5e-5)


def test_pictures_are_saved_as_self_contained_svg(browser: Any, tmp_path: Path) -> None:
    view = opened(browser, simulated(2, [AP]), tmp_path, accept_downloads=True)
    view.open_details("Download")
    name, content = saved(view, "Pictures, SVG")
    assert name.endswith(".svg")
    text = content.decode()
    assert text.startswith("<svg")
    assert "var(--" not in text
    view.context.close()


def test_the_method_is_copied(browser: Any, file: Path) -> None:
    view = View(browser, permissions=["clipboard-read", "clipboard-write"])
    view.open(file)
    view.open_details("For your paper")
    view.page.get_by_role("button", name="Copy").first.click()
    view.page.get_by_role("button", name="Copied").wait_for()
    shown = view.page.locator("details pre").first.text_content()
    assert view.page.evaluate("navigator.clipboard.readText()") == shown
    view.context.close()


# For everybody, everywhere.


def test_without_scripts_the_sentences_the_means_and_the_method_are_there(
    browser: Any, file: Path, results: Any
) -> None:
    view = View(browser, java_script_enabled=False)
    view.page.goto(file.as_uri())
    assert view.headline() == plain(
        collection_record("", standings_of(results, "run1"), {})["measures"][0]["headline"]
    )
    assert "JavaScript is disabled" in view.page.inner_text("main")
    assert view.page.get_by_role("table").first.get_by_role("row").count() >= N_RUNS
    view.context.close()


def luminance(color: str) -> float:
    """Compute the relative luminance of ``rgb(r, g, b)``, as WCAG 2 defines it."""
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
    page = luminance(style(view, "body", "background-color"))
    assert (page < 0.1) == (scheme == "dark")

    def contrast(color: str) -> float:
        ink = luminance(color)
        return (max(page, ink) + 0.05) / (min(page, ink) + 0.05)

    for selector in ("body", ".sub", ".trust", "thead th", "summary span", "h1 .run", "h1 .base"):
        assert contrast(style(view, selector, "color")) >= 4.5, selector
    assert contrast(style(view, "figure svg text", "fill")) >= 4.5
    for selector in ("circle.run", "circle.other"):
        assert contrast(style(view, selector, "fill")) >= 2.9, selector
    assert contrast(style(view, "circle.base", "stroke")) >= 3
    view.page.emulate_media(color_scheme="light")


@pytest.mark.parametrize("width", [320, 768, 1920])
def test_the_page_never_scrolls_sideways(view: View, width: int) -> None:
    resize(view.page, width)
    view.open_details("All 50 topics")
    assert width_of(view.page) <= width


def test_headings_are_in_order(view: View) -> None:
    levels = view.page.eval_on_selector_all(
        "h1, h2, h3, h4", "hs => hs.filter(h => h.offsetParent).map(h => Number(h.tagName[1]))"
    )
    assert levels[0] == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))


def test_names_of_regions_are_unique(view: View) -> None:
    names = view.page.get_by_role("region").evaluate_all("rs => rs.map(r => r.ariaLabel)")
    assert len(names) == len(set(names))


def test_on_paper_controls_are_gone_and_pictures_fit(view: View) -> None:
    resize(view.page, 700, 960)
    view.page.emulate_media(media="print", color_scheme="dark")
    wait_until_drawn(view.page)
    assert luminance(style(view, "body", "background-color")) == 1
    for gone in (
        view.page.get_by_label("Find a run"),
        view.page.locator("nav"),
        view.page.locator("#tip"),
    ):
        assert not gone.first.is_visible()
    edges = view.page.locator("figure svg").evaluate_all(
        "ss => ss.map(s => s.getBoundingClientRect().right)"
    )
    assert max(edges) <= 700
    assert view.page.pdf(format="A4").startswith(b"%PDF")
    view.page.emulate_media(media="screen", color_scheme="light")


# Sizes.


def test_more_than_eighty_topics_share_columns(browser: Any, tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    qrels = {str(i): {f"d{j}": int(j < 4) for j in range(8)} for i in range(3000)}
    runs = {
        f"run{r}": {
            t: {f"d{j}": float(s) for j, s in enumerate(random.normal(size=8).round(6))}
            for t in qrels
        }
        for r in range(2)
    }
    view = opened(browser, ir_std.evaluate(runs, qrels, AP), tmp_path)
    columns = view.page.get_by_role("group", name="3000 topics").get_by_role("button")
    assert columns.count() == 79  # of 38 topics each
    told = columns.first.get_attribute("aria-label")
    assert told.startswith("38 topics, among them topic ")
    columns.first.click()
    assert view.page.get_by_role("listitem").count() > 0
    held = view.page.evaluate("document.querySelectorAll('nav option').length")
    assert held == 3000
    assert standing.MOST_TOPICS == 60
    assert view.said == []
    view.context.close()


def test_the_first_of_very_many_runs_are_drawn_and_ones_own(browser: Any, tmp_path: Path) -> None:
    results = simulated(40, [P @ 10], baseline="run39")
    view = opened(browser, results, tmp_path)
    names = view.column("Runs by standardized P@10", "Run")[:-1]
    assert 30 <= len(names) <= 32
    assert {"run0", "run39"} <= set(names)
    view.context.close()


def test_the_guide_tells_how_many_rankings_the_page_holds() -> None:
    page = Path(__file__).parents[2] / "docs" / "how-to" / "why.md"
    told = " ".join(page.read_text("utf-8").split())
    assert f"the first {standing.RANKS} documents of each run" in told
    assert f"of {standing.MOST_RUNS} runs for up to {standing.MOST_TOPICS} topics" in told


# Queries, several collections.


def test_topics_have_the_texts_of_their_queries(browser: Any, tmp_path: Path) -> None:
    results = simulated(2, [AP])
    texts = {topic: f"what is {topic}" for topic in results.topics}
    view = opened(browser, results, tmp_path, queries=texts)
    opened_topic = view.page.locator("nav button[aria-pressed=true]").inner_text().split("\n")[0]
    assert opened_topic.startswith("what is ")
    heading = view.page.get_by_role("heading", name=f"“{opened_topic}”")
    assert heading.inner_text().endswith(f"topic {opened_topic.removeprefix('what is ')}")
    assert "“what is " in view.marks("from the worst")[0]
    view.context.close()


@pytest.mark.parametrize("baseline", [None, "bm25"])
def test_each_collection_has_a_section_and_rows_lead_to_it(
    browser: Any, tmp_path: Path, baseline: str | None
) -> None:
    entries = entries_on(("trec8-adhoc", "trec7-adhoc"), ("bm25", "mono"))
    results = ir_std.compare(entries, AP, baseline=baseline)
    view = opened(browser, results, tmp_path)
    rows = view.page.get_by_role("region", name=re.compile("by collection")).first
    names = list(results.collections)
    assert rows.get_by_role("link").all_inner_texts() == names * (1 if baseline else 2)
    rows.get_by_role("link", name=names[1]).first.click()
    view.page.wait_for_function("scrollY > 0")
    section = view.page.get_by_role("region", name=names[1], exact=True)
    section.get_by_role("group", name="from the worst").get_by_role("button").first.click()
    assert "in=collection-1" in view.address()
    assert view.said == []
    view.context.close()
