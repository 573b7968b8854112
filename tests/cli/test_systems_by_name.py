"""Systems of a factor set on the command line, alone and as entries of compare and report."""

import csv
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_up import write_scores
from scipy import stats

import ir_std
from ir_std.errors import UsageError
from ir_std.evaluation.placement import Placement
from ir_std.measures import parse_measure
from ir_std.scores.run_scores import RunScores

BM25 = "dl19-passage/bm25base_p"


pytestmark = pytest.mark.usefixtures("in_empty_folder")


def test_a_system_needs_no_file_at_all_and_no_network(
    ir_std_cli: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ir_datasets", None)  # importing it fails
    monkeypatch.setattr("socket.socket.connect", None)
    done = ir_std_cli(BM25, "nDCG@10")
    assert (done.status, done.out) == (0, ["nDCG@10\t0.5058", "snDCG@10\t0.3316"])
    assert done.err == [
        "ir_std: using dl19-passage (TREC 2019 Deep Learning passage ranking, 37 systems): "
        "judgments match on 43 of 43 topics; "
        "with fewer than 40 systems, standard deviations are imprecise"
    ]


def test_a_place_names_the_neighbours(ir_std_cli: Any) -> None:
    given = (BM25, "nDCG@10", "--place", "-s", "none")
    neighbours = "between bm25base_rm3_p, 32nd, and srchvrs_ps_run1, 34th"
    assert ir_std_cli(*given).out == [f"nDCG@10\t0.5058\t33rd of 37\t{neighbours}"]
    assert json.loads(ir_std_cli(*given, "-o", "jsonl").out[0])["neighbors"] == neighbours
    table = ir_std_cli(*given, "-o", "table").out
    assert f"bm25base_p for nDCG@10: {neighbours}." in "\n".join(table)


def test_neighbours_are_those_in_the_list_of_systems(ir_std_cli: Any) -> None:
    listed = ir_std_cli("factors", "systems", "dl19-passage", "nDCG@10").out
    header, *rows = [line.split("\t") for line in listed]
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
    known: Any = {"means": (0.1, 0.3, 0.3, 0.4), "names": ("a", "b", "c", "d")}
    placed = Placement(parse_measure("AP"), 0.5, "set", 1, 1, better, 4, among, tied, **known)
    assert placed.neighbours == text


def test_anonymous_systems_are_counted_and_are_no_neighbours(ir_std_cli: Any) -> None:
    for name, said in (("web10", "88 of 88"), ("robust04", "29 of 110")):
        listed = ir_std_cli("factors", "systems", name)
        assert f"{said} systems of {name} are anonymous" in "\n".join(listed.err)
        assert listed.out[0].startswith("system\ttopics\t")
    assert "between" not in ir_std_cli("web10/sys1", "AP", "--place", "--quiet").out[0]


@pytest.mark.slow
def test_means_over_different_datasets_are_reported(ir_std_cli: Any) -> None:
    done = ir_std_cli("factors", "systems", "mteb-retrieval", "nDCG@10")
    assert "systems have scores on different datasets" in "\n".join(done.err)
    assert done.out[0] == "system\tdatasets\tnDCG@10\tsnDCG@10"
    assert any(line.startswith("Qwen/Qwen3-Embedding-8B\t") for line in done.out)


def test_the_best_of_the_track_can_be_the_baseline(ir_std_cli: Any) -> None:
    done = ir_std_cli(BM25, "nDCG@10", "-o", "table", "--baseline", "best")
    assert done.status == 0
    assert "idst_bert_p1   0.7645*" in "\n".join(done.out)
    assert "worse than idst_bert_p1" in "\n".join(done.out)


def test_two_judgments_are_not_compared_by_scores_under_one(data: Path, ir_std_cli: Any) -> None:
    names = ("dl19-passage.txt", "judges/dl19-passage.umbrela-gpt4.txt")
    done = ir_std_cli("agree", *(data / "qrels" / name for name in names), BM25, "AP")
    assert done.status == 2
    assert "the scores use the judgments of dl19-passage, but" in done.err[-1]


def test_a_report_of_a_system_needs_no_file(tmp_path: Path, ir_std_cli: Any) -> None:
    pytest.importorskip("jinja2")
    assert ir_std_cli("report", BM25, "nDCG@10", "-o", "page.html").status == 0
    page = (tmp_path / "page.html").read_text()
    assert ", to which the runs belong." in page
    assert "</span> is 33rd of the 37 systems of its track: below average." in page


# --- for pipelines --------------------------------------------------------------------------------


@pytest.mark.parametrize(("run", "status"), [("bm25base_p", 1), ("idst_bert_p1", 0)])
def test_a_worse_run_fails_where_that_is_wanted(run: str, status: int, ir_std_cli: Any) -> None:
    options = ("nDCG@10", "-o", "csv", "--baseline", "dl19-passage/p_bert")
    done = ir_std_cli(f"dl19-passage/{run}", *options, "--fail-if-worse", "0.05")
    said = "\n".join(done.err)
    assert (done.status, len(done.out)) == (status, 3)
    assert ("is significantly worse than p_bert" in said) == bool(status)
    assert (", p < 0.001)" in said) == bool(status)
    assert ir_std_cli(f"dl19-passage/{run}", *options).status == 0


def test_the_level_of_failing_is_that_of_the_adjusted_p(ir_std_cli: Any) -> None:
    given = ["dl19-passage/ms_duet_passage", "dl19-passage/TUW19-p3-f", "nDCG@10", "-s", "none"]
    baseline = "dl19-passage/p_bert"
    values = [ir_std.system(name).values[ir_std.nDCG @ 10] for name in (*given[:2], baseline)]
    p = [stats.ttest_rel(list(v.values()), list(values[2].values())).pvalue for v in values[:2]]
    holm = min(p) * 2, max(p)  # the smallest is multiplied by the number of runs
    assert holm[0] < holm[1]
    for alpha, status in ((holm[0] * 0.99, 0), (holm[0] * 1.01, 1)):
        options = ["-o", "table", "--baseline", baseline, "--fail-if-worse", f"{alpha:.12g}"]
        assert ir_std_cli(*given, *options).status == status


# Entries of compare and report: files, folders, systems and labels.


CORT = "dl20-passage/CoRT-bm25"


def scores(file: Path, system: str) -> Path:
    """Write a system's scores to a file, in trec_eval's lines."""
    read = ir_std.system(system)
    return write_scores(read.n_rel, read.values[ir_std.AP], file)


def compared(ir_std_cli: Any, *arguments: str) -> dict[tuple[str, str], dict[str, str]]:
    """Return the rows of ``compare -o csv`` by system and collection."""
    done = ir_std_cli("compare", *arguments, "-o", "csv")
    assert done.status == 0, done.err
    return {(row["system"], row["collection"]): row for row in csv.DictReader(done.out)}


def test_systems_of_sets_are_compared_by_name(ir_std_cli: Any) -> None:
    rows = compared(ir_std_cli, BM25, f"dense={CORT}", "nDCG@10")
    assert list(rows) == [("bm25base_p", "dl19-passage"), ("dense", "dl20-passage")]
    assert float(rows["bm25base_p", "dl19-passage"]["nDCG@10"]) == pytest.approx(0.50583, abs=1e-5)


def test_models_keep_their_organizations_and_can_be_the_baseline(ir_std_cli: Any) -> None:
    models = ("mteb-retrieval/BAAI/bge-m3", "mteb-retrieval/intfloat/e5-base-v2")
    for baseline in (models[0], "BAAI/bge-m3"):
        rows = compared(ir_std_cli, *models, "nDCG@10", "--baseline", baseline)
        assert {system for system, _ in rows} == {"intfloat/e5-base-v2"}


def test_a_system_is_on_the_collection_of_its_sets_qrels(
    data: Path, runs_of: Any, ir_std_cli: Any
) -> None:
    run, qrels = runs_of("dl19-passage") / "TUW19-p3-f", data / "qrels" / "dl19-passage.txt"
    rows = compared(ir_std_cli, f"x={run}:{qrels}", "dl19-passage/p_bert", "AP")
    assert list(rows) == [("x", "dl19-passage"), ("p_bert", "dl19-passage")]
    given = (f"x={run}:{qrels}", "AP", "--baseline", "dl19-passage/p_bert")
    assert list(compared(ir_std_cli, *given)) == [("x", "dl19-passage")]


def test_the_best_of_each_collections_systems_can_be_the_baseline(ir_std_cli: Any) -> None:
    given = [f"x={BM25}", f"x={CORT}", "nDCG@10"]
    rows = compared(ir_std_cli, *given, "--baseline", "best")
    named = compared(ir_std_cli, *given, "b=dl19-passage/idst_bert_p1", "b=dl20-passage/pash_r3")
    assert [collection for _, collection in rows] == ["dl19-passage", "dl20-passage"]
    for (_, collection), row in rows.items():
        own, best = (float(named[system, collection]["nDCG@10"]) for system in ("x", "b"))
        assert float(row["nDCG@10"]) == pytest.approx(own - best)
    for baseline, status, said in (
        ("best", 0, "dl19-passage, pash_r3 on"),
        ("bset", 2, "choose from x, best; did you mean 'best'?"),
    ):
        done = ir_std_cli("compare", *given, "--baseline", baseline)
        assert done.status == status
        assert said in "\n".join(done.out + done.err)


def test_files_of_scores_need_no_name(tmp_path: Path, ir_std_cli: Any) -> None:
    scores(tmp_path / "bm25.eval", BM25)
    scores(tmp_path / "cort.eval", CORT)
    assert list(compared(ir_std_cli, "bm25.eval", "x=cort.eval", "AP")) == [
        ("bm25.eval", "dl19-passage"),
        ("x", "dl20-passage"),
    ]


def test_a_folder_means_its_scores_and_files_of_one_name_mean_one_system(
    tmp_path: Path, ir_std_cli: Any
) -> None:
    for folder, systems in (
        ("one", (BM25, "dl19-passage/p_bert")),
        ("two", (CORT, "dl20-passage/1")),
    ):
        for name, system in zip(("a.eval", "b.eval"), systems, strict=True):
            scores(tmp_path / "all" / folder / name, system)
    rows = compared(ir_std_cli, "all", "AP")
    assert {system for system, _ in rows} == {"a.eval", "b.eval"}
    assert {collection for _, collection in rows} >= {"dl19-passage", "dl20-passage"}
    assert {system for system, _ in compared(ir_std_cli, "mine=all/one/a.eval", "AP")} == {"mine"}


def test_a_models_results_on_several_datasets_are_one_system(
    tmp_path: Path, ir_std_cli: Any
) -> None:
    folder = tmp_path / "results" / "me__mine"
    folder.mkdir(parents=True)
    for task, value in {"SciFact": 0.68, "NFCorpus": 0.32}.items():
        scores = {"test": [{"ndcg_at_10": value, "hf_subset": "default"}]}
        result = {"task_name": task, "scores": scores}
        (folder / f"{task}.json").write_text(json.dumps(result))
    (folder / "model_meta.json").write_text('{"name": "me/mine"}')
    rows = compared(ir_std_cli, "results", "nDCG@10")
    assert list(rows) == [("me/mine", "mteb-retrieval")]
    assert rows["me/mine", "mteb-retrieval"]["datasets"] == "2"


def test_a_collection_is_called_as_its_label_says(ir_std_cli: Any) -> None:
    rows = compared(ir_std_cli, f"a@DL 2019={BM25}", f"b={CORT}", "nDCG@10")
    assert list(rows) == [("a", "DL 2019"), ("b", "dl20-passage")]
    entries = [("a", BM25, None, "DL 2019"), ("b", CORT, None)]
    assert [*ir_std.compare(entries, "AP").collections] == ["DL 2019", "dl20-passage"]


def test_scores_of_one_set_are_distinguished_by_their_topics() -> None:
    whole = ir_std.system(BM25)
    topics = list(whole.topics)
    names, entries = [], []
    for some in (topics[:20], topics[20:]):
        values = {m: {t: v[t] for t in some} for m, v in whole.values.items()}
        entries.append(("a", RunScores("x", values, {t: whole.n_rel[t] for t in some}), None))
        numbers = [*map(int, some)]
        names.append(f"dl19-passage (topics {min(numbers)} to {max(numbers)})")
    assert [*ir_std.compare(entries, "AP").collections] == names


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ([("a", BM25, None, "x"), ("b", "dl19-passage/p_bert", None, "y")], "labels, x and y"),
        ([("a", BM25, None, "x"), ("a", CORT, None, "x")], "two collections have the label x"),
    ],
)
def test_labels_that_contradict_each_other_are_an_error(entries: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        ir_std.compare(entries, "AP")


def test_a_report_takes_the_same(tmp_path: Path, ir_std_cli: Any) -> None:
    pytest.importorskip("jinja2")
    given = (f"a@DL 2019={BM25}", f"b={CORT}", "nDCG@10", "-o", "page.html")
    done = ir_std_cli("report", *given)
    assert done.status == 0
    assert "DL 2019" in (tmp_path / "page.html").read_text()
    assert "wrote page.html" in "\n".join(done.err)
