"""The patches for other libraries apply to the versions that they name, and work."""

import os
import re
import shutil
import sys
from importlib.metadata import version
from pathlib import Path

import ir_measures
import pytest
from made_up import collection, write_qrels, write_runs
from processes import run_process

import ir_std

UPSTREAM = Path(__file__).resolve().parent.parent / "docs" / "upstream"


@pytest.fixture
def patched(tmp_path: Path) -> Path:
    """Make a copy of ir_measures with the patch, and with the page's entry point of ir_std."""
    (patch,) = UPSTREAM.glob("ir_measures-*.patch")
    wanted = patch.name.split("-")[1]
    if not shutil.which("patch") or version("ir-measures") != wanted:
        pytest.skip(f"no program patch, or another ir_measures than {wanted}")
    source = Path(ir_measures.__file__).parent
    shutil.copytree(source, tmp_path / "ir_measures", ignore=shutil.ignore_patterns("__pycache__"))
    done = run_process(["patch", "-p1", "--fuzz=0", "-i", str(patch)], cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    page = (UPSTREAM / "README.md").read_text(encoding="utf-8")
    ((group, entry),) = re.findall(r'entry-points\."(.+?)"\]\n(\w+ = ".+?")', page)
    info = tmp_path / "plug_in-1.dist-info"
    info.mkdir()
    metadata = {"Metadata-Version": "2.1", "Name": "plug-in", "Version": "1"}
    (info / "METADATA").write_text("".join(f"{k}: {v}\n" for k, v in metadata.items()))
    (info / "entry_points.txt").write_text(f"[{group}]\n{entry}\n".replace('"', ""))
    return tmp_path


@pytest.mark.slow
def test_ir_measures_finds_the_standardized_measures_by_itself(
    patched: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    qrels, runs = collection()
    write_runs(runs, patched / "runs")
    write_qrels(qrels, patched / "qrels.txt")
    names = ["AP", "sAP", "snDCG@10"]
    ir_std.build_factors(qrels, runs, ["AP", "nDCG@10"], id="mine").save(patched / "mine.npz")
    monkeypatch.setenv("IR_STD_FACTORS", str(patched))
    run = next((patched / "runs").iterdir())
    done = run_process(
        [sys.executable, "-m", "ir_measures", "qrels.txt", str(run), *names],
        cwd=patched,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(patched), str(UPSTREAM.parents[1])])},
        check=True,
    )
    printed = dict(line.split("\t") for line in done.stdout.splitlines())
    means = ir_std.calc_aggregate(names, patched / "qrels.txt", run)
    assert {name: float(value) for name, value in printed.items()} == pytest.approx(
        {name: means[name] for name in names}, abs=5e-5
    )
