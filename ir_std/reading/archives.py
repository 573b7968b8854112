"""Find run files in folders and archives; archives are read in memory."""

import lzma
import math
import os
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, Any

from ir_std._system.files import wrap_os_errors
from ir_std._system.text import escape_line
from ir_std.errors import InputError, UsageError
from ir_std.reading import sources, unpacking

LARGEST_HEADER = 1 << 16
"""Largest number of bytes in the headers of a tar file's member; long names are in headers."""
_ZIP_STEP = 1 << 12
"""Smallest number of packed bytes that Python unpacks at once."""
_ARCHIVE_ERRORS = (
    zipfile.BadZipFile,
    tarfile.TarError,
    lzma.LZMAError,
    zlib.error,
    struct.error,
    EOFError,
    OSError,
    RuntimeError,
    OverflowError,
    ValueError,
)
"""Exceptions of the standard library for truncated, damaged or encrypted archives."""


def _brief(broken: Exception) -> str:
    """Describe an archive's error in at most 120 characters; Python's text may quote a header."""
    text = escape_line(str(broken) or type(broken).__name__)
    return text if len(text) <= 120 else f"{text[:100]}..."


def run_sources(
    paths: Iterable[str | os.PathLike[str]],
    max_member: int | None = None,
    skip: Callable[[InputError], None] | None = None,
) -> Iterator[sources.Source]:
    """Yield the run files at ``paths``.

    Parameters
    ----------
    paths : iterable of str or path
        Run files, folders and archives.  A folder means all files below it, sorted by name.
        Archives are ``.zip`` and ``.tar``, which may be compressed as ``.gz``, ``.xz`` or ``.bz2``.
        The members of an archive are read one by one when they are needed; nothing is unpacked to
        disk.  Hidden files are skipped.
    max_member : int, optional
        Largest unpacked size, in bytes, of a packed file or a member of an archive.  The default is
        80 MiB if the packed size is below 10 MB.  Otherwise, it is 16 times the packed size, but at
        most 2 GiB.
    skip : callable, optional
        Function that is called with the error if a folder cannot be read.  The folder is then left
        out.

    Yields
    ------
    Source
        A run file; the name of an archive's member is ``archive.tar.xz!member``.

    Raises
    ------
    InputError
        If a path does not exist or holds no file, an archive is broken, or a member is too large or
        is not text.
    UsageError
        If ``max_member`` is less than 1.
    """
    if max_member is not None and max_member < 1:
        raise UsageError(f"max_member is {max_member}; pass a number of bytes, at least 1")
    for path in map(Path, paths):
        is_empty = True
        for source in _below(path, max_member, skip):
            is_empty = False
            yield source
        if is_empty:
            raise InputError.at(path, "holds no files", "expected a folder of run files")


def _below(
    path: Path, max_member: int | None, skip: Callable[[InputError], None] | None
) -> Iterator[sources.Source]:
    if os.path.isdir(path):
        for file in sources.files_below(path, skip):
            yield from _below(file, max_member, skip)
    elif not os.path.exists(path):
        expected = "name a run, a folder or an archive"
        with wrap_os_errors(path, "cannot be read", expected):
            if not os.path.lexists(path):
                raise InputError.at(path, "no such file", expected)
            path.stat()
    elif sources.is_archive(path):
        members = _zip_members if path.suffix == ".zip" else _tar_members
        packed = path.stat().st_size
        most, together = max_member or unpacking.unpacked_limit(packed), math.inf
        if max_member is None:
            together = max(unpacking.MIN_UNPACK_LIMIT, unpacking.RATIO * packed)
        try:
            for member, stream in members(path, together):
                if not sources.is_hidden(PurePosixPath(member)):
                    source = sources.read_into_memory(stream, f"{path}!{member}", most)
                    source.path = path / member
                    source.is_small_and_packed = max_member is None and packed < unpacking.SMALL
                    yield source
        except InputError:
            raise
        except MemoryError:
            raise InputError.at(
                path, "needs more memory than is available", "unpack it to files"
            ) from None
        except _ARCHIVE_ERRORS as broken:
            raise InputError.at(
                path, f"cannot be read ({_brief(broken)})", "copy the archive again"
            ) from None
    else:
        yield sources.FileSource(path, max_member)


def _tar_members(path: Path, most: float) -> Iterator[tuple[str, Any]]:
    """Return names and contents of the files in a tar file, which may unpack to ``most`` bytes.

    Python reads headers of any size into memory, and treats a damaged header as the end of the
    archive.  So the size of headers is limited, and only zeros may follow the last member.
    """
    long_header = tarfile.ReadError(f"a header has more than {LARGEST_HEADER:,} bytes")
    name = "its start"
    with path.open("rb") as raw:
        packing = unpacking.find_packing(raw.read(6))
        raw.seek(0)
        reader = unpacking.BoundedReader(
            packing.open(raw) if packing else raw, LARGEST_HEADER, long_header
        )
        with tarfile.open(fileobj=reader, mode="r|") as archive:  # type: ignore[call-overload]
            for member in archive:
                name = member.name
                if member.issparse():
                    raise tarfile.ReadError(f"{name} is stored as a sparse file, so it is not text")
                reader.bound(most, unpacking.too_large(path, most))
                if member.isfile():
                    yield name, archive.extractfile(member)
                if archive.offset + LARGEST_HEADER < most:
                    reader.bound(archive.offset + LARGEST_HEADER, long_header)
            pieces = [reader.last[archive.offset % tarfile.RECORDSIZE :]]
        reader.bound(most, unpacking.too_large(path, most))
        pieces.extend(
            piece.strip(b"\0") for piece in iter(partial(reader.read, unpacking.PIECE), b"")
        )
        if len(pieces[0]) < tarfile.BLOCKSIZE or any(piece.strip(b"\0") for piece in pieces):
            raise tarfile.ReadError(f"damaged or cut off after {name}")


def _zip_members(path: Path, most: float) -> Iterator[tuple[str, Any]]:
    """Return names and contents of the files in a zip file, which may unpack to ``most`` bytes."""
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            if not member.is_dir():
                with archive.open(member) as content:
                    stream = _ZipMember(content, member)
                    reader = unpacking.BoundedReader(stream, most, unpacking.too_large(path, most))
                    yield member.filename, reader
                most -= reader.position


class _ZipMember:
    """Reader that reads a member in small steps, because Python unpacks a whole step at once."""

    def __init__(self, content: IO[bytes], member: zipfile.ZipInfo) -> None:
        self._content, self._member = content, member
        self._left = member.file_size

    def read(self, size: int) -> bytes:
        """Return the next bytes; at the end, check the stated size and return no bytes."""
        piece = self._content.read(min(size, _ZIP_STEP))
        self._left -= len(piece)
        if not piece and self._left:
            raise zipfile.BadZipFile(f"{self._member.filename!r} is smaller than its stated size")
        return piece
