"""Read the bytes of runs and qrels from files, archive members and pipes."""

from __future__ import annotations

import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import cached_property
from io import SEEK_END, BytesIO
from itertools import chain
from pathlib import Path, PurePath
from typing import Any, BinaryIO, ClassVar
from weakref import WeakSet, finalize

from ir_std._system.files import display_name
from ir_std.errors import InputError
from ir_std.reading import unpacking

STANDARD_INPUT = "-"
"""File name that means standard input."""
STANDARD_INPUT_NAME = "standard input"
"""Name of standard input in messages."""

MOST_WAITING = 32
"""Largest number of files that stay open for the next reader."""
_LITTLE = 1 << 14
"""Number of bytes that are read at once to find the first line."""


ARCHIVE_SUFFIXES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.xz", ".txz", ".tar.bz2", ".tbz2")
"""Endings of the names of archives."""


class Source(ABC):
    """Bytes with a name, in a file on disk or in memory.

    Attributes
    ----------
    name : str
        Name in messages.
    path : Path or None
        Path of a file; for a member of an archive, the archive's path and the path inside it.
    max_member : int or None
        Largest unpacked size in bytes; see :func:`~ir_std.reading.unpacking.unpack_stream`.
    duplicates : {'error', 'first', 'last'}
        Line that counts if a run has a document twice for a topic.
    """

    name: str
    path: Path | None = None
    max_member: int | None
    duplicates = "error"

    @abstractmethod
    def open(self) -> BinaryIO:
        """Open for reading from the start; this works any number of times."""

    def release(self, stream: BinaryIO) -> None:
        """Close an open stream that is no longer read, or keep it for the next reader."""
        stream.close()

    @cached_property
    def is_small_and_packed(self) -> bool:
        """True for a small packed file.

        Such a file may unpack to many times its size, so the number of its lines is limited.
        """
        if self.max_member is not None:
            return False
        stream = self.open()
        try:
            is_packed = unpacking.find_packing(stream.read(6)) is not None
            return is_packed and stream.seek(0, SEEK_END) < unpacking.SMALL
        finally:
            self.release(stream)

    @cached_property
    def first_line(self) -> tuple[int, bytes] | None:
        """Number and content of the first line that is neither blank nor a comment, if any.

        This line shows whether the file is a run, qrels or scores, and is read only once.  A JSON
        file may be a single long line, so only the beginning of the line is returned.
        """
        stream = self.open()
        pieces = unpacking.unpack_stream(stream, self.name, self.max_member, _LITTLE)
        try:
            start = next(pieces, b"")
            pieces = iter([start]) if unpacking.is_json(start) else chain([start], pieces)
            return next(unpacking.number_content(pieces), None)
        finally:
            self.release(stream)


class FileSource(Source):
    """File on disk.

    After the first line or the whole file has been read, the file stays open for the next reader.
    So a command opens the file only once, unless too many files are open.  The file is closed when
    the source is deleted.  A copy of the source in another process opens the file again.

    Parameters
    ----------
    path : Path
    max_member : int, optional
    """

    path: Path
    _waiting: ClassVar[WeakSet[FileSource]] = WeakSet()

    def __init__(self, path: Path, max_member: int | None = None) -> None:
        self.path, self.max_member = path, max_member
        self.name = str(path)
        self._stream: BinaryIO | None = None
        self._closing: finalize[..., FileSource] | None = None

    def open(self) -> BinaryIO:
        """Open the file for reading, or return to the start of the stream that is still open.

        Raises
        ------
        InputError
            If there is no such file, if it is a folder or a pipe, or if you may not read it.
        """
        if self._stream is None:
            stream = _open(self.path)
            if not stream.seekable():
                stream.close()
                expected = "write its content to a file, and pass that file"
                raise InputError.at(self.path, "is a pipe or a device", expected)
            return stream
        stream, self._stream = self._stream, None
        self._waiting.discard(self)
        if self._closing is not None:
            self._closing.detach()
        stream.seek(0)
        return stream

    def release(self, stream: BinaryIO) -> None:
        """Keep the stream for the next :meth:`open`; close it if too many streams are kept."""
        if self._stream is not None or len(self._waiting) >= MOST_WAITING:
            stream.close()
            return
        self._stream = stream
        self._closing = finalize(self, stream.close)
        self._waiting.add(self)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_stream": None, "_closing": None}


class BytesSource(Source):
    """File in memory.

    Parameters
    ----------
    name : str
    content : bytes
    max_member : int, optional
    """

    def __init__(self, name: str, content: bytes, max_member: int | None = None) -> None:
        self.name, self.content, self.max_member = name, content, max_member

    def open(self) -> BinaryIO:
        """Open for reading."""
        return BytesIO(self.content)


def _open(path: Path) -> BinaryIO:
    try:
        if path.is_dir():
            raise InputError.at(path, "is a directory", "name a file")
        return path.open("rb")
    except OSError as failed:
        raise InputError.at(
            display_name(path), failed.strerror or str(failed), "name a readable file"
        ) from None
    except ValueError as wrong:  # a zero character, or half of a surrogate pair
        if isinstance(wrong, InputError):
            raise
        raise InputError.at(
            repr(str(path)), f"is not a file name ({wrong})", "name a readable file"
        ) from None


def source_of(file: Any) -> Source:
    """Return a source for a file's path, for ``-`` (standard input) or for an open file.

    Standard input, an open file, a pipe or a device is read into memory.  Any other file is not
    opened yet.
    """
    if isinstance(file, Source):
        return file
    if hasattr(file, "read"):
        return read_into_memory(file, str(getattr(file, "name", type(file).__name__)))
    if file == STANDARD_INPUT:
        if sys.stdin is None:
            raise InputError("standard input is closed; name a file instead of -")
        return read_into_memory(sys.stdin.buffer, STANDARD_INPUT_NAME)
    if not is_pipe(file):
        return FileSource(Path(file))
    with _open(Path(file)) as stream:
        return read_into_memory(stream, str(file))


def is_pipe(file: str | os.PathLike[str]) -> bool:
    """Check whether a name refers to a pipe, such as ``<(zcat run.gz)``, or to a device."""
    return os.path.exists(file) and not os.path.isfile(file) and not os.path.isdir(file)


def is_archive(file: str | os.PathLike[str]) -> bool:
    """Check, by its name, whether a file is an archive."""
    return os.fspath(file).endswith(ARCHIVE_SUFFIXES) and os.path.isfile(file)


def files_below(folder: Path, skip: Callable[[InputError], None] | None = None) -> list[Path]:
    """Return the files in a folder and its subfolders, sorted, without hidden files.

    Links are followed, but each folder is searched only once.  A broken link is included, and
    causes an error when it is read.

    Parameters
    ----------
    folder : Path
    skip : callable, optional
        Function that is called with the error if a folder or file cannot be read.  The folder or
        file is then left out.

    Raises
    ------
    InputError
        If there are no files, or if a folder or file cannot be read.
    """
    files: list[Path] = []
    seen: set[tuple[int, int]] = set()
    folders, links = [folder], list[Path]()
    while folders or links:
        # Real folders come first, because links may lead to one of them.
        inside = folders.pop() if folders else links.pop(0)
        try:
            for path in _unseen(inside, seen):
                if not path.is_dir():
                    files.append(_regular(path))
                elif path.is_symlink():
                    links.append(path)
                else:
                    folders.append(path)
        except InputError as unusable:
            if skip is None:
                raise
            skip(unusable)
    if not files:
        raise InputError.at(folder, "holds no files", "expected a folder of run files")
    return sorted(files)


def _unseen(folder: Path, seen: set[tuple[int, int]]) -> list[Path]:
    """Return the entries of a folder, or none if the folder was already searched."""
    try:
        stat = folder.stat()
        if (stat.st_dev, stat.st_ino) in seen:
            return []
        seen.add((stat.st_dev, stat.st_ino))
        if folder.is_symlink() and folder.resolve() in folder.absolute().parents:
            raise InputError.at(folder, "is a link to one of its parent folders", "remove the link")
        return sorted(path for path in folder.iterdir() if not is_hidden(PurePath(path.name)))
    except OSError as failed:
        raise InputError.at(
            folder,
            f"cannot be read ({failed.strerror or failed})",
            "get permission to read it, or pass only files that you can read",
        ) from None


def _regular(path: Path) -> Path:
    if is_pipe(path):
        raise InputError.at(path, "is a pipe or a device", "a folder holds files")
    return path


def is_hidden(path: PurePath) -> bool:
    """Check whether a name in a path begins with a dot or with ``__MACOSX``."""
    return any(part.startswith((".", "__MACOSX")) for part in path.parts if part != ".")


def read_into_memory(stream: Any, name: str, max_member: int | None = None) -> BytesSource:
    """Read the rest of a binary or text stream into memory."""
    if max_member is None:
        expected = "write its content to a file, and pass that file"
        too_much = InputError.at(name, f"gave more than {unpacking.MAX_MEMBER:,} bytes", expected)
    else:
        too_much = unpacking.too_large(name, max_member)
    reader = unpacking.BoundedReader(stream, max_member or unpacking.MAX_MEMBER, too_much)
    parts, guard = list[bytes](), unpacking.TextGuard(name)
    while part := unpacking.read_piece(reader, name):
        parts.append(part)
        if unpacking.find_packing(parts[0]) is None:
            guard.look_at(part)
    return BytesSource(name, b"".join(parts), max_member)


def content_lines(source: Source) -> Iterator[tuple[int, bytes]]:
    """Yield the number and content of each line that is neither blank nor a comment."""
    return unpacking.number_content(read_pieces(source))


def read_pieces(source: Source) -> Iterator[bytes]:
    """Yield the content of a source, unpacked, piece by piece."""
    stream = source.open()
    try:
        yield from unpacking.unpack_stream(stream, source.name, source.max_member)
    finally:
        source.release(stream)
