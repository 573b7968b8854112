"""The report's first screen in a browser, in the situations in which its readers meet it."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from ir_measures import AP
from views import View

import ir_std
from ir_std.reporting.html.report import write_report
from ir_std.testing import simulated_qrels, simulated_run

pytestmark = pytest.mark.slow

SETS = (
    "trec8-adhoc",
    "trec7-adhoc",
    "trec6-adhoc",
    "trec5-adhoc",
    "trec3-adhoc",
    "trec4-adhoc",
    "trec2002-web",
    "trec2003-web",
    "terabyte05",
    "dl22-passage",
)
QRELS = {name: simulated_qrels(ir_std.load_factors(name).n_rel) for name in SETS}


def one_collection(n: int, **options: Any) -> ir_std.Results:
    qrels = QRELS[SETS[0]]
    runs = {f"run{i}": simulated_run(qrels, i, 1000) for i in range(n)}
    return ir_std.evaluate(runs, qrels, AP, **options)


def tie() -> ir_std.Results:
    qrels = QRELS[SETS[0]]
    run = simulated_run(qrels, 1, 1000)
    return ir_std.evaluate({"run1": run, "copy": run}, qrels, AP)


def broken() -> ir_std.Results:
    qrels = QRELS[SETS[0]]
    run = simulated_run(qrels, 1, 1000)
    constant = {topic: dict.fromkeys(docs, 1.0) for topic, docs in run.items()}
    return ir_std.evaluate({"run1": run, "constant": constant}, qrels, AP)


def several(n: int, lacking: int = 0, baseline: str | None = None) -> ir_std.Comparison:
    """Two systems on n collections; the second lacks the last ones."""
    entries = [
        (system, simulated_run(QRELS[name], 10 * i + j, 60), QRELS[name])
        for i, name in enumerate(SETS[:n])
        for j, system in enumerate(("bm25", "mono"))
        if not (system == "mono" and i >= n - lacking)
    ]
    comparison = ir_std.compare(entries, [AP])
    return comparison.tested(baseline) if baseline else comparison


def mteb(*models: str) -> ir_std.Results:
    rows = "".join(f"{m},SciFact,0.64\n{m},NFCorpus,0.31\n{m},ArguAna,0.54\n" for m in models)
    scores = ir_std.read_scores(io.StringIO(f"run,collection,nDCG@10\n{rows}"))
    return ir_std.evaluate(scores, None, "nDCG@10")


def thin() -> ir_std.Results:
    system = ir_std.system("ntcir13-www-english/RMIT-E-NU-Own-1")
    return ir_std.evaluate(system, None, "nDCG@10")


Made = Callable[[], ir_std.Results | ir_std.Comparison]
SITUATIONS: dict[str, tuple[Made, list[str], list[str]]] = {
    # By name what is looked at, what its sentences say, and what they must not.
    "one run": (lambda: one_collection(1), ["run0 has a mean sAP of ", "of 50 topics"], ["lead"]),
    "two runs": (lambda: one_collection(2), ["of the 2 runs", "It leads "], ["baseline"]),
    "tie": (tie, ["Both runs tie by sAP", "the same score on every topic"], ["lead", "0.000"]),
    "baseline": (
        lambda: one_collection(4, baseline="run3"),
        ["leads the baseline run3 by ", ", the next run, by ", "Of 3 runs beside"],
        [],
    ),
    "129 runs": (lambda: one_collection(129), ["best of the 129 runs", "could be first"], []),
    "two collections": (
        lambda: several(2),
        ["On trec8-adhoc ", "On trec7-adhoc "],
        ["over the 2", "summary"],
    ),
    "two unbalanced collections": (
        lambda: several(2, 1),
        ["On trec8-adhoc ", "mono has no run on trec7-adhoc: left out there."],
        ["On trec7-adhoc ", "highest mean"],
    ),
    "two collections with a baseline": (
        lambda: several(2, baseline="bm25"),
        ["On trec8-adhoc by sAP, against bm25: mono ", "no summary over the collections"],
        ["one more"],
    ),
    "five collections": (lambda: several(5), ["over the 5 collections: "], ["On trec"]),
    "five unbalanced collections": (
        lambda: several(5, 1),
        ["On trec8-adhoc ", "mono has no run on trec3-adhoc: left out there."],
        ["over the 4", "over the 5"],
    ),
    "ten collections": (lambda: several(10), ["over the 10 collections: "], ["On trec"]),
    "ten unbalanced collections": (
        lambda: several(10, 3),
        [
            "over the 7 collections where all systems have one: ",
            "mono has no run on trec2003-web, terabyte05, dl22-passage: left",
        ],
        [],
    ),
    "ten collections with a baseline": (
        lambda: several(10, baseline="bm25"),
        ["In summary the difference is "],
        [],
    ),
    "MTEB": (
        lambda: mteb("model"),
        ["of 3 data sets", "models on each data set", ", between "],
        ["topic", "qrels"],
    ),
    "two models on MTEB": (
        lambda: mteb("model", "same"),
        ["Either run could be first: fewer than 5 data sets tell no runs apart."],
        ["topic", "qrels"],
    ),
    "a broken run": (broken, ["run1 is the best of the 2 runs"], ["Saturation: on many topics c"]),
    "a thin set": (thin, ["13 systems", "(thin: too few for a sure deviation)"], []),
}


@pytest.fixture(scope="module")
def view(browser: Any) -> Iterator[View]:
    view = View(browser, reduced_motion="reduce")
    yield view
    view.context.close()


@pytest.mark.filterwarnings("ignore::ir_std.StandardizationWarning")
@pytest.mark.parametrize("situation", SITUATIONS)
def test_the_first_screen_says_what_is_true(view: View, tmp_path: Path, situation: str) -> None:
    made, expected, never = SITUATIONS[situation]
    results = made()
    write_report(results, tmp_path / "report.html")
    view.open(tmp_path / "report.html")
    first = view.page.locator("main > section").first
    said = " ".join(first.locator(".words li").all_inner_texts())
    assert [text for text in expected if text not in said] == [], said
    assert [text for text in never if text in said] == [], said
    assert not re.search(r"nan|None|\{|\(\)", said)
    assert view.said == []
    if isinstance(results, ir_std.Comparison):
        check_forest(view, said)
    if "MTEB" in situation:
        shown = view.page.locator(".part figure, .part h3, .part th, .part p, .part summary")
        assert [t for t in shown.all_inner_texts() if re.search(r"(?i)\btopics?\b", t)] == []
    if situation == "a broken run":
        assert "constant: all documents of a topic" in view.text(".trust li")
        marked = view.page.locator(".runs tr", has=view.page.locator(".broken"))
        assert [t.split("\t")[0] for t in marked.all_inner_texts()] == ["constant looks broken"]
        words, trust, chart = (
            view.page.locator(f".part {name}").first.bounding_box()
            for name in (".words", ".trust", "figure")
        )
        assert words
        assert trust
        assert chart
        assert words["y"] < trust["y"] < chart["y"]


def check_forest(view: View, said: str) -> None:
    """A diamond is drawn if the sentences tell of a summary, and no axis goes beyond the scores."""
    across = json.loads(view.text("#across > script"))
    measure = next(m for m in across["measures"] if m["name"] == "sAP")
    summarized = "In summary" in said or "highest mean" in said
    assert (view.page.locator(".forest path.dot.baseline").count() > 0) is summarized
    assert ("diamond" in view.text(".forest figcaption")) is summarized
    ticks = [
        float(text.replace("\u2212", "-"))
        for text in view.page.locator(".forest svg text").all_text_contents()
        if re.fullmatch(r"[\u2212-]?\d*\.?\d+", text)
    ]
    assert ticks
    assert measure["limits"][0] - 0.1 <= min(ticks) <= max(ticks) <= measure["limits"][1] + 0.1
