"""Faults that were found once, such as files that were left out silently or left behind."""

import os
import signal
import stat
import subprocess
import sys
import time
from concurrent.futures import Executor, Future
from functools import partial
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any

import pytest
from processes import run_process
from tries import small_set

import ir_std
from ir_std import AP, FactorSet, InputError, UsageError, load_factors
from ir_std._system.files import write_all_atomically, write_atomically
from ir_std._system.processes import map_in_order
from ir_std.cli.streams import PROGRAM
from ir_std.factors import catalog
from ir_std.factors.catalog import add_set, remove_set
from ir_std.measures.external import IN_LOWER_CASE, MTEB_NAMES, TREC_EVAL_NAMES, translated
from ir_std.reading import files_below
from ir_std.reading.archives import run_sources
from ir_std.scores.collect import count_decimals
from ir_std.scores.files import read_scores
from ir_std.scores.run_scores import RunScores, counted_topics

RUN = "1 Q0 d 1 2 t\n2 Q0 d 1 2 t\n"
QRELS = "1 0 d 1\n2 0 d 1\n"


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Make a folder with a run in it, and one in a folder below."""
    (tmp_path / "runs" / "below").mkdir(parents=True)
    (tmp_path / "runs" / "a").write_text(RUN)
    (tmp_path / "runs" / "below" / "b").write_text(RUN.replace("1 2", "1 3"))
    (tmp_path / "q").write_text(QRELS)
    return tmp_path / "runs"


def names(folder: Path) -> list[str]:
    return [str(path.relative_to(folder)) for path in files_below(folder)]


def test_links_to_folders_are_followed_once(runs: Path) -> None:
    elsewhere = runs.parent / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "c").write_text(RUN)
    (runs / "link").symlink_to(elsewhere)
    (elsewhere / "back").symlink_to(runs)  # a circle
    (runs / "again").symlink_to("below")
    assert names(runs) == ["a", "below/b", "link/c"]


def test_links_to_folders_above_and_pipes_are_reported(runs: Path) -> None:
    (runs / "up").symlink_to("..")
    with pytest.raises(InputError, match="is a link to one of its parent folders; remove the link"):
        files_below(runs)
    (runs / "up").unlink()
    os.mkfifo(runs / "below" / "pipe")
    with pytest.raises(InputError, match="below/pipe: is a pipe or a device"):
        files_below(runs)


def _refuse(folder: str, iterdir: Any, self: Path) -> Any:
    if self.name == folder:
        raise PermissionError(13, "Permission denied")
    return iterdir(self)


def test_a_folder_that_cannot_be_read_is_reported(
    runs: Path, ir_std_cli: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    iterdir = Path.iterdir
    monkeypatch.setattr(Path, "iterdir", lambda self: _refuse("below", iterdir, self))
    (runs / "c").write_text(RUN.replace("1 2", "1 4"))
    for command in (
        [runs, runs.parent / "q", "AP"],
        ["merge", runs, "-o", runs.parent / "merged"],
        ["build", runs.parent / "q", runs, "-o", runs.parent / "set.npz"],
    ):
        result = ir_std_cli(*command)
        assert result.status == 2
        assert "below: cannot be read (Permission denied)" in result.err[-1]
    sources = run_sources([runs], skip=(skipped := list[InputError]()).append)
    assert [source.name for source in sources] == [str(runs / "a"), str(runs / "c")]
    assert "below: cannot be read" in str(skipped[0])
    built = ir_std_cli(
        "build", runs.parent / "q", runs, "-o", runs.parent / "set.npz", "--skip-bad"
    )
    assert built.status == 0
    assert "warning: left out" in built.err[0]


# -- links, modes and litter -----------------------------------------------------------------------


def test_a_link_to_a_set_is_removed_and_not_the_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_set("mine").save(tmp_path / "real" / "mine.npz")
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "mine.npz").symlink_to(tmp_path / "real" / "mine.npz")
    monkeypatch.setenv("IR_STD_FACTORS", str(tmp_path / "own"))
    assert remove_set("mine") == tmp_path / "own" / "mine.npz"
    assert not os.path.lexists(tmp_path / "own" / "mine.npz")
    FactorSet.load(tmp_path / "real" / "mine.npz").verify()


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_file_or_set_that_is_replaced_keeps_its_mode(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("old")
    (tmp_path / "run").chmod(0o600)
    write_atomically(tmp_path / "run", b"new")
    assert mode(tmp_path / "run") == 0o600
    small_set("mine").save(tmp_path / "mine.npz")
    (tmp_path / "mine.npz").chmod(0o640)
    small_set("mine", 0.1).save(tmp_path / "mine.npz")
    assert mode(tmp_path / "mine.npz") == 0o640


def test_two_files_are_replaced_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old: dict[str | os.PathLike[str], bytes] = {
        tmp_path / name: name.encode() for name in ("mn", "sd")
    }
    write_all_atomically(old)
    replace = Path.replace

    def full(self: Path, target: Path) -> Path:
        if target.name == "sd" and self.name == "new":
            raise OSError(28, "No space left on device")
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(InputError, match="No space left"):
        write_all_atomically(dict.fromkeys(old, b"new"))
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == old


@pytest.mark.parametrize("what", ["csv", "webber", "trec_eval"])
def test_no_file_of_a_set_is_replaced_by_what_is_made_of_it(
    what: str, tmp_path: Path, ir_std_cli: Any
) -> None:
    small_set("mine").save(tmp_path / "mine.npz")
    target = tmp_path / "mine.npz"
    if what == "webber":
        (tmp_path / "x.mn.csv").symlink_to(target)
        target = tmp_path / "x"
    given = tmp_path / "mine.npz"
    result = ir_std_cli("factors", "export", "--format", what, given, "-o", target, "--force")
    assert result.status == 2
    assert "is one of the inputs" in result.err[-1]
    FactorSet.load(tmp_path / "mine.npz").verify()


INTERRUPTED = """
import sys, time
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from tries import small_set
from ir_std._system.files import write_atomically
from ir_std._system.signals import end_on_signals
from ir_std.factors.catalog import add_set
target, what = Path(sys.argv[1]), sys.argv[3]
small = small_set("mine")
small.save(target / "set.npz")
(target / "file").write_text("old")
end_on_signals()
write = Path.write_bytes
def slow(self, content):
    write(self, content); print("now", flush=True); time.sleep(20)
Path.write_bytes = slow
Path.write_text = lambda self, content, **_: slow(self, content.encode())
{"file": lambda: write_atomically(target / "file", b"x"),
 "set": lambda: small.save(target / "set.npz"),
 "add": lambda: add_set(str(target / "set.npz"))}[what]()
"""


@pytest.mark.parametrize("what", ["file", "set", "add"])
def test_an_interrupted_write_leaves_the_old_file_and_no_litter(what: str, tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, tmp_path, Path(__file__).parent, what],
        env={**os.environ, "IR_STD_FACTORS": str(tmp_path / "own")},
        stdout=subprocess.PIPE,
        text=True,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "now\n"
    process.send_signal(signal.SIGTERM)
    assert process.communicate()[1] == "ir_std: error: interrupted\n"
    left = [path.name for path in tmp_path.rglob("*") if path.name.startswith(".")]
    assert left == []
    assert (tmp_path / "file").read_text() == "old"
    FactorSet.load(tmp_path / "set.npz").verify()


# -- errors of one line ----------------------------------------------------------------------------


def test_scores_of_which_a_topic_lacks_num_rel_are_compared_on_the_others(tmp_path: Path) -> None:
    from ir_std.factors.collection import Collection
    from ir_std.factors.match import Fit

    scores = "".join(f"map\t{t}\t0.5\n" for t in (1, 2, 3)) + "num_rel\t1\t4\nnum_rel\t2\t4\n"
    (tmp_path / "s").write_text(scores)
    counted = counted_topics(read_scores(tmp_path / "s").values())
    fit = Fit(small_set("mine"), Collection(counted.n_rel.items(), qrels=counted))
    assert not fit.agreement.at_level(1).different.any()
    assert fit.agreement.at_level(1).count_only.any()


def test_a_number_with_an_endless_exponent_has_no_decimals_to_count() -> None:
    assert count_decimals("0e-9999999999999999999") == 400
    assert count_decimals("0e9999999999999999999") == 0
    assert [count_decimals(t) for t in ("0.250", "1e-3", "2.5e1", "7", "nan", ".5E+0")] == [
        *(3, 3, 0, 0, 0, 1)
    ]


def test_scores_are_looked_up_here_and_not_sent_to_processes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from ir_std.evaluation import evaluator as evaluation

    monkeypatch.setattr(evaluation, "default_jobs", {0: 1}.__getitem__)
    scores = {f"run{i}": RunScores(f"run{i}", {AP: {"1": 0.5}}) for i in range(40)}
    evaluator = ir_std.evaluator([AP], {"1": {"d": 1}})
    assert len([*evaluation.evaluate_runs(evaluator, scores, None)]) == 40


def test_a_name_is_translated_literally_and_not_as_a_pattern() -> None:
    names = {**TREC_EVAL_NAMES, **MTEB_NAMES}
    for theirs, ours in names.items():
        cutoff = "0.5" if "{}" in theirs else ""
        assert translated(theirs.format(cutoff), names) == ours.format(cutoff)
        assert translated(theirs.format(cutoff).upper().lower(), IN_LOWER_CASE) is not None
    no_names = ("P_{}", "P_", "P_.5", "P_5.", "P_1.2.3", "P_5\n", "map1", "map_5", "", "5")
    assert [translated(name, names) for name in no_names] == [None] * len(no_names)


def test_too_many_runs_to_compare_each_with_each_are_reported(
    tmp_path: Path, ir_std_cli: Any
) -> None:
    n = 5001
    (tmp_path / "AP.csv").write_text(
        f"topic,{','.join(f'run{i}' for i in range(n))}\n1{',0.5' * n}\n"
    )
    result = ir_std_cli(tmp_path / "AP.csv", "--sort", "AP", "-o", "table")
    assert result.status == 2
    assert "5001 runs are too many for rank intervals" in result.err[-1]


@pytest.mark.parametrize("name", ["CON", "aux", "nul.txt", "Com1.zip", "mine."])
def test_names_that_windows_does_not_allow_are_refused(name: str, tmp_path: Path) -> None:
    small_set(name).save(tmp_path / "p.npz")
    with pytest.raises(InputError, match="is not a valid file name on all systems"):
        add_set(str(tmp_path / "p.npz"))


def test_an_invalid_address_and_a_slow_download_are_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(UsageError, match="Invalid IPv6 URL"):
        add_set("http://[::1")
    monkeypatch.setattr(catalog, "LONGEST_DOWNLOAD", 0.1)
    with pytest.raises(InputError, match=r"takes more than 0\.1 seconds"):
        catalog._in_time("http://slow", partial(time.sleep, 2))  # type: ignore[arg-type]


class Gone(Executor):
    """An executor whose scheduler died."""

    def submit(self, *_: Any, **__: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.cancel()
        future.set_running_or_notify_cancel()
        return future


def test_an_executor_that_is_gone_and_too_many_processes_are_reported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(_: SpawnProcess) -> None:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    with pytest.raises(UsageError, match=r"executor failed \(CancelledError\(\)\); start it again"):
        list(map_in_order(_item, b"", [1, 2], executor=Gone()))
    monkeypatch.setattr(SpawnProcess, "start", refuse)
    with pytest.raises(UsageError, match=r"no process can be started .* use fewer jobs"):
        list(map_in_order(_item, b"", [1, 2], jobs=2))


def _item(_: bytes, item: int) -> int:
    return item


@pytest.mark.parametrize("limit", [12, 9])
def test_a_low_limit_of_open_files_is_reported(limit: int, runs: Path) -> None:
    code = f"""
import resource, sys
from ir_std.cli.main import main
import ir_std.cli.evaluate
resource.setrlimit(resource.RLIMIT_NOFILE, ({limit}, {limit}))
sys.exit(main(sys.argv[1:]))
"""
    files = runs / "a", runs / "below" / "b", runs.parent / "q"
    done = run_process([sys.executable, "-c", code, *files, "AP", "--jobs", "9"])
    assert "Traceback" not in done.stderr
    assert done.returncode in (0, 2)


def test_a_home_that_cannot_be_written_to_is_reported(tmp_path: Path, runs: Path) -> None:
    (tmp_path / "home").write_text("no folder")
    code = "import sys\nfrom ir_std.cli.main import main\nsys.exit(main(sys.argv[1:]))"
    done = run_process(
        [sys.executable, "-c", code, runs / "a", tmp_path / "mispelled.run"],
        env={**os.environ, "IR_DATASETS_HOME": str(tmp_path / "home" / "x")},
    )
    assert done.returncode == 2
    assert "no such file, and ir_datasets" in done.stderr
    assert done.stderr.count("\n") == 1


def test_latex_in_ascii_has_commands_for_letters() -> None:
    from ir_std._system.text import escape_unencodable, latex_command

    text = escape_unencodable("caf\u00e9 \u20ac", "ascii", latex_command)
    assert text == "caf\\'{e} \\symbol{\"20AC}"


# Files and folders that the user may not read.


@pytest.fixture
def barred(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a folder that nobody may read, not even root (some tests run as root)."""

    def refuse(function: Any) -> Any:
        def refusing(path: Any, *args: Any, **options: Any) -> Any:
            if str(path).startswith(f"{tmp_path / 'barred'}{os.sep}"):
                raise PermissionError(13, "Permission denied", str(path))
            return function(path, *args, **options)

        return refusing

    (tmp_path / "q").write_text("1 0 d 1\n")
    small_set("mine").save(tmp_path / "barred" / "mine.npz")
    for name in ("stat", "lstat", "open"):
        monkeypatch.setattr(os, name, refuse(getattr(os, name)))
    monkeypatch.setattr("io.open", refuse(open))
    return tmp_path / "barred"


def test_places_that_the_user_may_not_read_are_not_missing(barred: Path, ir_std_cli: Any) -> None:
    result = ir_std_cli(barred / "run", barred.parent / "q", "AP")
    said = f"{PROGRAM}: error: {barred / 'run'}: Permission denied; name a readable file"
    assert (result.status, result.err) == (2, [said])
    with pytest.raises(InputError, match="Permission denied"):
        load_factors(barred / "mine.npz")
    with pytest.raises(InputError, match=r"barred: cannot be read \(Permission denied\)"):
        catalog._files_in(barred)


def test_a_set_that_cannot_be_removed_stays_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    small_set("mine").save(tmp_path / "own" / "mine.npz")
    monkeypatch.setenv("IR_STD_FACTORS", str(tmp_path / "own"))
    # This folder must not change.
    monkeypatch.setattr(Path, "unlink", refuse)
    with pytest.raises(InputError, match=r"cannot be removed \(Permission denied\)"):
        catalog.remove_set("mine")
    FactorSet.load(tmp_path / "own" / "mine.npz").verify()
    assert [path.name for path in (tmp_path / "own").iterdir()] == ["mine.npz"]
