"""Scores of models on whole datasets, of which each has other models.

Every model's main score is known; other measures are of the models that count as reference systems
of a dataset.  Scores are whole numbers of millionths.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ir_std._arrays import Floats, Mask

MAIN = "main_score"
"""The measure of every model; it is no measure to standardize."""
FEWEST = 20
"""A dataset with fewer models has no factors."""
STEPS = 1_000_000
"""Scores are whole numbers of millionths."""
MISSING = np.iinfo(np.int32).min
"""Marks a score that is not known."""

NOT_TRAINED, TRAINED, UNKNOWN = 0, 1, 2
"""Whether a model was trained on the dataset or one that resembles it, as its authors state."""
KINDS: dict[str, str] = {
    "all": "all models that state a language of the data set (or none, and it is English); some "
    "were trained on it (--systems zero-shot leaves these out)",
    "zero-shot": "zero-shot models, which state what they were trained on, neither the data set "
    "nor one that resembles it",
}
"""Which models of a dataset its factors are made from; the default first."""


class Cells:
    """The scores of models on datasets.

    Parameters
    ----------
    arrays : mapping of str to ndarray of int, shape (n_datasets, n_models)
        ``counted``, 1 where a model is one of the reference systems of the dataset; ``trained``,
        one of :data:`NOT_TRAINED`, :data:`TRAINED`, :data:`UNKNOWN`; and measures, :data:`MAIN`
        among them, in steps of a millionth, :data:`MISSING` where a score is not known.
    """

    def __init__(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        self.arrays = arrays

    @property
    def counted(self) -> Mask:
        """True where a model is one of the reference systems of the dataset."""
        return np.asarray(self.arrays["counted"] > 0)

    @property
    def trained(self) -> npt.NDArray[np.uint8]:
        """Whether each model was trained on the dataset, as its authors state."""
        return self.arrays["trained"]

    def main_scores(self) -> Floats:
        """Return the main scores of all models, whether they count or not."""
        return _scores(self.arrays[MAIN])

    def scores(self, measure: str, kind: str = "all") -> Floats:
        """Return the scores of the models that count, of one of :data:`KINDS`.

        Returns
        -------
        ndarray, shape (n_datasets, n_models)
            NaN where a model has none, and on datasets with fewer than :data:`FEWEST` models.
        """
        used = self.counted if kind == "all" else self.counted & (self.trained == NOT_TRAINED)
        scores = np.where(used, _scores(self.arrays[measure]), np.nan)
        scores[np.count_nonzero(~np.isnan(scores), axis=1) < FEWEST] = np.nan
        return scores

    def problems(self, n_rows: int, n_systems: int, measures: tuple[str, ...]) -> Iterator[str]:
        """Yield what is wrong with the arrays."""
        expected = {"counted", "trained", MAIN, *measures}
        if {*self.arrays} != expected:
            yield f"are {', '.join(self.arrays)}; {', '.join(sorted(expected))} are expected"
            return
        for name, array in self.arrays.items():
            if array.shape != (n_rows, n_systems):
                yield f"{name} has shape {array.shape}, {(n_rows, n_systems)} is expected"
                return
        for name, most in (("counted", 1), ("trained", UNKNOWN)):
            if (self.arrays[name] < 0).any() or (self.arrays[name] > most).any():
                yield f"{name} has a value outside 0 to {most}"
        for name in (*measures, MAIN):
            steps = self.arrays[name][self.arrays[name] != MISSING]
            lowest = -STEPS if name == MAIN else 0
            if steps.size and (steps.max() > STEPS or steps.min() < lowest):
                yield f"{name} has a value that is no score"


def _scores(steps: npt.NDArray[Any]) -> Floats:
    return np.where(steps == MISSING, np.nan, steps / STEPS)
