"""Results as tables: ranks, values by topic, places, and the five forms of a table."""

import csv
import io
import math
import re

import numpy as np
import pytest
from hypothesis import given, strategies as st
from ir_measures import AP, P
from made_up import TOPICS, by_topic, collection
from scipy.stats import rankdata

import ir_std
from ir_std import build_factors, sAP
from ir_std._system.text import guard_cell, latex_escape, unguard_cell
from ir_std.analysis import rank_intervals
from ir_std.errors import UsageError
from ir_std.reporting import run_ranks
from ir_std.reporting.model import place_topics
from ir_std.reporting.run_ranks import RunRank, rank_runs, ranks
from ir_std.reporting.sentences import could_be_first, describe_firsts
from ir_std.reporting.tables import PAGE_ROWS, Table, label_cell, number_cell

QRELS, RUNS = collection()
BUILT = build_factors(QRELS, RUNS, ["AP", "P@5"], id="mine")


@pytest.fixture(scope="module")
def results() -> ir_std.Results:
    """Evaluate three of the reference systems, and a run that is not one."""
    new = {
        t: {d: s + RUNS["sys3"][t].get(d, -9) for d, s in docs.items()}
        for t, docs in RUNS["sys4"].items()
    }
    runs = {"low": RUNS["sys0"], "high": RUNS["sys6"], "new": new, "twin": RUNS["sys0"]}
    return ir_std.evaluate(runs, QRELS, [AP, P @ 5], factors=BUILT, baseline="low")


def rows(table: Table) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(table.csv())))


@given(st.lists(st.integers(0, 4), min_size=1, max_size=12))
def test_ranks_are_scipys_and_ties_stay_in_the_order_given(values: list[int]) -> None:
    found = ranks({f"run{i}": value / 7 for i, value in enumerate(values)})
    expected = rankdata([-v for v in values], method="min").astype(int).tolist()
    assert found == {f"run{i}": rank for i, rank in enumerate(expected)}
    order = [(found[run], int(run[3:])) for run in found]
    assert order == sorted(order)


def test_means_that_differ_by_rounding_share_a_rank_and_runs_without_one_come_last() -> None:
    assert ranks({"a": 0.1 + 0.2, "b": 0.3, "c": 0.5}) == {"c": 1, "a": 2, "b": 2}
    found = ranks({"a": math.nan, "b": 0.1, "c": 0.2})
    assert list(found.items()) == [("c", 1), ("b", 2), ("a", None)]


def test_the_measure_that_sorts_comes_first_and_its_group_with_it(results: ir_std.Results) -> None:
    header = results.table(sort="sP@5", place=True).header
    assert header[3:] == tuple(
        f"{m}{place}" for m in ("sP@5", "P@5", "AP", "sAP") for place in ("", " place")
    )
    assert results.table(sort="AP").header[3:] == results.table().header[1:]


def test_a_sorted_table_has_ranks_and_says_the_rule(results: ir_std.Results) -> None:
    table = results.table(sort="sAP")
    assert table.header[:2] == ("rank", "run")
    means = [results.means[row[1].text][sAP] for row in table.rows]
    assert means == sorted(means, reverse=True)
    twins = [(row[0].text, row[1].text) for row in table.rows if row[1].text in ("low", "twin")]
    assert twins[0][0] == twins[1][0]
    assert [name for _, name in twins] == ["low", "twin"]
    assert "Runs are ranked by sAP, highest mean first; runs with equal" in table.text()


def test_each_rank_is_printed_with_its_interval() -> None:
    names = ("bm25base_p", "p_bert", "idst_bert_p1", "UNH_exDL_bm25")
    results = ir_std.evaluate([f"dl19-passage/{name}" for name in names], measures="nDCG@10")
    measure = "snDCG@10"
    columns = [results.values[run][measure] for run in results.runs]
    expected = rank_intervals(np.stack(columns, axis=1))
    table = results.table(sort=measure)
    by_run = {row["run"].split("/")[-1]: row for row in rows(table)}
    for i, run in enumerate(results.runs):
        row = by_run[run.split("/")[-1]]
        best, worst = int(expected.best[i]), int(expected.worst[i])
        assert (row["ranks best"], row["ranks worst"]) == (str(best), str(worst))
        assert row["ranks"] == f"{best} to {worst}"
        assert str(results.ranks[run][measure]) == f"{row['rank']} ({row['ranks']})"
    assert [by_run[name]["ranks"] for name in names] == ["3 to 3", "1 to 2", "1 to 2", "4 to 4"]
    assert [results.ranks[run][measure].group for run in results.runs] == [2, 1, 1, 3]
    sentence = describe_firsts(results, measure)
    assert sentence in table.notes
    assert sentence.startswith(
        "2 of the 4 runs could be first (95% confidence set for the best run)"
    )
    assert "hold for all runs together" in sentence


def test_ranks_rest_on_what_more_is_better_of() -> None:
    scores = {f"run{i}": i + np.arange(6) / 10 + np.eye(6)[i] / 100 for i in range(3)}
    means = {run: float(values.mean()) for run, values in scores.items()}
    up, down = rank_runs(means, scores), rank_runs(means, scores, -1.0)
    expected = {"run2": "1 (1 to 1)", "run1": "2 (2 to 2)", "run0": "3 (3 to 3)"}
    assert {run: str(each) for run, each in up.items()} == expected
    assert {run: each.rank for run, each in down.items()} == {"run0": 1, "run1": 2, "run2": 3}
    none = rank_runs({"a": math.nan}, {"a": np.full(6, np.nan)})
    assert str(none["a"]) == none["a"].interval == "-"


def test_a_rank_is_within_its_interval_though_the_run_lacks_the_hard_topics() -> None:
    random = np.random.default_rng(4)
    easy, hard = 0.8 + random.random(8) / 100, 0.1 + random.random(8) / 100
    scores = {
        "only easy topics": np.append(easy, np.full(8, np.nan)),
        "better on these": np.append(easy + 0.1, hard),
    }
    found = rank_runs({run: float(np.nanmean(values)) for run, values in scores.items()}, scores)
    assert {run: str(each) for run, each in found.items()} == {
        "only easy topics": "1 (1 to 2)",
        "better on these": "2 (1 to 2)",
    }


def test_more_runs_than_can_be_compared_in_pairs_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(run_ranks, "MOST_RUNS", 2)
    means = {"a": 0.3, "b": 0.2, "c": math.nan}
    scores = {run: np.full(6, mean) for run, mean in means.items()}
    assert [run for run, each in rank_runs(means, scores).items() if each.rank] == ["a", "b"]
    with pytest.raises(UsageError, match=r"3 runs are too many .* at most 2; pass fewer runs"):
        rank_runs(means | {"c": 0.1}, scores)


def test_five_topics_tell_runs_apart_and_fewer_datasets_do_not() -> None:
    by_run = {run: RunRank(1, 1, 2, 1) for run in "ab"}
    assert could_be_first(by_run, 4, "dataset") == (
        "Either run could be first, because ir_std needs at least 5 datasets to rule out a run."
    )
    few, many = (could_be_first(by_run, n, "topic") for n in (12, 30))
    assert few.endswith(
        "30 topics, this set and these intervals are right in fewer than 95% of cases."
    )
    assert "fewer than" not in many


def test_an_unknown_run_is_reported_with_the_available_ones(results: ir_std.Results) -> None:
    message = "unknown run 'hihg'; available: low, high, new, twin; did you mean 'high'?"
    for by_run in (results.means, results.values, results.ranks):
        with pytest.raises(UsageError) as error:
            by_run["hihg"]
        assert str(error.value) == message
    with pytest.raises(UsageError, match="unknown run 'nobody'"):
        by_topic(results, "nobody", AP)


def test_a_table_is_sorted_only_by_what_it_holds(results: ir_std.Results) -> None:
    with pytest.raises(UsageError, match=r"P@10 is not among the measures; .* AP, sAP, P@5, sP@5"):
        results.table(sort="P@10")


def test_csv_per_topic_holds_each_value_in_full(results: ir_std.Results) -> None:
    written = rows(results.table(by_topic=True))
    assert [row["topic"] for row in written] == [*TOPICS, "all"] * 4
    for row in written:
        for measure in results.measures:
            values = by_topic(results, row["run"], measure)
            values["all"] = results.means[row["run"]][measure]
            assert float(row[str(measure)]) == values[row["topic"]]
        assert bool(row["AP p"]) == (row["topic"] == "all" and row["run"] != "low")


def test_without_means_there_are_topics_and_their_places(results: ir_std.Results) -> None:
    table = results.table(by_topic=True, means=False, place=True)
    assert {row["topic"] for row in rows(table)} == set(TOPICS)
    for row in rows(table):
        placed = place_topics(results)[row["run"]][sAP][row["topic"]]
        assert row["sAP place"] == str(placed.rank)
    assert results.table(by_topic=True, means=False).notes == ()


def test_places_follow_their_measures(results: ir_std.Results) -> None:
    table = results.table(place=True)
    measures = ("AP", "sAP", "P@5", "sP@5")
    assert table.header == ("run", *(f"{m}{end}" for m in measures for end in ("", " place")))
    for row, cells in zip(rows(table), table.rows, strict=True):
        placed = results.placements[row["run"]][sAP]
        of = 7 if row["run"] != "new" else 8
        assert cells[4].text == f"{placed.rank}/{of}"
        assert (row["sAP place"], row["sAP place of"]) == (str(placed.rank), str(of))
        assert row["sAP place tied"] == str(placed.n_tied)
    assert "among the reference systems of mine" in " ".join(table.text().split())


def test_the_reason_for_missing_places_is_printed() -> None:
    bare = ir_std.evaluate(RUNS, {"q": {"d1": 1}, **QRELS}, "AP")
    table = bare.table(place=True)
    assert {row[2].text for row in table.rows} == {"-"}
    assert table.notes == ("There are no places, because no factors are known.",)
    other = ir_std.evaluate(RUNS, QRELS, [AP, P @ 3], factors=BUILT)
    assert "No place for P@3: mine has no factors for it." in other.table(place=True).notes


def test_one_run_is_tested_against_nothing_and_is_not_the_best() -> None:
    one = ir_std.evaluate({"low": RUNS["sys0"]}, QRELS, AP, factors=BUILT, baseline="low")
    assert one.table().notes == ()
    assert not any(cell.best for row in one.table(by_topic=True).rows for cell in row)


# One table in five forms.


TABLE = Table(
    ("run", "AP", "sAP"),
    (
        (
            label_cell("bm25"),
            number_cell(0.25, best=True),
            number_cell(0.5, mark="-", extra={"p": 0.01}),
        ),
        (label_cell("a_b|c"), number_cell(0.125), number_cell(float("nan"))),
    ),
    notes=("Below & 5%.",),
)


def test_text_is_aligned_with_marks_next_to_the_figures() -> None:
    assert TABLE.text().splitlines() == [
        "run        AP      sAP",
        "-----------------------",
        "bm25   0.2500*  0.5000-",
        "a_b|c  0.1250        -",
        "",
        "* best in its column.",
        "Below & 5%.",
    ]


def test_markdown_escapes_what_would_break_the_table() -> None:
    assert TABLE.markdown().splitlines()[:4] == [
        "| run | AP | sAP |",
        "| :-- | --: | --: |",
        "| bm25 | **0.2500** | 0.5000 - |",
        "| a\\_b\\|c | 0.1250 | - |",
    ]


def test_a_note_in_markdown_is_not_a_list() -> None:
    assert Table(("run",), (), notes=("+ - marks",)).markdown().splitlines()[-1] == "\\+ - marks"


def test_names_that_fit_are_whole() -> None:
    table = Table(
        ("run", "topic", "AP"),
        ((label_cell("a"), label_cell("beir/cqadupstack/programmers-and-more"), number_cell(0.5)),),
        2,
        groups=(1,),
    )
    assert "beir/cqadupstack/programmers-and-more" in table.text(60)


def test_long_names_lose_their_middle_only_where_they_stay_distinct() -> None:
    def lines(*names: str) -> list[str]:
        rows = tuple((label_cell(name), number_cell(0.5)) for name in names)
        return Table(("run", "AP"), rows).text(60).splitlines()

    distinct_ends = lines(60 * "x" + "one", 60 * "x" + "two")
    shown = [line.split()[0] for line in distinct_ends[2:]]
    assert all("..." in name for name in shown)
    assert [name[-3:] for name in shown] == ["one", "two"]
    assert max(map(len, distinct_ends)) <= 60
    names = [60 * "x" + middle + 60 * "x" for middle in ("one", "two")]
    assert [line.split()[0] for line in lines(*names)[2:]] == names


def test_latex_escapes_what_would_not_compile() -> None:
    text = TABLE.latex()
    assert r"a\_b\textbar{}c & 0.1250 & - \\" in text
    assert r"bm25 & \textbf{0.2500} & 0.5000$^{-}$ \\" in text
    assert latex_escape(r"\ ~^&%$#_{}") == (
        r"\textbackslash{} \textasciitilde{}\textasciicircum{}\&\%\$\#\_\{\}"
    )


def test_csv_has_full_precision_and_columns_for_further_facts() -> None:
    third = Table(("run", "AP"), ((label_cell('a,"b"'), number_cell(1 / 3, 2)),))
    assert third.csv().splitlines() == ["run,AP", f'"a,""b""",{1 / 3!r}']
    lines = ["run,AP,sAP,sAP p", "bm25,0.25,0.5,0.01", "a_b|c,0.125,,"]
    assert TABLE.csv().splitlines() == lines


def test_html_bolds_the_best_marks_differences_and_escapes() -> None:
    text = re.sub(r' (scope|style)="[^"]*"', "", TABLE.html())
    assert text.splitlines() == [
        "<table>",
        "<thead><tr><th>run</th><th>AP</th><th>sAP</th></tr></thead>",
        "<tbody>",
        "<tr><th>bm25</th><td><strong>0.2500</strong></td><td>0.5000<sup>-</sup></td></tr>",
        "<tr><th>a_b|c</th><td>0.1250</td><td>-</td></tr>",
        "</tbody>",
        "</table>",
        "<p>Below &amp; 5%.</p>",
    ]
    assert "&lt;b&gt;" in Table(("run",), ((label_cell("<b>"),),)).html()


def wide(name: str) -> Table:
    measures = [f"{s}nDCG(dcg='exp-log2')@{k}" for k in (5, 10, 20, 100, 1000) for s in ("", "s")]
    return Table(
        ("run", *measures),
        tuple(
            (label_cell(f"{name}{i}"), *(number_cell(i / 7) for _ in measures)) for i in range(3)
        ),
        groups=(2,) * 5,
    )


@pytest.mark.parametrize("name", ["bm25-", "x" * 120])
def test_text_fits_100_columns_and_keeps_columns_that_belong_together(name: str) -> None:
    text = wide(name).text()
    assert max(map(len, text.splitlines())) <= 100
    assert all(len(block.splitlines()[0].split()) % 2 == 1 for block in text.split("\n\n"))


def test_every_block_names_its_rows() -> None:
    for block in wide("bm25-").text().split("\n\n"):
        names = [line.split()[0] for line in block.splitlines()[2:]]
        assert names == [f"bm25-{i}" for i in range(3)]


@pytest.mark.parametrize(("more", "kind"), [(0, "tabular"), (1, "longtable")])
def test_what_does_not_fit_on_a_page_is_a_long_table(more: int, kind: str) -> None:
    rows = tuple((label_cell(f"run{i}"), number_cell(0.5)) for i in range(PAGE_ROWS + more))
    assert f"\\begin{{{kind}}}" in Table(("run", "AP"), rows).latex()


@pytest.mark.parametrize("name", ["=1+1", "'=1+1", "''=1+1", "'a", "-", "\uff1d1+1", "it's"])
def test_the_guard_against_formulas_can_be_undone(name: str) -> None:
    assert unguard_cell(guard_cell(name)) == name
    assert not re.match("[=+@-].", guard_cell(name))
