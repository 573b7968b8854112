"""Measure objects and their names: SP, DCG, a wider nDCG, and the standardized family.

Importing this module registers them with ir_measures, so that ``ir_measures.parse_measure``
knows their names.  It stands in for ``ir_measures.measures``: what it does not have, that has.

======================  ====================================================================
module                  what it holds
======================  ====================================================================
``sp``, ``dcg``         the raw measures that ir_measures lacks, or has in part
``family``              the standardized form of every measure: ``sAP``, ``snDCG@10``
``parsing``             names of measures to objects
``parameters``          which parameters are allowed; canonical names
``equivalence``         measures that are equal once they are standardized
``names``               what trec_eval and MTEB call the measures
======================  ====================================================================
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ir_measures import measures as irm

if not TYPE_CHECKING:
    from ir_measures.measures import *  # noqa: F403  # for tools that read a module's names

from ir_std.measures.dcg import DCG, NDCG, nDCG
from ir_std.measures.equivalence import equivalents, has_graded_gains
from ir_std.measures.family import NanMean, Standardized, has_standardized, standardized
from ir_std.measures.family import register_family as _register_family
from ir_std.measures.parameters import canonical, check_params
from ir_std.measures.parsing import Measures, as_measures, near_measures, parse_measure
from ir_std.measures.sp import SP

# Pickles of earlier versions name these here.
from ir_std.measures.dcg import _DCG, _nDCG  # noqa: F401  # isort: skip
from ir_std.measures.family import _rebuild  # noqa: F401  # isort: skip
from ir_std.measures.sp import _SP  # noqa: F401  # isort: skip

_register_family()

sAP: Standardized = irm.registry["sAP"]
sSP: Standardized = irm.registry["sSP"]
sP: Standardized = irm.registry["sP"]
sR: Standardized = irm.registry["sR"]
sRR: Standardized = irm.registry["sRR"]
sRprec: Standardized = irm.registry["sRprec"]
sRBP: Standardized = irm.registry["sRBP"]
snDCG: Standardized = irm.registry["snDCG"]
sDCG: Standardized = irm.registry["sDCG"]
sERR: Standardized = irm.registry["sERR"]
sBpref: Standardized = irm.registry["sBpref"]
sSuccess: Standardized = irm.registry["sSuccess"]
sJudged: Standardized = irm.registry["sJudged"]

__all__ = [
    "DCG",
    "NDCG",
    "SP",
    "Measures",
    "NanMean",
    "Standardized",
    "as_measures",
    "canonical",
    "check_params",
    "equivalents",
    "has_graded_gains",
    "has_standardized",
    "nDCG",
    "near_measures",
    "parse_measure",
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
    "standardized",
]

if not TYPE_CHECKING:
    __all__.extend(name for name in irm.__all__ if name not in __all__)

    def __getattr__(name: str) -> Any:
        """What is not here is ir_measures'."""
        return getattr(irm, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *dir(irm)})
