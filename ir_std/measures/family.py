"""Standardized measures, whose names begin with ``s``, such as ``sAP`` and ``snDCG@10``."""

import ast
import math
import os
from functools import lru_cache
from typing import Any

from ir_measures import measures as irm
from ir_measures.measures import Measure, ParamInfo

from ir_std.errors import UsageError
from ir_std.measures.external import ExternalMeasure
from ir_std.measures.objects import TypedMeasure, check_params
from ir_std.measures.records import by_name, measure_record, own_measures
from ir_std.schemes import SCHEMES


class NanMean(irm.MeanAgg):
    """Mean of the values that are not NaN; NaN if there are none."""

    def add(self, value: float) -> None:
        """Add a value, but skip NaN, which is the value of a topic without factors."""
        if not math.isnan(value):
            super().add(value)


class Standardized(TypedMeasure):
    """A measure whose value on each topic is standardized with the topic's factors.

    A standardized measure accepts all parameters of its base measure.  It also accepts ``scheme``
    (N, U, E or z), ``A`` and ``B`` (for scheme U), and ``factors`` (the ID or the path of a factor
    set).  By default, the factor set is recognized from the qrels.

    Examples
    --------
    >>> from ir_std import sAP, sP
    >>> sAP(scheme="U", A=1), sP(rel=2) @ 10
    (sAP(scheme='U',A=1.0), sP(rel=2)@10)
    """

    BASE: Measure
    OWN_PARAMS = {
        "scheme": ParamInfo(
            dtype=str, choices=list(SCHEMES), default="N", desc="standardization scheme"
        ),
        "A": ParamInfo(dtype=float, default=0.15, desc="slope of scheme U"),
        "B": ParamInfo(dtype=float, default=0.5, desc="intercept of scheme U"),
        "factors": ParamInfo(dtype=str, desc="id or path of the factor set"),
    }

    def __init__(self, **params: Any) -> None:
        if isinstance(params.get("factors"), os.PathLike):
            params["factors"] = os.fspath(params["factors"])
        super().__init__(**params)

    def __reduce__(self) -> tuple[Any, ...]:
        # The classes are made at import, so pickle cannot find them by name.
        state = {"decided": self.decided} if self.decided else None
        return _rebuild, (self.__name__, self.params), state

    def __str__(self) -> str:
        return self.decided.column if self.decided else repr(self)

    @property
    def base(self) -> Measure:
        """Raw measure, with the parameters that the raw measure supports."""
        ours = self.OWN_PARAMS
        return self.BASE(**{name: value for name, value in self.params.items() if name not in ours})

    @property
    def scheme_params(self) -> dict[str, float]:
        """Parameters ``A`` and ``B`` for scheme U; empty for the other schemes."""
        return {name: self[name] for name in ("A", "B")} if self["scheme"] == "U" else {}

    def validate_params(self) -> None:
        """Check the parameters.

        Raises
        ------
        UsageError
            If a parameter is wrong; the message names the parameter and the allowed values.
        """
        if not isinstance(self.params.get("factors", ""), str):
            raise UsageError(
                f"{self.__name__}: factors= of a measure must be the ID or the file of a "
                "set; pass a loaded set to the call, as in evaluate(factors=...)"
            )
        check_params(self)
        if self["scheme"] != "U" and {"A", "B"} & self.params.keys():
            raise UsageError(f"{self}: A and B belong to scheme 'U'")

    def aggregator(self) -> NanMean:
        """Return the aggregator, which averages over the topics that have factors."""
        return NanMean()


def _rebuild(name: str, params: dict[str, Any]) -> Standardized:
    form = FORMS.get(name) or standardized_external(ast.literal_eval(name[1:]))
    return form(**params)


def standardized(measure: Measure, **params: Any) -> Standardized:
    """Return the standardized version of a raw measure.

    Parameters
    ----------
    measure : Measure
        Raw measure.  The standardized version keeps the parameters of the raw measure.
    **params
        Additional parameters: ``scheme``, ``A``, ``B`` and ``factors``.

    Raises
    ------
    UsageError
        If the measure has no standardized form, such as a count or a diversity measure.

    Examples
    --------
    >>> from ir_std import nDCG
    >>> standardized(nDCG @ 10, scheme="E")
    snDCG(scheme='E')@10
    """
    if not isinstance(measure, Measure):
        raise UsageError(f"expected a measure object such as ir_std.AP, got {measure!r}")
    if not has_standardized(measure):
        raise UsageError(f"{measure} has no standardized form")
    if isinstance(measure, ExternalMeasure):
        return standardized_external(measure.name)(**params)
    return FORMS[f"s{measure.__name__}"](**measure.params, **params)


def has_standardized(measure: Measure) -> bool:
    """Check whether measures of this kind have a standardized form.

    The check compares classes and not names.  So a user's own measure has no standardized form,
    even if it has the name of a measure that has one.
    """
    if isinstance(measure, ExternalMeasure):
        return True
    form = FORMS.get(f"s{measure.__name__}")
    return form is not None and isinstance(form.BASE, type(measure))


@lru_cache(maxsize=256)
def standardized_external(name: str) -> Standardized:
    """Return the standardized form of an external measure."""
    base = ExternalMeasure(name)
    return _standardized_form(base, f"s{base.quoted}")


def _standardized_form(base: Measure, name: str) -> Standardized:
    """Create a class for the standardized form of a raw measure, and return its instance."""
    attributes = {
        "__name__": name,
        "__doc__": f"{base.__name__}, standardized with each topic's factors.  For "
        f"scheme U, write ``{name}(scheme='U')``.  See :class:`ir_std.Standardized`.",
        "NAME": name,
        "AT_PARAM": base.AT_PARAM,
        "PRETTY_NAME": f"Standardized {base.PRETTY_NAME}",
        "SHORT_DESC": f"{base.__name__} relative to the reference systems on each topic.",
        "BASE": base,
        "SUPPORTED_PARAMS": {**base.SUPPORTED_PARAMS, **Standardized.OWN_PARAMS},
    }
    form: Standardized = type(f"_{name}", (Standardized,), attributes)()
    return form


FORMS: dict[str, Standardized] = {}
"""Standardized forms by name, including the standardized forms of aliases."""


def register_family() -> None:
    """Create the standardized form of every measure, and register it under all aliases."""
    forms: dict[str, Standardized] = {}
    for alias, base in list(by_name.items()):
        name = base.__name__
        # A user's own measure may lack a descriptive name.
        described = isinstance(base, Measure) and getattr(base, "PRETTY_NAME", None)
        if described and not measure_record(base).kind:
            if name not in forms:
                forms[name] = _standardized_form(base, f"s{name}")
            FORMS[f"s{alias}"] = forms[name]
    own_measures.update(FORMS)
