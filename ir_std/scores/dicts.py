"""Scores in dicts: by measure and topic, or as pytrec_eval has them by topic and measure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ir_std.errors import UsageError
from ir_std.measures.names import find_measure
from ir_std.scores.collect import ScoreEntry


def is_by_measure(given: Mapping[Any, Any]) -> bool:
    """Whether a dict is by measure and topic, or topic and measure, as its first entry shows."""
    return bool(given) and (_is_measure(next(iter(given))) or _is_topics_first(given))


def dict_entries(scores: Mapping[Any, Any], measure: str | None) -> Iterator[ScoreEntry]:
    """The scores of a dict by topic; by two of measure, run, and topic; or by all three."""
    for outer, inner in scores.items():
        if not isinstance(inner, Mapping):
            yield _entry("", outer, measure, inner)
        elif any(isinstance(value, Mapping) for value in inner.values()):
            yield from _entries_of_run(str(outer), inner)
        elif measure is not None:
            for topic, value in inner.items():
                yield _entry(str(outer), topic, measure, value)
    if measure is None:
        flat = {key: each for key, each in scores.items() if _is_flat(each)}
        yield from _entries_of_run("", flat)


def _is_flat(inner: Any) -> bool:
    return isinstance(inner, Mapping) and not any(isinstance(v, Mapping) for v in inner.values())


def _entries_of_run(run: str, scores: Mapping[Any, Any]) -> Iterator[ScoreEntry]:
    topics_first = _is_topics_first(scores)
    for outer, inner in scores.items():
        for middle, value in inner.items() if isinstance(inner, Mapping) else ():
            topic, measure = (outer, middle) if topics_first else (middle, outer)
            yield _entry(run, topic, str(measure), value)


def _is_topics_first(scores: Mapping[Any, Any]) -> bool:
    outer, inner = next(iter(scores.items()), ("", None))
    first = next(iter(inner), None) if isinstance(inner, Mapping) else None
    return first is not None and _is_measure(first) and not _is_measure(outer)


def _is_measure(name: Any) -> bool:
    return find_measure(str(name)) is not None


def _entry(run: str, topic: Any, measure: str | None, value: Any) -> ScoreEntry:
    if measure is None:
        raise UsageError("scores by topic, but of which measure? add measure='AP'")
    return ScoreEntry(None, run, str(topic), measure, "" if value is None else str(value))
