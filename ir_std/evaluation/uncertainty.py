"""How means standardized with a factor set vary with the systems that the factors come from."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
import numpy.typing as npt

from ir_std._arrays import Floats
from ir_std.analysis.estimate import Estimate
from ir_std.analysis.uncertainty import bootstrap_covariance, contrast_error, normal_covariance
from ir_std.evaluation.plans import Plan
from ir_std.factors.estimates import scores_by_system

BY_TEAM = "drawn by team"
BY_SYSTEM = (
    "drawn one by one, as teams are not known (by team they are 1.5 to 2 times as wide on "
    "tracks where they are)"
)
BY_THEORY = "by normal theory, where only means and deviations are known"


@dataclass(frozen=True)
class SystemsCovariance:
    """How runs' means by one standardized measure vary with the standardizing systems.

    Attributes
    ----------
    covariance : ndarray, shape (n_runs, n_runs)
        NaN where nothing is known of the systems.
    df : int
        Degrees of freedom: teams, or systems, less one.
    source : str
        How it was found, in words; empty where it was not.
    """

    covariance: Floats
    df: float
    source: str

    def estimate(self, values: npt.ArrayLike, contrast: npt.ArrayLike) -> Estimate:
        """Of scores by topic, which are such a combination of the runs' scores."""
        return Estimate.of(values, contrast_error(self.covariance, contrast), self.df)


def systems_covariance(plan: Plan, topics: Sequence[str], raw: Floats) -> SystemsCovariance:
    """How runs' means by a standardized measure vary with its standardizing systems.

    Parameters
    ----------
    plan : Plan
    topics : sequence of str
    raw : ndarray, shape (n_topics, n_runs)
        The scores of ``plan.raw``.
    """
    factors, name = plan.factors, plan.name
    rows = factors.rows(topics)
    # Where one of them has no value (flat topics under z) the mean does without the topic.
    used = (rows >= 0) & ~np.isnan(np.stack([plan.apply(column) for column in raw.T], axis=1)).any(
        axis=1
    )
    rows, x = rows[used], raw[used]
    unknown = np.full((x.shape[1], x.shape[1]), np.nan)
    scheme: str = plan.measure["scheme"]
    params: dict[str, Any] = plan.measure.scheme_params
    n = factors.n_systems[name]
    if len(rows) and name in factors.scores and name in factors.systems:
        numbers, scores = scores_by_system(factors, name)
        tags = team_tags(factors.info.get("tags", ()))
        groups: list[Hashable] = [team_of(tags[i]) if tags else i for i in numbers.tolist()]
        return SystemsCovariance(
            bootstrap_covariance(
                x,
                scores[rows],
                groups,
                scheme,
                resolution=factors.about(name, "resolution", 0.0),
                **params,
            ),
            len(set(groups)) - 1,
            BY_TEAM if tags else BY_SYSTEM,
        )
    if scheme == "E" or n < 2 or not len(rows):
        return SystemsCovariance(unknown, inf, "")
    return SystemsCovariance(
        normal_covariance(x, factors.mean[name][rows], factors.sd[name][rows], n, scheme, **params),
        n - 1,
        BY_THEORY,
    )


def team_tags(tags: Sequence[str]) -> Sequence[str]:
    """The tags, if they are names that teams gave: not numbers alone, as ``sys12``."""
    return () if all(re.fullmatch(r"(sys|run|system)[ _-]?\d+", tag) for tag in tags) else tags


def team_of(tag: str) -> str:
    """The team behind a run, as far as its tag tells: the first three characters."""
    return tag[:3].lower()


def no_covariance(n_runs: int) -> SystemsCovariance:
    """Raw scores have no factors."""
    return SystemsCovariance(np.zeros((n_runs, n_runs)), inf, "")
