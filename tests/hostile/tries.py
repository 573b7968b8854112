"""Tries to break ir_std, counted by area: ``python tests/hostile/tries.py [TRIES [SEED]]``.

Each try makes something hostile from a random generator of its own, whose seed is that of the whole
and the try's number, so that one that fails can be tried again by itself.  What is promised: a
right value or an error of one line, old files or new ones, and nothing left behind.
"""

import bz2
import gzip
import io
import json
import lzma
import os
import sys
import tarfile
import tempfile
import time
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np

from ir_std import FactorSet
from ir_std.cli import main
from ir_std.errors import IrStdError
from ir_std.factors.catalog import check_set
from ir_std.factors.formats import FORMATS
from ir_std.reading import QRELS, RUN, BytesSource, CheckFailed, read_lines, read_lines_plainly
from ir_std.reading.archives import run_sources
from ir_std.scores.files import read_scores
from ir_std.trec.files import read_qrels, read_run

Random = np.random.Generator
SECONDS = 10.0
"""Largest number of seconds that a try may take."""


def answer(action: Callable[[], Any]) -> Any:
    """Return an action's result, or its error, which must be a one-line error of ir_std."""
    try:
        return action()
    except IrStdError as error:
        message = str(error)
        assert message
        assert "\n" not in message
        assert len(message) < 2000, message
        return error


def mutated(content: bytes, random: Random) -> bytes:
    """Return content with some bytes changed, left out, repeated, or moved."""
    data = bytearray(content)
    for _ in range(int(random.integers(1, 5))):
        place, size = int(random.integers(0, len(data) + 1)), int(random.integers(1, 20))
        kind = random.integers(0, 6)
        if kind == 0:
            data[place : place + size] = random.bytes(size)
        elif kind == 1:
            del data[place : place + size]
        elif kind == 2:
            data[place:place] = data[place : place + size] * int(random.integers(1, 9))
        elif kind == 3:
            data[place:place] = HOSTILE[random.integers(0, len(HOSTILE))]
        elif kind == 4:
            data = data[:place]
        else:
            data[place : place + 1] = bytes([random.integers(0, 256)])
    return bytes(data)


HOSTILE = [
    *(b"\0", b"\r", b"\n", b"\n#", b"#", b'"', b",", b"\t", b" ", b"\xff", b"\xef\xbb\xbf"),
    *(b"1e999", b"nan", b"-inf", b"0e-9999999999999999999", b"1_0", b"0x1p3", b"9" * 400),
    *(b"\x1b[2J", b"\xe2\x80\xae", b"[" * 5000, b"{", b"}", b"../", b"a" * 200_000, b"=1+1"),
]


def packed(content: bytes, random: Random) -> bytes:
    """Return the content unchanged or packed."""
    return [bytes, gzip.compress, bz2.compress, lzma.compress][random.integers(0, 4)](content)  # type: ignore[no-any-return, operator]


def lines(random: Random, form: str) -> bytes:
    """Make a few lines of a run or qrels."""
    return b"".join(
        form.format(t=t, d=d, v=random.integers(0, 4), s=repr(float(random.normal()))).encode()
        for t in range(1, 4)
        for d in random.permutation(9)[:6]
    )


def _same(line_format: Any, source: BytesSource) -> None:
    """Check that the engine and the plain reader read the same."""
    try:
        read = read_lines(source, line_format)
    except (CheckFailed, IrStdError):
        return
    plain = read_lines_plainly(source, line_format)
    assert read.topics == plain.topics
    assert list(read.ids) == list(plain.ids)
    assert read.values.tolist() == plain.values.tolist()


def try_runs(random: Random, _: Path) -> None:
    content = lines(random, "{t} Q0 d{d} 1 {s} tag\n")
    if random.random() < 0.5:
        content = packed(mutated(content, random), random)
    else:
        content = mutated(packed(content, random), random)
    source = BytesSource("r", content)
    answer(lambda: _same(RUN, source))
    answer(lambda: read_run(source))


def try_qrels(random: Random, _: Path) -> None:
    source = BytesSource("q", packed(mutated(lines(random, "{t} 0 d{d} {v}\n"), random), random))
    answer(lambda: _same(QRELS, source))
    answer(lambda: read_qrels(source))


_MTEB = {"task_name": "SciFact", "scores": {"test": [{"ndcg_at_10": 0.5, "hf_subset": "default"}]}}
SCORES = [
    b"map\t1\t0.5\nmap\t2\t0.25\nmap\tall\t0.375\nnum_rel\t1\t3\n",
    b"1\tAP\t0.5\n2\tAP\t0.25\n",
    b"topic,AP,P@10\n1,0.5,0.1\n2,0.25,0.2\n",
    b'run;topic;measure;value\na;1;AP;"0.5"\nb;1;AP;0.25\n',
    b'{"query_id": "1", "measure": "AP", "value": 0.5}\n{"measure": "AP", "value": 0.5}\n',
    json.dumps(_MTEB).encode(),
]


def try_score_files(random: Random, _: Path) -> None:
    content = packed(mutated(SCORES[random.integers(0, len(SCORES))], random), random)
    answer(lambda: read_scores(BytesSource("s", content)))


def _archive(random: Random) -> tuple[str, bytes]:
    members = {f"runs/r{i}": lines(random, "{t} Q0 d{d} 1 {s} tag\n") for i in range(3)}
    out = io.BytesIO()
    if random.random() < 0.5:
        method = [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]
        with zipfile.ZipFile(out, "w", method[random.integers(0, 4)]) as archive:
            for name, content in members.items():
                archive.writestr(name, content)
        return "runs.zip", out.getvalue()
    suffix = ["", "gz", "bz2", "xz"][random.integers(0, 4)]
    with tarfile.open(fileobj=out, mode=f"w:{suffix}") as archive:  # type: ignore[call-overload]
        for name, content in members.items():
            member = tarfile.TarInfo(name * int(random.choice([1, 40])))
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return "runs.tar" + f".{suffix}" * bool(suffix), out.getvalue()


def try_archives(random: Random, folder: Path) -> None:
    name, content = _archive(random)
    (folder / name).write_bytes(mutated(content, random))
    answer(lambda: [read_run(source) for source in run_sources([folder / name])])


def small_set(name: str, shift: float = 0.0) -> FactorSet:
    """Make a sound set of three topics and five systems."""
    scores = np.sort(np.random.default_rng(1).random((3, 5)) / 2 + shift, axis=1)
    return FactorSet(
        {"id": name, "measures": {"AP": {"systems": 5}}},
        dict.fromkeys(("1", "2", "3"), 4),
        scores={"AP": scores},
        systems=["a", "b", "c", "d", "e"],
    )


def _saved(folder: Path) -> FactorSet:
    small_set("mine").save(folder / "mine.npz")
    return FactorSet.load(folder / "mine.npz")


def try_sets(random: Random, folder: Path) -> None:
    whole = _saved(folder)
    file = folder / "mine.npz"
    file.write_bytes(mutated(file.read_bytes(), random))
    problems = check_set(file)
    loaded = answer(lambda: FactorSet.load(file))
    refused = isinstance(loaded, IrStdError) or isinstance(answer(loaded.verify), IrStdError)
    assert bool(problems) == refused, problems
    assert refused or loaded.identity == whole.identity


class Failure(BaseException):
    """Exception that interrupts a write like KeyboardInterrupt."""


@contextmanager
def failing(nth: int, error: BaseException) -> Iterator[None]:
    """Let the nth call that changes a file fail."""
    names = ("write_bytes", "write_text", "replace", "rename", "mkdir", "chmod")
    originals = {name: getattr(Path, name) for name in names}
    left = [nth]

    def counted(name: str) -> Callable[..., Any]:
        def call(self: Path, *arguments: Any, **options: Any) -> Any:
            left[0] -= 1
            if left[0] == 0:
                raise error
            return originals[name](self, *arguments, **options)

        return call

    try:
        for name in names:
            setattr(Path, name, counted(name))
        yield
    finally:
        for name, original in originals.items():
            setattr(Path, name, original)


def contents(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Return the modes and contents of all files below a folder."""
    return {
        str(path.relative_to(folder)): (path.stat().st_mode, path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


WRITERS: dict[str, Callable[[FactorSet, Path], None]] = {
    "save": lambda s, folder: s.save(folder / "out.npz"),
    **{
        name: lambda s, folder, form=form: form.write(s, str(folder / "out"))  # type: ignore[misc]
        for name, form in FORMATS.items()
    },
}


def try_writes(random: Random, folder: Path) -> None:
    """Check that a failed write leaves the old or the new files, and their modes."""
    (folder / "sets").mkdir()
    sets = []
    for number, name in enumerate(("mine", "yours")):
        small_set(name, number / 4).save(folder / "sets" / f"{name}.npz")
        sets.append(FactorSet.load(folder / "sets" / f"{name}.npz"))
    write = WRITERS[sorted(WRITERS)[random.integers(0, len(WRITERS))]]
    (folder / "there").mkdir()
    write(sets[1], folder / "there")
    new = contents(folder / "there")
    write(sets[0], folder / "there")
    for path in (folder / "there").rglob("*"):
        path.chmod(0o700 if path.is_dir() else 0o600)
    old = contents(folder / "there")
    error = OSError(28, "No space left") if random.random() < 0.5 else Failure()
    try:
        with failing(int(random.integers(1, 14)), error):
            answer(lambda: write(sets[1], folder / "there"))
    except Failure:
        pass
    after = contents(folder / "there")
    assert {n: c for n, (_, c) in after.items()} in (
        {n: c for n, (_, c) in old.items()},
        {n: c for n, (_, c) in new.items()},
    ), after.keys()
    assert {mode & 0o777 for mode, _ in after.values()} == {0o600}, (
        str(error),
        {n: oct(m) for n, (m, _) in after.items()},
    )
    assert not [p.name for p in (folder / "there").iterdir() if p.name.startswith(".")]


def try_paths(random: Random, folder: Path) -> None:
    """Try links in a circle, long names and devices in every argument."""
    (folder / "q").write_text("1 0 d 1\n")
    (folder / "r").write_text("1 Q0 d 1 2 t\n")
    _saved(folder)
    (folder / "loop").symlink_to("loop")
    (folder / "self").mkdir()
    (folder / "self" / "again").symlink_to(".")
    (folder / "dangling").symlink_to("nowhere")
    names = ["loop", "x" * 300, "self", "dangling", "a\0b", "r/x", "no/such", "/proc/self/mem"]
    name = names[random.integers(0, len(names))]
    bad = name if name.startswith("/") else str(folder / name)
    q, r, mine = (str(folder / n) for n in ("q", "r", "mine.npz"))
    commands = [
        [r, q, "AP", "--factors", bad],
        [bad, q, "AP"],
        [r, bad, "AP"],
        ["build", q, bad, r, "-o", str(folder / "set.npz")],
        ["build", q, r, "-o", bad],
        ["merge", r, bad, "-o", str(folder / "m")],
        ["merge", r, r, "-o", bad],
        ["factors", "check", bad],
        ["factors", "show", bad],
        ["factors", "add", bad],
        ["factors", "add", f"{bad}#sha256=1"],
        ["factors", "export", mine, "--format", "webber", "-o", bad],
        ["factors", "import", bad, "--format", "webber", "-o", str(folder / "i.npz")],
    ]
    before = (folder / "mine.npz").read_bytes()
    status, err = run_command(commands[random.integers(0, len(commands))])
    assert status in (0, 2)
    assert "Traceback" not in err
    assert sum(line.startswith("ir_std: error") for line in err.splitlines()) == (status == 2), err
    assert (folder / "mine.npz").read_bytes() == before


def run_command(arguments: list[str]) -> tuple[Any, str]:
    """Return a command's exit status and its standard error."""
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()) as err:
        try:
            status: Any = main(arguments)
        except SystemExit as stop:
            status = stop.code
    return status, err.getvalue()


AREAS: dict[str, Callable[[Random, Path], None]] = {
    "runs": try_runs,
    "qrels": try_qrels,
    "score files": try_score_files,
    "archives": try_archives,
    "factor sets": try_sets,
    "failing writes": try_writes,
    "paths": try_paths,
}
"""Function that makes a try, by area."""


def run_tries(tries: int, seed: int = 34) -> Counter[str]:
    """Try the areas in turn, this number of times, and count the tries by area.

    Raises
    ------
    AssertionError
        Naming the try that broke a promise.
    """
    counts: Counter[str] = Counter()
    names = list(AREAS)
    for number in range(tries):
        area = names[number % len(names)]
        started = time.monotonic()
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                AREAS[area](np.random.default_rng([seed, number]), Path(folder))
            except Exception as broken:
                raise AssertionError(f"{area}, seed {seed}, try {number}: {broken!r}") from broken
        took = time.monotonic() - started
        assert took < SECONDS, f"{area}, seed {seed}, try {number}: {took:.1f} s"
        counts[area] += 1
    return counts


if __name__ == "__main__":
    os.environ["IR_STD_FACTORS"] = ""
    asked = [int(argument) for argument in sys.argv[1:]] or [200]
    print("| area | tries |\n| --- | --- |")
    total = run_tries(*asked)
    for name, count in total.items():
        print(f"| {name} | {count:,} |")
    print(f"| together | {total.total():,} |")
