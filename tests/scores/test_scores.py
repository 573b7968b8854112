"""Scores that other programs computed: accepted forms and rejected files."""

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from ir_measures import AP, RR, IPrec, P, R, nDCG
from processes import run_process

import ir_std
from ir_std.errors import InputError, UsageError
from ir_std.measures import main_score
from ir_std.measures.external import MTEB_NAMES, ExternalMeasure, translated
from ir_std.measures.names import find_measure, only_in_trec_eval, to_trec_eval
from ir_std.reading import source_of
from ir_std.scores.files import holds_scores, read_scores
from ir_std.scores.run_scores import RunScores, counted_topics

TREC_EVAL = """runid                 	all	mine
num_q                 	all	2
num_rel               	301	474
num_rel               	302	77
map                   	301	0.0543
P_10                  	301	0.6000
map                   	302	0.5277
P_10                  	302	0.7000
num_rel               	all	551
map                   	all	0.2910
P_10                  	all	0.6500
gm_map                	all	0.1693
"""


def read(
    tmp_path: Path, text: str, name: str = "scores.txt", measure: str | None = None
) -> dict[str, RunScores]:
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    assert holds_scores(source_of(file))
    return read_scores(file, measure)


def refused(tmp_path: Path, text: str, name: str = "scores.txt", measure: str | None = None) -> str:
    with pytest.raises((InputError, UsageError)) as wrong:
        read(tmp_path, text, name, measure)
    return str(wrong.value).replace(str(tmp_path), "")


def test_trec_evals_output_is_read_with_counts_and_steps(tmp_path: Path) -> None:
    ((name, scores),) = read(tmp_path, TREC_EVAL, "mine.eval").items()
    assert name == "mine.eval"
    assert scores.values == {AP: {"301": 0.0543, "302": 0.5277}, P @ 10: {"301": 0.6, "302": 0.7}}
    assert scores.n_rel == {"301": 474, "302": 77}
    assert scores.skipped == ("runid",)
    assert scores.step_of(AP) == 0.0001
    assert scores.step_of(P @ 10) == 0  # tenths lose nothing at four decimals
    ((_, thirds),) = read(tmp_path, "P_15 1 0.3333\nP_15 2 0.0667\n").items()
    assert thirds.step_of(P @ 15) == 0.0001


def test_what_ir_measures_prints_is_read(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("1 0 d1 1\n2 0 d2 1\n", encoding="utf-8")
    (tmp_path / "run").write_text("1 Q0 d1 1 2 x\n2 Q0 d1 1 2 x\n2 Q0 d2 2 1 x\n", encoding="utf-8")
    for form in ("tsv", "jsonl"):
        command = "-m ir_measures qrels run AP nDCG@10 NumRel -q -o"
        done = run_process([sys.executable, *command.split(), form], cwd=tmp_path, check=True)
        ((_, scores),) = read(tmp_path, done.stdout).items()
        assert scores.values[AP] == {"1": 1.0, "2": 0.5}
        assert scores.values[nDCG @ 10]["2"] == pytest.approx(0.6309, abs=1e-4)
        assert scores.n_rel == {"1": 1, "2": 1}


def test_what_ir_std_prints_of_several_runs_is_read(tmp_path: Path) -> None:
    lines = "a\t1\tAP\t0.5000\na\t1\tsAP\t0.6000\nb\t1\tAP\t0.2500\na\tall\tAP\t0.5000\n"
    found = read(tmp_path, lines)
    assert {run: scores.values[AP] for run, scores in found.items()} == {
        "a": {"1": 0.5},
        "b": {"1": 0.25},
    }
    assert found["a"].skipped == ("sAP",)


@pytest.mark.parametrize("delimiter", [",", "\t", ";"])
def test_long_tables_are_read_whatever_their_columns_are_called(
    tmp_path: Path, delimiter: str
) -> None:
    table = "name,qid,measure,value\na,1,map,0.5\nb,1,map,0.25\n\na,2,map,nan\n"
    found = read(tmp_path, table.replace(",", delimiter))
    assert found["a"].values[AP]["1"] == 0.5
    assert found["a"].values[AP]["2"] != found["a"].values[AP]["2"]
    assert found["b"].values == {AP: {"1": 0.25}}


def test_columns_of_a_wide_table_are_runs_or_measures(tmp_path: Path) -> None:
    runs = read(tmp_path, "topic,x,y\n1,0.5,0.25\n2,0.5,\n", measure="ndcg_cut_10")
    assert runs["x"].values == {nDCG @ 10: {"1": 0.5, "2": 0.5}}
    assert list(runs["y"].values[nDCG @ 10]) == ["1", "2"]
    measures = read(tmp_path, "topic,map,P_10\n1,0.5,0.2\n")
    assert measures["scores.txt"].values == {AP: {"1": 0.5}, P @ 10: {"1": 0.2}}
    assert "name the file after its measure" in refused(tmp_path, "topic,x,y\n1,0.5,0.25\n")
    (tmp_path / "P@10.csv").write_text("topic,x,y\n1,0.5,0.25\n")
    assert read_scores(tmp_path / "P@10.csv")["y"].values == {P @ 10: {"1": 0.25}}
    for topics in (("1", "2"), ("t1", "t2")):
        (tmp_path / "P@10.csv").write_text(f"run,{','.join(topics)}\nx,0.5,0.25\n")
        values = dict(zip(topics, (0.5, 0.25), strict=True))
        assert read_scores(tmp_path / "P@10.csv")["x"].values == {P @ 10: values}
    (tmp_path / "P@10.csv").write_text("run,AP,latency\nx,0.5,7\n")
    assert [*read_scores(tmp_path / "P@10.csv")["x"].means] == [AP, ExternalMeasure("latency")]
    assert "are datasets or topics (1, 2)" in refused(tmp_path, "run,1,2\nx,0.5,0.25\n")
    assert "drop measure=" in refused(tmp_path, "topic,AP\n1,0.5\n", measure="AP")
    assert "unknown measure" in refused(tmp_path, "topic,x\n1,0.5\n", measure="mapp")


def mteb(task: str, split: str = "test", subset: str = "default", **scores: float) -> str:
    more = {"ndcg_at_1": 0.25, "main_score": 0.5, "hf_subset": subset, "languages": ["eng-Latn"]}
    return json.dumps({"task_name": task, "scores": {split: [{**scores, **more}]}}, indent=1)


def test_mtebs_results_cover_datasets_and_are_named_by_their_model(tmp_path: Path) -> None:
    folder = tmp_path / "org__model" / ("0" * 40)
    folder.mkdir(parents=True)
    ((name, scores),) = read(folder, mteb("SciFact", ndcg_at_10=0.67912, recall_at_100=0.9)).items()
    assert name == "org/model"
    assert scores.unit == "dataset"
    assert scores.values[nDCG @ 10] == {"SciFact/test": 0.67912}
    assert scores.values[R @ 100] == {"SciFact/test": 0.9}
    (folder / "model_meta.json").write_text('{"name": "org/other"}', encoding="utf-8")
    assert list(read(folder, mteb("MIRACLRetrieval", "dev", "sw", mrr_at_10=0.5))) == ["org/other"]


def test_old_results_of_mteb_are_read(tmp_path: Path) -> None:
    splits = {"dev": {"ndcg_at_10": 0.4}, "test": {"ndcg_at_10": 0.7}}
    old = {"mteb_dataset_name": "MSMARCO", "mteb_version": "1.0", **splits}
    ((_, scores),) = read(tmp_path, json.dumps(old)).items()
    both = {"MSMARCO/dev": 0.4, "MSMARCO/test": 0.7}
    assert scores.values == {nDCG @ 10: both, main_score: both}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("map 1 0.5\nmap 1 0.6\n", ":2: duplicate AP for topic 1, first on line 1"),
        (
            "map 1 67.9\n",
            ":1: map is '67.9' for topic 1; AP is between 0 and 1 (divide percentages by 100)",
        ),
        ("map 1 1000.5\n", "AP is between 0 and 1"),
        ("map 1 -0.1\n", "AP is never negative"),
        ("map 1 0,5\n", "write decimals with a point"),
        ("map 1 67.9%\n", "fractions instead of percentages"),
        ("map 1 inf\n", "expected a finite number"),
        ("map 1 -NAN\n", "expected a finite number"),
        ("map 1 1_0\n", "expected a finite number"),
        ("latency 1 1e308\n", "latency is '1e308' for topic 1; expected a number up to 1e+100"),
        ("map 1 0.5\nmap 2\n", ":2: 2 columns; the first line has 3"),
        ("runid all x\n", "no scores of any measure (found runid)"),
        (
            "map 1 0.50\nmap 2 0.30\nmap all 0.50\n",
            ":3: mean AP is stated as 0.5, but the mean of the 2 topics is",
        ),
        ("map 1 0.5\nmap 2 0.5\nnum_q all 1\n", "several files were joined"),
        ("num_rel 1 2.5\nmap 1 0.5\n", "expected a whole number"),
        ("topic,a,a\n1,0.5,0.5\n", "duplicate column 'a'"),
        ("topic,AP\n1,0,5\n", "decimals with a point"),
        ("run,topic,measure\na,1,AP\n", "add a column called value or score"),
        ("dataset,topic,measure,value\nx,1,AP,0.5\ny,2,AP,0.5\n", "2 collections (x, y)"),
        ('{"a": 1}', "neither a result of MTEB"),
        ("{", "not JSON"),
        ("[\n1", "not JSON"),
        ("[" * 100_000, "nested too deeply"),
        ('{"measure": "AP", "value": 0.5, "query_id": "1"}\n' + "[" * 100_000, ":2: not a score"),
        ("[" * 100_000 + "\n1", "nested too deeply"),
        ('{"measure": "AP", "value": 0.5, "query_id": "1"}\n{"value": 0.5}\n', ":2: not a score"),
        ('topic,AP\n"1"x,0.5\n', "quote cells with delimiters"),
        (mteb("STS12").replace("ndcg_at_1", "cosine_spearman"), "task STS12 (STS12/test)"),
        (mteb("SciFact", ndcg_at_10=67.9), "divide percentages by 100"),
    ],
)
def test_invalid_scores_are_refused_with_their_place(tmp_path: Path, text: str, said: str) -> None:
    assert said in refused(tmp_path, text)


def test_one_line_of_json_is_one_score(tmp_path: Path) -> None:
    ((_, scores),) = read(tmp_path, '{"measure": "AP", "value": 0.5, "query_id": "1"}').items()
    assert scores.values == {AP: {"1": 0.5}}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "no lines; expected the output of trec_eval"),
        (b"a b c d e", ":1: 5 columns; expected the output of trec_eval"),
        (b"map 1 0.5\nmap \xff 0.5\n", ":2: byte 0xff is not UTF-8"),
    ],
)
def test_what_is_not_scores_is_refused_with_its_place(
    tmp_path: Path, content: bytes, said: str
) -> None:
    (tmp_path / "scores").write_bytes(content)
    with pytest.raises(InputError, match=said):
        read_scores(tmp_path / "scores")


@pytest.mark.parametrize("meta", ["[]", "{", "[" * 100_000, "{}"])
def test_a_model_that_is_not_named_is_called_as_its_folder(tmp_path: Path, meta: str) -> None:
    folder = tmp_path / "org__model" / "external"
    folder.mkdir(parents=True)
    (folder / "model_meta.json").write_text(meta, encoding="utf-8")
    assert list(read(folder, mteb("SciFact", ndcg_at_10=0.5))) == ["org/model"]


def test_means_over_topics_that_are_not_listed_are_noticed(tmp_path: Path) -> None:
    # This is the output of trec_eval -c: if the run lacks a topic, only the mean includes it.
    ((_, scores),) = read(tmp_path, "num_q all 4\nmap 1 0.5\nmap 2 0.3\nmap all 0.2\n").items()
    assert scores.unlisted == 2


def test_counts_of_relevant_documents_are_those_of_any_run_and_may_not_differ() -> None:
    values = {AP: {"1": 0.5, "2": 0.5}}
    counted, plain = RunScores("a", values, n_rel={"1": 3, "2": 4}), RunScores("b", values)
    for runs in ([counted, plain], [plain, counted]):
        assert counted_topics(runs).n_rel == {"1": 3, "2": 4}
    for other, message in (
        (
            RunScores("c", values, n_rel={"1": 3, "2": 5}),
            "c: topic 2 has 5 relevant documents here and 4 in a",
        ),
        (RunScores("other", {AP: {"7": 0.5}}), "other: no topic in common with a"),
        (
            RunScores("mteb", {AP: {"beir/nq": 0.5}}, unit="dataset"),
            "scores of whole datasets, unlike the scores per topic",
        ),
    ):
        with pytest.raises(InputError, match=message):
            counted_topics([counted, plain, other])


def test_runs_and_qrels_are_not_scores(tmp_path: Path) -> None:
    for line in ("1 Q0 MAP 1 0.5 tag", "1 0 MAP 1", "topic Q0 d 1 0.5 tag"):
        (tmp_path / "file").write_text(line, encoding="utf-8")
        assert not holds_scores(source_of(tmp_path / "file"))


def test_names_of_others_are_one_table() -> None:
    names = {"map": AP, "recip_rank": RR, "ndcg_cut_10": nDCG @ 10, "AP(rel=1)": AP, "MAP": AP}
    for name, measure in {**names, "iprec_at_recall_0.00": IPrec @ 0.0}.items():
        assert find_measure(name) == measure
    assert to_trec_eval("IPrec@0.1") == "iprec_at_recall_0.10"
    assert translated("nauc_ndcg_at_10_max", MTEB_NAMES) is None
    assert find_measure("301") is find_measure("Rndcg") is None
    assert all(map(only_in_trec_eval, ("relative_P_5", "relative_P.5", "Rndcg")))
    assert not any(map(only_in_trec_eval, ("P_5", "unj_5", "11pt_avg", "G1", "rbp_score", "map")))


@pytest.mark.parametrize("text", ["AP\t0.5\n", "map all 0.5\n", "run,AP\na,0.5\n"])
def test_means_without_topics_are_read_but_are_not_scores_per_topic(
    tmp_path: Path, text: str
) -> None:
    ((_, scores),) = read(tmp_path, text).items()
    assert scores.means == {AP: 0.5}
    assert scores.values == {}
    with pytest.raises(InputError, match=r"only means \(AP\), no scores per topic"):
        ir_std.evaluate(tmp_path / "scores.txt")


def test_a_stated_mean_may_differ_by_what_rounding_explains(tmp_path: Path) -> None:
    # The mean of the values and the printed mean are both within half a step of 0.12345.
    text = "map 1 0.1234\nmap 2 0.1235\nmap all "
    ((_, scores),) = read(tmp_path, f"{text}0.1235\n").items()
    assert scores.values[AP] == {"1": 0.1234, "2": 0.1235}
    said = "mean AP is stated as 0.1236, but the mean of the 2 topics is 0.12345"
    assert said in refused(tmp_path, f"{text}0.1236\n")


@pytest.mark.parametrize(("steps", "step"), [((0.01, 0.0001), 0.0001), ((0.0001, 0.0), 0.0)])
def test_joined_scores_have_the_finer_step(steps: tuple[float, float], step: float) -> None:
    one, two = (RunScores("a", {AP: {str(i): 0.5}}, step=s) for i, s in enumerate(steps))
    assert one.joined(two).step == two.joined(one).step == step


def test_scores_of_many_measures_are_shown_by_the_first(tmp_path: Path) -> None:
    rows = "".join(f"P_{depth}\tq1\t0.5\n" for depth in (5, 10, 20, 30))
    (scores,) = read(tmp_path, rows).values()
    assert repr(scores) == f"<RunScores of {scores.name}: 1 topic, P@5, P@10, P@20, ... (4 in all)>"


RUN_TOPIC = ["a 1 AP .5", "a 2 AP .25", "b 1 AP .5", "b 2 AP .25"]
AUTO_JUDGE = ["a AP 1 .5", "a AP 2 .25", "b AP 1 .5", "b AP 2 .25"]


@pytest.mark.parametrize("summary", [True, False])
@pytest.mark.parametrize("separator", [" ", "\t"])
def test_the_lines_of_auto_judge_are_read_as_run_measure_topic_value(
    separator: str, summary: bool
) -> None:
    means = ["a AP all .375", "b AP all .375"] * summary
    read = [
        ir_std.read_scores(io.StringIO("\n".join(lines).replace(" ", separator)))
        for lines in (RUN_TOPIC, [*AUTO_JUDGE, *means])
    ]
    for scores in read:
        assert scores["a"].values == scores["b"].values == {ir_std.AP: {"1": 0.5, "2": 0.25}}


def test_the_topic_all_shows_where_measures_are_whose_names_are_unknown() -> None:
    lines = "a nugget 1 1\na nugget 2 0\na nugget all .5\na other 1 1\na other 2 1\na other all 1\n"
    (scores,) = ir_std.read_scores(io.StringIO(lines)).values()
    values = {m.name: v for m, v in scores.values.items()}
    assert values == {"nugget": {"1": 1, "2": 0}, "other": {"1": 1, "2": 1}}


@pytest.mark.parametrize("value", ["1", "0.5"])
@pytest.mark.parametrize("separator", [" ", "\t"])
def test_lines_that_may_be_of_either_order_are_refused(
    value: str, separator: str, tmp_path: Path, ir_std_cli: Any
) -> None:
    lines = [f"{run} nugget {topic} {value}" for run in "ab" for topic in (1, 2)]
    (tmp_path / "tot").write_text("\n".join(lines).replace(" ", separator))
    result = ir_std_cli(tmp_path / "tot", "nugget", "--factors", "trec8-adhoc")
    assert result.status == 2
    assert "tot: columns may be run topic measure value" in result.err[-1]
