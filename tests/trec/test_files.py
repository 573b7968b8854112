"""Reading of runs and qrels, repeated documents, and messages about broken files."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import assume, given, settings, strategies as st
from ir_measures import AP, RR, Bpref, Judged, P, nDCG

import ir_std
from ir_std.errors import InputError, StandardizationWarning, UsageError
from ir_std.evaluation.evaluator import StdEvaluator
from ir_std.measures.names import find_measure
from ir_std.reading import BytesSource
from ir_std.trec.files import read_qrels, read_run

RUN = b"1 Q0 d1 1 2.5 tag\n1 Q0 d2 2 1.5 tag\n2 Q0 d1 1 -3e-2 tag\n"
QRELS = b"1 0 d1 2\n1 0 d3 0\n2 0 d1 -1\n"


def run_of(content: bytes, name: str = "run.txt") -> dict[str, dict[str, float]]:
    lists = read_run(BytesSource(name, content)).lists
    return {t: dict(zip(docs, scores.tolist(), strict=True)) for t, (docs, scores) in lists.items()}


EXPECTED = {"1": {"d1": 2.5, "d2": 1.5}, "2": {"d1": -0.03}}


def test_a_run_is_read() -> None:
    assert run_of(RUN) == EXPECTED


def test_qrels_are_read_with_their_negative_levels() -> None:
    assert read_qrels(BytesSource("q", QRELS)).judged == {"1": {"d1": 2, "d3": 0}, "2": {"d1": -1}}


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(RUN.replace(b"\n", b"\r\n"), id="Windows line ends"),
        pytest.param(RUN.replace(b" ", b"\t"), id="tabs"),
        pytest.param(RUN.replace(b" ", b"  \t "), id="several blanks"),
        pytest.param(RUN.rstrip(b"\n"), id="no last line end"),
        pytest.param(b"\n\n" + RUN.replace(b"\n", b"\n\n"), id="blank lines"),
        pytest.param(b"# a comment\n" + RUN, id="comment line"),
        pytest.param(RUN + b"  # another comment", id="last line a comment"),
        pytest.param(b"  " + RUN, id="leading blanks"),
        pytest.param(b"\xef\xbb\xbf" + RUN, id="byte order mark"),
    ],
)
def test_other_ways_to_write_the_same_are_accepted(content: bytes) -> None:
    assert run_of(content) == EXPECTED


gaps = st.lists(st.sampled_from([*" " * 20, "\t", "  ", "\n"]), min_size=5, max_size=5)
line_ends = st.sampled_from([*"\n" * 20, "\r\n", " \n", "\n\n", " ", ""])


@given(st.lists(st.tuples(gaps, line_ends), min_size=1, max_size=5))
@settings(max_examples=2 * settings().max_examples)
def test_columns_are_those_of_each_line_wherever_blanks_and_line_ends_are(
    lines: list[tuple[list[str], str]],
) -> None:
    content = "".join(
        column + blank
        for i, (between, end) in enumerate(lines)
        for column, blank in zip(
            ("1", "Q0", f"d{i}", "1", "2.5", "tag"), [*between, end], strict=True
        )
    )
    rows = [line.split() for line in content.split("\n") if line.strip()]
    if all(len(row) == 6 and row[4] == "2.5" for row in rows):
        assert list(run_of(content.encode())["1"]) == [row[2] for row in rows]
    else:
        with pytest.raises(InputError, match=r"^run.txt:\d+: (\d+ column|score is)"):
            run_of(content.encode())


@pytest.mark.parametrize("where", [0, 1, 2])
@pytest.mark.parametrize(
    ("read", "line", "columns"),
    [(read_run, b"1 Q0 d%d 1 2.5 tag", 12), (read_qrels, b"1 0 d%d 1", 8)],
)
def test_two_lines_in_one_are_not_two(read: Any, line: bytes, columns: int, where: int) -> None:
    parts = [line % i for i in range(4)]
    parts[where : where + 2] = [b" ".join(parts[where : where + 2])]
    with pytest.raises(InputError, match=f"^file:{where + 1}: {columns} columns"):
        read(BytesSource("file", b"\n".join(parts) + b"\n"))


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("1 Q0 d#1 1 2.5 #tag\n", {"1": {"d#1": 2.5}}),
        ("é Q0 dé 1 2 t\né Q0 日本 2 1 t\n", {"é": {"dé": 2.0, "日本": 1.0}}),
        (f"1 Q0 {'x' * 5000} 1 2 t\n1 Q0 d 2 1 t\n", {"1": {"x" * 5000: 2.0, "d": 1.0}}),
        (
            "1 Q0 a 1 3 t\n2 Q0 a 1 9 t\n1 Q0 b 2 2 t\n2 Q0 c 2 1 t\n",
            {"1": {"a": 3.0, "b": 2.0}, "2": {"a": 9.0, "c": 1.0}},
        ),
    ],
    ids=["number signs", "any UTF-8", "long", "interleaved topics"],
)
def test_ids_may_be_any_text_without_blanks(content: str, expected: Any) -> None:
    assert run_of(content.encode()) == expected


@pytest.mark.parametrize(
    ("read", "content", "says"),
    [
        (read_run, b"1 Q0 d1 1 2.5 tag\n1 Q0 d2 2\n", "f:2: 4 columns, like a qrels file"),
        (read_run, b"1 Q0 d1 1 2.5\n1 Q0 d2 2 1.5 tag x\n", "f:1: 5 columns"),
        (read_run, b"\n# c\n1 Q0 d1 1 x tag\n", "f:3: score is 'x'; expected a finite number"),
        (read_run, b"1 Q0 d1 1 nan tag\n", "f:1: score is 'nan'"),
        (read_run, b"1 Q0 d1 1 inf tag\n", "f:1: score is 'inf'"),
        (read_run, b"1 Q0 d1 1 -Inf tag\n", "f:1: score is '-Inf'"),
        (read_run, b"1 Q0 d1 1 1e999 tag\n", "f:1: score is '1e999'"),
        (read_run, RUN + b"1 Q0 d2 3 1.0 tag\n", "f:4: topic 1 repeats document 'd2' of line 2"),
        (read_run, b"", "f: no lines"),
        (read_run, b"# only this\n\n", "f: no lines"),
        (read_run, b"1 Q0 d1 1 2 t\n1 Q0 d\xff 2 1 t\n", "f:2: byte 0xff is not UTF-8"),
        (read_run, b"1 Q0 d 1 2 t\n1 Q0 d\x001 1 2 t\n", "f:2: control character '\\x00'"),
        (read_run, QRELS, "f:1: 4 columns, like a qrels file; a run has 6 columns"),
        (read_qrels, b"1 0 d1 1.5\n", "f:1: relevance is '1.5'; expected a whole number"),
        (read_qrels, b"1 0 d1 yes\n", "f:1: relevance is 'yes'"),
        (read_qrels, b"1 0 d1 1\n1 0 d1 0\n", "f:2: topic 1 repeats document 'd1' of line 1"),
        (read_qrels, RUN, "f:1: 6 columns, like a run; a qrels file has 4 columns"),
        (read_qrels, b"", "f: no lines"),
    ],
)
def test_a_broken_file_is_reported_with_place_and_expectation(
    read: Any, content: bytes, says: str
) -> None:
    with pytest.raises(InputError) as caught:
        read(BytesSource("f", content))
    assert says in str(caught.value)


def test_a_directory_and_a_missing_file_are_distinguished(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a directory"):
        read_run(tmp_path)
    with pytest.raises(InputError, match="No such file"):
        read_run(tmp_path / "none")


names = st.text(
    st.characters(
        codec="utf-8", exclude_categories=["Cc", "Cs", "Zs", "Zl", "Zp"], exclude_characters="#"
    ),
    min_size=1,
    max_size=12,
).filter(lambda name: find_measure(name) is None)  # A dict with names of measures holds scores.
some_scores = st.sampled_from([0.0, 1.0, 2.0, 16777216.0, 16777217.0]) | st.floats(-9, 9)
topics = st.sampled_from(["1", "2", "x y".replace(" ", "é")])


@given(
    st.dictionaries(topics, st.dictionaries(names, some_scores, min_size=1), min_size=1),
    st.dictionaries(topics, st.dictionaries(names, st.integers(0, 3), min_size=1), min_size=1),
    st.randoms(),
)
def test_a_file_gives_the_same_values_as_the_dict_it_was_written_from(
    run: Any, qrels: Any, random: Any
) -> None:
    assume(run.keys() & qrels.keys())  # with no topic in common it is an error
    # Judge some of the retrieved documents, because otherwise the run has no judged document.
    for topic in run.keys() & qrels.keys():
        for doc in list(run[topic])[::2]:
            qrels[topic][doc] = random.randint(-1, 3)
    lines = [f"{t} Q0 {d} 1 {s!r} tag" for t, docs in run.items() for d, s in docs.items()]
    random.shuffle(lines)
    judged = [f"{t} 0 {d} {level}" for t, docs in qrels.items() for d, level in docs.items()]
    random.shuffle(judged)
    measures = [AP, nDCG, P @ 2, RR, RR @ 3, Bpref, Judged]
    run_file = BytesSource("run", "\n".join(lines).encode())
    qrels_file = BytesSource("qrels", "\n".join(judged).encode())
    expected = StdEvaluator(measures, qrels).calc_aggregate(run)
    for qrels_form in (qrels, read_qrels(qrels_file)):
        for run_form in (run, read_run(run_file)):
            found = StdEvaluator(measures, qrels_form).calc_aggregate(run_form)
            assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("given", ["text", "path", "open file"])
def test_the_rows_of_a_wrong_file_end_in_an_error_that_names_the_line(
    given: str, tmp_path: Path
) -> None:
    path = tmp_path / "run"
    for read, right, wrong in (
        (ir_std.read_trec_run, "1 Q0 d 1 2.5 t\n\n", "1 Q0 d 1\n"),
        (ir_std.read_trec_run, "1 Q0 d 1 2.5 t\n\n", "1 Q0 d 1 high t\n"),
        (ir_std.read_trec_qrels, "1 0 d 1\n\n", "1 0 d 0.5\n"),
    ):
        path.write_text(right + wrong)
        with path.open() as opened:
            file: Any = {"text": right + wrong, "path": path, "open file": opened}[given]
            with pytest.raises(InputError, match=r":3: .*; a (run|qrels file) has [46] columns"):
                list(read(file))


JUDGED: Any = {"1": {"d1": 1, "d2": 0}, "2": {"d1": 1}}
LINES = "1 Q0 d1 1 9 x\n1 Q0 d2 2 5 x\n1 Q0 d1 3 1 x\n2 Q0 d1 1 1 x\n"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Write a run with a document twice, and its qrels."""
    (tmp_path / "run").write_text(LINES)
    (tmp_path / "qrels").write_text("1 0 d1 1\n1 0 d2 0\n2 0 d1 1\n")
    return tmp_path / "run"


@pytest.mark.parametrize(("duplicates", "rr"), [("first", 1.0), ("last", 0.5)])
def test_the_first_or_the_last_counts_and_their_number_is_reported(
    run: Path, duplicates: str, rr: float
) -> None:
    frame = pd.DataFrame(
        [line.split() for line in LINES.splitlines()], columns=["qid", "_", "docno", "r", "s", "t"]
    ).assign(score=[9.0, 5.0, 1.0, 1.0])
    for form in (run, str(run), frame):
        with pytest.warns(StandardizationWarning, match="1 line left out because another line"):
            results = ir_std.evaluate(form, JUDGED, "RR", (), duplicates=duplicates)
        (means,) = results.means.values()
        assert means["RR"] == (rr + 1) / 2


def test_without_a_choice_it_is_an_error_with_its_line(run: Path) -> None:
    with pytest.raises(InputError, match=r"run:3: topic 1 repeats document 'd1' of"):
        ir_std.evaluate(run, JUDGED, "RR")
    with pytest.raises(UsageError, match=r"choice of duplicates 'frist'.*did you mean 'first'"):
        ir_std.evaluate(run, JUDGED, "RR", duplicates="frist")


def test_other_faults_stay_errors(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("1 Q0 d1 1 nan x\n1 Q0 d1 1 2 x\n")
    with pytest.raises(InputError, match="score is 'nan'"):
        ir_std.evaluate(tmp_path / "run", JUDGED, "RR", duplicates="first")


def test_a_set_is_built_with_the_first_or_last(run: Path, tmp_path: Path, ir_std_cli: Any) -> None:
    other, qrels = tmp_path / "other", tmp_path / "qrels"
    other.write_text("1 Q0 d1 1 1 x\n")
    given = ("build", qrels, run, other, "-o", tmp_path / "mine.npz", "--measures", "RR")
    assert "run:3: topic 1 repeats document 'd1' of" in ir_std_cli(*given).err[-1]
    built = ir_std_cli(*given, "--duplicates", "last")
    assert any("run: 1 line left out because another line has" in line for line in built.err)
    assert ir_std.load_factors(tmp_path / "mine.npz").mean["RR"].tolist() == [0.75, 0.5]


def test_the_command_takes_the_choice(run: Path, tmp_path: Path, ir_std_cli: Any) -> None:
    given = (run, tmp_path / "qrels", "RR", "-s", "none")
    assert ir_std_cli(*given, "--duplicates", "first").out == ["RR\t1.0000"]
    assert ir_std_cli(*given, "--duplicates", "last", "-o", "csv").out == ["run,RR", "run,0.75"]
    assert ir_std_cli(*given).status == 2


def test_runs_of_ms_marco_have_three_columns(run: Path, ir_std_cli: Any) -> None:
    run.write_text("1\td2\t1\n1\td1\t2\n2\td1\t1\n")
    assert ir_std.calc_aggregate("RR", JUDGED, run)["RR"] == 0.75
    qrels = run.with_name("qrels")
    for text in (run.read_text(), run.read_text().replace("\t", " ")):
        run.write_text(text)
        assert ir_std_cli(run, qrels, "RR", "-s", "none").out == ["RR\t0.7500"]
    run.write_text("1\td2\t1\n1\td1\t0\n")
    says = r"run:2: rank is '0'; expected a whole number of at least 1"
    with pytest.raises(InputError, match=says):
        ir_std.calc_aggregate("RR", JUDGED, run)


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
