"""Folders of sets: replaced in one piece, read in one piece, whatever happens meanwhile."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from processes import run_process
from sets import quick_first

from ir_std import FactorSet, InputError, load_factors
from ir_std.factors import files
from ir_std.factors.catalog import check_set

SETS = """
import os, signal, sys
import numpy as np
from pathlib import Path
from ir_std import FactorSet

def made(version):
    scores = np.sort(np.linspace(0, 1 / version, 12).reshape(3, 4))
    return FactorSet({"id": "s", "title": f"version {version}", "measures": {"AP": {"systems": 4}}},
                     {"1": version, "2": 3, "3": 4}, {"AP": scores.mean(axis=1)},
                     {"AP": scores.std(axis=1, ddof=1)}, {"AP": scores},
                     {"AP": np.tile(np.arange(4), (3, 1))})
"""

KILLED = (
    SETS
    + """
# A child saves version 2 over version 1 and sends itself a signal at its n-th call of the system.
target, kind = Path(sys.argv[1]), getattr(signal, sys.argv[2])
WATCHED = ("open", "os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.scandir", "os.listdir")
first, second = made(1), made(2)
for step in range(1, 1000):
    first.save(target)
    child = os.fork()
    if not child:
        left = [step]
        def count(event, args):
            if event in WATCHED:
                left[0] -= 1
                if left[0] == 0:
                    os.kill(os.getpid(), kind)
        sys.addaudithook(count)
        try:
            second.save(target)
        except KeyboardInterrupt:
            os._exit(3)
        os._exit(0 if left[0] > 0 else 4)
    status = os.waitpid(child, 0)[1]
    found = FactorSet.load(target)
    found.verify()
    version = int(found.title[-1])
    same = found.scores["AP"].tolist() == made(version).scores["AP"].tolist()
    print(step, status, version, same)
    if status == 0:
        break
"""
)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="only with fork")
@pytest.mark.parametrize("kind", quick_first(["SIGKILL", "SIGINT", "SIGTERM"]))
def test_a_set_is_whole_whenever_its_writer_is_killed(kind: str, tmp_path: Path) -> None:
    out = run_process(
        [sys.executable, "-c", KILLED, str(tmp_path / "s"), kind],
        check=True,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )
    steps = [line.split() for line in out.stdout.splitlines()]
    assert all(same == "True" for *_, same in steps)
    versions = [int(version) for *_, version, _ in steps]
    assert versions == sorted(versions)  # the old set before the exchange, the new one after it
    assert len(steps) > 20
    assert steps[-1][1:3] == ["0", "2"]


def made(version: int) -> FactorSet:
    """The sets that the other process makes."""
    names: dict[str, Any] = {}
    exec(SETS, names)
    found = names["made"](version)
    assert isinstance(found, FactorSet)
    return found


def test_between_the_two_renames_the_old_set_is_read(tmp_path: Path) -> None:
    made(1).save(tmp_path / "s")
    (tmp_path / "s").rename(tmp_path / ".s.old")
    assert load_factors(tmp_path / "s").title == "version 1"
    assert check_set(tmp_path / "s") == []
    made(2).save(tmp_path / "s")
    assert load_factors(tmp_path / "s").title == "version 2"
    assert [p.name for p in tmp_path.iterdir()] == ["s"]


def test_a_set_that_is_just_being_replaced_is_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(1).save(tmp_path / "s")
    (tmp_path / "s").rename(tmp_path / ".s.old")
    monkeypatch.setenv("IR_STD_FACTORS", str(tmp_path))
    assert load_factors("s").title == "version 1"


def test_a_set_keeps_its_tables_when_another_takes_its_place(tmp_path: Path) -> None:
    made(1).save(tmp_path / "s")
    before = load_factors(tmp_path / "s")
    made(2).save(tmp_path / "s")
    assert before.scores["AP"].tolist() == made(1).scores["AP"].tolist()
    assert before.mean["AP"].tolist() == made(1).mean["AP"].tolist()


def test_a_described_set_that_was_replaced_is_refused(tmp_path: Path) -> None:
    made(1).save(tmp_path / "s")
    before = FactorSet.described(tmp_path / "s")
    made(2).save(tmp_path / "s")
    with pytest.raises(InputError, match="has changed since it was found; load it again"):
        before.mean["AP"]


@pytest.mark.slow
def test_threads_that_read_a_set_that_is_rewritten_find_whole_ones(tmp_path: Path) -> None:
    versions = made(1), made(2)
    versions[0].save(tmp_path / "s")
    failed: list[BaseException] = []
    titles: set[str] = set()
    written = threading.Event()

    def read() -> None:
        try:
            while not written.is_set():
                found = load_factors(tmp_path / "s")
                found.verify()
                titles.add(found.title)
                right = versions[int(found.title[-1]) - 1]
                assert np.array_equal(found.scores["AP"], right.scores["AP"])
        except BaseException as wrong:
            failed.append(wrong)

    readers = [threading.Thread(target=read) for _ in range(4)]
    for reader in readers:
        reader.start()
    for turn in range(30):
        versions[turn % 2].save(tmp_path / "s")
    written.set()
    for reader in readers:
        reader.join()
    assert failed == []
    assert titles == {"version 1", "version 2"}


@pytest.mark.parametrize("look", [files.version_of, files.snapshot, load_factors])
def test_looks_that_fall_between_replacements_do_not_miss_a_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, look: Callable[[Path], object]
) -> None:
    made(1).save(tmp_path / "s")
    seen, empty = files._listing, iter([()] * 12)
    monkeypatch.setattr(
        files, "_listing", lambda folder: () if next(empty, None) is not None else seen(folder)
    )
    assert look(tmp_path / "s")


def test_only_folders_are_looked_at_for_sets(tmp_path: Path) -> None:
    (tmp_path / "topics.json").write_text("{}")
    (tmp_path / "s").mkdir()
    (tmp_path / ".t.old").mkdir()
    (tmp_path / ".hidden").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "s")
    assert files.subfolder_names(tmp_path) == ["link", "s", "t"]


def test_foreign_files_are_never_removed(tmp_path: Path) -> None:
    made(1).save(tmp_path / "s")
    (tmp_path / "s" / "run.txt").write_text("precious")
    with pytest.raises(InputError, match=r"holds 'run.txt' beside a factor set"):
        made(2).save(tmp_path / "s")
    assert (tmp_path / "s" / "run.txt").read_text() == "precious"
    assert load_factors(tmp_path / "s").title == "version 1"


def test_a_link_to_a_set_stays_a_link(tmp_path: Path) -> None:
    made(1).save(tmp_path / "s")
    (tmp_path / "link").symlink_to(tmp_path / "s")
    made(2).save(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert load_factors(tmp_path / "s").title == "version 2"


def test_a_folder_that_keeps_changing_is_said_to_be_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(1).save(tmp_path / "s")
    monkeypatch.setattr(files, "ATTEMPTS", 3)
    read = Path.read_bytes

    def slowly(self: Path) -> bytes:
        os.utime(tmp_path / "s" / "mean.csv", ns=(0, len(touched)))
        touched.append(self)
        return read(self)

    touched: list[Path] = []
    monkeypatch.setattr(Path, "read_bytes", slowly)
    with pytest.raises(InputError, match="changes while it is read"):
        FactorSet.load(tmp_path / "s")


# -- frozen ----------------------------------------------------------------------------------------


def test_a_set_cannot_be_changed(tmp_path: Path) -> None:
    made(1).save(tmp_path / "s")
    for factors in (made(1), load_factors(tmp_path / "s")):
        for array in (
            factors.mean["AP"],
            factors.sd["AP"],
            factors.scores["AP"],
            factors.systems["AP"],
        ):
            with pytest.raises(ValueError, match="read-only"):
                array[:] = 0
        frozen: Any
        for frozen in (
            factors.info,
            factors.info["measures"]["AP"],
            factors.mean,
            factors.n_rel,
            factors.judgments,
        ):
            with pytest.raises(TypeError, match="frozen"):
                frozen["AP"] = 0
        with pytest.raises(AttributeError, match="frozen"):
            factors.title = "another"


def test_what_a_set_was_made_of_stays_free() -> None:
    mean, sd = np.array([0.5]), np.array([0.1])
    made = FactorSet(
        {"id": "x", "measures": {"AP": {"systems": 2}}}, {"1": 1}, {"AP": mean}, {"AP": sd}
    )
    mean[0] = sd[0] = 9
    assert (made.mean["AP"][0], made.sd["AP"][0]) == (0.5, 0.1)


def test_a_set_is_pickled_and_stays_frozen() -> None:
    import pickle

    again = pickle.loads(pickle.dumps(made(1)))
    assert again.scores["AP"].tolist() == made(1).scores["AP"].tolist()
    assert again.info == made(1).info
    with pytest.raises(ValueError, match="read-only"):
        again.mean["AP"][:] = 0


TABLES = {"mean": {"AP": [0.5, 0.5]}, "sd": {"AP": [0.1, 0.1]}}


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"mean": {}}, "measures are ; set.json has AP"),
        ({"mean": {"AP": [0.5]}}, "AP has shape (1,), (2,) is expected"),
        ({"mean": {"AP": [0.5, -0.1]}}, "AP of topic 2 is negative"),
        ({"mean": {"AP": [0.5, np.inf]}}, "AP of topic 2 is infinite"),
        ({"mean": {"AP": [0.5, 1.1]}}, "AP of topic 2 is outside 0 to 1.0"),
        ({"sd": {"AP": [-0.1, 0.1]}}, "AP of topic 1 is negative"),
        ({"sd": {"AP": [np.nan, 0.1]}}, "is known where the mean is not, or the reverse"),
        ({"scores": {"AP": [[0.6, 0.4], [0.4, 0.6]]}}, "is not sorted"),
        ({"scores": {"AP": [[0.4, 0.6]]}}, "AP has shape (1, 2), (2, 2) is expected"),
        ({"scores": {"RR": [[0.4, 0.6]] * 2}}, "RR is not in set.json"),
        (
            {"scores": {"AP": [[0.4, 0.6]] * 2}},
            "AP of topic 1 and 1 more is not that of the scores",
        ),
        ({"n_rel": {}}, "there is no topic"),
        ({"n_rel": {"1": 1, "": 1}}, "topic '' is no text of at least one character"),
        ({"n_rel": {"1": 1, "2": -1}}, "topic '2' has [-1] relevant documents"),
        ({"info": {"id": "x"}}, "'measures' missing"),
        ({"info": {"id": "", "measures": {"AP": {"systems": 2}}}}, 'id is "": a name of 1 to 200'),
    ],
)
def test_a_set_is_checked_when_it_is_made(changes: dict[str, Any], says: str) -> None:
    about: dict[str, Any] = {
        "info": {"id": "x", "measures": {"AP": {"systems": 2}}},
        "n_rel": {"1": 1, "2": 1},
    }
    with pytest.raises(InputError) as refused:
        FactorSet(**{**about, **TABLES, **changes})
    assert says in str(refused.value)


def test_unknown_fields_are_warned_of(tmp_path: Path) -> None:
    made(1).save(tmp_path / "s")
    file = tmp_path / "s" / "set.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "titel": "x"}))
    with pytest.warns(match="factor set s has fields that are not known here: titel"):
        FactorSet.load(tmp_path / "s")
