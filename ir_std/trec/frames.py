"""Read runs, qrels and scores in memory: tables of pandas or polars, and rows of objects.

This module imports neither pandas nor polars.  If a user passes a table, the library of the table
is already imported, and the methods of the table show that it is one.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple

import numpy as np

from ir_std._arrays import Array, Ints
from ir_std.errors import InputError
from ir_std.reading import check_strings


def is_frame(given: Any) -> bool:
    """Check whether an object is a table of rows and named columns."""
    return is_pandas(given) or hasattr(given, "get_column")


def is_pandas(given: Any) -> bool:
    """Check whether an object is a table of pandas or of a library with the same methods."""
    return hasattr(given, "itertuples")


def column_values(frame: Any, name: Any) -> list[Any]:
    """Return the values of a column."""
    values: list[Any] = (
        frame[name].tolist() if is_pandas(frame) else frame.get_column(name).to_list()
    )
    return values


def frame_like(frame: Any, columns: Mapping[str, Sequence[Any]]) -> Any:
    """Make a table with these columns in the library of ``frame`` (pandas or polars)."""
    return type(frame)(dict(columns))


class DocumentRows(NamedTuple):
    """Rows of a table with a topic and a document each.

    Attributes
    ----------
    topics : list of str
        Topics in the order of their first rows.
    topic : ndarray of int, shape (n_rows,)
        Index into the topics for each row.
    documents : list of str
        Document of each row.
    values : iterable or ndarray
        Score or relevance level of each row.
    """

    topics: list[str]
    topic: Ints
    documents: list[str]
    values: Any


RUN_COLUMNS = ("query_id", "doc_id", "score")
"""ir_measures' names for the columns of a run."""
ALIASES = {"query_id": ("qid",), "doc_id": ("docno",), "score": (), "relevance": ("label",)}
"""PyTerrier's names for ir_measures' columns."""


def names_in(names: tuple[str, ...], has: Callable[[str], bool]) -> tuple[str, ...]:
    """Return each column's ir_measures name, or its PyTerrier name if the table uses that."""
    usual = tuple(
        next((each for each in (name, *ALIASES.get(name, ())) if has(each)), name) for name in names
    )
    return usual if all(map(has, usual)) else names


def rows_of(table: Any, names: tuple[str, ...], kind: str) -> DocumentRows:
    """Return the rows of a dict of dicts, a DataFrame, or an iterable of objects or records.

    Parameters
    ----------
    table
        Dict of dicts, DataFrame, or iterable of objects or records.
    names : tuple of str
        Names that ir_measures gives to the columns or attributes with topics, documents and values.
        The table may use PyTerrier's names instead.
    kind : {'run', 'qrels'}
        Name in messages.

    Raises
    ------
    InputError
        If the table has no such columns, or a topic is not a string.
    """
    if is_frame(table):
        return _rows_of_frame(table, names, kind)
    if isinstance(table, Mapping):
        return _rows_of_dict(table, kind)
    if not isinstance(table, Iterable) or isinstance(table, (bytes, bytearray)):
        raise _unsupported(table, names, kind)
    rows = list(table)
    if not rows:
        return _with_numbers(kind, _objects([]), [], [])
    get = itemgetter if isinstance(rows[0], Mapping) else attrgetter
    names = names_in(names, lambda name: _has(rows[0], (name,)))
    try:
        columns = [list(map(get(name), rows)) for name in names]
    except (AttributeError, KeyError, TypeError):
        raise _unsupported(next(row for row in rows if not _has(row, names)), names, kind) from None
    return _with_numbers(kind, _objects(columns[0]), *columns[1:])


def check_dicts(given: Mapping[Any, Any], kind: str) -> None:
    """Check that a dict holds dicts, and that its topics are strings."""
    check_strings(given, kind, "topic id")
    for topic, docs in given.items():
        if not isinstance(docs, Mapping):
            raise InputError.at(
                kind,
                f"topic {topic} has {type(docs).__name__}",
                f"expected a dict of {'scores' if kind == 'run' else 'levels'} by document",
            )


def _rows_of_dict(given: Mapping[Any, Any], kind: str) -> DocumentRows:
    check_dicts(given, kind)
    sizes = np.fromiter(map(len, given.values()), np.int64, len(given))
    documents = [*chain.from_iterable(given.values())]
    values = chain.from_iterable(docs.values() for docs in given.values())
    return DocumentRows(list(given), np.repeat(np.arange(len(given)), sizes), documents, values)


def _rows_of_frame(frame: Any, names: tuple[str, ...], kind: str) -> DocumentRows:
    names = names_in(names, lambda name: name in frame.columns)
    _check_columns(list(frame.columns), names, kind)
    if is_pandas(frame):
        topics, documents = (frame[name].to_numpy(object) for name in names[:2])
        values = frame[names[2]].to_numpy()
        return _with_numbers(kind, _whole_as_text(topics), documents.tolist(), values)
    columns = [column_values(frame, name) for name in names]
    return _with_numbers(kind, _whole_as_text(_objects(columns[0])), *columns[1:])


def _whole_as_text(topics: Array) -> Array:
    """Convert topics to text if all are whole numbers; CSV readers parse such IDs as numbers."""
    if not len(topics) or not isinstance(topics[0], (int, float, np.number)):
        return topics
    try:
        numbers, places = np.unique(topics.astype(np.float64), return_inverse=True)
    except (TypeError, ValueError):
        return topics
    if not (numbers == np.floor(numbers)).all() or np.abs(numbers).max() >= 2**53:
        return topics
    return np.array([str(int(number)) for number in numbers], object)[places]


def _has(row: Any, names: tuple[str, ...]) -> bool:
    return all(name in row if isinstance(row, Mapping) else hasattr(row, name) for name in names)


def _check_columns(columns: list[Any], names: tuple[str, ...], kind: str) -> None:
    wrong = [name for name in names if columns.count(name) != 1]
    if wrong:
        problem = "without" if wrong[0] not in columns else "with several"
        raise InputError.at(
            kind,
            f"DataFrame {problem} {', '.join(wrong)}",
            f"expected columns {', '.join(names)}, got {', '.join(map(str, columns))}",
        )


def _unsupported(given: object, names: tuple[str, ...], kind: str) -> InputError:
    what = type(given).__name__
    if isinstance(given, Mapping):
        what = f"a record with {', '.join(map(str, given)) or 'nothing'}"
    return InputError.at(
        kind,
        f"cannot use {what}",
        "pass a file, a dict of dicts, a DataFrame (call collect() on a lazy one), or named tuples "
        f"or records with {', '.join(names)}",
    )


def _objects(values: list[Any]) -> Array:
    """Return values as an array of objects, even if the values are lists."""
    return np.fromiter(values, object, len(values))


def _with_numbers(kind: str, names: Array, documents: list[Any], values: Any) -> DocumentRows:
    """Return rows, each with a topic, a document and a value."""
    try:
        is_first = np.append(True, names[1:] != names[:-1])[: len(names)]
    except (TypeError, ValueError):  # an array, or a missing value of pandas
        check_strings(names.tolist(), kind, "topic id")
        raise
    firsts = names[is_first].tolist()
    check_strings(firsts, kind, "topic id")
    numbers: dict[str, int] = {}
    of_firsts = np.array([numbers.setdefault(name, len(numbers)) for name in firsts], np.int64)
    return DocumentRows(list(numbers), of_firsts[np.cumsum(is_first) - 1], documents, values)
