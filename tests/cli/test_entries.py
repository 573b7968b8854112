"""Tests of the entries of compare and report, such as files, folders, systems and labels."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

import ir_std
from ir_std.cli import main
from ir_std.errors import UsageError
from ir_std.scores.run_scores import RunScores

BM25 = "dl19-passage/bm25base_p"
CORT = "dl20-passage/CoRT-bm25"


pytestmark = pytest.mark.usefixtures("in_empty_folder")


def scores(file: Path, system: str, measure: str = "AP") -> Path:
    """Write a file of trec_eval's lines with a system's scores."""
    read = ir_std.system(system)
    by_topic = read.values[ir_std.parse_measure(measure)]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(
        "".join(
            f"num_rel\t{t}\t{read.n_rel[t]}\nmap\t{t}\t{value:.4f}\n"
            for t, value in by_topic.items()
        )
    )
    return file


def compared(
    capsys: pytest.CaptureFixture[str], *arguments: str
) -> dict[tuple[str, str], dict[str, str]]:
    """Return the rows of ``compare -o csv`` by system and collection."""
    assert main(["compare", *arguments, "-o", "csv"]) == 0, capsys.readouterr().err
    rows = csv.DictReader(io.StringIO(capsys.readouterr().out))
    return {(row["system"], row["collection"]): row for row in rows}


def test_systems_of_sets_are_compared_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    rows = compared(capsys, BM25, f"dense={CORT}", "nDCG@10")
    assert list(rows) == [("bm25base_p", "dl19-passage"), ("dense", "dl20-passage")]
    assert float(rows["bm25base_p", "dl19-passage"]["nDCG@10"]) == pytest.approx(0.50583, abs=1e-5)


def test_a_system_is_on_the_collection_of_its_sets_qrels(
    data: Path, runs_of: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    run, qrels = runs_of("dl19-passage") / "TUW19-p3-f", data / "qrels" / "dl19-passage.txt"
    rows = compared(capsys, f"x={run}:{qrels}", "dl19-passage/p_bert", "AP")
    assert list(rows) == [("x", "dl19-passage"), ("p_bert", "dl19-passage")]
    given = ["compare", f"x={run}:{qrels}", "AP", "--baseline", "dl19-passage/p_bert"]
    assert main([*given, "-o", "csv"]) == 0
    (row,) = csv.DictReader(io.StringIO(capsys.readouterr().out.split("\n\n")[0]))
    assert row["system"] == "x"


def test_the_best_of_each_collections_systems_can_be_the_baseline(
    capsys: pytest.CaptureFixture[str],
) -> None:
    given = [f"x={BM25}", f"x={CORT}", "nDCG@10"]
    rows = compared(capsys, *given, "--baseline", "best")
    named = compared(capsys, *given, "b=dl19-passage/idst_bert_p1", "b=dl20-passage/pash_r3")
    assert [collection for _, collection in rows] == ["dl19-passage", "dl20-passage"]
    for (_, collection), row in rows.items():
        own, best = (float(named[system, collection]["nDCG@10"]) for system in ("x", "b"))
        assert float(row["nDCG@10"]) == pytest.approx(own - best)
    assert main(["compare", *given, "--baseline", "best"]) == 0
    assert "idst_bert_p1 on dl19-passage, pash_r3 on" in capsys.readouterr().out
    assert main(["compare", *given, "--baseline", "bset"]) == 2
    assert "choose from x, best; did you mean 'best'?" in capsys.readouterr().err


def test_files_of_scores_need_no_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scores(tmp_path / "bm25.eval", BM25)
    scores(tmp_path / "cort.eval", CORT)
    assert list(compared(capsys, "bm25.eval", "x=cort.eval", "AP")) == [
        ("bm25.eval", "dl19-passage"),
        ("x", "dl20-passage"),
    ]


def test_a_folder_means_its_scores_and_files_of_one_name_mean_one_system(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder, systems in (
        ("one", (BM25, "dl19-passage/p_bert")),
        ("two", (CORT, "dl20-passage/1")),
    ):
        for name, system in zip(("a.eval", "b.eval"), systems, strict=True):
            scores(tmp_path / "all" / folder / name, system)
    rows = compared(capsys, "all", "AP")
    assert {system for system, _ in rows} == {"a.eval", "b.eval"}
    assert {collection for _, collection in rows} >= {"dl19-passage", "dl20-passage"}
    assert {system for system, _ in compared(capsys, "mine=all/one/a.eval", "AP")} == {"mine"}


def test_a_models_results_on_several_datasets_are_one_system(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "results" / "me__mine"
    folder.mkdir(parents=True)
    for task, value in {"SciFact": 0.68, "NFCorpus": 0.32}.items():
        result = {
            "task_name": task,
            "scores": {"test": [{"ndcg_at_10": value, "hf_subset": "default"}]},
        }
        (folder / f"{task}.json").write_text(json.dumps(result))
    (folder / "model_meta.json").write_text('{"name": "me/mine"}')
    rows = compared(capsys, "results", "nDCG@10")
    assert list(rows) == [("me/mine", "mteb-retrieval")]
    assert rows["me/mine", "mteb-retrieval"]["datasets"] == "2"


def test_a_collection_is_called_as_its_label_says(capsys: pytest.CaptureFixture[str]) -> None:
    rows = compared(capsys, f"a@DL 2019={BM25}", f"b={CORT}", "nDCG@10")
    assert list(rows) == [("a", "DL 2019"), ("b", "dl20-passage")]
    entries = [("a", BM25, None, "DL 2019"), ("b", CORT, None)]
    assert [*ir_std.compare(entries, "AP").collections] == ["DL 2019", "dl20-passage"]


def test_scores_of_one_set_are_distinguished_by_their_topics() -> None:
    half = ir_std.system(BM25)
    topics = list(half.topics)
    parts = [
        RunScores(
            "x",
            {m: {t: v[t] for t in some} for m, v in half.values.items()},
            {t: half.n_rel[t] for t in some},
        )
        for some in (topics[:20], topics[20:])
    ]
    compared = ir_std.compare([("a", parts[0], None), ("a", parts[1], None)], "AP")
    assert tuple(compared.collections) == tuple(
        f"dl19-passage (topics {min(map(int, part.topics))} to {max(map(int, part.topics))})"
        for part in parts
    )


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ([("a", BM25, None, "x"), ("b", "dl19-passage/p_bert", None, "y")], "labels, x and y"),
        ([("a", BM25, None, "x"), ("a", CORT, None, "x")], "two collections have the label x"),
    ],
)
def test_labels_that_contradict_each_other_are_an_error(
    entries: list[tuple[str, str, None, str]], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        ir_std.compare(entries, "AP")


def test_a_report_takes_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("jinja2")
    given = [f"a@DL 2019={BM25}", f"b={CORT}", "nDCG@10", "-o", "page.html"]
    assert main(["report", *given]) == 0
    assert "DL 2019" in (tmp_path / "page.html").read_text()
    assert "wrote page.html" in capsys.readouterr().err
