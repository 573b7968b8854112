"""Write each file as a whole or not at all."""

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
    """Read a file; raise an error after ``most`` bytes, because a device or pipe may be endless."""
    with wrap_os_errors(file, "cannot be read", expected), Path(file).open("rb") as stream:
        content = stream.read(most + 1)
    if len(content) > most:
        raise InputError.at(file, f"has more than {most:,} bytes", expected)
    return content


def write_atomically(
    file: str | os.PathLike[str] | IO[Any],
    content: bytes,
    inputs: Iterable[str | os.PathLike[str]] = (),
) -> None:
    """Write a file as a whole or not at all, and replace an older file.

    Parameters
    ----------
    file : str, path or open file
        Where to write the content.  For an open text file, the content is decoded as text.
    content : bytes
    inputs : iterable of str or path
        Files that must not be replaced.

    Raises
    ------
    InputError
        If ``file`` is one of the inputs, is not a regular file, or cannot be written.
    """
    if not isinstance(file, (str, os.PathLike)):
        file.write(content.decode() if isinstance(file, TextIOBase) else content)
        return
    write_all_atomically({file: content}, inputs)


def write_all_atomically(
    contents: Mapping[str | os.PathLike[str], bytes], inputs: Iterable[str | os.PathLike[str]] = ()
) -> None:
    """Write files that belong together, so that either all or none of them are replaced.

    A new file gets the mode of the file that it replaces, and also the owner of that file if the
    system allows it.  If the name is a link, the link stays, and the target of the link is
    replaced.
    """
    for file in contents:
        check_output(file, inputs)
    with ExitStack() as stack:
        written: list[tuple[Path, Path]] = []
        for file, content in contents.items():
            with wrap_os_errors(file, "cannot be written", "name a file in a folder of your own"):
                target = Path(file).resolve()
                scratch = stack.enter_context(temporary_folder_next_to(target))
                (scratch / "new").write_bytes(content)
                keep_mode(target, scratch / "new")
                written.append((scratch, target))
        with wrap_os_errors(file, "cannot be written", "name a file in a folder of your own"):
            _put_in_place(written)


def _put_in_place(written: list[tuple[Path, Path]]) -> None:
    """Rename the new files; if a file cannot be renamed, put all older files back."""
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
    """Give a new file the mode and, if allowed, the owner of the file that it replaces."""
    if not old.exists():
        return
    old_stat, new_stat = old.stat(), new.stat()
    if (old_stat.st_uid, old_stat.st_gid) != (new_stat.st_uid, new_stat.st_gid):
        with suppress(OSError, AttributeError):  # Windows has no owners
            os.chown(new, old_stat.st_uid, old_stat.st_gid)
    new.chmod(S_IMODE(old_stat.st_mode))


@contextmanager
def wrap_os_errors(file: object, what: str, expected: str) -> Iterator[None]:
    """Convert the operating system's errors about a file to an InputError."""
    try:
        yield
    except (OSError, RuntimeError, ValueError) as failed:
        # Links in a circle raise a RuntimeError, and a name with a zero byte a ValueError.
        if isinstance(failed, InputError):
            raise
        reason = getattr(failed, "strerror", None) or str(failed)
        raise InputError.at(display_name(file), f"{what} ({reason})", expected) from None


def path_may_exist(file: str | os.PathLike[str]) -> bool:
    """Check whether a path exists or is in a folder that the user cannot access.

    If the working folder cannot be accessed, a name without a folder is assumed not to exist.
    """
    try:
        os.lstat(file)
    except PermissionError:
        return os.path.dirname(file) != ""
    except (OSError, ValueError):
        return False
    return True


def display_name(file: object) -> str:
    """Return a file's name for messages, on one line, and shortened if it is long."""
    name = escape_line(f"{file}")
    return name if len(name) < 400 else f"{name[:100]}... ({len(name)} characters)"


@contextmanager
def temporary_folder_next_to(target: Path) -> Iterator[Path]:
    """Make a hidden folder next to ``target``, and remove it at the end.

    The folder is removed even if a signal ends the program.
    """
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
    """Raise an error if a file must not be replaced.

    Parameters
    ----------
    file : str, path or open file
        File to check, which need not exist.  An open file always passes the check.
    inputs : iterable of str or path
        Files that must not be replaced.
    mark : bytes
        Bytes that must occur in the first kilobyte of an existing file, unless the file is empty.
    new : bool
        If True, an existing file may be replaced only if it is empty.

    Raises
    ------
    InputError
        If the file is one of the inputs, is not a regular file, lacks the mark, or exists and is
        not empty although ``new`` is True.
    """
    if not isinstance(file, (str, os.PathLike)):
        return
    with wrap_os_errors(file, "cannot be written", "name a file in a folder of your own"):
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
        raise InputError.at(file, "file exists", "name a new file, or overwrite it with --force")
    if mark and target.exists():
        with target.open("rb") as stream:
            start = stream.read(1024)
        if start and mark not in start:
            raise InputError.at(
                file,
                "file exists and was not written by ir_std",
                "choose another name, or overwrite it with --force (force=True)",
            )
