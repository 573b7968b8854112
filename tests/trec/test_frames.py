"""Tables of pandas and polars, wherever rows are taken; what comes back."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import pandas as pd
import pytest
from ir_measures import AP, Qrel, ScoredDoc
from processes import run_process

import ir_std
from ir_std.errors import InputError

pl = pytest.importorskip("polars", reason="polars is not installed")

QRELS = [
    Qrel(t, d, level)
    for t, docs in {"1": {"a": 1, "b": 0}, "2": {"a": 2, "c": 1}}.items()
    for d, level in docs.items()
]
RUN = [
    ScoredDoc(t, d, s)
    for t, docs in {"1": {"b": 2.0, "a": 1.0}, "2": {"c": 3.0, "b": 1.0}}.items()
    for d, s in docs.items()
]


def polars(rows: list[Any]) -> Any:
    return pl.DataFrame([row._asdict() for row in rows])


FORMS = {
    "pandas": pd.DataFrame,
    "polars": polars,
    "polars with a category": lambda rows: polars(rows).with_columns(
        pl.col("query_id").cast(pl.Categorical)
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_tables_give_what_their_rows_give(form: str) -> None:
    qrels, run = FORMS[form](QRELS), FORMS[form](RUN)
    expected = ir_std.calc_aggregate("AP", QRELS, RUN)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ir_std.calc_aggregate("AP", qrels, run) == expected == {AP: 0.5}
        assert ir_std.evaluate({"x": run, "y": run}, qrels, "AP").means["y"] == expected
        assert ir_std.evaluate([run, run], qrels, "AP").runs == ("run1", "run2")
        assert ir_std.evaluate(run, qrels, "AP").means["run"] == expected


@pytest.mark.parametrize("form", ["pandas", "polars"])
def test_the_calls_of_ir_measures_measures_read_tables(form: str) -> None:
    qrels, run = FORMS[form](QRELS), FORMS[form](RUN)
    assert ir_std.SP.calc_aggregate(qrels, run) == ir_std.SP.calc_aggregate(QRELS, RUN) == 0.75


def test_a_table_that_is_not_computed_yet_is_refused_with_the_remedy() -> None:
    for call in (ir_std.recognize, ir_std.read_scores):
        with pytest.raises(InputError, match=r"LazyFrame.*collect\(\)"):
            call(polars(QRELS).lazy())


@pytest.mark.parametrize("form", [pl.Int64, pl.Float64])
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_topics_that_are_whole_numbers_are_text(library: str, form: Any) -> None:
    table = polars(QRELS).with_columns(pl.col("query_id").cast(form))
    given = pd.DataFrame(table.to_dict(as_series=False)) if library == "pandas" else table
    assert ir_std.calc_aggregate("AP", given, RUN) == {AP: 0.5}


def test_other_numbers_as_topics_are_refused() -> None:
    table = polars(QRELS).with_columns(pl.col("query_id").cast(pl.Float64) + 0.5)
    with pytest.raises(InputError, match=r"topic id is 1\.5 \(float\).* or df\.cast in polars$"):
        ir_std.recognize(table)


def test_a_missing_column_is_named() -> None:
    with pytest.raises(InputError, match="DataFrame without doc_id"):
        ir_std.recognize(polars(QRELS).drop("doc_id"))


@pytest.mark.parametrize(("form", "kind"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_runs_are_normalized_and_merged_into_tables_of_their_library(form: str, kind: Any) -> None:
    table = FORMS[form](RUN)
    normalized, merged = ir_std.normalize(table, "minmax"), ir_std.merge([table, table], "minmax")
    assert isinstance(normalized, kind)
    assert isinstance(merged, kind)
    assert list(normalized["score"]) == [1.0, 0.0, 1.0, 0.0]
    assert list(normalized["doc_id"]) == ["b", "a", "c", "b"]
    assert list(merged["score"]) == [2.0, 0.0, 2.0, 0.0]
    assert list(merged.columns) == ["query_id", "doc_id", "score"]
    assert list(FORMS["polars"](RUN)["score"]) == [2.0, 1.0, 3.0, 1.0]


@pytest.mark.slow
def test_none_of_these_libraries_is_imported_for_rows_of_others() -> None:
    code = (
        "import sys, ir_std\n"
        "ir_std.evaluate({'1': {'a': 1.0}}, {'1': {'a': 1}}, 'AP')\n"
        "ir_std.merge([{'1': {'a': 1.0}}], 'minmax')\n"
        "print({'pandas', 'polars', 'pyarrow'} & set(sys.modules))"
    )
    done = run_process([sys.executable, "-c", code], check=True)
    assert done.stdout.strip() == "set()"


@pytest.mark.parametrize("column", [pd.Series([1.0]), pl.Series([1.0])], ids=["pandas", "polars"])
def test_one_column_is_neither_a_run_nor_qrels(column: Any) -> None:
    with pytest.raises(InputError, match="run: cannot use float; pass a file"):
        ir_std.evaluate(column, QRELS, "AP")
    with pytest.raises(InputError, match="qrels: cannot use float; pass a file"):
        ir_std.recognize(column)
