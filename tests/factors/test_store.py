"""The file of a factor set: what it holds, how it is replaced, and what is refused."""

import json
import pickle
import shutil
import struct
import zipfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest
from plain_hash import fingerprint_of
from sets import each_set, quick_first

import ir_std
from ir_std import FactorSet, available_factors, load_factors
from ir_std.errors import InputError, IrStdError, StandardizationWarning
from ir_std.factors import store
from ir_std.factors.catalog import check_set, shipped_folder
from ir_std.factors.judgments import judgments_of
from ir_std.trec.inputs import as_qrels

SCORES = np.random.default_rng(1).random((20, 5))
JUDGED = {str(t): {f"d{t}-{d}": int(d < 5) for d in range(9)} for t in range(20)}


def made(name: str = "mine", **info: Any) -> FactorSet:
    """Make a set of twenty topics and five systems, with scores for AP, and moments for RR."""
    return FactorSet(
        {"id": name, "measures": {"AP": {}, "RR": {"systems": 7}}, **info},
        judgments_of(as_qrels(JUDGED)),
        {"RR": np.full(20, 0.5)},
        {"RR": np.full(20, 0.1)},
        {"AP": SCORES},
        list("abcde"),
    )


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the file of a set in the user's folder."""
    made().save(tmp_path / "mine.npz")
    monkeypatch.setenv("IR_STD_FACTORS", str(tmp_path))
    return tmp_path / "mine.npz"


# -- what it holds ---------------------------------------------------------------------------------


def test_numpy_opens_it_in_one_line(file: Path) -> None:
    opened = np.load(file)
    assert np.array_equal(opened["scores/AP"], SCORES)
    assert opened["topics"].tolist() == [*JUDGED]
    assert opened["systems"].tolist() == list("abcde")
    assert json.loads(opened["set.json"])["id"] == "mine"


def test_counts_and_fingerprints_cover_the_documents_at_a_level_or_above(file: Path) -> None:
    opened = np.load(file)
    assert json.loads(opened["set.json"])["levels"] == [0, 1]
    assert opened["counts"].tolist() == [[9, 5]] * 20
    for topic, prints in zip(JUDGED, opened["prints"].tolist(), strict=True):
        documents = [f"d{topic}-{d}".encode() for d in range(9)]
        assert prints == [fingerprint_of(documents), fingerprint_of(documents[:5])]


def test_means_and_deviations_are_those_of_the_scores(file: Path) -> None:
    factors = FactorSet.load(file)
    assert "mean/AP" not in np.load(file)
    assert factors.mean["AP"] == pytest.approx(SCORES.mean(axis=1), abs=1e-15)
    assert factors.sd["AP"] == pytest.approx(SCORES.std(axis=1, ddof=1), abs=1e-15)


def test_only_the_measures_that_are_asked_for_are_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    unpacked: list[str] = []
    unpack = store._unpack

    def watched(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
        unpacked.append(member.filename)
        return unpack(archive, member)

    monkeypatch.setattr(store, "_unpack", watched)
    factors = FactorSet.load(shipped_folder() / "trec8-adhoc.npz")
    factors.standardize("P@10", ["401"], [0.5])
    assert [name for name in unpacked if "/" in name] == ["scores/P@10.npy"]


def test_equal_scores_are_stored_once(tmp_path: Path) -> None:
    scores = dict.fromkeys(("AP", "nDCG", "nDCG(rel=1)"), SCORES)
    twice = FactorSet(
        {"id": "x", "measures": {m: {} for m in scores}}, JUDGED_COUNTS, None, None, scores
    )
    twice.save(tmp_path / "x.npz")
    assert [n for n in np.load(tmp_path / "x.npz") if "/" in n] == ["scores/AP"]
    again = FactorSet.load(tmp_path / "x.npz")
    assert all(np.array_equal(again.scores[m], SCORES) for m in scores)
    again.save(tmp_path / "y.npz")
    assert (tmp_path / "x.npz").read_bytes() == (tmp_path / "y.npz").read_bytes()


JUDGED_COUNTS = dict.fromkeys(JUDGED, 5)


def test_the_same_set_gives_the_same_bytes_and_identity(file: Path, tmp_path: Path) -> None:
    FactorSet.load(file).save(tmp_path / "again.npz")
    assert (tmp_path / "again.npz").read_bytes() == file.read_bytes()
    assert FactorSet.load(file).identity == made().identity != made(title="x").identity


def test_the_identity_does_not_depend_on_compression(file: Path) -> None:
    rewrite(file, lambda _: None, zipfile.ZIP_STORED)
    assert FactorSet.load(file).identity == made().identity


@pytest.mark.parametrize("name", each_set())
def test_shipped_sets_are_sound(name: str) -> None:
    assert check_set(shipped_folder() / f"{name}.npz") == []


# -- frozen ----------------------------------------------------------------------------------------


def test_a_set_cannot_be_changed(file: Path) -> None:
    for factors in (made(), load_factors(file)):
        arrays = factors.mean["AP"], factors.sd["RR"], factors.scores["AP"], factors.counts
        for array in (*arrays, factors.prints):
            with pytest.raises(ValueError, match="read-only"):
                array[:] = 0
        frozen: Any
        for frozen in (factors.info, factors.info["measures"]["AP"], factors.n_rel):
            with pytest.raises(TypeError, match="frozen"):
                frozen["AP"] = 0
        with pytest.raises(TypeError):
            factors.mean["AP"] = 0  # type: ignore[index]
        with pytest.raises(AttributeError, match="frozen"):
            factors.title = "another"


def test_what_a_set_was_made_of_stays_free() -> None:
    scores = SCORES.copy()
    factors = FactorSet({"id": "x", "measures": {"AP": {}}}, JUDGED_COUNTS, scores={"AP": scores})
    scores[0] = 9
    assert np.array_equal(factors.scores["AP"], SCORES)


def test_a_set_is_pickled_and_stays_frozen() -> None:
    again = pickle.loads(pickle.dumps(made()))
    assert again.identity == made().identity
    with pytest.raises(ValueError, match="read-only"):
        again.mean["AP"][:] = 0


# -- replaced in one piece -------------------------------------------------------------------------


def test_readers_find_one_whole_set_while_it_is_rewritten(tmp_path: Path) -> None:
    versions = [made(title=title) for title in ("a", "b")]
    file = tmp_path / "mine.npz"
    versions[0].save(file)

    def write() -> None:
        for i in range(60):
            versions[i % 2].save(file)

    writer = Thread(target=write)
    writer.start()
    found = set()
    while writer.is_alive():
        factors = FactorSet.load(file)
        factors.verify()
        found.add(factors.identity)
    writer.join()
    assert found <= {version.identity for version in versions}


def test_a_set_keeps_its_scores_when_another_takes_its_place(file: Path) -> None:
    before = FactorSet.load(file)
    made(title="another").save(file)
    assert np.array_equal(before.scores["AP"], SCORES)


def test_a_link_to_a_set_stays_a_link(file: Path, tmp_path: Path) -> None:
    (tmp_path / "link.npz").symlink_to(file)
    made(title="new").save(tmp_path / "link.npz")
    assert (tmp_path / "link.npz").is_symlink()
    assert FactorSet.load(file).title == "new"


def test_a_set_has_a_name_that_numpy_knows(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"does not end with \.npz; name a file NAME\.npz"):
        made().save(tmp_path / "mine")
    assert [*tmp_path.iterdir()] == []


# -- checked when it is made ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"mean": {}}, "mean/AP: is missing"),
        ({"mean": {"AP": [0.5]}}, "mean/AP: has shape (1,), and sd has shape (2,)"),
        ({"mean": {"AP": [0.5, -0.1]}}, "mean/AP: the value of topic 2 is below 0"),
        ({"mean": {"AP": [0.5, np.inf]}}, "mean/AP: the value of topic 2 is infinite"),
        ({"mean": {"AP": [0.5, 1.1]}}, "mean/AP: the value of topic 2 is above 1"),
        ({"sd": {"AP": [-0.1, 0.1]}}, "sd/AP: the value of topic 1 is below 0"),
        ({"sd": {"AP": [np.nan, 0.1]}}, "and its standard deviation must both be known"),
        ({"scores": {"AP": [[0.4, 0.6]] * 2}}, "mean/AP: is unexpected"),
        ({"scores": {"RR": [[0.4, 0.6]] * 2}}, "scores/RR: is unexpected"),
        ({"mean": {}, "sd": {}, "scores": {"AP": [[0.4, 0.6]]}}, "scores/AP: has shape (1, 2)"),
        (
            {"mean": {}, "sd": {}, "scores": {"AP": [[0.4, 9]] * 2}},
            "the value of topic 1 is above 1",
        ),
        ({"judgments": {}}, "topics"),
        ({"judgments": {"1": 1, "": 1}}, "topic '' cannot be written"),
        ({"judgments": {"1": 0, "2": 1}}, "than the number of relevant documents allows"),
        ({"info": {"id": "x"}}, "'measures' missing"),
        (
            {"info": {"id": "", "measures": {"AP": {"systems": 2}}}},
            "expected a name of 1 to 200 characters",
        ),
    ],
)
def test_a_set_is_checked_when_it_is_made(changes: dict[str, Any], says: str) -> None:
    about: dict[str, Any] = {
        "info": {"id": "x", "measures": {"AP": {"systems": 2}}},
        "judgments": {"1": 1, "2": 1},
        "mean": {"AP": [0.5, 0.5]},
        "sd": {"AP": [0.1, 0.1]},
    }
    with pytest.raises(InputError) as refused:
        FactorSet(**{**about, **changes})
    assert says in str(refused.value)


def test_scores_are_in_steps_of_the_resolution() -> None:
    info = {"id": "x", "measures": {"AP": {"resolution": 0.01}}}
    with pytest.raises(InputError, match=r"is not a multiple of 0\.01"):
        FactorSet(info, JUDGED_COUNTS, scores={"AP": SCORES})
    FactorSet(info, JUDGED_COUNTS, scores={"AP": np.round(SCORES, 2)})


# -- hostile files -------------------------------------------------------------------------------

Change = Callable[[dict[str, bytes]], object]


def rewrite(file: Path, change: Change, method: int = zipfile.ZIP_DEFLATED) -> None:
    """Pack a set's members again, after a change."""
    with zipfile.ZipFile(file) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def info(**fields: Any) -> Change:
    def change(members: dict[str, bytes]) -> None:
        members["set.json"] = json.dumps(json.loads(members["set.json"]) | fields).encode()

    return change


def member(name: str, content: bytes) -> Change:
    return lambda members: members.update({name: content})


def array(name: str, values: Any) -> Change:
    stream = BytesIO()
    np.save(stream, values)
    return member(f"{name}.npy", stream.getvalue())


def plain_header(text: str, data: bytes = b"", name: str = "scores/AP") -> Change:
    head = text.encode() + b"\n"
    content = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + data
    return member(f"{name}.npy", content)


def header(kind: str, shape: str, data: bytes = b"", name: str = "scores/AP") -> Change:
    text = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}}}"
    return plain_header(text, data, name)


BROKEN: dict[str, Change] = {
    **{
        f"set.json: {name} is {str(value)[:20]!r}": info(**{name: value})
        for name, value in [
            *[("format", 2), ("levels", [1, 0]), ("levels", "x"), ("doc_id_example", 3)],
            *[("corpus", ["a"]), ("max_level", [1]), ("ir_datasets", [1]), ("source", ["a"])],
            *[("depth", wrong) for wrong in ("x", 0, True)],
            *[("resolution", -1), ("resolution", float("nan")), ("default_measures", ["Foo"])],
            *[("id", ""), ("id", "a/b"), ("title", "\x1b[2J"), ("unit", "planet")],
            *[
                ("sources", "x"),
                ("same_scores", {"RR": "AP"}),
                ("same_scores", "x"),
                ("measures", {}),
            ],
            ("measures", {"AP": 5}),
            ("measures", {"AP": {"systems": -1}}),
            ("measures", {"AP": {"systems": 6}, "RR": {"systems": 7}}),
            ("measures", {"AP": {"systems": 5}}),
            ("measures", {"AP": {"systems": 5}, "Foo": {"systems": 7}}),
        ]
    },
    "set.json: nested deeply": member("set.json", b"[" * 100_000),
    "set.json: a number of 5,000 digits": member("set.json", b'{"id": ' + b"9" * 5000 + b"}"),
    "set.json: not UTF-8": member("set.json", b'{"id": "\xff"}'),
    "set.json: a list": member("set.json", b"[]"),
    "set.json: more than 4 MiB": member("set.json", b" " * (1 << 23)),
    "no set.json": lambda members: members.pop("set.json"),
    "no topics": lambda members: members.pop("topics.npy"),
    "no counts": lambda members: members.pop("counts.npy"),
    "no scores": lambda members: members.pop("scores/AP.npy"),
    "another member": member("more.txt", b"x"),
    "another array": array("more", np.zeros(3)),
    "topics: numbers": array("topics", np.arange(20)),
    "topics: twice": array("topics", np.full(20, "x")),
    "topics: none": array("topics", np.array([], str)),
    "topics: NUL": array("topics", np.array(["a\0b", *map(str, range(19))])),
    "topics: no code points": header("<U1", "(20,)", b"\xff" * 80, "topics"),
    "systems: too few": array("systems", np.array(list("abcd"))),
    "counts: another shape": array("counts", np.zeros((20, 3), int)),
    "counts: below -1": array("counts", np.full((20, 2), -2)),
    "counts: ascending": array("counts", np.array([[1, 2]] * 20)),
    "counts: floats": array("counts", np.zeros((20, 2))),
    "prints: of nothing": array("counts", np.zeros((20, 2), int)),
    "a header of 8 TB": header("<f8", "(1000000, 1000000)"),
    "a negative shape": header("<f8", "(-20, -5)", bytes(800)),
    "a header that is code": plain_header("__import__('os').system('true')"),
    "a header nested deeply": plain_header("[" * 9000),
    "pickles": header("|O", "(20, 5)", b"x"),
    "scores: strings": array("scores/AP", np.full((20, 5), "x")),
    "scores: 1-d": array("scores/AP", np.zeros(20)),
    "scores: too few rows": array("scores/AP", SCORES[:19]),
    "scores: integers": array("scores/AP", np.zeros((20, 5), int)),
    "scores: complex numbers": array("scores/AP", np.zeros((20, 5), complex)),
    "scores: infinite": array("scores/AP", np.full((20, 5), np.inf)),
    "scores: negative": array("scores/AP", SCORES - 1),
    "scores: beyond 1": array("scores/AP", SCORES * 9),
    "scores: of fewer systems": array("scores/AP", np.where(np.arange(5) > 1, np.nan, SCORES)),
    "mean: beyond 1": array("mean/RR", np.full(20, 1.5)),
    "mean: not known": array("mean/RR", np.full(20, np.nan)),
    "sd: negative": array("sd/RR", np.full(20, -0.1)),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_set_is_refused_in_one_line_and_skipped_with_one_warning(
    name: str, file: Path
) -> None:
    rewrite(file, BROKEN[name])
    (problem,) = check_set(file)
    assert problem.startswith(str(file))
    assert "\n" not in problem
    assert len(problem) < 500
    with pytest.warns(StandardizationWarning) as said:
        ir_std.calc_aggregate("AP", JUDGED, {"1": {"d1-1": 1.0}})
    assert sum("is skipped" in str(warning.message) for warning in said) == 1


def test_a_file_that_is_not_an_archive_is_refused(file: Path) -> None:
    for content in (b"", b"text", b"PK\x05\x06" + bytes(18)):
        file.write_bytes(content)
        (problem,) = check_set(file)
        assert "cannot be read" in problem


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_ways_of_packing_are_refused(method: int, file: Path) -> None:
    rewrite(file, lambda _: None, method)
    assert "uses an unsupported compression" in check_set(file)[0]


def test_arrays_that_are_too_large_are_refused_before_they_are_unpacked(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "LARGEST_UNPACKED", 1000)
    assert "its arrays have more than 1,000 bytes" in check_set(file)[0]


def test_a_later_format_asks_for_an_upgrade(file: Path) -> None:
    rewrite(file, info(format=2))
    assert "format 2 needs a newer version of ir_std" in check_set(file)[0]


def test_unknown_fields_are_warned_about(file: Path) -> None:
    rewrite(file, info(titel="x"))
    with pytest.warns(StandardizationWarning, match="unknown fields, which ir_std ignores: titel"):
        FactorSet.load(file)


def damaged(content: bytes, random: np.random.Generator) -> bytes:
    """Damage a file by a cut, or by one to three changed bytes."""
    changed = bytearray(content)
    if random.random() < 0.3:
        return bytes(changed[: random.integers(len(changed))])
    for place in random.integers(len(changed), size=random.integers(1, 4)).tolist():
        changed[place] ^= int(random.integers(1, 256))
    return bytes(changed)


DAMAGED = "web14 trec9-web dl23-passage robust05 trec7-adhoc ntcir13-www-english trec3-adhoc"


@pytest.mark.parametrize("name", quick_first(DAMAGED.split(), 2))
def test_a_damaged_file_is_refused_or_the_same_set(name: str, tmp_path: Path) -> None:
    random = np.random.default_rng(len(name))
    whole = load_factors(name)
    content = (shipped_folder() / f"{name}.npz").read_bytes()
    refused = 0
    for _ in range(100):
        try:
            factors = FactorSet.parse(damaged(content, random), tmp_path / "x.npz")
            factors.verify()
        except IrStdError:
            refused += 1
        else:
            assert factors.identity == whole.identity
    assert refused > 80


# -- found -----------------------------------------------------------------------------------------


def test_two_sets_of_one_name_are_distinguished(file: Path) -> None:
    shutil.copy(file, file.with_name("other.npz"))
    with pytest.warns(StandardizationWarning, match="two factor sets have the ID 'mine'"):
        assert load_factors("mine").path == file
    assert load_factors(file.with_name("other.npz")).id == "mine"


def test_other_files_in_a_folder_are_not_sets(file: Path) -> None:
    for name in ("notes.txt", ".hidden.npz"):
        file.with_name(name).write_text("text")
    file.with_name("folder.npz").mkdir()
    assert "mine" in available_factors()
