"""What other tools call the measures: trec_eval, MTEB, and whoever writes like them."""

from __future__ import annotations

import re
from functools import lru_cache

from ir_measures.measures import Measure, registry

from ir_std.errors import IrStdError
from ir_std.measures import canonical, parse_measure

TREC_EVAL_NAMES = {
    "map": "AP", "map_cut_{}": "AP@{}", "P_{}": "P@{}", "recip_rank": "RR", "Rprec": "Rprec",
    "bpref": "Bpref", "ndcg": "nDCG", "ndcg_cut_{}": "nDCG@{}", "recall_{}": "R@{}",
    "success_{}": "Success@{}", "iprec_at_recall_{}": "IPrec@{}", "infAP": "infAP",
    "set_P": "SetP", "set_relative_P": "SetP(relative=True)", "set_recall": "SetR",
    "set_map": "SetAP", "set_F": "SetF", "num_q": "NumQ", "num_rel": "NumRel",
    "num_ret": "NumRet", "num_rel_ret": "NumRet(rel=1)",
}
"""trec_eval's names and the measures they are, ``{}`` the cutoff."""

_MTEB_NAMES = {
    "ndcg_at_{}": "nDCG@{}", "map_at_{}": "AP@{}", "mrr_at_{}": "RR@{}", "recall_at_{}": "R@{}",
    "precision_at_{}": "P@{}",
}


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
    return _translated(name, TREC_EVAL_NAMES) or name


def from_mteb(name: str) -> str | None:
    """The measure that MTEB calls ``name``; None for what it has beside these.

    >>> from_mteb("mrr_at_10")
    'RR@10'
    """
    return _translated(name, _MTEB_NAMES)


def spelled(name: str) -> list[str]:
    """The names that ir_measures reads for what a user of any tool, in any case, may write.

    >>> spelled("P.5,10"), spelled("smap"), spelled("ndcg@10"), spelled("MRR@10")
    (['P@5', 'P@10'], ['sAP'], ['nDCG@10'], ['MRR@10'])

    Parameters
    ----------
    name : str
        One measure, or several cutoffs of it as trec_eval writes them.

    Returns
    -------
    list of str
        ``name`` itself where it is none of these; also ``sp``, which may be sP or SP.
    """
    if cutoffs := re.fullmatch(r"(\w+)\.(\d+(?:,\d+)*)", name):
        return [one for k in cutoffs[2].split(",") for one in spelled(f"{cutoffs[1]}_{k}")]
    word = re.match(r"\w*", name)
    if word is None or word[0] in registry:
        return [name]
    for prefix in ("", "s"):
        if name[:len(prefix)].lower() == prefix:
            ours = _translated(name[len(prefix):], TREC_EVAL_NAMES | _MTEB_NAMES, re.IGNORECASE)
            if ours:
                return [prefix + ours]
    same = {m.__name__: alias for alias, m in registry.items() if alias.lower() == word[0].lower()}
    return [alias + name[word.end():] for alias in same.values()] if len(same) == 1 else [name]


def _translated(name: str, names: dict[str, str], flags: int = 0) -> str | None:
    for theirs, ours in names.items():
        found = re.fullmatch(theirs.replace("{}", r"(\d+(?:\.\d+)?)"), name, flags)
        if found:
            cutoff = "".join(found.groups())
            return ours.format(float(cutoff) if "." in cutoff else cutoff)
    return None


@lru_cache(maxsize=4096)
def measure_called(name: str) -> Measure | None:
    """The measure of a name, as ir_measures, trec_eval or MTEB write it; None if it is none.

    Equal measures come out equal, however they were written: ``AP(rel=1)`` is ``AP``.
    """
    ours = from_mteb(name) or from_trec_eval(name)
    if not re.match(r"\w*[A-Za-z]", ours):
        return None
    try:
        return parse_measure(canonical(parse_measure(ours)))
    except (IrStdError, AssertionError):
        return None
