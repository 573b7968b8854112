"""What a factor set's file may hold: the fields of ``set.json``, and cells of MTEB."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
from ir_measures.measures import Measure

from ir_std._arrays import Floats, Mask
from ir_std.errors import IrStdError
from ir_std.measures import ExternalMeasure, parse_measure

Rule = Callable[[Any], "str | None"]
"""Checks a value: says what is expected instead, or None if the value is allowed."""

_CONTROL = r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]"
LONGEST = 10_000
"""The most characters of a text, and entries of a list."""


def _text(value: Any) -> str | None:
    if (
        isinstance(value, str)
        and len(value) <= LONGEST
        and (value.isprintable() or not re.search(_CONTROL, value))
    ):
        return None
    return "a text without control characters is expected"


def _name(value: Any) -> str | None:
    if _text(value) or not value.strip() or len(value) > 200 or re.search(r"[/\\]", value):
        return "a name of 1 to 200 characters without control characters and slashes is expected"
    return None


def _texts(value: Any) -> str | None:
    if isinstance(value, (list, tuple)) and len(value) > LONGEST:
        return f"a list of {LONGEST} texts at most is expected"
    if isinstance(value, (list, tuple)) and not any(map(_text, value)):
        return None
    return "a list of texts is expected"


def _text_or_texts(value: Any) -> str | None:
    return _text(value) and _texts(value) and "a text or a list of texts is expected"


def _records(value: Any) -> str | None:
    if isinstance(value, (list, tuple)) and all(
        isinstance(one, Mapping) and not any(map(_text, (*one, *one.values()))) for one in value
    ):
        return None
    return "a list of objects of texts is expected"


def _one_of(*allowed: str) -> Rule:
    return lambda value: None if value in allowed else f"{' or '.join(allowed)} is expected"


def _whole(least: int) -> Rule:
    def rule(value: Any) -> str | None:
        if isinstance(value, int) and not isinstance(value, bool) and least <= value < 1 << 31:
            return None
        return f"a whole number from {least} is expected"

    return rule


FORMAT = 1
"""The format in which sets are written."""


def _format(value: Any) -> str | None:
    if _whole(1)(value):
        return _whole(1)(value)
    return f"up to {FORMAT} is known here: upgrade ir_std" if value > FORMAT else None


def _optional(rule: Rule) -> Rule:
    return lambda value: None if value is None else rule(value)


def _step(value: Any) -> str | None:
    if (
        isinstance(value, (int, float))
        and not isinstance(value, bool)
        and (math.isfinite(value) and 0 <= value < 1)
    ):
        return None
    return "a step from 0 to below 1 is expected"


def _levels(value: Any) -> str | None:
    whole = isinstance(value, (list, tuple)) and all(type(level) is int for level in value)
    if whole and [*value] == sorted({*value}) and len(value) <= LONGEST:
        return None
    return "a list of ascending whole numbers is expected"


@lru_cache(maxsize=1024)
def parse_set_measure(name: str) -> Measure:
    """Parse the name of a set's measure, once, for many sets have the same."""
    try:
        return parse_measure(name)
    except IrStdError:
        return ExternalMeasure(name)


def _measure(name: str, about: Any) -> str | None:
    if isinstance(about, Mapping) and "better" in about and name.strip():
        return None
    try:
        parse_measure(name)
    except (IrStdError, ValueError, AssertionError, AttributeError) as wrong:
        return f"measure {name!r}: {wrong}"
    return None


OF_MEASURE: dict[str, Rule] = {
    "systems": _whole(0),
    "source": _text,
    "licence": _text,
    "depth": _optional(_whole(1)),
    "resolution": _step,
    "better": _one_of("higher", "lower"),
}
"""The fields of one measure, beside the set's own of the same names.

``better`` says of a measure that another program computed which values are better; others do not
have it.
"""

OF_DATASET: dict[str, Rule] = {"split": _text, "queries": _whole(1), "note": _text}
"""The fields of a data set; the note is what a reader of its scores should know."""


def _datasets(value: Any) -> str | None:
    if isinstance(value, Mapping) and all(
        isinstance(about, Mapping)
        and about.keys() <= OF_DATASET.keys()
        and not any(OF_DATASET[field](one) for field, one in about.items())
        for about in value.values()
    ):
        return None
    return f"an object of objects with {', '.join(OF_DATASET)} is expected"


OF_JUDGE: dict[str, Rule] = {"name": _name, "model": _text, "prompt": _text, "source": _text}
"""The fields of a judge that is a language model; its name is required."""


def _judge(value: Any) -> str | None:
    if (
        isinstance(value, Mapping)
        and "name" in value
        and value.keys() <= OF_JUDGE.keys()
        and not any(OF_JUDGE[field](one) for field, one in value.items())
    ):
        return None
    return f"an object of texts with {', '.join(OF_JUDGE)} is expected, at least the name"


def _texts_by_name(value: Any) -> str | None:
    if isinstance(value, Mapping) and not any(map(_text, (*value, *value.values()))):
        return None
    return "an object of texts is expected"


def _numbers_by_name(value: Any) -> str | None:
    if isinstance(value, Mapping) and not any(map(_text, value)):
        return next(filter(None, map(_whole(0), value.values())), None)
    return "an object of whole numbers is expected"


FIELDS: dict[str, Rule] = {
    "format": _format,
    "id": _name,
    "title": _text,
    "track": _text,
    "unit": _one_of("topic", "collection"),
    "corpus": _text,
    "doc_id_example": _text,
    "ir_datasets": _texts,
    "levels": _levels,
    "same_scores": _texts_by_name,
    "max_level": _optional(_whole(0)),
    "depth": _optional(_whole(1)),
    "resolution": _step,
    "default_measures": _texts,
    "source": _text,
    "sources": _records,
    "licence": _text,
    "built": _text,
    "notes": _text_or_texts,
    "beside": _name,
    "population": _text,
    "kind": _one_of("judge"),
    "judge": _judge,
    "same_topics_as": _name,
    "year": _optional(_whole(1900)),
    "inputs": _records,
    "teams": _texts_by_name,
    "datasets": _datasets,
    "aliases": _texts_by_name,
    "topic_kinds": _texts_by_name,
    "short_systems": _numbers_by_name,
}
"""The fields of a set, but for ``measures``.

``format`` is that of the file (:data:`FORMAT`).  ``levels`` are those of the columns of ``counts``
and ``prints``; ``same_scores`` says of a measure whose scores are those of another which that is.
``corpus`` says what the documents are, ``doc_id_example`` is the id of one.
``year`` is that of the systems;
``teams`` says whose they are, where names do not: a system that it lacks is a team of its own;
``sources`` say more (URL, licence URI, date) of what ``source`` names; ``inputs`` are the files
that the set was made of, with their SHA-256; ``datasets`` describes the rows of a set of unit
``collection``, and ``aliases`` has what else they are called.  ``beside`` names the set whose
collection this one has other systems for, ``population`` says which: recognition prefers the
track's own.  ``topic_kinds`` says of each topic what kind it is,
where there are several.  ``short_systems`` are those whose runs have few documents: how many on the
median topic.

A set of ``kind`` judge has labels of a language model, which ``judge`` describes;
``same_topics_as`` names the set of the same topics under the labels of people.
"""


def info_problems(info: Any) -> Iterator[str]:
    """The problems in the content of a ``set.json``."""
    if not isinstance(info, Mapping):
        yield "is no object: one of fields such as id and measures is expected"
        return
    missing = [field for field in ("id", "measures", "levels") if field not in info]
    if missing:
        yield f"{' and '.join(map(repr, missing))} missing: a set has an id, measures and levels"
        return
    measures = info["measures"]
    yield from _wrong(info, FIELDS, "")
    if not isinstance(measures, Mapping) or not measures:
        yield f"measures is {_shown(measures)}: an object of at least one measure is expected"
        return
    defaults = info.get("default_measures", ())
    for name in defaults if _texts(defaults) is None else ():
        if name not in measures and (wrong := _measure(name, {})):
            yield wrong
    for name, about in measures.items():
        if wrong := (_text(name) or _measure(name, about)):
            yield wrong
        elif not isinstance(about, Mapping) or "systems" not in about:
            yield f'measure {name} has no number of systems: give {{"systems": n}}'
        else:
            yield from _wrong(about, OF_MEASURE, f" of {name}")
            if isinstance(parse_set_measure(name), ExternalMeasure) != ("better" in about):
                yield (
                    f'measure {name} has no \'better\': give "higher" or "lower"'
                    if "better" not in about
                    else f"measure {name} has 'better', which is of other programs' measures"
                )


def unknown_fields(info: Mapping[str, Any]) -> list[str]:
    """Fields that this version does not know; a newer one may have written them."""
    return sorted(
        {*info} - {*FIELDS, "measures"}
        | {
            field
            for about in info["measures"].values()
            for field in about
            if field not in OF_MEASURE
        }
    )


def _wrong(fields: Mapping[str, Any], rules: Mapping[str, Rule], of: str) -> Iterator[str]:
    for name, value in fields.items():
        expected = rules[name](value) if name in rules else None
        if expected:
            yield f"{name}{of} is {_shown(value)}: {expected}"


def _shown(value: Any) -> str:
    try:
        text = json.dumps(value, ensure_ascii=True, default=repr)
    except (ValueError, RecursionError):
        return "something that cannot be shown"
    return text if len(text) <= 80 else f"{text[:77]}..."


MAIN = "main_score"
"""The measure of every model; it is no measure to standardize."""
FEWEST = 20
"""A dataset with fewer models has no factors."""
STEPS = 1_000_000
"""Scores are whole numbers of millionths."""
MISSING = np.iinfo(np.int32).min
"""Marks a score that is not known."""

NOT_TRAINED, TRAINED, UNKNOWN = 0, 1, 2
"""Whether a model was trained on the dataset or one that resembles it, as its authors state."""
KINDS: dict[str, str] = {
    "all": "all models that state a language of the data set (or none, and it is English); some "
    "were trained on it (--systems zero-shot leaves these out)",
    "zero-shot": "zero-shot models, which state what they were trained on, neither the data set "
    "nor one that resembles it",
}
"""Which models of a dataset its factors are made from; the default first."""


class Cells:
    """The scores of models on datasets.

    Parameters
    ----------
    arrays : mapping of str to ndarray of int, shape (n_datasets, n_models)
        ``counted``, 1 where a model is one of the reference systems of the dataset; ``trained``,
        one of :data:`NOT_TRAINED`, :data:`TRAINED`, :data:`UNKNOWN`; and measures, :data:`MAIN`
        among them, in steps of a millionth, :data:`MISSING` where a score is not known.
    """

    def __init__(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        self.arrays = arrays

    @property
    def counted(self) -> Mask:
        """True where a model is one of the reference systems of the dataset."""
        return np.asarray(self.arrays["counted"] > 0)

    @property
    def trained(self) -> npt.NDArray[np.uint8]:
        """Whether each model was trained on the dataset, as its authors state."""
        return self.arrays["trained"]

    def main_scores(self) -> Floats:
        """Return the main scores of all models, whether they count or not."""
        return _scores(self.arrays[MAIN])

    def scores(self, measure: str, kind: str = "all") -> Floats:
        """Return the scores of the models that count, of one of :data:`KINDS`.

        Returns
        -------
        ndarray, shape (n_datasets, n_models)
            NaN where a model has none, and on datasets with fewer than :data:`FEWEST` models.
        """
        used = self.counted if kind == "all" else self.counted & (self.trained == NOT_TRAINED)
        scores = np.where(used, _scores(self.arrays[measure]), np.nan)
        scores[np.count_nonzero(~np.isnan(scores), axis=1) < FEWEST] = np.nan
        return scores

    def problems(self, n_rows: int, n_systems: int, measures: tuple[str, ...]) -> Iterator[str]:
        """Yield what is wrong with the arrays."""
        expected = {"counted", "trained", MAIN, *measures}
        if {*self.arrays} != expected:
            yield f"are {', '.join(self.arrays)}; {', '.join(sorted(expected))} are expected"
            return
        for name, array in self.arrays.items():
            if array.shape != (n_rows, n_systems):
                yield f"{name} has shape {array.shape}, {(n_rows, n_systems)} is expected"
                return
        for name, most in (("counted", 1), ("trained", UNKNOWN)):
            if (self.arrays[name] < 0).any() or (self.arrays[name] > most).any():
                yield f"{name} has a value outside 0 to {most}"
        for name in (*measures, MAIN):
            steps = self.arrays[name][self.arrays[name] != MISSING]
            lowest = -STEPS if name == MAIN else 0
            if steps.size and (steps.max() > STEPS or steps.min() < lowest):
                yield f"{name} has a value that is no score"


def _scores(steps: npt.NDArray[Any]) -> Floats:
    return np.where(steps == MISSING, np.nan, steps / STEPS)
