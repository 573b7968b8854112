"""Whether scores of collections compare once they are linked by systems that ran on both.

One collection is cut into two that share no topic and no standardizing system: half of the topics
standardized by the strong half of the systems, the other half by the weak one, as if years lay
between them, or both by random halves; on Robust 2003 the old topics and the new ones.  A third of
the systems is held out: some of these are the anchors, the others are compared with themselves and
with each other.  Prints, for numbers of anchors and ways to choose
them, with Monte Carlo errors: how far linked means drift, how often a system differs significantly
from itself, how often intervals hold the difference of two systems, and how often a real difference
is found, or found the wrong way round.  Writes into out/linking.
"""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
from reproduction import arguments, write_csv
from scipy.stats import ttest_ind

import ir_std
from ir_std._arrays import Floats, Ints
from ir_std.analysis.linking import LinkedDifference, link
from ir_std.errors import UsageError
from ir_std.factors.estimates import scores_by_system
from ir_std.schemes import normal_cdf, z_scores

MATRICES = (
    ("robust04", "AP"),
    ("robust04", "P@10"),
    ("terabyte04-06", "AP"),
    ("blog08", "AP"),
    ("trec8-adhoc", "AP"),
    ("trec8-adhoc", "nDCG"),
    ("dl20-passage", "nDCG@10"),
    ("dl22-passage", "nDCG@10"),
    ("dl23-passage", "nDCG@10"),
    ("covid-round5", "nDCG@10"),
    ("trec7-adhoc", "AP"),
    ("web10", "AP"),
)
ANCHORS = (1, 3, 5, 10)
WAYS = ("random", "best", "worst", "median")
SPLITS = ("strong and weak", "random halves")
RANKS_APART = 5


class Halves(NamedTuple):
    """Held-out systems' z on two sets of topics, by strong, by weak and by the same systems."""

    reference: Floats
    weak: Floats
    same: Floats
    truth: Floats
    """Their mean N by the strong systems, over all topics."""


def halves(
    scores: Floats, topics: tuple[Ints, Ints], split: str, random: np.random.Generator
) -> Halves:
    """Cut the systems; columns are the held-out systems, best first."""
    order = np.argsort(-scores.mean(axis=0))
    held_out = np.sort(random.choice(len(order), max(len(order) // 3, 16), replace=False))
    rest = np.delete(order, held_out)
    if split == "random halves":
        rest = random.permutation(rest)
    strong, weak = rest[: len(rest) // 2], rest[len(rest) // 2 :]

    def z(rows: Ints, by: Ints) -> Floats:
        standardizing = scores[np.ix_(rows, by)]
        return z_scores(
            scores[np.ix_(rows, order[held_out])],
            standardizing.mean(axis=1, keepdims=True),
            standardizing.std(axis=1, ddof=1, keepdims=True),
        )

    a, b = topics
    everywhere = normal_cdf(z(np.arange(len(scores)), strong))
    return Halves(z(a, strong), z(b, weak), z(b, strong), np.nanmean(everywhere, axis=0))


def choose(way: str, k: int, n: int, random: np.random.Generator) -> Ints:
    """The columns of k anchors."""
    if way == "random":
        return random.choice(n, k, replace=False)
    start = {"best": 0, "worst": n - k, "median": (n - k) // 2}[way]
    return np.arange(start, start + k)


@dataclass
class Tally:
    """What was seen in all trials: sums by trial, so that trials give the Monte Carlo error."""

    trials: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def add(self, **values: float) -> None:
        """Count a trial's figures."""
        for name, value in values.items():
            self.trials[name].append(value)

    def mean(self, name: str) -> float:
        """The mean over trials; NaN where there is none."""
        return float(np.nanmean(self.trials[name])) if self.trials[name] else float("nan")

    def error(self, name: str) -> float:
        """The Monte Carlo error of :meth:`mean`."""
        values = np.array(self.trials[name])
        return float(np.nanstd(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0


def compared(
    differences: dict[tuple[int, int], LinkedDifference], truth: Floats
) -> Iterator[tuple[str, float]]:
    """Type I error, coverage and power of one trial."""
    own = [d for (i, j), d in differences.items() if i == j]
    other = [(d, truth[i] - truth[j]) for (i, j), d in differences.items() if i != j]
    yield "drift", float(np.mean([d.difference**2 for d in own]))
    yield "type I", float(np.mean([d.p < 0.05 for d in own]))
    covered = [d.interval[0] <= true <= d.interval[1] for d, true in other]
    yield "coverage", float(np.mean([*covered, *(d.p >= 0.05 for d in own)]))
    found = [(d.p < 0.05, d.difference * true > 0) for d, true in other]
    yield "power", float(np.mean([p and right for p, right in found]))
    yield "wrong way", float(np.mean([p and not right for p, right in found]))


def pairs(tested: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Each system with itself, and with the one some ranks below."""
    for place, i in enumerate(tested):
        yield i, i
        if place + RANKS_APART < len(tested):
            yield i, tested[place + RANKS_APART]
            yield tested[place + RANKS_APART], i


def welch(y_a: Floats, y_b: Floats) -> LinkedDifference:
    """The difference of two means that nothing links."""
    a, b = y_a[~np.isnan(y_a)], y_b[~np.isnan(y_b)]
    test = ttest_ind(a, b, equal_var=False)
    variance = a.var(ddof=1) / len(a) + b.var(ddof=1) / len(b)
    return LinkedDifference(float(a.mean() - b.mean()), float(np.sqrt(variance)), float(test.df))


def trial(cut: Halves, way: str, random: np.random.Generator, tallies: dict[str, Tally]) -> None:
    """One cut, linked by 1, 3, 5 and 10 anchors, not linked, and by the same systems."""
    n = cut.reference.shape[1]
    anchors = choose(way, max(ANCHORS), n, random)
    tested = [i for i in range(n) if i not in anchors]
    n_a, n_same, n_weak = map(normal_cdf, (cut.reference, cut.same, cut.weak))
    for name, other in (("not linked", n_weak), ("same systems", n_same)):
        differences = {(i, j): welch(n_a[:, i], other[:, j]) for i, j in pairs(tested)}
        tallies[name].add(**dict(compared(differences, cut.truth)))
    for k in ANCHORS:
        used = anchors[:k] if way == "random" else choose(way, k, n, random)
        try:
            linked = link(cut.weak[:, used], cut.reference[:, used])
        except UsageError:
            tallies[f"{k} anchors"].add(refused=1.0)
            continue
        differences = {
            (i, j): linked.difference(cut.reference[:, i], cut.weak[:, j]) for i, j in pairs(tested)
        }
        tallies[f"{k} anchors"].add(
            refused=0.0, shift=linked.constant, **dict(compared(differences, cut.truth))
        )


class Case(NamedTuple):
    """A set and measure, cut at random into topics of a number, or into given ones."""

    name: str
    measure: str
    n_topics: int | None
    split: str
    way: str


def cases(topics_of: dict[str, int]) -> Iterator[Case]:
    """All that are tried; anchors are chosen in several ways where systems are strong and weak."""
    for name, measure in MATRICES:
        for n_topics in (25, 50):
            if topics_of[name] < 2 * n_topics - 8:
                continue
            for split in SPLITS:
                for way in WAYS if split == SPLITS[0] else WAYS[:1]:
                    yield Case(name, measure, n_topics, split, way)
    for split in SPLITS:
        yield Case("robust03", "AP", None, split, WAYS[0])


def run_case(case: Case, scores: Floats, trials: int, seed: int) -> dict[str, Tally]:
    """All trials of a case."""
    random = np.random.default_rng(seed)
    tallies: dict[str, Tally] = defaultdict(Tally)
    for _ in range(trials):
        topics = np.arange(len(scores))
        if case.n_topics:
            topics = random.permutation(topics)
        n = min(case.n_topics or len(scores), len(scores) // 2)
        cut = halves(scores, (topics[:n], topics[n : 2 * n]), case.split, random)
        trial(cut, case.way, random, tallies)
    return tallies


class Engine(NamedTuple):
    """An engine's mean sAP on several collections, before and after linking by another."""

    collections: tuple[str, ...]
    plain: Floats
    linked: Floats
    over_topics: Floats
    """The standard error over topics of the difference from the engine that links."""


ENGINES = {"feedback": "prf", "stemming": "krovetz"}
"""The experiments of Soboroff (CIKM 2018): what was changed; without it the run is no_stem."""
WITHOUT_FACTORS = "nyt"


def engine(data: Path, experiment: str) -> Engine:
    """One engine with a technique, linked by the same engine without it."""
    folders = sorted((data / "soboroff2018" / experiment).iterdir())
    entries = [
        (system, folder / f"{system}.eval", None)
        for folder in folders
        if folder.name != WITHOUT_FACTORS
        for system in ("no_stem", ENGINES[experiment])
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ir_std.StandardizationWarning)  # one anchor, depth
        plain = ir_std.compare(entries, "AP")
        linked = ir_std.compare(entries, "AP", anchors=["no_stem"])

    def means(comparison: ir_std.Comparison) -> Floats:
        parts = comparison.parts_of(ENGINES[experiment])
        return np.array([part.estimate(ir_std.sAP).mean for part in parts])

    differences = [
        part.values(ir_std.sAP) - linked.part("no_stem", part.collection).values(ir_std.sAP)
        for part in linked.parts_of(ENGINES[experiment])
    ]
    errors = [np.nanstd(d, ddof=1) / np.sqrt((~np.isnan(d)).sum()) for d in differences]
    return Engine(linked.collections, means(plain), means(linked), np.array(errors))


def describe_engines(data: Path) -> None:
    """Print how much an engine's mean varies over collections."""
    for experiment in ENGINES:
        found = engine(data, experiment)
        print(
            f"{experiment} on {len(found.collections)} collections: standard deviation of mean "
            f"sAP {found.plain.std(ddof=1):.3f} by each track's own systems, "
            f"{found.linked.std(ddof=1):.3f} linked by the engine without it; topics alone would "
            f"give {np.sqrt((found.over_topics**2).mean()):.3f}"
        )


FIGURES = ("type I", "coverage", "power", "wrong way", "refused", "shift")


def print_worst(rows: Sequence[Sequence[str]]) -> None:
    """Over all sets: the largest drift, type I error in the mean, coverage from and to, power."""
    for split, way in dict.fromkeys((row[3], row[4]) for row in rows):
        for case in dict.fromkeys(row[5] for row in rows):
            chosen = [row for row in rows if (row[3], row[4], row[5]) == (split, way, case)]
            drift = max(float(row[6]) for row in chosen)
            type_1, coverage, power, wrong = (
                [float(row[i].split(" ")[0]) for row in chosen] for i in (7, 8, 9, 10)
            )
            print(
                f"{split}, anchors {way}, {case}: RMS / floor at most {drift:.2f}; type I "
                f"{np.mean(type_1):.3f}; coverage {min(coverage):.3f} to {max(coverage):.3f}; "
                f"found {np.mean(power):.3f}, the wrong way {np.mean(wrong):.3f}"
            )


def main(argv: Sequence[str] | None = None) -> None:
    """Run all cases and print them."""
    args = arguments(__doc__ or "", argv, trials=300)
    matrices = {}
    for name, measure in (*MATRICES, ("robust03", "AP")):
        scores = scores_by_system(ir_std.load_factors(name), measure)[1]
        matrices[name, measure] = scores[~np.isnan(scores).any(axis=1)]
    describe_engines(args.data)
    rows: list[list[str]] = []
    for case in cases({name: len(scores) for (name, _), scores in matrices.items()}):
        tallies = run_case(case, matrices[case.name, case.measure], args.trials, args.seed)
        floor = tallies["same systems"].mean("drift")
        for what, tally in tallies.items():
            ratio = np.sqrt(tally.mean("drift") / floor)
            figures = [f"{tally.mean(c):.3f} ({tally.error(c):.3f})" for c in FIGURES]
            rows.append([*map(str, case), what, f"{ratio:.2f}", *figures])
            print("  ".join(map(str, rows[-1])), flush=True)
    print_worst(rows)
    write_csv(
        args.out / "linking" / "linking.csv",
        ("set", "measure", "topics", "systems", "anchors", "case", "RMS / floor", *FIGURES),
        rows,
    )


if __name__ == "__main__":
    main()
