"""Sets are shared as packs, which are data only."""

from __future__ import annotations

import hashlib
import json
import sys
import threading
import warnings
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_up import collection

import ir_std
from ir_std import InputError, UsageError, build_factors
from ir_std.errors import UnknownSetError
from ir_std.factors import catalog, packs


@pytest.fixture(autouse=True)
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's data folder, empty."""
    monkeypatch.delenv("IR_STD_FACTORS", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path / "data" / "ir_std" / "factors"


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the data folder is another")
@pytest.mark.parametrize(
    ("given", "expected"),
    [("", "{}/home/.local/share"), (" ", "{}/home/.local/share"), ("{}/data", "{}/data")],
)
def test_sets_are_in_the_users_data_folder(
    given: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_DATA_HOME", given.format(tmp_path))
    base = Path(expected.format(tmp_path))
    assert catalog.data_folder() == base / "ir_std" / "factors"


@pytest.fixture
def packed(tmp_path: Path) -> Path:
    """A pack of a made-up set called ``mine``."""
    qrels, runs = collection()
    build_factors(qrels, runs, ["AP", "P@5"], id="mine", title="Mine").save(tmp_path / "mine")
    folder = tmp_path / "shelf"
    folder.mkdir()
    packs.pack(ir_std.load_factors(tmp_path / "mine"), folder / "mine.zip")
    return folder / "mine.zip"


def test_a_set_is_packed_added_found_and_removed(
    packed: Path, own: Path, ir_std_cli: Any, tmp_path: Path
) -> None:
    assert ir_std_cli("factors", "where").out == [str(own)]
    assert not own.exists()
    assert ir_std_cli("factors", "add", packed).out == [f"mine\t{own / 'mine'}"]
    for name in ("set.json", "topics.csv", "mean.csv", "sd.csv", "scores.npz", "systems.npz"):
        assert (own / "mine" / name).read_bytes() == (tmp_path / "mine" / name).read_bytes()
    assert sorted(p.name for p in own.iterdir()) == ["mine"]
    assert "mine" in ir_std.available_factors()
    match = ir_std.recognize(collection()[0])
    assert match.factors
    assert match.factors.id == "mine"
    assert ir_std_cli("factors", "remove", "mine").out == [f"mine\t{own / 'mine'}"]
    assert "mine" not in ir_std.available_factors()
    assert list(own.iterdir()) == []


def test_the_same_set_gives_the_same_pack(packed: Path, tmp_path: Path, ir_std_cli: Any) -> None:
    assert ir_std_cli("factors", "pack", tmp_path / "mine", "-o", tmp_path / "b.zip").status == 0
    assert (tmp_path / "b.zip").read_bytes() == packed.read_bytes()


def test_sets_go_to_the_first_folder_of_the_environment_variable(
    packed: Path, own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "first").mkdir()
    monkeypatch.setenv("IR_STD_FACTORS", str(tmp_path / "first"))
    assert packs.add(str(packed)).path == tmp_path / "first" / "mine"
    assert not own.exists()


def test_the_variables_folders_come_before_the_users(
    packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packs.add(str(packed))
    monkeypatch.setenv("IR_STD_FACTORS", str(tmp_path / "mine"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # two sets of one id: said elsewhere
        assert ir_std.load_factors("mine").path == tmp_path / "mine"


def test_a_set_is_not_added_twice(packed: Path) -> None:
    packs.add(str(packed))
    with pytest.raises(InputError, match="is there already; remove it first: ir_std factors rem"):
        packs.add(str(packed))


def test_only_ones_own_sets_are_removed(packed: Path) -> None:
    with pytest.raises(UnknownSetError, match="no set 'trec8-adhoc' of your own; you have none"):
        packs.remove("trec8-adhoc")
    added = packs.add(str(packed))
    assert added.path is not None
    (added.path / "diary.txt").write_text("dear diary")
    with pytest.raises(InputError, match=r"holds 'diary\.txt' beside a factor set"):
        packs.remove("mine")
    assert (added.path / "set.json").is_file()


def test_a_set_that_is_not_on_disk_cannot_be_packed(tmp_path: Path) -> None:
    qrels, runs = collection()
    built = build_factors(qrels, runs, ["AP"], id="mine")
    with pytest.raises(InputError, match="mine: is not on disk; save it first"):
        packs.pack(built, tmp_path / "mine.zip")
    assert not (tmp_path / "mine.zip").exists()


def test_a_set_goes_nowhere_where_nothing_can_be_written(
    packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("x")
    monkeypatch.setenv("IR_STD_FACTORS", str(tmp_path / "file" / "folder"))
    with pytest.raises(InputError, match="cannot be written"):
        packs.add(str(packed))


# -- packs from strangers ----------------------------------------------------------------------

Change = Callable[[dict[str, bytes]], object]


def repacked(
    packed: Path, change: Change, fix_hashes: bool = False, method: int = zipfile.ZIP_STORED
) -> Path:
    """A pack with some members changed."""
    with zipfile.ZipFile(packed) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    if fix_hashes:
        manifest = json.loads(members["mine/pack.json"])
        manifest["files"] = {
            name.removeprefix("mine/"): {
                "bytes": len(data),
                "sha256": hashlib.sha256(data).hexdigest(),
            }
            for name, data in members.items()
            if not name.endswith("pack.json")
        }
        members["mine/pack.json"] = json.dumps(manifest).encode()
    with zipfile.ZipFile(packed, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return packed


def renamed(id: str) -> Change:
    def change(members: dict[str, bytes]) -> None:
        manifest = json.loads(members["mine/pack.json"])
        members["mine/pack.json"] = json.dumps({**manifest, "id": id}).encode()

    return change


@pytest.mark.parametrize(
    ("change", "fix", "message"),
    [
        (
            lambda m: m.update({"mine/mean.csv": m["mine/mean.csv"].replace(b"0.", b"0.0")}),
            False,
            "its files are not what pack.json says",
        ),
        (lambda m: m.pop("mine/sd.csv"), False, "its files are not what pack.json says"),
        (lambda m: m.pop("mine/sd.csv"), True, "sd.csv is missing"),
        (lambda m: m.pop("mine/pack.json"), False, "has no pack.json"),
        (lambda m: m.update({"mine/pack.json": b"{}"}), False, "is not of format 1"),
        (lambda m: m.update({"mine/pack.json": b"[" * 100_000}), False, "nested too deeply"),
        (lambda m: m.update({"../evil": b"x"}), False, r"holds '\.\./evil'"),
        (lambda m: m.update({"/etc/evil": b"x"}), False, "holds '/etc/evil'"),
        (lambda m: m.update({"mine/run.py": b"x"}), False, r"holds 'mine/run\.py'"),
        (renamed("../mine"), False, r"name '\.\./mine'"),
        (renamed(".."), False, r"name '\.\.'"),
        (renamed("mine\n"), False, "letters, digits"),
        (lambda m: m.update({"mine/mean.csv": b"no table"}), True, "the set is not sound"),
        (lambda m: m.update({"mine/scores.npz": b"no zip"}), True, "the set is not sound"),
        (
            lambda m: m.update({"mine/set.json": m["mine/set.json"].replace(b'"mine"', b'"you"')}),
            True,
            "set.json says 'you'",
        ),
    ],
)
def test_packs_that_are_not_what_they_should_be_leave_nothing_behind(
    change: Change, fix: bool, message: str, packed: Path, own: Path
) -> None:
    with pytest.raises(InputError, match=message):
        packs.add(str(repacked(packed, change, fix)))
    assert not own.exists() or list(own.iterdir()) == []


@pytest.mark.parametrize(
    "method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]
)
def test_whichever_byte_is_damaged_a_pack_is_whole_or_refused(method: int, packed: Path) -> None:
    whole = packs.unpack(packed.read_bytes(), packed)
    repacked(packed, len, method=method)
    content = packed.read_bytes()
    refused = 0
    for place in np.random.default_rng(1).integers(0, len(content), 150).tolist():
        damaged = content[:place] + bytes([content[place] ^ 0x5A]) + content[place + 1 :]
        try:
            found = packs.unpack(damaged, packed)
        except InputError:
            refused += 1
        else:
            assert found == whole
    assert refused > 100


def test_a_pack_that_unpacks_to_more_than_a_set_is_refused_before_it_is_unpacked(
    packed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with zipfile.ZipFile(packed, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mine/means.npz", b"0" * (packs.LARGEST + 1))
    assert packed.stat().st_size < 1_000_000
    monkeypatch.setattr(zipfile.ZipFile, "read", lambda *_: pytest.fail("it was unpacked"))
    with pytest.raises(InputError, match="bytes when unpacked; a pack holds one"):
        packs.add(str(packed))


def test_a_pack_cannot_take_a_shipped_sets_place(packed: Path) -> None:
    def change(members: dict[str, bytes]) -> None:
        for name in list(members):
            members[name.replace("mine/", "trec8-adhoc/")] = members.pop(name)
        data = members["trec8-adhoc/pack.json"].replace(b'"mine"', b'"trec8-adhoc"')
        members["trec8-adhoc/pack.json"] = data

    with pytest.raises(InputError, match="as one that comes with ir_std"):
        packs.add(str(repacked(packed, change)))


def test_a_file_that_is_larger_than_a_pack_may_be_is_not_read(
    packed: Path, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = packed.stat().st_size
    monkeypatch.setattr(packs, "LARGEST", size - 1)
    with monkeypatch.context() as patched:
        patched.setattr(Path, "read_bytes", lambda _: pytest.fail("it was read"))
        with pytest.raises(InputError, match=rf"has more than {size - 1:,} bytes"):
            packs.add(str(packed))
    assert not own.exists()


def test_a_pack_may_be_as_large_as_the_bound(
    packed: Path, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with zipfile.ZipFile(packed) as archive:
        unpacked = sum(member.file_size for member in archive.infolist())
    monkeypatch.setattr(packs, "LARGEST", unpacked)
    assert packs.add(str(packed)).path == own / "mine"
    packs.remove("mine")
    monkeypatch.setattr(packs, "LARGEST", unpacked - 1)
    with pytest.raises(InputError, match=f"has more than {unpacked - 1:,} bytes when unpacked"):
        packs.add(str(packed))


def test_files_that_are_no_packs_are_told(tmp_path: Path) -> None:
    (tmp_path / "x.zip").write_bytes(b"no zip")
    with pytest.raises(InputError, match="is no zip file"):
        packs.add(str(tmp_path / "x.zip"))
    with pytest.raises(InputError, match="No such file"):
        packs.add(str(tmp_path / "y.zip"))


# -- registries --------------------------------------------------------------------------------


@pytest.fixture
def registry(packed: Path, ir_std_cli: Any) -> Path:
    """A folder with a pack and an index."""
    made = ir_std_cli("factors", "index", packed, "-o", packed.parent / "index.json")
    assert made.status == 0
    return packed.parent


@pytest.fixture
def served(registry: Path) -> Iterator[str]:
    """The registry at a URL of this machine."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(registry)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_a_registry_on_disk_serves_its_sets(registry: Path, own: Path) -> None:
    assert packs.add(f"{registry}#mine").path == own / "mine"
    packs.remove("mine")
    assert packs.add(f"{registry / 'index.json'}#mine").path == own / "mine"


def test_a_registry_at_a_url_serves_its_sets(
    served: str, own: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("pooch", reason="pooch is not installed")
    assert packs.add(f"{served}#mine").path == own / "mine"
    packs.remove("mine")
    assert packs.add(f"{served}/mine.zip").path == own / "mine"
    assert capsys.readouterr() == ("", "")


def test_a_set_that_the_registry_lacks_is_told(registry: Path) -> None:
    with pytest.raises(UnknownSetError, match="has no set 'min'; did you mean 'mine'"):
        packs.add(f"{registry}#min")


def test_a_pack_that_is_not_the_registrys_is_refused(
    registry: Path, served: str, own: Path
) -> None:
    with zipfile.ZipFile(registry / "mine.zip", "a") as archive:
        archive.comment = b"changed"
    for place in (str(registry), served):
        with pytest.raises(InputError, match=r"is not what|cannot be downloaded .*hash"):
            packs.add(f"{place}#mine")
    assert not own.exists()


@pytest.mark.parametrize("file", ["../mine.zip", "/tmp/mine.zip", "http://elsewhere/x.zip", None])
def test_a_registry_names_files_of_its_own_folder_only(file: object, registry: Path) -> None:
    index = json.loads((registry / "index.json").read_text())
    index["packs"]["mine"]["file"] = file
    (registry / "index.json").write_text(json.dumps(index))
    with pytest.raises(InputError, match="letters, digits"):
        packs.add(f"{registry}#mine")


def test_addresses_that_lead_nowhere_are_told(served: str) -> None:
    pytest.importorskip("pooch", reason="pooch is not installed")
    with pytest.raises(InputError, match="cannot be downloaded"):
        packs.add(f"{served}/other.zip")
    with pytest.raises(UsageError, match="http and https are read"):
        packs.add("ftp://127.0.0.1/x.zip")


def test_without_pooch_a_url_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(UsageError, match=r"pip install 'ir-std\[packs\]'"):
        packs.add("http://127.0.0.1:1/mine.zip")


def test_a_registry_that_gives_another_set_is_refused(registry: Path) -> None:
    index = json.loads((registry / "index.json").read_text())
    (registry / "index.json").write_text(
        json.dumps({**index, "packs": {"other": index["packs"]["mine"]}})
    )
    with pytest.raises(InputError, match="holds 'mine'; 'other' is expected"):
        packs.add(f"{registry}#other")


def test_downloads_end_where_packs_do(served: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pooch", reason="pooch is not installed")
    monkeypatch.setattr(packs, "LARGEST", 1000)
    with pytest.raises(InputError, match="is larger than 1000 bytes"):
        packs.add(f"{served}/mine.zip")


def test_an_index_lists_packs_of_its_own_folder(packed: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not beside"):
        packs.index([packed], tmp_path / "index.json")
    with pytest.raises(InputError, match="is mine again"):
        packs.index([packed, packed], packed.parent / "index.json")
