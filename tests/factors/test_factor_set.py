"""Factor sets on disk and in use, and their data on judgments."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from plain_hash import fingerprint_of
from sets import each_set

from ir_std.errors import InputError, NoFactorsError, UnknownSetError
from ir_std.factors import estimates
from ir_std.factors.catalog import available_factors, load_factors, shipped_folder
from ir_std.factors.derived import leave_out_systems, select_systems
from ir_std.factors.factor_set import FactorSet
from ir_std.factors.judgments import Judgments, judgment_arrays, judgments_from_arrays, judgments_of
from ir_std.trec.files import read_qrels
from ir_std.trec.inputs import as_qrels

SCORES = np.array([[0.1, 0.2, 0.3, 0.4], [0.5, 0.5, 0.5, 0.5]])


@pytest.fixture
def small() -> FactorSet:
    """Make a set of two topics, with scores for AP only, which do not differ on the second."""
    measures = {"AP": {"systems": 4}, "P@10": {"systems": 3}}
    moments = {"P@10": [0.3, np.nan]}, {"P@10": [0.1, np.nan]}
    info = {"id": "small", "title": "Small", "measures": measures}
    return FactorSet(info, {"1": 5, "2": None}, *moments, {"AP": SCORES})


def test_every_scheme_is_applied(small: FactorSet) -> None:
    values = {s: small.standardize("AP", ["1"], [0.2], s)[0] for s in "zUE"}
    sd = SCORES[0].std(ddof=1)
    assert values == pytest.approx({"z": -0.05 / sd, "U": 0.5 - 0.15 * 0.05 / sd, "E": 0.5})


@pytest.mark.parametrize("scheme", ["N", "U", "E", "z"])
@pytest.mark.parametrize("largest_block", [1, 100, estimates._LARGEST_BLOCK])
def test_blocks_of_systems_have_the_scores_of_single_systems(
    scheme: str, largest_block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(estimates, "_LARGEST_BLOCK", largest_block)
    scores = np.random.default_rng(1).integers(0, 9, (12, 7)) / 10
    scores[3] = 0.5
    scores[4, :6] = scores[5, 2] = np.nan
    fields = {"better": "lower", "resolution": 0.1}
    info = {"id": "small", "title": "Small", "measures": {"'latency'": {"systems": 7} | fields}}
    topics = dict.fromkeys(map(str, range(12)))
    factors = FactorSet(info, topics, scores={"'latency'": scores})
    rows = np.array([11, 3, 4, 5, 0])
    together = estimates.scores_of_systems(factors, "'latency'", scheme, rows)
    standardize = factors.standardizer(rows, "'latency'", scheme)
    alone = np.stack([standardize(column) for column in factors.scores["'latency'"][rows].T], 1)
    assert together.flags.c_contiguous
    assert np.array_equal(together, alone, equal_nan=True)


@pytest.mark.parametrize("made", [select_systems, leave_out_systems])
def test_a_set_of_some_systems_keeps_the_fields_of_its_measures(
    made: Callable[[FactorSet, list[str]], FactorSet],
) -> None:
    fields = {"better": "lower", "resolution": 0.1}
    info = {"id": "small", "title": "Small", "measures": {"'latency'": fields}}
    scores = {"'latency'": [[1.0, 2.0, 4.0, 7.0]]}
    some = made(FactorSet(info, {"1": None}, scores=scores, systems=list("abcd")), ["a", "b"])
    assert some.info["measures"] == {"'latency'": {**fields, "systems": 2}}
    assert some.default_measures == ("'latency'",)


def test_topics_without_factors_are_nan(small: FactorSet) -> None:
    assert np.isnan(small.standardize("P@10", ["2", "none"], [0.1, 0.1])).all()
    assert np.isnan(small.standardize("AP", ["none"], [0.1], "E")).all()


def test_a_measure_without_factors_or_scores_is_refused(small: FactorSet) -> None:
    with pytest.raises(NoFactorsError, match="small has no factors for RR; it has AP, P@10"):
        small.standardize("RR", ["1"], [0.1])
    with pytest.raises(NoFactorsError, match="no scores of systems for P@10"):
        small.standardize("P@10", ["1"], [0.1], "E")


@pytest.mark.parametrize("name", each_set())
def test_every_shipped_set_is_whole(name: str) -> None:
    factors = load_factors(name)
    assert factors.path
    assert factors.id == name == factors.path.stem
    assert factors.source
    assert set(factors.default_measures) <= set(factors.measures)
    assert tuple(factors.mean) == tuple(factors.sd) == factors.measures
    for measure in factors.measures:
        assert factors.n_systems[measure] > 1
        assert not np.isnan(factors.mean[measure]).all()


def test_an_unknown_set_is_refused_with_the_nearest() -> None:
    with pytest.raises(UnknownSetError, match="did you mean 'trec8-adhoc'"):
        load_factors("trec8adhoc")
    with pytest.raises(LookupError):
        load_factors("nothing like it")


def test_a_path_is_never_taken_for_the_id_of_a_shipped_set(
    small: FactorSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small.save(tmp_path / "trec8-adhoc.npz")
    monkeypatch.chdir(tmp_path)
    assert load_factors("trec8-adhoc.npz").id == "small"
    assert load_factors("trec8-adhoc").id == "trec8-adhoc"


def test_a_place_that_cannot_be_written_to_is_reported(small: FactorSet) -> None:
    with pytest.raises(InputError, match="cannot be written"):
        small.save("/proc/none/set.npz")


def test_a_changed_set_is_read_again(small: FactorSet, tmp_path: Path) -> None:
    small.save(tmp_path / "s.npz")
    load_factors(tmp_path / "s.npz")
    info = {**small.info, "title": "Another title"}
    FactorSet(info, small.n_rel, small.mean, small.sd).save(tmp_path / "s.npz")
    assert load_factors(str(tmp_path / "s.npz")).title == "Another title"


def test_a_folder_that_does_not_exist_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IR_STD_FACTORS", "/no/such/folder")
    with pytest.raises(InputError, match="no such folder"):
        available_factors()


def test_published_cells_are_shipped_at_full_precision(data: Path) -> None:
    assert "0.0478806201550388" in (data / "published" / "trec8.adhoc.mn.csv").read_text()
    assert load_factors("trec4-adhoc").mean["AP"].tolist() == [
        float(line.split(",")[2])
        for line in (data / "published" / "trec4.adhoc.mn.csv").read_text().splitlines()[1:]
    ]


def test_no_file_of_the_input_is_shipped() -> None:
    names = {p.name for p in shipped_folder().rglob("*") if p.is_file()}
    assert not any(name.endswith((".mn.csv", ".txt", ".xz")) for name in names)


JUDGED = {"1": {"a": 0, "b": 2, "c": 1, "d": -2, "e": 2}, "2": {"a": 0}, "3": {"ü": 1, "z": 4}}


def test_documents_are_counted_at_each_level() -> None:
    found = judgments_of(as_qrels(JUDGED))
    assert {t: (j.n_rel, j.levels) for t, j in found.items()} == {
        "1": (3, {-2: 1, 0: 1, 1: 1, 2: 2}),
        "2": (0, {0: 1}),
        "3": (2, {0: 0, 1: 1, 4: 1}),
    }
    levels, counts, _ = judgment_arrays([found["1"]])
    assert (levels, counts.tolist()) == ([-2, 0, 1, 2], [[5, 4, 3, 2]])


def test_a_fingerprint_covers_the_documents_at_a_level_or_above() -> None:
    found = judgments_of(as_qrels(JUDGED))
    assert found["1"].fingerprints == {
        -2: fingerprint_of([b"a", b"b", b"c", b"d", b"e"]),
        0: fingerprint_of([b"a", b"b", b"c", b"e"]),
        1: fingerprint_of([b"b", b"c", b"e"]),
        2: fingerprint_of([b"b", b"e"]),
    }
    assert found["3"].fingerprints == {
        1: fingerprint_of([b"z", "ü".encode()]),
        4: fingerprint_of([b"z"]),
    }
    assert found["2"].fingerprints == {0: fingerprint_of([b"a"])}


def test_a_fingerprint_does_not_depend_on_order_nor_on_where_the_qrels_come_from(
    tmp_path: Path,
) -> None:
    lines = [f"{t} 0 {d} {level}\n" for t, docs in JUDGED.items() for d, level in docs.items()]
    for order in (1, -1):
        (tmp_path / "qrels").write_text("".join(lines[::order]), encoding="utf-8")
        assert judgments_of(read_qrels(tmp_path / "qrels")) == judgments_of(as_qrels(JUDGED))


def test_judgments_read_back_from_the_arrays_of_a_set() -> None:
    known = [
        *judgments_of(as_qrels(JUDGED)).values(),
        Judgments(7),
        Judgments(),
        Judgments(2, {0: 3, 1: 2}),
        Judgments(0, {0: 0}, {}),
    ]
    assert judgments_from_arrays(*judgment_arrays(known)) == known


def test_numbers_of_relevant_documents_do_not_reveal_levels() -> None:
    known = [Judgments(3), Judgments()]
    levels, counts, prints = judgment_arrays(known)
    assert (levels, counts.tolist(), prints.tolist()) == ([1], [[3], [-1]], [[0], [0]])
    assert judgments_from_arrays(levels, counts, prints) == known


def test_every_set_whose_qrels_are_at_hand_has_their_fingerprints(data: Path) -> None:
    for name in ("trec8-adhoc", "dl19-passage", "web12"):
        judged = judgments_of(read_qrels(data / "qrels" / f"{name}.txt"))
        assert load_factors(name).judgments == judged


def test_a_topic_that_was_judged_again_has_no_fingerprint() -> None:
    known = load_factors("terabyte05").judgments
    assert sum(j.fingerprints is not None for j in known.values()) == 21
    assert known["752"] == Judgments(345)
