"""A set's record of judgments: counts and fingerprints by relevance level."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ir_std._arrays import Ints, Keys
from ir_std.trec import Qrels

ALL_JUDGED = -(1 << 62)
"""A level below all relevance levels.  Every judged document has a level above this one."""


class Judgments(NamedTuple):
    """Known facts about one topic's judgments.

    Attributes
    ----------
    n_rel : int or None
        Number of documents judged relevant (level 1 or above).
    levels : mapping of int to int, or None
        For level 0, and for each other level that occurs, the number of documents at this level.
    fingerprints : mapping of int to int, or None
        Fingerprint (see :func:`fingerprints_by_topic`) of the documents at each level or above.
    """

    n_rel: int | None = None
    levels: Mapping[int, int] | None = None
    fingerprints: Mapping[int, int] | None = None


def fingerprints_by_topic(qrels: Qrels, level: int) -> Keys:
    """Return the fingerprint of each topic's documents with level ``level`` or higher.

    A fingerprint is the sum of the hashes of document IDs modulo 2^64.  It is the same on every
    platform and for any order of the documents.  Computing the fingerprint costs almost nothing,
    because the 64-bit hashes are needed anyway to find documents.  An attacker can construct other
    documents with the same sum.  This weakness is acceptable, because fingerprints only protect
    against mistakes, and ir_std does not rely on them for security.  Somebody who forges judgments
    could also forge the scores.
    """
    used = np.where(qrels.flat_levels >= level, qrels.hashes, np.uint64(0))
    ends = np.append(np.uint64(0), np.cumsum(used, dtype=np.uint64))
    last = np.cumsum(qrels.sizes)
    sums: Keys = ends[last] - ends[last - qrels.sizes]
    return sums


def judgments_of(qrels: Qrels) -> dict[str, Judgments]:
    """Return the counts and fingerprints of all topics of the qrels, at every level."""
    levels = sorted({0, *qrels.all_levels})
    at_least = np.stack([*map(qrels.count, levels), np.zeros_like(qrels.sizes)])
    prints = {level: fingerprints_by_topic(qrels, level).tolist() for level in levels}
    judgments = {}
    for place, counts in enumerate((at_least[:-1] - at_least[1:]).T.tolist()):
        judged = {level: n for level, n in zip(levels, counts, strict=True) if n or not level}
        judgments[qrels.topics[place]] = Judgments(
            sum(n for level, n in judged.items() if level > 0),
            judged,
            {level: prints[level][place] for level, n in judged.items() if n},
        )
    return judgments


def judgment_arrays(judgments: Sequence[Judgments]) -> tuple[list[int], Ints, Keys]:
    """Convert judgments to the arrays of a set's file.

    Returns
    -------
    levels : list of int
        Relevance levels in ascending order.
    counts : ndarray of int, shape (n_topics, n_levels)
        Number of documents at each level or above; -1 if unknown.
    prints : ndarray of uint64, shape (n_topics, n_levels)
        Fingerprints of these documents; 0 if unknown or if there are no documents.
    """
    levels = sorted({1}.union(*(each.levels or () for each in judgments)))
    counts = np.full((len(judgments), len(levels)), -1, np.int64)
    prints = np.zeros(counts.shape, np.uint64)
    for row, each in enumerate(judgments):
        if each.levels is not None:
            at_level = [each.levels.get(level, 0) for level in levels]
            counts[row] = np.cumsum(at_level[::-1])[::-1]
        elif each.n_rel is not None:
            counts[row, levels.index(1)] = each.n_rel
        for lowest, fingerprint in sorted((each.fingerprints or {}).items(), reverse=True):
            prints[row, : bisect_right(levels, lowest)] = fingerprint
    prints[counts <= 0] = 0
    return levels, counts, prints


def judgments_from_arrays(levels: Sequence[int], counts: Ints, prints: Keys) -> list[Judgments]:
    """Convert arrays to judgments of each topic; inverse of :func:`judgment_arrays`."""
    n_rel = counts[:, levels.index(1)].tolist()
    above = np.column_stack([counts[:, 1:], np.zeros(len(counts), np.int64)])
    is_graded = (counts >= 0).all(axis=1) & (levels[0] <= 0)  # otherwise, only level 1 is known
    judgments = [Judgments(n if n >= 0 else None) for n in n_rel]
    for row in np.flatnonzero(is_graded).tolist():
        at_level = zip(levels, (counts[row] - above[row]).tolist(), strict=True)
        judged = {level: n for level, n in at_level if n or not level}
        of_level = dict(zip(levels, prints[row].tolist(), strict=True))
        found = {level: of_level[level] for level, n in judged.items() if n}
        judgments[row] = Judgments(n_rel[row], judged, found if all(found.values()) else None)
    return judgments
