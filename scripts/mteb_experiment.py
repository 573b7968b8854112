#!/usr/bin/env python3
"""Test how precise places on a leaderboard of MTEB are, and the effect of missing tasks.

    python scripts/mteb_experiment.py            # four minutes on one core

uses the results that ir_std ships. It prints how the order of models differs between the raw mean,
the linked mean of N and Borda ranks, and how the order changes with zero-shot results only. It also
prints how well each method finds the places of models if some of their tasks are removed, and how
often intervals contain the true place in a simulation. If ``mteb`` can be imported (it needs
torch), the script compares means and Borda ranks with the values that MTEB's own code computes.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec

import numpy as np
from scipy.stats import kendalltau, rankdata

from ir_std._arrays import Floats, Ints, Mask
from ir_std.analysis import linked_scores, rank_intervals
from ir_std.analysis.means import Estimate
from ir_std.errors import pluralize
from ir_std.factors.benchmarks import SET, BenchmarkScores, benchmark_scores, borda_ranks, tasks_of
from ir_std.factors.catalog import load_factors
from ir_std.factors.schema import TRAINED
from ir_std.reporting.benchmark import MIN_SHARE
from ir_std.reporting.results import evaluate

ENGLISH = "MTEB(eng, v2)"
CHECKED = (ENGLISH, "MTEB(Multilingual, v2)")
SEED = 20080720
MOVES = 10


def mean_z(scores: Floats) -> Floats:
    """Return each model's mean of z-scores over the tasks that it has."""
    mean, sd = np.nanmean(scores, axis=1), np.nanstd(scores, axis=1, ddof=1)
    return np.asarray(np.nanmean((scores - mean[:, None]) / sd[:, None], axis=0))


def bradley_terry(scores: Floats) -> Floats:
    """Return each model's log strength (Bradley and Terry 1952), from its wins on tasks.

    These are Hunter's (2004) iterations. They start with one tie between each two models, so that
    all strengths are finite.
    """
    higher = (scores[:, :, None] > scores[:, None, :]).sum(axis=0).astype(float)
    ties = (scores[:, :, None] == scores[:, None, :]).sum(axis=0)
    wins = higher + (ties + 1) / 2
    np.fill_diagonal(wins, 0)
    games, won = wins + wins.T, wins.sum(axis=1)
    strength = np.ones(len(won))
    for _ in range(500):
        last = strength
        strength = won / (games / (strength[:, None] + strength)).sum(axis=1)
        strength /= np.exp(np.log(strength).mean())
        if np.abs(np.log(strength / last)).max() < 1e-9:
            break
    return np.log(strength)


METHODS: dict[str, Callable[[Floats], Floats]] = {
    "raw mean": lambda scores: np.nanmean(scores, axis=0),
    "Borda": lambda scores: -borda_ranks(scores).astype(float),
    "Bradley-Terry": bradley_terry,
    "mean z": mean_z,
    "linked N": lambda scores: linked_scores(scores).means,
}
"""Methods to order models by scores of shape (n_tasks, n_models); higher is better."""


def main() -> None:
    """Print the requested parts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], help="default: all")
    parser.add_argument("--trials", type=int, default=200, help="simulated trials (default 200)")
    args = parser.parse_args()
    for part in args.parts or PARTS:
        print(f"## {part}")
        for line in PARTS[part](args.trials):
            print(line)
        print()


def places(values: Floats) -> Floats:
    """Return ranks, of which 1 is the best; tied models share their mean rank."""
    return np.asarray(rankdata(-np.round(values, 12)))


def complete(read: BenchmarkScores) -> tuple[list[str], Floats]:
    """Return the models that have results for every task, and their scores."""
    known = ~np.isnan(read.scores).any(axis=0)
    names = [read.models[i] for i in np.flatnonzero(known).tolist()]
    return names, read.scores[:, known]


def order(_: int) -> Iterator[str]:
    """Yield how the order of models changes with the method, and how precise it is."""
    board = evaluate(f"{SET}/*", benchmark=ENGLISH)
    yield board.table().notes[0]
    ranks = [of_run[board.measures[1]] for of_run in board.ranks.values()]
    yield f"{sum(each.could_be_first for each in ranks)} of the {len(ranks)} models could be first"
    width = np.median([each.worst - each.best + 1 for each in ranks])
    yield f"median width of an interval: {width:g} of {len(ranks)} places"
    names, scores = complete(benchmark_scores(ENGLISH))
    by = {name: places(method(scores)) for name, method in METHODS.items()}
    yield f"Kendall's tau for {pluralize(len(names), 'model')} with all tasks"
    for one, other in (("raw mean", "linked N"), ("Borda", "linked N"), ("raw mean", "Borda")):
        yield f"| {one}, {other} | {kendalltau(by[one], by[other]).statistic:.3f} |"
    z = (scores - scores.mean(axis=1, keepdims=True)) / scores.std(axis=1, ddof=1, keepdims=True)
    tasks = benchmark_scores(ENGLISH).tasks
    yield "| model | raw mean | linked N | Borda | z farthest from its mean |"
    for k in np.argsort(-np.abs(by["raw mean"] - by["linked N"]), kind="stable")[:MOVES]:
        far = int(np.argmax(np.abs(z[:, k] - z[:, k].mean())))
        three = " | ".join(f"{by[name][k]:g}" for name in ("raw mean", "linked N", "Borda"))
        mean = z[:, k].mean()
        yield f"| {names[k]} | {three} | {z[far, k]:+.2f} on {tasks[far]} (mean {mean:+.2f}) |"
    first = int(np.argmax(z.mean(axis=0)))
    yield (
        f"first by the mean of z: {names[first]}, with {z[:, first].max():.2f} on "
        f"{tasks[int(z[:, first].argmax())]}; by linked N place {by['linked N'][first]:g} of these"
    )


def zero_shot(_: int) -> Iterator[str]:
    """Yield how the order changes if models' results on their training data are left out."""
    kinds = ("all", "zero-shot")
    boards = {kind: evaluate(f"{SET}/*", benchmark=ENGLISH, systems=kind) for kind in kinds}
    by = {
        kind: {run: of_run[board.measures[1]].rank for run, of_run in board.ranks.items()}
        for kind, board in boards.items()
    }
    read = benchmark_scores(ENGLISH)
    trained = dict(zip(read.models, (read.trained == TRAINED).sum(axis=0).tolist(), strict=True))
    both = [model for model in by["all"] if model in by["zero-shot"]]
    ranks = [rankdata([by[kind][m] for m in both]) for kind in kinds]
    yield f"{len(both)} of the {len(by['all'])} ranked models have zero-shot results"
    yield f"Kendall's tau of these: {kendalltau(*ranks).statistic:.3f}"
    moves = ranks[0] - ranks[1]
    yield "| model | place among these, all results | zero-shot | tasks trained on |"
    for k in np.argsort(-np.abs(moves), kind="stable")[:MOVES]:
        yield f"| {both[k]} | {ranks[0][k]:g} | {ranks[1][k]:g} | {trained[both[k]]} |"


def masking(_: int) -> Iterator[str]:
    """Yield how far the places of models move if some scores are removed."""
    read = benchmark_scores(ENGLISH)
    names, scores = complete(read)
    full = {name: places(method(scores)) for name, method in METHODS.items()}
    yield f"Mean error of places for {pluralize(len(names), 'model')} with all {len(scores)} tasks"
    yield f"| missing | {' | '.join(METHODS)} |"
    for title, masks in patterns(read, names, scores).items():
        errors: dict[str, list[float]] = {name: [] for name in METHODS}
        for mask in masks:
            rest = np.where(mask, np.nan, scores)
            masked = mask.any(axis=0)
            for name, method in METHODS.items():
                moved = np.abs(places(method(rest)) - full[name])[masked]
                errors[name].append(float(moved.mean()))
        yield f"| {title} | {' | '.join(f'{np.mean(errors[name]):.1f}' for name in METHODS)} |"


def patterns(read: BenchmarkScores, names: list[str], scores: Floats) -> dict[str, list[Mask]]:
    """Return several masks of removed results, (n_tasks, n_models), by kind of removal."""
    rng = np.random.default_rng(SEED)
    n_tasks, n_models = scores.shape
    hardest = np.argsort(scores.mean(axis=1))[: n_tasks // 3]
    missing = np.isnan(read.scores)
    share = missing.mean(axis=0)
    real = missing[:, (share > 0) & (share <= 1 - MIN_SHARE)]
    columns = [read.models.index(name) for name in names]
    trained = read.trained[:, columns] == TRAINED
    trained[:, trained.mean(axis=0) > MIN_SHARE] = False

    def draw(column: Callable[[], Mask], share: float = 0.5) -> Mask:
        mask = np.zeros(scores.shape, dtype=bool)
        for k in rng.permutation(n_models)[: round(share * n_models)]:
            mask[:, k] = column()
        return mask

    def random() -> Mask:
        return np.asarray(rng.permutation(n_tasks) < round(0.3 * n_tasks))

    def as_others() -> Mask:
        return np.asarray(real[:, rng.integers(real.shape[1])])

    return {
        "30% at random, of all": [draw(random, 1) for _ in range(20)],
        "30% at random, of half": [draw(random) for _ in range(20)],
        "the hardest third, of half": [
            draw(lambda: np.isin(np.arange(n_tasks), hardest)) for _ in range(20)
        ],
        "the tasks that another model lacks, of half": [draw(as_others) for _ in range(20)],
        "the tasks that a model was trained on": [trained],
    }


def coverage(trials: int) -> Iterator[str]:
    """Yield how often intervals from simulated tasks contain the true values."""
    _, scores = complete(benchmark_scores(ENGLISH))
    values = linked_scores(scores).values
    n_tasks = len(values)
    truth = values.mean(axis=0)
    residuals = (values - truth) * np.sqrt(n_tasks / (n_tasks - 1))
    rank = places(truth)
    top = rank <= 20
    rng = np.random.default_rng(SEED)
    inside: dict[str, list[Mask]] = {
        "at once": [],
        "bootstrap": [],
        "t of mean": [],
    }
    for _ in range(trials):
        # Models share half of the variance as in the data; the other half is independent.
        common = rng.normal(size=(n_tasks, n_tasks)) @ residuals / np.sqrt(n_tasks)
        own = rng.normal(size=values.shape) * residuals.std(axis=0)
        drawn = truth + np.sqrt(0.5) * (common + own)
        found = rank_intervals(drawn)
        inside["at once"].append((found.best <= rank) & (rank <= found.worst))
        inside["bootstrap"].append(_in_bootstrap(drawn, rank, rng))
        means = [Estimate.of(column).interval for column in drawn.T]
        inside["t of mean"].append(
            np.array([low <= t <= high for (low, high), t in zip(means, truth, strict=True)])
        )
    yield f"{pluralize(len(truth), 'model')}, {n_tasks} tasks, {trials} trials"
    yield "| 95% interval | covers | of the first 20 | all at once |"
    for name, each in inside.items():
        table = np.array(each)
        yield (
            f"| {name} | {table.mean():.3f} | {table[:, top].mean():.3f} | "
            f"{table.all(axis=1).mean():.3f} |"
        )


def _in_bootstrap(drawn: Floats, rank: Floats, rng: np.random.Generator) -> Mask:
    """Check whether true places are within the bootstrap intervals over tasks."""
    picks: Ints = rng.integers(len(drawn), size=(500, len(drawn)))
    low, high = np.percentile(
        [places(drawn[pick].mean(axis=0)) for pick in picks], [2.5, 97.5], axis=0
    )
    return np.asarray((low <= rank) & (rank <= high))


def against_mteb(_trials: int) -> Iterator[str]:
    """Compare means and Borda ranks with MTEB's own code, on the same results."""
    if find_spec("mteb") is None:
        yield "mteb is not installed, so nothing is compared"
        return
    import polars as pl  # Polars comes with mteb.

    table = import_module("mteb.benchmarks._create_table")

    factors = load_factors(SET)
    assert factors.cells
    main_scores = factors.cells.main_scores()
    for name in CHECKED:
        read = benchmark_scores(name)
        records = []
        for task, rows in tasks_of(name).items():
            for row, scores in zip(rows, main_scores[factors.rows(rows)].tolist(), strict=True):
                _, split, *subset = row.split("/")
                records += [
                    (model, task, split, *(subset or ["default"]), value)
                    for model, value in zip(factors.systems, scores, strict=True)
                    if value == value
                ]
        columns = ["model_name", "task_name", "split", "subset", "score"]
        summary = table._create_summary_table(pl.DataFrame(records, schema=columns, orient="row"))
        theirs = dict(
            zip(*(summary.df[c].to_list() for c in ("Model", "Mean (Task)")), strict=True)
        )
        at = [read.models.index(model) for model in theirs]
        means = read.scores.mean(axis=0)[at]
        stated = np.array([np.nan if mean is None else mean for mean in theirs.values()])
        alone = int((np.isnan(means) != np.isnan(stated)).sum())
        # Round the means, because means of the same values in a different order would not tie.
        rounded = [
            (read.models[k], read.tasks[i], float(read.of_parts[i, k]))
            for i, k in np.argwhere(~np.isnan(read.of_parts)).tolist()
        ]
        long = pl.DataFrame(rounded, schema=["model_name", "task_name", "score"], orient="row")
        ranked = table._borda_rank_from_long(long, n_models=read.n_models)
        ranks = dict(zip(*(ranked[c].to_list() for c in ranked.columns), strict=True))
        ours = borda_ranks(read.of_parts, read.n_models).tolist()
        differ = sum(rank != ranks[m] for m, rank in zip(read.models, ours, strict=True))
        yield (
            f"{name}: for {alone} of {pluralize(len(theirs), 'model')}, only one program has a "
            f"mean. The other means differ by at most {np.nanmax(np.abs(means - stated)):.1e}. "
            f"The Borda ranks of {pluralize(differ, 'model')} differ"
        )


PARTS: dict[str, Callable[[int], Iterator[str]]] = {
    "order": order,
    "zero-shot": zero_shot,
    "masking": masking,
    "coverage": coverage,
    "mteb": against_mteb,
}

if __name__ == "__main__":
    main()
