"""Which factor set fits these qrels: the sets there are, and the recognition of collections."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from ir_std.errors import InputError, NoFactorsError, UnknownSetError, suggestion
from ir_std.factors import FactorSet

NEAR = 0.1
"""Counts of relevant documents that differ by at most this share agree nearly: TREC re-judges."""
AGREEING = 0.9
"""The share of a set's topics whose counts must agree at least nearly."""
HELD = 0.5
"""More than this share of the topics must be in the set; the others get no factors."""
ENOUGH_TO_IGNORE_IDS = 10
"""With this many topics, all of whose counts agree exactly, other document ids are accepted."""


def shipped_folder() -> Path:
    """The folder of the sets that come with ir_std: in the wheel, or in a source checkout."""
    here = Path(__file__).parent
    inside = here / "_factors"
    return inside if inside.is_dir() else here.parent / "factors"


def user_folders() -> list[Path]:
    """The folders named by the environment variable ``IR_STD_FACTORS``."""
    named = os.environ.get("IR_STD_FACTORS", "").split(os.pathsep)
    return [Path(name) for name in named if name]


def set_folders() -> dict[str, Path]:
    """Every factor set by its folder's name; a user's own set hides a shipped one.

    Raises
    ------
    InputError
        If ``IR_STD_FACTORS`` names a folder that does not exist.
    """
    found: dict[str, Path] = {}
    for root in [*user_folders(), shipped_folder()]:
        if not root.is_dir():
            raise InputError.at(root, None, "no such folder",
                                "IR_STD_FACTORS names folders of factor sets")
        candidates = [root] if (root / "set.json").is_file() else sorted(root.iterdir())
        for folder in candidates:
            if (folder / "set.json").is_file():
                found.setdefault(folder.name, folder)
    return dict(sorted(found.items()))


def available_factors() -> list[str]:
    """The ids of all factor sets, shipped and the user's own, sorted."""
    return list(set_folders())


def load_factors(name: str | os.PathLike[str]) -> FactorSet:
    """Load a factor set.

    Parameters
    ----------
    name : str or path
        The id of a set (``"trec8-adhoc"``), or the path of a set's folder.

    Raises
    ------
    UnknownSetError
        (a LookupError) naming the nearest sets.
    InputError
        (a ValueError) naming file and line of a broken set.
    """
    folders = set_folders()
    if isinstance(name, str) and name in folders:
        return _load(folders[name])
    if Path(name).is_dir():
        return _load(Path(name))
    raise UnknownSetError(
        f"no factor set {os.fspath(name)!r}{suggestion(str(name), folders)}; give the path of a "
        f"set's folder, or one of {', '.join(folders)}")


def _load(folder: Path) -> FactorSet:
    return _load_version(folder, _version(folder))


Version = tuple[tuple[str, int, int], ...]


def _version(folder: Path) -> Version:
    """Changes whenever a file of the set does."""
    with os.scandir(folder) as files:
        stats = [(file.name, file.stat()) for file in files]
    return tuple(sorted((name, s.st_mtime_ns, s.st_size) for name, s in stats))


@lru_cache(maxsize=128)
def _load_version(folder: Path, version: Version) -> FactorSet:
    return FactorSet.load(folder)


class Fit(NamedTuple):
    """How well one factor set fits qrels.

    Attributes
    ----------
    factors : FactorSet
    matched : tuple of str
        Topics of the qrels that the set holds.
    missing : tuple of str
        Topics of the qrels that have relevant documents and that the set does not hold.
    differ : dict of str to (int, int)
        Topics whose numbers of relevant documents differ: (in the set, in the qrels).
    strange_id : str or None
        A document id that does not look like the collection's.
    why_not : str or None
        Why the set does not fit; None if it does.
    """

    factors: FactorSet
    matched: tuple[str, ...]
    missing: tuple[str, ...]
    differ: Mapping[str, tuple[int, int]]
    strange_id: str | None
    why_not: str | None

    @property
    def partial(self) -> bool:
        """Whether the qrels hold only a part of the set's topics."""
        return len(self.matched) < len(self.factors.topics)

    def __str__(self) -> str:
        total = len(self.matched) + len(self.missing)
        text = (f"{self.factors.id} ({self.factors.title}; {self.factors.systems_text()} systems): "
                f"{len(self.matched)} of {total} topics matched")
        if self.differ:
            text += (f", {len(self.differ)} of them with other numbers of relevant documents "
                     f"(topics {', '.join(self.differ)})")
        if self.strange_id:
            text += f", document ids such as {self.strange_id!r} are not the collection's"
        return text


class Match(NamedTuple):
    """What recognition found; ``str(match)`` says it in a sentence.

    Attributes
    ----------
    fit : Fit or None
        The set that is used and how well it fits; None if no set fits.
    others : tuple of str
        Ids of other sets that would fit.
    nearest : tuple of Fit
        If no set fits: those that come nearest, with the reason why they do not.
    chosen_by : str
        ``"qrels"``, ``"name"`` (given by the user) or ``"ir_datasets id"``.
    """

    fit: Fit | None
    others: tuple[str, ...] = ()
    nearest: tuple[Fit, ...] = ()
    chosen_by: str = "qrels"

    @property
    def factors(self) -> FactorSet | None:
        """The factor set that is used, or None."""
        return self.fit.factors if self.fit else None

    def __str__(self) -> str:
        if self.fit:
            others = f"; {', '.join(self.others)} would fit too" if self.others else ""
            return f"factors of {self.fit}{others}"
        if not self.nearest:
            return ("no factor set fits these qrels: none holds one of their topics; "
                    "name a set with factors= or --factors")
        return ("no factor set fits these qrels; nearest: "
                + "; ".join(f"{n.factors.id}: {n.why_not}" for n in self.nearest)
                + "; name a set with factors= or --factors")


class Collection(NamedTuple):
    """What recognition looks at.

    Attributes
    ----------
    counts : tuple of (str, int)
        Topics and their numbers of documents judged relevant (level 1 or above).
    doc_ids : tuple of str
        The first judged document of each topic.
    dataset : str or None
        The ir_datasets id the qrels came from.
    """

    counts: tuple[tuple[str, int], ...]
    doc_ids: tuple[str, ...]
    dataset: str | None = None


def recognize(collection: Collection) -> Match:
    """Find the factor set that fits: the most specific one that covers the topics.

    A set fits when it holds the topics (more than half of them; the others get no factors),
    their numbers of relevant documents agree (on nine in ten topics within a tenth, since
    collections are re-judged), and document ids look like the collection's.  Of those that
    fit, the one wins that lacks the fewest topics, then has the fewest topics beyond these,
    then is the user's own, then has the fewest differing counts, then comes first by id.
    An ir_datasets id that a set names decides by itself.
    """
    versions = tuple((folder, _version(folder)) for folder in set_folders().values())
    return _recognize(collection, versions)


@lru_cache(maxsize=256)
def _recognize(collection: Collection,
               versions: tuple[tuple[Path, Version], ...]) -> Match:
    sets = [_load_version(*version) for version in versions]
    if collection.dataset:
        for factors in sets:
            if collection.dataset in factors.info.get("ir_datasets", ()):
                return Match(fit(factors, collection), chosen_by="ir_datasets id")
    fits = [fit(factors, collection) for factors in sets]
    good = sorted((f for f in fits if f.why_not is None), key=_specificity)
    if good:
        return Match(good[0], tuple(f.factors.id for f in good[1:]))
    near = sorted((f for f in fits if f.matched), key=_nearness)
    return Match(None, nearest=tuple(near[:3]))


def named(factors: FactorSet, collection: Collection) -> Match:
    """The match with a set that the user chose.

    Raises
    ------
    NoFactorsError
        If the set holds none of the topics.
    """
    chosen = fit(factors, collection)
    if not chosen.matched:
        raise NoFactorsError(
            f"{factors.id} holds none of the topics ({_few(t for t, _ in collection.counts)}): "
            f"it has {_few(factors.topics)}; leave the set to be recognized, or name another")
    return Match(chosen, chosen_by="name")


def _specificity(f: Fit) -> tuple[object, ...]:
    shipped = f.factors.path is not None and f.factors.path.parent == shipped_folder()
    return len(f.missing), len(f.factors.topics), shipped, len(f.differ), f.factors.id


def _nearness(f: Fit) -> tuple[object, ...]:
    return len(f.missing), len(f.differ), len(f.factors.topics), f.factors.id


def fit(factors: FactorSet, collection: Collection) -> Fit:
    """Compare one set with a collection."""
    n_rel = factors.n_rel
    matched = tuple(t for t, _ in collection.counts if t in n_rel)
    missing = tuple(t for t, n in collection.counts if n and t not in n_rel)
    differ, far = {}, 0
    for topic, here in collection.counts:
        there = n_rel.get(topic)
        if there is not None and there != here:
            differ[topic] = (there, here)
            far += abs(there - here) > NEAR * max(there, here)
    pattern = re.compile(factors.info.get("doc_id_pattern") or ".*")
    strange = next((d for d in collection.doc_ids if not pattern.fullmatch(d)), None)
    why_not = None
    if len(matched) <= HELD * (len(matched) + len(missing)):
        why_not = f"holds {len(matched)} of the {len(matched) + len(missing)} topics"
    elif far > (1 - AGREEING) * len(matched):
        why_not = (f"the number of relevant documents differs on {len(differ)} of "
                   f"{len(matched)} topics ({_examples(differ)})")
    elif strange and (differ or len(matched) < ENOUGH_TO_IGNORE_IDS):
        why_not = f"document ids such as {strange!r} do not look like the collection's"
    return Fit(factors, matched, missing, differ, strange, why_not)


def _examples(differ: Mapping[str, tuple[int, int]]) -> str:
    topic, (there, here) = next(iter(differ.items()))
    return f"topic {topic}: {there} in the set, {here} here"


def _few(names: Iterable[str]) -> str:
    names = list(names)
    return ", ".join(names[:3]) + (f", ... {len(names)} in all" if len(names) > 3 else "")
