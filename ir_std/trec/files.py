"""Runs and qrels in files: read fast, explained line by line when something is wrong.

A whole block of lines is split at once and checked by counting; only when a check fails is
the file read again line by line to say where and why.
"""

from __future__ import annotations

import codecs
import gzip
import math
import os
import zlib
from collections.abc import Callable, Iterable, Iterator
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Protocol, cast

import numpy as np
import numpy.typing as npt

from ir_std._files import write_whole
from ir_std.errors import InputError
from ir_std.trec._ids import Ids, Ints, column
from ir_std.trec.ranking import ranked
from ir_std.trec.runs import ArrayQrels, ArrayRun, NotARun, Qrels, Run

_BLOCK = 1 << 18


class Source(Protocol):
    """Bytes with a name: a file on disk, or a member of an archive in memory."""

    @property
    def name(self) -> str:
        """What messages call it."""

    def open(self) -> BinaryIO:
        """Open for reading, from the start."""


class FileSource(NamedTuple):
    """A file on disk; ``.gz`` is unpacked while reading."""

    path: Path

    @property
    def name(self) -> str:
        """The path as it was given."""
        return str(self.path)

    def open(self) -> BinaryIO:
        """Open for reading.

        Raises
        ------
        InputError
            If there is no such file, it is a folder, or it may not be read.
        """
        if self.path.is_dir():
            raise InputError.at(self.path, None, "is a directory", "name a file")
        if self.path.exists() and not self.path.is_file():
            # Files are opened more than once, and a pipe gives its content only to the first.
            raise InputError.at(self.path, None, "is a pipe or a device",
                                "write it to a file, and name that")
        try:
            if self.path.suffix == ".gz":
                return cast(BinaryIO, gzip.open(self.path, "rb"))
            return open(self.path, "rb")
        except OSError as failed:
            raise InputError.at(self.path, None, failed.strerror or str(failed),
                                "name a readable file") from None


class BytesSource(NamedTuple):
    """A file in memory."""

    name: str
    content: bytes

    def open(self) -> BinaryIO:
        """Open for reading; content that is gzip is unpacked."""
        stream = BytesIO(self.content)
        if self.name.endswith(".gz"):
            return cast(BinaryIO, gzip.GzipFile(fileobj=stream))
        return stream


class _Format(NamedTuple):
    """The columns of a kind of file, and its one column that is a number."""

    kind: str
    columns: tuple[str, ...]
    value_column: int
    to_number: Callable[[str], float]
    dtype: type
    value_rule: str

    @property
    def width(self) -> int:
        return len(self.columns)

    @property
    def layout(self) -> str:
        return f"a {self.kind} has {self.width} columns: {' '.join(self.columns)}"


RUN = _Format("run", ("topic", "Q0", "document", "rank", "score", "tag"), 4, float, np.float64,
              "a finite number is expected")
QRELS = _Format("qrels file", ("topic", "iteration", "document", "relevance"), 3, int, np.int64,
                "a whole number is expected")


def read_run(file: str | os.PathLike[str] | Source) -> Run:
    """Read a TREC run: six columns, topic Q0 document rank score tag.

    Windows line ends, blank lines and whole lines that start with ``#`` are accepted, and
    ``.gz`` files.

    Raises
    ------
    InputError
        Naming file and line: too few or many columns, a score that is no finite number, a
        document twice in a topic, an empty file, broken gzip, bytes that are not UTF-8.
    """
    source = _source(file)
    try:
        return ArrayRun(*_table(source, RUN), source.name)
    except (_Suspicious, NotARun):
        raise _explain(source, RUN) from None


def read_qrels(file: str | os.PathLike[str] | Source) -> Qrels:
    """Read TREC qrels: four columns, topic iteration document relevance.

    Raises
    ------
    InputError
        As :func:`read_run`; the relevance must be a whole number.
    """
    source = _source(file)
    try:
        return ArrayQrels(*_table(source, QRELS), source.name)
    except (_Suspicious, NotARun):
        raise _explain(source, QRELS) from None


def columns_of(file: str | os.PathLike[str] | Source) -> int:
    """The number of columns in a file's first line that is neither blank nor a comment.

    Raises
    ------
    InputError
        If the file cannot be read or has no such line.
    """
    source = _source(file)
    for _, fields in _lines(source):
        return len(fields)
    raise _empty(source)


def _source(file: str | os.PathLike[str] | Source) -> Source:
    return FileSource(Path(file)) if isinstance(file, (str, os.PathLike)) else file


class _Suspicious(Exception):
    """A block did not pass a check; the slow reader will say why."""


def _table(source: Source, form: _Format) -> tuple[list[tuple[str, int]], Ids,
                                                   npt.NDArray[Any]]:
    """A file as segments of lines on one topic, document ids and values."""
    segments: list[tuple[str, int]] = []
    ids: list[Ids] = []
    values: list[npt.NDArray[Any]] = []
    for block in _blocks(source):
        if block.isspace() or not block:
            continue
        codes, starts, ends = _tokens(block, form.width)
        topics = column(codes, starts[:, 0], ends[:, 0])
        cuts = [0, *(np.flatnonzero(topics[1:] != topics[:-1]) + 1).tolist(), len(topics)]
        segments += [(topics[a].decode(), b - a) for a, b in pairwise(cuts)]
        ids.append(column(codes, starts[:, 2], ends[:, 2]))
        numbers = column(codes, starts[:, form.value_column], ends[:, form.value_column])
        try:
            values.append(numbers.astype(form.dtype))
        except (ValueError, OverflowError):
            raise _Suspicious from None
    if not ids:
        raise _Suspicious
    return segments, np.concatenate(ids), np.concatenate(values)


def _tokens(block: bytes, width: int) -> tuple[npt.NDArray[np.uint8], Ints, Ints]:
    """A block's bytes, with the starts and ends of its tokens, shape (n_lines, width).

    Raises
    ------
    _Suspicious
        If a line has not ``width`` tokens, or the block is not UTF-8.
    """
    if not block.isascii():
        try:
            block.decode()
        except UnicodeDecodeError:
            raise _Suspicious from None
    codes = np.frombuffer(block, np.uint8)
    space = codes <= 32
    edges = np.flatnonzero(space[1:] != space[:-1]) + 1
    if not space[0]:
        edges = np.concatenate([[0], edges])
    if not space[-1]:
        edges = np.concatenate([edges, [len(codes)]])
    if len(edges) % (2 * width):
        raise _Suspicious
    rows = edges.reshape(-1, width, 2)
    starts, ends = rows[:, :, 0], rows[:, :, 1]
    line_ends = np.flatnonzero(codes == 10)
    line = np.arange(len(rows)) if len(line_ends) in (len(rows), len(rows) - 1) else (
        np.searchsorted(line_ends, starts[:, 0]))  # where there are blank lines
    line_ends = np.append(line_ends, len(codes))
    if (starts[:, -1] > line_ends[line]).any() or (starts[1:, 0] < line_ends[line[:-1]]).any():
        raise _Suspicious
    return codes, starts, ends


def _blocks(source: Source) -> Iterator[bytes]:
    """The content in blocks of whole lines, without comment lines."""
    rest = b""
    with source.open() as stream:
        first = True
        while block := _read(stream, source):
            if first:
                block, first = block.removeprefix(codecs.BOM_UTF8), False
            cut = block.rfind(b"\n") + 1
            if cut:
                yield _without_comments(rest + block[:cut])
                rest = block[cut:]
            else:
                rest += block
    if rest:
        yield _without_comments(rest)


def _read(stream: BinaryIO, source: Source) -> bytes:
    try:
        return stream.read(_BLOCK)
    except (EOFError, zlib.error, gzip.BadGzipFile) as broken:
        raise InputError.at(source.name, None, f"broken gzip ({broken})",
                            "copy the file again, or name it without .gz if it is not one"
                            ) from None


def _without_comments(block: bytes) -> bytes:
    if b"#" not in block:
        return block
    return b"\n".join(b"" if line.lstrip().startswith(b"#") else line
                      for line in block.split(b"\n"))


def _lines(source: Source) -> Iterator[tuple[int, list[str]]]:
    """Line numbers and fields of lines that are neither blank nor comments, one by one."""
    number = 0
    for block in _blocks(source):
        for line in block.removesuffix(b"\n").split(b"\n"):
            number += 1
            try:
                fields = [field.decode() for field in line.split()]
            except UnicodeDecodeError as wrong:
                raise InputError.at(source.name, number,
                                    f"byte 0x{wrong.object[wrong.start]:02x} is not UTF-8",
                                    "save the file as UTF-8") from None
            if fields:
                yield number, fields


def _explain(source: Source, form: _Format) -> InputError:
    """The error at the first line of ``source`` that is not as ``form`` wants it."""
    seen: dict[tuple[str, str], int] = {}
    try:
        for number, fields in _lines(source):
            if any(letter < " " for field in fields for letter in field):
                return InputError.at(source.name, number, "a control character",
                                     "columns are parted by blanks or tabs")
            if len(fields) != form.width:
                return InputError.at(source.name, number, _found_columns(fields, form),
                                     form.layout)
            value = fields[form.value_column]
            if not _is_number(value, form):
                return InputError.at(source.name, number,
                                     f"{form.columns[form.value_column]} is {value!r}",
                                     form.value_rule)
            key = fields[0], fields[2]
            if key in seen:
                return InputError.at(source.name, number, f"topic {key[0]} has document "
                                     f"{key[1]!r} again, first on line {seen[key]}",
                                     "give each document once")
            seen[key] = number
    except InputError as found:
        return found
    return _empty(source)


def _found_columns(fields: list[str], form: _Format) -> str:
    found = f"{len(fields)} column{'s' if len(fields) != 1 else ''}"
    for other in (RUN, QRELS):
        if other is not form and len(fields) == other.width:
            return f"{found}, as a {other.kind} has"
    return found


def _is_number(text: str, form: _Format) -> bool:
    try:
        return math.isfinite(form.dtype(form.to_number(text)))
    except (ValueError, OverflowError):
        return False


def _empty(source: Source) -> InputError:
    return InputError.at(source.name, None, "no lines",
                         "the file is empty or holds only comments")


def write_run(run: Run, file: str | os.PathLike[str], tag: str = "ir_std",
              inputs: Iterable[str | os.PathLike[str]] = ()) -> None:
    """Write a TREC run: topics in the run's order, documents in trec_eval's.

    Scores are written so that they read back equal, as 64-bit floats.  Where scores are equal
    as 32-bit floats, which is what trec_eval compares, lines are by document id descending, so
    ranks are those that trec_eval gives.  The same run always gives the same bytes; a ``.gz``
    file carries no time.  The file appears whole or not at all; an older one is replaced.

    Parameters
    ----------
    run : Run
    file : str or path
        Packed if its name ends in ``.gz``.
    tag : str
        The last column.
    inputs : iterable of str or path
        Files that must not be replaced.

    Raises
    ------
    InputError
        If an id or the tag is empty or holds white space, or a topic begins with ``#``, so
        that it would not read back; if the run has no documents, or the file cannot be written.
    """
    content = _run_text(run, tag)
    if Path(file).suffix == ".gz":
        content = gzip.compress(content, mtime=0)
    write_whole(file, content, inputs)


def _run_text(run: Run, tag: str) -> bytes:
    _check_column("tag", tag)
    lines = []
    for topic, (docs, scores) in ranked(run).lists.items():
        _check_column("topic id", topic)
        if topic.startswith("#"):
            raise _unwritable("topic id", topic, "a line that starts with # is a comment")
        for rank, (doc, score) in enumerate(zip(docs, scores.tolist(), strict=True), 1):
            _check_column("document id", doc)
            lines.append(f"{topic} Q0 {doc} {rank} {score!r} {tag}\n")
    if not lines:
        raise InputError.at(run.name, None, "no documents", "there is nothing to write")
    return "".join(lines).encode()


def _check_column(what: str, text: str) -> None:
    if not text or min(text) <= " ":
        raise _unwritable(what, text, "columns have no white space in them, and are not empty")
    if max(text) >= "\ud800" and any("\ud800" <= letter <= "\udfff" for letter in text):
        raise _unwritable(what, text, "half a surrogate pair is no Unicode text")


def _unwritable(what: str, text: str, expected: str) -> InputError:
    return InputError.at("run", None, f"{what} {text!r} cannot be written to a file", expected)
