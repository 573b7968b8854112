"""Estimate the constants of ir_std/analysis/linking.py, and compare other collections.

After a link, a system's two means differ by more than topics explain. The script measures this
excess in the same way as ``linking_experiment.py``, and estimates three constants from it. It
estimates KNOWN_TAU from real sets of topics, because an engine may suit one set better than the
other. It estimates the other two constants from random halves of the topics of one collection,
which differ only in their reference systems. KNOWN_TAU_BY_SHIFT is the increase of the excess with
the size of the shift. BY_DISTANCE is its increase with the distance from the anchors.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import combinations, pairwise, product
from typing import NamedTuple

import numpy as np
from experiment import arguments, spread
from linking_experiment import (
    ANCHORS,
    CHOSEN_ON,
    ENGINES,
    MATRICES,
    RANDOM,
    REAL,
    STRONG_WEAK,
    WAYS,
    choose,
    compare_engines,
    halves,
    matrix,
)

import ir_std
from ir_std._arrays import Floats, Ints, Mask
from ir_std.analysis.linking import BY_DISTANCE, KNOWN_TAU_BY_SHIFT, AnchorPair, Curve, Link
from ir_std.factors.estimates import scores_by_system
from ir_std.reporting.model import deviations
from ir_std.schemes import normal_cdf, z_scores

OLD, NEW = (301, 450), (601, 700)
"""Topics of Robust 2004 from the years up to 1999, and later topics."""
MODERN, MEASURE = ("dl19-passage", "dl20-passage"), "nDCG@10"

SIZES = (0.25, 0.5, 1.0, 2.0)
"""Upper limits of the groups of shifts for which the script prints the remaining error."""


class Excess(NamedTuple):
    """Part of the squared difference between a system's means that topics do not explain.

    Each field is an array with one value per system: the excess, the amount that a unit of tau**2
    adds to the excess, the constant of the link, the distance of the system's linked mean from the
    anchors' mean, and the number of anchors.
    """

    seen: Floats
    by_tau: Floats
    constant: Floats
    distance: Floats
    n_anchors: Floats

    @property
    def tau(self) -> float:
        """Disagreement that would explain the excess; 0 if topics explain it."""
        return root(self.seen.sum() / self.by_tau.sum())

    def by_constant(self, alike: Excess) -> float:
        """Return the amount that a unit of the shift adds to tau, compared with ``alike``."""
        more = self.seen - alike.tau**2 * self.by_tau
        return root(more.sum() / (self.by_tau * self.constant**2).sum())

    @property
    def by_distance(self) -> float:
        """Additional error of a mean, per unit of the constant times the distance."""
        more = self.seen - self.by_tau * (KNOWN_TAU_BY_SHIFT * self.constant) ** 2
        return root(more.sum() / ((self.constant * self.distance) ** 2).sum())

    def left(self, low: float, high: float) -> float:
        """Return the error that remains in mean N with ten anchors, for shifts of this size."""
        shift, k = np.abs(self.constant), max(ANCHORS)
        chosen = (low < shift) & (shift <= high) & (self.n_anchors == k)
        return root(self.seen[chosen].mean() / (1 + 1 / k)) if chosen.any() else float("nan")


def root(square: float) -> float:
    """Return the square root, or 0 for negative numbers."""
    return float(np.sqrt(max(0.0, square)))


def together(parts: Iterable[Excess]) -> Excess:
    """Join several excesses into one."""
    return Excess(*(np.concatenate(values) for values in zip(*parts, strict=True)))


def excess(a: Floats, b: Floats, used: Ints, tested: Ints) -> Excess:
    """Compute the excess of the ``tested`` columns, if the ``used`` columns link b to a."""
    if np.nanmean(normal_cdf(a[:, used])) > np.nanmean(normal_cdf(b[:, used])):
        a, b = b, a
    known: list[Mask] = [np.asarray(~np.isnan(z[:, used]).any(axis=1)) for z in (a, b)]
    curve = Curve("N")
    pair = AnchorPair(a[known[0]][:, used], b[known[1]][:, used], curve, (known[0], known[1]))
    c = pair.shift
    without_tau = Link(c, 0.0, np.inf, ("",) * len(used), (), pair)
    found = without_tau.difference(a[:, tested], b[:, tested])
    linked = without_tau.mean(b[:, tested])
    distance = linked.distance * pair.slopes.mean()
    by_topics = found.error**2 - (BY_DISTANCE * c * distance) ** 2
    return Excess(
        found.difference**2 - by_topics,
        linked.slope**2 * (1 + 1 / len(used)),
        np.full(len(tested), c),
        distance,
        np.full(len(tested), float(len(used))),
    )


def of_cuts(
    scores: Floats,
    topics: tuple[Ints, Ints] | None,
    split: str,
    ways: Sequence[str],
    trials: int,
    seed: int,
) -> Excess:
    """Compute the excess over random cuts of the systems and, by default, of the topics."""
    random = np.random.default_rng(seed)
    found = []
    for _ in range(trials):
        order = random.permutation(len(scores))
        cut = halves(scores, topics or (order[:25], order[-25:]), split, random)
        n_systems = len(cut[0].truth)
        for way, k in product(ways, ANCHORS):
            used = choose(way, k, n_systems, random)
            rest = np.setdiff1d(np.arange(n_systems), used)
            found.append(excess(cut[0].z, cut[1].z, used, rest))
    return together(found)


def of_modern_systems(trials: int, seed: int) -> Excess:
    """Compute the excess for systems of 2020 to 2024, standardized by the tracks' systems."""
    random = np.random.default_rng(seed)
    z = []
    for name in MODERN:
        track, modern = ir_std.load_factors(name), ir_std.load_factors(f"{name}-modern")
        row = {topic: i for i, topic in enumerate(track.topics)}
        rows = [row[topic] for topic in modern.topics]
        mean, sd = (values[MEASURE][rows, None] for values in (track.mean, track.sd))
        z.append(z_scores(scores_by_system(modern, MEASURE)[1], mean, sd))
    found = []
    for _, k in product(range(trials), ANCHORS):
        order = random.permutation(z[0].shape[1])
        found.append(excess(z[0], z[1], order[:k], order[k:]))
    return together(found)


def of_engines(comparison: ir_std.Results) -> Excess:
    """Compute the excess for an engine with a technique, linked by the engine without it."""
    z = [
        np.stack([deviations(comparison.on(c), run, ir_std.sAP) for run in comparison.runs], axis=1)
        for c in comparison.collections
    ]
    return together(excess(a, b, np.array([0]), np.array([1])) for a, b in combinations(z, 2))


def topics_between(name: str, first: int, last: int) -> Ints:
    """Return the rows of a set's topics from ``first`` to ``last``."""
    topics = np.array([int(topic) for topic in ir_std.load_factors(name).topics])
    return np.flatnonzero((topics >= first) & (topics <= last))


def real_sets(args: Namespace) -> Iterator[tuple[str, Excess]]:
    """Compute the excess between sets of topics of different years or collections."""

    def cut(key: tuple[str, str], topics: tuple[Ints, Ints]) -> Excess:
        return of_cuts(matrix(*key), topics, RANDOM, WAYS[:1], args.trials, args.seed)

    years = topics_between("robust04", *OLD), topics_between("robust04", *NEW)
    yield "Robust 2004, topics up to 1999 and later ones", cut(("robust04", "AP"), years)
    rows = np.arange(len(matrix(*REAL)))
    yield "Robust 2003, the same", cut(REAL, (rows[:50], rows[50:]))
    for experiment in ENGINES:
        yield (
            f"Soboroff's engines, {experiment}",
            of_engines(compare_engines(args.data, experiment)),
        )
    yield "Systems of 2020 to 2024 on DL 2019 and 2020", of_modern_systems(args.trials, args.seed)


def random_topics(trials: int, seed: int, key: tuple[str, str]) -> tuple[Excess, ...]:
    """Compute the excess for random halves, strong and weak halves, and similar anchors."""
    of = partial(of_cuts, matrix(*key), None, trials=trials, seed=seed)
    return (
        of(RANDOM, WAYS[:1]),
        of(STRONG_WEAK, WAYS[:1]),
        of(STRONG_WEAK, WAYS[1:]),
    )


def main(argv: Sequence[str] | None = None) -> None:
    """Print the results for real sets and for random halves of topics."""
    args = arguments(__doc__ or "", argv, trials=100)
    print("tau between real sets of topics:")
    for name, found in real_sets(args):
        print(f"  {name:48} {found.tau:.3f}")
    print(
        f"\n{'random halves of topics:':50} tau by random systems, by strong and weak; "
        "by constant; by distance"
    )
    found_on = spread(partial(random_topics, args.trials, args.seed), MATRICES, args.jobs)
    by_key = dict(zip(MATRICES, found_on, strict=True))
    groups = {" ".join(key): [key] for key in MATRICES}
    groups["all that the constants were chosen on"] = list(CHOSEN_ON)
    groups["all others"] = [key for key in MATRICES if key not in CHOSEN_ON]
    for name, keys in groups.items():
        alike, apart, of_a_level = map(together, zip(*(by_key[key] for key in keys), strict=True))
        values = (alike.tau, apart.tau, apart.by_constant(alike), of_a_level.by_distance)
        print(f"  {name:48} " + "  ".join(f"{value:.3f}" for value in values))
    everywhere = together(one for of_key in by_key.values() for one in of_key[:2])
    print("\nerror that one constant leaves in mean N, with ten anchors:")
    for low, high in pairwise((0.0, *SIZES)):
        print(f"  constants from {low:.2f} to {high:.2f}: {everywhere.left(low, high):.3f}")


if __name__ == "__main__":
    main()
