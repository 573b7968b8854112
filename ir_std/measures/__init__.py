"""Measure objects and their names: SP, DCG, a wider nDCG, and the standardized family.

Importing this module registers them with ir_measures, so that ``ir_measures.parse_measure``
knows their names.
"""

from __future__ import annotations

import ast
import math
import os
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

import ir_measures
from ir_measures import measures as irm
from ir_measures.measures import Measure, ParamInfo

from ir_std.errors import UnknownMeasureError, UsageError, did_you_mean, nearest_names, suggestion
from ir_std.schemes import SCHEMES

if TYPE_CHECKING:
    from typing_extensions import Self
else:
    from ir_measures.measures import *  # noqa: F403  # for tools that read a module's names

    def __getattr__(name: str) -> Any:
        """What is not here is ir_measures': ``ir_std.measures`` stands for its module."""
        return getattr(irm, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *dir(irm)})


Measures: TypeAlias = Iterable[Measure | str] | Measure | str
"""One measure or several, as objects or by name."""

_CUTOFF = ParamInfo(dtype=int, required=False, desc="ranking cutoff threshold")
_FORMULATION = ParamInfo(
    dtype=str, choices=["log2", "exp-log2", "jk"], default="log2", desc="DCG formulation"
)
_BINARY = ParamInfo(
    dtype=int, required=False, desc="gains are 1 at this level or above; without it they are graded"
)


class _Typed(Measure):
    """A measure that tells type checkers what ir_measures leaves open."""

    if TYPE_CHECKING:

        def __call__(self, **params: Any) -> Self: ...

        def __matmul__(self, at_param: float) -> Self: ...

        def __getitem__(self, key: str) -> Any: ...


class _SP(_Typed):
    """The sum of precisions at the relevant documents: AP times their number.

    Webber, Moffat and Zobel (SIGIR 2008).
    """

    __name__ = "SP"
    NAME = __name__
    PRETTY_NAME = "Sum of Precisions"
    SHORT_DESC = "The sum of the precision scores at each relevant item retrieved."
    SUPPORTED_PARAMS = {
        "cutoff": _CUTOFF,
        "rel": ParamInfo(dtype=int, default=1, desc="minimum relevance score (inclusive)"),
    }


class _DCG(_Typed):
    """Discounted cumulative gain, not normalized.

    ``dcg='log2'`` discounts by 1/log2(rank+1); ``'exp-log2'`` also takes 2**level - 1 as gain
    (Burges et al. 2005); ``'jk'`` discounts by 1/log2(rank) from rank 3 on (Järvelin and
    Kekäläinen, TOIS 2002).  With ``rel`` gains are binary at that level.
    """

    __name__ = "DCG"
    NAME = __name__
    PRETTY_NAME = "Discounted Cumulative Gain"
    SHORT_DESC = "The total gain of a result list, discounted by rank."
    SUPPORTED_PARAMS = {"cutoff": _CUTOFF, "dcg": _FORMULATION, "rel": _BINARY}


class _nDCG(_Typed, irm._nDCG):
    """ir_measures' nDCG, widened by ``dcg='jk'`` and by ``rel`` for binary gains."""

    __name__ = "nDCG"
    SUPPORTED_PARAMS = {**irm._nDCG.SUPPORTED_PARAMS, "dcg": _FORMULATION, "rel": _BINARY}

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        if "rel" in params or params.get("dcg") == "jk":
            # Providers go by NAME and overlook parameters that they do not know: pytrec_eval
            # would answer nDCG(rel=1) with the graded value.
            self.NAME = "nDCG of ir_std"


class NanMean(irm.MeanAgg):
    """The mean of the values that are numbers; NaN if there are none."""

    def add(self, value: float) -> None:
        """Count ``value`` in unless it is NaN (a topic without factors)."""
        if not math.isnan(value):
            super().add(value)


class Standardized(_Typed):
    """A measure whose value on each topic is standardized by the topic's factors.

    All parameters of the base measure, and ``scheme`` (N, U, E or z), ``A`` and ``B`` (of U),
    ``factors`` (the id or path of a factor set; recognized from the qrels if not given).

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
        super().__init__(**{name: self._as_written(name, value) for name, value in params.items()})

    def _as_written(self, name: str, value: Any) -> Any:
        """A parameter's value as names have it: whole numbers as floats, paths as strings."""
        info = self.SUPPORTED_PARAMS.get(name)
        if info and info.dtype is float and isinstance(value, int) and not isinstance(value, bool):
            return float(value)
        return os.fspath(value) if name == "factors" and isinstance(value, os.PathLike) else value

    def __reduce__(self) -> tuple[Any, ...]:
        # The classes are made at import, so pickle cannot find them by name.
        return _rebuild, (self.__name__, self.params)

    @property
    def base(self) -> Measure:
        """The raw measure, with the parameters that are its own."""
        return self.BASE(**{k: v for k, v in self.params.items() if k not in self.OWN_PARAMS})

    @property
    def scheme_params(self) -> dict[str, float]:
        """``A`` and ``B`` where the scheme has them."""
        return {k: self[k] for k in ("A", "B")} if self["scheme"] == "U" else {}

    def validate_params(self) -> None:
        """Check the parameters.

        Raises
        ------
        UsageError
            Naming the parameter and what is allowed.
        """
        if not isinstance(self.params.get("factors", ""), str):
            raise UsageError(
                f"{self.__name__}: factors= of a measure is the id or the folder of a "
                "set; give a set itself to the call, as in evaluate(factors=...)"
            )
        check_params(self)
        if self["scheme"] != "U" and {"A", "B"} & self.params.keys():
            raise UsageError(f"{self}: A and B belong to scheme 'U'")

    def aggregator(self) -> NanMean:
        """The mean over the topics that have factors."""
        return NanMean()


def _rebuild(name: str, params: dict[str, Any]) -> Standardized:
    rebuilt: Standardized = irm.registry[name](**params)
    return rebuilt


def standardized(measure: Measure, **params: Any) -> Standardized:
    """The standardized measure of a raw one.

    Parameters
    ----------
    measure : Measure
        A raw measure; its parameters are kept.
    **params
        ``scheme``, ``A``, ``B``, ``factors``.

    Raises
    ------
    UsageError
        If measures of this kind have no standardized form (counts, diversity measures).

    Examples
    --------
    >>> standardized(nDCG @ 10, scheme="E")
    snDCG(scheme='E')@10
    """
    if not has_standardized(measure):
        raise UsageError(f"{measure} has no standardized form")
    result: Standardized = irm.registry[f"s{measure.__name__}"](**measure.params, **params)
    return result


def has_standardized(measure: Measure) -> bool:
    """Whether measures of this kind have a standardized form."""
    return isinstance(irm.registry.get(f"s{measure.__name__}"), Standardized)


def _family(base: Measure) -> Standardized:
    name = f"s{base.__name__}"
    kind = type(
        f"_{name}",
        (Standardized,),
        {
            "__name__": name,
            "__doc__": f"{base.__name__}, standardized by the factors of each topic; also as "
            f"``{name}(scheme='U')``.  See :class:`ir_std.Standardized`.",
            "NAME": name,
            "AT_PARAM": base.AT_PARAM,
            "PRETTY_NAME": f"Standardized {base.PRETTY_NAME}",
            "SHORT_DESC": f"{base.__name__} relative to the systems that set the topic's factors.",
            "BASE": base,
            "SUPPORTED_PARAMS": {**base.SUPPORTED_PARAMS, **Standardized.OWN_PARAMS},
        },
    )
    result: Standardized = kind()
    return result


# Counts say nothing relative to other systems, and diversity qrels no factor set knows.
_WITHOUT = {
    "NumQ",
    "NumRel",
    "NumRet",
    "alpha_DCG",
    "alpha_nDCG",
    "NRBP",
    "nNRBP",
    "AP_IA",
    "P_IA",
    "ERR_IA",
    "nERR_IA",
    "StRecall",
}


def _register() -> None:
    """Put the new measures and a standardized form of every measure into the registry."""
    irm.register(SP)
    irm.register(DCG)
    irm.registry.update(nDCG=nDCG, NDCG=nDCG)
    family: dict[str, Standardized] = {}
    for alias, base in list(irm.registry.items()):
        name = base.__name__
        if name not in _WITHOUT and isinstance(base, Measure) and base.PRETTY_NAME:
            family.setdefault(name, _family(base))
            irm.registry[f"s{alias}"] = family[name]


SP = _SP()
DCG = _DCG()
nDCG = _nDCG()
NDCG = nDCG

_register()

sAP: Standardized = irm.registry["sAP"]
sSP: Standardized = irm.registry["sSP"]
sP: Standardized = irm.registry["sP"]
sR: Standardized = irm.registry["sR"]
sRR: Standardized = irm.registry["sRR"]
sRprec: Standardized = irm.registry["sRprec"]
sRBP: Standardized = irm.registry["sRBP"]
snDCG: Standardized = irm.registry["snDCG"]
sDCG: Standardized = irm.registry["sDCG"]
sERR: Standardized = irm.registry["sERR"]
sBpref: Standardized = irm.registry["sBpref"]
sSuccess: Standardized = irm.registry["sSuccess"]
sJudged: Standardized = irm.registry["sJudged"]


def check_params(measure: Measure) -> None:
    """Check a measure's parameters.

    Raises
    ------
    UsageError
        Naming the parameter, its value and what is allowed.
    """
    supported = measure.SUPPORTED_PARAMS
    for name in measure.params:
        if name not in supported:
            raise UsageError(
                f"{measure.__name__} has no parameter {name!r}: it takes "
                f"{', '.join(supported) or 'none'}{suggestion(name, supported)}"
            )
    for name, info in supported.items():
        if name not in measure.params:
            if info.required:
                example = "@10" if name == measure.AT_PARAM else f"({name}=...)"
                raise UsageError(
                    f"{measure.__name__} needs {name}: write {measure.__name__}{example}"
                )
        elif not info.validate(measure.params[name]):
            choices = getattr(info, "choices", None)
            allowed = (
                ", ".join(map(repr, choices))
                if isinstance(choices, list)
                else f"values of type {info.dtype.__name__}"
            )
            raise UsageError(
                f"{measure.__name__}: {name} is {measure.params[name]!r}, allowed are {allowed}"
            )
    for name in ("cutoff", "rel"):
        if measure.params.get(name, 1) < 1:
            raise UsageError(f"{measure}: {name} must be at least 1")
    if measure.__name__.endswith("RBP") and not 0 <= measure["p"] < 1:
        raise UsageError(f"{measure}: p is a probability below 1")


def canonical(measure: Measure) -> str:
    """A measure's name with its parameters in their fixed order and without defaults.

    Equal measures that were written differently have the same canonical name.
    """
    known = measure.SUPPORTED_PARAMS
    return repr(
        type(measure)(
            **{
                k: measure.params[k]
                for k in known
                if k in measure.params and measure.params[k] != known[k].default
            }
        )
    )


def has_graded_gains(measure: Measure) -> bool:
    """Whether a raw measure tells levels above 1 from level 1."""
    return measure.__name__ == "ERR" or (
        measure.__name__ in _GRADED and "rel" not in measure.params
    )


_PARTNERS = {"AP": SP, "SP": irm.registry["AP"], "nDCG": DCG, "DCG": nDCG}
_GRADED = ("nDCG", "DCG", "RBP")


def equivalents(measure: Measure, binary: bool) -> Iterator[Measure]:
    """Raw measures whose standardized values equal this one's, itself first.

    Parameters
    ----------
    measure : Measure
        A raw measure.
    binary : bool
        Whether the qrels hold no level above 1; then binary and graded gains are the same.

    Notes
    -----
    SP is AP, and DCG is nDCG, times a constant of the topic, which standardization removes.
    """
    forms = [measure]
    if binary and measure.__name__ in _GRADED and measure.params.get("rel", 1) == 1:
        without = {k: v for k, v in measure.params.items() if k != "rel"}
        other = without if "rel" in measure.params else {**without, "rel": 1}
        forms.append(irm.registry[measure.__name__](**other))
    yield from forms
    for form in forms:
        yield from _partner(form)


def _partner(measure: Measure) -> Iterator[Measure]:
    partner = _PARTNERS.get(measure.__name__)
    if partner is not None and measure.params.keys() <= partner.SUPPORTED_PARAMS.keys():
        yield partner(**measure.params)


_LOOKALIKES = str.maketrans("OoIl", "0011")


def near_measures(text: str) -> list[str]:
    """The one to three measures that ``text``, which is none, may have been meant for.

    >>> near_measures("ndcg@1O")
    ['nDCG@10']
    """
    name, _, cutoff = text.strip().partition("@")
    word = re.match(r"\w*", name)
    digits = cutoff.translate(_LOOKALIKES)
    at = f"@{digits}" if digits.isdecimal() else ""
    return [near + at for near in nearest_names(word[0], irm.registry)] if word and word[0] else []


_FORM = "write it as Name, Name@10 or Name(key=value)@10"


def parse_measure(measure: str | Measure) -> Measure:
    """Parse a measure's name, as ``ir_measures.parse_measure`` does.

    Parameters
    ----------
    measure : str or Measure
        Such as ``"AP"``, ``"P(rel=2)@10"``, ``"snDCG(scheme='E')@10"``.

    Raises
    ------
    UnknownMeasureError
        (a NameError) naming the nearest measure.
    UsageError
        (a ValueError) if it cannot be read or a parameter is wrong.

    Examples
    --------
    >>> parse_measure("snDCG(scheme='E')@10")
    snDCG(scheme='E')@10
    """
    if isinstance(measure, Measure):
        return measure
    if not isinstance(measure, str):
        raise _no_measure(measure)
    try:
        node: ast.expr = ast.parse(measure.strip(), mode="eval").body
        params: dict[str, Any] = {}
        at: Any = None
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            at, node = ast.literal_eval(node.right), node.left
        if isinstance(node, ast.Call) and not node.args:
            params = {str(k.arg): ast.literal_eval(k.value) for k in node.keywords}
            node = node.func
    except (SyntaxError, ValueError):
        raise UsageError(_unreadable(measure)) from None
    if not isinstance(node, ast.Name):
        raise UsageError(_unreadable(measure))
    if node.id not in irm.registry:
        raise UnknownMeasureError(
            f"unknown measure {node.id!r}{did_you_mean(near_measures(measure))}"
        )
    base = irm.registry[node.id]
    if at is not None:
        params[base.AT_PARAM] = at
    parsed: Measure = base(**params)
    check_params(parsed)
    parsed.validate_params()
    return parsed


def as_measures(measures: Measures) -> list[Measure]:
    """One measure or several, as objects or by name, as a list of objects.

    >>> as_measures("AP"), as_measures([SP @ 10, "P@10"])
    ([AP], [SP@10, P@10])

    Raises
    ------
    UnknownMeasureError, UsageError
        As :func:`parse_measure`.
    """
    if isinstance(measures, (str, Measure)):
        return [parse_measure(measures)]
    if not isinstance(measures, Iterable):
        raise _no_measure(measures)
    return [parse_measure(measure) for measure in measures]


def _no_measure(given: object) -> UsageError:
    return UsageError(
        f"{given!r} is no measure: give one, such as AP or 'P@10', or several in a list"
    )


def _unreadable(measure: str) -> str:
    if len(measure.split()) > 1:
        return f"cannot read measure {measure!r}: {_FORM}, and several in a list"
    # A shell takes quotes away.
    quoted = re.sub(r"=(?!True|False)([A-Za-z][\w-]*)(?=[,)])", r"='\1'", measure)
    meant = [quoted] if quoted != measure else near_measures(measure) if "@" in measure else []
    return f"cannot read measure {measure!r}: {_FORM}{did_you_mean(meant)}"


if not hasattr(ast, "Num"):
    # ir_measures 0.4.3 reads parameters with ast.Num and its kin, gone since Python 3.14.
    ir_measures.util._ast_to_value = ast.literal_eval
