"""Runs on residual collections: documents that were judged in earlier rounds, told or taken out."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ir_std.errors import UsageError, counted, join_with_and
from ir_std.evaluation.messages import Message
from ir_std.factors.match import Match
from ir_std.factors.residual import find_earlier
from ir_std.trec.runs import Run


class EarlierDocuments:
    """Finds documents that were judged in earlier rounds of the collections that are used.

    Parameters
    ----------
    matches : iterable of Match
    take_out : bool
        Whether they are taken out of runs, before these are ranked.

    Raises
    ------
    UsageError
        If they are to be taken out, and none of the sets knows any.
    """

    def __init__(self, matches: Iterable[Match], take_out: bool) -> None:
        sets = [match.factors for match in matches if match.factors]
        self._sets = {factors.id: factors for factors in sets if factors.earlier is not None}
        self._take_out = take_out
        if take_out and not self._sets:
            why = (
                f"{join_with_and(s.id for s in sets)} records no documents judged in earlier rounds"
                if sets
                else "no factor set matches these qrels"
            )
            raise UsageError(f"--residual (residual=True) does not apply: {why}")

    def check(self, run: Run, name: str) -> tuple[Run, list[Message]]:
        """A run to be ranked, and what is to be told of such documents in it."""
        messages = []
        for factors in self._sets.values():
            earlier = find_earlier(run, factors)
            if not earlier.any():
                continue
            documents = int(earlier.sum())
            topics = int((np.add.reduceat(earlier, run.starts[run.sizes > 0]) > 0).sum())
            those = (
                f"{counted(documents, 'document')} on {counted(topics, 'topic')} "
                "were judged in an earlier round"
            )
            if self._take_out:
                run = run.lines(~earlier)
                text = f"{those} and are removed ({factors.id})"
                messages.append(Message(text, run=name))
            else:
                text = (
                    f"{those} and count as not relevant in {factors.id}; remove them with "
                    "--residual (residual=True)"
                )
                messages.append(Message(text, warns=True, run=name))
        return run, messages
