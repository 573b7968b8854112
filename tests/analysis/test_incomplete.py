"""Linked scores: by a plain second implementation, and whether they make up for missing topics."""

from __future__ import annotations

from collections.abc import Iterable
from math import sqrt
from statistics import NormalDist

import numpy as np
import pytest
from scipy import stats

from ir_std.analysis import linked_scores, standardize_matrix


def made_up(n_topics: int = 12, n_systems: int = 30, seed: int = 1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    ability = rng.normal(0, 0.1, n_systems)
    return (
        rng.uniform(0.2, 0.8, (n_topics, 1)) + ability + rng.normal(0, 0.04, (n_topics, n_systems))
    )


def fmean(values: Iterable[float]) -> float:
    listed = list(values)
    return sum(listed) / len(listed)


def stdev(values: Iterable[float]) -> float:
    listed = list(values)
    return sqrt(sum((v - fmean(listed)) ** 2 for v in listed) / (len(listed) - 1))


def plain(scores: list[list[float | None]]) -> list[float]:
    """Compute the means as the docstring describes them, with lists."""
    z: list[dict[int, float]] = []
    for row in scores:
        known = {k: s for k, s in enumerate(row) if s is not None}
        mean, sd = fmean(known.values()), stdev(known.values())
        z.append({k: (s - mean) / sd for k, s in known.items()})
    systems = range(len(scores[0]))
    design = [(j, k) for j, row in enumerate(z) for k in row]
    a = np.zeros((len(design), len(systems) + len(z)))
    for i, (j, k) in enumerate(design):
        a[i, k] = a[i, len(systems) + j] = 1
    theta = np.linalg.lstsq(a, np.array([z[j][k] for j, k in design]), rcond=None)[0].tolist()
    theta = theta[: len(systems)]
    for _ in range(2000):
        c = [t - fmean(theta) for t in theta]
        linked = [
            {
                k: fmean(c[i] for i in row) + value * stdev(c[i] for i in row) / stdev(c)
                for k, value in row.items()
            }
            for row in z
        ]
        theta = [fmean(row[k] for row in linked if k in row) for k in systems]
    return [fmean(NormalDist().cdf(row[k]) for row in linked if k in row) for k in systems]


def test_it_is_what_its_description_says() -> None:
    x = made_up(6, 8)
    x[np.random.default_rng(3).random(x.shape) < 0.3] = np.nan
    rows = [[None if np.isnan(s) else float(s) for s in row] for row in x]
    assert linked_scores(x).means == pytest.approx(plain(rows), abs=1e-6)


def test_with_all_scores_it_is_the_mean_of_n() -> None:
    x = made_up()
    assert linked_scores(x).means == pytest.approx(standardize_matrix(x).mean(axis=0), abs=1e-12)


def mean_n(x: np.ndarray) -> np.ndarray:
    """Compute mean N per topic from the systems that have a score."""
    z = (x - np.nanmean(x, axis=1, keepdims=True)) / np.nanstd(x, axis=1, ddof=1, keepdims=True)
    return np.asarray(np.nanmean(stats.norm.cdf(z), axis=0))


def test_leaving_out_the_topics_of_strong_systems_gains_nothing() -> None:
    x = made_up(12, 60)
    order = np.argsort(-x.mean(axis=0))
    x[:6, order[40:]] = np.nan  # the weak ones are on the last topics only
    gains = []
    for middle in order[10:30]:
        alone = x.copy()
        alone[:6, middle] = np.nan
        gains.append(
            [(f(alone) - f(x))[middle] for f in (lambda s: linked_scores(s).means, mean_n)]
        )
    linked, plainly = np.mean(gains, axis=0)
    assert abs(linked) < 0.02
    assert plainly > 0.05


def test_missing_scores_move_places_less_than_by_means() -> None:
    whole = made_up(12, 60, 8)
    truth = stats.rankdata(-standardize_matrix(whole).mean(axis=0))
    x = whole.copy()
    x[np.ix_(np.argsort(whole.mean(axis=1))[:4], np.arange(0, 60, 2))] = np.nan  # the hardest
    linked = np.abs(stats.rankdata(-linked_scores(x).means) - truth)[::2].mean()
    raw = np.abs(stats.rankdata(-np.nanmean(x, axis=0)) - truth)[::2].mean()
    assert linked < raw / 5


def test_a_topic_on_which_all_score_the_same_tells_nothing() -> None:
    x = made_up(5, 6)
    flat = np.vstack([x, np.full(6, 0.3)])
    found = linked_scores(flat)
    assert (found.values[-1] == 0.5).all()


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([0.1, 0.2], "one array of topics x systems"),
        ([[0.1, np.inf]], "1 infinite value"),
        ([[0.1, 0.2], [0.3, np.nan]], "each topic needs two systems, and each system a topic"),
        ([[0.1, 0.2, np.nan]], "each topic needs two systems, and each system a topic"),
        (
            [[0.1, 0.2, np.nan, np.nan], [np.nan, np.nan, 0.2, 0.3]],
            "2 systems have no topic in common with the others",
        ),
    ],
)
def test_scores_that_cannot_be_linked_are_reported(scores: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        linked_scores(scores)
