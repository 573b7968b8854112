"""Standardization of score arrays by one another, without factor sets."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ir_std._arrays import Floats
from ir_std.analysis.means import check_scores
from ir_std.schemes import EXACT, get_scheme


def standardize_matrix(
    scores: npt.ArrayLike,
    by: npt.ArrayLike | None = None,
    scheme: str = "N",
    *,
    leave_out: Sequence[Hashable] | None = None,
    **params: Any,
) -> Floats:
    """Standardize scores by factors from the reference systems ``by``.

    Parameters
    ----------
    scores : array_like, shape (n_topics, n_systems)
        Scores to standardize.
    by : array_like, shape (n_topics, n_reference_systems), optional
        Scores of the reference systems on the same topics; by default, ``scores``.
    scheme : str
        A scheme of :data:`ir_std.schemes.SCHEMES`, with its ``params`` (``A`` and ``B`` for U;
        ``resolution``).
    leave_out : sequence, length n_systems, optional
        The group of each system, such as its team.  Each group is then standardized by all other
        groups, as if it had not taken part.  The runs of one team resemble each other, so they are
        left out together (Sakai, ICTIR 2016).

    Returns
    -------
    ndarray, shape (n_topics, n_systems)
        Standardized scores.  If the reference systems do not differ on a topic, the scheme may give
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
        raise ValueError("leave_out requires the systems' own scores; leave by out")
    if len(groups) != x.shape[1]:
        raise ValueError(f"{x.shape[1]} systems need as many groups, got {len(groups)}")
    result = np.empty_like(x)
    for group in dict.fromkeys(groups):
        inside = np.array([g == group for g in groups])
        if np.count_nonzero(~inside) < 2:
            raise ValueError(
                f"without group {group!r} fewer than two systems remain to standardize by"
            )
        result[:, inside] = standardize_matrix(x[:, inside], x[:, ~inside], scheme, **params)
    return result


def compute_factors(by: Floats) -> dict[str, Any]:
    """Compute factors from systems, shape (..., n_topics, n), for a scheme's ``apply``."""
    sd = by.std(axis=-1, ddof=1, keepdims=True)
    # Equal scores get a deviation of exactly 0, even if rounding changes their mean.
    sd[np.ptp(by, axis=-1, keepdims=True) <= EXACT] = 0.0
    return {"mean": by.mean(axis=-1, keepdims=True), "sd": sd, "scores": by[..., None, :]}
