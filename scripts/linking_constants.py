"""Where the constants in ir_std/analysis/anchors.py come from, and what other collections say.

A system's two means differ after a link by more than topics explain.  That excess is measured as
in ``linking_experiment.py``: between real sets of topics, which engines may suit unlike (USUAL),
and on random halves of the topics of one collection, which differ in their standardizing systems
alone: by the constant (BY_CONSTANT), and by how far a system is from the anchors (BY_DISTANCE).
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import combinations, product
from typing import NamedTuple

import numpy as np
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
from reproduction import arguments, spread
from scipy.optimize import nnls

import ir_std
from ir_std._arrays import Floats, Ints, Mask
from ir_std.analysis.anchors import AnchorPair, Curve
from ir_std.analysis.linked_means import LinkedMean, difference_of_means
from ir_std.factors.estimates import scores_by_system
from ir_std.schemes import normal_cdf, z_scores

OLD, NEW = (301, 450), (601, 700)
"""Topics of Robust 2004 that were made up to 1999, and later ones."""
MODERN, MEASURE = ("dl19-passage", "dl20-passage"), "nDCG@10"


class Excess(NamedTuple):
    """What topics do not explain of squared differences of systems from themselves.

    Arrays over systems: the excess, what topics explain, what a unit of tau**2 adds, the constant,
    and how far the system's linked mean is from the anchors'.
    """

    seen: Floats
    by_topics: Floats
    by_tau: Floats
    constant: Floats
    distance: Floats

    @property
    def tau(self) -> float:
        """The disagreement that would explain it; 0 where topics do."""
        return float(np.sqrt(max(0.0, self.seen.sum() / self.by_tau.sum())))

    @property
    def fit(self) -> Floats:
        """USUAL, BY_CONSTANT and BY_DISTANCE: least squares, weighted, none below 0."""
        c, d = self.constant, self.distance
        weight = 1 / (self.by_topics + 0.1**2 * self.by_tau)  # of squares, by their deviation
        causes = np.stack([self.by_tau, self.by_tau * c**2, (c * d) ** 2], axis=1)
        squares: Floats = nnls(causes * weight[:, None], self.seen * weight)[0]
        return np.sqrt(squares)


def together(parts: Iterable[Excess]) -> Excess:
    """All of several."""
    return Excess(*(np.concatenate(values) for values in zip(*parts, strict=True)))


def excess(a: Floats, b: Floats, used: Ints, tested: Ints) -> Excess:
    """Of the columns ``tested``, after those ``used`` have linked the z ``b`` to ``a``."""
    if np.nanmean(normal_cdf(a[:, used])) > np.nanmean(normal_cdf(b[:, used])):
        a, b = b, a
    known: list[Mask] = [np.asarray(~np.isnan(z[:, used]).any(axis=1)) for z in (a, b)]
    curve = Curve("N", 0.15, 0.5)
    pair = AnchorPair(a[known[0]][:, used], b[known[1]][:, used], curve, (known[0], known[1]))
    c = pair.constant()
    mean = LinkedMean(pair, c, 0.0, b[:, tested])
    found = difference_of_means(curve.score(a[:, tested]), mean)
    by_topics = found.error**2 - mean.distance_error**2
    return Excess(
        found.difference**2 - by_topics,
        by_topics,
        mean.slope**2 * (1 + 1 / len(used)),
        np.full(len(tested), c),
        mean.y.mean(axis=0) - pair.scores(c)[1].mean(),
    )


def of_cuts(
    scores: Floats,
    topics: tuple[Ints, Ints] | int,
    splits: Sequence[str],
    ways: Sequence[str],
    trials: int,
    seed: int,
) -> Excess:
    """Over random cuts of the systems, and of the topics if a number of them is given."""
    random = np.random.default_rng(seed)
    found = []
    for _, split in product(range(trials), splits):
        if isinstance(topics, int):
            order = random.permutation(len(scores))
            n = min(topics, len(scores) // 2)
            cut = halves(scores, (order[:n], order[n : 2 * n]), split, random)
        else:
            cut = halves(scores, topics, split, random)
        n_systems = len(cut[0].truth)
        for way, k in product(ways, ANCHORS):
            used = choose(way, k, n_systems, random)
            rest = np.setdiff1d(np.arange(n_systems), used)
            found.append(excess(cut[0].z, cut[1].z, used, rest))
    return together(found)


def of_modern_systems(trials: int, seed: int) -> Excess:
    """Of systems of 2020 to 2024, standardized by those of DL 2019 and 2020."""
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


def of_engines(comparison: ir_std.Comparison) -> Excess:
    """Of an engine with a technique, linked by itself without it, on all pairs of collections."""
    anchor, system = comparison.systems
    z = [
        np.stack([comparison.part(name, c).z(ir_std.sAP) for name in (anchor, system)], axis=1)
        for c in comparison.collections
    ]
    return together(excess(a, b, np.array([0]), np.array([1])) for a, b in combinations(z, 2))


def topics_between(name: str, first: int, last: int) -> Ints:
    """The rows of some topics of a set."""
    topics = np.array([int(topic) for topic in ir_std.load_factors(name).topics])
    return np.flatnonzero((topics >= first) & (topics <= last))


def real_sets(args: Namespace) -> Iterator[tuple[str, Excess]]:
    """Between sets of topics that were made in different years, or of different documents."""
    cut = partial(of_cuts, splits=[RANDOM], ways=WAYS[:1], trials=args.trials, seed=args.seed)
    years = topics_between("robust04", *OLD), topics_between("robust04", *NEW)
    yield "Robust 2004, topics up to 1999 and later ones", cut(matrix("robust04", "AP"), years)
    rows = np.arange(len(matrix(*REAL)))
    yield "Robust 2003, the same", cut(matrix(*REAL), (rows[:50], rows[50:]))
    for experiment in ENGINES:
        yield (
            f"Soboroff's engines, {experiment}",
            of_engines(compare_engines(args.data, experiment)),
        )
    yield "Systems of 2020 to 2024 on DL 2019 and 2020", of_modern_systems(args.trials, args.seed)


def random_topics(trials: int, seed: int, key: tuple[str, str]) -> Excess:
    """Random halves of the topics, by strong systems and weak ones; all ways to choose anchors."""
    return of_cuts(matrix(*key), 25, [STRONG_WEAK], WAYS, trials, seed)


def main(argv: Sequence[str] | None = None) -> None:
    """Print what real sets and random halves of topics say."""
    args = arguments(__doc__ or "", argv, trials=50)
    print("tau between real sets of topics (USUAL is that of the first):")
    for name, found in real_sets(args):
        print(f"  {name:48} {found.tau:.3f}")
    print("\nOn random halves of topics, strong and weak systems: USUAL, BY_CONSTANT, BY_DISTANCE")
    by_key = dict(
        zip(
            MATRICES,
            spread(partial(random_topics, args.trials, args.seed), MATRICES, args.jobs),
            strict=True,
        )
    )
    groups = {" ".join(key): [key] for key in MATRICES}
    groups["all that they were chosen on"] = list(CHOSEN_ON)
    groups["all others"] = [key for key in MATRICES if key not in CHOSEN_ON]
    for name, keys in groups.items():
        fit = together(by_key[key] for key in keys).fit
        print(f"  {name:48} " + "  ".join(f"{value:.3f}" for value in fit))


if __name__ == "__main__":
    main()
