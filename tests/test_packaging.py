"""The wheel holds what the source checkout has."""

import inspect
import os
import subprocess
import sys
import typing
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from processes import run_process

import ir_std

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def installed(folder_made_once: Callable[[str, Callable[[Path], object]], Path]) -> Path:
    """Build and unpack the wheel."""
    pytest.importorskip("hatchling", reason="hatchling is not installed")

    def build(folder: Path) -> None:
        subprocess.run(
            [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
            cwd=ROOT,
            check=True,
            capture_output=True,
        )
        (wheel,) = folder.glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder / "site")

    return folder_made_once("wheel", build) / "site"


def run(installed: Path, code: str) -> str:
    environment = os.environ | {"PYTHONPATH": str(installed)}
    return run_process(
        [sys.executable, "-c", code], cwd=installed, env=environment, check=True
    ).stdout.strip()


@pytest.mark.slow
def test_the_wheel_is_typed_and_finds_its_own_factor_sets(installed: Path) -> None:
    code = (
        "import ir_std; print(ir_std.load_factors('trec8-adhoc').path, "
        "len(ir_std.available_factors()))"
    )
    path, count = run(installed, code).split()
    assert Path(path) == installed / "ir_std" / "_factors" / "trec8-adhoc.npz"
    assert int(count) == len(ir_std.available_factors())
    assert (installed / "ir_std" / "py.typed").is_file()


@pytest.mark.slow
def test_every_file_of_the_factor_sets_is_in_the_wheel(installed: Path) -> None:
    shipped = {
        p.relative_to(ROOT / "factors"): p.read_bytes()
        for p in (ROOT / "factors").rglob("*")
        if p.is_file()
    }
    inside = installed / "ir_std" / "_factors"
    assert shipped == {
        p.relative_to(inside): p.read_bytes() for p in inside.rglob("*") if p.is_file()
    }


@pytest.mark.slow
def test_pyterrier_finds_what_the_wheel_gives_it(installed: Path, tmp_path: Path) -> None:
    pytest.importorskip("pyterrier", reason="python-terrier is not installed")
    code = f"""
import os
os.environ["PYTERRIER_HOME"] = home = {str(tmp_path)!r}
import pyterrier as pt

print(pt.std.snDCG @ 10, pt.std.Experiment.__module__)
"""
    assert run(installed, code).splitlines()[0] == "snDCG@10 ir_std.pyterrier"


def public() -> list[Any]:
    """Return our public classes and functions, with their methods and properties."""
    own = [getattr(ir_std, name) for name in ir_std.__all__]
    own = [
        o
        for o in own
        if getattr(o, "__module__", "").startswith("ir_std")
        and (inspect.isclass(o) or inspect.isfunction(o))
    ]
    members = [m for o in own if inspect.isclass(o) for m in vars(o).values()]
    functions = [
        getattr(m, "fget", None) or getattr(m, "func", None) or getattr(m, "__func__", m)
        for m in members
    ]
    # NamedTuple generates functions in a separate module, in which no name is defined.
    return own + [
        f for f in functions if inspect.isfunction(f) and f.__module__.startswith("ir_std")
    ]


@pytest.mark.parametrize("thing", public(), ids=lambda thing: thing.__qualname__)
def test_type_hints_of_what_is_public_resolve(thing: Any) -> None:
    assert {*typing.get_type_hints(thing)} >= {*inspect.get_annotations(thing)}


def test_names_are_listed_once() -> None:
    for names in (ir_std.__all__, dir(ir_std)):
        assert len(names) == len(set(names))
        assert all(hasattr(ir_std, name) for name in names)


@pytest.mark.slow
def test_the_command_line_shows_no_warnings_of_libraries_that_python_compiles(
    tmp_path: Path,
) -> None:
    done = run_process(
        [sys.executable, "-m", "ir_std", "factors", "path", "trec4-adhoc"],
        env=os.environ | {"PYTHONPYCACHEPREFIX": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"},
        check=True,
    )
    assert done.stderr == ""
