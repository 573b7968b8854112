"""One table, five ways to write it: text, Markdown, LaTeX, CSV and HTML."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from ir_std._system.text import escape_line, latex_escape
from ir_std.analysis.estimate import Estimate
from ir_std.reporting.aligned_text import aligned_blocks

WIDTH = 100
"""Characters that a line of text may take; wider tables are folded into blocks."""
PAGE_ROWS = 45
"""Rows that fit on one page of a paper."""
BETTER, WORSE = "+", "-"
"""The marks of a difference that is significant."""


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
    """A number with ``places`` decimals, with all of them if that is -1; NaN is a dash."""
    if math.isnan(value):
        return "-"
    return f"{value:{sign}}" if places < 0 else f"{value:{sign}.{places}f}"


def signed_cell(value: float, places: int, extra: Mapping[str, float] | None = None) -> Cell:
    """A cell that holds a number with its sign; NaN is a dash."""
    return Cell(format_number(value, places, "+"), value, extra or {})


def interval_cell(
    mean: float,
    low: float,
    high: float,
    places: int,
    extra: Mapping[str, float] | None = None,
) -> Cell:
    """A cell that holds a difference and its interval; what is NaN is left out."""
    texts = [] if math.isnan(mean) else [format_number(mean, places, "+")]
    if not math.isnan(low):
        texts.append(f"[{format_number(low, places, '+')}, {format_number(high, places, '+')}]")
    return Cell(" ".join(texts) or "-", mean, {"low": low, "high": high, **(extra or {})})


def estimate_cell(estimate: Estimate, standardized: bool, places: int = 4) -> Cell:
    """The mean; standardized ones with the half-widths of their intervals."""
    mean = number_cell(estimate.mean, places)
    if not standardized:
        return mean
    low, high = estimate.interval
    parts = {"topics": estimate.topics, "systems": estimate.systems}
    halves = [
        f" ±{format_number(half, places)}"
        for half in parts.values()
        if not math.isnan(half + estimate.mean)
    ]
    return Cell(
        mean.text + "".join(halves),
        estimate.mean,
        {"low": low, "high": high, **parts, "n": estimate.n},
    )


def p_value_cell(p: float, adjusted: float | None = None, correction: str | None = "none") -> Cell:
    """A cell that shows a p-value, adjusted if it was, small ones as a bound; CSV holds both."""
    shown = p if adjusted is None else adjusted
    extra = {} if adjusted is None or correction == "none" else {correction or "holm": adjusted}
    return Cell("<.0001" if shown < 0.0001 else format_number(shown, 4), p, extra)


@dataclass(frozen=True, repr=False)
class Table:
    """Rows of cells below a header; printed, or shown in a notebook, as they are read.

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

    def __repr__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        return self.html()

    def text(self, width: int = WIDTH) -> str:
        """Aligned columns, at most ``width`` wide; more columns follow in further blocks.

        The best of a column carries a ``*``.
        """
        cells = [[(c.text, c.mark + "*" * c.best) for c in row] for row in self.rows]
        notes = list(self.notes)
        if any(cell.best for row in self.rows for cell in row):
            notes.insert(0, "* best of its column.")
        return "\n\n".join(
            [
                *aligned_blocks(self.header, cells, self.labels, self.groups, width),
                *(["\n".join(_wrapped(note, width) for note in notes)] if notes else []),
            ]
        )

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
        :data:`PAGE_ROWS` rows make a ``longtable``, which breaks across pages, with the notes
        behind it.
        """

        def write(cell: Cell) -> str:
            text = latex_escape(cell.text)
            return (rf"\textbf{{{text}}}" if cell.best else text) + (
                f"$^{{{cell.mark}}}$" if cell.mark else ""
            )

        columns = "l" * self.labels + "r" * (len(self.header) - self.labels)
        long = len(self.rows) > PAGE_ROWS
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

        extras = [
            list(dict.fromkeys(k for row in self.rows for k in row[i].extra))
            for i in range(len(self.header))
        ]
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(
            [
                _csv_value(text)
                for head, extra in zip(self.header, extras, strict=True)
                for text in (head, *(f"{head} {name}" for name in extra))
            ]
        )
        for row in self.rows:
            writer.writerow(
                [
                    _csv_value(v)
                    for cell, extra in zip(row, extras, strict=True)
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


def html_with_texts(table: Table, texts: Iterable[str]) -> str:
    """A table as a notebook shows it, and below it a paragraph for each text."""
    from html import escape

    return table.html() + "".join(f"<p>{escape(text)}</p>\n" for text in texts)


WRITERS: dict[str, Callable[[Table], str]] = {
    "table": Table.text,
    "markdown": Table.markdown,
    "latex": Table.latex,
    "csv": Table.csv,
}
"""How a table is printed, by the name of the output format."""


def _wrapped(note: str, width: int) -> str:
    from textwrap import fill

    return fill(note, width, subsequent_indent="  ", break_on_hyphens=False)


def _latex_row(cells: Iterable[str]) -> str:
    return " & ".join(cells) + r" \\"


def _markdown_escape(text: str) -> str:
    return "".join(f"\\{c}" if c in "\\|*_`<[&~$" else c for c in text)


_FORMULA = re.compile("[=+@\uff1d\uff0b\uff0d\uff20-].")
"""How spreadsheets' formulas begin, in characters of single or (as in Chinese text) full width."""


def _csv_value(value: float | str) -> str:
    if isinstance(value, str):
        # Spreadsheets take such a cell for a formula, even in quotes; behind ' it is text.
        return f"'{value}" if _FORMULA.match(value) else value
    if isinstance(value, int):
        return str(value)
    return "" if math.isnan(value) else repr(float(value))
