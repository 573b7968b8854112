"""Test whether 95% intervals of standardized means hold in 95% of trials.

The script draws topics and systems, with replacement, from a collection with real scores. The means
of the whole collection are the true values. Systems are drawn by team or one by one. The script
computes the intervals with the systems' scores and teams, with the scores but without the teams, or
only from means and standard deviations.

In addition to coverage, the script computes the design effects that ir_std uses if teams are
unknown, the errors for the best and the weakest run if there are few systems, and the error of a
mean over collections with the same systems. It also tests how often a system differs from itself if
different systems standardize two halves of the topics (cf. Webber, Moffat and Zobel 2008, Section
5).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from experiment import arguments, spread
from scipy.stats import ttest_ind

import ir_std
from ir_std._arrays import Floats, Ints
from ir_std.analysis import standardize_matrix
from ir_std.analysis.influence import (
    DESIGN_EFFECT,
    covariance_by_design,
    covariance_by_team,
    design_effect,
    inflation,
    influence,
    normal_covariance,
)
from ir_std.analysis.means import Estimate
from ir_std.evaluation.uncertainty import (
    Influences,
    SystemsCovariance,
    guess_teams,
    is_anonymous,
    joint_errors,
    team_of,
)
from ir_std.factors.estimates import ranked_systems, scores_by_system
from ir_std.schemes import get_scheme

SETS = {
    "trec8-adhoc": "TREC-8",
    "robust04": "Robust 2004",
    "dl19-passage": "DL 2019",
    "dl19-passage-modern": "DL 2019, later",
    "ntcir13-www-english": "NTCIR-13",
}
"""Collections from which the script draws topics and systems, and their names in tables."""
CALIBRATION = ("trec8-adhoc", "robust05", "covid-round1", "covid-round5", "dl21-passage")
"""Sets from which the constants of :mod:`ir_std.analysis.influence` were chosen."""
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
"""Sets on which these constants were checked."""
DRAWS = ("by team", "one by one")
SIZES = (8, 15, 30, 100)
ALL = "all"
TOPICS = (25, 43, 50)
SCHEMES = ("N", "z", "U", "E")
BAND = 0.93, 0.97
"""The coverage that 95 percent intervals should have."""
KNOWN = ("teams", "scores", "moments")
"""What ir_std knows: teams and scores, only scores, or only means and standard deviations."""
OWN_TEAMS = "each its own"
"""Label of cases in which systems are drawn one by one, and each is known as a team."""
PART_SETS = {"trec8-adhoc": "TREC-8", "robust05": "Robust 2005", "dl22-passage": "DL 2022"}
"""Sets for the separate test of the systems' part of an interval."""
PART_SIZES = (10, 30, 100)
WORLDS = ("teams known", "nothing known", "names that differ", "each taken for a team")
"""What ir_std knows about systems that were drawn by team."""
SPLITS = ("same", "systems", "teams", "30 each", "strong and weak")
"""Ways to choose the systems that standardize two halves of the topics."""
RUNS = 4
"""Number of runs whose intervals are tested in each trial."""


class World(NamedTuple):
    """Scores and teams of a collection's systems, from which the script draws."""

    scores: Floats
    teams: Ints

    def truth(self, scheme: str) -> Floats:
        """Return each system's mean over all topics, if all systems standardize."""
        x = self.scores
        mean, sd = x.mean(axis=1, keepdims=True), x.std(axis=1, keepdims=True)
        means: Floats = (
            get_scheme(scheme).apply(x, mean=mean, sd=sd, scores=x[:, None, :]).mean(axis=0)
        )
        return means

    def draw(self, random: np.random.Generator, n: int, by: str) -> tuple[Ints, Ints]:
        """Draw systems and their teams with replacement; a team drawn twice counts as two."""
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


def world(name: str, named: bool = False, measure: str | None = None) -> World:
    """Return a set's systems that have a score on all topics, for its first default measure.

    If ``named`` is true, return only systems with names, because only their teams are known.
    Otherwise, also return systems without a name; each of these is its own team.
    """
    factors = ir_std.load_factors(name)
    numbers, scores = scores_by_system(factors, measure or factors.default_measures[0])
    tags = factors.systems
    kept = [
        i
        for i, number in enumerate(numbers.tolist())
        if not (named and is_anonymous(tags[number])) and not np.isnan(scores[:, i]).any()
    ]
    teams = [team_of(tags[numbers[i]]) for i in kept]
    scores = scores[:, kept]
    return World(scores[np.ptp(scores, axis=1) > 1e-6], np.unique(teams, return_inverse=True)[1])


def systems_errors(
    x: Floats, scores: Floats, teams: Ints, scheme: str, effect: float
) -> dict[str, list[tuple[float, float]]]:
    """Return each run's error from the systems and the error's df, by known data.

    ``effect`` is the :func:`design_effect` of the scores.
    """
    values = influence(x, scores, scheme)
    names = tuple(map(str, range(scores.shape[1])))
    told = {
        "teams": Influences(values, names, tuple(map(str, teams)), effect),
        "scores": Influences(values, (), (), effect),
        OWN_TEAMS: Influences(values, names, names, effect),
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
    """Number of systems and topics to draw from a collection, and the way to draw systems."""

    collection: str
    by: str
    systems: int
    topics: int


class Row(NamedTuple):
    """Coverage of a case for one scheme and known data, with the Monte Carlo error."""

    case: Case
    scheme: str
    known: str
    level: float
    error: float


Needed = dict[tuple[str, str], Floats]
"""Factors by scheme and known data, shape (trials, RUNS). An interval contains the true value if
the systems' error is multiplied by at least this factor. If the topics' error is large enough, the
factor is 0.
"""


def needed_multipliers(trials: int, seed: int, case: Case) -> Needed:
    """Compute the multiplier that each interval needs, for all trials."""
    random = np.random.default_rng([seed, *map(ord, "".join(map(str, case)))])
    of = world(case.collection, named=True)
    truths = {scheme: of.truth(scheme) for scheme in SCHEMES}
    found: dict[tuple[str, str], list[list[float]]] = {}
    for _ in range(trials):
        rows = random.integers(len(of.scores), size=case.topics)
        systems, teams = of.draw(random, case.systems, case.by)
        runs = random.choice(of.scores.shape[1], RUNS, replace=False)
        scores, x = of.scores[rows][:, systems], of.scores[rows][:, runs]
        varied = np.ptp(scores, axis=1) > 1e-6
        scores, x = scores[varied], x[varied]
        effect = design_effect(scores)
        for scheme in SCHEMES if len(x) > 1 else ():
            estimates = [Estimate.of(run) for run in standardize_matrix(x, scores, scheme).T]
            for known, errors in systems_errors(x, scores, teams, scheme, effect).items():
                if known != OWN_TEAMS or case.by == "one by one":
                    found.setdefault((scheme, known), []).append(
                        [
                            needed_multiplier(one._replace(systems_error=error, systems_df=df), of)
                            for one, of, (error, df) in zip(
                                estimates, truths[scheme][runs].tolist(), errors, strict=True
                            )
                        ]
                    )
    return {key: np.array(values) for key, values in found.items()}


def systems_part(trials: int, seed: int, case: tuple[str, int]) -> dict[str, float]:
    """Compute how often an interval's part for the systems contains the true mean.

    Systems are drawn by team. The topics are fixed, so only the systems cause errors.
    """
    name, size = case
    random = np.random.default_rng([seed, size, *map(ord, name)])
    of = world(name, named=True)
    truth = of.truth("N")
    held: dict[str, list[bool]] = {known: [] for known in WORLDS}
    for _ in range(trials):
        systems, teams = of.draw(random, size, "by team")
        runs = random.choice(of.scores.shape[1], RUNS, replace=False)
        scores, x = of.scores[:, systems], of.scores[:, runs]
        off = np.abs(standardize_matrix(x, scores).mean(axis=0) - truth[runs])
        values, effect = influence(x, scores), design_effect(scores)
        names = tuple(np.base_repr(36**3 + i, 36)[::-1] for i in range(size))
        by_known = {
            WORLDS[0]: tuple(map(str, teams)),
            WORLDS[1]: (),
            WORLDS[2]: tuple(guess_teams(names).values()),
            WORLDS[3]: names,
        }
        for known, told in by_known.items():
            for own, distance in zip(np.eye(RUNS), off.tolist(), strict=True):
                error, df = Influences(values, names, told, effect).error(own)
                held[known].append(distance <= Estimate(0.0, 0, 0.0, 1, error, df).systems)
    return {known: float(np.mean(values)) for known, values in held.items()}


def systems_part_table(found: Mapping[tuple[str, int], Mapping[str, float]]) -> list[str]:
    """Return the guide's table of the systems' part."""
    lines = [f"| collection | systems | {' | '.join(WORLDS)} |", "| --- " * (2 + len(WORLDS)) + "|"]
    for (name, size), by_known in found.items():
        cells = " | ".join(share(by_known[known]) for known in WORLDS)
        lines.append(f"| {PART_SETS[name]} | {size} | {cells} |")
    return lines


def needed_multiplier(estimate: Estimate, truth: float) -> float:
    """Return the factor for the systems' error that makes the interval contain the truth."""
    beyond = (estimate.mean - truth) ** 2 - estimate.topics**2
    if beyond <= 0:
        return 0.0
    return float(np.sqrt(beyond) / estimate.systems) if estimate.systems > 0 else np.inf


def level(needed: Floats, multiplier: float = 1.0) -> tuple[float, float]:
    """Return the share of intervals that contain the truth, with its standard error."""
    held = (needed <= multiplier).mean(axis=1)
    return float(held.mean()), float(held.std(ddof=1) / np.sqrt(len(held)))


def team_effects(sets: Sequence[str]) -> list[tuple[str, int, int, float]]:
    """Return each set's numbers of systems and teams, and its design effect.

    The design effect is the variance of means if systems are drawn by team, divided by the variance
    if they are drawn one by one. Both variances are sums over the set's systems, for its first
    default measure.
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


class Extremes(NamedTuple):
    """Mean z of the best run, and coverage of E for weak runs, for a number of systems."""

    systems: int
    z: float
    true_z: float
    weakest: float
    tenth: float
    error: float


def extremes(name: str, trials: int, seed: int) -> list[Extremes]:
    """Compute errors for the best run and weak runs if few systems are drawn by team.

    Returns
    -------
    list of Extremes
        One entry for each number of systems. It has the median over trials of the best run's mean
        z, and the true value of this mean. It also has the coverage of E's intervals for the
        weakest run and for the run that is better than a tenth of the systems, and the larger of
        the two standard errors.
    """
    random = np.random.default_rng(seed)
    of = world(name)
    order = of.truth("E").argsort()
    best, weak = int(of.truth("z").argmax()), order[[0, len(order) // 10]]
    true_z, true_e = of.truth("z")[best], of.truth("E")[weak]
    found = []
    for n in SIZES:
        z, held = [], []
        for _ in range(trials):
            rows = random.integers(len(of.scores), size=len(of.scores))
            systems, teams = of.draw(random, n, "by team")
            scores = of.scores[rows][:, systems]
            varied = np.ptp(scores, axis=1) > 1e-6
            scores, x = scores[varied], of.scores[rows][varied]
            z.append(standardize_matrix(x[:, [best]], scores, "z").mean())
            errors = systems_errors(x[:, weak], scores, teams, "E", design_effect(scores))
            values = standardize_matrix(x[:, weak], scores, "E").T
            estimates = [Estimate.of(v, *e) for v, e in zip(values, errors["teams"], strict=True)]
            held.append([abs(e.mean - t) <= e.half for e, t in zip(estimates, true_e, strict=True)])
        levels = np.mean(held, axis=0)
        error = float(np.sqrt(levels * (1 - levels) / trials).max())
        weakest, tenth = levels.tolist()
        found.append(Extremes(n, float(np.median(z)), float(true_z), weakest, tenth, error))
    return found


def against_itself(of: World, split: str, trials: int, seed: int) -> float:
    """Return how often a system differs significantly from itself between topics (N).

    The test is Welch's t-test at .05 between two halves of the topics. The result is a mean over
    all systems.

    Parameters
    ----------
    of : World
    split : {'same', 'systems', 'teams', '30 each', 'strong and weak'}
        Systems that standardize each half of the topics: all systems, a different half of the
        systems, the systems of a different half of the teams, 30 different systems, or the better
        and the worse half.
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
    """Compare the observed error of means with two estimates, if sets share systems.

    Systems are drawn one by one, and topics are fixed.

    Returns
    -------
    seen, independent, together : float
        Three medians over runs: the observed standard deviation of the mean over the sets, its
        estimate if the sets' errors are treated as independent, and its estimate if the same
        systems are drawn for all sets.
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
    """Return the mean N of a set's systems for its first measure; None without scores."""
    factors = ir_std.load_factors(name)
    measure = factors.default_measures[0]
    if measure not in factors.scores or factors.of_datasets:
        return None
    means = ranked_systems(factors, measure, "N")[0]
    return float(means.mean()) if len(means) else None


def cases() -> list[Case]:
    """Return all combinations of set, draw, and numbers of systems and topics."""
    return [Case(*case) for case in product(SETS, DRAWS, SIZES, TOPICS)]


def coverage_row(rows: Sequence[Row], by: str, known: str, schemes: str) -> str:
    """Return a row of the guide's table, with one cell for each number of systems."""
    cells = []
    for n in SIZES:
        levels = [
            row.level
            for row in rows
            if (row.case.by, row.case.systems, row.known) == (by, n, known)
            and row.scheme in schemes
        ]
        cells.append(
            f"{share(np.mean(levels))} ({share(min(levels))}, {share(max(levels))})"
            if levels
            else "-"
        )
    return f"| {by} | {known} | {' | '.join(cells)} |"


def share(value: float | np.floating[Any]) -> str:
    """Format a share like ``.950``; 1 and 0 have no decimals."""
    return f"{value:.3f}".replace("0.", ".", 1).replace("1.000", "1").replace(".000", "0")


def print_coverage(args: Any) -> None:
    """Print coverage for N, z and U and for E, and how many cases are in the band."""
    task = partial(needed_multipliers, args.trials, args.seed)
    found = dict(zip(cases(), spread(task, cases(), args.jobs), strict=True))
    rows = rows_of(found)
    for schemes in ("NzU", "E"):
        print(
            f"Coverage of 95% intervals by {', '.join(schemes)} with {', '.join(map(str, TOPICS))} "
            f"topics: the mean, smallest and largest of {len(SETS) * len(schemes) * len(TOPICS)} "
            f"cases\n| drawn | known | {' | '.join(map(str, SIZES))} |"
        )
        for by, known in product(DRAWS, (*KNOWN, OWN_TEAMS)):
            if (schemes, known) != ("E", "moments") and (by, known) != (DRAWS[0], OWN_TEAMS):
                print(coverage_row(rows, by, known, schemes))
        of_schemes = [row for row in rows if row.scheme in schemes]
        for by in DRAWS:
            print_counts(by, [r for r in of_schemes if r.case.by == by and r.known in KNOWN])
        print_counts(
            "one by one, each its own team", [r for r in of_schemes if r.known == OWN_TEAMS]
        )


def rows_of(found: Mapping[Case, Needed], multiplier: float = 1.0) -> list[Row]:
    """Return the coverage of all cases if the systems' error is multiplied by a factor."""
    return [
        Row(case, scheme, known, *level(needed, multiplier))
        for case, by_known in found.items()
        for (scheme, known), needed in by_known.items()
    ]


def counts(rows: Sequence[Row]) -> tuple[int, int, int]:
    """Count the cases in the band, and the cases two standard errors above and below it."""
    low, high = BAND
    return (
        sum(low <= row.level <= high for row in rows),
        sum(row.level - 2 * row.error > high for row in rows),
        sum(row.level + 2 * row.error < low for row in rows),
    )


def print_counts(by: str, rows: Sequence[Row]) -> None:
    """Print how many cases are in the band, and which case has the lowest coverage."""
    inside, above, below = counts(rows)
    smallest = min(rows, key=lambda row: row.level)
    print(
        f"{by}: {len(rows)} cases, {inside} in {share(BAND[0])} to {share(BAND[1])}, {below} below "
        f"and {above} above by two standard errors; the smallest "
        f"{share(smallest.level)} (by {smallest.scheme} on {SETS[smallest.case.collection]}, "
        f"{smallest.case.systems} systems, {smallest.case.topics} topics, {smallest.known} known); "
        f"Monte Carlo errors {share(max(row.error for row in rows))} at most"
    )


def print_design_effects() -> None:
    """Print the design effects from which the constant was chosen."""
    rows = [
        (*row, name)
        for name in ("chosen on", "checked on")
        for row in team_effects(CALIBRATION if name == "chosen on" else OTHERS)
    ]
    print("\nVariance of means over the reference systems: by team, divided by that by system")
    for name, n, teams, effect, use in rows:
        print(f"{name:20} {use:11} {n:4} systems {teams:3} teams  {effect:.2f}")
    print(
        f"medians {np.median([r[3] for r in rows[: len(CALIBRATION)]]):.2f}, "
        f"{np.median([r[3] for r in rows[len(CALIBRATION) :]]):.2f}; assumed {DESIGN_EFFECT}"
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Print the results of all checks."""
    args = arguments(__doc__.splitlines()[0], argv, trials=150)
    todo = list(product(PART_SETS, PART_SIZES))
    part = spread(partial(systems_part, args.trials, args.seed), todo, args.jobs)
    print("The systems' part alone:")
    print(*systems_part_table(dict(zip(todo, part, strict=True))), sep="\n")
    print_coverage(args)
    print_design_effects()

    print("\nTREC-8 by team: the best run by z, and how often E of weak runs is covered")
    for found in extremes("trec8-adhoc", 3 * args.trials, args.seed):
        print(
            f"{found.systems:4} systems  z {found.z:.2f} instead of {found.true_z:.2f}  E of the "
            f"weakest {share(found.weakest)}, at the lowest tenth {share(found.tenth)} "
            f"({share(found.error)} at most)"
        )

    pair = ("dl19-passage-modern", "dl20-passage-modern")
    seen, independent, together = shared_systems(pair, args.trials // 5, args.seed)
    print(
        f"\nThe same systems on two collections: observed error {seen:.4f}, estimate "
        f"{independent:.4f} if independent, {together:.4f} if drawn together"
    )

    print("\nShare of systems that differ from themselves on two halves of the topics (.05)")
    for name in ("robust04", "trec8-adhoc"):
        of = world(name)
        splits = [s for s in SPLITS if s != "teams" or len(set(of.teams.tolist())) > 1]
        rates = {split: against_itself(of, split, 3 * args.trials, args.seed) for split in splits}
        print(f"{name:12}" + "".join(f"  {split} {rate:.3f}" for split, rate in rates.items()))

    print("\nMean N of a set's own systems, by its first measure")
    means = {name: mean_of_systems(name) for name in ir_std.available_factors()}
    known = {name: mean for name, mean in means.items() if mean is not None}
    for name, mean in sorted(known.items(), key=lambda item: item[1]):
        print(f"{name:20} {mean:.3f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
