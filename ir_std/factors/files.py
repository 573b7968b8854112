"""The folder of a factor set: read in one piece, replaced in one piece.

A new set is written beside the old one; then the old folder is renamed to ``.NAME.old``, the new
one to ``NAME``, and the old one is removed.  Whoever finds no ``NAME`` reads ``.NAME.old``: so at
every instant one whole set is there, also if the program was killed between two of these steps.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Container, Iterable
from pathlib import Path

from ir_std._system.files import errors_of, keep_mode, temporary_folder_beside
from ir_std._system.signals import signals_blocked
from ir_std.errors import InputError

FILES = ("set.json", "topics.csv", "mean.csv", "sd.csv")
"""The files that every set has."""
DESCRIPTION = FILES[:2]
"""Those of them that describe a set."""
OPTIONAL_FILES = ("scores.npz", "systems.npz", "means.npz", "earlier.npz", "cells.npz")
"""The files of sets whose systems' scores, or means, are known; of residual collections; and, in
place of scores and systems, of sets of many data sets."""

LARGEST = 1 << 28
"""The most bytes of a file."""
ATTEMPTS = 100
"""How often a folder that changes while it is read is read again."""
LOOKS = 10
"""How often a set is looked for: one look may fall between two replacements, at the old place when
the set is at the new one and the other way round."""

Version = tuple[tuple[str, int, int, int], ...]
"""Names, times, sizes and places on disk of a set's files: changes whenever one of them does."""


def _older(folder: str | os.PathLike[str]) -> Path:
    place = Path(os.path.abspath(folder))
    return place.with_name(f".{place.name}.old") if place.name else place / ".old"


def _listing(folder: str | os.PathLike[str]) -> Version:
    try:
        with os.scandir(folder) as entries:
            stats = [
                (e.name, e.stat())
                for e in entries
                if e.name in (*FILES, *OPTIONAL_FILES) and e.is_file()
            ]
    except (OSError, ValueError):  # no folder, not ours to read, or just being replaced
        return ()
    version = tuple(sorted((name, s.st_mtime_ns, s.st_size, s.st_ino) for name, s in stats))
    return version if any(name == "set.json" for name, *_ in version) else ()


def _locate(folder: str | os.PathLike[str]) -> tuple[str | os.PathLike[str], Version]:
    """Where the files of a set are now, and their state; empty if there is no set."""
    for _ in range(LOOKS):
        if listing := _listing(folder):
            return folder, listing
        if listing := _listing(older := _older(folder)):
            return older, listing
    return folder, ()


def set_files(folder: Path | None) -> list[Path]:
    """The paths of a set on disk, which nothing that is made of it may replace."""
    return [folder / name for name in (*FILES, *OPTIONAL_FILES)] if folder else []


def version_of(folder: str | os.PathLike[str]) -> Version:
    """The state of a set's files; empty if there is no set."""
    return _locate(folder)[1]


def subfolder_names(folder: str | os.PathLike[str]) -> list[str]:
    """The names of the folders in which a set may be."""
    with os.scandir(folder) as entries:
        names = {e.name for e in entries if e.is_dir()}
    return sorted(
        {
            name[1:-4] if name.startswith(".") and name.endswith(".old") else name
            for name in names
            if not name.startswith(".") or name.endswith(".old")
        }
    )


def snapshot(
    folder: str | os.PathLike[str], names: Container[str] = FILES + OPTIONAL_FILES
) -> dict[str, bytes]:
    """The contents of a set's files, or those of these names, all of one version.

    Raises
    ------
    InputError
        If a file is missing, too large or cannot be read, or the folder keeps changing.
    """
    for attempt in range(ATTEMPTS):
        place, before = _locate(folder)
        if not before:
            raise InputError.at(
                folder, "set.json is missing", f"a factor set holds {', '.join(FILES)}"
            )
        contents = _contents(place, before, names)
        if contents is not None and _listing(place) == before:
            _check_whole(folder, before)
            return contents
        time.sleep(min(0.001 * attempt, 0.02))
    raise InputError.at(folder, "changes while it is read", "try again when it is written")


def _contents(
    place: str | os.PathLike[str], listing: Version, names: Container[str]
) -> dict[str, bytes] | None:
    """Files of a listing; None if one is gone."""
    contents = {}
    for name, _, size, _ in listing:
        if name not in names:
            continue
        file = Path(place, name)
        if size > LARGEST:
            raise InputError.at(file, f"has {size} bytes", f"at most {LARGEST} are read")
        try:
            contents[name] = file.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as failed:
            raise InputError.at(
                file, failed.strerror or str(failed), "a readable file is expected"
            ) from None
    return contents


def _check_whole(folder: object, listing: Version) -> None:
    for name in FILES:
        if all(name != there for there, *_ in listing):
            raise InputError.at(
                folder, f"{name} is missing", f"a factor set holds {', '.join(FILES)}"
            )


def check_set_target(
    path: str | os.PathLike[str], inputs: Iterable[str | os.PathLike[str]] = (), force: bool = True
) -> Path:
    """The path, if a factor set may be written there.

    Parameters
    ----------
    path : str or path
    inputs : iterable of str or path
        Files and folders that must stay.
    force : bool
        Whether an older set may be replaced.

    Raises
    ------
    InputError
        If the place is taken by something that is not a factor set and nothing else, by a set
        that must not be replaced, or holds an input.
    """
    target = Path(path)
    with errors_of(path, "cannot be written", "name a new folder"):
        _check_place(target, inputs, force)
    return target


def _check_place(target: Path, inputs: Iterable[str | os.PathLike[str]], force: bool) -> None:
    place = target.resolve()
    for given in inputs:
        read = Path(os.path.realpath(given))
        if os.path.exists(given) and (place == read or place in read.parents):
            raise InputError.at(
                target, f"holds {os.fspath(given)}, which is read", "name a new folder"
            )
    if not target.exists() and not target.is_symlink():
        return
    if not target.is_dir() or not (target / "set.json").is_file():
        raise InputError.at(target, "exists and is not a factor set", "name a new folder")
    _refuse_other_files(target, "only a set's own files are replaced: name a new folder")
    if not force:
        raise InputError.at(
            target, "holds a factor set already", "name a new folder, or add --force to replace it"
        )


def _refuse_other_files(folder: Path, advice: str) -> None:
    others = sorted({part.name for part in folder.iterdir()} - {*FILES, *OPTIONAL_FILES})
    if others:
        raise InputError.at(folder, f"holds {others[0]!r} beside a factor set", advice)


def remove_set(folder: Path) -> None:
    """Remove a set's folder; of a link to one the link alone.

    Raises
    ------
    InputError
        If the folder holds other files too, or cannot be removed.
    """
    with errors_of(folder, "cannot be removed", "see that you may write there"):
        if folder.is_symlink():
            folder.unlink()
            return
        _refuse_other_files(folder, "only a set's own files are removed: move the others first")
        with temporary_folder_beside(folder) as scratch:
            # Moved away whole: where that is not allowed, none of its files is lost.
            folder.rename(scratch / "set")


def replace_folder(path: str | os.PathLike[str], write: Callable[[Path], None]) -> None:
    """Let ``write`` fill a folder that appears whole or not at all; an older set is replaced.

    Raises
    ------
    InputError
        As :func:`check_set_target`, or if the folder cannot be written.
    """
    target = Path(os.path.realpath(check_set_target(path)))
    expected = "name a folder in a place that can be written to"
    with errors_of(path, "cannot be written", expected):
        target.parent.mkdir(parents=True, exist_ok=True)
        with temporary_folder_beside(target) as scratch:
            new = scratch / "set"
            new.mkdir()
            write(new)
            for file in new.iterdir():
                keep_mode(target / file.name, file)
            keep_mode(target, new)
            with signals_blocked():
                _replace(new, target)


def _replace(new: Path, target: Path) -> None:
    """Put a folder in another's place."""
    old = _older(target)
    try:
        if target.exists():
            _discard(old)  # what an earlier replacement left that was cut off
            target.rename(old)
        new.rename(target)
    except BaseException:
        if not target.exists() and old.exists():
            old.rename(target)
        raise
    _discard(old)


def _discard(folder: Path) -> None:
    """Remove a set, of a link the link alone.

    ``set.json`` goes first, so that no part of it is read as a set.
    """
    if folder.is_symlink():
        folder.unlink()
        return
    for name in (*FILES, *OPTIONAL_FILES):
        (folder / name).unlink(missing_ok=True)
    if folder.exists():
        folder.rmdir()
