"""Test whether systems that ran on two collections make the collections comparable.

First, the script links collections from different rounds or years of a track. It compares the two
means of each system whose name occurs in both collections. A test on two parts of one collection
cannot replace this test.

Then it cuts one collection into two halves that share no topic and no reference system. In one
design, the strong half of the systems standardizes one half of the topics, and the weak half
standardizes the other, as if years were between them. In the other design, random halves of the
systems standardize the two halves. On Robust 2003, the two halves are the old and the new topics. A
third of the systems is held out and does not standardize. Some held-out systems are the anchors;
the script compares the others with themselves and with each other.

For several numbers of anchors and several ways to choose anchors, the script prints how far linked
means drift, how often a system differs significantly from itself, and how often intervals contain
the difference of two systems. It also prints how often a test finds a real difference, and how
often it finds a difference with the wrong sign. It prints the Monte Carlo errors of all figures.
Finally, it prints the scores of Soboroff's engines (CIKM 2018) on nine collections.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from experiment import arguments, spread

import ir_std
from ir_std._arrays import Floats, Ints, Mask
from ir_std.analysis import link, random_effects
from ir_std.analysis.linking import LinkedDifference, variance_of_mean
from ir_std.errors import UsageError, pluralize
from ir_std.evaluation.uncertainty import is_anonymous, team_of
from ir_std.factors.estimates import scores_by_system
from ir_std.reporting.compare import link_results
from ir_std.schemes import normal_cdf, z_scores

CHOSEN_ON = (
    ("robust04", "AP"),
    ("robust04", "P@10"),
    ("terabyte04-06", "AP"),
    ("blog08", "AP"),
)
"""Sets and measures from which the method's constants were chosen; the others test the method."""
MATRICES = (
    *CHOSEN_ON,
    ("trec7-adhoc", "AP"),
    ("trec8-adhoc", "AP"),
    ("trec8-adhoc", "nDCG"),
    ("web10", "AP"),
    ("dl20-passage", "nDCG@10"),
    ("dl22-passage", "nDCG@10"),
    ("dl23-passage", "nDCG@10"),
    ("covid-round5", "nDCG@10"),
)
REAL = ("robust03", "AP")
"""Set whose old topics are one collection, and whose new topics are the other."""
ANCHORS = (1, 3, 5, 10)
WAYS = ("random", "best", "worst", "median")
STRONG_WEAK, RANDOM = "strong and weak", "random halves"
RANKS_APART = 5
LEVEL = 0.05
"""Level of all tests."""


class Half(NamedTuple):
    """Scores of held-out systems on one of two sets of topics (topics x systems, best first)."""

    raw: Floats
    z: Floats
    n: Floats
    truth: Floats
    """Mean N of the systems over both sets of topics, by this half's reference systems."""


def halves(
    scores: Floats, topics: tuple[Ints, Ints], split: str, random: np.random.Generator
) -> tuple[Half, Half, Half]:
    """Cut the topics into two halves, and standardize them by strong and weak systems.

    A third of the systems is held out. Two halves of the other systems standardize.
    """
    order = np.argsort(-scores.mean(axis=0))
    held_out = np.sort(random.choice(len(order), max(len(order) // 3, 16), replace=False))
    rest = np.delete(order, held_out)
    if split != STRONG_WEAK:
        rest = random.permutation(rest)
    tested = scores[:, order[held_out]]

    def by(systems: Ints) -> tuple[Floats, Floats]:
        reference = scores[:, systems]
        z = z_scores(
            tested,
            reference.mean(axis=1, keepdims=True),
            reference.std(axis=1, ddof=1, keepdims=True),
        )
        return z, normal_cdf(z)

    def half(rows: Ints, z: Floats, n: Floats) -> Half:
        return Half(tested[rows], z[rows], n[rows], np.nanmean(n, axis=0))

    strong, weak = by(rest[: len(rest) // 2]), by(rest[len(rest) // 2 :])
    return half(topics[0], *strong), half(topics[1], *weak), half(topics[1], *strong)


def choose(way: str, k: int, n: int, random: np.random.Generator) -> Ints:
    """Return the columns of k anchors."""
    if way == "random":
        return random.choice(n, k, replace=False)
    start = {"best": 0, "worst": n - k, "median": (n - k) // 2}[way]
    return np.arange(start, start + k)


def pairs(tested: Ints) -> tuple[Ints, Ints]:
    """Pair each system with itself, and with systems some ranks below and above."""
    above, below = tested[:-RANKS_APART], tested[RANKS_APART:]
    return np.concatenate([tested, above, below]), np.concatenate([tested, below, above])


def welch(y_a: Floats, y_b: Floats) -> LinkedDifference:
    """Compute differences between means on two collections that are not linked."""
    a, b = (y[~np.isnan(y).any(axis=1)] for y in (y_a, y_b))
    parts = [variance_of_mean(a), variance_of_mean(b)]
    return LinkedDifference.of(a.mean(axis=0) - b.mean(axis=0), parts, 0.0, True)


def figures(found: LinkedDifference, true: Floats, own: Mask) -> dict[str, float]:
    """Describe how systems differ from themselves (``own``) and from other systems."""
    drift = float((found.difference[own] ** 2).mean())
    if np.isnan(found.p).all():  # A single anchor gives no p-values.
        return {"drift": drift}
    p, (low, high) = found.p, found.interval
    right = found.difference * true > 0
    return {
        "drift": drift,
        "type I": float((p[own] < LEVEL).mean()),
        "coverage": float(((low <= true) & (true <= high)).mean()),
        "found": float((right & (p < LEVEL))[~own].mean()),
        "wrong way": float((~right & (p < LEVEL))[~own].mean()),
    }


def linked_figures(a: Half, b: Half, used: Ints, i: Ints, j: Ints) -> dict[str, float]:
    """Compare systems ``i`` on one half with systems ``j`` on the other, after a link."""
    if a.n[:, used].mean() > np.nanmean(b.n[:, used]):  # Link to the lower mean.
        a, b, i, j = b, a, j, i
    try:
        linked = link(b.z[:, used], a.z[:, used])
    except UsageError:
        return {"refused": 1.0}
    found = linked.difference(a.z[:, i], b.z[:, j])
    return {**figures(found, a.truth[i] - a.truth[j], i == j), "refused": 0.0}


def trial(
    cut: tuple[Half, Half, Half], way: str, random: np.random.Generator
) -> Iterator[tuple[str, Mapping[str, float]]]:
    """Yield the figures of one cut, for raw scores and for each way to standardize."""
    a, b, same = cut
    n = len(a.truth)
    anchors = choose(way, max(ANCHORS), n, random)
    i, j = pairs(np.setdiff1d(np.arange(n), anchors))
    true, own = a.truth[i] - a.truth[j], i == j
    raw = figures(welch(a.raw[:, i], b.raw[:, j]), true, own)
    yield "raw", {**raw, "drift": np.nan, "coverage": np.nan}  # The units differ.
    yield "not linked", figures(welch(a.n[:, i], b.n[:, j]), true, own)
    for k in ANCHORS:
        used = anchors[:k] if way == "random" else choose(way, k, n, random)
        yield anchors_label(k), linked_figures(a, b, used, i, j)
    yield SAME, figures(welch(a.n[:, i], same.n[:, j]), true, own)


def anchors_label(k: int) -> str:
    """Return the label that the script prints for a number of anchors."""
    return pluralize(k, "anchor")


SAME = "same systems"
FIGURES = ("drift", "type I", "coverage", "found", "wrong way", "refused")
Found = Mapping[str, Mapping[str, Floats]]
"""Figures of each trial, by method; NaN if a figure is missing."""


class Case(NamedTuple):
    """A set and a measure, and the way to cut the set's topics and systems."""

    name: str
    measure: str
    n_topics: int | None
    split: str
    way: str

    @property
    def in_table(self) -> bool:
        """True if the guide's table has the case, which has random anchors and unequal halves."""
        return (self.split, self.way) == (STRONG_WEAK, "random") and self[:2] != REAL


def cases() -> Iterator[Case]:
    """Yield all cases; strong and weak systems are tested with several kinds of anchors."""
    for key in MATRICES:
        for n_topics in (25, 50):
            if len(matrix(*key)) >= 2 * n_topics - 8:
                yield from (Case(*key, n_topics, STRONG_WEAK, way) for way in WAYS)
                yield Case(*key, n_topics, RANDOM, WAYS[0])
    yield from (Case(*REAL, None, split, WAYS[0]) for split in (STRONG_WEAK, RANDOM))


@cache
def matrix(name: str, measure: str) -> Floats:
    """Return the scores of a set's systems for a measure, shape (n_topics, n_systems)."""
    scores = scores_by_system(ir_std.load_factors(name), measure)[1]
    return scores[~np.isnan(scores).any(axis=1)]


def run_case(trials: int, seed: int, case: Case) -> Found:
    """Compute the figures of all trials of a case."""
    random = np.random.default_rng(seed)
    scores = matrix(case.name, case.measure)
    n = min(case.n_topics or len(scores), len(scores) // 2)
    found: dict[str, list[Mapping[str, float]]] = {}
    for _ in range(trials):
        topics = np.arange(len(scores))
        if case.n_topics:
            topics = random.permutation(topics)
        cut = halves(scores, (topics[:n], topics[n : 2 * n]), case.split, random)
        for what, of_trial in trial(cut, case.way, random):
            found.setdefault(what, []).append(of_trial)
    return {
        what: {
            name: np.array([of_trial.get(name, np.nan) for of_trial in of_trials])
            for name in FIGURES
        }
        for what, of_trials in found.items()
    }


def run_fewer(trials: int, seed: int, case: Case) -> Found:
    """Compute the trials of a case, and only a third of them if the guide's table lacks it."""
    return run_case(trials if case.in_table else max(trials // 3, 2), seed, case)


YEARS = (
    ("covid-round1", "covid-round2", "nDCG@10"),
    ("covid-round1", "covid-round5", "nDCG@10"),
    ("covid-round2", "covid-round3", "nDCG@10"),
    ("covid-round2", "covid-round4", "nDCG@10"),
    ("covid-round2", "covid-round5", "nDCG@10"),
    ("covid-round3", "covid-round4", "nDCG@10"),
    ("covid-round3", "covid-round5", "nDCG@10"),
    ("covid-round4", "covid-round5", "nDCG@10"),
    ("dl20-passage", "dl21-passage", "AP(rel=2)"),
    ("dl22-passage", "dl23-passage", "nDCG@10"),
)
"""Pairs of collections on which at least five systems have the same name."""


class Years(NamedTuple):
    """Figures for systems that ran on two linked collections and are not anchors.

    Attributes
    ----------
    n_common : int
    differ, differ_if_same, of_new_teams : mapping of int to float
        By number of anchors, the share of the other common systems that differ significantly from
        themselves. ``differ`` is for ir_std's default, ``differ_if_same`` for ``--same-systems``,
        and ``of_new_teams`` for teams without an anchor.
    disagree, unlinked : mapping of int to float
        By number of anchors, the share of links whose anchors disagree, and of links that are too
        imprecise.
    """

    n_common: int
    differ: Mapping[int, float]
    differ_if_same: Mapping[int, float]
    of_new_teams: Mapping[int, float]
    disagree: Mapping[int, float]
    unlinked: Mapping[int, float]


def common_z(first: str, second: str, measure: str) -> tuple[list[str], Floats, Floats]:
    """Return the systems on both collections, and their z on each (topics x systems)."""
    by_name = []
    for name in (first, second):
        factors = ir_std.load_factors(name)
        numbers, scores = scores_by_system(factors, measure)
        z = z_scores(scores, factors.mean[measure][:, None], factors.sd[measure][:, None])
        by_name.append({factors.systems[i]: column for i, column in zip(numbers, z.T, strict=True)})
    common = [name for name in by_name[0] if name in by_name[1] and not is_anonymous(name)]
    a, b = (np.stack([z[name] for name in common], axis=1) for z in by_name)
    return common, a, b


def between_years(trials: int, seed: int, pair: tuple[str, str, str]) -> Years:
    """Link two collections by random common systems; test the other common systems."""
    names, a, b = common_z(*pair)
    if normal_cdf(a).mean() > normal_cdf(b).mean():
        a, b = b, a
    teams = np.array([team_of(name) for name in names])
    random = np.random.default_rng(seed)
    found: list[dict[int, list[float]]] = [{} for _ in Years._fields[1:]]
    for k in [k for k in ANCHORS if 3 <= k < len(names)]:
        for _ in range(trials):
            order = random.permutation(len(names))
            used, rest = order[:k], order[k:]
            try:
                linked = link(b[:, used], a[:, used])
                same = link(b[:, used], a[:, used], same_systems=True)
            except UsageError:
                continue
            differ = linked.difference(a[:, rest], b[:, rest]).p < LEVEL
            if_same = same.difference(a[:, rest], b[:, rest]).p < LEVEL
            new = ~np.isin(teams[rest], teams[used])
            values = (
                differ.mean(),
                if_same.mean(),
                differ[new].mean() if new.any() else np.nan,
                any("disagree" in doubt for doubt in linked.doubts),
                any("too imprecise" in doubt for doubt in linked.doubts),
            )
            for by_k, value in zip(found, values, strict=True):
                by_k.setdefault(k, []).append(float(value))
    known = ({k: [v for v in values if v == v] for k, values in by_k.items()} for by_k in found)
    means = ({k: float(np.mean(values)) for k, values in by_k.items() if values} for by_k in known)
    return Years(len(names), *means)


def years_table(found: Mapping[tuple[str, str, str], Years]) -> list[str]:
    """Return the guide's table of rounds and years, with the means over pairs in the last row."""
    tested = [k for k in ANCHORS if k >= 3]
    lines = [
        f"| first | second | measure | common | {' | '.join(map(str, tested))} | "
        f"{' | '.join(f'{k}, identical' for k in tested)} |",
        "| --- " * (2 * len(tested) + 4) + "|",
    ]

    def row(labels: Sequence[object], one: Mapping[int, float], same: Mapping[int, float]) -> str:
        cells = [share(by_k.get(k)) for by_k in (one, same) for k in tested]
        return f"| {' | '.join([*map(str, labels), *cells])} |"

    for pair, years in found.items():
        lines.append(row((*pair, years.n_common), years.differ, years.differ_if_same))
    means = (over_pairs([getattr(y, name) for y in found.values()]) for name in Years._fields[1:3])
    lines.append(row(("mean", "", "", ""), *means))
    return lines


def over_pairs(values: Sequence[Mapping[int, float]]) -> dict[int, float]:
    """Return the mean over pairs, by number of anchors."""
    return {
        k: float(np.mean([one[k] for one in values if k in one]))
        for k in dict.fromkeys(k for one in values for k in one)
    }


def share(value: float | None) -> str:
    """Format a share like ``.067``; empty if it is missing."""
    return "" if value is None else f"{value:.3f}".removeprefix("0")


def describe_years(found: Mapping[tuple[str, str, str], Years]) -> list[str]:
    """Return the guide's table of years, and a line for each other figure."""
    titles = {
        "of_new_teams": "systems of teams without an anchor differ from themselves",
        "disagree": "links in which the anchors disagree",
        "unlinked": "links that are too imprecise",
    }
    lines = years_table(found)
    for name, title in titles.items():
        means = over_pairs([getattr(years, name) for years in found.values()])
        by_k = ", ".join(f"{share(value)} with {k}" for k, value in means.items())
        lines.append(f"{title}: {by_k}")
    return lines


class Engine(NamedTuple):
    """Mean sAP of an engine on several collections, before and after a link."""

    collections: tuple[str, ...]
    plain: Floats
    linked: Floats
    over_topics: Floats
    """Standard error of the difference from the anchor engine, over topics."""

    @property
    def q_p(self) -> float:
        """P-value of the hypothesis that linked means differ only by topics."""
        return random_effects(self.linked, self.over_topics**2).q_p


ANCHOR = "no_stem"
ENGINES = {"feedback": "prf", "stemming": "krovetz"}
"""Technique in each experiment of Soboroff (CIKM 2018); :data:`ANCHOR` has no technique."""
WITHOUT_FACTORS = "nyt"


def compare_engines(data: Path, experiment: str) -> ir_std.Results:
    """Compare an engine with and without a technique on the collections with factors."""
    entries = [
        (system, folder / f"{system}.eval", None)
        for folder in sorted((data / "soboroff2018" / experiment).iterdir())
        if folder.name != WITHOUT_FACTORS
        for system in (ANCHOR, ENGINES[experiment])
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ir_std.StandardizationWarning)  # These runs are short.
        return ir_std.compare(entries, "AP")


def engine(data: Path, experiment: str) -> Engine:
    """Link the scores of an engine with a technique by the engine without it."""
    plain = compare_engines(data, experiment)
    linked = link_results(plain, ANCHOR)
    system, names = ENGINES[experiment], tuple(linked.collections)

    def means(results: ir_std.Results) -> Floats:
        return np.array([results.estimate(system, ir_std.sAP, name).mean for name in names])

    differences = [
        linked.difference((system, name), (ANCHOR, name), ir_std.sAP).by_topic for name in names
    ]
    errors = [np.nanstd(d, ddof=1) / np.sqrt((~np.isnan(d)).sum()) for d in differences]
    return Engine(names, means(plain), means(linked), np.array(errors))


def describe_engines(data: Path) -> None:
    """Describe how much an engine's mean varies over collections, and test for chance."""
    for experiment in ENGINES:
        found = engine(data, experiment)
        lowest, highest = found.plain.min(), found.plain.max()
        print(
            f"{experiment} on {pluralize(len(found.collections), 'collection')}: mean sAP by each "
            f"track's own systems {lowest:.3f} to {highest:.3f}, standard deviation "
            f"{found.plain.std(ddof=1):.3f}; linked by the engine without it "
            f"{found.linked.min():.3f} to {found.linked.max():.3f}, standard deviation "
            f"{found.linked.std(ddof=1):.3f}, topics alone would give "
            f"{np.sqrt((found.over_topics**2).mean()):.3f} (Cochran's Q, p = {found.q_p:.2g})"
        )


class Mean(NamedTuple):
    """A mean over trials, and its Monte Carlo error."""

    value: float
    error: float

    def __str__(self) -> str:
        return "-" if np.isnan(self.value) else f"{self.value:.3f} ({self.error:.3f})"

    @classmethod
    def of(cls, values: Floats) -> Mean:
        """Average over the trials that have a value."""
        known = values[~np.isnan(values)]
        if len(known) < 2:
            return cls(np.nan, np.nan)
        return cls(float(known.mean()), float(known.std(ddof=1) / np.sqrt(len(known))))

    @classmethod
    def over_floor(cls, drift: Floats, floor: Floats) -> Mean:
        """Divide the RMS difference by the one with the same systems (delta method, by trial)."""
        known = ~np.isnan(drift)
        if known.sum() < 2:
            return cls(np.nan, np.nan)
        drift, floor = drift[known], floor[known]
        ratio = np.sqrt(drift.mean() / floor.mean())
        relative = cls.of(drift / drift.mean() - floor / floor.mean())
        return cls(float(ratio), float(ratio / 2 * relative.error))

    @classmethod
    def over_cases(cls, means: Sequence[Mean]) -> Mean:
        """Average the means of several cases."""
        known = [one for one in means if not np.isnan(one.value)]
        if not known:
            return cls(np.nan, np.nan)
        error = np.sqrt(sum(one.error**2 for one in known)) / len(known)
        return cls(float(np.mean([one.value for one in known])), float(error))


Row = Mapping[str, Mean]
Results = Mapping[Case, Mapping[str, Row]]
"""Figures of each case, by method."""


def summarized(found: Found) -> dict[str, Row]:
    """Summarize the figures of a case, by method."""
    floor = found[SAME]["drift"]
    return {
        what: {
            "RMS / floor": Mean.over_floor(by_trial["drift"], floor),
            **{name: Mean.of(by_trial[name]) for name in FIGURES[1:]},
        }
        for what, by_trial in found.items()
    }


IN_TABLE = {
    "RMS difference of a system's means, relative to the same reference systems": "RMS / floor",
    "a system against itself, share significant at .05": "type I",
    "coverage of 95% intervals": "coverage",
    "systems five ranks apart: difference found": "found",
    "found with the wrong sign": "wrong way",
}
"""Titles of the rows in the guide's table, with the names of their figures."""


def guide_table(chosen: Sequence[Mapping[str, Row]]) -> list[str]:
    """Return the guide's table: means over cases, and the lowest and the highest."""
    heads = [what.replace(" anchors", "") for what in chosen[0]]
    lines = [f"| | {' | '.join(heads)} |", "| --- " * (len(heads) + 1) + "|"]
    for title, name in IN_TABLE.items():
        cells = []
        for what in chosen[0]:
            values = [one[what][name].value for one in chosen]
            cells.append("" if np.isnan(values).all() else _mean_and_ends(values, name))
        lines.append(f"| {title} | {' | '.join(cells)} |")
    return lines


def _mean_and_ends(values: Sequence[float], name: str) -> str:
    places = 2 if name == "RMS / floor" else 3
    mean, low, high = (
        f"{value:.{places}f}".removeprefix("0" * (places == 3))
        for value in (np.mean(values), min(values), max(values))
    )
    return mean if low == high else f"{mean} ({low}, {high})"


def largest_errors(
    chosen: Sequence[Mapping[str, Row]], names: Sequence[str]
) -> tuple[float, float]:
    """Return the largest Monte Carlo error of means over cases, and of a single case."""
    columns = [[one[what][name] for one in chosen] for what in chosen[0] for name in names]
    of_means = [Mean.over_cases(column).error for column in columns]
    return float(np.nanmax(of_means)), max(m.error for c in columns for m in c if m.error > 0)


def print_largest_errors(chosen: Sequence[Mapping[str, Row]]) -> None:
    """Print how precise the figures of the guide's table are."""
    first, *others = IN_TABLE.values()
    for title, names in {"first row": [first], "other rows": others}.items():
        of_means, of_cases = largest_errors(chosen, names)
        print(
            f"Monte Carlo errors at most, {title}: {of_means:.3f}, of a single case {of_cases:.3f}"
        )


def print_over_cases(title: str, chosen: Sequence[Mapping[str, Row]]) -> None:
    """Print the mean, lowest and highest of each figure over cases."""
    names = list(chosen[0])
    print(f"\n{title}: mean over {len(chosen)} cases (Monte Carlo error), lowest to highest")
    print(f"{'':20}" + "".join(f"{what:>18}" for what in names))
    for name in chosen[0][SAME]:
        columns = [[one[what][name] for one in chosen] for what in names]
        ranges = [sorted(mean.value for mean in c if not np.isnan(mean.value)) for c in columns]
        means = (f"{Mean.over_cases(column)!s:>18}" for column in columns)
        ends = (f"{f'{r[0]:.3f} to {r[-1]:.3f}' if r else '':>18}" for r in ranges)
        print(f"{name:20}{''.join(means)}\n{'':20}{''.join(ends)}")


def print_all(results: Results) -> None:
    """Print the guide's table, and the figures for Robust 2003 and for other anchors."""
    in_table = [rows for case, rows in results.items() if case.in_table]
    print("\n", *guide_table(in_table), sep="\n")
    print_largest_errors(in_table)
    groups = {
        **{f"Robust 2003, {split}": (*REAL, split) for split in (STRONG_WEAK, RANDOM)},
        **{f"{STRONG_WEAK}, anchors {way}": (way,) for way in WAYS[1:]},
    }
    for title, wanted in groups.items():
        rows = [rows for case, rows in results.items() if set(wanted) <= set(case)]
        print_over_cases(title, rows)


def all_cases(trials: int, seed: int, jobs: int) -> Results:
    """Return the figures of all cases."""
    todo = list(cases())
    found = spread(partial(run_fewer, trials, seed), todo, jobs)
    return {case: summarized(one) for case, one in zip(todo, found, strict=True)}


def main(argv: Sequence[str] | None = None) -> None:
    """Compute all cases and print them."""
    args = arguments(__doc__ or "", argv, trials=300)
    by_years = {pair: between_years(args.trials, args.seed, pair) for pair in YEARS}
    print(*describe_years(by_years), sep="\n")
    describe_engines(args.data)
    print_all(all_cases(args.trials, args.seed, args.jobs))


if __name__ == "__main__":
    main()
