"""Residual collections: the documents that were judged in earlier rounds, and must not be in runs.

A set keeps them as ``earlier.npz``, 40 bits of a hash of each: of a run's 50,000 documents that
are none of them, one is taken for one in 25,000 runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from ir_std._arrays import Ints, Mask
from ir_std.factors.factor_set import FactorSet
from ir_std.reading import Ids, Keys, KeyTable
from ir_std.trec.runs import Run

BITS = 40
"""Bits of a document's hash."""


def pack_earlier(
    topics: Iterable[str], documents: Mapping[str, Iterable[str]]
) -> dict[str, npt.NDArray[Any]]:
    """The arrays of ``earlier.npz``.

    Parameters
    ----------
    topics : iterable of str
        Those of the set.
    documents : mapping of str to iterable of str
        By topic the documents that were judged in earlier rounds.

    Returns
    -------
    dict of str to ndarray
        ``size`` of each topic; of all documents, topic after topic and sorted within each, the
        first 8 bits of the hashes, ``high``, and the next 32, ``low``.
    """
    hashes = [np.unique(_short(Ids.of(sorted(documents.get(t, ()))).hashes())) for t in topics]
    together = np.concatenate(hashes)
    return {
        "size": np.array([len(part) for part in hashes], np.int32),
        "high": (together >> np.uint64(32)).astype(np.uint8),
        "low": together.astype(np.uint32),
    }


def find_earlier(run: Run, factors: FactorSet) -> Mask:
    """Which of a run's lines hold documents that were judged in earlier rounds.

    Returns
    -------
    ndarray of bool, shape (n_lines,)
        All False where the set is not residual.
    """
    found: Mask = np.zeros(len(run.scores), bool)
    if factors.earlier:
        rows = np.repeat(factors.rows(run.topics), run.sizes)
        where, _ = _earlier_keys(factors).find(_keyed(rows, _short(run.hashes())))
        found[where] = True  # of no topic that the set lacks: a row of -1 is in no key
    return found


@lru_cache(maxsize=8)
def _earlier_keys(factors: FactorSet) -> KeyTable:
    """The keys of all earlier documents."""
    size, high, low = (factors.earlier[name] for name in ("size", "high", "low"))
    hashes = (high.astype(np.uint64) << np.uint64(32)) | low.astype(np.uint64)
    return KeyTable.of(np.sort(_keyed(np.repeat(np.arange(len(size)), size), hashes)))


def _short(hashes: Keys) -> Keys:
    short: Keys = hashes >> np.uint64(64 - BITS)
    return short


def _keyed(rows: Ints, hashes: Keys) -> Keys:
    keys: Keys = (hashes << np.uint64(64 - BITS)) | rows.astype(np.uint64)
    return keys
