"""The command line: results on standard output, everything else on standard error."""

import csv
import inspect
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import ir_datasets
import ir_measures
import pytest
from ir_measures import AP, P
from made_up import write_qrels
from processes import run_process

import ir_std
from ir_std import FactorSet
from ir_std.cli.inputs import read_measures
from ir_std.cli.options import COMMANDS, CommandParser
from ir_std.cli.streams import PROGRAM
from ir_std.factors.catalog import data_version, load_factors
from ir_std.testing import simulated_qrels, simulated_run
from ir_std.trec.files import write_run
from ir_std.trec.inputs import as_run

BM25 = "dl19-passage/bm25base_p"


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a simulated run on TREC-8's topics: run, other, qrels."""
    folder = tmp_path_factory.mktemp("files")
    qrels = simulated_qrels(load_factors("trec8-adhoc").n_rel)
    write_qrels(qrels, folder / "qrels")
    for name, seed in (("run", 1), ("other", 2)):
        write_run(as_run(simulated_run(qrels, seed)), folder / name, name)
    return folder


def test_raw_and_standardized_lines(files: Path, ir_std_cli: Any) -> None:
    done = ir_std_cli(files / "run", files / "qrels", "AP", "P@10")
    raw = ir_measures.calc_aggregate(
        [AP, P @ 10],
        ir_measures.read_trec_qrels(str(files / "qrels")),
        ir_measures.read_trec_run(str(files / "run")),
    )
    scores = ir_std.calc_aggregate([AP, P @ 10], files / "qrels", files / "run")
    assert done.status == 0
    assert done.out == [
        f"AP\t{raw[AP]:.4f}",
        f"sAP\t{scores[ir_std.sAP]:.4f}",
        f"P@10\t{raw[P @ 10]:.4f}",
        f"sP@10\t{scores[ir_std.sP @ 10]:.4f}",
    ]


def test_the_factors_used_are_named_whatever_the_order_of_the_files(
    files: Path, ir_std_cli: Any
) -> None:
    done = ir_std_cli(files / "run", files / "qrels", "AP")
    assert len(done.err) == 1  # notes with -v only
    loud = ir_std_cli(files / "run", files / "qrels", "AP", "-v").err
    assert any("near 0 or 1 on many topics (sAP)" in line for line in loud)
    assert "using trec8-adhoc (TREC-8 ad hoc, 129 systems)" in done.err[0]
    assert "judgments match on 50 of 50 topics" in done.err[0]
    other_order = ir_std_cli("AP", files / "qrels", "-p", 4, files / "run")
    assert (other_order.out, other_order.err) == (done.out, done.err)


def test_several_runs_are_named_by_their_files_or_their_paths_if_these_have_one_name(
    files: Path, tmp_path: Path, ir_std_cli: Any
) -> None:
    run, copy = files / "run", tmp_path / "run"
    copy.write_bytes(run.read_bytes())
    for other, names in ((files / "other", ("run", "other")), (copy, (str(run), str(copy)))):
        done = ir_std_cli(run, other, files / "qrels", "AP")
        assert [line.split("\t")[:3] for line in done.out] == [
            [name, "all", measure] for name in names for measure in ("AP", "sAP")
        ]


def test_values_per_topic_end_with_the_mean_as_topic_all(files: Path, ir_std_cli: Any) -> None:
    done = ir_std_cli(files / "run", files / "qrels", "AP", "-q")
    assert len(done.out) == 102
    assert done.out[0].startswith("401\tAP\t")
    assert [line.split("\t")[0] for line in done.out[-2:]] == ["all", "all"]
    assert len(ir_std_cli(files / "run", files / "qrels", "AP", "-q", "-n").out) == 100


def test_schemes_raw_and_places(files: Path, ir_std_cli: Any) -> None:
    inputs = (files / "run", files / "qrels", "AP", "-p", 2)
    names = [line.split("\t")[0] for line in ir_std_cli(*inputs, "-s", "U,z").out]
    assert names == ["AP", "sAP(scheme='U')", "sAP(scheme='z')"]
    assert len(ir_std_cli(*inputs, "-s", "none").out) == 1
    value = ir_std_cli(*inputs).out[0].split("\t")[1]
    assert len(value.split(".")[1]) == 2
    assert len(ir_std_cli(*inputs, "-p", -1).out[0]) > 10


@pytest.mark.parametrize("topics", [(), ("-q",)])
def test_raw_scores_alone_have_their_places(files: Path, topics: Any, ir_std_cli: Any) -> None:
    inputs = (files / "run", files / "other", files / "qrels", "AP", "--place", *topics)
    done = ir_std_cli(*inputs, "-s", "none")
    assert done.out == [line for line in ir_std_cli(*inputs).out if "\tAP\t" in line]
    assert "using trec8-adhoc" in done.err[0]
    lines = csv.DictReader(ir_std_cli(*inputs, "-s", "none", "-o", "csv").out)
    assert [row["AP place"] for row in lines] == [
        re.findall(r"(\d+)[snrt][tdh] of", line)[0] for line in done.out
    ]


def test_without_measures_those_of_the_set_are_reported(files: Path, ir_std_cli: Any) -> None:
    done = ir_std_cli(files / "run", files / "qrels")
    raw = [line.split("\t")[0] for line in done.out][::2]
    assert tuple(raw) == load_factors("trec8-adhoc").default_measures


def test_a_set_is_named_by_id_or_path(files: Path, ir_std_cli: Any, tmp_path: Path) -> None:
    mine = load_factors("trec8-adhoc")
    FactorSet({**mine.info, "id": "mine"}, mine.n_rel, mine.mean, mine.sd).save(
        tmp_path / "mine.npz"
    )
    for name in ("robust04", tmp_path / "mine.npz"):
        done = ir_std_cli(files / "run", files / "qrels", "AP", "--factors", name)
        assert f"using {Path(name).stem} (" in done.err[0]
        assert len(done.out) == 2


def test_qrels_of_no_collection_give_raw_scores_and_a_note(
    files: Path, tmp_path: Path, ir_std_cli: Any
) -> None:
    (tmp_path / "q").write_text("401 0 d1 1\n")
    done = ir_std_cli(files / "run", tmp_path / "q", "AP")
    assert done.status == 0
    assert done.out == ["AP\t0.0000"]
    assert "no factor set" in done.err[0]


class Judgments(ir_datasets.formats.BaseQrels):
    """Qrels in the form in which ir_datasets has them."""

    def __init__(self, rows: Any) -> None:
        self.rows = rows

    def qrels_iter(self) -> Any:
        if isinstance(self.rows, Exception):
            raise self.rows
        return iter(self.rows)


def test_qrels_may_be_an_ir_datasets_id(
    files: Path, monkeypatch: pytest.MonkeyPatch, ir_std_cli: Any
) -> None:
    rows = list(ir_measures.read_trec_qrels(str(files / "qrels")))
    failure = RuntimeError("All download sources failed", [])
    for name, content in (("made/up", rows), ("made/failing", failure)):
        dataset = ir_datasets.Dataset(Judgments(content))
        monkeypatch.setitem(ir_datasets.registry._registered, name, dataset)
    done = ir_std_cli(files / "run", "made/up", "AP")
    assert done.status == 0
    assert done.out == ir_std_cli(files / "run", files / "qrels", "AP").out
    failed = ir_std_cli(files / "run", "made/failing", "AP")
    assert (failed.status, failed.out, len(failed.err)) == (2, [], 1)
    assert "cannot get the qrels (All download sources failed)" in failed.err[0]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("run", "missing qrels; pass one qrels file"),
        ("qrels", "missing runs; qrels is a qrels file"),
        ("run qrels qrels", "expected one qrels file, got 2 (qrels, qrels)"),
        ("run qrels APP", "did you mean 'AP'"),
        ("run qrels R", "write R@10"),
        ("run qrels AP -s Q", "unknown scheme 'Q'; choose from N, U, E, z"),
        ("run qrels AP -o xml", "unknown value 'xml' of --output; choose from tsv, jsonl"),
        ("run qrels AP --ouput csv", "unknown option '--ouput'; did you mean '--output'"),
        ("run qrels --xyzzy", "unknown option '--xyzzy'; see ir_std --help"),
        ("run qrels AP --jobs two", "--jobs needs a number, got 'two'; see ir_std"),
        ("run qrels AP --sort", "--sort needs one value; see ir_std --help"),
        ("help", "did you mean 'ir_std --help'?"),
        (
            "dl19-passage",
            "dl19-passage is a factor set; pass its systems, such as 'dl19-passage/*'",
        ),
        ("compare a=run AP", "missing qrels in 'a=run'; write NAME=RUN:QRELS"),
        ("build . qrels -o new.npz", "expected the qrels first, got the folder '.'"),
        ("run qrels AP -n", "add -q"),
        ("run qrels AP -p -3", "--places is -3"),
        ("run qrels AP -p 2147483648", "--places is 2147483648"),
        ("run qrels AP --jobs 0", "jobs is 0"),
        ("run qrels AP --sort P_10", "P@10 is not among the measures; available: AP, sAP"),
        ("run qrels AP --sort P.5,10", "--sort P.5,10 names 2 measures; expected one"),
        ("run qrels AP --sort app -o csv", "unknown measure 'app'"),
        ("run qrels AP -o table --test t", "--test requires --baseline NAME"),
        ("run qrels AP --correction holm", "--correction requires --baseline"),
        ("compare a=run:qrels AP -p -2", "--places is -2"),
        ("compare a=run:qrels AP --test t", "--test requires --baseline NAME"),
        (
            "run other qrels AP -o csv --baseline run -q -n",
            "--baseline compares means, which -n leaves out",
        ),
        ("report run qrels AP --correction none", "--correction requires --baseline NAME"),
        ("report a=run:qrels AP --test t", "--test requires --baseline NAME"),
        ("run qrels AP --factors trec88", "unknown factor set 'trec88'"),
        ("run qrels AP --factors terabyte04", "holds none of the topics"),
        ("run qrels sinfAP", "trec8-adhoc has no factors for infAP"),
        ("missing.txt qrels AP", "missing.txt: no such file"),
        ("gone/run qrels AP", "gone/run: no such file or ir_datasets ID"),
        ("./runn qrels AP", "./runn: no such file or ir_datasets ID; did you mean 'run'?"),
        ("run qrels xyzzy", "'xyzzy' is not a file, a measure or an ir_datasets ID"),
        ("run qrels nDCG@1O", "did you mean 'nDCG@10'?"),
        ("run qrels -m mpa", "unknown measure 'mpa'"),
        ("run qrels -l 2", "-l sets the level of the measures you name"),
        ("run qrels AP -l 0", "-l is 0"),
        ("facters", "did you mean 'ir_std factors'?"),
        ("run qrels AP --factors dl19", "set's file; did you mean 'dl19-"),
        ("run broken qrels AP", "broken:2: 5 columns; a run has 6 columns"),
        ("run broken qrels AP --jobs 2", "broken:2: 5 columns; a run has 6"),
        ("elsewhere qrels AP", "no topic in common"),
        ("run empty qrels AP", "empty: holds no files; expected a folder of run files"),
        ("run qrels Rndcg", "ir_measures has no measure such as trec_eval's Rndcg"),
        ("run qrels AP -M 0", "depth is 0; expected at least 1 document (-M)"),
        ("- - AP", "- (standard input) can be read only once"),
        ("scores qrels AP -M 3", "scores holds scores without documents; pass the run"),
        ("run qrels alpha_nDCG@10 -s none", "pip install ir-measures[pyndeval]"),
        ("dl19-passage/bm25basep AP", "unknown system 'bm25basep'"),
        (
            "dl19-pasage/p_bert AP",
            "no such file, and no such system of a factor set; did you mean 'dl19-passage/p_bert'?",
        ),
        ("factors systems terabyte04", "terabyte04 has no scores of named systems"),
        (
            "factors systems robust04 nDCG@10",
            "robust04 has no scores of its systems for nDCG@10; choose from nDCG",
        ),
        (f"{BM25} RR --fail-if-worse 0.05", "--fail-if-worse requires --baseline NAME"),
        (f"{BM25} RR --fail-if-worse 5 --baseline best", "between 0 and 1"),
        (f"{BM25} RR --fail-if-worse 0 --baseline best", "between 0 and 1"),
        (f"compare {BM25}p AP", "unknown system 'bm25base_pp' of dl19-passage"),
        (f"compare x={BM25}p AP", "unknown system 'bm25base_pp' of dl19-passage"),
        ("compare a@=x:y AP", "in NAME@LABEL=..., LABEL names the collection"),
        ("compare gone/bm25.eval AP", "gone/bm25.eval: no such file"),
        ("compare x=bm25.evl AP", "bm25.evl: no such file; write NAME=RUN:QRELS, or NAME="),
        ("compare wide.cvs AP", "wide.cvs: no such file; did you mean 'wide.csv'?"),
        ("compare nDGC@10 AP", "'nDGC@10' is not a file, a measure or an ir_datasets ID; "),
        ("compare run AP", "run is not a score file; write NAME=RUN:QRELS"),
        ("compare two=wide.csv AP", "has 2 systems, which cannot all be named two"),
    ],
)
def test_wrong_use_is_one_line_and_exit_status_2(
    files: Path, ir_std_cli: Any, monkeypatch: pytest.MonkeyPatch, arguments: str, says: str
) -> None:
    monkeypatch.chdir(files)
    Path("broken").write_text("401 Q0 d1 1 1.0 t\n401 Q0 d2 2 1.0\n")
    Path("elsewhere").write_text("x Q0 d1 1 1.0 t\n")
    Path("scores").write_text("map\t401\t0.5\n")
    Path("wide.csv").write_text("run,topic,measure,value\na,1,AP,0.5\nb,1,AP,0.4\n")
    Path("empty").mkdir(exist_ok=True)
    done = ir_std_cli(*arguments.split())
    assert done.status == 2
    assert done.out == []
    assert says in done.err[-1]
    assert done.err[-1].startswith("ir_std: error: ")


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("map", "AP"),
        ("MAP", "AP"),
        ("P_10", "P@10"),
        ("P.5,10", "P@5 P@10"),
        ("p.5", "P@5"),
        ("ndcg_cut_10", "nDCG@10"),
        ("ndcg_cut.5,10", "nDCG@5 nDCG@10"),
        ("recip_rank", "RR"),
        ("Rprec", "Rprec"),
        ("rprec", "Rprec"),
        ("bpref", "Bpref"),
        ("recall_100", "R@100"),
        ("success_1", "Success@1"),
        ("ndcg@10", "nDCG@10"),
        ("MRR@10", "RR@10"),
        ("mrr@10", "RR@10"),
        ("r@100", "R@100"),
        ("smap", "sAP"),
        ("sndcg_cut_10", "snDCG@10"),
        ("sndcg@10", "snDCG@10"),
        ("SP", "SP"),
        ("sP@10", "sP@10"),
        ("p(rel=2)@5", "P(rel=2)@5"),
        ("map P_10", "AP P@10"),
        ("iprec_at_recall.0.10,.2", "IPrec@0.1 IPrec@0.2"),
        ("success.1,7", "Success@1 Success@7"),
        ("set_F.0.5", "SetF(beta=0.5)"),
        ("success", "Success@1 Success@5 Success@10"),
        ("iprec_at_recall_0.00", "IPrec@0.0"),
        ("sP.5,10", "sP@5 sP@10"),
    ],
)
def test_measures_go_by_trec_evals_names_in_any_case(theirs: str, ours: str) -> None:
    assert read_measures([theirs]) == [ir_std.parse_measure(one) for one in ours.split()]


def test_an_option_has_one_long_name_and_at_most_one_short_one(
    files: Path, ir_std_cli: Any
) -> None:
    inputs = (files / "run", files / "qrels", "AP")
    assert (
        ir_std_cli(*inputs, "--by-query", "--no-summary", "--output", "jsonl", "--scheme", "U").out
        == ir_std_cli(*inputs, "-q", "-n", "-o", "jsonl", "-s", "U").out
    )
    for other in ("--by_query", "--by", "--schemes", "--output-format"):
        assert ir_std_cli(*inputs, other).status == 2
    assert "did you mean '--baseline'?" in ir_std_cli(*inputs, "--basline", "x").err[-1]
    assert ir_std_cli("factors", "list").out == ir_std_cli("factors").out


OPTIONS = {name: CommandParser(name).options for name in COMMANDS}
"""Options of each command, from the declarations of its help."""


def test_there_are_at_most_100_options_and_24_of_evaluate() -> None:
    long = {
        name: [flag for option in options for flag in option.flags if flag.startswith("--")]
        for name, options in OPTIONS.items()
    }
    assert len(long["evaluate"]) <= 24
    assert sum(map(len, long.values())) <= 100
    assert all(len(flags) <= 2 for o in OPTIONS.values() for flags, *_ in o)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_fits_a_screen(name: str) -> None:
    lines = CommandParser(name).format_help().splitlines()
    assert len(lines) <= 52
    assert max(map(len, lines)) <= 100
    assert lines[0].startswith("usage: ir_std")


@pytest.mark.parametrize(
    ("command", "function"),
    [
        ("evaluate", ir_std.evaluate),
        ("compare", ir_std.compare),
        ("diff", ir_std.diff),
        ("build", ir_std.build_factors),
    ],
)
def test_defaults_in_the_help_are_those_of_python(command: str, function: Any) -> None:
    parameters = inspect.signature(function).parameters
    for option in OPTIONS[command]:
        name = option.flags[-1].strip("-").replace("-", "_")
        stated = re.search(r"\(default (\w+)\)", option.text)
        parameter = parameters.get(name)
        if stated and parameter and parameter.default is not None and name != "jobs":
            assert str(parameter.default) == stated[1], option.text


def test_other_matching_sets_are_listed_on_request(files: Path, ir_std_cli: Any) -> None:
    inputs = (files / "run", files / "qrels", "AP")
    told = f"{PROGRAM}: robust04 also matches; to use it, pass --factors"
    entry = f"x={files / 'run'}:{files / 'qrels'}"
    assert not any("robust04" in line for line in ir_std_cli(*inputs).err)
    assert told in ir_std_cli(*inputs, "-v").err
    assert told in ir_std_cli(*inputs, "--verbose", "-o", "table").err
    assert told in ir_std_cli("compare", entry, "AP", "-v").err
    assert not any("robust04" in line for line in ir_std_cli("compare", entry, "AP").err)


def test_quiet_and_version_work_before_or_after_an_action(tmp_path: Path, ir_std_cli: Any) -> None:
    export = ("export", "trec4-adhoc", "--format", "trec_eval", "-o")
    loud = ir_std_cli("factors", *export, tmp_path / "1")
    assert len(loud.err) == 1
    assert ir_std_cli("factors", *export, tmp_path / "2", "--quiet").err == []
    assert ir_std_cli("factors", "--quiet", *export, tmp_path / "3").err == []
    shown = [f"ir_std {ir_std.__version__}, factor sets {data_version()}"]
    assert ir_std_cli("--version").out == shown
    for arguments in (("--version",), ("list", "--version")):
        assert ir_std_cli("factors", *arguments).out == shown


@pytest.mark.parametrize(
    ("name", "form", "written"),
    [("dl19-passage", "csv", "f"), ("trec4-adhoc", "webber", "f.sd.csv")],
)
@pytest.mark.usefixtures("in_empty_folder")
def test_factors_replaces_no_file_without_force(
    ir_std_cli: Any, name: str, form: str, written: str
) -> None:
    Path(written).write_text("mine")
    export = ("factors", "export", name, "--format", form, "-o", "f")
    done = ir_std_cli(*export)
    assert done.status == 2
    assert f"{written}: file exists; name a new file, or overwrite it with --force" in done.err[-1]
    assert Path(written).read_text() == "mine"
    assert ir_std_cli(*export, "--force").status == 0
    assert Path(written).read_bytes() != b"mine"


def test_a_topic_without_factors_has_null_and_a_warning_that_quiet_leaves(
    files: Path, tmp_path: Path, ir_std_cli: Any
) -> None:
    qrels = tmp_path / "qrels"
    qrels.write_text((files / "qrels").read_text() + "999 0 FT999-1 1\n")
    done = ir_std_cli(files / "run", qrels, "AP", "-q", "-o", "jsonl")
    assert {"query_id": "999", "measure": "sAP", "value": None} in map(json.loads, done.out)
    assert any("warning: trec8-adhoc has no factors for 1 topic" in line for line in done.err)
    loud = ir_std_cli(files / "run", qrels, "AP")
    quiet = ir_std_cli(files / "run", qrels, "AP", "--quiet")
    assert quiet.out == loud.out
    assert quiet.err == [line for line in loud.err if line.startswith("ir_std: warning: ")]
    assert 0 < len(quiet.err) < len(loud.err)
    assert ir_std_cli(files / "run", "--quiet").err[0].startswith("ir_std: error: ")


def test_a_file_with_the_name_of_a_measure_is_reported(
    files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ir_std_cli: Any
) -> None:
    (tmp_path / "AP").write_bytes((files / "run").read_bytes())
    monkeypatch.chdir(tmp_path)
    done = ir_std_cli("AP", files / "qrels", "P@10")
    said = f"{PROGRAM}: AP is the name of both a file and a measure, so ir_std uses the file"
    assert said in done.err
    assert len(done.out) == 2
    assert said not in ir_std_cli("./AP", files / "qrels", "P@10").err


def test_factor_sets_are_listed_shown_and_located(ir_std_cli: Any) -> None:
    listed = ir_std_cli("factors").out
    assert [line.split("\t")[0] for line in listed] == ir_std.available_factors()
    shown = ir_std_cli("factors", "show", "trec4-adhoc").out
    assert any(
        line.startswith("measures\tfew-systems\t33 systems, depth 1000\tSP, AP, ") for line in shown
    )
    (path,) = ir_std_cli("factors", "path", "trec4-adhoc").out
    assert Path(path).is_file()
    assert ir_std_cli("factors", "show", "trec4adhoc").status == 2


def test_the_help_names_every_command_and_no_arguments_give_examples(ir_std_cli: Any) -> None:
    shown = " ".join(ir_std_cli("--help").out)
    (named,) = re.findall(r"The other commands are ([^.]*)\.", shown)
    assert {*re.split(", | and ", named)} == {*COMMANDS} - {"evaluate"}
    assert ir_std_cli("evaluate", "--help").out == ir_std_cli("--help").out
    done = ir_std_cli()
    assert done.status == 2
    assert sum(line.startswith("  ir_std ") for line in done.out[:9]) == 5
    listed = {line.split()[1] for line in done.out if re.match(r"  ir_std \w+ {2,}\w", line)}
    assert {*COMMANDS} - {"evaluate"} <= listed


def test_the_module_and_the_script_are_the_same_program(files: Path) -> None:
    script = Path(sys.executable).parent / "ir_std"
    commands = [[sys.executable, "-m", "ir_std"]] + ([[str(script)]] if script.exists() else [])
    outs = {
        run_process([*c, str(files / "run"), str(files / "qrels"), "AP"], check=True).stdout
        for c in commands
    }
    assert len(outs) == 1


@pytest.mark.slow
def test_what_others_registered_for_the_end_is_done_and_all_is_written(
    files: Path, tmp_path: Path
) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import atexit; atexit.register(print, 'registered by another')\n"
    )
    done = run_process(
        [sys.executable, "-m", "ir_std", str(files / "run"), str(files / "qrels"), "AP", "-q"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])},
        check=True,
    )
    assert len(done.stdout.splitlines()) > 2
    assert done.stdout.endswith("\nregistered by another\n")


def test_a_reader_that_stops_early_causes_no_error(files: Path) -> None:
    for reader in ("head -1", "true"):
        code = f"{sys.executable} -m ir_std {files / 'run'} {files / 'qrels'} -q | {reader}"
        done = run_process(["bash", "-o", "pipefail", "-c", code])
        assert done.returncode in (0, 141)  # 0 if all was written before the reader ended
        assert not any(word in done.stderr for word in ("Traceback", "BrokenPipe", "error"))


def test_a_table_names_the_test_and_correction_and_csv_does_so_separately(
    files: Path, ir_std_cli: Any
) -> None:
    inputs = (files / "run", files / "other", files / "qrels", "AP")
    asked = (*inputs, "--baseline", "other", "--test", "randomization")
    said = "two-sided randomization test over topics, p < 0.05, each measure tested separately"
    assert said in " ".join(" ".join(ir_std_cli(*asked, "-o", "table").out).split())
    written = ir_std_cli(*asked, "-o", "csv")
    columns = "AP,AP p,AP p_holm,AP detectable,sAP,sAP p,sAP p_holm,sAP detectable"
    assert written.out[0] == f"run,{columns}"
    assert said in " ".join(written.err)
    assert said not in " ".join(ir_std_cli(*asked, "-o", "csv", "--quiet").err)


@pytest.mark.parametrize("form", ["table", "markdown", "latex", "csv"])
def test_tables_hold_values_per_topic_and_places(files: Path, form: str, ir_std_cli: Any) -> None:
    inputs = (files / "run", files / "other", files / "qrels", "AP", "-q", "--place")
    lines = [line.split("\t") for line in ir_std_cli(*inputs).out]
    done = ir_std_cli(*inputs, "-o", form)
    assert done.status == 0
    is_csv = form == "csv"
    text = [line.split(",") if is_csv else re.sub("[|&]", " ", line).split() for line in done.out]
    for run, topic, measure, value, place, *_ in lines:
        (row,) = (row for row in text if row[:2] == [run, topic])
        at = 2 + (4 if is_csv else 2) * (measure == "sAP")
        number = re.sub(r"\\textbf\{(.*)\}", r"\1", row[at].strip("*+"))
        rank = row[at + 1].split("/")[0]
        assert f"{float(number):.4f}" == value
        assert re.search(rf"\b{rank}(st|nd|rd|th)\b", place)


@pytest.mark.slow
def test_runs_are_sorted_by_a_measure_of_any_name(files: Path, ir_std_cli: Any) -> None:
    inputs = (files / "run", files / "other", files / "qrels", "AP", "P@10")
    printed = (line.split("\t") for line in ir_std_cli(*inputs).out)
    means = {(run, measure): float(value) for run, _, measure, value in printed}
    for asked, measure in (("map", "AP"), ("smap", "sAP"), ("P_10", "P@10")):
        first = max(("run", "other"), key=lambda run: means[run, measure])
        assert ir_std_cli(*inputs, "--sort", asked).out[0].split("\t")[0] == first
        table = ir_std_cli(*inputs, "--sort", asked, "-o", "csv").out
        assert [row.split(",")[0] for row in table] == ["rank", "1", "2"]
        assert table[1].split(",")[1] == first
        lines = map(json.loads, ir_std_cli(*inputs, "--sort", asked, "-o", "jsonl").out)
        (of_first,) = [x for x in lines if x["run"] == first and x["measure"] == measure]
        assert (of_first["rank"], of_first["best"], of_first["worst"]) == (1, 1, 2)
