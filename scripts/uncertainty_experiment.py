"""Whether intervals of standardized means hold their level, and what other systems change.

Worlds made of real scores: topics and systems are drawn, with replacement, from those of a
collection, whose own means are the truth.  Systems are drawn by team or one by one, and the
intervals know the teams, do not know them, or know means and deviations alone.  Beside coverage:
the design effects that stand for teams, what the best and the weakest run lose with few systems,
collections that share their systems, the errors told beside those seen (cf. Webber, Moffat and
Zobel 2008, Section 5), and smoothed forms of scheme E.  Writes into out/uncertainty.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from reproduction import Scores, arguments, score_runs, spread, write_csv
from scipy.stats import ttest_ind

import ir_std
from ir_std._arrays import Floats, Ints
from ir_std.analysis import bootstrap_covariance, normal_covariance, standardize_matrix
from ir_std.analysis.estimate import Estimate
from ir_std.analysis.influence import (
    DESIGN_EFFECT,
    covariance_by_design,
    covariance_by_team,
    design_effect,
    inflation,
    influence,
)
from ir_std.evaluation.uncertainty import Influences, SystemsCovariance, joint_errors, team_of
from ir_std.factors.estimates import means_of_systems, scores_by_system
from ir_std.schemes import get_scheme, normal_cdf

MEASURES = ("AP", "P@10", "nDCG")
SAMPLES = 200
"""Of a bootstrap: single intervals need not be exact here, only right on average."""
FEW = (5, 10, 20, 40)
SETS = (
    "trec8-adhoc",
    "robust04",
    "dl19-passage",
    "dl19-passage-modern",
    "ntcir13-www-english",
)
"""The collections whose topics and systems are drawn."""
CALIBRATION = ("trec8-adhoc", "robust05", "covid-round1", "covid-round5", "dl21-passage")
"""The sets that the constants of :mod:`ir_std.analysis.influence` were chosen on."""
OTHERS = (
    "blog06",
    "blog08",
    "covid-round2",
    "covid-round3",
    "covid-round4",
    "dl19-passage",
    "dl20-passage",
    "dl22-passage",
    "dl23-passage",
)
"""Those that they were checked on."""
DRAWS = ("by team", "one by one")
SIZES = (8, 15, 30, 100)
TOPICS = (25, 43, 50)
SCHEMES = ("N", "z", "U", "E")
KNOWN = ("teams", "scores", "moments")
"""What is known of the systems: their teams, only their scores, only means and deviations."""
SPLITS = ("same", "systems", "teams", "30 each", "strong and weak")
"""By which systems two halves of the topics are standardized."""
RUNS = 4
"""Runs whose intervals are looked at in each trial, drawn from the collection's systems."""


class World(NamedTuple):
    """A collection whose topics and systems are drawn: scores and teams of its systems."""

    scores: Floats
    teams: Ints

    def truth(self, scheme: str) -> Floats:
        """The means of all systems over all topics, standardized by all systems."""
        x = self.scores
        mean, sd = x.mean(axis=1, keepdims=True), x.std(axis=1, keepdims=True)
        means: Floats = (
            get_scheme(scheme).apply(x, mean=mean, sd=sd, scores=x[:, None, :]).mean(axis=0)
        )
        return means

    def draw(self, random: np.random.Generator, n: int, by: str) -> tuple[Ints, Ints]:
        """Systems and their teams, with replacement; a team drawn twice is two teams."""
        if by == "one by one":
            drawn = random.integers(self.scores.shape[1], size=n)
            return drawn, self.teams[drawn]
        members = [np.flatnonzero(self.teams == team) for team in np.unique(self.teams)]
        systems: list[int] = []
        teams: list[int] = []
        while len(systems) < n:
            team = members[random.integers(len(members))]
            teams += [teams[-1] + 1 if teams else 0] * len(team)
            systems += team.tolist()
        return np.array(systems[:n]), np.array(teams[:n])


def world(name: str, data: Path | None = None, measure: str | None = None) -> World:
    """A shipped set's systems that have a score on all topics, by its first default measure.

    Robust 2004's are known by name only in ``data``, 81 of 110; without it each is its own team.
    """
    factors = ir_std.load_factors(name)
    numbers, scores = scores_by_system(factors, measure or factors.default_measures[0])
    tags = factors.info["tags"]
    named = {tag: tag for tag in tags}
    table = data and data / "more-scores" / name / "systems.csv"
    if table and name == "robust04":
        with table.open(newline="", encoding="utf-8") as file:
            named = {row["column"]: row["run"] for row in csv.DictReader(file)}
    kept = [
        i
        for i, number in enumerate(numbers.tolist())
        if tags[number] in named and not np.isnan(scores[:, i]).any()
    ]
    teams = [team_of(named[tags[numbers[i]]]) for i in kept]
    scores = scores[:, kept]
    return World(scores[np.ptp(scores, axis=1) > 1e-6], np.unique(teams, return_inverse=True)[1])


def systems_errors(
    x: Floats, scores: Floats, teams: Ints, scheme: str
) -> dict[str, list[tuple[float, float]]]:
    """Of each run the systems' error and its degrees of freedom, by what is known of them."""
    values = influence(x, scores, scheme)
    names = tuple(map(str, range(scores.shape[1])))
    told = {
        "teams": Influences(values, names, tuple(map(str, teams)), design_effect(scores)),
        "scores": Influences(values, (), (), design_effect(scores)),
    }
    errors = {
        known: [influences.error(own) for own in np.eye(x.shape[1])]
        for known, influences in told.items()
    }
    if scheme != "E":
        n = scores.shape[1]
        factor, df = inflation(n, DESIGN_EFFECT)
        covariance = factor * normal_covariance(
            x, scores.mean(axis=1), scores.std(axis=1, ddof=1), n, scheme
        )
        errors["moments"] = [(e, df) for e in np.sqrt(np.diag(covariance)).tolist()]
    return errors


class Case(NamedTuple):
    """What is drawn: how many systems of a collection, how, and how many topics."""

    collection: str
    by: str
    systems: int
    topics: int


def coverage(
    case: Case, trials: int, seed: int, data: Path | None = None
) -> dict[tuple[str, str], tuple[float, float]]:
    """How often 95 percent intervals hold the truth, by scheme and what is known.

    Returns
    -------
    dict of (scheme, known) to (coverage, its standard error over trials)
    """
    random = np.random.default_rng([seed, *map(ord, "".join(map(str, case)))])
    of = world(case.collection, data)
    truths = {scheme: of.truth(scheme) for scheme in SCHEMES}
    hits: dict[tuple[str, str], list[float]] = {}
    for _ in range(trials):
        rows = random.integers(len(of.scores), size=case.topics)
        systems, teams = of.draw(random, case.systems, case.by)
        runs = random.choice(of.scores.shape[1], RUNS, replace=False)
        scores, x = of.scores[rows][:, systems], of.scores[rows][:, runs]
        varied = np.ptp(scores, axis=1) > 1e-6
        scores, x = scores[varied], x[varied]
        for scheme in SCHEMES if len(x) > 1 else ():
            values = standardize_matrix(x, scores, scheme)
            for known, errors in systems_errors(x, scores, teams, scheme).items():
                held = [
                    abs(estimate.mean - truths[scheme][run]) <= estimate.half
                    for run, column, error in zip(runs, values.T, errors, strict=True)
                    for estimate in [Estimate.of(column, *error)]
                ]
                hits.setdefault((scheme, known), []).append(float(np.mean(held)))
    return {
        key: (float(np.mean(h)), float(np.std(h, ddof=1) / np.sqrt(len(h))))
        for key, h in hits.items()
    }


def team_effects(sets: Sequence[str]) -> list[tuple[str, int, int, float]]:
    """Of each set its systems, teams, and the variance by team over that by system, scheme N.

    Both summed over the systems as runs; by the first default measure.
    """
    rows = []
    for name in sets:
        of = world(name)
        values = influence(of.scores, of.scores)
        by_team, _ = covariance_by_team(values, of.teams.tolist())
        by_system, _ = covariance_by_design(values, 1.0)
        rows.append(
            (
                name,
                len(of.teams),
                len(set(of.teams.tolist())),
                float(np.trace(by_team) / np.trace(by_system)),
            )
        )
    return rows


def extremes(name: str, trials: int, seed: int) -> list[tuple[int, float, float, float, float]]:
    """What few systems, drawn by team, do to the best run by z and to the weakest by E.

    Returns
    -------
    list of (systems, z of the best run, its truth, coverage of the weakest run's E, its error)
    """
    random = np.random.default_rng(seed)
    of = world(name)
    best, weakest = int(of.truth("z").argmax()), int(of.truth("E").argmin())
    truth_z, truth_e = of.truth("z")[best], of.truth("E")[weakest]
    rows = []
    for n in SIZES:
        z, held = [], []
        for _ in range(trials):
            rows_ = random.integers(len(of.scores), size=len(of.scores))
            systems, teams = of.draw(random, n, "by team")
            scores = of.scores[rows_][:, systems]
            varied = np.ptp(scores, axis=1) > 1e-6
            scores, x = scores[varied], of.scores[rows_][varied][:, [best, weakest]]
            z.append(standardize_matrix(x[:, :1], scores, "z").mean())
            error = systems_errors(x[:, 1:], scores, teams, "E")["teams"][0]
            estimate = Estimate.of(standardize_matrix(x[:, 1:], scores, "E")[:, 0], *error)
            held.append(abs(estimate.mean - truth_e) <= estimate.half)
        level = float(np.mean(held))
        rows.append(
            (n, float(np.median(z)), float(truth_z), level, (level * (1 - level) / trials) ** 0.5)
        )
    return rows


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


def against_itself(of: World, split: str, trials: int, seed: int) -> float:
    """How often a system differs significantly from itself on other topics, scheme N.

    Welch's t-test at .05 between two halves of the topics, mean over all systems as runs.

    Parameters
    ----------
    of : World
    split : {'same', 'systems', 'teams', '30 each', 'strong and weak'}
        Which systems each half of the topics is standardized by: all, one half of them each, the
        systems of one half of the teams each, 30 others each, or the better and the worse half.
    trials : int
    seed : int
    """
    random = np.random.default_rng(seed)
    n_topics, n = of.scores.shape
    teams = np.unique(of.teams)
    by_mean = np.argsort(of.scores.mean(axis=0))
    rates = []
    for _ in range(trials):
        topics, systems = random.permutation(n_topics), random.permutation(n)
        some = np.isin(of.teams, random.permutation(teams)[: len(teams) // 2])
        first, second = {
            "same": (systems, systems),
            "systems": (systems[: n // 2], systems[n // 2 :]),
            "teams": (np.flatnonzero(some), np.flatnonzero(~some)),
            "30 each": (systems[:30], systems[30:60]),
            "strong and weak": (by_mean[n // 2 :], by_mean[: n // 2]),
        }[split]
        halves_ = [
            standardize_matrix(of.scores[rows], of.scores[rows][:, columns], "N")
            for rows, columns in ((topics[::2], first), (topics[1::2], second))
        ]
        rates.append((ttest_ind(*halves_, equal_var=False).pvalue < 0.05).mean())
    return float(np.mean(rates))


def shared_systems(names: Sequence[str], trials: int, seed: int) -> tuple[float, float, float]:
    """Sets of the same systems: of the means of runs over both the error seen, and two told.

    Systems are drawn one by one, topics held.

    Returns
    -------
    seen, independent, together : float
        The median over runs of the deviation of the mean of means; the error told if the sets'
        errors are taken for independent, and if their systems are drawn together.
    """
    random = np.random.default_rng(seed)
    sets = [world(name).scores for name in names]
    n = sets[0].shape[1]
    means, independent, together = [], [], []
    for _ in range(trials):
        drawn = random.integers(n, size=n)
        parts = []
        for scores in sets:
            influences = Influences(
                influence(scores, scores[:, drawn]), tuple(map(str, range(n))), (), 1.0
            )
            parts.append(SystemsCovariance(*influences.covariance(), "", influences))
        means.append(
            np.mean([standardize_matrix(x, x[:, drawn], "N").mean(axis=0) for x in sets], axis=0)
        )
        independent.append(np.sqrt(sum(np.diag(part.covariance) for part in parts)) / len(sets))
        together.append(
            [joint_errors([(p, own) for p in parts])[0][0] / len(sets) for own in np.eye(n)]
        )
    seen = np.std(means, axis=0, ddof=1)
    return (
        float(np.median(seen)),
        float(np.median(np.mean(independent, axis=0))),
        float(np.median(np.mean(together, axis=0))),
    )


def mean_of_systems(name: str) -> float | None:
    """The mean N of a set's systems by its first measure; None where single scores are unknown."""
    factors = ir_std.load_factors(name)
    measure = factors.default_measures[0]
    if measure not in factors.systems or factors.of_datasets:
        return None
    means = means_of_systems(factors, measure, "N")
    return float(means.mean()) if len(means) else None


def cases() -> list[Case]:
    """All cases; teams of systems that the set does not name are no teams."""
    return [Case(*case) for case in product(SETS, DRAWS, SIZES, TOPICS)]


def summarize(
    rows: Sequence[tuple[Case, str, str, float, float]],
) -> Iterator[tuple[str, str, str, str, list[tuple[float, float]]]]:
    """Of each collection, draw, scheme and what is known the coverage by size, mean over topics."""
    for name, by, known, scheme in product(SETS, DRAWS, KNOWN, SCHEMES):
        by_size = []
        for n in SIZES:
            levels = [
                (level, error)
                for case, s, k, level, error in rows
                if (case.collection, case.by, case.systems, s, k) == (name, by, n, scheme, known)
            ]
            if levels:
                level, variance = np.mean([(v, e**2) for v, e in levels], axis=0)
                by_size.append((float(level), float(np.sqrt(variance / len(levels)))))
        if by_size:
            yield name, by, known, scheme, by_size


def print_coverage(args: Any, out: Path) -> None:
    """The table of coverage."""
    task = partial(_covered, args.trials, args.seed, args.data)
    rows = [
        (case, scheme, known, level, error)
        for case, levels in zip(cases(), spread(task, cases(), args.jobs), strict=True)
        for (scheme, known), (level, error) in levels.items()
    ]
    print(
        f"Coverage of 95% intervals, mean over {', '.join(map(str, TOPICS))} topics, with its "
        f"standard error, by the number of systems\n{'':47}" + "".join(f"{n:>15}" for n in SIZES)
    )
    for name, by, known, scheme, by_size in summarize(rows):
        cells = "".join(f"   {level:.3f} ({error:.3f})" for level, error in by_size)
        print(f"{name:20} {by:11} {known:8} {scheme:3}   {cells}")
    inside = [0.93 <= level <= 0.97 for *_, level, _ in rows]
    below = [level + 2 * error < 0.93 for *_, level, error in rows]
    print(
        f"{len(rows)} cases: {sum(inside)} in 0.93 to 0.97, {sum(below)} below it by two standard "
        "errors"
    )
    write_csv(
        out / "coverage.csv",
        [*Case._fields, "scheme", "known", "coverage", "standard error"],
        [(*case, *rest) for case, *rest in rows],
    )


def print_design_effects(out: Path) -> None:
    """The design effects that the constant stands for."""
    rows = [
        (*row, name)
        for name in ("chosen on", "checked on")
        for row in team_effects(CALIBRATION if name == "chosen on" else OTHERS)
    ]
    print("\nVariance of means over the standardizing systems: by team over by system")
    for name, n, teams, effect, use in rows:
        print(f"{name:20} {use:11} {n:4} systems {teams:3} teams  {effect:.2f}")
    print(
        f"medians {np.median([r[3] for r in rows[: len(CALIBRATION)]]):.2f}, "
        f"{np.median([r[3] for r in rows[len(CALIBRATION) :]]):.2f}; assumed {DESIGN_EFFECT}"
    )
    write_csv(out / "design-effects.csv", ["set", "systems", "teams", "effect", "use"], rows)


def main(argv: Sequence[str] | None = None) -> int:
    """Do all checks."""
    args = arguments(__doc__.splitlines()[0], argv, trials=1000)
    out = args.out / "uncertainty"
    print_coverage(args, out)
    print_design_effects(out)

    print("\nTREC-8 by team: the best run by z, and how often the weakest run's E is covered")
    for n, z, truth, level, error in extremes("trec8-adhoc", args.trials, args.seed):
        print(f"{n:4} systems  z {z:.2f} instead of {truth:.2f}  E {level:.3f} ({error:.3f})")

    pair = ("dl19-passage-modern", "dl20-passage-modern")
    seen, independent, together = shared_systems(pair, args.trials // 5, args.seed)
    print(
        f"\nThe same systems on two collections: error seen {seen:.4f}, told {independent:.4f} if "
        f"independent, {together:.4f} if drawn together"
    )

    print("\nA system against itself on two halves of the topics: significant at .05")
    for name in ("robust04", "trec8-adhoc"):
        of = world(name)
        splits = [s for s in SPLITS if s != "teams" or len(set(of.teams.tolist())) > 1]
        rates = {split: against_itself(of, split, args.trials, args.seed) for split in splits}
        print(f"{name:12}" + "".join(f"  {split} {rate:.3f}" for split, rate in rates.items()))

    print("\nMean N of a set's own systems, by its first measure")
    means = {name: mean_of_systems(name) for name in ir_std.available_factors()}
    known = {name: mean for name, mean in means.items() if mean is not None}
    for name, mean in sorted(known.items(), key=lambda item: item[1]):
        print(f"{name:20} {mean:.3f}")

    scores = score_runs(args.data, "trec8-adhoc", MEASURES, args.jobs)
    print("\nDeviation of means over choices of few systems\n              systems  seen    told")
    rows: list[tuple[object, ...]] = []
    for measure, scheme in product(MEASURES, ("N", "U", "E")):
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
        for form in smoothing(scores[measure], args.trials // 10, args.seed):
            print(f"{measure:6} {form[1]:7} {form[0]:6}  {form[2]:8.4f}  {form[3]:8.4f}")
            rows.append((measure, *form))
    write_csv(out / "smoothing.csv", ["measure", "systems", "form", "by topic", "of means"], rows)
    print(f"\nTables are in {out}")
    return 0


def _covered(
    trials: int, seed: int, data: Path, case: Case
) -> dict[tuple[str, str], tuple[float, float]]:
    return coverage(case, trials, seed, data)


if __name__ == "__main__":
    raise SystemExit(main())
