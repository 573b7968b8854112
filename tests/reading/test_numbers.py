"""Numbers read all at once: exactly what Python reads, one by one."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ir_std.reading import numbers
from ir_std.reading.numbers import MARGIN, NotANumber, floats, integer, integers


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
            repr(x),
            f"{x:.17g}",
            f"{x:e}",
            f"{x:.9f}",
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


@pytest.mark.parametrize(
    "text",
    [
        "1_000",
        "x",
        ".",
        "-",
        "+.",
        "1.2.3",
        "0x10",
        "1e",
        "e5",
        "nan",
        "inf",
        "--1",
        "1-",
        "\uff11",
        "1,5",
        "1:2",
        "/12",
        "12:",
    ],
)
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
