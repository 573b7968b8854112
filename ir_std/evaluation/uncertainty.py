"""Uncertainty of standardized means that comes from the choice of reference systems."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any

import numpy as np
import numpy.typing as npt

from ir_std._arrays import Floats, Mask
from ir_std.analysis.estimate import Estimate
from ir_std.analysis.influence import (
    DESIGN_EFFECT,
    contrast_error,
    covariance_by_design,
    covariance_by_team,
    design_effect,
    inflation,
    influence,
    normal_covariance,
)
from ir_std.evaluation.plans import Plan
from ir_std.factors.estimates import scores_by_system
from ir_std.factors.factor_set import FactorSet

BY_TEAM = "by team"
BY_GUESSED_TEAM = "by team, guessed from the first letters of the systems' names"
BY_DESIGN = (
    "by system, times a design effect of up to 2.75 for systems that are alike, as teams are "
    "not known"
)
BY_THEORY = (
    "by normal theory, times a design effect of 2.75 for systems that are alike, as only means "
    "and deviations are known"
)


@dataclass(frozen=True, eq=False)
class Influences:
    """Influence of each reference system on runs' means, and the groups that are drawn together.

    Attributes
    ----------
    values : ndarray, shape (n_standardizing, n_runs)
        See :func:`ir_std.analysis.influence.influence`.
    names : tuple of str
        The systems' names; empty where they have only numbers.
    teams : tuple of str
        The team of each system; empty where teams are not known.
    design_effect : float
        Design effect that is used if the teams are unknown.
    """

    values: Floats
    names: tuple[str, ...]
    teams: tuple[str, ...]
    design_effect: float

    def covariance(self) -> tuple[Floats, float]:
        """Return the covariance of the runs' means, and its degrees of freedom."""
        if len(set(self.teams)) > 1:
            return covariance_by_team(self.values, self.teams)
        return covariance_by_design(self.values, self.design_effect)

    def error(self, contrast: npt.ArrayLike) -> tuple[float, float]:
        """Return the standard error of a combination of the runs' means, and its df.

        By team, but not below what it would be by system: of few teams the sums may cancel.
        """
        # Only for the combination, as a matrix of all pairs of many runs would be made in vain.
        combined = self.values @ np.asarray(contrast, float)[:, None]
        covariance, df = replace(self, values=combined).covariance()
        by_system, _ = covariance_by_design(combined, 1.0)
        return max(contrast_error(c, [1.0]) for c in (covariance, by_system)), df


@dataclass(frozen=True, eq=False)
class SystemsCovariance:
    """Covariance of runs' means by one standardized measure over the reference systems.

    Attributes
    ----------
    covariance : ndarray, shape (n_runs, n_runs)
        NaN where nothing is known of the systems.
    df : float
        Degrees of freedom.
    source : str
        The method of computation in words; empty if it was not computed.
    influences : Influences or None
        Influences from which it was computed, if the systems' scores are known.
    """

    covariance: Floats
    df: float
    source: str
    influences: Influences | None = None

    def estimate(self, values: npt.ArrayLike, contrast: npt.ArrayLike) -> Estimate:
        """Estimate the mean of scores per topic that are a combination of the runs' scores."""
        if self.influences is None:
            return Estimate.of(values, contrast_error(self.covariance, contrast), self.df)
        return Estimate.of(values, *self.influences.error(contrast))


def systems_covariance(plan: Plan, raw: Floats) -> SystemsCovariance:
    """Estimate how runs' means by a standardized measure vary with its systems.

    Parameters
    ----------
    plan : Plan
    raw : ndarray, shape (n_topics, n_runs)
        The runs' scores by ``plan.raw`` on the plan's topics.
    """
    factors, name, rows = plan.factors, plan.name, plan.rows
    # Where one of them has no value (flat topics under z) the mean does without the topic.
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
            influence(
                x,
                sign * scores[rows],
                scheme,
                resolution=factors.about(name, "resolution", 0.0),
                **params,
            ),
            names,
            tuple(teams[factors.systems[i]] for i in numbers.tolist()) if teams else (),
            design_effect(scores[rows]),
        )
        by_team = BY_TEAM if "teams" in factors.info else BY_GUESSED_TEAM
        source = by_team if len(set(influences.teams)) > 1 else BY_DESIGN
        return SystemsCovariance(*influences.covariance(), source, influences)
    if scheme == "E" or n < 2 or not len(rows):
        return SystemsCovariance(np.full((x.shape[1], x.shape[1]), np.nan), inf, "")
    covariance = normal_covariance(
        x, sign * factors.mean[name][rows], factors.sd[name][rows], n, scheme, **params
    )
    factor, df = inflation(n, DESIGN_EFFECT)
    return SystemsCovariance(covariance * factor, df, BY_THEORY)


_ANONYMOUS = re.compile(r"(sys|run|system)[ _-]?\d+")


def teams_of(factors: FactorSet) -> dict[str, str]:
    """Return the team of each system, by its name; empty if nothing tells.

    As the set says itself, else guessed from the names, but not for alternative system sets.
    """
    tags = factors.systems
    if "teams" in factors.info:
        return {tag: factors.info["teams"].get(tag, tag) for tag in tags}
    return {} if "beside" in factors.info else guess_teams(tags)


def guess_teams(tags: Sequence[str]) -> dict[str, str]:
    """Guess the team of each system from its name; empty if the names do not look like teams'.

    They do if some systems' names begin alike, but not those of all: names that all begin
    differently, such as bm25, dpr and splade, are not teams of one system each.
    """
    teams = {tag: team_of(tag) for tag in team_tags(tags)}
    return teams if 1 < len(set(teams.values())) < len(teams) else {}


def team_tags(tags: Sequence[str]) -> Sequence[str]:
    """Return the names, if teams gave any: not only numbers, such as ``sys12``."""
    return () if all(map(is_anonymous, tags)) else tags


def is_anonymous(tag: str) -> bool:
    """Check whether a system has a number instead of a name, such as ``sys12``."""
    return _ANONYMOUS.fullmatch(tag) is not None


def team_of(tag: str) -> str:
    """Guess the team behind a run from its name: the first three characters.

    The team of a model, such as ``Qwen/Qwen3-Embedding-8B``, is the part before the slash.  A
    system without a name, such as ``sys12``, is taken for a team of its own.
    """
    organization, slash, _ = tag.partition("/")
    return tag if is_anonymous(tag) else organization if slash else tag[:3].lower()


def no_covariance(n_runs: int) -> SystemsCovariance:
    """Return the covariance of raw scores, which have no factors: 0."""
    return SystemsCovariance(np.zeros((n_runs, n_runs)), inf, "")


def joint_errors(
    parts: Sequence[tuple[SystemsCovariance, npt.ArrayLike]],
) -> list[tuple[float, float]]:
    """Return the systems' errors of a sum of means on collections, in independent parts.

    Sets that share at least half of their systems' names are drawn together: a system that is in
    both counts once, with what it does to both means.

    Parameters
    ----------
    parts : sequence of (SystemsCovariance, array_like)
        Covariance of each collection, and the mean there as a contrast of its runs.

    Returns
    -------
    list of (error, df)
        One for each group of sets that are drawn together.
    """
    groups: list[list[tuple[SystemsCovariance, npt.ArrayLike]]] = []
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


def _joint_error(
    parts: Sequence[tuple[SystemsCovariance, npt.ArrayLike]],
) -> tuple[float, float]:
    if len(parts) == 1:
        estimate = parts[0][0].estimate([0.0], parts[0][1])
        return estimate.systems_error, estimate.systems_df
    known = [(part.influences, contrast) for part, contrast in parts if part.influences is not None]
    total: dict[str, float] = {}
    team: dict[str, str] = {}
    for influences, contrast in known:
        values = influences.values @ np.asarray(contrast, float)
        for name, value in zip(influences.names, values.tolist(), strict=True):
            total[name] = total.get(name, 0.0) + value
        team.update(zip(influences.names, influences.teams, strict=False))
    teams = tuple(team.get(name, name) for name in total) if team else ()
    effect = max(influences.design_effect for influences, _ in known)
    joint = Influences(np.array([*total.values()])[:, None], tuple(total), teams, effect)
    return joint.error([1.0])
