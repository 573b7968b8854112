"""The README and the documentation's pages say what the commands print today."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ir_datasets
import pytest
from processes import run_process

import ir_std
from ir_std.reporting.html.report import SCHEME_PAPER, read_references
from ir_std.testing import simulated_nuggets

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
WRITTEN = sorted(
    page
    for page in (ROOT / "docs").rglob("*.md")
    if "generated" not in page.relative_to(ROOT).parts
)
PAGES = {
    page.relative_to(ROOT).as_posix(): page.read_text(encoding="utf-8")
    for page in (ROOT / "README.md", *WRITTEN)
}


NO_PROSE = re.compile(r"[|$!]|-+$|ir_std: using |Not significant does not mean equal")
"""What two pages may share: rows of tables, commands, pictures, rules, and two common notes."""


def blocks(page: str, kind: str) -> list[str]:
    """Return a page's blocks of one kind."""
    return re.findall(rf"^```{kind}\n(.*?)^```$", PAGES[page], re.MULTILINE | re.DOTALL)


def pages_with(kind: str) -> list[Any]:
    """Return the pages that have such blocks; the slow tests include all except the README."""
    return [
        pytest.param(page, marks=[pytest.mark.slow] * (page != "README.md"))
        for page in PAGES
        if blocks(page, kind)
    ]


@pytest.fixture
def folder(data: Path, runs_of: Callable[[str], Path], tmp_path: Path) -> Path:
    """Make a folder with the files that the pages name, and those that ir_datasets would fetch."""
    for file in (*(data / "qrels").iterdir(), data / "soboroff2018", runs_of("trec8-adhoc")):
        (tmp_path / file.name).symlink_to(file)
    (tmp_path / "runs").symlink_to(runs_of("dl19-passage"))
    fetched = tmp_path / "ir_datasets" / "msmarco-passage" / "trec-dl-2019"
    fetched.mkdir(parents=True)
    (fetched / "qrels").symlink_to(data / "qrels" / "dl19-passage.txt")
    return tmp_path


def environment(folder: Path) -> dict[str, str]:
    """Return a reader's environment: ``ir_std`` and ``python``, with this package."""
    programs = folder / ".venv" / "bin"
    programs.mkdir(parents=True)
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


def printed(command: str, folder: Path, env: dict[str, str]) -> str:
    """Return all that a command prints, including notes and warnings."""
    return subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=env,
        text=True,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ).stdout


@pytest.mark.parametrize("page", pages_with("console"))
def test_commands_print_what_the_page_says(page: str, folder: Path) -> None:
    env = environment(folder)
    for block in blocks(page, "console"):
        for command, expected in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE):
            assert printed(command, folder, env) == expected, f"$ {command}"


@pytest.mark.parametrize("page", pages_with("python"))
def test_python_examples_give_what_the_page_says(page: str, folder: Path) -> None:
    if "pyterrier" in page:
        pytest.importorskip("pyterrier", reason="python-terrier is not installed")
    example = folder / "example.txt"
    example.write_text("\n".join(blocks(page, "python")), encoding="utf-8")
    # Start a new process, because ir_datasets looks for its folder only once.
    done = run_process(
        [sys.executable, "-m", "doctest", "-o", "NORMALIZE_WHITESPACE", example.name],
        cwd=folder,
        env=environment(folder),
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_the_workflow_writes_a_summary_and_a_report(folder: Path) -> None:
    (workflow,) = blocks("docs/how-to/pipelines.md", "yaml")
    _, *commands = re.findall(r"^- run: (.*)$", workflow, re.MULTILINE)
    for run, system in {"new.run": "p_exp_rm3_bert", "released.run": "p_bert"}.items():
        shutil.copy(folder / "runs" / system, folder / run)
    shutil.copy(folder / "dl19-passage.txt", folder / "qrels.txt")
    env = environment(folder) | {"GITHUB_STEP_SUMMARY": str(folder / "summary.md")}
    for command in commands:
        said = printed(f"{command} || echo failed", folder, env)
        assert "failed" not in said
        assert "error" not in said
    summary = (folder / "summary.md").read_text("utf-8")
    assert "| new | **0.7422** | 0.6844 |" in summary
    assert "released" in (folder / "report.html").read_text("utf-8")


def test_examples_have_kinds_that_are_run() -> None:
    others = {
        (page, kind)
        for page, text in PAGES.items()
        for kind in re.findall(r"^```([^\s{]+)$", text, re.MULTILINE)
        if kind not in ("console", "python")
    }
    assert others == {
        ("README.md", "sh"),  # the first command, and the tests, which .ci/run takes from here
        ("README.md", "text"),
        ("docs/index.md", "text"),  # one command per door; another test runs them
        ("docs/start/install.md", "sh"),
        ("docs/how-to/pipelines.md", "yaml"),
        ("docs/evidence/papers.md", "sh"),  # the scripts have tests of their own
        ("docs/evidence/merging.md", "text"),
        ("docs/upstream/README.md", "toml"),
    }


@pytest.mark.slow
def test_the_commands_of_the_front_pages_doors_run(folder: Path) -> None:
    doors = folder / "doors"
    doors.mkdir()
    (doors / "my.run").symlink_to(folder / "runs" / "p_bert")
    (doors / "qrels.txt").symlink_to(folder / "dl19-passage.txt")
    (doors / "runs").mkdir()
    for system in ("idst_bert_p1", "bm25base_p"):
        (doors / "runs" / system).symlink_to(folder / "runs" / system)
    (doors / "results" / "me__model").mkdir(parents=True)
    tasks = "ArguAna FiQA2018 SCIDOCS TRECCOVID FEVERHardNegatives HotpotQAHardNegatives"
    for task in tasks.split():
        scores = {"test": [{"main_score": 0.5, "ndcg_at_10": 0.5, "hf_subset": "default"}]}
        (doors / "results" / "me__model" / f"{task}.json").write_text(
            json.dumps({"task_name": task, "scores": scores}), encoding="utf-8"
        )
    (doors / "nuggets.csv").write_text(simulated_nuggets(), encoding="utf-8")
    env = environment(folder)
    for command in blocks("docs/index.md", "text"):
        said = printed(f"{command.strip()} || echo failed", doors, env)
        assert "failed" not in said, said
    assert {"report.html", "task.npz", "mine.npz"} <= {file.name for file in doors.iterdir()}


def first_command() -> tuple[str, str]:
    """Return the command on the README's first screen, and its output."""
    return blocks("README.md", "sh")[0], blocks("README.md", "text")[0]


def test_the_first_command_prints_what_the_readme_says_without_any_file(tmp_path: Path) -> None:
    command, expected = first_command()
    install, scores, _ = command.split(" &&\n")
    assert install.startswith("python3 -m venv .venv && .venv/bin/pip install")
    assert printed(scores, tmp_path, environment(tmp_path)) == expected


@pytest.mark.slow
def test_a_checkout_is_installed_as_the_readme_and_the_page_say(tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    shutil.copytree(ROOT, checkout, ignore=shutil.ignore_patterns(".*", "tests"))
    command, expected = first_command()
    for script, shown in (
        (command, expected.partition("\n")[2]),
        (blocks("docs/start/install.md", "sh")[0], expected.partition("\n")[2]),
    ):
        done = run_process(
            ["bash", "-euo", "pipefail", "-c", script],
            cwd=checkout,
            env={**os.environ, "PIP_COMPILE": "0"},  # Python compiles what it imports
        )
        assert done.returncode == 0, done.stderr
        assert shown in done.stdout
    assert "idst_bert_p1" in (checkout / "report.html").read_text(encoding="utf-8")


def test_the_qrels_that_the_pages_name_are_those_that_ir_datasets_fetches(data: Path) -> None:
    fetched = ir_datasets.util.DownloadConfig.context("msmarco-passage").contents()
    digest = hashlib.md5((data / "qrels" / "dl19-passage.txt").read_bytes()).hexdigest()
    assert digest == fetched["trec-dl-2019/qrels"]["expected_md5"]


def test_the_readme_can_be_read_in_one_sitting() -> None:
    assert len(README.splitlines()) <= 110


def test_nothing_is_repeated_on_two_pages() -> None:
    lines: dict[str, str] = {}
    for page, text in PAGES.items():
        for line in {*text.splitlines()}:
            if len(line) > 60 and not NO_PROSE.match(line):
                assert lines.setdefault(line, page) == page, line


def test_what_a_page_includes_is_within_a_section() -> None:
    for page, text in PAGES.items():
        for file, options in re.findall(r"^```{include} (.*)\n((?::.*\n)*)", text, re.MULTILINE):
            included = ((ROOT / page).parent / file).read_text("utf-8")
            ends = dict(re.findall(r':([\w-]+): "(.*)"', options))
            assert all(included.count(end) == 1 for end in ends.values()), (page, ends)
            if "end-before" in ends:
                part = included.partition(ends["start-after"])[2].partition(ends["end-before"])[0]
                assert part
                assert "\n#" not in part, (page, ends)


def test_what_a_page_names_is_there() -> None:
    others = ("CHANGELOG.md", "CONTRIBUTING.md", "factors/README.md", "scripts/README.md")
    missing = []
    for page in (*PAGES, *others):
        text = PAGES.get(page) or (ROOT / page).read_text(encoding="utf-8")
        for script in re.findall(r"python (scripts/\w+\.py)", text):
            missing += [] if (ROOT / script).exists() else [(page, script)]
        for target in re.findall(r'\]\(([^)]+)\)|(?:src|srcset)="([^"]+)"', text):
            path, _, part = "".join(target).partition("#")
            # Sphinx checks links to generated pages.
            if ":" in path or "generated/" in path or path.endswith(".ipynb"):
                continue
            file = (ROOT / page).parent / path if path else ROOT / page
            anchors = {""} | (anchors_of(file) if part else set())
            if not file.exists() or part not in anchors:
                missing.append((page, "".join(target)))
    assert missing == []


def anchors_of(page: Path) -> set[str]:
    """Return the anchors of a page's headings."""
    titles = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles}


def test_every_shipped_set_is_in_the_readmes_table_with_its_number_of_systems() -> None:
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


def test_the_two_topics_of_the_first_example_have_the_stated_places() -> None:
    factors = ir_std.load_factors("dl19-passage")
    told = re.findall(r"(\d\.\d\d) on topic (\d+) ranks (\d+)th", README)
    assert len(told) == 2
    for score, topic, place in told:
        scores = factors.scores["nDCG@10"][factors.topics.index(topic)]
        ranks = {1 + sum(scores > s) for s in scores if f"{s:.2f}" == score}
        assert ranks == {int(place)}


def test_the_readme_cites_the_papers_of_the_schemes_as_the_report_does() -> None:
    for key in SCHEME_PAPER.values():
        (doi,) = re.findall(r"doi = \{(.+?)\}", read_references()[key])
        assert f"https://doi.org/{doi}" in README
