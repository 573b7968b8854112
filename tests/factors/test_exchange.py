"""Sets that people exchange: a file is checked, added, found and removed."""

import hashlib
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from made_up import collection

import ir_std
from ir_std import InputError, UsageError, build_factors
from ir_std.errors import UnknownSetError
from ir_std.factors import catalog
from ir_std.factors.catalog import add_set, remove_set


@pytest.fixture(autouse=True)
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the user's data folder, empty."""
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
def shared(tmp_path: Path) -> Path:
    """Return the file of a made-up set called ``mine``."""
    qrels, runs = collection()
    file = tmp_path / "shelf" / "x.npz"
    build_factors(qrels, runs, ["AP", "P@5"], id="mine", title="Mine").save(file)
    return file


@pytest.fixture
def served(shared: Path) -> Iterator[str]:
    """Serve the file's folder at a URL of this machine."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    handler = partial(Quiet, directory=str(shared.parent))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def test_a_set_is_added_found_and_removed(shared: Path, own: Path, ir_std_cli: Any) -> None:
    assert ir_std_cli("factors", "add", shared).out == [f"mine\t{own / 'mine.npz'}"]
    assert "mine" in ir_std.available_factors()
    assert (own / "mine.npz").read_bytes() == shared.read_bytes()
    assert f"sha256\t{digest(shared)}" in ir_std_cli("factors", "show", "mine").out
    assert ir_std_cli("factors", "remove", "mine").out == [f"mine\t{own / 'mine.npz'}"]
    assert "mine" not in ir_std.available_factors()


def test_sets_go_to_the_first_folder_of_the_environment_variable(
    shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IR_STD_FACTORS", str(tmp_path / "team"))
    assert add_set(str(shared)).path == tmp_path / "team" / "mine.npz"


def test_a_set_is_not_added_twice(shared: Path) -> None:
    add_set(str(shared))
    with pytest.raises(InputError, match="exists already; remove it first with `ir_std factors re"):
        add_set(str(shared))


def test_only_ones_own_sets_are_removed(shared: Path) -> None:
    with pytest.raises(UnknownSetError, match="you have added none"):
        remove_set("trec8-adhoc")
    add_set(str(shared))
    with pytest.raises(UnknownSetError, match="did you mean 'mine'"):
        remove_set("mime")


def test_files_that_are_not_sets_of_ones_own_are_not_added(
    shared: Path, own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    qrels, runs = collection()
    content = bytearray(shared.read_bytes())
    content[len(content) // 2] ^= 1
    damaged, shipped = tmp_path / "damaged.npz", tmp_path / "shipped.npz"
    damaged.write_bytes(content)
    build_factors(qrels, runs, ["AP"], id="trec8-adhoc").save(shipped)
    with pytest.raises(InputError, match="cannot be read"):
        add_set(str(damaged))
    with pytest.raises(InputError, match="comes with ir_std already has the ID 'trec8-adhoc'"):
        add_set(str(shipped))
    monkeypatch.setattr(catalog, "LARGEST", 1000)
    with pytest.raises(InputError, match="has more than 1,000 bytes"):
        add_set(str(shared))
    assert not own.exists()


def test_a_url_is_added_if_it_has_the_sha256(
    served: str, shared: Path, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing, right = f"#sha256={'0' * 64}", f"#sha256={digest(shared)}"
    for address, error, says in (
        (f"{served}/x.npz", UsageError, r"has no SHA-256; write URL#sha256=HEX"),
        (f"{served}/x.npz{nothing}", InputError, f"has the SHA-256 {digest(shared)}; expected 0"),
        (f"{served}/other.npz{nothing}", InputError, "cannot be downloaded"),
        ("ftp://127.0.0.1/x.npz", UsageError, "only http and https are supported"),
    ):
        with pytest.raises(error, match=says):
            add_set(address)
    assert not own.exists()
    assert add_set(f"{served}/x.npz{right}").id == "mine"
    monkeypatch.setattr(catalog, "LARGEST", 1000)
    with pytest.raises(InputError, match="is larger than 1,000 bytes"):
        add_set(f"{served}/x.npz{right}")
