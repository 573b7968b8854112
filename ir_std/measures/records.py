"""One record for each measure: formula, order, needs and range; and the registry of measures.

To add a measure, write a record.  One that ir_measures lacks gets an object in
:mod:`ir_std.measures.objects`, too.
"""

from __future__ import annotations

import logging
import math
from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from ir_measures import measures as irm
from ir_measures.measures import Measure
from ir_measures.measures.base import registry as theirs

from ir_std._arrays import Floats, Ints
from ir_std.measures import formulas as f
from ir_std.measures import objects as own

Precision = type[np.floating[Any]]


class Order(NamedTuple):
    """Order of documents: by score in this precision, with ties by document ID."""

    precision: Precision
    ids_descending: bool


TREC_EVAL = Order(np.float32, True)
"""Scores as 32-bit floats, ties by document id descending: trec_eval up to 9, pytrec_eval."""
DOUBLE = Order(np.float64, True)
"""Scores as 64-bit floats, ties by id descending: gdeval, trec_eval 10, and the published SP."""
MSMARCO = Order(np.float64, False)
"""Scores as 64-bit floats, ties by document id ascending: ir_measures' RR@k and Judged."""

Params = Mapping[str, Any]

NEGLIGIBLE_WEIGHT = 5e-5
"""Weight that does not change four decimals."""


def _trec_eval(_: Params) -> Order:
    return TREC_EVAL


def _double_if_exponential(params: Params) -> Order:
    return DOUBLE if params.get("dcg") == "exp-log2" else TREC_EVAL


def _all_ranks(_: Params, relevant: Ints) -> Floats:
    return np.full(len(relevant), np.inf)


def no_ranks(_: Params, relevant: Ints) -> Floats:
    """Return 0 for each topic: what is known of a measure says nothing of ranks."""
    return np.zeros(len(relevant))


def _ranks_up_to_r(_: Params, relevant: Ints) -> Floats:
    # Scores may not tell how many documents are relevant.
    return np.where(relevant.any(), relevant, np.inf).astype(float)


def _ranks_with_weight(params: Params, relevant: Ints) -> Floats:
    p = params.get("p", 0.8)
    return np.full(len(relevant), math.ceil(math.log(NEGLIGIBLE_WEIGHT) / math.log(p)) if p else 1)


class Record(NamedTuple):
    """Known properties of a measure.

    Attributes
    ----------
    measure : Measure
        Without parameters.
    formula : callable, optional
        Formula of the measure; see :mod:`ir_std.measures.formulas`.
    terms : callable, optional
        Terms of single documents, if the measure is a sum over documents.
    order : callable
        Order in which ir_measures' default provider ranks documents, by the parameters.
    low, high : float
        Range of its values.
    graded, shares : bool
        True if it distinguishes levels above 1, or if gains are shares of the highest level,
        unless `rel` is given.
    relevance : bool
        True if it depends on the levels of documents.
    nonrelevant : bool
        True if it tells documents judged not relevant from documents that are not judged.
    judged : bool
        True if it depends on which documents are judged at all.
    recall : bool
        True if it reaches its highest value only if all relevant documents are found.
    ends_at_cutoff : bool
        True if a ranking that ends at the cutoff has the same value without one.
    last_ranks : callable
        Last ranks at which documents matter, by the parameters and the numbers of relevant
        documents, shape (n_topics,).
    proportional : Measure, optional
        Measure that equals this one up to a factor of the topic, which standardization removes.
    kind : str
        ``"count"``, ``"diversity"`` or ``"trec_eval"`` for measures that have no standardized form,
        because counts say nothing relative to other systems, no set has judgments of subtopics,
        and the others are printed only for users of trec_eval.
    """

    measure: Measure
    formula: Callable[..., Floats] | None = None
    terms: Callable[..., f.Terms] | None = None
    order: Callable[[Params], Order] = _trec_eval
    low: float = 0.0
    high: float = 1.0
    graded: bool = False
    shares: bool = False
    relevance: bool = True
    nonrelevant: bool = False
    judged: bool = False
    recall: bool = False
    ends_at_cutoff: bool = False
    last_ranks: Callable[[Params, Ints], Floats] = _all_ranks
    proportional: Measure | None = None
    kind: str = ""


RECORDS = (
    Record(
        irm.AP,
        f.average_precision,
        f.precisions_at_relevant,
        recall=True,
        ends_at_cutoff=True,
        proportional=own.SP,
    ),
    Record(
        own.SP,
        f.sum_of_precisions,
        f.precisions_at_relevant,
        high=math.inf,
        recall=True,
        ends_at_cutoff=True,
        proportional=irm.AP,
    ),
    Record(irm.P, f.precision, f.relevant_found),
    Record(irm.R, f.recall, f.relevant_found),
    Record(irm.Rprec, f.r_precision, f.relevant_above_r, recall=True, last_ranks=_ranks_up_to_r),
    Record(
        irm.RR,
        f.reciprocal_rank,
        f.first_relevant,
        order=lambda params: MSMARCO if "cutoff" in params else TREC_EVAL,
    ),
    Record(irm.Success, f.success),
    Record(
        irm.Judged,
        f.judged_share,
        f.judged_found,
        order=lambda _: MSMARCO,
        relevance=False,
        nonrelevant=True,
        judged=True,
    ),
    Record(irm.Bpref, f.bpref, f.preferences, nonrelevant=True, recall=True),
    Record(
        irm.RBP,
        f.rank_biased_precision,
        f.persisting_gains,
        graded=True,
        shares=True,
        last_ranks=_ranks_with_weight,
    ),
    Record(
        own.nDCG,
        f.normalized_dcg,
        f.discounted_gains,
        order=_double_if_exponential,
        graded=True,
        recall=True,
        ends_at_cutoff=True,
        proportional=own.DCG,
    ),
    Record(
        own.DCG,
        f.discounted_cumulative_gain,
        f.discounted_gains,
        order=_double_if_exponential,
        high=math.inf,
        graded=True,
        recall=True,
        ends_at_cutoff=True,
        proportional=own.nDCG,
    ),
    Record(
        irm.ERR,
        f.expected_reciprocal_rank,
        f.gdeval_reciprocals,
        order=lambda _: DOUBLE,
        graded=True,
    ),
    Record(own.nERR, f.normalized_err, f.ntcir_reciprocals, graded=True, shares=True),
    Record(own.Q, f.q_measure, f.blended_ratios, graded=True, recall=True),
    Record(own.main_score, low=-1.0, last_ranks=no_ranks),  # as MTEB's p-MRR is one
    Record(irm.infAP, nonrelevant=True, judged=True),
    Record(irm.Accuracy, judged=True),
    Record(irm.NumRel, f.number_of_relevant, high=math.inf, kind="count"),
    *(Record(m, high=math.inf, kind="count") for m in (irm.NumQ, irm.NumRet)),
    Record(irm.alpha_DCG, high=math.inf, kind="diversity"),
    *(
        Record(m, kind="diversity")
        for m in (
            irm.alpha_nDCG,
            irm.NRBP,
            irm.nNRBP,
            irm.AP_IA,
            irm.P_IA,
            irm.ERR_IA,
            irm.nERR_IA,
            irm.StRecall,
        )
    ),
    Record(own.GMAP, f.average_precision, kind="trec_eval"),
    Record(own.GMBpref, f.bpref, nonrelevant=True, kind="trec_eval"),
    Record(own.RIPrec, f.interpolated_precision, kind="trec_eval"),
    Record(own.IPrec11, f.eleven_point_average, kind="trec_eval"),
    Record(own.Unjudged, f.unjudged_share, nonrelevant=True, kind="trec_eval"),
    Record(own.RBPResidual, f.rbp_residual, nonrelevant=True, kind="trec_eval"),
)

_PLAIN = Record(Measure())
by_class: dict[type[Measure], Record] = {type(record.measure): record for record in RECORDS}
"""The records by the class of their measures."""
by_class[type(irm.nDCG)] = by_class[type(own.nDCG)]


def measure_record(measure: Measure) -> Record:
    """Return what is known of a raw measure.

    By its class: a user's own measure may have the name of another.
    """
    return by_class.get(type(measure), _PLAIN)


def has_graded_gains(measure: Measure) -> bool:
    """Check whether a raw measure distinguishes levels above 1 from level 1."""
    return measure_record(measure).graded and "rel" not in measure.params


def gains_are_shares(measure: Measure) -> bool:
    """Check whether gains of a raw measure depend on the highest level of the collection."""
    return measure_record(measure).shares and "rel" not in measure.params


def looks_at_nonrelevant(measure: Measure) -> bool:
    """Check whether a raw measure looks at documents that are judged not relevant."""
    return measure_record(measure).nonrelevant or measure.params.get("rel", 1) < 1


def equivalents(measure: Measure, binary: bool) -> Iterator[Measure]:
    """Yield the raw measures whose standardized values equal this one's, itself first.

    Parameters
    ----------
    measure : Measure
        A raw measure.
    binary : bool
        True if the qrels hold no level above 1; then binary and graded gains are the same.
    """
    equal = [measure]
    kind = measure_record(measure)
    if binary and kind.graded and measure.params.get("rel", 1) == 1:
        params = {name: value for name, value in measure.params.items() if name != "rel"}
        if "rel" not in measure.params:
            params["rel"] = 1
        if "rel" in measure.SUPPORTED_PARAMS:
            equal.append(kind.measure(**params))
    yield from equal
    if (other := kind.proportional) is not None:
        for raw in equal:
            if raw.params.keys() <= other.SUPPORTED_PARAMS.keys():
                yield other(**raw.params)


# --- the registry ---------------------------------------------------------------------------------

own_measures: dict[str, Measure] = {
    m.__name__: m for m in (r.measure for r in RECORDS) if type(m).__module__ == own.__name__
} | {"NDCG": own.nDCG}
"""The measures of ir_std by name; the standardized family is added by its module."""
by_name: ChainMap[str, Any] = ChainMap(own_measures, theirs)
"""Measures by name: ir_std's own if it has one, otherwise ir_measures'."""

_logger = logging.getLogger("ir_std")
_ORIGINAL_NDCG = irm.nDCG
_conflicts: set[str] = set()


class MeasureRegistry(ChainMap[str, Any]):
    """Replacement of ``ir_measures.measures.registry`` while ir_std is imported.

    ir_measures' own registry comes first and stays as it is: names that users register there,
    before ir_std is imported or afterwards, are theirs.  ir_std adds only names that it lacks.
    """

    def __getitem__(self, name: str) -> Any:
        log_conflict(name)
        return super().__getitem__(name)


def log_conflict(name: str) -> None:
    """Say once that a user's measure has the name of one of ir_std's."""
    if name not in own_measures or theirs.get(name, _ORIGINAL_NDCG) is _ORIGINAL_NDCG:
        return
    if name not in _conflicts:
        _conflicts.add(name)
        _logger.warning(
            "%s is registered with ir_measures by somebody else, and stays so there; "
            "in calls of ir_std the name is ir_std.%s",
            name,
            name,
        )


def join_ir_measures() -> None:
    """Let ir_measures find ir_std's measures by name, behind all of its own."""
    vars(irm)["registry"] = MeasureRegistry(theirs, own_measures)
    for name in own_measures:
        log_conflict(name)
