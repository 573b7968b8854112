"""The wheel holds what the source checkout has."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import ir_std

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built and unpacked."""
    pytest.importorskip("hatchling", reason="hatchling is not installed")
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
                   cwd=ROOT, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


def run(installed: Path, code: str) -> str:
    environment = os.environ | {"PYTHONPATH": str(installed)}
    return subprocess.run([sys.executable, "-c", code], cwd=installed, env=environment,
                          check=True, capture_output=True, text=True).stdout.strip()


def test_the_wheel_finds_its_own_factor_sets(installed: Path) -> None:
    code = ("import ir_std; print(ir_std.load_factors('trec8-adhoc').path, "
            "len(ir_std.available_factors()))")
    path, count = run(installed, code).split()
    assert Path(path) == installed / "ir_std" / "_factors" / "trec8-adhoc"
    assert int(count) == len(ir_std.available_factors())


def test_every_file_of_the_factor_sets_is_in_the_wheel(installed: Path) -> None:
    shipped = {p.relative_to(ROOT / "factors"): p.read_bytes()
               for p in (ROOT / "factors").rglob("*") if p.is_file()}
    inside = installed / "ir_std" / "_factors"
    assert shipped == {p.relative_to(inside): p.read_bytes()
                       for p in inside.rglob("*") if p.is_file()}


def test_the_wheel_is_typed(installed: Path) -> None:
    assert (installed / "ir_std" / "py.typed").is_file()
