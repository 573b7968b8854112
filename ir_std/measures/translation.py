"""The names that trec_eval and MTEB have for measures, as tables."""

from __future__ import annotations

import re

TREC_EVAL_NAMES = {
    "num_q": "NumQ",
    "num_ret": "NumRet",
    "num_rel": "NumRel",
    "num_rel_ret": "NumRet(rel=1)",
    "map": "AP",
    "gm_map": "GMAP",
    "Rprec": "Rprec",
    "bpref": "Bpref",
    "recip_rank": "RR",
    "iprec_at_recall_{}": "IPrec@{}",
    "P_{}": "P@{}",
    "recall_{}": "R@{}",
    "infAP": "infAP",
    "gm_bpref": "GMBpref",
    "11pt_avg": "IPrec11",
    "ndcg": "nDCG",
    "ndcg_cut_{}": "nDCG@{}",
    "map_cut_{}": "AP@{}",
    "success_{}": "Success@{}",
    "set_P": "SetP",
    "set_relative_P": "SetP(relative=True)",
    "set_recall": "SetR",
    "set_map": "SetAP",
    "set_F": "SetF",
    "set_F_{}": "SetF(beta={})",
    "rbp_resid": "RBPResidual",
    "unj_{}": "Unjudged@{}",
}
"""trec_eval's names and the measures they are, ``{}`` the cutoff; in the order it prints them."""

MTEB_NAMES = {
    "ndcg_at_{}": "nDCG@{}",
    "map_at_{}": "AP@{}",
    "mrr_at_{}": "RR@{}",
    "recall_at_{}": "R@{}",
    "precision_at_{}": "P@{}",
    "main_score": "main_score",
}
"""MTEB's names and the measures they are."""

IN_LOWER_CASE = {theirs.lower(): ours for theirs, ours in (TREC_EVAL_NAMES | MTEB_NAMES).items()}
"""The names of both, for those that are written in any case."""

_SHARES = ("IPrec@{}", "SetF(beta={})")
"""Their number is a fraction and no rank, even if it is written 0 or 1."""


def translated(name: str, names: dict[str, str]) -> str | None:
    """The measure that one of these names stands for, if it is one of them."""
    # Looked up, not gone through: each column of a table may be a measure.
    stem = name.rstrip("0123456789.")
    cutoff = name[len(stem) :]
    ours = names.get(f"{stem}{{}}" if cutoff else name)
    if ours is None or "{" in stem or (cutoff and not re.fullmatch(r"\d+(\.\d+)?", cutoff)):
        return None
    whole = "." not in cutoff and ours not in _SHARES
    return ours.format(cutoff if whole else float(cutoff)) if cutoff else ours
