"""Many runs, in threads, processes and elsewhere: the same results as one after the other."""

from __future__ import annotations

import os
import signal
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dask_cluster import dask_cluster, dask_scheduler
from ir_measures import ScoredDoc
from made_up import collection

import ir_std
from ir_std import InputError, Results, UsageError, evaluate
from ir_std.factors.catalog import load_factors
from ir_std.reporting.model import evaluations_of
from ir_std.testing import simulated_qrels, simulated_run

MEASURES = ["AP", "nDCG@10", "RBP(p=0.8,rel=1)", "infAP"]


@pytest.fixture(scope="module")
def trec8() -> tuple[dict[str, Any], dict[str, Any]]:
    """Simulate twelve runs on TREC-8's topics, which have factors, and the qrels."""
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
            for topic, docs in run.items():
                yield from (ScoredDoc(topic, doc, score) for doc, score in docs.items())

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
            for topic, docs in run.items():
                yield from (ScoredDoc(topic, doc, score) for doc, score in docs.items())

        many = {f"run{i}": run if i < 200 else deadly() for i in range(201)}
        started = time.monotonic()
        with pytest.raises(UsageError, match="the executor failed"):
            evaluate(many, qrels, "AP", executor=client.get_executor())
        assert time.monotonic() - started < 15  # the client waits 30 for a new one


@pytest.mark.slow
def test_what_can_be_read_but_once_travels_to_processes() -> None:
    qrels, runs = collection()
    once = {
        name: (
            ScoredDoc(topic, doc, score)
            for topic, docs in run.items()
            for doc, score in docs.items()
        )
        for name, run in runs.items()
    }
    assert same(evaluate(once, qrels, "AP", jobs=2), evaluate(runs, qrels, "AP"))


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_broken_run_is_the_same_error_in_any_process(tmp_path: Path, jobs: int) -> None:
    qrels, runs = collection()
    (tmp_path / "broken").write_text("t1 Q0 d1 1 x tag\n")
    with pytest.raises(InputError, match=r"broken:1: score is 'x'"):
        evaluate({**runs, "broken": tmp_path / "broken"}, qrels, "AP", jobs=jobs)


def test_less_than_one_process_is_refused(trec8: Any) -> None:
    runs, qrels = trec8
    with pytest.raises(UsageError, match="jobs is 0"):
        evaluate(runs, qrels, "AP", jobs=0)


def test_eight_threads_can_share_one_evaluator(trec8: Any) -> None:
    runs, qrels = trec8
    evaluator = ir_std.evaluator(MEASURES, qrels)
    many = list(runs.values()) * 4
    alone = [evaluator.values(run) for run in many]
    with ThreadPoolExecutor(8) as threads:
        together = list(threads.map(evaluator.values, many))
    for one, two in zip(alone, together, strict=True):
        assert all(np.array_equal(one[m], two[m], equal_nan=True) for m in one)


@pytest.mark.slow
def test_evaluate_in_threads_warns_as_alone_and_leaves_the_filters(trec8: Any) -> None:
    runs, qrels = trec8
    wider = {**qrels, "999": {"FT999-1": 1}}
    shown: list[str] = []

    def evaluated(i: int) -> Results:
        return evaluate({"sys": runs[f"sys{i % 12}"]}, wider, "AP")

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = lambda message, *_: shown.append(str(message))
        before, show = list(warnings.filters), warnings.showwarning
        alone = [evaluated(i) for i in range(24)]
        warned = sorted(shown)
        shown.clear()
        with ThreadPoolExecutor(8) as threads:
            together = list(threads.map(evaluated, range(24)))
        assert warnings.filters == before
        assert warnings.showwarning is show
    assert sorted(shown) == warned
    assert sum("has no factors for 1 topic" in text for text in shown) == 24
    assert all(map(same, alone, together))
