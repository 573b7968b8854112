"""Run files wherever they lie: single files, folders, and archives, which are read in memory."""

from __future__ import annotations

import bz2
import lzma
import os
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from copy import copy
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, Any, NoReturn

from ir_std._system.files import errors_of
from ir_std._system.text import escape_line
from ir_std.errors import InputError, UsageError
from ir_std.reading.sources import FileSource, Source, files_below, is_hidden, read_into_memory
from ir_std.reading.unpacking import (
    FREE,
    MAX_MEMBER,
    PIECE,
    RATIO,
    SMALL,
    UNPACK_FIRST,
    Decompressor,
    Inflater,
    Packing,
    Unpacked,
    find_packing,
    too_large,
    unpack_xz,
    unpacked_limit,
)

TAR_SUFFIXES = (".tar", ".tar.gz", ".tgz", ".tar.xz", ".txz", ".tar.bz2")
ZIP_SUFFIX = ".zip"
LARGEST_HEADER = 1 << 16
"""Bytes that a name in a tar file, or what else is known of a member, may have."""
ARCHIVE_ERRORS = (
    zipfile.BadZipFile,
    tarfile.TarError,
    lzma.LZMAError,
    zlib.error,
    struct.error,
    EOFError,
    OSError,
    RuntimeError,
    OverflowError,
    UnicodeError,
)
"""What the standard library raises on archives that are truncated, damaged or encrypted."""


def brief(broken: Exception) -> str:
    """What is wrong with an archive, which may quote a whole header, in a part of a line."""
    text = escape_line(str(broken) or type(broken).__name__)
    return text if len(text) <= 120 else f"{text[:100]}..."


def run_sources(
    paths: Iterable[str | os.PathLike[str]],
    max_member: int | None = None,
    skip: Callable[[InputError], None] | None = None,
) -> Iterator[Source]:
    """The run files at ``paths``, one by one.

    Parameters
    ----------
    paths : iterable of str or path
        Run files, folders (every file below them, by name) and archives: ``.tar``, also
        compressed as ``.gz``, ``.xz`` or ``.bz2``, and ``.zip``.  Archives are read member by
        member as they are asked for; nothing is unpacked to disk.  Hidden files are skipped.
    max_member : int, optional
        Bytes that a packed file or a member of an archive may have.  If not given, 2 GiB, and
        16 times the packed size; 80 MiB where that is below 10 MB.
    skip : callable, optional
        Is given the error of a folder that cannot be read, which is then left out.

    Yields
    ------
    Source
        A member of an archive is called ``archive.tar.xz!member``.

    Raises
    ------
    InputError
        If a path does not exist, an archive is broken, a member too large or no lines of text,
        or a path holds no file.
    UsageError
        If ``max_member`` is less than 1.
    """
    if max_member is not None and max_member < 1:
        raise UsageError(f"max_member is {max_member}: give a number of bytes, at least 1")
    for path in map(Path, paths):
        is_empty = True
        for source in _below(path, max_member, skip):
            is_empty = False
            yield source
        if is_empty:
            raise InputError.at(path, "holds no files", "runs are expected in it")


def _below(
    path: Path, max_member: int | None, skip: Callable[[InputError], None] | None
) -> Iterator[Source]:
    if os.path.isdir(path):
        for file in files_below(path, skip):
            yield from _below(file, max_member, skip)
    elif not os.path.exists(path):
        expected = "name a run, a folder or an archive"
        with errors_of(path, "cannot be read", expected):
            if not os.path.lexists(path):
                raise InputError.at(path, "no such file", expected)
            path.stat()
    elif path.name.endswith((*TAR_SUFFIXES, ZIP_SUFFIX)):
        members = _zip_members if path.suffix == ZIP_SUFFIX else _tar_members
        packed = path.stat().st_size
        most = min(MAX_MEMBER, unpacked_limit(packed)) if max_member is None else max_member
        try:
            budget = Budget(path, max(FREE, RATIO * packed) if max_member is None else None)
            for member, stream in members(path, budget):
                if not is_hidden(PurePosixPath(member)):
                    source = read_into_memory(stream, f"{path}!{member}", most)
                    source.is_small_and_packed = max_member is None and packed < SMALL
                    yield source
        except ARCHIVE_ERRORS as broken:
            raise InputError.at(
                path,
                f"cannot be read ({brief(broken)})",
                "an archive of runs is expected: copy it again",
            ) from None
    else:
        yield FileSource(path, max_member)


class Budget:
    """The bytes that the members of an archive may unpack to, all together.

    Parameters
    ----------
    name : object
        What messages call the archive.
    most : int or None
        None where there is no bound.
    expected : str
        What messages say should be done.
    """

    def __init__(self, name: object, most: int | None, expected: str = UNPACK_FIRST) -> None:
        self.name, self.most, self.expected = name, most, expected
        self.spent = 0

    def spend(self, size: int) -> None:
        """Take so many bytes; an InputError if they are more than are left."""
        self.spent += size
        if self.most is not None and self.spent > self.most:
            raise too_large(self.name, self.most, self.expected)


class _Member(tarfile.TarInfo):
    """A member of a tar file.  Python takes a damaged header for the end, and so drops the rest."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Any:
        """A header; an error if it announces another one that no member needs."""
        member = super().frombuf(buf, encoding, errors)
        if member.type in _HEADERS and not 0 <= member.size <= LARGEST_HEADER:
            raise tarfile.ReadError(f"a header of {member.size:,} bytes")
        return member

    @classmethod
    def fromtarfile(cls, archive: tarfile.TarFile) -> Any:
        """The next one; an error where there is neither a header nor the mark of the end."""
        try:
            return super().fromtarfile(archive)
        except tarfile.EOFHeaderError:  # type: ignore[attr-defined]  # typeshed lacks it
            raise
        except tarfile.HeaderError as broken:
            raise tarfile.ReadError(str(broken)) from None

    def _refuse_sparse(self, *_: Any) -> NoReturn:
        raise tarfile.ReadError("a member with holes, which no text has")

    _proc_sparse = _proc_gnusparse_00 = _proc_gnusparse_01 = _proc_gnusparse_10 = _refuse_sparse


_HEADERS = (
    tarfile.GNUTYPE_LONGNAME,
    tarfile.GNUTYPE_LONGLINK,
    tarfile.XHDTYPE,
    tarfile.XGLTYPE,
    tarfile.SOLARIS_XHDTYPE,
)


class _Counted:
    """A stream whose bytes are taken from a budget."""

    def __init__(self, stream: Any, budget: Budget) -> None:
        self._stream, self._budget = stream, budget

    def read(self, size: int) -> bytes:
        """The next bytes."""
        piece: bytes = self._stream.read(size)
        self._budget.spend(len(piece))
        return piece


def _tar_members(path: Path, budget: Budget) -> Iterator[tuple[str, Any]]:
    with path.open("rb") as raw:
        packing = find_packing(raw.read(6))
        raw.seek(0)
        unpacked = Unpacked(raw, packing) if packing and packing.open else raw
        with tarfile.open(
            fileobj=_Counted(unpacked, budget), mode="r|", tarinfo=_Member
        ) as archive:  # type: ignore[call-overload]  # it is only read
            for member in archive:
                content = archive.extractfile(member) if member.isfile() else None
                if content is not None:
                    yield member.name, content


def _zip_members(path: Path, budget: Budget) -> Iterator[tuple[str, Any]]:
    with _opened_zip(path) as archive:
        yield from _zip_streams(archive, budget)


@contextmanager
def _opened_zip(file: Path | IO[bytes]) -> Iterator[zipfile.ZipFile]:
    """A zip file, of which everything that is wrong is one of ARCHIVE_ERRORS or an InputError."""
    try:
        with zipfile.ZipFile(file) as archive:
            yield archive
    except ValueError as broken:  # such as a negative place in the file
        if isinstance(broken, InputError):
            raise
        raise zipfile.BadZipFile(str(broken)) from None


def _zip_streams(archive: zipfile.ZipFile, budget: Budget) -> Iterator[tuple[str, Any]]:
    """Names and contents of the members, unpacked piece by piece within a budget.

    zipfile itself unpacks a few kilobytes at once, to whatever they hold.
    """
    for member in archive.infolist():
        if not member.is_dir():
            with _open_packed(archive, member) as packed:
                yield member.filename, _ZipMember(packed, member, budget)


def _open_packed(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> IO[bytes]:
    """A member's bytes as they are in the archive."""
    stored = copy(member)
    stored.compress_type, stored.file_size = zipfile.ZIP_STORED, member.compress_size
    stored.CRC = None  # type: ignore[assignment]  # so that zipfile does not check it
    return archive.open(stored)


class _ZipMember:
    """Reads a member unpacked, and checks that it is what the archive says of it."""

    def __init__(self, packed: IO[bytes], member: zipfile.ZipInfo, budget: Budget) -> None:
        self._member, self._checksum, self._size = member, 0, 0
        stream: Any = packed
        if member.compress_type != zipfile.ZIP_STORED:
            stream = Unpacked(packed, Packing("zip", b"", _zip_unpacker(packed, member)))
        self._stream = _Counted(stream, budget)

    def read(self, size: int) -> bytes:
        """The next bytes, ``size`` at most."""
        piece = self._stream.read(size)
        self._checksum, self._size = zlib.crc32(piece, self._checksum), self._size + len(piece)
        member = self._member
        if self._size > member.file_size:
            raise zipfile.BadZipFile(f"{member.filename!r} is larger than it says")
        if not piece and size and (self._size, self._checksum) != (member.file_size, member.CRC):
            raise zipfile.BadZipFile(f"{member.filename!r} is damaged")
        return piece


def _zip_unpacker(packed: IO[bytes], member: zipfile.ZipInfo) -> Callable[[], Decompressor]:
    if member.compress_type == zipfile.ZIP_DEFLATED:
        return partial(Inflater, -zlib.MAX_WBITS)
    if member.compress_type == zipfile.ZIP_BZIP2:
        return bz2.BZ2Decompressor
    if member.compress_type == zipfile.ZIP_LZMA:
        return partial(_zip_lzma, packed, member)
    raise NotImplementedError(f"{member.filename!r} is packed in a way that is not read")


def _zip_lzma(packed: IO[bytes], member: zipfile.ZipInfo) -> Decompressor:
    """What unpacks LZMA in a zip file, which is the older format of LZMA with another header."""
    header = packed.read(9)
    size = -1 if member.flag_bits & 2 else member.file_size
    unpacker = unpack_xz()
    unpacker.decompress(header[4:] + struct.pack("<q", size), 0)
    return unpacker


def read_zip(
    content: IO[bytes], name: object, most: int, members: int, expected: str
) -> list[tuple[str, bytes]]:
    """Names and contents of a zip file's members: so many at most, of ``most`` bytes together.

    Raises
    ------
    InputError
        If there are more of them, or as many as the file's size does not explain.
    zipfile.BadZipFile and others of ARCHIVE_ERRORS
        If it is damaged.
    """
    with _opened_zip(content) as archive:
        if len(archive.infolist()) > members:
            raise zipfile.BadZipFile(f"{len(archive.infolist())} members")
        limit = min(most, max(1 << 25, RATIO * content.seek(0, os.SEEK_END)))
        budget = Budget(name, limit, expected)
        return [
            (member, b"".join(iter(partial(stream.read, PIECE), b"")))
            for member, stream in _zip_streams(archive, budget)
        ]
