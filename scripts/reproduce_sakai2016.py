"""Reproduce Sakai, A simple and effective approach to score standardisation (ICTIR 2016).

The paper has experiments on leave-one-out, discriminative power, swap rates and topic set size. It
compares raw scores with the schemes N (std-CDF) and U (std-AB), for graded nDCG of three Robust
tracks, whose runs are not public. This script repeats the experiments on other data. The abstract
claims that U has lower swap rates than N and needs fewer topics. The script prints where these
claims hold, and whether they still hold if both schemes are put on the same scale. It computes
topic set sizes in several designs. The paper uses one-way ANOVA, which treats a topic's difficulty
as error. Two-way ANOVA and the paired t-test compare systems that ran on the same topics.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from experiment import Scores, arguments, score_runs, spread, table
from paper_statistics import (
    SwapRates,
    residual_variance,
    swap_rate,
    topic_set_size,
    tukey_p_values,
    within_system_variance,
)

from ir_std.analysis import kendall_tau_b, paired_t, standardize_matrix, topic_set_size_paired_t
from ir_std.analysis.means import standard_error
from ir_std.evaluation.uncertainty import team_of

TABLES = (("robust03", "AP"), ("robust04", "AP"), ("trec7-adhoc", "AP"))
RUNS = (("trec8-adhoc", "AP"), ("trec8-adhoc", "nDCG"), ("dl20-passage", "nDCG@10"))
SCHEMES = ("raw", "N", "U")
BINS = np.arange(21) / 100
"""Bins of score difference, 0.01 wide; the last bin starts at 0.20."""
FINE = np.arange(1000) / 1000
ENOUGH = 1000
"""Smallest number of comparisons with which the rate of a bin counts."""
CONFIDENT = 0.05
"""Largest share of swapped pairs at which a difference is trusted (Sakai, SIGIR 2006)."""
SYSTEMS = 10
DIFFERENCES = (0.05, 0.10)
DESIGNS: dict[str, Callable[[np.ndarray, float], int]] = {
    "one-way ANOVA": lambda x, d: topic_set_size(within_system_variance(x), d, SYSTEMS),
    "two-way ANOVA": lambda x, d: topic_set_size(residual_variance(x), d, SYSTEMS, two_way=True),
    "paired t": lambda x, d: topic_set_size_paired_t(2 * residual_variance(x), d),
}
"""Topics needed to find a difference in scores at alpha 0.05 and beta 0.20."""


@dataclass(frozen=True)
class LeftOut:
    """Changes if only other teams' systems standardize a system, and not all systems."""

    scheme: str
    groups: int
    tau: float
    mean_change: float
    largest_change: float


@dataclass(frozen=True)
class Swaps:
    """Swap rates of a scheme."""

    by_difference: SwapRates
    trusted: float
    """Smallest difference at which at most CONFIDENT of the pairs swap; NaN if there is none."""
    resolved: float
    """Share of comparisons with at least this smallest difference. Sakai (SIGIR 2006) calls it
    sensitivity; it does not depend on the scale.
    """


@dataclass(frozen=True)
class Sizes:
    """Number of topics that an experiment needs, for each of DIFFERENCES, by design."""

    variance: float
    residual: float
    equal_difference: dict[str, tuple[int, ...]]
    same_effect: dict[str, tuple[int, ...]]
    """Topics for the same effect: the raw difference, in units of the spread of system means."""


def load(data: Path, jobs: int = 1) -> dict[tuple[str, str], Scores]:
    """Read the raw scores of all collections and measures."""
    scores = {(c, m): table(data, c, m) for c, m in TABLES}
    for collection in dict.fromkeys(c for c, _ in RUNS):
        measures = [m for c, m in RUNS if c == collection]
        scored = score_runs(data, collection, measures, jobs)
        scores.update({(collection, m): scored[m] for m in measures})
    return scores


def schemes(raw: np.ndarray) -> dict[str, np.ndarray]:
    """Return raw and standardized scores on the topics on which systems differ."""
    raw = raw[np.ptp(raw, axis=1) > 0]
    return {s: raw if s == "raw" else standardize_matrix(raw, scheme=s) for s in SCHEMES}


def left_out(scores: Scores, named: bool) -> list[LeftOut]:
    """Compute the changes for N and U if a team's systems are not reference systems.

    If the systems are anonymous, each counts as a team of its own.
    """
    groups = [team_of(tag) if named else tag for tag in scores.systems]
    rows = []
    for scheme in SCHEMES[1:]:
        out = standardize_matrix(scores.values, scheme=scheme, leave_out=groups)
        a = standardize_matrix(scores.values, scheme=scheme).mean(axis=0)
        b = out.mean(axis=0)
        change = np.abs(a - b)
        rows.append(
            LeftOut(
                scheme,
                len(set(groups)),
                float(kendall_tau_b(a, b)),
                float(change.mean()),
                float(change.max()),
            )
        )
    return rows


def p_values(
    scores: dict[str, np.ndarray], trials: int, seed: int = 0
) -> dict[tuple[str, str], np.ndarray]:
    """Return the sorted p values of all pairs, by test and scheme."""
    tests: dict[str, Callable[[np.ndarray], np.ndarray]] = {
        "t": lambda x: paired_t(x).p,
        "tukey": partial(tukey_p_values, trials=trials, seed=seed),
    }
    return {(name, s): np.sort(test(x)) for name, test in tests.items() for s, x in scores.items()}


def swaps(x: np.ndarray, trials: int, seed: int = 0) -> Swaps:
    """Compute swap rates over random halves of the topics."""
    fine = swap_rate(x, FINE, trials=trials, seed=seed)
    trusted, resolved = resolution(fine)
    return Swaps(
        swap_rate(x, BINS, trials=trials, seed=seed),
        trusted,
        resolved,
    )


def resolution(fine: SwapRates) -> tuple[float, float]:
    """Return the smallest trusted difference, and the share of larger differences.

    A difference is trusted if at most CONFIDENT of the pairs swap. If more pairs swap in every bin,
    no difference is trusted, and the share is 0.
    """
    trusted = np.flatnonzero((fine.rate <= CONFIDENT) & (fine.pairs >= ENOUGH))
    if not len(trusted):
        return float("nan"), 0.0
    return (float(FINE[trusted[0]]), float(fine.pairs[trusted[0] :].sum() / fine.pairs.sum()))


def sizes(x: np.ndarray, raw: np.ndarray) -> Sizes:
    """Compute topic set sizes at alpha 0.05 and beta 0.20 for SYSTEMS systems."""
    stretch = x.mean(axis=0).std(ddof=1) / raw.mean(axis=0).std(ddof=1)
    return Sizes(
        within_system_variance(x),
        residual_variance(x),
        {k: tuple(size(x, d) for d in DIFFERENCES) for k, size in DESIGNS.items()},
        {k: tuple(size(x, d * stretch) for d in DIFFERENCES) for k, size in DESIGNS.items()},
    )


@dataclass(frozen=True)
class Results:
    """Results of all experiments on one collection and measure."""

    title: str
    scores: Scores
    left_out: list[LeftOut]
    p_values: dict[tuple[str, str], np.ndarray]
    swaps: dict[str, Swaps]
    sizes: dict[str, Sizes]


def experiment(trials: int, seed: int, item: tuple[tuple[str, str], Scores]) -> Results:
    """Repeat the paper's experiments on one collection's scores for one measure."""
    key, scores = item
    by_scheme = schemes(scores.values)
    return Results(
        f"{key[0]}, {key[1]}",
        scores,
        left_out(scores, key in RUNS),
        p_values(by_scheme, trials, seed),
        {s: swaps(x, trials, seed) for s, x in by_scheme.items()},
        {s: sizes(x, by_scheme["raw"]) for s, x in by_scheme.items()},
    )


def power(result: Results, test: str, scheme: str, alpha: float = 0.05) -> float:
    """Return the share of pairs of systems whose difference is significant."""
    return float(np.mean(result.p_values[test, scheme] < alpha))


def show(results: Sequence[Results]) -> None:
    """Print the tables."""
    print(
        "Factors without a system's own group, against factors from all systems\n"
        f"{'':24} systems  groups  scheme  tau     change of mean score: mean, largest"
    )
    for r in results:
        for v in r.left_out:
            print(
                f"{r.title:24} {len(r.scores.systems):7}  {v.groups:6}  {v.scheme:6}  "
                f"{v.tau:.4f}  {v.mean_change:.4f}, {v.largest_change:.4f}"
            )
    print(
        "\nDiscriminative power: share of system pairs that differ at 0.05\n"
        f"{'':24} paired t:  raw    N      U     randomised Tukey HSD:  raw    N      U"
    )
    for r in results:
        t, hsd = ("  ".join(f"{power(r, test, s):.3f}" for s in SCHEMES) for test in ("t", "tukey"))
        print(f"{r.title:24}          {t}                         {hsd}")
    print(
        "\nSwap rates over halves of the topics: of all pairs (standard error over trials); the "
        "smallest difference at which\nat most 5% swap, and the share of comparisons that it "
        f"resolves\n{'':24} scheme  overall           minus N           difference  resolved"
    )
    for r in results:
        for s, swapped in r.swaps.items():
            more, error = beyond(r, s, "N")
            rates = swapped.by_difference
            print(
                f"{r.title:24} {s:6}  {rates.overall:.4f} ({rates.error:.4f})  {more:+.4f} "
                f"({error:.4f})   {swapped.trusted:.3f}       {swapped.resolved:.3f}"
            )
    print(
        f"\nTopic set sizes: {SYSTEMS} systems, alpha 0.05, beta 0.20, differences of 0.05 and "
        "0.10; 'same effect'\ntakes the difference in units of the spread of system means, as "
        f"raw's\n{'':24} scheme"
        + "".join(f"  {design:>22}" for design in DESIGNS)
        + f"\n{'':31}"
        + "  equal / same effect" * len(DESIGNS)
    )
    for r in results:
        for s, size in r.sizes.items():
            cells = (
                " ".join(f"{n:5}" for n in (*size.equal_difference[d], *size.same_effect[d]))
                for d in DESIGNS
            )
            print(f"{r.title:24} {s:6} {' '.join(cells)}")


def beyond(r: Results, a: str, b: str) -> tuple[float, float]:
    """Compute how much more often ``a`` swaps than ``b``, and the standard error."""
    difference = r.swaps[a].by_difference.by_trial - r.swaps[b].by_difference.by_trial
    return float(difference.mean()), standard_error(difference)


def less(r: Results, a: str, b: str) -> bool:
    """Check whether ``a`` swaps less than ``b`` by more than two standard errors."""
    more, error = beyond(r, a, b)
    return more < -2 * error


def claims(results: Sequence[Results]) -> list[str]:
    """List where the abstract's claims hold, one sentence each."""

    def bins(r: Results) -> bool:
        n, u = (r.swaps[s].by_difference for s in ("N", "U"))
        both = (n.pairs >= ENOUGH) & (u.pairs >= ENOUGH) & (BINS > 0)
        return bool((u.rate[both] <= n.rate[both]).all())

    def fewer(kind: str, design: str, a: str, b: str) -> Callable[[Results], bool]:
        # The tuples of sizes can be compared, because all sizes grow with the variance.
        return lambda r: getattr(r.sizes[a], kind)[design] < getattr(r.sizes[b], kind)[design]

    tests: dict[str, Callable[[Results], bool]] = {
        "U swaps no more than N at equal score differences": bins,
        "U swaps less than N over all comparisons, by two standard errors": lambda r: less(
            r, "U", "N"
        ),
        "U resolves more comparisons than N at a swap rate of 5%": lambda r: (
            r.swaps["U"].resolved > r.swaps["N"].resolved
        ),
    }
    for kind, words in (
        ("equal_difference", "at equal score differences"),
        ("same_effect", "for the same effect"),
    ):
        for a, b in (("U", "N"), ("U", "raw"), ("N", "raw")):
            for design in DESIGNS:
                tests[f"{a} needs fewer topics than {b} {words}, {design}"] = fewer(
                    kind, design, a, b
                )
    sentences = []
    for claim, holds in tests.items():
        missing = [r.title for r in results if not holds(r)]
        sentences.append(
            f"{claim}: {len(results) - len(missing)} of {len(results)}"
            + (f" (not {'; '.join(missing)})" if missing else "")
        )
    return sentences


def main(argv: Sequence[str] | None = None) -> int:
    """Repeat the experiments, and print which claims hold."""
    args = arguments(__doc__.splitlines()[0], argv, trials=5000)
    items = load(args.data, args.jobs).items()
    results = list(spread(partial(experiment, args.trials, args.seed), items, args.jobs))
    show(results)
    print("\nThe claims, over the six sets of scores", *claims(results), sep="\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
