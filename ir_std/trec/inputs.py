"""Read runs, qrels and texts in any form that users pass.

Users can pass files, dicts of dicts, DataFrames, and iterables of records or of named tuples (as
for ir_measures).  For qrels and texts, users can also pass IDs of ir_datasets.  No input is
modified.
"""

import json
import logging
import operator
import os
import reprlib
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import numpy as np

from ir_std._arrays import Ints
from ir_std.errors import InputError, abbreviate
from ir_std.reading import Ids, Source, check_strings, content_lines, source_of
from ir_std.trec.files import read_qrels, read_run
from ir_std.trec.frames import RUN_COLUMNS, DocumentRows, check_dicts, is_pandas, rows_of
from ir_std.trec.qrels import Qrels, RepeatedDocument
from ir_std.trec.runs import Run, as_scores, kept_lines


def as_run(run: Any, duplicates: str = "error") -> Run:
    """Convert a run in any form to a run in memory.

    Parameters
    ----------
    run : Run, str, path, open file, dict, DataFrame or iterable
        A file (``str``, path, or open; ``-`` is standard input); ``{topic: {document: score}}``;
        a DataFrame of pandas or polars with columns query_id, doc_id, score, or PyTerrier's qid,
        docno, score; or an iterable of objects with these attributes, or of dicts with these keys.
    duplicates : {'error', 'first', 'last'}
        Row that counts if a document occurs twice for a topic.  For a file, the ``duplicates``
        attribute of the :class:`Source` applies instead.

    Raises
    ------
    InputError
        If the run has none of these forms, an ID is not a string, a score is NaN or +inf, or a
        document occurs twice in a topic.
    """
    if isinstance(run, Run):
        return run
    if isinstance(run, Iterator) and not is_file(run):
        run = _listed(run)
    if is_file(run):
        return read_run(run)
    if isinstance(run, Mapping):
        check_dicts(run, "run")
        made = Run.of_dict(run)
    else:
        rows = rows_of(run, RUN_COLUMNS, "run")
        scores = as_scores(rows.values, len(rows.documents), "run")
        lines = rows.topics, rows.topic, _ids(rows, "run"), scores
        made = Run.of_lines(lines, "run", duplicates)
    if _others_read(run) and not made.repeated:
        made.given = run
    return made


def is_file(given: Any) -> bool:
    """Check whether an object is a path, an open file, or a source."""
    return isinstance(given, (str, os.PathLike, Source)) or hasattr(given, "read")


def _others_read(given: Any) -> bool:
    """Check whether ir_measures' own providers also accept an object."""
    return (
        isinstance(given, Mapping)
        or (is_pandas(given) and "query_id" in given.columns and "doc_id" in given.columns)
        or (isinstance(given, list) and not isinstance(next(iter(given), None), Mapping))
    )


def _listed(rows: Iterator[Any]) -> Any:
    """Return an iterator's rows as a list, or the path, file or table that it iterates over.

    The methods of ir_measures' measures call a pipeline that turns any input into an iterator.  A
    path becomes an iterator over letters, a file becomes an iterator over lines, and a table
    becomes an iterator over columns.
    """
    listed = list(rows)
    if listed and all(isinstance(row, str) for row in listed):
        text = "".join(listed)
        return StringIO(text) if "\n" in text else text
    if listed and all(isinstance(row, bytes) for row in listed):
        return BytesIO(b"".join(listed))
    if listed and all(hasattr(row, "to_frame") for row in listed):
        return listed[0].to_frame().with_columns(listed[1:])
    return listed


def as_qrels(qrels: Any) -> Qrels:
    """Convert qrels in any form to qrels in memory.

    Parameters
    ----------
    qrels : Qrels, str, path, open file, dict, DataFrame or iterable
        A file; the ID of an ir_datasets dataset; ``{topic: {document: level}}``; a DataFrame with
        columns query_id, doc_id, relevance, or PyTerrier's qid, docno, label; or an iterable, as
        for :func:`as_run`.  If a document is judged twice in a topic, the last level counts, as in
        ir_measures.  In a file, a second judgment of a document is an error.

    Raises
    ------
    InputError
        If the qrels have none of these forms, an ID is not a string, or a level is not a whole
        number.
    """
    if isinstance(qrels, Qrels):
        return qrels
    if isinstance(qrels, Iterator) and not is_file(qrels):
        qrels = _listed(qrels)
    if isinstance(qrels, str) and not _looks_like_file(qrels):
        return dataset_qrels(qrels)
    if is_file(qrels):
        return read_qrels(qrels)
    rows = rows_of(qrels, ("query_id", "doc_id", "relevance"), "qrels")
    ids, levels = _ids(rows, "qrels"), _levels(rows)
    try:
        made = Qrels(rows.topics, rows.topic, ids, levels)
    except RepeatedDocument:
        kept = kept_lines(rows.topic, ids, "last")
        made = Qrels(rows.topics, rows.topic[kept], ids[kept], levels[kept])
    if _others_read(qrels):
        made.given = qrels
    return made


def dataset_qrels(name: str) -> Qrels:
    """Return the qrels of an ir_datasets dataset."""
    if not is_dataset(name):
        raise InputError.at(
            name,
            "neither a file nor an ir_datasets ID",
            "name a qrels file, or an ID such as disks45/nocr/trec8",
        )
    with ir_dataset(name, "qrels") as dataset:
        qrels = as_qrels(list(dataset.qrels_iter()))
    qrels.name = qrels.dataset = name
    return qrels


@contextmanager
def ir_dataset(name: str, what: str) -> Iterator[Any]:
    """Open a dataset of ir_datasets to read its ``qrels``, ``queries`` or ``docs``."""
    import ir_datasets

    dataset = ir_datasets.load(name)
    if not getattr(dataset, f"has_{what}")():
        raise InputError.at(
            name, f"this ir_datasets dataset has no {what}", f"name a part of it that has {what}"
        )
    log = logging.getLogger("ir_datasets")
    log.addFilter(_no_download_error)
    try:
        yield dataset
    except (OSError, RuntimeError) as failed:
        reason = failed.args[0] if failed.args else type(failed).__name__
        raise InputError.at(
            name,
            f"ir_datasets cannot get the {what} ({reason})",
            f"check the network, or name a {what} file",
        ) from None
    finally:
        log.removeFilter(_no_download_error)


def _no_download_error(record: logging.LogRecord) -> bool:
    """Keep ir_datasets from logging each failed download; the error reports the failure once."""
    return "download" not in record.getMessage().lower()


def is_dataset(name: str) -> bool:
    """Check whether ir_datasets knows a dataset with this ID; download nothing."""
    try:
        import ir_datasets
    except (OSError, RuntimeError) as failed:  # ir_datasets creates a folder in the user's home
        raise InputError.at(
            name,
            f"no such file, and ir_datasets cannot be searched for this ID ({failed})",
            "name a file, or set IR_DATASETS_HOME to a writable folder",
        ) from None
    try:
        ir_datasets.load(name)
    except KeyError:
        return False
    return True


def _looks_like_file(name: str) -> bool:
    """Check whether a name looks like a file's name or cannot be a dataset's name."""
    return (
        name == "-"
        or os.path.exists(name)
        or len(name) > 255
        or "\0" in name
        or name.startswith((".", "/", "~"))
        or (Path(name).suffix in {".txt", ".gz", ".bz2", ".xz", ".qrels", ".qrel", ".tsv"})
    )


def _ids(rows: DocumentRows, kind: str) -> Ids:
    """Return the IDs of the documents; raise an error if an ID is not a string."""
    try:
        return Ids.of(rows.documents)
    except TypeError:
        check_strings(rows.documents, kind, "document id")
        raise


def _levels(rows: DocumentRows) -> Ints:
    """Return the levels of the rows; raise an error if a level is not a whole number."""
    values = rows.values.tolist() if isinstance(rows.values, np.ndarray) else [*rows.values]
    try:
        return np.fromiter(map(operator.index, values), np.int64, len(values))
    except (TypeError, OverflowError):  # a level is not an int, or is too large
        places = zip(values, rows.topic.tolist(), rows.documents, strict=True)
        levels = [_level(level, rows.topics[topic], doc) for level, topic, doc in places]
        return np.array(levels, np.int64)


def _level(level: Any, topic: str, doc: str) -> int:
    """Return a level as a whole number of at most 64 bits."""
    try:
        whole = operator.index(level)
    except TypeError:
        whole = int(level) if isinstance(level, float) and level.is_integer() else 2**63
    if not -(2**63) <= whole < 2**63:
        raise InputError.at(
            "qrels",
            f"topic {topic}, document {doc!r} has relevance {reprlib.repr(level)}",
            "expected a whole number of at most 64 bits",
        )
    return whole


# --- texts ----------------------------------------------------------------------------------------

_IDS = ("_id", "id", "doc_id", "docid", "docno", "query_id", "qid")
"""Keys that can hold the ID in a JSON record."""
_TEXTS = ("title", "text", "contents", "body", "query", "segment")
"""Keys that can hold texts in a JSON record, in the order in which the texts are joined."""


def read_texts(given: Any, wanted: Collection[str], what: str) -> dict[str, str]:
    """Read the texts of some documents or queries, and put each text on one line.

    Parameters
    ----------
    given : mapping, str, path, open file or Source
        ``{id: text}``; the ID of an ir_datasets dataset, which may trigger a download; or a file.
        Each line of the file holds an ID, a tab and a text, or a JSON record with ``_id`` and
        ``text``, as in BEIR.  A text may have several columns, such as a title and a body.
    wanted : collection of str
        IDs of the texts to keep; other texts are not kept in memory.
    what : {'docs', 'queries'}
        Kind of the texts.

    Raises
    ------
    InputError
        If ``given`` cannot be read, or has none of the IDs.
    """
    wanted = set(wanted)
    if isinstance(given, Mapping):
        name, pairs = what, iter(given.items())
    elif isinstance(given, str) and not os.path.exists(given) and is_dataset(given):
        name, pairs = given, _texts_of_dataset(given, wanted, what)
    else:
        source = source_of(given)
        name, pairs = source.name, _texts_of_lines(source)
    texts: dict[str, str] = {}
    first = ""
    for number, (key, text) in enumerate(pairs):
        first = first if number else str(key)
        if key in wanted:
            texts[key] = " ".join(str(text).split())
            if len(texts) == len(wanted):
                break
    if wanted and not texts:
        raise InputError.at(
            name,
            f"has no text for the {what} {abbreviate(sorted(wanted))}, "
            + (f"only for IDs such as {first}" if first else "because the file is empty"),
            f"pass the {what} of the same collection, one per line (an ID, a tab and a text)",
        )
    return texts


def _texts_of_lines(source: Source) -> Iterator[tuple[str, str]]:
    for number, line in content_lines(source):
        try:
            yield _text_of_line(line.decode())
        except (ValueError, RecursionError) as wrong:
            not_text = isinstance(wrong, UnicodeDecodeError)
            raise InputError.at(
                source.name,
                "bytes that are not UTF-8"
                if not_text
                else f"no ID and text in {line[:40].decode(errors='replace')!r}",
                f"write an ID, a tab and a text, or a JSON record with {abbreviate(_IDS)}",
                line=number,
            ) from None


def _text_of_line(line: str) -> tuple[str, str]:
    """Return the ID and the text of a line; raise a ValueError if the line has another form."""
    if not line.startswith("{"):
        key, text = line.split("\t", 1)
        return key.strip(), text.replace("\t", " | ")
    record = json.loads(line)
    (key, *_) = (str(record[name]) for name in _IDS if name in record)
    return key, " | ".join(str(record[name]) for name in _TEXTS if record.get(name))


def _texts_of_dataset(name: str, wanted: Collection[str], what: str) -> Iterator[tuple[str, str]]:
    """Yield texts from ir_datasets, which looks up only the wanted documents."""
    with ir_dataset(name, what) as dataset:
        entries = (
            dataset.docs_store().get_many(wanted).values()
            if what == "docs"
            else dataset.queries_iter()
        )
        for entry in entries:
            yield entry[0], entry.default_text()  # the ID is always the first field
