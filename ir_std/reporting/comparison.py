"""Systems over several collections: raw means beside standardized ones, with intervals.

This is what standardization is for (Webber, Moffat and Zobel, SIGIR 2008): raw means of
different collections cannot be compared, standardized ones can.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from ir_measures.measures import Measure

from ir_std.analysis.paired import mean_interval
from ir_std.errors import UsageError
from ir_std.evaluation.api import companions
from ir_std.evaluation.plans import find_factors
from ir_std.measures import Standardized, parse_measure
from ir_std.reporting.results import Results, evaluate, groups_of
from ir_std.reporting.tables import Cell, Table, label, number
from ir_std.schemes import scheme_names
from ir_std.trec.inputs import as_qrels
from ir_std.trec.qrels import Qrels

Floats = npt.NDArray[np.float64]

POOLED = "all of these"
"""The collection of a row that pools the topics of a system's collections."""


@dataclass(frozen=True)
class Part:
    """One system on one collection.

    Attributes
    ----------
    system, collection : str
    results : Results
        Of all systems on this collection.
    """

    system: str
    collection: str
    results: Results

    def values(self, measure: Measure) -> Floats:
        """Scores by topic; NaN where the collection has no such score."""
        by_measure = self.results.values[self.system]
        return by_measure.get(measure, np.full(len(self.results.topics), np.nan))


@dataclass(frozen=True)
class Comparison:
    """Systems over collections.

    Attributes
    ----------
    parts : tuple of Part
        In the order they were given.
    measures : tuple of Measure
        Each raw one, and behind it its standardized companions.
    """

    parts: tuple[Part, ...]
    measures: tuple[Measure, ...]

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems' names, in the order they were given."""
        return tuple(dict.fromkeys(part.system for part in self.parts))

    @property
    def collections(self) -> tuple[str, ...]:
        """The collections' names, in the order they were given."""
        return tuple(dict.fromkeys(part.collection for part in self.parts))

    @property
    def notes(self) -> tuple[str, ...]:
        """Which factors were used, measures without factors, topics left out."""
        said = [text for part in self.parts
                for text in (str(part.results.match), *part.results.notes)]
        return tuple(dict.fromkeys(said))

    def pooled(self, system: str, measure: Measure) -> Floats:
        """A system's scores on all topics of all its collections."""
        return np.concatenate([p.values(measure) for p in self.parts if p.system == system])

    def table(self, places: int = 4) -> Table:
        """A row a system and collection; standardized means carry 95 percent intervals.

        A system on several collections has a further row that pools its topics, with
        standardized means only.
        """
        rows = []
        for system in self.systems:
            parts = [part for part in self.parts if part.system == system]
            rows += [self._row(part.system, part.collection, [part], places) for part in parts]
            if len(parts) > 1:
                rows.append(self._row(system, POOLED, parts, places))
        return Table(("system", "collection", "topics", *map(str, self.measures)), tuple(rows), 3,
                     self._table_notes(), groups_of(self.measures))

    def _row(self, system: str, collection: str, parts: Sequence[Part],
             places: int) -> tuple[Cell, ...]:
        topics = sum(len(part.results.topics) for part in parts)
        cells = []
        for measure in self.measures:
            if isinstance(measure, Standardized):
                cells.append(interval_cell(
                    np.concatenate([p.values(measure) for p in parts]), places))
            else:
                cells.append(number(parts[0].results.means[system][measure] if len(parts) == 1
                                    else float("nan"), places))
        return label(system), label(collection), label(f"{topics}"), *cells

    def _table_notes(self) -> tuple[str, ...]:
        raw = [str(m) for m in self.measures if not isinstance(m, Standardized)]
        return (f"Raw means ({', '.join(raw)}) of different collections cannot be compared: they "
                f"tell as much of the topics as of the systems. Standardized means can, each being "
                f"relative to the systems that took part in its track.",
                "[ ] 95 percent interval of the mean over topics (Student's t).")


def interval_cell(values: Floats, places: int = 4) -> Cell:
    """The mean of the values that are numbers, and its 95 percent interval."""
    known = values[~np.isnan(values)]
    mean = float(known.mean()) if len(known) else float("nan")
    low, high = mean_interval(known)
    plain = number(mean, places)
    bounds = f" [{number(low, places).text}, {number(high, places).text}]" if low == low else ""
    return Cell(plain.text + bounds, mean, {"low": low, "high": high})


def compare(entries: Iterable[tuple[str, Any, Any]],
            measures: Iterable[Measure | str] | Measure | str | None = None,
            schemes: str | Iterable[str] = "N") -> Comparison:
    """Evaluate one or several systems over several collections.

    Parameters
    ----------
    entries : iterable of (str, run, qrels)
        A system's name and its run on one collection.  The same name with several qrels is one
        system over several collections.  Runs and qrels in any form that :func:`evaluate` takes.
    measures : Measure, str or iterable of them, optional
        If not given, the factor sets' default measures that all collections have factors for.
    schemes : str or iterable of str

    Raises
    ------
    UsageError
        If there is no entry, a system has two runs on a collection, or no measure is known for
        all collections.
    InputError
        If a run or qrels cannot be used.
    """
    entries = list(entries)
    if not entries:
        raise UsageError("nothing to compare: give at least one NAME=RUN:QRELS")
    read: dict[object, Qrels] = {}
    for _, _, qrels in entries:
        read.setdefault(_key(qrels), as_qrels(qrels))
    if isinstance(measures, (str, Measure)):
        measures = [measures]
    wanted = [parse_measure(m) for m in measures or ()] or common_measures(
        read.values(), scheme_names(schemes))
    names = collection_names(read)
    runs: dict[object, dict[str, Any]] = {}
    for system, run, qrels in entries:
        if runs.setdefault(_key(qrels), {}).setdefault(system, run) is not run:
            raise UsageError(f"two runs of {system} on {names[_key(qrels)]}: give each system a "
                             f"name of its own")
    results = {key: evaluate(named, read[key], wanted, schemes) for key, named in runs.items()}
    parts = [Part(system, names[key], results[key])
             for system, key in dict.fromkeys((s, _key(qrels)) for s, _, qrels in entries)]
    return Comparison(tuple(parts), _in_order(wanted, parts))


def collection_names(read: Mapping[object, Qrels]) -> dict[object, str]:
    """What each of the qrels is called: its factor set, and where that is shared its own name.

    Where these are the same too they are numbered.
    """
    factors = {key: find_factors(qrels).factors for key, qrels in read.items()}
    count = Counter(f.id for f in factors.values() if f)
    own = {key: os.path.basename(qrels.name) for key, qrels in read.items()}
    names: dict[object, str] = {}
    for key, f in factors.items():
        name = own[key] if f is None else f.id if count[f.id] == 1 else f"{f.id} ({own[key]})"
        taken = sum(other.startswith(name) for other in names.values())
        names[key] = f"{name} {taken + 1}" if name in names.values() else name
    return names


def common_measures(collections: Iterable[Qrels], schemes: Sequence[str]) -> list[Measure]:
    """The default measures of the collections' factor sets that all of them can standardize.

    Raises
    ------
    UsageError
        If there is none.
    """
    matches = [(find_factors(qrels), qrels) for qrels in collections]
    candidates = dict.fromkeys(parse_measure(name) for match, _ in matches if match.factors
                               for name in match.factors.default_measures)
    common = [m for m in candidates if all(
        len(companions([m], match, qrels, schemes)[0]) == 1 + len(schemes)
        for match, qrels in matches if match.factors)]
    if not common:
        raise UsageError("no measure has factors in every one of these collections: name measures")
    return common


def _in_order(wanted: Iterable[Measure], parts: Iterable[Part]) -> tuple[Measure, ...]:
    """Each wanted measure, and behind it all companions that some collection has."""
    parts = list(parts)
    found: dict[Measure, None] = {}
    for measure in wanted:
        found[measure] = None
        for part in parts:
            found.update(dict.fromkeys(m for m in part.results.measures if isinstance(
                m, Standardized) and m.base == measure))
    return tuple(found)


def _key(qrels: Any) -> object:
    return os.fspath(qrels) if isinstance(qrels, (str, os.PathLike)) else id(qrels)
