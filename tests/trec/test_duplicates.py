"""Documents that a run has twice in a topic."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import ir_std
from ir_std.errors import InputError, StandardizationWarning, UsageError

QRELS: Any = {"1": {"d1": 1, "d2": 0}, "2": {"d1": 1}}
LINES = "1 Q0 d1 1 9 x\n1 Q0 d2 2 5 x\n1 Q0 d1 3 1 x\n2 Q0 d1 1 1 x\n"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    file = tmp_path / "run"
    file.write_text(LINES)
    return file


@pytest.mark.parametrize(("duplicates", "rr"), [("first", 1.0), ("last", 0.5)])
def test_the_first_or_the_last_counts_and_their_number_is_reported(
    run: Path, duplicates: str, rr: float
) -> None:
    frame = pd.DataFrame(
        [line.split() for line in LINES.splitlines()], columns=["qid", "_", "docno", "r", "s", "t"]
    ).assign(score=[9.0, 5.0, 1.0, 1.0])
    for given in (run, str(run), frame):
        with pytest.warns(StandardizationWarning, match="1 line left out because another line"):
            results = ir_std.evaluate(given, QRELS, "RR", (), duplicates=duplicates)
        (means,) = results.means.values()
        assert means["RR"] == (rr + 1) / 2


def test_without_a_choice_it_is_an_error_with_its_line(run: Path) -> None:
    with pytest.raises(InputError, match=r"run:3: topic 1 has document 'd1' again"):
        ir_std.evaluate(run, QRELS, "RR")
    with pytest.raises(UsageError, match=r"choice of duplicates 'frist'.*did you mean 'first'"):
        ir_std.evaluate(run, QRELS, "RR", duplicates="frist")


def test_other_faults_stay_errors(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("1 Q0 d1 1 nan x\n1 Q0 d1 1 2 x\n")
    with pytest.raises(InputError, match="score is 'nan'"):
        ir_std.evaluate(tmp_path / "run", QRELS, "RR", duplicates="first")


def test_a_set_is_built_with_the_first_or_last(run: Path, tmp_path: Path, ir_std_cli: Any) -> None:
    other, qrels = tmp_path / "other", tmp_path / "qrels"
    other.write_text("1 Q0 d1 1 1 x\n")
    qrels.write_text("1 0 d1 1\n1 0 d2 0\n2 0 d1 1\n")
    given = ("build", qrels, run, other, "-o", tmp_path / "mine.npz", "--measures", "RR")
    assert "run:3: topic 1 has document 'd1' again" in ir_std_cli(*given).err[-1]
    built = ir_std_cli(*given, "--duplicates", "last")
    assert any("run: 1 line left out because another line has" in line for line in built.err)
    assert ir_std.load_factors(tmp_path / "mine.npz").mean["RR"].tolist() == [0.75, 0.5]


def test_the_command_takes_the_choice(run: Path, tmp_path: Path, ir_std_cli: Any) -> None:
    (tmp_path / "qrels").write_text("1 0 d1 1\n1 0 d2 0\n2 0 d1 1\n")
    given = (run, tmp_path / "qrels", "RR", "-s", "none")
    assert ir_std_cli(*given, "--duplicates", "first").out == ["RR\t1.0000"]
    assert ir_std_cli(*given, "--duplicates", "last", "-o", "csv").out == ["run,RR", "run,0.75"]
    assert ir_std_cli(*given).status == 2


def test_runs_of_ms_marco_have_three_columns(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("1\td2\t1\n1\td1\t2\n2\td1\t1\n")
    assert ir_std.calc_aggregate("RR", QRELS, tmp_path / "run")["RR"] == 0.75
    (tmp_path / "bad").write_text("1\td2\t1\n1\td1\t0\n")
    with pytest.raises(
        InputError, match=r"bad:2: rank is '0'; expected a whole number of at least 1"
    ):
        ir_std.calc_aggregate("RR", QRELS, tmp_path / "bad")


def test_ms_marcos_runs_are_distinguished_from_scores(tmp_path: Path, ir_std_cli: Any) -> None:
    (tmp_path / "qrels").write_text("1 0 d1 1\n2 0 d1 1\n")
    (tmp_path / "run").write_text("1 d2 1\n1 d1 2\n2 d1 1\n")
    assert ir_std_cli(tmp_path / "run", tmp_path / "qrels", "RR", "-s", "none").out == [
        "RR\t0.7500"
    ]


def test_pyterriers_frames_are_runs_and_qrels() -> None:
    run = pd.DataFrame({"qid": ["1", "1", "2"], "docno": ["d2", "d1", "d1"], "score": [2.0, 1, 1]})
    qrels = pd.DataFrame({"qid": ["1", "2"], "docno": ["d1", "d1"], "label": [1, 1]})
    for measures in (["RR", "Success@1"], ["Compat(p=0.9)", "RR"]):
        scores = ir_std.calc_aggregate(measures, qrels, run)
        assert scores["RR"] == 0.75
    assert ir_std.evaluate(run, qrels, "RR", ()).means["run"]["RR"] == 0.75
    assert sum(v.value for v in ir_std.iter_calc("RR", qrels, run)) == 1.5
    records = run.to_dict("records")
    assert ir_std.calc_aggregate("RR", qrels.to_dict("records"), records)["RR"] == 0.75
    assert ir_std.evaluate(records, qrels, "RR", ()).means["run"]["RR"] == 0.75
