"""Effects on one collection and over several: against scipy, statsmodels and R."""

import shutil
from random import Random

import numpy as np
import pytest
from hypothesis import given, strategies as st
from processes import run_process
from scipy import optimize, stats

from ir_std.analysis.effects import hedges_correction, paired_effect, random_effects

meta_analysis = pytest.importorskip(
    "statsmodels.stats.meta_analysis", reason="statsmodels is not installed"
)
sm = pytest.importorskip("statsmodels.api", reason="statsmodels is not installed")


def made_up(seed: int, n: int, between: float) -> tuple[np.ndarray, np.ndarray]:
    """Simulate the effects of ``n`` collections and their variances."""
    random = np.random.default_rng(seed)
    variances = random.uniform(0.005, 0.03, n) ** 2
    return random.normal(0.02, np.sqrt(variances + between)), variances


CASES = [
    made_up(seed, n, between)
    for seed, (n, between) in enumerate(
        [(2, 0.0), (2, 0.01), (3, 0.0), (4, 1e-4), (10, 0.0), (10, 1e-3), (25, 5e-4)]
    )
]


def in_r(code: str) -> np.ndarray:
    """Return the numbers that R prints; skip if R or its package metafor is missing."""
    program = shutil.which("Rscript") or pytest.skip("R is not installed")
    loaded = "if (!requireNamespace('metafor', quietly=TRUE)) quit(status=3)"
    done = run_process(
        [program, "-"], input=f"{loaded}; suppressMessages(library(metafor)); {code}"
    )
    if done.returncode == 3:
        pytest.skip("R's package metafor is not installed")
    done.check_returncode()
    return np.array(done.stdout.split(), float)


def vector(values: np.ndarray) -> str:
    return f"c({','.join(map(repr, np.asarray(values, float).tolist()))})"


A, B = np.random.default_rng(4).random((2, 9))
"""Scores of two systems on nine topics."""


# One collection


def test_difference_and_p_are_those_of_scipys_paired_t_test() -> None:
    a, b = np.random.default_rng(1).random((2, 30))
    found, expected = paired_effect(a - b), stats.ttest_rel(a, b)
    low, high = expected.confidence_interval()
    assert found.p == pytest.approx(expected.pvalue, rel=1e-12)
    assert found.difference == pytest.approx((low + high) / 2)
    assert found.error * stats.t.ppf(0.975, 29) == pytest.approx((high - low) / 2)


def test_hedges_correction_makes_sizes_unbiased() -> None:
    d = np.random.default_rng(3).normal(0.5, 1, (200_000, 6))
    plain = d.mean(axis=1) / d.std(axis=1, ddof=1)
    error = plain.std() / np.sqrt(len(plain))
    assert hedges_correction(5) * plain.mean() == pytest.approx(0.5, abs=3 * error)
    assert plain.mean() - 0.5 > 10 * error


def test_sizes_and_their_variances_are_metafors() -> None:
    found = paired_effect(A - B)
    expected = in_r(
        f"a <- {vector(A)}; b <- {vector(B)}; e <- escalc(measure='SMCC', m1i=mean(a), sd1i=sd(a), "
        "m2i=mean(b), sd2i=sd(b), ri=cor(a, b), ni=9); cat(format(c(e$yi, e$vi), digits=15))"
    )
    assert [found.size, found.size_variance] == pytest.approx(expected, abs=1e-9)


def test_topics_that_one_of_them_lacks_do_not_count() -> None:
    assert paired_effect([0.1, np.nan, 0.3, 0.2]) == paired_effect([0.1, 0.3, 0.2])


@pytest.mark.parametrize("d", [[], [0.1]])
def test_fewer_than_two_pairs_have_no_error_and_no_size(d: list[float]) -> None:
    found = paired_effect(d)
    assert found.n == len(d)
    assert np.isnan([found.error, found.p, found.size, found.size_variance]).all()


def test_the_same_difference_everywhere_has_no_size_unless_it_is_0() -> None:
    assert np.isnan(paired_effect([0.1] * 7).size)
    assert paired_effect([0.0] * 7).size == 0


# Several collections


def test_summaries_are_metafors() -> None:
    # metafor stops if a step is below 1e-5, which can be 4 percent of the variance here.
    expected = in_r(
        "; ".join(
            f"r <- rma({vector(y)}, {vector(v)}, method='PM', test='adhoc', control=list(tol=1e-15,"
            "threshold=1e-15, maxiter=100000)); cat(format(c(r$b, r$se, r$ci.lb, r$ci.ub, r$pval, "
            "r$tau2, r$QE, r$QEp, weights(r)/100), digits=15), '')"
            for y, v in CASES
        )
    )
    found: list[float] = []
    for case in CASES:
        s = random_effects(*case)
        found += [s.effect, s.error, s.low, s.high, s.p, s.tau2, s.q, s.q_p, *s.weights]
    assert found == pytest.approx(expected, abs=1e-6, rel=1e-6)


@pytest.mark.parametrize("case", CASES)
def test_summaries_are_those_of_statsmodels(case: tuple[np.ndarray, np.ndarray]) -> None:
    y, v = case
    found = random_effects(y, v)
    expected = meta_analysis.combine_effects(y, v, method_re="pm")
    assert found.q == pytest.approx(expected.q)
    # statsmodels 0.15 stops at 1e-5. With a smaller tolerance, it returns 0 if its last step is
    # above the solution by a rounding error.
    assert found.tau2 == pytest.approx(expected.tau2, rel=1e-4)
    assert found.effect == pytest.approx(expected.mean_effect_re, rel=1e-4)
    normal = (1 / (v + expected.tau2)).sum() ** -0.5
    assert found.error == pytest.approx(max(expected.sd_eff_w_re_hksj, normal), rel=1e-4)


@pytest.mark.parametrize("case", CASES)
def test_the_variance_between_collections_solves_paule_and_mandels_equation(
    case: tuple[np.ndarray, np.ndarray],
) -> None:
    y, v = case

    def excess(tau2: float) -> float:
        w = 1 / (v + tau2)
        return float(w @ (y - w @ y / w.sum()) ** 2) - (len(y) - 1)

    expected = optimize.brentq(excess, 0, 10, xtol=1e-15) if excess(0) > 0 else 0.0
    assert random_effects(y, v).tau2 == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize("case", CASES)
def test_the_interval_is_the_wider_one_of_weighted_least_squares_and_known_variances(
    case: tuple[np.ndarray, np.ndarray],
) -> None:
    y, v = case
    found = random_effects(y, v, level=0.9)
    model = sm.WLS(y, np.ones(len(y)), weights=1 / (v + found.tau2))
    fitted = max((model.fit(), model.fit(cov_type="fixed scale")), key=lambda one: one.bse[0])
    half = fitted.bse[0] * stats.t.ppf(0.95, len(y) - 1)
    assert [found.effect, found.error] == pytest.approx([fitted.params[0], fitted.bse[0]])
    assert [found.low, found.high] == pytest.approx([found.effect - half, found.effect + half])
    p = 2 * stats.t.sf(abs(found.effect) / fitted.bse[0], len(y) - 1)
    assert found.p == pytest.approx(p)
    assert found.i2 == pytest.approx(max(0.0, 1 - (len(y) - 1) / found.q))
    assert found.weights == pytest.approx(1 / (v + found.tau2) / (1 / (v + found.tau2)).sum())


@given(
    st.lists(st.tuples(st.floats(-1, 1), st.floats(1e-4, 1)), min_size=2, max_size=12),
    st.floats(0.1, 10),
    st.randoms(),
)
def test_summaries_follow_the_unit_and_not_the_order(
    effects: list[tuple[float, float]], unit: float, random: Random
) -> None:
    y, v = np.transpose(effects)
    found = random_effects(y, v)
    random.shuffle(effects)
    y, v = np.transpose(effects)
    other = random_effects(y * unit, v * unit**2)
    assert other.tau2 == pytest.approx(found.tau2 * unit**2, rel=1e-6, abs=1e-9)
    assert other.effect == pytest.approx(found.effect * unit, rel=1e-6, abs=1e-6)
    assert sum(other.weights) == pytest.approx(1)
    assert min(y) - 1e-9 <= other.effect / unit <= max(y) + 1e-9


@pytest.mark.parametrize(
    ("effects", "variances", "said"),
    [
        ([0.1], [0.1], "at least two effects"),
        ([0.1, 0.2], [0.1], "one variance per effect"),
        ([0.1, 0.2], [0.1, 0.0], "above 0"),
        ([0.1, np.nan], [0.1, 0.1], "NaN"),
    ],
)
def test_what_cannot_be_summarized_is_an_error(
    effects: list[float], variances: list[float], said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        random_effects(effects, variances)


@pytest.mark.parametrize(
    ("n", "between", "trials"),
    [
        (5, 0.0, 400),
        (3, 4e-4, 400),
        *(
            pytest.param(n, between, 1500, marks=pytest.mark.slow)
            for n in (3, 5, 10)
            for between in (0.0, 4e-4)
        ),
    ],
)
def test_intervals_hold_their_level_with_few_collections(
    n: int, between: float, trials: int
) -> None:
    random = np.random.default_rng(6)
    hits = 0
    for _ in range(trials):
        v = random.uniform(0.005, 0.03, n) ** 2
        s = random_effects(random.normal(0.02, np.sqrt(v + between)), v)
        hits += s.low <= 0.02 <= s.high
    assert hits / trials >= 0.935


@pytest.mark.parametrize("tiny", [1e-12, 1e-30, 1e-100, 1e-300])
def test_variances_below_rounding_do_not_raise(tiny: float) -> None:
    for y in ([0.1, 0.1 + 1e-16, 0.1], [0.1, 0.2, 0.4], [0.1] * 3):
        for v in ([tiny] * 3, [tiny, 1e-4, 1e-2], [tiny, tiny**0.5, 1.0]):
            s = random_effects(y, v)
            assert np.isfinite([s.effect, s.error, s.low, s.high, s.p, s.tau2]).all()
