"""Which factors a user chose: other systems than the track's own, or a set without some."""

from __future__ import annotations

from collections.abc import Iterable

from ir_std.errors import NoFactorsError
from ir_std.evaluation.plans import find_factors
from ir_std.factors.catalog import known_sets, readable
from ir_std.factors.estimates import without as left_out
from ir_std.factors.factor_set import FactorSet
from ir_std.trec.qrels import Qrels


def choose_factors(qrels: Qrels, factors: FactorSet | str | None = None, *,
                   systems: str | None = None,
                   without: str | Iterable[str] = ()) -> FactorSet | str | None:
    """The factors to use where other systems are asked for; as ``factors`` says where not.

    Parameters
    ----------
    qrels : Qrels
    factors : FactorSet or str, optional
        A set or its name; recognized from the qrels if not given.
    systems : str, optional
        Other systems on the same topics, as ``"modern"``: the set that stands beside the one
        that is recognized, or named.
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
    match = find_factors(qrels, factors)
    if match.factors is None:
        raise NoFactorsError(str(match))
    chosen = match.factors if systems is None else beside(match.factors, systems)
    return left_out(chosen, tags) if tags else chosen


def beside(factors: FactorSet, population: str) -> FactorSet:
    """The set of other systems on the topics of a set.

    Raises
    ------
    NoFactorsError
        If there is none.
    """
    if factors.info.get("population") == population:
        return factors
    others = {s.info.get("population", ""): s for s in readable(known_sets())
              if s.info.get("beside") == factors.id}
    if population not in others:
        there = f"there are {', '.join(sorted(others))}" if others else "there are none"
        raise NoFactorsError(f"no {population!r} systems stand beside {factors.id}: {there}")
    return others[population]
