"""Is a factor set sound?  Every problem is said with the place where it is."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from ir_std.errors import InputError
from ir_std.factors import schema, table_checks
from ir_std.factors.factor_set import FactorSet
from ir_std.factors.files import snapshot
from ir_std.factors.storage import parse_json


def check_set(path: str | os.PathLike[str]) -> list[str]:
    """All that is wrong with the factor set in a folder; empty if it is sound.

    What is sound here loads and can be used, and what can be used is sound: both ask
    :mod:`ir_std.factors.schema` for the fields of ``set.json`` and
    :mod:`ir_std.factors.table_checks` for the tables.
    """
    try:
        return list(dict.fromkeys(_problems(Path(path))))
    except InputError as broken:
        return [str(broken)]


def _problems(folder: Path) -> Iterator[str]:
    description = folder / "set.json"
    wrong = [*schema.info_problems(parse_json(snapshot(folder)["set.json"], description))]
    yield from (f"{description}: {what}" for what in wrong)
    if wrong:
        return
    factors = FactorSet.load(folder)
    for problems in PARTS.values():
        found = [f"{folder / at}: {what}" for at, what in problems(factors)]
        yield from found
        if found:
            return


PARTS: dict[str, Callable[[FactorSet], Iterator[table_checks.Problem]]] = {
    "moments": lambda s: table_checks.moment_problems(s, s.stored("mean.csv"), s.stored("sd.csv")),
    "scores": lambda s: table_checks.score_problems(s, s.stored("scores.npz")),
    "systems": lambda s: table_checks.system_problems(s, s.stored("systems.npz")),
    "means": lambda s: table_checks.mean_problems(s, s.stored("means.npz")),
}
"""The problems of each part; a part relies on those before it."""
