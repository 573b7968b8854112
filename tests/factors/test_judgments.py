"""What a set knows of its judgments: counts at each level, and fingerprints."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import pytest
from processes import run_process

from ir_std import load_factors
from ir_std.errors import InputError
from ir_std.factors.judgments import ALL_JUDGED, Judgments, fingerprint, judgments_of
from ir_std.factors.storage import parse_topics, write_topics
from ir_std.reading import ids
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
    assert [found["1"].at_least(level) for level in (1, 2, 3)] == [3, 2, 0]


def test_a_fingerprint_is_of_the_documents_at_a_level_or_above() -> None:
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
    assert known["1"].fingerprint(ALL_JUDGED) == fingerprint(d.encode() for d in JUDGED["1"])
    assert all(known["1"].knows_documents(level) for level in (2, 1, 0, -1, ALL_JUDGED))
    assert known["3"].knows_documents(0)  # all that is judged is relevant


def test_a_set_of_format_1_knows_the_relevant_documents_alone() -> None:
    prints = "-".join(["0123456789abcdef"] * 2)
    rows = f"topic,n_rel,level_0,level_1,level_2,fingerprint\n1,3,5,1,2,{prints}\n2,0,4,0,0,\n"
    known = parse_topics(rows.encode(), "topics.csv")
    assert known["1"].fingerprints == dict.fromkeys((1, 2), "0123456789abcdef")
    assert [known["1"].knows_documents(level) for level in (1, 0)] == [True, False]
    assert [known["2"].knows_documents(level) for level in (1, 0)] == [True, False]


def test_sets_are_written_in_format_2_and_a_later_one_is_refused(tmp_path: Path) -> None:
    factors = load_factors("trec8-adhoc")
    factors.save(tmp_path / "set")
    description = tmp_path / "set" / "set.json"
    assert json.loads(description.read_text())["format"] == 2
    assert "format" not in factors.info
    description.write_text(description.read_text().replace('"format": 2', '"format": 3'))
    with pytest.raises(InputError, match="format is 3: up to 2 is known here: upgrade ir_std"):
        load_factors(tmp_path / "set")


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
        digits = run_process(script, shell=True, check=True)
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
