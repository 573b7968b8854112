"""Factor sets built from runs."""

import gc
import gzip
import io
import os
import shutil
import tarfile
import weakref
from concurrent.futures import CancelledError, Executor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pytest
from made_up import TOPICS, collection, write_qrels, write_runs

import ir_std
from ir_std import FactorSet, InputError, StandardizationWarning, UsageError, build_factors
from ir_std._system.processes import map_in_order
from ir_std.builders.from_runs import BUILD_MEASURES
from ir_std.cli.streams import PROGRAM
from ir_std.factors.derived import leave_out_systems
from ir_std.factors.estimates import factors_from_scores, scores_by_system
from ir_std.schemes import means_and_deviations

QRELS, RUNS = collection()
MEASURES = ["AP", "nDCG@5", "P(rel=2)@5"]


@pytest.fixture(scope="module")
def expected() -> FactorSet:
    """Build the set with which the results of archives, processes and executors must agree."""
    return build_factors(QRELS, RUNS, MEASURES, id="x")


def build(qrels: Any, runs: Any, **options: Any) -> FactorSet:
    return build_factors(qrels, runs, MEASURES, id="x", **options)


@pytest.fixture
def qrels(tmp_path: Path) -> Path:
    return write_qrels(QRELS, tmp_path / "qrels")


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    return write_runs(RUNS, tmp_path / "runs")


def test_mean_and_deviation_are_those_of_the_systems_scores() -> None:
    built = build_factors(QRELS, RUNS, MEASURES, id="x")
    for name in MEASURES:
        measure = ir_std.parse_measure(name)
        values = np.zeros((len(TOPICS), len(RUNS)))
        for s, run in enumerate(RUNS.values()):
            for m in ir_measures.pytrec_eval.iter_calc([measure], QRELS, run):
                values[TOPICS.index(m.query_id), s] = m.value
        assert built.mean[name] == pytest.approx(values.mean(axis=1), abs=1e-12)
        assert built.sd[name] == pytest.approx(values.std(axis=1, ddof=1), abs=1e-12)
        assert built.scores[name] == pytest.approx(values, abs=1e-12)
        assert built.n_systems[name] == len(RUNS)


def test_a_topic_absent_from_a_run_counts_as_zero() -> None:
    built = build_factors(QRELS, RUNS, ["Success@10"], id="x")
    assert built.scores["Success@10"][TOPICS.index("t5")].min() == 0


def test_a_set_says_how_it_was_built() -> None:
    built = build_factors(QRELS, RUNS, ["AP"], id="x", title="X", source="here", licence="MIT")
    assert built.info == {
        "id": "x",
        "title": "X",
        "depth": 40,
        "max_level": 2,
        "resolution": 0,
        "source": "here",
        "licence": "MIT",
        "default_measures": ("AP",),
        "built": "by ir_std from 7 runs",
        "measures": {"AP": {"systems": 7}},
    }


def test_without_measures_all_usual_ones_are_built() -> None:
    built = build_factors(QRELS, RUNS, id="x")
    assert built.measures == BUILD_MEASURES
    assert built.default_measures == ("AP", "nDCG", "P@10", "Rprec")


def test_err_is_passed_over_where_levels_are_too_high_for_it() -> None:
    high = {t: {d: level + 3 for d, level in docs.items()} for t, docs in QRELS.items()}
    assert "ERR@20" not in build_factors(high, RUNS, id="x").measures


def test_the_order_of_the_runs_leaves_no_trace(expected: FactorSet) -> None:
    assert build(QRELS, dict(list(RUNS.items())[::-1])).identity == expected.identity


def test_files_of_the_same_name_are_named_by_their_folders(runs: Path, tmp_path: Path) -> None:
    for i, name in enumerate(("a/run1", "b/run1.gz", "b/c/best")):
        (tmp_path / "all" / name).parent.mkdir(parents=True, exist_ok=True)
        text = (runs / f"sys{i}").read_bytes()
        packed = gzip.compress(text) if name.endswith("gz") else text
        (tmp_path / "all" / name).write_bytes(packed)
    for given in (
        tmp_path / "all",
        shutil.make_archive(str(tmp_path / "x"), "tar", tmp_path / "all"),
    ):
        built = build_factors(QRELS, given, ["AP"], id="x")
        assert {*built.systems} == {"a/run1", "b/run1", "best"}


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_files_and_objects_give_the_same_set_in_any_number_of_processes(
    jobs: int, qrels: Path, runs: Path, expected: FactorSet
) -> None:
    assert build(qrels, runs, jobs=jobs).identity == expected.identity


@pytest.mark.parametrize("form", ["tar", "gztar", "xztar", "bztar", "zip", "zip of gzip"])
def test_archives_and_folders_give_the_same_set(
    form: str, qrels: Path, runs: Path, tmp_path: Path, expected: FactorSet
) -> None:
    if form == "zip of gzip":
        for file in [*runs.iterdir()]:
            file.with_name(f"{file.name}.gz").write_bytes(gzip.compress(file.read_bytes()))
            file.unlink()
    kind = "zip" if form == "zip of gzip" else form
    packed = Path(shutil.make_archive(str(tmp_path / "packed"), kind, tmp_path, "runs"))
    if form == "gztar":  # .tar.gz is read elsewhere
        packed = packed.rename(tmp_path / "packed.tgz")
    before = set(tmp_path.rglob("*"))
    assert build(qrels, packed).identity == expected.identity
    assert set(tmp_path.rglob("*")) == before


class Backwards(Executor):
    """Completes tasks in the reverse order of their submission."""

    def __init__(self) -> None:
        self.waiting: list[Any] = []

    def submit(self, task: Any, /, *args: Any, **options: Any) -> Future[Any]:
        future: Future[Any] = Future()
        ask = future.result

        def result(timeout: float | None = None) -> Any:
            while self.waiting:
                waiting, work, given = self.waiting.pop()
                waiting.set_result(work(*given))
            return ask(timeout)

        self.waiting.append((future, task, args))
        future.result = result  # type: ignore[method-assign]  # a future that is asked to work
        return future


def test_the_order_of_completion_leaves_no_trace(expected: FactorSet) -> None:
    assert build(QRELS, RUNS, executor=Backwards()).identity == expected.identity


class Forgetful(Executor):
    """Loses the first tasks, as Dask may when a worker dies."""

    def __init__(self, lost: Exception, times: int = 3) -> None:
        self.lost, self.times = lost, times
        self.calls: list[tuple[Any, ...]] = []

    def submit(self, task: Any, /, *args: Any, **options: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.calls.append(args)
        if len(self.calls) > self.times:
            future.set_result(task(*args))
        elif isinstance(self.lost, EOFError):
            future.set_result(self.lost)
        else:
            future.set_exception(self.lost)
        return future


# If the worker dies between two of its lines, Dask unpacks a result as if it were an error.
UNPACKED = TypeError("cannot unpack non-iterable Evaluation object")
LOST = [CancelledError(), UNPACKED, TimeoutError("no answer"), EOFError("a result that is none")]


@pytest.mark.parametrize("lost", LOST, ids=repr)
def test_a_task_that_the_executor_lost_is_given_to_it_again(
    lost: Exception, expected: FactorSet
) -> None:
    forgetful = Forgetful(lost)
    assert build(QRELS, RUNS, executor=forgetful).identity == expected.identity
    assert len(forgetful.calls) == len(RUNS) + 3


def test_a_task_that_the_executor_loses_twice_is_reported() -> None:
    forgetful = Forgetful(UNPACKED, times=2)
    with pytest.raises(UsageError, match=r"the executor failed .*cannot unpack.*; start it again"):
        list(map_in_order(lambda _, item: item, b"", [1], executor=forgetful))


def test_no_call_of_an_executor_can_be_answered_with_the_result_of_another() -> None:
    forgetful = Forgetful(UNPACKED, times=1)
    assert list(map_in_order(lambda _, item: item, b"", [1, 1], executor=forgetful)) == [1, 1]
    assert len({call[1:] for call in forgetful.calls}) == 3


def test_an_error_of_a_task_itself_is_raised_and_the_task_not_repeated() -> None:
    calls: list[int] = []

    def task(_: bytes, item: int) -> int:
        calls.append(item)
        raise TypeError("of the task")

    with ThreadPoolExecutor(1) as executor, pytest.raises(TypeError, match="of the task") as raised:
        list(map_in_order(task, b"", [1], executor=executor))
    assert calls == [1]
    assert 'raise TypeError("of the task")' in str(raised.value.__cause__)


class Failed(Exception):
    """An error to which a weak reference can refer."""


def fail(_: bytes, item: int) -> int:
    raise Failed(item)


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_error_of_a_task_is_gone_once_it_is_handled(jobs: int) -> None:
    gc.disable()
    try:
        with ThreadPoolExecutor(1) as threads:
            executor = threads if jobs == 1 else None
            try:
                list(map_in_order(fail, b"", [1], jobs, executor))
            except Failed as error:
                known = weakref.ref(error)
        assert known() is None
    finally:
        gc.enable()


class Deadly(dict[str, dict[str, float]]):
    """A run that ends the process which unpacks it."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os._exit, (1,)


@pytest.mark.slow
def test_a_process_that_dies_is_one_clear_error() -> None:
    with pytest.raises(UsageError, match="a process died, perhaps because memory ran out"):
        build_factors(QRELS, [Deadly(), *RUNS.values()], ["AP"], id="x", jobs=2)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_broken_run_stops_the_build_with_file_and_line(
    jobs: int, qrels: Path, runs: Path
) -> None:
    (runs / "sys3").write_text("t0 Q0 d1 1 0.5 x\nt0 Q0 d2 2 zero x\n")
    with pytest.raises(InputError, match=r"sys3:2: score is 'zero'"):
        build_factors(qrels, runs, id="x", jobs=jobs)


@pytest.mark.slow
def test_a_broken_member_of_an_archive_is_named_with_its_line(qrels: Path, tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "runs.tar.xz", "w:xz") as packed:
        member = tarfile.TarInfo("runs/bad")
        member.size = 3
        packed.addfile(member, io.BytesIO(b"t0\n"))
    with pytest.raises(InputError, match=r"runs.tar.xz!runs/bad:1: 1 column"):
        build_factors(qrels, tmp_path / "runs.tar.xz", id="x")


@pytest.mark.slow
def test_broken_runs_can_be_left_out_and_are_listed(qrels: Path, runs: Path) -> None:
    (runs / "sys3").write_text("t0 Q0 d1 1 zero x\n")
    (runs / "sys5").write_text("other Q0 d1 1 1 x\n")
    with pytest.warns(StandardizationWarning) as heard:
        built = build(qrels, runs, skip_bad=True)
    assert [str(w.message).split(": ")[1:3] for w in heard][:2] == [
        [f"{runs}/sys3:1", "score is 'zero'; expected a finite number or -inf"],
        [f"{runs}/sys5", "has no topic of the qrels; expected topics such as t0"],
    ]
    others = {tag: run for tag, run in RUNS.items() if tag not in ("sys3", "sys5")}
    assert built.identity == build(QRELS, others).identity


def test_runs_are_cut_in_trec_evals_order_before_they_are_evaluated() -> None:
    built = build_factors(QRELS, RUNS, ["nDCG"], id="x", depth=10)
    whole = build_factors(QRELS, RUNS, ["nDCG@10"], id="x")
    assert built.info["depth"] == 10
    assert "cut to 10 documents" in built.info["built"]
    ideal = build_factors(QRELS, RUNS, ["DCG", "DCG@10"], id="x", depth=10)
    assert np.array_equal(ideal.mean["DCG"], ideal.mean["DCG@10"])
    assert (built.mean["nDCG"] <= whole.mean["nDCG@10"]).all()


def test_a_run_deeper_than_the_set_is_warned_about() -> None:
    built = build_factors(QRELS, RUNS, ["AP"], id="x", depth=10)
    with pytest.warns(StandardizationWarning, match="run: topics have up to 40 documents"):
        ir_std.calc_aggregate([ir_measures.AP], QRELS, RUNS["sys0"], factors=built)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"runs": [RUNS["sys0"]]}, "need at least 2 usable runs, got 1"),
        ({"runs": []}, "need at least 2 usable runs, got 0"),
        ({"depth": 0}, "expected a depth of at least 1, got 0"),
        ({"measures": []}, "no measure"),
        ({"measures": ["AP", "AP(rel=1)"]}, "given twice"),
        ({"measures": ["sAP"]}, "cannot be standardized"),
    ],
)
def test_sets_that_cannot_be_built_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        build_factors(**{"qrels": QRELS, "runs": RUNS, "id": "x", **arguments})


@pytest.mark.parametrize("again", ["sys1", "link", "hard", "relative"])
def test_a_run_given_twice_is_refused_by_whatever_path(
    again: str, qrels: Path, runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "link").symlink_to(runs / "sys1")
    os.link(runs / "sys1", tmp_path / "hard")
    monkeypatch.chdir(runs)
    path = {"sys1": runs / "sys1", "relative": Path("sys1")}.get(again, tmp_path / again)
    with pytest.raises(UsageError, match=r"is given twice \(as .*sys1\)|sys1 is given twice"):
        build_factors(qrels, [*sorted(runs.iterdir()), path], id="x")


def test_runs_with_the_same_scores_on_every_topic_are_warned_about(qrels: Path, runs: Path) -> None:
    (runs / "copy").write_text((runs / "sys1").read_text())
    with pytest.warns(
        StandardizationWarning,
        match=r"/copy and .*/sys1 have identical scores on every topic; if they are the same",
    ):
        build_factors(qrels, runs, ["AP", "P@10"], id="x")


def test_scores_that_do_not_differ_have_a_deviation_of_exactly_zero() -> None:
    third = np.array([[0.1 + 0.2, 0.3, 0.3], [0.1, 0.2, np.nan], [0.1, np.nan, np.nan]])
    mean, sd = means_and_deviations(np.sort(third, axis=1))
    assert sd[0] == 0
    assert (mean[1], sd[1]) == pytest.approx((0.15, np.sqrt(0.005)))
    assert np.isnan([mean[2], sd[2]]).all()


SCORES = {
    "AP": np.array([[0.9, 0.1, 0.5], [0.2, 0.3, 0.5]]),
    "P@10": np.array([[0.1, 0.3, 0.3], [0.1, 0.1, 0.4]]),
}


ORDERS = pytest.mark.parametrize("order", [[0, 1, 2], [1, 2, 0], [2, 1, 0]])


def numbered(order: list[int], tags: dict[str, list[str]] | None = None) -> FactorSet:
    """Make a set of the scores, whose columns are in an order, with or without tags."""
    scores = {m: s[:, order] for m, s in SCORES.items()}
    ordered = tags and {m: [t[i] for i in order] for m, t in tags.items()}
    return factors_from_scores(scores, {"1": 5, "2": 5}, {"id": "x"}, ordered)


@ORDERS
def test_systems_without_names_are_numbered_by_their_scores_alone(order: list[int]) -> None:
    made = numbered(order)
    # sums over both measures: 0.8 (the second), 1.3 (the first), 1.7
    assert made.scores["AP"].tolist() == [[0.1, 0.9, 0.5], [0.3, 0.2, 0.5]]
    assert made.scores["P@10"].tolist() == [[0.3, 0.1, 0.3], [0.1, 0.1, 0.4]]
    assert made.systems == ()


@ORDERS
def test_systems_are_numbered_in_the_order_of_their_names_in_all_measures(order: list[int]) -> None:
    tags = {"AP": ["c", "a", "b"], "P@10": ["c", "a", "d"]}
    made = numbered(order, tags)
    assert made.systems == ("a", "b", "c", "d")
    assert made.n_systems == {"AP": 3, "P@10": 3}
    for measure, called in tags.items():
        numbers, scores = scores_by_system(made, measure)
        for number, column in zip(numbers, scores.T, strict=True):
            place = called.index(made.systems[number])
            assert np.array_equal(column, SCORES[measure][:, place])


def test_systems_are_called_as_their_files_or_as_a_dict_calls_them(runs: Path, qrels: Path) -> None:
    expected = tuple(sorted(RUNS))
    assert build_factors(qrels, runs, ["AP"], id="x").systems == expected
    assert build_factors(qrels, RUNS, ["AP"], id="x").systems == expected
    assert build_factors(qrels, list(RUNS.values()), ["AP"], id="x").systems == ()


@pytest.mark.parametrize("left_out", [["sys2"], ["sys5", "sys0"]])
def test_factors_without_some_systems_are_those_of_the_others(
    left_out: list[str], expected: FactorSet
) -> None:
    built = build(QRELS, {tag: run for tag, run in RUNS.items() if tag not in left_out})
    reduced = leave_out_systems(expected, left_out)
    for field in ("mean", "sd", "scores"):
        for measure in MEASURES:
            assert np.array_equal(getattr(reduced, field)[measure], getattr(built, field)[measure])
    assert (reduced.systems, reduced.n_systems) == (built.systems, built.n_systems)
    assert reduced.title == f"x, without {', '.join(left_out)}"


@pytest.mark.parametrize(
    ("runs", "left_out", "message"),
    [
        (RUNS, ["sys22"], r"x has no system 'sys22'; available: .*; did you mean 'sys2'\?"),
        (list(RUNS.values()), ["sys2"], "x does not name its systems"),
        (RUNS, sorted(RUNS)[1:], "has 1 system for AP"),
    ],
)
def test_systems_that_cannot_be_left_out_are_reported(
    runs: Any, left_out: list[str], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        leave_out_systems(build_factors(QRELS, runs, ["AP"], id="x"), left_out)


# -- the command -----------------------------------------------------------------------------


def test_the_command_builds_a_set_that_standardizes_other_runs(
    ir_std_cli: Any, qrels: Path, runs: Path, tmp_path: Path
) -> None:
    some = [runs / f"sys{i}" for i in range(4)]
    built = ir_std_cli("build", qrels, *some, "-o", tmp_path / "mine.npz", "--title", "My systems")
    assert built.status == 0
    assert built.out == [f"{tmp_path}/mine.npz\t6 topics\t4 systems\t31 measures"]
    used = ir_std_cli(runs / "sys5", qrels, "AP", "-s", "N,E", "--factors", tmp_path / "mine.npz")
    assert [line.split("\t")[0] for line in used.out] == ["AP", "sAP", "sAP(scheme='E')"]
    assert used.err[0].startswith("ir_std: using mine (My systems, 4 systems): ")
    assert "judgments match on 6 of 6 topics; with fewer than 40 systems" in used.err[0]


def test_the_command_leaves_nothing_behind_when_it_fails_or_lists_what_it_leaves_out(
    ir_std_cli: Any, qrels: Path, runs: Path, tmp_path: Path
) -> None:
    (runs / "sys6").write_text("t0 Q0 d1\n")
    arguments = "build", qrels, runs, "-o", tmp_path / "mine.npz", "--measures", "AP"
    failed = ir_std_cli(*arguments)
    assert failed.status == 2
    assert failed.err == [
        f"ir_std: error: {runs}/sys6:1: 3 columns; a run has 6 columns: topic "
        "Q0 document rank score tag"
    ]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["qrels", "runs"]
    built = ir_std_cli(*arguments, "--skip-bad")
    assert built.status == 0
    assert f"{PROGRAM}: warning: left out: {runs}/sys6:1: 3 columns" in built.err[0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["qrels", "-o", "new.npz"], "build needs QRELS and at least two RUNs"),
        (["qrels", "runs", "-o", "runs"], "does not end with .npz; name a file NAME.npz"),
        (["qrels", "runs", "-o", "others.npz"], "is not a regular file"),
        (["qrels", "runs", "-o", "new.npz", "--jobs", "0"], "jobs is 0"),
        (["qrels", "runs", "-o", "new.npz", "--measures", "Foo"], "unknown measure 'Foo'"),
        (["runs/sys1", "runs", "-o", "new.npz"], "a qrels file has 4 columns"),
    ],
)
@pytest.mark.usefixtures("qrels", "runs")
def test_wrong_use_of_the_command_is_one_clear_line(
    arguments: list[str],
    message: str,
    ir_std_cli: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "others.npz").mkdir()
    failed = ir_std_cli("build", *arguments)
    assert failed.status == 2
    assert len(failed.err) == 1
    assert message in failed.err[0]


def test_a_set_that_is_there_is_replaced_by_force_only(
    ir_std_cli: Any, qrels: Path, runs: Path, tmp_path: Path
) -> None:
    arguments = "build", qrels, runs, "-o", tmp_path / "mine.npz", "--measures", "AP"
    assert ir_std_cli(*arguments).status == 0
    refused = ir_std_cli(*arguments)
    assert refused.status == 2
    assert "--force" in refused.err[0]
    assert ir_std_cli(*arguments, "--force").status == 0
