"""One table, five ways to write it: text, Markdown, LaTeX, CSV and HTML."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice

from ir_std._system.text import escape_line

WIDTH = 100
"""Columns that text may take; wider tables are folded into blocks."""
LONG = 45
"""Rows that fit on one page of a paper."""
BETTER, WORSE = "+", "-"
"""The marks of a difference that is significant."""
_NAME = 24
"""Columns that a row's name keeps for itself before columns that belong together are parted."""


@dataclass(frozen=True)
class Cell:
    """One cell.

    Attributes
    ----------
    text : str
        What people read.
    value : float or str
        What CSV holds, at full precision.
    extra : mapping of str to float
        Further facts, which CSV holds in columns of their own (``p``, ``low``, ``high``).
    best : bool
        Whether it is the best of its column.
    mark : str
        :data:`BETTER`, :data:`WORSE` or nothing.
    """

    text: str
    value: float | str
    extra: Mapping[str, float] = field(default_factory=dict)
    best: bool = False
    mark: str = ""


def label_cell(text: str) -> Cell:
    """A cell that names its row, in one line whatever the name is."""
    return Cell(escape_line(text), escape_line(text))


def number_cell(
    value: float,
    places: int = 4,
    *,
    best: bool = False,
    mark: str = "",
    extra: Mapping[str, float] | None = None,
) -> Cell:
    """A cell that holds a number; NaN is a dash."""
    return Cell(format_number(value, places), value, extra or {}, best, mark)


def format_number(value: float, places: int, sign: str = "") -> str:
    """A number in so many decimals, all with -1; NaN is a dash."""
    if math.isnan(value):
        return "-"
    return f"{value:{sign}}" if places < 0 else f"{value:{sign}.{places}f}"


@dataclass(frozen=True)
class Table:
    """Rows of cells below a header.

    Attributes
    ----------
    header : tuple of str
    rows : tuple of tuple of Cell
    labels : int
        The number of leading columns that name the row.
    notes : tuple of str
        Sentences below the table.
    groups : tuple of int
        How many of the other columns belong together: text is not folded inside a group.
    """

    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    labels: int = 1
    notes: tuple[str, ...] = ()
    groups: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "header", tuple(map(escape_line, self.header)))
        object.__setattr__(self, "notes", tuple(map(escape_line, self.notes)))

    def text(self, width: int = WIDTH) -> str:
        """Aligned columns, at most ``width`` wide; more columns follow in further blocks.

        The best of a column carries a ``*``.
        """
        columns = [self._lines(i, _plain) for i in range(len(self.header))]
        heads, others = columns[: self.labels], columns[self.labels :]
        groups = iter(others)
        tied = [list(islice(groups, size)) for size in self.groups or [1] * len(others)]
        widest = max((_width(group) for group in tied), default=0)
        if width - widest < min(_NAME * self.labels, _width(heads)):
            widest = max(_width([column]) for column in others)
        if _width(heads) > width - widest:
            heads = [_shortened(c, (width - widest) // max(1, self.labels) - 2) for c in heads]
        blocks = [_side_by_side([*heads, *block]) for block in _fold(heads, tied, width)]
        return "\n\n".join([*blocks, *self._wrapped_notes(width)])

    def _wrapped_notes(self, width: int) -> list[str]:
        from textwrap import fill

        notes = list(self.notes)
        if any(cell.best for row in self.rows for cell in row):
            notes.insert(0, "* best of its column.")
        return (
            [
                "\n".join(
                    fill(n, width, subsequent_indent="  ", break_on_hyphens=False) for n in notes
                )
            ]
            if notes
            else []
        )

    def _lines(self, column: int, write: Callable[[Cell], str]) -> list[str]:
        """The header and cells of a column, padded to one width."""
        cells = [write(row[column]) for row in self.rows]
        if column < self.labels:
            size = max(map(len, [self.header[column], *cells]))
            return [c.ljust(size) for c in (self.header[column], *cells)]
        # Marks hang over on the right, so that the figures stay in line.
        size = max(len(self.header[column]), *(len(row[column].text) for row in self.rows), 0)
        over = max(
            (len(c) - len(row[column].text) for c, row in zip(cells, self.rows, strict=True)),
            default=0,
        )
        return [
            self.header[column].rjust(size) + " " * over,
            *(
                row[column].text.rjust(size) + c[len(row[column].text) :].ljust(over)
                for c, row in zip(cells, self.rows, strict=True)
            ),
        ]

    def markdown(self) -> str:
        """A pipe table; the best of a column is bold."""

        def write(cell: Cell) -> str:
            text = _markdown_escape(cell.text)
            return (f"**{text}**" if cell.best else text) + (f" {cell.mark}" if cell.mark else "")

        rules = [":--"] * self.labels + ["--:"] * (len(self.header) - self.labels)
        lines = [
            map(_markdown_escape, self.header),
            rules,
            *([write(c) for c in row] for row in self.rows),
        ]
        # A paragraph that begins with a mark would be a list.
        notes = [
            "\n" + "\\" * note.startswith(("+ ", "- ")) + _markdown_escape(note)
            for note in self.notes
        ]
        return "\n".join([*(f"| {' | '.join(line)} |" for line in lines), *notes])

    def latex(self) -> str:
        r"""A ``tabular`` for ``booktabs``; the best of a column is bold.

        Notes stand below it in a ``threeparttable``, which is as wide as the table.  More than
        :data:`LONG` rows make a ``longtable``, which goes over pages, with the notes behind it.
        """

        def write(cell: Cell) -> str:
            text = latex_escape(cell.text)
            return (rf"\textbf{{{text}}}" if cell.best else text) + (
                f"$^{{{cell.mark}}}$" if cell.mark else ""
            )

        columns = "l" * self.labels + "r" * (len(self.header) - self.labels)
        long = len(self.rows) > LONG
        kind = "longtable" if long else "tabular"
        lines = [
            rf"\begin{{{kind}}}{{{columns}}}",
            r"\toprule",
            _latex_row(map(latex_escape, self.header)),
            r"\midrule",
            *[r"\endhead"] * long,
            *(_latex_row(write(c) for c in row) for row in self.rows),
            r"\bottomrule",
            rf"\end{{{kind}}}",
        ]
        notes = [latex_escape(note) for note in self.notes]
        packages = ["booktabs", *["longtable"] * long]
        if notes and long:
            lines += [
                r"\begingroup\footnotesize",
                *(rf"\noindent {n}\par" for n in notes),
                r"\endgroup",
            ]
        elif notes:
            packages.append("threeparttable")
            lines = [
                r"\begin{threeparttable}",
                *lines,
                r"\begin{tablenotes}[flushleft]",
                r"\footnotesize",
                *(rf"\item {n}" for n in notes),
                r"\end{tablenotes}",
                r"\end{threeparttable}",
            ]
        return "\n".join([rf"% \usepackage{{{','.join(packages)}}}", *lines])

    def csv(self) -> str:
        """Comma-separated values at full precision; NaN is empty.  Without notes and marks."""
        import csv
        import io

        names = [
            list(dict.fromkeys(k for row in self.rows for k in row[i].extra))
            for i in range(len(self.header))
        ]
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(
            [
                _csv_value(text)
                for head, extra in zip(self.header, names, strict=True)
                for text in (head, *(f"{head} {name}" for name in extra))
            ]
        )
        for row in self.rows:
            writer.writerow(
                [
                    _csv_value(v)
                    for cell, extra in zip(row, names, strict=True)
                    for v in (cell.value, *(cell.extra.get(n, "") for n in extra))
                ]
            )
        return out.getvalue().rstrip("\n")

    def html(self) -> str:
        """A ``<table>``; the best of a column is bold."""
        from html import escape

        def write(cell: Cell, column: int) -> str:
            text = escape(cell.text)
            if column < self.labels:
                return f'<th scope="row" style="text-align:left">{text}</th>'
            text = f"<strong>{text}</strong>" if cell.best else text
            mark = f"<sup>{escape(cell.mark)}</sup>" if cell.mark else ""
            return f'<td style="text-align:right">{text}{mark}</td>'

        head = "".join(
            f'<th scope="col" style="text-align:{side}">{escape(name)}</th>'
            for name, side in zip(
                self.header, ["left"] * self.labels + ["right"] * len(self.header), strict=False
            )
        )
        body = "\n".join(
            f"<tr>{''.join(write(c, i) for i, c in enumerate(row))}</tr>" for row in self.rows
        )
        notes = "".join(f"<p>{escape(note)}</p>\n" for note in self.notes)
        return (
            f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>\n{notes}"
        )


WRITERS: dict[str, Callable[[Table], str]] = {
    "table": Table.text,
    "markdown": Table.markdown,
    "latex": Table.latex,
    "csv": Table.csv,
}
"""How a table is printed, by the name of the output format."""


def _plain(cell: Cell) -> str:
    return cell.text + cell.mark + ("*" if cell.best else "")


def _width(columns: Iterable[list[str]]) -> int:
    return sum(len(column[0]) + 2 for column in columns)


def _fold(
    heads: list[list[str]], groups: list[list[list[str]]], width: int
) -> list[list[list[str]]]:
    """Split groups of columns into blocks that fit beside the row's names."""
    room = width - _width(heads) + 2
    blocks: list[list[list[str]]] = [[]]
    for group in groups:
        # Only a group that is too wide for any block is split.
        for part in [group] if _width(group) <= room else [[column] for column in group]:
            if blocks[-1] and _width(blocks[-1] + part) > room:
                blocks.append([])
            blocks[-1] += part
    return blocks


def _shortened(column: list[str], size: int) -> list[str]:
    """Long names lose their middle, where names of runs differ least."""
    size = max(size, 12)
    if len(column[0]) <= size:
        return column
    kept = [text.rstrip() for text in column]
    keep = size - 3
    short = [
        t if len(t) <= size else t[: keep - keep // 2] + "..." + t[len(t) - keep // 2 :]
        for t in kept
    ]
    if len(set(short)) < len(set(kept)):
        return column
    return [t.ljust(size) for t in short]


def _side_by_side(columns: list[list[str]]) -> str:
    lines = ["  ".join(parts).rstrip() for parts in zip(*columns, strict=True)]
    lines.insert(1, "-" * max(map(len, lines)))
    return "\n".join(lines)


def _latex_row(cells: Iterable[str]) -> str:
    return " & ".join(cells) + r" \\"


_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    **{c: f"\\{c}" for c in "&%$#_{}"},
    # A row that begins with one of these would be an argument of the row before.
    "[": "{[}",
    "*": "{*}",
}


def latex_escape(text: str) -> str:
    """``text`` in one line, with every character that LaTeX would read otherwise escaped."""
    return "".join(_LATEX.get(c, c) for c in escape_line(text))


def _markdown_escape(text: str) -> str:
    return "".join(f"\\{c}" if c in "\\|*_`<[&~$" else c for c in text)


_FORMULA = re.compile("[=+@\uff1d\uff0b\uff0d\uff20-].")
"""Their first characters, as wide as letters or as wide as Chinese ones."""


def _csv_value(value: float | str) -> str:
    if isinstance(value, str):
        # Spreadsheets take such a cell for a formula, even in quotes; behind ' it is text.
        return f"'{value}" if _FORMULA.match(value) else value
    if isinstance(value, int):
        return str(value)
    return "" if math.isnan(value) else repr(float(value))
