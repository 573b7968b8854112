"""What is checked of every new factor set, whatever it is built from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ir_measures.measures import Measure

from ir_std.errors import UsageError
from ir_std.factors.schema import FIELDS
from ir_std.measures import Measures, canonical, has_standardized, parse_measure


def judge_fields(judge: str | Mapping[str, str]) -> dict[str, Any]:
    """What ``set.json`` says of a set whose labels are a language model's; nothing without one.

    Raises
    ------
    UsageError
        If the judge has no name, or a field that is not known.
    """
    if not judge:
        return {}
    fields = {"name": judge} if isinstance(judge, str) else dict(judge)
    if wrong := FIELDS["judge"](fields):
        raise UsageError(f"judge is {judge!r}: {wrong}")
    return {"kind": "judge", "judge": fields}


def check_measure_names(measures: Measures) -> tuple[str, ...]:
    """The names of raw measures, checked; strings stay as they were written.

    Raises
    ------
    UsageError
        If a measure cannot be standardized, is given twice, or none is given.
    """
    names: dict[str, str] = {}
    for given in [measures] if isinstance(measures, (str, Measure)) else measures:
        measure = parse_measure(given)
        if not has_standardized(measure):
            raise UsageError(f"{measure} cannot be standardized: name raw measures")
        name = canonical(measure)
        if name in names:
            raise UsageError(f"{given} is given twice")
        names[name] = given if isinstance(given, str) else name
    if not names:
        raise UsageError("no measure is given")
    return tuple(names.values())
