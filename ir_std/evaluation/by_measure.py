"""A dict by measure, looked up by the measure or by its name."""

from __future__ import annotations

from typing import Any, TypeVar, overload

from ir_measures.measures import Measure

from ir_std.errors import IrStdError, MissingMeasureError
from ir_std.measures import canonical, parse_measure

V = TypeVar("V")
T = TypeVar("T")


class ByMeasure(dict[Measure, V]):
    """A dict by measure that also takes a measure's name, however it is written.

    >>> from ir_std import P
    >>> means = ByMeasure({P(rel=2) @ 10: 0.5})
    >>> means["P(rel=2)@10"], means["P(cutoff=10, rel=2)"], "AP" in means
    (0.5, 0.5, False)
    """

    def __getitem__(self, measure: Measure | str) -> V:
        return super().__getitem__(self._key(measure))

    def __missing__(self, measure: Measure | str) -> V:
        raise MissingMeasureError(f"no {measure}: there are {', '.join(map(str, self)) or 'none'}")

    def __contains__(self, measure: object) -> bool:
        return super().__contains__(self._key(measure))

    @overload
    def get(self, measure: Measure | str, default: None = None, /) -> V | None: ...

    @overload
    def get(self, measure: Measure | str, default: V | T, /) -> V | T: ...

    def get(self, measure: Measure | str, default: Any = None, /) -> Any:
        """The value of a measure, or ``default``."""
        return super().get(self._key(measure), default)

    def _key(self, measure: Any) -> Any:
        """The key that a name stands for; anything else as it is."""
        if not isinstance(measure, str):
            return measure
        try:
            asked = parse_measure(measure)
        except IrStdError:
            return measure
        if super().__contains__(asked):
            return asked
        return {canonical(own): own for own in self if isinstance(own, Measure)}.get(
            canonical(asked), asked
        )
