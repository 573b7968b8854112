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
    best: bool = False,
    mark: str = "",
    extra: Mapping[str, float] | None = None,
) -> Cell:
    """Make a cell of a number."""
    return Cell(format_number(value, places, sign), value, extra or {}, best, mark)


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


def estimate_cell(
    estimate: Estimate,
    places: int,
    sign: str = "",
    *,
    systems: bool = False,
    mark: str = "",
    extra: Mapping[str, float] | None = None,
) -> Cell:
    """Make the cell of a mean and the half-width of its interval over topics: ``0.693 ±0.063``.

    If ``systems`` is True, add the half-width over systems.  CSV holds the ends of the interval.
    """
    mean, halves = estimate.mean, [estimate.topics, *[estimate.systems] * systems]
    shown = [f" ±{format_number(half, places)}" for half in halves if not math.isnan(mean + half)]
    ends = dict(zip(("low", "high"), estimate.interval, strict=True))
    text = format_number(mean, places, sign) + "".join(shown)
    return Cell(text, mean, {**ends, **(extra or {})}, mark=mark)


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
        has_best = any(cell.best for row in self.rows for cell in row)
        notes = [*["* best in its column."] * has_best, *self.notes]
        lines = [fill(n, width, subsequent_indent="  ", break_on_hyphens=False) for n in notes]
        return "\n\n".join([*_aligned_blocks(self, width), *["\n".join(lines)] * bool(lines)])

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
        rows = [
            r"\toprule",
            _latex_row(map(latex_escape, self.header)),
            r"\midrule",
            *[r"\endhead"] * long,
            *(_latex_row(map(_LATEX.write, row)) for row in self.rows),
            r"\bottomrule",
        ]
        lines = _latex_environment(kind, f"{{{columns}}}", rows)
        notes = [latex_escape(note) for note in self.notes]
        packages = ["booktabs", *["longtable"] * long]
        if notes and long:
            paragraphs = [rf"\noindent {note}\par" for note in notes]
            lines += [r"\begingroup\footnotesize", *paragraphs, r"\endgroup"]
        elif notes:
            packages.append("threeparttable")
            items = [r"\footnotesize", *(rf"\item {note}" for note in notes)]
            below = _latex_environment("tablenotes", "[flushleft]", items)
            lines = _latex_environment("threeparttable", "", [*lines, *below])
        return "\n".join([rf"% \usepackage{{{','.join(packages)}}}", *lines])

    def csv(self) -> str:
        """Write comma-separated values at full precision, without notes and marks."""
        columns: list[list[float | str]] = []
        for i, head in enumerate(self.header):
            cells = [row[i] for row in self.rows]
            columns.append([head, *(cell.value for cell in cells)])
            names = dict.fromkeys(name for cell in cells for name in cell.extra)
            columns += [[f"{head} {n}", *(cell.extra.get(n, "") for cell in cells)] for n in names]
        out = StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerows(map(_csv_value, line) for line in zip(*columns, strict=True))
        return out.getvalue().rstrip("\n")

    def html(self) -> str:
        """Write a ``<table>``; the best value of a column is bold."""
        others = len(self.header) - self.labels
        sides = ["left"] * self.labels + ["right"] * others
        tags = ['th scope="row"'] * self.labels + ["td"] * others
        heads = ['th scope="col"'] * len(self.header)
        head = _html_row(heads, sides, map(html.escape, self.header))
        body = "\n".join(_html_row(tags, sides, map(_HTML.write, row)) for row in self.rows)
        table = f"<table>\n<thead>{head}</thead>\n<tbody>\n{body}\n</tbody>\n</table>\n"
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


def _html_row(tags: Sequence[str], sides: Sequence[str], texts: Iterable[str]) -> str:
    cells = [
        f'<{tag} style="text-align:{side}">{text}</{tag[:2]}>'
        for tag, side, text in zip(tags, sides, texts, strict=True)
    ]
    return f"<tr>{''.join(cells)}</tr>"


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


def _latex_environment(name: str, arguments: str, lines: Iterable[str]) -> list[str]:
    return [rf"\begin{{{name}}}{arguments}", *lines, rf"\end{{{name}}}"]


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


def _aligned_blocks(table: Table, width: int) -> list[str]:
    """Align columns in blocks that are at most ``width`` wide, if the columns allow it.

    Every block repeats the labels.  Without groups, each of the other columns is a group.
    """
    labels = table.labels
    columns = [
        _padded(name, [row[i] for row in table.rows], i < labels)
        for i, name in enumerate(table.header)
    ]
    heads, others = columns[:labels], columns[labels:]
    rest = iter(others)
    grouped = [list(islice(rest, size)) for size in table.groups or [1] * len(others)]
    widest = max((_width(group) for group in grouped), default=0)
    if width - widest < min(MIN_LABEL * labels, _width(heads)):
        widest = max(_width([column]) for column in others)
    if _width(heads) > width - widest:
        heads = [_shortened(c, (width - widest) // max(1, labels) - 2) for c in heads]
    return [_side_by_side([*heads, *block]) for block in _fold(heads, grouped, width)]


def _padded(name: str, cells: Sequence[Cell], is_label: bool) -> Column:
    texts = [name, *(cell.text for cell in cells)]
    marks = ["", *(cell.mark + "*" * cell.best for cell in cells)]
    size, overhang = max(map(len, texts)), max(map(len, marks))
    if is_label:
        return [text.ljust(size) for text in texts]
    # Marks hang over on the right, so that the numbers stay aligned.
    return [t.rjust(size) + m.ljust(overhang) for t, m in zip(texts, marks, strict=True)]


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
