"""How a standardized measure is computed: from which raw one, with the factors of which set."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from ir_measures.measures import Measure

from ir_std.errors import NoFactorsError
from ir_std.factors.catalog import Collection, Fit, Match, load_factors, named, recognize
from ir_std.factors.factor_set import FactorSet
from ir_std.measures import (
    Standardized,
    canonical,
    equivalents,
    has_graded_gains,
    parse_measure,
)
from ir_std.trec.runs import Qrels

Values = npt.NDArray[np.float64]


def collection_of(qrels: Qrels) -> Collection:
    """What recognition needs to know of qrels."""
    return Collection(tuple(zip(qrels.topics, qrels.count().tolist(), strict=True)),
                      qrels.first_documents, qrels.dataset)


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
        If no set fits, or the set has no factors for the measure, or only such as do not apply
        to these qrels.
    """
    if match.fit is None:
        raise NoFactorsError(f"{measure}: {match}")
    factors = match.fit.factors
    needs_scores = measure["scheme"] == "E"
    table = factors.scores if needs_scores else factors.mean
    names = names_by_measure(factors.measures)
    obstacle = _levels_unlike(measure.base, match.fit, qrels)
    served: list[tuple[Measure, str]] = []
    for raw in equivalents(measure.base, _is_binary(match.fit, qrels)):
        name = names.get(canonical(raw))
        if name is not None and name in table:
            found = _obstacle(raw, name, match.fit, qrels)
            obstacle = obstacle or found
            if not found:
                served.append((raw, name))
    if not served:
        raise NoFactorsError(f"{measure}: {_what_is_missing(measure, factors, obstacle)}", obstacle)
    rows = factors.rows(qrels.topics)
    raw, name = next((one for one in served if any_known(table[one[1]], rows)), served[0])
    apply = factors.on(qrels.topics, name, measure["scheme"], **measure.scheme_params)
    return Plan(measure, raw, factors, name, apply)


def _what_is_missing(measure: Standardized, factors: FactorSet, obstacle: str) -> str:
    if obstacle:
        return f"{factors.id}'s factors for {measure.base} do not apply: {obstacle}"
    what, table = (("distributions", factors.scores) if measure["scheme"] == "E"
                   else ("factors", factors.mean))
    return f"{factors.id} has no {what} for {measure.base}; it has {', '.join(table) or 'none'}"


def any_known(table: Values, rows: npt.NDArray[np.int64]) -> bool:
    """Whether a table has a value on one of the rows that are not -1."""
    return not np.isnan(table[rows[rows >= 0]]).all()


NEEDS_NOT_RELEVANT = {"Bpref", "Judged", "infAP"}
"""Measures that tell documents judged not relevant from documents that are not judged."""


def _obstacle(raw: Measure, name: str, fit: Fit, qrels: Qrels) -> str:
    """Why a set's factors for a raw measure do not apply to qrels; empty if they do."""
    depth = fit.factors.about(name, "depth")
    if depth and raw.params.get("cutoff", 0) > depth:
        return f"its systems were evaluated to depth {depth}"
    if raw.__name__ in NEEDS_NOT_RELEVANT and not (
            qrels.sizes.sum() > qrels.count(1).sum()):
        return "these qrels hold relevant documents only"
    return _levels_unlike(raw, fit, qrels)


def _levels_unlike(raw: Measure, fit: Fit, qrels: Qrels) -> str:
    """Why judgments at the levels that a measure tells apart differ from the set's."""
    here, there = qrels.max_level, fit.factors.info.get("max_level")
    if has_graded_gains(raw) and there is not None and (here <= 1) != (there <= 1):
        if here > 1:
            return (f"these qrels have levels to {here}, its systems were judged with one level")
        if not fit.partial:
            return f"these qrels have one level, its systems were judged with levels to {there}"
    level = raw.params.get("rel", 1)
    if level > max(here, (there or 0) if fit.partial else 0):
        return f"no document of these qrels is judged at level {level} or above"
    return ""


def _is_binary(fit: Fit, qrels: Qrels) -> bool:
    """Whether binary and graded gains are the same here.

    A part of graded qrels may happen to hold no level above 1: it stays graded.
    """
    return qrels.max_level <= 1 and not (fit.partial and (fit.factors.info.get("max_level")
                                                          or 1) > 1)
