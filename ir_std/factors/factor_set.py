"""Factor sets: what is known of the standardizing systems of a collection, topic by topic."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from ir_std._arrays import Floats
from ir_std.errors import InputError, NoFactorsError, StandardizationWarning
from ir_std.factors import schema, table_checks
from ir_std.factors.files import DESCRIPTION, OPTIONAL_FILES, replace_folder, snapshot
from ir_std.factors.frozen import frozen
from ir_std.factors.judgments import Judgments
from ir_std.factors.storage import (
    parse_info,
    parse_table,
    parse_topics,
    write_table,
    write_topics,
)
from ir_std.schemes import get_scheme

Arrays = Mapping[str, npt.NDArray[Any]]


class FactorSet:
    """One collection's factors, by topic and measure.

    They are the mean, the sample standard deviation (n-1) and, where known, the sorted scores of
    the standardizing systems.

    A set is frozen: its arrays cannot be written to, and its mappings refuse changes.

    Parameters
    ----------
    info : mapping
        What ``set.json`` holds: ``id``, ``title``, ``track``, ``doc_id_pattern`` (see
        :mod:`ir_std.factors.doc_ids`), ``ir_datasets``, ``max_level`` (the highest level of the
        judgments), ``depth``, ``resolution``, ``default_measures``, ``source``, ``licence``,
        ``built`` and so on (:data:`ir_std.factors.schema.FIELDS`), and ``measures``: for each
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
        ``systems`` does not tell them.

    Attributes
    ----------
    id, title, source : str
    topics : tuple of str
    judgments : mapping of str to Judgments
        By topic; ``n_rel`` holds their numbers of relevant documents alone.
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

    path: Path | None

    def __init__(
        self,
        info: Mapping[str, Any],
        n_rel: Mapping[str, int | Judgments | None],
        mean: Mapping[str, npt.ArrayLike],
        sd: Mapping[str, npt.ArrayLike],
        scores: Mapping[str, npt.ArrayLike] | None = None,
        systems: Mapping[str, npt.ArrayLike] | None = None,
        means: Mapping[str, npt.ArrayLike] | None = None,
    ) -> None:
        for wrong in schema.info_problems(info):
            raise InputError.at("factor set", None, wrong, "see the parameters of FactorSet")
        self._describe(
            None,
            info,
            n_rel,
            {
                "mean.csv": {m: np.array(v, dtype=float) for m, v in mean.items()},
                "sd.csv": {m: np.array(v, dtype=float) for m, v in sd.items()},
                "scores.npz": {m: np.array(v, dtype=float) for m, v in (scores or {}).items()},
                "systems.npz": {m: np.array(v) for m, v in (systems or {}).items()},
                "means.npz": {k: np.array(v, dtype=float) for k, v in (means or {}).items()},
            },
        )
        self.verify()

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> FactorSet:
        """Read a set's folder: all files as they are now; tables are parsed when first used.

        Raises
        ------
        InputError
            Naming file and line if a file is missing or broken.
        """
        return cls._read(Path(path), snapshot(path))

    @classmethod
    def described(cls, path: str | os.PathLike[str]) -> FactorSet:
        """As :meth:`load`, but the tables' files are read when a table is first used.

        That is refused if the set has been changed by then.
        """
        return cls._read(Path(path), snapshot(path, DESCRIPTION))

    def loaded(self) -> FactorSet:
        """A described set as :meth:`load` reads it now."""
        assert self.path is not None
        now = snapshot(self.path)
        if any(now[name] != self._stored[name] for name in DESCRIPTION):
            return self._read(self.path, now)
        loaded = self.__new__(type(self))
        loaded.__dict__.update(self.__dict__, _stored=now)
        return loaded

    @classmethod
    def _read(cls, folder: Path, files: Mapping[str, bytes]) -> FactorSet:
        info, topics = (files[name] for name in DESCRIPTION)
        loaded = cls.__new__(cls)
        loaded._describe(
            folder,
            parse_info(info, folder / "set.json"),
            parse_topics(topics, folder / "topics.csv"),
            files,
        )
        return loaded

    def _describe(
        self,
        path: Path | None,
        info: Mapping[str, Any],
        n_rel: Mapping[str, int | Judgments | None],
        stored: Mapping[str, bytes | Arrays],
    ) -> None:
        unknown = schema.unknown_fields(info)
        if unknown:
            warnings.warn(
                f"factor set {info['id']} has fields that are not known here: {', '.join(unknown)}",
                StandardizationWarning,
                stacklevel=3,
            )
        judgments = {
            topic: known if isinstance(known, Judgments) else Judgments(known)
            for topic, known in n_rel.items()
        }
        measures: Mapping[str, Mapping[str, int]] = info["measures"]
        self.__dict__.update(
            {
                "path": path,
                "info": frozen(info),
                "id": info["id"],
                "title": info.get("title", info["id"]),
                "source": info.get("source", ""),
                "judgments": frozen(judgments),
                "topics": tuple(judgments),
                "n_rel": frozen({topic: known.n_rel for topic, known in judgments.items()}),
                "measures": tuple(measures),
                "n_systems": frozen({m: about["systems"] for m, about in measures.items()}),
                "_stored": stored,
                "_row": {topic: i for i, topic in enumerate(judgments)},
            }
        )
        for wrong in table_checks.topic_problems(self):
            raise self._unsound(*wrong)

    info: Mapping[str, Any]
    id: str
    title: str
    source: str
    judgments: Mapping[str, Judgments]
    topics: tuple[str, ...]
    n_rel: Mapping[str, int | None]
    measures: tuple[str, ...]
    n_systems: Mapping[str, int]
    _stored: Mapping[str, bytes | Arrays]
    _row: dict[str, int]

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{name} cannot be set: a factor set is frozen, make another one")

    def stored(self, file: str) -> Arrays:
        """A table as it is stored, not verified; empty where there is none.

        Raises
        ------
        InputError
            Naming file and line, if it cannot be parsed.
        """
        content = self._tables.get(file, {})
        if not isinstance(content, bytes):
            return content
        place = self._place(file)
        if file.endswith(".csv"):
            return parse_table(content, place, self.topics)
        from ir_std.factors.arrays import parse_arrays  # only some schemes need them

        return parse_arrays(content, place, "iu" if file == "systems.npz" else "f")

    @cached_property
    def _tables(self) -> Mapping[str, bytes | Arrays]:
        if self.path is None or len(self._stored) > len(DESCRIPTION):
            return self._stored
        now = snapshot(self.path)
        if any(now[name] != self._stored[name] for name in DESCRIPTION):
            raise InputError.at(self.path, None, "has changed since it was found", "load it again")
        return now

    def _place(self, file: str) -> object:
        return self.path / file if self.path else f"factor set {self.id}, {file}"

    def _unsound(self, file: str, wrong: str) -> InputError:
        return InputError.at(self._place(file), None, wrong, "such a set cannot be used")

    @cached_property
    def _moments(self) -> tuple[Mapping[str, Floats], Mapping[str, Floats]]:
        mean, sd = self.stored("mean.csv"), self.stored("sd.csv")
        for wrong in table_checks.moment_problems(self, mean, sd):
            raise self._unsound(*wrong)
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
        return self._verified("scores.npz", table_checks.score_problems)

    @cached_property
    def systems(self) -> Arrays:
        """Which system has each of :attr:`scores`; numbered by measure, from 0."""
        return self._verified("systems.npz", table_checks.system_problems)

    @cached_property
    def means(self) -> Mapping[str, Floats]:
        """The systems' sorted means by ``raw:AP`` and so on, where :attr:`systems` tells none."""
        found = self._verified("means.npz", table_checks.mean_problems)
        own: Arrays = frozen(
            {
                key: values
                for key, values in found.items()
                if key.partition(":")[2] not in self.systems
            }
        )
        return own

    def _verified(
        self, file: str, problems: Callable[[FactorSet, Arrays], Iterator[table_checks.Problem]]
    ) -> Arrays:
        found = self.stored(file)
        for wrong in problems(self, found):
            raise self._unsound(*wrong)
        verified: Arrays = frozen(found)
        return verified

    def verify(self) -> None:
        """Parse and verify all tables now.

        Raises
        ------
        InputError
            Saying what is wrong where.
        """
        for table in (self._moments, self.scores, self.systems, self.means):
            assert table is not None

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

    @property
    def of_datasets(self) -> bool:
        """Whether the rows are whole data sets: then a run's mean is standardized, no topic."""
        return bool(self.info.get("unit") == "collection")

    def rows(self, topics: Iterable[str]) -> npt.NDArray[np.int64]:
        """For each topic its row in this set, -1 where the set does not hold it."""
        return np.array([self._row.get(t, -1) for t in topics], np.int64)

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
        self, rows: npt.NDArray[np.int64], measure: str, scheme: str = "N", **params: float
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
            scores = _pick(self.scores[measure], rows)
        return partial(
            method.apply,
            mean=_pick(self.mean[measure], rows),
            sd=_pick(self.sd[measure], rows),
            scores=scores,
            resolution=self.about(measure, "resolution", 0.0),
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
        return f"<FactorSet {self.id}: {len(self.topics)} topics, {len(self.measures)} measures>"


def _pick(values: Floats, rows: npt.NDArray[np.int64]) -> Floats:
    """Rows of ``values``; NaN where the row is -1."""
    picked = values[rows]
    picked[rows < 0] = np.nan
    return picked
