"""Ids as arrays: what is equal is found, and what only hashes equal is not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from ir_measures import AP, Bpref, Judged, nDCG

from ir_std.evaluation.evaluator import StdEvaluator
from ir_std.reading import BytesSource, ids
from ir_std.reading.ids import Ids, KeyTable, may_repeat
from ir_std.trec.files import read_qrels, read_run

names = st.text(max_size=90) | st.sampled_from(
    [
        "",
        "\0",
        "a",
        "a\0",
        "\0a",
        "\n",
        "a\nb",
        "\ud800",
        "é",
        "x" * 64,
        "x" * 65,
        "x" * 64 + "y",
        "x" * 500,
    ]
)


@given(st.lists(names))
def test_ids_give_back_the_strings_they_were_made_from(given: list[str]) -> None:
    assert Ids.of(given).strings() == given


@pytest.mark.parametrize("at_once", [1, 7, 1 << 20])
def test_ids_are_the_same_however_many_are_put_together(
    at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ids, "_AT_ONCE", at_once)
    monkeypatch.setattr(ids, "_JOINED_AT_ONCE", at_once)
    given = ["a", "", *map(str, range(20)), "é"]
    assert Ids.of(given).strings() == given


@given(st.lists(st.tuples(names, names)), st.randoms())
def test_two_ids_are_the_same_if_their_strings_are(
    pairs: list[tuple[str, str]], random: Any
) -> None:
    pairs = [(a, a) if random.random() < 0.5 else (a, b) for a, b in pairs]
    left, right = (Ids.of([pair[i] for pair in pairs]) for i in (0, 1))
    assert left.same(right).tolist() == [a == b for a, b in pairs]
    assert (left.hashes() == right.hashes())[left.same(right)].all()


@given(st.lists(names, min_size=1))
def test_a_hash_does_not_depend_on_the_other_ids(given: list[str]) -> None:
    alone = [int(Ids.of([name]).hashes()[0]) for name in given]
    assert Ids.of(given).hashes().tolist() == alone


SHARED_BITS = st.sampled_from([*range(4), *range(2**63, 2**63 + 4), *range(2**64 - 4, 2**64)])
KEYS = st.lists(st.integers(0, 2**64 - 1) | SHARED_BITS)


@pytest.fixture(params=[1 << 18, 3])
def at_once(request: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ids, "_FOUND_AT_ONCE", request.param)


FOR_ALL = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@FOR_ALL
@given(KEYS)
@example([0, 0, 1 << 60, 2 << 60, 3 << 60])
@pytest.mark.usefixtures("at_once")
def test_repeated_keys_are_noticed(values: list[int]) -> None:
    assert may_repeat(np.array(values, np.uint64)) == (len(set(values)) < len(values))


@FOR_ALL
@given(KEYS, KEYS)
@example([0, 1, 2, 3], [3, 4, 2, 9, 1, 0])
@pytest.mark.usefixtures("at_once")
def test_a_key_is_found_at_its_first_place(held: list[int], asked: list[int]) -> None:
    held.sort()
    where, places = KeyTable.of(np.array(held, np.uint64)).find(np.array(asked, np.uint64))
    expected = [(i, held.index(key)) for i, key in enumerate(asked) if key in held]
    assert list(zip(where.tolist(), places.tolist(), strict=True)) == expected


QRELS = "".join(f"{t} 0 d{i} {i % 3 - 1}\n" for t in (1, 2) for i in range(0, 40, 2)).encode()
RUN = "".join(f"{t} Q0 d{i} 1 {i * 7 % 11} tag\n" for t in (1, 2) for i in range(30)).encode()


@pytest.mark.parametrize(
    "hashes",
    [
        lambda ids: np.zeros(len(ids), np.uint64),
        lambda ids: (ids.widths % 2).astype(np.uint64),
        lambda ids: ids.codes[ids.starts + 1].astype(np.uint64),
    ],
    ids=["all equal", "two", "by the first digit"],
)
def test_ids_with_the_same_hash_are_distinguished(
    hashes: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    measures = [AP, nDCG, Bpref, Judged]
    run, qrels = BytesSource("run", RUN), BytesSource("qrels", QRELS)
    expected = list(StdEvaluator(measures, read_qrels(qrels)).iter_calc(read_run(run)))
    monkeypatch.setattr(ids.Ids, "hashes", hashes)
    found = list(StdEvaluator(measures, read_qrels(qrels)).iter_calc(read_run(run)))
    assert found == expected
    assert any(value.value > 0 for value in found)


def test_a_relevant_document_is_not_found_by_its_hash_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Check that bytes are compared too, with two documents of equal hashes."""
    monkeypatch.setattr(ids.Ids, "hashes", lambda ids: np.full(len(ids), 7, np.uint64))
    qrels = read_qrels(BytesSource("qrels", b"1 0 relevant 1\n"))
    run = read_run(BytesSource("run", b"1 Q0 other 1 2.0 tag\n"))
    assert StdEvaluator([AP], qrels).evaluate(run).means[AP] == 0


@pytest.mark.parametrize("rows", [[], [0], [9_999, 0], [3, 4, 5], list(range(10_000))])
def test_ids_are_the_same_bytes_wherever_they_lie(rows: list[int]) -> None:
    names = [f"d{i}" for i in range(10_000)]
    some = Ids.of(names)[np.array(rows, np.int64)]
    assert some.bytes() == list(some) == [names[row].encode() for row in rows]
