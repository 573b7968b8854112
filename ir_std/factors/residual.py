"""Residual collections: the documents that were judged in earlier rounds, and must not be in runs.

A set keeps 40 bits of a hash of each, in their order: of a run's 50,000 documents that are none of
them, one is taken for one in 25,000 runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

import numpy as np

from ir_std._arrays import Ints, Mask
from ir_std.factors.factor_set import FactorSet
from ir_std.reading import Ids, Keys, KeyTable
from ir_std.trec.runs import Run

BITS = 40
"""Bits of a document's hash."""


def pack_earlier(topics: Iterable[str], documents: Mapping[str, Iterable[str]]) -> Keys:
    """Return the keys of documents that were judged in earlier rounds, as a set keeps them.

    Parameters
    ----------
    topics : iterable of str
        Those of the set.
    documents : mapping of str to iterable of str
        By topic the documents that were judged in earlier rounds.

    Returns
    -------
    ndarray of uint64
        Ascending; in each the first 40 bits of the document's hash, then the topic's row.
    """
    keys = [
        _keyed(np.array([row]), Ids.of(sorted(documents.get(topic, ()))).hashes())
        for row, topic in enumerate(topics)
    ]
    return np.unique(np.concatenate(keys))


def find_earlier(run: Run, factors: FactorSet) -> Mask:
    """Find a run's lines that hold documents which were judged in earlier rounds.

    Returns
    -------
    ndarray of bool, shape (n_lines,)
        All False where the set is not residual.
    """
    found: Mask = np.zeros(len(run.scores), bool)
    if factors.earlier is not None:
        rows = np.repeat(factors.rows(run.topics), run.sizes)
        where, _ = _earlier_keys(factors).find(_keyed(rows, run.hashes()))
        found[where] = rows[where] >= 0
    return found


@lru_cache(maxsize=8)
def _earlier_keys(factors: FactorSet) -> KeyTable:
    assert factors.earlier is not None
    return KeyTable.of(factors.earlier)


def _keyed(rows: Ints, hashes: Keys) -> Keys:
    row_bits = np.uint64(64 - BITS)
    keys: Keys = (hashes >> row_bits << row_bits) | (rows.astype(np.uint64) & _ROW)
    return keys


_ROW = np.uint64((1 << 64 - BITS) - 1)
