"""The HTML report: what it says, and that it works in a browser without a network."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ir_measures import AP, P

import ir_std
from ir_std.cli import main
from ir_std.errors import InputError, IrStdError
from ir_std.reporting.html.report import render, write_report
from ir_std.testing import simulated_qrels, simulated_run

# The simulated runs are not as deep as TREC's, which is warned of.
pytestmark = pytest.mark.filterwarnings("ignore:.*only [0-9]+ documents deep")

HOSTILE = "<img src=x onerror=alert(1)></script>'\"&"


def simulated(n: int, measures: list[Any] | None = None, **options: Any) -> ir_std.Results:
    """Results of simulated runs on qrels with TREC-8's topics and counts."""
    qrels = simulated_qrels(ir_std.load_factors("trec8-adhoc").n_rel)
    runs = {f"run{i}": simulated_run(qrels, i, 100) for i in range(n)}
    return ir_std.evaluate(runs, qrels, measures, **options)


@pytest.fixture(scope="module")
def results() -> ir_std.Results:
    return simulated(3, [AP, P @ 10], schemes="N,U", baseline="run0")


@pytest.fixture(scope="module")
def text(results: ir_std.Results) -> str:
    return render(results)


def data_of(text: str) -> Any:
    """The numbers that the page carries."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)
    assert found
    return json.loads(found[1])


def test_it_says_what_was_evaluated_with_which_factors(text: str) -> None:
    assert "3 runs on TREC-8 ad hoc" in text
    assert "129 standardizing systems" in text
    assert "50 of 50" in text


def test_it_explains_the_schemes_used_and_no_others(text: str) -> None:
    assert "Scheme N" in text
    assert "Scheme U" in text
    assert "Scheme E" not in text


def test_warnings_are_on_the_page() -> None:
    qrels = simulated_qrels(ir_std.load_factors("trec8-adhoc").n_rel)
    with pytest.warns(ir_std.StandardizationWarning, match="999"):
        found = ir_std.evaluate({"999": {"d": 1.0}, "401": {"d": 1.0}},
                                {**qrels, "999": {"d": 1}}, AP)
    assert "1 topic without factors in trec8-adhoc" in render(found)


def test_factors_named_in_a_measure_are_told() -> None:
    page = render(simulated(1, [ir_std.sAP(factors="robust04")]))
    assert "with the factors of robust04" in page


def test_the_data_it_carries_are_the_scores(results: ir_std.Results, text: str) -> None:
    data = data_of(text)
    for number, run in enumerate(data["runs"]):
        for measure in results.measures:
            carried = np.array(data["values"][number][str(measure)]) / 10_000
            assert carried == pytest.approx(results.values[run][measure], abs=5.01e-5)


def test_a_hostile_name_stays_text() -> None:
    qrels = simulated_qrels(ir_std.load_factors("trec8-adhoc").n_rel)
    page = render(ir_std.evaluate({HOSTILE: simulated_run(qrels, 1, 10)}, qrels, AP), HOSTILE)
    assert "<img" not in page
    assert page.count("</script>") == 2
    assert data_of(page)["runs"] == [HOSTILE]


def test_nothing_on_it_points_elsewhere(text: str) -> None:
    assert not re.search(r"(?:src|href)=\"(?!#|data:,)", text)
    assert "http://" not in text
    assert "https://" not in text


def test_it_is_well_formed(text: str) -> None:
    void = {"meta", "link", "br", "input"}

    class Checker(HTMLParser):
        open: list[str] = []

        def handle_starttag(self, tag: str, attrs: object) -> None:
            if tag not in void:
                self.open.append(tag)

        def handle_endtag(self, tag: str) -> None:
            assert self.open.pop() == tag

        def handle_startendtag(self, tag: str, attrs: object) -> None:
            pass

    checker = Checker()
    checker.feed(text)
    assert checker.open == []


def test_ids_on_it_are_unique(text: str) -> None:
    ids = re.findall(r'\bid="([^"]+)"', text)
    assert len(ids) == len(set(ids))


def test_it_is_the_same_each_time(results: ir_std.Results, text: str) -> None:
    assert render(results) == text


def test_without_jinja2_one_line_says_what_to_install(results: ir_std.Results,
                                                      monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(IrStdError, match=r"pip install 'ir-std\[report\]'"):
        render(results)


def test_it_needs_no_factors() -> None:
    page = render(ir_std.evaluate({"1": {"d": 1.0}}, {"1": {"d": 1}}, AP))
    assert "no factor set fits" in page
    assert "These scores are raw" in page


def test_a_topic_without_factors_has_no_standardized_point() -> None:
    qrels = simulated_qrels(ir_std.load_factors("trec8-adhoc").n_rel)
    with pytest.warns(ir_std.StandardizationWarning, match="999"):
        found = ir_std.evaluate({"x": {"999": {"d": 1.0}}}, {**qrels, "999": {"d": 1}}, AP)
    data = data_of(render(found))
    assert data["values"][0]["AP"][-1] == 10_000
    assert data["values"][0]["sAP"][-1] is None
    assert data["z"][0]["sAP(scheme='z')"][-1] is None


def test_a_hundred_runs_of_fifty_topics_take_less_than_three_megabytes() -> None:
    found = simulated(2)
    runs = {f"system-with-a-long-name-{i}": f"run{i % 2}" for i in range(100)}
    many = replace(found, evaluations={run: found.evaluations[like] for run, like in runs.items()})
    assert len(render(many).encode()) < 3_000_000


def test_no_file_is_left_when_it_cannot_be_written(results: ir_std.Results,
                                                   tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a regular file"):
        write_report(results, tmp_path)
    with pytest.raises(InputError, match="cannot be written"):
        write_report(results, tmp_path / "nowhere" / "report.html")
    assert list(tmp_path.iterdir()) == []


def test_an_input_is_not_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run, qrels = tmp_path / "a.run", tmp_path / "a.qrels"
    run.write_text("1 Q0 d 1 0.5 tag\n")
    qrels.write_text("1 0 d 1\n")
    assert main(["report", str(run), str(qrels), "-o", str(qrels)]) == 2
    assert "is one of the inputs; name a new file" in capsys.readouterr().err
    assert qrels.read_text() == "1 0 d 1\n"


def test_the_command_writes_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run, qrels = tmp_path / "a.run", tmp_path / "a.qrels"
    run.write_text("1 Q0 d 1 0.5 tag\n")
    qrels.write_text("1 0 d 1\n")
    page = tmp_path / "page.html"
    assert main(["report", str(run), str(qrels), "AP", "-o", str(page), "--title", "Mine"]) == 0
    captured = capsys.readouterr()
    assert captured.out == ""
    assert f"wrote {page}" in captured.err
    assert "<h1>Mine</h1>" in page.read_text()


# In a browser.

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = os.environ.get("IR_STD_CHROMIUM") or shutil.which("chromium")
    if not path:
        pytest.skip("no chromium found; install it or name it in IR_STD_CHROMIUM")
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=path, args=FLAGS)
        yield started
        started.close()


class Opened:
    """The report in a browser, and what it said and asked for."""

    def __init__(self, browser: Any, file: Path, **options: Any) -> None:
        self.context = browser.new_context(**options)
        self.page = self.context.new_page()
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(file.as_uri())

    def column(self, table: str, number: int) -> list[str]:
        """The texts of a column; row names are column 0."""
        found: list[str] = self.page.eval_on_selector_all(
            f"{table} tbody tr", f"rows => rows.map(r => r.children[{number}].textContent)")
        return found

    def style(self, selector: str, name: str) -> str:
        found: str = self.page.eval_on_selector(
            selector, f"e => getComputedStyle(e).getPropertyValue('{name}')")
        return found


@pytest.fixture(scope="module")
def file(results: ir_std.Results, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("report") / "report.html"
    write_report(results, place)
    return place


@pytest.fixture
def opened(browser: Any, file: Path) -> Iterator[Opened]:
    """Open at the size of a desktop; afterwards nothing must have gone wrong."""
    view = Opened(browser, file)
    yield view
    assert view.said == []
    assert view.asked == [file.as_uri()]
    view.context.close()


def test_a_press_on_a_heading_sorts_and_another_turns_around(opened: Opened) -> None:
    opened.page.click("#runs th:nth-child(2) button")
    down = [float(re.match(r"[\d.]+", v)[0]) for v in opened.column("#runs", 1)]  # type: ignore[index]
    assert down == sorted(down, reverse=True)
    assert opened.page.get_attribute("#runs th:nth-child(2)", "aria-sort") == "descending"
    opened.page.click("#runs th:nth-child(2) button")
    up = [float(re.match(r"[\d.]+", v)[0]) for v in opened.column("#runs", 1)]  # type: ignore[index]
    assert up == down[::-1]
    assert opened.page.locator("#runs [aria-sort]").count() == 1


def test_names_sort_as_people_count(opened: Opened) -> None:
    opened.page.click("#runs th:nth-child(1) button")
    assert opened.column("#runs", 0) == ["run0", "run1", "run2"]


def test_sorting_works_from_the_keyboard(opened: Opened) -> None:
    opened.page.focus("#runs th:nth-child(4) button")
    opened.page.keyboard.press("Enter")
    assert opened.page.get_attribute("#runs th:nth-child(4)", "aria-sort") == "descending"


def test_the_page_is_sorted_by_the_first_standardized_measure(opened: Opened,
                                                              results: ir_std.Results) -> None:
    best = max(results.runs, key=lambda run: results.means[run][ir_std.sAP])
    assert opened.column("#runs", 0)[0] == best
    assert opened.page.get_attribute("#runs th:nth-child(3)", "aria-sort") == "descending"


def test_a_press_on_a_run_shows_its_topics(opened: Opened, results: ir_std.Results) -> None:
    for run in results.runs:
        opened.page.click(f"#runs a:text-is('{run}')")
        assert opened.page.text_content(".shown h3 .run") == run
        shown = dict(zip(opened.column(".shown .topics", 0), opened.column(".shown .topics", 2),
                         strict=True))
        assert shown == {t: f"{v:.4f}" for t, v in results.by_topic(run, ir_std.sAP).items()}


def test_the_points_stand_where_the_scores_are(opened: Opened, results: ir_std.Results) -> None:
    opened.page.select_option("#run", label="run2")
    svg = opened.page.locator(".shown svg[data-m='sAP']")
    low, high, top, bottom = (float(svg.get_attribute(f"data-{n}"))
                              for n in ("low", "high", "top", "bottom"))
    heights = svg.locator("circle").evaluate_all(
        "cs => cs.map(c => [Number(c.dataset.i), Number(c.getAttribute('cy'))])")
    scores = results.values["run2"][ir_std.sAP]
    assert len(heights) == 50
    for topic, y in heights:
        assert y == pytest.approx(bottom - (scores[topic] - low) / (high - low) * (bottom - top),
                                  abs=0.05)


def test_what_the_script_shows_is_what_python_wrote_for_the_first_run(
        opened: Opened, browser: Any, file: Path) -> None:
    plain = Opened(browser, file, java_script_enabled=False)
    figure = "#figure-0"
    for selector in (f"{figure} .caption", f"{figure} .above", f"{figure} .below",
                     f"{figure} .place >> nth=1"):
        scripted = opened.page.text_content(selector).split()
        assert scripted == plain.page.text_content(selector).split()
    for column in range(5):
        table = f"{figure} .topics"
        assert opened.column(table, column) == plain.column(table, column)
    assert opened.page.eval_on_selector_all(f"{figure} circle", "cs => cs.map(c => c.cy.baseVal"
        ".value)") == pytest.approx(plain.page.eval_on_selector_all(
            f"{figure} circle", "cs => cs.map(c => c.cy.baseVal.value)"), abs=0.05)
    plain.context.close()


def test_without_scripts_every_picture_is_there(browser: Any, file: Path) -> None:
    plain = Opened(browser, file, java_script_enabled=False)
    assert plain.page.locator(".figure:visible").count() == 4
    assert plain.page.locator(".controls:visible").count() == 0
    plain.context.close()


def test_the_farthest_topics_are_named(opened: Opened, results: ir_std.Results) -> None:
    opened.page.select_option("#run", label="run1")
    opened.page.select_option("#figure", label="P@10 and sP@10")
    z = results.deviations("run1", ir_std.sP @ 10)
    above = [results.topics[i] for i in np.argsort(-z)[:5] if z[i] > 0]
    below = [results.topics[i] for i in np.argsort(z)[:5] if z[i] < 0]
    shown = opened.column(".shown table:has(.above)", 0)
    assert {float(v) for v in opened.column(".shown table:has(.above)", 3)} == {
        round(float(z[results.topics.index(t)]), 2) for t in above}
    assert len(shown) == len(above)
    assert len(opened.column(".shown table:has(.below)", 0)) == len(below)


def test_the_place_among_the_systems_is_said(opened: Opened, results: ir_std.Results) -> None:
    opened.page.select_option("#run", label="run1")
    assert opened.page.locator(".shown .place").all_text_contents() == [
        str(results.placements["run1"][m]) for m in (AP, ir_std.sAP)]


def test_every_picture_has_a_text_alternative(opened: Opened) -> None:
    opened.page.select_option("#run", label="run1")
    pictures = opened.page.locator("svg:not([aria-hidden])")
    assert pictures.count() > 0
    for i in range(pictures.count()):
        assert pictures.nth(i).get_attribute("role") == "img"
    shown = opened.page.locator(".shown svg[role=img]")
    assert [shown.nth(i).get_attribute("aria-label") for i in range(2)] == [
        "AP of run1 on each topic", "sAP of run1 on each topic"]
    described = opened.page.locator(f"#{shown.nth(0).get_attribute('aria-describedby')}")
    assert "sAP of run1: mean" in described.text_content()


def luminance(color: str) -> float:
    """Relative luminance of ``rgb(r, g, b)``, as WCAG 2 has it."""
    parts = [int(part) / 255 for part in re.findall(r"\d+", color)[:3]]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_in_light_and_dark(browser: Any, file: Path, scheme: str) -> None:
    view = Opened(browser, file, color_scheme=scheme)
    page = luminance(view.style("html", "background-color"))
    assert (page < 0.1) == (scheme == "dark")
    for selector in ("body", ".lead", "a[data-run]", "thead th", "figcaption", "summary"):
        ink = luminance(view.style(selector, "color"))
        contrast = (max(page, ink) + 0.05) / (min(page, ink) + 0.05)
        assert contrast >= 4.5, selector
    view.context.close()


@pytest.mark.parametrize("width", [320, 390, 768, 1280])
def test_the_page_never_scrolls_sideways(browser: Any, file: Path, width: int) -> None:
    view = Opened(browser, file, viewport={"width": width, "height": 800})
    view.page.locator(".shown summary").click()
    assert view.page.evaluate("document.documentElement.scrollWidth") <= width
    view.context.close()


def test_on_paper_the_picture_fits_and_controls_are_gone(opened: Opened) -> None:
    opened.page.set_viewport_size({"width": 680, "height": 960})
    opened.page.emulate_media(media="print", color_scheme="dark")
    assert opened.page.locator(".controls:visible").count() == 0
    assert luminance(opened.style("html", "background-color")) == 1
    right = opened.page.locator(".shown .panel svg >> nth=1").evaluate(
        "e => e.getBoundingClientRect().right")
    assert right <= 680
    assert opened.page.pdf(format="A4").startswith(b"%PDF")


def test_no_column_is_lost_on_paper(browser: Any, tmp_path: Path) -> None:
    found = simulated(2, schemes="N,U,z")
    write_report(found, tmp_path / "report.html")
    view = Opened(browser, tmp_path / "report.html", viewport={"width": 680, "height": 960})
    assert view.page.locator(".paper:visible").count() == 0
    view.page.emulate_media(media="print")
    heads = view.page.locator(".paper:visible thead th")
    assert [t for t in heads.all_text_contents() if t != "run"] == list(map(str, found.measures))
    for i in range(heads.count()):
        assert heads.nth(i).evaluate("e => e.getBoundingClientRect().right") <= 680
    assert view.page.locator("#runs:visible").count() == 0
    view.context.close()


def test_a_hostile_name_does_nothing(browser: Any, tmp_path: Path) -> None:
    qrels = simulated_qrels(ir_std.load_factors("trec8-adhoc").n_rel)
    runs = {HOSTILE: simulated_run(qrels, 1, 10), "other": simulated_run(qrels, 2, 10)}
    write_report(ir_std.evaluate(runs, qrels, AP), tmp_path / "report.html")
    view = Opened(browser, tmp_path / "report.html")
    for name in ("other", HOSTILE):
        view.page.select_option("#run", label=name)
        assert view.page.text_content(".shown h3 .run") == name
    assert view.page.locator("img").count() == 0
    assert view.said == []
    view.context.close()
