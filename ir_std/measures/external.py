"""Measures that other programs compute, known only by name."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any

from ir_measures.measures import Measure

from ir_std.errors import UsageError
from ir_std.measures.objects import TypedMeasure
from ir_std.measures.records import Record, by_class, by_name, no_ranks
from ir_std.measures.translation import IN_LOWER_CASE, translated

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")


class ExternalMeasure(TypedMeasure):
    """A measure that another program computed: nugget recall, faithfulness, a grade, latency.

    It prints as its name, in quotes where that holds other characters than letters, digits and
    ``_.-``, or is the name of another measure: ``faithfulness``, ``'strict vital'``.  Its
    standardized form prints as ``s'faithfulness'``: more is better there, whatever it is by the
    measure itself.  Both can be parsed.

    Parameters
    ----------
    name : str
    lower_is_better : bool
        As of latency.  Measures of one name are equal, whatever is better.

    Attributes
    ----------
    name : str
    quoted : str
        The name in quotes.
    lower_is_better : bool

    Raises
    ------
    UsageError
        If the name is blank.

    Examples
    --------
    >>> ir_std.ExternalMeasure("strict vital"), ir_std.ExternalMeasure("latency")
    ('strict vital', latency)
    """

    NAME = "external"
    PRETTY_NAME = "External measure"
    SHORT_DESC = "Computed by another program."

    def __init__(self, name: str, lower_is_better: bool = False) -> None:
        if not isinstance(name, str) or not name.strip():
            raise UsageError(f"a measure's name is {name!r}: give one that is not blank")
        super().__init__()
        self.name, self.lower_is_better = name, lower_is_better
        self.quoted = repr(name)
        self.__name__ = name if _is_plain(name) else self.quoted

    def __call__(self, **params: Any) -> ExternalMeasure:
        """The measure itself, which takes no parameters."""
        if params:
            raise UsageError(f"{self} is computed by another program, and takes no parameters")
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return ExternalMeasure, (self.name, self.lower_is_better)


def _is_plain(name: str) -> bool:
    """Whether a name needs no quotes: it is no other measure's."""
    theirs = translated(name.lower(), IN_LOWER_CASE)
    return bool(_PLAIN.fullmatch(name)) and name not in by_name and theirs is None


def lower_measures(names: Iterable[str], measures: Iterable[Measure]) -> list[Measure]:
    """Return the external measures of these names, for which lower values are better."""
    given = [*measures]
    known = {name: m for m in given for name in (str(m), getattr(m, "name", str(m)))}
    for name in names:
        if name not in known:
            raise UsageError(f"unknown measure {name!r}; choose from {', '.join(known) or 'none'}")
        if not isinstance(known[name], ExternalMeasure):
            raise UsageError(f"higher {name} is better, whatever is measured")
    return [known[name] for name in names]


def sign_of(measure: Measure) -> float:
    """Return -1 for a lower-is-better measure, else 1; scores times that are higher-is-better.

    Standardized measures are always higher-is-better.
    """
    return -1.0 if isinstance(measure, ExternalMeasure) and measure.lower_is_better else 1.0


by_class[ExternalMeasure] = Record(
    Measure(), low=-math.inf, high=math.inf, last_ranks=no_ranks, relevance=False
)
