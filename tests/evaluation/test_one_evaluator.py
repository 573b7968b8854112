"""Raw scores, standardized scores and placements come from one evaluation."""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ir_measures import AP, RBP, Bpref, P
from made_up import write_qrels
from sets import each_set

import ir_std
from ir_std import StandardizationWarning, available_factors, load_factors, sAP
from ir_std.testing import simulated_qrels, simulated_run
from ir_std.trec.files import write_run
from ir_std.trec.inputs import as_run

DISTRIBUTIONS = each_set(name for name in available_factors() if load_factors(name).scores)


def files(name: str, folder: Path) -> tuple[Path, Path]:
    """Write a simulated run on the topics of a set, and its judgments at all levels."""
    factors = load_factors(name)
    qrels = simulated_qrels(factors.n_rel)
    for topic, docs in qrels.items():
        levels = factors.judgments[topic].levels or {}
        kept = iter([at for at in levels for _ in range(levels[at]) if at > 0])
        docs.update({doc: next(kept, level) for doc, level in docs.items() if level})
    write_qrels(qrels, folder / "qrels")
    write_run(as_run(simulated_run(qrels, 1, depth=300)), folder / "run")
    return folder / "run", folder / "qrels"


@pytest.mark.filterwarnings("ignore::ir_std.StandardizationWarning")
@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_all_ways_to_a_placement_agree_on_every_measure(
    name: str, tmp_path: Path, ir_std_cli: Any
) -> None:
    run, qrels = files(name, tmp_path)
    measures = [m for m in load_factors(name).scores if m != "main_score"]
    placed = ir_std.place(run, qrels, measures, schemes="N,E", factors=name)
    results = ir_std.evaluate(run, qrels, measures, "N,E", factors=name)
    lines = ir_std_cli(run, qrels, *measures, "--factors", name, "-s", "N,E", "--place").out
    assert [str(p) for p in placed] == [str(results.placements["run"][p.measure]) for p in placed]
    assert [line.split("\t")[::2] for line in lines] == [
        [str(p.measure), p.summary] for p in placed
    ]
    scores = ir_std.calc_aggregate(measures, qrels, run, schemes="N,E", factors=name)
    assert dict(scores) == results.means["run"]


def test_graded_rbp_of_a_part_is_the_same_wherever_it_is_shown_and_its_gains_are_named() -> None:
    factors = load_factors("dl19-passage")
    topic, *_ = (t for t in factors.topics if factors.n_rel[t])
    qrels = {topic: {"a": 2, "b": 1, "c": 0}}
    run = {topic: {"a": 3.0, "b": 2.0, "c": 1.0}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StandardizationWarning)
        results = ir_std.evaluate(run, qrels, RBP(p=0.8), factors="dl19-passage")
        placed = ir_std.place(run, qrels, [RBP(p=0.8)], factors="dl19-passage")
    assert placed[0].value == pytest.approx(results.means["run"][RBP(p=0.8)])
    assert results.means["run"][RBP(p=0.8)] == pytest.approx(0.2 * (2 / 3 + 0.8 / 3))
    assert any("gains are relative to 3" in note for note in results.notes)


def test_thousands_of_topics_without_factors_make_one_short_line() -> None:
    qrels = {f"t{i}": {"a": 1} for i in range(5_000)}
    mine = ir_std.FactorSet(
        {"id": "half", "measures": {"AP": {"systems": 2}}},
        {f"t{i}": 1 for i in range(0, 5_000, 2)},
        {"AP": np.full(2500, 0.5)},
        {"AP": np.full(2500, 0.1)},
    )
    with pytest.warns(
        StandardizationWarning, match="half has no factors for 2,500 topics"
    ) as caught:
        ir_std.calc_aggregate([AP], qrels, {"t0": {"a": 1.0}}, factors=mine)
    assert max(len(str(w.message)) for w in caught) < 200


def test_a_warning_points_at_the_callers_line() -> None:
    import ir_measures

    qrels = simulated_qrels(load_factors("trec8-adhoc").n_rel)
    run = simulated_run(qrels, 1, depth=100)
    for call in (
        lambda: ir_std.calc_aggregate([AP], qrels, run),
        lambda: ir_std.evaluate(run, qrels, AP),
        lambda: ir_std.place(run, qrels, [AP]),
        lambda: list(ir_std.iter_calc([AP], qrels, run)),
        lambda: ir_measures.calc_aggregate([sAP], qrels, run),
        lambda: sAP.calc_aggregate(qrels, run),
    ):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            call()
        assert any("at most 100 documents per topic" in str(w.message) for w in caught)
        assert {w.filename for w in caught} == {__file__}


@pytest.mark.parametrize(("depth", "told"), [(900, 0), (899, 1), (1000, 0), (1001, 1)])
def test_a_run_is_as_deep_as_the_systems_from_nine_tenths_of_their_depth_on(
    depth: int, told: int
) -> None:
    docs = {f"d{i}": float(-i) for i in range(depth)}
    qrels = {"t1": {"d0": 1, "x": 0}}
    mine = ir_std.FactorSet(
        {"id": "mine", "depth": 1000, "measures": {"AP": {"systems": 2}}},
        {"t1": 1},
        {"AP": [0.5]},
        {"AP": [0.1]},
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ir_std.calc_aggregate([AP], qrels, {"t1": docs}, factors=mine)
    assert ["depth" in str(w.message) for w in caught] == [True] * told


def test_an_evaluator_does_not_repeat_its_messages() -> None:
    qrels = simulated_qrels(load_factors("trec8-adhoc").n_rel)
    evaluator = ir_std.evaluator([AP], qrels)
    with pytest.warns(StandardizationWarning, match="at most 100 documents per topic"):
        evaluator.calc_aggregate(simulated_run(qrels, 1, depth=100))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        evaluator.calc_aggregate(simulated_run(qrels, 2, depth=100))


def test_threads_get_the_same_results_and_leave_the_warnings_as_they_were() -> None:
    qrels = simulated_qrels(load_factors("trec8-adhoc").n_rel)
    runs = [simulated_run(qrels, seed, depth=50) for seed in range(8)]
    evaluator = ir_std.evaluator([AP, P @ 10], qrels, schemes="all")
    alone = [dict(evaluator.calc_aggregate(run)) for run in runs]
    before = list(warnings.filters), warnings.showwarning
    with ThreadPoolExecutor(8) as threads:
        together = list(threads.map(lambda run: dict(evaluator.calc_aggregate(run)), runs))
        whole = list(
            threads.map(lambda run: ir_std.evaluate(run, qrels, [AP, P @ 10], "all"), runs)
        )
    assert together == alone
    assert [r.means["run"] for r in whole] == alone
    assert (list(warnings.filters), warnings.showwarning) == before


def test_results_are_compared_by_identity() -> None:
    qrels = simulated_qrels(load_factors("trec8-adhoc").n_rel)
    first, second = (ir_std.evaluate(simulated_run(qrels, 1), qrels, AP) for _ in range(2))
    assert first == first
    assert first != second
    assert first.collection.peers(AP) != second.collection.peers(AP)


def test_a_measure_whose_level_no_judgment_reaches_has_no_value_and_a_note() -> None:
    factors = load_factors("dl19-passage")
    qrels = simulated_qrels(factors.n_rel)
    scores = ir_std.calc_aggregate(
        [AP(rel=2)], qrels, simulated_run(qrels, 1), factors="dl19-passage"
    )
    assert list(map(str, scores)) == ["AP(rel=2)"]
    assert any("no document of these qrels is judged at level 2" in n for n in scores.notes)


def test_measures_of_documents_judged_not_relevant_need_them() -> None:
    qrels = {
        t: {d: 1 for d, level in docs.items() if level}
        for t, docs in simulated_qrels(load_factors("trec8-adhoc").n_rel).items()
    }
    scores = ir_std.calc_aggregate([Bpref, AP], qrels, {}, factors="trec8-adhoc")
    assert list(map(str, scores)) == ["Bpref", "AP", "sAP"]
    assert any("do not contain the documents judged not relevant" in n for n in scores.notes)


def test_a_cutoff_beyond_the_systems_depth_has_no_factors() -> None:
    topics = {"t1": 1}
    mine = ir_std.FactorSet(
        {"id": "shallow", "depth": 100, "measures": {"R@1000": {"systems": 2}}},
        topics,
        {"R@1000": [0.5]},
        {"R@1000": [0.1]},
    )
    with pytest.raises(ir_std.NoFactorsError, match="its systems were evaluated to depth 100"):
        ir_std.calc_aggregate([ir_std.sR @ 1000], {"t1": {"a": 1}}, {}, factors=mine)


def test_missing_topics_and_documents_of_a_run_are_reported() -> None:
    qrels = {f"t{i}": {"a": 1} for i in range(5)}
    with pytest.warns(ir_std.StandardizationWarning, match="none of its documents is judged"):
        scores = ir_std.calc_aggregate([AP], qrels, {"t0": {"z": 1.0}})
    assert scores.warnings == (
        "run: 4 of 5 topics are missing and count as 0; complete the run, or pass qrels for its "
        "topics only",
        "run: none of its documents is judged; check that the run and the qrels belong to the same "
        "collection and topics",
    )
