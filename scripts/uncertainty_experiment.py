"""Whether intervals of standardized means hold their level, and what few systems cost.

Four checks, on real scores, by leaving out: coverage of the intervals between halves of TREC-8's
topics and teams; the errors told with few systems beside those seen (cf. Webber, Moffat and Zobel
2008, Section 5); scheme E and smoothed forms of it with few systems, on systems held out; and
normal theory beside the bootstrap on every shipped set that allows it, with the correlation of
topics that it needs.  Writes into out/uncertainty.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from reproduction import Scores, arguments, score_runs, spread, write_csv

import ir_std
from ir_std._arrays import Floats
from ir_std.analysis import bootstrap_covariance, normal_covariance, standardize_matrix
from ir_std.analysis.estimate import Estimate, mean_of_estimates
from ir_std.analysis.uncertainty import contrast_error
from ir_std.evaluation.uncertainty import team_of
from ir_std.factors.estimates import scores_by_system
from ir_std.schemes import normal_cdf

MEASURES = ("AP", "P@10", "nDCG")
SAMPLES = 200
"""Of a bootstrap: single intervals need not be exact here, only right on average."""
FEW = (5, 10, 20, 40)
KINDS = ("topics", "systems", "both", "difference")


def halves(random: np.random.Generator, items: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A random half of the items and the other one."""
    mixed = random.permutation(items)
    return mixed[: len(mixed) // 2], mixed[len(mixed) // 2 :]


def estimates(
    x: np.ndarray, by: np.ndarray, teams: np.ndarray, scheme: str
) -> tuple[Estimate, Estimate]:
    """The first run's mean and its difference from the second's, with errors by team."""
    y = standardize_matrix(x, by, scheme)
    y = y[~np.isnan(y).any(axis=1)]
    covariance = bootstrap_covariance(x, by, teams.tolist(), scheme, samples=SAMPLES)
    df = len(set(teams)) - 1
    return (
        Estimate.of(y[:, 0], contrast_error(covariance, [1, 0]), df),
        Estimate.of(y[:, 0] - y[:, 1], contrast_error(covariance, [1, -1]), df),
    )


def covered(scores: Scores, trials: int, seed: int, scheme: str) -> dict[str, float]:
    """How often 95 percent intervals hold between halves, by what was halved.

    Two halves are independent samples of what both were drawn from, so the interval of the
    difference of their means holds 0 in 95 of 100 trials.  The run's own team and that of the run
    it is compared with are never among the systems.
    """
    random = np.random.default_rng(seed)
    teams = np.array([team_of(tag) for tag in scores.systems])
    values, topics = scores.values, np.arange(len(scores.topics))
    hits = dict.fromkeys(KINDS, 0)
    for _ in range(trials):
        pair = random.choice(len(teams), 2, replace=False)
        others = ~np.isin(teams, teams[pair])
        split = [np.isin(teams, part) for part in halves(random, np.unique(teams[others]))]
        parts = halves(random, topics)

        def of(
            rows: np.ndarray, columns: np.ndarray, runs: np.ndarray = pair
        ) -> tuple[Estimate, Estimate]:
            return estimates(
                values[rows][:, runs], values[rows][:, columns], teams[columns], scheme
            )

        by_topics = [of(rows, others)[0] for rows in parts]
        by_systems = [of(topics, columns)[0] for columns in split]
        by_both = [of(rows, columns) for rows, columns in zip(parts, split, strict=True)]
        for kind, (a, b), half in (
            ("topics", by_topics, "topics"),
            ("systems", by_systems, "systems"),
            ("both", [e for e, _ in by_both], "half"),
            ("difference", [d for _, d in by_both], "half"),
        ):
            apart = mean_of_estimates([a, replace(b, mean=-b.mean)])
            hits[kind] += abs(apart.mean) <= getattr(apart, half)
    return {kind: n / trials for kind, n in hits.items()}


def few_systems(
    scores: Scores, trials: int, seed: int, scheme: str
) -> list[tuple[int, float, float]]:
    """For each number of systems the deviation of means over choices of them, seen and told."""
    random = np.random.default_rng(seed)
    runs = random.choice(scores.values.shape[1], 15, replace=False)
    x, rest = scores.values[:, runs], np.delete(scores.values, runs, axis=1)
    found = []
    for k in FEW:
        means, told = [], []
        for _ in range(trials):
            by = rest[:, random.choice(rest.shape[1], k, replace=False)]
            means.append(np.nanmean(standardize_matrix(x, by, scheme), axis=0))
            told.append(np.diag(bootstrap_covariance(x, by, scheme=scheme, samples=SAMPLES)))
        left = 1 - k / rest.shape[1]  # what is drawn of a finite number varies less
        seen = np.var(means, axis=0, ddof=1).mean() / left
        found.append((k, float(np.sqrt(seen)), float(np.sqrt(np.mean(told)))))
    return found


def share(x: Floats, by: Floats) -> Floats:
    """Scheme E."""
    return standardize_matrix(x, by, "E")


def middle(x: Floats, by: Floats) -> Floats:
    """The share of systems below, those with the same score counting half."""
    return (standardize_matrix(x, by, "E") + 1 - standardize_matrix(-x, -by, "E")) / 2


def shrunk(x: Floats, by: Floats) -> Floats:
    """E drawn towards 0.5 as if one more system stood in the middle."""
    n: int = by.shape[1]
    return (share(x, by) * n + 0.5) / (n + 1)


def kernel(x: Floats, by: Floats) -> Floats:
    """The distribution smoothed by a normal kernel, Silverman's bandwidth."""
    quartiles = np.subtract(*np.percentile(by, [75, 25], axis=1)) / 1.349
    deviation = by.std(axis=1, ddof=1)
    spread_ = np.where(quartiles > 0, np.minimum(deviation, quartiles), deviation)
    width = np.maximum(1.06 * spread_ * by.shape[1] ** -0.2, 1e-6)
    each = normal_cdf((x[:, :, None] - by[:, None, :]) / width[:, None, None])
    smoothed: Floats = each.mean(axis=-1)
    return smoothed


SMOOTHED: dict[str, tuple[Callable[..., Floats], Callable[..., Floats]]] = {
    "share": (share, share),
    "shrunk": (shrunk, share),
    "middle": (middle, middle),
    "kernel": (kernel, middle),
}
"""Forms of E, and what each estimates: the same of all the systems that are held out."""


def smoothing(scores: Scores, trials: int, seed: int) -> list[tuple[int, str, float, float]]:
    """For few systems the error of each form of E, by topic and of means."""
    random = np.random.default_rng(seed)
    found = []
    for k in FEW:
        errors: dict[str, list[tuple[float, float]]] = {name: [] for name in SMOOTHED}
        for _ in range(trials):
            order = random.permutation(scores.values.shape[1])
            by, x, held_out = np.split(scores.values[:, order], [k, k + 10], axis=1)
            for name, (form, target) in SMOOTHED.items():
                error = form(x, by) - target(x, held_out)
                errors[name].append(
                    (float((error**2).mean()), float((error.mean(axis=0) ** 2).mean()))
                )
        found += [(k, name, *np.sqrt(np.mean(e, axis=0)).tolist()) for name, e in errors.items()]
    return found


def normal_theory() -> list[tuple[str, str, int, float, float]]:
    """Of each set and default measure: systems, topics' correlation, error told over bootstrap's.

    The median over the systems, by the correlation that is assumed where none is known.
    """
    rows = []
    for name in ir_std.available_factors():
        factors = ir_std.load_factors(name)
        for measure in factors.default_measures:
            if measure not in factors.systems:
                continue
            x = scores_by_system(factors, measure)[1]
            x = x[:, ~np.isnan(x).any(axis=0)]
            x = x[np.ptp(x, axis=1) > 1e-6]
            mean, sd, n = x.mean(axis=1), x.std(axis=1, ddof=1), x.shape[1]
            alike = np.corrcoef(x)
            r = (alike.sum() - len(x)) / (len(x) * (len(x) - 1))
            drawn = np.diag(bootstrap_covariance(x, x, samples=SAMPLES))
            told = np.diag(normal_covariance(x, mean, sd, n))
            rows.append((name, measure, n, float(r), float(np.median(np.sqrt(told / drawn)))))
    return rows


def main(argv: Sequence[str] | None = None) -> int:
    """Do the four checks."""
    args = arguments(__doc__.splitlines()[0], argv, trials=1000)
    out = args.out / "uncertainty"
    scores = score_runs(args.data, "trec8-adhoc", MEASURES, args.jobs)

    tasks = [(m, s) for m in MEASURES for s in ("N", "U", "E")]
    print(
        "Coverage of 95% intervals between halves of TREC-8, standard error "
        f"{np.sqrt(0.95 * 0.05 / args.trials):.4f}\n{'':10}" + "".join(f"{k:>12}" for k in KINDS)
    )
    rows = []
    task = partial(_covered, scores, args.trials, args.seed)
    for (measure, scheme), found in zip(tasks, spread(task, tasks, args.jobs), strict=True):
        print(f"{measure:6} {scheme:3}" + "".join(f"{found[k]:12.4f}" for k in KINDS))
        rows.append((measure, scheme, *found.values()))
    write_csv(out / "coverage.csv", ["measure", "scheme", *KINDS], rows)

    print("\nDeviation of means over choices of few systems\n              systems  seen    told")
    rows = []
    for measure, scheme in tasks:
        for found in few_systems(scores[measure], args.trials // 5, args.seed, scheme):
            print(f"{measure:6} {scheme:3} {found[0]:10}  {found[1]:.4f}  {found[2]:.4f}")
            rows.append((measure, scheme, *found))
    write_csv(out / "few-systems.csv", ["measure", "scheme", "systems", "seen", "told"], rows)

    print(
        "\nForms of E by few systems: root mean square error on systems held out\n"
        "              systems  by topic  of means"
    )
    rows = []
    for measure in MEASURES:
        for found in smoothing(scores[measure], args.trials // 10, args.seed):
            print(f"{measure:6} {found[1]:7} {found[0]:6}  {found[2]:8.4f}  {found[3]:8.4f}")
            rows.append((measure, *found))
    write_csv(out / "smoothing.csv", ["measure", "systems", "form", "by topic", "of means"], rows)

    rows = normal_theory()
    print(
        "\nNormal theory over the bootstrap, and the correlation of topics\n"
        + "\n".join(
            f"{name:18} {measure:25} {n:4} systems  r {r:.2f}  ratio {ratio:.2f}"
            for name, measure, n, r, ratio in rows
        )
    )
    print(
        f"median correlation {np.median([r for *_, r, _ in rows]):.2f}, of AP "
        f"{np.median([r for _, m, _, r, _ in rows if m.startswith('AP')]):.2f}; median ratio "
        f"{np.median([ratio for *_, ratio in rows]):.2f}"
    )
    write_csv(
        out / "normal-theory.csv", ["set", "measure", "systems", "correlation", "ratio"], rows
    )
    print(f"\nTables are in {out}")
    return 0


def _covered(
    scores: dict[str, Scores], trials: int, seed: int, task: tuple[str, str]
) -> dict[str, float]:
    measure, scheme = task
    return covered(scores[measure], trials, seed, scheme)


if __name__ == "__main__":
    raise SystemExit(main())
