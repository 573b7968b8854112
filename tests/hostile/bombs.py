"""Small files that claim or unpack to a very large size, read within 512 MB and ten seconds.

``python bombs.py NAME FOLDER`` makes one and reads it, with that limit beyond what Python needs.
"""

import bz2
import gzip
import io
import lzma
import os
import struct
import sys
import tarfile
import time
import zipfile
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path

MEGABYTES = 512
SECONDS = 10
LINES = b"1 Q0 d 1 2 t\n" * 80_000
TIMES = 150
"""Number of repetitions of :data:`LINES` that make a megabyte."""


def zipped(
    method: int, member: str, lie: bool, part: bytes = bytes(1 << 20), times: int = TIMES
) -> bytes:
    """Make a zip file of one member; it may claim that the member has only 13 bytes."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive, archive.open(member, "w") as stream:
        for _ in range(times):
            stream.write(part)
    content = bytearray(out.getvalue())
    if lie:
        at = content.index(b"PK\x01\x02") + 24
        content[at : at + 4] = content[22:26] = struct.pack("<I", 13)
    return bytes(content)


def tar_header(kind: bytes) -> bytes:
    """Make a tar.xz with a header of 150 MB before its only member."""
    member = tarfile.TarInfo("header")
    member.type, member.size = kind, TIMES << 20
    out = io.BytesIO()
    with lzma.open(out, "wb", preset=0) as stream:
        stream.write(member.tobuf(tarfile.GNU_FORMAT))
        for _ in range(TIMES):
            stream.write(b"a" * (1 << 20))
        stream.write(tarfile.TarInfo("run").tobuf() + bytes(1024))
    return out.getvalue()


def large_dictionary() -> bytes:
    """Make a zip member, packed with LZMA, that asks for four gigabytes of memory."""
    content = bytearray(zipped(zipfile.ZIP_LZMA, "r", False, LINES, 1))
    at = 30 + 1 + 4 + 1  # behind the header, the name, the version, and a byte of LZMA's settings
    content[at : at + 4] = b"\xff\xff\xff\xff"
    return bytes(content)


def tar_of_holes() -> bytes:
    """Make a tar file with a map of 30 million holes."""
    member = tarfile.TarInfo("run")
    content = b"30000000\n" + b"0\n" * 30_000_000
    member.size = len(content)
    version = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.realsize": "9"}
    member.pax_headers = version
    header = member.tobuf(tarfile.PAX_FORMAT)
    return header + content + bytes(512 - len(content) % 512 + 1024)


def xz(part: bytes, times: int = TIMES) -> bytes:
    """Pack many repetitions of the same part."""
    out = io.BytesIO()
    with lzma.open(out, "wb", preset=0) as stream:
        for _ in range(times):
            stream.write(part)
    return out.getvalue()


def many(form: bytes, end: bytes = b"", size: int = 83_800_000) -> bytes:
    """Make different lines, as many as a small packed file may unpack to."""
    lines, left = list[bytes](), size
    while left > 0:
        lines.append(form % len(lines))
        left -= len(lines[-1])
    return b"".join([*lines, end])


SCORES = b"map\t%x\t0.5000\n"
RUN, QRELS, TOPICS = b"1 Q %06x 1 1 t\n", b"1 0 %x 1\n", b"%x Q d 1 1 t\n"


def tar(content: bytes) -> bytes:
    """Make a tar file with a run in it."""
    out, member = io.BytesIO(), tarfile.TarInfo("r")
    member.size = len(content)
    with tarfile.open(fileobj=out, mode="w") as archive:
        archive.addfile(member, io.BytesIO(content))
    return out.getvalue()


BOMBS: dict[str, tuple[str, Callable[[], bytes]]] = {
    "a zip member that lies, bzip2": ("a.zip", lambda: zipped(zipfile.ZIP_BZIP2, "r", True)),
    "a zip member that lies, deflate": ("a.zip", lambda: zipped(zipfile.ZIP_DEFLATED, "r", True)),
    "a zip member that lies, LZMA": ("a.zip", lambda: zipped(zipfile.ZIP_LZMA, "r", True)),
    "a zip member, bzip2": ("a.zip", lambda: zipped(zipfile.ZIP_BZIP2, "r", False, LINES, 90)),
    "a zip member, deflate": ("a.zip", lambda: zipped(zipfile.ZIP_DEFLATED, "r", False, LINES)),
    "a zip member, LZMA": ("a.zip", lambda: zipped(zipfile.ZIP_LZMA, "r", False, LINES)),
    "a zip member that asks for 4 GB": ("a.zip", large_dictionary),
    "a long name in a tar.xz": ("a.tar.xz", lambda: tar_header(tarfile.GNUTYPE_LONGNAME)),
    "a map of holes in a tar.xz": ("a.tar.xz", lambda: xz(tar_of_holes(), 1)),
    "a pax header in a tar.xz": ("a.tar.xz", lambda: tar_header(tarfile.XHDTYPE)),
    "comments in xz": ("run", lambda: xz(b"#\n" * (1 << 19))),
    "comments in xz, within the bound": ("run", lambda: xz(b"#\n" * (1 << 19), 30)),
    "lines in xz": ("run", lambda: xz(LINES)),
    "a set's JSON": ("a.npz", lambda: zipped(zipfile.ZIP_DEFLATED, "set.json", False)),
    "a set's JSON that lies": ("a.npz", lambda: zipped(zipfile.ZIP_DEFLATED, "set.json", True)),
    "/dev/zero": ("/dev/zero", bytes),
    "a sound run, gzip": ("run", lambda: gzip.compress(many(RUN, size=70_000_000), 6)),
    "a sound run, bzip2": ("run", lambda: bz2.compress(many(RUN, size=50_000_000))),
    "a sound run, xz": ("run", lambda: xz(many(RUN, size=50_000_000), 1)),
    "a sound run in a zip": (
        "a.zip",
        lambda: zipped(zipfile.ZIP_DEFLATED, "r", False, many(RUN, size=70_000_000), 1),
    ),
    "a sound run in a tar.xz": ("a.tar.xz", lambda: xz(tar(many(RUN)), 1)),
    "a run wrong at its end": ("run", lambda: xz(many(RUN, b"1 Q\n"), 1)),
    "a run that repeats its first": ("run", lambda: xz(many(RUN, RUN % 0), 1)),
    "a run of many topics": ("run", lambda: xz(many(TOPICS), 1)),
    "a sound run of nearly a million topics": ("run", lambda: xz(many(TOPICS, size=15_000_000), 1)),
    "sound qrels": ("qrels", lambda: xz(many(QRELS, size=24_000_000), 1)),
    "qrels wrong at their end": ("qrels", lambda: xz(many(QRELS, b"1\n", size=24_000_000), 1)),
    "too many qrels": ("qrels", lambda: xz(many(QRELS), 1)),
    "too large a table in gzip": (
        "scores",
        lambda: gzip.compress(b"topic,AP\n" + many(b"%x,0.5\n", size=48_000_000), 6),
    ),
    "a table of 300,000 runs": (
        "scores",
        lambda: gzip.compress(
            b"run,topic,measure,value\n" + many(b"r%d,1,AP,0.5\n", size=4_900_000)
        ),
    ),
    "a table of too many cells": (
        "scores",
        lambda: gzip.compress(
            b"topic" + many(b",m%d", size=800_000) + (b"\n1" + b",0" * 117_000) * 30
        ),
    ),
    "a sound table of 700,000 topics": (
        "scores",
        lambda: gzip.compress(b"topic,AP\n" + many(b"%x,0.5\n", size=6_200_000)),
    ),
    "sound scores of trec_eval": ("scores", lambda: gzip.compress(many(SCORES, size=8_300_000))),
    "JSON in gzip": ("scores", lambda: gzip.compress(b"[" + b"[]," * 20_000_000 + b"[]]")),
}
"""Name of the file, and the function that makes it, by name of the bomb."""


def make_file(name: str, path: Path) -> None:
    """Write a bomb."""
    path.write_bytes(BOMBS[name][1]())


def read(name: str, folder: Path) -> None:
    """Make a bomb, and read it within the limits."""
    import resource

    from ir_std.cli.main import main
    from ir_std.evaluation import api  # noqa: F401 - what is imported is no part of it

    file, _ = BOMBS[name]
    path = folder / file
    (folder / "own").mkdir()
    os.environ["IR_STD_FACTORS"] = str(folder / "own")
    if file != "/dev/zero":
        # A separate process makes the file, so that the test does not measure its memory.
        maker = get_context("spawn").Process(target=make_file, args=(name, path))
        maker.start()
        maker.join()
        assert path.stat().st_size < 10_000_000, path.stat()
    (folder / "q").write_text("1 0 d 1\n")
    (folder / "r").write_text("1 Q0 d 1 1 t\n")
    commands = {
        "a.zip": ["build", f"{folder}/q", str(path), "-o", f"{folder}/set.npz", "--measures", "AP"],
        "run": [str(path), f"{folder}/q", "AP"],
        "qrels": [f"{folder}/r", str(path), "AP"],
        "scores": [str(path), "AP"],
    }
    commands["a.tar.xz"] = commands["a.zip"]
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + (MEGABYTES << 20),) * 2)
    started = time.process_time()
    status = main(commands.get(file, ["factors", "add", str(path)]))
    took = time.process_time() - started
    # An archive of one run is not enough to build a set.
    assert status == (0 if "sound" in name and "." not in file else 2), status
    assert took < SECONDS, took


if __name__ == "__main__":
    read(sys.argv[1], Path(sys.argv[2]))
