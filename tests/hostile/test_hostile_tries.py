"""The hostile suite: 200 or 5,000 tries of all areas, and small files that unpack to large ones."""

import os
import sys
from pathlib import Path

import pytest
from bombs import BOMBS
from processes import run_process
from tries import AREAS, run_tries


@pytest.mark.parametrize(
    "tries", [200, pytest.param(5000, marks=pytest.mark.slow)], ids=["200", "5000"]
)
def test_tries_in_every_area(tries: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IR_STD_FACTORS", str(tmp_path))
    monkeypatch.setenv("IR_DATASETS_HOME", str(tmp_path / "ir_datasets"))
    monkeypatch.setenv("IR_DATASETS_LOG_LEVEL", "ERROR")
    counts = run_tries(tries, seed=34)
    assert counts.total() == tries
    assert counts.keys() == AREAS.keys()


SOON = {"a pax header in a tar.xz", "/dev/zero"}
"""Bombs of the fast suite."""
LATE = {"a sound run in a tar.xz"}
"""Bombs that need no test, because similar ones have a test."""


def when(name: str) -> list[pytest.MarkDecorator]:
    """Return the marks that decide which suite tries a bomb."""
    return [] if name in SOON else [pytest.mark.exhaustive if name in LATE else pytest.mark.slow]


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="limits are set as Linux does")
@pytest.mark.parametrize("name", [pytest.param(n, marks=when(n)) for n in BOMBS])
def test_no_small_file_takes_much_memory_or_time(name: str, tmp_path: Path) -> None:
    done = run_process(
        [sys.executable, Path(__file__).with_name("bombs.py"), name, tmp_path],
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    assert "memory ran out" not in done.stderr
    assert "IR_STD_FACTORS" not in done.stderr
    errors = [line for line in done.stderr.splitlines() if line.startswith("ir_std: error:")]
    assert len(errors) == ("sound" not in name or "in a" in name), done.stderr
