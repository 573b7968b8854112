"""Standardization of score arrays without factor sets.

:func:`linked_scores` is for systems that lack scores on some topics, for example on some tasks of a
benchmark.
"""

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ir_std._arrays import EXACT, ArrayLike, Floats, Mask, divide
from ir_std.analysis.means import check_scores, check_scores_with_gaps
from ir_std.schemes import get_scheme, normal_cdf

CLOSE_ENOUGH = 1e-7
"""The iteration ends if each system's mean z changes by less than this value."""
MOST_STEPS = 10_000


def standardize_matrix(
    scores: ArrayLike,
    by: ArrayLike | None = None,
    scheme: str = "N",
    *,
    leave_out: Sequence[Hashable] | None = None,
    **params: Any,
) -> Floats:
    """Standardize scores with factors that are computed from reference systems.

    Parameters
    ----------
    scores : array_like, shape (n_topics, n_systems)
        Scores to standardize.
    by : array_like, shape (n_topics, n_reference_systems), optional
        Scores of the reference systems on the same topics; by default, ``scores``.
    scheme : str
        Name of a scheme in :data:`ir_std.schemes.SCHEMES`.  The scheme's parameters are passed as
        ``params`` (``A`` and ``B`` for U; ``resolution``).
    leave_out : sequence, length n_systems, optional
        The group of each system, such as its team.  The systems of each group are then standardized
        by the systems of all other groups, as if the group had not taken part.  The runs of one
        team resemble each other, so all runs of a team are left out together (Sakai, ICTIR 2016).

    Returns
    -------
    ndarray, shape (n_topics, n_systems)
        Standardized scores.  If the reference systems do not differ on a topic, the score may be
        NaN.

    Raises
    ------
    ValueError
        If the numbers of topics differ, fewer than two reference systems remain, a value is NaN or
        infinite, the scheme is unknown, ``leave_out`` does not have one group per system, or both
        ``leave_out`` and ``by`` are given.
    """
    x = check_scores(scores, single=True)
    if leave_out is not None:
        return _by_other_groups(x, by, scheme, leave_out, params)
    reference = x if by is None else check_scores(by, "the reference systems", single=True)
    if reference.shape[1] < 2 or x.shape[0] != reference.shape[0]:
        raise ValueError(
            "factors need at least two reference systems on the same topics, "
            f"got the shapes {x.shape} and {reference.shape}"
        )
    return get_scheme(scheme).apply(x, **compute_factors(reference), **params)


def _by_other_groups(
    x: Floats, by: Any, scheme: str, groups: Sequence[Hashable], params: dict[str, Any]
) -> Floats:
    """Standardize each group's systems by the systems of all other groups."""
    if by is not None:
        raise ValueError(
            "by cannot be combined with leave_out, which standardizes systems by each other"
        )
    if len(groups) != x.shape[1]:
        raise ValueError(f"leave_out needs {x.shape[1]} groups, one per system, got {len(groups)}")
    result = np.empty_like(x)
    for group in dict.fromkeys(groups):
        inside = np.array([g == group for g in groups])
        if np.count_nonzero(~inside) < 2:
            raise ValueError(
                f"fewer than two systems remain as reference systems without group {group!r}"
            )
        result[:, inside] = standardize_matrix(x[:, inside], x[:, ~inside], scheme, **params)
    return result


def compute_factors(by: Floats) -> dict[str, Any]:
    """Compute the factors for a scheme's ``apply`` from the reference systems' scores.

    ``by`` has the shape (..., n_topics, n_systems).
    """
    sd = by.std(axis=-1, ddof=1, keepdims=True)
    # Equal scores get a deviation of exactly 0, even if rounding changes their mean.
    sd[np.ptp(by, axis=-1, keepdims=True) <= EXACT] = 0.0
    return {"mean": by.mean(axis=-1, keepdims=True), "sd": sd, "scores": by[..., None, :]}


class LinkedScores(NamedTuple):
    """Scores on one scale.

    Attributes
    ----------
    values : ndarray, shape (n_topics, n_systems)
        N scores computed from the linked z; NaN if a system has no score.
    means : ndarray, shape (n_systems,)
        Mean of each system's values.
    mean, sd : ndarray, shape (n_topics,)
        Mean and standard deviation with which a topic's scores are standardized; the linked z is
        ``(score - mean) / sd``.
    """

    values: Floats
    means: Floats
    mean: Floats
    sd: Floats


def linked_scores(scores: ArrayLike) -> LinkedScores:
    """Compute comparable N scores for systems that have scores on different topics.

    If each topic were standardized only by the systems with a score on the topic, a system would
    gain by leaving out topics on which strong systems have scores.  So each topic's z is shifted
    and stretched to the scale of all systems: ``z' = m_j + z * s_j``.  Let ``c`` be each system's
    mean ``z'`` minus the average of these means over all systems.  Then ``m_j`` is the mean of
    ``c`` over the systems on topic ``j``, and ``s_j`` is the standard deviation of ``c`` over these
    systems, divided by the standard deviation of ``c`` over all systems.  The iteration starts from
    an additive fit (system effect plus topic effect) and ends when ``c`` no longer changes.  The
    reported mean of a system is the mean of its N scores, which are the normal distribution
    function of ``z'``.  The mean of ``z'`` is not reported, because one outlying score could decide
    that mean.  If no score is missing, the result is the plain mean of N.

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
    scored = ~np.isnan(x)
    _check_connected(scored)
    mean = np.nanmean(x, axis=1, keepdims=True)
    sd = np.nanstd(x, axis=1, ddof=1, keepdims=True)
    z = np.where(sd > EXACT, np.where(scored, x - mean, 0.0) / np.where(sd > EXACT, sd, 1.0), 0.0)
    z = np.where(scored, z, np.nan)
    theta = _additive_effects(z)
    for _ in range(MOST_STEPS):
        shift, spread = _scale(scored, theta)
        linked = shift + z * spread
        before, theta = theta, np.nanmean(linked, axis=0)
        if np.abs(theta - theta.mean() - (before - before.mean())).max() < CLOSE_ENOUGH:
            break
    values = normal_cdf(linked)
    scale = sd / spread
    return LinkedScores(
        values, np.nanmean(values, axis=0), (mean - scale * shift)[:, 0], scale[:, 0]
    )


def _check_connected(scored: Mask) -> None:
    """Raise an error if common topics do not connect all systems."""
    if scored.size == 0 or (scored.sum(axis=1) < 2).any() or not scored.any(axis=0).all():
        raise ValueError("each topic needs scores of two systems, and each system needs a score")
    reached: Mask = np.zeros(scored.shape[1], dtype=bool)
    reached[0], n_before = True, 0
    while n_before < (n_before := int(reached.sum())):
        reached = np.asarray(scored[scored[:, reached].any(axis=1)].any(axis=0))
    if not reached.all():
        raise ValueError(
            "shared topics do not connect all systems, so the systems cannot be put on one scale "
            f"(not connected: {int((~reached).sum())})"
        )


def _additive_effects(z: Floats) -> Floats:
    """Return the system effects of a least-squares fit of z: system effect plus topic effect."""
    theta = np.zeros(z.shape[1])
    for _ in range(MOST_STEPS):
        topic = np.nanmean(z - theta, axis=1, keepdims=True)
        before, theta = theta, np.nanmean(z - topic, axis=0)
        if np.abs(theta - before).max() < CLOSE_ENOUGH:
            break
    return theta


def _scale(scored: Mask, theta: Floats) -> tuple[Floats, Floats]:
    """Return the mean and the spread of the systems' effects on each topic.

    Systems without a score on the topic are ignored.

    The spread on a topic is the standard deviation of the effects of the systems on this topic,
    divided by the standard deviation of all systems' effects.
    """
    c = np.where(scored, theta - theta.mean(), np.nan)
    spread = divide(np.nanstd(c, axis=1, ddof=1), theta.std(ddof=1), otherwise=1.0)
    return np.nanmean(c, axis=1, keepdims=True), spread[:, None]
