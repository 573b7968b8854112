"""The factor sets there are: shipped ones, and the user's own."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, TypeAlias

from ir_std._system.files import errors_of, may_be_there
from ir_std.errors import (
    InputError,
    UnknownSetError,
    UsageError,
    suggestion,
    warn_caller,
)
from ir_std.factors import schema
from ir_std.factors.factor_set import CHECKS, FactorSet
from ir_std.factors.files import Version, snapshot, subfolder_names, version_of
from ir_std.factors.storage import parse_info, parse_json, topic_ids

Factors: TypeAlias = FactorSet | str | os.PathLike[str]
"""A factor set, its id, or the path of its folder."""

TOPICS = "topics.json"
"""Beside the shipped sets: of each its topics and their numbers of relevant documents, so that most
sets are ruled out unread."""

Topics: TypeAlias = Mapping[str, int | None]
"""By topic the number of documents judged relevant; None where it is not known, or proves
nothing."""


@lru_cache(maxsize=1)
def shipped_folder() -> Path:
    """The folder of the sets that come with ir_std: in the wheel, or in a source checkout."""
    here = Path(__file__).parent.parent
    inside = here / "_factors"
    return inside if inside.is_dir() else here.parent / "factors"


@lru_cache(maxsize=1)
def data_version() -> str:
    """The version of the sets that come with ir_std: the year and month of their last change."""
    return (shipped_folder() / "VERSION").read_text(encoding="utf-8").strip()


def user_folders() -> list[Path]:
    """The user's folders of sets.

    Those that the environment variable ``IR_STD_FACTORS`` names, then the one in the user's data
    folder, if it is there.
    """
    own = data_folder()
    return environment_folders() + ([own] if os.path.isdir(own) else [])


def environment_folders() -> list[Path]:
    """The folders named by the environment variable ``IR_STD_FACTORS``."""
    named = os.environ.get("IR_STD_FACTORS", "").split(os.pathsep)
    return [Path(name) for name in named if name]


def data_folder() -> Path:
    """The folder of sets in the user's data folder."""
    from platformdirs import user_data_path  # import ir_std does without

    return user_data_path("ir_std", appauthor=False) / "factors"


def writable_folder() -> Path:
    """Where sets are added: the first folder of ``IR_STD_FACTORS``, else the user's data folder."""
    return next(iter(environment_folders()), None) or data_folder()


class SetVersion(NamedTuple):
    """A set as it is on disk now: what it is called, where it is, and its files' state.

    That of shipped ones is empty: they change with the installation.
    """

    name: str
    folder: str
    version: Version


def known_sets() -> tuple[SetVersion, ...]:
    """All factor sets, by name.

    A set is called by its ``id``.  A user's own hides a shipped one of the same id, with a warning;
    of two of the user's the first counts, and the other is skipped with a warning, as is one that
    is broken.

    Raises
    ------
    InputError
        If ``IR_STD_FACTORS`` names a folder that does not exist or cannot be read.
    """
    shipped = {each.name: each for each in _shipped_sets(shipped_folder())}
    own: dict[str, SetVersion] = {}
    for root in user_folders():
        for folder, version in _sets_in(root):
            try:
                name = _id(folder, version)
            except InputError as broken:
                _warn_once(version, f"a factor set is skipped: {broken}")
                continue
            first = own.setdefault(name, SetVersion(name, folder, version))
            if first.folder != folder:
                _warn_once(
                    version,
                    f"two factor sets are called {name!r}: {first.folder} is used, "
                    f"{folder} only by its path; give it another id",
                )
    for name in own.keys() & shipped.keys():
        folder, version = own[name].folder, own[name].version
        _warn_once(
            ("replaces", version),
            f"the factor set {name!r} in {folder} is used instead of the one that comes with "
            "ir_std; give it another id",
        )
    return tuple(sorted((shipped | own).values()))


def _shipped_sets(root: Path) -> Iterator[SetVersion]:
    listed = _listed_topics(root)
    for name in _names_in(root):
        folder = os.path.join(root, name)
        if name in listed:
            yield SetVersion(name, folder, ())
        elif version := version_of(folder):
            yield SetVersion(name, folder, version)


@lru_cache(maxsize=1)
def _listed_topics(root: Path) -> Mapping[str, Topics]:
    """By shipped set its topics; none where there is no list."""
    file = root / TOPICS
    listed: Mapping[str, Topics] = json.loads(file.read_bytes()) if file.exists() else {}
    return listed


def _sets_in(root: Path) -> Iterator[tuple[str, Version]]:
    """The folders of sets in a folder, which may be a set itself."""
    names = _names_in(root)
    for folder in (os.fspath(root), *(os.path.join(root, name) for name in names)):
        version = version_of(folder)
        if version:
            yield folder, version


def _names_in(root: Path) -> list[str]:
    expected = "IR_STD_FACTORS names folders of factor sets"
    if not os.path.lexists(root):
        raise InputError.at(root, "no such folder", expected)
    with errors_of(root, "cannot be read", expected):
        # An error where nothing in it may be looked at; a Path would leave out the point.
        os.stat(os.path.join(root, "."))  # noqa: PTH116
        return subfolder_names(root)


_warned: set[object] = set()


def _warn_once(version: object, message: str) -> None:
    """Warn the caller, once about each version of a set."""
    if version not in _warned:
        _warned.add(version)
        warn_caller([message])


def available_factors() -> list[str]:
    """The ids of all factor sets, shipped and the user's own, sorted.

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
        The id of a set (``"trec8-adhoc"``), or the path of a set's folder.
    systems : iterable of str, or a file, optional
        The systems whose scores the factors are to be computed from, where the set names
        them; a file has one name per line.

    Raises
    ------
    UnknownSetError
        (a LookupError) naming the nearest sets.
    InputError
        (a ValueError) naming file and line of a broken set.
    UsageError
        (a ValueError) if ``name`` is neither.

    Examples
    --------
    >>> factors = ir_std.load_factors("trec8-adhoc")
    >>> factors.title, factors.n_systems["AP"], len(factors.topics)
    ('TREC-8 ad hoc', 129, 50)
    """
    if not isinstance(name, (str, os.PathLike)):
        raise UsageError(
            f"cannot use {type(name).__name__} as factors: give a set, its id, or the "
            "path of its folder"
        )
    if systems is not None:
        from ir_std.factors.derived import select_systems  # seldom needed

        return select_systems(load_factors(name), systems)
    folders = {each.name: each.folder for each in known_sets()}
    by_folder = {os.path.basename(folder): folder for folder in folders.values()}
    folder = (by_folder | folders).get(name, name) if isinstance(name, str) else os.fspath(name)
    if version := version_of(folder):
        return _load(folder, version)
    if may_be_there(folder):
        with errors_of(folder, "cannot be read", "name a folder that you may read"):
            os.lstat(folder)
    if os.path.isdir(folder):
        return FactorSet.load(folder)  # says what is missing
    raise UnknownSetError(
        f"no factor set {os.fspath(name)!r}{suggestion(str(name), folders)}; give the path of a "
        f"set's folder, or an id that ir_std factors lists"
    )


@lru_cache(maxsize=256)
def _load(folder: str, version: Version) -> FactorSet:
    return _described(folder, version).loaded()


@lru_cache(maxsize=1024)
def _described(folder: str, _: Version) -> FactorSet:
    return FactorSet.described(folder)


@lru_cache(maxsize=1024)
def _id(folder: str, _: Version) -> str:
    file = Path(folder, "set.json")
    return str(parse_info(snapshot(folder, [file.name])[file.name], file)["id"])


@lru_cache(maxsize=1024)
def _topics(folder: str, version: Version) -> Topics:
    root, name = os.path.split(folder)
    if not version:
        return _listed_topics(Path(root))[name]
    file = Path(folder, "topics.csv")
    return dict.fromkeys(topic_ids(snapshot(folder, [file.name])[file.name], file))


def described_sets(
    sets: tuple[SetVersion, ...], wanted: Callable[[Topics], bool] | None = None
) -> Iterator[FactorSet]:
    """The sets whose topics are wanted, without their tables; all sets if ``wanted`` is None.

    A broken one is skipped with a warning: it must not stand in the way of the others.
    """
    for name, folder, version in sets:
        try:
            if wanted is None or wanted(_topics(folder, version)):
                yield _described(folder, version or version_of(folder))
        except InputError as broken:
            _warn_once(version, f"the factor set {name} is skipped: {broken}")


def is_shipped(factors: FactorSet) -> bool:
    """Whether a set came with ir_std."""
    return factors.path is not None and factors.path.parent == shipped_folder()


def load_version(described: FactorSet) -> FactorSet:
    """A described set with all its files as they are now."""
    folder = os.fspath(described.path or "")
    return _load(folder, version_of(folder))


def is_usable(described: FactorSet) -> bool:
    """Whether one of the user's sets can be used; one that cannot is skipped with a warning."""
    try:
        load_version(described).verify()
    except InputError as broken:
        _warn_once(
            (described.path, version_of(described.path or "")),
            f"the factor set {described.id} is skipped: {broken}",
        )
        return False
    return True


def check_set(path: str | os.PathLike[str]) -> list[str]:
    """All that is wrong with the factor set in a folder; empty if it can be used.

    A set passes if and only if it loads and can be used: loading applies the same checks, but
    stops at the first problem.
    """
    try:
        return list(dict.fromkeys(_set_problems(Path(path))))
    except InputError as broken:
        return [str(broken)]


def _set_problems(folder: Path) -> list[str]:
    description = folder / "set.json"
    content = parse_json(snapshot(folder)[description.name], description)
    problems = [f"{description}: {problem}" for problem in schema.info_problems(content)]
    if not problems:
        factors = FactorSet.load(folder)
        for file, check in CHECKS.items():
            problems += [
                f"{folder / at}: {what}" for at, what in check(factors, factors.stored(file))
            ]
            if problems:
                break
    return problems


def sibling_sets(factors: FactorSet) -> list[FactorSet]:
    """The sets of other systems on the topics of a set."""
    return [
        other
        for other in described_sets(known_sets(), lambda there: factors.topics[0] in there)
        if other.info.get("beside") == factors.id
    ]
