#!/usr/bin/env python3
"""Draw the README's pictures.

    python scripts/pictures.py --data ../shared/data

writes into ``scripts/pictures/``. It draws ``topics.png``, ``forest.png``, ``linking.png`` and
``judges.png`` with matplotlib. With playwright and chromium, it draws the first screen of a report
as ``overview.png`` and ``overview-dark.png``.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import tarfile
import tempfile
from pathlib import Path

import matplotlib as mpl
import numpy as np
from experiment import ROOT, add_data_option
from judges_experiment import LLM, held_out, modern_pairs
from linking_experiment import ENGINES, engine
from matplotlib.figure import Figure
from reproduce_soboroff2018 import COLLECTIONS, differences, load

import ir_std
from ir_std import nDCG, plots, snDCG
from ir_std.errors import pluralize
from ir_std.reporting.html.report import write_report
from ir_std.reporting.plots import draw_forests

mpl.rcParams.update(
    {
        "font.size": 9,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "legend.frameon": False,
        "lines.linewidth": 1.4,
    }
)
PICTURES = ROOT / "scripts" / "pictures"
RUNS = ("idst_bert_p1", "p_bert", "TUW19-p3-f", "ms_duet_passage", "bm25base_p")
"""Runs of the README's report; the last run is the baseline."""


def evaluated(data: Path, folder: Path) -> ir_std.Results:
    """Evaluate runs of the Deep Learning track 2019; unpack the runs into ``folder``."""
    with tarfile.open(data / "runs" / "dl19-passage.tar.xz") as archive:
        for name in RUNS:
            archive.extract(f"dl19-passage/{name}", folder, filter="data")
    return ir_std.evaluate(
        [folder / "dl19-passage" / name for name in RUNS],
        data / "qrels" / "dl19-passage.txt",
        factors="dl19-passage",
        baseline=RUNS[-1],
    )


def topics(results: ir_std.Results) -> Figure:
    """Draw the baseline's raw and standardized scores, topic by topic."""
    figure = Figure(figsize=(14, 4.2), layout="constrained")
    for measure, ax in zip((nDCG @ 10, snDCG @ 10), figure.subplots(1, 2), strict=True):
        plots.topics(results, measure, RUNS[-1], ax)
    return figure


def forest(data: Path) -> Figure:
    """Draw the difference between feedback and no feedback on ten collections."""
    return draw_forests(differences("feedback", [load(data, "feedback", c) for c in COLLECTIONS]))


def linking(data: Path) -> Figure:
    """Draw one engine's mean sAP on nine collections, before and after a link."""
    figure = Figure(figsize=(9, 3), layout="constrained")
    axes = figure.subplots(1, len(ENGINES), sharey=True)
    for ax, experiment in zip(axes, ENGINES, strict=True):
        means = engine(data, experiment)
        for i, pair in enumerate(zip(means.plain, means.linked, strict=True)):
            ax.plot((0, 1), pair, "o-", color="#888888", lw=0.8, ms=4, label="_" * (i > 0))
        ax.set_xticks((0, 1), ("by each track's own systems", "linked"))
        ax.set_xlim(-0.3, 1.3)
        spread = f"{means.plain.std(ddof=1):.3f} to {means.linked.std(ddof=1):.3f}"
        ax.set_title(f"{experiment}: standard deviation {spread}", fontsize=9)
    axes[0].set_ylabel(f"mean sAP on {pluralize(len(means.collections), 'collection')}")
    return figure


def judges(data: Path) -> Figure:
    """Draw the later systems under both judges, raw and standardized (nDCG@10, UMBRELA)."""
    pairs = modern_pairs(data, ["umbrela-gpt4"])
    shown = [pair for pair in pairs if pair[0].measure == "nDCG@10"]
    figure = Figure(figsize=(9.5, 4.6), layout="constrained")
    for ax, scale in zip(figure.subplots(1, 2), ("raw", "N"), strict=True):
        for (own, later), marker in zip(shown, ("o", "s"), strict=True):
            x, y = (values.mean(axis=0) for values in held_out(own, later)[scale])
            llm = np.array([bool(re.search(LLM, system)) for system in later.systems])
            year = f"20{own.collection[2:4]}"
            for mask, color, what in ((~llm, "#2a6fbb", ""), (llm, "#c44e52", ", LLM re-rankers")):
                ax.plot(x[mask], y[mask], marker, color=color, ms=6, mew=0, alpha=0.8,
                        label=f"DL {year}{what}")  # fmt: skip
        ends = ax.get_xlim(), ax.get_ylim()
        both = min(end[0] for end in ends), max(end[1] for end in ends)
        ax.plot(both, both, color="0.5", lw=1, zorder=0)
        ax.set(xlim=both, ylim=both, aspect="equal")
        name = "nDCG@10" if scale == "raw" else "snDCG@10"
        ax.set(xlabel=f"{name} by people's labels", ylabel=f"{name} by GPT-4's labels")
        ax.set_title("raw" if scale == "raw" else "standardized, each by its own labels' factors")
    figure.axes[0].legend(frameon=False, fontsize="small", loc="lower right")
    return figure


def overview(results: ir_std.Results, folder: Path) -> None:
    """Draw the first screen of the report, in light and dark."""
    from playwright.sync_api import sync_playwright

    page_file = folder / "report.html"
    write_report(results, page_file)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=os.environ.get("IR_STD_CHROMIUM") or shutil.which("chromium"),
            args=["--no-sandbox"],
        )
        for dark in (False, True):
            page = browser.new_page(
                viewport={"width": 1200, "height": 800},
                device_scale_factor=1.5,
                color_scheme="dark" if dark else "light",
            )
            page.goto(page_file.as_uri())
            page.wait_for_selector("[data-ready]", state="attached")
            bottom = page.eval_on_selector(".trust", "e => e.getBoundingClientRect().bottom")
            page.screenshot(
                path=folder / ("overview-dark.png" if dark else "overview.png"),
                clip={"x": 0, "y": 0, "width": 1200, "height": bottom + 16},
            )
        browser.close()


def draw(data: Path, folder: Path) -> None:
    """Draw every picture that needs no browser into ``folder``."""
    with tempfile.TemporaryDirectory() as scratch:
        topics(evaluated(data, Path(scratch))).savefig(folder / "topics.png", dpi=100)
    forest(data).savefig(folder / "forest.png", dpi=100)
    linking(data).savefig(folder / "linking.png", dpi=100)
    judges(data).savefig(folder / "judges.png", dpi=100)


def main() -> None:
    """Parse the arguments and draw."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_data_option(parser)
    data = parser.parse_args().data
    draw(data, PICTURES)
    with tempfile.TemporaryDirectory() as scratch:
        overview(evaluated(data, Path(scratch)), Path(scratch))
        for picture in Path(scratch).glob("*.png"):
            shutil.move(picture, PICTURES / picture.name)


if __name__ == "__main__":
    main()
