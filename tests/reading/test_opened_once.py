"""A command or call opens each of its files once."""

import gc
import os
import pickle
import sys
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from processes import run_process

import ir_std
from ir_std.errors import InputError
from ir_std.reading import RUN, FileSource, read_lines, read_pieces, source_of
from ir_std.reading.sources import MOST_WAITING

WATCH = """
import os, sys

def watch(event, args):
    if event == "open" and isinstance(args[0], (str, os.PathLike)):
        path = os.path.abspath(args[0])
        if path.startswith(WATCHED):
            os.write(LOG, f"{os.path.relpath(path, WATCHED)}\\n".encode())

WATCHED = os.environ["WATCHED"]
LOG = os.open(os.environ["OPENED"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
sys.addaudithook(watch)
"""
RUNS = ("a.run", "b.run", "c.run")


def fill(inputs: Path) -> Path:
    """Write three runs, qrels and scores."""
    (inputs / "runs").mkdir(parents=True)
    for i, name in enumerate(RUNS):
        lines = [f"{t} Q0 d{(k + i) % 9} {k} {9 - k} x\n" for t in "12345" for k in range(9)]
        (inputs / name).write_text("".join(lines))
        (inputs / "runs" / name).write_text("".join(lines))
    (inputs / "qrels").write_text(
        "".join(f"{t} 0 d{k} {k % 2}\n" for t in "12345" for k in range(5))
    )
    (inputs / "scores").write_text("".join(f"{t}\tAP\t0.{t}\n" for t in "12345"))
    return inputs


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Make a folder with inputs."""
    return fill(tmp_path / "inputs")


def opened(folder: Path, *command: str) -> dict[str, dict[str, int]]:
    """Count how often a process and its children open each file, by folder."""
    (folder.parent / "sitecustomize.py").write_text(WATCH)
    log = folder.parent / "opened"
    path = os.pathsep.join([str(folder.parent), str(Path(ir_std.__file__).parents[1])])
    environment = {**os.environ, "PYTHONPATH": path, "WATCHED": str(folder), "OPENED": str(log)}
    done = run_process((sys.executable, *command), cwd=folder, env=environment)
    assert done.returncode == 0, done.stderr
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for file in map(Path, log.read_text().splitlines()):
        if file.name in ("qrels", "scores") or file.suffix == ".run":
            found[file.parts[0] if len(file.parts) > 1 else "."][file.name] += 1
    return {folder: dict(files) for folder, files in found.items()}


OPENED = {
    "a.run qrels AP": "a.run qrels",
    "a.run b.run qrels AP -o table --jobs 1": "a.run b.run qrels",
    "runs qrels AP --jobs 1": "a.run b.run c.run qrels",
    "scores AP": "scores",
    "scores a.run qrels AP --jobs 1": "scores a.run qrels",
    "report a.run b.run qrels AP -o ../page.html": "a.run b.run qrels",
    "diff a.run b.run qrels AP": "a.run b.run qrels",
    "compare x=a.run:qrels y=b.run:qrels AP": "a.run b.run qrels",
    "compare x=scores AP": "scores",
    "merge a.run b.run --combine rrf -o ../merged": "a.run b.run",
    "build qrels runs -o ../set.npz --measures AP": "a.run b.run c.run qrels",
    "build qrels a.run b.run c.run -o ../other.npz --measures AP": "a.run b.run c.run qrels",
    "ir_std.evaluate('a.run', 'qrels', ['AP'])": "a.run qrels",
    "ir_std.evaluate(['a.run', 'b.run'], 'qrels', ['AP'])": "a.run b.run qrels",
    "ir_std.evaluate('scores', None, ['AP'])": "scores",
    "ir_std.calc_aggregate([ir_std.parse_measure('AP')], 'qrels', 'a.run')": "a.run qrels",
    "ir_std.read_scores('scores')": "scores",
    "ir_std.compare([('x', 'a.run', 'qrels'), ('y', 'b.run', 'qrels')], 'AP')": "a.run b.run qrels",
}
ONE_AFTER_ANOTHER = """
import os, sys
import ir_std
from ir_std.errors import InputError
from ir_std.cli import main

if __name__ == "__main__":
    for folder in sys.argv[1:]:
        os.chdir(folder)
        todo = open("todo").read()
        if todo.startswith("ir_std."):
            eval(todo)
        else:
            assert not main(todo.split()), todo
"""


@pytest.fixture(scope="module")
def opened_by(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, int]]:
    """Count the files that each command and call opens, if all run in one process."""
    place = tmp_path_factory.mktemp("opened") / "watched"
    folders = [str(i) for i in range(len(OPENED))]
    for name, todo in zip(folders, OPENED, strict=True):
        (fill(place / name) / "todo").write_text(todo)
    program = place.parent / "one_after_another.py"
    program.write_text(ONE_AFTER_ANOTHER)
    found = opened(place, str(program), *(str(place / name) for name in folders))
    return {todo: found[name] for name, todo in zip(folders, OPENED, strict=True)}


@pytest.mark.parametrize("todo", OPENED)
def test_each_file_is_opened_once(todo: str, opened_by: dict[str, dict[str, int]]) -> None:
    assert opened_by[todo] == dict.fromkeys(OPENED[todo].split(), 1)


@pytest.mark.slow
def test_what_several_processes_read_is_opened_by_the_first_and_by_the_reader(folder: Path) -> None:
    """Check that the first process only recognizes each run, and another process reads it."""
    count = opened(folder, "-m", "ir_std", "a.run", "b.run", "qrels", "AP", "--jobs", "2")
    assert count == {".": {"a.run": 2, "b.run": 2, "qrels": 1}}


@pytest.mark.slow
def test_only_some_of_very_many_files_wait_open(folder: Path) -> None:
    for i in range(MOST_WAITING + 10):
        (folder / "runs" / f"{i}.run").write_bytes((folder / "a.run").read_bytes())
    count = opened(folder, "-m", "ir_std", "runs", "qrels", "AP", "--jobs", "1")
    n_runs = MOST_WAITING + 10 + len(RUNS)
    times = Counter(n for files in count.values() for n in files.values())
    assert times == {1: MOST_WAITING, 2: n_runs + 1 - MOST_WAITING}


def test_a_source_that_waits_open_is_read_from_its_start(folder: Path) -> None:
    source = source_of(folder / "a.run")
    assert source.first_line == (1, b"1 Q0 d0 0 9 x")
    assert read_lines(source, RUN).topics == list("12345")
    assert read_lines(source, RUN).topics == list("12345")


def test_a_source_takes_its_first_line_along_but_no_open_file(folder: Path) -> None:
    sent = source_of(folder / "a.run")
    line = sent.first_line
    (folder / "a.run").write_text("changed")
    received = pickle.loads(pickle.dumps(sent))
    assert received.first_line == line
    assert received.name == sent.name
    with received.open() as stream:
        assert stream.read() == b"changed"


def test_a_file_that_nobody_reads_is_closed_with_its_source(folder: Path) -> None:
    sources = [FileSource(file) for file in sorted((folder / "runs").iterdir())]
    gc.collect()
    before = len(FileSource._waiting)
    assert all(source.first_line for source in sources)
    assert len(FileSource._waiting) == before + len(sources)
    del sources
    gc.collect()
    assert len(FileSource._waiting) == before


def test_a_file_that_was_read_waits_open_and_is_closed_with_its_source(folder: Path) -> None:
    source = FileSource(folder / "a.run")
    first, second = read_pieces(source), read_pieces(source)  # two readers at once
    assert next(first) == next(second)
    assert not list(first)
    assert not list(second)
    (folder / "b.run").replace(folder / "a.run")
    assert b"d0 0 9" in b"".join(read_pieces(source))  # what was read before, not what is there now
    del first, second, source
    gc.collect()
    assert not [waiting for waiting in FileSource._waiting if waiting.name.startswith(str(folder))]


@pytest.mark.parametrize(
    ("name", "shown"), [("a\x1b[31m\n", r"a\u001b[31m\u000a"), ("x" * 500, "x... (500 characters)")]
)
def test_a_file_that_is_not_there_is_named_on_one_line(name: str, shown: str) -> None:
    with pytest.raises(InputError) as wrong:
        source_of(name).open()
    assert f"{shown}: " in str(wrong.value)
    assert str(wrong.value).isprintable()
