"""Standardizing score arrays by each other, without factor sets."""

from __future__ import annotations

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
    **params: Any,
) -> Floats:
    """Standardize scores by factors from the reference systems ``by``.

    Parameters
    ----------
    scores : array_like, shape (n_topics, n_systems)
    by : array_like, shape (n_topics, n_reference_systems), optional
        Scores of the reference systems on the same topics; ``scores`` themselves unless given.
    scheme : str
        A scheme of :data:`ir_std.schemes.SCHEMES`, with its ``params`` (``A``, ``B`` of U;
        ``resolution``).

    Returns
    -------
    ndarray, shape (n_topics, n_systems)
        NaN as the scheme gives it if the reference systems do not differ.

    Raises
    ------
    ValueError
        If the topics differ in number, fewer than two reference systems remain, a value is NaN or
        infinite, or the scheme is unknown.
    """
    x = check_scores(scores, single=True)
    reference = x if by is None else check_scores(by, "the reference systems", single=True)
    if reference.shape[1] < 2 or x.shape[0] != reference.shape[0]:
        raise ValueError(
            "factors need at least two reference systems on the same topics, "
            f"got the shapes {x.shape} and {reference.shape}"
        )
    return get_scheme(scheme).apply(x, **compute_factors(reference), **params)


def compute_factors(by: Floats) -> dict[str, Any]:
    """Compute factors of systems, shape (..., n_topics, n), for a scheme's ``apply``."""
    sd = by.std(axis=-1, ddof=1, keepdims=True)
    # Equal scores have a deviation of 0, whatever rounding makes of their mean.
    sd[np.ptp(by, axis=-1, keepdims=True) <= EXACT] = 0.0
    return {"mean": by.mean(axis=-1, keepdims=True), "sd": sd, "scores": by[..., None, :]}
