"""The documentation's site is built without a warning, needs no network, and fits its screens."""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from screens import resize, width_of

import ir_std
from ir_std.cli.options import COMMANDS, CommandParser

ROOT = Path(__file__).resolve().parent.parent
SCREENS = ((390, 844), (1280, 900), (1600, 900))
"""Width and height of a phone and two desktops."""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(folder_made_once: Callable[[str, Callable[[Path], object]], Path]) -> Path:
    pytest.importorskip("myst_nb", reason="myst-nb is not installed")

    def build(folder: Path) -> None:
        done = subprocess.run(
            [sys.executable, "-m", "sphinx", "-W", "-q", "-n", "--keep-going", "docs", str(folder)],
            cwd=ROOT,
            env=os.environ | {"IR_STD_DATA": str(folder / "none")},  # the build needs no real input
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr

    # The build writes docs/generated, so two test processes must not build at once.
    return folder_made_once("site", build)


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """Open a page; errors, and requests other than for files, make the test fail."""
    page = browser.new_page()
    faults: list[str] = []
    page.on(
        "console", lambda message: faults.append(message.text) if message.type == "error" else None
    )
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on(
        "request",
        lambda request: None if request.url.startswith("file:") else faults.append(request.url),
    )
    yield page
    page.close()
    assert faults == []


def test_the_site_takes_nothing_from_elsewhere(site: Path) -> None:
    for page in site.rglob("*.html"):
        loaded = re.findall(
            r"<(?:script|img|link)[^>]*(?:src|href)=\"(https?:[^\"]*)\"", page.read_text("utf-8")
        )
        assert loaded == [], page


def reference(site: Path) -> str:
    """Return the pages of the reference, joined."""
    return "".join(page.read_text("utf-8") for page in (site / "reference").glob("*.html"))


def test_every_public_name_has_its_place_in_the_reference(site: Path) -> None:
    text = reference(site)
    own = {
        name
        for name in ir_std.__all__
        if callable(thing := getattr(ir_std, name))
        and getattr(thing, "__module__", "").startswith("ir_std")
        and not isinstance(thing, ir_std.Measure)
    }
    described = set(re.findall(r'id="ir_std\.(?:errors\.)?(\w+)"', text))
    assert own - described == set()


def test_properties_are_described_by_whole_sentences(site: Path) -> None:
    text = reference(site)
    assert "Description of the place, such as <code" in text
    assert ">Type<" not in text


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_of_a_command_has_an_address(site: Path, command: str) -> None:
    text = (site / "generated" / "command-line" / f"{command}.html").read_text("utf-8")
    parser = CommandParser(command)
    program = parser.prog.replace(" ", "-")
    flags = {flag.lstrip("-") for option in parser.options for flag in option.flags}
    assert flags == set(re.findall(rf'id="cmdoption-{program}-([\w-]+)"', text))


def test_every_set_has_a_page_in_the_catalogue(site: Path) -> None:
    pages = {file.stem for file in (site / "generated" / "catalogue").glob("*.html")}
    assert pages == {*ir_std.available_factors(), "index"}


def column(page: Any, name: str) -> list[str]:
    """Return the cells of a column of the catalogue's table, from the top."""
    names = page.locator(".catalogue th").all_text_contents()
    cells = f".catalogue tbody tr:not([hidden]) td:nth-child({names.index(name) + 1})"
    return [text.strip() for text in page.locator(cells).all_text_contents()]


def test_the_catalogue_is_sorted_by_the_column_that_is_clicked(site: Path, page: Any) -> None:
    page.goto((site / "generated" / "catalogue" / "index.html").as_uri())
    assert column(page, "set") == sorted(ir_std.available_factors())
    topics = page.locator(".catalogue th", has_text="topics")
    topics.get_by_role("button").click()
    numbers = [int(text) for text in column(page, "topics")]
    assert numbers == sorted(len(ir_std.load_factors(name).topics) for name in column(page, "set"))
    assert topics.get_attribute("aria-sort") == "ascending"
    topics.get_by_role("button").click()
    assert [int(text) for text in column(page, "topics")] == numbers[::-1]
    page.keyboard.press("Enter")  # a keyboard reaches it, too
    assert [int(text) for text in column(page, "topics")] == numbers


def test_the_catalogue_is_searched_by_several_words(site: Path, page: Any) -> None:
    page.goto((site / "generated" / "catalogue" / "index.html").as_uri())
    everything = column(page, "set")
    found = page.locator(".catalogue output")
    assert found.text_content() == f"{len(everything)} of {len(everything)} sets"
    page.get_by_label("Find sets").fill("Deep imprecise")
    shown = column(page, "collection")
    assert shown
    assert all("Deep Learning" in title for title in shown)
    assert all("few systems" in quality for quality in column(page, "quality"))
    assert found.text_content() == f"{len(shown)} of {len(everything)} sets"
    with page.expect_navigation():
        page.locator(".catalogue tbody tr:not([hidden]) a").first.click()
    assert page.locator("h1").text_content().startswith(shown[0])


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ("msmarco", [name for name in ir_std.available_factors() if name.startswith("dl")]),
        ("msmarco-passage/trec-dl-2020", ["dl20-passage", "dl20-passage-modern"]),
        ("beir/scifact", ["mteb-retrieval"]),
        ("disks45/nocr/trec8", ["trec8-adhoc"]),
        ("NFCorpus", ["mteb-retrieval"]),
    ],
)
def test_the_catalogue_finds_datasets(site: Path, page: Any, words: str, names: list[str]) -> None:
    page.goto((site / "generated" / "catalogue" / "index.html").as_uri())
    page.get_by_label("Find sets").fill(words)
    links = page.locator(".catalogue tbody tr:not([hidden]) a").all_text_contents()
    assert {*names} <= {*links}


CUT = "[...document.querySelectorAll('article pre')].some(x => x.scrollWidth > x.clientWidth)"


def test_no_page_is_wider_than_its_screen_and_no_block_is_cut_on_a_desktop(
    site: Path, page: Any
) -> None:
    wider, cut = [], []
    for file in sorted(site.rglob("*.html")):
        name = file.relative_to(site).as_posix()
        page.goto(file.as_uri())
        if page.locator("#data").count():  # a report, which draws its pictures after it has loaded
            page.wait_for_selector("html[data-ready]")
        for width, height in SCREENS:
            resize(page, width, height)
            if width_of(page) > width:
                wider.append((name, width))
            if width == SCREENS[1][0] and page.evaluate(CUT):
                cut.append(name)
    assert wider == []
    assert cut == []


def test_text_and_ground_change_with_the_readers_scheme(site: Path, page: Any) -> None:
    colours = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.goto((site / "index.html").as_uri())
        colours.append(
            page.evaluate(
                "[document.querySelector('article p'), document.body]"
                ".map((x, i) => getComputedStyle(x)[i ? 'backgroundColor' : 'color'])"
            )
        )
    (ink, paper), (dark_ink, dark_paper) = colours
    assert brightness(paper) > brightness(ink) + 400
    assert brightness(dark_ink) > brightness(dark_paper) + 400


def brightness(colour: str) -> int:
    """Return the sum of red, green and blue."""
    return sum(map(int, re.findall(r"\d+", colour)[:3]))
