"""The reading engine and the plain reader read the same lines, and reject the same files."""

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st
from sets import quick_first

import ir_std
from ir_std import reading
from ir_std.errors import InputError
from ir_std.reading import (
    QRELS,
    RANKED_RUN,
    RUN,
    BytesSource,
    FileSource,
    LineFormat,
    Lines,
    Source,
    find_fault,
    read_lines,
    read_lines_plainly,
)
from ir_std.reading.archives import run_sources
from ir_std.trec.files import is_ranked, read_qrels, read_run
from ir_std.trec.runs import Run

COLUMNS = b"1 2 Q0 d d1 \xc3\xa9 \xff -1 + .5 1e3 1e999 nan # \0 \xef\xbb\xbf"
BLANKS = b"  \t\n\n\x0c"
LINES = b"\r\n|1 Q0 a 1 2 t\n|1 Q0 b 1 2.5 t\n|1 0 a 1\n|1 0 b 0\n|# c\n"
pieces = st.sampled_from(
    [*COLUMNS.split(b" "), *(bytes([blank]) for blank in BLANKS), *LINES.split(b"|")]
)


def assert_same(lines: Lines, plain: Lines) -> None:
    assert lines.topics == plain.topics
    assert lines.topic.tolist() == plain.topic.tolist()
    assert lines.ids.bytes() == plain.ids.bytes()
    assert lines.values.dtype == plain.values.dtype
    assert lines.values.tobytes() == plain.values.tobytes()  # to the last bit


def repeats(lines: Lines) -> bool:
    pairs = list(zip(lines.topic.tolist(), lines.ids.bytes(), strict=True))
    return len(set(pairs)) < len(pairs)


@given(st.lists(pieces, max_size=14).map(b"".join), st.sampled_from([RUN, QRELS]))
@example(b"1 1 1", RUN)
@settings(max_examples=6 * settings().max_examples)
def test_the_engine_and_the_plain_reader_agree(content: bytes, line_format: LineFormat) -> None:
    source, read = BytesSource("f", content), read_run if line_format is RUN else read_qrels
    if line_format is RUN and is_ranked(source):
        line_format = RANKED_RUN
    try:
        plain = read_lines_plainly(source, line_format)
    except InputError:
        with pytest.raises(InputError) as refused:
            read(source)
        assert str(refused.value) == str(find_fault(source, line_format))
        return
    assert_same(read_lines(source, line_format), plain)
    if repeats(plain):
        with pytest.raises(InputError, match=r"repeats document .* of line"):
            read(source)


numbers = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.decimals(allow_nan=False, allow_infinity=False, places=6).map(str),
    st.from_regex(r"[+-]?[0-9]{1,22}(\.[0-9]{0,22})?([eE][+-]?[0-9]{1,3})?", fullmatch=True),
)
ids = st.text(st.characters(min_codepoint=33, exclude_categories=["Cs"]), min_size=1, max_size=70)


@given(
    st.lists(st.tuples(st.sampled_from(["1", "2", "301"]) | ids, ids, numbers), min_size=1),
    st.sampled_from([b" ", b"\t", b"  "]),
    st.sampled_from([b"\n", b"\r\n", b" \n\n"]),
)
def test_any_ids_and_numbers_are_read_to_the_last_bit(
    lines: list[tuple[str, str, str]], blank: bytes, end: bytes
) -> None:
    rows = [[topic, "Q0", doc, "1", number, "t"] for topic, doc, number in lines]
    content = b"".join(blank.join(field.encode() for field in row) + end for row in rows)
    source = BytesSource("f", content)
    try:
        plain = read_lines_plainly(source, RUN)
    except InputError:
        with pytest.raises(InputError):
            read_run(source)
    else:
        assert_same(read_lines(source, RUN), plain)


@pytest.mark.parametrize("name", quick_first(["dl19-passage", "trec8-adhoc", "covid-round1"]))
def test_real_files_are_read_as_line_by_line(name: str, data: Path) -> None:
    qrels: Source = FileSource(data / "qrels" / f"{name}.txt")
    assert_same(read_lines(qrels, QRELS), read_lines_plainly(qrels, QRELS))
    for run in islice(run_sources([data / "runs" / f"{name}.tar.xz"]), 3):
        assert_same(read_lines(run, RUN), read_lines_plainly(run, RUN))


def test_the_plain_reader_can_take_the_engines_place(monkeypatch: pytest.MonkeyPatch) -> None:
    run = BytesSource("r", b"".join(blocks_of(100)))
    qrels = BytesSource("q", b"1 0 d1 1\n2 0 d9 0\n1 0 d8 -1\n")
    lists, judged = read_run(run).lists, read_qrels(qrels).judged
    monkeypatch.setattr(reading, "read_lines", read_lines_plainly)
    plain = read_run(run).lists
    assert plain.keys() == lists.keys()
    assert all(plain[t][0] == lists[t][0] for t in lists)
    assert all(np.array_equal(plain[t][1], lists[t][1]) for t in lists)
    assert read_qrels(qrels).judged == judged
    with pytest.raises(InputError, match=r"q:2: relevance is 'x'"):
        read_qrels(BytesSource("q", b"1 0 d1 1\n1 0 d2 x\n"))


def blocks_of(size: int) -> Iterator[bytes]:
    for i in range(size):
        yield b"%d Q0 d%d 1 %d.25 t%s\n" % (i % 7, i, i, b"\r" * (i % 11 == 0))


def same_lists(one: Run, other: Run) -> bool:
    return one.lists.keys() == other.lists.keys() and all(
        docs == other.lists[t][0] and np.array_equal(scores, other.lists[t][1])
        for t, (docs, scores) in one.lists.items()
    )


def test_lines_are_the_same_wherever_blocks_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    content = b"".join(blocks_of(500)) + b"1 Q0 " + b"long" * 300 + b" 1 2 t"
    expected = read_run(BytesSource("r", content))
    for size in (1, 20, 333):
        monkeypatch.setattr("ir_std.reading.lines._BLOCK", size)
        assert same_lists(read_run(BytesSource("r", content)), expected)


def test_the_reading_room_has_one_door_and_archives_another() -> None:
    package = Path(ir_std.__file__).parent
    for file in package.rglob("*.py"):
        if file.parent.name != "reading":
            text = file.read_text(encoding="utf-8")
            assert not re.search(r"(from|import) ir_std\.reading\.(?!archives)", text), file
