"""Measures that are equal once they are standardized."""

from __future__ import annotations

from collections.abc import Iterator

from ir_measures import measures as irm
from ir_measures.measures import Measure

from ir_std.measures.dcg import DCG, nDCG
from ir_std.measures.registry import by_name
from ir_std.measures.sp import SP

_GRADED = ("nDCG", "DCG", "RBP")
_PROPORTIONAL = {"AP": SP, "SP": irm.AP, "nDCG": DCG, "DCG": nDCG}


def has_graded_gains(measure: Measure) -> bool:
    """Whether a raw measure distinguishes levels above 1 from level 1."""
    return measure.__name__ in ("ERR", "nERR", "Q") or (
        measure.__name__ in _GRADED and "rel" not in measure.params
    )


def gains_are_shares(measure: Measure) -> bool:
    """Whether the gains of a raw measure depend on the highest level of the collection."""
    return measure.__name__ == "nERR" or (measure.__name__ == "RBP" and "rel" not in measure.params)


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
    equal = [measure]
    if binary and measure.__name__ in _GRADED and measure.params.get("rel", 1) == 1:
        params = {name: value for name, value in measure.params.items() if name != "rel"}
        if "rel" not in measure.params:
            params["rel"] = 1
        equal.append(by_name[measure.__name__](**params))
    yield from equal
    for raw in equal:
        proportional = _PROPORTIONAL.get(raw.__name__)
        if proportional is not None and raw.params.keys() <= proportional.SUPPORTED_PARAMS.keys():
            yield proportional(**raw.params)
