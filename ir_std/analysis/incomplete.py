"""Means over topics if systems lack some of them, such as the tasks of a benchmark."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ir_std._arrays import Floats, Mask, divide
from ir_std.analysis.means import check_scores_with_gaps
from ir_std.schemes import EXACT, normal_cdf

CLOSE_ENOUGH = 1e-7
"""The iteration ends when no system's mean z changes by more than this."""
MOST_STEPS = 10_000


class LinkedScores(NamedTuple):
    """Scores on one scale.

    Attributes
    ----------
    values : ndarray, shape (n_topics, n_systems)
        Scores of scheme N, from the linked z; NaN if a system has no score.
    means : ndarray, shape (n_systems,)
        Mean of each system's values.
    mean, sd : ndarray, shape (n_topics,)
        Mean and standard deviation that standardize a topic; the linked z is ``(score - mean) /
        sd``.
    """

    values: Floats
    means: Floats
    mean: Floats
    sd: Floats


def linked_scores(scores: npt.ArrayLike) -> LinkedScores:
    """Compute comparable N scores for systems that each have only some of the topics.

    If each topic were standardized by only the systems that it has, a system would gain by leaving
    out the topics of strong systems.  So each topic's z is shifted and stretched to the scale of
    all systems: ``z' = m_j + z * s_j``.  Let ``c`` be the systems' mean ``z'``, centred.  Then
    ``m_j`` is the mean of ``c`` over the systems on topic ``j``, and ``s_j`` is their standard
    deviation of ``c`` divided by the deviation for all systems.  The iteration starts from an
    additive fit (system plus topic) and ends when ``c`` no longer changes.  The reported mean is
    the mean of the normal distribution function of ``z'``; in a mean of ``z'``, one outlying score
    could decide the result.  If no score is missing, the result is the plain mean of N.

    Parameters
    ----------
    scores : array_like, shape (n_topics, n_systems)
        Scores, where higher is better; NaN if a system has no score.

    Raises
    ------
    ValueError
        If there are not two dimensions, a score is infinite, a system has no score, a topic has
        fewer than two scores, or groups of systems have no topic in common.
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
    """Raise an error if common topics do not connect all systems."""
    if known.size == 0 or (known.sum(axis=1) < 2).any() or not known.any(axis=0).all():
        raise ValueError("each topic needs two systems, and each system a topic")
    reached: Mask = np.zeros(known.shape[1], dtype=bool)
    reached[0], n_before = True, 0
    while n_before < (n_before := int(reached.sum())):
        reached = np.asarray(known[known[:, reached].any(axis=1)].any(axis=0))
    if not reached.all():
        raise ValueError(
            f"{int((~reached).sum())} systems have no topic in common with the others, not even "
            "through other systems, so they cannot be put on one scale"
        )


def _additive_effects(z: Floats) -> Floats:
    """Return the systems' effects in a least-squares fit of z by system plus topic."""
    theta = np.zeros(z.shape[1])
    for _ in range(MOST_STEPS):
        topic = np.nanmean(z - theta, axis=1, keepdims=True)
        before, theta = theta, np.nanmean(z - topic, axis=0)
        if np.abs(theta - before).max() < CLOSE_ENOUGH:
            break
    return theta


def _scale(known: Mask, theta: Floats) -> tuple[Floats, Floats]:
    """Return each topic's mean system effect, and its spread relative to that of all systems."""
    c = np.where(known, theta - theta.mean(), np.nan)
    spread = divide(np.nanstd(c, axis=1, ddof=1), theta.std(ddof=1), otherwise=1.0)
    return np.nanmean(c, axis=1, keepdims=True), spread[:, None]
