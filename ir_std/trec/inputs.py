"""Runs and qrels in whatever form a user has them, as :mod:`ir_std.trec.ranking` wants them.

Dicts of dicts, DataFrames, iterables of named tuples (as ir_measures takes them) or of records,
files, and for qrels ids of ir_datasets.  Nothing that is given is modified.
"""

from __future__ import annotations

import logging
import operator
import os
import reprlib
from collections.abc import Iterable, Iterator, Mapping
from io import BytesIO, StringIO
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ir_std._arrays import Floats, Ints
from ir_std.errors import InputError
from ir_std.reading import Ids, Source, check_strings
from ir_std.trec.files import read_qrels, read_run
from ir_std.trec.frames import as_frame, column_values, is_frame, is_pandas
from ir_std.trec.qrels import ArrayQrels, DictQrels, Qrels, RepeatedDocument
from ir_std.trec.runs import ArrayRun, DictRun, Run, as_scores


def as_run(run: Any) -> Run:
    """A run in any form, in memory.

    Parameters
    ----------
    run : Run, str, path, open file, dict, DataFrame or iterable
        A file (``str``, path, or open; ``-`` is standard input); ``{topic: {document: score}}``;
        a DataFrame with columns query_id, doc_id, score: of pandas, polars or, where narwhals is
        there, others; or an iterable of objects with these attributes, or of dicts with these
        keys.

    Raises
    ------
    InputError
        If it is none of these, an id is no string (of a dict's documents that is told when they
        are looked at), a score is no finite number, or a document occurs twice in a topic.
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
        rows = _columns(run, ("query_id", "doc_id", "score"), "run")
        made = ArrayRun(rows.topics, rows.topic, _ids(rows, "run"), _scores(rows.values))
    if _others_read(run):
        made.given = run
    return made


def is_file(given: Any) -> bool:
    """Whether something is a file: a path, an open one, or a source."""
    return isinstance(given, (str, os.PathLike, Source)) or hasattr(given, "read")


def _others_read(given: Any) -> bool:
    """Whether ir_measures' own providers take an object too."""
    return (
        isinstance(given, Mapping)
        or is_pandas(given)
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
        columns query_id, doc_id, relevance, or an iterable, as for :func:`as_run`.  Of a document
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
    if (
        isinstance(qrels, str)
        and qrels != "-"
        and not os.path.exists(qrels)
        and (not _looks_like_file(qrels))
    ):
        return dataset_qrels(qrels)
    if is_file(qrels):
        return read_qrels(qrels)
    made: Qrels
    if isinstance(qrels, Mapping):
        _check_topics(qrels, "qrels")
        made = DictQrels({topic: _dict_levels(topic, docs) for topic, docs in qrels.items()})
    else:
        made = _judged(_columns(qrels, ("query_id", "doc_id", "relevance"), "qrels"))
    if _others_read(qrels):
        made.given = qrels
    return made


def _judged(rows: _Columns) -> Qrels:
    ids, levels = _ids(rows, "qrels"), _row_levels(rows)
    try:
        return ArrayQrels(rows.topics, rows.topic, ids, levels)
    except RepeatedDocument:
        judged: dict[str, dict[str, int]] = {t: {} for t in rows.topics}
        for t, doc, level in zip(rows.topic.tolist(), rows.documents, levels.tolist(), strict=True):
            judged[rows.topics[t]][doc] = level
        return DictQrels(judged)


def dataset_qrels(name: str) -> Qrels:
    """The qrels of an ir_datasets dataset.

    Raises
    ------
    InputError
        If there is no such dataset, it has no qrels, or they cannot be downloaded.
    """
    import ir_datasets

    if not is_dataset(name):
        raise InputError.at(
            name,
            None,
            "neither a file nor an ir_datasets id",
            "name a qrels file, or an id such as disks45/nocr/trec8",
        )
    dataset = ir_datasets.load(name)
    if not dataset.has_qrels():
        raise InputError.at(
            name, None, "this ir_datasets dataset has no qrels", "name one of its parts that has"
        )
    log = logging.getLogger("ir_datasets")
    log.addFilter(_no_download_error)
    try:
        rows = list(dataset.qrels_iter())
    except (OSError, RuntimeError) as failed:
        reason = failed.args[0] if failed.args else type(failed).__name__
        raise InputError.at(
            name,
            None,
            f"ir_datasets cannot get the qrels ({reason})",
            "check the network, or name a qrels file",
        ) from None
    finally:
        log.removeFilter(_no_download_error)
    found = as_qrels(rows)
    found.name = found.dataset = name
    return found


def _no_download_error(record: logging.LogRecord) -> bool:
    """Keep ir_datasets from logging each attempt: the error says it once."""
    return "download" not in record.getMessage().lower()


def is_dataset(name: str) -> bool:
    """Whether ir_datasets knows a dataset of that id; nothing is downloaded."""
    import ir_datasets

    try:
        ir_datasets.load(name)
    except KeyError:
        return False
    return True


def _looks_like_file(name: str) -> bool:
    return (
        len(name) > 255
        or "\0" in name
        or name.startswith((".", "/", "~"))
        or (Path(name).suffix in {".txt", ".gz", ".bz2", ".xz", ".qrels", ".qrel", ".tsv"})
    )


class _Columns(NamedTuple):
    """A table's rows.

    Attributes
    ----------
    topics : list of str
        In the order of their first rows.
    topic : ndarray of int, shape (n_rows,)
        Index into the topics.
    documents : list of str
    values : list or ndarray
        Scores or levels.
    """

    topics: list[str]
    topic: Ints
    documents: list[str]
    values: Any


def _columns(table: Any, names: tuple[str, str, str], kind: str) -> _Columns:
    """The named columns of a DataFrame, or of an iterable of objects or records."""
    if is_frame(table):
        table = as_frame(table)
        _check_columns(list(table.columns), names, kind)
        if is_pandas(table):
            topics, documents = (table[name].to_numpy(object) for name in names[:2])
            return _with_numbers(kind, topics, documents.tolist(), table[names[2]].to_numpy())
        columns = [column_values(table, name) for name in names]
        return _with_numbers(kind, _objects(columns[0]), *columns[1:])
    if not isinstance(table, Iterable) or isinstance(table, (bytes, bytearray)):
        raise _unsupported(table, names, kind)
    rows = list(table)
    if not rows:
        return _with_numbers(kind, _objects([]), [], [])
    get = itemgetter if isinstance(rows[0], Mapping) else attrgetter
    try:
        columns = [list(map(get(name), rows)) for name in names]
    except (AttributeError, KeyError, TypeError):
        raise _unsupported(next(row for row in rows if not _has(row, names)), names, kind) from None
    return _with_numbers(kind, _objects(columns[0]), *columns[1:])


def _has(row: Any, names: tuple[str, ...]) -> bool:
    return all(name in row if isinstance(row, Mapping) else hasattr(row, name) for name in names)


def _check_columns(found: list[Any], names: tuple[str, ...], kind: str) -> None:
    wrong = [name for name in names if found.count(name) != 1]
    if wrong:
        problem = "without" if wrong[0] not in found else "with several"
        raise InputError.at(
            kind,
            None,
            f"DataFrame {problem} {', '.join(wrong)}",
            f"columns {', '.join(names)} are expected, found are {', '.join(map(str, found))}",
        )


def _unsupported(found: object, names: tuple[str, ...], kind: str) -> InputError:
    what = (
        f"a record with {', '.join(map(str, found)) or 'nothing'}"
        if isinstance(found, Mapping)
        else type(found).__name__
    )
    return InputError.at(
        kind,
        None,
        f"cannot use {what}",
        f"give a file, a dict of dicts, a DataFrame, or named tuples or records with "
        f"{', '.join(names)}",
    )


def _objects(values: list[Any]) -> npt.NDArray[np.object_]:
    """Values as an array of them, though they be lists."""
    return np.fromiter(values, object, len(values))


def _with_numbers(
    kind: str, names: npt.NDArray[np.object_], documents: list[Any], values: Any
) -> _Columns:
    """Rows, from the topic, document and value of each."""
    try:
        changes = np.flatnonzero(names[1:] != names[:-1]) + 1
    except (TypeError, ValueError):  # an array, or a missing value of pandas
        _checked_topics(names, kind)
        raise
    starts = np.append(0, changes)[: len(names)]
    numbers: dict[str, int] = {}
    found = np.array(
        [numbers.setdefault(topic, len(numbers)) for topic in _checked_topics(names[starts], kind)],
        np.int64,
    )
    return _Columns(
        list(numbers), np.repeat(found, np.diff(np.append(starts, len(names)))), documents, values
    )


def _checked_topics(topics: Iterable[Any], kind: str) -> list[str]:
    topics = list(topics)
    check_strings(topics, kind, "topic id")
    return topics


def _ids(rows: _Columns, kind: str) -> Ids:
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
                None,
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


def _row_levels(rows: _Columns) -> Ints:
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
    """A level as a whole number of at most 64 bits.

    Raises
    ------
    InputError
        If it is none.
    """
    try:
        whole = operator.index(level)
    except TypeError:
        whole = int(level) if isinstance(level, float) and level.is_integer() else 2**63
    if not -(2**63) <= whole < 2**63:
        raise InputError.at(
            "qrels",
            None,
            f"topic {topic}, document {doc!r} has relevance {reprlib.repr(level)}",
            "a whole number is expected, of at most 64 bits",
        )
    return whole
