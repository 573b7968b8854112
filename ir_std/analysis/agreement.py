"""Agreement of two judges on labels, and on the order of systems.

Intervals come from a bootstrap over whole topics, because the documents and the scores of one topic
resemble each other.  Resampling adds noise, so a rank correlation is lower on resampled topics than
on the topics themselves.  Likewise, the topics are only a sample, so the rank correlation on this
sample is lower than the rank correlation on all possible topics.  When the topics are chosen, more
systems swap places than when these topics are resampled.  Therefore, the bias of the rank
correlation is at least the bias of the bootstrap samples, and at most ``1 / (sqrt(2) - 1)`` = 2.4
times this bias.  The interval counts this bias as an error.  The interval is the value plus or
minus ``t * sqrt((sd**2 + (2 * bias)**2) * n / (n - 1))``; for Pearson's correlation, it is computed
on Fisher's scale.  ``docs/evidence/judges.md`` says how often the intervals contain the true value.
An interval that would contain the true value too rarely is replaced by NaN.  AP correlation never
has an interval.
"""

from typing import NamedTuple

import numpy as np

from ir_std._arrays import ArrayLike, Floats, Ints, divide
from ir_std.analysis.correlation import kendall_tau_b, tau_ap_b
from ir_std.analysis.means import DECIMALS, LEVEL, draw_samples
from ir_std.analysis.paired import ALPHA, paired_t

SAMPLES = 1000
"""Number of bootstrap samples of topics for an interval."""
FEWEST_TOPICS = 25
"""Smallest number of topics for which an interval is computed."""
FEWEST_DIFFERENT = 1 / 3
"""Smallest share of topics on which two systems must have different scores, on average over all
pairs of systems.  For RR, systems often differ on a smaller share of the topics.  A few topics then
decide the order of the systems, and a bootstrap cannot detect this."""
LEAST_REPRODUCED = 0.7
"""Smallest mean tau for which tau has an interval.  The mean tau compares a judge's order of
systems with the orders on resampled topics.  Below this value, there is no interval of tau, because
the order is mostly noise, and the samples do not show the bias of tau."""
BIAS = 2
"""Number by which the bias of the bootstrap samples is multiplied to compute an interval.  With
this multiplier, 90 to 98 percent of the intervals contain the true value."""
WEIGHTS = {"none": 0, "linear": 1, "quadratic": 2}
"""Exponents of the weights.  The weight of a disagreement is the distance between the two levels,
raised to the exponent.  With ``none``, all disagreements have the weight 1."""
LEVEL_OF_R = 0.98
"""Nominal confidence level of intervals of Pearson's correlation.  A few unusual topics can decide
the correlation.  Many bootstrap samples lack such unusual topics, so intervals with a nominal level
of 98 percent contain the true value in about 95 percent of cases."""
ALMOST_1 = 1 - 1e-12
"""The largest correlation that Fisher's scale can represent."""
_AT_ONCE = 20
"""Number of samples whose rank correlations are computed at once."""


class Interval(NamedTuple):
    """A value and its 95 percent interval over topics; NaN if undefined."""

    value: float
    low: float
    high: float


def confusion_matrix(first: ArrayLike, second: ArrayLike, n_levels: int) -> Ints:
    """Count the documents with each pair of levels, one level by each judge.

    Parameters
    ----------
    first, second : array_like of int, shape (n_documents,)
        The levels, from 0 to ``n_levels - 1``, that two judges gave the same documents.
    n_levels : int
        Number of levels.

    Returns
    -------
    ndarray of int, shape (n_levels, n_levels)
        Rows are the first judge's levels, and columns are the second judge's levels.

    Raises
    ------
    ValueError
        If the judges have different numbers of documents, or a level is out of range.
    """
    a, b = np.asarray(first, np.int64), np.asarray(second, np.int64)
    if a.ndim != 1 or a.shape != b.shape:
        raise ValueError(
            f"both judges must label the same documents, got the shapes {a.shape} and {b.shape}"
        )
    both = np.concatenate([a, b])
    if ((both < 0) | (both >= n_levels)).any():
        raise ValueError(f"levels must lie between 0 and {n_levels - 1}")
    counts = np.bincount(a * n_levels + b, minlength=n_levels**2)
    return counts.reshape(n_levels, n_levels)


def cohen_kappa(confusion: ArrayLike, weights: str = "none") -> Floats:
    """Compute Cohen's kappa: 1 minus the ratio of observed to expected disagreement.

    Unweighted kappa is from Cohen (1960), and weighted kappa is from Cohen (1968).  A disagreement
    between levels ``i`` and ``j`` has the weight ``|i - j| ** p``.  The expected disagreement is
    computed from the product of the two judges' shares of each level.  The result equals
    scikit-learn's ``cohen_kappa_score`` if its ``labels`` are all levels.

    Parameters
    ----------
    confusion : array_like, shape (..., n_levels, n_levels)
        Number of documents for each pair of levels.
    weights : {'none', 'linear', 'quadratic'}
        Weights of disagreements.

    Returns
    -------
    ndarray, shape (...)
        NaN if both judges gave all documents the same level, or if there are no documents.

    Raises
    ------
    ValueError
        If the weights are unknown, or the table is not square.
    """
    seen = np.asarray(confusion, float)
    if seen.ndim < 2 or seen.shape[-1] != seen.shape[-2]:
        raise ValueError(f"confusion must be levels x levels, got the shape {seen.shape}")
    if weights not in WEIGHTS:
        raise ValueError(f"unknown weights {weights!r}; choose from {', '.join(WEIGHTS)}")
    i, j = np.indices(seen.shape[-2:])
    cost = (i != j) * np.abs(i - j) ** WEIGHTS[weights]
    by_first, by_second = seen.sum(axis=-1), seen.sum(axis=-2)
    expected = divide(
        np.einsum("...i,...j,ij->...", by_first, by_second, cost),
        seen.sum(axis=(-2, -1)),
        otherwise=0.0,
    )
    return 1 - divide(np.einsum("...ij,ij->...", seen, cost), expected, otherwise=np.nan)


def kappa_interval(by_topic: ArrayLike, weights: str = "none") -> Interval:
    """Compute Cohen's kappa over all topics, with the interval of kappa.

    Parameters
    ----------
    by_topic : array_like, shape (n_topics, n_levels, n_levels)
        The confusion matrix of each topic.
    weights : {'none', 'linear', 'quadratic'}
        Weights of disagreements.
    """
    counts = np.asarray(by_topic, float)
    n_samples = SAMPLES if len(counts) >= FEWEST_TOPICS else 0
    samples = np.einsum("st,tij->sij", draw_samples(len(counts), n_samples), counts)
    kappa = float(cohen_kappa(counts.sum(axis=0), weights))
    return _interval(kappa, cohen_kappa(samples, weights), len(counts))


class OrderAgreement(NamedTuple):
    """Agreement of two judges on the order of systems, and on their scores per topic.

    Attributes
    ----------
    tau : Interval
        Kendall's tau-b.
    tau_ap : Interval
        AP correlation of the second judge's order with the first judge's order, which is the
        reference.  The ends of the interval are NaN.
    gap : Interval
        The absolute difference between a system's means under the two judges, averaged over
        systems.
    r : Interval
        Pearson's correlation of the scores over topics and systems.
    """

    tau: Interval
    tau_ap: Interval
    gap: Interval
    r: Interval


def order_agreement(first: ArrayLike, second: ArrayLike) -> OrderAgreement:
    """Compute how well two judges agree on the order and the scores of systems.

    Parameters
    ----------
    first, second : array_like, shape (n_topics, n_systems)
        Scores of the same systems on the same topics under each judge.  Topics with a NaN are left
        out.  With a single system, all results except the gap are NaN.

    Raises
    ------
    ValueError
        If the shapes differ, or no topic remains.
    """
    x, y = np.asarray(first, float), np.asarray(second, float)
    if x.ndim != 2 or x.shape != y.shape:
        raise ValueError(
            "both judges' scores must have the same shape (topics x systems), got "
            f"{x.shape} and {y.shape}"
        )
    has_both = ~np.isnan(x + y).any(axis=1)
    x, y = x[has_both], y[has_both]
    if not x.size:
        raise ValueError("no topic has scores for all systems under both judges")
    n_samples = SAMPLES if _has_interval(x) and _has_interval(y) else 0
    drawn = np.concatenate([np.ones((1, len(x))), draw_samples(len(x), n_samples)])
    means = [drawn @ values / len(x) for values in (x, y)]
    gaps = np.abs(means[0] - means[1]).mean(axis=1)
    gap = _interval(gaps[0], gaps[1:], len(x), lowest=0.0)
    if x.shape[1] < 2:
        nothing = Interval(np.nan, np.nan, np.nan)
        return OrderAgreement(nothing, nothing, gap, nothing)
    taus = np.concatenate(
        [
            kendall_tau_b(means[0][i : i + _AT_ONCE], means[1][i : i + _AT_ONCE])
            for i in range(0, len(drawn), _AT_ONCE)
        ]
    )
    tau_ap = Interval(float(tau_ap_b(means[0][0], means[1][0])), np.nan, np.nan)
    reproduced = [kendall_tau_b(m[1 : 1 + _AT_ONCE], m[:1]) for m in means if n_samples]
    has_order = all(order.mean() >= LEAST_REPRODUCED for order in reproduced)
    tau = _interval(taus[0], taus[1:] if has_order else taus[:0], len(x))
    r = _correlations(drawn, x, y)
    # The interval is computed on Fisher's scale, on which correlations have no bounds.
    z = np.arctanh(np.clip(r, -ALMOST_1, ALMOST_1))
    _, low, high = np.tanh(_interval(z[0], z[1:], len(x), -np.inf, np.inf, LEVEL_OF_R))
    return OrderAgreement(tau, tau_ap, gap, Interval(float(r[0]), float(low), float(high)))


class PairAgreement(NamedTuple):
    """Counts of the pairs of systems that differ significantly under one or both judges.

    Pairs are compared by two-sided paired t-tests at level .05.  P-values are not corrected for the
    number of pairs, so 5% of the pairs without a true difference are significant by chance.

    Attributes
    ----------
    n : int
        Number of pairs.
    both, first_only, second_only : int
        Pairs that differ significantly under both judges (in the same or in opposite directions),
        under the first judge only, and under the second judge only.
    opposite : int
        Pairs that differ significantly under both judges, in opposite directions.
    biased : int
        Pairs whose difference is significantly larger or smaller under the second judge than under
        the first judge.
    """

    n: int
    both: int
    first_only: int
    second_only: int
    opposite: int
    biased: int


def pair_agreement(first: ArrayLike, second: ArrayLike) -> PairAgreement:
    """Count the pairs of systems that are significantly different under one or both judges.

    Parameters
    ----------
    first, second : array_like, shape (n_topics, n_systems)
        Scores of the same systems on the same topics under two judges; topics with a NaN are left
        out.

    Raises
    ------
    ValueError
        If fewer than two topics or systems remain, or the shapes differ.
    """
    x, y = np.asarray(first, float), np.asarray(second, float)
    if x.shape != y.shape:
        raise ValueError(f"both judges' scores must have one shape, got {x.shape} and {y.shape}")
    has_both = ~np.isnan(x + y).any(axis=1)
    one, other, between = (paired_t(scores[has_both]) for scores in (x, y, y - x))
    a, b = one.p < ALPHA, other.p < ALPHA
    return PairAgreement(
        len(a),
        int((a & b).sum()),
        int((a & ~b).sum()),
        int((b & ~a).sum()),
        int((a & b & (one.t * other.t < 0)).sum()),
        int((between.p < ALPHA).sum()),
    )


def _correlations(drawn: Floats, x: Floats, y: Floats) -> Floats:
    """Compute Pearson's correlation over topics and systems in each sample of topics."""
    x, y = x - x.mean(), y - y.mean()
    n = drawn.sum(axis=1) * x.shape[1]
    sums = [drawn @ values.sum(axis=1) for values in (x, y, x * y, x * x, y * y)]
    of_x, of_y, products, squares_x, squares_y = (total / n for total in sums)
    spread = (squares_x - of_x**2) * (squares_y - of_y**2)
    return divide(products - of_x * of_y, np.sqrt(np.maximum(spread, 0)), otherwise=np.nan)


def _has_interval(scores: Floats) -> bool:
    """Check whether there are enough topics, and whether systems differ on enough topics."""
    n_topics, n_systems = scores.shape
    alike = [np.unique(row, return_counts=True)[1] for row in np.round(scores, DECIMALS)]
    equal = sum(int((n * (n - 1)).sum()) for n in alike)
    pairs = int(n_topics * n_systems * (n_systems - 1))
    return n_topics >= FEWEST_TOPICS and pairs - equal >= FEWEST_DIFFERENT * pairs


def _interval(
    value: float,
    samples: Floats,
    n: int,
    lowest: float = -1.0,
    highest: float = 1.0,
    level: float = LEVEL,
) -> Interval:
    """Compute a value's interval from the values on bootstrap samples of the `n` topics."""
    from scipy.special import stdtrit  # slow to import

    valid = samples[~np.isnan(samples)]
    if valid.size < 2:
        return Interval(float(value), np.nan, np.nan)
    bias = BIAS * (valid.mean() - value)
    error = np.sqrt((valid.var(ddof=1) + bias**2) * n / (n - 1))
    half = stdtrit(n - 1, (1 + level) / 2) * error
    return Interval(
        float(value), float(max(value - half, lowest)), float(min(value + half, highest))
    )
