"""Bytes unpacked piece by piece, and stopped if they are too many or no lines of text."""

from __future__ import annotations

import bz2
import codecs
import lzma
import re
import zlib
from collections.abc import Callable, Iterator
from os import SEEK_END
from typing import Any, BinaryIO, NamedTuple, Protocol

from ir_std.errors import InputError

MAX_MEMBER = 1 << 31
"""Bytes that a packed file or a member of an archive may unpack to, unless more are allowed."""
SMALL = 10_000_000
"""A packed file of fewer bytes may unpack to :data:`FREE`, and hold no more lines than its format
allows and :data:`MOST_TOPICS`, so that what it takes of memory and time is bounded."""
FREE = 80 << 20
"""Runs of TREC, packed by xz, have eight times their size."""
MOST_TOPICS = 1_000_000
RATIO = 16
"""How many times its size a larger one may have."""

LONGEST_LINE = 1 << 20
"""Bytes that a line may have; what has longer ones is neither a run nor qrels."""
LONGEST_JSON = 1 << 26
"""Bytes that a line of JSON may have: programs write all scores in one."""
BLANKS = b" \t\r"
"""What separates columns; of the control characters only line ends may stand beside these."""
PIECE = 1 << 18
"""Bytes that are read at once: for more the system has to find new memory each time."""
_PACKED_PIECE = 1 << 14
_DICTIONARY = 1 << 28
"""Bytes of memory that xz may ask for: its highest preset takes 65 MiB."""


def unpacked_limit(packed: int) -> int:
    """Bytes that so many packed bytes may unpack to: what lies about its size is stopped there."""
    return FREE if packed < SMALL else RATIO * packed


def unpack_stream(
    raw: BinaryIO, name: str, max_member: int | None, size: int = PIECE
) -> Iterator[bytes]:
    """What a stream holds, unpacked, piece by piece of at most ``size`` bytes.

    Parameters
    ----------
    raw : file
        It is read from its start, and not closed.
    name : str
        What messages call it.
    max_member : int, optional
        Bytes that it may unpack to; :func:`unpacked_limit` if not given.
    size : int

    Raises
    ------
    InputError
        If it cannot be read or unpacked, unpacks to more than it may, is UTF-16, or has a line
        longer than :data:`LONGEST_LINE`, in JSON :data:`LONGEST_JSON`, or blanks for as long.
    """
    start = read_piece(raw, name, size=6)
    packing = find_packing(start)
    if packing and max_member is None:
        max_member = min(MAX_MEMBER, unpacked_limit(raw.seek(0, SEEK_END)))
    raw.seek(0)
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError.at(name, "is UTF-16", "save it as UTF-8")
    if packing is None:
        stream: Any = raw
        guard = SizeGuard(name, None)
    elif packing.open is None:
        raise InputError.at(
            name,
            f"is packed with {packing.name}",
            "unpack it; gzip, bzip2 and xz are read as they are",
        )
    else:
        stream, guard = Unpacked(raw, packing), SizeGuard(name, max_member)
    while piece := read_piece(stream, name, packing, size):
        guard.look_at(piece)
        yield piece


class Decompressor(Protocol):
    """What unpacks one stream, as those of :mod:`bz2` and :mod:`lzma` do."""

    @property
    def eof(self) -> bool:
        """Whether the stream has ended."""

    @property
    def needs_input(self) -> bool:
        """Whether there is nothing more to give without more of it."""

    @property
    def unused_data(self) -> bytes:
        """What follows behind its end."""

    def decompress(self, data: bytes, max_length: int) -> bytes:
        """Not more than ``max_length`` bytes."""


class Inflater:
    """zlib's, which keeps what it has not used where the others keep it inside."""

    def __init__(self, window: int) -> None:
        self._inflating = zlib.decompressobj(window)

    @property
    def eof(self) -> bool:
        """Whether the stream has ended."""
        return self._inflating.eof

    @property
    def needs_input(self) -> bool:
        """Whether there is nothing more to give without more of it."""
        return not self._inflating.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        """What follows behind its end."""
        return self._inflating.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        """Not more than ``max_length`` bytes."""
        return self._inflating.decompress(self._inflating.unconsumed_tail + data, max_length)


class Packing(NamedTuple):
    """A way to pack files: how they begin, and what unpacks them."""

    name: str
    magic: bytes
    open: Callable[[], Decompressor] | None


def unpack_xz() -> Decompressor:
    """What unpacks xz and the older format of LZMA, with bounded memory."""
    return lzma.LZMADecompressor(memlimit=_DICTIONARY)


PACKINGS = (
    Packing("gzip", b"\x1f\x8b", lambda: Inflater(16 + zlib.MAX_WBITS)),
    Packing("bzip2", b"BZh", bz2.BZ2Decompressor),
    Packing("xz", b"\xfd7zXZ\0", unpack_xz),
    Packing("zstd", b"\x28\xb5\x2f\xfd", None),
    Packing("zip", b"PK\x03\x04", None),
)


def find_packing(start: bytes) -> Packing | None:
    """How a file that starts like this is packed, if it is."""
    return next((packing for packing in PACKINGS if start.startswith(packing.magic)), None)


class Unpacked:
    """Reads a packed stream unpacked, and never holds more than what is asked for.

    Some of the standard library unpack all of a piece first, which may be a billion bytes.

    Parameters
    ----------
    raw : file
    packing : Packing
        One whose ``magic`` is empty is of a single stream; of others several may follow each other.
    """

    def __init__(self, raw: Any, packing: Packing) -> None:
        self._raw, self._packing = raw, packing
        self._behind = b""
        self._begin()

    def _begin(self) -> None:
        if self._packing.open is None:
            raise ValueError(f"{self._packing.name} is not unpacked")
        self._stream: Decompressor = self._packing.open()

    def _packed(self) -> bytes:
        packed, self._behind = self._behind, b""
        return packed or bytes(self._raw.read(_PACKED_PIECE))

    def read(self, size: int) -> bytes:
        """The next bytes, ``size`` at most; none at the end.

        Raises
        ------
        EOFError
            If it ends too soon.
        OSError, zlib.error, lzma.LZMAError
            If it is damaged.
        """
        while True:
            if self._stream.eof:
                if not self._next_stream():
                    return b""
                continue
            more = self._packed() if self._stream.needs_input else b""
            ended = self._stream.needs_input and not more
            if piece := self._stream.decompress(more, size):
                return piece
            if ended:
                raise EOFError("it ends before its end is marked")

    def _next_stream(self) -> bool:
        """Whether another stream follows behind this one, and zeros that fill a block."""
        if not self._packing.magic:
            return False
        behind = self._stream.unused_data.lstrip(b"\0")
        while not behind:
            if not (more := self._raw.read(_PACKED_PIECE)):
                return False
            behind = more.lstrip(b"\0")
        if len(behind) < len(self._packing.magic):
            behind += self._raw.read(_PACKED_PIECE)
        if not behind.startswith(self._packing.magic):
            raise OSError("something else follows behind its end")
        self._behind = behind
        self._begin()
        return True


def read_piece(stream: Any, name: str, packing: Packing | None = None, size: int = PIECE) -> bytes:
    """The next piece of a stream."""
    try:
        piece = stream.read(size)
    except (EOFError, zlib.error, lzma.LZMAError, OSError) as failed:
        if packing is None:
            why = getattr(failed, "strerror", None) or failed
            raise InputError.at(name, f"cannot be read ({why})", "name a readable file") from None
        raise InputError.at(
            name, f"broken {packing.name} ({failed})", "copy the file again"
        ) from None
    return piece.encode(errors="surrogatepass") if isinstance(piece, str) else piece


UNPACK_FIRST = "unpack it to a file (ir_std build has --max-member, too)"
"""What to do with a packed run that is too large."""


def too_large(name: object, most: int, expected: str = UNPACK_FIRST) -> InputError:
    """The error that something unpacks to more than may be read."""
    return InputError.at(name, f"has more than {most:,} bytes when unpacked", expected)


_JSON = re.compile(rb"(?:\xef\xbb\xbf)?\s*[\[{]")


def is_json(start: bytes) -> bool:
    """Whether a file that begins so is JSON: no run and no qrels."""
    return _JSON.match(start) is not None


class SizeGuard:
    """Stops what is too large, or is not lines of text, before it is all in memory."""

    def __init__(self, name: str, most: int | None, piped: bool = False) -> None:
        self._name = name
        self._most = most
        self._piped = piped
        self._seen = 0
        self._line = 0
        self._text = 0
        self._longest = LONGEST_LINE

    def look_at(self, piece: bytes, packed: bool = False) -> None:
        """Check the next piece.

        Raises
        ------
        InputError
            If there is too much of it, or a line or a stretch of blanks is too long.
        """
        before, self._seen = self._seen, self._seen + len(piece)
        if self._most is not None and self._seen > self._most:
            if self._piped:
                raise InputError.at(
                    self._name,
                    f"gave more than {self._most:,} bytes",
                    "write it to a file, and name that",
                )
            raise too_large(self._name, self._most)
        if packed:
            return
        if before == 0 and is_json(piece):
            self._longest = LONGEST_JSON
        first, last = piece.find(b"\n"), piece.rfind(b"\n") + 1
        if (before + first if last else self._seen) - self._line > self._longest:
            raise self._too_long(self._line, "a line", self._longest)
        self._line = before + last if last else self._line
        if not piece.isspace():
            self._text = self._seen
        elif self._seen - self._text > LONGEST_LINE:
            raise self._too_long(self._text, "a stretch of blanks", LONGEST_LINE)

    def _too_long(self, start: int, what: str, most: int) -> InputError:
        return InputError.at(
            self._name,
            f"{what} of more than {most:,} bytes, from byte {start + 1:,} on",
            "shorter lines are expected: is it a text file?",
        )


_CONTENT = re.compile(rb"(?m)^[ \t\r]*([^ \t\r\n#][^\n]*)")


def number_content(pieces: Iterator[bytes]) -> Iterator[tuple[int, bytes]]:
    """Numbers and content of the lines that are neither blank nor comments.

    A byte order mark is left out.  Comments are skipped many at once.
    """
    rest, mark, number = b"", codecs.BOM_UTF8, 1
    for piece in pieces:
        text = rest + piece.removeprefix(mark)
        mark = b""
        whole = text.rfind(b"\n") + 1
        text, rest = text[:whole], text[whole:]
        yield from number_lines(text, number)
        number += text.count(b"\n")
    yield from number_lines(rest, number)


def number_lines(text: bytes, number: int) -> Iterator[tuple[int, bytes]]:
    """As :func:`number_content`, of whole lines, of which the first has this number."""
    last = 0
    for line in _CONTENT.finditer(text):
        number += text.count(b"\n", last, line.start())
        last = line.start()
        yield number, line[1].rstrip(BLANKS)
