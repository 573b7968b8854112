"""Tables of pandas and polars, and by narwhals those of other libraries; none is imported here.

A table can only arrive if its library is there; it is recognized by what it can do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

from ir_std.errors import MissingLibraryError


def is_frame(given: Any) -> bool:
    """Whether something is a table of rows and named columns."""
    return is_pandas(given) or _is_polars(given) or _waits(given) or _exchanges(given)


def is_pandas(given: Any) -> bool:
    """Whether something is a table of pandas, or of a library that has its methods."""
    return hasattr(given, "itertuples")


def _is_polars(given: Any) -> bool:
    """Whether something is a table of polars, or of narwhals, which has its methods."""
    return hasattr(given, "get_column")


def _waits(given: Any) -> bool:
    """Whether a table is computed only when it is asked for."""
    kind = type(given)  # to look at the columns themselves may compute them
    return hasattr(kind, "columns") and (hasattr(kind, "collect") or hasattr(kind, "compute"))


def _exchanges(given: Any) -> bool:
    """Whether something has a protocol by which libraries exchange tables, and not one column."""
    kind = type(given)
    return hasattr(kind, "__dataframe__") or (
        hasattr(kind, "__arrow_c_stream__")
        and (hasattr(kind, "columns") or hasattr(kind, "schema"))
    )


def as_frame(given: Any) -> Any:
    """A table as one of pandas or polars, or of narwhals, which is then needed."""
    if _waits(given):
        given = given.collect() if hasattr(given, "collect") else given.compute()
    if is_pandas(given) or _is_polars(given):
        return given
    library = type(given).__module__.partition(".")[0].lstrip("_")
    if find_spec("narwhals") is None:
        raise MissingLibraryError.of(f"a table of {library}", "narwhals")
    import narwhals

    frame: Any = narwhals.from_native(given)
    return frame.collect() if isinstance(frame, narwhals.LazyFrame) else frame


def column_names(given: Any) -> list[str]:
    """The names of a table's columns; they may be asked of one that is not computed yet."""
    if hasattr(given, "collect_schema"):
        return [*given.collect_schema().names()]
    columns = given.columns if hasattr(given, "columns") else as_frame(given).columns
    return [*map(str, columns)]


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
    made = frame_like(frame, columns)
    kept = frame if rows is None else frame[rows]
    if not hasattr(frame, "to_native"):
        return kept.with_columns(made.get_columns())
    import narwhals

    return kept.with_columns(narwhals.from_native(made).iter_columns()).to_native()


def frame_like(frame: Any, columns: Mapping[str, Sequence[Any]]) -> Any:
    """A table of these columns, of the library that another one is of."""
    if not hasattr(frame, "to_native"):
        return type(frame)(dict(columns))
    import narwhals

    return narwhals.from_dict(dict(columns), backend=frame.implementation).to_native()
