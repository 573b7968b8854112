"""Runs and qrels from bytes: many lines at once, checked by counting.

A block of lines is split by looking at where blanks begin and end; the checks tell that something
is wrong, not what: that is for :mod:`ir_std.trec._faults`, which reads line by line.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ir_std.trec._ids import WORD, Bytes, Ids, Ints
from ir_std.trec._numbers import MARGIN, NotANumber
from ir_std.trec.columns import Form
from ir_std.trec.sources import Source, pieces

_BEFORE, _BEHIND = b" " * MARGIN, b" " * WORD
_SPARSE = 16
"""Where ids are less than one in so many bytes, only they are kept in memory."""


class Suspicious(Exception):
    """A block did not pass a check."""


class Table(NamedTuple):
    """The lines of a run or qrels file.

    Attributes
    ----------
    topics : list of str
        In the order of their first lines.
    topic : ndarray of int, shape (n_lines,)
        Index into the topics.
    ids : Ids, of length n_lines
        Documents.
    values : ndarray, shape (n_lines,)
        Scores or levels.
    """

    topics: list[str]
    topic: Ints
    ids: Ids
    values: npt.NDArray[Any]


def read_table(source: Source, form: Form) -> Table:
    """Read all lines.

    Raises
    ------
    Suspicious
        If something is wrong with them, or there are none.
    InputError
        If the source cannot be read.
    """
    topics: dict[bytes, int] = {}
    content = bytearray()
    parts: list[tuple[Ints, Ints, Ints, npt.NDArray[Any]]] = []
    for block in blocks(source):
        if not block or block.isspace():
            continue
        block = b"".join((_BEFORE, block, _BEHIND))
        codes, starts, ends = _tokens(block, form.width)
        try:
            values = form.numbers(codes, starts[:, form.value], ends[:, form.value])
        except NotANumber:
            raise Suspicious from None
        topic = _numbered(Ids.between(codes, starts[:, 0], ends[:, 0]), topics)
        ids = Ids.between(codes, starts[:, 2], ends[:, 2])
        if _SPARSE * int(ids.widths.sum()) < len(block):
            ids = ids.packed()
        parts.append((topic, ids.starts + len(content), ids.widths, values))
        content += ids.codes.data
    if not parts:
        raise Suspicious
    topic, first, widths, values = map(np.concatenate, zip(*parts, strict=True))
    return Table([name.decode() for name in topics], topic,
                 Ids(np.frombuffer(content, np.uint8), first, widths), values)


def _numbered(names: Ids, numbers: dict[bytes, int]) -> Ints:
    """The number of each name; new ones get the next."""
    cuts = names.changes()
    found = [numbers.setdefault(name, len(numbers)) for name in names[cuts[:-1]].bytes()]
    return np.repeat(np.array(found, np.int64), np.diff(cuts))


def blocks(source: Source) -> Iterator[bytes]:
    """The content in blocks of whole lines; of comment lines only their ends."""
    rest = b""
    first = True
    for piece in pieces(source):
        if first:
            piece, first = piece.removeprefix(codecs.BOM_UTF8), False
        cut = piece.rfind(b"\n") + 1
        if cut:
            yield _without_comments(rest + piece[:cut])
            rest = piece[cut:]
        else:
            rest += piece
    if rest:
        yield _without_comments(rest)


def _without_comments(block: bytes) -> bytes:
    if b"#" not in block:
        return block
    return b"\n".join(b"" if line.lstrip().startswith(b"#") else line
                      for line in block.split(b"\n"))


def _tokens(block: bytes, width: int) -> tuple[Bytes, Ints, Ints]:
    """A block's bytes, with the starts and ends of its tokens, shape (n_lines, width).

    Raises
    ------
    Suspicious
        If a line has not ``width`` tokens, or the block is not UTF-8, or has control characters.
    """
    if not block.isascii():
        try:
            block.decode()
        except UnicodeDecodeError:
            raise Suspicious from None
    codes = np.frombuffer(block, np.uint8)
    blank = codes <= ord(" ")
    edges = np.flatnonzero(blank[1:] != blank[:-1]) + 1
    if len(edges) % (2 * width) or not _only_blanks(codes, int(np.count_nonzero(blank))):
        raise Suspicious
    rows = edges.reshape(-1, width, 2)
    starts, ends = rows[:, :, 0], rows[:, :, 1]
    breaks = codes == ord("\n")
    if np.count_nonzero(breaks) == np.count_nonzero(breaks[ends[:, -1]]) >= len(rows) - 1:
        return codes, starts, ends  # each line ends right behind its last token
    line_ends = np.append(np.flatnonzero(breaks), len(codes))
    line = np.searchsorted(line_ends, starts[:, 0])
    if (starts[:, -1] > line_ends[line]).any() or (starts[1:, 0] < line_ends[line[:-1]]).any():
        raise Suspicious
    return codes, starts, ends


def _only_blanks(codes: Bytes, count: int) -> bool:
    """Whether the ``count`` characters up to the blank are blanks, tabs and ends of lines."""
    for allowed in b" \n\t\r":
        count -= int(np.count_nonzero(codes == allowed))
        if not count:
            return True
    return False
