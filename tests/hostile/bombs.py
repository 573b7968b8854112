"""Small files that claim or unpack to very much, each read within 512 MB and ten seconds.

``python bombs.py NAME FOLDER`` makes one and reads it, with that limit beyond what Python needs.
"""

from __future__ import annotations

import hashlib
import io
import json
import lzma
import struct
import sys
import tarfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

MEGABYTES = 512
SECONDS = 10
LINES = b"1 Q0 d 1 2 t\n" * 80_000
TIMES = 150
"""So many times :data:`LINES`, which are a megabyte."""


def zipped(method: int, member: str, lie: bool, part: bytes = bytes(1 << 20)) -> bytes:
    """A zip file of one member, that may say that it has 13 bytes."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive, archive.open(member, "w") as stream:
        for _ in range(TIMES):
            stream.write(part)
    content = bytearray(out.getvalue())
    if lie:
        at = content.index(b"PK\x01\x02") + 24
        content[at : at + 4] = content[22:26] = struct.pack("<I", 13)
    return bytes(content)


def tar_header(kind: bytes) -> bytes:
    """A tar.xz with a header of 150 MB before its only member."""
    member = tarfile.TarInfo("header")
    member.type, member.size = kind, TIMES << 20
    out = io.BytesIO()
    with lzma.open(out, "wb", preset=0) as stream:
        stream.write(member.tobuf(tarfile.GNU_FORMAT))
        for _ in range(TIMES):
            stream.write(b"a" * (1 << 20))
        stream.write(tarfile.TarInfo("run").tobuf() + bytes(1024))
    return out.getvalue()


def xz(part: bytes, times: int = TIMES) -> bytes:
    """The same part many times, packed."""
    out = io.BytesIO()
    with lzma.open(out, "wb", preset=0) as stream:
        for _ in range(times):
            stream.write(part)
    return out.getvalue()


def pack(**files: bytes) -> bytes:
    """A pack whose hashes are right."""
    facts = {
        n: {"bytes": len(c), "sha256": hashlib.sha256(c).hexdigest()} for n, c in files.items()
    }
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x/pack.json", json.dumps({"format": 1, "id": "x", "files": facts}))
        for name, content in files.items():
            archive.writestr(f"x/{name}", content)
    return out.getvalue()


def description(**files: bytes) -> dict[str, bytes]:
    """The files of a set of one topic."""
    table = b",AP\n1,0.5\n"
    info = json.dumps({"id": "x", "measures": {"AP": {"systems": 2}}}).encode()
    sound = {"set.json": info, "topics.csv": b"topic,n_rel\n1,1\n", "mean.csv": table}
    return {**sound, "sd.csv": table, **files}


BOMBS: dict[str, tuple[str, Callable[[], bytes]]] = {
    "a zip member that lies, bzip2": ("a.zip", lambda: zipped(zipfile.ZIP_BZIP2, "r", True)),
    "a zip member that lies, deflate": ("a.zip", lambda: zipped(zipfile.ZIP_DEFLATED, "r", True)),
    "a zip member that lies, LZMA": ("a.zip", lambda: zipped(zipfile.ZIP_LZMA, "r", True)),
    "a zip member": ("a.zip", lambda: zipped(zipfile.ZIP_DEFLATED, "r", False, LINES)),
    "a long name in a tar.xz": ("a.tar.xz", lambda: tar_header(tarfile.GNUTYPE_LONGNAME)),
    "a pax header in a tar.xz": ("a.tar.xz", lambda: tar_header(tarfile.XHDTYPE)),
    "comments in xz": ("run", lambda: xz(b"#\n" * (1 << 19))),
    "comments in xz, within the bound": ("run", lambda: xz(b"#\n" * (1 << 19), 30)),
    "lines in xz": ("run", lambda: xz(LINES)),
    "a pack's manifest": ("pack", lambda: zipped(zipfile.ZIP_BZIP2, "x/pack.json", True)),
    "a pack's table": ("pack", lambda: pack(**description(**{"mean.csv": b"," * (60 << 20)}))),
    "a pack's topics": (
        "pack",
        lambda: pack(**description(**{"topics.csv": b"topic,n_rel\n" + b"1,1\n" * 15_000_000})),
    ),
    "a pack's JSON": (
        "pack",
        lambda: pack(**description(**{"set.json": b"[" + b"[]," * 20_000_000 + b"[]]"})),
    ),
    "an array": (
        "pack",
        lambda: pack(**description(**{"scores.npz": zipped(zipfile.ZIP_BZIP2, "AP.npy", True)})),
    ),
    "/dev/zero": ("/dev/zero", bytes),
}
"""By name: what the file is called, and what makes it."""


def read(name: str, folder: Path) -> None:
    """Make a bomb, and read it within the limits."""
    import resource

    from ir_std.cli.main import main
    from ir_std.evaluation import api, parallel  # noqa: F401 - what is imported is no part of it
    from ir_std.factors import packs  # noqa: F401

    file, make = BOMBS[name]
    path = folder / file
    if file != "/dev/zero":
        path.write_bytes(make())
        assert path.stat().st_size < 10_000_000, path.stat()
    (folder / "q").write_text("1 0 d 1\n")
    commands = {
        "a.zip": ["build", f"{folder}/q", str(path), "-o", f"{folder}/set", "--measures", "AP"],
        "run": [str(path), f"{folder}/q", "AP"],
    }
    commands["a.tar.xz"] = commands["a.zip"]
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + (MEGABYTES << 20),) * 2)
    started = time.process_time()
    status = main(commands.get(file, ["factors", "add", str(path)]))
    took = time.process_time() - started
    assert status == 2, status
    assert took < SECONDS, took


if __name__ == "__main__":
    read(sys.argv[1], Path(sys.argv[2]))
