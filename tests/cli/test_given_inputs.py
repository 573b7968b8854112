"""Input of the command line: pipes, standard input, folders, and trec_eval's arguments."""

import gzip
import io
import os
import shutil
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import pytrec_eval
from made_up import write_qrels
from processes import run_process

import ir_std
from ir_std.cli.inputs import read_measures
from ir_std.cli.streams import PROGRAM
from ir_std.factors.catalog import load_factors
from ir_std.measures import parse_measure
from ir_std.measures.names import missing_from_group
from ir_std.testing import simulated_qrels, simulated_run
from ir_std.trec.files import write_run
from ir_std.trec.inputs import as_run


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write two simulated runs on TREC-8's topics, and qrels of levels 0 to 3."""
    folder = tmp_path_factory.mktemp("files")
    (folder / "runs").mkdir()
    qrels = simulated_qrels(load_factors("trec8-adhoc").n_rel)
    graded = {
        t: {d: level and 1 + i % 3 for i, (d, level) in enumerate(docs.items())}
        for t, docs in qrels.items()
    }
    write_qrels(graded, folder / "qrels")
    for name, seed in (("one", 1), ("two", 2)):
        write_run(as_run(simulated_run(qrels, seed, 100)), folder / "runs" / name, name)
    return folder


@pytest.fixture
def stdin(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Return a function that puts bytes on standard input."""

    def put(content: bytes, is_terminal: bool = False) -> None:
        buffer = io.BytesIO(content)
        monkeypatch.setattr(
            sys, "stdin", SimpleNamespace(buffer=buffer, isatty=lambda: is_terminal)
        )

    return put


@pytest.fixture
def pipe(tmp_path: Path) -> Any:
    """Return a function that makes a named pipe with some bytes."""
    writers = []

    def make(name: str, content: bytes) -> Path:
        path = tmp_path / name
        os.mkfifo(path)
        writers.append(threading.Thread(target=path.write_bytes, args=(content,), daemon=True))
        writers[-1].start()
        return path

    yield make
    for writer in writers:
        writer.join(10)


def test_a_run_comes_from_standard_input_packed_or_not(
    files: Path, stdin: Any, ir_std_cli: Any
) -> None:
    run = (files / "runs" / "one").read_bytes()
    plain = ir_std_cli(files / "runs" / "one", files / "qrels", "AP", "-q")
    for content in (run, gzip.compress(run)):
        stdin(content)
        assert ir_std_cli("-", files / "qrels", "AP", "-q").out == plain.out


def test_qrels_and_scores_come_from_standard_input(
    files: Path, stdin: Any, ir_std_cli: Any
) -> None:
    run, qrels = files / "runs" / "one", files / "qrels"
    stdin(qrels.read_bytes())
    assert ir_std_cli(run, "-", "AP").out == ir_std_cli(run, qrels, "AP").out
    stdin(b"map 401 0.5\nmap 402 0.25\n")
    assert ir_std_cli("-", "map", "--factors", "trec8-adhoc").out[0] == "AP\t0.3750"


def test_pipes_are_read_once_also_for_several_processes(
    files: Path, pipe: Any, ir_std_cli: Any
) -> None:
    piped = [pipe(name, (files / "runs" / name).read_bytes()) for name in ("one", "two")]
    qrels = pipe("qrels", (files / "qrels").read_bytes())
    plain = ir_std_cli(*sorted((files / "runs").iterdir()), files / "qrels", "AP")
    done = ir_std_cli(*piped, qrels, "AP", "--jobs", 2)
    names, values = zip(*(line.split("\t", 1) for line in done.out), strict=True)
    assert [*values] == [line.split("\t", 1)[1] for line in plain.out]
    assert {*names} == set(map(str, piped))


@pytest.mark.slow
def test_a_whole_process_reads_what_another_writes(files: Path) -> None:
    ir_std = f"{sys.executable} -m ir_std"
    done = run_process(
        ["bash", "-c", f"cat runs/one | {ir_std} - qrels AP && {ir_std} <(cat runs/one) qrels AP"],
        cwd=files,
        check=True,
    )
    first, second = done.stdout.splitlines()
    assert first == second
    assert first.startswith("AP\t")


def test_the_baseline_may_be_standard_input(files: Path, stdin: Any, ir_std_cli: Any) -> None:
    stdin((files / "runs" / "one").read_bytes())
    two, qrels = files / "runs" / "two", files / "qrels"
    done = ir_std_cli("-", two, qrels, "AP", "-o", "table", "--baseline", "-")
    assert any(line.startswith("standard input ") for line in done.out)
    assert any("better or worse than standard input" in line for line in done.out)


def test_compare_reads_standard_input_once_for_all_that_name_it(
    files: Path, stdin: Any, ir_std_cli: Any
) -> None:
    one, two, qrels = files / "runs" / "one", files / "runs" / "two", files / "qrels"
    form = "AP", "-o", "csv"
    plain = ir_std_cli("compare", f"a={one}:{qrels}", f"b={two}:{qrels}", *form)
    assert len(plain.out) == 3
    stdin(qrels.read_bytes())
    assert ir_std_cli("compare", f"a={one}:-", f"b={two}:-", *form).out == [
        line.replace(",qrels,", ",standard input,") for line in plain.out
    ]
    stdin(one.read_bytes())
    assert ir_std_cli("compare", f"a=-:{qrels}", f"b={two}:{qrels}", *form).out == plain.out
    done = ir_std_cli("compare", f"a=-:{qrels}", f"b=-:{qrels}", "AP")
    assert done.status == 2
    assert "can be read only once" in done.err[-1]


def test_waiting_for_a_terminal_is_reported(files: Path, stdin: Any, ir_std_cli: Any) -> None:
    stdin((files / "runs" / "one").read_bytes(), is_terminal=True)
    done = ir_std_cli("-", files / "qrels", "AP")
    assert done.err[0] == f"{PROGRAM}: waiting for lines on standard input; Ctrl-D ends them"
    assert done.status == 0


def test_closed_standard_input_is_one_line(
    files: Path, ir_std_cli: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    done = ir_std_cli("-", files / "qrels", "AP")
    assert done.status == 2
    assert done.err == [f"{PROGRAM}: error: standard input is closed; name a file instead of -"]


def test_a_folder_means_the_files_below_it(files: Path, tmp_path: Path, ir_std_cli: Any) -> None:
    plain = ir_std_cli(*sorted((files / "runs").iterdir()), files / "qrels", "AP")
    assert ir_std_cli(files / "runs", files / "qrels", "AP").out == plain.out
    folder = tmp_path / "all"
    (folder / "deep").mkdir(parents=True)
    (folder / ".git").mkdir()
    (folder / ".git" / "config").write_text("hidden\n")
    (folder / ".DS_Store").write_text("hidden\n")
    for name, place in (("one", "deep"), ("two", ".")):
        (folder / place / name).write_bytes((files / "runs" / name).read_bytes())
    (folder / "qrels").write_bytes((files / "qrels").read_bytes())
    assert ir_std_cli(folder, "AP").out == plain.out


@pytest.mark.parametrize("suffix", ["zip", "tar", "tar.gz", "tar.bz2", "tar.xz"])
def test_an_archive_means_the_files_in_it(
    suffix: str, files: Path, tmp_path: Path, ir_std_cli: Any
) -> None:
    plain = ir_std_cli(files / "runs", files / "qrels", "AP", "-q")
    form = {"tar.gz": "gztar", "tar.bz2": "bztar", "tar.xz": "xztar"}.get(suffix, suffix)
    packed = shutil.make_archive(str(tmp_path / "packed"), form, files, "runs")
    assert ir_std_cli(packed, files / "qrels", "AP", "-q").out == plain.out
    with pytest.warns(ir_std.StandardizationWarning, match="trec8-adhoc"):  # made-up judgments
        results = ir_std.evaluate(packed, files / "qrels", "AP")
    assert [*results.runs] == ["one", "two"]
    both = shutil.make_archive(str(tmp_path / "folder" / "both"), form, files)
    assert ir_std_cli(both, "AP", "-q").out == plain.out
    assert ir_std_cli(tmp_path / "folder", "AP", "-q").out == plain.out


def test_archives_of_runs_are_merged_never_replaced_and_refused_if_damaged(
    files: Path, tmp_path: Path, ir_std_cli: Any
) -> None:
    plain = ir_std_cli("merge", files / "runs", "-o", "-").out
    packed = Path(shutil.make_archive(str(tmp_path / "packed"), "gztar", files, "runs"))
    content = packed.read_bytes()
    assert ir_std_cli("merge", packed, "-o", "-").out == plain
    assert ir_std_cli("merge", packed, "--force", "-o", packed).status == 2
    assert packed.read_bytes() == content
    packed.write_bytes(content[:-9])
    result = ir_std_cli(packed, files / "qrels", "AP")
    assert (result.status, result.out) == (2, [])
    assert "packed.tar.gz: cannot be read (" in result.err[-1]


def test_compare_and_agree_read_folders_and_archives(
    files: Path, tmp_path: Path, ir_std_cli: Any
) -> None:
    (tmp_path / "scores").mkdir()
    for name in ("one", "two"):
        lines = ir_std_cli(files / "runs" / name, files / "qrels", "AP", "-s", "none", "-q").out
        (tmp_path / "scores" / f"{name}.txt").write_text("\n".join(lines) + "\n")
    plain = ir_std_cli("compare", tmp_path / "scores", "AP", "-o", "csv")
    packed = shutil.make_archive(str(tmp_path / "packed"), "xztar", tmp_path, "scores")
    assert ir_std_cli("compare", packed, "AP", "-o", "csv").out == plain.out
    runs = shutil.make_archive(str(tmp_path / "runs"), "zip", files, "runs")
    qrels, form = files / "qrels", ("AP", "-o", "csv", "--table", "means")
    plain = ir_std_cli("agree", qrels, qrels, *sorted((files / "runs").iterdir()), *form)
    assert plain.out == ir_std_cli("agree", qrels, qrels, files / "runs", *form).out
    assert plain.out == ir_std_cli("agree", qrels, qrels, runs, *form).out


def test_runs_and_scores_stay_in_the_order_given(
    files: Path, tmp_path: Path, ir_std_cli: Any
) -> None:
    evaluated = tmp_path / "scores.txt"
    one = files / "runs" / "one"
    scores = ir_std_cli(one, files / "qrels", "AP", "-s", "none", "-q", "-n").out
    evaluated.write_text("\n".join(scores) + "\n")
    done = ir_std_cli(evaluated, one, files / "qrels", "AP", "-s", "none")
    assert [line.split("\t")[0] for line in done.out] == ["scores", "one"]


def test_a_file_in_a_folder_that_is_not_a_run_is_named(
    files: Path, tmp_path: Path, ir_std_cli: Any
) -> None:
    for name in ("text", "link"):
        (tmp_path / name).mkdir()
    (tmp_path / "text" / "README").write_text("these are our five runs\n")
    (tmp_path / "link" / "link").symlink_to("nowhere")
    for name, *said in (
        ("text", "README: 5 columns in its first line (", "a run has 6 columns: topic Q0 document"),
        ("link", "link: No such file or directory"),
    ):
        done = ir_std_cli(tmp_path / name, files / "qrels", "AP")
        assert done.status == 2
        assert all(part in done.err[-1] for part in said)


def test_merge_takes_folders_and_standard_input(files: Path, stdin: Any, ir_std_cli: Any) -> None:
    one, two = files / "runs" / "one", files / "runs" / "two"
    options = ("--normalize", "minmax", "--depth", 3, "-o", "-")
    plain = ir_std_cli("merge", one, two, *options)
    assert ir_std_cli("merge", files / "runs", *options).out == plain.out
    stdin(two.read_bytes())
    assert ir_std_cli("merge", one, "-", *options).out == plain.out
    assert ir_std_cli("merge", "-", "-", *options).status == 2


OFFICIAL = [
    *["num_q", "num_ret", "num_rel", "num_rel_ret", "map", "Rprec", "bpref", "recip_rank"],
    *(f"iprec_at_recall_{i / 10:.2f}" for i in range(11)),
    *(f"P_{k}" for k in (5, 10, 15, 20, 30, 100, 200, 500, 1000)),
]
"""Measures that trec_eval prints by default, and that ir_measures has."""


@pytest.mark.parametrize(
    "theirs",
    ["P", "recall", "map_cut", "ndcg_cut", "success", "iprec_at_recall", "official", "set"],
)
def test_a_family_is_what_trec_eval_evaluates_under_its_name(theirs: str) -> None:
    """Compare the names with those of pytrec_eval, which contains trec_eval."""
    evaluator = pytrec_eval.RelevanceEvaluator({"q": {"d": 1}}, {theirs})
    left_out = ("runid", "utility", *missing_from_group(theirs))
    names = [n for n in evaluator.evaluate({"q": {"d": 1.0}})["q"] if n not in left_out]
    assert set(read_measures([theirs])) == {m for name in names for m in read_measures([name])}


def assert_values_by_topic(
    ir_std_cli: Any,
    files: Path,
    option: tuple[str, int],
    called: dict[str, str],
    theirs: dict[str, dict[str, float]],
) -> None:
    """Check all per-topic values under an option; ``called`` has the names of measures."""
    words = [word for name in called.values() for word in ("-m", name)]
    run, qrels = files / "runs" / "one", files / "qrels"
    done = ir_std_cli(run, qrels, "-s", "none", "-q", "-n", "-p", -1, *option, *words)
    assert len(done.out) == len(called) * len(theirs)
    for topic, measure, value in (line.split("\t") for line in done.out):
        assert float(value) == pytest.approx(theirs[topic][called[measure]], rel=1e-9), measure


@pytest.mark.parametrize("level", [1, 2, 3])
def test_a_level_changes_what_trec_evals_does(files: Path, level: int, ir_std_cli: Any) -> None:
    """Compare each per-topic value with pytrec_eval's value at its ``relevance_level``."""
    names = [name for name in OFFICIAL if name not in ("num_q", "num_rel")]
    names += ["ndcg", "ndcg_cut_10", "recall_100", "success_1", "map_cut_30", "infAP", "set_recall"]
    with (files / "qrels").open() as qrels, (files / "runs" / "one").open() as run:
        theirs = pytrec_eval.RelevanceEvaluator(
            pytrec_eval.parse_qrel(qrels), names, relevance_level=level
        ).evaluate(pytrec_eval.parse_run(run))
    called = {str(m): name for name in names for m in read_measures([name], level=level)}
    assert len(called) == len(names)
    assert_values_by_topic(ir_std_cli, files, ("-l", level), called, theirs)


def test_a_level_counts_its_documents_and_measures_that_state_theirs_keep_it(
    files: Path, ir_std_cli: Any
) -> None:
    levels = [int(line.split()[3]) for line in (files / "qrels").read_text().splitlines()]
    done = ir_std_cli(files / "runs" / "one", files / "qrels", "-l", 2, "-m", "num_rel")
    assert done.out == [f"NumRel(rel=2)\t{sum(level >= 2 for level in levels)}.0000"]
    assert read_measures(["AP(rel=1)"], level=2) == read_measures(["AP(rel=1)"])
    assert read_measures(["num_ret num_rel_ret ndcg"], level=2) == [
        parse_measure(name) for name in ("NumRet", "NumRet(rel=2)", "nDCG")
    ]


def test_a_depth_is_what_trec_evals_m_is(files: Path, ir_std_cli: Any) -> None:
    """Compare with a run that the test cuts, in pytrec_eval's order of documents."""
    names = ["map", "ndcg", "num_ret", "P_20", "set_recall", "recip_rank"]
    with (files / "qrels").open() as qrels, (files / "runs" / "one").open() as run:
        judged, scored = pytrec_eval.parse_qrel(qrels), pytrec_eval.parse_run(run)
    cut = {
        t: dict(sorted(docs.items(), key=lambda d: (d[1], d[0]), reverse=True)[:7])
        for t, docs in scored.items()
    }
    theirs = pytrec_eval.RelevanceEvaluator(judged, names).evaluate(cut)
    called = {str(measure): name for name in names for measure in read_measures([name])}
    assert_values_by_topic(ir_std_cli, files, ("-M", 7), called, theirs)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_depth_is_warned_about_where_the_systems_go_deeper(
    files: Path, jobs: int, ir_std_cli: Any
) -> None:
    options = ("-M", 7, "--jobs", jobs, "--factors", "trec8-adhoc")
    done = ir_std_cli(files / "runs", files / "qrels", "AP", *options)
    assert any("no topic has more than 7 documents, but trec8-adhoc" in line for line in done.err)


@pytest.mark.parametrize("form", ["tsv", "table", "csv"])
def test_every_format_reports_a_run_without_half_of_the_topics(
    tmp_path: Path, ir_std_cli: Any, form: str
) -> None:
    qrels = {f"t{i}": {"a": 1} for i in range(10)}
    write_qrels(qrels, tmp_path / "qrels")
    for name, n in (("whole", 10), ("cut", 4)):
        run = "".join(f"t{i} Q0 a 1 1.0 {name}\n" for i in range(n))
        (tmp_path / name).write_text(run)
    files = tmp_path / "whole", tmp_path / "cut", tmp_path / "qrels"
    done = ir_std_cli(*files, "AP", "-s", "none", "-o", form)
    assert done.status == 0
    assert any("cut: 6 of 10 topics are missing" in line for line in done.err)
    if form == "table":
        assert "These runs look broken or cut short: cut." in done.out


def test_a_fault_is_reported_once(tmp_path: Path, ir_std_cli: Any) -> None:
    topics = [f"t{i}" for i in range(3)]
    write_qrels({t: {"d1": 1} for t in topics}, tmp_path / "qrels")
    lines = [f"{t} Q0 d{i} {i + 1} 1.0 flat\n" for t in topics for i in range(12)]
    (tmp_path / "flat").write_text("".join(lines))
    for form in ("tsv", "table"):
        done = ir_std_cli(tmp_path / "flat", tmp_path / "qrels", "AP", "-s", "none", "-o", form)
        assert len([line for line in done.err if "have the same score" in line]) == 1


def test_compare_and_report_take_trec_evals_options(
    files: Path, tmp_path: Path, ir_std_cli: Any
) -> None:
    one, qrels = files / "runs" / "one", files / "qrels"
    given = ir_std_cli("compare", f"a={one}:{qrels}", "-m", "map", "-l", 2, "-c", "-M", 9)
    assert given.status == 0
    assert "AP(rel=2)" in given.out[0]
    value = ir_std_cli(one, qrels, "-s", "none", "AP(rel=2)", "-M", 9).out[0].split("\t")[1]
    assert value in given.out[2]
    pytest.importorskip("jinja2")
    page = tmp_path / "page.html"
    done = ir_std_cli("report", one, qrels, "-m", "map", "-l", 2, "-c", "-M", 9, "-o", page)
    assert done.status == 0
    assert "AP(rel=2)" in page.read_text()


def test_build_takes_trec_evals_names(files: Path, tmp_path: Path, ir_std_cli: Any) -> None:
    inputs = (files / "qrels", files / "runs", "-o", tmp_path / "mine.npz")
    done = ir_std_cli("build", *inputs, "--measures", "map", "P.5,10", "ndcg_cut_10")
    assert done.status == 0
    assert load_factors(tmp_path / "mine.npz").measures == ("AP", "P@5", "P@10", "nDCG@10")


def test_spaces_separate_measures_but_not_inside_parentheses() -> None:
    names = ["sAP(factors='a (b) c.npz')", "RBP(p=0.9) AP"]
    read = [str(measure) for measure in read_measures(names)]
    assert read == ["sAP(factors='a (b) c.npz')", "RBP(p=0.9)", "AP"]
