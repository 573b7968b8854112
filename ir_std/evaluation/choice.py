"""Which factors a user chose: other systems than the track's own, or a set without some."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TypeAlias

from ir_std.errors import NoFactorsError
from ir_std.evaluation.plans import match_factors
from ir_std.factors.catalog import Factors, sibling_sets
from ir_std.factors.factor_set import FactorSet
from ir_std.trec.qrels import Qrels

SystemsSelection: TypeAlias = str | os.PathLike[str] | Iterable[str] | None
"""A kind of systems, as ``"modern"``; or the names of some of a set's, also in a file."""


def select_factors(
    qrels: Qrels,
    factors: Factors | None = None,
    *,
    systems: SystemsSelection = None,
    without: str | Iterable[str] = (),
) -> Factors | None:
    """The factors to use where other systems are asked for; as ``factors`` says where not.

    Parameters
    ----------
    qrels : Qrels
    factors : FactorSet, str or path, optional
        A set, its id or its folder; recognized from the qrels if not given.
    systems : str, path or iterable of str, optional
        Other systems on the same topics, as ``"modern"``: the set that stands beside the one
        that is recognized, or named.  Or a file of names, one a line, or the names: the factors
        are computed anew from these of the set's systems.
    without : str or iterable of str
        Systems to leave out: the factors are computed anew from the others.

    Raises
    ------
    NoFactorsError
        If no set fits, or none of such systems stands beside it.
    UsageError
        If a system to leave out is not in the set.
    """
    tags = (without,) if isinstance(without, str) else tuple(without)
    if systems is None and not tags:
        return factors
    from ir_std.factors.derived import leave_out_systems, select_systems  # seldom needed

    match = match_factors(qrels, factors)
    if match.factors is None:
        raise NoFactorsError(str(match))
    chosen = match.factors
    if isinstance(systems, str) and not os.path.isfile(systems):
        chosen = sibling_set(match.factors, systems)
    elif systems is not None:
        chosen = select_systems(match.factors, systems)
    return leave_out_systems(chosen, tags) if tags else chosen


def sibling_set(factors: FactorSet, population: str) -> FactorSet:
    """The set of other systems on the topics of a set.

    Raises
    ------
    NoFactorsError
        If there is none.
    """
    if factors.info.get("population") == population:
        return factors
    others = {other.info.get("population", ""): other for other in sibling_sets(factors)}
    if population not in others:
        there = f"there are {', '.join(sorted(others))}" if others else "there are none"
        raise NoFactorsError(f"no {population!r} systems stand beside {factors.id}: {there}")
    return others[population]
