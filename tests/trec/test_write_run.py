"""Runs that ir_std writes are complete, are read back equal, and have trec_eval's ranks."""

import gzip
import os
import stat
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pytest
from hypothesis import given, strategies as st

from ir_std import InputError
from ir_std.trec.files import read_run, write_run
from ir_std.trec.inputs import as_run

ONE = as_run({"q": {"a": 1.0}})

ids = st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"]), min_size=1, max_size=6)
scores = st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from(
    [0.0, -0.0, 1.0, 1 + 1e-12, 16777216.0, 16777217.0]
)
runs = st.dictionaries(
    ids.filter(lambda t: not t.startswith("#")),
    st.dictionaries(ids, scores, min_size=1),
    min_size=1,
    max_size=3,
)


def as_dict(run: Any) -> dict[str, dict[str, float]]:
    return {t: dict(zip(docs, s.tolist(), strict=True)) for t, (docs, s) in run.lists.items()}


@given(runs, st.sampled_from(["a.run", "a.run.gz"]))
def test_any_run_reads_back_equal(
    tmp_path_factory: pytest.TempPathFactory, run: Any, name: str
) -> None:
    file = tmp_path_factory.getbasetemp() / name
    write_run(as_run(run), file)
    assert as_dict(read_run(file)) == run


@given(runs)
def test_lines_are_in_the_order_of_trec_eval(
    tmp_path_factory: pytest.TempPathFactory, run: Any
) -> None:
    file = tmp_path_factory.getbasetemp() / "ordered.run"
    write_run(as_run(run), file)
    lines = [line.split(" ") for line in file.read_text(encoding="utf-8").splitlines()]
    for topic, docs in run.items():
        with np.errstate(over="ignore"):
            expected = sorted(docs, key=lambda d: (np.float32(docs[d]), d), reverse=True)
        assert [(line[2], line[3]) for line in lines if line[0] == topic] == [
            (doc, str(rank)) for rank, doc in enumerate(expected, 1)
        ]


def test_a_line_has_the_six_columns_that_ir_measures_reads(tmp_path: Path) -> None:
    write_run(as_run({"q": {"a": 0.1, "b": 2.0}}), tmp_path / "a.run", tag="mine")
    assert (tmp_path / "a.run").read_text() == "q Q0 b 1 2.0 mine\nq Q0 a 2 0.1 mine\n"
    assert list(ir_measures.read_trec_run(str(tmp_path / "a.run"))) == [
        ir_measures.ScoredDoc("q", "b", 2.0),
        ir_measures.ScoredDoc("q", "a", 0.1),
    ]


def test_gz_is_packed_and_the_same_bytes_each_time(tmp_path: Path) -> None:
    for name in ("a.gz", "b.gz"):
        write_run(ONE, tmp_path / name)
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.gz").read_bytes()) == b"q Q0 a 1 1.0 ir_std\n"


@pytest.mark.parametrize(
    ("run", "tag", "message"),
    [
        ({"q": {"a b": 1.0}}, "t", "document id 'a b'.*white space"),
        ({"q": {"": 1.0}}, "t", "document id ''"),
        ({"q 1": {"a": 1.0}}, "t", "topic id 'q 1'"),
        ({"#1": {"a": 1.0}}, "t", "topic id '#1'.*comment"),
        ({"q": {"\ud800": 1.0}}, "t", "surrogate"),
        ({"q": {"a": 1.0}}, "my tag", "tag 'my tag'"),
        ({"q": {}}, "t", "no documents"),
        ({}, "t", "no documents"),
    ],
)
def test_what_would_not_read_back_is_refused_and_nothing_is_touched(
    tmp_path: Path, run: Any, tag: str, message: str
) -> None:
    (tmp_path / "a.run").write_text("before")
    with pytest.raises(InputError, match=message):
        write_run(as_run(run), tmp_path / "a.run", tag=tag)
    assert [p.name for p in tmp_path.iterdir()] == ["a.run"]
    assert (tmp_path / "a.run").read_text() == "before"


def test_a_write_that_fails_leaves_the_older_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    (tmp_path / "a.run").write_text("before")
    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(InputError, match=r"a\.run: cannot be written \(No space left"):
        write_run(ONE, tmp_path / "a.run")
    assert [p.name for p in tmp_path.iterdir()] == ["a.run"]
    assert (tmp_path / "a.run").read_text() == "before"


def test_an_older_file_is_replaced_also_behind_a_link(tmp_path: Path) -> None:
    (tmp_path / "real.run").write_text("before")
    (tmp_path / "link.gz").symlink_to("real.run")
    write_run(ONE, tmp_path / "link.gz", tag="t")
    assert (tmp_path / "link.gz").is_symlink()
    assert gzip.decompress((tmp_path / "real.run").read_bytes()) == b"q Q0 a 1 1.0 t\n"


def test_a_written_file_has_the_usual_permissions(tmp_path: Path) -> None:
    (tmp_path / "usual").touch()
    write_run(ONE, tmp_path / "a.run")
    modes = {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("a.run", "usual")}
    assert len(modes) == 1


def test_a_run_cannot_be_written_to_a_folder_a_device_or_a_missing_folder(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for place in (tmp_path, tmp_path / "pipe"):
        with pytest.raises(InputError, match="not a regular file"):
            write_run(ONE, place)
    with pytest.raises(InputError, match=r"gone/a\.run: cannot be written"):
        write_run(ONE, tmp_path / "gone" / "a.run")
