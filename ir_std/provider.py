"""The ir_measures provider: raw and standardized scores in one pass."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import ir_measures
import numpy as np
import numpy.typing as npt
from ir_measures import providers
from ir_measures.measures import Measure
from ir_measures.providers import FallbackProvider
from ir_measures.util import CalcResults, Metric

from ir_std import catalog, metrics
from ir_std.catalog import Collection, Match
from ir_std.errors import NoFactorsError, StandardizationWarning
from ir_std.factors import FactorSet
from ir_std.inputs import as_qrels, as_run
from ir_std.measures import Standardized, canonical, check_params, equivalents
from ir_std.ranking import Order, Qrels, Ranking, Run, rank

Values = npt.NDArray[np.float64]


class Scores(dict[Measure, float]):
    """Aggregated scores by measure: a dict that also knows where the factors came from.

    Attributes
    ----------
    match : Match or None
        The factor set used and how well it fits; None if no standardized score was asked for.
    """

    match: Match | None = None


def collection_of(qrels: Qrels) -> Collection:
    """What recognition needs to know of qrels."""
    counts = qrels.count().tolist()
    return Collection(tuple(zip(qrels.topics, counts, strict=True)),
                      tuple(next(iter(docs)) for docs in qrels.judged.values() if docs),
                      qrels.dataset)


def supported_by_engine(measure: Measure) -> bool:
    """Whether :mod:`ir_std.metrics` computes a raw measure; others go to ir_measures."""
    params = measure.params
    return (not hasattr(measure, "runtime_impl")
            and measure.__name__ in metrics.FORMULAS
            and "gains" not in params
            and not params.get("judged_only")
            and params.get("rel", 1) >= (1 if measure.__name__ in ("DCG", "nDCG", "RBP") else 0))


@dataclass(frozen=True)
class _Plan:
    """How one standardized measure is computed: from which raw one, with which factors."""

    measure: Standardized
    raw: Measure
    factors: FactorSet
    name: str


class StdEvaluator(providers.Evaluator):
    """Evaluates runs against one set of qrels.

    Built once, it serves many runs: qrels are read, the collection recognized and factors
    looked up only here.

    Parameters
    ----------
    measures : iterable of Measure
        Raw and standardized ones.
    qrels
        Any form that :func:`ir_std.inputs.as_qrels` takes.
    factors : FactorSet, str or path, optional
        The factors to use where a measure names none; recognized if not given.

    Attributes
    ----------
    match : Match or None
        What recognition found; None where nothing standardized was asked for.

    Raises
    ------
    NoFactorsError
        If a standardized measure has no factors; the message names what there is.
    """

    def __init__(self, measures: Iterable[Measure], qrels: Any,
                 factors: FactorSet | str | None = None) -> None:
        self.qrels = as_qrels(qrels)
        super().__init__(list(dict.fromkeys(measures)), self.qrels.topics)
        self.factors = factors
        self.match: Match | None = None
        self._plans = [self._plan(m) for m in self.measures if isinstance(m, Standardized)]
        raw = [m for m in self.measures if not isinstance(m, Standardized)]
        raw = list(dict.fromkeys([*raw, *(p.raw for p in self._plans)]))
        for measure in self.measures:
            check_params(measure) if supported_by_engine(measure) else measure.validate_params()
        self._engine = [m for m in raw if supported_by_engine(m)]
        elsewhere = [m for m in raw if not supported_by_engine(m)]
        self._elsewhere = (_other_providers().evaluator(elsewhere, self.qrels.judged)
                           if elsewhere else None)
        self._warn_of_gaps()
