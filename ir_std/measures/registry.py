"""The registry of measures by name, and names read: to objects, or to the nearest one meant."""

from __future__ import annotations

import ast
import logging
import re
from collections import ChainMap
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from ir_measures import measures as irm
from ir_measures.measures import Measure
from ir_measures.measures.base import registry as theirs

from ir_std.errors import UnknownMeasureError, UsageError, did_you_mean, nearest_names
from ir_std.measures.parameters import check_params
from ir_std.measures.translation import TREC_EVAL_NAMES, translated

Measures: TypeAlias = Iterable[Measure | str] | Measure | str
"""One measure or several, as objects or by name."""


_HOW_TO_WRITE = "write it as Name, Name@10 or Name(key=value)@10"
_MISTAKEN_FOR_DIGITS = str.maketrans("OoIl", "0011")

_logger = logging.getLogger("ir_std")
_ORIGINAL_NDCG = irm.nDCG


class Guests(ChainMap[str, Any]):
    """What ``ir_measures.measures.registry`` is while ir_std is imported.

    ir_measures' own registry comes first and stays as it is: names that users register there,
    before ir_std is imported or afterwards, are theirs.  What it lacks is ir_std's.
    """

    def __getitem__(self, name: str) -> Any:
        log_conflict(name)
        return super().__getitem__(name)


own_measures: dict[str, Measure] = {}
"""The measures of ir_std by name."""
by_name: ChainMap[str, Any] = ChainMap(own_measures, theirs)
"""What ir_std understands by a name: its own measure if it has one, else ir_measures'."""
external_names: set[str] = set()
"""Names of measures that other programs computed, as scores or a factor set had them."""
makers: dict[str, Callable[[str], Measure]] = {}
"""What makes a measure of a name in quotes, by the letter before these: nothing, or ``s``."""
_QUOTED = re.compile(r"""(s?)('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")""", re.DOTALL)
_conflicts: set[str] = set()


def log_conflict(name: str) -> None:
    """Say once that a user's measure has the name of one of ir_std's."""
    if name not in own_measures or theirs.get(name, _ORIGINAL_NDCG) is _ORIGINAL_NDCG:
        return
    if name not in _conflicts:
        _conflicts.add(name)
        _logger.warning(
            "%s is registered with ir_measures by somebody else, and stays so there; "
            "in calls of ir_std the name is ir_std.%s",
            name,
            name,
        )


def join_ir_measures() -> None:
    """Let ir_measures find ir_std's measures by name, behind all of its own."""
    vars(irm)["registry"] = Guests(theirs, own_measures)
    for name in own_measures:
        log_conflict(name)


def parse_measure(measure: str | Measure) -> Measure:
    """Parse a measure's name, as ``ir_measures.parse_measure`` does.

    Parameters
    ----------
    measure : str or Measure
        Such as ``"AP"``, ``"P(rel=2)@10"``, ``"snDCG(scheme='E')@10"``; or under trec_eval's name,
        ``"map"``, ``"ndcg_cut_10"``, standardized ``"smap"``.  In quotes, as ``"'strict vital'"``,
        one that another program computed (:class:`.ExternalMeasure`), whose plain name will do
        once scores that were read or a factor set have it.

    Raises
    ------
    UnknownMeasureError
        (a NameError) naming the nearest measure.
    UsageError
        (a ValueError) if it cannot be read or a parameter is wrong.

    Notes
    -----
    It works on every version of Python.  ``ir_measures.parse_measure`` of ir_measures 0.4.3 reads
    parameters with ``ast.Num``, which Python 3.14 no longer has: there it reads ``"AP"``, but
    fails with an AttributeError at ``"P@10"``.

    Examples
    --------
    >>> parse_measure("snDCG(scheme='E')@10")
    snDCG(scheme='E')@10
    """
    if isinstance(measure, Measure):
        return measure
    if not isinstance(measure, str):
        raise _not_a_measure(measure)
    if measure in external_names:
        return makers[""](measure)
    base, params, at = _split(_ours(measure))
    if at is not None:
        params[base.AT_PARAM] = at
    parsed: Measure = base(**params)
    check_params(parsed)
    parsed.validate_params()
    return parsed


def _ours(measure: str) -> str:
    """The measure that a text names, if trec_eval's name of it, or with ``s`` before that."""
    for prefix in ("", "s"):
        ours = translated(measure.removeprefix(prefix), TREC_EVAL_NAMES)
        if ours and measure.startswith(prefix) and measure not in by_name:
            return prefix + ours
    return measure


def names_external(text: str) -> bool:
    """Whether a text is an external measure's name: one that is known, or any in quotes."""
    return text in external_names or re.match(r"s?['\"]", text) is not None


def as_measures(measures: Measures) -> list[Measure]:
    """One measure or several, as objects or by name, as a list of objects.

    >>> from ir_std import SP
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
        raise _not_a_measure(measures)
    return [parse_measure(measure) for measure in measures]


def near_measures(text: str) -> list[str]:
    """The one to three measures that a wrong name may have been meant for, or none.

    >>> near_measures("ndcg@1O")
    ['nDCG@10']
    """
    name, _, cutoff = text.strip().partition("@")
    word = re.match(r"\w+", name)
    if word is None:
        return []
    digits = cutoff.translate(_MISTAKEN_FOR_DIGITS)
    at = f"@{digits}" if digits.isdecimal() else ""
    return [near + at for near in nearest_names(word[0], by_name)]


def _split(measure: str) -> tuple[Measure, dict[str, Any], Any]:
    """The measure named, the parameters in brackets, what stands behind ``@`` (None without)."""
    params: dict[str, Any] = {}
    at: Any = None
    quoted = _QUOTED.match(measure.strip())
    text = "_" + measure.strip()[quoted.end() :] if quoted else measure.strip()
    try:
        node: ast.expr = ast.parse(text, mode="eval").body
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            at, node = ast.literal_eval(node.right), node.left
        if isinstance(node, ast.Call) and not node.args:
            params = {str(k.arg): ast.literal_eval(k.value) for k in node.keywords}
            node = node.func
        name = ast.literal_eval(quoted[2]) if quoted else None
    except (SyntaxError, ValueError):
        raise _unreadable(measure) from None
    if not isinstance(node, ast.Name):
        raise _unreadable(measure)
    if quoted and node.id == "_":
        return makers[quoted[1]](str(name)), params, at
    return _known(node.id, measure), params, at


def _known(name: str, measure: str) -> Measure:
    """The measure that is registered under a name."""
    if name not in by_name:
        raise UnknownMeasureError(f"unknown measure {name!r}{did_you_mean(near_measures(measure))}")
    log_conflict(name)
    known: Measure = by_name[name]
    return known


def _not_a_measure(given: object) -> UsageError:
    return UsageError(
        f"{given!r} is no measure: give one, such as AP or 'P@10', or several in a list"
    )


def _unreadable(measure: str) -> UsageError:
    if len(measure.split()) > 1:
        return UsageError(
            f"cannot read measure {measure!r}: {_HOW_TO_WRITE}, and several in a list"
        )
    # A shell takes quotes away.
    quoted = re.sub(r"=(?!True|False)([A-Za-z][\w-]*)(?=[,)])", r"='\1'", measure)
    meant = [quoted] if quoted != measure else near_measures(measure) if "@" in measure else []
    return UsageError(f"cannot read measure {measure!r}: {_HOW_TO_WRITE}{did_you_mean(meant)}")
