"""Runs and qrels in whatever form a user has them, as :mod:`ir_std.trec.ranking` wants them.

Dicts of dicts, DataFrames, iterables of named tuples (as ir_measures takes them) or of records,
files, and for qrels ids of ir_datasets.  Nothing that is given is modified.
"""

from __future__ import annotations

import logging
import operator
import os
import reprlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import numpy as np

from ir_std._arrays import Floats, Ints
from ir_std.errors import InputError
from ir_std.reading import Ids, Source, check_strings
from ir_std.trec.array_run import ArrayRun
from ir_std.trec.files import read_qrels, read_run
from ir_std.trec.frames import is_pandas
from ir_std.trec.qrels import ArrayQrels, DictQrels, Qrels, RepeatedDocument
from ir_std.trec.rows import Rows, rows_of
from ir_std.trec.runs import DictRun, Run, as_scores


def as_run(run: Any, duplicates: str = "error") -> Run:
    """A run in any form, in memory.

    Parameters
    ----------
    run : Run, str, path, open file, dict, DataFrame or iterable
        A file (``str``, path, or open; ``-`` is standard input); ``{topic: {document: score}}``;
        a DataFrame of pandas or polars with columns query_id, doc_id, score, or PyTerrier's qid,
        docno, score; or an iterable of objects with these attributes, or of dicts with these keys.
    duplicates : {'error', 'first', 'last'}
        What counts of a document that rows have twice in a topic; of files their source says it.

    Raises
    ------
    InputError
        If it is none of these, an id is no string (for a dict's documents: when they are
        looked at), a score is NaN or +inf, or a document occurs twice in a topic.
    """
    if isinstance(run, Run):
        return run
    if is_file(run):
        return read_run(run)
    if isinstance(run, Iterator):
        run = _listed(run)
        if is_file(run):
            return read_run(run)
    made: Run
    if isinstance(run, Mapping):
        _check_topics(run, "run")
        made = DictRun(run)
    else:
        rows = rows_of(run, ("query_id", "doc_id", "score"), "run")
        lines = rows.topics, rows.topic, _ids(rows, "run"), _scores(rows.values)
        made = ArrayRun.of_lines(lines, "run", duplicates)
    if _others_read(run) and not made.repeated:
        made.given = run
    return made


def is_file(given: Any) -> bool:
    """Whether something is a file: a path, an open one, or a source."""
    return isinstance(given, (str, os.PathLike, Source)) or hasattr(given, "read")


def _others_read(given: Any) -> bool:
    """Whether ir_measures' own providers take an object too."""
    return (
        isinstance(given, Mapping)
        or (is_pandas(given) and "query_id" in given.columns and "doc_id" in given.columns)
        or (isinstance(given, list) and not isinstance(next(iter(given), None), Mapping))
    )


def _listed(rows: Iterator[Any]) -> Any:
    """Rows as a list; or a path that came letter by letter, a file by lines, a table by columns.

    ir_measures' pipeline, which the methods of its measures call, passes any input on as an
    iterator.
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
    """Qrels in any form, in memory.

    Parameters
    ----------
    qrels : Qrels, str, path, open file, dict, DataFrame or iterable
        A file; the id of an ir_datasets dataset; ``{topic: {document: level}}``; a DataFrame with
        columns query_id, doc_id, relevance, or as PyTerrier's qid, docno, label; or an iterable, as
        for :func:`as_run`.  Of a document
        that is judged twice in a topic the last level counts, as in ir_measures; in a file that is
        an error.

    Raises
    ------
    InputError
        If it is none of these, an id is no string, or a level is no whole number.
    """
    if isinstance(qrels, Qrels):
        return qrels
    if isinstance(qrels, Iterator) and not is_file(qrels):
        qrels = _listed(qrels)
    if isinstance(qrels, str) and not _looks_like_file(qrels):
        return dataset_qrels(qrels)
    if is_file(qrels):
        return read_qrels(qrels)
    made: Qrels
    if isinstance(qrels, Mapping):
        _check_topics(qrels, "qrels")
        made = DictQrels({topic: _dict_levels(topic, docs) for topic, docs in qrels.items()})
    else:
        made = _judged(rows_of(qrels, ("query_id", "doc_id", "relevance"), "qrels"))
    if _others_read(qrels):
        made.given = qrels
    return made


def _judged(rows: Rows) -> Qrels:
    ids, levels = _ids(rows, "qrels"), _row_levels(rows)
    try:
        return ArrayQrels(rows.topics, rows.topic, ids, levels)
    except RepeatedDocument:
        judged: dict[str, dict[str, int]] = {t: {} for t in rows.topics}
        for t, doc, level in zip(rows.topic.tolist(), rows.documents, levels.tolist(), strict=True):
            judged[rows.topics[t]][doc] = level
        return DictQrels(judged)


def dataset_qrels(name: str) -> Qrels:
    """The qrels of an ir_datasets dataset."""
    if not is_dataset(name):
        raise InputError.at(
            name,
            "neither a file nor an ir_datasets id",
            "name a qrels file, or an id such as disks45/nocr/trec8",
        )
    with ir_dataset(name, "qrels") as dataset:
        rows = list(dataset.qrels_iter())
    qrels = as_qrels(rows)
    qrels.name = qrels.dataset = name
    return qrels


@contextmanager
def ir_dataset(name: str, what: str) -> Iterator[Any]:
    """A dataset of ir_datasets while its ``qrels``, ``queries`` or ``docs`` are read."""
    import ir_datasets

    dataset = ir_datasets.load(name)
    if not getattr(dataset, f"has_{what}")():
        raise InputError.at(
            name, f"this ir_datasets dataset has no {what}", "name one of its parts that has"
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
    """Keep ir_datasets from logging each attempt: the error says it once."""
    return "download" not in record.getMessage().lower()


def is_dataset(name: str) -> bool:
    """Whether ir_datasets knows a dataset of that id; nothing is downloaded."""
    try:
        import ir_datasets
    except (OSError, RuntimeError) as failed:  # it makes a folder in the user's home
        raise InputError.at(
            name,
            f"no such file, and ir_datasets, which may know it, cannot be used ({failed})",
            "name a file, or set IR_DATASETS_HOME to a folder that can be written to",
        ) from None
    try:
        ir_datasets.load(name)
    except KeyError:
        return False
    return True


def _looks_like_file(name: str) -> bool:
    """Whether a name is that of a file, or can be none of a dataset."""
    return (
        name == "-"
        or os.path.exists(name)
        or len(name) > 255
        or "\0" in name
        or name.startswith((".", "/", "~"))
        or (Path(name).suffix in {".txt", ".gz", ".bz2", ".xz", ".qrels", ".qrel", ".tsv"})
    )


def _ids(rows: Rows, kind: str) -> Ids:
    """The documents, after a check that their ids are strings."""
    try:
        return Ids.of(rows.documents)
    except TypeError:
        check_strings(rows.documents, kind, "document id")
        raise


def _check_topics(given: Mapping[Any, Any], kind: str) -> None:
    """Dicts must hold dicts, by topics that are strings."""
    check_strings(given, kind, "topic id")
    for topic, docs in given.items():
        if not isinstance(docs, Mapping):
            raise InputError.at(
                kind,
                f"topic {topic} has {type(docs).__name__}",
                f"a dict is expected, from documents to {'scores' if kind == 'run' else 'levels'}",
            )


def _scores(values: Any) -> Floats:
    numbers = getattr(values, "dtype", None)
    if numbers is not None and numbers.kind in "fiu":
        return np.asarray(values, float)
    return as_scores(values, len(values), "run")


def _dict_levels(topic: str, docs: Mapping[str, Any]) -> dict[str, int]:
    """Level by document; checked."""
    check_strings(docs, "qrels", f"document id of topic {topic}")
    if set(map(type, docs.values())) <= {int} and (
        min(docs.values(), default=0) >= -(2**63) and max(docs.values(), default=0) < 2**63
    ):
        return dict(docs)
    return {doc: _level(level, topic, doc) for doc, level in docs.items()}


def _row_levels(rows: Rows) -> Ints:
    """Levels of rows; checked."""
    values = rows.values
    if isinstance(values, np.ndarray):
        if values.dtype == np.int64:
            levels: Ints = values.copy()
            return levels
        values = values.tolist()
    return np.array(
        [
            _level(level, rows.topics[topic], doc)
            for topic, doc, level in zip(rows.topic.tolist(), rows.documents, values, strict=True)
        ],
        np.int64,
    )


def _level(level: Any, topic: str, doc: str) -> int:
    """A level as a whole number of at most 64 bits."""
    try:
        whole = operator.index(level)
    except TypeError:
        whole = int(level) if isinstance(level, float) and level.is_integer() else 2**63
    if not -(2**63) <= whole < 2**63:
        raise InputError.at(
            "qrels",
            f"topic {topic}, document {doc!r} has relevance {reprlib.repr(level)}",
            "a whole number is expected, of at most 64 bits",
        )
    return whole
