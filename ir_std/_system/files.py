"""Files out: whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from io import TextIOBase
from pathlib import Path
from typing import IO, Any

from ir_std._system.signals import cleanup_on_exit, signals_blocked
from ir_std._system.text import escape_line
from ir_std.errors import InputError


def read_bounded(
    file: str | os.PathLike[str], most: int, expected: str = "name a readable file"
) -> bytes:
    """The content of a file of at most ``most`` bytes; of a device or a pipe no more is read.

    Raises
    ------
    InputError
        If it cannot be read or is larger.
    """
    try:
        with Path(file).open("rb") as stream:
            content = stream.read(most + 1)
    except (OSError, ValueError) as failed:  # a ValueError of a name with a zero in it
        reason = getattr(failed, "strerror", None) or str(failed)
        raise InputError.at(escape_line(f"{file}"), None, reason, expected) from None
    if len(content) > most:
        raise InputError.at(file, None, f"has more than {most:,} bytes", expected)
    return content


def write_atomically(
    file: str | os.PathLike[str] | IO[Any],
    content: bytes,
    inputs: Iterable[str | os.PathLike[str]] = (),
) -> None:
    """Write a file that appears whole or not at all; an older one is replaced.

    Parameters
    ----------
    file : str, path or open file
        An open one gets the content, as text if it is one of text.
    content : bytes
    inputs : iterable of str or path
        Files that must not be replaced.

    Raises
    ------
    InputError
        If ``file`` is one of the inputs or no regular file, or cannot be written.
    """
    if not isinstance(file, (str, os.PathLike)):
        file.write(content.decode() if isinstance(file, TextIOBase) else content)
        return
    check_output(file, inputs)
    target = Path(file).resolve()
    try:
        with temporary_folder_beside(target) as scratch:
            part = scratch / "part"
            part.write_bytes(content)
            part.replace(target)
    except OSError as failed:
        raise InputError.at(
            file,
            None,
            f"cannot be written ({failed.strerror or failed})",
            "name a file in a folder that can be written to",
        ) from None


@contextmanager
def temporary_folder_beside(target: Path) -> Iterator[Path]:
    """A hidden folder beside ``target``, removed in the end, also if a signal ends the program."""
    with ExitStack() as stack:
        with signals_blocked():
            folder = tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name[:99]}.")
            stack.enter_context(cleanup_on_exit(partial(shutil.rmtree, folder, ignore_errors=True)))
        yield Path(folder)


def check_output(
    file: str | os.PathLike[str] | IO[Any],
    inputs: Iterable[str | os.PathLike[str]] = (),
    mark: bytes = b"",
    *,
    new: bool = False,
) -> None:
    """Refuse to replace what must stay.

    Parameters
    ----------
    file : str, path or open file
        May be missing.  An open one may always be written to.
    inputs : iterable of str or path
        Files that must not be replaced.
    mark : bytes
        What the first kilobyte must hold of a file that may be replaced, unless it is empty.
    new : bool
        Whether none may be replaced that is not empty.

    Raises
    ------
    InputError
        If it is one of the inputs, no regular file, without the mark, or not new.
    """
    if not isinstance(file, (str, os.PathLike)):
        return
    target = Path(file).resolve()
    if target in {Path(name).resolve() for name in inputs}:
        raise InputError.at(file, None, "is one of the inputs", "name a new file")
    if target.exists() and not target.is_file():
        raise InputError.at(file, None, "is not a regular file", "name a new file")
    if new and target.exists() and target.stat().st_size:
        raise InputError.at(
            file, None, "is there already", "name a new file, or replace it with --force"
        )
    if mark and target.exists():
        with target.open("rb") as stream:
            start = stream.read(1024)
        if start and mark not in start:
            raise InputError.at(
                file,
                None,
                "is there already, and ir_std did not write it",
                "name a new file, or replace it with --force (force=True)",
            )
