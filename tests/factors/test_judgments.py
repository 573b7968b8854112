"""What a set knows of its judgments: counts at each level, and fingerprints."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from pathlib import Path

import pytest

from ir_std import load_factors
from ir_std.errors import InputError
from ir_std.factors.judgments import Judgments, fingerprint, judgments_of
from ir_std.factors.storage import parse_topics, write_topics
from ir_std.reading import ids
from ir_std.trec.files import read_qrels
from ir_std.trec.inputs import as_qrels

JUDGED = {"1": {"a": 0, "b": 2, "c": 1, "d": -2, "e": 2}, "2": {"a": 0}, "3": {"ü": 1, "z": 4}}


def test_documents_are_counted_at_each_level_and_the_rest_at_0() -> None:
    found = judgments_of(as_qrels(JUDGED))
    assert {t: (j.n_rel, j.levels) for t, j in found.items()} == {
        "1": (3, {0: 2, 1: 1, 2: 2}),
        "2": (0, {0: 1}),
        "3": (2, {0: 0, 1: 1, 4: 1}),
    }
    assert [found["1"].at_least(level) for level in (1, 2, 3)] == [3, 2, 0]


def test_a_fingerprint_is_of_the_documents_at_a_level_or_above() -> None:
    found = judgments_of(as_qrels(JUDGED))
    assert found["1"].fingerprints == {
        1: fingerprint([b"b", b"c", b"e"]),
        2: fingerprint([b"b", b"e"]),
    }
    assert found["3"].fingerprints == {1: fingerprint([b"z", "ü".encode()]), 4: fingerprint([b"z"])}
    assert found["2"].fingerprints == {}


def test_a_fingerprint_does_not_depend_on_order_nor_on_where_the_qrels_come_from(
    tmp_path: Path,
) -> None:
    lines = [f"{t} 0 {d} {level}\n" for t, docs in JUDGED.items() for d, level in docs.items()]
    for order in (1, -1):
        (tmp_path / "qrels").write_text("".join(lines[::order]), encoding="utf-8")
        assert judgments_of(read_qrels(tmp_path / "qrels")) == judgments_of(as_qrels(JUDGED))


@pytest.mark.parametrize("at_once", [1, 7, 1 << 20])
def test_relevant_documents_come_a_line_each_however_many_are_put_together(
    at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ids, "_AT_ONCE", at_once)
    for level in (1, 2, 3, 5):
        assert as_qrels(JUDGED).relevant(level) == [
            "".join(f"{doc}\n" for doc, at in docs.items() if at >= level).encode()
            for docs in JUDGED.values()
        ]


def test_the_fingerprint_is_the_sha256_that_coreutils_give(data: Path) -> None:
    if not shutil.which("sha256sum"):
        pytest.skip("sha256sum is not installed")
    file = data / "qrels" / "dl19-passage.txt"
    found = judgments_of(read_qrels(file))["1037798"].fingerprints
    for level in (1, 2, 3):
        script = (
            f"awk '$1 == 1037798 && $4 >= {level} {{print $3}}' {file} | LC_ALL=C sort | sha256sum"
        )
        digits = subprocess.run(script, shell=True, capture_output=True, text=True, check=True)
        assert found is not None
        assert digits.stdout[:16] == found[level]


def test_topics_read_back_as_they_were_written(tmp_path: Path) -> None:
    topics = {
        **judgments_of(as_qrels(JUDGED)),
        "4": Judgments(7),
        "5": Judgments(),
        "6": Judgments(2, {0: 3, 1: 2}),
        'a,"b"\nc': Judgments(1),
    }
    write_topics(tmp_path / "topics.csv", topics)
    again = parse_topics((tmp_path / "topics.csv").read_bytes(), "topics.csv")
    assert again == topics
    assert list(again) == list(topics)


def test_counts_alone_take_two_columns(tmp_path: Path) -> None:
    write_topics(tmp_path / "topics.csv", {"1": Judgments(3), "2": Judgments()})
    assert (tmp_path / "topics.csv").read_text() == "topic,n_rel\n1,3\n2,\n"


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ("topic,n_rel,level_1,fingerprint\n1,1,1,\n", "csv:1: header"),
        ("topic,n_rel,level_0,level_2,level_1,fingerprint\n1,2,0,1,1,\n", "csv:1: header"),
        ("topic,n_rel,level_0\n1,2,0\n", "csv:1: header"),
        ("topic,n_rel,level_0,level_1,fingerprint\n1,2,0,1,\n", "csv:2: levels 0,1 and n_rel 2"),
        ("topic,n_rel,level_0,level_1,fingerprint\n1,1,,1,\n", "csv:2: levels ,1 and n_rel 1"),
        ("topic,n_rel,level_0,level_1,fingerprint\n1,1,0,1,xyz\n", "csv:2: fingerprint 'xyz'"),
        ("topic,n_rel,level_0,level_1,fingerprint\n1,0,0,0,0123456789abcdef\n", "0 times 16 hex"),
        ("topic,n_rel,level_0,level_1,fingerprint\n1,1,0,-1,\n", "csv:2: level_1 is '-1'"),
        ("topic,n_rel\n1,²\n", "csv:2: n_rel is '²'"),
        (f"topic,n_rel\n1,{'9' * 5000}\n", "csv:2: n_rel is '999"),
    ],
)
def test_broken_counts_and_fingerprints_are_told_with_their_line(rows: str, says: str) -> None:
    with pytest.raises(InputError) as refused:
        parse_topics(rows.encode(), "topics.csv")
    assert says in str(refused.value)
    assert len(str(refused.value)) < 300


def test_every_set_whose_qrels_are_at_hand_has_their_fingerprints(data: Path) -> None:
    for name in ("trec8-adhoc", "dl19-passage", "web12"):
        judged = judgments_of(read_qrels(data / "qrels" / f"{name}.txt"))
        assert load_factors(name).judgments == judged


def test_a_fingerprint_is_that_of_the_sorted_ids_a_line_each() -> None:
    assert fingerprint([b"b", b"a"]) == hashlib.sha256(b"a\nb\n").hexdigest()[:16]


def test_a_topic_that_was_judged_again_has_no_fingerprint() -> None:
    known = load_factors("terabyte05").judgments
    assert sum(j.fingerprints is not None for j in known.values()) == 21
    assert known["752"] == Judgments(345)
