"""One record per measure with its formula and properties, and the registry of measures.

To add a measure, write a record.  If ir_measures lacks the measure, also add an object to
:mod:`ir_std.measures.objects`.
"""

import logging
import math
from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from ir_measures import measures as irm
from ir_measures.measures import Measure
from ir_measures.measures.base import registry as theirs

from ir_std._arrays import EXACT, Floats, Ints
from ir_std.measures import formulas as f, objects as own

Precision = type[np.floating[Any]]


class Order(NamedTuple):
    """Precision with which scores are compared, and order of tied documents."""

    precision: Precision
    ids_descending: bool


TREC_EVAL = Order(np.float32, True)
"""Order of documents in trec_eval up to 9 and in pytrec_eval.

Scores are compared as 32-bit floats, and tied documents are in the order of descending IDs.
"""
DOUBLE = Order(np.float64, True)
"""Order of documents in gdeval, in trec_eval 10 and for the published SP.

Scores are compared as 64-bit floats, and tied documents are in the order of descending IDs.
"""
MSMARCO = Order(np.float64, False)
"""Order of documents for ir_measures' RR@k and Judged.

Scores are compared as 64-bit floats, and tied documents are in the order of ascending IDs.
"""

Params = Mapping[str, Any]

NEGLIGIBLE_WEIGHT = 5e-5
"""Weight below which a document does not change the first four decimals of a score."""


def _double_if_exponential(params: Params) -> Order:
    return DOUBLE if params.get("dcg") == "exp-log2" else TREC_EVAL


def _msmarco_with_cutoff(params: Params) -> Order:
    return MSMARCO if "cutoff" in params else TREC_EVAL


def _cutoff(params: Params) -> int:
    return int(params["cutoff"])


def _share_of_cutoff(params: Params, relevant: Floats) -> Floats:
    return np.asarray(relevant / _cutoff(params))


def unlimited(_: Params, relevant: Ints | Floats) -> Floats:
    """Return infinity for each topic."""
    return np.full(len(relevant), np.inf)


def _zero_without_relevant(_: Params, relevant: Ints | Floats) -> Floats:
    return np.where(relevant == 0, 0.0, np.inf)


def no_ranks(_: Params, relevant: Ints) -> Floats:
    """Return 0 for each topic if it is unknown how the measure depends on ranks."""
    return np.zeros(len(relevant))


def _ranks_up_to_r(_: Params, relevant: Ints) -> Floats:
    # If only scores are known, the number of relevant documents may be unknown.
    return np.where(relevant.any(), relevant, np.inf).astype(float)


def _ranks_with_weight(params: Params, relevant: Ints) -> Floats:
    p = params.get("p", 0.8)
    return np.full(len(relevant), math.ceil(math.log(NEGLIGIBLE_WEIGHT) / math.log(p)) if p else 1)


class Record(NamedTuple):
    """Known properties of a measure.

    Attributes
    ----------
    measure : Measure
        The measure without parameters.
    formula : callable, optional
        Formula of the measure; see :mod:`ir_std.measures.formulas`.
    terms : callable, optional
        Terms of single documents, if the measure is a sum over documents.
    order : callable
        Function that returns the order in which ir_measures' default provider ranks documents.  The
        argument of the function is the measure's parameters.
    low, high : float
        Lowest and highest possible value.
    graded : bool
        True if the measure distinguishes levels above 1, unless `rel` is given.
    shares : bool
        True if gains are relative to the highest level, unless `rel` is given.
    relevance : bool
        True if the measure depends on the relevance levels of documents.
    nonrelevant : bool
        True if the measure treats documents judged not relevant differently from unjudged ones.
    judged : bool
        True if the measure depends on which documents are judged.
    recall : bool
        True if the highest value requires that all relevant documents are found.
    ends_at_cutoff : bool
        True if the value for a ranking that ends at the cutoff is the same without the cutoff.
    last_ranks : callable
        Function that returns, for each topic, the last rank at which a document affects the value.
        The arguments of the function are the measure's parameters and the numbers of relevant
        documents, shape (n_topics,).
    most : callable
        Function that returns an upper limit of the values of each topic.  The arguments of the
        function are the same as for ``last_ranks``.
    steps : callable
        Function that returns the number of equal steps between the values 0 and 1; 0 if the
        possible values are not evenly spaced.  The argument of the function is the measure's
        parameters.
    proportional : Measure, optional
        Measure that differs from this one only by a factor per topic, which standardization
        removes.
    kind : str
        ``"count"``, ``"diversity"`` or ``"trec_eval"`` for measures without a standardized form.
        Counts have no standardized form because comparing them between systems is meaningless.
        Diversity measures have no standardized form because no factor set has the subtopic
        judgments that these measures need.
        Measures of kind ``"trec_eval"`` exist only for users of trec_eval.
    """

    measure: Measure
    formula: Callable[..., Floats] | None = None
    terms: Callable[..., f.Terms] | None = None
    order: Callable[[Params], Order] = lambda _: TREC_EVAL
    low: float = 0.0
    high: float = 1.0
    graded: bool = False
    shares: bool = False
    relevance: bool = True
    nonrelevant: bool = False
    judged: bool = False
    recall: bool = False
    ends_at_cutoff: bool = False
    last_ranks: Callable[[Params, Ints], Floats] = unlimited
    most: Callable[[Params, Floats], Floats] = _zero_without_relevant
    steps: Callable[[Params], int] = lambda _: 0
    proportional: Measure | None = None
    kind: str = ""


_DIVERSITY = ("alpha_nDCG", "NRBP", "nNRBP", "AP_IA", "P_IA", "ERR_IA", "nERR_IA", "StRecall")
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
        most=lambda _, relevant: relevant,
        proportional=irm.AP,
    ),
    Record(irm.P, f.precision, f.relevant_found, most=_share_of_cutoff, steps=_cutoff),
    Record(irm.R, f.recall, f.relevant_found),
    Record(irm.Rprec, f.r_precision, f.relevant_above_r, recall=True, last_ranks=_ranks_up_to_r),
    Record(irm.RR, f.reciprocal_rank, f.first_relevant, order=_msmarco_with_cutoff),
    Record(irm.Success, f.success, steps=lambda _: 1),
    Record(
        irm.Judged,
        f.judged_share,
        f.judged_found,
        order=lambda _: MSMARCO,
        relevance=False,
        nonrelevant=True,
        judged=True,
        most=unlimited,
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
    Record(own.main_score, low=-1.0, last_ranks=no_ranks),  # it may be p-MRR
    Record(irm.infAP, nonrelevant=True, judged=True),
    Record(irm.Accuracy, judged=True),
    Record(irm.NumRel, f.number_of_relevant, high=math.inf, kind="count"),
    *(Record(m, high=math.inf, kind="count") for m in (irm.NumQ, irm.NumRet)),
    Record(irm.alpha_DCG, high=math.inf, kind="diversity"),
    *(Record(theirs[name], kind="diversity") for name in _DIVERSITY),
    Record(own.GMAP, f.average_precision, kind="trec_eval"),
    Record(own.GMBpref, f.bpref, nonrelevant=True, kind="trec_eval"),
    Record(own.RIPrec, f.interpolated_precision, kind="trec_eval"),
    Record(own.IPrec11, f.eleven_point_average, kind="trec_eval"),
    Record(own.Unjudged, f.unjudged_share, nonrelevant=True, kind="trec_eval"),
    Record(own.RBPResidual, f.rbp_residual, nonrelevant=True, kind="trec_eval"),
)

_PLAIN = Record(Measure())
by_class: dict[type[Measure], Record] = {type(record.measure): record for record in RECORDS}
"""Records by the class of the measure."""
by_class[type(irm.nDCG)] = by_class[type(own.nDCG)]


def measure_record(measure: Measure) -> Record:
    """Return the record of a raw measure; an empty record if there is none.

    The record is looked up by class, because a user's own measure may have the name of another
    measure.
    """
    return by_class.get(type(measure), _PLAIN)


def has_graded_gains(measure: Measure) -> bool:
    """Check whether a raw measure distinguishes levels above 1 from level 1."""
    return measure_record(measure).graded and "rel" not in measure.params


def gains_are_shares(measure: Measure) -> bool:
    """Check whether a raw measure's gains depend on the highest level of the collection."""
    return measure_record(measure).shares and "rel" not in measure.params


def looks_at_nonrelevant(measure: Measure) -> bool:
    """Check whether a raw measure looks at documents that are judged not relevant."""
    return measure_record(measure).nonrelevant or measure.params.get("rel", 1) < 1


def survives_rounding(measure: Measure, step: float) -> bool:
    """Check whether rounding to ``step`` changes no value, as for P@10 and steps of 0.1."""
    n = measure_record(measure).steps(measure.params)
    parts = 1 / (n * step) if n and step else math.nan
    return math.isfinite(parts) and abs(parts - round(parts)) <= EXACT


def equivalents(measure: Measure, binary: bool) -> Iterator[Measure]:
    """Yield a measure, then other raw measures with the same standardized values.

    Parameters
    ----------
    measure : Measure
        Raw measure.
    binary : bool
        True if the qrels hold no level above 1, so that binary and graded gains are equal.
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
"""Measures of ir_std by name; :mod:`ir_std.measures.family` adds the standardized measures."""
by_name: ChainMap[str, Any] = ChainMap(own_measures, theirs)
"""Measures by name; ir_std's measures take precedence over those of ir_measures."""

_logger = logging.getLogger("ir_std")
_ORIGINAL_NDCG = irm.nDCG
_conflicts: set[str] = set()


class MeasureRegistry(ChainMap[str, Any]):
    """Replacement for ``ir_measures.measures.registry`` once ir_std is imported.

    The original registry of ir_measures is unchanged and takes precedence.  So names that users
    register in the original registry keep their meaning, whether they are registered before or
    after ir_std is imported. ir_std only adds missing names.
    """

    def __getitem__(self, name: str) -> Any:
        log_conflict(name)
        return super().__getitem__(name)


def log_conflict(name: str) -> None:
    """Warn once if a user's measure has the same name as one of ir_std's measures."""
    if name not in own_measures or theirs.get(name, _ORIGINAL_NDCG) is _ORIGINAL_NDCG:
        return
    if name not in _conflicts:
        _conflicts.add(name)
        _logger.warning(
            "other code registered a measure %s with ir_measures, and ir_measures keeps using that "
            "measure; functions of ir_std use ir_std.%s",
            name,
            name,
        )


def join_ir_measures() -> None:
    """Let ir_measures find ir_std's measures by name; names in ir_measures take precedence."""
    vars(irm)["registry"] = MeasureRegistry(theirs, own_measures)
    for name in own_measures:
        log_conflict(name)
