"""Systems of a factor set as inputs: SET/SYSTEM is a run's scores, without its run."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import ir_std
from ir_std import AP, P, nDCG
from ir_std.errors import InputError, UsageError, suggest_names
from ir_std.evaluation.inputs import SELF, ScoresOfSystem, is_system_name, systems_of
from ir_std.trec.files import read_qrels

BM25 = "dl19-passage/bm25base_p"


pytestmark = pytest.mark.usefixtures("in_empty_folder")


def everybody(set_id: str, measure: str) -> np.ndarray:
    """Return the scores of all systems from the shipped arrays, one column per system."""
    factors = ir_std.load_factors(set_id)
    assert factors.path
    arrays = np.load(factors.path)
    same = json.loads(arrays["set.json"]).get("same_scores", {})
    scores: np.ndarray = arrays[f"scores/{same.get(measure, measure)}"]
    return scores


def stored(set_id: str, tag: str, measure: str) -> np.ndarray:
    """Return a system's scores from the shipped arrays."""
    column = ir_std.load_factors(set_id).systems.index(tag)
    return np.asarray(everybody(set_id, measure)[:, column])


def mean_n(scores: np.ndarray, by: np.ndarray) -> float:
    """Compute the mean of N over topics with the plainest code."""
    return float(stats.norm.cdf((scores - by.mean(axis=1)) / by.std(axis=1, ddof=1)).mean())


def test_a_system_scores_as_its_set_has_it() -> None:
    scores = ir_std.system(BM25)
    mine = stored("dl19-passage", "bm25base_p", "nDCG@10")
    assert [scores.values[nDCG @ 10][t] for t in scores.topics] == mine.tolist()


@pytest.mark.parametrize(("set_id", "tag"), [("dl19-passage", "bm25base_p"), ("robust05", "ASUDE")])
def test_its_standardized_mean_is_phi_of_z_among_all_systems_itself_included_or_left_out(
    set_id: str, tag: str
) -> None:
    mine, all_of_them = stored(set_id, tag, "AP"), everybody(set_id, "AP")
    results = ir_std.evaluate(f"{set_id}/{tag}", measures="AP")
    assert results.runs == (tag,)
    assert results.means[tag]["AP"] == pytest.approx(mine.mean(), abs=1e-12)
    assert results.means[tag]["sAP"] == pytest.approx(mean_n(mine, all_of_them), abs=1e-12)
    others = np.delete(all_of_them, ir_std.load_factors(set_id).systems.index(tag), axis=1)
    for without in (SELF, tag, [tag]):
        means = ir_std.evaluate(f"{set_id}/{tag}", measures="AP", without=without).means
        assert means[tag]["sAP"] == pytest.approx(mean_n(mine, others), abs=1e-12)


def test_all_systems_that_are_evaluated_are_left_out_together() -> None:
    runs = [BM25, "dl19-passage/p_bert"]
    both = ir_std.evaluate(runs, measures="AP", without=SELF)
    named = ir_std.evaluate(runs, measures="AP", without=["bm25base_p", "p_bert"])
    assert both.means == named.means
    assert both.match is not None
    assert both.match.factors is not None
    assert both.match.factors.n_systems["AP"] == 35


def test_only_systems_can_be_excluded_as_self() -> None:
    with pytest.raises(UsageError, match="none of the runs is named as SET/SYSTEM"):
        ir_std.evaluate({"r": {"19335": {"1": 1.0}}}, {"19335": {"1": 1}}, "AP", without=SELF)


def test_it_works_in_every_call_that_accepts_a_run(data: Path) -> None:
    mean = ir_std.evaluate(BM25, measures="AP").means["bm25base_p"]["sAP"]
    assert ir_std.evaluate(ir_std.system(BM25), measures="AP").means["run"]["sAP"] == mean
    assert ir_std.place(BM25, measures="AP")[1].value == mean
    compared = ir_std.compare([("bm25", BM25, None)], "AP")
    assert compared.collection.name == "dl19-passage"
    assert compared.means["bm25"]["sAP"] == mean
    scores = ir_std.standardize(ir_std.system(BM25), factors="dl19-passage")
    values = list(scores.values[ir_std.sAP].values())
    assert np.mean(values) == pytest.approx(mean, abs=1e-12)
    qrels = data / "qrels" / "dl19-passage.txt"
    by_name = ir_std.calc_aggregate("map", qrels, BM25)
    assert by_name == ir_std.calc_aggregate(AP, qrels, ir_std.system(BM25))
    assert round(by_name["sAP"], 4) == 0.4049
    by_topic = {value.query_id for value in ir_std.iter_calc("AP", qrels, BM25)}
    assert by_topic == set(ir_std.system(BM25).topics)


def test_its_set_is_used_without_qrels_though_others_match_too() -> None:
    # The topics and the numbers of relevant documents are equal, so only the name decides.
    results = ir_std.evaluate("dl19-passage-modern/colbert", measures="AP")
    assert results.match is not None
    assert results.match.factors is not None
    assert results.match.factors.id == "dl19-passage-modern"
    assert results.match.chosen_by == "systems"


def test_a_system_is_the_run_that_it_was_made_from(data: Path, runs_of: Any) -> None:
    run = runs_of("dl19-passage") / "bm25base_p"
    qrels = data / "qrels" / "dl19-passage.txt"
    both = ir_std.evaluate({"run": run, "system": BM25}, qrels)
    for measure in both.measures:
        np.testing.assert_allclose(
            both.values["run"][measure], both.values["system"][measure], rtol=0, atol=1e-12
        )


@pytest.mark.parametrize("baseline", ["dl19-passage/idst_bert_p1", "best"])
def test_a_system_that_is_not_a_run_can_be_the_baseline(baseline: str) -> None:
    results = ir_std.evaluate(BM25, measures="nDCG@10", baseline=baseline)
    assert results.runs == ("bm25base_p", "idst_bert_p1")
    assert results.baseline == "idst_bert_p1"
    test = results.differences["bm25base_p"]["nDCG@10"]
    a, b = (stored("dl19-passage", tag, "nDCG@10") for tag in ("bm25base_p", "idst_bert_p1"))
    assert test.p == pytest.approx(stats.ttest_rel(a, b).pvalue, rel=1e-9)


@pytest.mark.parametrize("measure", ["nDCG@10", "AP", "sP@10"])
def test_the_best_is_that_by_the_first_measure(measure: str) -> None:
    scores = everybody("dl19-passage", measure.removeprefix("s"))
    means = [mean_n(x, scores) if measure[0] == "s" else float(x.mean()) for x in scores.T]
    best = ir_std.load_factors("dl19-passage").systems[int(np.argmax(means))]
    assert ir_std.evaluate(BM25, measures=[measure, "RR"], baseline="best").baseline == best
    with pytest.raises(ir_std.UsageError, match=f"{best} is itself the baseline"):
        ir_std.evaluate(f"dl19-passage/{best}", measures=[measure, "RR"], baseline="best")


def test_a_baseline_among_the_runs_is_not_added_again() -> None:
    results = ir_std.evaluate([BM25, "dl19-passage/p_bert"], measures="AP", baseline=BM25)
    assert results.runs == ("bm25base_p", "p_bert")
    assert results.baseline == "bm25base_p"


def test_a_file_of_that_name_comes_first(tmp_path: Path, ir_std_cli: Any) -> None:
    (tmp_path / "dl19-passage").mkdir()
    (tmp_path / BM25).write_text("19335 Q0 7 1 1.0 x\n")
    (tmp_path / "q").write_text("19335 0 7 1\n")
    assert not is_system_name(BM25)
    with_qrels, alone = ir_std_cli(BM25, "q", "AP"), ir_std_cli(BM25, "AP")
    assert (with_qrels.status, with_qrels.out) == (0, ["AP\t1.0000"])
    said = f"{BM25} is the name of both a file and a system, so ir_std uses the file"
    assert said not in " ".join(with_qrels.err)  # with qrels, the name is clear
    assert alone.status == 2
    assert said in " ".join(alone.err)


def test_a_folder_of_a_users_set_has_systems_too(tmp_path: Path) -> None:
    ir_std.load_factors("dl19-passage").save(tmp_path / "mine.npz")
    scores = ir_std.system(f"{tmp_path}/mine.npz/p_bert")
    assert scores.values == ir_std.system("dl19-passage/p_bert").values


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("dl19-passage/bm25basep", "unknown system 'bm25basep' of dl19.*did you mean 'bm25base_p'"),
        ("terabyte04/x", "terabyte04 has no scores of named systems"),
        ("dl19-passage", "is not a system; write SET/SYSTEM"),
        ("dl19-passag/p_bert", "did you mean 'dl19-passage'"),
    ],
)
def test_an_unknown_system_is_reported(name: str, message: str) -> None:
    with pytest.raises((UsageError, LookupError), match=message):
        ir_std.system(name)


def test_a_measure_that_the_set_lacks_is_an_error() -> None:
    says = "bm25base_p has no scores for P@15; it has P@1, P@5, P@10, P@20"
    with pytest.raises(UsageError, match=says):
        ir_std.evaluate(BM25, measures="P@15")


@pytest.mark.filterwarnings("ignore::ir_std.StandardizationWarning")
def test_topics_without_scores_or_with_other_judgments_have_no_value(data: Path) -> None:
    qrels = read_qrels(data / "qrels" / "dl19-passage.txt").judged
    with pytest.raises(InputError, match=r"no scores for 1 of 44 topics \(1\), because dl19"):
        ir_std.evaluate(BM25, {**qrels, "1": {"d": 1}}, "AP")
    changed = {**qrels, next(iter(qrels)): {f"other{i}": 1 for i in range(5)}}
    results = ir_std.evaluate(BM25, changed, "AP")
    assert np.isnan(results.values["bm25base_p"]["AP"]).tolist() == [True] + [False] * 42
    assert "no value on some topics (AP on 1)" in " ".join(results.warnings)


def test_factors_by_other_judgments_are_not_taken_for_the_systems_own(data: Path) -> None:
    text = "judgments differ .* on 43 of 43 topics"
    with pytest.warns(ir_std.StandardizationWarning, match=text):
        match = ir_std.evaluate(BM25, measures="nDCG@10", factors="dl19-passage-umbrela").match
    assert match
    assert match.fit
    assert match.fit.match_type != "systems"
    qrels = data / "qrels" / "judges" / "dl19-passage.umbrela-gpt4.txt"
    with pytest.raises(InputError, match="the scores use the judgments of dl19-passage"):
        ir_std.evaluate(BM25, qrels, "AP")


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (f"merge {BM25} -o x", "the set holds only the system's scores, not its documents"),
        (f"build q {BM25} -o x", "the set holds only the system's scores, not its documents"),
        (f"{BM25} -M 10", "holds scores without documents; pass the run"),
    ],
)
def test_what_needs_documents_refuses_systems(command: str, says: str, ir_std_cli: Any) -> None:
    done = ir_std_cli(*command.split())
    assert done.status == 2
    assert says in "\n".join(done.err)


@pytest.mark.slow
def test_whole_datasets_have_systems_too() -> None:
    models = systems_of(ir_std.load_factors("mteb-retrieval"))
    scores = ir_std.system(f"mteb-retrieval/{models[0]}")
    assert "/" in models[0]
    assert scores.unit == "dataset"


@pytest.mark.slow
def test_systems_are_evaluated_in_several_processes_alike() -> None:
    runs = [BM25, "dl19-passage/p_bert"]
    assert ir_std.evaluate(runs, measures="AP", jobs=2).means == (
        ir_std.evaluate(runs, measures="AP").means
    )


def test_a_set_says_in_which_steps_it_has_its_scores() -> None:
    assert ir_std.system("robust05/ASUDE").step_of(AP) == 0.0001
    assert isinstance(ir_std.system(BM25), ScoresOfSystem)
    assert ir_std.system(BM25).step_of(P @ 10) == 0


def test_folders_are_taken_in_python_too(tmp_path: Path) -> None:
    for name in ("a/x", "a/b/y", "z"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"1 Q0 d{name[-1]} 1 1.0 t\n")
    qrels = {"1": {"dx": 1, "dy": 0, "dz": 0}}
    means = ir_std.evaluate([tmp_path / "a", tmp_path / "z"], qrels, "P@1", ()).means
    assert {run: mean["P@1"] for run, mean in means.items()} == {"y": 0, "x": 1, "z": 0}
    assert ir_std.evaluate(str(tmp_path / "a"), qrels, "P@1", ()).runs == ("y", "x")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="empty"):
        ir_std.evaluate(tmp_path / "empty", qrels, "P@1")


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("codec-doc", []),
        ("covid5", ["covid-round5"]),
        ("adhoc-trec8", ["trec8-adhoc"]),
        ("terabyte", ["terabyte04", "terabyte04-06", "terabyte05"]),
        ("dl19-pasage", ["dl19-passage"]),
        ("trec8-adhco", ["trec8-adhoc"]),
        ("umbrela", ["dl19-passage-umbrela", "dl20-passage-umbrela", "dl21-passage-umbrela"]),
        ("???", []),
        ("", []),
    ],
)
def test_a_name_is_corrected_by_its_parts_and_letters(name: str, near: list[str]) -> None:
    assert suggest_names(name, ir_std.available_factors()) == near
