"""Factor sets to share: packed into one file, verified, and kept in the user's own folder.

A pack is a zip file of one set's files and ``pack.json``, which has their sizes and SHA-256.  It is
data only: members are read by their known names into memory, bounded, and written under those
names after the set was checked; nothing else of an archive is used.  A registry is an
``index.json`` of packs beside them, at a URL or on disk::

    {"format": 1, "packs": {"SET": {"file": "SET.zip", "bytes": 123, "sha256": "..."}}}
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import urljoin
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from ir_std._system.files import (
    errors_of,
    read_bounded,
    temporary_folder_beside,
    write_atomically,
)
from ir_std.errors import InputError, UnknownSetError, suggestion
from ir_std.factors.catalog import (
    check_set,
    load_factors,
    shipped_folder,
    user_folders,
    writable_folder,
)
from ir_std.factors.download import fetch, is_url
from ir_std.factors.factor_set import FactorSet
from ir_std.factors.files import FILES, OPTIONAL_FILES, remove_set, set_files, snapshot
from ir_std.factors.storage import parse_json
from ir_std.reading import ARCHIVE_ERRORS, brief, read_zip

MANIFEST = "pack.json"
INDEX = "index.json"
FORMAT = 1
LARGEST = 1 << 26
"""The most bytes of a pack, and of its files unpacked (64 MiB)."""
_MEMBERS = len((MANIFEST, *FILES, *OPTIONAL_FILES))
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._+-]{0,198}[A-Za-z0-9_+-])?")
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)", re.IGNORECASE)


def pack(factors: FactorSet, file: str | os.PathLike[str]) -> None:
    """Write a set as a pack; the same set gives the same bytes.

    Raises
    ------
    InputError
        If the set is not sound, is not on disk, or the file cannot be written.
    """
    if factors.path is None:
        raise InputError.at(factors.id, "is not on disk", "save it first")
    _check_usable(factors.path)
    name = _safe_name(factors.id, factors.path)
    contents = snapshot(factors.path)
    manifest = {
        "format": FORMAT,
        "id": name,
        "title": factors.title,
        "files": {part: _facts(content) for part, content in contents.items()},
    }
    archive = BytesIO()
    with ZipFile(archive, "w") as out:
        for part, content in {MANIFEST: _json(manifest), **contents}.items():
            member = ZipInfo(f"{name}/{part}")
            member.compress_type, member.create_system = ZIP_DEFLATED, 3
            member.external_attr = 0o644 << 16
            out.writestr(member, content)
    write_atomically(file, archive.getvalue(), set_files(factors.path))


def index(packs: Iterable[str | os.PathLike[str]], file: str | os.PathLike[str]) -> None:
    """Write the ``index.json`` of packs that lie beside it.

    Raises
    ------
    InputError
        If a pack is broken, lies elsewhere, or two are of one set.
    """
    entries: dict[str, dict[str, Any]] = {}
    for path in map(Path, packs):
        if _folder_of(path) != _folder_of(file):
            raise InputError.at(
                path,
                f"is not beside {os.fspath(file)}",
                "an index lists the packs of its own folder",
            )
        content = read_bounded(path, LARGEST)
        name = unpack(content, path)[0]
        if name in entries:
            raise InputError.at(path, f"is {name} again", "one pack a set")
        entries[name] = {"file": path.name, **_facts(content)}
    write_atomically(file, _json({"format": FORMAT, "packs": entries}))


def _folder_of(file: str | os.PathLike[str]) -> str:
    with errors_of(file, "cannot be read", "name a file"):
        return os.path.dirname(os.path.realpath(file))


def add(source: str) -> FactorSet:
    """Verify a pack and put its set into the user's folder.

    Parameters
    ----------
    source : str
        The path or URL of a pack; or of a registry, with ``#`` and the set's id.

    Returns
    -------
    FactorSet
        The set where it is now.

    Raises
    ------
    InputError
        If the pack is broken, is not what its hashes say, is not sound, or a set of that id is
        there already.
    UnknownSetError
        If the registry does not have the set.
    UsageError
        If a URL is given and pooch is not installed, or no folder is known to add to.
    """
    registry, _, wanted = source.partition("#")
    content, where = (
        _from_registry(registry, wanted) if wanted else (fetch(source, LARGEST), source)
    )
    name, files = unpack(content, where)
    if wanted and name != wanted:
        raise InputError.at(where, f"holds {name!r}", f"{wanted!r} is expected")
    if (shipped_folder() / name).exists():
        raise InputError.at(
            where,
            f"its set is called {name!r}, as one that comes with ir_std",
            "its author has to give it another id",
        )
    target = writable_folder() / name
    with errors_of(target.parent, "cannot be written", "name a folder with IR_STD_FACTORS"):
        _refuse_present(target)
        target.parent.mkdir(parents=True, exist_ok=True)
        with temporary_folder_beside(target) as scratch:
            new = scratch / name
            new.mkdir()
            for part, data in files.items():
                (new / part).write_bytes(data)
            _check_usable(new, where)
            if (own_id := FactorSet.load(new).id) != name:
                raise InputError.at(
                    where, f"set.json says {own_id!r}", f"{name!r} is expected, as in {MANIFEST}"
                )
            try:
                new.rename(target)
            except OSError:
                _refuse_present(target)  # another process has added it in between
                raise
    return load_factors(target)


def _refuse_present(target: Path) -> None:
    if os.path.lexists(target):
        raise InputError.at(
            target, "is there already", f"remove it first: ir_std factors remove {target.name}"
        )


def remove(name: str) -> Path:
    """Remove a set from the user's folders, and say where it was.

    Raises
    ------
    UnknownSetError
        If the user has no set of that id.
    InputError
        If it cannot be removed.
    """
    own: dict[str, Path] = {}
    for root in filter(os.path.isdir, reversed(user_folders())):
        with errors_of(root, "cannot be read", "name folders of factor sets with IR_STD_FACTORS"):
            own |= {p.name: p for p in root.iterdir() if os.path.isfile(p / "set.json")}
    if name not in own:
        there = f"you have {', '.join(sorted(own))}" if own else "you have none of your own"
        raise UnknownSetError(f"no set {name!r} of your own{suggestion(name, own)}; {there}")
    folder = own[name]
    remove_set(folder)
    return folder


def unpack(content: bytes, where: object) -> tuple[str, dict[str, bytes]]:
    """A pack's set id and files, as its hashes say.

    Raises
    ------
    InputError
        If it is no pack, too large, or holds anything but a set's files.
    """
    try:
        members = read_zip(
            BytesIO(content), where, LARGEST, _MEMBERS, "a pack holds one factor set"
        )
    except ARCHIVE_ERRORS as broken:
        raise InputError.at(
            where, f"is no zip file ({brief(broken)})", "a pack is made by ir_std factors pack"
        ) from None
    contents = dict(members)
    if len(contents) < len(members):
        raise InputError.at(where, "has a member twice", "each file is there once")
    manifests = [name for name in contents if name.endswith(f"/{MANIFEST}")]
    if len(manifests) != 1:
        raise InputError.at(where, f"has no {MANIFEST}", "a pack is made by ir_std factors pack")
    manifest = _object(contents[manifests[0]], where, "id", "files")
    name = _safe_name(manifest["id"], where)
    files = {
        part: contents.pop(f"{name}/{part}")
        for part in (*FILES, *OPTIONAL_FILES)
        if f"{name}/{part}" in contents
    }
    foreign = sorted(set(contents) - {f"{name}/{MANIFEST}"})
    if foreign:
        raise InputError.at(
            where, f"holds {foreign[0][:100]!r}", f"only {name}/ and a set's files are allowed"
        )
    if {part: _facts(data) for part, data in files.items()} != manifest["files"]:
        raise InputError.at(
            where,
            f"its files are not what {MANIFEST} says",
            "it was damaged or changed: get it again",
        )
    return name, files


def _from_registry(registry: str, name: str) -> tuple[bytes, str]:
    place = registry if registry.endswith(".json") else f"{registry.rstrip('/')}/{INDEX}"
    entries = _object(fetch(place, LARGEST), place, "packs")["packs"]
    if not isinstance(entries, dict) or name not in entries:
        raise UnknownSetError(
            f"{place} has no set {name!r}{suggestion(name, entries)}; it has "
            f"{', '.join(map(str, entries)) or 'none'}"
        )
    entry = entries[name]
    if not isinstance(entry, dict) or not re.fullmatch("[0-9a-f]{64}", str(entry.get("sha256"))):
        raise InputError.at(place, f"{name} has no sha256", "file, bytes and sha256")
    file = _safe_name(entry.get("file"), place)
    where = urljoin(place, file) if is_url(place) else os.fspath(Path(place).parent / file)
    content = fetch(where, LARGEST, entry["sha256"])
    if hashlib.sha256(content).hexdigest() != entry["sha256"]:
        raise InputError.at(
            where, f"is not what {place} says", "its SHA-256 is another: it was damaged or changed"
        )
    return content, where


def _object(content: bytes, where: object, *fields: str) -> Mapping[str, Any]:
    """A JSON object of this format that has some fields."""
    value = parse_json(content, where)
    if (
        not isinstance(value, dict)
        or value.get("format") != FORMAT
        or not all(field in value for field in fields)
    ):
        raise InputError.at(
            where, f"is not of format {FORMAT}", f"format, {', '.join(fields)} are expected"
        )
    return value


def _safe_name(name: object, where: object) -> str:
    if not isinstance(name, str) or not _NAME.fullmatch(name) or _DEVICE.match(name):
        raise InputError.at(
            where,
            f"name {str(name)[:100]!r}",
            "letters, digits and ._+- are allowed, a letter or digit first and no point last; "
            "some names, as of devices, Windows does not allow",
        )
    return name


def _check_usable(folder: Path, where: object = None) -> None:
    problems = check_set(folder)
    if problems:
        raise InputError.at(where or folder, "the set is not sound", problems[0])


def _facts(content: bytes) -> dict[str, Any]:
    return {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}


def _json(value: object) -> bytes:
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()
