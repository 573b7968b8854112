"""What a set knows of a topic's judgments: how many at each level, and a fingerprint of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from ir_std.trec.qrels import Qrels

ALL_JUDGED = -(1 << 62)
"""Below every level: the documents at it or above are all that are judged."""


class Judgments(NamedTuple):
    """What is known of one topic's judgments.

    Attributes
    ----------
    n_rel : int or None
        Number of documents judged relevant (level 1 or above).
    levels : mapping of int to int, or None
        Number of documents at each level that has any, and at 0; in sets of format 1 that at 0 is
        of all documents judged not relevant, whose level may be negative.
    fingerprints : mapping of int to str, or None
        For each level that has documents :func:`fingerprint` of those at it or above; in sets of
        format 1 for each level from 1.
    """

    n_rel: int | None = None
    levels: Mapping[int, int] | None = None
    fingerprints: Mapping[int, str] | None = None

    def at_least(self, level: int) -> int | None:
        """Number of documents at ``level`` or above, where known."""
        if not self.knows(level):
            return None
        return (
            self.n_rel
            if self.levels is None
            else sum(n for at, n in self.levels.items() if at >= level)
        )

    def knows(self, level: int) -> bool:
        """Whether :meth:`at_least` gives a number."""
        return self.levels is not None or (level == 1 and self.n_rel is not None)

    def knows_documents(self, level: int) -> bool:
        """Whether a fingerprint tells which documents are at ``level`` or above."""
        if self.fingerprints is None or self.levels is None:
            return False
        return level > 0 or all(
            at in self.fingerprints for at, n in self.levels.items() if at < 1 and n
        )

    def fingerprint(self, level: int) -> str | None:
        """The fingerprint of the documents at ``level`` or above, where there are and is one."""
        return next(
            (print_ for at, print_ in (self.fingerprints or {}).items() if at >= level), None
        )


def fingerprint(documents: Iterable[bytes]) -> str:
    """A fingerprint of document ids, the same on every platform and in any order.

    The first 16 hexadecimal digits of the SHA-256 of the ids in UTF-8, sorted as bytes, a newline
    behind each; ``awk '$1 == 401 && $4 >= 1 {print $3}' qrels | LC_ALL=C sort | sha256sum`` gives
    that of topic 401's relevant documents.
    """
    import hashlib  # loads OpenSSL: only when it is needed

    return hashlib.sha256(b"\n".join([*sorted(documents), b""])).hexdigest()[:16]


def documents_in(lines: bytes) -> list[bytes]:
    """The documents of a topic as :meth:`~ir_std.trec.qrels.Qrels.relevant` gives them."""
    return lines.split(b"\n")[:-1]


def judgments_of(qrels: Qrels) -> dict[str, Judgments]:
    """Counts and fingerprints of all topics of qrels, at every level."""
    levels = sorted({0, *qrels.all_levels})
    at_least = np.stack([*map(qrels.count, levels), np.zeros_like(qrels.sizes)])
    documents = {level: qrels.relevant(level) for level in levels}
    judgments = {}
    for place, counts in enumerate((at_least[:-1] - at_least[1:]).T.tolist()):
        known = {level: n for level, n in zip(levels, counts, strict=True) if n or not level}
        judgments[qrels.topics[place]] = Judgments(
            sum(n for level, n in known.items() if level > 0),
            known,
            {
                level: fingerprint(documents_in(documents[level][place]))
                for level, n in known.items()
                if n
            },
        )
    return judgments
