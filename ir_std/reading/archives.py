"""Run files wherever they lie: single files, folders, and archives, which are read in memory."""

from __future__ import annotations

import lzma
import os
import tarfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import IO, Any

from ir_std.errors import InputError
from ir_std.reading.sources import (
    MAX_MEMBER,
    FileSource,
    Source,
    files_below,
    is_hidden,
    read_into_memory,
)

TAR_SUFFIXES = (".tar", ".tar.gz", ".tgz", ".tar.xz", ".txz", ".tar.bz2")
ZIP_SUFFIX = ".zip"
ARCHIVE_ERRORS = (
    zipfile.BadZipFile,
    tarfile.TarError,
    lzma.LZMAError,
    zlib.error,
    EOFError,
    OSError,
    RuntimeError,
)
"""What the standard library raises on archives that are truncated, damaged or encrypted."""


def run_sources(
    paths: Iterable[str | os.PathLike[str]], max_member: int = MAX_MEMBER
) -> Iterator[Source]:
    """The run files at ``paths``, one by one.

    Parameters
    ----------
    paths : iterable of str or path
        Run files, folders (every file below them, by name) and archives: ``.tar``, also
        compressed as ``.gz``, ``.xz`` or ``.bz2``, and ``.zip``.  Archives are read member by
        member as they are asked for; nothing is unpacked to disk.  Hidden files are skipped.
    max_member : int
        Bytes that a packed file or a member of an archive may have.

    Yields
    ------
    Source
        A member of an archive is called ``archive.tar.xz!member``.

    Raises
    ------
    InputError
        If a path does not exist, an archive is broken, a member too large or no lines of text,
        or a path holds no file.
    """
    for path in map(Path, paths):
        is_empty = True
        for source in _below(path, max_member):
            is_empty = False
            yield source
        if is_empty:
            raise InputError.at(path, None, "holds no files", "runs are expected in it")


def _below(path: Path, max_member: int) -> Iterator[Source]:
    if path.is_dir():
        for file in files_below(path):
            yield from _below(file, max_member)
    elif not path.exists():
        raise InputError.at(path, None, "no such file", "name a run, a folder or an archive")
    elif path.name.endswith((*TAR_SUFFIXES, ZIP_SUFFIX)):
        members = _zip_members if path.suffix == ZIP_SUFFIX else _tar_members
        try:
            for member, stream in members(path):
                if not is_hidden(PurePosixPath(member)):
                    yield read_into_memory(stream, f"{path}!{member}", max_member)
        except ARCHIVE_ERRORS as broken:
            raise InputError.at(
                path,
                None,
                f"cannot be read ({broken})",
                "an archive of runs is expected: copy it again",
            ) from None
    else:
        yield FileSource(path, max_member)


class _Member(tarfile.TarInfo):
    """A member of a tar file.  Python takes a damaged header for the end, and so drops the rest."""

    @classmethod
    def fromtarfile(cls, archive: tarfile.TarFile) -> Any:
        """The next one; an error where there is neither a header nor the mark of the end."""
        try:
            return super().fromtarfile(archive)
        except tarfile.EOFHeaderError:  # type: ignore[attr-defined]  # typeshed lacks it
            raise
        except tarfile.HeaderError as broken:
            raise tarfile.ReadError(str(broken)) from None


def _tar_members(path: Path) -> Iterator[tuple[str, IO[bytes]]]:
    with tarfile.open(path, "r|*", tarinfo=_Member) as archive:
        for member in archive:
            content = archive.extractfile(member) if member.isfile() else None
            if content is not None:
                yield member.name, content


def _zip_members(path: Path) -> Iterator[tuple[str, IO[bytes]]]:
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            if not member.is_dir():
                with archive.open(member) as content:
                    yield member.filename, content
