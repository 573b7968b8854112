"""The catalog of factor sets: the shipped sets and the user's own."""

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from ir_std._system import files
from ir_std.errors import InputError, UnknownSetError, UsageError, suggestion, warn_caller
from ir_std.factors.factor_set import FactorSet
from ir_std.factors.store import LARGEST, SUFFIX, check_suffix

Factors: TypeAlias = FactorSet | str | os.PathLike[str]
"""A factor set, its id, or the path of its file."""

INDEX = "index.json"
"""File name of the index of the shipped sets.  With the index, most sets are ruled out before their
files are read."""

Entry: TypeAlias = Mapping[str, Any]
"""The index entry of a set.  The entry has the fields ``topics``, ``ir_datasets``, ``unit``,
``main_set`` and ``sha256`` (the hash of the set's file).  ``topics`` maps each topic to its number
of relevant documents, or to None if the number is unknown or the topic is a whole dataset."""

Version: TypeAlias = tuple[int, int, int]
"""Modification time, size and inode of a file, which show whether the file has changed."""


@lru_cache(maxsize=1)
def shipped_folder() -> Path:
    """Return the folder of the shipped sets, in an installed package or a checkout."""
    package = Path(__file__).parent.parent
    inside = package / "_factors"
    return inside if inside.is_dir() else package.parent / "factors"


@lru_cache(maxsize=1)
def data_version() -> str:
    """Return the version of the shipped sets: the year and month of the last change."""
    return (shipped_folder() / "VERSION").read_text(encoding="utf-8").strip()


def user_folders() -> list[Path]:
    """Return the user's folders of sets.

    The folders in the environment variable ``IR_STD_FACTORS`` come first, then the folder in the
    user's data folder, if it exists.
    """
    own = data_folder()
    return environment_folders() + ([own] if os.path.isdir(own) else [])


def environment_folders() -> list[Path]:
    """Return the folders named by the environment variable ``IR_STD_FACTORS``."""
    named = os.environ.get("IR_STD_FACTORS", "").split(os.pathsep)
    return [Path(name) for name in named if name]


def data_folder() -> Path:
    """Return the folder of sets in the user's data folder."""
    from platformdirs import user_data_path  # slow, and `import ir_std` does not need it

    return user_data_path("ir_std", appauthor=False) / "factors"


def writable_folder() -> Path:
    """Return the folder to which sets are added.

    Sets are added to the first folder in ``IR_STD_FACTORS``.  If that variable names no folder,
    sets are added to the folder in the user's data folder.
    """
    return next(iter(environment_folders()), None) or data_folder()


class SetVersion(NamedTuple):
    """The id of a set, the set's file, and the current version of this file.

    The version of a shipped set is None, because such a set changes only with the installation.
    """

    name: str
    file: str
    version: Version | None


def version_of(file: str | os.PathLike[str]) -> Version | None:
    """Return the version of a set's file; None if there is no such file."""
    try:
        found = os.stat(file)  # noqa: PTH116 - called for each set on each recognition
    except (OSError, ValueError):
        return None
    if not os.fspath(file).endswith(SUFFIX) or not os.path.isfile(file):
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def known_sets() -> tuple[SetVersion, ...]:
    """Return all factor sets, sorted by name.

    The name of a set is its ``id``.  If a user's set has the same id as a shipped set, ir_std uses
    the shipped set and warns about the user's set.  If two of the user's sets have the same id,
    ir_std uses the first one and warns about the second one.  Broken sets are skipped with a
    warning.

    Raises
    ------
    InputError
        If ``IR_STD_FACTORS`` names a folder that does not exist or cannot be read.
    """
    root = shipped_folder()
    sets = {
        name: SetVersion(name, os.path.join(root, name + SUFFIX), None) for name in _index(root)
    }
    for folder in user_folders():
        for file in _files_in(folder):
            version = version_of(file)
            assert version
            try:
                name = _load(file, version).id
            except InputError as broken:
                _warn_once(version, f"a factor set is skipped: {broken}")
                continue
            first = sets.setdefault(name, SetVersion(name, file, version))
            if first.file != file:
                _warn_once(
                    version,
                    f"two factor sets have the ID {name!r}, and ir_std uses {first.file}; to use "
                    f"{file}, pass its path or give it another ID",
                )
    return tuple(sorted(sets.values()))


@lru_cache(maxsize=1)
def _index(root: Path) -> Mapping[str, Mapping[str, Any]]:
    file = root / INDEX
    listed: Mapping[str, Mapping[str, Any]] = json.loads(file.read_bytes()) if file.exists() else {}
    return listed


def index_entry(factors: FactorSet) -> dict[str, Any]:
    """Return the index entry of a set, except the hash of its file."""
    names = dict.fromkeys([*factors.topics, *factors.info.get("aliases", ())])
    return {
        "unit": factors.info.get("unit", "topic"),
        "main_set": factors.info.get("main_set"),
        "ir_datasets": list(factors.info.get("ir_datasets", ())),
        "topics": names if factors.of_datasets else dict(factors.n_rel),
    }


def file_hash(file: Path) -> str:
    """Return the SHA-256 of a file."""
    import hashlib  # slow, and recognition does not need it

    return hashlib.sha256(file.read_bytes()).hexdigest()


def _files_in(folder: Path) -> list[str]:
    expected = "set IR_STD_FACTORS to folders of factor sets"
    if not os.path.lexists(folder):
        raise InputError.at(folder, "no such folder", expected)
    with files.wrap_os_errors(folder, "cannot be read", expected), os.scandir(folder) as entries:
        # This call raises an error if the files in the folder cannot be accessed.  A Path would
        # drop the dot.
        os.stat(os.path.join(folder, "."))  # noqa: PTH116
        return sorted(e.path for e in entries if version_of(e.path) and not e.name.startswith("."))


_warned: set[object] = set()


def _warn_once(version: object, message: str) -> None:
    """Warn the caller, unless this version of the set has already caused a warning."""
    if version not in _warned:
        _warned.add(version)
        warn_caller([message])


def available_factors() -> list[str]:
    """Return the sorted ids of all factor sets, both shipped sets and the user's own.

    Examples
    --------
    >>> [name for name in ir_std.available_factors() if name.startswith("dl20")]
    ['dl20-passage', 'dl20-passage-modern', 'dl20-passage-umbrela']
    """
    return [each.name for each in known_sets()]


def load_factors(
    name: str | os.PathLike[str], *, systems: Iterable[str] | str | os.PathLike[str] | None = None
) -> FactorSet:
    """Load a factor set.

    Parameters
    ----------
    name : str or path
        The id of a set (``"trec8-adhoc"``), or the path of a set's file.
    systems : iterable of str, or a file, optional
        Names of systems; the factors are then computed from the scores of these systems.  The set
        must name its systems.  A file has one name per line.

    Raises
    ------
    UnknownSetError
        (a LookupError) if there is no such set; the message suggests sets with similar names.
    InputError
        (a ValueError) if the set is broken; the message names the file and the problem.
    UsageError
        (a ValueError) if ``name`` is neither a string nor a path.

    Examples
    --------
    >>> factors = ir_std.load_factors("trec8-adhoc")
    >>> factors.title, factors.n_systems["AP"], len(factors.topics)
    ('TREC-8 ad hoc', 129, 50)
    """
    if not isinstance(name, (str, os.PathLike)):
        raise UsageError(
            f"expected a factor set, its ID or the path of its file, got {type(name).__name__}"
        )
    if systems is not None:
        from ir_std.factors.derived import select_systems  # rarely needed

        return select_systems(load_factors(name), systems)
    sets = {each.name: each for each in known_sets()} if isinstance(name, str) else {}
    if name in sets:
        return _load(*sets[os.fspath(name)][1:])
    if (version := version_of(name)) or files.path_may_exist(name):
        return _load(os.fspath(name), version)
    raise UnknownSetError(
        f"unknown factor set {os.fspath(name)!r}; name one that `ir_std factors` lists, or the "
        f"path of a set's file{suggestion(str(name), sets)}"
    )


@lru_cache(maxsize=256)
def _load(file: str, version: Version | None) -> FactorSet:
    return FactorSet.load(file, check_info=version is not None)


def described_sets(
    sets: tuple[SetVersion, ...], wanted: Callable[[Entry], bool]
) -> Iterator[FactorSet]:
    """Yield the sets whose index entries pass the check ``wanted``.

    A broken set is skipped with a warning, so that the other sets can still be used.
    """
    for name, file, version in sets:
        try:
            if version is None:
                entry = _index(shipped_folder())[name]
            else:
                entry = index_entry(_load(file, version))
            if wanted(entry):
                yield _load(file, version)
        except InputError as broken:
            _warn_once(version, f"the factor set {name} is skipped: {broken}")


def is_shipped(factors: FactorSet) -> bool:
    """Check whether a set came with ir_std."""
    return factors.path is not None and factors.path.parent == shipped_folder()


def is_usable(factors: FactorSet) -> bool:
    """Check whether one of the user's sets can be used, and warn if it cannot."""
    try:
        factors.verify()
    except InputError as broken:
        _warn_once(factors.path, f"the factor set {factors.id} is skipped: {broken}")
        return False
    return True


def check_set(path: str | os.PathLike[str]) -> list[str]:
    """List the problems of a factor set's file; the list is empty if the file can be used."""
    try:
        FactorSet.load(path).verify()
    except InputError as broken:
        return [str(broken)]
    return []


def sibling_sets(factors: FactorSet) -> list[FactorSet]:
    """Return the sets that have different systems on the same topics as this set."""
    return list(described_sets(known_sets(), lambda one: one["main_set"] == factors.id))


def check_new_set(
    file: str | os.PathLike[str], inputs: Iterable[str | os.PathLike[str]], force: bool
) -> None:
    """Check that a new set may be written to a file.

    Raises
    ------
    InputError
        If the name does not end with ``.npz``, the file is one of the inputs, or the file exists
        and ``force`` is False.
    """
    check_suffix(file)
    files.check_output(file, inputs, new=not force)


# -- sets that people exchange -------------------------------------------------------------------

_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._+-]{0,198}[A-Za-z0-9_+-])?")
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)", re.IGNORECASE)


def add_set(source: str) -> FactorSet:
    """Check a set's file and copy it to the user's folder.

    Parameters
    ----------
    source : str
        The path of a file, or its URL with its hash: ``https://...#sha256=HEX``.

    Returns
    -------
    FactorSet
        The set, loaded from the user's folder.

    Raises
    ------
    InputError
        If the file is broken or does not have the given hash, or a set with the same id already
        exists.
    UsageError
        If a URL has no hash.
    """
    content = fetch(source) if "://" in source else files.read_bounded(source, LARGEST)
    factors = FactorSet.parse(content, source)
    factors.verify()
    name = factors.id
    problem = ""
    if not _NAME.fullmatch(name) or _DEVICE.match(name):
        problem = f"the set's ID {name[:100]!r} is not a valid file name on all systems"
    elif name in _index(shipped_folder()):
        problem = f"a set that comes with ir_std already has the ID {name!r}"
    if problem:
        advice = "its author must choose another ID (letters, digits and ._+-)"
        raise InputError.at(source, problem, advice)
    target = writable_folder() / f"{name}{SUFFIX}"
    with files.wrap_os_errors(
        target.parent, "cannot be written", "set IR_STD_FACTORS to another folder"
    ):
        target.parent.mkdir(parents=True, exist_ok=True)
        if os.path.lexists(target):
            raise InputError.at(
                target, "exists already", f"remove it first with `ir_std factors remove {name}`"
            )
    files.write_atomically(target, content)
    return load_factors(target)


def remove_set(name: str) -> Path:
    """Remove a set from the user's folders, and return the path of the removed file.

    Raises
    ------
    UnknownSetError
        If the user has no set of that id.
    InputError
        If the set's file cannot be removed.
    """
    own = {
        Path(file).name.removesuffix(SUFFIX): Path(file)
        for folder in reversed(user_folders())
        for file in _files_in(folder)
    }
    if name not in own:
        available = f"available: {', '.join(sorted(own))}" if own else "you have added none"
        raise UnknownSetError(f"you have no set named {name!r}; {available}{suggestion(name, own)}")
    with files.wrap_os_errors(own[name], "cannot be removed", "check that you can write there"):
        own[name].unlink()
    return own[name]


LONGEST_DOWNLOAD = 600
"""Maximum number of seconds that a download may take."""


def fetch(source: str) -> bytes:
    """Return the content of ``URL#sha256=HEX``.

    Raises
    ------
    InputError
        If the file cannot be downloaded, is too large, or does not have the given SHA-256.
    UsageError
        If the URL does not begin with http or https, or has no hash.
    """
    import hashlib  # slow, and recognition does not need it
    from urllib.parse import urlsplit

    place, _, sha256 = source.partition("#sha256=")
    try:
        scheme = urlsplit(place).scheme
    except ValueError as wrong:
        raise UsageError(f"{place}: {wrong}; give an http or https address") from None
    if scheme not in ("http", "https"):
        raise UsageError(f"{place}: only http and https are supported")
    if not re.fullmatch("[0-9a-f]{64}", sha256):
        raise UsageError(
            f"{place} has no SHA-256; write URL#sha256=HEX with the SHA-256 that the set's author "
            "sees in `ir_std factors show FILE`"
        )
    try:
        content = _in_time(place, partial(_download, place))
    except (OSError, ValueError) as failed:
        if isinstance(failed, InputError):
            raise
        raise InputError.at(
            place, f"cannot be downloaded ({failed})", "check the address"
        ) from None
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise InputError.at(place, f"has the SHA-256 {found}", f"expected {sha256}")
    return content


def _download(place: str) -> bytes:
    """Return the content of a URL, which may have at most :data:`LARGEST` bytes."""
    import requests  # slow, and few users add sets from a URL

    content = bytearray()
    with requests.get(place, stream=True, timeout=60) as response:
        response.raise_for_status()
        for part in response.iter_content(1 << 16):
            content += part
            if len(content) > LARGEST:
                raise InputError.at(
                    place,
                    f"is larger than {LARGEST:,} bytes",
                    "expected the file of one factor set",
                )
    return bytes(content)


def _in_time(place: str, download: Callable[[], bytes]) -> bytes:
    """Call ``download`` with a time limit, because a server may send very slowly."""
    from concurrent.futures import Future, TimeoutError
    from threading import Thread

    found: Future[bytes] = Future()

    def work() -> None:
        try:
            found.set_result(download())
        except Exception as failed:  # this is raised again when the result is read
            found.set_exception(failed)

    Thread(target=work, daemon=True).start()
    try:
        return found.result(LONGEST_DOWNLOAD)
    except TimeoutError:
        raise InputError.at(
            place,
            f"takes more than {LONGEST_DOWNLOAD} seconds",
            "download it yourself and add the file",
        ) from None
