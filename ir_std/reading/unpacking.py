"""Bytes unpacked piece by piece, and stopped if they are too many or no lines of text."""

from __future__ import annotations

import bz2
import codecs
import gzip
import lzma
import zlib
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, NamedTuple

from ir_std.errors import InputError

LONGEST_LINE = 1 << 20
"""Bytes that a line may have; what has longer ones is neither a run nor qrels."""
BLANKS = b" \t\r"
"""What separates columns; of the control characters only line ends may stand beside these."""
PIECE = 1 << 18
"""Bytes that are read at once: for more the system has to find new memory each time."""


def unpack_stream(raw: BinaryIO, name: str, max_member: int, size: int = PIECE) -> Iterator[bytes]:
    """What a stream holds, unpacked, piece by piece of at most ``size`` bytes.

    Parameters
    ----------
    raw : file
        It is read from its start, and not closed.
    name : str
        What messages call it.
    max_member : int
        Bytes that it may unpack to.
    size : int

    Raises
    ------
    InputError
        If it cannot be read or unpacked, unpacks to more than it may, is UTF-16, or has a line
        longer than :data:`LONGEST_LINE`, or blanks for as long.
    """
    start = raw.read(6)
    raw.seek(0)
    packing = find_packing(start)
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError.at(name, None, "is UTF-16", "save it as UTF-8")
    if packing is None:
        stream, guard = raw, SizeGuard(name, None)
    elif packing.open is None:
        raise InputError.at(
            name,
            None,
            f"is packed with {packing.name}",
            "unpack it; gzip, bzip2 and xz are read as they are",
        )
    else:
        stream, guard = packing.open(raw), SizeGuard(name, max_member)
    while piece := read_piece(stream, name, packing, size):
        guard.look_at(piece)
        yield piece


class Packing(NamedTuple):
    """A way to pack files: how they begin, and what unpacks them."""

    name: str
    magic: bytes
    open: Callable[[BinaryIO], Any] | None


PACKINGS = (
    Packing("gzip", b"\x1f\x8b", lambda stream: gzip.GzipFile(fileobj=stream)),
    Packing("bzip2", b"BZh", bz2.BZ2File),
    Packing("xz", b"\xfd7zXZ\0", lzma.LZMAFile),
    Packing("zstd", b"\x28\xb5\x2f\xfd", None),
    Packing("zip", b"PK\x03\x04", None),
)


def find_packing(start: bytes) -> Packing | None:
    """How a file that starts like this is packed, if it is."""
    return next((packing for packing in PACKINGS if start.startswith(packing.magic)), None)


def read_piece(stream: Any, name: str, packing: Packing | None = None, size: int = PIECE) -> bytes:
    """The next piece of a stream."""
    try:
        piece = stream.read(size)
    except (EOFError, zlib.error, lzma.LZMAError, OSError) as failed:
        if packing is None:
            raise InputError.at(
                name, None, f"cannot be read ({failed})", "name a readable file"
            ) from None
        raise InputError.at(
            name, None, f"broken {packing.name} ({failed})", "copy the file again"
        ) from None
    return piece.encode(errors="surrogatepass") if isinstance(piece, str) else piece


class SizeGuard:
    """Stops what is too large, or is not lines of text, before it is all in memory."""

    def __init__(self, name: str, most: int | None) -> None:
        self._name = name
        self._most = most
        self._seen = 0
        self._line = 0
        self._text = 0

    def look_at(self, piece: bytes, packed: bool = False) -> None:
        """Check the next piece.

        Raises
        ------
        InputError
            If there is too much of it, or a line or a stretch of blanks is too long.
        """
        before, self._seen = self._seen, self._seen + len(piece)
        if self._most is not None and self._seen > self._most:
            raise InputError.at(
                self._name,
                None,
                f"has more than {self._most:,} bytes when unpacked",
                "unpack it to a file, or allow more (--max-member)",
            )
        if packed:
            return
        first, last = piece.find(b"\n"), piece.rfind(b"\n") + 1
        if (before + first if last else self._seen) - self._line > LONGEST_LINE:
            raise self._too_long(self._line, "a line")
        self._line = before + last if last else self._line
        if not piece.isspace():
            self._text = self._seen
        elif self._seen - self._text > LONGEST_LINE:
            raise self._too_long(self._text, "a stretch of blanks")

    def _too_long(self, start: int, what: str) -> InputError:
        return InputError.at(
            self._name,
            None,
            f"{what} of more than {LONGEST_LINE:,} bytes, from byte {start + 1:,} on",
            "a run or a qrels file is expected",
        )


def split_into_lines(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Lines without their ends and a byte order mark."""
    rest, mark = b"", codecs.BOM_UTF8
    for piece in pieces:
        *lines, rest = (rest + piece.removeprefix(mark)).split(b"\n")
        mark = b""
        yield from lines
    yield rest


def number_content(lines: Iterator[bytes]) -> Iterator[tuple[int, bytes]]:
    """Numbers and content of the lines that are neither blank nor comments."""
    stripped = ((number, line.strip(BLANKS)) for number, line in enumerate(lines, 1))
    return ((number, line) for number, line in stripped if line and not line.startswith(b"#"))
