"""Tables of pandas and polars, neither of which is imported here.

A table can only arrive if its library is imported; it is recognized by its methods.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def is_frame(given: Any) -> bool:
    """Check whether something is a table of rows and named columns."""
    return is_pandas(given) or hasattr(given, "get_column")


def is_pandas(given: Any) -> bool:
    """Check whether something is a table of pandas, or of a library that has its methods."""
    return hasattr(given, "itertuples")


def column_names(frame: Any) -> list[str]:
    """Return the names of a table's columns."""
    return [*map(str, frame.columns)]


def column_values(frame: Any, name: Any) -> list[Any]:
    """The values of a column."""
    values: list[Any] = (
        frame[name].tolist() if is_pandas(frame) else frame.get_column(name).to_list()
    )
    return values


def with_values(
    frame: Any, columns: Mapping[Any, Sequence[Any]], rows: Sequence[int] | None = None
) -> Any:
    """A copy of a table, or of some of its rows, that holds other values in some columns."""
    if is_pandas(frame):
        copied = frame.copy() if rows is None else frame.iloc[rows].copy()
        for name, values in columns.items():
            copied[name] = values
        return copied
    kept = frame if rows is None else frame[rows]
    return kept.with_columns(frame_like(frame, columns).get_columns())


def frame_like(frame: Any, columns: Mapping[str, Sequence[Any]]) -> Any:
    """Return a table of these columns, of the library that another one is of."""
    return type(frame)(dict(columns))
