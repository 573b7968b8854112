"""Tests of the limits on the content of small packed files, with lower bounds."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from ir_std import InputError, UsageError
from ir_std.reading import RUN, find_fault, lines, read_lines, unpacking
from ir_std.reading.archives import run_sources
from ir_std.reading.sources import FileSource
from ir_std.scores import files

FIVE = b"".join(b"%d Q0 d 1 2 t\n" % topic for topic in range(5))


@pytest.fixture
def packed(tmp_path: Path) -> Path:
    """Pack a run of five topics and lines."""
    (tmp_path / "run.gz").write_bytes(gzip.compress(FIVE))
    return tmp_path / "run.gz"


def count(path: Path, most: int, max_member: int | None = None) -> int:
    """Count the lines of a file that may have at most this number."""
    source = FileSource(path, max_member)
    return len(read_lines(source, RUN._replace(most=most)).ids)


def test_a_small_packed_file_has_a_bound_on_lines(packed: Path) -> None:
    assert count(packed, 5) == 5
    with pytest.raises(InputError, match=r"run\.gz: has more than 4 lines or .*; unpack it"):
        count(packed, 4)


def test_the_bound_on_lines_holds_where_a_fault_is_looked_for(packed: Path) -> None:
    packed.write_bytes(gzip.compress(FIVE + FIVE))
    assert "has document 'd' again" in str(find_fault(FileSource(packed), RUN))
    with pytest.raises(InputError, match="has more than 9 lines"):
        find_fault(FileSource(packed), RUN._replace(most=9))


def test_a_small_packed_file_has_a_bound_on_topics(
    packed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "MOST_TOPICS", 5)
    assert count(packed, 5) == 5
    monkeypatch.setattr(lines, "MOST_TOPICS", 4)
    with pytest.raises(InputError, match=r"has more than .* lines or 4 topics when unpacked"):
        count(packed, 5)


def test_lines_of_unpacked_and_of_larger_files_are_not_counted(
    packed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (packed.parent / "run").write_bytes(FIVE)
    assert count(packed.parent / "run", 1) == 5
    assert count(packed, 1, max_member=1000) == 5
    monkeypatch.setattr("ir_std.reading.sources.SMALL", packed.stat().st_size)
    assert count(packed, 1) == 5


@pytest.mark.parametrize("kind", ["tar", "zip"])
def test_lines_of_members_of_a_small_archive_are_counted(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"runs.{kind}"
    if kind == "zip":
        with zipfile.ZipFile(path, "w") as zipped:
            zipped.writestr("run", FIVE)
    else:
        with tarfile.open(path, "w") as archive:
            member = tarfile.TarInfo("run")
            member.size = len(FIVE)
            archive.addfile(member, io.BytesIO(FIVE))
    (source,) = run_sources([path])
    assert len(read_lines(source, RUN._replace(most=5)).ids) == 5
    with pytest.raises(InputError, match="!run: has more than 4 lines"):
        read_lines(source, RUN._replace(most=4))
    (source,) = run_sources([path], max_member=1000)
    assert len(read_lines(source, RUN._replace(most=1)).ids) == 5


def test_a_small_packed_file_has_a_bound_on_bytes_and_a_larger_one_on_its_ratio(
    packed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unpacking, "MIN_UNPACK_LIMIT", len(FIVE))
    assert count(packed, 5) == 5
    monkeypatch.setattr(unpacking, "MIN_UNPACK_LIMIT", len(FIVE) - 1)
    with pytest.raises(InputError, match=f"has more than {len(FIVE) - 1} bytes when unpacked"):
        count(packed, 5)
    size = packed.stat().st_size
    monkeypatch.setattr(unpacking, "SMALL", size)
    assert count(packed, 5) == 5
    monkeypatch.setattr(unpacking, "RATIO", 1)
    with pytest.raises(InputError, match=f"has more than {size} bytes when unpacked"):
        count(packed, 5)


def test_a_bound_below_one_byte_is_none(packed: Path) -> None:
    with pytest.raises(UsageError, match="max_member is 0; pass a number of bytes, at least 1"):
        list(run_sources([packed], max_member=0))


def test_a_small_packed_file_of_scores_has_a_bound_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scores = b"map\t1\t0.5\n"
    (tmp_path / "plain").write_bytes(scores)
    (tmp_path / "packed").write_bytes(gzip.compress(scores))
    monkeypatch.setattr(files, "MOST_PACKED", len(scores))
    assert len(files.read_scores(tmp_path / "packed")) == 1
    monkeypatch.setattr(files, "MOST_PACKED", len(scores) - 1)
    assert len(files.read_scores(tmp_path / "plain")) == 1
    with pytest.raises(InputError, match=r"packed: has more than 9 bytes when unpacked; unpack"):
        files.read_scores(tmp_path / "packed")
