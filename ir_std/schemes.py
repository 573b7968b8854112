"""Formulas on arrays, which standardize raw scores with the schemes z, N, U and E.

The input of a scheme is a topic's raw scores ``x``, and data about the reference systems on that
topic: the mean and the sample standard deviation (n-1) of their scores, or the scores themselves.
"""

from collections.abc import Callable, Iterable
from math import erfc, sqrt
from typing import Any, NamedTuple

import numpy as np

from ir_std._arrays import EXACT, ArrayLike, Floats
from ir_std.errors import NoFactorsError, UsageError, look_up

_MANY = 50_000
"""Number of values above which scipy.special is faster, even including the time to import it."""


def means_and_deviations(ordered: Floats) -> tuple[Floats, Floats]:
    """Return the mean and the sample standard deviation (n-1) of each row.

    >>> means_and_deviations(np.array([[0.2, 0.3, 0.4], [0.5, 0.5, np.nan]]))
    (array([0.3, 0.5]), array([0.1, 0. ]))

    The scores of a row must be in ascending order, with NaN at the end.  The mean and the standard
    deviation are NaN for a row of fewer than two scores.  If the scores of a row differ by at most
    ``EXACT``, the standard deviation is 0.
    """
    if not ordered.shape[1]:
        return np.full(len(ordered), np.nan), np.full(len(ordered), np.nan)
    n = (~np.isnan(ordered)).sum(axis=1)
    enough = n > 1
    lowest = ordered[:, 0]
    highest = np.take_along_axis(ordered, np.maximum(n - 1, 0)[:, None], axis=1)[:, 0]
    mean = np.nansum(ordered, axis=1) / np.maximum(n, 1)
    squares = np.nansum((ordered - mean[:, None]) ** 2, axis=1)
    sd = np.sqrt(squares / np.maximum(n - 1, 1))
    alike = highest - lowest <= EXACT
    return (
        np.where(enough, np.where(alike, lowest, mean), np.nan),
        np.where(enough, np.where(alike, 0.0, sd), np.nan),
    )


def z_scores(x: ArrayLike, mean: ArrayLike, sd: ArrayLike) -> Floats:
    """Compute the difference from the mean in units of the standard deviation.

    Webber, Moffat and Zobel (SIGIR 2008), eq. 1: ``(x - mean) / sd``.

    Parameters
    ----------
    x, mean, sd : array_like
        Raw scores and factors, which are broadcast against each other.  NaN marks a topic without
        factors.

    Returns
    -------
    ndarray
        The z-scores.  A z-score is NaN if a factor is NaN.  A z-score is also NaN if ``sd`` is 0,
        because the scores of the reference systems are then all equal and give no unit.
    """
    x, mean, sd = (np.asarray(a, dtype=float) for a in (x, mean, sd))
    spread = sd > 0
    z: Floats = (x - mean) / np.where(spread, sd, np.nan)
    return z


def limit_of_z(x: ArrayLike, mean: ArrayLike, resolution: float = 0.0) -> Floats:
    """Return the limit of :func:`z_scores` as ``sd`` goes to 0: 0, inf or -inf.

    Parameters
    ----------
    x, mean : array_like
        Raw scores, and the common score of all reference systems.
    resolution : float
        Step to which the reference systems' scores were rounded (0.0001 for four decimals, 0 for
        exact scores).  ``x`` counts as equal to the mean if it would be rounded to the mean.
    """
    above = np.asarray(x, dtype=float) - np.asarray(mean, dtype=float)
    same = np.abs(above) <= max(resolution / 2, 0) + EXACT
    return np.where(same, 0.0, above + np.copysign(np.inf, above))


def normal_cdf(z: ArrayLike) -> Floats:
    """Compute the standard normal distribution function, elementwise; NaN stays NaN.

    Webber, Moffat and Zobel (SIGIR 2008), eq. 2.
    """
    z = np.asarray(z, dtype=float)
    if z.size > _MANY:
        from scipy.special import ndtr

        return np.asarray(ndtr(z))
    # math.erfc is exact to the last place and costs less than importing scipy.special.
    scaled = z.ravel() * -sqrt(0.5)
    return np.fromiter(map(erfc, scaled.tolist()), float, z.size).reshape(z.shape) * 0.5


def clipped_linear(z: ArrayLike, A: float = 0.15, B: float = 0.5) -> Floats:
    """Compute ``A * z + B``, clipped to [0, 1]; NaN stays NaN.

    Sakai (ICTIR 2016), std-AB.
    """
    return np.clip(A * np.asarray(z, dtype=float) + B, 0.0, 1.0)


def empirical_cdf(x: ArrayLike, scores: ArrayLike, resolution: float = 0.0) -> Floats:
    """Compute the share of the reference systems that score at most ``x``.

    Urbano, Lima and Hanjalic (SIGIR 2019), eq. 7.

    Parameters
    ----------
    x : array_like, shape (...)
        Raw scores.
    scores : array_like, shape (..., n)
        Scores of the ``n`` reference systems on the topic of each raw score.  NaN means that a
        system has no score.  If all systems have NaN, the result is NaN.
    resolution : float
        Step to which ``x`` is rounded before it is compared with the scores; see
        :func:`limit_of_z`.

    Returns
    -------
    ndarray, shape (...)
        Shares between 0 and 1.

    Notes
    -----
    A system that ties with ``x`` counts in full.  So the score 0.5 means average only if no systems
    tie.  If each tied system counted as half a system, 0.5 would always mean average, but coarse
    measures would separate systems less well.  To test this for P@10, systems were compared on two
    halves of the topics.  If tied systems counted half, more comparisons would have opposite
    results on the two halves: a share of 0.156 instead of 0.150 on TREC-8, and of 0.141 instead of
    0.133 on DL 2019.  If tied systems counted half, a measure with only the values 0 and 1 would
    not be standardized at all, because the standardized scores of 0 and 1 would differ by 0.5 on
    every topic.
    """
    x = np.asarray(x, dtype=float)
    scores = np.asarray(scores, dtype=float)
    if resolution > 0:
        at_most = np.rint(scores / resolution) <= np.rint(x / resolution)[..., None]
    else:
        at_most = scores <= x[..., None] + EXACT
    n = np.sum(~np.isnan(scores), axis=-1)
    defined = (n > 0) & ~np.isnan(x)
    return np.where(defined, at_most.sum(axis=-1) / np.where(n > 0, n, 1), np.nan)


class Scheme(NamedTuple):
    """Standardization scheme, with its name, its source, its formula and its requirements."""

    name: str
    needs_scores: bool
    source: str
    from_z: Callable[..., Floats] | None = None
    bounded: bool = True

    def apply(
        self,
        x: ArrayLike,
        *,
        mean: ArrayLike = np.nan,
        sd: ArrayLike = np.nan,
        scores: ArrayLike | None = None,
        resolution: float = 0.0,
        sign: float = 1.0,
        **params: Any,
    ) -> Floats:
        """Standardize ``x``, elementwise.

        Parameters
        ----------
        x : array_like, shape (...)
            Raw scores.
        mean, sd : array_like, broadcastable to ``x``
            Factors for z, N and U.
        scores : array_like, shape (..., n)
            Scores of the reference systems, for E.
        resolution : float
            See :func:`limit_of_z`.
        sign : {1, -1}
            -1 if lower is better.  For -1, all scores are negated before they are standardized, so
            that 0.84 always means one standard deviation better than average.
        **params
            Parameters ``A`` and ``B`` of U.

        Returns
        -------
        ndarray, shape (...)
            Standardized scores; NaN if a factor is NaN.  If ``sd`` is 0, all reference systems have
            one common score.  N and U are then 0 if ``x`` is below the common score, and 1 if ``x``
            is above it.  If ``x`` equals the common score, N is 0.5 and U is ``B``.  Scheme z is
            NaN for every ``x`` if ``sd`` is 0.

        Raises
        ------
        NoFactorsError
            If E is applied without scores.
        """
        if self.from_z is None:
            if scores is None:
                raise NoFactorsError(
                    "scheme 'E' needs the scores of the reference systems, but these factors hold "
                    "only means and standard deviations; use N, U or z"
                )
            return empirical_cdf(np.multiply(x, sign), np.multiply(scores, sign), resolution)
        x, mean = np.multiply(x, sign), np.multiply(mean, sign)
        z = z_scores(x, mean, sd)
        flat = np.equal(sd, 0)
        if self.bounded and flat.any():
            z = np.where(flat, limit_of_z(x, mean, resolution), z)
        return self.from_z(z, **params)


SCHEMES: dict[str, Scheme] = {
    s.name: s
    for s in (
        Scheme("N", False, "Webber, Moffat and Zobel 2008, eq. 2", normal_cdf),
        Scheme("U", False, "Sakai 2016", clipped_linear),
        Scheme("E", True, "Urbano, Lima and Hanjalic 2019, eq. 7"),
        Scheme("z", False, "Webber, Moffat and Zobel 2008, eq. 1", np.asarray, bounded=False),
    )
}
"""Schemes by name; the default scheme is first."""


def get_scheme(name: str) -> Scheme:
    """Look up a scheme by its name.

    Raises
    ------
    UsageError
        If the name is unknown; the message lists the allowed names.
    """
    return look_up(name, SCHEMES, "scheme")


def scheme_names(schemes: str | Iterable[str]) -> tuple[str, ...]:
    """Parse scheme names from ``"N,U"``, a list of names, ``"all"`` or ``"none"``.

    Raises
    ------
    UsageError
        If a name is unknown, or if no name is given.
    """
    if not isinstance(schemes, Iterable):
        raise UsageError(f"expected names of schemes, got {schemes!r}")
    names = schemes.split(",") if isinstance(schemes, str) else list(map(str, schemes))
    if names == ["all"]:
        return tuple(SCHEMES)
    if names == ["none"]:
        return ()
    if not names:
        raise UsageError(f"no scheme; name at least one of {', '.join(SCHEMES)}")
    return tuple(dict.fromkeys(get_scheme(name.strip()).name for name in names))
