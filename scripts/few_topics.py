"""Test estimates from a few human topics and a model's labels of all topics.

Each trial draws topics at random from a collection that people judged completely, so the true value
is known. The trials measure the error of the estimate, and how often the estimate's interval
contains the true value. They also measure the error of an estimate from the same topics without the
model. To make uninformative labels, the script permutes or inverts the scores under the model's
labels, or adds noise to them. ``judges_experiment.py`` prints the tables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

from ir_std._arrays import Floats
from ir_std.analysis.prediction import MIN_VARYING_TOPICS, prediction_powered, varying_topics

SIZES = (8, 10, 15, 20, 25)
"""Numbers of topics that count as judged by people."""


def worse_labels(x: Floats, seed: int) -> dict[str, Floats]:
    """Make scores under uninformative labels from the scores under a model's labels."""
    random = np.random.default_rng(seed)
    return {
        "permuted": random.permutation(x, axis=0),
        "inverted": x.max() - x,
        "noisy": x + random.normal(0, 3 * x.std(), x.shape),
        "random": random.random(x.shape),
    }


class Trials(NamedTuple):
    """Means over trials.

    Each array has one value for the systems' means and one for the differences between systems.

    Attributes
    ----------
    error, error_alone : ndarray, shape (2,)
        Root mean square error of the estimates, and of estimates that use only people's labels.
    coverage, coverage_alone : ndarray, shape (2,)
        Share of 95% intervals that contain the true value.
    worth : float
        Mean number of human topics that would give the same precision without a model.
    """

    error: Floats
    error_alone: Floats
    coverage: Floats
    coverage_alone: Floats
    worth: float

    @property
    def ratio(self) -> Floats:
        """Error of the estimates, divided by the error with only people's labels."""
        return self.error / self.error_alone


def draw_trials(people: Floats, model: Floats, n: int, trials: int, seed: int) -> Trials:
    """Compute estimates from `n` random topics in many trials.

    Parameters
    ----------
    people, model : ndarray, shape (n_topics, n_systems)
        Scores under labels of people and of a model, without NaN.
    """
    random = np.random.default_rng(seed)
    first, second = np.triu_indices(people.shape[1], 1)
    means = people.mean(axis=0)
    truth = means, means[first] - means[second]
    squares, held, known = np.zeros((3, 2, 2))  # estimators x (means, differences)
    worth = 0.0
    for _ in range(trials):
        rows = random.choice(len(people), n, replace=False)
        with_model = prediction_powered(people[rows], model, rows)
        alone = prediction_powered(people[rows], np.zeros_like(model), rows)
        worth += with_model.equivalent_topics
        human = people[rows]
        differing = np.abs(human[:, first] - human[:, second]) > 1e-12
        varying = (  # The program gives an interval only for these estimates.
            np.array([varying_topics(column) for column in human.T]) >= MIN_VARYING_TOPICS,
            differing.sum(axis=0) >= MIN_VARYING_TOPICS,
        )
        for i, estimate in enumerate((with_model, alone)):
            quantile = stdtrit(estimate.df, 0.975)
            own = np.diag(estimate.covariance)
            between = own[first] + own[second] - 2 * estimate.covariance[first, second]
            estimates = estimate.mean, estimate.mean[first] - estimate.mean[second]
            for j, (value, variance) in enumerate(zip(estimates, (own, between), strict=True)):
                error = np.abs(value - truth[j])
                given = varying[j] & (variance > 0)
                squares[i, j] += (error**2).mean()
                held[i, j] += (error[given] <= quantile * np.sqrt(variance[given])).sum()
                known[i, j] += given.sum()
    error, coverage = np.sqrt(squares / trials), held / known
    return Trials(error[0], error[1], coverage[0], coverage[1], worth / trials)


def print_trials(cases: Sequence[tuple[str, Floats, Floats]], trials: int, seed: int) -> None:
    """Print one line for each case and number of topics, and a summary."""
    print(
        "\nA few topics judged by people: error relative to people alone, and coverage of 95%\n"
        f"intervals, of means and of differences ({trials} draws)\n"
        f"{'':44}{'topics':>7}{'error':>15}{'coverage':>16}{'alone':>16}{'worth':>7}"
    )
    rows: dict[int, list[tuple[str, Trials]]] = {n: [] for n in SIZES}
    for name, people, model in cases:
        known = ~np.isnan(people + model).any(axis=1)
        for n in SIZES:
            found = draw_trials(people[known], model[known], n, trials, seed)
            rows[n].append((name, found))
            print(
                f"{name:44}{n:7}"
                + "".join(
                    f"{a:8.3f}{b:8.3f}"
                    for a, b in (found.ratio, found.coverage, found.coverage_alone)
                )
                + f"{found.worth:7.1f}"
            )
    print_summary(rows)


def print_summary(rows: Mapping[int, Sequence[tuple[str, Trials]]]) -> None:
    """Print means and extremes over the cases except RR, for each number of topics."""
    print(
        "\nOver collections and measures except RR, the error of means and differences (raw, N),\n"
        "the coverage of means and differences, its range over collections, and worth"
    )
    for n, cases in rows.items():
        kept = [(name, found) for name, found in cases if " RR " not in name]
        ratios = [
            np.mean([found.ratio for name, found in kept if name.endswith(scale)], axis=0)
            for scale in ("raw", "N")
        ]
        coverage = np.mean([found.coverage for _, found in kept], axis=0)
        by_collection = [
            np.mean([found.coverage for name, found in kept if name.startswith(collection)], axis=0)
            for collection in dict.fromkeys(name.split()[0] for name, _ in kept)
        ]
        low, high = np.min(by_collection), np.max(by_collection)
        worth = np.mean([found.worth for _, found in kept])
        print(
            f"| {n} | {ratios[0][0]:.2f}, {ratios[1][0]:.2f} | {ratios[0][1]:.2f}, "
            f"{ratios[1][1]:.2f} | {coverage[0]:.3f}, {coverage[1]:.3f} | {low:.3f} to {high:.3f} "
            f"| {worth:.1f} |"
        )


def print_fallback(cases: Sequence[tuple[str, Floats, Floats]], trials: int, seed: int) -> None:
    """Print how much uninformative labels change the estimate; they should not change it."""
    print(
        "\nUninformative labels, with the largest error relative to people alone, and the lowest\n"
        "coverage, of means and of differences, over all numbers of topics"
    )
    for name, people, model in cases:
        known = ~np.isnan(people + model).any(axis=1)
        for kind, worse in worse_labels(model[known], seed).items():
            found = [draw_trials(people[known], worse, n, trials, seed) for n in SIZES]
            ratio = np.max([each.ratio for each in found], axis=0)
            coverage = np.min([each.coverage for each in found], axis=0)
            print(
                f"{name:44}{kind:>10}{ratio[0]:8.3f}{ratio[1]:8.3f}"
                + "{:8.3f}{:8.3f}".format(*coverage)
            )


def favor_left(
    people: Floats, model: Floats, favored: npt.NDArray[np.bool_], n: int, trials: int, seed: int
) -> tuple[float, float]:
    """Compute how much a model's labels and the estimates favor some of the systems.

    Parameters
    ----------
    favored : ndarray of bool, shape (n_systems,)
        Systems that the model may favor.
    """
    random = np.random.default_rng(seed)
    weights = favored / favored.sum() - ~favored / (~favored).sum()
    truth = float(people.mean(axis=0) @ weights)
    left = 0.0
    for _ in range(trials):
        rows = random.choice(len(people), n, replace=False)
        left += prediction_powered(people[rows], model, rows).contrast(weights).mean / trials
    return float(model.mean(axis=0) @ weights) - truth, left - truth
