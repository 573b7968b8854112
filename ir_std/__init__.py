"""Standardized scores for information retrieval evaluation: a drop-in for ir_measures.

``import ir_std as ir_measures`` keeps a program working and gives every measure its
standardized companion where the factors of the collection are known:

>>> import ir_std
>>> scores = ir_std.calc_aggregate("AP", "qrels.txt", "bm25.run")
>>> print(f"AP {scores['AP']:.4f}, standardized {scores['sAP']:.4f}")
AP 0.4527, standardized 0.7650

Runs and qrels are files, dicts, DataFrames or named tuples; qrels also ids of ir_datasets.

Scores, as ir_measures has them
    calc_aggregate, calc, iter_calc, evaluator (built once, for many runs); Scores
    read_trec_qrels, read_trec_run, parse_measure
Measures
    sAP, snDCG and so on (Standardized), with scheme=, A=, B=, factors=; standardized of any other
    SP, DCG, and nDCG with dcg='jk' and rel=
Results of one or many runs
    evaluate (means, tests against a baseline, tables, plots, pages); Results
    place, Placement: where a run would have been among the systems of its track
    compare: systems over several collections
Scores that were computed elsewhere
    read_scores, standardize
Factors
    recognize, Match: which collection qrels are of
    available_factors, load_factors, FactorSet
    build_factors, build_from_scores: sets of your own
Merging of ranked lists
    normalize, merge

Modules: ``plots``, ``report``, ``merging``, ``analysis`` (statistics), ``testing`` (made-up data).
All else is ir_measures' own.
"""

from ir_std import _start  # noqa: F401  # before the imports below, which can be interrupted

# isort: split

from importlib import import_module
from typing import TYPE_CHECKING, Any

import ir_measures
from ir_measures import __all__ as _ir_measures_names
from ir_measures import calc_ctxt, lazylibs, measures, providers, qrel_inputs, run_inputs, util

if not TYPE_CHECKING:
    # Some are replaced below.  Type checkers, which do not agree on what is then there, are told
    # of the others by name.
    from ir_measures import *  # noqa: F403

from ir_std._version import __version__
from ir_std.errors import (
    InputError,
    IrStdError,
    NoFactorsError,
    StandardizationWarning,
    UnknownMeasureError,
    UnknownSetError,
    UsageError,
)
from ir_std.evaluation.api import calc, calc_aggregate, evaluator, iter_calc, recognize
from ir_std.evaluation.evaluation import Scores
from ir_std.evaluation.evaluator import StdEvaluator
from ir_std.evaluation.plugin import StdProvider, install_provider
from ir_std.factors.catalog import available_factors, load_factors
from ir_std.factors.factor_set import FactorSet
from ir_std.factors.fit import Fit
from ir_std.factors.recognition import Match
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
from ir_std.scores.files import read_scores
from ir_std.trec.files import read_trec_qrels, read_trec_run

if TYPE_CHECKING:
    # isort: off
    from ir_measures import (
        AP,
        AP_IA,
        BPM,
        ERR,
        ERR_IA,
        INSQ,
        INST,
        MAP,
        MAP_IA,
        MRR,
        NERR8,
        NERR9,
        NERR10,
        NERR11,
        NRBP,
        P_IA,
        RBP,
        RR,
        SDCG,
        Accuracy,
        BaseMeasure,
        BPref,
        Bpref,
        CalcResults,
        Compat,
        CwlMetric,
        DefaultPipeline,
        Evaluator,
        GenericQrel,
        GenericScoredDoc,
        IPrec,
        Judged,
        MeanAgg,
        Measure,
        Metric,
        NumQ,
        NumRel,
        NumRelRet,
        NumRet,
        P,
        ParamInfo,
        Precision,
        Provider,
        Qrel,
        R,
        Recall,
        RPrec,
        Rprec,
        ScoredDoc,
        SetAP,
        SetF,
        SetP,
        SetR,
        SetRelP,
        StRecall,
        Success,
        SumAgg,
        accuracy,
        alpha_DCG,
        alpha_nDCG,
        compat,
        convert_trec_name,
        cwl_eval,
        define,
        define_byquery,
        gdeval,
        infAP,
        judged,
        msmarco,
        nERR_IA,
        nNRBP,
        parse_trec_measure,
        parse_trec_qrels,
        parse_trec_run,
        pyndeval,
        pytrec_eval,
        ranx,
        runtime,
        trectools,
        α_DCG,  # noqa: PLC2403
        α_nDCG,  # noqa: PLC2403
    )

    # isort: on
    from ir_measures import log_handler as log_handler
    from ir_measures import logger as logger

    from ir_std import analysis, merging, plots, report, testing
    from ir_std.builders.from_runs import build_factors
    from ir_std.builders.from_scores import build_from_scores
    from ir_std.evaluation.placement import Placement, Placer, place
    from ir_std.evaluation.standardize import standardize
    from ir_std.merging import merge, normalize
    from ir_std.reporting.compare import compare
    from ir_std.reporting.comparison import Comparison
    from ir_std.reporting.results import Results, evaluate
else:

    def __getattr__(name: str) -> Any:
        """Import what is seldom needed when it is first used."""
        if name in _MODULES:
            return import_module(f"ir_std.{name}")
        if name in _ON_DEMAND:
            found = getattr(import_module(f"ir_std.{_ON_DEMAND[name]}"), name)
            globals()[name] = found  # for tools that read a module's names, such as pdoc
            return found
        # Whatever else ir_measures has, its log among it, a drop-in has too.
        if not name.startswith("_") and hasattr(ir_measures, name):
            return getattr(ir_measures, name)
        raise AttributeError(f"module 'ir_std' has no attribute {name!r}")


_MODULES = ("analysis", "merging", "plots", "report", "testing")
_ON_DEMAND = {
    name: module
    for module, names in {
        "builders.from_runs": ("build_factors",),
        "builders.from_scores": ("build_from_scores",),
        "evaluation.placement": ("Placement", "Placer", "place"),
        "evaluation.standardize": ("standardize",),
        "merging": ("merge", "normalize"),
        "reporting.compare": ("compare",),
        "reporting.comparison": ("Comparison",),
        "reporting.results": ("Results", "evaluate"),
    }.items()
    for name in names
}
"""What a drop-in does not need, by its module; archives and processes alone would cost 80 ms."""

install_provider()

__all__ = [
    "AP",
    "AP_IA",
    "BPM",
    "DCG",
    "ERR",
    "ERR_IA",
    "INSQ",
    "INST",
    "MAP",
    "MAP_IA",
    "MRR",
    "NDCG",
    "NERR8",
    "NERR9",
    "NERR10",
    "NERR11",
    "NRBP",
    "P_IA",
    "RBP",
    "RR",
    "SDCG",
    "SP",
    "Accuracy",
    "BPref",
    "BaseMeasure",
    "Bpref",
    "CalcResults",
    "Comparison",
    "Compat",
    "CwlMetric",
    "DefaultPipeline",
    "Evaluator",
    "FactorSet",
    "Fit",
    "GenericQrel",
    "GenericScoredDoc",
    "IPrec",
    "InputError",
    "IrStdError",
    "Judged",
    "Match",
    "MeanAgg",
    "Measure",
    "Metric",
    "NoFactorsError",
    "NumQ",
    "NumRel",
    "NumRelRet",
    "NumRet",
    "P",
    "ParamInfo",
    "Placement",
    "Placer",
    "Precision",
    "Provider",
    "Qrel",
    "R",
    "RPrec",
    "Recall",
    "Results",
    "Rprec",
    "ScoredDoc",
    "Scores",
    "SetAP",
    "SetF",
    "SetP",
    "SetR",
    "SetRelP",
    "StRecall",
    "StandardizationWarning",
    "Standardized",
    "StdEvaluator",
    "StdProvider",
    "Success",
    "SumAgg",
    "UnknownMeasureError",
    "UnknownSetError",
    "UsageError",
    "__version__",
    "accuracy",
    "alpha_DCG",
    "alpha_nDCG",
    "analysis",
    "available_factors",
    "build_factors",
    "build_from_scores",
    "calc",
    "calc_aggregate",
    "calc_ctxt",
    "compare",
    "compat",
    "convert_trec_name",
    "cwl_eval",
    "define",
    "define_byquery",
    "evaluate",
    "evaluator",
    "gdeval",
    "infAP",
    "iter_calc",
    "judged",
    "lazylibs",
    "load_factors",
    "measures",
    "merge",
    "merging",
    "msmarco",
    "nDCG",
    "nERR_IA",
    "nNRBP",
    "normalize",
    "parse_measure",
    "parse_trec_measure",
    "parse_trec_qrels",
    "parse_trec_run",
    "place",
    "plots",
    "providers",
    "pyndeval",
    "pytrec_eval",
    "qrel_inputs",
    "ranx",
    "read_scores",
    "read_trec_qrels",
    "read_trec_run",
    "recognize",
    "report",
    "run_inputs",
    "runtime",
    "sAP",
    "sBpref",
    "sDCG",
    "sERR",
    "sJudged",
    "sP",
    "sR",
    "sRBP",
    "sRR",
    "sRprec",
    "sSP",
    "sSuccess",
    "snDCG",
    "standardize",
    "standardized",
    "testing",
    "trectools",
    "util",
    "α_DCG",  # noqa: RUF001
    "α_nDCG",  # noqa: RUF001
]
__all__ += sorted(set(_ir_measures_names) - set(__all__))


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
