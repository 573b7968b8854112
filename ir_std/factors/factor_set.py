"""Factor sets: what is known of the standardizing systems of a collection, topic by topic."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import Any
from zipfile import ZIP_STORED

import numpy as np
import numpy.typing as npt

from ir_std._arrays import Floats, Ints, pick_rows
from ir_std.errors import InputError, NoFactorsError, counted
from ir_std.factors import schema, table_checks
from ir_std.factors.description import Frozen, frozen
from ir_std.factors.files import OPTIONAL_FILES, replace_folder
from ir_std.factors.judgments import Judgments
from ir_std.factors.storage import write_table, write_topics
from ir_std.factors.stored_tables import Arrays, StoredTables
from ir_std.schemes import get_scheme


class FactorSet(StoredTables):
    """One collection's factors, by topic and measure.

    They are the mean, the sample standard deviation (n-1) and, where known, the sorted scores of
    the standardizing systems.

    A set is frozen: its arrays cannot be written to, and its mappings refuse changes.

    Parameters
    ----------
    info : mapping
        What ``set.json`` holds: ``id``, ``title``, ``track``, ``doc_id_pattern`` (see
        ``ir_std.factors.doc_ids``), ``ir_datasets``, ``max_level`` (the highest level of the
        judgments), ``depth``, ``resolution``, ``default_measures``, ``source``, ``licence``,
        ``built`` and so on (``ir_std.factors.schema.FIELDS``), and ``measures``: for each
        measure its number of ``systems`` and, where they differ from the set's, ``source``,
        ``licence``, ``depth`` and ``resolution``.
    n_rel : mapping of str to int, Judgments or None
        For each topic the number of documents judged relevant (level 1 or above), or all that is
        known of its judgments.
    mean, sd : mapping of str to array_like, shape (n_topics,)
        By measure; NaN where a topic has no factors.
    scores : mapping of str to array_like, shape (n_topics, n_systems), optional
        By measure, sorted within each topic; NaN, last, for a system without a score.
    systems : mapping of str to array_like of int, shape (n_topics, n_systems), optional
        By measure, for each of ``scores`` which of the systems, numbered from 0, has it.
    means : mapping of str to array_like, shape (n_systems,), optional
        The systems' mean scores over all topics, sorted, by ``raw:AP``, ``N:AP`` and so on, where
        ``systems`` does not have them.
    earlier : mapping of str to array, optional
        Documents judged in earlier rounds, see ``ir_std.factors.residual.pack_earlier``.
    cells : mapping of str to array, optional
        In place of ``scores`` and ``systems``: see ``ir_std.factors.cells.Cells``.

    Attributes
    ----------
    id, title, source : str
    topics : tuple of str
    judgments : mapping of str to Judgments
        By topic (those of a data set are found by its aliases, too); ``n_rel`` holds their numbers
        of relevant documents alone.
    measures : tuple of str
    n_systems : mapping of str to int
    path : pathlib.Path or None
        The folder it was read from.

    Raises
    ------
    InputError
        Saying which field is not as it should be, or which table has a wrong shape, lacks a
        measure, is not sorted, negative, infinite or beyond what the measure can be.

    Examples
    --------
    >>> factors = ir_std.load_factors("trec8-adhoc")
    >>> factors.topics[:2], factors.mean["AP"][:2].round(4), factors.sd["AP"][:2].round(4)
    (('401', '402'), array([0.0479, 0.2045]), array([0.0898, 0.1142]))
    >>> factors.standardize("AP", ["401", "402"], [0.05, 0.2], "U").round(4)
    array([0.5035, 0.4941])
    """

    def __init__(
        self,
        info: Mapping[str, Any],
        n_rel: Mapping[str, int | Judgments | None],
        mean: Mapping[str, npt.ArrayLike],
        sd: Mapping[str, npt.ArrayLike],
        scores: Mapping[str, npt.ArrayLike] | None = None,
        systems: Mapping[str, npt.ArrayLike] | None = None,
        means: Mapping[str, npt.ArrayLike] | None = None,
        earlier: Arrays | None = None,
        cells: Arrays | None = None,
    ) -> None:
        for problem in schema.info_problems(info):
            raise InputError.at("factor set", problem, "see the parameters of FactorSet")
        self._describe(None, info, n_rel)
        self.__dict__["_stored"] = {
            "mean.csv": {m: np.array(v, dtype=float) for m, v in mean.items()},
            "sd.csv": {m: np.array(v, dtype=float) for m, v in sd.items()},
            "scores.npz": {m: np.array(v, dtype=float) for m, v in (scores or {}).items()},
            "systems.npz": {m: np.array(v) for m, v in (systems or {}).items()},
            "means.npz": {k: np.array(v, dtype=float) for k, v in (means or {}).items()},
            "earlier.npz": dict(earlier or {}),
            "cells.npz": dict(cells or {}),
        }
        self.verify()

    whole: FactorSet | None = None
    """The set of many data sets that this one has some rows of."""

    @cached_property
    def _moments(self) -> tuple[Mapping[str, Floats], Mapping[str, Floats]]:
        mean, sd = self.stored("mean.csv"), self.stored("sd.csv")
        for problem in table_checks.moment_problems(self, mean, sd):
            raise self._unusable(*problem)
        return (
            frozen({m: mean[m] for m in self.measures}),
            frozen({m: sd[m] for m in self.measures}),
        )

    @property
    def mean(self) -> Mapping[str, Floats]:
        """Means by measure, shape (n_topics,)."""
        return self._moments[0]

    @property
    def sd(self) -> Mapping[str, Floats]:
        """Sample standard deviations (n-1) by measure, shape (n_topics,)."""
        return self._moments[1]

    @cached_property
    def scores(self) -> Mapping[str, Floats]:
        """Sorted scores by measure, shape (n_topics, n_systems); only where they are known."""
        return self._verified("scores.npz")

    @cached_property
    def systems(self) -> Arrays:
        """Which system has each of :attr:`scores`; numbered by measure, from 0."""
        return self._verified("systems.npz")

    @cached_property
    def means(self) -> Mapping[str, Floats]:
        """The systems' sorted means by ``raw:AP`` and so on, where :attr:`systems` has none."""
        means = self._verified("means.npz")
        unknown = [key for key in means if key.partition(":")[2] not in self.systems]
        return Frozen({key: means[key] for key in unknown})

    @cached_property
    def earlier(self) -> Arrays:
        """Hashes of documents that were judged in earlier rounds; of residual collections."""
        return self._verified("earlier.npz")

    @cached_property
    def cells(self) -> Arrays:
        """Scores row behind row, of which those are read that are asked for."""
        return self._verified("cells.npz")

    def stored(self, file: str) -> Arrays:
        """As the file has it, or the cells."""
        if file in IN_CELLS and self.cells:
            return self._from_cells[file]
        return super().stored(file)

    @cached_property
    def _from_cells(self) -> Mapping[str, Arrays]:
        from ir_std.factors.cells import spread_cells

        return spread_cells(self.cells, len(self.topics))

    def _verified(self, file: str) -> Arrays:
        table = self.stored(file)
        for problem in CHECKS[file](self, table):
            raise self._unusable(*problem)
        verified: Arrays = frozen(table)
        return verified

    def verify(self) -> None:
        """Parse and verify all tables now.

        Raises
        ------
        InputError
            Saying what is wrong where.
        """
        for table in (
            self.cells,
            self._moments,
            self.scores,
            self.systems,
            self.means,
            self.earlier,
        ):
            assert table is not None

    def standardize(
        self,
        measure: str,
        topics: Iterable[str],
        values: npt.ArrayLike,
        scheme: str = "N",
        **params: float,
    ) -> Floats:
        """Standardize raw scores.

        Parameters
        ----------
        measure : str
            One of :attr:`measures`.
        topics : iterable of str
        values : array_like, shape (n_topics,)
            The raw score on each of ``topics``.
        scheme : {'N', 'U', 'E', 'z'}
        **params
            ``A`` and ``B`` of U.

        Returns
        -------
        ndarray, shape (n_topics,)
            NaN for topics without factors.

        Raises
        ------
        NoFactorsError
            If the set does not have the measure, or for E not its scores.
        """
        return self.at(self.rows(topics), measure, scheme, **params)(values)

    def at(
        self, rows: Ints, measure: str, scheme: str = "N", **params: float
    ) -> Callable[[npt.ArrayLike], Floats]:
        """:meth:`standardize` for fixed topics, given by :meth:`rows`: a function of raw scores.

        Raises
        ------
        NoFactorsError
            As :meth:`standardize`.
        """
        if measure not in self.measures:
            raise NoFactorsError(
                f"{self.id} has no factors for {measure}: it has {', '.join(self.measures)}"
            )
        scores = None
        method = get_scheme(scheme)
        if method.needs_scores:
            if measure not in self.scores:
                known = ", ".join(self.scores) or "none"
                raise NoFactorsError(
                    f"{self.id} has no distribution of {measure}, which scheme E needs "
                    f"(measures with one: {known}); use N, U or z"
                )
            scores = pick_rows(self.scores[measure], rows)
        return partial(
            method.apply,
            mean=pick_rows(self.mean[measure], rows),
            sd=pick_rows(self.sd[measure], rows),
            scores=scores,
            resolution=self.about(measure, "resolution", 0.0),
            sign=self.sign(measure),
            **params,
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the set as a folder, whole or not at all.  An older set there is replaced.

        Raises
        ------
        InputError
            If the place is taken by something that is not a factor set, or holds other files
            too; or if a table is not sound.
        """
        self.verify()
        replace_folder(path, self._write)

    def _write(self, folder: Path) -> None:
        from ir_std.factors.arrays import write_arrays

        text = json.dumps({"format": schema.FORMAT, **self.info}, indent=2, ensure_ascii=False)
        (folder / "set.json").write_text(text + "\n", encoding="utf-8")
        write_topics(folder / "topics.csv", self.judgments)
        write_table(folder / "mean.csv", self.topics, self.mean)
        write_table(folder / "sd.csv", self.topics, self.sd)
        for name in OPTIONAL_FILES:
            arrays = getattr(self, Path(name).stem)
            if arrays and not (self.cells and name in IN_CELLS):
                # Cells are not packed: unpacking them would take longer than all the rest.
                how = {"compression": ZIP_STORED} if name == "cells.npz" else {}
                write_arrays(folder / name, arrays, **how)

    def __repr__(self) -> str:
        sizes = counted(len(self.topics), "topic"), counted(len(self.measures), "measure")
        return f"<FactorSet {self.id}: {', '.join(sizes)}>"


IN_CELLS = ("scores.npz", "systems.npz")
"""Tables that a set with ``cells.npz`` has there."""
CHECKS: dict[str, Callable[[FactorSet, Arrays], Iterator[table_checks.Problem]]] = {
    "cells.npz": table_checks.cells_problems,
    "mean.csv": lambda s, mean: table_checks.moment_problems(s, mean, s.stored("sd.csv")),
    "scores.npz": lambda s, scores: table_checks.score_problems(s, scores, s.mean, s.sd),
    "systems.npz": lambda s, systems: table_checks.system_problems(s, systems, s.scores),
    "means.npz": table_checks.mean_problems,
    "earlier.npz": table_checks.earlier_problems,
}
"""What is wrong with each table of a set; each check relies on those before it."""
