"""Unpack files piece by piece, and stop if the content is too large or is not text."""

import bz2
import codecs
import gzip
import lzma
import re
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from os import SEEK_END
from typing import Any, BinaryIO, NamedTuple

from ir_std.errors import InputError

MAX_MEMBER = 1 << 31
"""Largest unpacked size, in bytes, of a packed file or archive member, unless users allow more."""
SMALL = 10_000_000
"""Size in bytes below which a packed file is small.

Even a small file is allowed to unpack to :data:`MIN_UNPACK_LIMIT` bytes.  The format limits the
length of lines, and :data:`MOST_TOPICS` limits the number of topics.  So reading a small file takes
limited memory and time.
"""
MIN_UNPACK_LIMIT = 80 << 20
"""Lowest default limit of the unpacked size in bytes.

The limit is about eight times :data:`SMALL`, because xz packs TREC runs to an eighth of their size.
"""
MOST_TOPICS = 1_000_000
RATIO = 16
"""Largest ratio of the unpacked size to the packed size, for files that are not small."""

LONGEST_LINE = 1 << 20
"""Largest number of bytes in a line; a file with longer lines is neither a run nor qrels."""
LONGEST_JSON = 1 << 26
"""Largest number of bytes in a line of JSON; programs may write all scores on one line."""
BLANKS = b" \t\r"
"""Bytes that separate columns; line ends are the only other control characters allowed."""
PIECE = 1 << 18
"""Number of bytes that are read at once; the system allocates new memory for larger pieces."""
_PACKED_PIECE = 1 << 14
_DICTIONARY = 1 << 28
"""Bytes of memory that a file packed by xz may need; the highest preset of xz needs 65 MiB."""


def unpacked_limit(packed: int) -> int:
    """Return how many bytes a packed file may unpack to, whatever size the file states."""
    return MIN_UNPACK_LIMIT if packed < SMALL else min(MAX_MEMBER, RATIO * packed)


def unpack_stream(
    raw: BinaryIO, name: str, max_member: int | None, size: int = PIECE
) -> Iterator[bytes]:
    """Yield the content of a stream, unpacked, in pieces of at most ``size`` bytes.

    Parameters
    ----------
    raw : file
        File to read; it is read from its start and not closed.
    name : str
        Name in messages.
    max_member : int, optional
        Largest unpacked size in bytes; by default, :func:`unpacked_limit`.
    size : int

    Raises
    ------
    InputError
        If the file cannot be read or unpacked, unpacks to more bytes than allowed, is UTF-16, or
        has a line or a stretch of blanks longer than :data:`LONGEST_LINE` (in JSON, a line longer
        than :data:`LONGEST_JSON`).
    """
    packing = find_packing(read_piece(raw, name, size=6))
    stream: Any = raw
    if packing and max_member is None:
        max_member = unpacked_limit(raw.seek(0, SEEK_END))
    raw.seek(0)
    if packing and max_member is not None:
        stream = BoundedReader(packing.open(raw), max_member, too_large(name, max_member))
    guard = TextGuard(name)
    while piece := read_piece(stream, name, packing, size):
        guard.look_at(piece)
        yield piece


class _Streams:
    """Several packed streams in a row, read as one stream.

    ``bz2.open`` and ``lzma.open`` silently ignore a damaged end; here, only zeros may follow a
    stream.

    Parameters
    ----------
    raw : file
    begin : callable
        Returns a decompressor for the next stream.
    """

    def __init__(self, raw: Any, begin: Callable[[], Any]) -> None:
        self._raw, self._begin = raw, begin
        self._stream = begin()

    def read(self, size: int) -> bytes:
        """Return the next ``size`` bytes; at the end, return fewer bytes."""
        parts = list[bytes]()
        while size and (part := self._read_part(size)):
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def _read_part(self, size: int) -> bytes:
        while True:
            packed = b""
            if self._stream.eof:
                packed = self._stream.unused_data.lstrip(b"\0")
                while not packed:
                    if not (more := self._raw.read(_PACKED_PIECE)):
                        return b""
                    packed = more.lstrip(b"\0")
                self._stream = self._begin()
            elif self._stream.needs_input:
                packed = self._raw.read(_PACKED_PIECE)
                if not packed:
                    raise EOFError("it is cut off before the end marker")
            part: bytes = self._stream.decompress(packed, size)
            if part:
                return part


class Packing(NamedTuple):
    """A packing format with its name, the first bytes of its files, and a reader for them."""

    name: str
    magic: bytes
    open: Callable[[Any], Any]


_PACKINGS = (
    Packing("gzip", b"\x1f\x8b", lambda raw: gzip.GzipFile(fileobj=raw, mode="rb")),
    Packing("bzip2", b"BZh", partial(_Streams, begin=bz2.BZ2Decompressor)),
    Packing(
        "xz",
        b"\xfd7zXZ\0",
        partial(_Streams, begin=partial(lzma.LZMADecompressor, lzma.FORMAT_XZ, _DICTIONARY)),
    ),
)


def find_packing(start: bytes) -> Packing | None:
    """Find the packing format of a file by its first bytes; None if the file is not packed."""
    return next((packing for packing in _PACKINGS if start.startswith(packing.magic)), None)


class BoundedReader:
    """Reader that limits the number of bytes from a stream, whatever size the stream states.

    Parameters
    ----------
    stream : file
    most : int or float
        Number of bytes that may be read.
    error : Exception
        Error to raise if there are more bytes.

    Attributes
    ----------
    position : int
        Number of bytes read so far.
    last : bytes
        Bytes that were read last.
    """

    def __init__(self, stream: Any, most: float, error: Exception) -> None:
        self._stream = stream
        self.position, self.last = 0, b""
        self.bound(most, error)

    def bound(self, most: float, error: Exception) -> None:
        """Limit the bytes that can be read, counted from the start; raise ``error`` for more."""
        self._most, self._error = most, error

    def read(self, size: int) -> bytes:
        """Return the next bytes, or empty bytes at the end."""
        self.last = self._stream.read(size)
        self.position += len(self.last)
        if self.position > self._most:
            raise self._error
        return self.last


def read_piece(stream: Any, name: str, packing: Packing | None = None, size: int = PIECE) -> bytes:
    """Return the next piece of a binary or text stream; no bytes at the end."""
    try:
        piece = stream.read(size)
    except (EOFError, zlib.error, lzma.LZMAError, OSError) as failed:
        if packing is None:
            why = getattr(failed, "strerror", None) or str(failed) or type(failed).__name__
            expected = "check that the file is readable and complete"
            raise InputError.at(name, f"cannot be read ({why})", expected) from None
        raise InputError.at(
            name, f"broken {packing.name} ({failed})", "copy the file again"
        ) from None
    return piece.encode(errors="surrogatepass") if isinstance(piece, str) else piece


UNPACK_FIRST = "unpack it to a file"
"""Advice for a packed run that is too large."""


def too_large(name: object, most: float) -> InputError:
    """Return an error for a file that unpacks to more bytes than allowed."""
    return InputError.at(name, f"has more than {most:,} bytes when unpacked", UNPACK_FIRST)


_UNREAD = (
    (0, b"\xff\xfe", "UTF-16", "save it as UTF-8"),
    (0, b"\xfe\xff", "UTF-16", "save it as UTF-8"),
    (0, b"\x28\xb5\x2f\xfd", "packed with zstd", "unpack it, or pack it with gzip, bzip2 or xz"),
    (0, b"PK\x03\x04", "packed with zip", "unpack it"),
    (257, b"ustar", "a tar archive", "unpack it"),
)
"""Kinds of unsupported files, with the position and bytes that identify them, and with advice."""
_CONTROLS = bytes({*range(ord(" "))} - {*b"\t\n\r"})
_FEW_CONTROLS = 80
"""A file with more control characters is not text; with fewer, an error names the line."""


def is_json(start: bytes) -> bool:
    """Check, from its first bytes, whether a file is JSON instead of a run or qrels."""
    return start.removeprefix(codecs.BOM_UTF8).lstrip().startswith((b"[", b"{"))


class TextGuard:
    """Check, piece by piece, that content consists of lines of text."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._seen = 0
        self._line = 0
        self._text = 0
        self._longest = LONGEST_LINE

    def look_at(self, piece: bytes) -> None:
        """Check the next piece.

        Raises
        ------
        InputError
            If a line or a stretch of blanks is too long, or the first piece is not text.
        """
        if self._seen == 0:
            self._check_start(piece)
        before, self._seen = self._seen, self._seen + len(piece)
        first, last = piece.find(b"\n"), piece.rfind(b"\n") + 1
        if (before + first if last else self._seen) - self._line > self._longest:
            raise self._too_long(self._line, "a line", self._longest)
        self._line = before + last if last else self._line
        if not piece.isspace():
            self._text = self._seen
        elif self._seen - self._text > LONGEST_LINE:
            raise self._too_long(self._text, "a stretch of blanks", LONGEST_LINE)

    def _check_start(self, piece: bytes) -> None:
        for place, magic, what, expected in _UNREAD:
            if piece.startswith(magic, place):
                raise InputError.at(self._name, f"is {what}", expected)
        n_controls = len(piece) - len(piece.translate(None, _CONTROLS))
        if n_controls > max(_FEW_CONTROLS, len(piece) // 100):
            raise InputError.at(self._name, "is not text", "name a run, qrels or scores")
        if is_json(piece):
            self._longest = LONGEST_JSON

    def _too_long(self, start: int, what: str, most: int) -> InputError:
        return InputError.at(
            self._name,
            f"{what} has more than {most:,} bytes (from byte {start + 1:,} on)",
            "check that it is a text file",
        )


_CONTENT = re.compile(rb"(?m)^[ \t\r]*([^ \t\r\n#][^\n]*)")


def number_content(pieces: Iterator[bytes]) -> Iterator[tuple[int, bytes]]:
    """Yield the number and content of each line that is neither blank nor a comment.

    A byte order mark is left out.  A single search with a regular expression can skip many
    comments.
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
    """Yield lines as :func:`number_content` does; ``number`` is the number of the first line."""
    last = 0
    for line in _CONTENT.finditer(text):
        number += text.count(b"\n", last, line.start())
        last = line.start()
        yield number, line[1].rstrip(BLANKS)
