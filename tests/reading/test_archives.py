"""Archives of runs are read completely, or an error is reported."""

import bz2
import gzip
import io
import lzma
import struct
import tarfile
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from made_up import collection, write_runs

from ir_std import InputError
from ir_std.reading.archives import run_sources

PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
}


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """Make a tar file of seven runs."""
    with tarfile.open(tmp_path / "runs.tar", "w") as packed:
        packed.add(write_runs(collection()[1], tmp_path / "runs"), "runs")
    return tmp_path / "runs.tar"


def fourth(archive: Path) -> int:
    """Return the offset of the fourth run's header, after that of the folder."""
    with tarfile.open(archive) as packed:
        return packed.getmembers()[4].offset


def test_each_file_of_an_archive_is_a_run(archive: Path) -> None:
    assert sorted(source.name for source in run_sources([archive])) == [
        f"{archive}!runs/sys{i}" for i in range(7)
    ]


DAMAGES: dict[str, Callable[[bytes, int], bytes]] = {
    "a damaged header": lambda content, at: content[: at + 136] + b"x" + content[at + 137 :],
    "an empty header": lambda content, at: content[:at] + bytes(512) + content[at + 512 :],
    "cut in a header": lambda content, at: content[: at + 100],
    "cut between runs": lambda content, at: content[:at],
    "another archive behind it": lambda content, at: content[:at] + bytes(1024) + content[at:],
}


@pytest.mark.parametrize("suffix", ["", ".gz", ".bz2", ".xz"])
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_tar_file_loses_no_runs_in_silence(
    damage: Callable[[bytes, int], bytes], suffix: str, archive: Path
) -> None:
    content = damage(archive.read_bytes(), fourth(archive))
    path = archive.with_name(f"runs.tar{suffix}")
    path.write_bytes(PACKERS[suffix](content))
    message = rf"runs\.tar{suffix}: cannot be read \(damaged or cut off after runs/sys2\); copy"
    with pytest.raises(InputError, match=message):
        list(run_sources([path]))


def test_a_tar_file_that_is_cut_in_a_run_is_refused(archive: Path) -> None:
    archive.write_bytes(archive.read_bytes()[: fourth(archive) + 700])
    with pytest.raises(InputError, match=r"runs\.tar: cannot be read \([a-z ]+\); copy"):
        list(run_sources([archive]))


@pytest.mark.parametrize("suffix", [".gz", ".xz"])
def test_the_checksum_behind_a_packed_tar_file_is_checked(suffix: str, archive: Path) -> None:
    path = archive.with_name(f"runs.tar{suffix}")
    content = bytearray(PACKERS[suffix](archive.read_bytes()))
    content[-6 if suffix == ".gz" else -40] ^= 1
    path.write_bytes(content)
    with pytest.raises(InputError, match="cannot be read"):
        list(run_sources([path]))


SPARSE = {
    "GNU": {},
    "0.0": {"GNU.sparse.size": "9", "GNU.sparse.offset": "0", "GNU.sparse.numbytes": "9"},
    "0.1": {"GNU.sparse.map": "0,9"},
    "1.0": {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.realsize": "9"},
}


@pytest.mark.parametrize("form", SPARSE)
def test_a_tar_file_with_a_sparse_member_is_refused(form: str, tmp_path: Path) -> None:
    member = tarfile.TarInfo("run")
    member.size, member.pax_headers = 512, SPARSE[form]
    if form == "GNU":
        member.type = tarfile.GNUTYPE_SPARSE
    with tarfile.open(tmp_path / "runs.tar", "w", format=tarfile.PAX_FORMAT) as packed:
        packed.addfile(member, io.BytesIO(b"1\n0\n9\n".ljust(512, b"\0")))
    with pytest.raises(InputError, match="run is stored as a sparse file, so it is not text"):
        list(run_sources([tmp_path / "runs.tar"]))


ZIPPED = pytest.mark.parametrize(
    "method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]
)


def zipped(method: int, path: Path) -> bytearray:
    with zipfile.ZipFile(path, "w", method) as packed:
        packed.writestr("run", "1 Q0 d 1 2 t\n" * 9999)
    return bytearray(path.read_bytes())


@ZIPPED
def test_a_zip_file_is_read_however_it_is_packed(method: int, tmp_path: Path) -> None:
    zipped(method, tmp_path / "runs.zip")
    (source,) = run_sources([tmp_path / "runs.zip"])
    assert source.open().read() == b"1 Q0 d 1 2 t\n" * 9999


def restated(content: bytearray, field: int, change: int) -> bytes:
    """Return a zip file whose directory states a wrong number for its first member."""
    at = content.index(b"PK\x01\x02") + field
    struct.pack_into("<I", content, at, struct.unpack_from("<I", content, at)[0] + change)
    return bytes(content)


@ZIPPED
@pytest.mark.parametrize("field", [16, 24], ids=["CRC", "size"])
@pytest.mark.parametrize("change", [-1, 1, 1000])
def test_a_zip_file_with_a_wrong_checksum_or_size_is_refused(
    field: int, change: int, method: int, tmp_path: Path
) -> None:
    path = tmp_path / "runs.zip"
    path.write_bytes(restated(zipped(method, path), field, change))
    with pytest.raises(InputError, match=r"runs\.zip(!run)?: cannot be read \(.+\); c"):
        list(run_sources([path]))


@ZIPPED
@pytest.mark.parametrize("change", [-1, 1, 1000])
def test_a_zip_file_with_a_wrong_packed_size_never_gives_other_content(
    change: int, method: int, tmp_path: Path
) -> None:
    path = tmp_path / "runs.zip"
    path.write_bytes(restated(zipped(method, path), 20, change))
    with suppress(InputError):
        (source,) = run_sources([path])
        assert source.open().read() == b"1 Q0 d 1 2 t\n" * 9999


@pytest.mark.parametrize(
    ("name", "said"),
    [("none", "no such file"), ("empty", "holds no files"), ("empty.tar", "holds no files")],
)
def test_a_place_without_runs_is_reported(name: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with tarfile.open(tmp_path / "empty.tar", "w"):
        pass
    with pytest.raises(InputError, match=f"{name}: {said}"):
        list(run_sources([tmp_path / name]))
