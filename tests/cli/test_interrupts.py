"""On a terminal: Ctrl-C, closed terminals, killed parents, and progress."""

import os
import random
import re
import select
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import pytest
from made_up import collection, write_qrels, write_runs
from processes import ENVIRONMENT, run_process
from sets import quick_first

pty = pytest.importorskip("pty", reason="pseudo-terminals are Unix's")

INTERRUPTED = "ir_std: error: interrupted"
SOON = 2.0
"""Seconds in which an interrupted program and its processes must end."""


class Ended(NamedTuple):
    """Exit status and output of a program, with the time since the first Ctrl-C."""

    status: int
    seconds: float
    said: list[str]


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Return a command that evaluates 1,200 runs in two processes for some seconds."""
    folder = tmp_path_factory.mktemp("interrupted")
    qrels, runs = collection(systems=12, documents=300)
    files = [str(f) for f in sorted(write_runs(runs, folder / "runs").iterdir())]
    links = [f"{file}-{i}" for i in range(100) for file in files]
    for link in links:
        os.link(link.rpartition("-")[0], link)
    judged = str(write_qrels(qrels, folder / "qrels"))
    return [sys.executable, "-m", "ir_std_program", *links, judged, "--jobs", "2"]


def in_terminal(command: list[str], interrupts: list[float]) -> Ended:
    """Start a program in a pseudo-terminal and press Ctrl-C some seconds later."""
    child, terminal = pty.fork()
    if child == 0:
        # A shell that starts the tests in the background lets them ignore it.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.execv(command[0], command)
    started, pending, said, first = time.monotonic(), sorted(interrupts), b"", None
    while time.monotonic() < (first or started) + 30:
        if pending and time.monotonic() - started >= pending[0]:
            pending.pop(0)
            first = first or time.monotonic()
            os.write(terminal, b"\x03")
        if select.select([terminal], [], [], 0.005)[0]:
            try:
                said += os.read(terminal, 65536)
            except OSError:  # the last process that held the terminal has ended
                break
    else:
        os.killpg(child, signal.SIGKILL)
    ended = time.monotonic()
    _, status = os.waitpid(child, 0)
    os.close(terminal)
    return Ended(
        os.waitstatus_to_exitcode(status),
        ended - (first or ended),
        said.decode(errors="replace").replace("^C", "").split("\r\n"),
    )


def is_quiet(ended: Ended) -> bool:
    """Check whether it ended soon, with one line, or had finished before Ctrl-C."""
    # The message may follow an incomplete line, because a terminal drops its pending output.
    errors = [line[line.rfind("ir_std: ") :] for line in ended.said if "interrupted" in line]
    return (
        ended.seconds < SOON
        and not any("Traceback" in line for line in ended.said)
        and (ended.status, errors) in ((130, [INTERRUPTED]), (0, []))
    )


def starts_python(ended: Ended) -> bool:
    """Check whether a Python was still starting, which the program cannot change.

    It may be the program's, or that of a process that it was starting.
    """
    places = [line for line in ended.said if line.startswith("  File")]
    return ended.seconds < SOON and not any("ir_std" in line for line in places)


@pytest.mark.parametrize(
    "interrupts", quick_first([[0.6], [0.3], [0.9, 0.91], [1.3, 1.35, 1.4], [2.0]])
)
def test_an_interrupted_program_is_over_in_one_line(
    command: list[str], interrupts: list[float]
) -> None:
    ended = in_terminal(command, interrupts)
    assert is_quiet(ended) or starts_python(ended), ended


@pytest.mark.parametrize(
    "n", [pytest.param(6, marks=pytest.mark.slow), pytest.param(100, marks=pytest.mark.exhaustive)]
)
def test_interrupts_at_random_times(command: list[str], n: int) -> None:
    random.seed(n)
    command = [*command[:3], *command[3:-3:2], *command[-3:]]  # half of the runs
    started = time.monotonic()
    assert is_quiet(in_terminal(command, []))
    whole = time.monotonic() - started
    all_ended: list[tuple[float, Ended]] = []
    # The work may take less time now; a program that ended before Ctrl-C does not count.
    while sum(ended.status != 0 for _, ended in all_ended) < n:
        assert len(all_ended) < 2 * n
        # In its first milliseconds, the program does not yet own the terminal.
        after = random.uniform(0.05, 0.7 * whole)
        twice = [after, after + 0.05][: 1 + len(all_ended) % 2]
        all_ended.append((after, in_terminal(command, twice)))
    loud = [(after, ended) for after, ended in all_ended if not is_quiet(ended)]
    assert all(starts_python(ended) for _, ended in loud), loud
    assert len(loud) <= n / 5


@pytest.mark.parametrize("number", quick_first([signal.SIGTERM, signal.SIGHUP, signal.SIGKILL]))
def test_processes_end_with_their_parent(command: list[str], number: signal.Signals) -> None:
    if signal.getsignal(number) == signal.SIG_IGN:
        pytest.skip("the tests were started to ignore this signal, as by nohup")
    started = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert started.stderr
    # A line about the factors shows that the program has started.
    assert started.stderr.readline().startswith("ir_std: ")
    time.sleep(0.5)
    assert started.poll() is None
    started.send_signal(number)
    # The pipes close only when the last process that holds them has ended.
    out, err = started.communicate(timeout=SOON + 3)
    assert started.returncode == (-number if number == signal.SIGKILL else 128 + number)
    assert out == ""
    # A process that Python is just starting may print that it has nothing to do.
    assert not any("ir_std" in line for line in err.splitlines() if line.startswith("  File")), err
    assert err.count(f"{INTERRUPTED}\n") == (number != signal.SIGKILL)


def test_signals_that_a_program_was_started_to_ignore_stay_ignored(command: list[str]) -> None:
    code = (
        "import os, signal, subprocess, sys, time\n"
        "signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        f"p = subprocess.Popen({[*command[:3], 'factors']!r})\n"
        "time.sleep(0.2)\n"
        "p.send_signal(signal.SIGHUP)\n"
        "sys.exit(p.wait())"
    )
    assert run_process([sys.executable, "-c", code]).returncode == 0


def test_an_interrupt_while_numpy_is_imported_ends_the_program_at_once() -> None:
    # Like numpy, this turns the exception into another error.
    code = (
        "import os, signal, sys, ir_std_program\n"
        "class Finder:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'numpy':\n"
        "            try:\n"
        "                os.kill(os.getpid(), signal.SIGINT)\n"
        "            except KeyboardInterrupt:\n"
        "                raise ImportError('loaded twice')\n"
        "sys.meta_path.insert(0, Finder()); ir_std_program.main()"
    )
    done = run_process([sys.executable, "-c", code, "--version"])
    assert (done.returncode, done.stderr) == (130, f"{INTERRUPTED}\n")


def test_an_interrupt_after_the_work_is_done_changes_nothing() -> None:
    # When Python deletes the content of modules, its signal handlers no longer exist.
    code = (
        "import os, signal, sys\nfrom ir_std.cli.main import program\n"
        "class Last:\n"
        "    def __del__(self, kill=os.kill, me=os.getpid(), number=signal.SIGINT):\n"
        "        kill(me, number)\n"
        "sys.last = Last()\nprogram()"
    )
    done = run_process([sys.executable, "-c", code, "--version"])
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("ir_std ")


def test_a_program_that_imports_ir_std_keeps_its_signals_and_filters() -> None:
    code = (
        "import ir_measures, ir_datasets, scipy.special, signal, warnings\n"
        "before = list(warnings.filters)\nimport ir_std\nassert warnings.filters == before\n"
        "print(signal.getsignal(signal.SIGINT) is signal.default_int_handler, "
        "signal.getsignal(signal.SIGTERM) == signal.SIG_DFL)"
    )
    done = run_process([sys.executable, "-c", code, "ir_std"], check=True)
    assert done.stdout.split() == ["True", "True"]


# Progress is printed on a terminal while the user waits, and nowhere else.


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
) -> SimpleNamespace:
    """Start the program with a pseudo-terminal as its standard error."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("4H", 24, 80, 0, 0))
    with subprocess.Popen(
        [sys.executable, "-c", program, after, *arguments],
        cwd=files,
        stdout=subprocess.PIPE,
        stderr=theirs,
        text=True,
        env=ENVIRONMENT,
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
    return SimpleNamespace(status=started.wait(), out=out, err=err.decode(errors="replace"))


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
    done = run_process(
        [sys.executable, "-c", PROGRAM, AT_ONCE, *COMMANDS["evaluate"]],
        cwd=files,
        check=True,
        env=ENVIRONMENT,
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
