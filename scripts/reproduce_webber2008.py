"""Reproduce Webber, Moffat and Zobel, Score standardization for inter-collection comparison.

This is the paper of SIGIR 2008. The systems of TREC 2004's Robust track ran on four collections of
topics, and standardization makes their scores comparable across these collections.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from pathlib import Path

import numpy as np
from experiment import Compared, Scores, arguments, published_factors, report, score_runs, table
from paper_statistics import drmse, factor_stability, self_false_positives

from ir_std.analysis import kendall_tau_b, standardize_matrix
from ir_std.factors.formats import PUBLISHED_NAMES as METRICS
from ir_std.schemes import get_scheme

TOPICS = {
    "T7": range(351, 401),
    "T8": range(401, 451),
    "T03": range(601, 651),
    "T04": [topic for topic in range(651, 701) if topic != 672],
}
"""Topics of the four collections: TREC-7 and TREC-8 ad hoc, Robust 2003 and 2004."""

ORIGINAL = {"T7": "trec7.adhoc", "T8": "trec8.adhoc", "T03": "trec2003.rob"}
"""Published factors from the systems that first ran on the topics (T04: those of 2004)."""

PAIRS = tuple(combinations(TOPICS, 2))
SIZES = (2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 40, 50, 60, 70, 77)


def raw_scores(data: Path, measure: str = "AP") -> dict[str, np.ndarray]:
    """Return the 2004 systems' scores on each collection, (n_topics, 110)."""
    scores = table(data, "robust04", measure)
    return {name: scores.at(topics) for name, topics in TOPICS.items()}


def standardized(data: Path, measure: str = "AP") -> dict[str, np.ndarray]:
    """Standardize the scores by the systems that first ran on the topics."""
    raw = raw_scores(data, measure)
    result = {"T04": standardize_matrix(raw["T04"])}
    for name, stem in ORIGINAL.items():
        mean, sd = published_factors(data, stem, measure, TOPICS[name])
        result[name] = get_scheme("N").apply(raw[name], mean=mean, sd=sd)
    return {name: result[name] for name in TOPICS}


def table1(data: Path) -> list[Compared]:
    """Compare the mean and standard deviation of AP for TREC-8's systems and topics."""
    published = {
        "READWARE2": (0.469, 0.224),
        "Flab8atdn": (0.324, 0.220),
        "ric8tpx": (0.269, 0.219),
        "UT803": (0.176, 0.185),
        "403": (0.708, 0.226),
        "430": (0.486, 0.217),
        "414": (0.203, 0.108),
        "401": (0.048, 0.090),
    }
    systems = score_runs(data, "trec8-adhoc", ["AP"], only=published)["AP"]
    mean_and_sd = {
        system: (ap.mean(), ap.std(ddof=1))
        for system, ap in zip(systems.systems, systems.values.T, strict=True)
    }
    topics = [name for name in published if name not in mean_and_sd]
    means, sds = published_factors(data, "trec8.adhoc", "AP", topics)
    mean_and_sd.update(zip(topics, zip(means[:, 0], sds[:, 0], strict=True), strict=True))
    return [
        Compared(f"{name} {what}", computed, printed, 3)
        for name, pair in published.items()
        for what, computed, printed in zip(("mean", "sd"), mean_and_sd[name], pair, strict=True)
    ]


def table2(data: Path) -> list[Compared]:
    """Correlate mean sAP under the original and under the 2004 reference systems."""
    published = {"T7": (0.998, 0.969), "T8": (0.998, 0.962), "T03": (0.998, 0.970)}
    raw, original = raw_scores(data), standardized(data)
    rows = []
    for name, (pearson, tau) in published.items():
        a, b = original[name].mean(axis=0), standardize_matrix(raw[name]).mean(axis=0)
        rows += [
            Compared(f"{name} Pearson", np.corrcoef(a, b)[0, 1], pearson, 3),
            Compared(f"{name} Kendall", float(kendall_tau_b(a, b)), tau, 3),
        ]
    return rows


def drift(scores: dict[str, np.ndarray], published: Sequence[float]) -> list[Compared]:
    """Compute dRMSE between all pairs of collections (Tables 3 and 5)."""
    return [
        Compared(f"{a}-{b}", float(drmse(scores[a], scores[b])), printed, 3)
        for (a, b), printed in zip(PAIRS, published, strict=True)
    ]


def table3(data: Path) -> list[Compared]:
    """Compute the dRMSE of mean AP between collections."""
    return drift(raw_scores(data), (0.627, 1.857, 1.285, 1.387, 0.859, 0.583))


def table4(data: Path) -> list[Compared]:
    """Count systems with a significantly better AP on one collection than on another."""
    published = {
        ("T8", "T7"): 2,
        ("T03", "T7"): 103,
        ("T03", "T8"): 57,
        ("T03", "T04"): 2,
        ("T04", "T7"): 61,
        ("T04", "T8"): 8,
    }
    raw = raw_scores(data)
    return [
        Compared(
            f"{a} > {b}",
            int(self_false_positives(raw[a], raw[b]).sum()),
            published.get((a, b), 0),
            0,
        )
        for a, b in permutations(TOPICS, 2)
    ]


def table5(data: Path) -> list[Compared]:
    """Compute the dRMSE of mean sAP between collections."""
    return drift(standardized(data), (0.320, 0.342, 0.373, 0.406, 0.397, 0.398))


def table6(data: Path) -> list[Compared]:
    """Average the scores over all systems and topics of each collection."""
    published = {
        "P@10": (0.452, 0.450, 0.466, 0.434),
        "AP": (0.212, 0.244, 0.327, 0.293),
        "sAP": (0.516, 0.503, 0.517, 0.500),
    }
    scores = {"P@10": raw_scores(data, "P@10"), "AP": raw_scores(data), "sAP": standardized(data)}
    return [
        Compared(f"{measure} {name}", scores[measure][name].mean(), printed, 3)
        for measure, row in published.items()
        for name, printed in zip(TOPICS, row, strict=True)
    ]


def section4(data: Path) -> list[Compared]:
    """Compute Kendall's tau between rankings of the 2004 systems."""
    raw, std = raw_scores(data), standardized(data)
    t03, t04 = raw["T03"].mean(axis=0), raw["T04"].mean(axis=0)
    return [
        Compared("T03, AP and sAP", float(kendall_tau_b(t03, std["T03"].mean(axis=0))), 0.919, 3),
        Compared("AP, T03 and T04", float(kendall_tau_b(t03, t04)), 0.742, 3),
    ]


def quartiles(trec8: Scores) -> list[Compared]:
    """Compute the quartiles of all sAP scores of TREC-8's own systems."""
    computed = np.quantile(standardize_matrix(trec8.values), (0.25, 0.5, 0.75))
    return [
        Compared(f"{what} of sAP", float(value), printed, 2)
        for what, value, printed in zip(
            ("lower quartile", "median", "upper quartile"),
            computed,
            (0.26, 0.50, 0.74),
            strict=True,
        )
    ]


def stability_curve(
    data: Path, sizes: Sequence[int] = SIZES, samples: int = 2000, seed: int = 0
) -> np.ndarray:
    """Compute Figure 4, tau between T03 rankings by sampled and by all 78 systems.

    Return an array of shape (n_sizes, 3), which has the 1st, 50th and 99th percentile of the
    samples.
    """
    ranked = raw_scores(data)["T03"]
    first = table(data, "robust03", "AP").at(TOPICS["T03"])
    return np.array(
        [
            np.quantile(
                factor_stability(ranked, first, size, samples=samples, seed=seed), (0.01, 0.5, 0.99)
            )
            for size in sizes
        ]
    )


@dataclass(frozen=True)
class Halves:
    """Means over random halvings of a collection's topics, raw and standardized."""

    drmse: tuple[float, float]
    false_positives: tuple[float, float]
    """Share of systems that differ significantly from themselves (two-sided at 0.05)."""
    tau: float
    """Kendall's tau between the raw and the standardized ranking on all topics."""


def standardize_trec8(data: Path, metric: str, scores: Scores) -> np.ndarray:
    """Standardize TREC-8's scores by the published factors."""
    mean, sd = published_factors(data, "trec8.adhoc", metric, scores.topics)
    return get_scheme("N").apply(scores.values, mean=mean, sd=sd)


def halves(raw: np.ndarray, std: np.ndarray, trials: int, seed: int = 0) -> Halves:
    """Halve a collection's topics at random, ``trials`` times, and compare the halves."""
    rng = np.random.default_rng(seed)
    n = len(raw)
    order = rng.random((trials, n)).argsort(axis=1)
    drifts, errors = [], []
    for x in (raw, std):
        first, second = x[order[:, : n // 2]], x[order[:, n // 2 :]]
        drifts.append(float(drmse(first, second).mean()))
        errors.append(
            float(self_false_positives(first, second, 0.05, alternative="two-sided").mean())
        )
    tau = float(kendall_tau_b(raw.mean(axis=0), std.mean(axis=0)))
    return Halves((drifts[0], drifts[1]), (errors[0], errors[1]), tau)


def main(argv: Sequence[str] | None = None) -> int:
    """Make the tables and figures; return 0 if they agree with the published ones."""
    args = arguments(__doc__.splitlines()[0], argv, trials=2000)
    data = args.data
    tables = {
        "Table 1: AP of TREC-8": table1,
        "Table 2: which reference systems": table2,
        "Table 3: dRMSE of AP": table3,
        "Table 4: false positives of AP": table4,
        "Table 5: dRMSE of sAP": table5,
        "Table 6: mean scores": table6,
        "Section 4: tau of rankings": section4,
    }
    agree = [report(title, compute(data)) for title, compute in tables.items()]

    by_metric = score_runs(data, "trec8-adhoc", list(METRICS.values()), args.jobs)
    trec8 = {name: by_metric[measure] for name, measure in METRICS.items()}
    agree.append(report("Quartiles over TREC-8's 6,450 scores", quartiles(trec8["AP"])))

    curve = stability_curve(data, samples=args.trials, seed=args.seed)
    lowest = dict(zip(SIZES, curve[:, 0].tolist(), strict=True))
    print(
        f"\nFigure 4: tau to the ranking by all 78 systems, {args.trials} samples per size; with 5 "
        f"systems the lowest\npercent is {lowest[5]:.3f}, which must beat 0.742: "
        f"{'it does' if lowest[5] > 0.742 else 'it does not'}"
    )
    agree.append(lowest[5] > 0.742)
    for size, (low, median, _) in zip(SIZES, curve, strict=True):
        print(f"{size:3} systems: lowest percent {low:.3f}, median {median:.3f}")

    raw8 = {name: scores.values for name, scores in trec8.items()}
    std8 = {name: standardize_trec8(data, name, scores) for name, scores in trec8.items()}
    rows = {name: halves(raw8[name], std8[name], args.trials, args.seed) for name in METRICS}
    print(
        f"\nTREC-8's topics halved at random {args.trials} times, 129 systems, published "
        "factors; not in the paper\n"
        "metric   dRMSE raw      N   systems unlike themselves (0.05) raw      N   tau(raw, N)"
    )
    for name, row in rows.items():
        print(
            f"{name:7}  {row.drmse[0]:9.3f}  {row.drmse[1]:5.3f}   {row.false_positives[0]:36.3f}"
            f"  {row.false_positives[1]:5.3f}  {row.tau:12.3f}"
        )

    print(f"\n{sum(agree)} of {len(agree)} tables agree with the paper at every printed digit")
    return 0 if all(agree) else 1


if __name__ == "__main__":
    raise SystemExit(main())
