"""The guides say what the commands print today."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import ir_datasets
import pytest

import ir_std
from ir_std.reporting.html.method import REFERENCES, SCHEME_PAPER

ROOT = Path(__file__).resolve().parent.parent
GUIDES = ("README.md", "scripts/README.md")
README = (ROOT / "README.md").read_text(encoding="utf-8")

TAKES_LONG = re.compile(r"^\$ ir_std build trec8|\"trec8-adhoc\"\)\.iterdir|dask\.distributed")
"""Forty real runs by all measures, all 129 runs, and a cluster."""


def blocks(kind: str) -> list[Any]:
    """The guides' blocks of one kind."""
    return [
        pytest.param(
            text,
            id=f"{guide}-{number}",
            marks=[pytest.mark.slow] * bool(TAKES_LONG.search(text)),
        )
        for guide in GUIDES
        for number, text in enumerate(
            re.findall(
                rf"^```{kind}\n(.*?)^```$",
                (ROOT / guide).read_text(encoding="utf-8"),
                re.MULTILINE | re.DOTALL,
            )
        )
    ]


@pytest.fixture(scope="module")
def files(data: Path, runs_of: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that the guides name, and what ir_datasets would have fetched."""
    place = tmp_path_factory.mktemp("guides")
    for qrels in (data / "qrels").iterdir():
        (place / qrels.name).symlink_to(qrels)
    (place / "soboroff2018").symlink_to(data / "soboroff2018")
    (place / "trec8-adhoc").symlink_to(runs_of("trec8-adhoc"))
    (place / "runs").symlink_to(runs_of("dl19-passage"))
    fetched = place / "ir_datasets" / "msmarco-passage" / "trec-dl-2019"
    fetched.mkdir(parents=True)
    (fetched / "qrels").symlink_to(data / "qrels" / "dl19-passage.txt")
    return place


@pytest.fixture
def folder(request: pytest.FixtureRequest, block: str, tmp_path: Path) -> Path:
    """Where a block runs: what names no runs and qrels needs none."""
    needs = re.search(r"\bruns/|trec8-adhoc[/.]|\.txt|soboroff", block)
    return request.getfixturevalue("files") if needs else tmp_path


def environment(folder: Path) -> dict[str, str]:
    """What a reader's shell has: ``ir_std`` and ``python``, with this package."""
    programs = folder / "bin"
    programs.mkdir(exist_ok=True)
    for name, command in {"python": "", "ir_std": " -m ir_std"}.items():
        (programs / name).write_text(f'#!/bin/sh\nexec {sys.executable}{command} "$@"\n')
        (programs / name).chmod(0o755)
    return os.environ | {
        "PATH": f"{programs}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "COLUMNS": "100",
        "PYTHONUNBUFFERED": "1",
        "IR_DATASETS_HOME": str(folder / "ir_datasets"),
    }


@pytest.mark.parametrize("block", blocks("console"))
def test_commands_print_what_the_guides_say(block: str, folder: Path) -> None:
    for command, expected in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE):
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=folder,
            env=environment(folder),
            text=True,
            check=False,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        pattern = re.escape(expected).replace(re.escape("...\n"), "(?:.*\n)*?")
        assert re.fullmatch(pattern, done.stdout), f"$ {command}\n{done.stdout}"


@pytest.mark.parametrize("block", blocks("python"))
def test_python_examples_give_what_the_guides_say(block: str, folder: Path) -> None:
    if "pyterrier" in block:
        pytest.importorskip("pyterrier", reason="python-terrier is not installed")
    example = folder / "example.txt"
    example.write_text(block, encoding="utf-8")
    # A process of its own, as ir_datasets looks for its folder only once.
    done = subprocess.run(
        [sys.executable, "-m", "doctest", "-o", "NORMALIZE_WHITESPACE", example.name],
        cwd=folder,
        env=environment(folder),
        text=True,
        check=False,
        capture_output=True,
    )
    assert ">>> " in block
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_qrels_of_the_first_example_are_those_that_ir_datasets_fetches(data: Path) -> None:
    fetched = ir_datasets.util.DownloadConfig.context("msmarco-passage").contents()
    digest = hashlib.md5((data / "qrels" / "dl19-passage.txt").read_bytes()).hexdigest()
    assert digest == fetched["trec-dl-2019/qrels"]["expected_md5"]


@pytest.mark.slow
def test_a_checkout_is_installed_as_the_readme_says(tmp_path: Path) -> None:
    commands = next(
        b
        for b in re.findall(r"^```sh\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
        if "activate" in b
    )
    checkout = tmp_path / "checkout"
    shutil.copytree(ROOT, checkout, ignore=shutil.ignore_patterns(".*", "tests"))
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", commands],
        cwd=checkout,
        text=True,
        check=False,
        capture_output=True,
    )
    assert done.returncode == 0, done.stderr
    assert "standardized score of 0.5" in done.stdout


def test_the_readme_can_be_read_in_one_sitting() -> None:
    assert len(README.splitlines()) <= 250


@pytest.mark.parametrize("guide", [*GUIDES, "CONTRIBUTING.md"])
def test_what_a_guide_links_to_is_there(guide: str) -> None:
    text = (ROOT / guide).read_text(encoding="utf-8")
    for target in re.findall(r'\]\(([^)]+)\)|(?:src|srcset)="([^"]+)"', text):
        page, _, part = "".join(target).partition("#")
        if ":" in page:
            continue
        file = (ROOT / guide).parent / page if page else ROOT / guide
        assert file.exists(), target
        if part:
            titles = re.findall(r"^#+ (.*)$", file.read_text(encoding="utf-8"), re.MULTILINE)
            assert part in {
                re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles
            }, target


def test_every_shipped_set_is_in_the_readmes_table_beside_its_number_of_systems() -> None:
    rows = re.findall(r"^\| [^|]+ \| (.*`.*) \| ([\d to]+) \|$", README, re.MULTILINE)
    listed = {
        name: systems for names, systems in rows for name in re.findall(r"`([a-z0-9-]+)`", names)
    }
    assert set(listed) == set(ir_std.available_factors())
    assert f"{len(listed)} factor sets" in README
    for names, systems in rows:
        numbers = [
            int(re.findall(r"\d+", ir_std.load_factors(name).systems_text())[0])
            for name in re.findall(r"`([a-z0-9-]+)`", names)
        ]
        assert [int(n) for n in systems.split(" to ")] == sorted({min(numbers), max(numbers)})


def test_the_two_topics_of_the_first_example_have_the_places_that_are_told() -> None:
    factors = ir_std.load_factors("dl19-passage")
    told = re.findall(r"(\d\.\d\d) on topic (\d+) is (\d+)th", README)
    assert len(told) == 2
    for score, topic, place in told:
        scores = factors.scores["nDCG@10"][factors.topics.index(topic)]
        ranks = {1 + sum(scores > s) for s in scores if f"{s:.2f}" == score}
        assert ranks == {int(place)}


def test_the_readme_cites_the_papers_of_the_schemes_as_the_report_does() -> None:
    for key in SCHEME_PAPER.values():
        (doi,) = re.findall(r"doi = \{(.+)\}", REFERENCES[key])
        assert f"https://doi.org/{doi}" in README
