"""Tests of measures that other programs compute, under their raw and standardized names."""

import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, strategies as st

import ir_std
from ir_std.errors import InputError, UnknownMeasureError, UsageError
from ir_std.measures import canonical, parse_measure, standardized
from ir_std.measures.names import find_measure
from ir_std.reporting.html.standing import subject_of
from ir_std.reporting.model import place_topics
from ir_std.reporting.run_ranks import runs_by_mean
from ir_std.schemes import get_scheme

NAMES = st.text(min_size=1).filter(str.strip)


@given(NAMES)
@example("faithfulness")
@example("strict vital")
@example('it\'s "quoted"\\')
@example("sAP")
@example("AP")
@example("map")
@example("s'x'")
@example("nDCG@10")
@example("\0\ud800\n")
def test_any_name_parses_and_prints_back_the_same(name: str) -> None:
    measure = ir_std.ExternalMeasure(name)
    for one in (measure, standardized(measure), standardized(measure, scheme="U", A=0.1)):
        again = parse_measure(str(one), [name] if str(one) == name else [])
        assert again == one
        assert (type(again), str(again), again.params) == (type(one), str(one), one.params)
        assert pickle.loads(pickle.dumps(one)) == one
        assert canonical(one) == str(one)
    assert standardized(measure).base == measure
    assert measure.name == name
    assert (find_measure(str(measure)) or ir_std.ExternalMeasure(str(measure))) == measure


@given(NAMES, NAMES)
def test_different_names_are_different_measures(one: str, other: str) -> None:
    first, second = map(ir_std.ExternalMeasure, (one, other))
    assert (first == second) == (one == other)
    assert standardized(first) != second


@pytest.mark.parametrize(
    ("name", "printed"),
    [
        ("strict_vital_score", "strict_vital_score"),
        ("rouge-l", "rouge-l"),
        ("strict vital", "'strict vital'"),
        ("AP", "'AP'"),
        ("sAP", "'sAP'"),
        ("ndcg_cut_10", "'ndcg_cut_10'"),
        ("nDGC@10", "'nDGC@10'"),
    ],
)
def test_a_name_is_quoted_where_it_would_be_read_otherwise(name: str, printed: str) -> None:
    assert str(ir_std.ExternalMeasure(name)) == printed
    assert str(standardized(ir_std.ExternalMeasure(name))) == f"s{name!r}"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nDGC@10", "did you mean 'nDCG@10'"),
        ("never_seen_by_anybody", "unknown measure 'never_seen_by_anybody'"),
        ("'strict vital'(rel=2)", "takes no parameters"),
        ("s'strict vital'(rel=2)", "has no parameter 'rel'"),
        *((text, ".") for text in ("'open", "s''", "'a' 'b'", "'a'.b", "x'a'", "used-before")),
    ],
)
def test_a_name_that_no_scores_have_or_that_is_malformed_is_rejected(
    name: str, message: str
) -> None:
    with pytest.raises((UsageError, UnknownMeasureError), match=message):
        parse_measure(name)


def test_names_that_scores_have_need_no_quotes_and_no_others() -> None:
    used = ir_std.ExternalMeasure("used-before")
    assert parse_measure("used-before", ["used-before"]) == used
    assert parse_measure("sused-before", ["used-before"]) == standardized(used)
    assert parse_measure("sAP", ["AP"]) == ir_std.sAP


@pytest.mark.parametrize("name", ["", "  ", None])
def test_blank_names_and_parameters_are_refused(name: str) -> None:
    with pytest.raises(UsageError, match="a non-blank measure name"):
        ir_std.ExternalMeasure(name)
    with pytest.raises(UsageError, match="faithfulness is computed by another program"):
        ir_std.ExternalMeasure("faithfulness") @ 10


SCORES = """run,topic,strict vital,latency
a,1,0.25,900
a,2,0.5,1500
b,1,0.5,1100
b,2,0.75,1000
c,1,1,4000
c,2,0.25,1250.5
"""


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    file = tmp_path / "scores.csv"
    file.write_text(SCORES)
    return file


@pytest.fixture
def mine(scores: Path, tmp_path: Path) -> Path:
    built = ir_std.build_from_scores([scores], id="mine", lower_is_better=["latency"])
    built.save(tmp_path / "sets" / "mine.npz")
    return tmp_path / "sets" / "mine.npz"


def test_a_set_of_such_measures_says_which_values_are_better(mine: Path) -> None:
    factors = ir_std.load_factors(mine)
    assert factors.measures == ("'strict vital'", "latency")
    assert factors.info["measures"]["latency"]["better"] == "lower"
    assert factors.mean["latency"].tolist() == [2000, 1250.5 / 3 + 2500 / 3]
    assert factors.systems == ("a", "b", "c")


@pytest.mark.parametrize("scheme", ["N", "z", "U", "E"])
def test_where_less_is_better_the_negatives_are_standardized(mine: Path, scheme: str) -> None:
    factors = ir_std.load_factors(mine)
    x = np.array([900.0, 1250.5])
    mean, sd, known = (each["latency"] for each in (factors.mean, factors.sd, factors.scores))
    plain = get_scheme(scheme).apply(-x, mean=-mean, sd=sd, scores=-known)
    assert np.allclose(factors.standardize("latency", ["1", "2"], x, scheme), plain)
    assert np.allclose(
        factors.standardize("'strict vital'", ["1"], [1.0], "z"), [(1 - 1.75 / 3) / 0.3818813079]
    )


def test_scores_are_evaluated_and_placed_with_the_best_first(mine: Path, scores: Path) -> None:
    results = ir_std.evaluate(scores, measures=["latency"], factors=mine, baseline="c")
    means = {run: results.means[run]["latency"] for run in results.runs}
    assert means == {"a": 1200.0, "b": 1050.0, "c": 2625.25}
    standardized = {run: results.means[run]["s'latency'"] for run in results.runs}
    assert sorted(means, key=means.__getitem__) == ["b", "a", "c"]
    assert max(standardized, key=standardized.__getitem__) in ("a", "b")
    assert {r: results.placements[r]["latency"].rank for r in "abc"} == {"a": 2, "b": 1, "c": 3}
    table = results.table(sort="latency")
    assert [row[1].text for row in table.rows] == ["b", "a", "c"]
    assert [row[3].best for row in table.rows] == [True, False, False]
    assert "Lower is better for latency" in " ".join(table.notes)
    assert ", lowest mean first" in " ".join(table.notes)
    assert runs_by_mean(results, results.measures[0]) == ["b", "a", "c"]
    assert subject_of(replace(results, baseline=None)) == "b"
    topic = results.topics[0]
    assert [place_topics(results)[r]["latency"][topic].n_better for r in "abc"] == [0, 1, 2]


def test_less_is_better_without_a_set_if_the_user_says_so(scores: Path) -> None:
    said = ir_std.evaluate(scores, measures=["latency"], lower_is_better=["latency"])
    assert [row[1].best for row in said.table().rows] == [False, True, False]
    not_said = ir_std.evaluate(scores, measures=["latency"])
    assert [row[1].best for row in not_said.table().rows] == [False, False, True]
    with pytest.raises(UsageError, match="unknown measure 'AP'; available"):
        ir_std.evaluate(scores, lower_is_better=["AP"])


@pytest.mark.filterwarnings("ignore")
def test_the_best_system_has_the_lowest_mean_where_lower_is_better(
    mine: Path, tmp_path: Path
) -> None:
    (tmp_path / "mine.csv").write_text("run,topic,latency\nx,1,2000\nx,2,2000\n")
    latency = ir_std.ExternalMeasure("latency")
    results = ir_std.evaluate(tmp_path / "mine.csv", None, latency, factors=mine, baseline="best")
    assert results.baseline == "b"


@pytest.mark.parametrize("lower_is_better", [[], ["latency"]], ids=["by the set", "as said"])
def test_a_topic_that_a_run_lacks_does_not_count_as_the_best(
    mine: Path, tmp_path: Path, lower_is_better: list[str]
) -> None:
    table = tmp_path / "lacking.csv"
    topics = [*ir_std.load_factors(mine).topics]
    full = [f"full,{topic},1000,0.5" for topic in topics]
    lacking = [f"lacking,{topic},4000,0.5" for topic in topics[1:]]
    table.write_text("\n".join(["run,topic,latency,vital", *full, *lacking]))
    factors = None if lower_is_better else mine
    with pytest.warns(UserWarning, match=r"lacking: no value on some topics \(latency on 1\)"):
        results = ir_std.evaluate(
            table, measures=["latency"], factors=factors, lower_is_better=lower_is_better
        )
    measure = results.measures[0]
    assert results.means["lacking"][measure] == 4000
    assert not [note for note in results.notes if "count as 0" in note]


@pytest.mark.parametrize(
    ("latency", "said"),
    [
        # Values with few decimals count as exact.
        ("1000.5", "rounded to 0.0001, which can change raw means by at most 5e-05"),
        # If one value has all its digits, no value was rounded.
        ("1000.123456789012", ""),
    ],
)
def test_the_step_of_a_measure_is_that_of_its_own_decimals(
    mine: Path, tmp_path: Path, latency: str, said: str
) -> None:
    table = tmp_path / "steps.csv"
    table.write_text(f"run,topic,latency,strict vital\na,1,{latency},0.1234\na,2,1250,0.5\n")
    notes = [n for n in ir_std.evaluate(table, factors=mine).notes if "rounded" in n]
    assert len(notes) == bool(said)
    assert all(said in n and "('strict vital')" in n and "latency" not in n for n in notes)


def test_a_set_that_says_otherwise_is_an_error(mine: Path, scores: Path) -> None:
    with pytest.raises(UsageError, match="mine treats higher 'strict vital' as better"):
        ir_std.evaluate(scores, factors=mine, lower_is_better=["strict vital"])


def factors_of(scores: Any) -> Any:
    match = ir_std.evaluate(scores).match
    return match and match.factors


def test_a_users_set_is_recognized_by_topics_and_the_name(
    mine: Path, scores: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert factors_of(scores) is None
    monkeypatch.setenv("IR_STD_FACTORS", str(mine.parent))
    match = ir_std.evaluate(scores).match
    assert factors_of(scores).id == "mine"
    known = "only topic IDs (2 of 2 topics) and the name of 'strict vital', latency match"
    assert known in str(match)
    for other in (
        "run,topic,vital\na,1,0.5\na,2,0.5\n",  # another name
        "run,topic,latency\na,1,5\na,7,5\na,8,5\n",  # other topics
    ):
        scores.write_text(other)
        assert factors_of(scores) is None


@pytest.mark.parametrize(
    ("name", "about", "said"),
    [
        ("nDGC@10", {}, "unknown measure 'nDGC'"),
        ("AP", {"better": "lower"}, "measure AP has 'better', which only custom measures have"),
        ("'strict vital'", {}, "measure 'strict vital' has no 'better'"),
        ("'strict vital'", {"better": "more"}, "expected higher or lower as better, got 'more'"),
    ],
)
def test_a_set_with_a_misspelled_measure_is_refused(
    name: str, about: dict[str, str], said: str
) -> None:
    info = {"id": "x", "measures": {name: {"systems": 2, **about}}}
    with pytest.raises(InputError, match=said):
        ir_std.FactorSet(info, {"1": None}, {name: [0.5]}, {name: [0.1]})


def test_the_command_line_takes_names_that_the_scores_have(
    mine: Path, scores: Path, ir_std_cli: Any, tmp_path: Path
) -> None:
    (tmp_path / "run").write_text("1 Q0 d 1 1 x\n")
    (tmp_path / "qrels").write_text("1 0 d 1\n")
    given = (scores, "--factors", mine, "--quiet")
    assert ir_std_cli(*given, "latency", "-s", "none").out[0] == "a\tall\tlatency\t1200.0000"
    for name in ("strict vital", "'strict vital'"):
        assert ir_std_cli(*given, name, "-s", "none").out[0] == "a\tall\t'strict vital'\t0.3750"
    for name in ("slatency", "s'latency'"):
        assert ir_std_cli(*given, name).out[0].startswith("a\tall\ts'latency'\t0.")
    assert ir_std_cli(*given, "-m", "strict vital", "-s", "none").out[2].endswith("0.6250")
    assert ir_std_cli(*given, "--sort", "latency").out[0].startswith("b\t")
    for inputs in (given, (tmp_path / "run", tmp_path / "qrels")):
        failed = ir_std_cli(*inputs, "nDGC@10")
        assert failed.status == 2
        assert "did you mean 'nDCG@10'?" in failed.err[-1]
    failed = ir_std_cli(*given, "latecy")
    assert "is not a file, a measure or an ir_datasets ID; did you mean 'latency'" in failed.err[-1]
    failed = ir_std_cli(tmp_path / "run", tmp_path / "qrels", "'nDGC@10'")
    assert "ir_std cannot compute 'nDGC@10' for the run run; pass scores for it" in failed.err[-1]
    assert "did you mean 'nDCG@10'?" in failed.err[-1]


def test_the_build_says_what_it_takes_as_it_stands(
    scores: Path, ir_std_cli: Any, tmp_path: Path
) -> None:
    given = ("build", "--from-scores", scores, "-o", tmp_path / "built.npz")
    built = ir_std_cli(*given, "--lower-is-better", "latency")
    assert any(
        "latency is a custom measure, so its scores are kept unchanged; lower is better" in e
        for e in built.err
    )
    assert ir_std.load_factors(tmp_path / "built.npz").sign("latency") == -1
    shown = ir_std_cli("factors", "show", tmp_path / "built.npz").out
    facts = "3 systems, in steps of 0.1, lower is better, scores of systems known"
    assert f"measures\tfew-systems\t{facts}\tlatency" in shown
    failed = ir_std_cli(*given, "--force", "--lower-is-better", "latnecy")
    assert "unknown measure 'latnecy'; available" in failed.err[-1]
