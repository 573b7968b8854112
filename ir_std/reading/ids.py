"""Ids of topics and documents as arrays: hashed and compared all at once.

A file holds tens of thousands of ids of which few are relevant.  They stay where they are, in
the bytes they were read from; ids with equal hashes are compared byte by byte.
"""

from __future__ import annotations

import reprlib
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from ir_std._arrays import Ints
from ir_std.errors import InputError

Keys = npt.NDArray[np.uint64]
Bytes = npt.NDArray[np.uint8]

WORD = 8
"""Bytes that are read at once; so many must follow behind the last id."""

_AT_ONCE = 1 << 20
"""Bytes of ids that are put together at once, by an index of eight bytes for each."""
_HASHED_AT_ONCE = 1 << 16
"""So many ids that what is computed of them stays in the cache."""
_SHORT = 8 * WORD
"""Ids of more bytes, which are few, are treated one by one behind these."""
_MASKS = np.array([(1 << 8 * n) - 1 for n in range(WORD + 1)], np.uint64)
_LAST = ~_MASKS[::-1]
"""Of a word the first and the last n bytes."""
_ROOM = bytes(WORD)
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_SECOND_MULTIPLIER = np.uint64(0xD6E8FEB86659FD93)


def check_strings(names: Collection[Any], kind: str, what: str) -> None:
    """Check that ids are strings."""
    try:
        "".join(names)  # the fastest way to see it
    except TypeError:
        wrong = next(name for name in names if not isinstance(name, str))
        raise InputError.at(
            kind,
            f"{what} is {reprlib.repr(wrong)} ({type(wrong).__name__})",
            "ids are strings; of a DataFrame use df.astype({'query_id': str, 'doc_id': str}), of "
            "polars df.cast",
        ) from None


def words_at(codes: Bytes, places: Ints, count: int = 1) -> Keys:
    """Return eight bytes from each place as a number, lowest byte first; and the next eight.

    Returns
    -------
    ndarray of uint64, shape (count, n_places)
        To look for ``count`` at once takes hardly longer than for one.
    """
    room = len(codes) - WORD * count + 1
    anywhere = np.ndarray((room,), f"V{WORD * count}", codes, strides=(1,))
    flat: Keys = anywhere[places].view("<u8").astype(np.uint64, copy=False)
    words: Keys = flat.reshape(len(places), count).T
    return words


class Ids:
    """Ids as slices of bytes, in UTF-8.

    Attributes
    ----------
    codes : ndarray of uint8
        With :data:`WORD` more bytes before the first id and behind the last.
    starts, widths : ndarray of int, shape (n_ids,)
    """

    __slots__ = ("codes", "starts", "widths")

    def __init__(self, codes: Bytes, starts: Ints, widths: Ints) -> None:
        self.codes, self.starts, self.widths = codes, starts, widths

    @classmethod
    def of(cls, names: Sequence[str]) -> Ids:
        """Ids from strings.

        Raises
        ------
        TypeError
            If one is no string.
        """
        joined = "\0".join(names).encode(errors="surrogatepass")
        codes = np.frombuffer(b"".join([_ROOM, joined, _ROOM]), np.uint8)
        zeros = np.flatnonzero(codes[WORD - 1 : 1 - WORD] == 0) + (WORD - 1)
        if len(zeros) != len(names) + 1:  # one holds a zero itself
            return cls.of_bytes([name.encode(errors="surrogatepass") for name in names])
        return cls.between(codes, zeros[:-1] + 1, zeros[1:])

    @classmethod
    def of_bytes(cls, names: Sequence[bytes]) -> Ids:
        """Ids from their bytes."""
        widths = np.fromiter(map(len, names), np.int64, len(names))
        codes = np.frombuffer(b"".join([_ROOM, *names, _ROOM]), np.uint8)
        return cls(codes, np.cumsum(widths) - widths + WORD, widths)

    @classmethod
    def between(cls, codes: Bytes, starts: Ints, ends: Ints) -> Ids:
        """Ids from where they start and end."""
        return cls(codes, starts, ends - starts)

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, rows: Ints | slice) -> Ids:
        """Return some of the ids."""
        return Ids(self.codes, self.starts[rows], self.widths[rows])

    def __iter__(self) -> Iterator[bytes]:
        content = self.codes.data
        for start, width in zip(self.starts.tolist(), self.widths.tolist(), strict=True):
            yield bytes(content[start : start + width])

    def lines(self) -> bytes:
        """All ids, a newline behind each."""
        ends = np.append(0, np.cumsum(self.widths + 1))
        cuts = np.searchsorted(ends, np.arange(0, ends[-1], _AT_ONCE)).tolist()
        return b"".join(self[a:b]._lines() for a, b in pairwise([*cuts, len(self)]))

    def _lines(self) -> bytes:
        sizes = self.widths + 1
        ends = np.cumsum(sizes)
        codes = self.codes[np.repeat(self.starts - (ends - sizes), sizes) + np.arange(sizes.sum())]
        codes[ends - 1] = ord("\n")
        return bytes(codes)

    def bytes(self) -> list[bytes]:
        """Each id as bytes, which order as the strings do."""
        names = self.lines().split(b"\n")[:-1]
        return names if len(names) == len(self) else list(self)  # one holds a newline itself

    def strings(self) -> list[str]:
        """Each id as a string."""
        return [name.decode(errors="surrogatepass") for name in self.bytes()]

    def hashes(self) -> Keys:
        """Return a 64-bit hash of each id; the page on file formats has it in plain Python.

        Hashes of equal ids are equal on every platform, as factor sets keep them.
        """
        hashes = np.empty(len(self), np.uint64)
        for a in range(0, len(self), _HASHED_AT_ONCE):
            part = slice(a, a + _HASHED_AT_ONCE)
            hashes[part] = self[part]._hashes()
        return hashes

    def _hashes(self) -> Keys:
        mixed = _mix(self.widths.astype(np.uint64), self._words(0))
        longest = min(int(self.widths.max(initial=0)), _SHORT)
        if longest > WORD:
            mixed = np.where(self.widths > WORD, _mix(mixed, self._last_words()), mixed)
        for place in range(WORD, longest - WORD, WORD):  # what is between the first and the last
            rows = np.flatnonzero(self.widths > place + WORD)
            mixed[rows] = _mix(mixed[rows], self[rows]._words(place))
        rows = np.flatnonzero(self.widths > _SHORT)
        if rows.size:
            mixed[rows] = self[rows]._long_hashes()
        return _finish(mixed)

    def _long_hashes(self) -> list[int]:
        from hashlib import blake2b  # loads OpenSSL, and few files have such ids

        return [int.from_bytes(blake2b(name, digest_size=8).digest(), "little") for name in self]

    def same(self, others: Ids) -> npt.NDArray[np.bool_]:
        """Check whether each id is the one at its place in ``others``."""
        same: npt.NDArray[np.bool_] = self.widths == others.widths
        same &= self._words(0) == others._words(0)
        longest = min(int(self.widths.max(initial=0)), _SHORT)
        if longest > WORD:
            same &= self._last_words() == others._last_words()
        for place in range(WORD, longest - WORD, WORD):
            rows = np.flatnonzero(same & (self.widths > place + WORD))
            same[rows] = self[rows]._words(place) == others[rows]._words(place)
        rows = np.flatnonzero(same & (self.widths > _SHORT))
        same[rows] = [a == b for a, b in zip(self[rows], others[rows], strict=True)]
        return same

    def changes(self) -> Ints:
        """Where an id differs from the one before it; with 0 and the end."""
        if self.widths.max(initial=0) > WORD:
            differ = ~self[1:].same(self[:-1])
        else:
            words = self._words(0)
            differ = (words[1:] != words[:-1]) | (self.widths[1:] != self.widths[:-1])
        return np.concatenate([[0], np.flatnonzero(differ) + 1, [len(self)]])

    def _words(self, place: int) -> Keys:
        """Return eight bytes from ``place`` on of ids that are not shorter; 0 after their end."""
        (words,) = words_at(self.codes, self.starts + place)
        masked: Keys = words & _MASKS[np.minimum(self.widths - place, WORD)]
        return masked

    def _last_words(self) -> Keys:
        """Return the eight bytes before the end of ids; 0 before their start."""
        (words,) = words_at(self.codes, self.starts + (self.widths - WORD))
        masked: Keys = words & _LAST[np.minimum(self.widths, WORD)]
        return masked


def _mix(mixed: Keys, words: Keys) -> Keys:
    mixed = (mixed ^ words) * _MULTIPLIER
    mixed = mixed ^ (mixed >> np.uint64(29))
    return mixed


def _finish(mixed: Keys) -> Keys:
    """Mix once more, so that sums of hashes do not depend on sums of ids."""
    mixed = (mixed ^ (mixed >> np.uint64(32))) * _SECOND_MULTIPLIER
    mixed = mixed ^ (mixed >> np.uint64(32))
    return mixed
