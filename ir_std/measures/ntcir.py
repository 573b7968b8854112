"""Q and nERR, graded measures of NTCIR's tasks, as NTCIREVAL computes them."""

from __future__ import annotations

from typing import Any

from ir_measures.measures import ParamInfo

from ir_std.measures.parameters import CUTOFF, TypedMeasure
from ir_std.measures.registry import own_measures


class _Q(TypedMeasure):
    """Q-measure: AP with blended ratios for precisions.

    T. Sakai, Information Processing and Management 43(2), 2007.  With a cutoff k the sum is
    divided by the number of relevant documents, or k if that is less.
    """

    __name__ = "Q"
    NAME = __name__
    PRETTY_NAME = "Q-measure"
    SHORT_DESC = "The mean over relevant items of a ratio that blends precision and gain."
    SUPPORTED_PARAMS = {
        "cutoff": CUTOFF,
        "beta": ParamInfo(dtype=float, default=1.0, desc="weight of gains; 0 makes it AP"),
    }

    def __init__(self, **params: Any) -> None:
        if type(params.get("beta")) is int:  # names spell it as a fraction
            params["beta"] = float(params["beta"])
        super().__init__(**params)


class _nERR(TypedMeasure):
    """Expected reciprocal rank, divided by that of the ideal ranking.

    A document satisfies with probability level / (highest level + 1): T. Sakai, R. Song, SIGIR
    2011.  The highest level is that of the qrels, or of the collection that they are a part of.
    """

    __name__ = "nERR"
    NAME = __name__
    PRETTY_NAME = "Normalized Expected Reciprocal Rank"
    SHORT_DESC = "Expected reciprocal rank as a share of the best that could be had."
    SUPPORTED_PARAMS = {"cutoff": CUTOFF}


Q = _Q()
nERR = _nERR()
own_measures.update(Q=Q, nERR=nERR)
