#!/usr/bin/env python3
"""How often intervals of ranks hold the rank that a system truly has.

    python scripts/ranks_experiment.py           # ten minutes on one core

Three ways to know the truth, on the systems of TREC-8 and Robust 2004, by AP and by its N: topics
are drawn with replacement, as many as a half of them, and the truth is the rank over all topics;
one half of the topics against the other, whose ranks have an error of their own; one half against
all topics, of which it is a part.  Beside intervals by pairs and those of all systems at once stand
percentiles of ranks over bootstrap samples.  Then a simulation with ties.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np
from mteb_experiment import ties
from scipy.stats import rankdata
from uncertainty_experiment import world

from ir_std._arrays import Floats, Ints, Mask
from ir_std.analysis import rank_intervals, standardize_matrix

SETS = {"trec8-adhoc": "TREC-8", "robust04": "Robust 2004"}
DRAWS = ("with replacement, all", "a half, the other half", "a half, all")
"""How topics are drawn, and over which topics the true rank is."""
RESAMPLES = 500
SEED = 20080720


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=100, help="of each case (default 100)")
    trials = parser.parse_args().trials
    print("| collection | scores | drawn, truth | pairs | median width | bootstrap | at once |")
    for name, title in SETS.items():
        raw = world(name).scores
        for scores, x in (("AP", raw), ("N", standardize_matrix(raw))):
            for drawn in DRAWS:
                print(f"| {title} | {scores} | {drawn} | {row(x, drawn, trials)} |")
    print()
    for line in ties(2 * trials):
        print(line)


def row(x: Floats, drawn: str, trials: int) -> str:
    """The shares of true ranks that intervals hold; of all at once those of trials."""
    rng = np.random.default_rng(SEED)
    inside: dict[str, list[Mask]] = {"pairs": [], "bootstrap": [], "at once": []}
    widths = []
    for topics, of_truth in draws(len(x), drawn, trials, rng):
        sample, truth = x[topics], x[of_truth].mean(axis=0)
        best, worst = (rankdata(-np.round(truth, 12), method) for method in ("min", "max"))
        by_pairs = rank_intervals(sample)
        together = rank_intervals(sample, simultaneous=True)
        for name, low, high in (
            ("pairs", by_pairs.best, by_pairs.worst),
            ("at once", together.best, together.worst),
            ("bootstrap", *percentiles(sample, rng)),
        ):
            inside[name].append((low <= best) & (worst <= high))
        widths.append(np.median(by_pairs.worst - by_pairs.best + 1))
    return (
        f"{np.mean(inside['pairs']):.3f} | {np.median(widths):g} of {x.shape[1]} | "
        f"{np.mean(inside['bootstrap']):.3f} | {np.mean(np.all(inside['at once'], axis=1)):.3f}"
    )


def draws(n: int, drawn: str, trials: int, rng: np.random.Generator) -> Iterator[tuple[Ints, Ints]]:
    """The topics that are drawn, and those over which the true rank is."""
    everything = np.arange(n)
    for _ in range(trials):
        order = rng.permutation(n)
        half, rest = order[: n // 2], order[n // 2 :]
        yield {
            DRAWS[0]: (rng.integers(n, size=n // 2), everything),
            DRAWS[1]: (half, rest),
            DRAWS[2]: (half, everything),
        }[drawn]


def percentiles(sample: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """The 2.5th and the 97.5th percentile of ranks over samples of the topics."""
    picks = rng.integers(len(sample), size=(RESAMPLES, len(sample)))
    means = np.stack([sample[pick].mean(axis=0) for pick in picks])
    low, high = np.percentile(rankdata(-np.round(means, 12), axis=1), [2.5, 97.5], axis=0)
    return np.floor(low), np.ceil(high)


if __name__ == "__main__":
    main()
