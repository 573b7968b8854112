"""Other standardizing systems: a factor set of some of the systems of one."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from ir_std.errors import InputError, UsageError, suggestion
from ir_std.factors.estimates import factors_from_scores, scores_by_system
from ir_std.factors.factor_set import FactorSet


def select_systems(
    factors: FactorSet, systems: Iterable[str] | str | os.PathLike[str]
) -> FactorSet:
    """The factors that some of a set's systems give.

    Parameters
    ----------
    factors : FactorSet
        One that names its systems.
    systems : iterable of str, or a file
        Names; a file has one a line.

    Raises
    ------
    UsageError
        If the set does not name its systems, or has none of a name, or fewer than two are named.
    InputError
        If the file cannot be read.
    """
    if isinstance(systems, (str, os.PathLike)):
        systems = _listed(systems)
    wanted = list(dict.fromkeys(systems))
    known = {name: i for i, name in enumerate(factors.info.get("tags", ()))}
    if not known:
        raise UsageError(f"{factors.id} does not name its systems: all of them are used")
    for name in wanted:
        if name not in known:
            raise UsageError(f"{factors.id} has no system {name!r}{suggestion(name, known)}")
    if len(wanted) < 2:
        raise UsageError(f"{len(wanted)} systems: a spread takes at least two")
    scores, names = {}, {}
    for measure in factors.systems:
        numbers, columns = scores_by_system(factors, measure)
        chosen = np.flatnonzero(np.isin(numbers, [known[name] for name in wanted]))
        scores[measure] = columns[:, chosen]
        names[measure] = [list(known)[i] for i in numbers[chosen].tolist()]
    info = {
        field: value
        for field, value in factors.info.items()
        if field not in ("measures", "population", "tags")
    }
    info["population"] = f"{len(wanted)} systems of {factors.id} that were named"
    return factors_from_scores(scores, factors.judgments, info, names)


def _listed(file: str | os.PathLike[str]) -> list[str]:
    try:
        lines = Path(file).read_text(encoding="utf-8").splitlines()
    except OSError as failed:
        raise InputError.at(
            file,
            None,
            failed.strerror or str(failed),
            "name a readable file of systems, one a line",
        ) from None
    except UnicodeDecodeError:
        raise InputError.at(file, None, "not UTF-8", "UTF-8 text is expected") from None
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]
