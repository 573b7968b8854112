"""The README says what the commands print today."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

import ir_std

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
CONSOLE = [text for kind, text in BLOCKS if kind == "console"]
PYTHON = [text for kind, text in BLOCKS if kind == "python"]


@pytest.fixture(scope="module")
def folder(data: Path, runs_of: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that the README's commands name."""
    place = tmp_path_factory.mktemp("readme")
    for qrels in (data / "qrels").iterdir():
        (place / qrels.name).symlink_to(qrels)
    (place / "soboroff2018").symlink_to(data / "soboroff2018")
    for name in ("trec8-adhoc", "dl19-passage"):
        if name in README:
            (place / name).symlink_to(runs_of(name))
    return place


def assert_prints(block: str, folder: Path) -> None:
    """Run each command of a block; it must print what the block says."""
    shims = folder / "bin"
    shims.mkdir(exist_ok=True)
    (shims / "python").unlink(missing_ok=True)
    (shims / "python").symlink_to(sys.executable)
    environment = os.environ | {"PATH": f"{shims}:{os.environ['PATH']}", "PYTHONUNBUFFERED": "1",
                                "PYTHONPATH": str(ROOT), "COLUMNS": "100"}
    for command, expected in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE):
        done = subprocess.run(["bash", "-c", command.replace("python ", f"{sys.executable} ", 1)],
                              cwd=folder, env=environment, text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        pattern = re.escape(expected).replace(re.escape("...\n"), "(?:.*\n)*?")
        assert re.fullmatch(pattern, done.stdout), f"$ {command}\n{done.stdout}"


def needs_files(block: str) -> bool:
    return bool(re.search(r"adhoc[/.]|passage[/.]|\.txt|\.gz|\.eval", block))


@pytest.mark.parametrize("block", [b for b in CONSOLE if not needs_files(b)])
def test_commands_that_need_no_files_print_what_the_readme_says(block: str,
                                                                tmp_path: Path) -> None:
    assert_prints(block, tmp_path)


@pytest.mark.parametrize("block", [b for b in CONSOLE if needs_files(b)])
def test_commands_on_real_files_print_what_the_readme_says(block: str, folder: Path) -> None:
    assert_prints(block, folder)


@pytest.mark.parametrize("block", PYTHON)
def test_python_examples_give_what_the_readme_says(block: str, folder: Path,
                                                   monkeypatch: pytest.MonkeyPatch) -> None:
    if "pyterrier" in block:
        pytest.importorskip("pyterrier", reason="python-terrier is not installed")
    monkeypatch.chdir(folder)
    example = doctest.DocTestParser().get_doctest(block, {}, "README", "README.md", 0)
    assert example.examples
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.simplefilter("ignore", FutureWarning)
        outcome = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(example)
    assert outcome.failed == 0


def test_every_shipped_set_is_in_the_readmes_list() -> None:
    listed = set(re.findall(r"`([a-z0-9-]+)`", README.split("## Collections")[1]))
    assert set(ir_std.available_factors()) <= listed
