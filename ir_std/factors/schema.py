"""Schema of a factor set's file: fields of ``set.json``, and arrays of scores from MTEB."""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ir_std._arrays import Array, Floats, Mask
from ir_std.errors import IrStdError
from ir_std.factors.store import quoted
from ir_std.measures import ExternalMeasure, Measure, parse_measure

FORMAT = 1
"""Version of the file format in which sets are written."""
LONGEST = 10_000
"""Maximum number of characters in a text, and of entries in a list."""
_CONTROL = r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]"
Check = Callable[[Any], bool]


class Rule(NamedTuple):
    """Description of an expected value, and the function that checks it."""

    expected: str
    holds: Check


def _is_text(value: Any) -> bool:
    return (
        isinstance(value, str)
        and len(value) <= LONGEST
        and (value.isprintable() or not re.search(_CONTROL, value))
    )


def _is_name(value: Any) -> bool:
    return (
        _is_text(value) and 0 < len(value.strip()) <= len(value) <= 200 and not {*value} & {*"/\\"}
    )


def _list_of(holds: Check) -> Check:
    return lambda value: (
        isinstance(value, (list, tuple)) and len(value) <= LONGEST and all(map(holds, value))
    )


def _object_of(holds: Check) -> Check:
    """Return a function that checks that an object has texts as keys, and valid values."""
    return lambda value: (
        isinstance(value, Mapping) and all(map(_is_text, value)) and all(map(holds, value.values()))
    )


def _record_of(rules: Mapping[str, Rule], required: str = "") -> Check:
    """Return a function that checks that an object has only these fields, with valid values."""
    return lambda value: (
        isinstance(value, Mapping)
        and value.keys() <= rules.keys()
        and (not required or required in value)
        and all(rules[name].holds(one) for name, one in value.items())
    )


def _is_levels(value: Any) -> bool:
    is_whole = _list_of(lambda level: type(level) is int)
    return is_whole(value) and [*value] == sorted({*value}) and 1 in value


def _is_step(value: Any) -> bool:
    return isinstance(value, (int, float)) and value is not False and 0 <= value < 1


def _one_of(*allowed: str) -> Rule:
    return Rule(" or ".join(allowed), lambda value: value in allowed)


def _whole(least: int) -> Rule:
    return Rule(
        f"a whole number of at least {least}",
        lambda value: type(value) is int and least <= value < 1 << 31,
    )


def _optional(rule: Rule) -> Rule:
    return Rule(rule.expected, lambda value: value is None or rule.holds(value))


_TEXT = Rule("a text without control characters", _is_text)
_NAME = Rule("a name of 1 to 200 characters without control characters and slashes", _is_name)
_TEXTS = Rule(f"a list of at most {LONGEST:,} texts", _list_of(_is_text))
_TEXTS_BY_NAME = Rule("an object whose values are texts", _object_of(_is_text))
_RECORDS = Rule("a list of objects whose values are texts", _list_of(_object_of(_is_text)))
_STEP = Rule("a number of at least 0 and below 1", _is_step)

OF_MEASURE: dict[str, Rule] = {
    "systems": _whole(0),
    "source": _TEXT,
    "licence": _TEXT,
    "depth": _optional(_whole(1)),
    "resolution": _STEP,
    "better": _one_of("higher", "lower"),
}
"""The fields of one measure, which override the set's fields of the same names.

Only custom measures have ``better``, which says whether higher or lower values are better.
"""
OF_DATASET: dict[str, Rule] = {"split": _TEXT, "queries": _whole(1), "note": _TEXT}
"""The fields of a dataset.  ``note`` is a remark for users of the dataset's scores."""
OF_JUDGE: dict[str, Rule] = {"name": _NAME, "model": _TEXT, "prompt": _TEXT, "source": _TEXT}
"""The fields that describe a language model that makes judgments; ``name`` is required."""
FIELDS: dict[str, Rule] = {
    "format": _whole(1),
    "id": _NAME,
    "title": _TEXT,
    "track": _TEXT,
    "unit": _one_of("topic", "collection"),
    "corpus": _TEXT,
    "doc_id_example": _TEXT,
    "ir_datasets": _TEXTS,
    "levels": Rule("ascending whole numbers that include 1", _is_levels),
    "max_level": _optional(_whole(0)),
    "depth": _optional(_whole(1)),
    "resolution": _STEP,
    "default_measures": _TEXTS,
    "source": _TEXT,
    "sources": _RECORDS,
    "licence": _TEXT,
    "built": _TEXT,
    "notes": _TEXTS,
    "main_set": _NAME,
    "population": _TEXT,
    "kind": _one_of("judge"),
    "judge": Rule(
        f"an object of texts with the fields {', '.join(OF_JUDGE)} (name is required)",
        _record_of(OF_JUDGE, required="name"),
    ),
    "same_topics_as": _NAME,
    "year": _optional(_whole(1900)),
    "inputs": _RECORDS,
    "teams": _TEXTS_BY_NAME,
    "datasets": Rule(
        f"an object whose values are objects with the fields {', '.join(OF_DATASET)}",
        _object_of(_record_of(OF_DATASET)),
    ),
    "aliases": _TEXTS_BY_NAME,
    "topic_kinds": _TEXTS_BY_NAME,
    "short_systems": Rule(
        "an object whose values are whole numbers of at least 0", _object_of(_whole(0).holds)
    ),
}
"""The fields of a set, except ``measures``.

- ``format`` is the format version of the file (:data:`FORMAT`).
- ``levels`` are the relevance levels of the columns of ``counts`` and ``prints``.
- ``corpus`` describes the documents, and ``doc_id_example`` is the ID of one document.
- ``year`` is the year of the systems.  ``teams`` gives the team of each system; each system that is
  not listed counts as a separate team.
- ``sources`` gives the URL, licence and date of each publication in ``source``.  ``inputs`` lists
  the files from which the set was made, with their SHA-256.
- ``datasets`` describes the rows of a set of unit ``collection``, and ``aliases`` gives other names
  of the rows.
- ``main_set`` names the set that has the track's own systems on this collection, and ``population``
  describes the systems of this set.
- ``topic_kinds`` gives the kind of each topic, if there are several kinds.
- ``short_systems`` lists the systems whose runs have few documents, with the number of documents on
  the median topic.
- If ``kind`` is ``judge``, a language model made the judgments, and ``judge`` describes this model.
  ``same_topics_as`` names the set that has human judgments on the same topics.
"""


@lru_cache(maxsize=1024)
def parse_set_measure(name: str) -> Measure:
    """Parse the name of a set's measure; cache the result, because sets share measures."""
    try:
        return parse_measure(name)
    except IrStdError:
        return ExternalMeasure(name)


def field_problem(field: str, value: Any, rules: Mapping[str, Rule] = FIELDS) -> str | None:
    """Say what value is expected for a field, or return None if the value is allowed."""
    if field not in rules or rules[field].holds(value):
        return None
    return f"expected {rules[field].expected} as {field}, got {quoted(value)}"


def info_problems(info: Any) -> Iterator[str]:
    """Yield the problems in the content of a ``set.json``."""
    if not isinstance(info, Mapping):
        yield f"expected an object of fields such as id and measures, got {quoted(info)}"
        return
    if missing := [field for field in ("id", "measures", "levels") if field not in info]:
        yield f"{' and '.join(map(repr, missing))} missing"
        return
    yield from filter(None, (field_problem(field, value) for field, value in info.items()))
    version = info.get("format", FORMAT)
    if type(version) is int and version > FORMAT:
        yield f"format {version} needs a newer version of ir_std"
    measures = info["measures"]
    if not isinstance(measures, Mapping) or not measures:
        yield f"expected an object with at least one measure as measures, got {quoted(measures)}"
        return
    defaults = info.get("default_measures", ())
    for name in defaults if _TEXTS.holds(defaults) else ():
        yield from () if name in measures else _name_problems(name)
    for name, about in measures.items():
        yield from _measure_problems(name, about)


def _measure_problems(name: Any, about: Any) -> Iterator[str]:
    if problem := field_problem("name of a measure", name, {"name of a measure": _TEXT}):
        yield problem
        return
    has_direction = isinstance(about, Mapping) and "better" in about
    if not (has_direction and name.strip()) and (problems := [*_name_problems(name)]):
        yield from problems
    elif not isinstance(about, Mapping) or "systems" not in about:
        yield f'measure {name} has no number of systems; give {{"systems": n}}'
    else:
        for field, value in about.items():
            if problem := field_problem(field, value, OF_MEASURE):
                yield f"measure {name}, {problem}"
        is_custom = isinstance(parse_set_measure(name), ExternalMeasure)
        if is_custom and not has_direction:
            yield f'measure {name} has no \'better\'; give "higher" or "lower"'
        elif has_direction and not is_custom:
            yield f"measure {name} has 'better', which only custom measures have"


def _name_problems(name: str) -> Iterator[str]:
    try:
        parse_measure(name)
    except (IrStdError, ValueError, AssertionError, AttributeError) as wrong:
        yield f"measure {name!r}: {wrong}"


def unknown_fields(info: Mapping[str, Any]) -> list[str]:
    """Return unknown fields, which a newer version may have written."""
    of_measures = {field for about in info["measures"].values() for field in about}
    return sorted(({*info} - {*FIELDS, "measures"}) | (of_measures - {*OF_MEASURE}))


MAIN = "main_score"
"""Name of the measure for which every model has scores; this measure is not standardized."""
FEWEST = 20
"""A dataset has no factors if fewer than this number of models have scores on it."""
STEPS = 1_000_000
"""Scores are stored as whole numbers of millionths."""
MISSING = np.iinfo(np.int32).min
"""Marker of an unknown score."""

NOT_TRAINED, TRAINED, UNKNOWN = 0, 1, 2
"""Whether a model was trained on the dataset or a similar one, according to the model's authors."""
KINDS: dict[str, str] = {
    "all": "all models that list a language of the dataset (for English, also models that list no "
    "language); some models were trained on the dataset (--systems zero-shot leaves them out)",
    "zero-shot": "zero-shot models, whose stated training data includes neither the dataset nor a "
    "similar dataset",
}
"""Kinds of models.  A dataset's factors are made from the models of one kind; the first kind is the
default."""


class Cells:
    """The scores of models on datasets.

    Parameters
    ----------
    arrays : mapping of str to ndarray of int, shape (n_datasets, n_models)
        ``counted`` is 1 where a model is one of the reference systems of the dataset.  ``trained``
        is one of :data:`NOT_TRAINED`, :data:`TRAINED`, :data:`UNKNOWN`.  Each other array, such as
        :data:`MAIN`, holds the scores for one measure in millionths, or :data:`MISSING` where a
        score is unknown.
    """

    def __init__(self, arrays: Mapping[str, Array]) -> None:
        self.arrays = arrays

    @property
    def counted(self) -> Mask:
        """True where a model is one of the reference systems of the dataset."""
        return np.asarray(self.arrays["counted"] > 0)

    def main_scores(self) -> Floats:
        """Return the main scores of all models, not only of the reference systems."""
        return _scores(self.arrays[MAIN])

    def scores(self, measure: str, kind: str = "all") -> Floats:
        """Return the scores of the reference systems that are models of one kind.

        Returns
        -------
        ndarray, shape (n_datasets, n_models)
            NaN if a model has no score, or if the dataset has fewer than :data:`FEWEST` models.
        """
        used = (
            self.counted
            if kind == "all"
            else self.counted & (self.arrays["trained"] == NOT_TRAINED)
        )
        scores = np.where(used, _scores(self.arrays[measure]), np.nan)
        scores[np.count_nonzero(~np.isnan(scores), axis=1) < FEWEST] = np.nan
        return scores

    def problems(self, n_rows: int, n_systems: int, measures: tuple[str, ...]) -> Iterator[str]:
        """Yield the problems of the arrays."""
        expected = {"counted", "trained", MAIN, *measures}
        if {*self.arrays} != expected:
            yield f"expected {', '.join(sorted(expected))}, got {', '.join(self.arrays)}"
            return
        for name, array in self.arrays.items():
            if array.shape != (n_rows, n_systems):
                yield f"{name} has shape {array.shape}, expected {(n_rows, n_systems)}"
                return
        for name, most in (("counted", 1), ("trained", UNKNOWN)):
            if (self.arrays[name] < 0).any() or (self.arrays[name] > most).any():
                yield f"{name} has a value outside 0 to {most}"
        for name in (*measures, MAIN):
            steps = self.arrays[name][self.arrays[name] != MISSING]
            lowest = -STEPS if name == MAIN else 0
            if steps.size and (steps.max() > STEPS or steps.min() < lowest):
                yield f"{name} has a value that is not a score"


def _scores(steps: Array) -> Floats:
    return np.where(steps == MISSING, np.nan, steps / STEPS)
