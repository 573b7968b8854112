"""What a factor set is of: the content of ``set.json`` and ``topics.csv``, read-only."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import numpy as np

from ir_std._arrays import Ints
from ir_std.errors import InputError, warn_caller
from ir_std.factors import schema
from ir_std.factors.judgments import Judgments

Key = TypeVar("Key")
Value = TypeVar("Value")


class Frozen(dict[Key, Value]):
    """A dict that refuses changes; ``frozen | {...}`` gives an ordinary one."""

    def _refuse(self, *_args: object, **_kwargs: object) -> NoReturn:
        raise TypeError("a factor set is frozen: make another one")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> Any:
        return frozen, (dict(self),)


class Named(Frozen[str, Value]):
    """What is known by topic, found by other names of a data set, too; those are not listed."""

    def __init__(self, values: Mapping[str, Value], aliases: Mapping[str, str]) -> None:
        super().__init__(values)
        self._aliases = aliases

    def __contains__(self, topic: object) -> bool:
        return super().__contains__(topic) or topic in self._aliases

    def names(self) -> set[str]:
        """The topics and their other names."""
        return {*self, *self._aliases}

    def __missing__(self, topic: str) -> Value:
        return self[self._aliases[topic]]

    def __reduce__(self) -> Any:
        return Named, (dict(self), self._aliases)


_IMMUTABLE = {str, int, float, bool, type(None), Frozen}


def frozen(value: Any) -> Any:
    """The same value, deeply read-only; mutable parts are copied."""
    if type(value) in _IMMUTABLE:
        return value
    if isinstance(value, tuple) and _IMMUTABLE.issuperset(map(type, value)):
        return value
    if isinstance(value, Mapping):
        return Frozen({key: frozen(item) for key, item in value.items()})
    if isinstance(value, tuple) and hasattr(value, "_make"):
        return value._make(map(frozen, value))
    if isinstance(value, (list, tuple)):
        return tuple(map(frozen, value))
    if isinstance(value, np.ndarray) and value.flags.writeable:
        value = value.copy()
        value.setflags(write=False)
    return value


class Description:
    """A factor set without its tables: enough to recognize it; see :class:`.FactorSet`."""

    path: Path | None
    info: Mapping[str, Any]
    id: str
    title: str
    source: str
    judgments: Named[Judgments]
    topics: tuple[str, ...]
    n_rel: Mapping[str, int | None]
    measures: tuple[str, ...]
    n_systems: Mapping[str, int]
    _row: dict[str, int]

    def _describe(
        self,
        path: Path | None,
        info: Mapping[str, Any],
        n_rel: Mapping[str, int | Judgments | None],
    ) -> None:
        unknown = schema.unknown_fields(info)
        if unknown:
            names = ", ".join(unknown)
            warn_caller([f"factor set {info['id']} has fields that are not known here: {names}"])
        judgments = {
            topic: known if isinstance(known, Judgments) else Judgments(known)
            for topic, known in n_rel.items()
        }
        measures: Mapping[str, Mapping[str, int]] = info["measures"]
        topics = tuple(judgments)
        aliases = {a: t for a, t in info.get("aliases", {}).items() if t in judgments}
        numbers = {topic: i for i, topic in enumerate(topics)}
        self.__dict__.update(
            path=path,
            info=frozen({field: value for field, value in info.items() if field != "format"}),
            id=info["id"],
            title=info.get("title", info["id"]),
            source=info.get("source", ""),
            judgments=Named({t: frozen(known) for t, known in judgments.items()}, aliases),
            topics=topics,
            n_rel=Named({topic: known.n_rel for topic, known in judgments.items()}, aliases),
            measures=tuple(measures),
            n_systems=frozen({m: fields["systems"] for m, fields in measures.items()}),
            _row=numbers | {alias: numbers[topic] for alias, topic in aliases.items()},
        )
        for problem in topic_problems(judgments):
            raise self._unusable("topics.csv", problem)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{name} cannot be set: a factor set is frozen, make another one")

    def _location(self, file: str) -> object:
        """What messages call a file of the set."""
        return self.path / file if self.path else f"factor set {self.id}, {file}"

    def _unusable(self, file: str, problem: str) -> InputError:
        return InputError.at(self._location(file), problem, "such a set cannot be used")

    def about(self, measure: str, field: str, default: Any = None) -> Any:
        """A field of ``set.json`` for one measure: its own, else the set's."""
        return self.info["measures"][measure].get(field, self.info.get(field, default))

    def sign(self, measure: str) -> float:
        """-1 for a measure of which less is better, else 1; that times scores: more is better."""
        return -1.0 if self.info["measures"][measure].get("better") == "lower" else 1.0

    @property
    def default_measures(self) -> tuple[str, ...]:
        """The measures to report when none are named."""
        return tuple(self.info.get("default_measures") or self.measures)

    def systems_text(self) -> str:
        """The number of standardizing systems, as ``129`` or ``58 to 61`` by measure."""
        counts = sorted(set(self.n_systems.values()))
        if counts == [0]:
            return "unknown number of"
        return f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"

    @property
    def of_datasets(self) -> bool:
        """Whether the rows are whole data sets: then a run's mean is standardized, no topic."""
        return bool(self.info.get("unit") == "collection")

    @property
    def unit(self) -> str:
        """What a text calls a row: a topic, or a data set."""
        return "data set" if self.of_datasets else "topic"

    def rows(self, topics: Iterable[str]) -> Ints:
        """For each topic its row in this set, -1 where the set does not hold it."""
        return np.array([self._row.get(t, -1) for t in topics], np.int64)


_UNWRITABLE = re.compile("[\0\ud800-\udfff]")


def topic_problems(judgments: Mapping[str, Judgments]) -> Iterator[str]:
    """What is wrong with topics: at least one is expected, each a text that can be written."""
    if not judgments:
        yield "there is no topic"
    texts = [topic for topic in judgments if isinstance(topic, str) and topic]
    if len(texts) < len(judgments) or _UNWRITABLE.search("".join(texts)):
        for topic in judgments:
            if not isinstance(topic, str) or not topic or _UNWRITABLE.search(topic):
                yield f"topic {topic!r} is no text of at least one character"
    for topic, known in judgments.items():
        if known.n_rel is None and known.levels is None:
            continue
        counts = [known.n_rel, *(known.levels or {}).values()]
        if any(n is not None and (not isinstance(n, int) or n < 0) for n in counts):
            yield f"topic {topic!r} has {counts} relevant documents"
