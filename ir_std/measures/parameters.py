"""Measures with types, their parameters, and names in which these stand in a fixed order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ir_measures.measures import Measure, ParamInfo

from ir_std.errors import UsageError, suggestion

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


def check_params(measure: Measure) -> None:
    """Check a measure's parameters; an error names the one that is wrong, and what is allowed."""
    supported = measure.SUPPORTED_PARAMS
    for name in measure.params:
        if name not in supported:
            raise UsageError(
                f"{measure.__name__} has no parameter {name!r}: it takes "
                f"{', '.join(supported) or 'none'}{suggestion(name, supported)}"
            )
    for name, info in supported.items():
        if name in measure.params:
            _check_value(measure, name, info)
        elif info.required:
            example = "@10" if name == measure.AT_PARAM else f"({name}=...)"
            raise UsageError(f"{measure.__name__} needs {name}: write {measure.__name__}{example}")
    for name in ("cutoff", "rel"):
        if measure.params.get(name, 1) < 1:
            raise UsageError(f"{measure}: {name} must be at least 1")
    if measure.params.get("beta", 1) < 0:
        raise UsageError(f"{measure}: beta must be at least 0")
    if measure.__name__.endswith("RBP") and not 0 <= measure["p"] < 1:
        raise UsageError(f"{measure}: p is a probability below 1")


def _check_value(measure: Measure, name: str, info: ParamInfo) -> None:
    value = measure.params[name]
    if info.validate(value):
        return
    choices = getattr(info, "choices", None)
    allowed = (
        ", ".join(map(repr, choices))
        if isinstance(choices, list)
        else f"values of type {info.dtype.__name__}"
    )
    raise UsageError(f"{measure.__name__}: {name} is {value!r}, allowed are {allowed}")


def canonical(measure: Measure) -> str:
    """A measure's name with its parameters in their fixed order and without defaults.

    Equal measures that were written differently have the same canonical name.
    """
    params: dict[str, Any] = {
        name: measure.params[name]
        for name, info in measure.SUPPORTED_PARAMS.items()
        if name in measure.params and measure.params[name] != info.default
    }
    return repr(type(measure)(**params)) if params else measure.__name__
