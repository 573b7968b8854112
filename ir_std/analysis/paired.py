"""Paired tests over topics, which show whether one run is better than another.

Scores are arrays over the same topics; NaN means that a topic has no score.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import compress, product
from math import inf, isnan, nan
from typing import NamedTuple, SupportsFloat

import numpy as np

from ir_std._arrays import ArrayLike, Floats
from ir_std.analysis import means
from ir_std.errors import UsageError, look_up

ALPHA = 0.05
"""Adjusted p-values below this level are significant."""
RESAMPLES = 10_000
"""Number of sign vectors that the randomization test draws if there are too many to use all."""
ALL_SIGNS_UP_TO = 13
"""Largest number of topics for which the randomization test uses all sign vectors and is exact."""
BATCH = 1_000_000
"""Number of signs in memory at a time (16 MB)."""
MIN_DF = 4
"""Smallest number of degrees of freedom for which a detectable difference is computed.  With fewer
degrees of freedom, a test finds almost nothing, and scipy's inverse function may not terminate.
"""
CLOSE = 1e-4
"""Limit for the variance of a difference, as a share of the sum of the two systems' variances.
Variances above the limit are computed from a covariance matrix.  Smaller variances are computed
from the differences themselves, because a covariance matrix would leave too few correct digits."""
BLOCK = 10_000
"""Number of pairs whose differences are computed at a time."""


class PairedTest(NamedTuple):
    """The result of a paired test.

    Attributes
    ----------
    difference : float
        Mean difference between the run's and the baseline's scores over the pairs; NaN without
        pairs.
    p : float
        Two-sided p-value; NaN with fewer than two pairs.
    p_adjusted : float
        The p-value adjusted for the number of runs tested together.
    topics : tuple of str
        Topics on which both the run and the baseline have a score.
    """

    difference: float
    p: float
    p_adjusted: float
    topics: tuple[str, ...]


def t_test(d: ArrayLike) -> Floats:
    """Compute two-sided p-values of Student's paired t-test.

    Parameters
    ----------
    d : array_like, shape (n_topics, ...)
        Differences of the pairs.

    Returns
    -------
    ndarray, shape (...)
        P-values; NaN for fewer than two pairs.  If all differences are equal, nothing varies by
        chance; p is then 1 if the differences are 0, and otherwise 0.
    """
    return 2 * _lower_tail(d, lambda mean: -np.abs(mean))


def equivalence_test(d: ArrayLike, bound: float) -> Floats:
    """Compute p-values of the hypothesis that a mean difference is at least as large as a bound.

    The result is the larger p-value of two one-sided t-tests, one against ``bound`` and one against
    ``-bound`` (Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 1987).

    Parameters
    ----------
    d : array_like, shape (n_topics, ...)
        Differences of the pairs.
    bound : float
        Size of a difference that would matter, above 0.

    Returns
    -------
    ndarray, shape (...)
        NaN for fewer than two pairs.
    """
    return _lower_tail(d, lambda mean: np.abs(mean) - bound)


def _lower_tail(d: ArrayLike, tested: Callable[[Floats], Floats]) -> Floats:
    """Return the lower-tail probability of t; ``tested`` computes t's numerator from a mean."""
    from scipy.special import stdtr

    d = np.asarray(d, float)
    if len(d) < 2:
        return np.full(d.shape[1:], np.nan)
    mean, variance, n = means.mean_and_variance(d, axis=0)
    return np.asarray(stdtr(n - 1, means.student_t(tested(mean), variance / n)))


def randomization_test(d: ArrayLike) -> Floats:
    """Compute two-sided p-values of Fisher's randomization test.

    If the two systems do not differ, each difference could equally well have the other sign
    (Smucker, Allan and Carterette, CIKM 2007).  With up to :data:`ALL_SIGNS_UP_TO` pairs, the test
    uses all sign vectors.  With more pairs, the test draws :data:`RESAMPLES` sign vectors with a
    fixed seed.  The observed signs count as one more sign vector, so p is never 0.

    Parameters
    ----------
    d : array_like, shape (n_topics, ...)
        Differences of the pairs.

    Returns
    -------
    ndarray, shape (...)
        NaN for fewer than two pairs.
    """
    d = np.asarray(d, float)
    n = len(d)
    if n < 2:
        return np.full(d.shape[1:], np.nan)
    columns = d.reshape(n, -1)
    # Sums that differ only because of the order of additions count as equal.
    observed = np.abs(columns.sum(axis=0)) - 1e-12 * np.abs(columns).sum(axis=0)
    exact = n <= ALL_SIGNS_UP_TO
    reached = np.zeros(columns.shape[1], dtype=int)
    for signs in _all_signs(n) if exact else _drawn_signs(n, 1 + BATCH // max(columns.shape)):
        reached += np.count_nonzero(np.abs(signs @ columns) >= observed, axis=0)
    p = reached / 2**n if exact else (1 + reached) / (1 + RESAMPLES)
    return p.reshape(d.shape[1:])


def _all_signs(n: int) -> Iterator[Floats]:
    yield np.array(list(product((-1.0, 1.0), repeat=n)))


def _drawn_signs(n: int, rows: int) -> Iterator[Floats]:
    """Draw sign vectors in batches; the draws do not depend on the size of a batch."""
    rng = np.random.default_rng(means.SEED)
    for start in range(0, RESAMPLES, rows):
        yield rng.choice([-1.0, 1.0], (min(rows, RESAMPLES - start), n))


def detectable_difference(
    error: float, df: float, alpha: float = 0.05, power: float = 0.8
) -> float:
    """Compute the smallest true difference that a two-sided t-test finds with a given power.

    The result is ``error`` times the noncentrality at which Student's t exceeds its critical value
    with probability `power`.  Like R's ``power.t.test``, the function ignores the chance of a
    significant result with the wrong sign.

    Parameters
    ----------
    error : float
        Standard error of the difference.  For a paired test, this is the standard deviation of the
        differences divided by the square root of their number.
    df : float
        Degrees of freedom; for a paired test, the number of topics minus 1.
    alpha, power : float
        Significance level of the test, and share of experiments in which the test finds the
        difference.

    Returns
    -------
    float
        NaN if nothing varies, or if there are fewer than :data:`MIN_DF` degrees of freedom.
    """
    from scipy.special import nctdtrinc, stdtrit

    if not (error > 0 and df >= MIN_DF):
        return float("nan")
    return float(error * nctdtrinc(df, 1 - power, stdtrit(df, 1 - alpha / 2)))


TESTS: dict[str, tuple[Callable[[ArrayLike], Floats], str]] = {
    "t": (t_test, "paired t-test"),
    "randomization": (randomization_test, "randomization test"),
}
"""Tests and their titles by name; the first one is the default."""


def get_test(name: str) -> tuple[Callable[[ArrayLike], Floats], str]:
    """Look up a test and its title by name, or raise an error that lists the names."""
    return look_up(name, TESTS, "test")


# Corrections


def holm(p_values: ArrayLike) -> Floats:
    """Adjust p-values by Holm's step-down method (Scandinavian Journal of Statistics, 1979).

    The k-th smallest of ``n`` p-values is multiplied by ``n - k + 1``.  If a smaller p-value has a
    larger product, the larger product is used.  Holm's method controls the family-wise error rate,
    as Bonferroni's method does.  The results of Holm's method are never larger than those of
    Bonferroni's method.

    Parameters
    ----------
    p_values : array_like, shape (n,)
        P-values.  A NaN does not count as a test and stays NaN.

    Returns
    -------
    ndarray, shape (n,)
        At most 1.
    """
    p = np.asarray(p_values, float)
    order = np.argsort(p, kind="stable")[: np.count_nonzero(~np.isnan(p))]
    steps = np.arange(len(order), 0, -1)
    adjusted = np.full(len(p), np.nan)
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * steps), 1)
    return adjusted


def bonferroni(p_values: ArrayLike) -> Floats:
    """Multiply each p-value by the number of tests, up to 1.

    A NaN does not count as a test and stays NaN.
    """
    p = np.asarray(p_values, float)
    return np.asarray(np.minimum(p * np.count_nonzero(~np.isnan(p)), 1))


CORRECTIONS: dict[str, tuple[Callable[[ArrayLike], Floats], str]] = {
    "holm": (holm, "Holm's correction"),
    "bonferroni": (bonferroni, "Bonferroni's correction"),
    "none": (lambda p: np.array(p, float), "no correction"),
}
"""Corrections and their titles by name; the first one is the default."""


def get_correction(name: str) -> tuple[Callable[[ArrayLike], Floats], str]:
    """Look up a correction and its title by name, or raise an error that lists the names."""
    return look_up(name, CORRECTIONS, "correction")


# Tests of several runs against a baseline


class Procedure:
    """Test, correction and equivalence bound for comparing runs with a baseline.

    Runs are tested separately for each measure and collection.

    Attributes
    ----------
    test, correction : str
        Name of the test, and of the correction for the number of runs.
    equivalent : float or None
        Bound below which a difference does not matter.

    Raises
    ------
    UsageError
        If there is no such test or correction, or the bound is not above 0.
    """

    def __init__(
        self, test: str = "t", correction: str = "holm", equivalent: float | None = None
    ) -> None:
        get_test(test), get_correction(correction)
        if equivalent is not None and not 0 < equivalent < inf:
            raise UsageError(
                f"the equivalence bound is {equivalent}; expected a number above 0 "
                "(--equivalent, equivalent=)"
            )
        self.test, self.correction, self.equivalent = test, correction, equivalent

    def level(self, p_adjusted: Iterable[float]) -> float:
        """Return the level at which a run without a significant difference is tested.

        Holm's method divides :data:`ALPHA` by the number of runs without a significant difference.
        """
        tested = [p for p in p_adjusted if not isnan(p)]
        n_open = sum(p >= ALPHA for p in tested)
        return ALPHA / max(1, {"holm": n_open, "bonferroni": len(tested)}.get(self.correction, 1))

    def equivalence(self, differences: Sequence[Floats]) -> list[float]:
        """Compute corrected p-values of the equivalence tests."""
        if self.equivalent is None:
            return [nan] * len(differences)
        p = [float(equivalence_test(d[~np.isnan(d)], self.equivalent)) for d in differences]
        return [float(each) for each in get_correction(self.correction)[0](p)]


def paired_tests(
    baseline: ArrayLike,
    runs: Mapping[str, ArrayLike],
    topics: Sequence[str],
    test: str = "t",
    correction: str = "holm",
) -> dict[str, PairedTest]:
    """Test each run against a baseline; p-values are adjusted for the number of runs.

    Parameters
    ----------
    baseline : array_like, shape (n_topics,)
        Scores of the baseline; NaN if it has no score on a topic.
    runs : mapping of str to array_like, shape (n_topics,)
        Scores by run, on the same topics.
    topics : sequence of str, length n_topics
        The topics' IDs.
    test : {'t', 'randomization'}
        Test to use.  A run is tested on the topics on which both the run and the baseline have a
        score.
    correction : {'holm', 'bonferroni', 'none'}
        Correction for the number of runs.

    Raises
    ------
    UsageError
        If there is no such test or correction.

    Notes
    -----
    The correction covers all runs that are compared with the baseline for one measure on one
    collection (Carterette, TOIS 2012; Boytsov, Belova and Westfall, SIGIR 2013).  The error rate is
    controlled separately for each measure.  To claim a difference for any of several measures, also
    correct for the number of measures.
    """
    p_values, _ = get_test(test)
    adjust, _ = get_correction(correction)
    if not runs:
        return {}
    d = means.topic_differences(
        np.column_stack([np.asarray(s, float) for s in runs.values()]),
        np.asarray(baseline, float)[:, None],
    )
    present = ~np.isnan(d)
    mean, p = np.full((2, len(runs)), np.nan)
    for pairs in np.unique(present, axis=1).T:
        same_topics = (present == pairs[:, None]).all(axis=0)
        if pairs.any():
            differences = d[pairs][:, same_topics]
            mean[same_topics] = differences.mean(axis=0)
            p[same_topics] = p_values(differences)
    adjusted = adjust(p)
    return {
        name: PairedTest(
            float(mean[k]), float(p[k]), float(adjusted[k]), tuple(compress(topics, present[:, k]))
        )
        for k, name in enumerate(runs)
    }


def describe_test(test: str, correction: str, n_runs: int, unit: str = "topic") -> str:
    """Describe how :func:`paired_tests` tests ``n_runs`` runs, for a note below a table."""
    return (
        f"two-sided {get_test(test)[1]} over {unit}s, p < {ALPHA}"
        f"{describe_correction(correction, n_runs)}"
    )


def describe_correction(correction: str, n_runs: int) -> str:
    """Describe the correction for ``n_runs`` runs; return an empty text for one run."""
    title = get_correction(correction)[1]
    if n_runs == 1:
        return ""
    if correction == "none":
        return f", not corrected for the {n_runs} runs"
    return f" after {title} for {n_runs} runs"


# Tests of all pairs of systems


class PairwiseT(NamedTuple):
    """Student's paired t statistics of all pairs of systems.

    Pairs are ordered as in ``numpy.triu_indices(n_systems, 1)``: (0, 1), (0, 2), ..., (1, 2), ...

    Attributes
    ----------
    t : ndarray, shape (..., n_pairs)
        T statistics; 0 if two systems are equal, infinite if two systems differ by the same amount
        on all topics.
    df : int
        Degrees of freedom.
    """

    t: Floats
    df: int

    @property
    def p(self) -> Floats:
        """Two-sided p-values."""
        from scipy.special import stdtr

        return np.asarray(2 * stdtr(self.df, -np.abs(self.t)))


def paired_t(scores: ArrayLike) -> PairwiseT:
    """Compute Student's paired t-test for every pair of systems.

    The statistic is ``mean(d) / sqrt(var(d) / n)``, where ``d = scores[:, i] - scores[:, j]``.  The
    statistic has n - 1 degrees of freedom.  The variances ``c_ii + c_jj - 2 c_ij`` come from one
    covariance matrix, so all pairs together need only one matrix product.

    Parameters
    ----------
    scores : array_like, shape (..., n_topics, n_systems)
        Scores.  Leading axes are independent experiments, such as resamplings of topics.

    Returns
    -------
    PairwiseT

    Raises
    ------
    ValueError
        If there are fewer than two topics or two systems, or a value is NaN or infinite.
    """
    x = means.check_scores(scores, topics=2, systems=2)
    *samples, n, m = x.shape
    x = x.reshape(-1, n, m)
    i, j = np.triu_indices(m, 1)
    mean, _, _ = means.mean_and_variance(x)
    centred = x - mean[:, None, :]
    # This code does not use @, because BLAS starts threads even for products this small.  Waiting
    # for these threads takes longer than the computation without them, and ten times longer on a
    # busy machine.
    cov = np.einsum("sti,stj->sij", centred, centred) / (n - 1)
    variances = np.diagonal(cov, axis1=1, axis2=2)
    total = variances[:, i] + variances[:, j]
    var = total - 2 * np.take(cov.reshape(-1, m * m), i * m + j, axis=1)
    difference = mean[:, i] - mean[:, j]
    close = np.nonzero(var < CLOSE * total)
    for start in range(0, len(close[0]), BLOCK):
        sample, pair = (index[start : start + BLOCK] for index in close)
        d = means.topic_differences(x[sample, :, i[pair]], x[sample, :, j[pair]])
        difference[sample, pair], var[sample, pair], _ = means.mean_and_variance(d, axis=1)
    return PairwiseT(means.student_t(difference, var / n).reshape(*samples, len(i)), n - 1)


def discriminative_power(scores: ArrayLike, alpha: ArrayLike = 0.05) -> Floats:
    """Compute the share of system pairs that the paired t-test finds significantly different.

    The measure is from Sakai (SIGIR 2006); Urbano, Lima and Hanjalic (SIGIR 2019) call it power.

    Parameters
    ----------
    scores : array_like, shape (..., n_topics, n_systems)
        Scores, as for :func:`paired_t`.
    alpha : float or array_like, shape (n_alphas,)
        Significance level or levels; a pair counts if p < alpha.

    Returns
    -------
    ndarray, shape (...) or (..., n_alphas)

    Raises
    ------
    ValueError
        If :func:`paired_t` raises a ValueError, or a level is not between 0 and 1.
    """
    from scipy.special import stdtrit

    levels = means.check_level(alpha)
    t, df = paired_t(scores)
    # Comparing t with critical values avoids a p-value for each pair.
    critical = stdtrit(df, 1 - levels / 2)
    counts = [np.count_nonzero(np.abs(t) > limit, axis=-1) for limit in critical.flat]
    shares: Floats = np.stack(counts, axis=-1) / t.shape[-1]
    return shares if levels.ndim else shares[..., 0]


# Topics that a test needs


def topic_set_size_paired_t(
    variance: SupportsFloat,
    min_difference: SupportsFloat,
    *,
    alpha: float = 0.05,
    beta: float = 0.20,
) -> int:
    """Compute the number of topics that a paired t-test needs to find a difference.

    The statistic of the two-sided test has a noncentral t distribution with ``n - 1`` degrees of
    freedom and noncentrality ``sqrt(n) * min_difference / sqrt(variance)`` (Sakai, Topic set size
    design, IRJ 2016).  The function uses the square of this statistic, which has a noncentral F
    distribution with 1 and ``n - 1`` degrees of freedom.  So a significant result with the wrong
    sign also counts.

    Parameters
    ----------
    variance : float
        Variance over topics of the difference between two systems.  If you know only the variance
        of single systems, twice that variance is the usual cautious choice.
    min_difference : float
        Smallest difference of interest, in the unit of the scores.
    alpha, beta : float
        Rates of Type I and Type II errors.

    Returns
    -------
    int
        At least 2.

    Raises
    ------
    ValueError
        If a variance or difference is not above 0 and finite, or a level is outside (0, 1).
    """
    variance, difference = check_design(variance, min_difference, alpha, beta)
    return fewest_topics(1, 1, difference**2 / variance, alpha, beta)


def fewest_topics(between: int, within: int, effect: float, alpha: float, beta: float) -> int:
    """Find the smallest number of topics with which an F test has a power of ``1 - beta``.

    Each topic after the first adds ``within`` degrees of freedom, and each topic adds ``effect`` to
    the noncentrality lambda.  The result is at least 2.
    """
    from scipy.special import fdtri, ncfdtr

    def is_enough(n: int) -> bool:
        critical = fdtri(between, within * (n - 1), 1 - alpha)
        return bool(1 - ncfdtr(between, within * (n - 1), n * effect, critical) >= 1 - beta)

    high = 2
    while not is_enough(high):
        high *= 2
    return bisect_left(range(high), True, high // 2 + 1, key=is_enough)


def check_design(
    variance: SupportsFloat, min_difference: SupportsFloat, alpha: float, beta: float
) -> tuple[float, float]:
    """Return variance and difference as floats; raise ValueError if a value is out of range."""
    values = float(variance), float(min_difference)
    if not all(0 < value < inf for value in values):
        raise ValueError(
            "variance and min_difference must be above 0 and finite, "
            f"got {variance} and {min_difference}"
        )
    means.check_level(alpha), means.check_level(beta, "beta")
    return values
