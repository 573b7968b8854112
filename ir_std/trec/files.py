"""Runs and qrels in files, read and written."""

from __future__ import annotations

import gzip
import io
import os
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, Any

from ir_measures import util
from ir_measures.util import Qrel, ScoredDoc

from ir_std._system.files import write_atomically
from ir_std.errors import InputError
from ir_std.reading import (
    QRELS,
    RANKED_RUN,
    RUN,
    CheckFailed,
    LineFormat,
    Source,
    find_fault,
    no_lines,
    read_lines,
    source_of,
    split_line,
)
from ir_std.trec.qrels import Qrels, RepeatedDocument
from ir_std.trec.ranking import sort_run
from ir_std.trec.runs import InvalidRun, Run

File = str | os.PathLike[str] | IO[Any] | Source
"""A path, ``-`` for standard input, an open file, or a source."""


def read_run(file: File) -> Run:
    """Read a TREC run: six columns, topic Q0 document rank score tag.

    Or one of MS MARCO: three columns, topic document rank; its scores are the negative ranks.

    Windows line ends, blank lines and whole lines that start with ``#`` are accepted, and files
    packed by gzip, bzip2 or xz, whatever their name.

    Parameters
    ----------
    file : str, path, open file or Source
        ``-`` is standard input.  Pipes and open files are read into memory.

    Raises
    ------
    InputError
        Naming file and line: too few or many columns, a score that is neither finite nor -inf, a
        document twice in a topic, an empty file, one that cannot be unpacked, bytes that are not
        UTF-8, control characters, lines of more than a megabyte.
    """
    source = source_of(file)
    line_format = RANKED_RUN if _is_ranked(source) else RUN
    try:
        run = Run.of_lines(read_lines(source, line_format), source.name, source.duplicates)
    except (CheckFailed, InvalidRun):
        pass  # and with it what it holds of the file
    else:
        run.has_ranks = line_format is RUN
        return run
    raise find_fault(source, line_format)


def _is_ranked(source: Source) -> bool:
    """Check whether a run is one of MS MARCO, which has only ranks."""
    columns = source.first_line[1].split() if source.first_line else []
    return len(columns) == RANKED_RUN.width and columns[-1].isdigit()


def read_qrels(file: File) -> Qrels:
    """Read TREC qrels: four columns, topic iteration document relevance; as :func:`read_run`."""
    source = source_of(file)
    try:
        return Qrels(*read_lines(source, QRELS), source.name)
    except (CheckFailed, RepeatedDocument):
        pass
    raise find_fault(source, QRELS)


def count_columns(source: Source) -> int:
    """Count the columns in a file's first line that is neither blank nor a comment."""
    if source.first_line is None:
        raise no_lines(source)
    return len(split_line(source, *source.first_line))


def read_trec_qrels(file: str | os.PathLike[str] | IO[str]) -> Iterator[Qrel]:
    r"""Yield the rows of TREC qrels, like ``ir_measures.read_trec_qrels``.

    >>> list(read_trec_qrels("401 0 FBIS3-1 1\n"))
    [Qrel(query_id='401', doc_id='FBIS3-1', relevance=1, iteration='0')]

    Parameters
    ----------
    file : str, path or open file
        A file, or its content: a string with a line end in it.
    """
    yield from _rows_of(file, util.read_trec_qrels, QRELS)


def read_trec_run(file: str | os.PathLike[str] | IO[str]) -> Iterator[ScoredDoc]:
    r"""Yield the rows of a TREC run, like ``ir_measures.read_trec_run``.

    >>> list(read_trec_run("401 Q0 FBIS3-1 1 17.5 bm25\n"))
    [ScoredDoc(query_id='401', doc_id='FBIS3-1', score=17.5)]

    Parameters
    ----------
    file : str, path or open file
        A file, or its content: a string with a line end in it.
    """
    yield from _rows_of(file, util.read_trec_run, RUN)


class _NumberedLines:
    """The lines of an open file, counted while ir_measures reads them."""

    def __init__(self, file: Iterable[str]) -> None:
        self.read, self.number, self._file = None, 0, file

    def __iter__(self) -> Iterator[str]:
        for line in self._file:
            self.number += 1
            yield line


def _rows_of(
    file: str | os.PathLike[str] | IO[str], read: Callable[[Any], Iterable[Any]], form: LineFormat
) -> Iterator[Any]:
    """Yield what ir_measures reads; an error names the line that it cannot."""
    if isinstance(file, (str, os.PathLike)):
        given = os.fspath(file)
        if "\n" in given:
            file = io.StringIO(given)
        else:
            with (gzip.open if given.endswith(".gz") else open)(given, "rt") as opened:
                yield from _rows_of(opened, read, form)
            return
    lines = _NumberedLines(file)
    try:
        yield from read(lines)
    except (ValueError, EOFError, zlib.error) as wrong:
        name = getattr(file, "name", "text")
        raise InputError.at(name, str(wrong), form.layout, line=lines.number) from None


def write_run(
    run: Run,
    file: str | os.PathLike[str] | IO[Any],
    tag: str = "ir_std",
    inputs: Iterable[str | os.PathLike[str]] = (),
) -> None:
    """Write a TREC run: topics in the run's order, documents in trec_eval's.

    Scores are written so that they read back equal, as 64-bit floats.  Where scores are equal
    as 32-bit floats, which is what trec_eval compares, lines are by document id descending, so the
    ranks are the same as trec_eval's.  The same run always gives the same bytes; a ``.gz`` file
    carries no time.  The file appears whole or not at all; an older one is replaced.

    Parameters
    ----------
    run : Run
    file : str, path or open file
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
    content = run_text(run, tag)
    if isinstance(file, (str, os.PathLike)) and Path(file).suffix == ".gz":
        content = gzip.compress(content, mtime=0)
    write_atomically(file, content, inputs)


def run_text(run: Run, tag: str) -> bytes:
    """Return the lines of a run, as :func:`write_run` writes them."""
    _check_column("tag", tag)
    lines = []
    for topic, (docs, scores) in sort_run(run).lists.items():
        _check_column("topic id", topic)
        if topic.startswith("#"):
            raise _unwritable("topic id", topic, "a line that starts with # is a comment")
        for rank, (doc, score) in enumerate(zip(docs, scores.tolist(), strict=True), 1):
            _check_column("document id", doc)
            lines.append(f"{topic} Q0 {doc} {rank} {score!r} {tag}\n")
    if not lines:
        raise InputError.at(run.name, "no documents", "there is nothing to write")
    return "".join(lines).encode()


def _check_column(what: str, text: str) -> None:
    if not text or min(text) <= " ":
        raise _unwritable(what, text, "a column must not be empty or contain white space")
    if max(text) >= "\ud800" and any("\ud800" <= letter <= "\udfff" for letter in text):
        raise _unwritable(what, text, "half a surrogate pair is not Unicode text")


def _unwritable(what: str, text: str, expected: str) -> InputError:
    return InputError.at("run", f"{what} {text!r} cannot be written to a file", expected)
