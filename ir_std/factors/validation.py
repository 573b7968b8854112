"""Is a factor set sound?  Every problem is said with the place where it is."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ir_std.errors import InputError, IrStdError
from ir_std.factors.estimates import all_means, moments
from ir_std.factors.factor_set import FactorSet
from ir_std.measures import parse_measure
from ir_std.schemes import EXACT

UNBOUNDED = ("SP", "DCG")
"""Measures that may exceed 1."""


def check(path: str | os.PathLike[str]) -> list[str]:
    """All that is wrong with the factor set in a folder; empty if it is sound.

    Checked are: that all files are there and can be read; fields of ``set.json``; shapes; that
    means and deviations are finite and within bounds, the deviations not negative; that they are
    those of the scores, which are sorted and in steps of the resolution; the systems and their
    means; and that no mean is higher than the topic's number of relevant documents allows.
    """
    folder = Path(path)
    try:
        factors = FactorSet.load(folder)
    except InputError as broken:
        return [str(broken)]
    problems = _found(folder, factors, [_description])
    problems = problems or _found(folder, factors, PARTS)
    return problems or _found(folder, factors, [_means])


def _found(folder: Path, factors: FactorSet, parts: Iterable[Part]) -> list[str]:
    """The problems in some parts of a set, each once."""
    problems: list[str] = []
    for part in parts:
        try:
            problems += [f"{folder / file}: {what}" for file, what in part(factors)]
        except InputError as broken:
            problems.append(str(broken))
    return list(dict.fromkeys(problems))


Problem = tuple[str, str]
Part = Callable[[FactorSet], Iterator[Problem]]


def _description(s: FactorSet) -> Iterator[Problem]:
    for name in (*s.measures, *s.info.get("default_measures", ())):
        try:
            parse_measure(name)
        except (IrStdError, AttributeError) as wrong:
            yield "set.json", f"measure {name!r}: {wrong}"
    try:
        re.compile(s.info.get("doc_id_pattern") or "")
    except (re.error, TypeError) as wrong:
        yield "set.json", f"doc_id_pattern is no regular expression ({wrong})"
    for name in s.measures:
        depth, resolution = s.about(name, "depth"), s.about(name, "resolution", 0)
        if depth is not None and not (isinstance(depth, int) and depth > 0):
            yield "set.json", f"depth of {name} is {depth!r}, a positive whole number is expected"
        if not (isinstance(resolution, (int, float)) and 0 <= resolution < 1):
            yield "set.json", f"resolution of {name} is {resolution!r}, a step below 1 is expected"
        if s.n_systems[name] < 0:
            yield "set.json", f"{name} has {s.n_systems[name]} systems"


def _tables(s: FactorSet) -> Iterator[Problem]:
    for name in s.measures:
        mean, sd = s.mean[name], s.sd[name]
        yield from _where(s, name, "mean.csv", np.isinf(mean), "is infinite")
        yield from _where(s, name, "sd.csv", np.isinf(sd), "is infinite")
        yield from _where(s, name, "sd.csv", sd < 0, "is negative")
        yield from _where(s, name, "sd.csv", np.isnan(mean) != np.isnan(sd),
                          "is known where the mean is not, or the reverse")
        highest = np.inf if name.startswith(UNBOUNDED) else 1.0
        yield from _where(s, name, "mean.csv", (mean < 0) | (mean > highest + EXACT),
                          f"is outside 0 to {highest}")


def _counts(s: FactorSet) -> Iterator[Problem]:
    n_rel = np.array([np.nan if n is None else n for n in s.n_rel.values()])
    for name in s.measures:
        measure = parse_measure(name)
        if measure.__name__ == "SP":
            most = n_rel
        elif measure.__name__ == "P":
            most = n_rel / measure["cutoff"]
        elif measure.__name__ == "Judged":
            continue
        else:
            most = np.where(n_rel == 0, 0, np.inf)
        yield from _where(s, name, "topics.csv", s.mean[name] > most + EXACT,
                          "has a mean higher than n_rel allows")


def _scores(s: FactorSet) -> Iterator[Problem]:
    for name in s.scores:
        if name not in s.measures:
            yield "scores.npz", f"{name} is not in set.json"
            continue
        scores, shape = s.scores[name], (len(s.topics), s.n_systems[name])
        if scores.shape != shape:
            yield "scores.npz", f"{name} has shape {scores.shape}, {shape} is expected"
            continue
        if np.isinf(scores).any():
            yield from _where(s, name, "scores.npz", np.isinf(scores).any(axis=1), "is infinite")
            continue
        yield from _where(s, name, "scores.npz", _unsorted(scores), "is not sorted")
        for file, table, expected in zip(("mean.csv", "sd.csv"), (s.mean, s.sd), moments(scores),
                                         strict=True):
            differs = ~np.isclose(table[name], expected, rtol=EXACT, atol=EXACT, equal_nan=True)
            yield from _where(s, name, file, differs, "is not that of the scores")
        step = s.about(name, "resolution", 0)
        if step:
            off = np.abs(scores / step - np.rint(scores / step)) > 1e-6
            yield from _where(s, name, "scores.npz", off.any(axis=1),
                              f"is not in steps of {step}")


def _unsorted(scores: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    filled = np.where(np.isnan(scores), np.inf, scores)
    return np.asarray((filled[:, 1:] < filled[:, :-1]).any(axis=1))


def _systems(s: FactorSet) -> Iterator[Problem]:
    for name in s.scores:
        numbers = s.systems.get(name)
        if numbers is None:
            continue
        expected = np.broadcast_to(np.arange(s.scores[name].shape[1]), s.scores[name].shape)
        if numbers.shape != expected.shape:
            yield "systems.npz", f"{name} has shape {numbers.shape}, as its scores is expected"
        else:
            yield from _where(s, name, "systems.npz",
                              (np.sort(numbers, axis=1) != expected).any(axis=1),
                              "does not name every system once")


def _means(s: FactorSet) -> Iterator[Problem]:
    expected = all_means(s)
    for key in [*expected, *(s.means.keys() - expected.keys())] if expected else ():
        known, right = s.means.get(key, np.zeros(0)), expected.get(key, np.zeros(0))
        if known.shape != right.shape or not np.allclose(known, right, rtol=EXACT, atol=EXACT):
            yield "means.npz", f"{key} does not hold the means of the systems' scores"


PARTS: tuple[Part, ...] = (
    _tables, _counts, _scores, _systems)


def _where(s: FactorSet, measure: str, file: str, wrong: npt.ArrayLike,
           what: str) -> Iterator[Problem]:
    rows = np.flatnonzero(wrong)
    if len(rows):
        more = f" and {len(rows) - 1} more" * (len(rows) > 1)
        yield file, f"{measure} of topic {s.topics[rows[0]]}{more} {what}"
