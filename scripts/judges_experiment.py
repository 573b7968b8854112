"""Compare the same systems under labels of people and of language models.

The script uses DL 2019, 2020, 2021 and 2023, and repeats everything for each judge and measure. It
prints how far a held-out system's means under the two judges differ, for raw scores and for scores
that are standardized with each judge's own factors. The held-out systems are random halves of the
systems, and the systems of 2020 to 2024. It also prints how well the orders and the scores agree,
on which topics the judges disagree, which topics have no spread, and how LLM re-rankers differ from
other systems.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from experiment import arguments, read_table, spread
from few_topics import favor_left, print_fallback, print_trials

import ir_std
from ir_std._arrays import Floats
from ir_std.analysis import (
    cohen_kappa,
    confusion_matrix,
    kendall_tau_b,
    standardize_matrix,
    tau_ap_b,
)
from ir_std.analysis.means import Estimate
from ir_std.reading.archives import run_sources
from ir_std.trec.files import read_qrels, read_run

SCALES = ("raw", "z", "N", "U", "E")
PEOPLE = "people"
JUDGES = ("umbrela-gpt4", "binary-gpt4", "binary-gpt4o", "exam-graded-gpt4")
MEASURES = ("nDCG@10", "AP", "P@10", "RR")
LEVELS = {PEOPLE: 2, "umbrela-gpt4": 2, "binary-gpt4": 1, "binary-gpt4o": 1, "exam-graded-gpt4": 4}
"""Lowest level at which AP counts a passage as relevant: the track's level and, for each judge, the
level that is nearest to it.
"""
TRACKS = ("dl19-passage", "dl20-passage", "dl21-passage")
TABLES = {"dl23-passage": {PEOPLE: "scores/dl23-passage", "gpt4": "more-scores/dl23-passage-gpt4"}}
"""Collections whose runs are not available, and the folders with their scores at level 1."""
FEW_TOPICS_JUDGES = ("umbrela-gpt4", "gpt4")
MODERN = ("dl19-passage", "dl20-passage")
LLM = r"rankgpt|rank-?zephyr|rgpt|rankvicuna|LLM|gpt35"
"""Pattern in the names of systems that re-rank with a generative language model."""


class Judged(NamedTuple):
    """Scores of a collection's systems for one measure under two judges, (topics, systems)."""

    collection: str
    judge: str
    measure: str
    topics: tuple[str, ...]
    systems: tuple[str, ...]
    people: Floats
    model: Floats

    @property
    def case(self) -> tuple[str, str, str]:
        """Name of the case in a table."""
        return self.collection, self.judge, self.measure


def measures_of(judge: str) -> list[str]:
    """Return the names of the measures in ir_measures; AP has the judge's level."""
    return [f"AP(rel={LEVELS[judge]})" if m == "AP" else m for m in MEASURES]


def qrels_file(data: Path, collection: str, judge: str) -> Path:
    """Return the labels of a judge."""
    name = f"{collection}.txt" if judge == PEOPLE else f"judges/{collection}.{judge}.txt"
    return data / "qrels" / name


def score(
    data: Path, name: str, judges: Sequence[str]
) -> dict[str, tuple[tuple[str, ...], tuple[str, ...], Floats]]:
    """Return the topics, the systems and, by judge, scores (measures, topics, systems)."""
    collection = name.removesuffix("-modern")
    evaluators = {
        judge: ir_std.StdEvaluator(
            [ir_std.parse_measure(m) for m in measures_of(judge)],
            qrels_file(data, collection, judge),
        )
        for judge in judges
    }
    tags: list[str] = []
    values: dict[str, list[Floats]] = {judge: [] for judge in judges}
    for source in run_sources([data / "runs" / f"{name}.tar.xz"]):
        tags.append(Path(source.name).name)
        run = read_run(source)
        for judge, evaluator in evaluators.items():
            values[judge].append(np.stack(list(evaluator.values(run).values())))
    topics = tuple(sorted(evaluators[PEOPLE].qrels.topics, key=int))
    scored = {}
    for judge, evaluator in evaluators.items():
        rows = [evaluator.qrels.positions[t] for t in topics]
        scored[judge] = topics, tuple(tags), np.stack(values[judge], axis=-1)[:, rows]
    return scored


def from_runs(data: Path, name: str, judges: Sequence[str] = JUDGES) -> Iterator[Judged]:
    """Yield each judge and measure of a collection whose runs are available."""
    scored = score(data, name, (PEOPLE, *judges))
    for judge in judges:
        topics, systems, model = scored[judge]
        people = scored[PEOPLE][2]
        for measure, x, y in zip(MEASURES, people, model, strict=True):
            yield Judged(name, judge, measure, topics, systems, x, y)


def from_tables(data: Path) -> Iterator[Judged]:
    """Yield each judge and measure of the collections for which only scores are available."""
    for collection, folders in TABLES.items():
        for judge in set(folders) - {PEOPLE}:
            for measure in MEASURES:
                one, other = (
                    read_table(data / folders[who] / f"{measure}.csv") for who in (PEOPLE, judge)
                )
                columns = [other.systems.index(system) for system in one.systems]
                yield Judged(
                    collection,
                    judge,
                    measure,
                    one.topics,
                    one.systems,
                    one.values,
                    other.at(one.topics)[:, columns],
                )


def on_scale(x: Floats, by: Floats, scale: str) -> Floats:
    """Return raw scores, or standardize them by other systems on the same topics."""
    return x if scale == "raw" else standardize_matrix(x, by, scale)


class Figures(NamedTuple):
    """Comparison of two judges by their scores for the same systems.

    ``gap`` is the mean absolute difference between a system's two means. ``gap_sd`` is ``gap``
    divided by the standard deviation of the means over systems. ``shift`` is the difference between
    the two judges' means over all systems, divided by the same standard deviation.
    """

    gap: float
    gap_sd: float
    shift: float
    tau: float
    tau_ap: float
    r: float


def compare(x: Floats, y: Floats) -> Figures:
    """Compare the scores of systems on topics under two judges; NaN is a missing score."""
    known = ~np.isnan(x + y).any(axis=1)
    x, y = x[known], y[known]
    means = x.mean(axis=0), y.mean(axis=0)
    gap = float(np.abs(means[0] - means[1]).mean())
    sd = (means[0].std(ddof=1) + means[1].std(ddof=1)) / 2
    return Figures(
        gap,
        gap / sd,
        abs(float(means[0].mean() - means[1].mean())) / sd,
        float(kendall_tau_b(*means)),
        float(tau_ap_b(*means)),
        float(np.corrcoef(x.ravel(), y.ravel())[0, 1]),
    )


def halves(trials: int, seed: int, judged: Judged) -> dict[str, Floats]:
    """Compute the figures of each trial, by scale.

    In each trial, a random half of the systems standardizes the other half.
    """
    random = np.random.default_rng(seed)
    n = len(judged.systems)
    found: dict[str, list[Figures]] = {scale: [] for scale in SCALES}
    for _ in range(trials):
        order = random.permutation(n)
        by, held = order[: n // 2], order[n // 2 :]
        for scale in SCALES:
            found[scale].append(
                compare(
                    *(on_scale(x[:, held], x[:, by], scale) for x in (judged.people, judged.model))
                )
            )
    return {scale: np.array(figures) for scale, figures in found.items()}


def held_out(own: Judged, later: Judged) -> dict[str, tuple[Floats, Floats]]:
    """Standardize the later systems' scores by the track's own systems, under both judges."""
    return {
        scale: (
            on_scale(later.people, own.people, scale),
            on_scale(later.model, own.model, scale),
        )
        for scale in SCALES
    }


def flat_topics(x: Floats, best: float = 1.0) -> tuple[int, int]:
    """Count topics without spread, and topics on which ``best`` is within one sd."""
    mean, sd = x.mean(axis=1), x.std(axis=1, ddof=1)
    spread_topics = sd > 1e-9
    near = np.divide(best - mean, sd, out=np.full(len(x), np.inf), where=spread_topics) < 1
    return int((~spread_topics).sum()), int(near.sum())


def disagreements(data: Path, judged: Judged) -> list[tuple[str, float, float, float]]:
    """Return quadratic kappa, tau and the mean gap of the systems' scores for each topic."""
    labels = [
        read_qrels(qrels_file(data, judged.collection, who)).judged
        for who in (PEOPLE, judged.judge)
    ]
    rows = []
    for i, topic in enumerate(judged.topics):
        both = [d for d in labels[0][topic] if d in labels[1][topic]]
        first, second = ([max(0, one[topic][d]) for d in both] for one in labels)
        kappa = cohen_kappa(confusion_matrix(first, second, 6), "quadratic")
        x, y = judged.people[i], judged.model[i]
        tau = float(kendall_tau_b(x, y))
        rows.append((topic, float(kappa), tau, float((y - x).mean())))
    return sorted(rows, key=lambda row: (np.nan_to_num(row[2], nan=-2.0), row[0]))


def kinds(judged: Judged, scores: tuple[Floats, Floats]) -> Estimate:
    """Estimate how much more the model favors LLM re-rankers than people do.

    For each topic, this is the mean difference (model minus people) for LLM re-rankers, minus the
    same difference for the other systems.
    """
    llm = np.array([bool(re.search(LLM, system)) for system in judged.systems])
    difference = scores[1] - scores[0]
    return Estimate.of(difference[:, llm].mean(axis=1) - difference[:, ~llm].mean(axis=1))


def print_halves(cases: Sequence[Judged], found: Sequence[dict[str, Floats]]) -> None:
    """Print means over random halves, and the largest Monte Carlo error of the gaps."""
    print(
        "\nMeans over random halves, with |people - model| of held-out systems in sd over systems"
    )
    print(
        f"{'':44}" + "".join(f"{scale:>8}" for scale in SCALES) + "   r raw     N   tau raw     N"
    )
    worst = 0.0
    for judged, by_scale in zip(cases, found, strict=True):
        means = {scale: Figures(*figures.mean(axis=0)) for scale, figures in by_scale.items()}
        errors = [f.std(axis=0, ddof=1) / np.sqrt(len(f)) for f in by_scale.values()]
        worst = max(worst, *(Figures(*error).gap_sd for error in errors))
        raw, n = means["raw"], means["N"]
        print(
            f"{judged.collection:14}{judged.judge:18}{judged.measure:12}"
            + "".join(f"{means[scale].gap_sd:8.2f}" for scale in SCALES)
            + f"{raw.r:8.2f}{n.r:6.2f}{raw.tau:10.2f}{n.tau:6.2f}"
        )
    print(f"largest Monte Carlo error of a gap: {worst:.3f}")


def print_modern(
    pairs: Sequence[tuple[Judged, Judged]],
) -> dict[tuple[str, str, str], dict[str, Figures]]:
    """Print figures for systems of 2020 to 2024, standardized by the tracks' own systems."""
    figures = {}
    print("\nSystems of 2020 to 2024: mean |people - model| of their means; LLM re-rankers favored")
    print(
        f"{'':44}"
        + "".join(f"{scale:>8}" for scale in SCALES)
        + "   tau raw     N   sd raw, N   LLM raw, N"
    )
    for own, later in pairs:
        scores = held_out(own, later)
        by_scale = {scale: compare(*x) for scale, x in scores.items()}
        figures[own.case] = by_scale
        favor = {scale: kinds(later, scores[scale]) for scale in SCALES}
        print(
            f"{own.collection:14}{own.judge:18}{own.measure:12}"
            + "".join(f"{by_scale[scale].gap:8.3f}" for scale in SCALES)
            + f"{by_scale['raw'].tau:10.2f}{by_scale['N'].tau:6.2f}"
            + f"{by_scale['raw'].gap_sd:6.1f}{by_scale['N'].gap_sd:6.1f}"
            + "".join(f"  {favor[s].mean:+.3f} ±{favor[s].topics:.3f}" for s in ("raw", "N"))
        )
    return figures


def print_kinds(cases: Sequence[Judged]) -> None:
    """Print whether labels favor the track's own LLM re-rankers (factors of all systems)."""
    print("\nThe track's own systems: LLM re-rankers favored, raw and by N")
    for judged in cases:
        favor = {
            scale: kinds(judged, (on_scale(x, x, scale), on_scale(y, y, scale)))
            for x, y in [(judged.people, judged.model)]
            for scale in SCALES
        }
        print(
            f"{judged.collection:14}{judged.judge:18}{judged.measure:12}"
            + "".join(f"  {favor[s].mean:+.3f} ±{favor[s].topics:.3f}" for s in ("raw", "N"))
        )


def print_limits(data: Path, cases: Sequence[Judged]) -> None:
    """Print the topics without spread, and the topics that the two judges judge differently."""
    print("\nTopics with equal scores; topics whose best score is within one sd (people)")
    for judged in cases:
        of_people, of_model = flat_topics(judged.people), flat_topics(judged.model)
        print(
            f"{judged.collection:14}{judged.judge:18}{judged.measure:12}"
            f"{of_model[0]:4} ({of_people[0]}){of_model[1]:6} ({of_people[1]})"
            f" of {len(judged.topics)}"
        )
    print("\nTopics on which the systems' orders differ most (nDCG@10): tau, kappa, gap")
    for judged in cases:
        if judged.measure == "nDCG@10":
            rows = disagreements(data, judged)
            words = "; ".join(
                f"{t}: {tau:+.2f}, {k:.2f}, {gap:+.2f}" for t, k, tau, gap in rows[:3]
            )
            below = sum(tau <= 0 for _, _, tau, _ in rows)
            topic, _, _, largest = max(rows, key=lambda row: abs(row[3]))
            print(
                f"{judged.collection:14}{judged.judge:18}{words}, tau <= 0 on {below} topics; "
                f"largest gap {largest:+.2f} on {topic}"
            )


def print_few_topics(
    pairs: Sequence[tuple[Judged, Judged]], cases: Sequence[Judged], trials: int, seed: int
) -> None:
    """Print estimates from a few human topics, and UMBRELA's or GPT-4's labels of all topics."""
    shown = [
        (f"{c.collection} {c.measure} {scale}", on_scale(c.people, c.people, scale),
         on_scale(c.model, c.model, scale))
        for c in cases
        if c.judge in FEW_TOPICS_JUDGES
        for scale in ("raw", "N")
    ]  # fmt: skip
    print_trials(shown, trials, seed)
    print_fallback([case for case in shown if " nDCG@10 " in case[0]], trials, seed)
    print("\nLLM re-rankers favored by UMBRELA's labels (nDCG@10, N): all labels, 15 human topics")
    for own, later in pairs:
        if own.measure == "nDCG@10" and own.judge == "umbrela-gpt4":
            people, model = held_out(own, later)["N"]
            llm = np.array([bool(re.search(LLM, system)) for system in later.systems])
            favored = favor_left(people, model, llm, 15, trials, seed)
            print(f"{own.collection:14}" + "{:+8.3f}{:+8.3f}".format(*favored))


def modern_pairs(data: Path, judges: Sequence[str]) -> list[tuple[Judged, Judged]]:
    """Return the tracks' own systems and the later systems, by judge and measure."""
    return [
        pair
        for name in MODERN
        for pair in zip(
            from_runs(data, name, judges), from_runs(data, f"{name}-modern", judges), strict=True
        )
    ]


def main(argv: Sequence[str] | None = None) -> None:
    """Print all tables."""
    args = arguments(__doc__.splitlines()[0], argv, trials=500)
    pairs = modern_pairs(args.data, JUDGES)
    cases = [
        *(own for own, _ in pairs),
        *(case for name in TRACKS if name not in MODERN for case in from_runs(args.data, name)),
        *from_tables(args.data),
    ]
    found = list(spread(partial(halves, args.trials, args.seed), cases, args.jobs))
    print_halves(cases, found)
    print_modern(pairs)
    print_kinds([c for c in cases if c.collection in TABLES])
    print_limits(args.data, cases)
    print_few_topics(pairs, cases, args.trials, args.seed)


if __name__ == "__main__":
    main()
