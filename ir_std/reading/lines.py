"""Read many lines of runs or qrels at once, and check the lines by counting.

A block of lines is split where blanks begin and end.  The checks show only that something is wrong;
:mod:`ir_std.reading.plain` then reads line by line and finds the fault.
"""

import codecs
import math
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeAlias

import numpy as np

from ir_std._arrays import Array, Bytes, Ints
from ir_std.errors import InputError
from ir_std.reading.ids import MARGIN, WORD, Ids
from ir_std.reading.numbers import DECIMAL, LOWEST, NotANumber, floats, integer, integers
from ir_std.reading.sources import Source, read_pieces
from ir_std.reading.unpacking import MOST_TOPICS, UNPACK_FIRST

_BLOCK = 1 << 19
"""Number of bytes that are split at once.

If blocks are smaller, the overhead of numpy calls dominates.  If blocks are larger, the results no
longer fit into the cache, and a new process needs more memory.
"""


Number: TypeAlias = float | int


class LineFormat(NamedTuple):
    """Format of the lines of runs or qrels.

    Attributes
    ----------
    kind : str
    columns : tuple of str
    document, value : int
        Positions of the columns with documents and numbers.
    numbers : callable
        Function that reads many numbers at once; see :func:`ir_std.reading.numbers.floats`.
    number : callable
        Function that reads one number; it returns None for text that the column may not contain.
    rule : str
        Rule that the error message states.
    most : int
        Number of lines that a small packed file may hold.
    """

    kind: str
    columns: tuple[str, ...]
    document: int
    value: int
    numbers: Callable[[Bytes, Ints, Ints], Array]
    number: Callable[[bytes], Number | None]
    rule: str
    most: int

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self.columns)

    @property
    def read(self) -> tuple[int, int, int]:
        """Positions of the columns that are read (topic, document and value)."""
        return 0, self.document, self.value

    @property
    def layout(self) -> str:
        """Description of the columns, for messages."""
        return f"a {self.kind} has {self.width} columns: {' '.join(self.columns)}"


def _score(text: bytes) -> float | None:
    """Parse a score, which may be -inf to rank a document last."""
    value = float(text) if re.fullmatch(DECIMAL, text) or text == LOWEST else math.inf
    return value if value < math.inf else None


RUN = LineFormat(
    "run",
    ("topic", "Q0", "document", "rank", "score", "tag"),
    2,
    4,
    floats,
    _score,
    "expected a finite number or -inf",
    5_000_000,
)
QRELS = LineFormat(
    "qrels file",
    ("topic", "iteration", "document", "relevance"),
    2,
    3,
    integers,
    integer,
    "expected a whole number of at most 64 bits",
    2_000_000,
)


def _below(codes: Bytes, start: Ints, end: Ints) -> Array:
    """Read ranks, and return scores, which are higher for ranks closer to 1."""
    ranks = integers(codes, start, end)
    if (ranks < 1).any():
        raise NotANumber
    return -ranks.astype(np.float64)


def _score_of_rank(text: bytes) -> float | None:
    rank = integer(text)
    return None if rank is None or rank < 1 else -float(rank)


RANKED_RUN = LineFormat(
    "run",
    ("topic", "document", "rank"),
    1,
    2,
    _below,
    _score_of_rank,
    "expected a whole number of at least 1",
    5_000_000,
)
"""Format of MS MARCO runs, which have ranks but no scores."""


class CheckFailed(Exception):
    """Error for a block that failed a check; the arguments are its start and end, if known."""


class Lines(NamedTuple):
    """Lines of a run or qrels file.

    Attributes
    ----------
    topics : list of str
        Topics in the order of their first lines.
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
    values: Array


def read_lines(source: Source, line_format: LineFormat) -> Lines:
    """Read all lines.

    Raises
    ------
    CheckFailed
        If a line is wrong, or there are no lines.
    InputError
        If the source cannot be read.
    """
    return lines_of(source, read_content(source), line_format)


def lines_of(source: Source, content: bytearray, line_format: LineFormat) -> Lines:
    """Read all lines of a source from the bytes that :func:`read_content` returned.

    Raises
    ------
    CheckFailed
        If a line is wrong, or there are no lines.
    """
    codes = np.frombuffer(content, np.uint8)
    topics: dict[bytes, int] = {}
    columns: tuple[list[Array], ...] = ([], [], [], [])
    is_ascii, n_lines = content.isascii(), 0
    for start, end in split_blocks(content):
        if not is_ascii and not _is_utf8(content[start:end]):
            raise CheckFailed(start, end)
        try:
            block = _read_block(codes, start, end, line_format, topics)
        except CheckFailed:
            raise CheckFailed(start, end) from None
        for column, part in zip(columns, block, strict=False):
            column.append(part)
        n_lines += len(block[0]) if block else 0
        _check_counts(source, n_lines, len(topics), line_format)
    if not columns[0]:
        raise CheckFailed
    topic, first, widths, values = map(_joined, columns)
    return Lines([name.decode() for name in topics], topic, Ids(codes, first, widths), values)


def _check_counts(source: Source, n_lines: int, n_topics: int, line_format: LineFormat) -> None:
    """Raise an error if a small packed file has too many lines or topics."""
    if (n_lines <= line_format.most and n_topics <= MOST_TOPICS) or not source.is_small_and_packed:
        return
    raise InputError.at(
        source.name,
        f"has more than {line_format.most:,} lines or {MOST_TOPICS:,} topics when unpacked",
        UNPACK_FIRST,
    )


def _read_block(
    codes: Bytes, start: int, end: int, line_format: LineFormat, topics: dict[bytes, int]
) -> tuple[Array, ...]:
    """Return the topics' numbers, the documents' positions and lengths, and the values of a block.

    Return an empty tuple if all lines are blank.
    """
    before, ends = _tokens(codes[start - 1 : end], line_format.width)
    if not ends.size:
        return ()
    (topic_at, topic_end), (doc_at, doc_end), (value_at, value_end) = (
        (before[:, i] + start, ends[:, i] + (start - 1)) for i in line_format.read
    )
    try:
        values = line_format.numbers(codes, value_at, value_end)
    except NotANumber:
        raise CheckFailed from None
    if values.max(initial=0) == math.inf:
        raise CheckFailed
    topic = Ids.between(codes, topic_at, topic_end).number(topics)
    return topic, doc_at, (doc_end - doc_at).astype(np.int32), values


def _joined(parts: list[Array]) -> Array:
    """Join parts into one array; then free the parts, because parts may be large."""
    whole = np.concatenate(parts)
    parts.clear()
    return whole


def read_content(source: Source) -> bytearray:
    """Read all bytes of a source, replace comments by blanks, and add padding at both ends."""
    content = bytearray(b" " * MARGIN)
    for piece in read_pieces(source):
        content += piece
    content += b" " * WORD
    if content.startswith(codecs.BOM_UTF8, MARGIN):
        content[MARGIN : MARGIN + len(codecs.BOM_UTF8)] = b" " * len(codecs.BOM_UTF8)
    if b"#" in content:
        codes = np.frombuffer(content, np.uint8)
        for start, end in split_blocks(content):
            _blank_comments(codes[start:end])
    return content


def _blank_comments(codes: Bytes) -> None:
    """Replace all comments in a block by blanks at once, because there may be very many."""
    tokens = np.flatnonzero(codes > ord(" "))
    ends = np.append(np.flatnonzero(codes == ord("\n")), len(codes))
    first = np.searchsorted(tokens, np.append(0, ends[:-1]))
    ends, first = ends[first < len(tokens)], tokens[first[first < len(tokens)]]
    are_comments = (codes[first] == ord("#")) & (first < ends)
    inside = np.zeros(len(codes) + 1, np.int8)
    inside[first[are_comments]] = 1
    inside[ends[are_comments]] = -1
    codes[np.cumsum(inside[:-1], dtype=np.int8) > 0] = ord(" ")


def split_blocks(content: bytearray) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each block of whole lines.

    If the last line has no newline, its block includes the blank after the line.
    """
    start, last = MARGIN, len(content) - WORD
    last += not content.endswith(b"\n", 0, last)
    while start < last:
        end = last
        if start + _BLOCK < last:
            end = max(content.rfind(b"\n", start, start + _BLOCK), start - 1)
            end = (content.find(b"\n", start) if end < start else end) + 1 or last
        yield start, end
        start = end


def _is_utf8(content: bytearray) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


def _tokens(codes: Bytes, width: int) -> tuple[Ints, Ints]:
    """Find the blanks before and after each token; a blank must precede the first line.

    Returns
    -------
    before, ends : ndarray of int, shape (n_lines, width)

    Raises
    ------
    CheckFailed
        If a line does not have ``width`` tokens, or there are control characters.
    """
    blank, breaks = codes <= ord(" "), codes == ord("\n")
    if (blank[1:] & blank[:-1]).any():
        edges = np.flatnonzero(blank[1:] != blank[:-1])
        before, ends, n_blanks = edges[::2], edges[1::2] + 1, int(np.count_nonzero(blank))
    else:
        places = np.flatnonzero(blank)
        before, ends, n_blanks = places[:-1], places[1:], len(places)
    n_breaks = int(np.count_nonzero(breaks))
    if len(ends) % width or not _only_blanks(codes, n_blanks - n_breaks):
        raise CheckFailed
    before, ends = before.reshape(-1, width), ends.reshape(-1, width)
    ended = breaks[ends[:, -1]]
    if ended[:-1].all() and n_breaks - int(breaks[0]) == np.count_nonzero(ended):
        return before, ends  # each line ends right after its last token
    breaks[0] = False
    line_ends = np.append(np.flatnonzero(breaks), len(codes))
    line = np.searchsorted(line_ends, before[:, 0] + 1)
    if (ends[:, -1] > line_ends[line]).any() or (before[1:, 0] < line_ends[line[:-1]]).any():
        raise CheckFailed
    return before, ends


def _only_blanks(codes: Bytes, count: int) -> bool:
    """Check whether ``count`` characters are spaces, tabs or carriage returns."""
    for allowed in b" \t\r":
        if not count:
            break
        count -= int(np.count_nonzero(codes == allowed))
    return not count
