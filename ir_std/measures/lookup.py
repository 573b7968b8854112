"""Where measures are looked up by name: ir_std's own, and those that ir_measures has."""

from __future__ import annotations

import logging
from collections import ChainMap
from typing import Any

from ir_measures import measures as irm
from ir_measures.measures import Measure
from ir_measures.measures.base import registry as theirs

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


own: dict[str, Measure] = {}
"""The measures of ir_std by name."""
by_name: ChainMap[str, Any] = ChainMap(own, theirs)
"""What ir_std understands by a name: its own measure if it has one, else ir_measures'."""
_conflicts: set[str] = set()


def log_conflict(name: str) -> None:
    """Say once that a user's measure has the name of one of ir_std's."""
    if name not in own or theirs.get(name, _ORIGINAL_NDCG) is _ORIGINAL_NDCG:
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
    vars(irm)["registry"] = Guests(theirs, own)
    for name in own:
        log_conflict(name)
