"""Test the coverage of the intervals that ``ir_std agree`` prints, on real labels.

    python scripts/agreement_experiment.py           # six minutes on one core

The topics of a collection are the population. The true values are the values over all topics. The
script draws topics from the population. It draws with replacement from collections that have labels
of people and of a language model. It draws without replacement from collections with many topics.
In these collections, two measures replace the two judges, and the script also draws 60 of the
systems. It counts the draws without an interval, and leaves them out of the coverage.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from experiment import arguments, read_table, spread
from judges_experiment import (
    FEW_TOPICS_JUDGES,
    MODERN,
    PEOPLE,
    TRACKS,
    from_runs,
    from_tables,
    qrels_file,
)

from ir_std._arrays import Floats, Ints
from ir_std.analysis.agreement import Interval, kappa_interval, order_agreement
from ir_std.reporting.agreement import compare_labels
from ir_std.trec.inputs import as_qrels

SIZES = (25, 50)
"""Numbers of topics in a draw."""
MANY_TOPICS = {
    "robust04": ("scores/robust04/AP.csv", "scores/robust04/P@10.csv"),
    "blog08": ("more-scores/blog08/AP.csv", "more-scores/blog08/P@10.csv"),
}
"""Collections with 100 topics or more, and two measures that stand for two judges."""
MOST_SYSTEMS = 60
WITHOUT_REPLACEMENT_FROM = 100
"""Number of topics that a collection needs so that the script draws without replacement."""
SELDOM = 0.1
"""Share of draws that must have an interval, so that the script computes the coverage."""
FIGURES = ("tau", "gap", "r")
LABELS = [*((name, FEW_TOPICS_JUDGES[0]) for name in TRACKS), ("dl23-passage", "gpt4")]
"""Collections whose labels the script compares, and the name of the model that labeled."""


class Case(NamedTuple):
    """Scores of the same systems on the same topics under two judges, without NaN."""

    collection: str
    measure: str
    first: Floats
    second: Floats


def cases(data: Path) -> Iterator[Case]:
    """Yield scores under people's and a model's labels, and scores for two measures."""
    for name in (*TRACKS, *(f"{name}-modern" for name in MODERN)):
        for case in from_runs(data, name, FEW_TOPICS_JUDGES[:1]):
            yield _complete(case.collection, case.measure, case.people, case.model)
    for case in from_tables(data):
        yield _complete(case.collection, case.measure, case.people, case.model)
    for name, files in MANY_TOPICS.items():
        one, other = (read_table(data / file) for file in files)
        columns = [other.systems.index(system) for system in one.systems]
        yield _complete(name, "AP and P@10", one.values, other.at(one.topics)[:, columns])


def _complete(collection: str, measure: str, first: Floats, second: Floats) -> Case:
    known = ~np.isnan(first + second).any(axis=1)
    return Case(collection, measure, first[known], second[known])


def draw_topics(random: np.random.Generator, n_topics: int, size: int) -> Ints:
    """Draw topics; if there are few, draw with replacement."""
    drawn: Ints = random.choice(n_topics, size, replace=n_topics < WITHOUT_REPLACEMENT_FROM)
    return drawn


def order_coverage(trials: int, seed: int, case: Case) -> Floats:
    """Compute the share of draws with an interval, and the coverage of the intervals.

    The result has the shape (sizes, 2, figures). Coverage is NaN if fewer than one draw in ten has
    an interval.
    """
    return np.array([_coverage_of(case, size, trials, seed) for size in SIZES])


def _coverage_of(case: Case, size: int, trials: int, seed: int) -> Floats:
    random = np.random.default_rng(seed)
    n_systems = case.first.shape[1]
    held = np.full((trials, len(FIGURES)), np.nan)
    truth = None
    for trial in range(trials):
        systems = random.choice(n_systems, min(n_systems, MOST_SYSTEMS), replace=False)
        x, y = case.first[:, systems], case.second[:, systems]
        topics = draw_topics(random, len(x), size)
        found = order_agreement(x[topics], y[topics])
        if truth is None or n_systems > MOST_SYSTEMS:
            truth = order_agreement(x, y)
        for i, name in enumerate(FIGURES):
            interval = getattr(found, name)
            if not np.isnan(interval.low):
                held[trial, i] = holds(interval, getattr(truth, name).value)
    printed = ~np.isnan(held)
    share = printed.mean(axis=0)
    often = np.nansum(held, axis=0) / np.maximum(printed.sum(axis=0), 1)
    return np.array([share, np.where(share >= SELDOM, often, np.nan)])


def holds(interval: Interval, truth: float) -> bool:
    """Check whether an interval contains the truth, up to rounding."""
    return interval.low - 1e-9 <= truth <= interval.high + 1e-9


def kappa_coverage(data: Path, collection: str, judge: str, trials: int, seed: int) -> Floats:
    """Compute the coverage of the interval of quadratic kappa, by number of topics."""
    first, second = (as_qrels(qrels_file(data, collection, who)) for who in (PEOPLE, judge))
    topics = tuple(t for t in first.topics if t in second.positions)
    confusion, _ = compare_labels((first, second), topics)
    truth = kappa_interval(confusion, "quadratic").value
    random = np.random.default_rng(seed)
    return np.array(
        [
            np.mean([holds(_kappa_of(random, confusion, size), truth) for _ in range(trials)])
            for size in SIZES
        ]
    )


def _kappa_of(random: np.random.Generator, confusion: Ints, size: int) -> Interval:
    return kappa_interval(confusion[draw_topics(random, len(confusion), size)], "quadratic")


def describe(shares: Floats) -> str:
    """Format a mean, with the smallest and the largest value; ``-`` if all are NaN."""
    known = shares[~np.isnan(shares)]
    if not known.size:
        return "-"
    return f"{known.mean():.3f} ({known.min():.3f}, {known.max():.3f})"


def main(argv: Sequence[str] | None = None) -> None:
    """Print the tables."""
    args = arguments(__doc__.splitlines()[0], argv, trials=100)
    listed = list(cases(args.data))
    found = list(spread(partial(order_coverage, args.trials, args.seed), listed, args.jobs))
    print("| measure | topics | printed | tau | gap | r |")
    for measure in dict.fromkeys(case.measure for case in listed):
        rows = np.array([row for c, row in zip(listed, found, strict=True) if c.measure == measure])
        for n, printed, coverage in zip(SIZES, *rows.transpose(2, 1, 3, 0), strict=True):
            of_tau, of_others = printed[0].mean(), printed[1].mean()
            cells = [f"{of_tau:.2f}, {of_others:.2f}", *map(describe, coverage)]
            print(f"| {measure} | {n} | {' | '.join(cells)} |")
    kappas = [
        kappa_coverage(args.data, collection, judge, args.trials, args.seed)
        for collection, judge in LABELS
    ]
    for i, n in enumerate(SIZES):
        print(f"kappa, {n} topics: {describe(np.array(kappas)[:, i])}")


if __name__ == "__main__":
    main()
