"""Raw metric formulas on the arrays of :mod:`ir_std.trec.ranking`.

Each takes a ranking and the measure's parameters and returns one value a topic of the qrels,
shape (n_topics,).  A document is relevant at level ``rel`` or above; negative levels are never
relevant.  Values agree with ir_measures' default providers (trec_eval unless another is named)
to 1e-9.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from ir_std._arrays import Floats, divide
from ir_std.errors import UsageError
from ir_std.evaluation.terms import (
    Terms,
    blended_ratios,
    discounted_gains,
    first_relevant,
    gdeval_reciprocals,
    judged_found,
    ntcir_reciprocals,
    persistence,
    persisting_gains,
    positions,
    precisions_at_relevant,
    preferences,
    relevant_above_r,
    relevant_found,
    sum_by_topic,
)
from ir_std.trec.qrels import Ranking
from ir_std.trec.ranking import DOUBLE, MSMARCO, TREC_EVAL, Order

GDEVAL_DECIMALS = 5
"""gdeval, which gives ir_measures ERR and exponential-gain nDCG, prints five decimals."""


def sum_of_precisions(r: Ranking, rel: int = 1, cutoff: int | None = None) -> Floats:
    """Sum of the precisions at the ranks of the relevant documents: AP not divided by R."""

    def compute() -> Floats:
        return sum_by_topic(*precisions_at_relevant(r, rel, cutoff))

    return r.cached((sum_of_precisions, rel, cutoff), compute)


def average_precision(r: Ranking, rel: int = 1, cutoff: int | None = None) -> Floats:
    """Sum of precisions divided by the number of relevant documents."""
    return divide(sum_of_precisions(r, rel, cutoff), r.qrels.count(rel), otherwise=0)


def precision(r: Ranking, cutoff: int, rel: int = 1) -> Floats:
    """Relevant documents in the first ``cutoff``, divided by ``cutoff``."""
    return sum_by_topic(*relevant_found(r, rel, cutoff)) / cutoff


def recall(r: Ranking, cutoff: int, rel: int = 1) -> Floats:
    """Share of the relevant documents that is in the first ``cutoff``."""
    found = sum_by_topic(*relevant_found(r, rel, cutoff))
    return divide(found, r.qrels.count(rel), otherwise=0)


def r_precision(r: Ranking, rel: int = 1) -> Floats:
    """Precision at R, the number of relevant documents."""
    return divide(sum_by_topic(*relevant_above_r(r, rel)), r.qrels.count(rel), otherwise=0)


def success(r: Ranking, cutoff: int, rel: int = 1) -> Floats:
    """1 where a relevant document is in the first ``cutoff``, else 0."""
    return (sum_by_topic(r.relevant(rel, cutoff)) > 0).astype(float)


def reciprocal_rank(r: Ranking, rel: int = 1, cutoff: int | None = None) -> Floats:
    """1 / rank of the first relevant document."""
    return sum_by_topic(*first_relevant(r, rel, cutoff))


def judged_share(r: Ranking, cutoff: int | None = None) -> Floats:
    """Share of the first ``cutoff`` documents (of all, if fewer) that are judged."""
    looked_at = r.n_ret if cutoff is None else np.minimum(r.n_ret, cutoff)
    return divide(sum_by_topic(*judged_found(r, cutoff)), looked_at, otherwise=0)


def bpref(r: Ranking, rel: int = 1) -> Floats:
    """Binary preference (Buckley and Voorhees, SIGIR 2004), as trec_eval computes it."""
    return divide(sum_by_topic(*preferences(r, rel)), r.qrels.count(rel), otherwise=0)


def rank_biased_precision(
    r: Ranking, p: float = 0.8, rel: int | None = None, cutoff: int | None = None, highest: int = 1
) -> Floats:
    """Rank-biased precision (Moffat and Zobel, TOIS 2008): ``(1-p) * sum(g_i * p**(i-1))``.

    Gains are 1 at level ``rel`` or above; without ``rel``, level / highest level, which is that
    in the qrels or ``highest`` if the collection is known to have higher ones.  Documents are
    ordered by score, ties by id; cwl-eval, which ir_measures asks, takes them as they come, so that
    its value differs where rows tie or are unsorted.
    """
    return sum_by_topic(*persisting_gains(r, p, rel, cutoff, highest))


def discounted_cumulative_gain(
    r: Ranking, dcg: str = "log2", rel: int | None = None, cutoff: int | None = None
) -> Floats:
    """Discounted cumulative gain.

    Discount 1/log2(rank+1), or for ``dcg='jk'`` none at ranks 1 and 2, then 1/log2(rank)
    (Järvelin and Kekäläinen, TOIS 2002, base 2).  Gain is the level, for ``'exp-log2'``
    2**level - 1 (Burges et al. 2005); where ``rel`` is given, 1 at that level or above.
    """

    def compute() -> Floats:
        return sum_by_topic(*discounted_gains(r, dcg, rel, cutoff))

    return r.cached((discounted_cumulative_gain, dcg, rel, cutoff), compute)


def normalized_dcg(
    r: Ranking, dcg: str = "log2", rel: int | None = None, cutoff: int | None = None
) -> Floats:
    """:func:`discounted_cumulative_gain` divided by that of the ideal ranking.

    ``dcg='exp-log2'`` with a cutoff is gdeval's, which rounds to five decimals.
    """
    gain, ideal = (
        discounted_cumulative_gain(ranking, dcg, rel, cutoff) for ranking in (r, r.qrels.ideal)
    )
    value = divide(gain, ideal, otherwise=0)
    if dcg == "exp-log2" and rel is None and cutoff is not None:
        return _rounded(value.tolist())
    return value


def expected_reciprocal_rank(r: Ranking, cutoff: int | None = None) -> Floats:
    """Expected reciprocal rank (Chapelle et al., CIKM 2009), as gdeval computes it.

    A document satisfies with probability ``(2**level - 1) / 16``; five decimals.

    Raises
    ------
    UsageError
        If a level is above 4, for which gdeval does not define it.
    """
    if r.qrels.max_level > 4:
        raise UsageError(
            f"ERR is defined for levels 0 to 4, and {r.qrels.name} has level "
            f"{r.qrels.max_level}; use another measure, such as nDCG"
        )
    return _rounded(sum_by_topic(*gdeval_reciprocals(r, cutoff)).tolist())


def normalized_err(r: Ranking, cutoff: int | None = None, highest: int = 1) -> Floats:
    """Expected reciprocal rank divided by that of the ideal ranking, as NTCIREVAL computes it.

    A document satisfies with probability level / (highest level + 1), the highest level being
    that in the qrels or ``highest`` if the collection is known to have higher ones (Sakai and
    Song, SIGIR 2011).
    """
    actual, ideal = (
        sum_by_topic(*ntcir_reciprocals(ranking, cutoff, highest)) for ranking in (r, r.qrels.ideal)
    )
    return divide(actual, ideal, otherwise=0)


def q_measure(r: Ranking, beta: float = 1.0, cutoff: int | None = None) -> Floats:
    """Q-measure (Sakai, IP&M 2007), as NTCIREVAL computes it; gains are levels.

    The mean over relevant documents of (count + beta * gain) / (rank + beta * ideal gain), all of
    them up to the document's rank.  With a cutoff the sum is divided by the number of relevant
    documents, or the cutoff if that is less.
    """
    count = r.qrels.count(1)
    divisor = count if cutoff is None else np.minimum(count, cutoff)
    return divide(sum_by_topic(*blended_ratios(r, beta, cutoff)), divisor, otherwise=0)


def _rounded(values: Iterable[float]) -> Floats:
    return np.array([round(v, GDEVAL_DECIMALS) for v in values])


def number_of_relevant(r: Ranking, rel: int = 1) -> Floats:
    """Documents judged relevant, whether the run has them or not."""
    return r.qrels.count(rel).astype(float)


def interpolated_precision(r: Ranking, recall: float, rel: int = 1, nearest: bool = True) -> Floats:
    """The highest precision at or behind the rank at which a recall is reached; 0 if it is not.

    The recall stands for a number of relevant documents: the ``nearest`` one as in trec_eval from
    10.0 on, rounded up (from .1 of one on) as before.
    """

    def best_from_each() -> tuple[Ranking, Floats]:
        relevant = r.relevant(rel)
        precision = positions(relevant.topic) / relevant.rank
        for i in range(len(precision) - 2, -1, -1):
            if relevant.topic[i] == relevant.topic[i + 1]:
                precision[i] = max(precision[i], precision[i + 1])
        return relevant, precision

    relevant, best = r.cached((interpolated_precision, rel), best_from_each)
    count = r.qrels.count(rel)
    reached = np.floor(recall * count + (0.5 if nearest else 0.9))
    at = positions(relevant.topic) == np.maximum(reached, 1)[relevant.topic]
    return sum_by_topic(relevant[at], best[at])


def eleven_point_average(r: Ranking, rel: int = 1, nearest: bool = True) -> Floats:
    """:func:`interpolated_precision`, averaged over recall 0, 0.1, ... 1."""
    points = [interpolated_precision(r, i / 10, rel, nearest) for i in range(11)]
    return np.array(sum(points) / len(points))


def unjudged_share(r: Ranking, cutoff: int) -> Floats:
    """Share of the first ``cutoff`` ranks with a document that is not judged."""
    judged = r[(r.rank <= cutoff) & (r.level >= 0)]
    return (np.minimum(r.n_ret, cutoff) - sum_by_topic(judged)) / cutoff


def rbp_residual(r: Ranking, p: float = 0.9) -> Floats:
    """What RBP would gain if all documents that are not judged, or not there, were relevant.

    Moffat and Zobel (TOIS 2008); as in trec_eval 0 where all documents of the run are judged.
    """
    judged = r[r.level >= 0]
    gained = sum_by_topic(judged, (1 - p) * persistence(p, judged.rank))
    return np.where(r.n_ret > sum_by_topic(judged), 1 - gained, 0.0)


FORMULAS: dict[str, Callable[..., Floats]] = {
    "AP": average_precision,
    "SP": sum_of_precisions,
    "P": precision,
    "R": recall,
    "Rprec": r_precision,
    "RR": reciprocal_rank,
    "Success": success,
    "Judged": judged_share,
    "Bpref": bpref,
    "RBP": rank_biased_precision,
    "DCG": discounted_cumulative_gain,
    "nDCG": normalized_dcg,
    "ERR": expected_reciprocal_rank,
    "nERR": normalized_err,
    "Q": q_measure,
    "NumRel": number_of_relevant,
    "GMAP": average_precision,
    "GMBpref": bpref,
    "RIPrec": interpolated_precision,
    "IPrec11": eleven_point_average,
    "Unjudged": unjudged_share,
    "RBPResidual": rbp_residual,
}
"""The formulas by the measure's name."""

TERMS: dict[Callable[..., Floats], Callable[..., Terms]] = {
    average_precision: precisions_at_relevant,
    sum_of_precisions: precisions_at_relevant,
    precision: relevant_found,
    recall: relevant_found,
    r_precision: relevant_above_r,
    reciprocal_rank: first_relevant,
    judged_share: judged_found,
    bpref: preferences,
    rank_biased_precision: persisting_gains,
    discounted_cumulative_gain: discounted_gains,
    normalized_dcg: discounted_gains,
    expected_reciprocal_rank: gdeval_reciprocals,
    normalized_err: ntcir_reciprocals,
    q_measure: blended_ratios,
}
"""What the formulas sum over documents, of those that are sums."""


def needs_judged(name: str, params: Mapping[str, Any]) -> bool:
    """Whether a measure looks at documents that are judged not relevant."""
    judged = ("Bpref", "GMBpref", "Judged", "Unjudged", "RBPResidual")
    return name in judged or params.get("rel", 1) < 1


def order_of(name: str, params: dict[str, Any]) -> Order:
    """The order in which ir_measures' default provider of a measure ranks documents."""
    if name == "Judged" or (name == "RR" and "cutoff" in params):
        return MSMARCO
    if name == "ERR" or (params.get("dcg") == "exp-log2"):
        return DOUBLE
    return TREC_EVAL
