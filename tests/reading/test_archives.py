"""Archives of runs: all that they hold, or an error."""

from __future__ import annotations

import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from made_up import collection, write_runs

from ir_std import InputError
from ir_std.reading import run_sources


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """A tar file of seven runs."""
    with tarfile.open(tmp_path / "runs.tar", "w") as packed:
        packed.add(write_runs(collection()[1], tmp_path / "runs"), "runs")
    return tmp_path / "runs.tar"


def fourth(archive: Path) -> int:
    """Where the header of the fourth run starts, after that of the folder."""
    with tarfile.open(archive) as packed:
        return packed.getmembers()[4].offset


def test_each_file_of_an_archive_is_a_run(archive: Path) -> None:
    assert sorted(source.name for source in run_sources([archive])) == [
        f"{archive}!runs/sys{i}" for i in range(7)
    ]


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda content, at: content[: at + 136] + b"x" + content[at + 137 :], "bad checksum"),
        (lambda content, at: content[: at + 100], "truncated header"),
        (lambda content, at: content[:at], "empty header"),
        (lambda content, at: content[: at + 700], "[a-z ]+"),  # in the words of this Python
    ],
    ids=["damaged header", "cut in a header", "cut between runs", "cut in a run"],
)
def test_a_tar_file_that_is_damaged_on_the_way_loses_no_runs_in_silence(
    damage: Callable[[bytes, int], bytes], message: str, archive: Path
) -> None:
    archive.write_bytes(damage(archive.read_bytes(), fourth(archive)))
    with pytest.raises(InputError, match=rf"runs\.tar: cannot be read \({message}\)"):
        list(run_sources([archive]))


def test_a_tar_file_without_runs_is_told(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "none.tar", "w"):
        pass
    with pytest.raises(InputError, match=r"none\.tar: holds no files"):
        list(run_sources([tmp_path / "none.tar"]))


@pytest.mark.parametrize(("name", "said"), [("none", "no such file"), ("empty", "holds no files")])
def test_a_place_without_runs_is_told(name: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=f"{name}: {said}"):
        list(run_sources([tmp_path / name]))
