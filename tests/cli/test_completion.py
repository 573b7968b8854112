"""Completion of words in the shell, asked as bash asks."""

import os
import sys
from pathlib import Path

import pytest
from processes import run_process
from sets import quick_first

from ir_std.cli.parser import COMMANDS

pytest.importorskip("argcomplete")


def offered(tmp_path: Path, line: str) -> list[str]:
    """What is offered at the end of a line."""
    answer = tmp_path / "answer"
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "_ARGCOMPLETE": "1",
        "_ARGCOMPLETE_IFS": "\n",
        "_ARGCOMPLETE_STDOUT_FILENAME": str(answer),
        "COMP_LINE": line,
        "COMP_POINT": str(len(line.encode())),
    }
    done = run_process([sys.executable, "-m", "ir_std"], cwd=tmp_path, env=environment)
    assert (done.stdout, done.stderr) == ("", "")
    return [word.rstrip() for word in answer.read_text().split("\n")]


@pytest.mark.parametrize(
    ("line", "words"),
    quick_first(
        [
            ("ir_std comp", ["compare"]),
            (
                "ir_std dl19-passage/bm25base_p",
                ["dl19-passage/bm25base_p", "dl19-passage/bm25base_prf_p"],
            ),
            ("ir_std run.t", ["run.txt"]),
            ("ir_std run.txt --fail-if", ["--fail-if-worse"]),
            ("ir_std run.txt -o mark", ["markdown"]),
            ("ir_std run.txt --baseline be", ["best"]),
            ("ir_std factors sys", ["systems"]),
            ("ir_std factors systems robust05", ["robust05"]),
            ("ir_std compare a nDCG@1", ["nDCG@10"]),
        ],
        2,
    ),
)
def test_words_are_completed(line: str, words: list[str], tmp_path: Path) -> None:
    (tmp_path / "run.txt").write_text("")
    assert offered(tmp_path, line) == words


def test_commands_stand_first_alone(tmp_path: Path) -> None:
    assert {*COMMANDS} <= {*offered(tmp_path, "ir_std ")}
    assert not {*COMMANDS} & {*offered(tmp_path, "ir_std x ")}
