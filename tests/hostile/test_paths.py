"""Places that the user may not read are reported as such, and not as missing."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from tries import small_set

from ir_std import FactorSet, InputError, load_factors
from ir_std.cli.streams import PROGRAM
from ir_std.factors import catalog


@pytest.fixture
def barred(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a folder that nobody may read, not even root, who runs some tests."""

    def refuse(function: Any) -> Any:
        def refusing(path: Any, *args: Any, **options: Any) -> Any:
            if str(path).startswith(f"{tmp_path / 'barred'}{os.sep}"):
                raise PermissionError(13, "Permission denied", str(path))
            return function(path, *args, **options)

        return refusing

    (tmp_path / "q").write_text("1 0 d 1\n")
    small_set("mine").save(tmp_path / "barred" / "mine.npz")
    for name in ("stat", "lstat", "open"):
        monkeypatch.setattr(os, name, refuse(getattr(os, name)))
    monkeypatch.setattr("io.open", refuse(open))
    return tmp_path / "barred"


def test_a_run_that_the_user_may_not_read_is_not_a_missing_file(
    barred: Path, ir_std_cli: Any
) -> None:
    result = ir_std_cli(barred / "run", barred.parent / "q", "AP")
    assert result.status == 2
    assert result.err == [
        f"{PROGRAM}: error: {barred / 'run'}: Permission denied; name a readable file"
    ]


def test_a_set_that_the_user_may_not_read_is_not_a_missing_set(barred: Path) -> None:
    with pytest.raises(InputError, match="Permission denied"):
        load_factors(barred / "mine.npz")


def test_sets_where_the_user_may_not_look_are_not_left_out_in_silence(barred: Path) -> None:
    with pytest.raises(InputError, match=r"barred: cannot be read \(Permission denied\)"):
        catalog._files_in(barred)


def test_a_set_that_cannot_be_removed_stays_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    small_set("mine").save(tmp_path / "own" / "mine.npz")
    monkeypatch.setenv("IR_STD_FACTORS", str(tmp_path / "own"))
    # In a folder that must not be changed.
    monkeypatch.setattr(Path, "unlink", refuse)
    with pytest.raises(InputError, match=r"cannot be removed \(Permission denied\)"):
        catalog.remove_set("mine")
    FactorSet.load(tmp_path / "own" / "mine.npz").verify()
    assert [path.name for path in (tmp_path / "own").iterdir()] == ["mine.npz"]
