"""The command line with systems of a factor set, and what else a user of pipelines meets there."""

import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest
from processes import run_process
from scipy import stats

import ir_std
from ir_std.cli import main
from ir_std.evaluation.placement import Placement
from ir_std.measures import parse_measure

BM25 = "dl19-passage/bm25base_p"


pytestmark = pytest.mark.usefixtures("in_empty_folder")


def test_a_system_needs_no_file_at_all_and_no_network(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ir_datasets", None)  # importing it fails
    monkeypatch.setattr("socket.socket.connect", None)
    assert main([BM25, "nDCG@10"]) == 0
    caught = capsys.readouterr()
    assert caught.out == "nDCG@10\t0.5058\nsnDCG@10\t0.3316\n"
    assert caught.err == (
        "ir_std: using dl19-passage (TREC 2019 Deep Learning passage ranking, 37 systems): "
        "judgments match on 43 of 43 topics; "
        "fewer than 40 systems make standard deviations imprecise\n"
    )


def test_a_place_names_the_neighbours(capsys: pytest.CaptureFixture[str]) -> None:
    main([BM25, "nDCG@10", "--place", "-s", "none"])
    line = "nDCG@10\t0.5058\t33rd of 37\tbetween bm25base_rm3_p, 32nd, and srchvrs_ps_run1, 34th\n"
    assert capsys.readouterr().out == line
    main([BM25, "nDCG@10", "--place", "-s", "none", "-o", "jsonl"])
    row = json.loads(capsys.readouterr().out)
    assert row["neighbors"] == "between bm25base_rm3_p, 32nd, and srchvrs_ps_run1, 34th"


def test_a_table_of_few_runs_names_the_neighbours_below(capsys: pytest.CaptureFixture[str]) -> None:
    main([BM25, "nDCG@10", "--place", "-s", "none", "-o", "table"])
    out = capsys.readouterr().out
    assert "bm25base_p for nDCG@10: between bm25base_rm3_p, 32nd, and srchvrs_ps_run1, 34th." in out


def test_neighbours_are_those_in_the_list_of_systems(capsys: pytest.CaptureFixture[str]) -> None:
    main(["factors", "systems", "dl19-passage", "nDCG@10"])
    header, *rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert header == ["system", "topics", "nDCG@10", "snDCG@10"]
    names = [row[0] for row in rows]
    at = names.index("bm25base_p")
    assert (names[at - 1], names[at + 1]) == ("bm25base_rm3_p", "srchvrs_ps_run1")
    assert rows[at] == ["bm25base_p", "43", "0.5058", "0.3316"]
    scores = ir_std.load_factors("dl19-passage").scores["nDCG@10"]
    mine = np.array([float(row[2]) for row in rows])
    assert mine.mean() == pytest.approx(scores.mean(), abs=5e-5)
    assert len(rows) == scores.shape[1]


@pytest.mark.parametrize(
    ("better", "tied", "among", "text"),
    [
        (0, 0, False, "above d, 2nd"),
        (1, 0, False, "between d, 1st, and c, 3rd (tied with 1)"),
        (3, 0, True, "below b, 2nd (tied with 1)"),
        (1, 2, False, "between d, 1st, and a, 5th"),  # level with c and b
        (4, 0, False, "below a, 4th"),
    ],
)
def test_neighbours_in_words(better: int, tied: int, among: bool, text: str) -> None:
    placed = Placement(
        parse_measure("AP"),
        0.5,
        "set",
        1,
        1,
        better,
        4,
        among,
        tied,
        means=(0.1, 0.3, 0.3, 0.4),
        names=("a", "b", "c", "d"),
    )
    assert placed.neighbours == text


def test_anonymous_systems_are_reported(capsys: pytest.CaptureFixture[str]) -> None:
    main(["factors", "systems", "web10"])
    caught = capsys.readouterr()
    assert "88 of 88 systems of web10 are anonymous" in caught.err
    assert caught.out.startswith("system\ttopics\t")
    main(["web10/sys1", "AP", "--place", "--quiet"])
    assert "between" not in capsys.readouterr().out


def test_systems_without_a_name_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    main(["factors", "systems", "robust04"])
    assert "29 of 110 systems of robust04 are anonymous" in capsys.readouterr().err


@pytest.mark.slow
def test_means_over_different_datasets_are_reported(capsys: pytest.CaptureFixture[str]) -> None:
    main(["factors", "systems", "mteb-retrieval", "nDCG@10"])
    caught = capsys.readouterr()
    assert "systems have scores on different datasets" in caught.err
    assert caught.out.startswith("system\tdatasets\tnDCG@10\tsnDCG@10\n")
    assert "\nQwen/Qwen3-Embedding-8B\t" in caught.out


def test_the_best_of_the_track_can_be_the_baseline(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([BM25, "nDCG@10", "-o", "table", "--baseline", "best"]) == 0
    out = capsys.readouterr().out
    assert "idst_bert_p1   0.7645*" in out
    assert "worse than idst_bert_p1" in out


def test_two_judgments_are_not_compared_by_scores_under_one(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    people = data / "qrels" / "dl19-passage.txt"
    model = data / "qrels" / "judges" / "dl19-passage.umbrela-gpt4.txt"
    assert main(["agree", str(people), str(model), BM25, "AP"]) == 2
    assert "its scores use the judgments of dl19-passage, but" in capsys.readouterr().err


def test_a_report_of_a_system_needs_no_file(tmp_path: Path) -> None:
    pytest.importorskip("jinja2")
    assert main(["report", BM25, "nDCG@10", "-o", "page.html"]) == 0
    page = (tmp_path / "page.html").read_text()
    assert "the runs are systems of this set" in page
    assert "</span> is 33rd of the 37 systems of its track: below average." in page


# --- for pipelines --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("run", "status"), [("dl19-passage/bm25base_p", 1), ("dl19-passage/idst_bert_p1", 0)]
)
def test_a_worse_run_fails_where_that_is_wanted(
    run: str, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [run, "nDCG@10", "-o", "csv", "--baseline", "dl19-passage/p_bert"]
    assert main([*given, "--fail-if-worse", "0.05"]) == status
    caught = capsys.readouterr()
    assert caught.out.count("\n") == 3
    assert ("is significantly worse than p_bert" in caught.err) == bool(status)
    assert (", p < 0.001)" in caught.err) == bool(status)
    assert main(given) == 0


def test_the_level_of_failing_is_that_of_the_adjusted_p(capsys: pytest.CaptureFixture[str]) -> None:
    given = ["dl19-passage/ms_duet_passage", "dl19-passage/TUW19-p3-f", "nDCG@10", "-s", "none"]
    baseline = "dl19-passage/p_bert"
    values = [ir_std.system(name).values[ir_std.nDCG @ 10] for name in (*given[:2], baseline)]
    p = [stats.ttest_rel(list(v.values()), list(values[2].values())).pvalue for v in values[:2]]
    holm = min(p) * 2, max(p)  # the smallest is multiplied by the number of runs
    assert holm[0] < holm[1]
    for alpha, status in ((holm[0] * 0.99, 0), (holm[0] * 1.01, 1)):
        options = ["-o", "table", "--baseline", baseline, "--fail-if-worse", f"{alpha:.12g}"]
        assert main([*given, *options]) == status
    capsys.readouterr()


def test_nobody_reading_ends_it_silently_as_a_filter() -> None:
    done = run_process(
        ["bash", "-o", "pipefail", "-c", '"$0" -m ir_std "$@" -q | true', sys.executable, BM25],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    assert done.returncode in (0, 141)  # 0 where all was written before anybody was gone
    assert "error" not in done.stderr
    assert "Traceback" not in done.stderr
