"""Standardized scores for information retrieval evaluation: a drop-in for ir_measures.

``import ir_std as ir_measures`` keeps a program working and gives every measure its
standardized companion where the factors of the collection are known.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ir_measures import *  # noqa: F403
from ir_measures import __all__ as _ir_measures_names
from ir_measures import calc_ctxt, lazylibs, measures, providers, qrel_inputs, run_inputs, util

from ir_std._version import __version__
from ir_std.catalog import Fit, Match, available_factors, load_factors
from ir_std.dropin import calc, calc_aggregate, evaluator, iter_calc, recognize
from ir_std.errors import (
    InputError,
    IrStdError,
    NoFactorsError,
    StandardizationWarning,
    UnknownMeasureError,
    UnknownSetError,
    UsageError,
)
from ir_std.factors import FactorSet
from ir_std.measures import (
    DCG,
    NDCG,
    SP,
    Standardized,
    nDCG,
    parse_measure,
    sAP,
    sBpref,
    sDCG,
    sERR,
    sJudged,
    snDCG,
    sP,
    sR,
    sRBP,
    sRprec,
    sRR,
    sSP,
    sSuccess,
    standardized,
)
from ir_std.provider import Scores, StdEvaluator, StdProvider, install

if TYPE_CHECKING:
    from ir_std.build import build_factors
    from ir_std.comparison import Comparison, compare
    from ir_std.merging import merge, normalize
    from ir_std.placement import Placement, Placer, place
    from ir_std.results import Results, evaluate
    from ir_std.tables import build_from_scores

install()

_ON_DEMAND = {name: f"ir_std.{module}" for module, names in {
    "build": ("build_factors",),
    "comparison": ("Comparison", "compare"),
    "merging": ("merge", "normalize"),
    "placement": ("Placement", "Placer", "place"),
    "results": ("Results", "evaluate"),
    "tables": ("build_from_scores",),
}.items() for name in names}
"""What a drop-in does not need, by its module; archives and processes alone would cost 80 ms."""


def __getattr__(name: str) -> Any:
    """Import what is seldom needed when it is first used."""
    if name in _ON_DEMAND:
        return getattr(import_module(_ON_DEMAND[name]), name)
    raise AttributeError(f"module 'ir_std' has no attribute {name!r}")


__all__ = [
    *_ir_measures_names,
    "Comparison", "DCG", "FactorSet", "Fit", "InputError", "IrStdError", "Match", "NDCG",
    "NoFactorsError", "Placement", "Placer", "Results", "SP", "Scores", "StandardizationWarning",
    "Standardized", "StdEvaluator", "StdProvider", "UnknownMeasureError", "UnknownSetError",
    "UsageError", "__version__", "available_factors", "build_factors", "build_from_scores",
    "calc", "calc_aggregate", "calc_ctxt", "compare", "evaluate", "evaluator", "iter_calc",
    "lazylibs", "load_factors", "measures", "merge", "nDCG", "normalize", "parse_measure",
    "place", "providers", "qrel_inputs", "recognize", "run_inputs", "sAP", "sBpref", "sDCG",
    "sERR", "sJudged", "sP", "sR", "sRBP", "sRR", "sRprec", "sSP", "sSuccess", "snDCG",
    "standardized", "util",
]
