"""Raw scores, standardized scores and placements come from one evaluation, wherever it runs."""

import os
import signal
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pytest
from dask_cluster import dask_cluster, dask_scheduler
from ir_measures import AP, RBP, Bpref, ScoredDoc
from made_up import collection, write_qrels
from sets import each_set

import ir_std
from ir_std import (
    Results,
    StandardizationWarning,
    UsageError,
    available_factors,
    evaluate,
    load_factors,
    sAP,
)
from ir_std.reporting.model import evaluations_of
from ir_std.testing import simulated_qrels, simulated_run
from ir_std.trec.files import write_run
from ir_std.trec.inputs import as_run

SETS = [name for name in available_factors() if load_factors(name).scores]
DISTRIBUTIONS = [
    *each_set(name for name in SETS if not load_factors(name).of_datasets),
    *(pytest.param(n, marks=pytest.mark.slow) for n in SETS if load_factors(n).of_datasets),
]


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


@pytest.mark.filterwarnings("ignore::ir_std.StandardizationWarning")
def test_graded_rbp_of_a_part_is_the_same_wherever_it_is_shown_and_its_gains_are_named() -> None:
    factors = load_factors("dl19-passage")
    topic = next(t for t in factors.topics if factors.n_rel[t])
    qrels, run = {topic: {"a": 2, "b": 1, "c": 0}}, {topic: {"a": 3.0, "b": 2.0, "c": 1.0}}
    results = ir_std.evaluate(run, qrels, RBP(p=0.8), factors="dl19-passage")
    placed = ir_std.place(run, qrels, [RBP(p=0.8)], factors="dl19-passage")
    assert placed[0].value == pytest.approx(results.means["run"][RBP(p=0.8)])
    assert results.means["run"][RBP(p=0.8)] == pytest.approx(0.2 * (2 / 3 + 0.8 / 3))
    assert any("gains are relative to 3" in note for note in results.notes)


def of_one_measure(topics: Any, **info: Any) -> ir_std.FactorSet:
    """Make a set of AP on topics with one relevant document each."""
    return ir_std.FactorSet(
        {"id": "mine", "measures": {"AP": {"systems": 2}}, **info},
        dict.fromkeys(topics, 1),
        {"AP": np.full(len(topics), 0.5)},
        {"AP": np.full(len(topics), 0.1)},
    )


def test_thousands_of_topics_without_factors_make_one_short_line() -> None:
    qrels = {f"t{i}": {"a": 1} for i in range(5_000)}
    half = of_one_measure([*qrels][::2])
    text = "mine has no factors for 2,500 topics"
    with pytest.warns(StandardizationWarning, match=text) as caught:
        ir_std.calc_aggregate([AP], qrels, {"t0": {"a": 1.0}}, factors=half)
    assert max(len(str(w.message)) for w in caught) < 200


def test_a_warning_points_at_the_callers_line() -> None:
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
        assert any("no topic has more than 100 documents" in str(w.message) for w in caught)
        assert {w.filename for w in caught} == {__file__}


@pytest.mark.parametrize(("depth", "told"), [(900, 0), (899, 1), (1000, 0), (1001, 1)])
def test_a_run_is_as_deep_as_the_systems_from_nine_tenths_of_their_depth_on(
    depth: int, told: int
) -> None:
    docs = {f"d{i}": float(-i) for i in range(depth)}
    qrels = {"t1": {"d0": 1, "x": 0}}
    mine = of_one_measure(["t1"], depth=1000)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ir_std.calc_aggregate([AP], qrels, {"t1": docs}, factors=mine)
    assert ["depth" in str(w.message) for w in caught] == [True] * told


def test_an_evaluator_does_not_repeat_its_messages() -> None:
    qrels = simulated_qrels(load_factors("trec8-adhoc").n_rel)
    evaluator = ir_std.evaluator([AP], qrels)
    with pytest.warns(StandardizationWarning, match="no topic has more than 100 documents"):
        evaluator.calc_aggregate(simulated_run(qrels, 1, depth=100))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        evaluator.calc_aggregate(simulated_run(qrels, 2, depth=100))


def test_results_are_compared_by_identity() -> None:
    qrels = simulated_qrels(load_factors("trec8-adhoc").n_rel)
    first, second = (ir_std.evaluate(simulated_run(qrels, 1), qrels, AP) for _ in range(2))
    assert first == first
    assert first != second
    assert first.collection.peers(AP) != second.collection.peers(AP)


def test_measures_of_documents_judged_not_relevant_need_them() -> None:
    simulated = simulated_qrels(load_factors("trec8-adhoc").n_rel)
    qrels = {t: {d: 1 for d, level in docs.items() if level} for t, docs in simulated.items()}
    scores = ir_std.calc_aggregate([Bpref, AP], qrels, {}, factors="trec8-adhoc")
    assert list(map(str, scores)) == ["Bpref", "AP", "sAP"]
    assert any("do not contain the documents judged not relevant" in n for n in scores.notes)


MEASURES = ["AP", "nDCG@10", "RBP(p=0.8,rel=1)", "infAP"]


@pytest.fixture(scope="module")
def trec8() -> tuple[dict[str, Any], dict[str, Any]]:
    """Simulate qrels and twelve runs on TREC-8's topics, which have factors."""
    qrels = simulated_qrels(load_factors("trec8-adhoc").n_rel)
    return {f"sys{i}": simulated_run(qrels, i, depth=50) for i in range(12)}, qrels


def same(one: Results, two: Results) -> bool:
    """Check whether two results are the same, to the last bit."""
    return (
        one.runs == two.runs
        and one.warnings == two.warnings
        and one.notes == two.notes
        and all(
            list(a.values) == list(b.values)
            and dict(a.means) == dict(b.means)
            and all(np.array_equal(a.values[m], b.values[m], equal_nan=True) for m in a.values)
            for a, b in zip(evaluations_of(one).values(), evaluations_of(two).values(), strict=True)
        )
    )


def rows(run: dict[str, dict[str, float]]) -> Iterator[ScoredDoc]:
    """Yield a run's rows, which can be read only once."""
    for topic, docs in run.items():
        yield from (ScoredDoc(topic, doc, score) for doc, score in docs.items())


def test_several_processes_give_the_same_results(trec8: Any) -> None:
    runs, qrels = trec8
    alone = evaluate(runs, qrels, MEASURES, "all")
    assert same(evaluate(runs, qrels, MEASURES, "all", jobs=2), alone)
    with ThreadPoolExecutor(4) as executor:
        assert same(evaluate(runs, qrels, MEASURES, "all", executor=executor), alone)


@pytest.mark.slow
def test_a_dask_cluster_that_loses_a_worker_gives_the_same_results(trec8: Any) -> None:
    runs, qrels = trec8
    with dask_cluster() as (client, pids):

        def deadly(run: dict[str, dict[str, float]]) -> Iterator[ScoredDoc]:
            """Kill a worker when it is handed out."""
            os.kill(pids.pop(), signal.SIGKILL)
            yield from rows(run)

        results = evaluate(
            runs | {"sys6": deadly(runs["sys6"])},
            qrels,
            ["AP", "P@10"],
            executor=client.get_executor(),
        )
        assert len(pids) == 1
    assert same(results, evaluate(runs, qrels, ["AP", "P@10"]))


@pytest.mark.slow
def test_a_dask_cluster_that_loses_its_scheduler_is_given_up_at_once(tmp_path: Path) -> None:
    qrels, runs = collection()
    run = next(iter(runs.values()))
    with dask_scheduler(tmp_path) as (client, scheduler):

        def deadly() -> Iterator[ScoredDoc]:
            """Kill the scheduler when it is handed out."""
            scheduler.kill()
            scheduler.wait()
            yield from rows(run)

        many = {f"run{i}": run if i < 200 else deadly() for i in range(201)}
        started = time.monotonic()
        with pytest.raises(UsageError, match="the executor failed"):
            evaluate(many, qrels, "AP", executor=client.get_executor())
        assert time.monotonic() - started < 15  # the client waits 30 for a new one


@pytest.mark.slow
def test_what_can_be_read_but_once_travels_to_processes() -> None:
    qrels, runs = collection()
    once = {name: rows(run) for name, run in runs.items()}
    assert same(evaluate(once, qrels, "AP", jobs=2), evaluate(runs, qrels, "AP"))


def test_threads_share_an_evaluator_and_warn_as_alone_and_leave_the_filters(trec8: Any) -> None:
    runs, qrels = trec8
    wider = {**qrels, "999": {"FT999-1": 1}}
    evaluator = ir_std.evaluator(MEASURES, qrels, schemes="all")
    shown: list[str] = []

    def evaluated(name: str) -> tuple[dict[Any, Any], Results]:
        return evaluator.values(runs[name]), evaluate({"sys": runs[name]}, wider, "AP")

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = lambda message, *_: shown.append(str(message))
        before, show = list(warnings.filters), warnings.showwarning
        evaluator.values(runs["sys0"])  # warns once
        shown.clear()
        alone = list(map(evaluated, runs))
        warned = sorted(shown)
        shown.clear()
        with ThreadPoolExecutor(8) as threads:
            together = list(threads.map(evaluated, runs))
        assert warnings.filters == before
        assert warnings.showwarning is show
    assert sorted(shown) == warned
    assert sum("has no factors for 1 topic" in text for text in shown) == len(runs)
    for (values, results), (others, other_results) in zip(alone, together, strict=True):
        assert all(np.array_equal(values[m], others[m], equal_nan=True) for m in values)
        assert same(results, other_results)
