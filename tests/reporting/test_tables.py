"""One table in five forms."""

from __future__ import annotations

import csv
import io
import re

import pytest

from ir_std._system.text import guard_cell, latex_escape, unguard_cell
from ir_std.reporting.tables import PAGE_ROWS, Table, label_cell, number_cell

TABLE = Table(
    ("run", "AP", "sAP"),
    (
        (
            label_cell("bm25"),
            number_cell(0.25, best=True),
            number_cell(0.5, mark="-", extra={"p": 0.01}),
        ),
        (label_cell("a_b|c"), number_cell(0.125), number_cell(float("nan"))),
    ),
    notes=("Below & 5%.",),
)


def test_text_is_aligned_with_marks_next_to_the_figures() -> None:
    assert TABLE.text().splitlines() == [
        "run        AP      sAP",
        "-----------------------",
        "bm25   0.2500*  0.5000-",
        "a_b|c  0.1250        -",
        "",
        "* best in its column.",
        "Below & 5%.",
    ]


def test_markdown_escapes_what_would_break_the_table() -> None:
    assert TABLE.markdown().splitlines()[:4] == [
        "| run | AP | sAP |",
        "| :-- | --: | --: |",
        "| bm25 | **0.2500** | 0.5000 - |",
        "| a\\_b\\|c | 0.1250 | - |",
    ]


def test_a_note_in_markdown_is_not_a_list() -> None:
    assert Table(("run",), (), notes=("+ - marks",)).markdown().splitlines()[-1] == "\\+ - marks"


def test_names_that_fit_are_whole() -> None:
    table = Table(
        ("run", "topic", "AP"),
        ((label_cell("a"), label_cell("beir/cqadupstack/programmers-and-more"), number_cell(0.5)),),
        2,
        groups=(1,),
    )
    assert "beir/cqadupstack/programmers-and-more" in table.text(60)


@pytest.mark.parametrize("distinct", ["at the end", "in the middle"])
def test_long_names_lose_their_middle_only_where_they_stay_distinct(distinct: str) -> None:
    ends = ("one", "two") if distinct == "at the end" else ("one" + 60 * "x", "two" + 60 * "x")
    names = [60 * "x" + end for end in ends]
    rows = tuple((label_cell(name), number_cell(0.5)) for name in names)
    lines = Table(("run", "AP"), rows).text(60).splitlines()
    shown = [line.split()[0] for line in lines[2:]]
    if distinct == "at the end":
        assert all("..." in name for name in shown)
        assert [name[-3:] for name in shown] == ["one", "two"]
        assert max(map(len, lines)) <= 60
    else:
        assert shown == names


def test_latex_escapes_what_would_not_compile() -> None:
    text = TABLE.latex()
    assert r"a\_b\textbar{}c & 0.1250 & - \\" in text
    assert r"bm25 & \textbf{0.2500} & 0.5000$^{-}$ \\" in text
    assert latex_escape(r"\ ~^&%$#_{}") == (
        r"\textbackslash{} \textasciitilde{}\textasciicircum{}\&\%\$\#\_\{\}"
    )


def test_csv_reads_back_at_full_precision() -> None:
    third = Table(("run", "AP"), ((label_cell('a,"b"'), number_cell(1 / 3, 2)),))
    rows = list(csv.reader(io.StringIO(third.csv())))
    assert rows[0] == ["run", "AP"]
    assert rows[1][0] == 'a,"b"'
    assert float(rows[1][1]) == 1 / 3


def test_csv_holds_further_facts_in_columns_of_their_own() -> None:
    rows = list(csv.reader(io.StringIO(TABLE.csv())))
    assert rows == [
        ["run", "AP", "sAP", "sAP p"],
        ["bm25", "0.25", "0.5", "0.01"],
        ["a_b|c", "0.125", "", ""],
    ]


def test_html_escapes_names() -> None:
    assert "&lt;b&gt;" in Table(("run",), ((label_cell("<b>"),),)).html()


def wide(name: str) -> Table:
    measures = [f"{s}nDCG(dcg='exp-log2')@{k}" for k in (5, 10, 20, 100, 1000) for s in ("", "s")]
    return Table(
        ("run", *measures),
        tuple(
            (label_cell(f"{name}{i}"), *(number_cell(i / 7) for _ in measures)) for i in range(3)
        ),
        groups=(2,) * 5,
    )


@pytest.mark.parametrize("name", ["bm25-", "x" * 120])
def test_text_fits_100_columns_and_keeps_columns_that_belong_together(name: str) -> None:
    text = wide(name).text()
    assert max(map(len, text.splitlines())) <= 100
    assert all(len(block.splitlines()[0].split()) % 2 == 1 for block in text.split("\n\n"))


def test_every_block_names_its_rows() -> None:
    for block in wide("bm25-").text().split("\n\n"):
        names = [line.split()[0] for line in block.splitlines()[2:]]
        assert names == [f"bm25-{i}" for i in range(3)]


@pytest.mark.parametrize(("more", "kind"), [(0, "tabular"), (1, "longtable")])
def test_what_does_not_fit_on_a_page_is_a_long_table(more: int, kind: str) -> None:
    rows = tuple((label_cell(f"run{i}"), number_cell(0.5)) for i in range(PAGE_ROWS + more))
    assert f"\\begin{{{kind}}}" in Table(("run", "AP"), rows).latex()


@pytest.mark.parametrize("name", ["=1+1", "'=1+1", "''=1+1", "'a", "-", "\uff1d1+1", "it's"])
def test_the_guard_against_formulas_can_be_undone(name: str) -> None:
    assert unguard_cell(guard_cell(name)) == name
    assert not re.match("[=+@-].", guard_cell(name))
