"""Hold IDs of topics and documents in arrays, to hash, compare and find many IDs at once.

A file holds tens of thousands of IDs, but only a few are IDs of relevant documents.  So IDs stay
slices of the bytes that were read, and only IDs with equal hashes are compared byte by byte.
"""

from __future__ import annotations

import reprlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ir_std._arrays import Array, Bytes, Ints, Keys, Mask
from ir_std.errors import InputError

WORD = 8
"""Number of bytes that are read at once, and number of bytes that must follow the last ID."""
MARGIN = 8 * WORD
"""Number of bytes before the first number."""

_AT_ONCE = 1 << 20
"""Number of bytes that are joined at once; the index of each byte takes eight bytes of memory."""
_HASHED_AT_ONCE = 1 << 13
"""Number of IDs that are hashed at once, so that intermediate results stay in the cache."""
_JOINED_AT_ONCE = 1 << 10
"""Number of strings that are joined at once."""
_SHORT = 8 * WORD
"""Largest length in bytes of IDs that are hashed together; longer IDs are hashed one by one."""
_MASKS = np.array([(1 << 8 * n) - 1 for n in range(WORD + 1)], np.uint64)
_LAST = ~_MASKS[::-1]
"""Masks of the first n bytes and of the last n bytes of a word."""
_ROOM = bytes(MARGIN)
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_SECOND_MULTIPLIER = np.uint64(0xD6E8FEB86659FD93)


def check_strings(names: Collection[Any], kind: str, what: str) -> str:
    """Check that IDs are strings, and return them joined by null characters.

    Raises
    ------
    InputError
        If an ID is not a string.
    """
    try:
        return "\0".join(names)  # the fastest way to check all IDs
    except TypeError:
        wrong = next(name for name in names if not isinstance(name, str))
        raise InputError.at(
            kind,
            f"{what} is {reprlib.repr(wrong)} ({type(wrong).__name__})",
            "convert IDs to strings, with df.astype({'query_id': str, 'doc_id': str}) in pandas or "
            "df.cast in polars",
        ) from None


def words_at(codes: Bytes, places: Ints, count: int = 1) -> Keys:
    """Return words of eight bytes (lowest byte first) from the given positions on.

    Returns
    -------
    ndarray of uint64, shape (count, n_places)
        The ``count`` words that follow each position.  Reading several words at once takes barely
        longer than reading one word.
    """
    room = len(codes) - WORD * count + 1
    anywhere = np.ndarray((room,), f"V{WORD * count}", codes, strides=(1,))
    flat: Keys = anywhere[places].view("<u8").astype(np.uint64, copy=False)
    words: Keys = flat.reshape(len(places), count).T
    return words


class Ids:
    """IDs as slices of bytes, in UTF-8.

    Attributes
    ----------
    codes : ndarray of uint8
        Bytes of all IDs, with :data:`WORD` more bytes before the first ID and after the last; if
        the IDs are numbers, with :data:`MARGIN` bytes before the first.
    starts, widths : ndarray of int, shape (n_ids,)
    """

    __slots__ = ("codes", "starts", "widths")

    def __init__(self, codes: Bytes, starts: Ints, widths: Ints) -> None:
        self.codes, self.starts, self.widths = codes, starts, widths

    @classmethod
    def of(cls, names: Sequence[str]) -> Ids:
        """Make IDs from strings.

        Raises
        ------
        TypeError
            If a name is not a string.
        """
        # Joining reads each string twice, so join parts that stay in the cache.
        places = range(0, len(names), _JOINED_AT_ONCE)
        parts = ["\0".join(names[a : a + _JOINED_AT_ONCE]) for a in places]
        return cls.of_joined(parts, names, len(names))

    @classmethod
    def of_joined(cls, parts: Iterable[str], names: Iterable[str], count: int) -> Ids:
        """Make IDs from strings of which each part is already joined by null characters.

        Parameters
        ----------
        parts : iterable of str
        names : iterable of str
            The strings themselves, which are read only if one of them contains a null character.
        count : int
            Number of strings.
        """
        joined = "\0".join(parts).encode(errors="surrogatepass")
        codes = np.frombuffer(b"".join([_ROOM, joined, _ROOM]), np.uint8)
        zeros = np.flatnonzero(codes[MARGIN - 1 : 1 - MARGIN] == 0) + (MARGIN - 1)
        if len(zeros) != count + 1:  # an ID contains a zero
            return cls.of_bytes([name.encode(errors="surrogatepass") for name in names])
        return cls.between(codes, zeros[:-1] + 1, zeros[1:])

    @classmethod
    def of_bytes(cls, names: Sequence[bytes]) -> Ids:
        """Make IDs from their bytes."""
        widths = np.fromiter(map(len, names), np.int64, len(names))
        codes = np.frombuffer(b"".join([_ROOM, *names, _ROOM]), np.uint8)
        return cls(codes, np.cumsum(widths) - widths + MARGIN, widths)

    @classmethod
    def between(cls, codes: Bytes, starts: Ints, ends: Ints) -> Ids:
        """Make IDs from the positions of their starts and ends."""
        return cls(codes, starts, ends - starts)

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, rows: Ints | Mask | slice) -> Ids:
        """Select IDs by their positions, by a slice or by a mask."""
        return Ids(self.codes, self.starts[rows], self.widths[rows])

    def __iter__(self) -> Iterator[bytes]:
        content = self.codes.data
        for start, width in zip(self.starts.tolist(), self.widths.tolist(), strict=True):
            yield bytes(content[start : start + width])

    def _lines(self) -> bytes:
        """Return the bytes of all IDs, each followed by a newline."""
        sizes = self.widths + 1
        ends = np.cumsum(sizes)
        codes = self.codes[np.repeat(self.starts - (ends - sizes), sizes) + np.arange(sizes.sum())]
        codes[ends - 1] = ord("\n")
        return bytes(codes)

    def bytes(self) -> list[bytes]:
        """Return each ID as bytes; the bytes sort in the same order as the strings."""
        ends = np.append(0, np.cumsum(self.widths + 1))
        cuts = np.searchsorted(ends, np.arange(0, ends[-1], _AT_ONCE)).tolist()
        lines = b"".join(self[a:b]._lines() for a, b in pairwise([*cuts, len(self)]))
        names = lines.split(b"\n")[:-1]
        return names if len(names) == len(self) else list(self)  # an ID contains a newline

    def strings(self) -> list[str]:
        """Return each ID as a string."""
        return [name.decode(errors="surrogatepass") for name in self.bytes()]

    def hashes(self) -> Keys:
        """Return a 64-bit hash of each ID.

        Factor sets store these hashes, so equal IDs have equal hashes on every platform.  The page
        on file formats shows the hash function in plain Python.
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
        for place in range(WORD, longest - WORD, WORD):  # words between the first and the last
            rows = np.flatnonzero(self.widths > place + WORD)
            mixed[rows] = _mix(mixed[rows], self[rows]._words(place))
        rows = np.flatnonzero(self.widths > _SHORT)
        if rows.size:
            mixed[rows] = self[rows]._long_hashes()
        return _finish(mixed)

    def _long_hashes(self) -> list[int]:
        from hashlib import blake2b  # loads OpenSSL, and few files have such IDs

        return [int.from_bytes(blake2b(name, digest_size=8).digest(), "little") for name in self]

    def same(self, others: Ids) -> Mask:
        """Check whether each ID equals the ID at the same position in ``others``."""
        same: Mask = self.widths == others.widths
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
        """Return 0, all positions where an ID differs from the ID before, and the number of IDs."""
        if self.widths.max(initial=0) > WORD:
            differ = ~self[1:].same(self[:-1])
        else:
            words = self._words(0)
            differ = (words[1:] != words[:-1]) | (self.widths[1:] != self.widths[:-1])
        return np.append(np.flatnonzero(np.append(True, differ)[: len(self)]), len(self))

    def number(self, numbers: dict[Any, int]) -> Ints:
        """Return the number of each ID; new IDs get the next free number.

        The keys of ``numbers`` are the bytes of IDs.
        """
        cuts = self.changes()
        firsts = self[cuts[:-1]].bytes()
        for name in dict.fromkeys(firsts):
            numbers.setdefault(name, len(numbers))
        codes = np.fromiter(map(numbers.__getitem__, firsts), np.int32, len(firsts))
        return np.repeat(codes, np.diff(cuts))

    def _words(self, place: int) -> Keys:
        """Return eight bytes of each ID from ``place`` on; bytes after the ID's end are 0.

        Each ID must have at least ``place`` bytes.
        """
        (words,) = words_at(self.codes, self.starts + place)
        masked: Keys = words & _MASKS[np.minimum(self.widths - place, WORD)]
        return masked

    def _last_words(self) -> Keys:
        """Return the last eight bytes of each ID; bytes before the ID's start are 0."""
        (words,) = words_at(self.codes, self.starts + (self.widths - WORD))
        masked: Keys = words & _LAST[np.minimum(self.widths, WORD)]
        return masked


def _mix(mixed: Keys, words: Keys) -> Keys:
    mixed = (mixed ^ words) * _MULTIPLIER
    mixed = mixed ^ (mixed >> np.uint64(29))
    return mixed


def _finish(mixed: Keys) -> Keys:
    """Mix hashes once more, so that IDs with equal sums do not have hashes with equal sums."""
    mixed = (mixed ^ (mixed >> np.uint64(32))) * _SECOND_MULTIPLIER
    mixed = mixed ^ (mixed >> np.uint64(32))
    return mixed


# --- documents by keys: hashes of ids and topics --------------------------------------------------

_FOUND_AT_ONCE = 1 << 14
"""Number of keys that are looked up at once; it is small, as a large run leaves little memory."""
_MOST_BITS = 24
"""Largest number of bits that index the table of first positions; more bits need more memory."""
_TOPIC = np.uint64(0xC2B2AE3D27D4EB4F)


def keys(mixed: Keys, topic: Ints) -> Keys:
    """Hash each pair of a topic and a document, given the topic's number and the ID's hash."""
    hashes = topic.astype(np.uint64)
    hashes *= _TOPIC  # in place, because a large run leaves little memory
    hashes += mixed
    return hashes


def first_repeated(ids: Ids, hashes: Keys, topic: Ints) -> tuple[int, int] | None:
    """Find the first ID that is repeated within a topic; ``hashes`` are the hashes of the IDs.

    Return the position of the repeated ID and the position where the ID occurs first.  Return None
    if no topic repeats an ID.
    """
    hashes = keys(hashes, topic)
    if not may_repeat(hashes):
        return None
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
    # Signed integers index twice as fast as unsigned integers.
    first: Ints = (values >> np.uint64(64 - count)).view(np.int64)
    return first


def may_repeat(values: Keys) -> bool:
    """Check whether any two values are equal.

    Equal values share a slot of a table, and each slot keeps the last value that was put in it.  If
    a slot did not keep a value, this value is compared with the value that the slot kept, and with
    all other values that were not kept.
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
    """Table in which keys are found by their first bits, which are practically random.

    Attributes
    ----------
    keys : ndarray of uint64, shape (n_keys,)
        Keys in ascending order.
    first : ndarray of int32
        For each value of the first bits, the position of the first key that begins with these bits;
        -1 if no key does.  For most unknown keys, the search ends here.
    """

    keys: Keys
    first: Array

    @classmethod
    def of(cls, ordered: Keys) -> KeyTable:
        """Make a table from keys that are in ascending order."""
        bits = max(16, min(len(ordered).bit_length() + 3, _MOST_BITS))
        slot = _first_bits(ordered, bits)
        place = np.arange(len(ordered), dtype=np.int32)
        first = np.full(1 << bits, -1, np.int32)
        first[slot[::-1]] = place[::-1]  # if a slot is assigned twice, the last value stays
        return cls(ordered, first)

    def find(self, values: Keys) -> tuple[Ints, Ints]:
        """Find which values are in the table, and where.

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
        """Find values as :meth:`find` does, and add ``before`` to the indices of the values."""
        place = self.first[_first_bits(values, (len(self.first) - 1).bit_length())]
        where = np.flatnonzero(place >= 0)
        place, wanted = place[where], values[where]
        behind = np.arange(len(place))
        while behind.size:  # if keys share their first bits, try the next key
            current = place[behind]
            behind = behind[(self.keys[current] < wanted[behind]) & (current < len(self.keys) - 1)]
            place[behind] += 1
        equal = self.keys[place] == wanted
        return where[equal] + before, place[equal]


class Index(NamedTuple):
    """Index of documents by topic and ID, to find these documents in a run.

    Attributes
    ----------
    table : KeyTable
    rows : ndarray of int, shape (n_documents,)
        Position of each key's document among the documents.
    topic : ndarray of int, shape (n_documents,)
    ids : Ids, of length n_documents
    """

    table: KeyTable
    rows: Ints
    topic: Ints
    ids: Ids

    @classmethod
    def of(cls, hashes: Keys, topic: Ints, ids: Ids) -> Index:
        """Make an index of documents from their hashes, topics and IDs."""
        values = keys(hashes, topic)
        rows = np.argsort(values)
        return cls(KeyTable.of(values[rows]), rows, topic, ids)

    def find(self, hashes: Keys, topic: Ints, ids: Ids) -> tuple[Ints, Ints]:
        """Find which documents are in the index, and where.

        Returns
        -------
        where : ndarray of int, shape (n_found,)
            Indices into ``ids``, ascending.
        rows : ndarray of int, shape (n_found,)
            Positions of the found documents among the documents of the index.
        """
        where, places = self.table.find(keys(hashes, topic))
        rows = self.rows[places]
        if self.ids[rows].same(ids[where]).all():
            return where, rows
        # Two IDs have the same key, so the IDs themselves are compared.
        pairs = zip(self.topic.tolist(), self.ids.bytes(), strict=True)
        row_of = {document: row for row, document in enumerate(pairs)}
        wanted = zip(topic.tolist(), ids.bytes(), strict=True)
        rows = np.array([row_of.get(document, -1) for document in wanted], np.int64)
        where = np.flatnonzero(rows >= 0)
        return where, rows[where]
