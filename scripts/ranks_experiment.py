#!/usr/bin/env python3
"""How often intervals of ranks hold the rank that a system truly has.

    python scripts/ranks_experiment.py           # five minutes on one core

Three ways to know the truth, on the systems of TREC-8 and Robust 2004, by AP and by its N: topics
are drawn with replacement, as many as a half of them, and the truth is the rank over all topics;
one half of the topics against the other, whose ranks have an error of their own; one half against
all topics, of which it is a part.  Beside intervals by pairs and those of all systems at once stand
percentiles of ranks over bootstrap samples.  Then made-up topics, where systems are tied.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.stats import rankdata
from uncertainty_experiment import world

from ir_std._arrays import Floats, Ints
from ir_std.analysis import rank_intervals, standardize_matrix

SETS = {"trec8-adhoc": "TREC-8", "robust04": "Robust 2004"}
SCORES = ("AP", "N")
DRAWS = ("with replacement, all", "a half, the other half", "a half, all")
"""How topics are drawn, and over which topics the true rank is."""
RESAMPLES = 500
SEED = 20080720
TRIALS = 100
MADE_UP = ((12, 60), (50, 60), (200, 60))
"""Topics and systems of the simulation."""


class Case(NamedTuple):
    """Whose ranks are told from a part of the topics."""

    collection: str
    scores: str
    drawn: str

    @property
    def label(self) -> str:
        """The first cells of its row."""
        return f"| {SETS[self.collection]} | {self.scores} | {self.drawn} |"

    def trials(self, n: int) -> Iterator[tuple[Floats, Floats]]:
        """The scores on the topics that are drawn, and the systems' true means."""
        raw = world(self.collection).scores
        x = raw if self.scores == "AP" else standardize_matrix(raw)
        for topics, of_truth in draws(len(x), self.drawn, n):
            yield x[topics], x[of_truth].mean(axis=0)


CASES = [Case(*each) for each in product(SETS, SCORES, DRAWS)]


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=TRIALS, help="of each case (default 100)")
    trials = parser.parse_args().trials
    print("| collection | scores | drawn, truth | pairs | median width | bootstrap | at once |")
    for case in CASES:
        print(f"{case.label} {by_pairs(case, trials)} | {by_bootstrap(case, trials)} |", end=" ")
        print(f"{at_once(case, trials)} |", flush=True)
    print()
    print("| topics, systems | spread | groups of five | all tied | all tied, all at once |")
    for n_topics, n_systems in MADE_UP:
        print(ties(n_topics, n_systems, 2 * trials), flush=True)


def draws(n: int, drawn: str, trials: int) -> Iterator[tuple[Ints, Ints]]:
    """The topics that are drawn, and those over which the true rank is."""
    rng = np.random.default_rng(SEED)
    everything = np.arange(n)
    for _ in range(trials):
        order = rng.permutation(n)
        half, rest = order[: n // 2], order[n // 2 :]
        yield {
            DRAWS[0]: (rng.integers(n, size=n // 2), everything),
            DRAWS[1]: (half, rest),
            DRAWS[2]: (half, everything),
        }[drawn]


def shared_ranks(means: Floats) -> tuple[Floats, Floats]:
    """The best and the worst rank of each system: of equal means all that they share."""
    rounded = -np.round(means, 12)
    return rankdata(rounded, "min"), rankdata(rounded, "max")


def by_pairs(case: Case, trials: int) -> str:
    """The share of true ranks inside, and how many ranks an interval spans."""
    inside, widths = [], []
    for sample, truth in case.trials(trials):
        found = rank_intervals(sample)
        best, worst = shared_ranks(truth)
        inside.append((found.best <= best) & (worst <= found.worst))
        widths.append(np.median(found.worst - found.best + 1))
    return f"{np.mean(inside):.3f} | {np.median(widths):g} of {len(truth)}"


def by_bootstrap(case: Case, trials: int) -> str:
    """The share of true ranks inside percentiles of ranks over samples of the topics."""
    rng = np.random.default_rng(SEED)
    inside = []
    for sample, truth in case.trials(trials):
        picks = rng.integers(len(sample), size=(RESAMPLES, len(sample)))
        means = np.stack([sample[pick].mean(axis=0) for pick in picks])
        low, high = np.percentile(rankdata(-np.round(means, 12), axis=1), [2.5, 97.5], axis=0)
        best, worst = shared_ranks(truth)
        inside.append((np.floor(low) <= best) & (worst <= np.ceil(high)))
    return f"{np.mean(inside):.3f}"


def at_once(case: Case, trials: int) -> str:
    """The share of trials in which all intervals that are made for it hold."""
    inside = []
    for sample, truth in case.trials(trials):
        found = rank_intervals(sample, simultaneous=True)
        best, worst = shared_ranks(truth)
        inside.append(np.all((found.best <= best) & (worst <= found.worst)))
    return f"{np.mean(inside):.3f}"


def ties(n_topics: int, n_systems: int, trials: int) -> str:
    """How often intervals hold all ranks that tied systems share, on made-up topics."""
    rng = np.random.default_rng(SEED)
    spreads = [
        np.sort(rng.normal(0, 0.1, n_systems)),
        np.repeat(np.linspace(-0.2, 0.2, n_systems // 5), 5),
        np.zeros(n_systems),
    ]
    covers = [covered(means, n_topics, trials, rng)[0] for means in spreads]
    together = covered(spreads[-1], n_topics, trials, rng, simultaneous=True)[1]
    figures = " | ".join(f"{share:.3f}" for share in (*covers, together))
    return f"| {n_topics}, {n_systems} | {figures} |"


def covered(
    means: Floats, n_topics: int, trials: int, rng: np.random.Generator, simultaneous: bool = False
) -> tuple[float, float]:
    """The share of systems whose ranks lie inside, and of trials in which all do."""
    best, worst = rankdata(-means, "min"), rankdata(-means, "max")
    loadings = rng.normal(0, 0.07, (3, len(means)))
    inside = []
    for _ in range(trials):
        drawn = means + rng.normal(size=(n_topics, 3)) @ loadings
        drawn = drawn + rng.normal(0, 0.1, drawn.shape)
        found = rank_intervals(drawn, simultaneous=simultaneous)
        inside.append((found.best <= best) & (found.worst >= worst))
    return float(np.mean(inside)), float(np.mean([each.all() for each in inside]))


if __name__ == "__main__":
    main()
