#!/usr/bin/env python3
"""Test the coverage of rank intervals, and of confidence sets for the best system.

    python scripts/ranks_experiment.py           # three minutes on one core

The script uses the systems of TREC-8 and Robust 2004, with AP and with its N. There are two ways to
know the true ranks. In the first, the script draws half as many topics as there are, with
replacement; the true ranks are the ranks over all topics. In the second, the script draws one half
of the topics. The ranks over the other half then count as the true ranks, although they also have
an error. The script also uses made-up topics on which systems differ or are tied, and halves of the
tasks of MTEB's benchmarks.
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
from ir_std.factors.benchmarks import benchmark_scores

SETS = {"trec8-adhoc": "TREC-8", "robust04": "Robust 2004"}
SCORES = ("AP", "N")
DRAWS = ("with replacement, all", "a half, the other half")
"""Ways to draw topics, and the topics over which the true rank is computed."""
SEED = 20080720
TRIALS = 100
MADE_UP = ((12, 60), (30, 60), (50, 60), (200, 60))
"""Numbers of topics and systems in the simulation."""
BENCHMARKS = ("MTEB(eng, v2)", "MTEB(Multilingual, v2)", "MTEB(eng, v1)")


class Case(NamedTuple):
    """Case of the experiment: a set, its raw or standardized scores, and a way to draw topics."""

    collection: str
    scores: str
    drawn: str

    @property
    def label(self) -> str:
        """First cells of the case's row."""
        return f"{SETS[self.collection]} | {self.scores} | {self.drawn}"

    def trials(self, n: int) -> Iterator[tuple[Floats, Floats]]:
        """Yield the scores on the topics that are drawn, and the systems' true means."""
        raw = world(self.collection).scores
        x = raw if self.scores == "AP" else standardize_matrix(raw)
        for topics, of_truth in draws(len(x), self.drawn, n):
            yield x[topics], x[of_truth].mean(axis=0)


CASES = [Case(*each) for each in product(SETS, SCORES, DRAWS)]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=TRIALS, help="trials per case (default 100)")
    trials = parser.parse_args().trials
    print("| collection | scores | drawn, truth | all at once | each | width | best | set |")
    for case in CASES:
        print(f"| {case.label} | {held(case.trials(trials))} |", flush=True)
    print("\n| topics, systems | spread | groups of five | all tied | best, spread |")
    for n_topics, n_systems in MADE_UP:
        print(made_up(n_topics, n_systems, 2 * trials), flush=True)
    print("\n| benchmark | models, tasks | all at once | each | width | best | set |")
    for name in BENCHMARKS:
        print(of_benchmark(name, trials), flush=True)


def draws(n: int, drawn: str, trials: int) -> Iterator[tuple[Ints, Ints]]:
    """Yield the drawn topics, and the topics over which the true rank is computed."""
    rng = np.random.default_rng(SEED)
    for _ in range(trials):
        order = rng.permutation(n)
        with_replacement = rng.integers(n, size=n // 2), np.arange(n)
        yield with_replacement if drawn == DRAWS[0] else (order[: n // 2], order[n // 2 :])


def held(trials: Iterator[tuple[Floats, Floats]]) -> str:
    """Describe the coverage and the sizes of intervals, and of sets for the best system."""
    inside, widths, best_in, sizes = [], [], [], []
    for sample, truth in trials:
        found = rank_intervals(sample)
        rounded = -np.round(truth, 12)
        best, worst = rankdata(rounded, "min"), rankdata(rounded, "max")
        inside.append((found.best <= best) & (worst <= found.worst))
        widths.append(np.median(found.worst - found.best + 1))
        best_in.append(found.could_be_first[best == 1].all())
        sizes.append(found.n_first)
    at_once = np.mean([each.all() for each in inside])
    n = len(inside[0])
    return (
        f"{at_once:.3f} | {np.mean(inside):.3f} | {np.median(widths):g} of {n} | "
        f"{np.mean(best_in):.3f} | {np.median(sizes):g}"
    )


def made_up(n_topics: int, n_systems: int, trials: int) -> str:
    """Return the coverage of all intervals, and of the sets, on made-up topics."""
    rng = np.random.default_rng(SEED)
    spreads = [
        np.sort(rng.normal(0, 0.1, n_systems)),
        np.repeat(np.linspace(-0.2, 0.2, n_systems // 5), 5),
        np.zeros(n_systems),
    ]
    rows = [held(drawn(means, n_topics, trials, rng)).split(" | ") for means in spreads]
    at_once = " | ".join(row[0] for row in rows)
    return f"| {n_topics}, {n_systems} | {at_once} | {rows[0][3]} |"


def drawn(
    means: Floats, n_topics: int, trials: int, rng: np.random.Generator
) -> Iterator[tuple[Floats, Floats]]:
    """Draw scores with three common factors, and the systems' true means."""
    loadings = rng.normal(0, 0.07, (3, len(means)))
    for _ in range(trials):
        x = means + rng.normal(size=(n_topics, 3)) @ loadings
        yield x + rng.normal(0, 0.1, x.shape), means


def of_benchmark(name: str, trials: int) -> str:
    """Test ranks over half of a benchmark's tasks against ranks over the other half."""
    scores = benchmark_scores(name).scores
    scores = scores[:, ~np.isnan(scores).any(axis=0)]
    x = standardize_matrix(scores)
    halves = ((x[a], x[b].mean(axis=0)) for a, b in draws(len(x), DRAWS[1], trials))
    return f"| {name} | {x.shape[1]}, {x.shape[0]} | {held(halves)} |"


if __name__ == "__main__":
    main()
