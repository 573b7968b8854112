"""Open files, of text or bytes, and paths are accepted wherever a file name is."""

from __future__ import annotations

import os
from collections.abc import Callable
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import pytest
from ir_measures import AP
from made_up import by_topic, write_qrels

import ir_std
from ir_std import SP
from ir_std.testing import simulated_qrels, simulated_run
from ir_std.trec.files import write_run
from ir_std.trec.inputs import as_run

FORMS: dict[str, Callable[[Path], Any]] = {
    "a name": os.fspath,
    "a path": Path,
    "open for bytes": lambda path: path.open("rb"),
    "open for text": lambda path: path.open(encoding="utf-8"),
    "bytes in memory": lambda path: BytesIO(path.read_bytes()),
    "text in memory": lambda path: StringIO(path.read_text(encoding="utf-8")),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write qrels, two runs, and the scores of one of these as trec_eval prints them."""
    place = tmp_path_factory.mktemp("files")
    n_rel = ir_std.load_factors("trec8-adhoc").n_rel
    qrels = simulated_qrels(n_rel)
    write_qrels(qrels, place / "qrels.txt")
    for seed, name in enumerate(("a.run", "b.run")):
        write_run(as_run(simulated_run(qrels, seed, 100)), place / name)
    values = by_topic(ir_std.evaluate(place / "a.run", place / "qrels.txt", AP, ()), "a", AP)
    (place / "scores.txt").write_text(
        "".join(
            f"num_rel\t{t}\t{n_rel[t]}\nmap\t{t}\t{value:.4f}\n" for t, value in values.items()
        ),
        encoding="utf-8",
    )
    return place


@pytest.fixture(params=FORMS.values(), ids=list(FORMS))
def opened(request: pytest.FixtureRequest, folder: Path) -> Any:
    """Yield a function that opens a file in one of the forms; close it at the end."""
    given: list[Any] = []

    def give(name: str) -> Any:
        given.append(request.param(folder / name))
        return given[-1]

    yield give
    for one in given:
        if hasattr(one, "close"):
            one.close()


def test_runs_and_qrels_are_read(opened: Callable[[str], Any], folder: Path) -> None:
    expected = ir_std.calc_aggregate("AP", folder / "qrels.txt", folder / "a.run")
    assert len(expected) == 2
    assert ir_std.calc_aggregate("AP", opened("qrels.txt"), opened("a.run")) == expected
    results = ir_std.evaluate(
        {"a": opened("a.run"), "b": opened("b.run")}, opened("qrels.txt"), "AP"
    )
    assert results.means["a"] == expected
    assert [p.value for p in ir_std.place(opened("a.run"), opened("qrels.txt"), "AP")] == (
        pytest.approx(list(expected.values()))
    )
    assert ir_std.recognize(opened("qrels.txt")).factors is not None
    entries = [("a", opened("a.run"), opened("qrels.txt"))]
    assert ir_std.compare(entries, "AP").means["a"] == expected


def test_the_calls_of_ir_measures_measures_read_them(
    opened: Callable[[str], Any], folder: Path
) -> None:
    expected = ir_std.calc_aggregate(SP, folder / "qrels.txt", folder / "a.run", schemes="z")[SP]
    assert SP.calc_aggregate(opened("qrels.txt"), opened("a.run")) == pytest.approx(expected)


def test_factors_are_built_of_them(opened: Callable[[str], Any], folder: Path) -> None:
    built = ir_std.build_factors(
        opened("qrels.txt"), [opened("a.run"), opened("b.run")], "AP", id="own"
    )
    expected = ir_std.build_factors(
        folder / "qrels.txt", [folder / "a.run", folder / "b.run"], "AP", id="own"
    )
    assert built.mean["AP"].tolist() == expected.mean["AP"].tolist()


def test_scores_are_read(opened: Callable[[str], Any], folder: Path) -> None:
    (expected,) = ir_std.read_scores(folder / "scores.txt").values()
    (read,) = ir_std.read_scores(opened("scores.txt")).values()
    assert read.values == expected.values
    assert read.n_rel == expected.n_rel
    means = ir_std.evaluate(folder / "scores.txt", measures="AP").means["scores"]
    assert len(means) == 2
    assert list(ir_std.evaluate(opened("scores.txt"), measures="AP").means.values()) == [means]
    assert ir_std.evaluate({"a": opened("scores.txt")}, measures="AP").means["a"] == means
    assert [p.value for p in ir_std.place(opened("scores.txt"), measures="AP")] == (
        pytest.approx(list(means.values()))
    )


def test_runs_are_merged_into_dicts(opened: Callable[[str], Any], folder: Path) -> None:
    merged = ir_std.merge([opened("a.run"), opened("b.run")], "minmax")
    assert merged == ir_std.merge([folder / "a.run", folder / "b.run"], "minmax")
    assert ir_std.normalize(opened("a.run"), "minmax") == ir_std.normalize(
        folder / "a.run", "minmax"
    )
    assert isinstance(merged, dict)


def test_a_run_is_written(folder: Path) -> None:
    run = as_run(folder / "a.run")
    binary, text = BytesIO(), StringIO()
    write_run(run, binary)
    write_run(run, text)
    assert binary.getvalue() == text.getvalue().encode() == (folder / "a.run").read_bytes()
