"""Runs and qrels from Python objects and tables; all forms agree, and bad ones are rejected."""

import sys
import warnings
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pytest
from ir_measures import AP, Bpref, Qrel, ScoredDoc, nDCG
from processes import run_process

import ir_std
from ir_std.errors import InputError
from ir_std.evaluation.evaluator import StdEvaluator
from ir_std.scores.inputs import name_runs
from ir_std.trec.inputs import as_qrels, as_run

RUN = {"1": {"a": 3.0, "b": 2.0, "c": 2.0}, "2": {"a": 1.0, "é": 0.5}}
QRELS = {"1": {"a": 0, "c": 2, "x": -1}, "2": {"é": 1}}


class Scored(NamedTuple):
    query_id: Any
    doc_id: Any
    score: Any


class Judged(NamedTuple):
    query_id: Any
    doc_id: Any
    relevance: Any


class Frame:
    """The part of a DataFrame's interface that polars offers."""

    def __init__(self, rows: list[Any]) -> None:
        self.columns = list(rows[0]._fields)
        self._rows = rows

    def __iter__(self) -> Any:
        raise AssertionError("a polars frame gives its columns")

    def get_column(self, name: str) -> Any:
        return type("Series", (), {"to_list": lambda _: [getattr(r, name) for r in self._rows]})()


scored = [Scored(t, d, s) for t, docs in RUN.items() for d, s in docs.items()]
judged = [Judged(t, d, level) for t, docs in QRELS.items() for d, level in docs.items()]
FORMS: dict[str, Any] = {
    "dicts": lambda rows: {t: {r[1]: r[2] for r in rows if r[0] == t} for t in "12"},
    "named tuples": list,
    "an iterator": iter,
    "records": lambda rows: [r._asdict() for r in rows],
    "a DataFrame": pd.DataFrame,
    "a DataFrame of objects": lambda rows: pd.DataFrame(rows).astype(object),
    "a DataFrame with a category": lambda rows: pd.DataFrame(rows).astype({"query_id": "category"}),
    "interleaved rows": lambda rows: sorted(rows, key=lambda r: (r[1], r[0])),
    "a frame of columns": Frame,
    "a frame of polars": lambda rows: pl.DataFrame([r._asdict() for r in rows]),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_values(form: str) -> None:
    measures = [AP, nDCG, Bpref]
    expected = list(StdEvaluator(measures, QRELS).iter_calc(RUN))
    assert list(StdEvaluator(measures, FORMS[form](judged)).iter_calc(FORMS[form](scored))) == (
        expected
    )
    assert any(value.value for value in expected)


def test_numbers_may_be_of_any_type_that_is_one() -> None:
    frame = pd.DataFrame(scored).astype({"score": np.float32})
    assert as_run(frame).scores.tolist() == [3.0, 2.0, 2.0, 1.0, 0.5]
    for kind in ("int8", "uint16", "float64", "Int64", object):
        frame = pd.DataFrame(judged[:2]).astype({"relevance": kind})
        assert as_qrels(frame).judged == {"1": {"a": 0, "c": 2}}


def test_the_last_of_two_judgments_counts_as_in_ir_measures() -> None:
    rows = [Judged("1", "a", 0), Judged("1", "b", 1), Judged("1", "a", 2)]
    assert as_qrels(rows).judged == as_qrels(pd.DataFrame(rows)).judged == {"1": {"a": 2, "b": 1}}


def test_a_list_of_records_is_one_run() -> None:
    records = [r._asdict() for r in scored]
    assert name_runs(records) == {"run": records}


NOTHING = {
    "dict": dict,
    "list": list,
    "iterator": lambda: iter(()),
    "DataFrame": lambda: pd.DataFrame(columns=["query_id", "doc_id", "score", "relevance"]),
}


@pytest.mark.parametrize("form", NOTHING.values(), ids=NOTHING)
def test_nothing_is_a_run_and_qrels_without_topics(form: Any) -> None:
    run, qrels = as_run(form()), as_qrels(form())
    assert (run.topics, run.lists) == ((), {})
    assert StdEvaluator([AP, Bpref], QRELS).calc_aggregate(run) == {AP: 0.0, Bpref: 0.0}
    assert (qrels.topics, qrels.max_level, qrels.first_documents) == ((), 0, ())
    assert list(StdEvaluator([AP], qrels).iter_calc(RUN)) == []


def refused(read: Any, given: Any) -> str:
    with pytest.raises(InputError) as caught:
        read(given)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def frame(*rows: Any) -> pd.DataFrame:
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    ("run", "says"),
    [
        ({"1": ["a", "b"]}, "topic 1 has list; expected a dict of scores by document"),
        ({"1": None}, "topic 1 has NoneType; expected a dict"),
        ({"1": {"a": None}}, "topic 1, document 'a' has score nan; scores must be finite"),
        ({"1": {"a": [1]}}, "a score is not a number"),
        ({"1": {"a": 10**400}}, "a score is not a number (int too large"),
        ({"1": {"a": float("nan")}}, "topic 1, document 'a' has score nan"),
        ({"1": {"5": 1.0, 5: 2.0}}, "document id of topic 1 is 5 (int); convert IDs to strings"),
        ({1: {"5": 1.0}}, "topic id is 1 (int)"),
        ([Scored("1", "a", 1.0), Scored("1", 5, 1.0)], "document id is 5 (int)"),
        ([Scored("1", "a", 1.0), Scored(None, "b", 1.0)], "topic id is None (NoneType)"),
        ([Scored([1], "a", 1.0)], "topic id is [1] (list)"),
        ([Scored("1", "a", 1.0), Scored("1", "a", 2.0)], "topic 1 has document 'a' twice"),
        ([{"query_id": "1", "doc_id": "a"}], "cannot use a record with query_id, doc_id"),
        ([scored[0]._asdict(), {"qid": 1}], "cannot use a record with qid"),
        ([Scored("1", "a", 1.0), 7], "cannot use int"),
        (["1", "a"], "cannot use str"),
        (b"1 Q0 a 1 1 t", "cannot use bytes"),
        (7, "cannot use int"),
        (None, "cannot use NoneType"),
        (pd.DataFrame({"qid": []}), "DataFrame without query_id, doc_id, score"),
        (pd.concat([frame(*scored), frame(*scored)["score"]], axis=1), "with several score"),
        (frame(Scored("1", "a", 1.0), Scored(None, "b", 1.0)), "topic id is "),
        (frame(Scored(1.5, "a", 1.0)), "topic id is 1.5 (float"),
        (frame(Scored(pd.NA, "a", 1.0), Scored("1", "b", 1.0)), "topic id is "),
        ([Scored(np.zeros(2), "a", 1.0), Scored(np.zeros(2), "b", 1.0)], "topic id is array("),
        (frame(Scored("1", 5, 1.0)), "document id is 5 (int)"),
        (frame(Scored("1", "a", "x")), "a score is not a number"),
        (frame(Scored("1", "a", None)), "has score nan"),
        (frame(Scored([1], "a", 1.0)), "topic id is [1] (list)"),
    ],
)
def test_an_invalid_run_gets_one_clear_line(run: Any, says: str) -> None:
    assert says in refused(as_run, run)


@pytest.mark.parametrize(
    ("qrels", "says"),
    [
        ({"1": {"a": 2**63}}, "topic 1, document 'a' has relevance 9223372036854775808; expected"),
        ({"1": {"a": 1.5}}, "has relevance 1.5"),
        ({"1": {"a": "1"}}, "has relevance '1'"),
        ({"1": ["a"]}, "topic 1 has list; expected a dict of levels by document"),
        ({"1": {"a": 1, 5: 1}}, "document id is 5"),
        ([Judged("1", "a", None)], "has relevance None"),
        ([Judged("1", "a", 10**30)], "has relevance 1000000000000000000000000000000"),
        (frame(Judged("1", "a", 0.5)), "topic 1, document 'a' has relevance 0.5"),
        (frame(Judged("1", "a", float("nan"))), "has relevance nan"),
        (frame(Judged("1", "a", np.uint64(2**63))), "relevance "),
    ],
)
def test_invalid_qrels_get_one_clear_line(qrels: Any, says: str) -> None:
    assert says in refused(as_qrels, qrels)


def test_what_is_given_is_not_modified_nor_followed() -> None:
    given = {"1": {"a": 1}}
    qrels = as_qrels(given)
    given["1"]["b"] = 1
    assert qrels.judged == {"1": {"a": 1}}


def test_frames_are_read_without_importing_their_libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "polars", ModuleType("polars"))  # has no attribute at all
    assert as_run(Frame(scored)).topics == ("1", "2")


@pytest.mark.parametrize("documents", [["b", "c"], ["a\0b", "ä"], ["", "\ud800"]])
def test_documents_of_dicts_are_kept_beside_an_empty_topic(documents: list[str]) -> None:
    run = as_run({"1": {"a": 2.0}, "2": {}, "3": dict.fromkeys(documents, 1.0), "4": {}})
    assert [run.documents(topic) for topic in run.topics] == [["a"], [], documents, []]


def test_new_scores_replace_those_of_a_dict() -> None:
    run = as_run({"401": {"a": 1.0, "b": 2.0}}).with_scores(np.array([5.0, 4.0]))
    hits = run.find(as_qrels({"401": {"a": 1}}).targets(judged=False))
    assert hits.score.tolist() == [5.0]


QREL_ROWS = [Qrel("1", "a", 1), Qrel("1", "b", 0), Qrel("2", "a", 2), Qrel("2", "c", 1)]
RUN_ROWS = [
    *(ScoredDoc("1", "b", 2.0), ScoredDoc("1", "a", 1.0)),
    *(ScoredDoc("2", "c", 3.0), ScoredDoc("2", "b", 1.0)),
]


def polars(rows: list[Any]) -> Any:
    return pl.DataFrame([row._asdict() for row in rows])


TABLES = {
    "pandas": pd.DataFrame,
    "polars": polars,
    "polars with a category": lambda rows: polars(rows).with_columns(
        pl.col("query_id").cast(pl.Categorical)
    ),
}


@pytest.mark.parametrize("form", TABLES)
def test_tables_give_what_their_rows_give(form: str) -> None:
    qrels, run = TABLES[form](QREL_ROWS), TABLES[form](RUN_ROWS)
    expected = ir_std.calc_aggregate("AP", QREL_ROWS, RUN_ROWS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ir_std.calc_aggregate("AP", qrels, run) == expected == {AP: 0.5}
        assert ir_std.evaluate({"x": run, "y": run}, qrels, "AP").means["y"] == expected
        assert ir_std.evaluate([run, run], qrels, "AP").runs == ("run1", "run2")
        assert ir_std.evaluate(run, qrels, "AP").means["run"] == expected


@pytest.mark.parametrize("form", ["pandas", "polars"])
def test_the_calls_of_ir_measures_measures_read_tables(form: str) -> None:
    qrels, run = TABLES[form](QREL_ROWS), TABLES[form](RUN_ROWS)
    assert ir_std.SP.calc_aggregate(QREL_ROWS, RUN_ROWS) == 0.75
    assert ir_std.SP.calc_aggregate(qrels, run) == 0.75


@pytest.mark.parametrize("column", [pd.Series([1.0]), pl.Series([1.0])], ids=["pandas", "polars"])
def test_one_column_is_neither_a_run_nor_qrels(column: Any) -> None:
    with pytest.raises(InputError, match="run: cannot use float; pass a file"):
        ir_std.evaluate(column, QREL_ROWS, "AP")
    with pytest.raises(InputError, match="qrels: cannot use float; pass a file"):
        ir_std.recognize(column)


def test_a_table_that_is_not_computed_yet_is_refused_with_the_remedy() -> None:
    for call in (ir_std.recognize, ir_std.read_scores):
        with pytest.raises(InputError, match=r"LazyFrame.*collect\(\)"):
            call(polars(QREL_ROWS).lazy())


@pytest.mark.parametrize("form", [pl.Int64, pl.Float64])
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_topics_that_are_whole_numbers_are_text(library: str, form: Any) -> None:
    table = polars(QREL_ROWS).with_columns(pl.col("query_id").cast(form))
    given = pd.DataFrame(table.to_dict(as_series=False)) if library == "pandas" else table
    assert ir_std.calc_aggregate("AP", given, RUN_ROWS) == {AP: 0.5}


def test_other_numbers_as_topics_are_refused() -> None:
    table = polars(QREL_ROWS).with_columns(pl.col("query_id").cast(pl.Float64) + 0.5)
    with pytest.raises(InputError, match=r"topic id is 1\.5 \(float\).* or df\.cast in polars$"):
        ir_std.recognize(table)


def test_a_missing_column_is_named() -> None:
    with pytest.raises(InputError, match="DataFrame without doc_id"):
        ir_std.recognize(polars(QREL_ROWS).drop("doc_id"))


@pytest.mark.parametrize(("form", "kind"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_runs_are_normalized_and_merged_into_tables_of_their_library(form: str, kind: Any) -> None:
    table = TABLES[form](RUN_ROWS)
    normalized, merged = ir_std.normalize(table, "minmax"), ir_std.merge([table, table], "minmax")
    assert isinstance(normalized, kind)
    assert isinstance(merged, kind)
    assert list(normalized["score"]) == [1.0, 0.0, 1.0, 0.0]
    assert list(normalized["doc_id"]) == ["b", "a", "c", "b"]
    assert list(merged["score"]) == [2.0, 0.0, 2.0, 0.0]
    assert list(merged.columns) == ["query_id", "doc_id", "score"]
    assert list(TABLES["polars"](RUN_ROWS)["score"]) == [2.0, 1.0, 3.0, 1.0]


@pytest.mark.slow
def test_none_of_these_libraries_is_imported_for_rows_of_others() -> None:
    code = (
        "import sys, ir_std\n"
        "ir_std.evaluate({'1': {'a': 1.0}}, {'1': {'a': 1}}, 'AP').table().text()\n"
        "ir_std.merge([{'1': {'a': 1.0}}], 'minmax')\n"
        "print({'pandas', 'polars', 'pyarrow'} & set(sys.modules))"
    )
    done = run_process([sys.executable, "-c", code], check=True)
    assert done.stdout.strip() == "set()"


def test_the_score_of_a_line_that_is_left_out_may_be_missing() -> None:
    frame = pd.DataFrame({"query_id": "1", "doc_id": ["a", "a"], "score": [np.nan, 2.0]})
    assert as_run(frame, "last").lists["1"][1].tolist() == [2.0]
