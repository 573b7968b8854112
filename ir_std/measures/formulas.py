"""Formulas of raw measures on the arrays of :mod:`ir_std.trec.ranking`, and their terms.

A formula takes a ranking and the measure's parameters, and returns one value for each topic of the
qrels, shape (n_topics,).  A document is relevant if its level is ``rel`` or above; negative levels
are never relevant.  Values agree to 1e-9 with the default providers of ir_measures.  The default
provider is trec_eval unless a formula's docstring names another one.

A term is the amount that one document adds to a value.  A function that computes terms takes the
same arguments as a formula, and returns two arrays of shape (n_documents,): the documents, and the
term of each document.  The measure on a topic is the sum of the topic's terms, multiplied by a
factor that depends only on the topic, such as 1/R.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ir_std._arrays import ArrayLike, Floats, Ints, divide
from ir_std.errors import UsageError

if TYPE_CHECKING:
    from ir_std.trec import Ranking

GDEVAL_DECIMALS = 5
"""Number of decimals that gdeval prints; ir_measures uses gdeval for ERR and exponential nDCG."""

# --- terms ----------------------------------------------------------------------------------------

Terms = tuple["Ranking", Floats]
"""Documents and their terms."""


def sum_by_topic(r: Ranking, terms: ArrayLike | None = None) -> Floats:
    """Sum the terms of each topic, shape (n_topics,); without terms, count the documents."""
    return np.bincount(r.topic, terms, len(r.qrels.topics)).astype(float)


def positions(topic: Ints) -> Ints:
    """Return 1, 2, 3, ... for the documents of each topic; topics must be in ascending order."""
    sizes = np.bincount(topic)
    starts = np.cumsum(sizes) - sizes
    return np.arange(1, len(topic) + 1) - starts[topic]


def relevant_found(r: Ranking, rel: int = 1, cutoff: int | None = None) -> Terms:
    """Return the terms of precision and recall: 1 for each relevant document."""
    relevant = r.relevant(rel, cutoff)
    return relevant, np.ones(len(relevant.rank))


def relevant_above_r(r: Ranking, rel: int = 1) -> Terms:
    """Return the terms of R-precision: 1 for each relevant document in the first R ranks."""
    relevant = r.relevant(rel)
    within = relevant[relevant.rank <= r.qrels.count(rel)[relevant.topic]]
    return within, np.ones(len(within.rank))


def precisions_at_relevant(r: Ranking, rel: int = 1, cutoff: int | None = None) -> Terms:
    """Compute the terms of average precision: the precision at each relevant document's rank."""
    relevant = r.relevant(rel, cutoff)
    return relevant, positions(relevant.topic) / relevant.rank


def first_relevant(r: Ranking, rel: int = 1, cutoff: int | None = None) -> Terms:
    """Return the only term of the reciprocal rank: 1 / rank of the first relevant document."""
    relevant = r.relevant(rel, cutoff)
    first = relevant[np.diff(relevant.topic, prepend=-1) > 0]
    return first, 1 / first.rank


def judged_found(r: Ranking, cutoff: int | None = None) -> Terms:
    """Return the terms of the judged share: 1 for each judged document."""
    judged = r if cutoff is None else r[r.rank <= cutoff]
    return judged, np.ones(len(judged.rank))


def preferences(r: Ranking, rel: int = 1) -> Terms:
    """Compute the amount that each relevant document adds to Bpref.

    The amount of a document is smaller if more documents that are judged not relevant precede it.
    """
    is_relevant = r.level >= rel
    nonrelevant = (r.level >= 0) & ~is_relevant
    above = np.cumsum(nonrelevant)
    starts = np.searchsorted(r.topic, r.topic)
    above = above - above[starts] + nonrelevant[starts]
    relevant, count = r[is_relevant], r.qrels.count(rel)
    least = np.minimum(count, r.qrels.count(0) - count)[relevant.topic]
    wrong = np.minimum(above[is_relevant], count[relevant.topic])
    return relevant, 1 - divide(wrong, least, otherwise=0)


def persisting_gains(
    r: Ranking, p: float = 0.8, rel: int | None = None, cutoff: int | None = None, highest: int = 1
) -> Terms:
    """Compute the terms of RBP: ``(1-p) * g_i * p**(i-1)`` for each relevant document."""
    relevant = r.relevant(1 if rel is None else rel, cutoff)
    gain = relevant.level / max(r.qrels.max_level, highest) if rel is None else 1.0
    return relevant, (1 - p) * gain * persistence(p, relevant.rank)


def persistence(p: float, rank: Ints) -> Floats:
    """Compute ``p**(rank-1)`` by multiplication.

    np.power is not used because the last digit of its result depends on the processor.
    """
    factors = np.full(int(rank.max(initial=1)), float(p))
    factors[0] = 1.0
    weights: Floats = np.multiply.accumulate(factors)[rank - 1]
    return weights


def discounted_gains(
    r: Ranking, dcg: str = "log2", rel: int | None = None, cutoff: int | None = None
) -> Terms:
    """Compute the terms of DCG: gain times discount for each relevant document."""
    relevant = r.relevant(1 if rel is None else rel, cutoff)
    discounted_rank = np.maximum(relevant.rank, 2) if dcg == "jk" else relevant.rank + 1
    discount: Floats = 1 / np.log2(discounted_rank)
    if rel is not None:
        return relevant, discount
    gain = np.exp2(relevant.level) - 1 if dcg == "exp-log2" else relevant.level
    return relevant, gain * discount


def gdeval_reciprocals(r: Ranking, cutoff: int | None = None) -> Terms:
    """Compute the terms of ERR as gdeval does, with probabilities ``(2**level - 1) / 16``."""
    relevant = r.relevant(1, cutoff)
    return relevant, _expected_reciprocals(relevant, (np.exp2(relevant.level) - 1) / 16)


def ntcir_reciprocals(r: Ranking, cutoff: int | None = None, highest: int = 1) -> Terms:
    """Compute the terms of ERR with probabilities level / (highest level + 1)."""
    relevant = r.relevant(1, cutoff)
    return relevant, _expected_reciprocals(
        relevant, relevant.level / (max(r.qrels.max_level, highest) + 1)
    )


def _expected_reciprocals(relevant: Ranking, stops: Floats) -> Floats:
    """Compute 1 / rank times the probability that a user stops at that rank.

    ``stops`` has, for each document, the probability that a user who reaches the document stops.
    """
    undecided = [1.0] * len(relevant.qrels.topics)
    terms = []
    for t, rank, stop in zip(
        relevant.topic.tolist(), relevant.rank.tolist(), stops.tolist(), strict=True
    ):
        terms.append(undecided[t] * stop / rank)
        undecided[t] *= 1 - stop
    return np.array(terms, float)


def blended_ratios(r: Ranking, beta: float = 1.0, cutoff: int | None = None) -> Terms:
    """Compute the terms of Q: (count + beta * gain) / (rank + beta * ideal gain)."""
    relevant, ideal, count = r.relevant(1, cutoff), r.qrels.ideal, r.qrels.count(1)
    before = (np.cumsum(count) - count)[relevant.topic] - 1
    ideal_gain = _running_sum(ideal)[before + np.minimum(relevant.rank, count[relevant.topic])]
    return relevant, (positions(relevant.topic) + beta * _running_sum(relevant)) / (
        relevant.rank + beta * ideal_gain
    )


def _running_sum(r: Ranking) -> Ints:
    """Return the running sum of the levels in each topic; topics must be in ascending order."""
    total = np.append(0, np.cumsum(r.level))
    within: Ints = total[1:] - total[np.searchsorted(r.topic, r.topic)]
    return within


# --- formulas -------------------------------------------------------------------------------------


def sum_of_precisions(r: Ranking, rel: int = 1, cutoff: int | None = None) -> Floats:
    """Sum the precisions at the ranks of relevant documents; AP is this sum divided by R."""

    def compute() -> Floats:
        return sum_by_topic(*precisions_at_relevant(r, rel, cutoff))

    return r.cached((sum_of_precisions, rel, cutoff), compute)


def average_precision(r: Ranking, rel: int = 1, cutoff: int | None = None) -> Floats:
    """Divide the sum of precisions by the number of relevant documents."""
    return divide(sum_of_precisions(r, rel, cutoff), r.qrels.count(rel), otherwise=0)


def precision(r: Ranking, cutoff: int, rel: int = 1) -> Floats:
    """Divide the number of relevant documents in the first ``cutoff`` ranks by ``cutoff``."""
    return sum_by_topic(*relevant_found(r, rel, cutoff)) / cutoff


def recall(r: Ranking, cutoff: int, rel: int = 1) -> Floats:
    """Compute the share of the relevant documents that are in the first ``cutoff`` ranks."""
    found = sum_by_topic(*relevant_found(r, rel, cutoff))
    return divide(found, r.qrels.count(rel), otherwise=0)


def r_precision(r: Ranking, rel: int = 1) -> Floats:
    """Compute the precision at rank R, where R is the number of relevant documents."""
    return divide(sum_by_topic(*relevant_above_r(r, rel)), r.qrels.count(rel), otherwise=0)


def success(r: Ranking, cutoff: int, rel: int = 1) -> Floats:
    """Return 1 if a relevant document is in the first ``cutoff`` ranks, else 0."""
    return (sum_by_topic(r.relevant(rel, cutoff)) > 0).astype(float)


def reciprocal_rank(r: Ranking, rel: int = 1, cutoff: int | None = None) -> Floats:
    """Compute 1 / rank of the first relevant document."""
    return sum_by_topic(*first_relevant(r, rel, cutoff))


def judged_share(r: Ranking, cutoff: int | None = None) -> Floats:
    """Compute which share of the first ``cutoff`` documents is judged.

    If a topic has fewer documents, compute which share of all its documents is judged.
    """
    looked_at = r.n_ret if cutoff is None else np.minimum(r.n_ret, cutoff)
    return divide(sum_by_topic(*judged_found(r, cutoff)), looked_at, otherwise=0)


def bpref(r: Ranking, rel: int = 1) -> Floats:
    """Compute binary preference as trec_eval does (Buckley and Voorhees, SIGIR 2004)."""
    return divide(sum_by_topic(*preferences(r, rel)), r.qrels.count(rel), otherwise=0)


def rank_biased_precision(
    r: Ranking, p: float = 0.8, rel: int | None = None, cutoff: int | None = None, highest: int = 1
) -> Floats:
    """Compute rank-biased precision, ``(1-p) * sum(g_i * p**(i-1))``.

    See Moffat and Zobel (TOIS 2008).  With ``rel``, the gain is 1 at level ``rel`` or above.
    Without ``rel``, the gain is level / h, where h is ``highest`` or the highest level in the
    qrels, whichever is higher.  Documents are ordered by score, and documents with equal scores by
    ID.  In ir_measures, cwl-eval keeps the order of the rows, so the value of ir_measures differs
    if rows are tied or unsorted.
    """
    return sum_by_topic(*persisting_gains(r, p, rel, cutoff, highest))


def discounted_cumulative_gain(
    r: Ranking, dcg: str = "log2", rel: int | None = None, cutoff: int | None = None
) -> Floats:
    """Compute discounted cumulative gain.

    The discount is 1/log2(rank+1).  For ``dcg='jk'``, ranks 1 and 2 have no discount, and the
    discount of later ranks is 1/log2(rank) (Järvelin and Kekäläinen, TOIS 2002, base 2).  The gain
    is the level, or 2**level - 1 for ``dcg='exp-log2'`` (Burges et al. 2005).  If ``rel`` is given,
    the gain is 1 at level ``rel`` or above.
    """

    def compute() -> Floats:
        return sum_by_topic(*discounted_gains(r, dcg, rel, cutoff))

    return r.cached((discounted_cumulative_gain, dcg, rel, cutoff), compute)


def normalized_dcg(
    r: Ranking, dcg: str = "log2", rel: int | None = None, cutoff: int | None = None
) -> Floats:
    """Divide :func:`discounted_cumulative_gain` by its value for the ideal ranking.

    For ``dcg='exp-log2'`` with a cutoff, the value is rounded to five decimals, as in gdeval.
    """
    gain, ideal = (
        discounted_cumulative_gain(ranking, dcg, rel, cutoff) for ranking in (r, r.qrels.ideal)
    )
    value = divide(gain, ideal, otherwise=0)
    if dcg == "exp-log2" and rel is None and cutoff is not None:
        return _rounded(value)
    return value


def expected_reciprocal_rank(r: Ranking, cutoff: int | None = None) -> Floats:
    """Compute expected reciprocal rank as gdeval does (Chapelle et al., CIKM 2009).

    A document satisfies the user with probability ``(2**level - 1) / 16``.  The value is rounded to
    five decimals.

    Raises
    ------
    UsageError
        If a level is above 4, because gdeval does not define ERR for such levels.
    """
    if r.qrels.max_level > 4:
        raise UsageError(
            f"ERR is defined for levels 0 to 4, and {r.qrels.name} has level "
            f"{r.qrels.max_level}; use another measure, such as nDCG"
        )
    return _rounded(sum_by_topic(*gdeval_reciprocals(r, cutoff)))


def normalized_err(r: Ranking, cutoff: int | None = None, highest: int = 1) -> Floats:
    """Divide ERR by its value for the ideal ranking, as NTCIREVAL does.

    A document satisfies the user with probability level / (h + 1), where h is ``highest`` or the
    highest level in the qrels, whichever is higher (Sakai and Song, SIGIR 2011).
    """
    actual, ideal = (
        sum_by_topic(*ntcir_reciprocals(ranking, cutoff, highest)) for ranking in (r, r.qrels.ideal)
    )
    return divide(actual, ideal, otherwise=0)


def q_measure(r: Ranking, beta: float = 1.0, cutoff: int | None = None) -> Floats:
    """Compute the Q-measure as NTCIREVAL does (Sakai, IP&M 2007).

    The Q-measure is the mean of (count + beta * gain) / (rank + beta * ideal gain) over relevant
    documents.  The count, the gain and the ideal gain are cumulative up to the document's rank, and
    the gain of a document is its level.  With a cutoff, the sum is divided by the cutoff or by the
    number of relevant documents, whichever is smaller.
    """
    count = r.qrels.count(1)
    divisor = count if cutoff is None else np.minimum(count, cutoff)
    return divide(sum_by_topic(*blended_ratios(r, beta, cutoff)), divisor, otherwise=0)


def _rounded(values: Floats) -> Floats:
    return np.array([round(v, GDEVAL_DECIMALS) for v in values.tolist()])


def number_of_relevant(r: Ranking, rel: int = 1) -> Floats:
    """Count the documents judged relevant, including documents that the run does not have."""
    return r.qrels.count(rel).astype(float)


def interpolated_precision(r: Ranking, recall: float, rel: int = 1) -> Floats:
    """Return the highest precision at the ranks where the given recall is reached.

    If the recall is never reached, the result is 0.  The recall is converted to a number of
    relevant documents, which is rounded to the nearest integer, as in trec_eval 10.0 and later.
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
    reached = np.floor(recall * count + 0.5)
    is_reached = positions(relevant.topic) == np.maximum(reached, 1)[relevant.topic]
    return sum_by_topic(relevant[is_reached], best[is_reached])


def eleven_point_average(r: Ranking, rel: int = 1) -> Floats:
    """Average :func:`interpolated_precision` over the recall values 0, 0.1, ... 1."""
    points = [interpolated_precision(r, i / 10, rel) for i in range(11)]
    return np.array(sum(points) / len(points))


def unjudged_share(r: Ranking, cutoff: int) -> Floats:
    """Divide the number of unjudged documents in the first ``cutoff`` ranks by ``cutoff``."""
    judged = r[(r.rank <= cutoff) & (r.level >= 0)]
    return (np.minimum(r.n_ret, cutoff) - sum_by_topic(judged)) / cutoff


def rbp_residual(r: Ranking, p: float = 0.9) -> Floats:
    """Compute how much RBP would gain if all unjudged and missing documents were relevant.

    See Moffat and Zobel (TOIS 2008).  As in trec_eval, the value is 0 if all documents of the run
    are judged.
    """
    judged = r[r.level >= 0]
    gained = sum_by_topic(judged, (1 - p) * persistence(p, judged.rank))
    return np.where(r.n_ret > sum_by_topic(judged), 1 - gained, 0.0)
