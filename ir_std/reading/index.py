"""Documents found by keys: hashes of their ids and topics, looked up all at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ir_std._arrays import Ints
from ir_std.reading.ids import Ids, Keys

_FOUND_AT_ONCE = 1 << 18
"""So many keys are looked up at once: a large run has little room beside it."""
_MOST_BITS = 24
"""Of a table of the first places, which is to stay small."""
_TOPIC = np.uint64(0xC2B2AE3D27D4EB4F)


def keys(mixed: Keys, topic: Ints) -> Keys:
    """Hashes of documents on topics, from hashes of documents and the topics' numbers."""
    hashes = topic.astype(np.uint64)
    hashes *= _TOPIC  # in place: a large run has little room beside it
    hashes += mixed
    return hashes


def first_repeated(ids: Ids, topic: Ints) -> tuple[int, int] | None:
    """Return the first place of an id that its topic has before, and that place; else None."""
    hashes = keys(ids.hashes(), topic)
    order = np.argsort(hashes, kind="stable")
    hashes = hashes[order]
    again = np.flatnonzero(hashes[1:] == hashes[:-1])
    first: dict[tuple[int, bytes], int] = {}
    for place in np.union1d(order[again], order[again + 1]).tolist():
        name = next(iter(ids[place : place + 1]))
        if (earlier := first.setdefault((int(topic[place]), name), place)) != place:
            return place, earlier
    return None


def _first_bits(values: Keys, count: int) -> Ints:
    first: Ints = (values >> np.uint64(64 - count)).view(np.int64)  # which index twice as fast
    return first


def may_repeat(values: Keys) -> bool:
    """Check whether two values are equal.

    Equal ones fall into the same slot of a table, where the last one stays: only those that it
    drove out are compared, with it and with each other.
    """
    bits = len(values).bit_length() + 1
    table = np.empty(1 << bits, np.int32 if bits < 32 else np.int64)
    parts = [slice(a, a + _FOUND_AT_ONCE) for a in range(0, len(values), _FOUND_AT_ONCE)]
    for part in parts:
        table[_first_bits(values[part], bits)] = np.arange(*part.indices(len(values)))
    out, drove = [np.zeros(0, np.uint64)], False
    for part in parts:
        stayed = table[_first_bits(values[part], bits)]
        moved = np.flatnonzero(stayed != np.arange(*part.indices(len(values))))
        out.append(values[part][moved])
        drove |= bool((out[-1] == values[stayed[moved]]).any())
    ordered = np.sort(np.concatenate(out))
    return drove or bool((ordered[1:] == ordered[:-1]).any())


class KeyTable(NamedTuple):
    """Keys to be found, whose first bits are as good as random.

    Attributes
    ----------
    keys : ndarray of uint64, shape (n_keys,)
        Ascending.
    first : ndarray of int32
        By the first bits of a key the place of the first such one in ``keys``; -1 where there is
        none, and most keys that are not there stop here.
    most : int
        So many keys at most share these bits.
    """

    keys: Keys
    first: npt.NDArray[np.int32]
    most: int

    @classmethod
    def of(cls, ordered: Keys) -> KeyTable:
        """Make a table of keys that ascend."""
        bits = max(16, min(len(ordered).bit_length() + 3, _MOST_BITS))
        slot = _first_bits(ordered, bits)
        place = np.arange(len(ordered), dtype=np.int32)
        first = np.full(1 << bits, -1, np.int32)
        first[slot[::-1]] = place[::-1]  # of several the last one stays
        return cls(ordered, first, int((place - first[slot]).max(initial=0)) + 1)

    def find(self, values: Keys) -> tuple[Ints, Ints]:
        """Which of some values are in the table.

        Returns
        -------
        where : ndarray of int, shape (n_found,)
            Indices into ``values``, ascending.
        places : ndarray of int, shape (n_found,)
            Indices into ``keys``.
        """
        parts = [
            self._find(values[a : a + _FOUND_AT_ONCE], a)
            for a in range(0, max(len(values), 1), _FOUND_AT_ONCE)
        ]
        where, places = (np.concatenate(column) for column in zip(*parts, strict=True))
        return where, places

    def _find(self, values: Keys, before: int) -> tuple[Ints, Ints]:
        """As :meth:`find`, of values that so many others stand before."""
        place = self.first[_first_bits(values, (len(self.first) - 1).bit_length())]
        where = np.flatnonzero(place >= 0)
        place, wanted = place[where], values[where]
        for _ in range(1, self.most):
            place += (self.keys[place] < wanted) & (place < len(self.keys) - 1)
        equal = self.keys[place] == wanted
        return where[equal] + before, place[equal]


class Index(NamedTuple):
    """Documents to be found by their key.

    Attributes
    ----------
    table : KeyTable
    rows : ndarray of int, shape (n_documents,)
        The place of each key among the documents.
    ids : Ids
        Ids by place.
    """

    table: KeyTable
    rows: Ints
    ids: Ids

    @classmethod
    def of(cls, ids: Ids, topic: Ints) -> Index:
        """Index ids on topics."""
        values = keys(ids.hashes(), topic)
        rows = np.argsort(values)
        return cls(KeyTable.of(values[rows]), rows, ids)

    def find(self, values: Keys, ids: Ids) -> tuple[Ints, Ints]:
        """Which of the documents are in the index.

        Returns
        -------
        where : ndarray of int, shape (n_found,)
            Indices into ``ids``, ascending.
        rows : ndarray of int, shape (n_found,)
            Their places among the documents of the index.

        Raises
        ------
        Collision
            If two different ids have the same key.
        """
        where, places = self.table.find(values)
        rows = self.rows[places]
        if not self.ids[rows].same(ids[where]).all():
            raise Collision
        return where, rows


class Collision(Exception):
    """Two ids with the same 64-bit key: they must be compared as they are."""
