"""Standardizing score arrays by each other, without factor sets."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ir_std._arrays import Floats
from ir_std.analysis.means import check_scores
from ir_std.schemes import EXACT, get_scheme


def standardize_matrix(
    scores: npt.ArrayLike, by: npt.ArrayLike | None = None, scheme: str = "N", **params: Any
) -> Floats:
    """Scores standardized by factors from the systems ``by``.

    Parameters
    ----------
    scores : array_like, shape (n_topics, n_systems)
    by : array_like, shape (n_topics, n_standardizing), optional
        The standardizing systems on the same topics; ``scores`` themselves unless given.
    scheme : str
        A scheme of :data:`ir_std.schemes.SCHEMES`, with its ``params`` (``A``, ``B`` of U;
        ``resolution``).

    Returns
    -------
    ndarray, shape (n_topics, n_systems)
        NaN as the scheme gives it where the standardizing systems do not differ.

    Raises
    ------
    ValueError
        If the topics differ in number, there are fewer than two standardizing systems, a value
        is NaN or infinite, or the scheme is unknown.
    """
    x = check_scores(scores, single=True)
    by = x if by is None else check_scores(by, "the standardizing systems", single=True)
    if by.shape[1] < 2 or x.shape[0] != by.shape[0]:
        raise ValueError(
            "factors need at least two standardizing systems on the same topics, "
            f"got the shapes {x.shape} and {by.shape}"
        )
    return get_scheme(scheme).apply(x, **compute_factors(by), **params)


def leave_out(
    scores: npt.ArrayLike, groups: Sequence[Hashable], scheme: str = "N", **params: Any
) -> Floats:
    """Each group's systems standardized by factors from all the other groups.

    The scores of systems that did not take part: the runs of one team resemble each other, so
    they are left out together (Sakai, ICTIR 2016).

    Parameters
    ----------
    scores : array_like, shape (n_topics, n_systems)
    groups : sequence, length n_systems
        The group of each system, such as its team.
    scheme : str
        As for :func:`standardize_matrix`, with its ``params``.

    Returns
    -------
    ndarray, shape (n_topics, n_systems)

    Raises
    ------
    ValueError
        If ``groups`` has another length, or fewer than two systems remain without a group; else
        as for :func:`standardize_matrix`.
    """
    x = check_scores(scores, single=True)
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
    """Factors from standardizing systems, shape (..., n_topics, n), for a scheme's ``apply``."""
    sd = by.std(axis=-1, ddof=1, keepdims=True)
    # Equal scores have a deviation of 0, whatever rounding makes of their mean.
    sd[np.ptp(by, axis=-1, keepdims=True) <= EXACT] = 0.0
    return {"mean": by.mean(axis=-1, keepdims=True), "sd": sd, "scores": by[..., None, :]}
