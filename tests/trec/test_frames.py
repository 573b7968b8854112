"""Tables of pandas, polars and other libraries, wherever rows are taken; what comes back."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import pandas as pd
import pytest
from ir_measures import AP, Qrel, ScoredDoc
from processes import run_process

import ir_std
from ir_std.errors import InputError, MissingLibraryError
from ir_std.trec import frames

pl = pytest.importorskip("polars", reason="polars is not installed")
nw = pytest.importorskip("narwhals", reason="narwhals is not installed")

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


class Exchanged:
    """A table of another library: it has the protocol and a schema, and narwhals knows it."""

    schema: Any = None

    def __init__(self, table: Any) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        raise AssertionError("narwhals reads it")


@pytest.fixture
def exchanged(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Makes such tables."""
    usual = nw.from_native
    monkeypatch.setattr(
        nw,
        "from_native",
        lambda given, **options: usual(
            given.table if isinstance(given, Exchanged) else given, **options
        ),
    )
    return Exchanged


def polars(rows: list[Any]) -> Any:
    return pl.DataFrame([row._asdict() for row in rows])


FORMS = {
    "pandas": pd.DataFrame,
    "polars": polars,
    "lazy polars": lambda rows: polars(rows).lazy(),
    "polars with a category": lambda rows: polars(rows).with_columns(
        pl.col("query_id").cast(pl.Categorical)
    ),
    "narwhals": lambda rows: nw.from_native(polars(rows)),
    "lazy narwhals": lambda rows: nw.from_native(polars(rows).lazy()),
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


def test_tables_of_other_libraries_are_read_by_narwhals(exchanged: Any) -> None:
    for table in (polars, lambda rows: polars(rows).lazy()):
        assert ir_std.calc_aggregate("AP", exchanged(table(QRELS)), exchanged(table(RUN))) == {
            AP: 0.5
        }


def test_without_narwhals_its_tables_ask_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "find_spec", {}.get)
    with pytest.raises(MissingLibraryError, match="narwhals: pip install narwhals"):
        ir_std.recognize(Exchanged(None))


def test_ids_that_are_numbers_are_refused_with_the_way_to_mend_them() -> None:
    table = polars(QRELS).with_columns(pl.col("query_id").cast(pl.Int64))
    with pytest.raises(InputError, match=r"topic id is 1 \(int\).* of polars df\.cast$"):
        ir_std.recognize(table)
    assert ir_std.calc_aggregate("AP", table.cast({"query_id": str}), RUN) == {AP: 0.5}


def test_a_missing_column_is_named() -> None:
    with pytest.raises(InputError, match="DataFrame without doc_id"):
        ir_std.recognize(polars(QRELS).lazy().drop("doc_id"))


@pytest.mark.parametrize(
    ("form", "kind"),
    [
        ("pandas", pd.DataFrame),
        ("polars", pl.DataFrame),
        ("lazy polars", pl.DataFrame),
        ("narwhals", pl.DataFrame),
    ],
)
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


@pytest.mark.parametrize("form", ["pandas", "polars", "lazy polars", "narwhals"])
def test_scores_of_a_table_are_standardized_in_a_table_of_its_library(form: str) -> None:
    columns = {
        "topic": ["401", "402"] * 2,
        "measure": ["AP"] * 2 + ["SetP"] * 2,
        "value": [0.2, 0.3, 0.1, 0.1],
        "kept": list("xyzz"),
    }
    table = {
        "pandas": pd.DataFrame(columns),
        "polars": pl.DataFrame(columns),
        "lazy polars": pl.LazyFrame(columns),
        "narwhals": nw.from_native(pl.DataFrame(columns)),
    }[form]
    by_topic = ir_std.standardize({"401": 0.2, "402": 0.3}, "AP", factors="trec8-adhoc")
    with pytest.warns(ir_std.StandardizationWarning, match="no factors for SetP"):
        found = ir_std.standardize(table, factors="trec8-adhoc")
    assert isinstance(found, pd.DataFrame if form == "pandas" else pl.DataFrame)
    assert dict(zip(found["topic"], found["value"], strict=True)) == by_topic
    assert list(found["measure"]) == ["sAP", "sAP"]
    assert list(found["kept"]) == ["x", "y"]


@pytest.mark.slow
def test_none_of_these_libraries_is_imported_for_rows_of_others() -> None:
    code = (
        "import sys, ir_std\n"
        "ir_std.evaluate({'1': {'a': 1.0}}, {'1': {'a': 1}}, 'AP')\n"
        "ir_std.merge([{'1': {'a': 1.0}}], 'minmax')\n"
        "print({'pandas', 'polars', 'narwhals', 'pyarrow'} & set(sys.modules))"
    )
    done = run_process([sys.executable, "-c", code], check=True)
    assert done.stdout.strip() == "set()"


@pytest.mark.parametrize("column", [pd.Series([1.0]), pl.Series([1.0])], ids=["pandas", "polars"])
def test_one_column_is_no_run_and_no_qrels(column: Any) -> None:
    with pytest.raises(InputError, match="run: cannot use float; give a file"):
        ir_std.evaluate(column, QRELS, "AP")
    with pytest.raises(InputError, match="qrels: cannot use float; give a file"):
        ir_std.recognize(column)
