"""What other tools call the measures: trec_eval, MTEB, and whoever writes like them."""

from __future__ import annotations

import re
from functools import lru_cache

from ir_measures.measures import Measure

from ir_std.errors import IrStdError
from ir_std.measures import ExternalMeasure, canonical, parse_measure
from ir_std.measures.registry import by_name, external_names
from ir_std.measures.translation import IN_LOWER_CASE, MTEB_NAMES, TREC_EVAL_NAMES, translated

UNBOUNDED = ("SP", "DCG", "alpha_DCG")
"""Measures whose values may exceed 1."""
SIGNED = ("main_score",)
"""Measures whose values may be as low as -1: MTEB's p-MRR is a main score."""

_RANKS = ("5", "10", "15", "20", "30", "100", "200", "500", "1000")
_CUTOFFS = {
    "p": _RANKS,
    "recall": _RANKS,
    "map_cut": _RANKS,
    "ndcg_cut": _RANKS,
    "success": ("1", "5", "10"),
    "unj": ("5", "10", "20"),
    "iprec_at_recall": (*(f"0.{i}" for i in range(10)), "1.0"),
}
"""The cutoffs that trec_eval takes where none is given; the names in lower case."""

_OFFICIAL = (
    "num_q",
    "num_ret",
    "num_rel",
    "num_rel_ret",
    "map",
    "gm_map",
    "Rprec",
    "bpref",
    "recip_rank",
    "iprec_at_recall",
    "P",
)
_SET = ("utility", "set_P", "set_recall", "set_relative_P", "set_map", "set_F")
_GROUPS = {
    "official": _OFFICIAL,
    "set": (*_OFFICIAL[:4], *_SET),
    "all_trec": (
        *_OFFICIAL,
        "recall",
        "infAP",
        "gm_bpref",
        "11pt_avg",
        "ndcg",
        "relative_P",
        "Rprec_mult",
        "success",
        "map_cut",
        "ndcg_cut",
        "ndcg_rel",
        "Rndcg",
        "binG",
        "G",
        *_SET,
        "num_nonrel_judged_ret",
        "rbp",
        "rbp_resid",
        "unj",
    ),
}
"""What trec_eval 10 evaluates under one name, in its order; without runid and relstring, which are
texts."""
_ONLY_IN_TREC_EVAL = {
    "utility",
    "relative_P",
    "Rprec_mult",
    "ndcg_rel",
    "Rndcg",
    "binG",
    "G",
    "num_nonrel_judged_ret",
    "rbp",
    "yaap",
}
"""Measures of trec_eval that ir_measures has none for."""


def to_trec_eval(measure: str) -> str | None:
    """trec_eval's name of a measure, if it has one.

    >>> to_trec_eval("nDCG@10")
    'ndcg_cut_10'
    """
    name, _, cutoff = measure.partition("@")
    for theirs, ours in TREC_EVAL_NAMES.items():
        if ours == (f"{name}@{{}}" if cutoff else name):
            return theirs.format(f"{float(cutoff):.2f}" if "." in cutoff else cutoff)
    return None


def from_trec_eval(name: str) -> str:
    """The measure that trec_eval calls ``name``; other names are kept.

    >>> from_trec_eval("ndcg_cut_10")
    'nDCG@10'
    """
    return translated(name, TREC_EVAL_NAMES) or name


def from_mteb(name: str) -> str | None:
    """The measure that MTEB calls ``name``; None for what it has beside these.

    >>> from_mteb("mrr_at_10")
    'RR@10'
    """
    return translated(name, MTEB_NAMES)


def translate_name(name: str) -> list[str]:
    """The names that ir_measures reads for what a user of any tool, in any case, may write.

    >>> translate_name("P.5,10"), translate_name("smap"), translate_name("ndcg@10")
    (['P@5', 'P@10'], ['sAP'], ['nDCG@10'])
    >>> translate_name("MRR@10")
    ['MRR@10']
    >>> translate_name("success"), translate_name("iprec_at_recall.0,.10")
    (['Success@1', 'Success@5', 'Success@10'], ['IPrec@0.0', 'IPrec@0.1'])

    Parameters
    ----------
    name : str
        One measure; as trec_eval writes them also several cutoffs of it, all that trec_eval has,
        or a group of measures.

    Returns
    -------
    list of str
        ``name`` itself where it is none of these; also ``sp``, which may be sP or SP.
    """
    if several := _several(name):
        return [ours for theirs in several for ours in translate_name(theirs)]
    word = re.match(r"\w*", name)
    if word is None or word[0] in by_name:
        return [name]
    for prefix in ("", "s"):
        if name[: len(prefix)].lower() == prefix:
            ours = translated(name[len(prefix) :].lower(), IN_LOWER_CASE)
            if ours:
                return [prefix + ours]
    same = {m.__name__ for alias, m in by_name.items() if alias.lower() == word[0].lower()}
    return [alias + name[word.end() :] for alias in same] if len(same) == 1 else [name]


def _several(name: str) -> list[str]:
    """The names of trec_eval that ``name`` stands for; empty if it is one itself, or none."""
    if name.lower() in _GROUPS:
        return [member for member in _GROUPS[name.lower()] if not only_in_trec_eval(member)]
    number = r"\d*\.?\d+"
    if listed := re.fullmatch(rf"(\w*[A-Za-z])\.({number}(?:,{number})*)", name):
        return [f"{listed[1]}_{'0' * k.startswith('.')}{k}" for k in listed[2].split(",")]
    return [f"{name}_{k}" for k in _CUTOFFS.get(name.lower(), ())]


def missing_from_group(name: str) -> list[str]:
    """The measures of a group of trec_eval's that ir_measures has none for."""
    return [member for member in _GROUPS.get(name.lower(), ()) if only_in_trec_eval(member)]


def only_in_trec_eval(name: str) -> bool:
    """Whether trec_eval has a measure of that name and ir_measures has none for it."""
    return name.partition(".")[0] in _ONLY_IN_TREC_EVAL


@lru_cache(maxsize=4096)
def find_measure(name: str) -> Measure | None:
    """The measure of a name, as ir_measures, trec_eval or MTEB write it; None if it is none.

    Equal measures come out equal, however they were written: ``AP(rel=1)`` is ``AP``.  A name in
    quotes is that of an external measure.
    """
    ours = from_mteb(name) or _from_trec_eval_output(name)
    word = re.match(r"""s?(?=['"])|\w*""", ours)
    known = word is not None and (word[0] in by_name or ours[word.end() :][:1] in {"'", '"'})
    if ours in external_names or not known:
        return None
    try:
        return parse_measure(canonical(parse_measure(ours)))
    except (IrStdError, AssertionError):
        return None


def _from_trec_eval_output(name: str) -> str:
    """As :func:`from_trec_eval`, also of what ``-o trec_eval`` calls a standardized measure."""
    base = name.removeprefix("s")
    is_standardized = base != name and translated(base, TREC_EVAL_NAMES)
    return f"s{from_trec_eval(base)}" if is_standardized else from_trec_eval(name)


def measure_of_scores(name: str) -> Measure:
    """The measure that scores are of: what is known by the name, else the name as it stands."""
    return find_measure(name) or ExternalMeasure(name)
