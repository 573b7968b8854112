"""Factor sets made from others: of some of their systems."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

import numpy as np

from ir_std._arrays import Floats
from ir_std._system.files import read_bounded
from ir_std.errors import InputError, NoFactorsError, UsageError, abbreviate, counted, suggestion
from ir_std.factors.estimates import factors_from_scores, scores_by_system
from ir_std.factors.factor_set import FactorSet
from ir_std.factors.quality import find_weak_systems
from ir_std.factors.schema import FEWEST, KINDS, UNKNOWN
from ir_std.factors.store import LARGEST

WEAK = "weak"
"""Stands for the systems that are far below the others, where some are to be left out."""


def select_systems(
    factors: FactorSet, systems: Iterable[str] | str | os.PathLike[str]
) -> FactorSet:
    """A set with some of its systems only.

    Parameters
    ----------
    factors : FactorSet
        One that names its systems.
    systems : iterable of str, or a file
        Names; a file has one per line.

    Raises
    ------
    UsageError
        If the set does not name its systems, or has none of a name, or fewer than two are named.
    InputError
        If the file cannot be read.
    """
    if isinstance(systems, (str, os.PathLike)):
        systems = _listed_systems(systems)
    wanted = list(dict.fromkeys(systems))
    _check_known(factors, wanted)
    if len(wanted) < 2:
        raise UsageError(
            f"{counted(len(wanted), 'system')}: a standard deviation takes at least two"
        )
    scores, names = _scores_where(factors, lambda tag: tag in wanted)
    info = {
        field: value
        for field, value in factors.info.items()
        if field not in ("measures", "population")
    }
    info["population"] = f"{len(wanted)} systems of {factors.id} that were named"
    return factors_from_scores(scores, factors.judgments, info, names)


def select_rows(factors: FactorSet, topics: Iterable[str], kind: str = "all") -> FactorSet:
    """Rows of a set of many data sets, with the models that have a score there.

    Parameters
    ----------
    factors : FactorSet
        One with :attr:`~.FactorSet.cells`; others are returned as they are.
    topics : iterable of str
        Data sets, or their aliases; those that the set does not hold are left out.
    kind : str
        Which models: one of :data:`ir_std.factors.schema.KINDS`.

    Raises
    ------
    NoFactorsError
        If there are too few such models on all of these data sets.
    """
    cells = factors.cells
    if not cells:
        return factors
    rows = np.unique(factors.rows(topics))
    rows = rows[rows >= 0]
    tables = {m: cells.scores(m, kind)[rows] for m in factors.measures}
    tables = {m: table for m, table in tables.items() if not np.isnan(table).all()}
    names = [factors.topics[i] for i in rows.tolist()]
    if not tables:
        raise NoFactorsError(
            f"{factors.id} has fewer than {FEWEST} models of the kind {kind} on "
            f"{abbreviate(names)}: too few for factors; take --systems all"
        )
    unknown = (cells.counted[rows] & (cells.trained[rows] == UNKNOWN)).any(axis=0).sum()
    info = {
        **factors.info,
        "population": f"{KINDS[kind]}; {unknown} models state no training data",
        "datasets": {
            n: factors.info["datasets"][n] for n in names if n in factors.info["datasets"]
        },
        "aliases": {a: n for a, n in factors.info.get("aliases", {}).items() if n in names},
        "default_measures": [m for m in factors.default_measures if m in tables] or list(tables),
        "measures": {},
    }
    columns = {m: np.flatnonzero(~np.isnan(table).all(axis=0)) for m, table in tables.items()}
    made = factors_from_scores(
        {m: table[:, columns[m]] for m, table in tables.items()},
        {name: factors.judgments[name] for name in names},
        info,
        {m: [factors.systems[i] for i in columns[m].tolist()] for m in tables},
    )
    made.__dict__.update(path=factors.path, whole=factors)
    return made


def select_kind(
    factors: FactorSet, kind: str, topics: Iterable[str] | None = None
) -> FactorSet | None:
    """Rows of data sets with models of a kind; None of a set that has no kinds.

    Parameters
    ----------
    factors : FactorSet
    kind : str
        One of :data:`ir_std.factors.schema.KINDS`.
    topics : iterable of str, optional
        The data sets; those of the set if not given.

    Raises
    ------
    UsageError
        If there is no such kind.
    NoFactorsError
        As :func:`select_rows`.
    """
    whole = factors if factors.cells else factors.whole
    if whole is None:
        return None
    if kind not in KINDS:
        raise UsageError(
            f"no kind of models {kind!r}: take {' or '.join(KINDS)}, or a file of names"
        )
    return select_rows(whole, factors.topics if topics is None else topics, kind)


def _listed_systems(file: str | os.PathLike[str]) -> list[str]:
    content = read_bounded(file, LARGEST, "name a readable file of systems, one a line")
    try:
        lines = content.decode().splitlines()
    except UnicodeDecodeError:
        raise InputError.at(file, "not UTF-8", "UTF-8 text is expected") from None
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


def leave_out_systems(factors: FactorSet, tags: Iterable[str]) -> FactorSet:
    """A set without some of its systems, for the measures whose scores are known.

    Parameters
    ----------
    factors : FactorSet
    tags : iterable of str
        Systems to leave out, as ``factors.systems`` calls them; ``weak`` for those far
        below the others (:func:`ir_std.factors.quality.find_weak_systems`), for each measure its
        own.

    Raises
    ------
    UsageError
        If the set has no system of that name, does not know its systems, or fewer than two would
        be left.
    """
    left_out = dict.fromkeys(tags)
    _check_known(factors, (tag for tag in left_out if tag != WEAK))
    scores, names = _scores_where(factors, lambda tag: tag not in left_out, WEAK not in left_out)
    for measure, kept in names.items():
        if len(kept) < 2:
            raise UsageError(
                f"{factors.id} without {', '.join(left_out)} has {counted(len(kept), 'system')} "
                f"for {measure}: factors are means and deviations over at least two"
            )
    fields = {
        m: {k: v for k, v in factors.info["measures"][m].items() if k != "systems"} for m in scores
    }
    defaults = [m for m in factors.default_measures if m in scores]
    info = {
        **factors.info,
        "title": f"{factors.title}, without {_without_text(left_out)}",
        "default_measures": defaults or list(scores),
        "measures": fields,
    }
    return factors_from_scores(scores, factors.judgments, info, names)


def _without_text(left_out: Iterable[str]) -> str:
    return ", ".join("weak systems" if tag == WEAK else tag for tag in left_out)


def _check_known(factors: FactorSet, tags: Iterable[str]) -> None:
    known = factors.systems
    for tag in tags:
        if tag not in known:
            has = f"it has {abbreviate(known)}" if known else "it does not name its systems"
            raise UsageError(f"{factors.id} has no system {tag!r}{suggestion(tag, known)}; {has}")


def _scores_where(
    factors: FactorSet, keep: Callable[[str], bool], keep_weak: bool = True
) -> tuple[dict[str, Floats], dict[str, list[str]]]:
    """By measure the scores of the systems to keep, a column each, and these systems' tags.

    Weak systems of a measure may be left out of that one.
    """
    tags = factors.systems
    if not tags:
        raise UsageError(f"{factors.id} does not name its systems: all of them are used")
    scores, names = {}, {}
    for measure in factors.scores:
        numbers, columns = scores_by_system(factors, measure)
        found = None if keep_weak else find_weak_systems(factors, measure)
        dropped = found.numbers if found else ()
        kept = [
            i
            for i, number in enumerate(numbers.tolist())
            if keep(tags[number]) and number not in dropped
        ]
        scores[measure] = columns[:, kept]
        names[measure] = [tags[numbers[i]] for i in kept]
    return scores, names
