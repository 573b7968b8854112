"""The examples in docstrings run, on files like those of a reader."""

import doctest
import importlib
import inspect
import pkgutil
import pydoc
import re
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest
from made_up import write_qrels

import ir_std
from ir_std.testing import simulated_qrels, simulated_run
from ir_std.trec.files import write_run
from ir_std.trec.inputs import as_run

MET_BY_USERS = """
    FactorSet Match Placement Results Scores Standardized available_factors build_factors
    build_from_scores calc calc_aggregate compare evaluate evaluator iter_calc load_factors merge
    normalize parse_measure place read_scores read_trec_qrels read_trec_run recognize standardize
    standardized
""".split()  # noqa: SIM905 - a list of names reads better so

MODULES = [
    "ir_std",
    *sorted(
        m.name
        for m in pkgutil.walk_packages(ir_std.__path__, "ir_std.")
        if not m.name.endswith("__main__")
    ),
]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write qrels with the counts of TREC-8 and DL 2020, runs, and scores of a run."""
    folder = tmp_path_factory.mktemp("files")
    for name, qrels_name, runs in (
        ("trec8-adhoc", "qrels.txt", ("bm25.run", "mono.run")),
        ("dl20-passage", "dl20.txt", ("dl20.run",)),
    ):
        judgments = ir_std.load_factors(name).judgments
        qrels = simulated_qrels({t: j.levels or j.n_rel for t, j in judgments.items()})
        write_qrels(qrels, folder / qrels_name)
        for seed, run in enumerate(runs):
            write_run(as_run(simulated_run(qrels, seed)), folder / run)
    by_topic = ir_std.calc("AP", folder / "qrels.txt", folder / "bm25.run").per_query
    (folder / "scores.txt").write_text(
        "".join(
            f"map\t{one.query_id}\t{one.value:.4f}\n"
            for one in by_topic
            if str(one.measure) == "AP"
        ),
        encoding="utf-8",
    )
    (folder / "AP.csv").write_text(
        "topic,a,b,c\n401,0.1,0.2,0.6\n402,0.3,0.2,0.1\n", encoding="utf-8"
    )
    return folder


@pytest.mark.parametrize("module", MODULES)
def test_examples_give_what_they_say(
    module: str, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(files)
    outcome = doctest.testmod(
        importlib.import_module(module),
        extraglobs={"ir_std": ir_std},
        optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE,
    )
    assert outcome.failed == 0


def test_no_example_is_skipped() -> None:
    folder = Path(ir_std.__file__).parent
    assert [file for file in folder.rglob("*.py") if "+SKIP" in file.read_text("utf-8")] == []


@pytest.mark.parametrize("name", [*MET_BY_USERS, "Placer", "StdProvider", "report.write_report"])
def test_what_users_meet_has_an_example(name: str) -> None:
    assert ">>> " in (inspect.getdoc(attrgetter(name)(ir_std)) or "")


def functions_of_the_reference(pages: str) -> dict[str, Any]:
    """Return the functions that the reference's pages show, by module and name."""
    names = re.findall(r"autofunction:: ir_std\.(?:(\S+)\.)?(\w+)", pages)
    for module, listed in re.findall(r"automodule:: ir_std\.(\S+)\n   :members:(.*)", pages):
        inside = importlib.import_module(f"ir_std.{module}")
        chosen = re.findall(r"\w+", listed) or getattr(inside, "__all__", None)
        own = [
            n
            for n, thing in vars(inside).items()
            if getattr(thing, "__module__", "") == inside.__name__
        ]
        names += [(module, name) for name in chosen or own]
    named = {f"{module}.{name}": thing_in(module, name) for module, name in names}
    return {
        name: thing
        for name, thing in named.items()
        if inspect.isfunction(thing) and "._" not in name
    }


def thing_in(module: str, name: str) -> Any:
    """Look up a name in a module; ``plots`` and ``report`` are names of the package."""
    if module in ("", "plots", "report"):
        return attrgetter(f"{module}.{name}".lstrip("."))(ir_std)
    return getattr(importlib.import_module(f"ir_std.{module}"), name)


def test_every_function_of_the_reference_has_an_example() -> None:
    pytest.importorskip("pyterrier", reason="python-terrier is not installed")
    docs = Path(__file__).parents[1] / "docs"
    pages = "".join(file.read_text("utf-8") for file in (docs / "reference").glob("*.md"))
    code = "".join(
        block
        for file in docs.rglob("*.md")
        for block in re.findall(r"(?s)```python\n(.*?)```", file.read_text("utf-8"))
    )
    functions = functions_of_the_reference(pages)
    assert len(functions) > 70
    missing = [
        name
        for name, function in functions.items()
        if ">>> " not in (inspect.getdoc(function) or "")
        and not re.search(rf"\b{name.rpartition('.')[2]}\b", code)
    ]
    assert missing == []


def test_the_package_says_what_it_holds_in_its_first_screens() -> None:
    text = pydoc.plain(pydoc.render_doc(ir_std))
    described = text[: text.index("PACKAGE CONTENTS")]
    missing = [name for name in MET_BY_USERS if name not in described]
    assert missing == []
    assert len(described.splitlines()) < 80
