"""Tests of input that is not a run or qrels, is too large, or pretends to be one."""

import bz2
import gzip
import io
import json
import lzma
import os
import random
import tarfile
import threading
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import ir_std
from ir_std import InputError, UsageError
from ir_std.reading import (
    RUN,
    BytesSource,
    FileSource,
    find_fault,
    lines,
    read_lines,
    source_of,
    unpacking,
)
from ir_std.reading.archives import run_sources
from ir_std.reading.unpacking import LONGEST_JSON, LONGEST_LINE, PIECE
from ir_std.scores import contents, files
from ir_std.trec.files import count_columns, read_qrels, read_run
from ir_std.trec.inputs import as_qrels, as_run

GOOD = b"1 Q0 d1 1 2.5 tag\n1 Q0 d2 2 1.5 tag\n"


def refused(function: Any, *arguments: Any) -> str:
    with pytest.raises(InputError) as caught:
        function(*arguments)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 600
    return message


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (GOOD + b"\0" * 9, "r:3: control character '\\x00'"),
        (b"1 Q0 d\x003 0.5 tag\n", "r:1: control character '\\x00'"),
        (b"1\x0bQ0 d 1 2 tag\n", "r:1: control character '\\x0b'"),
        (b"1\x1cQ0 d 1 2 tag\n", "r:1: control character '\\x1c'"),
        ("1 Q0 d 1 \uff11 tag\n".encode(), "r:1: score is '\uff11'; expected a finite number"),
        (b"1 Q0 d 1 1_000 tag\n", "r:1: score is '1_000'; expected a finite number"),
        (b"1 Q0 d 1 0x1p3 tag\n", "r:1: score is '0x1p3'"),
        (b"1 Q0 d 1 " + b"9" * 400 + b" tag\n", "r:1: score is '9999"),
        ("1 Q0 d 1 2 tag\n".encode("utf-16"), "r: is UTF-16; save it as UTF-8"),
        (b"\x28\xb5\x2f\xfd" + GOOD, "r: is packed with zstd; unpack it"),
        (b"PK\x03\x04" + GOOD, "r: is packed with zip; unpack it"),
        (bz2.compress(GOOD * 99)[:-9], "r: broken bzip2"),
        (lzma.compress(GOOD * 99)[:-9], "r: broken xz"),
        (b"\x1f\x8b" + GOOD, "r: broken gzip"),
    ],
)
def test_a_hostile_run_gets_one_clear_line(content: bytes, says: str) -> None:
    assert says in refused(read_run, BytesSource("r", content))


@pytest.mark.parametrize(
    "level", ["9223372036854775808", "-9223372036854775809", "1_0", "\u0661", "1e3"]
)
def test_a_level_of_more_than_64_bits_or_none_is_reported(level: str) -> None:
    says = refused(read_qrels, BytesSource("q", f"1 0 d {level}\n".encode()))
    assert says.startswith(f"q:1: relevance is {level!r}; expected a whole number")


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_packed_files_are_read_whatever_their_name(pack: Any, tmp_path: Path) -> None:
    (tmp_path / "run").write_bytes(pack(GOOD))
    assert read_run(tmp_path / "run").documents("1") == ["d1", "d2"]
    assert count_columns(source_of(tmp_path / "run")) == 6


class Opened(io.BytesIO):
    """A file that remembers how far it was read."""

    furthest = 0

    def read(self, size: int | None = -1) -> bytes:
        content = super().read(size)
        Opened.furthest = max(Opened.furthest, self.tell())
        return content


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> type[Opened]:
    """Open all bytes in memory as files that remember how far they were read."""
    monkeypatch.setattr(Opened, "furthest", 0)
    monkeypatch.setattr(BytesSource, "open", lambda source: Opened(source.content))
    return Opened


def test_what_a_file_is_takes_no_more_than_its_first_lines(watched: type[Opened]) -> None:
    assert count_columns(BytesSource("r", b"# a run\n" + GOOD * 100_000)) == 6
    assert watched.furthest < 20_000


def test_the_first_line_is_found_behind_any_number_of_comments() -> None:
    for length in range(16_370, 16_390):  # one line ends where the first piece ends
        comment = b"#" * length + b"\n"
        assert count_columns(BytesSource("r", b"\xef\xbb\xbf" + comment + GOOD)) == 6


ENDLESS = pytest.mark.parametrize("part", [b"a", b" ", b"\n", b"\t \r\n", b"0"], ids=repr)


@ENDLESS
def test_an_endless_line_is_an_error_as_soon_as_it_is_too_long(
    part: bytes, watched: type[Opened]
) -> None:
    source = BytesSource("r", b"1 Q0 d 1 " + part * (20 * LONGEST_LINE))
    assert f"has more than {LONGEST_LINE:,} bytes" in refused(read_run, source)
    assert watched.furthest <= 3 * LONGEST_LINE


def test_a_number_of_a_million_digits_is_looked_at_once() -> None:
    source = BytesSource("r", b"1 Q0 d 1 " + b"1" * 1_000_000 + b"x t")
    assert refused(read_run, source).startswith("r:1: score is '1111")


@ENDLESS
def test_an_endless_line_may_be_packed(part: bytes, tmp_path: Path) -> None:
    (tmp_path / "run.gz").write_bytes(gzip.compress(b"1 Q0 d 1 " + part * (8 * LONGEST_LINE)))
    assert f"has more than {LONGEST_LINE:,} bytes" in refused(read_run, tmp_path / "run.gz")


def test_a_line_may_have_the_length_that_is_stated_and_no_byte_more() -> None:
    line = b"1 Q0 d 1 2 " + b"t" * LONGEST_LINE
    at_most = b"\n" + line[:LONGEST_LINE] + b"\n1 Q0 e 1 2 t"
    assert read_run(BytesSource("r", at_most)).documents("1") == ["d", "e"]
    says = refused(read_run, BytesSource("r", b"\n" + line[: LONGEST_LINE + 1] + b"\n1 Q0 e 1 2 t"))
    assert "a line has more than 1,048,576 bytes (from byte 2 on)" in says


@pytest.mark.slow
def test_json_of_one_long_line_is_read_within_a_bound_of_its_own(tmp_path: Path) -> None:
    values = {str(topic): 0.25 for topic in range(LONGEST_LINE // 10)}
    text = json.dumps({"AP": values})
    assert len(text) > LONGEST_LINE
    (tmp_path / "scores.json").write_text("\ufeff\n" + text, encoding="utf-8")
    (tmp_path / "scores.json.gz").write_bytes(gzip.compress(text.encode()))
    for name in ("scores.json", "scores.json.gz"):
        (scores,) = ir_std.read_scores(tmp_path / name).values()
        assert len(scores.topics) == len(values)
        assert set(scores.column(ir_std.AP, scores.topics)) == {0.25}
    endless = BytesSource("s", b'{"AP": {' + b'"1":' * (LONGEST_JSON // 4 + 1))
    assert f"has more than {LONGEST_JSON:,} bytes" in refused(ir_std.read_scores, endless)


def test_an_endless_pipe_is_not_read_to_its_end_and_a_failing_one_is_reported() -> None:
    def fail(_: int) -> bytes:
        raise OSError(5, "Input/output error")

    endless, broken = (SimpleNamespace(name="pipe", read=read) for read in (bytes, fail))
    assert "pipe: is not text" in refused(read_run, endless)
    assert "pipe: cannot be read (Input/output error)" in refused(read_run, broken)


@pytest.mark.parametrize("pipe", [True, False])
def test_a_large_file_that_is_not_text_is_refused_in_its_first_piece(
    pipe: bool, watched: type[Opened]
) -> None:
    content = random.Random(1).randbytes(4 * PIECE)
    source = watched(content) if pipe else BytesSource("r", content)
    assert "is not text; name a run, qrels or scores" in refused(read_run, source)
    assert watched.furthest <= 2 * PIECE


def test_a_pipe_of_a_packed_run_is_read() -> None:
    packed = gzip.compress(b"".join(b"%d Q0 d 1 2 t\n" % n for n in range(9999)))
    assert len(read_run(io.BytesIO(packed)).topics) == 9999


def test_an_archive_in_place_of_a_run_is_named(tmp_path: Path) -> None:
    assert "is a tar archive; unpack it" in refused(read_run, archive("tar", GOOD, tmp_path))
    assert "is packed with zip; unpack it" in refused(read_run, archive("zip", GOOD, tmp_path))


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_only_more_of_a_packed_file_or_zeros_may_follow_it(pack: Any) -> None:
    first, second = b"1 Q0 d1 1 2.5 tag\n", b"1 Q0 d2 2 1.5 tag\n"
    for between in (b"", bytes(3), bytes(99_999)):
        read = read_run(BytesSource("r", pack(first) + between + pack(second) + between))
        assert read.documents("1") == ["d1", "d2"]
    for behind in (b"x", bytes(3) + b"x", pack(second)[:-1], pack(second)[:3]):
        assert "r: broken" in refused(read_run, BytesSource("r", pack(first) + behind))


def archive(kind: str, content: bytes, path: Path) -> Path:
    """Pack a run in an archive."""
    file = path / {"zip": "runs.zip", "tar": "runs.tar.gz"}[kind]
    if kind == "zip":
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as zipped:
            zipped.writestr("run", content)
    else:
        with tarfile.open(file, "w:gz") as packed:
            member = tarfile.TarInfo("run")
            member.size = len(content)
            packed.addfile(member, io.BytesIO(content))
    return file


@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_a_member_that_unpacks_to_more_than_allowed_is_refused(kind: str, tmp_path: Path) -> None:
    path = archive(kind, GOOD * 1000, tmp_path)
    assert [s.name for s in run_sources([path], len(GOOD) * 1000)] == [f"{path}!run"]
    says = refused(list, run_sources([path], len(GOOD) * 1000 - 1))
    assert "runs" in says
    assert "!run: has more than 35,999 bytes when unpacked" in says
    assert "unpack it to a file" in says


def test_a_gzip_that_unpacks_to_more_than_allowed_is_refused(tmp_path: Path) -> None:
    (tmp_path / "run.gz").write_bytes(gzip.compress(GOOD * 1000))
    says = refused(read_run, FileSource(tmp_path / "run.gz", 1000))
    assert "has more than 1,000 bytes when unpacked" in says


@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_a_member_of_one_endless_line_is_refused_while_it_is_unpacked(
    kind: str, tmp_path: Path
) -> None:
    path = archive(kind, b"a" * (LONGEST_LINE * 3), tmp_path)
    assert "a line has more than 1,048,576 bytes" in refused(list, run_sources([path]))


@pytest.mark.parametrize("name", ["x" * 300, "a\0b", "\ud800"])
def test_a_name_that_no_file_can_have_is_reported(name: str) -> None:
    assert "name a readable file" in refused(as_run, name)
    refused(as_qrels, f"./{name}")


def test_a_source_that_must_be_read_twice_cannot_be_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(b"",))
    writer.start()
    with pytest.raises(InputError, match="is a pipe or a device; write its content to a file"):
        FileSource(tmp_path / "pipe").open()
    writer.join()


FIVE = b"".join(b"%d Q0 d 1 2 t\n" % topic for topic in range(5))


@pytest.fixture
def packed(tmp_path: Path) -> Path:
    """Pack a run that has five topics and five lines."""
    (tmp_path / "run.gz").write_bytes(gzip.compress(FIVE))
    return tmp_path / "run.gz"


def count(path: Path, most: int, max_member: int | None = None) -> int:
    """Count the lines of a file that may have at most this number of lines."""
    source = FileSource(path, max_member)
    return len(read_lines(source, RUN._replace(most=most)).ids)


def test_a_small_packed_file_has_a_bound_on_lines(packed: Path) -> None:
    assert count(packed, 5) == 5
    with pytest.raises(InputError, match=r"run\.gz: has more than 4 lines or .*; unpack it"):
        count(packed, 4)


def test_the_bound_on_lines_holds_where_a_fault_is_looked_for(packed: Path) -> None:
    packed.write_bytes(gzip.compress(FIVE + FIVE))
    assert "repeats document 'd'" in str(find_fault(FileSource(packed), RUN))
    with pytest.raises(InputError, match="has more than 9 lines"):
        find_fault(FileSource(packed), RUN._replace(most=9))


def test_a_small_packed_file_has_a_bound_on_topics(
    packed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "MOST_TOPICS", 5)
    assert count(packed, 5) == 5
    monkeypatch.setattr(lines, "MOST_TOPICS", 4)
    with pytest.raises(InputError, match=r"has more than .* lines or 4 topics when unpacked"):
        count(packed, 5)


def test_lines_of_unpacked_and_of_larger_files_are_not_counted(
    packed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (packed.parent / "run").write_bytes(FIVE)
    assert count(packed.parent / "run", 1) == 5
    assert count(packed, 1, max_member=1000) == 5
    monkeypatch.setattr("ir_std.reading.unpacking.SMALL", packed.stat().st_size)
    assert count(packed, 1) == 5


@pytest.mark.parametrize("kind", ["tar", "zip"])
def test_lines_of_members_of_a_small_archive_are_counted(kind: str, tmp_path: Path) -> None:
    path = archive(kind, FIVE, tmp_path)
    (source,) = run_sources([path])
    assert len(read_lines(source, RUN._replace(most=5)).ids) == 5
    with pytest.raises(InputError, match="!run: has more than 4 lines"):
        read_lines(source, RUN._replace(most=4))
    (source,) = run_sources([path], max_member=1000)
    assert len(read_lines(source, RUN._replace(most=1)).ids) == 5


def test_a_small_packed_file_has_a_bound_on_bytes_and_a_larger_one_on_its_ratio(
    packed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unpacking, "MIN_UNPACK_LIMIT", len(FIVE))
    assert count(packed, 5) == 5
    monkeypatch.setattr(unpacking, "MIN_UNPACK_LIMIT", len(FIVE) - 1)
    with pytest.raises(InputError, match=f"has more than {len(FIVE) - 1} bytes when unpacked"):
        count(packed, 5)
    size = packed.stat().st_size
    monkeypatch.setattr(unpacking, "SMALL", size)
    assert count(packed, 5) == 5
    monkeypatch.setattr(unpacking, "RATIO", 1)
    with pytest.raises(InputError, match=f"has more than {size} bytes when unpacked"):
        count(packed, 5)


def test_a_bound_below_one_byte_is_none(packed: Path) -> None:
    with pytest.raises(UsageError, match="max_member is 0; pass a number of bytes, at least 1"):
        list(run_sources([packed], max_member=0))


def test_a_small_packed_file_of_scores_has_a_bound_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scores = b"map\t1\t0.5\n"
    (tmp_path / "plain").write_bytes(scores)
    (tmp_path / "packed").write_bytes(gzip.compress(scores))
    monkeypatch.setattr(contents, "MOST_PACKED", len(scores))
    assert len(files.read_scores(tmp_path / "packed")) == 1
    monkeypatch.setattr(contents, "MOST_PACKED", len(scores) - 1)
    assert len(files.read_scores(tmp_path / "plain")) == 1
    with pytest.raises(InputError, match=r"packed: has more than 9 bytes when unpacked; unpack"):
        files.read_scores(tmp_path / "packed")


@pytest.mark.parametrize(
    ("bound", "said"),
    [("MAX_PACKED_RUNS", "more than 1 runs"), ("MAX_PACKED_CELLS", "more than 1 cells")],
)
def test_a_small_packed_table_is_refused_before_its_scores_are_collected(
    bound: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = b"run,topic,measure,value\na,1,AP,0.5\nb,1,AP,0.5\n"
    (tmp_path / "packed").write_bytes(gzip.compress(table))
    monkeypatch.setattr(contents, bound, 1)
    monkeypatch.setattr(contents, "collect_scores", lambda _: pytest.fail("scores were collected"))
    with pytest.raises(InputError, match=said):
        files.read_scores(tmp_path / "packed")
