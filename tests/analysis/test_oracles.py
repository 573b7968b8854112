"""Every statistical function, against independent results: scipy, statsmodels, R and loops.

``python tests/analysis/test_oracles.py`` prints the table: function, oracle, cases and the
largest difference.  Scores are made up in steps of 1/20 on some topics, so that ties, equal means
and flat topics are common, and continuous on others.  (test_merging has the oracles of fusion.)
"""

import warnings
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from itertools import combinations, product
from math import erf, sqrt
from statistics import fmean, stdev
from typing import Any, Literal

import numpy as np
import pandas as pd
import pytest
from ir_measures import AP
from paper_statistics import (
    drmse,
    residual_variance,
    self_false_positives,
    swap_rate,
    topic_set_size,
    tukey_p_values,
    two_sample_p_values,
    within_system_variance,
)
from scipy import stats
from statsmodels.distributions.empirical_distribution import ECDF
from statsmodels.formula.api import ols
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import FTestAnovaPower, TTestPower

from ir_std import analysis, build_factors, place
from ir_std.analysis import bonferroni, holm, randomization_test, t_test
from ir_std.schemes import get_scheme

Found = Any
Cases = Iterator[tuple[Found, Found]]
"""Pairs of ir_std's result and the oracle's result."""

ALTERNATIVES: tuple[Literal["two-sided", "greater", "less"], ...] = ("two-sided", "greater", "less")
AUDIT: dict[str, tuple[str, Callable[[np.random.Generator], Cases], float]] = {}


def audit(function: str, oracle: str, tolerance: float = 1e-9) -> Callable[[Any], Any]:
    """Enter cases into the table."""

    def enter(cases: Callable[[np.random.Generator], Cases]) -> Any:
        AUDIT[function] = oracle, cases, tolerance
        return cases

    return enter


def matrices(rng: np.random.Generator, count: int = 40) -> Iterator[np.ndarray]:
    """Yield topics x systems: continuous, coarse, and with near-equal systems."""
    for k in range(count):
        n, m = int(rng.integers(3, 30)), int(rng.integers(3, 8))
        x = rng.beta(1, 3, (n, m))
        if k % 3 == 1:
            x = np.round(x * 20) / 20
        if k % 3 == 2:
            x[:, 1] = x[:, 0]
            x[n // 2, 1] += 10.0 ** -rng.integers(1, 9)
        yield x


def pairs(m: int) -> Iterator[tuple[int, int]]:
    return combinations(range(m), 2)


# Schemes


@audit("schemes: z", "scipy.stats.zscore")
def z(rng: np.random.Generator) -> Cases:
    for x in matrices(rng):
        x = x[np.ptp(x, axis=1) > 0]
        yield analysis.standardize_matrix(x, scheme="z"), stats.zscore(x, axis=1, ddof=1)


@audit("schemes: N", "math.erf and plain loops, limits where all agree")
def n(rng: np.random.Generator) -> Cases:
    for x in matrices(rng):
        x[0] = 0.25
        run = np.concatenate([[0.2 + 0.05 * rng.integers(3)], rng.random(len(x) - 1)]).tolist()
        means, sds = ([f(row) for row in x.tolist()] for f in (fmean, stdev))
        limit = 0.5 if abs(run[0] - 0.25) < 1e-9 else float(run[0] > 0.25)
        others = zip(run[1:], means[1:], sds[1:], strict=True)
        expected = [limit, *((1 + erf((s - m) / sd / sqrt(2))) / 2 for s, m, sd in others)]
        yield get_scheme("N").apply(run, mean=means, sd=sds), expected


@audit("schemes: U", "plain loops")
def u(rng: np.random.Generator) -> Cases:
    for x in matrices(rng):
        x = x[np.ptp(x, axis=1) > 0]
        expected = [
            [min(1, max(0, 0.15 * (s - fmean(row)) / stdev(row) + 0.5)) for s in row]
            for row in x.tolist()
        ]
        yield analysis.standardize_matrix(x, scheme="U"), expected


@audit("schemes: E", "statsmodels ECDF")
def e(rng: np.random.Generator) -> Cases:
    for x in matrices(rng):
        yield analysis.standardize_matrix(x, scheme="E"), [ECDF(row)(row) for row in x]


@audit("standardize_matrix, without each group", "plain loops over the groups")
def without(rng: np.random.Generator) -> Cases:
    for x in matrices(rng):
        groups = ["ab"[k % 2] if k < 4 else str(k) for k in range(x.shape[1])]
        if x.shape[1] < 4 or any(
            np.ptp(x[:, [g != own for g in groups]], axis=1).min() == 0 for own in groups
        ):
            continue
        expected = np.empty_like(x)
        for t, k in product(*map(range, x.shape)):
            others = [x[t, j] for j in range(x.shape[1]) if groups[j] != groups[k]]
            expected[t, k] = stats.norm.cdf((x[t, k] - fmean(others)) / stdev(others))
        yield analysis.standardize_matrix(x, leave_out=groups), expected


# Paired tests


@audit("t_test", "scipy.stats.ttest_1samp")
def one_t(rng: np.random.Generator) -> Cases:
    for x in matrices(rng):
        d = x[:, 1:] - x[:, :1]
        yield t_test(d), stats.ttest_1samp(d, 0).pvalue


@audit("paired_t", "scipy.stats.ttest_rel")
def all_t(rng: np.random.Generator) -> Cases:
    for x in matrices(rng):
        expected = [stats.ttest_rel(x[:, i], x[:, j]).pvalue for i, j in pairs(x.shape[1])]
        yield analysis.paired_t(x).p, expected


@audit("paired_t, near duplicates", "scipy.stats.ttest_rel")
def near_duplicates(rng: np.random.Generator) -> Cases:
    for exponent in np.arange(0, 11, 0.25):
        x = rng.random(50)
        changed = rng.random(50) < rng.choice([0.03, 0.3, 1])
        y = x + 10**-exponent * rng.normal(size=50) * changed
        y[3] += 10**-exponent
        yield (analysis.paired_t(np.column_stack([x, y])).p, [stats.ttest_rel(x, y).pvalue])


def permutation_p(d: np.ndarray, **options: Any) -> Any:
    return stats.permutation_test(
        (d, np.zeros(len(d))),
        lambda a, b, axis: np.mean(a - b, axis=axis),
        vectorized=True,
        permutation_type="samples",
        **options,
    ).pvalue


@audit("randomization_test, exact", "scipy.stats.permutation_test")
def exact_randomization(rng: np.random.Generator) -> Cases:
    for size in range(2, 12):
        d = np.round(rng.normal(0.1, 0.3, size), 1)
        yield randomization_test(d), permutation_p(d, n_resamples=np.inf)


@audit("randomization_test, drawn", "scipy.stats.permutation_test, its own draws", 0.02)
def drawn_randomization(rng: np.random.Generator) -> Cases:
    for shift in np.linspace(0, 0.06, 7):
        d = rng.normal(shift, 0.1, 40)
        yield randomization_test(d), permutation_p(d, n_resamples=10_000, rng=1)


@audit("tukey_p_values", "the same deals, in plain loops")
def randomised_tukey(rng: np.random.Generator) -> Cases:
    for x in matrices(rng, 6):
        deals, reached = np.random.default_rng(3), dict.fromkeys(pairs(x.shape[1]), 0)
        means = [Fraction(sum(map(Fraction, column))) for column in x.T.tolist()]
        for _ in range(50):
            dealt = [sum(map(Fraction, c)) for c in deals.permuted(x, axis=1).T.tolist()]
            for i, j in reached:
                reached[i, j] += max(dealt) - min(dealt) >= abs(means[i] - means[j])
        yield tukey_p_values(x, 50, 3), [(b + 1) / 51 for b in reached.values()]


@audit("discriminative_power", "counts of scipy.stats.ttest_rel")
def power(rng: np.random.Generator) -> Cases:
    for x in matrices(rng, 20):
        p = np.array([stats.ttest_rel(x[:, i], x[:, j]).pvalue for i, j in pairs(x.shape[1])])
        yield analysis.discriminative_power(x, [0.01, 0.05]), [(p < 0.01).mean(), (p < 0.05).mean()]


@audit("holm", "statsmodels multipletests")
def holms(rng: np.random.Generator, correct: Any = holm) -> Cases:
    for k in range(1, 30):
        p = np.round(rng.beta(0.5, 3, k), 2)
        yield correct(p), multipletests(p, method=correct.__name__)[1]


audit("bonferroni", "statsmodels multipletests")(partial(holms, correct=bonferroni))


# Two collections


@audit("two_sample_p_values", "scipy.stats.ttest_ind")
def two_samples(rng: np.random.Generator) -> Cases:
    for x in matrices(rng, 12):
        a, b = x, rng.beta(2, 3, (7, x.shape[1]))
        for equal, alternative in product([True, False], ALTERNATIVES):
            how: Any = {"equal_var": equal, "alternative": alternative}
            expected = stats.ttest_ind(a[:, :, None], b[:, None, :], **how).pvalue
            yield two_sample_p_values(a, b, **how), expected


@audit("self_false_positives", "scipy.stats.ttest_ind")
def false_positives(rng: np.random.Generator) -> Cases:
    for x in matrices(rng, 20):
        b = rng.beta(1, 4, (9, x.shape[1]))
        p = stats.ttest_ind(x, b, equal_var=False, alternative="greater").pvalue
        yield self_false_positives(x, b, 0.1), p < 0.1


@audit("drmse", "plain loops")
def drift(rng: np.random.Generator) -> Cases:
    for x in matrices(rng):
        a = [fmean(column) for column in x.T.tolist()]
        b = [fmean(column) for column in rng.beta(2, 3, (9, x.shape[1])).T.tolist()]
        expected = sqrt(fmean((p - q) ** 2 for p, q in zip(a, b, strict=True))) / (
            (stdev(a) + stdev(b)) / 2
        )
        yield drmse(x, [b]), expected


# Rankings


@audit("kendall_tau_b", "scipy.stats.kendalltau")
def tau(rng: np.random.Generator) -> Cases:
    for k in range(100):
        x, y = np.round(rng.random((2, 3 + k % 40)), 1 if k % 2 else 6)
        if np.ptp(x) and np.ptp(y):
            yield analysis.kendall_tau_b(x, y), stats.kendalltau(x, y).statistic


@audit("kendall_tau_b of means", "scipy.stats.kendalltau of exact fractions")
def tau_of_means(rng: np.random.Generator) -> Cases:
    for _ in range(30):
        tenths = rng.integers(0, 11, (10, 12))
        a, b = (part.sum(axis=0) for part in (tenths[:6], tenths[6:]))
        x, y = (
            (part[rng.permutation(len(part))] / 10).mean(axis=0)
            for part in (tenths[:6], tenths[6:])
        )
        yield analysis.kendall_tau_b(x, y), stats.kendalltau(a, b).statistic


@audit("tau_ap_b", "plain loops over the pivots")
def tau_ap(rng: np.random.Generator) -> Cases:
    for k in range(60):
        x, y = np.round(rng.random((2, 3 + k % 12)), 1 if k % 2 else 6).tolist()
        shares = []
        for own, value in zip(x, y, strict=True):
            above = [a > own for a, b in zip(x, y, strict=True) if b > value]
            shares += [sum(above) / len(above)] if above else []
        if shares:
            yield analysis.tau_ap_b(x, y), 2 * fmean(shares) - 1


@audit("swap_rate", "plain loops over exact fractions")
def swap(rng: np.random.Generator) -> Cases:
    for size in (None, None, None, 6, 5, 4):
        half = size or 6
        tenths = rng.integers(0, 11, (12, 5))
        order, bins = np.random.default_rng(9), [Fraction(k, 20) for k in range(5)]
        swaps, compared = [0] * 5, [0] * 5
        for _ in range(30):
            topics = order.permutation(12)
            parts = topics[:half], topics[half : 2 * half]
            a, b = (tenths[part].sum(axis=0).tolist() for part in parts)
            for i, j in pairs(5):
                k = sum(Fraction(abs(a[i] - a[j]), 10 * half) >= low for low in bins) - 1
                compared[k] += 1
                swaps[k] += (a[i] - a[j]) * (b[i] - b[j]) < 0
        for scores, lows in ((tenths / 10, np.arange(5) / 20), (tenths, np.arange(5) / 2)):
            found = swap_rate(scores, lows, size=size, trials=30, seed=9)
            yield [*found.swaps, *found.pairs], [*swaps, *compared]
            yield np.nan_to_num(found.rate), np.divide(swaps, np.maximum(compared, 1))
            yield found.overall, sum(swaps) / sum(compared)


# Sizes


def two_way(x: np.ndarray) -> Any:
    """Fit a two-way analysis of variance without replication with statsmodels."""
    topic, system = np.indices(x.shape)
    frame = pd.DataFrame({"y": x.ravel(), "t": topic.ravel(), "s": system.ravel()})
    return ols("y ~ C(t) + C(s)", frame).fit()


@audit("within_system_variance", "statsmodels OLS, one-way")
def within(rng: np.random.Generator) -> Cases:
    for x in matrices(rng, 12):
        frame = pd.DataFrame({"y": x.ravel(), "s": np.indices(x.shape)[1].ravel()})
        yield within_system_variance(x), ols("y ~ C(s)", frame).fit().mse_resid


@audit("residual_variance", "statsmodels OLS, two-way")
def residual(rng: np.random.Generator) -> Cases:
    for x in matrices(rng, 12):
        yield residual_variance(x), two_way(x).mse_resid


def smallest(power: Callable[[int], float]) -> int:
    return next(n for n in range(2, 10_000) if power(n) >= 0.8)


@audit("topic_set_size", "statsmodels FTestAnovaPower", 0)
def sizes(_: np.random.Generator) -> Cases:
    for variance, difference, m in product([0.02, 0.05], [0.07, 0.2], [2, 5, 10]):
        # Its effect is Cohen's f over all n * m observations: n * m * f**2 is lambda.
        f = sqrt(difference**2 / (2 * variance * m))

        def power(n: int, f: float = f, m: int = m) -> float:
            return float(FTestAnovaPower().power(f, n * m, 0.05, k_groups=m))

        yield topic_set_size(variance, difference, m), smallest(power)


@audit("topic_set_size, two-way", "scipy.stats.ncf", 0)
def two_way_sizes(_: np.random.Generator) -> Cases:
    for variance, difference, m in product([0.02, 0.05], [0.07, 0.2], [2, 5, 10]):

        def power(n: int, m: int = m, effect: float = difference**2 / 2 / variance) -> float:
            df = m - 1, (m - 1) * (n - 1)
            return float(stats.ncf.sf(stats.f.isf(0.05, *df), *df, n * effect))

        yield topic_set_size(variance, difference, m, two_way=True), smallest(power)


@audit("topic_set_size_paired_t", "statsmodels TTestPower", 0)
def paired_sizes(_: np.random.Generator) -> Cases:
    wanted = product([0.02, 0.05, 0.1], [0.03, 0.05, 0.1, 0.3], [0.01, 0.05])
    for variance, difference, alpha in wanted:
        power = partial(TTestPower().power, difference / sqrt(variance), alpha=alpha)
        found = analysis.topic_set_size_paired_t(variance, difference, alpha=alpha)
        yield found, smallest(power)


# Places


@audit("place", "ir_measures' means, counted", 0)
def places(rng: np.random.Generator) -> Cases:
    qrels = {t: {f"d{k}": int(rng.random() < 0.4) for k in range(20)} for t in "abcd"}
    runs = {
        f"s{k}": {t: {f"d{i}": float(rng.random()) for i in range(20)} for t in qrels}
        for k in range(9)
    }
    *systems, new = runs
    factors = build_factors(qrels, {s: runs[s] for s in systems}, ["AP"], id="o")
    mine = AP.calc_aggregate(qrels, runs[new])
    better = sum(AP.calc_aggregate(qrels, runs[s]) > mine for s in systems)
    yield place(runs[new], qrels, [AP], factors=factors)[0].rank, better + 1


def largest_difference(function: str) -> tuple[int, float]:
    """Return the number of compared values and the largest absolute difference."""
    with warnings.catch_warnings():
        # scipy warns about precision for near duplicates, and statsmodels about its pandas calls.
        warnings.simplefilter("ignore")
        differences = [
            np.abs(np.subtract(computed, expected, dtype=float)).ravel()
            for computed, expected in AUDIT[function][1](np.random.default_rng(20080720))
        ]
    every = np.concatenate(differences)
    return len(every), float(every.max())


@pytest.mark.parametrize("function", AUDIT)
def test_what_is_computed_is_what_the_oracle_says(function: str) -> None:
    cases, largest = largest_difference(function)
    assert cases
    assert largest <= AUDIT[function][2]


if __name__ == "__main__":
    for name, (oracle, *_) in AUDIT.items():
        print(f"| {name} | {oracle} | {{}} | {{:.1e}} |".format(*largest_difference(name)))
