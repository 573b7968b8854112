"""Progress is printed on a terminal while the user waits, and nowhere else."""

from __future__ import annotations

import os
import re
import struct
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from made_up import collection, write_qrels, write_runs
from processes import run_process
from sets import quick_first

pty = pytest.importorskip("pty", reason="pseudo-terminals are Unix's")
fcntl = pytest.importorskip("fcntl")
termios = pytest.importorskip("termios")

PROGRAM = (
    "import sys\nfrom ir_std.cli.main import program\nfrom ir_std.cli import streams\n"
    "streams.PROGRESS_DELAY = float(sys.argv.pop(1))\nprogram()"
)
AT_ONCE, NEVER = "0", "3600"
"""Seconds of work after which progress is shown."""
COUNTED = re.compile(r"\d+(/\d+| runs) \[")
"""What tqdm draws: ``3/7 [00:00<00:00`` or, of a number that is not known, ``3 runs [00:00``."""


class Done(NamedTuple):
    """Output of a program, and what its terminal received."""

    status: int
    out: str
    err: str


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a folder with seven runs, and qrels."""
    folder = tmp_path_factory.mktemp("progress")
    qrels, runs = collection()
    write_qrels(qrels, folder / "qrels")
    write_runs(runs, folder / "runs")
    return folder


def on_terminal(
    files: Path, arguments: list[str], after: str = AT_ONCE, program: str = PROGRAM
) -> Done:
    """Start the program with a pseudo-terminal as its standard error."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("4H", 24, 80, 0, 0))
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with subprocess.Popen(
        [sys.executable, "-c", program, after, *arguments],
        cwd=files,
        stdout=subprocess.PIPE,
        stderr=theirs,
        text=True,
        env=environment,
    ) as started:
        os.close(theirs)
        err = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # the program has closed the terminal
                break
            if not part:
                break
            err += part
        os.close(ours)
        assert started.stdout
        out = started.stdout.read()
    return Done(started.wait(), out, err.decode(errors="replace"))


RUNS = [f"runs/sys{i}" for i in range(7)]
COMMANDS = {
    "evaluate": [*RUNS, "qrels", "AP", "-o", "table"],
    "by topic": [*RUNS, "qrels", "AP", "-q", "--jobs", "2"],
    "build": ["build", "qrels", "runs", "-o", "{}/set.npz"],
    "report": ["report", *RUNS, "qrels", "AP", "-o", "{}/page.html"],
    "compare": ["compare", *(f"s{i}={run}:qrels" for i, run in enumerate(RUNS)), "AP"],
}


@pytest.mark.parametrize("command", quick_first(COMMANDS))
def test_progress_is_seen_on_a_terminal_and_changes_no_result(
    files: Path, tmp_path: Path, command: str
) -> None:
    if command == "report":
        pytest.importorskip("jinja2", reason="jinja2 is not installed")
    arguments = [part.format(tmp_path) for part in COMMANDS[command]]
    shown = on_terminal(files, arguments)
    assert shown.status == 0
    assert COUNTED.search(shown.err)
    if command == "evaluate":
        hidden = on_terminal(files, arguments, NEVER)
        assert not COUNTED.search(hidden.err)
        assert (hidden.status, hidden.out) == (0, shown.out)


@pytest.mark.parametrize("command", quick_first(["evaluate", "build"]))
def test_quiet_hides_progress(files: Path, tmp_path: Path, command: str) -> None:
    done = on_terminal(files, [*(part.format(tmp_path) for part in COMMANDS[command]), "--quiet"])
    assert done.status == 0
    assert [line for line in done.err.splitlines() if "1 of 6 topics is missing" not in line] == []


@pytest.mark.slow
def test_there_is_no_progress_in_a_file(files: Path) -> None:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = run_process(
        [sys.executable, "-c", PROGRAM, AT_ONCE, *COMMANDS["evaluate"]],
        cwd=files,
        check=True,
        env=environment,
    )
    assert not COUNTED.search(done.stderr)
    assert "tqdm" not in done.stderr


@pytest.mark.slow
def test_a_warning_has_a_line_of_its_own(files: Path, tmp_path: Path) -> None:
    (files / "broken").write_text("t1 Q0 d1\n")
    done = on_terminal(
        files, ["build", "qrels", "runs", "broken", "--skip-bad", "-o", str(tmp_path / "set.npz")]
    )
    assert done.status == 0
    (said,) = re.findall(r"([^\r\n]*)ir_std: warning: left out: broken", done.err)
    assert not said.strip()


def test_an_interrupt_is_reported_on_its_own_line(files: Path) -> None:
    code = (
        "import os, signal\nfrom ir_std._system.signals import end_on_signals\nend_on_signals()\n"
        "from ir_std.cli import streams\nstreams.PROGRESS_DELAY = 0\n"
        "with streams.progress(9) as counted:\n"
        "    for i in counted(range(9)):\n"
        "        if i == 5:\n"
        "            os.kill(os.getpid(), signal.SIGINT)"
    )
    done = on_terminal(files, [], program=code)
    assert done.status == 130
    assert COUNTED.search(done.err)
    assert done.err.split("\r\n")[-2:] == ["ir_std: error: interrupted", ""]
