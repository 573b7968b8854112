"""Factor sets: per-topic statistics of a collection's reference systems."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from ir_std._arrays import EXACT, Array, ArrayLike, Floats, Ints, Keys, Mask, pick_rows
from ir_std._system.files import read_bounded, wrap_os_errors, write_atomically
from ir_std.errors import InputError, NoFactorsError, pluralize, warn_caller
from ir_std.factors import schema, store
from ir_std.factors.judgments import Judgments, judgment_arrays, judgments_from_arrays
from ir_std.factors.schema import Cells
from ir_std.measures import measure_record
from ir_std.schemes import get_scheme, means_and_deviations


class FactorSet:
    """The factors of one collection, by topic and measure.

    Factors are the mean and the sample standard deviation (n-1) of the reference systems' scores.
    If the scores themselves are known, the set also contains the scores.  The arrays and mappings
    of a set cannot be changed.

    Parameters
    ----------
    info : mapping
        The fields of ``set.json`` (``ir_std.factors.schema.FIELDS``), such as ``id``, ``title``,
        ``max_level`` (the highest level of the judgments), ``depth`` and ``source``.  ``measures``
        contains, for each measure, the fields whose values differ from the fields of the set.  If
        the scores of a measure are unknown, the measure's fields must include ``systems``, the
        number of systems.
    judgments : mapping of str to int, Judgments or None
        For each topic, the number of documents judged relevant (level 1 or above), or a
        ``Judgments`` object with more known facts about the judgments.
    mean, sd : mapping of str to array_like, shape (n_topics,), optional
        Means and standard deviations of measures without known scores; NaN if a topic has no
        factors.
    scores : mapping of str to array_like, shape (n_topics, n_systems), optional
        Scores by measure; NaN where a system has no score.  A topic with fewer than two scores has
        no factors.
    systems : sequence of str, optional
        Names of the systems, one for each column; empty if the systems are anonymous.
    earlier : ndarray of uint64, optional
        Documents judged in earlier rounds, see ``ir_std.factors.collection.pack_earlier``.
    cells : mapping of str to ndarray, optional
        Arrays that replace ``scores``, see ``ir_std.factors.schema.Cells``.

    Attributes
    ----------
    id, title, source : str
    topics : tuple of str
    judgments : mapping of str to Judgments
        Known facts about each topic's judgments; ``n_rel`` has only the number of relevant
        documents.
    measures : tuple of str
    n_systems : mapping of str to int
    mean, sd : mapping of str to ndarray, shape (n_topics,)
        Factors by measure, computed from the scores when a measure is first used.
    scores : mapping of str to ndarray, shape (n_topics, n_systems)
        Scores of the measures for which they are known.
    systems : tuple of str
    path : pathlib.Path or None
        File from which the set was read.

    Raises
    ------
    InputError
        If a field is malformed, or an array has a wrong shape or an impossible value.

    Examples
    --------
    >>> factors = ir_std.load_factors("trec8-adhoc")
    >>> factors.topics[:2], factors.mean["AP"][:2].round(4), factors.sd["AP"][:2].round(4)
    (('401', '402'), array([0.0479, 0.2045]), array([0.0898, 0.1142]))
    >>> factors.standardize("AP", ["401", "402"], [0.05, 0.2], "U").round(4)
    array([0.5035, 0.4941])
    """

    path: Path | None
    info: Mapping[str, Any]
    id: str
    title: str
    source: str
    topics: tuple[str, ...]
    systems: tuple[str, ...]
    measures: tuple[str, ...]
    n_systems: Mapping[str, int]
    levels: tuple[int, ...]
    _arrays: Mapping[str, Array]
    whole: FactorSet | None = None
    """Larger set of many datasets; the rows of this set were taken from it."""

    def __init__(
        self,
        info: Mapping[str, Any],
        judgments: Mapping[str, int | Judgments | None],
        mean: Mapping[str, ArrayLike] | None = None,
        sd: Mapping[str, ArrayLike] | None = None,
        scores: Mapping[str, ArrayLike] | None = None,
        systems: Sequence[str] = (),
        earlier: Array | None = None,
        cells: Mapping[str, Array] | None = None,
    ) -> None:
        for topic in judgments:
            if not isinstance(topic, str) or not topic or _UNWRITABLE.search(topic):
                raise InputError.at("factor set", f"topic {topic!r} cannot be written", "rename it")
        of_topics = [j if isinstance(j, Judgments) else Judgments(j) for j in judgments.values()]
        levels, counts, prints = judgment_arrays(of_topics)
        arrays: dict[str, Array] = {
            "topics": np.array([*judgments], np.str_),
            "counts": counts,
            "prints": prints,
            **{f"mean/{m}": np.array(v, float) for m, v in (mean or {}).items()},
            **{f"sd/{m}": np.array(v, float) for m, v in (sd or {}).items()},
            **{f"scores/{m}": _usable(np.array(v, float)) for m, v in (scores or {}).items()},
            **{f"cells/{name}": np.array(v) for name, v in (cells or {}).items()},
        }
        if systems:
            arrays["systems"] = np.array(systems, np.str_)
        if earlier is not None:
            arrays["earlier"] = np.array(earlier, np.uint64)
        info = {**info, "levels": levels}
        if scores and isinstance(info.get("measures"), Mapping):
            info["measures"] = {**info["measures"]} | {
                m: {**info["measures"].get(m, {}), "systems": _n_systems(arrays[f"scores/{m}"])}
                for m in scores
                if m in info["measures"]
            }
        self._describe(None, info, arrays)
        self.verify()

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, check_info: bool = True) -> FactorSet:
        """Read a set's file; an array is unpacked and checked only when it is first used.

        Parameters
        ----------
        path : str or path
        check_info : bool
            If False, do not check the fields of ``set.json``, because shipped sets are known to be
            valid.

        Raises
        ------
        InputError
            If the file is missing or broken.
        """
        content = read_bounded(path, store.LARGEST, "name the file of a factor set")
        return cls.parse(content, path, check_info=check_info)

    @classmethod
    def parse(
        cls, content: bytes, path: str | os.PathLike[str], *, check_info: bool = True
    ) -> FactorSet:
        """Read a set from the content of its file, as :meth:`load` does."""
        info, arrays = store.parse_file(content, path)
        return cls._made_of(Path(path), info, arrays, check_info)

    @classmethod
    def _made_of(
        cls,
        path: Path | None,
        info: Mapping[str, Any],
        arrays: Mapping[str, Array],
        check_info: bool = True,
        whole: FactorSet | None = None,
    ) -> FactorSet:
        factors = cls.__new__(cls)
        factors._describe(path, info, arrays, check_info)
        factors.__dict__["whole"] = whole
        return factors

    # -- what it is --------------------------------------------------------------------------------

    def _describe(
        self,
        path: Path | None,
        info: Mapping[str, Any],
        arrays: Mapping[str, Array],
        check_info: bool = True,
    ) -> None:
        self.__dict__.update(path=path, _arrays=arrays)
        if check_info:
            for problem in schema.info_problems(info):
                raise InputError.at(path or "factor set", problem, "see the fields of FactorSet")
            if unknown := ", ".join(schema.unknown_fields(info)):
                text = (
                    f"factor set {info['id']} has unknown fields, which ir_std ignores: {unknown}"
                )
                warn_caller([text])
        self.__dict__.update(
            info=store.freeze({f: info[f] for f in info if f not in ("format", "levels")}),
            id=info["id"],
            title=info.get("title", info["id"]),
            source=info.get("source", ""),
            measures=tuple(info["measures"]),
            levels=tuple(info["levels"]),
            n_systems=store.freeze({m: about["systems"] for m, about in info["measures"].items()}),
        )
        self.__dict__.update(
            topics=self._texts("topics"),
            systems=self._texts("systems") if "systems" in arrays else (),
        )
        self._check_names()
        assert self.prints.shape == self.counts.shape  # recognition relies on both

    def _texts(self, name: str) -> tuple[str, ...]:
        array = self._array(name, "U", 1)
        try:
            texts = tuple(array.tolist())
        except (ValueError, SystemError):  # values that are not Unicode code points
            raise self._unusable(name, "is not text") from None
        if not texts or "" in texts or len(set(texts)) < len(texts):
            raise self._unusable(name, "is empty, or contains an empty or repeated string")
        if _UNWRITABLE.search("".join(texts)):
            raise self._unusable(name, "has characters that cannot be written")
        return texts

    def _check_names(self) -> None:
        """Check that the set has all arrays that its measures need, and no others."""
        cells = {name for name in self._arrays if name.startswith("cells/")}
        expected = {"topics", "counts", "prints", *cells}
        for m in self.measures:
            if f"scores/{m}" in self._arrays:
                expected.add(f"scores/{m}")
            elif f"cells/{m}" not in cells:
                expected |= {f"mean/{m}", f"sd/{m}"}
        names = {*self._arrays} - {"systems", "earlier"}
        if different := sorted(names ^ expected):
            what = "is unexpected" if different[0] in names else "is missing"
            raise self._unusable(different[0], what)
        if cells and not self.systems:
            raise self._unusable("systems", "is missing")

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{name} cannot be set: a factor set is frozen; make another one")

    def __reduce__(self) -> Any:
        info = {**self.info, "levels": self.levels}
        return FactorSet._made_of, (self.path, info, {**self._arrays}, True, self.whole)

    def _unusable(self, name: str, problem: str) -> InputError:
        place = f"{self.path or f'factor set {self.id}'}, {name}"
        return InputError.at(place, problem, "build the set again")

    def about(self, measure: str, field: str, default: Any = None) -> Any:
        """Return the value of a field for one measure, or else for the whole set."""
        return self.info["measures"][measure].get(field, self.info.get(field, default))

    def sign(self, measure: str) -> float:
        """Return -1 if lower values of a measure are better; otherwise, return 1."""
        return -1.0 if self.info["measures"][measure].get("better") == "lower" else 1.0

    @property
    def default_measures(self) -> tuple[str, ...]:
        """The measures to report if the user names none."""
        return tuple(self.info.get("default_measures") or self.measures)

    def systems_text(self) -> str:
        """Return the number of systems: ``129``, or ``58 to 61`` if measures differ."""
        counts = sorted(set(self.n_systems.values()))
        if counts == [0]:
            return "unknown number of"
        return f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"

    @property
    def of_datasets(self) -> bool:
        """True if the rows are whole datasets, so that only means can be standardized."""
        return bool(self.info.get("unit") == "collection")

    @property
    def unit(self) -> str:
        """Unit that each row describes: ``topic`` or ``dataset``."""
        return "dataset" if self.of_datasets else "topic"

    # -- judgments ---------------------------------------------------------------------------------

    @cached_property
    def row_of(self) -> Mapping[str, int]:
        """Row of each topic; for datasets, aliases are also included."""
        rows = {topic: i for i, topic in enumerate(self.topics)}
        aliases = self.info.get("aliases", {})
        return rows | {name: rows[topic] for name, topic in aliases.items() if topic in rows}

    def rows(self, topics: Iterable[str]) -> Ints:
        """Return the row of each topic, or -1 if the topic is not in this set."""
        return np.array([self.row_of.get(t, -1) for t in topics], np.int64)

    @cached_property
    def counts(self) -> Ints:
        """Number of documents per topic at each level of ``levels`` or above; -1 if unknown."""
        counts: Ints = self._array("counts", "i", 2)
        if counts.shape != (len(self.topics), len(self.levels)) or (counts < -1).any():
            raise self._unusable("counts", "is not one count per topic and level")
        are_counted = (counts[:, 1:] >= 0) & (counts[:, :-1] >= 0)
        if (are_counted & (counts[:, 1:] > counts[:, :-1])).any():
            raise self._unusable("counts", "increases with the level")
        return counts

    @cached_property
    def prints(self) -> Keys:
        """Fingerprints of the documents in ``counts``; 0 if unknown or if there are none."""
        prints: Keys = self._array("prints", "u", 2)
        if prints.shape != self.counts.shape or (prints[self.counts <= 0] != 0).any():
            raise self._unusable("prints", "does not match counts")
        return prints

    @cached_property
    def judgments(self) -> Mapping[str, Judgments]:
        """Known facts about the judgments, by topic."""
        of_topics = judgments_from_arrays(self.levels, self.counts, self.prints)
        return store.FrozenDict(zip(self.topics, of_topics, strict=True))

    @cached_property
    def n_rel(self) -> Mapping[str, int | None]:
        """Number of documents judged relevant, by topic."""
        column = self.counts[:, self.levels.index(1)].tolist()
        numbers = (n if n >= 0 else None for n in column)
        return store.FrozenDict(zip(self.topics, numbers, strict=True))

    @cached_property
    def earlier(self) -> Keys | None:
        """Keys of documents judged in earlier rounds; None if the collection is not residual."""
        if "earlier" not in self._arrays:
            return None
        keys: Keys = self._array("earlier", "u", 1)
        if keys.dtype != np.uint64 or (keys[1:] <= keys[:-1]).any():
            raise self._unusable("earlier", "is not ascending")
        return keys

    # -- scores ------------------------------------------------------------------------------------

    def _array(self, name: str, kinds: str, n_dimensions: int) -> Any:
        if name not in self._arrays:
            raise self._unusable(name, "is missing")
        array = self._arrays[name]
        if array.dtype.kind not in kinds or array.ndim != n_dimensions:
            raise self._unusable(name, f"has type {array.dtype} and shape {array.shape}")
        return _read_only(array)

    @cached_property
    def cells(self) -> Cells | None:
        """Scores of all models on whole datasets; None if the set's rows are single topics."""
        names = [name for name in self._arrays if name.startswith("cells/")]
        if not names:
            return None
        cells = Cells({n.removeprefix("cells/"): self._array(n, "iu", 2) for n in names})
        for problem in cells.problems(len(self.topics), len(self.systems), self.measures):
            raise self._unusable("cells", problem)
        return cells

    @cached_property
    def scores(self) -> Mapping[str, Floats]:
        """Scores by measure, shape (n_topics, n_systems); only measures whose scores are known."""
        with_scores = [m for m in self.measures if f"mean/{m}" not in self._arrays]
        return store.LazyDict(with_scores, self._scores)

    @cached_property
    def mean(self) -> Mapping[str, Floats]:
        """Means by measure, shape (n_topics,)."""
        return store.LazyDict(self.measures, lambda m: self._moments[m][0])

    @cached_property
    def sd(self) -> Mapping[str, Floats]:
        """Sample standard deviations (n-1) by measure, shape (n_topics,)."""
        return store.LazyDict(self.measures, lambda m: self._moments[m][1])

    def _scores(self, measure: str) -> Floats:
        if self.cells:
            scores: Floats = _read_only(self.cells.scores(measure))
            return scores
        name = f"scores/{measure}"
        scores = self._array(name, "f", 2)
        columns = len(self.systems) or scores.shape[1]
        if scores.shape != (len(self.topics), columns):
            raise self._unusable(name, f"has shape {scores.shape}")
        if _n_systems(scores) != self.n_systems[measure]:
            raise self._unusable(
                name,
                f"does not have as many systems as set.json states ({self.n_systems[measure]})",
            )
        self._check_range(measure, name, scores)
        if step := self.about(measure, "resolution", 0):
            steps = scores / step
            self._check(name, np.abs(steps - np.rint(steps)) > 1e-6, f"is not a multiple of {step}")
        return scores

    @cached_property
    def _moments(self) -> Mapping[str, tuple[Floats, Floats]]:
        return store.LazyDict(self.measures, self._mean_and_deviation)

    def _mean_and_deviation(self, measure: str) -> tuple[Floats, Floats]:
        name = f"mean/{measure}"
        if measure in self.scores:
            mean, sd = means_and_deviations(np.sort(self.scores[measure], axis=1))
        else:
            mean, sd = self._array(name, "f", 1), self._array(f"sd/{measure}", "f", 1)
            if mean.shape != (len(self.topics),) or sd.shape != mean.shape:
                raise self._unusable(name, f"has shape {mean.shape}, and sd has shape {sd.shape}")
            self._check_range(measure, name, mean)
            self._check_range(measure, f"sd/{measure}", sd, lowest=0)
            self._check(
                name,
                np.isnan(mean) != np.isnan(sd),
                "and its standard deviation must both be known or both be NaN",
            )
        n_rel = np.array([np.nan if n is None else n for n in self.n_rel.values()])
        raw = schema.parse_set_measure(measure)
        too_high = mean > measure_record(raw).most(raw.params, n_rel) + EXACT
        self._check(name, too_high, "is higher than the number of relevant documents allows")
        return _read_only(mean), _read_only(sd)

    def _check_range(
        self, measure: str, name: str, values: Floats, lowest: float | None = None
    ) -> None:
        record = measure_record(schema.parse_set_measure(measure))
        highest, lowest = record.high, record.low if lowest is None else lowest
        self._check(name, np.isinf(values), "is infinite")
        self._check(name, values < lowest, f"is below {lowest:g}")
        self._check(name, values > highest + EXACT, f"is above {highest:g}")

    def _check(self, name: str, wrong: Mask, what: str) -> None:
        if wrong.any():
            topic = self.topics[np.argwhere(wrong)[0][0]]
            raise self._unusable(name, f"the value of topic {topic} {what}")

    def verify(self) -> None:
        """Unpack all arrays of the set, and check their values.

        Raises
        ------
        InputError
            If an array is broken; the message names the array and the problem.
        """
        for _ in (self.prints, self.earlier, self.cells, *map(self.mean.get, self.measures)):
            pass  # each array is checked when it is read

    # -- standardization ---------------------------------------------------------------------------

    def standardize(
        self,
        measure: str,
        topics: Iterable[str],
        values: ArrayLike,
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
            Parameters ``A`` and ``B`` of scheme U.

        Returns
        -------
        ndarray, shape (n_topics,)
            NaN for topics without factors.

        Raises
        ------
        NoFactorsError
            If the set does not have the measure, or if E is used and the systems' scores are
            unknown.
        """
        return self.standardizer(self.rows(topics), measure, scheme, **params)(values)

    def standardizer(
        self, rows: Ints, measure: str, scheme: str = "N", **params: float
    ) -> Callable[[ArrayLike], Floats]:
        """Return a function that standardizes raw scores on the topics of these rows.

        Raises
        ------
        NoFactorsError
            If the set does not have the measure, or if E is used and the systems' scores are
            unknown.
        """
        if measure not in self.measures:
            raise NoFactorsError(
                f"{self.id} has no factors for {measure}; it has {', '.join(self.measures)}"
            )
        scores = None
        method = get_scheme(scheme)
        if method.needs_scores:
            if measure not in self.scores:
                available = ", ".join(self.scores) or "none"
                raise NoFactorsError(
                    f"{self.id} has no scores of systems for {measure}, which scheme E needs "
                    f"(available for {available}); use N, U or z"
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

    # -- the file ----------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str], inputs: Iterable[Path] = ()) -> None:
        """Write the set's file as a whole or not at all, and replace an older file.

        Parameters
        ----------
        path : str or path
            A name that ends with ``.npz``.
        inputs : iterable of path
            Files that must not be replaced.

        Raises
        ------
        InputError
            If the name does not end with ``.npz``, if the file cannot be written, or if the set is
            broken.
        """
        store.check_suffix(path)
        self.verify()
        with wrap_os_errors(path, "cannot be written", "name a file in a folder of your own"):
            Path(path).parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, store.to_bytes(*self._stored), inputs)

    @property
    def identity(self) -> str:
        """SHA-256 of the description and the arrays, independent of compression."""
        return store.content_hash(*self._stored)

    @property
    def _stored(self) -> tuple[dict[str, Any], Mapping[str, Array]]:
        """Description and arrays, as they are written to a file."""
        return {"format": schema.FORMAT, **self.info, "levels": list(self.levels)}, self._arrays

    def __repr__(self) -> str:
        sizes = pluralize(len(self.topics), self.unit), pluralize(len(self.measures), "measure")
        return f"<FactorSet {self.id}: {', '.join(sizes)}>"


_UNWRITABLE = re.compile("[\0\ud800-\udfff]")


def _read_only(array: Any) -> Any:
    array.setflags(write=False)
    return array


def _usable(scores: Floats) -> Floats:
    """Set all scores of a topic to NaN if the topic has fewer than two scores."""
    if scores.ndim != 2:
        return scores
    few = (~np.isnan(scores)).sum(axis=1, keepdims=True) < 2
    return np.where(few, np.nan, scores)


def _n_systems(scores: Floats) -> int:
    return int((~np.isnan(scores)).any(axis=0).sum())
