"""Standardized scores for information retrieval evaluation.

``import ir_std as ir_measures`` keeps a program working and adds a standardized version of every
measure for which the collection has factors:

>>> import ir_std
>>> scores = ir_std.calc_aggregate("AP", "qrels.txt", "bm25.run")
>>> print(f"AP {scores['AP']:.4f}, standardized {scores['sAP']:.4f}")
AP 0.4527, standardized 0.7650

Runs and qrels can be files, dicts, DataFrames or named tuples.  Qrels can also be ir_datasets IDs.

Results of one or many runs
    evaluate, Results: means, tests against a baseline, tables, plots, reports
    place, Placement: the rank of a run among the systems of its track
    compare: scores of systems over several collections
    diff, RunDiff: differences between two runs, by topic and by document
    agreement, JudgeAgreement: agreement of two judges on the same topics
    correct, Correction, draw_topics: LLM results, corrected with a few human topics
Functions of ir_measures
    calc_aggregate, calc, iter_calc, Scores
    evaluator: one evaluator for many runs
    read_trec_qrels, read_trec_run, parse_measure
Measures
    sAP, snDCG and so on (class Standardized), with scheme=, A=, B=, factors=
    standardized: the standardized version of any measure
    SP, DCG, Q, nERR, and nDCG with dcg='jk' and rel=
    ExternalMeasure: custom measures
Scores that other programs computed
    read_scores, standardize
Factors
    recognize, Match: the factor set that matches your qrels
    available_factors, load_factors, FactorSet
    build_factors, build_from_scores: factor sets of your own
    system: the scores of a reference system, such as "dl19-passage/p_bert"
Merging of ranked lists
    normalize, merge

Modules: ``plots``, ``report``, ``merging``, ``analysis`` (statistics), ``testing`` (simulations).
All other names come from ir_measures.
"""

# The lists of names below are compact, because they are long and rarely read.
# fmt: off
# isort: off
from importlib import import_module
from typing import TYPE_CHECKING, Any

import ir_measures

if not TYPE_CHECKING:  # type checkers disagree on repeated names, see below
    from ir_measures import *  # noqa: F403

from ir_measures import qrel_inputs, run_inputs

from ir_std._version import __version__
from ir_std.errors import (
    InputError, IrStdError, NoFactorsError, StandardizationWarning, UnknownMeasureError,
    UnknownSetError, UsageError,
)
from ir_std.evaluation.api import calc, calc_aggregate, evaluator, iter_calc, recognize
from ir_std.evaluation.evaluation import Scores
from ir_std.evaluation.evaluator import StdEvaluator
from ir_std.evaluation.api import StdProvider, install_provider, standardize
from ir_std.factors.catalog import available_factors, load_factors
from ir_std.factors.factor_set import FactorSet
from ir_std.factors.match import Fit, Match
from ir_std.evaluation.inputs import system
from ir_std.measures import (
    DCG, ExternalMeasure, NDCG, SP, Q, Standardized, nDCG, nERR, parse_measure, sAP, sBpref, sDCG,
    sERR, sJudged, snDCG, snERR, sP, sQ, sR, sRBP, sRprec, sRR, sSP, sSuccess, standardized,
)
from ir_std.scores.files import read_scores
from ir_std.trec import read_trec_qrels, read_trec_run

if TYPE_CHECKING:
    # Names of ir_measures that ir_std does not replace.
    from ir_measures import (
        Accuracy, accuracy, alpha_DCG, alpha_nDCG, AP, AP_IA, BaseMeasure, BPM, BPref, Bpref,
        calc_ctxt, CalcResults, Compat, compat, convert_trec_name, cwl_eval, CwlMetric,
        DefaultPipeline, define, define_byquery, ERR, ERR_IA, Evaluator, gdeval, GenericQrel,
        GenericScoredDoc, infAP, INSQ, INST, IPrec, Judged, judged, lazylibs, MAP, MAP_IA, MeanAgg,
        Measure, measures, Metric, MRR, msmarco, NERR10, NERR11, NERR8, NERR9, nERR_IA, nNRBP, NRBP,
        NumQ, NumRel, NumRelRet, NumRet, P, P_IA, ParamInfo, parse_trec_measure, parse_trec_qrels,
        parse_trec_run, Precision, Provider, providers, pyndeval, pytrec_eval, Qrel, R, ranx, RBP,
        Recall, RPrec, Rprec, RR, runtime, ScoredDoc, SDCG, SetAP, SetF, SetP, SetR, SetRelP,
        StRecall, Success, SumAgg, trectools, util, α_DCG, α_nDCG,
    )
    from ir_measures import log_handler as log_handler, logger as logger

    # These names are imported when they are first used, because importing them takes 80 ms.
    from ir_std import analysis, merging, plots, report, testing
    from ir_std.builders.from_runs import build_factors
    from ir_std.builders.from_scores import build_from_scores
    from ir_std.evaluation.placement import Placement, Placer, place
    from ir_std.merging import merge, normalize
    from ir_std.reporting.agreement import JudgeAgreement, agreement
    from ir_std.reporting.compare import compare
    from ir_std.reporting.diff import RunDiff, diff
    from ir_std.reporting.correction import Correction, correct, draw_topics
    from ir_std.reporting.model import Results
    from ir_std.reporting.results import evaluate

__all__ = [
    "__version__", "agreement", "analysis", "available_factors", "build_factors",
    "build_from_scores", "calc", "calc_aggregate", "compare", "correct", "Correction", "DCG",
    "diff", "draw_topics", "evaluate", "evaluator", "ExternalMeasure", "FactorSet", "Fit",
    "InputError", "IrStdError", "iter_calc", "JudgeAgreement", "load_factors", "Match", "merge",
    "merging", "NDCG", "nDCG", "nERR", "NoFactorsError", "normalize", "parse_measure", "place",
    "Placement", "Placer", "plots", "Q", "read_scores", "read_trec_qrels", "read_trec_run",
    "recognize", "report", "Results", "RunDiff", "sAP", "sBpref", "Scores", "sDCG", "sERR",
    "sJudged", "snDCG", "snERR", "SP", "sP", "sQ", "sR", "sRBP", "sRprec", "sRR", "sSP", "sSuccess",
    "StandardizationWarning", "standardize", "Standardized", "standardized", "StdEvaluator",
    "StdProvider", "system", "testing", "UnknownMeasureError", "UnknownSetError", "UsageError",
]
# Names that few people use can be imported, but ``dir(ir_std)`` does not list them.
_OWN = {*__all__} - {"Fit", "Placer", "StdProvider"}
__all__ += [
    "Accuracy", "accuracy", "alpha_DCG", "alpha_nDCG", "AP", "AP_IA", "BaseMeasure", "BPM", "BPref",
    "Bpref", "calc_ctxt", "CalcResults", "Compat", "compat", "convert_trec_name", "cwl_eval",
    "CwlMetric", "DefaultPipeline", "define", "define_byquery", "ERR", "ERR_IA", "Evaluator",
    "gdeval", "GenericQrel", "GenericScoredDoc", "infAP", "INSQ", "INST", "IPrec", "Judged",
    "judged", "lazylibs", "MAP", "MAP_IA", "MeanAgg", "Measure", "measures", "Metric", "MRR",
    "msmarco", "NERR10", "NERR11", "NERR8", "NERR9", "nERR_IA", "nNRBP", "NRBP", "NumQ", "NumRel",
    "NumRelRet", "NumRet", "P", "P_IA", "ParamInfo", "parse_trec_measure", "parse_trec_qrels",
    "parse_trec_run", "Precision", "Provider", "providers", "pyndeval", "pytrec_eval", "Qrel",
    "qrel_inputs", "R", "ranx", "RBP", "Recall", "RPrec", "Rprec", "RR", "run_inputs", "runtime",
    "ScoredDoc", "SDCG", "SetAP", "SetF", "SetP", "SetR", "SetRelP", "StRecall", "Success",
    "SumAgg", "trectools", "util", "α_DCG", "α_nDCG",
]
# isort: on
# fmt: on
__all__ += sorted(set(ir_measures.__all__) - set(__all__))  # names of later versions

_LAZY_MODULES = ("analysis", "merging", "plots", "report", "testing")
_LAZY_NAMES = {
    name: module
    for module, names in {
        "builders.from_runs": ("build_factors",),
        "builders.from_scores": ("build_from_scores",),
        "evaluation.placement": ("Placement", "Placer", "place"),
        "merging": ("merge", "normalize"),
        "reporting.agreement": ("JudgeAgreement", "agreement"),
        "reporting.compare": ("compare",),
        "reporting.correction": ("Correction", "correct", "draw_topics"),
        "reporting.diff": ("RunDiff", "diff"),
        "reporting.model": ("Results",),
        "reporting.results": ("evaluate",),
    }.items()
    for name in names
}
"""Names that are imported only when they are first used, and the modules of these names."""

install_provider()

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name in _LAZY_MODULES:
            return import_module(f"ir_std.{name}")
        if name in _LAZY_NAMES:
            value = getattr(import_module(f"ir_std.{_LAZY_NAMES[name]}"), name)
            globals()[name] = value  # for tools that read a module's names, such as pdoc
            return value
        # A drop-in replacement needs all other names of ir_measures, such as its logger.
        if not name.startswith("_") and hasattr(ir_measures, name):
            return getattr(ir_measures, name)
        raise AttributeError(f"module 'ir_std' has no attribute {name!r}")


# fmt: off
_CALLS = [
    "calc_ctxt", "CalcResults", "convert_trec_name", "define", "define_byquery", "GenericQrel",
    "GenericScoredDoc", "Measure", "measures", "Metric", "parse_trec_measure", "parse_trec_qrels",
    "parse_trec_run", "Qrel", "ScoredDoc",
]
# fmt: on
"""Names of ir_measures that users call in their programs, apart from the measures."""


def __dir__() -> list[str]:
    theirs = [n for n in ir_measures.__all__ if isinstance(getattr(ir_measures, n), Measure)]
    dunder = [name for name in globals() if name.startswith("__")]
    return sorted({*_OWN, *theirs, *_CALLS, *dunder})
