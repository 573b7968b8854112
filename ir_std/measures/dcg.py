"""DCG, and nDCG with every discount and with binary gains."""

from __future__ import annotations

from typing import Any

from ir_measures import measures as irm
from ir_measures.measures import ParamInfo

from ir_std.measures.parameters import CUTOFF, TypedMeasure
from ir_std.measures.registry import own_measures

_FORMULATION = ParamInfo(
    dtype=str, choices=["log2", "exp-log2", "jk"], default="log2", desc="DCG formulation"
)
_BINARY = ParamInfo(
    dtype=int, required=False, desc="gains are 1 at this level or above; without it they are graded"
)


class _DCG(TypedMeasure):
    """Discounted cumulative gain, not normalized.

    ``dcg='log2'`` discounts by 1/log2(rank+1); ``'exp-log2'`` also takes 2**level - 1 as gain
    (Burges et al. 2005); ``'jk'`` discounts by 1/log2(rank) from rank 3 on (Järvelin and
    Kekäläinen, TOIS 2002).  With ``rel`` gains are binary at that level.
    """

    __name__ = "DCG"
    NAME = __name__
    PRETTY_NAME = "Discounted Cumulative Gain"
    SHORT_DESC = "The total gain of a result list, discounted by rank."
    SUPPORTED_PARAMS = {"cutoff": CUTOFF, "dcg": _FORMULATION, "rel": _BINARY}


class _nDCG(TypedMeasure, irm._nDCG):
    """ir_measures' nDCG, widened by ``dcg='jk'`` and by ``rel`` for binary gains."""

    __name__ = "nDCG"
    SUPPORTED_PARAMS = {**irm._nDCG.SUPPORTED_PARAMS, "dcg": _FORMULATION, "rel": _BINARY}

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        if "rel" in params or params.get("dcg") == "jk":
            # Providers go by NAME and ignore parameters that they do not know: pytrec_eval
            # would answer nDCG(rel=1) with the graded value.
            self.NAME = "nDCG of ir_std"


DCG = _DCG()
nDCG = _nDCG()
NDCG = nDCG

own_measures.update(DCG=DCG, nDCG=nDCG, NDCG=NDCG)
