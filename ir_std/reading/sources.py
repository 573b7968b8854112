"""Where the bytes of runs and qrels come from: files, archive members, pipes; packed or not."""

from __future__ import annotations

import bz2
import codecs
import gzip
import lzma
import os
import sys
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import cached_property
from io import BytesIO
from pathlib import Path, PurePath
from typing import Any, BinaryIO, ClassVar, NamedTuple
from weakref import WeakSet, finalize

from ir_std.errors import InputError

LONGEST_LINE = 1 << 20
"""Bytes that a line may have; what has longer ones is neither a run nor qrels."""
MAX_MEMBER = 1 << 31
"""Bytes that a packed file or a member of an archive may unpack to, unless said otherwise."""
STANDARD_INPUT = "-"
"""The name of a file that stands for standard input."""
STANDARD_INPUT_NAME = "standard input"
"""What messages call it."""

MOST_WAITING = 32
"""Files that may wait open between a look at their first line and their reading."""
BLANKS = b" \t\r"
"""What separates columns, beside which only line ends may stand among the control characters."""

_PIECE = 1 << 18  # larger ones are memory that the system has to find anew each time
_LITTLE = 1 << 14


class Source(ABC):
    """Bytes with a name: a file on disk, or what has been read into memory.

    Attributes
    ----------
    name : str
        What messages call it.
    max_member : int
        Bytes that it may unpack to.
    """

    name: str
    max_member: int

    @abstractmethod
    def open(self) -> BinaryIO:
        """Open for reading, from the start, as often as wanted."""

    def release(self, stream: BinaryIO) -> None:
        """Take back an open stream when a look at the first line is all that was wanted."""
        stream.close()

    @cached_property
    def first_line(self) -> tuple[int, bytes] | None:
        """Number and content of the first line that is neither blank nor a comment, if any.

        It shows what kind of file this is, and is read once, no matter how many ask.

        Raises
        ------
        InputError
            As :func:`read_pieces`.
        """
        stream = self.open()
        try:
            return next(_content_lines(_lines(_unpack(stream, self, _LITTLE))), None)
        finally:
            self.release(stream)


class FileSource(Source):
    """A file on disk.

    After a look at its first line the file stays open for the reader who comes next, so that a
    command opens it once; not so if too many files wait already.  When the source is dropped,
    or sent to another process, nothing stays open.

    Parameters
    ----------
    path : Path
    max_member : int
    """

    _waiting: ClassVar[WeakSet[FileSource]] = WeakSet()

    def __init__(self, path: Path, max_member: int = MAX_MEMBER) -> None:
        self.path, self.max_member = path, max_member
        self.name = str(path)
        self._stream: BinaryIO | None = None
        self._closing: finalize[..., FileSource] | None = None

    def open(self) -> BinaryIO:
        """Open for reading, or go back to the start of what waits open.

        Raises
        ------
        InputError
            If there is no such file, it is a folder, may not be read, or can be read only once.
        """
        if self._stream is None:
            return _seekable(_open(self.path), self.path)
        stream, self._stream = self._stream, None
        self._waiting.discard(self)
        if self._closing is not None:
            self._closing.detach()
        stream.seek(0)
        return stream

    def release(self, stream: BinaryIO) -> None:
        """Keep the stream for the next :meth:`open`, if not too many files wait."""
        if len(self._waiting) >= MOST_WAITING:
            stream.close()
            return
        self._stream = stream
        self._closing = finalize(self, stream.close)
        self._waiting.add(self)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_stream": None, "_closing": None}


class BytesSource(Source):
    """A file in memory.

    Parameters
    ----------
    name : str
    content : bytes
    max_member : int
    """

    def __init__(self, name: str, content: bytes, max_member: int = MAX_MEMBER) -> None:
        self.name, self.content, self.max_member = name, content, max_member

    def open(self) -> BinaryIO:
        """Open for reading."""
        return BytesIO(self.content)


def _open(path: Path) -> BinaryIO:
    try:
        if path.is_dir():
            raise InputError.at(path, None, "is a directory", "name a file")
        return path.open("rb")
    except OSError as failed:
        raise InputError.at(
            _short(path), None, failed.strerror or str(failed), "name a readable file"
        ) from None
    except ValueError as wrong:  # a zero character, or half of a surrogate pair
        if isinstance(wrong, InputError):
            raise
        raise InputError.at(
            repr(str(path)), None, f"is no file name ({wrong})", "name a readable file"
        ) from None


def _seekable(stream: BinaryIO, path: Path) -> BinaryIO:
    if stream.seekable():
        return stream
    stream.close()
    raise InputError.at(path, None, "is a pipe or a device", "write it to a file, and name that")


def _short(path: Path) -> str:
    name = str(path)
    return name if len(name) < 400 else f"{name[:100]}... ({len(name)} characters)"


def source_of(file: Any) -> Source:
    """The source that a file's path, ``-`` for standard input, or an open file stands for.

    What can be read only once, such as a pipe, is read into memory; a file is not opened yet.

    Raises
    ------
    InputError
        If a pipe or an open file cannot be read.
    """
    if isinstance(file, Source):
        return file
    if hasattr(file, "read"):
        return read_into_memory(file, str(getattr(file, "name", type(file).__name__)))
    if file == STANDARD_INPUT:
        if sys.stdin is None:
            raise InputError.at(STANDARD_INPUT_NAME, None, "is closed", "name a file instead of -")
        return read_into_memory(sys.stdin.buffer, STANDARD_INPUT_NAME)
    if not is_pipe(file):
        return FileSource(Path(file))
    with _open(Path(file)) as stream:
        return read_into_memory(stream, str(file))


def is_pipe(file: str | os.PathLike[str]) -> bool:
    """Whether a name is that of a pipe, as ``<(zcat run.gz)`` is, or of a device."""
    return os.path.exists(file) and not os.path.isfile(file) and not os.path.isdir(file)


def files_below(folder: Path) -> list[Path]:
    """The files of a folder and of those in it, sorted; hidden ones are passed over.

    Raises
    ------
    InputError
        If there are none.
    """
    found = sorted(
        path
        for path in folder.rglob("*")
        if not is_hidden(path.relative_to(folder))
        # A link that leads nowhere is an error later on, not passed over.
        and (path.is_file() or not path.exists())
    )
    if not found:
        raise InputError.at(folder, None, "holds no files", "runs are expected in it")
    return found


def is_hidden(path: PurePath) -> bool:
    """Whether a file or one of its folders begins with a point, or was made by macOS."""
    return any(part.startswith((".", "__MACOSX")) for part in path.parts if part != ".")


def read_into_memory(stream: Any, name: str, max_member: int = MAX_MEMBER) -> BytesSource:
    """All that a binary or text stream still has to give.

    Raises
    ------
    InputError
        As :func:`read_pieces`.
    """
    parts: list[bytes] = []
    guard = _Guard(name, max_member)
    while part := _read(stream, name):
        parts.append(part)
        guard.look_at(part, packed=_packing(parts[0]) is not None)
    return BytesSource(name, b"".join(parts), max_member)


def lines_of(source: Source) -> Iterator[bytes]:
    """The lines of a source, unpacked, without their ends and a byte order mark.

    Raises
    ------
    InputError
        As :func:`read_pieces`.
    """
    return _lines(read_pieces(source))


def _lines(pieces: Iterator[bytes]) -> Iterator[bytes]:
    rest, mark = b"", codecs.BOM_UTF8
    for piece in pieces:
        *lines, rest = (rest + piece.removeprefix(mark)).split(b"\n")
        mark = b""
        yield from lines
    yield rest


def content_lines(source: Source) -> Iterator[tuple[int, bytes]]:
    """Numbers and content of the lines that are neither blank nor comments.

    Raises
    ------
    InputError
        As :func:`read_pieces`.
    """
    return _content_lines(lines_of(source))


def _content_lines(lines: Iterator[bytes]) -> Iterator[tuple[int, bytes]]:
    stripped = ((number, line.strip(BLANKS)) for number, line in enumerate(lines, 1))
    return ((number, line) for number, line in stripped if line and not line.startswith(b"#"))


def read_pieces(source: Source, size: int = _PIECE) -> Iterator[bytes]:
    """The content of a source, unpacked, piece by piece of at most ``size`` bytes.

    Raises
    ------
    InputError
        If it cannot be read or unpacked, unpacks to more than it may, is UTF-16, or has a line
        longer than :data:`LONGEST_LINE`, or blanks for as long.
    """
    with source.open() as stream:
        yield from _unpack(stream, source, size)


def _unpack(raw: BinaryIO, source: Source, size: int) -> Iterator[bytes]:
    start = raw.read(6)
    raw.seek(0)
    packing = _packing(start)
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError.at(source.name, None, "is UTF-16", "save it as UTF-8")
    if packing is None:
        stream, guard = raw, _Guard(source.name, None)
    elif packing.open is None:
        raise InputError.at(
            source.name,
            None,
            f"is packed with {packing.name}",
            "unpack it; gzip, bzip2 and xz are read as they are",
        )
    else:
        stream, guard = packing.open(raw), _Guard(source.name, source.max_member)
    while piece := _read(stream, source.name, packing, size):
        guard.look_at(piece)
        yield piece


class _Packing(NamedTuple):
    """A way to pack files: how they begin, and what unpacks them."""

    name: str
    magic: bytes
    open: Callable[[BinaryIO], Any] | None


_PACKINGS = (
    _Packing("gzip", b"\x1f\x8b", lambda stream: gzip.GzipFile(fileobj=stream)),
    _Packing("bzip2", b"BZh", bz2.BZ2File),
    _Packing("xz", b"\xfd7zXZ\0", lzma.LZMAFile),
    _Packing("zstd", b"\x28\xb5\x2f\xfd", None),
    _Packing("zip", b"PK\x03\x04", None),
)


def _packing(start: bytes) -> _Packing | None:
    return next((packing for packing in _PACKINGS if start.startswith(packing.magic)), None)


def _read(stream: Any, name: str, packing: _Packing | None = None, size: int = _PIECE) -> bytes:
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


class _Guard:
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
