"""Agreement of two judges: labels against scikit-learn's figures, and orders against scipy."""

from typing import Any

import numpy as np
import pytest
from scipy.stats import kendalltau, pearsonr, t as student

from ir_std.analysis import agreement
from ir_std.analysis.agreement import cohen_kappa, confusion_matrix, kappa_interval, order_agreement
from ir_std.analysis.means import draw_samples

RNG = np.random.default_rng(31)
FIRST = RNG.integers(0, 4, 200)
SECOND = np.clip(FIRST + RNG.integers(-1, 2, 200) * RNG.integers(0, 2, 200), 0, 3)
BY_SCIKIT_LEARN = {
    "none": 0.6098873381536909,
    "linear": 0.7495898454364909,
    "quadratic": 0.8657811306782681,
}
"""cohen_kappa_score(FIRST, SECOND, weights=...) of scikit-learn 1.9.1."""


@pytest.mark.parametrize("weights", BY_SCIKIT_LEARN)
def test_kappa_is_scikit_learns(weights: str) -> None:
    kappa = float(cohen_kappa(confusion_matrix(FIRST, SECOND, 4), weights))
    assert kappa == pytest.approx(BY_SCIKIT_LEARN[weights], abs=1e-12)


def test_cohens_own_example() -> None:
    # Educational and Psychological Measurement 20 (1960), Table 1: seen .70, by chance .41.
    table = [[88, 14, 18], [10, 40, 10], [2, 6, 12]]
    assert float(cohen_kappa(table)) == pytest.approx((0.70 - 0.41) / (1 - 0.41), abs=1e-12)


def test_kappa_is_not_defined_where_there_is_one_level_or_no_document() -> None:
    assert np.isnan(cohen_kappa([[7, 0], [0, 0]]))
    assert np.isnan(cohen_kappa(np.zeros((3, 3))))
    assert np.isnan(kappa_interval(np.zeros((2, 3, 3))).low)


X = RNG.normal(size=(30, 12)) + np.linspace(0, 2, 12)
Y = X + RNG.normal(size=(30, 12))


def test_the_orders_agreement_is_scipys() -> None:
    order = order_agreement(X, Y)
    assert order.tau.value == pytest.approx(kendalltau(X.mean(axis=0), Y.mean(axis=0))[0])
    assert order.r.value == pytest.approx(pearsonr(X.ravel(), Y.ravel())[0])
    assert order.gap.value == pytest.approx(np.abs(X.mean(axis=0) - Y.mean(axis=0)).mean())
    for figure in (order.tau, order.gap, order.r):
        assert figure.low < figure.high <= 1
    assert np.isnan([order.tau_ap.low, order.tau_ap.high]).all()


def test_intervals_are_students_around_the_figure_and_count_the_bias(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(agreement, "SAMPLES", 40)
    taus, rs = [], []
    for counts in draw_samples(30, 40).astype(int):
        rows = np.repeat(np.arange(30), counts)
        taus.append(kendalltau(X[rows].mean(axis=0), Y[rows].mean(axis=0))[0])
        rs.append(pearsonr(X[rows].ravel(), Y[rows].ravel())[0])
    order = order_agreement(X, Y)
    fisher = np.arctanh([order.r.low, order.r.high])
    for found, value, values, end, level in (
        (order.tau[1:], order.tau.value, taus, 1, 0.95),
        (fisher, np.arctanh(order.r.value), np.arctanh(rs), np.inf, 0.98),
    ):
        error = np.var(values, ddof=1) + (2 * (np.mean(values) - value)) ** 2
        half = student.ppf((1 + level) / 2, 29) * np.sqrt(error * 30 / 29)
        assert found == pytest.approx((value - half, min(value + half, end)))


def test_equal_judges_have_intervals_of_no_width() -> None:
    same = order_agreement(X, X)
    assert same.tau == (1, 1, 1)
    assert same.r == pytest.approx((1, 1, 1))


@pytest.mark.parametrize("n", [1, 2, 24])
def test_few_topics_have_no_interval(n: int) -> None:
    order = order_agreement(X[:n], Y[:n])
    lows = [figure.low for figure in (order.tau, order.gap, order.r)]
    assert np.isnan([*lows, kappa_interval(np.ones((n, 2, 2))).low]).all()
    assert np.isfinite([order.tau.value, order.gap.value, order.r.value]).all()
    assert np.isfinite(kappa_interval(np.tile([[3, 1], [1, 3]], (25, 1, 1))).low)


def test_systems_with_equal_scores_on_most_topics_have_no_interval() -> None:
    # Each two systems differ on 11 or 9 of 30 topics, which is above or below a third.
    for n_topics, has_one in ((11, True), (9, False)):
        equal = X.copy()
        equal[n_topics:] = X[n_topics:, :1]
        for order in (order_agreement(equal, Y), order_agreement(Y, equal)):
            lows = [figure.low for figure in (order.tau, order.gap, order.r)]
            assert np.isfinite(lows).tolist() == [has_one] * 3


def test_tau_has_no_interval_if_a_judges_order_is_mostly_noise() -> None:
    noise = X - X.mean(axis=0) + np.linspace(0, 0.2, 12)
    for order in (order_agreement(noise, Y), order_agreement(Y, noise)):
        assert np.isnan(order.tau.low)
        assert np.isfinite([order.gap.low, order.r.low]).all()


def test_a_topic_without_a_score_is_left_out_and_one_system_has_a_gap_and_no_order() -> None:
    with_hole = X.copy()
    with_hole[3, 5] = np.nan
    whole = np.delete(np.arange(30), 3)
    assert order_agreement(with_hole, Y).tau.value == order_agreement(X[whole], Y[whole]).tau.value
    order = order_agreement(X[:, :1], Y[:, :1])
    assert np.isnan(order.tau.value)
    assert order.gap.value == pytest.approx(abs(X[:, 0].mean() - Y[:, 0].mean()))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: confusion_matrix([0, 1], [0], 4), "same documents"),
        (lambda: confusion_matrix([0, 4], [0, 1], 4), "between 0 and 3"),
        (lambda: confusion_matrix([-1], [0], 4), "between"),
        (lambda: cohen_kappa([[1, 0], [0, 1]], "cubic"), "none, linear, quadratic"),
        (lambda: cohen_kappa([1, 2]), "levels x levels"),
        (lambda: order_agreement(X, Y[:, :3]), "the same shape"),
        (lambda: order_agreement([[np.nan]] * 2, np.ones((2, 1))), "no topic has scores"),
    ],
)
def test_labels_and_scores_that_do_not_fit_are_refused(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
