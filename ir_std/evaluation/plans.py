"""How a standardized measure is computed: from which raw one, with the factors of which set."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from ir_measures.measures import Measure

from ir_std.errors import NoFactorsError
from ir_std.factors.catalog import load_factors
from ir_std.factors.factor_set import FactorSet
from ir_std.factors.fit import Collection, Fit
from ir_std.factors.recognition import Match, named, recognize
from ir_std.measures import (
    Standardized,
    canonical,
    equivalents,
    has_graded_gains,
    parse_measure,
)
from ir_std.trec.qrels import Qrels

Values = npt.NDArray[np.float64]


def collection_of(qrels: Qrels) -> Collection:
    """What recognition needs to know of qrels."""
    return qrels.remembered("collection", lambda: Collection(
        zip(qrels.topics, qrels.count().tolist(), strict=True),
        qrels.first_documents[:50], qrels.dataset, qrels))


def find_factors(qrels: Qrels, factors: FactorSet | str | None = None) -> Match:
    """The match of qrels with the named factors, or with the set that is recognized.

    Raises
    ------
    UnknownSetError
        If there is no set of that name.
    NoFactorsError
        If the named set holds none of the topics.
    """
    collection = collection_of(qrels)
    if factors is None:
        return recognize(collection)
    return named(factors if isinstance(factors, FactorSet) else load_factors(factors), collection)


class Plan(NamedTuple):
    """How a standardized measure is computed: from which raw one, with which factors.

    ``name`` is what the factor set calls the raw measure; ``apply`` standardizes the raw values
    on the topics of the qrels.
    """

    measure: Standardized
    raw: Measure
    factors: FactorSet
    name: str
    apply: Callable[[npt.ArrayLike], Values]


@lru_cache(maxsize=256)
def names_by_measure(measures: tuple[str, ...]) -> dict[str, str]:
    """What a set calls its measures, by canonical name: ``RBP(p=0.8)`` is also ``RBP``."""
    return {canonical(parse_measure(name)): name for name in measures}


def plan(measure: Standardized, match: Match, qrels: Qrels) -> Plan:
    """Decide how a standardized measure is computed with the factors of ``match``.

    Raises
    ------
    NoFactorsError
        If no set fits, or the set has no factors for the measure, or only such as come from
        judgments with other levels.
    """
    if match.fit is None:
        raise NoFactorsError(f"{measure}: {match}")
    factors = match.fit.factors
    binary, unlike = _gains(match.fit, qrels)
    needs_scores = measure["scheme"] == "E"
    table = factors.scores if needs_scores else factors.mean
    names = names_by_measure(factors.measures)
    usable = [(raw, names[name]) for raw in equivalents(measure.base, binary)
              if (name := canonical(raw)) in names and names[name] in table
              and not (unlike and has_graded_gains(raw))]
    if not usable:
        what = "distributions" if needs_scores else "factors"
        raise NoFactorsError(f"{measure}: {factors.id} has no {what} for {measure.base}{unlike}; "
                             f"it has {', '.join(table) or 'none'}")
    rows = factors.rows(qrels.topics)
    raw, name = next((one for one in usable if any_known(table[one[1]], rows)), usable[0])
    apply = factors.on(qrels.topics, name, measure["scheme"], **measure.scheme_params)
    return Plan(measure, raw, factors, name, apply)


def any_known(table: Values, rows: npt.NDArray[np.int64]) -> bool:
    """Whether a table has a value on one of the rows that are not -1."""
    return not np.isnan(table[rows[rows >= 0]]).all()


def _gains(fit: Fit, qrels: Qrels) -> tuple[bool, str]:
    """Whether binary and graded gains are the same here, and why graded factors do not fit.

    A part of graded qrels may happen to hold no level above 1: it stays graded.
    """
    here, there = qrels.max_level, fit.factors.info.get("max_level")
    if there is None or (here <= 1) == (there <= 1):
        return here <= 1, ""
    if here > 1:
        return False, f" in qrels with levels to {here} (its systems were judged with one level)"
    if fit.partial:
        return False, ""
    return True, f" in qrels with one level (its systems were judged with levels to {there})"
