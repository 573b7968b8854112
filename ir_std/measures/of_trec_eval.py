"""Measures that trec_eval has and ir_measures lacks, as trec_eval 10.0 computes them."""

from __future__ import annotations

import math
from typing import Any

from ir_measures.measures import ParamInfo
from ir_measures.measures.base import Agg

from ir_std.measures.parameters import CUTOFF, TypedMeasure
from ir_std.measures.registry import own_measures

LEAST = 1e-5
"""What counts where a value is lower, in a geometric mean."""
REL = ParamInfo(dtype=int, default=1, desc="minimum relevance score (inclusive)")
NEAREST = ParamInfo(
    dtype=bool,
    default=True,
    desc="round a share of the relevant documents to the nearest number of them, as trec_eval does "
    "from 10.0; before, and in IPrec, it is rounded up",
)


class GeometricMean(Agg):
    """The geometric mean, in which values below 0.00001 count as that."""

    def __init__(self) -> None:
        self.logarithms: list[float] = []

    def add(self, value: float) -> None:
        """Count a value in."""
        self.logarithms.append(math.log(max(value, LEAST)))

    def result(self) -> float:
        """The mean of what was counted; NaN of nothing."""
        n = len(self.logarithms)
        return math.exp(sum(self.logarithms) / n) if n else math.nan


class _Geometric(TypedMeasure):
    """A measure whose mean over topics is the geometric one."""

    def aggregator(self) -> Any:
        """What means are made by."""
        return GeometricMean()


class _GMAP(_Geometric):
    """Average precision, of which the mean is geometric: trec_eval's ``gm_map``."""

    __name__ = "GMAP"
    NAME = __name__
    PRETTY_NAME = "Geometric Mean Average Precision"
    SHORT_DESC = "The geometric mean over topics of AP."
    SUPPORTED_PARAMS = {"rel": REL}


class _GMBpref(_Geometric):
    """Bpref, of which the mean is geometric: trec_eval's ``gm_bpref``."""

    __name__ = "GMBpref"
    NAME = __name__
    PRETTY_NAME = "Geometric Mean Binary Preference"
    SHORT_DESC = "The geometric mean over topics of Bpref."
    SUPPORTED_PARAMS = {"rel": REL}


class _RIPrec(TypedMeasure):
    """Interpolated precision at a recall: trec_eval's ``iprec_at_recall`` from 10.0 on.

    The number of documents that the recall stands for is rounded to the nearest one; ``IPrec``,
    which is that of trec_eval before, rounds it up.
    """

    __name__ = "RIPrec"
    NAME = __name__
    AT_PARAM = "recall"
    PRETTY_NAME = "Interpolated Precision at Rounded Recall"
    SHORT_DESC = "The highest precision at or behind the rank at which a recall is reached."
    SUPPORTED_PARAMS = {"recall": ParamInfo(dtype=float, required=True, desc="recall"), "rel": REL}


class _IPrec11(TypedMeasure):
    """Interpolated precision, averaged over recall 0, 0.1, ... 1: trec_eval's ``11pt_avg``."""

    __name__ = "IPrec11"
    NAME = __name__
    PRETTY_NAME = "11-Point Average Precision"
    SHORT_DESC = "The mean of interpolated precision over eleven points of recall."
    SUPPORTED_PARAMS = {"rel": REL, "nearest": NEAREST}


class _Unjudged(TypedMeasure):
    """The share of the first ranks with a document that is not judged: trec_eval's ``unj``."""

    __name__ = "Unjudged"
    NAME = __name__
    PRETTY_NAME = "Unjudged at k"
    SHORT_DESC = "The share of the first k ranks that hold a document which is not judged."
    SUPPORTED_PARAMS = {"cutoff": ParamInfo(dtype=int, required=True, desc=CUTOFF.desc)}


class _RBPResidual(TypedMeasure):
    """How much RBP could gain if documents that are not judged were relevant: ``rbp_resid``."""

    __name__ = "RBPResidual"
    NAME = __name__
    PRETTY_NAME = "Residual of Rank-Biased Precision"
    SHORT_DESC = "The most that RBP could gain by documents which are not judged."
    SUPPORTED_PARAMS = {"p": ParamInfo(dtype=float, default=0.9, desc="persistence")}


GMAP, GMBpref, RIPrec, IPrec11 = _GMAP(), _GMBpref(), _RIPrec(), _IPrec11()
Unjudged, RBPResidual = _Unjudged(), _RBPResidual()
for _measure in (GMAP, GMBpref, RIPrec, IPrec11, Unjudged, RBPResidual):
    own_measures[_measure.NAME] = _measure
