"""Views of a report for tests: its record, and its page in a browser."""

import html
import json
import re
import zlib
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ir_measures import AP, P
from screens import resize, wait_until_drawn

import ir_std
from ir_std.testing import simulated_qrels, simulated_run

HOSTILE = "=<img src=x onerror=alert(1)></script>'\"&"
MINUS = "\N{MINUS SIGN}"
EN_DASH = "\N{EN DASH}"
N_RUNS = 24


def simulated(n: int, measures: Any = None, set_id: str = "trec8-adhoc", **options: Any) -> Any:
    """Evaluate simulated runs on qrels with a set's topics and counts."""
    qrels = simulated_qrels(ir_std.load_factors(set_id).n_rel)
    runs = {f"run{i}": simulated_run(qrels, i, 60) for i in range(n)}
    return ir_std.evaluate(runs, qrels, measures or [AP, P @ 10], factors=set_id, **options)


def hits(by_run: dict[str, list[float]], **options: Any) -> Any:
    """Make results with this success at rank 1, topic by topic, without factors."""
    qrels = {str(i): {"good": 1, "bad": 0} for i in range(len(next(iter(by_run.values()))))}
    runs = {
        name: {str(i): {"good": 2.0 * hit, "bad": 1.0} for i, hit in enumerate(of_run)}
        for name, of_run in by_run.items()
    }
    return ir_std.evaluate(runs, qrels, [P @ 1], **options)


def data_of(page: str) -> Any:
    """Return the record of a page."""
    found = re.search(r'<script type="application/octet-stream" id="data">(.*?)</script>', page)
    assert found
    return json.loads(zlib.decompress(b64decode(found[1])))


def plain(sentence: str) -> str:
    """Return a sentence without its colors."""
    return html.unescape(re.sub("<[^>]*>", "", sentence))


class View:
    """A report in a browser, with its errors and its requests."""

    def __init__(self, browser: Any, **options: Any) -> None:
        options.setdefault("viewport", {"width": 1200, "height": 800})
        self.context = browser.new_context(**options)
        self.page = self.context.new_page()
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))

    def open(self, file: Path, address: str = "") -> None:
        self.said.clear()
        self.asked.clear()
        self.page.goto("about:blank")
        self.page.goto(file.as_uri() + address)
        self.page.wait_for_selector("html[data-ready]")

    def headline(self) -> str:
        return str(self.page.get_by_role("heading", level=1).inner_text()).replace("\n", " ")

    def marks(self, picture: str) -> list[str]:
        """Return the labels of a picture's marks, in their order."""
        of = self.page.get_by_role("group", name=re.compile(picture)).first
        found: list[str] = of.locator("[aria-label]").evaluate_all(
            "ms => ms.map(m => m.getAttribute('aria-label'))"
        )
        return found

    def mark(self, label: str) -> Any:
        return self.page.locator(f'svg [aria-label^="{label}"]').first

    def column(self, table: str, head: str) -> list[str]:
        """Return the texts of a table's column."""
        found: list[str] = self.page.get_by_role("region", name=table).first.evaluate(
            "(t, head) => { const i = [...t.querySelectorAll('thead th')].findIndex("
            "h => h.textContent.startsWith(head)); "
            "return [...t.querySelectorAll('tbody tr')].map(r => r.cells[i].textContent); }",
            head,
        )
        return found

    def choose(self, measure: str) -> None:
        self.page.get_by_label("Measure", exact=True).select_option(measure)

    def open_details(self, summary: str) -> None:
        self.page.locator("summary", has_text=summary).first.click()
        self.page.locator("details[open] > summary", has_text=summary).first.wait_for()
        wait_until_drawn(self.page)  # A page fills a box when it handles the event of its opening.

    def address(self) -> str:
        return str(self.page.evaluate("location.hash"))

    def wait_for_tip(self, beginning: str) -> None:
        self.page.locator("#tip", has_text=re.compile(f"^{re.escape(beginning)}")).wait_for()


def saved(view: View, button: str) -> tuple[str, bytes]:
    with view.page.expect_download() as waiting:
        view.page.get_by_role("button", name=button).click()
    return waiting.value.suggested_filename, Path(waiting.value.path()).read_bytes()


@contextmanager
def without_fault(view: View, file: Path) -> Iterator[View]:
    """Open a report at the size of a desktop; at the end, check that it had no errors."""
    resize(view.page, 1200)
    view.open(file)
    yield view
    assert view.said == []
    asked = {url.partition("#")[0] for url in view.asked if not url.startswith(("data:", "blob:"))}
    assert asked <= {file.as_uri()}
