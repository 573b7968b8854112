"""What every function here expects of its arrays, checked in one place."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ir_std._arrays import Floats


def check_scores(
    scores: npt.ArrayLike,
    name: str = "scores",
    *,
    topics: int = 1,
    systems: int = 1,
    single: bool = False,
) -> Floats:
    """``scores`` as a float array of shape (..., n_topics, n_systems).

    Raises
    ------
    ValueError
        On fewer than two dimensions (with ``single``, also on more), too few topics or systems,
        or a value that is NaN or infinite.
    """
    array = np.asarray(scores, dtype=float)
    if array.ndim < 2 or (single and array.ndim > 2):
        one = "one array of " if single else ""
        raise ValueError(f"{name} must be {one}topics x systems, got the shape {array.shape}")
    if array.shape[-2] < topics or array.shape[-1] < systems:
        raise ValueError(
            f"{name} must hold at least {topics} topic(s) x {systems} system(s), "
            f"got {array.shape[-2]} x {array.shape[-1]}"
        )
    return check_finite(array, name)


def check_same_systems(
    a: npt.ArrayLike, b: npt.ArrayLike, *, topics: int = 1, systems: int = 1
) -> tuple[Floats, Floats]:
    """Two collections' scores of the same systems, checked as :func:`check_scores` does."""
    first = check_scores(a, "the first collection", topics=topics, systems=systems)
    second = check_scores(b, "the second collection", topics=topics, systems=systems)
    if first.shape[-1] != second.shape[-1]:
        raise ValueError(
            "both collections must hold the same systems, "
            f"got {first.shape[-1]} and {second.shape[-1]}"
        )
    return first, second


def check_finite(array: Floats, name: str) -> Floats:
    """``array``, or a ValueError that says how many of its values are NaN or infinite."""
    if not np.isfinite(array).all():
        bad = int(array.size - np.isfinite(array).sum())
        raise ValueError(
            f"{name} holds {bad} value(s) that are NaN or infinite: leave those "
            "topics or systems out first"
        )
    return array


def check_level(value: npt.ArrayLike, name: str = "alpha") -> Floats:
    """``value`` as an array of probabilities strictly between 0 and 1."""
    array = np.asarray(value, dtype=float)
    if not ((array > 0) & (array < 1)).all():
        raise ValueError(f"{name} must lie between 0 and 1, got {array.tolist()}")
    return array
