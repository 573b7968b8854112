"""Factor sets: what is known of the standardizing systems of a collection, topic by topic."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ir_std.errors import InputError, NoFactorsError
from ir_std.factors.judgments import Judgments
from ir_std.factors.storage import (
    FILES,
    OPTIONAL_FILES,
    Table,
    read_info,
    read_table,
    read_topics,
    write_arrays,
    write_table,
    write_topics,
)
from ir_std.schemes import get_scheme

Floats = npt.NDArray[np.float64]

class FactorSet:
    """One collection's factors: for each topic and measure the mean, the sample standard
    deviation (n-1) and, where known, the sorted scores of the standardizing systems.

    Parameters
    ----------
    info : mapping
        What ``set.json`` holds: ``id``, ``title``, ``track``, ``doc_id_pattern``,
        ``ir_datasets``, ``max_level`` (the highest level of the judgments), ``depth``,
        ``resolution``, ``default_measures``, ``source``, ``licence``, ``built`` and
        ``measures``: for each measure its number of ``systems`` and, where they differ from the
        set's, ``source``, ``licence``, ``depth`` and ``resolution``.
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
        The systems' mean scores over all topics, sorted, by ``raw:AP``, ``N:AP`` and so on.

    Attributes
    ----------
    id, title, source : str
    topics : tuple of str
    judgments : dict of str to Judgments
        By topic; ``n_rel`` holds their numbers of relevant documents alone.
    measures : tuple of str
    n_systems : dict of str to int
    path : pathlib.Path or None
    """

    path: Path | None = None

    def __init__(self, info: Mapping[str, Any],
                 n_rel: Mapping[str, int | Judgments | None],
                 mean: Mapping[str, npt.ArrayLike], sd: Mapping[str, npt.ArrayLike],
                 scores: Mapping[str, npt.ArrayLike] | None = None,
                 systems: Mapping[str, npt.ArrayLike] | None = None,
                 means: Mapping[str, npt.ArrayLike] | None = None) -> None:
        self._describe(info, n_rel)
        self.mean = {m: np.asarray(v, dtype=float) for m, v in mean.items()}
        self.sd = {m: np.asarray(v, dtype=float) for m, v in sd.items()}
        self.scores = {m: np.asarray(v, dtype=float) for m, v in (scores or {}).items()}
        self.systems = {m: np.asarray(v) for m, v in (systems or {}).items()}
        self.means = {k: np.asarray(v, dtype=float) for k, v in (means or {}).items()}

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> FactorSet:
        """Read a set's folder.  Means, deviations and scores are read when first used.

        Raises
        ------
        InputError
            Naming file and line if a file is missing or broken.
        """
        folder = Path(path)
        for name in FILES:
            if not (folder / name).is_file():
                raise InputError.at(folder, None, f"{name} is missing",
                                    f"a factor set holds {', '.join(FILES)}")
        loaded = cls.__new__(cls)
        loaded.path = folder
        loaded._describe(read_info(folder / "set.json"), read_topics(folder / "topics.csv"))
        return loaded

    def _describe(self, info: Mapping[str, Any],
                  n_rel: Mapping[str, int | Judgments | None]) -> None:
        self.info = dict(info)
        self.id: str = info["id"]
        self.title: str = info.get("title", self.id)
        self.source: str = info.get("source", "")
        self.judgments = {topic: known if isinstance(known, Judgments) else Judgments(known)
                          for topic, known in n_rel.items()}
        self.n_rel = {topic: known.n_rel for topic, known in self.judgments.items()}
        self.topics = tuple(n_rel)
        self.measures: tuple[str, ...] = tuple(info["measures"])
        self.n_systems: dict[str, int] = {
            m: about["systems"] for m, about in info["measures"].items()}
        self._row = {topic: i for i, topic in enumerate(self.topics)}

    @cached_property
    def mean(self) -> Table:
        """Means by measure, shape (n_topics,)."""
        return self._read_table("mean.csv")

    @cached_property
    def sd(self) -> Table:
        """Sample standard deviations (n-1) by measure, shape (n_topics,)."""
        table = self._read_table("sd.csv")
        for measure, column in table.items():
            wrong = np.flatnonzero(column < 0)
            if wrong.size:
                raise InputError.at(self._file("sd.csv"), int(wrong[0]) + 2,
                                    f"{measure} is {column[wrong[0]]}",
                                    "a deviation is not negative")
        return table

    @cached_property
    def scores(self) -> Table:
        """Sorted scores by measure, shape (n_topics, n_systems); only where they are known."""
        return self._read_arrays("scores.npz")

    @cached_property
    def systems(self) -> dict[str, npt.NDArray[Any]]:
        """Which system has each of :attr:`scores`; numbered by measure, from 0."""
        return self._read_arrays("systems.npz")

    @cached_property
    def means(self) -> Table:
        """The systems' sorted mean scores by ``raw:AP``, ``N:AP`` and so on."""
        return self._read_arrays("means.npz")

    def _file(self, name: str) -> Path:
        assert self.path is not None  # sets that are made have their tables from the start
        return self.path / name

    def _read_arrays(self, name: str) -> dict[str, npt.NDArray[Any]]:
        from zipfile import BadZipFile

        file = self._file(name)
        if not file.is_file():
            return {}
        try:
            with open(file, "rb") as stream, np.load(stream, allow_pickle=False) as stored:
                return dict(stored)
        except (ValueError, OSError, EOFError, BadZipFile) as broken:
            raise InputError.at(file, None, f"cannot be read ({broken})",
                                "an .npz of one array a measure is expected") from None

    def _read_table(self, name: str) -> Table:
        table = read_table(self._file(name), self.topics)
        if tuple(table) != self.measures:
            raise InputError.at(self._file(name), 1, f"measures are {', '.join(table)}",
                                f"set.json has {', '.join(self.measures)}")
        return table

    def about(self, measure: str, field: str, default: Any = None) -> Any:
        """A field of ``set.json`` for one measure: its own, else the set's."""
        return self.info["measures"][measure].get(field, self.info.get(field, default))

    @property
    def default_measures(self) -> tuple[str, ...]:
        """The measures to report when none are named."""
        return tuple(self.info.get("default_measures") or self.measures)

    def systems_text(self) -> str:
        """The number of standardizing systems, as ``129`` or ``58 to 61``."""
        counts = sorted(set(self.n_systems.values()))
        if counts == [0]:
            return "unknown number of"
        return f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"

    def rows(self, topics: Iterable[str]) -> npt.NDArray[np.int64]:
        """For each topic its row in this set, -1 where the set does not hold it."""
        return np.array([self._row.get(t, -1) for t in topics], np.int64)

    def standardize(self, measure: str, topics: Iterable[str], values: npt.ArrayLike,
                    scheme: str = "N", **params: float) -> Floats:
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
        return self.on(topics, measure, scheme, **params)(values)

    def on(self, topics: Iterable[str], measure: str, scheme: str = "N",
           **params: float) -> Callable[[npt.ArrayLike], Floats]:
        """:meth:`standardize` for fixed topics: a function of their raw scores.

        Raises
        ------
        NoFactorsError
            As :meth:`standardize`.
        """
        if measure not in self.measures:
            raise NoFactorsError(f"{self.id} has no factors for {measure}: it has "
                                 f"{', '.join(self.measures)}")
        rows = self.rows(topics)
        scores = None
        method = get_scheme(scheme)
        if method.needs_scores:
            if measure not in self.scores:
                known = ", ".join(self.scores) or "none"
                raise NoFactorsError(
                    f"{self.id} has no distribution of {measure}, which scheme E needs "
                    f"(measures with one: {known}); use N, U or z")
            scores = _pick(self.scores[measure], rows)
        return partial(method.apply, mean=_pick(self.mean[measure], rows),
                       sd=_pick(self.sd[measure], rows), scores=scores,
                       resolution=self.about(measure, "resolution", 0.0), **params)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the set as a folder, whole or not at all.  An older set there is replaced.

        Raises
        ------
        InputError
            If the place is taken by something that is not a factor set.
        """
        import tempfile

        target = check_target(path).resolve()
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=target.parent,
                                             prefix=f".{target.name}.") as scratch:
                folder = Path(scratch) / "set"
                folder.mkdir()
                self._write(folder)
                _replace(folder, target, Path(scratch) / "old")
        except OSError as failed:
            raise InputError.at(path, None, f"cannot be written ({failed.strerror or failed})",
                                "name a folder in a place that can be written to") from None

    def _write(self, folder: Path) -> None:
        text = json.dumps(self.info, indent=2, ensure_ascii=False)
        (folder / "set.json").write_text(text + "\n", encoding="utf-8")
        write_topics(folder / "topics.csv", self.judgments)
        write_table(folder / "mean.csv", self.topics, self.mean)
        write_table(folder / "sd.csv", self.topics, self.sd)
        for name in OPTIONAL_FILES:
            arrays = getattr(self, Path(name).stem)
            if arrays:
                write_arrays(folder / name, arrays)

    def __repr__(self) -> str:
        return (f"<FactorSet {self.id}: {len(self.topics)} topics, "
                f"{len(self.measures)} measures>")


def check_target(path: str | os.PathLike[str]) -> Path:
    """The path, if a factor set may be written there.

    Raises
    ------
    InputError
        If the place is taken by something that is not a factor set.
    """
    target = Path(path)
    if target.exists() and not (target / "set.json").is_file():
        raise InputError.at(target, None, "exists and is not a factor set", "name a new folder")
    return target


def _replace(new: Path, target: Path, old: Path) -> None:
    """Put a folder in another's place; the old one comes back if that fails."""
    if not target.exists():
        new.rename(target)
        return
    target.rename(old)
    try:
        new.rename(target)
    except OSError:
        old.rename(target)
        raise


def _pick(values: Floats, rows: npt.NDArray[np.int64]) -> Floats:
    """Rows of ``values``; NaN where the row is -1."""
    picked = values[rows]
    picked[rows < 0] = np.nan
    return picked
