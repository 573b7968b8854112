"""The normalization methods: the scores of one list on a common scale."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ir_std._arrays import Floats, divide
from ir_std.errors import InputError
from ir_std.trec.runs import DictRun, Run


def minmax(scores: Floats) -> Floats:
    """``(s - min) / (max - min)``: from 0 for the last document to 1 for the first.

    Parameters
    ----------
    scores : ndarray, shape (n,)
        The finite scores of one list, n at least 1; so for all methods.

    Returns
    -------
    ndarray, shape (n,)
        0 throughout a list without spread; so for all methods but :func:`by_max`.
    """
    above = _above_lowest(_scaled(scores)[0])
    return divide(above, above.max(), otherwise=0)


def by_sum(scores: Floats) -> Floats:
    """``(s - min) / sum(s - min)``: the scores of a list add up to 1."""
    position = minmax(scores)
    return divide(position, position.sum(), otherwise=0)


def zscore(scores: Floats) -> Floats:
    """``(s - mean) / sd``: mean 0 and variance 1."""
    position = minmax(scores)
    return divide(position - position.mean(), position.std(), otherwise=0)


def by_max(scores: Floats) -> Floats:
    """``s / max``, for a maximum above 0: :func:`minmax` with 0 as the lowest score."""
    with np.errstate(over="ignore"):  # an infinite score is refused later, like any other
        return divide(scores, scores.max(), otherwise=0)


def mmstdv(scores: Floats) -> Floats:
    """``sd * (s - min) / (max - min)``: :func:`minmax`, more for a list that spreads."""
    scaled, exponent = _scaled(scores)
    unscaled: Floats = np.ldexp(minmax(scaled) * _above_lowest(scaled).std(), exponent)
    return unscaled


def uv(scores: Floats) -> Floats:
    """``s / sd``: unit variance; :func:`zscore` without the shift to mean 0."""
    scaled, _ = _scaled(scores)
    return divide(scaled, _above_lowest(scaled).std(), otherwise=0)


def _scaled(scores: Floats) -> tuple[Floats, int]:
    """Scores divided by a power of 2, so that no difference overflows, and its exponent."""
    exponent = int(np.frexp(np.abs(scores).max())[1])
    return np.ldexp(scores, -exponent), exponent


def _above_lowest(scores: Floats) -> Floats:
    """``s - min``: the deviation of close scores is more exact without what they share."""
    above: Floats = scores - scores.min()
    return above


@dataclass(frozen=True)
class Method:
    """A way to normalize: its name, its formula, and whether the maximum must be above 0."""

    name: str
    formula: Callable[[Floats], Floats]
    needs_positive: bool = False

    def normalize(self, run: Run) -> Run:
        """Return a run with the scores of each topic normalized.

        Raises
        ------
        InputError
            Naming the topic, if its highest score must be above 0 and is not, or a score is
            infinite, or becomes so.
        """
        return DictRun.from_lists(
            (
                (topic, docs, self._normalize_list(scores, topic, run.name))
                for topic, (docs, scores) in run.check_finite().lists.items()
            ),
            run.name,
        ).check_finite()

    def _normalize_list(self, scores: Floats, topic: str, run: str) -> Floats:
        if not len(scores):
            return scores
        if self.needs_positive and not scores.max() > 0:
            raise InputError.at(
                run,
                f"the highest score of topic {topic} is {scores.max()}",
                f"{self.name} divides by it and needs it to be above 0: use minmax or zscore",
            )
        return self.formula(scores)


METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method("minmax", minmax),
        Method("max", by_max, needs_positive=True),
        Method("mmstdv", mmstdv),
        Method("uv", uv),
        Method("zscore", zscore),
        Method("sum", by_sum),
    )
}
"""The methods by name."""
