"""Users' scripts pass mypy --strict, which finds the mistakes in scripts with mistakes."""

import doctest
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path

import ir_measures
import pytest
from processes import run_process

import ir_std

ROOT = Path(__file__).resolve().parent.parent
GUIDES = "".join(
    file.read_text(encoding="utf-8")
    for file in (ROOT / "README.md", *(ROOT / "docs").glob("how-to/*.md"))
    if file.name != "pyterrier.md"  # PyTerrier finds pt.std when it runs, and has no types
)
BLOCKS = re.findall(r"^```(?:python|pycon)\n(.*?)^```$", GUIDES, re.MULTILINE | re.DOTALL)

pytestmark = pytest.mark.slow

USUAL = """
import ir_std
from ir_std import AP, P, SP, Measure, nDCG, sAP, snDCG, sP

linear: ir_std.Standardized = sAP(scheme="U", A=1) @ 10
wide: Measure = nDCG(dcg="jk", rel=1)
total: Measure = SP @ 10
mean: float = ir_std.calc_aggregate("AP", "qrels.txt", "run.txt", factors="trec8-adhoc")["sAP"]
means, by_topic = ir_std.calc(nDCG @ 10, {}, {})
values: dict[str, float] = {one.query_id: float(one.value) for one in by_topic}
both = ir_std.evaluator(AP, ir_std.read_trec_qrels("qrels.txt")).calc_aggregate("run.txt")
standardized: float = both[sAP] + means[snDCG @ 10]
if both.match is not None and both.match.factors is not None:
    name: str = both.match.factors.id
results = ir_std.evaluate({"a": "a.run", "b": "b.run"}, "qrels.txt", [P @ 10], baseline="a",
                          factors=ir_std.load_factors("trec8-adhoc"))
score: float = results.means["b"]["sP@10"] - results.means["b"][sP @ 10]
p: float = results.differences["b"]["P@10"].p_adjusted
places: list[str] = [str(place) for place in ir_std.place("a.run", "qrels.txt", "AP")]
factors: ir_std.FactorSet = ir_std.build_factors("qrels.txt", "runs", "AP", id="mine")
"""

MISTAKES = """
import ir_std
ir_std.evaluatte
ir_std.sAPP
ir_std.calc_aggregate("AP", "qrels.txt")
ir_std.calc_aggregate("AP", "qrels.txt", "run.txt", factors=3)
ir_std.evaluate("run.txt", "qrels.txt", "AP", factor="trec8-adhoc")
"""


INSTEAD = {
    "nDCG": "ir_std.measures.objects._nDCG",
    "NDCG": "ir_std.measures.objects._nDCG",
    "calc": "schemes:",
    "evaluator": "schemes:",
    "calc_aggregate": "schemes:",
    "iter_calc": "schemes:",
    "parse_measure": "str | ",
    "read_trec_qrels": "PathLike",
    "read_trec_run": "PathLike",
}
"""Names of ir_measures that ir_std replaces, and how ir_std's types differ."""


def scripts() -> dict[str, str]:
    """Return the scripts by name."""
    parser = doctest.DocTestParser()
    snippets = ["".join(e.source for e in parser.get_examples(block)) or block for block in BLOCKS]
    names = sorted({*ir_std.__all__, *ir_measures.__all__} - {"__version__"})
    uses = [
        "from ir_std import *",
        "import ir_std",
        *(f"ir_std.{n}, {n}" for n in names),
        *(f"reveal_type(ir_std.{n})" for n in INSTEAD),
    ]
    return {f"snippet_{i}": text for i, text in enumerate(snippets)} | {
        "usual": USUAL,
        "mistakes": MISTAKES,
        "names": "\n".join(uses),
    }


CONFIG = """
[mypy]
[mypy-IPython.*,PIL.*,dask.*,jinja2.*,matplotlib.*,prompt_toolkit.*,requests.*,tornado.*,urllib3.*]
follow_imports = skip
"""
"""Imports of PyTerrier and dask.distributed, which would be most of mypy's input."""


@pytest.fixture(scope="session")
def told(
    folder_made_once: Callable[[str, Callable[[Path], object]], Path], pytestconfig: pytest.Config
) -> Callable[[str], list[str]]:
    """Return a function that lists mypy's messages on scripts with a name prefix."""
    pytest.importorskip("mypy", reason="mypy is not installed")

    def check(folder: Path) -> None:
        for name, text in scripts().items():
            (folder / f"{name}.py").write_text(text, encoding="utf-8")
        (folder / "mypy.ini").write_text(CONFIG, encoding="utf-8")
        # The cache keeps mypy's results for numpy and other libraries.
        cache = pytestconfig.cache.mkdir("mypy") if pytestconfig.cache else folder / "cache"
        # Other libraries are responsible for their own missing types.
        options = ["--disable-error-code=import-untyped", "--follow-imports=silent", "--strict"]
        options += [f"--untyped-calls-exclude={name}" for name in ("ir_measures", "distributed")]
        options += ["--config-file=mypy.ini", "--no-error-summary", f"--cache-dir={cache}"]
        files = [f"{name}.py" for name in scripts()]
        done = run_process(
            [sys.executable, "-m", "mypy", *options, *files],
            cwd=folder,
            env=os.environ | {"MYPYPATH": str(ROOT)},
        )
        assert done.stderr == ""
        (folder / "told.txt").write_text(done.stdout, encoding="utf-8")

    text = (folder_made_once("typed-scripts", check) / "told.txt").read_text(encoding="utf-8")
    return lambda name: [line for line in text.splitlines() if line.startswith(name)]


def test_snippets_of_the_guides_and_usual_calls_are_typed(told: Callable[[str], list[str]]) -> None:
    assert BLOCKS
    assert told("snippet_") == []
    assert told("usual.py") == []


def test_mistakes_are_found(told: Callable[[str], list[str]]) -> None:
    lines = MISTAKES.splitlines()
    found = [
        int(re.findall(r":(\d+): error", line)[0])
        for line in told("mistakes.py")
        if ": note:" not in line
    ]
    assert found == [i for i, line in enumerate(lines, 1) if line.startswith("ir_std.")]


def test_all_names_are_known_and_ours_are_not_taken_for_those_of_ir_measures(
    told: Callable[[str], list[str]],
) -> None:
    revealed = [line.partition("Revealed type is ")[2] for line in told("names.py")]
    pairs = zip(INSTEAD.items(), revealed, strict=True)
    assert [name for (name, ours), found in pairs if ours not in found] == []
