"""Parsing of measure names as written by users of ir_measures, trec_eval and MTEB."""

import ast
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, TypeAlias

from ir_measures.measures import Measure

from ir_std.errors import IrStdError, UnknownMeasureError, UsageError, did_you_mean, suggest_names
from ir_std.measures.external import (
    IN_LOWER_CASE,
    MTEB_NAMES,
    TREC_EVAL_NAMES,
    ExternalMeasure,
    translated,
)
from ir_std.measures.family import standardized_external
from ir_std.measures.objects import canonical, check_params
from ir_std.measures.records import by_name, log_conflict

Measures: TypeAlias = Iterable[Measure | str] | Measure | str
"""One measure or several measures, as objects or names."""

_HOW_TO_WRITE = "write it as Name, Name@10 or Name(key=value)@10"
_MISTAKEN_FOR_DIGITS = str.maketrans("OoIl", "0011")
_QUOTED = re.compile(r"""(s?)('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")""", re.DOTALL)


def parse_measure(measure: str | Measure, external: Iterable[str] = ()) -> Measure:
    """Parse a measure's name, like ``ir_measures.parse_measure``.

    Parameters
    ----------
    measure : str or Measure
        Name of a measure, such as ``"AP"``, ``"P(rel=2)@10"`` or ``"snDCG(scheme='E')@10"``.
        trec_eval names, such as ``"map"`` and ``"ndcg_cut_10"``, also work, and so do names of
        their standardized forms, such as ``"smap"``.  A name in quotes, such as ``"'strict
        vital'"``, means a measure of another program (:class:`.ExternalMeasure`).
    external : iterable of str, optional
        Names of other programs' measures that need no quotes, because scores or a factor set
        contain these measures.

    Raises
    ------
    UnknownMeasureError
        (a NameError) if the name is unknown; the message suggests the nearest measure.
    UsageError
        (a ValueError) if the name cannot be parsed or a parameter is wrong.

    Notes
    -----
    This function works on every version of Python.  In ir_measures 0.4.3,
    ``ir_measures.parse_measure`` uses ``ast.Num``, which was removed in Python 3.14.  With Python
    3.14, ``ir_measures.parse_measure`` can parse ``"AP"``, but raises an AttributeError for
    ``"P@10"``.

    Examples
    --------
    >>> parse_measure("snDCG(scheme='E')@10")
    snDCG(scheme='E')@10
    """
    if isinstance(measure, Measure):
        return measure
    if not isinstance(measure, str):
        raise _not_a_measure(measure)
    if measure in external:
        return ExternalMeasure(measure)
    if measure[:1] == "s" and measure[1:] in external and measure not in by_name:
        return standardized_external(measure[1:])
    ours = None if measure in by_name else _translated_base(measure)
    base, params, value = _split(ours or measure)
    if value is not None:
        params[base.AT_PARAM] = value
    parsed: Measure = base(**params)
    check_params(parsed)
    parsed.validate_params()
    return parsed


def named_measure(given: Measure | str, measures: Iterable[Measure]) -> Measure:
    """Find a measure in a list by its name, in any equivalent spelling.

    >>> from ir_std import P
    >>> named_measure("P(cutoff=10, rel=2)", [P(rel=2) @ 10])
    P(rel=2)@10

    Raises
    ------
    UnknownMeasureError
        If no measure has that name.
    UsageError
        If the measure is not among ``measures``.
    """
    by_spelling = {canonical(measure): measure for measure in measures}
    external = {m.name for m in by_spelling.values() if isinstance(m, ExternalMeasure)}
    name = canonical(parse_measure(given, external))
    if name not in by_spelling:
        raise UsageError(
            f"{given} is not among the measures; available: "
            f"{', '.join(map(str, measures)) or 'none'}"
        )
    return by_spelling[name]


def is_quoted(text: str) -> bool:
    """Check whether a text is a quoted name of an external measure, raw or standardized."""
    return re.match(r"s?['\"]", text) is not None


def as_measures(measures: Measures, external: Iterable[str] = ()) -> list[Measure]:
    """Convert one measure or several, given as objects or names, to a list of objects.

    >>> from ir_std import SP
    >>> as_measures("AP"), as_measures([SP @ 10, "P@10"])
    ([AP], [SP@10, P@10])

    Raises
    ------
    UnknownMeasureError, UsageError
        If :func:`parse_measure` rejects a measure.
    """
    if isinstance(measures, (str, Measure)):
        return [parse_measure(measures, external)]
    if not isinstance(measures, Iterable):
        raise _not_a_measure(measures)
    return [parse_measure(measure, external) for measure in measures]


def suggest_measures(text: str) -> list[str]:
    """Return up to three measures that the user may have meant by a wrong name.

    >>> suggest_measures("ndcg@1O")
    ['nDCG@10']
    """
    name, _, cutoff = text.strip().partition("@")
    if not cutoff and (joined := re.fullmatch(r"([A-Za-z]+)_?(\d+)", name)):
        name, cutoff = joined.groups()
    word = re.match(r"\w+", name)
    if word is None:
        return []
    digits = cutoff.translate(_MISTAKEN_FOR_DIGITS)
    suffix = f"@{digits}" if digits.isdecimal() else ""
    return [near + suffix for near in suggest_names(word[0], by_name)]


def _split(measure: str) -> tuple[Measure, dict[str, Any], Any]:
    """Split a name into its measure, parameters, and the value after ``@`` (or None)."""
    params: dict[str, Any] = {}
    value: Any = None
    quoted = _QUOTED.match(measure.strip())
    text = "_" + measure.strip()[quoted.end() :] if quoted else measure.strip()
    try:
        node: ast.expr = ast.parse(text, mode="eval").body
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            value, node = ast.literal_eval(node.right), node.left
        if isinstance(node, ast.Call) and not node.args:
            params = {str(k.arg): ast.literal_eval(k.value) for k in node.keywords}
            node = node.func
        name = ast.literal_eval(quoted[2]) if quoted else None
    except (SyntaxError, ValueError):
        raise _unreadable(measure) from None
    if not isinstance(node, ast.Name):
        raise _unreadable(measure)
    if quoted and node.id == "_":
        made = standardized_external if quoted[1] else ExternalMeasure
        return made(str(name)), params, value
    if node.id not in by_name:
        raise UnknownMeasureError(
            f"unknown measure {node.id!r}{did_you_mean(suggest_measures(measure))}"
        )
    log_conflict(node.id)
    return by_name[node.id], params, value


def _not_a_measure(given: object) -> UsageError:
    return UsageError(
        f"expected a measure such as AP or 'P@10', or a list of measures, got {given!r}"
    )


def _unreadable(measure: str) -> UsageError:
    if len(measure.split()) > 1:
        return UsageError(
            f"cannot read measure {measure!r}; {_HOW_TO_WRITE}, or pass several measures as a list"
        )
    # A shell removes quotes, so suggest the name with quotes around its text values.
    quoted = re.sub(r"=(?!True|False)([A-Za-z][\w-]*)(?=[,)])", r"='\1'", measure)
    meant = [quoted] if quoted != measure else suggest_measures(measure) if "@" in measure else []
    return UsageError(f"cannot read measure {measure!r}; {_HOW_TO_WRITE}{did_you_mean(meant)}")


# --- names of other tools -------------------------------------------------------------------------

_RANKS = ("5", "10", "15", "20", "30", "100", "200", "500", "1000")
_CUTOFFS = dict.fromkeys(("p", "recall", "map_cut", "ndcg_cut"), _RANKS) | {
    "success": ("1", "5", "10"),
    "iprec_at_recall": (*(f"0.{i}" for i in range(10)), "1.0"),
    "unj": ("5", "10", "20"),
}
"""Default cutoffs in trec_eval, by measure name in lower case."""

# fmt: off
_OFFICIAL = (
    "num_q", "num_ret", "num_rel", "num_rel_ret", "map", "gm_map", "Rprec", "bpref", "recip_rank",
    "iprec_at_recall", "P",
)
_SET = ("utility", "set_P", "set_recall", "set_relative_P", "set_map", "set_F")
_GROUPS = {
    "official": _OFFICIAL,
    "set": (*_OFFICIAL[:4], *_SET),
    "all_trec": (
        *_OFFICIAL, "recall", "infAP", "gm_bpref", "11pt_avg", "ndcg", "relative_P", "Rprec_mult",
        "success", "map_cut", "ndcg_cut", "ndcg_rel", "Rndcg", "binG", "G", *_SET,
        "num_nonrel_judged_ret", "rbp", "rbp_resid", "unj",
    ),
}
# fmt: on
"""Groups of measures in trec_eval 10, in the order of its output, without runid and relstring."""
_ONLY_IN_TREC_EVAL = {
    name
    for name in (*_GROUPS["all_trec"], "yaap")
    if not {name, f"{name}_{{}}"} & TREC_EVAL_NAMES.keys()
}
"""Measures of trec_eval that have no equivalent in ir_measures."""


def to_trec_eval(measure: str) -> str | None:
    """Return the trec_eval name of a measure; None if trec_eval has no name for the measure.

    >>> to_trec_eval("nDCG@10")
    'ndcg_cut_10'
    """
    name, _, cutoff = measure.partition("@")
    for theirs, ours in TREC_EVAL_NAMES.items():
        if ours == (f"{name}@{{}}" if cutoff else name):
            return theirs.format(f"{float(cutoff):.2f}" if "." in cutoff else cutoff)
    return None


def _translated_base(name: str, names: Mapping[str, str] = TREC_EVAL_NAMES) -> str | None:
    """Translate another program's measure name, with or without ``s`` before it.

    The result is None if the name is unknown.
    """
    for prefix in ("", "s"):
        if name.startswith(prefix) and (ours := translated(name[len(prefix) :], names)):
            return prefix + ours
    return None


def translate_name(name: str) -> list[str]:
    """Translate a name from any tool, in upper or lower case, to names of ir_measures.

    >>> translate_name("P.5,10"), translate_name("smap"), translate_name("ndcg@10")
    (['P@5', 'P@10'], ['sAP'], ['nDCG@10'])
    >>> translate_name("MRR@10")
    ['MRR@10']
    >>> translate_name("success"), translate_name("iprec_at_recall.0,.10")
    (['Success@1', 'Success@5', 'Success@10'], ['IPrec@0.0', 'IPrec@0.1'])

    Parameters
    ----------
    name : str
        Name of a measure.  In trec_eval's syntax, a name can also mean several cutoffs of a
        measure, all default cutoffs, or a group of measures.

    Returns
    -------
    list of str
        The names.  If ``name`` is unknown or ambiguous, the list has only ``name`` itself.  For
        example, ``sp`` is ambiguous, because it may mean sP or SP.

    Raises
    ------
    UnknownMeasureError
        If the measure exists in trec_eval, but not in ir_measures.
    """
    if only_in_trec_eval(name):
        raise UnknownMeasureError(f"ir_measures has no measure such as trec_eval's {name}")
    if several := _several(name):
        return [ours for theirs in several for ours in translate_name(theirs)]
    word = re.match(r"\w*", name)
    if word is None or word[0] in by_name:
        return [name]
    if ours := _translated_base(name.lower(), IN_LOWER_CASE):
        return [ours]
    same = {m.__name__ for alias, m in by_name.items() if alias.lower() == word[0].lower()}
    return [alias + name[word.end() :] for alias in same] if len(same) == 1 else [name]


def _several(name: str) -> list[str]:
    """Return the trec_eval measure names that ``name`` stands for.

    The list is empty if ``name`` stands for a single measure.
    """
    if name.lower() in _GROUPS:
        return [member for member in _GROUPS[name.lower()] if not only_in_trec_eval(member)]
    number = r"\d*\.?\d+"
    if listed := re.fullmatch(rf"(\w*[A-Za-z])\.({number}(?:,{number})*)", name):
        return [f"{listed[1]}_{'0' * k.startswith('.')}{k}" for k in listed[2].split(",")]
    return [f"{name}_{k}" for k in _CUTOFFS.get(name.lower(), ())]


def missing_from_group(name: str) -> list[str]:
    """Return the measures that a group of trec_eval contains, but that ir_measures lacks."""
    return [member for member in _GROUPS.get(name.lower(), ()) if only_in_trec_eval(member)]


def only_in_trec_eval(name: str) -> bool:
    """Check whether trec_eval has a measure with that name, but ir_measures does not."""
    return re.sub(r"[._][\d.]+$", "", name) in _ONLY_IN_TREC_EVAL


@lru_cache(maxsize=4096)
def find_measure(name: str) -> Measure | None:
    """Return the measure for an ir_measures, trec_eval or MTEB name; None if unknown.

    Different spellings of a measure, such as ``AP`` and ``AP(rel=1)``, give equal results.  A name
    in quotes means an external measure.
    """
    ours = translated(name, MTEB_NAMES) or _translated_base(name) or name
    if not is_quoted(ours) and re.split(r"\W", ours, maxsplit=1)[0] not in by_name:
        return None
    try:
        return parse_measure(canonical(parse_measure(ours)))
    except (IrStdError, AssertionError):
        return None
