"""Means over topics that not every system has, as the tasks of a benchmark."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ir_std._arrays import Floats, Mask, divide
from ir_std.analysis.means import check_scores_with_gaps
from ir_std.schemes import EXACT, normal_cdf

CLOSE_ENOUGH = 1e-7
"""The fit ends when no system's mean z moves by more."""
MOST_STEPS = 10_000


class LinkedScores(NamedTuple):
    """Scores on one scale.

    Attributes
    ----------
    values : ndarray, shape (n_topics, n_systems)
        N of the linked z; NaN where a system has no score.
    means : ndarray, shape (n_systems,)
    mean, sd : ndarray, shape (n_topics,)
        Mean and standard deviation that standardize a topic; the linked z is ``(score - mean) /
        sd``.
    """

    values: Floats
    means: Floats
    mean: Floats
    sd: Floats


def linked_scores(scores: npt.ArrayLike) -> LinkedScores:
    """Compute comparable N of systems that each have only some of the topics.

    A score standardized by the systems that are there says less where these are weak: who leaves
    out a topic of strong systems gains.  So each topic's z is moved and stretched to the scale of
    all systems: ``z' = m_j + z * s_j``, with ``m_j`` the mean of ``c`` over the systems on topic
    ``j``, ``s_j`` their deviation of ``c`` over that of all systems, and ``c`` the systems' mean
    ``z'``, centred; repeated from the effects of an additive fit, system plus topic, until nothing
    moves.  A mean of the normal distribution function of ``z'`` is reported, not of ``z'``: one
    topic with an outlying score would carry a system.  With all scores there it is the plain mean
    of N.

    Parameters
    ----------
    scores : array_like, shape (n_topics, n_systems)
        Higher is better; NaN where a system has no score.

    Raises
    ------
    ValueError
        If there are not two dimensions, a score is infinite, a system has no score, a topic has
        fewer than two, or groups of systems have no topic in common.
    """
    x = check_scores_with_gaps(scores)
    known = ~np.isnan(x)
    _check_connected(known)
    mean = np.nanmean(x, axis=1, keepdims=True)
    sd = np.nanstd(x, axis=1, ddof=1, keepdims=True)
    z = np.where(sd > EXACT, np.where(known, x - mean, 0.0) / np.where(sd > EXACT, sd, 1.0), 0.0)
    z = np.where(known, z, np.nan)
    theta = _additive_effects(z)
    for _ in range(MOST_STEPS):
        shift, spread = _scale(known, theta)
        linked = shift + z * spread
        before, theta = theta, np.nanmean(linked, axis=0)
        if np.abs(theta - theta.mean() - (before - before.mean())).max() < CLOSE_ENOUGH:
            break
    values = normal_cdf(linked)
    scale = sd / spread
    return LinkedScores(
        values, np.nanmean(values, axis=0), (mean - scale * shift)[:, 0], scale[:, 0]
    )


def _check_connected(known: Mask) -> None:
    """Refuse systems that no chain of common topics leads to."""
    if known.size == 0 or (known.sum(axis=1) < 2).any() or not known.any(axis=0).all():
        raise ValueError("each topic needs two systems, and each system a topic")
    reached: Mask = np.zeros(known.shape[1], dtype=bool)
    reached[0], n_before = True, 0
    while n_before < (n_before := int(reached.sum())):
        reached = np.asarray(known[known[:, reached].any(axis=1)].any(axis=0))
    if not reached.all():
        raise ValueError(
            f"{int((~reached).sum())} systems have no topic in common with the others, nor "
            "through them: they cannot be put on one scale"
        )


def _additive_effects(z: Floats) -> Floats:
    """Return the systems' part of the least-squares fit of z by system plus topic."""
    theta = np.zeros(z.shape[1])
    for _ in range(MOST_STEPS):
        topic = np.nanmean(z - theta, axis=1, keepdims=True)
        before, theta = theta, np.nanmean(z - topic, axis=0)
        if np.abs(theta - before).max() < CLOSE_ENOUGH:
            break
    return theta


def _scale(known: Mask, theta: Floats) -> tuple[Floats, Floats]:
    """Return the mean of the systems' effects on each topic, and their spread over that of all."""
    c = np.where(known, theta - theta.mean(), np.nan)
    spread = divide(np.nanstd(c, axis=1, ddof=1), theta.std(ddof=1), otherwise=1.0)
    return np.nanmean(c, axis=1, keepdims=True), spread[:, None]
