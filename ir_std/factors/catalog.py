"""Which factor set fits these qrels: the sets there are, and the recognition of collections."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from ir_std.errors import InputError, NoFactorsError, UnknownSetError, suggestion
from ir_std.factors.factor_set import FactorSet
from ir_std.factors.storage import read_topics

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
    here = Path(__file__).parent.parent
    inside = here / "_factors"
    return inside if inside.is_dir() else here.parent / "factors"


def user_folders() -> list[Path]:
    """The folders named by the environment variable ``IR_STD_FACTORS``."""
    named = os.environ.get("IR_STD_FACTORS", "").split(os.pathsep)
    return [Path(name) for name in named if name]


def set_folders() -> dict[str, str]:
    """Every factor set by its folder's name; a user's own set hides a shipped one.

    Raises
    ------
    InputError
        If ``IR_STD_FACTORS`` names a folder that does not exist.
    """
    return {name: folder for name, (folder, _) in sorted(_found().items())}


Version = tuple[tuple[str, int, int], ...]
"""Names, times and sizes of a set's files: changes whenever one of them does."""


def _found() -> dict[str, tuple[str, Version]]:
    found: dict[str, tuple[str, Version]] = {}
    for root in [*user_folders(), shipped_folder()]:
        if not root.is_dir():
            raise InputError.at(root, None, "no such folder",
                                "IR_STD_FACTORS names folders of factor sets")
        with os.scandir(root) as entries:
            folders = [entry.path for entry in entries if entry.is_dir()]
        for folder in [os.fspath(root), *sorted(folders)]:
            version = _version(folder)
            if any(name == "set.json" for name, _, _ in version):
                found.setdefault(os.path.basename(folder), (folder, version))
    return found


def _version(folder: str) -> Version:
    try:
        with os.scandir(folder) as entries:
            stats = [(entry.name, entry.stat()) for entry in entries if entry.is_file()]
    except OSError:  # not ours to read, or a set that is just being replaced
        return ()
    return tuple(sorted((name, s.st_mtime_ns, s.st_size) for name, s in stats))


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
    folder = (folders.get(name, name) if isinstance(name, str) else os.fspath(name))
    if os.path.isdir(folder):
        return _load(folder, _version(folder))
    raise UnknownSetError(
        f"no factor set {os.fspath(name)!r}{suggestion(str(name), folders)}; give the path of a "
        f"set's folder, or one of {', '.join(folders)}")


@lru_cache(maxsize=128)
def _load(folder: str, version: Version) -> FactorSet:
    return FactorSet.load(folder)


@lru_cache(maxsize=128)
def _counts(folder: str, version: Version) -> dict[str, int | None]:
    return {topic: known.n_rel for topic, known in read_topics(Path(folder, "topics.csv")).items()}


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
    def imperfect(self) -> bool:
        """Whether the judgments are not quite those that the factors come from."""
        return bool(self.differ or self.strange_id)

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
    return _recognize(collection, tuple(sorted(_found().values())))


@lru_cache(maxsize=256)
def _recognize(collection: Collection, sets: tuple[tuple[str, Version], ...]) -> Match:
    if collection.dataset:
        for factors in (_load(*one) for one in sets):
            if collection.dataset in factors.info.get("ir_datasets", ()):
                return Match(fit(factors, collection), chosen_by="ir_datasets id")
    # Topics and counts rule out most sets; only the others are looked at in full.
    overlaps = {one: Overlap.of(_counts(*one), collection) for one in sets}
    fits = [fit(_load(*one), collection) for one, o in overlaps.items() if o.why_not is None]
    good = sorted((f for f in fits if f.why_not is None), key=_specificity)
    if good:
        return Match(good[0], tuple(f.factors.id for f in good[1:]))
    near = sorted((len(o.missing), len(o.differ), len(_counts(*one)), one)
                  for one, o in overlaps.items() if o.matched)
    return Match(None, nearest=tuple(fit(_load(*one), collection) for *_, one in near[:3]))


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


class Overlap(NamedTuple):
    """The topics that a set and a collection have in common; fields as of :class:`Fit`."""

    matched: tuple[str, ...]
    missing: tuple[str, ...]
    differ: Mapping[str, tuple[int, int]]
    why_not: str | None

    @classmethod
    def of(cls, n_rel: Mapping[str, int | None], collection: Collection) -> Overlap:
        """Compare a set's numbers of relevant documents with a collection's."""
        matched = tuple(t for t, _ in collection.counts if t in n_rel)
        missing = tuple(t for t, n in collection.counts if n and t not in n_rel)
        differ, far = {}, 0
        for topic, here in collection.counts:
            there = n_rel.get(topic)
            if there is not None and there != here:
                differ[topic] = (there, here)
                far += abs(there - here) > NEAR * max(there, here)
        why_not = None
        if len(matched) <= HELD * (len(matched) + len(missing)):
            why_not = f"holds {len(matched)} of the {len(matched) + len(missing)} topics"
        elif far > (1 - AGREEING) * len(matched):
            why_not = (f"the number of relevant documents differs on {len(differ)} of "
                       f"{len(matched)} topics ({_examples(differ)})")
        return cls(matched, missing, differ, why_not)


def fit(factors: FactorSet, collection: Collection) -> Fit:
    """Compare one set with a collection."""
    matched, missing, differ, why_not = Overlap.of(factors.n_rel, collection)
    pattern = re.compile(factors.info.get("doc_id_pattern") or ".*")
    strange = next((d for d in collection.doc_ids if not pattern.fullmatch(d)), None)
    if why_not is None and strange and (differ or len(matched) < ENOUGH_TO_IGNORE_IDS):
        why_not = f"document ids such as {strange!r} do not look like the collection's"
    return Fit(factors, matched, missing, differ, strange, why_not)


def _examples(differ: Mapping[str, tuple[int, int]]) -> str:
    topic, (there, here) = next(iter(differ.items()))
    return f"topic {topic}: {there} in the set, {here} here"


def _few(names: Iterable[str]) -> str:
    names = list(names)
    return ", ".join(names[:3]) + (f", ... {len(names)} in all" if len(names) > 3 else "")
