"""Tests of a set's data on its judgments, which are counts at each level and fingerprints."""

from __future__ import annotations

from pathlib import Path

from ir_std import load_factors
from ir_std.factors.judgments import (
    Judgments,
    fingerprint,
    judgment_arrays,
    judgments_from_arrays,
    judgments_of,
)
from ir_std.trec.files import read_qrels
from ir_std.trec.inputs import as_qrels

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
        -2: fingerprint([b"a", b"b", b"c", b"d", b"e"]),
        0: fingerprint([b"a", b"b", b"c", b"e"]),
        1: fingerprint([b"b", b"c", b"e"]),
        2: fingerprint([b"b", b"e"]),
    }
    assert found["3"].fingerprints == {1: fingerprint([b"z", "ü".encode()]), 4: fingerprint([b"z"])}
    assert found["2"].fingerprints == {0: fingerprint([b"a"])}


def test_documents_judged_not_relevant_are_known_by_their_fingerprint() -> None:
    known = judgments_of(as_qrels(JUDGED))
    _, _, prints = judgment_arrays([known["1"]])
    assert prints[0, 0] == fingerprint(d.encode() for d in JUDGED["1"])
    assert all(judgments.levels and judgments.fingerprints for judgments in known.values())


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
