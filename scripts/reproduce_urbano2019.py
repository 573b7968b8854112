"""Reproduce Urbano, Lima and Hanjalic, A new perspective on score standardization (SIGIR 2019).

The script measures how each scheme changes rankings and significance tests on random samples of
topics. It measures these changes within one collection, and between two collections that share no
topic.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from experiment import Compared, arguments, published_figures, report, spread, table
from paper_statistics import two_sample_p_values

from ir_std.analysis import discriminative_power, kendall_tau_b, standardize_matrix, tau_ap_b
from ir_std.analysis.means import standard_error

COLLECTIONS = {
    "robust04": range(601, 701),
    "terabyte04-06": range(701, 851),
}
MEASURES = ("AP", "nDCG")
SCHEMES = ("raw", "N", "U", "z", "E")
ALPHAS = np.array([i * step for step in (0.001, 0.01) for i in range(1, 10)] + [0.1])
TOPICS = 50
"""Topics in a sample."""
CHUNK = 20
"""Number of trials per task; each task has its own seed, so results do not depend on ``--jobs``."""

PUBLISHED_ALPHAS = (0.001, 0.01, 0.05)
PUBLISHED_TAU, PUBLISHED_POWER = (
    {tuple(key.split()): row for key, row in published_figures("urbano2019")[name].items()}
    for name in ("tau", "power")
)
"""Published figures of each scheme; power has one figure for each of PUBLISHED_ALPHAS."""


@dataclass(frozen=True)
class Trials:
    """Results of each trial, for each of SCHEMES (second axis) and ALPHAS (third axis)."""

    tau: np.ndarray
    tau_ap: np.ndarray
    power: np.ndarray
    type1: np.ndarray | None = None


def load(data: Path, collection: str, measure: str) -> np.ndarray:
    """Return raw and standardized scores, (n_schemes, n_topics, n_systems).

    The factors of each topic come from the scores of all systems on the topic.
    """
    scores = table(data, collection, measure)
    raw = scores.at(t for t in scores.topics if int(t) in COLLECTIONS[collection])
    return np.stack([raw if s == "raw" else standardize_matrix(raw, scheme=s) for s in SCHEMES])


def draws(seed: np.random.SeedSequence, count: int, n: int) -> np.ndarray:
    """Draw ``count`` random orders of ``n`` topics."""
    return np.random.default_rng(seed).random((count, n)).argsort(axis=1)


def tau_ap_both_ways(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Compute tau_AP,b, the mean of AP correlation in both directions."""
    return (tau_ap_b(a, b) + tau_ap_b(b, a)) / 2


def within_chunk(scores: np.ndarray, task: tuple[np.random.SeedSequence, int]) -> Trials:
    """Compare standardized with raw rankings on samples of 50 topics; test all pairs."""
    topics = draws(*task, scores.shape[1])[:, :TOPICS]
    samples = [x[topics] for x in scores]
    means = [sample.mean(axis=1) for sample in samples]
    return Trials(
        np.stack([kendall_tau_b(means[0], y) for y in means], axis=1),
        np.stack([tau_ap_both_ways(means[0], y) for y in means], axis=1),
        np.stack([discriminative_power(sample, ALPHAS) for sample in samples], axis=1),
    )


def between_chunk(scores: np.ndarray, task: tuple[np.random.SeedSequence, int]) -> Trials:
    """Compare ranks and run Welch's tests between two disjoint halves of the topics."""
    n = scores.shape[1]
    size = min(n // 2, TOPICS)
    topics = draws(*task, n)
    firsts, seconds = topics[:, :size], topics[:, size : 2 * size]
    tau, tau_ap, power, type1 = [], [], [], []
    for x in scores:
        first, second = x[firsts], x[seconds]
        a, b = first.mean(axis=1), second.mean(axis=1)
        tau.append(kendall_tau_b(a, b))
        tau_ap.append(tau_ap_both_ways(a, b))
        p = two_sample_p_values(first, second)
        same = np.diagonal(p, axis1=1, axis2=2)
        rejected = _counts(p.reshape(len(p), -1))
        false = _counts(same)
        m = same.shape[1]
        type1.append(false / m)
        power.append((rejected - false) / (m * (m - 1)))
    return Trials(*(np.stack(v, axis=1) for v in (tau, tau_ap, power, type1)))


def _counts(p: np.ndarray) -> np.ndarray:
    """Count p values below each level by trial, shape (n_trials, n_alphas)."""
    return np.stack([np.count_nonzero(p < alpha, axis=1) for alpha in ALPHAS], axis=1)


def run(kind: str, scores: np.ndarray, trials: int, seed: int = 0, jobs: int = 1) -> Trials:
    """Compute all trials of an experiment, ``'within'`` or ``'between'``."""
    counts = [min(CHUNK, trials - start) for start in range(0, trials, CHUNK)]
    tasks = zip(np.random.SeedSequence(seed).spawn(len(counts)), counts, strict=True)
    chunk = {"within": within_chunk, "between": between_chunk}[kind]
    chunks = list(spread(partial(chunk, scores), tasks, jobs))
    tau, tau_ap, power = (
        np.concatenate([getattr(c, name) for c in chunks]) for name in ("tau", "tau_ap", "power")
    )
    type1 = [c.type1 for c in chunks if c.type1 is not None]
    return Trials(tau, tau_ap, power, np.concatenate(type1) if type1 else None)


def compared(key: tuple[str, str], trials: Trials) -> list[Compared]:
    """Compare means within a collection with published figures (three standard errors)."""
    level = [int(np.argmin(np.abs(ALPHAS - alpha))) for alpha in PUBLISHED_ALPHAS]
    cells = [
        (f"tau {s}", trials.tau[:, SCHEMES.index(s)], value)
        for s, value in PUBLISHED_TAU[key].items()
    ]
    cells += [
        (f"power {s} at {alpha}", trials.power[:, SCHEMES.index(s), level[k]], row[k])
        for s, row in PUBLISHED_POWER[key].items()
        for k, alpha in enumerate(PUBLISHED_ALPHAS)
    ]
    return [
        Compared(what, values.mean(), value, 4, 3 * standard_error(values))
        for what, values, value in cells
    ]


def print_between(title: str, trials: Trials) -> None:
    """Print the results of the experiment between collections."""
    if trials.type1 is None:
        raise ValueError("these trials use one collection")
    level = [int(np.argmin(np.abs(ALPHAS - alpha))) for alpha in PUBLISHED_ALPHAS]
    print(
        f"\nBetween collections: {title}\n{'':9}tau  tau_ap   Type I errors at 0.001/0.01/0.05 "
        "(standard error over trials)   power at 0.001/0.01/0.05"
    )
    for k, scheme in enumerate(SCHEMES):
        type1 = (f"{v.mean():.4f} ({standard_error(v):.4f})" for v in trials.type1[:, k, level].T)
        power = trials.power[:, k].mean(axis=0)[level]
        print(
            f"{scheme:4}  {trials.tau[:, k].mean():.4f}  {trials.tau_ap[:, k].mean():.4f}   "
            f"{'  '.join(type1)}   {'  '.join(f'{v:7.4f}' for v in power)}"
        )


def main(argv: Sequence[str] | None = None) -> int:
    """Repeat the experiments; return 0 if they agree with the published figures."""
    args = arguments(__doc__.splitlines()[0], argv, trials=10_000)
    trials_of: dict[str, dict[tuple[str, str], Trials]] = {"within": {}, "between": {}}
    agree = []
    for key in ((c, m) for c in COLLECTIONS for m in MEASURES):
        scores = load(args.data, *key)
        for kind, results in trials_of.items():
            results[key] = run(kind, scores, args.trials, args.seed, args.jobs)
        if key in PUBLISHED_TAU:
            agree.append(
                report(
                    f"Within {key[0]}, {key[1]}, {args.trials} trials",
                    compared(key, trials_of["within"][key]),
                )
            )
        print_between(f"{key[0]}, {key[1]}", trials_of["between"][key])
    print(
        f"\n{sum(agree)} of {len(agree)} tables agree with the paper within three standard "
        "errors plus the last printed digit"
    )
    return 0 if all(agree) else 1


if __name__ == "__main__":
    raise SystemExit(main())
