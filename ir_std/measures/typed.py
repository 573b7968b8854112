"""What the measures of ir_std share: types for type checkers, and the cutoff."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ir_measures.measures import Measure, ParamInfo

if TYPE_CHECKING:
    from typing_extensions import Self

CUTOFF = ParamInfo(dtype=int, required=False, desc="ranking cutoff threshold")


class TypedMeasure(Measure):
    """A measure with the types that ir_measures leaves open."""

    if TYPE_CHECKING:

        def __call__(self, **params: Any) -> Self:
            """The measure with these parameters changed."""

        def __matmul__(self, at_param: float) -> Self: ...

        def __getitem__(self, key: str) -> Any: ...
