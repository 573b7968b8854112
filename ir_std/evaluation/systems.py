"""The systems behind a factor set, by name: ``dl19-passage/p_bert`` is one that scores are of."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from ir_measures.measures import Measure

from ir_std._arrays import Floats
from ir_std.errors import UsageError, abbreviate, suggestion
from ir_std.factors.catalog import known_sets, load_factors, version_of
from ir_std.factors.estimates import scores_by_system
from ir_std.factors.factor_set import FactorSet
from ir_std.factors.schema import parse_set_measure
from ir_std.measures import canonical
from ir_std.scores.run_scores import CountedTopics, RunScores

SEPARATOR = "/"
"""Stands between a set and one of its systems."""
LONGEST = 4096
"""The most characters of a name: paths have no more."""


@dataclass(eq=False, repr=False)
class ScoresOfSystem(RunScores):
    """The scores of one of a set's systems, by the measures that have distributions.

    Attributes
    ----------
    factors : FactorSet or None
        The set; None where the scores were compared with qrels already.
    tag : str
        What the set calls the system.
    steps : mapping of str to float
        By the measure's name the step in which the set has its scores; 0 for exact ones.
    """

    factors: FactorSet | None = None
    tag: str = ""
    steps: Mapping[str, float] = field(default_factory=dict)

    def step_of(self, measure: Measure) -> float:
        """The step in which the set has a measure's scores; 0 where they are exact."""
        return self.steps[canonical(measure)]


class TopicsOfSet(CountedTopics):
    """In place of qrels: the topics of a set, whose judgments its systems' scores are by.

    Parameters
    ----------
    counted : CountedTopics
        The topics of all scores, those of the set's systems among them.
    factors : FactorSet
    """

    def __init__(self, counted: CountedTopics, factors: FactorSet) -> None:
        super().__init__(counted.n_rel, counted.name)
        self.factors = factors


def system(name: str) -> ScoresOfSystem:
    """The scores of one of the systems behind a factor set.

    Such scores serve wherever a run is expected, and so does the name alone; only what needs
    documents refuses them.

    Parameters
    ----------
    name : str
        ``SET/SYSTEM``: the id or the folder of a set, and what the set calls the system;
        ``ir_std factors systems SET`` lists them.

    Raises
    ------
    UnknownSetError
        (a LookupError) if there is no such set.
    UsageError
        (a ValueError) if the set has no system of that name, or knows no scores of single systems.

    Examples
    --------
    >>> bm25 = ir_std.system("dl19-passage/bm25base_p")
    >>> bm25.topics[:2], round(bm25.values[ir_std.nDCG @ 10]["19335"], 4)
    (('19335', '47923'), 0.5756)
    """
    if not isinstance(name, str):
        raise UsageError(f"expected SET/SYSTEM, such as dl19-passage/p_bert, got {name!r}")
    found = _split(name)
    if found is None:
        load_factors(name.partition(SEPARATOR)[0])  # names the nearest set, if it is none
        raise UsageError(f"{name!r} names no system: write SET/SYSTEM, as {name}{SEPARATOR}NAME")
    return system_of(load_factors(found[0]), found[1])


def system_of(factors: FactorSet, tag: str) -> ScoresOfSystem:
    """The scores of the system that a set calls ``tag``.

    Raises
    ------
    UsageError
        If there is none, or the set knows no scores of single systems.
    """
    by_tag = _scores_by_tag(factors)
    if not by_tag:
        raise UsageError(f"{factors.id} does not know the scores of its single systems by name")
    if tag not in by_tag:
        raise UsageError(
            f"{factors.id} has no system {tag!r}: it has {abbreviate(by_tag)}, which ir_std "
            f"factors systems {factors.id} lists{suggestion(tag, by_tag)}"
        )
    return ScoresOfSystem(
        f"{factors.id}{SEPARATOR}{tag}",
        by_tag[tag],
        {topic: n for topic, n in factors.n_rel.items() if n is not None},
        unit="collection" if factors.of_datasets else "topic",
        factors=factors,
        tag=tag,
        steps=_steps(factors),
    )


def names_system(given: Any) -> bool:
    """Whether something is the name of a set's system, and no file is called so."""
    return isinstance(given, str) and not os.path.lexists(given) and may_be_system(given)


def may_be_system(name: str) -> bool:
    """Whether a set has a system of that name; a file of the same name comes first."""
    found = _split(name)
    return found is not None and found[1] in _scores_by_tag(load_factors(found[0]))


def refuse_systems(names: Iterable[str], what: str) -> None:
    """Refuse names of systems where documents are needed.

    Raises
    ------
    UsageError
        If one of the names is a system's.
    """
    for name in names:
        if names_system(name):
            raise UsageError(
                f"{name} is a system of a factor set, of which scores are known and no documents: "
                f"{what} needs its run"
            )


def find_system(given: Any) -> Any:
    """The scores of the system that a text names; what is a file, or no text, as it is.

    Raises
    ------
    UsageError
        If a text names a set, and none of its systems.
    """
    if not isinstance(given, str) or os.path.lexists(given) or _split(given) is None:
        return given
    return system(given)


def systems_of(factors: FactorSet) -> tuple[str, ...]:
    """The tags of the systems whose scores a set knows; empty where it knows none."""
    return tuple(_scores_by_tag(factors))


def _split(name: str) -> tuple[str, str] | None:
    """The set and the system that a name consists of; None if no part of it is a set."""
    set_id, separator, tag = name.partition(SEPARATOR)
    if not separator or len(name) > LONGEST:
        return None
    if set_id in (each.name for each in known_sets()):
        return set_id, tag
    for i, character in enumerate(name):
        if i and character == SEPARATOR:
            if version_of(name[:i]):
                return name[:i], name[i + 1 :]
            if not os.path.isdir(name[:i]):
                return None  # nor is there a set below it
    return None


Values = Mapping[Measure, Mapping[str, float]]


@lru_cache(maxsize=64)
def _scores_by_tag(factors: FactorSet) -> Mapping[str, Values]:
    """The scores of each system by measure and topic; topics without a score are left out."""
    tags = factors.systems
    by_tag: dict[str, dict[Measure, Mapping[str, float]]] = {}
    for name in factors.scores if tags else ():
        measure = parse_set_measure(canonical(parse_set_measure(name)))
        numbers, columns = scores_by_system(factors, name)
        for number, column in zip(numbers.tolist(), columns.T, strict=True):
            by_tag.setdefault(tags[number], {})[measure] = _by_topic(factors.topics, column)
    return {tag: by_tag[tag] for tag in tags if tag in by_tag}


def _by_topic(topics: Iterable[str], column: Floats) -> dict[str, float]:
    known = ~np.isnan(column)
    return {t: v for t, v, k in zip(topics, column.tolist(), known.tolist(), strict=True) if k}


@lru_cache(maxsize=64)
def _steps(factors: FactorSet) -> Mapping[str, float]:
    return {
        canonical(parse_set_measure(name)): float(factors.about(name, "resolution") or 0.0)
        for name in factors.scores
    }
