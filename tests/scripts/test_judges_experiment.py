"""The experiment on judges: its figures from plain formulas, and those of the trial."""

from __future__ import annotations

from pathlib import Path

import judges_experiment as experiment
import numpy as np
import pytest
from scipy.stats import kendalltau, norm

RNG = np.random.default_rng(31)
X = RNG.uniform(size=(20, 8))
Y = 0.3 + 0.5 * X


def judged(people: np.ndarray, model: np.ndarray) -> experiment.Judged:
    n_topics, n_systems = people.shape
    return experiment.Judged(
        "dl19-passage",
        "umbrela-gpt4",
        "nDCG@10",
        tuple(map(str, range(n_topics))),
        tuple(f"rankgpt{i}" if i < 3 else f"bm{i}" for i in range(n_systems)),
        people,
        model,
    )


def test_the_figures_are_those_of_the_means() -> None:
    figures = experiment.compare(X, Y)
    means = X.mean(axis=0), Y.mean(axis=0)
    gap = sum(abs(a - b) for a, b in zip(*means, strict=True)) / 8
    sd = (np.std(means[0], ddof=1) + np.std(means[1], ddof=1)) / 2
    assert figures.gap == pytest.approx(gap)
    assert figures.gap_sd == pytest.approx(gap / sd)
    assert figures.shift == pytest.approx(abs(means[0].mean() - means[1].mean()) / sd)
    assert figures.tau == pytest.approx(kendalltau(*means)[0])
    assert figures.tau_ap == 1


def test_a_judge_who_only_moves_and_stretches_scores_is_mended_altogether() -> None:
    by_scale = experiment.halves(5, 0, judged(X, Y))
    assert by_scale["raw"].shape == (5, len(experiment.Figures._fields))
    assert by_scale["raw"][:, 0].min() > 0.01
    for scale in ("z", "N", "U", "E"):
        assert np.abs(by_scale[scale][:, 0]).max() < 1e-9


def test_systems_that_are_held_out_are_standardized_by_the_others() -> None:
    by, held = X[:, :4], X[:, 4:]
    z = (held - by.mean(axis=1, keepdims=True)) / by.std(axis=1, ddof=1, keepdims=True)
    assert experiment.on_scale(held, by, "N") == pytest.approx(norm.cdf(z))
    assert experiment.on_scale(held, by, "raw") is held


def test_a_favour_of_a_kind_of_systems_stays() -> None:
    model = Y.copy()
    model[:, :3] += 0.1
    case = judged(X, model)
    favour = experiment.kinds(case, (X, model))
    rest = Y - X
    expected = 0.1 + (rest[:, :3].mean(axis=1) - rest[:, 3:].mean(axis=1)).mean()
    assert favour.mean == pytest.approx(expected)
    assert favour.n == 20


def test_flat_topics_are_counted() -> None:
    scores = np.array([[0.5, 0.5, 0.5], [1.0, 1.0, 0.9], [0.1, 0.2, 0.3]])
    assert experiment.flat_topics(scores) == (1, 1)


@pytest.mark.slow
def test_the_trials_figures_come_out(data: Path) -> None:
    pairs = experiment.modern_pairs(data, ["umbrela-gpt4"])
    for own, later in pairs:
        if (own.collection, own.measure) in experiment.TRIAL:
            by_scale = experiment.held_out(own, later)
            gaps = [experiment.compare(*by_scale[scale]).gap for scale in ("raw", "N")]
            expected = experiment.TRIAL[own.collection, own.measure]
            assert [round(gap, 3) for gap in gaps] == list(expected)
