"""Estimates if people judged a few topics and a language model judged all topics."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from ir_std.analysis import PredictionPowered, prediction_powered

Y = [[0.45], [0.35], [0.45], [0.75], [0.5]]
X = [[0.3], [0.5], [0.7], [0.9], [0.6], [0.2], [0.4], [0.6], [0.8], [0.5]]
RNG = np.random.default_rng(4)
TRUTH = RNG.uniform(size=(30, 6)).round(3)
MODEL = (0.5 * TRUTH + 0.4 + RNG.normal(0, 0.05, TRUTH.shape)).clip(0, 1)
ROWS = np.array([0, 3, 4, 8, 9, 13, 17, 20, 22, 25, 28, 29])


def corrected(**changed: object) -> PredictionPowered:
    given = {"human": TRUTH[ROWS], "llm": MODEL, "rows": ROWS} | changed
    return prediction_powered(**given)


def half_widths(found: PredictionPowered) -> np.ndarray:
    """Return half of the interval of each system's mean."""
    return np.array([found.contrast(w).half for w in np.eye(len(found.mean))])


def test_the_worked_example_comes_out() -> None:
    finite = prediction_powered(Y, X, range(5))
    assert finite.multipliers == pytest.approx((0.5, 0.5))
    assert finite.mean == pytest.approx([0.475])
    assert half_widths(finite) == pytest.approx([0.11620651], abs=5e-9)
    assert finite.equivalent_topics == pytest.approx(6.279070, abs=5e-7)
    topics = prediction_powered(Y, X, range(5), "topics")
    assert half_widths(topics) == pytest.approx([0.19050426], abs=5e-9)
    assert topics.mean == pytest.approx(finite.mean)


def plain(
    y: np.ndarray, x: np.ndarray, rows: np.ndarray, w: np.ndarray, population: str
) -> tuple[float, float]:
    """Compute a contrast and its half-width by loops over topics and systems."""
    (n, m), total = y.shape, len(x)
    yc = [[y[i, j] - np.mean(y[:, j]) for j in range(m)] for i in range(n)]
    xc = [[x[rows[i], j] - np.mean(x[rows, j]) for j in range(m)] for i in range(n)]
    c = sum(yc[i][j] * xc[i][j] for i in range(n) for j in range(m))
    c = min(1, max(0, c / sum(v * v for row in xc for v in row)))
    s = c
    if m >= 5:
        xd = [[v - np.mean(row) for v in row] for row in xc]
        yd = [[v - np.mean(row) for v in row] for row in yc]
        s = sum(yd[i][j] * xd[i][j] for i in range(n) for j in range(m))
        s = min(1, max(0, s / sum(v * v for row in xd for v in row)))
    g = [
        [c * np.mean(x[t]) + s * (x[t, j] - np.mean(x[t])) for j in range(m)] for t in range(total)
    ]
    drawn = [g[t] for t in rows]
    estimate = variance = spread = 0.0
    for j in range(m):
        here = np.mean([row[j] for row in drawn])
        estimate += w[j] * (np.mean(y[:, j]) + np.mean([row[j] for row in g]) - here)
    for i in range(n):
        r = [yc[i][j] - (drawn[i][j] - np.mean([d[j] for d in drawn])) for j in range(m)]
        variance += sum(w[j] * r[j] for j in range(m)) ** 2
        spread += sum(w[j] * yc[i][j] for j in range(m)) ** 2
    spent = 2 if c or s else 1
    variance = variance / (n - spent) / n * (1 - n / total)
    if population == "topics":
        variance += spread / (n - 1) / total
    return estimate, stats.t.ppf(0.975, n - spent) * variance**0.5


@pytest.mark.parametrize("population", ["finite", "topics"])
@pytest.mark.parametrize("m", [1, 2, 4, 5, 6])
def test_estimates_are_those_of_plain_loops(m: int, population: str) -> None:
    y, x = TRUTH[ROWS][:, :m], MODEL[:, :m]
    found = prediction_powered(y, x, ROWS, population)  # type: ignore[arg-type]
    for w in (*np.eye(m), np.arange(m) - 1.5):
        estimate, half = plain(y, x, ROWS, w, population)
        assert found.contrast(w).mean == pytest.approx(estimate, abs=1e-12)
        assert found.contrast(w).topics == pytest.approx(half, rel=1e-9)


@given(arrays(float, (9, 3), elements=st.floats(0, 1)), st.floats(0, 1))
def test_labels_without_differences_leave_the_people_alone(y: np.ndarray, level: float) -> None:
    found = prediction_powered(y, np.full((40, 3), level), np.arange(9))
    assert found.multipliers == (0, 0)
    assert found.mean == pytest.approx(y.mean(axis=0))
    assert found.equivalent_topics == pytest.approx(9)
    for column, half in zip(y.T, half_widths(found), strict=True):
        alone = stats.sem(column) * stats.t.ppf(0.975, 8) * np.sqrt(1 - 9 / 40)
        assert np.isnan(half) or half == pytest.approx(alone, abs=1e-12)


@given(st.permutations(range(30)))
def test_the_order_of_topics_does_not_matter(order: list[int]) -> None:
    inverse = np.argsort(order)
    found = corrected(llm=MODEL[order], rows=inverse[ROWS])
    assert found.mean == pytest.approx(corrected().mean, abs=1e-12)
    assert half_widths(found) == pytest.approx(half_widths(corrected()), abs=1e-9)


def test_perfect_labels_give_the_truth_for_sure() -> None:
    found = corrected(llm=TRUTH)
    assert found.mean == pytest.approx(TRUTH.mean(axis=0))
    assert half_widths(found) == pytest.approx(np.zeros(6), abs=1e-7)
    assert found.equivalent_topics == pytest.approx(30)


def test_inverted_labels_are_ignored() -> None:
    found = corrected(llm=1 - TRUTH)
    assert found.multipliers == (0, 0)
    assert found.mean == pytest.approx(TRUTH[ROWS].mean(axis=0))
    assert found.df == len(ROWS) - 1


def test_if_people_judged_all_topics_their_mean_is_certain_or_has_the_usual_t_interval() -> None:
    found = corrected(human=TRUTH, rows=np.arange(30))
    assert found.mean == pytest.approx(TRUTH.mean(axis=0))
    assert half_widths(found) == pytest.approx(np.zeros(6))
    found = corrected(human=TRUTH, rows=np.arange(30), population="topics")
    usual = stats.sem(TRUTH, axis=0) * stats.t.ppf(0.975, found.df)
    assert half_widths(found) == pytest.approx(usual)


def test_a_judged_topic_without_a_relevant_document_counts_among_the_drawn() -> None:
    y = TRUTH[ROWS].copy()
    y[3] = np.nan
    found = corrected(human=y)
    known = np.delete(np.arange(len(ROWS)), 3)
    c, s = found.multipliers
    level = MODEL.mean(axis=1, keepdims=True)
    g = c * level + s * (MODEL - level)
    mean = y[known].mean(axis=0)
    assert found.mean == pytest.approx(mean + g.mean(axis=0) - g[ROWS].mean(axis=0))
    drawn = g[ROWS] - g[ROWS].mean(axis=0)
    r = -drawn
    r[known] += 12 / 11 * (y[known] - mean)
    half = np.sqrt((r**2).sum(axis=0) / 10 / 12 * (1 - 12 / 30)) * stats.t.ppf(0.975, 9)
    assert half_widths(found) == pytest.approx(half)


def test_dropping_topics_that_are_hard_for_the_model_would_bias() -> None:
    """Check the estimate if the topics that are hard for the model have no relevant document."""
    random = np.random.default_rng(0)
    x = random.uniform(size=(60, 5)) * 0.3 + np.linspace(0, 0.7, 60)[:, None]
    y = (x + random.normal(0, 0.02, x.shape)).clip(0, 1)
    y[:15] = np.nan
    truth = np.nanmean(y, axis=0)
    errors = []
    for _ in range(300):
        rows = random.choice(60, 20, replace=False)
        errors.append(prediction_powered(y[rows], x, rows).mean - truth)
    assert abs(np.mean(errors)) < 0.01


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"human": TRUTH[:4], "rows": [0, 1, 2, 3]}, "at least 5 topics"),
        ({"rows": [0] * 12}, "repeat a topic"),
        ({"rows": [*ROWS[:-1], 30]}, "between 0 and 29"),
        ({"rows": [*ROWS[:-1], -1]}, "between 0 and 29"),
        ({"rows": ROWS[:-1]}, "12 whole numbers"),
        ({"rows": ROWS + 0.5}, "12 whole numbers"),
        ({"llm": np.where(MODEL > 0.5, np.nan, MODEL)}, "finite score"),
        ({"llm": MODEL[:, :3]}, "the same systems"),
        ({"human": np.where(np.eye(12, 6) > 0, np.nan, TRUTH[ROWS])}, "or NaN for all systems"),
        (
            {"human": np.where(np.arange(12)[:, None] < 4, TRUTH[ROWS], np.nan)},
            "at least 5 topics with human scores.*got 4",
        ),
        ({"population": "all"}, "choose from finite, topics"),
    ],
)
def test_means_that_cannot_be_estimated_are_refused(
    changed: dict[str, object], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        corrected(**changed)


def test_weights_are_one_finite_number_per_system() -> None:
    for weights in ([1.0], [np.inf] * 6):
        with pytest.raises(ValueError, match="6 finite weights"):
            corrected().contrast(weights)


def test_equal_scores_on_nearly_all_topics_leave_no_interval() -> None:
    y, contrast = TRUTH[ROWS].copy(), [1, -1, 0, 0, 0, 0]
    y[2:, 1] = y[2:, 0]
    difference = corrected(human=y).contrast(contrast)
    assert np.isnan(difference.topics)
    assert np.isfinite(difference.mean)
    y[2, 1] += 0.1
    assert np.isfinite(corrected(human=y).contrast(contrast).topics)
    y[2:, 1] = 1
    assert np.isnan(half_widths(corrected(human=y))).tolist() == [False, True] + [False] * 4


EASY = np.argsort(MODEL.mean(axis=1))[-12:]


@pytest.mark.parametrize(
    ("changed", "warning"),
    [
        ({"human": TRUTH[ROWS[:9]], "rows": ROWS[:9]}, "only 9 topics"),
        ({"llm": np.full((30, 6), 0.5)}, "barely separate the systems"),
        ({"llm": MODEL + 2 * np.random.default_rng(1).normal(size=(30, 1))}, "scheme N"),
        ({"human": TRUTH[EASY], "rows": EASY}, "random draw"),
    ],
)
def test_doubtful_estimates_are_warned_about(changed: dict[str, object], warning: str) -> None:
    assert corrected().warnings == ()
    assert warning in corrected(**changed).warnings[0]
