"""Translate measure names of other programs, and define measures that are known only by name."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

from ir_measures.measures import Measure

from ir_std.errors import UsageError
from ir_std.measures.objects import TypedMeasure
from ir_std.measures.records import Record, by_class, by_name, no_ranks, unlimited

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
"""Measures by trec_eval name, in the order of trec_eval's output; ``{}`` is the cutoff."""

MTEB_NAMES = {
    "ndcg_at_{}": "nDCG@{}",
    "map_at_{}": "AP@{}",
    "mrr_at_{}": "RR@{}",
    "recall_at_{}": "R@{}",
    "precision_at_{}": "P@{}",
    "main_score": "main_score",
}
"""Measures by MTEB name."""

IN_LOWER_CASE = {theirs.lower(): ours for theirs, ours in (TREC_EVAL_NAMES | MTEB_NAMES).items()}
"""Measures by their trec_eval and MTEB names in lower case.  With this table, names are found
whether they are written in upper or lower case."""

_SHARES = ("IPrec@{}", "SetF(beta={})")
"""Measures whose cutoff is never a rank: even a cutoff that is written as 0 or 1 is a fraction."""


def translated(name: str, names: Mapping[str, str]) -> str | None:
    """Translate another program's name of a measure; return None if ``names`` lacks the name."""
    # Look the name up instead of trying all names, because a table may have many columns.
    stem = name.rstrip("0123456789.")
    cutoff = name[len(stem) :]
    ours = names.get(f"{stem}{{}}" if cutoff else name)
    if ours is None or "{" in stem or (cutoff and not re.fullmatch(r"\d+(\.\d+)?", cutoff)):
        return None
    whole = "." not in cutoff and ours not in _SHARES
    return ours.format(cutoff if whole else float(cutoff)) if cutoff else ours


_PLAIN = r"[A-Za-z_][A-Za-z0-9_.-]*"


class ExternalMeasure(TypedMeasure):
    """A measure computed by another program, such as nugget recall, faithfulness or latency.

    The measure prints as its name, such as ``faithfulness``.  The name is quoted if it contains
    characters other than letters, digits and ``_.-``, as in ``'strict vital'``, or if it is the
    name of another measure.  The standardized form prints as ``s'faithfulness'``.  Higher
    standardized scores are always better.  Both the raw and the standardized form can be parsed.

    Parameters
    ----------
    name : str
        Name of the measure.
    lower_is_better : bool
        True if lower values are better, such as for latency.  Measures with the same name are
        equal, even if their directions differ.

    Attributes
    ----------
    name : str
        Name of the measure.
    quoted : str
        Name in quotes.
    lower_is_better : bool
        True if lower is better.

    Raises
    ------
    UsageError
        If the name is blank.

    Examples
    --------
    >>> ir_std.ExternalMeasure("strict vital"), ir_std.ExternalMeasure("latency")
    ('strict vital', latency)
    """

    NAME = "external"
    PRETTY_NAME = "External measure"
    SHORT_DESC = "Computed by another program."

    def __init__(self, name: str, lower_is_better: bool = False) -> None:
        if not isinstance(name, str) or not name.strip():
            raise UsageError(f"expected a non-blank measure name, got {name!r}")
        super().__init__()
        self.name, self.lower_is_better = name, lower_is_better
        self.quoted = repr(name)
        # A name needs no quotes if it is plain, and no other measure has this name.
        is_known = name in by_name or translated(name.lower(), IN_LOWER_CASE) is not None
        self.__name__ = name if re.fullmatch(_PLAIN, name) and not is_known else self.quoted

    def __call__(self, **params: Any) -> ExternalMeasure:
        """Return the measure itself, and reject parameters, because the measure takes none."""
        if params:
            raise UsageError(f"{self} is computed by another program, and takes no parameters")
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return ExternalMeasure, (self.name, self.lower_is_better)


def lower_measures(names: Iterable[str], measures: Iterable[Measure]) -> list[Measure]:
    """Find the lower-is-better measures by name; all of them must be external measures."""
    given = [*measures]
    named = {name: m for m in given for name in (str(m), getattr(m, "name", str(m)))}
    for name in names:
        if name not in named:
            raise UsageError(f"unknown measure {name!r}; available: {', '.join(named) or 'none'}")
        if not isinstance(named[name], ExternalMeasure):
            raise UsageError(f"only custom measures can be lower-is-better, got {name}")
    return [named[name] for name in names]


def sign_of(measure: Measure) -> float:
    """Return -1 for a lower-is-better measure, else 1.

    If scores are multiplied by this sign, higher scores are always better.  Standardized measures
    always have the sign 1.
    """
    return -1.0 if isinstance(measure, ExternalMeasure) and measure.lower_is_better else 1.0


by_class[ExternalMeasure] = Record(
    Measure(), low=-math.inf, high=math.inf, last_ranks=no_ranks, most=unlimited, relevance=False
)
