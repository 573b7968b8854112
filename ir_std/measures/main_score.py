"""The main score of a task of MTEB, which each task defines."""

from __future__ import annotations

from ir_measures.measures import ParamInfo

from ir_std.measures.parameters import TypedMeasure
from ir_std.measures.registry import own_measures


class _MainScore(TypedMeasure):
    """What MTEB reports of a task: nDCG@10 of most, AP of reranking, nDCG@5 of document images.

    It is read from MTEB's results and never computed from a run.
    """

    __name__ = "main_score"
    NAME = __name__
    PRETTY_NAME = "Main score"
    SHORT_DESC = "The main score of a task of MTEB, as MTEB computed it."
    SUPPORTED_PARAMS: dict[str, ParamInfo] = {}


main_score = _MainScore()
own_measures["main_score"] = main_score
