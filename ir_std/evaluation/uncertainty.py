"""Uncertainty of standardized means due to the choice of reference systems."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any

import numpy as np

from ir_std._arrays import ArrayLike, Floats, Mask
from ir_std.analysis import influence
from ir_std.analysis.means import Estimate
from ir_std.evaluation.plans import Plan
from ir_std.factors.estimates import scores_by_system
from ir_std.factors.factor_set import FactorSet

BY_TEAM = "by team"
BY_GUESSED_TEAM = "by team, guessed from the first letters of the systems' names"
BY_DESIGN = (
    "by system, with the variance multiplied by a design effect of up to 2.75 for similar "
    "systems, because teams are not known"
)
BY_THEORY = (
    "by normal theory, with the variance multiplied by a design effect of 2.75 for similar "
    "systems, because only means and standard deviations are known"
)


@dataclass(frozen=True, eq=False)
class Influences:
    """Influence of each reference system on the runs' means, and each system's team.

    Attributes
    ----------
    values : ndarray, shape (n_standardizing, n_runs)
        See :func:`ir_std.analysis.influence.influence`.
    names : tuple of str
        Names of the systems; empty if they have only numbers.
    teams : tuple of str
        Team of each system; empty if teams are unknown.
    design_effect : float
        Design effect to use if teams are unknown.
    """

    values: Floats
    names: tuple[str, ...]
    teams: tuple[str, ...]
    design_effect: float

    def covariance(self) -> tuple[Floats, float]:
        """Return the covariance of the runs' means, and the degrees of freedom."""
        if len(set(self.teams)) > 1:
            return influence.covariance_by_team(self.values, self.teams)
        return influence.covariance_by_design(self.values, self.design_effect)

    def error(self, contrast: ArrayLike) -> tuple[float, float]:
        """Return the standard error and the degrees of freedom for a combination of runs' means.

        The method computes one error with teams as units and another error with systems as units.
        The result is the larger of these two errors.  With few teams, the error with teams as units
        may be too small, because influences within a team may cancel out.
        """
        # With many runs, a covariance matrix of all pairs of runs would be wasteful.  So compute
        # the covariance of the combination only.
        combined = self.values @ np.asarray(contrast, float)[:, None]
        covariance, df = replace(self, values=combined).covariance()
        by_system, _ = influence.covariance_by_design(combined, 1.0)
        return max(influence.contrast_error(c, [1.0]) for c in (covariance, by_system)), df


@dataclass(frozen=True, eq=False)
class SystemsCovariance:
    """Covariance of runs' standardized means due to the choice of reference systems.

    Attributes
    ----------
    covariance : ndarray, shape (n_runs, n_runs)
        Covariance matrix; NaN if nothing is known about the systems.
    df : float
        Degrees of freedom.
    source : str
        Description of the method of computation; empty if the covariance was not computed.
    influences : Influences or None
        Influences from which the covariance was computed; None if the systems' scores are unknown.
    """

    covariance: Floats
    df: float
    source: str
    influences: Influences | None = None

    def estimate(self, values: ArrayLike, contrast: ArrayLike) -> Estimate:
        """Estimate the mean of a linear combination of the runs' scores.

        ``values`` holds the combination on each topic.  ``contrast`` holds the weights of the runs.
        """
        if self.influences is None:
            return Estimate.of(values, influence.contrast_error(self.covariance, contrast), self.df)
        return Estimate.of(values, *self.influences.error(contrast))


def systems_covariance(plan: Plan, raw: Floats) -> SystemsCovariance:
    """Estimate how runs' means for a standardized measure vary with the reference systems.

    Parameters
    ----------
    plan : Plan
    raw : ndarray, shape (n_topics, n_runs)
        Scores of the runs for ``plan.raw`` on the plan's topics.
    """
    factors, name, rows = plan.factors, plan.name, plan.rows
    # Under scheme z, runs have no value on a topic where all systems score the same.  Leave out
    # topics without a value.
    used: Mask = (rows >= 0) & ~np.isnan(
        np.stack([plan.apply(column) for column in raw.T], axis=1)
    ).any(axis=1)
    rows, x = rows[used], raw[used]
    scheme: str = plan.measure["scheme"]
    params: dict[str, Any] = plan.measure.scheme_params
    n, sign = factors.n_systems[name], factors.sign(name)
    x = sign * x
    if len(rows) and name in factors.scores:
        numbers, scores = scores_by_system(factors, name)
        tags = team_tags(factors.systems)
        names = tuple(tags[i] for i in numbers.tolist()) if tags else ()
        teams = teams_of(factors)
        influences = Influences(
            influence.influence(
                x,
                sign * scores[rows],
                scheme,
                resolution=factors.about(name, "resolution", 0.0),
                **params,
            ),
            names,
            tuple(teams[factors.systems[i]] for i in numbers.tolist()) if teams else (),
            influence.design_effect(scores[rows]),
        )
        by_team = BY_TEAM if "teams" in factors.info else BY_GUESSED_TEAM
        source = by_team if len(set(influences.teams)) > 1 else BY_DESIGN
        return SystemsCovariance(*influences.covariance(), source, influences)
    if scheme == "E" or n < 2 or not len(rows):
        return SystemsCovariance(np.full((x.shape[1], x.shape[1]), np.nan), inf, "")
    covariance = influence.normal_covariance(
        x, sign * factors.mean[name][rows], factors.sd[name][rows], n, scheme, **params
    )
    factor, df = influence.inflation(n, influence.DESIGN_EFFECT)
    return SystemsCovariance(covariance * factor, df, BY_THEORY)


_ANONYMOUS = re.compile(r"(sys|run|system)[ _-]?\d+")


def teams_of(factors: FactorSet) -> dict[str, str]:
    """Map the name of each system to the system's team; empty if the teams are unknown.

    If the set records teams, these teams are returned.  Otherwise, the teams are guessed from the
    names of the systems.  The teams of alternative system sets are never guessed.
    """
    tags = factors.systems
    if "teams" in factors.info:
        return {tag: factors.info["teams"].get(tag, tag) for tag in tags}
    return {} if "main_set" in factors.info else guess_teams(tags)


def guess_teams(tags: Sequence[str]) -> dict[str, str]:
    """Guess the team of each system from its name; empty if the names do not reveal teams.

    The names reveal teams if at least two names, but not all names, have the same beginning.  If
    all names begin differently, such as bm25, dpr and splade, no teams are assumed.
    """
    teams = {tag: team_of(tag) for tag in team_tags(tags)}
    return teams if 1 < len(set(teams.values())) < len(teams) else {}


def team_tags(tags: Sequence[str]) -> Sequence[str]:
    """Return the system names; empty if all systems are numbered, as in ``sys12``."""
    return () if all(map(is_anonymous, tags)) else tags


def is_anonymous(tag: str) -> bool:
    """Check whether a system has a number instead of a name, such as ``sys12``."""
    return _ANONYMOUS.fullmatch(tag) is not None


def team_of(tag: str) -> str:
    """Guess a run's team from the first three characters of its name.

    For a model, such as ``Qwen/Qwen3-Embedding-8B``, the team is the part before the slash.  A
    system with only a number, such as ``sys12``, is treated as a team of its own.
    """
    organization, slash, _ = tag.partition("/")
    return tag if is_anonymous(tag) else organization if slash else tag[:3].lower()


def no_covariance(n_runs: int) -> SystemsCovariance:
    """Return a covariance of 0, because raw scores do not depend on reference systems."""
    return SystemsCovariance(np.zeros((n_runs, n_runs)), inf, "")


def joint_errors(parts: Sequence[tuple[SystemsCovariance, ArrayLike]]) -> list[tuple[float, float]]:
    """Return the errors of a sum of means due to the choice of reference systems.

    The sum adds up one mean for each collection.  Sets that share at least half of their system
    names form a group, whose systems are treated as one sample.  Each group has its own error, and
    the errors of different groups are independent.  A system that is in several sets of a group
    counts once, with the sum of its influences on the means.

    Parameters
    ----------
    parts : sequence of (SystemsCovariance, array_like)
        For each collection, the covariance of the runs' means, and the weights of these means in
        the sum.

    Returns
    -------
    list of (error, df)
        One entry for each group of sets.
    """
    groups: list[list[tuple[SystemsCovariance, ArrayLike]]] = []
    for part in parts:
        together, apart = [part], []
        for group in groups:
            if any(_share_systems(part[0], other) for other, _ in group):
                together = group + together
            else:
                apart.append(group)
        groups = [*apart, together]
    return [_joint_error(group) for group in groups]


def _share_systems(a: SystemsCovariance, b: SystemsCovariance) -> bool:
    if a.influences is None or b.influences is None:
        return False
    x, y = set(a.influences.names), set(b.influences.names)
    return bool(x & y) and 2 * len(x & y) >= min(len(x), len(y))


def _joint_error(parts: Sequence[tuple[SystemsCovariance, ArrayLike]]) -> tuple[float, float]:
    if len(parts) == 1:
        estimate = parts[0][0].estimate([0.0], parts[0][1])
        return estimate.systems_error, estimate.systems_df
    pairs = [(part.influences, contrast) for part, contrast in parts if part.influences is not None]
    total: dict[str, float] = {}
    team: dict[str, str] = {}
    for influences, contrast in pairs:
        values = influences.values @ np.asarray(contrast, float)
        for name, value in zip(influences.names, values.tolist(), strict=True):
            total[name] = total.get(name, 0.0) + value
        team.update(zip(influences.names, influences.teams, strict=False))
    teams = tuple(team.get(name, name) for name in total) if team else ()
    effect = max(influences.design_effect for influences, _ in pairs)
    joint = Influences(np.array([*total.values()])[:, None], tuple(total), teams, effect)
    return joint.error([1.0])
