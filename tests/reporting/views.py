"""A report in a browser, as tests look at it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ir_measures import AP, P

import ir_std
from ir_std.testing import simulated_qrels, simulated_run

HOSTILE = "=<img src=x onerror=alert(1)></script>'\"&"
MINUS = "\u2212"
EN_DASH = "\u2013"
SYSTEMS = "systems\u2019"
N_RUNS = 24


def made_up_results() -> ir_std.Results:
    qrels = simulated_qrels(ir_std.load_factors("trec8-adhoc").n_rel)
    runs = {f"run{i}": simulated_run(qrels, i, 60) for i in range(N_RUNS)}
    return ir_std.evaluate(runs, qrels, [AP, P @ 10], baseline="run0")


class View:
    """A report in a browser, and what it said and asked for."""

    def __init__(self, browser: Any, **options: Any) -> None:
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
        self.page.wait_for_selector("html[data-complete]")

    def open_topics(self) -> None:
        self.page.click(".all-topics-box summary")
        self.page.wait_for_selector(".all-topics tbody tr")

    def rows(self, table: str = ".runs") -> list[str]:
        """The names of the rows that are shown."""
        found: list[str] = self.page.eval_on_selector_all(
            f"{table} tbody tr",
            "rows => rows.filter(r => r.offsetParent !== null).map(r => r.cells[0].textContent)",
        )
        return found

    def column(self, table: str, head: str) -> list[str]:
        """The texts of a column, of all rows but the systems'."""
        found: list[str] = self.page.eval_on_selector(
            table,
            "(t, head) => { const i = [...t.tHead.rows[0].cells].findIndex("
            "h => [h.textContent, h.dataset.column].includes(head)); "
            "return [...t.tBodies[0].rows].filter(r => !r.matches('.systems-row'))"
            ".map(r => r.cells[i].textContent); }",
            head,
        )
        return found

    def text(self, selector: str) -> str:
        found: str = self.page.text_content(selector)
        return found

    def address(self) -> str:
        return str(self.page.evaluate("location.hash"))

    def tip(self, figure: str) -> str:
        found: str = self.page.eval_on_selector(
            f"{figure} > .tip",
            "t => t.hidden ? '' : [...t.children].map(c => c.textContent).join('; ')",
        )
        return found


def score(value: float) -> str:
    return f"{value:.4f}".replace("-", MINUS)


def saved(view: View, selector: str) -> tuple[str, bytes]:
    with view.page.expect_download() as waiting:
        view.page.click(selector)
    return waiting.value.suggested_filename, Path(waiting.value.path()).read_bytes()


@contextmanager
def without_fault(view: View, file: Path) -> Iterator[View]:
    """Open a report at the size of a desktop; afterwards nothing must have gone wrong."""
    view.open(file)
    yield view
    assert view.said == []
    asked = {url.partition("#")[0] for url in view.asked if not url.startswith(("data:", "blob:"))}
    assert asked <= {file.as_uri()}
