"""-o trec_eval prints the same bytes as trec_eval 10.0."""

import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from processes import run_process

from ir_std.cli.output import trec_eval_name
from ir_std.measures import parse_measure

QRELS = """\
# judged by hand
q10 0 d1 1
q10 0 d2 0
q10 0 d3 2
q10 0 d4 1
q2 0 d1 0
q2 0 d5 1
q2 0 d6 -1
q3 0 d1 1
"""
RUN = """\
# a run
q2 Q0 d1 1 3.5 tag
q2 Q0 d5 2 3.5 tag
q2 Q0 d6 3 1.0 tag
q10 Q0 d3 1 9 tag
q10 Q0 d9 2 8 tag
  # within
q10 Q0 d4 3 7 tag
q10 Q0 d2 4 6 tag
q10 Q0 d8 5 5 tag
"""
OPTIONS = (
    "-q -m map -m gm_map -m 11pt_avg -m gm_bpref -m unj.5 -m rbp_resid "
    "-m iprec_at_recall.0.5 -m num_q -m num_ret"
)
PRINTED = """\
num_ret               	q10	5
map                   	q10	0.5556
iprec_at_recall_0.50  	q10	0.6667
11pt_avg              	q10	0.6970
rbp_resid             	q10	0.7461
unj_5                 	q10	0.4000
num_ret               	q2	3
map                   	q2	1.0000
iprec_at_recall_0.50  	q2	1.0000
11pt_avg              	q2	1.0000
rbp_resid             	q2	0.8100
unj_5                 	q2	0.2000
num_ret               	q3	0
map                   	q3	0.0000
iprec_at_recall_0.50  	q3	0.0000
11pt_avg              	q3	0.0000
rbp_resid             	q3	0.0000
unj_5                 	q3	0.0000
num_q                 	all	3
num_ret               	all	8
map                   	all	0.5185
gm_map                	all	0.0177
iprec_at_recall_0.50  	all	0.5556
gm_bpref              	all	0.0188
11pt_avg              	all	0.5657
rbp_resid             	all	0.5187
unj_5                 	all	0.2000
"""
"""Output of trec_eval 10.0-rc3 (commit f425365, built by its Makefile) with -c and OPTIONS."""


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels").write_text(QRELS)
    (tmp_path / "run").write_text(RUN)
    return tmp_path


@pytest.fixture
def trec_eval() -> str:
    """Return the path of trec_eval 10 from IR_STD_TREC_EVAL."""
    program = os.environ.get("IR_STD_TREC_EVAL") or shutil.which("trec_eval")
    if not program:
        pytest.skip("no trec_eval; build usnistgov/trec_eval 10 and name it in IR_STD_TREC_EVAL")
    version = run_process([program, "--version"])
    if "version 10" not in version.stdout + version.stderr:
        pytest.skip(f"{program} is not of version 10")
    return program


@pytest.mark.usefixtures("files")
def test_lines_are_those_that_trec_eval_printed(ir_std_cli: Any) -> None:
    given = ("run", "qrels", "-s", "none", "-o", "trec_eval")
    assert ir_std_cli(*given, *OPTIONS.split()).out == PRINTED.splitlines()
    lines = ir_std_cli(*given).out  # the official measures
    heads = [("runid", "tag"), ("num_q", "3"), ("num_ret", "8")]
    assert lines[:3] == [f"{name:22}\tall\t{value}" for name, value in heads]
    assert lines[-1] == f"{'P_1000':22}\tall\t0.0010"
    assert len(lines) == 30


@pytest.mark.parametrize(
    "options", ["", "-q", "-n -q -m recall -m P", "-M 100", "-l 2 -q -m map -m P", OPTIONS]
)
@pytest.mark.parametrize(("name", "tag"), [("dl19-passage", "p_bert"), ("trec8-adhoc", "uwmt8a0")])
def test_lines_are_those_of_trec_eval_itself(
    options: str, name: str, tag: str, trec_eval: str, data: Path, runs_of: Any, ir_std_cli: Any
) -> None:
    run, qrels = runs_of(name) / tag, data / "qrels" / f"{name}.txt"
    theirs = run_process([trec_eval, "-c", *options.split(), qrels, run], check=True)
    ours = ir_std_cli(run, qrels, "-s", "none", "-o", "trec_eval", *options.split())
    assert ours.out == theirs.stdout.splitlines()


@pytest.mark.slow
def test_all_runs_of_two_tracks_have_the_lines_of_trec_eval_itself(
    trec_eval: str, data: Path, runs_of: Any, ir_std_cli: Any
) -> None:
    """Evaluate the guide's 166 runs, four with scores that are equal in 32 bits."""
    runs = [run for name in ("dl19-passage", "trec8-adhoc") for run in runs_of(name).iterdir()]
    assert len(runs) == 166
    for run in runs:
        qrels = data / "qrels" / f"{run.parent.name}.txt"
        theirs = run_process([trec_eval, "-c", "-q", qrels, run], check=True)
        ours = ir_std_cli(run, qrels, "-s", "none", "-o", "trec_eval", "-q")
        assert ours.out == theirs.stdout.splitlines(), run


@pytest.mark.usefixtures("in_empty_folder")
def test_standardized_measures_follow_the_raw_ones(ir_std_cli: Any) -> None:
    done = ir_std_cli("dl19-passage/bm25base_p", "ndcg_cut_10", "map", "-o", "trec_eval")
    expected = {"map": 0.3773, "smap": 0.4049, "ndcg_cut_10": 0.5058, "sndcg_cut_10": 0.3316}
    assert done.out == [f"{name:22}\tall\t{value}" for name, value in expected.items()]


@pytest.mark.usefixtures("files")
def test_interpolated_precision_rounds_as_in_version_10(ir_std_cli: Any) -> None:
    given = ("run", "qrels", "-m", "iprec_at_recall.0.4", "-s", "none", "-q")
    # With three relevant documents, .4 is the first (1.2 rounded), or the second (rounded up).
    trec_eval, as_ir_measures = ir_std_cli(*given, "-o", "trec_eval"), ir_std_cli(*given)
    assert trec_eval.out[0] == "iprec_at_recall_0.40  \tq10\t1.0000"
    assert as_ir_measures.out[0] == "q10\tIPrec@0.4\t0.6667"


def test_scores_that_differ_beyond_32_bits_are_ordered_as_in_version_10(
    files: Path, ir_std_cli: Any
) -> None:
    """Check the order in 64 bits of version 10 (its commit dc0c991)."""
    (files / "qrels").write_text("q1 0 a 1\nq1 0 b 0\n")
    (files / "run").write_text("q1 Q0 b 1 16777216 x\nq1 Q0 a 2 16777217 x\n")
    for form, value in (("trec_eval", "1.0000"), ("tsv", "0.5000")):
        done = ir_std_cli("run", "qrels", "-m", "map", "-q", "-o", form, "-s", "none")
        assert {line.split("\t")[2] for line in done.out} == {value}


def test_several_runs_cannot_be_distinguished(files: Path, ir_std_cli: Any) -> None:
    (files / "other").write_text(RUN)
    done = ir_std_cli("run", "other", "qrels", "-o", "trec_eval")
    assert done.status == 2
    assert "-o trec_eval prints one run, got 2" in done.err[-1]


@pytest.mark.parametrize(
    ("measure", "name"),
    [
        ("AP(rel=2)", "map"),
        ("NumRet(rel=2)", "num_rel_ret"),
        ("RIPrec@0.1", "iprec_at_recall_0.10"),
        ("sP@10", "sP_10"),
        ("sAP(scheme='E')", "sAP(scheme='E')"),
        ("RBP(p=0.8)", "RBP"),
    ],
)
def test_measures_are_called_as_trec_eval_calls_them(measure: str, name: str) -> None:
    assert trec_eval_name(parse_measure(measure), 2).startswith(name)
