"""A short test of the report in a browser; the slow test_report_page.py tests everything."""

import csv
import re
from pathlib import Path
from typing import Any

import pytest
from ir_measures import AP, P
from made_up import entries_on
from screens import resize, width_of
from views import HOSTILE, MINUS, View, hits, plain, saved

import ir_std
from ir_std import sAP
from ir_std.reporting.html.record import collection_record
from ir_std.reporting.html.report import write_report
from ir_std.reporting.html.standing import standings_of
from ir_std.testing import simulated_nuggets

LOSSES = re.compile("Largest losses")


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the report of a system of a track against the best."""
    place = tmp_path_factory.mktemp("pair") / "report.html"
    results = ir_std.evaluate(
        "dl19-passage/bm25base_p", None, ["nDCG@10", "AP(rel=2)"], baseline="best"
    )
    write_report(results, place)
    return place


def test_the_headline_is_that_of_the_measure_chosen(view: View, results: Any) -> None:
    first, second = collection_record("", standings_of(results, "run1"), {})["measures"]
    assert view.headline() == plain(first["headline"])
    view.choose("P@10")
    assert view.headline() == plain(second["headline"])
    assert view.address() == "#measure=P%4010"


def test_the_first_screen_shows_the_place_and_the_topics(shared: View, pair: Path) -> None:
    shared.open(pair)
    places = shared.page.get_by_role("group", name="among 37 systems")
    topics = shared.page.get_by_role("group", name="43 topics from the worst")
    for picture in (places, topics):
        box = picture.bounding_box()
        assert box["y"] + box["height"] <= 800
    assert (
        len([m for m in shared.marks("among 37 systems") if m.startswith("bm25base_p: 33rd")]) == 1
    )
    assert shared.marks("among 37 systems")[0].startswith("idst_bert_p1") is False
    assert sum(": " in m for m in shared.marks("among 37 systems")) == 37
    assert topics.get_by_role("button").count() == 43


def test_a_column_that_is_pressed_opens_its_topic_and_has_an_address(
    shared: View, pair: Path
) -> None:
    shared.open(pair)
    column = shared.page.get_by_role("button", name=re.compile("^topic 1037798;")).first
    column.click()
    assert shared.page.get_by_role("heading", name="Topic 1037798").is_visible()
    assert shared.address() == "#topic=1037798"
    shared.open(pair, "#t87181")
    assert shared.page.get_by_role("heading", name="Topic 87181").is_visible()


def test_the_largest_loss_is_open(view: View, results: Any) -> None:
    d = results.values["run1"][AP] - results.values["run0"][AP]
    worst = results.topics[d.round(4).argmin()]
    assert view.page.get_by_role("heading", name=f"Topic {worst}").first.is_visible()
    first = view.page.locator("nav button").first.inner_text().split("\n")
    assert first == [worst, f"{d.min():+.2f}".replace("-", MINUS)]


def test_both_rankings_are_those_of_the_runs(view: View, results: Any) -> None:
    lists = view.page.get_by_role("list")
    topic = view.page.locator("nav button[aria-pressed=true]").inner_text().split("\n")[0]
    said = view.page.get_by_role("status").filter(has_text="Relevance").inner_text()
    assert len(re.findall(r"\d(?:st|nd|rd|th) of 130, standardized", said)) == 2
    for number, run in enumerate(("run1", "run0")):
        given = results.collection.inputs[run][topic]
        first = sorted(given, key=lambda d: (-given[d], d))[:10]
        assert lists.nth(number).locator("code").all_inner_texts() == first
        levels = results.collection.evaluator.qrels.judged[topic]
        shown = lists.nth(number).get_by_role("img").all_inner_texts()
        assert shown == [str(levels.get(d, "?")) for d in first]


def test_lines_to_the_average_are_explained_only_if_there_is_an_average(
    shared: View, tmp_path: Path
) -> None:
    results = ir_std.evaluate("dl19-passage/p_bert", None, "nDCG@10", schemes="N,E")
    write_report(results, tmp_path / "report.html")
    shared.open(tmp_path / "report.html")
    said = shared.page.get_by_text("Each line shows the distance to the average.")
    assert said.is_visible()
    shared.choose("snDCG(scheme='E')@10")
    assert not said.is_visible()


@pytest.mark.parametrize(
    ("n_lower", "said"),
    [
        (0, "mine did not find 3 of base's relevant documents."),
        (
            1,
            "mine found 1 of base's relevant documents only at rank 11 and did not find 2 of them.",
        ),
        (3, "mine found 3 of base's relevant documents only at ranks 11 to 13."),
    ],
)
def test_the_relevant_documents_that_a_run_misses_are_counted(
    shared: View, tmp_path: Path, n_lower: int, said: str
) -> None:
    good, bad = [f"good{i}" for i in range(3)], [f"bad{i}" for i in range(10)]
    ranked = {"mine": [*bad, *good[:n_lower]], "base": good}
    runs = {
        name: {"t": {d: -float(i) for i, d in enumerate(docs)}} for name, docs in ranked.items()
    }
    qrels = {"t": dict.fromkeys(good, 1) | dict.fromkeys(bad, 0)}
    write_report(ir_std.evaluate(runs, qrels, AP, baseline="base"), tmp_path / "report.html")
    shared.open(tmp_path / "report.html")
    finding = shared.page.get_by_text("relevant documents in its top 10").inner_text()
    assert finding == f"mine has 0 relevant documents in its top 10, and base has 3. {said}"


def test_ranks_are_those_of_the_measure_and_rows_sort(view: View, results: Any) -> None:
    def ranks(measure: Any) -> list[str]:
        return [str(results.ranks[run][measure].rank) for run in names]

    names = view.column("Runs by every measure", "Run")
    assert [t.split()[0] for t in view.column("Runs by every measure", "Rank")] == ranks(sAP)
    table = view.page.get_by_role("region", name="Runs by every measure")
    table.get_by_role("button", name="P@10").click()
    shown = [
        float(re.sub(f"[+{MINUS}]$", "", t)) for t in view.column("Runs by every measure", "P@10")
    ]
    assert shown[:20] == sorted(shown[:20], reverse=True)


def test_an_interval_is_drawn_as_far_as_a_score_can_be_and_printed_whole(
    browser: Any, tmp_path: Path
) -> None:
    results = hits({"perfect": [1.0] * 6, "nearly": [0.0] + [1.0] * 5, "none": [0.0] * 6})
    high = results.estimate("nearly", results.measures[0]).interval[1]
    assert high > 1
    write_report(results, tmp_path / "report.html")
    view = View(browser)
    view.open(tmp_path / "report.html")
    strip = view.page.get_by_role("group", name="P@1 of nearly")
    ends = strip.locator("line").evaluate_all(
        "ls => ls.map(l => [parseFloat(getComputedStyle(l).strokeWidth), l.x2.baseVal.value])"
    )
    interval, grid = (
        max(x for width, x in ends if (width > 2) == thick) for thick in (True, False)
    )
    assert interval == pytest.approx(grid)
    assert f"to {high:.3f})" in view.marks("P@1 of nearly")[0]
    view.context.close()


def test_a_hostile_name_does_nothing(browser: Any, tmp_path: Path) -> None:
    qrels = {HOSTILE: {"a": 1, "b": 0}, "t": {"a": 1, "b": 0}}
    runs = {
        HOSTILE: {t: {"a": 2.0, "b": 1.0} for t in qrels},
        "other": {t: {"a": 1.0, "b": 2.0} for t in qrels},
    }
    results = ir_std.evaluate(runs, qrels, AP, baseline="other")
    write_report(results, tmp_path / "report.html", HOSTILE)
    view = View(browser)
    view.open(tmp_path / "report.html")
    assert view.headline() == f"{HOSTILE} is clearly better than other."
    view.open_details("All 2 topics")
    view.page.get_by_role("region", name="All topics").get_by_role("link", name=HOSTILE).click()
    view.open_details("Download")
    _, content = saved(view, "Means, CSV")
    assert next(csv.reader(content.decode().splitlines()[1:]))[0] == f"'{HOSTILE}"
    assert view.page.locator("img").count() == 0
    assert view.said == []
    view.context.close()


@pytest.mark.parametrize("width", [390, 1200])
def test_nothing_is_cut_off(view: View, pair: Path, file: Path, width: int) -> None:
    for page in (file, pair):
        resize(view.page, width)
        view.open(page)
        assert width_of(view.page) <= width
        edges = view.page.locator("figure svg").evaluate_all(
            "ss => ss.map(s => s.getBoundingClientRect()).map(b => [b.left, b.right])"
        )
        assert all(left >= 0 and right <= width for left, right in edges)
        first = view.page.locator("td, tbody th").first.bounding_box()
        assert first["x"] >= 0
    view.open(file)


@pytest.mark.parametrize(
    ("schemes", "said"),
    [
        ("N", ["Standardized", "(average: 0.5)"]),
        ("z", ["Standardized", "(average: 0)"]),
        ("N,E", ["Standardized"]),
    ],
)
def test_the_average_is_that_of_the_scheme(
    shared: View, tmp_path: Path, schemes: str, said: list[str]
) -> None:
    results = ir_std.evaluate("dl19-passage/p_bert", None, "nDCG@10", schemes=schemes)
    write_report(results, tmp_path / "report.html")
    shared.open(tmp_path / "report.html")
    table = shared.page.get_by_role("region", name="By every measure")
    assert table.get_by_role("columnheader").last.inner_text().split("\n") == said


def test_names_on_phones_break_only_between_words(browser: Any, tmp_path: Path) -> None:
    names = ("p_exp_rm3_bert_2", "ir_std N", "mono")
    entries = entries_on(("trec7-adhoc", "trec8-adhoc"), names)
    write_report(ir_std.compare(entries, [AP, P @ 10]), tmp_path / "report.html")
    view = View(browser)
    resize(view.page, 390)
    view.open(tmp_path / "report.html")
    view.open_details("All numbers")
    assert width_of(view.page) <= 390
    n_lines = view.page.get_by_role("rowheader", name=re.compile("|".join(names))).evaluate_all(
        "ths => ths.map(th => { const range = document.createRange();"
        " range.selectNode(document.createTreeWalker(th, NodeFilter.SHOW_TEXT).nextNode());"
        " return range.getClientRects().length; })"
    )
    assert len(n_lines) > 18
    assert max(n_lines) == 1
    view.context.close()


def test_long_names_leave_room_for_the_pictures(browser: Any, tmp_path: Path) -> None:
    name = "McGill-NLP/LLM2Vec-Meta-Llama-3-8B-Instruct-mntp-supervised"
    by_run = {f"{name}{i}": [1.0] * (i + 3) + [0.0] * (9 - i) for i in range(3)}
    write_report(hits(by_run), tmp_path / "report.html")
    view = View(browser)
    for width, widest in ((1200, 420), (390, 170)):
        resize(view.page, width)
        view.open(tmp_path / "report.html")
        table = view.page.get_by_role("region", name="Runs by P@1")
        assert table.get_by_role("rowheader").first.bounding_box()["width"] < widest
        assert width < 700 or table.evaluate("t => t.scrollWidth <= t.clientWidth")
    view.context.close()


@pytest.mark.filterwarnings("ignore::ir_std.StandardizationWarning")
def test_less_is_better_for_the_raw_scores_of_some_measures(shared: View, tmp_path: Path) -> None:
    (tmp_path / "scores.csv").write_text(simulated_nuggets(6, 8))
    mine = ir_std.build_from_scores(
        [tmp_path / "scores.csv"], id="mine", lower_is_better=["latency"]
    )
    results = ir_std.evaluate(tmp_path / "scores.csv", factors=mine, baseline="rag6")
    write_report(results, tmp_path / "report.html")
    shared.open(tmp_path / "report.html", "#measure=latency")
    names = shared.page.get_by_label("Measure", exact=True).locator("option").all_inner_texts()
    assert names == ["strict_vital_score", "'all score'", "latency"]
    assert (results.values["rag1"]["latency"] < results.values["rag6"]["latency"]).all()
    assert shared.page.locator("nav h3").all_inner_texts() == ["Gains"]
    assert shared.page.get_by_text("it is unknown whether the judgments match").is_visible()
    for kind, measure in (("Raw", "latency"), ("Standardized", "s'latency'")):
        shared.page.get_by_role("button", name=kind, exact=True).click()
        shared.page.get_by_role("button", name=re.compile("^latency")).click()
        best = (max if kind == "Standardized" else min)(m[measure] for m in results.means.values())
        assert shared.column("Runs by every measure", "latency")[0].startswith(f"{best:.3f}")
        assert shared.page.locator("td.best", has_text=f"{best:.3f}").count() == 1
