"""Scores from other programs are evaluated like runs."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import pytrec_eval
from ir_measures import AP, P, Rprec, nDCG

import ir_std
from ir_std import InputError, NoFactorsError, UsageError
from ir_std.evaluation.evaluator import StdEvaluator
from ir_std.evaluation.inputs import resolve, resolve_runs
from ir_std.measures import Standardized, sAP
from ir_std.scores.run_scores import RunScores, counted_topics
from ir_std.trec.inputs import as_qrels, as_run

TREC8 = ir_std.load_factors("trec8-adhoc")


def written(run: Path, qrels: Any, file: Path) -> Path:
    """Write a run's scores in the form that ``trec_eval -q`` prints."""
    measures = {"map", "P", "recip_rank", "Rprec", "bpref", "ndcg_cut", "num_rel", "num_ret"}
    scored = {
        topic: dict(zip(docs, values.tolist(), strict=True))
        for topic, (docs, values) in as_run(run).lists.items()
    }
    judged = {topic: dict(docs) for topic, docs in qrels.judged.items()}
    by_topic = pytrec_eval.RelevanceEvaluator(judged, measures).evaluate(scored)
    file.write_text(
        "".join(
            f"{name:<22}\t{topic}\t{value:.0f}\n"
            if name.startswith("num_")
            else f"{name:<22}\t{topic}\t{value:6.4f}\n"
            for topic, values in by_topic.items()
            for name, value in values.items()
        ),
        encoding="utf-8",
    )
    return file


@pytest.mark.parametrize(
    "every",
    [pytest.param(5, marks=pytest.mark.slow), pytest.param(1, marks=pytest.mark.exhaustive)],
)
@pytest.mark.parametrize("name", ["trec8-adhoc", "dl19-passage", "dl20-passage"])
def test_printed_scores_give_what_the_run_gives_but_for_rounding(
    data: Path, runs_of: Any, tmp_path: Path, name: str, every: int
) -> None:
    qrels = as_qrels(data / "qrels" / f"{name}.txt")
    measures = ["AP", "P@10", "RR", "Rprec", "nDCG@10"]
    direct = StdEvaluator(measures, qrels, "all")
    plans = {p.measure: p for p in direct.plans}
    for run in sorted(runs_of(name).iterdir())[::every]:
        expected = direct.evaluate(as_run(run)).values
        ((_, scores),) = ir_std.read_scores(written(run, qrels, tmp_path / "eval")).items()
        evaluator = StdEvaluator(measures, counted_topics([scores]), "all")
        assert evaluator.match
        assert evaluator.match.factors
        assert evaluator.match.factors.id == name
        columns = evaluator.evaluate(scores).values
        rows = [qrels.positions[t] for t in evaluator.qrels.topics]
        for measure, values in columns.items():
            # A printed value differs from the exact value by at most half a step. The systems that
            # E compares are rounded too, so systems within a whole step count.
            if not isinstance(measure, Standardized):
                low = high = expected[measure]
                step = 0.5e-4
            else:
                raw = expected[plans[measure].raw]
                wide = 1e-4 if measure["scheme"] == "E" else 0.5e-4
                low, high = (plans[measure].apply(raw + by) for by in (-wide - 1e-9, wide + 1e-9))
                step = 0.0
            same = np.isnan(values) & np.isnan(expected[measure][rows])
            assert (
                (values >= low[rows] - step - 1e-9) & (values <= high[rows] + step + 1e-9) | same
            ).all(), f"{run.name} {measure}"


RECOGNIZED = {
    "cd45.TREC6": "trec6-adhoc",
    "cd45.TREC7": "trec7-adhoc",
    "cd45.TREC8": "trec8-adhoc",
    "gov2.2004": "terabyte04",
    # Use the published judgments; terabyte05 has the counts of an earlier time.
    "gov2.2005": "terabyte04-06",
    "gov2.2006": "terabyte06",
    "blogs06.2006": "blog06",
    "blogs06.2007": "blog08",
    "blogs06.2008": "blog08",
    "nyt": None,
}


@pytest.mark.filterwarnings("ignore:these topics belong to terabyte04-06")
@pytest.mark.filterwarnings("ignore:these topics belong to blog08")
@pytest.mark.parametrize("collection", RECOGNIZED)
def test_collections_are_recognized_by_num_rel(data: Path, collection: str) -> None:
    known = RECOGNIZED[collection]
    if known is not None and known not in ir_std.available_factors():
        pytest.skip(f"there is no set {known}")
    files = sorted(data.glob(f"soboroff2018/*/{collection}/*.eval"))
    assert len(files) == 4
    for file in files:
        match = ir_std.evaluate(file).match
        assert (match and match.factors and match.factors.id) == known


def made_up(**fields: Any) -> RunScores:
    """Return a run as good as TREC-8's average system, to four decimals."""
    means = dict(zip(TREC8.topics, np.round(TREC8.mean["AP"], 4).tolist(), strict=True))
    return RunScores("made up", {AP: means}, **{"n_rel": TREC8.n_rel, "step": 0.0001, **fields})


def test_a_run_that_scores_the_means_is_average() -> None:
    results = ir_std.evaluate({"x": made_up()})
    assert results.measures == (AP, sAP)
    assert results.means["x"][sAP] == pytest.approx(0.5, abs=1e-3)
    (note,) = [text for text in results.notes if "rounded to" in text]
    assert "rounded to 0.0001, which can change raw means by at most 5e-05" in note


def test_without_counts_only_a_named_set_is_used() -> None:
    nothing = ir_std.evaluate({"x": made_up(n_rel={})})
    assert nothing.measures == (AP,)
    assert str(nothing.match) == (
        "no factor set matches these scores; closest is trec8-adhoc, but the scores have no "
        "num_rel to compare; pass --factors trec8-adhoc (factors=) to use it anyway, or build a "
        "set with `ir_std build --from-scores`"
    )
    named = ir_std.evaluate({"x": made_up(n_rel={})}, factors="trec8-adhoc")
    assert named.measures == (AP, sAP)
    assert "it is unknown whether the judgments match" in str(named.match)


def test_rprec_may_look_at_whole_lists_if_nobody_counted_relevant_documents() -> None:
    n_ret = dict.fromkeys(TREC8.topics, 1500)
    scores = RunScores("made up", {Rprec: made_up().values[AP]}, n_ret=n_ret)
    text = "up to 1,500 documents, .* depth 1000"
    with pytest.warns(ir_std.StandardizationWarning, match=text):
        ir_std.evaluate({"x": scores}, factors="trec8-adhoc")


def test_topics_that_another_file_has_count_as_zero() -> None:
    lacking = made_up()
    short = RunScores(
        "short",
        {AP: {t: v for t, v in lacking.values[AP].items() if t != "401"}},
        {t: n for t, n in TREC8.n_rel.items() if t != "401" and n},
        step=0.0001,
    )
    results = ir_std.evaluate({"all": lacking, "short": short})
    assert results.values["short"][AP][0] == 0
    assert "short: 1 of 50 topics is missing and counts as 0" in results.notes


def test_what_scores_lack_is_an_error_that_lists_what_they_have() -> None:
    with pytest.raises(UsageError, match="made up has no scores for P@10; it has AP"):
        ir_std.evaluate({"x": made_up()}, None, P @ 10)
    with pytest.raises(UsageError, match="missing qrels"):
        ir_std.evaluate({"x": {"401": {"d": 1.0}}})


def test_files_that_cannot_be_told_apart_or_hold_no_single_run_are_refused(tmp_path: Path) -> None:
    for name in ("x", "y"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "s").write_text("run,topic,measure,value\na,401,AP,0.1\nb,401,AP,0.2\n")
    (tmp_path / "model_meta.json").write_text('{"name": "org/model"}')
    with pytest.raises(InputError, match=r"s: contains scores of 2 runs \(a, b\)"):
        resolve(tmp_path / "x" / "s")
    with (tmp_path / "x" / "s").open("rb") as file, pytest.raises(InputError, match="of 2 runs"):
        resolve(file)
    with pytest.raises(UsageError, match="two runs have the name a; the second is in"):
        resolve_runs([tmp_path / "x" / "s", tmp_path / "y" / "s"])
    with pytest.raises(UsageError, match="contains only a model's name"):
        resolve_runs([tmp_path / "model_meta.json"])
    one = made_up()
    assert resolve(one) is one


def test_scores_and_runs_are_compared_on_the_runs_qrels(
    data: Path, runs_of: Any, tmp_path: Path
) -> None:
    qrels = as_qrels(data / "qrels" / "dl19-passage.txt")
    run = min(runs_of("dl19-passage").iterdir())
    scores = written(run, qrels, tmp_path / "printed")
    text = "run, printed: no topic has more than 20 documents"
    with pytest.warns(ir_std.StandardizationWarning, match=text):
        means = ir_std.evaluate({"run": run, "printed": scores}, qrels, [AP, nDCG @ 10]).means
    assert dict(means["run"]) == pytest.approx(dict(means["printed"]), abs=1e-3)


def test_standardize_gives_back_the_shape_it_gets() -> None:
    scores = {"401": 0.05, "402": 0.2, "403": 0.9}
    by_topic = ir_std.standardize(scores, "map", factors="trec8-adhoc")
    expected = TREC8.standardize("AP", list(scores), list(scores.values()))
    assert list(by_topic) == list(scores)
    assert list(by_topic.values()) == pytest.approx(expected.tolist(), abs=1e-12)
    run = ir_std.standardize(made_up(), scheme="E")
    assert str(next(iter(run.values))) == "sAP(scheme='E')"


@pytest.mark.parametrize(
    ("scores", "options", "error", "says"),
    [
        ({"401": 0.5}, {}, UsageError, "needs a measure, such as measure"),
        ({"401": 0.5}, {"measure": "AP"}, NoFactorsError, "no num_rel"),
        (pd.DataFrame({"topic": ["1"]}), {}, InputError, "cannot use DataFrame; pass a dict"),
        ({"401": 45.0}, {"measure": "AP", "factors": "trec8-adhoc"}, InputError, "percent"),
    ],
)
def test_standardize_says_what_it_lacks(
    scores: Any, options: Any, error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        ir_std.standardize(scores, **options)


def test_the_command_line_takes_scores_alone(ir_std_cli: Any, tmp_path: Path) -> None:
    lines = [
        f"map {t} {v:.4f}\nnum_rel {t} {TREC8.n_rel[t]}\nrecip_rank {t} 0.5000\n"
        for t, v in made_up().values[AP].items()
    ]
    a, b = tmp_path / "a.eval", tmp_path / "b.eval"
    for file in (a, b):
        file.write_text("".join(lines), encoding="utf-8")
    table = ir_std_cli(a, b, "AP", "RR", "-o", "table")
    assert table.status == 0
    assert table.out[0].split()[:4] == ["run", "AP", "sAP", "RR"]
    assert ir_std.evaluate(a).measures[:2] == (AP, sAP)
    assert "would have been" in ir_std_cli(a, "AP", "--place").out[0]
    compared = ir_std_cli("compare", f"x={a}", f"y={b}", "AP").out[2:4]
    assert [line.split()[:3] for line in compared] == [[n, "trec8-adhoc", "50"] for n in "xy"]
    assert ir_std_cli(a, "P@10").status == 2
    assert ir_std.place(a, measures=[AP])[0].rank is not None


LEVEL_QRELS = {"t1": {"a": 2, "b": 1, "c": 0}, "t2": {"a": 1, "b": 2, "c": 2, "d": 1}}


def of_level_2(**n_rel: int) -> RunScores:
    """Return scores as trec_eval -l 2 computes them, where map is AP(rel=2)."""
    values = {AP: {"t1": 1.0, "t2": 0.5}, P @ 10: {"t1": 0.1, "t2": 0.2}}
    values |= {ir_std.nDCG @ 10: {"t1": 0.9, "t2": 0.8}}
    return RunScores("l2.eval", values, {"t1": 1, "t2": 2} | n_rel)


def test_what_was_computed_at_level_2_is_not_taken_for_level_1() -> None:
    with pytest.raises(
        UsageError, match=r"at level 2 or above; ask for P\(rel=2\)@10, or pass -l 2"
    ):
        ir_std.evaluate({"l2": of_level_2()}, LEVEL_QRELS, P @ 10)
    found = ir_std.evaluate({"l2": of_level_2()}, LEVEL_QRELS, ["AP(rel=2)", "nDCG@10"])
    assert found.means["l2"][AP(rel=2)] == 0.75
    assert found.means["l2"][ir_std.nDCG @ 10] == pytest.approx(0.85)


def test_scores_by_other_judgments_than_the_qrels_are_refused() -> None:
    message = r"num_rel differs from the qrels on 1 of 2 topics \(e.g. t2: 3 in the file, 4 in"
    with pytest.raises(InputError, match=message):
        ir_std.evaluate({"l2": of_level_2(t1=2, t2=3)}, LEVEL_QRELS, AP)
