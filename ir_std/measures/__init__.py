"""Measure objects and their names: SP, DCG, Q, nERR, an extended nDCG, and standardized measures.

Importing this module registers the measures with ``ir_measures.parse_measure``; names that are
already registered there take precedence.  You can use this module instead of
``ir_measures.measures``, because it also provides all names of that module.

===============  =====================================================================
module           contents
===============  =====================================================================
``objects``      measures that ir_std defines or extends, and checks of their parameters
``formulas``     formulas that ir_std computes, and the terms of sums
``records``      one record per measure, and the registry of measures by name
``external``     measures of other programs, and the names used by trec_eval and MTEB
``family``       the standardized form of every measure: ``sAP``, ``snDCG@10``
``names``        parsing of measure names, in the spellings of all these tools
===============  =====================================================================
"""

from typing import TYPE_CHECKING, Any

from ir_measures import measures as irm
from ir_measures.measures import Measure

from ir_std.measures import family, records
from ir_std.measures.external import ExternalMeasure, lower_measures, sign_of
from ir_std.measures.family import NanMean, Standardized, has_standardized, standardized
from ir_std.measures.names import Measures, as_measures, named_measure, parse_measure
from ir_std.measures.objects import DCG, SP, Q, canonical, check_params, main_score, nDCG, nERR
from ir_std.measures.records import gains_are_shares, looks_at_nonrelevant, measure_record

NDCG = nDCG

family.register_family()
records.join_ir_measures()

sAP, sSP, sP, sR, sRR, sRprec, sRBP = (
    family.FORMS[f"s{name}"] for name in ("AP", "SP", "P", "R", "RR", "Rprec", "RBP")
)
snDCG, sDCG, sERR, snERR, sQ, sBpref, sSuccess, sJudged = (
    family.FORMS[f"s{name}"]
    for name in ("nDCG", "DCG", "ERR", "nERR", "Q", "Bpref", "Success", "Judged")
)

# fmt: off
__all__ = [
    "DCG", "NDCG", "SP", "ExternalMeasure", "Measure", "Measures", "NanMean", "Q", "Standardized",
    "as_measures", "canonical", "check_params", "gains_are_shares",
    "has_standardized", "looks_at_nonrelevant", "lower_measures", "main_score",
    "measure_record", "nDCG", "nERR", "named_measure", "parse_measure", "sAP", "sBpref", "sDCG",
    "sERR", "sJudged", "sP", "sQ", "sR", "sRBP", "sRR", "sRprec", "sSP", "sSuccess", "sign_of",
    "snDCG", "snERR", "standardized",
]
# fmt: on

if not TYPE_CHECKING:
    __all__.extend(name for name in irm.__all__ if name not in __all__)

    def __getattr__(name: str) -> Any:
        """Return an attribute of ir_measures' module that this module lacks."""
        return getattr(irm, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *dir(irm)})
