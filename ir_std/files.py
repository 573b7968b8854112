"""Runs and qrels in files: read fast, explained line by line when something is wrong.

A whole block of lines is split at once and checked by counting; only when a check fails is
the file read again line by line to say where and why.
"""

from __future__ import annotations

import gzip
import math
import os
import tempfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import BytesIO
from itertools import islice
from operator import ne
from pathlib import Path
from typing import Any, BinaryIO, Protocol, cast

import numpy as np

from ir_std.errors import InputError
from ir_std.ranking import NotARun, Qrels, Run

_BLOCK = 1 << 23


class Source(Protocol):
    """Bytes with a name: a file on disk, or a member of an archive in memory."""

    @property
    def name(self) -> str:
        """What messages call it."""

    def open(self) -> BinaryIO:
        """Open for reading, from the start."""


@dataclass(frozen=True)
class FileSource:
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
        try:
            if self.path.suffix == ".gz":
                return cast(BinaryIO, gzip.open(self.path, "rb"))
            return open(self.path, "rb")
        except OSError as failed:
            raise InputError.at(self.path, None, failed.strerror or str(failed),
                                "name a readable file") from None


@dataclass(frozen=True)
class BytesSource:
    """A file in memory."""

    name: str
    content: bytes

    def open(self) -> BinaryIO:
        """Open for reading; content that is gzip is unpacked."""
        stream = BytesIO(self.content)
        if self.name.endswith(".gz"):
            return cast(BinaryIO, gzip.GzipFile(fileobj=stream))
        return stream


@dataclass(frozen=True)
class _Format:
    """The columns of a kind of file, and its one column that is a number."""

    kind: str
    columns: tuple[str, ...]
    value_column: int
    to_number: Callable[[str], float]
    value_rule: str

    @property
    def width(self) -> int:
        return len(self.columns)

    @property
    def layout(self) -> str:
        return f"a {self.kind} has {self.width} columns: {' '.join(self.columns)}"


RUN = _Format("run", ("topic", "Q0", "document", "rank", "score", "tag"), 4, float,
              "a finite number is expected")
QRELS = _Format("qrels file", ("topic", "iteration", "document", "relevance"), 3, int,
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
        return Run.from_segments(
            ((topic, docs, np.array(scores)) for topic, docs, scores in _segments(source, RUN)),
            source.name)
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
    judged: dict[str, dict[str, int]] = {}
    try:
        for topic, docs, levels in _segments(source, QRELS):
            known = judged.setdefault(topic, {})
            before = len(known)
            known.update(zip(docs, levels, strict=True))
            if len(known) != before + len(docs):
                raise _Suspicious
    except _Suspicious:
        raise _explain(source, QRELS) from None
    return Qrels(judged, source.name)


def write_run(run: Run, file: str | os.PathLike[str], tag: str = "ir_std") -> None:
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

    Raises
    ------
    InputError
        If an id or the tag is empty or holds white space, or a topic begins with ``#``, so
        that it would not read back; if the run has no documents, or the file cannot be written.
    """
    target = Path(file).resolve()
    content = _run_text(run, tag)
    if target.exists() and not target.is_file():
        raise InputError.at(file, None, "is not a regular file", "name a new file")
    try:
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}.") as scratch:
            part = Path(scratch) / "run"
            part.write_bytes(gzip.compress(content, mtime=0) if target.suffix == ".gz" else content)
            os.replace(part, target)
    except OSError as failed:
        raise InputError.at(file, None, f"cannot be written ({failed.strerror or failed})",
                            "name a file in a folder that can be written to") from None


def _run_text(run: Run, tag: str) -> bytes:
    _check_column("tag", tag)
    lines = []
    for topic, (docs, scores) in run.ranked().lists.items():
        _check_column("topic id", topic)
        for rank, (doc, score) in enumerate(zip(docs, scores.tolist(), strict=True), 1):
            _check_column("document id", doc)
            lines.append(f"{topic} Q0 {doc} {rank} {score!r} {tag}\n")
    if not lines:
        raise InputError.at(run.name, None, "no documents", "there is nothing to write")
    return "".join(lines).encode()


def _check_column(what: str, name: str) -> None:
    """Refuse what would not read back as one column."""
    expected = None
    if name.split() != [name]:
        expected = "it must hold something, and no white space"
    elif what == "topic id" and name.startswith("#"):
        expected = "a line that starts with # is a comment"
    elif not name.isprintable() and name.encode(errors="ignore").decode() != name:
        expected = "it must be Unicode text"
    if expected:
        raise InputError.at("run", None, f"{what} {name!r} cannot stand in a run file", expected)


decode()
        except UnicodeDecodeError:
            raise _Suspicious from None
        tokens = text.split()
        if not tokens:
            continue
        empty = False
        if not _regular(block, tokens, form.width):
            raise _Suspicious
        topics, docs = tokens[::form.width], tokens[2::form.width]
        try:
            values = list(map(form.to_number, tokens[form.value_column::form.width]))
        except ValueError:
            raise _Suspicious from None
        changes = np.fromiter(map(ne, topics, islice(topics, 1, None)), bool, len(topics) - 1)
        ends = [*(np.flatnonzero(changes) + 1).tolist(), len(topics)]
        start = 0
        for end in ends:
            yield topics[start], docs[start:end], values[start:end]
            start = end
    if empty:
        raise _Suspicious


def _blocks(source: Source) -> Iterator[bytes]:
    """The content in blocks of whole lines, without comment lines."""
    rest = b""
    with source.open() as stream:
        while True:
            block = _read(stream, source)
            if not block:
                break
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


def _regular(block: bytes, tokens: list[str], width: int) -> bool:
    """Whether every line that is not blank has ``width`` of the tokens."""
    codes = np.frombuffer(block, np.uint8)
    space = codes <= 32
    starts = np.flatnonzero(space[:-1] & ~space[1:]) + 1
    if not space[0]:
        starts = np.concatenate([[0], starts])
    line_ends = np.flatnonzero(codes == 10)
    if block[-1] != 10:
        line_ends = np.append(line_ends, len(block))
    if len(starts) == len(tokens) == width * len(line_ends):
        rows = starts.reshape(-1, width)
        return bool((rows[:, -1] < line_ends).all() and (rows[1:, 0] > line_ends[:-1]).all())
    # Blank lines, or white space beyond ASCII: count line by line.
    return all(len(line.split()) in (0, width) for line in block.decode().split("\n"))


def _lines(source: Source) -> Iterator[tuple[int, str]]:
    """Line numbers and lines that are neither blank nor comments, one by one."""
    number = 0
    for block in _blocks(source):
        for line in block.split(b"\n")[:-1] if block.endswith(b"\n") else block.split(b"\n"):
            number += 1
            try:
                text = line.decode()
            except UnicodeDecodeError as wrong:
                raise InputError.at(source.name, number,
                                    f"byte 0x{line[wrong.start]:02x} is not UTF-8",
                                    "save the file as UTF-8") from None
            if text.strip():
                yield number, text


def _explain(source: Source, form: _Format) -> InputError:
    """The error at the first line of ``source`` that is not as ``form`` wants it."""
    seen: dict[tuple[str, str], int] = {}
    try:
        for number, line in _lines(source):
            fields = line.split()
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
        return math.isfinite(form.to_number(text))
    except ValueError:
        return False


def _empty(source: Source) -> InputError:
    return InputError.at(source.name, None, "no lines",
                         "the file is empty or holds only comments")
