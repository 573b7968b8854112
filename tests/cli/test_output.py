"""Output is complete, or the program reports an error; hostile names are harmless."""

import csv
import io
import json
import re
import shutil
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from made_up import collection, write_qrels, write_runs
from processes import ENVIRONMENT, run_process
from sets import quick_first

from ir_std._system.text import escape_controls, escape_line, escape_unencodable
from ir_std.cli import main
from ir_std.factors.catalog import load_factors
from ir_std.reporting.tables import Table, label_cell, number_cell

HOSTILE = [
    "esc\x1b[31m",
    "csi\x9b31m",
    "tab\there",
    "line\nbreak",
    "return\r",
    "nul-free\x7f",
    "bidi\u202etxt",
    "=1+1",
    "+1",
    "-1+1",
    "@SUM(1)",
    "a|b",
    "[2em]x",
    "*x",
    "x\n\\input{/etc/passwd}",
    "<script>x</script>",
    "`x`",
    "\udcff\udce9",
    "日本語",
]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a folder that holds runs with hostile names, and the qrels."""
    folder = tmp_path_factory.mktemp("hostile")
    qrels, runs = collection()
    write_qrels(qrels, folder / "qrels")
    run = write_runs(dict(list(runs.items())[:1]), folder / "one") / "sys0"
    (folder / "runs").mkdir()
    for i, name in enumerate(HOSTILE):
        # The name of a file cannot contain a slash.
        shutil.copy(run, folder / "runs" / f"{name.replace('/', chr(0x2215))}-{i}")
    return folder


def run(
    files: Path, *options: str, stdout: str = "", **environment: str
) -> subprocess.CompletedProcess[bytes]:
    """Return a command that evaluates all runs, and whose output the shell redirects."""
    command = f'"$0" -m ir_std runs/* qrels AP "$@" {stdout}'
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", command, sys.executable, *options],
        cwd=files,
        env=ENVIRONMENT | environment,
        capture_output=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("redirected", "why"),
    quick_first([(">/dev/full", b"No space left on device"), (">&-", b"Bad file descriptor")]),
)
@pytest.mark.parametrize("unbuffered", quick_first(["", "1"]))
def test_output_that_cannot_be_written_is_one_line_and_status_2(
    files: Path, redirected: str, why: bytes, unbuffered: str
) -> None:
    done = run(files, "-q", stdout=redirected, PYTHONUNBUFFERED=unbuffered)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == (
        b"ir_std: error: standard output cannot be written (" + why + b")"
    )
    assert b"Traceback" not in done.stderr
    assert b"Exception ignored" not in done.stderr


def test_help_that_cannot_be_written_is_an_error(files: Path) -> None:
    assert run(files, "--help", stdout=">/dev/full").returncode == 2


@pytest.mark.slow
def test_notes_that_cannot_be_written_do_not_reach_the_results(files: Path) -> None:
    expected = run(files).stdout
    for redirected in ("2>&-", "2>/dev/full"):
        assert run(files, stdout=redirected).stdout == expected, redirected


@pytest.mark.parametrize(
    ("form", "environment"),
    quick_first(
        [
            *((form, {}) for form in ("tsv", "jsonl", "table", "markdown", "latex", "csv")),
            ("jsonl", {"PYTHONIOENCODING": "ascii"}),
            ("csv", {"PYTHONIOENCODING": "latin-1"}),
            ("html", {"PYTHONIOENCODING": "ascii"}),
            ("tsv", {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}),
        ]
    ),
)
def test_names_never_break_a_row_nor_reach_a_terminal(
    files: Path, form: str, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if environment:
        done = run(files, "-o", form, **environment)
        assert done.returncode == 0, done.stderr
        written = done.stdout
    else:
        monkeypatch.chdir(files)
        out = io.TextIOWrapper(io.BytesIO(), "utf-8")
        with redirect_stdout(out):
            assert main([*map(str, sorted(Path("runs").iterdir())), "qrels", "AP", "-o", form]) == 0
        written = out.buffer.getvalue()
    text = written.decode(environment.get("PYTHONIOENCODING", "utf-8"))
    assert not any(c in text for c in "\x1b\x9b\x7f\r\u202e")
    extra = {"tsv": 0, "jsonl": 0, "table": 2, "markdown": 2, "latex": 6, "csv": 1, "html": 3}[form]
    rows = [line for line in text.split("\n")[:-1] if line]
    assert len(rows) >= len(HOSTILE) + extra
    if form == "tsv":
        assert {len(line.split("\t")) for line in rows} == {4}
    if form == "jsonl":
        names = {json.loads(line)["run"] for line in rows}
        assert any(name.startswith("esc\x1b[31m") for name in names)
        assert len(names) == len(HOSTILE)
    if form == "csv":
        cells = [row[0] for row in csv.reader(io.StringIO(text))]
        assert not any(cell.startswith(("=", "+", "-", "@")) for cell in cells)
    if form == "html":
        assert re.sub(r"</?(table|thead|tbody|tr|th|td|strong)[^<>]*>", "", text).count("<") == 0
        assert re.search(r"&#\d+;", text)
    if form == "markdown":
        assert {line.replace("\\|", "").count("|") for line in rows if line[0] == "|"} == {3}


def test_a_warning_in_a_hostile_name_is_one_harmless_line(files: Path, ir_std_cli: Any) -> None:
    done = ir_std_cli("no\x1b[31m\x9b\nsuch", files / "qrels")
    assert done.status == 2
    assert len(done.err) == 1
    assert not set("\x1b\x9b") & set(done.err[0])


def compiled(table: Table, folder: Path) -> str:
    """Return pdflatex's messages for a document with a table and the packages it names."""
    latex = table.latex()
    packages = re.findall(r"^% (.*)", latex)
    programs = shutil.which("pdflatex") and shutil.which("kpsewhich")
    for package in re.findall(r"[a-z]+(?=[,}])", packages[0]):
        if not (programs and run_process(["kpsewhich", f"{package}.sty"]).stdout):
            pytest.skip(f"pdflatex with {package} is not installed")
    document = rf"\begin{{document}}{latex}\end{{document}}"
    lines = [r"\documentclass{article}", *packages, document, ""]
    (folder / "t.tex").write_text("\n".join(lines), encoding="utf-8")
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-recorder", "t.tex"],
        cwd=folder,
        capture_output=True,
        check=False,
    )
    said = done.stdout.decode(errors="replace")
    assert done.returncode == 0, said[-2000:]
    assert (folder / "t.pdf").is_file()
    return said


@pytest.mark.parametrize("times", [1, 3])
def test_latex_of_hostile_names_compiles_and_reads_no_file(tmp_path: Path, times: int) -> None:
    names = [name for name in HOSTILE if name.isascii() or not name.isprintable()]
    rows = [(label_cell(name), number_cell(0.5)) for name in [*names, *"\\~^&%$#_{}<>|±"]] * times
    table = Table(("run", "AP"), tuple(rows), notes=tuple(f"Worse than {n}." for n in names))
    compiled(table, tmp_path)
    assert "passwd" not in (tmp_path / "t.fls").read_text()


def test_a_long_latex_table_loses_no_row_at_the_end_of_a_page(tmp_path: Path) -> None:
    rows = tuple(
        (label_cell(f"run{i}"), number_cell(i / 200, best=i == 199, mark="+")) for i in range(200)
    )
    said = compiled(Table(("run", "AP"), rows, notes=("+ better.",)), tmp_path)
    assert "Overfull" not in said
    assert re.search(r"Output written on t.pdf \([4-9] pages", said)


def test_a_note_in_latex_is_part_of_the_table(tmp_path: Path) -> None:
    table = Table(
        ("run", "AP"), ((label_cell("bm25"), number_cell(0.5)),), notes=("Better & worse.",)
    )
    latex = table.latex()
    assert latex.index(r"\end{tabular}") < latex.index(r"\item Better \& worse.")
    assert latex.index(r"\item Better") < latex.index(r"\end{threeparttable}")
    assert not re.search("^%(?! .usepackage)", latex, re.MULTILINE)
    assert "Overfull" not in compiled(table, tmp_path)


def test_escapes_are_those_of_json() -> None:
    text = "a\x1b\x9b\u2028\ud800b"
    assert json.loads(f'"{escape_controls(text)}"') == text
    assert json.loads(f'"{escape_line("tab" + chr(9) + chr(10))}"') == "tab\t\n"
    assert escape_unencodable("é😀", "ascii") == "\\u00e9\\ud83d\\ude00"
    assert escape_unencodable("é", "utf-8") == escape_controls("é\t\n")[0] == "é"


def test_a_file_of_other_origin_is_replaced_by_force_only(
    files: Path, tmp_path: Path, ir_std_cli: Any
) -> None:
    pytest.importorskip("jinja2", reason="jinja2 is not installed")
    page = tmp_path / "notes.html"
    page.write_text("my own notes")
    report = ("report", files / "one" / "sys0", files / "qrels", "AP", "-o", page)
    done = ir_std_cli(*report)
    assert done.status == 2
    assert "file exists and was not written by ir_std" in done.err[-1]
    assert "--force" in done.err[-1]
    assert page.read_text() == "my own notes"
    assert ir_std_cli(*report, "--force").status == 0
    assert ir_std_cli(*report).status == 0  # its own page


def test_names_that_are_not_ascii_are_the_same_in_a_c_locale(tmp_path: Path) -> None:
    qrels, runs = collection()
    write_qrels(qrels, tmp_path / "qrels")
    folder = write_runs(runs, tmp_path / "all")
    for i, name in enumerate(("d\u00e9.run", "b.run")):
        (folder / f"sys{i}").rename(tmp_path / name)
    built = []
    for locale in ({"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, {}):
        command = [sys.executable, "-m", "ir_std", "build", "qrels", "d\u00e9.run"]
        run_process(
            [*command, "b.run", "-o", "x.npz", "--measures", "AP", "--force"],
            cwd=tmp_path,
            env=ENVIRONMENT | locale,
            check=True,
        )
        built.append((tmp_path / "x.npz").read_bytes())
    assert built[0] == built[1]
    assert load_factors(tmp_path / "x.npz").systems == ("b.run", "d\u00e9.run")
