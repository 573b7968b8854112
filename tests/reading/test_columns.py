"""Columns are read at once, with exactly the IDs and numbers that Python reads one by one."""

import re
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings, strategies as st
from ir_measures import AP, Bpref, Judged, nDCG

from ir_std.evaluation.evaluator import StdEvaluator
from ir_std.reading import BytesSource, ids, numbers
from ir_std.reading.ids import MARGIN, Ids, KeyTable, may_repeat
from ir_std.reading.numbers import NotANumber, floats, integer, integers
from ir_std.trec.files import read_qrels, read_run

SHORT = "|\0|a|a\0|\0a|\n|a\nb|\ud800|é"
LONG = ["x" * 64, "x" * 65, "x" * 64 + "y", "x" * 500]
names = st.text(max_size=90) | st.sampled_from([*SHORT.split("|"), *LONG])


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


@pytest.mark.parametrize("rows", [[], [0], [9_999, 0], [3, 4, 5], list(range(10_000))])
def test_ids_are_the_same_bytes_wherever_they_lie(rows: list[int]) -> None:
    names = [f"d{i}" for i in range(10_000)]
    some = Ids.of(names)[np.array(rows, np.int64)]
    assert some.bytes() == list(some) == [names[row].encode() for row in rows]


def read(function: Any, texts: list[str]) -> Any:
    tokens = [text.encode() for text in texts]
    codes = np.frombuffer(b" " * MARGIN + b" ".join(tokens) + b" " * 8, np.uint8)
    widths = np.array(list(map(len, tokens)), np.int64)
    starts = MARGIN + np.cumsum(widths + 1) - (widths + 1)
    return function(codes, starts, starts + widths)


def same_bits(found: Any, texts: list[str]) -> bool:
    expected = np.array(list(map(float, texts)))
    return bool(found.tobytes() == expected.tobytes())


digits = st.text("0123456789", max_size=26)
decimals = st.builds(
    "{}{}{}{}".format, st.sampled_from(["", "-", "+"]), digits, st.sampled_from(["", "."]), digits
).filter(lambda t: re.search(r"\d", t))
with_exponents = st.builds(
    "{}{}{}{:d}".format,
    decimals,
    st.sampled_from("eE"),
    st.sampled_from(["", "+", "-"]),
    st.integers(0, 400),
)
written = st.floats(allow_nan=False, allow_infinity=False).flatmap(
    lambda x: st.sampled_from(
        [
            *(form.format(x) for form in ("{!r}", "{:.17g}", "{:e}", "{:.9f}")),
            repr(float(np.float32(x))) if abs(x) < 1e38 else repr(x),
        ]
    )
)


@given(st.lists(decimals | with_exponents | written, min_size=1, max_size=30))
@settings(max_examples=4 * settings().max_examples)
def test_every_decimal_text_is_the_float_that_python_reads(texts: list[str]) -> None:
    assert same_bits(read(floats, texts), texts)


@given(st.floats(1e-3, 1e7), st.integers(0, 22))
def test_numbers_half_way_between_two_floats_are_rounded_as_python_does(
    low: float, places: int
) -> None:
    middle = (Decimal(low) + Decimal(float(np.nextafter(low, np.inf)))) / 2
    texts = [f"{middle:f}", f"{middle:.{places}f}", f"{middle:.16f}", f"{middle:.17f}"]
    assert same_bits(read(floats, texts), texts)


def test_scores_are_not_given_to_float_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(1)
    scores = [*random.normal(0, 20, 10_000), *10 ** random.uniform(-30, 7, 10_000)]
    texts = [form(x) for x in map(float, scores) for form in (repr, "{:e}".format, "{:.4E}".format)]
    expected = list(map(float, texts))
    monkeypatch.setattr(numbers, "float", lambda text: pytest.fail(f"{text!r}"), raising=False)
    assert read(floats, texts).tolist() == expected


@pytest.mark.parametrize("places", [1, 2, 3, 4])
def test_a_quotient_half_way_between_two_floats_is_not_called_exact(places: int) -> None:
    half_way = (2**53 + 1) * 5**places  # divided by 10**places: 54 bits, the last one set
    digits = np.array([half_way - 1, half_way, half_way + 1], np.uint64)
    values, exact = numbers._divided(digits, np.full(3, places))
    assert not exact[1]
    assert exact.tolist() == [True, False, True]
    assert values[[0, 2]].tolist() == [
        float(Decimal(int(d)).scaleb(-places)) for d in digits[[0, 2]]
    ]


NO_NUMBERS = "1_000 x . - +. 1.2.3 0x10 1e e5 nan inf --1 1- \uff11 1,5 1:2 /12 12:"


@pytest.mark.parametrize("text", NO_NUMBERS.split())
def test_what_strtod_does_not_take_for_a_number_is_none(text: str) -> None:
    with pytest.raises(NotANumber):
        read(floats, ["1.5", text, "2"])
    with pytest.raises(NotANumber):
        read(integers, ["1", text, "2"])


@given(
    st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(-20, 20), min_size=1),
    st.sampled_from(["{}", "{:+}", "{:012d}"]),
)
def test_whole_numbers_of_64_bits_are_read(values: list[int], form: str) -> None:
    assert read(integers, list(map(form.format, values))).tolist() == values


@pytest.mark.parametrize("text", [str(2**63), str(-(2**63) - 1), "1.0", "1.", "9" * 5000])
def test_other_numbers_are_not_whole_numbers_of_64_bits(text: str) -> None:
    assert integer(text.encode()) is None
    with pytest.raises(NotANumber):
        read(integers, [text])


def test_leading_zeros_count_for_nothing() -> None:
    assert integer(b"-" + b"0" * 5000 + b"7") == -7
