"""Whether the tables of a factor set can be used, and what is wrong with them where."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ir_std._arrays import Floats
from ir_std.factors.description import Description
from ir_std.factors.distributions import means_and_deviations
from ir_std.factors.schema import parse_set_measure
from ir_std.measures import ExternalMeasure
from ir_std.measures.names import SIGNED, UNBOUNDED
from ir_std.schemes import EXACT

Table = Mapping[str, Floats]
Problem = tuple[str, str]
"""A file, and what is wrong in it."""


def moment_problems(s: Description, mean: Table, sd: Table) -> Iterator[Problem]:
    """Means and deviations: there for every measure, finite, and within bounds."""
    problems = [*_shapes(s, "mean.csv", mean), *_shapes(s, "sd.csv", sd)]
    yield from problems
    if problems:
        return
    n_rel = np.array([np.nan if n is None else n for n in s.n_rel.values()])
    for name in s.measures:
        for file, column in (("mean.csv", mean[name]), ("sd.csv", sd[name])):
            yield from _range(s, name, file, column)
        yield from _where(
            s,
            name,
            "sd.csv",
            np.isnan(mean[name]) != np.isnan(sd[name]),
            "is known where the mean is not, or the reverse",
        )
        yield from _where(
            s,
            name,
            "topics.csv",
            mean[name] > _most(name, n_rel) + EXACT,
            "has a mean higher than n_rel allows",
        )


def _shapes(s: Description, file: str, table: Table) -> Iterator[Problem]:
    if {*table} != {*s.measures}:
        yield file, f"measures are {', '.join(table)}; set.json has {', '.join(s.measures)}"
    for name, column in table.items():
        if column.shape != (len(s.topics),):
            yield file, f"{name} has shape {column.shape}, {(len(s.topics),)} is expected"


def _range(s: Description, name: str, file: str, values: Floats) -> Iterator[Problem]:
    rows = values.reshape(len(values), -1)
    highest = np.inf if name.startswith(UNBOUNDED) else 1.0
    lowest = -1.0 if name.startswith(SIGNED) else 0.0
    if isinstance(parse_set_measure(name), ExternalMeasure):
        highest, lowest = np.inf, 0.0 if file == "sd.csv" else -np.inf
    if (np.isnan(rows) | (rows >= lowest) & (rows <= highest) & (np.abs(rows) < np.inf)).all():
        return
    yield from _where(s, name, file, np.isinf(rows).any(axis=1), "is infinite")
    yield from _where(s, name, file, (rows < lowest).any(axis=1), "is negative")
    yield from _where(
        s,
        name,
        file,
        ((rows > highest + EXACT) & ~np.isinf(rows)).any(axis=1),
        f"is outside 0 to {highest}",
    )


def _most(name: str, n_rel: Floats) -> Floats:
    """The highest mean that numbers of relevant documents allow."""
    measure = parse_set_measure(name)
    if measure.__name__ == "SP":
        return n_rel
    if measure.__name__ == "P":
        return np.asarray(n_rel / measure["cutoff"])
    if measure.__name__ == "Judged" or isinstance(measure, ExternalMeasure):
        return np.full(len(n_rel), np.inf)
    return np.where(n_rel == 0, 0, np.inf)


def score_problems(s: Description, scores: Table, mean: Table, sd: Table) -> Iterator[Problem]:
    """Distributions: of the set's shape, sorted, in steps of the resolution, with its moments."""
    for name, array in scores.items():
        if name not in s.measures:
            yield "scores.npz", f"{name} is not in set.json"
            continue
        shape = len(s.topics), s.n_systems[name]
        if array.shape != shape:
            yield "scores.npz", f"{name} has shape {array.shape}, {shape} is expected"
            continue
        problems = [*_range(s, name, "scores.npz", array)]
        yield from problems
        if problems:
            continue
        yield from _where(s, name, "scores.npz", _unsorted(array), "is not sorted")
        for file, table, expected in zip(
            ("mean.csv", "sd.csv"), (mean, sd), means_and_deviations(array), strict=True
        ):
            differs = ~np.isclose(table[name], expected, rtol=EXACT, atol=EXACT, equal_nan=True)
            yield from _where(s, name, file, differs, "is not that of the scores")
        if step := s.about(name, "resolution", 0):
            off = np.abs(array / step - np.rint(array / step)) > 1e-6
            yield from _where(s, name, "scores.npz", off.any(axis=1), f"is not in steps of {step}")


def _unsorted(scores: Floats) -> npt.NDArray[np.bool_]:
    filled = np.where(np.isnan(scores), np.inf, scores)
    return np.asarray((filled[:, 1:] < filled[:, :-1]).any(axis=1))


def system_problems(
    s: Description, systems: Mapping[str, npt.NDArray[Any]], scores: Table
) -> Iterator[Problem]:
    """The systems that the scores belong to: on each topic every one of the measure once."""
    tags = s.info.get("tags")
    for name, numbers in systems.items():
        if name not in scores:
            yield "systems.npz", f"{name} has no scores"
        elif numbers.shape != scores[name].shape:
            yield "systems.npz", f"{name} has shape {numbers.shape}, as its scores is expected"
        else:
            ordered = np.sort(numbers, axis=1)
            yield from _where(
                s,
                name,
                "systems.npz",
                (ordered != ordered[:1]).any(axis=1)
                | (ordered[:, 1:] == ordered[:, :-1]).any(axis=1),
                "does not name every system once",
            )
            if numbers.size and (numbers.min() < 0 or (tags and numbers.max() >= len(tags))):
                yield "systems.npz", f"{name} has a system that tags do not name"


def mean_problems(s: Description, means: Table) -> Iterator[Problem]:
    """Means of systems whose scores are not known: sorted, within bounds, of known measures."""
    for key, values in means.items():
        scheme, _, name = key.partition(":")
        if name not in s.measures or scheme not in ("raw", "N", "U", "E", "z"):
            yield "means.npz", f"{key} is no scheme and measure of the set"
        elif values.ndim != 1 or len(values) > s.n_systems[name]:
            yield (
                "means.npz",
                (
                    f"{key} has shape {values.shape}, a mean for each of "
                    f"{s.n_systems[name]} systems is expected"
                ),
            )
        elif not np.isfinite(values).all() or (np.diff(values) < 0).any():
            yield "means.npz", f"{key} is not finite and sorted"
        elif (
            scheme != "z"
            and len(values)
            and not (values[0] >= 0 and (values[-1] <= 1 + EXACT or name.startswith(UNBOUNDED)))
        ):
            yield "means.npz", f"{key} is outside 0 to 1"


def _where(
    s: Description, measure: str, file: str, wrong: npt.ArrayLike, what: str
) -> Iterator[Problem]:
    if not np.any(wrong):
        return
    rows = np.flatnonzero(wrong)
    if len(rows):
        more = f" and {len(rows) - 1} more" * (len(rows) > 1)
        yield file, f"{measure} of topic {s.topics[rows[0]]}{more} {what}"


def earlier_problems(s: Description, earlier: Mapping[str, npt.NDArray[Any]]) -> Iterator[Problem]:
    """Documents judged earlier: a number for each topic, and as many hashes, ascending."""
    if not earlier:
        return
    if {*earlier} != {"size", "high", "low"}:
        yield "earlier.npz", f"holds {', '.join(earlier)}; size, high and low are expected"
        return
    size, high, low = (earlier[name] for name in ("size", "high", "low"))
    if size.shape != (len(s.topics),) or (size < 0).any():
        yield "earlier.npz", f"size is no number of documents for each of {len(s.topics)} topics"
    elif high.shape != (size.sum(),) or low.shape != high.shape:
        yield "earlier.npz", f"high and low have not {size.sum()} values each"
    elif high.dtype != np.uint8 or low.dtype != np.uint32:
        yield "earlier.npz", f"high and low are {high.dtype} and {low.dtype}, not uint8 and uint32"
    else:
        hashes = high.astype(np.int64) << 32 | low
        same_topic = np.diff(np.repeat(np.arange(len(size)), size)) == 0
        if (np.diff(hashes)[same_topic] <= 0).any():
            yield "earlier.npz", "hashes do not ascend within each topic"


def cells_problems(s: Description, cells: Mapping[str, npt.NDArray[Any]]) -> Iterator[Problem]:
    """Scores row behind row: see :func:`ir_std.factors.cells.cell_problems`."""
    if cells:
        from ir_std.factors.cells import cell_problems  # few sets have them

        n_systems = len(s.info.get("tags", ()))
        for problem in cell_problems(cells, len(s.topics), n_systems, s.measures):
            yield "cells.npz", problem
