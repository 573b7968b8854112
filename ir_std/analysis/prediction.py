"""Estimate means from human labels for a few topics and a language model's labels for all topics.

The method is prediction-powered inference with two pooled multipliers (Angelopoulos, Duchi and
Zrnic, "PPI++", 2023), which is the regression estimator of survey sampling.  The model's scores on
all topics show whether the topics that people judged are easier or harder than average.  The
estimate corrects for such a difference.  The topics with both kinds of labels show how far the
model's scores can be trusted.  If these topics show that the model's labels contain no information,
the estimate ignores these labels.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import nan, sqrt
from typing import Literal

import numpy as np
from scipy.special import stdtrit

from ir_std._arrays import ArrayLike, Floats, Ints
from ir_std.analysis.means import Estimate

MIN_TOPICS = 5
"""Smallest number of human-judged topics that an estimate needs."""
ADVISED_TOPICS = 10
"""Recommended number of topics judged by people; with fewer topics, the interval is wide and
imprecise."""
MIN_POOLED_SYSTEMS = 5
"""Smallest number of systems for which the multiplier ``s`` is estimated.  With fewer systems,
``s`` is set to the multiplier ``c``."""
NEGLIGIBLE_VARIANCE = 1e-12
"""Largest ratio of two sums of squares that counts as a rounding error.  The numerator is the sum
for the centered scores, and the denominator is the sum for the scores themselves."""
WEAK_MULTIPLIER = 0.2
"""Smallest multiplier ``s`` without a warning that the model's labels barely separate systems."""
MULTIPLIER_GAP = 0.4
"""Largest ``s - c`` without a warning that standardized scores should be preferred."""
MIN_VARYING_TOPICS = 3
"""Smallest number of judged topics on which a score or difference must vary to get an interval."""
DRAW_LEVEL = 0.995
"""Probability level of a quantile of Student's t.  If the statistic of the judged topics is above
this quantile, these topics do not look like a random draw."""

Population = Literal["finite", "topics"]


@dataclass(frozen=True, eq=False)
class PredictionPowered:
    """Means of systems under human labels, estimated with the help of a model's labels.

    Attributes
    ----------
    mean : ndarray, shape (n_systems,)
        Estimated mean of each system over all topics under human labels.
    multipliers : (float, float)
        Shares of the model's scores that the estimate uses.  The first multiplier (c) applies to
        the mean score of all systems on a topic.  The second multiplier (s) applies to the
        difference between a system's score and this mean score.
    equivalent_topics : float
        Number of topics that people would have to judge to get intervals of the same width without
        the model.  The number is computed for all systems together.
    n_human, n_topics : int
        Number of topics that people judged, and number of all topics.
    covariance : ndarray, shape (n_systems, n_systems)
        Covariance of the estimated means over draws of topics.
    df : int
        Degrees of freedom of intervals: n - 2, or n - 1 if the model's labels are ignored.
    warnings : tuple of str
        Reasons to doubt the estimate.
    """

    mean: Floats
    multipliers: tuple[float, float]
    equivalent_topics: float
    n_human: int
    n_topics: int
    covariance: Floats
    df: int
    warnings: tuple[str, ...]
    _human: Floats  # (n_human, n_systems), without topics that have no score

    def contrast(self, weights: ArrayLike) -> Estimate:
        """Estimate a weighted sum of the systems' means, such as a difference of two.

        Parameters
        ----------
        weights : array_like, shape (n_systems,)
            Weights of the systems; 1 for one system and -1 for another give their difference.

        Returns
        -------
        Estimate
            The estimate, whose ``interval`` is Student's t interval.  The error is NaN if the
            weighted sum of human scores varies on fewer than `MIN_VARYING_TOPICS` of the judged
            topics, because so few topics say too little about the variance of the sum.

        Raises
        ------
        ValueError
            If there is not one finite weight per system.
        """
        w = np.asarray(weights, float)
        if w.shape != self.mean.shape or not np.isfinite(w).all():
            raise ValueError(f"expected {len(self.mean)} finite weights, one per system")
        variance = max(0.0, float(w @ self.covariance @ w))
        if variance and varying_topics(self._human @ w) < MIN_VARYING_TOPICS:
            variance = nan
        return Estimate(float(self.mean @ w), self.n_human, sqrt(variance), self.df)


def prediction_powered(
    human: ArrayLike,
    llm: ArrayLike,
    rows: ArrayLike,
    population: Population = "finite",
) -> PredictionPowered:
    """Estimate means from human labels for some topics and a model's labels for all topics.

    Let ``y`` be the human scores and ``x`` the model's scores, centered by system on the judged
    topics; ``yd`` and ``xd`` are also centered by topic.  The multipliers are ``c = sum(xy) /
    sum(xx)`` and ``s = sum(xd yd) / sum(xd xd)``, both clipped to [0, 1].  With ``g = c rowmean(x)
    + s (x - rowmean(x))``, the estimate is ``mean(human) + mean_all(g) - mean_judged(g)``.

    Parameters
    ----------
    human : array_like, shape (n_human, n_systems)
        Scores under human labels, one row per judged topic.  For a judged topic without a relevant
        document, pass a row of NaN; the result is then an estimate of the mean over topics with a
        relevant document.
    llm : array_like, shape (n_topics, n_systems)
        Scores of the same systems under the model's labels, on all topics.
    rows : array_like of int, shape (n_human,)
        For each row of `human`, the number of the row of `llm` with the same topic.  The judged
        topics must have been drawn at random.
    population : {'finite', 'topics'}
        Estimate the mean over the topics of `llm` (``'finite'``), or over all topics of the same
        kind (``'topics'``).

    Raises
    ------
    ValueError
        If fewer than 5 judged topics have scores, a topic is repeated, `llm` holds NaN, or the
        shapes do not match.

    Examples
    --------
    >>> y = [[.45], [.35], [.45], [.75], [.5]]
    >>> x = [[.3], [.5], [.7], [.9], [.6], [.2], [.4], [.6], [.8], [.5]]
    >>> corrected = prediction_powered(y, x, range(5))
    >>> round(float(corrected.mean[0]), 3), round(corrected.contrast([1]).half, 4)
    (0.475, 0.1162)
    """
    y, x, judged = _checked(human, llm, rows)
    if population not in ("finite", "topics"):
        raise ValueError(f"population is {population!r}; choose from finite, topics")
    n, scored = len(y), ~np.isnan(y[:, 0])
    raised = n / scored.sum()  # makes the result a mean over the topics that have a score
    mean = y[scored].mean(axis=0)
    centred = y[scored] - mean
    c, s = _multipliers(centred, x[judged[scored]])
    level = x.mean(axis=1, keepdims=True)
    g = c * level + s * (x - level)
    g_judged = g[judged] - g[judged].mean(axis=0)
    scores = np.zeros_like(y)
    scores[scored] = raised * centred
    residuals = scores - g_judged
    spent = 2 if c or s else 1
    total = (scores**2).sum() / (n - 1)
    left = (residuals**2).sum() / (n - spent)
    rho2 = min(1.0, left / total) if total else 1.0
    covariance = residuals.T @ residuals / (n - spent) / n * (1 - n / len(x))
    if population == "topics":
        covariance += scores.T @ scores / (n - 1) / len(x)
    return PredictionPowered(
        mean=mean + g.mean(axis=0) - g[judged].mean(axis=0),
        multipliers=(c, s),
        equivalent_topics=1 / (rho2 / n + (1 - rho2) / len(x)),
        n_human=n,
        n_topics=len(x),
        covariance=covariance,
        df=int(scored.sum()) - spent,
        warnings=tuple(_doubts(n, c, s, x.shape[1], g.mean(axis=1), judged)),
        _human=y[scored],
    )


def varying_topics(values: ArrayLike) -> int:
    """Count the topics whose value, to 12 decimals, differs from the most common value."""
    rounded = np.round(np.asarray(values, float), 12)
    return len(rounded) - int(np.unique(rounded, return_counts=True)[1].max())


def _checked(human: ArrayLike, llm: ArrayLike, rows: ArrayLike) -> tuple[Floats, Floats, Ints]:
    """Return the arguments as arrays, or raise ValueError."""
    y, x = np.asarray(human, float), np.asarray(llm, float)
    judged = np.asarray(list(rows) if isinstance(rows, range) else rows)
    if y.ndim != 2 or x.ndim != 2 or y.shape[1] != x.shape[1] or not x.shape[1]:
        raise ValueError(
            "human and llm must be topics x systems with the same systems, got the shapes "
            f"{y.shape} and {x.shape}"
        )
    if judged.shape != (len(y),) or judged.dtype.kind not in "iu":
        raise ValueError(f"rows must be {len(y)} whole numbers, one per row of human")
    if len(judged) and (judged.min() < 0 or judged.max() >= len(x)):
        raise ValueError(f"rows must lie between 0 and {len(x) - 1}, because llm has {len(x)} rows")
    if len(set(judged.tolist())) < len(judged):
        raise ValueError("rows must not repeat a topic; give each judged topic once")
    if not np.isfinite(x).all():
        raise ValueError("llm must have a finite score for every topic and system")
    missing = np.isnan(y)
    if np.isinf(y).any() or (missing.any(axis=1) != missing.all(axis=1)).any():
        raise ValueError("a topic of human needs scores of all systems, or NaN for all systems")
    if (k := int((~missing.any(axis=1)).sum())) < MIN_TOPICS:
        raise ValueError(
            f"need at least {MIN_TOPICS} topics with human scores ({ADVISED_TOPICS} are better), "
            f"got {k}"
        )
    return y, x, judged.astype(np.int64)


def _multipliers(y: Floats, judged: Floats) -> tuple[float, float]:
    """Compute the multipliers c and s from scores on the judged topics.

    ``y`` holds centered human scores, and ``judged`` holds the model's scores.
    """
    x = judged - judged.mean(axis=0)
    c = _slope(x, y, judged)
    if y.shape[1] < MIN_POOLED_SYSTEMS:
        return c, c
    xd, yd = (z - z.mean(axis=1, keepdims=True) for z in (x, y))
    return c, _slope(xd, yd, judged)


def _slope(x: Floats, y: Floats, uncentred: Floats) -> float:
    squares = float((x * x).sum())
    if squares <= NEGLIGIBLE_VARIANCE * float((uncentred**2).sum()):
        return 0.0
    return float(np.clip((x * y).sum() / squares, 0, 1))


def _doubts(n: int, c: float, s: float, n_systems: int, g: Floats, judged: Ints) -> Iterator[str]:
    """Yield sentences with the reasons to doubt an estimate."""
    if n < ADVISED_TOPICS:
        yield f"only {n} topics were judged by people; judge at least {ADVISED_TOPICS}"
    if s < WEAK_MULTIPLIER:
        yield (
            f"the model's labels barely separate the systems (multiplier {s:.2f}), so "
            "intervals are almost as wide as without these labels"
        )
    if n_systems >= MIN_POOLED_SYSTEMS and s > c + MULTIPLIER_GAP:
        yield (
            "the model's labels follow differences between systems, but not the difficulty of "
            "topics; prefer standardized scores (scheme N)"
        )
    error = g.std(ddof=1) * sqrt((1 - n / len(g)) / n) if len(g) > n else 0.0
    if error and abs(g[judged].mean() - g.mean()) > stdtrit(n - 1, DRAW_LEVEL) * error:
        yield (
            "the judged topics do not look like a random draw, because the model's scores on them "
            "differ much from its scores on all topics; draw topics with ir_std correct --draw"
        )
