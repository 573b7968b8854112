"""Columns of text side by side, folded into blocks that fit a line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice

_MIN_LABEL = 24
"""Characters kept for each label before columns that belong together are parted."""

Column = list[str]
"""A header and cells, padded to one width."""


def aligned_blocks(
    header: Sequence[str],
    rows: Sequence[Sequence[tuple[str, str]]],
    labels: int,
    groups: Sequence[int],
    width: int,
) -> list[str]:
    """Blocks of lines, each at most ``width`` wide if its columns allow it.

    Parameters
    ----------
    header : sequence of str
    rows : sequence of sequence of (str, str)
        Of each cell the text and the marks behind it.
    labels : int
        The number of leading columns that name the row; they stand in every block.
    groups : sequence of int
        How many of the other columns belong together; each by itself if empty.
    width : int
    """
    columns = [_padded(name, [row[i] for row in rows], i < labels) for i, name in enumerate(header)]
    heads, others = columns[:labels], columns[labels:]
    rest = iter(others)
    grouped = [list(islice(rest, size)) for size in groups or [1] * len(others)]
    widest = max((_width(group) for group in grouped), default=0)
    if width - widest < min(_MIN_LABEL * labels, _width(heads)):
        widest = max(_width([column]) for column in others)
    if _width(heads) > width - widest:
        heads = [_shortened(c, (width - widest) // max(1, labels) - 2) for c in heads]
    return [_side_by_side([*heads, *block]) for block in _fold(heads, grouped, width)]


def _padded(name: str, cells: Sequence[tuple[str, str]], is_label: bool) -> Column:
    if is_label:
        texts = [name, *(text + marks for text, marks in cells)]
        size = max(map(len, texts))
        return [text.ljust(size) for text in texts]
    # Marks hang over on the right, so that the figures stay in line.
    size = max(len(name), *(len(text) for text, _ in cells), 0)
    overhang = max((len(marks) for _, marks in cells), default=0)
    return [text.rjust(size) + marks.ljust(overhang) for text, marks in [(name, ""), *cells]]


def _width(columns: Iterable[Column]) -> int:
    return sum(len(column[0]) + 2 for column in columns)


def _fold(heads: list[Column], groups: list[list[Column]], width: int) -> list[list[Column]]:
    """Split groups of columns into blocks that fit beside the row's labels."""
    room = width - _width(heads) + 2
    blocks: list[list[Column]] = [[]]
    for group in groups:
        # Only a group that is too wide for any block is split.
        for part in [group] if _width(group) <= room else [[column] for column in group]:
            if blocks[-1] and _width(blocks[-1] + part) > room:
                blocks.append([])
            blocks[-1] += part
    return blocks


def _shortened(column: Column, size: int) -> Column:
    """Long labels lose their middle, where names of runs differ least; all stay distinct."""
    size = max(size, 12)
    if len(column[0]) <= size:
        return column
    labels = [text.rstrip() for text in column]
    keep = size - 3
    short = [
        t if len(t) <= size else t[: keep - keep // 2] + "..." + t[len(t) - keep // 2 :]
        for t in labels
    ]
    if len(set(short)) < len(set(labels)):
        return column
    return [t.ljust(size) for t in short]


def _side_by_side(columns: list[Column]) -> str:
    lines = ["  ".join(parts).rstrip() for parts in zip(*columns, strict=True)]
    lines.insert(1, "-" * max(map(len, lines)))
    return "\n".join(lines)
