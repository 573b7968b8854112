"""Document ids as arrays: hashing them, and finding those that are judged.

A file holds tens of thousands of ids of which few are judged.  Kept as an array of bytes they
are hashed and looked up all at once; every match is then compared byte by byte.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Keys = npt.NDArray[np.uint64]
Ids = npt.NDArray[np.bytes_]

_WIDE = 64
"""Columns with longer tokens are cut out one by one."""
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_TOPIC = np.uint64(0xC2B2AE3D27D4EB4F)


def column(codes: npt.NDArray[np.uint8], starts: Ints, ends: Ints) -> Ids:
    """The tokens of a column as an array of bytes."""
    widths = ends - starts
    width = int(widths.max())
    if width > _WIDE:
        return np.array([codes[a:b].tobytes() for a, b in zip(starts, ends, strict=True)])
    padded = np.concatenate([codes[starts[0]:], np.zeros(width, np.uint8)])
    letters = np.lib.stride_tricks.sliding_window_view(padded, width)[starts - starts[0]]
    if widths.min() < width:
        letters[np.arange(width) >= widths[:, None]] = 0
    found: Ids = letters.view(f"S{width}").ravel()
    return found


def from_strings(names: list[str]) -> Ids:
    """Ids as an array of bytes in UTF-8.

    Raises
    ------
    TypeError
        If one is no string.
    ValueError
        If one cannot be told from others as bytes: it is empty, or holds a zero character or
        half of a surrogate pair.
    """
    codes = np.frombuffer("\0".join([*names, ""]).encode(), np.uint8)
    ends = np.flatnonzero(codes == 0)
    starts = np.concatenate([[0], ends[:-1] + 1])
    if len(ends) != len(names) or (starts == ends).any():
        raise ValueError("an id is empty or holds a zero character")
    return column(codes, starts, ends) if names else np.zeros(0, "S1")


def hashes(ids: Ids) -> Keys:
    """A 64-bit hash of each id, the same whatever the width of the array."""
    width = -(-ids.dtype.itemsize // 8) * 8
    words = np.ascontiguousarray(ids.astype(f"S{width}")).view(np.uint64)
    words = words.reshape(len(ids), width // 8)
    mixed = np.zeros(len(ids), np.uint64)
    for word in words.T[::-1]:  # padding comes first and leaves the hash at 0
        mixed = (mixed ^ word) * _MULTIPLIER
        mixed ^= mixed >> np.uint64(29)
    return mixed


def keys(mixed: Keys, topic: Ints) -> Keys:
    """Hashes of documents on topics, from hashes of documents and the topics' numbers."""
    return mixed + topic.astype(np.uint64) * _TOPIC


def may_repeat(values: Keys) -> bool:
    """Whether two values are equal."""
    ordered = np.sort(values)
    return bool((ordered[1:] == ordered[:-1]).any())


class Index(NamedTuple):
    """Judged documents, to be found by their key.

    Attributes
    ----------
    keys : ndarray of uint64, shape (n_judged,)
        Sorted.
    rows : ndarray of int, shape (n_judged,)
        The place of each among the judged documents.
    ids : ndarray of bytes, shape (n_judged,)
        Ids by place.
    filter : ndarray of bool
        Whether a judged key starts with these bits; most keys that are not judged stop here.
    repeats : bool
        Whether two judged documents have the same key.
    """

    keys: Keys
    rows: Ints
    ids: Ids
    filter: npt.NDArray[np.bool_]
    repeats: bool

    @classmethod
    def of(cls, ids: Ids, topic: Ints) -> Index:
        """Index ids on topics."""
        values = keys(hashes(ids), topic)
        rows = np.argsort(values)
        bits = max(16, len(ids).bit_length() + 3)
        present = np.zeros(1 << bits, bool)
        present[values >> np.uint64(64 - bits)] = True
        ordered = values[rows]
        return cls(ordered, rows, ids, present, bool((ordered[1:] == ordered[:-1]).any()))

    def find(self, values: Keys, ids: Ids) -> tuple[Ints, Ints]:
        """Which of the documents are judged.

        Returns
        -------
        where : ndarray of int, shape (n_found,)
            Indices into ``ids``, ascending.
        rows : ndarray of int, shape (n_found,)
            Their places among the judged documents.

        Raises
        ------
        Collision
            If two different ids have the same key.
        """
        shift = np.uint64(64 - (len(self.filter) - 1).bit_length())
        where = np.flatnonzero(self.filter[values >> shift])
        place = np.searchsorted(self.keys[:-1], values[where])
        same = self.keys[place] == values[where]
        where, rows = where[same], self.rows[place[same]]
        if self.repeats or (self.ids[rows] != ids[where]).any():
            raise Collision
        return where, rows


class Collision(Exception):
    """Two ids with the same 64-bit key: they must be compared as they are."""
