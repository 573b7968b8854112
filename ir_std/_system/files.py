"""Files out: whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from io import TextIOBase
from pathlib import Path
from stat import S_IMODE
from typing import IO, Any

from ir_std._system.signals import cleanup_on_exit, signals_blocked
from ir_std._system.text import escape_line
from ir_std.errors import InputError


def read_bounded(
    file: str | os.PathLike[str], most: int, expected: str = "name a readable file"
) -> bytes:
    """The content of a file of at most ``most`` bytes; of a device or a pipe no more is read."""
    with errors_of(file, "cannot be read", expected), Path(file).open("rb") as stream:
        content = stream.read(most + 1)
    if len(content) > most:
        raise InputError.at(file, f"has more than {most:,} bytes", expected)
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
    write_all_atomically({file: content}, inputs)


def write_all_atomically(
    contents: Mapping[str | os.PathLike[str], bytes], inputs: Iterable[str | os.PathLike[str]] = ()
) -> None:
    """Write files that belong together: all are replaced, or none.

    An older file keeps its mode, and its owner where that is allowed.  A link stays, and the file
    that it leads to is replaced.
    """
    for file in contents:
        check_output(file, inputs)
    with ExitStack() as stack:
        written: list[tuple[Path, Path]] = []
        for file, content in contents.items():
            with errors_of(file, "cannot be written", "name a file in a folder of your own"):
                target = Path(file).resolve()
                scratch = stack.enter_context(temporary_folder_beside(target))
                (scratch / "new").write_bytes(content)
                keep_mode(target, scratch / "new")
                written.append((scratch, target))
        with errors_of(file, "cannot be written", "name a file in a folder of your own"):
            _put_in_place(written)


def _put_in_place(written: list[tuple[Path, Path]]) -> None:
    """Rename the new files; if one cannot be, the older ones are put back."""
    undo = ExitStack()
    with signals_blocked(), undo:
        for scratch, target in written:
            if target.exists() and len(written) > 1:
                shutil.copy2(target, scratch / "old")
                undo.callback((scratch / "old").replace, target)
            elif len(written) > 1:
                undo.callback(target.unlink, missing_ok=True)
            (scratch / "new").replace(target)
        undo.pop_all()


def keep_mode(old: Path, new: Path) -> None:
    """Give a file or folder the mode of the one that it replaces, and the owner if that may be."""
    if not old.exists():
        return
    there, here = old.stat(), new.stat()
    if (there.st_uid, there.st_gid) != (here.st_uid, here.st_gid):
        with suppress(OSError, AttributeError):  # Windows has no owners
            os.chown(new, there.st_uid, there.st_gid)
    new.chmod(S_IMODE(there.st_mode))


@contextmanager
def errors_of(file: object, what: str, expected: str) -> Iterator[None]:
    """Turn what the system says of a file into an InputError."""
    try:
        yield
    except (OSError, RuntimeError, ValueError) as failed:
        # A RuntimeError of links in a circle, a ValueError of a name with a zero in it.
        if isinstance(failed, InputError):
            raise
        reason = getattr(failed, "strerror", None) or str(failed)
        raise InputError.at(shown_name(file), f"{what} ({reason})", expected) from None


def may_be_there(file: str | os.PathLike[str]) -> bool:
    """Whether there is such a file, link or folder, or it lies where the user may not look.

    A bare name in a working folder of that kind is more likely that of something else.
    """
    try:
        os.lstat(file)
    except PermissionError:
        return os.path.dirname(file) != ""
    except (OSError, ValueError):
        return False
    return True


def shown_name(file: object) -> str:
    """What messages call a file: on one line, and shortened."""
    name = escape_line(f"{file}")
    return name if len(name) < 400 else f"{name[:100]}... ({len(name)} characters)"


@contextmanager
def temporary_folder_beside(target: Path) -> Iterator[Path]:
    """A hidden folder beside ``target``, removed in the end, also if a signal ends the program."""
    with ExitStack() as stack:
        with signals_blocked():
            folder = tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name[:40]}.")
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
    with errors_of(file, "cannot be written", "name a file in a folder of your own"):
        _check_target(file, inputs, mark, new)


def _check_target(
    file: str | os.PathLike[str], inputs: Iterable[str | os.PathLike[str]], mark: bytes, new: bool
) -> None:
    target = Path(file).resolve()
    if target in {Path(os.path.realpath(name)) for name in inputs}:
        raise InputError.at(file, "is one of the inputs", "name a new file")
    if target.exists() and not target.is_file():
        raise InputError.at(file, "is not a regular file", "name a new file")
    if new and target.exists() and target.stat().st_size:
        raise InputError.at(file, "is there already", "name a new file, or replace it with --force")
    if mark and target.exists():
        with target.open("rb") as stream:
            start = stream.read(1024)
        if start and mark not in start:
            raise InputError.at(
                file,
                "is there already, and ir_std did not write it",
                "name a new file, or replace it with --force (force=True)",
            )
