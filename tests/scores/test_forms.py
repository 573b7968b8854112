"""Tables of scores in every form; ir_std reads the tables that it wrote."""

import io
import json
import warnings
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any

import ir_measures
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st
from ir_measures import AP, RR, P, nDCG

import ir_std
from ir_std.errors import InputError, UsageError
from ir_std.reading import BytesSource
from ir_std.reporting.result_tables import means_table
from ir_std.scores.files import holds_scores, read_scores
from ir_std.scores.run_scores import RunScores

LONG = "name,qid,measure,value\na,1,map,0.5\na,2,map,0.25\nb,1,map,1\nb,2,map,0\n"
EXPECTED = {"a": {AP: {"1": 0.5, "2": 0.25}}, "b": {AP: {"1": 1.0, "2": 0.0}}}


def values(read: Mapping[str, RunScores]) -> dict[str, Any]:
    return {run: dict(scores.values) for run, scores in read.items()}


def read_text(text: str, measure: str | None = None) -> dict[str, RunScores]:
    source = BytesSource("scores", text.encode())
    assert holds_scores(source)
    return read_scores(source, measure)


@pytest.mark.parametrize(
    ("text", "measure"),
    [
        (LONG, None),
        ("value;metric;model;query_id\n0.5;AP;a;1\n0.25;AP;a;2\n1;AP;b;1\n0;AP;b;2\n", None),
        ("run,topic,AP\na,1,0.5\na,2,0.25\nb,1,1\nb,2,0\n", None),
        ("topic,a,b\n1,0.5,1\n2,0.25,0\n", "AP"),
        (",a,b\n1,0.5,1\n2,0.25,0\n", "AP"),
        ("\ta\tb\n1\t0.5\t1\n2\t0.25\t0\n", "AP"),
        ("system,1,2\na,0.5,0.25\nb,1,0\n", "map"),
        (json.dumps(pd.read_csv(io.StringIO(LONG)).to_dict("records")), None),
        (pd.read_csv(io.StringIO(LONG)).to_json(orient="records", lines=True), None),
    ],
)
def test_forms_of_tables_hold_the_same_scores(text: str, measure: str | None) -> None:
    assert values(read_text(text, measure)) == EXPECTED


@pytest.mark.parametrize(
    "text",
    [
        LONG.replace("name", '"name"'),
        LONG.replace("a,", '"a",').replace("0.5", '"0.5"'),
        LONG.replace("\n", "\r\n"),
        LONG.replace("\n", "\r").replace("\r", "\n", 1),
        LONG.replace("\n", "\n\n"),
        LONG.replace("\n", "\n,,, \n"),
        LONG.replace("\n", "\n# a,1,map,0.7\n"),
        "# made by another program\n" + LONG,
        LONG.replace(",", " , ").rstrip(),
        LONG.replace("a,", "a ,").replace("b,1", "b, 1"),
        "\t\t\t\n" + LONG.replace(",", "\t"),
    ],
)
def test_quotes_blanks_comments_and_line_ends_do_not_change_a_table(text: str) -> None:
    assert values(read_scores(BytesSource("scores", text.encode()))) == EXPECTED


@pytest.mark.parametrize("n", [6, 9])
def test_numbers_are_those_of_python_and_keep_their_decimals(n: int) -> None:
    texts = [".5", "0.1234567890123456789", "1e-05", "2.5E-1", "1.", "0", "", "nan", " 0.25 "][:n]
    (scores,) = read_text(
        "topic,AP,RR\n" + "".join(f"{i},{text},0.25\n" for i, text in enumerate(texts))
    ).values()
    assert [*scores.values[AP].values()] == pytest.approx(
        [float(text or "nan") for text in texts], rel=0, abs=0, nan_ok=True
    )
    assert scores.decimals == {AP: 19, RR: 2}


def test_tables_in_memory_are_read_as_files_are() -> None:
    frame = pd.read_csv(io.StringIO(LONG))
    polars_frame = pl.read_csv(io.StringIO(LONG))
    pivot = frame.pivot_table(index="qid", columns="name", values="value")
    for given_scores, measure in (
        (frame, None),
        (polars_frame, None),
        (pivot, "AP"),
        (frame.to_dict("records"), None),
        ({run: {"AP": dict(by[AP])} for run, by in EXPECTED.items()}, None),
        ({run: dict(by[AP]) for run, by in EXPECTED.items()}, "AP"),
    ):
        assert values(read_scores(given_scores, measure)) == EXPECTED
    assert values(read_scores({"AP": {"1": 0.5, "2": None}}))["scores"][AP]["1"] == 0.5
    qrels: Any = {"1": {"d": 1}}
    metrics = list(ir_measures.iter_calc([AP], qrels, {"1": {"d": 1.0}}))
    assert values(read_scores(metrics)) == {"scores": {AP: {"1": 1.0}}}


@pytest.mark.parametrize("by_run", [True, False])
def test_scores_per_topic_and_measure_are_read_as_pytrec_eval_gives_them(by_run: bool) -> None:
    by_topic = {
        run: {t: {"map": by[AP][t], "P_10": 0.5} for t in ("1", "2")}
        for run, by in EXPECTED.items()
    }
    expected = {run: {**by, P @ 10: {"1": 0.5, "2": 0.5}} for run, by in EXPECTED.items()}
    given_scores: Any = by_topic if by_run else by_topic["a"]
    wanted: Any = expected if by_run else {"scores": expected["a"]}
    assert values(read_scores(given_scores)) == wanted
    assert values(read_text(json.dumps(given_scores))) == wanted
    results = ir_std.evaluate(given_scores, measures="map", schemes=())
    assert [means["AP"] for means in results.means.values()] == [0.375, 0.5][: len(wanted)]


def test_dicts_that_name_their_measures_take_no_other() -> None:
    with pytest.raises(UsageError, match="scores names its measures; drop measure="):
        read_scores({"a": {"AP": {"1": 0.5}}}, "AP")
    assert values(read_scores({"1": {"custom": 0.5, "AP": 0.25}}))["scores"][AP] == {"1": 0.25}


def test_one_record_of_json_is_a_table() -> None:
    read = read_text('{"model": "m", "ArguAna": 0.6, "FiQA2018": 0.5}', "nDCG@10")
    assert read["m"].values == {nDCG @ 10: {"ArguAna/test": 0.6, "FiQA2018/test": 0.5}}
    with pytest.raises(InputError, match=r"neither a result of MTEB .* nor a table"):
        read_text('{"a": 1}')


def test_frames_of_scores_are_evaluated_where_runs_are() -> None:
    frame = pd.read_csv(io.StringIO(LONG))
    results = ir_std.evaluate(frame)
    assert results.means["a"]["AP"] == 0.375
    assert ir_std.evaluate([frame[frame.name == "a"]]).means["run1"]["AP"] == 0.375
    qrels: Any = {"1": {"d": 1}, "2": {"d": 1}}
    assert ir_std.calc_aggregate("AP", qrels, frame[frame.name == "b"])["AP"] == 0.5


def test_all_measures_are_reported_with_and_without_factors() -> None:
    ndcg = dict(ir_std.system("dl19-passage/p_bert").values[nDCG @ 10])
    scores = {"nDCG@10": ndcg, "faithfulness": dict.fromkeys(ndcg, 3.0)}
    bare, standardized = (
        ir_std.evaluate(scores, **options)
        for options in ({"schemes": ()}, {"factors": "dl19-passage"})
    )
    assert [str(m) for m in bare.measures] == ["nDCG@10", "faithfulness"]
    assert [str(m) for m in standardized.measures] == ["nDCG@10", "snDCG@10", "faithfulness"]


def test_wide_tables_are_standardized() -> None:
    def standardized(topic: str, value: float) -> float:
        return ir_std.standardize({topic: value}, "AP", factors="trec8-adhoc")[topic]

    by_measure = pd.DataFrame({"run": ["a", "a"], "topic": ["401", "402"], "AP": [0.05, 0.2]})
    made = ir_std.evaluate(by_measure, factors="trec8-adhoc").to_dataframe(wide=True)
    assert list(made["sAP"]) == [standardized("401", 0.05), standardized("402", 0.2)]
    by_run = pl.DataFrame({"topic": ["401", "402"], "a": [0.05, 0.2], "b": [0.1, 0.3]})
    wide = ir_std.evaluate(ir_std.read_scores(by_run, "AP"), factors="trec8-adhoc")
    assert wide.values["b"]["sAP"].tolist() == [standardized("401", 0.1), standardized("402", 0.3)]
    unnamed = pd.DataFrame({"qid": ["401"], "score": [0.05]})
    (one,) = ir_std.read_scores(unnamed, "AP").values()
    assert next(iter(ir_std.standardize(one, factors="trec8-adhoc").values.values())) == {
        "401": standardized("401", 0.05)
    }


def test_a_set_is_built_from_standard_input(
    monkeypatch: pytest.MonkeyPatch, ir_std_cli: Any, tmp_path: Path
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(LONG.encode())))
    built = ir_std_cli("build", "--from-scores", "-", "-o", tmp_path / "mine.npz")
    assert built.out == [f"{tmp_path}/mine.npz\t2 topics\t2 systems\t1 measure"]


def test_a_column_of_texts_is_not_a_measure_and_is_reported() -> None:
    (scores,) = read_text("run,topic,question,AP\na,1,why?,0.5\na,2,who?,0.25\n").values()
    assert (scores.values, scores.skipped) == ({AP: {"1": 0.5, "2": 0.25}}, ("question",))


@pytest.mark.parametrize(
    "names", [("ArguAna", "FiQA2018"), ("beir/arguana", "beir/fiqa/test"), ("arguana", "FIQA")]
)
def test_a_leaderboard_has_datasets_by_any_of_their_names(names: tuple[str, str]) -> None:
    board = f"Rank,Model,{names[0]},{names[1]},Average\n1,m,0.6,0.5,0.55\n2,n,0.5,0.4,0.45\n"
    read = read_text(board, "ndcg_at_10")
    assert {scores.unit for scores in read.values()} == {"dataset"}
    assert read["m"].values == {nDCG @ 10: {"ArguAna/test": 0.6, "FiQA2018/test": 0.5}}
    long = f"model,dataset,nDCG@10\nm,{names[0]},0.6\nm,{names[1]},0.5\n"
    assert read_text(long)["m"].values == read["m"].values
    lines = read_text(f"{names[0]}\tnDCG@10\t0.6\n{names[1]}\tnDCG@10\t0.5\n")["scores"]
    assert (lines.values, lines.unit) == (read["m"].values, "dataset")
    by_name = dict(zip(names, (0.6, 0.5), strict=True))
    assert read_scores({"nDCG@10": by_name})["scores"].values == lines.values
    by_row = f"task,m,n\n{names[0]},0.6,0.5\n{names[1]},0.5,0.4\n"
    assert read_text(by_row, "nDCG@10")["n"].values[nDCG @ 10]["FiQA2018/test"] == 0.4


def test_what_comparisons_and_pages_write_is_read() -> None:
    qrels: Any = {str(i): {"d": 1, "e": 0} for i in range(1, 13)}
    runs: Any = [{t: {"d": d, "e": 1.0} for t in qrels} for d in (2.0, 0.5)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compared = ir_std.compare([("a", runs[0], qrels), ("b", runs[1], qrels)], ["AP", "RR"])
    read = read_text(means_table(compared).csv())
    assert read["a"].unit == "dataset"
    assert read["a"].values == {AP: {"qrels": 1.0}, RR: {"qrels": 1.0}}
    page = "topic,AP,sAP,z,rank,systems\u2019 mean AP,sd\r\n1,0.5,0.6,0.1,3,0.4,0.1\r\n"
    assert values(read_text(page)) == {"scores": {AP: {"1": 0.5}}}
    means = "run,AP,AP low,AP high,AP rank among systems,AP p\r\na,0.5,0.4,0.6,2,\r\n"
    assert read_text(means)["a"].means == {AP: 0.5}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "Model,ArguAna,FiQA2018\nm,0.6,0.5\n",
            "the columns of scores are datasets or topics .ArguAna, FiQA2018.; name the file",
        ),
        ("topic,a,b\n1,0.5,1\n", "the columns of scores are runs .a, b.; name the file"),
        ("qid,docno,score\n1,d,2\n", "columns qid, docno, score belong to a run"),
        ("run,topic,measure\na,1,AP\n", "columns run, topic, measure; add a column called value"),
        ("topic,run\n1,a\n", r"columns topic, run; expected .* \(run, topic, measure, value\)"),
        ("system,collection,topics,AP,AP low,AP g\na,x,2,0.5,0.1,1\n", "differences from a base"),
    ],
)
def test_an_unknown_table_is_reported_with_its_columns(text: str, said: str) -> None:
    with pytest.raises((InputError, UsageError), match=said):
        read_text(text)


def test_what_is_neither_a_run_nor_a_table_is_shown(tmp_path: Path, ir_std_cli: Any) -> None:
    (tmp_path / "f").write_text("a,b,c\n1,2,3\n")
    failed = ir_std_cli(tmp_path / "f", "AP")
    assert "columns a, b, c in its first line; a run has 6 columns" in failed.err[-1]
    assert "and a table of scores has a column topic, run or dataset" in failed.err[-1]


def test_a_result_of_mteb_with_nan_does_not_crash(tmp_path: Path, ir_std_cli: Any) -> None:
    (tmp_path / "r.json").write_text(
        '{"task_name": "ArguAna", "scores": {"test": [{"ndcg_at_10": NaN, "map_at_100": 0.5}]}}'
    )
    done = ir_std_cli(tmp_path / "r.json")
    assert done.status == 0
    assert "nDCG@10\tnan" in done.out


def test_counts_may_lack_in_one_of_two_files_in_any_order(data: Path, tmp_path: Path) -> None:
    folder = data / "soboroff2018" / "stemming" / "cd45.TREC8"
    lines = (folder / "krovetz.eval").read_text(encoding="utf-8").splitlines()
    left_out = ["num_rel", "405"], ["num_rel", "406"]
    kept = [line for line in lines if line.split()[:2] not in left_out]
    (tmp_path / "lacking.eval").write_text("\n".join(kept))
    pair = [tmp_path / "lacking.eval", folder / "no_stem.eval"]
    means = [ir_std.evaluate(files, measures="AP").means for files in (pair, pair[::-1])]
    for run in means[0]:
        assert means[0][run] == pytest.approx(dict(means[1][run]))
    compared = ir_std.compare([(str(i), file, None) for i, file in enumerate(pair)], "AP")
    assert [*compared.collections] == ["trec8-adhoc"]


NAMES = st.text(
    st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1, max_size=8
).filter(lambda name: name.lower() not in ("all", "nan", "-") and not name.startswith(("#", "'")))
VALUE = st.integers(0, 10_000).map(lambda n: n / 10_000)
COLUMNS = st.lists(st.lists(VALUE, min_size=3, max_size=3), min_size=6, max_size=6)
TOPICS = ("q1", "q2", "q3")


@settings(max_examples=10, deadline=None)
@given(
    st.lists(NAMES, min_size=2, max_size=2, unique=True),
    COLUMNS,
    st.sampled_from(["faithfulness", "strict vital", "it's | 100% &c", "ROUGE_L"]),
)
def test_whatever_is_written_is_read_again(
    names: list[str], columns: list[list[float]], external: str
) -> None:
    by_topic = iter([dict(zip(TOPICS, column, strict=True)) for column in columns])
    measures = [AP, P @ 10, ir_std.ExternalMeasure(external)]
    expected = {run: {measure: next(by_topic) for measure in measures} for run in names}
    given_scores = {
        run: next(iter(read_scores({str(m): by[m] for m in measures}).values()))
        for run, by in expected.items()
    }
    results = ir_std.evaluate(given_scores, measures=measures)
    table = results.table(by_topic=True)
    assert values(read_text(table.csv())) == expected
    assert values(read_scores(results.to_dataframe())) == expected
    means = results.table(place=True)
    for run, scores in read_text(means.csv()).items():
        assert scores.means == pytest.approx(dict(results.means[run]), abs=0.00005 + 1e-9)
        assert scores.values == {}


@pytest.mark.parametrize("form", ["tsv", "jsonl", "csv"])
@pytest.mark.parametrize("options", [(), ("-q",), ("--place",), ("-q", "--place")])
@pytest.mark.parametrize("systems", [("p_bert",), ("p_bert", "bm25base_p")])
def test_what_the_command_prints_is_read_again(
    form: str, options: tuple[str, ...], systems: tuple[str, ...], ir_std_cli: Any
) -> None:
    given_systems = [f"dl19-passage/{system}" for system in systems]
    done = ir_std_cli(*given_systems, "nDCG@10", "RR", "-o", form, *options, "--quiet")
    read = read_text("\n".join(done.out) + "\n")
    is_named = len(systems) > 1 or form not in ("tsv", "jsonl")
    assert list(read) == (list(systems) if is_named else ["scores"])
    for system, scores in zip(systems, read.values(), strict=True):
        own = ir_std.system(f"dl19-passage/{system}").values
        assert {str(m) for m in scores.means} == {"nDCG@10", "RR"}
        for measure in scores.means:
            mean = sum(own[measure].values()) / 43
            assert scores.means[measure] == pytest.approx(mean, abs=0.00005 + 1e-9)
            if "-q" in options:
                assert scores.values[measure] == pytest.approx(own[measure], abs=0.00005 + 1e-9)


def test_what_is_printed_as_trec_eval_does_is_read_again(ir_std_cli: Any) -> None:
    asked = ("dl19-passage/p_bert", "map", "recip_rank", "P_10", "-o", "trec_eval", "-q")
    (scores,) = read_text("\n".join(ir_std_cli(*asked, "--quiet").out)).values()
    assert {str(m) for m in scores.values} == {"AP", "RR", "P@10"}
    assert scores.skipped == ("smap", "srecip_rank", "sP_10")


def test_a_table_of_ragas_has_questions_as_topics_and_the_file_as_run(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text(
        "user_input,retrieved_contexts,response,faithfulness,answer_relevancy\n"
        '"What is it, really?","[\'a\', \'b\']","It is\nthis",0.5,0.91\n'
        "Who?,['c'],Me,1.0,0.25\n"
    )
    ((name, scores),) = ir_std.read_scores(tmp_path / "mine.csv").items()
    assert (name, scores.skipped) == ("mine.csv", ("retrieved_contexts", "response"))
    assert {str(measure): values for measure, values in scores.values.items()} == {
        "faithfulness": {"What is it, really?": 0.5, "Who?": 1.0},
        "answer_relevancy": {"What is it, really?": 0.91, "Who?": 0.25},
    }


@pytest.mark.parametrize("separator", [",", "\t"])
@given(st.randoms(use_true_random=False))
@settings(max_examples=10, deadline=None)
def test_scores_do_not_depend_on_the_order_of_rows(separator: str, random: Any) -> None:
    names = {"map": AP, "P_5": P @ 5, "x y": ir_std.ExternalMeasure("x y"), "RR": RR}
    expected: dict[str, Any] = {run: {m: {} for m in names.values()} for run in "ab"}
    rows = []
    for i, (run, topic, name) in enumerate(product("ab", "123", names)):
        expected[run][names[name]][topic] = i / 100
        rows.append(separator.join((run, topic, name, f"{i / 100:.2f}")))
    random.shuffle(rows)
    header = separator.join(("run", "topic", "measure", "value"))
    read = read_text("\n".join([header, *rows]))
    assert values(read) == expected
    assert all(each.decimals == dict.fromkeys(names.values(), 2) for each in read.values())


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("a,700,AP,x", ":702: AP is 'x'"),
        ("a,3,AP,1", ":702: duplicate AP for topic 3, first on line 5"),
    ],
)
def test_a_fault_far_down_in_a_table_is_named_by_its_line(row: str, said: str) -> None:
    text = "run,topic,measure,value\n" + "".join(f"a,{t},AP,0.5\n" for t in range(700)) + row
    with pytest.raises(InputError, match=said):
        read_text(text)
