"""Topics and documents on which two runs differ, against ir_measures."""

import csv
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import ir_datasets
import ir_measures
import pytest
from made_up import by_topic
from scipy.stats import ttest_rel
from views import data_of

import ir_std
from ir_std.errors import InputError, UsageError
from ir_std.reporting.diff import TopicDiff
from ir_std.trec.inputs import read_texts

Scored = dict[str, dict[str, float]]

RANKED_ALONE = ("P@5", "P(rel=2)@10", "R@10", "nDCG", "nDCG@10", "Judged@5")
"""Measures for which the other documents do not change what a document adds."""
SUMS = (
    *RANKED_ALONE,
    *("AP", "AP(rel=2)@8", "RR", "RR@10", "Rprec", "Bpref", "ERR@10", "nDCG(dcg='exp-log2')@10"),
)


@pytest.fixture(scope="module")
def judged() -> dict[str, dict[str, int]]:
    rng = random.Random(33)
    return {t: {f"d{i}": rng.choice([-1, 0, 0, 1, 2, 3]) for i in range(30)} for t in "12"}


@pytest.fixture(scope="module")
def runs() -> tuple[Scored, Scored]:
    """Make two unordered runs with ties and documents that nobody judged."""
    rng = random.Random(7)
    first, second = (
        {t: {f"d{i}": float(rng.randrange(8)) for i in rng.sample(range(40), 25)} for t in "12"}
        for _ in range(2)
    )
    return first, second


@pytest.fixture(scope="module")
def topics(runs: tuple[Scored, Scored], judged: Any) -> Callable[[str], list[TopicDiff]]:
    def on(measure: str) -> list[TopicDiff]:
        pair = ir_std.diff(*runs, judged, measure)
        return [pair.on(topic) for topic in "12"]

    return on


@pytest.mark.parametrize("measure", SUMS)
def test_what_documents_add_sums_to_the_difference_of_ir_measures_values(
    measure: str, topics: Any, runs: tuple[Scored, Scored], judged: Any
) -> None:
    parsed = ir_measures.parse_measure(measure)
    theirs = [
        {r.query_id: r.value for r in ir_measures.iter_calc([parsed], judged, run)} for run in runs
    ]
    for topic, name in zip(topics(measure), "12", strict=True):
        for i in (0, 1):
            adds = sum(d.adds[i] for d in topic.documents)
            assert adds == pytest.approx(theirs[i][name], abs=1e-9)
        difference = sum(d.difference for d in topic.documents)
        assert difference == pytest.approx(theirs[0][name] - theirs[1][name], abs=1e-9)


@pytest.mark.parametrize("measure", RANKED_ALONE)
def test_a_document_adds_what_is_lost_when_an_unjudged_one_takes_its_place(
    measure: str, topics: Any, judged: Any
) -> None:
    parsed = ir_measures.parse_measure(measure)

    def value(documents: list[str]) -> float:
        ranked = {"1": {d: -float(rank) for rank, d in enumerate(documents)}}
        only = {"1": judged["1"]}
        return float(ir_measures.calc_aggregate([parsed], only, ranked)[parsed])

    topic = topics(measure)[0]
    ranking = topic.rankings[0].documents
    for rank, document in enumerate(ranking):
        without = [*ranking[:rank], "nobody", *ranking[rank + 1 :]]
        lost = value(list(ranking)) - value(without)
        assert topic.document(document).adds[0] == pytest.approx(lost, abs=1e-9)


def test_what_a_document_adds_to_rbp_and_err_is_what_their_papers_say(
    topics: Any, judged: Any
) -> None:
    rbp, err = (topics(measure)[0] for measure in ("RBP(p=0.8,rel=2)", "ERR@10"))
    looking = 1.0
    for rank, document in enumerate(rbp.rankings[0].documents, 1):
        level = max(0, judged["1"].get(document, 0))
        gain = 0.2 * 0.8 ** (rank - 1) * (level >= 2)
        assert rbp.document(document).adds[0] == pytest.approx(gain, abs=1e-12)
        stops = (2**level - 1) / 16
        if rank <= 10:  # gdeval rounds the sum to five decimals
            assert err.document(document).adds[0] == pytest.approx(looking * stops / rank, abs=1e-5)
        looking *= 1 - stops


def test_what_a_document_adds_to_ap_and_rr_is_their_definition(topics: Any, judged: Any) -> None:
    for topic, name in zip(topics("AP"), "12", strict=True):
        found, n_relevant = 0, sum(level > 0 for level in judged[name].values())
        for rank, document in enumerate(topic.rankings[1].documents, 1):
            is_relevant = judged[name].get(document, 0) > 0
            found += is_relevant
            expected = found / rank / n_relevant if is_relevant else 0
            assert topic.document(document).adds[1] == pytest.approx(expected, abs=1e-12)
    for topic in topics("RR"):
        adding = [d for d in topic.documents if d.adds[0]]
        assert [d.adds[0] for d in adding] == [1 / adding[0].ranks[0]]


def test_rankings_have_levels_and_the_rank_in_the_other_run(
    topics: Any, runs: tuple[Scored, Scored], judged: Any
) -> None:
    topic = topics("nDCG@10")[0]
    for i in (0, 1):
        order = sorted(runs[i]["1"], key=lambda d: (runs[i]["1"][d], d), reverse=True)
        assert list(topic.rankings[i].documents) == order
    for d in topic.documents:
        assert d.level == judged["1"].get(d.document)
        for i in (0, 1):
            assert (d.ranks[i] is not None) == (d.document in runs[i]["1"])
    assert {d.level is None for d in topic.documents} == {True, False}
    assert topic._repr_html_().count("<table>") == 2
    cells = topic.table("rankings", ranks=1).rows[0]
    first = topic.document(topic.rankings[0].documents[0])
    assert cells[1].text == first.document
    assert cells[3].text == (str(first.ranks[1]) if first.ranks[1] else "-")


def test_rows_of_documents_sum_to_the_last_one(topics: Any) -> None:
    rows = topics("AP")[0].table("documents", ranks=3).rows
    assert [row[0].text for row in rows[3:]] == [rows[3][0].text, "all"]
    assert "more" in rows[3][0].text
    for column in (4, 5, 6):
        parts = sum(row[column].value for row in rows[:-1])
        assert parts == pytest.approx(rows[-1][column].value, abs=1e-12)


def test_a_measure_that_is_not_a_sum_says_so(topics: Any) -> None:
    topic = topics("Success@5")[0]
    assert not topic.is_sum
    assert "contributions of documents are unknown" in " ".join(topic.table("documents").notes)
    assert {row[4].text for row in topic.table("rankings").rows} == {"-"}


class Files(NamedTuple):
    bert: Path
    bm25: Path
    qrels: Path


@pytest.fixture(scope="module")
def files(data: Path, runs_of: Callable[[str], Path]) -> Files:
    folder = runs_of("dl19-passage")
    return Files(folder / "p_bert", folder / "bm25base_p", data / "qrels" / "dl19-passage.txt")


@pytest.fixture(scope="module")
def pair(files: Files) -> ir_std.RunDiff:
    return ir_std.diff(*files, "nDCG@10")


def test_topics_are_in_the_order_of_the_standardized_difference(
    pair: ir_std.RunDiff, files: Files
) -> None:
    results = ir_std.evaluate([files.bert, files.bm25], files.qrels, "nDCG@10")
    one, other = (by_topic(results, run, "snDCG@10") for run in results.runs)
    sizes = {t: abs(one[t] - other[t]) for t in one}
    assert [t.topic for t in pair.topics] == sorted(sizes, key=lambda t: -sizes[t])
    by_raw = sorted(pair.topics, key=lambda t: -abs(t.raw[0] - t.raw[1]))
    assert [t.raw_place for t in by_raw] == list(range(1, 44))
    table = pair.table(top=3)
    assert len(table.rows) == 4
    assert "<table>" in pair._repr_html_()
    assert "Topics with a large raw difference that are not in the table" in " ".join(table.notes)


def test_the_means_are_tested_and_what_the_test_would_find_is_given(files: Files) -> None:
    pair = ir_std.diff(*files, "nDCG@10")
    raw, standardized = pair.differences
    a, b = (pair.results.values[run]["nDCG@10"] for run in (pair.a, pair.b))
    assert raw.p == pytest.approx(ttest_rel(a, b).pvalue)
    notes = " ".join(pair.table().notes)
    assert f"Mean differences (paired t-test): nDCG@10 {raw.mean:+.3f} (p" in notes
    for d in (raw, standardized):
        assert d.significant or f"{d.measure} {d.detectable:.3f}" in notes


def test_means_that_disagree_in_sign_are_named(files: Files) -> None:
    folder = files.bert.parent
    pair = ir_std.diff(folder / "test1", folder / "p_exp_rm3_bert", files.qrels, "nDCG@10")
    (raw_a, raw_b), (std_a, std_b) = pair.means
    assert (raw_a - raw_b) * (std_a - std_b) < 0
    assert "the mean differences have opposite signs" in pair.disagreements[0]


def test_topics_at_an_end_of_the_scale_are_named(files: Files) -> None:
    pair = ir_std.diff(*files, "P@10", "E")
    equal = {t.topic for t in pair.topics if t.standardized[0] == t.standardized[1]}
    differ = {t.topic for t in pair.topics if t.raw[0] != t.raw[1]}
    named = " ".join(pair.disagreements)
    assert all((topic in named) == (topic in equal & differ) for topic in equal | differ)


@pytest.mark.parametrize("name", ["sP@10", "sP(scheme='E')@10", "sP(scheme='z')@10"])
def test_a_standardized_measure_is_the_one_asked_for(name: str, files: Files) -> None:
    asked = ir_std.diff(files.bert, files.bm25, files.qrels, name)
    assert str(asked.standardized) == name
    results = ir_std.evaluate([files.bert, files.bm25], files.qrels, name, schemes=())
    one, other = (by_topic(results, run, name) for run in results.runs)
    assert {t.topic: t.standardized for t in asked.topics} == {t: (one[t], other[t]) for t in one}


def test_without_factors_topics_are_in_the_order_of_the_raw_difference(
    runs: tuple[Scored, Scored], judged: Any
) -> None:
    pair = ir_std.diff(*runs, judged, "AP")
    assert pair.standardized is None
    assert [t.raw_place for t in pair.topics] == [1, 2]
    assert "AP has no factors" in " ".join(pair.table().notes)


def test_the_command_prints_topics_and_a_topics_tables(ir_std_cli: Any, files: Files) -> None:
    done = ir_std_cli("diff", *files, "nDCG@10", "--top", "2")
    assert done.status == 0
    assert done.out[0].split()[-2:] == ["raw", "place"]
    assert [line.split()[0] for line in done.out[2:5]] == ["1115776", "451602", "mean"]
    on = ir_std_cli("diff", *files, "nDCG@10", "--topic", "1063750", "--ranks", "2")
    shown = [" ".join(line.split()) for line in on.out]
    assert shown[2] == "1 4337526 2 44 0.1783 4164404 0 152 0.0000"
    assert shown[-1] == "all - - - 0.5999 0.0000 +0.5999"


def test_no_ranks_are_all_ranks(ir_std_cli: Any, files: Files) -> None:
    topic = ("diff", *files, "nDCG@10", "--topic", "1063750", "-o", "csv", "--table", "rankings")
    some, all_ = (ir_std_cli(*topic, "--ranks", n).out for n in ("5", "0"))
    assert len(some) == 1 + 5
    assert len(all_) > 900
    assert all_[: len(some)] == some


@pytest.fixture
def texts(tmp_path: Path) -> list[Any]:
    """Write the texts of a topic and a document; return the options that name the files."""
    (tmp_path / "queries.tsv").write_text("1063750\twhy did the us enter ww1\n", encoding="utf-8")
    (tmp_path / "docs.jsonl").write_text(
        '{"_id": "4337526", "title": "War", "text": "in  1917"}\n', encoding="utf-8"
    )
    return ["--queries", tmp_path / "queries.tsv", "--docs", tmp_path / "docs.jsonl"]


def test_json_holds_topics_rankings_and_texts(
    ir_std_cli: Any, files: Files, texts: list[Any]
) -> None:
    arguments = ("--topic", "1063750", "--ranks", "1", "-o", "json", "--top", "0")
    done = ir_std_cli("diff", *files, "AP", *arguments, *texts)
    found = json.loads("\n".join(done.out))
    assert (found["a"], found["standardized"], len(found["topics"])) == ("p_bert", "sAP", 43)
    (topic,) = found["rankings"]
    assert topic["query"] == "why did the us enter ww1"
    first = next(d for d in topic["documents"] if d["ranks"][0] == 1)
    assert (first["document"], first["level"], first["text"]) == ("4337526", 2, "War | in 1917")


def test_csv_holds_the_texts(ir_std_cli: Any, files: Files, texts: list[Any]) -> None:
    asked = ("diff", *files, "AP", "-o", "csv", *texts[:2])
    topics = [*csv.DictReader(ir_std_cli(*asked, "--top", "0").out)]
    assert len(topics) == 43 + 1
    assert [t["query"] for t in topics if t["topic"] == "1063750"] == ["why did the us enter ww1"]
    on = ("--topic", "1063750", "--ranks", "1", "--table", "documents")
    rows = csv.DictReader(ir_std_cli(*asked, *on, *texts[2:]).out)
    (first,) = (row for row in rows if row["rank A"] == "1")
    found = [first[name] for name in ("document", "level", "text")]
    assert found == ["4337526", "2", "War | in 1917"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("dl19-passage/idst_bert_p1",), "expected two runs, got 3"),
        (("P@10",), "expected one measure, got 2"),
        (("--topic", "nobody"), "topic 'nobody' does not have scores of both runs"),
        (("--topic", "1063750", "-o", "csv"), "-o csv prints one table; give one --topic"),
        (("--table", "rankings"), "--table rankings requires --topic T"),
        (("-s", "all"), "expected one scheme, got 4 ('all')"),
        (("--docs", "docs.tsv"), "--docs requires --topic T"),
        (("--docs", "/none.tsv", "--topic", "1063750"), "/none.tsv: No such file or directory"),
        (("--top", "-1"), "--top is -1; expected 0 (all) or more"),
    ],
)
def test_wrong_use_is_one_line(
    arguments: tuple[str, ...], message: str, ir_std_cli: Any, files: Files
) -> None:
    done = ir_std_cli("diff", *files, "AP", *arguments)
    assert (done.status, done.out) == (2, [])
    assert message in done.err[-1]


@pytest.mark.parametrize("place", [1, 2])
def test_a_binary_file_for_a_run_or_qrels_is_one_line(
    place: int, ir_std_cli: Any, files: Files, tmp_path: Path
) -> None:
    (tmp_path / "binary").write_bytes(bytes(range(256)))
    given = [*files]
    given[place] = tmp_path / "binary"
    done = ir_std_cli("diff", *given, "AP")
    assert (done.status, done.out, len(done.err)) == (2, [], 1)
    assert f"error: {tmp_path / 'binary'}" in done.err[0]


def test_a_system_of_a_set_has_topics_but_no_documents(files: Files) -> None:
    pair = ir_std.diff(files.bert, "dl19-passage/bm25base_p", files.qrels, "nDCG@10")
    assert len(pair.topics) == 43
    with pytest.raises(UsageError, match="bm25base_p is known only by its scores"):
        pair.on("1063750")


def test_texts_come_from_a_dict_or_lines(tmp_path: Path) -> None:
    assert read_texts({"a": "x\ty"}, ["a", "b"], "docs") == {"a": "x y"}
    file = tmp_path / "docs.tsv"
    file.write_text("a\tone\nb\ttitle\ttext\n", encoding="utf-8")
    assert read_texts(file, ["b"], "docs") == {"b": "title | text"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"z\tnothing\n", r"has no text for the docs a, only for IDs such as z"),
        (b"b\tfine\na text\n", ":2: no ID and text in 'a text'; write an ID, a tab"),
        (b'{"_id": "b"\n', ":1: no ID and text in"),
        (b'{"text": "b"}\n', ":1: no ID and text in"),
        (b"b\t\xff\n", ":1: bytes that are not UTF-8"),
        (b"", r"has no text for the docs a, because the file is empty"),
    ],
)
def test_a_file_without_texts_is_refused(content: bytes, message: str, tmp_path: Path) -> None:
    file = tmp_path / "docs.tsv"
    file.write_bytes(content)
    with pytest.raises(InputError, match=message):
        read_texts(file, ["a"], "docs")


@pytest.fixture
def registered(tmp_path: Path) -> Iterator[str]:
    """Register an ir_datasets dataset with documents and queries in local files."""
    for name, text in (("docs", "d1\tone passage\n"), ("queries", "1\twhat is one\n")):
        (tmp_path / name).write_text(text, encoding="utf-8")
    docs, queries = (
        ir_datasets.util.LocalDownload(tmp_path / name) for name in ("docs", "queries")
    )
    ir_datasets.registry.register(
        "ours/texts",
        ir_datasets.Dataset(
            ir_datasets.formats.TsvDocs(docs, namespace="ours", lang="en"),
            ir_datasets.formats.TsvQueries(queries, namespace="ours", lang="en"),
        ),
    )
    yield "ours/texts"
    del ir_datasets.registry._registered["ours/texts"]


def test_texts_come_from_ir_datasets(registered: str) -> None:
    assert read_texts(registered, ["d1"], "docs") == {"d1": "one passage"}
    assert read_texts(registered, ["1"], "queries") == {"1": "what is one"}


def test_the_report_has_the_texts_of_queries(ir_std_cli: Any, files: Files, tmp_path: Path) -> None:
    (tmp_path / "queries.tsv").write_text("1063750\twhy did the us enter ww1\n", encoding="utf-8")
    page = tmp_path / "page.html"
    done = ir_std_cli("report", *files, "AP", "-o", page, "--queries", tmp_path / "queries.tsv")
    assert done.status == 0
    found = data_of(page.read_text("utf-8"))["collections"][0]
    assert "why did the us enter ww1" in found["queries"]
    other = ir_std_cli("report", *files, "AP", "-o", page, "--queries", files.qrels)
    assert (other.status, len(other.err[-1:])) == (2, 1)
    assert "no ID and text in" in other.err[-1]
