"""SP, the sum of precisions."""

from __future__ import annotations

from ir_measures.measures import ParamInfo

from ir_std.measures.parameters import CUTOFF, TypedMeasure
from ir_std.measures.registry import own_measures


class _SP(TypedMeasure):
    """The sum of precisions at the relevant documents: AP times their number.

    Webber, Moffat and Zobel (SIGIR 2008).
    """

    __name__ = "SP"
    NAME = __name__
    PRETTY_NAME = "Sum of Precisions"
    SHORT_DESC = "The sum of the precision scores at each relevant item retrieved."
    SUPPORTED_PARAMS = {
        "cutoff": CUTOFF,
        "rel": ParamInfo(dtype=int, default=1, desc="minimum relevance score (inclusive)"),
    }


SP = _SP()
own_measures["SP"] = SP
