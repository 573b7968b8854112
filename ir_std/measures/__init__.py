"""Measure objects and their names: SP, DCG, Q, nERR, a wider nDCG, and the standardized family.

Importing this module makes them known to ``ir_measures.parse_measure``, behind all that is
registered there.  It stands in for ``ir_measures.measures``: what it does not have, that has.

======================  ====================================================================
module                  what it holds
======================  ====================================================================
``sp``, ``dcg``,        the raw measures that ir_measures lacks, or has in part
``ntcir``
``external``            measures that other programs compute, known by their names
``family``              the standardized form of every measure: ``sAP``, ``snDCG@10``
``of_trec_eval``        measures that trec_eval has and ir_measures lacks
``registry``            measures by name, ir_std's own and ir_measures'; names to objects
``parameters``          which parameters are allowed; canonical names
``equivalence``         measures that are equal once they are standardized
``names``               what users of other tools write for measures
``translation``         what trec_eval and MTEB call the measures, as tables
======================  ====================================================================
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ir_measures import measures as irm

if not TYPE_CHECKING:
    from ir_measures.measures import *  # noqa: F403  # for tools that read a module's names

from ir_std.measures.dcg import DCG, NDCG, nDCG
from ir_std.measures.equivalence import equivalents, gains_are_shares, has_graded_gains
from ir_std.measures.external import ExternalMeasure, lower_measures, sign_of
from ir_std.measures.family import FORMS as _FORMS
from ir_std.measures.family import NanMean, Standardized, has_standardized, standardized
from ir_std.measures.family import register_family as _register_family
from ir_std.measures.main_score import main_score as main_score  # registers it
from ir_std.measures.ntcir import Q, nERR
from ir_std.measures.of_trec_eval import GMAP, GMBpref, IPrec11, RBPResidual, RIPrec, Unjudged
from ir_std.measures.parameters import canonical, check_params
from ir_std.measures.registry import Measures, as_measures, near_measures, parse_measure
from ir_std.measures.registry import join_ir_measures as _join_ir_measures
from ir_std.measures.sp import SP

# Pickles of earlier versions name these here.
from ir_std.measures.dcg import _DCG, _nDCG  # noqa: F401  # isort: skip
from ir_std.measures.family import _rebuild  # noqa: F401  # isort: skip
from ir_std.measures.sp import _SP  # noqa: F401  # isort: skip

_register_family()
_join_ir_measures()

sAP: Standardized = _FORMS["sAP"]
sSP: Standardized = _FORMS["sSP"]
sP: Standardized = _FORMS["sP"]
sR: Standardized = _FORMS["sR"]
sRR: Standardized = _FORMS["sRR"]
sRprec: Standardized = _FORMS["sRprec"]
sRBP: Standardized = _FORMS["sRBP"]
snDCG: Standardized = _FORMS["snDCG"]
sDCG: Standardized = _FORMS["sDCG"]
sERR: Standardized = _FORMS["sERR"]
snERR: Standardized = _FORMS["snERR"]
sQ: Standardized = _FORMS["sQ"]
sBpref: Standardized = _FORMS["sBpref"]
sSuccess: Standardized = _FORMS["sSuccess"]
sJudged: Standardized = _FORMS["sJudged"]

__all__ = [
    "DCG",
    "GMAP",
    "NDCG",
    "SP",
    "ExternalMeasure",
    "GMBpref",
    "IPrec11",
    "Measures",
    "NanMean",
    "Q",
    "RBPResidual",
    "RIPrec",
    "Standardized",
    "Unjudged",
    "as_measures",
    "canonical",
    "check_params",
    "equivalents",
    "gains_are_shares",
    "has_graded_gains",
    "has_standardized",
    "lower_measures",
    "nDCG",
    "nERR",
    "near_measures",
    "parse_measure",
    "sAP",
    "sBpref",
    "sDCG",
    "sERR",
    "sJudged",
    "sP",
    "sQ",
    "sR",
    "sRBP",
    "sRR",
    "sRprec",
    "sSP",
    "sSuccess",
    "sign_of",
    "snDCG",
    "snERR",
    "standardized",
]

if not TYPE_CHECKING:
    registry = irm.registry
    __all__.extend(name for name in irm.__all__ if name not in __all__)

    def __getattr__(name: str) -> Any:
        """What is not here is ir_measures'."""
        return getattr(irm, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *dir(irm)})
