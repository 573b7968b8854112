"""Read and write runs and qrels in files."""

import gzip
import io
import os
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, Any, TypeVar

from ir_measures.util import Qrel, ScoredDoc

from ir_std import reading
from ir_std._system.files import write_atomically
from ir_std.errors import InputError
from ir_std.trec.qrels import Qrels, RepeatedDocument
from ir_std.trec.ranking import sort_run
from ir_std.trec.runs import InvalidRun, Run

Row = TypeVar("Row", Qrel, ScoredDoc)
File = str | os.PathLike[str] | IO[Any] | reading.Source
"""A path, ``-`` for standard input, an open file, or a source."""


def read_run(file: File) -> Run:
    """Read a TREC run with the six columns topic, Q0, document, rank, score and tag.

    A run of MS MARCO has the three columns topic, document and rank.  ir_std uses the negative
    ranks as scores.

    The file may have Windows line ends, blank lines, and comment lines, which start with ``#``.  It
    may be packed by gzip, bzip2 or xz; the name of the file does not matter.

    Parameters
    ----------
    file : str, path, open file or Source
        The file; ``-`` means standard input.  Pipes and open files are read into memory.

    Raises
    ------
    InputError
        If a line has too few or too many columns, a score is neither finite nor -inf, a topic has
        a document twice, the file is empty or cannot be unpacked, or it contains bytes that are not
        UTF-8, control characters, or lines of more than a megabyte.  The error names the file and
        the line.
    """
    source = reading.source_of(file)
    line_format = reading.RANKED_RUN if is_ranked(source) else reading.RUN
    try:
        run = Run.of_lines(reading.read_lines(source, line_format), source.name, source.duplicates)
    except (reading.CheckFailed, InvalidRun):
        pass  # leaving this block frees the traceback, which holds parts of the file
    else:
        run.has_ranks = line_format is reading.RUN
        return run
    raise reading.find_fault(source, line_format)


def is_ranked(source: reading.Source) -> bool:
    """Check whether a run is in MS MARCO's format, which has ranks but no scores."""
    columns = source.first_line[1].split() if source.first_line else []
    return len(columns) == reading.RANKED_RUN.width and columns[-1].isdigit()


def read_qrels(file: File) -> Qrels:
    """Read TREC qrels with the columns topic, iteration, document and relevance.

    The accepted files and the errors are the same as for :func:`read_run`.
    """
    source = reading.source_of(file)
    try:
        return Qrels(*reading.read_lines(source, reading.QRELS), source.name)
    except (reading.CheckFailed, RepeatedDocument):
        pass
    raise reading.find_fault(source, reading.QRELS)


def count_columns(source: reading.Source) -> int:
    """Count the columns in a file's first line that is neither blank nor a comment."""
    if source.first_line is None:
        raise reading.no_lines(source)
    return len(reading.split_line(source, *source.first_line))


def read_trec_qrels(file: str | os.PathLike[str] | IO[str]) -> Iterator[Qrel]:
    r"""Yield the rows of TREC qrels, as ``ir_measures.read_trec_qrels`` does.

    >>> list(read_trec_qrels("401 0 FBIS3-1 1\n"))
    [Qrel(query_id='401', doc_id='FBIS3-1', relevance=1, iteration='0')]

    Parameters
    ----------
    file : str, path or open file
        A file, or a string with the text of a file.  The string must contain a line end.
    """

    def row(columns: list[str]) -> Qrel:
        topic, iteration, document, level = columns
        return Qrel(topic, document, int(level), iteration)

    return _rows_of(file, row, reading.QRELS)


def read_trec_run(file: str | os.PathLike[str] | IO[str]) -> Iterator[ScoredDoc]:
    r"""Yield the rows of a TREC run, as ``ir_measures.read_trec_run`` does.

    >>> list(read_trec_run("401 Q0 FBIS3-1 1 17.5 bm25\n"))
    [ScoredDoc(query_id='401', doc_id='FBIS3-1', score=17.5)]

    Parameters
    ----------
    file : str, path or open file
        A file, or a string with the text of a file.  The string must contain a line end.
    """

    def row(columns: list[str]) -> ScoredDoc:
        topic, _, document, _, score, _ = columns
        return ScoredDoc(topic, document, float(score))

    return _rows_of(file, row, reading.RUN)


def _rows_of(
    file: str | os.PathLike[str] | IO[str],
    row: Callable[[list[str]], Row],
    form: reading.LineFormat,
) -> Iterator[Row]:
    """Yield what ``row`` returns for the columns of each line; an error names the line."""
    if isinstance(file, (str, os.PathLike)):
        given = os.fspath(file)
        reader: Callable[..., Any] = gzip.open if given.endswith(".gz") else open
        with io.StringIO(given) if "\n" in given else reader(given, "rt") as opened:
            yield from _rows_of(opened, row, form)
        return
    number = 0
    try:
        for number, line in enumerate(file, 1):  # noqa: B007 - the error names it
            if columns := line.split():
                yield row(columns)
    except (ValueError, EOFError, zlib.error) as wrong:
        name = getattr(file, "name", "text")
        raise InputError.at(name, str(wrong), form.layout, line=number) from None


def write_run(
    run: Run,
    file: str | os.PathLike[str] | IO[Any],
    tag: str = "ir_std",
    inputs: Iterable[str | os.PathLike[str]] = (),
) -> None:
    """Write a TREC run with topics in the run's order and documents in trec_eval's order.

    Scores are written with enough digits to be read as the same 64-bit floats.  trec_eval
    compares scores as 32-bit floats.  If two scores are equal as 32-bit floats, their lines are
    sorted by descending document ID, so the ranks are the same as trec_eval's.  The same run always
    gives the same bytes, because a ``.gz`` file contains no date.  The file is written completely
    or not at all, and replaces an older file.

    Parameters
    ----------
    run : Run
        The run to write.
    file : str, path or open file
        The file to write; it is packed if its name ends in ``.gz``.
    tag : str
        Text of the last column.
    inputs : iterable of str or path
        Files that must not be replaced.

    Raises
    ------
    InputError
        If an ID or the tag is empty or contains white space, or a topic starts with ``#``, because
        the line could not be read again; if the run has no documents; or if the file cannot be
        written.
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
