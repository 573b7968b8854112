"""Make tables, and write them as text, Markdown, LaTeX, CSV or HTML."""

import csv
import html
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from io import StringIO
from itertools import islice
from textwrap import fill

from ir_std._system.text import escape_line, guard_cell, latex_escape
from ir_std.analysis.means import Estimate

WIDTH = 100
"""Largest number of characters in a line; wider tables are split into blocks."""
PAGE_ROWS = 45
"""Number of rows that fit on one page of a paper."""
MIN_LABEL = 24
"""Smallest width of a label; if labels would be narrower, column groups are split instead."""
BETTER, WORSE, EQUIVALENT = "+", "-", "="
"""Marks of significantly better, significantly worse, and equivalent runs."""

Column = list[str]
"""A header and cells, padded to the same width."""


@dataclass(frozen=True)
class Cell:
    """Cell of a table.

    Attributes
    ----------
    text : str
        Text for people.
    value : float or str
        Value for CSV, at full precision.
    extra : mapping of str to float
        Further values, which CSV holds in separate columns (``p``, ``low``, ``high``).
    best : bool
        True for the best value of its column.
    mark : str
        :data:`BETTER`, :data:`WORSE`, :data:`EQUIVALENT` or nothing.
    """

    text: str
    value: float | str
    extra: Mapping[str, float] = field(default_factory=dict)
    best: bool = False
    mark: str = ""


def label_cell(text: str) -> Cell:
    """Make a cell that names its row, with line breaks escaped."""
    return Cell(escape_line(text), escape_line(text))


def number_cell(
    value: float,
    places: int = 4,
    sign: str = "",
    *,
    halves: Iterable[float] = (),
    best: bool = False,
    mark: str = "",
    extra: Mapping[str, float] | None = None,
) -> Cell:
    """Make a cell of a number and half-widths of its intervals: ``0.693 ±0.063``."""
    known = [f" ±{format_number(half, places)}" for half in halves if not math.isnan(value + half)]
    return Cell(format_number(value, places, sign) + "".join(known), value, extra or {}, best, mark)


def format_number(value: float, places: int, sign: str = "") -> str:
    """Format a number with ``places`` decimals; -1 for all. NaN is a dash."""
    if math.isnan(value):
        return "-"
    return f"{value:{sign}}" if places < 0 else f"{value:{sign}.{places}f}"


def interval_cell(
    value: float,
    interval: tuple[float, float],
    places: int,
    sign: str = "+",
    extra: Mapping[str, float] | None = None,
) -> Cell:
    """Make a cell of a number and its interval, if it has one: ``+0.04 [+0.01, +0.07]``."""
    text, low, high = (format_number(x, places, sign) for x in (value, *interval))
    ends = dict(zip(("low", "high"), interval, strict=True))
    return Cell(text if low == "-" else f"{text} [{low}, {high}]", value, {**ends, **(extra or {})})


def estimate_cell(estimate: Estimate, standardized: bool, places: int = 4) -> Cell:
    """Make the cell of a mean; a standardized mean has half-widths of intervals."""
    if not standardized:
        return number_cell(estimate.mean, places)
    low, high = estimate.interval
    halves = {"topics": estimate.topics, "systems": estimate.systems}
    extra = {"low": low, "high": high, **halves, "n": estimate.n}
    return number_cell(estimate.mean, places, halves=halves.values(), extra=extra)


def p_value_cell(p: float, adjusted: float | None = None, correction: str = "none") -> Cell:
    """Make the cell of a p-value; the text shows the adjusted p-value if there is one.

    CSV holds both p-values.
    """
    shown = p if adjusted is None else adjusted
    extra = {} if adjusted is None or correction == "none" else {correction: adjusted}
    return Cell(format_p(shown), p, extra)


def format_p(p: float) -> str:
    """Format a p-value with three decimals, ``<0.001`` if it is smaller, or ``-`` for NaN."""
    return "<0.001" if p < 0.001 else format_number(p, 3)


def p_text(p: float) -> str:
    """Write a p-value in a sentence: ``p = 0.012`` or ``p < 0.001``."""
    return "p < 0.001" if p < 0.001 else f"p = {format_p(p)}"


@dataclass(frozen=True, repr=False)
class Table:
    """Header and rows of cells, to print or to show in a notebook.

    Attributes
    ----------
    header : tuple of str
    rows : tuple of tuple of Cell
    labels : int
        The number of leading columns that name the row.
    notes : tuple of str
        Sentences below the table.
    groups : tuple of int
        Sizes of the groups of other columns.  Text tables keep a group in one block if possible.
    """

    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    labels: int = 1
    notes: tuple[str, ...] = ()
    groups: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "header", tuple(map(escape_line, self.header)))
        object.__setattr__(self, "notes", tuple(map(escape_line, self.notes)))

    def __repr__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        return self.html()

    def text(self, width: int = WIDTH) -> str:
        """Write aligned columns, in blocks of at most ``width`` characters.

        A ``*`` marks the best value of a column.
        """
        cells = [[(c.text, c.mark + "*" * c.best) for c in row] for row in self.rows]
        notes = list(self.notes)
        if any(cell.best for row in self.rows for cell in row):
            notes.insert(0, "* best in its column.")
        return "\n\n".join(
            [
                *_aligned_blocks(self.header, cells, self.labels, self.groups, width),
                *(["\n".join(_wrapped(note, width) for note in notes)] if notes else []),
            ]
        )

    def markdown(self) -> str:
        """Write a pipe table; the best value of a column is bold."""
        rules = [":--"] * self.labels + ["--:"] * (len(self.header) - self.labels)
        lines = [
            map(_markdown_escape, self.header),
            rules,
            *(map(_MARKDOWN.write, row) for row in self.rows),
        ]
        # Without an escape, a paragraph that begins with a mark would be a list.
        notes = [
            "\n" + "\\" * note.startswith(("+ ", "- ")) + _markdown_escape(note)
            for note in self.notes
        ]
        return "\n".join([*(f"| {' | '.join(line)} |" for line in lines), *notes])

    def latex(self) -> str:
        r"""Write a ``tabular`` for ``booktabs``; the best value of a column is bold.

        Notes follow the table in a ``threeparttable``, which makes them as wide as the table.  A
        table with more than :data:`PAGE_ROWS` rows is a ``longtable``, which breaks across pages;
        its notes follow as paragraphs.
        """
        columns = "l" * self.labels + "r" * (len(self.header) - self.labels)
        long = len(self.rows) > PAGE_ROWS
        kind = "longtable" if long else "tabular"
        lines = [
            rf"\begin{{{kind}}}{{{columns}}}",
            r"\toprule",
            _latex_row(map(latex_escape, self.header)),
            r"\midrule",
            *[r"\endhead"] * long,
            *(_latex_row(map(_LATEX.write, row)) for row in self.rows),
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
        """Write comma-separated values at full precision, without notes and marks."""
        extras = [
            list(dict.fromkeys(k for row in self.rows for k in row[i].extra))
            for i in range(len(self.header))
        ]
        lines: list[list[float | str]] = [[]]
        for head, extra in zip(self.header, extras, strict=True):
            lines[0] += [head, *(f"{head} {name}" for name in extra)]
        for row in self.rows:
            lines.append([])
            for cell, extra in zip(row, extras, strict=True):
                lines[-1] += [cell.value, *(cell.extra.get(name, "") for name in extra)]
        out = StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerows(map(_csv_value, line) for line in lines)
        return out.getvalue().rstrip("\n")

    def html(self) -> str:
        """Write a ``<table>``; the best value of a column is bold."""
        head = "".join(
            f'<th scope="col" style="text-align:{"left" if i < self.labels else "right"}">'
            f"{html.escape(name)}</th>"
            for i, name in enumerate(self.header)
        )
        body = "\n".join(
            "<tr>"
            + "".join(
                f'<th scope="row" style="text-align:left">{html.escape(cell.text)}</th>'
                if i < self.labels
                else f'<td style="text-align:right">{_HTML.write(cell)}</td>'
                for i, cell in enumerate(row)
            )
            + "</tr>"
            for row in self.rows
        )
        table = f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>\n"
        return table + _html_paragraphs(self.notes)


Value = Cell | str | float | None
"""Value in a table: a cell, a label, a count, a number, or nothing."""


def make_table(
    header: Iterable[str],
    rows: Iterable[Iterable[Value]],
    labels: int = 1,
    notes: Iterable[str] = (),
    groups: Iterable[int] = (),
    places: int = 4,
) -> Table:
    """Make a table from plain values, which :func:`as_cell` converts to cells."""
    cells = tuple(tuple(as_cell(value, places) for value in row) for row in rows)
    return Table(tuple(header), cells, labels, tuple(notes), tuple(groups))


def as_cell(value: Value, places: int = 4) -> Cell:
    """Make a cell of a label, a whole number, or a number; None and NaN are dashes."""
    if isinstance(value, Cell):
        return value
    if isinstance(value, str):
        return label_cell(value)
    if isinstance(value, int):
        return Cell(f"{value:,}", value)
    return number_cell(math.nan if value is None else value, places)


def html_with_texts(table: Table, texts: Iterable[str]) -> str:
    """Write a table for a notebook, and below it a paragraph for each text."""
    return table.html() + _html_paragraphs(texts)


def _html_paragraphs(texts: Iterable[str]) -> str:
    return "".join(f"<p>{html.escape(text)}</p>\n" for text in texts)


WRITERS: dict[str, Callable[[Table], str]] = {
    "table": Table.text,
    "markdown": Table.markdown,
    "latex": Table.latex,
    "csv": Table.csv,
    "html": Table.html,
}
"""Functions that write a table, by output format."""


def _wrapped(note: str, width: int) -> str:
    return fill(note, width, subsequent_indent="  ", break_on_hyphens=False)


@dataclass(frozen=True)
class _Markup:
    """Rules by which a format escapes texts, and writes best values and marks."""

    escape: Callable[[str], str]
    bold: str
    mark: str

    def write(self, cell: Cell) -> str:
        text = self.escape(cell.text)
        return (self.bold.format(text) if cell.best else text) + (
            self.mark.format(cell.mark) if cell.mark else ""
        )


def _latex_row(cells: Iterable[str]) -> str:
    return " & ".join(cells) + r" \\"


def _markdown_escape(text: str) -> str:
    return "".join(f"\\{c}" if c in "\\|*_`<[&~$" else c for c in text)


_MARKDOWN = _Markup(_markdown_escape, "**{}**", " {}")
_LATEX = _Markup(latex_escape, r"\textbf{{{}}}", "$^{{{}}}$")
_HTML = _Markup(html.escape, "<strong>{}</strong>", "<sup>{}</sup>")


def _csv_value(value: float | str) -> str:
    if isinstance(value, str):
        return guard_cell(value)
    if isinstance(value, int):
        return str(value)
    return "" if math.isnan(value) else repr(float(value))


# Columns of text side by side


def _aligned_blocks(
    header: Sequence[str],
    rows: Sequence[Sequence[tuple[str, str]]],
    labels: int,
    groups: Sequence[int],
    width: int,
) -> list[str]:
    """Align columns in blocks that are at most ``width`` wide, if the columns allow it.

    Parameters
    ----------
    header : sequence of str
    rows : sequence of sequence of (str, str)
        Text of each cell, and the marks that follow the text.
    labels : int
        The number of leading columns that name the row; every block repeats them.
    groups : sequence of int
        Sizes of the groups of other columns; if empty, each column is a group.
    width : int
    """
    columns = [_padded(name, [row[i] for row in rows], i < labels) for i, name in enumerate(header)]
    heads, others = columns[:labels], columns[labels:]
    rest = iter(others)
    grouped = [list(islice(rest, size)) for size in groups or [1] * len(others)]
    widest = max((_width(group) for group in grouped), default=0)
    if width - widest < min(MIN_LABEL * labels, _width(heads)):
        widest = max(_width([column]) for column in others)
    if _width(heads) > width - widest:
        heads = [_shortened(c, (width - widest) // max(1, labels) - 2) for c in heads]
    return [_side_by_side([*heads, *block]) for block in _fold(heads, grouped, width)]


def _padded(name: str, cells: Sequence[tuple[str, str]], is_label: bool) -> Column:
    if is_label:
        texts = [name, *(text + marks for text, marks in cells)]
        size = max(map(len, texts))
        return [text.ljust(size) for text in texts]
    # Marks hang over on the right, so that the numbers stay aligned.
    size = max(len(name), *(len(text) for text, _ in cells), 0)
    overhang = max((len(marks) for _, marks in cells), default=0)
    return [text.rjust(size) + marks.ljust(overhang) for text, marks in [(name, ""), *cells]]


def _width(columns: Iterable[Column]) -> int:
    return sum(len(column[0]) + 2 for column in columns)


def _fold(heads: list[Column], groups: list[list[Column]], width: int) -> list[list[Column]]:
    """Split groups of columns into blocks that fit next to the row's labels."""
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
    """Cut the middle of long labels, where names differ least.

    If two labels would become equal, no label is cut.
    """
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
