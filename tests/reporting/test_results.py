"""Results of one or many runs: names, means, tests, tables, DataFrames."""

import io
import sys
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import pytest
from ir_measures import AP, P
from made_up import by_topic, qrels_like
from scipy import stats

import ir_std
from ir_std.errors import InputError, IrStdError, StandardizationWarning, UsageError
from ir_std.reporting.model import deviations
from ir_std.scores.inputs import name_runs
from ir_std.testing import simulated_run

SP_AP = [AP, P @ 10]


@pytest.fixture(scope="module")
def small() -> ir_std.Results:
    """Evaluate three simulated runs on qrels with TREC-8's topics and counts."""
    qrels = qrels_like("trec8-adhoc")
    runs = {name: simulated_run(qrels, seed) for seed, name in enumerate("abc")}
    return ir_std.evaluate(runs, qrels, SP_AP, baseline="b")


def test_means_are_those_of_calc_aggregate(small: ir_std.Results) -> None:
    qrels = qrels_like("trec8-adhoc")
    expected = ir_std.calc_aggregate(SP_AP, qrels, simulated_run(qrels, 0))
    assert small.means["a"] == pytest.approx(expected, abs=1e-12)
    assert small.measures == tuple(expected)


def test_notebooks_show_tables_and_evaluators_readably(small: ir_std.Results) -> None:
    table = small.table()
    assert repr(table) == str(table) == table.text()
    assert table._repr_html_() == table.html()
    assert str(small) == table.text()
    assert repr(small.collection.evaluator) == (
        "<StdEvaluator on 50 topics with trec8-adhoc: AP, sAP, P@10, sP@10>"
    )
    compared = ir_std.compare(
        [("a", "dl19-passage/p_bert", None), ("a", "dl20-passage/p_bm25", None)], "nDCG@10"
    )
    for results in (small, compared):
        html = results._repr_html_()
        assert html.startswith(results.table().html())
        assert all(html.count(f"<p>{note}</p>") == 1 for note in results.notes)
    assert "using trec8-adhoc" in small._repr_html_()


def test_results_of_several_collections_are_looked_at_one_by_one() -> None:
    compared = ir_std.compare(
        [("a", "dl19-passage/p_bert", None), ("b", "dl20-passage/p_bm25", None)], "nDCG@10"
    )
    assert compared.runs == ("a", "b")
    assert compared.on("dl19-passage").runs == ("a",)
    assert compared.on("dl19-passage") is compared.on("dl19-passage")
    with pytest.raises(UsageError, match=r"2 collections .* choose one, such as .on\('dl19-"):
        compared.means  # noqa: B018
    with pytest.raises(UsageError, match="unknown collection 'dl21'; choose from dl19-passage,"):
        compared.on("dl21")
    with pytest.raises(
        UsageError, match="nDCG@10 has different scales on dl19-passage and dl20-passage"
    ):
        compared.difference(("a", "dl19-passage"), ("b", "dl20-passage"), "nDCG@10")


def test_results_have_few_names(small: ir_std.Results) -> None:
    assert len([name for name in dir(small) if not name.startswith("_")]) <= 25


def test_what_is_known_by_measure_is_known_by_its_name(small: ir_std.Results) -> None:
    assert small.means["a"]["sP@10"] == small.means["a"][ir_std.sP @ 10]
    assert small.differences["a"]["AP"] == small.differences["a"][AP]
    assert str(small.estimate("a", "sAP")) == str(small.estimate("a", ir_std.sAP))
    assert (small.values["a"]["AP"] == small.values["a"][AP]).all()
    assert by_topic(small, "a", "AP") == by_topic(small, "a", AP)
    assert small.difference("a", "b", "AP").mean == small.difference("a", "b", AP).mean


def test_without_a_baseline_there_are_no_tests_and_asking_for_one_says_so(
    small: ir_std.Results,
) -> None:
    untested = replace(small, baseline=None)
    assert untested.differences == {}
    with pytest.raises(UsageError, match="there is no baseline to test a against; pass the name"):
        untested.differences["a"]


def test_the_published_values_of_a_real_run(data: Path, runs_of: Callable[[str], Path]) -> None:
    found = ir_std.evaluate(
        runs_of("trec8-adhoc") / "Flab8atdn", data / "qrels" / "trec8-adhoc.txt", "AP", "all"
    )
    by_scheme = {m: v for m, v in found.means["Flab8atdn"].items() if m != AP}
    assert found.means["Flab8atdn"][AP] == pytest.approx(0.3240, abs=5e-5)
    assert by_scheme[ir_std.sAP] == pytest.approx(0.6930, abs=5e-5)
    assert by_scheme[ir_std.sAP(scheme="z")] == pytest.approx(0.6028, abs=5e-5)
    assert str(found.placements["Flab8atdn"][ir_std.sAP]) == "sAP 0.6930: 13th of 129"


RUN = {"1": {"d": 1.0}, "2": {}}
DOCUMENTS = [ir_measures.ScoredDoc("1", "d", 1.0)]
FRAME = pd.DataFrame({"query_id": ["1"], "doc_id": ["d"], "score": [1.0]})


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ("x/bm25.run", ["bm25"]),
        (["x/a", "x/b"], ["a", "b"]),
        (["x/a", Path("y/a"), "y/b"], ["x/a", "y/a", "b"]),
        ([{"1": {"d": 1.0}}, "x/a"], ["run1", "a"]),
        ([FRAME, FRAME], ["run1", "run2"]),
        (FRAME, ["run"]),
    ],
)
def test_runs_have_the_names_of_files_paths_if_these_are_the_same_or_numbers(
    given: object, names: list[str]
) -> None:
    assert list(name_runs(given)) == names


@pytest.mark.parametrize(
    ("given", "named"),
    [
        *((one, {"run": one}) for one in (RUN, DOCUMENTS)),
        *((several, several) for several in ({"bm25": RUN, "mono": RUN}, {"bm25": "file"})),
    ],
)
def test_a_dict_of_topics_and_a_list_of_documents_are_one_run_and_other_dicts_name_runs(
    given: object, named: dict[str, object]
) -> None:
    assert name_runs(given) == named


@pytest.mark.parametrize(
    ("runs", "baseline", "error", "message"),
    [
        ({}, None, UsageError, "missing runs; pass a run"),
        ([{"1": {"d": 1.0}}, "run1"], None, UsageError, "two runs are named run1"),
        ([], None, UsageError, "missing runs; pass a run"),
        ({"bm25": {"1": {"d": 1.0}}}, "BM52", UsageError, "bm25.*did you mean"),
        ({"7": {"d": 1.0}}, None, InputError, "no topic in common.*such as 7 instead of 1"),
    ],
)
def test_runs_that_cannot_be_evaluated_are_refused(
    runs: Any, baseline: str | None, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        ir_std.evaluate(runs, {"1": {"d": 1}}, AP, baseline=baseline)


def test_the_table_marks_the_best_and_significant_differences(small: ir_std.Results) -> None:
    table = small.table()
    assert table.header == ("run", "AP", "sAP", "P@10", "sP@10")
    best = max("abc", key=lambda run: small.means[run][AP])
    assert [row[0].text for row in table.rows if row[1].best] == [best]
    assert "better or worse than b (two-sided paired t-test" in table.text()
    for row in table.rows:
        tested = small.differences.get(row[0].text)
        for measure, cell in zip(small.measures, row[1:], strict=True):
            assert bool(cell.mark) == (tested is not None and tested[measure].p_adjusted < 0.05)


def test_the_dataframe_is_tidy(small: ir_std.Results) -> None:
    table = small.to_dataframe()
    columns = ["collection", "run", "query_id", "measure", "base", "scheme", "value"]
    assert list(table.columns) == columns
    assert len(table) == 3 * 50 * 4
    means = table[table.scheme == "N"].groupby(["run", "base"]).value.mean()
    assert means["a", "AP"] == pytest.approx(small.means["a"][ir_std.sAP])


def test_a_wide_dataframe_has_a_column_for_each_measure(small: ir_std.Results) -> None:
    wide = small.to_dataframe(wide=True)
    assert list(wide.columns) == ["collection", "run", "query_id", "AP", "sAP", "P@10", "sP@10"]
    assert len(wide) == 3 * 50
    assert wide[wide.run == "b"].sAP.tolist() == small.values["b"]["sAP"].tolist()


def test_a_dataframe_of_means_is_small(small: ir_std.Results) -> None:
    wide = small.to_dataframe(wide=True, means=True)
    assert wide.shape == (3, 6)
    assert wide.set_index("run").sAP.to_dict() == {r: small.means[r]["sAP"] for r in small.runs}
    long = small.to_dataframe(means=True)
    assert list(long.columns) == ["collection", "run", "measure", "base", "scheme", "value"]
    assert long.value.tolist() == [small.means[r][m] for r in small.runs for m in small.measures]


@pytest.mark.parametrize("wide", [True, False])
@pytest.mark.parametrize("means", [True, False])
def test_a_dataframe_of_polars_holds_what_one_of_pandas_does(
    small: ir_std.Results, wide: bool, means: bool
) -> None:
    polars = pytest.importorskip("polars", reason="polars is not installed")
    found = small.to_dataframe(wide=wide, means=means, library="polars")
    assert isinstance(found, polars.DataFrame)
    expected = small.to_dataframe(wide=wide, means=means)
    assert found.columns == list(expected.columns)
    assert found.rows() == [tuple(row) for row in expected.itertuples(index=False)]


def test_without_pandas_or_polars_one_line_says_what_to_install(
    small: ir_std.Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(IrStdError, match="pip install pandas"):
        small.to_dataframe(library="pandas")
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(IrStdError, match="pip install pandas"):
        small.to_dataframe()
    with pytest.raises(UsageError, match="unknown library 'dask'; choose from pandas, polars"):
        small.to_dataframe(library="dask")


def test_without_factors_results_are_raw_and_say_why() -> None:
    found = ir_std.evaluate({"1": {"d": 1.0}}, {"1": {"d": 1}}, AP)
    assert found.measures == (AP,)
    assert found.placements == {}
    assert "no factor set" in found._repr_html_()


def test_warnings_are_given_once_and_kept() -> None:
    qrels = qrels_like("trec8-adhoc")
    qrels = {**qrels, "999": {"d": 1}}
    run = {
        topic: {doc: float(-i) for i, doc in enumerate(list(docs)[:1000])}
        for topic, docs in qrels.items()
    }
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = ir_std.evaluate({"x": run, "y": run}, qrels, AP)
    assert [str(w.message) for w in caught if w.category is StandardizationWarning] == list(
        found.warnings
    )
    assert len(found.warnings) == 1
    assert "999" in found.warnings[0]


def test_peers_are_the_factor_sets_or_at_fixed_points(small: ir_std.Results) -> None:
    factors = ir_std.load_factors("trec8-adhoc")
    raw, standardized = map(small.collection.peers, (AP, ir_std.sAP))
    assert raw
    assert standardized
    assert standardized.mean == pytest.approx(np.full(50, 0.5))
    assert standardized.low == pytest.approx(np.full(50, stats.norm.cdf(-1)))
    assert raw.mean == pytest.approx(factors.mean["AP"])
    assert raw.high - raw.mean == pytest.approx(factors.sd["AP"])


def test_a_measure_served_by_its_partner_has_no_raw_peers() -> None:
    qrels = qrels_like("trec4-adhoc")
    found = ir_std.evaluate({"x": simulated_run(qrels, 1)}, qrels, "DCG(dcg='jk')")
    measure = found.measures[1]
    own = found.collection.plans[measure].raw.__name__ == "DCG"
    assert (found.collection.peers(found.measures[0]) is not None) == own
    assert found.collection.peers(measure) is not None


def test_deviations_are_what_the_scheme_bends(small: ir_std.Results) -> None:
    assert stats.norm.cdf(deviations(small, "a", ir_std.sAP)) == pytest.approx(
        small.values["a"][ir_std.sAP]
    )


def test_a_report_is_written_to_a_path_or_an_open_file(
    small: ir_std.Results, tmp_path: Path
) -> None:
    pytest.importorskip("jinja2", reason="jinja2 is not installed")
    small.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_bytes()
    binary, text = io.BytesIO(), io.StringIO()
    small.report(binary)
    small.report(text)
    assert page == binary.getvalue() == text.getvalue().encode()
    (tmp_path / "titled.html").write_text("not written by ir_std", encoding="utf-8")
    small.report(str(tmp_path / "titled.html"), "A title of its own", force=True)
    assert "<title>A title of its own</title>" in (tmp_path / "titled.html").read_text("utf-8")


@pytest.mark.parametrize(("schemes", "drawn"), [("N", "sAP"), ((), "AP")])
def test_results_draw_their_runs_by_the_first_standardized_measure(
    schemes: str, drawn: str
) -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot", reason="matplotlib is not installed")
    qrels = qrels_like("trec8-adhoc")
    results = ir_std.evaluate(
        {name: simulated_run(qrels, seed) for seed, name in enumerate("ab")}, qrels, SP_AP, schemes
    )
    figure, (left, right) = pyplot.subplots(1, 2)
    assert results.plot(ax=left) is left
    assert results.plot("P@10", right) is right
    assert left.get_xlabel() == f"mean {drawn} with 95% interval"
    assert right.get_xlabel() == "mean P@10 with 95% interval"
    pyplot.close(figure)
