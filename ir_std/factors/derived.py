"""Factor sets made from some of the systems or rows of another set."""

import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ir_std._arrays import Floats
from ir_std.errors import NoFactorsError, UsageError, abbreviate, look_up, pluralize, suggestion
from ir_std.factors.factor_set import FactorSet
from ir_std.factors.quality import find_weak_systems
from ir_std.factors.schema import FEWEST, KINDS, UNKNOWN
from ir_std.factors.store import read_text

WEAK = "weak"
"""In a list of systems to leave out, this word means all systems far below the others."""


def select_systems(
    factors: FactorSet, systems: Iterable[str] | str | os.PathLike[str]
) -> FactorSet:
    """Return a copy of a set with only the named systems.

    Parameters
    ----------
    factors : FactorSet
        A set that names its systems.
    systems : iterable of str, or a file
        Names of systems; a file has one name per line.

    Raises
    ------
    UsageError
        If the set does not name its systems or lacks a named system, or if fewer than two systems
        are named.
    InputError
        If the file cannot be read.
    """
    if isinstance(systems, (str, os.PathLike)):
        systems = _listed_systems(systems)
    wanted = list(dict.fromkeys(systems))
    _check_known(factors, wanted)
    if len(wanted) < 2:
        raise UsageError(f"need at least 2 systems, got {len(wanted)}")
    is_wanted = [tag in wanted for tag in factors.systems]
    scores = {m: np.where(is_wanted, table, np.nan) for m, table in factors.scores.items()}
    population = f"{pluralize(len(wanted), 'system')} of {factors.id}, chosen by name"
    return _set_of(factors, scores, factors.topics, population=population)


def select_rows(factors: FactorSet, topics: Iterable[str], kind: str = "all") -> FactorSet:
    """Return only the named datasets of a set, with the models that have scores on these datasets.

    Parameters
    ----------
    factors : FactorSet
        A set with :attr:`~.FactorSet.cells`; a set without them is returned unchanged.
    topics : iterable of str
        Names or aliases of datasets; datasets that are not in the set are left out.
    kind : str
        Kind of models, one of :data:`ir_std.factors.schema.KINDS`.

    Raises
    ------
    NoFactorsError
        If none of these datasets has enough models of this kind.
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
            f"{factors.id} has fewer than {FEWEST} models of kind {kind} on {abbreviate(names)}; "
            "pass --systems all"
        )
    unknown = (cells.counted[rows] & (cells.arrays["trained"][rows] == UNKNOWN)).any(axis=0).sum()
    described = factors.info["datasets"]
    made = _set_of(
        factors,
        tables,
        names,
        population=f"{KINDS[kind]}; {unknown} models state no training data",
        datasets={name: described[name] for name in names if name in described},
        aliases={a: name for a, name in factors.info.get("aliases", {}).items() if name in names},
    )
    made.__dict__.update(path=factors.path, whole=factors)
    return made


def select_kind(
    factors: FactorSet, kind: str, topics: Iterable[str] | None = None
) -> FactorSet | None:
    """Return a set of the given datasets that has only the models of one kind.

    If the set does not distinguish kinds of models, the function returns None.

    Parameters
    ----------
    factors : FactorSet
    kind : str
        One of :data:`ir_std.factors.schema.KINDS`.
    topics : iterable of str, optional
        Datasets; by default all datasets of the set.

    Raises
    ------
    UsageError
        If there is no such kind.
    NoFactorsError
        If none of the datasets has enough models of this kind.
    """
    whole = factors if factors.cells else factors.whole
    if whole is None:
        return None
    look_up(kind, KINDS, "kind of models")
    return select_rows(whole, factors.topics if topics is None else topics, kind)


def _listed_systems(file: str | os.PathLike[str]) -> list[str]:
    lines = read_text(file, "name a readable file of systems, one per line").splitlines()
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


def leave_out_systems(factors: FactorSet, tags: Iterable[str]) -> FactorSet:
    """Return a copy of a set without the given systems.

    Parameters
    ----------
    factors : FactorSet
    tags : iterable of str
        Names of the systems to leave out.  ``weak`` means the systems that are far below the others
        for a measure (:func:`ir_std.factors.quality.find_weak_systems`).

    Raises
    ------
    UsageError
        If the set does not name its systems or lacks a named system, or if fewer than two systems
        would be left.
    """
    left_out = dict.fromkeys(tags)
    _check_known(factors, (tag for tag in left_out if tag != WEAK))
    is_kept = np.array([tag not in left_out for tag in factors.systems])
    scores = {}
    for measure, table in factors.scores.items():
        scores[measure] = np.where(is_kept, table, np.nan)
        if WEAK in left_out and (weak := find_weak_systems(factors, measure)):
            scores[measure][:, weak.numbers] = np.nan
        n = int(np.count_nonzero(~np.isnan(scores[measure]).all(axis=0)))
        if n < 2:
            raise UsageError(
                f"{factors.id} without {', '.join(left_out)} has {pluralize(n, 'system')} "
                f"for {measure}; factors need at least two"
            )
    what = ", ".join("weak systems" if tag == WEAK else tag for tag in left_out)
    return _set_of(factors, scores, factors.topics, title=f"{factors.title}, without {what}")


def _check_known(factors: FactorSet, tags: Iterable[str]) -> None:
    systems = factors.systems
    if not systems:
        raise UsageError(
            f"{factors.id} does not name its systems, so none can be chosen or left out"
        )
    for tag in tags:
        if tag not in systems:
            raise UsageError(
                f"{factors.id} has no system {tag!r}; available: {abbreviate(systems)}"
                f"{suggestion(tag, systems)}"
            )


def _set_of(
    factors: FactorSet, scores: Mapping[str, Floats], topics: Iterable[str], **fields: Any
) -> FactorSet:
    """Return a copy of a set with other scores and other fields.

    ``scores`` has one column for each of the set's systems.  Systems without scores are left out.
    """
    is_empty = np.all([np.isnan(table).all(axis=0) for table in scores.values()], axis=0)
    columns = np.flatnonzero(~is_empty).tolist()
    info = {
        **factors.info,
        "default_measures": [m for m in factors.default_measures if m in scores] or list(scores),
        "measures": {measure: factors.info["measures"][measure] for measure in scores},
        **fields,
    }
    return FactorSet(
        info,
        {topic: factors.judgments[topic] for topic in topics},
        scores={measure: table[:, columns] for measure, table in scores.items()},
        systems=[factors.systems[i] for i in columns],
    )
