"""Rank correlation between two rankings of the same systems, with ties.

Two systems are tied if their scores agree to 12 decimals.  Smaller differences can be rounding
errors, because the mean of the same values changes by about 1e-17 if they are summed in another
order.
"""

import numpy as np

from ir_std._arrays import ArrayLike, Floats, divide
from ir_std.analysis.means import check_finite, rounded_difference


def kendall_tau_b(x: ArrayLike, y: ArrayLike) -> Floats:
    """Compute Kendall's tau-b, the rank correlation that allows for ties.

    Tau-b is the difference between the numbers of concordant and discordant pairs, divided by the
    geometric mean of the numbers of pairs without a tie in ``x`` and in ``y``:

    ``sum(s_ij * t_ij) / sqrt(sum(s_ij**2) * sum(t_ij**2))`` with ``s_ij = sign(x_i - x_j)`` and
    ``t_ij = sign(y_i - y_j)`` over all pairs ``i < j`` (Kendall, The treatment of ties in
    ranking problems, Biometrika 1945).

    Parameters
    ----------
    x, y : array_like, shape (..., n)
        Scores of the same ``n >= 2`` systems; leading axes broadcast.

    Returns
    -------
    ndarray, shape (...)
        NaN if all systems are tied in ``x`` or in ``y``.

    Raises
    ------
    ValueError
        If the numbers of systems differ or are below 2, or a value is NaN or infinite.
    """
    x, y = _same_systems(x, y)
    i, j = np.triu_indices(x.shape[-1], 1)
    s = np.sign(rounded_difference(x[..., i], x[..., j]))
    t = np.sign(rounded_difference(y[..., i], y[..., j]))
    pairs = np.count_nonzero(s, axis=-1) * np.count_nonzero(t, axis=-1)
    return divide(np.einsum("...i,...i->...", s, t), np.sqrt(pairs), otherwise=np.nan)


def tau_ap_b(reference: ArrayLike, estimate: ArrayLike) -> Floats:
    """Compute AP correlation, a tau that weighs the top of the estimated ranking most.

    The value is ``2 / (n - t1) * sum_i C(i) / (p_i - 1) - 1``.  In ``estimate``, ``p_i - 1``
    systems are strictly above system ``i``; ``C(i)`` of these systems are also above system ``i``
    in ``reference``.  The sum leaves out the ``t1`` systems that share the first place.  Without
    ties, this is the AP correlation of Yilmaz, Aslam and Robertson (SIGIR 2008).  The value depends
    on which ranking is the reference.  If each ranking is the reference once, the mean of the two
    values is tau_AP,b of Urbano and Marrero (ICTIR 2017), which allows for ties.

    Parameters
    ----------
    reference, estimate : array_like, shape (..., n)
        Scores (higher is better) of the same ``n >= 2`` systems; leading axes broadcast.

    Returns
    -------
    ndarray, shape (...)
        Between -1 and 1.  NaN if all systems are tied in ``estimate``.

    Raises
    ------
    ValueError
        See :func:`kendall_tau_b`.
    """
    x, y = _same_systems(reference, estimate)
    above_x = rounded_difference(x[..., None, :], x[..., :, None]) > 0
    above_y = rounded_difference(y[..., None, :], y[..., :, None]) > 0
    above = np.count_nonzero(above_y, axis=-1)
    share = np.count_nonzero(above_x & above_y, axis=-1) / np.maximum(above, 1)
    below_first = np.count_nonzero(above, axis=-1)
    return 2 * divide(share.sum(axis=-1), below_first, otherwise=np.nan) - 1


def _same_systems(x: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
    """Check the shapes and values of both rankings, and return them as float arrays."""
    x, y = np.asarray(x, float), np.asarray(y, float)
    if x.ndim == 0 or y.ndim == 0 or x.shape[-1] != y.shape[-1] or x.shape[-1] < 2:
        raise ValueError(
            "a rank correlation needs two rankings of the same systems (at least two), "
            f"got the shapes {x.shape} and {y.shape}"
        )
    return check_finite(x, "the first ranking"), check_finite(y, "the second ranking")
