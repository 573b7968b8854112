"""Whether a factor set is sound, and what is wrong with it where."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_up import collection
from sets import each_set

from ir_std import build_factors, load_factors
from ir_std.factors.catalog import check_set


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    qrels, runs = collection()
    build_factors(qrels, runs, ["AP", "SP", "P@5", "RR"], id="x").save(tmp_path / "x")
    return tmp_path / "x"


@pytest.mark.parametrize("name", each_set())
def test_shipped_sets_are_sound(name: str) -> None:
    path = load_factors(name).path
    assert path is not None
    assert check_set(path) == []


def test_a_built_set_is_sound(folder: Path) -> None:
    assert check_set(folder) == []


def change_info(**fields: Any) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        info = json.loads((folder / "set.json").read_text())
        (folder / "set.json").write_text(json.dumps({**info, **fields}))

    return change


def change_arrays(file: str, **new: Any) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        with np.load(folder / file) as stored:
            arrays = {
                name: array.copy() for names, array in stored.items() for name in names.split(";")
            }
        np.savez(folder / file, **{**arrays, **{k: f(arrays[k]) for k, f in new.items()}})

    return change


def write_arrays(file: str, **arrays: Any) -> Callable[[Path], None]:
    return lambda folder: np.savez(folder / file, **arrays)


def with_cell(row: int, value: float) -> Callable[[Any], Any]:
    def change(array: Any) -> Any:
        array[row, 0] = value
        return array

    return change


def change_mean(value: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        lines = (folder / "mean.csv").read_text().splitlines()
        cells = lines[2].split(",")
        lines[2] = ",".join([cells[0], value, *cells[2:]])
        (folder / "mean.csv").write_text("\n".join(lines) + "\n")

    return change


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda folder: (folder / "sd.csv").unlink(), "sd.csv is missing"),
        (lambda folder: (folder / "means.npz").write_bytes(b"PK"), "means.npz: cannot be read"),
        (change_info(resolution="0.1"), 'set.json: resolution is "0.1"'),
        (change_info(default_measures=[1]), "set.json: default_measures is [1]"),
        (change_info(doc_id_pattern=3), "set.json: doc_id_pattern is 3"),
        (change_mean("0.123"), "mean.csv: AP of topic t1 is not that of the scores"),
        (change_mean(""), "sd.csv: AP of topic t1 is known where the mean is not"),
        (change_mean("inf"), "mean.csv: AP of topic t1 is infinite"),
        (change_mean("1.5"), "mean.csv: AP of topic t1 is outside 0 to 1.0"),
        (change_mean("x"), "mean.csv:3: AP of topic t1 is 'x'"),
        (change_info(depth=0), "set.json: depth is 0"),
        (change_info(resolution=-1), "set.json: resolution is -1"),
        (
            change_info(resolution=0.5),
            "scores.npz: AP of topic t0 and 5 more is not in steps of 0.5",
        ),
        (
            change_info(doc_id_pattern="(a+)+$"),
            "no pattern of document ids: '(a+)+$' is not allowed",
        ),
        (change_info(default_measures=["Foo"]), "measure 'Foo': unknown measure"),
        (change_arrays("scores.npz", AP=lambda a: a[:, ::-1]), "is not sorted"),
        (change_arrays("scores.npz", AP=lambda a: a[:, 1:]), "AP has shape (6, 6), (6, 7)"),
        (change_arrays("scores.npz", AP=with_cell(2, -np.inf)), "AP of topic t2 is infinite"),
        (change_arrays("systems.npz", AP=with_cell(1, 99)), "does not name every system once"),
        (
            change_info(tags=[f"sys{i}" for i in range(6)]),
            "systems.npz: AP has a system that tags do not name",
        ),
        (
            write_arrays("means.npz", **{"N:RR": [0.5, 0.4]}),
            "means.npz: N:RR is not finite and sorted",
        ),
        (write_arrays("means.npz", **{"raw:RR": [1.5]}), "means.npz: raw:RR is outside 0 to 1"),
        (
            write_arrays("means.npz", **{"raw:Bpref": [0.5]}),
            "means.npz: raw:Bpref is no scheme and",
        ),
        (write_arrays("means.npz", **{"raw:RR": [0.5] * 8}), "a mean for each of 7 systems"),
        (
            lambda folder: (folder / "scores.npz").write_bytes(b"no zip"),
            "scores.npz: cannot be read",
        ),
    ],
)
def test_problems_are_said_with_their_place(
    change: Callable[[Path], None], problem: str, folder: Path
) -> None:
    change(folder)
    assert any(problem in line for line in check_set(folder))


def test_topics_with_fewer_relevant_documents_than_were_found_are_wrong(folder: Path) -> None:
    lines = (folder / "topics.csv").read_text().splitlines()
    lines[1] = "t0,0" + "," * (lines[0].count(",") - 1)
    (folder / "topics.csv").write_text("\n".join(lines) + "\n")
    found = check_set(folder)
    assert len(found) == 4
    assert all("topics.csv: " in line and "higher than n_rel allows" in line for line in found)


def test_the_command_names_what_is_unsound(folder: Path, ir_std_cli: Any) -> None:
    assert [
        line
        for line in ir_std_cli("factors", "check", folder, "trec8-adhoc").out
        if "\tnote\t" not in line
    ] == [f"{folder}\tsound", "trec8-adhoc\tsound"]
    change_mean("0.5")(folder)
    failed = ir_std_cli("factors", "check", folder)
    assert failed.status == 2
    assert failed.out == [f"{folder}/mean.csv: AP of topic t1 is not that of the scores"]
    assert failed.err == [f"ir_std: error: not sound: {folder}; the problems are listed above"]
